// Replays books in this process, one at a time. A background replay records its progress in the database, and an operator can stop it from any process.
import { type Clock, stopwatchMs } from "../ground/clock.ts";
import { Fault } from "../ground/fault.ts";
import { newId } from "../ground/ids.ts";
import type { Log } from "../ground/log.ts";
import { type BookReport, type ReplayProgress, verifyBook } from "../ledger/verify.ts";
import { type Book, bookKey } from "../merchants/books.ts";
import type { Database } from "../store/database.ts";
import {
  type Verification,
  type VerificationEnd,
  askToStop,
  endVerification,
  forgetOldVerifications,
  insertVerification,
  interruptGone,
  selectVerification,
  selectVerifications,
  saveProgress,
  verificationOfRow,
} from "./book-verifications.sql.ts";

/** Requests that may wait for a replay, including the running one; further ones are rejected. */
const IN_LINE_MAX = 8;
const SAVE_EVERY_MS = 1_000;

interface BookReplayParts {
  database: Database;
  clock: Clock;
  log: Log;
  /** Interval of recording progress and checking for a request to stop; a second when left out. */
  saveEveryMs?: number;
}

/** Thrown inside a replay that ends early. */
class Ended extends Error {
  readonly status: "stopped" | "interrupted";

  constructor(status: "stopped" | "interrupted") {
    super(`the replay was ${status}`);
    this.status = status;
  }
}

const notBegun: ReplayProgress = { journals: 0n, journalsInAll: 0n, checks: 0, checksInAll: 0, rows: 0n };

export class BookReplays {
  private readonly parts: BookReplayParts;
  private last: Promise<unknown> = Promise.resolve();
  private inLine = 0;
  /** The background replay, while it runs. */
  private started:
    | {
        book: Book;
        id: string;
        ending: AbortController;
        opened: Promise<Verification | undefined>;
        done: Promise<void>;
      }
    | undefined;
  private isStopped = false;

  constructor(parts: BookReplayParts) {
    this.parts = parts;
  }

  /** Replays a book while the caller waits. Throws SERVICE_UNAVAILABLE while a background replay runs, or when too many callers wait. */
  verify(book: Book): Promise<BookReport> {
    if (this.started)
      throw busy("A replay that an operator started is under way here. Read how far it is, or try later.");
    if (this.isStopped || this.inLine >= IN_LINE_MAX) throw busy("Too many replays are asked for. Try again shortly.");
    this.inLine++;
    const next = this.last.then(() => verifyBook(this.parts.database, book)).finally(() => this.inLine--);
    this.last = Promise.allSettled([next]); // a failure reaches only its own caller; the next replay runs
    return next;
  }

  /** Starts a background replay, or gives the book's running one, in whatever process it runs. Throws SERVICE_UNAVAILABLE. */
  async start(book: Book, by: string): Promise<Verification> {
    const [newest] = await this.list(book);
    if (newest?.status === "running") return newest;
    if (this.started && bookKey(this.started.book) === bookKey(book)) {
      // Another request of this process is starting this replay.
      const theirs = await this.started.opened;
      if (theirs) return theirs;
      // Another process started the replay before either request did.
      const [other] = await this.list(book);
      if (other?.status === "running") return other;
    }
    if (this.isStopped || this.started || this.inLine > 0)
      throw busy("This process replays a book already. Try again when that is done.");
    const { database, clock } = this.parts;
    const key = { book, id: newId("verification", clock.now()) };
    const opening = database.transaction(async (query) => {
      await query(interruptGone(book));
      await query(forgetOldVerifications(book));
      const [row] = await query(insertVerification(key, by));
      return row && verificationOfRow(row);
    });
    // An error reaches only this caller.
    const opened = opening.catch(() => undefined);
    const ending = new AbortController();
    const done = this.replay(key, ending, opened).finally(() => (this.started = undefined));
    this.started = { ...key, ending, opened, done };
    const begun = await opening;
    if (begun) return begun;
    // Another process started a replay first.
    const [other] = await this.list(book);
    if (!other) throw busy("The replay could not be started. Try again shortly.");
    return other;
  }

  /** Stops a replay in whatever process it runs; an ended replay stays as it is. Undefined for an unknown replay. */
  async end(book: Book, id: string, by: string): Promise<Verification | undefined> {
    const key = { book, id };
    const { database } = this.parts;
    await database.transaction((query) => query(interruptGone(book)));
    const asked = await database.query(askToStop(key, by));
    if (asked.length > 0 && this.started?.id === id) {
      this.started.ending.abort(new Ended("stopped"));
      await this.started.done;
    }
    return this.read(book, id);
  }

  async read(book: Book, id: string): Promise<Verification | undefined> {
    return this.parts.database.first(selectVerification({ book, id }), verificationOfRow);
  }

  /** The replays of a book, newest first. */
  async list(book: Book): Promise<Verification[]> {
    return (await this.parts.database.query(selectVerifications(book))).map(verificationOfRow);
  }

  /** Interrupts the background replay, because the process stops. */
  async stop(): Promise<void> {
    this.isStopped = true;
    this.started?.ending.abort(new Ended("interrupted"));
    await this.started?.done;
  }

  private async replay(
    key: { book: Book; id: string },
    ending: AbortController,
    opened: Promise<Verification | undefined>,
  ): Promise<void> {
    if (!(await opened)) return;
    const { database, log, saveEveryMs = SAVE_EVERY_MS } = this.parts;
    const begunMs = stopwatchMs();
    let reached = notBegun;
    let journalsMs = 0;
    const progress = (now: ReplayProgress): void => {
      if (now.journals > reached.journals) journalsMs = stopwatchMs() - begunMs;
      reached = now;
    };
    let saving: Promise<void> | undefined;
    const save = async (): Promise<void> => {
      const [row] = await database.query(saveProgress(key, reached, journalsMs));
      if (!row) ending.abort(new Ended("interrupted"));
      else if (row.stopped_by !== null) ending.abort(new Ended("stopped"));
    };
    const timer = setInterval(() => {
      saving ??= save()
        .catch((error: unknown) => log.warn({ err: error }, "a replay could not say how far it is"))
        .finally(() => (saving = undefined));
    }, saveEveryMs);
    let end: VerificationEnd;
    try {
      const { wrong, head } = await verifyBook(database, key.book, { progress, signal: ending.signal });
      end = { status: wrong === undefined ? "clean" : "wrong", wrong, head };
    } catch (error) {
      if (!(error instanceof Ended)) log.error({ err: error, verification: key.id }, "a replay of a book failed");
      end = { status: error instanceof Ended ? error.status : "interrupted", wrong: undefined, head: undefined };
    }
    clearInterval(timer);
    await saving;
    try {
      await database.query(endVerification(key, reached, journalsMs, end));
    } catch (error) {
      // The replay records no more progress, so it counts as interrupted before long.
      log.error({ err: error, verification: key.id, end }, "what a replay found could not be written");
    }
  }
}

function busy(message: string): Fault {
  return new Fault("SERVICE_UNAVAILABLE", { message, retryAfterSeconds: 10 });
}
