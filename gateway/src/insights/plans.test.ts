// Goal: what pages ask, and what counts beside payments, reads as much as it shows, however busy a merchant and however many others there are.
// Method: such tables, with statistics; the plan that serves every call. It must begin at an index, and read no table from end to end.
import { beforeAll, expect, test } from "vitest";
import { type TestDatabase, asOwner, cloneDatabase } from "../../test/kit.ts";
import { newId } from "../ground/ids.ts";
import type { Statement } from "../store/database.ts";
import { selectFed } from "../events/feed.sql.ts";
import { selectClock, selectCounts, selectUnanswered, selectUndelivered, selectUnpaidBatches } from "./figures.sql.ts";
import { countStep, selectProgress } from "./roll-up.sql.ts";
import { expiredTotals, selectTotals } from "./totals.sql.ts";
import { selectIsMore, selectFedTo } from "./stream.sql.ts";

const MERCHANTS = 300;
const BUSY_ROWS = 20_000;
const OTHERS_ROWS = 20;

let database: TestDatabase;
beforeAll(async () => {
  database = await cloneDatabase();
  const made: Record<string, string> = {
    events: `(merchant_id, environment, event_id, type, subject_id, created_at, body, xact)
select merchant, 'sandbox', gen_random_uuid(), 'payment.succeeded', gen_random_uuid(), now(), '{}', (100 + n)::text::xid8`,
    payments: `(merchant_id, environment, payment_id, status, amount_minor, fee_minor, created_at, updated_at, expires_at, payment_method,
  risk_score, currency, reference_id, risk_decision, risk_reasons, routing)
select merchant, 'sandbox', gen_random_uuid(), 'pending', 1, 0, now(), now(), now(), 'qris', 0, 'IDR', 'order-' || n, 'approve', '[]', '{}'`,
    payment_quarters: `(merchant_id, environment, quarter, currency, method, acquirer, outcome, payments, amount_minor, fee_minor)
select merchant, 'sandbox', date_trunc('hour', now(), 'UTC') - make_interval(hours => n), 'IDR', 'qris', '', 'expired', 1, 1, 0`,
    deliveries: `(merchant_id, environment, event_id, url, state, attempts, next_attempt_at)
select merchant, 'sandbox', gen_random_uuid(), 'https://shop.example/hook', 'delivered', 1, now()`,
    disputes: `(merchant_id, environment, dispute_id, payment_id, status, reason, amount_minor, currency, evidence_due_at, opened_at, resolved_at)
select merchant, 'sandbox', gen_random_uuid(), gen_random_uuid(), 'lost', 'general', 1, 'IDR', now(), now(), now()`,
  };
  await asOwner(database, async (owner) => {
    await owner.query("set session_replication_role = replica"); // no triggers and no foreign keys
    await owner.query(`create temporary table made as
select gen_random_uuid() as merchant, case when n = 0 then ${BUSY_ROWS} else ${OTHERS_ROWS} end as rows
from generate_series(0, ${MERCHANTS}) n`);
    await owner.query("insert into books (merchant_id, environment) select merchant, 'sandbox' from made");
    await owner.query("insert into roll_ups values ('payment_quarters', '200', 'here', now())");
    await owner.query(`insert into payment_totals (step_seconds, at, environment, currency, method, acquirer, outcome, payments, amount_minor)
select 60, date_trunc('minute', now(), 'UTC') - make_interval(mins => n), 'sandbox', 'IDR', 'qris', '', 'expired', 1, 1
from generate_series(1, ${BUSY_ROWS}) n`);
    for (const [table, select] of Object.entries(made)) {
      await owner.query(`insert into ${table} ${select} from made, generate_series(1, made.rows) n`);
    }
    await owner.query("analyze");
  });
});

async function genericPlan({ text }: Statement): Promise<string> {
  return asOwner(database, async (owner) => {
    const { rows } = await owner.query<Record<string, string>>(`explain (generic_plan) ${text}`);
    return rows.map((row) => row["QUERY PLAN"]).join("\n");
  });
}

const book = { merchantId: newId("merchant", 0), environment: "sandbox" } as const;

test.each([
  selectCounts(book, [0], "method"),
  selectClock(book),
  selectUnanswered(book),
  selectUndelivered(book),
  selectUnpaidBatches(book),
  countStep("1", "2"),
  selectProgress,
  selectFed([book], "1", "2", 20),
  selectFedTo,
  selectIsMore("1", "2", 20),
  selectTotals({ environment: undefined, step: 60, begin: 0, spanSeconds: 60 }),
  ...expiredTotals(0),
])("$name begins at an index", async (statement) => {
  const plan = await genericPlan(statement);
  // Tables of a few pages may be read whole.
  const whole = [...plan.matchAll(/Seq Scan on (\w+)/g)].map(([, table]) => table);
  expect(
    whole.filter(
      (table) => !["roll_ups", "pg_database", "books", "settlement_clocks", "settlements"].includes(table ?? ""),
    ),
  ).toEqual([]);
});
