// Books: a book is one merchant in one environment. A sandbox book has a clock of its own. Journals of a book are in ledger/.
import { type Micros, SECOND } from "../ground/clock.ts";
import { assert } from "../ground/fault.ts";
import { idOf, uuidOf } from "../ground/ids.ts";
import { nameOf } from "../store/command.ts";
import { optional } from "../store/database.ts";
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

/** The name of a book, by which the lanes know it too: a book in quarantine is found by it. */
export const bookKey: (book: Book) => string = nameOf;

interface BookClock {
  book: Book;
  offsetSeconds: number;
}

/** A book's clock with the fields that moving it needs. */
export interface MovableClock extends BookClock {
  /** Offset that the clock moves to, with a stop at each moment at which something falls due; undefined while it does not move. */
  targetSeconds: number | undefined;
  /** Real time of the last move. */
  movedAt: Micros | undefined;
}

/** Parallel arrays for `unnest`: the parameters `$1` and `$2` of a statement about several books. */
export function bookArrays(books: readonly Book[]): [merchants: string[], environments: string[]] {
  return [books.map((book) => uuidOf(book.merchantId)), books.map((book) => book.environment)];
}

/** The parameters `$1` and `$2` of a statement about one book. */
export function bookValues(book: Book): [merchant: string, environment: string] {
  return [uuidOf(book.merchantId), book.environment];
}

/** SQL: `row` belongs to the book that `$1` and `$2` name. */
export const inBook = (row: string): string => `${row}.merchant_id = $1::uuid and ${row}.environment = $2::environment`;

/** The columns that come first in the key of every table of a book. */
export const bookColumns = {
  merchant_id: ["uuid", (row: { book: Book }) => uuidOf(row.book.merchantId)],
  environment: ["environment", (row: { book: Book }) => row.book.environment],
} as const;

/** The key of a table with one row per book. */
export const bookKeyColumns = {
  merchant_id: ["uuid", (book: Book) => uuidOf(book.merchantId)],
  environment: ["environment", (book: Book) => book.environment],
} as const satisfies Columns<Book>;

export function bookOfRow(row: Record<string, unknown>): Book {
  return { merchantId: idOf("merchant", row.merchant_id as string), environment: row.environment as Environment };
}

/** The clocks of books, for commands that only read the time. */
export const bookClocks: Table<Book, BookClock> = {
  name: "book clocks",
  keyText: bookKey,
  keyOf: (clock) => clock.book,
  load: loadByKey("load book clocks", "books", bookKeyColumns, ""),
  parse: (row) => ({ book: bookOfRow(row), offsetSeconds: Number(row.clock_offset_seconds) }),
};

/** The clocks of books, locked, for commands that move a clock. */
export const movableBookClocks: Table<Book, MovableClock> = {
  name: "movable book clocks",
  keyText: bookKey,
  keyOf: (clock) => clock.book,
  load: loadByKey("lock book clocks", "books", bookKeyColumns),
  parse: (row) => ({
    book: bookOfRow(row),
    offsetSeconds: Number(row.clock_offset_seconds),
    targetSeconds: row.clock_target_seconds === null ? undefined : Number(row.clock_target_seconds),
    movedAt: optional<Micros>(row.clock_moved_at),
  }),
  update: bulkUpdate<MovableClock>("books", bookColumns, {
    clock_offset_seconds: ["bigint", (clock) => clock.offsetSeconds],
    clock_target_seconds: ["bigint", (clock) => clock.targetSeconds],
    clock_moved_at: ["timestamptz", (clock) => clock.movedAt],
  }),
};

/** The time in a book: the real time, moved forward by the book's offset. */
export function bookNow(set: WorkingSet, book: Book, realNow: Micros): Micros {
  const clock = set.get(bookClocks, book);
  assert(clock, `${bookKey(book)} has no clock`);
  return realNow + clock.offsetSeconds * SECOND;
}
