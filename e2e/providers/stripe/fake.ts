// A fake of Stripe, built from its documentation: checks keys and versions, repeats answers by idempotency key, has pages for payers, and
// signs its events. `node e2e/providers/stripe/fake.ts '{"webhookUrl":"…"}'` runs it by itself and prints its address.
import { createHmac, randomBytes } from "node:crypto";
import { type Fake, type FakeAnswer, type FakeControl, type FakeRequest, FakeServer, controlled } from "../fake.ts";
import { Account, type Refund, type Session, StripeError, newId, notFound } from "./account.ts";
import { type Form, bearerOf, readForm, readUpload } from "./form.ts";
import {
  changed,
  chargeObject,
  disputeObject,
  fileObject,
  intentObject,
  listObject,
  refundObject,
  sessionObject,
} from "./objects.ts";
import { paidPage, payPage } from "./pages.ts";

const API_VERSION = "2026-10-28.endive";

interface StripeFakeOptions {
  /** 0, the default, takes any free port. */
  port?: number;
  secretKey?: string;
  /** All active secrets: each signs every event, as while a secret is rolled over. */
  webhookSecrets?: string[];
  /** The webhook endpoint; without one no events are sent. */
  webhookUrl?: string;
  /** The first status of a refund. Card refunds mostly succeed at once; pending ones wait for `decideRefund`. */
  refunds?: "pending" | "succeeded";
  nowMs?: () => number;
}

export interface StripeControl extends FakeControl {
  /** Refunds a part of a payment in the dashboard. */
  refundElsewhere(paymentKey: string, amountMinor: number): Promise<void>;
  /** Sets the webhook endpoint once its address is known. */
  endpoint(url: string): void;
  /** Stripe's id of the newest dispute of a payment. */
  disputeId(paymentKey: string): string;
  /** The evidence for the newest dispute of a payment. */
  evidence(paymentKey: string): { fields: Record<string, string>; files: string[]; submissions: number };
}

export interface StripeFake extends Fake {
  readonly control: StripeControl;
}

interface Kept {
  /** Unix seconds. Keys are forgotten after a day. */
  at: number;
  fingerprint: string;
  answer: FakeAnswer;
}
const KEPT_MAX = 10_000;
const KEPT_SECONDS = 86_400;

/** Starts a fake that answers until it is closed. */
export async function stripeFake(options: StripeFakeOptions = {}): Promise<StripeFake> {
  const stripe = new MadeUpStripe(options);
  const url = await stripe.listen(options.port);
  return { url, control: stripe.control, deliveries: stripe.server.deliveries, close: () => stripe.server.close() };
}

class MadeUpStripe {
  readonly server: FakeServer;
  readonly control: StripeControl;
  private readonly account: Account;
  private readonly options: Required<Omit<StripeFakeOptions, "port" | "webhookUrl">>;
  private webhookUrl: string | undefined;
  /** The answers by idempotency key. */
  private readonly answers = new Map<string, Kept>();
  private url = "";

  constructor({ webhookUrl, secretKey, webhookSecrets, refunds, nowMs }: StripeFakeOptions) {
    this.options = {
      secretKey: secretKey ?? "sk_test_fake",
      webhookSecrets: webhookSecrets ?? ["whsec_fake"],
      refunds: refunds ?? "pending",
      nowMs: nowMs ?? Date.now,
    };
    this.webhookUrl = webhookUrl;
    this.account = new Account(() => this.now());
    this.control = this.controls();
    const spared = ({ path }: FakeRequest): boolean => !path.startsWith("/v1/");
    this.server = new FakeServer((request) => this.serve(request), { spared });
  }

  async listen(port: number | undefined): Promise<string> {
    this.url = await this.server.listen(port);
    return this.url;
  }

  private now(): number {
    return Math.floor(this.options.nowMs() / 1_000);
  }

  private async serve(request: FakeRequest): Promise<FakeAnswer> {
    const own = await controlled(this.control, request);
    if (own) return own;
    if (request.path.startsWith("/c/pay/")) return this.payersPage(request);
    const headers = {
      "request-id": newId("req_", 7),
      "stripe-version": API_VERSION,
      date: new Date(this.options.nowMs()).toUTCString(),
    };
    const answer = await this.answer(request);
    return { ...answer, headers: { ...headers, ...answer.headers } };
  }

  /** Answers a request after checking its API key, and repeats the earlier answer under the same idempotency key. */
  private async answer(request: FakeRequest): Promise<FakeAnswer> {
    const refusal = this.objectionTo(request);
    if (refusal) return refusal;
    const key = request.method === "POST" ? request.headers["idempotency-key"] : undefined;
    if (typeof key !== "string") return changed(request, await this.perform(request));
    const fingerprint = `${request.path} ${request.body.toString("latin1")}`;
    const known = this.answers.get(key);
    const kept = known !== undefined && this.now() - known.at < KEPT_SECONDS ? known : undefined;
    if (kept !== undefined && kept.fingerprint !== fingerprint) {
      const message = `Keys for idempotent requests can only be used with the same parameters they were first used with.`;
      return failure(new StripeError(400, { type: "idempotency_error", message }));
    }
    if (kept !== undefined) return changed(request, { ...kept.answer, headers: { "idempotent-replayed": "true" } });
    const answer = await this.perform(request);
    // A request that failed its checks was never begun, so its answer is not kept.
    if (answer.status === 200) {
      const [oldest] = this.answers.keys();
      if (this.answers.size >= KEPT_MAX && oldest !== undefined) this.answers.delete(oldest);
      const failed = { status: 500, body: { error: { type: "api_error", message: "An error occurred on our end." } } };
      this.answers.set(key, {
        at: this.now(),
        fingerprint,
        answer: request.fault === "500 after effect" ? failed : answer,
      });
    }
    return changed(request, answer);
  }

  private objectionTo({ headers, fault }: FakeRequest): FakeAnswer | undefined {
    const given = bearerOf(headers.authorization);
    if (given === undefined) return failure(new StripeError(401, { message: "You did not provide an API key." }));
    if (fault === "key revoked")
      return failure(new StripeError(401, { code: "api_key_expired", message: "Expired API Key provided" }));
    if (given !== this.options.secretKey) return failure(new StripeError(401, { message: "Invalid API Key provided" }));
    if (headers["stripe-version"] !== API_VERSION) {
      return failure(
        new StripeError(400, { message: `Invalid Stripe API version: ${String(headers["stripe-version"])}` }),
      );
    }
    if (fault === "refuse") {
      return failure(
        new StripeError(400, { code: "parameter_missing", param: "mode", message: "Missing required param: mode." }),
      );
    }
    return undefined;
  }

  private async perform(request: FakeRequest): Promise<FakeAnswer> {
    try {
      return { status: 200, body: await this.route(request) };
    } catch (error) {
      if (error instanceof StripeError) return failure(error);
      throw error;
    }
  }

  private async route({ method, path, query, headers, body }: FakeRequest): Promise<unknown> {
    const [, , kind, id = "", verb] = path.split("/");
    const name = [method, kind === "checkout" ? "sessions" : kind, id === "" || id === "sessions" ? "" : ":id"]
      .filter(Boolean)
      .join(" ");
    if (name === "POST files") {
      const { purpose, file } = await readUpload(headers["content-type"] ?? "", body);
      if (purpose !== "dispute_evidence") throw new StripeError(400, { param: "purpose", message: "Invalid purpose" });
      return fileObject(this.account.keepFile(file.name, Buffer.from(await file.arrayBuffer())), this.now());
    }
    const form = readForm(body.toString());
    if (kind === "checkout") return this.sessions(method, verb ?? "", path.split("/")[5] ?? "", form, query);
    switch (name) {
      case "GET balance":
        return { object: "balance", available: [{ amount: 0, currency: "idr" }], livemode: false, pending: [] };
      case "POST refunds": {
        const refund = this.account.createRefund(form, this.options.refunds);
        await this.notifyAll([["refund.created", refundObject(refund)]], 1);
        return refundObject(refund);
      }
      case "GET refunds": {
        const ofPayment = [...this.account.refunds.values()].filter(
          ({ intent }) => intent.id === query.get("payment_intent"),
        );
        return this.list(ofPayment.map(refundObject), path, query);
      }
      case "GET refunds :id":
        return refundObject(found(this.account.refunds.get(id), "refund", id));
      case "GET disputes :id":
        return disputeObject(found(this.account.disputes.get(id), "dispute", id));
      case "POST disputes :id": {
        const dispute = disputeObject(this.account.updateDispute(id, form));
        await this.notifyAll([["charge.dispute.updated", dispute]], 1);
        return dispute;
      }
      default:
        throw new StripeError(404, { message: `Unrecognized request URL (${method}: ${path}).` });
    }
  }

  private async sessions(
    method: string,
    id: string,
    verb: string,
    form: Form,
    query: URLSearchParams,
  ): Promise<unknown> {
    const path = "/v1/checkout/sessions";
    if (id === "" && method === "POST") return sessionObject(this.account.createSession(form), this.url);
    if (id === "")
      return this.list(
        [...this.account.sessions.values()].map((session) => sessionObject(session, this.url)),
        path,
        query,
      );
    if (verb === "expire" && method === "POST") {
      const expired = sessionObject(this.account.expireSession(id), this.url);
      await this.notifyAll([["checkout.session.expired", expired]], 1);
      return expired;
    }
    if (verb !== "" || method !== "GET") throw new StripeError(404, { message: "Unrecognized request URL." });
    const expanded = [...query].some(
      ([name, value]) => name.startsWith("expand") && value.startsWith("payment_intent"),
    );
    return sessionObject(this.account.session(id), this.url, expanded);
  }

  private list(all: Record<string, unknown>[], path: string, query: URLSearchParams): unknown {
    return listObject(all, path, Number(query.get("limit") ?? "10"), query.get("starting_after"));
  }

  private controls(): StripeControl {
    return {
      pay: async (key, { amountMinor, currency, times = 1, notify = true, order = "normal" } = {}) => {
        const session = this.newest(key);
        this.account.pay(session, {
          ...(amountMinor === undefined ? {} : { amount: amountMinor }),
          ...(currency === undefined ? {} : { currency: currency.toLowerCase() }),
        });
        if (notify) await this.notifyPaid(session, times, order);
      },
      fail: async (key) => {
        const session = this.newest(key);
        this.account.expireSession(session.id);
        await this.notifyAll([["checkout.session.expired", sessionObject(session, this.url)]], 1);
      },
      expire: async (key) => {
        const session = this.newest(key);
        this.account.expireSession(session.id);
        await this.notifyAll([["checkout.session.expired", sessionObject(session, this.url)]], 1);
      },
      decideRefund: async (key, status) => {
        const refund = this.refundsOf(key).at(-1);
        if (!refund) throw new Error(`there is no refund ${key}`);
        this.account.decideRefund(refund, status);
        const type = status === "failed" ? "refund.failed" : "refund.updated";
        await this.notifyAll([[type, refundObject(refund)]], 1);
      },
      refundElsewhere: async (paymentKey, amountMinor) => {
        const { intent } = this.newest(paymentKey);
        const form = { payment_intent: intent?.id ?? "", amount: String(amountMinor) };
        const refund = this.account.createRefund(form, "succeeded");
        await this.notifyAll([["refund.created", refundObject(refund)]], 1);
      },
      dispute: (paymentKey, status) => this.dispute(paymentKey, status),
      fault: (...fault) => this.server.fault(...fault),
      opened: (key) => this.sessionsOf(key).length,
      refunded: (key) => this.refundsOf(key).length,
      endpoint: (url) => {
        this.webhookUrl = url;
      },
      disputeId: (paymentKey) => this.disputeOf(paymentKey).id,
      evidence: (paymentKey) => {
        const { evidence, submissions } = this.disputeOf(paymentKey);
        const names = Object.values(evidence).flatMap((value) => this.account.files.get(value)?.name ?? []);
        return { fields: evidence, files: names, submissions };
      },
    };
  }

  private async notifyPaid(session: Session, times: number, order: "normal" | "reversed"): Promise<void> {
    const { intent } = session;
    if (!intent) throw new Error(`${session.id} is not paid`);
    const events: [string, unknown][] = [
      ["charge.succeeded", chargeObject(session, intent)],
      ["checkout.session.completed", sessionObject(session, this.url)],
      ["payment_intent.succeeded", intentObject(session, intent)],
    ];
    await this.notifyAll(order === "normal" ? events : events.toReversed(), times);
  }

  private async dispute(paymentKey: string, status: "open" | "won" | "lost"): Promise<void> {
    const { intent } = this.newest(paymentKey);
    if (!intent) throw new Error(`${paymentKey} is not paid`);
    if (status === "open") {
      const opened = disputeObject(this.account.openDispute(intent, "fraudulent"));
      return this.notifyAll(
        [
          ["charge.dispute.created", opened],
          ["charge.dispute.funds_withdrawn", opened],
        ],
        1,
      );
    }
    const dispute = this.disputeOf(paymentKey);
    dispute.status = status;
    intent.disputed = false;
    const closed: [string, unknown] = ["charge.dispute.closed", disputeObject(dispute)];
    return this.notifyAll(
      status === "won" ? [closed, ["charge.dispute.funds_reinstated", disputeObject(dispute)]] : [closed],
      1,
    );
  }

  private disputeOf(paymentKey: string) {
    const { intent } = this.newest(paymentKey);
    const dispute = [...this.account.disputes.values()].findLast((one) => one.intent === intent);
    if (!dispute) throw new Error(`${paymentKey} is not disputed`);
    return dispute;
  }

  private sessionsOf(key: string): Session[] {
    return [...this.account.sessions.values()].filter(({ metadata }) => metadata.operation_key === key);
  }

  private newest(key: string): Session {
    const session = this.sessionsOf(key).at(-1);
    if (!session) throw new Error(`there is no page of ${key}`);
    return session;
  }

  private refundsOf(key: string): Refund[] {
    return [...this.account.refunds.values()].filter(({ metadata }) => metadata.operation_key === key);
  }

  private async notifyAll(events: readonly [type: string, object: unknown][], times: number): Promise<void> {
    if (this.webhookUrl === undefined) return;
    for (const [type, object] of events) {
      const id = newId("evt_1", 12);
      for (let time = 0; time < times; time++) await this.notify(this.webhookUrl, id, type, object);
    }
  }

  private async notify(url: string, id: string, type: string, object: unknown): Promise<void> {
    const timestamp = this.now();
    const request = { id: null, idempotency_key: null };
    const event = {
      id,
      object: "event",
      api_version: API_VERSION,
      created: timestamp,
      livemode: false,
      pending_webhooks: 1,
      request,
      type,
    };
    const body = JSON.stringify({ ...event, data: { object } }, null, 2);
    const signatures = this.options.webhookSecrets.map(
      (secret) => `v1=${createHmac("sha256", secret).update(`${timestamp}.${body}`).digest("hex")}`,
    );
    // In test mode Stripe adds a signature of a scheme that receivers must ignore.
    const header = [`t=${timestamp}`, ...signatures, `v0=${randomBytes(32).toString("hex")}`].join(",");
    await this.server.notify(
      url,
      { "content-type": "application/json; charset=utf-8", "stripe-signature": header },
      body,
    );
  }

  /** The payer's page, on which a card with 3-D Secure is one button. */
  private async payersPage({ method, path }: FakeRequest): Promise<FakeAnswer> {
    const session = this.account.sessions.get(path.slice("/c/pay/".length));
    const html = { "content-type": "text/html; charset=utf-8" };
    if (!session) return { status: 404, headers: html, body: paidPage("There is no such page.") };
    if (this.account.session(session.id).status !== "open")
      return { status: 200, headers: html, body: paidPage("This page is closed.") };
    if (method !== "POST") return { status: 200, headers: html, body: payPage(session) };
    this.account.pay(session);
    await this.notifyPaid(session, 1, "normal");
    return { status: 303, headers: { location: session.successUrl }, body: "" };
  }
}

function found<Found>(one: Found | undefined, what: string, id: string): Found {
  if (one === undefined) throw notFound(what, id, "id");
  return one;
}

function failure({ status, error }: StripeError): FakeAnswer {
  return { status, body: { error } };
}

if (import.meta.main) {
  const { url } = await stripeFake(JSON.parse(process.argv[2] ?? "{}") as StripeFakeOptions);
  process.stdout.write(`${JSON.stringify({ url })}\n`);
}
