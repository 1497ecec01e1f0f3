// The edge of the merchants' API: every check between the socket and a command, in the one order that the rulings fix.
import type { FastifyReply, FastifyRequest } from "fastify";
import { z } from "zod";
import type { Admission, Admitted } from "../auth/admission.ts";
import { verifyMessage } from "../auth/message-signature.ts";
import { consumeOnly, messageNonces, nonceOf } from "../auth/nonces.ts";
import type { Nonce } from "../auth/nonces.sql.ts";
import { tooMany } from "../auth/rate.ts";
import { type Claim, type MessageClaim, claimOf, verifySignature } from "../auth/signature.ts";
import type { SignedMessage } from "../auth/signed-message.ts";
import { type Clock, SECOND, wireTime } from "../ground/clock.ts";
import { digestOf, sha256 } from "../ground/crypto.ts";
import { Fault } from "../ground/fault.ts";
import { MalformedJson, parseObject } from "../ground/json.ts";
import type { Log } from "../ground/log.ts";
import type { Reply } from "../ground/reply.ts";
import { type Intent, RunningKeys, checkKey, idempotently, refuseUnlessRecorded } from "../idempotency/idempotency.ts";
import type { Client, Directory, Principal } from "../merchants/directory.ts";
import type { Database } from "../store/database.ts";
import type { Command } from "../store/lane.ts";
import type { Lanes } from "../store/lanes.ts";
import { readBody } from "./body.ts";
import { type Call, type Endpoint, type ReadEndpoint, type WriteEndpoint, methodOf } from "./endpoint.ts";
import { allOptional, judgeBody, judgeFields } from "./fields.ts";
import type { LoadShedding } from "./load-shedding.ts";

const nothingAsked = z.strictObject({});

/** A request of a known client whose signature or timestamp was rejected. */
export interface RejectedRequest {
  requestId: string;
  client: Client;
  request: RejectedSignature | RejectedMessage;
}

/** As the interface's own scheme signs it. */
export interface RejectedSignature {
  scheme: "timestamp";
  timestamp: string;
  signature: string;
  body: Buffer;
  target: string;
}

/** As RFC 9421 signs it. */
export interface RejectedMessage {
  scheme: "rfc9421";
  claim: MessageClaim;
  message: SignedMessage;
  body: Buffer;
}

export interface EdgeParts {
  directory: Directory;
  admission: Admission;
  lanes: Lanes;
  database: Database;
  /** The real time, against which signatures are held. */
  clock: Clock;
  log: Log;
  /** Hears of every rejected signature. Must return at once. */
  onRejected(rejected: RejectedRequest): void;
  /** Hears of every request that a credential proved, and from which address. Must return at once. */
  onUsed(client: Client, address: string): void;
  load: LoadShedding;
  /** Of the configured address, what stands before /v1; undefined where clients know the service by many names. */
  publicRoot: string | undefined;
  /** False while the process must take no requests because its clock is wrong. */
  mayServe(): boolean;
}

/** A request whose sender is known. */
interface Known {
  principal: Principal;
  /** Of a request that a credential proved. */
  client: Client | undefined;
  /** What makes the request one: of a read, or of a write with what it allows. Undefined where no signature can be sent again. */
  nonce: Nonce | undefined;
  /** What admission consumes, of reads and writes alike. */
  spans: readonly Nonce[];
  body: Buffer;
}

export class Edge {
  private readonly parts: EdgeParts;
  private readonly runningKeys = new RunningKeys();

  constructor(parts: EdgeParts) {
    this.parts = parts;
  }

  /** Runs one request of a merchant's system. Throws the `Fault` that prevails. */
  async handle(endpoint: Endpoint, request: FastifyRequest, reply: FastifyReply): Promise<Reply> {
    // A read may carry bytes although it has no use for them: the signature covers what was sent, whatever it is.
    const sent = this.bodyOf(request);
    const body = sent instanceof Promise ? await sent : sent;
    this.refuseByWrongClock();
    const claim = claimOf(request.headers);
    const found = this.parts.directory.client(claim.clientId);
    const client = found instanceof Promise ? await found : found;
    if (!client) throw new Fault("CLIENT_NOT_FOUND");
    request.sender = client;
    this.refuseExpired(client);
    const known = { principal: client, client, ...this.verify(client, claim, request, body), body };
    this.parts.load.prove(request.raw);
    request.isProven = true;
    name(request, client);
    try {
      return await this.serve(endpoint, request, reply, known);
    } catch (error) {
      // A replayed signature may be anybody's: it is charged to the address and not to the client.
      if (error instanceof Fault && error.code === "SIGNATURE_REPLAYED") {
        request.isProven = false;
        request.actor = request.book = undefined;
        if (reply.rate) this.parts.admission.takeBack(client, reply.rate);
        reply.rate = undefined;
      }
      throw error;
    }
  }

  /** Runs one request of somebody who is known by other means than a signature: a person who signed in. Throws the `Fault` that prevails. */
  async handleAs(
    principal: Principal,
    endpoint: Endpoint,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<Reply> {
    this.parts.load.prove(request.raw);
    name(request, principal);
    const body = await this.bodyOf(request);
    this.refuseByWrongClock();
    return this.serve(endpoint, request, reply, {
      principal,
      client: undefined,
      nonce: undefined,
      spans: [],
      body,
    });
  }

  /** Counts a request of theirs, and lets them in unless they are suspended or ask too often. Throws MERCHANT_SUSPENDED, RATE_LIMITED. */
  async enterAs(principal: Principal, reply: FastifyReply): Promise<void> {
    this.refuseByWrongClock();
    this.parts.load.prove(reply.request.raw);
    name(reply.request, principal);
    const { count, rate } = await this.parts.admission.admit(principal);
    reply.rate = rate;
    if (principal.merchant.suspended) throw new Fault("MERCHANT_SUSPENDED");
    if (count > rate.limit) throw tooMany(rate.reset, this.parts.clock);
  }

  private bodyOf(request: FastifyRequest): Buffer | Promise<Buffer> {
    return Buffer.isBuffer(request.body) ? request.body : readBody(request.raw, this.parts.load);
  }

  private refuseByWrongClock(): void {
    if (!this.parts.mayServe())
      throw new Fault("SERVICE_UNAVAILABLE", { retryAfterSeconds: 5, internal: "the clock is wrong" });
  }

  private refuseExpired({ expiresAt }: Client): void {
    if (expiresAt === undefined || this.parts.clock.now() < expiresAt) return;
    throw new Fault("CLIENT_NOT_FOUND", { message: `This key expired at ${wireTime(expiresAt)}. Use another one.` });
  }

  private serve(endpoint: Endpoint, request: FastifyRequest, reply: FastifyReply, known: Known): Promise<Reply> {
    return endpoint.kind === "read"
      ? this.read(endpoint, request, reply, known)
      : this.write(endpoint, request, reply, known);
  }

  /** Gives the nonces of a request whose signature is right. Throws SIGNATURE_INVALID, TIMESTAMP_OUT_OF_WINDOW. */
  private verify(client: Client, claim: Claim, request: FastifyRequest, body: Buffer): Pick<Known, "nonce" | "spans"> {
    if (claim.scheme === "rfc9421") return this.verifyMessage(client, claim, request, body);
    const { method, url: target } = request;
    const { merchantId } = client.merchant;
    try {
      const verified = verifySignature(client, claim, body, this.parts.clock.now());
      return { nonce: nonceOf({ merchantId, method, target, ...verified }), spans: [] };
    } catch (error) {
      const { scheme, timestamp, signature } = claim;
      if (typeof timestamp === "string" && typeof signature === "string")
        this.parts.onRejected({
          requestId: request.id,
          client,
          request: { scheme, timestamp, signature, body, target },
        });
      throw error;
    }
  }

  private verifyMessage(
    client: Client,
    claim: MessageClaim,
    request: FastifyRequest,
    body: Buffer,
  ): Pick<Known, "nonce" | "spans"> {
    const { method, originalUrl: target, raw } = request;
    const message: SignedMessage = { method, target, headers: raw.headersDistinct, publicRoot: this.parts.publicRoot };
    const realNow = this.parts.clock.now();
    try {
      const verified = verifyMessage(client, claim, message, body, realNow);
      const { merchantId } = client.merchant;
      const now = Math.floor(realNow / SECOND);
      return messageNonces({ merchantId, clientId: client.clientId, ...verified, now });
    } catch (error) {
      const { scheme } = claim;
      this.parts.onRejected({ requestId: request.id, client, request: { scheme, claim, message, body } });
      throw error;
    }
  }

  /** What may be refused once the sender is known. Throws MERCHANT_SUSPENDED, FORBIDDEN, ENVIRONMENT_MISMATCH, RATE_LIMITED. */
  private enter(
    endpoint: Endpoint,
    { principal: { merchant, scopes, book }, client }: Known,
    { count, rate }: Admitted,
    address: string,
  ): void {
    if (merchant.suspended) throw new Fault("MERCHANT_SUSPENDED");
    if (client?.allows && !client.allows(address)) throw notFromHere(address);
    if (client) this.parts.onUsed(client, address);
    if (!scopes.has(endpoint.scope)) throw new Fault("FORBIDDEN");
    if (endpoint.sandboxOnly && book.environment !== "sandbox") throw new Fault("ENVIRONMENT_MISMATCH");
    if (count > rate.limit) throw tooMany(rate.reset, this.parts.clock);
  }

  private callOf(request: FastifyRequest, { principal, nonce }: Known): Call {
    return {
      requestId: request.id,
      principal,
      merchant: principal.merchant,
      book: principal.book,
      realNow: this.parts.clock.now(),
      idempotencyKey: "",
      params: request.params as Record<string, string>,
      query: {},
      nonce,
      hungUp: () => request.raw.socket.destroyed,
    };
  }

  private async read(
    endpoint: ReadEndpoint,
    request: FastifyRequest,
    reply: FastifyReply,
    known: Known,
  ): Promise<Reply> {
    const { principal, nonce, spans } = known;
    const nonces = spans.length > 0 ? spans : [nonce].filter((one) => one !== undefined);
    const admitted = await this.parts.admission.admit(principal, nonces);
    reply.rate = admitted.rate;
    if (admitted.replayed) throw new Fault("SIGNATURE_REPLAYED");
    this.enter(endpoint, known, admitted, request.ip);
    const call = this.callOf(request, known);
    if (!endpoint.query) refuseQuery(request);
    else {
      const found = judgeFields({ schema: endpoint.query, order: [] }, request.query);
      if ("fault" in found) throw found.fault;
      call.query = found.value;
    }
    return await endpoint.handle(call);
  }

  /** A write's signature is consumed in the transaction of what it allows; where it allows nothing, by itself, before the refusal is told. */
  private async write(
    endpoint: WriteEndpoint,
    request: FastifyRequest,
    reply: FastifyReply,
    known: Known,
  ): Promise<Reply> {
    const call = this.callOf(request, known);
    const admitted = await this.parts.admission.admit(known.principal, known.spans);
    reply.rate = admitted.rate;
    if (admitted.replayed) throw new Fault("SIGNATURE_REPLAYED");
    let intent: Intent;
    let input: Record<string, unknown>;
    try {
      this.enter(endpoint, known, admitted, request.ip);
      input = known.body.length === 0 && allOptional(endpoint.body) ? {} : readJson(request, known.body);
      call.idempotencyKey = checkKey(request.raw.headersDistinct["idempotency-key"]);
      intent = intentOf(endpoint, call, known.body);
      if (endpoint.actsFirst) intent.nonce = undefined;
    } catch (error) {
      await this.consume(call);
      throw error;
    }
    if (endpoint.actsFirst) await this.consume(call);
    let begun = false;
    try {
      return await this.runningKeys.alone(intent, () => {
        begun = true;
        return this.run(endpoint, call, intent, input, request);
      });
    } catch (error) {
      if (!begun) await this.consume(call);
      // Whether its transaction has used the signature up is not known of a command that failed unexpectedly.
      else if (error instanceof Fault && error.code === "INTERNAL_ERROR") await this.consumeUnlessConsumed(call);
      throw error;
    }
  }

  private async run(
    endpoint: WriteEndpoint,
    call: Call,
    intent: Intent,
    input: Record<string, unknown>,
    request: FastifyRequest,
  ): Promise<Reply> {
    let value: unknown;
    try {
      refuseQuery(request);
      value = await judge(endpoint, call, input);
    } catch (error) {
      if (error instanceof Fault) return await this.parts.lanes.create(refuseUnlessRecorded(intent, error));
      await this.consume(call);
      throw error;
    }
    const decided = await this.decide(endpoint, call, intent, value);
    const { continues } = decided;
    if (decided.replayed) return decided;
    const answer = continues === undefined ? decided : await continues();
    await this.follow(endpoint, call);
    return answer;
  }

  /** Runs the command under its key; a request that comes again while its key is in progress may go on instead. */
  private async decide(endpoint: WriteEndpoint, call: Call, intent: Intent, value: unknown): Promise<Reply> {
    const { lanes, database } = this.parts;
    const run = (command: Command<Reply>): Promise<Reply> =>
      endpoint.lane === "create" ? lanes.create(command) : lanes.move(call.book.merchantId, command);
    try {
      return await run(idempotently(intent, endpoint.command(call, value), database));
    } catch (error) {
      if (!(error instanceof Fault) || error.code !== "IDEMPOTENCY_IN_PROGRESS") throw error;
      const again = await endpoint.resume?.(call, intent);
      if (!again) throw error;
      return await lanes.move(call.book.merchantId, again);
    }
  }

  /** Uses a write's signature up by itself. Throws SIGNATURE_REPLAYED, SERVICE_UNAVAILABLE. */
  private async consume(call: Call): Promise<void> {
    const { nonce } = call;
    call.nonce = undefined;
    if (nonce) await this.parts.lanes.create(consumeOnly(call.book, nonce));
  }

  private async consumeUnlessConsumed(call: Call): Promise<void> {
    try {
      await this.consume(call);
    } catch (error) {
      if (!(error instanceof Fault && error.code === "SIGNATURE_REPLAYED")) throw error;
    }
  }

  /** What follows from a change is no part of it: the change is committed, and its answer stands whatever happens here. */
  private async follow(endpoint: WriteEndpoint, call: Call): Promise<void> {
    try {
      await endpoint.after?.(call);
    } catch (error) {
      const { log } = this.parts;
      log.warn({ err: error, request_id: call.requestId }, "what follows a change failed; the worker will do it");
    }
  }
}

/** For the log: who asks about whose book. */
function name(request: FastifyRequest, { actor, book }: Principal): void {
  request.actor = actor;
  request.book = book;
}

function notFromHere(address: string): Fault {
  return new Fault("FORBIDDEN", {
    message: `This key may not be used from ${address}. Use it from one of its allowed addresses, or allow this one.`,
    details: { address },
  });
}

function intentOf(endpoint: WriteEndpoint, call: Call, body: Buffer): Intent {
  const { book, idempotencyKey: key, requestId, realNow, nonce } = call;
  return {
    book,
    key,
    endpoint: boundTo(endpoint, call.params),
    bodyDigest: sha256(body),
    requestId,
    receivedAt: realNow,
    nonce,
  };
}

/** Where no query is taken: what stands there was meant for somewhere else. */
function refuseQuery(request: FastifyRequest): void {
  if (Object.keys(request.query as object).length === 0) return;
  const found = judgeFields({ schema: nothingAsked, order: [] }, request.query);
  if ("fault" in found) throw found.fault;
}

async function judge(endpoint: WriteEndpoint, call: Call, input: Record<string, unknown>): Promise<unknown> {
  const found = judgeBody(endpoint.body, input);
  if (endpoint.judge) return endpoint.judge(call, input, found);
  if ("fault" in found) throw found.fault;
  return found.value;
}

function readJson(request: FastifyRequest, body: Buffer): Record<string, unknown> {
  if (!isJson(sentContentType(request))) throw new Fault("MALFORMED_JSON");
  try {
    return parseObject(body);
  } catch (error) {
    if (error instanceof MalformedJson) throw new Fault("MALFORMED_JSON");
    throw error;
  }
}

/** `application/json`, with `charset=utf-8` at most. */
function isJson(contentType: string): boolean {
  if (contentType.length > 100) return false;
  const [type, ...parameters] = contentType.split(";").map((part) => part.trim().toLowerCase());
  return type === "application/json" && parameters.every((parameter) => /^(|charset="?utf-8"?)$/.test(parameter));
}

/** What an idempotency key is bound to: the method, the endpoint and the parts of the path, in one spelling. */
function boundTo(endpoint: WriteEndpoint, params: Readonly<Record<string, string>>): string {
  const parts = Object.values(params);
  return `${methodOf(endpoint)} ${endpoint.path}${
    parts.length > 0
      ? ` ${digestOf(...parts)
          .toString("hex")
          .slice(0, 32)}`
      : ""
  }`;
}

/** Takes the content type out of the framework's hands: it is judged after authentication, by `readJson`. */
export function setAsideContentType(request: FastifyRequest): void {
  const { headers } = request.raw;
  request.sentContentType = headers["content-type"] ?? "";
  headers["content-type"] = "application/octet-stream";
}

export function sentContentType(request: FastifyRequest): string {
  return request.sentContentType;
}
