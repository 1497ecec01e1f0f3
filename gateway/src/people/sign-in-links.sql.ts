// All SQL of links that sign somebody in, once.
import { type Micros, sqlTime } from "../ground/clock.ts";
import { idOf, uuidOf } from "../ground/ids.ts";
import type { Row, Statement } from "../store/database.ts";
import { STEP } from "../store/retention.ts";

/** `reset`: everything by which the person signs in is made anew. */
export type LinkPurpose = "sign_in" | "reset";

export interface SignInLink {
  personId: string;
  purpose: LinkPurpose;
}

export function insertLink(
  tokenDigest: Buffer,
  { personId, purpose, now, expiresAt }: SignInLink & { now: Micros; expiresAt: Micros },
): Statement {
  return {
    text: `insert into sign_in_links (token_digest, person_id, purpose, created_at, expires_at)
values ($1::bytea, $2::uuid, $3::text, $4::timestamptz, $5::timestamptz)`,
    values: [tokenDigest, uuidOf(personId), purpose, sqlTime(now), sqlTime(expiresAt)],
  };
}

/** Takes back the links of a person that were not used: of one purpose, or of all. */
export function deleteOpenLinks(personId: string, purpose?: LinkPurpose): Statement {
  return {
    text: `delete from sign_in_links
where person_id = $1::uuid and used_at is null and ($2::text is null or purpose = $2::text)`,
    values: [uuidOf(personId), purpose ?? null],
  };
}

/** One row, of whom and for what, when the link was good; it is used up then. */
export function useLink(tokenDigest: Buffer, now: Micros): Statement {
  return {
    text: `update sign_in_links
set used_at = $2::timestamptz
where token_digest = $1::bytea and used_at is null and expires_at > $2::timestamptz
returning person_id, purpose`,
    values: [tokenDigest, sqlTime(now)],
  };
}

/** Forgets links that have been over for a day, by the earlier of the two clocks. */
export function deleteOldLinks(realNow: Micros): Statement {
  return {
    name: "forget sign-in links",
    text: `delete from sign_in_links
where token_digest in (
  select token_digest from sign_in_links
  where expires_at < least($1::timestamptz, statement_timestamp()) - interval '1 day'
  order by expires_at
  limit ${STEP}
)
returning 1`,
    values: [sqlTime(realNow)],
  };
}

export function linkOfRow(row: Row): SignInLink {
  return { personId: idOf("person", row.person_id as string), purpose: row.purpose as LinkPurpose };
}
