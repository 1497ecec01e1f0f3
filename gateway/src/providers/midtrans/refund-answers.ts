// Reads the state of a refund from its transaction: Midtrans' inquiry lists the refunds of a transaction by Gerbang's refund keys. Pure.
import { z } from "zod";
import type { RefundStatus, Refunded } from "../../acquirers/acquirer.ts";
import { OtherMoney } from "../../acquirers/other-money.ts";
import type { Minor } from "../../ground/money.ts";
import { type Answer, type Transaction, amountText, minorOf } from "./answers.ts";

interface SoughtRefund {
  refundKey: string;
  amountMinor: Minor;
  /** Amount of the payment: a cancelled capture gives all of it back. */
  paymentAmountMinor: Minor;
  /** True when Midtrans accepted the refund before. */
  accepted: boolean;
}

/**
 * State of a refund; undefined when nothing was ever done under its key. It has succeeded when the bank or the wallet has confirmed it, as
 * Midtrans' documentation advises, and is pending until then. Throws when the response contradicts the order or an earlier response: a refund
 * that Midtrans accepted and does not list stays unknown, however long.
 */
export function refundIn(transaction: Transaction, sought: SoughtRefund): RefundStatus | undefined {
  const { refundKey, amountMinor, paymentAmountMinor, accepted } = sought;
  const status = transaction.transaction_status.toLowerCase();
  const found = transaction.refunds?.find(({ refund_key }) => refund_key === refundKey);
  if (found) {
    if (minorOf(found.refund_amount) !== amountMinor)
      throw new OtherMoney(`Midtrans answered with a refund of another amount: ${found.refund_amount}`);
    return found.bank_confirmed_at === undefined ? "pending" : "succeeded";
  }
  // A card's capture that is not settled yet is cancelled instead of refunded. Whoever cancelled it, the payer has all of it back.
  if (status === "cancel" && amountMinor === paymentAmountMinor) return "succeeded";
  if (!accepted) return undefined;
  // Midtrans' documentation does not call this a refusal: the list may be late, and a refund that wrongly counts as failed is paid twice.
  throw new Error("Midtrans answered without a refund that it had accepted");
}

/** Whether more was paid back than the list names: the missing part may be a refund of Gerbang. */
export function listsLess({ transaction_status, gross_amount, refunds = [] }: Transaction): boolean {
  const listed = refunds.reduce((sum, { refund_amount }) => sum + minorOf(refund_amount), 0n);
  const status = transaction_status.toLowerCase();
  return (status === "refund" && listed < minorOf(gross_amount)) || (status === "partial_refund" && listed === 0n);
}

const refundAnswerSchema = z.object({
  order_id: z.string(),
  refund_key: z.string(),
  refund_amount: amountText,
  refund_chargeback_id: z.union([z.int().min(0), z.string().regex(/^[\x21-\x7e]{1,64}$/)]).optional(),
});

interface AskedRefund {
  orderId: string;
  refundKey: string;
  amountMinor: Minor;
}

/** Midtrans has accepted a refund; the bank or the wallet has not confirmed it yet. Throws when the response is about another refund. */
export function refundTaken(answer: Answer, asked: AskedRefund): Refunded {
  const { refund_amount, refund_chargeback_id: id } = readRefund(answer, asked);
  // One page of Midtrans' documentation calls this the amount of the refund, another the sum of all refunds.
  if (minorOf(refund_amount) < asked.amountMinor)
    throw new OtherMoney(`Midtrans answered with a refund of another amount: ${refund_amount}`);
  return { status: "pending", providerIds: { refund: id === undefined ? asked.refundKey : String(id) } };
}

/** The bank has denied a refund: nothing was paid back. Throws when the response is about another refund, or has an amount. */
export function refundDenied(answer: Answer, asked: AskedRefund): Refunded {
  const { refund_amount, refund_chargeback_id: id } = readRefund(answer, asked);
  const isDenied = answer.body?.["transaction_status"] !== "refund" && minorOf(refund_amount) === 0n;
  if (!isDenied) throw new Error("Midtrans answered with a refund that is denied and has an amount");
  return { status: "failed", providerIds: { refund: id === undefined ? asked.refundKey : String(id) } };
}

function readRefund({ body }: Answer, { orderId, refundKey }: AskedRefund): z.infer<typeof refundAnswerSchema> {
  const parsed = refundAnswerSchema.safeParse(body);
  if (!parsed.success) throw new Error("Midtrans answered with a refund that cannot be read");
  const { order_id, refund_key } = parsed.data;
  if (order_id !== orderId || refund_key !== refundKey) throw new Error("Midtrans answered with another refund");
  return parsed.data;
}
