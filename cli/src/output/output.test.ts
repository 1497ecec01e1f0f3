// Goal: amounts are what the API says, to the last digit, and line up; colours are for terminals that want them; what comes from elsewhere is text
// and nothing else. Method: the pure functions, by example and by property.
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { configFolder } from "../profiles.ts";
import { secondsOf } from "../sandbox.ts";
import { pageOf } from "../open.ts";
import { paintOf, plain } from "./color.ts";
import { factsOf } from "./facts.ts";
import { digitsOf } from "./money.ts";
import { tableOf } from "./table.ts";
import { shown } from "./text.ts";

test.each([
  [0, 2, "0.00"],
  [5, 2, "0.05"],
  [-5, 2, "-0.05"],
  [150_000, 2, "1,500.00"],
  [-123_456_789, 2, "-1,234,567.89"],
  [1_000, 0, "1,000"],
  [1_234, 3, "1.234"],
  [9_007_199_254_740_991, 2, "90,071,992,547,409.91"],
])("%d with exponent %d is %s", (minor, exponent, text) => expect(digitsOf(minor, exponent)).toBe(text));

test("an amount's digits are its own, whatever stands between them", () => {
  fc.assert(
    fc.property(fc.maxSafeInteger(), fc.integer({ min: 0, max: 4 }), (minor, exponent) => {
      expect(Number(digitsOf(minor, exponent).replaceAll(/[,.]/g, ""))).toBe(minor === 0 ? 0 : minor);
    }),
  );
});

test("colours are for a terminal, and not where NO_COLOR is set to anything, or the terminal has none", () => {
  const [terminal, file] = [{ isTTY: true as const }, { isTTY: false as never }];
  expect(paintOf(terminal, {})("good", "paid")).toBe("\u001B[32mpaid\u001B[0m");
  expect(paintOf(terminal, { NO_COLOR: "" })("bad", "x")).toBe("\u001B[31mx\u001B[0m");
  for (const [stream, environment] of [
    [terminal, { NO_COLOR: "1" }],
    [terminal, { NO_COLOR: "false" }],
    [terminal, { TERM: "dumb" }],
    [file, {}],
  ] as const)
    expect(paintOf(stream, environment)("good", "paid")).toBe("paid");
});

test("a table's columns line up, with amounts to the right, and its lines end where their text does", () => {
  const columns = [
    { head: "NAME", cell: ({ name }: { name: string; minor: number }) => name },
    { head: "AMOUNT", align: "right" as const, cell: ({ minor }: { minor: number }) => digitsOf(minor, 2) },
    { head: "", cell: () => "" },
  ];
  const rows = [
    { name: "kopi", minor: 150_000_000 },
    { name: "teh poci é", minor: 50 },
  ];
  expect(tableOf(columns, rows, plain)).toBe(
    "NAME              AMOUNT\nkopi        1,500,000.00\nteh poci é          0.50\n",
  );
});

test("an object is told by its fields, amounts with the currency that stands beside them or around them", () => {
  const payment = {
    reference: "pay_1",
    amount_minor: 150_000,
    currency: "IDR",
    exponent: 2,
    paid_at: null,
    settlement: { status: "paid", net_minor: 149_000 },
    metadata: {},
    "a\u001B[2Jb": 1,
    checks: [{ name: "replay", passed: true }],
    methods: ["qris", "va"],
  };
  expect(factsOf(payment, plain).split("\n")).toEqual([
    "reference   pay_1",
    "amount      1,500.00 IDR",
    "currency    IDR",
    "paid_at     –",
    "settlement",
    "  status    paid",
    "  net       1,490.00 IDR",
    "metadata    –",
    "a\ufffd[2Jb      1",
    "checks 1",
    "  name      replay",
    "  passed    true",
    "methods     qris, va",
    "",
  ]);
});

test("no text moves the cursor, rings, or turns letters around, and every other letter stays", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => {
      expect([...shown(text)].every((letter) => !/[\p{Cc}\p{Bidi_Control}]/u.test(letter))).toBe(true);
      expect(shown(text)).toHaveLength(text.length);
    }),
  );
  expect(shown("Toko Sénja ☕ ကော်ဖီ")).toBe("Toko Sénja ☕ ကော်ဖီ");
});

test("keys are kept where each system keeps a user's configuration", () => {
  expect(configFolder({ XDG_CONFIG_HOME: "/x" }, "linux")).toBe(join("/x", "gerbang"));
  expect(configFolder({ XDG_CONFIG_HOME: "/x" }, "darwin")).toBe(join("/x", "gerbang"));
  expect(configFolder({}, "linux")).toMatch(/[\\/]\.config[\\/]gerbang$/);
  expect(configFolder({}, "darwin")).toMatch(/Library[\\/]Application Support[\\/]gerbang$/);
  expect(configFolder({ APPDATA: "/roaming" }, "win32")).toBe(join("/roaming", "gerbang"));
});

test("times are written as people say them, and identities name pages, or are refused", () => {
  expect(["90", "15m", "12h", "3d", "1s"].map(secondsOf)).toEqual([90, 900, 43_200, 259_200, 1]);
  for (const wrong of ["", "0", "-1", "1.5h", "1w", "1e9", "9999999999", "h"])
    expect(() => secondsOf(wrong)).toThrow("is no time");
  const id = "0".repeat(26);
  expect(pageOf(`pay_${id}`)).toBe(`payments/pay_${id}`);
  for (const wrong of ["", "pay_", `xyz_${id}`, `pay_${id}/../../settings`, "__proto__", `con${id}`])
    expect(() => pageOf(wrong)).toThrow("names no object");
});
