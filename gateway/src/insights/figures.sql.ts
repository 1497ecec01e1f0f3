// All SQL of figures: counts over time, and items that wait for an action. Each statement reads a bounded part of an index.
import { type Micros, sqlTime } from "../ground/clock.ts";
import { type Book, bookValues, inBook } from "../merchants/books.ts";
import { ORIGIN } from "../store/commit-order.ts";
import type { Row, Statement } from "../store/database.ts";

/** Waiting items are counted up to one more than this, which means "more than WAITING_MAX". */
export const WAITING_MAX = 1_000;
const DISPUTES_SHOWN = 5;
export const BATCHES_SHOWN = 5;

export interface CountRow extends Row {
  /** Number of the span, from 1. */
  span: number;
  currency: string;
  /** Value of the division: an outcome, a method or an acquirer. */
  key: string;
  /** Sums are texts, because their size has no limit. */
  payments: string;
  succeeded: string;
  succeeded_minor: string;
  fee_minor: string;
}

export const divisions = ["outcome", "method", "acquirer"] as const;
export type Division = (typeof divisions)[number];

/** Payments by span, currency and division. Each span lasts until the start of the next one in `begins`; the last one has no end. */
export function selectCounts(book: Book, begins: readonly Micros[], by: Division, currency?: string): Statement {
  return {
    name: `payments over time by ${by}`,
    text: `select width_bucket(t.quarter, $3::timestamptz[]) as span, t.currency, t.${by}::text as key, sum(t.payments)::text as payments,
  coalesce(sum(t.payments) filter (where t.outcome = 'succeeded'), 0)::text as succeeded,
  coalesce(sum(t.amount_minor) filter (where t.outcome = 'succeeded'), 0)::text as succeeded_minor,
  coalesce(sum(t.fee_minor) filter (where t.outcome = 'succeeded'), 0)::text as fee_minor
from payment_quarters t
where ${inBook("t")} and t.quarter >= ($3::timestamptz[])[1] and ($4::text is null or t.currency = $4::text)
group by 1, 2, 3`,
    values: [...bookValues(book), begins.map(sqlTime), currency ?? null],
  };
}

export interface ClockRow extends Row {
  clock_offset_seconds: bigint;
  /** Real time up to which payments are counted; null before the first count. */
  counted_at: Micros | null;
  next_run_at: Micros | null;
}

export function selectClock(book: Book): Statement {
  return {
    name: "clock of figures",
    text: `select b.clock_offset_seconds, r.counted_at, c.next_run_at
from books b
left join roll_ups r on r.name = 'payment_quarters' and r.origin = ${ORIGIN}
left join settlement_clocks c on c.merchant_id = b.merchant_id and c.environment = b.environment
where ${inBook("b")}`,
    values: bookValues(book),
  };
}

export interface BatchRow extends Row {
  settlement_id: string;
  currency: string;
  net_minor: bigint;
  payout_date: string;
}

/** Settlement batches that are formed but not paid, the one due first at the top, and one more than are shown. */
export function selectUnpaidBatches(book: Book): Statement {
  return {
    name: "unpaid batches",
    text: `select s.settlement_id, s.currency, s.net_minor, s.payout_date
from settlements s
where ${inBook("s")} and s.status = 'processing'
order by s.pay_due_at
limit ${BATCHES_SHOWN + 1}`,
    values: bookValues(book),
  };
}

export interface DisputeRow extends Row {
  disputes: number;
  dispute_id: string;
  payment_id: string;
  reason: string;
  amount_minor: bigint;
  currency: string;
  evidence_due_at: Micros;
}

/** Disputes that wait for the merchant's evidence, the first due at the top. Each row carries the number of all of them, up to WAITING_MAX + 1. */
export function selectUnanswered(book: Book): Statement {
  return {
    name: "unanswered disputes",
    text: `select d.dispute_id, d.payment_id, d.reason, d.amount_minor, d.currency, d.evidence_due_at, (
  select count(*)::integer
  from (select from disputes d where ${inBook("d")} and d.status = 'needs_response' limit ${WAITING_MAX + 1}) d
) as disputes
from disputes d
where ${inBook("d")} and d.status = 'needs_response'
order by d.evidence_due_at
limit ${DISPUTES_SHOWN}`,
    values: bookValues(book),
  };
}

export interface UndeliveredRow extends Row {
  undelivered: number;
  retrying: number;
}

/** Number of events whose delivery was given up, and of those that failed and will be retried. */
export function selectUndelivered(book: Book): Statement {
  return {
    name: "undelivered events",
    text: `select (
  select count(*)::integer
  from (select from deliveries d where ${inBook("d")} and d.state = 'undelivered' limit ${WAITING_MAX + 1}) d
) as undelivered, (
  select count(*)::integer
  from (select from deliveries d where ${inBook("d")} and d.state = 'pending' and d.attempts > 0 limit ${WAITING_MAX + 1}) d
) as retrying`,
    values: bookValues(book),
  };
}
