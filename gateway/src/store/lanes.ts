// Chooses the lane of a command. Creations move no money, so their batches may overlap; a merchant's money moves one batch at a time.
import type { BatchParts } from "./batch.ts";
import type { Command } from "./command.ts";
import { Lane } from "./lane.ts";
import type { WorkingSet } from "./working-set.ts";

const MONEY_LANES = 4;

export class Lanes {
  private readonly creation: Lane;
  private readonly money: Lane[];
  /** Books whose commands are rejected since an impossible state was found in them, with the reason. */
  readonly quarantine: ReadonlyMap<string, string>;

  /** `beforeWrite` is called with the changes of each batch before they are written. */
  constructor(given: Omit<BatchParts, "quarantine">, beforeWrite?: (set: WorkingSet) => void) {
    const quarantine = new Map<string, string>();
    const parts: BatchParts = { ...given, quarantine };
    this.quarantine = quarantine;
    const common = { batchMax: 128, queueMax: 4096, beforeWrite };
    this.creation = new Lane({ name: "creation", inFlight: 2, ...common }, parts);
    this.money = Array.from(
      { length: MONEY_LANES },
      (_, index) => new Lane({ name: `money-${index}`, inFlight: 1, ...common }, parts),
    );
  }

  /** Runs a command that moves no money and changes no row of others: batches of such commands may overlap, and unique keys decide. */
  create<Answer>(command: Command<Answer>): Promise<Answer> {
    return this.creation.submit(command);
  }

  /** Runs any other command. Such commands of one merchant never run concurrently in this process. */
  move<Answer>(merchantId: string, command: Command<Answer>): Promise<Answer> {
    return (this.money[laneOf(merchantId)] as Lane).submit(command);
  }

  /** Resolves when nothing waits and nothing is in flight. */
  async idle(): Promise<void> {
    await Promise.all([this.creation, ...this.money].map((lane) => lane.idle()));
  }
}

/** A few lanes per database, chosen by hash of the merchant. With a lane per merchant there are no batches, and the rate falls by two thirds. */
function laneOf(merchantId: string): number {
  let sum = 0;
  for (let at = merchantId.length - 8; at < merchantId.length; at++) sum = (sum * 31 + merchantId.charCodeAt(at)) >>> 0;
  return sum % MONEY_LANES;
}
