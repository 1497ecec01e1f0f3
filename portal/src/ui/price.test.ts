// Goal: one reads of which currency a price is. Method: the words of the price, without a browser.
import { createElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { expect, test } from "vitest";
import { digitsOf } from "./money.tsx";
import { Price } from "./price.tsx";

type Language = Parameters<typeof Price>[0]["language"];

const words = (
  of: Parameters<typeof Price>[0]["of"],
  currency: string | undefined,
  language: Language = "en",
): string => {
  const money = (minor: number) => `KWD ${digitsOf(minor, 3, language)}`;
  return renderToStaticMarkup(createElement(Price, { of, currency, money, language })).replaceAll(/<[^>]*>/g, "");
};

test.each([
  [{ basis_points: 150, flat_minor: 0 }, "KWD 1.50 %"],
  [{ basis_points: 290, flat_minor: 100 }, "KWD 2.90 % + KWD 0.100"],
  [{ basis_points: 0, flat_minor: 250 }, "KWD 0.250"],
  [{ basis_points: 0, flat_minor: 0 }, "KWD 0.000"],
  [
    { basis_points: 70, flat_minor: 0, minimum_minor: 50, maximum_minor: 5_000 },
    "KWD 0.70 % at least KWD 0.050 at most KWD 5.000",
  ],
])("among prices of several currencies %j names its own", (price, shown) => {
  expect(words(price, "KWD")).toBe(shown);
});

test("on an Indonesian page a share has the mark of the amount beside it", () => {
  expect(words({ basis_points: 290, flat_minor: 1_000_000 }, "KWD", "id")).toBe("KWD 2,90 % + KWD 1.000,000");
});

test("the price of the only currency is a share alone, and a bound of null is none", () => {
  expect(words({ basis_points: 70, flat_minor: 0, minimum_minor: null, maximum_minor: null }, undefined)).toBe(
    "0.70 %",
  );
});
