import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["gateway/**/*.test.ts", "e2e/**/*.test.ts", "bench/**/*.test.ts"],
    globalSetup: ["gateway/test/global-setup.ts"],
    pool: "forks",
    maxWorkers: 3,
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
});
