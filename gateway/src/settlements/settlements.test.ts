// Goal: everything paid reaches the bank once, and every batch adds up. Method: the pure choice by property; then a whole
// service whose sandbox clock walks through cutoffs, banks and weekends.
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import type { Answer, Client } from "../../../e2e/kit/client.ts";
import { alsoIn } from "../../test/currencies.ts";
import { defaultSchedule } from "../merchants/settlement-schedule.ts";
import { type SettingsChange, defaultSettings } from "../merchants/settings.ts";
import { merchantWith } from "../../test/given.ts";
import { type TestService, asOwner, lanesOn, openDatabase, paymentBody, startService } from "../../test/kit.ts";
import { slowness } from "../../test/slowness.ts";
import { SECOND, systemClock } from "../ground/clock.ts";
import { uuidOf } from "../ground/ids.ts";
import { exampleOf } from "../http/shapes.ts";
import { verifyBook } from "../ledger/verify.ts";
import type { Command } from "../store/command.ts";
import { settleDue } from "./settlement-worker.ts";
import { type SettlementItem, select } from "./settlement.ts";
import { settlementSchema, statementSchema } from "./settlements.schema.ts";

describe("what a batch takes", () => {
  const item = fc
    .record({
      kind: fc.constantFrom<SettlementItem["kind"]>("payment", "payment", "receipt", "refund", "dispute"),
      amountMinor: fc.bigInt({ min: 1n, max: 10n ** 9n }),
      feeMinor: fc.bigInt({ min: 0n, max: 10n ** 9n }),
      occurredAt: fc.integer({ min: 0, max: 1_000_000 }),
      id: fc.uuid(),
    })
    .map((given): SettlementItem => ({
      ...given,
      paymentReference: "pay_x",
      feeMinor: given.kind !== "payment" ? 0n : given.feeMinor < given.amountMinor ? given.feeMinor : given.amountMinor,
    }));

  test("net is gross less fee less refund, is more than nothing, and never more than what is available", () => {
    fc.assert(
      fc.property(
        fc.array(item, { maxLength: 30 }),
        fc.bigInt({ min: 0n, max: 10n ** 10n }),
        fc.bigInt({ min: 0n, max: 10n ** 9n }),
        (unsettled, available, minimum) => {
          const taken = select(unsettled, available, minimum);
          if (!taken) return;
          expect(taken.netMinor).toBe(taken.grossMinor - taken.feeMinor - taken.refundMinor);
          expect(taken.netMinor > 0n && taken.netMinor <= available && taken.netMinor >= minimum).toBe(true);
          expect(new Set(taken.items).size).toBe(taken.items.length);
          const added = ({ kind }: SettlementItem): boolean => kind === "payment" || kind === "receipt";
          const payments = taken.items.filter(added);
          expect(payments.reduce((sum, { amountMinor }) => sum + amountMinor, 0n)).toBe(taken.grossMinor);
          // Who waits is never older than who is taken, and every deduction is taken.
          const left = unsettled.filter((candidate) => !taken.items.includes(candidate));
          expect(left.every(added)).toBe(true);
          const newest = Math.max(...payments.map(({ occurredAt }) => occurredAt));
          expect(left.every(({ occurredAt }) => occurredAt >= newest)).toBe(true);
        },
      ),
    );
  });
});

test("the documented example of a statement adds up, line by line, to the example of its batch", () => {
  const [head = "", ...rows] = exampleOf(statementSchema).trimEnd().split("\r\n");
  const names = head.split(",");
  const lines = rows.map((row) => Object.fromEntries(row.split(",").map((value, at) => [names[at], value])));
  const { uuid, period_end, currency, gross_minor, fee_minor, refund_minor, net_minor } = exampleOf(settlementSchema);
  const total = lines.pop() ?? {};
  expect(lines.map(({ kind }) => kind)).toEqual(["payment", "refund", "dispute"]);
  const figures = ["gross_minor", "fee_minor", "refund_minor", "dispute_minor", "net_minor"];
  for (const name of figures)
    expect([name, total[name]]).toEqual([name, String(lines.reduce((sum, line) => sum + Number(line[name]), 0))]);
  for (const line of [...lines, total]) {
    const [gross = 0, fee = 0, refund = 0, dispute = 0, net] = figures.map((name) => Number(line[name]));
    expect(gross - fee - refund - dispute).toBe(net);
    expect(Number(line.net) * 100).toBe(net);
  }
  expect(total).toMatchObject({ kind: "total", id: uuid, occurred_at: period_end, currency });
  expect([total.gross_minor, total.fee_minor, total.net_minor].map(Number)).toEqual([
    gross_minor,
    fee_minor,
    net_minor,
  ]);
  expect(Number(total.refund_minor) + Number(total.dispute_minor)).toBe(refund_minor);
});

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

/** A merchant whose batches are formed by the usual schedule. */
const onSchedule = (settings: SettingsChange = {}): ReturnType<TestService["merchant"]> =>
  service.merchant({ settings: { ...settings, settlement: defaultSchedule } });

async function paid(client: Client, changes: Record<string, unknown> = {}): Promise<Answer["json"]> {
  const { json } = await client.post("/v1/payments", paymentBody({ amount_minor: 1_000_000, ...changes }));
  await client.post(`/v1/sandbox/payments/${json.reference}/simulate`, { outcome: "succeeded" });
  return json;
}

const advance = (client: Client, seconds: number): Promise<Answer> =>
  client.post("/v1/sandbox/clock/advance", { seconds });
const list = async (client: Client, query = ""): Promise<Answer["json"]> =>
  (await client.get(`/v1/settlements${query}`)).json;
const balance = async (client: Client): Promise<Record<string, number>> =>
  (await client.get("/v1/balances")).json.data[0];
const codeOf = (answer: Answer): string => answer.json.error?.code as string;

async function expectClean(merchantId: string): Promise<void> {
  const database = openDatabase(service.database);
  expect((await verifyBook(database, { merchantId, environment: "sandbox" })).wrong).toBeUndefined();
  await database.end();
}

/** Seconds until a little after the next cutoff on a working day in Jakarta, of this book. */
async function toNextCutoff(client: Client): Promise<number> {
  const { json } = await client.get("/v1/sandbox/clock");
  const local = Date.parse(json.now) / 1000 + 7 * 3600;
  let day = Math.floor(local / 86_400) + 1;
  while ([0, 6].includes(new Date(day * 86_400_000).getUTCDay())) day++;
  return Math.ceil(day * 86_400 - local) + 5;
}

test("the schedule forms a batch at the cutoff and the bank pays it: available, settling, bank", async () => {
  const { client, merchantId } = await onSchedule();
  const [first, second] = [await paid(client), await paid(client)];
  await client.post("/v1/refunds", { payment_reference: first.reference, amount_minor: 200_000 });
  const before = await balance(client);
  expect((await client.get(`/v1/payments/${second.reference}`)).json.settlement.status).toBe("pending");
  await advance(client, await toNextCutoff(client));
  const { data } = await list(client);
  expect(data).toHaveLength(1);
  const batch = settlementSchema.parse(data[0]);
  expect(batch).toMatchObject({
    status: "processing",
    gross_minor: 2_000_000,
    fee_minor: (first.fee_minor as number) * 2,
    refund_minor: 200_000,
    payment_count: 2,
    paid_at: null,
    bank_reference: null,
  });
  expect(batch.net_minor).toBe(batch.gross_minor - batch.fee_minor - batch.refund_minor);
  expect(batch.net_minor).toBe(before.available_minor);
  expect(await balance(client)).toMatchObject({ available_minor: 0, pending_settlement_minor: batch.net_minor });
  expect((await client.get(`/v1/payments/${second.reference}`)).json.settlement.status).toBe("processing");
  await advance(client, 3601);
  const paidBatch = settlementSchema.parse((await list(client)).data[0]);
  expect(paidBatch).toMatchObject({ uuid: batch.uuid, status: "paid" });
  expect(paidBatch.bank_reference).toMatch(/^GB/);
  expect(await balance(client)).toMatchObject({ available_minor: 0, pending_settlement_minor: 0 });
  expect((await client.get(`/v1/payments/${second.reference}`)).json.settlement.status).toBe("paid");
  const { rows } = await asOwner(service.database, (owner) =>
    owner.query<{ type: string }>(
      "select type from events where merchant_id = $1 and type like 'settlement.%' order by event_id",
      [uuidOf(merchantId)],
    ),
  );
  expect(rows.map(({ type }) => type)).toEqual(["settlement.created", "settlement.paid"]);
  await expectClean(merchantId);
});

test("the statement has a line for each payment, refund and lost dispute, and adds up to the batch", async () => {
  const { client, merchantId } = await service.merchant();
  const payments = [
    await paid(client, { reference_id: 'order "1", of two' }),
    await paid(client),
    await paid(client),
    await paid(client),
  ];
  await client.post("/v1/refunds", { payment_reference: payments[0].reference, amount_minor: 100_000 });
  const lost = (
    await client.post(`/v1/sandbox/payments/${payments[1].reference}/dispute`, {
      reason: "fraudulent",
      amount_minor: 300_000,
    })
  ).json;
  await client.post(`/v1/sandbox/disputes/${lost.uuid}/resolve`, { outcome: "lost" });
  await client.post(`/v1/sandbox/payments/${payments[2].reference}/dispute`, { reason: "general" }); // still running: waits
  // The payment in a dispute is left out, and what is held for it is not there to be paid out: the newest waits as well.
  const [formed] = (await client.post("/v1/sandbox/settlements/run", "")).json.data;
  expect(formed).toMatchObject({ gross_minor: 2_000_000, refund_minor: 400_000, payment_count: 2 });
  const answer = await client.get(`/v1/settlements/${formed.uuid}/statement`);
  expect(answer.headers.get("content-type")).toContain("text/csv");
  const [head = "", ...rows] = answer.text.trim().split("\r\n");
  expect(head).toBe(
    "kind,id,reference,reference_id,payment_method,gateway_code,created_at,paid_at,occurred_at,currency,gross_minor,fee_minor," +
      "refund_minor,dispute_minor,net_minor,net",
  );
  expect(rows).toHaveLength(4 + 1);
  // The quoted text of one field is set aside, so that commas separate fields alone.
  const quoted = '"order ""1"", of two"';
  expect(rows.filter((row) => row.includes(quoted))).toHaveLength(2);
  const lines = rows.map((row) => row.replace(quoted, "order").split(","));
  expect(lines.map((line) => line.length)).toEqual([16, 16, 16, 16, 16]);
  const sums = [10, 11, 12, 13, 14].map((column) =>
    lines.slice(0, -1).reduce((total, line) => total + Number(line[column]), 0),
  );
  expect(sums).toEqual([formed.gross_minor, formed.fee_minor, 100_000, 300_000, formed.net_minor]);
  expect(lines.at(-1)?.slice(10, 15).map(Number)).toEqual(sums);
  const line = lines.find(([kind, , reference]) => kind === "payment" && reference === payments[0].reference);
  expect(line?.slice(1, 6)).toEqual([
    payments[0].reference,
    payments[0].reference,
    "order",
    "qris",
    payments[0].gateway_code,
  ]);
  // What is in a batch names it, whoever asks for which.
  const { uuid } = formed;
  const [refunded] = (await client.get("/v1/refunds")).json.data;
  expect([refunded.settlement_uuid, refunded.reference_id]).toEqual([uuid, 'order "1", of two']);
  expect((await client.get(`/v1/disputes/${lost.uuid}`)).json.settlement_uuid).toBe(uuid);
  const batches = (await client.get("/v1/payments")).json.data.map((one: Answer["json"]) => one.settlement_uuid);
  expect(batches).toEqual([null, null, uuid, uuid]);
  expect((await client.get(`/v1/payments/${payments[0].reference}`)).json.settlement_uuid).toBe(uuid);
  // And each entry of the balance names what moved it.
  const { data: entries } = (await client.get("/v1/balances/IDR/entries")).json;
  const moved = entries.map((one: Answer["json"]) => [one.kind, one.object]);
  expect(moved).toEqual([
    ["settlement_formed", uuid],
    ["dispute_opened", expect.stringMatching(/^dsp_/)],
    ["dispute_opened", lost.uuid],
    ["refund", refunded.uuid],
    ...payments.toReversed().map(({ reference }) => ["capture", reference]),
  ]);
  const running = (await client.get("/v1/disputes?status=needs_response")).json.data[0].uuid as string;
  await client.post(`/v1/sandbox/disputes/${running}/resolve`, { outcome: "won" });
  const [rest] = (await client.post("/v1/sandbox/settlements/run", {})).json.data;
  expect(rest).toMatchObject({ gross_minor: 2_000_000, refund_minor: 0, payment_count: 2 });
  const other = await service.merchant();
  expect(codeOf(await other.client.get(`/v1/settlements/${formed.uuid}/statement`))).toBe("OBJECT_NOT_FOUND");
  await expectClean(merchantId);
});

test("of a payment in a dispute, or of which a refund is under way, nothing is in a batch, and of others all", async () => {
  const { client, merchantId } = await service.merchant();
  const slow = { metadata: { "sandbox.scenario": "slow" } };
  const refund = async ({ reference }: Answer["json"], outcome?: string): Promise<string> => {
    const { uuid } = (await client.post("/v1/refunds", { payment_reference: reference, amount_minor: 100_000 })).json;
    if (outcome) await client.post(`/v1/sandbox/refunds/${uuid}/simulate`, { outcome });
    return uuid as string;
  };
  const run = async (): Promise<Set<string>> => {
    const [{ uuid }] = (await client.post("/v1/sandbox/settlements/run", {})).json.data;
    const lines = (await client.get(`/v1/settlements/${uuid}/statement`)).text.split("\r\n").slice(1, -2);
    return new Set(lines.map((line) => line.split(",")[1] ?? ""));
  };
  const settled = await paid(client, slow);
  expect(await run()).toEqual(new Set([settled.reference]));
  const [contested, waiting, plain] = [await paid(client), await paid(client, slow), await paid(client)];
  const ofSettled = await refund(settled, "succeeded");
  const alsoOfSettled = await refund(settled);
  const ofContested = await refund(contested);
  const dispute = { reason: "general", amount_minor: 1 };
  const { json } = await client.post(`/v1/sandbox/payments/${contested.reference}/dispute`, dispute);
  const ofWaiting = await refund(waiting, "succeeded");
  const underWay = await refund(waiting);
  expect(await run()).toEqual(new Set([plain.reference, ofSettled]));
  await client.post(`/v1/sandbox/disputes/${json.uuid}/resolve`, { outcome: "lost" });
  expect(await run()).toEqual(new Set([contested.reference, ofContested, json.uuid]));
  for (const uuid of [underWay, alsoOfSettled])
    await client.post(`/v1/sandbox/refunds/${uuid}/simulate`, { outcome: "failed" });
  expect(await run()).toEqual(new Set([waiting.reference, ofWaiting]));
  await expectClean(merchantId);
});

test("nothing is settled twice: batches that follow take only what is new", async () => {
  const { client, merchantId } = await service.merchant();
  await paid(client);
  const run = async (): Promise<Answer["json"][]> => (await client.post("/v1/sandbox/settlements/run", {})).json.data;
  expect(await run()).toHaveLength(1);
  expect(await run()).toEqual([]);
  await paid(client);
  await Promise.all(Array.from({ length: 5 }, run));
  const { data } = await list(client);
  expect(data.map(({ payment_count: count }: { payment_count: number }) => count)).toEqual([1, 1]);
  const batch = data[0].uuid as string;
  const pay = (): Promise<Answer> => client.post(`/v1/sandbox/settlements/${batch}/pay`, {});
  expect((await pay()).json.status).toBe("paid");
  expect(codeOf(await pay())).toBe("SETTLEMENT_CLOSED");
  expect(codeOf(await client.post("/v1/sandbox/settlements/set_nonsense/pay", {}))).toBe("OBJECT_NOT_FOUND");
  await expectClean(merchantId);
});

test("a batch that the bank returns gives the funds back, and its payments go into the next", async () => {
  const { client, merchantId } = await service.merchant();
  const payment = await paid(client);
  const [batch] = (await client.post("/v1/sandbox/settlements/run", {})).json.data;
  await service.app.returnSettlement({ merchantId, environment: "sandbox" }, batch.uuid);
  expect(await balance(client)).toMatchObject({ available_minor: payment.net_minor, pending_settlement_minor: 0 });
  expect((await list(client)).data[0].status).toBe("failed");
  const after = (await client.get(`/v1/payments/${payment.reference}`)).json;
  expect(after).toMatchObject({ settlement_uuid: null, settlement: { status: "pending" } });
  const [again] = (await client.post("/v1/sandbox/settlements/run", {})).json.data;
  expect(again).toMatchObject({ payment_count: 1, net_minor: payment.net_minor });
  await expectClean(merchantId);
});

test("currencies settle apart, and a long jump of the clock passes every cutoff in order", async () => {
  const { client, merchantId } = await onSchedule(alsoIn(defaultSettings, "USD"));
  await paid(client);
  await paid(client, { currency: "USD", payment_method: "card" });
  await advance(client, await toNextCutoff(client));
  await paid(client);
  await advance(client, 14 * 86_400);
  const { data } = await list(client);
  expect(
    data.map(({ currency, status }: { currency: string; status: string }) => [currency, status]).toSorted(),
  ).toEqual([
    ["IDR", "paid"],
    ["IDR", "paid"],
    ["USD", "paid"],
  ]);
  await expectClean(merchantId);
});

test("the list filters by status, currency and dates, pages, and shows nobody else's", async () => {
  const { client, merchantId } = await service.merchant();
  const uuids: string[] = [];
  for (let count = 0; count < 3; count++) {
    await paid(client);
    uuids.unshift((await client.post("/v1/sandbox/settlements/run", {})).json.data[0].uuid as string);
  }
  await client.post(`/v1/sandbox/settlements/${uuids[0]}/pay`, {});
  const of = async (query: string): Promise<string[]> =>
    (await list(client, query)).data.map(({ uuid }: { uuid: string }) => uuid);
  const today = new Date().toISOString().slice(0, 10);
  expect(await of("")).toEqual(uuids);
  expect(await of("?status=paid")).toEqual([uuids[0]]);
  expect(await of("?currency=USD")).toEqual([]);
  expect(await of(`?date_from=${today}&date_to=${today}`)).toEqual(uuids);
  expect(await of("?date_to=2020-01-01")).toEqual([]);
  expect(await list(client, "?limit=2")).toMatchObject({ has_more: true, next_cursor: uuids[1] });
  expect(await of(`?limit=2&starting_after=${uuids[1]}`)).toEqual([uuids[2]]);
  for (const query of [
    "?status=open",
    "?currency=rupiah",
    "?date_from=yesterday",
    "?limit=0",
    "?starting_after=set_x",
    "?x=1",
  ]) {
    expect(codeOf(await client.get(`/v1/settlements${query}`)), query).toBe("VALIDATION_ERROR");
  }
  const other = await service.merchant();
  expect((await list(other.client)).data).toEqual([]);
  expect((await (await service.client(merchantId, "production")).get("/v1/settlements")).json.data).toEqual([]);
});

test("the database refuses a batch without items, or of more than JSON carries, and an item in two batches", async () => {
  const { client, merchantId } = await service.merchant();
  await paid(client);
  const [batch] = (await client.post("/v1/sandbox/settlements/run", {})).json.data;
  await asOwner({ ...service.database, ownerUrl: service.database.url }, async (role) => {
    const copy = `insert into settlements select merchant_id, environment, gen_random_uuid(), 'processing', currency, period_start, period_end, gross_minor, fee_minor, refund_minor, net_minor, payment_count, now(), now(), now(), null, null from settlements where merchant_id = $1`;
    await expect(role.query(copy, [uuidOf(merchantId)])).rejects.toThrow(/has no items/);
    await expect(
      role.query(
        "insert into settlements select merchant_id, environment, gen_random_uuid(), 'processing', currency, period_start, period_end, gross_minor, fee_minor, refund_minor, net_minor + 1, payment_count, now(), now(), now(), null, null from settlements where merchant_id = $1",
        [uuidOf(merchantId)],
      ),
    ).rejects.toThrow(/settlements_net/);
    await expect(
      role.query(
        "insert into settlements select merchant_id, environment, gen_random_uuid(), 'processing', currency, period_start, period_end, 9007199254740992, 0, 0, 9007199254740992, payment_count, now(), now(), now(), null, null from settlements where merchant_id = $1",
        [uuidOf(merchantId)],
      ),
    ).rejects.toThrow(/settlements_gross_minor_check/);
    await role.query("begin");
    const { rows } = await role.query<{ id: string }>(`${copy} returning settlement_id as id`, [uuidOf(merchantId)]);
    await expect(
      role.query(
        "insert into settlement_items select merchant_id, environment, $2, kind, item_id, payment_id, amount_minor, fee_minor, occurred_at, false from settlement_items where settlement_id = $1",
        [uuidOf(batch.uuid), rows[0]?.id],
      ),
    ).rejects.toThrow(/settlement_items_once/);
    await role.query("rollback");
  });
});

test("the database refuses a batch without the journal that formed it, and one that was paid or returned without one", async () => {
  const { client, merchantId } = await service.merchant();
  await paid(client);
  const [batch] = (await client.post("/v1/sandbox/settlements/run", {})).json.data;
  await asOwner({ ...service.database, ownerUrl: service.database.url }, async (role) => {
    const changes = {
      formed: `with copy as (
  insert into settlements select merchant_id, environment, gen_random_uuid(), 'processing', currency, period_start, period_end, gross_minor, fee_minor, refund_minor, net_minor, payment_count, now(), now(), now(), null, null
  from settlements where merchant_id = $1 returning settlement_id
) insert into settlement_items select merchant_id, environment, copy.settlement_id, kind, gen_random_uuid(), payment_id, amount_minor, fee_minor, occurred_at, false
  from settlement_items i, copy where i.settlement_id = $2`,
      paid: `update settlements set status = 'paid', paid_at = now(), bank_reference = 'x' where merchant_id = $1 and settlement_id = $2`,
      returned: `update settlements set status = 'failed', returned_at = now() where merchant_id = $1 and settlement_id = $2`,
    };
    for (const [name, change] of Object.entries(changes)) {
      await role.query("begin");
      await role.query(change, [uuidOf(merchantId), uuidOf(batch.uuid)]);
      await expect(role.query("set constraints all immediate"), name).rejects.toThrow(/without its journals/);
      await role.query("rollback");
    }
  });
  expect((await client.post(`/v1/sandbox/settlements/${batch.uuid}/pay`, {})).json.status).toBe("paid");
});

test("the database lets nobody write anew when a batch was paid or returned, by which transfer, or whether its items are free", async () => {
  const { client, merchantId } = await service.merchant();
  const form = async (): Promise<string> => {
    await paid(client);
    return (await client.post("/v1/sandbox/settlements/run", {})).json.data[0].uuid;
  };
  const [left, returned] = [await form(), await form()];
  expect((await client.post(`/v1/sandbox/settlements/${left}/pay`, {})).json.status).toBe("paid");
  await service.app.returnSettlement({ merchantId, environment: "sandbox" }, returned);
  await asOwner({ ...service.database, ownerUrl: service.database.url }, async (role) => {
    for (const [uuid, change] of [
      [left, "bank_reference = 'another'"],
      [left, "paid_at = paid_at + interval '1 second'"],
      [left, "payout_date = payout_date + 1"],
      [returned, "returned_at = returned_at + interval '1 second'"],
    ] as const) {
      const again = role.query(`update settlements set ${change} where merchant_id = $1 and settlement_id = $2`, [
        uuidOf(merchantId),
        uuidOf(uuid),
      ]);
      await expect(again, change).rejects.toThrow(/a settlement that is (paid|failed) stays as it is/);
    }
    for (const [uuid, change] of [
      [left, "released = true"],
      [returned, "released = false"],
    ] as const) {
      const again = role.query(`update settlement_items set ${change} where merchant_id = $1 and settlement_id = $2`, [
        uuidOf(merchantId),
        uuidOf(uuid),
      ]);
      await expect(again, change).rejects.toThrow(/released only of a batch that the bank returned/);
    }
  });
});

test("who disputes a payment in the moment in which a batch is formed keeps it out of the batch", async () => {
  for (let round = 0; round < 10; round++) {
    const { client, merchantId } = await service.merchant();
    const [contested] = [await paid(client), await paid(client)];
    const [, formed] = await Promise.all([
      client.post(`/v1/sandbox/payments/${contested.reference}/dispute`, { reason: "general", amount_minor: 1 }),
      client.post("/v1/sandbox/settlements/run", {}),
    ]);
    expect(formed.status).toBe(200);
    await expectClean(merchantId);
  }
});

test("more payments than one batch looks at become several batches of the same cutoff", async () => {
  const { client } = await onSchedule();
  const { reference } = await paid(client, { amount_minor: 9_000_000_000 });
  await asOwner(service.database, async (owner) => {
    await owner.query("set session_replication_role = replica");
    const columns =
      "merchant_id, environment, status, created_at, updated_at, expires_at, payment_method, risk_score, currency, gateway_code, risk_decision, risk_reasons, routing";
    await owner.query(
      `insert into payments (payment_id, reference_id, amount_minor, fee_minor, paid_at, ${columns})
select gen_random_uuid(), 'clone-' || n, 1000, 0, paid_at - interval '1 minute', ${columns}
from payments, generate_series(1, 5200) n
where payment_id = $1::uuid`,
      [uuidOf(reference as string)],
    );
    await owner.query("set session_replication_role = origin");
    // Nobody collects statistics here, and without any PostgreSQL may mark the payments through an index of their merchant alone.
    await owner.query("analyze payments");
  });
  await advance(client, await toNextCutoff(client));
  const { data } = await list(client);
  expect(data.map(({ payment_count }: { payment_count: number }) => payment_count)).toEqual([200, 5_000]);
  expect(new Set(data.map(({ period_end }: { period_end: string }) => period_end)).size).toBe(1);
});

test("a run by hand forms nothing below the minimum payout or of a frozen wallet, as the contract says", async () => {
  const { client, merchantId } = await service.merchant();
  const { reference } = (await client.post("/v1/payments", paymentBody())).json;
  await client.post(`/v1/sandbox/payments/${reference}/simulate`, { outcome: "succeeded" });
  const formedWith = async (settings: object): Promise<number> => {
    await service.operate("PATCH", `/merchants/${merchantId}`, settings);
    return (await client.post("/v1/sandbox/settlements/run", {})).json.data.length as number;
  };
  expect(await formedWith({ settlement: { minimum_payout_minor: 9_000_000_000 } })).toBe(0);
  expect(await formedWith({ settlement: { minimum_payout_minor: 0 }, wallet_frozen: { IDR: true } })).toBe(0);
  expect(await formedWith({ wallet_frozen: { IDR: false } })).toBe(1);
});

test("a frozen wallet is not paid out, until it is thawed", async () => {
  const { client, merchantId } = await service.merchant();
  await paid(client);
  const [{ uuid }] = (await client.post("/v1/sandbox/settlements/run", {})).json.data;
  const freeze = (frozen: boolean): Promise<unknown> =>
    service.operate("PATCH", `/merchants/${merchantId}`, { wallet_frozen: { IDR: frozen } });
  await freeze(true);
  await advance(client, 7_200);
  expect((await list(client)).data[0]).toMatchObject({ status: "processing" });
  expect(codeOf(await client.post(`/v1/sandbox/settlements/${uuid}/pay`, {}))).toBe("WALLET_FROZEN");
  await freeze(false);
  await advance(client, 1);
  expect((await list(client)).data[0]).toMatchObject({ status: "paid" });
  await expectClean(merchantId);
});

test.each([
  ["another process pays", "paid"],
  ["is of a wallet that is frozen", "processing"],
])("a batch that %s a moment before is nothing to warn of", async (_what, status) => {
  const isFrozen = status === "processing";
  const { client, merchantId } = await service.merchant();
  await paid(client);
  const [{ uuid }] = (await client.post("/v1/sandbox/settlements/run", {})).json.data;
  const database = openDatabase(service.database);
  // Lanes and sweeps go by one clock: else a cutoff between the two would be due for ever to the sweep, and never to its command.
  const clock = { now: () => systemClock.now() + 7_200 * SECOND };
  const lanes = lanesOn(database, clock);
  const warn = vi.fn();
  const parts = {
    database,
    lanes: {
      quarantine: new Map(),
      async move(id: string, command: Command<unknown>) {
        if (command.name === "pay settlement" && !isFrozen)
          await client.post(`/v1/sandbox/settlements/${uuid}/pay`, {});
        return lanes.move(id, command);
      },
    },
    directory: {
      merchant: () => Promise.resolve({ ...merchantWith({ wallet_frozen: { IDR: isFrozen } }), merchantId }),
    },
    clock,
    log: { warn },
  };
  await settleDue(parts as never, { merchantId, environment: "sandbox" });
  expect(warn).not.toHaveBeenCalled();
  expect((await list(client)).data).toMatchObject([{ uuid, status }]);
  await database.end();
});

test("a suspended merchant is paid out all the same, unless its wallet is frozen as well", async () => {
  const suspendedWith = async (change: object): Promise<string> => {
    const { client, merchantId } = await onSchedule();
    await paid(client);
    await service.operate("PATCH", `/merchants/${merchantId}`, { suspended: true, ...change });
    expect(codeOf(await client.get("/v1/settlements"))).toBe("MERCHANT_SUSPENDED");
    const week = "update books set clock_offset_seconds = 7 * 86400 where merchant_id = $1 and environment = 'sandbox'";
    await asOwner(service.database, (owner) => owner.query(week, [uuidOf(merchantId)]));
    return merchantId;
  };
  const frozen = await suspendedWith({ wallet_frozen: { IDR: true } });
  const open = await suspendedWith({});
  const statuses = async (merchantId: string): Promise<string[]> => {
    const { data } = await service.operate("GET", `/merchants/${merchantId}/books/sandbox/settlements`);
    return data.map(({ status }: { status: string }) => status);
  };
  await expect.poll(() => statuses(open), { timeout: 20_000 * slowness() }).toEqual(["paid"]);
  expect(await statuses(frozen)).toEqual([]);
});

test("one long step of the clock ends like many short ones", async () => {
  const outcomes = await Promise.all(
    [Array.from({ length: 10 }, () => 86_400), [864_000]].map(async (steps) => {
      const { client, merchantId } = await onSchedule();
      const [contested] = [await paid(client), await paid(client)];
      const { json } = await client.post(`/v1/sandbox/payments/${contested.reference}/dispute`, { reason: "general" });
      for (const seconds of steps) expect((await advance(client, seconds)).status).toBe(200);
      const [dispute] = (await client.get("/v1/disputes")).json.data;
      expect(dispute).toMatchObject({ uuid: json.uuid, status: "lost" });
      expect(Date.parse(dispute.resolved_at) - Date.parse(dispute.evidence_due_at)).toBeLessThan(5_000);
      const batches = (await list(client)).data as Record<string, unknown>[];
      await expectClean(merchantId);
      return [
        await balance(client),
        batches.map(({ status, net_minor, payment_count }) => [status, net_minor, payment_count]),
      ];
    }),
  );
  expect(outcomes[1]).toEqual(outcomes[0]);
  expect(outcomes[0]?.[1]).not.toEqual([]);
});

test("payments expire at their times while a clock moves, within ten minutes", async () => {
  const { client } = await service.merchant();
  const create = async (expires_in: number): Promise<string> =>
    (await client.post("/v1/payments", paymentBody({ expires_in }))).json.reference;
  const payments = [await create(60), await create(90), await create(40_000)];
  const before = Date.parse((await client.get("/v1/sandbox/clock")).json.now);
  await advance(client, 86_400);
  const read = await Promise.all(payments.map((reference) => client.get(`/v1/payments/${reference}`)));
  expect(read.map(({ json }) => json.status)).toEqual(["expired", "expired", "expired"]);
  const [first, second, last] = read.map(({ json }) => (Date.parse(json.updated_at) - before) / 1000);
  expect(first).toBeGreaterThanOrEqual(60);
  expect(second).toBeLessThan(720);
  expect(last).toBeGreaterThanOrEqual(40_000);
  expect(last).toBeLessThan(40_700);
});

test("a clock that was left on its way by a crash is brought to its end", async () => {
  const { client, merchantId } = await service.merchant();
  const before = Date.parse((await client.get("/v1/sandbox/clock")).json.now);
  await asOwner(service.database, (owner) =>
    owner.query(
      `update books set clock_target_seconds = clock_offset_seconds + 86400, clock_moved_at = now() - interval '1 minute'
where merchant_id = $1::uuid and environment = 'sandbox'`,
      [uuidOf(merchantId)],
    ),
  );
  await vi.waitFor(
    async () => {
      const { json } = await client.get("/v1/sandbox/clock");
      expect(Date.parse(json.now) - before).toBeGreaterThanOrEqual(86_400_000);
    },
    { timeout: 30_000, interval: 200 },
  );
});

test("one batch can be read, by its merchant and in its environment", async () => {
  const { client, merchantId } = await service.merchant();
  await paid(client);
  const [batch] = (await client.post("/v1/sandbox/settlements/run", "")).json.data;
  expect(batch.environment).toBe("sandbox");
  const path = `/v1/settlements/${batch.uuid}`;
  expect((await client.get(path)).json).toEqual(batch);
  const live = await service.client(merchantId, "production");
  const other = await service.merchant();
  expect(codeOf(await live.get(path))).toBe("ENVIRONMENT_MISMATCH");
  expect(codeOf(await other.client.get(path))).toBe("OBJECT_NOT_FOUND");
  expect(codeOf(await client.get("/v1/settlements/set_x"))).toBe("OBJECT_NOT_FOUND");
});

test("a change of the schedule holds from the next run on", async () => {
  const { client, merchantId } = await onSchedule();
  await paid(client);
  await advance(client, await toNextCutoff(client));
  const late = await paid(client);
  const { json: clock } = await client.get("/v1/sandbox/clock");
  const tomorrow = new Date(Date.parse(clock.now) + 86_400_000).toISOString().slice(0, 10);
  const settlement = {
    utc_offset_minutes: 0,
    cutoff: "05:45",
    delay_days: 0,
    closed_weekdays: [],
    pay_after_seconds: 0,
  };
  await service.operate("PATCH", `/merchants/${merchantId}`, { settlement });
  const read = (): Promise<Answer> => client.get(`/v1/payments/${late.reference}`);
  expect((await read()).json.settlement.estimated_date).toBe(tomorrow);
  await advance(client, 20 * 3_600); // sooner than the next run of the schedule before
  expect((await read()).json.settlement).toMatchObject({ status: "paid", estimated_date: tomorrow });
  const [batch] = (await list(client)).data;
  expect([batch.period_end, batch.payment_count]).toEqual([`${tomorrow}T05:45:00Z`, 1]);
});
