// Which lane a command runs in. Creations move no money and may overlap; a merchant's money moves one batch at a time.
import type { Clock } from "../ground/clock.ts";
import type { Log } from "../ground/log.ts";
import type { Metrics } from "../ground/metrics.ts";
import type { Database } from "./database.ts";
import { type Command, Lane } from "./lane.ts";
import type { WorkingSet } from "./working-set.ts";

const MONEY_LANES = 4;

export class Lanes {
  private readonly creation: Lane;
  private readonly money: Lane[];

  /** `beforeWrite` is called with what each batch did, before it is written. */
  constructor(
    database: Database,
    clock: Clock,
    metrics: Metrics,
    log: Log,
    beforeWrite?: (set: WorkingSet) => void,
  ) {
    const common = { batchMax: 128, queueMax: 4096, beforeWrite };
    const create = (name: string, own: { inFlight: number; locks: boolean }): Lane =>
      new Lane({ name, ...common, ...own }, database, clock, metrics, log);
    this.creation = create("creation", { inFlight: 2, locks: false });
    this.money = Array.from({ length: MONEY_LANES }, (_, index) =>
      create(`money-${index}`, { inFlight: 1, locks: true }),
    );
  }

  /** For commands that only add rows of their own and take no lock: batches of them may overlap, unique keys decide. */
  create<Answer>(command: Command<Answer>): Promise<Answer> {
    return this.creation.submit(command);
  }

  /** True while a creation would be alone in its batch. */
  get isCreationIdle(): boolean {
    return this.creation.isIdle;
  }

  /** For every other command: those of one merchant never run concurrently in this process. */
  move<Answer>(merchantId: string, command: Command<Answer>): Promise<Answer> {
    return (this.money[laneOf(merchantId)] as Lane).submit(command);
  }

  /** Why a lane stopped, or undefined while all work. */
  get broken(): string | undefined {
    return [this.creation, ...this.money].map((lane) => lane.broken).find((reason) => reason !== undefined);
  }

  async idle(): Promise<void> {
    await Promise.all([this.creation, ...this.money].map((lane) => lane.idle()));
  }
}

/** On one PostgreSQL a few lanes by hash of the merchant; on a distributed one this is where each gets its own. */
function laneOf(merchantId: string): number {
  let sum = 0;
  for (let at = merchantId.length - 8; at < merchantId.length; at++) sum = (sum * 31 + merchantId.charCodeAt(at)) >>> 0;
  return sum % MONEY_LANES;
}
