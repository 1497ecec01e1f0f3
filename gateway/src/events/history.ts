// Deletes the history of events, in small steps. An event is deleted with its attempts when it is old by its book's clock and its last
// attempt is as old in real time. So neither moving a sandbox's clock nor a resend on the last day deletes a recent attempt. An event
// whose delivery is pending stays, however old it is.
import { type Micros, DAY, SECOND } from "../ground/clock.ts";
import { Throttle, inTurns } from "../ground/throttle.ts";
import { type Book, bookOfRow } from "../merchants/books.ts";
import type { Database } from "../store/database.ts";
import {
  type OldBookRow,
  type OldEventRow,
  STEP,
  booksWithHistory,
  forgetEvents,
  moveWatermarks,
  retainEvents,
  selectOld,
  selectRetained,
} from "./history.sql.ts";

/** Time after which a resend that read the watermark before it moved has ended. */
const MARGIN = 60 * SECOND;

/** Deletes events older than `days` with their deliveries and attempts, throttled. Gives the number of deleted events. */
export async function forgetHistory(
  database: Database,
  realNow: Micros,
  days: number,
  throttle: Throttle = new Throttle(),
): Promise<number> {
  const rows = await database.query<OldBookRow>(booksWithHistory(realNow, days));
  if (rows.length === 0) return 0;
  // The watermark is written first, so that a reader can tell a deleted event from one that never existed.
  const books = rows.map((row) => bookOfRow(row));
  const before = rows.map((row) => row.forgotten_before);
  await database.query(moveWatermarks(books, before));
  const sweeps = rows.map((row) => new Sweep(database, row, realNow, days));
  // Each book does one step in turn, of old events and of retained ones, so that no book waits for another one to finish.
  await inTurns(
    throttle,
    sweeps.flatMap((sweep) => [() => sweep.examineOld(), () => sweep.examineRetained()]),
  );
  return sweeps.reduce((sum, { forgotten }) => sum + forgotten, 0);
}

/** The deletion of one book's history. */
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

  /** Examines the next events by age. An event that must stay becomes a retained event, for `examineRetained` to examine when it is due. */
  async examineOld(): Promise<boolean> {
    const old = await this.database.query<OldEventRow>(selectOld(this.book, this.sweptTo, this.before));
    const sweptTo = old.at(-1)?.event_id ?? this.sweptTo;
    const hasMore = await this.decide(old, sweptTo);
    this.sweptTo = sweptTo; // of decided events alone: the retained ones are decided under it, too
    return hasMore;
  }

  async examineRetained(): Promise<boolean> {
    return this.decide(await this.database.query<OldEventRow>(selectRetained(this.book, this.realNow)), this.sweptTo);
  }

  /** Deletes the events that may be deleted, and notes when to examine the others again. True when there may be more events. */
  private async decide(found: readonly OldEventRow[], sweptTo: string | null): Promise<boolean> {
    if (found.length === 0) return false;
    const { database, book, realNow, attemptedBefore } = this;
    const kept = found.flatMap(({ event_id: eventId, pending, last_attempt_at: at }) => {
      if (pending) return [{ eventId, lookAt: realNow + DAY }];
      return at !== null && at >= attemptedBefore
        ? [{ eventId, lookAt: realNow + (at - attemptedBefore) + SECOND }]
        : [];
    });
    // Retained events are noted before the sweep moves on, so that none is lost when the process dies in between.
    if (kept.length > 0) await database.query(retainEvents(book, kept));
    const staying = new Set(kept.map(({ eventId }) => eventId));
    const over = found.filter(({ event_id: eventId }) => !staying.has(eventId)).map(({ event_id: eventId }) => eventId);
    const rows = await database.query<{ event_id: string }>(forgetEvents(book, over, sweptTo));
    const gone = new Set(rows.map(({ event_id: eventId }) => eventId));
    const held = over.filter((eventId) => !gone.has(eventId));
    // Another statement has these events locked, or the roll-up has not counted them. If this note is lost, they are kept too long, never too short.
    const tomorrow = held.map((eventId) => ({ eventId, lookAt: realNow + DAY }));
    if (held.length > 0) await database.query(retainEvents(book, tomorrow));
    this.forgotten += rows.length;
    return found.length >= STEP;
  }
}
