// Goal: every connector may be trusted with money, and the page of the docs says so truly. Method: each sits the provider exam before its
// fake; no case fails, and the marks are those that the page keeps.
import { readFileSync } from "node:fs";
import { setTimeout } from "node:timers/promises";
import { beforeAll, expect, test } from "vitest";
import { SECOND, systemClock } from "../../gateway/src/ground/clock.ts";
import { newId } from "../../gateway/src/ground/ids.ts";
import type { Mark } from "../../gateway/src/providers/exam/exam.ts";
import { isOnItsDay } from "../../gateway/src/providers/snap/values.ts";
import { slowness } from "../../gateway/test/slowness.ts";
import { allMarks, page, subjects, withMarks } from "./scorecard.ts";

/** Microseconds that an exam takes at most. */
const LENGTH = 30 * slowness() * SECOND;

let marks: Record<string, Mark[]> = {};
beforeAll(async () => {
  // A lost answer of a SNAP provider is found only within one day of Jakarta: an exam over midnight would say nothing of the connector.
  const isOnOneDay = (): boolean =>
    isOnItsDay(`${newId("payment", systemClock.now()).replace("_", "")}.`, systemClock.now() + LENGTH);
  while (!isOnOneDay()) await setTimeout(1_000);
  marks = await allMarks();
});

test.each(Object.keys(subjects))("%s fails no case of the exam, and passes most", (name) => {
  const own = marks[name] ?? [];
  expect(own.filter(({ mark }) => mark === "failed")).toEqual([]);
  expect(own.filter(({ mark }) => mark === "passed").length).toBeGreaterThan(25);
});

test("the page with the marks is up to date: npm run scorecard writes it", () => {
  const kept = readFileSync(page, "utf8");
  expect(kept.trim()).toBe(withMarks(kept, marks).trim());
});
