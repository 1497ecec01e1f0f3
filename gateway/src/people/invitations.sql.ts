// All SQL of invitations: single-use links to join a merchant.
import { type Micros, sqlTime } from "../ground/clock.ts";
import { idOf, uuidOf, uuidOrNull } from "../ground/ids.ts";
import { type Row, type Statement, optional } from "../store/database.ts";
import { type MemberRole, extentOf, memberRoles } from "./roles.ts";

/** Highest number of members and open invitations of one merchant together. */
export const TEAM_MAX = 500;
/** Limit for one merchant: each invitation may send a letter to a person who never asked for it. */
export const INVITED_PER_DAY_MAX = 200;

const inviters = memberRoles.filter((role) => extentOf(role, "team:write") !== "none");
/** Open: not accepted, revoked or expired, and made by the operator or a member who may still invite, so that a removed member cannot return by their own link. */
const isOpen = `i.ended_at is null and i.expires_at > $2::timestamptz and (
    i.invited_by is null or exists (
      select
      from memberships m
      join persons p using (person_id)
      where m.merchant_id = i.merchant_id and m.person_id = i.invited_by and m.role in ('${inviters.join("', '")}') and p.closed_at is null
    )
  )`;

export type InvitationLock = "" | "for no key update of i";

export interface Invitation {
  merchantId: string;
  invitationId: string;
  role: MemberRole;
  email: string | undefined;
  expiresAt: Micros;
}

/** Waits for the other invitations of this merchant, until the transaction ends: several at once would not count each other. */
export function takeInvitationTurn(merchantId: string): Statement {
  return {
    text: "select pg_advisory_xact_lock(hashtext('gerbang invitations'), hashtext($1::text))",
    values: [merchantId],
  };
}

/** Adds an invitation, after `takeInvitationTurn`. One row, or none at TEAM_MAX members and unexpired invitations or INVITED_PER_DAY_MAX invitations in a day. */
export function insertInvitation(
  invitation: Invitation & { tokenDigest: Buffer; invitedBy: string | undefined; now: Micros },
): Statement {
  const { merchantId, invitationId, tokenDigest, role, email, invitedBy, now, expiresAt } = invitation;
  return {
    text: `insert into invitations (merchant_id, invitation_id, token_digest, role, email, invited_by, created_at, expires_at)
select $1::uuid, $2::uuid, $3::bytea, $4::text, $5::text, $6::uuid, $7::timestamptz, $8::timestamptz
where (select count(*) from memberships where merchant_id = $1::uuid)
  + (select count(*) from invitations where merchant_id = $1::uuid and ended_at is null and expires_at > $7::timestamptz) < ${TEAM_MAX}
  and (select count(*) from invitations where merchant_id = $1::uuid and created_at > $7::timestamptz - interval '1 day') < ${INVITED_PER_DAY_MAX}
returning 1`,
    values: [
      uuidOf(merchantId),
      uuidOf(invitationId),
      tokenDigest,
      role,
      email,
      uuidOrNull(invitedBy),
      sqlTime(now),
      sqlTime(expiresAt),
    ],
  };
}

/** The open invitation of a token; with `lock` locked until the transaction ends, so that it is accepted only once. */
export function selectInvitation(tokenDigest: Buffer, now: Micros, lock: InvitationLock = ""): Statement {
  return {
    text: `select i.*
from invitations i
where i.token_digest = $1::bytea and ${isOpen}
${lock}`,
    values: [tokenDigest, sqlTime(now)],
  };
}

/** Open invitations of a merchant, newest first. */
export function selectInvitations(merchantId: string, now: Micros): Statement {
  return {
    text: `select i.*
from invitations i
where i.merchant_id = $1::uuid and ${isOpen}
order by i.invitation_id desc`,
    values: [uuidOf(merchantId), sqlTime(now)],
  };
}

/** Ends an invitation as accepted by `acceptedBy`, or as revoked when that is undefined. One row when it had not ended before. */
export function endInvitation(
  { merchantId, invitationId }: Pick<Invitation, "merchantId" | "invitationId">,
  acceptedBy: string | undefined,
  now: Micros,
): Statement {
  return {
    text: `update invitations
set ended_at = $4::timestamptz, accepted_by = $3::uuid
where merchant_id = $1::uuid and invitation_id = $2::uuid and ended_at is null
returning 1`,
    values: [uuidOf(merchantId), uuidOf(invitationId), uuidOrNull(acceptedBy), sqlTime(now)],
  };
}

export function invitationOfRow(row: Row): Invitation {
  return {
    merchantId: idOf("merchant", row.merchant_id as string),
    invitationId: idOf("invitation", row.invitation_id as string),
    role: row.role as MemberRole,
    email: optional<string>(row.email),
    expiresAt: row.expires_at as Micros,
  };
}
