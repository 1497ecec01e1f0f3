// All SQL of writing the request log: batches, gaps, and the deletion of rows that are too old or too many.
import type { Micros } from "../ground/clock.ts";
import { uuidBytes } from "../ground/ids.ts";
import { type Book, bookColumns, bookKey, bookValues } from "../merchants/books.ts";
import type { Statement } from "../store/database.ts";
import { STEP, deleteOldest } from "../store/retention.ts";
import { type Columns, arraysOf, rowsOf } from "../store/table.ts";
import type { RequestRecord } from "./request-record.ts";

export const KEPT_DAYS = 7;
/** Rows of authenticated requests kept for one book. */
export const KEPT_ROWS = 10_000;
/** Rows of unauthenticated requests kept in addition: everybody who knows a client_id can send any number of them. */
const KEPT_UNPROVEN_ROWS = 2_000;

const columns: Columns<RequestRecord> = {
  ...bookColumns,
  request_id: ["uuid", ({ requestId }) => uuidBytes(requestId)],
  at: ["timestamptz", ({ at }) => at],
  took_us: ["integer", ({ tookUs }) => tookUs],
  status: ["smallint", ({ status }) => status],
  proven: ["boolean", ({ isProven }) => isProven],
  replayed: ["boolean", ({ replayed }) => replayed],
  client_id: ["text", ({ clientId }) => clientId],
  method: ["text", ({ method }) => method],
  path: ["text", ({ path }) => path],
  query: ["text", ({ query }) => query],
  code: ["text", ({ code }) => code],
  idempotency_key: ["text", ({ idempotencyKey }) => idempotencyKey],
  request_bytes: ["integer", ({ request }) => request.size],
  request_digest: ["bytea", ({ requestDigest }) => requestDigest],
  request_body: ["text", ({ request }) => request.text],
  request_omitted: ["text", ({ request }) => request.omitted],
  response_bytes: ["integer", ({ response }) => response.size],
  response_body: ["text", ({ response }) => response.text],
  response_omitted: ["text", ({ response }) => response.omitted],
};

const insertion = `with lazily as (
  select set_config('synchronous_commit', 'off', true) as setting
), v as (
${rowsOf(columns)}
)
insert into request_log (${Object.keys(columns).join(", ")})
select v.*
from v, lazily
on conflict do nothing`;

/** Inserts a batch in one statement. Its commit does not wait for the disk: no request waits for the log, and a crash may lose rows of it. */
export function insertRequests(records: readonly RequestRecord[]): Statement {
  return { name: "insert requests", text: insertion, values: arraysOf(columns, records) };
}

/** Number of requests of one book that were not logged: authenticated (`dropped`) and unauthenticated ones. */
export interface Gap {
  book: Book;
  dropped: number;
  unproven: number;
}

const gapColumns: Columns<Gap> = {
  ...bookColumns,
  dropped: ["bigint", ({ dropped }) => dropped],
  unproven: ["bigint", ({ unproven }) => unproven],
};

/** Adds to the gaps of the current hour by the database's clock. Books are sorted, so that two processes lock rows in one order and do not deadlock. */
export function addGaps(gaps: readonly Gap[]): Statement {
  const sorted = gaps.toSorted((a, b) => (bookKey(a.book) < bookKey(b.book) ? -1 : 1));
  return {
    name: "add gaps of the request log",
    text: `with v as (
${rowsOf(gapColumns)}
)
insert into request_log_gaps as g (merchant_id, environment, hour, dropped, unproven)
select v.merchant_id, v.environment, date_trunc('hour', clock_timestamp()), v.dropped, v.unproven
from v
on conflict (merchant_id, environment, hour) do update
set dropped = g.dropped + excluded.dropped, unproven = g.unproven + excluded.unproven`,
    values: arraysOf(gapColumns, sorted),
  };
}

/**
 * Deletes the oldest rows of a book beyond KEPT_ROWS authenticated and KEPT_UNPROVEN_ROWS unauthenticated requests: at most STEP rows, each of which it
 * returns. Rows are deleted by their `ctid`, which is safe because rows are never updated.
 */
export function trimRequests(book: Book): Statement {
  return {
    name: "trim the request log",
    text: `delete from request_log
where ctid = any(array(
  select r.ctid
  from request_log r
  where r.merchant_id = $1::uuid and r.environment = $2::environment and r.request_id <= case when r.proven then (
    select request_id
    from request_log
    where merchant_id = $1::uuid and environment = $2::environment and proven
    order by request_id desc
    offset ${KEPT_ROWS}
    limit 1
  ) else (
    select request_id
    from request_log
    where merchant_id = $1::uuid and environment = $2::environment and status >= 400 and not proven
    order by request_id desc
    offset ${KEPT_UNPROVEN_ROWS}
    limit 1
  ) end
  order by r.request_id
  limit ${STEP}
))
returning 1`,
    values: [...bookValues(book)],
  };
}

const keptSeconds = KEPT_DAYS * 86_400;

/** Deletes requests older than KEPT_DAYS, up to `STEP` rows. */
export function expiredRequests(realNow: Micros): Statement {
  return deleteOldest("request_log", { column: "at", keptSeconds }, realNow);
}

/** Deletes gaps older than KEPT_DAYS, likewise. */
export function expiredGaps(realNow: Micros): Statement {
  return deleteOldest("request_log_gaps", { column: "hour", keptSeconds }, realNow);
}
