// The exam's cases about ending payments before their time: a payment ends once, and a paid payment never ends.
import type { OpenRequest } from "../../acquirers/acquirer.ts";
import { type Bench, type ExamCase, NotApplicable, check, whyOf, examCase } from "./bench.ts";
import { receiptOf } from "./cases.paying.ts";

/** Checks that nobody can pay any more: an inquiry finds the payment failed or absent, and the provider takes no money. */
async function isEnded(bench: Bench, request: OpenRequest): Promise<void> {
  const asked = await bench.inquire({ ...request, isOver: true });
  check(asked.kind === "answered", `it cannot be asked about any more: ${whyOf(asked)}`);
  const status = asked.answer.known ? asked.answer.state.status : "failed";
  check(status === "failed", `it stands as ${status}`);
  const isPaid = await bench.control.pay(request.operationKey).then(
    () => true,
    () => false,
  );
  check(!isPaid, "its payer could pay");
}

/** Opens a payment by each method that the provider can end. Throws `NotApplicable` when there is no such method. */
async function endable(bench: Bench): Promise<OpenRequest[]> {
  const found: OpenRequest[] = [];
  for (const { method, currencies } of bench.acquirer.capabilities) {
    const tried = await bench.taken({ method, currency: currencies[0] ?? "" });
    const ended = await bench.cancel(tried);
    check(ended.kind !== "unknown", `it is not known whether a payment by ${method} has ended: ${whyOf(ended)}`);
    if (ended.kind === "refused") continue;
    found.push(await bench.taken({ method, currency: currencies[0] ?? "" }));
  }
  if (found.length === 0) throw new NotApplicable("it ends no payment before its time");
  return found;
}

export const cancellingCases: readonly ExamCase[] = [
  examCase("what is ended before its time cannot be paid any more, and may be ended twice", async (bench) => {
    for (const request of await endable(bench)) {
      for (const time of ["first", "second"]) {
        const ended = await bench.cancel(request);
        check(ended.kind === "answered", `the ${time} time: ${whyOf(ended)}`);
      }
      await isEnded(bench, request);
    }
  }),
  examCase("an end whose answer is lost is not told as one, and is found", async (bench) => {
    for (const request of await endable(bench)) {
      bench.control.fault("silent after effect");
      const lost = await bench.cancel(request);
      check(lost.kind === "unknown", `it was told as ${whyOf(lost)}`);
      await isEnded(bench, request);
    }
  }),
  examCase("what was paid meanwhile is not told as ended", async (bench) => {
    for (const request of await endable(bench)) {
      await bench.control.pay(request.operationKey);
      const ended = await bench.cancel(request);
      check(ended.kind !== "answered", "it was told as ended");
      await receiptOf(bench, request);
    }
  }),
];
