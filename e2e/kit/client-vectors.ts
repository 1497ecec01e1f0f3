// The vectors of sdk/vectors as tests of a client in another language: the client's driver runs them, and this file checks its results and requests.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { verifyMessage } from "../../gateway/src/auth/message-signature.ts";
import { SECOND } from "../../gateway/src/ground/clock.ts";
import { isSigned } from "../../gateway/src/ground/crypto.ts";
import { SigningKey } from "../../gateway/src/ground/signing-key.ts";
import { judgeBody } from "../../gateway/src/http/fields.ts";
import { parseObject } from "../../gateway/src/ground/json.ts";
import { createPaymentRules, createPaymentSchema } from "../../gateway/src/payments/payments.schema.ts";
import { makeCertificates } from "./receiver.ts";
import { type ScriptedAnswer, type Seen, startScripted } from "./scripted-service.ts";

/** The credential with which drivers sign. */
const CLIENT_ID = "ak_test_01kan3t5q8e4vs0x7ybd2m9fjh";
const SECRET = "sk_test_3q8mzv0c7x2fh5n9t4ykw6r1bdga8jpe";

const KEY_INVALID = "IDEMPOTENCY_KEY_INVALID";

interface Vector {
  name: string;
}

interface Retry extends Vector {
  scheme?: string;
  now: number;
  call: { operation: string };
  answers: ScriptedAnswer[];
  expect: {
    attempts: number;
    lookups: number;
    waits_ms: [least: number, most: number][];
    offsets_s?: number[];
    result: string;
    status?: string;
    outcome_unknown?: boolean;
  };
}

interface Tried {
  result: string;
  /** Of the payment that the call gave. */
  status?: string | null;
  request_id?: string | null;
  key?: string | null;
  attempts?: number;
  /** Whether the error says that a write may have happened. */
  unknown?: boolean;
  text?: string;
  waits_ms: number[];
}

const vectorsOf = <Of extends Vector>(file: string): Of[] =>
  JSON.parse(readFileSync(fileURLToPath(new URL(`../../sdk/vectors/${file}.json`, import.meta.url)), "utf8")) as Of[];

/** Runs a program to its end with a text as its input. Gives its output; throws with its output when it fails. */
export async function run(command: readonly string[], input: string, env: NodeJS.ProcessEnv = {}): Promise<string> {
  const [program = "", ...args] = command;
  const child = spawn(program, args, { env: { ...process.env, ...env }, stdio: ["pipe", "pipe", "pipe"] });
  child.stdin.end(input);
  const ended = new Promise<number | null>((resolve, reject) => child.on("exit", resolve).on("error", reject));
  const [status, stdout, stderr] = await Promise.all([ended, text(child.stdout), text(child.stderr)]);
  if (status !== 0) throw new Error(`${command.join(" ")} ended with ${status}:\n${stderr}${stdout}`);
  return stdout;
}

/** Tests every vector with the driver that `command` starts. */
export function testVectors(command: readonly string[]): void {
  const results = async <Result>(task: string, vectors: readonly Vector[], baseUrl?: string): Promise<Result[]> =>
    JSON.parse(await run(command, JSON.stringify({ task, vectors, base_url: baseUrl }))) as Result[];
  /** Values with the names of their vectors, so that a difference shows its vector. */
  const named = (vectors: readonly Vector[], values: readonly unknown[]): [string, unknown][] =>
    vectors.map(({ name }, index) => [name, values[index]]);

  test("signs by the interface's scheme as the vectors say", async () => {
    const vectors = vectorsOf<Vector & { signature: string }>("signing");
    const expected = vectors.map(({ signature }) => signature);
    expect(named(vectors, await results("signing", vectors))).toEqual(named(vectors, expected));
  });

  test("signs by RFC 9421 as the vectors say", async () => {
    const vectors = vectorsOf<Vector & { headers: Record<string, string> }>("message-signatures");
    const expected = vectors.map(({ headers }) => headers);
    expect(named(vectors, await results("messages", vectors))).toEqual(named(vectors, expected));
  });

  test("verifies deliveries, and names the step that fails, as the vectors say", async () => {
    const vectors = vectorsOf<Vector & { expect: string; event_id?: string }>("webhooks");
    const expected = vectors.map(({ expect: step, event_id: id }) => (step === "ok" ? `ok ${id}` : step));
    expect(named(vectors, await results("webhooks", vectors))).toEqual(named(vectors, expected));
  });

  test("handles an event once, whatever its store and its program say, as the vectors say", async () => {
    const vectors = vectorsOf<Vector & { status: number; calls: string[] }>("handling");
    const handled = await results<{ status: number; calls: string[]; waited_ms: number }>("handling", vectors);
    const expected = vectors.map(({ status, calls }) => ({ status, calls, waited_ms: expect.any(Number) }));
    expect(named(vectors, handled)).toEqual(named(vectors, expected));
    for (const { waited_ms: waited } of handled) expect(waited).toBeLessThanOrEqual(5_000);
  });

  test("refuses before it sends what the service would refuse, in the same words", async () => {
    const vectors = vectorsOf<Vector & { error: Record<string, unknown> }>("validation");
    const expected = vectors.map(({ error }) => error);
    expect(named(vectors, await results("validation", vectors))).toEqual(named(vectors, expected));
  });

  test("refuses nothing that the service takes, whatever stands in a field, and says no other words than the service", async () => {
    const vectors = strangeBodies();
    expect(vectors.length).toBeGreaterThan(300);
    const judged = vectors.map(({ call: { body } }) => {
      const found = judgeBody(createPaymentRules, parseObject(Buffer.from(JSON.stringify(body))));
      return "fault" in found ? `${found.fault.code} ${found.fault.message}` : "taken";
    });
    const said = await results<{ code: string; message: string } | null>("validation", vectors);
    const refusals = said.map((one) => (isOfTheWay(one?.code) ? undefined : one && `${one.code} ${one.message}`));
    const wrong = refusals.flatMap((refusal, index) =>
      // These languages have one value for an absent field and for null.
      refusal === undefined || refusal === judged[index]?.replace("received null", "received undefined")
        ? []
        : [{ name: vectors[index]?.name, client: refusal, service: judged[index] }],
    );
    // Enabled currencies depend on the merchant: the service checks them after the form of the body.
    expect(wrong.filter(({ client }) => !client?.startsWith("CURRENCY_NOT_SUPPORTED "))).toEqual([]);
    expect(refusals.filter((one) => one !== undefined).length).toBeGreaterThan(100);
  });

  test("tries again exactly where and when the vectors say, each attempt with the same key and bytes and a signature of its own", async () => {
    const vectors = vectorsOf<Retry>("retries");
    const service = await startScripted(vectors.map(({ answers }) => answers));
    try {
      const tried = await results<Tried>("retries", vectors, service.baseUrl);
      for (const [index, vector] of vectors.entries())
        judge(vector, tried[index] as Tried, service.seen[index] as Seen[]);
      const keysOf = (operation: string): (string | undefined)[] =>
        vectors.flatMap(({ call }, at) =>
          call.operation === operation ? [service.seen[at]?.[0]?.headers["idempotency-key"]?.join()] : [],
        );
      expect(new Set(keysOf("payments.createOrFind")).size, "equal bodies are one intent").toBe(1);
      const created = keysOf("payments.create");
      expect(new Set(created).size, "each call is an intent").toBe(created.length);
    } finally {
      await service.close();
    }
  });

  test("speaks TLS over one connection, and takes no certificate that it cannot verify", async () => {
    const { caFile, key, cert } = await makeCertificates();
    const fine = { status: 200, headers: {}, body: { status: "ok" } };
    const service = await startScripted([[fine, fine, fine], [fine]], { key, cert });
    try {
      const vectors = [
        { name: "the authority is trusted", calls: 3, ca_file: caFile },
        { name: "the authority is unknown", calls: 1 },
      ];
      expect(await results("tls", vectors, service.baseUrl)).toEqual(["ok ok ok", "CONNECTION_FAILED false"]);
      expect([service.seen[0]?.length, service.seen[1]?.length, service.connections()]).toEqual([3, 0, 1]);
    } finally {
      await service.close();
    }
  });

  test("ends an attempt in time, however slowly the headers or the body drip", async () => {
    const service = await startDripping();
    try {
      const vectors = ["headers", "body"].map((name) => ({ name, timeout: 0.2 }));
      const ended = await results<{ result: string; seconds: number }>("drip", vectors, service.baseUrl);
      for (const { result, seconds } of ended) {
        expect(result).toBe("TIMED_OUT");
        expect(seconds).toBeLessThan(2);
      }
    } finally {
      await service.close();
    }
  });

  test("takes no address, path or key that would write headers of its own", async () => {
    const vectors = [
      { name: "address", base_url: "http://127.0.0.1:9/a b" },
      { name: "query", base_url: "http://127.0.0.1:9/v1?a=1" },
      { name: "user information", base_url: "http://user:pass@127.0.0.1:9/v1" },
      { name: "path", path: "/v1/balances HTTP/1.1\r\nX-Own: 1\r\n" },
      { name: "other path", path: "//127.0.0.1/v1/balances" },
      { name: "key", key: "12345678\r\nX-Own: 1" },
      { name: "key with a new line", key: "12345678\n" },
    ];
    const refused = await results<string>("injection", vectors, "http://127.0.0.1:9/v1");
    expect(named(vectors, refused)).toEqual(
      named(vectors, [...Array.from({ length: 5 }, () => "refused"), ...Array.from({ length: 2 }, () => KEY_INVALID)]),
    );
  });
}

function judge({ name, scheme, now, answers, expect: expected }: Retry, tried: Tried, seen: Seen[]): void {
  expect(tried.result, name).toBe(expected.result);
  if (expected.status !== undefined) expect(tried.status, name).toBe(expected.status);
  const lookups = seen.filter(({ target }) => target.startsWith("/v1/payments?reference_id="));
  const attempts = seen.filter((request) => !lookups.includes(request));
  expect([attempts.length, lookups.length], name).toEqual([expected.attempts, expected.lookups]);
  const waits = tried.waits_ms;
  const least = expected.waits_ms.map(([from]) => from);
  expect(waits, `${name}: ${waits.join(", ")}`).toHaveLength(least.length);
  for (const [index, wait] of waits.entries()) {
    const [from = 0, to = 0] = expected.waits_ms[index] ?? [];
    expect(wait, `${name}: wait ${index + 1}`).toBeGreaterThanOrEqual(from);
    expect(wait, `${name}: wait ${index + 1}`).toBeLessThanOrEqual(to);
  }
  const distinct = (values: (string | undefined)[]): number => new Set(values).size;
  const one = (request: Seen, header: string): string | undefined => request.headers[header]?.join();
  expect(distinct(attempts.map((request) => one(request, "idempotency-key"))), name).toBe(1);
  expect(distinct(attempts.map(({ body }) => body.toString("hex"))), name).toBe(1);
  const proofs = seen.map((request) => one(request, scheme === "timestamp" ? "x-signature" : "signature"));
  expect(distinct(proofs), name).toBe(seen.length);
  const offsets = seen.map((request) => verified(request) - now);
  if (expected.offsets_s) expect(offsets, name).toEqual(expected.offsets_s);
  else for (const offset of offsets) expect(Math.abs(offset), name).toBeLessThanOrEqual(240);
  // An error has the request_id of the answer when there was one, and never the secret.
  expect(JSON.stringify(tried), name).not.toContain(SECRET);
  const last = answers.at(expected.lookups > 0 ? expected.attempts - 1 : -1) as ScriptedAnswer;
  const hasAnswer = !("fault" in last) || !["reset", "timeout"].includes(last.fault);
  if (tried.result !== "ok") expect(tried.request_id, name).toEqual(hasAnswer ? expect.stringMatching(/^req_/) : null);
  if (tried.result !== "ok" && attempts[0]?.method === "POST")
    expect([tried.key, tried.attempts], name).toEqual([one(attempts[0], "idempotency-key"), expected.attempts]);
  if (tried.result !== "ok") expect(tried.unknown, name).toBe(expected.outcome_unknown);
}

/** Verifies a request's signature, and gives its timestamp in Unix seconds. */
function verified({ method, url, headers, body }: Seen): number {
  expect(headers.authorization).toEqual([`Bearer ${CLIENT_ID}`]);
  expect(headers["content-type"] ?? []).toEqual(body.length === 0 ? [] : ["application/json"]);
  const [timestamp] = headers["x-timestamp"] ?? [];
  const key = new SigningKey(SECRET);
  if (timestamp !== undefined) {
    expect(isSigned(key, timestamp, body, headers["x-signature"]?.join() ?? "")).toBe(true);
    return Number(timestamp);
  }
  const { "signature-input": input = [], signature = [] } = headers;
  const [, created = ""] = /;created=(\d+);/.exec(input.join()) ?? [];
  const { pathname, search, origin } = new URL(url);
  verifyMessage(
    { clientId: CLIENT_ID, key },
    { clientId: CLIENT_ID, signatureInput: input.join(), signature: signature.join() },
    { method, target: pathname + search, publicRoot: origin, headers },
    body,
    Number(created) * SECOND,
  );
  return Number(created);
}

/** True when a client accepted the body and tried to send it: no server listens, and the client has no time to connect. */
const isOfTheWay = (code: string | undefined): boolean => code === "CONNECTION_FAILED" || code === "TIMED_OUT";

/** Bodies of a payment with one unusual field each; many of them are valid. */
function strangeBodies(): { name: string; call: { operation: string; body: object } }[] {
  const texts = [
    "",
    "x",
    "qris",
    "IDR",
    "idr",
    "a\0b",
    "a\nb",
    "ünï",
    "🇮🇩".repeat(20),
    "+628123456789",
    "+1\n",
    "a@b",
    "a@b@c",
    "a@b\n",
  ];
  const lengths = [40, 41, 64, 65, 120, 121, 254, 255, 256, 500, 501].map((length) => "☕".repeat(length));
  const addresses = [
    "https://a.example",
    "https://a.example/x?y#z",
    "http://a.example",
    "https://",
    "https:///x",
    "HTTPS://a.example",
  ];
  const numbers = [0, -1, 1, 59, 60, 60.5, 86_400, 86_401, Number.MAX_SAFE_INTEGER];
  const values = [...texts, ...lengths, ...addresses, ...numbers, true, false, null, [1], { a: "b" }, { a: 1 }];
  const order = { amount_minor: 5, currency: "IDR", payment_method: "qris", reference_id: "order-1" };
  const plain = Object.keys(createPaymentSchema.shape).flatMap((field) =>
    values.map((value) => ({ name: field, changes: { [field]: value } })),
  );
  const inside = ["name", "email", "phone"].flatMap((field) =>
    values.map((value) => ({ name: `customer.${field}`, changes: { customer: { [field]: value } } })),
  );
  const pairs = [...texts, ...lengths].map((name) => ({ name: "metadata", changes: { metadata: { [name]: "x" } } }));
  return [...plain, ...inside, ...pairs].map(({ name, changes }) => ({
    name: `${name}: ${[...JSON.stringify(changes)].slice(0, 60).join("")}`,
    call: { operation: "payments.create", body: { ...order, ...changes } },
  }));
}

/** Starts a server whose answers never end: it sends a byte of the headers, or of the body, every 30 milliseconds. */
async function startDripping(): Promise<{ baseUrl: string; close(): Promise<void> }> {
  const server = createServer((socket) => {
    socket.on("error", () => socket.destroy());
    socket.once("data", (request) => {
      const ofBody = request.includes("GET /1/");
      socket.write(ofBody ? "HTTP/1.1 200 OK\r\ncontent-length: 9000\r\n\r\n{" : "HTTP/1.1 200 OK\r\nx-long: ");
      const timer = setInterval(() => socket.write(" "), 30);
      socket.on("close", () => clearInterval(timer));
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/INDEX/v1`,
    async close() {
      server.close();
      await once(server, "close");
    },
  };
}

/** Tests that a client calls every path of the contract, and that the code in its README parses and names existing calls. */
export function testWholeness(source: string, readme: string, syntax: (code: string) => Promise<string>): void {
  const code = readFileSync(source, "utf8");
  const prose = readFileSync(readme, "utf8");

  test("calls every path of the contract", () => {
    const contract = JSON.parse(
      readFileSync(fileURLToPath(new URL("../../openapi/merchant.json", import.meta.url)), "utf8"),
    ) as { paths: Record<string, object> };
    const paths = Object.keys(contract.paths);
    expect(paths.length).toBeGreaterThan(30);
    // The client inserts parameters between the parts of a path, on one line.
    const pattern = (path: string): RegExp => new RegExp(`${path.replaceAll(/\{\w+\}/g, "[^\\n]{1,60}?")}['"\\s]`);
    expect(paths.filter((path) => !pattern(path).test(code))).toEqual([]);
  });

  test("its README shows code that parses, and names calls that are there", async () => {
    const blocks = [...prose.matchAll(/```(?:python|php)\n([^]*?)```/g)].map(([, block = ""]) => block);
    expect(blocks.length).toBeGreaterThan(1);
    for (const block of blocks) await syntax(block);
    const rows = [...prose.matchAll(/^\| `(\w+)` \| (`.*) \|$/gm)].filter(([, name = ""]) => /^[a-z]/.test(name));
    expect(rows.length).toBeGreaterThan(6);
    for (const [, , list = ""] of rows)
      for (const [, name] of list.matchAll(/`(?:\w+(?:\.|->))?(\w+)`/g))
        expect(code, name).toMatch(new RegExp(`\\b(?:def|function) ${name}\\(`));
  });
}
