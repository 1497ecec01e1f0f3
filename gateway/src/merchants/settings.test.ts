// Goal: a change of settings changes what it names, and a currency is enabled only with prices and limits of its own. Method: pure examples,
// then the operator's API.
import { afterAll, beforeAll, expect, test } from "vitest";
import { alsoIn, settingsIn } from "../../test/currencies.ts";
import { type TestService, paymentBody, startService } from "../../test/kit.ts";
import {
  type SettingsChange,
  applyChange,
  defaultSettings,
  feeRuleOf,
  maximumOf,
  missingOf,
  settingsSchema,
} from "./settings.ts";

const worldwide = settingsIn(defaultSettings, "USD");
const { va: _, ...withoutVa } = worldwide.fees;

test("the default currency needs nothing, and another one everything that has a unit", () => {
  expect(missingOf(defaultSettings)).toBeUndefined();
  expect(missingOf(worldwide)).toBeUndefined();
});

test.each<[string, Partial<typeof worldwide>, string]>([
  ["a largest amount", { max_amount_minor_per_currency: {} }, "max_amount_minor.USD"],
  ["a fee of each method", { fees: { ...withoutVa, va: defaultSettings.fees.va } }, "fees.va.per_currency.USD"],
  ["what another currency has", { currencies: ["IDR", "USD", "JPY"] }, "max_amount_minor.JPY"],
])("a currency without %s is missing it", (_what, change, field) => {
  expect(missingOf({ ...worldwide, ...change })?.field).toBe(field);
});

test("a method that is off needs no fee", () => {
  const off = { ...worldwide, fees: { ...withoutVa, va: defaultSettings.fees.va } };
  expect(missingOf({ ...off, methods: { ...off.methods, va: { enabled: false } } })).toBeUndefined();
});

test("prices and limits are read in their own currency's units", () => {
  const settings = { ...worldwide, max_amount_minor_per_currency: { USD: 700 } };
  expect([maximumOf(settings, "va", "USD"), maximumOf(settings, "va", "IDR")]).toEqual([700n, 10_000_000_000n]);
  expect([feeRuleOf(settings, "va", "USD").flatMinor, feeRuleOf(settings, "va", "IDR").flatMinor]).toEqual([
    0n,
    400_000n,
  ]);
  expect(() => feeRuleOf(settings, "va", "JPY")).toThrow(/JPY/);
});

test("a price replaces the whole one of its method, as the contract says, and that of no other", () => {
  const price = { basis_points: 100, flat_minor: 0 };
  const before = applyChange(worldwide, {
    fees: { card: { ...price, maximum_minor: 9, per_currency: { USD: price } } },
  });
  const after = applyChange(before, { fees: { card: { basis_points: 90, flat_minor: 0 } } });
  expect([after.fees.card, after.fees.va]).toEqual([{ basis_points: 90, flat_minor: 0 }, worldwide.fees.va]);
});

test.each<[string, SettingsChange, object]>([
  [
    "a number is the default currency's",
    { max_amount_minor: 5 },
    { max_amount_minor: 5, max_amount_minor_per_currency: { USD: 1 } },
  ],
  [
    "an object names currencies, and the others stay",
    { max_amount_minor: { JPY: 2, IDR: 3 } },
    { max_amount_minor: 3, max_amount_minor_per_currency: { USD: 1, JPY: 2 } },
  ],
])("of a largest amount %s", (_what, change, expected) => {
  expect(applyChange({ ...worldwide, max_amount_minor_per_currency: { USD: 1 } }, change)).toMatchObject(expected);
});

test("a change of one part of the risk settings or the schedule leaves the others as they were", () => {
  const own = {
    ...defaultSettings,
    risk: { ...defaultSettings.risk, review_at: 11, large_amount_minor_per_currency: { USD: 9 } },
    settlement: { ...defaultSettings.settlement, minimum_payout_minor_per_currency: { USD: 8 } },
  };
  const changed = applyChange(own, { risk: { reject_at: 99 }, settlement: { delay_days: 3 } });
  expect(changed.risk).toEqual({ ...own.risk, reject_at: 99 });
  expect(changed.settlement).toEqual({ ...own.settlement, delay_days: 3 });
  expect(settingsSchema.parse(changed)).toEqual(changed);
});

test("an amount that names the default currency among others is its own", () => {
  const { risk, settlement } = applyChange(defaultSettings, {
    risk: { large_amount_minor_per_currency: { IDR: 100, KWD: 7 } },
    settlement: { minimum_payout_minor_per_currency: { IDR: 200, JPY: 9 } },
  });
  expect(risk).toMatchObject({ large_amount_minor: 100, large_amount_minor_per_currency: { KWD: 7 } });
  expect(settlement).toMatchObject({
    minimum_payout_minor: 200,
    minimum_payout_minor_per_currency: { JPY: 9 },
  });
  const twice = (own: number): unknown =>
    applyChange(defaultSettings, { risk: { large_amount_minor: 5, large_amount_minor_per_currency: { IDR: own } } })
      .risk;
  expect(twice(5)).toMatchObject({ large_amount_minor: 5 });
  expect(() => twice(6)).toThrow(
    expect.objectContaining({
      code: "VALIDATION_ERROR",
      extras: expect.objectContaining({ details: { field: "large_amount_minor_per_currency.IDR", value: 6 } }),
    }),
  );
});

let service: TestService;
beforeAll(async () => {
  service = await startService({ roles: ["api"] });
});
afterAll(() => service.stop());

test("a currency is enabled with its fees and its limit, and with nothing less", async () => {
  const { client, merchantId } = await service.merchant();
  const path = `/merchants/${merchantId}`;
  const before = await service.operate("GET", path);
  const { currencies, fees, max_amount_minor } = alsoIn(defaultSettings, "USD");
  for (const [change, field] of [
    [{ currencies }, "max_amount_minor.USD"],
    [{ currencies, fees }, "max_amount_minor.USD"],
    [{ currencies, max_amount_minor }, "fees.qris.per_currency.USD"],
  ] as const) {
    await expect(service.operate("PATCH", path, change)).rejects.toThrow(`"field":"${field}"`);
    expect(await service.operate("GET", path)).toEqual(before);
  }
  const after = await service.operate("PATCH", path, { currencies, fees, max_amount_minor: { USD: 5_000 } });
  expect(after).toMatchObject({
    currencies,
    max_amount_minor: 10_000_000_000,
    max_amount_minor_per_currency: { USD: 5_000 },
  });
  const pay = (amount_minor: number) =>
    client.post("/v1/payments", paymentBody({ currency: "USD", payment_method: "card", amount_minor }));
  expect((await pay(5_000)).json).toMatchObject({ status: "pending", fee_minor: 145 });
  expect((await pay(5_001)).json.error).toMatchObject({ code: "INVALID_AMOUNT", details: { maximum_minor: 5_000 } });
  await expect(service.operate("PATCH", path, { fees: { card: { basis_points: 1, flat_minor: 0 } } })).rejects.toThrow(
    "fees.card.per_currency.USD",
  );
});

test("a currency that is left out takes no new payments and gives none back, while what is open or due in it goes on", async () => {
  const { client, merchantId } = await service.merchant();
  const path = `/merchants/${merchantId}`;
  await service.operate("PATCH", path, alsoIn(defaultSettings, "KWD"));
  const create = async () =>
    client.post("/v1/payments", paymentBody({ currency: "KWD", payment_method: "card", amount_minor: 10_000 }));
  const open = (await create()).json.reference;
  await service.operate("PATCH", path, { currencies: ["IDR"] });
  expect((await create()).json.error.code).toBe("CURRENCY_NOT_SUPPORTED");
  const paid = await client.post(`/v1/sandbox/payments/${open}/simulate`, { outcome: "succeeded" });
  expect(paid.json).toMatchObject({ status: "succeeded", net_minor: 9_710 });
  expect((await client.post("/v1/refunds", { payment_reference: open })).json.error.code).toBe("WALLET_NOT_FOUND");
  const [, kwd] = (await client.get("/v1/balances")).json.data;
  expect(kwd).toMatchObject({ currency: "KWD", available_minor: 9_710 });
  const [batch] = (await client.post("/v1/sandbox/settlements/run", {})).json.data;
  expect(batch).toMatchObject({ currency: "KWD", net_minor: 9_710 });
  await service.operate("PATCH", path, { currencies: ["IDR", "KWD"] });
  const again = await client.post("/v1/refunds", { payment_reference: open, amount_minor: 1 });
  expect(again.json.error.code).toBe("INSUFFICIENT_FUNDS");
});

test("a change of one part of the risk settings leaves when a person looks", async () => {
  const { merchantId } = await service.merchant();
  const path = `/merchants/${merchantId}`;
  await service.operate("PATCH", path, { risk: { review_at: 33 } });
  const { risk } = await service.operate("PATCH", path, { risk: { customer_per_hour: 7 } });
  expect(risk).toMatchObject({ review_at: 33, customer_per_hour: 7 });
});
