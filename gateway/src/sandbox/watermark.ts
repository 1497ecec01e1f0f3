// The commit watermark of a book's events: all events up to it are visible, and no further event can be committed there. Listening relies on it.
import { type Micros, SECOND } from "../ground/clock.ts";
import { newId } from "../ground/ids.ts";
import { NewestMap } from "../ground/newest.ts";
import { type Book, bookKey } from "../merchants/books.ts";

/*
 * An event's id is made from its book's time (the real time plus the book's offset) while its transaction runs, and the event becomes visible at the
 * commit. Of two simultaneous transactions the one with the older id may commit last, and one that read the offset before the sandbox's clock was
 * moved may commit after events whose ids are hours younger. A reader that remembers only its last event loses such events.
 *
 * The bound: a transaction ends within COMMIT_LAG of its beginning, which includes the difference between the clocks of several machines. One that
 * is not yet visible at the real time `now` began after `now - COMMIT_LAG`, and read an offset no smaller than any that was committed before then,
 * since offsets only grow. With `offset`, the largest one known to have been committed COMMIT_LAG ago, each of its events lies after
 *
 *     watermark = now - COMMIT_LAG + offset
 *
 * A process that has not watched a book for COMMIT_LAG knows only that the offset is not below zero. For a sandbox whose clock was moved its
 * watermark is then too early but never too late, and the listener's cursor only names more events.
 */
const COMMIT_LAG: Micros = 30 * SECOND;
const BOOKS_MAX = 10_000;

interface OffsetObservation {
  offset: Micros;
  /** Real time at which the offset was known to be committed. */
  at: Micros;
}

export class CommitWatermarks {
  private readonly books = new NewestMap<string, OffsetObservation[]>(BOOKS_MAX);

  /** Remembers an offset that was read from the database before `at`. */
  observe(book: Book, offsetSeconds: number, at: Micros): void {
    const key = bookKey(book);
    const seen = this.books.get(key) ?? [];
    const offset = offsetSeconds * SECOND;
    if (seen.at(-1)?.offset !== offset) seen.push({ offset, at });
    // Only the newest of the offsets older than COMMIT_LAG matters.
    while ((seen[1]?.at ?? Infinity) <= at - COMMIT_LAG) seen.shift();
    this.books.set(key, seen);
  }

  /** The event id up to which all events of the book are visible to a statement that begins after `now`. */
  upTo(book: Book, now: Micros): string {
    const relied = (this.books.get(bookKey(book)) ?? []).findLast(({ at }) => at <= now - COMMIT_LAG);
    return lowestId(now - COMMIT_LAG + (relied?.offset ?? 0));
  }
}

/** An event id before all ids of this moment and of every later one. */
export function lowestId(at: Micros): string {
  // The time fills the first 66 of the 130 bits on the wire, 13 characters and a little; random bits follow.
  return newId("event", Math.max(0, at))
    .slice(0, "evt_".length + 13)
    .padEnd("evt_".length + 26, "0");
}
