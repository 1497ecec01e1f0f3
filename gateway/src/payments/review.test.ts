// Goal: a person's judgement of a payment has one effect, in time. Method: the pure commands over every status and around the review's end.
import { describe, expect, test } from "vitest";
import { creating } from "../../test/creations.ts";
import { NOW, type Then, given, ownerWith, row } from "../../test/given.ts";
import { taking } from "../../test/outcomes.ts";
import { aPayment } from "../../test/payments.ts";
import { aRouter } from "../../test/routing.ts";
import { scriptedAcquirer } from "../../test/scripted-acquirer.ts";
import { operations } from "../acquiring/operations.sql.ts";
import { SECOND, wireTime } from "../ground/clock.ts";
import { otherBook } from "../merchants/books.ts";
import type { Command } from "../store/command.ts";
import type { Payment } from "./payment.ts";
import { type PaymentParts, cancelPayment } from "./payments.ts";
import { createPaymentSchema, paymentStatusSchema } from "./payments.schema.ts";
import { payments, reviewedOrRouted } from "./payments.sql.ts";
import { approvePayment, isUnderReview, refusePayment } from "./review.ts";
import { paymentStatuses } from "./states.ts";

const owner = ownerWith();
const DAY = 86_400;

/** A payment under review, as creation leaves it; an hour ago. */
const reviewed = (changes: Partial<Payment> = {}): Payment =>
  aPayment({
    gatewayCode: undefined,
    instructions: undefined,
    risk: { decision: "review", score: 70, reasons: [{ sign: "large_amount", points: 70 }] },
    expiresAt: NOW + (DAY - 3_600) * SECOND,
    expiresIn: 600,
    ...changes,
  });
const approving = (reference: string, router: PaymentParts = aRouter()): Command<Payment> =>
  approvePayment(router, owner, reference);
const refusing = (reference: string): Command<Payment> => refusePayment(owner, reference);
const onto = (payment: Payment, command: Command<Payment>, offsetSeconds = 0): Then<Payment> =>
  given({ rows: [row(payments, payment)], offsetSeconds }).when(command);

const judgements = [
  ["an approval", approving],
  ["a refusal", refusing],
] as const;

test("approved, it goes on as if just created: instructions, the time that was asked for, its event", () => {
  const payment = reviewed();
  onto(payment, approving(payment.reference), 3_600).then((changes, approved) => {
    const now = NOW + 3_600 * SECOND;
    expect(approved).toMatchObject({
      status: "pending",
      gatewayCode: "nusantara",
      risk: { decision: "approve", score: 70, reasons: payment.risk.reasons },
      routing: { rules_version: 7 },
      expiresAt: now + 600 * SECOND,
      updatedAt: now,
      createdAt: payment.createdAt,
    });
    expect(approved.instructions).toMatchObject({ type: "qr_string", expires_at: wireTime(approved.expiresAt) });
    expect(changes.updated(payments)).toEqual([]);
    expect(changes.seen(payments, approved)).toEqual(approved);
    expect(changes.inserted(reviewedOrRouted)).toEqual([approved]);
    expect([changes.events, changes.journals]).toEqual([["payment.created"], []]);
    expect(changes.inserted(operations)).toEqual([]);
  });
});

test.each([
  [undefined, 1800],
  [60, 60],
  [86_400, 86_400],
])("expires_in %s counts from the approval: %i seconds", (expiresIn, seconds) => {
  const payment = reviewed({ expiresIn });
  expect(onto(payment, approving(payment.reference)).answer.expiresAt).toBe(NOW + seconds * SECOND);
});

test("the contract says what the times of a payment under review are", () => {
  const { expires_in: seconds } = createPaymentSchema.shape;
  expect(seconds.meta()?.description).toContain("after a review from the approval on");
  expect(paymentStatusSchema.shape.expires_at.meta()?.description).toContain("under review, when that ends");
});

test("refused, it fails: the merchant is notified, and the verdict is kept", () => {
  const payment = reviewed();
  onto(payment, refusing(payment.reference)).then((changes, refused) => {
    const risk = { ...payment.risk, decision: "reject" };
    expect(refused).toEqual({ ...payment, risk, status: "failed", updatedAt: NOW });
    expect(changes.updated(payments)).toEqual([refused]);
    expect(changes.inserted(reviewedOrRouted)).toMatchObject([{ risk }]);
    expect([changes.events, changes.journals]).toEqual([["payment.failed"], []]);
  });
});

describe.each(judgements)("%s", (_name, judging) => {
  test.each(paymentStatuses.filter((status) => status !== "pending"))("of a %s payment is refused", (status) => {
    const payment = reviewed({ status });
    onto(payment, judging(payment.reference)).refuses("PAYMENT_NOT_PAYABLE", { status });
  });

  test.each(["approve", "reject"] as const)("of one that is judged already is refused (%s)", (decision) => {
    const payment = reviewed({ risk: { decision, score: 0, reasons: [] } });
    onto(payment, judging(payment.reference)).refuses("PAYMENT_NOT_PAYABLE", { status: "pending" });
  });

  test.each([
    ["a moment before its end", 1, true],
    ["at its end", 0, false],
    ["after it", -1, false],
  ])("has a day of the book's clock: %s", (_when, left, inTime) => {
    const payment = reviewed({ expiresAt: NOW + 100 * SECOND + left });
    const judged = onto(payment, judging(payment.reference), 100);
    if (inTime) expect(judged.answer.reference).toBe(payment.reference);
    else judged.refuses("PAYMENT_NOT_PAYABLE");
  });

  test("of another environment's is a mismatch, of nobody's is not found", () => {
    const elsewhere = reviewed({ book: otherBook(owner.book) });
    onto(elsewhere, judging(elsewhere.reference)).refuses("ENVIRONMENT_MISMATCH");
    given().when(judging(elsewhere.reference)).refuses("PAYMENT_NOT_FOUND");
    given().when(judging("pay_nonsense")).refuses("PAYMENT_NOT_FOUND");
  });

  test.each(judgements)("leaves nothing to %s after it in one batch", (_next, next) => {
    const payment = reviewed();
    const first = onto(payment, judging(payment.reference));
    const before = [first.changes.updated(payments), first.changes.events];
    first.when(next(payment.reference)).refuses("PAYMENT_NOT_PAYABLE", undefined, true);
    expect([first.changes.updated(payments), first.changes.events]).toEqual(before);
  });
});

test("one that nobody can take now stays under review", () => {
  const payment = reviewed();
  const nobody = aRouter({ acquirers: [] });
  const stayed = onto(payment, approving(payment.reference, nobody)).refuses("NO_ROUTE_AVAILABLE");
  expect(stayed.when(approving(payment.reference)).answer.gatewayCode).toBe("nusantara");
});

test("an acquirer that must be asked is asked by a worker, and the event waits for its answer", () => {
  const payment = reviewed();
  const router = aRouter({
    acquirers: [scriptedAcquirer("remote")],
    rules: [{ gateway_code: "remote", priority: 1, weight: 1 }],
  });
  onto(payment, approving(payment.reference, router)).then((changes, approved) => {
    expect(approved).toMatchObject({ status: "pending", gatewayCode: undefined, instructions: undefined });
    expect(approved.risk.decision).toBe("approve");
    expect(changes.events).toEqual([]);
    expect(changes.inserted(operations)).toMatchObject([
      { id: payment.reference, step: "planned", gatewayCode: "remote", idempotencyKey: undefined, dueAt: NOW },
    ]);
  });
});

test("until it is judged it can be canceled and not paid; after an approval it can be paid", () => {
  const payment = reviewed();
  const paying = taking(owner, payment.reference, "succeeded");
  const waiting = onto(payment, paying).refuses("PAYMENT_NOT_PAYABLE", { status: "pending" });
  expect(waiting.when(cancelPayment(aRouter(), owner, payment.reference, undefined)).answer.status).toBe("canceled");
  const approved = onto(payment, approving(payment.reference));
  expect(approved.when(paying, NOW + 599 * SECOND).answer.status).toBe("succeeded");
  const late = onto(payment, approving(payment.reference));
  late.when(paying, NOW + 600 * SECOND).refuses("PAYMENT_EXPIRED", undefined, true);
  expect(late.changes.events).toEqual(["payment.created", "payment.expired"]);
});

test("what creation sends to review is under review for a day, and nothing else is", () => {
  const created = given().when(creating({ customer: { email: "x@review.test" }, expires_in: 60 }));
  const [kept] = created.changes.inserted(payments);
  expect(kept && isUnderReview(kept)).toBe(true);
  const reference = kept?.reference ?? "";
  created.when(refusing(reference), NOW + DAY * SECOND).refuses("PAYMENT_NOT_PAYABLE", undefined, true);
  expect(created.when(refusing(reference), NOW + DAY * SECOND - 1).answer.status).toBe("failed");
  expect(isUnderReview(aPayment())).toBe(false);
  expect(isUnderReview(reviewed({ status: "canceled" }))).toBe(false);
});
