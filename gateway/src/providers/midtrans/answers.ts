// What Midtrans answers, in our words: how a transaction stands, what its payer is told, and what became of a refund. What cannot be read
// throws an Error that says why: the outcome is unknown then. Pure.
import { z } from "zod";
import type { Standing } from "../../acquirers/acquirer.ts";
import { type Micros, parseWireTime } from "../../ground/clock.ts";
import type { Minor } from "../../ground/money.ts";

/** An answer as the network gave it; `body` is undefined when it was not one JSON object. */
export interface Answer {
  status: number;
  body: Readonly<Record<string, unknown>> | undefined;
}

const name = z.string().regex(/^[\x21-\x7e]{1,64}$/, "must be 1 to 64 printable characters without spaces");
export const amountText = z.string().regex(/^\d{1,13}(\.\d\d)?$/, "must be an amount like 10000.00");
const digits = z.string().regex(/^\d{1,40}$/, "must be digits");

/** A field that may be left out, or be null. */
const maybe = <Schema extends z.ZodType>(schema: Schema) => schema.nullish().transform((value) => value ?? undefined);

const refundSchema = z.object({
  refund_key: z.string().max(255),
  refund_amount: amountText,
  bank_confirmed_at: maybe(z.string().min(1)),
});

// Fields may be added to it at any time, says their documentation: what is not named here is not looked at.
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

/** What was ordered: whatever else an answer tells of, it is not about this. */
export interface Ordered {
  orderId: string;
  amountMinor: Minor;
  currency: string;
}

/**
 * Their three-digit status code. It stands in the body: HTTP says 200 also for what was refused. Throws when there is none, when HTTP says
 * something else, and while an equal request is still at work.
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

/** Reads a transaction, and throws unless it is the one that was ordered: by its order id, its amount and its currency. */
export function readTransaction({ body }: Answer, ordered: Ordered): Transaction {
  const parsed = transactionSchema.safeParse(body);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new Error(
      `Midtrans answered with a transaction that cannot be read (${issue?.path.join(".")}: ${issue?.message})`,
    );
  }
  const transaction = parsed.data;
  const { order_id, gross_amount, currency } = transaction;
  if (order_id !== ordered.orderId) throw new Error("Midtrans answered with another order");
  if (minorOf(gross_amount) !== ordered.amountMinor)
    throw new Error(`Midtrans answered with another amount: ${gross_amount}`);
  // Some answers leave the currency out: they know IDR alone.
  if ((currency ?? "IDR") !== ordered.currency) throw new Error("Midtrans answered with another currency");
  return transaction;
}

/** Rupiah with their two decimals, in minor units. */
export function minorOf(text: string): Minor {
  const [whole = "", decimals = "00"] = text.split(".");
  return BigInt(whole + decimals);
}

const PAID = ["capture", "settlement"];
/** What only a paid transaction becomes. */
const AFTER_PAID = ["refund", "partial_refund", "chargeback", "partial_chargeback"];
const FAILED = ["deny", "cancel", "expire", "failure"];
/** What ends one attempt with a card while its page lives on: the payer may try again under the same order id. */
const TRY_AGAIN = ["deny", "expire", "failure"];

/**
 * How a transaction stands. `pageLives`: it was made on a page that takes further attempts. A capture that their fraud detection questions
 * (`challenge`) is processing until a person accepts or denies it, here or in their dashboard. Throws for a status that is not documented.
 */
export function standingOf(transaction: Transaction, pageLives: boolean): Standing {
  const status = transaction.transaction_status.toLowerCase();
  const fraud = transaction.fraud_status?.toLowerCase();
  if (status === "pending") return { status: "waiting" };
  if (status === "authorize") return { status: "processing" };
  if (pageLives && TRY_AGAIN.includes(status)) return { status: "waiting" };
  if (FAILED.includes(status)) return { status: "failed" };
  if (AFTER_PAID.includes(status)) return paid(transaction);
  if (PAID.includes(status)) {
    if (fraud === undefined || fraud === "accept") return paid(transaction);
    if (status === "capture" && fraud === "challenge") return { status: "processing", isQuestioned: true };
    if (status === "capture" && fraud === "deny") return { status: "failed" };
    throw new Error(`Midtrans answered with status ${status} and fraud status ${fraud}`);
  }
  throw new Error(`Midtrans answered with status ${status}, which is not documented`);
}

/** What came: the sum of the single payments where they are told, and the amount of the order otherwise. */
function paid({ transaction_id, gross_amount, payment_amounts }: Transaction): Standing {
  const parts = payment_amounts?.map(({ amount }) => minorOf(amount)) ?? [];
  const amountMinor = parts.length === 0 ? minorOf(gross_amount) : parts.reduce((sum, part) => sum + part, 0n);
  return { status: "paid", receipt: { transactionId: transaction_id, amountMinor, currency: "IDR" } };
}

/** When the transaction was made; undefined when it does not say so. Their times are of GMT+7 and have no zone written. */
export function madeAt({ transaction_time }: Transaction): Micros | undefined {
  const found = parseWireTime(`${transaction_time?.replace(" ", "T")}+07:00`);
  return found?.at;
}
