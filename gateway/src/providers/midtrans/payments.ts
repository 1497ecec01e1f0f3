// Payments at Midtrans: charges, card pages, and inquiries, which find payments whose response was lost.
import {
  AcquirerRefused,
  type Instructions,
  type Judgement,
  type Known,
  type OpenRequest,
  type Opened,
  type ProviderIds,
} from "../../acquirers/acquirer.ts";
import { printable } from "../../acquirers/remote-http.ts";
import { HOUR, type Micros, SECOND, wireTime } from "../../ground/clock.ts";
import type { CallContext } from "../caller.ts";
import { channelOf } from "../profile.ts";
import { type Transaction, madeAt, readTransaction, stateOf, statusCodeOf } from "./answers.ts";
import { unrequestedIn } from "./unrequested-movements.ts";
import { definiteNo, saysAlreadyThere } from "./errors.ts";
import { FOUND, type Host, type Tried, refusal } from "./host.ts";
import { instructionsOf, redirect } from "./instructions.ts";
import { idempotencyKeyOf, orderIdOf } from "./names.ts";
import { type Order, channelsOf, chargeBody, pageBody } from "./requests.ts";

/** Midtrans repeats a response under its idempotency key for five minutes; one minute more allows for clocks that differ. */
const ANSWERS_REPEAT: Micros = 6 * 60 * SECOND;
/** A payment that is absent this long after its end is absent for good: a request on its way to Midtrans has arrived by then. */
const OVER_AFTER: Micros = 60 * SECOND;
/** The same for a payment that Midtrans once had: its money may still come, and an inquiry that does not find it may be mistaken. */
const FORGOTTEN: Micros = 25 * HOUR;
/** Shortest lifetime of a charge. */
const CHARGE_MIN: Micros = 20 * SECOND;

export class Payments {
  private readonly host: Host;

  constructor(host: Host) {
    this.host = host;
  }

  async open(request: OpenRequest, context: CallContext): Promise<Opened> {
    const opening = await this.tryOpen(request, context);
    if ("opened" in opening) return opening.opened;
    throw new AcquirerRefused(opening.no.meaning, { unavailable: opening.no.unavailable });
  }

  /** Opens a payment, or returns the definite refusal. Under the same order id and idempotency key it is opened once. */
  private tryOpen(request: OpenRequest, context: CallContext): Promise<Tried<{ opened: Opened }>> {
    return request.method === "card" ? this.openPage(request, context) : this.charge(request, context);
  }

  private async charge(request: OpenRequest, context: CallContext): Promise<Tried<{ opened: Opened }>> {
    const order = this.order(request);
    const body = chargeBody(order, this.host.clock.now());
    const answer = await this.host.post("/v2/charge", body, context, {
      idempotencyKey: idempotencyKeyOf("charge", request.operationKey),
      notifyUrl: request.callbackUrl,
    });
    const code = statusCodeOf(answer);
    const no = definiteNo("charge", code);
    if (no) return { no: { ...no, meaning: refusal("a charge", code, no.meaning, answer) } };
    if (code !== "201" && code !== "202") throw new Error(`Midtrans answered a charge with ${code}`);
    const transaction = readTransaction(answer, order);
    const { status } = stateOf(transaction, false);
    if (code === "202" && status === "failed")
      return { no: { meaning: refusal("a charge", code, "it is denied", answer), unavailable: false } };
    if (code !== "201" || status !== "waiting")
      throw new Error(`Midtrans answered a charge with ${transaction.transaction_status}`);
    const found = { ...order, merchantName: request.merchantName, bank: order.channel };
    const instructions = instructionsOf(transaction, found, this.host.plainOnLoopback);
    if (!instructions) throw new Error("Midtrans answered a charge without what its payer needs");
    return { opened: { instructions, providerIds: idsOf(transaction) } };
  }

  private async openPage(request: OpenRequest, context: CallContext): Promise<Tried<{ opened: Opened }>> {
    const order = this.order(request);
    const body = pageBody(order, this.host.clock.now());
    const answer = await this.host.post("/snap/v1/transactions", body, context, {
      baseUrl: this.host.snap,
      idempotencyKey: idempotencyKeyOf("page", request.operationKey),
      notifyUrl: request.callbackUrl,
    });
    const { token, redirect_url: url, error_messages: errors } = answer.body ?? {};
    if (answer.status === 201) {
      if (typeof token !== "string" || !/^[\w-]{1,64}$/.test(token) || typeof url !== "string" || url.length > 255)
        throw new Error("Midtrans answered with a page without token or address");
      const instructions = redirect(url, request, this.host.plainOnLoopback);
      return { opened: { instructions, providerIds: { order: order.orderId, page: token, page_url: url } } };
    }
    const messages = Array.isArray(errors) ? errors.filter((text) => typeof text === "string") : [];
    const no = messages.length > 0 ? definiteNo("page", String(answer.status)) : undefined;
    if (!no || saysAlreadyThere(messages)) throw new Error(`Midtrans answered a page with ${answer.status}`);
    return { no: { ...no, meaning: `Midtrans refused a page: ${no.meaning}: ${printable(messages[0] ?? "")}` } };
  }

  /** Ends a waiting payment. A card page cannot be ended: it stays open until its own end, and a new attempt on it is a new transaction. */
  async cancel(request: OpenRequest, context: CallContext): Promise<void> {
    if (request.method === "card") throw new AcquirerRefused("Midtrans ends no page before its time");
    const order = this.order(request);
    const answer = await this.host.post(`/v2/${order.orderId}/expire`, undefined, context);
    const code = statusCodeOf(answer);
    // 412: Midtrans ends pending transactions only. An inquiry shows the state of this one.
    const found = code === "412" ? await this.host.get(`/v2/${order.orderId}/status`, context) : answer;
    if (!FOUND.includes(statusCodeOf(found))) throw new Error(`Midtrans answered an expiry with ${code}`);
    const { status } = stateOf(readTransaction(found, order), false);
    if (status !== "failed") throw new Error(`Midtrans answered an expiry with ${code}, and it is ${status}`);
  }

  /** Accepts or denies a payment that Midtrans' fraud detection questions. */
  async judge(request: OpenRequest, judgement: Judgement, context: CallContext): Promise<void> {
    const order = this.order(request);
    const verb = judgement === "approve" ? "approve" : "deny";
    const answer = await this.host.post(`/v2/${order.orderId}/${verb}`, undefined, context);
    const code = statusCodeOf(answer);
    // The status cannot be changed: the payment was judged before, or Midtrans ended it. An inquiry shows its state.
    if (code !== "200") throw new Error(`Midtrans answered ${verb} with ${code}`);
    const { status } = stateOf(readTransaction(answer, order), false);
    if (status !== (judgement === "approve" ? "paid" : "failed"))
      throw new Error(`Midtrans answered ${verb} with a transaction that is ${status}`);
  }

  async inquire(request: OpenRequest, context: CallContext): Promise<Known> {
    const order = this.order(request);
    const answer = await this.host.get(`/v2/${order.orderId}/status`, context);
    const code = statusCodeOf(answer);
    if (code === "404") return this.absent(request, context);
    if (!FOUND.includes(code)) throw new Error(`Midtrans answered an inquiry with ${code}`);
    const transaction = readTransaction(answer, order);
    const state = stateOf(transaction, request.method === "card" && this.host.clock.now() < request.expiresAt);
    const providerIds = { ...request.providerIds, ...idsOf(transaction) };
    const unrequested = unrequestedIn(transaction);
    const found = { known: true, instructions: shownBefore(request), state, unrequested, providerIds } as const;
    // What it says of instructions that no payer needs any more decides nothing.
    if (state.status !== "waiting") return found;
    const instructions = this.pageOf(request) ?? instructionsOf(transaction, request, this.host.plainOnLoopback);
    if (instructions || request.providerIds) return { ...found, instructions: instructions ?? found.instructions };
    return this.recover(request, transaction, context);
  }

  /** Handles a payment that Midtrans does not have. A payment that was never opened is ordered under the same order id while it still lives. */
  private async absent(request: OpenRequest, context: CallContext): Promise<Known> {
    const { providerIds, expiresAt } = request;
    // A card page exists before its payer tries to pay, but Midtrans' inquiry does not know it until then.
    const page = this.pageOf(request);
    if (page) return { known: true, instructions: page, state: { status: "waiting" }, providerIds };
    const now = this.host.clock.now();
    if (now > expiresAt + (providerIds ? FORGOTTEN : OVER_AFTER) || (providerIds && !request.isOver))
      return { known: false };
    // Nobody is to pay it any more. Absent for good once its time is over: until then the request may still be on its way.
    if (request.isOver) throw new Error("Midtrans does not have it, and it is not ordered again");
    if (now + CHARGE_MIN > expiresAt) throw new Error("Midtrans does not have it, and its time is nearly over");
    const opening = await this.tryOpen(request, context);
    if ("opened" in opening) return { known: true, state: { status: "waiting" }, ...opening.opened };
    if (opening.no.unavailable) throw new Error(opening.no.meaning);
    return { known: false };
  }

  /**
   * Handles a payment that exists although the response with its instructions was lost. Under the same idempotency key Midtrans repeats the
   * response for five minutes. After that nobody can ever pay it, so it is ended at Midtrans, and another is made.
   */
  private async recover(request: OpenRequest, transaction: Transaction, context: CallContext): Promise<Known> {
    const made = madeAt(transaction);
    if (request.method === "card" || made === undefined || this.host.clock.now() < made + ANSWERS_REPEAT) {
      const opening = await this.tryOpen(request, context);
      if ("opened" in opening) return { known: true, state: { status: "waiting" }, ...opening.opened };
      throw new Error(opening.no.meaning);
    }
    const answer = await this.host.post(`/v2/${transaction.transaction_id}/expire`, undefined, context);
    const code = statusCodeOf(answer);
    const ended = FOUND.includes(code) ? readTransaction(answer, this.order(request)) : undefined;
    if (ended?.transaction_status !== "expire") throw new Error(`Midtrans answered an expiry with ${code}`);
    return { known: false };
  }

  private order(request: OpenRequest): Order {
    const channel = channelOf(this.host.profile.methods, request) ?? channelsOf(request.method)[0];
    if (channel === undefined) throw new AcquirerRefused(`Midtrans takes no ${request.method}`);
    const finishUrl = request.returnUrl ?? request.payUrl;
    return { ...request, orderId: orderIdOf(request.operationKey), channel, finishUrl };
  }

  private pageOf(request: OpenRequest): Instructions | undefined {
    const url = request.providerIds?.["page_url"];
    return url === undefined ? undefined : redirect(url, request, this.host.plainOnLoopback);
  }
}

function idsOf({ order_id, transaction_id }: Transaction): ProviderIds {
  return { order: order_id, transaction: transaction_id };
}

/** Midtrans' inquiry does not repeat the instructions, which the payment already has. Gerbang's payer page shows them, and stands in. */
function shownBefore({ payUrl, expiresAt }: OpenRequest): Instructions {
  return { type: "redirect", value: payUrl, redirect_url: payUrl, expires_at: wireTime(expiresAt) };
}
