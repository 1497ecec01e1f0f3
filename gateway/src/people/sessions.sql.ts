// All SQL of sessions of signed-in persons.
import { type Micros, sqlTime } from "../ground/clock.ts";
import { idOf, uuidOf, uuidOrNull } from "../ground/ids.ts";
import type { Row, Statement } from "../store/database.ts";
import { bulkInsert } from "../store/table.ts";

/** The application that a session belongs to: the merchants' portal or the operators' console. */
export type Surface = "portal" | "console";

export interface Session {
  sessionId: string;
  personId: string;
  createdAt: Micros;
  seenAt: Micros;
  /** When the person last proved their identity with every factor that is required of them. */
  provedAt: Micros;
  address: string;
  userAgent: string;
  surface: Surface;
}

export const insertSessions = bulkInsert<Session & { tokenDigest: Buffer }>("sessions", {
  token_digest: ["bytea", ({ tokenDigest }) => tokenDigest],
  session_id: ["uuid", ({ sessionId }) => uuidOf(sessionId)],
  person_id: ["uuid", ({ personId }) => uuidOf(personId)],
  created_at: ["timestamptz", ({ createdAt }) => createdAt],
  seen_at: ["timestamptz", ({ seenAt }) => seenAt],
  proved_at: ["timestamptz", ({ provedAt }) => provedAt],
  address: ["text", ({ address }) => address],
  user_agent: ["text", ({ userAgent }) => userAgent],
  surface: ["text", ({ surface }) => surface],
});

/** One row while a session of the person has not been ended. */
export function selectOpenSession(personId: string, sessionId: string): Statement {
  return {
    text: "select 1 from sessions where person_id = $1::uuid and session_id = $2::uuid and ended_at is null",
    values: [uuidOf(personId), uuidOf(sessionId)],
  };
}

/** Gives a session a new token, unless it has ended or its last proof is not `provedAt` any more. One row when it was renewed. */
export function renewSession(
  tokenDigest: Buffer,
  renewed: Pick<Session, "personId" | "sessionId" | "provedAt" | "address" | "userAgent"> & { now: Micros },
): Statement {
  const { personId, sessionId, provedAt, address, userAgent, now } = renewed;
  return {
    text: `update sessions
set token_digest = $1::bytea, created_at = $5::timestamptz, seen_at = $5::timestamptz, proved_at = $5::timestamptz,
  address = $6::text, user_agent = $7::text
where person_id = $2::uuid and session_id = $3::uuid and proved_at = $4::timestamptz and ended_at is null
returning 1`,
    values: [tokenDigest, uuidOf(personId), uuidOf(sessionId), sqlTime(provedAt), sqlTime(now), address, userAgent],
  };
}

/**
 * The session of a token on a surface, unless it has ended, began or was last seen before these times, or its person's account is closed. With its
 * person, and with the person's role for a merchant when `merchantId` is given and the person is a member.
 */
export function selectSignedIn(
  tokenDigest: Buffer,
  surface: Surface,
  merchantId: string | undefined,
  begunAfter: Micros,
  seenAfter: Micros,
): Statement {
  return {
    name: "select signed in",
    text: `select s.session_id, s.person_id, s.created_at as begun_at, s.seen_at, s.proved_at, s.address, s.user_agent, s.surface,
  p.*, (select count(*)::integer from passkeys k where k.person_id = p.person_id) as passkeys, m.role
from sessions s
join persons p using (person_id)
left join memberships m on m.merchant_id = $2::uuid and m.person_id = s.person_id
where s.token_digest = $1::bytea and s.ended_at is null and s.created_at > $3::timestamptz and s.seen_at > $4::timestamptz
  and s.surface = $5::text and p.closed_at is null`,
    values: [tokenDigest, uuidOrNull(merchantId), sqlTime(begunAfter), sqlTime(seenAfter), surface],
  };
}

/** Roles of the persons of portal sessions, for pairs of session and merchant. `place` numbers the pairs from 1; a pair without a role has no row. */
export function selectRoles(
  asked: readonly { sessionId: string; merchantId: string }[],
  begunAfter: Micros,
  seenAfter: Micros,
): Statement {
  return {
    name: "select roles of sessions",
    text: `select w.place::integer, m.role
from unnest($1::uuid[], $2::uuid[]) with ordinality as w(session_id, merchant_id, place)
join sessions s on s.session_id = w.session_id
join persons p using (person_id)
join memberships m on m.merchant_id = w.merchant_id and m.person_id = s.person_id
join merchants t on t.merchant_id = w.merchant_id
where s.ended_at is null and s.created_at > $3::timestamptz and s.seen_at > $4::timestamptz and p.closed_at is null
  and s.surface = 'portal' and not t.suspended`,
    values: [
      asked.map(({ sessionId }) => uuidOf(sessionId)),
      asked.map(({ merchantId }) => uuidOf(merchantId)),
      sqlTime(begunAfter),
      sqlTime(seenAfter),
    ],
  };
}

export function touchSession(tokenDigest: Buffer, now: Micros): Statement {
  return {
    name: "touch session",
    text: "update sessions set seen_at = greatest(seen_at, $2::timestamptz) where token_digest = $1::bytea",
    values: [tokenDigest, sqlTime(now)],
  };
}

/** Sessions of a person that have not ended or expired, newest first. */
export function selectSessions(personId: string, begunAfter: Micros, seenAfter: Micros): Statement {
  return {
    text: `select *
from sessions
where person_id = $1::uuid and ended_at is null and created_at > $2::timestamptz and seen_at > $3::timestamptz
order by session_id desc`,
    values: [uuidOf(personId), sqlTime(begunAfter), sqlTime(seenAfter)],
  };
}

/** Ends a session of a person. One row when the session had not ended before. */
export function endSession(personId: string, sessionId: string, now: Micros): Statement {
  return {
    text: `update sessions
set ended_at = $3::timestamptz
where person_id = $1::uuid and session_id = $2::uuid and ended_at is null
returning 1`,
    values: [uuidOf(personId), uuidOf(sessionId), sqlTime(now)],
  };
}

/** Ends all sessions of a person but the newest `kept` ones. */
export function endOldestSessions(personId: string, kept: number, now: Micros): Statement {
  return {
    text: `update sessions
set ended_at = $3::timestamptz
where session_id in (
  select session_id
  from sessions
  where person_id = $1::uuid and ended_at is null
  order by created_at desc, session_id desc
  offset $2::integer
)`,
    values: [uuidOf(personId), kept, sqlTime(now)],
  };
}

/** Ends all sessions of a person except the session `kept`, if given. */
export function endOtherSessions(personId: string, kept: string | undefined, now: Micros): Statement {
  return {
    text: `update sessions
set ended_at = $3::timestamptz
where person_id = $1::uuid and ended_at is null and ($2::uuid is null or session_id <> $2::uuid)`,
    values: [uuidOf(personId), uuidOrNull(kept), sqlTime(now)],
  };
}

export function sessionOfRow(row: Row): Session {
  return {
    sessionId: idOf("session", row.session_id as string),
    personId: idOf("person", row.person_id as string),
    createdAt: row.created_at as Micros,
    seenAt: row.seen_at as Micros,
    provedAt: row.proved_at as Micros,
    address: row.address as string,
    userAgent: row.user_agent as string,
    surface: row.surface as Surface,
  };
}
