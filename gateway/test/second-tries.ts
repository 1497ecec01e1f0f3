// Reports the tests that passed only at their second try, with the error of the first, so that someone looks at them. The run does not fail.
import type { Reporter, TestCase, TestModule } from "vitest/node";

/** Lines of an error that are shown: errors that hold a whole page or log are too long. */
const TOLD_MAX_LINES = 12;

export class SecondTries implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const found = modules.flatMap((module) =>
      [...module.children.allTests("passed")]
        .filter((test) => (test.diagnostic()?.retryCount ?? 0) > 0)
        .flatMap((test) => [`  ${module.relativeModuleId} > ${test.fullName}`, ...firstErrors(test)]),
    );
    if (found.length > 0) process.stdout.write(`\nPassed only at the second try:\n${found.join("\n")}\n`);
  }
}

function firstErrors(test: TestCase): string[] {
  return (test.result().errors ?? []).flatMap(({ message, diff, stacks }) => {
    const [top] = stacks ?? [];
    const place = top ? `\nat ${top.file}:${top.line}` : "";
    const lines = `${message}${diff ? `\n${diff}` : ""}`.split("\n").slice(0, TOLD_MAX_LINES);
    return [...lines, ...place.split("\n").filter(Boolean)].map((line) => `    ${line}`);
  });
}
