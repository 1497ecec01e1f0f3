// Exports of books under way: each is sent while it is read, so many at once, for so long, and only to whom it may go.
import { Readable } from "node:stream";
import { stopwatchMs } from "../ground/clock.ts";
import { Fault } from "../ground/fault.ts";
import type { Reply } from "../ground/reply.ts";
import type { Book } from "../merchants/books.ts";
import type { Database } from "../store/database.ts";
import { type ExportFormat, exportBook } from "./export.ts";
import { readJournals } from "./verify.ts";

/** Whoever reads so slowly that it takes longer is cut off: others wait for the place. */
const EXPORT_WITHIN_MS = 30 * 60_000;
/** Whoever loses the right to read the book reads no more of it for longer. */
const ALLOWED_EVERY_MS = 5_000;
const endings: Record<ExportFormat, string> = { hledger: "journal", beancount: "beancount", jsonl: "jsonl" };

/** A long book takes minutes and a connection now and then. */
export interface ExportLimits {
  inAll: number;
  /** Of those that count for the same one. */
  each: number;
}

export interface AskedExport {
  book: Book;
  format: ExportFormat;
  /** Whom it counts for. */
  whose: string;
  /** Throws where whoever asked may have no more of it. */
  stillAllowed: () => Promise<void>;
}

export class BookExports {
  private readonly database: Database;
  private readonly limits: ExportLimits;
  /** Whom each counts for. */
  private readonly running: string[] = [];

  constructor(database: Database, limits: ExportLimits) {
    this.database = database;
    this.limits = limits;
  }

  /** The answer that goes on until the book ends. Throws RATE_LIMITED (theirs are too many), SERVICE_UNAVAILABLE (all together are). */
  begin({ book, format, whose, stillAllowed }: AskedExport): Reply {
    const { running, limits } = this;
    const isOwn = running.filter((one) => one === whose).length >= limits.each;
    if (isOwn || running.length >= limits.inAll)
      throw new Fault(isOwn ? "RATE_LIMITED" : "SERVICE_UNAVAILABLE", {
        message: "Too many books are being exported already. Try again when one is done.",
        retryAfterSeconds: 10,
      });
    running.push(whose);
    const late = setTimeout(() => stream.destroy(), EXPORT_WITHIN_MS).unref();
    const release = (): void => {
      clearTimeout(late);
      running.splice(running.indexOf(whose), 1);
    };
    const chunks = whileAllowed(exportBook(format, book, readJournals(this.database, book)), stillAllowed);
    const stream = Readable.from(released(chunks, release));
    return {
      status: 200,
      body: "",
      contentType: "text/plain; charset=utf-8",
      stream,
      saveAs: `book-${book.environment}.${endings[format]}`,
    };
  }
}

/** The same chunks, as long as whoever asked may have them: it is asked again every few seconds. Throws what `stillAllowed` does. */
export async function* whileAllowed(
  chunks: AsyncGenerator<string>,
  stillAllowed: () => Promise<void>,
  everyMs = ALLOWED_EVERY_MS,
): AsyncGenerator<string> {
  let asked = stopwatchMs();
  for await (const chunk of chunks) {
    if (stopwatchMs() - asked >= everyMs) {
      await stillAllowed();
      asked = stopwatchMs();
    }
    yield chunk;
  }
}

/** The same chunks; `release` is called once, when they have ended, failed, or nobody wants any more of them, whether or not one was read. */
function released(chunks: AsyncGenerator<string>, release: () => void): AsyncIterable<string> {
  let isHeld = true;
  const end = (): void => {
    if (isHeld) release();
    isHeld = false;
  };
  return {
    [Symbol.asyncIterator]: () => ({
      async next() {
        try {
          const result = await chunks.next();
          if (result.done === true) end();
          return result;
        } catch (error) {
          end();
          throw error;
        }
      },
      async return() {
        end();
        await chunks.return(undefined);
        return { done: true, value: undefined };
      },
    }),
  };
}
