// Goal: a refund is refused for the first reason that holds, never exceeds its payment, and is reversed in the ledger at once. Method:
// the pure command over tables of payments, disputes and balances, and by property.
import fc from "fast-check";
import type { Acquirer, Capability } from "../acquirers/acquirer.ts";
import { describe, expect, test } from "vitest";
import { SECOND } from "../ground/clock.ts";
import { momentOf, newId, uuidOf } from "../ground/ids.ts";
import { NOW, type Given, type Then, given, ownerWith, row } from "../../test/given.ts";
import { aPayment } from "../../test/payments.ts";
import { nothing, owning, refundParts } from "../../test/refunds.ts";
import { scriptedAcquirer } from "../../test/scripted-acquirer.ts";
import type { Minor } from "../ground/money.ts";
import { journals } from "../ledger/ledger.sql.ts";
import { otherBook } from "../merchants/books.ts";
import { type MerchantSettings, defaultSettings } from "../merchants/settings.ts";
import { type Payment, disputeStatuses, isRunning } from "../payments/payment.ts";
import { payments } from "../payments/payments.sql.ts";
import { paymentStatuses } from "../payments/states.ts";
import { completeRefund, createRefund, refundableOf, remainingOf } from "./refunds.ts";
import { refunds } from "./refunds.sql.ts";

const RICH = owning({ available: 10_000_000n });
const { parts } = refundParts("at once");

interface Asked {
  amount_minor?: number;
  currency?: string;
  reason?: string;
}
const refund = (payment: Payment, asked: Asked = {}, settings: Partial<MerchantSettings> = {}, how = parts) =>
  createRefund(how, ownerWith(settings), { payment_reference: payment.reference, ...asked });
const with1 = (payment: Payment, balances: Given["balances"] = RICH) =>
  given({ rows: [row(payments, payment)], balances });

describe("which payments", () => {
  test.each(paymentStatuses)("a %s payment", (status) => {
    const payment = aPayment({ status });
    const outcome = with1(payment).when(refund(payment));
    if (status === "succeeded" || status === "partially_refunded")
      expect(outcome.answer.refund.status).toBe("succeeded");
    else if (status === "refunded") outcome.refuses("REFUND_EXCEEDS_PAYMENT", { remaining_refundable_minor: 0 });
    else outcome.refuses("PAYMENT_NOT_REFUNDABLE");
  });

  test.each(disputeStatuses)("a payment with a dispute that is %s", (disputeStatus) => {
    const payment = aPayment({ status: "succeeded", disputeStatus });
    const outcome = with1(payment).when(refund(payment));
    const isOpen = ["needs_response", "under_review"].includes(disputeStatus);
    expect(isRunning(disputeStatus)).toBe(isOpen);
    if (isOpen) outcome.refuses("PAYMENT_NOT_REFUNDABLE");
    else expect(outcome.answer.remainingMinor).toBe(0n);
  });

  test("after a lost dispute what was not contested can be refunded, and not a unit more", () => {
    const payment = aPayment({ status: "succeeded", disputeStatus: "lost", lostMinor: 300_000n });
    with1(payment)
      .when(refund(payment, { amount_minor: 700_001 }))
      .refuses("REFUND_EXCEEDS_PAYMENT", { remaining_refundable_minor: 700_000 });
    const { refund: made, remainingMinor } = with1(payment).when(refund(payment)).answer;
    expect([made.amountMinor, remainingMinor]).toEqual([700_000n, 0n]);
    const whole = aPayment({ status: "succeeded", disputeStatus: "lost", lostMinor: 1_000_000n });
    with1(whole).when(refund(whole)).refuses("REFUND_EXCEEDS_PAYMENT", { remaining_refundable_minor: 0 });
  });

  test("one of the other environment is a mismatch, and one of nobody is not found", () => {
    const elsewhere = aPayment({ status: "succeeded", book: otherBook(ownerWith().book) });
    given({ rows: [row(payments, elsewhere)] })
      .when(refund(elsewhere))
      .refuses("ENVIRONMENT_MISMATCH");
    given().when(refund(elsewhere)).refuses("PAYMENT_NOT_FOUND");
  });
});

test("refusals prevail in one order: state, currency, remaining, wallet, frozen, funds", () => {
  // Each line mends one thing that was wrong with the line before it.
  const wrong: Asked = { amount_minor: 2_000_000, currency: "USD" };
  const frozen: Partial<MerchantSettings> = { currencies: ["USD"], wallet_frozen: { IDR: true } };
  const open: Partial<MerchantSettings> = { wallet_frozen: { IDR: true } };
  const pending = aPayment();
  const paid = aPayment({ status: "succeeded" });
  const poor = owning({ available: 1n });
  with1(pending, poor)
    .when(refund(pending, wrong, frozen))
    .refuses("PAYMENT_NOT_REFUNDABLE");
  with1(paid, poor)
    .when(refund(paid, wrong, frozen))
    .refuses("CURRENCY_MISMATCH");
  with1(paid, poor)
    .when(refund(paid, { amount_minor: 2_000_000, currency: "IDR" }, frozen))
    .refuses("REFUND_EXCEEDS_PAYMENT", { remaining_refundable_minor: 1_000_000 });
  with1(paid, poor)
    .when(refund(paid, {}, frozen))
    .refuses("WALLET_NOT_FOUND");
  with1(paid, poor)
    .when(refund(paid, {}, open))
    .refuses("WALLET_FROZEN");
  with1(paid, poor).when(refund(paid)).refuses("INSUFFICIENT_FUNDS");
  expect(with1(paid).when(refund(paid)).answer.refund.amountMinor).toBe(1_000_000n);
});

describe("what remains", () => {
  test.each([
    ["nothing is refunded", 0n, 0n, 1_000_000n],
    ["a part is refunded", 400_000n, 0n, 600_000n],
    ["a part is pending: it cannot be spent twice", 400_000n, 500_000n, 100_000n],
    ["everything is refunded or pending", 400_000n, 600_000n, 0n],
  ])("when %s", (_when, refundedMinor, refundPendingMinor, left) => {
    const payment = aPayment({
      status: refundedMinor > 0n ? "partially_refunded" : "succeeded",
      refundedMinor,
      refundPendingMinor,
    });
    expect(remainingOf(payment)).toBe(left);
    const details = { remaining_refundable_minor: Number(left) };
    with1(payment)
      .when(refund(payment, { amount_minor: Number(left) + 1 }))
      .refuses("REFUND_EXCEEDS_PAYMENT", details);
    if (left === 0n) with1(payment).when(refund(payment)).refuses("REFUND_EXCEEDS_PAYMENT", details);
    else
      expect(with1(payment).when(refund(payment)).answer).toMatchObject({
        refund: { amountMinor: left },
        remainingMinor: 0n,
      });
  });
});

/** An acquirer of this payment, with such terms. */
function taking({ method, currency }: Payment, terms: Partial<Capability>): Acquirer {
  const acquirer = scriptedAcquirer("nusantara");
  const [capability] = acquirer.capabilities;
  return { ...acquirer, capabilities: [{ ...capability!, method, currencies: [currency], ...terms }] };
}

test("of a method that the acquirer gives nothing back of, nothing can be refunded", () => {
  const payment = aPayment({ status: "succeeded", gatewayCode: "nusantara", method: "va" });
  const never = taking(payment, { refunds: false });
  with1(payment)
    .when(refund(payment, {}, {}, { ...parts, acquirer: () => never }))
    .refuses("PAYMENT_NOT_REFUNDABLE");
  expect(refundableOf(payment, never, defaultSettings)).toBe(0n);
  // What it says of other methods, or said before it was taken away, is in nobody's way.
  for (const other of [taking({ ...payment, method: "card" }, { refunds: false }), taking(payment, {}), undefined]) {
    expect(
      with1(payment).when(refund(payment, {}, {}, { ...parts, acquirer: () => other })).answer.remainingMinor,
    ).toBe(0n);
    expect(refundableOf(payment, other, defaultSettings)).toBe(1_000_000n);
  }
});

/** An open wallet, a frozen one, one of another currency that is frozen, and none. */
const wallets: Partial<MerchantSettings>[] = [
  {},
  { wallet_frozen: { IDR: true } },
  { wallet_frozen: { USD: true, IDR: false } },
  { currencies: ["USD"] },
];

test("nothing can be refunded while the wallet is frozen or there is none", () => {
  const payment = aPayment({ status: "succeeded" });
  const told = wallets.map((settings) => refundableOf(payment, undefined, { ...defaultSettings, ...settings }));
  expect(told).toEqual([1_000_000n, 0n, 1_000_000n, 0n]);
});

test.each(disputeStatuses)(
  "what can be refunded is what a refund of everything gives, with a dispute that is %s",
  (disputeStatus) => {
    for (const status of paymentStatuses)
      for (const settings of wallets) {
        const payment = aPayment({
          status,
          disputeStatus,
          refundedMinor: status === "partially_refunded" ? 400_000n : 0n,
        });
        const all = with1(payment).when(refund(payment, {}, settings));
        const refundable = refundableOf(payment, undefined, { ...defaultSettings, ...settings });
        if (refundable > 0n) expect(all.answer.refund.amountMinor).toBe(refundable);
        else expect(() => all.answer).toThrow();
      }
  },
);

test("an amount that is too fine for the acquirer is refused before it is ordered, of the rest as well", () => {
  const inHundreds = (status: Payment["status"], refundedMinor: Minor) =>
    aPayment({ status, refundedMinor, gatewayCode: "nusantara" });
  const payment = inHundreds("succeeded", 0n);
  const strict = { ...parts, acquirer: () => taking(payment, { stepMinor: 100n }) };
  const bounds = { field: "amount_minor", minimum_minor: 100, maximum_minor: 1_000_000, multiple_of_minor: 100 };
  for (const [amount, status] of [
    [100, "succeeded"],
    [999_900, "succeeded"],
    [150, "INVALID_AMOUNT"],
    [1, "INVALID_AMOUNT"],
    [999_999, "INVALID_AMOUNT"],
    [1_000_100, "REFUND_EXCEEDS_PAYMENT"],
  ] as const) {
    const outcome = with1(payment).when(refund(payment, { amount_minor: amount }, {}, strict));
    if (status === "succeeded") expect(outcome.answer.refund.amountMinor).toBe(BigInt(amount));
    else if (status === "INVALID_AMOUNT") outcome.refuses(status, { ...bounds, value: amount });
    else outcome.refuses(status);
  }
  const odd = inHundreds("partially_refunded", 50n);
  with1(odd)
    .when(refund(odd, {}, {}, strict))
    .refuses("INVALID_AMOUNT", { ...bounds, maximum_minor: 999_900, value: 999_950 });
});

describe("funds", () => {
  test.each([
    // available, held, what a refund of 100 answers
    [100n, 0n, undefined],
    [99n, 0n, "INSUFFICIENT_FUNDS"],
    [99n, 1n, "DISPUTE_LOCKED"],
    [0n, 100n, "DISPUTE_LOCKED"],
    [0n, 99n, "INSUFFICIENT_FUNDS"],
    [-50n, 150n, "DISPUTE_LOCKED"],
    [-50n, 149n, "INSUFFICIENT_FUNDS"],
  ] as const)("%s available and %s held", (available, held, code) => {
    const payment = aPayment({ status: "succeeded" });
    const outcome = with1(payment, owning({ available, held })).when(refund(payment, { amount_minor: 100 }));
    if (code === undefined) expect(outcome.answer.refund.amountMinor).toBe(100n);
    else outcome.refuses(code);
  });

  test("funds of another currency or in a batch do not count", () => {
    const payment = aPayment({ status: "succeeded" });
    const balances = { ...owning({ settling: 1_000_000n }), ...owning({ available: 1_000_000n }, "USD") };
    with1(payment, balances).when(refund(payment)).refuses("INSUFFICIENT_FUNDS");
  });
});

describe("what a refund does", () => {
  test.each([
    ["at once", "succeeded", ["refund.succeeded"], false],
    ["later", "pending", [], false],
    ["by a call", "pending", [], true],
    ["not configured", "pending", [], true],
  ] as const)("at an acquirer that refunds %s", (how, status, events, isPlanned) => {
    const { parts: own, planned } = refundParts(how);
    const payment = aPayment({ status: "succeeded" });
    with1(payment)
      .when(refund(payment, { amount_minor: 300_000, reason: "broken" }, {}, own))
      .then((changes, answer) => {
        expect(answer).toMatchObject({
          refund: {
            status,
            amountMinor: 300_000n,
            reason: "broken",
            completedAt: status === "pending" ? undefined : NOW,
          },
          remainingMinor: 700_000n,
        });
        expect(changes.events).toEqual(events);
        expect(planned).toEqual(isPlanned ? [answer.refund.uuid] : []);
        // The fee of 7,000 stays with the platform: only the amount goes back.
        expect(changes.journals).toEqual([
          {
            kind: "refund",
            entries: { "merchant:available IDR": 300_000n, "acquirer:nusantara:receivable IDR": -300_000n },
          },
        ]);
        const later = status === "pending";
        expect(changes.updated(payments)).toMatchObject([
          {
            status: later ? "succeeded" : "partially_refunded",
            refundedMinor: later ? 0n : 300_000n,
            refundPendingMinor: later ? 300_000n : 0n,
            feeMinor: 7_000n,
          },
        ]);
      });
  });

  test("one with an identity of its own is made once, and given again", () => {
    const payment = aPayment({ status: "succeeded" });
    const uuid = newId("refund", NOW);
    const asked = createRefund(
      parts,
      ownerWith(),
      { payment_reference: payment.reference, amount_minor: 400_000 },
      uuid,
    );
    const once = with1(payment).when(asked);
    const { answer, changes } = once.when(asked);
    expect(answer).toEqual(once.answer);
    expect(answer).toMatchObject({ refund: { uuid, amountMinor: 400_000n }, remainingMinor: 600_000n });
    expect([changes.inserted(refunds).length, changes.journals.length, changes.events]).toEqual([
      1,
      1,
      ["refund.succeeded"],
    ]);
  });

  test("its journal has its identity; that of an intent's, which may be days older, has one of its own time", () => {
    const payment = aPayment({ status: "succeeded" });
    const body = { payment_reference: payment.reference };
    const journalOf = (uuid?: string) => {
      const { answer, changes } = with1(payment).when(createRefund(parts, ownerWith(), body, uuid));
      return { refund: answer.refund.uuid, journal: changes.inserted(journals)[0]?.journalId ?? "" };
    };
    const plain = journalOf();
    expect(uuidOf(plain.journal)).toBe(uuidOf(plain.refund));
    expect(momentOf(journalOf(newId("refund", NOW - 86_400 * SECOND)).journal)).toBe(NOW);
  });

  test("the last part makes the payment refunded", () => {
    const payment = aPayment({ status: "partially_refunded" });
    with1(payment)
      .when(refund(payment))
      .then((changes) =>
        expect(changes.updated(payments)).toMatchObject([{ status: "refunded", refundedMinor: 1_000_000n }]),
      );
  });
});

test("any refunds, completed in any way: their sum never exceeds the payment, and the books agree", () => {
  const step = fc.record({
    amount: fc.bigInt({ min: 1n, max: 700_000n }),
    how: fc.constantFrom("at once", "later" as const),
    end: fc.constantFrom("succeeded", "failed", undefined),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 12 }), (steps) => {
      const payment = aPayment({ status: "succeeded" });
      let last: Then<unknown> = with1(payment).when(nothing);
      let taken: Minor = 0n;
      for (const { amount, how, end } of steps) {
        const made = last.when(
          refund(payment, { amount_minor: Number(amount) }, {}, refundParts(how as "at once").parts),
        );
        last = made;
        if ("fault" in made.outcome) {
          expect(taken + amount > 1_000_000n || taken === 1_000_000n).toBe(true);
          continue;
        }
        taken += amount;
        const { refund: one } = made.answer;
        if (one.status === "succeeded" || end === undefined) continue;
        last = made.when(completeRefund(ownerWith(), { uuid: one.uuid, paymentReference: payment.reference }, end));
        if (end === "failed") taken -= amount;
      }
      const [now = payment] = last.changes.updated(payments);
      const kept = last.changes.inserted(refunds).filter(({ status }) => status !== "failed");
      expect(now.refundedMinor + now.refundPendingMinor).toBe(taken);
      expect(taken <= payment.amountMinor).toBe(true);
      expect(kept.reduce((sum, { amountMinor }) => sum + amountMinor, 0n)).toBe(taken);
      const gone = last.changes.journals.reduce(
        (sum, { entries }) => sum + (entries["merchant:available IDR"] ?? 0n),
        0n,
      );
      expect(gone).toBe(taken);
    }),
    { numRuns: 200 },
  );
});
