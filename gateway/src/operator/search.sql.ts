// Searches over all merchants: a lookup in each book by the index for the search term. Other rooms write these tables.
import { uuidOf, uuidOrNull } from "../ground/ids.ts";
import type { Environment } from "../merchants/books.ts";
import type { Row, Statement } from "../store/database.ts";

/** Results of one statement at most, and of one kind. */
export const FOUND_MAX = 8;

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

/** SQL of a row `t` of a table. */
interface Sought {
  table: string;
  title: string;
  /** `t.status` when absent. */
  status?: string;
  /** Absent where a row has no amount and no currency. */
  amount?: string;
  at: string;
}

/** Objects of a book, by the kind of their identity, which the column `<kind>_id` holds. */
export const sought = {
  payment: { table: "payments", title: "t.reference_id", amount: "t.amount_minor", at: "t.created_at" },
  refund: { table: "refunds", title: "coalesce(t.reason, '')", amount: "t.amount_minor", at: "t.created_at" },
  dispute: { table: "disputes", title: "t.reason", amount: "t.amount_minor", at: "t.opened_at" },
  settlement: { table: "settlements", title: "t.payout_date::text", amount: "t.net_minor", at: "t.created_at" },
  receipt: { table: "receipts", title: "t.transaction_id", amount: "t.amount_minor", at: "t.received_at" },
  exception: {
    table: "reconciliation_exceptions",
    title: "t.kind",
    status: "case when t.closed_at is null then 'open' else 'closed' end",
    at: "t.noticed_at",
  },
  event: { table: "events", title: "t.type", status: "null", at: "t.created_at" },
  journal: { table: "journals", title: "t.seq::text || ' ' || t.kind", status: "null", at: "t.posted_at" },
  request: { table: "request_log", title: "t.method || ' ' || t.path", at: "t.at" },
} as const satisfies Record<string, Sought>;
export type SoughtKind = keyof typeof sought;

/** Searches every book. An index of the book must answer the `conditions` on a row `t`. */
function inEachBook(name: string, kind: SoughtKind, conditions: string, values: unknown[]): Statement {
  const { table, title, status = "t.status", amount, at }: Sought = sought[kind];
  return {
    name,
    text: `select b.merchant_id, b.environment, m.name as merchant_name, t.*
from books b
cross join lateral (
  select t.${kind}_id as id, ${title} as title, (${status})::text as status, ${amount ?? "null::bigint"} as amount_minor,
    ${amount ? "t.currency" : "null::text"} as currency, ${at} as at
  from ${table} t
  where t.merchant_id = b.merchant_id and t.environment = b.environment and ${conditions}
  order by t.${kind}_id desc
  limit ${FOUND_MAX}
) t
join merchants m on m.merchant_id = b.merchant_id
order by t.id desc
limit ${FOUND_MAX}`,
    values,
  };
}

export function selectById(kind: SoughtKind, id: string): Statement {
  return inEachBook(`find ${kind}`, kind, `t.${kind}_id = $1::uuid`, [uuidOf(id)]);
}

export function selectByReferenceId(referenceId: string): Statement {
  return inEachBook("find reference_id", "payment", "t.reference_id = $1::text", [referenceId]);
}

export function selectByBankReference(reference: string): Statement {
  return inEachBook("find bank_reference", "settlement", "t.bank_reference = $1::text", [reference]);
}

/** Payments of a payer, by the contact key (in hex) of their e-mail address or telephone. */
export function selectByContact(contactKey: string): Statement[] {
  const key = Buffer.from(contactKey, "hex");
  return ["customer_key", "phone_key"].map((column) =>
    inEachBook(`find ${column}`, "payment", `t.${column} = $1::bytea`, [key]),
  );
}

/** Receipts by the acquirer's transaction number; `codes` are the codes of all acquirers. */
export function selectByTransaction(transactionId: string, codes: readonly string[]): Statement {
  const conditions = "t.gateway_code = any($2::text[]) and t.transaction_id = $1::text";
  return inEachBook("find transaction", "receipt", conditions, [transactionId, codes]);
}

/** The payments that such receipts were applied to. */
export function selectPaidBy(transactionId: string, codes: readonly string[]): Statement {
  const conditions = `t.payment_id = any(array(
    select r.payment_id
    from receipts r
    where r.merchant_id = b.merchant_id and r.environment = b.environment and r.gateway_code = any($2::text[]) and r.transaction_id = $1::text and r.status = 'applied'
  ))`;
  return inEachBook("find payment of transaction", "payment", conditions, [transactionId, codes]);
}

/** Merchants whose name contains a text, newest first; or the merchant of an identity or a credential. */
export function selectMerchantsLike(by: { name?: string; id?: string; clientId?: string }): Statement {
  return {
    name: "find merchants",
    text: `select m.merchant_id, m.name as merchant_name, null::environment as environment, m.merchant_id as id, m.name as title,
  case when m.suspended then 'suspended' else 'active' end as status, null::bigint as amount_minor, null::text as currency,
  m.created_at as at
from merchants m
where ($1::text is null or strpos(lower(m.name), lower($1::text)) > 0) and ($2::uuid is null or m.merchant_id = $2::uuid)
  and ($3::text is null or m.merchant_id in (select merchant_id from credentials where client_id = $3::text))
order by m.merchant_id desc
limit ${FOUND_MAX}`,
    values: [by.name ?? null, uuidOrNull(by.id), by.clientId ?? null],
  };
}
