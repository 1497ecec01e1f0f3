// What this room forgets: sessions and links that are over, open challenges, and failures of the past.
import { type Micros, SECOND } from "../ground/clock.ts";
import type { Statement } from "../store/database.ts";
import { deleteOldChallenges } from "./passkeys.sql.ts";
import { deleteOldSessions } from "./sessions.sql.ts";
import { deleteOldLinks } from "./sign-in-links.sql.ts";
import { deleteOldFailures } from "./sign-in-throttle.sql.ts";

const DAY: Micros = 24 * 3600 * SECOND;
/** A session lasts seven days at most. */
const SESSION_KEPT = 8 * DAY;
/** Two windows of the throttle. */
const FAILURES_KEPT_SECONDS = 1_800;

/** The statements that delete what has expired at `realNow`. */
export function peopleExpiredAt(realNow: Micros): Statement[] {
  return [
    deleteOldSessions(realNow - SESSION_KEPT),
    deleteOldLinks(realNow - DAY),
    deleteOldChallenges(realNow),
    deleteOldFailures(Math.floor(realNow / SECOND) - FAILURES_KEPT_SECONDS),
  ];
}
