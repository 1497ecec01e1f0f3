// Settlements: what is due to a merchant is gathered into batches, paid by the bank, or returned by it. Pure commands.
import type { EventType } from "../events/event.ts";
import type { Outbox } from "../events/outbox.ts";
import { type Micros, SECOND } from "../ground/clock.ts";
import { Fault } from "../ground/fault.ts";
import { isId, newId } from "../ground/ids.ts";
import { accounts, payoutPostings, settlePostings, unsettlePostings } from "../ledger/journal.ts";
import { balanceOf, ledgerNeeds, post } from "../ledger/ledger.ts";
import { type Book, bookClocks, bookNow, otherBook } from "../merchants/books.ts";
import { nextRun, periodEnd } from "../merchants/calendar.ts";
import type { Merchant } from "../merchants/directory.ts";
import { isRunning } from "../disputes/dispute.ts";
import { disputeBatches } from "../disputes/disputes.sql.ts";
import { paymentBatches, payments } from "../payments/payments.sql.ts";
import { receiptBatches } from "../payments/receipts.sql.ts";
import { refundBatches } from "../refunds/refunds.sql.ts";
import type { Command } from "../store/lane.ts";
import { type Need, type WorkingSet, need } from "../store/working-set.ts";
import { type Settlement, type SettlementItem, select, settlementView } from "./settlement.ts";
import {
  ITEMS_MAX,
  type Waiting,
  batchItems,
  releases,
  settlementClocks,
  settlements,
  waitingItems,
} from "./settlements.sql.ts";

const marks = {
  payment: paymentBatches,
  receipt: receiptBatches,
  refund: refundBatches,
  dispute: disputeBatches,
} as const;

/** Writes which batch an item is in, or that it waits again. */
function mark(set: WorkingSet, book: Book, { kind, id }: SettlementItem, settlement: string | undefined): void {
  const table = marks[kind];
  if (set.get(table, { book, id })) set.update(table, { book, id, settlement });
  else set.insert(table, { book, id, settlement });
}

function formingNeeds(book: Book): Need[] {
  return [need(bookClocks, book), need(settlementClocks, book), ...ledgerNeeds(book), need(waitingItems, book)];
}

/**
 * Runs a book's schedule up to its now: every cutoff that has passed forms its batches, in order. Gives the batches. When more is
 * due than one batch looks at, the clock stays at that cutoff, and the next run goes on there.
 */
export function runSchedule(outbox: Outbox, merchant: Merchant, book: Book): Command<Settlement[]> {
  return {
    name: "run settlement schedule",
    book,
    needs: formingNeeds(book),
    execute(set, realNow) {
      const now = bookNow(set, book, realNow);
      const schedule = merchant.settings.settlement;
      const clock = set.get(settlementClocks, book);
      // A book that was never run begins with the first cutoff after the oldest thing that waits in it.
      let nextRunAt = clock?.nextRunAt ?? nextRun(schedule, oldest(set.get(waitingItems, book)) ?? now);
      const formed: Settlement[] = [];
      for (; nextRunAt <= now; nextRunAt = nextRun(schedule, nextRunAt)) {
        const batches = form(outbox, set, merchant, book, periodEnd(schedule, nextRunAt), nextRunAt, now);
        formed.push(...batches.formed);
        if (batches.more) break;
      }
      if (clock) set.update(settlementClocks, { book, nextRunAt });
      else set.insert(settlementClocks, { book, nextRunAt });
      return formed;
    },
  };
}

function oldest(waiting: Waiting | undefined): Micros | undefined {
  const times = [...(waiting?.items.values() ?? [])].flat().map((item) => item.occurredAt);
  return times.length === 0 ? undefined : Math.min(...times);
}

/** Forms batches of everything that waits, now, whatever the schedule says. Gives the batches. */
export function runNow(outbox: Outbox, merchant: Merchant, book: Book): Command<Settlement[]> {
  return {
    name: "run settlements now",
    book,
    needs: formingNeeds(book),
    execute(set, realNow) {
      const now = bookNow(set, book, realNow);
      return form(outbox, set, merchant, book, now, now, now).formed;
    },
  };
}

/**
 * One batch for each currency of what happened before `until`. `formedAt` is the cutoff it belongs to. `more`: a batch was formed
 * of a part of what is due, so the rest can be another.
 */
function form(
  outbox: Outbox,
  set: WorkingSet,
  merchant: Merchant,
  book: Book,
  until: Micros,
  formedAt: Micros,
  now: Micros,
): { formed: Settlement[]; more: boolean } {
  const waiting = set.get(waitingItems, book);
  const formed: Settlement[] = [];
  let more = false;
  for (const [currency, items] of waiting?.items ?? []) {
    if (merchant.settings.wallet_frozen[currency]) continue;
    const past = items.filter((item) => item.occurredAt < until);
    const due = past.filter(
      (item) => !set.get(marks[item.kind], { book, id: item.id })?.settlement && !isContested(set, book, item),
    );
    const available = -balanceOf(set, book, accounts.available, currency);
    const cut = [...Map.groupBy(past, ({ kind }) => kind).values()].some((kind) => kind.length >= ITEMS_MAX);
    const taken = select(due, available, BigInt(merchant.settings.settlement.minimum_payout_minor), cut);
    if (!taken) continue;
    more ||= cut;
    const settlement: Settlement = {
      book,
      uuid: newId("settlement", now),
      status: "processing",
      currency,
      periodStart: Math.min(...taken.items.map((item) => item.occurredAt)),
      periodEnd: until,
      grossMinor: taken.grossMinor,
      feeMinor: taken.feeMinor,
      refundMinor: taken.refundMinor,
      netMinor: taken.netMinor,
      paymentCount: taken.items.filter(({ kind }) => kind === "payment").length,
      createdAt: now,
      payDueAt: formedAt + merchant.settings.settlement.pay_after_seconds * SECOND,
      paidAt: undefined,
      bankReference: undefined,
    };
    set.insert(settlements, settlement);
    for (const item of taken.items) {
      set.insert(batchItems, { ...item, book, uuid: settlement.uuid });
      mark(set, book, item, settlement.uuid);
    }
    record(set, settlement, "settlement_formed", settlePostings(moved(settlement)), now);
    tell(outbox, set, merchant, settlement, "settlement.created", now);
    formed.push(settlement);
  }
  return { formed, more };
}

/** True when a dispute was opened over its payment since what waits was read: by a command before this one, in its batch. */
function isContested(set: WorkingSet, book: Book, { kind, paymentReference: reference }: SettlementItem): boolean {
  return (kind === "payment" || kind === "refund") && isRunning(set.get(payments, { book, reference })?.disputeStatus);
}

function moved({ currency, netMinor }: Settlement): { currency: string; amountMinor: bigint } {
  return { currency, amountMinor: netMinor };
}

function batchNeeds(book: Book, uuid: string): Need[] {
  return [
    need(bookClocks, book),
    ...ledgerNeeds(book),
    ...(isId("settlement", uuid)
      ? [need(settlements, { book, uuid }), need(settlements, { book: otherBook(book), uuid })]
      : []),
  ];
}

function findProcessing(set: WorkingSet, book: Book, uuid: string): Settlement {
  const known = isId("settlement", uuid);
  const settlement = known ? set.get(settlements, { book, uuid }) : undefined;
  if (!settlement) {
    const elsewhere = known && set.get(settlements, { book: otherBook(book), uuid });
    if (elsewhere) throw new Fault("ENVIRONMENT_MISMATCH");
    throw new Fault("OBJECT_NOT_FOUND", { message: "No such settlement." });
  }
  if (settlement.status !== "processing")
    throw new Fault("SETTLEMENT_CLOSED", { details: { status: settlement.status } });
  return settlement;
}

/**
 * The bank has paid a batch, under its own reference when there is a bank. Throws OBJECT_NOT_FOUND, SETTLEMENT_CLOSED,
 * WALLET_FROZEN.
 */
export function paySettlement(
  outbox: Outbox,
  merchant: Merchant,
  book: Book,
  uuid: string,
  bankReference = `GB${uuid.slice(-12).toUpperCase()}`,
): Command<Settlement> {
  return {
    name: "pay settlement",
    book,
    needs: batchNeeds(book, uuid),
    execute(set, realNow) {
      const now = bookNow(set, book, realNow);
      const settlement = findProcessing(set, book, uuid);
      if (merchant.settings.wallet_frozen[settlement.currency]) throw new Fault("WALLET_FROZEN");
      const paid: Settlement = {
        ...settlement,
        status: "paid",
        paidAt: now,
        bankReference,
      };
      set.update(settlements, paid);
      record(set, paid, "settlement_paid", payoutPostings(moved(paid)), now);
      tell(outbox, set, merchant, paid, "settlement.paid", now);
      return paid;
    },
  };
}

/** The bank returned a batch: its funds are available again, and its items wait for another. Throws as `paySettlement`. */
export function returnSettlement(book: Book, uuid: string, items: readonly SettlementItem[]): Command<Settlement> {
  return {
    name: "return settlement",
    book,
    needs: batchNeeds(book, uuid),
    execute(set, realNow) {
      const now = bookNow(set, book, realNow);
      const settlement = findProcessing(set, book, uuid);
      const failed: Settlement = { ...settlement, status: "failed" };
      set.update(settlements, failed);
      set.insert(releases, { book, uuid });
      for (const item of items) mark(set, book, item, undefined);
      record(set, failed, "settlement_returned", unsettlePostings(moved(failed)), now);
      return failed;
    },
  };
}

function record(
  set: WorkingSet,
  settlement: Settlement,
  kind: string,
  postings: ReturnType<typeof settlePostings>,
  now: Micros,
): void {
  const { book, uuid } = settlement;
  post(set, book, { groupId: uuid, kind, operationKey: `${kind}:${uuid}`, postings }, now);
}

function tell(
  outbox: Outbox,
  set: WorkingSet,
  merchant: Merchant,
  settlement: Settlement,
  type: EventType,
  now: Micros,
): void {
  const { book, uuid } = settlement;
  const url = merchant.webhooks[book.environment]?.url;
  outbox.emit(set, { book, type, subjectId: uuid, url, data: settlementView(settlement) }, now);
}
