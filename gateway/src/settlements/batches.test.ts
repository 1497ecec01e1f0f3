// Goal: everything that is due goes into one batch, is paid or returned once, and every batch adds up. Method: the pure commands over items
// that wait; the choice itself by table.
import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { NOW, type Given, type Then, given, merchantWith, ownerWith, row } from "../../test/given.ts";
import { aPayment } from "../../test/payments.ts";
import { owning, refundParts } from "../../test/refunds.ts";
import { openDispute } from "../disputes/disputes.ts";
import { SECOND, wireTime } from "../ground/clock.ts";
import { type IdKind, newId } from "../ground/ids.ts";
import type { Minor } from "../ground/money.ts";
import { otherBook } from "../merchants/books.ts";
import { defaultSchedule, localDate, nextRun, periodEnd } from "../merchants/settlement-schedule.ts";
import { paymentBatches, payments } from "../payments/payments.sql.ts";
import { refundBatches } from "../refunds/refunds.sql.ts";
import { createRefund } from "../refunds/refunds.ts";
import { type Settlement, type SettlementItem, isCut, select, settlementStatuses } from "./settlement.ts";
import { followSchedule, paySettlement, returnSettlement, runNow, runSchedule } from "./settlements.ts";
import { ITEMS_MAX, batchItems, releases, settlementClocks, settlements, unsettledItems } from "./settlements.sql.ts";

const owner = ownerWith();
const { book } = owner;
const DAY = 24 * 3600 * SECOND;

function item(kind: SettlementItem["kind"], amountMinor: Minor, changes: Partial<SettlementItem> = {}): SettlementItem {
  const id = newId(kind satisfies IdKind, NOW);
  const occurredAt = NOW - 100 * SECOND;
  return { kind, id, paymentReference: newId("payment", NOW), amountMinor, feeMinor: 0n, occurredAt, ...changes };
}

/** Items wait, by currency, and this much is available. */
function unsettled(items: Record<string, SettlementItem[]>, available: Minor, more: Given = {}) {
  const balances = Object.assign({}, ...Object.keys(items).map((currency) => owning({ available }, currency)));
  const rows = [row(unsettledItems, { book, items: new Map(Object.entries(items)) }), ...(more.rows ?? [])];
  return given({ ...more, rows, balances });
}

describe("what a batch takes", () => {
  const at = (second: number) => ({ occurredAt: second * SECOND });
  const [p1, p2, p3] = [1, 2, 3].map((n) => item("payment", 100n, { ...at(n), feeMinor: 10n })) as [
    SettlementItem,
    SettlementItem,
    SettlementItem,
  ];
  const refund = item("refund", 50n, at(4));
  const dispute = item("dispute", 30n, at(5));
  const receipt = item("receipt", 20n, at(0));
  test.each<[string, SettlementItem[], Minor, Minor, Minor | undefined, SettlementItem[]]>([
    ["all of it, when all of it is available", [p1, p2, p3], 270n, 0n, 270n, [p1, p2, p3]],
    ["not the newest, when that is one too much", [p3, p2, p1], 269n, 0n, 180n, [p1, p2]],
    ["nothing, when even the oldest is too much", [p1], 89n, 0n, undefined, []],
    ["every deduction, first of all", [p1, p2, refund, dispute], 180n, 0n, 100n, [p1, p2, refund, dispute]],
    ["more payments, since deductions make room", [p1, p2, refund], 130n, 0n, 130n, [p1, p2, refund]],
    ["credited receipts, without a fee", [receipt, p1], 110n, 0n, 110n, [receipt, p1]],
    ["nothing, when deductions leave nothing", [item("payment", 80n), refund, dispute], 500n, 0n, undefined, []],
    ["nothing below the minimum", [p1], 500n, 91n, undefined, []],
    ["what is exactly the minimum", [p1], 500n, 90n, 90n, [p1]],
    ["nothing, when nothing waits", [], 500n, 0n, undefined, []],
  ])("%s", (_what, items, available, minimum, net, taken) => {
    const selection = select(items, available, minimum);
    expect(selection?.netMinor).toBe(net);
    expect(selection?.items ?? []).toEqual(taken);
  });

  test("of a part of what waits only the deductions that the part makes up for", () => {
    const large = item("refund", 90n, at(1));
    const small = item("refund", 40n, at(2));
    expect(select([p1, large, small], 500n, 0n, true)).toMatchObject({ netMinor: 50n, items: [p1, small] });
    expect(select([p1, large, small], 500n, 0n)).toBeUndefined();
    const older = item("refund", 70n, at(0));
    expect(select([p1, small, older], 500n, 0n, true)).toMatchObject({ netMinor: 20n, items: [p1, older] });
  });
});

test("of more than JSON carries a part is taken, with the deductions that the part makes up for", () => {
  const most = 9_007_199_254_740_991n;
  const at = (n: number) => ({ occurredAt: NOW - (10 - n) * SECOND });
  const [p1, p2, p3] = [1, 2, 3].map((n) => item("payment", most, at(n))) as [
    SettlementItem,
    SettlementItem,
    SettlementItem,
  ];
  const whole = item("refund", most, at(4));
  const part = item("refund", 1_000n, at(5));
  expect(select([p1, p2, p3, whole], 2n * most, 0n)).toMatchObject({ items: [p1], netMinor: most });
  expect(select([p1, p2, whole, part], most - 1_000n, 0n)).toMatchObject({
    items: [p1, part],
    netMinor: most - 1_000n,
  });
});

describe("with more than a batch looks at", () => {
  const many = Array.from({ length: ITEMS_MAX }, () => item("payment", 1n));
  const least = BigInt(ITEMS_MAX) * 2n;
  const withMinimum = ownerWith({ settlement: { ...defaultSchedule, minimum_payout_minor: Number(least) } });

  test("it may be less than the minimum, where all that waits is more", () => {
    expect(unsettled({ IDR: many }, 1_000_000n).when(runNow(withMinimum)).answer).toMatchObject([
      { netMinor: BigInt(ITEMS_MAX) },
    ]);
  });

  test("it waits, where all that waits is less", () => {
    expect(unsettled({ IDR: many }, least - 1n).when(runNow(withMinimum)).answer).toEqual([]);
    expect(unsettled({ IDR: many.slice(1) }, 1_000_000n).when(runNow(withMinimum)).answer).toEqual([]);
  });

  test("the interface says how many that is", () => {
    const text = readFileSync(new URL("../../../docs/interface.md", import.meta.url), "utf8").replaceAll("\n", " ");
    const most = ITEMS_MAX.toLocaleString("en-US");
    expect(text).toContain(`A run with more than ${most} payments, refunds or lost disputes of a currency`);
    expect(text).toContain(`Of more than ${most} payments the oldest are taken`);
  });

  test("payments whose fee takes all of them are looked at besides", () => {
    const free = many.map((each) => ({ ...each, id: newId("payment", NOW), feeMinor: 1n }));
    expect([isCut(free, ITEMS_MAX), isCut([...free, ...many.slice(1)], ITEMS_MAX), isCut(many, ITEMS_MAX)]).toEqual([
      false,
      false,
      true,
    ]);
  });
});

describe("forming", () => {
  test("posts the net from available to settling, marks the items, and emits the batch", () => {
    const items = [item("payment", 1_000n, { feeMinor: 7n, occurredAt: NOW - 300 * SECOND }), item("refund", 200n)];
    unsettled({ IDR: items }, 793n)
      .when(runNow(owner))
      .then((changes, [batch]) => {
        expect(batch).toMatchObject({
          status: "processing",
          grossMinor: 1_000n,
          feeMinor: 7n,
          refundMinor: 200n,
          netMinor: 793n,
          paymentCount: 1,
          periodStart: NOW - 300 * SECOND,
          periodEnd: NOW,
          payDueAt: NOW + 3_600 * SECOND,
          paidAt: undefined,
          bankReference: undefined,
        });
        expect(changes.journals).toEqual([
          { kind: "settlement_formed", entries: { "merchant:available IDR": 793n, "merchant:settling IDR": -793n } },
        ]);
        const uuid = batch?.uuid;
        expect(changes.inserted(batchItems).map(({ id }) => id)).toEqual(items.map(({ id }) => id));
        expect(changes.inserted(paymentBatches)).toEqual([{ book, id: items[0]?.id, settlement: uuid }]);
        expect(changes.inserted(refundBatches)).toEqual([{ book, id: items[1]?.id, settlement: uuid }]);
        expect(changes.events).toEqual(["settlement.created"]);
      });
  });

  test("takes nothing twice: a second run finds its items marked", () => {
    const first = unsettled({ IDR: [item("payment", 1_000n)] }, 5_000n).when(runNow(owner));
    expect(first.answer).toHaveLength(1);
    expect(first.when(runNow(owner)).answer).toEqual([]);
  });

  test("forms one batch for each currency, and none of a frozen wallet", () => {
    const both = () => unsettled({ IDR: [item("payment", 10n)], USD: [item("payment", 20n)] }, 100n);
    expect(both().when(runNow(owner)).answer).toMatchObject([
      { currency: "IDR", netMinor: 10n },
      { currency: "USD", netMinor: 20n },
    ]);
    const frozen = both().when(runNow(ownerWith({ wallet_frozen: { IDR: true } })));
    expect(frozen.answer).toMatchObject([{ currency: "USD" }]);
  });

  test("leaves out what the minimum payout does not reach", () => {
    const settlement = { ...defaultSchedule, minimum_payout_minor: 11 };
    expect(unsettled({ IDR: [item("payment", 10n)] }, 100n).when(runNow(ownerWith({ settlement }))).answer).toEqual([]);
  });

  test("leaves out a payment over which a dispute was opened just before, and its refunds", () => {
    const payment = aPayment({ status: "partially_refunded" });
    const own = item("payment", 1_000_000n, { id: payment.reference, paymentReference: payment.reference });
    const refund = item("refund", 400_000n, { paymentReference: payment.reference });
    const other = item("payment", 500n);
    unsettled({ IDR: [own, refund, other] }, 10_000_000n, { rows: [row(payments, payment)], inPassing: [payments] })
      .when(openDispute(owner, payment.reference, { reason: "general", amount_minor: 1 }))
      .when(runNow(owner))
      .then((changes) => expect(changes.inserted(batchItems)).toMatchObject([{ id: other.id }]));
  });

  test("leaves out a payment of which a refund was begun just before that is not done, and its other refunds", () => {
    const payment = aPayment({ status: "partially_refunded" });
    const own = item("payment", 1_000_000n, { id: payment.reference, paymentReference: payment.reference });
    const before = item("refund", 400_000n, { paymentReference: payment.reference });
    const other = item("payment", 500n);
    const asked = { payment_reference: payment.reference, amount_minor: 1 };
    const formed = (how: "later" | "at once") => {
      const after = unsettled({ IDR: [own, before, other] }, 10_000_000n, {
        rows: [row(payments, payment)],
        inPassing: [payments],
      })
        .when(createRefund(refundParts(how).parts, owner, asked))
        .when(runNow(owner));
      return after.changes.inserted(batchItems).map(({ id }) => id);
    };
    expect(formed("later")).toEqual([other.id]);
    expect(formed("at once").toSorted()).toEqual([own.id, before.id, other.id].toSorted());
  });
});

describe("the schedule", () => {
  const run = nextRun(defaultSchedule, NOW);
  const end = periodEnd(defaultSchedule, run);
  const clock = row(settlementClocks, { book, nextRunAt: run });
  const at = (moment: number): Given => ({ rows: [clock], realNow: moment });
  const fresh: Given = { rows: [row(settlementClocks, { book, nextRunAt: undefined })], realNow: run };
  const old = item("payment", 10n, { occurredAt: end - 1 });

  test("forms nothing before its cutoff, and then what happened before the period's end", () => {
    const young = item("payment", 20n, { occurredAt: end });
    const early = unsettled({ IDR: [old, young] }, 100n, at(run - 1)).when(runSchedule(owner));
    expect([early.answer, early.changes.updated(settlementClocks)]).toEqual([[], [{ book, nextRunAt: run }]]);
    unsettled({ IDR: [old, young] }, 100n, at(run))
      .when(runSchedule(owner))
      .then((changes, formed) => {
        expect(formed).toMatchObject([{ netMinor: 10n, periodEnd: end, payDueAt: run + 3_600 * SECOND }]);
        expect(changes.updated(settlementClocks)).toEqual([{ book, nextRunAt: nextRun(defaultSchedule, run) }]);
      });
  });

  test("passes every cutoff in order when it starts late: the payout counts from the cutoff", () => {
    const second = nextRun(defaultSchedule, run);
    const young = item("payment", 20n, { occurredAt: periodEnd(defaultSchedule, second) - 1 });
    const late = unsettled({ IDR: [old, young] }, 100n, at(run + 14 * DAY)).when(runSchedule(owner));
    expect(late.answer).toMatchObject([
      { netMinor: 10n, payDueAt: run + 3_600 * SECOND },
      { netMinor: 20n, payDueAt: second + 3_600 * SECOND },
    ]);
    expect(late.changes.updated(settlementClocks)).toEqual([
      { book, nextRunAt: nextRun(defaultSchedule, run + 14 * DAY) },
    ]);
  });

  test("of a book that was never run begins with the first cutoff after the oldest item", () => {
    const late = unsettled({ IDR: [old] }, 100n, fresh).when(runSchedule(owner));
    expect(late.answer).toHaveLength(1);
    expect(late.changes.updated(settlementClocks)).toEqual([{ book, nextRunAt: nextRun(defaultSchedule, run) }]);
    const idle = given(fresh).when(runSchedule(owner));
    expect(idle.changes.updated(settlementClocks)).toEqual([{ book, nextRunAt: nextRun(defaultSchedule, run) }]);
  });

  test("passes the cutoffs at which nothing changes at once, however many they are", () => {
    let passes = 0;
    class Counted extends Map<string, SettlementItem[]> {
      override [Symbol.iterator]() {
        passes++;
        return super[Symbol.iterator]();
      }
    }
    const century = run + 36_500 * DAY;
    // One item that never leaves by itself, and one of half a century later.
    const stuck = item("refund", 10n, { occurredAt: end - 1 });
    const late = item("payment", 5n, { occurredAt: run + 18_000 * DAY });
    const items = new Counted([["IDR", [stuck, late]]]);
    const { answer, changes } = given({
      rows: [clock, row(unsettledItems, { book, items })],
      balances: owning({ available: -5n }),
      realNow: century,
    }).when(runSchedule(owner));
    expect(answer).toEqual([]);
    expect(changes.updated(settlementClocks)).toEqual([{ book, nextRunAt: nextRun(defaultSchedule, century) }]);
    expect(passes).toBeLessThan(10);
  });

  test("finds the oldest of more items than a call may have arguments, in a book that was never run and in one that was", () => {
    const many = Array<SettlementItem>(200_000).fill(item("payment", 1n, { occurredAt: run + 100 * DAY }));
    const first = unsettled({ IDR: [old], USD: many }, 10n, fresh).when(runSchedule(owner));
    expect(first.answer).toMatchObject([{ currency: "IDR", netMinor: 10n }]);
    const next = unsettled({ USD: many }, 10n, at(run)).when(runSchedule(owner));
    expect(next.changes.updated(settlementClocks)).toEqual([
      { book, nextRunAt: nextRun(defaultSchedule, run + 100 * DAY) },
    ]);
  });

  test("forms a hundred batches in one run, and goes on from there in the next", () => {
    const moments: number[] = [];
    for (let cutoff = run; moments.length < 150; cutoff = nextRun(defaultSchedule, cutoff))
      moments.push(periodEnd(defaultSchedule, cutoff) - 1);
    const daily = moments.map((occurredAt) => item("payment", 1n, { occurredAt }));
    const first = unsettled({ IDR: daily }, 150n, at(run + 400 * DAY)).when(runSchedule(owner));
    expect(first.answer).toHaveLength(100);
    const [next] = first.changes.updated(settlementClocks) as { nextRunAt: number }[];
    expect(periodEnd(defaultSchedule, next?.nextRunAt ?? 0) - 1).toBe(moments[100]);
  });

  test("that was changed moves a run that is to come, and no run that is due", () => {
    const changed = { ...defaultSchedule, cutoff: "17:30", holidays: [localDate(defaultSchedule, NOW)] };
    const after = ownerWith({ settlement: changed });
    const moved = given(at(run - 1)).when(followSchedule(after));
    expect(moved.changes.updated(settlementClocks)).toEqual([{ book, nextRunAt: nextRun(changed, run - 1) }]);
    expect(given(at(run)).when(followSchedule(after)).changes.updated(settlementClocks)).toEqual([]);
    expect(given({ realNow: NOW }).when(followSchedule(after)).changes.inserted(settlementClocks)).toEqual([]);
  });

  test("of a book that was run goes on where it stands, however old an item is", () => {
    const second = nextRun(defaultSchedule, run);
    const stands: Given = { rows: [row(settlementClocks, { book, nextRunAt: second })], realNow: second };
    expect(unsettled({ IDR: [old] }, 100n, stands).when(runSchedule(owner)).answer).toMatchObject([
      { periodEnd: periodEnd(defaultSchedule, second), payDueAt: second + 3_600 * SECOND },
    ]);
  });

  test("stays at a cutoff of which more is left than a batch looks at", () => {
    const many = Array.from({ length: ITEMS_MAX }, () => item("payment", 1n, { occurredAt: end - 1 }));
    const first = unsettled({ IDR: many }, BigInt(ITEMS_MAX), at(run + 14 * DAY)).when(runSchedule(owner));
    expect(first.answer).toHaveLength(1);
    expect(first.changes.updated(settlementClocks)).toEqual([{ book, nextRunAt: run }]);
  });

  test("that is late forms at the next cutoff what one batch could not carry", () => {
    const most = 9_007_199_254_740_991n;
    const two = [1, 2].map((second) => item("payment", most, { occurredAt: end - second }));
    const late = unsettled({ IDR: two }, 2n * most, at(run + 14 * DAY)).when(runSchedule(owner));
    const second = nextRun(defaultSchedule, run);
    expect(late.answer.map(({ payDueAt }) => payDueAt - 3_600 * SECOND)).toEqual([run, second]);
  });

  test("follows the book's clock", () => {
    const ahead = { rows: [clock], realNow: run - 100 * SECOND, offsetSeconds: 100 };
    expect(unsettled({ IDR: [old] }, 100n, ahead).when(runSchedule(owner)).answer).toHaveLength(1);
  });
});

const aBatch = (changes: Partial<Settlement> = {}): Settlement => ({
  book,
  uuid: newId("settlement", NOW),
  status: "processing",
  currency: "IDR",
  periodStart: NOW - DAY,
  periodEnd: NOW,
  grossMinor: 1_000n,
  feeMinor: 7n,
  refundMinor: 200n,
  netMinor: 793n,
  paymentCount: 1,
  createdAt: NOW,
  payDueAt: NOW,
  payoutDate: wireTime(NOW).slice(0, 10),
  paidAt: undefined,
  returnedAt: undefined,
  bankReference: undefined,
  ...changes,
});

describe("paying and returning", () => {
  const withBatch = (batch: Settlement, rows: Given["rows"] = [], realNow = NOW) =>
    given({ rows: [row(settlements, batch), ...rows], balances: owning({ settling: 793n }), realNow });

  test("the bank pays: settling goes out, under the bank's reference", () => {
    const batch = aBatch();
    withBatch(batch)
      .when(paySettlement(owner, batch.uuid, "BANK-1"))
      .then((changes, paid) => {
        expect(paid).toMatchObject({ status: "paid", paidAt: NOW, bankReference: "BANK-1" });
        expect(changes.updated(settlements)).toEqual([paid]);
        expect(changes.journals).toEqual([
          { kind: "settlement_paid", entries: { "merchant:settling IDR": 793n, "platform:bank IDR": -793n } },
        ]);
        expect(changes.events).toEqual(["settlement.paid"]);
      });
  });

  test("the day of the payout is the one on which it was made, and not the one on which it was due", () => {
    const batch = aBatch();
    const { answer } = withBatch(batch, [], NOW + 2 * DAY).when(paySettlement(owner, batch.uuid));
    expect(answer.payoutDate).toBe(localDate(defaultSchedule, NOW + 2 * DAY));
  });

  test("the bank returns: the funds are available again, and the items wait again", () => {
    const batch = aBatch();
    const [paid, refunded] = [item("payment", 1_000n, { feeMinor: 7n }), item("refund", 200n)];
    const marks = [
      row(paymentBatches, { book, id: paid.id, settlement: batch.uuid }),
      row(refundBatches, { book, id: refunded.id, settlement: batch.uuid }),
    ];
    withBatch(batch, marks)
      .when(returnSettlement(owner, batch.uuid, [paid, refunded]))
      .then((changes, failed) => {
        expect(failed).toEqual({ ...batch, status: "failed", returnedAt: NOW });
        expect(changes.updated(settlements)).toEqual([failed]);
        expect(changes.journals).toEqual([
          { kind: "settlement_returned", entries: { "merchant:available IDR": -793n, "merchant:settling IDR": 793n } },
        ]);
        expect(changes.inserted(releases)).toEqual([{ book, uuid: batch.uuid }]);
        expect(changes.updated(paymentBatches)).toEqual([{ book, id: paid.id, settlement: undefined }]);
        expect(changes.updated(refundBatches)).toEqual([{ book, id: refunded.id, settlement: undefined }]);
        expect(changes.events).toEqual([]);
      });
  });

  test("a returned batch's items go into the next one", () => {
    const one = item("payment", 1_000n);
    const formed = unsettled({ IDR: [one] }, 1_000n).when(runNow(owner));
    const [batch] = formed.answer;
    const again = formed.when(returnSettlement(owner, batch?.uuid ?? "", [one])).when(runNow(owner));
    expect(again.answer).toMatchObject([{ netMinor: 1_000n }]);
    expect(again.answer[0]?.uuid).not.toBe(batch?.uuid);
  });

  test.each(settlementStatuses.filter((status) => status !== "processing"))("a %s batch stays as it is", (status) => {
    const batch = aBatch({ status });
    withBatch(batch).when(paySettlement(owner, batch.uuid)).refuses("SETTLEMENT_CLOSED", { status });
    withBatch(batch)
      .when(returnSettlement(owner, batch.uuid, []))
      .refuses("SETTLEMENT_CLOSED", { status });
  });

  test("a frozen wallet is not paid, but may be returned", () => {
    const batch = aBatch();
    const frozen = { merchant: merchantWith({ wallet_frozen: { IDR: true } }), book };
    withBatch(batch).when(paySettlement(frozen, batch.uuid)).refuses("WALLET_FROZEN");
    expect(withBatch(batch).when(returnSettlement(frozen, batch.uuid, [])).answer.status).toBe("failed");
  });

  test("one of the other environment is a mismatch, and one of nobody is not found", () => {
    const elsewhere = aBatch({ book: otherBook(book) });
    given({ rows: [row(settlements, elsewhere)] })
      .when(paySettlement(owner, elsewhere.uuid))
      .refuses("ENVIRONMENT_MISMATCH");
    given().when(paySettlement(owner, elsewhere.uuid)).refuses("OBJECT_NOT_FOUND");
    given().when(paySettlement(owner, "set_nonsense")).refuses("OBJECT_NOT_FOUND");
  });
});

test("whatever waits, runs never take more than is available, and take each item at most once", () => {
  const some = fc.record({
    kind: fc.constantFrom<SettlementItem["kind"]>("payment", "receipt", "refund", "dispute"),
    amount: fc.bigInt({ min: 1n, max: 1_000n }),
    age: fc.integer({ min: 1, max: 10_000 }),
  });
  fc.assert(
    fc.property(fc.array(some, { maxLength: 20 }), fc.bigInt({ min: 0n, max: 8_000n }), (list, available) => {
      const items = list.map(({ kind, amount, age }) => item(kind, amount, { occurredAt: NOW - age * SECOND }));
      const first = unsettled({ IDR: items }, available).when(runNow(owner));
      const second: Then<Settlement[]> = first.when(runNow(owner));
      const formed = [...first.answer, ...second.answer];
      const net = formed.reduce((sum, { netMinor }) => sum + netMinor, 0n);
      expect(net <= available).toBe(true);
      const taken = second.changes.inserted(batchItems);
      expect(new Set(taken.map(({ id }) => id)).size).toBe(taken.length);
      const signed = taken.map(({ kind, amountMinor }) =>
        kind === "payment" || kind === "receipt" ? amountMinor : -amountMinor,
      );
      expect(signed.reduce((sum, amount) => sum + amount, 0n)).toBe(net);
      expect(second.changes.journals.map(({ entries }) => entries["merchant:settling IDR"])).toEqual(
        formed.map(({ netMinor }) => -netMinor),
      );
    }),
    { numRuns: 200 },
  );
});
