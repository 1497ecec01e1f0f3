// All SQL of passkeys and of the challenges that devices sign.
import { type Micros, sqlTime } from "../ground/clock.ts";
import { idOf, uuidOf, uuidOrNull } from "../ground/ids.ts";
import { type Row, type Statement, optional } from "../store/database.ts";

export const PASSKEYS_MAX = 10;
/** Highest number of open challenges, over all processes. */
export const CHALLENGE_SLOTS = 262_144;

export type ChallengePurpose = "registration" | "sign_in" | "proof";

export interface Passkey {
  passkeyId: string;
  personId: string;
  /** The device's own name of the credential. */
  credentialId: Buffer;
  publicKey: Buffer;
  counter: number;
  transports: string[];
  backedUp: boolean;
  name: string;
  createdAt: Micros;
  usedAt: Micros | undefined;
}

/** Opens a challenge in a slot, and replaces the challenge that was there. */
export function putChallenge(
  slot: number,
  challenge: Buffer,
  { purpose, personId, expiresAt }: { purpose: ChallengePurpose; personId: string | undefined; expiresAt: Micros },
): Statement {
  return {
    text: `insert into passkey_challenges (slot, challenge, purpose, person_id, expires_at)
values ($1::integer, $2::bytea, $3::text, $4::uuid, $5::timestamptz)
on conflict (slot) do update
set challenge = excluded.challenge, purpose = excluded.purpose, person_id = excluded.person_id, expires_at = excluded.expires_at`,
    values: [slot, challenge, purpose, uuidOrNull(personId), sqlTime(expiresAt)],
  };
}

/** Consumes a challenge. One row when it was open for this purpose and person. */
export function takeChallenge(
  challenge: Buffer,
  purpose: ChallengePurpose,
  personId: string | undefined,
  now: Micros,
): Statement {
  return {
    text: `delete from passkey_challenges
where challenge = $1::bytea and purpose = $2::text and person_id is not distinct from $3::uuid and expires_at > $4::timestamptz
returning 1`,
    values: [challenge, purpose, uuidOrNull(personId), sqlTime(now)],
  };
}

/** Passkeys of a person, the oldest first. */
export function selectPasskeys(personId: string): Statement {
  return {
    text: "select * from passkeys where person_id = $1::uuid order by passkey_id",
    values: [uuidOf(personId)],
  };
}

export function selectPasskey(credentialId: Buffer): Statement {
  return { text: "select * from passkeys where credential_id = $1::bytea", values: [credentialId] };
}

/** Adds a passkey in the person's first free slot. One row when a slot was free, and the passkey is new to the service. */
export function insertPasskey(passkey: Omit<Passkey, "usedAt">): Statement {
  return {
    text: `insert into passkeys (credential_id, passkey_id, person_id, slot, public_key, counter, transports, backed_up, name, created_at)
select $1::bytea, $2::uuid, $3::uuid, free, $4::bytea, $5::bigint, $6::text[], $7::boolean, $8::text, $9::timestamptz
from generate_series(1, ${PASSKEYS_MAX}) as free
where not exists (select from passkeys k where k.person_id = $3::uuid and k.slot = free)
order by free
limit 1
on conflict (credential_id) do nothing
returning 1`,
    values: [
      passkey.credentialId,
      uuidOf(passkey.passkeyId),
      uuidOf(passkey.personId),
      passkey.publicKey,
      passkey.counter,
      passkey.transports,
      passkey.backedUp,
      passkey.name,
      sqlTime(passkey.createdAt),
    ],
  };
}

/** Records a signature. One row when its counter is higher than the last one, or both are 0 because the device does not count. */
export function usePasskey(
  credentialId: Buffer,
  { counter, backedUp, now }: { counter: number; backedUp: boolean; now: Micros },
): Statement {
  return {
    text: `update passkeys
set counter = $2::bigint, backed_up = $3::boolean, used_at = $4::timestamptz
where credential_id = $1::bytea and (counter < $2::bigint or (counter = 0 and $2::bigint = 0))
returning 1`,
    values: [credentialId, counter, backedUp, sqlTime(now)],
  };
}

/** Removes a passkey. One row when the person had it. */
export function deletePasskey(personId: string, passkeyId: string): Statement {
  return {
    text: "delete from passkeys where person_id = $1::uuid and passkey_id = $2::uuid returning 1",
    values: [uuidOf(personId), uuidOf(passkeyId)],
  };
}

export function deletePasskeys(personId: string): Statement {
  return { text: "delete from passkeys where person_id = $1::uuid", values: [uuidOf(personId)] };
}

export function passkeyOfRow(row: Row): Passkey {
  return {
    passkeyId: idOf("passkey", row.passkey_id as string),
    personId: idOf("person", row.person_id as string),
    credentialId: row.credential_id as Buffer,
    publicKey: row.public_key as Buffer,
    counter: Number(row.counter),
    transports: row.transports as string[],
    backedUp: row.backed_up as boolean,
    name: row.name as string,
    createdAt: row.created_at as Micros,
    usedAt: optional<Micros>(row.used_at),
  };
}
