// Goal: what became of payments is told for all merchants together: each asked once and ended once, in the minute in which it happened, in one
// environment or in both, and no longer than it is plotted. Method: payments of two merchants through the API, counted; rows of every age.
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Client } from "../../../e2e/kit/client.ts";
import { allCounted } from "../../test/counted.ts";
import { type TestService, openDatabase, paymentBody, startService } from "../../test/kit.ts";
import { type ScriptedAcquirer, report, scriptedAcquirer } from "../../test/scripted-acquirer.ts";
import type { ReportedState } from "../acquirers/acquirer.ts";
import { SECOND, systemClock } from "../ground/clock.ts";
import type { Database } from "../store/database.ts";
import { deleteExpired } from "../store/retention.ts";
import { rebuild } from "./roll-up.ts";
import { type TotalRow, expiredTotals, selectTotals, spanStart, totalsKeptSeconds } from "./totals.sql.ts";

let service: TestService;
let database: Database;
let bank: ScriptedAcquirer;
beforeAll(async () => {
  bank = scriptedAcquirer("kawah");
  service = await startService({ roles: ["api"], acquirers: [bank] });
  database = openDatabase(service.database);
});
afterAll(async () => {
  await database.end();
  await service.stop();
});

async function create(client: Client, changes: Record<string, unknown> = {}): Promise<string> {
  const { json } = await client.post("/v1/payments", paymentBody(changes));
  return (json.reference ?? json.error?.details?.reference) as string;
}

const minuteAgo = (minutes: number) => spanStart(systemClock.now(), 60) - minutes * 60 * SECOND;

async function told(environment: "sandbox" | "production" | undefined): Promise<string[]> {
  const rows = await database.query<TotalRow>(
    selectTotals({ environment, step: 60, begin: minuteAgo(5), spanSeconds: 600 }),
  );
  // None lies ahead of the real time.
  for (const { span } of rows) expect(span).toBe(0);
  // Which acquirer took a payment is the routing's choice.
  const sums = new Map<string, [payments: bigint, amountMinor: bigint]>();
  for (const { method, acquirer, outcome, payments, amount_minor: amount } of rows) {
    const name = `${method} ${acquirer === "" ? "nobody" : "somebody"} ${outcome}`;
    const [before, beforeMinor] = sums.get(name) ?? [0n, 0n];
    sums.set(name, [before + BigInt(payments), beforeMinor + BigInt(amount)]);
  }
  return [...sums].map(([name, [payments, amount]]) => `${name} ${payments} ${amount}`).toSorted();
}

test("payments of all merchants are counted as asked and as what they came to, by the real time", async () => {
  const [first, second] = [await service.merchant(), await service.merchant()];
  await allCounted(database);
  expect(await told(undefined)).toEqual([]);
  for (const { client } of [first, second]) {
    const reference = await create(client);
    await client.post(`/v1/sandbox/payments/${reference}/simulate`, { outcome: "succeeded" });
  }
  const declined = await create(second.client, { payment_method: "va" });
  await second.client.post(`/v1/sandbox/payments/${declined}/simulate`, { outcome: "failed" });
  await create(first.client, { customer: { email: "someone@reject.test" } });
  await create(first.client, { customer: { email: "someone@review.test" } });
  await create(first.client);
  await allCounted(database);
  const expected = [
    "qris nobody asked 1 150000",
    "qris nobody rejected 1 150000",
    "qris somebody asked 3 450000",
    "qris somebody succeeded 2 300000",
    "va somebody asked 1 150000",
    "va somebody failed 1 150000",
  ];
  expect(await told(undefined)).toEqual(expected);
  expect(await told("sandbox")).toEqual(expected);
  expect(await told("production")).toEqual([]);
  // What ends a day later by a clock that was moved there ends now by everybody else's.
  await first.client.post("/v1/sandbox/clock/advance", { seconds: 86_400 });
  await create(first.client, { payment_method: "va" });
  await allCounted(database);
  const later = await told(undefined);
  expect(later).toContain("qris somebody expired 1 150000");
  expect(later).toContain("va somebody asked 2 300000");
  expect(later).toContain("qris nobody asked 2 300000"); // nobody judged it in time
  await rebuild(database);
  expect(await told(undefined)).toEqual(later);
});

test("one that is paid before its acquirer gave instructions is asked once, and counted the same from all payments", async () => {
  const { version } = await service.operate("POST", "/routing/rules", {
    rules: [{ gateway_code: bank.code, priority: 1, weight: 1 }],
  });
  await service.operate("POST", `/routing/rules/${version}/activate`);
  const { client } = await service.merchant();
  const ofCards = async (): Promise<string[]> => (await told("sandbox")).filter((line) => line.startsWith("card "));
  bank.otherwise = "lost";
  for (const isPaid of [true, false]) {
    const body = paymentBody({ payment_method: "card" });
    expect((await client.post("/v1/payments", body)).json.error.code).toBe("GATEWAY_TIMEOUT");
    const operationKey = bank.opened.at(-1)?.operationKey ?? "";
    const receipt = { transactionId: operationKey, amountMinor: 150_000n, currency: "IDR" };
    const state: ReportedState = isPaid ? { status: "paid", receipt } : { status: "processing" };
    expect(await report(service.origin, bank.code, { kind: "payment", operationKey, state })).toBe(200);
    await allCounted(database);
  }
  const { data } = (await client.get("/v1/payments")).json;
  expect(data.map(({ status }: { status: string }) => status)).toEqual(["processing", "succeeded"]);
  const asked = bank.opened.length;
  const counted = [
    `card somebody asked ${asked} ${asked * 150_000}`,
    `card somebody succeeded ${asked / 2} ${(asked / 2) * 150_000}`,
  ];
  expect(await ofCards()).toEqual(counted);
  await rebuild(database);
  expect(await ofCards()).toEqual(counted);
});

test("each length of span is kept a little longer than it is plotted, and what is older is deleted", async () => {
  const now = systemClock.now();
  await database.query({ text: "delete from payment_totals" });
  for (const [step, kept] of Object.entries(totalsKeptSeconds)) {
    for (const seconds of [0, kept - 2 * Number(step), kept + 2 * Number(step)])
      await database.query({
        text: `insert into payment_totals (step_seconds, at, environment, currency, method, acquirer, outcome, payments, amount_minor)
values ($1, to_timestamp($2), 'production', 'IDR', 'qris', '', 'asked', 1, 1)`,
        values: [step, spanStart(now - seconds * SECOND, Number(step)) / SECOND],
      });
  }
  expect(await deleteExpired(database, expiredTotals(now))).toBe(3);
  const [left] = await database.query({
    text: "select count(*)::integer as n from payment_totals where at > now() - interval '35 days'",
  });
  expect(left?.n).toBe(6);
});
