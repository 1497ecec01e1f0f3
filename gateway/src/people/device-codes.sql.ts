// All SQL of device codes: programs that wait for a person to sign them in.
import { type Micros, sqlTime } from "../ground/clock.ts";
import { idOf, uuidOf, uuidOrNull } from "../ground/ids.ts";
import type { Book, Environment } from "../merchants/books.ts";
import type { Scope } from "../merchants/directory.ts";
import type { Row, Statement } from "../store/database.ts";

/**
 * Open device codes of one address group (a whole office may share it) and of all together, so that no caller can fill the table.
 * Requests at once do not count each other: a limit may be passed by one for each connection of the pools, which is nothing that fills a table, and a
 * lock would let unauthenticated callers keep connections waiting.
 */
export const OPEN_OF_ADDRESS_MAX = 10;
const OPEN_MAX = 5_000;
/** The polling interval grows by SLOWER_SECONDS each time that a program polls too soon (RFC 8628, section 3.5). */
const SLOWER_SECONDS = 5;
const INTERVAL_MAX_SECONDS = 60;

/** A program's request to be signed in. */
export interface DeviceRequest {
  userCode: string;
  /** Name of the key that the program will get. */
  name: string;
  environment: Environment;
  address: string;
  userAgent: string;
  createdAt: Micros;
  expiresAt: Micros;
}

/** The key that a person lets a program have. */
export interface Granted extends Book {
  scopes: readonly Scope[];
}

/** A person's answer to a request. Without `granted` the person has denied it. */
export interface DeviceAnswer {
  personId: string;
  granted?: Granted;
}

/** A request as its program polls it by the device code. */
export interface PolledDevice {
  name: string;
  answer: DeviceAnswer | undefined;
  intervalSeconds: number;
  /** True when the program polled before the interval was over. */
  tooSoon: boolean;
}

/** Adds a request. No row when too many are open, of this address group or of all, or when the short code exists already. */
export function insertDeviceCode(
  request: DeviceRequest & { deviceDigest: Buffer; addressGroup: string; intervalSeconds: number },
): Statement {
  return {
    text: `insert into device_codes (
  device_digest, user_code, name, environment, address, address_group, user_agent, created_at, expires_at, interval_seconds
)
select $1::bytea, $2::text, $3::text, $4::text, $5::text, $6::text, $7::text, $8::timestamptz, $9::timestamptz, $10::smallint
where (select count(*) from device_codes where address_group = $6::text and expires_at > $8::timestamptz) < ${OPEN_OF_ADDRESS_MAX}
  and (select count(*) from (select from device_codes where expires_at > $8::timestamptz limit ${OPEN_MAX}) as open) < ${OPEN_MAX}
on conflict (user_code) do nothing
returning 1`,
    values: [
      request.deviceDigest,
      request.userCode,
      request.name,
      request.environment,
      request.address,
      request.addressGroup,
      request.userAgent,
      sqlTime(request.createdAt),
      sqlTime(request.expiresAt),
      request.intervalSeconds,
    ],
  };
}

/** The open request of a short code. */
export function selectDeviceRequest(userCode: string, now: Micros): Statement {
  return {
    text: `select *
from device_codes
where user_code = $1::text and answered_at is null and expires_at > $2::timestamptz`,
    values: [userCode, sqlTime(now)],
  };
}

/** Stores a person's answer. One row when the request was still open: of two answers at once, one is stored. */
export function answerDevice(userCode: string, answer: DeviceAnswer & { sessionId: string }, now: Micros): Statement {
  const { personId, sessionId, granted } = answer;
  return {
    text: `update device_codes
set answered_at = $2::timestamptz, person_id = $3::uuid, merchant_id = $4::uuid, scopes = $5::text[],
  environment = coalesce($6::text, environment), session_id = $7::uuid
where user_code = $1::text and answered_at is null and expires_at > $2::timestamptz
returning 1`,
    values: [
      userCode,
      sqlTime(now),
      uuidOf(personId),
      uuidOrNull(granted?.merchantId),
      granted?.scopes ?? null,
      granted?.environment ?? null,
      uuidOf(sessionId),
    ],
  };
}

/** The unexpired request of a device code, with its answer, if any. Records the time of the poll, and lengthens the interval after a poll too soon. */
export function pollDevice(deviceDigest: Buffer, now: Micros): Statement {
  return {
    text: `with before as (
  select device_digest,
    -- A second is left to the way that a request takes.
    coalesce(polled_at + make_interval(secs => interval_seconds - 1) > $2::timestamptz, false) as too_soon
  from device_codes
  where device_digest = $1::bytea and used_at is null and expires_at > $2::timestamptz
  for no key update
)
update device_codes d
set polled_at = $2::timestamptz,
  interval_seconds = case when b.too_soon then least(d.interval_seconds + ${SLOWER_SECONDS}, ${INTERVAL_MAX_SECONDS}) else d.interval_seconds end
from before b
where d.device_digest = b.device_digest
returning d.*, b.too_soon`,
    values: [deviceDigest, sqlTime(now)],
  };
}

/** Consumes a grant, once: a row with the person's current role while the session that gave it lasts, and the merchant is theirs and not suspended. */
export function useGrant(deviceDigest: Buffer, now: Micros): Statement {
  return {
    text: `update device_codes d
set used_at = $2::timestamptz
from memberships m
join persons p using (person_id)
join merchants t using (merchant_id)
where d.device_digest = $1::bytea and d.used_at is null and d.expires_at > $2::timestamptz
  and m.merchant_id = d.merchant_id and m.person_id = d.person_id and p.closed_at is null and not t.suspended
  and exists (select from sessions s where s.session_id = d.session_id and s.ended_at is null)
returning m.role`,
    values: [deviceDigest, sqlTime(now)],
  };
}

export function deviceRequestOfRow(row: Row): DeviceRequest {
  return {
    userCode: row.user_code as string,
    name: row.name as string,
    environment: row.environment as Environment,
    address: row.address as string,
    userAgent: row.user_agent as string,
    createdAt: row.created_at as Micros,
    expiresAt: row.expires_at as Micros,
  };
}

export function polledDeviceOfRow(row: Row): PolledDevice {
  return {
    name: row.name as string,
    answer: answerOfRow(row),
    intervalSeconds: row.interval_seconds as number,
    tooSoon: row.too_soon as boolean,
  };
}

function answerOfRow(row: Row): DeviceAnswer | undefined {
  if (row.person_id === null) return undefined;
  const personId = idOf("person", row.person_id as string);
  if (row.merchant_id === null) return { personId };
  const merchantId = idOf("merchant", row.merchant_id as string);
  const environment = row.environment as Environment;
  return { personId, granted: { merchantId, environment, scopes: row.scopes as Scope[] } };
}
