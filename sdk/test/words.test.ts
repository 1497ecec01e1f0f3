// Goal: what the client refuses before sending, the API refuses, with the same code, words and details; and what the API takes goes out.
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Client } from "../../e2e/kit/client.ts";
import { type TestService, startService } from "../../gateway/test/kit.ts";
import Gerbang, { GerbangError } from "../src/index.ts";

let service: TestService;
let client: Client;
let gerbang: Gerbang;
let sent = 0;

beforeAll(async () => {
  service = await startService({ roles: ["api"] });
  ({ client } = await service.merchant({ settings: { rate_limit_per_minute: 1_000_000 } }));
  const { client_id: clientId, secret, base_url: baseUrl } = client.credentials;
  gerbang = new Gerbang({
    clientId,
    secret,
    baseUrl,
    fetch: (...asked) => {
      sent++;
      return fetch(...asked);
    },
  });
});
afterAll(() => service.stop());

const payment = { amount_minor: 100_000, currency: "IDR", payment_method: "qris", reference_id: "order" };
const long = (length: number): string => "x".repeat(length);
const pairs = (count: number): Record<string, string> =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`key${at}`, "x"]));

const payments: [what: string, change: Record<string, unknown>][] = [
  ["no amount", { amount_minor: undefined }],
  ["an amount of null", { amount_minor: null }],
  ["an amount of 0", { amount_minor: 0 }],
  ["a negative amount", { amount_minor: -1 }],
  ["half a unit", { amount_minor: 1.5 }],
  ["an amount as text", { amount_minor: "150" }],
  ["true as the amount", { amount_minor: true }],
  ["no currency", { currency: undefined }],
  ["a currency in small letters", { currency: "idr" }],
  ["no method", { payment_method: undefined }],
  ["a method that is none", { payment_method: "cash" }],
  ["a method as a number", { payment_method: 1 }],
  ["no reference_id", { reference_id: undefined }],
  ["an empty reference_id", { reference_id: "" }],
  ["a reference_id of 65", { reference_id: long(65) }],
  ["a reference_id with NUL", { reference_id: "a\u0000b" }],
  ["a reference_id as a number", { reference_id: 7 }],
  ["a description of 256", { description: long(256) }],
  ["a description of 256 that is longer in JavaScript", { description: "🙂".repeat(256) }],
  ["an expiry of 59 s", { expires_in: 59 }],
  ["an expiry beyond a day", { expires_in: 86_401 }],
  ["an expiry with a fraction", { expires_in: 60.5 }],
  ["an expiry as text", { expires_in: "60" }],
  ["a customer as text", { customer: "Sari" }],
  ["a customer as a list", { customer: [] }],
  ["a customer with a field too many", { customer: { age: 3 } }],
  ["a name of 121", { customer: { name: long(121) } }],
  ["an empty name", { customer: { name: "" } }],
  ["an e-mail address without an @", { customer: { email: "sari" } }],
  ["an e-mail address that is too short", { customer: { email: "a@" } }],
  ["a phone number without +", { customer: { phone: "0812345678" } }],
  ["21 pairs of metadata", { metadata: pairs(21) }],
  ["metadata with a number", { metadata: { key: 1 } }],
  ["metadata with a value of 501", { metadata: { key: long(501) } }],
  ["metadata with a key of 41", { metadata: { [long(41)]: "x" } }],
  ["metadata with an empty key", { metadata: { "": "x" } }],
  ["metadata as a list", { metadata: [] }],
  ["an address that is not https", { callback_url: "http://shop.example.com/hook" }],
  ["an address of 2,049", { callback_url: `https://shop.example.com/${long(2049)}` }],
  ["a return address that is not https", { return_url: "shop" }],
  ["a field that nobody knows", { colour: "red" }],
  ["two broken fields: the first counts", { expires_in: 1, payment_method: "cash" }],
];

/** What is told of an error, wherever it came from. */
const told = (error: { code: unknown; message: unknown; details?: unknown }): unknown => {
  const { field, value } = (error.details ?? {}) as { field?: string; value?: unknown };
  return { code: error.code, message: error.message, details: { field, value } };
};

async function compared(path: string, body: unknown, call: () => Promise<unknown>): Promise<void> {
  const { json } = await client.post(path, body);
  const before = sent;
  const error = await call().then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(sent - before).toBe(0);
  expect(error).toBeInstanceOf(GerbangError);
  expect((error as GerbangError).status).toBeUndefined();
  expect(told(error as GerbangError)).toEqual(told(json.error));
}

test.each(payments)("a payment with %s", async (_, change) => {
  const body = { ...payment, ...change };
  await compared("/v1/payments", body, () => gerbang.payments.create(body as never));
});

const others: [path: string, body: unknown, call: (body: never) => Promise<unknown>][] = [
  ["/v1/refunds", {}, (body) => gerbang.refunds.create(body)],
  [
    "/v1/refunds",
    { payment_reference: `pay_${"0".repeat(26)}`, amount_minor: 0 },
    (body) => gerbang.refunds.create(body),
  ],
  ["/v1/payments/pay_1/cancel", { reason: long(256) }, (body) => gerbang.payments.cancel("pay_1", body)],
  ["/v1/sandbox/clock/advance", { seconds: 0 }, () => gerbang.sandbox.clock.advance(0)],
  ["/v1/sandbox/clock/advance", { seconds: 31_622_401 }, () => gerbang.sandbox.clock.advance(31_622_401)],
  [
    "/v1/sandbox/events/trigger",
    { type: "payment.lost" },
    () => gerbang.sandbox.events.trigger("payment.lost" as never),
  ],
  ["/v1/payment-links", { currency: "IDR" }, (body) => gerbang.paymentLinks.create(body)],
  ["/v1/payment-links", { currency: "IDR", reusable: "yes" }, (body) => gerbang.paymentLinks.create(body)],
  [
    "/v1/payment-links",
    { currency: "IDR", reusable: true, payment_methods: [] },
    (body) => gerbang.paymentLinks.create(body),
  ],
  [
    "/v1/payment-links",
    { currency: "IDR", reusable: true, payment_methods: ["qris", "cash"] },
    (body) => gerbang.paymentLinks.create(body),
  ],
  [
    "/v1/payment-links",
    { currency: "IDR", reusable: true, payment_methods: ["qris", "va", "qris"] },
    (body) => gerbang.paymentLinks.create(body),
  ],
];

test.each([{ reference_id: "a\ud800b" }, { description: "\udc00" }, { metadata: { order: "\ud83d" } }])(
  "half a character is refused as by the API: %j",
  async (change) => {
    const { json } = await client.post("/v1/payments", { ...payment, ...change });
    const error = await gerbang.payments.create({ ...payment, ...change } as never).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ status: undefined, code: "VALIDATION_ERROR", message: json.error.message });
  },
);

test.each(others)("%s %j", async (path, body, call) => {
  await compared(path, body, () => call(body as never));
});

test.each([
  ["the longest texts", { reference_id: long(64), description: long(255), metadata: { [long(40)]: long(500) } }],
  ["the longest text of characters beyond the first plane", { reference_id: "emoji", description: "☕🙂".repeat(127) }],
  ["nothing but what is required", { reference_id: "short" }],
  ["null where a field may be left out", { reference_id: "nulls", customer: null, expires_in: null, metadata: null }],
  ["20 pairs of metadata", { reference_id: "pairs", metadata: pairs(20) }],
])("a payment with %s goes out, and is taken", async (_, change) => {
  const created = await gerbang.payments.create({ ...payment, ...change } as never);
  expect(created.status).toBe("pending");
});

test.each([
  ["https://shop.example/a b", "return_url: must be an https address in ASCII; escape what is not"],
  ["https://tokö.example/", "return_url: must be an https address in ASCII; escape what is not"],
  ["https://me:secret@shop.example/", "return_url: must be an https address without user information"],
])("the return address %s is https, so the API says what is wrong with it", async (address, message) => {
  const created = gerbang.payments.create({ ...payment, return_url: address } as never);
  await expect(created).rejects.toMatchObject({ code: "VALIDATION_ERROR", message, status: 422 });
});

test.each([["short"], [long(256)], ["with-ümlaut"], [" in front"]])(
  "the idempotency key %j",
  async (idempotencyKey) => {
    const before = sent;
    await expect(gerbang.payments.create({ ...payment } as never, { idempotencyKey })).rejects.toMatchObject({
      code: "IDEMPOTENCY_KEY_INVALID",
    });
    expect(sent).toBe(before);
  },
);

test.each([[""], [".."], ["."], [undefined], [7]])("the reference %j", async (reference) => {
  const before = sent;
  await expect(async () => gerbang.payments.get(reference as never)).rejects.toMatchObject({
    code: "VALIDATION_ERROR",
  });
  expect(sent).toBe(before);
});

test("a reference with a slash stays one segment", async () => {
  await expect(gerbang.payments.get("../balances")).rejects.toMatchObject({ code: "PAYMENT_NOT_FOUND", status: 404 });
});
