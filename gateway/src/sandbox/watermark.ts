// The commit watermark of a book's events: every event up to it is visible, and no other can still be committed there. Listening rests on it.
import { type Micros, SECOND } from "../ground/clock.ts";
import { newId } from "../ground/ids.ts";
import { type Book, bookKey } from "../merchants/books.ts";

/*
 * An event's identity is made of its book's time (the real time plus the book's offset) while its transaction runs, and it
 * becomes visible at the commit. So an event can appear behind one that was read already: of two transactions at the same
 * time the one with the older identity may commit last, and one that read the offset before the sandbox's clock was moved
 * forward may commit after events that are, by their identities, hours younger. Whoever remembers only the last event it
 * read loses those.
 *
 * What bounds this: a transaction ends within COMMIT_LAG of having begun, with what the clocks of several machines differ by
 * included. One that has still to become visible at the real time `now` began after `now - COMMIT_LAG`, so its real time is
 * later than that, and it read an offset no smaller than one that had been committed before then (offsets only grow).
 * With `offset` the largest of which it is known that it was committed COMMIT_LAG ago, each of its events lies after
 *
 *     watermark = now - COMMIT_LAG + offset
 *
 * The offset is remembered here as polls see it. A process that has not watched a book for COMMIT_LAG knows only that the
 * offset is not below zero: its answer is then too early for a sandbox whose clock was moved, never too late, and the
 * listener only names more of what it has seen.
 */
const COMMIT_LAG: Micros = 30 * SECOND;
const BOOKS_MAX = 10_000;

interface Seen {
  offset: Micros;
  /** Real time at which it was known to be committed. */
  at: Micros;
}

export class CommitWatermarks {
  private readonly books = new Map<string, Seen[]>();

  /** Takes note of an offset that was read from the database before `at`. */
  observe(book: Book, offsetSeconds: number, at: Micros): void {
    const key = bookKey(book);
    const seen = this.books.get(key) ?? [];
    const offset = offsetSeconds * SECOND;
    if (seen.at(-1)?.offset !== offset) seen.push({ offset, at });
    // Of what is old enough to be relied on only the newest matters.
    while ((seen[1]?.at ?? Infinity) <= at - COMMIT_LAG) seen.shift();
    this.books.delete(key);
    this.books.set(key, seen);
    if (this.books.size > BOOKS_MAX) {
      const [oldest] = this.books.keys();
      if (oldest !== undefined) this.books.delete(oldest);
    }
  }

  /** The identity up to which everything of the book is visible to a statement that begins after `now`. */
  upTo(book: Book, now: Micros): string {
    const relied = (this.books.get(bookKey(book)) ?? []).findLast(({ at }) => at <= now - COMMIT_LAG);
    return lowestId(now - COMMIT_LAG + (relied?.offset ?? 0));
  }
}

/** An identity that lies before all events of this moment and of every later one. */
export function lowestId(at: Micros): string {
  // The moment fills the first 66 of the 130 bits on the wire, 13 characters and a little; what is random comes behind it.
  return newId("event", Math.max(0, at))
    .slice(0, "evt_".length + 13)
    .padEnd("evt_".length + 26, "0");
}
