// A fake of Xendit, built from its documentation: payment requests of version 2024-11-11, card pages, refunds and notifications. As a
// program it takes its options from the environment and prints `{"url":"…"}`.
import { randomBytes, randomUUID } from "node:crypto";
import { type Fake, type FakeAnswer, type FakeControl, type FakeRequest, FakeServer, controlled } from "../fake.ts";
import { qrText } from "./qr.ts";
import {
  type Fields,
  amountOf,
  channelOf,
  fieldsOf,
  objectionToEnd,
  objectionToPaymentRequest,
  objectionToRefund,
  objectionToSession,
  refusal,
  spoiled,
} from "./rules.ts";

interface XenditFakeOptions {
  secretKey: string;
  /** The webhook verification token. */
  callbackToken: string;
  /** The webhook address of the dashboard; no notifications are sent while it is undefined. */
  callbackUrl?: string | (() => string | undefined);
  port?: number;
}

/** Limit of each kind of object; beyond it the oldest are forgotten. */
const KEPT_MAX = 20_000;
const API_VERSION = "2024-11-11";

interface Opened {
  kind: "payment request" | "card page";
  id: string;
  key: string;
  /** The fields of the answer. */
  fields: Fields;
  /** The payment, once the payer has paid. */
  payment?: Fields;
}

export interface XenditControl extends FakeControl {
  /** Forgets the idempotency keys, as Xendit does after a while: a request with one of them is then a new request. */
  forgetKeys(): void;
  /** Refunds a part of a payment in the dashboard. */
  refundElsewhere(key: string, amountMinor: number): Promise<void>;
}

export async function xenditFake(options: XenditFakeOptions): Promise<Fake & { control: XenditControl }> {
  const fake = new XenditFake(options);
  return fake.listen(options.port);
}

class XenditFake {
  private readonly options: XenditFakeOptions;
  private readonly server: FakeServer;
  private readonly opened = new Map<string, Opened>();
  private readonly payments = new Map<string, Fields>();
  private readonly refunds = new Map<string, Fields>();
  private readonly answered = new Map<string, { body: string; answer: FakeAnswer }>();
  private url = "";

  constructor(options: XenditFakeOptions) {
    this.options = options;
    this.server = new FakeServer((request) => this.handle(request), {
      spared: ({ path }) => path.startsWith("/_fake/") || path.startsWith("/pages/"),
    });
  }

  async listen(port: number | undefined): Promise<Fake & { control: XenditControl }> {
    this.url = await this.server.listen(port);
    return {
      url: this.url,
      control: this.control,
      deliveries: this.server.deliveries,
      close: () => this.server.close(),
    };
  }

  readonly control: XenditControl = {
    forgetKeys: () => this.answered.clear(),
    pay: async (key, { amountMinor, currency, times = 1, notify = true, order = "normal" } = {}) => {
      const opened = this.openedOf(key);
      if (opened.payment === undefined && opened.fields.status === "CANCELED") throw new Error(`${key} was ended`);
      opened.payment ??= this.paid(opened, amountMinor, currency);
      const { payment } = opened;
      if (!notify) return;
      const events: (() => Promise<void>)[] = [() => this.notify("payment.capture", payment)];
      if (opened.kind === "card page") events.push(() => this.notify("payment_session.completed", opened.fields));
      if (order === "reversed") events.reverse();
      for (let time = 0; time < times; time++) for (const send of events) await send();
    },
    fail: async (key) => {
      const opened = this.openedOf(key);
      const failed = this.paymentOf(opened, amountOf(opened.fields), "FAILED");
      opened.fields.status = opened.kind === "card page" ? "CANCELED" : "FAILED";
      await this.notify("payment.failure", { ...failed, captures: [], failure_code: "USER_DECLINED_PAYMENT" });
    },
    expire: async (key) => {
      const opened = this.openedOf(key);
      opened.fields.status = "EXPIRED";
      const event = opened.kind === "card page" ? "payment_session.expired" : "payment_request.expiry";
      await this.notify(event, opened.fields);
    },
    decideRefund: async (key, status) => {
      const refund = [...this.refunds.values()].find((one) => one.reference_id === key);
      if (refund === undefined) throw new Error(`no refund ${key}`);
      Object.assign(refund, {
        status: status.toUpperCase(),
        failure_code: status === "failed" ? "REFUND_FAILED" : null,
      });
      await this.notify(`refund.${status}`, refund);
    },
    refundElsewhere: async (key, amountMinor) => {
      const { payment } = this.openedOf(key);
      if (payment === undefined) throw new Error(`${key} is not paid`);
      const { status, body } = this.refund({
        payment_request_id: payment.payment_request_id,
        reference_id: randomUUID(),
        amount: amountMinor / 100,
        currency: payment.currency,
        reason: "REQUESTED_BY_CUSTOMER",
      });
      if (status !== 200) throw new Error(`${key} is not refunded: ${JSON.stringify(body)}`);
      Object.assign(body as Fields, { status: "SUCCEEDED" });
      await this.notify("refund.succeeded", body as Fields);
    },
    disputes: { isProven: false },
    dispute: async (key, status) => {
      const { payment } = this.openedOf(key);
      if (payment === undefined) throw new Error(`${key} is not paid`);
      const events = { open: "dispute.action_required", won: "dispute.won", lost: "dispute.lost" };
      await this.post({
        event: events[status],
        id: `mi-dspt-${String(payment.payment_id).slice("py-".length)}`,
        channel_code: payment.channel_code,
        status: status === "open" ? "ACTION_REQUIRED" : status.toUpperCase(),
        currency: payment.currency,
        amount: { initial: Number(payment.request_amount).toFixed(2), terminal: null },
        created_at: now(),
        updated_at: now(),
        due_date: new Date(Date.now() + 14 * 86_400_000).toISOString(),
        category: { name: "fraud", allowed_evidence: [] },
        related_disputes: [],
        payment_id: payment.payment_id,
        reference_id: key,
      });
    },
    fault: (...fault) => this.server.fault(...fault),
    opened: (key) => [...this.opened.values()].filter((one) => one.key === key).length,
    refunded: (key) => [...this.refunds.values()].filter((one) => one.reference_id === key).length,
  };

  private async handle(request: FakeRequest): Promise<FakeAnswer> {
    const own = await controlled(this.control, request);
    if (own !== undefined) return own;
    if (request.path.startsWith("/pages/"))
      return { status: 200, headers: { "content-type": "text/html" }, body: "<h1>Xendit's page, a fake</h1>" };
    if (request.fault === "key revoked" || !this.isOurs(request))
      return refusal(401, "INVALID_API_KEY", "API key is not authorized for this API");
    if (request.fault === "refuse") return refusal(400, "API_VALIDATION_ERROR", "refused on demand");
    const answer = request.method === "POST" ? this.once(request) : this.look(request);
    return { ...answer, body: spoiled(answer.body, request.fault) };
  }

  private isOurs({ headers }: FakeRequest): boolean {
    return headers.authorization === `Basic ${Buffer.from(`${this.options.secretKey}:`).toString("base64")}`;
  }

  /** Repeats the answer of an earlier POST with the same key; another body under that key is an error. */
  private once(request: FakeRequest): FakeAnswer {
    const header = request.headers["idempotency-key"];
    if (typeof header !== "string") return this.make(request);
    const name = `${request.path} ${header}`;
    const body = request.body.toString();
    const before = this.answered.get(name);
    if (before !== undefined)
      return before.body === body
        ? before.answer
        : refusal(409, "IDEMPOTENCY_ERROR", "the key was used with another body");
    const made = this.make(request);
    // Rejected requests may be repeated with the same key, so their answers are not kept.
    const answer = { ...made, body: structuredClone(made.body) };
    if (made.status < 300) keep(this.answered, name, { body, answer });
    return answer;
  }

  private make({ path, headers, body }: FakeRequest): FakeAnswer {
    const ending = /^(?:\/v3\/payment_requests|\/sessions)\/([\w-]+)\/cancel$/.exec(path)?.[1];
    if (ending !== undefined) return this.end(ending, path, headers);
    const fields = fieldsOf(body);
    if (fields === undefined) return refusal(400, "API_VALIDATION_ERROR", "the body is no JSON object");
    if (path.startsWith("/v3/") && headers["api-version"] !== API_VERSION) return versionMissing;
    if (path === "/v3/payment_requests") return this.openRequest(fields);
    if (path === "/sessions") return this.openPage(fields);
    if (path === "/refunds") return this.refund(fields);
    const simulated = /^\/v3\/payment_requests\/(pr-[\w-]+)\/simulate$/.exec(path)?.[1];
    const opened = simulated === undefined ? undefined : this.opened.get(simulated);
    if (opened === undefined) return notFound;
    setImmediate(() => void this.control.pay(opened.key));
    return { status: 200, body: { status: "PENDING", message: "A simulated payment is being processed." } };
  }

  private openRequest(fields: Fields): FakeAnswer {
    const objection = objectionToPaymentRequest(fields);
    if (objection !== undefined) return objection;
    const id = `pr-${randomUUID()}`;
    const answer: Fields = {
      business_id: "5f27a14a9bf05c73dd040bc8",
      payment_request_id: id,
      ...fields,
      actions: this.actionsOf(fields, id),
      status: "REQUIRES_ACTION",
      created: now(),
      updated: now(),
    };
    keep(this.opened, id, { kind: "payment request", id, key: String(fields.reference_id), fields: answer });
    return { status: 201, body: answer };
  }

  private actionsOf({ channel_code, request_amount }: Fields, id: string): Fields[] {
    const kind = channelOf(channel_code)?.kind;
    const digits = BigInt(`0x${id.replaceAll(/[^0-9a-f]/g, "")}`)
      .toString()
      .slice(0, 11);
    if (kind === "qr")
      return [{ type: "PRESENT_TO_CUSTOMER", descriptor: "QR_STRING", value: qrText(Number(request_amount), digits) }];
    if (kind === "va")
      return [{ type: "PRESENT_TO_CUSTOMER", descriptor: "VIRTUAL_ACCOUNT_NUMBER", value: `88908${digits}` }];
    return [{ type: "REDIRECT_CUSTOMER", descriptor: "WEB_URL", value: `${this.url}/pages/${id}` }];
  }

  private openPage(fields: Fields): FakeAnswer {
    const objection = objectionToSession(fields);
    if (objection !== undefined) return objection;
    const id = `ps-${randomBytes(12).toString("hex")}`;
    const answer: Fields = {
      payment_session_id: id,
      ...fields,
      created: now(),
      updated: now(),
      status: "ACTIVE",
      payment_link_url: `${this.url}/pages/${id}`,
      payment_token_id: null,
      payment_request_id: null,
      business_id: "661f87c614802d6c402cd82d",
    };
    keep(this.opened, id, { kind: "card page", id, key: String(fields.reference_id), fields: answer });
    return { status: 201, body: answer };
  }

  /** Cancels without a notification: Xendit's pages on events list none for it. */
  private end(id: string, path: string, headers: FakeRequest["headers"]): FakeAnswer {
    if (path.startsWith("/v3/") && headers["api-version"] !== API_VERSION) return versionMissing;
    const opened = this.opened.get(id);
    if (opened === undefined || (opened.kind === "card page") !== path.startsWith("/sessions/")) return notFound;
    const objection = objectionToEnd(String(opened.fields.status));
    if (objection !== undefined) return objection;
    Object.assign(opened.fields, { status: "CANCELED", updated: now() });
    return { status: 200, body: structuredClone(opened.fields) };
  }

  private refund(fields: Fields): FakeAnswer {
    const paymentRequest = fields.payment_request_id;
    const unpaid = this.opened.get(String(paymentRequest))?.fields;
    const payment = [...this.payments.values()].find((one) => one.payment_request_id === paymentRequest) ?? unpaid;
    const paid = Number((payment?.captures as Fields[] | undefined)?.[0]?.capture_amount);
    const refunded = [...this.refunds.values()]
      .filter((one) => one.payment_request_id === paymentRequest && one.status !== "FAILED")
      .map((one) => ({ amount: Number(one.amount), status: String(one.status) }));
    const refundable = payment && {
      channel: String(payment.channel_code),
      status: String(payment.status),
      paid,
      refunded,
    };
    const objection = objectionToRefund(fields, refundable);
    if (objection !== undefined) return objection;
    const id = `rfd-${randomUUID()}`;
    const answer: Fields = {
      id,
      payment_id: payment?.payment_id,
      invoice_id: null,
      payment_method_type: "EWALLET",
      channel_code: payment?.channel_code,
      country: "ID",
      status: "PENDING",
      failure_code: null,
      refund_fee_amount: null,
      metadata: null,
      ...fields,
      amount: fields.amount ?? paid,
      currency: payment?.currency,
      created: now(),
      updated: now(),
    };
    keep(this.refunds, id, answer);
    return { status: 200, body: answer };
  }

  private look({ path, query, headers }: FakeRequest): FakeAnswer {
    if (path.startsWith("/v3/") && headers["api-version"] !== API_VERSION) return versionMissing;
    const list = (things: Fields[]): FakeAnswer => ({ status: 200, body: { data: things, has_more: false } });
    if (path === "/v3/payment_requests") {
      const found = [...this.opened.values()].filter(
        (one) => one.kind === "payment request" && one.key === query.get("reference_id"),
      );
      return list(found.map(({ fields }) => fields));
    }
    if (path === "/refunds") return list(this.refundsOf(query));
    const [, kind, id = ""] =
      /^(\/v3\/payment_requests|\/v3\/payments|\/sessions|\/refunds)\/([\w-]+)$/.exec(path) ?? [];
    const found =
      kind === "/refunds"
        ? this.refunds.get(id)
        : kind === "/v3/payments"
          ? this.payments.get(id)
          : this.opened.get(id)?.fields;
    return found === undefined ? notFound : { status: 200, body: found };
  }

  private refundsOf(query: URLSearchParams): Fields[] {
    return [...this.refunds.values()].filter((one) => one.payment_request_id === query.get("payment_request_id"));
  }

  private openedOf(key: string): Opened {
    const opened = [...this.opened.values()].findLast((one) => one.key === key);
    if (opened === undefined) throw new Error(`nothing is open under ${key}`);
    return opened;
  }

  /** The payer pays. Xendit's amounts are rupiah, so minor units become decimals. */
  private paid(opened: Opened, amountMinor: number | undefined, currency: string | undefined): Fields {
    const amount = amountMinor === undefined ? amountOf(opened.fields) : amountMinor / 100;
    const payment = this.paymentOf(opened, amount, "SUCCEEDED", currency);
    keep(this.payments, String(payment.payment_id), payment);
    Object.assign(opened.fields, { updated: now() });
    if (opened.kind === "card page")
      Object.assign(opened.fields, {
        status: "COMPLETED",
        payment_id: payment.payment_id,
        payment_request_id: payment.payment_request_id,
      });
    else Object.assign(opened.fields, { status: "SUCCEEDED", latest_payment_id: payment.payment_id, actions: [] });
    return payment;
  }

  private paymentOf({ kind, id, key, fields }: Opened, amount: number, status: string, currency?: string): Fields {
    return {
      payment_id: `py-${randomUUID()}`,
      business_id: "5f27a14a9bf05c73dd040bc8",
      reference_id: key,
      payment_request_id: kind === "card page" ? `pr-${randomUUID()}` : id,
      type: "PAY",
      country: "ID",
      currency: currency ?? fields.currency,
      request_amount: amountOf(fields),
      capture_method: "AUTOMATIC",
      channel_code: fields.channel_code ?? "CARDS",
      captures: [{ capture_timestamp: now(), capture_id: `cptr-${randomUUID()}`, capture_amount: amount }],
      status,
      payment_details: { payer_name: "John Doe", payer_account_number: "2876783233" },
      created: now(),
      updated: now(),
    };
  }

  private notify(event: string, data: Fields): Promise<void> {
    return this.post({ event, business_id: data.business_id ?? null, created: now(), api_version: "v3", data });
  }

  private async post(body: Fields): Promise<void> {
    const { callbackUrl, callbackToken } = this.options;
    const url = typeof callbackUrl === "function" ? callbackUrl() : callbackUrl;
    if (url === undefined) return;
    const headers = { "content-type": "application/json", "x-callback-token": callbackToken };
    await this.server.notify(url, headers, JSON.stringify(body));
  }
}

const versionMissing = refusal(400, "API_VALIDATION_ERROR", "api-version is missing or not known");
const notFound = refusal(404, "DATA_NOT_FOUND", "ID specified in request cannot be found.");

const now = (): string => new Date().toISOString();

function keep<Value>(map: Map<string, Value>, key: string, value: Value): void {
  if (map.size >= KEPT_MAX)
    for (const oldest of map.keys()) {
      map.delete(oldest);
      break;
    }
  map.set(key, value);
}

if (import.meta.main) {
  const {
    XENDIT_SECRET_KEY = "xnd_development_fake",
    XENDIT_CALLBACK_TOKEN = "fake",
    XENDIT_CALLBACK_URL,
    PORT = "0",
  } = process.env;
  const { url } = await xenditFake({
    secretKey: XENDIT_SECRET_KEY,
    callbackToken: XENDIT_CALLBACK_TOKEN,
    ...(XENDIT_CALLBACK_URL === undefined ? {} : { callbackUrl: XENDIT_CALLBACK_URL }),
    port: Number(PORT),
  });
  console.log(JSON.stringify({ url }));
}
