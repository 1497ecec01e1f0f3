// Refunds, disputes and merchants' balances for pure tests.
import type { Acquirer } from "../src/acquirers/acquirer.ts";
import type { Dispute } from "../src/disputes/dispute.ts";
import { SECOND } from "../src/ground/clock.ts";
import { newId } from "../src/ground/ids.ts";
import type { Minor } from "../src/ground/money.ts";
import type { Payment } from "../src/payments/payment.ts";
import type { Refund } from "../src/refunds/refund.ts";
import type { RefundParts } from "../src/refunds/refunds.ts";
import type { Command } from "../src/store/command.ts";
import { NOW, book } from "./given.ts";
import { scriptedAcquirer } from "./scripted-acquirer.ts";

/** Balances of a book in which the merchant owns these amounts. Credit balances are negative in the ledger. */
export function owning(
  { available = 0n, held = 0n, settling = 0n }: { available?: Minor; held?: Minor; settling?: Minor },
  currency = "IDR",
): Record<string, Minor> {
  return {
    [`merchant:available ${currency}`]: -available,
    [`merchant:held ${currency}`]: -held,
    [`merchant:settling ${currency}`]: -settling,
    [`acquirer:nusantara:receivable ${currency}`]: available + held + settling,
  };
}

/** A pending refund of 100,000 minor units. */
export function aRefund(payment: Payment, changes: Partial<Refund> = {}): Refund {
  return {
    book,
    uuid: newId("refund", NOW),
    paymentReference: payment.reference,
    status: "pending",
    amountMinor: 100_000n,
    currency: payment.currency,
    reason: undefined,
    createdAt: NOW - SECOND,
    completedAt: undefined,
    ...changes,
  };
}

/** A running dispute over the whole payment, opened a second ago. */
export function aDispute(payment: Payment, changes: Partial<Dispute> = {}): Dispute {
  return {
    book,
    uuid: newId("dispute", NOW),
    paymentReference: payment.reference,
    status: "needs_response",
    reason: "general",
    amountMinor: payment.amountMinor,
    currency: payment.currency,
    evidenceDueAt: NOW + 1_000 * SECOND,
    openedAt: NOW - SECOND,
    resolvedAt: undefined,
    ...changes,
  };
}

/** Parts with an acquirer that refunds at once, later or through a call, or with none; and the refunds for which a call was planned. */
export function refundParts(how: "at once" | "later" | "by a call" | "not configured"): {
  parts: RefundParts;
  planned: string[];
} {
  const planned: string[] = [];
  const acquirer: Acquirer = {
    ...scriptedAcquirer("nusantara"),
    remote: how === "by a call",
    refundsLater: () => how !== "at once",
  };
  const parts: RefundParts = {
    acquirer: () => (how === "not configured" ? undefined : acquirer),
    planRefund: (_context, { uuid }) => planned.push(uuid),
  };
  return { parts, planned };
}

/** A command that does nothing, as the start of a sequence of commands. */
export const nothing: Command<unknown> = { name: "nothing", book, needs: [], execute: () => undefined };
