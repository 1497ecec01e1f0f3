// Goal: whatever an acquirer answers, and whoever concludes first, a payment is opened once, and a request gets one answer. Method: the pure
// command over each result in each step of an operation; then fail-over, release, resume, and any results in any order.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { anOperation, callParts, closing, keyInProgress, movableClock, openingParts } from "../../test/acquiring.ts";
import { NOW, type Then, book, given, merchantWith, row } from "../../test/given.ts";
import { aPayment } from "../../test/payments.ts";
import { nothing } from "../../test/refunds.ts";
import { scriptedAcquirer } from "../../test/scripted-acquirer.ts";
import type { Acquirer, ReportedState } from "../acquirers/acquirer.ts";
import { simulatedAcquirers } from "../acquirers/simulated.ts";
import { SECOND } from "../ground/clock.ts";
import { newId, uuidOf } from "../ground/ids.ts";
import type { Intent } from "../idempotency/idempotency.ts";
import { openKeys } from "../idempotency/idempotency.sql.ts";
import type { Payment } from "../payments/payment.ts";
import { payments, reviewedOrRouted } from "../payments/payments.sql.ts";
import { type PaymentStatus, paymentStatuses } from "../payments/states.ts";
import type { AcquirerState } from "../routing/routing.ts";
import { exceptions } from "./exceptions.sql.ts";
import { inquireSoon, paymentNotification } from "./notifications.ts";
import { type OpenResult, concludeOpening, resumeOpening } from "./opening.ts";
import { type Operation, operationSteps } from "./operation.ts";
import { operations } from "./operations.sql.ts";
import { callOrInquire } from "./payment-operations.ts";
import type { KeptReceipt } from "./receipt.ts";
import { receipts } from "./receipts.sql.ts";

const merchant = merchantWith();
const kawah = scriptedAcquirer("kawah");
const lawu = scriptedAcquirer("lawu");
const cendana = simulatedAcquirers.find(({ code }) => code === "cendana") ?? expect.unreachable();
const parts = openingParts(kawah, lawu);
const KEY = "key-00000001";
const instructions = { type: "qr_string", value: "000201", expires_at: "2027-01-15T08:30:00Z" } as const;
const known = (state: ReportedState = { status: "waiting" }): OpenResult => ({ kind: "known", instructions, state });
const paid = (transactionId = "t-1", amountMinor = 1_000_000n): ReportedState => ({
  status: "paid",
  receipt: { transactionId, amountMinor, currency: "IDR" },
});

/** A payment that waits for its acquirer; its key is in progress. */
function waiting(changes: Partial<Payment> = {}, operation: Partial<Operation> = {}) {
  const payment = aPayment({ gatewayCode: undefined, instructions: undefined, ...changes });
  const current = anOperation(payment.reference, { idempotencyKey: KEY, ...operation });
  const record = keyInProgress(KEY, payment);
  const start = given({ rows: [row(payments, payment), row(operations, current), row(openKeys, record)] });
  return { payment, operation: current, record, start };
}

test("an acquirer that says during the call that something happened is asked right after it", () => {
  const { payment, operation, start } = waiting();
  const told = inquireSoon(merchant, { book, id: payment.reference, kind: "payment", attempt: 1 }, undefined);
  const opened = start.when(told).when(concludeOpening(parts, merchant, operation, known()));
  expect(opened.changes.updated(operations)).toMatchObject([{ step: "polling", inquiries: 0, dueAt: NOW }]);
});

test("a payment that is opened at a later try is not asked about at once: no report came during that call", () => {
  const { payment, operation, start } = waiting({}, { inquiries: 3, idempotencyKey: undefined });
  const opened = start.when(concludeOpening(parts, merchant, operation, known()));
  expect(opened.changes.updated(operations)).toMatchObject([
    { step: "polling", inquiries: 0, dueAt: payment.expiresAt - 10 * SECOND },
  ]);
});

test.each(["inquiring", "polling"] as const)(
  "one that says during an inquiry, while it is %s, that something happened is asked again at once: the answer may be older",
  (step) => {
    const begun = { step, inquiries: 3, dueAt: NOW + 60 * SECOND };
    const { payment, operation, start } = waiting({}, begun);
    const told = inquireSoon(merchant, { book, id: payment.reference, kind: "payment", attempt: 1 }, undefined);
    const asked = start.when(told).when(concludeOpening(parts, merchant, operation, known()));
    expect(asked.changes.updated(operations)).toMatchObject([{ step: "polling", dueAt: NOW }]);
    const other = waiting({}, begun);
    const quiet = other.start.when(concludeOpening(parts, merchant, other.operation, known()));
    // What waited before is asked about ever more rarely; what did not, near its end.
    const dueAt = step === "polling" ? NOW + 8 * SECOND : other.payment.expiresAt - 10 * SECOND;
    expect(quiet.changes.updated(operations)).toMatchObject([{ step: "polling", dueAt }]);
  },
);

test.each(["expired", "canceled", "failed"] as const)(
  "what a report says during an inquiry about a payment that is %s is asked about again: a final answer may be older",
  (status) => {
    const begun = { step: "inquiring", dueAt: NOW + 60 * SECOND } as const;
    const { payment, operation, start } = waiting({ gatewayCode: "kawah", status }, begun);
    const found = Object.assign(known({ status: "failed" }), { isOver: status !== "failed" });
    const told = start.when(
      inquireSoon(merchant, { book, id: payment.reference, kind: "payment", attempt: 1 }, undefined),
    );
    const again = told.when(concludeOpening(parts, merchant, operation, found)).changes.seen(operations, operation);
    expect(again).toMatchObject({ step: status === "failed" ? "inquiring" : "polling", dueAt: NOW });
    const once = told.when(concludeOpening(parts, merchant, again ?? expect.unreachable(), found));
    expect(once.changes.seen(operations, operation)).toMatchObject({ step: "done", dueAt: undefined });
  },
);

test.each([
  ["inquiring", known({ status: "failed" })],
  ["inquiring", known(paid())],
  ["polling", known(paid())],
  ["polling", { kind: "closed" }],
  ["calling", known()],
] as const)(
  "when paid money is doubted while it is %s, the acquirer is asked again, whatever it answers: %o",
  (step, found) => {
    const { payment, operation, start } = waiting({ gatewayCode: "kawah" }, { step, dueAt: NOW + 60 * SECOND });
    const name = { book, id: payment.reference, kind: "payment", attempt: 1 } as const;
    const told = start
      .when(paymentNotification(merchant, name, "kawah", { state: paid() }))
      .when(paymentNotification(merchant, name, "kawah", { state: { status: "failed" } }));
    const { changes } = told.when(concludeOpening(parts, merchant, operation, found));
    expect(changes.seen(operations, operation)).toMatchObject({ step: "inquiring", dueAt: NOW });
  },
);

describe("a local acquirer, which reports nothing by itself", () => {
  const decided = { ...kawah, remote: false, inquiresAfterMs: () => 1_000 } as Acquirer;

  test("is asked about an open payment once it will have decided, and then ever more rarely", () => {
    for (const [step, dueAt] of [
      ["inquiring", NOW + SECOND],
      ["polling", NOW + 8 * SECOND],
    ] as const) {
      const { operation, start } = waiting({ gatewayCode: "kawah" }, { step, inquiries: 3, dueAt: NOW });
      const { changes } = start.when(concludeOpening(openingParts(decided), merchant, operation, known()));
      expect(changes.updated(operations)).toMatchObject([{ step: "polling", dueAt }]);
    }
  });

  test.each(["waiting", "processing", "failed"] as const)(
    "is not asked any more about a payment that is over, whatever it says: %s",
    (status) => {
      for (const over of ["expired", "canceled", "failed"] as const) {
        const { operation, start } = waiting({ gatewayCode: "kawah", status: over }, { step: "polling", dueAt: NOW });
        const { changes } = start.when(concludeOpening(openingParts(decided), merchant, operation, known({ status })));
        expect(changes.updated(operations)).toMatchObject([{ step: "done", dueAt: undefined }]);
      }
    },
  );
});

test.each([
  [10 * SECOND + 1, 10 * SECOND],
  [10 * SECOND, 910 * SECOND],
  [0, 900 * SECOND],
  [1 - 900 * SECOND, 1],
  [-900 * SECOND, undefined],
])("what is canceled %i microseconds before its end, and waits still, is asked about again after %s", (left, after) => {
  const over = { gatewayCode: "kawah", status: "canceled", expiresAt: NOW + left } as const;
  const { operation, start } = waiting(over, { step: "polling", dueAt: NOW });
  const found = { ...known(), isOver: true } as OpenResult;
  const { changes } = start.when(concludeOpening(parts, merchant, operation, found));
  expect(changes.updated(operations)).toMatchObject([{ dueAt: after === undefined ? undefined : NOW + after }]);
});

test.each([
  ["inquiring", "inquiring", NOW],
  ["polling", "inquiring", NOW],
  ["done", "inquiring", NOW],
  ["retryable", "retryable", undefined],
  ["planned", "planned", undefined],
] as const)("an operation that is %s and is told to look is %s", (step, after, dueAt) => {
  const { payment, start } = waiting({}, { step, inquiries: 3, dueAt: undefined });
  const told = inquireSoon(merchant, { book, id: payment.reference, kind: "payment", attempt: 1 }, undefined);
  const [changed] = start.when(told).changes.updated(operations);
  expect(changed ?? { step, dueAt: undefined }).toMatchObject({ step: after, dueAt });
});

test("an acquirer that says with its instructions that the payment is paid is believed at once", async () => {
  const calls = { ...kawah.calls, open: () => Promise.resolve({ instructions, state: paid() }) };
  const atOnce = openingParts({ ...kawah, calls } as Acquirer);
  const { payment, operation, start } = waiting({}, { dueAt: NOW + 10 * SECOND });
  const result = await callOrInquire({ ...atOnce, ...callParts(movableClock()) }, merchant, payment, operation);
  const { changes } = start.when(concludeOpening(atOnce, merchant, operation, result));
  expect(changes.updated(operations)).toMatchObject([{ step: "done" }]);
  expect(changes.events).toEqual(["payment.created", "payment.succeeded"]);
});

test.each([
  ["is another payment's is nobody's here: this one is routed again", "another", undefined, "absent"],
  ["is its own is believed", "own", undefined, "known"],
  ["was told when it was made is believed, whoever had the number before", "another", { account: "777771" }, "known"],
] as const)("an account that is found by its number and %s", async (_what, whose, told, kind) => {
  const found = {
    known: true,
    instructions,
    providerIds: { account: "777771" },
    state: { status: "waiting" },
  } as const;
  const bank = { ...kawah, calls: { ...kawah.calls, inquire: () => Promise.resolve(found) } } as Acquirer;
  const { payment, operation, start } = waiting(
    {},
    { step: "inquiring", providerIds: told, idempotencyKey: undefined },
  );
  const holder = whose === "own" ? payment.reference : newId("payment", NOW);
  const all = { ...openingParts(bank), ...callParts(movableClock(), [{ operation_id: uuidOf(holder) }]) };
  const result = await callOrInquire(all, merchant, payment, operation);
  expect(result.kind).toBe(kind);
  if (kind === "known") return;
  const { changes } = start.when(concludeOpening(all, merchant, operation, result));
  expect(changes.updated(payments).at(-1)?.instructions).toBeUndefined();
  expect(changes.updated(operations)).not.toMatchObject([{ providerIds: { account: "777771" } }]);
});

test.each<[string, Partial<Payment>, Partial<AcquirerState>]>([
  ["an operator has switched its acquirer off", {}, { enabled: false }],
  ["an operator has stated that its acquirer is down", {}, { health: "down" }],
  ["its payment has expired", { status: "expired" }, {}],
  ["its payment is canceled", { status: "canceled" }, {}],
])("a call that was planned is not made when %s meanwhile", async (_why, changes, state) => {
  const { payment, operation, start } = waiting(changes, { idempotencyKey: undefined, dueAt: NOW + 60 * SECOND });
  const states = new Map([["kawah", { enabled: true, health: "healthy" as const, ...state }]]);
  const now = { ...parts, routingTable: () => ({ ...parts.routingTable(), states }) };
  kawah.opened.length = 0;
  const result = await callOrInquire({ ...now, ...callParts(movableClock()) }, merchant, payment, operation);
  expect([result.kind, kawah.opened]).toEqual(["refused", []]);
  const { answer, changes: after } = start.when(concludeOpening(now, merchant, operation, result));
  if (payment.status === "pending") expect(answer).toMatchObject({ next: { gatewayCode: "lawu", attempt: 2 } });
  else expect(after.updated(operations)).toMatchObject([{ step: "done", dueAt: undefined }]);
});

describe("each result of a call, while the payment waits", () => {
  test("known: the payment is opened, the key gets its answer, and a worker inquires before the payment's time is over", () => {
    const { payment, operation, start } = waiting();
    start.when(concludeOpening(parts, merchant, operation, known())).then((changes, concluded) => {
      expect(concluded).toMatchObject({ reply: { status: 201 } });
      expect(changes.inserted(reviewedOrRouted)).toMatchObject([
        { status: "pending", gatewayCode: "kawah", instructions },
      ]);
      expect(changes.updated(payments)).toEqual([]);
      expect(changes.updated(operations)).toMatchObject([
        { step: "polling", idempotencyKey: undefined, inquiries: 0, dueAt: payment.expiresAt - 10 * SECOND },
      ]);
      expect(changes.updated(openKeys)).toMatchObject([{ status: 201 }]);
      expect(changes.events).toEqual(["payment.created"]);
    });
  });

  test.each([
    ["processing", { status: "processing" }, "processing", "polling", ["payment.created", "payment.processing"]],
    ["failed", { status: "failed" }, "failed", "done", ["payment.created", "payment.failed"]],
    ["paid", paid(), "succeeded", "done", ["payment.created", "payment.succeeded"]],
    ["paid too little", paid("t-1", 1n), "pending", "polling", ["payment.created"]],
  ] as const)("known and %s", (_what, state, status, step, events) => {
    const { payment, operation, start } = waiting();
    start
      .when(concludeOpening(parts, merchant, operation, known(state as ReportedState)))
      .then((changes, concluded) => {
        expect(concluded).toMatchObject({ reply: { status: 201 } });
        expect(changes.inserted(reviewedOrRouted)).toMatchObject([{ status: "pending", gatewayCode: "kawah" }]);
        expect(changes.seen(payments, payment)).toMatchObject({ status, gatewayCode: "kawah" });
        expect(changes.updated(payments)).toHaveLength(status === "pending" ? 0 : 1);
        expect(changes.updated(operations)).toMatchObject([{ step }]);
        expect(changes.events).toEqual(events);
      });
  });

  test("known, with money that is beyond all measure: opened, and an exception for a person", () => {
    const { operation, start } = waiting();
    start
      .when(concludeOpening(parts, merchant, operation, known(paid("t-1", 1_000_000_001n))))
      .then((changes, concluded) => {
        expect(concluded).toMatchObject({ reply: { status: 201 }, exceptions: ["receipt"] });
        expect(changes.inserted(exceptions)).toMatchObject([{ kind: "receipt", attempt: 1, gatewayCode: "kawah" }]);
        expect(changes.inserted(reviewedOrRouted)).toMatchObject([{ status: "pending" }]);
        expect(changes.journals).toEqual([]);
      });
  });

  test("known, with money that was reported before as another payment's: opened, and an exception for a person", () => {
    const payment = aPayment({ gatewayCode: undefined, instructions: undefined });
    const operation = anOperation(payment.reference);
    const before: KeptReceipt = {
      book,
      uuid: newId("receipt", NOW),
      gatewayCode: "kawah",
      transactionId: "t-1",
      paymentReference: newId("payment", NOW),
      amountMinor: 1_000_000n,
      currency: "IDR",
      status: "applied",
      receivedAt: NOW,
      decidedAt: undefined,
    };
    given({ rows: [row(payments, payment), row(operations, operation), row(receipts, before)] })
      .when(concludeOpening(parts, merchant, operation, known(paid())))
      .then((changes, concluded) => {
        expect(concluded).toMatchObject({ reply: { status: 201 }, exceptions: ["receipt"] });
        expect([changes.inserted(receipts), changes.journals]).toEqual([[], []]);
      });
  });

  test("with money that is beyond all measure, asked about again: it is told once", () => {
    const { operation, start } = waiting({ gatewayCode: "kawah", instructions }, { step: "polling" });
    const conclude = concludeOpening(parts, merchant, operation, known(paid("t-1", 1_000_000_001n)));
    const first = start.when(conclude);
    expect(first.answer).toHaveProperty("exceptions", ["receipt"]);
    expect(first.when(conclude).answer).toHaveProperty("exceptions", []);
  });

  test("with other money that is refused, after a person has closed the exception: it is told again, and the same money is not", () => {
    const { payment, operation, start } = waiting({ gatewayCode: "kawah", instructions }, { step: "polling" });
    const found = (transactionId: string) =>
      concludeOpening(parts, merchant, operation, known(paid(transactionId, 1_000_000_001n)));
    const key = { book, operationId: payment.reference, attempt: 1, kind: "receipt" } as const;
    const closed = start.when(found("t-1")).when(closing(key, "they have mistaken the unit"));
    const name = { book, id: payment.reference, kind: "payment", attempt: 1 } as const;
    const same = paymentNotification(merchant, name, "kawah", { state: paid("t-1", 1_000_000_001n) });
    expect(closed.when(same).answer).toMatchObject({ isNew: false });
    expect(closed.when(found("t-1")).answer).toHaveProperty("exceptions", []);
    const other = closed.when(found("t-2"));
    expect(other.answer).toHaveProperty("exceptions", ["receipt"]);
    expect(other.changes.seen(exceptions, key)).toMatchObject({ closedAt: undefined });
  });

  test("refused: the next acquirer is called, under a new attempt and a new lease", () => {
    const { operation, start } = waiting();
    start.when(concludeOpening(parts, merchant, operation, { kind: "refused" })).then((changes, concluded) => {
      const next = { step: "calling", gatewayCode: "lawu", attempt: 2, refusedBy: ["kawah"], dueAt: NOW + 5_400_000 };
      expect(concluded).toMatchObject({ next });
      expect(changes.updated(operations)).toMatchObject([next]);
      // The payment tells where it went, and why not to the first.
      const verdicts = changes
        .inserted(reviewedOrRouted)[0]
        ?.routing.candidates.map((one) => [one.gateway_code, one.verdict]);
      expect(verdicts).toEqual([
        ["kawah", "refused"],
        ["lawu", "chosen"],
      ]);
      expect(changes.updated(openKeys)).toEqual([]);
      expect(changes.events).toEqual([]);
    });
  });

  test("refused, with a local acquirer next: it is opened at once", () => {
    const { operation, start } = waiting();
    start
      .when(concludeOpening(openingParts(kawah, cendana), merchant, operation, { kind: "refused" }))
      .then((changes, concluded) => {
        expect(concluded).toMatchObject({ reply: { status: 201 } });
        const candidates = [
          { gateway_code: "kawah", verdict: "refused" },
          { gateway_code: "cendana", verdict: "chosen" },
        ];
        expect(changes.inserted(reviewedOrRouted)).toMatchObject([{ gatewayCode: "cendana", routing: { candidates } }]);
        expect(changes.updated(operations)).toMatchObject([{ step: "done", gatewayCode: "cendana", attempt: 2 }]);
      });
  });

  test.each([
    ["by the last acquirer, with a key: the merchant may retry", KEY, "retryable", undefined],
    ["by the last acquirer, without a key: a worker does", undefined, "planned", NOW + 8 * SECOND],
  ])("refused %s", (_what, idempotencyKey, step, dueAt) => {
    const second = {
      gatewayCode: "lawu",
      refusedBy: ["kawah"],
      attempt: 2,
      inquiries: 3,
      providerIds: { account: "777771" },
    };
    const { operation, start } = waiting({}, { idempotencyKey, ...second });
    start.when(concludeOpening(parts, merchant, operation, { kind: "refused" })).then((changes, concluded) => {
      expect(concluded).toMatchObject({ fault: { code: "GATEWAY_ERROR" } });
      // Who reports by the account number means another payment from now on.
      const after = { step, dueAt, attempt: 3, inquiries: 4, round: 1, refusedBy: [], providerIds: undefined };
      expect(changes.updated(operations)).toMatchObject([after]);
      expect(changes.updated(openKeys)).toEqual([]);
    });
  });

  test("absent: certainly not done, so the merchant may retry, in the same round", () => {
    const { operation, start } = waiting({}, { step: "inquiring" });
    start.when(concludeOpening(parts, merchant, operation, { kind: "absent" })).then((changes, concluded) => {
      expect(concluded).toMatchObject({ fault: { code: "GATEWAY_ERROR" } });
      expect(changes.updated(operations)).toMatchObject([
        { step: "retryable", attempt: 2, round: 0, dueAt: undefined },
      ]);
    });
  });

  test.each([0, 1, 2, 9, 10, 30])(
    "unknown after %s inquiries: a worker inquires, ever more rarely, and nothing is repeated",
    (inquiries) => {
      const { operation, start } = waiting({}, { inquiries });
      start.when(concludeOpening(parts, merchant, operation, { kind: "unknown" })).then((changes, concluded) => {
        expect(concluded).toMatchObject({ fault: { code: "GATEWAY_TIMEOUT" } });
        const dueAt = NOW + Math.min(2 ** inquiries, 600) * SECOND;
        expect(changes.updated(operations)).toMatchObject([
          { step: "inquiring", attempt: 1, inquiries: inquiries + 1, dueAt },
        ]);
        expect([changes.updated(payments), changes.updated(openKeys), changes.events]).toEqual([[], [], []]);
      });
    },
  );
});

describe("an acquirer that has accepted a payment keeps it", () => {
  const accepted = { gatewayCode: "kawah", instructions };
  test("what the payer was told to pay stays, whatever an inquiry says later", () => {
    const told = { ...instructions, value: "000202" };
    const { operation, start } = waiting({ ...accepted, instructions: told }, { step: "polling" });
    const { changes } = start.when(concludeOpening(parts, merchant, operation, known()));
    expect(changes.seen(payments, { book, reference: operation.id })).toMatchObject({ instructions: told });
  });

  test.each(["pending", "processing"] as const)(
    "what was taken on by a report, and is %s, gets its instructions by the answer, and is created once",
    (status) => {
      const { operation, start } = waiting({ gatewayCode: "kawah", status });
      const { changes } = start.when(concludeOpening(parts, merchant, operation, known()));
      expect(changes.seen(payments, { book, reference: operation.id })).toMatchObject({ status, instructions });
      expect(changes.events).toEqual([]);
    },
  );

  test("refused: the outcome is unknown, and nobody else is called", () => {
    const { operation, start } = waiting(accepted, { step: "polling" });
    const concluded = start.when(concludeOpening(parts, merchant, operation, { kind: "refused" }));
    expect(concluded.answer).toMatchObject({ fault: { code: "GATEWAY_TIMEOUT" } });
    expect(concluded.changes.updated(operations)).toMatchObject([{ step: "polling", attempt: 1 }]);
  });

  test("absent: an exception, once, and inquiries go on", () => {
    const { operation, start } = waiting(accepted, { step: "polling" });
    const absent = concludeOpening(parts, merchant, operation, { kind: "absent" });
    const first = start.when(absent);
    expect(first.answer).toMatchObject({ exceptions: ["forgotten"] });
    const concluded = first.when(absent);
    expect(concluded.answer).toHaveProperty("exceptions", []);
    expect(concluded.changes.inserted(exceptions)).toMatchObject([{ kind: "forgotten", attempt: 1 }]);
    expect(concluded.changes.updated(operations)).toMatchObject([{ step: "polling", attempt: 1, inquiries: 2 }]);
  });

  test.each<[PaymentStatus, string[]]>([
    ["failed", []],
    ["succeeded", ["forgotten"]],
    ["refunded", ["forgotten"]],
  ])(
    "absent, where it is %s here by an earlier report: its request is answered, and nobody asks again",
    (status, told) => {
      const { operation, start } = waiting({ ...accepted, status }, { step: "inquiring" });
      const concluded = start.when(concludeOpening(parts, merchant, operation, { kind: "absent" }));
      expect(concluded.answer).toMatchObject({ reply: { status: 201 }, exceptions: told });
      expect(concluded.changes.updated(openKeys)).toMatchObject([{ status: 201 }]);
      expect(concluded.changes.updated(operations)).toMatchObject([{ step: "done", dueAt: undefined }]);
    },
  );

  test("closed: no inquiry follows", () => {
    const { operation, start } = waiting({ ...accepted, status: "succeeded" }, { step: "polling" });
    const concluded = start.when(concludeOpening(parts, merchant, operation, { kind: "closed" }));
    expect(concluded.changes.updated(operations)).toMatchObject([{ step: "done", dueAt: undefined }]);
  });
});

describe("what was concluded already stays", () => {
  const results: OpenResult[] = [
    known(),
    known({ status: "failed" }),
    { kind: "refused" },
    { kind: "absent" },
    { kind: "unknown" },
    { kind: "closed" },
  ];
  const over = operationSteps.filter((step) => ["retryable", "planned", "done"].includes(step));
  for (const step of over) {
    test.each(results)(`an operation that is ${step}, and a late $kind`, (result) => {
      const { operation, start } = waiting({}, { step, dueAt: step === "planned" ? NOW : undefined });
      const concluded = start.when(concludeOpening(parts, merchant, operation, result));
      expect(concluded.answer).toMatchObject({
        fault: { code: step === "retryable" ? "GATEWAY_ERROR" : "GATEWAY_TIMEOUT" },
      });
      expect(concluded.changes.isNothing).toBe(true);
    });
  }

  test.each(results)("another attempt, and a late $kind", (result) => {
    const { operation, start } = waiting({}, { attempt: 2 });
    const concluded = start.when(concludeOpening(parts, merchant, { ...operation, attempt: 1 }, result));
    expect(concluded.changes.isNothing).toBe(true);
  });

  test.each([...over.map((step) => [step, 1] as const), ["calling", 2] as const])(
    "but money counts: at the step %s, attempt %i, it waits for a person",
    (step, attempt) => {
      const dueAt = step === "planned" || step === "calling" ? NOW : undefined;
      const { operation, start } = waiting({}, { step, attempt, dueAt });
      const late = concludeOpening(parts, merchant, { ...operation, attempt: 1 }, known(paid()));
      const { answer, changes } = start.when(late);
      expect(answer).toMatchObject({ fault: {} });
      expect(changes.inserted(receipts)).toMatchObject([{ transactionId: "t-1", status: "unapplied" }]);
      expect(changes.journals.map(({ kind }) => kind)).toEqual(["receipt_unapplied"]);
      expect([changes.updated(payments), changes.updated(operations)]).toEqual([[], []]);
    },
  );

  test("the request gets the answer that its key keeps", () => {
    const { operation, start } = waiting();
    const first = start.when(concludeOpening(parts, merchant, operation, known()));
    const late = first.when(concludeOpening(parts, merchant, { ...operation, attempt: 0 }, { kind: "unknown" }));
    expect(first.answer).toMatchObject(late.answer);
  });
});

test.each(paymentStatuses.filter((status) => status !== "pending" && status !== "processing"))(
  "a payment that is %s before its acquirer answers is not opened any more",
  (status) => {
    for (const result of [known(), { kind: "refused" }, { kind: "absent" }] satisfies OpenResult[]) {
      const { operation, start } = waiting({ status, paidAt: undefined });
      const concluded = start.when(concludeOpening(parts, merchant, operation, result));
      expect(concluded.changes.updated(payments)).toEqual([]);
      expect(concluded.changes.events).toEqual([]);
      const [after] = concluded.changes.updated(operations);
      const isUnpaid = status === "canceled" || status === "expired";
      expect(after?.step).toBe(result.kind !== "known" ? "retryable" : isUnpaid ? "polling" : "done");
    }
  },
);

describe("the same request again after GATEWAY_ERROR", () => {
  const intent = (changes: Partial<Intent> = {}): Intent => ({
    book,
    key: KEY,
    endpoint: "POST /v1/payments",
    bodyDigest: Buffer.alloc(32, 1),
    requestId: "req_1",
    receivedAt: NOW,
    ...changes,
  });
  const released = (changes: Partial<Payment> = {}, operation: Partial<Operation> = {}) =>
    waiting(changes, { step: "retryable", attempt: 3, round: 1, dueAt: undefined, ...operation });

  test("goes on with the same payment: the next call has its own attempt", () => {
    const { payment, operation, start } = released();
    start.when(resumeOpening(parts, merchant, operation, intent())).then((changes, answer) => {
      const [call] = changes.updated(operations);
      expect(call).toMatchObject({ step: "calling", gatewayCode: "kawah", attempt: 4, round: 1 });
      expect(answer).toEqual({ payment, call });
    });
  });

  test("is answered at once by a local acquirer", () => {
    const { operation, start } = released();
    const answer = start.when(resumeOpening(openingParts(cendana), merchant, operation, intent())).answer;
    expect(answer).toMatchObject({ reply: { status: 201 } });
  });

  test.each([
    ["canceled", { status: "canceled" as PaymentStatus }, "PAYMENT_NOT_PAYABLE", []],
    ["paid", { status: "succeeded" as PaymentStatus }, "PAYMENT_NOT_PAYABLE", []],
    ["expired", { status: "expired" as PaymentStatus }, "PAYMENT_EXPIRED", []],
    ["over, though no sweep has found it", { expiresAt: NOW }, "PAYMENT_EXPIRED", ["payment.expired"]],
  ])("says so when the payment is %s by now, and keeps that answer", (_what, changes, code, events) => {
    const { operation, start } = released(changes);
    start.when(resumeOpening(parts, merchant, operation, intent())).then((after, answer) => {
      const body = expect.stringContaining(code) as string;
      expect(answer).toEqual({ reply: { status: 409, body } });
      expect(after.updated(openKeys)).toMatchObject([{ status: 409, response: body }]);
      expect(after.updated(operations)).toMatchObject([{ step: "done", idempotencyKey: undefined }]);
      expect(after.events).toEqual(events);
    });
  });

  test.each([
    ["another body", intent({ bodyDigest: Buffer.alloc(32, 2) }), {}],
    ["another endpoint", intent({ endpoint: "POST /v1/refunds" }), {}],
    ...operationSteps
      .filter((step) => step !== "retryable")
      .map((step) => [`an operation that is ${step}`, intent(), { step }] as const),
  ] as const)("waits for %s", (_what, asked, operation) => {
    const { operation: current, start } = released({}, operation);
    start.when(resumeOpening(parts, merchant, current, asked)).refuses("IDEMPOTENCY_IN_PROGRESS");
  });

  test("waits while its key is locked, and for a key that has its answer", () => {
    const { payment, operation, record } = released();
    const { onLocked } = resumeOpening(parts, merchant, operation, intent());
    expect(onLocked?.(openKeys.name)).toMatchObject({ code: "IDEMPOTENCY_IN_PROGRESS" });
    expect(onLocked?.(payments.name)).toBeUndefined();
    const answered = row(openKeys, { ...record, status: 201, response: "{}" });
    given({ rows: [row(payments, payment), row(operations, operation), answered] })
      .when(resumeOpening(parts, merchant, operation, intent()))
      .refuses("IDEMPOTENCY_IN_PROGRESS");
  });

  test("finds no route after thousands of attempts", () => {
    const { operation, start } = released({}, { attempt: 5_000 });
    start.when(resumeOpening(parts, merchant, operation, intent())).refuses("NO_ROUTE_AVAILABLE");
  });
});

test("any results in any order: opened at most once, captured at most once, answered once", () => {
  const results = fc.constantFrom<OpenResult>(
    known(),
    known({ status: "processing" }),
    known({ status: "failed" }),
    known(paid()),
    known(paid("t-2")),
    { kind: "refused" },
    { kind: "absent" },
    { kind: "unknown" },
  );
  fc.assert(
    fc.property(fc.array(fc.record({ result: results, stale: fc.boolean() }), { maxLength: 10 }), (steps) => {
      const { operation, start } = waiting();
      let last: Then<unknown> = start.when(nothing);
      const answers = new Set<string>();
      for (const { result, stale } of steps) {
        const [current = operation] = last.changes.updated(operations);
        const about = stale ? { ...current, attempt: current.attempt - 1 } : current;
        const concluded = last.when(concludeOpening(parts, merchant, { ...about, idempotencyKey: KEY }, result));
        last = concluded;
        const [record] = concluded.changes.updated(openKeys);
        if (record?.response !== undefined) answers.add(record.response);
      }
      const { events, journals } = last.changes;
      expect(events.filter((type) => type === "payment.created").length).toBeLessThanOrEqual(1);
      expect(journals.filter(({ kind }) => kind === "capture").length).toBeLessThanOrEqual(1);
      expect(answers.size).toBeLessThanOrEqual(1);
    }),
    { numRuns: 300 },
  );
});
