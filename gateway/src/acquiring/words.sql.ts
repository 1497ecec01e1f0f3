// All SQL of the messages exchanged with acquirers. Rows are only appended, under the lock of their operation.
import { SECOND, sqlTime, type Micros } from "../ground/clock.ts";
import { idOf, uuidOf } from "../ground/ids.ts";
import { type Book, bookColumns, bookKey } from "../merchants/books.ts";
import type { Row, Statement } from "../store/database.ts";
import { type Columns, type Table, arraysOf, rowsOf } from "../store/table.ts";
import { STEP } from "../store/retention.ts";
import type { KeptWords } from "./words.ts";

/** Messages kept by operation and kind of call: messages that always differ must not fill the disk or hide other kinds. */
const KEPT_MAX = 50;
/** How long messages are kept: longer than any dispute runs. */
const KEPT_SECONDS = 400 * 86_400;

type WordsKey = Pick<KeptWords, "book" | "operationId" | "digest">;

const columns = {
  ...bookColumns,
  operation_id: ["uuid", ({ operationId }: KeptWords) => uuidOf(operationId)],
  digest: ["bytea", ({ digest }: KeptWords) => digest],
  payment_id: ["uuid", ({ paymentReference }: KeptWords) => uuidOf(paymentReference)],
  operation_kind: ["text", ({ operationKind }: KeptWords) => operationKind],
  gateway_code: ["text", ({ gatewayCode }: KeptWords) => gatewayCode],
  attempt: ["smallint", ({ attempt }: KeptWords) => attempt],
  call: ["text", ({ call }: KeptWords) => call],
  about: ["text", ({ about }: KeptWords) => about],
  status: ["smallint", ({ status }: KeptWords) => status],
  words: ["text", ({ text }: KeptWords) => text],
  said_at: ["timestamptz", ({ saidAt }: KeptWords) => sqlTime(saidAt)],
} as const satisfies Columns<KeptWords>;

const insert = `insert into acquirer_words (${Object.keys(columns).join(", ")})
select w.*
from (
${rowsOf<KeptWords>(columns)}
) w
where (
  select count(*)
  from acquirer_words k
  where k.merchant_id = w.merchant_id and k.environment = w.environment and k.operation_id = w.operation_id
    and k.call = w.call
) < ${KEPT_MAX}
on conflict do nothing`;

/** Messages by operation and digest. Commands only insert them, so there is no `load`. */
export const acquirerWords: Table<WordsKey, KeptWords> = {
  name: "acquirer words",
  keyText: (key) => `${bookKey(key.book)}/${key.operationId}/${key.digest.toString("hex")}`,
  keyOf: (words) => words,
  insert: (values) => ({ name: "insert acquirer words", text: insert, values: arraysOf(columns, values) }),
};

/** The messages about a payment and its refunds, newest first. */
export function selectWords(book: Book, paymentReference: string, limit: number): Statement {
  return {
    name: "select acquirer words",
    text: `select operation_id, operation_kind, gateway_code, attempt, call, about, status, words, said_at
from acquirer_words
where merchant_id = $1::uuid and environment = $2::environment and payment_id = $3::uuid
order by said_at desc, digest
limit $4::integer`,
    values: [uuidOf(book.merchantId), book.environment, uuidOf(paymentReference), limit],
  };
}

/** A message as it is read for one payment, without columns that the reader knows. */
export type ReadWords = Omit<KeptWords, "book" | "paymentReference" | "digest">;

export function wordsOfRow(row: Row): ReadWords {
  const operationKind = row.operation_kind as KeptWords["operationKind"];
  return {
    operationId: idOf(operationKind, row.operation_id as string),
    operationKind,
    gatewayCode: row.gateway_code as string,
    attempt: row.attempt as number,
    call: row.call as KeptWords["call"],
    about: row.about as string,
    status: (row.status as number | null) ?? undefined,
    text: row.words as string,
    saidAt: row.said_at as Micros,
  };
}

/** Deletes messages that are too old, up to `STEP` rows. */
export function expiredWords(realNow: Micros): Statement {
  return {
    name: "forget acquirer words",
    text: `delete from acquirer_words
where ctid = any(array(
  select ctid
  from acquirer_words
  where said_at < least($1::timestamptz, statement_timestamp())
  order by said_at
  limit ${STEP}
))
returning 1`,
    values: [sqlTime(realNow - KEPT_SECONDS * SECOND)],
  };
}
