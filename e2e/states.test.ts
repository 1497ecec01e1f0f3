// Goal: payments, refunds, settlements and disputes (section 3) move as the lists say: every transition listed can be had, and
// no other. Method: bring a new object into each state over real HTTP, do to it everything that can be done, and compare the
// states that reads show before and after; whatever is refused must change nothing.
import { afterAll, beforeAll, expect, test } from "vitest";
import { disputeTransitions } from "../gateway/src/disputes/dispute.ts";
import type { DisputeStatus } from "../gateway/src/payments/payment.ts";
import { type PaymentStatus, transitions } from "../gateway/src/payments/states.ts";
import { OPERATOR_TOKEN, type TestService, paymentBody, startService } from "../gateway/test/kit.ts";
import { type Answer, type Client, readAnswer } from "./kit/client.ts";

let service: TestService;
beforeAll(async () => {
  service = await startService({ roles: ["api"] }); // time passes only where a test lets it
});
afterAll(() => service.stop());

interface Shop {
  client: Client;
  merchantId: string;
}

/** Does something to an object. Gives the code of the refusal, or undefined when it was done. */
type Step = (shop: Shop, id: string) => Promise<string | undefined>;

/** What can be walked. */
interface Walk<State extends string, Action extends string> {
  /** A new object: its identity, and the state that its creation answered. */
  begin(shop: Shop): Promise<{ id: string; status: State }>;
  read(shop: Shop, id: string): Promise<State>;
  /** Everything that can be done, each with the codes it may be refused with. */
  actions: Record<Action, readonly [step: Step, ...refusals: string[]]>;
  /** The actions that lead a new object to each state. */
  ways: Partial<Record<State, readonly Action[]>>;
}

/** Does everything to an object in each state, and gives the transitions seen, as `from > to`. */
async function walk<State extends string, Action extends string>(plan: Walk<State, Action>): Promise<string[]> {
  const seen = new Set<string>();
  const take = async (shop: Shop, id: string, action: Action, before: State): Promise<State> => {
    const [step, ...refusals] = plan.actions[action];
    const refusal = await step(shop, id);
    const after = await plan.read(shop, id);
    if (refusal !== undefined) expect(refusals, `${action} on ${before}`).toContain(refusal);
    if (refusal !== undefined) expect(after, `${action}, refused`).toBe(before);
    if (after !== before) seen.add(`${before} > ${after}`);
    return after;
  };
  for (const state of Object.keys(plan.ways) as State[]) {
    for (const action of Object.keys(plan.actions) as Action[]) {
      const shop = await service.merchant();
      const { id, status } = await plan.begin(shop);
      let at = await plan.read(shop, id);
      expect(at).toBe(status);
      for (const next of plan.ways[state] ?? []) at = await take(shop, id, next, at);
      expect(at, `the way to ${state}`).toBe(state);
      await take(shop, id, action, at);
    }
  }
  return [...seen].toSorted();
}

function listed(list: Readonly<Record<string, readonly string[]>>): string[] {
  return Object.entries(list)
    .flatMap(([from, states]) => states.map((to) => `${from} > ${to}`))
    .toSorted();
}

const refusalOf = ({ json }: Answer): string | undefined => json.error?.code as string | undefined;

/** What a merchant does. */
const posting =
  (path: (id: string) => string, body: unknown = {}): Step =>
  async ({ client }, id) =>
    refusalOf(await client.post(path(id), body));
const advancing = (seconds: number): Step => posting(() => "/v1/sandbox/clock/advance", { seconds });
const simulating = (noun: "payments" | "refunds", outcome: string): Step =>
  posting((id) => `/v1/sandbox/${noun}/${id}/simulate`, { outcome });

const canceling = posting((id) => `/v1/payments/${id}/cancel`);

/** What the operator does, of a merchant's book or at large. */
const operating =
  (path: (shop: Shop, id: string) => string, body: unknown = {}): Step =>
  async (shop, id) => {
    const headers = { authorization: `Bearer ${OPERATOR_TOKEN}`, "content-type": "application/json" };
    const options = { method: "POST", headers, body: JSON.stringify(body) };
    return refusalOf(await readAnswer(await fetch(`${service.operatorOrigin}/ops/v1${path(shop, id)}`, options)));
  };
const ofBook = ({ merchantId }: Shop): string => `/merchants/${merchantId}/books/sandbox`;

async function create({ client }: Shop, changes: Record<string, unknown> = {}): Promise<Answer["json"]> {
  const answer = await client.post("/v1/payments", paymentBody(changes));
  expect(answer.status, answer.text).toBe(201);
  return answer.json;
}

async function paid(shop: Shop, changes: Record<string, unknown> = {}): Promise<string> {
  const { reference } = await create(shop, changes);
  expect(await simulating("payments", "succeeded")(shop, reference)).toBeUndefined();
  return reference as string;
}

const refunding =
  (body: Record<string, unknown>): Step =>
  async ({ client }, id) =>
    refusalOf(await client.post("/v1/refunds", { payment_reference: id, ...body }));

test("a payment takes every transition of its list, and no other", async () => {
  const seen = await walk<
    PaymentStatus,
    "process" | "succeed" | "fail" | "cancel" | "expire" | "refund a part" | "refund the rest" | "contest"
  >({
    async begin(shop) {
      await paid(shop); // a float, since refunds do not give the fee back
      const { reference, status } = await create(shop);
      return { id: reference, status };
    },
    read: async ({ client }, id) => (await client.get(`/v1/payments/${id}`)).json.status,
    actions: {
      process: [simulating("payments", "processing"), "PAYMENT_NOT_PAYABLE", "PAYMENT_EXPIRED"],
      succeed: [simulating("payments", "succeeded"), "PAYMENT_NOT_PAYABLE", "PAYMENT_EXPIRED"],
      fail: [simulating("payments", "failed"), "PAYMENT_NOT_PAYABLE", "PAYMENT_EXPIRED"],
      cancel: [canceling, "PAYMENT_NOT_CANCELABLE"],
      expire: [advancing(1801)],
      "refund a part": [refunding({ amount_minor: 50_000 }), "PAYMENT_NOT_REFUNDABLE", "REFUND_EXCEEDS_PAYMENT"],
      "refund the rest": [refunding({}), "PAYMENT_NOT_REFUNDABLE", "REFUND_EXCEEDS_PAYMENT"],
      contest: [posting((id) => `/v1/sandbox/payments/${id}/dispute`, { reason: "general" }), "PAYMENT_NOT_REFUNDABLE"],
    },
    ways: {
      pending: [],
      processing: ["process"],
      succeeded: ["succeed"],
      failed: ["fail"],
      expired: ["expire"],
      canceled: ["cancel"],
      partially_refunded: ["succeed", "refund a part"],
      refunded: ["succeed", "refund a part", "refund the rest"],
    },
  });
  expect(seen).toEqual(listed(transitions));
});

test("a payment under review can be canceled but not paid, and fails when it is refused or forgotten", async () => {
  const seen = await walk<PaymentStatus, "approve" | "refuse" | "cancel" | "succeed" | "wait an hour" | "wait a day">({
    async begin({ client }) {
      const { json } = await client.post("/v1/payments", paymentBody({ customer: { email: "ann@review.test" } }));
      return { id: json.error.details.reference, status: json.error.details.status };
    },
    read: async ({ client }, id) => (await client.get(`/v1/payments/${id}`)).json.status,
    actions: {
      approve: [operating((_shop, id) => `/reviews/${id}/approve`)],
      refuse: [operating((_shop, id) => `/reviews/${id}/refuse`)],
      cancel: [canceling],
      succeed: [simulating("payments", "succeeded"), "PAYMENT_NOT_PAYABLE"],
      "wait an hour": [advancing(3_600)],
      "wait a day": [advancing(86_401)],
    },
    ways: { pending: [] },
  });
  expect(seen).toEqual(["pending > canceled", "pending > failed"]);
});

test("a payment that fraud detection rejects begins as failed", async () => {
  const { client } = await service.merchant();
  const answer = await client.post("/v1/payments", paymentBody({ customer: { email: "eve@reject.test" } }));
  const { reference } = answer.json.error.details;
  expect((await client.get(`/v1/payments/${reference}`)).json.status).toBe("failed");
});

test("a refund that is answered later succeeds or fails, once; one that is answered at once has succeeded", async () => {
  const seen = await walk<"pending" | "succeeded" | "failed", "succeed" | "fail">({
    async begin(shop) {
      const reference = await paid(shop, { metadata: { "sandbox.scenario": "slow" } });
      const { json } = await shop.client.post("/v1/refunds", { payment_reference: reference, amount_minor: 1_000 });
      return { id: json.uuid, status: json.status };
    },
    read: async ({ client }, id) => (await client.get(`/v1/refunds/${id}`)).json.status,
    actions: {
      succeed: [simulating("refunds", "succeeded"), "PAYMENT_NOT_PAYABLE"],
      fail: [simulating("refunds", "failed"), "PAYMENT_NOT_PAYABLE"],
    },
    ways: { pending: [], succeeded: ["succeed"], failed: ["fail"] },
  });
  expect(seen).toEqual(["pending > failed", "pending > succeeded"]);
  const shop = await service.merchant();
  const { client } = shop;
  const { json } = await client.post("/v1/refunds", { payment_reference: await paid(shop), amount_minor: 1_000 });
  expect((await client.get(`/v1/refunds/${json.uuid}`)).json.status).toBe("succeeded");
});

test("a settlement is paid by the bank or returned by it, once, and its payment says how far it is", async () => {
  const shown = new Set<string>();
  const seen = await walk<"processing" | "paid" | "failed", "pay" | "return">({
    async begin(shop) {
      const reference = await paid(shop);
      const { settlement } = (await shop.client.get(`/v1/payments/${reference}`)).json;
      shown.add(`unsettled: ${settlement.status}`);
      const { json } = await shop.client.post("/v1/sandbox/settlements/run", {});
      const [{ uuid, status }] = json.data;
      return { id: uuid, status };
    },
    async read({ client }, id) {
      const { data } = (await client.get("/v1/settlements")).json;
      expect(data).toHaveLength(1);
      expect(data[0].uuid).toBe(id);
      const [{ settlement }] = (await client.get("/v1/payments")).json.data;
      shown.add(`${data[0].status}: ${settlement.status}`);
      return data[0].status;
    },
    actions: {
      pay: [posting((id) => `/v1/sandbox/settlements/${id}/pay`), "SETTLEMENT_CLOSED"],
      return: [operating((shop, id) => `${ofBook(shop)}/settlements/${id}/return`), "SETTLEMENT_CLOSED"],
    },
    ways: { processing: [], paid: ["pay"], failed: ["return"] },
  });
  expect(seen).toEqual(["processing > failed", "processing > paid"]);
  expect([...shown].toSorted()).toEqual([
    "failed: pending",
    "paid: paid",
    "processing: processing",
    "unsettled: pending",
  ]);
});

test("a dispute takes every transition of its list, and no other", async () => {
  const resolving = (outcome: string): readonly [Step, string] => [
    posting((id) => `/v1/sandbox/disputes/${id}/resolve`, { outcome }),
    "DISPUTE_RESOLVED",
  ];
  const seen = await walk<DisputeStatus, "give evidence" | "say nothing" | "win" | "lose" | "withdraw">({
    async begin(shop) {
      const path = `/v1/sandbox/payments/${await paid(shop)}/dispute`;
      const { json } = await shop.client.post(path, { reason: "product_not_received" });
      return { id: json.uuid, status: json.status };
    },
    async read({ client }, id) {
      const [dispute] = (await client.get("/v1/disputes")).json.data;
      expect(dispute.uuid).toBe(id);
      return dispute.status;
    },
    actions: {
      "give evidence": [
        operating((shop, id) => `${ofBook(shop)}/disputes/${id}/evidence`, { statement: "It came.", files: [] }),
        "DISPUTE_RESOLVED",
      ],
      "say nothing": [advancing(7 * 86_400 + 1)],
      win: resolving("won"),
      lose: resolving("lost"),
      withdraw: resolving("withdrawn"),
    },
    ways: {
      needs_response: [],
      under_review: ["give evidence"],
      won: ["win"],
      lost: ["say nothing"],
      withdrawn: ["give evidence", "withdraw"],
    },
  });
  expect(seen).toEqual(listed(disputeTransitions));
});
