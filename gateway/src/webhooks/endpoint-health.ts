// Computes the health of a book's registered address from its latest attempts. No I/O.
import type { ListedAttempt } from "../events/deliveries.sql.ts";
import type { Micros } from "../ground/clock.ts";

export const healthStates = ["untried", "healthy", "degraded", "failing"] as const;

export interface EndpointHealth {
  /** `failing`: the last five attempts failed, or all of fewer. `degraded`: some of the latest attempts failed. */
  state: (typeof healthStates)[number];
  attempts: number;
  accepted: number;
  medianMs: number | undefined;
  lastAcceptedAt: Micros | undefined;
  lastFailedAt: Micros | undefined;
  lastFailure: string | undefined;
}

const FAILING = 5;

/** Takes attempts newest first, and ignores attempts to another address than `url`. */
export function endpointHealth(latest: readonly ListedAttempt[], url: string | undefined): EndpointHealth {
  const attempts = latest.filter((attempt) => attempt.url === url);
  const accepted = attempts.filter(({ succeeded }) => succeeded);
  const failed = attempts.filter(({ succeeded }) => !succeeded);
  const durations = attempts.map(({ durationMs }) => durationMs).sort((a, b) => a - b);
  return {
    state: stateOf(attempts),
    attempts: attempts.length,
    accepted: accepted.length,
    medianMs: durations[Math.floor((durations.length - 1) / 2)],
    lastAcceptedAt: accepted[0]?.startedAt,
    lastFailedAt: failed[0]?.startedAt,
    lastFailure: failed[0]?.reason,
  };
}

function stateOf(attempts: readonly ListedAttempt[]): EndpointHealth["state"] {
  if (attempts.length === 0) return "untried";
  if (attempts.slice(0, FAILING).every(({ succeeded }) => !succeeded)) return "failing";
  return attempts.every(({ succeeded }) => succeeded) ? "healthy" : "degraded";
}
