// Goal: only a pending payment within its time is canceled. Method: the pure command over a payment in every state.
import { expect, test } from "vitest";
import { anOperation } from "../../test/acquiring.ts";
import { NOW, given, ownerWith, row } from "../../test/given.ts";
import { aPayment } from "../../test/payments.ts";
import { aRouter } from "../../test/routing.ts";
import { scriptedAcquirer } from "../../test/scripted-acquirer.ts";
import { operations } from "../acquiring/operations.sql.ts";
import { type Micros, SECOND } from "../ground/clock.ts";
import { otherBook } from "../merchants/books.ts";
import type { Command } from "../store/command.ts";
import type { Payment } from "./payment.ts";
import { cancelPayment } from "./payments.ts";
import { payments } from "./payments.sql.ts";
import { paymentStatuses } from "./states.ts";

const owner = ownerWith();
const kawah = scriptedAcquirer("kawah");
const router = aRouter({ acquirers: [kawah] });

test("a pending payment is canceled with its reason, and the merchant is notified", () => {
  const payment = aPayment();
  given({ rows: [row(payments, payment)] })
    .when(cancelPayment(router, owner, payment.reference, "changed their mind"))
    .then((changes, answer) => {
      expect(answer).toMatchObject({ status: "canceled", canceledAt: NOW, cancelReason: "changed their mind" });
      expect(changes.updated(payments)).toEqual([answer]);
      expect(changes.events).toEqual(["payment.canceled"]);
      expect(changes.journals).toEqual([]);
    });
});

test.each(paymentStatuses.filter((status) => status !== "pending"))("a %s payment is not", (status) => {
  const payment = aPayment({ status });
  given({ rows: [row(payments, payment)] })
    .when(cancelPayment(router, owner, payment.reference, undefined))
    .refuses("PAYMENT_NOT_CANCELABLE");
});

test.each([
  ["polling", { step: "inquiring", inquiries: 0, dueAt: NOW }],
  ["inquiring", { step: "inquiring", inquiries: 0, dueAt: NOW }],
  ["calling", { step: "calling", inquiries: 4, dueAt: NOW + SECOND }],
  ["planned", { step: "done", dueAt: undefined }],
] as const)("its acquirer, which is %s, hears of it", (step, after) => {
  const payment = aPayment();
  const dueAt = NOW + SECOND;
  const operation = anOperation(payment.reference, { step, inquiries: 3, dueAt });
  const { changes } = given({ rows: [row(payments, payment), row(operations, operation)] }).when(
    cancelPayment(router, owner, payment.reference, undefined),
  );
  expect(changes.updated(operations)).toEqual([{ ...operation, ...after }]);
});

test.each(["calling", "inquiring", "polling"] as const)(
  "an acquirer that ends nothing, and is %s, does not: its inquiry comes when it is due",
  (step) => {
    const payment = aPayment();
    const operation = anOperation(payment.reference, { step });
    const calls = { ...(kawah.calls ?? expect.unreachable()) };
    delete calls.cancel;
    const { changes } = given({ rows: [row(payments, payment), row(operations, operation)] }).when(
      cancelPayment(aRouter({ acquirers: [{ ...kawah, calls }] }), owner, payment.reference, undefined),
    );
    expect(changes.updated(operations)).toEqual([]);
  },
);

test.each(["retryable", "done"] as const)("where its operation is %s there is nobody to tell", (step) => {
  const payment = aPayment();
  const operation = anOperation(payment.reference, { step, dueAt: undefined });
  const { changes } = given({ rows: [row(payments, payment), row(operations, operation)] }).when(
    cancelPayment(router, owner, payment.reference, undefined),
  );
  expect(changes.updated(operations)).toEqual([]);
});

test.each([
  ["at its end", 0, true],
  ["a moment before", 1, false],
])("%s the time of a payment decides", (_when, left, over) => {
  const payment = aPayment({ expiresAt: NOW + left });
  const canceled = given({ rows: [row(payments, payment)] }).when(
    cancelPayment(router, owner, payment.reference, undefined),
  );
  if (!over) expect(canceled.answer.status).toBe("canceled");
  else {
    canceled.refuses("PAYMENT_NOT_CANCELABLE", undefined, true);
    expect(canceled.changes.updated(payments)).toMatchObject([{ status: "expired" }]);
    expect(canceled.changes.events).toEqual(["payment.expired"]);
  }
});

test("one under review is canceled while its review runs, and fails when that is over", () => {
  const reviewed = (expiresAt: Micros): Payment =>
    aPayment({ risk: { decision: "review", score: 70, reasons: [] }, gatewayCode: undefined, expiresAt });
  const [running, over] = [reviewed(NOW + 1), reviewed(NOW)];
  const canceling = ({ reference }: Payment): Command<Payment> => cancelPayment(router, owner, reference, undefined);
  expect(given({ rows: [row(payments, running)] }).when(canceling(running)).answer.status).toBe("canceled");
  const late = given({ rows: [row(payments, over)] }).when(canceling(over));
  late.refuses("PAYMENT_NOT_CANCELABLE", undefined, true);
  expect(late.changes.updated(payments)).toMatchObject([{ status: "failed" }]);
  expect(late.changes.events).toEqual(["payment.failed"]);
});

test("its time is that of the book", () => {
  const payment = aPayment({ expiresAt: NOW + 100 * SECOND });
  given({ rows: [row(payments, payment)], offsetSeconds: 100 })
    .when(cancelPayment(router, owner, payment.reference, undefined))
    .refuses("PAYMENT_NOT_CANCELABLE", undefined, true);
});

test("one of the other environment is a mismatch, and one of nobody is not found", () => {
  const elsewhere = aPayment({ book: otherBook(owner.book) });
  given({ rows: [row(payments, elsewhere)] })
    .when(cancelPayment(router, owner, elsewhere.reference, undefined))
    .refuses("ENVIRONMENT_MISMATCH");
  given()
    .when(cancelPayment(router, owner, elsewhere.reference, undefined))
    .refuses("PAYMENT_NOT_FOUND");
  given()
    .when(cancelPayment(router, owner, "pay_nonsense", undefined))
    .refuses("PAYMENT_NOT_FOUND");
});
