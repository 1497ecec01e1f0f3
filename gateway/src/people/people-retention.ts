// What this room forgets: sessions and links that are over, open challenges, device codes, and failures of the past.
import type { Micros } from "../ground/clock.ts";
import type { Statement } from "../store/database.ts";
import { deleteOldDeviceCodes } from "./device-codes.sql.ts";
import { deleteOldChallenges } from "./passkeys.sql.ts";
import { deleteOldSessions } from "./sessions.sql.ts";
import { deleteOldLinks } from "./sign-in-links.sql.ts";
import { deleteOldFailures } from "./sign-in-throttle.sql.ts";

/** The statements that delete what has expired at `realNow`, and by the database's clock. */
export function peopleExpiredAt(realNow: Micros): Statement[] {
  return [
    deleteOldSessions(realNow),
    deleteOldLinks(realNow),
    deleteOldChallenges(realNow),
    deleteOldFailures(realNow),
    deleteOldDeviceCodes(realNow),
  ];
}
