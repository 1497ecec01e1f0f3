// Goal: a mistake in an entry of Stripe is found at the start, with its field. Method: one mistake at a time.
import { expect, test } from "vitest";
import { objectionToKey, stripeProfileSchema } from "./profile.ts";

const card = {
  method: "card",
  currencies: ["IDR"],
  minimum_minor: 1_000_000,
  maximum_minor: 5_000_000_000,
  cost: { basis_points: 340, flat_minor: 0 },
};
const good = {
  provider: "stripe",
  code: "stripe",
  name: "Stripe",
  environment: "sandbox",
  secret_key: { env: "STRIPE_SECRET_KEY" },
  webhook_secret: { file: "/run/secrets/stripe-webhook" },
  methods: [card],
};

function mistakes(value: unknown): string[] {
  const parsed = stripeProfileSchema.safeParse(value);
  return parsed.success ? [] : parsed.error.issues.map(({ path, message }) => `${path.join(".")}: ${message}`);
}

test("a good entry passes, with what need not be given", () => {
  expect(stripeProfileSchema.parse(good)).toMatchObject({
    deadline_ms: 8_000,
    connections: 64,
    three_d_secure: "automatic",
  });
});

test.each([
  [{ provider: "midtrans" }, "provider: "],
  [{ secret_key: "sk_live_written_here" }, "secret_key: must be"],
  [{ webhook_secret: undefined }, "webhook_secret: "],
  [{ three_d_secure: "never" }, "three_d_secure: "],
  [{ secret: "x" }, ": Unrecognized key"],
  [{ methods: [{ ...card, method: "qris" }] }, "methods.0.method: must be card"],
  [{ methods: [{ ...card, channels: ["bca"] }] }, "methods.0.channels: must be left out"],
  [{ methods: [{ ...card, currencies: ["LYD"] }] }, "methods.0.currencies: LYD is not a currency that Stripe"],
  [{ methods: [{ ...card, currencies: ["USD"] }] }, "methods.0.maximum_minor: is above 99999999"],
  [
    { methods: [{ ...card, currencies: ["UGX"], minimum_minor: 1, maximum_minor: 1_000_000 }] },
    "methods.0.maximum_minor: is above 999999",
  ],
  [
    { methods: [{ ...card, currencies: ["MGA"], minimum_minor: 1, maximum_minor: 99 }] },
    "methods.0.maximum_minor: is below 100",
  ],
])("%j is refused with its place", (change, expected) => {
  const [first = "", ...others] = mistakes({ ...good, ...change });
  expect(first).toContain(expected);
  expect(others).toEqual([]);
});

test("a mistake never shows a key that was written where its place belongs", () => {
  expect(mistakes({ ...good, secret_key: "sk_live_written_here" }).join()).not.toContain("sk_live");
});

test.each([
  ["sk_live_a", "sandbox", "key of live mode"],
  ["rk_live_a", "sandbox", "key of live mode"],
  ["sk_test_a", "production", "key of test mode"],
  ["rk_test_a", "production", "key of test mode"],
  ["pk_test_a", "sandbox", "publishable key"],
  ["pk_live_a", "production", "publishable key"],
  ["sk_test_a", "sandbox", undefined],
  ["rk_test_a", "sandbox", undefined],
  ["sk_live_a", "production", undefined],
  ["rk_live_a", "production", undefined],
] as const)("the key %s in an entry of the %s environment: %s", (key, environment, expected) => {
  const objection = objectionToKey(key, environment);
  if (expected === undefined) expect(objection).toBeUndefined();
  else expect(objection).toContain(expected);
  expect(objection ?? "").not.toContain(key);
});
