// Calls to a SNAP provider: each has its headers, its signature and a token, which is renewed once when the provider rejects it.
import type { KeyObject } from "node:crypto";
import { AcquirerRefused } from "../../acquirers/acquirer.ts";
import type { Clock } from "../../ground/clock.ts";
import type { CallContext, Caller, ProviderAnswer, ProviderRequest } from "../caller.ts";
import type { Body } from "./answers.ts";
import { type Meaning, isOrder, meaningOf } from "./errors.ts";
import { ExternalIds } from "./external-ids.ts";
import type { Partner } from "./partner.ts";
import type { SnapRequest } from "./requests.ts";
import { signedByHmac, signedByRsa, tokenText, transactionText } from "./signature.ts";
import { type GivenToken, TokenStore } from "./tokens.ts";
import { digitsOf, quoted, snapTime } from "./values.ts";

/** The keys with which Gerbang proves its identity. */
export interface OwnKeys {
  secret(): string;
  privateKey(): KeyObject;
}

/** A response with its meaning. `body` is complete only if the meaning is `done` or `in progress`. */
export interface SnapAnswer {
  meaning: Meaning;
  body: Body;
  /** For error messages: the code and its text. */
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
    // A call stops waiting for the token when its own time is over; the request for the token ends by the deadline of `caller`.
    const ask = async () =>
      this.readToken(await this.requestToken({ signal: new AbortController().signal, record: undefined }));
    this.tokens = new TokenStore(ask, clock);
  }

  /** Makes one request. Throws `AcquirerRefused` when there was no token, so nothing was sent; any other error leaves the outcome unknown. */
  async call(request: SnapRequest, context: CallContext): Promise<SnapAnswer> {
    return await this.exchange(request, (sent) => this.caller.call(sent, context), context.signal);
  }

  /**
   * Like `call`, for the first request that orders something and for inquiries before it: a request that was certainly not sent is a definite
   * refusal, too. Not for a repetition: that it was not sent says nothing about the first request.
   */
  async order(request: SnapRequest, context: CallContext): Promise<SnapAnswer> {
    return await this.exchange(request, (sent) => this.caller.order(sent, context), context.signal);
  }

  private async exchange(request: SnapRequest, send: Send, signal: AbortSignal): Promise<SnapAnswer> {
    const token = await this.token(signal);
    const answer = await this.send(request, token, send);
    if (answer.meaning !== "token" || token === undefined) return answer;
    // The provider rejected the token and did nothing else: the same request is sent once more.
    this.tokens.forget(token);
    return await this.send(request, await this.token(signal), send);
  }

  /** Asks for a token and does not use it. Returns the response, and either the token's lifetime or the reason why there is none. */
  async check(context: CallContext): Promise<{ answer: ProviderAnswer } & ({ seconds: number } | { problem: string })> {
    const answer = await this.requestToken(context);
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

  private async send(request: SnapRequest, token: string | undefined, send: Send): Promise<SnapAnswer> {
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
    const read = readAnswer(answer, request, dialect.repetition);
    if (read.meaning === "repeated") this.ids.redraw();
    return read;
  }

  /**
   * If a provider repeats its first response under the same id, a repeated order has the same id. Each inquiry has a new one, or it would get
   * the first inquiry's response all day. So has each deletion, which does no harm twice: its response shows the present state.
   */
  private externalId({ service, about }: SnapRequest): string {
    const { externalIdDigits, repetition } = this.partner.dialect;
    if (repetition === "same" && isOrder(service)) return digitsOf(externalIdDigits, this.partner.code, service, about);
    return this.ids.next();
  }

  private async requestToken(context: CallContext): Promise<ProviderAnswer> {
    const { clientId, dialect } = this.partner;
    const timestamp = snapTime(this.clock.now());
    const headers = {
      "content-type": "application/json",
      "x-client-key": clientId,
      "x-timestamp": timestamp,
      "x-signature": signedByRsa(this.keys.privateKey(), tokenText(clientId, timestamp)),
    };
    const body = JSON.stringify({ grantType: "client_credentials" });
    return await this.caller.call({ method: "POST", path: dialect.paths.token, headers, body }, context);
  }

  private readToken({ status, body = {} }: ProviderAnswer): GivenToken {
    const { responseCode, accessToken, expiresIn } = body;
    // Some providers leave the code out when they give a token.
    const isGiven = status === 200 && (responseCode === undefined || meaningOf(responseCode, "token") === "done");
    if (!isGiven) throw new Error(`their answer was ${exchangeText(status, body)}`);
    if (typeof accessToken !== "string" || !/^\S{1,3000}$/.test(accessToken)) throw new Error("accessToken is missing");
    const seconds = Number(expiresIn);
    if (!Number.isInteger(seconds) || seconds < 1 || seconds > 86_400 * 30)
      throw new Error("expiresIn is no number of seconds");
    return { token: accessToken, seconds };
  }
}

/**
 * Meaning of a response. Its HTTP status and its code must agree; but a repeated order has the HTTP status 409, whatever the first response was.
 * An inquiry is never repeated, so an earlier response to it counts as unknown.
 */
export function readAnswer(
  { status, body = {} }: Pick<ProviderAnswer, "status" | "body">,
  { service, others }: Pick<SnapRequest, "service" | "others">,
  repetition: "same" | "conflict",
): SnapAnswer {
  const { responseCode } = body;
  const agrees = typeof responseCode === "string" && responseCode.startsWith(String(status));
  const isRepetition = repetition === "same" && status === 409 && isOrder(service);
  const meaning = agrees || isRepetition ? meaningOf(responseCode, service, others) : "unknown";
  return { meaning, body, said: exchangeText(status, body) };
}

function exchangeText(status: number, { responseCode, responseMessage }: Body): string {
  return `${status}, ${quoted(responseCode)} ${quoted(responseMessage)}`;
}
