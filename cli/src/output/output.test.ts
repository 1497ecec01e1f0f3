// Goal: amounts are what the API says, to the last digit, and line up; colours are for terminals that want them; what comes from elsewhere is text
// and nothing else. Method: the pure functions, by example and by property.
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { expect, test } from "vitest";
import { anyText } from "../../../gateway/test/any-text.ts";
import { configFolder } from "../profiles.ts";
import { secondsOf } from "../sandbox.ts";
import { pageOf } from "../open.ts";
import { paintOf, plain } from "./color.ts";
import { factsOf } from "./facts.ts";
import { digitsOf } from "./money.ts";
import { tableOf } from "./table.ts";
import { jsonOf, linesOf, shown, widthOf, words } from "./text.ts";

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
  expect(paintOf(terminal, {})("good", "paid").toString()).toBe("\u001B[32mpaid\u001B[0m");
  expect(paintOf(terminal, { NO_COLOR: "" })("bad", "x").toString()).toBe("\u001B[31mx\u001B[0m");
  for (const [stream, environment] of [
    [terminal, { NO_COLOR: "1" }],
    [terminal, { NO_COLOR: "false" }],
    [terminal, { TERM: "dumb" }],
    [file, {}],
  ] as const)
    expect(paintOf(stream, environment)("good", "paid").toString()).toBe("paid");
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
  expect(tableOf(columns, rows, plain).toString()).toBe(
    "NAME              AMOUNT\nkopi        1,500,000.00\nteh poci é          0.50\n",
  );
});

test("on a terminal that is too narrow a row is folded between its cells: no id is broken, and no currency leaves its amount", () => {
  const columns = [
    { head: "REFERENCE", cell: ({ id }: { id: string; why: string }) => id },
    { head: "AMOUNT", align: "right" as const, cell: () => "50.00" },
    { head: "", cell: () => "IDR" },
    { head: "WHY", cell: ({ why }: { why: string }) => why },
  ];
  const rows = [
    { id: "pay_0123456789", why: "" },
    { id: "pay_9876543210", why: "It came too late." },
  ];
  const at = (width?: number) => tableOf(columns, rows, plain, width).toString();
  expect(at(46)).toBe(at());
  expect(at(45)).toBe(
    [
      "REFERENCE       AMOUNT",
      "  WHY",
      "pay_0123456789   50.00  IDR",
      "pay_9876543210   50.00  IDR",
      "  It came too late.",
      "",
    ].join("\n"),
  );
  expect(at(26).split("\n").slice(0, 5)).toEqual(["REFERENCE", "  AMOUNT", "  WHY", "pay_0123456789", "   50.00  IDR"]);
  // Where not even an amount fits, its currency is still beside it.
  expect(at(8).split("\n")).toContain("   50.00  IDR");
});

test("the later lines of a row count what they are moved in by", () => {
  const columns = [20, 10, 10].map((width, at) => ({ head: "ABC".charAt(at), cell: () => "x".repeat(width) }));
  const folded = (width: number) => tableOf(columns, [{}], plain, width).toString().split("\n").slice(-4, -1);
  const [long, short] = ["x".repeat(20), "x".repeat(10)];
  expect(folded(24).slice(-2)).toEqual([long, `  ${short}  ${short}`]);
  expect(folded(23)).toEqual([long, `  ${short}`, `  ${short}`]);
});

test.each([
  ["", 0],
  ["kopi é", 6],
  ["e\u0301", 1],
  ["日本語", 6],
  ["コーヒー", 8],
  ["ｶﾅ", 2],
  ["한국", 4],
  ["Ａ。", 4],
  ["☕", 2],
  ["คำ", 2],
])("%s takes %d columns of a terminal, and what comes after it lines up", (text, width) => {
  expect(widthOf(text)).toBe(width);
  const columns = [
    { head: "A", cell: (cell: string) => cell },
    { head: "B", cell: () => "b" },
  ];
  const lines = tableOf(columns, [text, "x".repeat(20)], plain)
    .toString()
    .split("\n")
    .slice(0, 3);
  expect(new Set(lines.map((line) => widthOf(line)))).toEqual(new Set([23]));
  const facts = factsOf({ [`${text}_`]: "b", ["x".repeat(20)]: "b" }, plain)
    .toString()
    .split("\n")
    .slice(0, 2);
  expect(new Set(facts.map((line) => widthOf(line)))).toEqual(new Set([23]));
});

test("an object is told by its fields, amounts with the currency that stands beside them or around them", () => {
  const payment = {
    reference: "pay_1",
    amount_minor: 150_000,
    currency: "IDR",
    exponent: 2,
    paid_at: null,
    settlement: { status: "paid", net_minor: 149_000 },
    maximum_minor: null,
    metadata: {},
    "a\u001B[2Jb": 1,
    checks: [{ name: "replay", passed: true }],
    methods: ["qris", "va"],
  };
  expect(factsOf(payment, plain).toString().split("\n")).toEqual([
    "reference   pay_1",
    "amount      1,500.00 IDR",
    "currency    IDR",
    "paid_at     –",
    "settlement",
    "  status    paid",
    "  net       1,490.00 IDR",
    "maximum     –",
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
    fc.property(anyText(), (text) => {
      expect([...shown(text)].every((letter) => !/[\p{Cc}\p{Bidi_Control}]/u.test(letter))).toBe(true);
      expect(shown(text)).toHaveLength(text.length);
    }),
  );
  expect(shown("Toko Sénja ☕ ကော်ဖီ")).toBe("Toko Sénja ☕ ကော်ဖီ");
});

test("our own words stay, with their lines and colours, and each value in them is one line of text", () => {
  const red = paintOf({ isTTY: true }, {})("bad", "no\u001B[0m\n");
  expect(words`Signed in:\n${"a\nb\u001B[31m"}, ${3}, ${red}.`.toString()).toBe(
    "Signed in:\na\ufffdb\ufffd[31m, 3, \u001B[31mno\ufffd[0m\ufffd\u001B[0m.",
  );
  expect(() => words`As of ${undefined as unknown as string}.`).toThrow("a text is missing");
});

test("a text of several lines keeps them, and loses what else a terminal obeys", () => {
  expect(linesOf("a,b\r\n1\t,\u001B[2J\r2\n\u0085\u2066").toString()).toBe("a,b\r\n1\t,\ufffd[2J\ufffd2\n\ufffd\ufffd");
});

test("JSON is the same value, without a character that a terminal obeys", () => {
  fc.assert(
    fc.property(fc.dictionary(anyText(), anyText()), (value) => {
      const text = jsonOf(value).toString();
      expect(text).not.toMatch(/(?!\n$)[\p{Cc}\p{Bidi_Control}]/u);
      expect(JSON.parse(text)).toEqual(value);
    }),
  );
  expect(jsonOf({ a: "\u007F\u0080\u009F\u202E\u061Cé" }).toString()).toBe(
    `{"a":"\\u007f\\u0080\\u009f\\u202e\\u061cé"}\n`,
  );
});

test("print.ts alone writes to the terminal: every other file prints by it", () => {
  const sources = fileURLToPath(new URL("..", import.meta.url));
  const writing = readdirSync(sources, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts") && !name.endsWith(".test.ts"))
    .filter((name) => /std(out|err)\.write|\bconsole\.|cli\/say\.ts/.test(readFileSync(join(sources, name), "utf8")));
  expect(writing).toEqual([join("output", "print.ts")]);
});

test.each([-1, 9, 0.5, 4e8, 2 ** 31, Number.NaN, "2", null])("no amount has the exponent %s", (exponent) => {
  expect(() => digitsOf(1, exponent as number)).toThrow("a whole number from 0 to 8");
  expect(() => factsOf({ amount_minor: 1, exponent }, plain)).toThrow("a whole number from 0 to 8");
});

test.each([0.5, 2 ** 53, Number.POSITIVE_INFINITY, "1"])("no amount is %s", (minor) =>
  expect(() => digitsOf(minor as number, 2)).toThrow("a whole number of minor units"),
);

test("what stands on every line is short: levels, names and currencies", () => {
  const nested = (levels: number): object => (levels === 0 ? {} : { a: nested(levels - 1) });
  expect(factsOf(nested(20), plain).toString()).toContain("–");
  expect(() => factsOf(nested(1_000), plain)).toThrow("more than 30 levels");
  const many = Object.fromEntries(Array.from({ length: 1_000 }, (_, n) => [`a${n}_minor`, n]));
  const long = "x".repeat(100_000);
  expect(factsOf({ [long]: 1, exponent: 2, currency: long, ...many }, plain).toString().length).toBeLessThan(400_000);
  const columns = [
    { head: "A", cell: (text: string) => text },
    { head: "B", cell: () => "b" },
  ];
  const rows = [long, ...Array<string>(1_000).fill("a")];
  expect(tableOf(columns, rows, plain).toString().length).toBeLessThan(400_000);
  expect(() => tableOf(columns, [undefined as unknown as string], plain)).toThrow("a row has no A");
});

test("keys are kept where each system keeps a user's configuration", () => {
  expect(configFolder({ XDG_CONFIG_HOME: "/x" }, "linux")).toBe(join("/x", "gerbang"));
  expect(configFolder({ XDG_CONFIG_HOME: "/x" }, "darwin")).toBe(join("/x", "gerbang"));
  expect(configFolder({}, "linux")).toMatch(/[\\/]\.config[\\/]gerbang$/);
  expect(configFolder({}, "darwin")).toMatch(/Library[\\/]Application Support[\\/]gerbang$/);
  expect(configFolder({ APPDATA: "/roaming" }, "win32")).toBe(join("/roaming", "gerbang"));
  const homeless = (): never => {
    throw new Error("uv_os_homedir returned ENOENT");
  };
  expect(() => configFolder({}, "linux", homeless)).toThrow("This user has no home folder. Set XDG_CONFIG_HOME");
  expect(configFolder({ XDG_CONFIG_HOME: "/x" }, "linux", homeless)).toBe(join("/x", "gerbang"));
});

test("times are written as people say them, and identities name pages, or are refused", () => {
  expect(["90", "15m", "12h", "3d", "1s"].map(secondsOf)).toEqual([90, 900, 43_200, 259_200, 1]);
  for (const wrong of ["", "0", "-1", "1.5h", "1w", "1e9", "9999999999", "h"])
    expect(() => secondsOf(wrong)).toThrow("is not a length of time");
  const id = "0".repeat(26);
  expect(pageOf(`pay_${id}`)).toBe(`payments/pay_${id}`);
  for (const wrong of ["", "pay_", `xyz_${id}`, `pay_${id}/../../settings`, "__proto__", `con${id}`])
    expect(() => pageOf(wrong)).toThrow("is not the id of an object");
});
