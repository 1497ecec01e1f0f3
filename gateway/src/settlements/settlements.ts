// Settlements: forms batches of unsettled items, which the bank pays or returns. Pure commands.
import { type BookOwner, type CommandContext, bookCommand } from "../commands/command-context.ts";
import type { EventType } from "../events/event.ts";
import { type Micros, SECOND } from "../ground/clock.ts";
import { Fault } from "../ground/fault.ts";
import { isId } from "../ground/ids.ts";
import {
  accounts,
  settlementFormedPostings,
  settlementPaidPostings,
  settlementReturnedPostings,
} from "../ledger/journal.ts";
import { balanceOf, ledgerNeeds } from "../ledger/ledger.ts";
import { type Book, otherBook } from "../merchants/books.ts";
import { localDate, minimumPayoutOf, nextRun, payoutDate, periodEnd } from "../merchants/settlement-schedule.ts";
import { isRunning } from "../payments/payment.ts";
import { disputeBatches } from "../disputes/disputes.sql.ts";
import { paymentBatches, payments } from "../payments/payments.sql.ts";
import { receiptBatches } from "../acquiring/receipts.sql.ts";
import { refundBatches } from "../refunds/refunds.sql.ts";
import { isFrozen, refuseFrozen } from "../merchants/settings.ts";
import type { Command } from "../store/command.ts";
import { type Need, type WorkingSet, need } from "../store/working-set.ts";
import { type Settlement, type SettlementItem, isCut, select, settlementView } from "./settlement.ts";
import {
  ITEMS_MAX,
  type UnsettledItems,
  batchItems,
  releases,
  settlementClocks,
  settlements,
  unsettledItems,
} from "./settlements.sql.ts";

const marks = {
  payment: paymentBatches,
  receipt: receiptBatches,
  refund: refundBatches,
  dispute: disputeBatches,
} as const;

/** Marks an item with its batch; `undefined` makes it unsettled again. */
function mark({ set, book }: CommandContext, { kind, id }: SettlementItem, settlement: string | undefined): void {
  set.upsert(marks[kind], { book, id, settlement });
}

function formingNeeds(book: Book): Need[] {
  return [need(settlementClocks, book), ...ledgerNeeds(book), need(unsettledItems, book)];
}

/** A run that has formed so many batches ends with that cutoff: the next run goes on from there. */
const FORMED_MAX = 100;

/**
 * Runs a book's settlement schedule up to its present time: every cutoff that has passed forms its batches, in order. Gives the batches. When
 * more is due than one batch looks at, the schedule stays at that cutoff, and the next run continues there.
 */
export function runSchedule(owner: BookOwner): Command<Settlement[]> {
  const { book, merchant } = owner;
  return bookCommand(owner, {
    name: "run settlement schedule",
    needs: formingNeeds(book),
    execute(context) {
      const { set, now } = context;
      const schedule = merchant.settings.settlement;
      const clock = set.get(settlementClocks, book);
      // A book that was never run begins with the first cutoff after its oldest unsettled item.
      let nextRunAt = clock?.nextRunAt ?? nextRun(schedule, oldest(timesOf(set.get(unsettledItems, book))) ?? now);
      const formed: Settlement[] = [];
      while (nextRunAt <= now && formed.length < FORMED_MAX) {
        const until = periodEnd(schedule, nextRunAt);
        const batches = form(context, until, nextRunAt);
        formed.push(...batches.formed);
        if (batches.more) break;
        nextRunAt = nextRun(schedule, nextRunAt);
        if (batches.formed.length > 0) continue;
        // Every cutoff before the next item would find the same items.
        const later = timesOf(set.get(unsettledItems, book)).filter((time) => time >= until);
        nextRunAt = Math.max(nextRunAt, nextRun(schedule, oldest(later) ?? now));
      }
      set.update(settlementClocks, { book, nextRunAt });
      return formed;
    },
  });
}

/** Moves a book's next run by the merchant's schedule, after each change of it. A run that is due already stays: items wait for it. */
export function followSchedule(owner: BookOwner): Command<void> {
  const { book } = owner;
  return bookCommand(owner, {
    name: "follow settlement schedule",
    needs: [need(settlementClocks, book)],
    execute({ set, merchant, now }) {
      const clock = set.get(settlementClocks, book);
      if (clock?.nextRunAt === undefined || clock.nextRunAt <= now) return;
      set.update(settlementClocks, { book, nextRunAt: nextRun(merchant.settings.settlement, now) });
    },
  });
}

function timesOf(unsettled: UnsettledItems | undefined): Micros[] {
  return [...(unsettled?.items.values() ?? [])].flat().map((item) => item.occurredAt);
}

/** The oldest of any number of times: `Math.min(...times)` fails with too many arguments. */
function oldest(times: readonly Micros[]): Micros | undefined {
  return times.length === 0 ? undefined : times.reduce((least, time) => Math.min(least, time));
}

/** Forms batches of all unsettled items, now, whatever the schedule says. Gives the batches. */
export function runNow(owner: BookOwner): Command<Settlement[]> {
  return bookCommand(owner, {
    name: "run settlements now",
    needs: formingNeeds(owner.book),
    execute: (context) => form(context, context.now, context.now).formed,
  });
}

/** Forms a batch for each currency from the items before `until`, at the cutoff `formedAt`. `more`: what is left of them can form another. */
function form(context: CommandContext, until: Micros, formedAt: Micros): { formed: Settlement[]; more: boolean } {
  const { set, merchant, book, now } = context;
  const unsettled = set.get(unsettledItems, book);
  const formed: Settlement[] = [];
  let more = false;
  for (const [currency, items] of unsettled?.items ?? []) {
    if (isFrozen(merchant.settings, currency)) continue;
    const past = items.filter((item) => item.occurredAt < until);
    const due = past.filter(
      (item) => !set.get(marks[item.kind], { book, id: item.id })?.settlement && !mustWait(set, book, item),
    );
    const available = -balanceOf(set, book, accounts.available, currency);
    const cut = isCut(past, ITEMS_MAX);
    const taken = select(due, available, minimumPayoutOf(merchant.settings.settlement, currency), cut);
    if (!taken) continue;
    more ||= cut;
    const { items: chosen, ...sums } = taken;
    const settlement: Settlement = {
      book,
      uuid: context.newId("settlement"),
      status: "processing",
      currency,
      periodStart: Math.min(...chosen.map((item) => item.occurredAt)),
      periodEnd: until,
      ...sums,
      paymentCount: chosen.filter(({ kind }) => kind === "payment").length,
      createdAt: now,
      payDueAt: formedAt + merchant.settings.settlement.pay_after_seconds * SECOND,
      payoutDate: payoutDate(merchant.settings.settlement, formedAt),
      paidAt: undefined,
      returnedAt: undefined,
      bankReference: undefined,
    };
    set.insert(settlements, settlement);
    for (const item of chosen) {
      set.insert(batchItems, { ...item, book, uuid: settlement.uuid });
      mark(context, item, settlement.uuid);
    }
    record(context, settlement, "settlement_formed", settlementFormedPostings);
    emitSettlement(context, settlement, "settlement.created");
    formed.push(settlement);
  }
  return { formed, more };
}

/** True when an earlier command of the same lane batch opened a dispute on the item's payment, or began a refund, after the items were read. */
function mustWait(set: WorkingSet, book: Book, { kind, paymentReference: reference }: SettlementItem): boolean {
  if (kind !== "payment" && kind !== "refund") return false;
  const payment = set.get(payments, { book, reference });
  return payment !== undefined && (isRunning(payment.disputeStatus) || payment.refundPendingMinor > 0n);
}

function batchNeeds(book: Book, uuid: string): Need[] {
  if (!isId("settlement", uuid)) return ledgerNeeds(book);
  return [...ledgerNeeds(book), need(settlements, { book, uuid }), need(settlements, { book: otherBook(book), uuid })];
}

function findProcessing({ set, book }: CommandContext, uuid: string): Settlement {
  const settlement = set.get(settlements, { book, uuid });
  if (!settlement && set.get(settlements, { book: otherBook(book), uuid })) throw new Fault("ENVIRONMENT_MISMATCH");
  if (!settlement) throw new Fault("OBJECT_NOT_FOUND", { message: "No such settlement." });
  if (settlement.status !== "processing")
    throw new Fault("SETTLEMENT_CLOSED", { details: { status: settlement.status } });
  return settlement;
}

/** Records that the bank paid a batch, by a reference of its own if none is given. Throws OBJECT_NOT_FOUND, ENVIRONMENT_MISMATCH, SETTLEMENT_CLOSED, WALLET_FROZEN. */
export function paySettlement(
  owner: BookOwner,
  uuid: string,
  bankReference = `GB${uuid.slice(-12).toUpperCase()}`,
): Command<Settlement> {
  return bookCommand(owner, {
    name: "pay settlement",
    needs: batchNeeds(owner.book, uuid),
    execute(context) {
      const { set, merchant, now } = context;
      const settlement = findProcessing(context, uuid);
      refuseFrozen(merchant.settings, settlement.currency);
      const paid: Settlement = {
        ...settlement,
        status: "paid",
        paidAt: now,
        payoutDate: localDate(merchant.settings.settlement, now),
        bankReference,
      };
      set.update(settlements, paid);
      record(context, paid, "settlement_paid", settlementPaidPostings);
      emitSettlement(context, paid, "settlement.paid");
      return paid;
    },
  });
}

/** Records that the bank returned a batch: its funds are available again, its items unsettled. Throws as `paySettlement` but WALLET_FROZEN. */
export function returnSettlement(
  owner: BookOwner,
  uuid: string,
  items: readonly SettlementItem[],
): Command<Settlement> {
  const { book } = owner;
  return bookCommand(owner, {
    name: "return settlement",
    needs: batchNeeds(book, uuid),
    execute(context) {
      const { set, now } = context;
      const settlement = findProcessing(context, uuid);
      const failed: Settlement = { ...settlement, status: "failed", returnedAt: now };
      set.update(settlements, failed);
      set.insert(releases, { book, uuid });
      for (const item of items) mark(context, item, undefined);
      record(context, failed, "settlement_returned", settlementReturnedPostings);
      return failed;
    },
  });
}

function record(
  { post }: CommandContext,
  { uuid, currency, netMinor }: Settlement,
  kind: string,
  postingsOf: typeof settlementFormedPostings,
): void {
  const postings = postingsOf({ currency, amountMinor: netMinor });
  post({ groupId: uuid, kind, operationKey: `${kind}:${uuid}`, postings });
}

function emitSettlement({ emit }: CommandContext, settlement: Settlement, type: EventType): void {
  emit({ type, subjectId: settlement.uuid, data: settlementView(settlement) });
}
