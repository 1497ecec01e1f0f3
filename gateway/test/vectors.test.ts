// Goal: the vectors that other languages are written from say what the service does. Method: the service judges what they signed, and makes the
// deliveries that they describe; the script that wrote them is run again where there is Python.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { verifyMessage } from "../src/auth/message-signature.ts";
import { verifySignature } from "../src/auth/signature.ts";
import { publicRootOf } from "../src/auth/signed-message.ts";
import { SECOND } from "../src/ground/clock.ts";
import { isInTimestampWindow } from "../src/ground/crypto.ts";
import { SigningKey } from "../src/ground/signing-key.ts";
import { faultCodes } from "../src/ground/fault.ts";
import { parseObject } from "../src/ground/json.ts";
import { type FieldRules, judgeBody } from "../src/http/fields.ts";
import { createPaymentRules } from "../src/payments/payments.schema.ts";
import { createRefundRules } from "../src/refunds/refunds.schema.ts";
import { deliveryHeaders } from "../src/webhooks/sender.ts";
import { book, merchantWith } from "./given.ts";

const folder = fileURLToPath(new URL("../../sdk/vectors", import.meta.url));
const read = <Vector>(name: string): Vector[] => JSON.parse(readFileSync(`${folder}/${name}`, "utf8")) as Vector[];

interface Signing {
  name: string;
  secret: string;
  timestamp: string;
  body: string;
  signature: string;
}

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
  headers: { "content-digest": string; "signature-input": string; signature: string };
}

interface Webhook {
  name: string;
  headers: Record<string, string | string[]>;
  body: string;
  now: number;
  expect: string;
  delivered?: { secrets: string[]; prefix: string; timestamp: number; attempt: number; type: string };
}

interface Retry {
  name: string;
  call: { operation: string };
  answers: ({ status: number; body: { error?: { code: string; message?: string } } } | { fault: string })[];
  expect: { attempts: number; waits_ms: [number, number][]; lookups: number; result: string };
}

interface Validation {
  name: string;
  call: { operation: string; body: object };
  /** Absent where the body is sent. */
  error?: { code: string; message: string; field: string; value: unknown };
}

const python = spawnSync("python3", ["--version"]).status === 0;

test.runIf(python)("the files are as their script writes them", () => {
  const { status, stderr } = spawnSync("python3", [`${folder}/make.py`, "--check"], { encoding: "utf8" });
  expect(status, stderr).toBe(0);
});

test("there are vectors of everything", () => {
  const files = ["signing.json", "message-signatures.json", "webhooks.json", "retries.json", "validation.json"];
  const sizes = files.map((name) => read(name).length);
  for (const size of sizes) expect(size).toBeGreaterThan(10);
});

describe("the service accepts the signature of", () => {
  test.each(read<Signing>("signing.json"))("$name", ({ secret, timestamp, body, signature }) => {
    const client = {
      clientId: "ak_test_vector",
      actor: "ak_test_vector",
      merchant: merchantWith(),
      book,
      key: new SigningKey(secret),
      scopes: new Set<never>(),
      signature: "any" as const,
      expiresAt: undefined,
      allows: undefined,
    };
    const verified = verifySignature(
      client,
      { clientId: client.clientId, timestamp, signature },
      Buffer.from(body),
      Number(timestamp) * SECOND,
    );
    expect(verified).toEqual({ signature, validUntil: Number(timestamp) + 300 });
  });
});

describe("the service accepts the message signature of", () => {
  test.each(read<Message>("message-signatures.json"))("$name", (vector) => {
    const { client_id: clientId, secret, method, url, body, idempotency_key: key, created, nonce, headers } = vector;
    const [root = "", target = ""] = url.split(/(?=\/v1\/)/);
    const message = {
      method,
      target,
      publicRoot: publicRootOf(`${root}/v1`),
      headers: {
        "content-digest": [headers["content-digest"]],
        ...(key === undefined ? {} : { "idempotency-key": [key] }),
      },
    };
    const claim = { clientId, signatureInput: headers["signature-input"], signature: headers.signature };
    const client = { clientId, key: new SigningKey(secret) };
    const judge = (sent: string) => verifyMessage(client, claim, message, Buffer.from(sent), created * SECOND);
    expect(judge(body)).toEqual({ created, nonce });
    expect(() => judge(`${body} `)).toThrow("content-digest");
  });
});

describe("the service sends", () => {
  const sent = read<Webhook>("webhooks.json").flatMap(({ delivered, ...vector }) =>
    delivered === undefined ? [] : [{ ...vector, delivered }],
  );
  test("some of the deliveries letter for letter", () => expect(sent.length).toBeGreaterThan(5));

  test.each(sent)("$name", ({ headers, body, delivered }) => {
    const { secrets, prefix, timestamp, attempt, type } = delivered;
    const [current, ...before] = secrets.map((secret) => ({
      key: new SigningKey(secret),
      standardKey: new SigningKey(Buffer.from(secret.slice("whsec_".length), "base64")),
    }));
    if (current === undefined) throw new Error("a delivery without a secret");
    const { id } = JSON.parse(body) as { id: string };
    const { "user-agent": _, ...made } = deliveryHeaders({
      prefix,
      serviceName: "gerbang",
      secrets: [current, ...before],
      eventId: id,
      type,
      body,
      attempt,
      timestamp,
    });
    expect(made).toEqual(headers);
  });
});

test("a delivery that is out of the window of the vectors is out of the service's window too", () => {
  const dated = read<Webhook>("webhooks.json").filter(({ expect }) => /^ok$|^timestamp_out/.test(expect));
  expect(dated.length).toBeGreaterThan(20);
  for (const { name, headers, now, expect: expected } of dated) {
    const stamps = Object.entries(headers).filter(([header]) => /timestamp$/i.test(header));
    expect(
      stamps.every(([, stamp]) => isInTimestampWindow(Number(stamp), now)),
      name,
    ).toBe(expected === "ok");
  }
});

test("a script of answers has an answer for each attempt and lookup, a wait between two, and codes that the service knows", () => {
  const own = ["CONNECTION_FAILED", "TIMED_OUT", "ANSWER_UNREADABLE", "REDIRECTED", "ANSWER_TOO_LARGE"];
  const known = new Set<string>([...faultCodes, "SOMETHING_NEW"]);
  for (const { name, answers, expect: expected } of read<Retry>("retries.json")) {
    const { attempts, lookups, waits_ms: waits, result } = expected;
    expect(answers, name).toHaveLength(attempts + lookups);
    expect(waits, name).toHaveLength(attempts - 1 + Math.max(0, lookups - 1));
    for (const [least, most] of waits) expect(least, name).toBeLessThan(most);
    expect(result === "ok" || own.includes(result) || known.has(result), `${name}: ${result}`).toBe(true);
    for (const answer of answers) {
      const error = "body" in answer ? answer.body.error : undefined;
      // What has no message is none of this service, whatever its code.
      if (error?.message !== undefined) expect(known, name).toContain(error.code);
    }
  }
});

describe("the service refuses in these words, or takes,", () => {
  const rules: Record<string, FieldRules<unknown>> = {
    "payments.create": createPaymentRules,
    "refunds.create": createRefundRules,
  };
  test.each(read<Validation>("validation.json"))("$name", ({ call, error }) => {
    const judged = judgeBody(
      rules[call.operation] as FieldRules<unknown>,
      parseObject(Buffer.from(JSON.stringify(call.body))),
    );
    if (!("fault" in judged)) {
      expect(error).toBeUndefined();
      return;
    }
    const { code, message, extras } = judged.fault;
    const { field, value } = extras.details as { field: string; value: unknown };
    expect(JSON.parse(JSON.stringify({ code, message, field, value }))).toEqual(error);
  });
});
