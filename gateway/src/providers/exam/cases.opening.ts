// The exam's cases about opening a payment: it is opened once, definitely refused, or unknown until an inquiry.
import type { OpenRequest } from "../../acquirers/acquirer.ts";
import { type Bench, type ExamCase, NotApplicable, check, stateOf, whyOf, examCase, gentleCase } from "./bench.ts";
import type { FaultName } from "./control.ts";

const types = {
  qris: "qr_string",
  va: "va_number",
  card: "redirect",
  ewallet: "redirect",
  bank_transfer: "bank_account",
} as const;

/** Checks that after an unknown outcome an inquiry finds the payment, opened exactly once. */
async function isFound(bench: Bench, request: OpenRequest): Promise<void> {
  const asked = await bench.inquire(request);
  check(asked.kind === "answered" && asked.answer.known, `asking did not find it: ${whyOf(asked)}`);
  check(asked.answer.state.status === "waiting", `it stands as ${asked.answer.state.status}`);
  check(asked.answer.instructions.value !== "", "it has no instructions");
  const times = bench.control.opened(request.operationKey);
  check(times === 1, `it was opened ${times} times`);
}

/** Opens a payment while the provider has this fault. */
async function meeting(bench: Bench, fault: FaultName): Promise<{ request: OpenRequest; kind: string; why: string }> {
  const request = bench.payment();
  bench.control.fault(fault);
  const ended = await bench.open(request);
  return { request, kind: ended.kind, why: whyOf(ended) };
}

/** The response is lost: the outcome is unknown, and an inquiry finds the payment. */
const lost = (fault: FaultName, name: string): ExamCase =>
  examCase(name, async (bench) => {
    const { request, kind, why } = await meeting(bench, fault);
    check(kind === "unknown", `the outcome was told as ${why}`);
    await isFound(bench, request);
  });

/** The response contradicts the request and must not be believed. */
const misread = (fault: FaultName, name: string): ExamCase =>
  examCase(name, async (bench) => {
    const { request, kind, why } = await meeting(bench, fault);
    check(kind !== "answered", "it was taken for an answer");
    check(kind === "unknown", `the outcome was told as ${why}, while the payment is there`);
    const times = bench.control.opened(request.operationKey);
    check(times <= 1, `it was opened ${times} times`);
  });

/** The provider does nothing, and nothing is told as done. */
const undone = (fault: FaultName, name: string): ExamCase =>
  examCase(name, async (bench) => {
    const { request, kind } = await meeting(bench, fault);
    check(kind !== "answered", "it was told as done");
    check(bench.control.opened(request.operationKey) === 0, "it was opened");
  });

export const openingCases: readonly ExamCase[] = [
  gentleCase("every method that it takes gives the payer what the method needs", async (bench) => {
    for (const { method, currencies } of bench.acquirer.capabilities) {
      const request = bench.payment({ method, currency: currencies[0] ?? "" });
      const { instructions } = await bench.take(request);
      check(instructions.type === types[method], `${method} was answered with ${instructions.type}`);
      check(instructions.value !== "" && instructions.expires_at !== "", `${method} has no value or no expiry`);
      // A provider's own sandbox may answer with a placeholder, as integrations record of Xendit's test mode.
      if (method === "qris" && bench.isFake) check(instructions.value.startsWith("000201"), "the QR code is no QRIS");
      if (instructions.type === "redirect")
        check(/^https:|^http:\/\/(localhost|127\.)/.test(instructions.value), `${method} leads to no https address`);
    }
  }),
  examCase("the smallest and the largest amount are taken as they are", async (bench) => {
    for (const { method, currencies, minimumMinor, maximumMinor, stepMinor = 1n } of bench.acquirer.capabilities) {
      const least =
        minimumMinor % stepMinor === 0n ? minimumMinor : minimumMinor + stepMinor - (minimumMinor % stepMinor);
      for (const amountMinor of [least, maximumMinor - (maximumMinor % stepMinor)]) {
        const request = await bench.paid({ method, currency: currencies[0] ?? "", amountMinor });
        const asked = await bench.inquire(request);
        const state = stateOf(asked);
        check(state?.status === "paid", `${amountMinor} by ${method} is not paid: ${whyOf(asked)}`);
        const { amountMinor: came } = state.receipt;
        check(came === amountMinor, `${amountMinor} by ${method} came as ${came}`);
      }
    }
  }),
  gentleCase("one key opens one payment, however often it is used", async (bench) => {
    const request = bench.payment();
    const first = await bench.take(request);
    const again = await bench.open(request);
    if (again.kind === "answered")
      check(again.answer.instructions.value === first.instructions.value, "the second answer is another one");
    check(again.kind !== "refused", "the second use was told as a definite no, while the payment is there");
    if (bench.isFake) check(bench.control.opened(request.operationKey) === 1, "it was opened twice");
  }),
  examCase("ten uses of one key at once open one payment", async (bench) => {
    const request = bench.payment();
    const all = await Promise.all(Array.from({ length: 10 }, () => bench.open(request)));
    check(!all.some(({ kind }) => kind === "refused"), "one of them was told as a definite no");
    await isFound(bench, request);
  }),
  examCase("a definite no is told as one, and leaves nothing", async (bench) => {
    const { request, kind, why } = await meeting(bench, "refuse");
    check(kind === "refused", `it was told as ${why}`);
    check(bench.control.opened(request.operationKey) === 0, "and yet it was opened");
  }),
  undone("unavailable", "a provider that is down opens nothing, and nothing is told as done"),
  undone("key revoked", "a key that is revoked opens nothing, and nothing is told as done"),
  lost("silent after effect", "an answer that never comes is unknown, and asking finds what was done"),
  lost("500 after effect", "an error after the work was done is unknown, and asking finds it"),
  lost("half answer", "half an answer is unknown, and asking finds what was done"),
  lost("huge answer", "an answer of ten megabytes is unknown, and asking finds what was done"),
  examCase("a request that never arrived is never told as done, and is done at most once", async (bench) => {
    const { request, kind, why } = await meeting(bench, "silent before effect");
    check(kind === "unknown", `the outcome was told as ${why}`);
    const asked = await bench.inquire(request);
    const times = bench.control.opened(request.operationKey);
    const found = asked.kind === "answered" && asked.answer.known;
    // An inquiry that orders what is missing may have no answer: then it is unknown still.
    const isRight = times === (found ? 1 : 0) || (times === 1 && asked.kind !== "answered");
    check(isRight, `it is ${found ? "" : "not "}known, and was opened ${times} times`);
    if (asked.kind !== "answered" || asked.answer.known) return;
    // The inquiry promised that this payment will never exist.
    check((await bench.open(request)).kind !== "answered", "it was told to be absent for ever, and then taken");
  }),
  examCase("a page in place of an answer is not taken for one", async (bench) => {
    const { request, kind } = await meeting(bench, "html");
    check(kind === "unknown", `it was told as ${kind}`);
    check(bench.control.opened(request.operationKey) === 0, "it was opened");
  }),
  undone("redirect", "a redirect is not followed"),
  misread("wrong amount", "an answer about another amount is not believed"),
  misread("wrong currency", "an answer in another currency is not believed"),
  examCase("a status that nobody knows is neither money nor a failure", async (bench) => {
    const request = await bench.taken();
    bench.control.fault("unknown status");
    const asked = await bench.inquire(request);
    if (asked.kind !== "answered") return;
    check(asked.answer.known, "it was told to be absent");
    const { status } = asked.answer.state;
    check(status === "waiting" || status === "processing", `it was told as ${status}`);
  }),
  gentleCase("a key that was never used is not found", async (bench) => {
    const request = bench.payment();
    const asked = await bench.inquire(request);
    check(asked.kind === "answered", `asking about it was not answered: ${whyOf(asked)}`);
    if (asked.answer.known) {
      if (!bench.isFake) throw new NotApplicable("it completes what it does not find");
      check(bench.control.opened(request.operationKey) === 1, "it was told as known, and is not there");
    }
  }),
];
