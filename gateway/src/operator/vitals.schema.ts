// The JSON schemas of process metrics: the name and the description of each measure.
import { z } from "zod";
import type { Measure } from "../telemetry/sample.ts";

/** By JSON field: the measure and its description. Counts are per second. */
const wire = {
  requests_per_second: ["requests", "Requests answered, but for probes."],
  rejected_per_second: ["requests_rejected", "Of these with a 4xx: the caller's doing."],
  failed_per_second: ["requests_failed", "Of these with a 5xx: the service's doing."],
  request_p95_ms: ["request_p95_ms", "95 of 100 requests of merchants were answered sooner."],
  payments_per_second: ["payments", "Payments created."],
  commands_per_second: ["lane_commands", "Commands that lanes committed or refused."],
  batches_per_second: ["lane_batches", "Transactions of the lanes: commands divided by these is how many go together."],
  batches_failed_per_second: ["lane_batches_failed", "Of these rolled back, or of unknown outcome."],
  lane_queue: ["lane_queue", "Commands that wait in a lane."],
  commit_p95_ms: ["commit_p95_ms", "95 of 100 transactions of lanes were written sooner."],
  deliveries_per_second: ["attempts", "Attempts to deliver an event."],
  deliveries_failed_per_second: ["attempts_failed", "Of these that the receiver did not accept."],
  delivery_lag_p95_ms: ["delivery_lag_p95_ms", "95 of 100 events were first tried sooner after they happened."],
  delivery_oldest_seconds: ["delivery_oldest_seconds", "Age of the oldest delivery that is due."],
  acquirer_calls_per_second: ["acquirer_calls", "Calls to acquirers."],
  acquirer_calls_failed_per_second: ["acquirer_calls_failed", "Of these refused, or of unknown outcome."],
  acquirer_calls_in_flight: ["acquirer_in_flight", "Calls to acquirers without an answer yet."],
  loop_lag_ms: ["loop_lag_ms", "How late a process was for what it had to do: the 99th percentile."],
  clock_skew_ms: ["clock_skew_ms", "The furthest that a clock was from the database's, either way."],
  connections_busy: ["connections_busy", "Connections to PostgreSQL in use."],
  connections_waiting: ["connections_waiting", "Statements and batches that wait for a connection."],
  memory_mib: ["memory_mib", "Memory of all processes."],
  cpu_percent: ["cpu_ms", "Of one processor; above 100 more than one are used."],
  roll_up_age_seconds: ["roll_up_age_seconds", "Since figures of payments were counted last."],
} as const satisfies Record<string, readonly [Measure, string]>;
type WireMeasure = keyof typeof wire;

const each = <T>(make: (name: WireMeasure, measure: Measure, says: string) => T) =>
  Object.fromEntries(
    Object.entries(wire).map(([name, [measure, says]]) => [name, make(name as WireMeasure, measure, says)]),
  ) as Record<WireMeasure, T>;

export const measuredSchema = z
  .strictObject(
    each((_name, _measure, says) =>
      z
        .number()
        .min(0)
        .meta({ description: says, examples: [1.5] }),
    ),
  )
  .meta({ id: "Measured", examples: [each(() => 1.5)] });

export const measuredPointsSchema = z
  .strictObject(
    each((_name, _measure, says) =>
      z
        .array(z.number().min(0).nullable())
        .meta({ description: `${says} Null where nothing was measured.`, examples: [[1.5, null]] }),
    ),
  )
  .meta({ id: "MeasuredPoints", description: "A value for each span.", examples: [each(() => [1.5, null])] });

/** Milliseconds of CPU time in a second that make one percent. */
const PERCENT_OF_MS = 10;

function shown(name: WireMeasure, value: number): number {
  return Math.round((name === "cpu_percent" ? value / PERCENT_OF_MS : value) * 100) / 100;
}

/** The view of measures whose counts are per second. */
export function measuredView(measured: Record<Measure, number>): z.infer<typeof measuredSchema> {
  return each((name, measure) => shown(name, measured[measure]));
}

export function measuredPointsView(
  series: Record<Measure, (number | undefined)[]>,
): z.infer<typeof measuredPointsSchema> {
  return each((name, measure) => series[measure].map((value) => (value === undefined ? null : shown(name, value))));
}
