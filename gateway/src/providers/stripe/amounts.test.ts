// Goal: no amount changes on its way to Stripe or back. Method: the special cases of their page one by one, and all currencies there and back.
import fc from "fast-check";
import { expect, test } from "vitest";
import { exponentOf, isCurrency } from "../../ground/money.ts";
import { boundsOf, isCharged, ourAmount, theirAmount } from "./amounts.ts";

test.each([
  ["IDR", 150_050n, "150050"],
  ["USD", 1_000n, "1000"],
  ["JPY", 500n, "500"],
  ["MGA", 50_000n, "500"],
  ["ISK", 5n, "500"],
  ["UGX", 5n, "500"],
  ["KWD", 5_120n, "5120"],
  ["HUF", 1_045n, "1045"],
  ["TWD", 80_045n, "80045"],
])("%s %s of ours is %s of theirs, and back", (currency, ours, theirs) => {
  expect(theirAmount(ours, currency)).toBe(theirs);
  expect(ourAmount(Number(theirs), currency.toLowerCase())).toEqual({ amountMinor: ours, currency });
});

test.each([
  ["IDR", 1n, 999_999_999_999n],
  ["USD", 1n, 99_999_999n],
  ["JPY", 1n, 99_999_999n],
  ["MGA", 100n, 9_999_999_900n],
  ["ISK", 1n, 999_999n],
  ["UGX", 1n, 999_999n],
  ["BHD", 10n, 99_999_990n],
  ["TND", 10n, 99_999_990n],
])("%s is taken in steps of %s up to %s", (currency, stepMinor, maximumMinor) => {
  expect(boundsOf(currency)).toEqual({ stepMinor, maximumMinor });
});

test("a step that they do not take is a defect here, not a rounded amount", () => {
  expect(() => theirAmount(5_124n, "KWD")).toThrow("KWD in a step");
  expect(() => theirAmount(150n, "MGA")).toThrow("MGA in a step");
  expect(() => theirAmount(0n, "IDR")).toThrow("IDR in a step");
  expect(() => theirAmount(1n, "IQD")).toThrow("IQD is not charged");
});

test("an amount or a currency of theirs without a counterpart is not believed", () => {
  expect(() => ourAmount(505, "isk")).toThrow("no counterpart");
  expect(() => ourAmount(100, "xxx")).toThrow("not known");
  expect(() => ourAmount(100, "IDR")).toThrow("not known");
  expect(() => ourAmount(100, "lyd")).toThrow("not known");
});

const known = [..."ABCDEFGHIJKLMNOPQRSTUVWXYZ"].flatMap((a) =>
  [..."ABCDEFGHIJKLMNOPQRSTUVWXYZ"].flatMap((b) => [..."ABCDEFGHIJKLMNOPQRSTUVWXYZ"].map((c) => a + b + c)),
);
const charged = known.filter(isCharged);

test("every currency that is charged is one of ours, and its largest amount is one that is taken", () => {
  expect(charged.length).toBe(136);
  for (const currency of charged) {
    expect(isCurrency(currency), currency).toBe(true);
    expect(theirAmount(boundsOf(currency).maximumMinor, currency).length, currency).toBeLessThanOrEqual(12);
  }
});

test("the differences are those of the decimals: none is left out", () => {
  const zeroDecimals = "BIF CLP DJF GNF JPY KMF KRW MGA PYG RWF UGX VND VUV XAF XOF XPF".split(" ");
  for (const currency of charged) {
    const theirs = zeroDecimals.includes(currency) && currency !== "UGX" ? 0 : exponentOf(currency) === 3 ? 3 : 2;
    const one = 10n ** BigInt(exponentOf(currency)); // one whole unit of the currency
    expect(theirAmount(one, currency), currency).toBe(String(10n ** BigInt(theirs)));
  }
});

test("whatever is taken comes back as it went", () => {
  fc.assert(
    fc.property(fc.constantFrom(...charged), fc.bigInt({ min: 1n, max: 999_999_999_999n }), (currency, drawn) => {
      const { stepMinor, maximumMinor } = boundsOf(currency);
      const amountMinor = stepMinor * (1n + (drawn % (maximumMinor / stepMinor)));
      const theirs = Number(theirAmount(amountMinor, currency));
      expect(ourAmount(theirs, currency.toLowerCase())).toEqual({ amountMinor, currency });
    }),
  );
});
