// The HTTP protocol between Gerbang and acquirers: its signature and the schemas of its bodies, for both sides. docs/guides/acquirers.md
// explains it to those who build an acquirer's end.
import { z } from "zod";
import { type Micros, SECOND, parseWireTime } from "../ground/clock.ts";
import { isInTimestampWindow, sameText } from "../ground/crypto.ts";
import { Fault } from "../ground/fault.ts";
import { MINOR_MAX, isCurrency } from "../ground/money.ts";
import type { SigningKey } from "../ground/signing-key.ts";
import { paymentMethods } from "../merchants/settings.ts";

/** Maximum size of a request or response body. */
export const BODY_MAX_BYTES = 65_536;
const TIMESTAMP = "x-acquirer-timestamp";
const SIGNATURE = "x-acquirer-signature";

type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** Lower-case hex of HMAC-SHA256 over `timestamp.METHOD path.body`. `path` includes the query, exactly as the request has it. */
export function signatureOf(
  key: SigningKey,
  timestamp: string,
  method: string,
  path: string,
  body: Uint8Array | string,
): string {
  return key.sign("hex", `${timestamp}.${method} ${path}.`, body);
}

export function signedHeaders(
  key: SigningKey,
  now: Micros,
  method: string,
  path: string,
  body: string,
): Record<string, string> {
  const timestamp = String(Math.floor(now / SECOND));
  return { [TIMESTAMP]: timestamp, [SIGNATURE]: signatureOf(key, timestamp, method, path, body) };
}

/** Checks a message's signature in constant time. Throws SIGNATURE_MISSING, TIMESTAMP_OUT_OF_WINDOW or SIGNATURE_INVALID. */
export function checkSignature(
  key: SigningKey,
  now: Micros,
  method: string,
  path: string,
  headers: Headers,
  body: Uint8Array,
): void {
  const { [TIMESTAMP]: timestamp, [SIGNATURE]: signature } = headers;
  if (timestamp === undefined || signature === undefined) {
    throw new Fault("SIGNATURE_MISSING", { message: "Send both X-Acquirer-Timestamp and X-Acquirer-Signature." });
  }
  const invalid = new Fault("SIGNATURE_INVALID", {
    message:
      "The signature does not match. Sign timestamp + '.' + method + ' ' + path + '.' + the exact bytes of the body.",
  });
  if (typeof timestamp !== "string" || typeof signature !== "string" || !/^\d{1,15}$/.test(timestamp)) throw invalid;
  if (!isInTimestampWindow(Number(timestamp), Math.floor(now / SECOND))) {
    throw new Fault("TIMESTAMP_OUT_OF_WINDOW", {
      message: "X-Acquirer-Timestamp is more than 300 seconds from our clock. Synchronise your clock and sign again.",
    });
  }
  if (!sameText(signature, signatureOf(key, timestamp, method, path, body))) throw invalid;
}

const operationKey = z.string().regex(/^[a-z0-9.]{1,64}$/, "must be 1 to 64 of a-z, 0-9 and dots");
const amountMinor = z.int().min(1).max(Number(MINOR_MAX));
const currency = z.string().refine(isCurrency, "is not a currency of ISO 4217");
const httpUrl = z.url({ protocol: /^https?$/, error: "must be an http or https URL" }).max(2048);
const instant = z
  .string()
  .regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/, "must be a time like 2026-11-21T07:42:22Z")
  .refine((text) => parseWireTime(text) !== undefined, "is no time that exists");
const token = z.string().regex(/^[\x21-\x7e]{1,64}$/, "must be 1 to 64 printable characters without spaces");

/** Body of Gerbang's `POST /payments`. */
export const paymentOrderSchema = z.strictObject({
  operation_key: operationKey,
  amount_minor: amountMinor,
  currency,
  payment_method: z.enum(paymentMethods),
  merchant_name: z.string().min(1).max(500),
  reference: z.string().min(1).max(100),
  expires_at: instant,
  pay_url: httpUrl,
  /** Address to which the payer's browser returns. */
  return_url: httpUrl.optional(),
  callback_url: httpUrl,
});
export type PaymentOrder = z.infer<typeof paymentOrderSchema>;

/** Body of Gerbang's `POST /refunds`. */
export const refundOrderSchema = z.strictObject({
  operation_key: operationKey,
  payment_operation_key: operationKey,
  amount_minor: amountMinor,
  currency,
  callback_url: httpUrl,
});
export type RefundOrder = z.infer<typeof refundOrderSchema>;

const paymentStatus = z.enum(["waiting", "processing", "failed", "paid"]);
const refundStatus = z.enum(["pending", "succeeded", "failed"]);

/** The money that was received. Present exactly when a payment is `paid`. */
export const transactionSchema = z.strictObject({ transaction_id: token, amount_minor: amountMinor, currency });
export type Transaction = z.infer<typeof transactionSchema>;

interface Paid {
  status: string;
  transaction?: unknown;
}
const paidHasTransaction = (value: Paid): boolean => (value.status === "paid") === (value.transaction !== undefined);
const needsTransaction = { path: ["transaction"], message: "belongs to status paid, and to no other" };

const fieldName = /^[a-z][a-z0-9_]{0,39}$/;
/** The largest QR code holds 2,331 bytes when it can lose a seventh of its area. */
const isDrawable = (text: string): boolean => Buffer.byteLength(text) <= 2_331;
const instructionsSchema = z
  .object({
    type: z.enum(["qr_string", "va_number", "bank_account", "redirect"]),
    value: z.string().min(1).max(4096),
    expires_at: instant,
  })
  .catchall(z.string().max(4096))
  .refine((fields) => Object.keys(fields).length <= 20, "has more than 20 fields")
  .refine((fields) => Object.keys(fields).every((name) => fieldName.test(name)), "has a field of a strange name")
  .refine(({ type, value }) => type !== "qr_string" || isDrawable(value), "fits into no QR code");

// Responses may gain fields: unknown ones are ignored. Callbacks are strict, because Gerbang would read no added field.
export const paymentAnswerSchema = z
  .object({
    operation_key: operationKey,
    status: paymentStatus,
    instructions: instructionsSchema,
    transaction: transactionSchema.optional(),
  })
  .refine(paidHasTransaction, needsTransaction);
export const refundAnswerSchema = z.object({ operation_key: operationKey, status: refundStatus });
export const voidAnswerSchema = z.object({ operation_key: operationKey, status: z.literal("void") });
export const errorAnswerSchema = z.object({
  error: z.object({ code: z.string(), message: z.string(), final: z.boolean().optional() }),
});

const callbackFields = { callback_id: token, operation_key: operationKey, occurred_at: instant };
export const callbackSchema = z.discriminatedUnion("kind", [
  z
    .strictObject({
      ...callbackFields,
      kind: z.literal("payment"),
      status: paymentStatus,
      transaction: transactionSchema.optional(),
    })
    .refine(paidHasTransaction, needsTransaction),
  z.strictObject({ ...callbackFields, kind: z.literal("refund"), status: refundStatus }),
]);
