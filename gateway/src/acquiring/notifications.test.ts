// Goal: notifications may be late, double or out of order, and money is neither lost nor counted twice. Method: the pure commands over
// payments in every state; an operator's decision about unapplied money; any notifications by property.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { anOperation, aReceipt, closing } from "../../test/acquiring.ts";
import { NOW, type Then, book, given, merchantWith, row } from "../../test/given.ts";
import { aPayment } from "../../test/payments.ts";
import { nothing } from "../../test/refunds.ts";
import type { ReportedState } from "../acquirers/acquirer.ts";
import { MINOR_MAX, type Minor } from "../ground/money.ts";
import type { Payment } from "../payments/payment.ts";
import { payments } from "../payments/payments.sql.ts";
import { isPaid, paymentStatuses } from "../payments/states.ts";
import { exceptions } from "./exceptions.sql.ts";
import { paymentNotification } from "./notifications.ts";
import { type Operation, operationSteps } from "./operation.ts";
import { operations } from "./operations.sql.ts";
import type { KeptReceipt } from "./receipt.ts";
import { decideReceipt } from "./receipts.ts";
import { receipts } from "./receipts.sql.ts";

const merchant = merchantWith();
const paid = (transactionId = "t-1", amountMinor: Minor = 1_000_000n, currency = "IDR"): ReportedState => ({
  status: "paid",
  receipt: { transactionId, amountMinor, currency },
});
const notify = (payment: Payment, state: ReportedState, gatewayCode = "kawah", attempt = 1) =>
  paymentNotification(merchant, { book, id: payment.reference, kind: "payment", attempt }, gatewayCode, { state });

/** A payment at `kawah`, followed by inquiries. */
function at(changes: Partial<Payment> = {}, operation: Partial<Operation> = {}, rows: KeptReceipt[] = []) {
  const payment = aPayment({ gatewayCode: "kawah", ...changes });
  const current = anOperation(payment.reference, { step: "polling", ...operation });
  const start = given({
    rows: [row(payments, payment), row(operations, current), ...rows.map((one) => row(receipts, one))],
  });
  return { payment, start };
}

/** Expects that the acquirer hears of its mistake, and that a person does, once: nothing else is written. */
function expectObjection(start: ReturnType<typeof given>, command: ReturnType<typeof notify>): void {
  const first = start.when(command);
  const again = first.when(command);
  expect(first.answer).toMatchObject({ objection: { code: "VALIDATION_ERROR" }, isNew: true });
  expect(again.answer).toMatchObject({ objection: { code: "VALIDATION_ERROR" }, isNew: false });
  for (const { changes } of [first, again]) {
    expect(changes.inserted(exceptions)).toMatchObject([{ kind: "receipt", gatewayCode: "kawah", attempt: 1 }]);
    expect([changes.journals, changes.events, changes.inserted(receipts)]).toEqual([[], [], []]);
    expect([changes.updated(payments), changes.updated(operations)]).toEqual([[], []]);
  }
}

describe("money", () => {
  test.each(paymentStatuses)("for a %s payment, exact", (status) => {
    const awaited = status === "pending" || status === "processing";
    const { payment, start } = at({ status });
    start.when(notify(payment, paid())).then((changes) => {
      expect(changes.inserted(receipts)).toMatchObject([
        { status: awaited ? "applied" : "unapplied", receivedAt: NOW },
      ]);
      expect(changes.journals).toEqual([
        awaited
          ? {
              kind: "capture",
              entries: {
                "acquirer:kawah:receivable IDR": 1_000_000n,
                "merchant:available IDR": -993_000n,
                "platform:fees IDR": -7_000n,
              },
            }
          : {
              kind: "receipt_unapplied",
              entries: { "acquirer:kawah:receivable IDR": 1_000_000n, "platform:unapplied IDR": -1_000_000n },
            },
      ]);
      expect(changes.updated(payments)).toMatchObject(awaited ? [{ status: "succeeded", paidAt: NOW }] : []);
      expect(changes.events).toEqual(awaited ? ["payment.succeeded"] : []);
    });
  });

  test.each([
    ["one unit less", paid("t-1", 999_999n), "IDR", 999_999n],
    ["one unit more", paid("t-1", 1_000_001n), "IDR", 1_000_001n],
    ["another currency", paid("t-1", 1_000_000n, "USD"), "USD", 1_000_000n],
    ["a thousand times as much", paid("t-1", 1_000_000_000n), "IDR", 1_000_000_000n],
  ] as const)("%s is unapplied, and the payment goes on waiting", (_what, state, currency, amount) => {
    const { payment, start } = at();
    start.when(notify(payment, state)).then((changes) => {
      expect(changes.inserted(receipts)).toMatchObject([{ status: "unapplied" }]);
      expect(changes.journals).toMatchObject([{ entries: { [`platform:unapplied ${currency}`]: -amount } }]);
      expect(changes.updated(payments)).toEqual([]);
    });
  });

  test.each([
    ["none", undefined, undefined],
    ["nothing", 0n, 0n],
    ["all of it", 1_000_000n, 1_000_000n],
    ["more than the amount", 1_000_001n, undefined],
    ["more than JSON carries", 10_000_000_000_000_000n, undefined],
    ["less than nothing", -1n, undefined],
  ])("counts with a fee of %s, which is kept where it can be true", (_what, feeMinor, kept) => {
    const { payment, start } = at();
    const receipt = { transactionId: "t-1", amountMinor: 1_000_000n, currency: "IDR", feeMinor };
    start.when(notify(payment, { status: "paid", receipt })).then((changes) => {
      expect(changes.updated(payments)).toMatchObject([{ status: "succeeded" }]);
      expect(changes.inserted(receipts).map((one) => one.feeMinor)).toEqual([kept]);
    });
  });

  test.each([
    ["nothing", paid("t-1", 0n)],
    ["less than nothing", paid("t-1", -1n)],
    ["more than JSON carries", paid("t-1", 10_000_000_000_000_000n)],
    ["a currency of tests", paid("t-1", 1_000_000n, "XXX")],
    ["a currency in small letters", paid("t-1", 1_000_000n, "idr")],
    ["an id with a space", paid("t 1")],
    ["an id that is too long", paid("t".repeat(65))],
  ])("%s is refused before the database would refuse it, and stops no book", (_what, state) => {
    const { payment, start } = at();
    expectObjection(start, notify(payment, state));
  });

  test.each([1n, MINOR_MAX])("an amount of %d can be paid", (amountMinor) => {
    const { payment, start } = at({ amountMinor });
    expect(start.when(notify(payment, paid("t", amountMinor))).changes.inserted(receipts)).toMatchObject([
      { status: "applied", transactionId: "t" },
    ]);
  });

  test("more than a thousand times as much is a mistake in the unit, and is refused", () => {
    const { payment, start } = at();
    expectObjection(start, notify(payment, paid("t-1", 1_000_000_001n)));
  });

  test("too late: a payment whose time is over expires, and the money is unapplied", () => {
    const { payment, start } = at({ expiresAt: NOW });
    start.when(notify(payment, paid())).then((changes) => {
      expect(changes.updated(payments)).toMatchObject([{ status: "expired" }]);
      expect(changes.inserted(receipts)).toMatchObject([{ status: "unapplied" }]);
      expect(changes.events).toEqual(["payment.expired"]);
    });
  });

  test("a processing payment does not expire: its money is applied at any time", () => {
    const { payment, start } = at({ status: "processing", expiresAt: NOW - 1 });
    expect(start.when(notify(payment, paid())).changes.inserted(receipts)).toMatchObject([{ status: "applied" }]);
  });

  test("the same transaction counts once; another one of the same payment is unapplied", () => {
    const { payment, start } = at();
    const twice = start.when(notify(payment, paid())).when(notify(payment, paid()));
    expect(twice.answer, "nothing is wrong with a repeated report").toBeUndefined();
    expect(twice.changes.journals.map(({ kind }) => kind)).toEqual(["capture"]);
    expect(twice.changes.inserted(exceptions)).toEqual([]);
    const other = twice.when(notify(payment, paid("t-2")));
    expect(other.changes.journals.map(({ kind }) => kind)).toEqual(["capture", "receipt_unapplied"]);
  });

  test.each([
    ["another payment", {}],
    ["another amount", { amountMinor: 999_999n }],
    ["another currency", { currency: "USD" }],
  ])("a transaction that was reported before with %s is refused", (what, changes) => {
    const payment = aPayment({ gatewayCode: "kawah" });
    const own = what === "another payment" ? {} : { paymentReference: payment.reference };
    const start = given({
      rows: [
        row(payments, payment),
        row(operations, anOperation(payment.reference)),
        row(receipts, aReceipt({ ...own, ...changes })),
      ],
    });
    expectObjection(start, notify(payment, paid()));
  });

  test("of another acquirer, or of an earlier attempt, is kept apart and moves nothing else", () => {
    const { payment, start } = at({}, { attempt: 2 });
    for (const late of [notify(payment, paid(), "lawu", 1), notify(payment, paid(), "lawu", 2)]) {
      const outcome = at({ reference: payment.reference }, { attempt: 2 }).start.when(late);
      expect(outcome.changes.inserted(receipts)).toMatchObject([{ status: "unapplied", gatewayCode: "lawu" }]);
      expect(outcome.changes.updated(payments)).toEqual([]);
    }
    // The payment's own acquirer, under an earlier attempt of it: exact money pays it.
    expect(start.when(notify(payment, paid())).changes.inserted(receipts)).toMatchObject([{ status: "applied" }]);
  });
});

test("money that is refused after a person has closed the exception of other money is told again", () => {
  const { payment, start } = at();
  const key = { book, operationId: payment.reference, attempt: 1, kind: "receipt" } as const;
  const first = start.when(notify(payment, paid())).when(notify(payment, paid("t-1", 999n)));
  const closed = first.when(closing(key, "they corrected the first report"));
  const same = closed.when(notify(payment, paid("t-1", 999n)));
  expect(same.answer).toMatchObject({ objection: { code: "VALIDATION_ERROR" }, isNew: false });
  expect(same.changes.seen(exceptions, key)).toMatchObject({ closedAt: NOW, occasions: ["t-1 999"] });
  const other = same.when(notify(payment, paid("t-2", 2_000_000_000n)));
  expect(other.answer).toMatchObject({ objection: { code: "VALIDATION_ERROR" }, isNew: true });
  const occasions = ["t-1 999", "t-2 2000000000"];
  expect(other.changes.seen(exceptions, key)).toMatchObject({ closedAt: undefined, note: undefined, occasions });
});

describe("processing and failed", () => {
  test.each(paymentStatuses)("for a %s payment", (status) => {
    for (const said of ["processing", "failed", "waiting"] as const) {
      const moves = said !== "waiting" && (status === "pending" || (status === "processing" && said === "failed"));
      const { payment, start } = at({ status });
      const outcome = start.when(notify(payment, { status: said }));
      expect(outcome.changes.updated(payments)).toMatchObject(moves ? [{ status: said }] : []);
      // Money may have been taken back, or the notification be old: the acquirer is asked.
      const asks = said === "failed" && isPaid(status);
      expect(outcome.changes.updated(operations)).toMatchObject(asks ? [{ step: "inquiring", dueAt: NOW }] : []);
      expect(outcome.changes.isNothing).toBe(!moves && !asks);
    }
  });

  test("after its time a pending payment expires instead", () => {
    const { payment, start } = at({ expiresAt: NOW });
    expect(start.when(notify(payment, { status: "processing" })).changes.events).toEqual(["payment.expired"]);
  });

  test("of another attempt or acquirer move nothing", () => {
    for (const status of ["processing", "failed"] as const) {
      const { payment, start } = at({}, { attempt: 2 });
      expect(start.when(notify(payment, { status })).changes.isNothing).toBe(true);
      expect(start.when(notify(payment, { status }, "lawu", 2)).changes.isNothing).toBe(true);
    }
  });
});

describe("a notification that comes before the answer to the call", () => {
  const waits = { gatewayCode: undefined, instructions: undefined };
  test.each(operationSteps)("while the operation is %s", (step) => {
    const { payment, start } = at(waits, { step });
    const outcome = start.when(notify(payment, { status: "processing" }));
    const called = step !== "planned" && step !== "retryable";
    expect(outcome.changes.events).toEqual(called ? ["payment.created", "payment.processing"] : []);
    expect(outcome.changes.updated(payments)).toMatchObject(called ? [{ gatewayCode: "kawah" }] : []);
  });

  test("from an acquirer that was not called opens no payment", () => {
    const { payment, start } = at(waits, { step: "calling" });
    expect(start.when(notify(payment, { status: "processing" }, "lawu")).changes.isNothing).toBe(true);
  });

  test("of money pays the payment, which is created and paid at once", () => {
    const { payment, start } = at(waits, { step: "calling" });
    expect(start.when(notify(payment, paid())).changes.events).toEqual(["payment.created", "payment.succeeded"]);
  });
});

describe("the ids that an acquirer names in a notification", () => {
  const naming = ({ reference }: Payment, attempt: number) =>
    paymentNotification(merchant, { book, id: reference, kind: "payment", attempt }, "kawah", {
      state: paid(),
      providerIds: { payment: "theirs" },
    });

  test("are kept beside those it named before", () => {
    const { payment, start } = at({}, { providerIds: { order: "first" } });
    const kept = { providerIds: { order: "first", payment: "theirs" } };
    expect(start.when(naming(payment, 1)).changes.updated(operations)).toMatchObject([kept]);
  });

  test("are not those of the present attempt when they are about another", () => {
    const { payment, start } = at({}, { attempt: 2 });
    const { changes } = start.when(naming(payment, 1));
    expect([changes.inserted(receipts).length, changes.updated(operations)]).toEqual([1, []]);
  });
});

describe("instructions", () => {
  test("that are missing are awaited: a notification without any writes nothing", () => {
    const { payment, start } = at({ instructions: undefined });
    expect(start.when(notify(payment, { status: "waiting" })).changes.isNothing).toBe(true);
  });
});

describe("an operator's decision about a receipt", () => {
  test.each([
    ["returned", { "platform:unapplied IDR": 1_000_000n, "acquirer:kawah:receivable IDR": -1_000_000n }],
    ["credited", { "platform:unapplied IDR": 1_000_000n, "merchant:available IDR": -1_000_000n }],
  ] as const)("%s: a journal, once", (decision, entries) => {
    const receipt = aReceipt();
    const decided = given({ rows: [row(receipts, receipt)] }).when(decideReceipt(merchant, receipt, decision));
    decided.then((changes, answer) => {
      expect(answer).toMatchObject({ status: decision, decidedAt: NOW });
      expect(changes.journals).toEqual([{ kind: `receipt_${decision}`, entries }]);
    });
    for (const again of ["returned", "credited"] as const)
      decided.when(decideReceipt(merchant, receipt, again)).refuses("PAYMENT_NOT_PAYABLE", { status: decision }, true);
  });

  test("there is none about what paid its payment, or is not there", () => {
    const applied = aReceipt({ status: "applied" });
    given({ rows: [row(receipts, applied)] })
      .when(decideReceipt(merchant, applied, "returned"))
      .refuses("PAYMENT_NOT_PAYABLE", { status: "applied" });
    given()
      .when(decideReceipt(merchant, applied, "returned"))
      .refuses("OBJECT_NOT_FOUND");
  });
});

test("any notifications in any order: captured at most once, and what came is what the acquirer owes", () => {
  const said = fc.oneof(
    fc.constantFrom<ReportedState>({ status: "processing" }, { status: "failed" }, { status: "waiting" }),
    fc
      .record({ id: fc.constantFrom("a", "b", "c"), amount: fc.constantFrom(1_000_000n, 5n, 2_000_000_000n) })
      .map(({ id, amount }) => paid(id, amount)),
  );
  fc.assert(
    fc.property(fc.array(said, { maxLength: 12 }), fc.integer({ min: -1, max: 1 }), (states, left) => {
      const { payment, start } = at({ expiresAt: NOW + left });
      let last: Then<unknown> = start.when(nothing);
      for (const state of states) last = last.when(notify(payment, state));
      const kept = last.changes.inserted(receipts);
      const came = kept.reduce((sum, { amountMinor }) => sum + amountMinor, 0n);
      const { journals } = last.changes;
      const sum = (account: string): Minor =>
        journals.reduce((total, { entries }) => total + (entries[`${account} IDR`] ?? 0n), 0n);
      expect(sum("acquirer:kawah:receivable")).toBe(came);
      const applied = kept.filter(({ status }) => status === "applied");
      expect(applied.length).toBeLessThanOrEqual(1);
      expect(-sum("merchant:available") - sum("platform:fees")).toBe(applied[0]?.amountMinor ?? 0n);
      expect(new Set(kept.map(({ transactionId }) => transactionId)).size).toBe(kept.length);
    }),
    { numRuns: 300 },
  );
});
