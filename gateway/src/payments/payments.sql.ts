// SQL that reads, locks and writes payments, and the mapping of their rows. Payers' data have their own SQL.
import type { Instructions } from "../acquirers/acquirer.ts";
import type { Micros } from "../ground/clock.ts";
import { idOf, uuidBytes, uuidOf } from "../ground/ids.ts";
import type { Minor } from "../ground/money.ts";
import { type Book, type Environment, bookColumns, bookKey, bookOfRow } from "../merchants/books.ts";
import { type DueBooks, chosen, chosenValues, chosenWith } from "../merchants/due-books.sql.ts";
import type { PaymentMethod } from "../merchants/settings.ts";
import type { RiskVerdict } from "../risk/risk.ts";
import type { RoutingDecision } from "../routing/routing.ts";
import { type BatchMark, batchMarks, markColumns } from "../merchants/batch-marks.ts";
import { type Row, type Statement, optional } from "../store/database.ts";
import { type Columns, type Table, arraysOf, bulkInsert, bulkUpdate, loadByKey } from "../store/table.ts";
import type { DisputeStatus, LinkMark, Payment, PaymentSummary, StoredPayer } from "./payment.ts";
import type { PaymentStatus } from "./states.ts";

type PaymentKey = { book: Book; reference: string };

const json = (value: unknown): string | null => (value === undefined ? null : JSON.stringify(value));
const bytes = (hex: string | null): Buffer | null => (hex === null ? null : Buffer.from(hex, "hex"));

const keyColumns = {
  ...bookColumns,
  payment_id: ["uuid", ({ reference }: PaymentKey) => uuidBytes(reference)],
} as const satisfies Columns<PaymentKey>;

/** Columns that an update may change after the payment was created. */
const stateColumns = {
  status: ["payment_status", (payment: Payment) => payment.status],
  refunded_minor: ["bigint", (payment: Payment) => payment.refundedMinor],
  refund_pending_minor: ["bigint", (payment: Payment) => payment.refundPendingMinor],
  lost_minor: ["bigint", (payment: Payment) => payment.lostMinor],
  dispute_status: ["dispute_status", (payment: Payment) => payment.disputeStatus],
  updated_at: ["timestamptz", (payment: Payment) => payment.updatedAt],
  paid_at: ["timestamptz", (payment: Payment) => payment.paidAt],
  canceled_at: ["timestamptz", (payment: Payment) => payment.canceledAt],
  cancel_reason: ["text", (payment: Payment) => payment.cancelReason],
} as const satisfies Columns<Payment>;

const birthColumns = {
  amount_minor: ["bigint", (payment: Payment) => payment.amountMinor],
  fee_minor: ["bigint", (payment: Payment) => payment.feeMinor],
  created_at: ["timestamptz", (payment: Payment) => payment.createdAt],
  expires_at: ["timestamptz", (payment: Payment) => payment.expiresAt],
  expires_in: ["integer", (payment: Payment) => payment.expiresIn],
  payment_method: ["payment_method", (payment: Payment) => payment.method],
  currency: ["text", (payment: Payment) => payment.currency],
  reference_id: ["text", (payment: Payment) => payment.referenceId],
  gateway_code: ["text", (payment: Payment) => payment.gatewayCode],
  description: ["text", (payment: Payment) => payment.description],
  callback_url: ["text", (payment: Payment) => payment.callbackUrl],
  return_url: ["text", (payment: Payment) => payment.returnUrl],
  customer_key: ["bytea", ({ payer }: Payment) => bytes(payer.customerKey)],
  phone_key: ["bytea", ({ payer }: Payment) => bytes(payer.phoneKey)],
  customer_sealed: ["bytea", ({ payer }: Payment) => payer.sealed],
  metadata: ["json", (payment: Payment) => json(payment.metadata)],
  link_id: ["uuid", ({ link }: Payment) => link && uuidOf(link.uuid)],
  link_reusable: ["boolean", ({ link }: Payment) => link?.reusable],
  instructions: ["json", (payment: Payment) => json(payment.instructions)],
  risk_decision: ["text", (payment: Payment) => payment.risk.decision],
  risk_score: ["smallint", (payment: Payment) => payment.risk.score],
  risk_reasons: ["json", (payment: Payment) => json(payment.risk.reasons)],
  routing: ["json", (payment: Payment) => json(payment.routing)],
} as const satisfies Columns<Payment>;

/** Payments by reference. Loading a payment locks it, so one transaction at a time changes it. */
export const payments: Table<PaymentKey, Payment> = {
  name: "payments",
  keyText: ({ book, reference }) => `${bookKey(book)}/${reference}`,
  keyOf: (payment) => payment,
  load: loadByKey("lock payments", "payments", keyColumns),
  parse: paymentOfRow,
  insert: bulkInsert<Payment>("payments", { ...keyColumns, ...stateColumns, ...birthColumns }),
  update: bulkUpdate<Payment>("payments", keyColumns, stateColumns),
};

/**
 * The update that follows a review or an acquirer's late answer: verdict, acquirer, instructions, expiry and state. It is written before any
 * other update of the same payment in the batch, because the database allows it only while the payment is pending.
 */
export const reviewedOrRouted: Table<PaymentKey, Payment> = {
  name: "reviewed or routed payments",
  keyText: ({ book, reference }) => `${bookKey(book)}/${reference}`,
  keyOf: (payment) => payment,
  insert: bulkUpdate<Payment>("payments", keyColumns, {
    ...stateColumns,
    risk_decision: birthColumns.risk_decision,
    gateway_code: birthColumns.gateway_code,
    instructions: birthColumns.instructions,
    routing: birthColumns.routing,
    expires_at: birthColumns.expires_at,
  }),
};

type ReferenceId = { book: Book; referenceId: string };
type TakenReferenceId = ReferenceId & { reference: string };

/** Each `reference_id` that a payment of the merchant has taken. Loaded without a lock; the insert of payments writes it. */
export const takenReferenceIds: Table<ReferenceId, TakenReferenceId> = {
  name: "reference ids",
  keyText: ({ book, referenceId }) => `${bookKey(book)}/${referenceId}`,
  keyOf: (taken) => taken,
  load: loadByKey(
    "load reference ids",
    "payments",
    { ...bookColumns, reference_id: ["text", ({ referenceId }: ReferenceId) => referenceId] },
    "",
  ),
  parse: (row) => ({
    book: bookOfRow(row),
    referenceId: row.reference_id as string,
    reference: idOf("payment", row.payment_id as string),
  }),
};

const parsed = <T>(value: unknown): T | undefined => (value === null ? undefined : (JSON.parse(value as string) as T));

export function paymentOfRow(row: Row): Payment {
  return {
    ...summaryOfRow(row, {
      merchantId: idOf("merchant", row.merchant_id as string),
      reference: idOf("payment", row.payment_id as string),
    }),
    refundPendingMinor: row.refund_pending_minor as Minor,
    lostMinor: row.lost_minor as Minor,
    description: optional<string>(row.description),
    callbackUrl: optional<string>(row.callback_url),
    returnUrl: optional<string>(row.return_url),
    payer: payerOfRow(row),
    metadata: parsed<Record<string, string>>(row.metadata),
    risk: {
      decision: row.risk_decision as RiskVerdict["decision"],
      score: row.risk_score as number,
      reasons: parsed<RiskVerdict["reasons"]>(row.risk_reasons) ?? [],
    },
    routing: parsed<RoutingDecision>(row.routing) ?? { rules_version: 0, candidates: [] },
    expiresIn: optional<number>(row.expires_in),
    canceledAt: optional<Micros>(row.canceled_at),
    cancelReason: optional<string>(row.cancel_reason),
  };
}

function payerOfRow(row: Row): StoredPayer {
  const hex = (value: unknown): string | null => (value === null ? null : (value as Buffer).toString("hex"));
  return {
    customerKey: hex(row.customer_key),
    phoneKey: hex(row.phone_key),
    sealed: row.customer_sealed as Buffer | null,
    erasedAt: row.payer_erased_at as Micros | null,
  };
}

/** Names a payment without its environment, so that the caller can tell ENVIRONMENT_MISMATCH from PAYMENT_NOT_FOUND. */
export interface PaymentName {
  merchantId: string;
  reference: string;
}

const nameColumns: Columns<PaymentName> = {
  merchant_id: ["uuid", ({ merchantId }) => uuidOf(merchantId)],
  payment_id: ["uuid", ({ reference }) => uuidBytes(reference)],
};

/** Reads the summaries of several payments at once. The column `place` gives the position of a row's name, from 1. */
export function selectSummaries(names: readonly PaymentName[]): Statement {
  return {
    name: "select payment summaries",
    text: `select w.place::integer as place, p.environment, p.status, p.amount_minor, p.fee_minor, p.refunded_minor, p.currency,
  p.payment_method, p.reference_id, p.gateway_code, p.created_at, p.updated_at, p.paid_at, p.expires_at, p.dispute_status, p.link_id, p.link_reusable, p.risk_decision,
  case when p.status = 'pending' then p.instructions end as instructions, s.settlement_id, s.status as settlement_status, s.payout_date
from unnest($1::uuid[], $2::uuid[]) with ordinality as w(merchant_id, payment_id, place)
cross join lateral (
  select * from payments p
  where p.merchant_id = w.merchant_id and p.environment = any('{sandbox,production}'::environment[])
    and p.payment_id = w.payment_id
  limit 1
) p
left join settlements s
  on s.merchant_id = p.merchant_id and s.environment = p.environment and s.settlement_id = p.settlement_id`,
    values: arraysOf(nameColumns, names),
  };
}

export function summaryOfRow(row: Row, { merchantId, reference }: PaymentName): PaymentSummary {
  return {
    book: { merchantId, environment: row.environment as Environment },
    reference,
    status: row.status as PaymentStatus,
    amountMinor: row.amount_minor as Minor,
    feeMinor: row.fee_minor as Minor,
    refundedMinor: row.refunded_minor as Minor,
    batch: batchOfRow(row),
    currency: row.currency as string,
    method: row.payment_method as PaymentMethod,
    referenceId: row.reference_id as string,
    gatewayCode: optional<string>(row.gateway_code),
    createdAt: row.created_at as Micros,
    updatedAt: row.updated_at as Micros,
    paidAt: optional<Micros>(row.paid_at),
    disputeStatus: optional<DisputeStatus>(row.dispute_status),
    instructions: parsed<Instructions>(row.instructions),
    expiresAt: row.expires_at as Micros,
    link: linkOfRow(row),
  };
}

function linkOfRow(row: Row): LinkMark | undefined {
  const uuid = optional<string>(row.link_id);
  return uuid === undefined ? undefined : { uuid: idOf("link", uuid), reusable: row.link_reusable as boolean };
}

function batchOfRow(row: Row): PaymentSummary["batch"] {
  const status = optional<"processing" | "paid">(row.settlement_status);
  return (
    status && { uuid: idOf("settlement", row.settlement_id as string), status, payoutDate: row.payout_date as string }
  );
}

/** Reads one payment of a merchant in either environment: the caller tells ENVIRONMENT_MISMATCH from PAYMENT_NOT_FOUND. */
export function selectPayment(merchantId: string, reference: string): Statement {
  return {
    name: "select payment",
    text: `select p.*, s.status as settlement_status, s.payout_date
from payments p
left join settlements s using (merchant_id, environment, settlement_id)
where p.merchant_id = $1::uuid and p.environment = any('{sandbox,production}'::environment[]) and p.payment_id = $2::uuid`,
    values: [uuidOf(merchantId), uuidOf(reference)],
  };
}

/**
 * Reads pending payments whose time is over by their book's clock, of one book or of all: at most `most` of production and `most` of sandboxes, so that
 * neither waits for the other. In production that is the real clock, so one index has the payments of all books in order. In a sandbox it may be any:
 * they are read book by book.
 */
export function selectExpiredPayments(due: DueBooks): Statement {
  return {
    name: "select expired payments",
    text: `(
  select p.merchant_id, p.environment, p.payment_id
  from payments p
  where p.environment = 'production' and p.status = 'pending' and p.expires_at <= $1::timestamptz and ${chosen("p")}
  order by p.expires_at
  limit $2::integer
) union all (
  select p.merchant_id, p.environment, p.payment_id
  from ${chosenWith("payments", "t.environment = 'sandbox' and t.status = 'pending'")}
  cross join lateral (
    select p.merchant_id, p.environment, p.payment_id
    from payments p
    where p.merchant_id = b.merchant_id and p.environment = 'sandbox' and p.status = 'pending'
      and p.expires_at <= $1::timestamptz + make_interval(secs => b.clock_offset_seconds)
    order by p.expires_at
    limit $2::integer
  ) p
  where ${chosen("b")}
  limit $2::integer
)`,
    values: chosenValues(due),
  };
}

/** The settlement batch that each payment is in. */
export const paymentBatches = batchMarks(
  "payment batches",
  bulkUpdate<BatchMark>("payments", { ...bookColumns, payment_id: ["uuid", (mark) => uuidOf(mark.id)] }, markColumns),
);
