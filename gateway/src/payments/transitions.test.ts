// Goal: the transitions are those of the interface, and no others, also where a command would be wrong. Method: every pair, beside the interface's own
// list written out; then refunds that are too much, or that begin where nothing was paid.
import { expect, test } from "vitest";
import { NOW, given, ownerWith, row } from "../../test/given.ts";
import { aPayment } from "../../test/payments.ts";
import { type CommandContext, bookCommand } from "../commands/command-context.ts";
import type { DisputeStatus, Payment } from "./payment.ts";
import { markDispute, move, reviseRefunds } from "./payments.ts";
import { payments } from "./payments.sql.ts";
import { assertTransition, isPaid, isUnpaid, paymentStatuses } from "./states.ts";

/** Section 3.1 of the interface, in short. */
const listed = [
  "pending > processing",
  "processing > succeeded",
  "processing > failed",
  "pending > succeeded",
  "pending > failed",
  "pending > expired",
  "pending > canceled",
  "succeeded > partially_refunded",
  "partially_refunded > refunded",
  "succeeded > refunded",
];

const pairs = paymentStatuses.flatMap((from) => paymentStatuses.map((to) => [from, to] as const));

test.each(pairs)("%s > %s", (from, to) => {
  const step = (): void => assertTransition(from, to);
  if (listed.includes(`${from} > ${to}`)) expect(step).not.toThrow();
  else expect(step).toThrow(`a payment cannot go from ${from} to ${to}`);
});

const run = (payment: Payment, execute: (context: CommandContext) => Payment) =>
  given({ rows: [row(payments, payment)] }).when(bookCommand(ownerWith(), { name: "test", needs: [], execute }));

const moves = paymentStatuses.flatMap((from) =>
  (["processing", "succeeded", "failed", "expired", "canceled"] as const).map((to) => [from, to] as const),
);

test.each(moves)("a payment that is %s is moved to %s only by a transition", (from, to) => {
  const payment = aPayment({ status: from });
  const moving = () => run(payment, (context) => move(context, payment, { status: to }));
  if (listed.includes(`${from} > ${to}`)) expect(moving().changes.updated(payments)).toHaveLength(1);
  else expect(moving).toThrow(`a payment cannot go from ${from} to ${to}`);
});

const refunding = (payment: Payment, refunded: bigint) =>
  run(payment, (context) => reviseRefunds(context, payment, { refunded })).changes.updated(payments);

test.each(paymentStatuses.filter((status) => !isPaid(status)))("nothing of a %s payment is refunded", (status) => {
  const payment = aPayment({ status });
  expect(() => refunding(payment, 1n)).toThrow(`cannot go from ${status} to partially_refunded`);
  expect(() => refunding(payment, 1_000_000n)).toThrow(`cannot go from ${status} to refunded`);
});

test.each(["succeeded", "partially_refunded"] as const)("a %s payment is refunded in part, or wholly", (status) => {
  const payment = aPayment({ status, refundedMinor: 0n });
  for (const refunded of [1n, 999_999n])
    expect(refunding(payment, refunded)).toMatchObject([
      { status: "partially_refunded", refundedMinor: refunded, updatedAt: NOW },
    ]);
  expect(refunding(payment, 1_000_000n)).toMatchObject([{ status: "refunded", updatedAt: NOW }]);
  expect(refunding(payment, 0n)).toMatchObject([{ status, refundedMinor: 0n }]);
});

test.each<[name: string, before: Partial<Payment>, change: { refunded?: bigint; pending?: bigint }, message: string]>([
  ["more than the amount", {}, { refunded: 1_000_001n }, "beyond its amount"],
  ["more than the amount pending", {}, { pending: 1_000_001n }, "beyond its amount"],
  ["what is pending", { refundPendingMinor: 400_000n }, { refunded: 600_001n }, "beyond its amount"],
  ["what was lost", { lostMinor: 400_000n }, { refunded: 600_001n }, "beyond its amount"],
  ["either", { lostMinor: 400_000n, refundPendingMinor: 300_000n }, { refunded: 300_001n }, "beyond its amount"],
  ["more than was pending", { refundPendingMinor: 5n }, { pending: -6n, refunded: 6n }, "less than nothing pending"],
])("a refund of %s is an impossible state", (_name, before, change, message) => {
  const payment = aPayment({ status: "succeeded", ...before });
  expect(() => run(payment, (context) => reviseRefunds(context, payment, change))).toThrow(message);
});

test("a payment notes its dispute, and adds what it lost to what earlier ones took", () => {
  const payment = aPayment({ status: "succeeded", lostMinor: 300_000n, disputeStatus: "lost" });
  const marked = (...asked: [DisputeStatus, bigint?]) =>
    run(payment, (context) => {
      markDispute(context, payment, ...asked);
      return payment;
    }).changes.updated(payments);
  expect(marked("needs_response")).toEqual([{ ...payment, disputeStatus: "needs_response", updatedAt: NOW }]);
  expect(marked("lost", 200_000n)).toEqual([{ ...payment, lostMinor: 500_000n, updatedAt: NOW }]);
});

test("who has been paid stays paid", () => {
  for (const step of listed) {
    const [from, to] = step.split(" > ").map((name) => paymentStatuses.find((status) => status === name));
    if (from && to && isPaid(from)) expect(isPaid(to)).toBe(true);
  }
  expect(paymentStatuses.filter(isPaid)).toEqual(["succeeded", "partially_refunded", "refunded"]);
  expect(paymentStatuses.filter(isUnpaid)).toEqual(["expired", "canceled"]);
});
