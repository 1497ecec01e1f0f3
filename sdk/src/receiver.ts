// A webhook receiver for Node's http, Express, Fastify, Hono, Next and every platform with `Request` and `Response`.
import { EventBusyError, type EventStore, type Sleep } from "./claims.ts";
import type { EventOf, EventType, WebhookEvent } from "./types.ts";
import { type DeliveryHeaders, type Secrets, WebhookError, unwrap } from "./verify.ts";

/** Limit of a request body. An event has a few kilobytes. */
const BODY_BYTES_MAX = 1_000_000;

/** One listener for each event type, and `other` for all remaining types. */
export type Listeners = { [Type in EventType]?: (event: EventOf<Type>) => unknown } & {
  other?: (event: WebhookEvent) => unknown;
};

export interface HandlerOptions {
  secrets: Secrets;
  /**
   * Gets each genuine event before the delivery is answered. Keep the work short (ten seconds at most), such as one row in a queue. When it throws,
   * the answer is 500, and the service sends the event again.
   */
  on: ((event: WebhookEvent) => unknown) | Listeners;
  /** Claims each event before `on` gets it, so that only one of two copies runs. An event that was handled is answered 200 only. */
  store?: EventStore;
  headerPrefix?: string;
  /** Gets the errors of rejected deliveries, of `on` and of the store; `console.error` by default. They are reported nowhere else. */
  onError?: (error: unknown) => unknown;
  /** Waits, in milliseconds, while another process holds the claim; tests replace it. */
  sleep?: Sleep;
}

/** The parts of Node's request that the handler reads; frameworks extend it. */
interface NodeRequest extends AsyncIterable<Uint8Array> {
  headers: Record<string, string | string[] | undefined>;
  method?: string | undefined;
  /** Where a framework keeps the raw bytes, or the parsed body. */
  rawBody?: Uint8Array | string;
  body?: unknown;
  readableEnded?: boolean;
}
interface NodeResponse {
  writeHead(status: number, headers: Record<string, string>): unknown;
  end(text: string): unknown;
}
interface FastifyRequest {
  raw: NodeRequest;
  body?: unknown;
  rawBody?: Uint8Array | string;
}
interface FastifyReply {
  code(status: number): { header(name: string, value: string): { send(text: string): unknown } };
}
interface HonoContext {
  req: { raw: Request };
}

/** One function for all frameworks: its arguments show which one calls. */
export interface Handler {
  /** Next, Hono's `c.req.raw`, workers, Bun, Deno. */
  (request: Request): Promise<Response>;
  /** Hono. */
  (context: HonoContext): Promise<Response>;
  /** Node's `http`, Express. */
  (request: NodeRequest, response: NodeResponse, next?: unknown): Promise<void>;
  /** Fastify, with a parser that keeps the raw bytes of the body: `addContentTypeParser("application/json", { parseAs: "buffer" }, …)`. */
  (request: FastifyRequest, reply: FastifyReply): Promise<unknown>;
}

interface Outcome {
  status: number;
  text: string;
}

/**
 * Makes the handler of a webhook address. The handler answers 200 once `on` is done, 401 to a delivery that is not genuine, 413 to a body over the
 * limit, 500 when `on` throws, and 503 while another process handles the event.
 */
// oxlint-disable-next-line no-console -- where nobody listens, the errors are said where whoever runs the program looks
export function handler({ onError = console.error, ...options }: HandlerOptions): Handler {
  const receive = async (read: () => Bytes | Promise<Bytes>, headers: DeliveryHeaders): Promise<Outcome> => {
    try {
      const body = await read();
      if (body === "too large") return { status: 413, text: body };
      const { secrets, headerPrefix, store, sleep } = options;
      // Without a store nothing is claimed, and each event is there.
      const event = await unwrap(body.bytes, headers, secrets, { headerPrefix, store: store as EventStore, sleep });
      if (event === undefined) return { status: 200, text: "known" };
      await handle(event, options, onError);
      return { status: 200, text: "ok" };
    } catch (error) {
      try {
        await onError(error);
      } catch {
        // The delivery is answered all the same; there is nobody left to tell.
      }
      if (error instanceof WebhookError) return { status: 401, text: error.message };
      return error instanceof EventBusyError
        ? { status: 503, text: error.message }
        : { status: 500, text: "not handled" };
    }
  };
  const answer = async (
    first: Request | HonoContext | NodeRequest | FastifyRequest,
    second?: unknown,
  ): Promise<unknown> => {
    const request = first instanceof Request ? first : "req" in first && "raw" in first.req ? first.req.raw : undefined;
    if (request !== undefined) {
      const { status, text } = await receive(() => bytesOf(request.body ?? []), request.headers);
      return new Response(text, { status, headers });
    }
    if ("raw" in first) {
      const { raw, rawBody, body } = first;
      const { status, text } = await receive(() => given(rawBody ?? body), raw.headers);
      return (second as FastifyReply).code(status).header("content-type", headers["content-type"]).send(text);
    }
    const node = first as NodeRequest;
    const kept = node.rawBody ?? node.body;
    const isUnread = kept === undefined && node.readableEnded !== true;
    const { status, text } = await receive(() => (isUnread ? bytesOf(node) : given(kept)), node.headers);
    const response = second as NodeResponse;
    // The rest of a body that is too large is not read, so nothing else can come over its connection.
    response.writeHead(status, status === 413 ? { ...headers, connection: "close" } : headers);
    return response.end(text);
  };
  return answer as Handler;
}

/** Gives a claimed event to its listener and ends the claim. The claim is kept when the listener succeeded but `done` failed. */
async function handle(
  event: WebhookEvent,
  { on, store }: HandlerOptions,
  onError: (error: unknown) => unknown,
): Promise<void> {
  try {
    await listenerOf(on, event)?.(event);
  } catch (error) {
    try {
      await store?.release(event.id);
    } catch (another) {
      await onError(another); // the claim then expires
    }
    throw error;
  }
  await store?.done(event.id);
}

const headers = { "content-type": "text/plain; charset=utf-8" };

/** A body, or the fact that it exceeds BODY_BYTES_MAX. */
type Bytes = { bytes: Uint8Array | string } | "too large";

/** The body that a framework kept. Throws a TypeError for a parsed body: the bytes that were signed are lost. */
function given(body: unknown): Bytes {
  if (typeof body === "string" || body instanceof Uint8Array) return { bytes: body };
  throw new TypeError(
    "The body was parsed before the webhook handler got it. Mount the handler before the JSON parser (Express), or leave the body its bytes " +
      "(Express: express.raw; Fastify: a content type parser with parseAs: 'buffer').",
  );
}

function listenerOf(on: HandlerOptions["on"], event: WebhookEvent): ((event: WebhookEvent) => unknown) | undefined {
  if (typeof on === "function") return on;
  const own = Object.hasOwn(on, event.type) ? on[event.type] : on.other;
  return own as ((event: WebhookEvent) => unknown) | undefined;
}

async function bytesOf(source: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<Bytes> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of source) {
    size += part.byteLength;
    if (size > BODY_BYTES_MAX) return "too large";
    parts.push(part);
  }
  const bytes = new Uint8Array(size);
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.byteLength;
  }
  return { bytes };
}
