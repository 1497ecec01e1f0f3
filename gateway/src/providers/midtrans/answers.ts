// Reads Midtrans' responses about transactions: status code, order, state, amount and time. A response that cannot be read throws an Error that
// says why: the outcome is unknown then. Pure.
import { z } from "zod";
import type { ReportedState } from "../../acquirers/acquirer.ts";
import { readMoved } from "../../acquirers/other-money.ts";
import { readBy } from "../../acquirers/remote-http.ts";
import { type Micros, parseWireTime } from "../../ground/clock.ts";
import type { Minor } from "../../ground/money.ts";

/** A response as it arrived; `body` is undefined when it was not one JSON object. */
export interface Answer {
  status: number;
  body: Readonly<Record<string, unknown>> | undefined;
}

const name = z.string().regex(/^[\x21-\x7e]{1,64}$/, "must be 1 to 64 printable characters without spaces");
export const amountText = z.string().regex(/^\d{1,13}(\.\d\d)?$/, "must be an amount like 10000.00");
const digits = z.string().regex(/^\d{1,40}$/, "must be digits");

/** A field that may be absent or null. */
const maybe = <Schema extends z.ZodType>(schema: Schema) => schema.nullish().transform((value) => value ?? undefined);

const refundSchema = z.object({
  refund_key: z.string().max(255),
  refund_amount: amountText,
  bank_confirmed_at: maybe(z.string().min(1)),
});

// Midtrans' documentation says that fields may be added at any time: unknown ones are ignored.
const transactionSchema = z.object({
  transaction_id: name,
  order_id: z.string().min(1).max(50),
  gross_amount: amountText,
  currency: maybe(z.string()),
  payment_type: z.string().min(1).max(64),
  transaction_status: z.string().min(1).max(64),
  fraud_status: maybe(z.string()),
  transaction_time: maybe(z.string()),
  settlement_time: maybe(z.string().min(1)),
  va_numbers: maybe(z.array(z.object({ bank: z.string(), va_number: digits })).max(10)),
  permata_va_number: maybe(digits),
  biller_code: maybe(digits),
  bill_key: maybe(digits),
  qr_string: maybe(z.string().min(1).max(1024)),
  actions: maybe(z.array(z.object({ name: z.string(), url: z.string() })).max(20)),
  payment_amounts: maybe(z.array(z.object({ amount: amountText })).max(1_000)),
  refunds: maybe(z.array(refundSchema).max(1_000)),
});
export type Transaction = z.infer<typeof transactionSchema>;
/** What of a transaction says that it was paid, also where the rest cannot be read. */
const saidSchema = transactionSchema.pick({ order_id: true, transaction_status: true, fraud_status: true });

/** The ordered values. A response with other values is about another order. */
export interface Ordered {
  orderId: string;
  amountMinor: Minor;
  currency: string;
}

/**
 * Reads Midtrans' three-digit status code from the body, since HTTP says 200 for refusals too. Throws when there is none, when HTTP says
 * something else, and while Midtrans is still working on an equal request.
 */
export function statusCodeOf({ status, body }: Answer): string {
  const code = body?.["status_code"];
  if (status === 202 && code !== "202") throw new Error("Midtrans is still at work on an equal request");
  if (typeof code !== "string" || !/^\d{3}$/.test(code))
    throw new Error(`Midtrans answered with ${status} and without a status code`);
  if (status >= 300 && code !== String(status))
    throw new Error(`Midtrans answered with ${status} and status code ${code}`);
  return code;
}

/** Reads a transaction. Throws unless its order id, amount and currency are the ordered ones; `OtherMoney` where it says that it was paid. */
export function readTransaction({ body }: Answer, ordered: Ordered): Transaction {
  const malformed = (why: string): Error =>
    new Error(`Midtrans answered with a transaction that cannot be read (${why})`);
  const read = (): Transaction => readBy(transactionSchema, body, malformed);
  const said = saidSchema.safeParse(body).data;
  const transaction = said?.order_id === ordered.orderId && isPaid(said) ? readMoved(read) : read();
  if (transaction.order_id !== ordered.orderId) throw new Error("Midtrans answered with another order");
  const check = (): void => checkMoney(transaction, ordered);
  if (isPaid(transaction)) readMoved(check);
  else check();
  return transaction;
}

function checkMoney({ gross_amount, currency }: Transaction, ordered: Ordered): void {
  if (minorOf(gross_amount) !== ordered.amountMinor)
    throw new Error(`Midtrans answered with another amount: ${gross_amount}`);
  // Some responses leave the currency out: Midtrans knows IDR only.
  if ((currency ?? "IDR") !== ordered.currency) throw new Error("Midtrans answered with another currency");
}

/** Converts rupiah with two decimals to minor units. */
export function minorOf(text: string): Minor {
  const [whole = "", decimals = "00"] = text.split(".");
  return BigInt(whole + decimals);
}

const PAID = ["capture", "settlement"];
/** Statuses that only a paid transaction can get. */
const AFTER_PAID = ["refund", "partial_refund", "chargeback", "partial_chargeback"];
const FAILED = ["deny", "cancel", "expire", "failure"];
/** Statuses that end one attempt with a card while its page stays open: the payer may try again under the same order id. */
const TRY_AGAIN = ["deny", "expire", "failure"];

/**
 * State of a transaction. `pageLives`: its page still takes attempts. A capture that Midtrans' fraud detection questions (`challenge`) is
 * processing until a person accepts or denies it, in Gerbang or in Midtrans' dashboard. Throws for a status that is not documented.
 */
export function stateOf(transaction: Transaction, pageLives: boolean): ReportedState {
  const status = transaction.transaction_status.toLowerCase();
  const fraud = transaction.fraud_status?.toLowerCase();
  if (status === "pending") return { status: "waiting" };
  if (status === "authorize") return { status: "processing" };
  if (pageLives && TRY_AGAIN.includes(status)) return { status: "waiting" };
  if (FAILED.includes(status)) return { status: "failed" };
  if (isPaid(transaction)) return paid(transaction);
  if (PAID.includes(status)) {
    if (status === "capture" && fraud === "challenge") return { status: "processing", isUnderReview: true };
    if (status === "capture" && fraud === "deny") return { status: "failed" };
    throw new Error(`Midtrans answered with status ${status} and fraud status ${fraud}`);
  }
  throw new Error(`Midtrans answered with status ${status}, which is not documented`);
}

function isPaid({ transaction_status, fraud_status }: z.infer<typeof saidSchema>): boolean {
  const status = transaction_status.toLowerCase();
  const isAccepted = (fraud_status?.toLowerCase() ?? "accept") === "accept";
  return AFTER_PAID.includes(status) || (PAID.includes(status) && isAccepted);
}

/** The received amount: the sum of the single payments if the response lists them, else the amount of the order. */
function paid({ transaction_id, gross_amount, payment_amounts }: Transaction): ReportedState {
  const parts = payment_amounts?.map(({ amount }) => minorOf(amount)) ?? [];
  const amountMinor = parts.length === 0 ? minorOf(gross_amount) : parts.reduce((sum, part) => sum + part, 0n);
  return { status: "paid", receipt: { transactionId: transaction_id, amountMinor, currency: "IDR" } };
}

/** Time at which the transaction was made; undefined when the response has none. Midtrans writes times of GMT+7 without a zone. */
export function madeAt({ transaction_time }: Transaction): Micros | undefined {
  return parseWireTime(`${transaction_time?.replace(" ", "T")}+07:00`)?.at;
}
