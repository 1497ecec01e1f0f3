// Goal: whatever is sent, the answer is the right refusal, or at least one of ours; and nothing is stored. Method: a table of
// bad values for every field with the exact code and field, then arbitrary requests thrown at every endpoint.
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { Agent, type IncomingMessage, request } from "node:http";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { anyText } from "../../test/any-text.ts";
import { type Answer, type Client, readAnswer } from "../../../e2e/kit/client.ts";
import { ContractCheck } from "../../test/contract-check.ts";
import { OPERATOR_TOKEN, type TestService, paymentBody, startService } from "../../test/kit.ts";

const unknownPayment = `pay_${"0".repeat(26)}`;
const manyRequests = { unauthenticatedLimitPerMinute: 100_000_000 };
const agent = new Agent({ keepAlive: true, maxSockets: 4 });

let service: TestService;
let client: Client;
let merchantId: string;

beforeAll(async () => {
  service = await startService({ roles: ["api"], config: manyRequests });
  ({ client, merchantId } = await service.merchant());
});
afterAll(async () => {
  agent.destroy();
  await service.stop();
});

/** Status and code; the envelope and the request's identity are checked on the way. */
function outcome({ status, headers, json }: Pick<Answer, "status" | "headers" | "json">): string {
  const requestId = headers.get("x-request-id");
  expect(requestId).toMatch(/^req_[0-7][0-9a-hjkmnp-tv-z]{25}$/);
  if (status < 400) return String(status);
  expect(Object.keys(json as object)).toEqual(["error"]);
  const { error } = json;
  expect(Object.keys(error as object).slice(0, 3)).toEqual(["code", "message", "request_id"]);
  expect(Object.keys(error as object).slice(3)).toEqual("details" in error ? ["details"] : []);
  expect([typeof error.code, typeof error.message, error.request_id]).toEqual(["string", "string", requestId]);
  return `${status} ${error.code}`;
}

/** The same with the field that is blamed. */
function blamed(answer: Answer): string {
  const { error } = answer.json;
  if (error?.code === "VALIDATION_ERROR") expect(Object.keys(error.details as object)).toEqual(["field", "value"]);
  if (error?.code === "INVALID_AMOUNT")
    expect(Object.keys(error.details as object)).toEqual(["field", "value", "minimum_minor", "maximum_minor"]);
  const field = error?.details?.field as string | undefined;
  return field === undefined ? outcome(answer) : `${outcome(answer)} ${field}`;
}

const invalid = (field: string): string => `422 VALIDATION_ERROR ${field}`;
const amount = "422 INVALID_AMOUNT amount_minor";
const malformed = "400 MALFORMED_JSON";
const nested = (depth: number): unknown => JSON.parse("[".repeat(depth) + "]".repeat(depth));
const pairs = (count: number): Record<string, string> =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`key${index}`, "x"]));

/** A name that a report can hold, and the rest of the row. */
type Row = [name: string, subject: string, value: unknown, expected: string];
const rows = (subject: string, values: unknown[], expected: string): Row[] =>
  values.map((value) => [`${subject} ${(JSON.stringify(value) ?? "absent").slice(0, 60)}`, subject, value, expected]);
const badField = (field: string, values: unknown[]): Row[] => rows(field, values, invalid(field));
/** Bodies of one part, each with another value. */
const badBody = (subject: string, part: string, values: unknown[], field = part): Row[] => {
  const bodies = values.map((value) => ({ [part]: value }));
  return rows(subject, bodies, invalid(field));
};
const badPart = (field: string, part: string, values: unknown[]): Row[] =>
  badBody(field, part, values, `${field}.${part}`);

describe("POST /v1/payments", () => {
  afterAll(async () => {
    expect((await client.get("/v1/payments")).json).toEqual({ data: [], has_more: false, next_cursor: null });
  });

  const absent = undefined;
  const noText = [5, true, ["x"], {}, "a\0b", "half \ud83d pair"];
  test.each<Row>([
    ...rows("amount_minor", [absent, null, 0, -0, -1, 1.5, 1e300, "150", "", true, [1], {}], amount),
    // The default maximum of one transaction and one more; the largest number that may be sent, and the next.
    ...rows("amount_minor", [10_000_000_001, 2 ** 53 - 1, 2 ** 53], amount),
    ...badField("currency", [absent, null, 360, true, ["IDR"], {}, { toString: null }, { toString: 1, valueOf: 1 }]),
    ...rows("currency", ["", "idr", "ID", "IDRR", "XXX", "USD", " IDR"], "422 CURRENCY_NOT_SUPPORTED"),
    ...rows("currency", ["constructor", "\0", "I".repeat(5000)], "422 CURRENCY_NOT_SUPPORTED"),
    ...badField("payment_method", [absent, null, 1, true, ["qris"], {}, "", "QRIS", "cash", "toString", "__proto__"]),
    ...badField("reference_id", [absent, null, "", "x".repeat(65), "😀".repeat(65), ...noText]),
    ...badField("description", ["x".repeat(256), "😀".repeat(256), ...noText]),
    ...badField("expires_in", [59, 0, -60, 86_401, 60.5, "1800", true, 2 ** 53, []]),
    ...badField("customer", ["Budi", 5, true, []]),
    ...badPart("customer", "age", [5, null]),
    ...badPart("customer", "name", [5, "", "x".repeat(121), "a\0"]),
    ...badPart("customer", "email", [5, "", "a@", "abc", "a@b@c", `${"a".repeat(250)}@b.co`, "a@\0.test"]),
    ...badPart("customer", "phone", [62, "", "0812345678", "+1234567", "+1234567890123456"]),
    ...badPart("customer", "phone", ["+62 812 3456", "+６２８１２３４５６", "+12345678\n"]),
    ...badField("callback_url", [5, true, [], {}, "", "x", "example.com/hook", "http://example.com/hook"]),
    ...badField("callback_url", ["ftp://example.com", "javascript:alert(1)", "https://", "https://exa mple.com"]),
    ...badField("callback_url", ["https://user@example.com", "https://u:p@example.com", "https://localhost"]),
    ...badField("callback_url", ["https://127.0.0.1", "https://2130706433", "https://0x7f.1", "https://10.0.0.1"]),
    ...badField("callback_url", ["https://169.254.169.254", "https://[::1]", "https://[::ffff:10.0.0.1]"]),
    ...badField("callback_url", ["https://[fd00::1]", "https://shop.internal", "https://shop"]),
    ...badField("callback_url", [`https://example.com/${"x".repeat(2029)}`]),
    ...badField("return_url", [
      5,
      "",
      "x",
      "http://shop.example.com",
      "javascript:alert(1)",
      "https://",
      "//shop.example.com",
    ]),
    ...badField("return_url", [
      "https://u@shop.example.com",
      "https://u:p@shop.example.com",
      "https://a b.example.com",
    ]),
    ...badField("return_url", [
      "https:\\\\shop.example.com",
      "https://a.example.com/\t",
      "https://a.example.com/\ud800",
    ]),
    ...badField("return_url", [
      "https://a.example.com/\0",
      "https://a\0.example.com",
      "https:///a",
      "https://a.example.com/\u202e",
    ]),
    ...badField("return_url", ['https://a.example.com/"><script>', "https://a.example.com/é"]),
    ...badField("return_url", [`https://example.com/${"x".repeat(2029)}`]),
    ...badField("metadata", ["x", 5, true, [], pairs(21)]),
    ...badPart("metadata", "order", [null, 5, true, {}, [], nested(1000), "x".repeat(501), "a\0", "\udc00"]),
    ...badPart("metadata", "", ["x"]),
    ...badPart("metadata", "k".repeat(41), ["x"]),
    ...["surprise", "Amount_minor", "constructor", "status"].flatMap((field) => badField(field, [1, "x", {}])),
  ])("%s", async (_name, field, value, expected) => {
    const answer = await client.post("/v1/payments", paymentBody({ [field]: value }));
    expect(blamed(answer)).toBe(expected);
    const shown = answer.json.error.details?.value;
    if (expected === invalid(field) && (value === null || ["boolean", "number"].includes(typeof value))) {
      expect(shown).toBe(value);
    }
  });

  const good = JSON.stringify(paymentBody()).slice(0, -1);
  const withAmount = (number: string): string => `${good.replace("150000", number)}}`;
  test.each<[string, string | Buffer, string]>([
    ["1.0 for an amount", withAmount("1.0"), amount],
    ["1e3 for an amount", withAmount("1e3"), amount],
    ["15000e-1 for an amount", withAmount("15000E-1"), amount],
    ["-0 for an amount", withAmount("-0"), amount],
    ["a number beyond every double", withAmount("1e999"), amount],
    ["2^53 + 1 for an amount", withAmount("9007199254740993"), amount],
    ["60.0 for a time", `${good},"expires_in":60.0}`, invalid("expires_in")],
    ["6e1 for a time", `${good},"expires_in":6e1}`, invalid("expires_in")],
    ["a leading zero", withAmount("0150"), malformed],
    ["NaN", withAmount("NaN"), malformed],
    ["a key twice", `${good},"amount_minor":1}`, malformed],
    ["a key twice, once escaped", `${good},"amount\\u005fminor":1}`, malformed],
    ["a key twice, further in", `${good},"metadata":{"a":"1","a":"2"}}`, malformed],
    ["the prototype for a key", `${good},"__proto__":{"amount_minor":1}}`, invalid("__proto__")],
    [
      "a pair that is no text, under the prototype's name",
      `${good},"metadata":{"__proto__":1}}`,
      invalid("metadata.__proto__"),
    ],
    ["nothing", "", malformed],
    ["a space", " ", malformed],
    ["not to the end", good, malformed],
    ["more than the end", `${good}}}`, malformed],
    ["two values", `${good}}{}`, malformed],
    ["a comma too many", `${good},}`, malformed],
    ["a comment", `${good}/**/}`, malformed],
    ["single quotes", "{'amount_minor':1}", malformed],
    ["a list", `[${good}}]`, malformed],
    ["a text", '"amount_minor"', malformed],
    ["a number", "150000", malformed],
    ["true", "true", malformed],
    ["null", "null", malformed],
    ["a form", "amount_minor=150000", malformed],
    ["a byte order mark", `\ufeff${good}}`, malformed],
    ["UTF-16", Buffer.from(`${good}}`, "utf16le"), malformed],
    ["a byte that is no UTF-8", Buffer.from(`${good},"description":"caf\xe9"}`, "latin1"), malformed],
    ["an overlong NUL", Buffer.from(`${good},"description":"\xc0\x80"}`, "latin1"), malformed],
    ["a surrogate in UTF-8", Buffer.from(`${good},"description":"\xed\xa0\x80"}`, "latin1"), malformed],
    ["a hundred thousand lists", `${good},"x":${"[".repeat(100_000)}${"]".repeat(100_000)}}`, malformed],
    ["one byte over 256 KiB", `${good}}`.padEnd(262_145), "413 PAYLOAD_TOO_LARGE"],
    ["a megabyte", `${good},"description":"${"x".repeat(1_048_576)}"}`, "413 PAYLOAD_TOO_LARGE"],
  ])("the body is %s", async (_name, body, expected) => {
    expect(blamed(await client.post("/v1/payments", body))).toBe(expected);
  });

  test.each([
    "",
    "text/plain",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "application/jsonp",
    "application/json; charset=latin1",
    "application/json, text/plain",
  ])("the content type is %j", async (type) => {
    const answer = await client.post("/v1/payments", paymentBody(), { headers: { "content-type": type } });
    expect(blamed(answer)).toBe(malformed);
  });

  test("the message says what is wrong with a body that is no JSON object", async () => {
    const messageOf = async (body: string, headers = {}): Promise<string> =>
      (await client.post("/v1/payments", body, { headers })).json.error.message;
    expect(await messageOf(`${good},}`)).toMatch("not JSON in UTF-8");
    expect(await messageOf(`[${good}}]`)).toMatch("not an object");
    expect(await messageOf(`${good},"metadata":{"a":"1","a":"2"}}`)).toMatch("the same key twice");
    expect(await messageOf(`${good},"x":${"[".repeat(2_001)}${"]".repeat(2_001)}}`)).toMatch("deeper than 2000 levels");
    expect(await messageOf(`${good}}`, { "content-type": "text/plain" })).toMatch("Content-Type: application/json");
  });

  test("of several bad fields the one that the interface names first is blamed", async () => {
    const body: Record<string, unknown> = { zebra: 1, metadata: 1, callback_url: 1, customer: 1, expires_in: 1 };
    const repairs: [string, string, unknown][] = [
      [amount, "amount_minor", 10_000_000_001],
      [amount, "amount_minor", 5],
      [invalid("currency"), "currency", "EUR"],
      ["422 CURRENCY_NOT_SUPPORTED", "currency", "IDR"],
      [invalid("payment_method"), "payment_method", "va"],
      [invalid("reference_id"), "reference_id", "order-of-rules"],
      [invalid("expires_in"), "expires_in", 60],
      [invalid("customer"), "customer", {}],
      [invalid("callback_url"), "callback_url", "https://example.com/hook"],
      [invalid("metadata"), "metadata", {}],
    ];
    for (const [expected, field, repaired] of repairs) {
      expect(blamed(await client.post("/v1/payments", body))).toBe(expected);
      body[field] = repaired;
    }
    expect(blamed(await client.post("/v1/payments", body))).toBe(invalid("zebra"));
  });

  test("a query on a write is refused", async () => {
    expect(blamed(await client.post("/v1/payments?dry_run=true", paymentBody()))).toBe(invalid("dry_run"));
  });
});

test("the largest and the smallest of everything is accepted", async () => {
  const { client } = await service.merchant();
  const bodies = [
    { amount_minor: 1, reference_id: "x", description: "", expires_in: 60, customer: {}, metadata: {} },
    {
      amount_minor: 10_000_000_000,
      reference_id: "😀".repeat(64),
      description: "\u{1f600}".repeat(255),
      expires_in: 86_400,
      customer: { name: "n".repeat(120), email: `${"e".repeat(245)}@test.com`, phone: "+123456789012345" },
      callback_url: `https://example.com/${"x".repeat(2028)}`,
      metadata: { ...pairs(19), ["k".repeat(40)]: "v".repeat(500) },
    },
  ];
  for (const body of bodies) expect(outcome(await client.post("/v1/payments", paymentBody(body)))).toBe("201");
  const padded = JSON.stringify(paymentBody()).padEnd(262_144);
  expect(outcome(await client.post("/v1/payments", padded))).toBe("201");
  for (const type of ['Application/JSON; Charset="UTF-8"', "application/json;charset=utf8"]) {
    const headers = { "content-type": type };
    expect(outcome(await client.post("/v1/payments", paymentBody(), { headers }))).toBe("201");
  }
});

test.each<Row>([
  ...badBody("cancel", "reason", [5, true, [], {}, "x".repeat(256), "a\0", "\ud800"]),
  ...rows("cancel", [{ reason: "x", by: "me" }], invalid("by")),
  ...rows("cancel", [[], null, " ", "{"], malformed),
  ...badBody("simulate", "outcome", [undefined, null, "", "paid", "SUCCEEDED", 1, ["failed"]]),
  ...rows("simulate", [{ outcome: "failed", why: "x" }], invalid("why")),
])("a payment stays as it is: %s", async (_name, action, body, expected) => {
  const { client } = await service.merchant();
  const { reference } = (await client.post("/v1/payments", paymentBody())).json;
  const path = `${action === "cancel" ? "/v1" : "/v1/sandbox"}/payments/${reference}/${action}`;
  expect(blamed(await client.post(path, body))).toBe(expected);
  expect((await client.get(`/v1/payments/${reference}`)).json.status).toBe("pending");
});

test.each<Row>([
  ...badBody("advance", "seconds", [undefined, null, 0, -1, 1.5, "5", true, [], 31_622_401, 2 ** 53]),
  ...rows("advance", ['{"seconds":1.0}', '{"seconds":1e2}'], invalid("seconds")),
  ...rows("advance", [{ seconds: 1, minutes: 1 }], invalid("minutes")),
])("the sandbox's clock stays as it is: %s", async (_name, _subject, body, expected) => {
  expect(blamed(await client.post("/v1/sandbox/clock/advance", body))).toBe(expected);
  expect((await client.get("/v1/sandbox/clock")).json.offset_seconds).toBe(0);
});

const times = ["", "yesterday", "2026", "2026-02-30", "2026-01-01T00:00:00", "2026-01-01 00:00:00Z", "1780000000"];
test.each<Row>([
  ...badField("limit", ["0", "101", "-1", "", "x", "1.0", "1e1", "+5", "05", "5 ", "9".repeat(400)]),
  ...badField("status", ["", "paid", "PENDING", "toString"]),
  ...badField("payment_method", ["", "cash", "QRIS"]),
  ...badField("reference_id", ["", "x".repeat(65), "\0"]),
  ...badField("starting_after", ["", "x", "pay_1", unknownPayment, `rfd_${"0".repeat(26)}`, "\0"]),
  ...badField("created_from", times),
  ...badField("created_to", times),
  ...["surprise", "__proto__", "constructor", "toString", "Limit", "limit[]"].flatMap((name) => badField(name, ["1"])),
])("GET /v1/payments with %s", async (_name, field, value) => {
  const query = `${encodeURIComponent(field)}=${encodeURIComponent(String(value))}`;
  expect(blamed(await client.get(`/v1/payments?${query}`))).toBe(invalid(field));
});

test.each([
  ["/v1/payments?limit=5&limit=5", "limit"],
  ["/v1/payments?=1", ""],
  [`/v1/payments/${unknownPayment}?expand=all`, "expand"],
  ["/v1/balances?currency=IDR", "currency"],
  ["/v1/sandbox/clock?now=1", "now"],
])("GET %s", async (path, field) => {
  expect(blamed(await client.get(path))).toBe(invalid(field));
});

describe("the operator's API", () => {
  const operate = async (method: string, path: string, body: unknown, token = OPERATOR_TOKEN): Promise<Answer> => {
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const sent = typeof body === "string" ? body : JSON.stringify(body);
    return readAnswer(await fetch(`${service.operatorOrigin}/ops/v1${path}`, { method, headers, body: sent }));
  };
  const read = async (path: string): Promise<string> => (await operate("GET", path, undefined)).text;
  const state = (): Promise<string[]> => Promise.all([read(`/merchants/${merchantId}`), read("/acquirers")]);
  const settings = (name: string, values: unknown[], field = name): Row[] =>
    badBody("PATCH /merchants/ID", name, values, field);
  const credentials = "POST /merchants/ID/credentials";
  const webhook = "PUT /merchants/ID/webhook";
  const hook = (url: unknown): unknown => ({ environment: "sandbox", url });
  const missing = "404 OBJECT_NOT_FOUND";
  test.each<Row>([
    ...badBody("POST /merchants", "name", ["", "x".repeat(121), 5, null, undefined]),
    ...rows("POST /merchants", [{ name: "x", id: 1 }], invalid("id")),
    ...rows("POST /merchants", ['{"name":"a","name":"b"}', "", "[]", "{"], malformed),
    ...settings("rate_limit_per_minute", [0, -1, 1.5, "5", null, 2 ** 53]),
    ...settings("suspended", ["yes", 1, null]),
    ...settings("max_amount_minor", [0, -1, 1.5, "1", 2 ** 53]),
    ...rows("PATCH /merchants/ID", ['{"max_amount_minor":1e3}'], invalid("max_amount_minor")),
    ...settings("currencies", [[], null, "IDR"]),
    ...settings("currencies", [["idr"], ["XXX"], [5]], "currencies.0"),
    ...settings("methods", [[], null, "qris"]),
    ...settings("methods", [["cash"]], "methods.0"),
    ...settings("methods", [{ qris: { cash: true } }], "methods.qris.cash"),
    ...settings("fees", [{ qris: { basis_points: 10_001, flat_minor: 0 } }], "fees.qris.basis_points"),
    ...settings("fees", [{ cash: {} }], "fees.cash"),
    ...settings("wallet_frozen", [{ IDR: "yes" }], "wallet_frozen.IDR"),
    ...settings("name", ["Other"]),
    ...rows(`PATCH /merchants/mer_${"0".repeat(26)}`, [{ suspended: true }], missing),
    ...rows("PATCH /merchants/mer_1", [{ suspended: true }], missing),
    ...rows(credentials, [{}, { environment: "live" }, { environment: null }], invalid("environment")),
    ...rows(credentials, [{ environment: "sandbox", scopes: [] }], invalid("scopes")),
    ...rows(credentials, [{ environment: "sandbox", scopes: ["all"] }], invalid("scopes.0")),
    ...rows("DELETE /merchants/ID/credentials/ak_test_1", [{}], missing),
    ...rows(webhook, ["x", "http://example.com", "https://127.0.0.1/", 5, undefined].map(hook), invalid("url")),
    ...rows(webhook, [{ url: "https://example.com" }], invalid("environment")),
    ...rows("PATCH /acquirers/cendana", [{ enabled: "no" }, { enabled: null }], invalid("enabled")),
    ...rows("PATCH /acquirers/cendana", [{ health: "fine" }], invalid("health")),
    ...rows("PATCH /acquirers/cendana", [{ priority: 1 }], invalid("priority")),
    ...rows("PATCH /acquirers/nobody", [{ enabled: false }], missing),
  ])("%s", async (_name, endpoint, body, expected) => {
    const [method = "", path = ""] = endpoint.replace("ID", merchantId).split(" ");
    const before = await state();
    expect(blamed(await operate(method, path, body))).toBe(expected);
    expect(outcome(await operate(method, path, body, "guess"))).toBe("401 UNAUTHORIZED");
    expect(await state()).toEqual(before);
  });
});

describe("whatever is thrown at it", () => {
  /** The committed contracts; their own tests hold them to what is served, so a new endpoint comes here by itself. */
  const operations = ["merchant", "operator"].flatMap((contract) => {
    const file = readFileSync(new URL(`../../../openapi/${contract}.json`, import.meta.url), "utf8");
    const check = new ContractCheck(file);
    return check.operations.map(({ path, method, operation }) => ({
      name: `${method.toUpperCase()} ${path}`,
      check,
      operation,
    }));
  });
  // What no contract tells: it is for acquirers, payers and programs that read contracts.
  const beside = [
    "POST /acquirers/{gateway_code}/callbacks",
    "GET /pay/{token}",
    "POST /pay/{token}",
    "GET /openapi.json",
  ];
  // Parameters become ID, which each request fills in; the ones that few words fit are also given one that does.
  const fitting: Record<string, string> = { environment: "sandbox", currency: "IDR" };
  const endpoints = [...operations.map(({ name }) => name), ...beside].flatMap((endpoint) => {
    const any = endpoint.replaceAll(/\{\w+\}/g, "ID");
    const fit = endpoint.replaceAll(/\{(\w+)\}/g, (_all, name: string) => fitting[name] ?? "ID");
    return any === fit ? [any] : [any, fit];
  });
  /** Names of fields, however deep in a shape. */
  const fieldsIn = (shape: unknown, check: ContractCheck): string[] => {
    if (typeof shape !== "object" || shape === null) return [];
    const named = check.resolve(shape);
    const { properties = {} } = named;
    return [...Object.keys(properties as object), ...Object.values(named).flatMap((inner) => fieldsIn(inner, check))];
  };
  const asked = operations.flatMap(({ check, operation: { parameters = [], requestBody } }) => [
    ...parameters
      .map((parameter) => check.resolve(parameter))
      .flatMap(({ in: place, name }) => (place === "query" ? [String(name)] : [])),
    ...fieldsIn(requestBody, check),
  ]);
  const fields = [...new Set([...asked, "__proto__", "constructor"])];
  const unicode = anyText({ maxLength: 40 });
  const plausible = fc.oneof(
    fc.constantFrom(1, 60, 150_000, 2 ** 53, -0, 1e21, true, null, "\0", "\ud800", "1", "2026-01-01"),
    fc.constantFrom("IDR", "USD", "qris", "card", "failed", "succeeded", "sandbox", "production", "cendana"),
    fc.constantFrom<unknown>([], {}, ["IDR"], ["payments:read"], ["qris"], { qris: true }, { IDR: true }),
    fc.constantFrom({ email: "a@review.test" }, { "sandbox.scenario": "decline" }),
  );
  const anything = fc.oneof(plausible, unicode, fc.jsonValue());
  const object = fc.dictionary(fc.oneof({ weight: 6, arbitrary: fc.constantFrom(...fields) }, unicode), anything, {
    maxKeys: 6,
  });
  const body = fc.oneof(
    { weight: 4, arbitrary: object.map((changes) => JSON.stringify(paymentBody(changes))) },
    { weight: 4, arbitrary: object.map((value) => JSON.stringify(value)) },
    { weight: 2, arbitrary: fc.json() },
    { weight: 1, arbitrary: unicode },
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)) },
  );
  const headerValue = fc.string({ unit: fc.constantFrom(..."\t !\"%&',;=?\\{}09azAZ\x80\xe9\xff"), maxLength: 60 });
  const headers = fc.dictionary(
    fc.oneof(
      fc.stringMatching(/^x-[a-z]{1,12}$/),
      fc.constantFrom(
        "accept",
        "accept-encoding",
        "content-encoding",
        "content-type",
        "cookie",
        "host",
        "origin",
        "te",
      ),
      fc.constantFrom("authorization", "x-timestamp", "x-signature", "idempotency-key", "x-request-id", "expect"),
      fc.constantFrom("x-forwarded-for", "forwarded", "upgrade", "range", "if-none-match", "x-http-method-override"),
    ),
    headerValue,
    { maxKeys: 5 },
  );
  const segment = fc.oneof(
    {
      weight: 4,
      arbitrary: fc.constantFrom("PAYMENT", "MERCHANT", "cendana", unknownPayment, "pay_1", "%zz", "%ff", ".."),
    },
    unicode.map(encodeURIComponent),
    fc.stringMatching(/^[!-"$->@-~]{0,30}$/),
  );
  const query = fc.oneof(
    { weight: 3, arbitrary: fc.constant("") },
    fc
      .dictionary(fc.oneof(fc.constantFrom(...fields), unicode), unicode, { maxKeys: 3 })
      .map((pairs) => `?${new URLSearchParams(pairs).toString()}`),
    fc.stringMatching(/^[!-"$-~]{0,30}$/).map((text) => `?${text}`),
  );
  const by = fc.constantFrom("merchant", "merchant", "merchant", "forger", "nobody");
  // Creation is the widest door: a quarter of everything goes there, so that some of it is accepted.
  const endpoint = fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom(...endpoints) },
    { weight: 1, arbitrary: fc.constant("POST /v1/payments") },
  );
  const thrown = fc.tuple(endpoint, segment, query, body, headers, by);
  type Thrown = typeof thrown extends fc.Arbitrary<infer Value> ? Value : never;

  /** Sends what `fetch` would refuse to. */
  async function send(
    method: string,
    path: string,
    body: string | Buffer,
    headers: Record<string, string>,
  ): Promise<Answer> {
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      const framed = { ...headers, "content-length": Buffer.byteLength(body) };
      const origin = path.startsWith("/ops") ? service.operatorOrigin : service.origin;
      const sent = request(origin, { method, path, headers: framed, agent }, resolve);
      sent.on("error", reject);
      sent.end(body);
    });
    let text = "";
    // A stream goes on until somebody hangs up: that it began is its answer.
    if (response.headers["content-type"]?.startsWith("text/event-stream")) response.destroy();
    else for await (const chunk of response.setEncoding("utf8")) text += String(chunk);
    const isJson = response.headers["content-type"]?.startsWith("application/json");
    return {
      status: response.statusCode ?? 0,
      headers: new Headers(Object.entries(response.headers).map(([name, value]) => [name, String(value)])),
      text,
      json: isJson ? JSON.parse(text) : undefined,
    };
  }

  test("the answer is one of ours, and never a failure of the service", async () => {
    const victim = await service.merchant();
    const { reference } = (await client.post("/v1/payments", paymentBody())).json;
    const reached = new Set<number>();
    const strike = async ([endpoint, segment, query, body, headers, by]: Thrown): Promise<void> => {
      const [method = "", path = ""] = endpoint.split(" ");
      const name = segment.replace("PAYMENT", String(reference)).replace("MERCHANT", victim.merchantId);
      const bytes = method === "GET" ? "" : body;
      const operator: Record<string, string> = { authorization: `Bearer ${OPERATOR_TOKEN}` };
      const own = path.startsWith("/ops") ? operator : client.headers(bytes);
      const proper = { "content-type": "application/json", "idempotency-key": randomUUID(), ...headers };
      const sent = by === "merchant" ? { ...proper, ...own } : by === "forger" ? { ...own, ...proper } : headers;
      const answer = await send(method, path.replaceAll("ID", name) + query, bytes, sent);
      const result = outcome(answer);
      if (answer.status >= 500) expect(result).toBe("503 NO_ROUTE_AVAILABLE");
      reached.add(answer.status);
    };
    expect(endpoints.length).toBeGreaterThan(80);
    expect(fields).toEqual(expect.arrayContaining(["amount_minor", "starting_after", "settlement"]));
    // Every endpoint at least once from a merchant, then whatever chance brings.
    for (const endpoint of endpoints) await strike([endpoint, unknownPayment, "", "{}", {}, "merchant"]);
    await fc.assert(
      fc.asyncProperty(fc.array(thrown, { minLength: 1, maxLength: 8 }), async (requests) => {
        await Promise.all(requests.map(strike));
      }),
      { numRuns: 600, interruptAfterTimeLimit: 30_000 },
    );
    for (const status of [200, 201, 400, 401, 404, 422]) expect(reached).toContain(status);
    expect((await fetch(`${service.origin}/v1/health`)).status).toBe(200);
  });
});
