// The campaigns as vitest runs them for soak/main.ts: each plays one seed after another until its time is over.
import { describe, inject, test } from "vitest";
import { cancelOf, startRig as startCancel, stopRig as stopCancel } from "./cancel.ts";
import { deliveriesOf, startRig as startDeliveries, stopRig as stopDeliveries } from "./deliveries.ts";
import { faultsOf, startRig as startFaults, stopRig as stopFaults } from "./faults.ts";
import { startInstances, stopInstances } from "./instances.ts";
import { atOnce, inTurn } from "./model.ts";
import { type Name, names } from "./plan.ts";

interface Campaign {
  /** `start` and `stop` run before and after each seed, so that seeds do not affect each other. */
  start: () => Promise<void>;
  stop: () => Promise<void>;
  play: (budget: { seed: number; runs: number }) => Promise<void>;
}

const campaigns: Record<Name, Campaign> = {
  model: { start: startInstances, stop: stopInstances, play: inTurn },
  "at-once": { start: startInstances, stop: stopInstances, play: atOnce },
  deliveries: { start: startDeliveries, stop: stopDeliveries, play: deliveriesOf },
  faults: { start: () => startFaults(), stop: stopFaults, play: faultsOf },
  cancel: { start: startCancel, stop: stopCancel, play: cancelOf },
};
/** Sequences per seed, in campaigns whose seed stands for several. */
const RUNS = 10;

const { minutes, seed: first, only } = inject("plan");

describe.each(names.filter((name) => only === undefined || name === only))("%s", (name) => {
  const { start, stop, play } = campaigns[name];
  test(`${minutes} minutes`, async () => {
    const end = performance.now() + minutes * 60_000;
    let seed = first;
    do {
      await start();
      try {
        await play({ seed, runs: RUNS });
      } catch (error) {
        console.error(
          `${name} failed with seed ${seed}. Again: npm run soak -- --minutes 1 --only ${name} --seed ${seed}`,
        );
        throw error;
      } finally {
        await stop();
      }
      seed++;
    } while (performance.now() < end);
    console.log(`${name}: ${seed - first} seeds, ${first} to ${seed - 1}`);
  });
});
