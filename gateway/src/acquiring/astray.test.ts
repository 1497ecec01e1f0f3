// Goal: money that moved at an acquirer without us reaches a person, once, and books nothing. Method: the pure commands over what an inquiry
// or a message says, and over payments in every state.
import { describe, expect, test } from "vitest";
import { anOperation, openingParts } from "../../test/acquiring.ts";
import { given, merchantWith, row } from "../../test/given.ts";
import { aPayment } from "../../test/payments.ts";
import { scriptedAcquirer } from "../../test/scripted-acquirer.ts";
import type { Astray, ReportedState } from "../acquirers/acquirer.ts";
import type { Payment } from "../payments/payment.ts";
import { payments } from "../payments/payments.sql.ts";
import { type PaymentStatus, paymentStatuses } from "../payments/states.ts";
import { refundElsewhere } from "./astray.ts";
import { exceptions } from "./exceptions.sql.ts";
import { receipts } from "./receipts.sql.ts";
import { type OpenResult, concludeOpening } from "./opening.ts";
import { operations } from "./operations.sql.ts";

const merchant = merchantWith();
const parts = openingParts(scriptedAcquirer("kawah"));
const instructions = { type: "qr_string", value: "000201", expires_at: "2027-01-15T08:30:00Z" } as const;
const known = (astray: readonly Astray[], state: ReportedState = { status: "waiting" }): OpenResult => ({
  kind: "known",
  instructions,
  state,
  astray,
});

/** A payment at `kawah` whose inquiry a worker has taken up. */
function asked(changes: Partial<Payment> = {}) {
  const payment = aPayment({ gatewayCode: "kawah", status: "succeeded", ...changes });
  const operation = anOperation(payment.reference, { step: "inquiring" });
  const start = given({ rows: [row(payments, payment), row(operations, operation)] });
  return { payment, operation, start };
}

describe("an inquiry that finds", () => {
  test.each<[string, Astray[], string[]]>([
    ["nothing", [], []],
    ["a refund of others", ["refund"], ["refund_elsewhere"]],
    ["a refund that it does not name", ["unlisted_refund"], ["refund_elsewhere"]],
    ["both", ["refund", "unlisted_refund"], ["refund_elsewhere"]],
    ["a part charged back", ["dispute"], ["dispute"]],
    ["a part charged back, and a part given back", ["dispute", "refund"], ["dispute", "refund_elsewhere"]],
  ])("%s", (_what, astray, kinds) => {
    const { operation, start } = asked();
    start.when(concludeOpening(parts, merchant, operation, known(astray))).then((changes, { exceptions: told }) => {
      expect(changes.inserted(exceptions).map(({ kind, attempt }) => [kind, attempt])).toEqual(
        kinds.map((kind) => [kind, 1]),
      );
      expect(told).toEqual(kinds);
      expect([changes.journals, changes.events, changes.updated(payments)]).toEqual([[], [], []]);
      expect(changes.updated(operations)).toMatchObject([{ step: "done" }]);
    });
  });

  test("that what was paid has failed there tells a person that it was taken back, unless that is known or explained", () => {
    const found = (changes: Partial<Payment>, astray: Astray[] = []): string[] => {
      const { operation, start } = asked(changes);
      const failed = known(astray, { status: "failed" });
      const { changes: done } = start.when(concludeOpening(parts, merchant, operation, failed));
      return done.inserted(exceptions).map(({ kind }) => kind);
    };
    expect(found({})).toEqual(["dispute"]);
    expect(found({ disputeStatus: "needs_response" })).toEqual([]);
    expect(found({ disputeStatus: "lost" })).toEqual([]);
    expect(found({ disputeStatus: "won" })).toEqual(["dispute"]);
    expect(found({ disputeStatus: "withdrawn" })).toEqual(["dispute"]);
    expect(found({ status: "partially_refunded" })).toEqual(["dispute"]);
    expect(found({}, ["unlisted_refund"])).toEqual(["refund_elsewhere"]);
    for (const status of ["pending", "processing", "refunded", "failed", "expired", "canceled"] as const)
      expect(found({ status })).toEqual([]);
  });

  test("a part charged back, of which there is a dispute already, tells nobody again", () => {
    const { operation, start } = asked({ disputeStatus: "under_review" });
    const { changes } = start.when(concludeOpening(parts, merchant, operation, known(["dispute"])));
    expect(changes.inserted(exceptions)).toEqual([]);
  });

  test.each<[PaymentStatus, Partial<Payment>, number]>([
    ...paymentStatuses.map((status): [PaymentStatus, Partial<Payment>, number] => [
      status,
      {},
      status === "succeeded" ? 1 : 0,
    ]),
    ["succeeded", { refundPendingMinor: 1n }, 0],
  ])("a refund that it does not name, of a payment that is %s %o: ours may be what it is", (status, changes, many) => {
    const { operation, start } = asked({ status, ...changes });
    const { changes: done } = start.when(concludeOpening(parts, merchant, operation, known(["unlisted_refund"])));
    expect(done.inserted(exceptions)).toHaveLength(many);
  });

  test("a refund of others, of a payment that it tells to be paid only now", () => {
    const { operation, start } = asked({ status: "pending" });
    const receipt = { transactionId: "t-1", amountMinor: 1_000_000n, currency: "IDR" };
    const paid = known(["unlisted_refund"], { status: "paid", receipt });
    const { changes } = start.when(concludeOpening(parts, merchant, operation, paid));
    expect(changes.inserted(exceptions)).toMatchObject([{ kind: "refund_elsewhere" }]);
    expect(changes.events).toEqual(["payment.succeeded"]);
  });

  test.each(["canceled", "expired", "failed"] as const)(
    "a refund of others, of money that came for a payment that is %s: who decides about the money has to know",
    (status) => {
      const { operation, start } = asked({ status });
      const receipt = { transactionId: "t-1", amountMinor: 1_000_000n, currency: "IDR" };
      const paid = known(["unlisted_refund"], { status: "paid", receipt });
      const { changes } = start.when(concludeOpening(parts, merchant, operation, paid));
      expect(changes.inserted(receipts)).toMatchObject([{ status: "unapplied" }]);
      expect(changes.inserted(exceptions)).toMatchObject([{ kind: "refund_elsewhere" }]);
    },
  );

  test("what it found before: it is not told again", () => {
    const { operation, start } = asked();
    const ask = concludeOpening(parts, merchant, operation, known(["refund"]));
    const again = start.when(refundElsewhere(merchant, operation, undefined)).when(ask).answer;
    expect(again).toMatchObject({ reply: {}, exceptions: [] });
  });
});

test.each(paymentStatuses)("a message that a %s payment was given back is told, once", (status) => {
  const { operation, start } = asked({ status });
  const command = refundElsewhere(merchant, operation, undefined);
  const first = start.when(command);
  expect(first.answer).toBe("refund_elsewhere");
  expect(first.changes.inserted(exceptions)).toMatchObject([{ kind: "refund_elsewhere", gatewayCode: "kawah" }]);
  expect([first.changes.journals, first.changes.events]).toEqual([[], []]);
  expect(first.when(command).answer).toBeUndefined();
});
