// The measures of a process, and the computation of one sample from two readings of its meters. Pure.

/** How a measure adds up. Counts are summed. Levels: the maximum over time, the sum over processes. Peaks: the maximum over both. */
export type Fold = "count" | "level" | "peak";

/** All measures by their column in `telemetry_samples`. */
export const measures = {
  /** Answered requests, without health probes and streams. */
  requests: "count",
  /** Requests answered with a 4xx, which the caller caused. */
  requests_rejected: "count",
  /** Requests answered with a 5xx, which the service caused. */
  requests_failed: "count",
  /** Duration of requests to the merchants' API. */
  request_p95_ms: "peak",
  /** Creations of payments answered with 201. */
  payments: "count",
  lane_commands: "count",
  lane_batches: "count",
  /** Batches rolled back or with an unknown outcome. */
  lane_batches_failed: "count",
  lane_queue: "level",
  commit_p95_ms: "peak",
  /** Attempts to deliver events to webhook receivers. */
  attempts: "count",
  attempts_failed: "count",
  /** Time from an event to its first delivery attempt. */
  delivery_lag_p95_ms: "peak",
  /** Age of the oldest due delivery. */
  delivery_oldest_seconds: "peak",
  acquirer_calls: "count",
  /** Calls that the acquirer refused, or with an unknown outcome. */
  acquirer_calls_failed: "count",
  acquirer_in_flight: "level",
  /** 99th percentile of the event loop's delay. */
  loop_lag_ms: "peak",
  /** Absolute difference from the database's clock. */
  clock_skew_ms: "peak",
  connections_busy: "level",
  /** Callers that wait for a database connection. */
  connections_waiting: "level",
  memory_mib: "level",
  /** CPU time of the process. */
  cpu_ms: "count",
  roll_up_age_seconds: "peak",
} as const satisfies Record<string, Fold>;
export type Measure = keyof typeof measures;
export type Measured = Record<Measure, number>;

/** An acquirer with one payment method. They are measured in pairs, because an acquirer may fail with one method only. */
interface AcquirerMethod {
  gateway_code: string;
  method: string;
}

/** Calls to an acquirer with one method in a span. */
export interface AcquirerSample extends AcquirerMethod {
  calls: number;
  refused: number;
  unknown: number;
  /** Sum of the durations of all calls. */
  call_ms: number;
  is_open: boolean;
}

/** Cumulative histogram: the number of observations up to each upper bound. */
export type Buckets = ReadonlyMap<number, number>;

/** The meters of a process at one moment. Counts run from the start of the process. */
export interface Reading {
  /** Time of the clock that defines the spans. */
  takenAtMs: number;
  counts: { [Name in Measure as (typeof measures)[Name] extends "count" ? Name : never]: number };
  levels: { [Name in Measure as (typeof measures)[Name] extends "level" ? Name : never]: number };
  peaks: Pick<Measured, "delivery_oldest_seconds" | "loop_lag_ms" | "clock_skew_ms" | "roll_up_age_seconds">;
  seconds: { request_p95_ms: Buckets; commit_p95_ms: Buckets; delivery_lag_p95_ms: Buckets };
  /** Keys are those of `nameOfMethod`. */
  acquirers: ReadonlyMap<string, Omit<AcquirerSample, "is_open">>;
}

interface Sample {
  measuredMs: number;
  measured: Measured;
  acquirers: AcquirerSample[];
}

const noCalls = { calls: 0, refused: 0, unknown: 0, call_ms: 0 };

export const nameOfMethod = ({ gateway_code, method }: AcquirerMethod): string => `${gateway_code}/${method}`;

/** The sample between two readings of one process. `open`: acquirers and methods whose circuit is not closed. */
export function sampleOf(before: Reading, after: Reading, open: readonly AcquirerMethod[]): Sample {
  const counts = Object.fromEntries(
    Object.entries(after.counts).map(([name, count]) => [
      name,
      Math.round(count - before.counts[name as keyof Reading["counts"]]),
    ]),
  ) as Reading["counts"];
  const p95 = (name: keyof Reading["seconds"]): number =>
    quantile(difference(before.seconds[name], after.seconds[name]), 0.95) * 1_000;
  const openNames = new Set(open.map(nameOfMethod));
  const called = [...after.acquirers.values(), ...open].map(({ gateway_code, method }) => ({ gateway_code, method }));
  const acquirers = [...new Map(called.map((one) => [nameOfMethod(one), one]))].map(([name, one]) => {
    const [was, is] = [before.acquirers.get(name) ?? noCalls, after.acquirers.get(name) ?? noCalls];
    return {
      ...one,
      calls: is.calls - was.calls,
      refused: is.refused - was.refused,
      unknown: is.unknown - was.unknown,
      call_ms: Math.round(is.call_ms - was.call_ms),
      is_open: openNames.has(name),
    };
  });
  return {
    measuredMs: Math.max(1, Math.round(after.takenAtMs - before.takenAtMs)),
    measured: {
      ...counts,
      ...after.levels,
      ...after.peaks,
      request_p95_ms: p95("request_p95_ms"),
      commit_p95_ms: p95("commit_p95_ms"),
      delivery_lag_p95_ms: p95("delivery_lag_p95_ms"),
    },
    acquirers: acquirers.filter(({ calls, is_open }) => calls > 0 || is_open),
  };
}

function difference(before: Buckets, after: Buckets): Buckets {
  return new Map([...after].map(([bound, count]) => [bound, count - (before.get(bound) ?? 0)]));
}

/** The quantile `part` (0 to 1) of a histogram, interpolated linearly within a bucket. 0 without observations. */
export function quantile(buckets: Buckets, part: number): number {
  const sorted = [...buckets].toSorted(([one], [other]) => one - other);
  const all = sorted.at(-1)?.[1] ?? 0;
  if (all === 0) return 0;
  let [lower, below] = [0, 0];
  for (const [bound, count] of sorted) {
    if (count >= part * all) {
      // The last bucket has no upper bound to interpolate to.
      if (bound === Infinity || count === below) return lower;
      return lower + ((bound - lower) * (part * all - below)) / (count - below);
    }
    [lower, below] = [bound, count];
  }
  return lower;
}
