// Goal: evidence that does not arrive is tried on, and a person hears of it while there is time. Method: the pure command by a table; and the claims
// of a dispute whose evidence never arrives, from deadlines that are near and far.
import { expect, onTestFinished, test } from "vitest";
import { anOperation } from "../../test/acquiring.ts";
import { NOW, book, given, merchantWith, row } from "../../test/given.ts";
import { asOwner, cloneDatabase, openDatabase } from "../../test/kit.ts";
import { aPayment } from "../../test/payments.ts";
import { MINUTE, sqlTime } from "../ground/clock.ts";
import { newId, uuidOf } from "../ground/ids.ts";
import { type DisputeLink, acquirerDisputes, claimEvidence, linkOfRow } from "./dispute-reports.sql.ts";
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

test.each([
  ["a week away", 7 * 24 * 60, 0, [0, 1, 3, 7, 15, 31, 63, 123, 183]],
  ["an hour away, and the acquirer back within it", 60, 0, [0, 1, 3, 7, 15, 31, 45.5, 52.75, 56.375, 58.1875, 59.1875]],
  ["ten minutes away", 10, 0, [0, 1, 3, 6.5, 8.25, 9.25]],
  ["an hour away by the clock of a sandbox that is a day ahead", 60, 24 * 60, [0, 1, 3, 7, 15, 31, 45.5, 52.75]],
  ["over", -1, 0, [0, 1, 3, 7, 15, 31, 63, 123, 183]],
])("with its deadline %s it is tried at these minutes", async (_what, minutesLeft, minutesAhead, tried) => {
  const cloned = await cloneDatabase();
  const database = openDatabase(cloned);
  onTestFinished(() => database.end());
  const uuids = [uuidOf(book.merchantId), uuidOf(newId("dispute", NOW)), uuidOf(newId("payment", NOW))];
  const due = NOW + (minutesAhead + minutesLeft) * MINUTE;
  await asOwner(cloned, async (owner) => {
    await owner.query("set session_replication_role = replica"); // no triggers: neither a merchant nor a payment stands behind it
    await owner.query("insert into books (merchant_id, environment, clock_offset_seconds) values ($1, 'sandbox', $2)", [
      uuids[0],
      minutesAhead * 60,
    ]);
    await owner.query(
      `insert into disputes (merchant_id, environment, dispute_id, payment_id, status, reason, amount_minor, currency, evidence_due_at, opened_at)
values ($1, 'sandbox', $2, $3, 'under_review', 'general', 1, 'IDR', $4, $4)`,
      [...uuids, sqlTime(due)],
    );
    await owner.query(
      `insert into acquirer_disputes (merchant_id, environment, gateway_code, acquirer_dispute_id, dispute_id, payment_id, evidence_due_at)
values ($1, 'sandbox', 'kawah', 'dp_1', $2, $3, $4)`,
      [...uuids, sqlTime(NOW)],
    );
  });
  const times: number[] = [];
  for (let at = NOW; times.length < tried.length;) {
    const claimed = await database.first(claimEvidence(at, []), linkOfRow);
    times.push((at - NOW) / MINUTE);
    expect(claimed?.evidenceTries).toBe(times.length);
    expect(await database.first(claimEvidence(at, []), linkOfRow)).toBeUndefined();
    at = claimed?.evidenceDueAt ?? Infinity;
  }
  expect(times).toEqual(tried);
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
