// Endpoints of disputes for operators: recording a dispute, answering it for the merchant, reading it and deciding it.
import { z } from "zod";
import { type Dispute, type Evidence, disputeTransitions, disputeView } from "../disputes/dispute.ts";
import { listDisputes, readDispute } from "../disputes/disputes.routes.ts";
import {
  disputeListSchema,
  disputeParams,
  disputeSchema,
  disputesQuerySchema,
  openDisputeErrors,
  openDisputeSchema,
  resolveDisputeSchema,
} from "../disputes/disputes.schema.ts";
import { contestedMinor, moveEvidenceDue, openDispute, resolveDispute, submitEvidence } from "../disputes/disputes.ts";
import {
  attachmentOf,
  downloadedFileSchema,
  evidenceSchema,
  evidenceView,
  fileByNumber,
  keptEvidenceSchema,
  readEvidence,
} from "../disputes/evidence.ts";
import { readPieces } from "../disputes/evidence-files.ts";
import { parseWireTime } from "../ground/clock.ts";
import { Downloads } from "../ground/downloads.ts";
import { Fault, validationFault } from "../ground/fault.ts";
import { readable, wireAmount } from "../ground/money.ts";
import { reply } from "../ground/reply.ts";
import { answering } from "../http/endpoint.ts";
import { exampleIds, exampleTimes } from "../http/examples.ts";
import { identity } from "../http/shapes.ts";
import { type Posting, holdPostings, lossPostings, releasePostings } from "../ledger/journal.ts";
import type { Directory } from "../merchants/directory.ts";
import { type DisputeStatus, isRunning } from "../payments/payment.ts";
import type { Database } from "../store/database.ts";
import type { Lanes } from "../store/lanes.ts";
import { OF_BOOK, findBook } from "./books.ts";
import { type OperatorEndpoint, operatorEndpoint } from "./endpoint.ts";
import type { KeyedMoves } from "./keyed-moves.ts";
import { bookParams, fileNumber } from "./params.ts";
import { findAnyPayment, refuseBeyond } from "./payments.routes.ts";

interface OperatorDisputeParts {
  database: Database;
  directory: Directory;
  lanes: Lanes;
  moves: KeyedMoves;
}

const openSchema = openDisputeSchema
  .extend({ payment_reference: identity("payment").meta({ description: "The payment that is contested." }) })
  .meta({
    id: "RecordDispute",
    examples: [{ payment_reference: exampleIds.payment, reason: "product_not_received" }],
  });
const deadlineSchema = z
  .strictObject({
    evidence_due_at: z
      .string()
      .max(40)
      .meta({
        description: "A timestamp, later than the present one, and at most a year ahead in the book's time.",
        format: "date-time",
        pattern: "^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\dZ$",
        examples: [exampleTimes.evidenceDue],
      }),
  })
  .meta({ id: "MoveDeadline", examples: [{ evidence_due_at: exampleTimes.evidenceDue }] });

export function operatorDisputeEndpoints(parts: OperatorDisputeParts): OperatorEndpoint[] {
  return [...decisionEndpoints(parts), ...evidenceEndpoints(parts)];
}

/** How a decision begins to say what it is about: an answer that comes after the question is not what was asked about. */
const decision = (status: DisputeStatus): string =>
  `Decide the ${status === "under_review" ? "answered" : "unanswered"}`;

function decisionEndpoints({ database, directory, lanes, moves }: OperatorDisputeParts): OperatorEndpoint[] {
  /** The book and the dispute of a path. The key has the payment only where the dispute is of that book. */
  const find = async (params: Readonly<Record<string, string>>) => {
    const { book, merchant } = await findBook(directory, params);
    const { uuid = "" } = params;
    const dispute = await readDispute(database, book.merchantId, uuid);
    const paymentReference = dispute?.book.environment === book.environment ? dispute.paymentReference : undefined;
    return { owner: { merchant, book }, dispute, key: { uuid, paymentReference } };
  };
  const ofBook = { path: `${OF_BOOK}/disputes`, params: bookParams, tag: "Disputes" } as const;
  const shared = {
    method: "POST",
    params: { ...bookParams, ...disputeParams },
    tag: "Disputes",
    errors: ["OBJECT_NOT_FOUND", "DISPUTE_RESOLVED"],
  } as const;
  return [
    operatorEndpoint({
      ...ofBook,
      method: "GET",
      operationId: "listMerchantDisputes",
      summary: "List a merchant's disputes, newest first",
      role: "viewer",
      query: disputesQuerySchema,
      success: { description: "A page of disputes.", schema: disputeListSchema },
      handle: async ({ params, query }) => listDisputes(database, (await findBook(directory, params)).book, query),
    }),
    operatorEndpoint({
      ...ofBook,
      method: "POST",
      operationId: "recordDispute",
      summary: "Record that a payment is contested; the amount is held",
      role: "admin",
      body: openSchema,
      success: { status: 201, description: "The dispute.", schema: disputeSchema },
      errors: ["OBJECT_NOT_FOUND", "ENVIRONMENT_MISMATCH", ...openDisputeErrors],
      // What nobody answers is lost: whoever records a dispute may decide it by waiting.
      approval: {
        action: "resolve_dispute",
        async foresee({ params, body }) {
          const { book } = await findBook(directory, params);
          const payment = await findAnyPayment(database, body.payment_reference);
          if (payment?.book.merchantId !== book.merchantId) throw new Fault("PAYMENT_NOT_FOUND");
          if (payment.book.environment !== book.environment) throw new Fault("ENVIRONMENT_MISMATCH");
          const amountMinor = contestedMinor(payment, body);
          const { reference, currency } = payment;
          return {
            summary: `Record that ${currency} ${readable(amountMinor, currency)} of ${reference} are contested (${body.reason}): they are held, and go back to the payer unless it is answered`,
            book,
            paymentReference: reference,
            amount: { amountMinor, currency },
            postings: holdPostings({ currency, amountMinor }),
          };
        },
      },
      async handle(call) {
        const { book, merchant } = await findBook(directory, call.params);
        const { amountMinor } = call.approved ?? {};
        const part = amountMinor === undefined ? call.body.amount_minor : wireAmount(amountMinor);
        const asked = { reason: call.body.reason, amount_minor: part };
        const command = openDispute({ merchant, book }, call.body.payment_reference, asked);
        const answered = answering(command, (dispute) => {
          refuseBeyond(call.freeUpToMinor, dispute.amountMinor);
          return reply(201, disputeView(dispute));
        });
        return moves.move(book, call, answered);
      },
    }),
    operatorEndpoint({
      ...shared,
      operationId: "decideDispute",
      path: `${OF_BOOK}/disputes/{uuid}/resolve`,
      summary: "Decide a dispute",
      role: "admin",
      body: resolveDisputeSchema,
      success: { description: "The dispute after it.", schema: disputeSchema },
      approval: {
        action: "resolve_dispute",
        async foresee({ params, body: { outcome } }) {
          const { owner, key, dispute } = await find(params);
          // As when it runs: a dispute of the other book is not found.
          if (!dispute || !key.paymentReference) throw new Fault("OBJECT_NOT_FOUND", { message: "No such dispute." });
          if (!disputeTransitions[dispute.status].includes(outcome))
            throw new Fault("DISPUTE_RESOLVED", { details: { status: dispute.status } });
          const { amountMinor, currency, paymentReference, status } = dispute;
          return {
            summary: `${decision(status)} dispute of ${paymentReference} as ${outcome}: ${currency} ${readable(amountMinor, currency)} ${
              outcome === "lost" ? "go back to the payer" : "are free for the merchant again"
            }`,
            book: owner.book,
            paymentReference,
            amount: { amountMinor, currency },
            postings: await postingsOf(database, dispute, outcome),
          };
        },
      },
      async handle(call) {
        const { owner, key, dispute } = await find(call.params);
        const { approved } = call;
        if (approved && dispute && isRunning(dispute.status) && !approved.summary.startsWith(decision(dispute.status)))
          throw new Fault("APPROVAL_CLOSED", { message: "It was answered after that was asked. Ask again." });
        // Nor is what is answered from now on what was read.
        const command = resolveDispute(owner, key, call.body.outcome, dispute?.status);
        const answered = answering(command, (decided) => reply(200, disputeView(decided)));
        return moves.move(owner.book, call, answered);
      },
    }),
    operatorEndpoint({
      ...shared,
      operationId: "moveDisputeDeadline",
      path: `${OF_BOOK}/disputes/{uuid}/deadline`,
      summary: "Give the merchant more time for evidence",
      role: "admin",
      body: deadlineSchema,
      success: { description: "The dispute after it.", schema: disputeSchema },
      async handle({ params, body: { evidence_due_at: text } }) {
        const { owner, key } = await find(params);
        const due = parseWireTime(text);
        if (!due || due.wholeDay)
          throw validationFault("evidence_due_at", text, "must be a timestamp such as 2026-11-21T12:00:00Z");
        return reply(200, disputeView(await lanes.move(owner.book.merchantId, moveEvidenceDue(owner, key, due.at))));
      },
    }),
    operatorEndpoint({
      ...shared,
      operationId: "submitEvidence",
      path: `${OF_BOOK}/disputes/{uuid}/evidence`,
      summary: "Submit the merchant's evidence, once",
      role: "support",
      body: evidenceSchema,
      success: { description: "The dispute, under review.", schema: disputeSchema },
      async handle({ params, body }) {
        const { owner, key } = await find(params);
        return reply(200, disputeView(await lanes.move(owner.book.merchantId, submitEvidence(owner, key, body))));
      },
    }),
  ];
}

async function postingsOf(database: Database, dispute: Dispute, outcome: string): Promise<Posting[]> {
  if (outcome !== "lost") return releasePostings(dispute);
  const payment = await findAnyPayment(database, dispute.paymentReference);
  return payment?.gatewayCode === undefined ? [] : lossPostings(payment.gatewayCode, dispute);
}

function evidenceEndpoints({ database, directory }: OperatorDisputeParts): OperatorEndpoint[] {
  const read = async (params: Readonly<Record<string, string>>): Promise<Evidence | undefined> =>
    readEvidence(database, (await findBook(directory, params)).book, params.uuid ?? "");
  const path = `${OF_BOOK}/disputes/{uuid}/evidence`;
  const shared = { method: "GET", tag: "Disputes", role: "viewer" } as const;
  const downloads = new Downloads({ inAll: 16, each: 4 });
  return [
    operatorEndpoint({
      ...shared,
      operationId: "getEvidence",
      path,
      params: { ...bookParams, ...disputeParams },
      summary: "Read what the merchant said to a dispute",
      success: { description: "The statement and its files.", schema: keptEvidenceSchema },
      async handle({ params }) {
        const evidence = await read(params);
        if (!evidence) throw new Fault("OBJECT_NOT_FOUND", { message: "No evidence was submitted to such a dispute." });
        return reply(200, evidenceView(evidence));
      },
    }),
    operatorEndpoint({
      ...shared,
      operationId: "downloadEvidenceFile",
      path: `${path}/files/{number}`,
      params: { ...bookParams, ...disputeParams, number: fileNumber },
      summary: "Download a file of the evidence; it came from outside",
      success: {
        description: "The file, to be saved.",
        schema: downloadedFileSchema,
        mediaType: "application/octet-stream",
      },
      async handle({ params, operator }) {
        const evidence = await read(params);
        const file = fileByNumber(evidence, params.number ?? "");
        if (!evidence || !file) throw new Fault("OBJECT_NOT_FOUND", { message: "The evidence has no such file." });
        const attachment = attachmentOf(file, (kept) => readPieces(database, evidence, kept));
        return { status: 200, body: "", file: { ...attachment, sending: downloads.take(operator.name) } };
      },
    }),
  ];
}
