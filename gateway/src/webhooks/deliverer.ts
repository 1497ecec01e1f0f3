// The deliverer: claims due deliveries in batches, sends them, and records how it went. Nothing is held during a call.
import { randomUUID } from "node:crypto";
import { type Clock, type Micros, SECOND } from "../ground/clock.ts";
import { idOf } from "../ground/ids.ts";
import type { Log } from "../ground/log.ts";
import type { Metrics } from "../ground/metrics.ts";
import {
  type AttemptRecord,
  type ClaimedRow,
  claimDeliveries,
  oldestDue,
  recordAttempts,
} from "../events/outbox.sql.ts";
import { type Outbox, attemptDelaysSeconds } from "../events/outbox.ts";
import { type Book, type Environment, bookKey, bookOfRow } from "../merchants/books.ts";
import type { Directory } from "../merchants/directory.ts";
import type { Database } from "../store/database.ts";
import { type AttemptResult, DELIVERY_TIMEOUT_MS, type Sender } from "./sender.ts";

/** Longer than one attempt can take: a lease that runs out means that its worker is gone. */
const LEASE_SECONDS = (DELIVERY_TIMEOUT_MS / 1000) * 3;
const POLL_MS = 500;
/** Deliveries on their way at the same time, in all and for one host. */
const IN_FLIGHT_MAX = 256;
const PER_HOST_MAX = 64;
const CLAIM_MAX = 128;

export interface DelivererParts {
  database: Database;
  directory: Directory;
  sender: Sender;
  outbox: Outbox;
  clock: Clock;
  metrics: Metrics;
  log: Log;
}

export class Deliverer {
  private readonly parts: DelivererParts;
  private readonly hosts = new Map<string, number>();
  /** Books in which something is known to be due. */
  private hinted = new Map<string, Book>();
  private inFlight = 0;
  private finished: AttemptRecord[] = [];
  private recording: Promise<void> | undefined;
  private claiming = false;
  private stopping = false;
  private timer: NodeJS.Timeout | undefined;

  constructor(parts: DelivererParts) {
    this.parts = parts;
  }

  start(): void {
    this.parts.outbox.onDeliverable((key) => this.hint(key));
    this.timer = setInterval(() => this.claimSoon(undefined), POLL_MS);
  }

  /** Lets what is on its way end and records it, within the time one attempt may take. */
  async stop(): Promise<void> {
    this.stopping = true;
    clearInterval(this.timer);
    for (let waited = 0; this.inFlight > 0 && waited < 80; waited++)
      await new Promise((resolve) => setTimeout(resolve, 50));
    await this.recording;
  }

  /** Says that a book may have something due; it is looked at now rather than at the next poll. */
  hint(key: string): void {
    const [merchantId, environment] = key.split("/") as [string, Environment];
    this.hinted.set(key, { merchantId, environment });
    if (this.hinted.size === 1) setImmediate(() => this.claimSoon(this.takeHints()));
  }

  private takeHints(): Book[] {
    const books = [...this.hinted.values()];
    this.hinted = new Map();
    return books;
  }

  private claimSoon(books: Book[] | undefined): void {
    if (this.stopping || books?.length === 0) return;
    if (this.claiming) {
      for (const book of books ?? []) this.hinted.set(bookKey(book), book);
      return;
    }
    this.claiming = true;
    this.claim(books)
      .catch((error: unknown) => this.parts.log.warn({ err: error }, "deliveries could not be claimed"))
      .finally(() => {
        this.claiming = false;
        if (this.hinted.size > 0) setImmediate(() => this.claimSoon(this.takeHints()));
      });
  }

  private async claim(books: Book[] | undefined): Promise<void> {
    const { database, clock, metrics } = this.parts;
    const room = Math.min(CLAIM_MAX, IN_FLIGHT_MAX - this.inFlight);
    if (room <= 0) return;
    const realNow = clock.now();
    const token = randomUUID();
    const rows = await database.query<ClaimedRow>(
      claimDeliveries({ books, realNow, leaseSeconds: LEASE_SECONDS, token, perBook: room, limit: room }),
    );
    if (!books) {
      const [oldest] = await database.query<{ seconds: number | null }>(oldestDue(realNow));
      metrics.deliveryOldestDueSeconds.set(Math.max(0, oldest?.seconds ?? 0));
    }
    for (const row of rows) {
      this.inFlight++;
      this.deliver(row, token)
        .catch((error: unknown) =>
          this.parts.log.error({ err: error }, "a delivery was not tried; its lease will run out"),
        )
        .finally(() => {
          this.inFlight--;
          // A book that filled its share may have more.
          if (rows.length >= room) this.hint(bookKey(bookOfRow(row)));
        });
    }
  }

  private async deliver(row: ClaimedRow, leaseToken: string): Promise<void> {
    const { directory, sender, clock, metrics } = this.parts;
    const book = bookOfRow(row);
    const merchant = await directory.merchant(book.merchantId);
    const eventId = idOf("event", row.event_id);
    const attempt = row.attempts + 1;
    const webhook = merchant?.webhooks[book.environment];
    const offset: Micros = Number(row.clock_offset_seconds) * SECOND;
    if (attempt === 1)
      metrics.deliveryLagSeconds.observe(Math.max(0, (clock.now() + offset - row.event_created_at) / SECOND));
    const release = await this.seat(new URL(row.url).host);
    let result: AttemptResult;
    try {
      result = webhook
        ? await sender.send({ url: row.url, key: webhook.key, eventId, type: row.type, body: row.body, attempt })
        : unsignable(clock.now());
    } finally {
      release();
    }
    metrics.deliveries.inc({ result: result.succeeded ? "delivered" : "failed" });
    this.record({
      book,
      eventId,
      attempt,
      leaseToken,
      ...result,
      requestHeaders: JSON.stringify(result.requestHeaders),
      responseHeaders: result.responseHeaders && JSON.stringify(result.responseHeaders),
      ...nextStep(result.succeeded, attempt, row.event_created_at, clock.now() + offset),
    });
  }

  /** A place among the few connections that one host may hold; a dead host keeps others waiting for nothing. */
  private async seat(host: string): Promise<() => void> {
    while ((this.hosts.get(host) ?? 0) >= PER_HOST_MAX) await new Promise((resolve) => setTimeout(resolve, 5));
    this.hosts.set(host, (this.hosts.get(host) ?? 0) + 1);
    return () => {
      const left = (this.hosts.get(host) ?? 1) - 1;
      if (left > 0) this.hosts.set(host, left);
      else this.hosts.delete(host);
    };
  }

  /** Attempts that end while a batch is being written go into the next one together. */
  private record(record: AttemptRecord): void {
    this.finished.push(record);
    this.recording ??= this.recordAll().finally(() => {
      this.recording = undefined;
    });
  }

  private async recordAll(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    while (this.finished.length > 0) {
      const batch = this.finished.splice(0, CLAIM_MAX);
      try {
        await this.parts.database.query(recordAttempts(batch));
      } catch (error) {
        // The leases run out and the deliveries are tried again with the same numbers: at least once, never lost.
        this.parts.log.warn({ err: error, attempts: batch.length }, "attempts could not be recorded");
      }
    }
  }
}

/**
 * What becomes of a delivery after an attempt: delivered, undelivered after the last, or due again by the schedule that
 * counts from the event. After a stop that slept through several due times the next one is taken, never all at once.
 */
export function nextStep(
  succeeded: boolean,
  attempt: number,
  eventCreatedAt: Micros,
  bookTime: Micros,
): { state: AttemptRecord["state"]; nextAttemptAt: Micros } {
  if (succeeded) return { state: "delivered", nextAttemptAt: bookTime };
  const delay = attemptDelaysSeconds[attempt];
  if (delay === undefined) return { state: "undelivered", nextAttemptAt: bookTime };
  const gap = delay - (attemptDelaysSeconds[attempt - 1] ?? 0);
  const planned = eventCreatedAt + delay * SECOND;
  // Late by more than the gap: keep the ladder's spacing instead of firing what was missed in one go.
  return { state: "pending", nextAttemptAt: planned > bookTime ? planned : bookTime + Math.min(gap, 30) * SECOND };
}

/** A delivery whose merchant has no signing secret any more (its registration was removed): nothing can be sent. */
function unsignable(now: Micros): AttemptResult {
  return {
    startedAt: now,
    durationMs: 0,
    succeeded: false,
    status: undefined,
    reason:
      "No webhook secret is registered for this environment, so the delivery cannot be signed. Register an address.",
    address: undefined,
    requestHeaders: {},
    responseHeaders: undefined,
    responseBody: undefined,
  };
}
