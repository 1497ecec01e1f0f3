// Calls to Xendit and its notifications: orders, which are repeated only under their own idempotency key, and inquiries.
import {
  type AcquirerCalls,
  AcquirerRefused,
  type Checked,
  type Known,
  type KnownRefund,
  type OpenRequest,
  type Opened,
  type ProviderIds,
  type RefundRequest,
  type Refunded,
  type ReportedState,
  type RecordMessage,
} from "../../acquirers/acquirer.ts";
import { OtherMoney } from "../../acquirers/other-money.ts";
import { type Micros, SECOND, systemClock } from "../../ground/clock.ts";
import { type CallContext, Caller, type ProviderAnswer, definiteOnly } from "../caller.ts";
import { channelOf } from "../profile.ts";
import { type Secret, openSecret } from "../secrets.ts";
import {
  type ReadRefund,
  type XenditPayment,
  checkEnded,
  instructionsOf,
  readList,
  readPaymentRequest,
  readReceipt,
  readRefund,
  readSession,
} from "./answers.ts";
import { checkedOf } from "./check.ts";
import { type CallKind, isWorthALook, refusalOf } from "./errors.ts";
import type { XenditProfile } from "./profile.ts";
import { type XenditRequest, endingOf, inquiries, openingOf, refundOf } from "./requests.ts";
import { authorization, checkToken } from "./signature.ts";
import { readWebhook } from "./webhooks.ts";

/** The address of both environments: the key decides which one answers. */
const ADDRESS = "https://api.xendit.co";
/** Maximum number of pages that are read of a payment's refunds, of 50 refunds each. */
const PAGES_MAX = 5;
/** A payment that Xendit still does not show this long after its time never came to be. */
const FORGOTTEN: Micros = 25 * 3_600 * SECOND;

/** A payment as it stands at Xendit. */
type Stood = Opened & { state: ReportedState };

export class XenditCalls implements AcquirerCalls {
  readonly deadlineMs: number;
  private readonly profile: XenditProfile;
  private readonly caller: Caller;
  private readonly key: Secret;
  private readonly token: Secret;

  constructor(profile: XenditProfile) {
    this.profile = profile;
    this.deadlineMs = profile.deadline_ms;
    this.key = openSecret(profile.secret_key);
    this.token = openSecret(profile.callback_token);
    this.secretKey();
    this.caller = new Caller({
      code: profile.code,
      baseUrl: profile.url ?? ADDRESS,
      deadlineMs: profile.deadline_ms,
      connections: profile.connections,
    });
  }

  close(): Promise<void> {
    return this.caller.close();
  }

  async open(request: OpenRequest, signal: AbortSignal, record?: RecordMessage): Promise<Opened> {
    return this.place(request, this.opening(request), { signal, record });
  }

  /** The order of a payment. Throws `AcquirerRefused` for what Xendit cannot be asked for. */
  private opening(request: OpenRequest): XenditRequest {
    return openingOf(request, this.channelOf(request), { qrisExpiry: this.profile.qris_expiry });
  }

  /** What is read after the order is answered says nothing against the order: the payment is there. */
  private async place(request: OpenRequest, opening: XenditRequest, context: CallContext): Promise<Stood> {
    const answer = await this.order(opening, context);
    if (answer.status !== 200 && answer.status !== 201)
      throw this.notDone(request.method === "card" ? "card page" : "payment", answer, opening);
    const payment = readStood(answer.body, request);
    // A payment that has already failed at Xendit takes no money any more.
    if (payment.state === "failed") throw new AcquirerRefused(`${this.profile.code} ended the payment at once`);
    return definiteOnly(this.stood(request, payment, context));
  }

  async inquire(request: OpenRequest, signal: AbortSignal, record?: RecordMessage): Promise<Known> {
    const context = { signal, record };
    const payment = await this.find(request, context);
    if (payment !== undefined) return { known: true, ...(await this.stood(request, payment, context)) };
    const overFor = systemClock.now() - request.expiresAt;
    if (overFor >= FORGOTTEN) return { known: false };
    // Xendit lists no card pages: only the repeated order tells of one, which is then ended.
    if (overFor >= 0 || (request.isOver && request.method !== "card"))
      throw new Error(`${this.profile.code} does not show the payment`);
    // No payer ever saw this payment, so nobody has paid it. Xendit keeps the idempotency key: the same order again makes one payment.
    // What cannot be asked for any more, such as a bank that left the entry, may have been asked for before: then the outcome stays unknown.
    const stood = await refusedForGood(this.place(request, this.opening(request), context));
    return stood === undefined ? { known: false } : { known: true, ...stood };
  }

  cancel(request: OpenRequest, signal: AbortSignal, record?: RecordMessage): Promise<void> {
    return definiteOnly(this.end(request, { signal, record }));
  }

  async refund(request: RefundRequest, signal: AbortSignal, record?: RecordMessage): Promise<Refunded> {
    const context = { signal, record };
    return this.orderRefund(request, await this.paymentRequestOf(request, context), context);
  }

  async inquireRefund(request: RefundRequest, signal: AbortSignal, record?: RecordMessage): Promise<KnownRefund> {
    const context = { signal, record };
    const own = request.providerIds?.refund;
    if (own !== undefined) {
      const answer = await this.get(inquiries.refund(own), context);
      return { known: true, ...refundedOf(readRefund(answer.body, request)) };
    }
    const paymentRequest = await this.paymentRequestOf(request, context);
    const found = await this.findRefund(request, paymentRequest, context);
    if (found !== undefined) return { known: true, ...refundedOf(found) };
    if (request.isOver) return { known: false };
    // Xendit keeps the idempotency key of a refund: the repeated order refunds once at most.
    const refunded = await refusedForGood(this.orderRefund(request, paymentRequest, context));
    return refunded === undefined ? { known: false } : { known: true, ...refunded };
  }

  receive({ headers, body }: Parameters<AcquirerCalls["receive"]>[0]): ReturnType<AcquirerCalls["receive"]> {
    checkToken(headers, this.token.accepted());
    return readWebhook(body);
  }

  check(signal: AbortSignal, record?: RecordMessage): Promise<Checked> {
    return checkedOf((sent) => this.call(sent, { signal, record }));
  }

  /** The bank or wallet of a payment: the stored one, else the one that the profile chooses now. */
  private channelOf(request: OpenRequest): string | undefined {
    return request.providerIds?.channel ?? channelOf(this.profile.methods, request);
  }

  /** Finds the payment at Xendit; undefined when Xendit shows nothing under the operation key. */
  private async find(request: OpenRequest, context: CallContext): Promise<XenditPayment | undefined> {
    const { session, payment_request: paymentRequest } = request.providerIds ?? {};
    if (request.method === "card") {
      // Xendit lists no card pages: without its id, a page is found only by repeating the order under its idempotency key.
      if (session === undefined) return undefined;
      return readSession((await this.get(inquiries.session(session), context)).body, request);
    }
    if (paymentRequest !== undefined)
      return readPaymentRequest((await this.get(inquiries.paymentRequest(paymentRequest), context)).body, request);
    const { operationKey } = request;
    const { body } = await this.get(inquiries.paymentRequests(operationKey), context);
    const found = readList(body, operationKey).matching.map((item) => readPaymentRequest(item, request));
    return found.find(({ state }) => state === "paid") ?? found[0];
  }

  private async end(request: OpenRequest, context: CallContext): Promise<void> {
    const named = await this.named(request, context);
    const name = nameOf(named);
    if (name === undefined) throw new Error(`${this.profile.code} does not show the payment that is to be ended`);
    const ending = endingOf(request, name);
    const answer = await this.call(ending, context);
    if (answer.status === 200) return checkEnded(readStood(answer.body, request), name);
    if (!isWorthALook(answer.status)) throw this.unexpected(answer, ending);
    const payment = await this.find(named, context);
    if (payment?.state === "failed") return checkEnded(payment, name);
    throw payment?.state === "waiting"
      ? this.notDone("end of a payment", answer, ending)
      : this.unexpected(answer, ending);
  }

  /** Adds Xendit's id of the payment to the request, if Xendit shows one. */
  private async named(request: OpenRequest, context: CallContext): Promise<OpenRequest> {
    if (nameOf(request) !== undefined) return request;
    const payment = await this.find(request, context);
    return payment === undefined ? request : { ...request, providerIds: { ...request.providerIds, ...idsOf(payment) } };
  }

  private async stood(request: OpenRequest, payment: XenditPayment, context: CallContext): Promise<Stood> {
    const state = await this.state(payment, context);
    const channel = this.channelOf(request);
    const plainOnLoopback = this.profile.url?.startsWith("http:") === true;
    const instructions = instructionsOf(request, channel, payment, plainOnLoopback);
    const named = channel === undefined ? {} : { channel };
    // Refund notifications name the payment by this id: Gerbang finds a payment by `account` when it gets no operation key.
    const paid = state.status === "paid" ? { account: state.receipt.transactionId } : {};
    return { state, instructions, providerIds: { ...request.providerIds, ...named, ...idsOf(payment), ...paid } };
  }

  private async state(
    { state, paymentId, paymentRequestId }: XenditPayment,
    context: CallContext,
  ): Promise<ReportedState> {
    if (state !== "paid") return { status: state };
    if (paymentId === undefined) throw new OtherMoney(`${this.profile.code} says paid, and not by which payment`);
    const { body } = await this.get(inquiries.payment(paymentId), context);
    return { status: "paid", receipt: readReceipt(body, { paymentId, paymentRequestId }) };
  }

  /** Xendit's id of the payment that is refunded. A card page returns it only once it is paid. */
  private async paymentRequestOf(request: RefundRequest, context: CallContext): Promise<string> {
    const { payment_request: known, session } = request.paymentProviderIds ?? {};
    if (known !== undefined) return known;
    const { paymentOperationKey: operationKey, paymentAmountMinor: amountMinor, currency } = request;
    const payment = { operationKey, amountMinor, currency };
    const found =
      session === undefined
        ? readList((await this.get(inquiries.paymentRequests(operationKey), context)).body, operationKey)
            .matching.map((item) => readPaymentRequest(item, payment))
            .find(({ state }) => state === "paid")
        : readSession((await this.get(inquiries.session(session), context)).body, payment);
    if (found?.paymentRequestId === undefined)
      throw new Error(`${this.profile.code} does not name the payment that is to be refunded`);
    return found.paymentRequestId;
  }

  private async orderRefund(request: RefundRequest, paymentRequest: string, context: CallContext): Promise<Refunded> {
    const asked = refundOf(request, paymentRequest);
    const answer = await this.order(asked, context);
    if (answer.status === 200 || answer.status === 201) return refundedOf(readRefund(answer.body, request));
    if (refusalOf("refund", answer.status, answer.body?.error_code)?.lookFirst === true) {
      const found = await this.findRefund(request, paymentRequest, context);
      if (found !== undefined) return refundedOf(found);
    }
    throw this.notDone("refund", answer, asked);
  }

  /** The refund with this operation key among those of its payment. Throws when the payment has more refunds than are read. */
  private async findRefund(
    request: RefundRequest,
    paymentRequest: string,
    context: CallContext,
  ): Promise<ReadRefund | undefined> {
    let after: string | undefined;
    for (let page = 0; page < PAGES_MAX; page++) {
      const { body } = await this.get(inquiries.refunds(paymentRequest, after), context);
      const { matching, more, lastId } = readList(body, request.operationKey);
      if (matching.length > 0) return readRefund(matching[0], request);
      if (!more) return undefined;
      if (lastId === undefined) break;
      after = lastId;
    }
    throw new Error(`${this.profile.code} has more refunds of the payment than are read`);
  }

  private async get(sent: XenditRequest, context: CallContext): Promise<ProviderAnswer> {
    const answer = await this.call(sent, context);
    if (answer.status !== 200) throw this.unexpected(answer, sent);
    return answer;
  }

  private call(sent: XenditRequest, context: CallContext): Promise<ProviderAnswer> {
    return this.caller.call(this.written(sent), context);
  }

  private order(sent: XenditRequest, context: CallContext): Promise<ProviderAnswer> {
    return this.caller.order(this.written(sent), context);
  }

  private written({ method, path, headers, body }: XenditRequest): Parameters<Caller["call"]>[0] {
    const authorized = { ...headers, authorization: authorization(this.secretKey()) };
    if (body === undefined) return { method, path, headers: authorized };
    return { method, path, headers: { ...authorized, "content-type": "application/json" }, body: JSON.stringify(body) };
  }

  /** Throws `AcquirerRefused` (unavailable) for a key of the other environment: it would move real money in a test, or none in production. */
  private secretKey(): string {
    const key = this.key.current();
    const other = this.profile.environment === "production" ? "xnd_development_" : "xnd_production_";
    if (key.startsWith(other) || key.startsWith("xnd_public_"))
      throw new AcquirerRefused(
        `${this.profile.code}: secret_key is no secret key of the ${this.profile.environment} environment`,
        { unavailable: true },
      );
    return key;
  }

  /** A definite refusal if Xendit's documentation calls the error one, else an unknown outcome. */
  private notDone(asked: CallKind, answer: ProviderAnswer, sent: XenditRequest): Error {
    const refusal = refusalOf(asked, answer.status, answer.body?.error_code);
    if (refusal === undefined) return this.unexpected(answer, sent);
    return new AcquirerRefused(`${this.profile.code} refused: ${refusal.code}`, { unavailable: refusal.unavailable });
  }

  private unexpected({ status, body }: ProviderAnswer, { method, path }: XenditRequest): Error {
    const code =
      typeof body?.error_code === "string" ? ` ${body.error_code.replaceAll(/[^\w ]/g, "?").slice(0, 60)}` : "";
    return new Error(`${this.profile.code} answered ${method} ${path.split("?", 1)[0] ?? ""} with ${status}${code}`);
  }
}

/**
 * The result of a repeated order; undefined when Xendit refuses its content, since then it refused the first one as well. A refusal that may
 * pass says nothing about the first order: the outcome stays unknown.
 */
async function refusedForGood<Value>(order: Promise<Value>): Promise<Value | undefined> {
  try {
    return await order;
  } catch (error) {
    if (!(error instanceof AcquirerRefused)) throw error;
    if (!error.unavailable) return undefined;
    throw new Error(`not found, and not to be had now: ${error.message}`, { cause: error });
  }
}

/** Xendit's id of the payment request or card page. */
function nameOf({ method, providerIds }: OpenRequest): string | undefined {
  return method === "card" ? providerIds?.session : providerIds?.payment_request;
}

function readStood(body: unknown, request: OpenRequest): XenditPayment {
  return request.method === "card" ? readSession(body, request) : readPaymentRequest(body, request);
}

function refundedOf({ id, status }: ReadRefund): Refunded {
  return { status, providerIds: { refund: id } };
}

function idsOf({ paymentRequestId, sessionId, paymentId }: XenditPayment): ProviderIds {
  return {
    ...(sessionId === undefined ? {} : { session: sessionId }),
    ...(paymentRequestId === undefined ? {} : { payment_request: paymentRequestId }),
    ...(paymentId === undefined ? {} : { payment: paymentId }),
  };
}
