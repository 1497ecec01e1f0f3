// Goal: amounts go to Xendit and come back exactly, and what is no amount is seen. Method: tables, and every way once there and back.
import fc from "fast-check";
import { expect, test } from "vitest";
import { parseObject } from "../../ground/json.ts";
import { majorOf, readAmount } from "./amounts.ts";

test.for([
  [1_000_000n, "IDR", 10_000],
  [100n, "IDR", 1],
  [150_050n, "IDR", undefined],
  [1n, "IDR", undefined],
  [5_000_000_000_000n, "IDR", 50_000_000_000],
  [1_001n, "USD", 10.01],
  [5n, "VND", 5],
] as const)("%s minor units of %s are written as %s", ([minor, currency, major]) => {
  expect(majorOf(minor, currency)).toBe(major);
});

test.for<[unknown, string, bigint | undefined]>([
  [10_000, "IDR", 1_000_000n],
  [10_000.01, "IDR", 1_000_001n],
  ["10000.00", "IDR", 1_000_000n],
  ["1000.00", "USD", 100_000n],
  [0, "IDR", 0n],
  ["10000.001", "IDR", undefined],
  ["10.5", "VND", undefined],
  ["10.0", "VND", 10n],
  [-1, "IDR", undefined],
  [1e21, "IDR", undefined],
  [Number.NaN, "IDR", undefined],
  ["", "IDR", undefined],
  ["1e3", "IDR", undefined],
  [" 1", "IDR", undefined],
  [null, "IDR", undefined],
  [{}, "IDR", undefined],
  [10_000, "XXX", undefined],
])("%s in %s is read as %s", ([value, currency, minor]) => {
  expect(readAmount(value, currency)).toBe(minor);
});

test("a number is read as it was written, not as JavaScript rounds it", () => {
  const read = (text: string) => readAmount(parseObject(Buffer.from(`{"amount":${text}}`)).amount, "IDR");
  expect(read("10000.00")).toBe(1_000_000n);
  expect(read("10000.010")).toBe(1_000_001n);
  expect(read("10000.0000000001")).toBe(undefined);
});

test("what is written can be read back", () => {
  fc.assert(
    fc.property(
      fc.bigInt({ min: 1n, max: 5_000_000_000_000n }),
      fc.constantFrom("USD", "VND", "PHP"),
      (minor, currency) => {
        expect(readAmount(majorOf(minor, currency), currency)).toBe(minor);
      },
    ),
  );
});
