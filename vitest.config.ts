import { globSync, readFileSync } from "node:fs";
import { defineConfig } from "vitest/config";
import { LongestFirst } from "./gateway/test/longest-first.ts";
import { SecondTries } from "./gateway/test/second-tries.ts";

/** Of a file that changes what all files of its process would see, or measures the process. */
const changesItsProcess = /\bvi\.(?:mock|doMock|stub\w+|useFakeTimers)\(|process\.env\S* = |process\.memoryUsage\(/;
/** Of a file that keeps something between its tests, or starts something: a database may have to be there. */
const keepsSomething =
  /\b(?:before|after)(?:All|Each)\(|\bvi\.|\binject\(|kit|child_process|process\.env|node:(?:net|http)|playwright/;

function projectOf(path: string): "apart" | "pages" | "together" | "pure" {
  const text = readFileSync(path, "utf8");
  if (changesItsProcess.test(text)) return "apart";
  if (/^e2e\/(?:portal|console)\//.test(path)) return "pages";
  return keepsSomething.test(text) ? "together" : "pure";
}

const everything = globSync("{gateway,e2e,bench,portal,sdk,docs,cli}/**/*.test.ts", {
  exclude: ["**/node_modules/**"],
});
const { apart = [], pages = [], together = [], pure = [] } = Object.groupBy(everything, projectOf);

const shared = {
  pool: "forks" as const,
  // Room for what the tests allocate: with the usual heap, a twentieth of their work was collecting it.
  execArgv: ["--max-semi-space-size=64", "--initial-old-space-size=400"],
  setupFiles: ["gateway/test/each-file.ts"],
  testTimeout: 240_000,
  hookTimeout: 240_000,
  // Two processors for four workers, and some machines are three times slower than others: what is waited for comes, and not always within a second.
  expect: { poll: { timeout: 30_000 } },
};
/**
 * Of real clocks, sockets, processes and browsers, on a machine that does other things, too: what fails is tried once more, and named at the
 * end. A rule that is tested pure has no second try.
 */
const withDatabase = { ...shared, globalSetup: ["gateway/test/global-setup.ts"], retry: 1 };

export default defineConfig({
  test: {
    // Tests wait more than they compute: more workers than processors.
    maxWorkers: 4,
    reporters: ["default", new SecondTries()],
    sequence: { sequencer: LongestFirst },
    // Files share processes: half of what a file takes by itself is a process that begins, and reads and warms up the same program again.
    projects: [
      { test: { ...withDatabase, name: "apart", include: apart } },
      // One browser a process.
      { test: { ...withDatabase, name: "pages", include: pages, isolate: false } },
      { test: { ...withDatabase, name: "together", include: together, isolate: false } },
      { test: { ...shared, name: "pure", include: pure, isolate: false } },
    ],
  },
});
