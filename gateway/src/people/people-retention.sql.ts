// All SQL that deletes this room's expired rows: sessions, sign-in links, passkey challenges, failed sign-ins and device codes.
import { type Micros, sqlTime } from "../ground/clock.ts";
import type { Statement } from "../store/database.ts";
import { STEP } from "../store/retention.ts";

/** The earlier of the service's and the database's clock. */
const now = "least($1::timestamptz, statement_timestamp())";

/** Deletions by what they forget. */
const deletions = {
  // Ended or not: a session lasts 7 days.
  sessions: `delete from sessions
where token_digest in (
  select token_digest from sessions where created_at < ${now} - interval '8 days' order by created_at limit ${STEP}
)`,
  "sign-in links": `delete from sign_in_links
where token_digest in (
  select token_digest from sign_in_links where expires_at < ${now} - interval '1 day' order by expires_at limit ${STEP}
)`,
  "passkey challenges": `delete from passkey_challenges
where slot in (select slot from passkey_challenges where expires_at <= ${now} limit ${STEP})`,
  "sign-in failures": `delete from sign_in_failures
where (name, window_start) in (
  select name, window_start from sign_in_failures where window_start < extract(epoch from ${now} - interval '30 minutes') limit ${STEP}
)`,
  // Attempts at accounts that nobody has. What a person or a merchant is named in stays.
  "sign-ins of nobody": `delete from people_audit
where audit_id in (
  select audit_id
  from people_audit
  where person_id is null and merchant_id is null and at < ${now} - interval '30 days'
  order by at
  limit ${STEP}
)`,
  "device codes": `delete from device_codes
where device_digest in (
  select device_digest from device_codes where expires_at < ${now} - interval '1 hour' order by expires_at limit ${STEP}
)`,
};

/** The statements that delete rows which have expired both at `realNow` and by the database's clock. */
export function peopleExpiredAt(realNow: Micros): Statement[] {
  return Object.entries(deletions).map(([what, deletion]) => ({
    name: `forget ${what}`,
    text: `${deletion}\nreturning 1`,
    values: [sqlTime(realNow)],
  }));
}
