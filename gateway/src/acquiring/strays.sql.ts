// All SQL of stray messages: messages that prove to come from an acquirer but could not be taken. They move nothing, and wait for a person.
import type { Report, AcquirerMessage } from "../acquirers/acquirer.ts";
import { type Micros, sqlTime } from "../ground/clock.ts";
import { sha256 } from "../ground/crypto.ts";
import { type Row, type Statement, optional } from "../store/database.ts";
import { STEP, deleteOldest } from "../store/retention.ts";
import { ABOUT_MAX, MESSAGE_LENGTH_MAX, storable } from "./messages.ts";
import { KEPT_SECONDS } from "./messages.sql.ts";

/** Two outcomes of a report; earlier attempt: the report's attempt was given up; unreadable: the message could not be parsed. */
export const strayReasons = ["unknown operation", "refused", "earlier attempt", "unreadable"] as const;

export interface Stray {
  gatewayCode: string;
  reason: (typeof strayReasons)[number];
  /** The operation key or account number in the message; empty where the message cannot be read. */
  operationKey: string;
  /** Undefined where the message cannot be read. */
  kind: Report["kind"] | undefined;
  message: AcquirerMessage | undefined;
}

export interface KeptStray extends Stray {
  /** How often the same message came. */
  times: number;
  firstAt: Micros;
  lastAt: Micros;
}

/** Keeps a message; a repetition of a kept message is only counted. */
export function keepStray({ gatewayCode, reason, operationKey, kind, message }: Stray, realNow: Micros): Statement {
  const text = message ? storable(message.text, MESSAGE_LENGTH_MAX) : null;
  const key = storable(operationKey, 64);
  const digest = sha256(JSON.stringify([reason, key, kind ?? null, message?.about ?? null, text]));
  return {
    name: "keep stray message",
    text: `insert into stray_messages (gateway_code, digest, reason, operation_key, kind, about, text, first_at, last_at)
values ($1::text, $2::bytea, $3::text, $4::text, $5::text, $6::text, $7::text, $8::timestamptz, $8::timestamptz)
on conflict (gateway_code, digest) do update set times = stray_messages.times + 1, last_at = excluded.last_at`,
    values: [
      gatewayCode,
      digest,
      reason,
      key,
      kind ?? null,
      message ? storable(message.about, ABOUT_MAX) : null,
      text,
      sqlTime(realNow),
    ],
  };
}

/** Strays of an acquirer, newest first. */
export function selectStrays(gatewayCode: string, limit: number): Statement {
  return {
    name: "select stray messages",
    text: `select gateway_code, reason, operation_key, kind, about, text, times, first_at, last_at
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
    kind: optional<Report["kind"]>(row.kind),
    message: about === null ? undefined : { about, status: undefined, text: row.text as string },
    times: row.times as number,
    firstAt: row.first_at as Micros,
    lastAt: row.last_at as Micros,
  };
}

/** Newest strays kept for each acquirer. An account shared with other programs may bring reports of their payments, too. */
const KEPT_MAX = 10_000;

/** Deletes strays that are too old, and the oldest strays of an acquirer that has too many; up to `STEP` rows each. */
export function expiredStrays(realNow: Micros): Statement[] {
  const old = deleteOldest("stray_messages", { column: "last_at", keptSeconds: KEPT_SECONDS }, realNow);
  return [old, forgetSurplus];
}

const forgetSurplus: Statement = {
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
};
