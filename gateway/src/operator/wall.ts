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

export const outcomes = ["asked", "succeeded", "failed", "rejected", "expired", "canceled"] as const;
export type WallOutcome = (typeof outcomes)[number];

/** Numbers of payments by outcome. */
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

interface WallAmounts {
  currency: string;
  succeededMinor: bigint;
  points: bigint[];
}

export interface WallPayments {
  total: WallCounts;
  points: Record<WallOutcome, number[]>;
  byMethod: WallGroup[];
  byAcquirer: WallGroup[];
  byReason: Map<Reason, number>;
  amounts: WallAmounts[];
}

const noCounts = (): WallCounts => ({ asked: 0, succeeded: 0, failed: 0, rejected: 0, expired: 0, canceled: 0 });
const zeros = (spans: number): number[] => Array.from({ length: spans }, () => 0);

/** Sums rows of totals. A row beyond the last span, written by a process whose clock is ahead, counts in the last span. */
export function paymentsOf(rows: readonly TotalRow[], spans: number): WallPayments {
  const total = noCounts();
  const points = Object.fromEntries(outcomes.map((outcome) => [outcome, zeros(spans)])) as WallPayments["points"];
  const [byMethod, byAcquirer] = [new Map<string, WallGroup>(), new Map<string, WallGroup>()];
  const byReason = new Map<Reason, number>();
  const amounts = new Map<string, WallAmounts>();
  for (const row of rows) {
    const { acquirer, currency, method } = row;
    const outcome = row.outcome as WallOutcome;
    const at = Math.max(0, Math.min(spans - 1, row.span));
    const payments = Number(row.payments);
    total[outcome] += payments;
    add(points[outcome], at, payments);
    for (const [groups, key] of [
      [byMethod, method],
      [byAcquirer, acquirer],
    ] as const) {
      const group = groups.get(key) ?? { key, total: noCounts(), succeeded: zeros(spans), ended: zeros(spans) };
      groups.set(key, group);
      group.total[outcome] += payments;
      if (outcome === "succeeded") add(group.succeeded, at, payments);
      if (outcome !== "asked" && outcome !== "canceled") add(group.ended, at, payments);
    }
    const reason = reasonOf(outcome, acquirer);
    if (reason !== undefined) byReason.set(reason, (byReason.get(reason) ?? 0) + payments);
    if (outcome === "succeeded") {
      const own = amounts.get(currency) ?? {
        currency,
        succeededMinor: 0n,
        points: Array.from({ length: spans }, () => 0n),
      };
      amounts.set(currency, own);
      own.succeededMinor += BigInt(row.amount_minor);
      own.points[at] = (own.points[at] ?? 0n) + BigInt(row.amount_minor);
    }
  }
  return {
    total,
    points,
    byMethod: largestFirst(byMethod),
    byAcquirer: largestFirst(byAcquirer),
    byReason,
    amounts: [...amounts.values()].toSorted((one, other) => (one.currency < other.currency ? -1 : 1)),
  };
}

function add(points: number[], at: number, payments: number): void {
  points[at] = (points[at] ?? 0) + payments;
}

function largestFirst(groups: ReadonlyMap<string, WallGroup>): WallGroup[] {
  const sizeOf = ({ total }: WallGroup): number => Object.values(total).reduce((sum, count) => sum + count, 0);
  return [...groups.values()].toSorted((one, other) => sizeOf(other) - sizeOf(one) || (one.key < other.key ? -1 : 1));
}

/** Everything that the wall shows, at one moment. */
export interface WallPicture {
  asOf: Micros;
  begins: Micros[];
  countedAt: Micros | undefined;
  payments: WallPayments;
  vitals: Vitals;
  waiting: Awaited<ReturnType<typeof readWaiting>>;
}

export interface WallParts {
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
      database.query<{ counted_at: Micros | null }>(selectCountedAt()),
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
