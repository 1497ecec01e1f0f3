// All SQL of split tests' results: the outcomes of the payments in a test.
import type { Micros } from "../ground/clock.ts";
import type { PaymentMethod } from "../merchants/settings.ts";
import type { Row, Statement } from "../store/database.ts";
import type { PastOutcome } from "./replay.ts";
import type { SplitArm, SplitDecision } from "./routing.ts";
import { OUTCOME } from "./what-ifs.sql.ts";

/** Payments of one arm with equal values. `amounts_minor`: the amounts of those that were paid, separated by commas. */
export interface ArmRow extends Row {
  arm: SplitArm;
  gateway_code: string | null;
  payment_method: PaymentMethod;
  currency: string;
  outcome: PastOutcome;
  payments: number;
  amounts_minor: string | null;
  since: Micros;
}

/** The newest payments of a test, at most `count`. A test with other acquirers or another share is a different test under the same id. */
export function selectArms({ id, control, test, percent }: Omit<SplitDecision, "arm">, count: number): Statement {
  return {
    text: `select n.arm, p.gateway_code, p.payment_method, p.currency, ${OUTCOME} as outcome, count(*)::integer as payments,
  string_agg(p.amount_minor::text, ',') filter (where p.paid_at is not null) as amounts_minor, min(p.created_at) as since
from (
  select merchant_id, environment, payment_id, arm
  from payment_splits
  where split_id = $1::text and control_code = $2::text and test_code = $3::text and percent = $4::smallint
  order by payment_id desc
  limit $5::integer
) n
cross join lateral (
  select *
  from payments p
  where p.merchant_id = n.merchant_id and p.environment = n.environment and p.payment_id = n.payment_id
  limit 1
) p
group by 1, 2, 3, 4, 5`,
    values: [id, control, test, percent, count],
  };
}
