// Goal: a mistake in a field is told as what the field must be, in words of people.
import { expect, test } from "vitest";
import { z } from "zod";
import { inPlainWords, nearestIssues } from "./plain-words.ts";

const told = (schema: z.ZodType, value: unknown): string[] =>
  (schema.safeParse(value, inPlainWords).error?.issues ?? [])
    .flatMap(nearestIssues)
    .map(({ path, message }) => [...path, message].join(": "));

const either = z.union([z.boolean(), z.strictObject({ most: z.int().min(1) })]);

test.each<[string, z.ZodType, unknown]>([
  ["is required", z.string(), undefined],
  ["is required", z.enum(["a", "b"]), undefined],
  ["is required", z.int(), undefined],
  ["is required", either, undefined],
  ["name: is required", z.object({ name: z.string() }), {}],
  ["must be a string", z.string(), null],
  ["must be a string", z.string(), 5],
  ["must be a whole number", z.int(), "5"],
  ["must be a whole number", z.int(), 1.5],
  ["must be a whole number", z.coerce.number(), "five"],
  ["must be at most 9007199254740991", z.int(), 2 ** 53],
  ["must be true or false", z.boolean(), "yes"],
  ["must be a list", z.array(z.string()), {}],
  ["must be an object", z.object({}), []],
  ["must be an object", z.record(z.string(), z.string()), "a"],
  ["must be at least 60", z.int().min(60), 59],
  ["must be at most 60", z.int().max(60), 61],
  ["must have at least 1 character", z.string().min(1), ""],
  ["must have at most 2 characters", z.string().max(2), "abc"],
  ["must have exactly 3 characters", z.string().length(3), "ab"],
  ["must have at least 1 item", z.array(z.string()).min(1), []],
  ["must have at most 2 items", z.array(z.string()).max(2), ["a", "b", "c"]],
  ['must be "x"', z.literal("x"), "y"],
  ['must be one of "a", "b"', z.enum(["a", "b"]), "c"],
  ["must be true or false, or must be an object", either, "yes"],
  ["most: must be at least 1", either, { most: 0 }],
  ["qris: most: must be a whole number", z.object({ qris: either }), { qris: { most: "5" } }],
  ["has words of its own", z.string("has words of its own"), 5],
])("%s", (expected, schema, value) => {
  expect(told(schema, value)).toEqual([expected]);
});

test("every mistake is told, also those of the nearest of several shapes", () => {
  const both = z.object({ one: z.int(), other: z.union([z.string(), z.object({ a: z.int(), b: z.int() })]) });
  expect(told(both, { one: "1", other: { a: "1" } })).toEqual([
    "one: must be a whole number",
    "other: a: must be a whole number",
    "other: b: is required",
  ]);
});
