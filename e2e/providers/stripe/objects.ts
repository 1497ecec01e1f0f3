// The fake's objects in the shapes of Stripe's API version 2026-10-28.endive, shortened.
import type { FakeAnswer, FakeRequest } from "../fake.ts";
import type { Dispute, Intent, Refund, Session, Upload } from "./account.ts";

type Json = Record<string, unknown>;

export function sessionObject(session: Session, url: string, expanded = false): Json {
  const { id, status, paid, amount, currency, metadata, intent } = session;
  return {
    id,
    object: "checkout.session",
    adaptive_pricing: { enabled: false },
    amount_subtotal: amount,
    amount_total: amount,
    cancel_url: session.cancelUrl,
    client_reference_id: session.clientReference,
    created: session.createdAt,
    currency,
    currency_conversion: null,
    customer: null,
    customer_details: paid ? { email: "payer@example.com", name: "Jenny Rosen", phone: null } : null,
    expires_at: session.expiresAt,
    livemode: false,
    metadata,
    mode: "payment",
    payment_intent: intent === undefined ? null : expanded ? intentObject(session, intent) : intent.id,
    payment_method_types: ["card"],
    payment_status: paid ? "paid" : "unpaid",
    status,
    success_url: session.successUrl,
    total_details: { amount_discount: 0, amount_shipping: 0, amount_tax: 0 },
    ui_mode: "hosted_page",
    url: status === "open" ? `${url}/c/pay/${id}` : null,
  };
}

export function intentObject(session: Session, intent: Intent): Json {
  return {
    id: intent.id,
    object: "payment_intent",
    amount: intent.amount,
    amount_received: intent.amount,
    currency: intent.currency,
    latest_charge: chargeObject(session, intent),
    livemode: false,
    metadata: session.intentMetadata,
    status: "succeeded",
  };
}

export function chargeObject(session: Session, { id, charge, amount, currency, refunded, disputed }: Intent): Json {
  return {
    id: charge,
    object: "charge",
    amount,
    amount_refunded: refunded,
    balance_transaction: {
      id: `txn_${charge.slice(3)}`,
      object: "balance_transaction",
      amount,
      currency,
      fee: feeOf(amount),
      net: amount - feeOf(amount),
      type: "charge",
    },
    currency,
    disputed,
    livemode: false,
    metadata: session.intentMetadata,
    paid: true,
    payment_intent: id,
    refunded: refunded === amount,
    status: "succeeded",
  };
}

/** A fee of 3.4 %, rounded half up. */
function feeOf(amount: number): number {
  return Math.floor((amount * 34 + 500) / 1_000);
}

export function refundObject({ id, createdAt, intent, amount, status, metadata }: Refund): Json {
  return {
    id,
    object: "refund",
    amount,
    balance_transaction: null,
    charge: intent.charge,
    created: createdAt,
    currency: intent.currency,
    destination_details: { card: { type: "refund" }, type: "card" },
    ...(status === "failed" ? { failure_reason: "declined" } : {}),
    metadata,
    payment_intent: intent.id,
    ...(status === "pending" ? { pending_reason: "processing" } : {}),
    reason: null,
    status,
  };
}

export function disputeObject({
  id,
  createdAt,
  intent,
  status,
  reason,
  evidence,
  metadata,
  submissions,
}: Dispute): Json {
  return {
    id,
    object: "dispute",
    amount: intent.amount,
    balance_transactions: [],
    charge: intent.charge,
    created: createdAt,
    currency: intent.currency,
    evidence,
    evidence_details: {
      due_by: createdAt + 10 * 86_400,
      has_evidence: Object.keys(evidence).length > 0,
      past_due: false,
      submission_count: submissions,
    },
    is_charge_refundable: false,
    livemode: false,
    metadata,
    payment_intent: intent.id,
    reason,
    status,
  };
}

export function fileObject({ id, name, bytes }: Upload, createdAt: number): Json {
  return {
    id,
    object: "file",
    created: createdAt,
    expires_at: createdAt + 270 * 86_400,
    filename: name,
    purpose: "dispute_evidence",
    size: bytes.length,
    title: null,
    type: "pdf",
  };
}

/** A list as Stripe's API pages it: newest first, after the object with id `after`. */
export function listObject(all: readonly Json[], path: string, limit: number, after: string | null): Json {
  const newest = all.toReversed();
  const from = after === null ? 0 : newest.findIndex(({ id }) => id === after) + 1;
  const data = newest.slice(from, from + limit);
  return { object: "list", url: path, has_more: from + limit < newest.length, data };
}

/** The answer, with one wrong field if the request has such a fault. */
export function changed({ fault }: FakeRequest, answer: FakeAnswer): FakeAnswer {
  const body = answer.body as Record<string, unknown>;
  const field = body.object === "checkout.session" ? "amount_total" : "amount";
  if (fault === "wrong amount") return { ...answer, body: { ...body, [field]: Number(body[field]) + 100 } };
  if (fault === "wrong currency")
    return { ...answer, body: { ...body, currency: body.currency === "usd" ? "idr" : "usd" } };
  if (fault === "unknown status") return { ...answer, body: { ...body, status: "frozen" } };
  return answer;
}
