// One API call: each attempt is signed anew, and retries happen where they are safe, within one deadline (interface, sections 4.11 and 5).
import { type Answer, type Expected, readAnswer, requestIdOf } from "./answer.ts";
import { type ErrorCode, type ErrorFacts, GerbangError } from "./errors.ts";
import { type Hmac, encoder, hashing } from "./hashing.ts";
import { type Signed, hex, messageHeaders, timestampHeaders } from "./signing.ts";

const ATTEMPTS_MAX = 5;
/** Waits before the second attempt and the later ones, each shortened or lengthened by up to a fifth. */
const WAITS_MS = [1_000, 2_000, 4_000, 8_000];
const JITTER = 0.2;
/** Seconds by which a timestamp may be moved to make a signature unique. The service accepts 300 s; the clocks may differ by the rest. */
const SPREAD_SECONDS = 240;
/** A clock that is further off than this is not corrected: what is signed for another day could be replayed on it. */
const CORRECTION_MAX_MS = 86_400_000;
/** The longest time of a timer. */
const TIMER_MAX_MS = 2 ** 31 - 1;
/** Number of sent signatures that this process remembers, so that it sends none twice. */
const REMEMBERED_MAX = 20_000;

export interface Call {
  /** Name of the call in hooks, such as "payments.create". */
  operation: string;
  method: "GET" | "POST" | "PUT";
  /** Path and query, beginning with /v1. */
  target: string;
  body?: unknown;
  /** True when equal bodies are one intent: a call without a key then gets one that is made of its body. */
  isIntent?: boolean | undefined;
  /** An object by default. */
  answer?: Expected | undefined;
  /** How long the service may hold its answer back on purpose: the time-out of an attempt begins after it. */
  waitMs?: number | undefined;
}

export interface CallOptions {
  /** Idempotency key, one for each intent. Calls without a key get one each, so that a second call acts again. */
  idempotencyKey?: string | undefined;
  signal?: AbortSignal | undefined;
  /** Time for all attempts and waits together, in milliseconds. */
  deadlineMs?: number | undefined;
}

export interface AttemptInfo {
  operation: string;
  method: string;
  target: string;
  /** Counts from 1. */
  attempt: number;
  idempotencyKey: string | undefined;
}

/** Callbacks around each attempt. Hooks get no secret, no signature and no body. A hook is awaited; one that throws stops the call. */
export interface Hooks {
  onRequest?(info: AttemptInfo): unknown;
  onResponse?(info: AttemptInfo & { status: number; requestId: string | undefined; ms: number }): unknown;
  onRetry?(info: AttemptInfo & { error: GerbangError; waitMs: number }): unknown;
}

export interface TransportOptions {
  clientId: string;
  secret: string;
  /** Scheme, host and any path before /v1. */
  origin: string;
  signature: "rfc9421" | "timestamp";
  fetch: typeof fetch;
  timeoutMs: number;
  deadlineMs: number;
  hooks: Hooks;
  /** Adds trace headers to each attempt. */
  propagate?: ((headers: Record<string, string>) => void) | undefined;
  userAgent: string;
  now: () => number;
  sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  random: () => number;
}

export class Transport {
  readonly options: Omit<TransportOptions, "secret">;
  readonly #hmac: Promise<Hmac>;
  /** Seconds by which the service's clock is ahead of this one, once the service has reported its time. */
  #offsetSeconds = 0;
  /** Sent timestamp signatures, each with the Unix second until which the service would accept it. */
  readonly #sent = new Map<string, number>();

  constructor({ secret, ...options }: TransportOptions) {
    this.options = options;
    this.#hmac = hashing.hmac(encoder.encode(secret));
  }

  /** Makes a call. Throws a GerbangError unless the call succeeded. */
  async call(call: Call, options: CallOptions = {}): Promise<Answer & Tried> {
    const { now } = this.options;
    const { operation, method, target } = call;
    const isWrite = method !== "GET";
    // All attempts send the same bytes.
    const body = isWrite ? JSON.stringify(call.body ?? {}) : "";
    let idempotencyKey = isWrite ? options.idempotencyKey : undefined; // a read has none
    if (isWrite) idempotencyKey ??= call.isIntent ? hex(await hashing.sha256(body)) : crypto.randomUUID();
    const deadlineMs = options.deadlineMs ?? this.options.deadlineMs;
    const endsAt = now() + deadlineMs;
    const state = { corrected: false, replays: 0 };
    const tried: Tried = { attempts: 0, idempotencyKey, outcomeUnknown: false };
    try {
      for (let attempt = 1, waited = 0; ; attempt++) {
        const info: AttemptInfo = { operation, method, target, idempotencyKey, attempt };
        const { replays } = state;
        const outcome = await this.#attempt(call, { body, info, endsAt, signal: options.signal, replays, tried });
        if (!(outcome instanceof GerbangError)) return { ...outcome, ...tried };
        tried.outcomeUnknown = isWrite && (opens(outcome) || (tried.outcomeUnknown && !closes(outcome)));
        const waitMs = this.#waitBefore(attempt, outcome, state);
        // The waits count by themselves, too: the clock may be set back.
        if (
          waitMs === undefined ||
          attempt === ATTEMPTS_MAX ||
          now() + waitMs >= endsAt ||
          (waited += waitMs) >= deadlineMs
        )
          throw told(outcome, tried);
        await this.options.hooks.onRetry?.({ ...info, error: told(outcome, tried), waitMs });
        if (waitMs > 0) await this.wait(waitMs, options.signal, tried);
      }
    } catch (error) {
      if (error === tried.told) throw error;
      // A hook threw, perhaps the error of another call. What was sent may have been done, whatever was answered.
      tried.outcomeUnknown = isWrite && tried.attempts > 0;
      throw told(aborted(error), tried);
    }
  }

  /** Milliseconds to wait before the next attempt; undefined when no attempt may follow. */
  #waitBefore(
    attempt: number,
    error: GerbangError,
    state: { corrected: boolean; replays: number },
  ): number | undefined {
    if (error.code === "SIGNATURE_REPLAYED") {
      // The service rejected a replayed signature, so a new one is sent. A nonce is new each time; finding an unused timestamp may take several tries.
      state.replays++;
      return this.options.signature === "timestamp" || state.replays === 1 ? 0 : undefined;
    }
    if (error.code === "TIMESTAMP_OUT_OF_WINDOW") {
      const corrected = !state.corrected && this.#correctClock(error);
      state.corrected = true;
      return corrected ? 0 : undefined;
    }
    if (!error.retryable) return undefined;
    const usual = (WAITS_MS[attempt - 1] ?? 0) * (1 - JITTER + 2 * JITTER * this.options.random());
    const asked = retryAfterMs.get(error);
    if (asked === undefined || asked <= usual) return usual;
    // The added time spreads clients that were all told to come back at the same moment.
    return asked * (1 + JITTER * this.options.random());
  }

  /** Adopts the service's clock after it rejected a timestamp. False when the answer carried no date, or one of another day. */
  #correctClock(error: GerbangError): boolean {
    const shown = dates.get(error);
    if (shown === undefined || Math.abs(shown - this.options.now()) > CORRECTION_MAX_MS) return false;
    this.#offsetSeconds = Math.round((shown - this.options.now()) / 1000);
    return true;
  }

  async #attempt(
    call: Call,
    {
      body,
      info,
      endsAt,
      signal,
      replays,
      tried,
    }: {
      body: string;
      info: AttemptInfo;
      endsAt: number;
      signal: AbortSignal | undefined;
      replays: number;
      tried: Tried;
    },
  ): Promise<Answer | GerbangError> {
    const { clientId, origin, hooks, propagate, userAgent, now, timeoutMs } = this.options;
    await hooks.onRequest?.({ ...info });
    const url = origin + call.target;
    const request: Signed = {
      clientId,
      hmac: await this.#hmac,
      method: call.method,
      url,
      body,
      idempotencyKey: info.idempotencyKey,
    };
    const traced: Record<string, string> = {};
    propagate?.(traced);
    const headers: Record<string, string> = {
      ...traced,
      authorization: `Bearer ${clientId}`,
      accept: call.answer?.kind === "text" ? "text/csv, application/json" : "application/json",
      "user-agent": userAgent,
      ...(await this.#signatureHeaders(request, replays)),
    };
    if (info.idempotencyKey !== undefined) {
      headers["idempotency-key"] = info.idempotencyKey;
      headers["content-type"] = "application/json";
    }
    // What came before took time, in which the caller may have aborted. What is not sent leaves the outcome as it was.
    if (signal?.aborted) throw told(aborted(signal?.reason), tried);
    const leftMs = Math.min(timeoutMs + (call.waitMs ?? 0), endsAt - now(), TIMER_MAX_MS);
    if (!(leftMs > 0)) throw told(timedOut(), tried);
    tried.attempts++;
    const ending = new AbortController();
    let stop!: () => void;
    const over = new Promise<never>((_, reject) => {
      stop = () => {
        ending.abort();
        reject(ending.signal.reason as Error);
      };
    });
    signal?.addEventListener("abort", stop, { once: true });
    const timer = setTimeout(stop, leftMs);
    const begunAt = performance.now();
    let response: Response | undefined;
    let outcome: Answer | GerbangError;
    try {
      const init: RequestInit = { method: call.method, headers, redirect: "manual", signal: ending.signal };
      if (call.method !== "GET") init.body = body;
      const answered = async (): Promise<Answer> => {
        response = await this.options.fetch(url, init);
        return readAnswer(response, call.answer ?? { kind: "object" });
      };
      // A `fetch` of the caller's may ignore its signal.
      outcome = await Promise.race([answered(), over]);
    } catch (error) {
      if (error instanceof GerbangError) outcome = error;
      else if (signal?.aborted) outcome = aborted(signal?.reason);
      else {
        // Its head may have come.
        const facts = { status: response?.status, requestId: response && requestIdOf(response.headers) };
        // The system's own error is the cause of that of `fetch`. Where a name has several addresses, it has a code alone.
        const { message, code = error as Error } = Object((error as Error)?.cause ?? error) as Record<
          string,
          string | undefined
        >;
        outcome = ending.signal.aborted
          ? timedOut(facts)
          : new GerbangError({
              ...facts,
              code: "CONNECTION_FAILED",
              message: `The call to ${origin} failed (${message || code}).`,
              cause: error,
            });
      }
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener("abort", stop);
    }
    if (response !== undefined) {
      if (outcome instanceof GerbangError) remember(outcome, response.headers, now());
      const { status } = response;
      await hooks.onResponse?.({ ...info, status, requestId: outcome.requestId, ms: performance.now() - begunAt });
    }
    return outcome;
  }

  async #signatureHeaders(request: Signed, replays: number): Promise<Record<string, string>> {
    const seconds = Math.floor(this.options.now() / 1000) + this.#offsetSeconds;
    if (this.options.signature === "rfc9421") return messageHeaders(request, seconds);
    for (const [oldest, until] of this.#sent) {
      if (until > seconds && this.#sent.size < REMEMBERED_MAX) break;
      this.#sent.delete(oldest);
    }
    // The signature covers neither method nor path, so equal bodies within one second would get equal signatures: each takes a second of its own,
    // first now, then those before it, then those after it. After a replay the search begins anywhere: another process may have sent the signature.
    const all = 2 * SPREAD_SECONDS + 1;
    let step = replays === 0 ? SPREAD_SECONDS : Math.floor(this.options.random() * all);
    for (const last = step + all; ; step++) {
      const headers = await timestampHeaders(request, seconds + SPREAD_SECONDS - (step % all));
      const identity = `${headers["x-signature"]} ${request.method === "GET" ? request.url : ""}`;
      if (step < last && this.#sent.has(identity)) continue;
      this.#sent.set(identity, seconds + SPREAD_SECONDS + 300);
      return headers;
    }
  }

  /** Waits between attempts. Throws ABORTED with what is known of them. */
  async wait(ms: number, signal: AbortSignal | undefined, tried?: Tried): Promise<void> {
    try {
      await this.options.sleep(ms, signal);
    } catch (error) {
      if (signal?.aborted) throw told(aborted(signal?.reason), tried);
      throw error;
    }
  }
}

const openCodes = new Set<ErrorCode>([
  "CONNECTION_FAILED",
  "TIMED_OUT",
  "ABORTED",
  "ANSWER_TOO_LARGE",
  "IDEMPOTENCY_IN_PROGRESS",
  // Something on the way sent the request twice: its copy may have come first.
  "SIGNATURE_REPLAYED",
]);
const undoneCodes = new Set<ErrorCode>(["GATEWAY_ERROR", "NO_ROUTE_AVAILABLE"]);

/** Whether an attempt leaves it unknown if a write was done. */
function opens({ code, status = 0 }: GerbangError): boolean {
  if (openCodes.has(code)) return true;
  return (status >= 500 && !undoneCodes.has(code)) || (code === "ANSWER_UNREADABLE" && status < 300);
}

/** Whether the answer tells the outcome of the idempotency key, earlier attempts included. Other refusals are of answers from before it is read. */
function closes({ code, status = 0 }: GerbangError): boolean {
  // Stored under the key, though with 403: WALLET_FROZEN and ENVIRONMENT_MISMATCH. Answered before it is read, though with 404: ROUTE_NOT_FOUND.
  return (
    /FROZEN|MISMATCH/.test(code) ||
    (code !== "ANSWER_UNREADABLE" && code !== "ROUTE_NOT_FOUND" && [202, 404, 409, 422].includes(status))
  );
}

const retryAfterMs = new WeakMap<GerbangError, number>();
const dates = new WeakMap<GerbangError, number>();

/** Keeps the Retry-After delay and the service's date from the headers of an error. */
function remember(error: GerbangError, headers: Headers, now: number): void {
  const date = dateOf(headers.get("date") ?? "");
  if (date) dates.set(error, date);
  const retryAfter = headers.get("retry-after") ?? "";
  const until = dateOf(retryAfter);
  if (/^\d+$/.test(retryAfter)) retryAfterMs.set(error, Number(retryAfter) * 1000);
  else if (until) retryAfterMs.set(error, until - (date ?? now));
}

/** Unix milliseconds of a date as HTTP writes it. */
function dateOf(text: string): number | undefined {
  return (/^\w{3}, \d\d \w{3} \d{4} [\d:]{8} GMT$/.test(text) && Date.parse(text)) || undefined;
}

const aborted = (cause: unknown): GerbangError =>
  new GerbangError({ code: "ABORTED", message: "The call was aborted.", cause });
const timedOut = (facts?: Pick<ErrorFacts, "status" | "requestId">): GerbangError =>
  new GerbangError({ ...facts, code: "TIMED_OUT", message: "No answer came in time." });

/** What is known of the attempts of a call, and the last error that was made of it. */
export type Tried = Required<Pick<ErrorFacts, "attempts" | "outcomeUnknown">> &
  Pick<ErrorFacts, "idempotencyKey"> & { told?: GerbangError };

/** The error for the caller, with the facts about its attempts. */
function told(error: GerbangError, tried: Partial<Tried> = {}): GerbangError {
  const { message, cause } = error; // which a spread leaves out
  return (tried.told = new GerbangError({ ...error, message, cause, ...tried }));
}

/** Waits `ms` milliseconds. Rejects with the signal's reason when the signal aborts. */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const stop = (): void => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, ms);
    signal?.addEventListener("abort", stop, { once: true });
  });
}
