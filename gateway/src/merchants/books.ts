// Books: one merchant in one environment, and the clock of its own that a sandbox book has.
import { type Micros, SECOND, sqlTime } from "../ground/clock.ts";
import { assert } from "../ground/fault.ts";
import { idOf, uuidOf } from "../ground/ids.ts";
import { type Columns, type Table, bulkUpdate, loadByKey } from "../store/table.ts";
import type { WorkingSet } from "../store/working-set.ts";

export const environments = ["sandbox", "production"] as const;
export type Environment = (typeof environments)[number];

export interface Book {
  readonly merchantId: string;
  readonly environment: Environment;
}

/** The same merchant's book in the other environment. */
export function otherBook(book: Book): Book {
  return { merchantId: book.merchantId, environment: book.environment === "sandbox" ? "production" : "sandbox" };
}

export function bookKey(book: Book): string {
  return `${book.merchantId}/${book.environment}`;
}

export interface BookClock {
  book: Book;
  offsetSeconds: number;
}

/** A clock for whoever moves it. */
export interface MovableClock extends BookClock {
  /** Where it is going, stopping at each moment on the way at which something falls due; undefined while it stands. */
  targetSeconds: number | undefined;
  /** When it last moved, in real time. */
  movedAt: Micros | undefined;
}

/** The parameters `$1`, `$2` of a statement about several books: parallel arrays, for `unnest`. */
export function bookArrays(books: readonly Book[]): [merchants: string[], environments: string[]] {
  return [books.map((book) => uuidOf(book.merchantId)), books.map((book) => book.environment)];
}

/** Columns that lead every key of every table of a book. */
export const bookColumns = {
  merchant_id: ["uuid", (row: { book: Book }) => uuidOf(row.book.merchantId)],
  environment: ["environment", (row: { book: Book }) => row.book.environment],
} as const;

/** The key of a table with one row a book. */
export const bookKeyColumns = {
  merchant_id: ["uuid", (book: Book) => uuidOf(book.merchantId)],
  environment: ["environment", (book: Book) => book.environment],
} as const satisfies Columns<Book>;

export function bookOfRow(row: Record<string, unknown>): Book {
  return { merchantId: idOf("merchant", row.merchant_id as string), environment: row.environment as Environment };
}

/** For commands that only read the time. */
export const bookClocks: Table<Book, BookClock> = {
  name: "book clocks",
  keyText: bookKey,
  keyOf: (clock) => clock.book,
  load: loadByKey("load book clocks", "books", bookKeyColumns, ""),
  parse: (row) => ({ book: bookOfRow(row), offsetSeconds: Number(row.clock_offset_seconds) }),
};

/** For commands that move it. */
export const movableBookClocks: Table<Book, MovableClock> = {
  name: "movable book clocks",
  keyText: bookKey,
  keyOf: (clock) => clock.book,
  load: loadByKey("lock book clocks", "books", bookKeyColumns),
  parse: (row) => ({
    book: bookOfRow(row),
    offsetSeconds: Number(row.clock_offset_seconds),
    targetSeconds: row.clock_target_seconds === null ? undefined : Number(row.clock_target_seconds),
    movedAt: (row.clock_moved_at as Micros | null) ?? undefined,
  }),
  update: bulkUpdate<MovableClock>("books", bookColumns, {
    clock_offset_seconds: ["bigint", (clock) => clock.offsetSeconds],
    clock_target_seconds: ["bigint", (clock) => clock.targetSeconds],
    clock_moved_at: ["timestamptz", (clock) => (clock.movedAt === undefined ? null : sqlTime(clock.movedAt))],
  }),
};

/** The time in a book: the real time, moved forward by the book's offset. */
export function bookNow(set: WorkingSet, book: Book, realNow: Micros): Micros {
  const clock = set.get(bookClocks, book);
  assert(clock, `${bookKey(book)} has no clock`);
  return realNow + clock.offsetSeconds * SECOND;
}
