// Goal: contested money is held, and goes where the decision says. Method: walk every state over real HTTP, with the clock.
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Answer, Client } from "../../../e2e/kit/client.ts";
import { type TestService, asOwner, openDatabase, paymentBody, startService } from "../../test/kit.ts";
import { uuidOf } from "../ground/ids.ts";
import { verifyBook } from "../ledger/verify.ts";
import { disputeStatuses } from "../payments/payment.ts";
import { disputeSchema } from "./disputes.schema.ts";
import { disputeTransitions } from "./dispute.ts";

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

async function paid(client: Client): Promise<Answer["json"]> {
  const { json } = await client.post("/v1/payments", paymentBody({ amount_minor: 1_000_000 }));
  await client.post(`/v1/sandbox/payments/${json.reference}/simulate`, { outcome: "succeeded" });
  return json;
}

const open = (client: Client, reference: string, body: Record<string, unknown> = {}): Promise<Answer> =>
  client.post(`/v1/sandbox/payments/${reference}/dispute`, { reason: "product_not_received", ...body });
const resolve = (client: Client, uuid: string, outcome: string): Promise<Answer> =>
  client.post(`/v1/sandbox/disputes/${uuid}/resolve`, { outcome });
const balance = async (client: Client): Promise<{ available: number; held: number }> => {
  const [entry] = (await client.get("/v1/balances")).json.data;
  return { available: entry.available_minor as number, held: entry.held_minor as number };
};
const codeOf = (answer: Answer): string => answer.json.error?.code as string;

async function expectClean(merchantId: string): Promise<void> {
  const database = openDatabase(service.database);
  expect((await verifyBook(database, { merchantId, environment: "sandbox" })).wrong).toBeUndefined();
  await database.end();
}

test("opening holds the amount, even below zero; won and withdrawn release it, lost takes it", async () => {
  const { client, merchantId } = await service.merchant();
  let expected = 0;
  for (const outcome of ["won", "withdrawn", "lost"]) {
    const payment = await paid(client);
    expected += payment.net_minor as number;
    const opened = await open(client, payment.reference);
    expect(opened.status).toBe(201);
    expect(disputeSchema.parse(opened.json)).toMatchObject({
      reference_id: payment.reference_id,
      status: "needs_response",
      amount_minor: 1_000_000,
      outcome: null,
      resolved_at: null,
    });
    expect(await balance(client)).toEqual({ available: expected - 1_000_000, held: 1_000_000 });
    expect(codeOf(await open(client, payment.reference))).toBe("PAYMENT_NOT_REFUNDABLE");
    const resolved = await resolve(client, opened.json.uuid, outcome);
    expect(disputeSchema.parse(resolved.json)).toMatchObject({ status: outcome, outcome });
    if (outcome === "lost") expected -= 1_000_000;
    expect(await balance(client)).toEqual({ available: expected, held: 0 });
    expect(codeOf(await resolve(client, opened.json.uuid, "won"))).toBe("DISPUTE_RESOLVED");
  }
  await expectClean(merchantId);
});

test("a partial contest holds its part; more than what is left cannot be contested", async () => {
  const { client } = await service.merchant();
  const payment = await paid(client);
  for (const amount of [0, -5, 1.5, "1", 1_000_001]) {
    expect(codeOf(await open(client, payment.reference, { amount_minor: amount })), String(amount)).toBe(
      "INVALID_AMOUNT",
    );
  }
  expect((await open(client, payment.reference, { amount_minor: 250_000 })).json.amount_minor).toBe(250_000);
  expect((await balance(client)).held).toBe(250_000);
  expect(codeOf(await open(client, "pay_nonsense"))).toBe("PAYMENT_NOT_FOUND");
  expect(codeOf(await resolve(client, "dsp_nonsense", "won"))).toBe("OBJECT_NOT_FOUND");
});

test("evidence is taken once, in time, and moves the dispute to review; silence loses it by the book's clock", async () => {
  const { client, merchantId } = await service.merchant();
  const [answered, silent] = [await paid(client), await paid(client)];
  const disputes = [(await open(client, answered.reference)).json, (await open(client, silent.reference)).json];
  const book = { merchantId, environment: "sandbox" } as const;
  const submit = (): Promise<unknown> =>
    service.app.submitEvidence(book, disputes[0].uuid, {
      statement: "It was delivered.",
      files: [{ name: "receipt.txt", media_type: "text/plain", content_base64: "b2s=" }],
    });
  await submit();
  await expect(submit()).rejects.toThrow(/DISPUTE_RESOLVED/);
  await client.post("/v1/sandbox/clock/advance", { seconds: 7 * 24 * 3600 + 1 });
  const { json } = await client.get("/v1/disputes");
  expect(json.data.map((dispute: { uuid: string; status: string }) => [dispute.uuid, dispute.status])).toEqual([
    [disputes[1].uuid, "lost"],
    [disputes[0].uuid, "under_review"],
  ]);
  const { rows } = await asOwner(service.database, (owner) =>
    owner.query<{ type: string }>(
      "select type from events where merchant_id = $1 and type like 'dispute.%' order by event_id",
      [uuidOf(merchantId)],
    ),
  );
  expect(rows.map(({ type }) => type)).toEqual([
    "dispute.opened",
    "dispute.opened",
    "dispute.updated",
    "dispute.resolved",
  ]);
  await asOwner(service.database, (owner) =>
    expect(owner.query("update dispute_evidence set statement = 'x'")).rejects.toThrow(/append-only/),
  );
  await expectClean(merchantId);
});

test("silence loses no dispute that runs at an acquirer: it ends there", async () => {
  const { client, merchantId } = await service.merchant();
  const [here, there] = [await paid(client), await paid(client)];
  const uuids = [(await open(client, here.reference)).json.uuid, (await open(client, there.reference)).json.uuid];
  await asOwner(service.database, (owner) =>
    owner.query(
      `insert into acquirer_disputes (merchant_id, environment, gateway_code, acquirer_dispute_id, dispute_id, payment_id, evidence_due_at)
values ($1, 'sandbox', 'kawah', 'dp_1', $2, $3, 'infinity')`,
      [uuidOf(merchantId), uuidOf(uuids[1] as string), uuidOf(there.reference as string)],
    ),
  );
  await client.post("/v1/sandbox/clock/advance", { seconds: 8 * 86_400 });
  const stands = await Promise.all(uuids.map(async (uuid) => (await client.get(`/v1/disputes/${uuid}`)).json.status));
  expect(stands).toEqual(["lost", "needs_response"]);
});

test("the operator moves the deadline: the merchant is told, and silence counts from the new one", async () => {
  const { client, merchantId } = await service.merchant();
  const payment = await paid(client);
  const { json } = await open(client, payment.reference);
  const path = `/merchants/${merchantId}/books/sandbox/disputes/${json.uuid}/deadline`;
  const later = new Date(Date.parse(json.evidence_due_at) + 86_400_000).toISOString().replace(".000Z", "Z");
  expect(await service.operate("POST", path, { evidence_due_at: later })).toMatchObject({ evidence_due_at: later });
  for (const wrong of ["2020-01-01T00:00:00Z", "2190-01-01T00:00:00Z", "2027-01-01", "soon"])
    await expect(service.operate("POST", path, { evidence_due_at: wrong })).rejects.toThrow(/VALIDATION_ERROR/);
  const statusOf = async (): Promise<string> => (await client.get("/v1/disputes")).json.data[0].status;
  await client.post("/v1/sandbox/clock/advance", { seconds: 7 * 86_400 + 60 });
  expect(await statusOf()).toBe("needs_response");
  await client.post("/v1/sandbox/clock/advance", { seconds: 86_400 });
  expect(await statusOf()).toBe("lost");
  await expect(service.operate("POST", path, { evidence_due_at: later })).rejects.toThrow(/DISPUTE_RESOLVED/);
  const { rows } = await asOwner(service.database, (owner) =>
    owner.query<{ type: string }>(
      "select type from events where merchant_id = $1 and subject_id = $2 order by event_id",
      [uuidOf(merchantId), uuidOf(json.uuid as string)],
    ),
  );
  expect(rows.map(({ type }) => type)).toEqual(["dispute.opened", "dispute.updated", "dispute.resolved"]);
  await expectClean(merchantId);
});

test("the list filters and pages, and shows nobody else's", async () => {
  const { client, merchantId } = await service.merchant();
  const uuids: string[] = [];
  for (let count = 0; count < 5; count++) {
    const dispute = (await open(client, (await paid(client)).reference)).json;
    uuids.unshift(dispute.uuid as string);
    if (count < 2) await resolve(client, dispute.uuid, "won");
  }
  const list = async (query: string): Promise<Answer> => client.get(`/v1/disputes${query}`);
  expect((await list("")).json.data.map(({ uuid }: { uuid: string }) => uuid)).toEqual(uuids);
  expect((await list("?status=won")).json.data).toHaveLength(2);
  const first = (await list("?limit=3")).json;
  expect([first.has_more, first.next_cursor]).toEqual([true, uuids[2]]);
  expect((await list(`?limit=3&starting_after=${first.next_cursor}`)).json).toMatchObject({
    has_more: false,
    next_cursor: null,
  });
  expect((await list(`?payment_reference=${first.data[0].payment_reference}`)).json.data).toHaveLength(1);
  await client.post("/v1/sandbox/clock/advance", { seconds: 86_400 });
  const later = (await open(client, (await paid(client)).reference)).json;
  const opened = new Date(Date.parse(later.opened_at as string) - 1_000).toISOString();
  expect((await list(`?opened_from=${opened}`)).json.data).toEqual([later]);
  expect((await list(`?opened_to=${opened}&limit=1`)).json).toMatchObject({
    data: [{ uuid: uuids[0] }],
    has_more: true,
  });
  for (const query of [
    "?status=open",
    "?limit=0",
    "?limit=101",
    "?starting_after=dsp_x",
    "?payment_reference=x",
    "?opened_from=yesterday",
    "?what=1",
  ]) {
    expect(codeOf(await list(query)), query).toBe("VALIDATION_ERROR");
  }
  const other = await service.merchant();
  expect((await other.client.get("/v1/disputes")).json.data).toEqual([]);
  expect(codeOf(await other.client.get(`/v1/disputes?starting_after=${uuids[0]}`))).toBe("VALIDATION_ERROR");
  expect((await (await service.client(merchantId, "production")).get("/v1/disputes")).json.data).toEqual([]);
});

test("code and database allow the same transitions", async () => {
  const { client, merchantId } = await service.merchant();
  const payment = await paid(client);
  await asOwner(service.database, async (owner) => {
    for (const from of disputeStatuses) {
      for (const to of disputeStatuses) {
        if (from === to) continue;
        await owner.query("begin");
        const { rows } = await owner.query<{ dispute_id: string }>(
          `insert into disputes (merchant_id, environment, dispute_id, payment_id, status, reason, amount_minor, currency, evidence_due_at, opened_at, resolved_at)
values ($1, 'sandbox', gen_random_uuid(), $2, $3::dispute_status, 'general', 5, 'IDR', now(), now(), case when $3 in ('needs_response', 'under_review') then null else now() end)
returning dispute_id`,
          [uuidOf(merchantId), uuidOf(payment.reference), from],
        );
        const change = owner.query(
          "update disputes set status = $2::dispute_status, resolved_at = case when $2 in ('needs_response', 'under_review') then null else now() end where dispute_id = $1",
          [rows[0]?.dispute_id, to],
        );
        if (disputeTransitions[from].includes(to)) await expect(change, `${from} > ${to}`).resolves.toBeDefined();
        else await expect(change, `${from} > ${to}`).rejects.toThrow(/cannot go/);
        await owner.query("rollback");
      }
    }
  });
});

test("after a dispute over a part is lost, the rest can be refunded and settled, and not a unit more", async () => {
  const { client, merchantId } = await service.merchant();
  const payment = await paid(client);
  await paid(client); // for the fee, which a refund does not give back
  const dispute = (
    await client.post(`/v1/sandbox/payments/${payment.reference}/dispute`, { reason: "general", amount_minor: 300_000 })
  ).json;
  await resolve(client, dispute.uuid as string, "lost");
  const refund = (amount?: number): Promise<Answer> =>
    client.post("/v1/refunds", { payment_reference: payment.reference, ...(amount && { amount_minor: amount }) });
  const beyond = await refund(700_001);
  expect([codeOf(beyond), beyond.json.error.details]).toEqual([
    "REFUND_EXCEEDS_PAYMENT",
    { remaining_refundable_minor: 700_000 },
  ]);
  expect((await refund(200_000)).json).toMatchObject({ status: "succeeded", remaining_refundable_minor: 500_000 });
  expect((await refund()).json).toMatchObject({ amount_minor: 500_000, remaining_refundable_minor: 0 });
  expect(codeOf(await refund(1))).toBe("REFUND_EXCEEDS_PAYMENT");
  expect((await client.get(`/v1/payments/${payment.reference}`)).json).toMatchObject({
    status: "partially_refunded",
    refunded_minor: 700_000,
  });
  await expectClean(merchantId);
});

test("refunds and a dispute of one payment in the same moment: each is done or refused, and no refund comes after the dispute", async () => {
  const { client, merchantId } = await service.merchant();
  for (let round = 0; round < 8; round++) {
    const payment = await paid(client);
    const refund = (): Promise<Answer> =>
      client.post("/v1/refunds", { payment_reference: payment.reference, amount_minor: 1_000 });
    const answers = await Promise.all([refund(), refund(), open(client, payment.reference), refund(), refund()]);
    const [, , dispute] = answers;
    expect(dispute?.status, dispute?.text).toBe(201);
    for (const answer of answers.filter((each) => each !== dispute))
      expect(answer.status === 201 || codeOf(answer) === "PAYMENT_NOT_REFUNDABLE", answer.text).toBe(true);
  }
  await expectClean(merchantId);
});

test("the database refuses a decided dispute without its journal, one whose loss the payment does not know, and one over more than is left", async () => {
  const { client, merchantId } = await service.merchant();
  const payment = await paid(client);
  const uuid = (await open(client, payment.reference)).json.uuid as string;
  await asOwner(service.database, async (owner) => {
    const decided = async (change: string, ...values: string[]): Promise<void> => {
      await owner.query("begin");
      try {
        await owner.query(change, values);
        await owner.query("set constraints all immediate");
      } finally {
        await owner.query("rollback");
      }
    };
    const won = "update disputes set status = 'won', resolved_at = now() where merchant_id = $1 and dispute_id = $2";
    await expect(decided(won, uuidOf(merchantId), uuidOf(uuid))).rejects.toThrow(/without a journal/);
    const second = `insert into disputes (merchant_id, environment, dispute_id, payment_id, status, reason, amount_minor, currency, evidence_due_at, opened_at, resolved_at)
values ($1, 'sandbox', gen_random_uuid(), $2, 'lost', 'general', 5, 'IDR', now(), now(), now())`;
    await expect(decided(second, uuidOf(merchantId), uuidOf(payment.reference))).rejects.toThrow(/without a journal/);
    const reviewed = (change: string): Promise<void> => {
      const text = `with changed as (
  update payments set ${change} where merchant_id = $1 and payment_id = $3
) update disputes set status = 'under_review' where merchant_id = $1 and dispute_id = $2`;
      return decided(text, uuidOf(merchantId), uuidOf(uuid), uuidOf(payment.reference));
    };
    await expect(reviewed("dispute_status = null")).rejects.toThrow(/does not note/);
    await expect(reviewed("refund_pending_minor = 1")).rejects.toThrow(/more than is left/);
    await reviewed("dispute_status = 'under_review'");
    const noted = (status: string): Promise<void> => {
      const text = `update payments set dispute_status = ${status} where merchant_id = $1 and payment_id = $2`;
      return decided(text, uuidOf(merchantId), uuidOf(payment.reference));
    };
    for (const status of ["null", "'won'", "'lost'"])
      await expect(noted(status), status).rejects.toThrow(/does not note whether a dispute runs/);
    await noted("'under_review'");
  });
  await resolve(client, uuid, "lost");
  await asOwner(service.database, async (owner) => {
    const change = (set: string): Promise<unknown> =>
      owner.query(`update payments set ${set} where merchant_id = $1 and payment_id = $2`, [
        uuidOf(merchantId),
        uuidOf(payment.reference),
      ]);
    await expect(change("lost_minor = 0")).rejects.toThrow(/not taken back/);
    await expect(change("lost_minor = amount_minor + 1")).rejects.toThrow(/payments_refunds_within_amount/);
  });
});

test("one dispute can be read, by its merchant and in its environment", async () => {
  const { client, merchantId } = await service.merchant();
  const dispute = (await open(client, (await paid(client)).reference)).json;
  expect(dispute.environment).toBe("sandbox");
  const path = `/v1/disputes/${dispute.uuid}`;
  expect((await client.get(path)).json).toEqual(dispute);
  const live = await service.client(merchantId, "production");
  const other = await service.merchant();
  expect(codeOf(await live.get(path))).toBe("ENVIRONMENT_MISMATCH");
  expect(codeOf(await other.client.get(path))).toBe("OBJECT_NOT_FOUND");
  expect(codeOf(await client.get("/v1/disputes/dsp_x"))).toBe("OBJECT_NOT_FOUND");
});
