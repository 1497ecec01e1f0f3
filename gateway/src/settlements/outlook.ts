// When what waits will be paid out, as things stand: the runs to come are gone through as they will happen. It forms no batches.
import type { BookOwner } from "../commands/command-context.ts";
import type { Micros } from "../ground/clock.ts";
import type { Minor } from "../ground/money.ts";
import { accounts } from "../ledger/journal.ts";
import type { Book } from "../merchants/books.ts";
import {
  type SettlementSchedule,
  minimumPayoutOf,
  nextRun,
  payoutDate,
  periodEnd,
  settlingRun,
} from "../merchants/settlement-schedule.ts";
import { isFrozen } from "../merchants/settings.ts";
import { type PaymentStanding, isRunning } from "../payments/payment.ts";
import type { Database } from "../store/database.ts";
import { type SettlementItem, select } from "./settlement.ts";
import { type OutlookRow, selectOutlook, selectWaiting, waitingOfRow } from "./settlements.sql.ts";

/** What the runs of one currency will find. */
export interface Outlook {
  /** When the book's next run is due; undefined when none ever was. */
  nextRunAt: Micros | undefined;
  available: Minor;
  /** What waits, oldest first or not. */
  items: readonly SettlementItem[];
}

/**
 * The run that takes each item, by the item's identity, if nothing else happens. What is not in it no run takes: less is due than the
 * minimum, or deductions outweigh it. Pure.
 */
export function runsToCome(schedule: SettlementSchedule, minimum: Minor, outlook: Outlook): Map<string, Micros> {
  const runs = new Map<string, Micros>();
  let { items, available } = outlook;
  const times = items.map(({ occurredAt }) => occurredAt);
  if (times.length === 0) return runs;
  const newest = Math.max(...times);
  for (let run = outlook.nextRunAt ?? nextRun(schedule, Math.min(...times)); ; run = nextRun(schedule, run)) {
    const until = periodEnd(schedule, run);
    const taken = select(
      items.filter(({ occurredAt }) => occurredAt < until),
      available,
      minimum,
    );
    for (const { id } of taken?.items ?? []) runs.set(id, run);
    if (taken) {
      available -= taken.netMinor;
      items = items.filter(({ id }) => !runs.has(id));
    }
    // Every later run would find the same.
    if (items.length === 0 || (!taken && until > newest)) return runs;
  }
}

/** What is asked of a book before its payments' dates are told. */
interface Standing {
  nextRunAt: Micros | undefined;
  /** By currency. */
  available: ReadonlyMap<string, Minor>;
  held: ReadonlyMap<string, Minor>;
}

/**
 * The day on which each payment that awaits settlement is paid out as things stand, by reference; null when no run can take it. The runs
 * are gone through only where more than the schedule decides: a minimum payout, money held by disputes, or too little available.
 */
export async function estimatePayouts(
  database: Database,
  { book, merchant }: BookOwner,
  waiting: readonly PaymentStanding[],
): Promise<ReadonlyMap<string, string | null>> {
  const dates = new Map<string, string | null>();
  if (waiting.length === 0) return dates;
  const { settlement: schedule } = merchant.settings;
  const standing = standingOf(await database.query(selectOutlook(book)));
  for (const [currency, own] of Map.groupBy(waiting, (payment) => payment.currency)) {
    const minimum = minimumPayoutOf(schedule, currency);
    const available = standing.available.get(currency) ?? 0n;
    const due = own.reduce((sum, { amountMinor, feeMinor }) => sum + amountMinor - feeMinor, 0n);
    const bySchedule = minimum === 0n && (standing.held.get(currency) ?? 0n) === 0n && available >= due;
    const items = bySchedule ? [] : await itemsOf(database, book, currency);
    const runs = runsToCome(schedule, minimum, { nextRunAt: standing.nextRunAt, available, items });
    for (const payment of own) {
      const { reference, paidAt = 0 } = payment;
      const planned = settlingRun(schedule, paidAt, standing.nextRunAt ?? nextRun(schedule, paidAt));
      const run = bySchedule ? planned : runs.get(reference);
      const never = isFrozen(merchant.settings, currency) || isRunning(payment.disputeStatus) || run === undefined;
      dates.set(reference, never ? null : payoutDate(schedule, run));
    }
  }
  return dates;
}

async function itemsOf(database: Database, book: Book, currency: string): Promise<readonly SettlementItem[]> {
  const rows = await database.query(selectWaiting([book]));
  return rows.map(waitingOfRow).flatMap(({ items }) => items.get(currency) ?? []);
}

function standingOf(rows: readonly OutlookRow[]): Standing {
  const owned = (account: string): Map<string, Minor> =>
    new Map(
      rows
        .filter((row) => row.account === account)
        .map((row) => [row.currency ?? "", (row.credit_minor ?? 0n) - (row.debit_minor ?? 0n)]),
    );
  return {
    nextRunAt: rows[0]?.next_run_at ?? undefined,
    available: owned(accounts.available),
    held: owned(accounts.held),
  };
}
