// Figures of one book for portal pages: payments over time, in days of the reader's time zone, and an overview. Amounts are minor units.
import { creditsOf } from "../balances/owned.ts";
import { type Clock, type Micros, SECOND } from "../ground/clock.ts";
import { hourStarts, localDayStarts } from "../ground/local-days.ts";
import type { Minor } from "../ground/money.ts";
import { type BalanceRow, selectBalances } from "../ledger/ledger.sql.ts";
import type { Book } from "../merchants/books.ts";
import type { Database, Row } from "../store/database.ts";
import {
  type BatchRow,
  type ClockRow,
  type CountRow,
  type DisputeRow,
  type Division,
  type UndeliveredRow,
  selectClock,
  selectCounts,
  selectUnanswered,
  selectUndelivered,
  selectUnpaidBatches,
} from "./figures.sql.ts";

/** Ranges of a plot: the number of spans, and whether a span is an hour or a day of the person's time zone. */
export const ranges = {
  day: { spans: 24, step: "hour" },
  week: { spans: 7, step: "day" },
  month: { spans: 30, step: "day" },
  quarter: { spans: 91, step: "day" },
} as const;
export type Range = keyof typeof ranges;

/** Ended payments. `amountMinor` and `feeMinor` sum up the succeeded ones only. */
export interface Count {
  payments: bigint;
  succeeded: bigint;
  amountMinor: Minor;
  feeMinor: Minor;
}

interface Series {
  /** Start of each span. */
  begins: Micros[];
  /** Counts by outcome, method or acquirer, one for each span. */
  counts: Map<string, Count[]>;
  /** Real time up to which payments are counted; undefined before the first count. */
  countedAt: Micros | undefined;
}

const nothing: Count = { payments: 0n, succeeded: 0n, amountMinor: 0n, feeMinor: 0n };

function countOf(row: CountRow): Count {
  return {
    payments: BigInt(row.payments),
    succeeded: BigInt(row.succeeded),
    amountMinor: BigInt(row.succeeded_minor),
    feeMinor: BigInt(row.fee_minor),
  };
}

export function sum(counts: readonly Count[]): Count {
  return counts.reduce(
    (total, count) => ({
      payments: total.payments + count.payments,
      succeeded: total.succeeded + count.succeeded,
      amountMinor: total.amountMinor + count.amountMinor,
      feeMinor: total.feeMinor + count.feeMinor,
    }),
    nothing,
  );
}

/** Figures of the portal's home page. Parts that the person may not see are not read. */
export interface Overview {
  /** The book's time. */
  now: Micros;
  countedAt: Micros | undefined;
  nextRunAt: Micros | undefined;
  /** Counts by currency, then by outcome, one for each of the last seven days, today last. */
  week: Map<string, Map<string, Count[]>>;
  /** Credit balance of each account, by `account currency`. */
  balances: Map<string, Minor> | undefined;
  batches: BatchRow[] | undefined;
  disputes: DisputeRow[] | undefined;
  deliveries: UndeliveredRow | undefined;
}

export const DAYS_SHOWN = 7;

export class Figures {
  private readonly database: Database;
  private readonly clock: Clock;

  constructor(database: Database, clock: Clock) {
    this.database = database;
    this.clock = clock;
  }

  /** Payments of one currency over time. Throws RangeError for an unknown time zone. */
  async series(book: Book, asked: { range: Range; by: Division; currency: string; timeZone: string }): Promise<Series> {
    const { now, countedAt } = await this.clockOf(book);
    const { spans, step } = ranges[asked.range];
    const begins = step === "hour" ? hourStarts(now, spans) : localDayStarts(asked.timeZone, now, spans);
    const rows = await this.database.query<CountRow>(selectCounts(book, begins, asked.by, asked.currency));
    return { begins, counts: byKey(rows, spans), countedAt };
  }

  /** The overview of a book, with the parts that `may` allows. Throws RangeError for an unknown time zone. */
  async overview(
    book: Book,
    timeZone: string,
    may: { balances: boolean; settlements: boolean; disputes: boolean; events: boolean },
  ): Promise<Overview> {
    const { now, countedAt, nextRunAt } = await this.clockOf(book);
    const parts = {
      counts: selectCounts(book, localDayStarts(timeZone, now, DAYS_SHOWN), "outcome"),
      ...(may.balances ? { balances: selectBalances(book) } : {}),
      ...(may.settlements ? { batches: selectUnpaidBatches(book) } : {}),
      ...(may.disputes ? { disputes: selectUnanswered(book) } : {}),
      ...(may.events ? { deliveries: selectUndelivered(book) } : {}),
    };
    const names = Object.keys(parts);
    const answers = await this.database.pipeline(Object.values(parts));
    const answered = (name: keyof Omit<Overview, "now"> | "counts"): Row[] | undefined => answers[names.indexOf(name)];
    const counts = (answered("counts") ?? []) as CountRow[];
    const balances = answered("balances") as BalanceRow[] | undefined;
    return {
      now,
      countedAt,
      nextRunAt,
      week: new Map(
        [...Map.groupBy(counts, ({ currency }) => currency)].map(([currency, rows]) => [
          currency,
          byKey(rows, DAYS_SHOWN),
        ]),
      ),
      balances: balances && creditsOf(balances),
      batches: answered("batches") as BatchRow[] | undefined,
      disputes: answered("disputes") as DisputeRow[] | undefined,
      deliveries: answered("deliveries")?.[0] as UndeliveredRow | undefined,
    };
  }

  private async clockOf(book: Book) {
    const [row] = await this.database.query<ClockRow>(selectClock(book));
    return {
      now: this.clock.now() + Number(row?.clock_offset_seconds ?? 0n) * SECOND,
      countedAt: row?.counted_at ?? undefined,
      nextRunAt: row?.next_run_at ?? undefined,
    };
  }
}

function byKey(rows: readonly CountRow[], spans: number): Map<string, Count[]> {
  const counts = new Map<string, Count[]>();
  for (const row of rows) {
    const own = counts.get(row.key) ?? Array.from({ length: spans }, () => nothing);
    own[row.span - 1] = countOf(row);
    counts.set(row.key, own);
  }
  return counts;
}
