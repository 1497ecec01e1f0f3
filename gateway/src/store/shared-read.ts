// Reads by key that arrive while others are under way are asked together: one statement for all who wait.
import type { Database, Row, Statement } from "./database.ts";

interface Waiting<Key> {
  key: Key;
  resolve(row: Row | undefined): void;
  reject(error: unknown): void;
}

export interface SharedReadOptions<Key> {
  /** A statement that gives at most one row for each key. */
  ask(keys: readonly Key[]): Statement;
  /** A text that is equal exactly for equal keys, and what a row says of its own. */
  keyText(key: Key): string;
  rowText(row: Row): string;
}

const IN_FLIGHT = 2;
const BATCH_MAX = 128;

export class SharedRead<Key> {
  private readonly database: Database;
  private readonly options: SharedReadOptions<Key>;
  private queue: Waiting<Key>[] = [];
  private running = 0;
  private scheduled = false;

  constructor(database: Database, options: SharedReadOptions<Key>) {
    this.database = database;
    this.options = options;
  }

  /** The row of a key, as it is committed now; undefined when there is none. Throws what the database threw. */
  read(key: Key): Promise<Row | undefined> {
    return new Promise((resolve, reject) => {
      this.queue.push({ key, resolve, reject });
      this.schedule();
    });
  }

  private schedule(): void {
    // As in the lanes: who is read in the same turn of the event loop is asked together, and nobody waits for a timer.
    if (this.scheduled || this.running >= IN_FLIGHT || this.queue.length === 0) return;
    this.scheduled = true;
    setImmediate(() => {
      this.scheduled = false;
      this.running++;
      void this.ask(this.queue.splice(0, BATCH_MAX)).finally(() => {
        this.running--;
        this.schedule();
      });
      this.schedule();
    });
  }

  private async ask(batch: Waiting<Key>[]): Promise<void> {
    const { options } = this;
    try {
      const keys = new Map(batch.map(({ key }) => [options.keyText(key), key]));
      const rows = await this.database.query(options.ask([...keys.values()]));
      const found = new Map(rows.map((row) => [options.rowText(row), row]));
      for (const waiting of batch) waiting.resolve(found.get(options.keyText(waiting.key)));
    } catch (error) {
      for (const waiting of batch) waiting.reject(error);
    }
  }
}
