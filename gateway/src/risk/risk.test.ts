// Goal: the same facts give the same verdict, and each sign counts. Method: one example for each sign, then properties.
import fc from "fast-check";
import { expect, test } from "vitest";
import { defaultSettings } from "../merchants/settings.ts";
import { type RiskFacts, assess } from "./risk.ts";
import { contactKeysOf } from "./velocity.sql.ts";

const settings = defaultSettings.risk;
const calm: RiskFacts = {
  amountMinor: 150_000n,
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
  expect(assess({ ...calm, customer, sandbox: false }, settings).decision).toBe("approve");
});

test("scores stay within 0 and 100, follow the weights, and more signs never lower them", () => {
  const facts = fc.record({
    amountMinor: fc.bigInt({ min: 1n, max: 10n ** 15n }),
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

test("a customer is the same person in either spelling of the address", () => {
  expect(contactKeysOf({ email: "Sari@Pelanggan.ID" })).toEqual(contactKeysOf({ email: "sari@pelanggan.id" }));
});

test("each contact has a key of its own, and a telephone the same one with and without an address", () => {
  const [email, phone] = ["sari@pelanggan.id", "+628123456789"];
  const both = contactKeysOf({ email, phone });
  expect(both).toEqual({
    customerKey: contactKeysOf({ email }).customerKey,
    phoneKey: contactKeysOf({ phone }).customerKey,
  });
  expect(both.customerKey).not.toBe(both.phoneKey);
  expect(contactKeysOf({ phone }).phoneKey).toBeNull();
  for (const customer of [{ name: "Sari" }, undefined]) {
    expect(contactKeysOf(customer)).toEqual({ customerKey: null, phoneKey: null });
  }
});
