// The edge of the merchants' API: who asks, and every check up to the quota, in the order of section 7.4. What comes after it for a write is in
// writes.ts.
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Admission, Admitted } from "../auth/admission.ts";
import { verifyMessage } from "../auth/message-signature.ts";
import { messageNonces, nonceOf } from "../auth/nonces.ts";
import type { Nonce } from "../auth/nonces.sql.ts";
import { tooMany } from "../auth/rate.ts";
import { RecentNonces } from "../auth/recent-nonces.ts";
import { type Claim, type MessageClaim, claimOf, verifySignature } from "../auth/signature.ts";
import type { SignedMessage } from "../auth/signed-message.ts";
import { type Clock, SECOND, wireTime } from "../ground/clock.ts";
import { Fault } from "../ground/fault.ts";
import type { Log } from "../ground/log.ts";
import type { Reply } from "../ground/reply.ts";
import type { Client, Directory, Principal } from "../merchants/directory.ts";
import type { Database } from "../store/database.ts";
import type { Lanes } from "../store/lanes.ts";
import { readBody } from "./body.ts";
import type { Call, Endpoint, ReadEndpoint, WriteEndpoint } from "./endpoint.ts";
import { judged, nothingAsked } from "./fields.ts";
import type { LoadShedding } from "./load-shedding.ts";
import { Writes } from "./writes.ts";

/** A request of a known client whose signature or timestamp was rejected. */
export interface RejectedRequest {
  requestId: string;
  client: Client;
  request: RejectedSignature | RejectedMessage;
}

/** A rejected request with X-Timestamp and X-Signature. */
export interface RejectedSignature {
  scheme: "timestamp";
  timestamp: string;
  signature: string;
  body: Buffer;
  /** Path and query. */
  target: string;
}

/** A rejected request with a signature by RFC 9421. */
export interface RejectedMessage {
  scheme: "rfc9421";
  claim: MessageClaim;
  message: SignedMessage;
  body: Buffer;
}

interface EdgeParts {
  directory: Directory;
  admission: Admission;
  lanes: Lanes;
  database: Database;
  /** Real time by this machine's clock, with which the timestamps of signatures are compared. */
  realClock: Clock;
  /** Time by which the service acts. */
  clock: Clock;
  log: Log;
  /** Called for every rejected signature. Must return at once. */
  onRejected(rejected: RejectedRequest): void;
  /** Called for every request with a valid signature, with the address that sent it. Must return at once. */
  onUsed(client: Client, address: string): void;
  load: LoadShedding;
  /** The configured base address without /v1; undefined when none is configured, because clients call the service by many names. */
  publicRoot: string | undefined;
  /** False while the process must take no requests because its clock is wrong. */
  mayServe(): boolean;
}

/** A request whose sender is authenticated. */
interface Known {
  principal: Principal;
  /** Set for a person, whose request was counted before. */
  admitted?: Admitted;
  /** The credential that signed the request; undefined for a person who signed in. */
  client?: Client;
  /** Nonce of the signature: admission consumes that of a read, a write's transaction its own. Undefined for a person. */
  nonce?: Nonce;
  /** Nonces of an RFC 9421 signature that admission consumes for reads and writes alike. */
  spanMarks: readonly Nonce[];
  body: Buffer;
}

export class Edge {
  private readonly parts: EdgeParts;
  private readonly writes: Writes;
  private readonly recentNonces = new RecentNonces();

  constructor(parts: EdgeParts) {
    this.parts = parts;
    this.writes = new Writes(parts);
  }

  /** Runs one signed request of a merchant's system. Throws the `Fault` that comes first in the order of section 7.4. */
  async handle(endpoint: Endpoint, request: FastifyRequest, reply: FastifyReply): Promise<Reply> {
    // The body of a read is read too, because the signature covers it.
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
      this.recentNonces.refuseRepeated(known.nonce, this.parts.realClock.now());
      return await this.serve(endpoint, request, reply, known);
    } catch (error) {
      if (!(error instanceof Fault) || error.status >= 500) this.recentNonces.forget(known.nonce);
      // Anybody may send a replayed signature, so it counts against the address and not against the client (section 8).
      if (error instanceof Fault && error.code === "SIGNATURE_REPLAYED") {
        request.isProven = false;
        request.actor = request.book = undefined;
        if (reply.rate) this.parts.admission.takeBack(client, reply.rate);
        reply.rate = undefined;
      }
      throw error;
    }
  }

  /** Runs one request of a person who signed in, which `enterAs` has admitted. Throws the `Fault` that comes first in the order of section 7.4. */
  async handleAs(
    principal: Principal,
    admitted: Admitted,
    endpoint: Endpoint,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<Reply> {
    const body = await this.bodyOf(request);
    this.refuseByWrongClock();
    return this.serve(endpoint, request, reply, { principal, admitted, spanMarks: [], body });
  }

  /** Counts a request of a person who signed in. Throws MERCHANT_SUSPENDED, RATE_LIMITED, SERVICE_UNAVAILABLE. */
  async enterAs(principal: Principal, reply: FastifyReply): Promise<Admitted> {
    this.refuseByWrongClock();
    this.parts.load.prove(reply.request.raw);
    name(reply.request, principal);
    const admitted = await this.parts.admission.admit(principal);
    const { count, rate } = admitted;
    reply.rate = rate;
    if (principal.merchant.suspended) throw new Fault("MERCHANT_SUSPENDED");
    if (count > rate.limit) throw tooMany(rate.reset, this.parts.clock);
    return admitted;
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

  /** Verifies the signature and gives its nonces. Throws SIGNATURE_INVALID, TIMESTAMP_OUT_OF_WINDOW. */
  private verify(
    client: Client,
    claim: Claim,
    request: FastifyRequest,
    body: Buffer,
  ): ReturnType<typeof messageNonces> {
    if (claim.scheme === "rfc9421") return this.verifyMessage(client, claim, request, body);
    const { method, url: target } = request;
    // The signature of a write with the same body would be good for every read: it covers neither method nor target.
    if (body.length > 0 && (method === "GET" || method === "HEAD"))
      throw new Fault("MALFORMED_REQUEST", {
        message: `A ${method} has no body. Send it without one, signed as such.`,
      });
    const { merchantId } = client.merchant;
    try {
      const verified = verifySignature(client, claim, body, this.parts.realClock.now());
      return { nonce: nonceOf({ merchantId, method, target, ...verified }), spanMarks: [] };
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
  ): ReturnType<typeof messageNonces> {
    const { method, originalUrl: target, raw } = request;
    const message: SignedMessage = { method, target, headers: raw.headersDistinct, publicRoot: this.parts.publicRoot };
    const realNow = this.parts.realClock.now();
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

  /** Checks merchant, address, scope, environment and quota, 8 to 10 of section 7.4. Throws MERCHANT_SUSPENDED, FORBIDDEN, ENVIRONMENT_MISMATCH, RATE_LIMITED. */
  private enter(
    endpoint: Endpoint,
    { principal: { merchant, scopes, book }, client }: Known,
    { count, rate }: Admitted,
    address: string,
  ): void {
    if (merchant.suspended) throw new Fault("MERCHANT_SUSPENDED");
    if (client?.allows && !client.allows(address)) {
      const message = `This key may not be used from ${address}. Use it from one of its allowed addresses, or allow this one.`;
      throw new Fault("FORBIDDEN", { message, details: { address } });
    }
    if (client) this.parts.onUsed(client, address);
    if (!scopes.has(endpoint.scope)) throw new Fault("FORBIDDEN", { details: { scope: endpoint.scope } });
    if (endpoint.sandboxOnly && book.environment !== "sandbox")
      throw new Fault("ENVIRONMENT_MISMATCH", { message: "This works only in the sandbox. Use one of its keys." });
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
    const { principal, nonce, spanMarks } = known;
    const nonces = spanMarks.length > 0 ? spanMarks : [nonce].filter((one) => one !== undefined);
    const admitted = known.admitted ?? (await this.parts.admission.admit(principal, nonces));
    reply.rate = admitted.rate;
    if (admitted.replayed) throw new Fault("SIGNATURE_REPLAYED");
    this.enter(endpoint, known, admitted, request.ip);
    const call = this.callOf(request, known);
    call.query = judged(endpoint.query ? { schema: endpoint.query, order: [] } : nothingAsked, request.query);
    return await endpoint.handle(call, (client) => {
      this.refuseExpired(client);
      this.enter(endpoint, { ...known, principal: client, client }, admitted, request.ip);
    });
  }

  private async write(
    endpoint: WriteEndpoint,
    request: FastifyRequest,
    reply: FastifyReply,
    known: Known,
  ): Promise<Reply> {
    const call = this.callOf(request, known);
    const admitted = known.admitted ?? (await this.parts.admission.admit(known.principal, known.spanMarks));
    reply.rate = admitted.rate;
    if (admitted.replayed) throw new Fault("SIGNATURE_REPLAYED");
    const enter = (): void => this.enter(endpoint, known, admitted, request.ip);
    return await this.writes.run(endpoint, call, { request, body: known.body, client: known.client, enter });
  }
}

/** Sets the actor and the book for the request log. */
function name(request: FastifyRequest, { actor, book }: Principal): void {
  request.actor = actor;
  request.book = book;
}
