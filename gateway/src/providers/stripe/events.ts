// Reads the events that Stripe sends, once their signature is checked: which of Gerbang's operations something happened to. Pure.
import { z } from "zod";
import type { MessageMeaning, ProviderReply, Report, AcquirerMessage } from "../../acquirers/acquirer.ts";
import { validationFault } from "../../ground/fault.ts";
import { parseObject } from "../../ground/json.ts";
import { maskedBody } from "../mask.ts";
import { type Account, disputeOf } from "./answers.ts";

const eventSchema = z.object({
  id: z.string().regex(/^[\x21-\x7e]{1,255}$/),
  object: z.literal("event"),
  type: z.string().regex(/^[a-z0-9_.]{1,100}$/),
  livemode: z.boolean(),
  data: z.object({ object: z.record(z.string(), z.unknown()) }),
});

/** Metadata of Gerbang's objects at Stripe. Objects of other programs on the same account have other metadata, or none. */
const ours = z.object({ metadata: z.object({ operation_key: z.string().regex(/^[a-z0-9.]{1,64}$/) }) });
const refundStatus = z.object({ status: z.string() });
const idSchema = z.string().regex(/^\w{1,64}$/);
const refundedPayment = z.object({ id: idSchema, payment_intent: idSchema, status: z.string().nullish() });

/** Stripe repeats an event for three days unless the response is 2xx, so every event that was understood gets the same response. */
const received: ProviderReply = {
  status: 200,
  headers: { "content-type": "application/json" },
  body: '{"received":true}',
};

/** Events about a payment's page. Stripe's guide says to read the page before an event is believed. */
const pageEvents = new Set([
  "checkout.session.completed",
  "checkout.session.async_payment_succeeded",
  "checkout.session.async_payment_failed",
  "checkout.session.expired",
]);
const refundEvents = new Set(["refund.created", "refund.updated", "refund.failed", "charge.refund.updated"]);
const disputeEvents = new Set([
  "charge.dispute.created",
  "charge.dispute.updated",
  "charge.dispute.closed",
  "charge.dispute.funds_withdrawn",
  "charge.dispute.funds_reinstated",
]);
/** Event types that an endpoint in Stripe's dashboard must be subscribed to. */
export const eventTypes: readonly string[] = [...pageEvents, ...refundEvents, ...disputeEvents];

/**
 * Reads an event. Events arrive late, twice and in any order, so nearly all of them only lead to an inquiry. Throws MALFORMED_JSON, or
 * VALIDATION_ERROR for an event that cannot be read or is of the other mode.
 */
export function heardOf(body: Buffer, account: Account): MessageMeaning {
  const event = eventOf(body);
  if (event.livemode !== account.live) {
    throw validationFault("livemode", event.livemode, "This address takes events of the other mode.");
  }
  const { object } = event.data;
  const message: AcquirerMessage = { about: `event ${event.type}`, status: undefined, text: maskedBody(body) };
  const reports = reportsOf(event.type, object, account);
  if (reports.length === 0) return { kind: "reply", reply: received, message };
  return { kind: "reports", reports, reply: () => received, message };
}

function reportsOf(type: string, object: Record<string, unknown>, account: Account): Report[] {
  if (disputeEvents.has(type)) return disputeReports(object, account);
  const operationKey = ours.safeParse(object).data?.metadata.operation_key;
  if (operationKey === undefined) return type === "refund.created" ? refundElsewhere(object) : [];
  if (pageEvents.has(type)) return [{ kind: "look", operationKey }];
  if (!refundEvents.has(type)) return [];
  // A failed refund stays failed. Every other status may be outdated by now, so an inquiry follows.
  const status = refundStatus.safeParse(object).data?.status;
  const isOver = isUndone(status);
  return [isOver ? { kind: "refund", operationKey, status: "failed" } : { kind: "look", operationKey }];
}

/** The refund was made in Stripe's dashboard or by another program. Stripe's id of the payment shows whether the payment is Gerbang's. */
function refundElsewhere(object: Record<string, unknown>): Report[] {
  const read = refundedPayment.safeParse(object).data;
  if (!read || isUndone(read.status)) return [];
  return [{ kind: "refund_elsewhere", paymentOperationKey: read.payment_intent, refundId: read.id }];
}

function isUndone(status: string | null | undefined): boolean {
  return status === "failed" || status === "canceled";
}

/** A dispute names its payment by Stripe's id alone: it has no metadata of Gerbang. */
function disputeReports(object: Record<string, unknown>, account: Account): Report[] {
  let read;
  try {
    read = disputeOf(object, account);
  } catch (error) {
    throw validationFault("data.object", object, error instanceof Error ? error.message : undefined);
  }
  if (read?.paymentIntent === undefined) return [];
  return [{ kind: "dispute", paymentOperationKey: read.paymentIntent, dispute: read.dispute }];
}

function eventOf(body: Buffer): z.infer<typeof eventSchema> {
  const parsed = eventSchema.safeParse(parseObject(body));
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw validationFault((issue?.path ?? []).map(String).join("."), undefined, issue?.message);
}
