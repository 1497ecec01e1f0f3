// Events that Stripe sends to us, once their signature is checked: which of our operations something happened to. Pure.
import { z } from "zod";
import type { Heard, ProviderReply, Report, Words } from "../../acquirers/acquirer.ts";
import { Fault, validationFault } from "../../ground/fault.ts";
import { MalformedJson, parseObject } from "../../ground/json.ts";
import { maskedBody } from "../mask.ts";
import { type Account, disputeOf } from "./answers.ts";

const eventSchema = z.object({
  id: z.string().regex(/^[\x21-\x7e]{1,255}$/),
  object: z.literal("event"),
  type: z.string().regex(/^[a-z0-9_.]{1,100}$/),
  livemode: z.boolean(),
  data: z.object({ object: z.record(z.string(), z.unknown()) }),
});

/** What our objects there carry. Objects of other programs on the same account carry something else, or nothing. */
const ours = z.object({ metadata: z.object({ operation_key: z.string().regex(/^[a-z0-9.]{1,64}$/) }) });
const refundStatus = z.object({ status: z.string() });
const refundedPayment = z.object({ payment_intent: z.string().regex(/^\w{1,64}$/), status: z.string().nullish() });

/** Stripe repeats whatever is not answered with 2xx for three days, so that everything that was understood is answered alike. */
const received: ProviderReply = {
  status: 200,
  headers: { "content-type": "application/json" },
  body: '{"received":true}',
};

/** Their events about a payment's page. Their guide says to read the page before it is believed. */
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
/** What an endpoint in their dashboard has to be subscribed to. */
export const eventTypes: readonly string[] = [...pageEvents, ...refundEvents, ...disputeEvents];

/**
 * What an event means. Events come late, twice and in any order, so that nearly all of them are only a reason to look. Throws
 * MALFORMED_JSON, or VALIDATION_ERROR for one that cannot be read or is of the other mode.
 */
export function heardOf(body: Buffer, account: Account): Heard {
  const event = eventOf(body);
  if (event.livemode !== account.live) {
    throw validationFault("livemode", event.livemode, "This address takes events of the other mode.");
  }
  const { object } = event.data;
  const words: Words = { about: `event ${event.type}`, status: undefined, text: maskedBody(body) };
  const reports = reportsOf(event.type, object, account);
  if (reports.length === 0) return { kind: "reply", reply: received, words };
  return { kind: "reports", reports, reply: () => received, words };
}

function reportsOf(type: string, object: Record<string, unknown>, account: Account): Report[] {
  if (disputeEvents.has(type)) return disputeReports(object, account);
  const operationKey = ours.safeParse(object).data?.metadata.operation_key;
  if (operationKey === undefined) return type === "refund.created" ? refundElsewhere(object) : [];
  if (pageEvents.has(type)) return [{ kind: "look", operationKey }];
  if (!refundEvents.has(type)) return [];
  // Nothing follows a failure. Everything else may be older than what is known by now.
  const status = refundStatus.safeParse(object).data?.status;
  const isOver = isUndone(status);
  return [isOver ? { kind: "refund", operationKey, status: "failed" } : { kind: "look", operationKey }];
}

/** Somebody has made it in their dashboard, or another program: whether its payment is ours is seen by their name for it. */
function refundElsewhere(object: Record<string, unknown>): Report[] {
  const read = refundedPayment.safeParse(object).data;
  if (!read || isUndone(read.status)) return [];
  return [{ kind: "refund_elsewhere", paymentOperationKey: read.payment_intent }];
}

function isUndone(status: string | null | undefined): boolean {
  return status === "failed" || status === "canceled";
}

/** A dispute names its payment by their own name alone: no metadata of ours is in it. */
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
  let value: Record<string, unknown>;
  try {
    value = parseObject(body);
  } catch (error) {
    if (error instanceof MalformedJson) throw new Fault("MALFORMED_JSON");
    throw error;
  }
  const parsed = eventSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw validationFault((issue?.path ?? []).map(String).join("."), undefined, issue?.message);
}
