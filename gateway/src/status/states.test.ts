// Goal: what is measured is told truthfully: nothing is never well, and the thresholds are those of the table. Method: tables of counts and
// states; the same counts judged by PostgreSQL, as days are; random counts held against what a state must never do.
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { cloneDatabase, openDatabase } from "../../test/kit.ts";
import type { Database } from "../store/database.ts";
import { type Component, components, kindOf } from "./components.ts";
import { type Counts, type State, add, stateOf, stateOfDay, thresholds, uptimePercent, worst } from "./states.ts";
import { stateInSql, thresholdValues, thresholdsInSql } from "./status.sql.ts";

let database: Database;
beforeAll(async () => {
  database = openDatabase(await cloneDatabase());
});
afterAll(() => database.end());

const cases: [Component, Counts, State][] = [
  ["api", { good: 0, slow: 0, bad: 0 }, "no_data"],
  ["api", { good: 1, slow: 0, bad: 0 }, "operational"],
  ["api", { good: 0, slow: 0, bad: 1 }, "operational"], // one failure is an accident
  ["api", { good: 0, slow: 0, bad: 2 }, "outage"],
  ["api", { good: 2, slow: 0, bad: 2 }, "outage"],
  ["api", { good: 3, slow: 0, bad: 2 }, "degraded"],
  ["api", { good: 98, slow: 0, bad: 2 }, "degraded"],
  ["api", { good: 99, slow: 0, bad: 2 }, "operational"],
  ["api", { good: 0, slow: 1, bad: 0 }, "operational"], // one that is slow as well
  ["api", { good: 0, slow: 1, bad: 1 }, "degraded"],
  ["api", { good: 6, slow: 2, bad: 0 }, "degraded"],
  ["api", { good: 7, slow: 2, bad: 0 }, "operational"],
  ["qris", { good: 0, slow: 0, bad: 2 }, "operational"],
  ["qris", { good: 0, slow: 0, bad: 3 }, "outage"],
  ["qris", { good: 27, slow: 0, bad: 3 }, "degraded"],
  ["qris", { good: 28, slow: 0, bad: 3 }, "operational"],
  ["card", { good: 0, slow: 6, bad: 0 }, "degraded"],
  ["webhooks", { good: 0, slow: 0, bad: 1 }, "outage"],
  ["webhooks", { good: 49, slow: 0, bad: 1 }, "degraded"],
  ["webhooks", { good: 50, slow: 0, bad: 1 }, "operational"],
  ["webhooks", { good: 9, slow: 1, bad: 0 }, "degraded"],
  ["webhooks", { good: 10, slow: 1, bad: 0 }, "operational"],
  ["settlements", { good: 1, slow: 0, bad: 1 }, "outage"],
  ["settlements", { good: 1999, slow: 0, bad: 1 }, "operational"],
];

test.each(cases)("%s with %o is %s", (component, counts, state) => {
  expect(stateOf(component, counts)).toBe(state);
});

const some = fc.oneof(fc.nat(12), fc.nat(2_000_000));
const someCounts = fc.record({ good: some, slow: some, bad: some });

test("PostgreSQL judges a minute as the table does", async () => {
  const drawn = fc.sample(fc.tuple(fc.constantFrom(...components), someCounts), 2_000);
  const judged = [...cases.map(([component, counts]) => [component, counts] as const), ...drawn];
  const rows = await database.query<{ state: State }>({
    text: `select ${stateInSql} as state
from unnest($7::integer[], $8::text[], $9::bigint[], $10::bigint[], $11::bigint[]) as s(place, component, good, slow, bad)
join ${thresholdsInSql(1)} on t.component = s.component
order by s.place`,
    values: [
      ...thresholdValues,
      judged.map((_, place) => place),
      judged.map(([component]) => component),
      ...(["good", "slow", "bad"] as const).map((name) => judged.map(([, counts]) => counts[name])),
    ],
  });
  expect(rows.map(({ state }) => state)).toEqual(judged.map(([component, counts]) => stateOf(component, counts)));
});

test("more good work never makes it worse, and nothing measured is never well", () => {
  const rank: State[] = ["operational", "degraded", "outage"];
  fc.assert(
    fc.property(fc.constantFrom(...components), someCounts, some, (component, counts, more) => {
      const before = stateOf(component, counts);
      const after = stateOf(component, add(counts, { good: more, slow: 0, bad: 0 }));
      expect(before === "no_data").toBe(counts.good + counts.slow + counts.bad === 0);
      if (before !== "no_data") expect(rank.indexOf(after)).toBeLessThanOrEqual(rank.indexOf(before));
    }),
  );
});

test("a component that does nothing well is out, once that is no accident", () => {
  for (const component of components) {
    const { badMin } = thresholds[kindOf(component)];
    expect(stateOf(component, { good: 0, slow: 0, bad: badMin })).toBe("outage");
  }
});

test.each([
  [{ operational: 0, degraded: 0, outage: 0, maintenance: 0 }, "no_data"],
  [{ operational: 1440, degraded: 0, outage: 0, maintenance: 0 }, "operational"],
  [{ operational: 1436, degraded: 4, outage: 0, maintenance: 0 }, "operational"],
  [{ operational: 1435, degraded: 5, outage: 0, maintenance: 0 }, "degraded"],
  [{ operational: 1439, degraded: 0, outage: 1, maintenance: 0 }, "degraded"],
  [{ operational: 1425, degraded: 0, outage: 15, maintenance: 0 }, "outage"],
  [{ operational: 1400, degraded: 0, outage: 0, maintenance: 40 }, "maintenance"],
  [{ operational: 1399, degraded: 0, outage: 1, maintenance: 40 }, "degraded"],
] as const)("a day of %o is %s", (minutes, state) => {
  expect(stateOfDay(minutes)).toBe(state);
});

test("the percentage leaves planned work out, and never rounds an outage away", () => {
  const whole = { operational: 1440, degraded: 0, outage: 0, maintenance: 0 };
  expect(uptimePercent([])).toBeUndefined();
  expect(uptimePercent([{ ...whole, operational: 0, maintenance: 60 }])).toBeUndefined();
  expect(uptimePercent([whole, { ...whole, maintenance: 60 }])).toBe(100);
  expect(uptimePercent([{ ...whole, operational: 720, outage: 720 }])).toBe(50);
  const ninety = [...Array.from({ length: 89 }, () => whole), { ...whole, operational: 1439, outage: 1 }];
  expect(uptimePercent(ninety)).toBe(99.99);
});

test("the worst of several states is shown", () => {
  expect(worst([])).toBe("no_data");
  expect(worst(["no_data", "operational"])).toBe("operational");
  expect(worst(["maintenance", "operational"])).toBe("maintenance");
  expect(worst(["degraded", "maintenance"])).toBe("degraded");
  expect(worst(["outage", "degraded", "operational"])).toBe("outage");
});
