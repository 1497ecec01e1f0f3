// The shape of a payment's story in the API: the payment's present state, and each step of its history.
import { z } from "zod";
import { operationSteps } from "../acquiring/operation.ts";
import { receiptStatuses } from "../acquiring/receipt.ts";
import { disputeSchema } from "../disputes/disputes.schema.ts";
import { exampleClientId, exampleIds, exampleTimes } from "../http/examples.ts";
import {
  currencyCode,
  exampleOf,
  exponentField,
  identity,
  minorAmount,
  textOrNull,
  timestamp,
  withExample,
} from "../http/shapes.ts";
import { paymentStatusSchema, createdPaymentSchema, createPaymentSchema } from "../payments/payments.schema.ts";
import { exampleCustomer, examplePayment } from "../payments/payments.examples.ts";
import { refundStatusSchema } from "../refunds/refunds.schema.ts";
import { settlementSchema } from "../settlements/settlements.schema.ts";
import { eventSchema } from "../webhooks/events.schema.ts";
import { journalSchema } from "./journals.schema.ts";

const { risk, metadata, return_url: returnUrl, description } = createdPaymentSchema.shape;
const givenText = z.string().optional();
const customerSchema = z
  .strictObject({ name: givenText, email: givenText, phone: givenText })
  .meta({ id: "GivenCustomer", description: "Who pays, as far as you said.", examples: [exampleCustomer] });
const optionalText = (about: string) => z.string().nullable().meta({ description: about });

export const storyPaymentSchema = paymentStatusSchema
  .extend({
    description,
    customer: customerSchema.nullable().meta({ description: "As you gave it; null when you gave none." }),
    metadata,
    callback_url: optionalText("As you gave it; null when you gave none."),
    return_url: returnUrl,
    risk,
    canceled_at: timestamp.nullable(),
    cancel_reason: optionalText("As you gave it; null when you gave none."),
    refundable_minor: minorAmount("What can be refunded now: nothing while the wallet is frozen.", 15_000_000),
    contestable_minor: minorAmount("What a dispute opened now could be about.", 15_000_000),
  })
  .meta({
    id: "PaymentWhole",
    description: "A payment with everything that was given with it.",
    examples: [
      {
        ...examplePayment,
        description: null,
        customer: null,
        metadata: {},
        callback_url: null,
        return_url: null,
        risk: { decision: "approve", score: 0 },
        canceled_at: null,
        cancel_reason: null,
        refundable_minor: 15_000_000,
        contestable_minor: 15_000_000,
      } as never,
    ],
  });

const askedSchema = createPaymentSchema
  .pick({ amount_minor: true, payment_method: true, reference_id: true })
  .extend({
    currency: currencyCode,
    exponent: exponentField,
    description,
    customer: customerSchema.nullable(),
    metadata,
    callback_url: optionalText("Where its events go instead of the registered address."),
    return_url: returnUrl,
    fee_minor: minorAmount("What the service costs you.", 105_000),
  })
  .meta({ id: "StoryAsked", description: "What your system asked for." });

const candidateSchema = z
  .strictObject({
    gateway_code: z.string().meta({ examples: ["nusantara"] }),
    verdict: z.string().meta({ description: "`chosen`, or why not.", examples: ["chosen"] }),
    priority: z.int().optional().meta({ description: "The lowest comes first." }),
    weight: z.int().optional().meta({ description: "Share among equal priorities." }),
    degraded: z.literal(true).optional().meta({ description: "It kept a part of what falls to it alone." }),
  })
  .meta({ id: "RoutingCandidate", description: "An acquirer, and why it was chosen or not." });

const splitSchema = z
  .strictObject({
    id: z.string().meta({ examples: ["cendana_qris"] }),
    arm: z.enum(["control", "test"]).meta({ description: "Which of the two was asked first." }),
    percent: z.int().min(1).max(99).meta({ description: "Share of `test`." }),
    control: z.string().meta({ description: "The rule's own acquirer.", examples: ["nusantara"] }),
    test: z.string().meta({ description: "The acquirer that is compared with it.", examples: ["cendana"] }),
  })
  .meta({ id: "StorySplitTest", description: "The split test that the payment is in." });

const routedSchema = z
  .strictObject({
    gateway_code: z.string().nullable().meta({ description: "Null while none has taken it." }),
    rules_version: z.int().min(0).meta({ description: "Version of the rules that were held against it." }),
    candidates: z.array(candidateSchema),
    split: splitSchema.optional(),
  })
  .meta({ id: "StoryRouted" });

const calledSchema = z
  .strictObject({
    gateway_code: z.string(),
    step: z.enum(operationSteps).meta({ description: "`done`: nothing is left to do." }),
    attempt: z.int().min(1).meta({ description: "Calls so far, each under its own operation key." }),
    inquiries: z.int().min(0).meta({ description: "How often it was asked since the last call." }),
    refused_by: z.array(z.string()).meta({ description: "Acquirers that refused it in this round." }),
  })
  .meta({ id: "StoryCalled", description: "What an acquirer that is called over a network was asked to do." });

const receivedSchema = z
  .strictObject({
    uuid: identity("receipt"),
    gateway_code: z.string(),
    transaction_id: z.string().meta({ description: "The acquirer's." }),
    amount_minor: minorAmount("What came.", 15_000_000),
    currency: currencyCode,
    exponent: exponentField,
    status: z
      .enum(receiptStatuses)
      .meta({ description: "`applied`: it paid the payment. `unapplied`: nothing awaits it." }),
  })
  .meta({ id: "StoryReceived", description: "Money that an acquirer says it received." });

const trySchema = z
  .strictObject({
    attempt: z.int().min(1),
    started_at: timestamp.meta({ description: "By the real clock." }),
    duration_ms: z.int().min(0),
    succeeded: z.boolean(),
    status: z.int().nullable().meta({ description: "Null when there was no answer." }),
    reason: z.string().nullable().meta({ description: "Why it failed, in plain words." }),
  })
  .meta({ id: "StoryAttempt", description: "One attempt to deliver an event." });

const toldSchema = z
  .strictObject({
    event: eventSchema,
    attempts: z.array(trySchema).meta({ description: "The last ten." }),
  })
  .meta({ id: "StoryTold", description: "An event, and how telling it went." });

const becameSchema = z
  .strictObject({
    status: paymentStatusSchema.shape.status,
    reason: optionalText("Of a cancel, as you gave it."),
  })
  .meta({ id: "StoryBecame" });

const settledSchema = z
  .strictObject({
    settlement: settlementSchema,
    kind: z.enum(["payment", "receipt", "refund", "dispute"]).meta({ description: "What of the payment is in it." }),
    item: z.string().meta({ description: "Its identity.", examples: [exampleIds.payment] }),
    amount_minor: minorAmount("What it put in, or took away.", 15_000_000),
    fee_minor: minorAmount("Its fee.", 105_000),
  })
  .meta({ id: "StorySettled", description: "A batch that the payment, or a part of it, is or was in." });

const refundedSchema = refundStatusSchema
  .extend({ reason: optionalText("As you gave it.") })
  .meta({ id: "StoryRefunded", examples: [{ ...exampleOf(refundStatusSchema), reason: null }] });

const answeredSchema = z
  .strictObject({ uuid: identity("dispute") })
  .meta({ id: "StoryAnswered", description: "Evidence was submitted to this dispute." });

const step = <Kind extends string, Shape extends z.ZodType>(kind: Kind, id: string, object: Shape) =>
  z
    .strictObject({
      kind: z.literal(kind),
      at: timestamp.meta({ description: "By the book's clock." }),
      request_id: identity("request")
        .nullable()
        .meta({ description: "Of your system's request that did it; null when it was none." }),
      client_id: textOrNull(exampleClientId, "The key that signed the request; null when there was none."),
      object,
    })
    .meta({ id });

const stepSchema = z
  .discriminatedUnion("kind", [
    step("asked", "StepAsked", askedSchema),
    step("judged", "StepJudged", risk),
    step("routed", "StepRouted", routedSchema),
    step("called", "StepCalled", calledSchema),
    step(
      "instructed",
      "StepInstructed",
      z.record(z.string(), z.unknown()).meta({ id: "StoryInstructions", description: "How the payer pays." }),
    ),
    step("received", "StepReceived", receivedSchema),
    step("became", "StepBecame", becameSchema),
    step("journalled", "StepJournalled", journalSchema),
    step("told", "StepTold", toldSchema),
    step("refunded", "StepRefunded", refundedSchema),
    step("disputed", "StepDisputed", disputeSchema),
    step("answered", "StepAnswered", answeredSchema),
    step("resolved", "StepResolved", disputeSchema),
    step("settled", "StepSettled", settledSchema),
    step("paid_out", "StepPaidOut", settledSchema),
    step("returned", "StepReturned", settledSchema),
  ])
  .meta({ id: "StoryStep", description: "Something that happened; `object` is the raw object, by kind." });
export type Step = z.infer<typeof stepSchema>;
export type StepKind = Step["kind"];

export const storySchema = withExample(
  z.strictObject({
    payment: storyPaymentSchema,
    steps: z.array(stepSchema).meta({ description: "Oldest first." }),
    is_cut: z
      .boolean()
      .meta({ description: "True when more happened than is told: the first hundred of each kind are." }),
    withheld: z
      .array(z.string())
      .meta({ description: "Kinds of steps that your role does not show.", examples: [["journalled"]] }),
  }),
  { id: "PaymentStory", description: "A payment and what happened to it, step by step." },
  {
    steps: [
      {
        kind: "judged",
        at: exampleTimes.created,
        request_id: exampleIds.request,
        client_id: exampleClientId,
        object: { decision: "approve", score: 0 },
      },
    ],
    is_cut: false,
    withheld: [],
  },
);
export type Story = z.infer<typeof storySchema>;
