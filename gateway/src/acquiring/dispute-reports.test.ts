// Goal: a dispute that begins at an acquirer is here what it is there, once, whatever order its reports come in. Method: the pure command
// over payments and disputes in every state.
import { describe, expect, test } from "vitest";
import { anOperation } from "../../test/acquiring.ts";
import { NOW, book, given, merchantWith, row } from "../../test/given.ts";
import { aPayment } from "../../test/payments.ts";
import { aDispute, owning } from "../../test/refunds.ts";
import type { ReportedDispute } from "../acquirers/acquirer.ts";
import { disputes } from "../disputes/disputes.sql.ts";
import { MINUTE, SECOND } from "../ground/clock.ts";
import { newId } from "../ground/ids.ts";
import { payments } from "../payments/payments.sql.ts";
import type { Payment } from "../payments/payment.ts";
import { paymentStatuses } from "../payments/states.ts";
import { disputeReport } from "./dispute-reports.ts";
import { type DisputeLink, acquirerDisputes } from "./dispute-reports.sql.ts";
import type { ReconciliationException } from "./exception.ts";
import { exceptions } from "./exceptions.sql.ts";
import { operations } from "./operations.sql.ts";

const merchant = merchantWith();
const paid = aPayment({ status: "succeeded", gatewayCode: "kawah" });
const told = (changes: Partial<ReportedDispute> = {}): ReportedDispute => ({
  id: "dp_1",
  status: "open",
  amountMinor: 400_000n,
  currency: "IDR",
  reason: "fraudulent",
  respondBy: NOW + 5 * 86_400 * SECOND,
  ...changes,
});

const start = (rows: ReturnType<typeof row>[]) => given({ rows, balances: owning({ available: 600_000n, held: 0n }) });

/** What a report about this payment does; `link` and what stands beside it are there already. */
function report(
  payment: Payment,
  dispute: ReportedDispute,
  known?: { link: DisputeLink; rows: ReturnType<typeof row>[] },
) {
  const operation = anOperation(payment.reference, { step: "done" });
  const rows = [row(payments, payment), row(operations, operation), ...(known?.rows ?? [])];
  const held = known ? 400_000n : 0n;
  const command = disputeReport(merchant, operation, {
    gatewayCode: "kawah",
    dispute,
    link: known?.link,
    exchanged: undefined,
  });
  return given({ rows, balances: owning({ available: 600_000n, held }) }).when(command);
}

/** A dispute that was reported before and stands so. */
function reported(status: "needs_response" | "under_review" | "won" | "lost" | "withdrawn") {
  const payment: Payment = { ...paid, disputeStatus: status };
  const dispute = aDispute(payment, { status, amountMinor: 400_000n });
  const link: DisputeLink = {
    book,
    gatewayCode: "kawah",
    acquirerDisputeId: "dp_1",
    disputeId: dispute.uuid,
    paymentReference: payment.reference,
    evidenceDueAt: NOW,
    evidenceEndedAt: undefined,
    evidenceTries: 0,
  };
  return { payment, known: { link, rows: [row(disputes, dispute), row(acquirerDisputes, link)] } };
}

describe("the first report", () => {
  test("opens it here: the amount is held, the merchant has until the acquirer's moment, and the names are linked", () => {
    report(paid, told()).then((changes, exception) => {
      expect(exception).toBeUndefined();
      const [opened] = changes.inserted(disputes);
      expect(opened).toMatchObject({
        status: "needs_response",
        amountMinor: 400_000n,
        reason: "fraudulent",
        evidenceDueAt: NOW + 5 * 86_400 * SECOND,
      });
      expect(changes.inserted(acquirerDisputes)).toMatchObject([
        { gatewayCode: "kawah", acquirerDisputeId: "dp_1", disputeId: opened?.uuid, evidenceEndedAt: undefined },
      ]);
      expect(changes.journals).toEqual([
        { kind: "dispute_opened", entries: { "merchant:available IDR": 400_000n, "merchant:held IDR": -400_000n } },
      ]);
      expect(changes.events).toEqual(["dispute.opened"]);
    });
  });

  test.each([
    [NOW * 1_000, NOW + 366 * 86_400 * SECOND],
    [-NOW * 1_000, NOW - 366 * 86_400 * SECOND],
  ])("with the absurd deadline %i has one of %i", (respondBy, evidenceDueAt) => {
    report(paid, told({ respondBy })).then((changes) => {
      expect(changes.inserted(disputes)).toMatchObject([{ evidenceDueAt }]);
    });
  });

  test.each(["won", "lost", "withdrawn"] as const)("may be its end, %s: it is opened and decided", (status) => {
    report(paid, told({ status })).then((changes, exception) => {
      expect(exception).toBeUndefined();
      expect(changes.inserted(disputes)).toMatchObject([{ status }]);
      expect(changes.journals.map(({ kind }) => kind)).toEqual(["dispute_opened", `dispute_${status}`]);
      expect(changes.events).toEqual(["dispute.opened", "dispute.resolved"]);
    });
  });

  test("may say that it was answered there already: no evidence is awaited here", () => {
    report(paid, told({ status: "under_review", respondBy: NOW - SECOND })).then((changes, exception) => {
      expect(exception).toBeUndefined();
      const [opened] = changes.inserted(disputes);
      expect(opened?.status).toBe("under_review");
      expect(changes.inserted(acquirerDisputes)).toMatchObject([{ evidenceEndedAt: NOW }]);
      expect(changes.journals.map(({ kind }) => kind)).toEqual(["dispute_opened"]);
      expect(changes.events).toEqual(["dispute.opened", "dispute.updated"]);
    });
  });

  test("may be of the smallest amount there is", () => {
    report(paid, told({ amountMinor: 1n })).then((changes) => {
      expect(changes.inserted(disputes)).toMatchObject([{ amountMinor: 1n }]);
    });
  });

  test("locks no dispute: there is none to lock", () => {
    const operation = anOperation(paid.reference, { step: "done" });
    const first = { gatewayCode: "kawah", dispute: told(), link: undefined, exchanged: undefined };
    const needed = disputeReport(merchant, operation, first).needs.map(({ table }) => table.name);
    expect(needed).toContain(payments.name);
    expect(needed).not.toContain(disputes.name);
  });

  test.each<[string, Payment, Partial<ReportedDispute>]>([
    ["another currency", paid, { currency: "USD" }],
    ["more than was paid", paid, { amountMinor: paid.amountMinor + 1n }],
    ["nothing that is left", { ...paid, refundPendingMinor: paid.amountMinor }, {}],
    ["what was decided there, and is appealed", paid, { status: "appealed" }],
    ["nothing", paid, { amountMinor: 0n }],
    ["a payment whose dispute runs already", { ...paid, disputeStatus: "needs_response" }, {}],
    ["a payment that lost one", { ...paid, disputeStatus: "lost" }, {}],
    ...paymentStatuses
      .filter((status) => status !== "succeeded" && status !== "partially_refunded")
      .map((status): [string, Payment, Partial<ReportedDispute>] => [`a ${status} payment`, { ...paid, status }, {}]),
  ])("of %s moves nothing, and waits for a person", (_what, payment, changes) => {
    report(payment, told(changes)).then((done, exception) => {
      expect(exception).toBe("dispute");
      expect(done.inserted(exceptions)).toMatchObject([{ kind: "dispute", gatewayCode: "kawah" }]);
      expect([done.journals, done.events, done.inserted(disputes)]).toEqual([[], [], []]);
    });
  });
});

test.each(["open", "lost"] as const)(
  "of more than is left, a first report that is %s holds what is left, and a person is told",
  (status) => {
    const partly: Payment = { ...paid, status: "partially_refunded", refundedMinor: 50_000n };
    report(partly, told({ status, amountMinor: partly.amountMinor })).then((changes, exception) => {
      expect(exception).toBe("dispute");
      expect(changes.inserted(exceptions)).toMatchObject([{ kind: "dispute", gatewayCode: "kawah" }]);
      const amountMinor = partly.amountMinor - 50_000n;
      expect(changes.inserted(disputes)).toMatchObject([{ amountMinor }]);
      expect(changes.journals.map(({ kind }) => kind)).toEqual(
        status === "open" ? ["dispute_opened"] : ["dispute_opened", "dispute_lost"],
      );
    });
  },
);

describe("a later report", () => {
  test("of more than is held decides what is held, and a person is told", () => {
    const { payment, known } = reported("needs_response");
    report(payment, told({ status: "lost", amountMinor: 400_001n }), known).then((changes, exception) => {
      expect(exception).toBe("dispute");
      expect(changes.updated(disputes)).toMatchObject([{ status: "lost", amountMinor: 400_000n }]);
      expect(changes.journals.map(({ kind }) => kind)).toEqual(["dispute_lost"]);
    });
  });

  test.each(["won", "lost", "needs_response"] as const)(
    "of an appeal reaches a person where it is %s here, and moves nothing",
    (before) => {
      const { payment, known } = reported(before);
      report(payment, told({ status: "appealed" }), known).then((changes, exception) => {
        expect(exception).toBe("dispute");
        expect([changes.journals, changes.updated(disputes), changes.events]).toEqual([[], [], []]);
      });
    },
  );

  test.each(["needs_response", "under_review"] as const)("of a dispute that is %s decides it once", (before) => {
    for (const status of ["won", "lost", "withdrawn"] as const) {
      const { payment, known } = reported(before);
      report(payment, told({ status }), known).then((changes, exception) => {
        expect(exception).toBeUndefined();
        expect(changes.updated(disputes)).toMatchObject([{ status }]);
        expect(changes.journals.map(({ kind }) => kind)).toEqual([`dispute_${status}`]);
      });
    }
  });

  test.each(["won", "withdrawn"] as const)("of more than is held that is %s ends it, and nobody is told", (status) => {
    const { payment, known } = reported("needs_response");
    report(payment, told({ status, amountMinor: 400_001n }), known).then((changes, exception) => {
      expect([exception, changes.journals.map(({ kind }) => kind)]).toEqual([undefined, [`dispute_${status}`]]);
    });
    const partly: Payment = { ...paid, status: "partially_refunded", refundedMinor: 50_000n };
    report(partly, told({ status, amountMinor: partly.amountMinor })).then((changes, exception) => {
      expect([exception, changes.inserted(exceptions)]).toEqual([undefined, []]);
    });
  });

  test("that it was answered at the acquirer ends our time for evidence, and none is submitted from here", () => {
    const { payment, known } = reported("needs_response");
    report(payment, told({ status: "under_review" }), known).then((changes, exception) => {
      expect(exception).toBeUndefined();
      expect(changes.updated(disputes)).toMatchObject([{ status: "under_review" }]);
      expect(changes.updated(acquirerDisputes)).toMatchObject([{ evidenceEndedAt: NOW }]);
      expect(changes.updated(payments)).toMatchObject([{ disputeStatus: "under_review" }]);
      expect([changes.journals, changes.events]).toEqual([[], ["dispute.updated"]]);
    });
  });

  test("may give more time for evidence, and never less", () => {
    const { payment, known } = reported("needs_response");
    const later = NOW + 20 * 86_400 * SECOND;
    report(payment, told({ respondBy: later }), known).then((changes) => {
      expect(changes.updated(disputes)).toMatchObject([{ status: "needs_response", evidenceDueAt: later }]);
      expect(changes.events).toEqual(["dispute.updated"]);
    });
    const due = NOW + 1_000 * SECOND;
    // Clocks differ: less than a minute more is the same moment.
    report(payment, told({ respondBy: due + MINUTE + 1 }), known).then((changes) => {
      expect(changes.updated(disputes)).toMatchObject([{ evidenceDueAt: due + MINUTE + 1 }]);
    });
    for (const respondBy of [due + MINUTE, due, due - SECOND, NOW, NOW - 5 * 86_400 * SECOND, undefined])
      report(payment, told({ respondBy }), known).then((changes) => {
        expect([changes.updated(disputes), changes.events]).toEqual([[], []]);
      });
  });

  test("that says again what is known changes nothing", () => {
    const running = reported("under_review");
    const ended = reported("lost");
    for (const result of [
      report(running.payment, told(), running.known),
      report(running.payment, told({ respondBy: NOW + 20 * 86_400 * SECOND }), running.known),
      report(running.payment, told({ status: "under_review" }), running.known),
      report(ended.payment, told({ status: "under_review" }), ended.known),
      report(ended.payment, told({ status: "lost" }), ended.known),
      // The report of its beginning came late.
      report(ended.payment, told(), ended.known),
    ])
      result.then((changes, exception) => {
        expect([exception, changes.journals, changes.updated(disputes)]).toEqual([undefined, [], []]);
      });
  });

  test.each([
    ["won", "lost"],
    ["lost", "won"],
  ] as const)("that a dispute which ended as %s is %s moves nothing, and waits for a person", (before, status) => {
    const { payment, known } = reported(before);
    report(payment, told({ status }), known).then((changes, exception) => {
      expect(exception).toBe("dispute");
      expect([changes.journals, changes.updated(disputes)]).toEqual([[], []]);
    });
  });

  test.each<[string, Partial<ReportedDispute>]>([
    ["decides it for less", { status: "lost", amountMinor: 150_000n }],
    ["decides it in another currency", { status: "won", currency: "USD" }],
  ])("that %s moves nothing, and waits for a person", (_, changes) => {
    const { payment, known } = reported("needs_response");
    report(payment, told(changes), known).then((after, exception) => {
      expect(exception).toBe("dispute");
      expect([after.journals, after.updated(disputes)]).toEqual([[], []]);
    });
  });

  test("that meets the first one at work is to come again", () => {
    const { payment, known } = reported("needs_response");
    const operation = anOperation(payment.reference, { step: "done" });
    given({ rows: [row(payments, payment), row(operations, operation), row(acquirerDisputes, known.link)] })
      .when(
        disputeReport(merchant, operation, {
          gatewayCode: "kawah",
          dispute: told(),
          link: undefined,
          exchanged: undefined,
        }),
      )
      .refuses("SERVICE_UNAVAILABLE");
  });
});

describe("a report that does not fit", () => {
  const lawu: Payment = { ...paid, gatewayCode: "lawu" };

  test("is one of an acquirer that did not take the payment: it takes no money, and names who said it", () => {
    report(lawu, told({ status: "lost" })).then((changes, exception) => {
      expect([exception, changes.journals, changes.inserted(disputes)]).toEqual(["dispute", [], []]);
      expect(changes.inserted(exceptions)).toMatchObject([{ kind: "dispute", gatewayCode: "kawah" }]);
    });
  });

  test("is one under the identity of another payment's dispute: it decides neither", () => {
    const { payment, known } = reported("needs_response");
    const other = aPayment({ ...paid, reference: newId("payment", NOW) });
    const rows = [...known.rows, row(payments, payment)];
    for (const status of ["open", "under_review", "won", "lost"] as const) {
      report(other, told({ status }), { ...known, rows }).then((changes, exception) => {
        expect([exception, changes.journals, changes.updated(disputes)]).toEqual(["dispute", [], []]);
        expect(changes.inserted(exceptions)).toMatchObject([{ operationId: other.reference }]);
      });
    }
  });

  test.each([
    ["open still", undefined, []],
    ["closed", NOW, []],
    ["closed, of the same report", NOW, ["dp_1 open 400000 IDR"]],
  ] as const)("reaches a person, also where the exception before it is %s", (_, closedAt, occasions) => {
    const operation = anOperation(lawu.reference, { step: "done" });
    const before: ReconciliationException = {
      book,
      uuid: newId("exception", NOW),
      operationId: operation.id,
      operationKind: "payment",
      attempt: operation.attempt,
      kind: "dispute",
      gatewayCode: "kawah",
      noticedAt: NOW,
      occasions,
      closedAt,
      note: closedAt === undefined ? undefined : "looked up there",
    };
    const given = { gatewayCode: "kawah", dispute: told(), link: undefined, exchanged: undefined };
    start([row(payments, lawu), row(operations, operation), row(exceptions, before)])
      .when(disputeReport(merchant, operation, given))
      .then((changes) => {
        expect(changes.inserted(exceptions)).toEqual([]);
        const open = { uuid: before.uuid, closedAt: undefined, note: undefined, occasions: ["dp_1 open 400000 IDR"] };
        expect(changes.updated(exceptions)).toMatchObject([open]);
      });
  });
});
