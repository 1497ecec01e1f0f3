// Goal: what the model of soak/model.ts says holds for a few sequences at each run of the tests. Method: the campaigns of
// soak/model.ts with a small budget: their fixed examples, which have each kind of step, and a few drawn ones. `npm run soak` draws many.
import { afterAll, beforeAll, test } from "vitest";
import { startInstances, stopInstances } from "../../soak/instances.ts";
import { atOnce, inTurn } from "../../soak/model.ts";

/** The examples among them. */
const RUNS_IN_TURN = 8;
const RUNS_AT_ONCE = 2;

beforeAll(startInstances);
afterAll(stopInstances);

test("one after another: every answer, balance, object and event is the model's", { timeout: 3_600_000 }, () =>
  inTurn({ runs: RUNS_IN_TURN }),
);
test("many at once, through two processes of which one is killed: the book stays sound", { timeout: 3_600_000 }, () =>
  atOnce({ runs: RUNS_AT_ONCE }),
);
