// Estimates when unsettled items will be paid out: goes through the future runs of the settlement schedule. It forms no batches.
import type { BookOwner } from "../commands/command-context.ts";
import { type Clock, type Micros, SECOND, stopwatchMs } from "../ground/clock.ts";
import type { Minor } from "../ground/money.ts";
import { accounts } from "../ledger/journal.ts";
import { type Book, bookKey } from "../merchants/books.ts";
import {
  type SettlementSchedule,
  localDate,
  minimumPayoutOf,
  nextRun,
  payoutDate,
  periodEnd,
  settlingRun,
} from "../merchants/settlement-schedule.ts";
import type { Merchant } from "../merchants/directory.ts";
import { isFrozen } from "../merchants/settings.ts";
import { type Payment, type PaymentSummary, isRunning } from "../payments/payment.ts";
import type { Database } from "../store/database.ts";
import { type SettlementItem, isCut, select } from "./settlement.ts";
import {
  ITEMS_MAX,
  type OutlookRow,
  type UnsettledItems,
  selectOutlook,
  selectUnsettled,
  unsettledOfRow,
} from "./settlements.sql.ts";

/** The input of the future runs of one currency. */
interface Outlook {
  /** When the book's next run is due; undefined when no run ever was. */
  nextRunAt: Micros | undefined;
  available: Minor;
  /** Unsettled items, in any order. */
  items: readonly SettlementItem[];
}

/** The run that takes each item, by the item's id. Absent: no run takes it, as less is due than the minimum, or deductions outweigh it. Pure. */
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
    // Every later run would find the same items.
    if (items.length === 0 || (!taken && until > newest)) return runs;
  }
}

/** What the next run takes of a currency. */
export interface NextPayout {
  payments: number;
  netMinor: Minor;
  /** True when more waits than a run looks at: it goes on at the same cutoff, so the amount is the least. */
  isLeast: boolean;
}

/** What a book's next run takes of a currency, if nothing else happens; undefined when it takes nothing. Pure. */
export function nextPayout(
  schedule: SettlementSchedule,
  minimum: Minor,
  { nextRunAt, available, items }: Outlook,
): NextPayout | undefined {
  if (nextRunAt === undefined) return undefined;
  const until = periodEnd(schedule, nextRunAt);
  const due = items.filter(({ occurredAt }) => occurredAt < until);
  const isLeast = isCut(due, ITEMS_MAX);
  const taken = select(due, available, minimum, isLeast);
  const payments = taken?.items.filter(({ kind }) => kind === "payment").length ?? 0;
  return taken && { payments, netMinor: taken.netMinor, isLeast };
}

/** The local day of a run's payout, YYYY-MM-DD; today for a run that is late. Pure. */
export function payoutDay(schedule: SettlementSchedule, run: Micros, now: Micros): string {
  const [day, today] = [payoutDate(schedule, run), localDate(schedule, now)];
  return day < today ? today : day;
}

/** The payout day of a payment just paid, if nothing else waits; null when no run takes it. `available`: the balance with it. Pure. */
export function payoutDayAlone(
  { settings }: Pick<Merchant, "settings">,
  { reference, amountMinor, feeMinor, currency, paidAt }: Payment,
  available: Minor,
): string | null {
  if (paidAt === undefined || isFrozen(settings, currency)) return null;
  const schedule = settings.settlement;
  const item = { id: reference, paymentReference: reference, amountMinor, feeMinor, occurredAt: paidAt };
  const outlook: Outlook = { nextRunAt: undefined, available, items: [{ kind: "payment", ...item }] };
  const run = runsToCome(schedule, minimumPayoutOf(schedule, currency), outlook).get(reference);
  return run === undefined ? null : payoutDate(schedule, run);
}

/** The state of a book that the estimates start from. */
interface BookState {
  /** The present, by the book's clock. */
  now: Micros;
  nextRunAt: Micros | undefined;
  hasDeductions: boolean;
  /** By currency, in minor units; `held` as well. */
  available: ReadonlyMap<string, Minor>;
  held: ReadonlyMap<string, Minor>;
}

/** A book's unsettled items, and the balance that they were read with: a refund that came later is in neither. */
type Unsettled = Pick<UnsettledItems, "items"> & Pick<BookState, "available">;

/** A book's unsettled items are read at most once within this time, and held for no longer. */
const KEPT_MS = 1_000;
/** The longest time between a payment's `updatedAt` and its commit. */
const COMMIT_MAX: Micros = 10 * SECOND;

/** Estimates when payments that await settlement will be paid out. */
export class Outlooks {
  private readonly database: Database;
  private readonly clock: Clock;
  /** Unsettled items of recently requested books, read or being read: merchants ask often, and a book may have thousands of items. */
  private readonly lately = new Map<
    string,
    { readAt: number; at: Micros; available: BookState["available"]; unsettled: Promise<Unsettled> }
  >();

  constructor(database: Database, clock: Clock) {
    this.database = database;
    this.clock = clock;
  }

  /**
   * The local day on which each payment will be paid out, by reference; null when no run can take it. The runs are gone through only where more
   * than the schedule decides: a minimum payout, money held by disputes, unsettled deductions, a pending refund, a fee that takes all of a payment.
   * With more unsettled items than a run looks at, it is the schedule's day: the run goes on at the same cutoff.
   */
  async estimate({ book, merchant }: BookOwner, asked: readonly PaymentSummary[]): Promise<Map<string, string | null>> {
    const dates = new Map<string, string | null>();
    if (asked.length === 0) return dates;
    const { settings } = merchant;
    const schedule = settings.settlement;
    const state = bookStateOf(await this.database.query(selectOutlook(book)), this.clock.now());
    for (const [currency, own] of Map.groupBy(asked, (payment) => payment.currency)) {
      const minimum = minimumPayoutOf(schedule, currency);
      const held = state.held.get(currency) ?? 0n;
      const forms = own.every(({ amountMinor, feeMinor }) => amountMinor > feeMinor);
      const simple = forms && minimum === 0n && held === 0n && !state.hasDeductions;
      const unsettled = simple ? undefined : await this.unsettledOf(book, own, state);
      const items = unsettled?.items.get(currency) ?? [];
      const bySchedule = simple || isCut(items, ITEMS_MAX);
      const available = unsettled?.available.get(currency) ?? 0n;
      const runs = bySchedule ? undefined : runsToCome(schedule, minimum, { ...state, available, items });
      for (const payment of own) {
        const { reference, paidAt = 0 } = payment;
        const planned = settlingRun(schedule, paidAt, state.nextRunAt ?? nextRun(schedule, paidAt));
        const run = runs ? runs.get(reference) : planned;
        const never = isFrozen(settings, currency) || isRunning(payment.disputeStatus) || run === undefined;
        dates.set(reference, never ? null : payoutDay(schedule, run, state.now));
      }
    }
    return dates;
  }

  /** What the book's next run takes, by currency, if nothing else happens. A frozen wallet is not paid out. */
  async next({ book, merchant: { settings } }: BookOwner): Promise<Map<string, NextPayout>> {
    const state = bookStateOf(await this.database.query(selectOutlook(book)), this.clock.now());
    const { items, available } = await this.unsettledOf(book, [], state);
    const payouts = new Map<string, NextPayout>();
    for (const [currency, own] of items) {
      const outlook = { ...state, available: available.get(currency) ?? 0n, items: own };
      const next = nextPayout(settings.settlement, minimumPayoutOf(settings.settlement, currency), outlook);
      if (next && !isFrozen(settings, currency)) payouts.set(currency, next);
    }
    return payouts;
  }

  /**
   * The unsettled items of a book. They are read again after a second, or when one of these payments has just changed; of no payment in particular
   * when a balance has fallen: a batch formed meanwhile took its money out of `available`, and the same money must not be told twice.
   */
  private unsettledOf(book: Book, own: readonly PaymentSummary[], { now, available }: BookState): Promise<Unsettled> {
    const key = bookKey(book);
    const readAt = stopwatchMs();
    for (const [name, one] of this.lately) if (readAt - one.readAt >= KEPT_MS) this.lately.delete(name);
    const kept = this.lately.get(key);
    const holds =
      kept &&
      (own.length > 0
        ? own.every(({ updatedAt }) => updatedAt < kept.at - COMMIT_MAX)
        : [...available].every(([currency, minor]) => minor >= (kept.available.get(currency) ?? 0n)));
    if (holds) return kept.unsettled;
    const unsettled = this.database
      .query(selectUnsettled([book]))
      .then(([row]) => ({ items: row ? unsettledOfRow(row).items : new Map(), available }));
    this.lately.set(key, { readAt, at: now, available, unsettled });
    unsettled.catch(() => this.lately.delete(key));
    return unsettled;
  }
}

function bookStateOf(rows: readonly OutlookRow[], realNow: Micros): BookState {
  const owned = (account: string): Map<string, Minor> =>
    new Map(
      rows
        .filter((row) => row.account === account)
        .map((row) => [row.currency ?? "", (row.credit_minor ?? 0n) - (row.debit_minor ?? 0n)]),
    );
  const [first] = rows;
  return {
    now: realNow + Number(first?.clock_offset_seconds ?? 0n) * SECOND,
    nextRunAt: first?.next_run_at ?? undefined,
    hasDeductions: first?.has_deductions === true,
    available: owned(accounts.available),
    held: owned(accounts.held),
  };
}
