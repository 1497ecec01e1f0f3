// The receiver exam: sends a merchant's receiver what is right and what is wrong, and says how it took each. No event is made.
import { type Clock, type Micros, stopwatchMs } from "../ground/clock.ts";
import { Fault } from "../ground/fault.ts";
import type { Book } from "../merchants/books.ts";
import { secretsOf } from "../webhooks/deliverer.ts";
import type { AttemptResult, Sender } from "../webhooks/sender.ts";
import { type CheckName, checkNames, checks } from "./exam-checks.ts";
import type { Receiver } from "./receiver.ts";
import { sampleEvent } from "./samples.ts";

export interface CheckResult {
  name: CheckName;
  passed: boolean;
  /** The delivery that decided. */
  sent: { headers: Record<string, string>; body: string };
  /** `status` is null when no answer came; `reason` says in plain words why the check was not passed. */
  received: { status: number | null; duration_ms: number; reason: string | null };
  guide: string;
}

export interface Scorecard {
  passed: boolean;
  checks: CheckResult[];
}

/** Two deliveries, one after the other, each at its slowest. */
const EXAM_SECONDS_MAX = 20;

export class Examiner {
  private readonly sender: Sender;
  private readonly clock: Clock;
  /** Merchants whose receiver is being examined, and since when. */
  private readonly running = new Map<string, number>();
  private closed = false;

  /** The sender is the examiner's own: an exam takes no connection from real deliveries. */
  constructor(sender: Sender, clock: Clock) {
    this.sender = sender;
    this.clock = clock;
  }

  /** Runs every check at once. `now` is the book's time. Throws RATE_LIMITED while the merchant has another exam running. */
  async examine(book: Book, receiver: Receiver, now: Micros): Promise<Scorecard> {
    const since = this.running.get(book.merchantId);
    if (since !== undefined) throw busy(since);
    this.running.set(book.merchantId, stopwatchMs());
    try {
      const results = await Promise.all(checkNames.map((name) => this.check(name, book, receiver, now)));
      // What was cut off says nothing about the receiver.
      if (this.closed) throw new Fault("SERVICE_UNAVAILABLE");
      return { passed: results.every(({ passed }) => passed), checks: results };
    } finally {
      this.running.delete(book.merchantId);
    }
  }

  /** Cuts off what is on its way. */
  async close(): Promise<void> {
    this.closed = true;
    await this.sender.close();
  }

  private async check(name: CheckName, book: Book, receiver: Receiver, now: Micros): Promise<CheckResult> {
    const { type, change, times, isRight, expected, guide } = checks[name];
    const secrets = secretsOf(receiver, this.clock.now());
    const delivery = change({ url: receiver.url, secrets, attempt: 1, ...sampleEvent(type, book, now) }, now);
    let result = await this.sender.send(delivery);
    for (let sent = 1; sent < times && isRight(result); sent++) result = await this.sender.send(delivery);
    const passed = isRight(result);
    return {
      name,
      passed,
      sent: { headers: result.requestHeaders, body: delivery.body },
      received: {
        status: result.status ?? null,
        duration_ms: result.durationMs,
        reason: passed ? null : reasonOf(result, expected),
      },
      guide: `${guide.text} (docs/guides/webhooks.md#${guide.anchor})`,
    };
  }
}

function reasonOf({ status, reason }: AttemptResult, expected: string): string {
  if (status === undefined) return reason ?? "No answer came.";
  return `The receiver answered ${status}; expected ${expected}.`;
}

function busy(since: number): Fault {
  return new Fault("RATE_LIMITED", {
    message: "An exam of your receiver is running. Wait for the seconds in Retry-After.",
    retryAfterSeconds: Math.max(1, Math.ceil(EXAM_SECONDS_MAX - (stopwatchMs() - since) / 1000)),
  });
}
