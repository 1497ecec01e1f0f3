// Goal: the client does about each answer what the vectors say: tries again, waits, looks up, or gives up. No second is waited for.
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
  call: { operation: string; body?: object; reference?: string };
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
function play({ status = 200, headers = {}, body, fault }: Answer, signal: AbortSignal): Promise<Response> {
  if (fault === "reset") return Promise.reject(new TypeError("fetch failed"));
  if (fault === "timeout")
    return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason as Error)));
  if (fault === "half_body") return Promise.resolve(new Response(halved(), { status: 201 }));
  if (fault === "too_large") return Promise.resolve(new Response(endless()));
  if (fault === "html")
    return Promise.resolve(new Response("<h1>Bad Gateway</h1>", { status, headers: { "content-type": "text/html" } }));
  if (fault === "empty") return Promise.resolve(new Response(null, { status: 201 }));
  if (fault === "redirect")
    return Promise.resolve(new Response(null, { status: 302, headers: { location: "https://elsewhere.example/" } }));
  return Promise.resolve(new Response(JSON.stringify(body), { status, headers }));
}

interface Sent {
  method: string;
  url: string;
  headers: Record<string, string>;
  body: string | undefined;
}

/** A client on a clock that stands still, against scripted answers; what it sent, and how long it wanted to wait. */
function scripted({ scheme, now, options, answers }: Script): { gerbang: Gerbang; sent: Sent[]; waits: number[] } {
  const sent: Sent[] = [];
  const waits: number[] = [];
  let passed = 0;
  const gerbang = new Gerbang({
    clientId: "ak_test_1",
    secret: "sk_test_1",
    baseUrl: "https://pay.example/v1",
    ...(scheme && { signature: scheme }),
    ...(options?.deadline_ms !== undefined && { deadlineMs: options.deadline_ms }),
    timeoutMs: answers.some(({ fault }) => fault === "timeout") ? 15 : 5_000,
    now: () => now * 1000 + passed,
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
      sent.push({ method, url: url as string, headers, body });
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

/** When a request was dated, in seconds from `now`. */
const datedAt = ({ headers }: Sent, now: number): number =>
  Number(headers["x-timestamp"] ?? /created=(\d+)/.exec(headers["signature-input"] ?? "")?.[1]) - now;

test.each(vectors<Script>("retries"))("$name", async (script) => {
  const { gerbang, sent, waits } = scripted(script);
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
  expect(waits.length).toBe(bounds.filter(([, most]) => most > 50).length);
  for (const [at, [least, most]] of bounds.filter(([, most]) => most > 50).entries()) {
    expect(waits[at]).toBeGreaterThanOrEqual(least);
    expect(waits[at]).toBeLessThanOrEqual(most);
  }
  // One intent: one key and the same bytes, and each time another signature.
  expect(new Set(tries.map(({ headers }) => headers["idempotency-key"])).size).toBe(1);
  expect(new Set(tries.map(({ body }) => body)).size).toBe(1);
  expect(new Set(tries.map(({ headers }) => headers.signature ?? headers["x-signature"])).size).toBe(attempts);
  for (const lookup of sent.slice(attempts)) expect(lookup).toMatchObject({ method: "GET", body: undefined });
  if (offsets) expect(tries.map((each) => datedAt(each, script.now))).toEqual(offsets);
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
