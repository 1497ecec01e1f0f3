// Calls to providers: kept-alive connections, a limit on concurrent requests, a deadline, and a masked record of each exchange.
import { AcquirerRefused, type RecordMessage } from "../acquirers/acquirer.ts";
import {
  type Exchange,
  type Exchanged,
  NoAnswer,
  exchange,
  newAgent,
  unlessUnreached,
} from "../acquirers/remote-http.ts";
import { stopwatchMs } from "../ground/clock.ts";
import { objectOf } from "../ground/json.ts";
import { exchangeText } from "./mask.ts";

interface CallerOptions {
  /** The acquirer's `gateway_code`, for error messages. */
  code: string;
  /** Base address of all paths, without a slash at its end: `https://api.example.com/base`. */
  baseUrl: string;
  deadlineMs: number;
  /** Maximum number of sockets. Twice as many requests may be in flight or wait for a socket; more are rejected at once. */
  connections: number;
}

export interface ProviderRequest extends Pick<Exchange, "method" | "headers" | "answerMaxBytes"> {
  /** Path below `baseUrl`, query included. */
  path: string;
  body?: string | Buffer | undefined;
  /** Replaces the caller's `baseUrl`, for a provider with a second host. */
  baseUrl?: string;
  /** Replaces the caller's deadline, for a request with a large body. */
  deadlineMs?: number;
}

export interface ProviderAnswer extends Pick<Exchanged, "status" | "headers"> {
  /** Undefined when the body is not one JSON object. */
  body: Record<string, unknown> | undefined;
}

/** The parts of one call that all its requests share. */
export interface CallContext {
  signal: AbortSignal;
  record: RecordMessage | undefined;
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
   * Sends one request and reads one JSON object, of at most 64 KiB unless the request says otherwise. Throws `NoAnswer` when no complete response
   * arrives in time, and `AcquirerRefused` (unavailable) when too many requests are in flight: then nothing was sent.
   */
  async call(request: ProviderRequest, { signal, record }: CallContext): Promise<ProviderAnswer> {
    const { code, connections, deadlineMs } = this.options;
    if (this.underWay >= connections * 2)
      throw new AcquirerRefused(`${code} has ${this.underWay} requests under way already`, { unavailable: true });
    const { origin, pathname } = new URL(request.baseUrl ?? this.options.baseUrl);
    const path = pathname.replace(/\/+$/, "") + request.path;
    const about = `${request.method} ${path.split("?", 1)[0] ?? ""}`;
    this.underWay++;
    const begun = stopwatchMs();
    try {
      const { method, headers, body, answerMaxBytes } = request;
      const accepting = { accept: "application/json", ...headers };
      const exchanged = { origin, path, method, headers: accepting, body, answerMaxBytes };
      const answer = await exchange(this.agent, exchanged, request.deadlineMs ?? deadlineMs, signal);
      const read = objectOf(answer.body);
      record?.({ about, status: answer.status, text: exchangeText(request.body, read ?? answer.body) });
      return { status: answer.status, body: read, headers: answer.headers };
    } catch (error) {
      const why = error instanceof NoAnswer ? error.message : "the call failed";
      const after = `no answer after ${Math.round((stopwatchMs() - begun) / 100) / 10} s: ${why}`;
      record?.({ about, status: undefined, text: exchangeText(request.body, after) });
      throw error;
    } finally {
      this.underWay--;
    }
  }

  /** Like `call`, for orders. Throws `AcquirerRefused` (unavailable) when nothing was sent: another acquirer may be tried. */
  order(request: ProviderRequest, context: CallContext): Promise<ProviderAnswer> {
    return unlessUnreached(this.options.code, this.call(request, context));
  }

  /** Closes the connections. Calls in flight end without an answer. */
  close(): Promise<void> {
    return this.agent.destroy();
  }
}

/**
 * For calls that end a payment, and for inquiries: an unavailable provider does not tell whether the payment can be ended, or is there. The
 * `AcquirerRefused` (unavailable) becomes a plain Error; every other outcome stays as it is.
 */
export async function definiteOnly<Value>(call: Promise<Value>): Promise<Value> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof AcquirerRefused && error.unavailable) throw new Error(error.message, { cause: error });
    throw error;
  }
}
