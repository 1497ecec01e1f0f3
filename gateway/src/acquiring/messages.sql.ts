// All SQL of the messages exchanged with acquirers. Rows are only appended, under the lock of their operation.
import type { Micros } from "../ground/clock.ts";
import { idOf, uuidOf } from "../ground/ids.ts";
import { type Book, bookColumns, bookKey, bookValues } from "../merchants/books.ts";
import { type Row, type Statement, optional } from "../store/database.ts";
import { type Columns, type Table, arraysOf, rowsOf } from "../store/table.ts";
import { deleteOldest } from "../store/retention.ts";
import type { KeptMessage } from "./messages.ts";

/** Messages kept by operation and kind of call: messages that always differ must not fill the disk or hide other kinds. */
const KEPT_MAX = 50;
/** How long messages are kept: longer than any dispute runs. */
export const KEPT_SECONDS = 400 * 86_400;

type MessageKey = Pick<KeptMessage, "book" | "operationId" | "digest">;

const columns = {
  ...bookColumns,
  operation_id: ["uuid", ({ operationId }: KeptMessage) => uuidOf(operationId)],
  digest: ["bytea", ({ digest }: KeptMessage) => digest],
  payment_id: ["uuid", ({ paymentReference }: KeptMessage) => uuidOf(paymentReference)],
  operation_kind: ["text", ({ operationKind }: KeptMessage) => operationKind],
  gateway_code: ["text", ({ gatewayCode }: KeptMessage) => gatewayCode],
  attempt: ["smallint", ({ attempt }: KeptMessage) => attempt],
  call: ["text", ({ call }: KeptMessage) => call],
  about: ["text", ({ about }: KeptMessage) => about],
  status: ["smallint", ({ status }: KeptMessage) => status],
  text: ["text", ({ text }: KeptMessage) => text],
  exchanged_at: ["timestamptz", ({ exchangedAt }: KeptMessage) => exchangedAt],
} as const satisfies Columns<KeptMessage>;

const insert = `insert into acquirer_messages (${Object.keys(columns).join(", ")})
select w.*
from (
${rowsOf<KeptMessage>(columns)}
) w
where (
  select count(*)
  from acquirer_messages k
  where k.merchant_id = w.merchant_id and k.environment = w.environment and k.operation_id = w.operation_id
    and k.call = w.call
) < ${KEPT_MAX}
on conflict do nothing`;

/** Messages by operation and digest. Commands only insert them, so there is no `load`. */
export const acquirerMessages: Table<MessageKey, KeptMessage> = {
  name: "acquirer messages",
  keyText: (key) => `${bookKey(key.book)}/${key.operationId}/${key.digest.toString("hex")}`,
  keyOf: (message) => message,
  insert: (values) => ({ name: "insert acquirer messages", text: insert, values: arraysOf(columns, values) }),
};

/** The messages about a payment and its refunds, newest first. */
export function selectMessages(book: Book, paymentReference: string, limit: number): Statement {
  return {
    name: "select acquirer messages",
    text: `select operation_id, operation_kind, gateway_code, attempt, call, about, status, text, exchanged_at
from acquirer_messages
where merchant_id = $1::uuid and environment = $2::environment and payment_id = $3::uuid
order by exchanged_at desc, digest
limit $4::integer`,
    values: [...bookValues(book), uuidOf(paymentReference), limit],
  };
}

/** A message as it is read for one payment, without columns that the reader knows. */
export type ReadMessage = Omit<KeptMessage, "book" | "paymentReference" | "digest">;

export function messageOfRow(row: Row): ReadMessage {
  const operationKind = row.operation_kind as KeptMessage["operationKind"];
  return {
    operationId: idOf(operationKind, row.operation_id as string),
    operationKind,
    gatewayCode: row.gateway_code as string,
    attempt: row.attempt as number,
    call: row.call as KeptMessage["call"],
    about: row.about as string,
    status: optional<number>(row.status),
    text: row.text as string,
    exchangedAt: row.exchanged_at as Micros,
  };
}

/** Deletes messages that are too old, up to `STEP` rows. */
export function expiredMessages(realNow: Micros): Statement {
  return deleteOldest("acquirer_messages", { column: "exchanged_at", keptSeconds: KEPT_SECONDS }, realNow);
}
