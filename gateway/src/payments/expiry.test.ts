// Goal: what nobody paid in its time expires, and nothing else does. Method: the pure command over every status, around the end of its time.
import { expect, test } from "vitest";
import { NOW, given, ownerWith, row } from "../../test/given.ts";
import { aPayment } from "../../test/payments.ts";
import { SECOND } from "../ground/clock.ts";
import { expirePayment } from "./payments.ts";
import { payments, reviewedOrRouted } from "./payments.sql.ts";
import { paymentStatuses } from "./states.ts";

const owner = ownerWith();
const expiring = (reference: string): ReturnType<typeof expirePayment> => expirePayment(owner, reference);

const cases = paymentStatuses.flatMap((status) =>
  [1, 0, -1].map((left) => [status, left, status === "pending" && left <= 0] as const),
);

test.each(cases)("a %s payment with %i microseconds left: %s", (status, left, over) => {
  const payment = aPayment({ status, expiresAt: NOW + left });
  given({ rows: [row(payments, payment)] })
    .when(expiring(payment.reference))
    .then((changes, answer) => {
      expect(answer).toBe(over);
      expect(changes.isNothing).toBe(!over);
      expect(changes.updated(payments)).toEqual(over ? [{ ...payment, status: "expired", updatedAt: NOW }] : []);
      expect(changes.events).toEqual(over ? ["payment.expired"] : []);
      expect(changes.journals).toEqual([]);
    });
});

test("one that is gone is nothing to do", () => {
  expect(given().when(expiring(aPayment().reference)).answer).toBe(false);
});

test("its time is that of the book", () => {
  const payment = aPayment({ expiresAt: NOW + 100 * SECOND });
  const rows = [row(payments, payment)];
  expect(given({ rows, offsetSeconds: 99 }).when(expiring(payment.reference)).answer).toBe(false);
  const late = given({ rows, offsetSeconds: 100 }).when(expiring(payment.reference));
  expect(late.answer).toBe(true);
  expect(late.changes.updated(payments)).toMatchObject([{ updatedAt: NOW + 100 * SECOND }]);
});

test("of two sweeps in one batch one expires it", () => {
  const payment = aPayment({ expiresAt: NOW });
  const first = given({ rows: [row(payments, payment)] }).when(expiring(payment.reference));
  const second = first.when(expiring(payment.reference));
  expect([first.answer, second.answer]).toEqual([true, false]);
  expect(second.changes.events).toEqual(["payment.expired"]);
});

test("one that an acquirer has not taken yet expires as well", () => {
  const payment = aPayment({ gatewayCode: undefined, instructions: undefined, expiresAt: NOW });
  const swept = given({ rows: [row(payments, payment)] }).when(expiring(payment.reference));
  expect(swept.changes.updated(payments)).toMatchObject([{ status: "expired" }]);
});

test("a review that nobody ended is refused: the payment fails", () => {
  const payment = aPayment({
    gatewayCode: undefined,
    instructions: undefined,
    risk: { decision: "review", score: 70, reasons: [] },
    expiresAt: NOW,
  });
  given({ rows: [row(payments, payment)] })
    .when(expiring(payment.reference))
    .then((changes, answer) => {
      expect(answer).toBe(true);
      expect(changes.updated(payments)).toMatchObject([{ status: "failed", updatedAt: NOW }]);
      expect(changes.inserted(reviewedOrRouted)).toMatchObject([{ risk: { decision: "reject", score: 70 } }]);
      expect(changes.events).toEqual(["payment.failed"]);
    });
});
