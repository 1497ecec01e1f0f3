// All SQL of settlements: schedules' clocks, batches, unsettled items, and items' marks of their batch.
import { type Micros, parseSqlTime, sqlTimeOrNull } from "../ground/clock.ts";
import { idOf, uuidOf, uuidOrNull } from "../ground/ids.ts";
import type { Minor } from "../ground/money.ts";
import {
  type Book,
  bookArrays,
  bookColumns,
  bookKey,
  bookKeyColumns,
  bookOfRow,
  bookValues,
} from "../merchants/books.ts";
import { selectInEither } from "../merchants/books.sql.ts";
import { type DueBooks, chosen, chosenValues, chosenWith } from "../merchants/due-books.sql.ts";
import { type Row, type Statement, optional } from "../store/database.ts";
import { type Columns, type Table, bulkInsert, bulkUpdate, loadByKey } from "../store/table.ts";
import type { Settlement, SettlementItem, SettlementStatus, StatementLine } from "./settlement.ts";

/** How many items of each kind one batch looks at, the oldest. The next batch takes the rest. */
export const ITEMS_MAX = 5_000;
/** And at most so many payments whose fee takes all of them. */
export const FREE_ITEMS_MAX = 1_000;

interface SettlementClock {
  book: Book;
  /** Undefined until the first run. */
  nextRunAt: Micros | undefined;
}

const clockColumns = { next_run_at: ["timestamptz", (clock: SettlementClock) => clock.nextRunAt] } as const;

export const settlementClocks: Table<Book, SettlementClock> = {
  name: "settlement clocks",
  keyText: bookKey,
  keyOf: (clock) => clock.book,
  load: loadByKey("lock settlement clocks", "settlement_clocks", bookKeyColumns),
  parse: (row) => ({ book: bookOfRow(row), nextRunAt: optional<Micros>(row.next_run_at) }),
  update: bulkUpdate<SettlementClock>("settlement_clocks", bookColumns, clockColumns),
};

type SettlementRef = { book: Book; uuid: string };

const keyColumns = {
  ...bookColumns,
  settlement_id: ["uuid", (settlement: SettlementRef) => uuidOf(settlement.uuid)],
} as const;
const stateColumns = {
  status: ["settlement_status", (settlement: Settlement) => settlement.status],
  paid_at: ["timestamptz", (settlement: Settlement) => settlement.paidAt],
  payout_date: ["date", (settlement: Settlement) => settlement.payoutDate],
  bank_reference: ["text", (settlement: Settlement) => settlement.bankReference],
  returned_at: ["timestamptz", (settlement: Settlement) => settlement.returnedAt],
} as const satisfies Columns<Settlement>;

export const settlements: Table<SettlementRef, Settlement> = {
  name: "settlements",
  keyText: ({ book, uuid }) => `${bookKey(book)}/${uuid}`,
  keyOf: (settlement) => settlement,
  load: loadByKey("lock settlements", "settlements", keyColumns),
  parse: settlementOfRow,
  insert: bulkInsert<Settlement>("settlements", {
    ...keyColumns,
    ...stateColumns,
    currency: ["text", (settlement) => settlement.currency],
    period_start: ["timestamptz", (settlement) => settlement.periodStart],
    period_end: ["timestamptz", (settlement) => settlement.periodEnd],
    gross_minor: ["bigint", (settlement) => settlement.grossMinor],
    fee_minor: ["bigint", (settlement) => settlement.feeMinor],
    refund_minor: ["bigint", (settlement) => settlement.refundMinor],
    net_minor: ["bigint", (settlement) => settlement.netMinor],
    payment_count: ["integer", (settlement) => settlement.paymentCount],
    created_at: ["timestamptz", (settlement) => settlement.createdAt],
    pay_due_at: ["timestamptz", (settlement) => settlement.payDueAt],
  }),
  update: bulkUpdate<Settlement>("settlements", keyColumns, stateColumns),
};

/** The unsettled items of a book, by currency. They are read after the head of the book is locked, so they do not change under the command. */
export interface UnsettledItems {
  book: Book;
  items: ReadonlyMap<string, readonly SettlementItem[]>;
}

export const unsettledItems: Table<Book, UnsettledItems> = {
  name: "unsettled items",
  keyText: bookKey,
  keyOf: (unsettled) => unsettled.book,
  load: (books) => selectUnsettled(books),
  parse: unsettledOfRow,
};

const unsettledPayments = (which: string, most: number): string =>
  `select p.currency, 'payment' as kind, p.payment_id as item_id, p.payment_id, p.amount_minor, p.fee_minor, p.paid_at as occurred_at
    from payments p
    where p.merchant_id = w.merchant_id and p.environment = w.environment and p.currency = w.currency
      and p.paid_at is not null and p.settlement_id is null
      -- what a refund under way took is not available, and whether it comes back is not known
      and p.refund_pending_minor = 0
      and (p.dispute_status is null or p.dispute_status not in ('needs_response', 'under_review'))
      and ${which}
    order by p.paid_at
    limit ${most}`;

/** Loads the unsettled items of these books, at most ITEMS_MAX of each kind and currency, the oldest. */
export function selectUnsettled(books: readonly Book[]): Statement {
  return {
    name: "load unsettled items",
    text: `select w.merchant_id, w.environment, coalesce(json_agg(json_build_array(
    i.currency, i.kind, i.item_id, i.payment_id, i.amount_minor::text, i.fee_minor::text, i.occurred_at::text)), '[]') as items
from (
  -- Every currency in which the merchant ever had anything, whether it is enabled now or not.
  select k.merchant_id, k.environment, a.currency
  from unnest($1::uuid[], $2::text[]::environment[]) as k(merchant_id, environment)
  left join balances a on a.merchant_id = k.merchant_id and a.environment = k.environment and a.account = 'merchant:available'
) w
left join lateral (
  (
    ${unsettledPayments("p.amount_minor > p.fee_minor", ITEMS_MAX)}
  ) union all (
    -- Those whose fee takes all of them come with others: by themselves they are no batch, and must not stand before it.
    ${unsettledPayments("p.amount_minor <= p.fee_minor", FREE_ITEMS_MAX)}
  ) union all (
    select c.currency, 'receipt', c.receipt_id, c.payment_id, c.amount_minor, 0, c.decided_at
    from receipts c
    where c.merchant_id = w.merchant_id and c.environment = w.environment and c.currency = w.currency
      and c.status = 'credited' and c.settlement_id is null
    order by c.decided_at
    limit ${ITEMS_MAX}
  ) union all (
    select r.currency, 'refund', r.refund_id, r.payment_id, r.amount_minor, 0, r.completed_at
    from refunds r
    join payments p using (merchant_id, environment, payment_id)
    where r.merchant_id = w.merchant_id and r.environment = w.environment and r.currency = w.currency
      and r.status = 'succeeded' and r.settlement_id is null
      and (p.refund_pending_minor = 0 or p.settlement_id is not null)
      and (p.dispute_status is null or p.dispute_status not in ('needs_response', 'under_review'))
    order by r.completed_at
    limit ${ITEMS_MAX}
  ) union all (
    select d.currency, 'dispute', d.dispute_id, d.payment_id, d.amount_minor, 0, d.resolved_at
    from disputes d
    where d.merchant_id = w.merchant_id and d.environment = w.environment and d.currency = w.currency
      and d.status = 'lost' and d.settlement_id is null
    order by d.resolved_at
    limit ${ITEMS_MAX}
  )
) i on i.kind is not null
group by w.merchant_id, w.environment`,
    values: bookArrays(books),
  };
}

/** An item as `selectUnsettled` gives it. A book without items has one line of nulls. */
type Line = [
  currency: string,
  SettlementItem["kind"],
  id: string,
  payment: string,
  amount: string,
  fee: string,
  at: string,
];

export function unsettledOfRow(row: Row): UnsettledItems {
  const lines = (JSON.parse(row.items as string) as (Line | null[])[]).filter((line): line is Line => line[0] !== null);
  const items = lines.map(([currency, kind, id, payment, amount, fee, at]) => ({
    currency,
    kind,
    id: idOf(kind, id),
    paymentReference: idOf("payment", payment),
    amountMinor: BigInt(amount),
    feeMinor: BigInt(fee),
    occurredAt: parseSqlTime(at),
  }));
  return { book: bookOfRow(row), items: Map.groupBy(items, ({ currency }) => currency) };
}

export interface OutlookRow extends Record<string, unknown> {
  clock_offset_seconds: bigint;
  next_run_at: Micros | null;
  /** True when a refund is pending, or a refund or lost dispute is unsettled: then a run takes not just payments. */
  has_deductions: boolean;
  account: string | null;
  currency: string | null;
  debit_minor: bigint | null;
  credit_minor: bigint | null;
}

/** The book's next run, whether refunds or disputes will be deducted, and the merchant's balances, one `OutlookRow` each; at least one row. */
export function selectOutlook(book: Book): Statement {
  return {
    name: "select settlement outlook",
    text: `select b.clock_offset_seconds, c.next_run_at, a.account, a.currency, a.debit_minor, a.credit_minor,
  exists (
    select from refunds r
    where r.merchant_id = b.merchant_id and r.environment = b.environment and r.status = 'pending'
  ) or exists (
    select from refunds r
    where r.merchant_id = b.merchant_id and r.environment = b.environment and r.status = 'succeeded' and r.settlement_id is null
  ) or exists (
    select from disputes d
    where d.merchant_id = b.merchant_id and d.environment = b.environment and d.status = 'lost' and d.settlement_id is null
  ) as has_deductions
from books b
left join settlement_clocks c using (merchant_id, environment)
left join balances a on a.merchant_id = b.merchant_id and a.environment = b.environment
  and a.account in ('merchant:available', 'merchant:held')
where b.merchant_id = $1::uuid and b.environment = $2::environment`,
    values: [...bookValues(book)],
  };
}

/** An item of a batch; `uuid` is the batch's. */
interface BatchItem extends SettlementItem {
  book: Book;
  uuid: string;
}

const itemKeys = {
  ...keyColumns,
  kind: ["text", (item: BatchItem) => item.kind],
  item_id: ["uuid", (item: BatchItem) => uuidOf(item.id)],
} as const;

export const batchItems: Table<{ book: Book; uuid: string; id: string }, BatchItem> = {
  name: "settlement items",
  keyText: ({ book, uuid, id }) => `${bookKey(book)}/${uuid}/${id}`,
  keyOf: (item) => item,
  insert: bulkInsert<BatchItem>("settlement_items", {
    ...itemKeys,
    payment_id: ["uuid", (item) => uuidOf(item.paymentReference)],
    amount_minor: ["bigint", (item) => item.amountMinor],
    fee_minor: ["bigint", (item) => item.feeMinor],
    occurred_at: ["timestamptz", (item) => item.occurredAt],
  }),
};

/** Batches that the bank returned: an insert here marks their items as released, all in one statement. */
export const releases: Table<SettlementRef, SettlementRef> = {
  name: "settlement releases",
  keyText: ({ book, uuid }) => `${bookKey(book)}/${uuid}`,
  keyOf: (release) => release,
  insert: (list) => ({
    name: "release settlement items",
    text: `update settlement_items i
set released = true
from unnest($1::uuid[], $2::text[]::environment[], $3::uuid[]) as v(merchant_id, environment, settlement_id)
where i.merchant_id = v.merchant_id and i.environment = v.environment and i.settlement_id = v.settlement_id`,
    values: [...bookArrays(list.map(({ book }) => book)), list.map(({ uuid }) => uuidOf(uuid))],
  }),
};

export function settlementOfRow(row: Row): Settlement {
  return {
    book: bookOfRow(row),
    uuid: idOf("settlement", row.settlement_id as string),
    status: row.status as SettlementStatus,
    currency: row.currency as string,
    periodStart: row.period_start as Micros,
    periodEnd: row.period_end as Micros,
    grossMinor: row.gross_minor as Minor,
    feeMinor: row.fee_minor as Minor,
    refundMinor: row.refund_minor as Minor,
    netMinor: row.net_minor as Minor,
    paymentCount: row.payment_count as number,
    createdAt: row.created_at as Micros,
    payDueAt: row.pay_due_at as Micros,
    payoutDate: row.payout_date as string,
    paidAt: optional<Micros>(row.paid_at),
    bankReference: optional<string>(row.bank_reference),
    returnedAt: optional<Micros>(row.returned_at),
  };
}

/** One batch of a merchant, in either environment. */
export const selectSettlement = selectInEither("settlements", "settlement_id");

/** The items of a batch, also after the bank returned it, with the columns of their payments that the statement shows. */
export function selectStatement(settlement: Settlement): Statement {
  return {
    name: "select settlement statement",
    text: `select i.*, p.reference_id, p.payment_method, p.gateway_code, p.created_at, p.paid_at
from settlement_items i
join payments p using (merchant_id, environment, payment_id)
where i.merchant_id = $1::uuid and i.environment = $2::environment and i.settlement_id = $3::uuid
order by i.occurred_at, i.item_id`,
    values: [...bookValues(settlement.book), uuidOf(settlement.uuid)],
  };
}

export function statementLineOfRow(row: Row): StatementLine {
  const kind = row.kind as SettlementItem["kind"];
  return {
    kind,
    id: idOf(kind, row.item_id as string),
    paymentReference: idOf("payment", row.payment_id as string),
    amountMinor: row.amount_minor as Minor,
    feeMinor: row.fee_minor as Minor,
    occurredAt: row.occurred_at as Micros,
    referenceId: row.reference_id as string,
    method: row.payment_method as string,
    gatewayCode: optional<string>(row.gateway_code),
    createdAt: row.created_at as Micros,
    paidAt: optional<Micros>(row.paid_at),
  };
}

interface SettlementFilter {
  book: Book;
  status: SettlementStatus | undefined;
  currency: string | undefined;
  endFrom: Micros | undefined;
  /** Exclusive bound. */
  endBefore: Micros | undefined;
  after: string | undefined;
  limit: number;
}

/** A page of batches, newest first, with one row more than `limit`. */
export function selectSettlements(filter: SettlementFilter): Statement {
  const { book, endFrom, endBefore, after } = filter;
  return {
    name: "select settlements",
    text: `select *
from settlements
where merchant_id = $1::uuid and environment = $2::environment
  and ($3::text is null or status = $3::text::settlement_status)
  and ($4::text is null or currency = $4::text)
  and ($5::timestamptz is null or period_end >= $5::timestamptz)
  and ($6::timestamptz is null or period_end < $6::timestamptz)
  and ($7::uuid is null or settlement_id < $7::uuid)
order by settlement_id desc
limit $8::integer`,
    values: [
      ...bookValues(book),
      filter.status,
      filter.currency,
      sqlTimeOrNull(endFrom),
      sqlTimeOrNull(endBefore),
      uuidOrNull(after),
      filter.limit + 1,
    ],
  };
}

/**
 * Books whose next run is due by their own clock, or that never had a run; of one book or of all. What is due by the real clock is due by any, since
 * sandboxes' clocks are only ever ahead: one index has all books in order, and beyond it only those whose clock is ahead are looked at. At most `most` of either.
 */
export function selectDueBooks(due: DueBooks): Statement {
  return {
    name: "select books due for settlement",
    text: `(
  select c.merchant_id, c.environment
  from settlement_clocks c
  where coalesce(c.next_run_at, '-infinity') <= $1::timestamptz and ${chosen("c")}
  limit $2::integer
) union all (
  select b.merchant_id, b.environment
  from books b
  join settlement_clocks c using (merchant_id, environment)
  where b.clock_offset_seconds > 0 and c.next_run_at > $1::timestamptz
    and c.next_run_at <= $1::timestamptz + make_interval(secs => b.clock_offset_seconds) and ${chosen("b")}
  limit $2::integer
)`,
    values: chosenValues(due),
  };
}

/** Sandbox batches due by their book's clock, of one book or all. In production an operator reports the payout. Frozen wallets wait. */
export function selectPayable(due: DueBooks): Statement {
  return {
    name: "select payable settlements",
    text: `select s.merchant_id, s.environment, s.settlement_id
from ${chosenWith("settlements", "t.environment = 'sandbox' and t.status = 'processing'")}
join merchants m using (merchant_id)
cross join lateral (
  select s.merchant_id, s.environment, s.settlement_id, s.pay_due_at
  from settlements s
  where s.merchant_id = b.merchant_id and s.environment = b.environment and s.status = 'processing'
    and coalesce(m.settings::jsonb -> 'wallet_frozen' -> s.currency, 'false') <> 'true'
    and s.pay_due_at <= $1::timestamptz + make_interval(secs => b.clock_offset_seconds)
  order by s.pay_due_at
  limit $2::integer
) s
where b.environment = 'sandbox' and ${chosen("b")}
order by s.pay_due_at
limit $2::integer`,
    values: chosenValues(due),
  };
}
