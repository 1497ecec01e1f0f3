// A fake of Midtrans, built from its documentation: the Core API, the page for cards (Snap), and signed notifications. As a program it
// prints one line of JSON with its address.
import { randomUUID } from "node:crypto";
import { orderIdOf, refundKeyOf } from "../../../gateway/src/providers/midtrans/names.ts";
import {
  type Fake,
  type FakeAnswer,
  type FakeControl,
  type FakeRequest,
  type FaultName,
  FakeServer,
  controlled,
} from "../fake.ts";
import {
  type FakeOrder,
  type FakeRefund,
  codeOf,
  isTaken,
  localTime,
  newOrder,
  newPage,
  refundedOf,
  rupiahText,
  signatureOf,
  transactionOf,
} from "./orders.ts";
import { answerOf, changed, notifyUrlsOf, objectOf, orderedIn, pageError, refused, unauthorized } from "./replies.ts";

interface MidtransFakeOptions {
  serverKey: string;
  /** The "Payment Notification URL" of Midtrans' dashboard, for orders that name no URL of their own. */
  notifyUrl?: string;
  port?: number;
}

export interface MidtransControl extends FakeControl {
  /** Captures a card payment that fraud detection challenges; a verdict accepts or denies it later, as in the dashboard. */
  challenge(key: string, verdict?: "accept" | "deny"): Promise<void>;
  /** Settles a card capture at Midtrans, as happens every night: from then on it can be refunded in parts. */
  settle(key: string): Promise<void>;
  /** Charges a card payment back, in whole or in part. Midtrans' API does not report how a chargeback ends. */
  chargeback(key: string, status?: "chargeback" | "partial_chargeback"): Promise<void>;
  /** Refunds a payment in the dashboard, in whole or in part. */
  refundElsewhere(key: string, amountMinor?: number): Promise<void>;
  /** The bank takes a settled transfer back. */
  reverse(key: string): Promise<void>;
  /** Makes inquiries about an order lag behind, or ends the lag. */
  lag(key: string, late: FakeOrder["late"]): void;
  /** Forgets the idempotency keys, as Midtrans does after five minutes. */
  forget(): void;
}

const ORDERS_MAX = 10_000;
const IDEMPOTENCY_KEY_MAX = 46;
const DAYS_MAX: Readonly<Record<string, number>> = { gopay: 7, qris: 5, shopeepay: 5 };
const UNIT_MS: Readonly<Record<string, number>> = {
  second: 1_000,
  minute: 60_000,
  minutes: 60_000,
  hour: 3_600_000,
  hours: 3_600_000,
  day: 86_400_000,
  days: 86_400_000,
};
const PAID = ["capture", "settlement", "refund", "partial_refund", "chargeback"];

export async function midtransFake(options: MidtransFakeOptions): Promise<Fake & { control: MidtransControl }> {
  const midtrans = new MidtransFake(options);
  const url = await midtrans.server.listen(options.port);
  midtrans.url = url;
  return {
    url,
    control: midtrans,
    deliveries: midtrans.server.deliveries,
    close: () => midtrans.server.close(),
  };
}

class MidtransFake implements MidtransControl {
  /** Midtrans reports a denial at once, or never. */
  readonly tellsLateFailures = false;
  readonly disputes = { method: "card", tellsEnd: false } as const;
  readonly server: FakeServer;
  url = "";
  private readonly options: MidtransFakeOptions;
  private readonly orders = new Map<string, FakeOrder>();
  private readonly answers = new Map<string, FakeAnswer>();
  private readonly effects = new Map<string, number>();
  private readonly decided = new Map<string, "succeeded" | "failed">();
  /** Every refund key that was ever accepted, whatever became of the refund. */
  private readonly refundKeys = new Set<string>();
  private refundCount = 0;

  constructor(options: MidtransFakeOptions) {
    this.options = options;
    this.server = new FakeServer((request) => this.handle(request), {
      spared: ({ path }) => path.startsWith("/_fake/") || path.startsWith("/snap/v4/"),
    });
  }

  fault(name: FaultName, times?: number, method?: string): void {
    this.server.fault(name, times, method);
  }

  forget(): void {
    this.answers.clear();
  }

  opened(key: string): number {
    return this.effects.get(orderIdOf(key)) ?? 0;
  }

  refunded(key: string): number {
    return this.effects.get(refundKeyOf(key)) ?? 0;
  }

  async pay(key: string, change: Parameters<FakeControl["pay"]>[1] = {}): Promise<void> {
    const { amountMinor, currency, times = 1, notify = true, order: sequence = "normal" } = change;
    const order = this.orderOf(key);
    if (order.ended) throw new Error(`${key} was ended: nobody can pay it`);
    if (order.page) this.attempt(order);
    const before = { ...order, status: "pending" };
    order.status = order.paymentType === "credit_card" ? "capture" : "settlement";
    order.settledAt = Date.now();
    if (currency !== undefined) order.currency = currency;
    const amount = amountMinor === undefined ? order.amount : amountMinor / 100;
    if (amount !== order.amount || order.details["va_numbers"])
      order.paymentAmounts = [{ paid_at: localTime(Date.now()), amount: rupiahText(amount) }];
    if (!notify) return;
    if (sequence === "normal") await this.notify(before);
    for (let time = 0; time < times; time++) await this.notify(order);
    if (sequence === "reversed") await this.notify(before);
  }

  async fail(key: string): Promise<void> {
    const order = this.orderOf(key);
    if (order.page) this.attempt(order);
    // After a denial the payer may try again on the card page; after a cancellation by fraud detection not.
    await this.become(order, order.page ? "cancel" : "deny");
  }

  async expire(key: string): Promise<void> {
    const order = this.orderOf(key);
    // A page without any attempt expires without a notification.
    if (order.page && !order.page.attempted) order.endsAt = Date.now();
    else await this.become(order, "expire");
  }

  async challenge(key: string, verdict?: "accept" | "deny"): Promise<void> {
    const order = this.orderOf(key);
    this.attempt(order);
    order.fraudStatus = verdict ?? "challenge";
    await this.become(order, verdict === "deny" ? "deny" : "capture");
  }

  async settle(key: string): Promise<void> {
    await this.become(this.orderOf(key), "settlement");
  }

  lag(key: string, late: FakeOrder["late"]): void {
    this.orderOf(key).late = late;
  }

  async reverse(key: string): Promise<void> {
    await this.become(this.orderOf(key), "deny");
  }

  async chargeback(key: string, status: "chargeback" | "partial_chargeback" = "chargeback"): Promise<void> {
    await this.become(this.orderOf(key), status);
  }

  async refundElsewhere(key: string, amountMinor?: number): Promise<void> {
    const order = this.orderOf(key);
    const rest = order.amount - refundedOf(order);
    order.refunds.push({
      refund_chargeback_id: ++this.refundCount,
      // Midtrans' documentation of refund_key: "If not passed, Midtrans creates a new one."
      refund_key: randomUUID(),
      refund_amount: rupiahText(amountMinor === undefined ? rest : amountMinor / 100),
      created_at: localTime(Date.now()),
      reason: "asked for by mail",
      refund_method: "online",
      bank_confirmed_at: localTime(Date.now()),
    });
    await this.become(order, refundedOf(order) === order.amount ? "refund" : "partial_refund");
  }

  async dispute(key: string, status: "open" | "won" | "lost"): Promise<void> {
    if (status !== "open") throw new Error("how a chargeback ends is told outside their API");
    await this.chargeback(key);
  }

  async decideRefund(key: string, status: "succeeded" | "failed"): Promise<void> {
    const refundKey = refundKeyOf(key);
    this.decided.set(refundKey, status);
    const order = [...this.orders.values()].find(({ refunds }) =>
      refunds.some(({ refund_key }) => refund_key === refundKey),
    );
    const refund = order?.refunds.find(({ refund_key }) => refund_key === refundKey);
    if (!order || !refund) return;
    // Midtrans notifies twice: when it accepts the refund, and when the bank confirms it.
    if (status === "succeeded") {
      await this.notify(order);
      refund.refund_method = "online";
      refund.bank_confirmed_at = localTime(Date.now());
    } else {
      order.refunds.splice(order.refunds.indexOf(refund), 1);
      order.status = order.refunds.length === 0 ? "settlement" : "partial_refund";
      this.effects.delete(refundKey);
    }
    await this.notify(order);
  }

  private orderOf(key: string): FakeOrder {
    const order = this.orders.get(orderIdOf(key));
    if (!order) throw new Error(`no order of ${key} is here`);
    return order;
  }

  private async become(order: FakeOrder, status: string): Promise<void> {
    order.status = status;
    await this.notify(order);
  }

  /** The payer attempts a card payment: from then on inquiries know the order. */
  private attempt(order: FakeOrder): void {
    if (!order.page) return;
    order.page.attempted = true;
    order.transactionId = randomUUID();
    order.details = { masked_card: "48111111-1114", bank: "bni", card_type: "credit", approval_code: "1424936374393" };
  }

  private async notify(order: FakeOrder): Promise<void> {
    const code = codeOf(order, true);
    const body = JSON.stringify({
      ...transactionOf(order),
      status_code: code,
      status_message: "midtrans payment notification",
      signature_key: signatureOf(order, code, this.options.serverKey),
    });
    const headers = { "user-agent": "Veritrans", accept: "application/json", "content-type": "application/json" };
    const fallback = this.options.notifyUrl;
    const urls = order.notifyUrls.length > 0 ? order.notifyUrls : fallback === undefined ? [] : [fallback];
    for (const url of urls) await this.server.notify(url, headers, body);
  }

  private async handle(request: FakeRequest): Promise<FakeAnswer> {
    const control = await controlled(this, request);
    if (control) return control;
    const { method, path, headers, fault } = request;
    if (method === "GET" && path.startsWith("/snap/v4/redirection/"))
      return { status: 200, body: "the page of a fake" };
    const isPage = path === "/snap/v1/transactions";
    const expected = `Basic ${Buffer.from(`${this.options.serverKey}:`).toString("base64")}`;
    if (fault === "key revoked" || headers.authorization !== expected) return unauthorized(isPage);
    if (method === "POST" && fault === "refuse")
      return isPage ? pageError("refused") : refused("400", "Validation Error");
    const idempotencyKey = headers["idempotency-key"];
    const isKept =
      method === "POST" && typeof idempotencyKey === "string" && idempotencyKey.length <= IDEMPOTENCY_KEY_MAX;
    const kept = isKept ? this.answers.get(idempotencyKey) : undefined;
    const answer = kept ?? this.work(request);
    const succeeded =
      answer.status === 201 || /^20[01]$/.test(String((answer.body as { status_code?: string }).status_code));
    if (isKept && !kept && succeeded) this.remember(idempotencyKey, answer);
    return changed(answer, fault);
  }

  private remember(idempotencyKey: string, answer: FakeAnswer): void {
    if (this.answers.size >= ORDERS_MAX) this.answers.clear();
    this.answers.set(idempotencyKey, answer);
  }

  private work(request: FakeRequest): FakeAnswer {
    const { method, path } = request;
    if (method === "POST" && path === "/v2/charge") return this.charge(request);
    if (method === "POST" && path === "/snap/v1/transactions") return this.openPage(request);
    const [, name, verb] = /^\/v2\/([\w.~-]{1,64})\/(status|expire|cancel|refund|approve|deny)$/.exec(path) ?? [];
    if (name === undefined || method !== (verb === "status" ? "GET" : "POST"))
      return { status: 404, body: { status_code: "404", status_message: "The requested resource is not found" } };
    const order =
      this.orders.get(name) ?? [...this.orders.values()].find(({ transactionId }) => transactionId === name);
    if (!order || order.page?.attempted === false) {
      const status_message = "Transaction doesn't exist.";
      return { status: 404, body: { status_code: "404", status_message, id: randomUUID() } };
    }
    if (verb === "refund") return this.refund(order, request);
    if (verb === "status") return answerOf(order, codeOf(order, false), "Success, transaction is found");
    if (verb === "approve" || verb === "deny") return this.judge(order, verb);
    const allowed = verb === "expire" ? ["pending"] : ["pending", "capture", "authorize"];
    if (!allowed.includes(order.status)) return refused("412", "Merchant cannot modify the status of the transaction");
    order.status = verb === "expire" ? "expire" : "cancel";
    order.ended = true;
    setImmediate(() => void this.notify(order));
    return verb === "expire"
      ? answerOf(order, "407", "Success, transaction has expired")
      : answerOf(order, "200", "Success, transaction is canceled");
  }

  /** Decides a card payment that fraud detection challenged. */
  private judge(order: FakeOrder, verb: "approve" | "deny"): FakeAnswer {
    if (order.status !== "capture" || order.fraudStatus !== "challenge")
      return refused("412", "Merchant cannot modify the status of the transaction");
    order.fraudStatus = verb === "approve" ? "accept" : "deny";
    if (verb === "deny") order.status = "deny";
    setImmediate(() => void this.notify(order));
    return answerOf(order, "200", `Success, transaction is ${verb === "approve" ? "approved" : "denied"}`);
  }

  private charge(request: FakeRequest): FakeAnswer {
    const body = objectOf(request.body);
    const ordered = body && orderedIn(body);
    const expiry = body?.["custom_expiry"] as { expiry_duration?: unknown; unit?: string } | undefined;
    const unit = UNIT_MS[expiry?.unit ?? "minute"];
    const endsAfter = expiry ? Number(expiry.expiry_duration) * (unit ?? Number.NaN) : 86_400_000;
    const longest = (DAYS_MAX[String(body?.["payment_type"])] ?? 180) * 86_400_000;
    if (!body || !ordered || !(endsAfter >= 20_000 && endsAfter <= longest))
      return refused("400", "One or more parameters in the payload is invalid.");
    const before = this.orders.get(ordered.orderId);
    if (before && isTaken(before))
      return refused(
        "406",
        "The request could not be completed due to a conflict with the current state of the target resource, please try again",
      );
    const order = newOrder(
      { ...ordered, endsAt: Date.now() + endsAfter, notifyUrls: notifyUrlsOf(request), body },
      this.url,
    );
    if (!order) return refused("400", "One or more parameters in the payload is invalid.");
    this.keep(order);
    const answer = answerOf(order, "201", "Success, transaction is created");
    return { ...answer, body: { ...(answer.body as object), ...order.told } };
  }

  private openPage(request: FakeRequest): FakeAnswer {
    const body = objectOf(request.body);
    const ordered = body && orderedIn(body);
    if (!ordered) return pageError("transaction_details.order_id is required");
    const expiry = body["expiry"] as { duration?: unknown; unit?: unknown; start_time?: unknown } | undefined;
    const length = Number(expiry?.duration) * (UNIT_MS[String(expiry?.unit)] ?? Number.NaN);
    if (expiry && !(length >= 300_000 && length <= 7 * 86_400_000)) return pageError("expiry duration is invalid");
    const startsAt = Date.parse(String(expiry?.start_time).replace(" ", "T").replace(" +0700", "+07:00"));
    const before = this.orders.get(ordered.orderId);
    if (before && PAID.includes(before.status))
      return pageError("transaction_details.order_id has been paid and utilized, please use another order ID");
    const token = randomUUID();
    const endsAt = expiry ? (Number.isNaN(startsAt) ? Date.now() : startsAt) + length : Date.now() + 86_400_000;
    // A second page for an order opens the same order under another token.
    if (before) before.page = { token, attempted: before.page?.attempted ?? false };
    else this.keep(newPage({ ...ordered, endsAt, notifyUrls: notifyUrlsOf(request) }, token));
    return { status: 201, body: { token, redirect_url: `${this.url}/snap/v4/redirection/${token}` } };
  }

  private keep(order: FakeOrder): void {
    if (this.orders.size >= ORDERS_MAX) this.orders.clear();
    this.orders.set(order.orderId, order);
    this.effects.set(order.orderId, (this.effects.get(order.orderId) ?? 0) + 1);
  }

  private refund(order: FakeOrder, request: FakeRequest): FakeAnswer {
    const { refund_key: key, amount, reason = "" } = objectOf(request.body) ?? {};
    if (typeof key !== "string" || !/^[\w-]{1,255}$/.test(key)) return refused("400", "refund_key is invalid");
    if (this.refundKeys.has(key)) return refused("406", "Duplicate refund ID");
    const canRefund = ["credit_card", "gopay", "shopeepay", "qris"].includes(order.paymentType);
    if (!canRefund || !["settlement", "partial_refund"].includes(order.status))
      return refused("412", "Merchant cannot modify the status of the transaction");
    const rest = order.amount - refundedOf(order);
    const wholeOnly = order.paymentType === "shopeepay" && amount !== order.amount;
    if (!Number.isInteger(amount) || Number(amount) < 1 || Number(amount) > rest || wholeOnly)
      return refused("414", "Refund request is rejected due to invalid amount");
    const id = ++this.refundCount;
    const common = { refund_chargeback_id: id, refund_key: key };
    const about = (extra: object): FakeAnswer["body"] => ({
      ...transactionOf({ ...order, refunds: [] }),
      ...common,
      ...extra,
    });
    if (this.decided.get(key) === "failed")
      return {
        status: 200,
        body: about({ status_code: "202", status_message: "Refund denied by the bank", refund_amount: "0.00" }),
      };
    const refund: FakeRefund = {
      ...common,
      refund_amount: rupiahText(Number(amount)),
      created_at: localTime(Date.now()),
      reason: String(reason),
      ...(this.decided.get(key) === "succeeded"
        ? { refund_method: "online", bank_confirmed_at: localTime(Date.now()) }
        : {}),
    };
    order.refunds.push(refund);
    if (this.refundKeys.size >= ORDERS_MAX) this.refundKeys.clear();
    this.refundKeys.add(key);
    order.status = refundedOf(order) === order.amount ? "refund" : "partial_refund";
    this.effects.set(key, (this.effects.get(key) ?? 0) + 1);
    const status_message = "Success, refund request is approved";
    const refund_amount = refund.refund_amount;
    return {
      status: 200,
      body: about({ status_code: "200", status_message, transaction_status: order.status, refund_amount }),
    };
  }
}

if (import.meta.main) {
  const { MIDTRANS_SERVER_KEY: serverKey = "SB-Mid-server-fake", PORT = "0" } = process.env;
  const { url } = await midtransFake({ serverKey, port: Number(PORT) });
  console.log(JSON.stringify({ url }));
}
