// All SQL that reads the request log and the stored state of idempotency keys. Writes nothing.
import type { Micros } from "../ground/clock.ts";
import { idOf, leastIdOf, uuidOf, uuidOrNull } from "../ground/ids.ts";
import { type Book, bookValues } from "../merchants/books.ts";
import { type Row, type Statement, optional } from "../store/database.ts";
import type { KeptBody, Omission, RequestRecord } from "./request-record.ts";

type Bodies = "requestDigest" | "request" | "response";

/** A logged request without its bodies, as lists show it. */
export interface LoggedRequest extends Omit<RequestRecord, "book" | Bodies> {
  /** Why the signature was refused, as long as the diagnosis is kept. */
  diagnosis: { name: string; subject: string | undefined; base: string | undefined } | undefined;
}

/** A logged request with its bodies. */
export interface WholeRequest extends LoggedRequest, Pick<RequestRecord, Bodies> {}

const listed = `l.request_id, l.at, l.took_us, l.method, l.path, l.query, l.status, l.code, l.client_id, l.proven, l.replayed, l.idempotency_key`;
const whole = `${listed}, l.request_digest, l.request_bytes, l.request_body, l.request_omitted, l.response_bytes, l.response_body, l.response_omitted`;
const diagnosed = "d.diagnosis, d.subject, d.signature_base";
const withDiagnosis = "left join refused_requests d on d.merchant_id = l.merchant_id and d.request_id = l.request_id";

interface RequestFilter {
  book: Book;
  outcome: "succeeded" | "refused" | undefined;
  method: string | undefined;
  /** Prefix of the path. */
  path: string | undefined;
  status: number | undefined;
  code: string | undefined;
  clientId: string | undefined;
  idempotencyKey: string | undefined;
  createdFrom: Micros | undefined;
  /** Exclusive upper bound. */
  createdBefore: Micros | undefined;
  /** Only requests older than this one. */
  after: string | undefined;
  limit: number;
}

/** A page of requests, newest first; one row more than `limit` shows that there is a next page. */
export function selectRequests(filter: RequestFilter): Statement {
  const values: unknown[] = [...bookValues(filter.book)];
  const conditions: string[] = [];
  const where = (condition: string, value: unknown): void => {
    values.push(value);
    conditions.push(`  and ${condition.replace("?", `$${values.length}`)}\n`);
  };
  // The condition is text, not a parameter: only then can PostgreSQL use the partial index of refused requests.
  if (filter.outcome === "refused") conditions.push("  and l.status >= 400\n");
  if (filter.outcome === "succeeded") conditions.push("  and l.status < 400\n");
  if (filter.method !== undefined) where("l.method = ?::text", filter.method);
  if (filter.path !== undefined) where("starts_with(l.path, ?::text)", filter.path);
  if (filter.status !== undefined) where("l.status = ?::smallint", filter.status);
  if (filter.code !== undefined) where("l.code = ?::text", filter.code);
  if (filter.clientId !== undefined) where("l.client_id = ?::text", filter.clientId);
  if (filter.idempotencyKey !== undefined) where("l.idempotency_key = ?::text", filter.idempotencyKey);
  if (filter.createdFrom !== undefined) where("l.request_id >= ?::uuid", leastIdOf(filter.createdFrom));
  if (filter.createdBefore !== undefined) where("l.request_id < ?::uuid", leastIdOf(filter.createdBefore));
  if (filter.after !== undefined) where("l.request_id < ?::uuid", uuidOf(filter.after));
  values.push(filter.limit + 1);
  return {
    text: `select ${listed}, ${diagnosed}
from request_log l
${withDiagnosis}
where l.merchant_id = $1::uuid and l.environment = $2::environment
${conditions.join("")}order by l.request_id desc
limit $${values.length}::integer`,
    values,
  };
}

/** One request of a book with its bodies. */
export function selectRequest(book: Book, requestId: string): Statement {
  return {
    name: "select request",
    text: `select ${whole}, ${diagnosed}
from request_log l
${withDiagnosis}
where l.merchant_id = $1::uuid and l.environment = $2::environment and l.request_id = $3::uuid`,
    values: [...bookValues(book), uuidOf(requestId)],
  };
}

/** Number of requests of a book that were not logged in the last `hours`: one row. */
export function selectGaps(book: Book, hours: number): Statement {
  return {
    name: "select gaps of the request log",
    text: `select coalesce(sum(dropped), 0)::float8 as dropped, coalesce(sum(unproven), 0)::float8 as unproven
from request_log_gaps
where merchant_id = $1::uuid and environment = $2::environment
  and hour > date_trunc('hour', clock_timestamp()) - make_interval(hours => $3::integer)`,
    values: [...bookValues(book), hours],
  };
}

/** An idempotency key in the request log, with the newest request that used it. */
interface UsedKey {
  key: string;
  requests: number;
  replays: number;
  conflicts: number;
  last: LoggedRequest;
  record: KeyState | undefined;
}

/** Stored state of an idempotency key. Times are those of the book's clock. */
export interface KeyState {
  endpoint: string;
  firstSeenAt: Micros;
  /** HTTP status of the stored answer; undefined while the first request runs. */
  status: number | undefined;
}

const counted = `count(*)::integer as requests, count(*) filter (where replayed)::integer as replays,
  count(*) filter (where code = 'IDEMPOTENCY_CONFLICT')::integer as conflicts`;

/** Keys of a book, each once, ordered by their newest request; one row more than `limit` shows that there is a next page. */
export function selectUsedKeys(book: Book, after: string | undefined, limit: number): Statement {
  return {
    name: "select used idempotency keys",
    text: `select ${listed}, k.endpoint, k.status as key_status, k.first_seen_at, c.*
from (
  select *
  from request_log l
  where l.merchant_id = $1::uuid and l.environment = $2::environment and l.idempotency_key is not null and l.proven
    and ($3::uuid is null or l.request_id < $3::uuid)
    and not exists (
      select
      from request_log n
      where n.merchant_id = $1::uuid and n.environment = $2::environment and n.idempotency_key = l.idempotency_key and n.proven
        and n.request_id > l.request_id
    )
  order by l.request_id desc
  limit $4::integer
) l
left join lateral (
  select endpoint, status, first_seen_at
  from idempotency_keys
  where merchant_id = $1::uuid and environment = $2::environment and idempotency_key = l.idempotency_key
  limit 1
) k on true
cross join lateral (
  select ${counted}
  from request_log o
  where o.merchant_id = $1::uuid and o.environment = $2::environment and o.idempotency_key = l.idempotency_key and o.proven
) c
order by l.request_id desc`,
    values: [...bookValues(book), uuidOrNull(after), limit + 1],
  };
}

/** Stored state of one key, with its stored answer. */
export function selectKey(book: Book, key: string): Statement {
  return {
    name: "select key on record",
    text: `select endpoint, first_seen_at, status as key_status, body_digest, response
from idempotency_keys
where merchant_id = $1::uuid and environment = $2::environment and idempotency_key = $3::text`,
    values: [...bookValues(book), key],
  };
}

/** Number of logged requests, replays and conflicts of a key: one row. */
export function countUses(book: Book, key: string): Statement {
  return {
    name: "count uses of a key",
    text: `select ${counted}
from request_log
where merchant_id = $1::uuid and environment = $2::environment and idempotency_key = $3::text and proven`,
    values: [...bookValues(book), key],
  };
}

/** The `first` oldest and the `newest` newest requests of a key with their bodies, oldest first. */
export function selectUses(book: Book, key: string, first: number, newest: number): Statement {
  const uses = (order: string, parameter: string): string => `(
  select *
  from request_log
  where merchant_id = $1::uuid and environment = $2::environment and idempotency_key = $3::text and proven
  order by request_id ${order}
  limit ${parameter}::integer
)`;
  return {
    name: "select uses of a key",
    text: `select ${whole}
from (${uses("asc", "$4")} union ${uses("desc", "$5")}) l
order by l.request_id`,
    values: [...bookValues(book), key, first, newest],
  };
}

export function requestOfRow(row: Row): LoggedRequest {
  const text = (name: string): string | undefined => (row[name] as string | null | undefined) ?? undefined;
  const diagnosis = text("diagnosis");
  return {
    requestId: idOf("request", row.request_id as string),
    at: row.at as Micros,
    tookUs: row.took_us as number,
    method: row.method as string,
    path: row.path as string,
    query: text("query"),
    status: row.status as number,
    code: text("code"),
    clientId: row.client_id as string,
    isProven: row.proven as boolean,
    replayed: row.replayed as boolean,
    idempotencyKey: text("idempotency_key"),
    diagnosis:
      diagnosis === undefined ? undefined : { name: diagnosis, subject: text("subject"), base: text("signature_base") },
  };
}

export function wholeRequestOfRow(row: Row): WholeRequest {
  return {
    ...requestOfRow(row),
    requestDigest: optional<Buffer>(row.request_digest),
    request: bodyOfRow(row, "request"),
    response: bodyOfRow(row, "response"),
  };
}

function bodyOfRow(row: Row, side: "request" | "response"): KeptBody {
  return {
    size: row[`${side}_bytes`] as number,
    text: (row[`${side}_body`] as string | null) ?? undefined,
    omitted: (row[`${side}_omitted`] as Omission | null) ?? undefined,
  };
}

export function keyStateOfRow(row: Row): KeyState | undefined {
  if ((row.endpoint ?? null) === null) return undefined;
  return {
    endpoint: row.endpoint as string,
    firstSeenAt: row.first_seen_at as Micros,
    status: optional<number>(row.key_status),
  };
}

export function usedKeyOfRow(row: Row): UsedKey {
  return {
    key: row.idempotency_key as string,
    requests: row.requests as number,
    replays: row.replays as number,
    conflicts: row.conflicts as number,
    last: requestOfRow(row),
    record: keyStateOfRow(row),
  };
}
