// The orders in the fake of Midtrans: the answers by payment type, and the status changes that the documentation allows.
import { createHash, randomUUID } from "node:crypto";

export interface FakeRefund {
  refund_chargeback_id: number;
  refund_amount: string;
  created_at: string;
  reason: string;
  refund_key: string;
  refund_method?: string;
  bank_confirmed_at?: string;
}

export interface FakeOrder {
  orderId: string;
  transactionId: string;
  paymentType: string;
  /** Fields that every answer for the payment type contains, such as a virtual account or the acquirer of a QRIS. */
  details: Record<string, unknown>;
  /** Fields that only the answer to the charge contains. */
  told: Record<string, unknown>;
  /** Whole rupiah. */
  amount: number;
  currency: string;
  status: string;
  fraudStatus: string;
  madeAt: number;
  endsAt: number;
  settledAt: number | undefined;
  paymentAmounts: { paid_at: string; amount: string }[] | undefined;
  refunds: FakeRefund[];
  /** Makes inquiries hide the refunds; under "status" they also show the status before the refunds, under "list" the status after them. */
  late: "status" | "list" | undefined;
  notifyUrls: string[];
  /** Ended by a request before its expiry: nobody can pay the order any more. */
  ended: boolean;
  /** The order's card page, if it has one. Inquiries do not know the order until its payer has attempted a payment. */
  page: { token: string; attempted: boolean } | undefined;
}

/** A time as Midtrans writes it: Jakarta time, without a zone. */
export function localTime(at: number): string {
  return new Date(at + 7 * 3_600_000).toISOString().slice(0, 19).replace("T", " ");
}

export function rupiahText(amount: number): string {
  return `${amount}.00`;
}

/** Whether the order id is taken: the order is active or was paid. Other statuses free the id for another order. */
export function isTaken({ status }: FakeOrder): boolean {
  return !["expire", "cancel", "deny", "failure"].includes(status);
}

/** The status code of an order. Inquiries answer 407 about an expired order; notifications say 202. */
export function codeOf({ status, fraudStatus }: FakeOrder, isNotification: boolean): string {
  if (status === "pending" || (status === "capture" && fraudStatus === "challenge")) return "201";
  if (status === "expire") return isNotification ? "202" : "407";
  return ["deny", "failure"].includes(status) || (isNotification && status === "cancel") ? "202" : "200";
}

export function signatureOf(order: FakeOrder, code: string, serverKey: string): string {
  const text = order.orderId + code + rupiahText(order.amount) + serverKey;
  return createHash("sha512").update(text).digest("hex");
}

/** The fields of an order that inquiries and notifications share. */
export function transactionOf(order: FakeOrder): Record<string, unknown> {
  const refunds = order.late === undefined ? order.refunds : [];
  return {
    transaction_id: order.transactionId,
    order_id: order.orderId,
    merchant_id: "G141532850",
    gross_amount: rupiahText(order.amount),
    currency: order.currency,
    payment_type: order.paymentType,
    transaction_time: localTime(order.madeAt),
    transaction_status: order.late === "status" ? "settlement" : order.status,
    fraud_status: order.fraudStatus,
    expiry_time: localTime(order.endsAt),
    ...order.details,
    ...(order.settledAt === undefined ? {} : { settlement_time: localTime(order.settledAt) }),
    ...(order.paymentAmounts === undefined ? {} : { payment_amounts: order.paymentAmounts }),
    ...(refunds.length === 0 ? {} : { refund_amount: rupiahText(refundedOf(order)), refunds }),
  };
}

export function refundedOf({ refunds }: FakeOrder): number {
  return refunds.reduce((sum, { refund_amount }) => sum + Number(refund_amount), 0);
}

/** A charge request whose common fields have been checked. */
interface Charge {
  orderId: string;
  amount: number;
  endsAt: number;
  notifyUrls: string[];
  body: Record<string, unknown>;
}

/** Makes the order of a charge; undefined for a payment type that the fake does not know. */
export function newOrder({ orderId, amount, endsAt, notifyUrls, body }: Charge, url: string): FakeOrder | undefined {
  const paymentType = String(body["payment_type"]);
  const transactionId = randomUUID();
  const kind = kindOf(paymentType, body, transactionId, amount, url);
  return kind && { ...blank({ orderId, amount, endsAt, notifyUrls }), ...kind, transactionId, paymentType };
}

/** Makes an order with a card page. Its transaction begins when a payer first attempts to pay. */
export function newPage(order: Omit<Charge, "body">, token: string): FakeOrder {
  return { ...blank(order), paymentType: "credit_card", page: { token, attempted: false } };
}

function blank({ orderId, amount, endsAt, notifyUrls }: Omit<Charge, "body">): FakeOrder {
  return {
    orderId,
    transactionId: randomUUID(),
    paymentType: "",
    details: {},
    told: {},
    amount,
    currency: "IDR",
    status: "pending",
    fraudStatus: "accept",
    madeAt: Date.now(),
    endsAt,
    settledAt: undefined,
    paymentAmounts: undefined,
    refunds: [],
    late: undefined,
    notifyUrls,
    ended: false,
    page: undefined,
  };
}

function kindOf(
  paymentType: string,
  body: Record<string, unknown>,
  transactionId: string,
  amount: number,
  url: string,
): Pick<FakeOrder, "details" | "told"> | undefined {
  const link = (path: string): string => `${url}/${path}/${transactionId}`;
  const image = { name: "generate-qr-code", method: "GET", url: link("v2/qris") };
  const leads = { name: "deeplink-redirect", method: "GET", url: link("pay") };
  const field = (outer: string, inner: string): unknown =>
    (body[outer] as Record<string, unknown> | undefined)?.[inner];
  switch (paymentType) {
    case "qris": {
      const acquirer = field("qris", "acquirer") ?? "gopay";
      if (acquirer !== "gopay" && acquirer !== "airpay shopee") return undefined;
      return { details: { acquirer }, told: { actions: [image], qr_string: qrText(transactionId, amount) } };
    }
    case "bank_transfer": {
      const bank = field("bank_transfer", "bank");
      if (bank === "permata") return { details: { permata_va_number: number(transactionId, 16) }, told: {} };
      if (!["bca", "bni", "bri", "cimb"].includes(String(bank))) return undefined;
      return { details: { va_numbers: [{ bank, va_number: number(transactionId, 16) }] }, told: {} };
    }
    case "echannel":
      if (typeof field("echannel", "bill_info1") !== "string" || typeof field("echannel", "bill_info2") !== "string")
        return undefined;
      return { details: { biller_code: "70012", bill_key: number(transactionId, 12) }, told: {} };
    case "gopay":
      return { details: {}, told: { actions: [image, leads] } };
    case "shopeepay":
      // Inquiries about ShopeePay orders repeat the link while the order is pending.
      return typeof field("shopeepay", "callback_url") === "string"
        ? { details: {}, told: { actions: [leads] } }
        : undefined;
    default:
      return undefined;
  }
}

function number(seed: string, length: number): string {
  const hex = createHash("sha256").update(seed).digest("hex").slice(0, 24);
  return (BigInt(`0x${hex}`) % 10n ** BigInt(length)).toString().padStart(length, "0");
}

/** A QR text in GoPay's form: data objects of tag, length and value, and a checksum over the whole text. */
function qrText(transactionId: string, amount: number): string {
  const object = (tag: string, value: string): string => `${tag}${String(value.length).padStart(2, "0")}${value}`;
  const account = object("00", "COM.GO-JEK.WWW") + object("01", "936009143379181825") + object("03", "UKE");
  const text =
    object("00", "01") +
    object("01", "12") +
    object("26", account) +
    object("51", object("00", "ID.CO.QRIS.WWW") + object("02", "AID772051375229") + object("03", "UKE")) +
    object("52", "3593") +
    object("53", "360") +
    object("54", rupiahText(amount)) +
    object("58", "ID") +
    object("59", "TOKO RANI") +
    object("60", "KUKAR") +
    object("61", "75553") +
    object("62", object("50", transactionId)) +
    "6304";
  let crc = 0xffff;
  for (const byte of Buffer.from(text)) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit++) crc = crc & 0x8000 ? ((crc << 1) ^ 0x1021) & 0xffff : (crc << 1) & 0xffff;
  }
  return text + crc.toString(16).toUpperCase().padStart(4, "0");
}
