// Goal: each payment is erased once, whoever asks how often. Method: the pure command, also several of one batch.
import { expect, test } from "vitest";
import { NOW, given, ownerWith, row } from "../../test/given.ts";
import { aPayment } from "../../test/payments.ts";
import { erasedPayers } from "./payer-data.sql.ts";
import { NO_PAYER } from "./payer-data.ts";
import { eraseFrom } from "./payer-erasure.ts";
import { cancelPayment } from "./payments.ts";
import { payments } from "./payments.sql.ts";
import { aRouter } from "../../test/routing.ts";

const owner = ownerWith();
const payer = { customerKey: "aa", phoneKey: null, sealed: Buffer.of(1), erasedAt: null };
const [first, second] = [aPayment({ payer }), aPayment({ payer })];
const rows = [first, second].map((payment) => row(payments, payment));
const erase = (...erased: { reference: string }[]) =>
  eraseFrom(
    owner,
    erased.map(({ reference }) => reference),
  );

test("a payment that is there and has a payer is erased; its money and state stay", () => {
  given({ rows })
    .when(erase(first, { reference: "pay_unknown" }))
    .then((changes, answer) => {
      expect(answer).toBe(1);
      expect(changes.inserted(erasedPayers)).toMatchObject([{ reference: first.reference, erasedAt: NOW }]);
      expect(changes.updated(payments)).toEqual([]);
      expect([changes.events, changes.journals]).toEqual([[], []]);
    });
});

test("erasures of the same person in one batch erase each payment once", () => {
  const { answer, changes } = given({ rows }).when(erase(first)).when(erase(first, second));
  expect(answer).toBe(1);
  expect(changes.inserted(erasedPayers).map(({ reference }) => reference)).toEqual([first.reference, second.reference]);
});

test("a command behind it in the batch changes the payment, and brings the payer not back", () => {
  const { changes } = given({ rows })
    .when(erase(first))
    .when(cancelPayment(aRouter({}), owner, first.reference, undefined));
  expect(changes.updated(payments)).toMatchObject([
    { reference: first.reference, status: "canceled", payer: { ...NO_PAYER, erasedAt: NOW } },
  ]);
  expect(changes.inserted(erasedPayers)).toHaveLength(1);
});
