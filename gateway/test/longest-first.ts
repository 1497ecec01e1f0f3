// The order of the test files: the longest begin first, so that none of them is what the others wait for at the end.
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Those that took more than seven seconds, the longest first. The order of all others is vitest's own. */
const longest = [
  "gateway/src/payments/acquiring.test.ts",
  "e2e/resilience.test.ts",
  "e2e/webhooks.test.ts",
  "e2e/listen.test.ts",
  "e2e/acquirers.test.ts",
  "e2e/bench.test.ts",
  "gateway/test/model.test.ts",
  "e2e/webhooks-guide.test.ts",
  "gateway/src/acquirers/remote.test.ts",
  "gateway/src/diagnostics/signature-diagnosis.test.ts",
  "gateway/src/ledger/verify.test.ts",
  "e2e/ledger-programs.test.ts",
  "gateway/src/webhooks/deliverer.test.ts",
  "gateway/src/sandbox/webhook-tools.test.ts",
  "gateway/src/webhooks/resend.test.ts",
  "gateway/src/diagnostics/receiver-test.test.ts",
  "gateway/src/http/bad-input.test.ts",
  "gateway/src/http/load-shedding.test.ts",
  "e2e/guide.test.ts",
  "e2e/states.test.ts",
  "gateway/src/cli/simulator/simulator.test.ts",
  "gateway/test/deliveries.test.ts",
];

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const placeOf = ({ moduleId }: TestSpecification): number => {
      const place = longest.findIndex((path) => moduleId.endsWith(`/${path}`));
      return place < 0 ? longest.length : place;
    };
    return (await super.sort(files)).toSorted((one, other) => placeOf(one) - placeOf(other));
  }
}
