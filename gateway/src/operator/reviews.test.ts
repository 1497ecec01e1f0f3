// Goal: whoever judges a payment sees what fraud detection saw, and is answered with the whole payment. Method: payments under review of one payer, read
// and judged at a service; each answer is held against its endpoint's schema.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Client } from "../../../e2e/kit/client.ts";
import { type TestService, asOwner, paymentBody, startService } from "../../test/kit.ts";
import { VIEWER_TOKEN, operatorCaller, outcomeOf } from "../../test/operator.ts";
import { report, scriptedAcquirer } from "../../test/scripted-acquirer.ts";
import { uuidOf } from "../ground/ids.ts";
import { reviewEndpoints } from "./reviews.routes.ts";

let service: TestService;
let shop: { client: Client; merchantId: string };
const ask = operatorCaller(() => service, reviewEndpoints({} as never));
const customer = { name: "Sari", email: "sari@review.test", phone: "+6281234567890" };
const kawah = scriptedAcquirer("kawah");
beforeAll(async () => {
  service = await startService({ config: { operatorViewerToken: VIEWER_TOKEN }, acquirers: [kawah] });
  shop = await service.merchant();
});
afterAll(() => service.stop());

async function reviewed(changes: Record<string, unknown> = {}): Promise<string> {
  const { status, json } = await shop.client.post("/v1/payments", paymentBody({ customer, ...changes }));
  expect(status).toBe(202);
  return json.error.details.reference as string;
}

test("one review has the signs with their points, the counts and bounds behind them, the payer's other payments and the last days", async () => {
  const first = await reviewed();
  // The same telephone under another address.
  const other = { ...customer, email: "sari@mailinator.com" };
  const second = await reviewed({ amount_minor: 6_000_000_000, customer: other });
  const listed = await ask("GET", "/reviews?limit=100", { token: VIEWER_TOKEN });
  expect(listed.json.data).toMatchObject([
    { reference: first, customer },
    { reference: second, customer: other },
  ]);
  const { json } = await ask("GET", `/reviews/${second}`, { token: VIEWER_TOKEN });
  expect(json.risk).toMatchObject({
    decision: "review",
    score: 75,
    reasons: [
      { sign: "large_amount", points: 30 },
      { sign: "disposable_email", points: 45 },
    ],
    facts: { customer_payments: 1, merchant_payments: 1, amount_minor: 6_000_000_000 },
    bounds: { large_amount_minor: 5_000_000_000, review_at: 70, reject_at: 80 },
    other_payments: [{ reference: first }],
  });
  expect(json.payment).toMatchObject({ reference: second, customer: other, status: "pending" });
  expect(json.decide_before > json.payment.created_at).toBe(true);
  expect(json.merchant_days).toHaveLength(7);
});

test("an approval is answered with the whole payment: how it is paid, who pays, and what was held against it", async () => {
  const reference = await reviewed({ description: "Two bags", metadata: { order: "7" } });
  const { status, json } = await ask("POST", `/reviews/${reference}/approve`);
  expect(status).toBe(200);
  expect(json).toMatchObject({
    reference,
    merchant_id: shop.merchantId,
    status: "pending",
    customer,
    description: "Two bags",
    metadata: { order: "7" },
    risk: { decision: "approve", score: 70 },
    reasons: [{ sign: "sandbox_asked_for_review", points: 70 }],
    refundable_minor: 0,
    contestable_minor: 0,
  });
  expect(json.instructions.qr_string).toBeTypeOf("string");
  expect(json).toMatchObject((await shop.client.get(`/v1/payments/${reference}`)).json);
  expect(outcomeOf(await ask("GET", `/reviews/${reference}`))).toBe("404 PAYMENT_NOT_FOUND");
});

test("a refusal too, and nobody judges twice or with a token that only reads", async () => {
  const reference = await reviewed();
  expect(outcomeOf(await ask("POST", `/reviews/${reference}/refuse`, { token: VIEWER_TOKEN }))).toBe("403 FORBIDDEN");
  const { json } = await ask("POST", `/reviews/${reference}/refuse`);
  expect(json).toMatchObject({ reference, status: "failed", instructions: null, customer });
  for (const word of ["approve", "refuse"])
    expect(outcomeOf(await ask("POST", `/reviews/${reference}/${word}`))).toBe("404 PAYMENT_NOT_FOUND");
});

describe("a payment that its acquirer questions", () => {
  beforeAll(async () => {
    const rules = [
      { gateway_code: "kawah", payment_method: "card", priority: 1, weight: 1 },
      { gateway_code: "nusantara", payment_method: "qris", priority: 1, weight: 1 },
    ];
    const { version } = await service.operate("POST", "/routing/rules", { rules });
    await service.operate("POST", `/routing/rules/${String(version)}/activate`);
  });

  async function reviewedThere(): Promise<{ reference: string; key: string }> {
    const { json } = await shop.client.post("/v1/payments", paymentBody({ payment_method: "card" }));
    const reference = json.reference as string;
    const key = kawah.opened.at(-1)?.operationKey ?? expect.unreachable();
    kawah.states.set(key, { status: "processing", isUnderReview: true });
    await report(service.origin, "kawah", { kind: "look", operationKey: key });
    await expect.poll(async () => outcomeOf(await ask("GET", `/reviews/${reference}`))).toBe("200");
    return { reference, key };
  }
  const statusOf = async (reference: string): Promise<string> =>
    (await service.operate("GET", `/payments/${reference}`)).payment.status as string;
  const underReview = async (reference: string): Promise<unknown[]> => {
    const { json } = await ask("GET", "/reviews?limit=100", { token: VIEWER_TOKEN });
    return (json.data as { reference: string }[]).filter((one) => one.reference === reference);
  };

  test.each([
    ["approve", "succeeded"],
    ["refuse", "failed"],
  ] as const)("waits for a person; %s is told there, and it has %s", async (word, status) => {
    const { reference, key } = await reviewedThere();
    const asking = { asked_by: "acquirer", decide_before: null };
    expect(await underReview(reference)).toMatchObject([{ reference, gateway_code: "kawah", ...asking }]);
    const { json } = await ask("GET", `/reviews/${reference}`, { token: VIEWER_TOKEN });
    expect(json).toMatchObject({ ...asking, payment: { status: "processing" } });
    const { data } = await service.operate("GET", "/waiting");
    const queue = (data as { kind: string; items: { id: string }[] }[]).find(({ kind }) => kind === "review");
    expect(queue?.items.filter(({ id }) => id === reference)).toMatchObject([{ due_at: null }]);
    const judged = await ask("POST", `/reviews/${reference}/${word}`, { body: { reason: "Known payer" } });
    expect(judged.json).toMatchObject({ reference, status: "processing" });
    await expect.poll(() => statusOf(reference)).toBe(status);
    expect(kawah.judged).toContainEqual([key, word]);
    expect(outcomeOf(await ask("POST", `/reviews/${reference}/${word}`))).toBe("404 PAYMENT_NOT_FOUND");
    expect(await underReview(reference)).toEqual([]);
  });

  test.each([
    ["as it is written now", "sari", "summary"],
    ["in the words of an earlier version", "dewi", "replace(summary, 'IDR ', '')"],
  ])(
    "is not taken by an approval of our own question that a stopped process left over: %s",
    async (_how, name, words) => {
      const demand = (actions: object) =>
        asOwner(service.database, (owner) =>
          owner.query(
            `insert into operator_approval_policies (version, rules, changed_by)
select coalesce(max(version), 0) + 1, $1, 'test' from operator_approval_policies`,
            [JSON.stringify(actions)],
          ),
        );
      await demand({ approve_review: {} });
      const reference = await reviewed({ payment_method: "card" });
      const { token } = await service.operate("POST", "/tokens", { name, role: "support" });
      const { approval } = (await ask("POST", `/reviews/${reference}/approve`, { token: token as string })).json;
      // Somebody else lets it go on, and its payer pays.
      await demand({});
      expect(outcomeOf(await ask("POST", `/reviews/${reference}/approve`))).toBe("200");
      const ordered = () => kawah.opened.find((one) => one.operationKey.startsWith(reference.replace("_", "")));
      await expect.poll(ordered).toBeDefined();
      const key = ordered()?.operationKey ?? expect.unreachable();
      kawah.states.set(key, { status: "processing", isUnderReview: true });
      await report(service.origin, "kawah", { kind: "look", operationKey: key });
      await expect.poll(async () => outcomeOf(await ask("GET", `/reviews/${reference}`))).toBe("200");
      // As if a process had stopped right after the second operator's decision.
      const trigger = "trigger operator_approvals_decided_once";
      await asOwner(service.database, async (owner) => {
        await owner.query(`alter table operator_approvals disable ${trigger}`);
        await owner.query(
          `update operator_approvals
set summary = ${words}, status = 'executing', decided_kind = 'token', decided_id = 'x', decided_by = 'budi', decided_made_at = asked_at - interval '1 day',
  decided_at = clock_timestamp(), run_id = gen_random_uuid(), attempts = 1, leased_until = clock_timestamp()
where approval_id = $1`,
          [uuidOf(approval.uuid as string)],
        );
        await owner.query(`alter table operator_approvals enable ${trigger}`);
      });
      const read = (): Promise<Record<string, unknown>> =>
        service.operate("GET", `/approvals/${approval.uuid as string}`);
      await expect.poll(async () => (await read()).status).not.toBe("executing");
      expect(await read()).toMatchObject({
        status: "failed",
        result: { body: { error: { code: "PAYMENT_NOT_PAYABLE", details: { status: "processing" } } } },
      });
      expect(await underReview(reference)).toMatchObject([{ asked_by: "acquirer" }]);
      expect(kawah.judged.filter(([judged]) => judged === key)).toEqual([]);
    },
  );
});
