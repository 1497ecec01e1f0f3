// Streams of server-sent events: the open ones, the timer that polls for all of them, comments on quiet streams, and the end of slow readers. What is
// sent, and to whom, is decided by the rooms that open them.
import { Readable } from "node:stream";
import { stopwatchMs } from "../ground/clock.ts";
import { Fault } from "../ground/fault.ts";

export interface EventStreamLimits {
  pollMs: number;
  /** Time without an event after which a comment is sent, because proxies close connections that are silent for long. */
  heartbeatMs: number;
  /** Open streams in this process. */
  inAll: number;
  /** Unread bytes beyond which a slow reader is disconnected. It may connect again. */
  unreadBytes: number;
}

export class EventStream<Listener> {
  listener: Listener;
  readonly readable: Readable;
  readonly openedAtMs = stopwatchMs();
  private wroteAtMs = this.openedAtMs;
  /** What was written before `begin`, and follows it. Undefined from then on. */
  private early: string | undefined = "";
  private isEnded = false;
  private readonly limits: EventStreamLimits;

  constructor(listener: Listener, limits: EventStreamLimits) {
    this.listener = listener;
    this.limits = limits;
    this.readable = new Readable({ read: () => undefined, highWaterMark: limits.unreadBytes });
  }

  /** Sends the first text. What is written earlier waits for it, because a stream hears of news while its first text is still being looked up. */
  begin(text: string): void {
    const early = this.early ?? "";
    this.early = undefined;
    this.write(text + early);
  }

  write(text: string): void {
    if (text === "" || this.isEnded || this.readable.destroyed) return;
    this.wroteAtMs = stopwatchMs();
    const unread = this.readable.readableLength + Buffer.byteLength(this.early ?? "");
    if (unread + Buffer.byteLength(text) > this.limits.unreadBytes) this.readable.destroy();
    else if (this.early === undefined) this.readable.push(text);
    else this.early += text;
  }

  /** Sends a comment when nothing was sent for `heartbeatMs`. */
  keepAlive(): void {
    if (stopwatchMs() - this.wroteAtMs >= this.limits.heartbeatMs) this.write(": still here\n\n");
  }

  /** Ends the stream in an orderly way; its reader may connect again. What is written later, by a poll or a look-up under way, goes nowhere. */
  end(): void {
    this.isEnded = true;
    if (!this.readable.destroyed) this.readable.push(null);
  }
}

interface EventStreamParts {
  limits: EventStreamLimits;
  /** Writes what is new. Called every `pollMs` while streams are open, never twice at once. Must not reject. */
  poll: () => Promise<void>;
  /** Forgets the position of the polls. Called once no stream is open any more. */
  reset?: () => void;
}

export class EventStreams<Listener> implements Iterable<EventStream<Listener>> {
  private readonly parts: EventStreamParts;
  private readonly streams = new Set<EventStream<Listener>>();
  private timer: NodeJS.Timeout | undefined;
  private turn: Promise<void> | undefined;
  private stopped = false;

  constructor(parts: EventStreamParts) {
    this.parts = parts;
  }

  get size(): number {
    return this.streams.size;
  }

  [Symbol.iterator](): IterableIterator<EventStream<Listener>> {
    return this.streams.values();
  }

  /** Throws SERVICE_UNAVAILABLE when there are too many streams, or the process stops. */
  refuseTooMany(): void {
    if (this.stopped || this.size >= this.parts.limits.inAll)
      throw new Fault("SERVICE_UNAVAILABLE", { retryAfterSeconds: 5 });
  }

  /** Opens a stream. Throws SERVICE_UNAVAILABLE. */
  open(listener: Listener): EventStream<Listener> {
    this.refuseTooMany();
    const stream = new EventStream(listener, this.parts.limits);
    this.streams.add(stream);
    stream.readable.on("close", () => this.streams.delete(stream));
    this.timer ??= setInterval(() => {
      this.turn ??= this.poll().finally(() => (this.turn = undefined));
    }, this.parts.limits.pollMs);
    return stream;
  }

  /** Ends a stream, and counts it no longer. */
  end(stream: EventStream<Listener>): void {
    if (this.streams.delete(stream)) stream.end();
  }

  /** Ends all streams, so that their readers connect to another process. */
  stop(): void {
    this.stopped = true;
    for (const stream of this.streams) this.end(stream);
    this.stopTimer();
  }

  private async poll(): Promise<void> {
    if (this.size === 0) {
      this.stopTimer();
      this.parts.reset?.();
      return;
    }
    await this.parts.poll();
    for (const stream of this.streams) stream.keepAlive();
  }

  private stopTimer(): void {
    clearInterval(this.timer);
    this.timer = undefined;
  }
}
