// Goal: money goes back once, never more than came, and in the ledger first. Method: a whole service, every error by its
// order, many hands at once, and the book replayed at the end.
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Answer, Client } from "../../../e2e/kit/client.ts";
import { type TestService, asOwner, openDatabase, paymentBody, startService } from "../../test/kit.ts";
import { SECOND } from "../ground/clock.ts";
import { newId, uuidOf } from "../ground/ids.ts";
import { verifyBook } from "../ledger/verify.ts";
import { createdRefundSchema, refundStatusSchema } from "./refunds.schema.ts";

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

/** A paid payment. */
async function paid(client: Client, changes: Record<string, unknown> = {}): Promise<Answer["json"]> {
  const created = await client.post("/v1/payments", paymentBody({ amount_minor: 1_000_000, ...changes }));
  expect(created.status, created.text).toBe(201);
  const answer = await client.post(`/v1/sandbox/payments/${created.json.reference}/simulate`, { outcome: "succeeded" });
  expect(answer.status).toBe(200);
  return created.json;
}

const refund = (client: Client, reference: string, body: Record<string, unknown> = {}): Promise<Answer> =>
  client.post("/v1/refunds", { payment_reference: reference, ...body });

const available = async (client: Client): Promise<number> =>
  (await client.get("/v1/balances")).json.data[0].available_minor as number;
const codeOf = (answer: Answer): string => answer.json.error?.code as string;

async function expectClean(merchantId: string): Promise<void> {
  const database = openDatabase(service.database);
  expect((await verifyBook(database, { merchantId, environment: "sandbox" })).wrong).toBeUndefined();
  await database.end();
}

async function eventTypes(merchantId: string): Promise<string[]> {
  const { rows } = await asOwner(service.database, (client) =>
    client.query<{ type: string }>("select type from events where merchant_id = $1 order by event_id", [
      uuidOf(merchantId),
    ]),
  );
  return rows.map(({ type }) => type);
}

test("partial refunds and the remainder take the payment through its states, and the fee stays", async () => {
  const { client, merchantId } = await service.merchant();
  await paid(client); // so that the fee of the refunded one is covered
  const payment = await paid(client);
  const before = await available(client);
  const first = await refund(client, payment.reference, { amount_minor: 300_000, reason: "one bag was torn" });
  expect(first.status).toBe(201);
  expect(createdRefundSchema.parse(first.json)).toMatchObject({
    reference_id: payment.reference_id,
    status: "succeeded",
    amount_minor: 300_000,
    remaining_refundable_minor: 700_000,
    reason: "one bag was torn",
  });
  const status = async (): Promise<string> =>
    (await client.get(`/v1/payments/${payment.reference}`)).json.status as string;
  expect(await status()).toBe("partially_refunded");
  expect((await refund(client, payment.reference)).json).toMatchObject({
    amount_minor: 700_000,
    remaining_refundable_minor: 0,
  });
  expect(await status()).toBe("refunded");
  expect(await available(client)).toBe(before - 1_000_000);
  const read = await client.get(`/v1/refunds/${first.json.uuid}`);
  expect(refundStatusSchema.parse(read.json)).toMatchObject({
    reference_id: payment.reference_id,
    completed_at: first.json.created_at,
    settlement_uuid: null,
  });
  expect((await eventTypes(merchantId)).filter((type) => type === "refund.succeeded")).toHaveLength(2);
  await expectClean(merchantId);
});

test("refusals reach the merchant with their details, and move nothing", async () => {
  const { client, merchantId } = await service.merchant();
  const payment = await paid(client);
  const before = await available(client);
  const other = await service.merchant();
  expect(codeOf(await refund(other.client, payment.reference))).toBe("PAYMENT_NOT_FOUND");
  const live = await service.client(merchantId, "production");
  expect(codeOf(await refund(live, payment.reference))).toBe("ENVIRONMENT_MISMATCH");
  const beyond = await refund(client, payment.reference, { amount_minor: 1_000_001 });
  expect([beyond.status, codeOf(beyond), beyond.json.error.details]).toEqual([
    422,
    "REFUND_EXCEEDS_PAYMENT",
    { remaining_refundable_minor: 1_000_000 },
  ]);
  for (const amount of [0, -1, 1.5, "5", true, 2 ** 53]) {
    expect(codeOf(await refund(client, payment.reference, { amount_minor: amount })), String(amount)).toBe(
      "INVALID_AMOUNT",
    );
  }
  expect(await available(client)).toBe(before);
  await expectClean(merchantId);
});

test("any number of refunds at once, through two instances, never exceed the payment", async () => {
  const second = await startService({ database: service.database });
  const { client, merchantId } = await service.merchant();
  for (let count = 0; count < 3; count++) await paid(client);
  const payment = await paid(client);
  const elsewhere = await second.client(merchantId);
  const answers = await Promise.all(
    Array.from({ length: 30 }, (_, index) =>
      refund(index % 2 ? client : elsewhere, payment.reference, { amount_minor: 70_000 }),
    ),
  );
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(14);
  expect(new Set(answers.filter(({ status }) => status !== 201).map(codeOf))).toEqual(
    new Set(["REFUND_EXCEEDS_PAYMENT"]),
  );
  expect((await client.get(`/v1/payments/${payment.reference}`)).json.refunded_minor).toBe(980_000);
  await expectClean(merchantId);
  await second.stop();
});

test("an acquirer that answers later: funds are reversed at once, given back when it fails, and cannot be spent meanwhile", async () => {
  const { client, merchantId } = await service.merchant();
  await paid(client);
  const payment = await paid(client, { metadata: { "sandbox.scenario": "slow" } });
  const before = await available(client);
  const slow = await refund(client, payment.reference, { amount_minor: 600_000 });
  expect(slow.json).toMatchObject({ status: "pending", remaining_refundable_minor: 400_000 });
  expect(await available(client)).toBe(before - 600_000);
  expect((await client.get(`/v1/payments/${payment.reference}`)).json).toMatchObject({
    status: "succeeded",
    refunded_minor: 0,
  });
  expect(codeOf(await refund(client, payment.reference, { amount_minor: 400_001 }))).toBe("REFUND_EXCEEDS_PAYMENT");
  const simulate = (uuid: string, outcome: string): Promise<Answer> =>
    client.post(`/v1/sandbox/refunds/${uuid}/simulate`, { outcome });
  expect((await simulate(slow.json.uuid, "failed")).json).toMatchObject({ status: "failed" });
  expect(await available(client)).toBe(before);
  expect(codeOf(await simulate(slow.json.uuid, "succeeded"))).toBe("PAYMENT_NOT_PAYABLE");
  const again = await refund(client, payment.reference);
  expect((await simulate(again.json.uuid, "succeeded")).json.status).toBe("succeeded");
  expect((await client.get(`/v1/payments/${payment.reference}`)).json).toMatchObject({
    status: "refunded",
    refunded_minor: 1_000_000,
  });
  expect(codeOf(await simulate("rfd_nonsense", "failed"))).toBe("REFUND_NOT_FOUND");
  expect((await eventTypes(merchantId)).filter((type) => type.startsWith("refund."))).toEqual([
    "refund.failed",
    "refund.succeeded",
  ]);
  await expectClean(merchantId);
});

test("a refund is its merchant's and its environment's alone", async () => {
  const { client, merchantId } = await service.merchant();
  const { json } = await refund(client, (await paid(client)).reference, { amount_minor: 1 });
  const other = await service.merchant();
  expect(codeOf(await other.client.get(`/v1/refunds/${json.uuid}`))).toBe("REFUND_NOT_FOUND");
  expect(codeOf(await client.get("/v1/refunds/rfd_nonsense"))).toBe("REFUND_NOT_FOUND");
  expect(codeOf(await (await service.client(merchantId, "production")).get(`/v1/refunds/${json.uuid}`))).toBe(
    "ENVIRONMENT_MISMATCH",
  );
});

test("the database refuses refunds that the payment's totals do not tell, and a payment paid by nobody", async () => {
  const { client, merchantId } = await service.merchant();
  const payment = await paid(client);
  await asOwner({ ...service.database, ownerUrl: service.database.url }, async (role) => {
    const key = [uuidOf(merchantId), uuidOf(payment.reference)];
    await expect(
      role.query(
        "insert into refunds (merchant_id, environment, refund_id, payment_id, status, amount_minor, currency, created_at, completed_at) values ($1, 'sandbox', gen_random_uuid(), $2, 'succeeded', 5, 'IDR', now(), now())",
        key,
      ),
    ).rejects.toThrow(/not the sums/);
    await expect(role.query("update refund_totals set refunded_minor = 0")).rejects.toThrow(/permission denied/);
    await refund(client, payment.reference, { amount_minor: 3 });
    await role.query("begin");
    await role.query("update refunds set status = status where merchant_id = $1 and payment_id = $2", key);
    await role.query("update payments set refunded_minor = 4 where merchant_id = $1 and payment_id = $2", key);
    await expect(
      role.query("update refunds set status = status where merchant_id = $1 and payment_id = $2", key),
    ).rejects.toThrow(/not the sums/);
    await role.query("rollback");
    await expect(
      role.query("update payments set refund_pending_minor = 1000001 where merchant_id = $1 and payment_id = $2", key),
    ).rejects.toThrow(/within_amount/);
    const pending = (await client.post("/v1/payments", paymentBody())).json;
    await expect(
      role.query("update payments set status = 'succeeded', paid_at = now() where payment_id = $1", [
        uuidOf(pending.reference),
      ]),
    ).rejects.toThrow(/without a capture/);
  });
});

test("the database refuses a refund of a payment that is not paid, of another currency or in a dispute, and one without its journals", async () => {
  const { client, merchantId } = await service.merchant();
  const [sound, contested, slow] = [
    await paid(client),
    await paid(client),
    await paid(client, { metadata: { "sandbox.scenario": "slow" } }),
  ];
  const open = (await client.post("/v1/payments", paymentBody())).json;
  await client.post(`/v1/sandbox/payments/${contested.reference}/dispute`, { reason: "general" });
  const late = await refund(client, slow.reference, { amount_minor: 3 });
  expect(late.json.status).toBe("pending");
  await asOwner({ ...service.database, ownerUrl: service.database.url }, async (role) => {
    /** Changes that are never committed. */
    const tried = async (reference: string, ...changes: string[]): Promise<void> => {
      await role.query("begin");
      try {
        for (const change of changes) await role.query(change, [uuidOf(merchantId), uuidOf(reference)]);
      } finally {
        await role.query("rollback");
      }
    };
    const totals = (set: string): string =>
      `update payments set ${set} where merchant_id = $1 and environment = 'sandbox' and payment_id = $2`;
    const inserted = (currency = "IDR", status = "pending"): string =>
      `insert into refunds (merchant_id, environment, refund_id, payment_id, status, amount_minor, currency, created_at, completed_at)
values ($1, 'sandbox', gen_random_uuid(), $2, '${status}', 5, '${currency}', now(), ${status === "pending" ? "null" : "now()"})`;
    const pending = totals("refund_pending_minor = refund_pending_minor + 5");
    await expect(tried(open.reference as string, pending, inserted())).rejects.toThrow(/is not paid/);
    await expect(tried(sound.reference, pending, inserted("USD"))).rejects.toThrow(/is in another currency/);
    await expect(tried(contested.reference, pending, inserted())).rejects.toThrow(/is in a dispute/);
    await expect(tried(sound.reference, pending, inserted())).rejects.toThrow(/has no journal/);
    await expect(tried(sound.reference, inserted("IDR", "failed"))).rejects.toThrow(/has no journal/);
    const failed = `update refunds set status = 'failed', completed_at = now() where merchant_id = $1 and payment_id = $2`;
    const lifted = totals("refund_pending_minor = refund_pending_minor - 3");
    await expect(tried(slow.reference, lifted, failed)).rejects.toThrow(/was not given back/);
  });
  await client.post(`/v1/sandbox/refunds/${late.json.uuid}/simulate`, { outcome: "failed" });
  expect((await client.get(`/v1/refunds/${late.json.uuid}`)).json.status).toBe("failed");
});

test("refunds are listed, newest first, by payment and status, and nobody else's", async () => {
  const { client, merchantId } = await service.merchant();
  const [first, second] = [await paid(client), await paid(client)];
  const made: string[] = [];
  for (const { reference } of [first, first, second])
    made.unshift((await refund(client, reference, { amount_minor: 1_000 })).json.uuid as string);
  const list = async (query: string): Promise<Answer> => client.get(`/v1/refunds${query}`);
  const uuids = ({ json }: Answer): string[] => json.data.map(({ uuid }: { uuid: string }) => uuid);
  const all = await list("");
  expect([uuids(all), all.json.has_more]).toEqual([made, false]);
  expect(all.json.data[0]).toEqual((await client.get(`/v1/refunds/${made[0]}`)).json);
  expect(uuids(await list(`?payment_reference=${first.reference}`))).toEqual(made.slice(1));
  expect(uuids(await list("?status=failed"))).toEqual([]);
  expect(uuids(await list(`?status=succeeded&payment_reference=${second.reference}`))).toEqual([made[0]]);
  const page = await list("?limit=2");
  expect([uuids(page), page.json.next_cursor]).toEqual([made.slice(0, 2), made[1]]);
  expect(uuids(await list(`?limit=2&starting_after=${made[1]}`))).toEqual([made[2]]);
  for (const query of ["?status=open", "?limit=0", "?starting_after=rfd_x", "?payment_reference=x", "?what=1"])
    expect(codeOf(await list(query)), query).toBe("VALIDATION_ERROR");
  const other = await service.merchant();
  expect(uuids(await other.client.get(`/v1/refunds?payment_reference=${first.reference}`))).toEqual([]);
  expect(codeOf(await other.client.get(`/v1/refunds?starting_after=${made[0]}`))).toBe("VALIDATION_ERROR");
  const live = await service.client(merchantId, "production");
  expect(uuids(await live.get("/v1/refunds"))).toEqual([]);
});

test("refunds are listed by the time at which they were created, also where their identity is older", async () => {
  const { client, merchantId } = await service.merchant();
  const { reference } = await paid(client);
  const made: Answer["json"][] = [];
  for (let day = 0; day < 3; day++) {
    made.push((await refund(client, reference, { amount_minor: 1_000 })).json);
    await client.post("/v1/sandbox/clock/advance", { seconds: 86_400 });
  }
  const [first, second, third] = made as [Answer["json"], Answer["json"], Answer["json"]];
  const list = async (by: Client, query: Record<string, string>): Promise<string[]> => {
    const { json } = await by.get(`/v1/refunds?${new URLSearchParams(query)}`);
    return json.data.map(({ uuid }: { uuid: string }) => uuid);
  };
  const [from, to] = [second.created_at as string, second.created_at as string];
  expect(await list(client, { created_from: from })).toEqual([third.uuid, second.uuid]);
  expect(await list(client, { created_to: to })).toEqual([second.uuid, first.uuid]);
  expect(await list(client, { created_from: from, created_to: to, limit: "1" })).toEqual([second.uuid]);
  const elsewhere = new Date(Date.parse(from) + 7 * 3_600_000).toISOString().replace(/\.000Z$/, "+07:00");
  expect(await list(client, { created_from: elsewhere, created_to: elsewhere })).toEqual([second.uuid]);
  expect(codeOf(await client.get("/v1/refunds?created_from=yesterday"))).toBe("VALIDATION_ERROR");

  // A refund that waited for a second operator has its approval's identity: of real time in a sandbox, days older in production.
  const ages = { sandbox: 400, production: 4 };
  const older = (environment: keyof typeof ages): string =>
    newId("refund", Date.parse(from) * 1_000 - ages[environment] * 86_400 * SECOND);
  const [inSandbox, inProduction] = [older("sandbox"), older("production")];
  await asOwner(service.database, async (owner) => {
    await owner.query("set session_replication_role = replica"); // no triggers
    for (const table of ["payments", "refunds"]) {
      await owner.query(`create temporary table copied as select * from ${table} where merchant_id = $1`, [
        uuidOf(merchantId),
      ]);
      if (table === "refunds") {
        await owner.query("delete from copied where refund_id <> $1", [uuidOf(second.uuid)]);
        await owner.query("update copied set refund_id = $1", [uuidOf(inSandbox)]);
        await owner.query("insert into refunds select * from copied");
        await owner.query("update copied set refund_id = $1", [uuidOf(inProduction)]);
      }
      await owner.query("update copied set environment = 'production'");
      await owner.query(`insert into ${table} select * from copied`);
      await owner.query("drop table copied");
    }
    await owner.query("set session_replication_role = origin");
  });
  expect(await list(client, { created_from: from, created_to: to })).toEqual([second.uuid, inSandbox]);
  expect(await list(client, { created_to: first.created_at as string })).toEqual([first.uuid]);
  const live = await service.client(merchantId, "production");
  expect(await list(live, { created_from: from, created_to: to })).toEqual([inProduction]);
  expect(await list(live, { created_from: third.created_at })).toEqual([]);
  expect(await list(live, { created_from: "1970-01-01" })).toEqual([inProduction]);
});
