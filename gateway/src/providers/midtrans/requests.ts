// Builds the requests to Midtrans: charges, card pages and refunds. Pure.
import { AcquirerRefused, type OpenRequest } from "../../acquirers/acquirer.ts";
import { type Micros, MINUTE, SECOND, wireTime } from "../../ground/clock.ts";
import type { Minor } from "../../ground/money.ts";
import type { PaymentMethod } from "../../merchants/settings.ts";

export interface Order extends Pick<OpenRequest, "method" | "amountMinor" | "currency" | "expiresAt"> {
  orderId: string;
  /** Reference of the payment, for people who look at it in Midtrans' dashboard. */
  reference: string;
  /** The bank or wallet: one of `channelsOf` the method. */
  channel: string;
  /** Address to which the payer's browser returns. */
  finishUrl: string;
}

const channels: Readonly<Record<PaymentMethod, readonly string[]>> = {
  qris: ["gopay", "shopeepay"],
  va: ["bca", "bni", "bri", "permata", "cimb", "mandiri"],
  ewallet: ["gopay", "shopeepay"],
  card: ["card"],
  bank_transfer: [],
};

/** Banks and wallets of a method, by Gerbang's names; the first is the default. Empty: Midtrans does not take the method. */
export function channelsOf(method: PaymentMethod): readonly string[] {
  return channels[method];
}

/** Midtrans takes whole rupiah, so Gerbang's two decimals must be zero. Routing knows this; any other amount is refused and never rounded. */
export const STEP_MINOR: Minor = 100n;
const CUSTOM_EXPIRY_MIN: Micros = 20 * SECOND;
const PAGE_MINUTES_MIN = 5;
const JAKARTA: Micros = 7 * 60 * MINUTE;

/** The body of `POST /v2/charge`. Throws `AcquirerRefused` for an order that Midtrans would not take: nothing was sent. */
export function chargeBody(order: Order, now: Micros): object {
  const { orderId, amountMinor, currency, expiresAt, reference } = order;
  const remaining = expiresAt - now;
  if (remaining < CUSTOM_EXPIRY_MIN) throw new AcquirerRefused("Midtrans takes no payment of less than 20 seconds");
  return {
    ...paymentType(order),
    transaction_details: { order_id: orderId, gross_amount: rupiah(amountMinor, currency) },
    custom_expiry: {
      order_time: jakartaTime(now),
      expiry_duration: Math.ceil(remaining / SECOND),
      unit: "second",
    },
    custom_field1: reference,
  };
}

function paymentType({ method, channel, finishUrl, reference }: Order): object {
  if (method === "qris")
    return { payment_type: "qris", qris: { acquirer: channel === "shopeepay" ? "airpay shopee" : "gopay" } };
  if (method === "va" && channel === "mandiri") {
    // Mandiri shows ten characters of a label, and thirty of its value.
    return { payment_type: "echannel", echannel: { bill_info1: "Payment:", bill_info2: reference } };
  }
  if (method === "va") return { payment_type: "bank_transfer", bank_transfer: { bank: channel } };
  if (method === "ewallet" && channel === "gopay")
    return { payment_type: "gopay", gopay: { enable_callback: true, callback_url: finishUrl } };
  if (method === "ewallet") return { payment_type: "shopeepay", shopeepay: { callback_url: finishUrl } };
  throw new AcquirerRefused(`Midtrans' Core API takes no ${method}`);
}

/**
 * The body of `POST /snap/v1/transactions`: a page at Midtrans that takes a card, with 3-D Secure, and nothing else. A page lives at least five
 * minutes: the page of a shorter payment begins in the past, so that it ends when the payment does.
 */
export function pageBody(
  { orderId, amountMinor, currency, expiresAt, finishUrl, reference }: Order,
  now: Micros,
): object {
  if (expiresAt <= now) throw new AcquirerRefused("the payment is over");
  const minutes = Math.max(PAGE_MINUTES_MIN, Math.ceil((expiresAt - now) / MINUTE));
  return {
    transaction_details: { order_id: orderId, gross_amount: rupiah(amountMinor, currency) },
    enabled_payments: ["credit_card"],
    credit_card: { secure: true },
    callbacks: { finish: finishUrl },
    expiry: { start_time: jakartaTime(expiresAt - minutes * MINUTE), unit: "minutes", duration: minutes },
    custom_field1: reference,
  };
}

/** The body of `POST /v2/{id}/refund`. */
export function refundBody(refundKey: string, amountMinor: Minor, currency: string): object {
  return { refund_key: refundKey, amount: rupiah(amountMinor, currency), reason: "refund" };
}

/** Converts to whole rupiah. Throws `AcquirerRefused` for another currency or a part of a rupiah: nothing was sent. */
function rupiah(amountMinor: Minor, currency: string): number {
  if (currency !== "IDR") throw new AcquirerRefused(`Midtrans knows IDR, and no ${currency}`);
  if (amountMinor % STEP_MINOR !== 0n) throw new AcquirerRefused("Midtrans knows whole rupiah only");
  return Number(amountMinor / STEP_MINOR);
}

/** A time as Midtrans' requests write it: `2026-11-23 21:07:00 +0700`. */
export function jakartaTime(at: Micros): string {
  return `${wireTime(at + JAKARTA)
    .slice(0, 19)
    .replace("T", " ")} +0700`;
}

/**
 * The headers of every request. Notifications about the order go to `notifyUrl`, whatever Midtrans' dashboard says. Midtrans takes https only:
 * another address is left out, and the one in the dashboard counts. `plain` allows http to a fake on this machine.
 */
export function headersOf(
  serverKey: string,
  { idempotencyKey, notifyUrl, plain = false }: { idempotencyKey?: string; notifyUrl?: string; plain?: boolean } = {},
): Record<string, string> {
  const isTaken = notifyUrl?.startsWith("https://") === true || plain;
  return {
    accept: "application/json",
    "content-type": "application/json",
    authorization: `Basic ${Buffer.from(`${serverKey}:`).toString("base64")}`,
    ...(idempotencyKey === undefined ? {} : { "idempotency-key": idempotencyKey }),
    ...(notifyUrl === undefined || !isTaken ? {} : { "x-override-notification": notifyUrl }),
  };
}
