// All SQL of idempotency keys.
import { type Micros, sqlTime } from "../ground/clock.ts";
import { type Book, bookColumns, bookKey, bookOfRow, bookValues } from "../merchants/books.ts";
import { type Statement, optional } from "../store/database.ts";
import { STEP } from "../store/retention.ts";
import { type Table, bulkInsert, bulkUpdate, loadByKey } from "../store/table.ts";

export interface KeyRecord {
  book: Book;
  key: string;
  endpoint: string;
  bodyDigest: Buffer;
  firstSeenAt: Micros;
  /** Absent while the first request runs. */
  status: number | undefined;
  response: string | undefined;
}

const keyColumns = {
  ...bookColumns,
  idempotency_key: ["text", ({ key }: { book: Book; key: string }) => key],
} as const;

const valueColumns = {
  first_seen_at: ["timestamptz", (record: KeyRecord) => record.firstSeenAt],
  body_digest: ["bytea", (record: KeyRecord) => record.bodyDigest],
  endpoint: ["text", (record: KeyRecord) => record.endpoint],
  status: ["smallint", (record: KeyRecord) => record.status],
  response: ["text", (record: KeyRecord) => record.response],
} as const;

/** Loading takes a share lock: any number of requests replay one record. Of two that find it expired one replaces it; the other runs again. */
export const keyRecords: Table<{ book: Book; key: string }, KeyRecord> = {
  name: "idempotency keys",
  keyText: ({ book, key }) => `${bookKey(book)}/${key}`,
  keyOf: (record) => record,
  load: loadByKey("load idempotency keys", "idempotency_keys", keyColumns, "for share"),
  parse: (row) => ({
    book: bookOfRow(row),
    key: row.idempotency_key as string,
    endpoint: row.endpoint as string,
    bodyDigest: row.body_digest as Buffer,
    firstSeenAt: row.first_seen_at as Micros,
    status: optional<number>(row.status),
    response: optional<string>(row.response),
  }),
  insert: bulkInsert<KeyRecord>("idempotency_keys", { ...keyColumns, ...valueColumns }),
  update: bulkUpdate<KeyRecord>("idempotency_keys", keyColumns, valueColumns),
};

/** The records of requests that continue after their first commit. Loading waits for the row lock, so that the answer can be stored. */
export const openKeys: typeof keyRecords = {
  ...keyRecords,
  name: "open idempotency keys",
  load: loadByKey("lock idempotency keys", "idempotency_keys", keyColumns),
};

/** Selects the committed record of a key, with the offset of its book's clock in seconds. */
export function selectKeyRecord({ book, key }: { book: Book; key: string }): Statement {
  return {
    name: "select idempotency key",
    text: `select k.*, b.clock_offset_seconds
from idempotency_keys k
join books b using (merchant_id, environment)
where k.merchant_id = $1::uuid and k.environment = $2::environment and k.idempotency_key = $3::text`,
    values: [...bookValues(book), key],
  };
}

/** How long a key is kept, by its book's clock, from the first request (interface 4.11). */
export const KEY_RETENTION_HOURS = 72;

/**
 * Deletes expired keys. None goes before its time by the database's clock: a process that takes requests, and dates them, is behind by a minute at most.
 * It uses statement_timestamp(), because an index cannot be searched by a time that changes while it runs.
 */
export function expiredKeys(realNow: Micros): Statement {
  const age = `make_interval(hours => ${KEY_RETENTION_HOURS}, secs => 60)`;
  return {
    name: "forget idempotency keys",
    text: `delete from idempotency_keys
where (merchant_id, environment, idempotency_key) in (
  select k.merchant_id, k.environment, k.idempotency_key
  from idempotency_keys k
  join books b using (merchant_id, environment)
  where k.first_seen_at <= least($1::timestamptz, statement_timestamp()) + make_interval(secs => b.clock_offset_seconds) - ${age}
  -- no clock runs ahead by more than this: what the index can leave out at once
  and k.first_seen_at <= least($1::timestamptz, statement_timestamp()) - ${age} + make_interval(secs => (select max(clock_offset_seconds) from books))
limit ${STEP}
  for update of k skip locked -- one that is just being renewed stays
)
returning 1`,
    values: [sqlTime(realNow)],
  };
}
