// The edge of the merchants' API: every check between the socket and a command, in the one order that the rulings fix.
import type { FastifyReply, FastifyRequest } from "fastify";
import { z } from "zod";
import { type Clock, SECOND } from "../ground/clock.ts";
import { digestOf, fingerprintOf, isSigned, sha256 } from "../ground/crypto.ts";
import { Fault, assert } from "../ground/fault.ts";
import type { Log } from "../ground/log.ts";
import { MalformedJson, parseObject } from "../ground/json.ts";
import type { Client, Directory } from "../merchants/directory.ts";
import type { Database } from "../store/database.ts";
import type { Lanes } from "../store/lanes.ts";
import type { Admission, Admitted, Owed } from "./admission.ts";
import { readBody } from "./body.ts";
import { type Call, type Endpoint, type ReadEndpoint, type WriteEndpoint, methodOf } from "./endpoint.ts";
import type { Reply } from "./envelope.ts";
import { judgeFields } from "./fields.ts";
import { type Intent, RunningKeys, checkKey, idempotently, recordedAnswer } from "./idempotency.ts";
import type { Intake } from "./intake.ts";
import { type Rate, tooMany } from "./rate.ts";

const TOLERANCE_SECONDS = 300;
const nothingAsked = z.strictObject({});

/** A request of a known client whose signature or timestamp was rejected. */
export interface RejectedRequest {
  requestId: string;
  client: Client;
  request: { timestamp: string; signature: string; body: Buffer; target: string };
}

export interface EdgeParts {
  directory: Directory;
  admission: Admission;
  lanes: Lanes;
  database: Database;
  clock: Clock;
  log: Log;
  /** Hears of every rejected signature. Must return at once. */
  onRejected(rejected: RejectedRequest): void;
  intake: Intake;
}

/** Who a request says it is from, and what is to prove it. */
interface Claim {
  clientId: string;
  timestamp: string | string[];
  signature: string | string[];
}

/** A request whose sender is known. */
interface Known {
  client: Client;
  body: Buffer;
  admitted: Admitted | Promise<Admitted>;
  owed: Owed | undefined;
}

export class Edge {
  private readonly directory: Directory;
  private readonly admission: Admission;
  private readonly lanes: Lanes;
  private readonly database: Database;
  private readonly clock: Clock;
  private readonly log: Log;
  private readonly onRejected: EdgeParts["onRejected"];
  private readonly intake: Intake;
  private readonly runningKeys = new RunningKeys();

  constructor(parts: EdgeParts) {
    const { directory, admission, lanes, database, clock, log, onRejected, intake } = parts;
    this.intake = intake;
    this.log = log;
    this.onRejected = onRejected;
    this.directory = directory;
    this.admission = admission;
    this.lanes = lanes;
    this.database = database;
    this.clock = clock;
  }

  /** Runs one request of a merchant's system. Throws the `Fault` that prevails. */
  async handle(endpoint: Endpoint, request: FastifyRequest, reply: FastifyReply): Promise<Reply> {
    // A read may carry bytes although it has no use for them: the signature covers what was sent, whatever it is.
    const sent = Buffer.isBuffer(request.body) ? request.body : readBody(request.raw, this.intake);
    const body = sent instanceof Promise ? await sent : sent;
    const claim = claimOf(request);
    const found = this.directory.client(claim.clientId);
    const client = found instanceof Promise ? await found : found;
    if (!client) throw new Fault("CLIENT_NOT_FOUND");
    const { validUntil, signature } = this.verify(client, claim, request, body);
    // The path is not signed, so a signature of a write stands for one request, wherever it is sent; a signature of a
    // read would be the same for every read of one second, so there the target belongs to its identity.
    const digest =
      request.method === "GET"
        ? fingerprintOf(request.method, signature, request.url).slice(0, 32)
        : signature.slice(0, 32);
    const { merchantId } = client.merchant;
    const admitted = this.admission.admit(client, { merchantId, validUntil, digest }, endpoint.kind);
    const owed = admitted instanceof Promise ? undefined : admitted.owed;
    try {
      return await this.serve(endpoint, request, reply, { client, body, admitted, owed });
    } finally {
      owed?.settle();
    }
  }

  private async serve(
    endpoint: Endpoint,
    request: FastifyRequest,
    reply: FastifyReply,
    { client, body, admitted, owed }: Known,
  ): Promise<Reply> {
    let entered = Promise.resolve();
    if (admitted instanceof Promise) {
      entered = admitted.then((known) => this.enter(endpoint, client, reply, known));
      entered.catch(() => undefined); // it is judged where it is awaited, which may be later than it fails
      // A creation that would be alone is prepared meanwhile, and runs only after it.
      const alone = endpoint.kind === "write" && endpoint.lane === "create" && this.lanes.isCreationIdle;
      if (!alone) await entered;
    } else {
      this.enter(endpoint, client, reply, admitted);
    }
    const call: Call = {
      requestId: request.id,
      client,
      merchant: client.merchant,
      book: client.book,
      realNow: this.clock.now(),
      idempotencyKey: "",
      params: request.params as Record<string, string>,
      query: {},
      entered,
      owed,
      hungUp: () => request.raw.socket.destroyed,
    };
    if (endpoint.kind === "read") return await this.read(endpoint, call, request);
    try {
      return await this.write(endpoint, call, request, body);
    } catch (error) {
      await entered; // what is wrong with the entry comes before what is wrong with the request
      throw error;
    }
  }

  /** Section 5, rules 3 and 5. */
  private verify(
    client: Client,
    { timestamp, signature }: Claim,
    request: FastifyRequest,
    body: Buffer,
  ): { validUntil: number; signature: string } {
    if (typeof timestamp !== "string" || typeof signature !== "string") throw new Fault("SIGNATURE_INVALID");
    const refused = (code: "SIGNATURE_INVALID" | "TIMESTAMP_OUT_OF_WINDOW"): Fault => {
      this.onRejected({
        requestId: request.id,
        client,
        request: { timestamp, signature, body, target: request.url },
      });
      return new Fault(code);
    };
    if (!/^\d+$/.test(timestamp)) throw refused("SIGNATURE_INVALID");
    const now = Math.floor(this.clock.now() / SECOND);
    if (Math.abs(Number(timestamp) - now) > TOLERANCE_SECONDS) throw refused("TIMESTAMP_OUT_OF_WINDOW");
    if (!isSigned(client.key, timestamp, body, signature)) throw refused("SIGNATURE_INVALID");
    return { validUntil: Number(timestamp) + TOLERANCE_SECONDS, signature };
  }

  /** Judges what admission says. */
  private enter(endpoint: Endpoint, client: Client, reply: FastifyReply, admitted: Admitted): void {
    setRate(reply, admitted.rate);
    if (admitted.replayed) throw new Fault("SIGNATURE_REPLAYED");
    if (client.merchant.suspended) throw new Fault("MERCHANT_SUSPENDED");
    if (!client.scopes.has(endpoint.scope)) throw new Fault("FORBIDDEN");
    if (endpoint.sandboxOnly && client.book.environment !== "sandbox") throw new Fault("ENVIRONMENT_MISMATCH");
    if (admitted.count > admitted.rate.limit) {
      throw tooMany(admitted.rate.reset, this.clock);
    }
  }

  private async read(endpoint: ReadEndpoint, call: Call, request: FastifyRequest): Promise<Reply> {
    if (!endpoint.query) refuseQuery(request);
    else {
      const found = judgeFields({ schema: endpoint.query, order: [] }, request.query);
      if ("fault" in found) throw found.fault;
      call.query = found.value;
    }
    return await endpoint.handle(call);
  }

  /** What follows from a change is no part of it: the change is committed, and its answer stands whatever happens here. */
  private async follow(endpoint: WriteEndpoint, call: Call): Promise<void> {
    try {
      await endpoint.after?.(call);
    } catch (error) {
      this.log.warn({ err: error, request_id: call.requestId }, "what follows a change failed; the worker will do it");
    }
  }

  private async write(endpoint: WriteEndpoint, asked: Call, request: FastifyRequest, body: Buffer): Promise<Reply> {
    const input = body.length === 0 && endpoint.emptyBody ? {} : readJson(request, body);
    const key = checkKey(request.raw.headersDistinct["idempotency-key"]);
    const call: Call = { ...asked, idempotencyKey: key };
    if (endpoint.actsFirst && call.owed) {
      await this.admission.writeDown(call.owed.use);
      call.owed.settle();
      call.owed = undefined;
    }
    const intent: Intent = {
      book: call.book,
      key,
      endpoint: boundTo(endpoint, call.params),
      bodyDigest: sha256(body),
      requestId: call.requestId,
      receivedAt: call.realNow,
      use: call.owed?.use,
    };
    return this.runningKeys.alone(intent, call.entered, async () => {
      let value: unknown;
      try {
        refuseQuery(request);
        value = await judge(endpoint, call, input);
      } catch (error) {
        if (!(error instanceof Fault)) throw error;
        await call.entered;
        const recorded = await recordedAnswer(this.database, intent, call.realNow);
        if (recorded) return recorded;
        throw error;
      }
      const decided = await this.decide(endpoint, call, intent, value);
      const { continues } = decided;
      if (decided.replayed) return decided;
      const answer = continues === undefined ? decided : await finished(endpoint, call, continues);
      await this.follow(endpoint, call);
      return answer;
    });
  }

  /** Runs the command under its key; a request that comes again while its key is in progress may go on instead. */
  private async decide(endpoint: WriteEndpoint, call: Call, intent: Intent, value: unknown): Promise<Reply> {
    const { lanes } = this;
    const { merchantId } = call.book;
    const command = {
      ...idempotently(intent, endpoint.command(call, value), this.database),
      ...(!call.owed && { gate: call.entered }),
    };
    try {
      return await (endpoint.lane === "create" ? lanes.create(command) : lanes.move(merchantId, command));
    } catch (error) {
      if (!(error instanceof Fault) || error.code !== "IDEMPOTENCY_IN_PROGRESS") throw error;
      await call.entered;
      const again = await endpoint.resume?.(call, intent);
      if (!again) throw error;
      if (call.owed) await this.admission.writeDown(call.owed.use);
      return await lanes.move(merchantId, again);
    } finally {
      call.owed?.settle();
    }
  }
}

/** Section 5, rule 5. */
function claimOf({ headers }: FastifyRequest): Claim {
  const { authorization, "x-timestamp": timestamp, "x-signature": signature } = headers;
  const clientId = /^bearer (\S+)$/i.exec(authorization ?? "")?.[1];
  if (clientId === undefined) throw new Fault("UNAUTHORIZED");
  if (timestamp === undefined || signature === undefined) throw new Fault("SIGNATURE_MISSING");
  if (!/^ak_(test|live)_[0-9a-z]{20,60}$/.test(clientId)) throw new Fault("CLIENT_NOT_FOUND");
  return { clientId, timestamp, signature };
}

function finished(endpoint: WriteEndpoint, call: Call, continues: string): Promise<Reply> {
  assert(endpoint.finish !== undefined, `${endpoint.path} goes on and has no way to`);
  return endpoint.finish(call, continues);
}

/** Where no query is taken: what stands there was meant for somewhere else. */
function refuseQuery(request: FastifyRequest): void {
  if (Object.keys(request.query as object).length === 0) return;
  const found = judgeFields({ schema: nothingAsked, order: [] }, request.query);
  if ("fault" in found) throw found.fault;
}

async function judge(endpoint: WriteEndpoint, call: Call, input: Record<string, unknown>): Promise<unknown> {
  const found = judgeFields(endpoint.body, input);
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

/** Remembers which window the answer's rate headers speak of. */
export function setRate(reply: FastifyReply, rate: Rate): void {
  reply.rate = rate;
}

export function rateOf(reply: FastifyReply): Rate | undefined {
  return reply.rate;
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
