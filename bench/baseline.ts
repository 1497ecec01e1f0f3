// The baseline: PostgreSQL without the service writes the same rows, one transaction per payment, over 16 connections.
import { createHash, randomBytes, randomUUID } from "node:crypto";
import pg from "pg";
import { type Sample, findPgbench, runPgbench } from "./pgbench.ts";

const CONNECTIONS = 16;

/**
 * Writes the same payments by `pgbench` when it is installed, else by awaited statements. The rows are as wide as the service's own, and belong
 * to a separate merchant in the same tables.
 */
export class Baseline {
  private readonly url: string;
  private readonly pool: pg.Pool;
  private readonly sample: Sample;
  private readonly merchant: string;
  private readonly pgbench = findPgbench();
  private turn = 0;

  private constructor(url: string, pool: pg.Pool, sample: Sample, merchant: string) {
    this.url = url;
    this.pool = pool;
    this.sample = sample;
    this.merchant = merchant;
  }

  static async open(url: string): Promise<Baseline> {
    const pool = new pg.Pool({ connectionString: url, max: CONNECTIONS });
    const sample = await sampleRows(pool);
    const merchant = randomUUID();
    await pool.query(
      "insert into merchants (merchant_id, name, settings, epoch, created_at) select $1, 'baseline', settings, 0, now() from merchants limit 1",
      [merchant],
    );
    await pool.query("insert into books (merchant_id, environment) values ($1, 'sandbox')", [merchant]);
    return new Baseline(url, pool, sample, merchant);
  }

  /** The writer of the rows: `pgbench`, or awaited statements. */
  get name(): string {
    return this.pgbench ?? "awaited statements";
  }

  /** Writes payments for this long; gives payments per second. */
  run(seconds: number): Promise<number> {
    const { url, pool, merchant, sample } = this;
    if (this.pgbench !== undefined) return Promise.resolve(runPgbench(url, merchant, sample, seconds, this.turn++));
    return awaited(pool, merchant, sample, seconds, CONNECTIONS);
  }

  /** Measures the latencies of transactions on one connection, in milliseconds. */
  async latencies(seconds: number): Promise<number[]> {
    const client = await this.pool.connect();
    const latencies: number[] = [];
    for (const end = performance.now() + seconds * 1000; performance.now() < end;) {
      const begun = performance.now();
      await onePayment(client, this.merchant, randomUUID(), this.sample);
      latencies.push(performance.now() - begun);
    }
    client.release();
    return latencies;
  }

  /** Deletes the baseline's rows, which would make the verification of their book fail. No key is forgotten before its 72 hours, by its book's clock. */
  async close(): Promise<void> {
    await this.pool.query("update books set clock_offset_seconds = 72 * 3600 where merchant_id = $1", [this.merchant]);
    for (const table of ["deliveries", "events", "payments", "idempotency_keys", "used_nonces"]) {
      await this.pool.query(`delete from ${table} where merchant_id = $1`, [this.merchant]);
    }
    await this.pool.end();
  }
}

async function awaited(
  pool: pg.Pool,
  merchant: string,
  sample: Sample,
  seconds: number,
  connections: number,
): Promise<number> {
  let done = 0;
  const end = performance.now() + seconds * 1000;
  const begun = performance.now();
  await Promise.all(
    Array.from({ length: connections }, async (_, slot) => {
      const client = await pool.connect();
      while (performance.now() < end) {
        await onePayment(client, merchant, `${slot}-${done}-${randomUUID()}`, sample);
        done++;
      }
      client.release();
    }),
  );
  return done / ((performance.now() - begun) / 1000);
}

async function sampleRows(pool: pg.Pool): Promise<Sample> {
  const { rows } = await pool.query<Sample>(`select p.instructions::text, p.routing::text, p.risk_reasons::text as risk,
  p.metadata::text, e.body as event, k.response
from payments p
join events e on e.merchant_id = p.merchant_id and e.environment = p.environment and e.subject_id = p.payment_id
join idempotency_keys k on k.merchant_id = p.merchant_id and k.environment = p.environment
  and k.first_seen_at = p.created_at
limit 1`);
  const [row] = rows;
  if (!row) throw new Error("the service has made no payment to take as a sample");
  return row;
}

/** Makes an identity in the order of time, like the service's. */
function nextId(): string {
  const ms = Date.now().toString(16).padStart(12, "0");
  return `${ms.slice(0, 8)}-${ms.slice(8)}-7${randomUUID().slice(15)}`;
}

async function onePayment(client: pg.PoolClient, merchant: string, name: string, sample: Sample): Promise<void> {
  const payment = nextId();
  const event = nextId();
  const key = `key-${name}`;
  await client.query("begin");
  await client.query({
    name: "signature",
    text: "insert into used_nonces (slot, merchant_id, valid_until, digest) values (0, $1, $2, $3)",
    values: [merchant, Math.floor(Date.now() / 1000) + 300, randomUUID()],
  });
  await client.query({
    name: "key",
    text: `select status from idempotency_keys where merchant_id = $1 and environment = 'sandbox' and idempotency_key = $2`,
    values: [merchant, key],
  });
  await client.query({
    name: "payment",
    text: `insert into payments (merchant_id, environment, payment_id, status, amount_minor, fee_minor, created_at, updated_at,
  expires_at, payment_method, risk_score, currency, reference_id, gateway_code, risk_decision, description, metadata,
  instructions, risk_reasons, routing)
values ($1, 'sandbox', $2, 'pending', 150000, 1050, now(), now(), now() + interval '30 minutes', 'qris', 5, 'IDR', $3,
  'nusantara', 'approve', 'Order', $4, $5, $6, $7)`,
    values: [merchant, payment, name, sample.metadata, sample.instructions, sample.risk, sample.routing],
  });
  await client.query({
    name: "event",
    text: `insert into events (merchant_id, environment, event_id, type, subject_id, created_at, body)
values ($1, 'sandbox', $2, 'payment.created', $3, now(), $4)`,
    values: [merchant, event, payment, sample.event],
  });
  await client.query({
    name: "delivery",
    text: `insert into deliveries (merchant_id, environment, event_id, url, next_attempt_at)
values ($1, 'sandbox', $2, 'https://receiver.gerbang-bench.com/hook', now())`,
    values: [merchant, event],
  });
  await client.query({
    name: "answer",
    text: `insert into idempotency_keys (merchant_id, environment, idempotency_key, first_seen_at, body_digest, endpoint, status, response)
values ($1, 'sandbox', $2, now(), $3, 'POST /v1/payments', 201, $4)`,
    values: [merchant, key, createHash("sha256").update(randomBytes(8)).digest(), sample.response],
  });
  await client.query("commit");
}
