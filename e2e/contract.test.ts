// Goal: what the service answers is what the contract says. Method: call every operation of /v1 and hold each answer, and what
// arrives at the receiver, against the committed contract with every object closed; try what the contract says of null and of errors.
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { ContractCheck } from "../gateway/test/contract-check.ts";
import { type Shop, at, rig, shop, startRig, stopRig } from "../gateway/test/event-rig.ts";
import { paymentBody } from "../gateway/test/kit.ts";
import { type Answer, readAnswer } from "./kit/client.ts";

const contract = new ContractCheck(readFileSync(new URL("../openapi/merchant.json", import.meta.url), "utf8"));
/** The operations that were called, each with a success that the contract declares. */
const called = new Set<string>();
let of: Shop;

beforeAll(startRig);
afterAll(stopRig);

function checked(method: string, path: string, answer: Answer): Answer {
  expect(contract.answerFaults(method, path, answer), answer.text).toEqual([]);
  const { operationId } = contract.operationFor(method, path)?.operation ?? {};
  if (operationId !== undefined && answer.status < 300) called.add(operationId);
  return answer;
}

const get = async (path: string, status = 200): Promise<Answer["json"]> => {
  const answer = checked("GET", path, await of.client.get(path));
  expect(answer.status, answer.text).toBe(status);
  return answer.json;
};

async function write(method: "POST" | "PUT", path: string, value: unknown, status: number): Promise<Answer["json"]> {
  const body = JSON.stringify(value);
  const told = contract.operationFor(method, path);
  const schema = `/paths/${told?.path.replaceAll("/", "~1")}/${told?.method}/requestBody/content/application~1json/schema`;
  // What succeeds is what the contract allows.
  if (status < 300) expect(contract.faults(schema, value), path).toEqual([]);
  const headers = { "content-type": "application/json", "idempotency-key": randomUUID() };
  const sent = { ...of.client.headers(body), ...headers };
  const answer = checked(method, path, await of.client.send(method, path, body, sent));
  expect(answer.status, answer.text).toBe(status);
  return answer.json;
}
const post = (path: string, value: unknown = {}, status = 200): Promise<Answer["json"]> =>
  write("POST", path, value, status);

const pay = async (changes: Record<string, unknown> = {}): Promise<string> =>
  (await post("/v1/payments", paymentBody(changes), 201)).reference as string;
const paid = async (): Promise<string> => {
  const reference = await pay();
  await post(`/v1/sandbox/payments/${reference}/simulate`, { outcome: "succeeded" });
  return reference;
};

test("payments and refunds", async () => {
  of = await shop(rig.service, "/200/contract");
  await get("/v1/sandbox/clock");
  for (const payment_method of ["va", "bank_transfer", "card", "ewallet"]) await pay({ payment_method });
  const nothing = { description: null, customer: null, callback_url: null, return_url: null, metadata: null };
  const unpaid = await pay({ ...nothing, expires_in: null });
  await get(`/v1/payments/${unpaid}`);
  await post(`/v1/payments/${unpaid}/cancel`, { reason: null });
  const reference = await paid();
  await get(`/v1/payments/${reference}`);
  await get("/v1/payments?limit=2");
  const { uuid } = await post("/v1/refunds", { payment_reference: reference, amount_minor: 100, reason: "torn" }, 201);
  await get(`/v1/refunds/${uuid}`);
  await get("/v1/refunds");
  const slow = await pay({ metadata: { "sandbox.scenario": "slow" } });
  await post(`/v1/sandbox/payments/${slow}/simulate`, { outcome: "succeeded" });
  const pending = await post("/v1/refunds", { payment_reference: slow }, 201);
  await post(`/v1/sandbox/refunds/${pending.uuid}/simulate`, { outcome: "succeeded" });
  await get("/v1/balances");
  await get("/v1/balances/IDR/entries");
});

test("payment links, and a payment by one of them", async () => {
  const nothing = { minimum_minor: null, description: null, expires_in: null, payment_methods: null, return_url: null };
  const asked = { amount_minor: 150_000, currency: "IDR", reusable: false, metadata: { order: "7" } };
  const { uuid, url } = await post("/v1/payment-links", { ...asked, ...nothing }, 201);
  const page = await (await fetch(url as string)).text();
  const once = /name="once" value="(\w+)"/.exec(page)?.[1] ?? "";
  await fetch(url as string, { method: "POST", body: new URLSearchParams({ once, method: "va" }) });
  const { payment_reference: reference } = await get(`/v1/payment-links/${uuid}`);
  expect((await get(`/v1/payments/${reference}`)).payment_link).toBe(uuid);
  await post(`/v1/sandbox/payments/${reference}/simulate`, { outcome: "succeeded" });
  const open = { currency: "IDR", minimum_minor: 100, maximum_minor: 500, reusable: true, payment_methods: ["qris"] };
  const { uuid: other } = await post("/v1/payment-links", open, 201);
  await post(`/v1/payment-links/${other}/deactivate`);
  expect((await get("/v1/payment-links")).data).toHaveLength(2);
  await post("/v1/payment-links", { ...asked, amount_minor: 0 }, 422);
  await post(`/v1/payment-links/${uuid}/deactivate`, {}, 409);
});

test("disputes and settlements", async () => {
  const disputed = await paid();
  const { uuid } = await post(`/v1/sandbox/payments/${disputed}/dispute`, { reason: "duplicate" }, 201);
  await get(`/v1/disputes/${uuid}`);
  await get("/v1/disputes");
  await post(`/v1/sandbox/disputes/${uuid}/resolve`, { outcome: "won" });
  await paid();
  const { data } = await post("/v1/sandbox/settlements/run");
  const [batch] = data as [{ uuid: string }];
  await get("/v1/settlements");
  await get(`/v1/settlements/${batch.uuid}`);
  checked(
    "GET",
    `/v1/settlements/${batch.uuid}/statement`,
    await of.client.get(`/v1/settlements/${batch.uuid}/statement`),
  );
  await post(`/v1/sandbox/settlements/${batch.uuid}/pay`);
});

test("events and the sandbox", async () => {
  await expect.poll(() => at("/200/contract").length, { timeout: 30_000 }).toBeGreaterThan(10);
  const { data } = await get("/v1/events?limit=100");
  const { id } = data[0] as { id: string };
  await get(`/v1/events/${id}`);
  await get(`/v1/events/${id}/deliveries`);
  await post(`/v1/events/${id}/resend`);
  await post("/v1/events/resend", { event_ids: [id], since: null });
  await post("/v1/events/resend", { since: "2026-01-01", state: "all" });
  await post("/v1/sandbox/events/trigger", { type: "dispute.opened" });
  await get("/v1/sandbox/webhook/misbehave");
  await write("PUT", "/v1/sandbox/webhook/misbehave", { mode: "none", for_next: null }, 200);
  await post("/v1/sandbox/webhook/exam");
  await post("/v1/sandbox/webhook/doctor", { headers: { "X-SVC-Event-Id": id }, body: "{}", received_at: null });
  const { next_after: after } = await get("/v1/sandbox/events/listen");
  await pay();
  await get(`/v1/sandbox/events/listen?after=${after}&wait=5`);
  await post("/v1/sandbox/clock/advance", { seconds: 60 });
  const refused = await of.client.send("GET", "/v1/balances", undefined, {
    ...of.client.headers(""),
    "x-signature": "0".repeat(64),
  });
  checked("GET", "/v1/balances", refused);
  const requestId = refused.headers.get("x-request-id");
  await get(`/v1/sandbox/requests/${requestId}/doctor`);
  // The log is written a moment after the answer.
  await vi.waitFor(async () => {
    const { data } = await get("/v1/sandbox/requests?limit=100");
    expect(data.map((each: { request_id: string }) => each.request_id)).toContain(requestId);
  }, 30_000);
  await get(`/v1/sandbox/requests/${requestId}`);
});

test("errors, replays and health", async () => {
  await post("/v1/payments", { amount_minor: 0 }, 422);
  await post("/v1/payments", { ...paymentBody(), colour: "red" }, 422);
  await post("/v1/payments", paymentBody({ customer: { email: "a@review.test" } }), 202);
  await get("/v1/payments/pay_nothing", 404);
  await get("/v1/payments?limit=0", 422);
  const body = paymentBody();
  await post("/v1/payments", body, 201);
  await post("/v1/payments", body, 409);
  const [key, again] = [randomUUID(), paymentBody()];
  for (const status of [201, 200]) {
    const answer = checked("POST", "/v1/payments", await of.client.post("/v1/payments", again, { key }));
    expect(answer.status).toBe(status);
  }
  checked("GET", "/v1/health", await readAnswer(await fetch(`${rig.service.origin}/v1/health`)));
});

test("every operation was called, and the contract names every answer", () => {
  expect(contract.operations.map(({ operation }) => operation.operationId).filter((name) => !called.has(name))).toEqual(
    [],
  );
});

test("what arrives at the receiver is what the contract says of its type", () => {
  const deliveries = at("/200/contract").filter(({ event }) => !("sample" in (event.data ?? {})));
  expect(new Set(deliveries.map(({ event }) => event.type)).size).toBeGreaterThanOrEqual(8);
  for (const { event } of deliveries) {
    const schema = `/webhooks/${event.type}/post/requestBody/content/application~1json/schema`;
    expect(contract.faults(schema, event), event.type).toEqual([]);
  }
});

test("both contracts are served as they are committed, the operator's without a token", async () => {
  const { origin, operatorOrigin } = rig.service;
  for (const [url, file] of [
    [`${origin}/openapi.json`, "merchant"],
    [`${operatorOrigin}/ops/v1/openapi.json`, "operator"],
  ] as const) {
    const answer = await readAnswer(await fetch(url));
    expect(answer.status).toBe(200);
    expect(answer.text).toBe(readFileSync(new URL(`../openapi/${file}.json`, import.meta.url), "utf8"));
  }
});
