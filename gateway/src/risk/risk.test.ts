// Goal: the same facts give the same verdict, and each sign counts. Method: one example for each sign, then properties.
import fc from "fast-check";
import { expect, test } from "vitest";
import { defaultSettings } from "../merchants/settings.ts";
import { type RiskFacts, assess } from "./risk.ts";

const settings = defaultSettings.risk;
const calm: RiskFacts = {
  amountMinor: 150_000n,
  currency: "IDR",
  customer: { name: "Sari", email: "sari@pelanggan.id", phone: "+628123456789" },
  customerPayments: 0,
  merchantPayments: 0,
  sandbox: true,
};
const signs = (facts: Partial<RiskFacts>): string[] =>
  assess({ ...calm, ...facts }, settings).reasons.map(({ sign }) => sign);

test("an ordinary payment has no sign against it", () => {
  expect(assess(calm, settings)).toEqual({ decision: "approve", score: 0, reasons: [] });
});

test("each sign is seen", () => {
  expect(signs({ customer: undefined })).toEqual(["no_customer"]);
  expect(signs({ customerPayments: settings.customer_per_hour })).toEqual(["customer_velocity"]);
  expect(signs({ merchantPayments: settings.merchant_per_minute })).toEqual(["merchant_velocity"]);
  expect(signs({ amountMinor: BigInt(settings.large_amount_minor) })).toEqual(["large_amount"]);
  expect(signs({ customer: { email: "a@MAILINATOR.com" } })).toEqual(["disposable_email"]);
  for (const customer of [
    { email: "a@b" },
    { email: "@b.co" },
    { email: "a@b..co" },
    { phone: "+11111111111" },
    { name: "123" },
  ]) {
    expect(signs({ customer }), JSON.stringify(customer)).toEqual(["malformed_contact"]);
  }
});

test("a burst from one throw-away mailbox is rejected", () => {
  const verdict = assess({ ...calm, customer: { email: "x@yopmail.com" }, customerPayments: 50 }, settings);
  expect(verdict).toMatchObject({ decision: "reject", score: 100 });
});

test("the sandbox's address asks for a rejection, and only in the sandbox", () => {
  const customer = { email: "someone@reject.test" };
  expect(assess({ ...calm, customer }, settings).decision).toBe("reject");
  expect(assess({ ...calm, customer }, { ...settings, reject_at: 100 }).decision).toBe("reject");
  expect(assess({ ...calm, customer, sandbox: false }, settings).decision).toBe("approve");
});

test("scores stay within 0 and 100, follow the weights, and more signs never lower them", () => {
  const facts = fc.record({
    amountMinor: fc.bigInt({ min: 1n, max: 10n ** 15n }),
    currency: fc.constantFrom("IDR", "USD"),
    customer: fc.option(fc.record({ email: fc.emailAddress() }), { nil: undefined }),
    customerPayments: fc.nat(100),
    merchantPayments: fc.nat(2000),
    sandbox: fc.boolean(),
  });
  fc.assert(
    fc.property(facts, fc.nat(100), (given, more) => {
      const verdict = assess(given, settings);
      expect(verdict).toEqual(assess(given, settings));
      expect(verdict.score).toBeGreaterThanOrEqual(0);
      expect(verdict.score).toBeLessThanOrEqual(100);
      expect(verdict.decision === "reject").toBe(verdict.score >= settings.reject_at);
      expect(
        assess({ ...given, customerPayments: given.customerPayments + more }, settings).score,
      ).toBeGreaterThanOrEqual(verdict.score);
    }),
  );
});

test.each<[string, Partial<RiskFacts>, string | undefined]>([
  ["one payment short of the customer's cap", { customerPayments: settings.customer_per_hour - 1 }, undefined],
  ["the customer's cap", { customerPayments: settings.customer_per_hour }, "customer_velocity"],
  ["one payment short of the merchant's cap", { merchantPayments: settings.merchant_per_minute - 1 }, undefined],
  ["the merchant's cap", { merchantPayments: settings.merchant_per_minute }, "merchant_velocity"],
  ["one unit short of a large amount", { amountMinor: BigInt(settings.large_amount_minor) - 1n }, undefined],
  ["a large amount", { amountMinor: BigInt(settings.large_amount_minor) }, "large_amount"],
  ["a domain below a disposable one", { customer: { email: "a@x.Mailinator.com" } }, "disposable_email"],
  ["a domain that only ends like a disposable one", { customer: { email: "a@notmailinator.com" } }, undefined],
  ["a name of marks alone", { customer: { name: "- -" } }, "malformed_contact"],
  ["a name in any script", { customer: { name: "Жанна" } }, undefined],
  ["a customer who says nothing", { customer: {} }, undefined],
  ["a telephone with one other digit", { customer: { phone: "+111111112" } }, undefined],
])("%s", (_name, facts, sign) => expect(signs(facts)).toEqual(sign === undefined ? [] : [sign]));

test.each([
  [69, "approve"],
  [70, "review"],
  [79, "review"],
  [80, "reject"],
  [100, "reject"],
] as const)("a score of %i means %s", (points, decision) => {
  const weights = { ...settings.weights, no_customer: points };
  const verdict = assess({ ...calm, customer: undefined }, { ...settings, weights });
  expect(verdict).toEqual({ decision, score: points, reasons: [{ sign: "no_customer", points }] });
});

test("a sign without weight is not among the reasons", () => {
  const weights = { ...settings.weights, no_customer: 0 };
  expect(assess({ ...calm, customer: undefined }, { ...settings, weights }).reasons).toEqual([]);
});

test("the sandbox's address asks for a review, in any spelling and only in the sandbox", () => {
  const customer = { email: "someone@Review.TEST" };
  expect(assess({ ...calm, customer }, settings)).toMatchObject({ decision: "review", score: settings.review_at });
  expect(assess({ ...calm, customer, sandbox: false }, settings).decision).toBe("approve");
  expect(assess({ ...calm, customer }, { ...settings, review_at: 79 }).decision).toBe("review");
  // A merchant that has nothing reviewed gets none by asking.
  expect(assess({ ...calm, customer }, { ...settings, review_at: 101 }).decision).toBe("approve");
});

test.each(["review", "reject"])(
  "what the sandbox's address asks for is decided, whatever else would be seen: %s",
  (decision) => {
    const burst = { amountMinor: 10n ** 12n, customerPayments: 1_000, merchantPayments: 10_000 };
    const customer = { name: "123", email: `someone@${decision}.test` };
    expect(assess({ ...calm, ...burst, customer }, settings)).toMatchObject({
      decision,
      reasons: [{ sign: `sandbox_asked_for_${decision}` }],
    });
    // In production it is an address like any other.
    const inProduction = assess({ ...calm, ...burst, customer, sandbox: false }, settings);
    expect(inProduction.reasons.map(({ sign }) => sign)).toContain("customer_velocity");
  },
);

test("whatever the weights, the score is the sum of the signs' points up to 100, and its bounds decide", () => {
  const points = fc.nat(100);
  const weights = fc.record({
    customer_velocity: points,
    merchant_velocity: points,
    large_amount: points,
    disposable_email: points,
    malformed_contact: points,
    no_customer: points,
  });
  const bounds = fc.tuple(fc.integer({ min: 1, max: 101 }), fc.integer({ min: 1, max: 101 }));
  const facts = fc.record({
    busyCustomer: fc.boolean(),
    busyMerchant: fc.boolean(),
    large: fc.boolean(),
    customer: fc.constantFrom("none", "calm", "disposable", "malformed"),
  });
  const customers = { none: undefined, calm: {}, disposable: { email: "a@yopmail.com" }, malformed: { name: "1" } };
  fc.assert(
    fc.property(weights, bounds, facts, (given, [review_at, reject_at], { customer, ...seen }) => {
      const verdict = assess(
        {
          currency: "IDR",
          amountMinor: seen.large ? BigInt(settings.large_amount_minor) : 1n,
          customer: customers[customer],
          customerPayments: seen.busyCustomer ? settings.customer_per_hour : 0,
          merchantPayments: seen.busyMerchant ? settings.merchant_per_minute : 0,
          sandbox: false,
        },
        { ...settings, weights: given, review_at, reject_at },
      );
      const sum =
        (seen.busyCustomer ? given.customer_velocity : 0) +
        (seen.busyMerchant ? given.merchant_velocity : 0) +
        (seen.large ? given.large_amount : 0) +
        { none: given.no_customer, calm: 0, disposable: given.disposable_email, malformed: given.malformed_contact }[
          customer
        ];
      expect(verdict.score).toBe(Math.min(100, sum));
      const decision = verdict.score >= reject_at ? "reject" : verdict.score >= review_at ? "review" : "approve";
      expect(verdict.decision).toBe(decision);
      expect(verdict.reasons.reduce((total, reason) => total + reason.points, 0)).toBe(sum);
    }),
  );
});

test("an amount is large in its own currency's units, and in none where nothing was said", () => {
  const worldwide = { ...settings, large_amount_minor: 1_000_000, large_amount_minor_per_currency: { USD: 5_000 } };
  const large = (amountMinor: bigint, currency: string): boolean =>
    assess({ ...calm, amountMinor, currency }, worldwide).reasons.some(({ sign }) => sign === "large_amount");
  expect([large(999_999n, "IDR"), large(1_000_000n, "IDR")]).toEqual([false, true]);
  expect([large(4_999n, "USD"), large(5_000n, "USD"), large(10n ** 12n, "EUR")]).toEqual([false, true, false]);
});
