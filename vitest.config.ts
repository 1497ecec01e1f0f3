import { defineConfig } from "vitest/config";
import { LongestFirst } from "./gateway/test/longest-first.ts";

export default defineConfig({
  test: {
    include: ["gateway/**/*.test.ts", "e2e/**/*.test.ts", "bench/**/*.test.ts", "portal/**/*.test.ts"],
    globalSetup: ["gateway/test/global-setup.ts"],
    pool: "forks",
    // Tests wait more than they compute: more workers than processors.
    maxWorkers: 4,
    sequence: { sequencer: LongestFirst },
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
});
