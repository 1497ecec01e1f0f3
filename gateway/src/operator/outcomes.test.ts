// Goal: what an acquirer leaves open for a day can be ended by an operator, with a proof, once, by two people where the policy says so; and
// nobody else can. Method: an acquirer that never says, over HTTP; the books replayed at the end.
import { afterAll, beforeAll, beforeEach, expect, test, vi } from "vitest";
import type { Client } from "../../../e2e/kit/client.ts";
import { type TestService, asOwner, paymentBody, startService } from "../../test/kit.ts";
import { type OperatorAsk, VIEWER_TOKEN, operatorCaller, outcomeOf } from "../../test/operator.ts";
import { type ScriptedAcquirer, report, scriptedAcquirer } from "../../test/scripted-acquirer.ts";
import { readOperationKey } from "../acquiring/operation.ts";
import { uuidOf } from "../ground/ids.ts";
import { approvalEndpoints } from "./approvals.routes.ts";
import { outcomeEndpoints } from "./outcomes.routes.ts";
import { tokenEndpoints } from "./tokens.routes.ts";

let service: TestService;
let bank: ScriptedAcquirer;
let client: Client;
let merchantId: string;
const ask = operatorCaller(
  () => service,
  [...outcomeEndpoints({} as never), ...approvalEndpoints({} as never), ...tokenEndpoints({} as never, {} as never)],
);

beforeAll(async () => {
  bank = scriptedAcquirer("kawah");
  service = await startService({ config: { operatorViewerToken: VIEWER_TOKEN }, acquirers: [bank] });
  const { version } = await service.operate("POST", "/routing/rules", {
    rules: [{ gateway_code: "kawah", priority: 1, weight: 1 }],
  });
  await service.operate("POST", `/routing/rules/${version}/activate`);
});
beforeEach(async () => ({ client, merchantId } = await service.merchant()));
afterAll(() => service.stop());

const AMOUNT = 1_000_000;
const FEE = 7_000;
let transactions = 0;
const proof = "Kawah's letter of 20 November";

/** The key under which the bank was last called about this payment or refund; others may be tried again at any time. */
const keyOf = (id: string): string =>
  [...bank.opened, ...bank.refunds].findLast((call) => readOperationKey(call.operationKey)?.id === id)?.operationKey ??
  expect.unreachable(`${id} was not ordered`);

async function told(state: { status: "processing" } | { status: "paid"; transactionId: string }): Promise<string> {
  const { reference } = (await client.post("/v1/payments", paymentBody({ amount_minor: AMOUNT }))).json;
  const operationKey = keyOf(reference as string);
  const reported =
    state.status === "paid"
      ? { status: "paid" as const, receipt: { ...state, amountMinor: BigInt(AMOUNT), currency: "IDR" } }
      : state;
  bank.states.set(operationKey, reported);
  expect(await report(service.origin, "kawah", { kind: "payment", operationKey, state: reported })).toBe(200);
  return reference as string;
}

/** A refund that the bank has accepted and says nothing more of; `isOld`: since a day. `until`: the step to wait for. */
async function leftRefund(isOld = true, until = "polling"): Promise<string> {
  bank.refundStatus = "pending";
  const reference = await told({ status: "paid", transactionId: `trx-${++transactions}` });
  await told({ status: "paid", transactionId: `trx-${++transactions}` });
  const { uuid } = (await client.post("/v1/refunds", { payment_reference: reference, amount_minor: 400_000 })).json;
  const step = async () => (await service.askOperator(`/refunds/${uuid}`)).json.operation?.step;
  await vi.waitFor(async () => expect(await step()).toBe(until), 30_000);
  if (isOld) await aDayPasses(uuid as string);
  return uuid as string;
}

/** The bank reports a dispute over the whole payment. */
async function contested(reference: string): Promise<void> {
  const money = { amountMinor: BigInt(AMOUNT), currency: "IDR" };
  const dispute = { id: `dsp-${uuidOf(reference)}`, status: "open", reason: "fraudulent", ...money } as const;
  const about = { kind: "dispute", paymentOperationKey: keyOf(reference), dispute } as const;
  expect(await report(service.origin, "kawah", about)).toBe(200);
}

/** The bank pays all of it back, on request; another payment pays for that. */
async function refunded(reference: string): Promise<void> {
  bank.refundStatus = "succeeded";
  await told({ status: "paid", transactionId: `trx-${++transactions}` });
  await client.post("/v1/refunds", { payment_reference: reference });
  const status = async () => (await client.get(`/v1/payments/${reference}`)).json.status;
  await vi.waitFor(async () => expect(await status()).toBe("refunded"), 30_000);
}

async function leftPayment(): Promise<string> {
  const reference = await told({ status: "processing" });
  await aDayPasses(reference);
  return reference;
}

/** Makes an operation a day old, and asked about so often; once no worker has claimed it, who would write it anew. The next inquiry is far. */
async function aDayPasses(id: string, inquiries?: number): Promise<void> {
  const older = `update acquirer_operations
    set created_at = created_at - interval '1 day', due_at = now() + interval '5 minutes', inquiries = coalesce($2::integer, inquiries)
    where operation_id = $1::uuid and due_at not between now() + interval '20 seconds' and now() + interval '61 seconds'`;
  await vi.waitFor(async () => {
    const { rowCount } = await asOwner(service.database, (owner) => owner.query(older, [uuidOf(id), inquiries]));
    expect(rowCount).toBe(1);
  }, 90_000);
}

/** The record of a refund's payment, with what operators did to it. */
async function recordOf(uuid: string): Promise<{ reference: string; audit: Record<string, unknown>[] }> {
  const { payment_reference: reference, status } = (await client.get(`/v1/refunds/${uuid}`)).json;
  expect(status).toBe("succeeded");
  const { audit } = (await service.askOperator(`/payments/${reference}`)).json;
  return { reference: reference as string, audit: audit as Record<string, unknown>[] };
}

const record = (path: string, body: Record<string, unknown>, how: OperatorAsk = {}) =>
  ask("POST", `${path}/outcome`, { body: { proof, ...body }, ...how });

async function available(): Promise<number> {
  const { data } = (await client.get("/v1/balances")).json;
  return (data as { currency: string; available_minor: number }[]).find(({ currency }) => currency === "IDR")
    ?.available_minor as number;
}

async function expectClean(): Promise<void> {
  const { json } = await service.askOperator(`/merchants/${merchantId}/books/sandbox/verify`);
  expect(json).toMatchObject({ clean: true });
}

/** What waits for a person because its outcome is unknown. */
async function unknownOutcomes(): Promise<string[]> {
  const { data } = (await service.askOperator("/waiting?environment=sandbox")).json;
  return (data as { kind: string; items: { id: string }[] }[])
    .filter(({ kind }) => kind === "outcome_unknown")
    .flatMap(({ items }) => items.map(({ id }) => id));
}

test.each([
  ["succeeded", 0],
  ["failed", 400_000],
] as const)("a refund is recorded as %s: its merchant has it in the books, and is told", async (outcome, returned) => {
  const uuid = await leftRefund();
  const before = await available();
  const { status, json } = await record(`/refunds/${uuid}`, { outcome });
  expect([status, json.status, json.uuid]).toEqual([200, outcome, uuid]);
  expect(await available()).toBe(before + returned);
  const { data: events } = (await client.get(`/v1/events?type=refund.${outcome}`)).json;
  expect(events).toMatchObject([{ data: { uuid, status: outcome } }]);
  const { data: audit } = (await service.askOperator(`/audit?merchant_id=${merchantId}`)).json;
  expect(audit[0]).toMatchObject({ path: `/ops/v1/refunds/${uuid}/outcome`, status: 200, body: { outcome, proof } });
  expect(outcomeOf(await record(`/refunds/${uuid}`, { outcome }))).toBe("409 PAYMENT_NOT_PAYABLE");
  await expectClean();
});

test("what the acquirer says afterwards is a disagreement for a person", async () => {
  const uuid = await leftRefund();
  await record(`/refunds/${uuid}`, { outcome: "failed" });
  const operationKey = keyOf(uuid);
  await report(service.origin, "kawah", { kind: "refund", operationKey, status: "succeeded" });
  const { data } = (await service.askOperator("/reconciliation-exceptions?status=open")).json;
  expect(data).toMatchObject([{ kind: "refund_after_failure", operation: uuid }]);
  await expectClean();
});

test("a payment is recorded as paid, by its transaction, and the same report counts no second time", async () => {
  const reference = await leftPayment();
  const transactionId = `late-${uuidOf(reference)}`;
  const { status, json } = await record(`/payments/${reference}`, {
    outcome: "succeeded",
    transaction_id: transactionId,
  });
  expect([status, json.status, json.reference]).toEqual([200, "succeeded", reference]);
  expect((await client.get(`/v1/payments/${reference}`)).json.status).toBe("succeeded");
  const balance = await available();
  const operationKey = keyOf(reference);
  const receipt = { transactionId, amountMinor: BigInt(AMOUNT), currency: "IDR" };
  await report(service.origin, "kawah", { kind: "payment", operationKey, state: { status: "paid", receipt } });
  expect(await available()).toBe(balance);
  await expectClean();
});

test("a payment is recorded as failed, and money that comes after all waits for a person", async () => {
  const reference = await leftPayment();
  expect((await record(`/payments/${reference}`, { outcome: "failed" })).json.status).toBe("failed");
  const operationKey = keyOf(reference);
  const receipt = { transactionId: `late-${uuidOf(reference)}`, amountMinor: BigInt(AMOUNT), currency: "IDR" };
  await report(service.origin, "kawah", { kind: "payment", operationKey, state: { status: "paid", receipt } });
  const { data } = (await service.askOperator("/receipts?status=unapplied&limit=100")).json;
  expect(data).toContainEqual(expect.objectContaining({ payment_reference: reference, amount_minor: AMOUNT }));
  await expectClean();
});

test("a payment that is over, and whose acquirer never says whether money comes, waits for an operator and is ended", async () => {
  const { reference } = (await client.post("/v1/payments", paymentBody({ amount_minor: AMOUNT }))).json;
  bank.answersQuestions = false;
  await client.post(`/v1/payments/${reference}/cancel`, {});
  const operation = async () => (await service.askOperator(`/payments/${reference}`)).json.operations[0];
  await vi.waitFor(async () => expect((await operation()).step).toBe("inquiring"), 30_000);
  expect(outcomeOf(await record(`/payments/${reference}`, { outcome: "failed" }))).toBe("409 PAYMENT_NOT_PAYABLE");
  await aDayPasses(reference as string, 14);
  bank.answersQuestions = true;
  expect(await unknownOutcomes()).toContain(reference);

  const { decisions } = (await ask("GET", `/payments/${reference}/outcome`)).json;
  expect(decisions).toMatchObject([
    {
      summary: `Record that kawah took the IDR 10,000.00 of ${reference}, which is canceled: late money`,
      would_fail: null,
      effects: [{ account: "acquirer:kawah:receivable" }, { account: "platform:unapplied", change_minor: -AMOUNT }],
    },
    {
      summary: `Record that kawah took nothing for ${reference} of IDR 10,000.00: it stays canceled`,
      would_fail: null,
      effects: [],
    },
  ]);
  const transactionId = `late-${uuidOf(reference as string)}`;
  const { status, json } = await record(`/payments/${reference}`, {
    outcome: "succeeded",
    transaction_id: transactionId,
  });
  expect([status, json.status]).toEqual([200, "canceled"]);
  expect(await operation()).toMatchObject({ step: "done" });
  expect(await unknownOutcomes()).not.toContain(reference);
  const { data: late } = (await service.askOperator("/receipts?status=unapplied&limit=100")).json;
  expect(late).toContainEqual(expect.objectContaining({ payment_reference: reference, amount_minor: AMOUNT }));
  await expectClean();
});

test.each([
  ["succeeded", undefined, "took the IDR 10,000.00 of REF, which the book has: it stays succeeded", []],
  ["failed", undefined, "has no money of REF any more: it stays succeeded, and a disagreement waits", ["dispute"]],
  ["failed", contested, "has no money of REF any more: it stays succeeded", []],
  ["failed", refunded, "has no money of REF any more: it stays refunded", []],
] as const)(
  "a paid payment whose acquirer says that it failed, and then nothing, is ended as $0: $2",
  async (outcome, before, summary, disagreements) => {
    const transactionId = `trx-${++transactions}`;
    const reference = await told({ status: "paid", transactionId });
    await before?.(reference);
    const balance = await available();
    bank.answersQuestions = false;
    await report(service.origin, "kawah", {
      kind: "payment",
      operationKey: keyOf(reference),
      state: { status: "failed" },
    });
    const operation = async () => (await service.askOperator(`/payments/${reference}`)).json.operations[0];
    await vi.waitFor(async () => expect((await operation()).step).toBe("inquiring"), 30_000);
    await aDayPasses(reference, 14);
    bank.answersQuestions = true;
    expect(await unknownOutcomes()).toContain(reference);

    const { decisions } = (await ask("GET", `/payments/${reference}/outcome`)).json;
    const foreseen = (decisions as { body: { outcome: string } }[]).find(({ body }) => body.outcome === outcome);
    const expected = `Record that kawah ${summary.replace("REF", reference)}`;
    expect(foreseen).toMatchObject({ summary: expected, would_fail: null, effects: [] });
    const other = await record(`/payments/${reference}`, { outcome: "succeeded", transaction_id: "trx-none" });
    expect(outcomeOf(other)).toBe("422 VALIDATION_ERROR transaction_id");
    const done = await record(`/payments/${reference}`, {
      outcome,
      ...(outcome === "succeeded" && { transaction_id: transactionId }),
    });
    expect([done.status, done.json.status]).toEqual([200, before === refunded ? "refunded" : "succeeded"]);
    expect(await operation()).toMatchObject({ step: "done" });
    expect(await unknownOutcomes()).not.toContain(reference);
    expect(await available()).toBe(balance);
    const { data: open } = (await service.askOperator("/reconciliation-exceptions?status=open&limit=100")).json;
    const ofIt = (open as { kind: string; operation: string }[]).filter(({ operation: id }) => id === reference);
    expect(ofIt.map(({ kind }) => kind)).toEqual(disagreements);
    await expectClean();
  },
);

test("two operators at once, and one again: the payment ends once, as the first said", async () => {
  const reference = await leftPayment();
  const transactionId = `late-${uuidOf(reference)}`;
  const paid = { outcome: "succeeded", transaction_id: transactionId };
  const before = await available();
  const bodies = [paid, { outcome: "failed" }, paid, { outcome: "failed" }];
  const answers = await Promise.all(
    bodies.map((body) => record(`/payments/${reference}`, body, { key: "record-once" })),
  );
  const done = answers.filter(({ status }) => status === 200);
  expect(done).toHaveLength(1);
  expect(answers.filter((one) => outcomeOf(one) === "409 PAYMENT_NOT_PAYABLE")).toHaveLength(3);
  const { status } = (await client.get(`/v1/payments/${reference}`)).json;
  expect(status).toBe(done[0]?.json.status);
  expect(await available()).toBe(before + (status === "succeeded" ? AMOUNT - FEE : 0));
  await expectClean();
});

test("it is told beforehand what recording would do, or why it cannot be recorded", async () => {
  const [uuid, reference] = [await leftRefund(), await leftPayment()];
  const seen = async (path: string) => {
    const { decisions } = (await ask("GET", `${path}/outcome`, { token: VIEWER_TOKEN })).json;
    return decisions as { operation: string; would_fail: { message: string } | null; effects: unknown[] }[];
  };
  const [made, failed] = await seen(`/refunds/${uuid}`);
  expect([made?.would_fail, made?.effects, failed?.would_fail]).toEqual([null, [], null]);
  expect(failed).toMatchObject({
    operation: "recordRefundOutcome",
    summary: `Record that kawah never made the refund ${uuid} of IDR 4,000.00: the merchant gets the money back`,
    least_role: "admin",
    needs_approval: false,
    effects: [{ account: "merchant:available", change_minor: -400_000 }, { account: "acquirer:kawah:receivable" }],
  });
  expect((await seen(`/payments/${reference}`)).map(({ effects }) => effects.length)).toEqual([3, 0]);
  const young = await seen(`/refunds/${await leftRefund(false)}`);
  expect(young.map((one) => one.would_fail?.message)).toEqual([
    "Its acquirer has a day to say by itself what became of it.",
    "Its acquirer has a day to say by itself what became of it.",
  ]);
  // The payments are opened, and then the bank is down.
  bank.script = ["ok", "ok"];
  bank.otherwise = "down";
  const unreached = await seen(`/refunds/${await leftRefund(true, "planned")}`);
  bank.otherwise = "ok";
  expect(unreached[0]?.would_fail?.message).toBe("Its acquirer has not taken it on yet. The gateway goes on calling.");
  const [unknown] = await seen(`/payments/pay_${"0".repeat(26)}`);
  expect(unknown?.would_fail).toMatchObject({ message: "No such payment." });
});

test("a bad request changes nothing, and says which field", async () => {
  const [uuid, reference] = [await leftRefund(), await leftPayment()];
  const cases: [string, Record<string, unknown>, string][] = [
    [`/refunds/${uuid}`, { outcome: "pending" }, "422 VALIDATION_ERROR outcome"],
    [`/refunds/${uuid}`, { outcome: "failed", proof: "" }, "422 VALIDATION_ERROR proof"],
    [`/refunds/${uuid}`, { outcome: "failed", proof: undefined }, "422 VALIDATION_ERROR proof"],
    [`/refunds/${uuid}`, { outcome: "failed", transaction_id: "x" }, "422 VALIDATION_ERROR transaction_id"],
    [`/payments/${reference}`, { outcome: "succeeded" }, "422 VALIDATION_ERROR transaction_id"],
    [`/payments/${reference}`, { outcome: "succeeded", transaction_id: "a b" }, "422 VALIDATION_ERROR transaction_id"],
    [`/payments/${reference}`, { outcome: "failed", transaction_id: "x" }, "422 VALIDATION_ERROR transaction_id"],
    ["/refunds/rfd_nonsense", { outcome: "failed" }, "404 REFUND_NOT_FOUND"],
    [`/payments/pay_${"0".repeat(26)}`, { outcome: "failed" }, "404 PAYMENT_NOT_FOUND"],
  ];
  for (const [path, body, expected] of cases) expect(outcomeOf(await record(path, body)), path).toBe(expected);
  const asViewer = await record(`/refunds/${uuid}`, { outcome: "failed" }, { token: VIEWER_TOKEN });
  expect(outcomeOf(asViewer)).toBe("403 FORBIDDEN");
  expect((await client.get(`/v1/refunds/${uuid}`)).json.status).toBe("pending");
  expect((await client.get(`/v1/payments/${reference}`)).json.status).toBe("processing");
});

/** Makes two operators, and a policy that wants both for a record. Gives their tokens. */
async function twoOperators(...names: [string, string]): Promise<[string, string]> {
  const tokens = names.map(
    async (name) => (await ask("POST", "/tokens", { body: { name, role: "admin" } })).json.token,
  );
  const { version } = (await ask("GET", "/approvals/policy")).json;
  await ask("PUT", "/approvals/policy", { body: { version, actions: { record_outcome: {} } } });
  return (await Promise.all(tokens)) as [string, string];
}

test("where the policy wants two operators it waits, is done by the second, and never once the acquirer has said it", async () => {
  const [sari, budi] = await twoOperators("sari", "budi");
  const untold = await record(`/payments/${await leftPayment()}`, { outcome: "succeeded" }, { token: sari });
  expect(outcomeOf(untold)).toBe("422 VALIDATION_ERROR transaction_id");
  const uuid = await leftRefund();
  const asked = await record(`/refunds/${uuid}`, { outcome: "succeeded" }, { token: sari });
  expect([asked.status, asked.json.approval?.status]).toEqual([202, "waiting"]);
  expect((await client.get(`/v1/refunds/${uuid}`)).json.status).toBe("pending");
  const done = await ask("POST", `/approvals/${asked.json.approval.uuid}/approve`, { body: {}, token: budi });
  expect(done.json).toMatchObject({ status: "executed" });
  const { reference, audit } = await recordOf(uuid);
  expect(audit[0]).toMatchObject({ actor: "sari", approved_by: "budi", path: `/ops/v1/refunds/${uuid}/outcome` });
  expect((await client.get(`/v1/payments/${reference}`)).json.refunded_minor).toBe(400_000);

  const other = await leftRefund();
  const operationKey = keyOf(other);
  const late = (await record(`/refunds/${other}`, { outcome: "failed" }, { token: sari })).json.approval;
  await report(service.origin, "kawah", { kind: "refund", operationKey, status: "succeeded" });
  const failed = await ask("POST", `/approvals/${late.uuid}/approve`, { body: {}, token: budi });
  expect(failed.json).toMatchObject({ status: "failed" });
  expect((await client.get(`/v1/refunds/${other}`)).json.status).toBe("succeeded");
  await expectClean();
});

test("late money that the book has is named beforehand, and what has changed since it was asked for is not done", async () => {
  const { reference } = (await client.post("/v1/payments", paymentBody({ amount_minor: AMOUNT }))).json;
  const id = reference as string;
  bank.answersQuestions = false;
  await client.post(`/v1/payments/${id}/cancel`, {});
  const operation = async () => (await service.askOperator(`/payments/${id}`)).json.operations[0];
  await vi.waitFor(async () => expect((await operation()).step).toBe("inquiring"), 30_000);
  const pays = async (transactionId: string, amountMinor: bigint, of = id) => {
    const receipt = { transactionId, amountMinor, currency: "IDR" };
    const state = { status: "paid", receipt } as const;
    expect(await report(service.origin, "kawah", { kind: "payment", operationKey: keyOf(of), state })).toBe(200);
  };
  const [early, late] = [`early-${uuidOf(id)}`, `late-${uuidOf(id)}`];
  await pays(early, 400_000n);
  await aDayPasses(id, 14);
  bank.answersQuestions = true;
  const { decisions } = (await ask("GET", `/payments/${id}/outcome`)).json;
  expect((decisions as { summary: string }[]).map(({ summary }) => summary)).toEqual([
    `Record that kawah took the IDR 10,000.00 of ${id}, which is canceled: late money, beside that of ${early}`,
    `Record that kawah has no money of ${id} any more: it stays canceled, and a disagreement waits`,
  ]);

  const [tuti, joko] = await twoOperators("tuti", "joko");
  // What would be refused is refused before anybody is asked for approval.
  const open = await leftPayment();
  await pays(`part-${uuidOf(open)}`, 300_000n, open);
  const part = { outcome: "succeeded", transaction_id: `part-${uuidOf(open)}` };
  const refused = await record(`/payments/${open}`, part, { token: tuti });
  expect(outcomeOf(refused)).toBe("422 VALIDATION_ERROR transaction_id");
  const asking = async (transaction: string) =>
    (await record(`/payments/${id}`, { outcome: "succeeded", transaction_id: transaction }, { token: tuti })).json
      .approval;
  const approve = async (uuid: string) =>
    (await ask("POST", `/approvals/${uuid}/approve`, { body: {}, token: joko })).json;
  const [known, unknown] = [await asking(early), await asking(late)];
  expect(known).toMatchObject({
    summary: `Record that kawah took the IDR 4,000.00 of ${id}, which the book has: it stays canceled`,
    amount_minor: 400_000,
  });
  // The acquirer says it meanwhile: the money is in the book by now, and what was asked for would book it again.
  await pays(late, BigInt(AMOUNT));
  expect(await approve(unknown.uuid as string)).toMatchObject({ status: "failed" });
  expect((await operation()).step).toBe("inquiring");
  expect(await approve(known.uuid as string)).toMatchObject({ status: "executed" });
  expect((await operation()).step).toBe("done");
  const { data } = (await service.askOperator("/receipts?status=unapplied&limit=100")).json;
  const ofIt = (data as { payment_reference: string }[]).filter((one) => one.payment_reference === id);
  expect(ofIt).toMatchObject([{ transaction_id: early }, { transaction_id: late }]);
  await expectClean();
});
