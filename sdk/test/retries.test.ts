// Goal: the client does about each answer what the vectors say: tries again, waits, looks up, or gives up. No second is waited for.
import { createHash, createHmac } from "node:crypto";
import { expect, test } from "vitest";
import Gerbang, { GerbangError } from "../src/index.ts";
import { vectors } from "./vectors.ts";

interface Answer {
  status?: number;
  headers?: Record<string, string>;
  body?: unknown;
  fault?: "reset" | "timeout" | "half_body" | "html" | "empty" | "redirect" | "too_large";
}

interface Script {
  name: string;
  scheme?: "timestamp";
  now: number;
  options?: { deadline_ms?: number };
  call: { operation: string; body?: { reference_id?: string }; reference?: string };
  answers: Answer[];
  expect: {
    attempts: number;
    waits_ms: [least: number, most: number][];
    lookups: number;
    offsets_s?: number[];
    result: string;
    status?: string;
    outcome_unknown?: boolean;
  };
}

const endless = (): ReadableStream =>
  new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array(1_000_000)) });

const halved = (): ReadableStream =>
  new ReadableStream({
    start: (controller) => controller.enqueue(new TextEncoder().encode('{"reference":')),
    pull: (controller) => controller.error(new TypeError("terminated")),
  });

/** The network as a script says. */
function play(answer: Answer, signal: AbortSignal): Promise<Response> {
  const { fault, headers = {}, body } = answer;
  const { status = fault === "redirect" ? 302 : 200 } = answer;
  if (fault === "reset") return Promise.reject(new TypeError("fetch failed"));
  if (fault === "timeout")
    return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason as Error)));
  if (fault === "half_body") return Promise.resolve(new Response(halved(), { status: 201 }));
  if (fault === "too_large") return Promise.resolve(new Response(endless()));
  if (fault === "html")
    return Promise.resolve(new Response("<h1>Bad Gateway</h1>", { status, headers: { "content-type": "text/html" } }));
  if (fault === "empty") return Promise.resolve(new Response(null, { status: 201 }));
  if (fault === "redirect")
    return Promise.resolve(new Response(null, { status, headers: { location: "https://elsewhere.example/" } }));
  return Promise.resolve(new Response(JSON.stringify(body), { status, headers }));
}

interface Sent {
  method: string;
  url: string;
  headers: Record<string, string>;
  body: string | undefined;
  /** Seconds that its waits had taken by then. */
  passed: number;
}

const SECRET = "sk_test_1";

/** A client on a clock that stands still, against scripted answers; what it sent, and how long it wanted to wait. */
function scripted(
  { scheme, now, options, answers }: Script,
  random = Math.random,
): { gerbang: Gerbang; sent: Sent[]; waits: number[] } {
  const sent: Sent[] = [];
  const waits: number[] = [];
  let passed = 0;
  const gerbang = new Gerbang({
    clientId: "ak_test_1",
    secret: SECRET,
    baseUrl: "https://pay.example/v1",
    ...(scheme && { signature: scheme }),
    ...(options?.deadline_ms !== undefined && { deadlineMs: options.deadline_ms }),
    timeoutMs: answers.some(({ fault }) => fault === "timeout") ? 15 : 5_000,
    now: () => now * 1000 + passed,
    random,
    sleep: (ms) => {
      waits.push(ms);
      passed += ms;
      return Promise.resolve();
    },
    fetch: (url, init) => {
      const answer = answers[sent.length];
      if (answer === undefined) throw new Error("the script has ended");
      const {
        method = "",
        headers,
        body,
      } = init as { method?: string; headers: Record<string, string>; body?: string };
      sent.push({ method, url: url as string, headers, body, passed: Math.floor(passed / 1000) });
      return play(answer, init?.signal as AbortSignal);
    },
  });
  return { gerbang, sent, waits };
}

function run(gerbang: Gerbang, { call: { operation, body, reference = "" } }: Script): Promise<unknown> {
  if (operation === "payments.create") return gerbang.payments.create(body as never);
  if (operation === "payments.createOrFind") return gerbang.payments.createOrFind(body as never);
  if (operation === "payments.get") return gerbang.payments.get(reference);
  if (operation === "refunds.create") return gerbang.refunds.create(body as never);
  throw new Error(`the vectors know another operation: ${operation}`);
}

/** When a request was dated, in seconds from the client's clock. */
const datedAt = ({ headers, passed }: Sent, now: number): number =>
  Number(headers["x-timestamp"] ?? /created=(\d+)/.exec(headers["signature-input"] ?? "")?.[1]) - now - passed;

/** What was signed is what was sent, whatever stands in it. */
function expectSigned({ headers, body = "" }: Sent): void {
  const { "x-timestamp": timestamp, "x-signature": signature } = headers;
  const digest = createHash("sha256").update(body).digest("base64");
  if (timestamp === undefined) expect(headers["content-digest"]).toBe(`sha-256=:${digest}:`);
  else expect(signature).toBe(createHmac("sha256", SECRET).update(`${timestamp}.${body}`).digest("hex"));
}

/** The ends of what is drawn at random. */
const draws = ["least", "most"] as const;
const scripts = vectors<Script>("retries").flatMap((script) => draws.map((draw) => ({ ...script, draw })));

test.each(scripts)("$name, with the $draw of the random waits", async ({ draw, ...script }) => {
  const { gerbang, sent, waits } = scripted(script, () => (draw === "least" ? 0 : 1 - 1e-9));
  const { attempts, waits_ms: bounds, lookups, offsets_s: offsets, result } = script.expect;
  const outcome = await run(gerbang, script).then(
    (payment) => {
      const { status } = script.expect;
      if (status !== undefined) expect(payment).toMatchObject({ status });
      return "ok";
    },
    (error: unknown) => {
      expect(error).toBeInstanceOf(GerbangError);
      expect((error as GerbangError).outcomeUnknown).toBe(script.expect.outcome_unknown);
      return (error as GerbangError).code;
    },
  );
  expect(outcome).toBe(result);
  expect(sent).toHaveLength(attempts + lookups);
  const tries = sent.slice(0, attempts);
  // The ends of the random numbers are the ends of the waits.
  const ends = bounds.filter(([, most]) => most > 50).map(([least, most]) => (draw === "least" ? least : most));
  expect(waits.map(Math.round)).toEqual(ends);
  // One intent: one key and the same bytes, and each time another signature.
  expect(new Set(tries.map(({ headers }) => headers["idempotency-key"])).size).toBe(1);
  expect(new Set(tries.map(({ body }) => body)).size).toBe(1);
  expect(new Set(tries.map(({ headers }) => headers.signature ?? headers["x-signature"])).size).toBe(attempts);
  sent.forEach(expectSigned);
  const { body: given } = script.call;
  for (const { body } of tries) expect(body && JSON.parse(body)).toEqual(given);
  for (const { method, url, body } of sent.slice(attempts)) {
    expect([method, body]).toEqual(["GET", undefined]);
    expect(Object.fromEntries(new URL(url).searchParams)).toMatchObject({ reference_id: given?.reference_id });
  }
  if (offsets) expect(sent.map((each) => datedAt(each, script.now))).toEqual(offsets);
});

test("createOrFind makes its key of the body, so that the same order is the same request in every process; a key of the caller's stays", async () => {
  const keyOf = async (body: object, idempotencyKey?: string): Promise<string | undefined> => {
    const answers = [{ status: 201, body: { ...body, reference: "pay_1", status: "pending" } }];
    const { gerbang, sent } = scripted({ name: "", now: 1_800_000_000, answers } as unknown as Script);
    await gerbang.payments.createOrFind(body as never, { idempotencyKey });
    return sent[0]?.headers["idempotency-key"];
  };
  const order = { amount_minor: 7_500_000, currency: "IDR", payment_method: "qris", reference_id: "order-1001" };
  const key = await keyOf(order);
  expect(key).toMatch(/^[0-9a-f]{64}$/);
  expect(await keyOf({ ...order })).toBe(key);
  expect(await keyOf({ ...order, amount_minor: 1 })).not.toBe(key);
  expect(await keyOf(order, "order-1001-first-try")).toBe("order-1001-first-try");
});

test.each([0, 0.5, 0.999])(
  "300 equal reads of one second, and 100 of another process before them: each has a timestamp of its own",
  async (random) => {
    const now = 1_800_000_000;
    const shifts: number[] = [];
    const gerbang = new Gerbang({
      clientId: "ak_test_1",
      secret: "sk_test_1",
      baseUrl: "https://pay.example/v1",
      signature: "timestamp",
      now: () => now * 1000,
      random: () => random,
      fetch: (_, init) => {
        const shift = Number(new Headers(init?.headers).get("x-timestamp")) - now;
        shifts.push(shift);
        const isTaken = shift > -100 && shift <= 0;
        const error = { code: "SIGNATURE_REPLAYED", message: "in words" };
        return Promise.resolve(Response.json(isTaken ? { error } : { data: [] }, { status: isTaken ? 401 : 200 }));
      },
    });
    await Promise.all(Array.from({ length: 300 }, () => gerbang.balances.get()));
    expect(new Set(shifts).size).toBe(shifts.length);
    expect(Math.max(...shifts.map(Math.abs))).toBeLessThanOrEqual(240);
  },
);
