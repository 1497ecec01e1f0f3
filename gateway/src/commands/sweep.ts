// Sweeps: work off all rows that are due, in rounds until none is left. A book whose work fails holds up no other.
import type { Clock } from "../ground/clock.ts";
import type { Log } from "../ground/log.ts";
import { type Book, type Environment, bookKey, bookOfRow } from "../merchants/books.ts";
import type { Directory } from "../merchants/directory.ts";
import type { DueBooks } from "../merchants/due-books.sql.ts";
import type { Database, Row, Statement } from "../store/database.ts";
import type { Lanes } from "../store/lanes.ts";
import type { BookOwner } from "./command-context.ts";

export interface SweepParts {
  database: Database;
  lanes: Lanes;
  directory: Directory;
  clock: Clock;
  log: Log;
}

interface Sweep {
  /** Reads the rows that are due, with the columns of their books. */
  due: (which: DueBooks) => Statement;
  /** The one book to sweep; all when absent. */
  book: Book | undefined;
  /** Rows of a round at most, of each part of the statement. */
  most: number;
  /** Works off a row. True when something was done. */
  work: (owner: BookOwner, row: Row) => Promise<boolean>;
  /** What the log says of a book whose work fails. */
  failure: string;
}

/**
 * Works off the rows that are due, and gives how many were. Any number of processes may sweep at once. A book in quarantine, and one of whose rows
 * fails, is left out from then on: its rows stay due, and would otherwise fill each round.
 */
export async function sweep({ database, lanes, directory, clock, log }: SweepParts, task: Sweep): Promise<number> {
  const without = new Map([...lanes.quarantine.keys()].map((name) => [name, bookOfName(name)]));
  for (let done = 0; ;) {
    const { most, book: only } = task;
    const due = task.due({ realNow: clock.now(), most, without: [...without.values()], book: only });
    const rows = await database.query(due);
    const leftOut = without.size;
    const worked = await Promise.all(
      rows.map(async (row) => {
        const book = bookOfRow(row);
        try {
          const merchant = await directory.merchant(book.merchantId);
          return merchant !== undefined && (await task.work({ merchant, book }, row));
        } catch (error) {
          if (!without.has(bookKey(book))) log.warn({ err: error, book }, task.failure);
          without.set(bookKey(book), book);
          return false;
        }
      }),
    );
    const count = worked.filter(Boolean).length;
    done += count;
    if (count === 0 && (rows.length < most || without.size === leftOut)) return done;
  }
}

function bookOfName(name: string): Book {
  const [merchantId = "", environment] = name.split("/");
  return { merchantId, environment: environment as Environment };
}
