// The order of the test files: the longest begin first, so that none of them is what the others wait for at the end.
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Those that took more than thirteen seconds, the longest first. The order of all others is vitest's own. */
const longest = [
  "e2e/resilience.test.ts",
  "gateway/src/portal/hostile-input.test.ts",
  "e2e/portal/pages.test.ts",
  "e2e/mistakes.test.ts",
  "e2e/production-guide.test.ts",
  "e2e/webhooks.test.ts",
  "gateway/src/acquiring/payment-operations.test.ts",
  "e2e/rolling-restart.test.ts",
  "gateway/src/webhooks/deliverer.test.ts",
  "e2e/portal/keys.test.ts",
  "e2e/portal/docs.test.ts",
  "e2e/npm-start.test.ts",
  "e2e/listen.test.ts",
  "e2e/portal/settings.test.ts",
  "gateway/test/model.test.ts",
  "e2e/guide.test.ts",
  "e2e/portal/people.test.ts",
  "e2e/ledger-programs.test.ts",
  "e2e/portal/story.test.ts",
  "e2e/acquirers.test.ts",
  "e2e/people.test.ts",
  "e2e/bench.test.ts",
  "gateway/src/ledger/verify.test.ts",
  "e2e/portal/checkout.test.ts",
  "gateway/src/tracing.test.ts",
  "e2e/portal/evidence.test.ts",
  "gateway/src/http/bad-input.test.ts",
  "gateway/src/contract.test.ts",
  "e2e/operator-guide.test.ts",
  "e2e/main-job.test.ts",
  "e2e/portal/faces.test.ts",
  "e2e/portal/insights.test.ts",
  "gateway/src/sandbox/webhook-tools.test.ts",
  "gateway/src/http/unauthenticated-callers.test.ts",
  "gateway/src/store/embedded.test.ts",
  "e2e/states.test.ts",
  "e2e/portal/requests.test.ts",
  "gateway/src/diagnostics/signature-diagnosis.test.ts",
  "gateway/src/cli/operator-command.test.ts",
  "gateway/src/cli/simulator/memory.test.ts",
  "gateway/src/webhooks/resend.test.ts",
  "gateway/src/portal/evidence.test.ts",
  "gateway/src/requests/request-log.test.ts",
  "gateway/src/cli/serve.test.ts",
  "gateway/src/portal/settings.test.ts",
  "gateway/test/money.test.ts",
  "gateway/src/cli/secrets-command.test.ts",
  "gateway/src/diagnostics/receiver-test.test.ts",
  "gateway/src/acquirers/remote.test.ts",
  "e2e/webhooks-guide.test.ts",
  "gateway/src/kept-answers.test.ts",
  "gateway/src/settlements/outlook.test.ts",
  "portal/build.test.ts",
  "gateway/src/insights/stream.test.ts",
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
