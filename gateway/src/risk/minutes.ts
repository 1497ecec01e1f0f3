// What is known of each merchant's last minute: what was read of it, and what this process made of it itself. Milliseconds are of the book's
// clock, which only goes forward; payments stay, so what is known once is not asked for again.
import { type Micros, SECOND } from "../ground/clock.ts";
import { type Book, bookKey } from "../merchants/books.ts";

export const MERCHANT_WINDOW: Micros = 60 * SECOND;
/**
 * Younger payments may still be on their way to their commit. One that takes longer, or of a process whose clock is so far behind, or that
 * a clock was moved past on its way, is not counted for a minute at most.
 */
export const SETTLED: Micros = 2 * SECOND;
/** A request that waited has a window that begins so much earlier at most. */
export const WAITED: Micros = 10 * SECOND;

/** What was read of a merchant's minute, whoever made it. */
export interface ReadMinute {
  offsetSeconds: number;
  /** Every payment from `fromMs` until `untilMs`, oldest first; of more than are counted the newest, since a window that reaches further back is full. */
  moments: readonly number[];
  fromMs: number;
  untilMs: number;
  /** As many payments as are counted were seen since then: while the window begins before it there is nothing to count. */
  fullSinceMs: number | undefined;
}

/** What this process made of a merchant's minute. */
export interface OwnMinute {
  /** How far the book's clock was ahead lately; not further than it is. */
  offsetSeconds: number;
  /** Every payment since `fromMs` that this process made and that is committed, oldest first. */
  moments: number[];
  fromMs: number;
  /** At so many payments those that are too old, or too many, go. */
  roomFor: number;
}

const BOOKS_MAX = 10_000;
/** In all books together: some 10 MiB. */
const PAYMENTS_MAX = 1_000_000;
const ROOM_AT_LEAST = 64;
const KEPT_MS = (MERCHANT_WINDOW + WAITED + SETTLED) / 1000;

/** Minutes by name, as long as there is room for them: who was touched longest ago goes first. */
export class Minutes<Minute extends { readonly moments: readonly number[] }> {
  private readonly entries = new Map<string, { minute: Minute; payments: number }>();
  private payments = 0;
  private readonly paymentsMax: number;

  constructor(paymentsMax = PAYMENTS_MAX) {
    this.paymentsMax = paymentsMax;
  }

  get(name: string): Minute | undefined {
    return this.entries.get(name)?.minute;
  }

  /** Adds or replaces a minute, or tells that it has grown. */
  put(name: string, minute: Minute): void {
    this.forget(name);
    this.entries.set(name, { minute, payments: minute.moments.length });
    this.payments += minute.moments.length;
    if (this.hasRoom) return;
    for (const oldest of this.entries.keys()) {
      this.forget(oldest);
      if (this.hasRoom) return;
    }
  }

  private get hasRoom(): boolean {
    return this.entries.size <= BOOKS_MAX && this.payments <= this.paymentsMax;
  }

  forget(name: string): void {
    this.payments -= this.entries.get(name)?.payments ?? 0;
    this.entries.delete(name);
  }
}

const own = new Minutes<OwnMinute>();

/** What this process made of a book's minute; undefined when it made nothing, or has forgotten. */
export function ownMinute(book: Book): OwnMinute | undefined {
  return own.get(bookKey(book));
}

/** What this process made of a book's minute is no longer so. */
export function forgetOwn(book: Book): void {
  own.forget(bookKey(book));
}

/** This process made a payment at a moment of the book's clock, and it is committed. `most`: beyond so many nobody counts. */
export function paymentMade(book: Book, at: Micros, offsetSeconds: number, most: number): void {
  const ms = Math.floor(at / 1000);
  // Who is not remembered may have had others a moment before.
  const minute = own.get(bookKey(book)) ?? { offsetSeconds, moments: [], fromMs: unsure(ms), roomFor: ROOM_AT_LEAST };
  const { moments } = minute;
  minute.offsetSeconds = Math.max(minute.offsetSeconds, offsetSeconds);
  if (ms >= minute.fromMs) moments.splice(firstSince(moments, ms + 1), 0, ms);
  if (moments.length >= minute.roomFor) {
    const first = Math.max(firstSince(moments, ms - KEPT_MS), moments.length - most);
    minute.fromMs = Math.max(minute.fromMs, (moments[first - 1] ?? 0) + 1);
    moments.splice(0, first);
    minute.roomFor = Math.max(ROOM_AT_LEAST, 2 * moments.length);
  }
  own.put(bookKey(book), minute);
}

/** This process may have made a payment, and cannot know: what it made is known only from then on. */
export function paymentUnknown(book: Book, at: Micros, offsetSeconds: number): void {
  const minute = own.get(bookKey(book));
  const fromMs = Math.max(minute?.fromMs ?? 0, unsure(Math.floor(at / 1000)));
  const moments = minute?.moments.filter((ms) => ms >= fromMs) ?? [];
  own.put(bookKey(book), { offsetSeconds, moments, fromMs, roomFor: ROOM_AT_LEAST });
}

const unsure = (ms: number): number => ms + SETTLED / 1000;

/** Where in moments that are in order those since `ms` begin. */
export function firstSince(moments: readonly number[], ms: number): number {
  let [low, high] = [0, moments.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((moments[middle] as number) < ms) low = middle + 1;
    else high = middle;
  }
  return low;
}
