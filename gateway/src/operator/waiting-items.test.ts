// Goal: whatever waits for a person is read in one call with all that a decision needs. Method: one of each kind made as it comes about, an acquirer that
// reports late money and contradicts itself; what each answer foresees is held against what the decision then does.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Answer, Client } from "../../../e2e/kit/client.ts";
import { type TestService, asOwner, paymentBody, startService } from "../../test/kit.ts";
import { VIEWER_TOKEN, operatorCaller, outcomeOf } from "../../test/operator.ts";
import { aPayment } from "../../test/payments.ts";
import { type ScriptedAcquirer, report, scriptedAcquirer } from "../../test/scripted-acquirer.ts";
import { readConfig } from "../ground/config.ts";
import { uuidOf } from "../ground/ids.ts";
import { operatorDisputeEndpoints } from "./disputes.routes.ts";
import { rank } from "./receipt-candidates.ts";
import { receiptEndpoints } from "./receipts.routes.ts";
import { reviewEndpoints } from "./reviews.routes.ts";
import { operatorSettlementEndpoints } from "./settlements.routes.ts";
import { waitingItemEndpoints } from "./waiting-items.routes.ts";

let service: TestService;
let bank: ScriptedAcquirer;
const none = {} as never;
const ask = operatorCaller(
  () => service,
  [
    ...waitingItemEndpoints(none),
    ...reviewEndpoints(none),
    ...receiptEndpoints(none, none, none),
    ...operatorDisputeEndpoints(none),
    ...operatorSettlementEndpoints(none),
  ],
);
const read = async (path: string): Promise<Answer["json"]> => (await ask("GET", path, { token: VIEWER_TOKEN })).json;

beforeAll(async () => {
  bank = scriptedAcquirer("merbabu", "production");
  const config = { ...readConfig({ NODE_ENV: "test" }), productionActive: true, operatorViewerToken: VIEWER_TOKEN };
  service = await startService({ config, acquirers: [bank], roles: ["api"] });
  const rules = ["merbabu", "cendana"].map((gateway_code) => ({ gateway_code, priority: 1, weight: 1 }));
  const { version } = await service.operate("POST", "/routing/rules", { rules });
  await service.operate("POST", `/routing/rules/${version}/activate`);
});
afterAll(() => service.stop());

const AMOUNT = 9_000_000;
const customer = { email: "sari@kopi.example" };

interface Effect {
  account: string;
  before_minor: number;
  change_minor: number;
  after_minor: number;
}

/** What a decision says of the book, and the book afterwards. */
async function expectForeseen(effects: Effect[], book: string, decide: () => Promise<Answer>): Promise<void> {
  expect((await decide()).status).toBe(200);
  const { currencies } = (await service.askOperator(book)).json;
  const { accounts } = currencies.find(({ currency }: { currency: string }) => currency === "IDR");
  expect(effects.length).toBeGreaterThanOrEqual(2);
  expect(effects.reduce((sum, { change_minor: change }) => sum + change, 0)).toBe(0);
  for (const { account, after_minor: after } of effects)
    expect(accounts.find((one: { account: string }) => one.account === account)?.balance_minor, account).toBe(after);
}

describe("late money", () => {
  /** Money for a payment that its merchant canceled; another order of the same payer waits. */
  async function late(client: Client): Promise<{ uuid: string; named: string; other: string }> {
    const make = async (changes: Record<string, unknown>): Promise<string> =>
      (await client.post("/v1/payments", paymentBody({ amount_minor: AMOUNT, customer, ...changes }))).json
        .reference as string;
    const named = await make({});
    const operationKey = bank.opened.at(-1)?.operationKey ?? "";
    await client.post(`/v1/payments/${named}/cancel`, {});
    const other = await make({});
    await make({ amount_minor: 5_000, customer: { email: "other@kopi.example" } });
    const receipt = { transactionId: `late-${named.slice(-8)}`, amountMinor: BigInt(AMOUNT), currency: "IDR" };
    const state = { status: "paid", receipt } as const;
    expect(await report(service.origin, "merbabu", { kind: "payment", operationKey, state })).toBe(200);
    const { data } = await read("/receipts?status=unapplied&limit=100");
    const found = data.find((one: { payment_reference: string }) => one.payment_reference === named);
    return { uuid: found.uuid, named, other };
  }

  test.each([
    ["credit", "credited"],
    ["return", "returned"],
  ])(
    "is read with what it may have been meant for; to %s it does to the book what was foreseen",
    async (word, status) => {
      const { client, merchantId } = await service.merchant({ environment: "production" });
      const { uuid, named, other } = await late(client);
      const { receipt, candidates, record, book, decisions } = await read(`/receipts/${uuid}`);
      expect(receipt).toMatchObject({ uuid, status: "unapplied", amount_minor: AMOUNT });
      expect(candidates.map((one: Record<string, unknown>) => [one.reference, one.signs])).toEqual([
        [named, ["named", "same_amount", "expired"]],
        [other, ["same_payer", "same_amount", "awaits_money"]],
      ]);
      expect(record.payment.reference).toBe(named);
      expect(book.accounts).toContainEqual(
        expect.objectContaining({ account: "platform:unapplied", balance_minor: -AMOUNT }),
      );
      const decision = decisions.find((one: { operation: string }) => one.operation === `${word}Receipt`);
      expect(decision).toMatchObject({
        path: `/ops/v1/receipts/${uuid}/${word}`,
        least_role: "admin",
        needs_approval: false,
        would_fail: null,
      });
      await expectForeseen(decision.effects as Effect[], `/merchants/${merchantId}/books/production`, async () => {
        const done = await ask("POST", `/receipts/${uuid}/${word}`);
        expect(done.json.status).toBe(status);
        return done;
      });
      expect(outcomeOf(await ask("GET", `/receipts/${uuid}`))).toBe("404 OBJECT_NOT_FOUND");
    },
  );

  test("candidates come by what speaks for them, each once, ten at most", () => {
    const made = (reference: string, changes: object) => ({ ...aPayment(), reference, ...changes });
    const named = made("pay_0", { status: "expired", amountMinor: 10n });
    const same = made("pay_1", { status: "pending", amountMinor: 10n });
    const paid = made("pay_2", { status: "succeeded", amountMinor: 10n });
    const less = made("pay_3", { status: "pending", amountMinor: 9n });
    const receipt = { paymentReference: "pay_0", amountMinor: 10n, currency: named.currency };
    const ranked = rank(receipt, named, { ofPayer: [less, same], ofAmount: [same, paid, named] });
    expect(ranked.map(({ reference, score }) => [reference, score])).toEqual([
      ["pay_0", 80],
      ["pay_1", 75],
      ["pay_3", 50],
      ["pay_2", 25],
    ]);
    const many = Array.from({ length: 30 }, (_, n) => made(`pay_x${n}`, { amountMinor: 10n }));
    expect(rank(receipt, named, { ofPayer: [], ofAmount: many })).toHaveLength(10);
  });
});

test("a disagreement is read with the payment that it is about", async () => {
  const { client, merchantId } = await service.merchant({ environment: "production" });
  const { reference } = (await client.post("/v1/payments", paymentBody({ amount_minor: AMOUNT }))).json;
  // As its room leaves one behind: the acquirer has told twice of the money, in two ways.
  await asOwner(service.database, async (owner) => {
    await owner.query("set session_replication_role = replica");
    await owner.query(
      `insert into reconciliation_exceptions (merchant_id, environment, exception_id, operation_id, attempt, kind, gateway_code, noticed_at)
values ($1, 'production', gen_random_uuid(), $2, 1, 'receipt', 'merbabu', now())`,
      [uuidOf(merchantId), uuidOf(reference)],
    );
  });
  const { data } = (await service.askOperator("/reconciliation-exceptions?status=open&limit=100")).json;
  const found = data.find((one: { operation: string }) => one.operation === reference);
  const { exception, record, book } = await read(`/reconciliation-exceptions/${found.uuid}`);
  expect([exception.kind, record.payment.reference, book.currency]).toEqual(["receipt", reference, "IDR"]);
});

test("a dispute is read with its evidence; each outcome does to the book what was foreseen", async () => {
  const { client, merchantId } = await service.merchant();
  const { reference } = (await client.post("/v1/payments", paymentBody({ amount_minor: AMOUNT }))).json;
  await client.post(`/v1/sandbox/payments/${reference}/simulate`, { outcome: "succeeded" });
  const { uuid } = (await client.post(`/v1/sandbox/payments/${reference}/dispute`, { reason: "general" })).json;
  const path = `/merchants/${merchantId}/books/sandbox/disputes/${uuid}`;
  expect((await read(path)).evidence).toBeNull();
  await service.app.submitEvidence({ merchantId, environment: "sandbox" }, uuid as string, {
    statement: "It came.",
    files: [],
  });
  const { dispute, evidence, record, decisions } = await read(path);
  expect([dispute.status, evidence.statement, record.payment.reference]).toEqual([
    "under_review",
    "It came.",
    reference,
  ]);
  expect(decisions.map((one: { body: { outcome: string } }) => one.body.outcome)).toEqual(["won", "lost", "withdrawn"]);
  const [, lost] = decisions;
  await expectForeseen(lost.effects as Effect[], `/merchants/${merchantId}/books/sandbox`, () =>
    ask("POST", `${path}/resolve`, { body: lost.body }),
  );
  const after = await read(path);
  expect(after.decisions.map((one: { would_fail: { code: string } }) => one.would_fail.code)).toEqual(
    Array(3).fill("DISPUTE_RESOLVED"),
  );
  expect(outcomeOf(await ask("GET", path.replace("/sandbox/", "/production/")))).toBe("404 OBJECT_NOT_FOUND");
});

test("a batch is read with its book; recording that it was paid does what was foreseen", async () => {
  const { client, merchantId } = await service.merchant({ name: "Kopi Melati" });
  const { reference } = (await client.post("/v1/payments", paymentBody({ amount_minor: AMOUNT }))).json;
  await client.post(`/v1/sandbox/payments/${reference}/simulate`, { outcome: "succeeded" });
  const [{ uuid }] = (await client.post("/v1/sandbox/settlements/run", {})).json.data;
  const path = `/merchants/${merchantId}/books/sandbox/settlements/${uuid}`;
  const { settlement, decisions } = await read(`${path}/record`);
  expect(settlement).toMatchObject({ status: "processing", merchant_id: merchantId, merchant_name: "Kopi Melati" });
  const due = await service.operate("GET", `/settlements?environment=sandbox&payout_date=${settlement.payout_date}`);
  expect(due.data).toContainEqual(settlement);
  const [pay] = decisions;
  const freeze = (is: boolean): Promise<unknown> =>
    service.operate("PATCH", `/merchants/${merchantId}`, { wallet_frozen: { IDR: is } });
  await freeze(true);
  // A payout of a frozen wallet is refused, and its return is not.
  const outlooks = (await read(`${path}/record`)).decisions as { would_fail: { code: string } | null }[];
  expect(outlooks.map(({ would_fail: refusal }) => refusal?.code)).toEqual(["WALLET_FROZEN", undefined]);
  await freeze(false);
  await expectForeseen(pay.effects as Effect[], `/merchants/${merchantId}/books/sandbox`, () =>
    ask("POST", `${path}/pay`, { body: {} }),
  );
  expect(outcomeOf(await ask("GET", `/merchants/${merchantId}/books/sandbox/settlements/set_1/record`))).toBe(
    "404 OBJECT_NOT_FOUND",
  );
});

test("a review is read with its book, and with whether letting it go on needs a second operator", async () => {
  const { client } = await service.merchant();
  const answer = await client.post(
    "/v1/payments",
    paymentBody({ amount_minor: AMOUNT, customer: { email: "a@review.test" } }),
  );
  const { reference } = answer.json.error.details;
  const before = await read(`/reviews/${reference}`);
  expect(before.book.currency).toBe("IDR");
  expect(before.decisions).toMatchObject([{ operation: "approvePayment", needs_approval: false, effects: [] }]);
  const actions = { approve_review: { above_minor: { IDR: AMOUNT - 1 } } };
  await service.operate("PUT", "/approvals/policy", { version: 0, actions });
  expect((await read(`/reviews/${reference}`)).decisions[0].needs_approval).toBe(true);
});

test.each(["/receipts/rcp_1", `/receipts/rcp_${"0".repeat(26)}`, `/reconciliation-exceptions/ctr_${"0".repeat(26)}`])(
  "%s is not found",
  async (path) => {
    expect(outcomeOf(await ask("GET", path))).toBe("404 OBJECT_NOT_FOUND");
  },
);
