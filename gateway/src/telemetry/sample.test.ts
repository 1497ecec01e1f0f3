// Goal: what two readings of a process come to, and how spans fold, is what happened: nothing twice, nothing lost. Method: tables, and properties.
import fc from "fast-check";
import { expect, test } from "vitest";
import { type Reading, nameOfMethod, quantile, sampleOf } from "./sample.ts";

const reading = (changes: Partial<Reading> = {}): Reading => ({
  takenAtMs: 0,
  counts: {
    requests: 0,
    requests_rejected: 0,
    requests_failed: 0,
    payments: 0,
    lane_commands: 0,
    lane_batches: 0,
    lane_batches_failed: 0,
    attempts: 0,
    attempts_failed: 0,
    acquirer_calls: 0,
    acquirer_calls_failed: 0,
    cpu_ms: 0,
  },
  levels: { lane_queue: 0, acquirer_in_flight: 0, connections_busy: 0, connections_waiting: 0, memory_mib: 0 },
  peaks: { delivery_oldest_seconds: 0, clock_skew_ms: 0, loop_lag_ms: 0, roll_up_age_seconds: 0 },
  seconds: { request_p95_ms: new Map(), commit_p95_ms: new Map(), delivery_lag_p95_ms: new Map() },
  acquirers: new Map(),
  ...changes,
});

test.each<[what: string, buckets: [number, number][], part: number, expected: number]>([
  ["nothing observed", [], 0.95, 0],
  [
    "empty buckets",
    [
      [1, 0],
      [Infinity, 0],
    ],
    0.95,
    0,
  ],
  [
    "half of one bucket",
    [
      [1, 10],
      [Infinity, 10],
    ],
    0.5,
    0.5,
  ],
  [
    "the second of two",
    [
      [1, 5],
      [2, 10],
      [Infinity, 10],
    ],
    0.75,
    1.5,
  ],
  [
    "the border between them",
    [
      [1, 5],
      [2, 10],
      [Infinity, 10],
    ],
    0.5,
    1,
  ],
  [
    "beyond the last bound",
    [
      [1, 0],
      [2, 0],
      [Infinity, 4],
    ],
    0.95,
    2,
  ],
  [
    "out of order",
    [
      [Infinity, 10],
      [2, 10],
      [1, 5],
    ],
    0.75,
    1.5,
  ],
])("a quantile of %s", (_what, buckets, part, expected) => {
  expect(quantile(new Map(buckets), part)).toBeCloseTo(expected);
});

test("a quantile lies between the bounds, and grows with its part", () => {
  const histogram = fc.array(fc.nat(50), { minLength: 3, maxLength: 10 }).map((counts) => {
    let below = 0;
    return new Map(
      counts.map((count, at) => [at === counts.length - 1 ? Infinity : at + 1, (below += count)] as const),
    );
  });
  fc.assert(
    fc.property(histogram, fc.double({ min: 0.01, max: 0.98, noNaN: true }), (buckets, part) => {
      const [one, higher] = [quantile(buckets, part), quantile(buckets, part + 0.01)];
      expect(one).toBeGreaterThanOrEqual(0);
      expect(one).toBeLessThan(buckets.size);
      expect(higher).toBeGreaterThanOrEqual(one);
    }),
  );
});

test("counts are of the time between two readings, levels and peaks of the later one", () => {
  const before = reading({ takenAtMs: 1_000, counts: { ...reading().counts, requests: 100, payments: 40 } });
  const after = reading({
    takenAtMs: 6_000,
    counts: { ...reading().counts, requests: 150, payments: 41 },
    levels: { ...reading().levels, lane_queue: 7 },
    peaks: { ...reading().peaks, loop_lag_ms: 12 },
    seconds: {
      ...reading().seconds,
      request_p95_ms: new Map([
        [0.1, 0],
        [0.2, 50],
        [Infinity, 50],
      ]),
    },
  });
  const { measuredMs, measured } = sampleOf(before, after, []);
  expect(measuredMs).toBe(5_000);
  expect(measured).toMatchObject({ requests: 50, payments: 1, lane_queue: 7, loop_lag_ms: 12, attempts: 0 });
  expect(measured.request_p95_ms).toBeCloseTo(195);
});

test("an acquirer is told of when it was called or is left alone, and not otherwise", () => {
  const of = (gateway_code: string, method: string) => ({ gateway_code, method });
  const quiet = { ...of("quiet", "qris"), calls: 4, refused: 0, unknown: 4, call_ms: 10 };
  const busy = { ...of("busy", "va"), calls: 3, refused: 1, unknown: 2, call_ms: 30.4 };
  const called = (...all: (typeof quiet)[]) => new Map(all.map((one) => [nameOfMethod(one), one]));
  const before = reading({ acquirers: called(quiet) });
  const after = reading({ acquirers: called(quiet, busy) });
  const open = [of("left_alone", "qris"), of("busy", "card")];
  expect(sampleOf(before, after, open).acquirers).toEqual([
    { ...of("busy", "va"), calls: 3, refused: 1, unknown: 2, call_ms: 30, is_open: false },
    { ...of("left_alone", "qris"), calls: 0, refused: 0, unknown: 0, call_ms: 0, is_open: true },
    // Left alone for one method, and called for another.
    { ...of("busy", "card"), calls: 0, refused: 0, unknown: 0, call_ms: 0, is_open: true },
  ]);
});

test("samples one after the other add up to what the last reading counts from the first", () => {
  fc.assert(
    fc.property(fc.array(fc.nat(1_000), { minLength: 2, maxLength: 20 }), (steps) => {
      let total = 0;
      const readings = steps.map((step) =>
        reading({ counts: { ...reading().counts, requests: (total += step), lane_commands: total * 2 } }),
      );
      const samples = readings.slice(1).map((after, at) => sampleOf(readings[at] as Reading, after, []));
      const first = readings[0]?.counts.requests ?? 0;
      expect(samples.reduce((sum, { measured }) => sum + measured.requests, 0)).toBe(total - first);
    }),
  );
});
