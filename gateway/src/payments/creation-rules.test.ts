// Goal: what the merchant's settings say of a creation, in the order of the interface's table. Method: the rules alone, pure.
import fc from "fast-check";
import { expect, test } from "vitest";
import { aCreation } from "../../test/creations.ts";
import { settingsIn } from "../../test/currencies.ts";
import { merchantWith } from "../../test/given.ts";
import { aRouter, anAcquirer, takes } from "../../test/routing.ts";
import { scenarios } from "../acquirers/simulated.ts";
import { Fault, type FaultCode } from "../ground/fault.ts";
import type { Call } from "../http/endpoint.ts";
import { judgeBody } from "../http/fields.ts";
import type { Environment } from "../merchants/books.ts";
import { type MerchantSettings, defaultSettings, paymentMethods } from "../merchants/settings.ts";
import { judgeCreation } from "./creation-rules.ts";
import { createPaymentRules } from "./payments.schema.ts";
import { amountFault } from "./route-selection.ts";

function refusal(
  input: Record<string, unknown>,
  settings: Partial<MerchantSettings> = {},
  environment: Environment = "sandbox",
  router = aRouter(),
): Fault | undefined {
  const merchant = merchantWith(settings);
  const call = { merchant, book: { merchantId: merchant.merchantId, environment } } as Call;
  try {
    // No address is checked here.
    const parts = { ...router, checkCallbackUrl: (url: string) => Promise.resolve(url) };
    void judgeCreation(parts, call, input, judgeBody(createPaymentRules, input));
    return undefined;
  } catch (error) {
    if (error instanceof Fault) return error;
    throw error;
  }
}

/** "accepted", or the code with the field it blames. */
function judged(...asked: Parameters<typeof refusal>): string {
  const fault = refusal(...asked);
  const field = fault?.code === "VALIDATION_ERROR" && fault.extras.details?.field;
  return fault ? [fault.code, field].filter(Boolean).join(" ") : "accepted";
}

const on = { enabled: true };
const usd = { currency: "USD", payment_method: "card" };
const off = { enabled: false };
const methods = { ...defaultSettings.methods, va: { enabled: true, max_amount_minor: 500_000 }, card: off };
const capped = { max_amount_minor: 1_000_000, methods };
const worldwide = { ...settingsIn(defaultSettings, "USD"), max_amount_minor_per_currency: { USD: 5_000 } };

test.each<[string, Record<string, unknown>, Partial<MerchantSettings>, FaultCode | "accepted"]>([
  ["the least amount", { amount_minor: 1 }, {}, "accepted"],
  ["nothing", { amount_minor: 0 }, {}, "INVALID_AMOUNT"],
  ["the default maximum", { amount_minor: 10_000_000_000 }, {}, "accepted"],
  ["one more than the default maximum", { amount_minor: 10_000_000_001 }, {}, "INVALID_AMOUNT"],
  ["the merchant's maximum", { amount_minor: 1_000_000 }, capped, "accepted"],
  ["one more than the merchant's", { amount_minor: 1_000_001 }, capped, "INVALID_AMOUNT"],
  ["the method's maximum", { amount_minor: 500_000, payment_method: "va" }, capped, "accepted"],
  ["one more than the method's", { amount_minor: 500_001, payment_method: "va" }, capped, "INVALID_AMOUNT"],
  ["another method's maximum", { amount_minor: 500_001 }, capped, "accepted"],
  [
    "a method's maximum above the merchant's",
    { amount_minor: 1_000_001 },
    { ...capped, methods: { ...methods, qris: { enabled: true, max_amount_minor: 2_000_000 } } },
    "INVALID_AMOUNT",
  ],
  ["a currency that is not enabled", { currency: "USD" }, {}, "CURRENCY_NOT_SUPPORTED"],
  ["one that does not exist", { currency: "XXX" }, { currencies: ["XXX"] }, "CURRENCY_NOT_SUPPORTED"],
  ["one in small letters", { currency: "idr" }, {}, "CURRENCY_NOT_SUPPORTED"],
  ["one that is enabled", { ...usd, amount_minor: 5_000 }, worldwide, "accepted"],
  ["more than the currency's own maximum", { ...usd, amount_minor: 5_001 }, worldwide, "INVALID_AMOUNT"],
  [
    "a method's maximum, which is in the default currency",
    { ...usd, amount_minor: 5_000 },
    { ...worldwide, methods: { ...worldwide.methods, card: { enabled: true, max_amount_minor: 1_000 } } },
    "accepted",
  ],
  ["a method that is off", { payment_method: "card" }, capped, "PAYMENT_METHOD_UNAVAILABLE"],
  [
    "a method that nobody takes in the currency",
    { currency: "USD", amount_minor: 1 },
    worldwide,
    "PAYMENT_METHOD_UNAVAILABLE",
  ],
])("%s", (_name, changes, settings, expected) => {
  expect(judged({ ...aCreation(), ...changes }, settings)).toBe(expected);
});

test.each(paymentMethods)("a new merchant may take %s in IDR", (method) => {
  expect(judged({ ...aCreation(), payment_method: method })).toBe("accepted");
  const closed = { ...defaultSettings.methods, [method]: off };
  expect(judged({ ...aCreation(), payment_method: method }, { methods: closed })).toBe("PAYMENT_METHOD_UNAVAILABLE");
});

test("closed production has no route, rather than no method", () => {
  const closed = aRouter({}, false);
  expect(judged({ ...aCreation() }, {}, "production", closed)).toBe("accepted");
  const methodsOff = { ...defaultSettings.methods, qris: off, va: on };
  expect(judged({ ...aCreation() }, { methods: methodsOff }, "production", closed)).toBe("PAYMENT_METHOD_UNAVAILABLE");
});

test("open production has the methods that its acquirers take, and no retry is asked for the others", () => {
  const acquirer = anAcquirer("bank", { environment: "production", capabilities: [takes()] });
  const open = aRouter({ acquirers: [acquirer] });
  expect(judged({ ...aCreation() }, {}, "production", open)).toBe("accepted");
  expect(judged({ ...aCreation(), payment_method: "va" }, {}, "production", open)).toBe("PAYMENT_METHOD_UNAVAILABLE");
});

test("an amount that no acquirer takes is refused before the fields after it, within the merchant's own bounds", () => {
  const capability = takes({ minimumMinor: 1_000n, maximumMinor: 2_000_000n, stepMinor: 100n });
  const router = aRouter({ acquirers: [anAcquirer("bank", { capabilities: [capability] })] });
  const asked = (amount: number, settings: Partial<MerchantSettings> = {}): string =>
    judged({ ...aCreation(), amount_minor: amount, expires_in: 5 }, settings, "sandbox", router);
  expect(asked(1_000)).toBe("VALIDATION_ERROR expires_in");
  expect(asked(900)).toBe("INVALID_AMOUNT");
  expect(asked(2_000_100)).toBe("INVALID_AMOUNT");
  expect(asked(1_050)).toBe("INVALID_AMOUNT");
  // What the merchant may take at most is the most that is told.
  const { merchantId } = merchantWith({ max_amount_minor: 5_000 });
  const call = {
    merchant: merchantWith({ max_amount_minor: 5_000 }),
    book: { merchantId, environment: "sandbox" },
  } as Call;
  const input = { ...aCreation(), amount_minor: 900 };
  const refused = () =>
    void judgeCreation(
      { ...router, checkCallbackUrl: (url) => Promise.resolve(url) },
      call,
      input,
      judgeBody(createPaymentRules, input),
    );
  expect(refused).toThrow(
    expect.objectContaining({
      extras: expect.objectContaining({
        details: expect.objectContaining({ minimum_minor: 1_000, maximum_minor: 5_000 }),
      }),
    }),
  );
  const table = router.routingTable();
  const of = (amountMinor: bigint) =>
    ({ environment: "sandbox", method: "qris", currency: "IDR", amountMinor }) as const;
  const details = (amountMinor: bigint, most?: bigint) => amountFault(table, of(amountMinor), most)?.extras.details;
  expect(details(900n)).toMatchObject({ minimum_minor: 1_000, maximum_minor: 2_000_000 });
  expect(details(900n, 5_000n)).toMatchObject({ minimum_minor: 1_000, maximum_minor: 5_000 });
  expect(details(1_050n)).toMatchObject({ multiple_of_minor: 100 });
  expect(details(1_100n)).toBeUndefined();
});

test("the sandbox refuses a scenario that does not exist, and names those that do; production has none", () => {
  const named = (scenario: string) => ({ ...aCreation(), metadata: { "sandbox.scenario": scenario } });
  for (const scenario of scenarios) expect(judged(named(scenario))).toBe("accepted");
  for (const wrong of ["gatway_error", "Decline", "", "constructor"]) {
    expect(judged(named(wrong))).toBe("VALIDATION_ERROR metadata.sandbox.scenario");
    expect(judged(named(wrong), {}, "production", aRouter({}, false))).toBe("accepted");
  }
  expect(judged({ ...named("x"), expires_in: 59 })).toBe("VALIDATION_ERROR expires_in");
  expect(judged({ ...named("x"), return_url: "x" })).toBe("VALIDATION_ERROR return_url");
  expect(judged({ ...named("x"), surprise: true })).toBe("VALIDATION_ERROR metadata.sandbox.scenario");
  expect(judged({ ...aCreation(), metadata: { order: 5, "sandbox.scenario": "x" } })).toBe(
    "VALIDATION_ERROR metadata.order",
  );
  const bad = [null, 5, [], { "sandbox.scenario": 5 }];
  for (const metadata of bad) expect(judged({ ...aCreation(), metadata })).not.toContain("scenario: ");
  expect(refusal(named("gatway_error"))?.message).toBe(
    `metadata.sandbox.scenario: must be one of ${scenarios.join(", ")}.`,
  );
});

test("an address for events is checked once all before it is sound, kept as the check gives it, and later errors follow", async () => {
  const merchant = merchantWith();
  const call = { merchant, book: { merchantId: merchant.merchantId, environment: "sandbox" } } as Call;
  const checked: unknown[] = [];
  const parts = {
    ...aRouter(),
    checkCallbackUrl: (...asked: [string, string]) => {
      checked.push(asked);
      return Promise.resolve("https://shop.example/kept");
    },
  };
  const asked = async (changes: Record<string, unknown>) => {
    const input = { ...aCreation(), callback_url: "https://SHOP.example/kept", ...changes };
    return judgeCreation(parts, call, input, judgeBody(createPaymentRules, input));
  };
  await expect(asked({ expires_in: 59 })).rejects.toMatchObject({ extras: { details: { field: "expires_in" } } });
  await expect(asked({ callback_url: undefined })).resolves.not.toHaveProperty("callback_url", expect.any(String));
  await expect(asked({ callback_url: 5 })).rejects.toMatchObject({
    extras: { details: { field: "callback_url" } },
  });
  expect(checked).toEqual([]);
  await expect(asked({})).resolves.toEqual({ ...aCreation(), callback_url: "https://shop.example/kept" });
  await expect(asked({ surprise: true })).rejects.toMatchObject({ extras: { details: { field: "surprise" } } });
  const once = ["https://SHOP.example/kept", merchant.merchantId];
  expect(checked).toEqual([once, once]);
});

test("a currency that is not enabled is told apart from what is no code", () => {
  expect(refusal({ ...aCreation(), currency: "idr" })?.message).toBe(
    "currency: must be a code of ISO 4217, in upper case",
  );
  expect(refusal({ ...aCreation(), currency: "USD" })?.message).toBe(
    "This currency is not enabled for you. Enabled: IDR.",
  );
});

/** Fields in the order of the interface's table, each with a value that breaks a rule and what that is answered with. */
const wrongs: [field: string, value: unknown, answer: string][] = [
  ["amount_minor", 1e12, "INVALID_AMOUNT"],
  ["currency", "EUR", "CURRENCY_NOT_SUPPORTED"],
  ["payment_method", "card", "PAYMENT_METHOD_UNAVAILABLE"],
  ["reference_id", "", "VALIDATION_ERROR reference_id"],
  ["description", "x".repeat(256), "VALIDATION_ERROR description"],
  ["expires_in", 59, "VALIDATION_ERROR expires_in"],
  ["customer", { phone: "1" }, "VALIDATION_ERROR customer.phone"],
  ["metadata", { order: 5 }, "VALIDATION_ERROR metadata.order"],
  ["surprise", true, "VALIDATION_ERROR surprise"],
];

test("of several errors the one that the table names first is answered", () => {
  fc.assert(
    fc.property(fc.subarray(wrongs, { minLength: 1 }), (chosen) => {
      const input = {
        ...aCreation(),
        ...Object.fromEntries(chosen.toReversed().map(([field, value]) => [field, value])),
      };
      expect(judged(input, { methods })).toBe(chosen[0]?.[2]);
    }),
  );
});

test("an amount is an integer from 1 to the maximum, and nothing else", () => {
  const anything = fc.oneof(
    fc.integer({ min: -10, max: 20_000_000_000 }),
    fc.maxSafeInteger(),
    fc.double(),
    fc.anything({ withBigInt: false }),
  );
  fc.assert(
    fc.property(anything, (amount) => {
      const valid = Number.isInteger(amount) && (amount as number) >= 1 && (amount as number) <= 10_000_000_000;
      expect(judged({ ...aCreation(), amount_minor: amount })).toBe(valid ? "accepted" : "INVALID_AMOUNT");
    }),
  );
});

test("of metadata with thousands of pairs no more are judged than there may be, and the number is what is wrong", () => {
  const metadata = Object.fromEntries(Array.from({ length: 20_000 }, (_, at) => [`name-${at}`, at]));
  const input = { ...aCreation(), metadata };
  const { issues } = createPaymentRules.schema.safeParse(input).error ?? expect.unreachable("20,000 are too many");
  expect(issues.length).toBeLessThanOrEqual(21);
  expect(judgeBody(createPaymentRules, input)).toMatchObject({
    fault: { extras: { message: "metadata: must have at most 20 pairs" } },
  });
});
