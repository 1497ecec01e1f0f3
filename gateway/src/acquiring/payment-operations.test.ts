// Goal: what of acquirer operations needs HTTP, the database, a worker or two processes; the rules are in the pure tests beside. Method: the
// whole service on a real socket and database, before acquirers that do what the test says.
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import type { Answer, Client } from "../../../e2e/kit/client.ts";
import { type TestService, asOwner, openDatabase, paymentBody, startService } from "../../test/kit.ts";
import { type ScriptedAcquirer, report, scriptedAcquirer } from "../../test/scripted-acquirer.ts";
import type { ReportedState } from "../acquirers/acquirer.ts";
import { SECOND, systemClock } from "../ground/clock.ts";
import { uuidOf } from "../ground/ids.ts";
import { verifyBook } from "../ledger/verify.ts";
import type { Book } from "../merchants/books.ts";
import type { Database } from "../store/database.ts";
import { claimOperations } from "./operations.sql.ts";

let service: TestService;
let other: TestService;
let kawah: ScriptedAcquirer;
let kawahElsewhere: ScriptedAcquirer;
let reader: Database;
let client: Client;
let merchantId: string;

/** Cards go to `kawah` first and then to `lawu`, and to nobody else. */
let lawu: ScriptedAcquirer;
/** The errors in the service's log. */
const lines: string[] = [];

beforeAll(async () => {
  kawah = scriptedAcquirer("kawah");
  kawahElsewhere = scriptedAcquirer("kawah");
  lawu = scriptedAcquirer("lawu");
  const logTo = { write: (line: string) => void lines.push(line) };
  service = await startService({ acquirers: [kawah, lawu], logLevel: "error", logTo });
  other = await startService({
    database: service.database,
    roles: ["api"],
    acquirers: [kawahElsewhere, scriptedAcquirer("lawu")],
  });
  reader = openDatabase(service.database);
  const rules = [
    { gateway_code: "kawah", payment_method: "card", priority: 1, weight: 1 },
    { gateway_code: "lawu", payment_method: "card", priority: 2, weight: 1 },
    { gateway_code: "kawah", payment_method: "va", priority: 1, weight: 1 },
    { gateway_code: "cendana", payment_method: "va", priority: 2, weight: 1 },
    { gateway_code: "nusantara", payment_method: "qris", priority: 1, weight: 1 },
    { gateway_code: "kawah", payment_method: "ewallet", priority: 1, weight: 1 },
  ];
  const { version } = await service.operate("POST", "/routing/rules", { rules });
  await service.operate("POST", `/routing/rules/${version}/activate`);
});
afterAll(async () => {
  await Promise.all([service.stop(), other.stop()]);
  await reader.end();
});

beforeEach(async () => {
  ({ client, merchantId } = await service.merchant());
  Object.assign(kawah, {
    script: [],
    otherwise: "ok",
    answersQuestions: true,
    ordersMissing: false,
    refundStatus: "succeeded",
  });
  Object.assign(lawu, { script: [], otherwise: "ok" });
  // Enough that went well, so that the few failures of a test open no circuit.
  await Promise.all(Array.from({ length: 8 }, () => create(byCard())));
  for (const remembered of [kawah.opened, kawah.asked, kawah.refunds, lawu.opened]) remembered.length = 0;
});
afterEach(async () => {
  for (const environment of ["sandbox", "production"] as const)
    expect(await verifyBook(reader, { merchantId, environment })).toMatchObject({ wrong: undefined });
});

const sandboxOf = (merchant: string): Book => ({ merchantId: merchant, environment: "sandbox" });
const newKey = (): string => `key-${crypto.randomUUID()}`;
const outcome = ({ status, headers, json }: Answer): string =>
  [status, json?.error?.code ?? json?.status, headers.get("x-idempotent-replay") && "replay"].filter(Boolean).join(" ");
const create = (body: Record<string, unknown>, key = newKey(), by = client): Promise<Answer> =>
  by.post("/v1/payments", body, { key });
const scenario = (name: string): Record<string, unknown> => paymentBody({ metadata: { "sandbox.scenario": name } });
const byCard = (changes: Record<string, unknown> = {}): Record<string, unknown> =>
  paymentBody({ payment_method: "card", ...changes });
const read = async (reference: string): Promise<Answer["json"]> => (await client.get(`/v1/payments/${reference}`)).json;
const find = async (body: Record<string, unknown>): Promise<Answer["json"][]> =>
  (await client.get(`/v1/payments?reference_id=${String(body.reference_id)}`)).json.data;
const patiently = { timeout: 30_000, interval: 150 };

async function events(reference: string): Promise<string[]> {
  const rows = await reader.query<{ type: string }>({
    text: "select type from events where merchant_id = $1::uuid and subject_id = $2::uuid order by event_id",
    values: [uuidOf(merchantId), uuidOf(reference)],
  });
  return rows.map(({ type }) => type.replace("payment.", ""));
}

/** What waits for a person about a payment or a refund. */
async function exceptionsOf(id: string): Promise<string[]> {
  const { data } = await service.operate("GET", "/reconciliation-exceptions?status=open&limit=100");
  const all = data as { uuid: string; operation: string; kind: string }[];
  return all.filter(({ operation }) => operation === id).map(({ kind }) => kind);
}

async function receiptsOf(reference: string): Promise<string[]> {
  const { data } = await service.operate("GET", "/receipts?limit=100");
  return (data as { payment_reference: string; status: string }[])
    .filter((receipt) => receipt.payment_reference === reference)
    .map(({ status }) => status);
}

const paid = (transactionId: string, amountMinor = 150_000n, currency = "IDR"): ReportedState => ({
  status: "paid",
  receipt: { transactionId, amountMinor, currency },
});
const say = (operationKey: string, state: ReportedState, code = "kawah"): Promise<number> =>
  report(service.origin, code, { kind: "payment", operationKey, state });

/** The worker takes it up at its next round. */
async function makeDue(id: string): Promise<void> {
  await asOwner(service.database, (owner) =>
    owner.query("update acquirer_operations set due_at = now() where operation_id = $1 and due_at is not null", [
      uuidOf(id),
    ]),
  );
}

async function stepOf(id: string): Promise<string | undefined> {
  const [row] = await reader.query<{ step: string }>({
    text: "select step from acquirer_operations where merchant_id = $1::uuid and operation_id = $2::uuid",
    values: [uuidOf(merchantId), uuidOf(id)],
  });
  return row?.step;
}

/** A payment that kawah has taken, and the name of the call. */
async function opened(body = byCard()): Promise<{ reference: string; operationKey: string; created: Answer }> {
  const created = await create(body);
  expect(outcome(created)).toBe("201 pending");
  const { reference } = created.json;
  const request = kawah.opened.findLast((candidate) => candidate.reference === reference);
  return { reference, operationKey: request?.operationKey ?? "", created };
}

test("GATEWAY_ERROR stores nothing: the same key tries again, on the same payment, and another key cannot", async () => {
  const body = scenario("gateway_error");
  const key = newKey();
  expect(outcome(await create(body, key))).toBe("502 GATEWAY_ERROR");
  const [first] = await find(body);
  expect(first).toMatchObject({ status: "pending", gateway_code: null });
  expect(outcome(await create(body, key))).toBe("502 GATEWAY_ERROR");
  expect(await find(body)).toMatchObject([{ reference: first.reference }]);
  expect(outcome(await create(body))).toBe("409 REFERENCE_ID_DUPLICATE");
  expect(outcome(await create({ ...body, amount_minor: 1 }, key))).toBe("409 IDEMPOTENCY_CONFLICT");
  const simulated = await client.post(`/v1/sandbox/payments/${first.reference}/simulate`, { outcome: "succeeded" });
  expect(outcome(simulated)).toBe("409 PAYMENT_NOT_PAYABLE");
  expect(await events(first.reference)).toEqual([]);
});

test("an error that passes: the second try with the same key is a creation, the third a replay of it", async () => {
  const body = scenario("gateway_error_once");
  const key = newKey();
  expect(outcome(await create(body, key))).toBe("502 GATEWAY_ERROR");
  const [waiting] = await find(body);
  const second = await create(body, key);
  expect(outcome(second)).toBe("201 pending");
  expect(second.json).toMatchObject({ reference: waiting.reference, gateway_code: "nusantara" });
  expect(second.json.instructions.qr_string).toMatch(/^000201/);
  const third = await create(body, key);
  expect([outcome(third), third.text]).toEqual(["200 pending replay", second.text]);
  expect(await events(waiting.reference)).toEqual(["created"]);
});

test("GATEWAY_TIMEOUT keeps the key in progress until a worker has inquired, and then its answer is replayed", async () => {
  const body = scenario("gateway_timeout");
  const key = newKey();
  expect(outcome(await create(body, key))).toBe("504 GATEWAY_TIMEOUT");
  expect(outcome(await create(body, key))).toBe("409 IDEMPOTENCY_IN_PROGRESS");
  await vi.waitFor(async () => expect(outcome(await create(body, key))).toBe("200 pending replay"), patiently);
  const [payment] = await find(body);
  expect(payment).toMatchObject({ status: "pending", gateway_code: "nusantara" });
  expect(await events(payment.reference)).toEqual(["created"]);
});

test("auto_success and decline are decided by the simulator, slow only takes its time", async () => {
  const [success, decline, slow] = await Promise.all(
    ["auto_success", "decline", "slow"].map((name) => create(scenario(name))),
  );
  for (const answer of [success, decline, slow]) expect(outcome(answer as Answer)).toBe("201 pending");
  const statusOf = async (answer: Answer | undefined): Promise<string> => (await read(answer?.json.reference)).status;
  await vi.waitFor(async () => {
    expect(await statusOf(success)).toBe("succeeded");
    expect(await statusOf(decline)).toBe("failed");
  }, patiently);
  expect(await receiptsOf(success?.json.reference)).toEqual(["applied"]);
  expect(await events(decline?.json.reference)).toEqual(["created", "failed"]);
  expect(await statusOf(slow)).toBe("pending");
});

test("what the simulator decides a second after the creation comes before an expiry that the sandbox's clock is moved past", async () => {
  const names = [...Array<string>(40).fill("auto_success"), "decline"];
  const created = await Promise.all(names.map((name) => create(scenario(name))));
  await client.post("/v1/sandbox/clock/advance", { seconds: 3600 });
  const found = await Promise.all(created.map(({ json }) => read(json.reference)));
  expect(found.map(({ status }) => status)).toEqual([...Array<string>(40).fill("succeeded"), "failed"]);
  expect(await receiptsOf(created[0]?.json.reference)).toEqual(["applied"]);
});

test("a definite no goes to the next candidate in the same request, remote or not", async () => {
  kawah.script = ["refuse", "refuse"];
  const remote = await create(byCard());
  expect([outcome(remote), remote.json.gateway_code]).toEqual(["201 pending", "lawu"]);
  const local = await create(paymentBody({ payment_method: "va" }));
  expect([outcome(local), local.json.gateway_code]).toEqual(["201 pending", "cendana"]);
  for (const [answer, taker] of [
    [remote, "lawu"],
    [local, "cendana"],
  ] as const) {
    const [row] = await reader.query<{ routing: string }>({
      text: "select routing from payments where merchant_id = $1::uuid and payment_id = $2::uuid",
      values: [uuidOf(merchantId), uuidOf(answer.json.reference)],
    });
    expect(row?.routing).toContain('"gateway_code":"kawah","verdict":"refused"');
    expect(row?.routing).toContain(`"gateway_code":"${taker}","verdict":"chosen"`);
  }
  expect(await events(local.json.reference)).toEqual(["created"]);
});

test("each call has an operation key of its own, also when everybody refuses and the merchant tries again", async () => {
  kawah.otherwise = lawu.otherwise = "refuse";
  const body = byCard();
  const key = newKey();
  expect(outcome(await create(body, key))).toBe("502 GATEWAY_ERROR");
  expect(outcome(await create(body, key))).toBe("502 GATEWAY_ERROR");
  kawah.otherwise = "ok";
  expect(outcome(await create(body, key))).toBe("201 pending");
  const keys = [...kawah.opened, ...lawu.opened].map(({ operationKey }) => operationKey);
  expect(new Set(keys).size).toBe(5);
  for (const name of keys) expect(name).toMatch(/^[a-z0-9.]{1,64}$/);
});

test("a call that never arrived is found to be so, and then the same key goes on", async () => {
  kawah.script = ["unheard"];
  const body = byCard();
  const key = newKey();
  expect(outcome(await create(body, key))).toBe("504 GATEWAY_TIMEOUT");
  await vi.waitFor(async () => expect(outcome(await create(body, key))).toBe("201 pending"), patiently);
  expect(kawah.opened).toHaveLength(2);
  expect(kawah.opened[0]?.operationKey).not.toBe(kawah.opened[1]?.operationKey);
});

test("as long as nobody answers, nothing is repeated and nothing is taken for failed", async () => {
  kawah.script = ["lost"];
  kawah.answersQuestions = false;
  const body = byCard();
  const key = newKey();
  expect(outcome(await create(body, key))).toBe("504 GATEWAY_TIMEOUT");
  await vi.waitFor(() => expect(kawah.asked.length).toBeGreaterThanOrEqual(2), patiently);
  expect(outcome(await create(body, key))).toBe("409 IDEMPOTENCY_IN_PROGRESS");
  expect((await find(body))[0]).toMatchObject({ status: "pending", gateway_code: null });
  expect(kawah.opened).toHaveLength(1);
  kawah.answersQuestions = true;
  await vi.waitFor(async () => expect(outcome(await create(body, key))).toBe("200 pending replay"), patiently);
});

test("a notification may come before the answer to the call: the payer has paid, and the creation is answered when it was", async () => {
  kawah.script = ["lost"];
  kawah.answersQuestions = false;
  const body = byCard();
  const key = newKey();
  expect(outcome(await create(body, key))).toBe("504 GATEWAY_TIMEOUT");
  const [{ reference }] = await find(body);
  expect(await say(kawah.opened[0]?.operationKey ?? "", paid("early"))).toBe(200);
  expect(await read(reference)).toMatchObject({ status: "succeeded", gateway_code: "kawah" });
  kawah.answersQuestions = true;
  await vi.waitFor(async () => expect(outcome(await create(body, key))).toBe("200 succeeded replay"), patiently);
  expect(await events(reference)).toEqual(["created", "succeeded"]);
});

test("notifications that come twice, at the same time, or in another order than they happened count once", async () => {
  const { reference, operationKey } = await opened();
  const notifications: ReportedState[] = [
    paid("t-1"),
    { status: "processing" },
    paid("t-1"),
    { status: "failed" },
    paid("t-1"),
  ];
  expect(await Promise.all(notifications.map((one) => say(operationKey, one)))).toEqual([200, 200, 200, 200, 200]);
  expect((await read(reference)).status).toMatch(/^(succeeded|failed)$/);
  const again = await opened();
  const inOrder: ReportedState[] = [
    { status: "processing" },
    paid("t-2"),
    { status: "processing" },
    paid("t-2"),
    { status: "failed" },
  ];
  for (const one of inOrder) expect(await say(again.operationKey, one)).toBe(200);
  expect(await read(again.reference)).toMatchObject({ status: "succeeded" });
  expect(await receiptsOf(again.reference)).toEqual(["applied"]);
  expect(await events(again.reference)).toEqual(["created", "processing", "succeeded"]);
});

test("the database refuses money that nobody awaited, or that was decided, without a journal of its own", async () => {
  const { reference, operationKey } = await opened();
  await client.post(`/v1/payments/${reference}/cancel`, {});
  for (const transaction of ["u-3", "u-4"]) expect(await say(operationKey, paid(transaction))).toBe(200);
  expect(await receiptsOf(reference)).toEqual(["unapplied", "unapplied"]);
  await asOwner({ ...service.database, ownerUrl: service.database.url }, async (role) => {
    const third = `insert into receipts (merchant_id, environment, receipt_id, gateway_code, transaction_id, payment_id, amount_minor, currency, status, received_at)
select merchant_id, environment, gen_random_uuid(), gateway_code, 'u-5', payment_id, amount_minor, currency, 'unapplied', received_at
from receipts where payment_id = $1 limit 1`;
    const decided = "update receipts set status = 'credited', decided_at = now() where payment_id = $1";
    const applied = third.replace("'unapplied'", "'applied'");
    for (const change of [third, decided, applied]) {
      await role.query("begin");
      await role.query(change, [uuidOf(reference)]);
      await expect(role.query("set constraints all immediate"), change).rejects.toThrow(/without a (journal|capture)/);
      await role.query("rollback");
    }
  });
});

test("the database refuses a second receipt that pays one payment", async () => {
  const { reference, operationKey } = await opened();
  expect(await say(operationKey, paid("u-6"))).toBe(200);
  const second = asOwner({ ...service.database, ownerUrl: service.database.url }, (role) =>
    role.query(
      `insert into receipts (merchant_id, environment, receipt_id, gateway_code, transaction_id, payment_id, amount_minor, currency, status, received_at)
select merchant_id, environment, gen_random_uuid(), gateway_code, 'u-7', payment_id, amount_minor, currency, 'applied', received_at
from receipts where payment_id = $1`,
      [uuidOf(reference)],
    ),
  );
  await expect(second).rejects.toThrow(/receipts_applied/);
  expect(await receiptsOf(reference)).toEqual(["applied"]);
});

test("an operator gives unapplied money back, or to the merchant, once", async () => {
  const [back, kept] = [await opened(), await opened()];
  for (const { reference, operationKey } of [back, kept]) {
    await client.post(`/v1/payments/${reference}/cancel`, {});
    // The same transaction of the acquirer, named for another payment, is a mistake that it should hear of.
    expect(await say(operationKey, paid("u-1"))).toBe(reference === back.reference ? 200 : 422);
    expect(await receiptsOf(reference)).toEqual(reference === back.reference ? ["unapplied"] : []);
  }
  expect(await say(back.operationKey, paid("u-1", 1n))).toBe(422);
  // A person hears of both mistakes, too, and monitoring of each once.
  expect(await say(back.operationKey, paid("u-1", 1n))).toBe(422);
  for (const { reference } of [back, kept]) {
    expect(await exceptionsOf(reference)).toEqual(["receipt"]);
    const told = lines.filter((line) => line.includes(reference)).map((line) => JSON.parse(line) as object);
    expect(told).toMatchObject([
      { kind: "receipt", gateway_code: "kawah", msg: "a reconciliation exception was recorded" },
    ]);
  }
  await say(kept.operationKey, paid("u-2"));
  const { data } = await service.operate("GET", "/receipts?status=unapplied&limit=100");
  const uuidFor = (reference: string): string =>
    (data as { payment_reference: string; uuid: string }[]).find((row) => row.payment_reference === reference)?.uuid ??
    "";
  expect(await service.operate("POST", `/receipts/${uuidFor(back.reference)}/return`)).toMatchObject({
    status: "returned",
  });
  expect(await service.operate("POST", `/receipts/${uuidFor(kept.reference)}/credit`)).toMatchObject({
    status: "credited",
  });
  await expect(service.operate("POST", `/receipts/${uuidFor(kept.reference)}/return`)).rejects.toThrow(/NOT_PAYABLE/);
  // Money that comes after that waits for a decision of its own.
  for (const { reference, operationKey } of [back, kept])
    expect(await say(operationKey, paid(`again-${reference.slice(-8)}`))).toBe(200);
  expect(await receiptsOf(back.reference)).toEqual(["returned", "unapplied"]);
  expect(await receiptsOf(kept.reference)).toEqual(["credited", "unapplied"]);
  expect((await client.get("/v1/balances")).json.data[0].available_minor).toBe(150_000);
  // What was credited is paid out, once.
  const batch = { gross_minor: 150_000, fee_minor: 0, refund_minor: 0, net_minor: 150_000, payment_count: 0 };
  const { data: formed } = (await client.post("/v1/sandbox/settlements/run", {})).json;
  expect(formed).toMatchObject([batch]);
  expect((await client.get(`/v1/settlements/${formed[0].uuid}/statement`)).text).toContain(
    `receipt,${uuidFor(kept.reference)}`,
  );
  expect((await client.post("/v1/sandbox/settlements/run", {})).json.data).toEqual([]);
});

test("money that nobody awaited and that its acquirer takes back tells a person, once", async () => {
  const { reference, operationKey } = await opened();
  await client.post(`/v1/payments/${reference}/cancel`, {});
  expect(await say(operationKey, paid("late-1"))).toBe(200);
  await expect.poll(() => stepOf(reference), patiently).toBe("done");
  // An old report is no proof: the acquirer still says that it has the money.
  kawah.states.set(operationKey, paid("late-1"));
  const before = kawah.asked.length;
  expect(await say(operationKey, { status: "failed" })).toBe(200);
  await expect.poll(() => kawah.asked.length, patiently).toBeGreaterThan(before);
  await expect.poll(() => stepOf(reference), patiently).toBe("done");
  expect(await exceptionsOf(reference)).toEqual([]);
  kawah.states.set(operationKey, { status: "failed" });
  for (let time = 0; time < 2; time++) {
    expect(await say(operationKey, { status: "failed" })).toBe(200);
    await expect.poll(() => exceptionsOf(reference), patiently).toEqual(["dispute"]);
    await expect.poll(() => stepOf(reference), patiently).toBe("done");
  }
  expect(await receiptsOf(reference)).toEqual(["unapplied"]);
});

test("a notification of a stranger, or of an operation that was never requested, moves nothing", async () => {
  const { reference, operationKey } = await opened();
  const callback = { kind: "payment", operationKey, state: paid("x-1") } as const;
  expect(await report(service.origin, "kawah", callback, "lawu")).toBe(401);
  expect(await report(service.origin, "nobody", callback)).toBe(404);
  expect(await report(service.origin, "nusantara", callback)).toBe(404);
  for (const name of [
    "",
    "pay.x.s1",
    operationKey.replace(/s1$/, "s2"),
    operationKey.replace("pay", "rfd"),
    `${operationKey}1`,
  ])
    expect(await report(service.origin, "kawah", { ...callback, operationKey: name })).toBe(404);
  const stranger = await service.merchant();
  const stolen = operationKey.replace(/\.[^.]+\./, `.${stranger.merchantId.slice(4)}.`);
  expect(await report(service.origin, "kawah", { ...callback, operationKey: stolen })).toBe(404);
  // Another acquirer was never asked for this payment: it has no word about it.
  expect(await say(operationKey, { status: "failed" }, "lawu")).toBe(404);
  expect(await say(operationKey, paid("x-2"), "lawu")).toBe(404);
  expect(await read(reference)).toMatchObject({ status: "pending" });
  expect(await receiptsOf(reference)).toEqual([]);
  // The kind is said twice, in the key and beside it, and must be the same.
  const mistaken = { kind: "refund", operationKey, status: "succeeded" } as const;
  expect(await report(service.origin, "kawah", mistaken)).toBe(404);
  expect(await read(reference)).toMatchObject({ status: "pending" });
});

test("a key that stands for another request by now is left alone by the first one's late outcome", async () => {
  kawah.script = ["lost"];
  kawah.answersQuestions = false;
  const key = newKey();
  expect(outcome(await create(byCard(), key))).toBe("504 GATEWAY_TIMEOUT");
  const [first] = kawah.opened;
  await client.post("/v1/sandbox/clock/advance", { seconds: 73 * 3600 });
  const body = byCard();
  const renewed = await create(body, key);
  expect(outcome(renewed)).toBe("201 pending");
  kawah.answersQuestions = true;
  await makeDue(first?.reference ?? "");
  await vi.waitFor(async () => expect(await stepOf(first?.reference ?? "")).toBe("done"), patiently);
  const again = await create(body, key);
  expect([outcome(again), again.text]).toEqual(["200 pending replay", renewed.text]);
});

test("who has taken a payment keeps it, whatever it says later, and its money is the payment's", async () => {
  const { reference, operationKey } = await opened();
  kawah.forget(operationKey);
  await makeDue(reference);
  await vi.waitFor(() => expect(kawah.asked).toContain(operationKey), patiently);
  await vi.waitFor(async () => expect(await exceptionsOf(reference)).toEqual(["forgotten"]), patiently);
  expect(await stepOf(reference)).toBe("polling");
  expect(await say(operationKey, paid("kept"))).toBe(200);
  expect(await read(reference)).toMatchObject({ status: "succeeded", gateway_code: "kawah" });

  // It reports the payment, and answers the call that opened it with a no.
  kawah.script = ["refuse late"];
  const body = byCard();
  const key = newKey();
  const creation = create(body, key);
  await vi.waitFor(() => expect(kawah.opened).toHaveLength(2), patiently);
  const name = kawah.opened[1]?.operationKey ?? "";
  expect(await say(name, { status: "processing" })).toBe(200);
  kawah.letGo();
  expect(outcome(await creation)).toBe("504 GATEWAY_TIMEOUT");
  expect(lawu.opened).toHaveLength(0);
  expect(await say(name, paid("kept-2"))).toBe(200);
  expect((await find(body))[0]).toMatchObject({ status: "succeeded", gateway_code: "kawah" });
});

test("a number that nobody was called under yet is no operation of anybody's", async () => {
  kawah.otherwise = lawu.otherwise = "refuse";
  const body = byCard();
  expect(outcome(await create(body))).toBe("502 GATEWAY_ERROR");
  const [{ reference }] = await find(body);
  const next = (kawah.opened[0]?.operationKey ?? "").replace(/s1$/, "s3");
  expect(await stepOf(reference)).toBe("retryable");
  for (const code of ["kawah", "lawu"]) expect(await say(next, { status: "processing" }, code)).toBe(404);
  expect(await read(reference)).toMatchObject({ status: "pending", gateway_code: null });
});

test("two processes: while one calls, the other says in progress; a worker asks when the caller is gone", async () => {
  kawahElsewhere.script = ["held"];
  const body = byCard();
  const key = newKey();
  const elsewhere = new (client.constructor as typeof Client)({
    ...client.credentials,
    base_url: `${other.origin}/v1`,
  });
  const first = create(body, key, elsewhere);
  await vi.waitFor(() => expect(kawahElsewhere.opened).toHaveLength(1), patiently);
  expect(outcome(await create(body, key))).toBe("409 IDEMPOTENCY_IN_PROGRESS");
  expect(kawah.opened).toHaveLength(0);
  expect(outcome(await first)).toBe("504 GATEWAY_TIMEOUT");
  // Its worker would wait for its own caller's deadline; this one belongs to nobody any more.
  await asOwner(service.database, (owner) =>
    owner.query("update acquirer_operations set step = 'calling', due_at = now() where idempotency_key = $1", [key]),
  );
  await vi.waitFor(async () => expect(outcome(await create(body, key))).toBe("201 pending"), patiently);
  kawahElsewhere.letGo();
  expect(kawah.opened).toHaveLength(1);
});

test("a lost notification is made up for by an inquiry before the payment's time is over, and money that came after it is seen too", async () => {
  const { reference, operationKey } = await opened();
  kawah.states.set(operationKey, paid("quiet"));
  await makeDue(reference);
  await vi.waitFor(async () => expect(await read(reference)).toMatchObject({ status: "succeeded" }), patiently);
  expect(await receiptsOf(reference)).toEqual(["applied"]);
});

test("a cancelled payment is ended at its acquirer, and what was said is kept", async () => {
  kawah.voice = { message: (call) => ({ about: call, status: 200, text: "{}" }), providerIds: () => ({}) };
  const { reference } = (await create(byCard())).json;
  expect((await client.post(`/v1/payments/${reference}/cancel`, {})).status).toBe(200);
  const ended = (): string[] => kawah.ended.filter((key) => key.startsWith(reference.replace("_", "")));
  await expect.poll(ended, patiently).toHaveLength(1);
  const exchanged = () =>
    reader.query<{ call: string }>({
      text: "select call from acquirer_messages where payment_id = $1::uuid and call = 'cancel'",
      values: [uuidOf(reference)],
    });
  await expect.poll(exchanged, patiently).toHaveLength(1);
  expect(await read(reference)).toMatchObject({ status: "canceled" });
  expect(await events(reference)).toEqual(["created", "canceled"]);
  kawah.voice = undefined;
});

test("an inquiry is not claimed of an acquirer that has enough of them, and a planned call is", async () => {
  const { reference } = (await create(byCard())).json;
  const claim = async (inquiring: string[]): Promise<string[]> => {
    const hour = 3_600 * SECOND;
    const statement = claimOperations(systemClock.now() + hour, { limit: 100, book: sandboxOf(merchantId), inquiring });
    return (await reader.query(statement)).map(({ operation_id }) => operation_id as string);
  };
  expect(await claim(["kawah"])).toEqual([]);
  expect(await claim(["lawu"])).toContain(uuidOf(reference));
  await asOwner(service.database, (owner) =>
    owner.query(
      "update acquirer_operations set step = 'planned', due_at = now() + interval '1 minute' where operation_id = $1",
      [uuidOf(reference)],
    ),
  );
  expect(await claim(["kawah"])).toContain(uuidOf(reference));
});

test("an approval is followed by a call: the worker makes it, and the merchant is told when it has an answer", async () => {
  kawah.script = ["refuse"];
  lawu.script = ["refuse"];
  const held = await create(byCard({ customer: { email: "someone@review.test" } }));
  const { reference } = held.json.error.details;
  await service.operate("POST", `/reviews/${reference}/approve`);
  await vi.waitFor(async () => expect((await read(reference)).gateway_code).toMatch(/^(kawah|lawu)$/), patiently);
  expect(await events(reference)).toEqual(["created"]);
});

test("refunds: asked for after the commit, and completed by whatever answer comes", async () => {
  const { reference, operationKey } = await opened(byCard({ amount_minor: 9_000_000 }));
  await say(operationKey, paid("r-1", 9_000_000n));
  const refund = (amount: number): Promise<Answer> =>
    client.post("/v1/refunds", { payment_reference: reference, amount_minor: amount });
  const statusOf = async (uuid: string): Promise<string> => (await client.get(`/v1/refunds/${uuid}`)).json.status;
  const concludes = async (amount: number, status: string): Promise<void> => {
    const answer = await refund(amount);
    expect(outcome(answer)).toBe("201 pending");
    await vi.waitFor(async () => expect(await statusOf(answer.json.uuid)).toBe(status), patiently);
  };
  await concludes(10_000, "succeeded");
  kawah.script = ["lost"];
  await concludes(10_001, "succeeded");
  kawah.script = ["unheard"];
  await concludes(10_002, "succeeded");
  kawah.refundStatus = "failed";
  await concludes(10_003, "failed");
  kawah.refundStatus = "pending";
  const waiting = await refund(10_004);
  await vi.waitFor(() => expect(kawah.refunds.at(-1)?.amountMinor).toBe(10_004n), patiently);
  const name = kawah.refunds.at(-1)?.operationKey ?? "";
  for (const status of ["succeeded", "succeeded", "failed"] as const)
    expect(await report(service.origin, "kawah", { kind: "refund", operationKey: name, status })).toBe(200);
  expect(await statusOf(waiting.json.uuid)).toBe("succeeded");
  expect(await read(reference)).toMatchObject({ status: "partially_refunded", refunded_minor: 40_007 });
  expect(new Set(kawah.refunds.map((request) => request.paymentOperationKey))).toEqual(new Set([operationKey]));
});

test("a refund that an earlier call has carried out after all is not carried out again", async () => {
  const { reference, operationKey } = await opened(byCard({ amount_minor: 9_000_000 }));
  await say(operationKey, paid("e-1", 9_000_000n));
  kawah.script = ["refuse", "unheard"];
  kawah.answersQuestions = false;
  const { json } = await client.post("/v1/refunds", { payment_reference: reference, amount_minor: 1 });
  await vi.waitFor(() => expect(kawah.refunds).toHaveLength(2), patiently);
  const [first, second] = kawah.refunds.map((request) => request.operationKey);
  const tell = (name: string | undefined, status: "succeeded" | "failed"): Promise<number> =>
    report(service.origin, "kawah", { kind: "refund", operationKey: name ?? "", status });
  expect(await tell(first, "succeeded")).toBe(200);
  expect((await client.get(`/v1/refunds/${json.uuid}`)).json).toMatchObject({ status: "succeeded" });
  expect(await stepOf(json.uuid)).toBe("done");
  // The second call was under way, and may be carried out too.
  expect(await exceptionsOf(json.uuid)).toEqual(["refund_twice"]);
  for (const status of ["failed", "succeeded", "succeeded"] as const) expect(await tell(second, status)).toBe(200);
  expect(await exceptionsOf(json.uuid)).toEqual(["refund_twice", "refund_twice"]);
  const { data } = await service.operate("GET", "/reconciliation-exceptions?status=open&limit=100");
  const told = (data as { uuid: string; operation: string }[]).filter(({ operation }) => operation === json.uuid);
  const closed = { note: "Asked for the second one back." };
  for (const { uuid } of told) {
    const path = `/reconciliation-exceptions/${uuid}/close`;
    expect(await service.operate("POST", path, closed)).toMatchObject(closed);
    await expect(service.operate("POST", path, closed)).rejects.toThrow(/NOT_FOUND/);
  }
  expect(await exceptionsOf(json.uuid)).toEqual([]);
  expect((await client.get(`/v1/refunds/${json.uuid}`)).json).toMatchObject({ status: "succeeded" });
  expect(await read(reference)).toMatchObject({ refunded_minor: 1 });
});

test("a refund that is done hears of no attempt that was never made", async () => {
  const { reference, operationKey } = await opened(byCard({ amount_minor: 9_000_000 }));
  await say(operationKey, paid("n-1", 9_000_000n));
  const { json } = await client.post("/v1/refunds", { payment_reference: reference, amount_minor: 1 });
  await vi.waitFor(async () => expect(await stepOf(json.uuid)).toBe("done"), patiently);
  const made = kawah.refunds[0]?.operationKey ?? "";
  for (const attempt of [1_001, 32_768, 99_999]) {
    for (const kind of ["refund", "look"] as const) {
      const told = { kind, operationKey: made.replace(/\d+$/, String(attempt)), status: "succeeded" } as const;
      expect(await report(service.origin, "kawah", told), `${kind} ${attempt}`).toBe(404);
    }
  }
  expect(await exceptionsOf(json.uuid)).toEqual([]);
});

/** A refund of 1 whose first call is refused, although it was carried out; its operation is where `step` says. */
async function refusedAndDone(transaction: string, step: string): Promise<{ uuid: string; first: string }> {
  const { reference, operationKey } = await opened(byCard({ amount_minor: 9_000_000 }));
  await say(operationKey, paid(transaction, 9_000_000n));
  kawah.script = ["refuse, and do it"];
  const { json } = await client.post("/v1/refunds", { payment_reference: reference, amount_minor: 1 });
  await vi.waitFor(() => expect(kawah.refunds).not.toEqual([]), { timeout: 30_000, interval: 20 });
  await vi.waitFor(async () => expect(await stepOf(json.uuid)).toBe(step), { timeout: 30_000, interval: 20 });
  return { uuid: json.uuid as string, first: kawah.refunds[0]?.operationKey ?? "" };
}
const look = (operationKey: string): Promise<number> => report(service.origin, "kawah", { kind: "look", operationKey });
const refundOf = async (uuid: string): Promise<unknown> => (await client.get(`/v1/refunds/${uuid}`)).json.status;

test("a refund that was refused and done is not ordered again once its acquirer hints at it", async () => {
  const { uuid, first } = await refusedAndDone("h-1", "planned");
  await asOwner(service.database, (owner) =>
    owner.query("update acquirer_operations set due_at = now() + interval '1 minute' where operation_id = $1", [
      uuidOf(uuid),
    ]),
  );
  expect(await look(first)).toBe(200);
  await vi.waitFor(async () => expect(await refundOf(uuid)).toBe("succeeded"), patiently);
  expect(kawah.refunds.map(({ operationKey }) => operationKey)).toEqual([first]);
  expect(await exceptionsOf(uuid)).toEqual([]);
});

test("a hint at an earlier call that comes after the next one finds the payer paid twice", async () => {
  const { uuid, first } = await refusedAndDone("h-2", "done");
  expect(kawah.refunds).toHaveLength(2);
  kawah.answersQuestions = false;
  expect(await look(first)).toBe(503); // it comes again
  expect(await exceptionsOf(uuid)).toEqual([]);
  kawah.answersQuestions = true;
  for (let times = 0; times < 2; times++) expect(await look(first)).toBe(200);
  expect(await exceptionsOf(uuid)).toEqual(["refund_twice"]);
  expect(await refundOf(uuid)).toBe("succeeded");
});

test("a hint at an earlier call orders nothing under its key while the next call is under way", async () => {
  const { reference, operationKey } = await opened(byCard({ amount_minor: 9_000_000 }));
  await say(operationKey, paid("h-4", 9_000_000n));
  kawah.script = ["refuse", "held"];
  const { json } = await client.post("/v1/refunds", { payment_reference: reference, amount_minor: 1 });
  await vi.waitFor(() => expect(kawah.refunds).toHaveLength(2), patiently);
  kawah.ordersMissing = true;
  expect(await look(kawah.refunds[0]?.operationKey ?? "")).toBe(200);
  expect(kawah.asked).toContain(kawah.refunds[0]?.operationKey);
  kawah.letGo();
  await vi.waitFor(async () => expect(await refundOf(json.uuid)).toBe("succeeded"), patiently);
  expect([kawah.refunds.length, await exceptionsOf(json.uuid)]).toEqual([2, []]);
});

test("a hint at a refund that has failed makes nobody order it again", async () => {
  const { reference, operationKey } = await opened(byCard({ amount_minor: 9_000_000 }));
  await say(operationKey, paid("h-3", 9_000_000n));
  kawah.refundStatus = "failed";
  const { json } = await client.post("/v1/refunds", { payment_reference: reference, amount_minor: 1 });
  await vi.waitFor(async () => expect(await refundOf(json.uuid)).toBe("failed"), patiently);
  const name = kawah.refunds[0]?.operationKey ?? "";
  kawah.forget(name);
  kawah.ordersMissing = true;
  kawah.refundStatus = "succeeded";
  const asked = kawah.asked.length;
  expect(await look(name)).toBe(200);
  await vi.waitFor(() => expect(kawah.asked.slice(asked)).toContain(name), patiently);
  await vi.waitFor(async () => expect(await stepOf(json.uuid)).toBe("done"), patiently);
  expect([kawah.refunds.length, await refundOf(json.uuid), await exceptionsOf(json.uuid)]).toEqual([1, "failed", []]);
});

test("a refund's next call is nobody's to speak of before it is made", async () => {
  const { reference, operationKey } = await opened(byCard({ amount_minor: 9_000_000 }));
  await say(operationKey, paid("p-1", 9_000_000n));
  kawah.script = ["refuse"];
  const { json } = await client.post("/v1/refunds", { payment_reference: reference, amount_minor: 1 });
  await vi.waitFor(() => expect(kawah.refunds).toHaveLength(1), patiently);
  await vi.waitFor(async () => expect(await stepOf(json.uuid)).toBe("planned"), { timeout: 900, interval: 20 });
  const next = (kawah.refunds[0]?.operationKey ?? "").replace(/s1$/, "s2");
  expect(await report(service.origin, "kawah", { kind: "refund", operationKey: next, status: "failed" })).toBe(404);
  await vi.waitFor(
    async () => expect((await client.get(`/v1/refunds/${json.uuid}`)).json).toMatchObject({ status: "succeeded" }),
    patiently,
  );
});

test("a circuit opens when calls keep failing: no more calls, NO_ROUTE_AVAILABLE, and the operator sees why", async () => {
  const byWallet = (): Promise<Answer> => create(paymentBody({ payment_method: "ewallet" }));
  // Who says no to one payment after another is well all the same.
  kawah.otherwise = "refuse";
  for (let call = 0; call < 7; call++) expect(outcome(await byWallet())).toBe("502 GATEWAY_ERROR");
  kawah.otherwise = "down";
  for (let call = 0; call < 7; call++) expect(outcome(await byWallet())).toBe("502 GATEWAY_ERROR");
  kawah.opened.length = 0;
  expect(outcome(await byWallet())).toBe("503 NO_ROUTE_AVAILABLE");
  expect(kawah.opened).toHaveLength(0);
  const { data } = await service.operate("GET", "/acquirers");
  const seen = (data as { gateway_code: string; circuits: unknown[] }[]).find((row) => row.gateway_code === "kawah");
  expect(seen?.circuits).toContainEqual({ payment_method: "ewallet", state: "open", calls: 14, failures: 7 });
  // The other methods of the same acquirer are as well as they were.
  kawah.otherwise = "ok";
  await opened();
});
