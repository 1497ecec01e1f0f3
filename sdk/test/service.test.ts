// Goal: a merchant's whole life through the client, against the service itself; both ways of signing; many at once, and nothing twice.
import { inspect } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type TestService, startService } from "../../gateway/test/kit.ts";
import Gerbang, { GerbangError, type GerbangOptions } from "../src/index.ts";

let service: TestService;
let options: GerbangOptions & { secret: string };
let gerbang: Gerbang;
let number = 0;

beforeAll(async () => {
  service = await startService({ config: { unauthenticatedLimitPerMinute: 1_000_000 } });
  const { client } = await service.merchant({ settings: { rate_limit_per_minute: 1_000_000 } });
  const { client_id: clientId, secret, base_url: baseUrl } = client.credentials;
  options = { clientId, secret, baseUrl };
  gerbang = new Gerbang(options);
});
afterAll(() => service.stop());

const order = () =>
  ({ amount_minor: 150_000, currency: "IDR", payment_method: "qris", reference_id: `order-${++number}` }) as const;

describe.each(["rfc9421", "timestamp"] as const)("signed by %s", (signature) => {
  test("a payment is created, paid, refunded in parts, and listed", async () => {
    const own = new Gerbang({ ...options, signature });
    const { reference, instructions } = await own.payments.create(order());
    expect(instructions?.type).toBe("qr_string");
    await own.sandbox.payments.simulate(reference, "succeeded");
    const paid = await own.payments.waitFor(reference, "succeeded");
    expect(paid.status).toBe("succeeded");
    const refund = await own.refunds.create({
      payment_reference: reference,
      amount_minor: 50_000,
      reason: "One was broken",
    });
    expect(refund).toMatchObject({ status: "succeeded", remaining_refundable_minor: 100_000 });
    expect((await own.refunds.get(refund.uuid)).amount_minor).toBe(50_000);
    expect(await own.refunds.list({ payment_reference: reference }).take(10)).toHaveLength(1);
    expect((await own.payments.waitFor(reference, "succeeded")).status).toBe("partially_refunded");
    const [idr] = (await own.balances.get()).data;
    expect(idr?.currency).toBe("IDR");
  });

  test("a hundred equal requests in one second are a hundred requests", async () => {
    const own = new Gerbang({ ...options, signature });
    const answers = await Promise.all(Array.from({ length: 100 }, () => own.balances.get()));
    expect(answers).toHaveLength(100);
  });

  test("equal requests of forty processes in one second", async () => {
    // Each client knows only what it sent itself, as a process does.
    const processes = Array.from({ length: 40 }, () => new Gerbang({ ...options, signature }));
    const answers = await Promise.all(processes.map((own) => own.settlements.list({ limit: 1 })));
    expect(answers.map(({ data }) => data)).toEqual(answers.map(() => []));
  });
});

test("a list goes on over its pages", async () => {
  const references = new Set<string>();
  for (let at = 0; at < 7; at++) references.add((await gerbang.payments.create(order())).reference);
  const pages: number[] = [];
  for await (const page of gerbang.payments.list({ limit: 3 }).pages()) {
    pages.push(page.data.length);
    for (const { reference } of page.data) references.delete(reference);
    if (references.size === 0) break;
  }
  expect(pages).toEqual([3, 3, 3]);
  const first = await gerbang.payments.list({ limit: 2 });
  expect([first.data.length, first.has_more]).toEqual([2, true]);
});

test("one key is one payment, however often it is asked for", async () => {
  const body = order();
  const idempotencyKey = `intent-${body.reference_id}`;
  const made = await Promise.all(Array.from({ length: 5 }, () => gerbang.payments.create(body, { idempotencyKey })));
  expect(new Set(made.map(({ reference }) => reference)).size).toBe(1);
});

test("createOrFind finds what another key made, and refuses another amount", async () => {
  const body = order();
  const { reference } = await gerbang.payments.create(body);
  expect((await gerbang.payments.createOrFind(body)).reference).toBe(reference);
  await expect(gerbang.payments.createOrFind({ ...body, amount_minor: 1 })).rejects.toMatchObject({
    code: "REFERENCE_ID_DUPLICATE",
    details: { reference },
  });
});

test("a payment under review is no failure: the error names it, and createOrFind gives it", async () => {
  const body = { ...order(), customer: { email: "someone@review.test" } };
  const error: unknown = await gerbang.payments.create(body).catch((thrown: unknown) => thrown);
  if (!(error instanceof GerbangError) || !error.is("RISK_REVIEW")) throw error;
  expect(error).toMatchObject({ status: 202, outcomeUnknown: false });
  const found = await gerbang.payments.createOrFind({ ...body });
  expect(found).toMatchObject({ reference: error.details.reference, status: "pending", instructions: null });
});

test("waitFor says at once that a payment has come to another end", async () => {
  const { reference } = await gerbang.payments.create(order());
  await gerbang.payments.cancel(reference, { reason: "Changed my mind" });
  await expect(gerbang.payments.waitFor(reference, "succeeded")).rejects.toMatchObject({
    code: "STATE_NOT_REACHED",
    details: { reference, status: "canceled" },
  });
});

test("a clock that is an hour late is corrected by what the service says, once", async () => {
  let sent = 0;
  const late = new Gerbang({
    ...options,
    now: () => Date.now() - 3_600_000,
    fetch: (...asked) => {
      sent++;
      return fetch(...asked);
    },
  });
  await late.balances.get();
  await late.balances.get();
  expect(sent).toBe(3);
});

test("a wrong secret is an error that says what to do, and shows no secret anywhere", async () => {
  const secret = "sk_test_that_nobody_may_see";
  const seen: unknown[] = [];
  const wrong = new Gerbang({
    ...options,
    secret,
    hooks: { onRequest: (info) => seen.push(info), onResponse: (info) => seen.push(info) },
  });
  const error: unknown = await wrong.payments.create(order()).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: "SIGNATURE_INVALID", status: 401, retryable: false });
  const { requestId, advice } = error as GerbangError;
  expect(requestId).toMatch(/^req_/);
  expect(advice).toContain("sandbox.requests.doctor");
  expect(await gerbang.sandbox.requests.doctor(requestId ?? "")).toMatchObject({ diagnosis: expect.any(String) });
  const shown = inspect([error, wrong, seen], { depth: 9, showHidden: true }) + JSON.stringify([error, wrong, seen]);
  expect(shown).not.toContain(secret);
  expect(shown).not.toMatch(/sig1=/);
});

test("hooks are told of each attempt, and a tracer has a span for each call", async () => {
  const told: string[] = [];
  const spans: Record<string, unknown>[] = [];
  let sent = 0;
  const own = new Gerbang({
    ...options,
    sleep: () => Promise.resolve(),
    fetch: (url, init) => {
      expect(new Headers(init?.headers).get("traceparent")).toBe("00-1-2-01");
      sent++;
      return sent === 1 ? Promise.reject(new TypeError("fetch failed")) : fetch(url, init);
    },
    hooks: {
      onRequest: ({ operation, attempt }) => told.push(`asks ${operation} ${attempt}`),
      onRetry: ({ error, waitMs }) => told.push(`again after ${error.code} ${waitMs > 0}`),
      onResponse: ({ status, requestId, ms }) => told.push(`${status} ${requestId?.slice(0, 4)} ${ms > 0}`),
    },
    propagate: (headers) => {
      headers.traceparent = "00-1-2-01";
    },
    tracer: {
      startActiveSpan: (name, { kind, attributes }, run) => {
        const span: Record<string, unknown> = { name, kind, ...attributes };
        spans.push(span);
        return run({
          setAttribute: (key, value) => (span[key] = value),
          setStatus: ({ code }) => (span.status = code),
          end: () => (span.ended = true),
        });
      },
    },
  });
  await own.balances.get();
  await own.payments.get("pay_none").catch(() => undefined);
  expect(told).toEqual([
    "asks balances.get 1",
    "again after CONNECTION_FAILED true",
    "asks balances.get 2",
    "200 req_ true",
    "asks payments.get 1",
    "404 req_ true",
  ]);
  const request = { kind: 2, "http.request.method": "GET", "gerbang.request_id": expect.stringMatching(/^req_/) };
  expect(spans).toEqual([
    {
      ...request,
      name: "gerbang balances.get",
      "url.path": "/v1/balances",
      "http.response.status_code": 200,
      ended: true,
    },
    {
      ...request,
      name: "gerbang payments.get",
      "url.path": "/v1/payments/pay_none",
      "http.response.status_code": 404,
      "error.type": "PAYMENT_NOT_FOUND",
      status: 2,
      ended: true,
    },
  ]);
});

test("a thousand calls at once: each is answered, and none is left behind", async () => {
  const bodies = Array.from({ length: 1_000 }, order);
  const made = await Promise.all(bodies.map((body) => gerbang.payments.create(body)));
  expect(new Set(made.map(({ reference }) => reference)).size).toBe(1_000);
});
