// Goal: whatever comes between a cancel and the end of the payment at its acquirer, no money is lost or counted twice, and nothing is tried
// for ever or in a hurry. Method: pure commands in any order; then each race by itself, and a clock that moves past all ends.
import fc from "fast-check";
import { expect, test } from "vitest";
import { anOperation, callParts, keyInProgress, movableClock, openingParts } from "../../test/acquiring.ts";
import { NOW, type Then, book, given, merchantWith, ownerWith, row } from "../../test/given.ts";
import { aPayment } from "../../test/payments.ts";
import { nothing } from "../../test/refunds.ts";
import { scriptedAcquirer } from "../../test/scripted-acquirer.ts";
import { AcquirerRefused, type ReportedState } from "../acquirers/acquirer.ts";
import { type Micros, SECOND } from "../ground/clock.ts";
import type { Intent } from "../idempotency/idempotency.ts";
import { openKeys } from "../idempotency/idempotency.sql.ts";
import type { Payment } from "../payments/payment.ts";
import { cancelPayment, expirePayment } from "../payments/payments.ts";
import { payments } from "../payments/payments.sql.ts";
import { inquireSoon, paymentNotification } from "./notifications.ts";
import { type OpenResult, concludeOpening, resumeOpening } from "./opening.ts";
import { type Operation, operationKey } from "./operation.ts";
import { operations } from "./operations.sql.ts";
import { callOrInquire } from "./payment-operations.ts";
import { receipts } from "./receipts.sql.ts";

const merchant = merchantWith();
const owner = ownerWith();
const kawah = scriptedAcquirer("kawah");
const lawu = scriptedAcquirer("lawu");
const parts = openingParts(kawah, lawu);
const instructions = { type: "qr_string", value: "000201", expires_at: "2027-01-15T08:30:00Z" } as const;
const waiting: ReportedState = { status: "waiting" };
const paid: ReportedState = {
  status: "paid",
  receipt: { transactionId: "t-1", amountMinor: 1_000_000n, currency: "IDR" },
};
const known = (state: ReportedState, isOver = true): OpenResult => ({ kind: "known", instructions, state, isOver });
const KEY = "key-00000001";
const DAY: Micros = 86_400 * SECOND;

/** A payment that kawah has, or is asked for, as `changes` say, and its operation. */
function start(changes: Partial<Payment> = {}, of: Partial<Operation> = {}, offsetSeconds = 0) {
  const payment = aPayment({ gatewayCode: "kawah", ...changes });
  const operation = anOperation(payment.reference, { step: "polling", dueAt: NOW + 60 * SECOND, ...of });
  const record = keyInProgress(KEY, payment);
  const begun = given({
    rows: [row(payments, payment), row(operations, operation), row(openKeys, record)],
    offsetSeconds,
  }).when(nothing);
  return { payment, operation, begun };
}

const unopened = { gatewayCode: undefined, instructions: undefined };
const cancel = ({ reference }: Payment) => cancelPayment(parts, owner, reference, undefined);
const conclude = (operation: Operation, result: OpenResult) => concludeOpening(parts, merchant, operation, result);
const current = (after: Then<unknown>, operation: Operation): Operation =>
  after.changes.seen(operations, operation) ?? expect.unreachable();

test("money that comes in any order with a cancel and the end at the acquirer is there once, and the books sum to zero", () => {
  const step = fc.constantFrom("cancel", "notified", "look", "ended", "found paid", "waits", "asked before", "unknown");
  fc.assert(
    fc.property(fc.array(step, { minLength: 1, maxLength: 9 }), (steps) => {
      const { payment, operation, begun } = start();
      const name = { book, id: payment.reference, kind: "payment", attempt: 1 } as const;
      let last: Then<unknown> = begun;
      for (const one of steps) {
        const now = current(last, operation);
        const isOver = last.changes.seen(payments, payment)?.status === "canceled";
        if (one === "cancel") last = last.when(cancel(payment));
        else if (one === "notified") last = last.when(paymentNotification(merchant, name, "kawah", { state: paid }));
        else if (one === "look") last = last.when(inquireSoon(merchant, name, undefined));
        else if (one === "found paid") last = last.when(conclude(now, known(paid, isOver)));
        else if (one === "waits") last = last.when(conclude(now, known(waiting, isOver)));
        else if (one === "asked before") last = last.when(conclude(now, known(waiting, false)));
        else if (one === "unknown") last = last.when(conclude(now, { kind: "unknown" }));
        // A worker ends only what was over when it read it.
        else if (isOver) last = last.when(conclude(now, known({ status: "failed" })));
      }
      const { changes } = last;
      const after = changes.seen(payments, payment);
      const money = steps.some((one) => one === "notified") ? 1 : changes.inserted(receipts).length;
      const status = after?.status === "canceled" ? "unapplied" : "applied";
      expect(changes.inserted(receipts).map((receipt) => receipt.status)).toEqual(money === 1 ? [status] : []);
      expect(changes.journals.map(({ kind }) => kind)).toEqual(
        money === 1 ? [status === "applied" ? "capture" : "receipt_unapplied"] : [],
      );
      for (const { entries } of changes.journals)
        expect(Object.values(entries).reduce((sum, amount) => sum + amount, 0n)).toBe(0n);
      expect(changes.events.filter((type) => type === "payment.canceled").length).toBe(
        after?.status === "canceled" ? 1 : 0,
      );
    }),
    { numRuns: 400 },
  );
});

test("a payer who pays between the inquiry and the end is found by the next inquiry, and the money is kept apart", async () => {
  const { payment, operation, begun } = start({ status: "canceled" }, { step: "inquiring", dueAt: NOW });
  const clock = movableClock();
  const all = { ...parts, ...callParts(clock) };
  const key = operationKey(operation);
  const open = { ...payment, status: "pending" as const };
  await callOrInquire(all, merchant, open, { ...operation, step: "calling", dueAt: NOW + 60 * SECOND });
  const calls = { ...(kawah.calls ?? expect.unreachable()) };
  calls.cancel = () => {
    kawah.states.set(key, paid);
    return Promise.reject(new Error("it is paid"));
  };
  const faster = { ...kawah, calls };
  const racing = { ...all, acquirer: () => faster };
  const first = await callOrInquire(racing, merchant, payment, operation);
  expect(first.kind).toBe("unknown");
  const asked = begun.when(conclude(operation, first));
  const second = await callOrInquire(racing, merchant, payment, current(asked, operation));
  const { changes } = asked.when(conclude(current(asked, operation), second));
  expect(changes.inserted(receipts)).toMatchObject([{ status: "unapplied", transactionId: "t-1" }]);
  expect(changes.updated(operations)).toMatchObject([{ step: "done", dueAt: undefined }]);
});

test.each<[string, OpenResult, string]>([
  ["found to be there, and ended", known({ status: "failed" }), "201"],
  ["not there, and never will be", { kind: "absent" }, "409 PAYMENT_NOT_PAYABLE"],
])(
  "cancelled during its creation, whose answer is lost: %s; the same request is answered once",
  (_how, found, answer) => {
    const { payment, operation, begun } = start(unopened, { step: "calling", idempotencyKey: KEY });
    const lost = begun.when(cancel(payment)).when(conclude(operation, { kind: "unknown" }));
    expect(current(lost, operation)).toMatchObject({ step: "inquiring", idempotencyKey: KEY });
    const asked = lost.when(conclude(current(lost, operation), found));
    expect(repeated(asked, operation)).toContain(answer);
    expect(asked.changes.events).toEqual(["payment.canceled"]);
  },
);

test("cancelled during its creation, told to be there and then gone: the same request is answered all the same", () => {
  const { payment, operation, begun } = start(unopened, { step: "calling", idempotencyKey: KEY });
  const name = { book, id: payment.reference, kind: "payment", attempt: 1 } as const;
  const told = begun.when(paymentNotification(merchant, name, "kawah", { state: waiting })).when(cancel(payment));
  const lost = told.when(conclude(operation, { kind: "unknown" }));
  const gone = lost.when(conclude(current(lost, operation), { kind: "absent" }));
  expect(current(gone, operation)).toMatchObject({ step: "done", idempotencyKey: undefined, dueAt: undefined });
  expect(repeated(gone, operation)).toBe("201");
});

test.each(["planned", "retryable"] as const)(
  "cancelled while its operation is %s, nobody is called any more, and the same creation says what became of it",
  (step) => {
    const idempotencyKey = step === "retryable" ? KEY : undefined;
    const { payment, operation, begun } = start(unopened, { step, idempotencyKey, dueAt: undefined });
    const after = begun.when(cancel(payment));
    const { dueAt, step: left } = current(after, operation);
    expect([left, dueAt]).toEqual([step === "planned" ? "done" : "retryable", undefined]);
    if (step === "retryable") expect(repeated(after, operation)).toContain("409 PAYMENT_NOT_PAYABLE");
  },
);

/** What the merchant's same request is answered with now. */
function repeated(after: Then<unknown>, operation: Operation): string {
  const { step } = current(after, operation);
  const intent: Intent = {
    book,
    key: KEY,
    endpoint: "POST /v1/payments",
    bodyDigest: Buffer.alloc(32, 1),
    requestId: "req_1",
    receivedAt: NOW,
  };
  const last = step === "retryable" ? after.when(resumeOpening(parts, merchant, operation, intent)) : after;
  const [record] = last.changes.updated(openKeys);
  const body = JSON.parse(record?.response ?? "{}") as { error?: { code: string } };
  return [record?.status, body.error?.code].filter(Boolean).join(" ");
}

test("a refusal that is told after a worker has taken the payment up goes to no other acquirer: that worker may have it opened", () => {
  const { payment, operation, begun } = start(unopened, { step: "calling" });
  const taken = { ...operation, step: "inquiring" } as const;
  const later = given({ rows: [row(payments, payment), row(operations, taken)] });
  for (const [late, expected] of [
    [begun, { gatewayCode: "lawu", attempt: 2 }],
    [later, { gatewayCode: "kawah", attempt: 1, step: "inquiring" }],
  ] as const) {
    expect(late.when(conclude(operation, { kind: "refused" })).changes.updated(operations)).toMatchObject([expected]);
  }
});

test("refused by one and opened at another, it is ended at the other alone", async () => {
  const { payment, operation, begun } = start(unopened, { step: "calling", dueAt: NOW + 60 * SECOND });
  const handed = begun.when(conclude(operation, { kind: "refused" }));
  const atLawu = current(handed, operation);
  const all = { ...parts, ...callParts(movableClock()) };
  const opened = handed.when(conclude(atLawu, await callOrInquire(all, merchant, payment, atLawu)));
  const canceled = opened.when(cancel(payment)).changes.seen(payments, payment) ?? expect.unreachable();
  const before = [kawah.asked.length, kawah.ended.length];
  const result = await callOrInquire(all, merchant, canceled, current(opened, operation));
  expect(result).toMatchObject({ kind: "known", state: { status: "failed" } });
  expect(lawu.ended).toEqual([operationKey(atLawu)]);
  expect([kawah.asked.length, kawah.ended.length]).toEqual(before);
});

test("its time ends while a worker inquires: it is asked about once more, ended then, and looked at when its last money must have shown", () => {
  const { payment, operation, begun } = start({ expiresAt: NOW });
  const straddling = begun
    .when(expirePayment(owner, payment.reference))
    .when(conclude(operation, known(waiting, false)));
  expect(current(straddling, operation)).toMatchObject({ step: "polling", dueAt: NOW });
  const once = straddling.when(conclude(current(straddling, operation), known(waiting)));
  expect(current(once, operation)).toMatchObject({ step: "polling", dueAt: NOW + 900 * SECOND });
});

test("a cancel is heard though the lease of who inquires is over, and another has taken it up", () => {
  const { payment, operation, begun } = start();
  const canceled = begun.when(cancel(payment));
  const stale = { ...operation, dueAt: NOW - SECOND };
  expect(current(canceled.when(conclude(stale, known(waiting, false))), operation).dueAt).toBe(NOW);
});

test.each([
  ["cancelled", "canceled", 1_800 * SECOND],
  ["cancelled, near its end", "canceled", SECOND],
  ["expired", "expired", 0],
] as const)(
  "money that is on its way to a payment that is %s is asked about, ever more rarely, until it has come",
  (_how, status, left) => {
    const { payment, operation, begun } = start({ status, expiresAt: NOW + left }, { inquiries: 12 });
    const asked = begun.when(conclude(operation, known({ status: "processing" })));
    expect(current(asked, operation)).toMatchObject({ step: "inquiring", inquiries: 13, dueAt: NOW + 600 * SECOND });
    const came = asked.when(conclude(operation, known(paid)));
    expect(came.changes.inserted(receipts)).toMatchObject([
      { status: "unapplied", paymentReference: payment.reference },
    ]);
    expect(current(came, operation).step).toBe("done");
  },
);

test.each([
  ["of the service", undefined],
  ["of the acquirer", 60_000],
])(
  "what cannot be ended there is asked about once more, before its end, whatever the usual pause %s",
  (_whose, pause) => {
    const slow = { ...kawah, inquiresAfterMs: () => pause };
    const { payment, operation, begun } = start({ status: "canceled" }, { step: "inquiring", dueAt: NOW });
    const { changes } = begun.when(concludeOpening(openingParts(slow), merchant, operation, known(waiting)));
    expect(changes.updated(operations)).toMatchObject([{ step: "polling", dueAt: payment.expiresAt - 10 * SECOND }]);
  },
);

test.each([
  ["before its end", -SECOND, "unknown"],
  ["a day after it", DAY, "unknown"],
  ["later", DAY + SECOND, "known"],
])("an end of which nothing is known %s", async (_when, later, kind) => {
  const expiresAt = NOW + 60 * SECOND;
  const { payment, operation, begun } = start({ status: "canceled", createdAt: NOW, expiresAt }, { step: "inquiring" });
  const clock = movableClock();
  const all = { ...parts, ...callParts(clock) };
  const open = { ...payment, status: "pending" as const };
  await callOrInquire(all, merchant, open, { ...operation, step: "calling", dueAt: NOW + 60 * SECOND });
  clock.at = expiresAt + later;
  for (const why of [new AcquirerRefused("not now", { unavailable: true }), new Error("500")]) {
    const calls = { ...(kawah.calls ?? expect.unreachable()), cancel: () => Promise.reject(why) };
    const result = await callOrInquire({ ...all, acquirer: () => ({ ...kawah, calls }) }, merchant, payment, operation);
    expect(result.kind).toBe(kind);
    const { changes } = begun.when(conclude(operation, result), expiresAt + later);
    const [after] = changes.updated(operations);
    if (kind === "unknown") expect(after?.dueAt).toBeGreaterThan(clock.at);
    else expect(after).toMatchObject({ step: "done", dueAt: undefined });
  }
});

test("an end of which nothing is known is given up by real time, however far a sandbox's clock is ahead", async () => {
  const ahead = 1_000 * DAY;
  const times = { createdAt: NOW + ahead, expiresAt: NOW + ahead + 60 * SECOND };
  const { payment, operation } = start({ status: "canceled", ...times }, { step: "inquiring" });
  const clock = movableClock();
  const calls = { ...(kawah.calls ?? expect.unreachable()), cancel: () => Promise.reject(new Error("500")) };
  const all = { ...parts, ...callParts(clock), acquirer: () => ({ ...kawah, calls }) };
  const open = { ...payment, status: "pending" as const };
  await callOrInquire(all, merchant, open, { ...operation, step: "calling", dueAt: NOW + 60 * SECOND });
  clock.at = NOW + 60 * SECOND + DAY;
  expect((await callOrInquire(all, merchant, payment, operation)).kind).toBe("unknown");
  clock.at += SECOND;
  expect((await callOrInquire(all, merchant, payment, operation)).kind).toBe("known");
});

test.each(["calling", "inquiring", "polling"] as const)(
  "whatever an acquirer says for ever of what is cancelled while it is %s, nobody is in a hurry",
  (step) => {
    const said: OpenResult[] = [
      known(waiting),
      known({ status: "processing" }),
      { kind: "unknown" },
      { kind: "absent" },
      { kind: "refused" },
    ];
    for (const taken of [unopened, {}])
      for (const result of said) {
        const { operation, begun } = start({ ...taken, status: "canceled" }, { step });
        let now = NOW;
        let last: Then<unknown> = begun;
        let asked = 0;
        for (; asked < 200 && now < NOW + DAY; asked++) {
          last = last.when(conclude(current(last, operation), result), now);
          const { dueAt } = current(last, operation);
          if (dueAt === undefined) break;
          now = Math.max(now, dueAt);
        }
        expect(asked).toBeLessThan(200);
      }
  },
);

test("an acquirer that is no longer configured is not asked for the end, and nothing is taken for ended", async () => {
  const none = openingParts();
  const { payment, operation, begun } = start({ status: "canceled" }, { step: "inquiring" });
  const result = await callOrInquire({ ...none, ...callParts(movableClock()) }, merchant, payment, operation);
  expect(result).toEqual({ kind: "unknown" });
  const { changes } = begun.when(concludeOpening(none, merchant, { ...operation, inquiries: 30 }, result));
  expect(changes.updated(operations)).toMatchObject([{ step: "inquiring" }]);
  const waits = start();
  const canceled = waits.begun.when(cancelPayment(none, owner, waits.payment.reference, undefined));
  expect(canceled.changes.events).toEqual(["payment.canceled"]);
  expect(canceled.changes.updated(operations)).toEqual([]);
});

test("in a book whose clock was moved ahead, what cannot be ended is asked about when its time is nearly over there", () => {
  const ahead = 3_600;
  const { operation, begun, payment } = start(
    { status: "canceled", expiresAt: NOW + (ahead + 1_800) * SECOND },
    { step: "inquiring" },
    ahead,
  );
  const asked = begun.when(conclude(operation, known(waiting)));
  expect(current(asked, operation).dueAt).toBe(NOW + (1_800 - 10) * SECOND);
  expect(payment.expiresAt).toBe(NOW + 5_400 * SECOND);
});

test("what is over is asked about for as long as it is unclear, ever more rarely, and begins anew only after a clear answer", () => {
  const answers = {
    unclear: { kind: "unknown" } as const,
    processing: known({ status: "processing" }),
    waits: known(waiting),
  };
  const answer = fc.constantFrom("unclear", "processing", "waits");
  const begun = fc.record({
    status: fc.constantFrom("canceled", "expired"),
    step: fc.constantFrom("polling", "inquiring"),
    inquiries: fc.nat(40),
  });
  fc.assert(
    fc.property(begun, fc.array(answer, { minLength: 30, maxLength: 60 }), ({ status, ...of }, said) => {
      const { operation, begun: found } = start({ status }, { ...of, dueAt: NOW });
      let last: Then<unknown> = found;
      let gap = 0;
      for (const one of said) {
        const now = current(last, operation);
        const { dueAt: at = expect.unreachable("it is not asked about any more") } = now;
        last = last.when(conclude(now, answers[one]), at);
        const { step, dueAt } = current(last, operation);
        if (one === "waits") {
          // Clear: it can be paid there until it expires there, and is asked about near its end, and after it.
          if (step === "done") return;
          gap = 0;
        } else {
          const next = (dueAt ?? expect.unreachable()) - at;
          expect(step).toBe("inquiring");
          if (now.step === "polling" && one === "unclear") expect(next).toBe(SECOND);
          else if (gap > 0) expect(next).toBe(Math.min(2 * gap, 600 * SECOND));
          else expect(next).toBeGreaterThanOrEqual(SECOND);
          gap = next;
        }
      }
    }),
    { numRuns: 300 },
  );
});
