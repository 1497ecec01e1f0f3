// Goal: adding a currency never touches the prices of another one. Method: by example.
import { expect, test } from "vitest";
import { faultOfAdded } from "./prices.ts";

test.each(["USD", " usd ", "KWD"])("%j can be added", (typed) => {
  expect(faultOfAdded(typed, ["IDR", "JPY"])).toBeUndefined();
});

test.each(["IDR", "idr", " Jpy"])("%j is there already: its prices would become those of the form", (typed) => {
  expect(faultOfAdded(typed, ["IDR", "JPY"])).toContain("is there already");
});

test.each(["", "US", "US1", "USDT"])("%j is no currency", (typed) => {
  expect(faultOfAdded(typed, ["IDR"])).toContain("Three letters");
});
