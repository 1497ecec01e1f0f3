// The exam's cases about received money: exact, counted once, and believed only from the provider itself.
import type { OpenRequest, Receipt, ReportedState } from "../../acquirers/acquirer.ts";
import { type Bench, type ExamCase, NotApplicable, check, stateOf, whyOf, examCase } from "./bench.ts";

/** The receipt that an inquiry returns. The case fails when the payment is not paid. */
export async function receiptOf(bench: Bench, request: OpenRequest): Promise<Receipt> {
  const asked = await bench.inquire(request);
  check(asked.kind === "answered" && asked.answer.known, `asking did not find it: ${whyOf(asked)}`);
  const { state } = asked.answer;
  check(state.status === "paid", `it stands as ${state.status}`);
  return state.receipt;
}

const same = (one: Receipt, other: Receipt): boolean =>
  one.transactionId === other.transactionId && one.amountMinor === other.amountMinor && one.currency === other.currency;

/** Receipts in notifications; notifications that only say `look` contain none. */
function receiptsOf(bench: Bench, key: string): Receipt[] {
  return bench.reportsOf(key).flatMap((report) => (report.kind === "payment" ? receiptIn(report.state) : []));
}

const receiptIn = (state: ReportedState | undefined): Receipt[] => (state?.status === "paid" ? [state.receipt] : []);

export const payingCases: readonly ExamCase[] = [
  examCase("money that came is told with its exact amount, and the same each time", async (bench) => {
    for (const { method } of bench.acquirer.capabilities) {
      const request = await bench.paid({ method });
      const receipt = await receiptOf(bench, request);
      const exact = receipt.amountMinor === request.amountMinor && receipt.currency === request.currency;
      check(exact, `${request.amountMinor} ${request.currency} came as ${receipt.amountMinor} ${receipt.currency}`);
      check(/^[!-~]{1,64}$/.test(receipt.transactionId), `${receipt.transactionId} is no identity of a transaction`);
      check(same(await receiptOf(bench, request), receipt), "the second inquiry says something else");
    }
  }),
  examCase("what is notified and what asking says are one transaction", async (bench) => {
    const request = await bench.paid();
    await bench.messagesOf(request.operationKey);
    const receipt = await receiptOf(bench, request);
    for (const told of receiptsOf(bench, request.operationKey))
      check(same(told, receipt), `notified as ${told.transactionId}, asked as ${receipt.transactionId}`);
  }),
  examCase("a notification that comes three times says the same three times", async (bench) => {
    const request = await bench.taken();
    await bench.control.pay(request.operationKey, { times: 3 });
    await bench.messagesOf(request.operationKey);
    const [first, ...others] = receiptsOf(bench, request.operationKey);
    for (const other of others) check(first !== undefined && same(first, other), "they differ");
  }),
  examCase("notifications in reversed order end at the truth", async (bench) => {
    const request = await bench.taken();
    await bench.control.pay(request.operationKey, { order: "reversed" });
    await bench.messagesOf(request.operationKey);
    const failed = bench
      .reportsOf(request.operationKey)
      .some((report) => report.kind === "payment" && report.state.status === "failed");
    check(!failed, "a paid payment was reported as failed");
    await receiptOf(bench, request);
  }),
  examCase("a lost notification loses no money: asking finds it", async (bench) => {
    const request = await bench.taken();
    await bench.control.pay(request.operationKey, { notify: false });
    check(bench.reportsOf(request.operationKey).length === 0, "it was notified after all");
    await receiptOf(bench, request);
  }),
  examCase("notification and inquiry at the same moment tell one transaction", async (bench) => {
    const request = await bench.taken();
    const asking = Promise.all(Array.from({ length: 5 }, () => bench.inquire(request)));
    await bench.control.pay(request.operationKey, { times: 2 });
    const receipt = await receiptOf(bench, request);
    const asked = (await asking).flatMap((ended) => receiptIn(stateOf(ended)));
    for (const told of [...asked, ...receiptsOf(bench, request.operationKey)])
      check(same(told, receipt), "two transactions were told of");
  }),
  examCase("a notification is refused when a byte of what it says is another", async (bench) => {
    const request = await bench.paid();
    const [message] = await bench.messagesOf(request.operationKey);
    const text = message.body.toString("utf8");
    // A forger who has seen a notification changes it: another amount, another status, or another payment.
    const digit = /[1-9](?=0{3})/.exec(text)?.index ?? text.search(/\d/);
    const key = text.indexOf(request.operationKey.slice(3, 20));
    let tried = 0;
    for (const at of [digit, key].filter((place) => place >= 0)) {
      const body = Buffer.from(message.body);
      body[at] = (body[at] ?? 0) === 0x39 ? 0x38 : 0x39;
      const refusal = bench.refusalOf({ ...message, body });
      tried++;
      if (refusal !== undefined) continue;
      // A provider that signs no bodies proves only who the sender is: nothing in the body may be believed.
      const meaning = bench.acquirer.calls.receive({ method: "POST", ...message, body }, Number.MAX_SAFE_INTEGER);
      const looks = meaning.kind === "reports" && meaning.reports.every(({ kind }) => kind === "look");
      check(looks, "a changed notification was believed");
    }
    check(tried > 0, "there was nothing to change in it");
  }),
  examCase("a notification without its proof, or with another's, is refused", async (bench) => {
    const request = await bench.paid();
    const [message] = await bench.messagesOf(request.operationKey);
    const proofs = Object.keys(message.headers).filter((name) => /signature|token|authorization|timestamp/.test(name));
    const bare = Object.fromEntries(Object.entries(message.headers).filter(([name]) => !proofs.includes(name)));
    const inBody = /"signature_key"\s*:\s*"[0-9a-f]+"/.exec(message.body.toString())?.[0];
    const body =
      inBody === undefined
        ? message.body
        : Buffer.from(message.body.toString().replace(inBody, '"signature_key":"00"'));
    check(bench.refusalOf({ ...message, headers: bare, body }) !== undefined, "it was taken without a proof");
    const strange = Object.fromEntries(proofs.map((name) => [name, "0".repeat(64)]));
    const refused = bench.refusalOf({ ...message, headers: { ...message.headers, ...strange }, body });
    check(refused !== undefined, "it was taken with a proof that is none");
  }),
  examCase("money of another amount is told as what came, never as what was asked", async (bench) => {
    const request = await bench.taken();
    await bench.control.pay(request.operationKey, { amountMinor: Number(request.amountMinor - 100_000n) });
    const state = stateOf(await bench.inquire(request));
    if (state === undefined) return;
    if (state.status === "paid")
      check(state.receipt.amountMinor === request.amountMinor - 100_000n, `told as ${state.receipt.amountMinor}`);
    for (const told of receiptsOf(bench, request.operationKey))
      check(told.amountMinor !== request.amountMinor, "notified as the full amount");
  }),
  examCase("a payment that failed is never told as paid", async (bench) => {
    const request = await bench.taken();
    await bench.control.fail(request.operationKey);
    const status = stateOf(await bench.inquire(request))?.status;
    check(status === "failed" || status === "waiting", `it stands as ${status ?? "unknown"}`);
    check(receiptsOf(bench, request.operationKey).length === 0, "money was notified");
  }),
  examCase("a payment whose time is over is not told as paid", async (bench) => {
    const request = await bench.taken();
    await bench.control.expire(request.operationKey);
    const status = stateOf(await bench.inquire(request))?.status;
    check(status === "failed" || status === "waiting", `it stands as ${status ?? "unknown"}`);
  }),
  examCase("money that comes after the time is over is told", async (bench) => {
    const request = await bench.taken();
    await bench.control.expire(request.operationKey);
    try {
      await bench.control.pay(request.operationKey);
    } catch {
      throw new NotApplicable("the provider takes no money after the time is over");
    }
    const receipt = await receiptOf(bench, request);
    check(receipt.amountMinor === request.amountMinor, "another amount is told");
  }),
];
