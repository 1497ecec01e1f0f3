// All SQL of persons, their memberships and invitations, and the audit of what they did with their access.
import { type Micros, sqlTime } from "../ground/clock.ts";
import { idOf, uuidOf } from "../ground/ids.ts";
import type { Row, Statement } from "../store/database.ts";
import type { MemberRole } from "./roles.ts";

export interface Person {
  personId: string;
  email: string;
  name: string;
  passwordHash: string | undefined;
  totpSealed: Buffer | undefined;
  /** True once a code of the authenticator was shown: it is asked for from then on. */
  hasAuthenticator: boolean;
  totpUsedStep: number | undefined;
  closed: boolean;
}

export interface Membership {
  merchantId: string;
  merchantName: string;
  role: MemberRole;
}

export interface Member {
  personId: string;
  email: string;
  name: string;
  role: MemberRole;
  hasAuthenticator: boolean;
  since: Micros;
}

export interface Invitation {
  merchantId: string;
  invitationId: string;
  role: MemberRole;
  email: string | undefined;
  expiresAt: Micros;
}

export function insertPerson(person: {
  personId: string;
  email: string;
  name: string;
  passwordHash: string;
  now: Micros;
}): Statement {
  return {
    text: `insert into persons (person_id, email, name, password_hash, created_at)
values ($1::uuid, $2::text, $3::text, $4::text, $5::timestamptz)
on conflict (email) do nothing
returning 1`,
    values: [uuidOf(person.personId), person.email, person.name, person.passwordHash, sqlTime(person.now)],
  };
}

const person = "select * from persons";

export function selectPersonByEmail(email: string): Statement {
  return { name: "select person by email", text: `${person} where email = $1::text`, values: [email] };
}

export function selectPerson(personId: string): Statement {
  return { name: "select person", text: `${person} where person_id = $1::uuid`, values: [uuidOf(personId)] };
}

/** The same, locked until the transaction ends: of two that prove a code only one has it. */
export function lockPerson(personId: string): Statement {
  return { text: `${person} where person_id = $1::uuid for no key update`, values: [uuidOf(personId)] };
}

export function personOfRow(row: Row): Person {
  return {
    personId: idOf("person", row.person_id as string),
    email: row.email as string,
    name: row.name as string,
    passwordHash: (row.password_hash as string | null) ?? undefined,
    totpSealed: (row.totp_sealed as Buffer | null) ?? undefined,
    hasAuthenticator: row.totp_confirmed_at !== null,
    totpUsedStep: row.totp_used_step === null ? undefined : Number(row.totp_used_step),
    closed: row.closed_at !== null,
  };
}

export function updatePassword(personId: string, passwordHash: string): Statement {
  return {
    text: "update persons set password_hash = $2::text where person_id = $1::uuid",
    values: [uuidOf(personId), passwordHash],
  };
}

/** Begins with an authenticator that is not confirmed. */
export function updateTotp(personId: string, sealed: Buffer): Statement {
  return {
    text: `update persons
set totp_sealed = $2::bytea, totp_confirmed_at = null, totp_used_step = null
where person_id = $1::uuid and totp_confirmed_at is null`,
    values: [uuidOf(personId), sealed],
  };
}

/** A code of this step was shown: it is used up, and the authenticator counts from now on if it did not before. */
export function useTotpStep(personId: string, step: number, now: Micros): Statement {
  return {
    text: `update persons
set totp_used_step = $2::bigint, totp_confirmed_at = coalesce(totp_confirmed_at, $3::timestamptz)
where person_id = $1::uuid`,
    values: [uuidOf(personId), step, sqlTime(now)],
  };
}

export function removeTotp(personId: string): Statement {
  return {
    text: `update persons
set totp_sealed = null, totp_confirmed_at = null, totp_used_step = null
where person_id = $1::uuid`,
    values: [uuidOf(personId)],
  };
}

/** Puts new recovery codes in the place of all there were. */
export function replaceRecoveryCodes(personId: string, digests: readonly Buffer[]): Statement {
  return {
    text: `with gone as (
  delete from recovery_codes where person_id = $1::uuid and not code_digest = any($2::bytea[])
)
insert into recovery_codes (person_id, code_digest)
select $1::uuid, code_digest from unnest($2::bytea[]) as code_digest`,
    values: [uuidOf(personId), digests],
  };
}

/** One row when the code was good; it is used up then. */
export function useRecoveryCode(personId: string, digest: Buffer, now: Micros): Statement {
  return {
    text: `update recovery_codes
set used_at = $3::timestamptz
where person_id = $1::uuid and code_digest = $2::bytea and used_at is null
returning 1`,
    values: [uuidOf(personId), digest, sqlTime(now)],
  };
}

export function insertMembership(merchantId: string, personId: string, role: MemberRole, now: Micros): Statement {
  return {
    text: `insert into memberships (merchant_id, person_id, role, created_at)
values ($1::uuid, $2::uuid, $3::text, $4::timestamptz)
on conflict (merchant_id, person_id) do nothing
returning 1`,
    values: [uuidOf(merchantId), uuidOf(personId), role, sqlTime(now)],
  };
}

/** One row when there is such a member. */
export function updateRole(merchantId: string, personId: string, role: MemberRole): Statement {
  return {
    text: `update memberships
set role = $3::text
where merchant_id = $1::uuid and person_id = $2::uuid
returning 1`,
    values: [uuidOf(merchantId), uuidOf(personId), role],
  };
}

/** One row when there was such a member. */
export function deleteMembership(merchantId: string, personId: string): Statement {
  return {
    text: "delete from memberships where merchant_id = $1::uuid and person_id = $2::uuid returning 1",
    values: [uuidOf(merchantId), uuidOf(personId)],
  };
}

/** For whom a person may act. */
export function selectMemberships(personId: string): Statement {
  return {
    name: "select memberships of person",
    text: `select m.merchant_id, m.role, merchants.name
from memberships m
join merchants using (merchant_id)
where m.person_id = $1::uuid
order by m.created_at, m.merchant_id`,
    values: [uuidOf(personId)],
  };
}

export function membershipOfRow(row: Row): Membership {
  return {
    merchantId: idOf("merchant", row.merchant_id as string),
    merchantName: row.name as string,
    role: row.role as MemberRole,
  };
}

/** Who may act for a merchant: its team, the longest there first. */
export function selectMembers(merchantId: string): Statement {
  return {
    text: `select p.person_id, p.email, p.name, p.totp_confirmed_at, m.role, m.created_at
from memberships m
join persons p using (person_id)
where m.merchant_id = $1::uuid
order by m.created_at, m.person_id`,
    values: [uuidOf(merchantId)],
  };
}

export function memberOfRow(row: Row): Member {
  return {
    personId: idOf("person", row.person_id as string),
    email: row.email as string,
    name: row.name as string,
    role: row.role as MemberRole,
    hasAuthenticator: row.totp_confirmed_at !== null,
    since: row.created_at as Micros,
  };
}

export function insertInvitation(
  invitation: Invitation & { tokenDigest: Buffer; invitedBy: string | undefined; now: Micros },
): Statement {
  const { merchantId, invitationId, tokenDigest, role, email, invitedBy, now, expiresAt } = invitation;
  return {
    text: `insert into invitations (merchant_id, invitation_id, token_digest, role, email, invited_by, created_at, expires_at)
values ($1::uuid, $2::uuid, $3::bytea, $4::text, $5::text, $6::uuid, $7::timestamptz, $8::timestamptz)`,
    values: [
      uuidOf(merchantId),
      uuidOf(invitationId),
      tokenDigest,
      role,
      email,
      invitedBy === undefined ? null : uuidOf(invitedBy),
      sqlTime(now),
      sqlTime(expiresAt),
    ],
  };
}

/** The invitation of a token, while it can be accepted. */
export function selectInvitation(tokenDigest: Buffer, now: Micros): Statement {
  return {
    text: `select *
from invitations
where token_digest = $1::bytea and ended_at is null and expires_at > $2::timestamptz`,
    values: [tokenDigest, sqlTime(now)],
  };
}

/** The same, locked until the transaction ends: it is accepted once. */
export function lockInvitation(tokenDigest: Buffer, now: Micros): Statement {
  const { text, values = [] } = selectInvitation(tokenDigest, now);
  return { text: `${text}\nfor no key update`, values };
}

/** Invitations of a merchant that can still be accepted, newest first. */
export function selectInvitations(merchantId: string, now: Micros): Statement {
  return {
    text: `select *
from invitations
where merchant_id = $1::uuid and ended_at is null and expires_at > $2::timestamptz
order by invitation_id desc`,
    values: [uuidOf(merchantId), sqlTime(now)],
  };
}

/** Ends an invitation: accepted by somebody, or taken back. One row when it could still be accepted. */
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
    values: [
      uuidOf(merchantId),
      uuidOf(invitationId),
      acceptedBy === undefined ? null : uuidOf(acceptedBy),
      sqlTime(now),
    ],
  };
}

export function invitationOfRow(row: Row): Invitation {
  return {
    merchantId: idOf("merchant", row.merchant_id as string),
    invitationId: idOf("invitation", row.invitation_id as string),
    role: row.role as MemberRole,
    email: (row.email as string | null) ?? undefined,
    expiresAt: row.expires_at as Micros,
  };
}

export interface PeopleAuditEntry {
  at: Micros;
  action: string;
  personId: string | undefined;
  merchantId: string | undefined;
  address: string | undefined;
  details: Readonly<Record<string, unknown>> | undefined;
}

export function insertPeopleAudit(auditId: string, entry: PeopleAuditEntry): Statement {
  return {
    name: "insert people audit",
    text: `insert into people_audit (audit_id, at, action, person_id, merchant_id, address, details)
values ($1::uuid, $2::timestamptz, $3::text, $4::uuid, $5::uuid, $6::text, $7::json)`,
    values: [
      uuidOf(auditId),
      sqlTime(entry.at),
      entry.action,
      entry.personId === undefined ? null : uuidOf(entry.personId),
      entry.merchantId === undefined ? null : uuidOf(entry.merchantId),
      entry.address ?? null,
      entry.details === undefined ? null : JSON.stringify(entry.details),
    ],
  };
}
