// Goal: a developer whose receiver refuses a webhook learns why, and a genuine one is called genuine. Method: real deliveries
// as the service signs them, pasted whole, or spoilt in one way each, over a real socket; the pure part over generated bodies.
import { createHmac } from "node:crypto";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { listenerSecret, signedWith } from "../../../cli/src/listener/own-signature.ts";
import type { Client } from "../../../e2e/kit/client.ts";
import { type TestService, paymentBody, startService } from "../../test/kit.ts";
import { webhookSecret } from "../merchants/directory.ts";
import { deliveryHeaders } from "../webhooks/sender.ts";
import { type DeliveryDiagnosis, deliveryDiagnoses, diagnoseDelivery, explanationsOf } from "./delivery-diagnosis.ts";

interface Delivery {
  headers: Record<string, string>;
  body: string;
  received_at?: number;
}

let service: TestService;
let client: Client;
let merchantId: string;
let secret: string;
let genuine: Delivery;

beforeAll(async () => {
  service = await startService({ roles: ["api"], config: { webhookHeaderPrefix: "X-Acme-" } });
  ({ client, merchantId, webhookSecret: secret } = await service.merchant());
  genuine = await newDelivery(client);
});
afterAll(() => service.stop());

async function newDelivery(by: Client): Promise<Delivery> {
  const { json } = await by.get("/v1/sandbox/events/listen");
  await by.post("/v1/payments", paymentBody({ description: "Kopi Gayo / 250 g – enak" }));
  const { json: heard } = await by.get(`/v1/sandbox/events/listen?after=${json.next_after}&seen=${json.seen.join()}`);
  const [{ headers, body }] = heard.data as [Delivery];
  return { headers, body };
}

const ask = async (delivery: unknown, by = client): Promise<{ diagnosis: string; explanation: string }> => {
  const answer = await by.post("/v1/sandbox/webhook/doctor", delivery);
  expect(answer.status, answer.text).toBe(200);
  return answer.json as { diagnosis: string; explanation: string };
};

const only = ({ headers }: Delivery, wanted: RegExp): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => wanted.test(name)));

const signedBy = (key: string, { headers, body }: Delivery): Record<string, string> => ({
  "X-Acme-Timestamp": headers["X-Acme-Timestamp"] ?? "",
  "X-Acme-Signature": createHmac("sha256", key).update(`${headers["X-Acme-Timestamp"]}.${body}`).digest("hex"),
});

const cases: [string, DeliveryDiagnosis, (delivery: Delivery) => Delivery | Promise<Delivery>][] = [
  ["whole", "genuine", (it) => it],
  ["by the service's own headers alone", "genuine", (it) => ({ ...it, headers: only(it, /^x-acme-/i) })],
  ["by the standard's headers alone", "genuine", (it) => ({ ...it, headers: only(it, /^webhook-/) })],
  [
    "with names in any case",
    "genuine",
    (it) => ({
      ...it,
      headers: Object.fromEntries(Object.entries(it.headers).map(([name, value]) => [name.toUpperCase(), value])),
    }),
  ],
  ["received hours later", "stale_timestamp", (it) => ({ ...it, received_at: Math.floor(Date.now() / 1000) + 7_200 })],
  ["received at its time", "genuine", (it) => ({ ...it, received_at: Math.floor(Date.now() / 1000) + 200 })],
  [
    "parsed and written anew",
    "reserialised_body",
    (it) => ({ ...it, body: JSON.stringify(JSON.parse(it.body), null, 2) }),
  ],
  [
    "as Python writes it",
    "reserialised_body",
    (it) => ({ ...it, body: it.body.replaceAll('":', '": ').replaceAll(',"', ', "') }),
  ],
  [
    "as nobody else writes it",
    "reserialised_body",
    (it) => ({ ...it, body: it.body.replaceAll('":', '" :\t').replaceAll("150000", "1.5e5") }),
  ],
  ["with a newline", "trailing_newline", (it) => ({ ...it, body: `${it.body}\n` })],
  ["with another amount", "altered_body", (it) => ({ ...it, body: it.body.replace("150000", "150001") })],
  ["with no body", "altered_body", (it) => ({ ...it, body: "" })],
  ["with the body of another", "altered_body", async (it) => ({ ...it, body: (await newDelivery(client)).body })],
  [
    "with a timestamp of now",
    "unknown",
    (it) => ({ ...it, headers: { ...only(it, /^x-acme/i), "X-Acme-Timestamp": "1" } }),
  ],
  ["with one family spoilt", "unknown", (it) => ({ ...it, headers: { ...it.headers, "webhook-id": "evt_other" } })],
  ["without a signature", "headers_missing", (it) => ({ ...it, headers: only(it, /timestamp|id/i) })],
  ["without headers", "headers_missing", (it) => ({ ...it, headers: {} })],
  [
    "with a signature cut short",
    "altered_headers",
    (it) => ({ ...it, headers: { ...it.headers, "X-Acme-Signature": "abc" } }),
  ],
  ["signed by the API secret", "api_secret", (it) => ({ ...it, headers: signedBy(client.credentials.secret, it) })],
  [
    "forwarded by gerbang listen",
    "listener_secret",
    async (it) => {
      const id = it.headers["X-Acme-Event-Id"] ?? "";
      return { ...it, headers: await signedWith(listenerSecret(client.credentials.secret), { ...it, id, type: "" }) };
    },
  ],
  ["signed by a stranger", "unknown", (it) => ({ ...it, headers: signedBy("whsec_x", it) })],
];

test.each(cases)("a delivery %s: %s", async (_name, expected, change) => {
  const { diagnosis, explanation } = await ask(await change(genuine));
  expect(diagnosis).toBe(expected);
  expect(explanation).toBe(explanationsOf("X-Acme-")[expected]);
});

test("the secret before a rotation and that of the other environment are named", async () => {
  const shop = await service.merchant();
  const before = await newDelivery(shop.client);
  await service.app.merchants.rotateWebhook({ merchantId: shop.merchantId, environment: "sandbox" }, 3600);
  expect((await ask(before, shop.client)).diagnosis).toBe("old_secret");
  expect((await ask(await newDelivery(shop.client), shop.client)).diagnosis).toBe("genuine");
  const production = await service.merchant({ environment: "production" });
  const tester = await service.client(production.merchantId);
  const live = { ...genuine, headers: signedBy(production.webhookSecret, genuine) };
  expect((await ask(live, tester)).diagnosis).toBe("other_environment");
});

test("another merchant's delivery is not ours to anyone else", async () => {
  const { client: other } = await service.merchant();
  expect((await ask(genuine, other)).diagnosis).toBe("unknown");
});

test("a delivery is asked about by sandbox keys with the scope, under a key that replays, in bounded sizes", async () => {
  const path = "/v1/sandbox/webhook/doctor";
  const key = "ask-about-it";
  const first = await client.post(path, genuine, { key });
  const again = await client.post(path, genuine, { key });
  expect([again.status, again.headers.get("x-idempotent-replay"), again.text]).toEqual([200, "true", first.text]);
  const live = await service.client(merchantId, "production");
  expect((await live.post(path, genuine)).json.error.code).toBe("ENVIRONMENT_MISMATCH");
  const reader = await service.client(merchantId, "sandbox", ["payments:read"]);
  expect((await reader.post(path, genuine)).json.error.code).toBe("FORBIDDEN");
  const many = Object.fromEntries(Array.from({ length: 61 }, (_, index) => [`x-${index}`, "1"]));
  const wrong: [unknown, string][] = [
    [{ headers: {} }, "body"],
    [{ body: "" }, "headers"],
    [{ headers: { a: 1 }, body: "" }, "headers.a"],
    [{ headers: many, body: "" }, "headers"],
    [{ headers: {}, body: "x".repeat(131_073) }, "body"],
    [{ headers: {}, body: "", received_at: 1.5 }, "received_at"],
    [{ headers: {}, body: "", other: 1 }, "other"],
  ];
  for (const [body, field] of wrong) {
    const { status, json } = await client.post(path, body);
    expect([status, json.error.code, json.error.details.field]).toEqual([422, "VALIDATION_ERROR", field]);
  }
});

describe("the pure part", () => {
  const AT = 1_767_225_600;
  const KEY = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
  const secrets = { current: KEY, previous: undefined, elsewhere: [], api: [], listeners: [] };
  const deliver = (body: string): Record<string, string> =>
    deliveryHeaders({
      prefix: "X-SVC-",
      serviceName: "gerbang",
      secrets: [webhookSecret(KEY)],
      eventId: "evt_1",
      type: "payment.created",
      body,
      attempt: 1,
      timestamp: AT,
    });
  const bodies = fc.dictionary(fc.string(), fc.jsonValue()).map((value) => JSON.stringify(value));

  test("what the sender signs is genuine, for any body, and for no other", () => {
    fc.assert(
      fc.property(bodies, bodies, (body, other) => {
        const pasted = { headers: deliver(body), receivedAt: AT };
        expect(diagnoseDelivery({ ...pasted, body }, secrets, "X-SVC-", undefined)).toBe("genuine");
        if (JSON.stringify(JSON.parse(other)) === JSON.stringify(JSON.parse(body))) return;
        expect(diagnoseDelivery({ ...pasted, body: other }, secrets, "X-SVC-", body)).toMatch(
          /^(altered|reserialised)_body$/,
        );
        expect(diagnoseDelivery({ ...pasted, body: other }, secrets, "X-SVC-", undefined)).toMatch(
          /^(unknown|reserialised_body)$/,
        );
      }),
    );
  });

  test("anything at all is answered with a known word", () => {
    const names = fc.constantFrom(
      "X-SVC-Timestamp",
      "x-svc-signature",
      "webhook-id",
      "Webhook-Timestamp",
      "webhook-signature",
    );
    fc.assert(
      fc.property(fc.dictionary(names, fc.string()), fc.string(), (headers, body) => {
        const found = diagnoseDelivery({ headers, body, receivedAt: AT }, secrets, "X-SVC-", undefined);
        expect(deliveryDiagnoses).toContain(found);
        expect(found).not.toBe("genuine");
      }),
    );
  });
});

test("each diagnosis has its case", () => {
  const had = new Set<string>([...cases.map(([, expected]) => expected), "old_secret", "other_environment"]);
  expect(had).toEqual(new Set(deliveryDiagnoses));
  expect(secret).toMatch(/^whsec_/);
});
