// Our words to Stripe: the forms of its API for a payment's page, a refund and evidence. The same request gives the same bytes each time,
// since the same idempotency key must never come with others. Pure.
import type { EvidenceRequest, OpenRequest, RefundRequest } from "../../acquirers/acquirer.ts";
import { type Micros, SECOND } from "../../ground/clock.ts";
import { sha256 } from "../../ground/crypto.ts";
import { isId, momentOf } from "../../ground/ids.ts";
import { theirAmount } from "./amounts.ts";

/** The version whose shapes `answers.ts` reads; theirs to follow is a change here, with its tests. */
export const API_VERSION = "2026-10-28.endive";

const MINUTE: Micros = 60 * SECOND;
/** A page of theirs may be open for no less and no more than this. */
const PAGE_MIN: Micros = 30 * MINUTE;
const PAGE_MAX: Micros = 24 * 60 * MINUTE;
/** A shorter payment's page ends this long after the payment was made: their least, and time to get there. */
const SHORT_PAGE: Micros = 35 * MINUTE;
/** What a request needs to reach them, and how far their clock may be from ours. */
const ON_THE_WAY: Micros = MINUTE / 2;

export type ThreeDSecure = "automatic" | "any" | "challenge";

type Field = readonly [name: string, value: string];

export function headers(secretKey: string, idempotencyKey?: string): Record<string, string> {
  return {
    authorization: `Bearer ${secretKey}`,
    "stripe-version": API_VERSION,
    accept: "application/json",
    ...(idempotencyKey === undefined ? {} : { "idempotency-key": idempotencyKey }),
  };
}

export const FORM = "application/x-www-form-urlencoded";

/**
 * When a payment's page is to close: with the payment, or for a payment shorter than they allow 35 minutes after it was made. Depends on
 * nothing but the request, so that a repetition says the same.
 */
export function pageEnd({ expiresAt, reference }: Pick<OpenRequest, "expiresAt" | "reference">): Micros {
  return isId("payment", reference) ? Math.max(expiresAt, momentOf(reference) + SHORT_PAGE) : expiresAt;
}

/** Whether they take this end for a page that is opened now. Where they do not, the page has none of its own: theirs is 24 hours. */
export function isPageEnd(end: Micros, now: Micros): boolean {
  return end - now >= PAGE_MIN + ON_THE_WAY && end - now <= PAGE_MAX - ON_THE_WAY;
}

/** `POST /v1/checkout/sessions`: a page of theirs for one payment by card, closing at `end` if one is given. */
export function pageOrder(request: OpenRequest, threeDSecure: ThreeDSecure, end: Micros | undefined): string {
  const { reference, operationKey, amountMinor, currency, merchantName, payUrl, returnUrl } = request;
  return form([
    ["mode", "payment"],
    ["ui_mode", "hosted_page"],
    ["payment_method_types[0]", "card"],
    ["payment_method_options[card][request_three_d_secure]", threeDSecure],
    // The payer pays the amount of the payment in its currency, whatever the account's dashboard says.
    ["adaptive_pricing[enabled]", "false"],
    ["automatic_tax[enabled]", "false"],
    ["allow_promotion_codes", "false"],
    ["line_items[0][quantity]", "1"],
    ["line_items[0][price_data][currency]", currency.toLowerCase()],
    ["line_items[0][price_data][unit_amount]", theirAmount(amountMinor, currency)],
    ["line_items[0][price_data][product_data][name]", merchantName],
    ["client_reference_id", reference],
    ["metadata[operation_key]", operationKey],
    ["metadata[reference]", reference],
    ["payment_intent_data[capture_method]", "automatic"],
    ["payment_intent_data[description]", reference],
    ["payment_intent_data[metadata][operation_key]", operationKey],
    ["payment_intent_data[metadata][reference]", reference],
    ["success_url", returnUrl ?? payUrl],
    ["cancel_url", payUrl],
    ...(end === undefined ? [] : [["expires_at", String(Math.floor(end / SECOND))] as const]),
  ]);
}

/** What comes with a page that is read: what was paid, and the fee once they have booked it. */
export const PAGE_QUERY = `?expand%5B0%5D=payment_intent.latest_charge.balance_transaction`;

/** `POST /v1/refunds` */
export function refundOrder({ operationKey, amountMinor, currency }: RefundRequest, paymentIntent: string): string {
  return form([
    ["payment_intent", paymentIntent],
    ["amount", theirAmount(amountMinor, currency)],
    ["metadata[operation_key]", operationKey],
  ]);
}

/** A page of the refunds of a payment, newest first. */
export function refundsPath(paymentIntent: string, after: string | undefined): string {
  const query = new URLSearchParams({ payment_intent: paymentIntent, limit: "100" });
  if (after !== undefined) query.set("starting_after", after);
  return `/v1/refunds?${query.toString()}`;
}

/** A longer text they do not take. */
export const EVIDENCE_TEXT_MAX = 20_000;
/** The fields that take a file, one each, in the order in which files that name no field by their names are laid down. */
const fileFields = [
  "uncategorized_file",
  "customer_communication",
  "shipping_documentation",
  "receipt",
  "service_documentation",
  "customer_signature",
  "refund_policy",
  "cancellation_policy",
] as const;
export type FileField = (typeof fileFields)[number];
/** Words in a file's name, in English and Indonesian, that say which field it belongs to. */
const fieldByName: readonly (readonly [RegExp, FileField])[] = [
  [/receipt|invoice|faktur|struk|kuitansi/i, "receipt"],
  [/ship|deliver|resi|parcel|paket|kirim|courier|kurir/i, "shipping_documentation"],
  [/chat|mail|message|whatsapp|pesan|percakapan/i, "customer_communication"],
  [/contract|kontrak|work.?order|service/i, "service_documentation"],
];
export const EVIDENCE_FILES_MAX = fileFields.length;

/** Which field each file goes to: by its name where that says so, the rest in order. Never more files than fields. */
export function fieldsOf(files: readonly { name: string }[]): FileField[] {
  const taken = new Set<FileField>();
  const named = files.map(({ name }) => {
    const field = fieldByName.find(([words, field]) => words.test(name) && !taken.has(field))?.[1];
    if (field !== undefined) taken.add(field);
    return field;
  });
  const free = fileFields.filter((field) => !taken.has(field));
  return named.map((field) => field ?? free.shift() ?? "uncategorized_file");
}

/** The text of the evidence: Stripe has no field for the day of a delivery. */
export function evidenceText({ statement, deliveredOn }: Pick<EvidenceRequest, "statement" | "deliveredOn">): string {
  return deliveredOn === undefined ? statement : `${statement}\n\nDelivered on ${deliveredOn}.`;
}

/** `POST /v1/disputes/:id`: all of the evidence, submitted for good. `fileIds` are those of the uploaded files, in order. */
export function evidenceOrder(request: EvidenceRequest, fileIds: readonly string[]): string {
  const fields = fieldsOf(request.files);
  const optional: Field[] = [
    ...(request.carrier === undefined ? [] : [["evidence[shipping_carrier]", request.carrier] as const]),
    ...(request.trackingNumber === undefined
      ? []
      : [["evidence[shipping_tracking_number]", request.trackingNumber] as const]),
  ];
  return form([
    ["evidence[uncategorized_text]", evidenceText(request)],
    ...optional,
    ...fileIds.map((id, index) => [`evidence[${fields[index]}]`, id] as const),
    ["metadata[operation_key]", request.operationKey],
    ["submit", "true"],
  ]);
}

/** `POST /v1/files` at their host for files. */
export function fileUpload({ name, type, bytes }: EvidenceRequest["files"][number]): {
  contentType: string;
  body: Buffer;
} {
  // From the bytes themselves, so that a repetition is the same request, and no file holds the hash of itself.
  const boundary = `gerbang-${sha256(bytes).toString("hex")}`;
  const filename = name.replaceAll(/[^\x20-\x7e]|["\\]/g, "_");
  const part = (head: string): string => `--${boundary}\r\nContent-Disposition: form-data; ${head}\r\n`;
  const body = Buffer.concat([
    Buffer.from(`${part('name="purpose"')}\r\ndispute_evidence\r\n`),
    Buffer.from(`${part(`name="file"; filename="${filename}"`)}Content-Type: ${type}\r\n\r\n`),
    bytes,
    Buffer.from(`\r\n--${boundary}--\r\n`),
  ]);
  return { contentType: `multipart/form-data; boundary=${boundary}`, body };
}

function form(fields: readonly Field[]): string {
  return new URLSearchParams(fields.map(([name, value]) => [name, value])).toString();
}
