// Past payments with their routing decisions, written directly into the table, for tests of what-ifs and split tests, which read many.
import pg from "pg";
import { uuidOf } from "../src/ground/ids.ts";
import type { RoutingDecision, SplitDecision, Verdict } from "../src/routing/routing.ts";
import { type TestDatabase, asOwner } from "./kit.ts";

interface PastPayments {
  merchantId: string;
  count: number;
  /** The acquirer that the decision chose, and the verdicts on others; acquirers that are not named were not suitable. */
  chosen: string;
  verdicts?: Record<string, Verdict>;
  method?: string;
  status?: "succeeded" | "failed" | "expired" | "canceled" | "pending";
  amountMinor?: number;
  daysAgo?: number;
  split?: SplitDecision;
}

const simulated = ["nusantara", "samudra", "merapi", "cendana"];

function decisionOf({ chosen, verdicts = {}, split }: PastPayments): RoutingDecision {
  const codes = new Set([...simulated, chosen, ...Object.keys(verdicts)]);
  const candidates = [...codes].map((gateway_code) => {
    const verdict = gateway_code === chosen ? "chosen" : (verdicts[gateway_code] ?? "no_rule");
    return { gateway_code, verdict, ...(verdict === "no_rule" ? {} : { priority: 10, weight: 1 }) };
  });
  return { rules_version: 1, candidates, ...(split ? { split } : {}) };
}

/** Inserts payments without the triggers that compare a payment with its journal. */
export async function insertPastPayments(database: TestDatabase, all: readonly PastPayments[]): Promise<void> {
  await asOwner(database, async (owner: pg.Client) => {
    await owner.query("set session_replication_role = replica");
    for (const some of all) {
      const {
        merchantId,
        count,
        chosen,
        method = "qris",
        status = "succeeded",
        amountMinor = 100_000,
        daysAgo = 0,
      } = some;
      const text = `with made as (
  insert into payments (merchant_id, environment, payment_id, status, amount_minor, fee_minor, created_at, updated_at, expires_at, paid_at,
    canceled_at, payment_method, risk_score, currency, reference_id, risk_decision, risk_reasons, routing, gateway_code)
  select $1::uuid, 'sandbox',
    (lpad(to_hex((extract(epoch from t.at) * 1000)::bigint), 12, '0') || '7' || substr(md5(random()::text), 1, 3) || '8'
      || substr(md5(random()::text), 1, 15))::uuid,
    $2::payment_status, $3::bigint, 0, t.at, t.at, t.at, case when $2::text = 'succeeded' then t.at end,
    case when $2::text = 'canceled' then t.at end, $4::payment_method, 0, 'IDR', gen_random_uuid(), 'approve', '[]', $5::json, $6::text
  from (
    select now() - make_interval(days => $7::integer) - make_interval(secs => n * 0.1) as at
    from generate_series(1, $8::integer) n
  ) t
  returning merchant_id, environment, payment_id
)
insert into payment_splits (merchant_id, environment, payment_id, split_id, arm, percent, control_code, test_code)
select merchant_id, environment, payment_id, $9::text, $10::text, $11::smallint, $12::text, $13::text
from made
where $9::text is not null`;
      const { split } = some;
      const inSplit = [split?.id, split?.arm, split?.percent, split?.control, split?.test].map((part) => part ?? null);
      const routing = JSON.stringify(decisionOf(some));
      await owner.query(text, [
        uuidOf(merchantId),
        status,
        amountMinor,
        method,
        routing,
        chosen,
        daysAgo,
        count,
        ...inSplit,
      ]);
    }
    await owner.query("analyze payments"); // as it is after so many rows
  });
}
