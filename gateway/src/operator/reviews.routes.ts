// Endpoints of reviews: the queue of payments under review, what fraud detection saw of a payment, and the decision.
import { z } from "zod";
import { judgeAcquirerReview } from "../acquiring/acquirer-review.ts";
import { wireTime } from "../ground/clock.ts";
import { Fault } from "../ground/fault.ts";
import { isId } from "../ground/ids.ts";
import { readable, wireAmount } from "../ground/money.ts";
import { type Reply, reply } from "../ground/reply.ts";
import { answering } from "../http/endpoint.ts";
import { exampleIds, exampleTimes } from "../http/examples.ts";
import { cursorOf, limitOf, page } from "../http/lists.ts";
import {
  count,
  currencyCode,
  environmentField,
  exampleOf,
  identity,
  listSchema,
  text,
  textOrNull,
  timestamp,
  withExample,
} from "../http/shapes.ts";
import type { Figures } from "../insights/figures.ts";
import type { Directory } from "../merchants/directory.ts";
import { paymentMethodSchema } from "../merchants/settings.ts";
import { exampleCustomer } from "../payments/payments.examples.ts";
import { type Payment, createdView } from "../payments/payment.ts";
import type { PayerData } from "../payments/payer-data.ts";
import type { PaymentParts } from "../payments/payments.ts";
import { amountMinor, createdPaymentSchema, customerSchema, paymentParams } from "../payments/payments.schema.ts";
import { paymentOfRow } from "../payments/payments.sql.ts";
import { approvePayment, isUnderReview, refusePayment } from "../payments/review.ts";
import type { Customer } from "../risk/risk.ts";
import type { Database } from "../store/database.ts";
import type { Command } from "../store/command.ts";
import { storyPaymentSchema } from "../story/story.schema.ts";
import { wholeView } from "../story/story.ts";
import type { Approvals } from "./approvals.ts";
import { type OperatorEndpoint, operatorEndpoint } from "./endpoint.ts";
import type { KeyedMoves } from "./keyed-moves.ts";
import { pageFieldsOf } from "./lists.ts";
import { type PaymentRecordParts, paymentRecordSchema, readPaymentRecord } from "./payment-record.ts";
import { findAnyPayment } from "./payments.routes.ts";
import { selectReviews } from "./reviews.sql.ts";
import { riskReasonSchema } from "./risk-seen.ts";
import { score } from "./shapes.ts";
import { decisionsField, totalsField, totalsOf } from "./waiting-items.routes.ts";

interface ReviewParts {
  database: Database;
  directory: Directory;
  moves: KeyedMoves;
  payments: PaymentParts;
  payers: PayerData;
  records: PaymentRecordParts;
  figures: Figures;
  approvals: Approvals;
}

const askedByField = z.enum(["fraud_detection", "acquirer"]).meta({
  description:
    "Who wants a person. `fraud_detection`: ours, before anybody may pay. `acquirer`: the fraud detection of the acquirer, which holds the payer's money.",
});
const decideBeforeField = timestamp.nullable().meta({
  description:
    "Without a decision by then the payment is refused. Null where an acquirer asks: it decides by itself, and does not say when.",
});

const reviewSchema = withExample(
  z.strictObject({
    reference: identity("payment"),
    merchant_id: identity("merchant"),
    environment: environmentField,
    amount_minor: amountMinor,
    currency: currencyCode,
    payment_method: paymentMethodSchema,
    reference_id: z.string().meta({ description: "The merchant's own identity of the order." }),
    customer: customerSchema.nullable().meta({ description: "Who pays, as far as the merchant knows." }),
    score,
    reasons: z.array(riskReasonSchema),
    created_at: timestamp,
    asked_by: askedByField,
    gateway_code: textOrNull("nusantara", "The acquirer that has the payment; null before one has."),
    decide_before: decideBeforeField,
  }),
  {
    id: "Review",
    description: "A payment that waits for a person's judgement.",
  },
  {
    amount_minor: 6_000_000_000,
    payment_method: "card",
    reference_id: "order-1042",
    customer: exampleCustomer,
    score: 75,
    reasons: [
      { sign: "large_amount", points: 30 },
      { sign: "disposable_email", points: 45 },
    ],
    decide_before: exampleTimes.disputed,
  },
);

const reviewsQuery = z.strictObject(pageFieldsOf("payment", "reference"));

const judgedSchema = storyPaymentSchema
  .extend(createdPaymentSchema.shape)
  .extend({ merchant_id: identity("merchant"), reasons: z.array(riskReasonSchema) })
  .meta({
    id: "JudgedPayment",
    description:
      "The whole payment after its review. `instructions` is null while an acquirer over a network is asked: its record has them then.",
    examples: [
      {
        ...exampleOf(storyPaymentSchema),
        ...exampleOf(createdPaymentSchema),
        merchant_id: exampleIds.merchant,
        reasons: [{ sign: "large_amount", points: 30 }],
      },
    ],
  });

const outcomes = ["succeeded", "rejected", "failed", "expired", "canceled"] as const;
const daySchema = z
  .strictObject({
    begins_at: timestamp.meta({ description: "Days are UTC's.", examples: [exampleTimes.dayBegins] }),
    succeeded: count(3, "Payments that were paid."),
    rejected: count(3, "Payments that fraud detection refused, or a person."),
    failed: count(3, "Payments that failed at an acquirer."),
    expired: count(3, "Payments that nobody paid."),
    canceled: count(3, "Payments that were canceled."),
  })
  .meta({ id: "MerchantDay", description: "Payments of a merchant that came to their end in one day." });

const reviewRecordSchema = withExample(
  paymentRecordSchema.extend({
    asked_by: askedByField,
    decide_before: decideBeforeField,
    book: totalsField,
    decisions: decisionsField,
    merchant_days: z.array(daySchema).meta({
      description: "The merchant's last seven days in this environment and currency, today last.",
    }),
  }),
  { id: "ReviewRecord", description: "A payment under review, with everything that helps to judge it." },
  {
    ...exampleOf(paymentRecordSchema),
    decide_before: exampleTimes.disputed,
    merchant_days: [
      { begins_at: exampleTimes.dayBegins, succeeded: 40, rejected: 1, failed: 0, expired: 3, canceled: 0 },
    ],
  },
);

const judgeSchema = z
  .strictObject({
    reason: text(1, 500).optional().meta({ description: "Why; it stands in the audit, for operators alone." }),
  })
  .meta({ id: "JudgePayment", examples: [{ reason: "The payer is known to the merchant" }] });

export function reviewEndpoints(parts: ReviewParts): OperatorEndpoint[] {
  return [queueEndpoint(parts), oneEndpoint(parts), judgeEndpoint(parts, "approve"), judgeEndpoint(parts, "refuse")];
}

function queueEndpoint({ database, payers }: ReviewParts): OperatorEndpoint {
  return operatorEndpoint({
    method: "GET",
    operationId: "listReviews",
    path: "/ops/v1/reviews",
    summary: "Payments that wait for a judgement, oldest first",
    tag: "Reviews",
    role: "viewer",
    query: reviewsQuery,
    success: { description: "A page of the queue.", schema: listSchema(reviewSchema, "ReviewList") },
    async handle({ query }) {
      const after = await cursorOf(query, (id) => findAnyPayment(database, id));
      const rows = await database.query(selectReviews(undefined, after, limitOf(query)));
      const reviewed = await Promise.all(
        rows.map(paymentOfRow).map(async (payment) => ({ payment, customer: await payers.open(payment) })),
      );
      return page(reviewed, query, reviewView, ({ payment }) => payment.reference);
    },
  });
}

function oneEndpoint({ database, records, figures, approvals }: ReviewParts): OperatorEndpoint {
  return operatorEndpoint({
    method: "GET",
    operationId: "getReview",
    path: "/ops/v1/reviews/{reference}",
    params: paymentParams,
    summary:
      "Read a payment under review: what fraud detection saw, its record, its book, and its merchant's last days",
    tag: "Reviews",
    role: "viewer",
    success: { description: "What there is to judge by.", schema: reviewRecordSchema },
    errors: ["PAYMENT_NOT_FOUND"],
    async handle(call) {
      const payment = await findReviewed(database, call.params.reference ?? "");
      const { book, reference, currency } = payment;
      const [record, series, totals, decision] = await Promise.all([
        readPaymentRecord(records, reference),
        figures.series(book, { range: "week", by: "outcome", currency, timeZone: "UTC" }),
        totalsOf(database, book, currency),
        approvals.foresee("approvePayment", { params: { reference } }, call),
      ]);
      const days = series.begins.map((begins, day) => ({
        begins_at: wireTime(begins),
        ...Object.fromEntries(outcomes.map((name) => [name, Number(series.counts.get(name)?.[day]?.payments ?? 0n)])),
      }));
      return reply(200, {
        ...record,
        ...askingOf(payment),
        book: totals,
        decisions: [decision],
        merchant_days: days,
      });
    },
  });
}

const amountOf = ({ amountMinor, currency }: Payment): string => `${currency} ${readable(amountMinor, currency)}`;

/** What an operator approves who answers an acquirer's question. */
const taking = (payment: Payment): string =>
  `Take the ${amountOf(payment)} of ${payment.reference}, which ${payment.gatewayCode} questions`;

function judgeEndpoint(parts: ReviewParts, word: "approve" | "refuse"): OperatorEndpoint {
  return operatorEndpoint({
    method: "POST",
    operationId: `${word}Payment`,
    path: `/ops/v1/reviews/{reference}/${word}`,
    params: paymentParams,
    summary: word === "approve" ? "Let a payment under review go on" : "Refuse a payment under review",
    description:
      "Where an acquirer asks, it is told right after, and its own word decides: the answer shows the payment as it is until then.",
    tag: "Reviews",
    role: "support",
    body: judgeSchema,
    success: { description: "The whole payment after it.", schema: judgedSchema },
    errors: ["PAYMENT_NOT_FOUND", "PAYMENT_NOT_PAYABLE", "NO_ROUTE_AVAILABLE"],
    ...(word === "approve"
      ? {
          approval: {
            action: "approve_review",
            async foresee({ params }) {
              const payment = await findReviewed(parts.database, params.reference ?? "");
              const { book, reference, amountMinor, currency, risk } = payment;
              return {
                summary: isUnderReview(payment)
                  ? `Let ${reference} go on, of ${amountOf(payment)} and risk score ${risk.score}: its payer may pay`
                  : taking(payment),
                book,
                paymentReference: reference,
                amount: { amountMinor, currency },
              };
            },
          },
        }
      : {}),
    async handle(call) {
      // A repeated key must also find a payment that is no longer under review, since its answer is stored under the key.
      const find = call.keyed ? findAnyPayment : findReviewed;
      const found = await find(parts.database, call.params.reference ?? "");
      const merchant = found && (await parts.directory.merchant(found.book.merchantId));
      if (!found || !merchant) throw new Fault("PAYMENT_NOT_FOUND");
      const { book, reference } = found;
      const view = (judged: Payment, customer: Customer | undefined): Reply =>
        reply(200, {
          ...wholeView({ payment: judged, customer }, null, 0n), // not paid yet, so in no settlement and with nothing to refund
          ...createdView(judged, parts.payments.payUrl(book, reference)),
          reasons: judged.risk.reasons,
          merchant_id: book.merchantId,
        });
      const owner = { merchant, book };
      const reviewed: Command<Payment> =
        word === "approve" ? approvePayment(parts.payments, owner, reference) : refusePayment(owner, reference);
      // Our fraud detection questions pending payments only, an acquirer later ones only. An approval is of its question in these very words alone.
      const isOurs = call.approved ? call.approved.summary !== taking(found) : found.status === "pending";
      const judging = isOurs ? reviewed : judgeAcquirerReview(owner, reference, word);
      let judged: Payment | undefined;
      // The answer stored under the key contains no data of the payer.
      const kept = answering(judging, (payment) => view((judged = payment), undefined));
      const answer = await parts.moves.move(book, call, kept);
      return judged && !call.keyed ? view(judged, await parts.payers.open(judged)) : answer;
    },
  });
}

async function findReviewed(database: Database, reference: string): Promise<Payment> {
  const of = selectReviews(reference, undefined, 1);
  const payment = isId("payment", reference) ? await database.first(of, paymentOfRow) : undefined;
  if (!payment) throw new Fault("PAYMENT_NOT_FOUND", { message: "No such payment is under review." });
  return payment;
}

interface Reviewed {
  payment: Payment;
  customer: Customer | undefined;
}

function reviewView({ payment, customer }: Reviewed): z.infer<typeof reviewSchema> {
  return {
    reference: payment.reference,
    merchant_id: payment.book.merchantId,
    environment: payment.book.environment,
    amount_minor: wireAmount(payment.amountMinor),
    currency: payment.currency,
    payment_method: payment.method,
    reference_id: payment.referenceId,
    customer: customer ? { ...customer } : null,
    score: payment.risk.score,
    reasons: payment.risk.reasons,
    created_at: wireTime(payment.createdAt),
    gateway_code: payment.gatewayCode ?? null,
    ...askingOf(payment),
  };
}

/** Who questions the payment, and the deadline of the decision. */
function askingOf(payment: Payment): Pick<z.infer<typeof reviewSchema>, "asked_by" | "decide_before"> {
  return isUnderReview(payment)
    ? { asked_by: "fraud_detection", decide_before: wireTime(payment.expiresAt) }
    : { asked_by: "acquirer", decide_before: null };
}
