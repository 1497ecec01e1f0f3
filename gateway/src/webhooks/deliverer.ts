// The deliverer: claims due deliveries in batches, sends them, and records how it went. Nothing is held during a call.
import { randomUUID } from "node:crypto";
import { type Clock, type Micros, SECOND, stopwatchMs } from "../ground/clock.ts";
import { idOf } from "../ground/ids.ts";
import type { Log } from "../ground/log.ts";
import type { Metrics } from "../ground/metrics.ts";
import { type ClaimedRow, claimDeliveries, merchantOf, queueKey } from "../events/claim.sql.ts";
import { type AttemptRecord, oldestDue, parkDeliveries } from "../events/outbox.sql.ts";
import { ATTEMPTS_MAX, attemptDelaysSeconds } from "../events/event.ts";
import type { Outbox } from "../events/outbox.ts";
import { type Book, type Environment, bookKey, bookOfRow } from "../merchants/books.ts";
import type { Directory, Webhook, WebhookSecret } from "../merchants/directory.ts";
import type { Database } from "../store/database.ts";
import { type Misbehaviours, misbehavingSend } from "./fault-injection.ts";
import { Anteroom, type Waiting } from "./delivery-buffer.ts";
import { Newborns } from "./local-dispatcher.ts";
import { Recorder } from "./attempt-recorder.ts";
import { type Passenger, QUICK_MS, type Seat, Seats, type Standing } from "./concurrency-limiter.ts";
import type { AttemptResult, Sender } from "./sender.ts";

/** Longer than the wait for a seat and one attempt, misbehaving, can take: one that runs out means that its worker is gone. */
const LEASE_SECONDS = 45;
/** For how long a delivery is set aside that found no free seat. */
const PARK_SECONDS = 1;
/** As many of one book are claimed at least, when there are several to look at. */
const BOOK_MIN = 16;
/** How long a claimed delivery waits for a seat before it is given back, well within its lease. */
const PATIENCE_SECONDS = 10;
/** Between two attempts that are both overdue. */
const CATCH_UP_SECONDS = 30;
const POLL_MS = 500;
const LADDER = attemptDelaysSeconds.length;
const BATCH_MAX = 128;
/** How long a stop waits for what is on its way. */
const STOP_MS = 6_500;
/** As many are claimed of a host that nothing is on the way to: about what a new one has room for. */
const ROOM_ELSEWHERE = 20;
/** How often it is measured what waits longest. Apart from the claims: nobody's delivery waits for a figure. */
const OLDEST_MS = 2_000;

export interface DelivererParts {
  database: Database;
  directory: Directory;
  sender: Sender;
  misbehaviours: Misbehaviours;
  outbox: Outbox;
  clock: Clock;
  metrics: Metrics;
  log: Log;
}

export class Deliverer {
  private readonly parts: DelivererParts;
  private readonly seats = new Seats();
  private readonly anteroom = new Anteroom<ClaimedRow>();
  /** Books that may have more due than was claimed: looked at again when there is room. */
  private unfinished = new Map<string, Book>();
  /** Books in which something is known to be due. */
  private hinted = new Map<string, Book>();
  /** Books whose deliveries were accepted while they carried the signature of the secret before. */
  private previousNeeded = new Map<string, { book: Book; at: Micros }>();
  /** What a merchant owes to a host that had no place for it, until when by the stopwatch: nothing more of it is claimed. */
  private readonly turnedAway = new Map<string, number>();
  private readonly newborns: Newborns;
  private readonly recorder: Recorder;
  private claiming: Promise<void> | undefined;
  /** A poll came while a claim was under way, and is made up for before anything else. */
  private pollDue = false;
  private stopping = false;
  private cutOff = false;
  private ended = false;
  /** Deliveries that waited too long for a seat, and those whose call was cut off: given back, so that the next start does not wait for their leases. */
  private readonly late: { row: ClaimedRow; token: string }[] = [];
  private readonly unsent: { row: ClaimedRow; token: string }[] = [];
  private timers: NodeJS.Timeout[] = [];
  private measuring: Promise<void> | undefined;

  constructor(parts: DelivererParts) {
    this.parts = parts;
    this.recorder = new Recorder(parts.database, parts.log);
    this.newborns = new Newborns({
      clock: parts.clock,
      leaseSeconds: LEASE_SECONDS,
      isOpen: (host) => this.standingOf(host) === "proven" && this.anteroom.isOpen(host, "proven"),
      isFull: (host, merchantUuid) => this.standingOf(host) !== "proven" && this.roomFor(host, merchantUuid) === 0,
      enter: (waiting) => this.enter(waiting),
      turnAway: (waiting) => this.turnBack(waiting),
    });
  }

  start(): void {
    this.parts.outbox.onDeliverable((key) => this.hint(key));
    this.parts.outbox.setCourier(this.newborns);
    this.timers = [
      setInterval(() => this.claimSoon(undefined), POLL_MS),
      setInterval(() => {
        this.measuring ??= this.measure();
      }, OLDEST_MS),
    ];
  }

  /** Lets what is on its way end and records it. What does not end in time is cut off and counts as not tried. */
  async stop(): Promise<void> {
    this.stopping = true;
    this.unsent.push(...this.newborns.close());
    for (const timer of this.timers) clearInterval(timer);
    await this.claiming;
    await this.measuring;
    this.unsent.push(...this.anteroom.takeOut());
    for (let waited = 0; this.seats.onTheWay > 0 && waited < STOP_MS; waited += 20) await pause(20);
    this.cutOff = true;
    await this.parts.sender.close();
    while (this.seats.onTheWay > 0) await pause(5); // the calls that were cut off say so at once
    await this.recorder.stop();
    this.ended = true;
    try {
      await this.giveBack([...this.unsent, ...this.late.splice(0)]);
    } catch (error) {
      this.parts.log.warn({ err: error }, "deliveries could not be given back; their leases will run out");
    }
  }

  /** Ends leases of deliveries that are not tried now. */
  private async giveBack(given: readonly { row: ClaimedRow; token: string }[]): Promise<void> {
    for (const [token, cut] of Map.groupBy(given, (one) => one.token)) {
      const rows = cut.map(({ row }) => row);
      await this.parts.database.query(parkDeliveries(rows, token, undefined));
    }
  }

  /** What was noticed about secrets before a rotation, since it was last asked. */
  takePreviousNeeded(): { book: Book; at: Micros }[] {
    const marks = [...this.previousNeeded.values()];
    this.previousNeeded = new Map();
    return marks;
  }

  /** Says that a book may have something due; it is looked at now rather than at the next poll. */
  hint(key: string): void {
    const [merchantId, environment] = key.split("/") as [string, Environment];
    this.hinted.set(key, { merchantId, environment });
    if (this.hinted.size === 1) setImmediate(() => this.claimSoon(this.takeHints()));
  }

  /** A delivery of this process's own that found no place: whoever claims it next may have it, this process too. */
  private turnBack(waiting: Waiting<ClaimedRow>): void {
    if (this.ended) {
      // Committed while the service was stopping.
      this.giveBack([waiting]).catch((error: unknown) =>
        this.parts.log.warn({ err: error }, "a delivery could not be given back; its lease will run out"),
      );
      return;
    }
    this.late.push(waiting);
    this.hint(bookKey(bookOfRow(waiting.row)));
  }

  private takeHints(): Book[] {
    const books = [...this.hinted.values()];
    this.hinted = new Map();
    return books;
  }

  private claimSoon(books: Book[] | undefined): void {
    if (this.stopping || books?.length === 0) return;
    if (this.claiming) {
      if (!books) this.pollDue = true;
      for (const book of books ?? []) this.hinted.set(bookKey(book), book);
      return;
    }
    this.claiming = this.claim(books)
      .catch((error: unknown) => this.parts.log.warn({ err: error }, "deliveries could not be claimed"))
      .finally(() => {
        this.claiming = undefined;
        if (this.pollDue) {
          this.pollDue = false;
          setImmediate(() => this.claimSoon(undefined));
        } else if (this.hinted.size > 0) setImmediate(() => this.claimSoon(this.takeHints()));
      });
  }

  private async claim(books: Book[] | undefined): Promise<void> {
    const impatient = this.parts.clock.now() - PATIENCE_SECONDS * SECOND;
    await this.giveBack([...this.late.splice(0), ...(books ? [] : this.anteroom.takeOut(impatient))]);
    await this.claimSome("first", books);
    // Later attempts are never urgent: they are looked for at each poll.
    if (!books) await this.claimSome("again", undefined);
  }

  private async measure(): Promise<void> {
    const { database, clock, metrics, log } = this.parts;
    try {
      const [oldest] = await database.query<{ seconds: number | null }>(oldestDue(clock.now()));
      metrics.deliveryOldestDueSeconds.set(Math.max(0, oldest?.seconds ?? 0));
    } catch (error) {
      log.warn({ err: error }, "the oldest delivery that is due could not be asked for");
    } finally {
      this.measuring = undefined;
    }
  }

  private async claimSome(which: "first" | "again", books: Book[] | undefined): Promise<void> {
    const { database, clock } = this.parts;
    const limit = Math.min(BATCH_MAX, this.seats.room(which));
    if (limit <= 0) {
      for (const book of books ?? []) this.unfinished.set(bookKey(book), book);
      return;
    }
    const claimedAt = clock.now();
    const token = randomUUID();
    const rooms = this.rooms();
    const look = this.newborns.look();
    // Nobody's backlog fills a claim that others are waiting for.
    const perBook = books ? Math.max(BOOK_MIN, Math.ceil(limit / books.length)) : BOOK_MIN;
    const lease = { realNow: claimedAt, leaseSeconds: LEASE_SECONDS, token };
    const rows = await database.query<ClaimedRow>(
      claimDeliveries({ ...lease, books, perBook, limit, which, rooms, roomElsewhere: ROOM_ELSEWHERE }),
    );
    if (this.stopping) {
      this.unsent.push(...rows.map((row) => ({ row, token })));
      return;
    }
    const parked = rows.filter(
      (row) => !this.enter({ host: row.host, merchantId: row.merchant_id, row, token, claimedAt }),
    );
    for (const row of parked)
      this.turnedAway.set(queueKey(row.merchant_id, row.host), stopwatchMs() + PARK_SECONDS * 1_000);
    const away = new Set(parked.map((row) => queueKey(row.merchant_id, row.host)));
    for (const row of parked) this.newborns.saw(bookOfRow(row), row.host, true);
    if (parked.length > 0) await database.query(parkDeliveries(parked, token, claimedAt + PARK_SECONDS * SECOND));
    // What was parked is for the next poll: asking again at once would only find more of the same.
    if (parked.length === rows.length) return;
    const full = rows.length >= limit;
    for (const [key, own] of Map.groupBy(rows, (row) => bookKey(bookOfRow(row)))) {
      const book = bookOfRow(own[0] as ClaimedRow);
      for (const [host, due] of Map.groupBy(own, (row) => row.host)) {
        const merchantUuid = due[0]?.merchant_id ?? "";
        const queue = queueKey(merchantUuid, host);
        const room = rooms.get(queue) ?? rooms.get(merchantUuid) ?? rooms.get(host) ?? ROOM_ELSEWHERE;
        const more = full || own.length >= perBook || due.length >= room;
        if (more) this.unfinished.set(key, book);
        if (which === "first") this.newborns.saw(book, host, more || away.has(queue), look);
      }
    }
    if (full) for (const book of books ?? []) this.unfinished.set(bookKey(book), book);
    if (parked.length === 0 && rows.every(({ host }) => this.isShort(host))) this.claimRest();
  }

  /**
   * How many more find a seat, or a place to wait for one: at each host that has something on the way or waiting, for each
   * merchant whose it is and for any other; nothing where one was just turned away, and one at each other host of its merchant,
   * whose share is used up.
   */
  private rooms(): Map<string, number> {
    const nowMs = stopwatchMs();
    const rooms = new Map<string, number>();
    const add = (host: string, merchantUuid: string | undefined): void => {
      const key = merchantUuid === undefined ? host : queueKey(merchantUuid, host);
      rooms.set(key, this.roomFor(host, merchantUuid));
    };
    for (const hosts of [this.seats.busy(), this.anteroom.awaited()]) {
      for (const [host, merchants] of hosts) {
        add(host, undefined);
        for (const merchantId of merchants) add(host, merchantId);
      }
    }
    for (const [key, until] of this.turnedAway) {
      if (until > nowMs) rooms.set(key, 0).set(merchantOf(key), 1);
      else this.turnedAway.delete(key);
    }
    return rooms;
  }

  /** How many more of a merchant, or of one that has nothing on the way, find a seat at a host or a place to wait for one. */
  private roomFor(host: string, merchantUuid: string | undefined): number {
    const nowMs = stopwatchMs();
    if (merchantUuid !== undefined && (this.turnedAway.get(queueKey(merchantUuid, host)) ?? 0) > nowMs) return 0;
    const waiting = this.anteroom.roomFor(host, this.seats.standingOf(host, nowMs), merchantUuid);
    return this.seats.roomAt(host, nowMs, merchantUuid) + waiting;
  }

  private standingOf(host: string): Standing {
    return this.seats.standingOf(host, stopwatchMs());
  }

  /** True while so few wait for a host that more should be on their way from the database. */
  private isShort(host: string): boolean {
    return this.anteroom.isShort(host, this.standingOf(host));
  }

  /** Sends a delivery if there is a seat, or lets it wait for one. False when it can do neither. */
  private enter(waiting: Waiting<ClaimedRow>): boolean {
    if (this.anteroom.waitingFor(waiting.host) === 0 && this.seated(waiting)) return true;
    return this.anteroom.add(waiting, this.standingOf(waiting.host));
  }

  private seated({ row, token, claimedAt }: Waiting<ClaimedRow>): boolean {
    if (claimedAt < this.parts.clock.now() - PATIENCE_SECONDS * SECOND) {
      this.late.push({ row, token });
      return true;
    }
    const seat = this.seats.take(passenger(row), stopwatchMs());
    if (!seat) return false;
    this.send(row, token, seat);
    return true;
  }

  /** Goes on with books that have more due. */
  private claimRest(): void {
    if (this.unfinished.size === 0) return;
    const { unfinished } = this;
    this.unfinished = new Map();
    for (const key of unfinished.keys()) this.hint(key);
  }

  private send(row: ClaimedRow, token: string, seat: Seat): void {
    let found: Standing | undefined;
    this.deliver(row, token)
      .then((result) => {
        found = result;
      })
      .catch((error: unknown) =>
        this.parts.log.error({ err: error }, "a delivery was not tried; its lease will run out"),
      )
      .finally(() => {
        this.seats.leave(seat, found);
        if (!this.stopping) this.anteroom.admit(row.host, (waiting) => this.seated(waiting));
        if (this.isShort(row.host)) this.claimRest();
      });
  }

  /** Tries once and records it. Gives how the host stands after it; undefined when it was not called. */
  private async deliver(row: ClaimedRow, leaseToken: string): Promise<Standing | undefined> {
    const { directory, sender, misbehaviours, clock, metrics } = this.parts;
    const book = bookOfRow(row);
    const merchant = await directory.merchant(book.merchantId);
    const eventId = idOf("event", row.event_id);
    const attempt = row.attempts + 1;
    const webhook = merchant?.webhooks[book.environment];
    const offset: Micros = Number(row.clock_offset_seconds) * SECOND;
    if (attempt === 1) {
      metrics.deliveryLagSeconds.observe(Math.max(0, (clock.now() + offset - row.event_created_at) / SECOND));
    }
    const secrets = webhook && secretsOf(webhook, clock.now());
    const last = attempt >= ATTEMPTS_MAX;
    const result = secrets
      ? await misbehavingSend(sender, misbehaviours, book, {
          book,
          url: row.url,
          secrets,
          eventId,
          type: row.type,
          body: row.body,
          attempt,
        })
      : unsignable(clock.now());
    if (this.cutOff && !result.succeeded) {
      this.unsent.push({ row, token: leaseToken }); // we hung up, not the receiver: the try does not count
      return undefined;
    }
    metrics.deliveries.inc({ result: result.succeeded ? "delivered" : "failed" });
    this.recorder.record({
      book,
      eventId,
      attempt,
      leaseToken,
      ...result,
      requestHeaders: JSON.stringify(result.requestHeaders),
      responseHeaders: result.responseHeaders && JSON.stringify(result.responseHeaders),
      ...nextStep(
        result.succeeded,
        last ? LADDER : attempt - row.by_hand,
        row.event_created_at,
        clock.now() + offset,
        row.resend_of ?? undefined,
      ),
    });
    if (result.succeeded && (secrets?.length ?? 0) > 1)
      this.previousNeeded.set(bookKey(book), { book, at: clock.now() });
    return standingAfter(result);
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

/** How a host stands after a call: what counts is how long it kept us, and then whether it said anything. */
function standingAfter({ requestHeaders, heldMs, status }: AttemptResult): Standing | undefined {
  if (Object.keys(requestHeaders).length === 0) return undefined;
  if (heldMs < QUICK_MS) return "proven";
  return status === undefined ? "suspect" : "slow";
}

function passenger({ host, merchant_id: merchantId, attempts }: ClaimedRow): Passenger {
  return { host, merchantId, first: attempts === 0 };
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/**
 * What becomes of a delivery after an attempt: delivered, undelivered after the last, or due again by the schedule that
 * counts from the event; `attempt` counts the tries of the schedule, not those by hand. After a stop that slept through several due times the next one is taken, never all at once.
 */
export function nextStep(
  succeeded: boolean,
  attempt: number,
  eventCreatedAt: Micros,
  bookTime: Micros,
  resendOf?: "delivered" | "undelivered",
): { state: AttemptRecord["state"]; nextAttemptAt: Micros } {
  if (succeeded) return { state: "delivered", nextAttemptAt: bookTime };
  // One try by hand: when it fails, the delivery is what it was.
  if (resendOf !== undefined) return { state: resendOf, nextAttemptAt: bookTime };
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
    heldMs: 0,
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
