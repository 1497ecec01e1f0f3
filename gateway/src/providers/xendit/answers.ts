// Reads Xendit's responses. Each field that decides about money is compared with the order, and whatever is uncertain throws.
import { z } from "zod";
import type { Instructions, OpenRequest, Receipt, RefundRequest, RefundStatus } from "../../acquirers/acquirer.ts";
import { OtherMoney, readMoved } from "../../acquirers/other-money.ts";
import { objectionToAddresses } from "../../acquirers/payer-address.ts";
import { otherMoneyIn, readQr } from "../../acquirers/qris-reading.ts";
import { printable, readBy } from "../../acquirers/remote-http.ts";
import { wireTime } from "../../ground/clock.ts";
import { readAmount } from "./amounts.ts";
import { banks, isBank } from "./channels.ts";
import { displayName } from "./requests.ts";

/** A response that cannot be believed: the outcome is unknown. */
export class Unreadable extends Error {
  override name = "Unreadable";

  constructor(what: string, why: string) {
    super(`Xendit answered with ${what} that cannot be read (${why})`);
  }
}

/** Xendit's ids: printable, and short enough to be stored. */
const id = z.string().regex(/^[\x21-\x7e]{1,64}$/, "is no id");
const idIfAny = id.nullish();

const actionSchema = z.object({ type: z.string(), descriptor: z.string().nullish(), value: z.string().nullish() });
type Action = z.infer<typeof actionSchema>;

// Responses may gain fields: unknown ones are ignored.
const paymentRequestSchema = z
  .object({
    payment_request_id: idIfAny,
    /** The name of this field in Xendit's migration guide. */
    id: idIfAny,
    reference_id: z.string(),
    latest_payment_id: idIfAny,
    currency: z.string(),
    request_amount: z.unknown(),
    status: z.string(),
    actions: z.array(actionSchema).max(50).nullish(),
  })
  .refine((read) => read.payment_request_id ?? read.id, "payment_request_id is missing");
const paymentSchema = z.object({ payment_id: id, payment_request_id: idIfAny, status: z.string() });
const moneySchema = z.object({
  currency: z.string(),
  request_amount: z.unknown(),
  captures: z.object({ capture_amount: z.unknown() }).array().max(50).nullish(),
});
const sessionSchema = z.object({
  payment_session_id: id,
  reference_id: z.string(),
  currency: z.string(),
  amount: z.unknown(),
  status: z.string(),
  payment_link_url: z.string().nullish(),
  payment_request_id: idIfAny,
  payment_id: idIfAny,
});
const refundSchema = z.object({
  id,
  reference_id: z.string().nullish(),
  currency: z.string(),
  amount: z.unknown(),
  status: z.string(),
});
/** What of a payment request, a card page or a refund says whose it is and whether money has moved, also where the rest cannot be read. */
const saidSchema = z.object({ reference_id: z.string(), status: z.string() });
const listSchema = z.object({ data: z.array(z.unknown()).max(1000), has_more: z.boolean().nullish() });

/** State of a payment request or a card page. `paid` counts only together with the payment that paid it. */
type XenditState = "waiting" | "processing" | "failed" | "paid";

/** Xendit's documentation: create-payment-request, and pay-one-off-payment, which alone knows PENDING. */
export const requestStates: Readonly<Record<string, XenditState>> = {
  ACCEPTING_PAYMENTS: "waiting",
  REQUIRES_ACTION: "waiting",
  PENDING: "processing",
  AUTHORIZED: "processing",
  SUCCEEDED: "paid",
  FAILED: "failed",
  CANCELED: "failed",
  EXPIRED: "failed",
};
/** Xendit's documentation: get-session. */
export const sessionStates: Readonly<Record<string, XenditState>> = {
  ACTIVE: "waiting",
  COMPLETED: "paid",
  EXPIRED: "failed",
  CANCELED: "failed",
};
/** Xendit's documentation: refund-payment-request. */
export const refundStatuses: Readonly<Record<string, RefundStatus>> = {
  PENDING: "pending",
  SUCCEEDED: "succeeded",
  FAILED: "failed",
  CANCELLED: "failed",
};

/** The ordered values with which a response about a payment is compared. */
type Order = Pick<OpenRequest, "operationKey" | "amountMinor" | "currency">;

/** The parts of a payment request or a card page that Gerbang uses. */
export interface XenditPayment {
  state: XenditState;
  paymentRequestId: string | undefined;
  sessionId: string | undefined;
  paymentId: string | undefined;
  actions: readonly Action[];
  /** Address of the card page. */
  page: string | undefined;
}

/** Reads a payment request. Throws `Unreadable` unless it is complete and belongs to this order; `OtherMoney` where it is paid, and not so. */
export function readPaymentRequest(body: unknown, request: Order): XenditPayment {
  const { read, state } = readOrdered("a payment request", body, request, {
    schema: paymentRequestSchema,
    states: requestStates,
    field: "request_amount",
  });
  return {
    state,
    paymentRequestId: read.payment_request_id ?? read.id ?? undefined,
    sessionId: undefined,
    paymentId: read.latest_payment_id ?? undefined,
    actions: read.actions ?? [],
    page: undefined,
  };
}

export function readSession(body: unknown, request: Order): XenditPayment {
  const { read, state } = readOrdered("a card page", body, request, {
    schema: sessionSchema,
    states: sessionStates,
    field: "amount",
  });
  return {
    state,
    paymentRequestId: read.payment_request_id ?? undefined,
    sessionId: read.payment_session_id,
    paymentId: read.payment_id ?? undefined,
    actions: [],
    page: read.payment_link_url ?? undefined,
  };
}

/** Throws unless this is the payment request or card page with the id `name`, and it has ended. */
export function checkEnded({ state, sessionId, paymentRequestId }: XenditPayment, name: string): void {
  const what = sessionId === undefined ? "a payment request" : "a card page";
  if ((sessionId ?? paymentRequestId) !== name) throw new Unreadable(what, "it is another one");
  if (state !== "failed") throw new Error(`Xendit has not ended ${what}: it is ${state}`);
}

/**
 * Reads the receipt of a Xendit payment. Its amount is the captured sum, which may differ from the ordered amount. Throws `Unreadable` unless it is
 * the payment that was asked for, and `OtherMoney` for an amount that cannot be read.
 */
export function readReceipt(
  body: unknown,
  { paymentId, paymentRequestId }: { paymentId: string; paymentRequestId: string | undefined },
): Receipt {
  const what = "a payment";
  const { payment_id, status, ...read } = parse(paymentSchema, body, what);
  if (status !== "SUCCEEDED") throw new Unreadable(what, `status is ${printable(status, 60)}, not SUCCEEDED`);
  if (payment_id !== paymentId) throw new Unreadable(what, "payment_id is another one");
  if (paymentRequestId !== undefined && read.payment_request_id && read.payment_request_id !== paymentRequestId)
    throw new Unreadable(what, "payment_request_id is another one");
  const { currency, captures, request_amount } = readMoved(() => parse(moneySchema, body, what));
  // Some channels report no captures: they capture the whole amount at once.
  const parts = captures && captures.length > 0 ? captures.map((part) => part.capture_amount) : [request_amount];
  let amountMinor = 0n;
  for (const part of parts) {
    const minor = readAmount(part, currency);
    if (minor === undefined) throw new OtherMoney("Xendit answered with a paid payment of which an amount is none");
    amountMinor += minor;
  }
  if (amountMinor === 0n) throw new OtherMoney("Xendit answered with a paid payment, and its amount is nothing");
  return { transactionId: payment_id, amountMinor, currency };
}

export interface ReadRefund {
  id: string;
  status: RefundStatus;
}

export function readRefund(body: unknown, request: RefundRequest): ReadRefund {
  const { read, state } = readOrdered("a refund", body, request, {
    schema: refundSchema,
    states: refundStatuses,
    field: "amount",
  });
  return { id: read.id, status: state };
}

/** Reads one page of a list: the items with this reference, whether there are more pages, and the id after which the next one begins. */
export function readList(
  body: unknown,
  reference: string,
): { matching: unknown[]; more: boolean; lastId: string | undefined } {
  const { data, has_more } = parse(listSchema, body, "a list");
  const last = z.object({ id }).safeParse(data.at(-1));
  return {
    // Xendit may ignore a filter that it does not understand, so each item is checked.
    matching: data.filter((item) => z.object({ reference_id: z.literal(reference) }).safeParse(item).success),
    more: has_more === true,
    lastId: last.data?.id,
  };
}

/** The payer's instructions. Throws `Unreadable` when a waiting payment has none. Later they decide nothing, and our own payer page may stand in. */
export function instructionsOf(
  request: OpenRequest,
  channel: string | undefined,
  payment: XenditPayment,
  plainOnLoopback: boolean,
): Instructions {
  const expires_at = wireTime(request.expiresAt);
  const valueOf = (descriptor: string): string | undefined =>
    payment.actions.find((action) => action.type === "PRESENT_TO_CUSTOMER" && action.descriptor === descriptor)
      ?.value ?? undefined;
  const need = (value: string | undefined, what: string, form: RegExp): string => {
    if (value !== undefined && form.test(value)) return value;
    if (payment.state !== "waiting") return request.payUrl;
    throw new Unreadable("a payment request", `${what} is missing, or none`);
  };
  if (request.method === "qris") {
    const value = need(valueOf("QR_STRING"), "QR_STRING", /^[\x20-\x7e]{1,1024}$/);
    const qr = readQr(value);
    const isBroken = qr.crc.stated !== undefined && qr.crc.stated.toUpperCase() !== qr.crc.computed;
    const other = isBroken ? "checksum" : otherMoneyIn(qr, request.amountMinor);
    // Xendit's test mode may answer with a placeholder, which says no money. Of a payment that waits no more, the receipt decides.
    if (other !== undefined && payment.state === "waiting")
      throw new Unreadable("a payment request", `QR_STRING has another ${other}`);
    return { type: "qr_string", value, expires_at, qr_string: value };
  }
  const bank = channel !== undefined && isBank(channel) ? banks[channel] : undefined;
  if (request.method === "va" && bank !== undefined) {
    const value = need(valueOf("VIRTUAL_ACCOUNT_NUMBER"), "VIRTUAL_ACCOUNT_NUMBER", /^\d{6,30}$/);
    return {
      type: "va_number",
      value,
      expires_at,
      bank_name: bank.name,
      bank_code: bank.bankCode,
      account_number: value,
      account_name: displayName(request.merchantName),
    };
  }
  if (request.method === "va" && payment.state === "waiting")
    throw new Unreadable("a payment request", "its bank is none of ours");
  const value = need(request.method === "card" ? payment.page : webPage(payment.actions), "WEB_URL", /^https?:/);
  const instructions: Instructions = { type: "redirect", value, expires_at, redirect_url: value };
  const objection = value === request.payUrl ? undefined : objectionToAddresses(instructions, plainOnLoopback);
  if (objection === undefined) return instructions;
  if (payment.state === "waiting") throw new Unreadable("a payment request", objection);
  return { ...instructions, value: request.payUrl, redirect_url: request.payUrl };
}

/** Address of a wallet's page: preferably the one for any browser, else one for phones only. */
function webPage(actions: readonly Action[]): string | undefined {
  const redirects = actions.filter(({ type, value }) => type === "REDIRECT_CUSTOMER" && /^https?:/.test(value ?? ""));
  return (redirects.find(({ descriptor }) => descriptor === "WEB_URL") ?? redirects[0])?.value ?? undefined;
}

/**
 * Reads an answer about an order. Throws `Unreadable` unless it is whole and about this order and its money, and `OtherMoney` where it says of this
 * order that its money has moved.
 */
function readOrdered<
  Read extends { reference_id?: string | null | undefined; status: string; currency: string },
  State extends XenditState | RefundStatus,
>(
  what: string,
  body: unknown,
  { operationKey, amountMinor, currency }: Order,
  {
    schema,
    states,
    field,
  }: { schema: z.ZodType<Read>; states: Readonly<Record<string, State>>; field: keyof Read & string },
): { read: Read; state: State } {
  const stateOf = (status: string): State | undefined => (Object.hasOwn(states, status) ? states[status] : undefined);
  const check = (): { read: Read; state: State } => {
    const read = parse(schema, body, what);
    if (read.reference_id !== operationKey) throw new Unreadable(what, "reference_id is another one");
    const state = stateOf(read.status);
    if (state === undefined) throw new Unreadable(what, `status ${printable(read.status, 60)} is unknown`);
    if (read.currency !== currency) throw new Unreadable(what, "currency is another one");
    if (readAmount(read[field], currency) !== amountMinor) throw new Unreadable(what, `${field} is another one`);
    return { read, state };
  };
  const said = saidSchema.safeParse(body).data;
  const state = said?.reference_id === operationKey ? stateOf(said.status) : undefined;
  return state === "paid" || state === "pending" || state === "succeeded" ? readMoved(check) : check();
}

function parse<Value>(schema: z.ZodType<Value>, body: unknown, what: string): Value {
  return readBy(schema, body, (why) => new Unreadable(what, why));
}
