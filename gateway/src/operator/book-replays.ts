// Replays of books in this process: one at a time. One that an operator started goes on by itself, tells the database how far it is, and can be stopped.
import type { Clock } from "../ground/clock.ts";
import { stopwatchMs } from "../ground/clock.ts";
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
  tellProgress,
  verificationOfRow,
} from "./book-verifications.sql.ts";

/** Whoever waits for an answer to a replay, the running one included; more are told to come back. */
const IN_LINE_MAX = 8;
const TELL_MS = 1_000;

export interface BookReplayParts {
  database: Database;
  clock: Clock;
  log: Log;
  /** How often a replay says how far it is, and hears whether it is to end; a second when left out. */
  tellMs?: number;
}

/** Why a replay ends before its book does. */
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
  /** The one that an operator started, while it runs. */
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

  /** Replays a book for somebody who waits. Throws SERVICE_UNAVAILABLE while one that was started runs, or too many wait. */
  verify(book: Book): Promise<BookReport> {
    if (this.started)
      throw busy("A replay that an operator started is under way here. Read how far it is, or try later.");
    if (this.isStopped || this.inLine >= IN_LINE_MAX) throw busy("Too many replays are asked for. Try again shortly.");
    this.inLine++;
    const next = this.last.then(() => verifyBook(this.parts.database, book)).finally(() => this.inLine--);
    this.last = Promise.allSettled([next]); // whoever asked hears of a failure; the one behind goes on
    return next;
  }

  /** Starts a replay that nobody waits for, or gives the one of the book that runs, in whichever process. Throws SERVICE_UNAVAILABLE. */
  async start(book: Book, by: string): Promise<Verification> {
    const [newest] = await this.list(book);
    if (newest?.status === "running") return newest;
    if (this.started && bookKey(this.started.book) === bookKey(book)) {
      // Somebody asked for it a moment ago.
      const theirs = await this.started.opened;
      if (theirs) return theirs;
      // Another process was faster than both.
      const [other] = await this.list(book);
      if (other?.status === "running") return other;
    }
    if (this.isStopped || this.started || this.inLine > 0)
      throw busy("This process replays a book already. Try again when that is done.");
    const { database, clock } = this.parts;
    const key = { book, id: newId("verification", clock.now()) };
    const ending = new AbortController();
    const opened = Promise.withResolvers<Verification | undefined>();
    const done = this.replay(key, ending, opened.promise).finally(() => (this.started = undefined));
    this.started = { ...key, ending, opened: opened.promise, done };
    try {
      const row = await database.transaction(async (query) => {
        await query(interruptGone(book));
        await query(forgetOldVerifications(book));
        return (await query(insertVerification(key, by)))[0];
      });
      opened.resolve(row && verificationOfRow(row));
    } catch (error) {
      opened.resolve(undefined);
      throw error;
    }
    const begun = await opened.promise;
    if (begun) return begun;
    // Another process was faster.
    const [other] = await this.list(book);
    if (!other) throw busy("The replay could not be started. Try again shortly.");
    return other;
  }

  /** Ends a replay, in whichever process it runs; one that has ended stays as it is. Undefined where there is none. */
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
    const [row] = await this.parts.database.query(selectVerification({ book, id }));
    return row && verificationOfRow(row);
  }

  /** The newest first. */
  async list(book: Book): Promise<Verification[]> {
    return (await this.parts.database.query(selectVerifications(book))).map(verificationOfRow);
  }

  /** Ends what runs: the process ends. */
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
    const { database, log, tellMs = TELL_MS } = this.parts;
    const begunMs = stopwatchMs();
    let told = notBegun;
    let journalsMs = 0;
    const progress = (now: ReplayProgress): void => {
      if (now.journals > told.journals) journalsMs = stopwatchMs() - begunMs;
      told = now;
    };
    let telling: Promise<void> | undefined;
    const tell = async (): Promise<void> => {
      const [row] = await database.query(tellProgress(key, told, journalsMs));
      if (!row) ending.abort(new Ended("interrupted"));
      else if (row.stopped_by !== null) ending.abort(new Ended("stopped"));
    };
    const timer = setInterval(() => {
      telling ??= tell()
        .catch((error: unknown) => log.warn({ err: error }, "a replay could not say how far it is"))
        .finally(() => (telling = undefined));
    }, tellMs);
    let end: VerificationEnd;
    try {
      const { wrong, head } = await verifyBook(database, key.book, { progress, signal: ending.signal });
      end = { status: wrong === undefined ? "clean" : "wrong", wrong, head };
    } catch (error) {
      if (!(error instanceof Ended)) log.error({ err: error, verification: key.id }, "a replay of a book failed");
      end = { status: error instanceof Ended ? error.status : "interrupted", wrong: undefined, head: undefined };
    }
    clearInterval(timer);
    await telling;
    try {
      await database.query(endVerification(key, told, journalsMs, end));
    } catch (error) {
      // Nobody hears of it any more, so it counts as interrupted before long.
      log.error({ err: error, verification: key.id, end }, "what a replay found could not be written");
    }
  }
}

function busy(message: string): Fault {
  return new Fault("SERVICE_UNAVAILABLE", { message, retryAfterSeconds: 10 });
}
