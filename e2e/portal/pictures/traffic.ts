// Writes a week of one merchant's payments, and an hour of telemetry, straight into the tables: the wall and a what-if need more payments
// than a script could request one by one. Nobody looks into this merchant's book.
import pg from "pg";

interface Stream {
  method: string;
  acquirer: string;
  /** The routing verdicts on other acquirers. */
  beside: Record<string, string>;
  /** Payments a minute, and the share of them that succeeds. */
  perMinute: number;
  success: number;
  /** The success rate since yesterday. */
  lately?: number;
  amountMinor: number;
}

const streams: readonly Stream[] = [
  {
    method: "qris",
    acquirer: "nusantara",
    beside: { cendana: "lower_priority" },
    perMinute: 3.1,
    success: 0.947,
    lately: 0.71,
    amountMinor: 4_300_000,
  },
  { method: "qris", acquirer: "cendana", beside: {}, perMinute: 0.7, success: 0.958, amountMinor: 4_600_000 },
  {
    method: "va",
    acquirer: "merapi",
    beside: { nusantara: "lower_weight" },
    perMinute: 1.1,
    success: 0.902,
    amountMinor: 31_000_000,
  },
  {
    method: "ewallet",
    acquirer: "samudra",
    beside: { cendana: "lower_priority" },
    perMinute: 1.0,
    success: 0.931,
    amountMinor: 7_900_000,
  },
  {
    method: "card",
    acquirer: "samudra",
    beside: { cendana: "lower_priority" },
    perMinute: 0.5,
    success: 0.884,
    amountMinor: 26_500_000,
  },
  { method: "bank_transfer", acquirer: "merapi", beside: {}, perMinute: 0.3, success: 0.861, amountMinor: 58_000_000 },
];

const codes = ["nusantara", "samudra", "merapi", "cendana"];
const MINUTES = 7 * 24 * 60;
/** The last hour has three times as many payments. */
const RUSH = { minutes: 60, times: 3 };

function routingOf({ acquirer, beside }: Stream): string {
  const candidates = codes.map((gateway_code) => {
    const verdict = gateway_code === acquirer ? "chosen" : (beside[gateway_code] ?? "no_rule");
    return { gateway_code, verdict, ...(verdict === "no_rule" ? {} : { priority: 10, weight: 1 }) };
  });
  return JSON.stringify({ rules_version: 1, candidates });
}

/** `merchant`: its UUID. Days have more payments than nights, and every run draws the same payments. */
export async function writeTraffic(ownerUrl: string, merchant: string): Promise<void> {
  const owner = new pg.Client({ connectionString: ownerUrl });
  await owner.connect();
  try {
    // Switches off the triggers that compare a payment with its journal.
    await owner.query("set session_replication_role = replica");
    await owner.query("select setseed(0.42)");
    const drawn = streams.flatMap((stream) => [
      { ...stream, minutes: MINUTES },
      { ...stream, minutes: RUSH.minutes, perMinute: stream.perMinute * RUSH.times },
    ]);
    for (const stream of drawn) {
      await owner.query(
        `insert into payments (merchant_id, environment, payment_id, status, amount_minor, fee_minor, created_at, updated_at, expires_at, paid_at,
  payment_method, risk_score, currency, reference_id, risk_decision, risk_reasons, routing, gateway_code)
select $1::uuid, 'sandbox',
  (lpad(to_hex((extract(epoch from t.at) * 1000)::bigint), 12, '0') || '7' || substr(md5(random()::text), 1, 3) || '8'
    || substr(md5(random()::text), 1, 15))::uuid,
  t.status::payment_status, $2::bigint / 50000 * (20000 + (random() * 60000)::bigint), 0, t.at, t.at, t.at,
  case when t.status = 'succeeded' then t.at end, $3::payment_method, 0, 'IDR', gen_random_uuid(), 'approve', '[]', $4::json, $5::text
from (
  select s.at, case
      when random() < (case when s.at > now() - interval '20 hours' then $7::real else $6::real end) then 'succeeded'
      when random() < 0.6 then 'failed'
      else 'expired'
    end as status
  from (
    select now() - make_interval(secs => (n + random()) * 60 / $8::real) as at
    from generate_series(0, ($8::real * $9::integer)::integer) n
  ) s
  where random() < 0.62 + 0.38 * sin(extract(epoch from s.at) / 86400 * 2 * pi() - 1.2)
) t`,
        [
          merchant,
          stream.amountMinor,
          stream.method,
          routingOf(stream),
          stream.acquirer,
          stream.success,
          stream.lately ?? stream.success,
          stream.perMinute,
          stream.minutes,
        ],
      );
    }
    // Writes telemetry as if the running process had run for an hour.
    await owner.query(`insert into telemetry_samples
select 5, t.at, p.process_id, 5000, (170 + 40 * sin(t.n / 40.0) + random() * 25)::integer, (random() * 2)::integer, 0, 11 + random() * 6,
  (1.4 + random())::integer, (60 + random() * 30)::integer, (22 + random() * 6)::integer, 0, random() * 2.4, 4 + random() * 3,
  (24 + random() * 9)::integer, (random() * 1.2)::integer, 240 + random() * 160, 0, (2 + random() * 4)::integer, (random() * 0.8)::integer, 1, 2 + random() * 4,
  0.4 + random(), 3 + random() * 3, 0, 196 + random() * 8, (900 + random() * 300)::integer, 1
from telemetry_processes p
cross join (
  select n, date_bin('5 seconds', now(), 'epoch') - make_interval(secs => 5 * n) as at
  from generate_series(3, 719) n
) t
on conflict do nothing`);
    await owner.query(`insert into telemetry_acquirers (step_seconds, at, process_id, gateway_code, method, calls, refused, unknown, call_ms, is_open)
select 5, t.at, p.process_id, a.code, a.method, (a.often + random() * a.often)::integer, (random() * 0.1)::integer, (random() * 0.55)::integer,
  (180 + random() * 90)::integer, false
from telemetry_processes p
cross join (values ('nusantara', 'qris', 1.2), ('samudra', 'ewallet', 0.5), ('merapi', 'va', 0.5), ('cendana', 'qris', 0.4)) a (code, method, often)
cross join (
  select date_bin('5 seconds', now(), 'epoch') - make_interval(secs => 5 * n) as at
  from generate_series(3, 719) n
) t
on conflict do nothing`);
  } finally {
    await owner.end();
  }
}

/** Caps the samples, so that the plots do not show the cost of starting the service and taking screenshots beside it. */
export async function calm(ownerUrl: string): Promise<void> {
  const owner = new pg.Client({ connectionString: ownerUrl });
  await owner.connect();
  await owner.query(`update telemetry_samples set request_p95_ms = least(request_p95_ms, 19), commit_p95_ms = least(commit_p95_ms, 7),
  loop_lag_ms = least(loop_lag_ms, 6)`);
  await owner.end();
}
