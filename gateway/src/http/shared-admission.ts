// Admission through the database, for all processes together: small rows written in batches. Requests that arrive while a batch is
// written go into the next one together.
import { type Clock, SECOND, stopwatchMs } from "../ground/clock.ts";
import { Fault } from "../ground/fault.ts";
import type { Client } from "../merchants/directory.ts";
import { type Database, isConnectionLoss } from "../store/database.ts";
import { type AdmissionRow, type Requests, admitStatement } from "./admission.sql.ts";
import { windowStart } from "./rate.ts";
import { type Use, keyOf } from "./used-signatures.ts";

/** What the database says of one request. */
export interface Counted {
  /** The signature had been used before. */
  replayed: boolean;
  /** Requests of this client in the window, this one included, as far as they are written down. */
  count: number;
  /** When that window began. */
  start: number;
}

interface Waiting {
  client: Client;
  use: Use;
  since: number;
  resolve(counted: Counted): void;
  reject(error: unknown): void;
}

const BATCH_MAX = 256;
const QUEUE_MAX = 8192;
/** A request that has waited longer (the database hangs) is refused: others stand behind it, and its client has given up. */
const WAIT_MAX_MS = 5_000;

export class SharedAdmission {
  private readonly database: Database;
  private readonly clock: Clock;
  private queue: Waiting[] = [];
  private busy = false;

  constructor(database: Database, clock: Clock) {
    this.database = database;
    this.clock = clock;
  }

  /** Burns the signature and counts the request. Throws SERVICE_UNAVAILABLE when that cannot be written down. */
  admit(client: Client, use: Use): Promise<Counted> {
    if (this.queue.length >= QUEUE_MAX) {
      return Promise.reject(
        new Fault("SERVICE_UNAVAILABLE", { retryAfterSeconds: 1, internal: "admission backlog is full" }),
      );
    }
    return new Promise((resolve, reject) => {
      this.queue.push({ client, use, since: stopwatchMs(), resolve, reject });
      if (!this.busy) {
        this.busy = true;
        setImmediate(() => void this.drain());
      }
    });
  }

  private async drain(): Promise<void> {
    while (this.queue.length > 0) {
      const batch = this.takeBatch();
      if (batch.length === 0) break;
      try {
        await this.admitAll(batch);
      } catch (error) {
        const fault = isConnectionLoss(error)
          ? new Fault("SERVICE_UNAVAILABLE", { retryAfterSeconds: 1, internal: error })
          : new Fault("INTERNAL_ERROR", { internal: error });
        for (const waiting of batch) waiting.reject(fault);
      }
    }
    this.busy = false;
  }

  /** The next in line, without those who have waited too long. */
  private takeBatch(): Waiting[] {
    const oldest = stopwatchMs() - WAIT_MAX_MS;
    const late = this.queue.findIndex((waiting) => waiting.since >= oldest);
    for (const waiting of this.queue.splice(0, late < 0 ? this.queue.length : late)) {
      waiting.reject(
        new Fault("SERVICE_UNAVAILABLE", { retryAfterSeconds: 1, internal: "waited too long for admission" }),
      );
    }
    return this.queue.splice(0, BATCH_MAX);
  }

  private async admitAll(batch: Waiting[]): Promise<void> {
    const clients = new Map<string, Requests>();
    const fresh = new Map<string, Waiting>();
    for (const waiting of batch) {
      const { clientId, merchant } = waiting.client;
      const counted = clients.get(clientId);
      if (counted) counted.requests++;
      else clients.set(clientId, { clientId, merchantId: merchant.merchantId, requests: 1 });
      const key = keyOf(waiting.use);
      if (!fresh.has(key)) fresh.set(key, waiting);
    }
    const start = windowStart(Math.floor(this.clock.now() / SECOND));
    const { burnt, totals } = await this.write(
      [...fresh.values()].map(({ use }) => use),
      [...clients.values()],
      start,
    );
    for (const { clientId, requests } of clients.values())
      totals.set(clientId, (totals.get(clientId) ?? requests) - requests);
    for (const waiting of batch) {
      const { clientId } = waiting.client;
      const count = (totals.get(clientId) ?? 0) + 1;
      totals.set(clientId, count);
      const replayed = fresh.get(keyOf(waiting.use)) !== waiting || burnt.has(waiting.use);
      waiting.resolve({ replayed, count, start });
    }
  }

  /** Writes uses and requests of the window that began at `start`. Gives which uses were there before, and the clients' new totals. */
  async write(
    uses: readonly Use[],
    requests: readonly Requests[],
    start: number,
  ): Promise<{ burnt: Set<Use>; totals: Map<string, number> }> {
    const ordered = uses.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
    const rows = await this.database.query<AdmissionRow>(admitStatement(ordered, requests, start));
    const burnt = new Set<Use>();
    const totals = new Map<string, number>();
    for (const row of rows) {
      if (row.burnt === null) totals.set(row.client_id, Number(row.requests));
      else burnt.add(ordered[row.burnt - 1] as Use);
    }
    return { burnt, totals };
  }
}
