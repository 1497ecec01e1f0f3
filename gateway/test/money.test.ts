// Goal: no sequence of money commands makes a book wrong. Method: random commands over one book, in a working set and without a database;
// at the end the journals are summed, entry by entry, and compared with the balances, the payments, the refunds, the disputes and the batches.
import fc from "fast-check";
import { expect, test } from "vitest";
import { exceptions } from "../src/acquiring/exceptions.sql.ts";
import { paymentNotification } from "../src/acquiring/notifications.ts";
import type { KeptReceipt } from "../src/acquiring/receipt.ts";
import { decideReceipt } from "../src/acquiring/receipts.ts";
import { receiptBatches, receipts } from "../src/acquiring/receipts.sql.ts";
import type { Dispute } from "../src/disputes/dispute.ts";
import { openDispute, resolveDispute, submitEvidence } from "../src/disputes/disputes.ts";
import { disputeBatches, disputes } from "../src/disputes/disputes.sql.ts";
import { SECOND } from "../src/ground/clock.ts";
import type { Minor } from "../src/ground/money.ts";
import { defaultSettings } from "../src/merchants/settings.ts";
import { accounts, journalHash } from "../src/ledger/journal.ts";
import { bookBalances, journals } from "../src/ledger/ledger.sql.ts";
import { type Payment, isRunning } from "../src/payments/payment.ts";
import { paymentBatches, payments } from "../src/payments/payments.sql.ts";
import { isPaid } from "../src/payments/states.ts";
import type { Refund } from "../src/refunds/refund.ts";
import { completeRefund, createRefund } from "../src/refunds/refunds.ts";
import { refundBatches, refunds } from "../src/refunds/refunds.sql.ts";
import type { Settlement, SettlementItem } from "../src/settlements/settlement.ts";
import { paySettlement, returnSettlement, runNow } from "../src/settlements/settlements.ts";
import { batchItems, settlements, unsettledItems } from "../src/settlements/settlements.sql.ts";
import type { Command } from "../src/store/command.ts";
import type { WorkingSet } from "../src/store/working-set.ts";
import { anOperation } from "./acquiring.ts";
import { settingsIn } from "./currencies.ts";
import { NOW, type Then, book, given, ownerWith, row } from "./given.ts";
import { aPayment } from "./payments.ts";
import { nothing, refundParts } from "./refunds.ts";
import { operations } from "../src/acquiring/operations.sql.ts";

const owner = ownerWith(settingsIn(defaultSettings, "USD"));
const currencies = ["IDR", "USD"] as const;

const action = fc.record({
  what: fc.constantFrom(
    "pay",
    "pay",
    "pay late",
    "refund",
    "refund later",
    "refund later",
    "complete",
    "complete",
    "fail",
    "contest",
    "answer",
    "win",
    "lose",
    "withdraw",
    "settle",
    "settle",
    "pay out",
    "return",
    "credit",
    "give back",
  ),
  which: fc.nat({ max: 5 }),
  part: fc.integer({ min: 1, max: 4 }),
});
type Action = typeof action extends fc.Arbitrary<infer One> ? One : never;

/** Every row of a table as it is now, whether it was given, added or changed. */
function all<Value>(last: Then<unknown>, first: readonly Value[], table: never, id: (value: Value) => string): Value[] {
  const now = new Map(first.map((value) => [id(value), value]));
  for (const value of [...last.changes.inserted(table), ...last.changes.updated(table)] as Value[])
    now.set(id(value), value);
  return [...now.values()];
}

/** What the database would find waiting, put into the working set before a run as a load does. */
function load(state: State): Command<unknown> {
  const items = new Map<string, SettlementItem[]>();
  const add = (currency: string, one: SettlementItem): void => {
    items.set(currency, [...(items.get(currency) ?? []), one]);
  };
  const contested = new Set(
    state.payments.filter(({ disputeStatus }) => isRunning(disputeStatus)).map(({ reference }) => reference),
  );
  for (const one of state.payments) {
    if (one.paidAt === undefined || contested.has(one.reference)) continue;
    const { reference: id, amountMinor, feeMinor, paidAt: occurredAt } = one;
    add(one.currency, { kind: "payment", id, paymentReference: id, amountMinor, feeMinor, occurredAt });
  }
  const plain = (kind: SettlementItem["kind"], one: Refund | Dispute | KeptReceipt, at: number | undefined): void => {
    const { uuid: id, paymentReference, amountMinor, currency } = one;
    add(currency, { kind, id, paymentReference, amountMinor, feeMinor: 0n, occurredAt: at ?? NOW });
  };
  for (const one of state.refunds)
    if (one.status === "succeeded" && !contested.has(one.paymentReference)) plain("refund", one, one.completedAt);
  for (const one of state.disputes) if (one.status === "lost") plain("dispute", one, one.resolvedAt);
  for (const one of state.receipts) if (one.status === "credited") plain("receipt", one, one.decidedAt);
  return { ...nothing, execute: (set: WorkingSet) => set.put(unsettledItems, { book, items }) };
}

interface State {
  payments: Payment[];
  refunds: Refund[];
  disputes: Dispute[];
  receipts: KeptReceipt[];
  settlements: Settlement[];
}

/** The command of an action on what there is; undefined when there is nothing of it. */
function commandOf(
  { what, which, part }: Action,
  state: State,
  last: Then<unknown>,
  number: number,
): Command<unknown> | undefined {
  const pick = <One>(list: readonly One[]): One | undefined => list[which % Math.max(1, list.length)];
  const payment = pick(state.payments);
  if (!payment) return undefined;
  const amount = Number(payment.amountMinor) / part;
  const pending = pick(state.refunds.filter(({ status }) => status === "pending"));
  const running = pick(state.disputes.filter(({ status }) => isRunning(status)));
  const batch = pick(state.settlements.filter(({ status }) => status === "processing"));
  const unapplied = pick(state.receipts.filter(({ status }) => status === "unapplied"));
  const refund = (how: "at once" | "later"): Command<unknown> =>
    createRefund(refundParts(how).parts, owner, {
      payment_reference: payment.reference,
      ...(part === 1 ? {} : { amount_minor: Math.floor(amount) }),
    });
  const notify = (transactionId: string): Command<unknown> =>
    paymentNotification(owner.merchant, { book, id: payment.reference, kind: "payment", attempt: 1 }, "nusantara", {
      state: {
        status: "paid",
        receipt: { transactionId, amountMinor: payment.amountMinor, currency: payment.currency },
      },
    });
  const resolve = (outcome: "won" | "lost" | "withdrawn"): Command<unknown> | undefined =>
    running && resolveDispute(owner, running, outcome);
  switch (what) {
    case "pay":
      return notify(`own-${payment.reference.slice(4)}`);
    case "pay late":
      return notify(`t-${number}`);
    case "refund":
      return refund("at once");
    case "refund later":
      return refund("later");
    case "complete":
      return pending && completeRefund(owner, pending, "succeeded");
    case "fail":
      return pending && completeRefund(owner, pending, "failed");
    case "contest":
      return openDispute(owner, payment.reference, { reason: "general", amount_minor: Math.floor(amount) });
    case "answer":
      return running && submitEvidence(owner, running, { statement: "x", files: [] });
    case "win":
      return resolve("won");
    case "lose":
      return resolve("lost");
    case "withdraw":
      return resolve("withdrawn");
    case "settle":
      return runNow(owner);
    case "pay out":
      return batch && paySettlement(owner, batch.uuid);
    case "return": {
      const items = last.changes.inserted(batchItems).filter(({ uuid }) => uuid === batch?.uuid);
      return batch && returnSettlement(owner, batch.uuid, items);
    }
    case "credit":
      return unapplied && decideReceipt(owner.merchant, unapplied, "credited");
    case "give back":
      return unapplied && decideReceipt(owner.merchant, unapplied, "returned");
  }
}

function stateOf(last: Then<unknown>, first: readonly Payment[]): State {
  const uuid = ({ uuid: id }: { uuid: string }): string => id;
  return {
    payments: all(last, first, payments as never, ({ reference }) => reference),
    refunds: all<Refund>(last, [], refunds as never, uuid),
    disputes: all<Dispute>(last, [], disputes as never, uuid),
    receipts: all<KeptReceipt>(last, [], receipts as never, uuid),
    settlements: all<Settlement>(last, [], settlements as never, uuid),
  };
}

/** Credit balances after every entry. Available is not among them: a dispute takes it below zero. */
const neverNegative = new Set<string>([
  accounts.held,
  accounts.settling,
  accounts.unapplied,
  accounts.bank,
  accounts.fees,
]);

/** What must hold whatever happened. */
function expectSound(last: Then<unknown>, state: State): void {
  const posted = last.changes.inserted(journals).toSorted((a, b) => Number(a.seq - b.seq));
  const sums = new Map<string, Minor>();
  let hash: Buffer = Buffer.alloc(32);
  for (const [index, journal] of posted.entries()) {
    expect([journal.seq, journal.prevHash, journal.hash]).toEqual([BigInt(index + 1), hash, journalHash(journal)]);
    hash = journal.hash;
    const zero = new Map<string, Minor>();
    const wrong = journal.entries.filter(({ account, currency, amountMinor, balanceAfterMinor }) => {
      const name = `${account} ${currency}`;
      zero.set(currency, (zero.get(currency) ?? 0n) + amountMinor);
      sums.set(name, (sums.get(name) ?? 0n) + amountMinor);
      return balanceAfterMinor !== sums.get(name) || (neverNegative.has(account) && balanceAfterMinor > 0n);
    });
    expect(wrong, journal.kind).toEqual([]);
    expect([...zero.values()].every((sum) => sum === 0n)).toBe(true);
  }
  expect(new Set(posted.map(({ operationKey }) => operationKey)).size).toBe(posted.length);
  const [balances] = last.changes.updated(bookBalances);
  expect(new Map([...(balances?.balances ?? [])].filter(([name]) => sums.has(name)))).toEqual(sums);

  for (const one of state.payments) {
    const own = state.refunds.filter(({ paymentReference }) => paymentReference === one.reference);
    const total = (status: Refund["status"]): Minor =>
      own.filter((refund) => refund.status === status).reduce((sum, { amountMinor }) => sum + amountMinor, 0n);
    expect([one.refundedMinor, one.refundPendingMinor]).toEqual([total("succeeded"), total("pending")]);
    expect(one.refundedMinor + one.refundPendingMinor <= one.amountMinor).toBe(true);
    expect(isPaid(one.status)).toBe(one.paidAt !== undefined);
  }
  for (const currency of currencies) {
    const owned = (account: string): Minor => -(sums.get(`${account} ${currency}`) ?? 0n);
    const of = <One extends { currency: string }>(list: readonly One[]): One[] =>
      list.filter((one) => one.currency === currency);
    const total = (list: readonly { amountMinor: Minor }[]): Minor =>
      list.reduce((sum, { amountMinor }) => sum + amountMinor, 0n);
    expect(owned(accounts.held)).toBe(total(of(state.disputes).filter(({ status }) => isRunning(status))));
    const batches = of(state.settlements);
    const net = (status: Settlement["status"]): Minor =>
      batches.filter((batch) => batch.status === status).reduce((sum, { netMinor }) => sum + netMinor, 0n);
    expect([owned(accounts.settling), owned(accounts.bank)]).toEqual([net("processing"), net("paid")]);
    expect(owned(accounts.unapplied)).toBe(total(of(state.receipts).filter(({ status }) => status === "unapplied")));
    // Available goes below zero by disputes alone: what they hold and have taken makes it up.
    const taken = total(of(state.disputes).filter(({ status }) => isRunning(status) || status === "lost"));
    expect(owned(accounts.available) + taken >= 0n).toBe(true);
  }
  // What an item is marked with is a batch that the bank has not returned.
  const open = new Set(state.settlements.filter(({ status }) => status !== "failed").map(({ uuid }) => uuid));
  for (const table of [paymentBatches, refundBatches, disputeBatches, receiptBatches])
    for (const { settlement } of last.changes.inserted(table))
      if (settlement !== undefined) expect(open.has(settlement)).toBe(true);
  expect(last.changes.inserted(exceptions)).toEqual([]);
}

test("any sequence of money commands leaves the book zero-sum, its balances the sums of entries, and nothing spent twice", () => {
  const sums = fc.array(fc.integer({ min: 1, max: 2_000_000 }), { minLength: 2, maxLength: 4 });
  const seen = new Map<string, number>();
  fc.assert(
    fc.property(sums, fc.array(action, { minLength: 10, maxLength: 60, size: "max" }), (amounts, actions) => {
      const first = amounts.map((amount, index) =>
        aPayment({
          amountMinor: BigInt(amount),
          feeMinor: BigInt(Math.floor(amount / 100)),
          currency: index % 3 === 2 ? "USD" : "IDR",
          expiresAt: NOW + 3_600 * SECOND,
        }),
      );
      const rows = first.flatMap((one) => [
        row(payments, one),
        row(operations, anOperation(one.reference, { step: "polling", gatewayCode: "nusantara" })),
      ]);
      // A settlement looks at payments that earlier commands of its batch changed.
      let last: Then<unknown> = given({ rows, inPassing: [payments] }).when(nothing);
      // Most of them are paid to begin with, so that there is something to do.
      const paying = first.slice(1).map((_, which): Action => ({ what: "pay", which, part: 1 }));
      for (const [number, one] of [...paying, ...actions].entries()) {
        const state = stateOf(last, first);
        const command = commandOf(one, state, last, number);
        if (!command) continue;
        if (one.what === "settle") last = last.when(load(state));
        last = last.when(command, NOW + (number + 1) * SECOND);
        const done = "fault" in last.outcome ? `${one.what}: ${last.outcome.fault.code}` : one.what;
        seen.set(done, (seen.get(done) ?? 0) + 1);
      }
      expectSound(last, stateOf(last, first));
    }),
    { numRuns: 60 },
  );
  // The sequences get somewhere, so that a rule that refuses everything would be seen.
  for (const what of ["pay", "refund", "contest", "settle", "pay out", "return"])
    expect(seen.get(what) ?? 0, what).toBeGreaterThan(0);
});
