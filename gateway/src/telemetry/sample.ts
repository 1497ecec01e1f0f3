// What a process measures of itself, and how two readings of its meters become one sample. Pure.

/**
 * How a measure is folded. A count is added up, over time and over processes. A level is the highest over time and added up over processes; a
 * peak is the highest over both.
 */
export type Fold = "count" | "level" | "peak";

/** By column. */
export const measures = {
  /** Answered, but for probes. */
  requests: "count",
  /** Of these by a 4xx: the caller's doing. */
  requests_rejected: "count",
  /** Of these by a 5xx: ours. */
  requests_failed: "count",
  /** Of the merchants' API. */
  request_p95_ms: "peak",
  /** Creations that were answered with a payment. */
  payments: "count",
  lane_commands: "count",
  lane_batches: "count",
  /** Rolled back, or of unknown outcome. */
  lane_batches_failed: "count",
  lane_queue: "level",
  commit_p95_ms: "peak",
  /** Of deliveries. */
  attempts: "count",
  attempts_failed: "count",
  /** From the event to its first attempt. */
  delivery_lag_p95_ms: "peak",
  /** Age of the oldest delivery that is due. */
  delivery_oldest_seconds: "peak",
  acquirer_calls: "count",
  /** Refused, or of unknown outcome. */
  acquirer_calls_failed: "count",
  acquirer_in_flight: "level",
  /** The 99th percentile. */
  loop_lag_ms: "peak",
  /** From the database's clock, either way. */
  clock_skew_ms: "peak",
  connections_busy: "level",
  /** For a connection. */
  connections_waiting: "level",
  memory_mib: "level",
  /** Of one processor's time. */
  cpu_ms: "count",
  roll_up_age_seconds: "peak",
} as const satisfies Record<string, Fold>;
export type Measure = keyof typeof measures;
export type Measured = Record<Measure, number>;

/** An acquirer with a method: it may be well with one and not with another. */
export interface AcquirerMethod {
  gateway_code: string;
  method: string;
}

/** What was measured of an acquirer with a method in a span. */
export interface AcquirerSample extends AcquirerMethod {
  calls: number;
  refused: number;
  unknown: number;
  /** Of all calls together. */
  call_ms: number;
  is_open: boolean;
}

/** Observations by the upper bound of their bucket, each with all that are below it. */
export type Buckets = ReadonlyMap<number, number>;

/** What the meters of a process say at one moment. Counts are since its start. */
export interface Reading {
  /** By the clock that spans are told by. */
  takenAtMs: number;
  counts: { [Name in Measure as (typeof measures)[Name] extends "count" ? Name : never]: number };
  levels: { [Name in Measure as (typeof measures)[Name] extends "level" ? Name : never]: number };
  peaks: Pick<Measured, "delivery_oldest_seconds" | "loop_lag_ms" | "clock_skew_ms" | "roll_up_age_seconds">;
  seconds: { request_p95_ms: Buckets; commit_p95_ms: Buckets; delivery_lag_p95_ms: Buckets };
  /** By `nameOfMethod`. */
  acquirers: ReadonlyMap<string, Omit<AcquirerSample, "is_open">>;
}

export interface Sample {
  measuredMs: number;
  measured: Measured;
  acquirers: AcquirerSample[];
}

const noCalls = { calls: 0, refused: 0, unknown: 0, call_ms: 0 };

export const nameOfMethod = ({ gateway_code, method }: AcquirerMethod): string => `${gateway_code}/${method}`;

/** What happened between two readings of one process. `open`: of which the circuit is open. */
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

/** Below which such a part of the observations lies, as far as buckets tell: evenly spread within one. 0 where there are none. */
export function quantile(buckets: Buckets, part: number): number {
  const sorted = [...buckets].toSorted(([one], [other]) => one - other);
  const all = sorted.at(-1)?.[1] ?? 0;
  if (all === 0) return 0;
  let [lower, below] = [0, 0];
  for (const [bound, count] of sorted) {
    if (count >= part * all) {
      // Beyond the last bound nothing is known but that it is beyond it.
      if (bound === Infinity || count === below) return lower;
      return lower + ((bound - lower) * (part * all - below)) / (count - below);
    }
    [lower, below] = [bound, count];
  }
  return lower;
}
