// The order of the test files: the longest begin first, so that the run does not wait for one of them at the end.
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Files that took more than thirteen seconds, the longest first. Vitest orders all others. */
const longest = [
  "e2e/portal/pages.test.ts",
  "e2e/resilience.test.ts",
  "e2e/portal/people.test.ts",
  "e2e/production-guide.test.ts",
  "e2e/portal/checkout.test.ts",
  "e2e/webhooks.test.ts",
  "e2e/rolling-restart.test.ts",
  "e2e/portal/keys.test.ts",
  "e2e/mistakes.test.ts",
  "gateway/src/acquiring/payment-operations.test.ts",
  "e2e/portal/faces.test.ts",
  "gateway/src/portal/hostile-input.test.ts",
  "e2e/portal/evidence.test.ts",
  "e2e/portal/settings.test.ts",
  "e2e/portal/story.test.ts",
  "gateway/test/model.test.ts",
  "e2e/portal/console-payments.test.ts",
  "e2e/guide.test.ts",
  "e2e/npm-start.test.ts",
  "gateway/src/webhooks/deliverer.test.ts",
  "e2e/deploy.test.ts",
  "e2e/portal/routing.test.ts",
  "e2e/portal/console.test.ts",
  "gateway/src/http/bad-input.test.ts",
  "e2e/bench.test.ts",
  "e2e/operator-guide.test.ts",
  "e2e/listen.test.ts",
  "e2e/portal/wall.test.ts",
  "gateway/src/cli/serve.test.ts",
  "gateway/src/ledger/verify.test.ts",
  "e2e/portal/insights.test.ts",
  "e2e/acquirers.test.ts",
  "gateway/src/tracing.test.ts",
  "gateway/src/plans.test.ts",
  "e2e/providers/every-method.test.ts",
  "gateway/src/http/load-shedding.test.ts",
  "gateway/src/http/unauthenticated-callers.test.ts",
  "e2e/states.test.ts",
  "gateway/src/portal/evidence.test.ts",
  "e2e/webhooks-guide.test.ts",
  "e2e/portal/requests.test.ts",
];

/** Files of one project run one after another, because a process is kept for the next file of its project. */
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
