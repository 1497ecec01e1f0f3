import { globSync, readFileSync } from "node:fs";
import { defineConfig } from "vitest/config";
import { LongestFirst } from "./gateway/test/longest-first.ts";

const include = ["gateway/**/*.test.ts", "e2e/**/*.test.ts", "bench/**/*.test.ts", "portal/**/*.test.ts"];

/** Of a file that keeps something between its tests, starts something, or puts something in the place of a module. */
const keepsSomething =
  /\b(?:before|after)(?:All|Each)\(|\bvi\.|\binject\(|kit|child_process|process\.env|node:(?:net|http)|playwright/;

/** Tests of pure code share their processes: half of what such a file takes is a process that begins and reads the same modules again. */
const pure = globSync(include, { exclude: ["**/node_modules/**"] }).filter(
  (file) => !keepsSomething.test(readFileSync(file, "utf8")),
);

const shared = {
  pool: "forks" as const,
  setupFiles: ["gateway/test/each-file.ts"],
  testTimeout: 30_000,
  hookTimeout: 60_000,
};

export default defineConfig({
  test: {
    // Tests wait more than they compute: more workers than processors.
    maxWorkers: 4,
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        test: {
          ...shared,
          name: "apart",
          include,
          exclude: ["**/node_modules/**", ...pure],
          globalSetup: ["gateway/test/global-setup.ts"],
        },
      },
      { test: { ...shared, name: "pure", include: pure, isolate: false } },
    ],
  },
});
