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
  parkDeliveries,
  recordAttempts,
} from "../events/outbox.sql.ts";
import { attemptDelaysSeconds } from "../events/event.ts";
import type { Outbox } from "../events/outbox.ts";
import { type Book, type Environment, bookKey, bookOfRow } from "../merchants/books.ts";
import type { Directory } from "../merchants/directory.ts";
import { type Database, isConnectionLoss } from "../store/database.ts";
import { type AttemptResult, CONNECTIONS_PER_HOST, DELIVERY_TIMEOUT_MS, type Sender } from "./sender.ts";

/** Longer than one attempt can take: a lease that runs out means that its worker is gone. */
const LEASE_SECONDS = (DELIVERY_TIMEOUT_MS / 1000) * 3;
/** For how long a delivery is set aside whose host has no free seat. */
const PARK_SECONDS = 1;
/** Between two attempts that are both overdue. */
const CATCH_UP_SECONDS = 30;
const POLL_MS = 500;
/** Deliveries on their way at the same time. */
const IN_FLIGHT_MAX = 256;
const BATCH_MAX = 128;
/** How long a stop waits for what is on its way. */
const STOP_MS = 6_500;
const RECORD_TRIES = 20;

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
  /** Seats taken at each host, and the addresses they are taken for. */
  private readonly seats = new Map<string, { taken: number; urls: Set<string>; waiting: Map<string, Book> }>();
  /** Books in which something is known to be due. */
  private hinted = new Map<string, Book>();
  private inFlight = 0;
  private finished: AttemptRecord[] = [];
  private recording: Promise<void> | undefined;
  private claiming = false;
  private stopping = false;
  private cutOff = false;
  /** Deliveries whose call was cut off: given back, so that the next start does not wait for their leases. */
  private readonly unsent: { row: ClaimedRow; token: string }[] = [];
  private timer: NodeJS.Timeout | undefined;

  constructor(parts: DelivererParts) {
    this.parts = parts;
  }

  start(): void {
    this.parts.outbox.onDeliverable((key) => this.hint(key));
    this.timer = setInterval(() => this.claimSoon(undefined), POLL_MS);
  }

  /** Lets what is on its way end and records it. What does not end in time is cut off and counts as not tried. */
  async stop(): Promise<void> {
    this.stopping = true;
    clearInterval(this.timer);
    for (let waited = 0; this.inFlight > 0 && waited < STOP_MS; waited += 20) await pause(20);
    this.cutOff = true;
    await this.parts.sender.close();
    while (this.inFlight > 0) await pause(5); // the calls that were cut off say so at once
    while (this.recording) await this.recording;
    for (const [token, rows] of Map.groupBy(this.unsent, (cut) => cut.token)) {
      await this.parts.database.query(
        parkDeliveries(
          rows.map(({ row }) => row),
          token,
          this.parts.clock.now(),
        ),
      );
    }
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
    const room = Math.min(BATCH_MAX, IN_FLIGHT_MAX - this.inFlight);
    if (room <= 0) return;
    const realNow = clock.now();
    const token = randomUUID();
    const fullUrls = [...this.seats.values()].filter(isFull).flatMap(({ urls }) => [...urls]);
    const rows = await database.query<ClaimedRow>(
      claimDeliveries({ books, realNow, leaseSeconds: LEASE_SECONDS, token, perBook: room, limit: room, fullUrls }),
    );
    if (!books) {
      const [oldest] = await database.query<{ seconds: number | null }>(oldestDue(realNow));
      metrics.deliveryOldestDueSeconds.set(Math.max(0, oldest?.seconds ?? 0));
    }
    const parked: ClaimedRow[] = [];
    for (const row of rows) {
      if (this.sit(row)) this.send(row, token);
      else parked.push(row);
    }
    if (parked.length > 0) await database.query(parkDeliveries(parked, token, realNow + PARK_SECONDS * SECOND));
    // A claim that was full may have left more behind.
    if (rows.length >= room) for (const row of rows) this.hint(bookKey(bookOfRow(row)));
  }

  /** Takes one of the few seats at the row's host. A host that is slow or dead fills its own and nobody else's. */
  private sit(row: ClaimedRow): boolean {
    const { host } = new URL(row.url);
    let seat = this.seats.get(host);
    if (!seat) this.seats.set(host, (seat = { taken: 0, urls: new Set(), waiting: new Map() }));
    if (isFull(seat)) {
      const book = bookOfRow(row);
      seat.waiting.set(bookKey(book), book);
      return false;
    }
    seat.taken++;
    seat.urls.add(row.url);
    return true;
  }

  private rise(row: ClaimedRow): void {
    const { host } = new URL(row.url);
    const seat = this.seats.get(host);
    if (!seat) return;
    seat.taken--;
    for (const key of seat.waiting.keys()) this.hint(key);
    seat.waiting.clear();
    if (seat.taken === 0) this.seats.delete(host);
  }

  private send(row: ClaimedRow, token: string): void {
    this.inFlight++;
    this.deliver(row, token)
      .catch((error: unknown) =>
        this.parts.log.error({ err: error }, "a delivery was not tried; its lease will run out"),
      )
      .finally(() => {
        this.inFlight--;
        this.rise(row);
      });
  }

  private async deliver(row: ClaimedRow, leaseToken: string): Promise<void> {
    const { directory, sender, clock, metrics } = this.parts;
    const book = bookOfRow(row);
    const merchant = await directory.merchant(book.merchantId);
    const eventId = idOf("event", row.event_id);
    const attempt = row.attempts + 1;
    const webhook = merchant?.webhooks[book.environment];
    const offset: Micros = Number(row.clock_offset_seconds) * SECOND;
    if (attempt === 1) {
      metrics.deliveryLagSeconds.observe(Math.max(0, (clock.now() + offset - row.event_created_at) / SECOND));
    }
    const result = webhook
      ? await sender.send({ url: row.url, key: webhook.key, eventId, type: row.type, body: row.body, attempt })
      : unsignable(clock.now());
    if (this.cutOff && !result.succeeded) {
      this.unsent.push({ row, token: leaseToken }); // we hung up, not the receiver: the try does not count
      return;
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

  /** Attempts that end while a batch is being written go into the next one together. */
  private record(record: AttemptRecord): void {
    this.finished.push(record);
    this.recording ??= this.recordAll().finally(() => {
      this.recording = undefined;
    });
  }

  private async recordAll(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    while (this.finished.length > 0) await this.recordBatch(this.finished.splice(0, BATCH_MAX));
  }

  /** Waits for a database that is away; a record that the database refuses costs the others nothing. */
  private async recordBatch(batch: AttemptRecord[]): Promise<void> {
    const { database, log } = this.parts;
    for (let tries = 1; ; tries++) {
      try {
        await database.query(recordAttempts(batch));
        return;
      } catch (error) {
        if (isConnectionLoss(error) && tries < RECORD_TRIES && !this.cutOff) {
          await pause(500);
          continue;
        }
        if (!isConnectionLoss(error) && batch.length > 1) {
          for (const record of batch) await this.recordBatch([record]);
          return;
        }
        // The lease runs out and the delivery is tried again with the same number: at least once, never lost.
        log.warn({ err: error, attempts: batch.length }, "attempts could not be recorded");
        return;
      }
    }
  }
}

function isFull({ taken }: { taken: number }): boolean {
  return taken >= CONNECTIONS_PER_HOST;
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
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
  const planned = eventCreatedAt + delay * SECOND;
  // Its time has passed already: soon, but not at once, so that what was missed never fires in one go.
  return { state: "pending", nextAttemptAt: planned > bookTime ? planned : bookTime + CATCH_UP_SECONDS * SECOND };
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
