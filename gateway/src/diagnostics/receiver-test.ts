// The receiver test: sends right and wrong deliveries to a merchant's receiver, and reports its answer to each. It makes no event.
import { type Clock, type Micros, SECOND, stopwatchMs } from "../ground/clock.ts";
import { Fault, assert } from "../ground/fault.ts";
import type { Book } from "../merchants/books.ts";
import { secretsOf } from "../webhooks/delivery-attempt.ts";
import type { AttemptResult, OutgoingDelivery, Sender } from "../webhooks/sender.ts";
import { deliveryTiming } from "../webhooks/timing.ts";
import { type Check, type CheckName, type Make, checkNames, checks } from "./receiver-checks.ts";
import type { CheckResult, Scorecard } from "./receiver-test.schema.ts";
import type { Receiver } from "../sandbox/receiver.ts";
import { sampleEvent } from "../sandbox/samples.ts";

/** Most rounds of a check. */
const ROUNDS_MAX = 2;

/** Limits of the shown part of each answer, because the scorecard is stored under its key whatever a receiver answers. */
const HEADERS_MAX = 20;
const HEADER_NAME_MAX = 60;
const HEADER_MAX = 150;
const BODY_MAX = 500;

export class Examiner {
  private readonly sender: Sender;
  private readonly clock: Clock;
  private readonly deadlineMs: number;
  /** Merchants with a running test, each with the stopwatch time of its start. */
  private readonly running = new Map<string, number>();
  private closed = false;

  /** `sender` must be used by tests alone, so that they take no connections from real deliveries. `deadlineMs` is the sender's. */
  constructor(sender: Sender, clock: Clock, deadlineMs = deliveryTiming.deadlineMs) {
    this.sender = sender;
    this.clock = clock;
    this.deadlineMs = deadlineMs;
  }

  /** Runs all checks in parallel. `now` is the book's time. Throws RATE_LIMITED during another test of the merchant. */
  async examine(book: Book, receiver: Receiver, now: Micros): Promise<Scorecard> {
    const since = this.running.get(book.merchantId);
    if (since !== undefined) throw this.busy(since);
    this.running.set(book.merchantId, stopwatchMs());
    try {
      const results = await Promise.all(checkNames.map((name) => this.check(name, book, receiver, now)));
      // Calls that `close` cut off say nothing about the receiver.
      if (this.closed) throw new Fault("SERVICE_UNAVAILABLE");
      return { passed: results.every(({ passed }) => passed), checks: results };
    } finally {
      this.running.delete(book.merchantId);
    }
  }

  /** Cuts off the calls in flight. */
  async close(): Promise<void> {
    this.closed = true;
    await this.sender.close();
  }

  private busy(since: number): Fault {
    const leftMs = ROUNDS_MAX * this.deadlineMs - (stopwatchMs() - since);
    return new Fault("RATE_LIMITED", {
      message: "An exam of your receiver is running. Wait for the seconds in Retry-After.",
      retryAfterSeconds: Math.max(1, Math.ceil(leftMs / 1000)),
    });
  }

  private async check(name: CheckName, book: Book, receiver: Receiver, now: Micros): Promise<CheckResult> {
    const { rounds, expected, guide, ...check }: Check = checks[name];
    const isRight = (result: AttemptResult): boolean => check.isRight(result, this.deadlineMs);
    const secrets = secretsOf(receiver, this.clock.now());
    const make: Make = (type, { secondsAgo = 0, about } = {}) => ({
      url: receiver.url,
      secrets,
      attempt: 1,
      ...sampleEvent(type, book, now - secondsAgo * SECOND, about),
    });
    let decided: { delivery: OutgoingDelivery; result: AttemptResult } | undefined;
    for (const round of rounds(make, now)) {
      const answers = round.map(async (delivery) => ({ delivery, result: await this.sender.send(delivery) }));
      const sent = await Promise.all(answers);
      const wrong = sent.find(({ result }) => !isRight(result));
      decided = wrong ?? sent[0];
      if (wrong) break;
    }
    assert(decided, "a check sends something");
    const { delivery, result } = decided;
    const passed = isRight(result);
    return {
      name,
      passed,
      sent: { headers: result.requestHeaders, body: delivery.body },
      received: answered(result, passed ? null : reasonOf(result, expected)),
      guide: `${guide.text} (/docs/webhooks#${guide.anchor})`,
    };
  }
}

function answered(
  { status, durationMs, responseHeaders, responseBody }: AttemptResult,
  reason: string | null,
): CheckResult["received"] {
  const headers = Object.entries(responseHeaders ?? {}).slice(0, HEADERS_MAX);
  return {
    status: status ?? null,
    duration_ms: durationMs,
    reason,
    headers: responseHeaders
      ? Object.fromEntries(headers.map(([name, value]) => [name.slice(0, HEADER_NAME_MAX), value.slice(0, HEADER_MAX)]))
      : null,
    // Bytes that are no UTF-8 become replacement characters. The history of real deliveries keeps answers exactly.
    body: responseBody ? responseBody.subarray(0, BODY_MAX).toString("utf8") : null,
  };
}

function reasonOf({ status, reason }: AttemptResult, expected: string): string {
  if (status === undefined) return reason ?? "No answer came.";
  return `The receiver answered ${status}; expected ${expected}.`;
}
