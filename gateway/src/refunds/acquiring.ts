// Refunds that an acquirer carries out: it is asked after the commit, and its word completes the refund, whenever it comes.
import type { RefundRequest, RefundStatus } from "../acquirers/acquirer.ts";
import {
  type Operation,
  operationKey,
  operationOfRow,
  operations,
  selectOperation,
} from "../acquirers/operations.sql.ts";
import { assert } from "../ground/fault.ts";
import type { Merchant } from "../merchants/directory.ts";
import { type AcquiringParts, nextAsk } from "../payments/acquiring.ts";
import { callAcquirer } from "../payments/calls.ts";
import { paymentOfRow, selectPayment } from "../payments/payments.sql.ts";
import type { Command } from "../store/lane.ts";
import { need } from "../store/working-set.ts";
import { refundOfRow, refunds, selectRefund } from "./refunds.sql.ts";
import { type RefundParts, completeRefund } from "./refunds.ts";

/** What came of a call or of a question. `refused`, `absent`: certainly not done under this operation key. */
export type RefundResult =
  | { kind: "known"; status: RefundStatus }
  | { kind: "refused" }
  | { kind: "absent" }
  | { kind: "unknown" };

/** An acquirer that refuses this often, over about a minute, will not do it: the funds go back to the merchant. */
const REFUSALS_MAX = 6;

/** Commits what is known of a refund's operation. A word that comes again changes nothing. */
export function settleRefund(
  parts: RefundParts,
  merchant: Merchant,
  name: Pick<Operation, "book" | "id" | "paymentReference" | "attempt">,
  result: RefundResult,
): Command<void> {
  const { book, id, paymentReference, attempt } = name;
  const key = { uuid: id, paymentReference };
  const told = result.kind === "known" && result.status !== "pending" ? result.status : undefined;
  const completion = completeRefund(parts, merchant, book, key, told ?? "failed");
  return {
    name: "settle refund",
    needs: [...completion.needs, need(operations, { book, id })],
    execute(set, realNow) {
      const operation = set.get(operations, { book, id });
      const refund = set.get(refunds, { book, uuid: id });
      assert(operation && refund, `${id} has no operation`);
      if (operation.step === "done" || operation.attempt !== attempt) return;
      const final = told ?? (result.kind === "refused" && operation.asks >= REFUSALS_MAX ? "failed" : undefined);
      if (final !== undefined || refund.status !== "pending") {
        if (final !== undefined && refund.status === "pending") completion.execute(set, realNow);
        set.update(operations, { ...operation, step: "done", dueAt: undefined });
        return;
      }
      // Certainly not done: it is asked for again, under another operation key. Everything else is asked about.
      const again =
        result.kind === "absent" || result.kind === "refused" ? { step: "planned" as const, attempt: attempt + 1 } : {};
      const step = result.kind === "known" ? "following" : "asking";
      set.update(operations, {
        ...operation,
        step,
        ...again,
        asks: operation.asks + 1,
        dueAt: nextAsk(operation.asks, realNow),
      });
    },
  };
}

/** Goes on with an operation on a refund: makes the call, or asks what became of it. */
export async function performRefund(parts: AcquiringParts, operation: Operation): Promise<void> {
  const { database, directory, lanes } = parts;
  const { book, id, paymentReference } = operation;
  const merchant = await directory.merchant(book.merchantId);
  const [refundRow] = await database.query(selectRefund(book.merchantId, id));
  const [paymentRow] = await database.query(selectPayment(book.merchantId, paymentReference));
  const [openingRow] = await database.query(selectOperation(book, paymentReference));
  assert(merchant && refundRow && paymentRow && openingRow, `${id} or its payment is not there`);
  const { amountMinor, currency } = refundOfRow(refundRow);
  const request: RefundRequest = {
    operationKey: operationKey(operation),
    paymentOperationKey: operationKey(operationOfRow(openingRow)),
    amountMinor,
    currency,
    callbackUrl: parts.callbackUrl(operation.gatewayCode),
  };
  const { method } = paymentOfRow(paymentRow);
  const result = await ask(parts, operation, method, request);
  await lanes.move(book.merchantId, settleRefund(parts, merchant, operation, result));
}

async function ask(
  parts: AcquiringParts,
  operation: Operation,
  method: string,
  request: RefundRequest,
): Promise<RefundResult> {
  const acquirer = parts.acquirer(operation.gatewayCode);
  if (!acquirer) return { kind: "unknown" };
  if (operation.step === "calling") {
    const name = { acquirer, method, call: "refund" } as const;
    const outcome = await callAcquirer(parts, name, (calls, signal) => calls.refund(request, signal));
    if (outcome.kind === "answered") return { kind: "known", status: outcome.answer };
    return { kind: outcome.kind };
  }
  const name = { acquirer, method, call: "ask_refund" } as const;
  const outcome = await callAcquirer(parts, name, (calls, signal) => calls.askRefund(request, signal));
  if (outcome.kind !== "answered") return { kind: "unknown" };
  return outcome.answer.known ? { kind: "known", status: outcome.answer.status } : { kind: "absent" };
}
