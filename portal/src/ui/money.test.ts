// Goal: an amount is read as the page writes it, in every currency, and one that can be read in two ways is not read.
import { expect, test } from "vitest";
import {
  boundsAsMoney,
  digitsOf,
  faultOfAmount,
  faultOfDigits,
  inMinorUnits,
  minorOf,
  wholeDigitsOf,
  writtenAmount,
} from "./money.tsx";

test.each([
  ["1500", 2, 150_000],
  ["1,500.00", 2, 150_000],
  ["1.500,00", 2, 150_000],
  ["1.500.000", 2, 150_000_000],
  ["50,000", 2, 5_000_000],
  ["999,999", 2, 99_999_900],
  ["8,888", 0, 8_888],
  ["8.888", 0, 8_888],
  ["8,888,888", 0, 8_888_888],
  ["1.500", 3, 1_500],
  ["1,500.000", 3, 1_500_000],
  ["1.500,000", 3, 1_500_000],
  ["1500,500", 3, 1_500_500],
  ["0,500", 3, 500],
  ["1,50", 3, 1_500],
  // Fifteen hundred, or one and a half with a zero too many.
  ["1.500", 2, undefined],
  // Fifteen hundred dinars, or one and a half.
  ["1,500", 3, undefined],
  ["12,345", 4, undefined],
  ["0,888", 0, undefined],
  ["88,88", 0, undefined],
  ["1,500,00", 2, undefined],
  ["1.500,000,00", 2, undefined],
  ["", 2, undefined],
  ["-5", 2, undefined],
] as const)("%s with exponent %i is %s minor units", (typed, exponent, minor) => {
  expect(minorOf(typed, exponent, "en")).toBe(minor);
});

test.each([
  [150_099, 2, "en", "1,500"],
  [150_099, 2, "id", "1.500"],
  [8_888, 0, "en", "8,888"],
  [8_888, 0, "id", "8.888"],
  [1_234_567, 0, "en", "1,234,567"],
  [1_500_999, 3, "en", "1,500"],
  [1_500, 3, "id", "1"],
  [15_000, 4, "en", "1"],
  [99, 2, "en", "0"],
] as const)("%i with exponent %i in %s is %s without its decimals", (minor, exponent, language, whole) => {
  expect(wholeDigitsOf(minor, exponent, language)).toBe(whole);
});

test("what a page writes, a form takes back", () => {
  const amounts = [1, 99, 1_000, 8_888, 123_456, 1_234_567, 999_999_999_999, Number.MAX_SAFE_INTEGER];
  for (const language of ["en", "id"] as const)
    for (const exponent of [0, 2, 3, 4])
      for (const minor of amounts) expect(minorOf(digitsOf(minor, exponent, language), exponent, language)).toBe(minor);
});

test.each([
  ["50.000", 2, 5_000_000],
  ["50.000", 0, 50_000],
  ["1.500,50", 2, 150_050],
  // Fifty, or fifty thousand with the mark of another language.
  ["50,000", 2, undefined],
  ["0.500", 2, undefined],
  ["0050.000", 2, undefined],
  ["50.00", 2, 5_000],
] as const)("%s with exponent %i on an Indonesian page is %s minor units", (typed, exponent, minor) => {
  expect(minorOf(typed, exponent, "id")).toBe(minor);
});

test("where one mark may be either, the language of the page decides", () => {
  expect([minorOf("1,500", 3, "id"), minorOf("1.500", 3, "id")]).toEqual([1_500, undefined]);
});

test.each([
  ["150000", "en", "150000"],
  ["1,500.00", "en", "1500.00"],
  ["1500,00", "en", "1500.00"],
  ["1.500,00", "id", "1500.00"],
  ["75.000", "id", "75000"],
  ["1.500.000,5", "id", "1500000.5"],
  ["150000.00", "id", "150000.00"],
  [" 1 500 ", "en", "1500"],
  ["Rp150.000", "id", "150000"],
  ["Rp. 150.000,00", "id", "150000.00"],
  ["IDR 150,000.00", "en", "150000.00"],
  ["rupiah", "id", "rupiah"],
] as const)("a search for %s in %s asks the API for %s", (typed, language, written) => {
  expect(writtenAmount(typed, language)).toBe(written);
});

test.each([
  [undefined, 2, "Enter an amount with at most 2 decimals."],
  [undefined, 0, "Enter an amount without decimals."],
  [0, 3, "Enter an amount above zero."],
  [1, 0, undefined],
])("of %j minor units with exponent %i a form says %j", (minor, exponent, fault) => {
  expect(faultOfAmount(minor, exponent)).toBe(fault);
});

test.each([
  ["en", 2, {}, "Enter an amount from 0.01 to 100,000,000.00."],
  ["id", 2, { multiple_of_minor: 100 }, "Enter an amount from 0,01 to 100.000.000,00, a multiple of 1,00."],
  ["en", 0, {}, "Enter an amount from 1 to 10,000,000,000."],
  ["en", 2, { maximum_minor: undefined }, undefined],
] as const)("bounds of the service are money in %s with exponent %i and %j", (language, exponent, more, said) => {
  const details = { field: "amount_minor", minimum_minor: 1, maximum_minor: 10_000_000_000, ...more };
  expect(boundsAsMoney({ code: "INVALID_AMOUNT", details }, exponent, language)).toBe(said);
  expect(boundsAsMoney({ code: "VALIDATION_ERROR", details }, exponent, language)).toBeUndefined();
});

test("a field says an amount in both notations, in the page's language; zero is an amount where one may be zero", () => {
  const amount = { amount_minor: 150_000, currency: "IDR", exponent: 2 };
  expect(inMinorUnits(amount, "en")).toBe("IDR 1,500.00 is 150000 minor units");
  expect(inMinorUnits(amount, "id")).toBe("IDR 1.500,00 is 150000 minor units");
  expect([faultOfDigits(0, 2), faultOfAmount(0, 2)]).toEqual([undefined, "Enter an amount above zero."]);
});
