// Goal: every process counts its own minutes, all of them together are what is shown, and nothing is counted twice or lost while the database is away.
// Method: counters by hand; then measuring processes on one database, with a clock that the tests move, and rows that other rooms would write.
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type TestDatabase, asOwner, cloneDatabase, openDatabase } from "../../test/kit.ts";
import { scriptedAcquirer } from "../../test/scripted-acquirer.ts";
import { type Micros, MINUTE, SECOND, sqlTime, sqlTimeOrNull, systemClock } from "../ground/clock.ts";
import { createLog } from "../ground/log.ts";
import { Circuits } from "../routing/circuit.ts";
import type { AcquirerState, RoutingTable } from "../routing/routing.ts";
import type { Database } from "../store/database.ts";
import { Board } from "./board.ts";
import { Measuring, methodConditions } from "./measuring.ts";
import { MINUTES_MAX, Minutes, minuteOf } from "./minutes.ts";
import { type MinuteRow, countDays, countsOfRow, expiredMeasurements, selectMinutes } from "./status.sql.ts";
import { statusView } from "./view.ts";

const START = minuteOf(systemClock.now());
const log = createLog("silent");

describe("minutes in memory", () => {
  test("add up by component and minute, and are due until they are written as they are", () => {
    const minutes = new Minutes();
    minutes.note("api", START, "good");
    minutes.note("api", START + 59 * SECOND, "bad", 2);
    minutes.note("qris", START + MINUTE, "slow");
    const due = minutes.due(10);
    expect(due).toEqual([
      { minute: START, component: "api", good: 1, slow: 0, bad: 2 },
      { minute: START + MINUTE, component: "qris", good: 0, slow: 1, bad: 0 },
    ]);
    minutes.note("qris", START + MINUTE, "good");
    minutes.written(due);
    expect(minutes.due(10)).toEqual([{ minute: START + MINUTE, component: "qris", good: 1, slow: 1, bad: 0 }]);
    expect(minutes.of("api", START)).toEqual({ good: 1, slow: 0, bad: 2 });
    expect(minutes.of("card", START)).toEqual({ good: 0, slow: 0, bad: 0 });
  });

  test("a component that is first counted after a write makes its minute due again", () => {
    const minutes = new Minutes();
    minutes.note("api", START, "good");
    const due = minutes.due(10);
    minutes.note("qris", START, "good");
    minutes.written(due);
    expect(minutes.due(10)).toHaveLength(2);
  });

  test("are kept for a day without a database, whatever the clock does, and a few of those that are written", () => {
    const minutes = new Minutes();
    for (let at = 0; at < 2 * MINUTES_MAX; at++) minutes.note("api", START + at * MINUTE, "good");
    const due = minutes.due(10_000);
    expect(due).toHaveLength(MINUTES_MAX);
    expect(due[0]?.minute).toBe(START + MINUTES_MAX * MINUTE);
    for (let at = 0; at < 2 * MINUTES_MAX; at++) minutes.note("api", START - at * 90 * MINUTE, "good");
    expect(minutes.due(10_000).length).toBeLessThanOrEqual(MINUTES_MAX);
    minutes.written(minutes.due(10_000));
    minutes.note("api", START + 3 * MINUTES_MAX * MINUTE, "good");
    expect(minutes.of("api", START + (MINUTES_MAX + 5) * MINUTE)).toEqual({ good: 0, slow: 0, bad: 0 });
  });
});

describe("a method", () => {
  const one = scriptedAcquirer("one");
  const other = scriptedAcquirer("other");
  const ours = { ...one, capabilities: one.capabilities.filter(({ method }) => method === "qris") };
  const table = (states: Record<string, AcquirerState>, open: string[] = []): RoutingTable => ({
    version: 1,
    rules: [],
    acquirers: [ours, other],
    states: new Map(Object.entries(states)),
    open: new Set(open),
  });
  const well: AcquirerState = { enabled: true, health: "healthy" };
  test.each([
    ["both are well", table({ one: well, other: well }), "good", "good"],
    ["nothing is known of them", table({}), "good", "good"],
    ["one is left alone, the other takes it", table({}, ["one/qris"]), "good", "good"],
    ["both are left alone for it", table({}, ["one/qris", "other/qris"]), "bad", "good"],
    [
      "one is degraded and the other down",
      table({ one: { ...well, health: "degraded" }, other: { ...well, health: "down" } }),
      "slow",
      "bad",
    ],
    ["one is switched off: it is no longer offered", table({ other: { ...well, enabled: false } }), "good", undefined],
  ] as const)("where %s", (_what, routing, qris, card) => {
    const found = methodConditions(routing, "sandbox");
    expect([found.get("qris"), found.get("card")]).toEqual([qris, card]);
    expect(methodConditions(routing, "production").size).toBe(0);
  });
});

test.each([
  ["an answer", "/v1/payments", 201, undefined, "POST", 0, "good"],
  ["a refusal", "/v1/payments", 422, "VALIDATION_ERROR", "POST", 0, "good"],
  ["an error of ours", "/v1/payments", 500, "INTERNAL_ERROR", "POST", 0, "bad"],
  ["a database that is away", "/v1/payments", 503, "SERVICE_UNAVAILABLE", "POST", 0, "bad"],
  ["an acquirer that fails", "/v1/payments", 502, "GATEWAY_ERROR", "POST", 0, "good"],
  ["an acquirer that does not answer", "/v1/payments", 504, "GATEWAY_TIMEOUT", "POST", 0, "good"],
  ["no acquirer", "/v1/payments", 503, "NO_ROUTE_AVAILABLE", "POST", 0, "good"],
  ["a slow read", "/v1/payments/:reference", 200, undefined, "GET", 1_500, "slow"],
  ["a creation that waited for an acquirer", "/v1/payments", 201, undefined, "POST", 1_500, "good"],
  ["a page of the portal", "/portal/v1/payments", 500, "INTERNAL_ERROR", "GET", 0, undefined],
] as const)("%s counts as what it is for the API", (_what, url, statusCode, errorCode, method, tookMs, what) => {
  const parts = { database: {} as Database, clock: { now: () => START }, log, works: false };
  const routing = {
    routingTable: () => ({}) as RoutingTable,
    acquirer: () => undefined,
    environment: () => "sandbox" as const,
  };
  const request = { routeOptions: { url }, method, errorCode, begunAt: performance.now() - tookMs };
  for (const isProven of [true, false]) {
    const measuring = new Measuring({ ...parts, ...routing });
    measuring.answered({ ...request, isProven } as never, { statusCode } as never);
    const counted = what !== undefined && isProven;
    const row = { minute: START, component: "api", good: 0, slow: 0, bad: 0 };
    expect(measuring.minutes.due(10)).toEqual(counted ? [{ ...row, [what]: 1 }] : []);
  }
});

describe("processes on one database", () => {
  let clone: TestDatabase;
  let database: Database;
  let now: Micros;
  const acquirer = scriptedAcquirer("one");
  const circuits = new Circuits();

  beforeAll(async () => {
    clone = await cloneDatabase();
    database = openDatabase(clone);
  });
  afterAll(() => database.end());
  beforeEach(async () => {
    now = START;
    await asOwner(clone, (owner) => owner.query("truncate status_minutes, status_days"));
  });

  const clock = { now: () => now };
  const routingTable = (): RoutingTable => ({
    version: 1,
    rules: [],
    acquirers: [acquirer],
    states: new Map(),
    open: circuits.open(now),
  });
  const make = (on: Database = database): Measuring =>
    new Measuring({
      database: on,
      clock,
      log,
      routingTable,
      acquirer: (code) => (code === "one" ? acquirer : undefined),
      environment: () => "sandbox",
      works: true,
    });
  const turn = (probe: () => Promise<boolean>) => ({ probe, refresh: async () => undefined });
  const isWell = async () => true;
  const isIll = async () => false;
  const sums = async () =>
    new Map(
      (await database.query<MinuteRow>(selectMinutes(0))).map((row) => [
        `${row.component} ${(row.minute - START) / MINUTE}`,
        countsOfRow(row),
      ]),
    );

  test("their minutes are summed, each writes its own again as it grows, and none twice", async () => {
    const [one, other] = [make(), make()];
    await Promise.all([one.tick(turn(isWell)), other.tick(turn(isIll))]);
    expect((await sums()).get("api 0")).toEqual({ good: 1, slow: 0, bad: 1 });
    await one.tick(turn(isWell));
    await one.write();
    await one.write();
    expect((await sums()).get("api 0")).toEqual({ good: 2, slow: 0, bad: 1 });
    expect((await sums()).get("card 0")).toEqual({ good: 3, slow: 0, bad: 0 });
    expect((await sums()).get("settlements 0")).toEqual({ good: 2, slow: 0, bad: 0 });
    expect((await sums()).get("webhooks 0")).toEqual({ good: 2, slow: 0, bad: 0 });
  });

  test("calls of acquirers count for their method, of the environment that is shown alone", async () => {
    const one = make();
    one.called("one", "qris", true);
    one.called("one", "qris", false);
    one.called("one", "no_method", false);
    one.called("another", "qris", false);
    expect(one.minutes.due(10)).toEqual([{ minute: START, component: "qris", good: 1, slow: 0, bad: 1 }]);
  });

  test("what was measured while the database was away is written when it is back, and the outage shows", async () => {
    const away = openDatabase({ ...clone, url: clone.url.replace(/:\d+\//, ":1/") });
    const measuring = make(away);
    const minutes = 250; // more than one statement writes
    now = START - minutes * MINUTE;
    const ill = turn(isIll);
    for (let at = 0; at < minutes; at++, now += MINUTE) {
      measuring.measureMethods();
      if (at < 2) await measuring.tick(ill);
      else for (const what of ["api", "webhooks"] as const) measuring.minutes.note(what, now, "bad", 2);
    }
    await away.end();
    expect((await sums()).size).toBe(0);
    const back = Object.assign(measuring, { parts: { ...Reflect.get(measuring, "parts"), database } }) as Measuring;
    await back.write();
    const written = await sums();
    expect(written.get(`api ${-minutes}`)).toEqual({ good: 0, slow: 0, bad: 1 });
    expect(written.get("webhooks -250")).toEqual({ good: 0, slow: 0, bad: 1 });
    expect(written.get("api -1")).toEqual({ good: 0, slow: 0, bad: 2 });
    expect(written.get("qris -100")).toEqual({ good: 1, slow: 0, bad: 0 });
    await database.query(countDays);
    const board = new Board({ database, clock: systemClock, log, minutes: measuring.minutes, hears: () => true });
    const view = statusView(await board.read(), new Set(["qris"]));
    const api = view.components.find(({ component }) => component === "api");
    const outage = api?.days.reduce((sum, day) => sum + (day.minutes?.outage ?? 0), 0);
    expect(outage).toBe(minutes - 2); // one failed probe is an accident
    expect(api?.days.some((day) => day.state === "outage")).toBe(true);
    expect(view.components.map(({ component }) => component)).toEqual(["api", "qris", "webhooks", "settlements"]);
  });

  test("a day is counted from the minutes of all processes, once a minute, and planned work is told apart", async () => {
    const today = systemClock.now();
    const midnight = today - (today % (86_400 * SECOND));
    const put = (minute: Micros, component: string, good: number, bad: number) =>
      asOwner(clone, (owner) =>
        owner.query("insert into status_minutes values ($1, $2, $3, $4, 0, $5)", [
          sqlTime(minute),
          component,
          randomUUID(),
          good,
          bad,
        ]),
      );
    const yesterday = midnight - 600 * MINUTE;
    await put(yesterday, "api", 10, 0);
    await put(yesterday, "api", 0, 30); // of another process, in the same minute: out together
    await put(yesterday + MINUTE, "api", 100, 0);
    await put(yesterday + 2 * MINUTE, "api", 0, 5);
    await put(midnight - 3 * 1440 * MINUTE, "api", 0, 5); // counted long ago
    await asOwner(clone, (owner) =>
      owner.query(`insert into incidents values ($1, 'Work', 'maintenance', '{api}', $2, $3, null, now(), 'sari')`, [
        randomUUID(),
        sqlTime(yesterday + 2 * MINUTE),
        sqlTime(yesterday + 3 * MINUTE),
      ]),
    );
    await Promise.all([database.query(countDays), database.query(countDays)]);
    const days = () =>
      asOwner(clone, async (owner) => (await owner.query("select * from status_days")).rows as unknown[]);
    expect(await days()).toMatchObject([{ operational: 1, degraded: 0, outage: 1, maintenance: 1 }]);
    await put(midnight, "api", 1, 0);
    await database.query(countDays);
    expect(await days()).toHaveLength(2);
    await put(midnight + MINUTE, "api", 1, 0);
    await database.query(countDays);
    expect(await days()).toContainEqual(expect.objectContaining({ operational: 1, outage: 0 })); // not again so soon
  });

  test("planned work takes the minutes that it touched, of its own components, until it was over; no minute is yet to come", async () => {
    const today = systemClock.now();
    const begin = today - (today % (86_400 * SECOND)) - 300 * MINUTE;
    await asOwner(clone, async (owner) => {
      const put = (component: string, at: number) =>
        owner.query("insert into status_minutes values ($1, $2, $3, 0, 0, 5)", [
          sqlTime(begin + at * MINUTE),
          component,
          randomUUID(),
        ]);
      const plan = (component: string, from: number, to: number, resolved?: number) =>
        owner.query("insert into incidents values ($1, 'Work', 'maintenance', $2, $3, $4, $5, now(), 'sari')", [
          randomUUID(),
          [component],
          sqlTime(begin + from * MINUTE),
          sqlTime(begin + to * MINUTE),
          sqlTimeOrNull(resolved === undefined ? undefined : begin + resolved * MINUTE),
        ]);
      await plan("api", 0.5, 4, 2); // resolved before its end
      await plan("qris", -3 * 1440, 1);
      for (const at of [0, 1, 2, 3, 1440 + 600]) await put("api", at);
      for (const component of ["qris", "webhooks"]) await put(component, 0);
      await owner.query(countDays.text, countDays.values);
      const days = await owner.query("select component, outage, maintenance from status_days order by component");
      expect(days.rows).toEqual([
        { component: "api", outage: 2, maintenance: 2 },
        { component: "qris", outage: 0, maintenance: 1 },
        { component: "webhooks", outage: 1, maintenance: 0 },
      ]);
    });
  });

  test("old minutes and days go, and nothing that is shown", async () => {
    const day = 86_400 * SECOND;
    await asOwner(clone, async (owner) => {
      const insert =
        "insert into status_minutes select $1::timestamptz + g * interval '1 minute', 'api', $2, 1, 0, 0 from generate_series(0, 5) g";
      for (const age of [4, 2]) await owner.query(insert, [sqlTime(START - age * day), randomUUID()]);
      await owner.query(
        "insert into status_days select current_date - g, 'api', 1, 0, 0, 0, now() from generate_series(0, 120) g",
      );
    });
    const gone = await Promise.all(expiredMeasurements(START).map((statement) => database.query(statement)));
    expect(gone[0]).toHaveLength(6);
    expect(gone[1]?.length).toBeGreaterThanOrEqual(29);
    expect(await database.query({ text: "select from status_days" })).toHaveLength(121 - (gone[1]?.length ?? 0));
    expect((await sums()).size).toBe(6);
  });
});
