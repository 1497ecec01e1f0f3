// The payments in each split test: written by the lanes together with the payment.
import { uuidOf } from "../ground/ids.ts";
import { type Book, bookColumns, bookKey } from "../merchants/books.ts";
import { type Table, bulkInsert } from "../store/table.ts";
import type { SplitDecision } from "./routing.ts";

interface SplitKey {
  book: Book;
  reference: string;
}

type SplitAssignment = SplitKey & { split: SplitDecision };

/** Rows are appended by a payment's first decision, and never changed. */
export const splitAssignments: Table<SplitKey, SplitAssignment> = {
  name: "split tests",
  keyText: ({ book, reference }) => `${bookKey(book)}/${reference}`,
  keyOf: (assignment) => assignment,
  insert: bulkInsert<SplitAssignment>("payment_splits", {
    ...bookColumns,
    payment_id: ["uuid", ({ reference }) => uuidOf(reference)],
    split_id: ["text", ({ split }) => split.id],
    arm: ["text", ({ split }) => split.arm],
    percent: ["smallint", ({ split }) => split.percent],
    control_code: ["text", ({ split }) => split.control],
    test_code: ["text", ({ split }) => split.test],
  }),
};
