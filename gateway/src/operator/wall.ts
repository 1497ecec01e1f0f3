// The figures of the wall over a period. Concurrent readers share one snapshot for a moment.
import { type Clock, type Micros, SECOND, stopwatchMs } from "../ground/clock.ts";
import { type TotalRow, type TotalsStep, selectCountedAt, selectTotals, spanStart } from "../insights/totals.sql.ts";
import type { Environment } from "../merchants/books.ts";
import type { Database } from "../store/database.ts";
import type { Lanes } from "../store/lanes.ts";
import type { SampleStep } from "../telemetry/telemetry.sql.ts";
import { type Vitals, readVitals } from "../telemetry/vitals.ts";
import { readWaiting } from "./waiting.routes.ts";

/** Spans of each period, and the lengths in seconds of the stored totals and samples from which they are summed. */
export const periods = {
  hour: { spans: 60, spanSeconds: 60, totals: 60, samples: 5 },
  day: { spans: 96, spanSeconds: 900, totals: 900, samples: 60 },
  week: { spans: 168, spanSeconds: 3_600, totals: 3_600, samples: 3_600 },
  month: { spans: 120, spanSeconds: 21_600, totals: 3_600, samples: 3_600 },
} as const satisfies Record<string, { spans: number; spanSeconds: number; totals: TotalsStep; samples: SampleStep }>;
export type Period = keyof typeof periods;

const outcomes = ["asked", "succeeded", "failed", "rejected", "expired", "canceled"] as const;
type WallOutcome = (typeof outcomes)[number];
export const ofEachOutcome = <T>(make: (outcome: WallOutcome) => T) =>
  Object.fromEntries(outcomes.map((outcome) => [outcome, make(outcome)])) as Record<WallOutcome, T>;

export type WallCounts = Record<WallOutcome, number>;

/** Reasons why payments did not succeed, derived from their outcome. */
export const reasons = ["declined", "not_taken", "risk", "unpaid", "canceled"] as const;
type Reason = (typeof reasons)[number];

/** Undefined for the outcomes `asked` and `succeeded`. */
export function reasonOf(outcome: string, acquirer: string): Reason | undefined {
  if (outcome === "failed") return acquirer === "" ? "not_taken" : "declined";
  if (outcome === "rejected") return "risk";
  if (outcome === "expired") return "unpaid";
  return outcome === "canceled" ? "canceled" : undefined;
}

/** Payments of one method or acquirer: in total, and for each span those that succeeded and those that ended, without canceled ones. */
export interface WallGroup {
  key: string;
  total: WallCounts;
  succeeded: number[];
  ended: number[];
}

const countOf = (rows: readonly TotalRow[]): number => rows.reduce((sum, { payments }) => sum + Number(payments), 0);
const ofOutcome = (rows: readonly TotalRow[], outcome: WallOutcome): TotalRow[] =>
  rows.filter((row) => row.outcome === outcome);
const countsOf = (rows: readonly TotalRow[]): WallCounts =>
  ofEachOutcome((outcome) => countOf(ofOutcome(rows, outcome)));

/** Sums rows of totals. A row beyond the last span, written by a process whose clock is ahead, counts in the last span. */
export function paymentsOf(rows: readonly TotalRow[], spans: number) {
  const inSpans = <Sum>(some: readonly TotalRow[], sumOf: (rows: readonly TotalRow[]) => Sum): Sum[] => {
    const bySpan = Map.groupBy(some, ({ span }) => Math.max(0, Math.min(spans - 1, span)));
    return Array.from({ length: spans }, (_, at) => sumOf(bySpan.get(at) ?? []));
  };
  const largestFirst = (keyOf: (row: TotalRow) => string): WallGroup[] =>
    [...Map.groupBy(rows, keyOf)]
      .toSorted(([one, own], [other, its]) => countOf(its) - countOf(own) || (one < other ? -1 : 1))
      .map(([key, own]) => ({
        key,
        total: countsOf(own),
        succeeded: inSpans(ofOutcome(own, "succeeded"), countOf),
        ended: inSpans(
          own.filter(({ outcome }) => outcome !== "asked" && outcome !== "canceled"),
          countOf,
        ),
      }));
  const amountOf = (some: readonly TotalRow[]): bigint => some.reduce((sum, row) => sum + BigInt(row.amount_minor), 0n);
  return {
    total: countsOf(rows),
    points: ofEachOutcome((outcome) => inSpans(ofOutcome(rows, outcome), countOf)),
    byMethod: largestFirst(({ method }) => method),
    byAcquirer: largestFirst(({ acquirer }) => acquirer),
    byReason: new Map(
      [...Map.groupBy(rows, ({ outcome, acquirer }) => reasonOf(outcome, acquirer))].flatMap(([reason, own]) =>
        reason ? [[reason, countOf(own)] as const] : [],
      ),
    ),
    amounts: [...Map.groupBy(ofOutcome(rows, "succeeded"), ({ currency }) => currency)]
      // Amounts of two currencies cannot be compared: the one that most payments are in comes first.
      .toSorted(([one, own], [other, its]) => countOf(its) - countOf(own) || (one < other ? -1 : 1))
      .map(([currency, own]) => ({ currency, succeededMinor: amountOf(own), points: inSpans(own, amountOf) })),
  };
}

export interface WallPicture {
  asOf: Micros;
  begins: Micros[];
  countedAt: Micros | undefined;
  payments: ReturnType<typeof paymentsOf>;
  vitals: Vitals;
  waiting: Awaited<ReturnType<typeof readWaiting>>;
}

interface WallParts {
  database: Database;
  lanes: Lanes;
  clock: Clock;
}

/** A snapshot is shared for this time, so at most two a second are read per period and environment. */
const SHARED_MS = 500;

export class Wall {
  private readonly parts: WallParts;
  /** Keyed by period and environment. */
  private readonly shared = new Map<string, { takenAtMs: number; picture: Promise<WallPicture> }>();

  constructor(parts: WallParts) {
    this.parts = parts;
  }

  picture(period: Period, environment: Environment | undefined): Promise<WallPicture> {
    const key = `${period} ${environment ?? ""}`;
    const known = this.shared.get(key);
    if (known && stopwatchMs() - known.takenAtMs < SHARED_MS) return known.picture;
    const picture = this.take(period, environment);
    this.shared.set(key, { takenAtMs: stopwatchMs(), picture });
    // A failed read is not shared: the next reader reads again.
    picture.catch(() => this.shared.delete(key));
    return picture;
  }

  private async take(period: Period, environment: Environment | undefined): Promise<WallPicture> {
    const { database, clock } = this.parts;
    const { spans, spanSeconds, totals, samples } = periods[period];
    const asOf = clock.now();
    const begin = spanStart(asOf, spanSeconds) - (spans - 1) * spanSeconds * SECOND;
    const [rows, counted, vitals, waiting] = await Promise.all([
      database.query<TotalRow>(selectTotals({ environment, step: totals, begin, spanSeconds })),
      database.query<{ counted_at: Micros | null }>(selectCountedAt),
      readVitals(database, { step: samples, begin, spanSeconds, spans }),
      readWaiting(this.parts, environment),
    ]);
    return {
      asOf,
      begins: Array.from({ length: spans }, (_, at) => begin + at * spanSeconds * SECOND),
      countedAt: counted[0]?.counted_at ?? undefined,
      payments: paymentsOf(rows, spans),
      vitals,
      waiting,
    };
  }
}
