// Goal: contested money is held, and goes where the decision says. Method: the pure commands over disputes and payments in every state.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { NOW, type Then, given, ownerWith, row } from "../../test/given.ts";
import { aPayment } from "../../test/payments.ts";
import { aDispute, nothing, owning } from "../../test/refunds.ts";
import { SECOND } from "../ground/clock.ts";
import { exampleOf } from "../http/shapes.ts";
import { otherBook } from "../merchants/books.ts";
import { type DisputeStatus, type Payment, disputeStatuses } from "../payments/payment.ts";
import { payments } from "../payments/payments.sql.ts";
import { paymentStatuses } from "../payments/states.ts";
import { isRunning } from "../payments/payment.ts";
import { type Dispute, disputeView, outcomes } from "./dispute.ts";
import {
  contestedMinor,
  expireDispute,
  moveEvidenceDue,
  openDispute,
  resolveDispute,
  submitEvidence,
} from "./disputes.ts";
import { disputeSchema, openDisputeSchema, resolveDisputeSchema, resolvedExamples } from "./disputes.schema.ts";
import { disputes, evidence } from "./disputes.sql.ts";

const DAY = 24 * 3600 * SECOND;
const owner = ownerWith();
const paid = aPayment({ status: "succeeded" });
const open = (payment: Payment, amount?: number) =>
  openDispute(owner, payment.reference, {
    reason: "fraudulent",
    ...(amount === undefined ? {} : { amount_minor: amount }),
  });
const keyOf = ({ uuid, paymentReference }: Dispute) => ({ uuid, paymentReference });

/** A payment with a dispute that stands so, and what is held for it. */
function contested(status: DisputeStatus, changes: Partial<Dispute> = {}) {
  const payment = { ...paid, disputeStatus: status };
  const dispute = aDispute(payment, { status, ...changes });
  const balances = owning({ available: -7_000n, held: isRunning(status) ? dispute.amountMinor : 0n });
  return { payment, dispute, start: given({ rows: [row(payments, payment), row(disputes, dispute)], balances }) };
}

describe("opening", () => {
  test("holds the contested amount, even when that takes what is available below zero", () => {
    given({ rows: [row(payments, paid)], balances: owning({ available: 5n }) })
      .when(open(paid))
      .then((changes, dispute) => {
        expect(dispute).toMatchObject({
          status: "needs_response",
          amountMinor: 1_000_000n,
          openedAt: NOW,
          evidenceDueAt: NOW + 7 * DAY,
          resolvedAt: undefined,
          referenceId: paid.referenceId,
        });
        expect(changes.journals).toEqual([
          {
            kind: "dispute_opened",
            entries: { "merchant:available IDR": 1_000_000n, "merchant:held IDR": -1_000_000n },
          },
        ]);
        expect(changes.updated(payments)).toMatchObject([{ status: "succeeded", disputeStatus: "needs_response" }]);
        expect(changes.events).toEqual(["dispute.opened"]);
      });
  });

  test.each(paymentStatuses)("over a %s payment", (status) => {
    const payment = aPayment({ status });
    const outcome = given({ rows: [row(payments, payment)] }).when(open(payment, 1));
    if (status === "succeeded" || status === "partially_refunded") expect(outcome.answer.amountMinor).toBe(1n);
    else outcome.refuses("PAYMENT_NOT_REFUNDABLE");
  });

  test.each(disputeStatuses)("a second time, when the first dispute is %s", (disputeStatus) => {
    const payment = { ...paid, disputeStatus };
    const outcome = given({ rows: [row(payments, payment)] }).when(open(payment));
    if (disputeStatus === "won" || disputeStatus === "withdrawn") expect(outcome.answer.status).toBe("needs_response");
    else outcome.refuses("PAYMENT_NOT_REFUNDABLE");
  });

  test("and a payment that cannot be contested is told so, not that it cannot be refunded", () => {
    expect(() => contestedMinor({ ...paid, disputeStatus: "lost" }, {})).toThrow(/can be contested/);
  });

  test.each([
    ["all that is left, when nothing is said", undefined, 500_000n],
    ["a part", 1, 1n],
    ["all of it", 500_000, 500_000n],
    ["one more than is left", 500_001, undefined],
    ["nothing", 0, undefined],
  ])("over %s, where 400,000 are refunded and 100,000 pending", (_what, asked, held) => {
    const payment = aPayment({ status: "partially_refunded", refundPendingMinor: 100_000n });
    const outcome = given({ rows: [row(payments, payment)] }).when(open(payment, asked));
    if (held === undefined) outcome.refuses("INVALID_AMOUNT");
    else expect(outcome.answer.amountMinor).toBe(held);
  });

  test.each([undefined, 1])("over a payment of which all is about to be refunded: %s", (asked) => {
    const payment = aPayment({ status: "partially_refunded", refundPendingMinor: 600_000n });
    given({ rows: [row(payments, payment)] })
      .when(open(payment, asked))
      .refuses("PAYMENT_NOT_REFUNDABLE");
  });

  test("over a payment that is nobody's, or of the other environment", () => {
    const elsewhere = aPayment({ status: "succeeded", book: otherBook(owner.book) });
    given().when(open(elsewhere)).refuses("PAYMENT_NOT_FOUND");
    given({ rows: [row(payments, elsewhere)] })
      .when(open(elsewhere))
      .refuses("ENVIRONMENT_MISMATCH");
  });
});

describe("deciding", () => {
  const released = { "merchant:available IDR": -1_000_000n, "merchant:held IDR": 1_000_000n };
  const taken = { "merchant:held IDR": 1_000_000n, "acquirer:nusantara:receivable IDR": -1_000_000n };
  for (const status of disputeStatuses) {
    test.each(outcomes)(`one that is ${status} as %s`, (outcome) => {
      const { dispute, start } = contested(status);
      const resolved = start.when(resolveDispute(owner, keyOf(dispute), outcome));
      if (!isRunning(status)) {
        resolved.refuses("DISPUTE_RESOLVED", { status });
        return;
      }
      resolved.then((changes, answer) => {
        expect(answer).toMatchObject({ status: outcome, resolvedAt: NOW });
        expect(changes.journals).toEqual([
          { kind: `dispute_${outcome}`, entries: outcome === "lost" ? taken : released },
        ]);
        const lostMinor = outcome === "lost" ? dispute.amountMinor : 0n;
        expect(changes.updated(payments)).toMatchObject([{ status: "succeeded", disputeStatus: outcome, lostMinor }]);
        expect(changes.updated(disputes)).toMatchObject([{ status: outcome, resolvedAt: NOW }]);
        expect(changes.events).toEqual(["dispute.resolved"]);
      });
    });
  }

  test("one that was answered since it was read is not what was read", () => {
    const { dispute, start } = contested("under_review");
    const decided = (seen: "needs_response" | "under_review") =>
      start.when(resolveDispute(owner, keyOf(dispute), "lost", seen));
    decided("needs_response").refuses("DISPUTE_RESOLVED", { status: "under_review" });
    decided("under_review").then((changes) => expect(changes.updated(disputes)).toMatchObject([{ status: "lost" }]));
  });

  test("one that is not there, or is of the other environment", () => {
    const { dispute } = contested("needs_response");
    given()
      .when(resolveDispute(owner, { uuid: dispute.uuid, paymentReference: undefined }, "won"))
      .refuses("OBJECT_NOT_FOUND");
    given()
      .when(resolveDispute(owner, keyOf(dispute), "won"))
      .refuses("ENVIRONMENT_MISMATCH");
  });
});

describe("evidence", () => {
  const given1 = { statement: "It was delivered.", files: [] };

  test("is taken once, and moves the dispute to review; no money moves", () => {
    const { dispute, start } = contested("needs_response");
    const submitted = start.when(submitEvidence(owner, keyOf(dispute), given1)).then((changes, answer) => {
      expect(answer.status).toBe("under_review");
      expect(changes.inserted(evidence)).toMatchObject([{ uuid: dispute.uuid, submittedAt: NOW, ...given1 }]);
      expect(changes.updated(payments)).toMatchObject([{ disputeStatus: "under_review" }]);
      expect(changes.journals).toEqual([]);
      expect(changes.events).toEqual(["dispute.updated"]);
    });
    submitted
      .when(submitEvidence(owner, keyOf(dispute), given1))
      .refuses("DISPUTE_RESOLVED", { status: "under_review" }, true);
  });

  test.each([
    ["a moment before it is due", 1, 0, true],
    ["when it is due", 0, 0, false],
    ["after it was due by the book's clock", 99 * SECOND, 100, false],
  ])("%s", (_when, left, offsetSeconds, inTime) => {
    const payment = { ...paid, disputeStatus: "needs_response" as const };
    const dispute = aDispute(payment, { evidenceDueAt: NOW + left });
    const rows = [row(payments, payment), row(disputes, dispute)];
    const submitted = given({ rows, offsetSeconds }).when(submitEvidence(owner, keyOf(dispute), given1));
    if (inTime) expect(submitted.answer.status).toBe("under_review");
    else submitted.refuses("DISPUTE_RESOLVED");
    // The worker loses exactly those whose evidence is not taken any more.
    expect(given({ rows, offsetSeconds }).when(expireDispute(owner, keyOf(dispute))).answer).toBe(!inTime);
  });

  test.each(disputeStatuses)("no evidence in time loses one that is %s", (status) => {
    const { dispute, start } = contested(status, { evidenceDueAt: NOW - SECOND });
    const lost = start.when(expireDispute(owner, keyOf(dispute)));
    expect(lost.answer).toBe(status === "needs_response");
    expect(lost.changes.isNothing).toBe(status !== "needs_response");
    expect(lost.changes.journals.map(({ kind }) => kind)).toEqual(status === "needs_response" ? ["dispute_lost"] : []);
  });

  const due = NOW + 7 * DAY;
  test.each([
    ["a moment later", due, due + 1, true],
    ["a year ahead", due, NOW + 366 * DAY, true],
    ["where it is", due, due, false],
    ["earlier", due, due - 1, false],
    ["a moment ahead, which would lose the dispute", due, NOW + 1, false],
    ["the past", due, NOW - DAY, false],
    ["now, when it has passed", NOW - DAY, NOW, false],
    ["a moment ahead, when it has passed", NOW - DAY, NOW + 1, true],
    ["more than a year ahead", due, NOW + 366 * DAY + 1, false],
  ])("the deadline is moved to %s", (_when, evidenceDueAt, dueAt, good) => {
    const { dispute, start } = contested("needs_response", { evidenceDueAt });
    const moved = start.when(moveEvidenceDue(owner, keyOf(dispute), dueAt));
    if (!good) moved.refuses("VALIDATION_ERROR");
    else {
      expect(moved.answer.evidenceDueAt).toBe(dueAt);
      expect(moved.changes.updated(disputes)).toEqual([{ ...dispute, evidenceDueAt: dueAt }]);
      expect(moved.changes.events).toEqual(["dispute.updated"]);
    }
  });

  test.each(disputeStatuses.filter((status) => status !== "needs_response"))(
    "the deadline of one that is %s stays",
    (status) => {
      const { dispute, start } = contested(status);
      start.when(moveEvidenceDue(owner, keyOf(dispute), NOW + DAY)).refuses("DISPUTE_RESOLVED", { status });
    },
  );
});

test("any disputes over one payment, one after another: what is held is what runs, and only a loss takes money", () => {
  const step = fc.record({
    amount: fc.integer({ min: 1, max: 1_200_000 }),
    reviewed: fc.boolean(),
    outcome: fc.constantFrom(...outcomes, undefined),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 8 }), (steps) => {
      let last: Then<unknown> = given({ rows: [row(payments, paid)], balances: owning({ available: 993_000n }) }).when(
        nothing,
      );
      let [held, lost] = [0n, 0n];
      for (const { amount, reviewed, outcome } of steps) {
        const opened = last.when(open(paid, amount));
        last = opened;
        if ("fault" in opened.outcome) {
          expect(amount > 1_000_000 || held > 0n || lost > 0n).toBe(true);
          continue;
        }
        held += BigInt(amount);
        const key = keyOf(opened.answer);
        if (reviewed) last = last.when(submitEvidence(owner, key, { statement: "x", files: [] }));
        if (outcome === undefined) continue;
        last = last.when(resolveDispute(owner, key, outcome));
        held -= BigInt(amount);
        if (outcome === "lost") lost += BigInt(amount);
      }
      const sum = (account: string): bigint =>
        last.changes.journals.reduce((total, { entries }) => total + (entries[`${account} IDR`] ?? 0n), 0n);
      expect([-sum("merchant:held"), -sum("acquirer:nusantara:receivable")]).toEqual([held, lost]);
      expect(sum("merchant:available")).toBe(held + lost);
    }),
    { numRuns: 200 },
  );
});

test.each([
  ["needs_response", null],
  ["under_review", null],
  ["won", "won"],
  ["lost", "lost"],
  ["withdrawn", "withdrawn"],
] as const)("one that is %s is told with the outcome %s, and with its batch", (status, outcome) => {
  const told = (settlement?: string) =>
    disputeView({ ...aDispute(paid, { status, settlement }), referenceId: "order-1" });
  expect(told()).toMatchObject({ status, outcome, reference_id: "order-1", settlement_uuid: null });
  expect(told("set_1")).toMatchObject({ settlement_uuid: "set_1" });
});

test("the documented answers of opening and deciding a dispute are about what their requests say", () => {
  const { reason, amount_minor } = exampleOf(openDisputeSchema);
  expect(exampleOf(disputeSchema)).toMatchObject({ reason, amount_minor, status: "needs_response", outcome: null });
  const { outcome } = exampleOf(resolveDisputeSchema);
  const { value } = resolvedExamples.won;
  expect(disputeSchema.parse(value)).toMatchObject({ status: outcome, outcome });
  expect((value.resolved_at ?? "") > value.opened_at && value.resolved_at < value.evidence_due_at).toBe(true);
});
