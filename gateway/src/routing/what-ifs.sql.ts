// All SQL of what-ifs: past payments, read book by book in slices of time, newest first.
import type { Micros } from "../ground/clock.ts";
import { idOf, uuidOf } from "../ground/ids.ts";
import type { Minor } from "../ground/money.ts";
import type { Environment } from "../merchants/books.ts";
import type { PaymentMethod } from "../merchants/settings.ts";
import type { Row, Statement } from "../store/database.ts";
import type { PastOutcome, PastPayment } from "./replay.ts";

export const READ_ONLY: Statement = { text: "set transaction read only" };

/** Identities begin with their payment's time in milliseconds. */
export function leastIdAt(at: Micros): string {
  const ms = Math.floor(at / 1000)
    .toString(16)
    .padStart(12, "0");
  return `${ms.slice(0, 8)}-${ms.slice(8)}-0000-0000-000000000000`;
}

export interface Slice {
  environment: Environment;
  merchantId: string | undefined;
  /** Identities from this one on, and before that one; undefined: no end. */
  from: string;
  before: string | undefined;
  count: number;
}

/** What is alike of a slice's payments, and the rest of each as two lists in one order. */
export interface SliceRow extends Row {
  payment_method: PaymentMethod;
  currency: string;
  outcome: PastOutcome;
  day: string;
  routing: string;
  payment_ids: string;
  amounts_minor: string;
}

/** The newest payments of a slice, at most `count`. Whom fraud detection rejected was never routed. */
export function selectSlice({ environment, merchantId, from, before, count }: Slice): Statement {
  return {
    // Book by book along the primary key: there is no index over all payments, and none is worth its writes. Thousands of payments have a few
    // dozen decisions, of five hundred bytes each: what is alike is sent once.
    text: `select p.payment_method, p.currency, p.outcome, p.day, p.routing, string_agg(p.payment_id::text, ',') as payment_ids,
  string_agg(p.amount_minor::text, ',') as amounts_minor
from (
  select p.payment_id, p.payment_method, p.currency, p.amount_minor, p.routing::text as routing,
    to_char(p.created_at at time zone 'UTC', 'YYYY-MM-DD') as day,
    case
      when p.paid_at is not null then 'succeeded'
      when p.status in ('failed', 'expired') then 'failed'
      when p.status = 'canceled' then 'canceled'
      else 'open'
    end as outcome
  from books b
  cross join lateral (
    select *
    from payments p
    where p.merchant_id = b.merchant_id and p.environment = b.environment and p.payment_id >= $3::uuid
      and ($4::uuid is null or p.payment_id < $4::uuid) and p.risk_decision <> 'reject'
    order by p.payment_id desc
    limit $5::integer
  ) p
  where b.environment = $1::environment and ($2::uuid is null or b.merchant_id = $2::uuid)
  order by p.payment_id desc
  limit $5::integer
) p
group by p.payment_method, p.currency, p.outcome, p.day, p.routing`,
    values: [environment, merchantId === undefined ? null : uuidOf(merchantId), from, before ?? null, count],
  };
}

/** The payments of a slice, in no order. */
export function* paymentsOfSlice(rows: readonly SliceRow[]): Generator<PastPayment> {
  for (const {
    payment_method: method,
    currency,
    outcome,
    day,
    routing,
    payment_ids: ids,
    amounts_minor: sums,
  } of rows) {
    const amounts = sums.split(",");
    for (const [at, id] of ids.split(",").entries()) {
      const amountMinor: Minor = BigInt(amounts[at] as string);
      yield { reference: idOf("payment", id), method, currency, amountMinor, outcome, day, routing };
    }
  }
}
