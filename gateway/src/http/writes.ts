// The second half of the edge: one admitted write under its idempotency key. Every signature is consumed once, and before its answer.
import type { FastifyRequest } from "fastify";
import { consumeOnly } from "../auth/nonces.ts";
import { digestOf, sha256 } from "../ground/crypto.ts";
import { Fault } from "../ground/fault.ts";
import type { Log } from "../ground/log.ts";
import type { Reply } from "../ground/reply.ts";
import { type Intent, RunningKeys, checkKey, idempotently, refuseUnlessRecorded } from "../idempotency/idempotency.ts";
import type { Client } from "../merchants/directory.ts";
import type { Database } from "../store/database.ts";
import type { Lanes } from "../store/lanes.ts";
import { type Call, type WriteEndpoint, actionOf, methodOf } from "./endpoint.ts";
import { allOptional, judgeBody, judged, nothingAsked } from "./fields.ts";
import { readJson } from "./json-body.ts";

interface WritesParts {
  lanes: Lanes;
  database: Database;
  log: Log;
}

interface SentWrite {
  request: FastifyRequest;
  body: Buffer;
  /** The credential that signed the request; undefined for a person who signed in. */
  client: Client | undefined;
  /** Checks the merchant, address, scope, environment and quota: `enter` of edge.ts says what it throws. */
  enter(): void;
}

export class Writes {
  private readonly parts: WritesParts;
  private readonly runningKeys = new RunningKeys();

  constructor(parts: WritesParts) {
    this.parts = parts;
  }

  /**
   * Runs a write. Its signature is consumed once, before the answer, whatever comes of it:
   * - refused by its head (scope, quota, JSON, key): here, at the first `catch`;
   * - an endpoint that acts first: before it acts;
   * - refused by its fields, or run: by the transaction of `refuseUnlessRecorded` or of `idempotently`;
   * - refused while the same key runs: here, since nothing has begun;
   * - failed unexpectedly: here, unless the transaction did.
   */
  async run(endpoint: WriteEndpoint, call: Call, sent: SentWrite): Promise<Reply> {
    let intent: Intent;
    let input: Record<string, unknown>;
    try {
      sent.enter();
      input = sent.body.length === 0 && allOptional(endpoint.body) ? {} : readJson(sent.request, sent.body);
      call.idempotencyKey = checkKey(sent.request.raw.headersDistinct["idempotency-key"]);
      intent = intentOf(endpoint, call, sent);
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
        return this.runAlone(endpoint, call, intent, input, sent.request);
      });
    } catch (error) {
      if (!begun) await this.consume(call);
      // After an unexpected failure it is unknown whether the transaction has consumed the signature.
      else if (error instanceof Fault && error.code === "INTERNAL_ERROR") await this.consumeUnlessConsumed(call);
      throw error;
    }
  }

  private async runAlone(
    endpoint: WriteEndpoint,
    call: Call,
    intent: Intent,
    input: Record<string, unknown>,
    request: FastifyRequest,
  ): Promise<Reply> {
    let deciding: Promise<Reply>;
    try {
      judged(nothingAsked, request.query);
      deciding = this.decide(endpoint, call, intent, await judge(endpoint, call, input));
    } catch (error) {
      if (!(error instanceof Fault)) {
        await this.consume(call);
        throw error;
      }
      deciding = this.parts.lanes.create(refuseUnlessRecorded(intent, error));
    }
    const decided = await this.orResumed(endpoint, call, intent, deciding);
    const { continues } = decided;
    if (decided.replayed) return decided;
    const answer = continues === undefined ? decided : await continues();
    await this.follow(endpoint, call);
    return answer;
  }

  /** Runs the command under its idempotency key. */
  private decide(endpoint: WriteEndpoint, call: Call, intent: Intent, value: unknown): Promise<Reply> {
    const { lanes, database } = this.parts;
    const command = idempotently(intent, endpoint.command(call, value), database);
    return endpoint.lane === "create" ? lanes.create(command) : lanes.move(call.book.merchantId, command);
  }

  /** Resumes the first request of a key in progress, if the endpoint can: also where the settings would refuse it now, since what it began is there. */
  private async orResumed(endpoint: WriteEndpoint, call: Call, intent: Intent, made: Promise<Reply>): Promise<Reply> {
    try {
      return await made;
    } catch (error) {
      if (!(error instanceof Fault) || error.code !== "IDEMPOTENCY_IN_PROGRESS") throw error;
      const again = await endpoint.resume?.(call, intent);
      if (!again) throw error;
      return await this.parts.lanes.move(call.book.merchantId, again);
    }
  }

  /** Consumes a write's signature in a transaction of its own. Throws SIGNATURE_REPLAYED, SERVICE_UNAVAILABLE. */
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

  /** Runs the endpoint's `after`. The change is committed, so a failure here is logged and does not alter the answer. */
  private async follow(endpoint: WriteEndpoint, call: Call): Promise<void> {
    try {
      await endpoint.after?.(call);
    } catch (error) {
      const { log } = this.parts;
      log.warn({ err: error, request_id: call.requestId }, "what follows a change failed; the worker will do it");
    }
  }
}

function intentOf(endpoint: WriteEndpoint, call: Call, { request, client, body }: SentWrite): Intent {
  const { book, idempotencyKey: key, requestId, realNow, nonce } = call;
  return {
    book,
    key,
    endpoint: boundTo(endpoint, call.params),
    bodyDigest: sha256(body),
    requestId,
    signed:
      client && !endpoint.changesNothing
        ? {
            clientId: client.clientId,
            address: request.ip,
            action: actionOf(endpoint.operationId),
            named: Object.values(call.params)[0],
          }
        : undefined,
    receivedAt: realNow,
    nonce,
  };
}

async function judge(endpoint: WriteEndpoint, call: Call, input: Record<string, unknown>): Promise<unknown> {
  const found = judgeBody(endpoint.body, input);
  if (endpoint.judge) return endpoint.judge(call, input, found);
  if ("fault" in found) throw found.fault;
  return found.value;
}

/** The text that an idempotency key is bound to: the method, the endpoint and a digest of the path parameters. */
function boundTo(endpoint: WriteEndpoint, params: Readonly<Record<string, string>>): string {
  const name = `${methodOf(endpoint)} ${endpoint.path}`;
  const parts = Object.values(params);
  return parts.length === 0 ? name : `${name} ${digestOf(...parts).toString("hex", 0, 16)}`;
}
