// Lists as CSV: all rows that the filters let through, one a line, for spreadsheets and for programs. The button is in download-csv.tsx.
import { ApiError, asApiError } from "../api/error.ts";
import type { ListOf } from "./list.ts";
import { digitsOf } from "./money.tsx";

/** A column's name and what a row has there. Names are the API's. */
export type CsvColumn<Row> = readonly [name: string, of: (row: Row) => string | number | null | undefined];

/** Columns of fields that have the names of the columns. */
export function fields<Row>(...names: (keyof Row & string)[]): CsvColumn<Row>[] {
  return names.map((name) => [name, (row) => row[name] as string | number | null | undefined]);
}

/** An amount twice: in minor units by the API's name, and as a decimal number by the name without `_minor`. */
export function amounts<Row extends { exponent: number }>(
  ...names: (keyof Row & `${string}_minor`)[]
): CsvColumn<Row>[] {
  return names.flatMap((name): CsvColumn<Row>[] => [
    [name, (row) => row[name] as number],
    [name.slice(0, -"_minor".length), (row) => decimalOf(row[name] as number, row.exponent)],
  ]);
}

/** Fields that are times. */
export type TimeOf<Row> = keyof Row & (`${string}_at` | "period_end");

/**
 * The days of times, `paid_day` of `paid_at`, in a zone that each line names: times are in UTC, whose days are not those of a shop, and a month is
 * closed by the shop's.
 */
export function daysOf<Row>(times: readonly TimeOf<Row>[], timeZone: string): CsvColumn<Row>[] {
  const format = new Intl.DateTimeFormat("en-CA", { timeZone, year: "numeric", month: "2-digit", day: "2-digit" });
  return [
    ...times.map((name): CsvColumn<Row> => {
      const day = ({ [name]: at }: Row): string | null => (typeof at === "string" ? format.format(new Date(at)) : null);
      return [`${name.replace(/_at$/, "")}_day`, day];
    }),
    ["time_zone", () => timeZone],
  ];
}

/** "-1500.00": without groups, with a point in every language. */
export function decimalOf(minor: number | bigint, exponent: number): string {
  return digitsOf(minor, exponent, "en").replaceAll(",", "").replace("\u2212", "-");
}

export function csvOf<Row>(columns: readonly CsvColumn<Row>[], rows: readonly Row[]): string {
  const lines = rows.map((row) => columns.map(([, of]) => fieldOf(of(row))));
  return [columns.map(([name]) => name), ...lines].map((line) => `${line.join(",")}\r\n`).join("");
}

/** A spreadsheet takes no text for a formula: not what a bank wrote, nor an order's name. Some begin a cell at each semicolon. */
function fieldOf(value: string | number | null | undefined): string {
  const text = String(value ?? "");
  const isNumber = /^-\d+(\.\d+)?$/.test(text);
  const safe = isNumber ? text : text.replaceAll(/(^|;)(?=[=+\-@\t\r\n])/g, "$1'");
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

interface Reading {
  /** What the rows are: "payouts". */
  what: string;
  /** More rows than a file takes. */
  linesMax: number;
  /** Told how many rows were read, after each page. */
  onRows?: (rows: number) => void;
  /** Given for tests. */
  wait?: (seconds: number) => Promise<void>;
}

/** The rows of all pages. Throws when there are more than a file takes: one that ends in the middle would be taken for the whole. */
export async function allRows<Row>(
  read: (after: string | undefined) => Promise<ListOf<Row>>,
  { what, linesMax, onRows, wait = sleep }: Reading,
): Promise<Row[]> {
  const rows: Row[] = [];
  let after: string | undefined;
  do {
    const page = await patiently(() => read(after), wait);
    rows.push(...page.data);
    after = page.has_more ? (page.next_cursor ?? undefined) : undefined;
    if (rows.length > linesMax || (rows.length === linesMax && after !== undefined)) {
      const message = `There are more than ${linesMax.toLocaleString("en")} ${what}. Choose a shorter period and download in parts.`;
      throw new ApiError({ code: "TOO_MANY", message, status: 400 });
    }
    onRows?.(rows.length);
  } while (after !== undefined);
  return rows;
}

const TRIES_MAX = 4;

/** Hundreds of pages may use up the minute's requests, or meet a service that is restarted: both pass. */
async function patiently<Answer>(
  ask: () => Promise<Answer>,
  wait: (seconds: number) => Promise<void>,
): Promise<Answer> {
  for (let tries = 1; ; tries++) {
    try {
      return await ask();
    } catch (thrown) {
      const { status, retryAfterSeconds, isOutcomeUnknown } = asApiError(thrown);
      if (tries === TRIES_MAX || (status !== 429 && !isOutcomeUnknown)) throw thrown;
      await wait(retryAfterSeconds ?? tries);
    }
  }
}

const sleep = (seconds: number): Promise<void> => new Promise((done) => void setTimeout(done, seconds * 1_000));
