// SQL of sweeps: the part of a statement that chooses the books whose due rows are read, and its parameters.
import { type Micros, sqlTime } from "../ground/clock.ts";
import { uuidOrNull } from "../ground/ids.ts";
import { booksWith } from "./books-with.sql.ts";
import { type Book, bookArrays } from "./books.ts";

export interface DueBooks {
  realNow: Micros;
  /** Rows at most, of each part of a statement that has parts. */
  most: number;
  /** Books that are left out. */
  without: readonly Book[];
  /** The one book to read; all when absent. */
  book?: Book | undefined;
}

/** True for a row of a book that is chosen. `$1` is the real time, and `$2` the number of rows. */
export const chosen = (row: string): string => `($3::uuid is null or ${row}.merchant_id = $3::uuid)
  and ($4::text is null or ${row}.environment = $4::text::environment)
  and (${row}.merchant_id, ${row}.environment) not in (select * from unnest($5::uuid[], $6::text[]::environment[]))`;

/** The books `b` that are chosen and have rows `t` under `condition`, for `from`; `chosen("b")` has to follow. See `booksWith`. */
export const chosenWith = (table: string, condition: string): string =>
  booksWith(table, condition, { merchant: "$3::uuid", environment: "$4::text::environment" });

/** The parameters `$1` to `$6` of a statement with `chosen`. */
export function chosenValues({ realNow, most, without, book }: DueBooks): unknown[] {
  return [sqlTime(realNow), most, uuidOrNull(book?.merchantId), book?.environment ?? null, ...bookArrays(without)];
}
