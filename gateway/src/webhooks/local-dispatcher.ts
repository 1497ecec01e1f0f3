// Newborns: deliveries that this process takes as they are made, so that nobody has to look for them in the database. Only
// where nothing older waits that they would overtake, and where there is a place. Pure but for what it remembers.
import { randomUUID } from "node:crypto";
import type { ClaimedRow } from "../events/claim.sql.ts";
import type { Courier } from "../events/outbox.ts";
import type { Lease } from "../events/outbox.sql.ts";
import { type Clock, type Micros, SECOND } from "../ground/clock.ts";
import { uuidOf } from "../ground/ids.ts";
import { type Book, bookKey, bookOfRow } from "../merchants/books.ts";
import type { Waiting } from "./delivery-buffer.ts";

/** So many are sent in one turn of the event loop. */
const TURN_MAX = 16;
/** While so many wait for their turn, what is made goes the common way. */
const WAITING_MAX = 128;
/** Of so many queues it is remembered what was seen last. */
const QUEUES_MAX = 10_000;

export interface NewbornParts {
  clock: Clock;
  leaseSeconds: number;
  /** Whether a host answers, and few enough wait for it. */
  isOpen(host: string): boolean;
  /** Whether a host is in doubt and has no place for any more of a merchant's. */
  isFull(host: string, merchantUuid: string): boolean;
  /** Sends a delivery or lets it wait for a seat; false when it can do neither. */
  enter(waiting: Waiting<ClaimedRow>): boolean;
  /** Has a delivery that did not find a place after all. */
  turnAway(waiting: Waiting<ClaimedRow>): void;
}

export class Newborns implements Courier {
  private readonly parts: NewbornParts;
  /** Of what a book owes to a host: whether first attempts wait in the database, and since which look this is known. */
  private readonly queues = new Map<string, { waiting: boolean; at: number }>();
  private looks = 0;
  /** Committed, and to be sent in this turn or the next ones. */
  private waiting: Waiting<ClaimedRow>[] = [];
  /** One for all: each is born only once, and claimed later with a token of its own if it comes to that. */
  private readonly token = randomUUID();
  private closed = false;

  constructor(parts: NewbornParts) {
    this.parts = parts;
  }

  /** Begins a look into the database. What is noted after it is newer than what the look will find. */
  look(): number {
    return ++this.looks;
  }

  /** What a look has found: whether first attempts wait. That they do is noted at any time; that they do not, only if nothing newer is known. */
  saw(book: Book, host: string, waiting: boolean, look = this.look()): void {
    const queue = queueOf(book, host);
    const known = this.queues.get(queue);
    if (!waiting && known?.waiting && known.at > look) return;
    this.queues.delete(queue);
    this.queues.set(queue, { waiting, at: look });
    const [oldest] = this.queues.keys();
    if (this.queues.size > QUEUES_MAX && oldest !== undefined) this.queues.delete(oldest);
  }

  leaseFor(book: Book, host: string): Lease | undefined {
    if (this.closed || this.queues.get(queueOf(book, host))?.waiting !== false) return undefined;
    if (this.waiting.length < WAITING_MAX && this.parts.isOpen(host))
      return { token: this.token, until: this.parts.clock.now() + this.leaseTime };
    this.saw(book, host, true); // this one will wait there
    return undefined;
  }

  isFull(book: Book, host: string): boolean {
    return this.parts.isFull(host, uuidOf(book.merchantId));
  }

  take(row: ClaimedRow, lease: Lease): void {
    if (this.closed) return this.release(row, lease);
    const waiting = this.waitingWith(row, lease);
    this.waiting.push(waiting);
    if (this.waiting.length === 1) setImmediate(() => this.sendSome());
  }

  release(row: ClaimedRow, lease: Lease): void {
    this.parts.turnAway(this.waitingWith(row, lease));
  }

  /** Takes no more, and gives those that were not sent yet. */
  close(): Waiting<ClaimedRow>[] {
    this.closed = true;
    return this.waiting.splice(0);
  }

  private waitingWith(row: ClaimedRow, { token, until }: Lease): Waiting<ClaimedRow> {
    return { host: row.host, merchantId: row.merchant_id, row, token, claimedAt: until - this.leaseTime };
  }

  private get leaseTime(): Micros {
    return this.parts.leaseSeconds * SECOND;
  }

  /** A few in each turn: whoever asked for what they tell of is answered in between. */
  private sendSome(): void {
    for (const waiting of this.waiting.splice(0, TURN_MAX)) {
      if (this.parts.enter(waiting)) continue;
      this.saw(bookOfRow(waiting.row), waiting.host, true);
      this.parts.turnAway(waiting);
    }
    if (this.waiting.length > 0) setImmediate(() => this.sendSome());
  }
}

function queueOf(book: Book, host: string): string {
  return `${bookKey(book)} ${host}`;
}
