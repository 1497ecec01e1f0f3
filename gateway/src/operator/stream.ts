// The operators' event stream notifies open wall pages of new figures, of acquirers that fail or recover, and of queue lengths. One poll serves all streams.
import type { Readable } from "node:stream";
import { type Clock, type Micros, stopwatchMs } from "../ground/clock.ts";
import { Fault } from "../ground/fault.ts";
import type { Log } from "../ground/log.ts";
import { EventStreams } from "../http/event-streams.ts";
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

interface OperatorListenerOf {
  /** The name of the token or the person; limits are counted by it. */
  name: string;
  /** False once the operator may no longer read the stream. Throws when that cannot be checked. */
  mayStill: () => Promise<boolean>;
}

interface Listening extends OperatorListenerOf {
  /** When the operator's access was known to be good. */
  allowedAtMs: number;
}

interface OperatorStreamParts {
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
  readonly open: EventStreams<Listening>;
  private seen: StreamState | undefined;
  private permissionsCheckedAtMs = 0;
  private countedAtMs = -Infinity;

  constructor(parts: OperatorStreamParts) {
    this.parts = parts;
    this.limits = parts.limits ?? operatorStreamLimits;
    this.open = new EventStreams({
      limits: this.limits,
      poll: () => this.poll(),
      reset: () => (this.seen = undefined),
    });
  }

  /** Opens a stream. Throws RATE_LIMITED (this operator has too many) or SERVICE_UNAVAILABLE (too many in all, or the process stops). */
  async listen(listener: OperatorListenerOf): Promise<Readable> {
    this.open.refuseTooMany();
    const own = [...this.open].filter((open) => open.listener.name === listener.name).length;
    if (own >= this.limits.perOperator) {
      const message = `You have ${own} streams open. Close some of them.`;
      throw new Fault("RATE_LIMITED", { message, retryAfterSeconds: 30 });
    }
    const open = this.open.open({ ...listener, allowedAtMs: stopwatchMs() });
    try {
      // The stream emits every change after this point, so a client that reads the full state on `begin` misses nothing.
      if (!this.seen) await this.news();
    } catch (error) {
      open.readable.destroy();
      throw error;
    }
    open.begin("event: begin\ndata: {}\n\n");
    return open.readable;
  }

  private async poll(): Promise<void> {
    if (stopwatchMs() - this.permissionsCheckedAtMs >= this.limits.permissionsMs) await this.checkPermissions();
    try {
      const news = await this.news();
      for (const open of this.open) open.write(news);
    } catch (error) {
      this.parts.log.debug({ err: error }, "the operators' stream could not look at what is new");
    }
  }

  /** Ends the streams of operators who lost their access. */
  private async checkPermissions(): Promise<void> {
    this.permissionsCheckedAtMs = stopwatchMs();
    await Promise.all(
      [...this.open].map(async (open) => {
        try {
          if (await open.listener.mayStill()) open.listener.allowedAtMs = stopwatchMs();
          else this.open.end(open);
        } catch (error) {
          this.parts.log.debug({ err: error }, "it could not be found out who may listen");
          if (stopwatchMs() - open.listener.allowedAtMs > this.limits.unknownMs) this.open.end(open);
        }
      }),
    );
  }

  /** Reads the current state and gives the events for what changed since the last poll; an empty text on the first poll. */
  private async news(): Promise<string> {
    const { database } = this.parts;
    const [pulse, circuits] = await Promise.all([readPulse(database), readCircuits(database)]);
    const states = new Map(
      circuits.map(({ gateway_code, method, state, calls, failures }) => [
        `${gateway_code}/${method}`,
        JSON.stringify({ gateway_code, payment_method: method, state, calls, failures }),
      ]),
    );
    const before = this.seen;
    const waiting = await this.waiting(before?.waiting);
    this.seen = { ...pulse, circuits: states, waiting };
    if (!before) return "";
    const news = [...states]
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
}
