// A bank or provider that speaks SNAP, Bank Indonesia's standard, as an acquirer. Its dialect says what it takes and how it differs.
import {
  type AcquirerCalls,
  AcquirerRefused,
  type Known,
  type KnownRefund,
  type Opened,
  type OpenRequest,
  type RefundRequest,
  type Refunded,
} from "../../acquirers/acquirer.ts";
import { acquirerOf } from "../../acquirers/remote-profile.ts";
import { type Clock, type Micros, SECOND, systemClock } from "../../ground/clock.ts";
import { type CallContext, Caller, definiteOnly } from "../caller.ts";
import { type OpenAcquirer, type Provider, capabilitiesOf, channelOf, provider } from "../profile.ts";
import {
  qrKept,
  readAccountStatus,
  readCreated,
  readQr,
  readRefund,
  readStatus,
  readWalletPage,
  refundInHistory,
  walletKept,
} from "./answers.ts";
import { checkKeys } from "./checking.ts";
import { type SnapAnswer, SnapClient } from "./client.ts";
import type { Qris, Wallets } from "./dialect.ts";
import { endPayment } from "./ending.ts";
import { accountOf, openedAt, openedBy } from "./opened.ts";
import { type Partner, bankOf, ownAccount } from "./partner.ts";
import { type SnapProfile, openKeys, partnerOf, snapSchema, urlOf } from "./profile.ts";
import { received } from "./received.ts";
import {
  type SnapRequest,
  inquireAccount,
  inquireWallet,
  createAccount,
  generateQr,
  payByWallet,
  queryQr,
  refundQr,
  refundWallet,
} from "./requests.ts";
import { WHOLE_RUPIAH, isOnItsDay, referenceOf } from "./values.ts";

/** DOKU asks partners to wait this long before an inquiry; its notifications come sooner. */
const INQUIRES_AFTER_MS = 60_000;
/** A page, a code or a number that no payer was shown can take money until it ends at the provider, and a little longer: clocks differ. */
const ENDED_AFTER: Micros = 600 * SECOND;
/** A refund that the provider has accepted and not decided. The stored id says so, so that the refund is not ordered again. */
const TAKEN: Refunded = { status: "pending", providerIds: { taken: "in progress" } };

export const snap: Provider = provider("snap", snapSchema, (profile) => snapAcquirer(profile));

/** Creates the acquirer of an entry in acquirers.json. Throws when a key is missing or invalid. */
export function snapAcquirer(
  profile: SnapProfile,
  clock: Clock = systemClock,
): OpenAcquirer & { calls: AcquirerCalls } {
  const partner = partnerOf(profile);
  const keys = openKeys(profile);
  const { code, methods, deadline_ms: deadlineMs, connections } = profile;
  const baseUrl = urlOf(profile);
  const caller = new Caller({ code, baseUrl, deadlineMs, connections });
  const client = new SnapClient(partner, keys.own, caller, clock);
  const calls = new Snap(profile, partner, client, clock, baseUrl);
  return {
    ...acquirerOf(profile),
    capabilities: capabilitiesOf(
      methods,
      () => WHOLE_RUPIAH,
      (method) => method === "qris" || method === "ewallet",
    ),
    inquiresAfterMs: () => INQUIRES_AFTER_MS,
    calls: {
      deadlineMs,
      open: (request, signal, record) => calls.open(request, { signal, record }),
      inquire: (request, signal, record) => calls.inquire(request, { signal, record }),
      cancel: (request, signal, record) => endPayment({ client, partner, methods }, request, { signal, record }),
      refund: (request, signal, record) => calls.refund(request, { signal, record }),
      inquireRefund: (request, signal, record) => calls.inquireRefund(request, { signal, record }),
      receive: (message, now) => received(partner, keys.theirs(), message, now),
      check: (signal, record) => checkKeys(client, partner.dialect.title, clock, { signal, record }),
    },
    close: () => caller.close(),
  };
}

class Snap {
  private readonly profile: SnapProfile;
  private readonly partner: Partner;
  private readonly client: SnapClient;
  private readonly clock: Clock;
  private readonly plainOnLoopback: boolean;

  constructor(profile: SnapProfile, partner: Partner, client: SnapClient, clock: Clock, baseUrl: string) {
    this.profile = profile;
    this.partner = partner;
    this.client = client;
    this.clock = clock;
    this.plainOnLoopback = baseUrl.startsWith("http:");
  }

  async open(request: OpenRequest, context: CallContext): Promise<Opened> {
    const channel = channelOf(this.profile.methods, request) ?? "";
    if (request.method === "va" && bankOf(this.partner, channel).range.numbers === "asked")
      return this.accountBilledOnDemand(request, channel);
    const { sent, read } = this.opening(request, channel);
    const answer = await this.client.order(sent, context);
    if (answer.meaning === "done") return read(answer.body);
    throw this.notDone(sent, answer);
  }

  async inquire(request: OpenRequest, context: CallContext): Promise<Known> {
    const channel = openedBy(this.profile.methods, request);
    if (channel === undefined) {
      if (this.hasEnded(request)) return { known: false };
      throw new Error(`${this.partner.code} is not told any more by which bank or wallet this was opened`);
    }
    switch (request.method) {
      case "va":
        return await this.inquireAccount(request, channel, context);
      case "qris":
      case "ewallet": {
        const kept = request.method === "qris" ? qrKept(request) : walletKept(request);
        const opened = kept ?? (await this.recovered(request, channel, context));
        return opened ? await this.askStatus(request, channel, opened, context) : { known: false };
      }
      case "bank_transfer":
      case "card":
        throw new Error(`${this.partner.code} takes no ${request.method}`);
    }
  }

  async refund(request: RefundRequest, context: CallContext): Promise<Refunded> {
    if (request.method === "va")
      throw new AcquirerRefused(
        `${this.partner.code}: a virtual account cannot be paid back, since SNAP has no way to do so`,
      );
    const sent = await this.refunding(request, context);
    const answer = await this.client.order(sent, context);
    if (answer.meaning === "done") return readRefund(answer.body, request);
    if (answer.meaning === "in progress") return TAKEN;
    throw this.notDone(sent, answer);
  }

  /**
   * A wallet's status lists its refunds. The status of QRIS says only that something was refunded, perhaps a part and by somebody else, so it
   * decides no refund: an accepted one stays pending, since SNAP has no inquiry about refunds of QRIS. If no response has come, the same order is
   * repeated, on its own day.
   */
  async inquireRefund(request: RefundRequest, context: CallContext): Promise<KnownRefund> {
    if (request.method === "va") return { known: false };
    const listed = request.method === "ewallet" ? await this.refundListed(request, context) : undefined;
    if (listed) return { known: true, ...listed };
    // A repeated order would get the first response again, and on another day it would be another refund.
    if (request.providerIds?.taken !== undefined) return { known: true, ...TAKEN };
    if (request.isOver || !this.mayRepeat(request.operationKey))
      throw new Error(
        `${this.partner.code} does not tell any more what became of ${referenceOf(request.operationKey)}`,
      );
    const again = await definiteOnly(this.refunding(request, context));
    const answer = await this.client.call(again, context);
    if (answer.meaning === "done") return { known: true, ...readRefund(answer.body, request) };
    if (answer.meaning === "in progress") return { known: true, ...TAKEN };
    throw this.unclear(again, answer);
  }

  private async refundListed(request: RefundRequest, context: CallContext): Promise<Refunded | undefined> {
    const sent = inquireWallet(this.wallets(), request.paymentOperationKey, this.keptChannel(request));
    const answer = await this.client.call(sent, context);
    if (answer.meaning !== "done") throw this.unclear(sent, answer);
    return refundInHistory(answer.body, request);
  }

  private async inquireAccount(request: OpenRequest, channel: string, context: CallContext): Promise<Known> {
    const found = accountOf(this.partner, request, channel);
    if (!found) {
      const opened = await this.recovered(request, channel, context);
      if (!opened) return { known: false };
      return await this.inquireAccount({ ...request, providerIds: opened.providerIds }, channel, context);
    }
    const { account, isBilledOnDemand, wasAnnounced } = found;
    const { traits } = bankOf(this.partner, channel);
    const opened = openedAt(this.partner, request, channel, found);
    const sent = inquireAccount(this.partner, request, channel, account);
    const answer = await this.client.call(sent, context);
    if (answer.meaning === "done")
      return { known: true, ...opened, state: readAccountStatus(answer.body, request, account, traits) };
    if (answer.meaning !== "not found") throw this.unclear(sent, answer);
    // Nothing was registered at the bank: until somebody has paid, the bank knows of no account.
    if (isBilledOnDemand) return { known: true, ...opened, state: { status: "waiting" } };
    // A response contained the account: it existed and must not be made again. Gone before the payment is over, its state is unclear.
    if (wasAnnounced && !request.isOver) throw this.unclear(sent, answer);
    if (wasAnnounced) return { known: true, ...opened, state: { status: "failed" } };
    if (this.hasEnded(request)) return { known: false };
    // Nobody is to pay it any more, so it is not made. The first order may still be on its way.
    if (request.isOver) throw this.unclear(sent, answer);
    // The number follows from the operation key: made again, it is the same account.
    const made = await this.remade(request, channel, context);
    return { known: true, ...made, state: { status: "waiting" } };
  }

  private async askStatus(request: OpenRequest, channel: string, opened: Opened, context: CallContext): Promise<Known> {
    const { operationKey, amountMinor } = request;
    const kept = opened.providerIds?.reference;
    const sent =
      request.method === "qris"
        ? queryQr(this.qris(), this.partner, operationKey, kept ?? referenceOf(operationKey))
        : inquireWallet(this.wallets(), operationKey, channel);
    const answer = await this.client.call(sent, context);
    // A wallet may know nothing of a payment whose page was not opened yet.
    const absent = answer.meaning === "not found" && request.method === "ewallet" && !this.hasEnded(request);
    if (absent) return { known: true, ...opened, state: { status: "waiting" } };
    if (answer.meaning !== "done") throw this.unclear(sent, answer);
    const status = readStatus(answer.body, { operationKey, amountMinor, kept });
    if (!status) throw this.unclear(sent, answer);
    const { state, ids, unrequested } = status;
    return { known: true, ...opened, state, unrequested, providerIds: { ...opened.providerIds, ...ids } };
  }

  /**
   * Recovers a lost response. If the provider repeats its first response, the same order is sent again, on its own day. Undefined when the
   * payment has ended at the provider: nobody was ever told where to pay, so nobody can have paid.
   */
  private async recovered(request: OpenRequest, channel: string, context: CallContext): Promise<Opened | undefined> {
    if (this.hasEnded(request)) return undefined;
    if (!this.mayRepeat(request.operationKey) || this.clock.now() >= request.expiresAt)
      throw new Error(
        `${this.partner.code} does not tell again what it answered to ${referenceOf(request.operationKey)}`,
      );
    return await this.remade(request, channel, context);
  }

  private async remade(request: OpenRequest, channel: string, context: CallContext): Promise<Opened> {
    const { sent, read } = this.opening(request, channel);
    const answer = await this.client.call(sent, context);
    // A refusal of the repetition says nothing about the first order.
    if (answer.meaning !== "done") throw this.unclear(sent, answer);
    return read(answer.body);
  }

  /** The order that opens a payment, and the function that reads its response. */
  private opening(
    request: OpenRequest,
    channel: string,
  ): { sent: SnapRequest; read: (body: SnapAnswer["body"]) => Opened } {
    switch (request.method) {
      case "va": {
        const { range, traits } = bankOf(this.partner, channel);
        const { partnerServiceId, customerPrefix } = range;
        const numbers = range.numbers === "ours" ? "ours" : "theirs";
        const account =
          numbers === "ours"
            ? ownAccount(this.partner, traits, range, request.operationKey)
            : { partnerServiceId, customerNo: customerPrefix };
        return {
          sent: createAccount(this.partner, request, channel, account),
          read: (body) => {
            const created = readCreated(body, request, account, numbers);
            return openedAt(this.partner, request, channel, { account: created, isBilledOnDemand: false });
          },
        };
      }
      case "qris":
        return { sent: generateQr(this.qris(), this.partner, request), read: (body) => readQr(body, request) };
      case "ewallet": {
        const wallets = this.wallets();
        return {
          sent: payByWallet(wallets, request, channel),
          read: (body) => readWalletPage(body, request, channel, this.plainOnLoopback),
        };
      }
      case "bank_transfer":
      case "card":
        throw new AcquirerRefused(`${this.partner.code} takes no ${request.method}`);
    }
  }

  private async refunding(request: RefundRequest, context: CallContext): Promise<SnapRequest> {
    if (request.method === "ewallet") return refundWallet(this.wallets(), request, this.keptChannel(request));
    if (request.method !== "qris") throw new AcquirerRefused(`${this.partner.code} refunds no ${request.method}`);
    return refundQr(this.qris(), this.partner, request, await this.approvalOf(request, context));
  }

  /** The approval code of the payment at its issuer: stored from an inquiry, or asked for now. */
  private async approvalOf(request: RefundRequest, context: CallContext): Promise<string> {
    const { paymentOperationKey: operationKey, paymentAmountMinor: amountMinor, paymentProviderIds } = request;
    if (paymentProviderIds?.approval !== undefined) return paymentProviderIds.approval;
    const kept = paymentProviderIds?.reference;
    const sent = queryQr(this.qris(), this.partner, operationKey, kept ?? referenceOf(operationKey));
    const answer = await this.client.order(sent, context);
    // The inquiry changes nothing: when the provider refuses it, no refund was ordered.
    if (answer.meaning !== "done") throw this.notDone(sent, answer);
    const approval = readStatus(answer.body, { operationKey, amountMinor, kept })?.ids.approval;
    if (approval === undefined)
      throw new AcquirerRefused(`${this.partner.code} knows of no payment to refund (${answer.said})`);
    return approval;
  }

  /** Registers nothing at the bank: the number is Gerbang's, and the bank asks for its bill. */
  private accountBilledOnDemand(request: OpenRequest, channel: string): Opened {
    const { range, traits } = bankOf(this.partner, channel);
    const account = ownAccount(this.partner, traits, range, request.operationKey);
    return openedAt(this.partner, request, channel, { account, isBilledOnDemand: true });
  }

  private mayRepeat(operationKey: string): boolean {
    return this.partner.dialect.repetition === "same" && isOnItsDay(operationKey, this.clock.now());
  }

  private hasEnded({ expiresAt }: OpenRequest): boolean {
    return this.clock.now() > expiresAt + ENDED_AFTER;
  }

  private keptChannel({ paymentProviderIds }: RefundRequest): string {
    const channel = paymentProviderIds?.wallet;
    if (channel === undefined)
      throw new AcquirerRefused(`${this.partner.code}: it is not known by which wallet it was paid`);
    return channel;
  }

  private qris(): Qris {
    const { qris } = this.partner.dialect;
    if (!qris) throw new AcquirerRefused(`${this.partner.code} takes no QRIS`);
    return qris;
  }

  private wallets(): Wallets {
    const { wallets } = this.partner.dialect;
    if (!wallets) throw new AcquirerRefused(`${this.partner.code} takes no e-wallet`);
    return wallets;
  }

  /** Of a first request that was not done: a definite refusal, or an unknown outcome. */
  private notDone(sent: SnapRequest, answer: SnapAnswer): Error {
    const isUnavailable = answer.meaning === "unavailable" || answer.meaning === "token";
    if (!isUnavailable && answer.meaning !== "refused" && answer.meaning !== "not found")
      return this.unclear(sent, answer);
    return new AcquirerRefused(`${this.partner.code} refused: ${answer.said}`, { unavailable: isUnavailable });
  }

  private unclear({ service }: SnapRequest, { said }: SnapAnswer): Error {
    return new Error(`${this.partner.code} answered ${service} unclearly: ${said}`);
  }
}
