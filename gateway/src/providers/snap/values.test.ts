// Goal: amounts, moments and references go to SNAP and come back as they were; anything else is refused. Method: tables.
import { expect, test } from "vitest";
import { keyAt } from "../../../test/snap-rig.ts";
import {
  amountOf,
  digitsOf,
  isOnItsDay,
  jakartaDay,
  operationKeyOf,
  readAmount,
  readSnapTime,
  referenceOf,
  snapTime,
} from "./values.ts";

const at = Date.parse("2026-11-23T14:00:00Z") * 1000;

test.for([
  [100n, "1.00"],
  [15_000_000n, "150000.00"],
  [15_005n, "150.05"],
  [999_999_999_999_900n, "9999999999999.00"],
] as const)("%s minor units are written as %s", ([minor, value]) => {
  expect(amountOf(minor)).toEqual({ value, currency: "IDR" });
  expect(readAmount(amountOf(minor), "amount")).toBe(minor);
});

test.for([
  ["11500.00", 1_150_000n],
  ["11500", 1_150_000n],
  ["11500.5", 1_150_050n],
  [1000, 100_000n],
  [Symbol("1000.00"), 100_000n],
] as const)("the value %s is read", ([value, minor]) => {
  expect(readAmount({ value, currency: "IDR" }, "amount")).toBe(minor);
});

test.for([
  ["-1.00", "IDR"],
  ["1.000", "IDR"],
  ["1,000.00", "IDR"],
  ["1e3", "IDR"],
  ["", "IDR"],
  [" 1.00", "IDR"],
  [1.5e300, "IDR"],
  [null, "IDR"],
  ["1.00", "USD"],
  ["1.00", undefined],
  ["99999999999999999.00", "IDR"],
])("the value %s in %s is no amount", ([value, currency]) => {
  expect(() => readAmount({ value, currency }, "paidAmount")).toThrow("paidAmount");
});

test("an amount that is no object is named", () => {
  for (const given of [undefined, null, "1.00", 1]) expect(() => readAmount(given, "paidAmount")).toThrow("paidAmount");
});

test("a moment is written by Jakarta's clocks and read with any offset", () => {
  expect(snapTime(at)).toBe("2026-11-23T21:00:00+07:00");
  expect(readSnapTime(snapTime(at))).toBe(at);
  expect(readSnapTime("2026-11-23T14:00:00.000Z")).toBe(at);
  for (const text of ["", "2026-11-23", "2026-02-30T00:00:00Z", "23/11/2026", "2026-11-23T14:00:00"])
    expect(readSnapTime(text), text).toBeUndefined();
});

test("a day begins at midnight in Jakarta", () => {
  const midnight = Date.parse("2026-11-23T17:00:00Z") * 1000;
  expect(jakartaDay(midnight)).toBe(jakartaDay(midnight - 1) + 1);
  expect(jakartaDay(midnight + 86_399_000_000)).toBe(jakartaDay(midnight));
});

test("an operation key is a reference without dots, and comes back", () => {
  const key = "pay01kb5zw3d9h4vq0t7n8m2c6xre.01kb5zw3d9h4vq0t7n8m2c6xrf.s12";
  expect(referenceOf(key)).toMatch(/^[a-z0-9-]{1,64}$/);
  expect(operationKeyOf(referenceOf(key))).toBe(key);
  for (const other of [undefined, "", "INV-1", "a b", "x".repeat(65), 5]) expect(operationKeyOf(other)).toBeUndefined();
});

test("digits follow from what they stand for, and differ with it", () => {
  expect(digitsOf(9, "doku", "createVa", "a")).toMatch(/^\d{9}$/);
  expect(digitsOf(32, "a", "b")).toBe(digitsOf(32, "a", "b"));
  expect(
    new Set([digitsOf(32, "a", "b"), digitsOf(32, "ab"), digitsOf(32, "a", "c"), digitsOf(32, "b", "a")]).size,
  ).toBe(4);
});

test("a request may be repeated on its own day, and not where it could arrive on the next", () => {
  const midnight = Date.parse("2026-11-23T17:00:00Z") * 1000;
  const second = 1_000_000;
  for (const kind of ["payment", "refund"] as const) {
    const key = keyAt(kind, midnight - 3_600 * second);
    expect(isOnItsDay(key, midnight - 61 * second)).toBe(true);
    expect(isOnItsDay(key, midnight - 60 * second)).toBe(false);
    expect(isOnItsDay(key, midnight + second)).toBe(false);
    expect(isOnItsDay(keyAt(kind, midnight + second), midnight - 30 * second)).toBe(false);
  }
  for (const other of ["", "x.1", "pay.1", "dsp01kb5zw3d9h4vq0t7n8m2c6xre.x.s1"])
    expect(isOnItsDay(other, midnight)).toBe(false);
});
