// Goal: a statement adds up in each column, whatever happened in its period, and says the same as CSV. Method: statements as the service answers them.
import { expect, test } from "vitest";
import type { Schema } from "../../../api/types.ts";
import { lastDayOf, linesOf, monthsUpTo, statementCsv } from "./statement-lines.ts";

type Statement = Schema<"OwnedStatement">;

const owned = (available: number | null, held = 0, onItsWay = 0) => ({
  available_minor: available,
  held_minor: held,
  pending_settlement_minor: onItsWay,
});
const moved = (kind: string, journals: number, added: ReturnType<typeof owned>, fee: number | null = 0) => ({
  kind,
  journals,
  added,
  fee_minor: fee,
});
const october: Statement = {
  environment: "production",
  currency: "IDR",
  exponent: 2,
  from: "2026-09-30T17:00:00Z",
  before: "2026-10-31T17:00:00Z",
  opening: owned(500, 100, 50),
  closing: owned(2_330, 300, 20),
  movements: [
    moved("capture", 3, owned(2_900), 100),
    moved("dispute_lost", 1, owned(0, -100)),
    moved("dispute_opened", 1, owned(-300, 300)),
    moved("refund", 2, owned(-700)),
    moved("settlement_formed", 1, owned(-70, 0, 70)),
    moved("settlement_paid", 2, owned(0, 0, -100)),
  ],
};

test("lines stand in the order of a bookkeeper, payments before their fees, and add up in each column", () => {
  const lines = linesOf(october);
  expect(lines.map(({ label, count, total }) => [label, count, total])).toEqual([
    ["Opening balance", undefined, 650n],
    ["Payments", 3, 3_000n],
    ["Fees", undefined, -100n],
    ["Refunds", 2, -700n],
    ["Disputes opened: held", 1, 0n],
    ["Disputes lost", 1, -100n],
    ["Payouts on their way", 1, 0n],
    ["Paid out to your bank account", 2, -100n],
    ["Closing balance", undefined, 2_650n],
  ]);
  for (const column of ["available", "held", "onItsWay", "total"] as const) {
    const sum = lines.slice(0, -1).reduce((before, line) => before + (line[column] ?? 0n), 0n);
    expect(sum, column).toBe(lines.at(-1)?.[column]);
  }
});

test("a payment whose fee takes all of it is a payment and a fee, and an unknown kind keeps its name", () => {
  const lines = linesOf({
    ...october,
    movements: [moved("gift_made", 1, owned(7)), moved("capture", 1, owned(0), 100)],
  });
  expect(lines.slice(1, -1).map(({ name, label, total }) => [name, label, total])).toEqual([
    ["payments", "Payments", 100n],
    ["fees", "Fees", -100n],
    ["gift_made", "gift made", 7n],
  ]);
});

test("what JSON cannot carry is left open, and never made up", () => {
  const [opening, payments, fees] = linesOf({
    ...october,
    opening: owned(null),
    movements: [moved("capture", 1, owned(5), null)],
  });
  expect([opening?.available, opening?.held, opening?.total]).toEqual([undefined, 0n, undefined]);
  expect([payments?.total, fees?.total]).toEqual([undefined, undefined]);
});

test("the CSV has a line for each, with its period and zone", () => {
  const [names, opening, payments, fees, ...others] = statementCsv(october, "Asia/Jakarta").split("\r\n");
  expect(names).toBe(
    "line,count,from,before,time_zone,currency,available_minor,held_minor,pending_settlement_minor,total_minor,total",
  );
  expect(opening).toBe("opening,,2026-09-30T17:00:00Z,2026-10-31T17:00:00Z,Asia/Jakarta,IDR,500,100,50,650,6.50");
  expect(payments).toBe("payments,3,2026-09-30T17:00:00Z,2026-10-31T17:00:00Z,Asia/Jakarta,IDR,3000,0,0,3000,30.00");
  expect(fees).toMatch(/^fees,,.*,IDR,-100,0,0,-100,-1.00$/);
  expect(others.at(-2)).toMatch(/^closing,,.*,IDR,2330,300,20,2650,26.50$/);
});

test.each([
  ["2026-10", "2026-10-31"],
  ["2028-02", "2028-02-29"],
  ["2026-12", "2026-12-31"],
  ["x", "x"],
])("the last day of %s is %s", (month, day) => {
  expect(lastDayOf(month)).toBe(day);
});

test("the months up to now begin where the clock of the zone stands", () => {
  expect(monthsUpTo("2026-12-31T17:00:00Z", "Asia/Jakarta", 3)).toEqual(["2027-01", "2026-12", "2026-11"]);
  expect(monthsUpTo("2026-12-31T17:00:00Z", "UTC", 1)).toEqual(["2026-12"]);
});
