// Goal: a refund is carried out once, its funds come back only when it certainly was not, and what cannot be is recorded for a person.
// Method: the pure command over each result in each state; any results in any order by property.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { anOperation, callParts, closing, movableClock, openingParts } from "../../test/acquiring.ts";
import { NOW, type Then, book, given, merchantWith, row } from "../../test/given.ts";
import { aPayment } from "../../test/payments.ts";
import { aRefund, nothing, owning } from "../../test/refunds.ts";
import { type Behaviour, scriptedAcquirer } from "../../test/scripted-acquirer.ts";
import { SECOND } from "../ground/clock.ts";
import { uuidOf } from "../ground/ids.ts";
import { payments } from "../payments/payments.sql.ts";
import type { Refund } from "../refunds/refund.ts";
import { refunds } from "../refunds/refunds.sql.ts";
import { exceptions } from "./exceptions.sql.ts";
import { inquireSoon } from "./notifications.ts";
import { type Operation, operationKey } from "./operation.ts";
import { operations } from "./operations.sql.ts";
import type { AcquiringParts } from "./payment-operations.ts";
import { type RefundResult, callOrInquire, concludeRefund, inquireOtherAttempt } from "./refund-operations.ts";

const merchant = merchantWith();
const succeeded: RefundResult = { kind: "known", status: "succeeded" };
const failed: RefundResult = { kind: "known", status: "failed" };
const pending: RefundResult = { kind: "known", status: "pending" };

/** A refund of 100,000 that is being called for. */
function calling(operation: Partial<Operation> = {}, refund: Partial<Refund> = {}) {
  const status = refund.status ?? "pending";
  const payment = aPayment({
    status: status === "succeeded" ? "partially_refunded" : "succeeded",
    gatewayCode: "kawah",
    refundedMinor: status === "succeeded" ? 100_000n : 0n,
    refundPendingMinor: status === "pending" ? 100_000n : 0n,
  });
  const one = aRefund(payment, refund);
  const current = anOperation(one.uuid, { kind: "refund", paymentReference: payment.reference, ...operation });
  const start = given({
    rows: [row(payments, payment), row(refunds, one), row(operations, current)],
    balances: owning({ available: 893_000n }),
  });
  return { operation: current, refund: one, start };
}

/** A refund at `kawah`, which made it or not under the first attempt; and the names of the commands that were run. */
function asking(made: boolean, status: Refund["status"] = "pending") {
  const kawah = scriptedAcquirer("kawah");
  const { operation, refund } = calling({ attempt: 3 }, { status });
  const ids = { merchant_id: uuidOf(book.merchantId), environment: book.environment };
  const stored: Record<string, unknown> = {
    ...ids,
    refund_id: uuidOf(refund.uuid),
    payment_id: uuidOf(refund.paymentReference),
    status,
    payment_method: "qris",
  };
  const rowOf = new Proxy(stored, { get: (columns, name) => columns[name as string] ?? null });
  const run: string[] = [];
  const parts = {
    ...openingParts(kawah),
    ...callParts(movableClock()),
    directory: { merchant: async () => merchant },
    database: { query: async ({ name }: { name: string }) => (name === "select acquirer operation" ? [] : [rowOf]) },
    lanes: { move: async (_merchantId: string, { name }: { name: string }) => void run.push(name) },
  } as unknown as AcquiringParts;
  const request = {
    operationKey: operationKey({ ...operation, attempt: 1 }),
    paymentOperationKey: "p",
    paymentProviderIds: undefined,
    paymentAmountMinor: 1n,
    method: "qris" as const,
    providerIds: undefined,
    amountMinor: 1n,
    currency: "IDR",
    callbackUrl: "https://gateway.test/kawah",
    isOver: false,
  };
  const begin = async (): Promise<void> => {
    if (made) await kawah.calls?.refund(request, AbortSignal.timeout(1_000), () => undefined);
  };
  return { kawah, parts, run, request, begin, operation: { ...operation, attempt: 1 } };
}

test.each<[Behaviour, string]>([
  ["ok", "known"],
  ["refuse", "refused"],
  ["down", "unreached"],
])("a call that goes %s is %s", async (behaviour, kind) => {
  const { kawah, parts, request, operation } = asking(false);
  kawah.script = [behaviour];
  expect(await callOrInquire(parts, operation, request)).toMatchObject({ kind });
});

test.each([
  ["what was made", true, true, { kind: "known", status: "succeeded" }],
  ["what was not", false, true, { kind: "absent" }],
  ["what nobody answers about", true, false, { kind: "unknown" }],
])("an inquiry finds %s", async (_what, made, answers, found) => {
  const { kawah, parts, request, begin, operation } = asking(made);
  await begin();
  kawah.answersQuestions = answers;
  expect(await callOrInquire(parts, { ...operation, step: "inquiring" }, request)).toMatchObject(found);
});

describe("another attempt than the present one, which its acquirer reports", () => {
  test.each([
    ["was made: it is concluded", true, ["conclude refund"]],
    ["was not: that says nothing, since the worker may be about to order it", false, []],
  ])("%s", async (_what, made, commands) => {
    for (const status of ["pending", "succeeded", "failed"] as const) {
      const { kawah, parts, run, begin, operation } = asking(made, status);
      await begin();
      await inquireOtherAttempt(parts, operation);
      expect([run, kawah.asked]).toEqual([commands, [operationKey(operation)]]);
    }
  });

  test("is to be reported again when nobody answers", async () => {
    const { kawah, parts, run, operation } = asking(true);
    kawah.answersQuestions = false;
    await expect(inquireOtherAttempt(parts, operation)).rejects.toMatchObject({ code: "SERVICE_UNAVAILABLE" });
    expect(run).toEqual([]);
  });

  test("is not ordered by the inquiry, though its acquirer orders what is missing", async () => {
    const { kawah, parts, operation } = asking(false);
    kawah.ordersMissing = true;
    await inquireOtherAttempt(parts, operation);
    expect(kawah.refunds).toEqual([]);
  });
});

describe("each result of a call", () => {
  test.each([
    ["succeeded", succeeded, "refund.succeeded", []],
    ["failed", failed, "refund.failed", ["refund_returned"]],
  ] as const)("%s completes the refund", (status, result, event, journals) => {
    const { operation, start } = calling();
    start.when(concludeRefund(merchant, operation, result)).then((changes, exception) => {
      expect(exception).toBeUndefined();
      expect(changes.updated(refunds)).toMatchObject([{ status, completedAt: NOW }]);
      expect(changes.updated(operations)).toMatchObject([{ step: "done", dueAt: undefined }]);
      expect(changes.journals.map(({ kind }) => kind)).toEqual(journals);
      expect(changes.events).toEqual([event]);
    });
  });

  test.each([
    ["pending: a worker inquires", pending, "polling", 1, 0],
    ["unknown: a worker inquires", { kind: "unknown" }, "inquiring", 1, 0],
    ["unreached: called again, under another attempt", { kind: "unreached" }, "planned", 2, 0],
    ["absent: called again, under another attempt", { kind: "absent" }, "planned", 2, 0],
    ["refused: called again, and counted", { kind: "refused" }, "planned", 2, 1],
  ] as const)("%s", (_what, result, step, attempt, round) => {
    const { operation, start } = calling({ inquiries: 3 });
    start.when(concludeRefund(merchant, operation, result)).then((changes) => {
      expect(changes.updated(operations)).toMatchObject([
        { step, attempt, round, inquiries: 4, dueAt: NOW + 8 * SECOND },
      ]);
      expect([changes.updated(refunds), changes.journals, changes.events]).toEqual([[], [], []]);
    });
  });

  test.each([
    ["the sixth refusal", { round: 5 }, { kind: "refused" }, true],
    ["the fifth refusal", { round: 4 }, { kind: "refused" }, false],
    ["the thousandth time it was not reached", { attempt: 1_000 }, { kind: "unreached" }, true],
    ["the thousandth time it knew of nothing", { attempt: 1_000 }, { kind: "absent" }, true],
    ["the first refusal, of the thousandth attempt", { attempt: 1_000 }, { kind: "refused" }, true],
    ["the time before", { attempt: 999 }, { kind: "unreached" }, false],
    ["the thousandth attempt, which it has taken on", { attempt: 1_000 }, pending, false],
    ["the thousandth unknown outcome: it may have been done", { attempt: 1_000 }, { kind: "unknown" }, false],
    ["the sixth unknown outcome after refusals", { round: 5 }, { kind: "unknown" }, false],
  ] as const)("%s", (_what, operation, result, givesUp) => {
    const { operation: current, start } = calling(operation);
    const concluded = start.when(concludeRefund(merchant, current, result));
    expect(concluded.changes.events).toEqual(givesUp ? ["refund.failed"] : []);
    expect(concluded.changes.journals.map(({ kind }) => kind)).toEqual(givesUp ? ["refund_returned"] : []);
    expect(concluded.changes.updated(operations)).toMatchObject([
      { step: givesUp ? "done" : expect.not.stringMatching("done") },
    ]);
  });
});

test("the ids that the acquirer gave a refund are kept beside earlier ones, and go with a call that was not carried out", () => {
  const after = (result: RefundResult) => {
    const { operation, start } = calling({ providerIds: { order: "o-1" } });
    return start.when(concludeRefund(merchant, operation, result)).changes.updated(operations)[0]?.providerIds;
  };
  expect(after({ ...pending, providerIds: { refund: "r-1" } })).toEqual({
    order: "o-1",
    refund: "r-1",
  });
  expect(after({ ...succeeded, providerIds: { refund: "r-1" } })).toEqual({
    order: "o-1",
    refund: "r-1",
  });
  expect(after({ kind: "unknown" })).toEqual({ order: "o-1" });
  expect(after({ kind: "refused" })).toBeUndefined();
});

describe("late and double results", () => {
  test("a success of an earlier attempt completes the refund: the payer must not get it twice", () => {
    const { operation, start } = calling({ attempt: 3, step: "planned" });
    start.when(concludeRefund(merchant, { ...operation, attempt: 1 }, succeeded)).then((changes) => {
      expect(changes.updated(refunds)).toMatchObject([{ status: "succeeded" }]);
      expect(changes.updated(operations)).toMatchObject([{ step: "done", attempt: 1 }]);
    });
  });

  test.each([failed, { kind: "refused" }, { kind: "absent" }, { kind: "unreached" }, { kind: "unknown" }] as const)(
    "anything else of an earlier attempt changes nothing: %j",
    (result) => {
      const { operation, start } = calling({ attempt: 3 });
      expect(start.when(concludeRefund(merchant, { ...operation, attempt: 2 }, result)).changes.isNothing).toBe(true);
    },
  );

  test("what another order has made takes that order's ids along, and tells of the present one, which may be made too", () => {
    for (const step of ["calling", "inquiring", "polling"] as const) {
      const { operation, start } = calling({ attempt: 3, step, providerIds: { refund: "r-3" } });
      const other: RefundResult = { kind: "known", status: "succeeded", providerIds: { refund: "r-1" } };
      const { answer, changes } = start.when(concludeRefund(merchant, { ...operation, attempt: 1 }, other));
      expect(answer).toBe("refund_twice");
      expect(changes.updated(refunds)).toMatchObject([{ status: "succeeded" }]);
      expect(changes.updated(operations)).toMatchObject([
        { step: "done", attempt: 1, providerIds: { refund: "r-1" }, dueAt: undefined },
      ]);
    }
  });

  test.each([
    ["planned", "pending", undefined],
    ["calling", "pending", "refund_twice"],
    ["inquiring", "pending", "refund_twice"],
    ["done", "succeeded", "refund_twice"],
    ["inquiring", "succeeded", "refund_twice"],
    ["done", "failed", "refund_after_failure"],
  ] as const)(
    "another order that was taken on, while the present one is %s and the refund %s: %s",
    (step, status, kind) => {
      const ended = status === "pending" ? {} : { completedAt: NOW };
      const { operation, start } = calling({ attempt: 4, step }, { status, ...ended });
      const other: RefundResult = { kind: "known", status: "pending", providerIds: { refund: "r-2" } };
      const { answer, changes } = start.when(concludeRefund(merchant, { ...operation, attempt: 2 }, other));
      expect(answer).toBe(kind);
      expect(changes.updated(refunds)).toEqual([]);
      // Nothing else is ordered while that one may be made.
      const followed = {
        step: "polling",
        attempt: 2,
        inquiries: 0,
        dueAt: NOW + SECOND,
        providerIds: { refund: "r-2" },
      };
      expect(changes.updated(operations)).toMatchObject(kind === undefined ? [followed] : []);
    },
  );

  const asked = { step: "inquiring", dueAt: NOW + 60 * SECOND, inquiries: 0 } as const;
  const called = { ...asked, step: "calling" } as const;
  test.each<[string, Partial<Operation>, Partial<Operation>]>([
    ["a call, while another worker inquires", called, asked],
    ["a call, after another worker has ordered it again", called, { step: "polling", inquiries: 1 }],
    ["a call, when a report came during it", called, { ...called, inquiries: 1 }],
    ["an inquiry, when a report asks for another one", asked, { ...asked, dueAt: NOW }],
    ["an inquiry, while another worker inquires", asked, { ...asked, dueAt: NOW + 90 * SECOND }],
  ])("a no of %s, orders nothing under another key", (_what, begun, since) => {
    for (const kind of ["refused", "absent", "unreached"] as const) {
      const { operation, start } = calling({ attempt: 1_000, round: 5, ...since });
      const { changes } = start.when(concludeRefund(merchant, { ...operation, ...begun }, { kind }));
      expect(changes.updated(operations)).toMatchObject([{ step: "inquiring", attempt: 1_000, round: 5 }]);
      expect([changes.updated(refunds), changes.journals]).toEqual([[], []]);
    }
  });

  test("that the acquirer has taken it on counts, however late that comes", () => {
    const { operation, start } = calling({ ...asked, inquiries: 1 });
    const { changes } = start.when(concludeRefund(merchant, { ...operation, ...called }, pending));
    expect(changes.updated(operations)).toMatchObject([{ step: "polling", attempt: 1 }]);
  });

  test("an inquiry about a refund that has ended, after six refusals, is repeated for a while when nobody answers", () => {
    const about = (inquiries: number) => {
      const begun = { step: "inquiring", inquiries, round: 6 } as const;
      const { operation, start } = calling(begun, { status: "failed", completedAt: NOW });
      const { changes } = start.when(concludeRefund(merchant, operation, { kind: "unknown" }));
      expect([changes.updated(refunds), changes.journals]).toEqual([[], []]);
      return changes.updated(operations);
    };
    expect(about(0)).toMatchObject([{ step: "inquiring", inquiries: 1, dueAt: NOW + SECOND }]);
    expect(about(9)).toMatchObject([{ step: "inquiring", inquiries: 10 }]);
    expect(about(10)).toMatchObject([{ step: "done", dueAt: undefined }]);
  });

  test.each([succeeded, pending, { kind: "absent" }] as const)("again for the attempt that did it: %j", (result) => {
    const { operation, start } = calling({ step: "done", dueAt: undefined }, { status: "succeeded", completedAt: NOW });
    const concluded = start.when(concludeRefund(merchant, operation, result));
    expect([concluded.answer, concluded.changes.isNothing]).toEqual([undefined, true]);
  });

  test("a refund that somebody else completed ends its operation", () => {
    const { operation, start } = calling({}, { status: "failed", completedAt: NOW });
    const concluded = start.when(concludeRefund(merchant, operation, pending));
    expect(concluded.changes.updated(operations)).toMatchObject([{ step: "done" }]);
    expect(concluded.changes.events).toEqual([]);
  });

  test("one that is not there is not found", () => {
    const { operation } = calling();
    given()
      .when(concludeRefund(merchant, operation, succeeded))
      .refuses("REFUND_NOT_FOUND");
  });
});

describe("a hint of the acquirer", () => {
  const at = (attempt: number, operation: Operation) =>
    inquireSoon(merchant, { book, id: operation.id, kind: "refund", attempt }, undefined);

  test.each([
    ["at a call under way makes an inquiry follow it", "calling", 2, 2, { step: "calling", attempt: 2, inquiries: 1 }],
    ["at what is inquired about makes it due", "polling", 2, 2, { step: "inquiring", attempt: 2, dueAt: NOW }],
    ["at one that is done, too", "done", 2, 2, { step: "inquiring", attempt: 2, dueAt: NOW }],
    [
      "at the call that was given up, before the next is made",
      "planned",
      3,
      2,
      { step: "inquiring", attempt: 2, dueAt: NOW },
    ],
    ["at a call before the last one, when the next is planned", "planned", 3, 1, undefined],
    ["at a call that was given up, while the next is made", "calling", 3, 1, undefined],
    ["at another call than the one that did it", "done", 1, 2, undefined],
    ["at a call that is only planned", "planned", 3, 3, undefined],
  ] as const)("%s", (_what, step, present, attempt, expected) => {
    const { operation, start } = calling({ step, attempt: present, providerIds: { refund: "r-1" } });
    start.when(at(attempt, operation)).then((changes, isPlanned) => {
      expect(isPlanned).toBe(expected !== undefined);
      expect(changes.updated(operations)).toMatchObject(expected ? [expected] : []);
      const [changed] = changes.updated(operations);
      // The acquirer's ids are those of the present call.
      if (changed) expect(changed.providerIds).toEqual(attempt === present ? { refund: "r-1" } : undefined);
    });
  });
});

describe("reconciliation exceptions", () => {
  test.each([
    ["refund_twice", "succeeded", 2],
    ["refund_after_failure", "failed", 1],
    ["refund_after_failure", "failed", 2],
  ] as const)("%s: a refund that %s, and then a success of attempt %s", (kind, status, attempt) => {
    const { operation, start } = calling({ step: "done", dueAt: undefined }, { status, completedAt: NOW });
    const late = concludeRefund(merchant, { ...operation, attempt }, succeeded);
    const first = start.when(late);
    const twice = first.when(late);
    expect([first.answer, twice.answer]).toEqual([kind, undefined]);
    expect(twice.changes.inserted(exceptions)).toMatchObject([{ kind, attempt, operationId: operation.id }]);
    expect([twice.changes.updated(refunds), twice.changes.updated(operations), twice.changes.journals]).toEqual([
      [],
      [],
      [],
    ]);
  });

  test("of one that was hinted at, too: nobody inquires further", () => {
    const { operation, start } = calling({ step: "inquiring" }, { status: "failed", completedAt: NOW });
    const { answer, changes } = start.when(concludeRefund(merchant, operation, succeeded));
    expect(answer).toBe("refund_after_failure");
    expect(changes.updated(operations)).toMatchObject([{ step: "done", dueAt: undefined }]);
  });

  test("refund_undone: a refund that succeeded, and then fails where it was carried out", () => {
    const { operation, start } = calling({ step: "done", dueAt: undefined }, { status: "succeeded", completedAt: NOW });
    const undone = concludeRefund(merchant, operation, { kind: "known", status: "failed" });
    const first = start.when(undone);
    const { answer, changes } = first.when(undone);
    expect([first.answer, answer]).toEqual(["refund_undone", undefined]);
    expect(changes.inserted(exceptions)).toMatchObject([{ kind: "refund_undone", operationId: operation.id }]);
    expect([changes.updated(refunds), changes.updated(operations), changes.journals]).toEqual([[], [], []]);
    // Another attempt's failure says nothing of the one that succeeded.
    const other = concludeRefund(merchant, { ...operation, attempt: 2 }, { kind: "known", status: "failed" });
    expect(start.when(other).answer).toBeUndefined();
  });

  test("one is closed once, with a note", () => {
    const { operation, start } = calling({ step: "done", dueAt: undefined }, { status: "failed", completedAt: NOW });
    const key = { book, operationId: operation.id, attempt: 1, kind: "refund_after_failure" } as const;
    const close = closing(key, "asked for it back");
    start.when(close).refuses("OBJECT_NOT_FOUND");
    const closed = start.when(concludeRefund(merchant, operation, succeeded)).when(close);
    expect(closed.answer).toMatchObject({ closedAt: NOW, note: "asked for it back" });
    expect(closed.when(close).outcome).toMatchObject({ fault: { code: "OBJECT_NOT_FOUND" } });
  });
});

test("any results of any attempts: completed once, given back at most once, and never after a success", () => {
  const result = fc.constantFrom<RefundResult>(
    succeeded,
    failed,
    pending,
    { kind: "refused" },
    { kind: "absent" },
    { kind: "unreached" },
    { kind: "unknown" },
  );
  fc.assert(
    fc.property(fc.array(fc.record({ result, back: fc.nat({ max: 2 }) }), { maxLength: 15 }), (steps) => {
      const { operation, start } = calling();
      let last: Then<unknown> = start.when(nothing);
      const successes = new Set<number>();
      const taken = new Set<number>();
      let completedBy: number | undefined;
      let isUndone = false;
      for (const { result: one, back } of steps) {
        const [current = operation] = last.changes.updated(operations);
        const attempt = Math.max(1, current.attempt - back);
        if (one.kind === "known" && one.status === "failed" && attempt === completedBy) isUndone = true;
        if (one.kind === "known" && one.status === "succeeded") successes.add(attempt);
        if (one.kind === "known" && one.status !== "failed") taken.add(attempt);
        last = last.when(concludeRefund(merchant, { ...current, attempt }, one));
        if (completedBy === undefined && last.changes.events[0] === "refund.succeeded") completedBy = attempt;
      }
      const { events, journals } = last.changes;
      expect(events.length).toBeLessThanOrEqual(1);
      expect(journals.length).toBe(events[0] === "refund.failed" ? 1 : 0);
      // Each success beyond the one that completed the refund is an exception, and so is its failure afterwards.
      const told = last.changes.inserted(exceptions);
      const beyond = [...successes].filter((attempt) => attempt !== completedBy);
      for (const attempt of beyond) expect(told.map((one) => one.attempt)).toContain(attempt);
      expect(told.some(({ kind }) => kind === "refund_undone")).toBe(isUndone);
      // Whatever is told of stands for an order that the acquirer has taken on.
      for (const { kind, attempt } of told) expect(kind === "refund_undone" || taken.has(attempt)).toBe(true);
    }),
    { numRuns: 300 },
  );
});
