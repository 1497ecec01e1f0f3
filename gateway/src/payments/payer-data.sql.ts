// SQL of erasing payers, and of sealing the payers' data that earlier versions kept in clear text.
import type { Micros } from "../ground/clock.ts";
import { idOf, uuidBytes, uuidOf } from "../ground/ids.ts";
import { type Book, bookColumns, bookKey, bookOfRow } from "../merchants/books.ts";
import type { Customer } from "../risk/risk.ts";
import type { Row, Statement } from "../store/database.ts";
import { type Columns, type Table, arraysOf, bulkUpdate, rowsOf } from "../store/table.ts";
import type { StoredPayer } from "./payment.ts";

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
    values: [uuidOf(book.merchantId), book.environment, contactKeys.map((key) => Buffer.from(key, "hex")), most],
  };
}

export interface Erasure {
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
    customer: ["json", () => null],
    customer_sealed: ["bytea", () => null],
    customer_key: ["bytea", () => null],
    phone_key: ["bytea", () => null],
    payer_erased_at: ["timestamptz", ({ erasedAt }) => erasedAt],
  }),
};

export interface OpenPayer {
  book: Book;
  reference: string;
  referenceId: string;
  customer: Customer;
}

/** Reads at most `most` payments whose customer an earlier version wrote in clear text. */
export function selectOpenPayers(most: number): Statement {
  return {
    name: "select open payers",
    text: `select merchant_id, environment, payment_id, reference_id, customer
from payments
where customer is not null
order by payment_id
limit $1::integer`,
    values: [most],
  };
}

export function openPayerOfRow(row: Row): OpenPayer {
  return {
    book: bookOfRow(row),
    reference: idOf("payment", row.payment_id as string),
    referenceId: row.reference_id as string,
    customer: JSON.parse(row.customer as string) as Customer,
  };
}

export type SealedPayer = Pick<OpenPayer, "book" | "reference"> & { payer: StoredPayer };
const bytes = (hex: string | null): Buffer | null => (hex === null ? null : Buffer.from(hex, "hex"));
const sealedColumns: Columns<SealedPayer> = {
  ...keyColumns,
  customer_sealed: ["bytea", ({ payer }) => payer.sealed],
  customer_key: ["bytea", ({ payer }) => bytes(payer.customerKey)],
  phone_key: ["bytea", ({ payer }) => bytes(payer.phoneKey)],
};

/** Writes payers' data sealed, except those that another process has sealed or erased meanwhile. */
export function sealOpenPayers(payers: readonly SealedPayer[]): Statement {
  return {
    name: "seal open payers",
    text: `update payments p
set customer = null, customer_sealed = v.customer_sealed, customer_key = v.customer_key, phone_key = v.phone_key
from (
${rowsOf(sealedColumns)}
) v
where p.merchant_id = v.merchant_id and p.environment = v.environment and p.payment_id = v.payment_id and p.customer is not null`,
    values: arraysOf(sealedColumns, payers),
  };
}
