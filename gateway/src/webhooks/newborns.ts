// Newborns: deliveries that this process takes as they are made, so that nobody has to look for them in the database. Only
// where nothing older waits that they would overtake, and where there is a place. Pure but for what it remembers.
import { randomUUID } from "node:crypto";
import type { ClaimedRow } from "../events/claim.sql.ts";
import type { Courier } from "../events/outbox.ts";
import type { Lease } from "../events/outbox.sql.ts";
import { type Clock, type Micros, SECOND } from "../ground/clock.ts";
import { type Book, bookKey, bookOfRow } from "../merchants/books.ts";
import type { Waiting } from "./anteroom.ts";

/** So many are sent in one turn of the event loop. */
const TURN_MAX = 16;
/** So many wait for their turn; more go the common way. */
const WAITING_MAX = 128;
/** So many queues are known to be empty at most. */
const EMPTY_MAX = 10_000;

export interface NewbornParts {
  clock: Clock;
  leaseSeconds: number;
  /** Whether a host answers, and few enough wait for it. */
  isOpen(host: string): boolean;
  /** Sends a delivery or lets it wait for a seat; false when it can do neither. */
  enter(waiting: Waiting<ClaimedRow>): boolean;
  /** Has a delivery that did not find a place after all. */
  turnAway(waiting: Waiting<ClaimedRow>): void;
}

export class Newborns implements Courier {
  private readonly parts: NewbornParts;
  /** What a book owes to a host, where nothing waits in the database for a first attempt. */
  private readonly empty = new Set<string>();
  /** Committed, and to be sent in this turn or the next ones. */
  private waiting: Waiting<ClaimedRow>[] = [];
  /** One for all: each is born only once, and claimed later with a token of its own if it comes to that. */
  private readonly token = randomUUID();
  private closed = false;

  constructor(parts: NewbornParts) {
    this.parts = parts;
  }

  /** What was seen in the database: whether first attempts wait there. */
  saw(book: Book, host: string, waiting: boolean): void {
    const queue = queueOf(book, host);
    this.empty.delete(queue);
    if (waiting) return;
    this.empty.add(queue);
    const [oldest] = this.empty;
    if (this.empty.size > EMPTY_MAX && oldest !== undefined) this.empty.delete(oldest);
  }

  leaseFor(book: Book, host: string): Lease | undefined {
    if (this.closed || !this.empty.has(queueOf(book, host))) return undefined;
    if (this.waiting.length < WAITING_MAX && this.parts.isOpen(host))
      return { token: this.token, until: this.parts.clock.now() + this.leaseTime };
    this.saw(book, host, true); // this one will wait there
    return undefined;
  }

  take(row: ClaimedRow, { token, until }: Lease): void {
    const waiting = { host: row.host, merchantId: row.merchant_id, row, token, claimedAt: until - this.leaseTime };
    if (this.closed) return this.parts.turnAway(waiting);
    this.waiting.push(waiting);
    if (this.waiting.length === 1) setImmediate(() => this.sendSome());
  }

  /** Takes no more, and gives those that were not sent yet. */
  close(): Waiting<ClaimedRow>[] {
    this.closed = true;
    return this.waiting.splice(0);
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
