// An account at the fake of Stripe: its pages, payments, refunds and disputes in memory, by the rules of Stripe's documentation.
import { randomBytes } from "node:crypto";
import { type Form, at, within } from "./form.ts";

/** A rejected request, with Stripe's error fields. */
export class StripeError extends Error {
  readonly status: number;
  readonly error: Record<string, unknown>;

  constructor(status: number, error: { type?: string; code?: string; param?: string; message: string }) {
    super(error.message);
    this.status = status;
    this.error = { type: "invalid_request_error", ...error };
  }
}

export interface Session {
  id: string;
  createdAt: number;
  expiresAt: number;
  status: "open" | "complete" | "expired";
  paid: boolean;
  amount: number;
  currency: string;
  productName: string;
  successUrl: string;
  cancelUrl: string;
  clientReference: string | null;
  metadata: Record<string, string>;
  intentMetadata: Record<string, string>;
  intent: Intent | undefined;
}

export interface Intent {
  id: string;
  charge: string;
  amount: number;
  currency: string;
  refunded: number;
  disputed: boolean;
}

export interface Refund {
  id: string;
  createdAt: number;
  intent: Intent;
  amount: number;
  status: "pending" | "succeeded" | "failed";
  metadata: Record<string, string>;
}

export interface Dispute {
  id: string;
  createdAt: number;
  intent: Intent;
  status: string;
  reason: string;
  evidence: Record<string, string>;
  metadata: Record<string, string>;
  submissions: number;
}

export interface Upload {
  id: string;
  name: string;
  bytes: Buffer;
}

const KEPT_MAX = 10_000;
const parameters = new Set(
  (
    "mode ui_mode payment_method_types payment_method_options adaptive_pricing automatic_tax allow_promotion_codes line_items " +
    "client_reference_id metadata payment_intent_data success_url cancel_url expires_at expand locale submit_type customer_email"
  ).split(" "),
);

export class Account {
  readonly sessions = new Map<string, Session>();
  readonly refunds = new Map<string, Refund>();
  readonly disputes = new Map<string, Dispute>();
  readonly files = new Map<string, Upload>();
  private readonly nowSeconds: () => number;

  constructor(nowSeconds: () => number) {
    this.nowSeconds = nowSeconds;
  }

  createSession(form: Form): Session {
    const unknown = Object.keys(form).find((name) => !parameters.has(name));
    if (unknown !== undefined) {
      throw new StripeError(400, {
        code: "parameter_unknown",
        param: unknown,
        message: `Received unknown parameter: ${unknown}`,
      });
    }
    if (at(form, "mode") !== "payment") throw missing("mode");
    const price = ["line_items", "0", "price_data"];
    const currency = at(form, ...price, "currency") ?? "";
    const amount = integer(at(form, ...price, "unit_amount"), "line_items[0][price_data][unit_amount]");
    const productName = at(form, ...price, "product_data", "name");
    const successUrl = at(form, "success_url");
    if (!/^[a-z]{3}$/.test(currency)) throw missing("line_items[0][price_data][currency]");
    if (!productName) throw missing("line_items[0][price_data][product_data][name]");
    if (successUrl === undefined) throw missing("success_url");
    if (!URL.canParse(successUrl))
      throw new StripeError(400, { code: "url_invalid", param: "success_url", message: "Not a valid URL" });
    if (amount > (currency === "idr" ? 999_999_999_999 : 99_999_999)) {
      throw new StripeError(400, { code: "amount_too_large", message: "The amount is above the maximum." });
    }
    const createdAt = this.nowSeconds();
    const session: Session = {
      id: newId("cs_test_a1", 28),
      createdAt,
      expiresAt: expiryOf(at(form, "expires_at"), createdAt),
      status: "open",
      paid: false,
      amount,
      currency,
      productName,
      successUrl,
      cancelUrl: at(form, "cancel_url") ?? successUrl,
      clientReference: at(form, "client_reference_id") ?? null,
      metadata: within(form, "metadata"),
      intentMetadata: typeof form.payment_intent_data === "object" ? within(form.payment_intent_data, "metadata") : {},
      intent: undefined,
    };
    keep(this.sessions, session);
    return session;
  }

  session(id: string): Session {
    const session = this.sessions.get(id);
    if (!session) throw notFound("checkout.session", id, "session");
    if (session.status === "open" && this.nowSeconds() >= session.expiresAt) session.status = "expired";
    return session;
  }

  expireSession(id: string): Session {
    const session = this.session(id);
    if (session.status !== "open") {
      const message = `Only Checkout Sessions with a status in ["open"] can be expired. This Checkout Session has a status of \`${session.status}\`.`;
      throw new StripeError(400, { message });
    }
    session.status = "expired";
    return session;
  }

  /** The payer pays. Throws when the page is no longer open. */
  pay(session: Session, { amount = session.amount, currency = session.currency } = {}): void {
    if (this.session(session.id).status !== "open") throw new Error(`${session.id} is ${session.status}`);
    session.intent = {
      id: newId("pi_3", 10),
      charge: newId("ch_3", 10),
      amount,
      currency,
      refunded: 0,
      disputed: false,
    };
    session.amount = amount;
    session.currency = currency;
    session.status = "complete";
    session.paid = true;
  }

  createRefund(form: Form, status: Refund["status"]): Refund {
    const id = at(form, "payment_intent") ?? "";
    const intent = [...this.sessions.values()].find((session) => session.intent?.id === id)?.intent;
    if (!intent) throw notFound("payment_intent", id, "payment_intent");
    const left = intent.amount - intent.refunded;
    const amount = at(form, "amount") === undefined ? left : integer(at(form, "amount"), "amount");
    if (intent.disputed)
      throw new StripeError(400, {
        code: "charge_disputed",
        message: `Charge ${intent.charge} has been charged back.`,
      });
    if (left === 0) {
      throw new StripeError(400, {
        code: "charge_already_refunded",
        message: `Charge ${intent.charge} has already been refunded.`,
      });
    }
    if (amount > left) {
      throw new StripeError(400, {
        param: "amount",
        message: "Refund amount is greater than unrefunded amount on charge.",
      });
    }
    const metadata = within(form, "metadata");
    const refund: Refund = { id: newId("re_3", 10), createdAt: this.nowSeconds(), intent, amount, status, metadata };
    intent.refunded += amount;
    keep(this.refunds, refund);
    return refund;
  }

  /** Ends a refund. The amount of a failed refund can be refunded again. */
  decideRefund(refund: Refund, status: "succeeded" | "failed"): void {
    if (status === "failed" && refund.status !== "failed") refund.intent.refunded -= refund.amount;
    refund.status = status;
  }

  openDispute(intent: Intent, reason: string): Dispute {
    intent.disputed = true;
    const known = { id: newId("du_1", 10), createdAt: this.nowSeconds(), status: "needs_response" };
    const dispute: Dispute = { ...known, intent, reason, evidence: {}, metadata: {}, submissions: 0 };
    keep(this.disputes, dispute);
    return dispute;
  }

  updateDispute(id: string, form: Form): Dispute {
    const dispute = this.disputes.get(id);
    if (!dispute) throw notFound("dispute", id, "dispute");
    if (dispute.status !== "needs_response") throw new StripeError(400, { message: "This dispute is closed." });
    const evidence = within(form, "evidence");
    const unknown = Object.values(evidence).find((value) => value.startsWith("file_") && !this.files.has(value));
    if (unknown !== undefined) throw notFound("file", unknown, "evidence");
    const length = Object.values(evidence).reduce((sum, text) => sum + text.length, 0);
    if (length > 150_000) throw new StripeError(400, { param: "evidence", message: "The evidence is too long." });
    Object.assign(dispute.evidence, evidence);
    Object.assign(dispute.metadata, within(form, "metadata"));
    if (at(form, "submit") !== "false") {
      dispute.submissions++;
      dispute.status = "under_review";
    }
    return dispute;
  }

  keepFile(name: string, bytes: Buffer): Upload {
    const upload = { id: newId("file_1", 10), name, bytes };
    keep(this.files, upload);
    return upload;
  }
}

function expiryOf(text: string | undefined, now: number): number {
  if (text === undefined) return now + 24 * 3_600;
  const expiresAt = integer(text, "expires_at");
  if (expiresAt < now + 1_800 || expiresAt > now + 24 * 3_600) {
    const message =
      "The `expires_at` timestamp must be between 30 minutes and 24 hours after Checkout Session creation.";
    throw new StripeError(400, { param: "expires_at", message });
  }
  return expiresAt;
}

function integer(text: string | undefined, param: string): number {
  if (text === undefined) throw missing(param);
  if (!/^[1-9]\d{0,14}$/.test(text))
    throw new StripeError(400, { code: "parameter_invalid_integer", param, message: "Invalid integer" });
  return Number(text);
}

function missing(param: string): StripeError {
  return new StripeError(400, { code: "parameter_missing", param, message: `Missing required param: ${param}.` });
}

export function notFound(what: string, id: string, param: string): StripeError {
  return new StripeError(404, { code: "resource_missing", param, message: `No such ${what}: '${id}'` });
}

export function newId(prefix: string, bytes: number): string {
  return prefix + randomBytes(bytes).toString("hex");
}

function keep<Kept extends { id: string }>(all: Map<string, Kept>, one: Kept): void {
  const [oldest] = all.keys();
  if (all.size >= KEPT_MAX && oldest !== undefined) all.delete(oldest);
  all.set(one.id, one);
}
