// Goal: a developer whose message signature (RFC 9421) is refused is told what to change, and what should have been signed. Method: each mistake
// made over a real socket and asked about; the table searched for secrets; the pure part over whatever comes.
import { createHmac } from "node:crypto";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import type { Answer, Client } from "../../../e2e/kit/client.ts";
import { signMessage } from "../../../e2e/kit/message-signer.ts";
import { type TestService, asOwner, startService } from "../../test/kit.ts";
import { contentDigest } from "../auth/content-digest.ts";
import { type Diagnosis, explanations } from "./diagnoses.ts";
import { type MessageDiagnosis, explanationOf, messageDiagnoses } from "./message-diagnoses.ts";
import { diagnoseMessage } from "./message-diagnosis.ts";
import { computing, slowness } from "../../test/slowness.ts";

let service: TestService;
let shop: { client: Client; merchantId: string; webhookSecret: string };
/** Keys to make mistakes with in turn: of one only a few a second are looked into. */
let hands: Client[];
let second: Client;
let revoked: Client;
let strict: Client;

beforeAll(async () => {
  service = await startService({ roles: ["api"] });
  shop = await service.merchant();
  hands = await Promise.all([1, 2, 3, 4].map(() => service.client(shop.merchantId)));
  second = await service.client(shop.merchantId);
  revoked = await service.client(shop.merchantId);
  strict = await service.client(shop.merchantId);
  await service.app.merchants.credentials.end(shop.merchantId, revoked.credentials.client_id);
  await service.app.merchants.credentials.change(
    { merchantId: shop.merchantId, environment: "sandbox" },
    strict.credentials.client_id,
    { signature: "rfc9421" },
  );
});
afterAll(() => service.stop());

const now = (): number => Math.floor(Date.now() / 1000);
const BODY = '{"reason":"late"}';
const PATH = "/v1/payments/pay_1/cancel";

/** What is signed: a mistake changes it before the signing. */
interface Parts {
  lines: [string, string][];
  parameters: string;
  secret: string | Buffer;
  join: (lines: string[]) => string;
}

type Headers_ = Record<string, string>;

interface Mistake {
  name: string;
  expected: Diagnosis | MessageDiagnosis;
  subject?: string;
  /** Of the code that is answered; SIGNATURE_INVALID when absent. */
  code?: string;
  before?: (parts: Parts, by: Client) => Partial<Parts>;
  /** Changes the headers that are sent. */
  after?: (headers: Headers_) => Headers_;
  body?: string;
}

const setting =
  (name: string, change: (value: string, by: Client) => string) =>
  ({ lines }: Parts, by: Client): Partial<Parts> => ({
    lines: lines.map(([key, value]) => [key, key === name ? change(value, by) : value]),
  });
const leaving =
  (name: string) =>
  ({ lines }: Parts): Partial<Parts> => ({ lines: lines.filter(([key]) => key !== name) });
const adding =
  (...more: [string, string][]) =>
  ({ lines }: Parts): Partial<Parts> => ({ lines: [...lines, ...more] });
const inParameters =
  (from: RegExp, to: string) =>
  ({ parameters }: Parts): Partial<Parts> => ({ parameters: parameters.replace(from, to) });
const header =
  (name: string, change: (value: string) => string) =>
  (headers: Headers_): Headers_ => ({ ...headers, [name]: change(headers[name] ?? "") });

const mistakes: Mistake[] = [
  {
    name: "a signature alone",
    expected: "header_malformed",
    subject: "signature-input",
    after: header("signature-input", () => "sig1"),
  },
  {
    name: "a signature without colons",
    expected: "header_malformed",
    subject: "signature",
    after: header("signature", (text) => text.replaceAll(":", "")),
  },
  {
    name: "another keyid",
    expected: "not_by_client",
    subject: "keyid",
    before: inParameters(/keyid="[^"]*"/, 'keyid="my-key"'),
  },
  {
    name: "two signatures",
    expected: "signed_twice",
    subject: "keyid",
    after: header("signature-input", (text) => `${text}, ${text.replace("sig1", "sig2")}`),
  },
  {
    name: "another label",
    expected: "signature_absent",
    subject: "sig1",
    after: header("signature", (text) => text.replace("sig1", "sig")),
  },
  {
    name: "hexadecimal in base64",
    expected: "signature_length",
    subject: "sig1",
    after: header("signature", () => `sig1=:${Buffer.from("0".repeat(64)).toString("base64")}:`),
  },
  { name: "no created", expected: "parameter_missing", subject: "created", before: inParameters(/;created=\d+/, "") },
  { name: "no nonce", expected: "parameter_missing", subject: "nonce", before: inParameters(/;nonce="[^"]*"/, "") },
  {
    name: "created as a text",
    expected: "parameter_wrong",
    subject: "created",
    before: inParameters(/created=(\d+)/, 'created="$1"'),
  },
  {
    name: "a short nonce",
    expected: "parameter_wrong",
    subject: "nonce",
    before: inParameters(/nonce="[^"]*"/, 'nonce="1"'),
  },
  {
    name: "no digest covered",
    expected: "component_missing",
    subject: "content-digest",
    before: leaving("content-digest"),
  },
  {
    name: "no key covered",
    expected: "component_missing",
    subject: "idempotency-key",
    before: leaving("idempotency-key"),
  },
  {
    name: "a component of answers",
    expected: "component_unknown",
    subject: "@status",
    before: adding(["@status", "200"]),
  },
  {
    name: "a component of bytes, NUL among them",
    expected: "component_unknown",
    subject: ":AAAA:",
    after: header("signature-input", (text) => text.replace('"content-digest"', ":AAAA:")),
  },
  {
    name: "a component with a parameter",
    expected: "component_parameter",
    subject: "@method",
    after: header("signature-input", (text) => text.replace('"@method"', '"@method";req')),
  },
  { name: "a component twice", expected: "component_twice", subject: "@method", before: adding(["@method", "POST"]) },
  {
    name: "a header that is not there",
    expected: "component_absent",
    subject: "date",
    before: adding(["date", "today"]),
  },
  {
    name: "a header beyond ASCII",
    expected: "component_value",
    subject: "x-name",
    before: adding(["x-name", "caf\u00e9"]),
    after: (headers) => ({ ...headers, "x-name": "caf\u00e9" }),
  },
  {
    name: "an old clock",
    expected: "created_window",
    subject: "created",
    code: "TIMESTAMP_OUT_OF_WINDOW",
    before: inParameters(/created=\d+/, `created=${now() - 900}`),
  },
  {
    name: "an end that is over",
    expected: "expired",
    subject: "expires",
    code: "TIMESTAMP_OUT_OF_WINDOW",
    before: ({ parameters }) => ({ parameters: `${parameters};expires=1` }),
  },
  { name: "another body than was digested", expected: "digest_differs", subject: "content-digest", body: `${BODY} ` },
  {
    name: "a digest without its algorithm",
    expected: "digest_malformed",
    subject: "content-digest",
    before: setting("content-digest", () => "x"),
    after: header("content-digest", () => "x"),
  },
  {
    name: "a digest of another algorithm",
    expected: "digest_unknown",
    subject: "content-digest",
    before: setting("content-digest", () => "md5=:AAAA:"),
    after: header("content-digest", () => "md5=:AAAA:"),
  },
  { name: "a revoked key's secret", expected: "old_secret", before: () => ({ secret: revoked.credentials.secret }) },
  { name: "another key's secret", expected: "other_credential", before: () => ({ secret: second.credentials.secret }) },
  { name: "the webhook secret", expected: "webhook_secret", before: () => ({ secret: shop.webhookSecret }) },
  {
    name: "the client_id for a key",
    expected: "client_id",
    before: (_parts, by) => ({ secret: by.credentials.client_id }),
  },
  {
    name: "a decoded secret",
    expected: "secret_decoded",
    before: (_parts, by) => ({ secret: Buffer.from(by.credentials.secret, "base64") }),
  },
  {
    name: "a secret with a newline",
    expected: "secret_altered",
    before: (_parts, by) => ({ secret: `${by.credentials.secret}\n` }),
  },
  {
    name: "the method in small letters",
    expected: "component_differs",
    subject: "@method",
    before: setting("@method", (method) => method.toLowerCase()),
  },
  {
    name: "the path for an address",
    expected: "component_differs",
    subject: "@target-uri",
    before: setting("@target-uri", (uri) => new URL(uri).pathname),
  },
  {
    name: "https in place of http",
    expected: "component_differs",
    subject: "@target-uri",
    before: setting("@target-uri", (uri) => uri.replace("http:", "https:")),
  },
  {
    name: "another name of this machine",
    expected: "component_differs",
    subject: "@target-uri",
    before: setting("@target-uri", (uri) => uri.replace("127.0.0.1", "localhost")),
  },
  {
    name: "the key in quotes",
    expected: "component_differs",
    subject: "idempotency-key",
    before: setting("idempotency-key", (key) => `"${key}"`),
  },
  { name: "a newline at the end", expected: "base_form", before: () => ({ join: (lines) => `${lines.join("\n")}\n` }) },
  { name: "Windows' newlines", expected: "base_form", before: () => ({ join: (lines) => lines.join("\r\n") }) },
  {
    name: "without the last line",
    expected: "base_form",
    before: () => ({ join: (lines) => lines.slice(0, -1).join("\n") }),
  },
  {
    name: "names without quotes",
    expected: "base_form",
    before: () => ({ join: (lines) => lines.join("\n").replaceAll(/^"([^"]+)":/gm, "$1:") }),
  },
  { name: "a stranger's secret", expected: "base_unknown", before: () => ({ secret: "sk_test_of_somebody_else" }) },
];

async function make(by: Client, { before, after, body = BODY }: Mistake): Promise<{ answer: Answer; base: string }> {
  const { client_id: clientId, secret } = by.credentials;
  const key = crypto.randomUUID();
  const digest = contentDigest(BODY);
  let parts: Parts = {
    lines: [
      ["@method", "POST"],
      ["@target-uri", by.origin + PATH],
      ["content-digest", digest],
      ["idempotency-key", key],
    ],
    parameters: `;created=${now()};keyid="${clientId}";nonce="${crypto.randomUUID()}"`,
    secret,
    join: (lines) => lines.join("\n"),
  };
  parts = { ...parts, ...before?.(parts, by) };
  const list = `(${parts.lines.map(([name]) => `"${name}"`).join(" ")})${parts.parameters}`;
  const lines = [...parts.lines.map(([name, value]) => `"${name}": ${value}`), `"@signature-params": ${list}`];
  const signature = createHmac("sha256", parts.secret).update(parts.join(lines)).digest("base64");
  const headers = {
    authorization: `Bearer ${clientId}`,
    "content-type": "application/json",
    "content-digest": digest,
    "idempotency-key": key,
    "signature-input": `sig1=${list}`,
    signature: `sig1=:${signature}:`,
  };
  return { answer: await by.send("POST", PATH, body, after?.(headers) ?? headers), base: lines.join("\n") };
}

const requestOf = (answer: Answer): string => answer.headers.get("x-request-id") ?? "";
const ask = (by: Client, requestId: string): Promise<Answer> => by.get(`/v1/sandbox/requests/${requestId}/doctor`);

/** Only a few of one client are looked into in a second: what was not is done again in the next one. */
const eventually = (work: () => Promise<void>): Promise<void> => vi.waitFor(work, { timeout: 30_000, interval: 300 });

test.each(mistakes)("told apart: $name", async (mistake) => {
  const { expected, subject, code = "SIGNATURE_INVALID" } = mistake;
  const client = hands[mistakes.indexOf(mistake) % hands.length] as Client;
  await eventually(async () => {
    const { answer } = await make(client, mistake);
    expect([answer.status, answer.json.error.code]).toEqual([401, code]);
    const told = await ask(client, requestOf(answer));
    expect(told.status).toBe(200);
    const { signature_base: base, ...rest } = told.json;
    expect(rest).toEqual({
      diagnosis: expected,
      explanation: explanationOf(expected, subject),
      ...(subject === undefined ? {} : { subject }),
    });
    if (base !== undefined) expect(base).toMatch(/^"@method": POST\n[^]*"@signature-params": \([^\n]*$/);
    expect(told.text).not.toContain(client.credentials.secret);
  });
});

test("the base that is told is the one to sign: signed so, the same request is accepted", async () => {
  const [client] = hands as [Client];
  const lacking: Mistake = {
    name: "",
    expected: "component_missing",
    before: leaving("content-digest"),
  };
  await eventually(async () => {
    const { answer } = await make(client, lacking);
    const { json } = await ask(client, requestOf(answer));
    const base = String(json.signature_base);
    const lines = base.split("\n");
    expect(lines.map((line) => line.split('"')[1])).toEqual([
      "@method",
      "@target-uri",
      "idempotency-key",
      "content-digest",
      "@signature-params",
    ]);
    const list = (lines.at(-1) ?? "").slice('"@signature-params": '.length);
    const key = (lines[2] ?? "").slice('"idempotency-key": '.length);
    const signature = createHmac("sha256", client.credentials.secret).update(base).digest("base64");
    const accepted = await client.send("POST", PATH, BODY, {
      authorization: `Bearer ${client.credentials.client_id}`,
      "content-type": "application/json",
      "content-digest": contentDigest(BODY),
      "idempotency-key": key,
      "signature-input": `sig1=${list}`,
      signature: `sig1=:${signature}:`,
    });
    expect(accepted.json.error.code).toBe("PAYMENT_NOT_FOUND");
  });
});

test("the base that is told has the digest of the body that arrived", async () => {
  const [, client] = hands as [Client, Client];
  const altered = mistakes.find(({ expected }) => expected === "digest_differs") as Mistake;
  await eventually(async () => {
    const { answer } = await make(client, altered);
    const { json } = await ask(client, requestOf(answer));
    expect(json.signature_base).toContain(`\n"content-digest": ${contentDigest(altered.body ?? "")}\n`);
  });
});

test("a request of the interface's own scheme is told that its credential takes no such", async () => {
  await eventually(async () => {
    const answer = await strict.get("/v1/balances");
    expect(answer.json.error.code).toBe("SIGNATURE_INVALID");
    const told = await ask(hands[0] as Client, requestOf(answer));
    expect([told.json.diagnosis, told.json.signature_base]).toEqual(["rfc9421_demanded", undefined]);
  });
});

test("every diagnosis can be had", () => {
  const had = new Set<string>([...mistakes.map(({ expected }) => expected), "rfc9421_demanded"]);
  for (const diagnosis of messageDiagnoses) expect(had, diagnosis).toContain(diagnosis);
});

test("a base is kept within bounds, and never with a secret in it", async () => {
  const [, , , client] = hands as [Client, Client, Client, Client];
  const { client_id: clientId, secret } = client.credentials;
  const path = `/v1/payments?reference_id=${"x".repeat(9_000)}`;
  await eventually(async () => {
    const long = signMessage({ clientId, secret: "other", method: "GET", url: client.origin + path });
    const told = await ask(client, requestOf(await client.send("GET", path, undefined, long)));
    expect(told.json.diagnosis).toBe("base_unknown");
    expect(told.json.signature_base).toHaveLength(4_000);
    const careless = `/v1/payments?secret=${secret}`;
    const bad = signMessage({ clientId, secret: "other", method: "GET", url: client.origin + careless });
    const silent = await ask(client, requestOf(await client.send("GET", careless, undefined, bad)));
    expect([silent.json.diagnosis, silent.json.signature_base]).toEqual(["base_unknown", undefined]);
  });
  await asOwner(service.database, async (owner) => {
    const found = await owner.query("select from refused_requests t where t::text like '%' || $1 || '%'", [secret]);
    expect(found.rowCount).toBe(0);
  });
});

describe("the pure part", () => {
  const secrets = { own: "sk_test_own", live: [], revoked: [], webhooks: [] };
  const clientId = "ak_test_me";
  const AT = 1_767_225_600;
  const look = (headers: Headers_, target: string, body: string, root?: string) =>
    diagnoseMessage(
      {
        scheme: "rfc9421",
        claim: {
          scheme: "rfc9421",
          clientId,
          signatureInput: headers["signature-input"] ?? "",
          signature: headers.signature ?? "",
        },
        message: {
          method: "GET",
          target,
          headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value]])),
          publicRoot: root,
        },
        body: Buffer.from(body),
      },
      secrets,
      AT,
    );

  test("a right request is genuine, whatever it asks for", () => {
    fc.assert(
      fc.property(fc.webPath(), fc.string(), (path, body) => {
        const target = `/v1${path}`;
        const url = `https://pay.test${target}`;
        const headers = signMessage({ clientId, secret: secrets.own, method: "GET", url, body, created: AT });
        expect(look(headers, target, body, "https://pay.test").diagnosis).toBe("genuine");
      }),
    );
  });

  test("whatever comes is answered, with a known word, and never as genuine", () => {
    const input = fc.oneof(
      fc.string(),
      fc.string().map((text) => `sig1=("@method" ${text});created=${AT};keyid="${clientId}";nonce="0123456789abcdef"`),
    );
    fc.assert(
      fc.property(input, fc.string(), fc.string(), fc.string(), (signatureInput, signature, target, digest) => {
        const headers = { "signature-input": signatureInput, signature, "content-digest": digest };
        const found = look(headers, target, "");
        expect(found.diagnosis).not.toBe("genuine");
        expect([...messageDiagnoses, ...Object.keys(explanations)]).toContain(found.diagnosis);
        expect((found.subject ?? "").length).toBeLessThanOrEqual(100);
        expect((found.base ?? "").length).toBeLessThanOrEqual(4_000);
      }),
    );
  });

  test("the longest of requests costs little", () => {
    const target = `/v1/${"%62".repeat(5_000)}`;
    const headers = signMessage({
      clientId,
      secret: "other",
      method: "GET",
      url: `https://pay.test${target}`,
      created: AT,
    });
    const took = computing(() => {
      expect(look(headers, target, "x".repeat(262_144), "https://pay.test").diagnosis).toBe("base_unknown");
    });
    expect(took).toBeLessThan(500 * slowness());
  });
});
