// One attempt to deliver: signed, sent and handed to the recorder, with what becomes of the delivery after it.
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

/** Between two attempts that are both overdue. */
const CATCH_UP_SECONDS = 30;
const SCHEDULED_MAX = attemptOffsetsSeconds.length;

export interface AttemptParts {
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
  /** Books whose deliveries were accepted while they carried the signature of the secret before. */
  private acceptedWithBoth = new Map<string, { book: Book; at: Micros }>();
  private cutOff = false;

  constructor(parts: AttemptParts) {
    this.parts = parts;
  }

  /** From now on a call that fails was ended by this process, not by the receiver: such an attempt does not count. */
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
   * Tries once. Gives the host's health after it (undefined when it was not called), that the attempt does not count, or that the delivery
   * belongs to another address by now and was not tried.
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

/** What signs a delivery made now. */
export function secretsOf(
  { key, standardKey, previous }: Webhook,
  realNow: Micros,
): [WebhookSecret, ...WebhookSecret[]] {
  const current = { key, standardKey };
  return previous !== undefined && realNow < previous.until ? [current, previous] : [current];
}

/** A host's health after a call: decided by how long it held the call, then by whether it answered. */
function healthAfter({ requestHeaders, heldMs, status }: AttemptResult): HostHealth | undefined {
  if (Object.keys(requestHeaders).length === 0) return undefined;
  if (heldMs < QUICK_MS) return "healthy";
  return status === undefined ? "failing" : "slow";
}

/**
 * What becomes of a delivery after an attempt: delivered, undelivered after the last, or due again by the schedule that
 * counts from the event. `attempt` counts the attempts of the schedule, not those by hand. After a stop that slept through
 * several due times the next one is taken, never all at once.
 */
export function nextStep(
  succeeded: boolean,
  attempt: number,
  eventCreatedAt: Micros,
  bookTime: Micros,
  resendOf?: "delivered" | "undelivered",
): { state: AttemptRecord["state"]; nextAttemptAt: Micros } {
  if (succeeded) return { state: "delivered", nextAttemptAt: bookTime };
  // One attempt by hand: when it fails, the delivery has the state that it had before.
  if (resendOf !== undefined) return { state: resendOf, nextAttemptAt: bookTime };
  const delay = attemptOffsetsSeconds[attempt];
  if (delay === undefined) return { state: "undelivered", nextAttemptAt: bookTime };
  const planned = eventCreatedAt + delay * SECOND;
  // Its time has passed already: soon, but not at once, so that missed attempts are never made together.
  return { state: "pending", nextAttemptAt: planned > bookTime ? planned : bookTime + CATCH_UP_SECONDS * SECOND };
}

/** A delivery whose merchant has no signing secret any more (its registration was removed): nothing can be sent. */
function unsignable(now: Micros): AttemptResult {
  return unsent(
    now,
    "No webhook secret is registered for this environment, so the delivery cannot be signed. Register an address.",
  );
}
