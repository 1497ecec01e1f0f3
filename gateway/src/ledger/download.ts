// Limits of book exports: how many run at once, for how long, and only while their reader may see the book. The text is in export.ts.
import { Readable } from "node:stream";
import { stopwatchMs } from "../ground/clock.ts";
import { Fault } from "../ground/fault.ts";
import type { Reply } from "../ground/reply.ts";
import type { Book } from "../merchants/books.ts";
import type { Database } from "../store/database.ts";
import { type ExportFormat, exportBook } from "./export.ts";
import { readJournals } from "./verify.ts";

/** An export that takes longer is cut off: its reader is too slow, and others wait for the place. */
const EXPORT_WITHIN_MS = 30 * 60_000;
/** Interval at which an export asks whether its reader may still see the book. */
const ALLOWED_EVERY_MS = 5_000;
const endings: Record<ExportFormat, string> = { hledger: "journal", beancount: "beancount", jsonl: "jsonl" };

/** Exports that may run at once. An export of a long book takes minutes, and uses a database connection now and then. */
export interface ExportLimits {
  inAll: number;
  /** Exports at once that count for the same `whose`. */
  each: number;
}

export interface AskedExport {
  book: Book;
  format: ExportFormat;
  /** The operator's name or the merchant whose limit the export counts against. */
  whose: string;
  /** Throws when the reader may no longer see the book. */
  stillAllowed: () => Promise<void>;
}

export class BookExports {
  private readonly database: Database;
  private readonly limits: ExportLimits;
  /** The `whose` of each running export. */
  private readonly running: string[] = [];

  constructor(database: Database, limits: ExportLimits) {
    this.database = database;
    this.limits = limits;
  }

  /** Gives a reply that streams the whole book. Throws RATE_LIMITED at the limit of `whose`, SERVICE_UNAVAILABLE at the limit of all. */
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

/** Passes chunks on, and calls `stillAllowed` every `everyMs` milliseconds. Throws what `stillAllowed` throws. */
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

/** Passes chunks on, and calls `release` once: when the chunks have ended or failed, or the reader stops, even before the first chunk. */
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
