// Goal: how an acquirer does is told by method, from what happened and from nothing else: another acquirer's figures, another environment's and those of
// before the period are not in it. Method: payments by the API; calls as processes write them; every period and wrong parameter.
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type TestService, asOwner, openDatabase, paymentBody, startService } from "../../test/kit.ts";
import { allCounted } from "../../test/counted.ts";
import { VIEWER_TOKEN, operatorCaller, outcomeOf } from "../../test/operator.ts";
import { sqlTime, systemClock } from "../ground/clock.ts";
import type { Database } from "../store/database.ts";
import { acquirerHealthEndpoint } from "./acquirer-health.routes.ts";
import { periods } from "./wall.ts";

let service: TestService;
let database: Database;
const ask = operatorCaller(() => service, [acquirerHealthEndpoint({} as never, {} as never, systemClock)]);
beforeAll(async () => {
  service = await startService({ roles: ["api"], config: { operatorViewerToken: VIEWER_TOKEN } });
  database = openDatabase(service.database);
  // Else several acquirers share what comes.
  const rules = [{ gateway_code: "nusantara", priority: 1, weight: 1 }];
  const { version } = await service.operate("POST", "/routing/rules", { rules });
  await service.operate("POST", `/routing/rules/${version}/activate`);
});
afterAll(async () => {
  await database.end();
  await service.stop();
});
beforeEach(() =>
  asOwner(service.database, (owner) => owner.query("truncate telemetry_acquirers, telemetry_circuits, payment_totals")),
);

const health = async (query = "", code = "nusantara") =>
  (await ask("GET", `/acquirers/${code}/health${query}`, { token: VIEWER_TOKEN })).json;

interface Told {
  payment_method: string;
}
const methodOf = ({ methods }: { methods: Told[] }, name: string) =>
  methods.find(({ payment_method: method }) => method === name);

/** One moment for all, whatever time passes between them. */
const begun = sqlTime(systemClock.now());
/** Calls of a span that began so many minutes ago, as a process writes them. */
const called = (
  minutesAgo: number,
  code: string,
  method: string,
  calls: number,
  refused: number,
  callMs: number,
  isOpen = false,
) =>
  asOwner(service.database, (owner) =>
    owner.query(
      `insert into telemetry_acquirers (step_seconds, at, process_id, gateway_code, method, calls, refused, unknown, call_ms, is_open)
values (5, date_bin('5 seconds', $7::timestamptz - make_interval(mins => $1), 'epoch'), gen_random_uuid(), $2, $3, $4, $5, 0, $6, $8)`,
      [minutesAgo, code, method, calls, refused, callMs, begun, isOpen],
    ),
  );

test.each(Object.entries(periods))("nothing is told of a %s in which nothing happened", async (period, { spans }) => {
  const told = await health(`?period=${period}`);
  expect(told).toMatchObject({ gateway_code: "nusantara", environment: "sandbox", period });
  expect(told.at).toHaveLength(spans);
  expect(told.methods.length).toBeGreaterThan(0);
  for (const method of told.methods) {
    expect(method).toMatchObject({ is_taken: true, circuit: null, calls_in_all: 0, call_ms_mean: null });
    expect(method.succeeded).toEqual(told.at.map(() => 0));
    expect(method.call_ms).toEqual(told.at.map(() => null));
    expect(method.left_alone).toEqual(told.at.map(() => false));
  }
});

test("what became of its payments, how its calls went and when it was left alone is told of each method", async () => {
  const { client } = await service.merchant();
  for (const [payment_method, outcome] of [
    ["qris", "succeeded"],
    ["qris", "succeeded"],
    ["qris", "failed"],
    ["va", "succeeded"],
  ]) {
    const { json } = await client.post("/v1/payments", paymentBody({ payment_method }));
    await client.post(`/v1/sandbox/payments/${json.reference}/simulate`, { outcome });
  }
  await allCounted(database);
  await called(0, "nusantara", "qris", 10, 1, 2_000);
  await called(0, "nusantara", "qris", 10, 1, 4_000); // of another process
  await called(3, "nusantara", "qris", 5, 5, 500, true);
  await called(0, "nusantara", "ewallet", 1, 0, 50); // which it does not take any more
  await called(0, "cendana", "qris", 99, 99, 99_999, true);
  await called(90, "nusantara", "qris", 99, 99, 99_999, true); // before the hour
  await database.query({
    text: `insert into telemetry_circuits (process_id, gateway_code, method, state, calls, failures, changed_at)
select process_id, 'nusantara', 'qris', 'probing', 20, 6, now() from telemetry_processes where ended_at is null`,
  });
  const told = await health();
  expect(methodOf(told, "qris")).toMatchObject({
    is_taken: true,
    circuit: { payment_method: "qris", state: "probing", calls: 20, failures: 6 },
    total: { asked: 3, succeeded: 2, failed: 1 },
    calls_in_all: 25,
    failed_in_all: 7,
    call_ms_mean: 260,
  });
  const qris = methodOf(told, "qris") as unknown as Record<string, unknown[]>;
  const sum = (values: unknown[] = []): number => (values as number[]).reduce((total, value) => total + value, 0);
  expect([sum(qris.succeeded), sum(qris.ended), sum(qris.calls), sum(qris.failed)]).toEqual([2, 3, 25, 7]);
  // The two processes' calls of one span together, and the open circuit three minutes before.
  expect(qris.call_ms?.filter((value) => value !== null)).toEqual([100, 300]);
  expect(qris.left_alone?.filter((isLeft) => isLeft)).toHaveLength(1);
  expect((qris.left_alone ?? []).indexOf(true)).toBe((qris.call_ms ?? []).indexOf(100));
  expect(methodOf(told, "ewallet")).toMatchObject({ is_taken: false, calls_in_all: 1, total: { asked: 0 } });
  expect(methodOf(told, "va")).toMatchObject({ circuit: null, total: { asked: 1, succeeded: 1 }, calls_in_all: 0 });
  expect(methodOf(await health("", "merapi"), "va")).toMatchObject({ total: { asked: 0 }, calls_in_all: 0 });
});

test.each<[path: string, outcome: string]>([
  ["nobody/health", "404 OBJECT_NOT_FOUND"],
  ["%00/health", "404 OBJECT_NOT_FOUND"],
  ["nusantara/health?period=year", "422 VALIDATION_ERROR period"],
  ["nusantara/health?environment=sandbox", "422 VALIDATION_ERROR environment"],
])("%s is %s", async (path, outcome) => {
  expect(outcomeOf(await ask("GET", `/acquirers/${path}`))).toBe(outcome);
});
