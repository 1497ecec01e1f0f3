// Which lane a command runs in. Creations move no money and may overlap; a merchant's money moves one batch at a time.
import { type Command, Lane, type LaneParts } from "./lane.ts";
import type { WorkingSet } from "./working-set.ts";

const MONEY_LANES = 4;

export class Lanes {
  private readonly creation: Lane;
  private readonly money: Lane[];
  /** Books that are refused since an impossible state was met in them, with the reason. */
  readonly quarantine: ReadonlyMap<string, string>;

  /** `beforeWrite` is called with what each batch did, before it is written. */
  constructor(given: Omit<LaneParts, "quarantine">, beforeWrite?: (set: WorkingSet) => void) {
    const quarantine = new Map<string, string>();
    const parts: LaneParts = { ...given, quarantine };
    this.quarantine = quarantine;
    const common = { batchMax: 128, queueMax: 4096, beforeWrite };
    this.creation = new Lane({ name: "creation", inFlight: 2, ...common }, parts);
    this.money = Array.from(
      { length: MONEY_LANES },
      (_, index) => new Lane({ name: `money-${index}`, inFlight: 1, ...common }, parts),
    );
  }

  /** For commands that only add rows of their own and take no lock: batches of them may overlap, unique keys decide. */
  create<Answer>(command: Command<Answer>): Promise<Answer> {
    return this.creation.submit(command);
  }

  /** For every other command: those of one merchant never run concurrently in this process. */
  move<Answer>(merchantId: string, command: Command<Answer>): Promise<Answer> {
    return (this.money[laneOf(merchantId)] as Lane).submit(command);
  }

  /** Resolves when nothing waits and nothing is in flight. */
  async idle(): Promise<void> {
    await Promise.all([this.creation, ...this.money].map((lane) => lane.idle()));
  }
}

/** A few lanes a database, by hash of the merchant: with one for each, batches vanish and two thirds of the rate with them. */
function laneOf(merchantId: string): number {
  let sum = 0;
  for (let at = merchantId.length - 8; at < merchantId.length; at++) sum = (sum * 31 + merchantId.charCodeAt(at)) >>> 0;
  return sum % MONEY_LANES;
}
