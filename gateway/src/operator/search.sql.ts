// Searches over all merchants: a lookup in each book by the index for the search term. Other rooms write these tables.
import { uuidOf } from "../ground/ids.ts";
import type { Environment } from "../merchants/books.ts";
import type { Row, Statement } from "../store/database.ts";

/** Results of one statement at most. */
const FOUND_MAX = 8;

export interface FoundRow extends Row {
  merchant_id: string;
  merchant_name: string;
  environment: Environment | null;
  id: string;
  title: string;
  status: string | null;
  amount_minor: bigint | null;
  currency: string | null;
  at: number | null;
}

interface Sought {
  table: string;
  id: string;
  /** SQL of the columns `title`, `status`, `amount_minor`, `currency`, `at` of a row `t`. */
  columns: string;
}

const noMoney = "null::bigint as amount_minor, null::text as currency";

/** Objects of a book, by the kind of their identity. */
export const sought = {
  payment: {
    table: "payments",
    id: "payment_id",
    columns: "t.reference_id as title, t.status::text as status, t.amount_minor, t.currency, t.created_at as at",
  },
  refund: {
    table: "refunds",
    id: "refund_id",
    columns:
      "coalesce(t.reason, '') as title, t.status::text as status, t.amount_minor, t.currency, t.created_at as at",
  },
  dispute: {
    table: "disputes",
    id: "dispute_id",
    columns: "t.reason as title, t.status::text as status, t.amount_minor, t.currency, t.opened_at as at",
  },
  settlement: {
    table: "settlements",
    id: "settlement_id",
    columns:
      "t.payout_date::text as title, t.status::text as status, t.net_minor as amount_minor, t.currency, t.created_at as at",
  },
  receipt: {
    table: "receipts",
    id: "receipt_id",
    columns: "t.transaction_id as title, t.status, t.amount_minor, t.currency, t.received_at as at",
  },
  exception: {
    table: "reconciliation_exceptions",
    id: "exception_id",
    columns: `t.kind as title, case when t.closed_at is null then 'open' else 'closed' end as status, ${noMoney}, t.noticed_at as at`,
  },
  event: {
    table: "events",
    id: "event_id",
    columns: `t.type as title, null::text as status, ${noMoney}, t.created_at as at`,
  },
  journal: {
    table: "journals",
    id: "journal_id",
    columns: `t.seq::text || ' ' || t.kind as title, null::text as status, ${noMoney}, t.posted_at as at`,
  },
  request: {
    table: "request_log",
    id: "request_id",
    columns: `t.method || ' ' || t.path as title, t.status::text as status, ${noMoney}, t.at as at`,
  },
} as const satisfies Record<string, Sought>;
export type SoughtKind = keyof typeof sought;

/** Searches every book. An index of the book must answer the `conditions` on a row `t`. */
function inEachBook(name: string, { table, id, columns }: Sought, conditions: string, values: unknown[]): Statement {
  return {
    name,
    text: `select b.merchant_id, b.environment, m.name as merchant_name, t.*
from books b
cross join lateral (
  select t.${id} as id, ${columns}
  from ${table} t
  where t.merchant_id = b.merchant_id and t.environment = b.environment and ${conditions}
  order by t.${id} desc
  limit ${FOUND_MAX}
) t
join merchants m on m.merchant_id = b.merchant_id
order by t.id desc
limit ${FOUND_MAX}`,
    values,
  };
}

export function selectById(kind: SoughtKind, id: string): Statement {
  const one: Sought = sought[kind];
  return inEachBook(`find ${kind}`, one, `t.${one.id} = $1::uuid`, [uuidOf(id)]);
}

export function selectByReferenceId(referenceId: string): Statement {
  return inEachBook("find reference_id", sought.payment, "t.reference_id = $1::text", [referenceId]);
}

/** Payments of a payer, by the contact key (in hex) of their e-mail address or telephone. */
export function selectByContact(contactKey: string): Statement[] {
  const key = Buffer.from(contactKey, "hex");
  return ["customer_key", "phone_key"].map((column) =>
    inEachBook(`find ${column}`, sought.payment, `t.${column} = $1::bytea`, [key]),
  );
}

/** Receipts by the acquirer's transaction number; `codes` are the codes of all acquirers. */
export function selectByTransaction(transactionId: string, codes: readonly string[]): Statement {
  const conditions = "t.gateway_code = any($2::text[]) and t.transaction_id = $1::text";
  return inEachBook("find transaction", sought.receipt, conditions, [transactionId, codes]);
}

/** Merchants whose name contains a text, newest first; or the merchant of an identity or a credential. */
export function selectMerchantsLike(by: { name?: string; id?: string; clientId?: string }): Statement {
  return {
    name: "find merchants",
    text: `select m.merchant_id, m.name as merchant_name, null::environment as environment, m.merchant_id as id, m.name as title,
  case when m.suspended then 'suspended' else 'active' end as status, ${noMoney}, m.created_at as at
from merchants m
where ($1::text is null or strpos(lower(m.name), lower($1::text)) > 0) and ($2::uuid is null or m.merchant_id = $2::uuid)
  and ($3::text is null or m.merchant_id in (select merchant_id from credentials where client_id = $3::text))
order by m.merchant_id desc
limit ${FOUND_MAX}`,
    values: [by.name ?? null, by.id === undefined ? null : uuidOf(by.id), by.clientId ?? null],
  };
}
