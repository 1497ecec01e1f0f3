// The deletion of this room's expired rows: sessions, sign-in links, passkey challenges, sign-in failures and device codes.
import type { Micros } from "../ground/clock.ts";
import type { Statement } from "../store/database.ts";
import { deleteOldDeviceCodes } from "./device-codes.sql.ts";
import { deleteOldChallenges } from "./passkeys.sql.ts";
import { deleteOldSessions } from "./sessions.sql.ts";
import { deleteOldLinks } from "./sign-in-links.sql.ts";
import { deleteOldFailures } from "./sign-in-throttle.sql.ts";

/** The statements that delete rows which have expired both at `realNow` and by the database's clock. */
export function peopleExpiredAt(realNow: Micros): Statement[] {
  return [
    deleteOldSessions(realNow),
    deleteOldLinks(realNow),
    deleteOldChallenges(realNow),
    deleteOldFailures(realNow),
    deleteOldDeviceCodes(realNow),
  ];
}
