// The local dispatcher does direct dispatch: this process sends deliveries as soon as they are committed, without claiming them from
// the database. It takes a delivery only where no older delivery waits in its queue and where there is capacity. No I/O.
import { randomUUID } from "node:crypto";
import type { ClaimedRow } from "../events/claim.sql.ts";
import { type OutboxEvent, hostOf } from "../events/event.ts";
import { dueBooks } from "../events/outbox.ts";
import { type NewDelivery, deliveries, events } from "../events/outbox.sql.ts";
import type { Clock } from "../ground/clock.ts";
import { uuidOf } from "../ground/ids.ts";
import { NewestMap } from "../ground/newest.ts";
import { type Book, bookClocks, bookKey, bookOfRow } from "../merchants/books.ts";
import type { WorkingSet } from "../store/working-set.ts";
import type { LeasedDelivery } from "./delivery-buffer.ts";

/** Deliveries that are sent in one turn of the event loop. */
const TURN_MAX = 16;
/** While this many deliveries wait for their turn, new ones are left to the claims. */
const WAITING_MAX = 128;
/** Number of queues whose last observation is remembered. */
const QUEUES_MAX = 10_000;

interface DispatcherParts {
  clock: Clock;
  leaseMs: number;
  /** True while a host is healthy and few enough deliveries wait for it. */
  hasCapacity(host: string): boolean;
  /** True when a host is not healthy and has no capacity for a merchant's deliveries. */
  isFull(host: string, merchantUuid: string): boolean;
  /** Sends a delivery or lets it wait for a slot; false when there is neither a slot nor a place to wait. */
  send(delivery: LeasedDelivery<ClaimedRow>): boolean;
  /** Ends the lease of a delivery that was not sent, so that any process, this one included, may claim it. */
  giveBack(delivery: LeasedDelivery<ClaimedRow>): void;
  /** Reports that a book has due deliveries that must be claimed. */
  notify(book: Book): void;
}

export class LocalDispatcher {
  private readonly parts: DispatcherParts;
  /** For each queue (a book's deliveries to one host): whether first attempts wait in the database, and the number of that observation. */
  private readonly queues = new NewestMap<string, { waiting: boolean; at: number }>(QUEUES_MAX);
  private observations = 0;
  /** Committed deliveries that are sent in this turn of the event loop or the next ones. */
  private waiting: LeasedDelivery<ClaimedRow>[] = [];
  /** Lease token of all direct dispatches: a delivery is dispatched directly only once, and a claim gives it another token. */
  private readonly token = randomUUID();
  private closed = false;

  constructor(parts: DispatcherParts) {
    this.parts = parts;
  }

  /**
   * Decides, before a batch is written, which of its new deliveries this process sends itself. It leases those and sends them after the
   * commit. For the others it notifies their books. If this process dies before it sends, the lease ends and another process claims.
   */
  dispatch(set: WorkingSet): void {
    const reported = new Map(set.inserted(events).map((event) => [event.eventId, event]));
    const taken: LeasedDelivery<ClaimedRow>[] = [];
    const left: { book: Book; host?: string }[] = set.inserted(dueBooks).map((book) => ({ book }));
    for (const delivery of set.inserted(deliveries)) {
      const host = hostOf(delivery.url);
      const event = reported.get(delivery.eventId);
      if (event && this.takes(delivery.book, host)) taken.push(this.lease(set, event, delivery, host));
      else left.push({ book: delivery.book, host });
    }
    if (taken.length + left.length === 0) return;
    const committed = (): void => {
      for (const delivery of taken) this.take(delivery);
      for (const { book, host } of left)
        // A claim from a full queue would find nothing that can be sent.
        if (host === undefined || !this.parts.isFull(host, uuidOf(book.merchantId))) this.parts.notify(book);
    };
    set.afterCommit(committed, () => {
      for (const delivery of taken) this.parts.giveBack(delivery); // the commit may have succeeded: then any process may claim them
    });
  }

  /** Begins an observation, such as a claim, and gives its number. An observation with a greater number began later and is newer. */
  beginObservation(): number {
    return ++this.observations;
  }

  /** Notes whether first attempts wait in a queue. An empty queue is noted only if no newer observation found deliveries waiting. */
  observed(book: Book, host: string, waiting: boolean, observation = this.beginObservation()): void {
    const queue = queueOf(book, host);
    const known = this.queues.get(queue);
    if (!waiting && known?.waiting && known.at > observation) return;
    this.queues.set(queue, { waiting, at: observation });
  }

  /** Takes no more deliveries, and gives those that were not sent yet. */
  close(): LeasedDelivery<ClaimedRow>[] {
    this.closed = true;
    return this.waiting.splice(0);
  }

  private takes(book: Book, host: string): boolean {
    if (this.closed || this.queues.get(queueOf(book, host))?.waiting !== false) return false;
    if (this.waiting.length < WAITING_MAX && this.parts.hasCapacity(host)) return true;
    this.observed(book, host, true); // this delivery will wait in the database
    return false;
  }

  private lease(set: WorkingSet, event: OutboxEvent, delivery: NewDelivery, host: string): LeasedDelivery<ClaimedRow> {
    const { clock, leaseMs } = this.parts;
    const claimedAt = clock.now();
    const { token } = this;
    set.update(deliveries, { ...delivery, lease: { token, until: claimedAt + leaseMs * 1_000 } });
    const { book, url, ownUrl, nextAttemptAt } = delivery;
    const row: ClaimedRow = {
      merchant_id: uuidOf(book.merchantId),
      environment: book.environment,
      event_id: uuidOf(event.eventId),
      url,
      own_url: ownUrl,
      host,
      attempts: 0,
      by_hand: 0,
      resend_of: null,
      type: event.type,
      body: event.body,
      event_created_at: event.createdAt,
      next_attempt_at: nextAttemptAt,
      clock_offset_seconds: BigInt(set.get(bookClocks, book)?.offsetSeconds ?? 0),
    };
    return { host, merchantUuid: row.merchant_id, row, token, claimedAt };
  }

  private take(delivery: LeasedDelivery<ClaimedRow>): void {
    if (this.closed) return this.parts.giveBack(delivery);
    this.waiting.push(delivery);
    if (this.waiting.length === 1) setImmediate(() => this.sendSome());
  }

  /** Sends a few deliveries in each turn of the event loop, so that requests are answered in between. */
  private sendSome(): void {
    for (const delivery of this.waiting.splice(0, TURN_MAX)) {
      if (this.parts.send(delivery)) continue;
      this.observed(bookOfRow(delivery.row), delivery.host, true);
      this.parts.giveBack(delivery);
    }
    if (this.waiting.length > 0) setImmediate(() => this.sendSome());
  }
}

function queueOf(book: Book, host: string): string {
  return `${bookKey(book)} ${host}`;
}
