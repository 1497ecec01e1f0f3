// Goal: whoever comes too often is seen, also within one batch. Method: the pure creation over given counts, by table and by property.
import fc from "fast-check";
import { expect, test } from "vitest";
import { creating, earlier } from "../../test/creations.ts";
import { NOW, given, ownerWith } from "../../test/given.ts";
import { payers } from "../../test/payers.ts";
import { aRouter } from "../../test/routing.ts";
import { SECOND } from "../ground/clock.ts";
import { newId } from "../ground/ids.ts";
import { defaultSettings } from "../merchants/settings.ts";
import type { Customer } from "../risk/risk.ts";
import type { VelocityKey } from "../risk/velocity.sql.ts";
import { payments } from "./payments.sql.ts";

const RISK = { ...defaultSettings.risk, customer_per_hour: 3, merchant_per_minute: 4 };
const counted = ownerWith({ risk: RISK });
const signs = (creation: ReturnType<typeof creating>, before: ReturnType<typeof given>): string[] =>
  before.when(creation).answer.payment.risk.reasons.map(({ sign }) => sign);

test.each([
  ["below both", 0, 0, []],
  ["one below", 3, 2, []],
  ["the customer's", 3, 3, ["customer_velocity"]],
  ["the merchant's", 4, 2, ["merchant_velocity"]],
  ["both", 4, 3, ["customer_velocity", "merchant_velocity"]],
])("%s threshold: %i of the merchant, %i of the customer", (_name, ofMerchant, ofCustomer, expected) => {
  const loose = ownerWith({ risk: { ...RISK, review_at: 101, reject_at: 101 } });
  const rows = earlier(loose, ofMerchant, [[{ email: "sari@pelanggan.id" }, ofCustomer]]);
  expect(signs(creating({}, { owner: loose }), given({ rows }))).toEqual(expected);
});

test("the first payment is not often, whether its payer is known or not", () => {
  const strict = ownerWith({ risk: { ...RISK, customer_per_hour: 1 } });
  for (const customer of [undefined, { name: "Sari" }, { email: "sari@pelanggan.id" }])
    expect(signs(creating({ customer }, { owner: strict }), given({ rows: earlier(strict, 0) }))).not.toContain(
      "customer_velocity",
    );
});

test("a merchant's last minute counts and a customer's last hour, by each contact that was given", () => {
  const counts = (customer: Customer | undefined) =>
    creating({ customer }, { owner: counted }).needs.flatMap(({ key }) => {
      const { contactKey, realSince, most } = key as Partial<VelocityKey>;
      return most === undefined ? [] : [{ contactKey, ago: NOW - (realSince ?? 0), most }];
    });
  const [email, phone] = ["sari@pelanggan.id", "+628123456789"];
  const ofMerchant = { contactKey: null, ago: 60 * SECOND, most: 4 };
  const of = (contact: string) => ({ contactKey: payers.contactKey(contact), ago: 3_600 * SECOND, most: 3 });
  expect(counts(undefined)).toEqual([ofMerchant]);
  expect(counts({ name: "Sari" })).toEqual([ofMerchant]);
  expect(counts({ phone })).toEqual([ofMerchant, of(phone)]);
  expect(counts({ email, phone })).toEqual([ofMerchant, of(email), of(phone)]);
});

test("of two contacts the busier one counts", () => {
  const [email, phone] = ["sari@pelanggan.id", "+628123456789"];
  for (const [ofEmail, ofPhone, expected] of [
    [3, 0, 1],
    [0, 3, 1],
    [2, 2, 0],
  ] as const) {
    const rows = earlier(counted, 0, [
      [{ email }, ofEmail],
      [{ phone }, ofPhone],
    ]);
    expect(signs(creating({ customer: { email, phone } }, { owner: counted }), given({ rows }))).toHaveLength(expected);
  }
});

test("a payment that is refused before it is judged counts for nobody", () => {
  const rows = earlier(counted, 3, [[{ email: "sari@pelanggan.id" }, 2]]);
  const nobody = aRouter({ acquirers: [] });
  const after = given({ rows })
    .when(creating({}, { owner: counted, router: nobody }))
    .refuses("NO_ROUTE_AVAILABLE");
  expect(after.when(creating({}, { owner: counted })).answer.payment.risk.reasons).toEqual([]);
});

test("one that is begun by a link counts for nobody who may have typed the contact, and for the merchant", () => {
  const loose = ownerWith({ risk: { ...RISK, review_at: 101, reject_at: 101 } });
  const link = { uuid: newId("link", NOW), reusable: true };
  const rows = earlier(loose, 0, [[{ email: "sari@pelanggan.id" }, 2]]);
  let after: { when: ReturnType<typeof given>["when"] } = given({ rows });
  for (const form of ["form-1", "form-2"]) after = after.when(creating({ reference_id: form }, { owner: loose, link }));
  const third = after.when(creating({}, { owner: loose }));
  expect(third.answer.payment.risk.reasons).toEqual([]);
  const fourth = third.when(creating({ reference_id: "form-3" }, { owner: loose, link }));
  expect(fourth.answer.payment.risk.reasons.map(({ sign }) => sign)).toEqual(["customer_velocity"]);
  const fifth = fourth.when(creating({ customer: undefined, reference_id: "order-2" }, { owner: loose }));
  expect(fifth.answer.payment.risk.reasons.map(({ sign }) => sign)).toEqual(["merchant_velocity", "no_customer"]);
});

test("one that is judged counts, whatever the judgement", () => {
  const customer = { email: "x@yopmail.com" };
  const strict = ownerWith({ risk: { ...RISK, weights: { ...RISK.weights, disposable_email: 100 } } });
  const rows = earlier(strict, 0, [[customer, 2]]);
  const again = given({ rows })
    .when(creating({ customer }, { owner: strict }))
    .refuses("RISK_REJECTED", undefined, true)
    .when(creating({ customer, reference_id: "order-2" }, { owner: strict }));
  const kept = again.changes.inserted(payments).find(({ referenceId }) => referenceId === "order-2");
  expect(kept?.risk.reasons.map(({ sign }) => sign)).toContain("customer_velocity");
});

test("however a batch mixes its customers, each payment sees all before it", () => {
  const emails = ["a@pelanggan.id", "b@pelanggan.id", undefined];
  const phones = ["+628110000001", "+628110000002", undefined];
  const customers = fc.record({ email: fc.constantFrom(...emails), phone: fc.constantFrom(...phones) });
  const loose = ownerWith({ risk: { ...RISK, review_at: 101, reject_at: 101 } });
  fc.assert(
    fc.property(fc.array(customers, { maxLength: 12 }), fc.nat(3), fc.nat(4), (batch, before, ofMerchant) => {
      const known = [...emails.map((email) => ({ email })), ...phones.map((phone) => ({ phone }))];
      const rows = earlier(
        loose,
        ofMerchant,
        known.map((contact) => [contact, before]),
      );
      const counts = new Map<string | undefined, number>();
      const count = (contact: string | undefined): number =>
        contact === undefined ? 0 : (counts.get(contact) ?? before);
      let after: { when: ReturnType<typeof given>["when"] } = given({ rows });
      for (const [index, customer] of batch.entries()) {
        const expected = [
          ...(Math.max(count(customer.email), count(customer.phone)) >= 3 ? ["customer_velocity"] : []),
          ...(ofMerchant + index >= 4 ? ["merchant_velocity"] : []),
        ];
        const done = after.when(creating({ customer, reference_id: `order-${index}` }, { owner: loose }));
        expect(done.answer.payment.risk.reasons.map(({ sign }) => sign)).toEqual(expected);
        for (const contact of [customer.email, customer.phone])
          if (contact !== undefined) counts.set(contact, count(contact) + 1);
        after = done;
      }
    }),
  );
});
