// The story of a payment: reads all records of a payment, and orders them by the time when they happened. Writes nothing.
import type { Acquirer } from "../acquirers/acquirer.ts";
import type { Operation } from "../acquiring/operation.ts";
import { operationOfRow } from "../acquiring/operations.sql.ts";
import type { KeptReceipt } from "../acquiring/receipt.ts";
import { receiptOfRow } from "../acquiring/receipts.sql.ts";
import type { BookOwner } from "../commands/command-context.ts";
import { type DisputeOfOrder, disputeView } from "../disputes/dispute.ts";
import { contestableMinor, isContestable } from "../disputes/disputes.ts";
import { disputeOfRow } from "../disputes/disputes.sql.ts";
import { type StoredEvent, eventOfRow } from "../events/events.sql.ts";
import { type Micros, parseSqlTime, wireTime, wireTimeOrNull } from "../ground/clock.ts";
import { idOf } from "../ground/ids.ts";
import { type Minor, exponentOf, wireAmount } from "../ground/money.ts";
import type { Journal } from "../ledger/journal.ts";
import { type JournalRow, journalOfRow } from "../ledger/ledger.sql.ts";
import { ofThisBook, readerOf } from "../http/one-object.ts";
import type { Book } from "../merchants/books.ts";
import type { Action } from "../people/roles.ts";
import { type Payment, statusView } from "../payments/payment.ts";
import type { PayerData } from "../payments/payer-data.ts";
import { paymentOfRow, selectPayment } from "../payments/payments.sql.ts";
import { isPaid } from "../payments/states.ts";
import { type RefundOfOrder, refundView } from "../refunds/refund.ts";
import { refundOfRow } from "../refunds/refunds.sql.ts";
import { refundableOf } from "../refunds/refunds.ts";
import { settlementView } from "../settlements/settlement.ts";
import { settlementOfRow } from "../settlements/settlements.sql.ts";
import type { Customer } from "../risk/risk.ts";
import { type Database, type Row, optional } from "../store/database.ts";
import { eventView } from "../webhooks/events.schema.ts";
import { journalView } from "./journals.schema.ts";
import type { Step, StepKind, Story } from "./story.schema.ts";
import {
  TOLD_MAX,
  selectBatchesOf,
  selectChangesOf,
  selectDisputesOf,
  selectEventsOf,
  selectJournalsOf,
  selectOperationOf,
  selectReceiptsOf,
  selectRefundsOf,
} from "./story.sql.ts";

/** The permission that a kind of step needs beyond reading payments. */
const actionOf: Partial<Record<StepKind, Action>> = {
  journalled: "balances:read",
  told: "events:read",
  refunded: "refunds:read",
  disputed: "disputes:read",
  answered: "disputes:read",
  resolved: "disputes:read",
  settled: "settlements:read",
  paid_out: "settlements:read",
  returned: "settlements:read",
};

/** Order of steps with equal times: causes before effects. */
const order: readonly StepKind[] = [
  "asked",
  "judged",
  "routed",
  "called",
  "instructed",
  "received",
  "became",
  "refunded",
  "disputed",
  "answered",
  "resolved",
  "settled",
  "paid_out",
  "returned",
  "journalled",
  "told",
];

export interface StoryParts {
  database: Database;
  payers: PayerData;
  /** The acquirer with this code; undefined when it is no longer configured. */
  acquirer: (code: string) => Acquirer | undefined;
}

interface Found {
  payment: Payment;
  customer: Customer | undefined;
  operation: Operation | undefined;
  receipts: KeptReceipt[];
  refunds: RefundOfOrder[];
  disputes: { dispute: DisputeOfOrder; answeredAt: Micros | undefined }[];
  /** Rows of `selectBatchesOf`. */
  batches: Row[];
  journals: Journal[];
  events: { event: StoredEvent; type: string; createdAt: Micros; attempts: object[] }[];
  /** Rows of `selectChangesOf`. */
  changes: Row[];
  isCut: boolean;
}

/** The story of a book's payment, as far as `scopes` permit. Throws PAYMENT_NOT_FOUND, also for another merchant's, and ENVIRONMENT_MISMATCH. */
export async function readStory(
  parts: StoryParts,
  { book, merchant }: BookOwner,
  reference: string,
  scopes: ReadonlySet<string>,
  estimate: (payment: Payment) => Promise<string | null>,
): Promise<Story> {
  const found = await readAll(parts, book, reference);
  const { payment } = found;
  const acquirer = payment.gatewayCode === undefined ? undefined : parts.acquirer(payment.gatewayCode);
  // What a process with a slower clock did comes after the request all the same.
  const place = ({ micros }: StepDraft): Micros => Math.max(micros, payment.createdAt);
  const steps = stepsOf(found).toSorted((a, b) => place(a) - place(b) || order.indexOf(a.kind) - order.indexOf(b.kind));
  const withheld = order.filter((kind) => actionOf[kind] !== undefined && !scopes.has(actionOf[kind]));
  return {
    payment: wholeView(found, await estimate(payment), refundableOf(payment, acquirer, merchant.settings)),
    steps: steps
      .filter(({ kind }) => !withheld.includes(kind))
      .map((step) => {
        const change = found.changes.find((one) => did(one, step));
        return {
          kind: step.kind,
          at: wireTime(step.micros),
          request_id: change ? idOf("request", change.request_id as string) : null,
          client_id: change?.client_id ?? null,
          object: step.object,
        };
      }) as Step[],
    is_cut: found.isCut,
    withheld,
  };
}

const readPayment = readerOf("payment", selectPayment, paymentOfRow);

/** Reads a payment of a book. Throws PAYMENT_NOT_FOUND, ENVIRONMENT_MISMATCH. */
export async function findPayment(database: Database, book: Book, reference: string): Promise<Payment> {
  return ofThisBook(book, await readPayment(database, book.merchantId, reference), "PAYMENT_NOT_FOUND");
}

async function readAll({ database, payers }: StoryParts, book: Book, reference: string): Promise<Found> {
  const payment = await findPayment(database, book, reference);
  const customer = await payers.open(payment);
  const lists = await database.pipeline([
    selectRefundsOf(book, reference),
    selectDisputesOf(book, reference),
    selectReceiptsOf(book, reference),
    selectOperationOf(book, reference),
    selectBatchesOf(book, reference),
    selectJournalsOf(book, reference),
  ]);
  const [refundRows = [], disputeRows = [], receiptRows = [], [operation] = [], batchRows = [], journalRows = []] =
    lists.map((rows) => rows.slice(0, TOLD_MAX));
  const { referenceId } = payment;
  const refunds = refundRows.map((row) => ({ ...refundOfRow(row), referenceId }));
  const disputes = disputeRows.map((row) => ({
    dispute: { ...disputeOfRow(row), referenceId },
    answeredAt: optional<Micros>(row.submitted_at),
  }));
  const subjects = [reference, ...refunds.map(({ uuid }) => uuid), ...disputes.map(({ dispute }) => dispute.uuid)];
  const [events = [], changes = []] = await database.pipeline([
    selectEventsOf(book, subjects),
    selectChangesOf(book, subjects),
  ]);
  return {
    payment,
    customer,
    operation: operation && operationOfRow(operation),
    receipts: receiptRows.map(receiptOfRow),
    refunds,
    disputes,
    batches: batchRows,
    journals: journalRows.map((row) => journalOfRow(book, row as JournalRow)),
    events: events.slice(0, TOLD_MAX).map((row) => ({
      event: eventOfRow(row),
      type: row.type as string,
      createdAt: row.created_at as Micros,
      attempts: attemptViews(row.last_attempts as string | null),
    })),
    changes,
    isCut: [...lists, events].some((rows) => rows.length > TOLD_MAX),
  };
}

interface StepDraft {
  kind: StepKind;
  micros: Micros;
  object: object;
}

/** Whether a change is a step. */
function did({ action, subject, status }: Row, { kind, object }: StepDraft): boolean {
  const step = object as { status?: string; uuid?: string };
  if (kind === "asked") return action === "create_payment";
  if (kind === "became")
    return (action === "cancel_payment" || action === "simulate_payment") && status === step.status;
  if (kind === "refunded") return action === "create_refund" && subject === step.uuid;
  if (kind === "disputed") return action === "open_dispute" && subject === step.uuid;
  return kind === "resolved" && action === "resolve_dispute" && subject === step.uuid;
}

function stepsOf(found: Found): StepDraft[] {
  return [
    ...beginning(found),
    ...found.receipts.map((receipt) => step("received", receipt.receivedAt, receivedView(receipt))),
    ...outcome(found),
    ...found.refunds.map((refund) =>
      step("refunded", refund.createdAt, { ...refundView(refund), reason: refund.reason ?? null }),
    ),
    ...found.disputes.flatMap(disputeSteps),
    ...found.batches.flatMap(batchSteps),
    ...found.journals.map((journal) => step("journalled", journal.postedAt, journalView(journal))),
    ...found.events.map(({ event, createdAt, attempts }) =>
      step("told", createdAt, { event: eventView(event), attempts }),
    ),
  ];
}

function step(kind: StepKind, micros: Micros, object: object): StepDraft {
  return { kind, micros, object };
}

/** The first steps: the request, the risk decision, the route, the acquirer operation and the instructions. */
function beginning(found: Found): StepDraft[] {
  const { payment, operation, events } = found;
  const { createdAt, routing, risk } = payment;
  // A remote acquirer may have answered later, or a person may have decided later: the event has the time of that.
  const openedAt = events.find(({ type }) => type === "payment.created")?.createdAt ?? createdAt;
  return [
    step("asked", createdAt, askedView(found)),
    step("judged", createdAt, { decision: risk.decision, score: risk.score }),
    ...(routing.candidates.length > 0
      ? [step("routed", createdAt, { gateway_code: payment.gatewayCode ?? null, ...routing })]
      : []),
    ...(operation ? [step("called", createdAt, calledView(operation))] : []),
    ...(payment.instructions ? [step("instructed", openedAt, payment.instructions)] : []),
  ];
}

/** The changes of the payment's status but for refunds. The payment has its present status, and its events have the times of earlier ones. */
function outcome({ payment, events }: Found): StepDraft[] {
  const { status, paidAt, canceledAt, cancelReason, updatedAt } = payment;
  const eventAt = (name: string): Micros | undefined =>
    events.find(({ type }) => type === `payment.${name}`)?.createdAt;
  const became = (name: string, micros: Micros, reason: string | null = null): StepDraft =>
    step("became", micros, { status: name, reason });
  const processingAt = eventAt("processing") ?? (status === "processing" ? updatedAt : undefined);
  return [
    ...(processingAt === undefined ? [] : [became("processing", processingAt)]),
    ...(isPaid(status) && paidAt !== undefined ? [became("succeeded", paidAt)] : []),
    ...(status === "canceled" && canceledAt !== undefined ? [became(status, canceledAt, cancelReason ?? null)] : []),
    ...(status === "failed" || status === "expired" ? [became(status, eventAt(status) ?? updatedAt)] : []),
  ];
}

function disputeSteps({ dispute, answeredAt }: Found["disputes"][number]): StepDraft[] {
  const { openedAt, resolvedAt, uuid } = dispute;
  return [
    step("disputed", openedAt, disputeView(dispute)),
    ...(answeredAt === undefined ? [] : [step("answered", answeredAt, { uuid })]),
    ...(resolvedAt === undefined ? [] : [step("resolved", resolvedAt, disputeView(dispute))]),
  ];
}

function batchSteps(row: Row): StepDraft[] {
  const settlement = settlementOfRow(row);
  const kind = row.item_kind as "payment" | "receipt" | "refund" | "dispute";
  const object = {
    settlement: settlementView(settlement),
    kind,
    item: idOf(kind, row.item_id as string),
    amount_minor: wireAmount(row.item_amount_minor as Minor),
    fee_minor: wireAmount(BigInt(row.item_fee_minor as bigint | number)),
  };
  const { createdAt, paidAt, returnedAt } = settlement;
  return [
    step("settled", createdAt, object),
    ...(paidAt === undefined ? [] : [step("paid_out", paidAt, object)]),
    ...(returnedAt === undefined ? [] : [step("returned", returnedAt, object)]),
  ];
}

function given({ payment, customer }: Pick<Found, "payment" | "customer">): Record<string, unknown> {
  return {
    description: payment.description ?? null,
    customer: customer ?? null,
    metadata: payment.metadata ?? {},
    callback_url: payment.callbackUrl ?? null,
    return_url: payment.returnUrl ?? null,
  };
}

/** A payment with all fields of its creation. `estimatedDate`: as for `statusView`. */
export function wholeView(
  found: Pick<Found, "payment" | "customer">,
  estimatedDate: string | null,
  refundableMinor: Minor,
): Story["payment"] {
  const { payment } = found;
  return {
    ...statusView(payment, estimatedDate),
    ...given(found),
    risk: { decision: payment.risk.decision, score: payment.risk.score },
    canceled_at: wireTimeOrNull(payment.canceledAt),
    cancel_reason: payment.cancelReason ?? null,
    refundable_minor: wireAmount(refundableMinor),
    contestable_minor: wireAmount(isContestable(payment) ? contestableMinor(payment) : 0n),
  } as Story["payment"];
}

function askedView(found: Found): object {
  const { payment } = found;
  return {
    amount_minor: wireAmount(payment.amountMinor),
    currency: payment.currency,
    exponent: exponentOf(payment.currency),
    payment_method: payment.method,
    reference_id: payment.referenceId,
    ...given(found),
    fee_minor: wireAmount(payment.feeMinor),
  };
}

function calledView({ gatewayCode, step, attempt, inquiries, refusedBy }: Operation): object {
  return { gateway_code: gatewayCode, step, attempt, inquiries, refused_by: refusedBy };
}

function receivedView(receipt: KeptReceipt): object {
  return {
    uuid: receipt.uuid,
    gateway_code: receipt.gatewayCode,
    transaction_id: receipt.transactionId,
    amount_minor: wireAmount(receipt.amountMinor),
    currency: receipt.currency,
    exponent: exponentOf(receipt.currency),
    status: receipt.status,
  };
}

/** The attempts in a row of `selectEventsOf`. Their times are as PostgreSQL writes them. */
function attemptViews(json: string | null): object[] {
  const attempts = JSON.parse(json ?? "[]") as { started_at: string }[];
  return attempts.map((one) => ({ ...one, started_at: wireTime(parseSqlTime(one.started_at)) }));
}
