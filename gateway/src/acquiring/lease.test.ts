// Goal: no call is made to an acquirer by a caller whose lease is over, so that no worker inquires about a call that is still to come.
// Method: the operation as committed, a clock that jumps between commit and call, and an acquirer that counts its calls.
import fc from "fast-check";
import { expect, test } from "vitest";
import { anOperation, callParts, movableClock, openingParts } from "../../test/acquiring.ts";
import { NOW, book, given, merchantWith, ownerWith, row } from "../../test/given.ts";
import { aPayment } from "../../test/payments.ts";
import { aRefund } from "../../test/refunds.ts";
import { scriptedAcquirer } from "../../test/scripted-acquirer.ts";
import { bookCommand } from "../commands/command-context.ts";
import type { RefundRequest } from "../acquirers/acquirer.ts";
import { SECOND } from "../ground/clock.ts";
import { newId } from "../ground/ids.ts";
import { payments } from "../payments/payments.sql.ts";
import { selectRoute } from "../payments/route-selection.ts";
import { refunds } from "../refunds/refunds.sql.ts";
import { concludeOpening } from "./opening.ts";
import { type Operation, operationKey } from "./operation.ts";
import { operations } from "./operations.sql.ts";
import { callOrInquire } from "./payment-operations.ts";
import { callUntil, mayCall, planPayment } from "./planning.ts";
import { callOrInquire as callOrInquireRefund, concludeRefund } from "./refund-operations.ts";

const merchant = merchantWith();
/** Five seconds beyond the deadline of the scripted acquirer, which is 400 ms. */
const MARGIN = 5 * SECOND;

/** A payment that was just committed, with the operation that its request goes on with. */
function committed() {
  const kawah = scriptedAcquirer("kawah");
  const parts = openingParts(kawah);
  const payment = aPayment({ gatewayCode: undefined, instructions: undefined });
  const planned = given({ rows: [row(payments, payment)] }).when(
    bookCommand(ownerWith(), {
      name: "plan",
      needs: [],
      execute: (context) => planPayment(context, payment, selectRoute(parts, merchant, payment), "key-00000001"),
    }),
  );
  const [operation] = planned.changes.inserted(operations);
  if (!operation) return expect.unreachable("no operation was planned");
  return { kawah, parts, payment, operation, planned };
}

test.each([
  ["at once", 0, true],
  ["as late as the margin allows", MARGIN, true],
  ["a moment later", MARGIN + 1, false],
  ["after an hour's sleep", 3600 * SECOND, false],
])("a call that begins %s", async (_when, later, made) => {
  const { kawah, parts, payment, operation, planned } = committed();
  const clock = movableClock();
  clock.at += later;
  const result = await callOrInquire({ ...parts, ...callParts(clock) }, merchant, payment, operation);
  expect(kawah.opened).toHaveLength(made ? 1 : 0);
  expect(result.kind).toBe(made ? "known" : "unknown");
  if (made) return;
  const concluded = planned.when(concludeOpening(parts, merchant, operation, result), clock.at);
  expect(concluded.answer).toMatchObject({ fault: { code: "GATEWAY_TIMEOUT" } });
  expect(concluded.changes.inserted(operations)).toMatchObject([{ step: "inquiring", attempt: 1 }]);
});

const requestOf = (operation: Operation): RefundRequest => ({
  operationKey: operationKey(operation),
  paymentOperationKey: "p",
  paymentProviderIds: undefined,
  isOver: false,
  paymentAmountMinor: 1n,
  method: "qris",
  providerIds: undefined,
  amountMinor: 1n,
  currency: "IDR",
  callbackUrl: "https://gateway.test/kawah",
});

test.each([
  ["in time", MARGIN, false, 1, "known"],
  ["too late", MARGIN + 1, false, 0, "unknown"],
  ["in time, of a refund that has ended since it was planned", MARGIN, true, 0, "refused"],
])("a refund's call that begins %s", async (_when, later, isOver, calls, kind) => {
  const kawah = scriptedAcquirer("kawah");
  const clock = movableClock();
  const parts = { ...openingParts(kawah), ...callParts(clock) };
  const operation = anOperation(newId("refund", NOW), { kind: "refund", dueAt: callUntil(kawah, NOW) });
  clock.at += later;
  const request = { ...requestOf(operation), isOver };
  expect(await callOrInquireRefund(parts, operation, request)).toMatchObject({ kind });
  expect(kawah.refunds).toHaveLength(calls);
});

test("an inquiry about a payment needs no lease: it may be made at any time", async () => {
  const kawah = scriptedAcquirer("kawah");
  const clock = movableClock(NOW + 3600 * SECOND);
  const payment = aPayment();
  const operation = anOperation(payment.reference, { step: "inquiring", dueAt: NOW });
  const result = await callOrInquire({ ...openingParts(kawah), ...callParts(clock) }, merchant, payment, operation);
  expect([result.kind, kawah.asked.length, operation.book]).toEqual(["absent", 1, book]);
});

test("an inquiry about a refund is not made after its lease: by then it may be ordered anew, and the inquiry would order it as well", async () => {
  const kawah = scriptedAcquirer("kawah");
  kawah.ordersMissing = true;
  const clock = movableClock();
  const parts = { ...openingParts(kawah), ...callParts(clock) };
  const payment = aPayment({ status: "succeeded", gatewayCode: "kawah", refundPendingMinor: 100_000n });
  const refund = aRefund(payment);
  const claimed = anOperation(refund.uuid, {
    kind: "refund",
    paymentReference: payment.reference,
    step: "inquiring",
    dueAt: NOW + 60 * SECOND,
  });
  // Another worker takes the operation up when the lease is over, finds nothing, and orders under the next attempt.
  clock.at += 61 * SECOND;
  const taken = { ...claimed, dueAt: clock.at + 60 * SECOND };
  const start = given({ rows: [row(payments, payment), row(refunds, refund), row(operations, taken)] });
  const absent = start.when(concludeRefund(merchant, taken, { kind: "absent" }));
  const next = absent.changes.seen(operations, claimed) ?? expect.unreachable();
  const again: Operation = { ...next, step: "calling", dueAt: clock.at + 60 * SECOND };
  await callOrInquireRefund(parts, again, requestOf(again));
  // Then the first one wakes.
  const late = await callOrInquireRefund(parts, claimed, requestOf(claimed));
  expect(late.kind).toBe("unknown");
  expect(kawah.refunds.map(({ operationKey }) => operationKey)).toEqual([operationKey(again)]);
});

test("whenever a call may begin, it ends within its lease", () => {
  const micros = fc.integer({ min: 0, max: 100_000_000 });
  fc.assert(
    fc.property(fc.integer({ min: 100, max: 30_000 }), micros, micros, (deadlineMs, lease, later) => {
      const operation = { dueAt: NOW + lease };
      expect(mayCall(operation, deadlineMs, NOW + later)).toBe(later + deadlineMs * 1_000 <= lease);
      expect(mayCall({ dueAt: undefined }, deadlineMs, NOW + later)).toBe(false);
    }),
  );
});
