// The work queues of operators, over all merchants. Each statement reads an index that holds only waiting rows, or one index book by book, and at most a
// hundred rows. Other rooms write these tables.
import { APPROVAL_HOURS } from "./approval.ts";
import { type Micros, HOUR, SECOND, sqlTime } from "../ground/clock.ts";
import { booksWith } from "../merchants/books-with.sql.ts";
import type { Environment } from "../merchants/books.ts";
import type { Row, Statement } from "../store/database.ts";

/** Counts stop here; `is_more` is true when there are more. */
export const WAITING_MAX = 100;
/** A dispute is urgent when its evidence is due within this time. */
const DEADLINE_NEAR: Micros = 72 * HOUR;
/** A refund without an answer of its acquirer is late after this time. */
const REFUND_LATE: Micros = 24 * HOUR;
/** An acquirer operation that is due is late after this time; workers poll every second. */
const OPERATION_LATE: Micros = 5 * 60 * SECOND;
/** Inquiries without an answer for which a worker has asked for an hour: after 1, 2, 4 … seconds, then each ten minutes. */
const INQUIRIES_MANY = 14;
/** Deliveries that were given up within this time show that an endpoint fails. */
const UNDELIVERED_SINCE: Micros = 24 * HOUR;
/** Settlement batches that the bank returned are listed for this time. */
const RETURNED_SINCE: Micros = 14 * 24 * HOUR;

export interface WaitingRow extends Row {
  /** Null for a change that belongs to no merchant, such as one of the routing rules. */
  merchant_id: string | null;
  environment: Environment | null;
  merchant_name: string | null;
  id: string;
  payment_id: string | null;
  since: Micros;
  due_at: Micros | null;
  amount_minor: bigint | null;
  currency: string | null;
  /** A detail for people, such as a kind, a step, a reference or a number of events. */
  note: string | null;
}

interface QueueFilter {
  now: Micros;
  environment: Environment | undefined;
}

/** `from` selects the columns of a waiting row except the merchant's name. A limit is added to it here, in the given order. */
function named(name: string, from: string, order: string, values: unknown[]): Statement {
  return {
    name: `waiting ${name}`,
    text: `select w.*, m.name as merchant_name
from (
${from}
  order by ${order}
  limit ${WAITING_MAX + 1}
) w
join merchants m using (merchant_id)
order by ${order}`,
    values,
  };
}

const inEnvironment = (table: string, place: string): string =>
  `(${place}::text is null or ${table}.environment = ${place}::text::environment)`;
/** The time $1 by the clock of the book. */
const bookTime = "$1::timestamptz + make_interval(secs => b.clock_offset_seconds)";

/** The first rows `t` of each book in the environment $2 in this state and condition. An index, book by book, must answer both and the order. */
function ofBooks(
  table: string,
  { columns, state, condition, order }: { columns: string; state: string; condition: string; order: string },
): string {
  return `  select t.*
  from ${booksWith(table, state)}
  cross join lateral (
    select t.merchant_id, t.environment, ${columns}
    from ${table} t
    where t.merchant_id = b.merchant_id and t.environment = b.environment and ${state} and ${condition}
    order by ${order}
    limit ${WAITING_MAX + 1}
  ) t
  where ${inEnvironment("b", "$2")}`;
}

export function waitingReviews({ environment }: QueueFilter): Statement {
  const columns = `p.merchant_id, p.environment, p.payment_id as id, p.payment_id, p.created_at as since, p.expires_at as due_at,
    p.amount_minor, p.currency, p.reference_id as note`;
  const from = `  select ${columns}
  from payments p
  where p.risk_decision = 'review' and p.status = 'pending' and ${inEnvironment("p", "$1")}
  union all
  select ${columns.replace("p.expires_at", "null::timestamptz")}
  from acquirer_operations o
  join payments p on (p.merchant_id, p.environment, p.payment_id) = (o.merchant_id, o.environment, o.operation_id)
  where o.review = 'asked' and p.status = 'processing' and ${inEnvironment("o", "$1")}`;
  return named("reviews", from, "id", [environment ?? null]);
}

/** Disputes that the merchant must answer soon, by the clock of their book. */
export function waitingDeadlines({ now, environment }: QueueFilter): Statement {
  const columns = `t.dispute_id as id, t.payment_id, t.opened_at as since, t.evidence_due_at as due_at,
      t.amount_minor, t.currency, t.reason as note`;
  const from = ofBooks("disputes", {
    columns,
    state: "t.status = 'needs_response'",
    condition: `t.evidence_due_at <= ${bookTime}`,
    order: "t.evidence_due_at",
  });
  return named("deadlines", from, "due_at, id", [sqlTime(now + DEADLINE_NEAR), environment ?? null]);
}

/** Disputes with submitted evidence that no operator has decided. */
export function waitingDecisions({ environment }: QueueFilter): Statement {
  const from = `  select d.merchant_id, d.environment, d.dispute_id as id, d.payment_id, d.opened_at as since, null::timestamptz as due_at,
    d.amount_minor, d.currency, d.reason as note
  from disputes d
  where d.status = 'under_review' and ${inEnvironment("d", "$1")}`;
  return named("decisions", from, "id", [environment ?? null]);
}

export function waitingReceipts({ environment }: QueueFilter): Statement {
  const from = `  select r.merchant_id, r.environment, r.receipt_id as id, r.payment_id, r.received_at as since, null::timestamptz as due_at,
    r.amount_minor, r.currency, r.gateway_code || ' ' || r.transaction_id as note
  from receipts r
  where r.status = 'unapplied' and ${inEnvironment("r", "$1")}`;
  return named("receipts", from, "id", [environment ?? null]);
}

export function waitingExceptions({ environment }: QueueFilter): Statement {
  const from = `  select e.merchant_id, e.environment, e.exception_id as id, o.payment_id, e.noticed_at as since, null::timestamptz as due_at,
    null::bigint as amount_minor, null::text as currency, e.gateway_code || ' ' || e.kind as note
  from reconciliation_exceptions e
  join acquirer_operations o using (merchant_id, environment, operation_id)
  where e.closed_at is null and ${inEnvironment("e", "$1")}`;
  return named("exceptions", from, "id", [environment ?? null]);
}

const batchColumns = (since: string, due: string): string =>
  `t.settlement_id as id, null::uuid as payment_id, ${since} as since, ${due} as due_at,
      t.net_minor as amount_minor, t.currency, t.payout_date::text as note`;

/** Settlement batches whose payout is due and not recorded as paid. */
export function waitingPayouts({ now, environment }: QueueFilter): Statement {
  const from = ofBooks("settlements", {
    columns: batchColumns("t.created_at", "t.pay_due_at"),
    state: "t.status = 'processing'",
    condition: `t.pay_due_at <= ${bookTime}`,
    order: "t.pay_due_at",
  });
  return named("payouts", from, "due_at, id", [sqlTime(now), environment ?? null]);
}

/** Settlement batches that the bank returned within RETURNED_SINCE, by the clock of their book. */
export function waitingReturns({ now, environment }: QueueFilter): Statement {
  const from = ofBooks("settlements", {
    columns: batchColumns("t.returned_at", "null::timestamptz"),
    state: "t.status = 'failed'",
    condition: `t.returned_at >= ${bookTime}`,
    order: "t.returned_at",
  });
  return named("returns", from, "since, id", [sqlTime(now - RETURNED_SINCE), environment ?? null]);
}

/** Refunds without an answer of their acquirer for REFUND_LATE. */
export function waitingRefunds({ now, environment }: QueueFilter): Statement {
  const columns = `t.refund_id as id, t.payment_id, t.created_at as since, null::timestamptz as due_at,
      t.amount_minor, t.currency, t.reason as note`;
  const from = ofBooks("refunds", {
    columns,
    state: "t.status = 'pending'",
    condition: `t.created_at <= ${bookTime}`,
    order: "t.refund_id",
  });
  return named("refunds", from, "since, id", [sqlTime(now - REFUND_LATE), environment ?? null]);
}

/** Acquirer operations whose outcome is still unknown after INQUIRIES_MANY inquiries. */
export function waitingOutcomes({ environment }: QueueFilter): Statement {
  const from = `  select o.merchant_id, o.environment, o.operation_id as id, o.payment_id, o.created_at as since, null::timestamptz as due_at,
    null::bigint as amount_minor, null::text as currency, o.gateway_code || ' ' || o.kind || ' ' || o.step as note
  from acquirer_operations o
  where o.step = 'inquiring' and o.inquiries >= ${INQUIRIES_MANY} and ${inEnvironment("o", "$1")}`;
  return named("outcomes", from, "id", [environment ?? null]);
}

/** Acquirer operations that are due for OPERATION_LATE and that no worker has taken up. */
export function waitingOperations({ now, environment }: QueueFilter): Statement {
  const from = `  select o.merchant_id, o.environment, o.operation_id as id, o.payment_id, o.created_at as since, o.due_at,
    null::bigint as amount_minor, null::text as currency, o.gateway_code || ' ' || o.kind || ' ' || o.step as note
  from acquirer_operations o
  where o.due_at <= $1::timestamptz and ${inEnvironment("o", "$2")}`;
  return named("operations", from, "due_at, id", [sqlTime(now - OPERATION_LATE), environment ?? null]);
}

/**
 * Books whose deliveries were given up within UNDELIVERED_SINCE, by their clock: the first such event, and in `note` their number. A delivery
 * that was given up keeps the time of its last attempt in `next_attempt_at`.
 */
export function waitingEndpoints({ now, environment }: QueueFilter): Statement {
  const givenUp = `d.merchant_id = b.merchant_id and d.environment = b.environment and d.state = 'undelivered'
      and d.next_attempt_at >= ${bookTime}`;
  const from = `  select b.merchant_id, b.environment, d.event_id as id, null::uuid as payment_id, d.next_attempt_at as since,
    null::timestamptz as due_at, null::bigint as amount_minor, null::text as currency, (
      select count(*)
      from (select from deliveries d where ${givenUp} limit ${WAITING_MAX + 1}) d
    )::text as note
  from ${booksWith("deliveries", "t.state = 'undelivered'")}
  cross join lateral (
    select d.event_id, d.next_attempt_at
    from deliveries d
    where ${givenUp}
    order by d.next_attempt_at
    limit 1
  ) d
  where ${inEnvironment("b", "$2")}`;
  return named("endpoints", from, "since, id", [sqlTime(now - UNDELIVERED_SINCE), environment ?? null]);
}

/** The changes in this state and condition, including those that belong to no merchant. `note` says who asked, and what the change would do. */
function ofApprovals(name: string, condition: string, times: string, { environment }: QueueFilter): Statement {
  return {
    name: `waiting ${name}`,
    text: `select a.merchant_id, a.environment, m.name as merchant_name, a.approval_id as id, a.payment_id, ${times},
  a.amount_minor, a.currency, a.asked_by || ': ' || a.summary as note
from (
  select *
  from operator_approvals a
  where ${condition}
    and ($1::text is null or a.environment is null or a.environment = $1::text::environment)
  order by a.approval_id
  limit ${WAITING_MAX + 1}
) a
left join merchants m using (merchant_id)
order by a.approval_id`,
    values: [environment ?? null],
  };
}

/** Changes that wait for a second operator. */
export function waitingApprovals(asked: QueueFilter): Statement {
  const lasts = `interval '${APPROVAL_HOURS} hours'`;
  const condition = `a.status = 'waiting' and a.asked_at > clock_timestamp() - ${lasts}`;
  return ofApprovals("approvals", condition, `a.asked_at as since, a.asked_at + ${lasts} as due_at`, asked);
}

/** Changes that were approved, and whose outcome was given up within the last 14 days. */
export function unknownApprovals(asked: QueueFilter): Statement {
  const condition = "a.status = 'unknown' and a.ended_at > clock_timestamp() - interval '14 days'";
  return ofApprovals("unknown approvals", condition, "a.ended_at as since, null::timestamptz as due_at", asked);
}

export function selectNames(merchantIds: readonly string[]): Statement {
  return {
    name: "select names of merchants",
    text: "select merchant_id, name from merchants where merchant_id = any($1::uuid[])",
    values: [merchantIds],
  };
}
