// Goal: what nobody is to pay any more is ended at its acquirer, once it is certain that it waits there, and never taken for ended before it
// is. Method: the round of a worker over each state and each ending; then cancels that come while somebody calls or inquires.
import { expect, test } from "vitest";
import { anOperation, callParts, movableClock, openingParts } from "../../test/acquiring.ts";
import { NOW, given, merchantWith, ownerWith, row } from "../../test/given.ts";
import { aPayment } from "../../test/payments.ts";
import { type Behaviour, scriptedAcquirer } from "../../test/scripted-acquirer.ts";
import type { ReportedState } from "../acquirers/acquirer.ts";
import { SECOND } from "../ground/clock.ts";
import type { Log } from "../ground/log.ts";
import type { Payment } from "../payments/payment.ts";
import { cancelPayment } from "../payments/payments.ts";
import { payments } from "../payments/payments.sql.ts";
import { type PaymentStatus, paymentStatuses } from "../payments/states.ts";
import { exceptions } from "./exceptions.sql.ts";
import { type OpenResult, concludeOpening } from "./opening.ts";
import { type Operation, operationKey } from "./operation.ts";
import { operations } from "./operations.sql.ts";
import { callOrInquire } from "./payment-operations.ts";
import { receipts } from "./receipts.sql.ts";

const merchant = merchantWith();
const instructions = { type: "qr_string", value: "000201", expires_at: "2027-01-15T08:30:00Z" } as const;
const paid: ReportedState = {
  status: "paid",
  receipt: { transactionId: "t-1", amountMinor: 1_000_000n, currency: "IDR" },
};

interface Round {
  kawah: ReturnType<typeof scriptedAcquirer>;
  payment: Payment;
  operation: Operation;
  log: Log;
  run: () => Promise<OpenResult>;
}

/** A payment that `kawah` has, and a worker that takes its operation up. */
async function round(status: PaymentStatus, state: ReportedState, endings: Behaviour[] = []): Promise<Round> {
  const kawah = scriptedAcquirer("kawah");
  const parts = openingParts(kawah);
  const payment = aPayment({ gatewayCode: "kawah", status });
  const operation = anOperation(payment.reference, { step: "inquiring", dueAt: NOW });
  const all = { ...parts, ...callParts(movableClock()) };
  const open = { ...payment, status: "pending" as const };
  await callOrInquire(all, merchant, open, { ...operation, step: "calling", dueAt: NOW + 60 * SECOND });
  kawah.states.set(operationKey(operation), state);
  kawah.endings = endings;
  return { kawah, payment, operation, log: all.log, run: () => callOrInquire(all, merchant, payment, operation) };
}

test.each(paymentStatuses)("of a %s payment that waits there", async (status) => {
  const { kawah, operation, run } = await round(status, { status: "waiting" });
  const result = await run();
  const ends = status === "canceled" || status === "expired";
  expect(kawah.ended).toEqual(ends ? [operationKey(operation)] : []);
  expect(result).toMatchObject({ kind: "known", state: { status: ends ? "failed" : "waiting" } });
});

test.each<[string, ReportedState]>([
  ["is being paid", { status: "processing" }],
  ["has failed", { status: "failed" }],
  ["is paid", paid],
])("what %s there is not ended", async (_how, state) => {
  const { kawah, run } = await round("canceled", state);
  expect(await run()).toMatchObject({ kind: "known", state });
  expect(kawah.ended).toEqual([]);
});

test.each<[string, Behaviour, string, PaymentStatus | "waiting" | undefined]>([
  ["whose answer is lost", "lost", "unknown", undefined],
  ["that never arrives", "unheard", "unknown", undefined],
  ["while it can take nothing", "down", "unknown", undefined],
  ["that it cannot make", "refuse", "known", "waiting"],
])("an ending %s", async (_how, behaviour, kind, status) => {
  const { run } = await round("canceled", { status: "waiting" }, [behaviour]);
  const result = await run();
  expect(result.kind).toBe(kind);
  if (result.kind === "known") expect(result.state.status).toBe(status);
});

test.each<[string, Behaviour, number]>([
  ["an acquirer that ends nothing of this kind calls nobody", "refuse", 0],
  ["one that can take nothing now does", "down", 1],
])("%s", async (_what, behaviour, warned) => {
  const { log, run } = await round("canceled", { status: "waiting" }, [behaviour]);
  let lines = 0;
  log.warn = () => void lines++;
  await run();
  expect(lines).toBe(warned);
});

test("one whose answer was lost is found to be ended, and is not asked for again", async () => {
  const { kawah, run } = await round("canceled", { status: "waiting" }, ["lost"]);
  expect((await run()).kind).toBe("unknown");
  expect(await run()).toMatchObject({ kind: "known", state: { status: "failed" } });
  expect(kawah.ended).toHaveLength(1);
});

test("what is said during inquiry and ending is kept, each under its call", async () => {
  const { kawah, run } = await round("canceled", { status: "waiting" });
  kawah.voice = {
    message: (call) => ({ about: `the call ${call}`, status: 200, text: "{}" }),
    providerIds: () => ({ account: "8808" }),
  };
  const { exchanged } = await run();
  expect(exchanged?.map(({ call, messages }) => [call, messages[0]?.about])).toEqual([
    ["inquire", "the call inquire"],
    ["cancel", "the call cancel"],
  ]);
});

/** What a worker's result makes of a cancelled payment. */
function concluded(result: OpenResult, status: PaymentStatus = "canceled", expiresAt = aPayment().expiresAt) {
  const payment = aPayment({ gatewayCode: "kawah", status, expiresAt });
  const operation = anOperation(payment.reference, { step: "inquiring", dueAt: NOW });
  const parts = openingParts(scriptedAcquirer("kawah"));
  const start = given({ rows: [row(payments, payment), row(operations, operation)] });
  return start.when(concludeOpening(parts, merchant, operation, result)).changes;
}

test.each<[string, OpenResult, string]>([
  ["ended", { kind: "known", instructions, isOver: true, state: { status: "failed" } }, "done"],
  ["not to be ended", { kind: "known", instructions, isOver: true, state: { status: "waiting" } }, "polling"],
  ["being paid", { kind: "known", instructions, isOver: true, state: { status: "processing" } }, "inquiring"],
  ["not there any more", { kind: "absent" }, "done"],
  ["not known", { kind: "unknown" }, "inquiring"],
])("a cancelled payment that is %s at its acquirer", (_how, result, step) => {
  const changes = concluded(result);
  expect(changes.updated(operations)).toMatchObject([{ step }]);
  expect(changes.updated(payments)).toEqual([]);
  expect(changes.inserted(exceptions)).toEqual([]);
  expect(changes.events).toEqual([]);
});

test("what cannot be ended is inquired about before its end, and when its last money must have shown, and then never", () => {
  const waits: OpenResult = { kind: "known", instructions, isOver: true, state: { status: "waiting" } };
  const expiresAt = aPayment().expiresAt - 10 * SECOND;
  expect(concluded(waits).updated(operations)).toMatchObject([{ step: "polling", dueAt: expiresAt }]);
  const late = NOW + 900 * SECOND;
  expect(concluded(waits, "expired", NOW).updated(operations)).toMatchObject([{ step: "polling", dueAt: late }]);
  const after = NOW - 900 * SECOND;
  expect(concluded(waits, "expired", after).updated(operations)).toMatchObject([{ step: "done", dueAt: undefined }]);
});

test("one that was paid before it could be ended leaves its money for an operator to decide", () => {
  const changes = concluded({ kind: "known", instructions, state: paid });
  expect(changes.inserted(receipts)).toMatchObject([{ status: "unapplied", transactionId: "t-1" }]);
  expect(changes.updated(payments)).toEqual([]);
});

test("a pending payment that its acquirer does not know any more is still an exception", () => {
  expect(concluded({ kind: "absent" }, "pending").inserted(exceptions)).toMatchObject([{ kind: "forgotten" }]);
});

test.each(["calling", "inquiring", "polling"] as const)(
  "a cancel that comes while a worker is %s is heard by the next, at once",
  (step) => {
    const kawah = scriptedAcquirer("kawah");
    const parts = openingParts(kawah);
    const taken = step === "calling" ? { gatewayCode: undefined, instructions: undefined } : { gatewayCode: "kawah" };
    const payment = aPayment(taken);
    const operation = anOperation(payment.reference, { step, dueAt: NOW + 60 * SECOND });
    const changes = given({ rows: [row(payments, payment), row(operations, operation)] })
      .when(cancelPayment(parts, ownerWith(), payment.reference, undefined))
      .when(
        concludeOpening(parts, merchant, operation, { kind: "known", instructions, state: { status: "waiting" } }),
      ).changes;
    expect(changes.updated(operations)).toMatchObject([{ step: "polling", dueAt: NOW }]);
    expect(changes.events).toEqual(["payment.canceled"]);
  },
);
