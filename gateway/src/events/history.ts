// Forgetting the history of events, in small steps. An event goes with its attempts, when it is old by its book's clock and
// its last attempt is as old in real time: moving a sandbox's clock, or a re-send on the last day, takes nothing away that was
// made just now. What still waits for its delivery stays, however old it is.
import { type Micros, SECOND } from "../ground/clock.ts";
import { Pace } from "../ground/pace.ts";
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
  let forgotten = 0;
  for (const row of rows) forgotten += await forgetBook(database, row, { realNow, days, pace });
  return forgotten;
}

async function forgetBook(
  database: Database,
  row: OldBookRow,
  { realNow, days, pace }: { realNow: Micros; days: number; pace: Pace },
): Promise<number> {
  const book = bookOfRow(row);
  const attemptedBefore = realNow - days * DAY;
  let forgotten = 0;
  let sweptTo = row.swept_to;
  for (let more = true; more && !pace.isOver;) {
    more = await pace.step(async () => {
      const old = await database.query<OldEventRow>(selectOld(book, sweptTo, row.forgotten_before - MARGIN));
      sweptTo = old.at(-1)?.event_id ?? sweptTo;
      // Each event is looked at once here. Those that stay are looked at again when their time comes, not in every round.
      forgotten += await decide(database, { book, realNow, attemptedBefore, sweptTo }, old);
      return old.length >= STEP;
    });
  }
  for (let more = true; more && !pace.isOver;) {
    more = await pace.step(async () => {
      const retained = await database.query<OldEventRow>(selectRetained(book, realNow));
      forgotten += await decide(database, { book, realNow, attemptedBefore, sweptTo }, retained);
      return retained.length >= STEP;
    });
  }
  return forgotten;
}

interface Round {
  book: Book;
  realNow: Micros;
  attemptedBefore: Micros;
  sweptTo: string | null;
}

/** Lets go what may go, and notes of the rest when to look again. Gives how many went. */
async function decide(
  database: Database,
  { book, realNow, attemptedBefore, sweptTo }: Round,
  found: readonly OldEventRow[],
): Promise<number> {
  if (found.length === 0) return 0;
  const kept = found.flatMap(({ event_id: eventId, pending, last_attempt_at: at }) => {
    if (pending) return [{ eventId, lookAt: realNow + DAY }];
    return at !== null && at >= attemptedBefore ? [{ eventId, lookAt: realNow + (at - attemptedBefore) + SECOND }] : [];
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
  return rows.length;
}
