// The list of the rooms' statements that delete expired rows.
import { type Micros, SECOND } from "./ground/clock.ts";
import { expiredRateWindows } from "./auth/admission.sql.ts";
import { expiredKeys } from "./idempotency/idempotency.sql.ts";
import { expiredStrays } from "./acquiring/strays.sql.ts";
import { expiredMessages } from "./acquiring/messages.sql.ts";
import { forgottenFiles, forgottenPieces } from "./disputes/evidence.sql.ts";
import { peopleExpiredAt } from "./people/people-retention.sql.ts";
import { expiredTotals } from "./insights/totals.sql.ts";
import { expiredRefusals } from "./operator/refusals.sql.ts";
import { expiredDiagnoses } from "./diagnostics/rejected-requests.sql.ts";
import { expiredGaps, expiredRequests } from "./requests/request-log.sql.ts";
import { expiredMeasurements } from "./status/status.sql.ts";
import { expiredTelemetry } from "./telemetry/telemetry.sql.ts";
import type { Statement } from "./store/database.ts";

/** The statements that delete what has expired at `realNow`, each in steps of `STEP` rows. */
export function expiredAt(realNow: Micros): Statement[] {
  const unixSeconds = Math.floor(realNow / SECOND);
  return [
    expiredRateWindows(unixSeconds),
    expiredKeys(realNow),
    expiredDiagnoses(realNow),
    forgottenPieces(),
    forgottenFiles(),
    expiredRequests(realNow),
    expiredGaps(realNow),
    expiredRefusals(realNow),
    expiredMessages(realNow),
    ...expiredStrays(realNow),
    ...expiredMeasurements(realNow),
    ...expiredTotals(realNow),
    ...expiredTelemetry(realNow),
    ...peopleExpiredAt(realNow),
  ];
}
