// Goal: what an acquirer reports moves a payment as the interface says, and money moves once. Method: every status with every outcome before
// and after its time, by table; captures and whole lives of payments by property.
import fc from "fast-check";
import { expect, test } from "vitest";
import { NOW, type Then, given, ownerWith, row } from "../../test/given.ts";
import { taking } from "../../test/outcomes.ts";
import { aPayment } from "../../test/payments.ts";
import { aRouter } from "../../test/routing.ts";
import { SECOND } from "../ground/clock.ts";
import type { FaultCode } from "../ground/fault.ts";
import { assertBalanced, capturePostings, isAccount } from "../ledger/journal.ts";
import { bookBalances, heads, journals } from "../ledger/ledger.sql.ts";
import { otherBook } from "../merchants/books.ts";
import type { Payment } from "./payment.ts";
import { type AcquirerOutcome, cancelPayment, expirePayment } from "./payments.ts";
import { payments } from "./payments.sql.ts";
import { type PaymentStatus, isPaid, paymentStatuses } from "./states.ts";

const owner = ownerWith();
const router = aRouter();
const outcomes: readonly AcquirerOutcome[] = ["processing", "succeeded", "failed"];

/** What each outcome leads to, in the order of `outcomes`: a status or the refusal. */
const within: Record<PaymentStatus, readonly (PaymentStatus | FaultCode)[]> = {
  pending: ["processing", "succeeded", "failed"],
  processing: ["PAYMENT_NOT_PAYABLE", "succeeded", "failed"],
  succeeded: ["PAYMENT_NOT_PAYABLE", "PAYMENT_NOT_PAYABLE", "PAYMENT_NOT_PAYABLE"],
  failed: ["PAYMENT_NOT_PAYABLE", "PAYMENT_NOT_PAYABLE", "PAYMENT_NOT_PAYABLE"],
  expired: ["PAYMENT_EXPIRED", "PAYMENT_EXPIRED", "PAYMENT_EXPIRED"],
  canceled: ["PAYMENT_NOT_PAYABLE", "PAYMENT_NOT_PAYABLE", "PAYMENT_NOT_PAYABLE"],
  partially_refunded: ["PAYMENT_NOT_PAYABLE", "PAYMENT_NOT_PAYABLE", "PAYMENT_NOT_PAYABLE"],
  refunded: ["PAYMENT_NOT_PAYABLE", "PAYMENT_NOT_PAYABLE", "PAYMENT_NOT_PAYABLE"],
};
/** After its time only what waits for the payer is over; what is processing never expires. */
const after = { ...within, pending: ["PAYMENT_EXPIRED", "PAYMENT_EXPIRED", "PAYMENT_EXPIRED"] as const };

const cases = paymentStatuses.flatMap((status) =>
  outcomes.flatMap((outcome, at) =>
    (
      [
        ["within its time", 1, within],
        ["at its end", 0, after],
        ["long after it", -86_400 * SECOND, after],
      ] as const
    ).map(([when, left, table]) => [outcome, status, when, left, table[status][at] ?? ""] as const),
  ),
);

test.each(cases)("%s for a %s payment %s", (outcome, status, _when, left, expected) => {
  const payment = aPayment({ status, expiresAt: NOW + left });
  const taken = given({ rows: [row(payments, payment)] }).when(taking(owner, payment.reference, outcome));
  if (!paymentStatuses.includes(expected as PaymentStatus)) {
    const expires = status === "pending";
    const details = expected === "PAYMENT_NOT_PAYABLE" ? { status } : undefined;
    taken.refuses(expected as FaultCode, details, expires);
    expect(taken.changes.events).toEqual(expires ? ["payment.expired"] : []);
    if (expires) expect(taken.changes.updated(payments)).toMatchObject([{ status: "expired", updatedAt: NOW }]);
    expect(taken.changes.journals).toEqual([]);
    return;
  }
  taken.then((changes, answer) => {
    expect(changes.updated(payments)).toEqual([answer]);
    expect(answer).toEqual({
      ...payment,
      status: expected,
      updatedAt: NOW,
      paidAt: expected === "succeeded" ? NOW : undefined,
    });
    expect(changes.events).toEqual([`payment.${expected}`]);
    expect(changes.journals).toHaveLength(expected === "succeeded" ? 1 : 0);
  });
});

test.each(outcomes)("before an acquirer has a payment nobody can have paid it: %s", (outcome) => {
  const unasked = aPayment({ gatewayCode: undefined, instructions: undefined });
  const reviewed = aPayment({ ...unasked, risk: { decision: "review", score: 70, reasons: [] } });
  for (const payment of [unasked, reviewed])
    given({ rows: [row(payments, payment)] })
      .when(taking(owner, payment.reference, outcome))
      .refuses("PAYMENT_NOT_PAYABLE", { status: "pending" });
});

test("a review whose time is over ends as failed, and says so", () => {
  const payment = aPayment({
    gatewayCode: undefined,
    instructions: undefined,
    risk: { decision: "review", score: 70, reasons: [] },
    expiresAt: NOW,
  });
  const taken = given({ rows: [row(payments, payment)] }).when(taking(owner, payment.reference, "succeeded"));
  taken.refuses("PAYMENT_NOT_PAYABLE", { status: "failed" }, true);
  expect(taken.changes.updated(payments)).toMatchObject([{ status: "failed" }]);
  expect(taken.changes.events).toEqual(["payment.failed"]);
});

test("time is that of the book", () => {
  const payment = aPayment({ expiresAt: NOW + 100 * SECOND });
  const ahead = (offsetSeconds: number): Then<Payment> =>
    given({ rows: [row(payments, payment)], offsetSeconds }).when(taking(owner, payment.reference, "succeeded"));
  expect(ahead(99).answer.paidAt).toBe(NOW + 99 * SECOND);
  ahead(100).refuses("PAYMENT_EXPIRED", undefined, true);
});

test("one of the other environment is a mismatch, and one of nobody is not found", () => {
  const elsewhere = aPayment({ book: otherBook(owner.book) });
  const at = (reference: string): ReturnType<typeof taking> => taking(owner, reference, "succeeded");
  given({ rows: [row(payments, elsewhere)] })
    .when(at(elsewhere.reference))
    .refuses("ENVIRONMENT_MISMATCH");
  given().when(at(elsewhere.reference)).refuses("PAYMENT_NOT_FOUND");
  given().when(at("pay_nonsense")).refuses("PAYMENT_NOT_FOUND");
});

test.each([
  ["as usual", 1_000_000n, 7_000n, { available: -993_000n, fees: -7_000n }],
  ["without a fee", 1_000_000n, 0n, { available: -1_000_000n }],
  ["with a fee that takes it all", 7n, 7n, { fees: -7n }],
])("a capture %s: the acquirer owes the amount, the merchant gets it less the fee", (_name, amount, fee, credits) => {
  const payment = aPayment({ amountMinor: amount, feeMinor: fee });
  given({ rows: [row(payments, payment)] })
    .when(taking(owner, payment.reference, "succeeded"))
    .then((changes) => {
      const { available, fees } = { available: undefined, fees: undefined, ...credits };
      expect(changes.journals).toEqual([
        {
          kind: "capture",
          entries: {
            "acquirer:nusantara:receivable IDR": amount,
            ...(available === undefined ? {} : { "merchant:available IDR": available }),
            ...(fees === undefined ? {} : { "platform:fees IDR": fees }),
          },
        },
      ]);
      expect(changes.inserted(journals)).toMatchObject([
        {
          book: owner.book,
          seq: 1n,
          groupId: payment.reference,
          operationKey: `capture:${payment.reference}`,
          postedAt: NOW,
        },
      ]);
    });
});

test("captures of one batch follow each other in one chain, and balances add up", () => {
  const [one, two] = [aPayment(), aPayment({ referenceId: "order-2", gatewayCode: "cendana" })];
  const done = given({
    rows: [row(payments, one), row(payments, two)],
    balances: { "merchant:available IDR": -500n },
  })
    .when(taking(owner, one.reference, "succeeded"))
    .when(taking(owner, two.reference, "succeeded"));
  const [first, second] = done.changes.inserted(journals);
  expect([first?.seq, second?.seq]).toEqual([1n, 2n]);
  expect(second?.prevHash).toEqual(first?.hash);
  expect(first?.hash).not.toEqual(second?.hash);
  expect(done.changes.updated(heads)).toEqual([{ book: owner.book, seq: 2n, hash: second?.hash }]);
  const [after] = done.changes.updated(bookBalances);
  expect(Object.fromEntries(after?.balances ?? [])).toEqual({
    "acquirer:nusantara:receivable IDR": 1_000_000n,
    "acquirer:cendana:receivable IDR": 1_000_000n,
    "merchant:available IDR": -1_986_500n,
    "platform:fees IDR": -14_000n,
  });
  expect(second?.entries.map(({ account, balanceAfterMinor }) => [account, balanceAfterMinor])).toContainEqual([
    "merchant:available",
    -1_986_500n,
  ]);
});

test("whatever was paid, a capture is balanced, of known accounts, and credits exactly the net", () => {
  const amounts = fc.bigInt({ min: 1n, max: 9_007_199_254_740_991n });
  fc.assert(
    fc.property(amounts, fc.bigInt({ min: 0n, max: 10_000n }), (amountMinor, share) => {
      const feeMinor = (amountMinor * share) / 10_000n;
      const postings = capturePostings({ gatewayCode: "nusantara", currency: "USD", amountMinor, feeMinor });
      expect(() => assertBalanced(postings)).not.toThrow();
      const sumOf = (account: string): bigint =>
        postings.filter((one) => one.account === account).reduce((sum, one) => sum + one.amountMinor, 0n);
      expect(-sumOf("merchant:available")).toBe(amountMinor - feeMinor);
      expect(-sumOf("platform:fees")).toBe(feeMinor);
      expect(sumOf("acquirer:nusantara:receivable")).toBe(amountMinor);
      expect(postings.every(({ account, currency }) => isAccount(account) && currency === "USD")).toBe(true);
    }),
  );
});

test("a whole life, in any order: only listed transitions, one event each, and one capture if it was paid", () => {
  const listed = new Set([
    "pending > processing",
    "pending > succeeded",
    "pending > failed",
    "pending > expired",
    "pending > canceled",
    "processing > succeeded",
    "processing > failed",
  ]);
  const step = fc.oneof(
    fc.constantFrom(...outcomes).map((outcome) => ({ kind: "outcome" as const, outcome })),
    fc.constantFrom("cancel", "expire").map((kind) => ({ kind })),
    fc.integer({ min: 1, max: 1_000 }).map((seconds) => ({ kind: "wait" as const, seconds })),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 10 }), (steps) => {
      const payment = aPayment();
      let now = NOW;
      let status: PaymentStatus = "pending";
      const lived: PaymentStatus[] = [];
      // Nothing is due yet: the life begins with a command that does nothing.
      let last: Then<unknown> = given({ rows: [row(payments, payment)] }).when(expirePayment(owner, payment.reference));
      for (const one of steps) {
        if (one.kind === "wait") {
          now += one.seconds * SECOND;
          continue;
        }
        const command =
          one.kind === "outcome"
            ? taking(owner, payment.reference, one.outcome)
            : one.kind === "cancel"
              ? cancelPayment(router, owner, payment.reference, undefined)
              : expirePayment(owner, payment.reference);
        const done: Then<unknown> = last.when<unknown>(command, now);
        const [found] = done.changes.updated(payments);
        const next = found?.status ?? "pending";
        if (next !== status) {
          expect([...listed]).toContain(`${status} > ${next}`);
          if (next === "expired") expect(now).toBeGreaterThanOrEqual(payment.expiresAt);
          if (next !== "expired" && status === "pending") expect(now).toBeLessThan(payment.expiresAt);
          lived.push(next);
          status = next;
        }
        expect(done.changes.events).toEqual(lived.map((each) => `payment.${each}`));
        expect(done.changes.journals).toHaveLength(isPaid(status) ? 1 : 0);
        if (found) expect({ ...found, ...changing }).toEqual({ ...payment, ...changing });
        last = done;
      }
    }),
  );
});

/** What may change in such a life. */
const changing = { status: undefined, updatedAt: 0, paidAt: undefined, canceledAt: undefined, cancelReason: undefined };
