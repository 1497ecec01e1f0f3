// Marks on rows that settlement batches are made of: which batch a row is in. Each room makes the table of its own rows.
import type { Statement } from "../store/database.ts";
import type { LockedTable } from "../store/lock-order.ts";
import type { Table } from "../store/table.ts";
import { uuidOf } from "../ground/ids.ts";
import { type Book, bookKey } from "./books.ts";

export interface BatchMark {
  book: Book;
  /** The row's identity on the wire. */
  id: string;
  /** The batch, or undefined when the row waits for one again. */
  settlement: string | undefined;
}

export const markColumns = {
  settlement_id: ["uuid", (mark: BatchMark) => (mark.settlement === undefined ? null : uuidOf(mark.settlement))],
} as const;

/** `write` is the bulk update of the room's own table. */
export function batchMarks(
  name: LockedTable,
  write: (marks: readonly BatchMark[]) => Statement,
): Table<{ book: Book; id: string }, BatchMark> {
  return {
    name,
    keyText: ({ book, id }) => `${bookKey(book)}/${id}`,
    keyOf: (mark) => mark,
    insert: write,
    update: write,
  };
}
