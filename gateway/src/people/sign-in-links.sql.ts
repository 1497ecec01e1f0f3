// All SQL of single-use links that sign a person in.
import { type Micros, sqlTime } from "../ground/clock.ts";
import { idOf, uuidOf } from "../ground/ids.ts";
import type { Row, Statement } from "../store/database.ts";

/** `reset`: the link removes the person's password and all second factors before it signs in. */
export type LinkPurpose = "sign_in" | "reset";

interface SignInLink {
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

/** Deletes a person's unused links of one purpose, or of both when `purpose` is undefined. */
export function deleteOpenLinks(personId: string, purpose?: LinkPurpose): Statement {
  return {
    text: `delete from sign_in_links
where person_id = $1::uuid and used_at is null and ($2::text is null or purpose = $2::text)`,
    values: [uuidOf(personId), purpose ?? null],
  };
}

/** The link of a token; no row when there is none. */
export function selectLink(tokenDigest: Buffer): Statement {
  return {
    text: "select person_id, purpose from sign_in_links where token_digest = $1::bytea",
    values: [tokenDigest],
  };
}

/** Consumes a link. One row when it was unused and had not expired. */
export function useLink(tokenDigest: Buffer, now: Micros): Statement {
  return {
    text: `update sign_in_links
set used_at = $2::timestamptz
where token_digest = $1::bytea and used_at is null and expires_at > $2::timestamptz
returning 1`,
    values: [tokenDigest, sqlTime(now)],
  };
}

export function linkOfRow(row: Row): SignInLink {
  return { personId: idOf("person", row.person_id as string), purpose: row.purpose as LinkPurpose };
}
