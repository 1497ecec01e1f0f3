// Reads Stripe's responses: pages, refunds, disputes, files, balances. A response counts only if it can be read and fits the request. Pure.
import { z } from "zod";
import {
  type Instructions,
  type Known,
  type OpenRequest,
  type ProviderIds,
  type Receipt,
  type RefundRequest,
  type RefundStatus,
  type Refunded,
  type ReportedDispute,
  type ReportedState,
  disputeReasons,
} from "../../acquirers/acquirer.ts";
import { readMoved } from "../../acquirers/other-money.ts";
import { objectionToAddresses } from "../../acquirers/payer-address.ts";
import { readBy } from "../../acquirers/remote-http.ts";
import { SECOND, wireTime } from "../../ground/clock.ts";
import { ourAmount, ourMinor } from "./amounts.ts";

type Body = Record<string, unknown> | undefined;

/** Properties that all responses of one account share. */
export interface Account {
  /** True in live mode, which moves real money. */
  live: boolean;
  /** True for a fake on this machine, over plain http. */
  plainOnLoopback: boolean;
}

/** Stripe's ids of payments, refunds and disputes, which Gerbang books. */
const name = z.string().regex(/^\w{1,64}$/);
const longName = z.string().regex(/^\w{1,255}$/);
const metadata = z.record(z.string(), z.string()).nullish();
const named = z.union([z.string(), z.object({ id: z.string() }).transform(({ id }) => id)]).nullish();

const balanceTransaction = z.object({ fee: z.int().min(0), currency: z.string() });
const charge = z.object({ balance_transaction: balanceTransaction.nullish() });
const paymentIntent = z.object({
  id: name,
  status: z.string(),
  amount_received: z.int(),
  currency: z.string(),
  // It is read for its fee alone: one that cannot be read must not keep the money from its payment.
  latest_charge: charge.nullish().catch(undefined),
});

const sessionSchema = z.object({
  id: longName,
  object: z.literal("checkout.session"),
  livemode: z.boolean(),
  mode: z.literal("payment"),
  status: z.enum(["open", "complete", "expired"]),
  payment_status: z.enum(["paid", "unpaid", "no_payment_required"]),
  amount_total: z.int().min(1),
  currency: z.string(),
  metadata,
  url: z.string().nullish(),
  payment_intent: z.union([name, paymentIntent]).nullish(),
});
type Session = z.infer<typeof sessionSchema>;
/** What of a page says whose it is and that it was paid, also where the rest cannot be read. */
const saidSchema = sessionSchema.pick({ livemode: true, payment_status: true, metadata: true });

/** State of a payment's page. */
export interface Page {
  id: string;
  isOpen: boolean;
  known: Extract<Known, { known: true }>;
}

/** Reads a Checkout Session. Throws when it cannot be read, or is not the requested one; `OtherMoney` where it says that this one is paid. */
export function pageOf(body: Body, request: OpenRequest, account: Account): Page {
  const { livemode, metadata, payment_status } = read(saidSchema, body, "a page");
  if (livemode !== account.live) throw malformed("a page", "livemode is that of other keys");
  if (metadata?.["operation_key"] !== request.operationKey)
    throw malformed("a page", "metadata.operation_key is another one");
  const reading = (): Page => readPage(body, request, account);
  return payment_status === "paid" ? readMoved(reading) : reading();
}

function readPage(body: Body, request: OpenRequest, account: Account): Page {
  const session = read(sessionSchema, body, "a page");
  const state = stateOf(session);
  if (state.status !== "paid") checkMoney("a page", session.amount_total, session.currency, request);
  const paid = idOf(session.payment_intent);
  // Disputes name a payment by this id; `account` is the field by which Gerbang finds a payment without its operation key.
  const names = paid === undefined ? {} : { payment_intent: paid, account: paid };
  const providerIds: ProviderIds = { session: session.id, ...names };
  const instructions = instructionsOf(session, request, account);
  return {
    id: session.id,
    isOpen: session.status === "open",
    known: { known: true, instructions, state, providerIds },
  };
}

/** Throws unless this is the page with the id `session`, and it has ended. */
export function checkEnded({ id, known }: Page, session: string): void {
  if (id !== session) throw malformed("a page", "it is another one");
  const { status } = known.state;
  if (status !== "failed") throw new Error(`Stripe has not closed the page: its payment is ${status}`);
}

/** Received money counts as Stripe reports it, whatever was ordered: the caller deals with a difference. */
function stateOf(session: Session): ReportedState {
  switch (`${session.status} ${session.payment_status}`) {
    case "open unpaid":
      return { status: "waiting" };
    case "complete unpaid":
      return { status: "processing" };
    case "expired unpaid":
      return { status: "failed" };
    case "complete paid":
      return { status: "paid", receipt: receiptOf(session) };
    default:
      throw malformed("a page", `it is ${session.status} and ${session.payment_status}`);
  }
}

function receiptOf({ payment_intent: intent, amount_total, currency }: Session): Receipt {
  const transactionId = idOf(intent);
  if (transactionId === undefined) throw malformed("a page", "it is paid and names no payment_intent");
  if (typeof intent !== "object" || intent === null) return { transactionId, ...ourAmount(amount_total, currency) };
  if (intent.status !== "succeeded") throw malformed("a page", `it is paid and its payment_intent ${intent.status}`);
  const received = ourAmount(intent.amount_received, intent.currency);
  const transaction = intent.latest_charge?.balance_transaction;
  // Stripe books fees in the currency in which it pays out, some time after the payment.
  const isBooked = transaction?.currency === intent.currency;
  const feeMinor = isBooked ? ourMinor(transaction.fee, transaction.currency) : undefined;
  return { transactionId, ...received, ...(feeMinor === undefined ? {} : { feeMinor }) };
}

function checkMoney(what: string, amount: number, currency: string, ours: OpenRequest | RefundRequest): void {
  const theirs = ourAmount(amount, currency);
  if (theirs.currency !== ours.currency) throw malformed(what, "its currency is another one");
  if (theirs.amountMinor !== ours.amountMinor) throw malformed(what, "its amount is another one");
}

/** The address at which the payer pays. A page that is over has none: Gerbang's payer page, which shows the payment's state, stands in. */
function instructionsOf({ url, status }: Session, request: OpenRequest, account: Account): Instructions {
  if (status === "open" && (url ?? "") === "") throw malformed("a page", "it is open and has no url");
  const address = status === "open" && url ? url : request.payUrl;
  const instructions: Instructions = {
    type: "redirect",
    value: address,
    redirect_url: address,
    expires_at: wireTime(request.expiresAt),
  };
  const objection = address === url ? objectionToAddresses(instructions, account.plainOnLoopback) : undefined;
  if (objection !== undefined) throw malformed("a page", objection);
  return instructions;
}

function idOf(intent: Session["payment_intent"]): string | undefined {
  return typeof intent === "string" ? intent : intent?.id;
}

const paidSchema = sessionSchema.pick({ id: true, object: true, livemode: true, metadata: true, payment_intent: true });

/** The payment_intent of a paid page, for a refund. Throws when there is none. */
export function paymentIntentOf(body: Body, paymentOperationKey: string, account: Account): string {
  const session = read(paidSchema, body, "a page");
  const intent = idOf(session.payment_intent);
  if (session.livemode !== account.live || session.metadata?.["operation_key"] !== paymentOperationKey || !intent) {
    throw malformed("a page", "it is not the paid page of this payment");
  }
  return intent;
}

const refundSchema = z.object({
  id: name,
  object: z.literal("refund"),
  amount: z.int().min(1),
  currency: z.string(),
  status: z.string().nullable(),
  metadata,
  payment_intent: named,
});

const refundStatuses: ReadonlyMap<string | null, RefundStatus> = new Map([
  ["pending", "pending"],
  ["requires_action", "pending"],
  ["succeeded", "succeeded"],
  ["failed", "failed"],
  ["canceled", "failed"],
]);

/** Reads a refund. Throws when it cannot be read, or is not the requested one; `OtherMoney` where other money is paid back. */
export function refundOf(body: Body, request: RefundRequest): Refunded {
  const refund = read(refundSchema, body, "a refund");
  if (refund.metadata?.["operation_key"] !== request.operationKey) {
    throw malformed("a refund", "metadata.operation_key is another one");
  }
  const status = refundStatuses.get(refund.status);
  if (status === undefined) throw malformed("a refund", "its status is not known");
  const check = (): void => checkMoney("a refund", refund.amount, refund.currency, request);
  if (status === "failed") check();
  else readMoved(check);
  const intent = request.paymentProviderIds?.["payment_intent"];
  if (intent !== undefined && refund.payment_intent !== intent) throw malformed("a refund", "it is of another payment");
  return { status, providerIds: { refund: refund.id } };
}

const listSchema = z.object({
  object: z.literal("list"),
  data: z.array(z.object({ id: longName, metadata }).loose()).max(100),
  has_more: z.boolean(),
});

/** The object of this operation in one page of a list, or the id after which to go on; neither at the end of the list. */
export function among(body: Body, operationKey: string): { found?: { id: string }; after?: string } {
  const { data, has_more } = read(listSchema, body, "a list");
  const found = data.find((one) => one.metadata?.operation_key === operationKey);
  if (found !== undefined) return { found };
  const after = has_more ? data.at(-1)?.id : undefined;
  return after === undefined ? {} : { after };
}

const disputeSchema = z.object({
  id: name,
  object: z.literal("dispute"),
  livemode: z.boolean(),
  amount: z.int().min(1),
  currency: z.string(),
  reason: z.string(),
  status: z.string(),
  payment_intent: named,
  metadata,
  evidence_details: z.object({ due_by: z.int().nullish(), submission_count: z.int().min(0) }),
});

/** `inquiry`: Stripe's `warning_…`, a question of the issuer that moves no money. */
const disputeStatuses: Readonly<Record<string, ReportedDispute["status"] | "inquiry">> = {
  warning_needs_response: "inquiry",
  warning_under_review: "inquiry",
  warning_closed: "inquiry",
  needs_response: "open",
  under_review: "under_review",
  appeal_needs_response: "appealed",
  appeal_under_review: "appealed",
  won: "won",
  lost: "lost",
};

/** A dispute and its payment_intent; undefined for a mere inquiry. Throws when it cannot be read. */
export function disputeOf(
  body: Body,
  account: Account,
): { paymentIntent: string | undefined; dispute: ReportedDispute } | undefined {
  const { id, livemode, amount, currency, reason, status, payment_intent, evidence_details } = read(
    disputeSchema,
    body,
    "a dispute",
  );
  if (livemode !== account.live) throw malformed("a dispute", "livemode is that of other keys");
  const known = Object.hasOwn(disputeStatuses, status) ? disputeStatuses[status] : undefined;
  if (known === undefined) throw malformed("a dispute", "its status is not known");
  if (known === "inquiry") return undefined;
  // 0: the bank takes no evidence for this dispute.
  const due = evidence_details.due_by ?? 0;
  return {
    paymentIntent: payment_intent ?? undefined,
    dispute: {
      id,
      status: known,
      ...ourAmount(amount, currency),
      reason: disputeReasons.find((one) => one === reason) ?? "general",
      respondBy: due > 0 ? due * SECOND : undefined,
    },
  };
}

/** Whether this evidence was submitted before: it is submitted once. Throws when the dispute cannot be read or is another one. */
export function isSubmitted(body: Body, request: { disputeId: string; operationKey: string }): boolean {
  const dispute = read(disputeSchema, body, "a dispute");
  if (dispute.id !== request.disputeId) throw malformed("a dispute", "it is another one");
  return dispute.metadata?.["operation_key"] === request.operationKey && dispute.evidence_details.submission_count > 0;
}

const fileSchema = z.object({
  id: name,
  object: z.literal("file"),
  purpose: z.literal("dispute_evidence"),
  size: z.int(),
});

/** The id of an uploaded file. Throws when it cannot be read, or not all of the file arrived. */
export function fileIdOf(body: Body, bytes: Buffer): string {
  const { id, size } = read(fileSchema, body, "a file");
  if (size !== bytes.length) throw malformed("a file", "its size is another one");
  return id;
}

const balanceSchema = z.object({ object: z.literal("balance"), livemode: z.boolean() });

/** Whether the keys are those of live mode. */
export function isLive(body: Body): boolean {
  return read(balanceSchema, body, "a balance").livemode;
}

function read<Value>(schema: z.ZodType<Value>, body: Body, what: string): Value {
  return readBy(schema, body, (why) => malformed(what, why));
}

function malformed(what: string, why: string): Error {
  return new Error(`Stripe answered with ${what} that cannot be believed (${why})`);
}
