// Reads Xendit's notifications into reports. Notifications arrive late, twice or out of order, and their content is not signed: whoever knows
// the token could write one. Notifications about payments, card pages and refunds therefore only lead to an inquiry. Disputes are reported as
// they are notified: the token is their only proof. Pure.
import { z } from "zod";
import type { MessageMeaning, ReportedDispute } from "../../acquirers/acquirer.ts";
import { type Micros, SECOND } from "../../ground/clock.ts";
import { validationFault } from "../../ground/fault.ts";
import { parseObject } from "../../ground/json.ts";
import { maskedBody } from "../mask.ts";
import { readAmount } from "./amounts.ts";

const envelopeSchema = z.object({ event: z.string().max(100), data: z.record(z.string(), z.unknown()).optional() });
/** Format of Gerbang's operation keys. Another reference belongs to another user of the same account. */
const ourReference = z.object({ reference_id: z.string().regex(/^[a-z0-9.]{1,64}$/) });
const idSchema = z.string().regex(/^[\x21-\x7e]{1,64}$/);
const refundSchema = z.object({ reference_id: z.string().nullish(), payment_id: idSchema, id: idSchema.nullish() });

const namedPayment = z.object({ payment_id: idSchema });

const taken = { kind: "reply", reply: { status: 200, body: '{"received":true}' } } as const satisfies MessageMeaning;

/** Reads a notification. Throws MALFORMED_JSON, or VALIDATION_ERROR with the field that cannot be read. */
export function readWebhook(body: Buffer): MessageMeaning {
  const whole = parseObject(body);
  const envelope = envelopeSchema.safeParse(whole);
  if (!envelope.success) throw validationFault("event", whole.event, "must be the name of an event");
  const { event, data } = envelope.data;
  const about = `notification ${event.replaceAll(/[^\w.]/g, "?").slice(0, 60)}`;
  const meaning = event.startsWith("dispute.") ? disputeOf(whole) : eventOf(event, innermost(data));
  return { ...meaning, message: { about, status: undefined, text: maskedBody(body) } };
}

/** Events of payments, card pages and refunds. All other events are ignored. */
const events: ReadonlySet<string> = new Set([
  "payment.capture",
  "payment.authorization",
  "payment.failure",
  "payment_session.completed",
  "payment_session.expired",
  "payment_request.expiry",
  "refund.succeeded",
  "refund.failed",
]);

function eventOf(event: string, data: Record<string, unknown> | undefined): MessageMeaning {
  const refund = event === "refund.succeeded" ? refundSchema.safeParse(data).data : undefined;
  // Without Gerbang's reference the refund was made in Xendit's dashboard. A person is told and nothing is booked: the token is proof enough.
  if (refund && !isRefundOfOurs(refund.reference_id)) return refundElsewhere(refund.payment_id, refund.id ?? undefined);
  const reference = ourReference.safeParse(data);
  // It names nothing that is known here, and money has moved: it is kept for a person.
  if (event === "refund.succeeded" && !reference.success) return refundElsewhere("");
  if (!events.has(event) || !reference.success) return taken;
  return { kind: "reports", reports: [{ kind: "look", operationKey: reference.data.reference_id }] };
}

function refundElsewhere(paymentOperationKey: string, refundId = ""): MessageMeaning {
  const report = { kind: "refund_elsewhere", paymentOperationKey, refundId } as const;
  return { kind: "reports", reports: [report], reply: () => taken.reply };
}

function isRefundOfOurs(reference: string | null | undefined): boolean {
  return typeof reference === "string" && /^rfd[a-z0-9.]{1,61}$/.test(reference);
}

/** Xendit's page on refund notifications shows an envelope inside the envelope; its schema and the other pages show one. */
function innermost(data: Record<string, unknown> | undefined): Record<string, unknown> | undefined {
  const inner = z.object({ event: z.string(), data: z.record(z.string(), z.unknown()) }).safeParse(data);
  return inner.success ? inner.data.data : data;
}

const disputeSchema = z.object({
  id: idSchema,
  status: z.string(),
  status_reason: z.string().nullish(),
  currency: z.string(),
  amount: z.object({ initial: z.unknown() }),
  due_date: z.string().nullish(),
  category: z.object({ name: z.string() }).nullish(),
});

/**
 * Xendit's documentation: dispute-webhook-notifications. A dispute event has the dispute itself in place of an envelope. No inquiry confirms it:
 * the documentation mentions one, but no page that was read gives its address. A dispute without Gerbang's reference is looked for by Xendit's id
 * of its payment: which reference the payment of a card page has is not documented.
 */
export const disputeStatuses: Readonly<Record<string, ReportedDispute["status"]>> = {
  ACTION_REQUIRED: "open",
  UNDER_REVIEW: "under_review",
  WON: "won",
  LOST: "lost",
};

function disputeOf(whole: Record<string, unknown>): MessageMeaning {
  const read = disputeSchema.safeParse(whole);
  if (!read.success) {
    const path = read.error.issues[0]?.path.map(String) ?? [];
    throw validationFault(path.join("."), whole[path[0] ?? ""], "cannot be read");
  }
  const { id, currency, amount, due_date, category, status, status_reason } = read.data;
  const state = Object.hasOwn(disputeStatuses, status) ? disputeStatuses[status] : undefined;
  if (state === undefined) throw validationFault("status", status, "is a status that is not known here");
  const amountMinor = readAmount(amount.initial, currency);
  if (amountMinor === undefined) throw validationFault("amount.initial", amount.initial, "is no amount");
  const respondBy = timeOf(due_date ?? undefined);
  const dispute: ReportedDispute = {
    id,
    status: state === "won" && status_reason === "WITHDRAWN" ? "withdrawn" : state,
    amountMinor,
    currency,
    reason: category?.name.includes("fraud") === true ? "fraudulent" : "general",
    ...(respondBy === undefined ? {} : { respondBy }),
  };
  const reference = ourReference.safeParse(whole).data?.reference_id;
  if (reference?.startsWith("pay") === true)
    return { kind: "reports", reports: [{ kind: "dispute", paymentOperationKey: reference, dispute }] };
  const paymentOperationKey = namedPayment.safeParse(whole).data?.payment_id ?? "";
  return { kind: "reports", reports: [{ kind: "dispute", paymentOperationKey, dispute }], reply: () => taken.reply };
}

/** Converts `2026-03-15T19:50:51.724Z` to micros; undefined for another format. */
function timeOf(text: string | undefined): Micros | undefined {
  if (text === undefined || !/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?Z$/.test(text)) return undefined;
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : at * (SECOND / 1_000);
}
