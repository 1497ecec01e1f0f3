// The schemas of webhook bodies (sections 6.2 and 6.5): the envelope of each kind of event, and an example of each type.
import { z } from "zod";
import { disputeSchema } from "../disputes/disputes.schema.ts";
import { type EventType, eventTypes } from "../events/event.ts";
import { exampleIds, exampleTimes } from "../http/examples.ts";
import { environmentField, exampleOf, identity, timestamp } from "../http/shapes.ts";
import { exampleInstructions, examplePaymentEventData } from "../payments/payments.examples.ts";
import { paymentEventSchema } from "../payments/payments.schema.ts";
import { refundStatusSchema } from "../refunds/refunds.schema.ts";
import { settlementSchema } from "../settlements/settlements.schema.ts";

export const eventTypeSchema = z
  .enum(eventTypes)
  .meta({ id: "EventType", description: "The list will grow: ignore types that you do not know." });

/** Fields of every event besides `type` and `data`. */
export const envelopeFields = {
  id: identity("event").meta({ description: "The same on every retry: deduplicate on it." }),
  created_at: timestamp.meta({ description: "When it happened. Events may arrive in another order." }),
  environment: environmentField,
  api_version: z.literal("v1"),
};

const sample = z
  .literal(true)
  .optional()
  .meta({ description: "Present when the event was triggered by hand, in the sandbox." });
const dataOf = <Shape extends z.ZodRawShape>(id: string, kind: string, object: z.ZodObject<Shape>) =>
  object.extend({ sample }).meta({ id, description: `The ${kind} as it was.` });

/** What an event is about, by the kind of event. */
export const eventData = {
  payment: dataOf("PaymentEventData", "payment", paymentEventSchema),
  refund: dataOf("RefundEventData", "refund", refundStatusSchema),
  settlement: dataOf("SettlementEventData", "settlement", settlementSchema),
  dispute: dataOf("DisputeEventData", "dispute", disputeSchema),
};

const envelope = (id: string, kind: keyof typeof eventData): z.ZodType => {
  const type = z.enum(eventTypes.filter((one) => one.startsWith(`${kind}.`)));
  return z.strictObject({ ...envelopeFields, type, data: eventData[kind] }).meta({
    id,
    description: `An event of a ${kind}.`,
  });
};

const envelopes: Readonly<Record<string, z.ZodType>> = {
  payment: envelope("PaymentEvent", "payment"),
  refund: envelope("RefundEvent", "refund"),
  settlement: envelope("SettlementEvent", "settlement"),
  dispute: envelope("DisputeEvent", "dispute"),
};

/** A complete example event for the OpenAPI document. */
export const exampleEnvelope = <Type extends EventType, Data>(type: Type, data: Data) => ({
  id: exampleIds.event,
  type,
  created_at: exampleTimes.paid,
  environment: "sandbox" as const,
  api_version: "v1" as const,
  data,
});

const { paid_at: _, ...unpaid } = examplePaymentEventData;
const payment = (status: string): unknown => ({ ...unpaid, status });
const settlement = exampleOf(settlementSchema);
const dispute = exampleOf(disputeSchema);

/** When each type of interface 6.5 is sent, and example data. */
const sent: Readonly<Record<EventType, [when: string, data: unknown]>> = {
  "payment.created": [
    "A payment was created and its instructions are ready",
    { ...unpaid, status: "pending", instructions: exampleInstructions.qr, expires_at: exampleTimes.expires },
  ],
  "payment.processing": ["The acquirer works on a payment", payment("processing")],
  "payment.succeeded": ["A payment was paid and is in your books", examplePaymentEventData],
  "payment.failed": ["A payment was refused by the acquirer or by fraud detection", payment("failed")],
  "payment.expired": ["A payment was not paid in time", payment("expired")],
  "payment.canceled": ["You canceled a payment", payment("canceled")],
  "refund.succeeded": ["A refund, full or partial, is in your books", exampleOf(refundStatusSchema)],
  "refund.failed": ["A refund failed; no funds moved", { ...exampleOf(refundStatusSchema), status: "failed" }],
  "settlement.created": [
    "A batch was formed and awaits the bank",
    { ...settlement, status: "processing", paid_at: null, bank_reference: null },
  ],
  "settlement.paid": ["A batch was paid to your account", settlement],
  "dispute.opened": ["A payer contests a payment; the amount is held", dispute],
  "dispute.updated": ["A dispute's status or its deadline changed", { ...dispute, status: "under_review" }],
  "dispute.resolved": [
    "A dispute was decided; the funds are released or gone",
    { ...dispute, status: "won", resolved_at: exampleTimes.evidenceDue, outcome: "won" },
  ],
};

/** All event types, for the OpenAPI document. */
export const webhookShapes = eventTypes.map((type) => {
  const [kind = ""] = type.split(".");
  const [summary, data] = sent[type];
  const tag = `${kind.charAt(0).toUpperCase()}${kind.slice(1)}s`;
  return { type, summary, tag, schema: envelopes[kind] as z.ZodType, example: exampleEnvelope(type, data) };
});
