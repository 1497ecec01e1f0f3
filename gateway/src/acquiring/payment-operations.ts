// Carries out acquirer operations on payments: a payment is committed, then its acquirer is called, then the outcome is committed. Between the
// two commits no row is locked; after a crash between them a worker inquires.
import type { Acquirer, Judgement, OpenRequest, ReportedState } from "../acquirers/acquirer.ts";
import { type Operation, operationKey } from "./operation.ts";
import { operationOfRow, selectOperationOfKey, selectOperationsOfAccount } from "./operations.sql.ts";
import type { BookOwner } from "../commands/command-context.ts";
import { type Micros, SECOND } from "../ground/clock.ts";
import { assert } from "../ground/fault.ts";
import { uuidOf } from "../ground/ids.ts";
import type { Reply } from "../ground/reply.ts";
import type { Intent } from "../idempotency/idempotency.ts";
import type { Directory, Merchant } from "../merchants/directory.ts";
import type { Command } from "../store/command.ts";
import type { Lanes } from "../store/lanes.ts";
import type { Database } from "../store/database.ts";
import { type CallOutcome, type CallParts, callAcquirer, logException } from "./calls.ts";
import {
  type Concluded,
  type OpenResult,
  type OpeningParts,
  type Resumed,
  concludeOpening,
  resumeOpening,
} from "./opening.ts";
import { instructionRequest } from "../payments/route-selection.ts";
import type { Payment } from "../payments/payment.ts";
import { paymentOfRow, selectPayment } from "../payments/payments.sql.ts";
import { isPaid, isUnpaid } from "../payments/states.ts";
import { isSwitchedOff } from "../routing/routing.ts";
import type { CallMessages } from "./messages.ts";

/** How long after a payment's expiry a worker keeps trying to end it, where the acquirer's answers do not tell whether it has ended. */
const ENDING_TRIED: Micros = 86_400 * SECOND;

export interface AcquiringParts extends OpeningParts, CallParts {
  database: Database;
  directory: Directory;
  lanes: Lanes;
}

/** Carries out operations on payments: calls, commits, and calls the next acquirer when one refuses. */
export class PaymentOperations {
  private readonly parts: AcquiringParts;

  constructor(parts: AcquiringParts) {
    this.parts = parts;
  }

  /** Continues an operation: calls the acquirer when the step is `calling`, and inquires otherwise. */
  async perform(operation: Operation): Promise<Concluded> {
    const [row] = await this.parts.database.query(selectPayment(operation.book.merchantId, operation.id));
    assert(row, `${operation.id} is not there`);
    return await this.performFor(paymentOfRow(row), operation);
  }

  /** Calls the acquirer for a payment that was just committed. Gives the creation's response; throws GATEWAY_ERROR, GATEWAY_TIMEOUT. */
  async finish(payment: Payment, operation: Operation): Promise<Reply> {
    const concluded = await this.performFor(payment, operation);
    if ("fault" in concluded) throw concluded.fault;
    assert("reply" in concluded, `${payment.reference} was left half-way`);
    return concluded.reply;
  }

  private async performFor(payment: Payment, operation: Operation): Promise<Concluded> {
    const { parts } = this;
    const merchant = await parts.directory.merchant(operation.book.merchantId);
    assert(merchant, `${operation.book.merchantId} is not there`);
    for (let current = operation; ;) {
      const result = await callOrInquire(parts, merchant, payment, current);
      const command = concludeOpening(parts, merchant, current, result);
      const concluded = await parts.lanes.move(current.book.merchantId, command);
      for (const kind of concluded.exceptions ?? []) logException(parts.log, current, kind);
      if (!("next" in concluded)) return concluded;
      current = concluded.next;
    }
  }

  /** The command that continues a request repeated while its key is in progress; undefined when the repetition has to wait. */
  async resume({ merchant, book }: BookOwner, intent: Intent): Promise<Command<Resumed> | undefined> {
    const operation = await this.parts.database.first(selectOperationOfKey(book, intent.key), operationOfRow);
    return operation?.step === "retryable" ? resumeOpening(this.parts, merchant, operation, intent) : undefined;
  }
}

/** True when an inquiry finds, by its number alone, an account that was issued for another payment: this one has none. */
async function isAnothers(
  database: Database,
  { id, gatewayCode, providerIds }: Operation,
  account: string | undefined,
): Promise<boolean> {
  if (account === undefined || providerIds !== undefined) return false;
  const rows = await database.query(selectOperationsOfAccount(gatewayCode, account));
  return rows.some((row) => row.operation_id !== uuidOf(id));
}

type Known = Extract<OpenResult, { kind: "known" }>;

/** What an acquirer is called with about a payment. */
interface Calling {
  parts: OpeningParts & CallParts & Pick<AcquiringParts, "database">;
  payment: Payment;
  operation: Operation;
  acquirer: Acquirer;
  request: OpenRequest;
}

/** Calls the acquirer for an operation that is `calling`, while its lease lasts; inquires for any other. */
export async function callOrInquire(
  parts: Calling["parts"],
  merchant: Merchant,
  payment: Payment,
  operation: Operation,
): Promise<OpenResult> {
  const isDecided = isPaid(payment.status) || payment.status === "failed";
  if (operation.step === "polling" && isDecided) return { kind: "closed" };
  const acquirer = parts.acquirer(operation.gatewayCode);
  // An acquirer that is no longer configured cannot be asked, so the outcome stays unknown.
  if (!acquirer) return { kind: "unknown" };
  // `Object.assign` keeps the getter `payUrl` unevaluated: a copy by spread would sign the payer's page, which few acquirers ask for.
  const request = Object.assign(instructionRequest(parts, merchant, payment), {
    operationKey: operationKey(operation),
    callbackUrl: parts.callbackUrl(acquirer.code),
    round: operation.round,
    isOver: isUnpaid(payment.status),
    providerIds: operation.providerIds,
  });
  const calling: Calling = { parts, payment, operation, acquirer, request };
  return operation.step === "calling" ? open(calling) : inquire(calling);
}

async function open({ parts, payment, operation, acquirer, request }: Calling): Promise<OpenResult> {
  // The call may have been planned a while ago: by now the payment may be over, or an operator may have switched the acquirer off.
  if (request.isOver || isSwitchedOff(parts.routingTable(), acquirer.code)) return { kind: "refused" };
  const name = { acquirer, method: payment.method, call: "open", lease: operation } as const;
  const opening = await callAcquirer(parts, name, (calls, signal, record) => calls.open(request, signal, record));
  const exchanged = exchangesOf(opening);
  if (opening.kind !== "answered") return { kind: opening.kind, exchanged, otherMoney: opening.otherMoney };
  return { state: { status: "waiting" }, ...opening.answer, kind: "known", exchanged };
}

/**
 * A payment that is over here, and that the inquiry finds waiting, is ended at the acquirer. An operator's judgement of a payment under review is sent
 * to the acquirer.
 */
async function inquire(calling: Calling): Promise<OpenResult> {
  const { parts, payment, operation, acquirer, request } = calling;
  const name = { acquirer, method: payment.method, call: "inquire" } as const;
  const inquiry = await callAcquirer(parts, name, (calls, signal, record) => calls.inquire(request, signal, record));
  const exchanged = exchangesOf(inquiry);
  if (inquiry.kind !== "answered") return { kind: "unknown", exchanged, otherMoney: inquiry.otherMoney };
  if (!inquiry.answer.known) return { kind: "absent", exchanged };
  const found: Known = { ...inquiry.answer, kind: "known", isOver: request.isOver, exchanged };
  if (await isAnothers(parts.database, operation, found.providerIds?.account)) return { kind: "absent", exchanged };
  const { state } = found;
  if (request.isOver && state.status === "waiting" && acquirer.calls?.cancel) return cancel(calling, found);
  const { review } = operation;
  const isAsked = state.status === "processing" && state.isUnderReview === true && acquirer.calls?.judge !== undefined;
  return isAsked && (review === "approve" || review === "refuse") ? judge(calling, found, review) : found;
}

/** A payment that the acquirer cannot end early stays open there: money that still arrives is kept apart as an unapplied receipt. */
async function cancel({ parts, payment, operation, acquirer, request }: Calling, found: Known): Promise<OpenResult> {
  const name = { acquirer, method: payment.method, call: "cancel" } as const;
  const known = { ...request, providerIds: found.providerIds ?? request.providerIds };
  const ending = await callAcquirer(parts, name, async (calls, ...rest) => await calls.cancel?.(known, ...rest));
  const result = after(found, ending, { status: "failed" });
  return result.kind === "unknown" && result.otherMoney !== true && isTriedEnough(parts, payment, operation)
    ? { ...found, exchanged: result.exchanged ?? [] }
    : result;
}

/** The next inquiry tells what the acquirer makes of an approval. */
async function judge(calling: Calling, found: Known, word: Judgement): Promise<OpenResult> {
  const { parts, payment, acquirer, request } = calling;
  const name = { acquirer, method: payment.method, call: "judge" } as const;
  const known = { ...request, providerIds: found.providerIds ?? request.providerIds };
  const judged = await callAcquirer(parts, name, async (calls, ...rest) => await calls.judge?.(known, word, ...rest));
  return after(found, judged, word === "refuse" ? { status: "failed" } : undefined);
}

/** The result of an inquiry and the call `done` after it. `state`: certain once that call is answered; undefined where an inquiry tells. */
function after(found: Known, done: CallOutcome<unknown>, state: ReportedState | undefined): OpenResult {
  const exchanged = [...(found.exchanged ?? []), ...exchangesOf(done)];
  if (done.kind === "answered" && state) return { ...found, state, exchanged, isOurs: true };
  const stays = done.kind === "refused" && !done.unavailable;
  return stays ? { ...found, exchanged } : { kind: "unknown", exchanged, otherMoney: done.otherMoney };
}

/** Whether to stop trying to end a payment at its acquirer, which ends it by itself. In real time: a sandbox's clock may be far ahead. */
function isTriedEnough({ clock }: CallParts, { createdAt, expiresAt }: Payment, operation: Operation): boolean {
  return clock.now() > operation.createdAt + (expiresAt - createdAt) + ENDING_TRIED;
}

function exchangesOf({ exchanged }: CallOutcome<unknown>): readonly CallMessages[] {
  return exchanged ? [exchanged] : [];
}
