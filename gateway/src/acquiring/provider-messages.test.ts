// Goal: what begins at an acquirer goes on here and back there: a dispute, a merchant's evidence, a question, a message that fits nothing.
// Method: a service with a scripted acquirer that has names and messages of its own, over real HTTP.
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import type { Client } from "../../../e2e/kit/client.ts";
import { type TestService, asOwner, openDatabase, paymentBody, startService } from "../../test/kit.ts";
import { report, scriptedAcquirer } from "../../test/scripted-acquirer.ts";
import { AcquirerRefused, type EvidenceRequest, type MessageMeaning, type Report } from "../acquirers/acquirer.ts";
import { OtherMoney } from "../acquirers/other-money.ts";
import { systemClock } from "../ground/clock.ts";
import { uuidOf } from "../ground/ids.ts";
import { Fault, validationFault } from "../ground/fault.ts";
import { verifyBook } from "../ledger/verify.ts";
import { receiptSchema } from "../operator/receipts.routes.ts";
import { expiredStrays } from "./strays.sql.ts";

let service: TestService;
const kawah = scriptedAcquirer("kawah");
const lawu = scriptedAcquirer("lawu");
const taken: EvidenceRequest[] = [];
let behaviour: string = "take";
const held: (() => void)[] = [];
let meaning: MessageMeaning | Fault | undefined;
const { calls } = kawah;
if (calls) {
  const plain = { ...calls };
  Object.assign(calls, { messageMaxBytes: 100_000 });
  calls.open = async (request, signal, record) => {
    record?.({ about: "POST /charge", status: 201, text: `{"order":"${request.operationKey}"}` });
    return {
      ...(await plain.open(request, signal)),
      providerIds: { charge: `ch_${request.reference.slice(-6)}`, account: "8808123" },
    };
  };
  calls.receive = (message, now) => {
    if (message.rest === "" || meaning === undefined) return plain.receive(message, now);
    if (message.headers.authorization !== "kawah") throw new Fault("SIGNATURE_INVALID");
    if (meaning instanceof Fault) throw meaning;
    return meaning;
  };
  calls.submitEvidence = (request) => {
    taken.push(request);
    if (behaviour === "hold") return new Promise((resolve) => held.push(resolve));
    if (behaviour === "refuse") return Promise.reject(new AcquirerRefused("too late"));
    return behaviour === "lose" ? Promise.reject(new Error("no answer")) : Promise.resolve();
  };
}

if (lawu.calls)
  lawu.calls.submitEvidence = (request) => {
    taken.push(request);
    return Promise.resolve();
  };

let client: Client;
let merchantId = "";
beforeAll(async () => {
  service = await startService({ acquirers: [kawah, lawu] });
  const rules = [
    { gateway_code: "kawah", payment_method: "card", priority: 1, weight: 1 },
    { gateway_code: "lawu", payment_method: "ewallet", priority: 1, weight: 1 },
  ];
  const { version } = await service.operate("POST", "/routing/rules", { rules });
  await service.operate("POST", `/routing/rules/${version}/activate`);
  ({ client, merchantId } = await service.merchant());
});
afterAll(() => service.stop());

const tell = (body: Report, by = kawah): Promise<number> => report(service.origin, by.code, body);
const rowsOf = (text: string, values: unknown[] = []): Promise<Record<string, unknown>[]> =>
  asOwner(service.database, async (owner) => (await owner.query(text, values)).rows as Record<string, unknown>[]);

/** A payment that an acquirer has taken and been paid. */
async function paid(by = kawah): Promise<{ reference: string; operationKey: string }> {
  const method = by === kawah ? "card" : "ewallet";
  const { json } = await client.post("/v1/payments", paymentBody({ payment_method: method, amount_minor: 1_000_000 }));
  const operationKey = by.opened.find(({ reference }) => reference === json.reference)?.operationKey ?? "";
  const receipt = { transactionId: `t-${json.reference}`, amountMinor: 1_000_000n, currency: "IDR" };
  await tell({ kind: "payment", operationKey, state: { status: "paid", receipt } }, by);
  return { reference: json.reference as string, operationKey };
}

/** A dispute that an acquirer has told of, over a payment of its own. */
async function disputed(id: string, by = kawah): Promise<{ uuid: string; reference: string; operationKey: string }> {
  const payment = await paid(by);
  expect(await tell(disputeOf(payment.operationKey, id, "open"), by)).toBe(200);
  const { json } = await client.get(`/v1/disputes?payment_reference=${payment.reference}`);
  return { ...payment, uuid: json.data[0].uuid as string };
}

const disputeOf = (paymentOperationKey: string, id: string, status: "open" | "won" | "lost"): Report => ({
  kind: "dispute",
  paymentOperationKey,
  dispute: { id, status, amountMinor: 400_000n, currency: "IDR", reason: "fraudulent" },
});

const evidenceOf = (uuid: string): Promise<unknown> =>
  service.app.submitEvidence({ merchantId, environment: "sandbox" }, uuid, {
    statement: "It was delivered.",
    files: [{ name: "receipt.pdf", media_type: "application/pdf", content_base64: "JVBERi0xLjcK" }],
  });

test("a dispute that begins at the acquirer is opened once, however often it is told, and ends as it ends there", async () => {
  const { uuid, reference, operationKey } = await disputed("dp_once");
  expect(await Promise.all([1, 2, 3].map(() => tell(disputeOf(operationKey, "dp_once", "open"))))).toEqual([
    200, 200, 200,
  ]);
  expect((await client.get(`/v1/disputes?payment_reference=${reference}`)).json.data).toHaveLength(1);
  expect(await tell(disputeOf(operationKey, "dp_once", "lost"))).toBe(200);
  expect((await client.get(`/v1/disputes/${uuid}`)).json).toMatchObject({ status: "lost", amount_minor: 400_000 });
  const database = openDatabase(service.database);
  expect((await verifyBook(database, { merchantId, environment: "sandbox" })).wrong).toBeUndefined();
  await database.end();
});

test("a dispute that does not fit reaches a person, also after another one of its payment was dealt with", async () => {
  const { reference, operationKey } = await paid();
  const open = (): Promise<unknown[]> =>
    rowsOf("select from reconciliation_exceptions where closed_at is null and operation_id = $1", [uuidOf(reference)]);
  const dollars = (id: string): Report => {
    const told = disputeOf(operationKey, id, "open");
    return told.kind === "dispute" ? { ...told, dispute: { ...told.dispute, currency: "USD" } } : told;
  };
  expect(await tell(dollars("dp_usd_1"))).toBe(200);
  expect(await open()).toHaveLength(1);
  const { data } = await service.operate("GET", "/reconciliation-exceptions?status=open&limit=100");
  const { uuid, occasions } = (
    data as { uuid: string; kind: string; gateway_code: string; occasions: string[] }[]
  ).findLast(({ kind, gateway_code }) => kind === "dispute" && gateway_code === "kawah") ?? { uuid: "", occasions: [] };
  expect(occasions).toEqual(["dp_usd_1 open 400000 USD"]);
  const close = (seen: string[]): Promise<unknown> =>
    service.operate("POST", `/reconciliation-exceptions/${uuid}/close`, { note: "Their mistake.", occasions: seen });
  await close(occasions);
  expect(await open()).toEqual([]);
  expect(await tell(dollars("dp_usd_2"))).toBe(200);
  expect(await open()).toHaveLength(1);
  // Another one came while a person read of the first.
  await expect(close(occasions)).rejects.toThrow(/also about dp_usd_2 open 400000 USD\..*"occasions"/);
  expect(await open()).toHaveLength(1);
  expect(await close([...occasions, "dp_usd_2 open 400000 USD"])).toMatchObject({ note: "Their mistake." });
});

test.each(["", "x".repeat(65), "dp 1", "dp_\u00e9"])("a dispute by the name %j is refused", async (id) => {
  const { reference, operationKey } = await paid();
  expect(await tell(disputeOf(operationKey, id, "open"))).toBe(422);
  expect((await client.get(`/v1/disputes?payment_reference=${reference}`)).json.data).toEqual([]);
});

test("a dispute whose report proves nothing is asked about: it is taken when it stands so, and waits when nobody answers", async () => {
  const { calls: asked } = kawah;
  if (!asked) throw new Error("kawah takes no calls");
  const { reference, operationKey } = await paid();
  const all = async (): Promise<unknown[]> =>
    (await client.get(`/v1/disputes?payment_reference=${reference}`)).json.data as unknown[];
  try {
    asked.confirmDispute = () => Promise.reject(new Error("no answer"));
    expect(await tell(disputeOf(operationKey, "dp_asked", "lost"))).toBe(503);
    asked.confirmDispute = () => Promise.resolve(false);
    expect(await tell(disputeOf(operationKey, "dp_asked", "lost"))).toBe(422);
    // Nobody knows what is disputed, where the payment itself stands in other money: the report waits as one that does not fit.
    asked.confirmDispute = () => Promise.reject(new OtherMoney("it was 1.00"));
    expect(await tell(disputeOf(operationKey, "dp_other", "lost"))).toBe(422);
    expect(await all()).toEqual([]);
    const strays = await rowsOf(
      "select reason, times from stray_messages where kind = 'dispute' and operation_key = $1",
      [operationKey.slice(0, 64)],
    );
    expect(strays).toEqual([{ reason: "refused", times: 2 }]);
    asked.confirmDispute = (request, _signal, exchanged) => {
      exchanged?.({ about: "GET /disputes", status: 200, text: `{"dispute":"${request.dispute.id}"}` });
      return Promise.resolve(request.operationKey === operationKey && request.dispute.status === "lost");
    };
    expect(await tell(disputeOf(operationKey, "dp_asked", "lost"))).toBe(200);
    expect(await all()).toMatchObject([{ status: "lost" }]);
  } finally {
    delete asked.confirmDispute;
  }
});

test("what an acquirer kept of a payment is told to whoever operates the service, and nothing where it does not say so", async () => {
  const fees: unknown[] = [];
  for (const fee of [{ feeMinor: 2_900n }, { feeMinor: 0n }, {}]) {
    const { json } = await client.post("/v1/payments", paymentBody({ payment_method: "card" }));
    const operationKey = kawah.opened.find(({ reference }) => reference === json.reference)?.operationKey ?? "";
    const amountMinor = BigInt(json.amount_minor as number);
    const receipt = { transactionId: `fee-${json.reference}`, amountMinor, currency: "IDR", ...fee };
    kawah.states.set(operationKey, { status: "paid", receipt });
    expect(await tell({ kind: "look", operationKey })).toBe(200);
    await vi.waitFor(
      async () => expect((await client.get(`/v1/payments/${json.reference}`)).json.status).toBe("succeeded"),
      { timeout: 30_000, interval: 200 },
    );
    const { data } = await service.operate("GET", "/receipts?status=applied&limit=100");
    const found = (data as Record<string, unknown>[]).findLast(
      ({ transaction_id: id }) => id === receipt.transactionId,
    );
    fees.push(receiptSchema.parse(found).acquirer_fee_minor);
  }
  expect(fees).toEqual([2_900, 0, null]);
});

test("a dispute may name its payment by the acquirer's own name; of another acquirer's it is a stray", async () => {
  const { reference } = await paid();
  await rowsOf(
    "update acquirer_operations set provider_ids = provider_ids || '{\"account\":\"pi_contested\"}' where provider_ids ->> 'charge' = $1",
    [`ch_${reference.slice(-6)}`],
  );
  expect(await tell(disputeOf("pi_contested", "dp_named", "open"))).toBe(200);
  expect((await client.get(`/v1/disputes?payment_reference=${reference}`)).json.data).toHaveLength(1);
  expect(await tell(disputeOf("pi_of_nobody", "dp_stray", "open"))).toBe(404);
});

test("the merchant's evidence is submitted with its files, once", async () => {
  behaviour = "take";
  const { uuid } = await disputed("dp_take");
  await evidenceOf(uuid);
  await vi.waitFor(() => expect(taken.filter(({ disputeId }) => disputeId === "dp_take")).toHaveLength(1), 30_000);
  const [request] = taken.filter(({ disputeId }) => disputeId === "dp_take");
  expect(request).toMatchObject({ statement: "It was delivered.", operationKey: `${uuid.replace("_", "")}.e1` });
  expect(request?.files.map(({ name, bytes }) => [name, bytes.toString()])).toEqual([["receipt.pdf", "%PDF-1.7\n"]]);
  const ended = async (): Promise<unknown> =>
    (await rowsOf("select evidence_ended_at from acquirer_disputes where acquirer_dispute_id = 'dp_take'"))[0]
      ?.evidence_ended_at;
  await vi.waitFor(async () => expect(await ended()).not.toBeNull(), 30_000);
  await rowsOf("update acquirer_disputes set evidence_due_at = now() - interval '1 hour'");
  await new Promise((resolve) => setTimeout(resolve, 1_200));
  expect(taken.filter(({ disputeId }) => disputeId === "dp_take")).toHaveLength(1);
});

test("evidence whose arrival nobody knows is submitted again under the same key; what is refused waits for a person", async () => {
  behaviour = "lose";
  const { uuid } = await disputed("dp_lose");
  await evidenceOf(uuid);
  const of = (): EvidenceRequest[] => taken.filter(({ disputeId }) => disputeId === "dp_lose");
  await vi.waitFor(() => expect(of()).toHaveLength(1), 30_000);
  behaviour = "refuse";
  await rowsOf("update acquirer_disputes set evidence_due_at = now() where acquirer_dispute_id = 'dp_lose'");
  await vi.waitFor(() => expect(of()).toHaveLength(2), 30_000);
  expect(new Set(of().map(({ operationKey }) => operationKey)).size).toBe(1);
  const kinds = (): Promise<Record<string, unknown>[]> =>
    rowsOf(
      `select e.kind from reconciliation_exceptions e join payments p on p.payment_id = e.operation_id
where e.kind = 'evidence' and e.closed_at is null`,
    );
  await vi.waitFor(async () => expect(await kinds()).toHaveLength(1), 30_000);
  expect((await client.get(`/v1/disputes/${uuid}`)).json.status).toBe("under_review");
});

test("evidence for one acquirer does not wait behind the silence of another", async () => {
  behaviour = "hold";
  const ids = ["dp_slow_1", "dp_slow_2", "dp_quick"];
  const due = (when: string): Promise<unknown> =>
    rowsOf(`update acquirer_disputes set evidence_due_at = ${when} where acquirer_dispute_id = any($1)`, [ids]);
  const uuids: string[] = [];
  for (const id of ids) uuids.push((await disputed(id, id === "dp_quick" ? lawu : kawah)).uuid);
  await due("now() + interval '1 day'");
  for (const uuid of uuids) await evidenceOf(uuid);
  const handed = (): string[] => taken.map(({ disputeId }) => disputeId).filter((id) => ids.includes(id));
  await due("now() - case acquirer_dispute_id when 'dp_quick' then interval '0' else interval '1 minute' end");
  await vi.waitFor(() => {
    expect(handed()).toContain("dp_quick");
    expect([handed().length, held.length]).toEqual([2, 1]);
  }, 30_000);
  behaviour = "take";
  for (const release of held) release();
  await vi.waitFor(() => expect(handed().toSorted()).toEqual(ids.toSorted()), 30_000);
});

test("a dispute at an acquirer is not lost by our clock: it ends there", async () => {
  const { uuid } = await disputed("dp_clock");
  await client.post("/v1/sandbox/clock/advance", { seconds: 30 * 86_400 });
  expect((await client.get(`/v1/disputes/${uuid}`)).json.status).toBe("needs_response");
});

test("what the acquirer calls a payment, and what was said, is kept with it", async () => {
  const { reference } = await paid();
  const [operation] = await rowsOf(
    "select provider_ids from acquirer_operations where provider_ids ->> 'charge' = $1",
    [`ch_${reference.slice(-6)}`],
  );
  expect(operation).toBeDefined();
  const kept = await rowsOf("select call, about, status, text from acquirer_messages where text like $1", [
    `%${reference.replace("_", "")}%`,
  ]);
  expect(kept).toMatchObject([{ call: "open", about: "POST /charge", status: 201 }]);
});

test("an acquirer that says something new each time is kept so far, and its other messages with it", async () => {
  const { reference, operationKey } = await paid();
  const told = await rowsOf(
    `insert into acquirer_messages (merchant_id, environment, operation_id, digest, payment_id, operation_kind, gateway_code, attempt, call, about, text, exchanged_at)
select o.merchant_id, o.environment, o.operation_id, sha256(n::text::bytea), o.operation_id, 'payment', 'kawah', 1, 'inquire', 'GET /' || n, 'x', now()
from acquirer_operations o, generate_series(1, 100) n where o.operation_id = $1
returning 1`,
    [uuidOf(reference)],
  );
  expect(told).toHaveLength(100);
  meaning = {
    kind: "reports",
    reports: [{ kind: "look", operationKey }],
    message: { about: "POST /notify", status: undefined, text: "what came last" },
  };
  const headers = { authorization: "kawah", "content-type": "application/json" };
  const origin = `${service.origin}/acquirers/kawah/callbacks/notify`;
  expect((await fetch(origin, { method: "POST", headers, body: "{}" })).status).toBe(200);
  const counts = await rowsOf(
    "select call, count(*)::integer as kept from acquirer_messages where operation_id = $1 group by call order by call",
    [uuidOf(reference)],
  );
  expect(counts).toContainEqual({ call: "report", kept: 1 });
  expect(counts.find(({ call }) => call === "inquire")?.kept).toBeGreaterThanOrEqual(100);
});

test("a message may have several reports, an address and an answer of its own; what fits nothing is kept and moves nothing", async () => {
  const { json } = await client.post("/v1/payments", paymentBody({ payment_method: "card" }));
  const operationKey = kawah.opened.find(({ reference }) => reference === json.reference)?.operationKey ?? "";
  kawah.states.set(operationKey, {
    status: "paid",
    receipt: { transactionId: "t-look", amountMinor: BigInt(json.amount_minor as number), currency: "IDR" },
  });
  meaning = {
    kind: "reports",
    reports: [
      { kind: "look", operationKey },
      { kind: "look", operationKey: "somebody.elses" },
    ],
    reply: (outcome) => ({ status: 202, body: JSON.stringify({ outcome }) }),
    message: { about: "POST /notify", status: undefined, text: '{"event":"x"}' },
  };
  const send = (): Promise<Response> =>
    fetch(`${service.origin}/acquirers/kawah/callbacks/notify`, {
      method: "POST",
      headers: { authorization: "kawah", "content-type": "application/json" },
      body: "{}",
    });
  for (const answer of [await send(), await send()])
    expect([answer.status, await answer.text()]).toEqual([202, '{"outcome":"unknown operation"}']);
  // It was only told to look: what it finds by asking counts.
  await vi.waitFor(
    async () => expect((await client.get(`/v1/payments/${json.reference}`)).json.status).toBe("succeeded"),
    30_000,
  );
  expect(await rowsOf("select operation_key, reason, times from stray_messages where kind = 'look'")).toEqual([
    { operation_key: "somebody.elses", reason: "unknown operation", times: 2 },
  ]);
});

test("an acquirer with long messages is heard up to its own length, and any other up to 64 KiB", async () => {
  const tellLong = async (code: string, bytes: number): Promise<number> => {
    const body = "x".repeat(bytes);
    return (await fetch(`${service.origin}/acquirers/${code}/callbacks`, { method: "POST", body })).status;
  };
  expect(await tellLong("kawah", 100_000)).not.toBe(413);
  expect(await tellLong("kawah", 100_001)).toBe(413);
  expect(await tellLong("lawu", 65_536)).not.toBe(413);
  expect(await tellLong("lawu", 65_537)).toBe(413);
});

test("an acquirer that names a payment by its payer's account alone makes us look; another acquirer's account is unknown", async () => {
  const { json } = await client.post("/v1/payments", paymentBody({ payment_method: "card" }));
  const operationKey = kawah.opened.find(({ reference }) => reference === json.reference)?.operationKey ?? "";
  const account = `account of ${json.reference}`;
  const change = (code: string): Promise<unknown> =>
    rowsOf(
      "update acquirer_operations set gateway_code = $3, provider_ids = jsonb_build_object('account', $2::text) where operation_id = $1",
      [uuidOf(json.reference as string), account, code],
    );
  meaning = {
    kind: "reports",
    reports: [{ kind: "look", operationKey: account }],
    reply: (outcome) => ({ status: 200, body: JSON.stringify({ outcome }) }),
  };
  const send = async (): Promise<string> => {
    const headers = { authorization: "kawah", "content-type": "application/json" };
    return (
      await fetch(`${service.origin}/acquirers/kawah/callbacks/notify`, { method: "POST", headers, body: "{}" })
    ).text();
  };
  await change("elsewhere");
  expect(await send()).toBe('{"outcome":"unknown operation"}');
  await change("kawah");
  kawah.states.set(operationKey, {
    status: "paid",
    receipt: { transactionId: "t-account", amountMinor: BigInt(json.amount_minor as number), currency: "IDR" },
  });
  expect(await send()).toBe('{"outcome":"taken"}');
  await vi.waitFor(
    async () => expect((await client.get(`/v1/payments/${json.reference}`)).json.status).toBe("succeeded"),
    30_000,
  );
});

test("what an acquirer proves to have sent is kept for a person when it cannot be read, and when it is about a call that was given up", async () => {
  const send = async (): Promise<number> => {
    const headers = { authorization: "kawah", "content-type": "application/json" };
    const body = '{"status":"something_new","email":"a@b.test"}';
    return (await fetch(`${service.origin}/acquirers/kawah/callbacks/notify`, { method: "POST", headers, body }))
      .status;
  };
  meaning = validationFault("status", "something_new", "is a status that is not known here");
  expect([await send(), await send()]).toEqual([422, 422]);
  meaning = new Fault("SIGNATURE_INVALID");
  expect(await send()).toBe(401);
  expect(
    await rowsOf("select kind, operation_key, about, text, times from stray_messages where reason = 'unreadable'"),
  ).toEqual([
    {
      kind: null,
      operation_key: "",
      about: "POST /notify",
      text: '{"status":"something_new","email":"[redacted]"}',
      times: 2,
    },
  ]);

  const { json } = await client.post("/v1/payments", paymentBody({ payment_method: "card" }));
  const operationKey = kawah.opened.find(({ reference }) => reference === json.reference)?.operationKey ?? "";
  await rowsOf("update acquirer_operations set attempt = 2 where operation_id = $1", [
    uuidOf(json.reference as string),
  ]);
  meaning = { kind: "reports", reports: [{ kind: "look", operationKey }] };
  expect(await send()).toBe(200);
  expect(await rowsOf("select kind, operation_key from stray_messages where reason = 'earlier attempt'")).toEqual([
    { kind: "look", operation_key: operationKey.slice(0, 64) },
  ]);
  const counted = await service.app.metrics.registry.metrics();
  expect(counted).toContain('gerbang_acquirer_stray_messages_total{gateway_code="kawah",reason="unreadable"} 2');
  expect(counted).toContain('gerbang_acquirer_stray_messages_total{gateway_code="kawah",reason="earlier attempt"} 1');
});

test("an acquirer that asks what a payer owes is told by the account number, and no other acquirer's or a paid one's", async () => {
  const billed = async (account: string): Promise<Record<string, unknown>> => {
    const { json } = await client.post("/v1/payments", paymentBody({ payment_method: "card" }));
    await rowsOf(
      "update acquirer_operations set provider_ids = provider_ids || jsonb_build_object('account', $2::text) where operation_id = $1",
      [uuidOf(json.reference as string), account],
    );
    return json;
  };
  const json = await billed("8808777");
  const ask = async (find: Extract<MessageMeaning, { kind: "bill" }>["find"]): Promise<unknown> => {
    meaning = {
      kind: "bill",
      find,
      reply: (bill) => ({
        status: 200,
        body: JSON.stringify({ payable: bill?.payable ?? null, owes: String(bill?.amountMinor) }),
      }),
    };
    const answer = await fetch(`${service.origin}/acquirers/kawah/callbacks/inquiry`, {
      method: "POST",
      headers: { authorization: "kawah", "content-type": "application/json" },
      body: "{}",
    });
    return answer.json();
  };
  expect(await ask({ account: "8808777" })).toEqual({ payable: true, owes: String(json.amount_minor) });
  expect(await ask({ account: "nobody's" })).toEqual({ payable: null, owes: "undefined" });
  expect(await ask({ operationKey: "pay.nobody" })).toEqual({ payable: null, owes: "undefined" });
  const { operationKey } = await paid();
  expect(await ask({ operationKey })).toMatchObject({ payable: false });
  // A number that two payers were given is nobody's while both may pay; then it is the other's again, however much newer the one is.
  const twin = await billed("8808777");
  expect(await ask({ account: "8808777" })).toEqual({ payable: null, owes: "undefined" });
  await client.post(`/v1/payments/${twin.reference as string}/cancel`, {});
  expect(await ask({ account: "8808777" })).toEqual({ payable: true, owes: String(json.amount_minor) });
  await client.post(`/v1/payments/${json.reference as string}/cancel`, {});
  expect(await ask({ account: "8808777" })).toMatchObject({ payable: false });
});

test("strays of an acquirer are kept up to a number, the newest of them", async () => {
  await rowsOf(
    `insert into stray_messages (gateway_code, digest, reason, operation_key, kind, first_at, last_at)
select 'gede', sha256(n::text::bytea), 'unknown operation', n::text, 'look', now(), now() - n * interval '1 s'
from generate_series(1, 10005) n`,
  );
  const database = openDatabase(service.database);
  for (const statement of expiredStrays(systemClock.now())) await database.query(statement);
  await database.end();
  const [left] = await rowsOf(
    "select count(*)::integer as kept, max(operation_key::integer) as oldest from stray_messages where gateway_code = 'gede'",
  );
  expect(left).toEqual({ kept: 10_000, oldest: 10_000 });
});
