// Goal: a mistake in Xendit's entry is found before anything starts, with its place. Method: one mistake at a time.
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { xenditSchema } from "./profile.ts";

const takes = { minimum_minor: 100, maximum_minor: 1_000_000_000, cost: { basis_points: 70, flat_minor: 0 } };
const good = {
  provider: "xendit",
  code: "xendit",
  name: "Xendit",
  environment: "production",
  secret_key: { env: "XENDIT_SECRET_KEY" },
  callback_token: { file: "/run/secrets/xendit-token" },
  methods: [
    { method: "qris", ...takes },
    { method: "va", channels: ["bca", "mandiri"], ...takes },
    { method: "ewallet", channels: ["dana"], ...takes },
    { method: "card", ...takes },
  ],
};
const [qris, va, ewallet, card] = good.methods;

/** Where the mistakes are. */
function places(change: Record<string, unknown>): string[] {
  const parsed = xenditSchema.safeParse({ ...good, ...change });
  return parsed.success ? [] : parsed.error.issues.map(({ path }) => path.join("."));
}

test("a good entry passes, with an expiry on its QR codes unless it says otherwise", () => {
  expect(xenditSchema.parse(good)).toMatchObject({
    qris_expiry: true,
    methods: [{ method: "qris", currencies: ["IDR"] }, {}, {}, {}],
  });
  expect(places({ qris_expiry: false, url: "http://127.0.0.1:9000" })).toEqual([]);
});

test.for<[string, Record<string, unknown>]>([
  ["provider", { provider: "midtrans" }],
  ["secret_key", { secret_key: undefined }],
  ["secret_key", { secret_key: "xnd_production_in_plain_text" }],
  ["callback_token.env", { callback_token: { env: "lower case" } }],
  ["qris_expiry", { qris_expiry: "no" }],
  ["methods.0.channels", { methods: [{ ...qris, channels: ["bca"] }] }],
  ["methods.0.channels", { methods: [{ ...card, channels: ["visa"] }] }],
  ["methods.0.channels", { methods: [{ ...va, channels: undefined }] }],
  ["methods.0.channels.1", { methods: [{ ...va, channels: ["bca", "ovo"] }] }],
  ["methods.0.channels.0", { methods: [{ ...ewallet, channels: ["gopay"] }] }],
  ["methods.0.method", { methods: [{ method: "bank_transfer", ...takes }] }],
  ["methods.0.currencies.0", { methods: [{ ...card, currencies: ["USD"] }] }],
])("a mistake at %s is found there: %o", ([place, change]) => {
  expect(places(change)).toEqual([place]);
});

test("a field that nobody knows is a mistake", () => {
  expect(places({ api_key: "x" })).toEqual([""]);
});

test("the example in the README is a good file", () => {
  const readme = readFileSync(new URL("README.md", import.meta.url), "utf8");
  const example = JSON.parse(/```json\n([\s\S]+?)```/.exec(readme)?.[1] ?? "") as unknown[];
  expect(example.map((entry) => xenditSchema.parse(entry).code)).toEqual(["xendit"]);
});
