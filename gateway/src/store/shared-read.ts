// Reads by key, combined: reads that arrive while others are in flight share the next statement.
import { unavailable } from "../ground/fault.ts";
import type { Database, Row, Statement } from "./database.ts";

interface Waiting<Key> {
  key: Key;
  resolve(row: Row | undefined): void;
  reject(error: unknown): void;
}

const IN_FLIGHT = 2;
const BATCH_MAX = 128;
const WAITING_MAX = 10_000;
/** A second statement is sent beside the first only for more waiting keys than this: fewer, larger statements make a read a tenth cheaper. */
const BESIDE_MIN = 20;

export class SharedRead<Key> {
  private readonly database: Database;
  private readonly statement: (keys: readonly Key[]) => Statement;
  private queue: Waiting<Key>[] = [];
  private running = 0;
  private scheduled = false;

  /** `statement` must give at most one row per key, with the position of its key, from 1, in the column `place`. */
  constructor(database: Database, statement: (keys: readonly Key[]) => Statement) {
    this.database = database;
    this.statement = statement;
  }

  /** The row of a key, as committed now; undefined when there is none. Throws the database's error, and SERVICE_UNAVAILABLE when too many wait. */
  read(key: Key): Promise<Row | undefined> {
    return new Promise((resolve, reject) => {
      if (this.queue.length >= WAITING_MAX) throw unavailable("too many reads wait");
      this.queue.push({ key, resolve, reject });
      this.schedule();
    });
  }

  private schedule(): void {
    // As in the lanes: keys that arrive in one turn of the event loop share a statement, and none waits for a timer.
    if (this.scheduled || this.running >= IN_FLIGHT || this.queue.length <= this.running * BESIDE_MIN) return;
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
    try {
      const rows = await this.database.query<{ place: number }>(this.statement(batch.map(({ key }) => key)));
      const found: Row[] = [];
      for (const row of rows) found[row.place - 1] = row;
      for (const [index, waiting] of batch.entries()) waiting.resolve(found[index]);
    } catch (error) {
      for (const waiting of batch) waiting.reject(error);
    }
  }
}
