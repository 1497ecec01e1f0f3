// The HTTP server that the fakes of all providers share: it injects faults on demand, takes commands from tests and the exam, and sends
// notifications.
import { once } from "node:events";
import { type IncomingHttpHeaders, type Server, type ServerResponse, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { ExamControl, FaultName } from "../../gateway/src/providers/exam/control.ts";
import { Silence } from "../../gateway/test/silence.ts";

export type { FaultName };

export interface FakeControl extends ExamControl {
  /** The next requests meet this fault; with `method`, the next requests of that method, whatever comes between them. */
  fault(name: FaultName, times?: number, method?: string): void;
}

export interface FakeRequest {
  method: string;
  /** The path without its query. */
  path: string;
  query: URLSearchParams;
  /** Path and query, as they were sent. */
  target: string;
  headers: IncomingHttpHeaders;
  body: Buffer;
  /** The fault to inject into this request, for faults that the fake's handler produces itself. */
  fault: FaultName | undefined;
}

export interface FakeAnswer {
  status: number;
  headers?: Record<string, string>;
  /** Sent as JSON; a string is sent unchanged. */
  body: unknown;
}

/** A notification and the answer to it. */
interface Delivered {
  url: string;
  status: number;
  body: string;
}

/** A running fake, and its controls. */
export interface Fake {
  readonly url: string;
  readonly control: FakeControl;
  /** The newest deliveries of notifications, at most a thousand. */
  readonly deliveries: readonly Delivered[];
  close(): Promise<void>;
}

const BODY_MAX_BYTES = 1_000_000;
/** How long the calls of an exam may take: on every machine long enough for what is answered. What is not answered ends by its `Silence`. */
export const EXAM_DEADLINE_MS = 30_000;
const SLOW_MS = 5_000;
/** Delay of every answer, in milliseconds, for the benchmark. */
const DELAY_MS = Number(process.env.FAKE_DELAY_MS ?? 0);
const KEPT_MAX = 1_000;

/** By the address of each fake. */
const silences = new Map<string, Silence>();
/** What begins whenever the fake at `url` leaves a call without an answer. */
export const silenceOf = (url: string): Silence => silences.getOrInsertComputed(url, () => new Silence());

/** Answers one request. Anything that it throws is a bug in the fake, and is answered 599. */
type Handler = (request: FakeRequest) => FakeAnswer | Promise<FakeAnswer>;

export class FakeServer {
  readonly deliveries: Delivered[] = [];
  private readonly server: Server;
  private readonly faults: { name: FaultName; method: string | undefined }[] = [];
  private url = "";
  /** Notifications on their way, of which some are sent behind an answer. */
  private readonly underWay = new Set<Promise<Delivered>>();

  /** `spared`: selects requests that never get a fault, such as a request for a token. */
  constructor(handler: Handler, { spared = () => false }: { spared?: (request: FakeRequest) => boolean } = {}) {
    // Idle connections stay open for 65 s, as at the load balancers before real providers, so that clients can reuse them.
    this.server = createServer({ keepAliveTimeout: 65_000 }, (incoming, response) => {
      const parts: Buffer[] = [];
      let size = 0;
      incoming.on("data", (chunk: Buffer) => {
        size += chunk.length;
        if (size > BODY_MAX_BYTES) incoming.destroy();
        else parts.push(chunk);
      });
      incoming.on("end", () => {
        const target = incoming.url ?? "/";
        const { pathname, searchParams } = new URL(target, "http://fake");
        const request: FakeRequest = {
          method: incoming.method ?? "",
          path: pathname,
          query: searchParams,
          target,
          headers: incoming.headers,
          body: Buffer.concat(parts),
          fault: undefined,
        };
        if (!spared(request)) request.fault = this.nextFault(request.method);
        this.answer(handler, request, response).catch((error: unknown) =>
          send(response, { status: 599, body: String(error) }),
        );
      });
    });
  }

  async listen(port = 0): Promise<string> {
    this.server.listen(port, "127.0.0.1");
    await once(this.server, "listening");
    this.url = `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
    return this.url;
  }

  fault(name: FaultName, times = 1, method?: string): void {
    for (let time = 0; time < times && this.faults.length < KEPT_MAX; time++) this.faults.push({ name, method });
  }

  /** Takes the oldest fault that a request of this method may meet. */
  private nextFault(method: string): FaultName | undefined {
    const at = this.faults.findIndex((fault) => fault.method === undefined || fault.method === method);
    return at < 0 ? undefined : this.faults.splice(at, 1)[0]?.name;
  }

  /** Sends a notification and records the answer. Throws when the notification cannot be delivered. */
  notify(url: string, headers: Record<string, string>, body: string): Promise<Delivered> {
    const notifying = this.deliver(url, headers, body).finally(() => this.underWay.delete(notifying));
    this.underWay.add(notifying);
    return notifying;
  }

  private async deliver(url: string, headers: Record<string, string>, body: string): Promise<Delivered> {
    const answer = await fetch(url, {
      method: "POST",
      headers,
      body,
      redirect: "manual",
      signal: AbortSignal.timeout(5_000),
    });
    const delivered = { url, status: answer.status, body: await answer.text() };
    if (this.deliveries.length >= KEPT_MAX) this.deliveries.shift();
    this.deliveries.push(delivered);
    return delivered;
  }

  /** Ends once the notifications on their way have arrived: whoever listens for them may go then. */
  async close(): Promise<void> {
    await Promise.allSettled(this.underWay);
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, "close");
  }

  private async answer(handler: Handler, request: FakeRequest, response: ServerResponse): Promise<void> {
    if (DELAY_MS > 0 && !request.path.startsWith("/_fake/"))
      await new Promise((resolve) => setTimeout(resolve, DELAY_MS));
    switch (request.fault) {
      case "silent before effect":
        return silenceOf(this.url).begin();
      case "unavailable":
        return send(response, { status: 503, body: "" });
      case "html":
        return send(response, {
          status: 502,
          headers: { "content-type": "text/html" },
          body: "<html><body><h1>502 Bad Gateway</h1></body></html>",
        });
      case "redirect":
        return send(response, { status: 307, headers: { location: `${this.url}/elsewhere` }, body: "" });
      case "slow":
        await new Promise((resolve) => setTimeout(resolve, SLOW_MS));
        return send(response, await handler(request));
      case "silent after effect":
        await handler(request);
        return silenceOf(this.url).begin();
      case "500 after effect":
        await handler(request);
        return send(response, { status: 500, body: "" });
      case "half answer": {
        const { status, body } = await handler(request);
        const bytes = Buffer.from(typeof body === "string" ? body : JSON.stringify(body));
        response.writeHead(status, { "content-type": "application/json", "content-length": bytes.length });
        response.write(bytes.subarray(0, Math.floor(bytes.length / 2)), () => response.destroy());
        return;
      }
      case "huge answer":
        await handler(request);
        return send(response, { status: 200, body: JSON.stringify({ filling: "x".repeat(10_000_000) }) });
      case undefined:
      case "refuse":
      case "wrong amount":
      case "wrong currency":
      case "unknown status":
      case "key revoked":
        return send(response, await handler(request));
    }
  }
}

function send(response: ServerResponse, { status, headers = {}, body }: FakeAnswer): void {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  response.writeHead(status, { "content-type": "application/json", ...headers }).end(text);
}

/**
 * Lets other processes control a fake: `POST /_fake/pay` with `{"args":[…]}`. Gives undefined for every other path. Only fakes serve these
 * paths, and only on this machine.
 */
export async function controlled(
  control: FakeControl,
  { method, path, body }: FakeRequest,
): Promise<FakeAnswer | undefined> {
  const verb = /^\/_fake\/(\w+)$/.exec(path)?.[1];
  if (method !== "POST" || verb === undefined) return undefined;
  const work = Object.hasOwn(control, verb) ? control[verb as keyof FakeControl] : undefined;
  if (typeof work !== "function") return { status: 404, body: { error: `there is no ${verb}` } };
  const { args = [] } = JSON.parse(body.toString() || "{}") as { args?: unknown[] };
  const result: unknown = await (work as (...args: unknown[]) => unknown).apply(control, args);
  return { status: 200, body: { result: result ?? null } };
}
