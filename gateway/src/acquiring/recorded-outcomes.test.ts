// Goal: an operator ends what an acquirer leaves open, once, never while a call may be made, and what the acquirer says later is not lost.
// Method: the pure commands over each step, status and age, followed by the acquirer's later word.
import { describe, expect, test } from "vitest";
import { aReceipt, anOperation, keyInProgress, openingParts } from "../../test/acquiring.ts";
import { NOW, type Then, book, given, merchantWith, ownerWith, row } from "../../test/given.ts";
import { aPayment } from "../../test/payments.ts";
import { aRefund, owning } from "../../test/refunds.ts";
import { scriptedAcquirer } from "../../test/scripted-acquirer.ts";
import { HOUR, SECOND } from "../ground/clock.ts";
import { newId } from "../ground/ids.ts";
import { openKeys } from "../idempotency/idempotency.sql.ts";
import type { Payment } from "../payments/payment.ts";
import { payments } from "../payments/payments.sql.ts";
import { type PaymentStatus, isPaid, isUnpaid, paymentStatuses } from "../payments/states.ts";
import type { Refund } from "../refunds/refund.ts";
import { refunds } from "../refunds/refunds.sql.ts";
import { exceptions } from "./exceptions.sql.ts";
import { concludeOpening } from "./opening.ts";
import { type Operation, operationSteps } from "./operation.ts";
import { operations } from "./operations.sql.ts";
import type { KeptReceipt } from "./receipt.ts";
import { moneyOfPayments, receipts } from "./receipts.sql.ts";
import { recordPaymentOutcome, recordRefundOutcome, refuseUnlessLeftOpen } from "./recorded-outcomes.ts";
import { concludeRefund } from "./refund-operations.ts";

const owner = ownerWith();
const kawah = scriptedAcquirer("kawah");
const parts = openingParts(kawah);
const aDayAgo = NOW - 24 * HOUR;
/** When a worker asks next: not yet, so that none has claimed the operation. */
const LATER = NOW + 300 * SECOND;

/** A refund of 100,000 of which the acquirer `kawah` has said nothing for a day. */
function leftRefund(operation: Partial<Operation> = {}, refund: Partial<Refund> = {}) {
  const isPending = (refund.status ?? "pending") === "pending";
  const payment = aPayment({
    status: refund.status === "succeeded" ? "partially_refunded" : "succeeded",
    gatewayCode: "kawah",
    refundedMinor: refund.status === "succeeded" ? 100_000n : 0n,
    refundPendingMinor: isPending ? 100_000n : 0n,
  });
  const one = aRefund(payment, refund);
  const name = { kind: "refund", paymentReference: payment.reference } as const;
  const asked = anOperation(one.uuid, {
    ...name,
    step: "inquiring",
    createdAt: aDayAgo,
    dueAt: LATER,
    ...operation,
  });
  const rows = [row(payments, payment), row(refunds, one), row(operations, asked)];
  return { refund: one, asked, start: given({ rows, balances: owning({ available: 893_000n }) }) };
}

/** A payment of 1,000,000 that the acquirer `kawah` has had in processing for a day. */
function leftPayment(operation: Partial<Operation> = {}, changes: Partial<Payment> = {}, known: KeptReceipt[] = []) {
  const payment = aPayment({ status: "processing", gatewayCode: "kawah", ...changes });
  const asked = anOperation(payment.reference, {
    step: "polling",
    createdAt: aDayAgo,
    dueAt: LATER,
    ...operation,
  });
  const { idempotencyKey } = asked;
  const rows = [
    row(payments, payment),
    row(operations, asked),
    ...known.flatMap((one) => [row(receipts, one), row(moneyOfPayments, one)]),
    ...(idempotencyKey === undefined ? [] : [row(openKeys, keyInProgress(idempotencyKey, payment))]),
  ];
  return { payment, asked, start: given({ rows, balances: owning({}) }) };
}

const steps = operationSteps.map((step) => [step, step === "inquiring" || step === "polling"] as const);

describe("a refund", () => {
  test.each([
    ["succeeded", "refund.succeeded", []],
    ["failed", "refund.failed", ["refund_returned"]],
  ] as const)("that %s is ended, once", (outcome, event, journals) => {
    const { refund, start } = leftRefund();
    const ended = start.when(recordRefundOutcome(owner, refund, outcome)).then((changes) => {
      expect(changes.updated(refunds)).toMatchObject([{ status: outcome, completedAt: NOW }]);
      expect(changes.updated(operations)).toMatchObject([{ step: "done", dueAt: undefined }]);
      expect(changes.journals.map(({ kind }) => kind)).toEqual(journals);
      expect(changes.events).toEqual([event]);
    });
    for (const again of ["succeeded", "failed"] as const) {
      const { outcome: second } = ended.when(recordRefundOutcome(owner, refund, again));
      expect(second).toMatchObject({
        fault: { code: "PAYMENT_NOT_PAYABLE", extras: { details: { status: outcome } } },
      });
    }
  });

  test("that failed gives the merchant the money back", () => {
    const { refund, start } = leftRefund();
    const [journal] = start.when(recordRefundOutcome(owner, refund, "failed")).changes.journals;
    expect(journal?.entries).toEqual({
      "merchant:available IDR": -100_000n,
      "acquirer:kawah:receivable IDR": 100_000n,
    });
  });

  test.each(steps)("at the step %s can be ended: %s", (step, isAsked) => {
    const { refund, start } = leftRefund({ step, dueAt: step === "done" ? undefined : LATER });
    const recorded = start.when(recordRefundOutcome(owner, refund, "failed"));
    if (isAsked) expect(recorded.answer.status).toBe("failed");
    else recorded.refuses("PAYMENT_NOT_PAYABLE", { status: "pending" });
  });

  test.each(["succeeded", "failed"] as const)("that has %s cannot be ended", (status) => {
    const { refund, start } = leftRefund({}, { status });
    start.when(recordRefundOutcome(owner, refund, "failed")).refuses("PAYMENT_NOT_PAYABLE", { status });
  });

  test.each([
    ["not claimed", NOW + 70 * SECOND + 1, undefined],
    ["claimed just now, by a clock that is ahead", NOW + 70 * SECOND, "SERVICE_UNAVAILABLE"],
    ["claimed a while ago", NOW + SECOND, "SERVICE_UNAVAILABLE"],
    ["claimed a minute ago, by a clock that is behind", NOW - 10 * SECOND + 1, "SERVICE_UNAVAILABLE"],
    ["due, and no worker runs", NOW - 10 * SECOND, undefined],
  ] as const)("%s: an inquiry under way may order it", (_what, dueAt, code) => {
    const { refund, start } = leftRefund({ dueAt });
    const recorded = start.when(recordRefundOutcome(owner, refund, "failed"));
    if (code === undefined) expect(recorded.answer.status).toBe("failed");
    else recorded.refuses(code);
  });

  test("is the acquirer's to end for a day", () => {
    const { refund, start } = leftRefund({ createdAt: aDayAgo + 1 });
    start.when(recordRefundOutcome(owner, refund, "failed")).refuses("PAYMENT_NOT_PAYABLE", { status: "pending" });
  });

  test.each([
    ["failed", "succeeded", "refund_after_failure"],
    ["succeeded", "failed", "refund_undone"],
    ["succeeded", "succeeded", undefined],
    ["failed", "failed", undefined],
  ] as const)("recorded as %s, and reported as %s afterwards: %s", (recorded, reported, kind) => {
    const { refund, asked, start } = leftRefund();
    const after = start.when(recordRefundOutcome(owner, refund, recorded));
    const told = after.when(concludeRefund(merchantWith(), asked, { kind: "known", status: reported }));
    expect(told.answer).toBe(kind);
    expect(told.changes.inserted(exceptions).map((one) => one.kind)).toEqual(kind ? [kind] : []);
    expect(told.changes.seen(refunds, { book, uuid: refund.uuid })).toMatchObject({ status: recorded });
  });
});

describe("a payment", () => {
  test("that was paid is captured, by this transaction", () => {
    const { payment, asked, start } = leftPayment();
    start.when(recordPaymentOutcome(parts, owner, payment, asked, "trx-1")).then((changes, after) => {
      expect(after).toMatchObject({ status: "succeeded", paidAt: NOW });
      expect(changes.inserted(receipts)).toMatchObject([
        { transactionId: "trx-1", gatewayCode: "kawah", amountMinor: 1_000_000n, status: "applied" },
      ]);
      expect(changes.updated(operations)).toMatchObject([{ step: "done", dueAt: undefined }]);
      expect(changes.events).toEqual(["payment.succeeded"]);
      expect(changes.journals).toEqual([
        {
          kind: "capture",
          entries: {
            "acquirer:kawah:receivable IDR": 1_000_000n,
            "merchant:available IDR": -993_000n,
            "platform:fees IDR": -7_000n,
          },
        },
      ]);
    });
  });

  test("that failed moves no money", () => {
    const { payment, asked, start } = leftPayment();
    start.when(recordPaymentOutcome(parts, owner, payment, asked, undefined)).then((changes, after) => {
      expect(after.status).toBe("failed");
      expect(changes.updated(operations)).toMatchObject([{ step: "done", dueAt: undefined }]);
      expect([changes.events, changes.journals]).toEqual([["payment.failed"], []]);
    });
  });

  test.each(steps)("at the step %s can be ended: %s", (step, isAsked) => {
    const { payment, asked, start } = leftPayment({ step, dueAt: step === "done" ? undefined : LATER });
    const recorded = start.when(recordPaymentOutcome(parts, owner, payment, asked, "trx-1"));
    if (isAsked) expect(recorded.answer.status).toBe("succeeded");
    else recorded.refuses("PAYMENT_NOT_PAYABLE", { status: "processing" });
  });

  test.each(["pending", "succeeded", "failed", "expired", "canceled", "partially_refunded", "refunded"] as const)(
    "that is %s cannot be ended",
    (status) => {
      const { payment, asked, start } = leftPayment({}, { status });
      for (const transaction of ["trx-1", undefined])
        start
          .when(recordPaymentOutcome(parts, owner, payment, asked, transaction))
          .refuses("PAYMENT_NOT_PAYABLE", { status });
    },
  );

  /** Records each outcome of a payment in doubt, with money that is in the book already. */
  const inDoubt = (
    status: PaymentStatus,
    transactionId: string | undefined,
    known: KeptReceipt[] = [],
    reference = newId("payment", NOW),
  ) => {
    const { payment, asked, start } = leftPayment({ step: "inquiring", inquiries: 20 }, { status, reference }, known);
    return start.when(recordPaymentOutcome(parts, owner, payment, asked, transactionId));
  };
  const isOver = (status: PaymentStatus) => isUnpaid(status) || status === "failed";
  test.each(paymentStatuses.filter((status) => !isPaid(status)))(
    "that is %s, and of which nobody knows whether money comes",
    (status) => {
      const [notPaid, paid] = [inDoubt(status, undefined), inDoubt(status, "trx-1")];
      if (status === "processing") expect([paid.answer.status, notPaid.answer.status]).toEqual(["succeeded", "failed"]);
      else if (isOver(status)) {
        for (const { changes, answer } of [paid, notPaid]) {
          expect(answer.status).toBe(status);
          expect(changes.updated(operations)).toMatchObject([{ step: "done", dueAt: undefined }]);
          expect([changes.updated(payments), changes.events, changes.inserted(exceptions)]).toEqual([[], [], []]);
        }
        expect([notPaid.changes.inserted(receipts), notPaid.changes.journals]).toEqual([[], []]);
        expect(paid.changes.inserted(receipts)).toMatchObject([{ transactionId: "trx-1", status: "unapplied" }]);
        expect(paid.changes.journals).toEqual([
          {
            kind: "receipt_unapplied",
            entries: { "acquirer:kawah:receivable IDR": 1_000_000n, "platform:unapplied IDR": -1_000_000n },
          },
        ]);
      } else for (const recorded of [paid, notPaid]) recorded.refuses("PAYMENT_NOT_PAYABLE", { status });
    },
  );

  /** Money that the acquirer `kawah` reported for the payment of these tests. */
  const moneyOf = (reference: string, status: KeptReceipt["status"], transactionId = "trx-1") =>
    aReceipt({ paymentReference: reference, transactionId, status });
  const nothingMoves = ({ changes }: Then<Payment>) =>
    expect([changes.updated(payments), changes.events, changes.inserted(receipts), changes.journals]).toEqual([
      [],
      [],
      [],
      [],
    ]);

  test.each([
    ["succeeded", "applied", true],
    ["partially_refunded", "applied", true],
    ["refunded", "applied", false],
    ["canceled", "unapplied", true],
    ["expired", "credited", true],
    ["failed", "returned", false],
  ] as const)(
    "that is %s, with money that is %s, is ended without a booking; where the money is gone, that waits: %s",
    (status, kept, waits) => {
      const { reference } = aPayment();
      const known = [moneyOf(reference, kept)];
      const [gone, there] = [inDoubt(status, undefined, known, reference), inDoubt(status, "trx-1", known, reference)];
      for (const recorded of [gone, there]) {
        nothingMoves(recorded);
        expect(recorded.answer.status).toBe(status);
        expect(recorded.changes.updated(operations)).toMatchObject([{ step: "done", dueAt: undefined }]);
      }
      expect(there.changes.inserted(exceptions)).toEqual([]);
      expect(gone.changes.inserted(exceptions).map(({ kind }) => kind)).toEqual(waits ? ["dispute"] : []);
    },
  );

  test.each(["needs_response", "lost"] as const)(
    "that was paid, and whose money is gone by a dispute that is %s, is ended, and nobody is told twice",
    (disputeStatus) => {
      const { payment, asked, start } = leftPayment(
        { step: "inquiring" },
        { status: "succeeded", disputeStatus, ...(disputeStatus === "lost" && { lostMinor: 1_000_000n }) },
      );
      const { changes } = start.when(recordPaymentOutcome(parts, owner, payment, asked, undefined));
      expect(changes.updated(operations)).toMatchObject([{ step: "done" }]);
      expect(changes.inserted(exceptions)).toEqual([]);
    },
  );

  test.each(["succeeded", "partially_refunded", "refunded"] as const)(
    "that is %s was paid by its own transaction, and by no other",
    (status) => {
      const { reference } = aPayment();
      const [own, other] = [moneyOf(reference, "applied"), moneyOf(newId("payment", NOW), "applied", "trx-2")];
      for (const transactionId of ["trx-2", "trx-3"])
        inDoubt(status, transactionId, [own, other], reference).refuses("VALIDATION_ERROR", {
          field: "transaction_id",
          value: transactionId,
        });
    },
  );

  test("that is processing is not paid by money of its own that did not pay it", () => {
    const { reference } = aPayment();
    inDoubt("processing", "trx-1", [moneyOf(reference, "unapplied")], reference).refuses("VALIDATION_ERROR", {
      field: "transaction_id",
      value: "trx-1",
    });
  });

  test.each(["canceled", "expired"] as const)(
    "that is %s, and unclear at its acquirer, comes to be left to an operator",
    (status) => {
      const { payment, asked, start } = leftPayment({ inquiries: 40 }, { status });
      const unclear = concludeOpening(parts, owner.merchant, asked, { kind: "unknown" });
      const inquired = start.when(unclear);
      const expected = { step: "inquiring", inquiries: 1, dueAt: NOW + SECOND };
      expect(inquired.changes.updated(operations)).toMatchObject([expected]);
      // Unclear again, it is asked about ever more rarely; a clear answer takes it back to where it is polled.
      const again = inquired.when(unclear);
      expect(again.changes.updated(operations)).toMatchObject([
        { step: "inquiring", inquiries: 2, dueAt: NOW + 2 * SECOND },
      ]);
      const { instructions = { type: "qr_string", value: "", expires_at: "" } } = payment;
      const clear = { kind: "known", isOver: true, instructions, state: { status: "waiting" } } as const;
      const known = again.when(concludeOpening(parts, owner.merchant, asked, clear));
      expect(known.changes.updated(operations)).toMatchObject([{ step: "polling", inquiries: 0 }]);
    },
  );

  test.each([
    ["canceled", "trx-1", 900_000n, "receipt"],
    ["processing", "trx-1", 900_000n, "receipt"],
    ["canceled", "trx-1", 1_000_000n, undefined],
    ["canceled", "trx-2", 900_000n, undefined],
  ] as const)(
    "that was %s, recorded as paid by trx-1, and found by an inquiry under way paid by %s of %i: %s",
    (status, transactionId, amountMinor, kind) => {
      const { payment, asked, start } = leftPayment({ step: "inquiring" }, { status });
      const { instructions = { type: "qr_string", value: "", expires_at: "" } } = payment;
      const receipt = { transactionId, amountMinor, currency: "IDR" };
      const found = { kind: "known", isOver: true, instructions, state: { status: "paid", receipt } } as const;
      const told = start
        .when(recordPaymentOutcome(parts, owner, payment, asked, "trx-1"))
        .when(concludeOpening(parts, owner.merchant, asked, found));
      expect(told.changes.inserted(exceptions).map((one) => one.kind)).toEqual(kind ? [kind] : []);
      expect(told.answer.exceptions ?? []).toEqual(kind ? [kind] : []);
      expect(told.changes.inserted(receipts)).toHaveLength(transactionId === "trx-1" ? 1 : 2);
    },
  );

  test.each([
    ["processing", "trx-1", false, 1],
    ["canceled", "trx-1", false, 1],
    ["canceled", "trx-1", true, 0],
    ["processing", undefined, false, 0],
    ["canceled", undefined, false, 0],
  ] as const)(
    "that was %s, recorded as paid by %s, and failed by an inquiry under way, which ended it: %s, is asked about again: %i",
    (status, transactionId, isOurs, again) => {
      const { payment, asked, start } = leftPayment({ step: "inquiring" }, { status });
      const { instructions = { type: "qr_string", value: "", expires_at: "" } } = payment;
      const gone = { kind: "known", isOver: true, instructions, state: { status: "failed" } } as const;
      const recorded = start.when(recordPaymentOutcome(parts, owner, payment, asked, transactionId));
      const told = recorded.when(concludeOpening(parts, owner.merchant, asked, { ...gone, isOurs }));
      const operation = told.changes.seen(operations, { book, id: payment.reference });
      expect(operation).toMatchObject(again ? { step: "inquiring", dueAt: NOW } : { step: "done" });
      expect(told.changes.inserted(exceptions)).toEqual([]);
      if (!operation || !again) return;
      const claimed = { ...operation, dueAt: NOW };
      const { changes } = told.when(concludeOpening(parts, owner.merchant, claimed, gone));
      expect(changes.inserted(exceptions).map(({ kind }) => kind)).toEqual(["dispute"]);
      expect(changes.seen(operations, { book, id: payment.reference })).toMatchObject({ step: "done" });
    },
  );

  test.each([
    ["an earlier call, when the last one was paid", { step: "done", attempt: 2 }],
    ["a call that was not made yet", { step: "planned", attempt: 1 }],
  ] as const)("that is paid is not asked about because of a failure of %s", (_what, current) => {
    const { payment, asked, start } = leftPayment({ ...current, dueAt: undefined }, { status: "succeeded" });
    const { instructions = { type: "qr_string", value: "", expires_at: "" } } = payment;
    const begun = { ...asked, step: "inquiring", attempt: 1 } as const;
    const failed = { kind: "known", instructions, state: { status: "failed" } } as const;
    const told = start.when(concludeOpening(parts, owner.merchant, begun, failed));
    expect(told.changes.seen(operations, { book, id: payment.reference })).toMatchObject({
      ...current,
      dueAt: undefined,
    });
    expect(told.changes.inserted(exceptions)).toEqual([]);
  });

  test("that failed, and that a refund's operation is read for, is not taken for a payment that is over", () => {
    const operation = anOperation("rfd_1", { kind: "refund", step: "inquiring", createdAt: aDayAgo });
    expect(() => refuseUnlessLeftOpen("failed", operation, NOW)).toThrow("It is failed.");
  });

  test("whose creation waits for the outcome answers it, and a call that was under way gives the same answer", () => {
    const { payment, asked, start } = leftPayment({ step: "inquiring", idempotencyKey: "creation-1" });
    const ended = start.when(recordPaymentOutcome(parts, owner, payment, asked, "trx-1")).then((changes) => {
      expect(changes.updated(operations)).toMatchObject([{ step: "done", idempotencyKey: undefined }]);
      expect(changes.updated(openKeys)).toMatchObject([{ key: "creation-1", status: 201 }]);
      expect(changes.updated(openKeys)[0]?.response).toContain('"status":"succeeded"');
    });
    const { answer } = ended.when(concludeOpening(parts, owner.merchant, asked, { kind: "unknown" }));
    expect(answer).toMatchObject({ reply: { status: 201, body: expect.stringContaining('"status":"succeeded"') } });
  });

  test.each([
    [{ step: "planned" }, /has not taken it on yet/],
    [{ step: "done", dueAt: undefined }, /Simulate the outcome/],
    [{ createdAt: aDayAgo + 1 }, /has a day to say/],
  ] as const)("%j: the refusal says what comes next", (operation, said) => {
    const { payment, asked, start } = leftPayment(operation);
    const { outcome } = start.when(recordPaymentOutcome(parts, owner, payment, asked, undefined));
    expect(outcome).toMatchObject({ fault: { message: expect.stringMatching(said) } });
  });

  test("is the acquirer's to end for a day", () => {
    const { payment, asked, start } = leftPayment({ createdAt: aDayAgo + 1 });
    start.when(recordPaymentOutcome(parts, owner, payment, asked, "trx-1")).refuses("PAYMENT_NOT_PAYABLE");
  });

  test("that was called about anew since it was read, there or at another acquirer, is not ended by the word about the call before", () => {
    for (const gatewayCode of ["lawu", "kawah"]) {
      const { payment, asked, start } = leftPayment({ gatewayCode, attempt: 2 }, { gatewayCode });
      const read = { ...asked, gatewayCode: "kawah", attempt: 1 };
      for (const transaction of ["trx-1", undefined])
        start.when(recordPaymentOutcome(parts, owner, payment, read, transaction)).refuses("SERVICE_UNAVAILABLE");
    }
  });

  test("is not paid by a transaction that counted before, whatever became of it", () => {
    const kept = { book, gatewayCode: "kawah", transactionId: "trx-1", status: "returned" } as KeptReceipt;
    const { payment, asked, start } = leftPayment({}, {}, [kept]);
    start
      .when(recordPaymentOutcome(parts, owner, payment, asked, "trx-1"))
      .refuses("VALIDATION_ERROR", { field: "transaction_id", value: "trx-1" });
  });

  test.each([
    ["the same money", "trx-1", "trx-1", 0],
    ["other money", "trx-1", "trx-2", 1],
    ["money after a failure", undefined, "trx-1", 1],
  ] as const)(
    "and then the acquirer, asked before, says that it was paid: %s",
    (_what, recorded, reported, unapplied) => {
      const { payment, asked, start } = leftPayment();
      const receipt = { transactionId: reported, amountMinor: 1_000_000n, currency: "IDR" };
      const { instructions = { type: "qr_string", value: "", expires_at: "" } } = payment;
      const inquired = concludeOpening(parts, owner.merchant, asked, {
        kind: "known",
        instructions,
        state: { status: "paid", receipt },
      });
      const told = start.when(recordPaymentOutcome(parts, owner, payment, asked, recorded)).when(inquired);
      const status = recorded === undefined ? "failed" : "succeeded";
      expect(told.changes.seen(payments, { book, reference: payment.reference })).toMatchObject({ status });
      const late = told.changes.inserted(receipts).filter((one) => one.status === "unapplied");
      expect(late).toHaveLength(unapplied);
      expect(told.changes.journals.filter(({ kind }) => kind === "receipt_unapplied")).toHaveLength(unapplied);
    },
  );
});
