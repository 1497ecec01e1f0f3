// The operators' event stream notifies open wall pages of new figures, of acquirers that fail or recover, and of queue lengths. One poll serves all streams.
import { Readable } from "node:stream";
import { type Clock, type Micros, stopwatchMs } from "../ground/clock.ts";
import { Fault } from "../ground/fault.ts";
import type { Log } from "../ground/log.ts";
import type { Database } from "../store/database.ts";
import type { Lanes } from "../store/lanes.ts";
import { readCircuits, readPulse } from "../telemetry/vitals.ts";
import { readWaiting } from "./waiting.routes.ts";

/** Intervals and limits; tests use shorter ones. */
export const operatorStreamLimits = {
  pollMs: 1_000,
  /** Interval of reading the work queues, which takes about ten queries. */
  waitingMs: 3_000,
  /** Interval of comments on a quiet stream, since proxies close connections that are silent for longer. */
  heartbeatMs: 15_000,
  /** Interval of checking that the operators of open streams still have access. */
  permissionsMs: 2_000,
  /** A stream ends when its operator's access could not be checked for longer than this. */
  unknownMs: 10_000,
  perOperator: 16,
  inAll: 200,
  /** Bytes that a slow reader may leave unread before its stream is cut. */
  unreadBytes: 64 * 1024,
};
export type OperatorStreamLimits = typeof operatorStreamLimits;

export interface OperatorListenerOf {
  /** The name of the token or the person; limits are counted by it. */
  name: string;
  /** False once the operator may no longer read the stream. Throws when that cannot be checked. */
  mayStill: () => Promise<boolean>;
}

interface Open extends OperatorListenerOf {
  stream: Readable;
  heardAtMs: number;
  allowedAtMs: number;
}

export interface OperatorStreamParts {
  database: Database;
  lanes: Lanes;
  clock: Clock;
  log: Log;
  limits?: OperatorStreamLimits | undefined;
}

/** The state at the last poll; the next poll emits the differences. */
interface StreamState {
  sampledAt: Micros | undefined;
  processes: number;
  /** JSON of the `acquirer` event, by acquirer and method. */
  circuits: Map<string, string>;
  waiting: Map<string, string> | undefined;
}

export class OperatorStreams {
  private readonly parts: OperatorStreamParts;
  private readonly limits: OperatorStreamLimits;
  private readonly open = new Set<Open>();
  private seen: StreamState | undefined;
  private timer: NodeJS.Timeout | undefined;
  private turn: Promise<void> | undefined;
  private heldAtMs = 0;
  private countedAtMs = -Infinity;
  private stopped = false;

  constructor(parts: OperatorStreamParts) {
    this.parts = parts;
    this.limits = parts.limits ?? operatorStreamLimits;
  }

  get size(): number {
    return this.open.size;
  }

  /** Opens a stream. Throws RATE_LIMITED (this operator has too many) or SERVICE_UNAVAILABLE (too many in all, or the process stops). */
  async listen(listener: OperatorListenerOf): Promise<Readable> {
    if (this.stopped || this.open.size >= this.limits.inAll)
      throw new Fault("SERVICE_UNAVAILABLE", { retryAfterSeconds: 5 });
    const own = [...this.open].filter(({ name }) => name === listener.name).length;
    if (own >= this.limits.perOperator) {
      const message = `You have ${own} streams open. Close some of them.`;
      throw new Fault("RATE_LIMITED", { message, retryAfterSeconds: 30 });
    }
    const stream = new Readable({ read: () => undefined, highWaterMark: this.limits.unreadBytes });
    const now = stopwatchMs();
    const open: Open = { ...listener, stream, heardAtMs: now, allowedAtMs: now };
    this.open.add(open);
    stream.on("close", () => this.open.delete(open));
    try {
      // The stream emits every change after this point, so a client that reads the full state on `begin` misses nothing.
      if (!this.seen) await this.news();
    } catch (error) {
      stream.destroy();
      throw error;
    }
    this.write(open, "event: begin\ndata: {}\n\n");
    this.timer ??= setInterval(() => {
      this.turn ??= this.poll().finally(() => (this.turn = undefined));
    }, this.limits.pollMs);
    return stream;
  }

  /** Ends all streams, so that their clients connect to another process. */
  stop(): void {
    this.stopped = true;
    for (const open of this.open) this.end(open);
    clearInterval(this.timer);
    this.timer = undefined;
  }

  private async poll(): Promise<void> {
    if (this.open.size === 0) {
      clearInterval(this.timer);
      this.timer = undefined;
      this.seen = undefined;
      return;
    }
    if (stopwatchMs() - this.heldAtMs >= this.limits.permissionsMs) await this.checkPermissions();
    try {
      const news = await this.news();
      for (const open of this.open) this.write(open, news);
    } catch (error) {
      this.parts.log.debug({ err: error }, "the operators' stream could not look at what is new");
    }
    const now = stopwatchMs();
    for (const open of this.open) {
      if (now - open.heardAtMs >= this.limits.heartbeatMs) this.write(open, ": still here\n\n");
    }
  }

  /** Ends the streams of operators who lost their access. */
  private async checkPermissions(): Promise<void> {
    this.heldAtMs = stopwatchMs();
    await Promise.all(
      [...this.open].map(async (open) => {
        try {
          if (await open.mayStill()) open.allowedAtMs = stopwatchMs();
          else this.end(open);
        } catch (error) {
          this.parts.log.debug({ err: error }, "it could not be found out who may listen");
          if (stopwatchMs() - open.allowedAtMs > this.limits.unknownMs) this.end(open);
        }
      }),
    );
  }

  /** Reads the current state and gives the events for what changed since the last poll; an empty text on the first poll. */
  private async news(): Promise<string> {
    const { database } = this.parts;
    const [pulse, circuits] = await Promise.all([readPulse(database), readCircuits(database)]);
    const told = new Map(
      circuits.map(({ gateway_code, method, state, calls, failures }) => [
        `${gateway_code}/${method}`,
        JSON.stringify({ gateway_code, payment_method: method, state, calls, failures }),
      ]),
    );
    const before = this.seen;
    const waiting = await this.waiting(before?.waiting);
    this.seen = { ...pulse, circuits: told, waiting };
    if (!before) return "";
    const news = [...told]
      .filter(([name, data]) => before.circuits.get(name) !== data)
      .map(([, data]) => `event: acquirer\ndata: ${data}\n\n`);
    const counts = [...(waiting ?? [])].filter(([kind, data]) => (before.waiting?.get(kind) ?? data) !== data);
    news.push(...counts.map(([, data]) => `event: waiting\ndata: ${data}\n\n`));
    if (pulse.sampledAt !== before.sampledAt || pulse.processes !== before.processes)
      news.push(`event: sample\ndata: ${JSON.stringify({ processes: pulse.processes })}\n\n`);
    return news.join("");
  }

  private async waiting(before: StreamState["waiting"]): Promise<StreamState["waiting"]> {
    if (stopwatchMs() - this.countedAtMs < this.limits.waitingMs) return before;
    this.countedAtMs = stopwatchMs();
    const queues = await readWaiting(this.parts, undefined);
    return new Map(queues.map(({ kind, count, is_more }) => [kind, JSON.stringify({ kind, count, is_more })]));
  }

  private write(open: Open, text: string): void {
    const { stream } = open;
    if (text === "" || stream.destroyed) return;
    // The client reads too slowly, or not at all. It may connect again.
    if (stream.readableLength + text.length > this.limits.unreadBytes) {
      stream.destroy();
      return;
    }
    stream.push(text);
    open.heardAtMs = stopwatchMs();
  }

  /** Ends a stream in an orderly way; the client may connect again. */
  private end(open: Open): void {
    if (this.open.delete(open) && !open.stream.destroyed) open.stream.push(null);
  }
}
