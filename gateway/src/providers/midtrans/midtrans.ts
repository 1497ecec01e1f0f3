// The connector of Midtrans: charges by its Core API, pages for cards by Snap, inquiries and refunds. README.md says what it was read from.
import {
  type AcquirerCalls,
  AcquirerRefused,
  type Checked,
  type Instructions,
  type Known,
  type KnownRefund,
  type OpenRequest,
  type Opened,
  type ProviderIds,
  type RefundRequest,
  type Refunded,
  type Tell,
} from "../../acquirers/acquirer.ts";
import { type Clock, type Micros, SECOND, systemClock, wireTime } from "../../ground/clock.ts";
import { Caller, type ProviderAnswer } from "../caller.ts";
import { type Secret, openSecret } from "../secrets.ts";
import { type OpenAcquirer, capabilitiesOf, channelOf, provider } from "../profile.ts";
import { type Transaction, madeAt, readTransaction, standingOf, statusCodeOf } from "./answers.ts";
import { definiteNo, saysAlreadyThere } from "./errors.ts";
import { instructionsOf, redirect } from "./instructions.ts";
import { idempotencyKeyOf, orderIdOf, refundKeyOf } from "./names.ts";
import { notification } from "./notification.ts";
import { type MidtransProfile, addressesOf, midtransSchema } from "./profile.ts";
import { refundDenied, refundIn, refundTaken } from "./refunds.ts";
import { type Order, STEP_MINOR, channelsOf, chargeBody, headersOf, pageBody, refundBody } from "./requests.ts";

/** What their inquiry answers about a transaction that is there: 407 is one that has expired. */
const FOUND = ["200", "201", "202", "407"];
/** So long they repeat an answer under its idempotency key; and a minute for clocks that differ. */
const ANSWERS_REPEAT: Micros = 6 * 60 * SECOND;
/** After its end a payment can come to be there no more; a request that was on its way then has long arrived. */
const OVER_AFTER: Micros = 60 * SECOND;
/** The least that a charge lives. */
const CHARGE_MIN: Micros = 20 * SECOND;

interface Context {
  signal: AbortSignal;
  tell: Tell | undefined;
}

export const midtrans = provider("midtrans", midtransSchema, (profile) => midtransAcquirer(profile));

/** Midtrans as its profile says. `close` gives its connections back; calls under way end with an unknown outcome. */
export function midtransAcquirer(
  profile: MidtransProfile,
  clock: Clock = systemClock,
): OpenAcquirer & { calls: AcquirerCalls } {
  const connector = new Midtrans(profile, clock);
  return {
    code: profile.code,
    name: profile.name,
    environment: profile.environment,
    capabilities: capabilitiesOf(profile.methods, () => STEP_MINOR),
    issue: () => undefined,
    asksAfterMs: () => undefined,
    refundsLater: () => true,
    remote: true,
    dashboardUrl: () => addressesOf(profile).dashboard,
    calls: {
      deadlineMs: profile.deadline_ms,
      open: (request, signal, tell) => connector.open(request, { signal, tell }),
      ask: (request, signal, tell) => connector.ask(request, { signal, tell }),
      refund: (request, signal, tell) => connector.refund(request, { signal, tell }),
      askRefund: (request, signal, tell) => connector.askRefund(request, { signal, tell }),
      receive: ({ body }) => notification(body, connector.key.accepted()),
      check: (signal, tell) => connector.check({ signal, tell }),
    },
    close: () => connector.caller.close(),
  };
}

class Midtrans {
  readonly caller: Caller;
  readonly key: Secret;
  private readonly profile: MidtransProfile;
  private readonly clock: Clock;
  private readonly snap: string;
  private readonly plainOnLoopback: boolean;

  constructor(profile: MidtransProfile, clock: Clock) {
    const { core, snap } = addressesOf(profile);
    this.profile = profile;
    this.clock = clock;
    this.snap = snap;
    this.plainOnLoopback = core.startsWith("http:");
    this.key = openSecret(profile.server_key);
    const { code, deadline_ms: deadlineMs, connections } = profile;
    this.caller = new Caller({ code, baseUrl: core, deadlineMs, connections });
  }

  async open(request: OpenRequest, context: Context): Promise<Opened> {
    const opening = await this.tryOpen(request, context);
    if ("opened" in opening) return opening.opened;
    throw new AcquirerRefused(opening.no.meaning, { unavailable: opening.no.unavailable });
  }

  /** Opens it, or says which definite no came. Under the same order id and idempotency key it happens once. */
  private tryOpen(request: OpenRequest, context: Context): Promise<Tried<{ opened: Opened }>> {
    return request.method === "card" ? this.openPage(request, context) : this.charge(request, context);
  }

  private async charge(request: OpenRequest, context: Context): Promise<Tried<{ opened: Opened }>> {
    const order = this.order(request);
    const body = chargeBody(order, this.clock.now());
    const answer = await this.post("/v2/charge", body, context, {
      idempotencyKey: idempotencyKeyOf("charge", request.operationKey),
      notifyUrl: request.callbackUrl,
    });
    const code = statusCodeOf(answer);
    const no = definiteNo("charge", code);
    if (no) return { no: { ...no, meaning: refusal("a charge", code, no.meaning, answer) } };
    if (code !== "201" && code !== "202") throw new Error(`Midtrans answered a charge with ${code}`);
    const transaction = readTransaction(answer, order);
    const { status } = standingOf(transaction, false);
    if (code === "202" && status === "failed")
      return { no: { meaning: refusal("a charge", code, "it is denied", answer), unavailable: false } };
    if (code !== "201" || status !== "waiting")
      throw new Error(`Midtrans answered a charge with ${transaction.transaction_status}`);
    const instructions = instructionsOf(transaction, { ...request, bank: order.channel }, this.plainOnLoopback);
    if (!instructions) throw new Error("Midtrans answered a charge without what its payer needs");
    return { opened: { instructions, providerIds: idsOf(transaction) } };
  }

  private async openPage(request: OpenRequest, context: Context): Promise<Tried<{ opened: Opened }>> {
    const order = this.order(request);
    const body = pageBody(order, this.clock.now());
    const answer = await this.post("/snap/v1/transactions", body, context, {
      baseUrl: this.snap,
      idempotencyKey: idempotencyKeyOf("page", request.operationKey),
      notifyUrl: request.callbackUrl,
    });
    const { token, redirect_url: url, error_messages: errors } = answer.body ?? {};
    if (answer.status === 201) {
      if (typeof token !== "string" || !/^[\w-]{1,64}$/.test(token) || typeof url !== "string" || url.length > 255)
        throw new Error("Midtrans answered with a page without token or address");
      const instructions = redirect(url, request, this.plainOnLoopback);
      return { opened: { instructions, providerIds: { order: order.orderId, page: token, page_url: url } } };
    }
    const messages = Array.isArray(errors) ? errors.filter((text) => typeof text === "string") : [];
    const no = messages.length > 0 ? definiteNo("page", String(answer.status)) : undefined;
    if (!no || saysAlreadyThere(messages)) throw new Error(`Midtrans answered a page with ${answer.status}`);
    return { no: { ...no, meaning: `Midtrans refused a page: ${no.meaning}: ${printable(messages[0] ?? "")}` } };
  }

  async ask(request: OpenRequest, context: Context): Promise<Known> {
    const order = this.order(request);
    const answer = await this.get(`/v2/${order.orderId}/status`, context);
    const code = statusCodeOf(answer);
    if (code === "404") return this.absent(request, context);
    if (!FOUND.includes(code)) throw new Error(`Midtrans answered an inquiry with ${code}`);
    const transaction = readTransaction(answer, order);
    const standing = standingOf(transaction, request.method === "card" && this.clock.now() < request.expiresAt);
    const providerIds = { ...request.providerIds, ...idsOf(transaction) };
    const instructions =
      this.pageOf(request) ?? instructionsOf(transaction, request, this.plainOnLoopback) ?? undefined;
    if (instructions || standing.status !== "waiting" || request.providerIds)
      return { known: true, instructions: instructions ?? toldBefore(request), standing, providerIds };
    return this.recover(request, transaction, context);
  }

  /** It is not there. What was never taken is ordered under the same name, while the payment still lives. */
  private async absent(request: OpenRequest, context: Context): Promise<Known> {
    const { providerIds, expiresAt } = request;
    // A page is there before its payer has tried to pay; their inquiry does not know it until then.
    const page = this.pageOf(request);
    if (page) return { known: true, instructions: page, standing: { status: "waiting" }, providerIds };
    const now = this.clock.now();
    if (providerIds || now > expiresAt + OVER_AFTER) return { known: false };
    if (now + CHARGE_MIN > expiresAt) throw new Error("Midtrans does not have it, and its time is nearly over");
    const opening = await this.tryOpen(request, context);
    if ("opened" in opening) return { known: true, standing: { status: "waiting" }, ...opening.opened };
    if (opening.no.unavailable) throw new Error(opening.no.meaning);
    return { known: false };
  }

  /**
   * It is there, and we never heard what its payer needs. Under the same idempotency key they repeat their answer for five minutes. After
   * that nobody can ever pay it, so it is ended there, and another is made.
   */
  private async recover(request: OpenRequest, transaction: Transaction, context: Context): Promise<Known> {
    const made = madeAt(transaction);
    if (request.method === "card" || made === undefined || this.clock.now() < made + ANSWERS_REPEAT) {
      const opening = await this.tryOpen(request, context);
      if ("opened" in opening) return { known: true, standing: { status: "waiting" }, ...opening.opened };
      throw new Error(opening.no.meaning);
    }
    const answer = await this.post(`/v2/${transaction.transaction_id}/expire`, undefined, context);
    const code = statusCodeOf(answer);
    const ended = FOUND.includes(code) ? readTransaction(answer, this.order(request)) : undefined;
    if (ended?.transaction_status !== "expire") throw new Error(`Midtrans answered an expiry with ${code}`);
    return { known: false };
  }

  async refund(request: RefundRequest, context: Context): Promise<Refunded> {
    const tried = await this.tryRefund(request, context);
    if ("refunded" in tried) return tried.refunded;
    throw new AcquirerRefused(tried.no.meaning, { unavailable: tried.no.unavailable });
  }

  async askRefund(request: RefundRequest, context: Context): Promise<KnownRefund> {
    const found = this.refundOf(request, await this.paymentOf(request, context));
    if (found) return { known: true, ...found };
    // Not there. Under the same refund key it happens once, so it is asked for again.
    const tried = await this.tryRefund(request, context);
    if ("refunded" in tried) return { known: true, ...tried.refunded };
    if (tried.no.unavailable && !tried.no.later) throw new Error(tried.no.meaning);
    return { known: false };
  }

  private async tryRefund(request: RefundRequest, context: Context): Promise<Tried<{ refunded: Refunded }>> {
    const { operationKey, amountMinor, currency } = request;
    const refundKey = refundKeyOf(operationKey);
    const body = refundBody(refundKey, amountMinor, currency);
    const idempotencyKey = idempotencyKeyOf("refund", operationKey);
    const answer = await this.post(`/v2/${nameOf(request)}/refund`, body, context, { idempotencyKey });
    const code = statusCodeOf(answer);
    const sought = { refundKey, orderId: orderIdOf(request.paymentOperationKey), amountMinor };
    if (code === "200") return { refunded: refundTaken(answer, sought) };
    if (code === "202") return { refunded: refundDenied(answer, sought) };
    if (code !== "406" && code !== "412") {
      const no = definiteNo("reversal", code);
      if (!no) throw new Error(`Midtrans answered a refund with ${code}`);
      return { no: { ...no, meaning: refusal("a refund", code, no.meaning, answer) } };
    }
    // It is there already, or the payment's status does not allow it.
    const transaction = await this.paymentOf(request, context);
    const found = this.refundOf(request, transaction);
    if (found) return { refunded: found };
    if (code === "406") throw new Error("Midtrans knows the refund key, and does not list the refund");
    const isCaptured = transaction.transaction_status.toLowerCase() === "capture";
    if (!isCaptured) return { no: { meaning: refusal("a refund", code, "its status", answer), unavailable: false } };
    if (amountMinor === request.paymentAmountMinor) return this.cancel(request, transaction, context);
    const meaning = "Midtrans gives a part of a card payment back only once it is settled there";
    return { no: { meaning, unavailable: true, later: true } };
  }

  /** A card's capture that is not settled yet is cancelled as a whole: a refund is possible only afterwards. */
  private async cancel(
    request: RefundRequest,
    { transaction_id }: Transaction,
    context: Context,
  ): Promise<Tried<{ refunded: Refunded }>> {
    const answer = await this.post(`/v2/${transaction_id}/cancel`, undefined, context);
    const code = statusCodeOf(answer);
    const after = code === "200" ? readTransaction(answer, orderedOf(request)) : undefined;
    if (after?.transaction_status !== "cancel") throw new Error(`Midtrans answered a cancellation with ${code}`);
    return { refunded: { status: "succeeded", providerIds: { cancelled: transaction_id } } };
  }

  private refundOf(request: RefundRequest, transaction: Transaction): Refunded | undefined {
    const { operationKey, amountMinor, paymentAmountMinor, providerIds } = request;
    const accepted = providerIds !== undefined;
    const sought = { refundKey: refundKeyOf(operationKey), amountMinor, paymentAmountMinor, accepted };
    const status = refundIn(transaction, sought);
    return status && { status, providerIds };
  }

  /** The payment of a refund, as their inquiry knows it. */
  private async paymentOf(request: RefundRequest, context: Context): Promise<Transaction> {
    const answer = await this.get(`/v2/${nameOf(request)}/status`, context);
    const code = statusCodeOf(answer);
    if (!FOUND.includes(code)) throw new Error(`Midtrans answered an inquiry with ${code}`);
    return readTransaction(answer, orderedOf(request));
  }

  /** Asks for an order that does not exist: 404 says that the key is good. An empty page is refused for what it lacks. */
  async check(context: Context): Promise<Checked> {
    const core = await this.get("/v2/gerbang-check/status", context);
    const findings = [finding("The Core API", statusCodeOf(core), "404")];
    if (this.profile.methods.some(({ method, on }) => on && method === "card")) {
      const page = await this.post("/snap/v1/transactions", {}, context, { baseUrl: this.snap });
      findings.push(finding("The page for cards (Snap)", String(page.status), "400"));
    }
    const { date } = core.headers;
    const theirs = typeof date === "string" ? Date.parse(date) : Number.NaN;
    const ours = Math.floor(this.clock.now() / 1_000);
    return { findings, clockDifferenceMs: Number.isNaN(theirs) ? undefined : theirs - ours };
  }

  private order(request: OpenRequest): Order {
    const { operationKey, reference, method, amountMinor, currency, expiresAt, returnUrl, payUrl } = request;
    const channel = channelOf(this.profile.methods, request) ?? channelsOf(method)[0];
    if (channel === undefined) throw new AcquirerRefused(`Midtrans takes no ${method}`);
    const finishUrl = returnUrl ?? payUrl;
    const orderId = orderIdOf(operationKey);
    return { orderId, reference, method, channel, amountMinor, currency, expiresAt, finishUrl };
  }

  private pageOf(request: OpenRequest): Instructions | undefined {
    const url = request.providerIds?.["page_url"];
    return url === undefined ? undefined : redirect(url, request, this.plainOnLoopback);
  }

  private get(path: string, { signal, tell }: Context): Promise<ProviderAnswer> {
    const headers = headersOf(this.key.current());
    return this.caller.call({ method: "GET", path, headers }, signal, tell);
  }

  private post(
    path: string,
    body: object | undefined,
    { signal, tell }: Context,
    { baseUrl, ...named }: { baseUrl?: string; idempotencyKey?: string; notifyUrl?: string } = {},
  ): Promise<ProviderAnswer> {
    const headers = headersOf(this.key.current(), named);
    const text = JSON.stringify(body ?? {});
    const place = baseUrl === undefined ? {} : { baseUrl };
    return this.caller.order({ method: "POST", path, headers, body: text, ...place }, signal, tell);
  }
}

/** `later`: certainly not done, and it will be possible: to be asked for anew under another name. */
type Tried<Done> = Done | { no: { meaning: string; unavailable: boolean; later?: boolean } };

/** The transaction if its id is known, and the order otherwise. */
function nameOf({ paymentProviderIds, paymentOperationKey }: RefundRequest): string {
  return paymentProviderIds?.["transaction"] ?? orderIdOf(paymentOperationKey);
}

function orderedOf({ paymentOperationKey, paymentAmountMinor, currency }: RefundRequest) {
  return { orderId: orderIdOf(paymentOperationKey), amountMinor: paymentAmountMinor, currency };
}

function idsOf({ order_id, transaction_id }: Transaction): ProviderIds {
  return { order: order_id, transaction: transaction_id };
}

/** Their inquiry does not repeat what a payer was told, and the payment has it: its own page, which shows it, is as true. */
function toldBefore({ payUrl, expiresAt }: OpenRequest): Instructions {
  return { type: "redirect", value: payUrl, redirect_url: payUrl, expires_at: wireTime(expiresAt) };
}

function finding(what: string, code: string, good: string): Checked["findings"][number] {
  if (code === good) return { well: true, text: `${what} accepts the server key.` };
  const why = code === "401" ? "refuses the server key: is it of this environment?" : `answered ${code}.`;
  return { well: false, text: `${what} ${why}` };
}

function refusal(what: string, code: string, meaning: string, { body }: ProviderAnswer): string {
  const message = body?.["status_message"];
  const theirs = typeof message === "string" ? `: ${printable(message)}` : "";
  return `Midtrans refused ${what} with ${code} (${meaning})${theirs}`;
}

/** Somebody else's words, as far as a log takes them. */
function printable(text: string): string {
  return text.replaceAll(/[^\x20-\x7e]/g, "?").slice(0, 200);
}
