// Moves a sandbox's clock: not at once, but from each moment at which something falls due to the next, so that everything happens in order and
// at its time. A worker continues moves that a crash has interrupted.
import { type Clock, type Micros, SECOND } from "../ground/clock.ts";
import { assert, validationFault } from "../ground/fault.ts";
import { eachInTurn } from "../ground/throttle.ts";
import { type Book, bookKey, bookOfRow, movableBookClocks } from "../merchants/books.ts";
import type { Command } from "../store/command.ts";
import type { Database } from "../store/database.ts";
import type { Lanes } from "../store/lanes.ts";
import { need } from "../store/working-set.ts";
import { selectLeftClocks, selectNextDue } from "./clock.sql.ts";

/** A hundred years ahead is enough for any test, and keeps timestamps in range. */
const OFFSET_MAX_SECONDS = 3_153_600_000;
/** One move makes at most this many stops; what falls due after them happens at its end. */
const STOPS_MAX = 1_000;
/** A move that has not advanced for this long counts as interrupted. */
const LEFT_AFTER: Micros = 30 * SECOND;

/** Begins to move a clock by `seconds`. Gives how far ahead of real time the clock will be, in seconds. Throws VALIDATION_ERROR. */
export function sendClock(book: Book, seconds: number): Command<{ realNow: Micros; offsetSeconds: number }> {
  return {
    name: "advance clock",
    book,
    needs: [need(movableBookClocks, book)],
    execute(set, { realNow }) {
      const before = set.get(movableBookClocks, book);
      assert(before, "the book has no clock");
      const targetSeconds = (before.targetSeconds ?? before.offsetSeconds) + seconds;
      if (targetSeconds > OFFSET_MAX_SECONDS)
        throw validationFault("seconds", seconds, "The sandbox's clock cannot go more than a century ahead.");
      set.update(movableBookClocks, { ...before, targetSeconds, movedAt: realNow });
      return { realNow, offsetSeconds: targetSeconds };
    },
  };
}

/** Moves a clock to the offset `stopSeconds`, but not beyond the end of its move. */
function moveOn(book: Book, stopSeconds: number): Command<void> {
  return {
    name: "move clock on",
    book,
    needs: [need(movableBookClocks, book)],
    execute(set, { realNow }) {
      const before = set.get(movableBookClocks, book);
      if (before?.targetSeconds === undefined) return; // another process has ended the move
      const offsetSeconds = Math.min(Math.max(stopSeconds, before.offsetSeconds), before.targetSeconds);
      const targetSeconds = offsetSeconds < before.targetSeconds ? before.targetSeconds : undefined;
      set.update(movableBookClocks, { book, offsetSeconds, targetSeconds, movedAt: realNow });
    },
  };
}

interface ClockParts {
  database: Database;
  lanes: Lanes;
  clock: Clock;
  /** Processes everything that is due in a book at its present time. */
  catchUp: (book: Book) => Promise<void>;
}

export class Clocks {
  private readonly parts: ClockParts;
  /** Moves under way in this process, by book; a second move waits for the first. */
  private readonly moves = new Map<string, Promise<void>>();

  constructor(parts: ClockParts) {
    this.parts = parts;
  }

  /** Completes the move of a clock. Resolves when the clock is there and everything on the way has happened. */
  async move(book: Book): Promise<void> {
    const name = bookKey(book);
    // A caller that comes during a move waits for it and then checks again: the clock may have been sent further. Whether that move failed is
    // told to its own caller alone.
    while (this.moves.has(name)) await this.moves.get(name)?.catch(() => undefined);
    const move = this.moveAll(book).finally(() => this.moves.delete(name));
    this.moves.set(name, move);
    await move;
  }

  /** Continues interrupted moves. */
  async moveLeft(): Promise<void> {
    const { database, clock } = this.parts;
    const rows = await database.query(selectLeftClocks(clock.now() - LEFT_AFTER));
    await eachInTurn(rows, (row) => this.move(bookOfRow(row)));
  }

  private async moveAll(book: Book): Promise<void> {
    const { database, lanes, clock, catchUp } = this.parts;
    for (let stops = 0; ; stops++) {
      // What falls due while the book catches up is a stop as well.
      const since = clock.now();
      await catchUp(book);
      const [row] = await database.query<{ target: bigint | null; next_due_at: Micros | null }>(
        selectNextDue(book, since),
      );
      if (!row || row.target === null) return;
      const next = row.next_due_at === null ? Infinity : Math.ceil((row.next_due_at - clock.now()) / SECOND);
      await lanes.move(book.merchantId, moveOn(book, stops < STOPS_MAX ? next : Infinity));
    }
  }
}
