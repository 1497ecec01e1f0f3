// All SQL of persons and of their memberships of merchants.
import { type Micros, sqlTime } from "../ground/clock.ts";
import { idOf, uuidOf } from "../ground/ids.ts";
import type { Language } from "../ground/languages.ts";
import { type Row, type Statement, optional } from "../store/database.ts";
import type { MemberRole } from "./roles.ts";

export interface Person {
  personId: string;
  email: string;
  name: string;
  passwordHash: string | undefined;
  totpSealed: Buffer | undefined;
  /** True once the person has confirmed the authenticator by a code. Sign-ins need a code from then on. */
  hasAuthenticator: boolean;
  totpUsedStep: number | undefined;
  passkeys: number;
  language: Language | undefined;
  timeZone: string | undefined;
  closed: boolean;
}

export interface Membership {
  merchantId: string;
  merchantName: string;
  role: MemberRole;
  /** The merchant's language, a default for a person who has chosen none. */
  language: Language | undefined;
  timeZone: string | undefined;
}

export interface Member {
  personId: string;
  email: string;
  name: string;
  role: MemberRole;
  /** True with an authenticator or a passkey. */
  hasSecondFactor: boolean;
  since: Micros;
}

export function insertPerson(
  person: Pick<Person, "personId" | "email" | "name" | "passwordHash"> & { now: Micros },
): Statement {
  return {
    text: `insert into persons (person_id, email, name, password_hash, created_at)
values ($1::uuid, $2::text, $3::text, $4::text, $5::timestamptz)
on conflict (email) do nothing
returning 1`,
    values: [uuidOf(person.personId), person.email, person.name, person.passwordHash ?? null, sqlTime(person.now)],
  };
}

const person = `select p.*, (select count(*)::integer from passkeys k where k.person_id = p.person_id) as passkeys
from persons p`;

export function selectPersonByEmail(email: string): Statement {
  return { name: "select person by email", text: `${person}\nwhere p.email = $1::text`, values: [email] };
}

export function selectPerson(personId: string): Statement {
  return { name: "select person", text: `${person}\nwhere p.person_id = $1::uuid`, values: [uuidOf(personId)] };
}

/**
 * Locks a person until the transaction ends, so that of two requests with one code only one succeeds. Read the person by `selectPerson` in the
 * next statement: a statement after the lock sees the changes of the transaction that held the lock before.
 */
export function lockPerson(personId: string): Statement {
  return { text: "select from persons where person_id = $1::uuid for no key update", values: [uuidOf(personId)] };
}

export function personOfRow(row: Row): Person {
  return {
    personId: idOf("person", row.person_id as string),
    email: row.email as string,
    name: row.name as string,
    passwordHash: optional<string>(row.password_hash),
    totpSealed: optional<Buffer>(row.totp_sealed),
    hasAuthenticator: row.totp_confirmed_at !== null,
    totpUsedStep: row.totp_used_step === null ? undefined : Number(row.totp_used_step),
    passkeys: row.passkeys as number,
    language: optional<Language>(row.language),
    timeZone: optional<string>(row.time_zone),
    closed: row.closed_at !== null,
  };
}

/** Replaces the password whose hash is `before`, undefined for none yet. One row, or none when that is not the password any more. */
export function updatePassword(personId: string, before: string | undefined, passwordHash: string): Statement {
  return {
    text: `update persons
set password_hash = $3::text
where person_id = $1::uuid and password_hash is not distinct from $2::text
returning 1`,
    values: [uuidOf(personId), before ?? null, passwordHash],
  };
}

export function removePassword(personId: string): Statement {
  return { text: "update persons set password_hash = null where person_id = $1::uuid", values: [uuidOf(personId)] };
}

/** Change of a profile: undefined leaves a field as it is, null empties it. */
export interface ProfileChange {
  name?: string | undefined;
  language?: Language | null | undefined;
  time_zone?: string | null | undefined;
}

export function updateProfile(personId: string, { name, language, time_zone: timeZone }: ProfileChange): Statement {
  return {
    text: `update persons
set name = coalesce($2::text, name),
  language = case when $3::boolean then $4::text else language end,
  time_zone = case when $5::boolean then $6::text else time_zone end
where person_id = $1::uuid`,
    values: [
      uuidOf(personId),
      name ?? null,
      language !== undefined,
      language ?? null,
      timeZone !== undefined,
      timeZone ?? null,
    ],
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

/** Changes a member's role. One row when the member exists. */
export function updateRole(merchantId: string, personId: string, role: MemberRole): Statement {
  return {
    text: `update memberships
set role = $3::text
where merchant_id = $1::uuid and person_id = $2::uuid
returning 1`,
    values: [uuidOf(merchantId), uuidOf(personId), role],
  };
}

/** Removes a member. One row when the member existed. */
export function deleteMembership(merchantId: string, personId: string): Statement {
  return {
    text: "delete from memberships where merchant_id = $1::uuid and person_id = $2::uuid returning 1",
    values: [uuidOf(merchantId), uuidOf(personId)],
  };
}

/** Memberships of a person, the oldest first. */
export function selectMemberships(personId: string): Statement {
  return {
    name: "select memberships of person",
    text: `select m.merchant_id, m.role, merchants.name, profile.language, profile.time_zone
from memberships m
join merchants using (merchant_id)
left join merchant_profiles profile using (merchant_id)
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
    language: optional<Language>(row.language),
    timeZone: optional<string>(row.time_zone),
  };
}

/** Members of a merchant, oldest membership first. */
export function selectMembers(merchantId: string): Statement {
  return {
    text: `select p.person_id, p.email, p.name, m.role, m.created_at,
  p.totp_confirmed_at is not null or exists (select from passkeys k where k.person_id = p.person_id) as has_second_factor
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
    hasSecondFactor: row.has_second_factor as boolean,
    since: row.created_at as Micros,
  };
}
