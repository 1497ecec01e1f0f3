// The order of the test files: the longest begin first, so that none of them is what the others wait for at the end.
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Those that took more than thirteen seconds, the longest first. The order of all others is vitest's own. */
const longest = [
  "e2e/resilience.test.ts",
  "e2e/portal/console-merchants.test.ts",
  "e2e/portal/pages.test.ts",
  "e2e/portal/decisions.test.ts",
  "gateway/src/portal/hostile-input.test.ts",
  "e2e/portal/people.test.ts",
  "e2e/portal/checkout.test.ts",
  "gateway/src/webhooks/deliverer.test.ts",
  "gateway/src/acquiring/payment-operations.test.ts",
  "e2e/portal/keys.test.ts",
  "e2e/npm-start.test.ts",
  "gateway/test/model.test.ts",
  "e2e/rolling-restart.test.ts",
  "e2e/portal/settings.test.ts",
  "e2e/portal/console-payments.test.ts",
  "e2e/webhooks.test.ts",
  "e2e/mistakes.test.ts",
  "e2e/deploy.test.ts",
  "e2e/portal/faces.test.ts",
  "e2e/portal/console.test.ts",
  "e2e/guide.test.ts",
  "gateway/src/http/bad-input.test.ts",
  "e2e/bench.test.ts",
  "e2e/portal/story.test.ts",
  "e2e/portal/evidence.test.ts",
  "e2e/portal/wall.test.ts",
  "e2e/portal/routing.test.ts",
  "e2e/listen.test.ts",
  "gateway/src/tracing.test.ts",
  "e2e/operator-guide.test.ts",
  "gateway/src/ledger/verify.test.ts",
  "gateway/src/cli/serve.test.ts",
  "gateway/src/portal/evidence.test.ts",
  "gateway/src/contract.test.ts",
  "e2e/people.test.ts",
  "gateway/src/store/lane.test.ts",
  "e2e/states.test.ts",
  "gateway/src/operator/approvals.test.ts",
  "gateway/src/insights/stream.test.ts",
  "gateway/src/http/unauthenticated-callers.test.ts",
  "gateway/src/webhooks/resend.test.ts",
  "gateway/src/status/status.test.ts",
  "sdk/test/service.test.ts",
  "gateway/test/money.test.ts",
  "e2e/portal/insights.test.ts",
  "e2e/portal/requests.test.ts",
  "gateway/src/diagnostics/signature-diagnosis.test.ts",
  "gateway/src/sandbox/webhook-tools.test.ts",
  "gateway/src/portal/settings.test.ts",
  "gateway/src/cli/simulator/memory.test.ts",
  "e2e/portal/frame.test.ts",
  "gateway/src/acquirers/remote.test.ts",
  "gateway/src/people/proofs.test.ts",
  "e2e/main-job.test.ts",
];

/** A process is kept for the next file of its project: the files of one come one after the other. */
const projects = ["apart", "pages", "together", "pure"];

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const placeOf = ({ moduleId }: TestSpecification): number => {
      const place = longest.findIndex((path) => moduleId.endsWith(`/${path}`));
      return place < 0 ? longest.length : place;
    };
    const projectOf = ({ project }: TestSpecification): number => projects.indexOf(project.name);
    return (await super.sort(files)).toSorted(
      (one, other) => projectOf(one) - projectOf(other) || placeOf(one) - placeOf(other),
    );
  }
}
