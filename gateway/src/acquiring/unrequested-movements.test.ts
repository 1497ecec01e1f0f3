// Goal: money that moved at an acquirer without us reaches a person, once, and books nothing. Method: the pure commands over what an inquiry
// or a message says, and over payments in every state.
import { describe, expect, test } from "vitest";
import { anOperation, aReceipt, closing, openingParts } from "../../test/acquiring.ts";
import { NOW, book, given, merchantWith, row } from "../../test/given.ts";
import { aPayment } from "../../test/payments.ts";
import { scriptedAcquirer } from "../../test/scripted-acquirer.ts";
import type { ReportedState, Unrequested } from "../acquirers/acquirer.ts";
import type { Payment } from "../payments/payment.ts";
import { payments } from "../payments/payments.sql.ts";
import { type PaymentStatus, isUnpaid, paymentStatuses } from "../payments/states.ts";
import { newId } from "../ground/ids.ts";
import { refundElsewhere } from "./unrequested-movements.ts";
import type { ReconciliationException } from "./exception.ts";
import { exceptions } from "./exceptions.sql.ts";
import { paymentNotification } from "./notifications.ts";
import type { KeptReceipt } from "./receipt.ts";
import { moneyOfPayments, receipts } from "./receipts.sql.ts";
import { type OpenResult, concludeOpening } from "./opening.ts";
import type { Operation } from "./operation.ts";
import { operations } from "./operations.sql.ts";

const merchant = merchantWith();
const parts = openingParts(scriptedAcquirer("kawah"));
const instructions = { type: "qr_string", value: "000201", expires_at: "2027-01-15T08:30:00Z" } as const;
const known = (unrequested: readonly Unrequested[], state: ReportedState = { status: "waiting" }): OpenResult => ({
  kind: "known",
  instructions,
  state,
  unrequested,
});

/** A payment at `kawah` whose inquiry a worker has taken up. */
function asked(changes: Partial<Payment> = {}) {
  const payment = aPayment({ gatewayCode: "kawah", status: "succeeded", ...changes });
  const operation = anOperation(payment.reference, { step: "inquiring" });
  const start = given({ rows: [row(payments, payment), row(operations, operation)] });
  return { payment, operation, start };
}

const keyOf = ({ id }: Operation) => ({ book, operationId: id, attempt: 1, kind: "refund_elsewhere" }) as const;

describe("an inquiry that finds", () => {
  test.each<[string, Unrequested[], string[]]>([
    ["nothing", [], []],
    ["a refund of others", [{ refundId: "r-1" }], ["refund_elsewhere"]],
    ["a refund that it does not name", ["unlisted_refund"], ["refund_elsewhere"]],
    ["both", [{ refundId: "r-1" }, "unlisted_refund"], ["refund_elsewhere"]],
    ["a part charged back", ["dispute"], ["dispute"]],
    ["a part charged back, and a part given back", ["dispute", { refundId: "r-1" }], ["dispute", "refund_elsewhere"]],
  ])("%s", (_what, unrequested, kinds) => {
    const { operation, start } = asked();
    start
      .when(concludeOpening(parts, merchant, operation, known(unrequested)))
      .then((changes, { exceptions: told }) => {
        expect(changes.inserted(exceptions).map(({ kind, attempt }) => [kind, attempt])).toEqual(
          kinds.map((kind) => [kind, 1]),
        );
        expect(told).toEqual(kinds);
        expect([changes.journals, changes.events, changes.updated(payments)]).toEqual([[], [], []]);
        expect(changes.updated(operations)).toMatchObject([{ step: "done" }]);
      });
  });

  test("that what was paid has failed there tells a person that it was taken back, unless that is known or explained", () => {
    const found = (changes: Partial<Payment>, unrequested: Unrequested[] = []): string[] => {
      const { operation, start } = asked(changes);
      const failed = known(unrequested, { status: "failed" });
      const { changes: done } = start.when(concludeOpening(parts, merchant, operation, failed));
      return done.inserted(exceptions).map(({ kind }) => kind);
    };
    expect(found({})).toEqual(["dispute"]);
    expect(found({ disputeStatus: "needs_response" })).toEqual([]);
    expect(found({ disputeStatus: "lost", lostMinor: 1_000_000n })).toEqual([]);
    expect(found({ disputeStatus: "lost", lostMinor: 400_000n })).toEqual(["dispute"]);
    expect(found({ disputeStatus: "won" })).toEqual(["dispute"]);
    expect(found({ disputeStatus: "withdrawn" })).toEqual(["dispute"]);
    expect(found({ status: "partially_refunded" })).toEqual(["dispute"]);
    expect(found({}, ["unlisted_refund"])).toEqual(["refund_elsewhere"]);
    for (const status of ["pending", "processing", "refunded", "failed", "expired", "canceled"] as const)
      expect(found({ status })).toEqual([]);
    // It may have been paid since that inquiry began: a report has asked for another one.
    const { operation, start } = asked();
    const begun = { ...operation, dueAt: (operation.dueAt ?? NOW) + 60_000_000 };
    const { changes } = start.when(concludeOpening(parts, merchant, begun, known([], { status: "failed" })));
    expect(changes.inserted(exceptions)).toEqual([]);
  });

  test.each(["expired", "canceled", "failed", "pending"] as const)(
    "that money which a payment did not await has failed there tells a person, whatever was decided of it: %s",
    (status) => {
      const { payment, operation, start } = asked({ status });
      const say = (state: ReportedState, gatewayCode = "kawah") =>
        paymentNotification(merchant, operation, gatewayCode, { state });
      const money = { transactionId: "t-1", amountMinor: 999n, currency: "IDR" };
      const taken = { ...operation, dueAt: NOW };
      const found: OpenResult = Object.assign(known([], { status: "failed" }), { isOver: isUnpaid(status) });
      const failed = concludeOpening(parts, merchant, taken, found);
      const late = start.when(say({ status: "paid", receipt: money }));
      // The report may be older than the money: the acquirer is asked, and what it says counts.
      const doubted = late.when(say({ status: "failed" }));
      expect(doubted.changes.updated(operations)).toMatchObject([{ step: "inquiring", inquiries: 0, dueAt: NOW }]);
      expect(doubted.changes.inserted(exceptions)).toEqual([]);
      const told = doubted.when(failed);
      expect(told.answer).toMatchObject({ exceptions: ["dispute"] });
      expect(told.changes.inserted(exceptions)).toMatchObject([{ kind: "dispute", attempt: 1 }]);

      // What was credited to the merchant, or came by another acquirer.
      const decided = (changes: Partial<KeptReceipt>): unknown[] => {
        const receipt = aReceipt({ paymentReference: payment.reference, ...changes });
        const rows = [row(payments, payment), row(operations, taken), row(moneyOfPayments, receipt)];
        return given({ rows }).when(failed).changes.inserted(exceptions);
      };
      expect(decided({ status: "credited", decidedAt: NOW })).toHaveLength(1);
      expect(decided({ status: "returned", decidedAt: NOW })).toEqual([]);
      expect(decided({ gatewayCode: "lawu" })).toEqual([]);
    },
  );

  test.each(["expired", "failed"] as const)(
    "that such money has failed there tells a person, also when the report of it comes twice: %s",
    (status) => {
      const { payment, operation } = asked({ status });
      const rows = [
        row(payments, payment),
        row(operations, operation),
        row(moneyOfPayments, aReceipt({ paymentReference: payment.reference, amountMinor: 999n })),
      ];
      const found: OpenResult = Object.assign(known([], { status: "failed" }), { isOver: isUnpaid(status) });
      // The second report comes while the acquirer is asked about the first.
      const first = given({ rows })
        .when(paymentNotification(merchant, operation, "kawah", { state: { status: "failed" } }))
        .when(concludeOpening(parts, merchant, operation, found));
      expect(first.changes.inserted(exceptions)).toEqual([]);
      const again = first.changes.seen(operations, operation) ?? expect.unreachable();
      expect(again).toMatchObject({ dueAt: NOW });
      const second = first.when(concludeOpening(parts, merchant, again, found));
      expect(second.changes.inserted(exceptions)).toMatchObject([{ kind: "dispute" }]);
    },
  );

  test("that such money was given back there, without a refund that is named, tells a person", () => {
    const { payment, operation } = asked({ status: "expired" });
    const over = [row(payments, payment), row(operations, operation)];
    const canceled = Object.assign(known(["unlisted_refund"], { status: "failed" }), { isOver: true });
    const told = (rows: typeof over): string[] =>
      given({ rows })
        .when(concludeOpening(parts, merchant, operation, canceled))
        .changes.inserted(exceptions)
        .map(({ kind }) => kind);
    expect(
      told([...over, row(moneyOfPayments, aReceipt({ paymentReference: payment.reference, amountMinor: 999n }))]),
    ).toEqual(["dispute"]);
    expect(told(over)).toEqual([]);
  });

  test.each<[string, Partial<Payment>]>([
    ["runs", { disputeStatus: "under_review" }],
    ["was lost over that part", { disputeStatus: "lost", lostMinor: 400_000n }],
  ])("a part charged back, of which there is a dispute already that %s, tells nobody again", (_, changes) => {
    const { operation, start } = asked(changes);
    const { changes: done } = start.when(concludeOpening(parts, merchant, operation, known(["dispute"])));
    expect(done.inserted(exceptions)).toEqual([]);
  });

  test("a refund is no news about a dispute that a person has dealt with", () => {
    const { operation, payment } = asked();
    const closed: ReconciliationException = {
      ...keyOf(operation),
      kind: "dispute",
      uuid: newId("exception", NOW),
      operationKind: "payment",
      gatewayCode: "kawah",
      noticedAt: NOW,
      occasions: [],
      closedAt: NOW,
      note: "asked them",
    };
    const rows = [row(payments, payment), row(operations, operation), row(exceptions, closed)];
    const found = known(["dispute", { refundId: "r-1" }]);
    const { answer } = given({ rows }).when(concludeOpening(parts, merchant, operation, found));
    expect(answer).toMatchObject({ exceptions: ["refund_elsewhere"] });
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
    const ask = concludeOpening(parts, merchant, operation, known([{ refundId: "r-1" }]));
    const again = start.when(refundElsewhere(merchant, operation, "r-1", undefined)).when(ask).answer;
    expect(again).toMatchObject({ reply: {}, exceptions: [] });
  });

  test("a further refund, after a person has dealt with the first: it is told, once; the first is not told again", () => {
    const { operation, start } = asked();
    const heard = (refundId: string) => refundElsewhere(merchant, operation, refundId, undefined);
    const closed = start.when(heard("r-1")).when(closing(keyOf(operation), "booked outside"));
    expect(closed.when(heard("r-1")).answer).toBeUndefined();
    const both = known([{ refundId: "r-1" }, { refundId: "r-2" }, "unlisted_refund"]);
    const again = closed.when(concludeOpening(parts, merchant, operation, both));
    expect(again.answer).toMatchObject({ exceptions: ["refund_elsewhere"] });
    const open = { occasions: ["r-1", "r-2"], closedAt: undefined, note: undefined };
    expect(again.changes.seen(exceptions, keyOf(operation))).toMatchObject(open);
    const dealtWith = again.when(closing(keyOf(operation), "both"));
    expect([dealtWith.when(heard("r-2")).answer, dealtWith.when(heard("r-1")).answer]).toEqual([undefined, undefined]);
  });

  test("a further refund while the first still waits for a person: the one exception keeps both", () => {
    const { operation, start } = asked();
    const more = start
      .when(refundElsewhere(merchant, operation, "r-1", undefined))
      .when(refundElsewhere(merchant, operation, "r-2", undefined));
    expect(more.answer).toBeUndefined();
    const { occasions } = more.changes.seen(exceptions, keyOf(operation)) ?? expect.unreachable();
    expect(occasions).toEqual(["r-1", "r-2"]);
  });

  test("a further refund while a person reads of the first: the person does not close both", () => {
    const { operation, start } = asked();
    const both = start
      .when(refundElsewhere(merchant, operation, "r-1", undefined))
      .when(refundElsewhere(merchant, operation, "r-2", undefined));
    const { outcome } = both.when(closing(keyOf(operation), "looked up", ["r-1"]));
    expect(outcome).toMatchObject({ fault: { code: "VALIDATION_ERROR", message: expect.stringContaining("r-2") } });
    expect(both.changes.seen(exceptions, keyOf(operation))).toMatchObject({ closedAt: undefined });
    const { answer } = both.when(closing(keyOf(operation), "looked up", ["r-2", "r-1"]));
    expect(answer).toMatchObject({ closedAt: NOW, note: "looked up" });
  });

  test("more refunds than anybody makes: 32 are kept, and no more is news", () => {
    const { operation, start } = asked();
    const many = known(Array.from({ length: 40 }, (_, order) => ({ refundId: `r-${order}` })));
    const full = start.when(concludeOpening(parts, merchant, operation, many));
    expect(full.changes.seen(exceptions, keyOf(operation))?.occasions).toHaveLength(32);
    const closed = full.when(closing(keyOf(operation), "seen"));
    expect(closed.when(refundElsewhere(merchant, operation, "r-41", undefined)).answer).toBeUndefined();
  });
});

test.each(paymentStatuses)("a message that a %s payment was given back is told, once", (status) => {
  const { operation, start } = asked({ status });
  const command = refundElsewhere(merchant, operation, "r-1", undefined);
  const first = start.when(command);
  expect(first.answer).toBe("refund_elsewhere");
  expect(first.changes.inserted(exceptions)).toMatchObject([{ kind: "refund_elsewhere", gatewayCode: "kawah" }]);
  expect([first.changes.journals, first.changes.events]).toEqual([[], []]);
  expect(first.when(command).answer).toBeUndefined();
});
