// Goal: one call tells how the installation does: payments of all merchants, acquirers, processes and what waits, and says nothing where nothing
// happened. Method: rows put together by tables; an empty service; payments and a circuit beside it; every period, environment and wrong parameter.
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { type TestService, openDatabase, paymentBody, startService } from "../../test/kit.ts";
import { allCounted } from "../../test/counted.ts";
import { VIEWER_TOKEN, operatorCaller, outcomeOf } from "../../test/operator.ts";
import type { TotalRow } from "../insights/totals.sql.ts";
import type { Database } from "../store/database.ts";
import { systemEndpoint } from "./system.routes.ts";
import { paymentsOf, periods, reasonOf } from "./wall.ts";
import { stateOf, wallEndpoints } from "./wall.routes.ts";

let service: TestService;
let database: Database;
const endpoints = [...wallEndpoints({} as never), systemEndpoint({} as never)];
const ask = operatorCaller(() => service, endpoints);
beforeAll(async () => {
  service = await startService({
    roles: ["api"],
    config: {
      operatorViewerToken: VIEWER_TOKEN,
      mail: { url: "smtps://mailer:hidden-of-mail@mail.example", from: "gerbang@example.com" },
      masterKey: "hidden-of-master-key",
      secondMasterKey: "hidden-of-second-key",
      operatorToken: "hidden-of-operator-token",
      databaseUrl: "postgres://gerbang:hidden-of-database@127.0.0.1/x",
      migrationDatabaseUrl: "postgres://owner:hidden-of-owner@127.0.0.1/x",
      tracing: { endpoint: "https://hidden-of-tracing.example/v1", serviceName: "gerbang", ratio: 0.5 },
    },
  });
  database = openDatabase(service.database);
  // A service that is ready registers itself a moment later.
  await vi.waitFor(async () => {
    const { json } = await ask("GET", "/wall?period=hour", { token: VIEWER_TOKEN });
    expect(json.processes.alive).toBe(1);
  }, 30_000);
});
afterAll(async () => {
  await database.end();
  await service.stop();
});

const row = (changes: Partial<TotalRow>): TotalRow => ({
  span: 0,
  currency: "IDR",
  method: "qris",
  acquirer: "nusantara",
  outcome: "succeeded",
  payments: "1",
  amount_minor: "100",
  ...changes,
});

test.each([
  ["failed", "nusantara", "declined"],
  ["failed", "", "not_taken"],
  ["rejected", "", "risk"],
  ["expired", "nusantara", "unpaid"],
  ["canceled", "nusantara", "canceled"],
  ["succeeded", "nusantara", undefined],
  ["asked", "nusantara", undefined],
])("a payment that ended as %s at «%s» has the reason %s", (outcome, acquirer, reason) => {
  expect(reasonOf(outcome, acquirer)).toBe(reason);
});

test("totals are put together by outcome, method, acquirer, reason and currency, and each payment counts once in each", () => {
  const told = paymentsOf(
    [
      row({ outcome: "asked", payments: "5", amount_minor: "500" }),
      row({ payments: "3", amount_minor: "9007199254740993" }),
      row({ span: 1, outcome: "failed" }),
      row({ span: 1, outcome: "failed", acquirer: "", method: "va" }),
      row({ span: 1, outcome: "canceled" }),
      row({ span: 7, currency: "JPY", amount_minor: "40" }), // by a clock that is ahead
      row({ currency: "AUD", amount_minor: "70" }),
    ],
    2,
  );
  expect(told.total).toEqual({ asked: 5, succeeded: 5, failed: 2, rejected: 0, expired: 0, canceled: 1 });
  expect(told.points.succeeded).toEqual([4, 1]);
  expect(told.points.failed).toEqual([0, 2]);
  expect(told.byMethod.map(({ key, succeeded, ended }) => ({ key, succeeded, ended }))).toEqual([
    { key: "qris", succeeded: [4, 1], ended: [4, 2] },
    { key: "va", succeeded: [0, 0], ended: [0, 1] },
  ]);
  expect(told.byAcquirer.map(({ key }) => key)).toEqual(["nusantara", ""]);
  expect(Object.fromEntries(told.byReason)).toEqual({ declined: 1, not_taken: 1, canceled: 1 });
  expect(told.amounts).toEqual([
    { currency: "IDR", succeededMinor: 9_007_199_254_740_993n, points: [9_007_199_254_740_993n, 0n] },
    { currency: "AUD", succeededMinor: 70n, points: [70n, 0n] },
    { currency: "JPY", succeededMinor: 40n, points: [0n, 40n] },
  ]);
});

test.each<[Parameters<typeof stateOf>[0], { state: string; failures: number }[], string]>([
  [{ enabled: true, health: "healthy" }, [], "well"],
  [{ enabled: true, health: "healthy" }, [{ state: "closed", failures: 0 }], "well"],
  [{ enabled: true, health: "healthy" }, [{ state: "closed", failures: 1 }], "failing"],
  [{ enabled: true, health: "healthy" }, [{ state: "probing", failures: 0 }], "failing"],
  [{ enabled: true, health: "degraded" }, [], "failing"],
  [
    { enabled: true, health: "healthy" },
    [
      { state: "closed", failures: 0 },
      { state: "open", failures: 5 },
    ],
    "down",
  ],
  [{ enabled: true, health: "down" }, [], "down"],
  [{ enabled: false, health: "down" }, [{ state: "open", failures: 5 }], "off"],
])("an acquirer that is %j with circuits %j is %s", (stated, circuits, state) => {
  expect(stateOf(stated, circuits)).toBe(state);
});

test.each(Object.keys(periods))(
  "the wall of an empty installation over a %s is whole, and says nothing",
  async (period) => {
    const { json } = await ask("GET", `/wall?period=${period}`, { token: VIEWER_TOKEN });
    const { spans, spanSeconds } = periods[period as keyof typeof periods];
    expect(json.at).toHaveLength(spans);
    expect(json.span_seconds).toBe(spanSeconds);
    const [last, asOf] = [Date.parse(json.at.at(-1) as string), Date.parse(json.as_of as string)];
    expect(asOf - last).toBeGreaterThanOrEqual(0);
    expect(asOf - last).toBeLessThan(spanSeconds * 1_000);
    expect(json.counted_at).toBeNull();
    expect(json.payments.total.asked).toBe(0);
    expect(json.payments.points.asked).toEqual(json.at.map(() => 0));
    expect(json.payments).toMatchObject({ by_method: [], by_acquirer: [], by_reason: [], amounts: [] });
    expect(json.measured.lane_queue).toHaveLength(spans);
    expect(json.acquirers.map(({ state }: { state: string }) => state)).toEqual(json.acquirers.map(() => "well"));
    expect(
      json.waiting.every(({ count, since }: { count: number; since: unknown }) => count === 0 && since === null),
    ).toBe(true);
    expect(json.processes).toMatchObject({ alive: 1, lost: 0 });
  },
);

test("payments of all merchants, an open circuit and what waits are on it, each environment by itself", async () => {
  const shops = [await service.merchant(), await service.merchant()];
  for (const { client } of shops) {
    const { json } = await client.post("/v1/payments", paymentBody());
    await client.post(`/v1/sandbox/payments/${json.reference}/simulate`, { outcome: "succeeded" });
  }
  await shops[0]?.client.post("/v1/payments", paymentBody({ customer: { email: "a@review.test" } }));
  await allCounted(database);
  await database.query({
    text: `insert into telemetry_circuits (process_id, gateway_code, method, state, calls, failures, changed_at)
select process_id, 'nusantara', 'qris', 'open', 6, 5, now() from telemetry_processes where ended_at is null`,
  });
  await database.query({
    text: `insert into telemetry_acquirers (step_seconds, at, process_id, gateway_code, method, calls, refused, unknown, call_ms, is_open)
select 5, to_timestamp(floor(extract(epoch from now()) / 5) * 5), process_id, 'nusantara', 'qris', 0, 0, 0, 0, true
from telemetry_processes where ended_at is null`,
  });
  const read = async (query: string) => {
    // A picture is shared for half a second: ask until it is a new one.
    for (;;) {
      const { json } = await ask("GET", `/wall?period=hour${query}`);
      if (json.acquirers.some(({ state }: { state: string }) => state === "down") || query.includes("production"))
        return json;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };
  const all = await read("");
  expect(all.payments.total).toMatchObject({ asked: 2, succeeded: 2 });
  expect(all.payments.amounts).toMatchObject([{ currency: "IDR", exponent: 2, succeeded_minor: 300_000 }]);
  const down = all.acquirers.find(({ gateway_code: code }: { gateway_code: string }) => code === "nusantara");
  expect(down).toMatchObject({ state: "down", circuits: [{ payment_method: "qris", state: "open", failures: 5 }] });
  expect(down.left_alone.filter((isOpen: boolean) => isOpen)).toHaveLength(1);
  expect(all.acquirers.every(({ left_alone: each }: { left_alone: boolean[] }) => each.length === all.at.length)).toBe(
    true,
  );
  expect(all.waiting[0]).toMatchObject({ kind: "review", count: 1, is_more: false });
  expect(all.environment).toBeNull();
  expect((await read("&environment=sandbox")).payments.total.succeeded).toBe(2);
  const production = await read("&environment=production");
  expect(production.payments.total.asked).toBe(0);
  expect(production.acquirers).toEqual([]);
  expect(production.waiting[0]).toMatchObject({ kind: "review", count: 0 });
});

test.each(["period=year", "environment=live", "period=hour&period=day", "merchant_id=x"])(
  "a wall that does not exist is refused: %s",
  async (query) => {
    expect(outcomeOf(await ask("GET", `/wall?${query}`))).toMatch(/^422 VALIDATION_ERROR/);
  },
);

test("the wall and the system are for whoever has a token", async () => {
  for (const path of ["/wall", "/system", "/stream"])
    expect(outcomeOf(await ask("GET", path, { token: "nobody" }))).toBe("401 UNAUTHORIZED");
});

test("the system tells what runs, on which database, with every setting, and not one secret", async () => {
  const { json, text } = await ask("GET", "/system", { token: VIEWER_TOKEN });
  expect(json.processes).toMatchObject([{ state: "alive", is_this: true, roles: ["api"], node: process.version }]);
  expect(json.database.schema_name).toMatch(/^\d{4}_\w+/);
  expect(json.database.size_bytes).toBeGreaterThan(1_000_000);
  expect(json.database.connections).toBeGreaterThan(0);
  expect(Math.abs(Date.parse(json.clocks.service) - Date.parse(json.clocks.database))).toBeLessThan(5_000);
  expect(json.queues.map(({ what }: { what: string }) => what)).toEqual([
    "deliveries_due",
    "deliveries_undelivered",
    "acquirer_operations",
  ]);
  expect(text).not.toContain("hidden-of");
  expect(text).not.toContain(VIEWER_TOKEN);
  const settings = new Map(
    json.settings.map(({ name, value }: { name: string; value: string | null }) => [name, value]),
  );
  expect(settings.get("MASTER_KEY")).toBe("set");
  expect(settings.get("SMTP_FROM")).toBe("gerbang@example.com");
  expect(settings.get("STATUS_URL")).toBeNull();
  expect(settings.get("WEBHOOK_HISTORY_DAYS")).toBe("30");
});
