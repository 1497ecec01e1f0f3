// Forgetting the history of events, in small steps. An event goes with its attempts, when it is old by its book's clock and
// its last attempt is as old in real time: moving a sandbox's clock, or a re-send on the last day, takes nothing away that was
// made just now. What still waits for its delivery stays, however old it is.
import { type Micros, SECOND } from "../ground/clock.ts";
import { Pace, inTurns } from "../ground/pace.ts";
import { type Book, bookOfRow } from "../merchants/books.ts";
import type { Database } from "../store/database.ts";
import {
  type OldBookRow,
  type OldEventRow,
  STEP,
  booksWithHistory,
  forgetEvents,
  moveHorizons,
  retainEvents,
  selectOld,
  selectRetained,
} from "./history.sql.ts";

const DAY = 86_400 * SECOND;
/** A re-send that looked before the horizon moved has ended by then. */
const MARGIN = 60 * SECOND;

/** Forgets events older than `days`, and all about them, at a pace that nobody notices. Gives how many went. */
export async function forgetHistory(
  database: Database,
  realNow: Micros,
  days: number,
  pace: Pace = new Pace(),
): Promise<number> {
  const rows = await database.query<OldBookRow>(booksWithHistory(realNow, days));
  if (rows.length === 0) return 0;
  // Where a book's history begins is written down first, so that nobody takes a forgotten event for one that was never there.
  const books = rows.map((row) => bookOfRow(row));
  const before = rows.map((row) => row.forgotten_before);
  await database.query(moveHorizons(books, before));
  const sweeps = rows.map((row) => new Sweep(database, row, realNow, days));
  // One step of each book in turn, of what grew old and of what was kept: nobody's history waits for somebody else's.
  await inTurns(
    pace,
    sweeps.flatMap((sweep) => [() => sweep.lookAtOld(), () => sweep.lookAtRetained()]),
  );
  return sweeps.reduce((sum, { forgotten }) => sum + forgotten, 0);
}

/** The history of one book on its way out. */
class Sweep {
  forgotten = 0;
  private readonly database: Database;
  private readonly book: Book;
  private readonly realNow: Micros;
  private readonly attemptedBefore: Micros;
  private readonly before: Micros;
  private sweptTo: string | null;

  constructor(database: Database, row: OldBookRow, realNow: Micros, days: number) {
    this.database = database;
    this.book = bookOfRow(row);
    this.realNow = realNow;
    this.attemptedBefore = realNow - days * DAY;
    this.before = row.forgotten_before - MARGIN;
    this.sweptTo = row.swept_to;
  }

  /** Takes the next events by age. Each is looked at once here; those that stay are looked at again when their time comes. */
  async lookAtOld(): Promise<boolean> {
    const old = await this.database.query<OldEventRow>(selectOld(this.book, this.sweptTo, this.before));
    this.sweptTo = old.at(-1)?.event_id ?? this.sweptTo;
    return this.decide(old);
  }

  /** Takes the next that were kept until now. */
  async lookAtRetained(): Promise<boolean> {
    return this.decide(await this.database.query<OldEventRow>(selectRetained(this.book, this.realNow)));
  }

  /** Lets go what may go, and notes of the rest when to look again. Gives whether there may be more. */
  private async decide(found: readonly OldEventRow[]): Promise<boolean> {
    if (found.length === 0) return false;
    const { database, book, realNow, attemptedBefore, sweptTo } = this;
    const kept = found.flatMap(({ event_id: eventId, pending, last_attempt_at: at }) => {
      if (pending) return [{ eventId, lookAt: realNow + DAY }];
      return at !== null && at >= attemptedBefore
        ? [{ eventId, lookAt: realNow + (at - attemptedBefore) + SECOND }]
        : [];
    });
    // Noted before it counts as looked at: a process that dies in between loses sight of nothing.
    if (kept.length > 0) await database.query(retainEvents(book, kept));
    const staying = new Set(kept.map(({ eventId }) => eventId));
    const over = found.filter(({ event_id: eventId }) => !staying.has(eventId)).map(({ event_id: eventId }) => eventId);
    const rows = await database.query<{ event_id: string }>(forgetEvents(book, over, sweptTo));
    const gone = new Set(rows.map(({ event_id: eventId }) => eventId));
    const held = over.filter((eventId) => !gone.has(eventId));
    // Somebody holds them at this moment. Should this not be noted any more, they stay: more than promised, never less.
    if (held.length > 0)
      await database.query(
        retainEvents(
          book,
          held.map((eventId) => ({ eventId, lookAt: realNow + DAY })),
        ),
      );
    this.forgotten += rows.length;
    return found.length >= STEP;
  }
}
