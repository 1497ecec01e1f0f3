// Items of the work queues, each with everything that a decision needs: unapplied receipts, reconciliation exceptions, disputes, settlement batches.
import { z } from "zod";
import type { ReconciliationException } from "../acquiring/exception.ts";
import { receiptOfRow, selectReceipt } from "../acquiring/receipts.sql.ts";
import { currencyTotalsSchema, readBook } from "../balances/book.ts";
import { disputeView, outcomes } from "../disputes/dispute.ts";
import { readDispute } from "../disputes/disputes.routes.ts";
import { disputeParams, disputeSchema } from "../disputes/disputes.schema.ts";
import { evidenceView, keptEvidenceSchema, readEvidence } from "../disputes/evidence.ts";
import { Fault } from "../ground/fault.ts";
import { isId } from "../ground/ids.ts";
import { reply } from "../ground/reply.ts";
import { exampleOf, identity, withExample } from "../http/shapes.ts";
import type { Book } from "../merchants/books.ts";
import type { Directory } from "../merchants/directory.ts";
import { readSettlement } from "../settlements/settlements.routes.ts";
import { settlementParams } from "../settlements/settlements.schema.ts";
import type { Database } from "../store/database.ts";
import { outlookSchema } from "./approvals.schema.ts";
import type { Approvals } from "./approvals.ts";
import { OF_BOOK, findBook } from "./books.ts";
import { type OperatorEndpoint, operatorEndpoint } from "./endpoint.ts";
import { bookParams, exceptionParams, receiptParams } from "./params.ts";
import { type PaymentRecordParts, paymentRecordSchema, readPaymentRecord } from "./payment-record.ts";
import { findAnyPayment } from "./payments.routes.ts";
import { candidateSchema, findCandidates } from "./receipt-candidates.ts";
import { receiptSchema, receiptView } from "./receipts.routes.ts";
import { anyRefundOfRow, selectRefunds } from "./refunds.sql.ts";
import { exceptionSchema, exceptionView, readException } from "./reconciliation-exceptions.routes.ts";
import { payoutView } from "./settlement-calendar.routes.ts";
import { payoutSchema } from "./settlement-calendar.schema.ts";

interface WaitingItemParts {
  database: Database;
  directory: Directory;
  records: PaymentRecordParts;
  approvals: Approvals;
}

export const totalsField = currencyTotalsSchema.meta({
  id: "BookNow",
  description: "Every account of the book in the currency, as of now.",
});
export const decisionsField = z
  .array(outlookSchema)
  .meta({ description: "What can be decided, and what that would do." });
const story = { record: paymentRecordSchema, book: totalsField };
const receiptRecordSchema = withExample(
  z.strictObject({
    receipt: receiptSchema,
    candidates: z.array(candidateSchema).meta({ description: "What it may have been meant for, the likeliest first." }),
    ...story,
    decisions: decisionsField,
  }),
  {
    id: "ReceiptRecord",
    description: "Money that no payment awaited, with all that a decision needs.",
  },
  { decisions: [exampleOf(outlookSchema)] },
);

const exceptionRecordSchema = withExample(z.strictObject({ exception: exceptionSchema, ...story }), {
  id: "ExceptionRecord",
  description: "Where two records disagree, with the payment and everything that happened to it.",
});

const disputeRecordSchema = withExample(
  z.strictObject({
    dispute: disputeSchema,
    merchant_id: identity("merchant"),
    evidence: keptEvidenceSchema.nullable().meta({ description: "Null while the merchant has said nothing." }),
    ...story,
    decisions: decisionsField,
  }),
  {
    id: "DisputeRecord",
    description: "A dispute with its evidence, the payment's story and what each outcome would do.",
  },
  { evidence: exampleOf(keptEvidenceSchema) },
);

const settlementRecordSchema = withExample(
  z.strictObject({
    settlement: payoutSchema,
    book: totalsField,
    decisions: decisionsField,
  }),
  {
    id: "SettlementRecord",
    description: "A batch with its book, and what recording the bank's answer would do.",
  },
);

/** The totals of a book's accounts in one currency. Throws WALLET_NOT_FOUND. */
export async function totalsOf(
  database: Database,
  book: Book,
  currency: string,
): Promise<z.infer<typeof currencyTotalsSchema>> {
  const { currencies } = await readBook(database, book, [currency]);
  const [found] = currencies.filter((one) => one.currency === currency);
  if (!found) throw new Fault("WALLET_NOT_FOUND");
  return found;
}

export function waitingItemEndpoints(parts: WaitingItemParts): OperatorEndpoint[] {
  return [receiptEndpoint(parts), exceptionEndpoint(parts), disputeEndpoint(parts), settlementEndpoint(parts)];
}

function receiptEndpoint({ database, records, approvals }: WaitingItemParts): OperatorEndpoint {
  return operatorEndpoint({
    method: "GET",
    operationId: "getReceipt",
    path: "/ops/v1/receipts/{uuid}",
    params: receiptParams,
    summary: "Read money that waits for a decision: what it may have been meant for, and what each decision would do",
    tag: "Receipts",
    role: "viewer",
    success: { description: "What there is to decide by.", schema: receiptRecordSchema },
    async handle(call) {
      const { uuid = "" } = call.params;
      const receipt = isId("receipt", uuid) ? await database.first(selectReceipt(uuid), receiptOfRow) : undefined;
      if (receipt?.status !== "unapplied")
        throw new Fault("OBJECT_NOT_FOUND", { message: "No such money waits for a decision." });
      const { book, currency, paymentReference } = receipt;
      const named = await findAnyPayment(database, paymentReference);
      if (!named) throw new Fault("OBJECT_NOT_FOUND");
      const [record, candidates, totals, ...decisions] = await Promise.all([
        readPaymentRecord(records, paymentReference),
        findCandidates(database, receipt, named),
        totalsOf(database, book, currency),
        ...["creditReceipt", "returnReceipt"].map((word) => approvals.foresee(word, { params: { uuid } }, call)),
      ]);
      return reply(200, { receipt: receiptView(receipt), candidates, record, book: totals, decisions });
    },
  });
}

function exceptionEndpoint({ database, records }: WaitingItemParts): OperatorEndpoint {
  return operatorEndpoint({
    method: "GET",
    operationId: "getReconciliationException",
    path: "/ops/v1/reconciliation-exceptions/{uuid}",
    params: exceptionParams,
    summary: "Read where two records disagree, with the payment and everything that happened to it",
    tag: "Acquirers",
    role: "viewer",
    success: { description: "What there is to judge by.", schema: exceptionRecordSchema },
    async handle({ params: { uuid = "" } }) {
      const exception = await readException(database, uuid);
      const payment = exception && (await findAnyPayment(database, await referenceOf(database, exception)));
      if (!exception || !payment) throw new Fault("OBJECT_NOT_FOUND", { message: "No such reconciliation exception." });
      const { book, currency, reference } = payment;
      const [record, totals] = await Promise.all([
        readPaymentRecord(records, reference),
        totalsOf(database, book, currency),
      ]);
      return reply(200, { exception: exceptionView(exception), record, book: totals });
    },
  });
}

/** The reference of the payment that a reconciliation exception is about, directly or through a refund. */
async function referenceOf(database: Database, exception: ReconciliationException): Promise<string> {
  const { operationId: uuid, operationKind } = exception;
  if (operationKind === "payment") return uuid;
  const found = await database.first(selectRefunds({ uuid }, 1), anyRefundOfRow);
  return found?.refund.paymentReference ?? "";
}

function disputeEndpoint({ database, directory, records, approvals }: WaitingItemParts): OperatorEndpoint {
  return operatorEndpoint({
    method: "GET",
    operationId: "getDisputeRecord",
    path: `${OF_BOOK}/disputes/{uuid}`,
    params: { ...bookParams, ...disputeParams },
    summary: "Read a dispute with its evidence, the payment's story and what each outcome would do",
    tag: "Disputes",
    role: "viewer",
    success: { description: "What there is to decide by.", schema: disputeRecordSchema },
    async handle(call) {
      const { params } = call;
      const { book } = await findBook(directory, params);
      const dispute = await readDispute(database, book.merchantId, params.uuid);
      if (dispute?.book.environment !== book.environment)
        throw new Fault("OBJECT_NOT_FOUND", { message: "No such dispute." });
      const [record, evidence, totals, ...decisions] = await Promise.all([
        readPaymentRecord(records, dispute.paymentReference),
        readEvidence(database, book, dispute.uuid),
        totalsOf(database, book, dispute.currency),
        ...outcomes.map((outcome) => approvals.foresee("decideDispute", { params, body: { outcome } }, call)),
      ]);
      return reply(200, {
        dispute: disputeView(dispute),
        merchant_id: book.merchantId,
        evidence: evidence ? evidenceView(evidence) : null,
        record,
        book: totals,
        decisions,
      });
    },
  });
}

function settlementEndpoint({ database, directory, approvals }: WaitingItemParts): OperatorEndpoint {
  return operatorEndpoint({
    method: "GET",
    operationId: "getSettlementRecord",
    path: `${OF_BOOK}/settlements/{uuid}/record`,
    params: { ...bookParams, ...settlementParams },
    summary: "Read a batch with its book, and what recording the bank's answer would do",
    tag: "Settlements",
    role: "viewer",
    success: { description: "What there is to record by.", schema: settlementRecordSchema },
    async handle(call) {
      const { params } = call;
      const { book, merchant } = await findBook(directory, params);
      const settlement = await readSettlement(database, book.merchantId, params.uuid);
      if (settlement?.book.environment !== book.environment)
        throw new Fault("OBJECT_NOT_FOUND", { message: "No such settlement." });
      // A placeholder: the operator gives the bank's reference only when recording the payout, and the effects on the book do not depend on it.
      const pay = { params, body: { bank_reference: "-" } };
      const [totals, ...decisions] = await Promise.all([
        totalsOf(database, book, settlement.currency),
        approvals.foresee("recordSettlementPaid", pay, call),
        approvals.foresee("recordSettlementReturned", { params }, call),
      ]);
      return reply(200, {
        settlement: payoutView({ ...settlement, merchantName: merchant.name }),
        book: totals,
        decisions,
      });
    },
  });
}
