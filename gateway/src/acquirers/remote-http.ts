// One HTTP exchange. Its deadline covers everything from name resolution to the last byte, and its error says whether anything was sent. undici
// ignores its own `signal` until a connection exists, so this file does not use it.
import { Agent, type Dispatcher, errors } from "undici";
import type { z } from "zod";
import { AcquirerRefused } from "./acquirer.ts";
import { SECOND, systemClock } from "../ground/clock.ts";
import { BODY_MAX_BYTES } from "./remote-protocol.ts";

/** An exchange without a complete response. `sent` is false only when no byte of the request was sent or ever will be. */
export class NoAnswer extends Error {
  override name = "NoAnswer";
  readonly sent: boolean;

  constructor(message: string, sent: boolean, cause?: unknown) {
    super(message, cause === undefined ? {} : { cause });
    this.sent = sent;
  }
}

/** The answer to an order at `code`. Throws `AcquirerRefused` (unavailable) when nothing was sent: another may be tried; else what was thrown. */
export async function unlessUnreached<Answer>(code: string, answer: Promise<Answer>): Promise<Answer> {
  try {
    return await answer;
  } catch (error) {
    if (!(error instanceof NoAnswer) || error.sent) throw error;
    throw new AcquirerRefused(`${code} was not reached: ${error.message}`, { cause: error, unavailable: true });
  }
}

export interface Exchange {
  origin: string;
  /** Query included. */
  path: string;
  method: "GET" | "POST" | "DELETE" | "PATCH" | "PUT";
  headers: Record<string, string>;
  body: string | Buffer | undefined;
  /** Longest response that is read; 64 KiB when absent. */
  answerMaxBytes?: number | undefined;
}

export interface Exchanged {
  status: number;
  /** Keyed by lower-case names. */
  headers: Readonly<Record<string, string | string[] | undefined>>;
  body: Buffer;
}

/** Creates an agent with at most `connections` sockets. It abandons a connection attempt after `connectTimeoutMs`. */
export function newAgent(connections: number, connectTimeoutMs: number): Agent {
  return new Agent({
    allowH2: false,
    connections,
    pipelining: 1,
    keepAliveTimeout: 4_000,
    keepAliveMaxTimeout: 30_000,
    maxHeaderSize: 16_384,
    connect: { timeout: connectTimeoutMs, maxCachedSessions: 16 },
  });
}

/**
 * Sends one request and reads a response of at most `answerMaxBytes`. Follows no redirect and retries nothing. Throws `NoAnswer` when the deadline passes,
 * when `signal` aborts, when the connection fails, and when the response is incomplete or too long. Connecting may take half of the time: the
 * exchange then fails early, while the caller can still act on the fact that nothing was sent.
 */
export function exchange(
  dispatcher: Dispatcher,
  { origin, path, method, headers, body, answerMaxBytes = BODY_MAX_BYTES }: Exchange,
  deadlineMs: number,
  signal: AbortSignal,
): Promise<Exchanged> {
  return new Promise((resolve, reject) => {
    let sent = false;
    let over = false;
    let controller: Dispatcher.DispatchController | undefined;
    let status = 0;
    let answered: Exchanged["headers"] = {};
    let size = 0;
    const parts: Buffer[] = [];
    const until = systemClock.now() + deadlineMs * (SECOND / 1_000);

    const end = (): void => {
      over = true;
      clearTimeout(deadline);
      clearTimeout(connecting);
      signal.removeEventListener("abort", onAbort);
    };
    const fail = (reason: string, cause?: unknown): void => {
      if (over) return;
      end();
      reject(new NoAnswer(reason, sent, cause));
      controller?.abort(new Error(reason));
    };
    const onAbort = (): void => fail("the call was ended");
    const deadline = setTimeout(() => fail("the deadline has passed"), deadlineMs);
    const connecting = setTimeout(() => fail("no connection could be made in time"), deadlineMs / 2);
    signal.addEventListener("abort", onAbort, { once: true });
    if (signal.aborted) return onAbort();

    const handler: Dispatcher.DispatchHandler = {
      // undici calls this when a connection exists, right before it writes the first byte.
      onRequestStart(started) {
        // A process that slept may get the connection, or the answer below, before its timers fire. What it would send could come after its lease.
        if (systemClock.now() > until) fail("the deadline has passed");
        if (over) return started.abort(new Error("the call is over"));
        clearTimeout(connecting);
        sent = true;
        controller = started;
      },
      onResponseStart(_controller, code, named) {
        status = code;
        answered = named;
      },
      onResponseData(_controller, chunk) {
        size += chunk.length;
        if (size > answerMaxBytes) fail(`the answer has more than ${answerMaxBytes} bytes`);
        else parts.push(chunk);
      },
      onResponseEnd() {
        if (over) return;
        if (systemClock.now() > until) return fail("the deadline has passed");
        end();
        resolve({ status, headers: answered, body: Buffer.concat(parts) });
      },
      onResponseError(_controller, error) {
        fail(reasonOf(error), error);
      },
    };
    const time = { headersTimeout: deadlineMs, bodyTimeout: deadlineMs };
    try {
      dispatcher.dispatch({ origin, path, method, headers, ...(body === undefined ? {} : { body }), ...time }, handler);
    } catch (error) {
      fail(reasonOf(error), error);
    }
  });
}

/** Describes a network error by its code: error messages may quote data that must not appear in a log. */
function reasonOf(error: unknown): string {
  if (error instanceof errors.HTTPParserError) return "the answer was not valid HTTP";
  const code = (error as { code?: unknown } | null)?.code;
  return `the connection failed (${typeof code === "string" ? code : "unknown reason"})`;
}

/** Makes an acquirer's text safe for a log: printable ASCII, at most `max` characters. */
export function printable(text: string, max = 200): string {
  return text.replaceAll(/[^\x20-\x7e]/g, "?").slice(0, max);
}

/** Reads an answer by its schema. Throws the Error that `malformed` makes of the first place where the answer does not fit. */
export function readBy<Value>(schema: z.ZodType<Value>, body: unknown, malformed: (why: string) => Error): Value {
  const parsed = schema.safeParse(body);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw malformed(issue === undefined ? "?" : `${issue.path.map(String).join(".")}: ${issue.message}`);
}
