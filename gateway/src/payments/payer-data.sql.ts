// SQL of finding the payments of a contact, and of erasing payers.
import type { Micros } from "../ground/clock.ts";
import { uuidBytes } from "../ground/ids.ts";
import { type Book, bookColumns, bookKey, bookValues } from "../merchants/books.ts";
import type { Statement } from "../store/database.ts";
import { type Table, bulkUpdate } from "../store/table.ts";

/** Reads at most `most` payments of a book with one of these contacts, in no order. A contact may stand in either of two columns. */
export function selectOfContact(book: Book, contactKeys: readonly string[], most: number): Statement {
  const branch = (column: string): string => `select p.payment_id
    from payments p
    where p.merchant_id = $1::uuid and p.environment = $2::environment and p.${column} = any($3::bytea[])
    limit $4::integer`;
  return {
    name: "select payments of contacts",
    text: `select distinct payment_id
from ((
    ${branch("customer_key")}
  ) union all (
    ${branch("phone_key")}
  )) found
limit $4::integer`,
    values: [...bookValues(book), contactKeys.map((key) => Buffer.from(key, "hex")), most],
  };
}

interface Erasure {
  book: Book;
  reference: string;
  /** Real time, as the law demands; not a sandbox's time. */
  erasedAt: Micros;
}

const keyColumns = {
  ...bookColumns,
  payment_id: ["uuid", ({ reference }: Pick<Erasure, "reference">) => uuidBytes(reference)],
} as const;

/** The update that erases payers from their payments, which the command has loaded, and so locked, as `payments`. */
export const erasedPayers: Table<Pick<Erasure, "book" | "reference">, Erasure> = {
  name: "erased payers",
  keyText: ({ book, reference }) => `${bookKey(book)}/${reference}`,
  keyOf: (erasure) => erasure,
  insert: bulkUpdate<Erasure>("payments", keyColumns, {
    customer_sealed: ["bytea", () => null],
    customer_key: ["bytea", () => null],
    phone_key: ["bytea", () => null],
    payer_erased_at: ["timestamptz", ({ erasedAt }) => erasedAt],
  }),
};
