// Goal: a service that dies while an acquirer is being called loses nothing and does nothing twice. Method: the service and
// its PostgreSQL as processes, the simulated acquirer over real HTTP, and SIGKILL at the moment of the call.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { type Simulator, startSimulator } from "../gateway/src/cli/simulator/simulator.ts";
import { type Answer, Client, operate, settledLate } from "./kit/client.ts";
import { gerbangHere } from "./kit/command-here.ts";
import { Service } from "./kit/service.ts";

const SECRET = "a-secret-between-acquirer-and-gateway-0123456789";
let simulator: Simulator;
let service: Service;
let client: Client;

beforeAll(async () => {
  simulator = await startSimulator({ port: 0, host: "127.0.0.1", secret: SECRET });
  const prepared = await Service.start();
  const { dataDirectory, port } = prepared;
  await prepared.stop();
  const idr = {
    currencies: ["IDR"],
    minimum_minor: 1,
    maximum_minor: 999_999_999_999,
    cost: { basis_points: 30, flat_minor: 0 },
  };
  const profile = {
    code: "rimba",
    name: "Rimba Pay",
    environment: "sandbox",
    url: simulator.url,
    secret: SECRET,
    // Long enough for the kill to come before it.
    deadline_ms: 5_000,
    capabilities: [
      { method: "qris", ...idr },
      { method: "va", ...idr },
    ],
  };
  writeFileSync(join(dataDirectory, "acquirers.json"), JSON.stringify([profile]));
  service = await Service.start({ dataDirectory, port });
  client = new Client(service.demo);
  await operate(service.demo, "PATCH", `/merchants/${service.demo.merchant_id}`, {
    ...settledLate,
    rate_limit_per_minute: 1_000_000,
  });
  const { version } = await operate(service.demo, "POST", "/routing/rules", {
    rules: [
      { gateway_code: "rimba", payment_method: "qris", priority: 1, weight: 1 },
      { gateway_code: "rimba", payment_method: "va", priority: 1, weight: 1 },
      { gateway_code: "cendana", payment_method: "va", priority: 2, weight: 1 },
    ],
  });
  await operate(service.demo, "POST", `/routing/rules/${version}/activate`);
});
afterAll(async () => {
  const { code, stdout } = await gerbangHere(["verify"], { GERBANG_DATA: service.dataDirectory });
  await service.discard();
  await simulator.stop();
  expect(code, stdout).toBe(0);
});

let orders = 0;
const order = (changes: Record<string, unknown> = {}): Record<string, unknown> => ({
  amount_minor: 7_500_000,
  currency: "IDR",
  payment_method: "qris",
  reference_id: `failing-${++orders}`,
  ...changes,
});
const outcome = ({ status, json, headers }: Answer): string =>
  [status, json?.error?.code ?? json?.status, headers.get("x-idempotent-replay") && "replay"].filter(Boolean).join(" ");
const patiently = { timeout: 30_000, interval: 250 };
const keyOf = (reference: string): string => {
  const found = simulator
    .operations()
    .find(({ operation_key: key }) => String(key).startsWith(reference.replace("_", "")));
  return String(found?.operation_key);
};
const read = async (reference: string): Promise<Answer["json"]> => (await client.get(`/v1/payments/${reference}`)).json;

test("killed while it calls an acquirer that did the work unheard, or never did anything: one payment there, one here, and each key goes on", async () => {
  const before = simulator.operations().length;
  const begun = [];
  for (const mode of ["timeout", "timeout_before"] as const) {
    simulator.behave({ mode, for_next: 1 });
    const [body, key] = [order(), `killed-${mode}`];
    begun.push({ body, key, lost: client.post("/v1/payments", body, { key }).catch(() => "cut off") });
    await vi.waitFor(
      async () => expect(await (await fetch(`${simulator.url}/behaviour`)).json()).toMatchObject({ mode: "ok" }),
      patiently,
    );
  }
  await service.kill("SIGKILL");
  for (const { lost } of begun) expect(await lost).toBe("cut off");
  await service.start();
  const references = await Promise.all(
    begun.map(async ({ body, key }) => {
      // The caller is gone; its time runs out, a worker asks, and then the same request goes on or is answered.
      await vi.waitFor(
        async () => expect(outcome(await client.post("/v1/payments", body, { key }))).toMatch(/^20[01] pending/),
        { timeout: 40_000, interval: 250 },
      );
      const { json } = await client.post("/v1/payments", body, { key });
      expect((await client.get(`/v1/payments?reference_id=${String(body.reference_id)}`)).json.data).toHaveLength(1);
      return json.reference as string;
    }),
  );
  const made = simulator.operations().slice(0, simulator.operations().length - before);
  const kept = made.filter(({ status }) => status !== "void").map(({ operation_key: key }) => String(key));
  expect(kept).toHaveLength(2);
  for (const reference of references) {
    expect(kept.filter((key) => key.startsWith(reference.replace("_", "")))).toHaveLength(1);
    await simulator.pay(keyOf(reference));
    await vi.waitFor(async () => expect(await read(reference)).toMatchObject({ status: "succeeded" }), patiently);
  }
});

test("an acquirer that is gone: the next candidate takes over in the same request, and alone it is GATEWAY_ERROR", async () => {
  const { port } = new URL(simulator.url);
  await simulator.stop();
  try {
    const over = await client.post("/v1/payments", order({ payment_method: "va" }));
    expect([outcome(over), over.json.gateway_code]).toEqual(["201 pending", "cendana"]);
    expect(outcome(await client.post("/v1/payments", order()))).toBe("502 GATEWAY_ERROR");
  } finally {
    simulator = await startSimulator({ port: Number(port), host: "127.0.0.1", secret: SECRET });
  }
});

test("callbacks that come three times move the money once; a lost one is made up for; a late one is kept apart", async () => {
  const [thrice, quiet, late] = await Promise.all([1, 2, 3].map(() => client.post("/v1/payments", order())));
  for (const answer of [thrice, quiet, late]) expect(outcome(answer as Answer)).toBe("201 pending");
  await simulator.pay(keyOf(thrice?.json.reference), { callbacks: 3 });
  await client.post(`/v1/payments/${late?.json.reference}/cancel`, {});
  await simulator.pay(keyOf(late?.json.reference));
  await vi.waitFor(
    async () => expect(await read(thrice?.json.reference)).toMatchObject({ status: "succeeded" }),
    patiently,
  );
  await vi.waitFor(async () => {
    const { data } = await operate(service.demo, "GET", "/receipts?limit=100");
    const statuses = (data as { payment_reference: string; status: string }[]).map((row) => [
      row.payment_reference,
      row.status,
    ]);
    expect(statuses).toContainEqual([late?.json.reference, "unapplied"]);
    expect(statuses.filter(([reference]) => reference === thrice?.json.reference)).toHaveLength(1);
  }, patiently);
  expect(await read(late?.json.reference)).toMatchObject({ status: "canceled" });
  expect(await read(quiet?.json.reference)).toMatchObject({ status: "pending" });
});

test("a refund through it: pending, then done by its word, also when the service was killed in between", async () => {
  const { json } = await client.post("/v1/payments", order());
  await simulator.pay(keyOf(json.reference));
  await vi.waitFor(async () => expect(await read(json.reference)).toMatchObject({ status: "succeeded" }), patiently);
  simulator.behave({ refunds: "held" });
  const refund = await client.post("/v1/refunds", { payment_reference: json.reference, amount_minor: 5_000 });
  expect(outcome(refund)).toBe("201 pending");
  await vi.waitFor(() => expect(keyOf(refund.json.uuid)).not.toBe("undefined"), patiently);
  await service.kill("SIGKILL");
  await simulator.conclude(keyOf(refund.json.uuid), { status: "succeeded" });
  await service.start();
  await vi.waitFor(
    async () => expect((await client.get(`/v1/refunds/${refund.json.uuid}`)).json.status).toBe("succeeded"),
    { timeout: 40_000, interval: 500 },
  );
  expect(await read(json.reference)).toMatchObject({ status: "partially_refunded", refunded_minor: 5_000 });
});
