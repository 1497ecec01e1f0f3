// Calls of providers: kept-alive connections, so many at once and no more, one deadline for all requests of a call, and what was said told
// without secrets.
import { AcquirerRefused, type Tell } from "../acquirers/acquirer.ts";
import { NoAnswer, exchange, newAgent } from "../acquirers/remote-http.ts";
import { stopwatchMs } from "../ground/clock.ts";
import { MalformedJson, parseObject } from "../ground/json.ts";
import { saidOf } from "./mask.ts";

export interface CallerOptions {
  /** `gateway_code`, for messages. */
  code: string;
  /** Where paths begin: `https://api.example.com/base`, without a slash at its end. */
  baseUrl: string;
  deadlineMs: number;
  /** Sockets that it may hold. Twice as many requests may be under way or wait for one; more are refused at once. */
  connections: number;
}

export interface ProviderRequest {
  method: "GET" | "POST" | "DELETE" | "PATCH" | "PUT";
  /** After `baseUrl`, with its query. */
  path: string;
  headers: Record<string, string>;
  body?: string | Buffer | undefined;
  /** In place of `baseUrl`, for a provider with a host of its own for some things. */
  baseUrl?: string;
  /** In place of the caller's own, for a request with much to carry. */
  deadlineMs?: number;
}

export interface ProviderAnswer {
  status: number;
  /** Undefined when it is not one JSON object. */
  body: Record<string, unknown> | undefined;
  headers: Readonly<Record<string, string | string[] | undefined>>;
}

export class Caller {
  private readonly options: CallerOptions;
  private readonly agent;
  private underWay = 0;

  constructor(options: CallerOptions) {
    this.options = options;
    this.agent = newAgent(options.connections, options.deadlineMs);
  }

  /**
   * Sends one request and reads one JSON object, of at most 64 KiB. Throws `NoAnswer` when no whole answer came in time, and
   * `AcquirerRefused` (unavailable) when too many requests wait: then nothing was sent.
   */
  async call(request: ProviderRequest, signal: AbortSignal, tell: Tell | undefined): Promise<ProviderAnswer> {
    const { code, connections, deadlineMs } = this.options;
    if (this.underWay >= connections * 2)
      throw new AcquirerRefused(`${code} has ${this.underWay} requests under way already`, { unavailable: true });
    const { origin, pathname } = new URL(request.baseUrl ?? this.options.baseUrl);
    const path = pathname.replace(/\/+$/, "") + request.path;
    const about = `${request.method} ${path.split("?", 1)[0] ?? ""}`;
    this.underWay++;
    const begun = stopwatchMs();
    try {
      const { method, headers, body } = request;
      const exchanged = { origin, path, method, headers: { accept: "application/json", ...headers }, body };
      const answer = await exchange(this.agent, exchanged, request.deadlineMs ?? deadlineMs, signal);
      const read = objectOf(answer.body);
      tell?.({ about, status: answer.status, text: saidOf(request.body, read ?? answer.body) });
      return { status: answer.status, body: read, headers: answer.headers };
    } catch (error) {
      const why = error instanceof NoAnswer ? error.message : "the call failed";
      const after = `no answer after ${Math.round((stopwatchMs() - begun) / 100) / 10} s: ${why}`;
      tell?.({ about, status: undefined, text: saidOf(request.body, after) });
      throw error;
    } finally {
      this.underWay--;
    }
  }

  /**
   * As `call`, for requests that order something: what was certainly not sent is a definite no, so that another acquirer may be asked.
   */
  async order(request: ProviderRequest, signal: AbortSignal, tell: Tell | undefined): Promise<ProviderAnswer> {
    try {
      return await this.call(request, signal, tell);
    } catch (error) {
      if (!(error instanceof NoAnswer) || error.sent) throw error;
      throw new AcquirerRefused(`${this.options.code} was not reached: ${error.message}`, {
        cause: error,
        unavailable: true,
      });
    }
  }

  /** Gives the connections back. Calls under way end without an answer. */
  close(): Promise<void> {
    return this.agent.destroy();
  }
}

/**
 * For a call that ends something: that it cannot be asked for now is no word about whether it can be ended. An unavailable provider becomes
 * a plain Error; every other outcome stays as it is.
 */
export async function definiteOnly<Value>(call: Promise<Value>): Promise<Value> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof AcquirerRefused && error.unavailable) throw new Error(error.message, { cause: error });
    throw error;
  }
}

function objectOf(bytes: Buffer): Record<string, unknown> | undefined {
  try {
    return parseObject(bytes);
  } catch (error) {
    if (error instanceof MalformedJson) return undefined;
    throw error;
  }
}
