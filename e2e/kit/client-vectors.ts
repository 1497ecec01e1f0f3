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
  call: { operation: string; body?: { reference_id?: string } };
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
  /** What to do about the error. */
  advice?: string;
  text?: string;
  waits_ms: number[];
}

/** A call of a service that answers what no API would. */
interface Hostile extends Vector {
  call: { operation: string; given?: unknown };
  answers: ScriptedAnswer[];
  now: number;
  /** Seconds. With a deadline the waits take time. */
  timeout?: number;
  deadline?: number;
  /** What comes of it, and the number of requests. */
  expect: { result: string; requests: number; unknown?: boolean; [name: string]: unknown };
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

  test("refuses before it sends what the service would refuse, in the same words, and sends everything else", async () => {
    const vectors = vectorsOf<Vector & { error?: Record<string, unknown> }>("validation");
    const sent = expect.objectContaining({ code: expect.stringMatching(OF_THE_WAY) });
    const expected = vectors.map(({ error }) => error ?? sent);
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
    const refusals = said.map((one) =>
      OF_THE_WAY.test(one?.code ?? "") ? undefined : one && `${one.code} ${one.message}`,
    );
    // These languages have one value for an absent field and for null.
    const ofAbsence = (words = "", body: object = {}): string | undefined =>
      Object.values(body).includes(null) ? words.replace(/: must be .*/, ": is required") : undefined;
    const wrong = refusals.flatMap((refusal, index) =>
      refusal === undefined ||
      refusal === judged[index] ||
      refusal === ofAbsence(judged[index], vectors[index]?.call.body)
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
      const sent = (operation: string): { key: string | undefined; body: string }[] =>
        vectors.flatMap(({ call: { operation: called, body } }, at) =>
          called === operation
            ? [{ key: service.seen[at]?.[0]?.headers["idempotency-key"]?.join(), body: JSON.stringify(body) }]
            : [],
        );
      const found = sent("payments.createOrFind");
      const pairs = new Set(found.map((one) => JSON.stringify(one)));
      expect(pairs.size, "equal bodies are one intent").toBe(new Set(found.map(({ body }) => body)).size);
      expect(new Set(found.map(({ key }) => key)).size, "other bodies are another").toBe(pairs.size);
      const created = sent("payments.create");
      expect(new Set(created.map(({ key }) => key)).size, "each call is an intent").toBe(created.length);
    } finally {
      await service.close();
    }
  });

  test("speaks TLS over one connection, and takes no certificate that it cannot verify", async () => {
    const { caFile, key, cert } = await makeCertificates();
    const fine = { status: 200, headers: {}, body: { status: "ok" } };
    const two = { raw: framed("ok", 8_192) + framed("of another") };
    const service = await startScripted([[fine, fine, fine], [fine], [two, fine]], { key, cert });
    try {
      const vectors = [
        { name: "the authority is trusted", calls: 3, ca_file: caFile },
        { name: "the authority is unknown", calls: 1 },
        {
          name: "an answer has another behind it, of one record, where a reader's buffer ends",
          calls: 2,
          ca_file: caFile,
        },
      ];
      expect(await results("tls", vectors, service.baseUrl)).toEqual(["ok ok ok", "CONNECTION_FAILED false", "ok ok"]);
      expect([...service.seen.map(({ length }) => length), service.connections()]).toEqual([3, 0, 2, 3]);
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
        expect(seconds).toBeLessThan(60); // the drops fall for minutes
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

/** Tests what a client makes of answers that are none, or of another call, or larger than any. */
export function testHostile(command: readonly string[]): void {
  test("takes nothing for an answer of the API that is none, and gives up in time", async () => {
    const vectors = hostileAnswers();
    const service = await startScripted(vectors.map(({ answers }) => answers));
    try {
      const calls = vectors.map(({ name, call, now, timeout, deadline }) => ({ name, call, now, timeout, deadline }));
      const given = JSON.stringify({ task: "hostile", vectors: calls, base_url: service.baseUrl });
      const came = JSON.parse(await run(command, given)) as { seconds: number }[];
      const told = vectors.map(({ name }, index) => [name, { ...came[index], requests: service.seen[index]?.length }]);
      expect(told).toEqual(vectors.map(({ name, expect: expected }) => [name, expect.objectContaining(expected)]));
      // Below the limits of 30 seconds that decide where the right one fails to.
      for (const [index, { name }] of vectors.entries()) expect(came[index]?.seconds, name).toBeLessThan(20);
    } finally {
      await service.close();
    }
  });
}

function judge({ name, scheme, now, call, answers, expect: expected }: Retry, tried: Tried, seen: Seen[]): void {
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
  for (const { body } of attempts)
    expect(body.length === 0 ? undefined : JSON.parse(body.toString()), name).toEqual(call.body);
  for (const { url } of lookups)
    expect(new URL(url).searchParams.get("reference_id"), name).toBe(call.body?.reference_id);
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
  // A read has no key to repeat, and leaves nothing open.
  if (tried.result !== "ok" && attempts[0]?.method === "GET")
    expect(tried.advice, name).toMatch(
      /^(?!.*(?:idempotency|outcome)).*[Nn]othing was changed|^Try again later\.$|^See /,
    );
  if (tried.result === "CONNECTION_FAILED" && attempts[0]?.method === "POST")
    expect(tried.advice, name).toContain("the same idempotency_key");
  // Advice that contradicts the flag is worse than none: whoever reads it looks for a payment that was never asked for.
  if (tried.unknown !== true) expect(tried.advice ?? "", name).not.toContain("open");
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

/** The codes of a client that accepted the body and tried to send it: no server listens, and the client has no time to connect. */
const OF_THE_WAY = /^(CONNECTION_FAILED|TIMED_OUT)$/;

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

/** An answer of the service's health, with spaces up to a size. */
function framed(status: string, size = 0): string {
  const head = (length: number): string =>
    `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${length}\r\n\r\n`;
  const body = JSON.stringify({ status });
  const padded = body.padEnd(size - head(size).length);
  return head(padded.length) + padded;
}

const UNREADABLE = "ANSWER_UNREADABLE";
const TOO_LARGE = "ANSWER_TOO_LARGE";
const REQUEST_ID = "req_01kan3t5pzh6c2nb8w4fy7gmsd"; // of each scripted answer

/** Answers that no API gives, and what a client has to make of them. */
function hostileAnswers(): Hostile[] {
  const order = { amount_minor: 1, currency: "IDR", payment_method: "qris", reference_id: "order-1001" };
  const paid = { ...order, reference: "pay_01kan3t5q8e4vs0x7ybd2m9fjh", status: "pending" };
  const create = { operation: "payments.create", given: order };
  const createOrFind = { operation: "payments.createOrFind", given: order };
  const refund = { operation: "refunds.create", given: { payment_reference: paid.reference } };
  const link = { operation: "paymentLinks.create", given: { currency: "IDR", reusable: true } };
  const get = { operation: "payments.get" };
  const list = { operation: "payments.list" };
  const cancel = { operation: "payments.cancel" };
  const statement = { operation: "settlements.statement" };
  const ok = (body: unknown, headers: Record<string, string> = {}): ScriptedAnswer => ({ status: 200, headers, body });
  const refused = (status: number, error: object, headers: Record<string, string> = {}): ScriptedAnswer => ({
    status,
    headers,
    body: { error: { code: "SERVICE_UNAVAILABLE", message: "no", ...error } },
  });
  const page = (data: unknown, next?: unknown): ScriptedAnswer =>
    ok({ data, has_more: next !== undefined, next_cursor: next ?? null });
  const late = (date: string): ScriptedAnswer => refused(401, { code: "TIMESTAMP_OUT_OF_WINDOW" }, { date });
  const csv = { "content-type": "text/csv; charset=utf-8" };
  const lost: ScriptedAnswer = { fault: "reset" };
  const silence: ScriptedAnswer = { fault: "timeout" };
  const nested = (levels: number): object => (levels === 1 ? {} : { a: nested(levels - 1) });
  const five = (answer: ScriptedAnswer): ScriptedAnswer[] => Array.from({ length: 5 }, () => answer);
  const ones = (bytes: number): number[][] => Array.from({ length: bytes / 4 }, () => [1]);
  const open = { result: UNREADABLE, unknown: true };
  const made: Omit<Hostile, "now">[] = [
    // Another order's payment.
    ...[
      { reference_id: "order-2" },
      { amount_minor: 2 },
      { amount_minor: true },
      { currency: "USD" },
      { payment_method: "va" },
    ].map((other) => ({
      name: `createOrFind: a kept answer with ${JSON.stringify(other)}`,
      call: createOrFind,
      answers: [ok({ ...paid, ...other }), page([{ ...paid, ...other }])],
      expect: { ...open, requests: 2 },
    })),
    // A lost answer.
    ...[
      {},
      { status: "maintenance" },
      [],
      { ...paid, reference: "" },
      { ...paid, reference: 5 },
      { ...paid, error: {} },
    ].map((body) => ({
      name: `a creation answered with ${JSON.stringify(body)}`,
      call: create,
      answers: five(ok(body)),
      expect: { ...open, requests: 5 },
    })),
    ...[refund, link, cancel].map((call) => ({
      name: `${call.operation} answered with an object of something else`,
      call,
      answers: five(ok({ status: "maintenance" })),
      expect: { ...open, requests: 5 },
    })),
    ...[get, { operation: "call", given: { payment_reference: "x" } }].map((call) => ({
      name: `${call.operation} answered with an error and status 200`,
      call,
      answers: five(ok({ ...paid, error: { code: "INTERNAL_ERROR", message: "no" } })),
      expect: { result: UNREADABLE, unknown: call !== get, requests: 5 },
    })),
    // HTTP that is none.
    ...["-1", "-5", "-0x5", "x", ""].map((size) => ({
      name: `a creation answered with a chunk whose size is ${JSON.stringify(size)}`,
      call: create,
      answers: five({
        raw: `HTTP/1.1 201 Created\r\nx-request-id: ${REQUEST_ID}\r\ntransfer-encoding: chunked\r\n\r\n${size}\r\n{"a":1}\r\n0\r\n\r\n`,
      }),
      expect: { result: "CONNECTION_FAILED", unknown: true, request_id: REQUEST_ID, requests: 5 },
    })),
    // The clock. It is 08:00 on Friday, 15 January 2027.
    ...["Fri, 15 Jan 2027 16:00:00 +0700", "Mon, 15 Jan 2027 09:00:00 GMT", "15 Jan 2027 09:00:00 GMT"].map((date) => ({
      name: `a clock by the date ${date}`,
      call: create,
      answers: [late(date)],
      expect: { result: "TIMESTAMP_OUT_OF_WINDOW", unknown: false, requests: 1 },
    })),
    // Lists.
    {
      name: "cursors in a circle",
      call: list,
      answers: [page([paid], "a"), page([paid], "b"), page([paid], "a")],
      expect: { result: UNREADABLE, requests: 3 },
    },
    {
      name: "an empty page with more behind it",
      call: list,
      answers: [page([paid], "a"), page([], "b"), page([paid])],
      expect: { result: "ok", requests: 3 },
    },
    ...[null, "", 5, ["a"]].map((cursor) => ({
      name: `more to come behind the cursor ${JSON.stringify(cursor)}`,
      call: list,
      answers: [ok({ data: [paid], has_more: true, next_cursor: cursor })],
      expect: { result: UNREADABLE, requests: 1 },
    })),
    ...[{}, { has_more: null }, { has_more: "true", next_cursor: "a" }].map((more) => ({
      name: `a list that does not say whether there is more: ${JSON.stringify(more)}`,
      call: list,
      answers: five(ok({ data: [paid], ...more })),
      expect: { result: UNREADABLE, requests: 5 },
    })),
    ...[{}, { a: paid }, "x", null, [1], [[]], [paid, null]].flatMap((data) => [
      {
        name: `a list of ${JSON.stringify(data)}`,
        call: list,
        answers: five(page(data)),
        expect: { result: UNREADABLE, requests: 5 },
      },
      {
        name: `createOrFind looks up a list of ${JSON.stringify(data)}`,
        call: createOrFind,
        answers: [...five(lost), ...five(page(data))],
        expect: { result: "CONNECTION_FAILED", unknown: true, requests: 10 },
      },
    ]),
    // Time.
    {
      name: "createOrFind: the deadline is for the lookup, too",
      call: createOrFind,
      answers: five(silence),
      timeout: 30,
      deadline: 0.5,
      expect: { result: "TIMED_OUT", unknown: true, requests: 2 },
    },
    {
      name: "waitFor: a payment that has failed is not a matter of time, though its time is over",
      call: { operation: "payments.waitFor", given: 1.5 },
      answers: [ok({ ...paid, status: "failed" })],
      expect: {
        result: "STATE_NOT_REACHED",
        message: `The payment ${paid.reference} is failed, not succeeded.`,
        details: { reference: paid.reference, status: "failed" },
        requests: 1,
      },
    },
    {
      name: "waitFor: its time is for the request, too",
      call: { operation: "payments.waitFor", given: 0.2 },
      answers: five(silence),
      deadline: 30,
      expect: { result: "TIMED_OUT", requests: 1 },
    },
    {
      name: "a date to come again that is behind the deadline",
      call: create,
      answers: [refused(503, {}, { "retry-after": "Fri, 15 Jan 2027 08:02:01 GMT" })],
      expect: { result: "SERVICE_UNAVAILABLE", unknown: true, requests: 1 },
    },
    {
      name: "an answer behind 100 Continue, 102 Processing and 103 Early Hints",
      call: create,
      answers: [{ status: 201, headers: {}, body: paid, isAnnounced: true }],
      expect: { result: "ok", requests: 1 },
    },
    // CSV.
    {
      name: "a creation answered with CSV",
      call: create,
      answers: five(ok(paid, csv)),
      expect: { ...open, requests: 5 },
    },
    {
      name: "a statement in CSV",
      call: statement,
      answers: [ok("a,b", csv)],
      expect: { result: "ok", given: '"a,b"', requests: 1 },
    },
    {
      name: "a statement that is none",
      call: statement,
      answers: five(ok({ status: "maintenance" })),
      expect: { result: UNREADABLE, requests: 5 },
    },
    // A currency that is another path.
    ...["..", "idr", "IDR\n", "ID/"].map((given) => ({
      name: `the entries of ${JSON.stringify(given)}`,
      call: { operation: "balances.entries", given },
      answers: [],
      expect: {
        result: "VALIDATION_ERROR",
        message: "currency must be a currency code like IDR.",
        details: { field: "currency", value: given },
        requests: 0,
      },
    })),
    // Size.
    {
      name: "an object of 1.2 MB",
      call: get,
      answers: [ok({ ...paid, description: "x".repeat(1_200_000) })],
      expect: { result: TOO_LARGE, unknown: false, requests: 1 },
    },
    {
      name: "an error of 1.2 MB",
      call: create,
      answers: [refused(500, { message: "x".repeat(1_200_000) })],
      expect: { result: TOO_LARGE, unknown: true, requests: 1 },
    },
    {
      name: "a creation answered with 9 MB of ones",
      call: create,
      answers: [ok({ ...paid, a: ones(9_000_000) })],
      expect: { result: TOO_LARGE, unknown: true, requests: 1 },
    },
    {
      name: "a creation answered with 1 MB of ones",
      call: create,
      answers: [ok({ ...paid, a: ones(1_000_000) })],
      expect: { result: TOO_LARGE, unknown: true, requests: 1 },
    },
    {
      name: "a list of 9 MB of ones",
      call: list,
      answers: [page([{ a: ones(9_000_000) }])],
      expect: { result: TOO_LARGE, requests: 1 },
    },
    {
      name: "a list of 6 MB of text with commas, quotes and backslashes in it",
      call: list,
      answers: [page(Array.from({ length: 100 }, () => ({ ...paid, metadata: { a: '[,{"\\'.repeat(8_000) } })))],
      expect: { result: "ok", given: 100, requests: 1 },
    },
    { name: "64 levels", call: get, answers: [ok({ ...paid, a: nested(63) })], expect: { result: "ok", requests: 1 } },
    {
      name: "65 levels",
      call: get,
      answers: five(ok({ ...paid, a: nested(64) })),
      expect: { result: UNREADABLE, requests: 5 },
    },
    // What an error says.
    {
      name: "a message of 5,000 characters",
      call: create,
      answers: [refused(422, { code: "VALIDATION_ERROR", message: "☕".repeat(5_000) })],
      expect: { result: "VALIDATION_ERROR", message: "☕".repeat(1_000), requests: 1 },
    },
    {
      name: "a request_id that is none",
      call: create,
      answers: [refused(422, { code: "VALIDATION_ERROR", request_id: "a b\n" })],
      expect: { result: "VALIDATION_ERROR", message: "no", request_id: REQUEST_ID, requests: 1 },
    },
    {
      name: "a message that is none",
      call: create,
      answers: [refused(422, { code: "VALIDATION_ERROR", message: { a: 1 } })],
      expect: { result: UNREADABLE, request_id: REQUEST_ID, requests: 1 },
    },
    ...["a b", "validation_error", "VALIDATION_ERROR\n", "", 5, ["A"], "A".repeat(81)].map((code) => ({
      name: `an error with the code ${JSON.stringify(code)}`,
      call: create,
      answers: [refused(422, { code })],
      expect: { result: UNREADABLE, unknown: false, request_id: REQUEST_ID, requests: 1 },
    })),
    {
      name: "waitFor: a status of 5,000 characters",
      call: { operation: "payments.waitFor", given: 1.5 },
      answers: [ok({ ...paid, status: "x".repeat(5_000) })],
      expect: {
        result: "STATE_NOT_REACHED",
        message: `The payment ${paid.reference} is ${"x".repeat(100)}…, not succeeded in time.`,
        requests: 1,
      },
    },
    {
      name: "waitFor: a status that is none",
      call: { operation: "payments.waitFor", given: 60 },
      answers: five(ok({ ...paid, status: ["succeeded"] })),
      expect: { result: UNREADABLE, requests: 5 },
    },
    // What a client sends.
    {
      name: "a customer without anything",
      call: { ...create, given: { ...order, customer: {} } },
      answers: [ok(paid)],
      expect: { result: "ok", requests: 1 },
    },
  ];
  return made.map((one) => ({ ...one, now: 1_800_000_000 }));
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
