// Disputes that acquirers report: a payer contests a payment there, and the contested amount is held here until the acquirer decides.
import type { ReportedDispute } from "../acquirers/acquirer.ts";
import { type CommandContext, bookCommand } from "../commands/command-context.ts";
import { type Micros, MINUTE, SECOND } from "../ground/clock.ts";
import { Fault } from "../ground/fault.ts";
import type { Dispute } from "../disputes/dispute.ts";
import { contest, contestableMinor, extend, isContestable, resolve, review } from "../disputes/disputes.ts";
import { disputes } from "../disputes/disputes.sql.ts";
import { ledgerNeeds } from "../ledger/ledger.ts";
import { type Payment, isRunning } from "../payments/payment.ts";
import { findLocked, paymentNeeds } from "../payments/payments.ts";
import type { Merchant } from "../merchants/directory.ts";
import type { Command } from "../store/command.ts";
import { need } from "../store/working-set.ts";
import type { ExceptionKind } from "./exception.ts";
import { exceptionNeeds, recordException } from "./exceptions.ts";
import type { Operation } from "./operation.ts";
import { type DisputeLink, type LinkKey, acquirerDisputes } from "./dispute-reports.sql.ts";
import { keepMessages } from "./keep-messages.ts";
import type { CallMessages } from "./messages.ts";

/** An acquirer's deadline is within a year: what is further off is a mistake, and may be no time that the database knows. */
const DEADLINE_MAX: Micros = 366 * 86_400 * SECOND;

interface Reported {
  gatewayCode: string;
  dispute: ReportedDispute;
  /** The link as read before the command; undefined for a dispute that is not known yet. */
  link: DisputeLink | undefined;
  exchanged: CallMessages | undefined;
}

/** `dueAt`: until when the acquirer takes evidence, by the book's clock. */
type DueReport = ReportedDispute & { dueAt: Micros | undefined };

/**
 * Takes an acquirer's report of a dispute about the payment of `operation`. The first report opens the dispute here, whatever its status, over what
 * is left at most; the first report of an outcome decides it. A report that does not fit the records here (another currency, another amount, a payment
 * that was not paid, or through another acquirer, another outcome, an appeal) is recorded as a reconciliation exception, whose kind is the answer; it moves
 * nothing, but for one of more than is left. Throws SERVICE_UNAVAILABLE when another request takes the first report of the dispute at this moment.
 */
export function disputeReport(
  merchant: Merchant,
  operation: Operation,
  { gatewayCode, dispute: reported, link: before, exchanged }: Reported,
): Command<ExceptionKind | undefined> {
  const { book, id: paymentReference } = operation;
  const key = { book, gatewayCode, acquirerDisputeId: reported.id };
  const owner = { merchant, book };
  return bookCommand(owner, {
    name: "take dispute report",
    needs: [
      ...paymentNeeds(book, paymentReference),
      ...ledgerNeeds(book),
      ...(before ? [need(disputes, { book, uuid: before.disputeId })] : []),
      need(acquirerDisputes, key),
      ...exceptionNeeds(operation, ["dispute"]),
    ],
    execute(context) {
      const { set, now, realNow } = context;
      const payment = findLocked(context, paymentReference);
      keepMessages(context, operation, exchanged);
      // The acquirer's deadline is in real time; a sandbox book has its own clock.
      const left = reported.respondBy && Math.min(Math.max(reported.respondBy - realNow, -DEADLINE_MAX), DEADLINE_MAX);
      const report = { ...reported, dueAt: left === undefined ? undefined : left + now };
      const link = set.get(acquirerDisputes, key);
      const fits = link ? followDispute(context, payment, link, report) : openDispute(context, payment, key, report);
      if (fits) return undefined;
      // Under the acquirer that reports it, and once more when a person has closed the exception of an earlier report.
      const occasions = [`${reported.id} ${reported.status} ${reported.amountMinor} ${reported.currency}`];
      const about = { ...operation, gatewayCode };
      recordException(context, about, operation.attempt, "dispute", { occasions, isAlwaysNews: true });
      return "dispute";
    },
  });
}

/** True of an outcome that leaves the money with us: what exactly was contested matters no more. */
const isOurs = (status: DueReport["status"]): boolean => status === "won" || status === "withdrawn";

/** Takes a further report of a dispute that is known here. False when a person must look at it: it does not fit, or is of more than is held. */
function followDispute(context: CommandContext, payment: Payment, link: DisputeLink, report: DueReport): boolean {
  const { status, amountMinor, dueAt } = report;
  const known = context.set.get(disputes, { book: context.book, uuid: link.disputeId });
  if (!known) throw new Fault("SERVICE_UNAVAILABLE");
  const isSame = link.paymentReference === payment.reference && known.currency === report.currency;
  // What was decided is contested anew. A person records what is held for it: no state here leads back from an outcome.
  if (!isSame || amountMinor < known.amountMinor || status === "appealed") return false;
  // Reports come in any order: the report that it was opened, or answered, may be late.
  const awaits = known.status === "needs_response";
  if (status === "open") {
    if (awaits && dueAt !== undefined && dueAt > known.evidenceDueAt + MINUTE) extend(context, known, dueAt);
  } else if (status === "under_review") {
    if (awaits) answeredThere(context, known, link);
  } else if (isRunning(known.status)) resolve(context, known, status);
  else if (known.status !== status) return false;
  return amountMinor === known.amountMinor || isOurs(status);
}

/** Opens the dispute that is reported for the first time. False when a person must look at it: it does not fit, or is of more than is left. */
function openDispute(context: CommandContext, payment: Payment, key: LinkKey, report: DueReport): boolean {
  const { status, currency, reason, dueAt } = report;
  const fits =
    isContestable(payment) &&
    // An acquirer that was asked before another one took the payment has none of its money.
    payment.gatewayCode === key.gatewayCode &&
    payment.currency === currency &&
    report.amountMinor > 0n &&
    report.amountMinor <= payment.amountMinor;
  const leftMinor = contestableMinor(payment);
  if (!fits || leftMinor === 0n || status === "appealed") return false;
  const amountMinor = report.amountMinor < leftMinor ? report.amountMinor : leftMinor;
  const opened = contest(context, payment, { reason, amountMinor }, dueAt);
  const link: DisputeLink = {
    ...key,
    disputeId: opened.uuid,
    paymentReference: payment.reference,
    evidenceDueAt: context.realNow,
    evidenceEndedAt: undefined,
    evidenceTries: 0,
  };
  context.set.insert(acquirerDisputes, link);
  if (status === "under_review") answeredThere(context, opened, link);
  else if (status !== "open") resolve(context, opened, status);
  // The rest of the contested money was given back before: a person finds out which of the two stands.
  return amountMinor === report.amountMinor || isOurs(status);
}

/** A dispute that was answered at its acquirer: none of our evidence is awaited, or submitted, any more. */
function answeredThere(context: CommandContext, dispute: Dispute, link: DisputeLink): void {
  context.set.update(acquirerDisputes, { ...link, evidenceEndedAt: context.realNow });
  review(context, dispute);
}
