// All SQL that deletes this room's expired rows: sessions, sign-in links, passkey challenges, failed sign-ins and device codes.
import { type Micros, sqlTime } from "../ground/clock.ts";
import type { Statement } from "../store/database.ts";
import { STEP, deleteOldest } from "../store/retention.ts";

const HOUR = 3_600;
const DAY = 24 * HOUR;

const deleteFailures = `delete from sign_in_failures
where (name, window_start) in (
  select name, window_start
  from sign_in_failures
  where window_start < extract(epoch from least($1::timestamptz, statement_timestamp()) - interval '30 minutes')
  limit ${STEP}
)
returning 1`;

/** The statements that delete rows which have expired both at `realNow` and by the database's clock. */
export function peopleExpiredAt(realNow: Micros): Statement[] {
  // What a person or a merchant is named in stays.
  const ofNobody = "person_id is null and merchant_id is null";
  return [
    // Ended or not: a session lasts 7 days.
    deleteOldest("sessions", { column: "created_at", keptSeconds: 8 * DAY }, realNow),
    deleteOldest("sign_in_links", { column: "expires_at", keptSeconds: DAY }, realNow),
    deleteOldest("passkey_challenges", { column: "expires_at", keptSeconds: 0 }, realNow),
    { name: "forget sign-in failures", text: deleteFailures, values: [sqlTime(realNow)] },
    // Attempts at accounts that nobody has.
    deleteOldest("people_audit", { column: "at", keptSeconds: 30 * DAY, which: ofNobody }, realNow),
    deleteOldest("device_codes", { column: "expires_at", keptSeconds: HOUR }, realNow),
  ];
}
