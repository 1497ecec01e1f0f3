// Fills tables with years of payments in a minute: the database copies rows that the service made. Also measures the size of the rows.
import pg from "pg";

interface Clone {
  payments: number;
  bytes_a_payment: number;
  largest_tables: string;
}

const STEP = 100_000;

const tables = ["payments", "events", "deliveries", "idempotency_keys", "client_audit"] as const;
type Filled = (typeof tables)[number] | "delivery_attempts";

/**
 * Fills tables with `rows` rows that are `days` days old, copied from a row that exists: by default payments, each with its event, its
 * (finished) delivery, its idempotency key and its row of the audit. `over`: spreads the payments over this many days before that, and over all methods.
 */
export async function fill(
  url: string,
  rows: number,
  { days = 1, over = 0, into = tables }: { days?: number; over?: number; into?: readonly Filled[] } = {},
): Promise<Clone> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query("set session_replication_role = replica"); // no triggers: the copied rows have passed them
    await client.query("set synchronous_commit = off");
    const past = `now() - interval '${days} days'`;
    // Identities as if one had been made per second, up to `days` days ago.
    const id = `(lpad(to_hex(((extract(epoch from ${past}) - $2::bigint + n) * 1000)::bigint), 12, '0') || '7000' || '8' || lpad(to_hex(n), 15, '0'))::uuid`;
    const then = over > 0 ? `${past} - make_interval(secs => (n * 7919 % (${over} * 86400))::double precision)` : past;
    const numbers = "generate_series($1::bigint, $2::bigint) n";
    const changes: Record<Filled, Record<string, string>> = {
      payments: {
        ...(over > 0 && {
          payment_method: "(enum_range(null::payment_method))[1 + n % 5]",
          amount_minor: "100000 + n % 900000",
          fee_minor: "0",
        }),
        payment_id: id,
        reference_id: "'past-' || n",
        status: "'expired'",
        paid_at: "null",
        created_at: then,
        updated_at: then,
        expires_at: then,
      },
      events: { event_id: id, subject_id: id, created_at: past },
      deliveries: {
        event_id: id,
        state: "'delivered'",
        attempts: "1",
        next_attempt_at: past,
        lease_token: "null",
        leased_until: "null",
      },
      idempotency_keys: { idempotency_key: "'past-key-' || n", first_seen_at: past },
      client_audit: { subject: "'pay_' || n", request_id: id, at: past },
      delivery_attempts: { event_id: id, started_at: past },
    };
    for (let from = 0; from < rows; from += STEP) {
      const to = Math.min(rows, from + STEP) - 1;
      for (const table of into) {
        const { rows: names } = await client.query<{ name: string }>(
          `select attname as name from pg_attribute where attrelid = $1::regclass and attnum > 0 and not attisdropped and attgenerated = '' order by attnum`,
          [table],
        );
        const all = names.map(({ name }) => name);
        const values = all.map((name) => changes[table][name] ?? `s.${name}`);
        await client.query(
          `insert into ${table} (${all.join(", ")}) select ${values.join(", ")} from (select * from ${table} limit 1) s, ${numbers}`,
          [from, to],
        );
      }
      process.stderr.write(`\r${to + 1} rows`);
    }
    process.stderr.write("\n");
    await client.query(`vacuum (analyze) ${into.join(", ")}`);
    const { rows: sizes } = await client.query<{ name: string; bytes: string; total: string }>(
      `select relname as name, pg_total_relation_size(oid)::text as bytes, sum(pg_total_relation_size(oid)) over ()::text as total
from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace order by pg_total_relation_size(oid) desc`,
    );
    const { rows: counted } = await client.query<{ count: string }>("select count(*) from payments");
    const payments = Number(counted[0]?.count ?? 0);
    const weight = (bytes: string): number => Math.round(Number(bytes) / payments);
    return {
      payments,
      bytes_a_payment: weight(sizes[0]?.total ?? "0"),
      largest_tables: sizes
        .slice(0, 5)
        .map(({ name, bytes }) => `${name} ${weight(bytes)}`)
        .join(", "),
    };
  } finally {
    await client.end();
  }
}

/** Counts the idempotency keys and events that are older than `days` days. */
export async function left(url: string, days: number): Promise<number> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<{ count: string }>(
      `select (select count(*) from idempotency_keys where first_seen_at < now() - make_interval(days => $1))
  + (select count(*) from events where created_at < now() - make_interval(days => $1)) as count`,
      [days],
    );
    return Number(rows[0]?.count);
  } finally {
    await client.end();
  }
}
