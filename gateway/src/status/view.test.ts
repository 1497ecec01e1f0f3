// Goal: the page says what was measured last, and what operators say about it. Method: the view of snapshots and of a process's own counts, pure;
// status.test.ts has the page.
import { describe, expect, test } from "vitest";
import { NOW } from "../../test/given.ts";
import { type Micros, DAY, MINUTE } from "../ground/clock.ts";
import { newId } from "../ground/ids.ts";
import type { Known, MinuteCounts } from "./board.ts";
import type { Component } from "./components.ts";
import type { Incident } from "./incident.ts";
import { minuteOf } from "./minutes.ts";
import type { Counts } from "./states.ts";
import { statusView } from "./view.ts";

const [well, ill]: Counts[] = [
  { good: 1, slow: 0, bad: 0 },
  { good: 0, slow: 0, bad: 1 },
];
const nothing: Counts = { good: 0, slow: 0, bad: 0 };

/** Counts of the API by how many minutes ago they are. */
function minutes(counted: Record<number, Counts | undefined>): Map<Component, MinuteCounts[]> {
  const all = Object.entries(counted).map(([ago, counts = nothing]) => ({
    minute: minuteOf(NOW) - Number(ago) * MINUTE,
    counts,
  }));
  return new Map([["api", all.toSorted((a, b) => a.minute - b.minute)]]);
}

interface Said {
  read?: Record<number, Counts | undefined>;
  own?: Record<number, Counts | undefined>;
  isFromMemory?: boolean;
  incidents?: Incident[];
}

function viewOf({ read = {}, own = {}, isFromMemory = false, incidents = [] }: Said) {
  const known: Known = {
    now: NOW,
    snapshot: { recent: minutes(read), days: new Map(), incidents },
    isFromMemory,
    own: minutes(own),
  };
  return statusView(known, new Set(["qris"]));
}

/** The state of the API, and of how many minutes ago it is. */
function apiOf(said: Said): [state: string, ago: number | undefined] {
  const { measured, measuredAt } = viewOf(said).components[0] ?? expect.unreachable();
  return [measured, measuredAt === undefined ? undefined : (minuteOf(NOW) - measuredAt) / MINUTE];
}

test.each<[string, Said, [string, number | undefined]]>([
  ["this minute and the one before are taken together", { read: { 0: ill, 1: ill } }, ["outage", 0]],
  ["and none before that", { read: { 0: ill, 2: ill } }, ["operational", 0]],
  ["the newest that has any, where these have none", { read: { 0: nothing, 2: well, 3: ill } }, ["operational", 2]],
  ["that alone", { read: { 4: ill, 5: ill } }, ["operational", 4]],
  ["five minutes old at most", { read: { 5: well } }, ["operational", 5]],
  ["those that were slow as well", { read: { 0: { good: 0, slow: 1, bad: 0 } } }, ["operational", 0]],
  ["older ones are no data", { read: { 6: well } }, ["no_data", undefined]],
  ["the process's own, where the database has none", { read: { 6: ill }, own: { 0: well } }, ["operational", 0]],
  ["and not where it has", { read: { 1: ill, 0: ill }, own: { 0: well, 1: well } }, ["outage", 0]],
])("of the counts: %s", (_what, said, expected) => {
  expect(apiOf(said)).toEqual(expected);
});

test("while the database does not answer the API is down, and everything else as this process counted it", () => {
  const { components, isFromMemory } = viewOf({ isFromMemory: true, read: { 0: well }, own: { 0: well } });
  expect(isFromMemory).toBe(true);
  expect(components.map(({ component, measured }) => [component, measured])).toEqual([
    ["api", "outage"],
    ["qris", "no_data"],
    ["webhooks", "no_data"],
    ["settlements", "no_data"],
  ]);
  expect(components[0]?.measuredAt).toBe(NOW);
  const qris = new Map([["qris" as const, [{ minute: minuteOf(NOW), counts: well ?? nothing }]]]);
  const view = statusView({ now: NOW, snapshot: undefined, isFromMemory: true, own: qris }, new Set(["qris"]));
  expect(view.components[1]?.measured).toBe("operational");
  expect(view.components[1]?.days).toHaveLength(90);
});

test("the days are the last ninety, today last", () => {
  const minutes = { operational: 10, degraded: 0, outage: 30, maintenance: 0 };
  const days = new Map([["api" as const, new Map([["2027-01-15", minutes]])]]);
  const known = { now: NOW, snapshot: { recent: new Map(), days, incidents: [] }, isFromMemory: false, own: new Map() };
  const [api] = statusView(known, new Set()).components;
  expect(api?.uptime).toBe(25);
  expect([api?.days.length, api?.days[0], api?.days.at(-1)]).toEqual([
    90,
    { day: "2026-10-18", state: "no_data", minutes: undefined },
    { day: "2027-01-15", state: "outage", minutes },
  ]);
});

describe("incidents", () => {
  const HOUR = 60 * MINUTE;
  function incident(title: string, changes: Partial<Incident> = {}): Incident {
    return {
      incidentId: newId("incident", NOW),
      title,
      impact: "minor",
      components: ["api"],
      startsAt: NOW - HOUR,
      endsAt: undefined,
      resolvedAt: undefined,
      createdAt: NOW - HOUR,
      createdBy: "sari",
      updates: [],
      ...changes,
    };
  }
  const work = (title: string, startsAt: Micros, endsAt: Micros, resolvedAt?: Micros): Incident =>
    incident(title, { impact: "maintenance", startsAt, endsAt, resolvedAt });

  test("that are over are told by their end, the newest first; planned ones by their start", () => {
    const { incidents } = viewOf({
      incidents: [
        incident("resolved", { resolvedAt: NOW - 2 * HOUR }),
        work("ended", NOW - DAY, NOW - 3 * HOUR),
        work("ended early", NOW - DAY, NOW - HOUR, NOW - 4 * HOUR),
        work("ends now", NOW - HOUR, NOW),
        incident("resolved now", { resolvedAt: NOW }),
        incident("goes on"),
        work("runs", NOW, NOW + HOUR),
        work("later", NOW + 2 * HOUR, NOW + 3 * HOUR),
        work("soon", NOW + HOUR, NOW + 4 * HOUR),
        work("ended before that was said", NOW - DAY, NOW - 6 * HOUR, NOW - HOUR),
        work("not any more", NOW + HOUR, NOW + 4 * HOUR, NOW - 5 * HOUR),
      ],
    });
    const titles = Object.fromEntries(
      Object.entries(incidents).map(([phase, all]) => [phase, all.map((o) => o.title)]),
    );
    expect(titles).toEqual({
      open: ["goes on", "runs"],
      planned: ["soon", "later"],
      over: [
        "ends now",
        "resolved now",
        "resolved",
        "ended",
        "ended early",
        "not any more",
        "ended before that was said",
      ],
    });
  });

  test.each<[string, Incident[], string]>([
    ["none", [], "operational"],
    ["one that is told and means nothing", [incident("x", { impact: "none" })], "operational"],
    ["a minor one", [incident("x")], "degraded"],
    ["a minor and a critical one", [incident("x"), incident("y", { impact: "critical" })], "outage"],
    [
      "a critical one of another component",
      [incident("x", { impact: "critical", components: ["qris"] })],
      "operational",
    ],
    ["a critical one that is over", [incident("x", { impact: "critical", resolvedAt: NOW })], "operational"],
    ["work that is planned", [work("x", NOW + 1, NOW + HOUR)], "operational"],
    [
      "work that runs, beside an outage",
      [work("x", NOW, NOW + 1), incident("y", { impact: "critical" })],
      "maintenance",
    ],
  ])("and the state of a component: %s", (_what, incidents, state) => {
    const [api] = viewOf({ read: { 0: well }, incidents }).components;
    expect([api?.state, api?.measured]).toEqual([state, "operational"]);
  });
});
