// Submits a merchant's evidence to the acquirer of the dispute: after the commit, once, and again while it is unknown whether the evidence arrived.
import type { EvidenceRequest } from "../acquirers/acquirer.ts";
import { bookCommand } from "../commands/command-context.ts";
import type { Evidence } from "../disputes/dispute.ts";
import { readEvidence } from "../disputes/evidence.ts";
import { readPieces } from "../disputes/evidence-files.ts";
import { assert } from "../ground/fault.ts";
import type { Merchant } from "../merchants/directory.ts";
import { paymentOfRow, selectPayment } from "../payments/payments.sql.ts";
import type { Database } from "../store/database.ts";
import type { Command } from "../store/command.ts";
import { need } from "../store/working-set.ts";
import { callAcquirer, logException } from "./calls.ts";
import { type DisputeLink, acquirerDisputes, claimEvidence, linkOfRow } from "./dispute-reports.sql.ts";
import { exceptionNeeds, recordException } from "./exceptions.ts";
import { keepMessages } from "./keep-messages.ts";
import type { Operation } from "./operation.ts";
import { operationOfRow, operations, selectOperation } from "./operations.sql.ts";
import type { AcquiringParts } from "./payment-operations.ts";
import type { CallMessages } from "./messages.ts";

/** Disputes in one round, each of another acquirer. So many files are in memory at once. */
const ROUND_MAX = 4;

/** After this many tries, half an hour or less near the deadline, an exception tells a person, who may be in time where we are not. The tries go on. */
const TRIES_ALONE = 6;

/** `unknown`: a worker submits the evidence again, under the same key. */
export type SubmissionOutcome = "taken" | "refused" | "unknown";

/** Submits due evidence side by side, of one dispute of each acquirer. What failed for one is due again. */
export async function submitDueEvidence(parts: AcquiringParts): Promise<void> {
  const underWay = new Map<string, Promise<void>>();
  while (underWay.size < ROUND_MAX) {
    const link = await parts.database.first(claimEvidence(parts.clock.now(), [...underWay.keys()]), linkOfRow);
    if (!link) break;
    const submission = submit(parts, link).catch((error: unknown) => {
      parts.log.warn({ err: error, dispute: link.disputeId }, "evidence could not be submitted");
    });
    underWay.set(link.gatewayCode, submission);
  }
  await Promise.all(underWay.values());
}

async function submit(parts: AcquiringParts, link: DisputeLink): Promise<void> {
  const { database, directory, lanes } = parts;
  const { book, disputeId, paymentReference, gatewayCode } = link;
  const merchant = await directory.merchant(book.merchantId);
  const [operationRow] = await database.query(selectOperation(book, paymentReference));
  const [paymentRow] = await database.query(selectPayment(book.merchantId, paymentReference));
  const evidence = await readEvidence(database, book, disputeId);
  assert(merchant && operationRow && paymentRow && evidence, `${disputeId} lacks something`);
  const operation = operationOfRow(operationRow);
  const acquirer = parts.acquirer(gatewayCode);
  const finish = async (outcome: SubmissionOutcome, exchanged?: CallMessages): Promise<void> => {
    const exception = await lanes.move(
      book.merchantId,
      concludeSubmission(merchant, operation, link, { outcome, exchanged }),
    );
    if (exception) logException(parts.log, operation, "evidence");
  };
  // The evidence stays due: an acquirer that is no longer configured may come back. After some tries a person is told.
  if (!acquirer?.calls) return finish("unknown");
  if (!acquirer.calls.submitEvidence) return finish("refused");
  const request = await requestOf(database, link, evidence);
  const name = { acquirer, method: paymentOfRow(paymentRow).method, call: "submit_evidence" } as const;
  const ended = await callAcquirer(parts, name, async (calls, signal, record) =>
    calls.submitEvidence?.(request, signal, record),
  );
  const outcome = ended.kind === "answered" ? "taken" : ended.kind;
  // An acquirer that was not reached has refused nothing: the evidence is submitted again.
  return finish(ended.kind === "refused" && ended.unavailable ? "unknown" : outcome, ended.exchanged);
}

async function requestOf(
  database: Pick<Database, "query">,
  { book, disputeId, acquirerDisputeId }: DisputeLink,
  { statement, carrier, trackingNumber, deliveredOn, files }: Evidence,
): Promise<EvidenceRequest> {
  const read: EvidenceRequest["files"][number][] = [];
  for (const file of files) {
    const pieces =
      "file_id" in file
        ? await Array.fromAsync(readPieces(database, { book, uuid: disputeId }, file))
        : [Buffer.from(file.content_base64, "base64")];
    read.push({ name: file.name, type: file.media_type, bytes: Buffer.concat(pieces) });
  }
  return {
    disputeId: acquirerDisputeId,
    operationKey: `${disputeId.replace("_", "")}.e1`,
    statement,
    carrier,
    trackingNumber,
    deliveredOn,
    files: read,
  };
}

/** Commits the outcome. Gives true when a reconciliation exception was recorded: a person has to submit the evidence by other means. */
export function concludeSubmission(
  merchant: Merchant,
  operation: Operation,
  link: DisputeLink,
  { outcome, exchanged }: { outcome: SubmissionOutcome; exchanged?: CallMessages | undefined },
): Command<boolean> {
  const { book } = link;
  const owner = { merchant, book };
  return bookCommand(owner, {
    name: "conclude evidence",
    needs: [need(operations, operation), need(acquirerDisputes, link), ...exceptionNeeds(operation, ["evidence"])],
    execute(context) {
      const { set, realNow } = context;
      keepMessages(context, operation, exchanged);
      const current = set.get(acquirerDisputes, link);
      if (!current || current.evidenceEndedAt !== undefined) return false;
      if (outcome !== "unknown") set.update(acquirerDisputes, { ...current, evidenceEndedAt: realNow });
      if (outcome === "taken" || (outcome === "unknown" && current.evidenceTries < TRIES_ALONE)) return false;
      // A payment may have several disputes, and what stays unknown may be refused later.
      const occasions = [`${link.acquirerDisputeId} ${outcome}`];
      return recordException(context, operation, operation.attempt, "evidence", { occasions });
    },
  });
}
