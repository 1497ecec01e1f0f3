// Payments for operators: searches over all merchants, a payment's full record, and refunds by an operator.
import { planRefund } from "../acquiring/planning.ts";
import type { Acquirer } from "../acquirers/acquirer.ts";
import { wireTime } from "../ground/clock.ts";
import { Fault, assert } from "../ground/fault.ts";
import { idOf, isId, uuidOf } from "../ground/ids.ts";
import { readable, wireAmount } from "../ground/money.ts";
import { type Reply, reply } from "../ground/reply.ts";
import { answering } from "../http/endpoint.ts";
import { cursorOf, limitOf, rangeBefore, rangeFrom } from "../http/lists.ts";
import { refundPostings } from "../ledger/journal.ts";
import type { Directory, Merchant } from "../merchants/directory.ts";
import type { Payment } from "../payments/payment.ts";
import { paymentParams } from "../payments/payments.schema.ts";
import { paymentOfRow } from "../payments/payments.sql.ts";
import { createdRefundView } from "../refunds/refund.ts";
import { refundErrors } from "../refunds/refunds.schema.ts";
import {
  type RefundParts,
  createRefund,
  refundAmount,
  refuseUnfunded,
  refuseWithoutWallet,
  remainingOf,
} from "../refunds/refunds.ts";
import type { Database } from "../store/database.ts";
import type { Foreseen } from "./approval.ts";
import { type OperatorEndpoint, operatorEndpoint } from "./endpoint.ts";
import type { KeyedMoves } from "./keyed-moves.ts";
import { type PaymentRecordParts, paymentRecordSchema, readPaymentRecord } from "./payment-record.ts";
import {
  type OperatorRefund,
  operatorRefundRules,
  refundByOperatorSchema,
  paymentsQuery,
  searchedPaymentsSchema,
  summaryView,
} from "./payments.schema.ts";
import { type PaymentSearch, isIndexed, selectAnyPayment, selectSearched, selectSearchedTo } from "./payments.sql.ts";

interface OperatorPaymentParts {
  database: Database;
  directory: Directory;
  moves: KeyedMoves;
  records: PaymentRecordParts;
  /** The acquirer of a code; undefined when it is no longer configured. */
  acquirer: (code: string) => Acquirer | undefined;
}

const path = "/ops/v1/payments";
const tag = "Payments";

export function operatorPaymentEndpoints(parts: OperatorPaymentParts): OperatorEndpoint[] {
  return [listEndpoint(parts.database), recordEndpoint(parts.records), refundEndpoint(parts)];
}

/** A payment of any merchant; undefined for an unknown or malformed reference. */
export async function findAnyPayment(database: Database, reference: string): Promise<Payment | undefined> {
  return isId("payment", reference) ? database.first(selectAnyPayment(reference), paymentOfRow) : undefined;
}

function listEndpoint(database: Database): OperatorEndpoint {
  return operatorEndpoint({
    method: "GET",
    operationId: "searchPayments",
    path,
    summary: "Find payments of all merchants, newest first",
    description:
      "References are found by an index. Everything else is looked for among the newest ten thousand payments that are left, or those of the time " +
      "that is asked for; the search goes on from `next_cursor`. With a merchant it looks further.",
    tag,
    role: "viewer",
    query: paymentsQuery,
    success: { description: "A page of payments.", schema: searchedPaymentsSchema },
    async handle({ query }) {
      const after = await cursorOf(query, (id) => findAnyPayment(database, id));
      const search: PaymentSearch = {
        merchantId: query.merchant_id,
        environment: query.environment,
        reference: query.reference,
        referenceId: query.reference_id,
        status: query.status,
        amountMinor: query.amount_minor === undefined ? undefined : BigInt(query.amount_minor),
        createdFrom: rangeFrom("created_from", query.created_from),
        createdBefore: rangeBefore("created_to", query.created_to),
        after,
      };
      return searched(database, search, limitOf(query));
    },
  });
}

/** A page of search results. It ends where some book was examined no further, so that all newer payments are known. */
async function searched(database: Database, search: PaymentSearch, limit: number): Promise<Reply> {
  // The page is read before the end of the search. A payment created in between can only move that end towards now.
  const [rows = [], [stop] = []] = await database.pipeline([
    selectSearched(search, limit),
    ...(isIndexed(search) ? [] : [selectSearchedTo(search)]),
  ]);
  const end = stop?.payment_id as string | undefined;
  const found = rows.filter((row) => end === undefined || (row.payment_id as string) >= end);
  const shown = found.slice(0, limit);
  const last = shown.at(-1);
  const isFull = found.length > limit && last !== undefined;
  const next = isFull ? (last.payment_id as string) : end;
  return reply(200, {
    data: shown.map((row) => summaryView(paymentOfRow(row), row.merchant_name as string)),
    has_more: next !== undefined,
    next_cursor: next === undefined ? null : idOf("payment", next),
    searched_to: isFull || stop === undefined ? null : wireTime(stop.created_at as number),
  });
}

function recordEndpoint(records: PaymentRecordParts): OperatorEndpoint {
  return operatorEndpoint({
    method: "GET",
    operationId: "getPaymentRecord",
    path: `${path}/{reference}`,
    params: paymentParams,
    summary: "Read a payment, whoever's it is, with everything that happened to it",
    description:
      "The story that its merchant reads, and what only an operator may see: what fraud detection saw, how acquirers were called, where records " +
      "disagree, and what operators and the merchant's people did.",
    tag,
    role: "viewer",
    success: { description: "The payment and what happened to it.", schema: paymentRecordSchema },
    errors: ["PAYMENT_NOT_FOUND"],
    handle: async ({ params }) => reply(200, await readPaymentRecord(records, params.reference ?? "")),
  });
}

function refundEndpoint(parts: OperatorPaymentParts): OperatorEndpoint {
  const { database, directory, moves } = parts;
  const find = async (reference = ""): Promise<{ payment: Payment; merchant: Merchant }> => {
    const payment = await findAnyPayment(database, reference);
    const merchant = payment && (await directory.merchant(payment.book.merchantId));
    if (!payment || !merchant) throw new Fault("PAYMENT_NOT_FOUND");
    return { payment, merchant };
  };
  return operatorEndpoint<OperatorRefund, unknown>({
    method: "POST",
    operationId: "refundPayment",
    path: `${path}/{reference}/refunds`,
    params: paymentParams,
    summary: "Refund all or part of a payment for its merchant, with a reason",
    description:
      "The merchant's own refund in all but who asks for it: the same states, funds and limits, the same event and webhook. The merchant sees the reason.",
    tag,
    role: "admin",
    keyed: true,
    body: operatorRefundRules,
    success: { status: 201, description: "The refund; its funds are reversed.", schema: refundByOperatorSchema },
    // The operator names no environment that could be another one.
    errors: refundErrors.filter((code) => code !== "ENVIRONMENT_MISMATCH"),
    approval: {
      action: "refund_payment",
      async foresee(call) {
        const { payment, merchant } = await find(call.params.reference);
        // A refund already made under this key is answered again, whatever the policy says now.
        if (await moves.isAnswered(payment.book, call)) return undefined;
        return foreseenRefund(payment, merchant, call.body, parts.acquirer);
      },
    },
    async handle(call) {
      const { payment, merchant } = await find(call.params.reference);
      const { book, reference } = payment;
      const command = createRefund(
        { acquirer: parts.acquirer, planRefund },
        { merchant, book },
        {
          ...call.body,
          ...(call.approved?.amountMinor !== undefined && { amount_minor: wireAmount(call.approved.amountMinor) }),
          payment_reference: reference,
        },
        // A sandbox's clock may let the key expire before a second attempt: the approval itself names the refund.
        call.approvalId && idOf("refund", uuidOf(call.approvalId)),
      );
      const answered = answering(command, (done) => {
        refuseBeyond(call.freeUpToMinor, payment.amountMinor - done.remainingMinor);
        return reply(201, { ...createdRefundView(done.refund, done.remainingMinor), merchant_id: book.merchantId });
      });
      return moves.move(book, call, answered);
    },
  });
}

/** Describes a refund for approval. The policy's bound applies to all refunds of the payment together, so that small ones cannot evade it. */
function foreseenRefund(
  payment: Payment,
  { name: merchantName, settings }: Merchant,
  body: OperatorRefund,
  acquirer: RefundParts["acquirer"],
): Foreseen {
  const { book, reference, currency, gatewayCode } = payment;
  const amountMinor = refundAmount(payment, body, gatewayCode === undefined ? undefined : acquirer(gatewayCode));
  refuseWithoutWallet(settings, currency);
  assert(gatewayCode !== undefined, `${reference} was paid through no acquirer`);
  return {
    summary: `Refund ${currency} ${readable(amountMinor, currency)} of ${reference} to its payer, for ${merchantName}: ${body.reason}`,
    book,
    paymentReference: reference,
    amount: { amountMinor, currency },
    judgedMinor: payment.amountMinor - remainingOf(payment) + amountMinor,
    postings: refundPostings(gatewayCode, { currency, amountMinor }),
    refuseUnfunded: (of) => refuseUnfunded(amountMinor, (account) => of.get(`${account} ${currency}`) ?? 0n),
  };
}

/** Rejects a change of more than needs no second operator, such as by concurrent refunds. Throws FORBIDDEN, and the command changes nothing. */
export function refuseBeyond(freeUpToMinor: bigint | undefined, goneMinor: bigint): void {
  if (freeUpToMinor === undefined || goneMinor <= freeUpToMinor) return;
  throw new Fault("FORBIDDEN", {
    message:
      "Something else was done to this payment at the same moment. Send yours again: it needs a second operator now.",
  });
}
