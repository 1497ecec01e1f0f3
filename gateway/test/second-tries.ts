// Names the tests that passed only at their second try: they are to be looked at, and fail nobody's work meanwhile.
import type { Reporter, TestModule } from "vitest/node";

export class SecondTries implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const found = modules.flatMap((module) =>
      [...module.children.allTests("passed")]
        .filter((test) => (test.diagnostic()?.retryCount ?? 0) > 0)
        .map((test) => `  ${module.relativeModuleId} > ${test.fullName}`),
    );
    if (found.length > 0) process.stdout.write(`\nPassed only at the second try:\n${found.join("\n")}\n`);
  }
}
