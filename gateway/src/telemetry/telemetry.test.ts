// Goal: what every process measures can be read by each of them, at once and weeks later, while it lives and after it has gone, and through an outage of the
// database. Method: samplers beside each other on a real database, with a clock that is moved by hand; spans folded and read.
import { afterAll, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { type TestDatabase, asOwner, cloneDatabase, openDatabase } from "../../test/kit.ts";
import { type Clock, SECOND, systemClock } from "../ground/clock.ts";
import { createLog } from "../ground/log.ts";
import { type Metrics, createMetrics } from "../ground/metrics.ts";
import type { CircuitReport } from "../routing/circuit.ts";
import type { Database } from "../store/database.ts";
import { deleteExpired } from "../store/retention.ts";
import { foldTelemetry } from "./fold.ts";
import { measures } from "./sample.ts";
import { Sampler } from "./sampler.ts";
import { expiredTelemetry, insertSamples, samplesKeptSeconds } from "./telemetry.sql.ts";
import { now, readCircuits, readMethods, readProcesses, readPulse, readVitals } from "./vitals.ts";

const HOUR = 3_600 * SECOND;
let place: TestDatabase;
let database: Database;
const made: Sampler[] = [];
beforeAll(async () => {
  place = await cloneDatabase();
  database = openDatabase(place);
});
afterAll(async () => {
  for (const one of made) await one.stop();
  await database.end();
});
beforeEach(async () => {
  await asOwner(place, (owner) =>
    owner.query("truncate telemetry_processes, telemetry_samples, telemetry_acquirers, telemetry_circuits"),
  );
});

/** A clock that stands at the beginning of a span, a while ago, until it is moved. */
function stoppedClock(): Clock & { move(seconds: number): void } {
  let at = Math.floor(systemClock.now() / HOUR) * HOUR - 10 * 60 * SECOND;
  return { now: () => at, move: (seconds) => void (at += seconds * SECOND) };
}

interface Rig {
  sampler: Sampler;
  metrics: Metrics;
  circuits: CircuitReport[];
}

/** A sampler whose timers never come: it measures when it is told to. */
async function process(clock: Clock, on = database, roles: ("api" | "worker")[] = ["api"]): Promise<Rig> {
  const metrics = createMetrics();
  metrics.state(() => ({ skewMs: -20, quarantined: 0 }));
  metrics.process(() => ({
    ready: true,
    draining: false,
    pools: {
      main: { busy: 1, idle: 1, waiting: 0 },
      portal: { busy: 1, idle: 0, waiting: 0 },
      operators: { busy: 1, idle: 0, waiting: 0 },
    },
    listeners: { stream: 0, poll: 0 },
  }));
  const circuits: CircuitReport[] = [];
  const parts = { database: on, metrics, clock, log: createLog("silent"), roles: new Set(roles) };
  const sampler = new Sampler({ ...parts, circuits: () => circuits });
  made.push(sampler);
  vi.useFakeTimers({ toFake: ["setTimeout", "setInterval"] });
  await sampler.start();
  vi.useRealTimers();
  await vi.waitFor(
    async () =>
      expect((await readProcesses(database)).map(({ process_id }) => process_id)).toContain(sampler.own.processId),
    30_000,
  );
  return { sampler, metrics, circuits };
}

const read = (at: number, spans = 2) => readVitals(database, { step: 5, begin: at, spanSeconds: 5, spans });

test("what two processes measure is one picture: counts and levels added up, peaks the highest", async () => {
  const clock = stoppedClock();
  const [one, other] = [await process(clock), await process(clock, database, ["api", "worker"])];
  const begin = clock.now();
  for (let number = 0; number < 10; number++) one.metrics.answered("POST", "/v1/payments", 201, 0.004);
  one.metrics.answered("POST", "/v1/payments", 409, 0.004);
  one.metrics.answered("GET", "/livez", 200, 0.001);
  other.metrics.answered("GET", "/v1/payments/:reference", 503, 2);
  one.metrics.laneQueue.set({ lane: "creation" }, 3);
  other.metrics.laneQueue.set({ lane: "money-1" }, 4);
  other.metrics.deliveries.inc({ result: "failed" }, 2);
  other.metrics.deliveries.inc({ result: "delivered" }, 5);
  clock.move(5);
  for (const { sampler } of [one, other]) await sampler.sample();
  one.metrics.answered("GET", "/v1/balances", 200, 0.001);
  clock.move(5);
  for (const { sampler } of [one, other]) await sampler.sample();
  const { series } = await read(begin);
  const told = (name: keyof typeof measures) => series[name];
  expect(told("requests")).toEqual([2.4, 0.2]); // 12 and 1 in five seconds
  expect(told("requests_rejected")).toEqual([0.2, 0]);
  expect(told("requests_failed")).toEqual([0.2, 0]);
  expect(told("payments")).toEqual([2, 0]);
  expect(told("lane_queue")).toEqual([7, 7]);
  expect(told("attempts")).toEqual([1.4, 0]);
  expect(told("attempts_failed")).toEqual([0.4, 0]);
  expect(told("connections_busy")).toEqual([6, 6]);
  expect(told("clock_skew_ms")[0]).toBeCloseTo(20);
  expect(told("request_p95_ms")[0]).toBeGreaterThan(1_000); // of the slower process
  const processes = await readProcesses(database);
  expect(processes.map(({ roles }) => roles)).toEqual(expect.arrayContaining(["api", "api worker"]));
  expect(processes.every(({ is_alive: isAlive, version }) => isAlive && version !== "")).toBe(true);
});

test("what happens now is told a second, however long a process took to measure it", () => {
  const measured = Object.fromEntries(Object.keys(measures).map((name) => [name, 10])) as never;
  const alive = { is_alive: true, newest: { measuredMs: 5_000, measured } };
  const slow = { is_alive: true, newest: { measuredMs: 20_000, measured } };
  const gone = { is_alive: false, newest: { measuredMs: 5_000, measured } };
  const told = now([alive, slow, gone, { is_alive: true, newest: undefined }] as never);
  expect(told).toMatchObject({ requests: 2.5, lane_queue: 20, loop_lag_ms: 10 });
  expect(now([])).toMatchObject({ requests: 0, lane_queue: 0, loop_lag_ms: 0 });
});

test("folded into minutes and hours nothing is lost, however often and in whatever order it is done", async () => {
  const clock = stoppedClock();
  const { sampler, metrics } = await process(clock);
  const begin = clock.now();
  for (let number = 0; number < 14; number++) {
    metrics.answered("GET", "/v1/balances", 200);
    metrics.laneQueue.set({ lane: "creation" }, number === 3 ? 50 : 0);
    const labels = { gateway_code: "nusantara", call: "open" };
    metrics.acquirerCalls.inc({ ...labels, payment_method: number < 13 ? "qris" : "va", outcome: "answered" });
    metrics.acquirerSeconds.observe({ ...labels, payment_method: number < 13 ? "qris" : "va" }, 0.2);
    clock.move(5);
    await sampler.sample();
    if (number % 4 === 0) await foldTelemetry(database);
  }
  await Promise.all([foldTelemetry(database), foldTelemetry(database)]);
  await foldTelemetry(database);
  const minutes = await readVitals(database, { step: 60, begin, spanSeconds: 60, spans: 3 });
  expect(minutes.series.requests).toEqual([0.2, 0.2, undefined]); // 12 in a minute, 2 in ten seconds
  expect(minutes.series.lane_queue).toEqual([50, 0, undefined]);
  expect(minutes.acquirers.get("nusantara")?.map((span) => span?.calls)).toEqual([12, 2, undefined]);
  const { methods } = await readMethods(database, { step: 60, begin, spanSeconds: 60, spans: 3 }, "nusantara");
  expect(methods.get("qris")?.map((span) => [span?.calls, span?.callMs])).toEqual([
    [12, 2_400],
    [1, 200],
    [undefined, undefined],
  ]);
  expect(methods.get("va")?.map((span) => span?.calls)).toEqual([undefined, 1, undefined]);
  const hours = await readVitals(database, {
    step: 3600,
    begin: begin - HOUR + 10 * 60 * SECOND,
    spanSeconds: 3_600,
    spans: 2,
  });
  expect(hours.series.requests[0]).toBe(0.2); // 14 in 70 seconds
  expect(hours.series.lane_queue[0]).toBe(50);
});

test("beyond so many acquirers or methods the oldest spans are left out, and the newest is whole", async () => {
  const begin = stoppedClock().now();
  await asOwner(place, (owner) =>
    owner.query(
      `insert into telemetry_acquirers (step_seconds, at, process_id, gateway_code, method, calls, refused, unknown, call_ms, is_open)
select 5, to_timestamp($1) + make_interval(secs => 5 * span), gen_random_uuid(), code, method, 1, 0, 0, 1, false
from generate_series(0, 200) as s (span), (
  select 'acquirer_' || n, 'qris' from generate_series(1, 100) as n
  union all
  select 'nusantara', 'method_' || n from generate_series(1, 20) as n
) as a (code, method)`,
      [begin / SECOND],
    ),
  );
  const asked = { step: 5, begin, spanSeconds: 5, spans: 201 } as const;
  const { acquirers } = await readVitals(database, asked);
  const { methods } = await readMethods(database, asked, "nusantara");
  const ends = (spans: Map<string, unknown[]>): number[] =>
    [0, 200].map((at) => [...spans.values()].filter((own) => own[at] !== undefined).length);
  expect([ends(acquirers), ends(methods)]).toEqual([
    [0, 101],
    [0, 20],
  ]);
});

test("a process that ends says so; one that dies is gone when it was not seen for a while, and its circuits with it", async () => {
  const clock = stoppedClock();
  const [ends, dies] = [await process(clock), await process(clock)];
  for (const { circuits, sampler } of [ends, dies]) {
    circuits.push({ gatewayCode: "nusantara", method: "qris", state: "open", calls: 6, failures: 5 });
    await sampler.writeCircuits();
  }
  expect(await readCircuits(database)).toMatchObject([
    { gateway_code: "nusantara", method: "qris", state: "open", calls: 12, failures: 10 },
  ]);
  await ends.sampler.stop();
  expect(await readCircuits(database)).toMatchObject([{ calls: 6, failures: 5 }]);
  expect((await readPulse(database)).processes).toBe(1);
  await asOwner(place, (owner) =>
    owner.query("update telemetry_processes set seen_at = now() - interval '16 seconds' where ended_at is null"),
  );
  expect(await readCircuits(database)).toEqual([]);
  expect((await readPulse(database)).processes).toBe(0);
  expect(
    (await readProcesses(database)).map(({ is_alive: isAlive, ended_at: endedAt }) => [isAlive, endedAt === null]),
  ).toEqual([
    [false, false],
    [false, true],
  ]);
  // It was only slow.
  clock.move(5);
  await dies.sampler.sample();
  expect((await readPulse(database)).processes).toBe(1);
});

test("a circuit is written when its state or its failures change, and not for each call", async () => {
  const clock = stoppedClock();
  const { sampler, circuits } = await process(clock);
  const circuit: CircuitReport = { gatewayCode: "nusantara", method: "qris", state: "closed", calls: 1, failures: 0 };
  circuits.push(circuit);
  await sampler.writeCircuits();
  circuit.calls = 2;
  await sampler.writeCircuits();
  expect(await readCircuits(database)).toMatchObject([{ state: "closed", calls: 1, failures: 0 }]);
  Object.assign(circuit, { calls: 5, failures: 3 });
  await sampler.writeCircuits();
  const [failing] = await readCircuits(database);
  expect(failing).toMatchObject({ state: "closed", calls: 5, failures: 3 });
  circuit.state = "open";
  await sampler.writeCircuits();
  const [open] = await readCircuits(database);
  expect(open?.state).toBe("open");
  expect(open?.changed_at).toBeGreaterThan(failing?.changed_at ?? Infinity);
});

test("what could not be written is kept, ten minutes of it, and written when the database answers again", async () => {
  const clock = stoppedClock();
  const away = openDatabase(place);
  const { sampler, metrics } = await process(clock, away);
  const begin = clock.now();
  const query = vi.spyOn(away, "query").mockRejectedValue(new Error("the database is away"));
  for (let number = 0; number < 130; number++) {
    metrics.answered("GET", "/v1/balances", 200);
    clock.move(5);
    await expect(sampler.sample()).rejects.toThrow("away");
  }
  query.mockRestore();
  clock.move(5);
  await sampler.sample();
  const { series } = await read(begin, 131);
  expect(series.requests.filter((requests) => requests !== undefined)).toHaveLength(120);
  expect(series.requests.slice(0, 11)).toEqual(Array.from({ length: 11 }));
  await sampler.stop();
  await away.end();
});

test("a span has one sample, however early or late a timer is, and a span that is there already stays", async () => {
  const clock = stoppedClock();
  const { sampler, metrics } = await process(clock);
  const begin = clock.now();
  for (const seconds of [5, 2, 1, 4]) {
    metrics.answered("GET", "/v1/balances", 200);
    clock.move(seconds);
    await sampler.sample();
  }
  expect((await read(begin, 3)).series.requests).toEqual([0.2, 0.5, 0.4]); // what came too soon goes with the next
  const measured = Object.fromEntries(Object.keys(measures).map((name) => [name, 9])) as never;
  await database.query(insertSamples(sampler.own, [{ at: begin, measuredMs: 1, measured, acquirers: [] }]));
  expect((await read(begin, 3)).series.requests).toEqual([0.2, 0.5, 0.4]);
});

test("a process whose clock is set back is measured and seen from then on", async () => {
  const clock = stoppedClock();
  const { sampler, metrics } = await process(clock);
  clock.move(5);
  await sampler.sample();
  clock.move(-1_000);
  const begin = clock.now();
  await sampler.sample();
  const write = vi.spyOn(database, "query");
  metrics.answered("GET", "/v1/balances", 200);
  clock.move(5);
  await sampler.sample();
  expect(write).toHaveBeenCalledOnce();
  write.mockRestore();
  expect((await read(begin)).series.requests).toEqual([0.2, undefined]);
});

test("each length of span is kept a little longer than it is plotted, and processes for two days", async () => {
  const clock = stoppedClock();
  const { sampler } = await process(clock);
  const measured = Object.fromEntries(Object.keys(measures).map((name) => [name, 1])) as never;
  const acquirers = [
    { gateway_code: "nusantara", method: "qris", calls: 1, refused: 0, unknown: 0, call_ms: 1, is_open: false },
  ];
  await database.query(insertSamples(sampler.own, [{ at: clock.now(), measuredMs: 1, measured, acquirers }]));
  await asOwner(place, async (owner) => {
    for (const table of ["telemetry_samples", "telemetry_acquirers"]) {
      const { rows } = await owner.query<{ names: string }>(
        "select string_agg(column_name, ', ') as names from information_schema.columns where table_name = $1 and column_name not in ('at', 'step_seconds')",
        [table],
      );
      for (const [step, kept] of Object.entries(samplesKeptSeconds))
        await owner.query(`insert into ${table} (step_seconds, at, ${rows[0]?.names})
select ${step}, date_bin('${step} seconds', now() - interval '${kept} seconds' + make_interval(secs => ${step} * n), 'epoch'), ${rows[0]?.names}
from ${table}, (values (-2), (2)) as v (n) where step_seconds = 5 and at = '${new Date(clock.now() / 1_000).toISOString()}'`);
    }
    await owner.query("update telemetry_processes set seen_at = now() - interval '49 hours'");
  });
  expect(await deleteExpired(database, expiredTelemetry(systemClock.now()))).toBe(7);
  const [left] = await database.query({
    text: "select (select count(*) from telemetry_samples)::integer + (select count(*) from telemetry_acquirers)::integer as n",
  });
  expect(left?.n).toBe(8);
});
