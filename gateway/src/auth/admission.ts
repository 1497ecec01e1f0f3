// Admission checks consume the signature of each read and count the requests of each principal, in the database, for all processes.
// Requests that arrive while a batch is written go into the next batch together.
import { type Clock, SECOND, stopwatchMs } from "../ground/clock.ts";
import { Fault, assert, unavailable } from "../ground/fault.ts";
import { idOf } from "../ground/ids.ts";
import type { Principal } from "../merchants/directory.ts";
import { type Database, isOutOfService } from "../store/database.ts";
import { type Requests, consumeReadNonces, countRequests } from "./admission.sql.ts";
import { type Nonce, nonceKey, nonceOfRow } from "./nonces.sql.ts";
import { type Rate, WINDOW_SECONDS, rateOf, windowStart } from "./rate.ts";

/** The result of the admission check of one request. */
export interface Admitted {
  /** True when one of the nonces had been used before. */
  replayed: boolean;
  /** Requests of this principal in the window, this one included. */
  count: number;
  rate: Rate;
}

interface Waiting {
  principal: Principal;
  nonces: readonly Nonce[];
  since: number;
  resolve(admitted: Admitted): void;
  reject(error: unknown): void;
}

/** What a batch adds to the count of a client in a window: its requests less those taken back. `count`: of the request that was numbered last. */
interface Tally extends Requests {
  count: number;
}

const BATCH_MAX = 256;
const QUEUE_MAX = 8192;
/** Longest wait of a request. A request that waited longer is refused: the database hangs, and its client has given up. */
const WAIT_MAX_MS = 5_000;

export class Admission {
  private readonly database: Database;
  private readonly clock: Clock;
  private queue: Waiting[] = [];
  private busy = false;
  /** Requests with a replayed signature, which the next batch subtracts from their principals' counts. */
  private readonly takenBack: Requests[] = [];

  private readonly onFailure: (cause: unknown) => void;

  /** `onFailure` is called with the error when a batch could not be written, so that the caller knows that the database takes no writes. */
  constructor(database: Database, clock: Clock, onFailure: (cause: unknown) => void) {
    this.database = database;
    this.clock = clock;
    this.onFailure = onFailure;
  }

  /** Counts a request and consumes its nonces. Throws SERVICE_UNAVAILABLE when the database cannot record that. */
  admit(principal: Principal, nonces: readonly Nonce[] = []): Promise<Admitted> {
    if (this.queue.length >= QUEUE_MAX) return Promise.reject(unavailable("admission backlog is full"));
    return new Promise((resolve, reject) => {
      this.queue.push({ principal, nonces, since: stopwatchMs(), resolve, reject });
      this.drainSoon();
    });
  }

  /** Subtracts a counted request again: anybody may send a replayed signature, so it does not count against the principal. */
  takeBack({ actor, merchant }: Principal, rate: Rate): void {
    if (this.takenBack.length >= QUEUE_MAX) return;
    const { merchantId } = merchant;
    this.takenBack.push({ merchantId, clientId: actor, windowStart: rate.reset - WINDOW_SECONDS, requests: -1 });
    // Other processes count with this one, so the subtraction does not wait for the next request here.
    this.drainSoon();
  }

  private drainSoon(): void {
    if (this.busy) return;
    this.busy = true;
    setImmediate(() => void this.drain());
  }

  private async drain(): Promise<void> {
    while (this.queue.length + this.takenBack.length > 0) {
      const batch = this.takeBatch();
      if (batch.length + this.takenBack.length === 0) break;
      try {
        await this.admitAll(batch);
      } catch (error) {
        this.onFailure(error);
        const fault = isOutOfService(error) ? unavailable(error) : new Fault("INTERNAL_ERROR", { internal: error });
        for (const waiting of batch) waiting.reject(fault);
      }
    }
    this.busy = false;
  }

  /** Takes the next batch, and rejects the requests that have waited too long. */
  private takeBatch(): Waiting[] {
    const oldest = stopwatchMs() - WAIT_MAX_MS;
    const late = this.queue.findIndex(({ since }) => since >= oldest);
    for (const waiting of this.queue.splice(0, late < 0 ? this.queue.length : late))
      waiting.reject(unavailable("waited too long for admission"));
    return this.queue.splice(0, BATCH_MAX);
  }

  private async admitAll(batch: readonly Waiting[]): Promise<void> {
    const start = windowStart(Math.floor(this.clock.now() / SECOND));
    // Of several requests with one nonce in a batch, only the first may consume it.
    const first = new Map<string, { waiting: Waiting; nonce: Nonce }>();
    for (const waiting of batch) {
      for (const nonce of waiting.nonces) {
        const key = nonceKey(nonce);
        if (!first.has(key)) first.set(key, { waiting, nonce });
      }
    }
    const tallies = new Map<string, Tally>();
    const own = batch.map(({ principal: { actor, merchant } }) => tallyOf(tallies, actor, start, merchant.merchantId));
    for (const tally of own) {
      tally.requests++;
      tally.count--;
    }
    for (const { clientId, windowStart: began, merchantId, requests } of this.takenBack.splice(0, BATCH_MAX))
      tallyOf(tallies, clientId, began, merchantId).requests += requests;
    const nonces = sortedByKey(first).map(({ nonce }) => nonce);
    const [counted = [], consumed = []] = await this.database.pipeline([
      countRequests(sortedByKey(tallies)),
      ...(nonces.length > 0 ? [consumeReadNonces(nonces)] : []),
    ]);
    // The database gives the count after the whole batch; each request of the batch gets its own number in it.
    for (const row of counted) {
      const merchantId = idOf("merchant", row.merchant_id as string);
      const began = Number(row.window_start);
      tallyOf(tallies, row.client_id as string, began, merchantId).count += Number(row.requests);
    }
    const fresh = new Set(consumed.map((row) => nonceKey(nonceOfRow(row))));
    for (const [index, waiting] of batch.entries()) {
      const tally = own[index];
      assert(tally, "a request of the batch has no tally");
      const count = ++tally.count;
      const replayed = waiting.nonces
        .map(nonceKey)
        .some((key) => first.get(key)?.waiting !== waiting || !fresh.has(key));
      waiting.resolve({ replayed, count, rate: rateOf(waiting.principal.merchant.rateLimitPerMinute, count, start) });
    }
  }
}

/** The batch's tally of a client of a merchant in a window, made at its first request. The keys order the rows to be locked. */
function tallyOf(tallies: Map<string, Tally>, clientId: string, start: number, merchantId: string): Tally {
  const key = `${clientId} ${start} ${merchantId}`;
  return tallies.getOrInsertComputed(key, () => ({ merchantId, clientId, windowStart: start, requests: 0, count: 0 }));
}

function sortedByKey<Value>(values: ReadonlyMap<string, Value>): Value[] {
  return [...values].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, value]) => value);
}
