// Goal: money that an acquirer says has moved, and that is not the ordered money, reaches a person once, and books nothing. Method: one call of each
// kind whose answer is not believed, and the pure commands over payments and refunds in every state.
import { describe, expect, test } from "vitest";
import { anOperation, callParts, closing, movableClock, openingParts } from "../../test/acquiring.ts";
import { NOW, book, given, merchantWith, row } from "../../test/given.ts";
import { aPayment } from "../../test/payments.ts";
import { aRefund, owning } from "../../test/refunds.ts";
import { scriptedAcquirer } from "../../test/scripted-acquirer.ts";
import { OtherMoney } from "../acquirers/other-money.ts";
import type { Payment } from "../payments/payment.ts";
import { payments } from "../payments/payments.sql.ts";
import { paymentStatuses } from "../payments/states.ts";
import { refunds } from "../refunds/refunds.sql.ts";
import { exceptions } from "./exceptions.sql.ts";
import { type OpenResult, concludeOpening } from "./opening.ts";
import type { Operation } from "./operation.ts";
import { operations } from "./operations.sql.ts";
import { callOrInquire } from "./payment-operations.ts";
import { type RefundResult, callOrInquire as callForRefund, concludeRefund } from "./refund-operations.ts";

const merchant = merchantWith();
const parts = openingParts(scriptedAcquirer("kawah"));
const told = { kind: "unknown", otherMoney: true } as const satisfies OpenResult & RefundResult;

/** A payment at `kawah` about which a worker asks. */
function polled(changes: Partial<Payment> = {}, asked: Partial<Operation> = {}) {
  const payment = aPayment({ gatewayCode: "kawah", ...changes });
  const operation = anOperation(payment.reference, { step: "polling", ...asked });
  return { payment, operation, start: given({ rows: [row(payments, payment), row(operations, operation)] }) };
}

describe("of a payment", () => {
  test.each(paymentStatuses)("that is %s: a person is told, and nothing else changes", (status) => {
    const { payment, operation, start } = polled({ status }, { inquiries: 3 });
    start.when(concludeOpening(parts, merchant, operation, told)).then((changes, answer) => {
      expect(answer.exceptions).toEqual(["other_money"]);
      expect(changes.inserted(exceptions)).toMatchObject([
        { kind: "other_money", operationId: payment.reference, gatewayCode: "kawah", attempt: 1, closedAt: undefined },
      ]);
      expect([changes.journals, changes.events, changes.updated(payments)]).toEqual([[], [], []]);
      // What is over here, and unclear there, an operator may end; it begins to be asked about anew.
      const left = ["canceled", "expired"].includes(status);
      const next = left ? { step: "inquiring", inquiries: 1 } : { step: "polling", inquiries: 4 };
      expect(changes.updated(operations)).toMatchObject([next]);
    });
  });

  test("it is told once, however often the acquirer says so, and not again when a person has closed it", () => {
    const { payment, operation, start } = polled();
    const conclude = concludeOpening(parts, merchant, operation, told);
    const key = { book, operationId: payment.reference, attempt: 1, kind: "other_money" } as const;
    const twice = start.when(conclude).when(conclude);
    expect(twice.answer.exceptions).toEqual([]);
    const closed = twice.when(closing(key, "the acquirer corrected it"));
    expect(closed.answer).toMatchObject({ closedAt: NOW });
    const after = closed.when(conclude);
    expect(after.answer.exceptions).toEqual([]);
    expect(after.changes.seen(exceptions, key)).toMatchObject({ closedAt: NOW });
    expect(after.changes.inserted(exceptions)).toHaveLength(1);
  });

  test("an answer that is merely unclear is told to nobody", () => {
    const { operation, start } = polled();
    const { changes, answer } = start.when(concludeOpening(parts, merchant, operation, { kind: "unknown" }));
    expect([answer.exceptions, changes.inserted(exceptions)]).toEqual([[], []]);
  });
});

describe("of a refund", () => {
  test.each(["pending", "succeeded", "failed"] as const)("that is %s: a person is told, once", (status) => {
    const payment = aPayment({ gatewayCode: "kawah", status: "succeeded", refundPendingMinor: 100_000n });
    const refund = aRefund(payment, { status });
    const operation = anOperation(refund.uuid, {
      kind: "refund",
      paymentReference: payment.reference,
      step: "inquiring",
    });
    const rows = [row(payments, payment), row(refunds, refund), row(operations, operation)];
    const start = given({ rows, balances: owning({ available: 893_000n }) });
    const conclude = concludeRefund(merchant, operation, told);
    const first = start.when(conclude);
    expect(first.answer).toBe("other_money");
    expect(first.when(conclude).answer).toBeUndefined();
    expect(first.changes.inserted(exceptions)).toMatchObject([{ kind: "other_money", operationId: refund.uuid }]);
    expect([first.changes.journals, first.changes.events, first.changes.updated(refunds)]).toEqual([[], [], []]);
    expect(first.changes.updated(operations)).toMatchObject([{ step: "inquiring" }]);
  });

  test.each(["done", "calling", "planned"] as const)("of another attempt than the present one, which is %s", (step) => {
    const payment = aPayment({ gatewayCode: "kawah", status: "succeeded", refundPendingMinor: 100_000n });
    const refund = aRefund(payment);
    const operation = anOperation(refund.uuid, {
      kind: "refund",
      paymentReference: payment.reference,
      step,
      attempt: 2,
      dueAt: step === "done" ? undefined : NOW,
    });
    const start = given({ rows: [row(payments, payment), row(refunds, refund), row(operations, operation)] });
    const { answer, changes } = start.when(concludeRefund(merchant, { ...operation, attempt: 1 }, told));
    expect(answer).toBe("other_money");
    expect(changes.inserted(exceptions)).toMatchObject([{ kind: "other_money", attempt: 1 }]);
    expect(changes.updated(operations)).toEqual([]);
  });
});

describe("what was said is kept for the person", () => {
  const said = (): Promise<never> => Promise.reject(new OtherMoney("kawah says that 1.00 was paid"));
  const acquirer = scriptedAcquirer("kawah");
  Object.assign(acquirer.calls ?? {}, { open: said, inquire: said, refund: said, inquireRefund: said });
  const calling = { ...openingParts(acquirer), ...callParts(movableClock()) };
  const heard = (call: string) => ({
    kind: "unknown",
    otherMoney: true,
    exchanged: {
      call,
      messages: [{ about: `${call}, not believed`, text: "Nothing is booked: kawah says that 1.00 was paid." }],
    },
  });

  test.each([
    ["open", "calling"],
    ["inquire", "polling"],
  ] as const)("of the call %s", async (call, step) => {
    const payment = aPayment({ gatewayCode: call === "open" ? undefined : "kawah" });
    const operation = anOperation(payment.reference, { step, dueAt: NOW + 60_000_000 });
    const { exchanged, ...expected } = heard(call);
    expect(await callOrInquire(calling, merchant, payment, operation)).toMatchObject({
      ...expected,
      exchanged: [exchanged],
    });
  });

  test("of a payment that is paid so while it is ended", async () => {
    const ending = scriptedAcquirer("kawah");
    const payment = aPayment({ gatewayCode: "kawah", status: "expired" });
    const operation = anOperation(payment.reference, { step: "polling" });
    const waiting = { known: true, instructions: payment.instructions, state: { status: "waiting" } };
    Object.assign(ending.calls ?? {}, { inquire: () => Promise.resolve(waiting), cancel: said });
    // A day after its end, too, when nobody tries any longer to end it.
    const clock = movableClock(payment.expiresAt + 2 * 86_400_000_000);
    const while_ = { ...openingParts(ending), ...callParts(clock) };
    expect(await callOrInquire(while_, merchant, payment, operation)).toMatchObject({
      kind: "unknown",
      otherMoney: true,
    });
  });

  test.each([
    ["refund", "calling"],
    ["inquire_refund", "polling"],
  ] as const)("of the call %s", async (call, step) => {
    const payment = aPayment({ gatewayCode: "kawah", status: "succeeded" });
    const refund = aRefund(payment);
    const operation = anOperation(refund.uuid, { kind: "refund", step, dueAt: NOW + 60_000_000 });
    const request = {
      operationKey: "rfd1.s1",
      paymentOperationKey: "pay1.s1",
      paymentProviderIds: undefined,
      paymentAmountMinor: payment.amountMinor,
      method: payment.method,
      amountMinor: refund.amountMinor,
      currency: "IDR",
      callbackUrl: "https://gateway.test/kawah",
      isOver: false,
      providerIds: undefined,
    };
    expect(await callForRefund(calling, operation, request)).toMatchObject(heard(call));
  });
});
