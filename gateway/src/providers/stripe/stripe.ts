// Stripe as an acquirer: cards on Stripe's own page, with 3-D Secure. Decides which calls are made, and what follows from each response.
import {
  type Checked,
  type EvidenceRequest,
  type Known,
  type KnownRefund,
  type Opened,
  type OpenRequest,
  AcquirerRefused,
  type Refunded,
  type RefundRequest,
} from "../../acquirers/acquirer.ts";
import { acquirerOf, isLoopback } from "../../acquirers/remote-profile.ts";
import { type Clock, type Micros, SECOND, systemClock } from "../../ground/clock.ts";
import { type CallContext, Caller, type ProviderAnswer, type ProviderRequest, definiteOnly } from "../caller.ts";
import { type OpenAcquirer, capabilitiesOf, provider } from "../profile.ts";
import { type Secret, openSecret } from "../secrets.ts";
import { boundsOf, isInStep } from "./amounts.ts";
import {
  type Account,
  type Page,
  among,
  checkEnded,
  fileIdOf,
  isLive,
  isSubmitted,
  pageOf,
  paymentIntentOf,
  refundOf,
} from "./answers.ts";
import { isAboutExpiry, isOtherParameters, isWorthALook, reasonOf, refusalOf } from "./errors.ts";
import { heardOf } from "./events.ts";
import { evidenceOrder, fileUpload, objectionToEvidence } from "./evidence.ts";
import { type StripeProfile, objectionToKey, stripeProfileSchema } from "./profile.ts";
import {
  FORM,
  PAGE_QUERY,
  headers,
  isPageEnd,
  pageEnd,
  pageOrder,
  refundOrder,
  refundsPath,
  sessionsPath,
} from "./requests.ts";
import { checkSignature } from "./signature.ts";

const API = "https://api.stripe.com";
const FILES = "https://files.stripe.com";
/** A page of a list has a hundred objects of several kilobytes; a dispute up to 150,000 characters of evidence. */
const LONG_MAX_BYTES = 1_048_576;
/** Pages of a list that one inquiry reads: 300 Checkout Sessions of payers, 1,000 refunds of a payment. */
const SESSION_PAGES_MAX = 3;
const REFUND_PAGES_MAX = 10;
/** A page without an end of its own is open for 24 hours: after this time no page of the payment can be open. */
const FORGOTTEN: Micros = 25 * 3_600 * SECOND;

/** The acquirer of an account at Stripe. Reads the keys now, and when their files change. Throws for a missing key, or one of the other mode. */
export function stripeAcquirer(profile: StripeProfile, clock: Clock = systemClock): OpenAcquirer {
  const secretKey = openSecret(profile.secret_key);
  const webhookSecret = openSecret(profile.webhook_secret);
  const stripe = new Stripe(profile, secretKey, clock);
  return {
    ...acquirerOf(profile),
    capabilities: capabilitiesOf(
      profile.methods,
      (currency) => boundsOf(currency).stepMinor,
      () => true,
    ),
    dashboardUrl({ payment_intent: intent }) {
      const mode = profile.environment === "production" ? "" : "test/";
      return intent === undefined ? undefined : `https://dashboard.stripe.com/${mode}payments/${intent}`;
    },
    calls: {
      deadlineMs: profile.deadline_ms,
      // All that the service takes: an event tells a dispute with its evidence, and nothing but an event tells how it ends.
      messageMaxBytes: 262_144,
      open: (request, signal, record) => stripe.open(request, { signal, record }),
      inquire: (request, signal, record) => stripe.inquire(request, { signal, record }),
      cancel: (request, signal, record) => definiteOnly(stripe.cancel(request, { signal, record })),
      refund: (request, signal, record) => stripe.refund(request, { signal, record }),
      inquireRefund: (request, signal, record) => stripe.inquireRefund(request, { signal, record }),
      receive({ headers: received, body }, now) {
        checkSignature(received["stripe-signature"], body, webhookSecret.accepted(), now);
        return heardOf(body, stripe.account);
      },
      submitEvidence: (request, signal, record) => stripe.submitEvidence(request, { signal, record }),
      check: (signal, record) => stripe.check({ signal, record }),
    },
    close: () => stripe.caller.close(),
  };
}

export const stripe = provider("stripe", stripeProfileSchema, stripeAcquirer);

class Stripe {
  readonly caller: Caller;
  readonly account: Account;
  private readonly profile: StripeProfile;
  private readonly secretKey: Secret;
  private readonly clock: Clock;

  constructor(profile: StripeProfile, secretKey: Secret, clock: Clock) {
    const { code, deadline_ms, connections, environment, url } = profile;
    this.profile = profile;
    this.secretKey = secretKey;
    this.clock = clock;
    this.caller = new Caller({ code, baseUrl: url ?? API, deadlineMs: deadline_ms, connections });
    const plainOnLoopback = url !== undefined && isLoopback(new URL(url).hostname);
    this.account = { live: environment === "production", plainOnLoopback };
    this.key();
  }

  async open(request: OpenRequest, context: CallContext): Promise<Opened> {
    const answer = await this.orderPage(request, context);
    if (answer.status === 200) return pageOf(answer.body, request, this.account).known;
    throw this.refused(answer) ?? this.unexpected("POST /v1/checkout/sessions", answer);
  }

  async inquire(request: OpenRequest, context: CallContext): Promise<Known> {
    const session = request.providerIds?.session;
    const page =
      session === undefined ? await this.complete(request, context) : await this.page(session, request, context);
    if (page === undefined) return { known: false };
    if (!page.isOpen || !this.isOver(request)) return page.known;
    return this.closePage(page, request, context);
  }

  /** Closes the page. Stripe can expire every open page, so there is no definite refusal. */
  async cancel(request: OpenRequest, context: CallContext): Promise<void> {
    const { operationKey, providerIds } = request;
    const session = providerIds?.session ?? (await this.sessionOfKey(operationKey, context));
    if (session === undefined) throw new Error(`${this.profile.code} does not show the page that is to be closed`);
    const answer = await this.expire(session, context);
    if (answer.status === 200) return checkEnded(pageOf(answer.body, request, this.account), session);
    const unexpected = this.unexpected("POST /v1/checkout/sessions/:id/expire", answer);
    if (!isWorthALook(answer.status, answer.body)) throw unexpected;
    const page = await this.page(session, request, context);
    if (page.known.state.status !== "failed") throw unexpected;
    checkEnded(page, session);
  }

  async refund(request: RefundRequest, context: CallContext): Promise<Refunded> {
    if (!isInStep(request.amountMinor, request.currency))
      throw new AcquirerRefused(`${this.profile.code} takes no refund as fine as this one`);
    const intent = await this.paymentIntent(request, (order) => this.ordered(order, undefined, context));
    if (intent === undefined) throw new AcquirerRefused(`${this.profile.code} has told no payment to refund`);
    const answer = await this.caller.order(this.refundRequest(request, intent), context);
    if (answer.status === 200) return refundOf(answer.body, request);
    throw this.refused(answer) ?? this.unexpected("POST /v1/refunds", answer);
  }

  async inquireRefund(request: RefundRequest, context: CallContext): Promise<KnownRefund> {
    const refund = request.providerIds?.refund;
    if (refund !== undefined)
      return { known: true, ...refundOf(await this.get(`/v1/refunds/${refund}`, context), request) };
    const intent = await this.paymentIntent(request, async ({ path }) => ({ body: await this.get(path, context) }));
    if (intent === undefined) return { known: false };
    const found = await this.refundOfKey(request.operationKey, intent, context);
    if (found !== undefined) return { known: true, ...refundOf(found, request) };
    if (request.isOver || !isInStep(request.amountMinor, request.currency)) return { known: false };
    // The idempotency key makes the refund happen once, and Stripe keeps the key for as long as a request can be in flight.
    const answer = await this.caller.call(this.refundRequest(request, intent), context);
    if (answer.status === 200) return { known: true, ...refundOf(answer.body, request) };
    if (refusalOf(answer.status, answer.body)?.about === "content") return { known: false };
    throw this.unexpected("POST /v1/refunds", answer);
  }

  async submitEvidence(request: EvidenceRequest, context: CallContext): Promise<void> {
    const objection = objectionToEvidence(request);
    if (objection !== undefined) {
      // Nothing is sent to Stripe, so nothing else would tell an operator why.
      context.record?.({ about: "evidence, not sent", status: undefined, text: `It is not taken: ${objection}.` });
      throw new AcquirerRefused(`${this.profile.code} takes no such evidence: ${objection}`);
    }
    const path = `/v1/disputes/${encodeURIComponent(request.disputeId)}`;
    const dispute = await this.ordered({ method: "GET", path }, undefined, context);
    if (isSubmitted(dispute.body, request)) return;
    const files: string[] = [];
    for (const file of request.files) {
      const { contentType, body } = fileUpload(file);
      const upload = {
        method: "POST",
        path: "/v1/files",
        body,
        contentType,
        baseUrl: this.profile.url ?? FILES,
        deadlineMs: UPLOAD_MS,
      } as const;
      // Without an idempotency key: Stripe would repeat an error of its own for a day, and a file that is there twice does no harm.
      const answer = await this.ordered(upload, undefined, context);
      files.push(fileIdOf(answer.body, file.bytes));
    }
    const order = { method: "POST", path, body: evidenceOrder(request, files) } as const;
    const answer = await this.ordered(order, request.operationKey, context);
    if (!isSubmitted(answer.body, request)) throw new Error(`${this.profile.code} has not confirmed the evidence`);
  }

  async check(context: CallContext): Promise<Checked> {
    const request = this.request({ method: "GET", path: "/v1/balance" });
    const answer = await this.caller.call(request, context);
    const date = typeof answer.headers.date === "string" ? Date.parse(answer.headers.date) : Number.NaN;
    const clockDifferenceMs = Number.isNaN(date) ? undefined : date - Math.floor(this.clock.now() / 1_000);
    return { findings: this.findings(answer), clockDifferenceMs };
  }

  private findings(answer: ProviderAnswer): Checked["findings"] {
    const { status, body } = answer;
    if (status === 403)
      return [{ well: true, text: "The key is accepted; it may not read the balance, so its mode is not known." }];
    if (status !== 200) return [{ well: false, text: `The key is not accepted (${reasonOf(status, body)}).` }];
    const mode = isLive(body) ? "live" : "test";
    const wanted = this.account.live ? "live" : "test";
    return [
      { well: true, text: "The key is accepted." },
      { well: mode === wanted, text: `It is of ${mode} mode, and this entry is for ${wanted} mode.` },
    ];
  }

  /** Orders a page. An earlier order may have had another end, or none: both share one idempotency key, so that the second makes nothing. */
  private async orderPage(request: OpenRequest, context: CallContext): Promise<ProviderAnswer> {
    const end = pageEnd(request);
    const [first, second] = isPageEnd(end, this.clock.now()) ? [end, undefined] : [undefined, end];
    const answer = await this.caller.order(this.pageRequest(request, first), context);
    if (isOtherParameters(answer.status, answer.body)) return this.found(request, second, context);
    if (first === undefined || !isAboutExpiry(answer.status, answer.body)) return answer;
    return this.caller.order(this.pageRequest(request, second), context);
  }

  /** The page that was ordered under this key with this end. It exists: any other response leaves the outcome unknown. */
  private async found(request: OpenRequest, end: Micros | undefined, context: CallContext): Promise<ProviderAnswer> {
    const answer = await this.caller.call(this.pageRequest(request, end), context);
    if (answer.status === 200) return answer;
    throw this.unexpected("POST /v1/checkout/sessions", answer);
  }

  /** The page of an operation without a stored session id: found, or ordered now. Undefined when it will never exist. */
  private async complete(request: OpenRequest, context: CallContext): Promise<Page | undefined> {
    const over = this.isOver(request);
    const answer = over ? await this.orderOver(request, context) : await this.orderPage(request, context);
    // A repeated order gets the first response, so the page is read again for its present state.
    if (answer.status === 200) return this.page(pageOf(answer.body, request, this.account).id, request, context);
    const refusal = refusalOf(answer.status, answer.body);
    const isDefinite = refusal?.about === "content" && !isAboutExpiry(answer.status, answer.body);
    if (isDefinite && !over) return undefined;
    if (refusal?.about === "gate") throw this.unexpected("POST /v1/checkout/sessions", answer);
    // Stripe repeats the failure of an order that failed there, and may have made a page all the same.
    const session = await this.sessionOfKey(request.operationKey, context);
    if (session !== undefined) return this.page(session, request, context);
    if (over && this.clock.now() - request.expiresAt > FORGOTTEN) return undefined;
    throw this.unexpected("POST /v1/checkout/sessions", answer);
  }

  /** Asks for the page of a payment that is over, in the form with which Stripe would make no new one. */
  private async orderOver(request: OpenRequest, context: CallContext): Promise<ProviderAnswer> {
    const end = pageEnd(request);
    if (isPageEnd(end, this.clock.now())) throw new Error(`${this.profile.code} could still open a page that is over`);
    const answer = await this.caller.call(this.pageRequest(request, end), context);
    return isOtherParameters(answer.status, answer.body) ? this.found(request, undefined, context) : answer;
  }

  /** Closes the page of a payment that is over. The payer may have paid first. */
  private async closePage(page: Page, request: OpenRequest, context: CallContext): Promise<Known> {
    const answer = await this.expire(page.id, context);
    if (answer.status === 200) return pageOf(answer.body, request, this.account).known;
    return (await this.page(page.id, request, context)).known;
  }

  /** Has no idempotency key: expiring twice does no harm, and under a key Stripe would repeat its first response, whatever the state by now. */
  private expire(session: string, context: CallContext): Promise<ProviderAnswer> {
    const path = `/v1/checkout/sessions/${session}/expire`;
    return this.caller.call(this.request({ method: "POST", path, body: "" }), context);
  }

  private async page(session: string, request: OpenRequest, context: CallContext): Promise<Page> {
    return pageOf(await this.get(`/v1/checkout/sessions/${session}${PAGE_QUERY}`, context), request, this.account);
  }

  private async sessionOfKey(operationKey: string, context: CallContext): Promise<string | undefined> {
    let after: string | undefined;
    for (let page = 0; page < SESSION_PAGES_MAX; page++) {
      const listed = among(await this.get(sessionsPath(after), context, LONG_MAX_BYTES), operationKey);
      if (listed.found !== undefined || listed.after === undefined) return listed.found?.id;
      after = listed.after;
    }
    return undefined;
  }

  private async refundOfKey(operationKey: string, intent: string, context: CallContext) {
    let after: string | undefined;
    for (let page = 0; page < REFUND_PAGES_MAX; page++) {
      const listed = among(await this.get(refundsPath(intent, after), context, LONG_MAX_BYTES), operationKey);
      if (listed.found !== undefined || listed.after === undefined) return listed.found;
      after = listed.after;
    }
    throw new Error(`${this.profile.code} has more refunds of this payment than are read`);
  }

  /** Stripe's id of what was paid; undefined when no page is known. */
  private async paymentIntent(
    { paymentProviderIds, paymentOperationKey }: RefundRequest,
    read: (order: Order) => Promise<Pick<ProviderAnswer, "body">>,
  ): Promise<string | undefined> {
    const { payment_intent: intent, session } = paymentProviderIds ?? {};
    if (intent !== undefined || session === undefined) return intent;
    const { body } = await read({ method: "GET", path: `/v1/checkout/sessions/${session}` });
    return paymentIntentOf(body, paymentOperationKey, this.account);
  }

  private isOver({ expiresAt }: OpenRequest): boolean {
    return this.clock.now() >= expiresAt;
  }

  private pageRequest(request: OpenRequest, end: Micros | undefined) {
    const body = pageOrder(request, this.profile.three_d_secure, end);
    return this.request({ method: "POST", path: "/v1/checkout/sessions", body }, request.operationKey);
  }

  private refundRequest(request: RefundRequest, intent: string) {
    const body = refundOrder(request, intent);
    return this.request({ method: "POST", path: "/v1/refunds", body }, request.operationKey);
  }

  private request({ contentType = FORM, ...request }: Order, idempotencyKey?: string) {
    const type = request.body === undefined ? {} : { "content-type": contentType };
    return { ...request, headers: { ...headers(this.key(), idempotencyKey), ...type } };
  }

  /** The key as it is now. Throws `AcquirerRefused` (unavailable) for a key of the other mode: no request is made with it. */
  private key(): string {
    const key = this.secretKey.current();
    const objection = objectionToKey(key, this.profile.environment);
    if (objection !== undefined)
      throw new AcquirerRefused(`${this.profile.code}: secret_key ${objection}`, { unavailable: true });
    return key;
  }

  private async get(
    path: string,
    context: CallContext,
    answerMaxBytes?: number,
  ): Promise<Record<string, unknown> | undefined> {
    const answer = await this.caller.call({ ...this.request({ method: "GET", path }), answerMaxBytes }, context);
    if (answer.status !== 200) throw this.unexpected(`GET ${path.split("?", 1)[0]}`, answer);
    return answer.body;
  }

  /** Sends an order and returns its response of status 200. Throws `AcquirerRefused` for a definite refusal. */
  private async ordered(order: Order, key: string | undefined, context: CallContext): Promise<ProviderAnswer> {
    const long = { ...this.request(order, key), answerMaxBytes: LONG_MAX_BYTES };
    const answer = await this.caller.order(long, context);
    if (answer.status === 200) return answer;
    throw this.refused(answer) ?? this.unexpected(`${order.method} ${order.path}`, answer);
  }

  private refused({ status, body }: ProviderAnswer): AcquirerRefused | undefined {
    const refusal = refusalOf(status, body);
    if (refusal === undefined || isAboutExpiry(status, body)) return undefined;
    const { reason, unavailable } = refusal;
    return new AcquirerRefused(`${this.profile.code} refused: ${reason}`, { unavailable });
  }

  private unexpected(what: string, { status, body }: ProviderAnswer): Error {
    return new Error(`${this.profile.code} answered ${what} with ${reasonOf(status, body)}`);
  }
}

/** Deadline of a file upload: megabytes take longer on a slow line than a form. The submission of all evidence has a deadline of its own. */
const UPLOAD_MS = 40_000;

interface Order extends Pick<ProviderRequest, "path" | "body" | "baseUrl" | "deadlineMs"> {
  method: "GET" | "POST";
  contentType?: string;
}
