// All SQL of authenticators and recovery codes.
import { type Micros, sqlTime } from "../ground/clock.ts";
import { uuidOf } from "../ground/ids.ts";
import type { Statement } from "../store/database.ts";

/** Stores the sealed secret of an authenticator that is not confirmed yet. */
export function updateTotp(personId: string, sealed: Buffer): Statement {
  return {
    text: `update persons
set totp_sealed = $2::bytea, totp_confirmed_at = null, totp_used_step = null
where person_id = $1::uuid and totp_confirmed_at is null`,
    values: [uuidOf(personId), sealed],
  };
}

/** Records the step of an accepted code, so that no code of it is accepted again, and confirms the authenticator if it was not confirmed yet. */
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

/** Consumes a recovery code. One row when it was unused. */
export function useRecoveryCode(personId: string, digest: Buffer, now: Micros): Statement {
  return {
    text: `update recovery_codes
set used_at = $3::timestamptz
where person_id = $1::uuid and code_digest = $2::bytea and used_at is null
returning 1`,
    values: [uuidOf(personId), digest, sqlTime(now)],
  };
}

export function countRecoveryCodes(personId: string): Statement {
  return {
    text: "select count(*)::integer as left from recovery_codes where person_id = $1::uuid and used_at is null",
    values: [uuidOf(personId)],
  };
}
