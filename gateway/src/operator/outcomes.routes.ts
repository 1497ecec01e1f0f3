// Endpoints of outcomes that an operator records: of a refund or a payment that its acquirer leaves open, since it is gone or never says.
import { z } from "zod";
import { operationOfRow, selectOperation } from "../acquiring/operations.sql.ts";
import type { KeptReceipt } from "../acquiring/receipt.ts";
import { receiptOfRow } from "../acquiring/receipts.sql.ts";
import type { OpeningParts } from "../acquiring/opening.ts";
import type { Operation } from "../acquiring/operation.ts";
import { refuseOther } from "../acquiring/receipts.ts";
import { recordPaymentOutcome, recordRefundOutcome, refuseUnlessLeftOpen } from "../acquiring/recorded-outcomes.ts";
import { isDisputed } from "../acquiring/unrequested-movements.ts";
import type { BookOwner } from "../commands/command-context.ts";
import type { Clock } from "../ground/clock.ts";
import { Fault, assert } from "../ground/fault.ts";
import { readable } from "../ground/money.ts";
import { reply } from "../ground/reply.ts";
import { answering } from "../http/endpoint.ts";
import { exampleIds } from "../http/examples.ts";
import { exampleOf, identity, text, withExample } from "../http/shapes.ts";
import { capturePostings, refundReturnPostings, unappliedPostings } from "../ledger/journal.ts";
import type { Book } from "../merchants/books.ts";
import type { Directory } from "../merchants/directory.ts";
import type { Payment } from "../payments/payment.ts";
import { paymentParams } from "../payments/payments.schema.ts";
import { isPaid } from "../payments/states.ts";
import { type RefundOfOrder, refundView } from "../refunds/refund.ts";
import { refundParams, refundStatusSchema } from "../refunds/refunds.schema.ts";
import type { Database } from "../store/database.ts";
import { selectReceiptsOf } from "../story/story.sql.ts";
import type { Foreseen } from "./approval.ts";
import { outlookSchema } from "./approvals.schema.ts";
import type { Approvals } from "./approvals.ts";
import { type OperatorEndpoint, operatorEndpoint } from "./endpoint.ts";
import type { KeyedMoves } from "./keyed-moves.ts";
import { paymentSummarySchema, summaryView } from "./payments.schema.ts";
import { findAnyPayment } from "./payments.routes.ts";
import { requiredRefund } from "./refunds.routes.ts";
import { decisionsField } from "./waiting-items.routes.ts";

interface OutcomeParts extends Pick<OpeningParts, "createdReply"> {
  database: Database;
  directory: Directory;
  moves: KeyedMoves;
  clock: Clock;
  approvals: Approvals;
}

const outcomes = ["succeeded", "failed"] as const;
const recorded = {
  outcome: z.enum(outcomes).meta({ description: "What became of it." }),
  proof: text(1, 500).meta({
    description: "What shows it, such as the acquirer's letter or a line of its statement; it stands in the audit.",
    examples: ["Nusantara's letter of 20 November, no. 118"],
  }),
};
const transactionId = z
  .string()
  .regex(/^[!-~]{1,64}$/, "must be 1 to 64 printable characters without spaces")
  .optional()
  .meta({
    description: "The acquirer's identity of the payer's money; needed with `succeeded`, and only then.",
    examples: ["NQR-20261122-000418"],
  });
const refundOutcomeSchema = withExample(z.strictObject(recorded), { id: "RecordRefundOutcome" });
const paymentOutcomeSchema = withExample(
  z
    .strictObject({ ...recorded, transaction_id: transactionId })
    .refine(({ outcome, transaction_id: id }) => (outcome === "succeeded") === (id !== undefined), {
      path: ["transaction_id"],
      message: "`succeeded` needs it, and `failed` has none",
    }),
  { id: "RecordPaymentOutcome" },
);
const recordedRefundSchema = refundStatusSchema.extend({ merchant_id: identity("merchant") }).meta({
  id: "RecordedRefund",
  description: "The refund, and whose payment it was.",
  examples: [{ ...exampleOf(refundStatusSchema), merchant_id: exampleIds.merchant }],
});
const decisionsSchema = withExample(
  z.strictObject({ decisions: decisionsField }),
  { id: "OutcomeDecisions", description: "What can be recorded, and what that would do." },
  { decisions: [exampleOf(outlookSchema)] },
);

const description =
  "For an acquirer that is gone, or that says the outcome in a letter and never in an answer: a day after the order, while it is being asked. " +
  "What it says later is held against the record.";

export function outcomeEndpoints(parts: OutcomeParts): OperatorEndpoint[] {
  const recording = [refundOutcome(parts), paymentOutcome(parts)];
  return [...recording, ...recording.map((one) => outlook(parts.approvals, one))];
}

function refundOutcome(parts: OutcomeParts): OperatorEndpoint {
  const { database, moves, clock } = parts;
  return operatorEndpoint<z.infer<typeof refundOutcomeSchema>, unknown>({
    method: "POST",
    operationId: "recordRefundOutcome",
    path: "/ops/v1/refunds/{uuid}/outcome",
    params: refundParams,
    summary: "Record what became of a refund that its acquirer leaves pending",
    description,
    tag: "Refunds",
    role: "admin",
    body: refundOutcomeSchema,
    success: { description: "The refund after it.", schema: recordedRefundSchema },
    errors: ["REFUND_NOT_FOUND", "PAYMENT_NOT_PAYABLE"],
    approval: {
      action: "record_outcome",
      async foresee({ params, body: { outcome } }) {
        const { refund, gatewayCode } = await requiredRefund(database, params.uuid);
        const { book, uuid, paymentReference, amountMinor, currency } = refund;
        const operation = await database.first(selectOperation(book, uuid), operationOfRow);
        refuseUnlessLeftOpen(refund.status, operation, clock.now());
        const what = `the refund ${uuid} of ${currency} ${readable(amountMinor, currency)}`;
        const made = outcome === "succeeded" ? `made ${what}` : `never made ${what}: the merchant gets the money back`;
        return {
          summary: `Record that ${gatewayCode} ${made}`,
          book,
          paymentReference,
          amount: { amountMinor, currency },
          postings: outcome === "succeeded" ? [] : refundReturnPostings(gatewayCode, refund),
        };
      },
    },
    async handle(call) {
      const { refund } = await requiredRefund(database, call.params.uuid);
      const { book } = refund;
      const command = recordRefundOutcome(await ownerOf(parts, book), refund, call.body.outcome);
      const view = (done: RefundOfOrder) => reply(200, { ...refundView(done), merchant_id: book.merchantId });
      return moves.move(book, call, answering(command, view));
    },
  });
}

function paymentOutcome(parts: OutcomeParts): OperatorEndpoint {
  const { database, moves, clock } = parts;
  const find = async (reference = ""): Promise<{ payment: Payment; asked: Operation }> => {
    const payment = await findAnyPayment(database, reference);
    if (!payment) throw new Fault("PAYMENT_NOT_FOUND");
    const asked = await database.first(selectOperation(payment.book, reference), operationOfRow);
    refuseUnlessLeftOpen(payment.status, asked, clock.now());
    return { payment, asked };
  };
  return operatorEndpoint<z.infer<typeof paymentOutcomeSchema>, unknown>({
    method: "POST",
    operationId: "recordPaymentOutcome",
    path: "/ops/v1/payments/{reference}/outcome",
    params: paymentParams,
    summary: "Record what became of a payment that its acquirer leaves open",
    description: `${description} A payment that is over or paid stays so. What one that is over was paid is an unapplied receipt, once; money that is here, and not there, is a reconciliation exception.`,
    tag: "Payments",
    role: "admin",
    body: paymentOutcomeSchema,
    success: { description: "The payment after it.", schema: paymentSummarySchema },
    errors: ["PAYMENT_NOT_FOUND", "PAYMENT_NOT_PAYABLE"],
    approval: {
      action: "record_outcome",
      async foresee({ params, body: { outcome, transaction_id: id } }) {
        const { payment, asked } = await find(params.reference);
        const { book, reference } = payment;
        const rows = await database.query(selectReceiptsOf(book, reference));
        const receipts = rows.map(receiptOfRow).filter((one) => one.gatewayCode === asked.gatewayCode);
        const doubt = { payment, gatewayCode: asked.gatewayCode, receipts };
        const effects = outcome === "succeeded" ? foreseeTaken(doubt, id) : foreseeGone(doubt);
        return { book, paymentReference: reference, ...effects };
      },
    },
    async handle(call) {
      const { payment, asked } = await find(call.params.reference);
      const owner = await ownerOf(parts, payment.book);
      const command = recordPaymentOutcome(parts, owner, payment, asked, call.body.transaction_id);
      const answered = answering(command, (done) => reply(200, summaryView(done, owner.merchant.name)));
      return moves.move(payment.book, call, answered);
    },
  });
}

/** A payment in doubt, and what its acquirer is known to have taken for it beside what paid it. */
interface Doubt {
  payment: Payment;
  gatewayCode: string;
  receipts: readonly KeptReceipt[];
}

type Effects = Pick<Foreseen, "summary" | "amount" | "postings">;

/** Of the record that the acquirer took the money, by this transaction. Throws VALIDATION_ERROR for one that cannot be the payment's. */
function foreseeTaken({ payment, gatewayCode, receipts }: Doubt, id: string | undefined): Effects {
  const { reference, status } = payment;
  const own = receipts.find(({ transactionId: one }) => one === id);
  if (id !== undefined) refuseOther(payment, own, id);
  const { amountMinor, currency } = own ?? payment;
  const taken = `Record that ${gatewayCode} took the ${currency} ${readable(amountMinor, currency)} of ${reference}`;
  const amount = { amountMinor, currency };
  if (isPaid(status) || own)
    return { summary: `${taken}, which the book has: it stays ${status}`, amount, postings: [] };
  if (status === "processing")
    return { summary: taken, amount, postings: capturePostings({ ...payment, gatewayCode }) };
  const others = receipts.map(({ transactionId: one }) => one).join(", ");
  const summary = `${taken}, which is ${status}: late money${others && `, beside that of ${others}`}`;
  return { summary, amount, postings: unappliedPostings(gatewayCode, payment) };
}

/** Of the record that the acquirer has no money: money that is here, and that no dispute explains, is then a disagreement. */
function foreseeGone({ payment, gatewayCode, receipts }: Doubt): Effects {
  const { reference, status, amountMinor, currency } = payment;
  const isHeld = receipts.some(({ status: kept }) => kept === "unapplied" || kept === "credited");
  const disagrees = (isHeld || (isPaid(status) && status !== "refunded")) && !isDisputed(payment, true);
  const was = receipts.length > 0 || isPaid(status);
  const none = `took nothing for ${reference} of ${currency} ${readable(amountMinor, currency)}`;
  const after = `${status === "processing" ? "it fails" : `it stays ${status}`}${disagrees ? ", and a disagreement waits" : ""}`;
  const summary = `Record that ${gatewayCode} ${was ? `has no money of ${reference} any more` : none}: ${after}`;
  return { summary, amount: { amountMinor, currency }, postings: [] };
}

async function ownerOf({ directory }: OutcomeParts, book: Book): Promise<BookOwner> {
  const merchant = await directory.merchant(book.merchantId);
  assert(merchant, `${book.merchantId} is not there`);
  return { merchant, book };
}

/** What recording each outcome by this endpoint would do. */
function outlook(approvals: Approvals, { operationId, path, params = {}, tag }: OperatorEndpoint): OperatorEndpoint {
  return operatorEndpoint({
    method: "GET",
    operationId: operationId.replace("record", "foresee"),
    path,
    params,
    summary: `What recording the outcome of a ${tag.slice(0, -1).toLowerCase()} would do, or why it cannot be recorded`,
    tag,
    role: "viewer",
    success: { description: "What can be recorded.", schema: decisionsSchema },
    async handle(call) {
      const decisions = outcomes.map((outcome) =>
        // A placeholder: the operator gives the proof only when recording, and the effects on the book do not depend on it.
        approvals.foresee(operationId, { params: call.params, body: { outcome, proof: "-" } }, call),
      );
      return reply(200, { decisions: await Promise.all(decisions) });
    },
  });
}
