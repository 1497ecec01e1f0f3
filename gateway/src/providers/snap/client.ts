// Calls of SNAP: each with its headers and its signature, under a token that is renewed once where they will not take it.
import type { KeyObject } from "node:crypto";
import { AcquirerRefused, type Tell } from "../../acquirers/acquirer.ts";
import type { Clock } from "../../ground/clock.ts";
import type { Caller, ProviderAnswer, ProviderRequest } from "../caller.ts";
import type { Body } from "./answers.ts";
import { type Meaning, isOrder, meaningOf } from "./errors.ts";
import { ExternalIds } from "./external-ids.ts";
import type { Partner } from "./partner.ts";
import type { SnapRequest } from "./requests.ts";
import { signedByHmac, signedByRsa, tokenText, transactionText } from "./signature.ts";
import { type GivenToken, TokenStore } from "./tokens.ts";
import { digitsOf, printable, snapTime } from "./values.ts";

/** The keys with which we prove who we are. */
export interface OwnKeys {
  secret(): string;
  privateKey(): KeyObject;
}

/** An answer that says what it means. `body` is whole only where it is `done` or `in progress`. */
export interface SnapAnswer {
  meaning: Meaning;
  body: Body;
  /** For errors: the code and the words with it. */
  said: string;
}

type Send = (request: ProviderRequest) => Promise<ProviderAnswer>;

export class SnapClient {
  private readonly tokens: TokenStore;
  private readonly ids: ExternalIds;
  private readonly partner: Partner;
  private readonly keys: OwnKeys;
  private readonly caller: Pick<Caller, "call" | "order">;
  private readonly clock: Clock;

  constructor(partner: Partner, keys: OwnKeys, caller: Pick<Caller, "call" | "order">, clock: Clock) {
    this.partner = partner;
    this.keys = keys;
    this.caller = caller;
    this.clock = clock;
    this.ids = new ExternalIds(partner.dialect.externalIdDigits, clock);
    // Whoever waits for it goes when its own time is over; the request itself ends by the caller's deadline.
    this.tokens = new TokenStore(() => this.askToken(new AbortController().signal, undefined), clock);
  }

  /**
   * Makes one request. `others`: services that this provider answers with instead. Throws `AcquirerRefused` where no token could be had,
   * since then nothing was sent; whatever else it throws leaves the outcome unknown.
   */
  async call(
    request: SnapRequest,
    signal: AbortSignal,
    tell: Tell | undefined,
    others: readonly string[] = [],
  ): Promise<SnapAnswer> {
    return await this.exchange(request, others, (sent) => this.caller.call(sent, signal, tell), signal);
  }

  /**
   * As `call`, for the first request that orders something, and for what is asked before it: what was certainly not sent is a definite no,
   * too. A repetition is no first request: that it was not sent says nothing of the one before.
   */
  async order(
    request: SnapRequest,
    signal: AbortSignal,
    tell: Tell | undefined,
    others: readonly string[] = [],
  ): Promise<SnapAnswer> {
    return await this.exchange(request, others, (sent) => this.caller.order(sent, signal, tell), signal);
  }

  private async exchange(
    request: SnapRequest,
    others: readonly string[],
    send: Send,
    signal: AbortSignal,
  ): Promise<SnapAnswer> {
    const token = await this.token(signal);
    const answer = await this.send(request, token, send, others);
    if (answer.meaning !== "token" || token === undefined) return answer;
    // They did nothing but look at the token: the same request goes again, once.
    this.tokens.forget(token);
    return await this.send(request, await this.token(signal), send, others);
  }

  /** Asks for a token that is used for nothing. Gives their answer, and either how long the token is good or why it is none. */
  async check(
    signal: AbortSignal,
    tell: Tell | undefined,
  ): Promise<{ answer: ProviderAnswer } & ({ seconds: number } | { problem: string })> {
    const answer = await this.requestToken(signal, tell);
    try {
      return { answer, seconds: this.readToken(answer).seconds };
    } catch (error) {
      return { answer, problem: error instanceof Error ? error.message : "unknown reason" };
    }
  }

  private async token(signal: AbortSignal): Promise<string | undefined> {
    if (this.partner.dialect.signature === "rsa") return undefined;
    try {
      return await this.tokens.current(signal);
    } catch (error) {
      const why = error instanceof Error ? error.message : "unknown reason";
      throw new AcquirerRefused(`${this.partner.code} gave no token: ${why}`, { unavailable: true, cause: error });
    }
  }

  private async send(
    request: SnapRequest,
    token: string | undefined,
    send: Send,
    others: readonly string[],
  ): Promise<SnapAnswer> {
    const { partnerId, channelId, dialect } = this.partner;
    const now = this.clock.now();
    const timestamp = snapTime(now);
    const body = JSON.stringify(request.body);
    const method = request.method ?? "POST";
    const text = transactionText({ method, path: request.path, token, body, timestamp });
    const signature =
      token === undefined ? signedByRsa(this.keys.privateKey(), text) : signedByHmac(this.keys.secret(), text);
    const headers = {
      "content-type": "application/json",
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      "x-timestamp": timestamp,
      "x-signature": signature,
      "x-partner-id": partnerId,
      "x-external-id": this.externalId(request),
      "channel-id": channelId,
      ...request.headers,
    };
    const answer = await send({ method, path: request.path, headers, body });
    const read = readAnswer(answer, request, dialect.repetition, others);
    if (read.meaning === "repeated") this.ids.redraw();
    return read;
  }

  /**
   * Where a repetition brings the first answer again, the same order has the same one. Whatever only asks has its own each time: else it
   * would be told all day what the first inquiry was told. So has a deletion, which does no harm twice: its answer is that of now.
   */
  private externalId({ service, about }: SnapRequest): string {
    const { externalIdDigits, repetition } = this.partner.dialect;
    if (repetition === "same" && isOrder(service)) return digitsOf(externalIdDigits, this.partner.code, service, about);
    return this.ids.next();
  }

  private async askToken(signal: AbortSignal, tell: Tell | undefined): Promise<GivenToken> {
    return this.readToken(await this.requestToken(signal, tell));
  }

  private async requestToken(signal: AbortSignal, tell: Tell | undefined): Promise<ProviderAnswer> {
    const { clientId, dialect } = this.partner;
    const timestamp = snapTime(this.clock.now());
    const headers = {
      "content-type": "application/json",
      "x-client-key": clientId,
      "x-timestamp": timestamp,
      "x-signature": signedByRsa(this.keys.privateKey(), tokenText(clientId, timestamp)),
    };
    const body = JSON.stringify({ grantType: "client_credentials" });
    return await this.caller.call({ method: "POST", path: dialect.paths.token, headers, body }, signal, tell);
  }

  private readToken({ status, body = {} }: ProviderAnswer): GivenToken {
    const { responseCode, accessToken, expiresIn } = body;
    // Some leave the code out of a token that they give.
    const isGiven = status === 200 && (responseCode === undefined || meaningOf(responseCode, "token") === "done");
    if (!isGiven) throw new Error(`their answer was ${saidOf(status, body)}`);
    if (typeof accessToken !== "string" || !/^\S{1,3000}$/.test(accessToken)) throw new Error("accessToken is missing");
    const seconds = Number(expiresIn);
    if (!Number.isInteger(seconds) || seconds < 1 || seconds > 86_400 * 30)
      throw new Error("expiresIn is no number of seconds");
    return { token: accessToken, seconds };
  }
}

/**
 * What an answer means. Its two statuses must say the same; that of an order's repetition is 409, whatever the first answer was. An inquiry
 * is never repeated, so that an old answer is none.
 */
export function readAnswer(
  { status, body = {} }: Pick<ProviderAnswer, "status" | "body">,
  { service }: Pick<SnapRequest, "service">,
  repetition: "same" | "conflict",
  others: readonly string[] = [],
): SnapAnswer {
  const { responseCode } = body;
  const agrees = typeof responseCode === "string" && responseCode.startsWith(String(status));
  const isRepetition = repetition === "same" && status === 409 && isOrder(service);
  const meaning = agrees || isRepetition ? meaningOf(responseCode, service, others) : "unknown";
  return { meaning, body, said: saidOf(status, body) };
}

function saidOf(status: number, { responseCode, responseMessage }: Body): string {
  return `${status}, ${printable(responseCode)} ${printable(responseMessage)}`;
}
