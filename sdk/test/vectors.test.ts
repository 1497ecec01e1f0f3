// Goal: what this client signs and verifies is what the vectors say, which another implementation made.
import { expect, test } from "vitest";
import Gerbang from "../src/index.ts";
import * as nodeCrypto from "node:crypto";
import { type Hashing, encoder, hashing, nodeHashing, webHashing } from "../src/hashing.ts";
import { messageHeaders, timestampHeaders } from "../src/signing.ts";
import { sign, unwrap } from "../src/webhooks.ts";
import { vectors } from "./vectors.ts";

interface Signing {
  name: string;
  secret: string;
  timestamp: string | number;
  body: string;
  signature: string;
}

test.each(vectors<Signing>("signing"))(
  "the interface's scheme: $name",
  async ({ secret, timestamp, body, signature }) => {
    const request = {
      clientId: "ak",
      hmac: await hashing.hmac(encoder.encode(secret)),
      method: "POST",
      url: "https://pay.example/v1",
      body,
    };
    expect(await timestampHeaders(request, Number(timestamp))).toEqual({
      "x-timestamp": String(timestamp),
      "x-signature": signature,
    });
  },
);

test.each<[platform: string, hashing: Hashing]>([
  ["Node", nodeHashing(nodeCrypto)],
  ["WebCrypto", webHashing],
])("digests and signatures by %s are the same everywhere", async (_, { sha256, hmac }) => {
  expect(new Uint8Array(await sha256("Rp 1.500,00 – lunas"))).toEqual(
    new Uint8Array(nodeCrypto.createHash("sha256").update("Rp 1.500,00 – lunas").digest()),
  );
  for (const { secret, timestamp, body, signature } of vectors<Signing>("signing")) {
    const sign = await hmac(encoder.encode(secret));
    for (const signed of [`${timestamp}.${body}`, encoder.encode(`${timestamp}.${body}`)])
      expect(Buffer.from(await sign(signed)).toString("hex")).toBe(signature);
  }
});

interface Message {
  name: string;
  client_id: string;
  secret: string;
  method: string;
  url: string;
  body: string;
  idempotency_key?: string;
  created: number;
  nonce: string;
  headers: Record<string, string>;
}

test.each(vectors<Message>("message-signatures"))("RFC 9421: $name", async (vector) => {
  const { client_id: clientId, secret, method, url, body, idempotency_key: idempotencyKey, created, nonce } = vector;
  const request = { clientId, hmac: await hashing.hmac(encoder.encode(secret)), method, url, body, idempotencyKey };
  expect(await messageHeaders(request, created, nonce)).toEqual(vector.headers);
});

interface Delivery {
  name: string;
  secrets: string[];
  headers: Record<string, string | string[]>;
  body: string;
  now: number;
  prefix?: string;
  expect: string;
  event_id?: string;
  delivered?: { secrets: string[]; prefix: string; timestamp: number; attempt: number; type: string };
}
const deliveries = vectors<Delivery>("webhooks");

test.each(deliveries)(
  "a delivery: $name",
  async ({ secrets, headers, body, now, prefix, expect: expected, event_id }) => {
    const given = unwrap(body, headers, secrets, { now, ...(prefix !== undefined && { headerPrefix: prefix }) });
    if (expected === "ok") expect((await given).id).toBe(event_id);
    else if (expected === "secret_missing") await expect(given).rejects.toThrow(TypeError);
    else await expect(given).rejects.toMatchObject({ step: expected });
  },
);

test.each(deliveries.filter(({ delivered }) => delivered?.secrets.length === 1))(
  "a delivery is signed as the service signs it: $name",
  async ({ headers, body, delivered }) => {
    const { secrets: [secret = ""] = [], prefix = "", timestamp = 0, attempt = 0 } = delivered ?? {};
    const signed = await sign({ secret, event: body, timestamp, attempt, headerPrefix: prefix });
    const sent = Object.fromEntries(Object.entries(signed.headers).map(([name, value]) => [name.toLowerCase(), value]));
    const lower = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
    expect(sent).toEqual(lower);
  },
);

test("a receiver without a secret is told so, rather than trusting everybody", async () => {
  await expect(unwrap("{}", {}, [])).rejects.toThrow("webhook secret");
  await expect(unwrap("{}", {}, "")).rejects.toThrow("webhook secret");
});

test("headers come as Headers, as pairs or as an object", async () => {
  const { body, headers } = await sign({ secret: "whsec_c2VjcmV0", event: { id: "evt_1", type: "payment.succeeded" } });
  for (const given of [headers, new Headers(headers), Object.entries(headers), new Map(Object.entries(headers))])
    expect((await unwrap(Buffer.from(body), given, "whsec_c2VjcmV0")).id).toBe("evt_1");
});

interface Judged {
  name: string;
  call: { operation: "payments.create" | "refunds.create"; body: unknown };
  error?: { code: string; message: string; field: string; value: unknown };
}

test.each(vectors<Judged>("validation"))(
  "a body is refused before it is sent, or sent: $name",
  async ({ call, error }) => {
    const gerbang = new Gerbang({
      clientId: "ak_test_1",
      secret: "sk_test_1",
      baseUrl: "https://pay.example",
      fetch: () => Promise.reject(new Error("it was sent")),
      sleep: () => Promise.resolve(),
    });
    const sent =
      call.operation === "payments.create"
        ? gerbang.payments.create(call.body as never)
        : gerbang.refunds.create(call.body as never);
    if (error === undefined) {
      await expect(sent).rejects.toMatchObject({ code: "CONNECTION_FAILED" });
      return;
    }
    const { code, message, field, value } = error;
    await expect(sent).rejects.toMatchObject({ code, message, status: undefined, details: { field, value } });
  },
);
