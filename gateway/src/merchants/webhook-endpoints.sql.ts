// SQL of webhook addresses and their signing secrets: registration, rotation, and observations about the previous secret.
import { type Micros, sqlTime, sqlTimeOrNull } from "../ground/clock.ts";
import { type Row, type Statement, optional } from "../store/database.ts";
import { type Book, bookArrays, bookValues } from "./books.ts";

export interface WebhookRegistration {
  url: string | undefined;
  rotatedAt: Micros | undefined;
  /** End of the time in which the previous secret signs too; in the past when it no longer signs. */
  previousUntil: Micros | undefined;
  /** Last time that a delivery with both signatures was accepted. It does not show which signature the receiver verified. */
  previousCarriedAt: Micros | undefined;
  /** Last time that a delivery was rejected with the new signature alone, and accepted with both. */
  previousNeededAt: Micros | undefined;
  /** Last time that a delivery was accepted with the new signature alone. */
  previousNotNeededAt: Micros | undefined;
}

const PROBE_AFTER_REFUSAL_SECONDS = 600;

/** Adds a book's first sealed secret, without an address. */
export function insertWebhook(book: Book, sealed: Buffer, now: Micros): Statement {
  return {
    text: `insert into webhook_endpoints (merchant_id, environment, secret_sealed, updated_at)
values ($1::uuid, $2::environment, $3::bytea, $4::timestamptz)`,
    values: [...bookValues(book), sealed, sqlTime(now)],
  };
}

/** Registers an address and leaves the secrets as they are. Gives the sealed secret that signs. */
export function updateWebhookUrl(book: Book, url: string, now: Micros): Statement {
  return {
    text: `update webhook_endpoints
set url = $3::text, updated_at = $4::timestamptz
where merchant_id = $1::uuid and environment = $2::environment
returning secret_sealed`,
    values: [...bookValues(book), url, sqlTime(now)],
  };
}

/** Stores a new secret. With `until` the previous secret is kept, and signs until then. Gives a row. */
export function rotateWebhook(
  book: Book,
  { sealed, at, until, probeAt }: { sealed: Buffer; at: Micros; until: Micros | undefined; probeAt: Micros },
): Statement {
  return {
    text: `update webhook_endpoints
set previous_sealed = case when $5::timestamptz is not null then secret_sealed end, previous_until = $5::timestamptz,
  previous_carried_at = null, previous_needed_at = null, previous_not_needed_at = null, probe_at = $6::timestamptz,
  secret_sealed = $3::bytea, rotated_at = $4::timestamptz, updated_at = $4::timestamptz
where merchant_id = $1::uuid and environment = $2::environment
returning 1`,
    values: [...bookValues(book), sealed, sqlTime(at), sqlTimeOrNull(until), sqlTime(probeAt)],
  };
}

/** Ends the use of the previous secret. Gives a row when it was still in use. */
export function retirePreviousSecret(book: Book, now: Micros): Statement {
  return {
    text: `update webhook_endpoints
set previous_sealed = null, previous_until = null, updated_at = $3::timestamptz
where merchant_id = $1::uuid and environment = $2::environment and previous_until > $3::timestamptz
returning 1`,
    values: [...bookValues(book), sqlTime(now)],
  };
}

export function selectWebhook(book: Book): Statement {
  return {
    text: `select url, rotated_at, previous_until, previous_carried_at, previous_needed_at, previous_not_needed_at
from webhook_endpoints
where merchant_id = $1::uuid and environment = $2::environment`,
    values: [...bookValues(book)],
  };
}

export function registrationOfRow(row: Row): WebhookRegistration {
  return {
    url: optional<string>(row.url),
    rotatedAt: optional<Micros>(row.rotated_at),
    previousUntil: optional<Micros>(row.previous_until),
    previousCarriedAt: optional<Micros>(row.previous_carried_at),
    previousNeededAt: optional<Micros>(row.previous_needed_at),
    previousNotNeededAt: optional<Micros>(row.previous_not_needed_at),
  };
}

/** Writes what was seen of previous secrets within a rotation's overlap. Rows are locked in the order of books: no deadlocks. */
export function markPreviousSecrets(marks: readonly { book: Book; at: Micros; fact: string }[]): Statement {
  return {
    name: "mark previous webhook secrets",
    text: `with v as (
  select merchant_id, environment, max(at) as last_at, max(at) filter (where fact = 'carried') as carried_at,
    max(at) filter (where fact = 'needed') as needed_at, max(at) filter (where fact = 'not needed') as not_needed_at
  from unnest($1::uuid[], $2::text[]::environment[], $3::timestamptz[], $4::text[]) as v(merchant_id, environment, at, fact)
  group by merchant_id, environment
), locked as (
  select v.*
  from v
  join webhook_endpoints w using (merchant_id, environment)
  order by merchant_id, environment
  for no key update of w
)
update webhook_endpoints w
set previous_carried_at = greatest(w.previous_carried_at, v.carried_at),
  previous_needed_at = greatest(w.previous_needed_at, v.needed_at),
  previous_not_needed_at = greatest(w.previous_not_needed_at, v.not_needed_at),
  -- a refusal may have woken somebody: the next one comes later
  probe_at = case when v.needed_at is null then w.probe_at else greatest(w.probe_at, v.needed_at + make_interval(secs => $5::integer)) end
from locked v
where w.merchant_id = v.merchant_id and w.environment = v.environment and v.last_at between w.rotated_at and w.previous_until`,
    values: [
      ...bookArrays(marks.map(({ book }) => book)),
      marks.map(({ at }) => sqlTime(at)),
      marks.map(({ fact }) => fact),
      PROBE_AFTER_REFUSAL_SECONDS,
    ],
  };
}

/** Takes the book's next probe if it is due, and sets the time of the one after it to `next`. Gives a row when it was due. */
export function takeProbe(book: Book, now: Micros, next: Micros): Statement {
  return {
    name: "take probe",
    text: `update webhook_endpoints
set probe_at = $4::timestamptz
where merchant_id = $1::uuid and environment = $2::environment and probe_at <= $3::timestamptz
  and previous_until > $3::timestamptz
returning 1`,
    values: [...bookValues(book), sqlTime(now), sqlTime(next)],
  };
}

export function selectNextProbe(book: Book): Statement {
  return {
    name: "next probe",
    text: "select probe_at from webhook_endpoints where merchant_id = $1::uuid and environment = $2::environment",
    values: [...bookValues(book)],
  };
}
