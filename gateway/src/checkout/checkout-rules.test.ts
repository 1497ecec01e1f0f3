// Goal: a payer's page shows the payment by its book's clock, and hides no failure of the payer's decision. Method: the look-up and the decision over
// rows, clocks and lanes that the tests give; checkout.test.ts has the pages.
import { expect, test } from "vitest";
import { movableClock } from "../../test/acquiring.ts";
import { NOW, book, merchantWith } from "../../test/given.ts";
import { aPayment } from "../../test/payments.ts";
import { SECOND } from "../ground/clock.ts";
import { Fault, type FaultCode } from "../ground/fault.ts";
import { newId, uuidOf } from "../ground/ids.ts";
import type { Payment } from "../payments/payment.ts";
import type { Statement } from "../store/database.ts";
import { type Checkout, type CheckoutParts, decide, findCheckout } from "./checkout.ts";
import { PayerTokens } from "./payer-tokens.ts";

interface Found {
  /** Seconds by which the book's clock is ahead. */
  ahead?: number;
  isSuspended?: boolean;
  /** Refunds of the payment in the database. */
  refunds?: number;
}

/** The page of a payment, and the statements that were asked for it. */
async function pageOf(payment: Payment, { ahead = 0, isSuspended = false, refunds = 0 }: Found = {}) {
  const asked: Statement[] = [];
  const refund: Record<string, unknown> = {
    merchant_id: uuidOf(book.merchantId),
    environment: book.environment,
    refund_id: uuidOf(newId("refund", NOW)),
    payment_id: uuidOf(payment.reference),
  };
  const rowOf = new Proxy(refund, { get: (columns, name) => columns[name as string] ?? null });
  const parts = {
    tokens: { read: (token: string) => (token === "ours" ? { ...book, reference: payment.reference } : undefined) },
    database: {
      first: async () => payment,
      query: async (statement: Statement) => {
        asked.push(statement);
        const isClock = statement.name === "select book offset";
        return isClock ? [{ clock_offset_seconds: BigInt(ahead) }] : Array.from({ length: refunds }, () => rowOf);
      },
    },
    profiles: { of: async () => ({}) },
    directory: { merchant: async () => ({ ...merchantWith(), suspended: isSuspended }) },
    clock: movableClock(),
  };
  const page: Checkout = await findCheckout(parts as unknown as CheckoutParts, "ours");
  return { page, asked, parts: parts as unknown as CheckoutParts };
}

test.each([
  [1_799, 1, "open"],
  [1_800, 0, "expired"],
  [1_801, 0, "expired"],
])("%i seconds ahead, half an hour has %i seconds left: %s", async (ahead, secondsLeft, face) => {
  const { page } = await pageOf(aPayment(), { ahead });
  expect(page).toMatchObject({ secondsLeft, face });
  expect(page.instructions === undefined).toBe(face !== "open");
});

test("a second that has begun is shown, and may be paid in", async () => {
  const { page } = await pageOf(aPayment({ expiresAt: NOW + 1 }));
  expect(page).toMatchObject({ secondsLeft: 1, face: "open" });
  expect((await pageOf(aPayment({ expiresAt: NOW + SECOND + 1 }))).page.secondsLeft).toBe(2);
});

test("nothing is to be paid to a merchant that is suspended", async () => {
  const { page } = await pageOf(aPayment(), { isSuspended: true });
  expect(page).toMatchObject({ face: "unavailable", instructions: undefined });
});

test("a token of somebody else's shows nothing", async () => {
  const { parts } = await pageOf(aPayment());
  await expect(findCheckout(parts, "theirs")).rejects.toMatchObject({ code: "ROUTE_NOT_FOUND" });
});

test("a page's address outlives the master key it was made with, and none is made with that any more", () => {
  const [before, now] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
  const { reference } = aPayment();
  const named = { merchantId: book.merchantId, reference };
  const old = new PayerTokens([before]).make(book, reference);
  const replacing = new PayerTokens([now, before]);
  expect(replacing.read(old)).toEqual(named);
  const made = replacing.make(book, reference);
  expect([new PayerTokens([now]).read(made), new PayerTokens([before]).read(made)]).toEqual([named, undefined]);
  expect(new PayerTokens([now]).read(old)).toBeUndefined();
});

test("what was given back is shown, the newest twenty, and no refund that has not succeeded", async () => {
  const { page, asked } = await pageOf(aPayment({ status: "partially_refunded" }), { refunds: 21 });
  expect(page.refunds).toHaveLength(20);
  expect(asked.at(-1)?.values).toContain("succeeded");
  expect((await pageOf(aPayment({ status: "succeeded" }), { refunds: 1 })).page.refunds).toEqual([]);
});

test.each<[FaultCode, boolean]>([
  ["PAYMENT_EXPIRED", true],
  ["PAYMENT_NOT_PAYABLE", true],
  ["PAYMENT_NOT_FOUND", false],
  ["SERVICE_UNAVAILABLE", false],
  ["INTERNAL_ERROR", false],
])("a decision that ends with %s has come too late: %s", async (code, isLate) => {
  const { parts } = await pageOf(aPayment());
  const failing = { ...parts, lanes: { move: () => Promise.reject(new Fault(code)) } } as unknown as CheckoutParts;
  const decided = decide(failing, aPayment(), "succeeded");
  if (isLate) await decided;
  else await expect(decided).rejects.toMatchObject({ code });
});

test("nobody decides about a production payment, nor about a suspended merchant's", async () => {
  const live = aPayment({ book: { ...book, environment: "production" } });
  const { parts } = await pageOf(live, { isSuspended: true });
  await expect(decide(parts, live, "succeeded")).rejects.toMatchObject({ code: "ROUTE_NOT_FOUND" });
  // It has no lanes: a command would break it.
  await decide(parts, aPayment(), "succeeded");
});
