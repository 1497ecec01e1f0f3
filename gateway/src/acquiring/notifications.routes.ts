// HTTP for acquirers' callbacks: signed notifications about payments, refunds and disputes, and questions of what a payer owes.
// Notifications may be late, repeated or out of order.
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { MessageMeaning, ProviderReply, Report, ReportedDispute, AcquirerMessage } from "../acquirers/acquirer.ts";
import { Fault, validationFault } from "../ground/fault.ts";
import { reply } from "../ground/reply.ts";
import { refuseLarge } from "../http/body.ts";
import { sendReply } from "../http/server.ts";
import type { Merchant } from "../merchants/directory.ts";
import type { Command } from "../store/command.ts";
import { maskedBody } from "../providers/mask.ts";
import { billOf, operationOfAccount } from "./bills.ts";
import { callAcquirer, logException } from "./calls.ts";
import { disputeReport } from "./dispute-reports.ts";
import { linkOfRow, selectLink } from "./dispute-reports.sql.ts";
import { refundElsewhere } from "./unrequested-movements.ts";
import type { ExceptionKind } from "./exception.ts";
import { inquireSoon, paymentNotification } from "./notifications.ts";
import { type Operation, type OperationName, operationKey, readOperationKey, wasCalled } from "./operation.ts";
import { operationOfRow, selectOperation } from "./operations.sql.ts";
import type { AcquiringParts } from "./payment-operations.ts";
import { paymentOfRow, selectPayment } from "../payments/payments.sql.ts";
import { REFUND_ATTEMPTS_MAX, concludeRefund, inquireOtherAttempt } from "./refund-operations.ts";
import { type Stray, keepStray } from "./strays.sql.ts";
import type { CallMessages } from "./messages.ts";

const MESSAGE_BYTES_MAX = 65_536;

/** The outcome of one report. `isEarlier`: it is about an attempt that was given up. `fault`: why it was refused. */
type Outcome =
  | { taken: "taken"; isEarlier?: boolean }
  | { taken: "unknown operation" }
  | { taken: "refused"; fault: Fault };

/** Opens the addresses of acquirers' callbacks. The acquirer's adapter checks who sent a message; no credential of ours is asked for. */
export function openNotifications(server: FastifyInstance, parts: AcquiringParts): void {
  const take = async (request: FastifyRequest, response: FastifyReply): Promise<FastifyReply> => {
    const { gateway_code: code, "*": under } = request.params as { gateway_code: string; "*"?: string };
    const meaning = await read(parts, code, under === undefined ? "" : `/${under}`, request);
    response.proven();
    if (meaning.kind === "reply") return sendProviderReply(response, meaning.reply);
    if (meaning.kind === "bill")
      return sendProviderReply(response, meaning.reply(await billOf(parts, code, meaning.find)));
    const exchanged: CallMessages | undefined = meaning.message && { call: "report", messages: [meaning.message] };
    let outcome: Outcome = { taken: "taken" };
    const failures: unknown[] = [];
    for (const report of meaning.reports) {
      const next = await takeReport(parts, code, report, exchanged).catch(
        (error: unknown) => void failures.push(error),
      );
      if (!next) continue;
      if (next.taken === "taken" && !next.isEarlier) continue;
      if (next.taken !== "taken") outcome = next;
      const reason = next.taken === "taken" ? "earlier attempt" : next.taken;
      const { message } = meaning;
      await keep(parts, { gatewayCode: code, reason, operationKey: namedBy(report), kind: report.kind, message });
    }
    // One report that has to come again keeps no other from being taken.
    if (failures.length > 0) throw failures[0];
    if (meaning.reply) return sendProviderReply(response, meaning.reply(outcome.taken));
    if (outcome.taken === "refused") throw outcome.fault;
    if (outcome.taken === "unknown operation") throw unknownOperation();
    return sendReply(response, reply(200, { received: true }));
  };
  server.post("/acquirers/:gateway_code/callbacks", take);
  // Some acquirers send each kind of message to an address of its own.
  server.post("/acquirers/:gateway_code/callbacks/*", take);
}

/**
 * Reads an acquirer's message. Throws ROUTE_NOT_FOUND for an acquirer that is not configured, and the faults of its adapter for a bad
 * signature or body. A message that proves its sender but cannot be read is kept for a person.
 */
async function read(
  parts: AcquiringParts,
  code: string,
  rest: string,
  request: FastifyRequest,
): Promise<MessageMeaning> {
  const calls = parts.acquirer(code)?.calls;
  if (!calls) throw new Fault("ROUTE_NOT_FOUND");
  const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
  refuseLarge(body, calls.messageMaxBytes ?? MESSAGE_BYTES_MAX);
  // The signature covers the request target exactly as the acquirer sent it.
  const { method, originalUrl: target, headers } = request;
  try {
    return calls.receive({ method, target, rest, headers, body }, parts.clock.now());
  } catch (error) {
    if (error instanceof Fault && error.code === "VALIDATION_ERROR") {
      const message: AcquirerMessage = { about: `${method} ${rest || "/"}`, status: undefined, text: maskedBody(body) };
      await keep(parts, { gatewayCode: code, reason: "unreadable", operationKey: "", kind: undefined, message });
    }
    throw error;
  }
}

async function keep({ database, clock, metrics }: AcquiringParts, stray: Stray): Promise<void> {
  metrics.acquirerStrays.inc({ gateway_code: stray.gatewayCode, reason: stray.reason });
  await database.query(keepStray(stray, clock.now()));
}

function sendProviderReply(response: FastifyReply, { status, headers, body }: ProviderReply): FastifyReply {
  return response
    .code(status)
    .headers({ "content-type": "application/json; charset=utf-8", ...headers })
    .send(body);
}

/** The answer to a report about an operation that this acquirer never got: an error makes its people look at the mistake. */
function unknownOperation(): Fault {
  return new Fault("OBJECT_NOT_FOUND", { message: "No such operation was asked of this acquirer." });
}

/** How the report names its operation: by our operation key, or by the payer's account number. */
function namedBy(report: Report): string {
  return "paymentOperationKey" in report ? report.paymentOperationKey : report.operationKey;
}

/** Commits one report. Throws only faults that may have passed when the acquirer repeats the report. */
async function takeReport(
  parts: AcquiringParts,
  code: string,
  report: Report,
  exchanged: CallMessages | undefined,
): Promise<Outcome> {
  const key = namedBy(report);
  const mayBeAccount = report.kind !== "payment" && report.kind !== "refund";
  const name =
    readOperationKey(key) ?? (mayBeAccount ? await operationOfAccount(parts.database, code, key) : undefined);
  const kind = report.kind === "refund" ? "refund" : "payment";
  if (!name || (report.kind !== "look" && name.kind !== kind)) return { taken: "unknown operation" };
  const merchant = await parts.directory.merchant(name.book.merchantId);
  const operation = await parts.database.first(selectOperation(name.book, name.id), operationOfRow);
  if (!merchant || !operation || !wasRequested(parts, operation, name, code)) return { taken: "unknown operation" };
  try {
    const named = { ...operation, attempt: name.attempt };
    const isTaken = await commit(parts, { merchant, operation, named, code, exchanged }, report);
    return { taken: "taken", isEarlier: !isTaken };
  } catch (error) {
    if (!(error instanceof Fault) || error.code !== "VALIDATION_ERROR") throw error;
    return { taken: "refused", fault: error };
  }
}

/** What a report is about, and the messages that are kept with it. */
interface Subject {
  merchant: Merchant;
  operation: Operation;
  /** The operation under the attempt that the report names. */
  named: Operation;
  code: string;
  exchanged: CallMessages | undefined;
}

/** Commits a report by its kind. Gives false when the report is about an attempt that was given up, and was ignored. */
async function commit(
  parts: AcquiringParts,
  { merchant, operation, named, code, exchanged }: Subject,
  report: Report,
): Promise<boolean> {
  const { lanes, database, log } = parts;
  const { merchantId } = merchant;
  const move = async (command: Command<ExceptionKind | undefined>): Promise<true> => {
    const exception = await lanes.move(merchantId, command);
    if (exception) logException(log, operation, exception);
    return true;
  };
  switch (report.kind) {
    case "payment": {
      const command = paymentNotification(merchant, named, code, { ...report, exchanged });
      const refused = await lanes.move(merchantId, command);
      // An earlier attempt may be that of another acquirer.
      if (refused?.isNew === true) logException(log, { ...operation, gatewayCode: code }, "receipt");
      if (refused) throw refused.objection;
      return true;
    }
    case "look":
      if (await lanes.move(merchantId, inquireSoon(merchant, named, exchanged))) return true;
      if (operation.kind !== "refund") return false;
      await inquireOtherAttempt(parts, named);
      return true;
    case "refund": {
      const { status, providerIds } = report;
      if (status === "pending") return true;
      return move(concludeRefund(merchant, named, { kind: "known", status, providerIds, exchanged }));
    }
    case "dispute": {
      const { dispute } = report;
      if (!/^[!-~]{1,64}$/.test(dispute.id))
        throw validationFault("dispute.id", dispute.id, "must be 1 to 64 ASCII characters.");
      const confirmed = await confirmDispute(parts, named, code, dispute);
      const link = await database.first(selectLink(operation.book, code, dispute.id), linkOfRow);
      const kept = exchanged && { ...exchanged, messages: [...exchanged.messages, ...confirmed] };
      return move(disputeReport(merchant, operation, { gatewayCode: code, dispute, link, exchanged: kept }));
    }
    case "refund_elsewhere":
      return move(refundElsewhere(merchant, named, report.refundId, exchanged));
  }
}

/**
 * Asks the acquirer whether a dispute stands as reported, where the report is no proof. Gives the messages exchanged. Throws VALIDATION_ERROR when it
 * stands otherwise, and SERVICE_UNAVAILABLE without an answer: the acquirer then repeats its report. `operation` has the contested attempt.
 */
async function confirmDispute(
  parts: AcquiringParts,
  operation: Operation,
  code: string,
  dispute: ReportedDispute,
): Promise<readonly AcquirerMessage[]> {
  const acquirer = parts.acquirer(code);
  if (!acquirer?.calls?.confirmDispute) return [];
  const [row] = await parts.database.query(selectPayment(operation.book.merchantId, operation.id));
  if (!row) throw unknownOperation();
  const request = { operationKey: operationKey(operation), providerIds: operation.providerIds, dispute };
  const name = { acquirer, method: paymentOfRow(row).method, call: "inquire" } as const;
  const asked = await callAcquirer(parts, name, async (calls, signal, record) =>
    calls.confirmDispute?.(request, signal, record),
  );
  if (asked.kind !== "answered" && asked.otherMoney !== true)
    throw new Fault("SERVICE_UNAVAILABLE", { internal: asked.reason });
  if (asked.kind !== "answered" || asked.answer !== true)
    throw validationFault("dispute", dispute.status, "This dispute does not stand so when it is asked about.");
  return asked.exchanged?.messages ?? [];
}

/** Whether this acquirer, in its own environment, was called for this attempt of the operation. */
export function wasRequested(
  parts: Pick<AcquiringParts, "acquirer">,
  operation: Operation,
  { book, kind, attempt }: OperationName,
  code: string,
): boolean {
  if (operation.kind !== kind || parts.acquirer(code)?.environment !== book.environment) return false;
  // A payment's earlier attempts may have gone to other acquirers; a refund stays with one acquirer.
  const own = kind === "refund" || attempt === operation.attempt;
  if (own && operation.gatewayCode !== code) return false;
  // A done refund keeps the attempt that made it. A notification about another attempt, also a later one, may be a reconciliation exception.
  if (kind === "refund" && operation.step === "done") return attempt <= REFUND_ATTEMPTS_MAX;
  return attempt < operation.attempt || (attempt === operation.attempt && wasCalled(operation));
}
