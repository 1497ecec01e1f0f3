// Refunds at an acquirer: the acquirer is called after the commit, and its answer or a later notification completes the refund.
import type { Refunded, RefundRequest } from "../acquirers/acquirer.ts";
import { type Operation, operationKey, wasCalled, withProviderIds } from "./operation.ts";
import { operationOfRow, operations, selectOperation } from "./operations.sql.ts";
import type { ExceptionKind } from "./exception.ts";
import { recordException, exceptionNeeds } from "./exceptions.ts";
import { type CommandContext, bookCommand } from "../commands/command-context.ts";
import { Fault, assert } from "../ground/fault.ts";
import type { Merchant } from "../merchants/directory.ts";
import type { AcquiringParts } from "./payment-operations.ts";
import { nextInquiry } from "./planning.ts";
import { type CallParts, callAcquirer, logException } from "./calls.ts";
import { keepMessages } from "./keep-messages.ts";
import type { CallMessages } from "./messages.ts";
import { paymentOfRow, selectPayment } from "../payments/payments.sql.ts";
import type { Command } from "../store/command.ts";
import { need } from "../store/working-set.ts";
import type { Refund } from "../refunds/refund.ts";
import { refundOfRow, refunds, selectRefund } from "../refunds/refunds.sql.ts";
import { complete, completionNeeds } from "../refunds/refunds.ts";

/**
 * The outcome of a call or an inquiry. `unreached`, `refused`, `absent`: the refund was certainly not made under this operation key. `otherMoney`: the
 * outcome is unknown, and the acquirer said that money was paid back, or paid, which was not ordered so.
 */
export type RefundResult = { exchanged?: CallMessages | undefined; otherMoney?: boolean | undefined } & (
  | ({ kind: "known" } & Refunded)
  | { kind: "refused" | "absent" | "unreached" | "unknown" }
);

/** After this many refusals, over about a minute, the refund fails: the funds go back to the merchant. */
const REFUSALS_MAX = 6;
/** The refund also fails after this many attempts, about a week, when the last one was certainly not made: no report can be about another. */
export const REFUND_ATTEMPTS_MAX = 1_000;
/** A report that something happened to a refund that has ended here is followed by so many inquiries at most, over a quarter of an hour. */
const INQUIRIES_AFTER_END_MAX = 10;

/**
 * Commits the result of a call, an inquiry or a notification about a refund. A repeated notification changes nothing. Gives the kind of a
 * reconciliation exception that was recorded now. Throws REFUND_NOT_FOUND.
 */
export function concludeRefund(
  merchant: Merchant,
  begun: Operation,
  result: RefundResult,
): Command<ExceptionKind | undefined> {
  const { book, id, paymentReference, attempt } = begun;
  const key = { uuid: id, paymentReference };
  const outcome = result.kind === "known" ? result.status : undefined;
  const owner = { merchant, book };
  return bookCommand(owner, {
    name: "conclude refund",
    needs: [
      ...completionNeeds(book, key),
      need(operations, { book, id }),
      ...exceptionNeeds(begun, ["refund_after_failure", "refund_twice", "refund_undone", "other_money"]),
    ],
    execute(context) {
      const { set, realNow } = context;
      const found = set.get(operations, { book, id });
      const refund = set.get(refunds, { book, uuid: id });
      if (!found || !refund) throw new Fault("REFUND_NOT_FOUND");
      keepMessages(context, { ...found, attempt }, result.exchanged);
      const isOtherMoney = result.otherMoney === true && recordException(context, found, attempt, "other_money");
      const exception = isOtherMoney ? "other_money" : undefined;
      if (found.attempt !== attempt) return concludeOther(context, found, refund, { attempt, result }) ?? exception;
      const operation = result.kind === "known" ? withProviderIds(found, result.providerIds) : found;
      const done = { ...operation, step: "done" as const, dueAt: undefined };
      if (outcome === "succeeded" && refund.status === "pending") {
        complete(context, key, outcome);
        set.update(operations, done);
        return undefined;
      }
      const isUndone = outcome === "failed" && refund.status === "succeeded";
      if (isUndone || (outcome === "succeeded" && refund.status === "failed")) {
        // Banks send money back days later: then neither the payer nor the merchant has it.
        const kind = isUndone ? "refund_undone" : "refund_after_failure";
        const isNew = recordException(context, operation, attempt, kind);
        if (found.step !== "done") set.update(operations, done);
        return isNew ? kind : undefined;
      }
      if (operation.step === "done") return exception;
      const kind = kindOf(result, found, begun);
      const isAskedAgain = kind === "unknown" && operation.inquiries < INQUIRIES_AFTER_END_MAX;
      if (refund.status !== "pending" && !isAskedAgain) {
        set.update(operations, done);
        return exception;
      }
      const refusals = operation.round + (kind === "refused" ? 1 : 0);
      const wasNotMade = kind !== "known" && kind !== "unknown";
      const hopeless = refusals >= REFUSALS_MAX || (wasNotMade && attempt >= REFUND_ATTEMPTS_MAX);
      if (refund.status === "pending" && (outcome === "failed" || hopeless)) {
        complete(context, key, "failed");
        set.update(operations, { ...done, round: refusals });
        return undefined;
      }
      set.update(operations, {
        ...operation,
        ...nextStep(kind, operation),
        round: refusals,
        inquiries: operation.inquiries + 1,
        dueAt: nextInquiry(operation.inquiries, realNow),
      });
      return exception;
    },
  });
}

/**
 * The kind of a result. A no counts as unknown once another worker has taken the operation up since it was `begun`, or a report has asked for an
 * inquiry: by then the refund may have been made under this very key, and under another one the payer would get it twice.
 */
function kindOf({ kind }: RefundResult, { step, dueAt, inquiries }: Operation, begun: Operation): RefundResult["kind"] {
  const isAsBegun = step === begun.step && dueAt === begun.dueAt && inquiries === begun.inquiries;
  return isAsBegun || kind === "known" ? kind : "unknown";
}

/**
 * Concludes what the acquirer told of another attempt than the present one: a refund that it has taken on, or made. The payer must not get it twice;
 * an order that is under way cannot be stopped, only told. Gives the kind of an exception that was recorded.
 */
function concludeOther(
  context: CommandContext,
  operation: Operation,
  { uuid, paymentReference, status }: Refund,
  { attempt, result }: { attempt: number; result: RefundResult },
): ExceptionKind | undefined {
  const { set, realNow } = context;
  if (result.kind !== "known" || result.status === "failed") return undefined;
  const isUnderWay = wasCalled(operation);
  const asReported = { ...operation, attempt, providerIds: result.providerIds };
  if (status === "pending") {
    if (result.status === "succeeded") {
      complete(context, { uuid, paymentReference }, "succeeded");
      set.update(operations, { ...asReported, step: "done", dueAt: undefined });
    } else if (!isUnderWay)
      set.update(operations, { ...asReported, step: "polling", inquiries: 0, dueAt: nextInquiry(0, realNow) });
    if (!isUnderWay) return undefined;
  }
  const kind = status === "failed" ? "refund_after_failure" : "refund_twice";
  return recordException(context, operation, attempt, kind) ? kind : undefined;
}

/** A refund that was certainly not made is requested again under another operation key; in every other case a worker inquires. */
function nextStep(kind: RefundResult["kind"], { attempt }: Operation): Partial<Operation> {
  if (kind === "known") return { step: "polling" };
  if (kind === "unknown") return { step: "inquiring" };
  return { step: "planned", attempt: attempt + 1, providerIds: undefined };
}

/** Calls the acquirer for a refund, or inquires about it, and commits the result. */
export async function performRefund(parts: AcquiringParts, operation: Operation): Promise<void> {
  const { merchant, request } = await refundRequest(parts, operation);
  await conclude(parts, merchant, operation, await callOrInquire(parts, operation, request));
}

/**
 * Inquires about an attempt of a refund that is not the present one, but that the acquirer reports: the payer may have the money of both. Commits the
 * result. Throws SERVICE_UNAVAILABLE without an answer, so that the acquirer repeats its report.
 */
export async function inquireOtherAttempt(parts: AcquiringParts, operation: Operation): Promise<void> {
  const { merchant, request } = await refundRequest(parts, { ...operation, providerIds: undefined });
  const result = await inquire(parts, operation, { ...request, isOver: true });
  if (result.kind === "unknown" && result.otherMoney !== true)
    throw new Fault("SERVICE_UNAVAILABLE", {
      internal: `no answer about attempt ${operation.attempt} of ${operation.id}`,
    });
  // That there is none says nothing: by now the worker may be about to order it under this very attempt.
  if (result.kind !== "absent") await conclude(parts, merchant, operation, result);
}

async function conclude(
  { lanes, log }: AcquiringParts,
  merchant: Merchant,
  operation: Operation,
  result: RefundResult,
): Promise<void> {
  const exception = await lanes.move(merchant.merchantId, concludeRefund(merchant, operation, result));
  if (exception) logException(log, operation, exception);
}

/** What the acquirer is sent about a refund. */
async function refundRequest(
  parts: AcquiringParts,
  operation: Operation,
): Promise<{ merchant: Merchant; request: RefundRequest }> {
  const { database, directory } = parts;
  const { book, id, paymentReference } = operation;
  const merchant = await directory.merchant(book.merchantId);
  const [refundRow] = await database.query(selectRefund(book.merchantId, id));
  const [paymentRow] = await database.query(selectPayment(book.merchantId, paymentReference));
  const [openingRow] = await database.query(selectOperation(book, paymentReference));
  assert(merchant && refundRow && paymentRow, `${id} or its payment is not there`);
  const payment = paymentOfRow(paymentRow);
  const opening = openingRow
    ? operationOfRow(openingRow)
    : { book, id: paymentReference, attempt: 1, providerIds: undefined };
  const { amountMinor, currency, status } = refundOfRow(refundRow);
  const request: RefundRequest = {
    operationKey: operationKey(operation),
    paymentOperationKey: operationKey(opening),
    paymentProviderIds: opening.providerIds,
    paymentAmountMinor: payment.amountMinor,
    method: payment.method,
    providerIds: operation.providerIds,
    amountMinor,
    currency,
    callbackUrl: parts.callbackUrl(operation.gatewayCode),
    isOver: status !== "pending",
  };
  return { merchant, request };
}

/** Calls the acquirer for an operation that is `calling`, and inquires for any other, while its lease lasts. */
export async function callOrInquire(
  parts: Pick<AcquiringParts, "acquirer"> & CallParts,
  operation: Operation,
  request: RefundRequest,
): Promise<RefundResult> {
  if (operation.step !== "calling") return inquire(parts, operation, request);
  const { method } = request;
  const acquirer = parts.acquirer(operation.gatewayCode);
  if (!acquirer) return { kind: "unknown" };
  // A report about an earlier order has ended it since this one was planned.
  if (request.isOver) return { kind: "refused" };
  const name = { acquirer, method, call: "refund", lease: operation } as const;
  const outcome = await callAcquirer(parts, name, (calls, signal, record) => calls.refund(request, signal, record));
  const { exchanged } = outcome;
  if (outcome.kind === "answered") return { ...outcome.answer, kind: "known", exchanged };
  const { otherMoney } = outcome;
  return {
    kind: outcome.kind === "refused" && outcome.unavailable ? "unreached" : outcome.kind,
    exchanged,
    otherMoney,
  };
}

async function inquire(
  parts: Pick<AcquiringParts, "acquirer"> & CallParts,
  operation: Operation,
  request: RefundRequest,
): Promise<RefundResult> {
  const { method, isOver } = request;
  const acquirer = parts.acquirer(operation.gatewayCode);
  if (!acquirer) return { kind: "unknown" };
  const name = { acquirer, method, call: "inquire_refund", lease: isOver ? undefined : operation } as const;
  const outcome = await callAcquirer(parts, name, (calls, signal, record) =>
    calls.inquireRefund(request, signal, record),
  );
  const { exchanged, otherMoney } = outcome;
  if (outcome.kind !== "answered") return { kind: "unknown", exchanged, otherMoney };
  return outcome.answer.known ? { ...outcome.answer, kind: "known", exchanged } : { kind: "absent", exchanged };
}
