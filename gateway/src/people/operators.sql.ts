// All SQL of persons who are operators, and of invitations to become one.
import { type Micros, sqlTime } from "../ground/clock.ts";
import { idOf, uuidOf, uuidOrNull } from "../ground/ids.ts";
import { type Row, type Statement, optional } from "../store/database.ts";
import type { InvitationLock } from "./invitations.sql.ts";
import type { OperatorRole } from "./operator-roles.ts";
import type { Member } from "./people.sql.ts";

/** Highest number of operators and open invitations together. */
export const OPERATORS_MAX = 200;

export interface OperatorPerson extends Omit<Member, "role"> {
  role: OperatorRole;
  /** Who added the operator: a token's name, an operator's e-mail address, or `command-line`. */
  by: string;
}

export interface OperatorInvitation {
  invitationId: string;
  role: OperatorRole;
  email: string | undefined;
  by: string;
  expiresAt: Micros;
}

/** Makes a person an operator. One row unless the person is one already. */
export function insertOperator(operator: { personId: string; role: OperatorRole; by: string; now: Micros }): Statement {
  return {
    text: `insert into operators (person_id, role, created_at, created_by)
values ($1::uuid, $2::text, $3::timestamptz, $4::text)
on conflict (person_id) do nothing
returning 1`,
    values: [uuidOf(operator.personId), operator.role, sqlTime(operator.now), operator.by],
  };
}

const columns = `select o.*, p.email, p.name,
  p.totp_confirmed_at is not null or exists (select from passkeys k where k.person_id = p.person_id) as has_second_factor
from operators o
join persons p using (person_id)`;

/** All operators, those added first at the top. */
export const selectOperators: Statement = {
  text: `${columns}\nwhere p.closed_at is null\norder by o.created_at, o.person_id`,
};

export function selectOperator(personId: string): Statement {
  return {
    name: "select operator",
    text: `${columns}\nwhere o.person_id = $1::uuid and p.closed_at is null`,
    values: [uuidOf(personId)],
  };
}

/** Changes an operator's role. One row when the operator exists. */
export function updateOperatorRole(personId: string, role: OperatorRole): Statement {
  return {
    text: "update operators set role = $2::text where person_id = $1::uuid returning 1",
    values: [uuidOf(personId), role],
  };
}

/** Removes an operator. One row when the operator existed. */
export function deleteOperator(personId: string): Statement {
  return { text: "delete from operators where person_id = $1::uuid returning 1", values: [uuidOf(personId)] };
}

export function endConsoleSessions(personId: string, now: Micros): Statement {
  return {
    text: "update sessions set ended_at = $2::timestamptz where person_id = $1::uuid and surface = 'console' and ended_at is null",
    values: [uuidOf(personId), sqlTime(now)],
  };
}

/** Waits for other invitations, until the transaction ends: several at once would not count each other. */
export const takeOperatorInvitationTurn: Statement = {
  text: "select pg_advisory_xact_lock(hashtext('gerbang operator invitations'))",
};

/** Adds an invitation, after `takeOperatorInvitationTurn`. One row, or none when operators and open invitations together reach OPERATORS_MAX. */
export function insertOperatorInvitation(
  invitation: OperatorInvitation & { tokenDigest: Buffer; now: Micros },
): Statement {
  const { invitationId, tokenDigest, role, email, by, now, expiresAt } = invitation;
  return {
    text: `insert into operator_invitations (invitation_id, token_digest, role, email, invited_by, created_at, expires_at)
select $1::uuid, $2::bytea, $3::text, $4::text, $5::text, $6::timestamptz, $7::timestamptz
where (select count(*) from operators)
  + (select count(*) from operator_invitations where ended_at is null and expires_at > $6::timestamptz) < ${OPERATORS_MAX}
returning 1`,
    values: [uuidOf(invitationId), tokenDigest, role, email ?? null, by, sqlTime(now), sqlTime(expiresAt)],
  };
}

/**
 * Open: not accepted, revoked or expired, and made from the machine or by somebody who may still invite, so that an admin who was removed cannot return
 * by their own link. `now` is the place of the time.
 */
const isOpen = (now: string): string => `i.ended_at is null and i.expires_at > ${now}::timestamptz and (
    i.invited_by in ('environment', 'command-line')
    or exists (
      select
      from operators o
      join persons p using (person_id)
      where p.email = i.invited_by and o.role = 'admin' and p.closed_at is null
    )
    or exists (
      select
      from operator_tokens t
      where t.name = i.invited_by and t.role = 'admin' and t.revoked_at is null
        and (t.expires_at is null or t.expires_at > ${now}::timestamptz)
    )
  )`;

/** The open invitation of a token; with `lock` locked until the transaction ends, so that it is accepted only once. */
export function selectOperatorInvitation(tokenDigest: Buffer, now: Micros, lock: InvitationLock = ""): Statement {
  return {
    text: `select i.*
from operator_invitations i
where i.token_digest = $1::bytea and ${isOpen("$2")}
${lock}`,
    values: [tokenDigest, sqlTime(now)],
  };
}

/** Open invitations, newest first. */
export function selectOperatorInvitations(now: Micros): Statement {
  return {
    text: `select i.*
from operator_invitations i
where ${isOpen("$1")}
order by i.invitation_id desc`,
    values: [sqlTime(now)],
  };
}

/** Ends an invitation as accepted by `acceptedBy`, or as revoked when that is undefined. One row when it had not ended before. */
export function endOperatorInvitation(invitationId: string, acceptedBy: string | undefined, now: Micros): Statement {
  return {
    text: `update operator_invitations
set ended_at = $3::timestamptz, accepted_by = $2::uuid
where invitation_id = $1::uuid and ended_at is null
returning 1`,
    values: [uuidOf(invitationId), uuidOrNull(acceptedBy), sqlTime(now)],
  };
}

export function operatorOfRow(row: Row): OperatorPerson {
  return {
    personId: idOf("person", row.person_id as string),
    email: row.email as string,
    name: row.name as string,
    role: row.role as OperatorRole,
    since: row.created_at as Micros,
    by: row.created_by as string,
    hasSecondFactor: row.has_second_factor as boolean,
  };
}

export function operatorInvitationOfRow(row: Row): OperatorInvitation {
  return {
    invitationId: idOf("invitation", row.invitation_id as string),
    role: row.role as OperatorRole,
    email: optional<string>(row.email),
    by: row.invited_by as string,
    expiresAt: row.expires_at as Micros,
  };
}
