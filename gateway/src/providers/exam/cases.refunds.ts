// The exam's cases about refunds: a refund is made once, definitely refused, or unknown until an inquiry.
import type { RefundRequest } from "../../acquirers/acquirer.ts";
import { type Bench, type ExamCase, NotApplicable, check, whyOf, examCase } from "./bench.ts";
import type { FaultName } from "./control.ts";

/** The refund's status by an inquiry; `absent` when the provider has no such refund. */
async function statusOf(bench: Bench, request: RefundRequest): Promise<string> {
  const asked = await bench.inquireRefund(request);
  check(asked.kind === "answered", `asking was ${whyOf(asked)}`);
  return asked.answer.known ? asked.answer.status : "absent";
}

const lost = (fault: FaultName, name: string): ExamCase =>
  examCase(name, async (bench) => {
    const request = bench.refundOf(await bench.refundable());
    bench.control.fault(fault);
    const ended = await bench.refund(request);
    check(ended.kind === "unknown", `the outcome was told as ${whyOf(ended)}`);
    const status = await statusOf(bench, request);
    check(status === "pending" || status === "succeeded", `asking says ${status}`);
    const times = bench.control.refunded(request.operationKey);
    check(times === 1, `it was refunded ${times} times`);
  });

export const refundCases: readonly ExamCase[] = [
  examCase("one key refunds once, however often it is used, and its end is told", async (bench) => {
    const request = bench.refundOf(await bench.refundable());
    const first = await bench.refund(request);
    check(first.kind === "answered" && first.answer.status !== "failed", `it was ${whyOf(first)}`);
    const again = await bench.refund(request);
    check(again.kind !== "refused", "the second use was told as a definite no, while the refund is there");
    check(bench.control.refunded(request.operationKey) === 1, "it was refunded twice");
    if (first.answer.status === "pending") await bench.control.decideRefund(request.operationKey, "succeeded");
    const status = await statusOf(bench, request);
    check(status === "succeeded", `it stands as ${status}`);
  }),
  examCase("all of a payment can be given back", async (bench) => {
    const payment = await bench.refundable();
    const request = bench.refundOf(payment, payment.amountMinor);
    const ended = await bench.refund(request);
    check(ended.kind === "answered" && ended.answer.status !== "failed", `it was ${whyOf(ended)}`);
    check(bench.control.refunded(request.operationKey) === 1, "it was not refunded once");
  }),
  lost("silent after effect", "a refund whose answer never comes is unknown, and asking finds it"),
  lost("500 after effect", "a refund with an error after the work is unknown, and asking finds it"),
  examCase("a refund that never arrived is never told as done, and is done at most once", async (bench) => {
    const request = bench.refundOf(await bench.refundable());
    bench.control.fault("silent before effect");
    const ended = await bench.refund(request);
    check(ended.kind === "unknown", `the outcome was told as ${whyOf(ended)}`);
    const asked = await bench.inquireRefund(request);
    const found = asked.kind === "answered" && asked.answer.known;
    const times = bench.control.refunded(request.operationKey);
    check(times === (found ? 1 : 0), `it is ${found ? "" : "not "}known, and was refunded ${times} times`);
  }),
  examCase("asking about a refund that is over here orders nothing, and finds one that is there", async (bench) => {
    const payment = await bench.refundable();
    const [never, made] = [bench.refundOf(payment), bench.refundOf(payment)];
    const asked = await bench.inquireRefund({ ...never, isOver: true });
    check(asked.kind !== "answered" || !asked.answer.known, `it was told as ${whyOf(asked)}`);
    check(bench.control.refunded(never.operationKey) === 0, "it was refunded");
    await bench.refund(made);
    const found = await bench.inquireRefund({ ...made, isOver: true });
    check(found.kind !== "answered" || found.answer.known, "one that is there was not found");
    check(bench.control.refunded(made.operationKey) === 1, "one that is there was not refunded once");
  }),
  examCase("more than was paid is not given back", async (bench) => {
    const payment = await bench.refundable();
    const request = bench.refundOf(payment, payment.amountMinor + 100n);
    const ended = await bench.refund(request);
    const failed = ended.kind === "answered" && ended.answer.status === "failed";
    check(ended.kind === "refused" || failed, `it was told as ${whyOf(ended)}`);
    check(bench.control.refunded(request.operationKey) === 0, "and yet it was refunded");
  }),
  examCase("two refunds that are more than the payment together are not both given back", async (bench) => {
    const payment = await bench.refundable();
    const large = payment.amountMinor - bench.refundOf(payment).amountMinor + 100n;
    const first = bench.refundOf(payment, large - (large % 100n));
    const second = bench.refundOf(payment, large - (large % 100n));
    await bench.refund(first);
    await bench.refund(second);
    const { control } = bench;
    const both = control.refunded(first.operationKey) + control.refunded(second.operationKey);
    check(both <= 1, "both were given back");
  }),
  examCase("what was not paid is not given back", async (bench) => {
    const { method } = await bench.refundable();
    const payment = await bench.taken({ method });
    const request = bench.refundOf(payment);
    const ended = await bench.refund(request);
    const failed = ended.kind === "answered" && ended.answer.status === "failed";
    check(ended.kind !== "answered" || failed, "it was told as done");
    check(bench.control.refunded(request.operationKey) === 0, "it was refunded");
  }),
  examCase("a refund that is refused is told as a definite no, and leaves nothing", async (bench) => {
    const request = bench.refundOf(await bench.refundable());
    bench.control.fault("refuse");
    const ended = await bench.refund(request);
    const failed = ended.kind === "answered" && ended.answer.status === "failed";
    check(ended.kind === "refused" || failed, `it was told as ${whyOf(ended)}`);
    check(bench.control.refunded(request.operationKey) === 0, "and yet it was refunded");
  }),
  examCase("a refund that fails later is told as failed", async (bench) => {
    const request = bench.refundOf(await bench.refundable());
    const first = await bench.refund(request);
    check(first.kind === "answered", `it was ${whyOf(first)}`);
    if (first.answer.status !== "pending") return;
    await bench.control.decideRefund(request.operationKey, "failed");
    if (bench.control.tellsLateFailures === false) {
      const asked = await bench.inquireRefund(request);
      const isPending = asked.kind === "answered" && asked.answer.known && asked.answer.status === "pending";
      check(isPending || asked.kind === "unknown", "its end is told, which the provider has not said");
      throw new NotApplicable("the provider never says so once it has taken a refund on: it stays open, which is held");
    }
    const status = await statusOf(bench, request);
    check(status === "failed", `it stands as ${status}`);
  }),
];
