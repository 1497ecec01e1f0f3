// All SQL of stray messages: what an acquirer proved to have sent, and what could not be taken. They move nothing, and wait to be looked at.
import type { Report, Words } from "../acquirers/acquirer.ts";
import { type Micros, SECOND, sqlTime } from "../ground/clock.ts";
import { sha256 } from "../ground/crypto.ts";
import type { Row, Statement } from "../store/database.ts";
import { STEP } from "../store/retention.ts";
import { WORDS_LENGTH_MAX } from "./words.ts";

/** Beside what a report can come to: it is about an attempt that was given up; it is no report that can be read. */
export const strayReasons = ["unknown operation", "refused", "earlier attempt", "unreadable"] as const;

export interface Stray {
  gatewayCode: string;
  reason: (typeof strayReasons)[number];
  /** As the acquirer named it; empty where it cannot be read. */
  operationKey: string;
  /** Undefined where it cannot be read. */
  kind: Report["kind"] | undefined;
  words: Words | undefined;
}

export interface KeptStray extends Stray {
  /** How often the same was said. */
  times: number;
  firstAt: Micros;
  lastAt: Micros;
}

const KEPT_SECONDS = 400 * 86_400;

/** Keeps a message; the same one again is counted. */
export function keepStray({ gatewayCode, reason, operationKey, kind, words }: Stray, realNow: Micros): Statement {
  const text = words?.text.slice(0, WORDS_LENGTH_MAX).replaceAll("\0", "\ufffd") ?? null;
  const key = operationKey.slice(0, 64).replaceAll("\0", "\ufffd");
  const digest = sha256(JSON.stringify([reason, key, kind ?? null, words?.about ?? null, text]));
  return {
    name: "keep stray message",
    text: `insert into stray_messages (gateway_code, digest, reason, operation_key, kind, about, words, first_at, last_at)
values ($1::text, $2::bytea, $3::text, $4::text, $5::text, $6::text, $7::text, $8::timestamptz, $8::timestamptz)
on conflict (gateway_code, digest) do update set times = stray_messages.times + 1, last_at = excluded.last_at`,
    values: [
      gatewayCode,
      digest,
      reason,
      key,
      kind ?? null,
      words?.about.slice(0, 200) ?? null,
      text,
      sqlTime(realNow),
    ],
  };
}

/** The newest strays of an acquirer. */
export function selectStrays(gatewayCode: string, limit: number): Statement {
  return {
    name: "select stray messages",
    text: `select gateway_code, reason, operation_key, kind, about, words, times, first_at, last_at
from stray_messages
where gateway_code = $1::text
order by last_at desc, digest
limit $2::integer`,
    values: [gatewayCode, limit],
  };
}

export function strayOfRow(row: Row): KeptStray {
  const about = row.about as string | null;
  return {
    gatewayCode: row.gateway_code as string,
    reason: row.reason as KeptStray["reason"],
    operationKey: row.operation_key as string,
    kind: (row.kind as Report["kind"] | null) ?? undefined,
    words: about === null ? undefined : { about, status: undefined, text: row.words as string },
    times: row.times as number,
    firstAt: row.first_at as Micros,
    lastAt: row.last_at as Micros,
  };
}

/** An acquirer whose account other programs use, too, may tell us of all that they do: the newest are enough. */
const KEPT_MAX = 10_000;

/** Deletes strays that were kept long enough, and the oldest of an acquirer that has too many; a step of each. */
export function expiredStrays(realNow: Micros): Statement[] {
  return [forgetOld(realNow), forgetSurplus()];
}

function forgetSurplus(): Statement {
  return {
    name: "forget surplus stray messages",
    text: `delete from stray_messages
where ctid = any(array(
  select s.ctid
  from (select distinct gateway_code from stray_messages) c
  cross join lateral (
    select ctid
    from stray_messages
    where gateway_code = c.gateway_code
    order by last_at desc
    offset ${KEPT_MAX}
    limit ${STEP}
  ) s
))
returning 1`,
    values: [],
  };
}

function forgetOld(realNow: Micros): Statement {
  return {
    name: "forget stray messages",
    text: `delete from stray_messages
where ctid = any(array(
  select ctid
  from stray_messages
  where last_at < least($1::timestamptz, statement_timestamp())
  order by last_at
  limit ${STEP}
))
returning 1`,
    values: [sqlTime(realNow - KEPT_SECONDS * SECOND)],
  };
}
