// Goal: evidence that does not arrive is tried on, and a person hears of it while there is time. Method: the pure command by a table.
import { expect, test } from "vitest";
import { anOperation } from "../../test/acquiring.ts";
import { NOW, book, given, merchantWith, row } from "../../test/given.ts";
import { aPayment } from "../../test/payments.ts";
import { newId } from "../ground/ids.ts";
import { type DisputeLink, acquirerDisputes } from "./dispute-reports.sql.ts";
import { type SubmissionOutcome, concludeSubmission } from "./evidence-submission.ts";
import type { ReconciliationException } from "./exception.ts";
import { exceptions } from "./exceptions.sql.ts";
import { operations } from "./operations.sql.ts";

test.each<[SubmissionOutcome, number, { ends: boolean; tells: boolean }]>([
  ["taken", 1, { ends: true, tells: false }],
  ["taken", 9, { ends: true, tells: false }],
  ["refused", 1, { ends: true, tells: true }],
  ["unknown", 1, { ends: false, tells: false }],
  ["unknown", 5, { ends: false, tells: false }],
  ["unknown", 6, { ends: false, tells: true }],
  ["unknown", 20, { ends: false, tells: true }],
])("%s at try %i", (outcome, evidenceTries, { ends, tells }) => {
  handed(outcome, evidenceTries).then((changes, isTold) => {
    expect(isTold).toBe(tells);
    expect(changes.updated(acquirerDisputes)).toMatchObject(ends ? [{ evidenceEndedAt: NOW }] : []);
    expect(changes.inserted(exceptions)).toMatchObject(tells ? [{ kind: "evidence" }] : []);
  });
});

test.each<[SubmissionOutcome, number, of: string, isTold: boolean]>([
  ["refused", 1, "dp_0 refused", true],
  ["unknown", 7, "dp_0 unknown", true],
  ["unknown", 7, "dp_1 unknown", false],
  ["refused", 8, "dp_1 unknown", true],
])("%s at try %i, where a person has closed the exception of %s", (outcome, evidenceTries, of, isTold) => {
  handed(outcome, evidenceTries, { closedAt: NOW, note: "sent by mail", occasions: [of] }).then((changes, told) => {
    expect([told, changes.updated(exceptions).length]).toEqual([isTold, isTold ? 1 : 0]);
  });
});

/** The outcome of a submission, where `known` is an exception that is there already. */
function handed(
  outcome: SubmissionOutcome,
  evidenceTries: number,
  known?: Pick<ReconciliationException, "closedAt" | "note" | "occasions">,
) {
  const { reference } = aPayment({ status: "succeeded" });
  const operation = anOperation(reference, { step: "done" });
  const link: DisputeLink = {
    book,
    gatewayCode: "kawah",
    acquirerDisputeId: "dp_1",
    disputeId: newId("dispute", NOW),
    paymentReference: reference,
    evidenceDueAt: NOW,
    evidenceEndedAt: undefined,
    evidenceTries,
  };
  const conclude = concludeSubmission(merchantWith(), operation, link, { outcome });
  const before = known && {
    ...known,
    book,
    uuid: newId("exception", NOW),
    operationId: operation.id,
    operationKind: operation.kind,
    attempt: operation.attempt,
    kind: "evidence" as const,
    gatewayCode: "kawah",
    noticedAt: NOW,
  };
  const rows = [row(operations, operation), row(acquirerDisputes, link), ...(before ? [row(exceptions, before)] : [])];
  return given({ rows }).when(conclude);
}
