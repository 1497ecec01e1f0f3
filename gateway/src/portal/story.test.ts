// Goal: the story of a payment tells everything that happened to it, in order, to who may know it, and to nobody else. Method: a real
// service; payments that are paid, refunded, contested and settled; readers of each role and of other merchants.
import { afterAll, beforeAll, beforeEach, expect, test, vi } from "vitest";
import type { Client } from "../../../e2e/kit/client.ts";
import { alsoIn } from "../../test/currencies.ts";
import { type TestService, paymentBody, startService } from "../../test/kit.ts";
import { type Browser, joins, operates } from "../../test/portal.ts";
import { SECOND, systemClock } from "../ground/clock.ts";
import { defaultSettings } from "../merchants/settings.ts";

let service: TestService;
let client: Client;
let merchantId: string;
let owner: Browser;

beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

beforeEach(async () => {
  ({ client, merchantId } = await service.merchant());
  owner = await joins(service, merchantId);
});

interface Step {
  kind: string;
  request_id: string | null;
  client_id: string | null;
  at: string;
  object: Record<string, unknown>;
}

const story = async (reference: string, reader = owner): Promise<{ steps: Step[] } & Record<string, never>> =>
  (await reader.get(`/portal/v1/payments/${reference}/story`)).json;
const kinds = ({ steps }: { steps: Step[] }): string[] => steps.map(({ kind }) => kind);

async function paid(changes: Record<string, unknown> = {}): Promise<string> {
  const { reference } = (await client.post("/v1/payments", paymentBody(changes))).json;
  await client.post(`/v1/sandbox/payments/${reference}/simulate`, { outcome: "succeeded" });
  return reference as string;
}

test("a payment that was paid, refunded, contested, settled and paid out is told from its beginning to its end", async () => {
  const reference = await paid({ customer: { email: "sari@example.com" }, metadata: { order: "7" } });
  await client.post("/v1/refunds", { payment_reference: reference, amount_minor: 50_000, reason: "torn" });
  const dispute = (await client.post(`/v1/sandbox/payments/${reference}/dispute`, { reason: "general" })).json;
  await client.post(`/v1/sandbox/disputes/${dispute.uuid}/resolve`, { outcome: "won" });
  await client.post("/v1/sandbox/settlements/run", {});
  const [{ uuid }] = (await client.get("/v1/settlements")).json.data;
  await client.post(`/v1/sandbox/settlements/${uuid}/pay`, {});

  const told = await story(reference);
  expect(told.payment).toMatchObject({ reference, customer: { email: "sari@example.com" }, metadata: { order: "7" } });
  expect(told).toMatchObject({
    is_cut: false,
    withheld: [],
    payment: { refundable_minor: 100_000, contestable_minor: 100_000 },
  });
  expect(kinds(told).slice(0, 4)).toEqual(["asked", "judged", "routed", "instructed"]);
  expect(new Set(kinds(told))).toEqual(
    new Set(
      "asked judged routed instructed became refunded disputed resolved settled paid_out journalled told".split(" "),
    ),
  );
  const journals = told.steps
    .filter(({ kind }) => kind === "journalled")
    .map(({ object }) => object as { kind: string });
  expect(journals.map(({ kind }) => kind)).toEqual(["capture", "refund", "dispute_opened", "dispute_won"]);
  for (const { entries } of journals as never as { entries: { amount_minor: number }[] }[])
    expect(entries.reduce((sum, { amount_minor: amount }) => sum + amount, 0)).toBe(0);
  const events = told.steps
    .filter(({ kind }) => kind === "told")
    .map(({ object }) => (object.event as { type: string }).type);
  expect(events.toSorted()).toEqual([
    "dispute.opened",
    "dispute.resolved",
    "payment.created",
    "payment.succeeded",
    "refund.succeeded",
  ]);
  expect(told.steps.map(({ at }) => at)).toEqual(told.steps.map(({ at }) => at).toSorted());
  const [settled] = told.steps.filter(({ kind }) => kind === "settled");
  expect(settled?.object).toMatchObject({ kind: "payment", item: reference, amount_minor: 150_000 });
});

test("nothing can be refunded while the wallet is frozen or switched off, and all of it afterwards", async () => {
  const reference = await paid();
  const refundable = async (settings: object, code: string): Promise<number[]> => {
    await service.operate("PATCH", `/merchants/${merchantId}`, settings);
    await vi.waitFor(async () => {
      const { json } = await client.post("/v1/refunds", { payment_reference: reference, amount_minor: 10 });
      expect(json.error?.code ?? json.status).toBe(code);
    }, 30_000);
    const { payment } = (await story(reference)) as unknown as { payment: { refundable_minor: number } };
    const record = await service.operate("GET", `/payments/${reference}`);
    return [payment.refundable_minor, record.payment.refundable_minor];
  };
  expect(await refundable({ wallet_frozen: { IDR: true } }, "WALLET_FROZEN")).toEqual([0, 0]);
  const onlyDollars = { ...alsoIn(defaultSettings, "USD"), currencies: ["USD"] };
  expect(await refundable({ wallet_frozen: { IDR: false }, ...onlyDollars }, "WALLET_NOT_FOUND")).toEqual([0, 0]);
  expect(await refundable({ currencies: ["IDR"] }, "succeeded")).toEqual([149_990, 149_990]);
});

test.each([
  ["canceled", (reference: string) => client.post(`/v1/payments/${reference}/cancel`, { reason: "too slow" })],
  ["failed", (reference: string) => client.post(`/v1/sandbox/payments/${reference}/simulate`, { outcome: "failed" })],
  ["expired", () => client.post("/v1/sandbox/clock/advance", { seconds: 90_000 })],
])("a payment that was %s says so, and was never journalled", async (status, end) => {
  const { reference } = (await client.post("/v1/payments", paymentBody())).json;
  await end(reference);
  const told = await story(reference);
  const became = told.steps.filter(({ kind }) => kind === "became");
  expect(became.map(({ object }) => object.status)).toEqual([status]);
  expect(kinds(told)).not.toContain("journalled");
  expect(kinds(told)).toContain("told");
});

test("what a process with a slower clock did of it is told too, after the request", async () => {
  const hurried = await startService({
    database: service.database,
    clock: { now: () => systemClock.now() + 90 * SECOND },
    watchClock: false,
    roles: ["api"],
  });
  const { reference } = (await (await hurried.client(merchantId)).post("/v1/payments", paymentBody())).json;
  await hurried.stop();
  await client.post(`/v1/sandbox/payments/${reference}/simulate`, { outcome: "succeeded" });
  const told = await story(reference as string);
  expect(kinds(told)).toEqual("asked judged routed instructed became journalled told told".split(" "));
  const [{ at: asked } = { at: "" }] = told.steps;
  expect(told.steps.filter(({ at }) => at < asked).map(({ kind }) => kind)).toEqual(["became", "journalled", "told"]);
});

test("a payment that the risk engine rejected was never routed", async () => {
  const body = paymentBody({ customer: { email: "a@reject.test" } });
  expect((await client.post("/v1/payments", body)).json.error.code).toBe("RISK_REJECTED");
  const [{ reference }] = (await client.get(`/v1/payments?reference_id=${String(body.reference_id)}`)).json.data;
  const told = await story(reference);
  expect(kinds(told)).toEqual(["asked", "judged", "became", "told"]);
  expect(told.steps[1]?.object).toMatchObject({ decision: "reject" });
});

test("each step that a key asked for names the request and the key", async () => {
  const made = await client.post("/v1/payments", paymentBody());
  const { reference } = made.json;
  const paying = await client.post(`/v1/sandbox/payments/${reference}/simulate`, { outcome: "succeeded" });
  const refunding = await client.post("/v1/refunds", { payment_reference: reference, amount_minor: 50_000 });
  const dispute = () => client.post(`/v1/sandbox/payments/${reference}/dispute`, { reason: "general" });
  const disputing = await dispute();
  const resolving = await client.post(`/v1/sandbox/disputes/${disputing.json.uuid}/resolve`, { outcome: "won" });
  const disputingAgain = await dispute();
  await client.post("/v1/payments", paymentBody({ description: String(reference) }));
  const { steps } = await story(reference as string);
  const asked = steps.filter(({ kind }) => ["asked", "became", "refunded", "disputed", "resolved"].includes(kind));
  expect(asked.map(({ request_id: id }) => id)).toEqual(
    [made, paying, refunding, disputing, resolving, disputingAgain].map(({ headers }) => headers.get("x-request-id")),
  );
  expect(new Set(asked.map(({ client_id: id }) => id))).toEqual(new Set([client.credentials.client_id]));
});

test("what a person did names no key", async () => {
  const { reference } = (await owner.post("/portal/v1/payments", paymentBody())).json;
  await owner.post(`/portal/v1/payments/${reference}/cancel`, {});
  const { steps } = await story(reference as string);
  const kept = steps.map(({ kind, request_id: request, client_id: key }) => [kind, request, key]);
  expect(kept).toContainEqual(["became", null, null]);
  expect(kept).toContainEqual(["asked", null, null]);
});

test("why not the others is told with each candidate", async () => {
  const told = await story(await paid({ payment_method: "va" }));
  const routed = told.steps.find(({ kind }) => kind === "routed")?.object as never as {
    gateway_code: string;
    candidates: { gateway_code: string; verdict: string }[];
  };
  expect(routed.candidates.find(({ verdict }) => verdict === "chosen")?.gateway_code).toBe(routed.gateway_code);
  expect(routed.candidates.length).toBeGreaterThan(1);
});

test("a batch that the bank returned is told, and the batch that took its place", async () => {
  const reference = await paid();
  const settle = async (): Promise<string> =>
    (await client.post("/v1/sandbox/settlements/run", {})).json.data[0].uuid as string;
  const first = await settle();
  const operator = await operates(service);
  await operator.post(`/ops/v1/merchants/${merchantId}/books/sandbox/settlements/${first}/return`);
  const second = await settle();
  await client.post(`/v1/sandbox/settlements/${second}/pay`, {});
  const told = (await story(reference)).steps.filter(({ kind }) => ["settled", "returned", "paid_out"].includes(kind));
  expect(told.map(({ kind, object }) => [kind, (object.settlement as { uuid: string }).uuid])).toEqual([
    ["settled", first],
    ["returned", first],
    ["settled", second],
    ["paid_out", second],
  ]);
});

test("a role that may not read balances, settlements or events is told the rest, and which kinds are withheld", async () => {
  const reference = await paid();
  const support = await joins(service, merchantId, "support");
  const told = await story(reference, support);
  expect(told.withheld).toEqual(["settled", "paid_out", "returned", "journalled"]);
  expect(kinds(told)).not.toContain("journalled");
  const finance = await joins(service, merchantId, "finance");
  expect(kinds(await story(reference, finance))).not.toContain("told");
  const viewer = await joins(service, merchantId, "viewer");
  expect((await story(reference, viewer)).withheld).toEqual([]);
});

test("a payment of another merchant, of the other environment, or of nobody is not told", async () => {
  const reference = await paid();
  const codeOf = async (reader: Browser, path: string): Promise<string> =>
    (await reader.get(`/portal/v1/payments/${path}/story`)).json.error.code;
  const { merchantId: other } = await service.merchant();
  const stranger = await joins(service, other);
  expect(await codeOf(stranger, reference)).toBe("PAYMENT_NOT_FOUND");
  for (const wrong of ["pay_1", "pay_01kan3t5q8e4vs0x7ybd2m9fjh", "rfd_01kan3t5q8e4vs0x7ybd2m9fjh", "%00", "a'b"])
    expect(await codeOf(owner, wrong)).toBe("PAYMENT_NOT_FOUND");
  owner.environment = "production";
  expect(await codeOf(owner, reference)).toBe("ENVIRONMENT_MISMATCH");
});
