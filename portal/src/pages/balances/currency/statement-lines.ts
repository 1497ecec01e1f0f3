// The lines of a statement, from the opening to the closing balance. In each column the lines add up. Pure.
import type { Schema } from "../../../api/types.ts";
import { type CsvColumn, csvOf, decimalOf } from "../../../ui/csv.ts";

type Statement = Schema<"OwnedStatement">;
type Owned = Schema<"OwnedFigures">;

/** Columns of a statement. A sum beyond what JSON carries exactly is undefined, and so is a total with it. */
interface Sums {
  available: bigint | undefined;
  held: bigint | undefined;
  onItsWay: bigint | undefined;
  total: bigint | undefined;
}

export interface Line extends Sums {
  /** The name in the CSV. */
  name: string;
  label: string;
  /** How often it happened; undefined for balances and fees. */
  count: number | undefined;
}

/** Kinds of journals in the order of a bookkeeper, each with its name in the CSV. Fees stand after the payments that they are of. */
const known: Record<string, [name: string, label: string]> = {
  capture: ["payments", "Payments"],
  receipt_credited: ["receipts_credited", "Late money credited to you"],
  refund: ["refunds", "Refunds"],
  refund_returned: ["refunds_failed", "Refunds that failed, given back"],
  dispute_opened: ["disputes_opened", "Disputes opened: held"],
  dispute_won: ["disputes_won", "Disputes won: released"],
  dispute_withdrawn: ["disputes_withdrawn", "Disputes withdrawn: released"],
  dispute_lost: ["disputes_lost", "Disputes lost"],
  settlement_formed: ["payouts_formed", "Payouts on their way"],
  settlement_returned: ["payouts_returned", "Payouts that the bank returned"],
  settlement_paid: ["payouts", "Paid out to your bank account"],
};
const order = Object.keys(known);

export function linesOf({ opening, closing, movements }: Statement): Line[] {
  const placeOf = (kind: string): number => (order.includes(kind) ? order.indexOf(kind) : order.length);
  const moved = movements.toSorted((a, b) => placeOf(a.kind) - placeOf(b.kind));
  return [
    { name: "opening", label: "Opening balance", count: undefined, ...sumsOf(opening) },
    ...moved.flatMap(({ kind, journals, added, fee_minor: fee }): Line[] => {
      const [name, label] = known[kind] ?? [kind, kind.replaceAll("_", " ")];
      if (fee === 0) return [{ name, label, count: journals, ...sumsOf(added) }];
      const fees: Sums = { available: negated(fee), held: 0n, onItsWay: 0n, total: negated(fee) };
      const gross = totalled({ ...sumsOf(added), available: plus(bigOf(added.available_minor), bigOf(fee)) });
      return [
        { name, label, count: journals, ...gross },
        { name: "fees", label: "Fees", count: undefined, ...fees },
      ];
    }),
    { name: "closing", label: "Closing balance", count: undefined, ...sumsOf(closing) },
  ];
}

function sumsOf(of: Owned): Sums {
  return totalled({
    available: bigOf(of.available_minor),
    held: bigOf(of.held_minor),
    onItsWay: bigOf(of.pending_settlement_minor),
  });
}

const totalled = (sums: Omit<Sums, "total">): Sums => ({
  ...sums,
  total: plus(plus(sums.available, sums.held), sums.onItsWay),
});

const bigOf = (minor: number | null): bigint | undefined => (minor === null ? undefined : BigInt(minor));
const negated = (minor: number | null): bigint | undefined => (minor === null ? undefined : -BigInt(minor));
const plus = (a: bigint | undefined, b: bigint | undefined): bigint | undefined =>
  a === undefined || b === undefined ? undefined : a + b;

/** The statement as CSV, a line for each of `linesOf`, with the period and the zone of its days in each: files of several months can be put together. */
export function statementCsv(statement: Statement, timeZone: string): string {
  const { from, before, currency, exponent } = statement;
  const minor = (of: (line: Line) => bigint | undefined): ((line: Line) => string | undefined) => {
    return (line) => of(line)?.toString();
  };
  const columns: CsvColumn<Line>[] = [
    ["line", ({ name }) => name],
    ["count", ({ count }) => count],
    ["from", () => from],
    ["before", () => before],
    ["time_zone", () => timeZone],
    ["currency", () => currency],
    ["available_minor", minor(({ available }) => available)],
    ["held_minor", minor(({ held }) => held)],
    ["pending_settlement_minor", minor(({ onItsWay }) => onItsWay)],
    ["total_minor", minor(({ total }) => total)],
    ["total", ({ total }) => (total === undefined ? undefined : decimalOf(total, exponent))],
  ];
  return csvOf(columns, linesOf(statement));
}

/** The last day of a month, YYYY-MM-DD. Text that is no month stays as it is, for the API to refuse. */
export function lastDayOf(month: string): string {
  const [year, number] = month.split("-").map(Number);
  const last = new Date(Date.UTC(year ?? 0, number ?? 0, 0));
  return Number.isNaN(last.getTime()) ? month : last.toISOString().slice(0, 10);
}

/** The month of an instant in a time zone and those before it, YYYY-MM, newest first. */
export function monthsUpTo(now: string, timeZone: string, count: number): string[] {
  const parts = new Intl.DateTimeFormat("en", { timeZone, year: "numeric", month: "numeric" }).formatToParts(
    new Date(now),
  );
  const of = (type: string): number => Number(parts.find((part) => part.type === type)?.value);
  return Array.from({ length: count }, (_, back) =>
    new Date(Date.UTC(of("year"), of("month") - 1 - back, 1)).toISOString().slice(0, 7),
  );
}
