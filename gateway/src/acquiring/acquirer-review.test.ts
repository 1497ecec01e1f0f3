// Goal: what an acquirer's fraud detection questions waits for a person, is told as that person says, and is decided by the acquirer's own
// word. Method: the pure commands in each state, and a worker's round over each state and each judgement.
import { expect, test } from "vitest";
import { anOperation, callParts, movableClock, openingParts } from "../../test/acquiring.ts";
import { NOW, given, merchantWith, ownerWith, row } from "../../test/given.ts";
import { aPayment } from "../../test/payments.ts";
import { type Behaviour, scriptedAcquirer } from "../../test/scripted-acquirer.ts";
import type { ReportedState } from "../acquirers/acquirer.ts";
import { SECOND } from "../ground/clock.ts";
import { payments } from "../payments/payments.sql.ts";
import { paymentStatuses } from "../payments/states.ts";
import { type OpenResult, concludeOpening } from "./opening.ts";
import { type Operation, operationKey } from "./operation.ts";
import { operations } from "./operations.sql.ts";
import { callOrInquire } from "./payment-operations.ts";
import { judgeAcquirerReview } from "./acquirer-review.ts";

const merchant = merchantWith();
const owner = ownerWith();
const instructions = { type: "redirect", value: "https://a.test", expires_at: "2027-01-15T08:30:00Z" } as const;
const asks: ReportedState = { status: "processing", isUnderReview: true };
const paid: ReportedState = {
  status: "paid",
  receipt: { transactionId: "t-1", amountMinor: 1_000_000n, currency: "IDR" },
};
const kawah = scriptedAcquirer("kawah");

/** A payment that is being paid at `kawah`, as its operation is. */
function paying(review: Operation["review"]) {
  const payment = aPayment({ gatewayCode: "kawah", status: "processing" });
  const operation = anOperation(payment.reference, { step: "polling", dueAt: NOW + 60 * SECOND, review });
  return { payment, operation, start: given({ rows: [row(payments, payment), row(operations, operation)] }) };
}

test.each<[Operation["review"], ReportedState, Operation["review"]]>([
  [undefined, asks, "asked"],
  ["asked", asks, "asked"],
  ["approve", asks, "approve"],
  ["refuse", asks, "refuse"],
  [undefined, { status: "processing" }, undefined],
  ["asked", { status: "processing" }, undefined],
  ["asked", { status: "failed" }, undefined],
  ["asked", paid, undefined],
  ["approve", paid, "approve"],
])("a question that stands as %s, of a payment that is %o there, is %s then", (before, state, after) => {
  const { operation, start } = paying(before);
  const result: OpenResult = { kind: "known", instructions, state };
  const { changes } = start.when(concludeOpening(openingParts(kawah), merchant, operation, result));
  expect(changes.updated(operations)).toMatchObject([{ review: after }]);
});

test("an acquirer that cannot be told asks nobody", () => {
  const { operation, start } = paying(undefined);
  const calls = { ...(kawah.calls ?? expect.unreachable()) };
  delete calls.judge;
  const result: OpenResult = { kind: "known", instructions, state: asks };
  const command = concludeOpening(openingParts({ ...kawah, calls }), merchant, operation, result);
  expect(start.when(command).changes.updated(operations)).toMatchObject([{ review: undefined }]);
});

test.each(["approve", "refuse"] as const)("%s is kept, and a worker tells it at once", (judgement) => {
  const { payment, operation, start } = paying("asked");
  start.when(judgeAcquirerReview(owner, payment.reference, judgement)).then((changes, answer) => {
    expect(answer).toEqual(payment);
    const told = { ...operation, step: "inquiring", inquiries: 0, dueAt: NOW, review: judgement };
    expect(changes.updated(operations)).toEqual([told]);
    expect(changes.updated(payments)).toEqual([]);
    expect(changes.events).toEqual([]);
  });
});

test.each([undefined, "approve", "refuse"] as const)("where the question stands as %s nobody judges", (review) => {
  const { payment, start } = paying(review);
  start.when(judgeAcquirerReview(owner, payment.reference, "approve")).refuses("PAYMENT_NOT_PAYABLE");
});

test.each(paymentStatuses.filter((status) => status !== "processing"))("nor where the payment is %s", (status) => {
  const payment = aPayment({ gatewayCode: "kawah", status });
  const operation = anOperation(payment.reference, { step: "polling", review: "asked" });
  given({ rows: [row(payments, payment), row(operations, operation)] })
    .when(judgeAcquirerReview(owner, payment.reference, "refuse"))
    .refuses("PAYMENT_NOT_PAYABLE");
});

/** What a worker finds of a payment that `kawah` has, and what it tells there. */
async function round(review: Operation["review"], state: ReportedState, behaviour: Behaviour = "ok") {
  const acquirer = scriptedAcquirer("kawah");
  const all = { ...openingParts(acquirer), ...callParts(movableClock()) };
  const { payment, operation } = paying(review);
  await callOrInquire(all, merchant, payment, { ...operation, step: "calling" });
  acquirer.states.set(operationKey(operation), state);
  acquirer.endings = [behaviour];
  const run = (): Promise<OpenResult> => callOrInquire(all, merchant, payment, { ...operation, step: "inquiring" });
  return { result: await run(), run, told: acquirer.judged.map(([, judgement]) => judgement) };
}

test.each<[Operation["review"], ReportedState]>([
  [undefined, asks],
  ["asked", asks],
  ["approve", { status: "processing" }],
  ["approve", paid],
  ["refuse", { status: "failed" }],
])("of a question that stands as %s and is answered by %o nothing is told", async (review, state) => {
  const { told, result } = await round(review, state);
  expect(told).toEqual([]);
  expect(result).toMatchObject({ kind: "known", state });
});

test("a refusal is told, and the payment has failed", async () => {
  const { told, result } = await round("refuse", asks);
  expect(told).toEqual(["refuse"]);
  expect(result).toMatchObject({ kind: "known", state: { status: "failed" } });
});

test("an approval is told, and the next inquiry says what came of it", async () => {
  const { told, result, run } = await round("approve", asks);
  expect(told).toEqual(["approve"]);
  expect(result.kind).toBe("unknown");
  expect(await run()).toMatchObject({ kind: "known", state: { status: "paid" } });
});

test.each<[Behaviour, string]>([
  ["lost", "unknown"],
  ["down", "unknown"],
  ["refuse", "known"],
])("a refusal whose telling is %s has decided nothing", async (behaviour, kind) => {
  const { result } = await round("refuse", asks, behaviour);
  expect(result.kind).toBe(kind);
  if (result.kind === "known") expect(result.state).toEqual(asks);
});
