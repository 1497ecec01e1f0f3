// The sender makes one signed POST over verified TLS to a vetted address: 10 s from DNS to the status line, and 1 s more for the body.
import { type LookupFunction, isIP } from "node:net";
import { Readable } from "node:stream";
import { setTimeout as pause } from "node:timers/promises";
import { Agent, type Dispatcher, buildConnector, errors } from "undici";
import type { Attempt } from "../events/events.sql.ts";
import { type Clock, type Micros, SECOND, stopwatchMs } from "../ground/clock.ts";
import { sign } from "../ground/crypto.ts";
import type { Book } from "../merchants/books.ts";
import type { WebhookSecret } from "../merchants/directory.ts";
import { watchAddress } from "./called-address.ts";
import type { Exemptions } from "./exemptions.ts";
import { ForbiddenAddress, bareHost, mayConnect, notPublic, objectionTo, vet } from "./guard.ts";
import { type DeliveryTiming, deliveryTiming } from "./timing.ts";

/** Most sockets that the pool holds for one host, those with a dead peer included. */
const CONNECTIONS_PER_HOST = 32;
/** Time for each address of a name before the next one is tried: two packets to begin with may be lost. The last one has all that is left. */
const ADDRESS_MS = 3_500;
/** Most addresses of a name that one attempt tries: more would let a merchant knock at thousands of hosts with one delivery. */
const ADDRESSES_MAX = 8;
const ANSWER_MAX_BYTES = 16_384;
/** Most statuses of 1xx before the answer: a receiver that sends nothing else keeps the process busy until the deadline. */
const INTERIM_MAX = 16;

export interface OutgoingDelivery {
  url: string;
  /** The current secret first; during the overlap after a rotation, the previous secret second. */
  secrets: readonly [WebhookSecret, ...WebhookSecret[]];
  eventId: string;
  type: string;
  /** The exact bytes to send, stored with the event. */
  body: string;
  attempt: number;
  /** The book whose previous secret this delivery may probe; absent for a receiver test. */
  book?: Book;
  /** Shifts the timestamp that is sent and signed: for fault injection and receiver tests. */
  timestampSkewSeconds?: number;
  /** Text that is signed instead of the body: for receiver tests. */
  signedBody?: string;
  /** Sends the body in pieces over `slowBodyMs`: for fault injection. */
  slowly?: boolean;
}

export type SenderTiming = Pick<DeliveryTiming, "deadlineMs" | "bodyMs" | "slowBodyMs">;

/** Input of `deliveryHeaders`. */
interface SignedDelivery extends Pick<
  OutgoingDelivery,
  "secrets" | "eventId" | "type" | "body" | "signedBody" | "attempt"
> {
  /** Prefix of the service's own headers, such as `X-SVC-`. */
  prefix: string;
  serviceName: string;
  /** Unix seconds. */
  timestamp: number;
}

/** The headers of interface 6.2: one signature in the service's own, of the current secret; one of each secret in `webhook-signature`. */
export function deliveryHeaders(delivery: SignedDelivery): Record<string, string> {
  const { prefix, serviceName, secrets, eventId, type, attempt } = delivery;
  const body = delivery.signedBody ?? delivery.body;
  const timestamp = String(delivery.timestamp);
  const standard = secrets.map(
    ({ standardKey }) => `v1,${standardKey.sign("base64", `${eventId}.${timestamp}.`, body)}`,
  );
  return {
    "content-type": "application/json; charset=utf-8",
    "user-agent": `${serviceName.replaceAll(" ", "-")}-webhooks/1`,
    [`${prefix}Event-Id`]: eventId,
    [`${prefix}Event-Type`]: type,
    [`${prefix}Timestamp`]: timestamp,
    [`${prefix}Signature`]: sign(secrets[0].key, timestamp, body),
    [`${prefix}Delivery-Attempt`]: String(attempt),
    "webhook-id": eventId,
    "webhook-timestamp": timestamp,
    "webhook-signature": standard.join(" "),
  };
}

export interface AttemptResult extends Omit<Attempt, "attempt" | "url" | "requestBody" | "note"> {
  /** Time until the call ended, the body of the answer included: how long the attempt held its slot. */
  heldMs: number;
  /** Fault injection or probing that changed this attempt, in plain words. */
  note?: string | undefined;
}

/** The result of an attempt for which nothing was sent. */
export function unsent(now: Micros, reason: string | undefined): AttemptResult {
  return {
    startedAt: now,
    durationMs: 0,
    heldMs: 0,
    succeeded: false,
    status: undefined,
    reason,
    address: undefined,
    requestHeaders: {},
    responseHeaders: undefined,
    responseBody: undefined,
  };
}

export interface SenderParts {
  clock: Clock;
  /** Begins the service's own headers, such as `X-SVC-`. */
  prefix: string;
  serviceName: string;
  /** Hosts and networks that need not be public. */
  exemptions: Exemptions;
  timing?: SenderTiming | undefined;
}

export class Sender {
  private readonly agent: Agent;
  protected readonly parts: SenderParts;
  private readonly timing: SenderTiming;

  constructor(parts: SenderParts) {
    const { exemptions, timing = deliveryTiming } = parts;
    this.parts = parts;
    this.timing = timing;
    this.agent = new Agent({
      connect: guardedConnector(exemptions, timing.deadlineMs),
      allowH2: false,
      connections: CONNECTIONS_PER_HOST,
      pipelining: 1,
      keepAliveTimeout: 30_000,
      keepAliveMaxTimeout: 30_000,
      maxHeaderSize: 16_384,
    });
  }

  /** Makes one attempt. Never throws: an error becomes a failed result. */
  async send(delivery: OutgoingDelivery): Promise<AttemptResult> {
    const { clock, prefix, serviceName, exemptions } = this.parts;
    const startedAt = clock.now();
    const begun = stopwatchMs();
    const timestamp = Math.floor(startedAt / SECOND) + (delivery.timestampSkewSeconds ?? 0);
    const requestHeaders = deliveryHeaders({ ...delivery, prefix, serviceName, timestamp });
    const result: AttemptResult = { ...unsent(startedAt, undefined), requestHeaders };
    const body = delivery.slowly
      ? Readable.from(inPieces(delivery.body, this.timing.slowBodyMs))
      : Buffer.from(delivery.body);
    const address = watchAddress(body);
    const decided = (): void => {
      result.durationMs = Math.round(stopwatchMs() - begun);
    };
    try {
      const objection = objectionTo(delivery.url, exemptions);
      if (objection !== undefined) throw new ForbiddenAddress(objection);
      const { origin, pathname, search } = new URL(delivery.url);
      const headers = delivery.slowly
        ? { ...requestHeaders, "content-length": `${Buffer.byteLength(delivery.body)}` }
        : requestHeaders;
      const { status, responseHeaders, rest } = await this.post({ origin, path: pathname + search, headers, body });
      // The status line came in time and decides the result; a body that fails or stalls changes nothing.
      decided();
      result.status = status;
      result.succeeded = status >= 200 && status < 300;
      if (!result.succeeded) result.reason = `The receiver answered ${status}; only 2xx counts.`;
      result.responseHeaders = responseHeaders;
      result.responseBody = await rest;
    } catch (error) {
      decided();
      result.reason = explain(error, this.timing.deadlineMs);
    }
    result.address = address();
    result.heldMs = Math.round(stopwatchMs() - begun);
    return result;
  }

  /**
   * Posts once. Resolves at the status line. `rest` resolves with the first bytes of the body that arrive in time, and never rejects.
   * Throws the network's error, or `Expired` when no status line comes before the deadline. The deadline includes DNS and the TLS
   * handshake, so this method has its own timer: undici heeds an abort signal only once there is a connection.
   */
  private post(request: {
    origin: string;
    path: string;
    headers: Record<string, string>;
    body: Buffer | Readable;
  }): Promise<{ status: number; responseHeaders: Record<string, string>; rest: Promise<Buffer> }> {
    const { deadlineMs, bodyMs } = this.timing;
    return new Promise((resolve, reject) => {
      const parts: Buffer[] = [];
      let size = 0;
      let interim = 0;
      let over = false;
      let controller: Dispatcher.DispatchController | undefined;
      let giveRest: ((rest: Buffer) => void) | undefined;
      /** Ends the call: resolves `rest` when there was a status line, else rejects with the error. */
      const end = (error?: Error): void => {
        if (over) return;
        over = true;
        clearTimeout(timer);
        if (giveRest) giveRest(Buffer.concat(parts).subarray(0, ANSWER_MAX_BYTES));
        else reject(error ?? new Error("an answer without a status line"));
      };
      /** Ends the call and closes the connection instead of reading the remaining body. */
      const hangUp = (error: Error): void => {
        end(error);
        controller?.abort(error);
      };
      let timer = setTimeout(() => hangUp(new Expired()), deadlineMs);
      const handler: Dispatcher.DispatchHandler = {
        onRequestStart(started) {
          if (over) return started.abort(new Expired());
          controller = started;
        },
        onResponseStart(_controller, status, headers) {
          if (status < 200 && ++interim > INTERIM_MAX) hangUp(Object.assign(new Error(), { code: "TOO_MANY_INTERIM" }));
          if (over || status < 200) return;
          clearTimeout(timer);
          timer = setTimeout(() => hangUp(new Expired()), bodyMs);
          const rest = new Promise<Buffer>((give) => (giveRest = give));
          resolve({ status, responseHeaders: flatten(headers), rest });
        },
        onResponseData(_controller, chunk) {
          if (over) return;
          parts.push(chunk);
          size += chunk.length;
          if (size >= ANSWER_MAX_BYTES) hangUp(new Error("the rest is not read"));
        },
        onResponseEnd: () => end(),
        onResponseError: (_controller, error) => end(error),
      };
      // The timers of undici are off by up to half a second, so they are set a second later than the deadline.
      const time = { headersTimeout: deadlineMs + 1_000, bodyTimeout: deadlineMs + 1_000 };
      try {
        this.agent.dispatch({ ...request, ...time, method: "POST" }, handler);
      } catch (error) {
        end(error as Error);
      }
    });
  }

  async close(): Promise<void> {
    await this.agent.destroy();
  }
}

/** Pieces of a body that is sent slowly. */
const PIECES = 6;

/** Yields the body in pieces that take `durationMs` in all. */
async function* inPieces(body: string, durationMs: number): AsyncGenerator<Buffer> {
  const bytes = Buffer.from(body);
  const size = Math.ceil(bytes.length / PIECES);
  for (let at = 0; at < bytes.length; at += size) {
    yield bytes.subarray(at, at + size);
    await pause(durationMs / PIECES);
  }
}

/** Connects safely: vets all addresses of the host, connects to the first that answers, and checks the remote address of the socket. */
function guardedConnector(exemptions: Exemptions, timeout: number): buildConnector.connector {
  const lookup: LookupFunction = (host, _options, give) => {
    vet(host, exemptions).then(
      (vetted) => give(null, vetted.slice(0, ADDRESSES_MAX)),
      (error: Error) => give(error, []),
    );
  };
  const addresses = { lookup, autoSelectFamily: true, autoSelectFamilyAttemptTimeout: ADDRESS_MS };
  const connect = buildConnector({ ...addresses, timeout, allowH2: false, maxCachedSessions: 1000 });
  return (options, callback) => {
    const host = bareHost(options.hostname);
    // TLS checks the certificate against the host name, or against the address where the URL names an address, which is looked up nowhere.
    // undici makes a name of `host` where there is no `servername`, also of the first group of an address of IPv6.
    const servername = isIP(host) === 0 ? host : "";
    if (servername === "" && !mayConnect(host, host, exemptions)) return callback(notPublic(host), null);
    // Taken as one tuple: without an error TypeScript then knows that there is a socket.
    connect({ ...options, hostname: host, host: servername, servername }, (...[error, socket]) => {
      if (error !== null) return callback(error, null);
      if (mayConnect(host, socket.remoteAddress ?? "", exemptions)) return callback(null, socket);
      socket.destroy();
      callback(notPublic(host), null);
    });
  };
}

function flatten(headers: Record<string, string | string[] | undefined>): Record<string, string> {
  const kept = Object.entries(headers).slice(0, 100);
  return Object.fromEntries(kept.map(([name, value = ""]) => [name, [value].flat().join(", ").slice(0, 1000)]));
}

/** The status line did not come in time. */
class Expired extends Error {}

/** Describes a network error in plain words. Repeats no text of the receiver. */
function explain(error: unknown, deadlineMs: number): string {
  const late = `The receiver did not answer within ${deadlineMs / 1_000} seconds.`;
  if (error instanceof ForbiddenAddress) return `Refused: ${error.message}`;
  if (error instanceof Expired) return late;
  const code = (error as { code?: unknown } | null)?.code;
  // What undici says of 100 Continue, the only status that it refuses.
  if (code === "UND_ERR_SOCKET" && (error as Error).message === "bad response")
    return "The receiver answered 100 Continue, which was not asked for, in place of a status of 200 or more.";
  const known: Record<string, string> = {
    ENOTFOUND: "The host name does not exist.",
    EAI_AGAIN: "The host name could not be looked up.",
    ECONNREFUSED: "The host refused the connection.",
    ECONNRESET: "The connection was reset.",
    EHOSTUNREACH: "The host cannot be reached.",
    ENETUNREACH: "The network cannot be reached.",
    UND_ERR_SOCKET: "The connection was closed before an answer came.",
    UND_ERR_CONNECT_TIMEOUT: "The connection could not be made in time.",
    UND_ERR_HEADERS_TIMEOUT: late,
    TOO_MANY_INTERIM: `The receiver sent more than ${INTERIM_MAX} statuses of 1xx before one of 200 or more.`,
    UND_ERR_HEADERS_OVERFLOW: "The headers of the answer were too large.",
    UND_ERR_RES_CONTENT_LENGTH_MISMATCH: "The answer was not valid HTTP: its length is stated twice, or wrongly.",
    DEPTH_ZERO_SELF_SIGNED_CERT: "The TLS certificate is self-signed.",
    SELF_SIGNED_CERT_IN_CHAIN: "The TLS certificate chain is self-signed.",
    UNABLE_TO_VERIFY_LEAF_SIGNATURE: "The TLS certificate cannot be verified; is an intermediate certificate missing?",
    CERT_SIGNATURE_FAILURE: "The TLS certificate was not signed by the authority that it names.",
    CERT_HAS_EXPIRED: "The TLS certificate has expired.",
    CERT_NOT_YET_VALID: "The TLS certificate is not valid yet.",
    ERR_TLS_CERT_ALTNAME_INVALID: "The TLS certificate is for another name.",
  };
  const { syscall } = error as { syscall?: unknown };
  if (typeof syscall === "string" && syscall.startsWith("query") && code !== "ENOTFOUND")
    return "The host name could not be looked up.";
  if (typeof code === "string" && code.startsWith("ERR_SSL_"))
    return "The TLS handshake failed; does the host speak TLS 1.2 or newer at this port?";
  if (typeof code === "string" && known[code] !== undefined) return known[code];
  if (error instanceof errors.HTTPParserError || code === "ERR_ASSERTION") return "The answer was not valid HTTP.";
  return `The connection failed (${typeof code === "string" ? code : "unknown reason"}).`;
}
