// Goal: what soak/deliveries.ts says of deliveries holds at each run of the tests. Method: its campaign with one seed.
import { afterAll, beforeAll, test } from "vitest";
import { deliveriesOf, startRig, stopRig } from "../../soak/deliveries.ts";

beforeAll(startRig);
afterAll(stopRig);

test(
  "each event is attempted as often as its receiver fails, by one of two processes, and given up after eight",
  () => deliveriesOf({ seed: 1 }),
  120_000,
);
