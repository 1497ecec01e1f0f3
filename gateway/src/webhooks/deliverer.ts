// The deliverer claims due deliveries in batches, hands them to the send queue, and gives back the unsent. No transaction is open in a call.
import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import {
  type AttemptKind,
  type Claim,
  type ClaimedRow,
  capacityOf,
  claimDeliveries,
  queueKey,
} from "../events/claim.sql.ts";
import { oldestDue, parkDeliveries, readdressDeliveries } from "../events/outbox.sql.ts";
import { type Clock, stopwatchMs } from "../ground/clock.ts";
import type { Config } from "../ground/config.ts";
import type { Log } from "../ground/log.ts";
import type { Metrics } from "../ground/metrics.ts";
import type { Tracing } from "../ground/tracing.ts";
import { type Book, bookKey, bookOfRow } from "../merchants/books.ts";
import type { Directory } from "../merchants/directory.ts";
import type { PreviousSecretMark } from "../merchants/merchants.ts";
import type { Database } from "../store/database.ts";
import type { WorkingSet } from "../store/working-set.ts";
import { AttemptRecorder } from "./attempt-recorder.ts";
import type { HostHealth } from "./concurrency-limiter.ts";
import { DeliveryAttempts } from "./delivery-attempt.ts";
import type { LeasedDelivery } from "./delivery-buffer.ts";
import { exemptionsOf } from "./exemptions.ts";
import { FaultInjection } from "./fault-injection.ts";
import { LeaseRenewer } from "./lease-renewer.ts";
import { LocalDispatcher } from "./local-dispatcher.ts";
import { type ProbeTurns, ProbingSender } from "./probing.ts";
import { SendQueue } from "./send-queue.ts";
import { type DeliveryTiming, deliveryTiming } from "./timing.ts";

/** Least number of deliveries that one book may have in a claim from several books. */
const BOOK_MIN = 16;
const BATCH_MAX = 128;
/** Most deliveries that a claim takes for a host with nothing in flight: about as many as the send queue accepts for an unknown host. */
const CAPACITY_ELSEWHERE = 20;

type Leased = LeasedDelivery<ClaimedRow>;

interface DelivererParts {
  database: Database;
  directory: Directory;
  merchants: ProbeTurns;
  config: Pick<Config, "webhookHeaderPrefix" | "serviceName" | "webhookAllowHosts" | "webhookAllowNetworks">;
  clock: Clock;
  metrics: Metrics;
  log: Log;
  tracing?: Tracing;
  timing?: DeliveryTiming | undefined;
}

export class Deliverer {
  private readonly parts: DelivererParts;
  private readonly timing: DeliveryTiming;
  private readonly sender: ProbingSender;
  private readonly attempts: DeliveryAttempts;
  private readonly recorder: AttemptRecorder;
  private readonly queue: SendQueue;
  private readonly dispatcher: LocalDispatcher;
  private readonly renewer: LeaseRenewer;
  /** Books that may have more due deliveries than were claimed; the deliverer claims from them again when there is capacity. */
  private unfinished = new Map<string, Book>();
  /** Books with due deliveries, for the next claim. */
  private notified = new Map<string, Book>();
  private claiming: Promise<void> | undefined;
  /** True when the poll timer fired during a claim: the poll then runs right after that claim. */
  private pollDue = false;
  private state: "new" | "running" | "stopping" | "ended" = "new";
  /** Deliveries that waited too long for a slot, or found no place in the buffer: given back before the next claim. */
  private readonly late: Leased[] = [];
  /** Deliveries whose registered address changed: moved to the new address before the next claim. */
  private readonly readdressed: Leased[] = [];
  /** Deliveries that were not sent because of `stop`, which gives them back at its end: the next start need not wait for their leases. */
  private readonly unsent: Leased[] = [];
  private timers: NodeJS.Timeout[] = [];
  private measuring: Promise<void> | undefined;

  constructor(parts: DelivererParts) {
    const { database, config, clock, log, timing = deliveryTiming } = parts;
    this.parts = parts;
    this.timing = timing;
    const { webhookHeaderPrefix: prefix, serviceName } = config;
    const exemptions = exemptionsOf(config.webhookAllowHosts, config.webhookAllowNetworks);
    this.sender = new ProbingSender({ clock, prefix, serviceName, exemptions, timing }, parts.merchants, log);
    this.recorder = new AttemptRecorder(database, log, timing.gatherMs);
    const faults = new FaultInjection({ database, clock, log, timing });
    this.attempts = new DeliveryAttempts({ ...parts, sender: this.sender, faults, recorder: this.recorder });
    this.queue = new SendQueue({
      clock,
      log,
      timing,
      attempt: (delivery) => this.attempt(delivery),
      onExpired: (delivery) => this.late.push(delivery),
      onLow: () => this.claimRest(),
    });
    parts.metrics.hosts(() => this.queue.hostsByHealth());
    this.dispatcher = new LocalDispatcher({
      clock,
      leaseMs: timing.leaseMs,
      hasCapacity: (host) => this.queue.hasCapacityForNew(host),
      isFull: (host, merchantUuid) => this.queue.isFull(host, merchantUuid),
      send: (delivery) => this.queue.add(delivery),
      giveBack: (delivery) => this.giveBackSoon(delivery),
      notify: (book) => this.notify(book),
    });
    this.renewer = new LeaseRenewer({ database, clock, log, timing, held: () => this.queue.held() });
  }

  start(): void {
    this.state = "running";
    this.renewer.start();
    this.timers = [
      setInterval(() => this.claimSoon(undefined), this.timing.pollMs),
      setInterval(() => {
        this.measuring ??= this.measure();
      }, this.timing.measureMs),
    ];
  }

  /** Waits up to `stopMs` for calls in flight and records them. A call that takes longer is cut off and does not count as an attempt. */
  async stop(): Promise<void> {
    const until = stopwatchMs() + this.timing.stopMs;
    this.state = "stopping";
    this.unsent.push(...this.dispatcher.close(), ...this.queue.close());
    for (const timer of this.timers) clearInterval(timer);
    await this.claiming;
    await this.measuring;
    while (this.queue.inFlight > 0 && stopwatchMs() < until) await pause(20);
    this.attempts.expectCutOff();
    await this.sender.close();
    while (this.queue.inFlight > 0) await pause(5); // the calls that were cut off end at once
    await this.renewer.stop();
    await this.recorder.stop();
    this.state = "ended";
    try {
      await this.readdress();
      await this.giveBack([...this.unsent, ...this.late.splice(0)]);
    } catch (error) {
      this.parts.log.warn({ err: error }, "deliveries could not be given back; their leases will end");
    }
  }

  /** Decides which deliveries of a batch this process sends itself. The lanes call this before they write. */
  beforeWrite(set: WorkingSet): void {
    this.dispatcher.dispatch(set);
  }

  /** Claims from a book now instead of at the next poll, because the book may have due deliveries. */
  notify(book: Book): void {
    if (this.state !== "running") return;
    this.notified.set(bookKey(book), book);
    if (this.notified.size === 1) setImmediate(() => this.claimSoon(this.takeNotified()));
  }

  /** Facts about previous secrets that deliveries have shown since the last call: see `probing.ts`. */
  takeMarks(): PreviousSecretMark[] {
    const accepted = this.attempts.takeAcceptedWithBoth().map((mark) => ({ ...mark, fact: "carried" as const }));
    return [...accepted, ...this.sender.takeFindings()];
  }

  private async attempt(delivery: Leased): Promise<HostHealth | undefined> {
    const health = await this.attempts.make(delivery);
    if (health === "not counted") this.unsent.push(delivery);
    else if (health === "readdressed") {
      this.readdressed.push(delivery);
      this.notify(bookOfRow(delivery.row));
    } else return health;
    return undefined;
  }

  /** Ends the leases of deliveries that were not sent. */
  private async giveBack(held: readonly Leased[]): Promise<void> {
    if (held.length > 0) await this.parts.database.query(parkDeliveries(held, undefined));
  }

  /** Moves deliveries to the address that is registered now. If this fails, their leases end, and the next process to claim moves them. */
  private async readdress(): Promise<void> {
    const moved = this.readdressed.splice(0);
    if (moved.length > 0) await this.parts.database.query(readdressDeliveries(moved));
  }

  private giveBackSoon(delivery: Leased): void {
    if (this.state === "ended") {
      // The delivery was committed while the service was stopping, so no claim follows that would give it back.
      this.giveBack([delivery]).catch((error: unknown) =>
        this.parts.log.warn({ err: error }, "a delivery could not be given back; its lease will end"),
      );
      return;
    }
    this.late.push(delivery);
    this.notify(bookOfRow(delivery.row));
  }

  private takeNotified(): Book[] {
    const books = [...this.notified.values()];
    this.notified = new Map();
    return books;
  }

  private claimSoon(books: Book[] | undefined): void {
    if (this.state !== "running" || books?.length === 0) return;
    if (this.claiming) {
      if (!books) this.pollDue = true;
      for (const book of books ?? []) this.notified.set(bookKey(book), book);
      return;
    }
    this.claiming = this.claim(books)
      .catch((error: unknown) => this.parts.log.warn({ err: error }, "deliveries could not be claimed"))
      .finally(() => {
        this.claiming = undefined;
        if (this.pollDue) {
          this.pollDue = false;
          setImmediate(() => this.claimSoon(undefined));
        } else if (this.notified.size > 0) setImmediate(() => this.claimSoon(this.takeNotified()));
      });
  }

  /** Claims from some books, or from all at a poll. */
  private async claim(books: Book[] | undefined): Promise<void> {
    await this.readdress();
    await this.giveBack([...this.late.splice(0), ...(books ? [] : this.queue.removeExpired())]);
    await this.claimSome("first", books);
    // Retries are never urgent, so only a poll claims them.
    if (!books) await this.claimSome("retry", undefined);
  }

  private async claimSome(which: AttemptKind, books: Book[] | undefined): Promise<void> {
    const limit = Math.min(BATCH_MAX, this.queue.capacity(which));
    if (limit <= 0) {
      for (const book of books ?? []) this.unfinished.set(bookKey(book), book);
      return;
    }
    // The limit per book keeps the backlog of one book from filling a claim that other books need too.
    const perBook = books ? Math.max(BOOK_MIN, Math.ceil(limit / books.length)) : BOOK_MIN;
    const claim: Claim = { which, books, limit, perBook, capacities: this.queue.capacities() };
    const observation = this.dispatcher.beginObservation();
    const claimed = await this.lease(claim);
    if (this.state !== "running") return void this.unsent.push(...claimed);
    const rejected = await this.enqueue(claimed);
    // Rejected deliveries wait for the next poll: another claim now would find only more deliveries of the same full queues.
    if (rejected.length === claimed.length) return;
    this.noteBacklog(claim, claimed, rejected, observation);
    if (rejected.length === 0 && claimed.every(({ host }) => this.queue.isLow(host))) this.claimRest();
  }

  private async lease(claim: Claim): Promise<Leased[]> {
    const { database, clock } = this.parts;
    const token = randomUUID();
    const claimedAt = clock.now();
    const lease = { realNow: claimedAt, leaseMs: this.timing.leaseMs, token };
    const rows = await database.query<ClaimedRow>(
      claimDeliveries({ ...claim, ...lease, capacityElsewhere: CAPACITY_ELSEWHERE }),
    );
    return rows.map((row) => ({ host: row.host, merchantUuid: row.merchant_id, row, token, claimedAt }));
  }

  /** Gives deliveries to the send queue. Parks those that it has no place for, and gives them. */
  private async enqueue(claimed: readonly Leased[]): Promise<Leased[]> {
    const rejected = claimed.filter((delivery) => !this.queue.add(delivery));
    for (const delivery of rejected) {
      this.queue.reject(delivery);
      this.dispatcher.observed(bookOfRow(delivery.row), delivery.host, true);
    }
    const [first] = rejected;
    if (first) await this.parts.database.query(parkDeliveries(rejected, first.claimedAt + this.timing.parkMs * 1_000));
    return rejected;
  }

  /** Notes which books may have more due deliveries than this claim took, and tells the dispatcher which queues are empty. */
  private noteBacklog(
    { which, books, limit, perBook, capacities }: Claim,
    claimed: readonly Leased[],
    rejected: readonly Leased[],
    observation: number,
  ): void {
    const isFull = claimed.length >= limit;
    const rejectedOf = new Set(rejected.map(({ row }) => queueKey(row.merchant_id, row.host)));
    for (const [key, own] of Map.groupBy(claimed, ({ row }) => bookKey(bookOfRow(row)))) {
      const book = bookOfRow((own[0] as Leased).row);
      for (const [host, due] of Map.groupBy(own, (delivery) => delivery.host)) {
        const merchantUuid = due[0]?.merchantUuid ?? "";
        const capacity = capacityOf(capacities, merchantUuid, host) ?? CAPACITY_ELSEWHERE;
        const hasMore = isFull || own.length >= perBook || due.length >= capacity;
        if (hasMore) this.unfinished.set(key, book);
        const waits = hasMore || rejectedOf.has(queueKey(merchantUuid, host));
        if (which === "first") this.dispatcher.observed(book, host, waits, observation);
      }
    }
    if (isFull) for (const book of books ?? []) this.unfinished.set(bookKey(book), book);
  }

  /** Claims from the books that may have more due deliveries. */
  private claimRest(): void {
    if (this.unfinished.size === 0) return;
    const { unfinished } = this;
    this.unfinished = new Map();
    for (const book of unfinished.values()) this.notify(book);
  }

  private async measure(): Promise<void> {
    const { database, clock, metrics, log } = this.parts;
    try {
      const [oldest] = await database.query<{ seconds: number | null }>(oldestDue(clock.now()));
      metrics.deliveryOldestDueSeconds.set(Math.max(0, oldest?.seconds ?? 0));
    } catch (error) {
      metrics.deliveryOldestDueSeconds.set(NaN);
      log.warn({ err: error }, "the age of the oldest due delivery could not be measured");
    } finally {
      this.measuring = undefined;
    }
  }
}
