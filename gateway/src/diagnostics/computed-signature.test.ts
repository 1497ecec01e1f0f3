// Goal: a developer whose receiver computes another signature than a webhook carries learns by which mistake. Method: a real
// delivery, and for each mistake what a receiver that makes it would compute, asked about over a real socket.
import { createHash, createHmac } from "node:crypto";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { listenerSecret } from "../../../cli/src/listener/own-signature.ts";
import type { Client } from "../../../e2e/kit/client.ts";
import { type TestService, paymentBody, startService } from "../../test/kit.ts";
import {
  type ComputedDiagnosis,
  computedDiagnoses,
  computedExplanationsOf,
  diagnoseComputed,
} from "./computed-signature.ts";

interface Delivery {
  headers: Record<string, string>;
  body: string;
}

let service: TestService;
let client: Client;
let merchantId: string;
let secret: string;
let delivery: Delivery;
let at: string;

beforeAll(async () => {
  service = await startService({ roles: ["api"] });
  ({ client, merchantId, webhookSecret: secret } = await service.merchant());
  delivery = await newDelivery(client);
  at = delivery.headers["X-SVC-Timestamp"] ?? "";
});
afterAll(() => service.stop());

async function newDelivery(by: Client): Promise<Delivery> {
  const { json } = await by.get("/v1/sandbox/events/listen");
  await by.post("/v1/payments", paymentBody({ metadata: { note: "kopi é" } }));
  const { json: heard } = await by.get(`/v1/sandbox/events/listen?after=${json.next_after}&seen=${json.seen.join()}`);
  const [{ headers, body }] = heard.data as [Delivery];
  return { headers, body };
}

const hmac = (key: string | Buffer, text: string | Buffer, encoding: "hex" | "base64" = "hex"): string =>
  createHmac("sha256", key).update(text).digest(encoding);
const bytesOf = (whsec: string): Buffer => Buffer.from(whsec.slice("whsec_".length), "base64");

async function ask(
  computed: string,
  changes: Partial<Delivery> = {},
  by = client,
): Promise<{ diagnosis: string; computed: { diagnosis: string; explanation: string } }> {
  const body = { ...delivery, ...changes, computed_signature: computed };
  const answer = await by.post("/v1/sandbox/webhook/doctor", body);
  expect(answer.status, answer.text).toBe(200);
  return answer.json as Awaited<ReturnType<typeof ask>>;
}

const pretty = (): string => JSON.stringify(JSON.parse(delivery.body), null, 2);

const cases: [string, ComputedDiagnosis, () => string, (() => Partial<Delivery>)?][] = [
  ["as we do", "right", () => hmac(secret, `${at}.${delivery.body}`)],
  ["as the standard does", "right", () => standard(bytesOf(secret))],
  ["as the standard does, with its version", "right", () => `v1,${standard(bytesOf(secret))}`],
  [
    "over our bytes, though others are pasted",
    "right",
    () => hmac(secret, `${at}.${delivery.body}`),
    () => ({ body: "{}" }),
  ],
  ["in milliseconds", "milliseconds", () => hmac(secret, `${at}000.${delivery.body}`)],
  ["in upper case", "upper_case", () => hmac(secret, `${at}.${delivery.body}`).toUpperCase()],
  ["in base64", "base64", () => hmac(secret, `${at}.${delivery.body}`, "base64")],
  ["with sha256= before it", "prefix", () => `sha256=${hmac(secret, `${at}.${delivery.body}`)}`],
  ["without the dot", "missing_dot", () => hmac(secret, at + delivery.body)],
  ["over the body alone", "body_only", () => hmac(secret, delivery.body)],
  ["with the body first", "body_first", () => hmac(secret, `${delivery.body}.${at}`)],
  [
    "over a hash",
    "hashed_body",
    () => hmac(secret, `${at}.${createHash("sha256").update(delivery.body).digest("hex")}`),
  ],
  ["over nothing", "empty_body", () => hmac(secret, `${at}.`)],
  ["with a newline", "trailing_newline", () => hmac(secret, `${at}.${delivery.body}\n`)],
  ["parsed and written anew", "reserialised_body", () => hmac(secret, `${at}.${pretty()}`)],
  [
    "parsed, written anew and pasted like that",
    "reserialised_body",
    () => hmac(secret, `${at}.${spelt()}`),
    () => ({ body: spelt() }),
  ],
  ["over a changed body", "altered_body", () => hmac(secret, `${at}.${more()}`), () => ({ body: more() })],
  [
    "over a changed body of an event that is not known",
    "altered_body",
    () => hmac(secret, `${at}.${more()}`),
    () => ({ body: more(), headers: only(/timestamp|signature/i) }),
  ],
  ["in another encoding", "charset", () => hmac(secret, Buffer.from(`${at}.${delivery.body}`, "latin1"))],
  ["with the API secret", "api_secret", () => hmac(client.credentials.secret, `${at}.${delivery.body}`)],
  ["with the secret of gerbang listen", "listener_secret", () => hmac(listener(), `${at}.${delivery.body}`)],
  ["as the standard does, with the secret of gerbang listen", "listener_secret", () => standard(bytesOf(listener()))],
  ["with no secret at all", "secret_empty", () => hmac("", `${at}.${delivery.body}`)],
  ["with the secret decoded", "secret_decoded", () => hmac(bytesOf(secret), `${at}.${delivery.body}`)],
  ["as the standard does, the secret not decoded", "secret_not_decoded", () => standard(secret)],
  ["with a newline behind the secret", "secret_altered", () => hmac(`${secret}\n`, `${at}.${delivery.body}`)],
  ["without whsec_", "secret_altered", () => hmac(secret.slice("whsec_".length), `${at}.${delivery.body}`)],
  ["without a timestamp", "timestamp_missing", () => hmac(secret, delivery.body), () => ({ headers: {} })],
  ["with another's secret", "unknown", () => hmac("whsec_x", `${at}.${delivery.body}`)],
  ["as anything", "unknown", () => "no signature"],
];

const standard = (key: string | Buffer): string =>
  hmac(key, `${delivery.headers["webhook-id"]}.${at}.${delivery.body}`, "base64");
const listener = (): string => listenerSecret(client.credentials.secret);
/** As no common library writes it. */
const spelt = (): string => delivery.body.replaceAll('":', '" :\t');
const more = (): string => delivery.body.replace("150000", "150001");
const only = (wanted: RegExp): Record<string, string> =>
  Object.fromEntries(Object.entries(delivery.headers).filter(([name]) => /^x-svc/i.test(name) && wanted.test(name)));

test.each(cases)("computed %s: %s", async (_name, expected, computed, changes = () => ({})) => {
  const found = await ask(computed(), changes());
  expect(found.computed).toEqual({ diagnosis: expected, explanation: computedExplanationsOf("X-SVC-")[expected] });
  if (Object.keys(changes()).length === 0) expect(found.diagnosis).toBe("genuine");
});

test("the secret before a rotation, the one after it and that of the other environment are named", async () => {
  const shop = await service.merchant();
  const sign = (key: string, of: Delivery): string => hmac(key, `${of.headers["X-SVC-Timestamp"]}.${of.body}`);
  const before = await newDelivery(shop.client);
  const fresh = await service.app.merchants.rotateWebhook(
    { merchantId: shop.merchantId, environment: "sandbox" },
    3600,
  );
  const after = await newDelivery(shop.client);
  const of = async (key: string, pasted: Delivery): Promise<string> =>
    (await ask(sign(key, pasted), pasted, shop.client)).computed.diagnosis;
  expect(await of(shop.webhookSecret, after)).toBe("old_secret");
  expect(await of(fresh ?? "", after)).toBe("right");
  expect(await of(fresh ?? "", before)).toBe("new_secret");
  expect(await of(shop.webhookSecret, before)).toBe("right");
  const production = await service.merchant({ environment: "production" });
  const tester = await service.client(production.merchantId);
  const own = await newDelivery(tester);
  const found = await ask(sign(production.webhookSecret, own), own, tester);
  expect(found.computed.diagnosis).toBe("other_environment");
});

test("without a computed signature nothing is said of one, and its size is bounded", async () => {
  const path = "/v1/sandbox/webhook/doctor";
  expect((await client.post(path, delivery)).json.computed).toBeNull();
  for (const computed_signature of ["", "x".repeat(201), 5]) {
    const { status, json } = await client.post(path, { ...delivery, computed_signature });
    expect([status, json.error.details.field]).toEqual([422, "computed_signature"]);
  }
});

test("another merchant's secret is not found out with it", async () => {
  const { client: other } = await service.merchant();
  const right = hmac(secret, `${at}.${delivery.body}`);
  expect((await ask(right, {}, other)).computed.diagnosis).toBe("unknown");
  expect(merchantId).toMatch(/^mer_/);
});

test("anything at all is answered with a known word", () => {
  const secrets = {
    current: "whsec_a2V5",
    previous: "whsec_b2xk",
    elsewhere: ["whsec_eA=="],
    api: ["sk_test_x"],
    listeners: ["whsec_eQ=="],
  };
  fc.assert(
    fc.property(fc.string(), fc.string(), fc.option(fc.string(), { nil: undefined }), (computed, body, sent) => {
      const pasted = { headers: { "x-svc-timestamp": "1767225600" }, body, receivedAt: 1_767_225_600 };
      const found = diagnoseComputed(computed, pasted, secrets, "X-SVC-", { sent, verdict: "unknown" });
      expect(found).toBe("unknown");
    }),
  );
});

test("each diagnosis has its case", () => {
  const had = new Set<string>([
    ...cases.map(([, expected]) => expected),
    "old_secret",
    "new_secret",
    "other_environment",
  ]);
  expect(had).toEqual(new Set(computedDiagnoses));
});
