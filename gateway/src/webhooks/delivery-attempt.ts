// Makes one attempt to deliver: signs and sends the delivery, decides its next state, and hands both to the attempt recorder.
import type { ClaimedRow } from "../events/claim.sql.ts";
import { ATTEMPTS_KEPT_MAX, attemptOffsetsSeconds } from "../events/event.ts";
import type { AttemptRecord } from "../events/outbox.sql.ts";
import { type Clock, type Micros, SECOND } from "../ground/clock.ts";
import { idOf } from "../ground/ids.ts";
import type { Metrics } from "../ground/metrics.ts";
import { type Tracing, noTracing } from "../ground/tracing.ts";
import { type Book, bookKey, bookOfRow } from "../merchants/books.ts";
import type { Directory, Webhook, WebhookSecret } from "../merchants/directory.ts";
import type { AttemptRecorder } from "./attempt-recorder.ts";
import { type HostHealth, QUICK_MS } from "./concurrency-limiter.ts";
import type { LeasedDelivery } from "./delivery-buffer.ts";
import { type FaultInjection, sendWithFaults } from "./fault-injection.ts";
import { type AttemptResult, type Sender, unsent } from "./sender.ts";

/** Time between two attempts that are both overdue. */
const CATCH_UP_SECONDS = 30;
const SCHEDULED_MAX = attemptOffsetsSeconds.length;

interface AttemptParts {
  directory: Directory;
  sender: Sender;
  faults: FaultInjection;
  recorder: AttemptRecorder;
  clock: Clock;
  metrics: Metrics;
  tracing?: Tracing | undefined;
}

export class DeliveryAttempts {
  private readonly parts: AttemptParts;
  /** Books whose receivers accepted a delivery that also carried the signature of the previous secret. */
  private acceptedWithBoth = new Map<string, { book: Book; at: Micros }>();
  private cutOff = false;

  constructor(parts: AttemptParts) {
    this.parts = parts;
  }

  /** At shutdown: from now on this process cuts calls off, so a failure says nothing about the receiver and is not counted. */
  expectCutOff(): void {
    this.cutOff = true;
  }

  /** Books whose receivers accepted a delivery with both signatures since the last call, and when. */
  takeAcceptedWithBoth(): { book: Book; at: Micros }[] {
    const marks = [...this.acceptedWithBoth.values()];
    this.acceptedWithBoth = new Map();
    return marks;
  }

  /**
   * Makes one attempt. Gives the host's health afterwards (undefined when the host was not called), "not counted" when this process cut
   * the call off, or "readdressed" when another address is registered by now and nothing was sent.
   */
  async make({
    row,
    token: leaseToken,
  }: LeasedDelivery<ClaimedRow>): Promise<HostHealth | undefined | "not counted" | "readdressed"> {
    const { directory, sender, faults, recorder, clock, metrics, tracing = noTracing } = this.parts;
    const book = bookOfRow(row);
    const merchant = await directory.merchant(book.merchantId);
    const eventId = idOf("event", row.event_id);
    const attempt = row.attempts + 1;
    const webhook = merchant?.webhooks[book.environment];
    if (!row.own_url && webhook?.url !== undefined && webhook.url !== row.url) return "readdressed";
    const offset: Micros = Number(row.clock_offset_seconds) * SECOND;
    if (attempt === 1) {
      metrics.deliveryLagSeconds.observe(Math.max(0, (clock.now() + offset - row.event_created_at) / SECOND));
    }
    const secrets = webhook && secretsOf(webhook, clock.now());
    const { url, type, body } = row;
    const span = tracing.begin("webhook attempt", {
      kind: "client",
      parent: tracing.remembered(eventId),
      attributes: { "gerbang.event_id": eventId, "gerbang.event_type": type, "gerbang.attempt": attempt },
    });
    const result = secrets
      ? await sendWithFaults(sender, faults, book, { book, url, secrets, eventId, type, body, attempt })
      : unsignable(clock.now());
    span?.set({ "http.response.status_code": result.status });
    span?.end(result.succeeded ? undefined : String(result.status ?? "no answer"));
    if (this.cutOff && !result.succeeded) return "not counted";
    metrics.deliveries.inc({ result: result.succeeded ? "delivered" : "failed" });
    // Attempts made by hand do not count. At the most attempts that are kept, the schedule is over.
    const scheduled = attempt >= ATTEMPTS_KEPT_MAX ? SCHEDULED_MAX : attempt - row.by_hand;
    const bookTime = clock.now() + offset;
    recorder.record({
      book,
      eventId,
      attempt,
      leaseToken,
      ...result,
      requestHeaders: JSON.stringify(result.requestHeaders),
      responseHeaders: result.responseHeaders && JSON.stringify(result.responseHeaders),
      ...nextStep(result.succeeded, scheduled, row.event_created_at, bookTime, row.resend_of ?? undefined),
    });
    if (result.succeeded && (secrets?.length ?? 0) > 1)
      this.acceptedWithBoth.set(bookKey(book), { book, at: clock.now() });
    return healthAfter(result);
  }
}

/** The secrets that sign a delivery at `realNow`: the current one, and during the overlap of a rotation the previous one. */
export function secretsOf(
  { key, standardKey, previous }: Webhook,
  realNow: Micros,
): [WebhookSecret, ...WebhookSecret[]] {
  const current = { key, standardKey };
  return previous !== undefined && realNow < previous.until ? [current, previous] : [current];
}

/** A host's health after a call: a quick end is healthy whatever the answer; a slow end is slow or, without an answer, failing. */
function healthAfter({ requestHeaders, heldMs, status }: AttemptResult): HostHealth | undefined {
  if (Object.keys(requestHeaders).length === 0) return undefined;
  if (heldMs < QUICK_MS) return "healthy";
  return status === undefined ? "failing" : "slow";
}

/**
 * The state of a delivery after an attempt (interface 6.4): delivered, undelivered after the last attempt, or pending until the next due
 * time of the schedule, which counts from the event. `attempt` counts the attempts of the schedule, not resends.
 */
export function nextStep(
  succeeded: boolean,
  attempt: number,
  eventCreatedAt: Micros,
  bookTime: Micros,
  resendOf?: "delivered" | "undelivered",
): { state: AttemptRecord["state"]; nextAttemptAt: Micros } {
  if (succeeded) return { state: "delivered", nextAttemptAt: bookTime };
  // A resend is one extra attempt: when it fails, the delivery returns to the state that it had before.
  if (resendOf !== undefined) return { state: resendOf, nextAttemptAt: bookTime };
  const delay = attemptOffsetsSeconds[attempt];
  if (delay === undefined) return { state: "undelivered", nextAttemptAt: bookTime };
  const planned = eventCreatedAt + delay * SECOND;
  // Where the due time has passed, as after an outage, the retry waits, so that missed attempts are not made together.
  return { state: "pending", nextAttemptAt: planned > bookTime ? planned : bookTime + CATCH_UP_SECONDS * SECOND };
}

/** The result for a delivery whose merchant has no signing secret, because the registration was removed: nothing can be sent. */
function unsignable(now: Micros): AttemptResult {
  return unsent(
    now,
    "No webhook secret is registered for this environment, so the delivery cannot be signed. Register an address.",
  );
}
