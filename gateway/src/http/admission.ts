// Admission: each valid signature is used once, and each client's requests are counted, in every process.
// Small rows written in batches: requests that arrive while a batch is written go into the next one together.
import { type Clock, SECOND, stopwatchMs } from "../ground/clock.ts";
import { Fault } from "../ground/fault.ts";
import { uuidOf } from "../ground/ids.ts";
import type { Client } from "../merchants/directory.ts";
import { binaryArray } from "../store/arrays.ts";
import { type Database, type Statement, isConnectionLoss } from "../store/database.ts";
import { type Rate, WINDOW_SECONDS, windowStart } from "./rate.ts";

export interface Admitted {
  /** The signature had been used before. */
  replayed: boolean;
  /** Requests of this client in the window, this one included. */
  count: number;
  rate: Rate;
}

interface Waiting {
  client: Client;
  /** Unix seconds until which the signature must be remembered. */
  validUntil: number;
  /** 128 bits in hex that identify the signature's use. */
  digest: string;
  since: number;
  resolve(admitted: Admitted): void;
  reject(error: unknown): void;
}

const BATCH_MAX = 256;
const QUEUE_MAX = 8192;
/** A request that has waited longer (the database hangs) is refused: others stand behind it, and its client has given up. */
const WAIT_MAX_MS = 5_000;

export class Admission {
  private readonly database: Database;
  private readonly clock: Clock;
  private queue: Waiting[] = [];
  private busy = false;

  constructor(database: Database, clock: Clock) {
    this.database = database;
    this.clock = clock;
  }

  /** Burns the signature and counts the request. Throws SERVICE_UNAVAILABLE when that cannot be written down. */
  admit(client: Client, validUntil: number, digest: string): Promise<Admitted> {
    if (this.queue.length >= QUEUE_MAX) {
      return Promise.reject(
        new Fault("SERVICE_UNAVAILABLE", { retryAfterSeconds: 1, internal: "admission backlog is full" }),
      );
    }
    return new Promise((resolve, reject) => {
      this.queue.push({ client, validUntil, digest, since: stopwatchMs(), resolve, reject });
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
        await this.write(batch);
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

  private async write(batch: Waiting[]): Promise<void> {
    const start = windowStart(Math.floor(this.clock.now() / SECOND));
    const clients = new Map<string, { client: Client; requests: number }>();
    const fresh = new Map<string, Waiting>();
    for (const waiting of batch) {
      const counted = clients.get(waiting.client.clientId);
      if (counted) counted.requests++;
      else clients.set(waiting.client.clientId, { client: waiting.client, requests: 1 });
      const key = identity(waiting);
      if (!fresh.has(key)) fresh.set(key, waiting);
    }
    const signatures = [...fresh].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, waiting]) => waiting);
    const rows = await this.database.query<{ burnt: number | null; client_id: string; requests: bigint }>(
      admitStatement(signatures, [...clients.values()], start),
    );
    const burnt = new Set<Waiting | undefined>();
    const totals = new Map<string, number>();
    for (const row of rows) {
      if (row.burnt === null) totals.set(row.client_id, Number(row.requests));
      else burnt.add(signatures[row.burnt - 1]);
    }
    for (const [clientId, { requests }] of clients) totals.set(clientId, (totals.get(clientId) ?? requests) - requests);
    for (const waiting of batch) {
      const { clientId, merchant } = waiting.client;
      const count = (totals.get(clientId) ?? 0) + 1;
      totals.set(clientId, count);
      const replayed = fresh.get(identity(waiting)) !== waiting || burnt.has(waiting);
      const limit = merchant.rateLimitPerMinute;
      waiting.resolve({
        replayed,
        count,
        rate: { limit, remaining: Math.max(0, limit - count), reset: start + WINDOW_SECONDS },
      });
    }
  }
}

function identity(waiting: Waiting): string {
  return `${waiting.client.merchant.merchantId} ${waiting.validUntil} ${waiting.digest}`;
}

/**
 * Writes signatures and counts in one statement; gives which signatures (from 1) were there before, and the new counts. It
 * commits without waiting for the disk: a command that follows waits for its own commit, which carries this one with it, so
 * whatever had an effect is remembered after a crash. Rows go in one order, so that two processes never wait for each other.
 */
function admitStatement(
  signatures: Waiting[],
  clients: { client: Client; requests: number }[],
  start: number,
): Statement {
  const counts = clients.sort((a, b) => (a.client.clientId < b.client.clientId ? -1 : 1));
  const merchantOf = (client: Client): string => uuidOf(client.merchant.merchantId);
  return {
    name: "admit",
    text: `with lazily as (
  select set_config('synchronous_commit', 'off', true) as setting
), seen as (
  insert into seen_signatures (merchant_id, valid_until, digest)
  select merchant_id, valid_until, digest
  from unnest($1::uuid[], $2::bigint[], $3::uuid[]) as v(merchant_id, valid_until, digest)
  on conflict do nothing
  returning merchant_id, valid_until, digest
), counted as (
  insert into rate_windows as r (merchant_id, client_id, window_start, requests)
  select merchant_id, client_id, $6::bigint, requests
  from unnest($4::uuid[], $5::text[], $7::bigint[]) as v(merchant_id, client_id, requests)
  on conflict (merchant_id, client_id, window_start) do update
  set requests = r.requests + excluded.requests
  returning client_id, requests
)
select v.place::integer as burnt, null as client_id, null as requests
from unnest($1::uuid[], $2::bigint[], $3::uuid[]) with ordinality as v(merchant_id, valid_until, digest, place)
where not exists (
  select
  from seen s
  where s.merchant_id = v.merchant_id and s.valid_until = v.valid_until and s.digest = v.digest
)
union all
select null, client_id, requests from counted, lazily`,
    values: [
      binaryArray(
        "uuid",
        signatures.map(({ client }) => merchantOf(client)),
      ),
      binaryArray(
        "bigint",
        signatures.map(({ validUntil }) => validUntil),
      ),
      binaryArray(
        "uuid",
        signatures.map(({ digest }) => digest),
      ),
      binaryArray(
        "uuid",
        counts.map(({ client }) => merchantOf(client)),
      ),
      binaryArray(
        "text",
        counts.map(({ client }) => client.clientId),
      ),
      start,
      binaryArray(
        "bigint",
        counts.map(({ requests }) => requests),
      ),
    ],
  };
}
