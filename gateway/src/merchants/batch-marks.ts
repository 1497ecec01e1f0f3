// Batch marks: the settlement batch that a payment, refund, dispute or receipt is in. Each room makes the table for its own rows.
import type { Statement } from "../store/database.ts";
import type { LockedTable } from "../store/lock-order.ts";
import type { Table } from "../store/table.ts";
import { uuidOrNull } from "../ground/ids.ts";
import { type Book, bookKey } from "./books.ts";

export interface BatchMark {
  book: Book;
  /** The row's identity as the API shows it. */
  id: string;
  /** The batch; undefined when the row waits for a batch again. */
  settlement: string | undefined;
}

export const markColumns = {
  settlement_id: ["uuid", (mark: BatchMark) => uuidOrNull(mark.settlement)],
} as const;

/** Makes the lane's table of marks. `write` is the bulk update of the room's own table. */
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
