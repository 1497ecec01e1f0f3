// Goal: a developer whose signature is refused is told what to change, a stranger learns nothing and costs little. Method: each
// mistake made over a real socket and asked about; `diagnose` held to rules over generated bodies; floods; every table searched.
import { createHash, createHmac, randomUUID } from "node:crypto";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { listenerSecret } from "../../../cli/src/listener/own-signature.ts";
import { type Answer, Client } from "../../../e2e/kit/client.ts";
import { type TestService, asOwner, openDatabase, paymentBody, startService } from "../../test/kit.ts";
import { systemClock } from "../ground/clock.ts";
import { Vault } from "../ground/crypto.ts";
import { Fault } from "../ground/fault.ts";
import { newId, uuidOf } from "../ground/ids.ts";
import { createLog } from "../ground/log.ts";
import type { Client as KnownClient } from "../merchants/directory.ts";
import type { Database } from "../store/database.ts";
import { type Diagnosis, diagnoses, explanations } from "./diagnoses.ts";
import { type SecretsAtHand, type SignedRequest, diagnose } from "./signature-diagnosis.ts";
import { RejectedRequests } from "./rejected-requests.ts";
import { expiredAt } from "../retention.ts";
import { deleteExpired } from "../store/retention.ts";
import { serialisationsOf } from "./serialisations.ts";
import { computing, slowness } from "../../test/slowness.ts";

let service: TestService;
let shop: { client: Client; merchantId: string; webhookSecret: string };
/** Another key of the shop's, one of its other environment, and one that was revoked. */
let second: Client;
/** Keys to make mistakes with in turn: of one only a few a second are looked into. */
let hands: Client[];
let live: Client;
let revoked: Client;

beforeAll(async () => {
  service = await startService({ roles: ["api"] });
  shop = await service.merchant();
  second = await service.client(shop.merchantId);
  hands = [shop.client, ...(await Promise.all([1, 2, 3].map(() => service.client(shop.merchantId))))];
  live = await service.client(shop.merchantId, "production");
  revoked = await service.client(shop.merchantId);
  await service.app.merchants.credentials.end(shop.merchantId, revoked.credentials.client_id);
});
afterAll(() => service.stop());

const now = (): string => String(Math.floor(Date.now() / 1000));
const hmac = (key: string | Buffer, text: string | Buffer): Buffer => createHmac("sha256", key).update(text).digest();
const hex = (key: string | Buffer, text: string | Buffer): string => hmac(key, text).toString("hex");

/** What a mistake is made of: the timestamp, the secret, and the body that is sent. */
interface Hand {
  at: string;
  secret: string;
  clientId: string;
  body: string;
}

interface Mistake {
  name: string;
  expected: Diagnosis;
  body?: string;
  path?: string;
  at?: () => string;
  sign: (hand: Hand) => string;
}

const right = ({ at, secret, body }: Hand): string => hex(secret, `${at}.${body}`);
const order =
  '{"amount_minor":150000,"customer":{"name":"Zoë Çelik","site":"https://a.b/c"},"tags":["a",{}],"rate":1.50}';
const python =
  '{"amount_minor": 150000, "customer": {"name": "Zo\\u00eb \\u00c7elik", "site": "https://a.b/c"}, "tags": ["a", {}], "rate": 1.50}';
const php =
  '{"amount_minor":150000,"customer":{"name":"Zo\\u00eb \\u00c7elik","site":"https:\\/\\/a.b\\/c"},"tags":["a",{}],"rate":1.50}';
const sorted =
  '{"amount_minor":150000,"customer":{"name":"Zoë Çelik","site":"https://a.b/c"},"rate":1.50,"tags":["a",{}]}';
const pretty = `{
  "amount_minor": 150000,
  "customer": {
    "name": "Zoë Çelik",
    "site": "https://a.b/c"
  },
  "tags": [
    "a",
    {}
  ],
  "rate": 1.50
}`;
const over =
  (text: string) =>
  ({ at, secret }: Hand): string =>
    hex(secret, `${at}.${text}`);

const mistakes: Mistake[] = [
  { name: "milliseconds", expected: "milliseconds", at: () => String(Date.now()), sign: right },
  { name: "a fraction", expected: "fraction_timestamp", at: () => `${now()}.25`, sign: right },
  { name: "a date", expected: "timestamp_format", at: () => new Date().toISOString(), sign: right },
  { name: "the headers swapped", expected: "header_swapped", at: () => hex("x", "y"), sign: () => now() },
  { name: "an old clock", expected: "clock", at: () => String(Number(now()) - 900), sign: right },
  {
    name: "a clock ahead, with a body",
    expected: "clock",
    body: order,
    at: () => String(Number(now()) + 400),
    sign: right,
  },
  { name: "upper case", expected: "upper_case", sign: (hand) => right(hand).toUpperCase() },
  {
    name: "base64",
    expected: "base64",
    body: order,
    sign: ({ at, secret, body }) => hmac(secret, `${at}.${body}`).toString("base64"),
  },
  { name: "base64url", expected: "base64", sign: ({ at, secret }) => hmac(secret, `${at}.`).toString("base64url") },
  { name: "base64 of hex", expected: "base64", sign: (hand) => Buffer.from(right(hand)).toString("base64") },
  { name: "a prefix", expected: "prefix", sign: (hand) => `sha256=${right(hand)}` },
  { name: "no dot", expected: "missing_dot", body: order, sign: ({ at, secret, body }) => hex(secret, at + body) },
  { name: "no dot, no body", expected: "missing_dot", sign: ({ at, secret }) => hex(secret, at) },
  { name: "the body alone", expected: "body_only", body: order, sign: ({ secret, body }) => hex(secret, body) },
  {
    name: "the body first",
    expected: "body_first",
    body: order,
    sign: ({ at, secret, body }) => hex(secret, `${body}.${at}`),
  },
  {
    name: "a hash of the body",
    expected: "hashed_body",
    body: order,
    sign: (hand) => over(createHash("sha256").update(order).digest("hex"))(hand),
  },
  { name: "no body for a body", expected: "empty_for_body", body: order, sign: over("") },
  { name: "{} for no body", expected: "body_for_empty", sign: over("{}") },
  { name: "null for no body", expected: "body_for_empty", sign: over("null") },
  { name: "the query for no body", expected: "body_for_empty", path: "/v1/payments?limit=5", sign: over("limit=5") },
  { name: "a newline more signed", expected: "trailing_newline", body: order, sign: over(`${order}\n`) },
  { name: "CR LF more signed", expected: "trailing_newline", body: order, sign: over(`${order}\r\n`) },
  { name: "a newline more sent", expected: "trailing_newline", body: `${order}\n`, sign: over(order) },
  { name: "Python's text signed", expected: "reserialised_body", body: order, sign: over(python) },
  { name: "Python's text sent", expected: "reserialised_body", body: python, sign: over(order) },
  { name: "PHP's text signed", expected: "reserialised_body", body: order, sign: over(php) },
  { name: "PHP's text sent", expected: "reserialised_body", body: php, sign: over(order) },
  { name: "pretty signed", expected: "reserialised_body", body: order, sign: over(pretty) },
  { name: "pretty sent", expected: "reserialised_body", body: pretty, sign: over(order) },
  { name: "four spaces", expected: "reserialised_body", body: order, sign: over(pretty.replaceAll("  ", "    ")) },
  { name: "sorted keys", expected: "reserialised_body", body: order, sign: over(sorted) },
  {
    name: "Latin-1",
    expected: "charset",
    body: order,
    sign: ({ at, secret }) => hex(secret, Buffer.from(`${at}.${order}`, "latin1")),
  },
  { name: "the webhook secret", expected: "webhook_secret", sign: ({ at }) => hex(shop.webhookSecret, `${at}.`) },
  {
    name: "the secret of gerbang listen",
    expected: "webhook_secret",
    body: order,
    sign: (hand) => right({ ...hand, secret: listenerSecret(hand.secret) }),
  },
  {
    name: "another key's secret",
    expected: "other_credential",
    body: order,
    sign: (hand) => right({ ...hand, secret: second.credentials.secret }),
  },
  {
    name: "the live key's secret",
    expected: "other_credential",
    sign: (hand) => right({ ...hand, secret: live.credentials.secret }),
  },
  {
    name: "a revoked key's secret",
    expected: "old_secret",
    sign: (hand) => right({ ...hand, secret: revoked.credentials.secret }),
  },
  { name: "the client_id", expected: "client_id", sign: (hand) => right({ ...hand, secret: hand.clientId }) },
  {
    name: "a decoded secret",
    expected: "secret_decoded",
    sign: ({ at, secret }) => hex(Buffer.from(secret, "base64"), `${at}.`),
  },
  {
    name: "a secret with a newline",
    expected: "secret_altered",
    sign: (hand) => right({ ...hand, secret: `${hand.secret}\n` }),
  },
  {
    name: "a secret without its beginning",
    expected: "secret_altered",
    sign: (hand) => right({ ...hand, secret: hand.secret.slice(8) }),
  },
  {
    name: "a stranger's secret",
    expected: "unknown",
    body: order,
    sign: (hand) => right({ ...hand, secret: "sk_test_of_somebody_else" }),
  },
  { name: "garbage", expected: "unknown", sign: () => "garbage" },
];

async function make(by: Client, { body, path = "/v1/balances", at = now, sign }: Mistake): Promise<Answer> {
  const { client_id: clientId, secret } = by.credentials;
  const timestamp = at();
  const headers = {
    authorization: `Bearer ${clientId}`,
    "x-timestamp": timestamp,
    "x-signature": sign({ at: timestamp, secret, clientId, body: body ?? "" }),
    ...(body === undefined ? {} : { "content-type": "application/json", "idempotency-key": randomUUID() }),
  };
  const post = body !== undefined;
  return by.send(post ? "POST" : "GET", post ? "/v1/payments" : path, body, headers);
}

const requestOf = (answer: Answer): string => answer.headers.get("x-request-id") ?? "";
const ask = (by: Client, requestId: string): Promise<Answer> => by.get(`/v1/sandbox/requests/${requestId}/doctor`);

test.each(mistakes)("told apart: $name", async (mistake) => {
  const client = hands[mistakes.indexOf(mistake) % hands.length] as Client;
  await vi.waitFor(
    async () => {
      const refused = await make(client, mistake);
      const code =
        mistake.expected === "clock" || mistake.expected === "milliseconds"
          ? "TIMESTAMP_OUT_OF_WINDOW"
          : "SIGNATURE_INVALID";
      // The public answer says as little as ever.
      expect(refused.json).toEqual({
        error: { code, message: new Fault(code).message, request_id: requestOf(refused) },
      });
      const answer = await ask(client, requestOf(refused));
      expect([answer.status, answer.json]).toEqual([
        200,
        { diagnosis: mistake.expected, explanation: explanations[mistake.expected] },
      ]);
    },
    // Only a few of one client are looked into in a second: make the mistake again in the next one.
    { timeout: 30_000, interval: 300 },
  );
});

test("every diagnosis but the one of a right request can be had", () => {
  expect(new Set(mistakes.map(({ expected }) => expected))).toEqual(
    new Set(diagnoses.filter((diagnosis) => diagnosis !== "genuine")),
  );
});

describe("who may ask", () => {
  test("the owner, by any of its sandbox keys; to everybody else there is no such request", async () => {
    const { client } = shop;
    const refused = await vi.waitFor(
      async () => {
        const answer = await make(client, { name: "", expected: "body_for_empty", sign: over("{}") });
        expect((await ask(client, requestOf(answer))).status).toBe(200);
        return requestOf(answer);
      },
      { timeout: 30_000, interval: 300 },
    );
    expect((await ask(second, refused)).json.diagnosis).toBe("body_for_empty");
    expect((await ask(live, refused)).json.error.code).toBe("ENVIRONMENT_MISMATCH");
    const { client: other } = await service.merchant();
    for (const id of [refused, newId("request", systemClock.now()), "req_nonsense", "nonsense"]) {
      const answer = await ask(other, id);
      expect([answer.status, answer.json.error.code]).toEqual([404, "OBJECT_NOT_FOUND"]);
    }
  });

  test("a key without the scope is forbidden; rejected of other kinds and of live keys are not looked into", async () => {
    const { client, merchantId } = await service.merchant();
    const reader = await service.client(merchantId, "sandbox", ["payments:read"]);
    expect((await ask(reader, newId("request", systemClock.now()))).json.error.code).toBe("FORBIDDEN");
    const production = await service.client(merchantId, "production");
    const [badLive, missing, unknown] = [
      await make(production, { name: "", expected: "unknown", sign: () => "x" }),
      await client.send("GET", "/v1/balances", undefined, { authorization: `Bearer ${client.credentials.client_id}` }),
      await client.post("/v1/payments", "{"),
    ];
    for (const answer of [badLive, missing, unknown]) expect((await ask(client, requestOf(answer))).status).toBe(404);
  });
});

test("nothing of a refused request is kept but what was wrong with it", async () => {
  const { client, merchantId } = await service.merchant();
  const mark = `customer-${randomUUID()}`;
  const body = JSON.stringify(paymentBody({ customer: { name: mark }, metadata: { note: mark } }));
  const refused = await make(client, {
    name: "",
    expected: "body_only",
    body,
    sign: ({ secret }) => hex(secret, body),
  });
  expect((await ask(client, requestOf(refused))).json.diagnosis).toBe("body_only");
  const delivery = { headers: { "X-SVC-Timestamp": now(), "X-SVC-Signature": hex(mark, body) }, body };
  expect((await client.post("/v1/sandbox/webhook/doctor", delivery)).json.diagnosis).toBe("unknown");
  await asOwner(service.database, async (owner) => {
    const { rows } = await owner.query<Record<string, unknown>>(
      "select * from refused_requests where merchant_id = $1",
      [uuidOf(merchantId)],
    );
    expect(rows).toEqual([
      {
        merchant_id: uuidOf(merchantId),
        request_id: uuidOf(requestOf(refused)),
        diagnosis: "body_only",
        refused_at: expect.any(Date),
        subject: null,
        signature_base: null,
      },
    ]);
    const { rows: tables } = await owner.query<{ name: string }>(
      "select tablename as name from pg_tables where schemaname = 'public'",
    );
    expect(tables.length).toBeGreaterThan(10);
    for (const { name } of tables) {
      const found = await owner.query(`select from ${name} t where t::text like '%' || $1 || '%'`, [mark]);
      expect(found.rowCount, name).toBe(0);
    }
  });
});

describe("bounds", () => {
  test("a flood of bad signatures is answered like one, and only a few of it are looked into", async () => {
    const { client, merchantId } = await service.merchant();
    const begun = Date.now();
    const answers = await Promise.all(
      Array.from({ length: 300 }, () =>
        make(client, { name: "", expected: "unknown", body: order, sign: () => "0".repeat(64) }),
      ),
    );
    const seconds = Math.floor((Date.now() - begun) / 1000) + 2;
    expect(new Set(answers.map(({ json }) => json.error.code as string))).toEqual(new Set(["SIGNATURE_INVALID"]));
    expect((await client.get("/v1/balances")).status).toBe(200);
    await new Promise((resolve) => setTimeout(resolve, 500));
    const database = openDatabase(service.database, 1);
    const rows = await database.query({
      text: "select from refused_requests where merchant_id = $1::uuid",
      values: [uuidOf(merchantId)],
    });
    await database.end();
    expect(rows.length).toBeGreaterThan(0);
    expect(rows.length).toBeLessThanOrEqual(3 * seconds);
  });

  test("what waits is bounded in number and in bytes, however many clients there are", async () => {
    const asked = Promise.withResolvers<never[]>();
    let questions = 0;
    const database = {
      query: () => {
        questions++;
        return asked.promise;
      },
    } as unknown as Database;
    const rejected = new RejectedRequests({
      database,
      vault: new Vault("11".repeat(32)),
      clock: systemClock,
      log: createLog("silent"),
    });
    const known = (number: number): KnownClient =>
      ({
        clientId: `ak_test_${number}`,
        merchant: { merchantId: shop.merchantId },
        book: { merchantId: shop.merchantId, environment: "sandbox" },
        key: { export: () => Buffer.from("sk_test_x") },
      }) as unknown as KnownClient;
    const waiting = (): unknown[] => (rejected as unknown as { queue: unknown[] }).queue;
    const note = (number: number, bytes: number): void =>
      rejected.note({
        requestId: newId("request", systemClock.now()),
        client: known(number),
        request: { scheme: "timestamp", timestamp: "1", signature: "", body: Buffer.alloc(bytes), target: "/" },
      });
    for (let number = 0; number < 1_000; number++) note(number, 200_000);
    expect(waiting()).toHaveLength(20); // four mebibytes
    await vi.waitFor(() => expect(questions).toBe(1), 30_000);
    for (let number = 0; number < 1_000; number++) note(number + 1_000, 10);
    expect(waiting()).toHaveLength(100);
    expect(questions).toBe(1); // one at a time
    const stopping = rejected.stop();
    asked.reject(new Error("the database went away"));
    await stopping;
    note(5_000, 10);
    expect(waiting()).toHaveLength(0);
  });

  test("a merchant keeps its newest two hundred, and what strangers bring about goes first", async () => {
    const { client, merchantId } = await service.merchant();
    const at = systemClock.now();
    const kept = newId("request", at - 3_600_000_000);
    const gone = newId("request", at - 90_000_000_000);
    await asOwner(service.database, async (owner) => {
      const insert = (id: string, diagnosis: string): Promise<unknown> =>
        owner.query("insert into refused_requests values ($1, $2, $3, now())", [
          uuidOf(merchantId),
          uuidOf(id),
          diagnosis,
        ]);
      await insert(kept, "missing_dot");
      await insert(gone, "missing_dot");
      for (let n = 0; n < 300; n++) await insert(newId("request", at - n), "unknown");
    });
    const refused = await make(client, { name: "", expected: "unknown", sign: () => "x" });
    expect((await ask(client, requestOf(refused))).json.diagnosis).toBe("unknown");
    const database = openDatabase(service.database, 1);
    const count = async (): Promise<number> =>
      (
        await database.query({
          text: "select from refused_requests where merchant_id = $1::uuid",
          values: [uuidOf(merchantId)],
        })
      ).length;
    await vi.waitFor(async () => expect(await count()).toBe(200), 30_000);
    expect((await ask(client, kept)).json.diagnosis).toBe("missing_dot");
    expect((await ask(client, gone)).status).toBe(200);
    await deleteExpired(database, expiredAt(at)); // a day has passed for one of them
    expect((await ask(client, gone)).status).toBe(404);
    expect(await count()).toBe(199);
    await database.end();
  });
});

describe("diagnose, over generated requests", () => {
  const secrets: SecretsAtHand = {
    own: "sk_test_0123456789abcdefghjkmnpqrs",
    live: ["sk_test_another", "sk_live_another"],
    revoked: ["sk_test_before"],
    webhooks: ["whsec_AAAA"],
  };
  const AT = 1_767_225_600;
  const request = (changes: Partial<SignedRequest>): SignedRequest => ({
    timestamp: String(AT),
    signature: "",
    body: Buffer.alloc(0),
    target: "/v1/payments",
    clientId: "ak_test_me",
    receivedAt: AT,
    ...changes,
  });
  const json = fc.jsonValue({ maxDepth: 4 }).map((value) => JSON.stringify(value));
  const bodies = fc.oneof(json, fc.string({ unit: "grapheme" }), fc.constant("")).map((text) => Buffer.from(text));

  test("a right request is genuine, or late: never unknown", () => {
    fc.assert(
      fc.property(bodies, fc.integer({ min: -1000, max: 1000 }), (body, skew) => {
        const timestamp = String(AT + skew);
        const signature = hmac(secrets.own, Buffer.concat([Buffer.from(`${timestamp}.`), body])).toString("hex");
        expect(diagnose(request({ timestamp, body, signature }), secrets)).toBe(
          Math.abs(skew) > 300 ? "clock" : "genuine",
        );
      }),
    );
  });

  test("another key of the merchant's is named as what it is, whatever the body", () => {
    fc.assert(
      fc.property(bodies, fc.constantFrom("live", "revoked", "webhooks"), (body, kind) => {
        const signature = hmac(secrets[kind][0] as string, Buffer.concat([Buffer.from(`${AT}.`), body])).toString(
          "hex",
        );
        const expected = { live: "other_credential", revoked: "old_secret", webhooks: "webhook_secret" }[kind];
        expect(diagnose(request({ body, signature }), secrets)).toBe(expected);
      }),
    );
  });

  test("JSON signed as it would be written elsewhere is recognised, in either direction", () => {
    fc.assert(
      fc.property(json, fc.nat(), (sent, pick) => {
        const others = [...serialisationsOf(sent)];
        fc.pre(others.length > 0);
        const signed = others[pick % others.length] as string;
        expect(JSON.parse(signed)).toEqual(JSON.parse(sent));
        const signature = hex(secrets.own, `${AT}.${signed}`);
        expect(diagnose(request({ body: Buffer.from(sent), signature }), secrets)).toBe("reserialised_body");
      }),
    );
  });

  test("whatever comes is answered, and with nothing but one of the known words", () => {
    const text = fc.oneof(
      fc.string(),
      fc.base64String(),
      fc.stringMatching(/^[0-9a-fA-F]{60,66}$/),
      fc.stringMatching(/^\d{0,20}$/),
    );
    fc.assert(
      fc.property(text, text, fc.uint8Array({ maxLength: 200 }), (timestamp, signature, body) => {
        const found = diagnose(request({ timestamp, signature, body: Buffer.from(body) }), secrets);
        expect(diagnoses).toContain(found);
        expect(found).not.toBe("genuine");
      }),
    );
  });

  test("depth and length cost nothing", () => {
    const signature = "0".repeat(64);
    for (const body of ["[".repeat(30_000), `${"[".repeat(10_000)}${"]".repeat(10_000)}`, `"${"é".repeat(120_000)}"`]) {
      const took = computing(() => {
        expect(diagnose(request({ body: Buffer.from(body), signature }), secrets)).toBe("unknown");
      });
      expect(took).toBeLessThan(500 * slowness());
    }
  });

  test("no explanation holds a secret or a signature", () => {
    for (const words of Object.values(explanations))
      expect(words).not.toMatch(/[0-9a-f]{32}|sk_(test|live)_[0-9a-z]{4}/);
  });
});
