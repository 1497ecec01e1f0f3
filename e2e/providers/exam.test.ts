// Goal: every connector may be trusted with money, and the page of the docs says so truly. Method: each sits the provider exam before its
// fake; no case fails, and the marks are those that the page keeps.
import { readFileSync } from "node:fs";
import { beforeAll, expect, test } from "vitest";
import type { Mark } from "../../gateway/src/providers/exam/exam.ts";
import { allMarks, page, subjects, withMarks } from "./scorecard.ts";

let marks: Record<string, Mark[]> = {};
beforeAll(async () => {
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
