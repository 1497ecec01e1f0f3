// A file of JSON lines that only grows: what was appended and flushed is there after a kill. It knows nothing of its lines.
import {
  closeSync,
  existsSync,
  fdatasyncSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  writeSync,
} from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { dirname } from "node:path";

/** Below so many lines nobody cares how many of them are out of date. */
const LINES_MIN = 10_000;

export class StateFile {
  private readonly path: string;
  private readonly snapshot: () => unknown[];
  private handle: FileHandle | undefined;
  private lines = 0;
  private rewriteAt = LINES_MIN;
  private waiting: string[] = [];
  private tail: Promise<void> = Promise.resolve();
  private planned = false;

  /** `snapshot` gives values that say the same as all lines so far; with it the file is written anew when it has grown. */
  constructor(path: string, snapshot: () => unknown[]) {
    this.path = path;
    this.snapshot = snapshot;
  }

  /** The values of the file, in order. A last line that a kill has torn was never flushed, and is left out. */
  static read(path: string): unknown[] {
    if (!existsSync(path)) return [];
    const lines = readFileSync(path, "utf8").split("\n");
    lines.pop(); // after the last newline there is nothing, or what a kill has torn
    return lines.map((line, index) => {
      try {
        return JSON.parse(line) as unknown;
      } catch (cause) {
        throw new Error(`line ${index + 1} of ${path} is damaged; move the file away to begin anew`, { cause });
      }
    });
  }

  /** Writes the file anew and opens it. */
  async start(): Promise<void> {
    await this.rewrite();
  }

  /** Takes note of a value. It is on the disk once `flushed` has ended. */
  append(value: unknown): void {
    this.waiting.push(`${JSON.stringify(value)}\n`);
    if (this.planned) return;
    this.planned = true;
    this.tail = this.tail.then(() => this.write());
    this.tail.catch(() => undefined); // whoever waits for `flushed` hears of it
  }

  /** Ends when everything appended so far is on the disk; fails for good when the disk has failed once. */
  flushed(): Promise<void> {
    return this.tail;
  }

  async close(): Promise<void> {
    try {
      await this.tail;
    } finally {
      await this.handle?.close();
    }
  }

  /** All that waits in one write and one flush. */
  private async write(): Promise<void> {
    this.planned = false;
    const batch = this.waiting;
    this.waiting = [];
    await this.handle?.appendFile(batch.join(""));
    await this.handle?.datasync();
    this.lines += batch.length;
    if (this.lines > this.rewriteAt) await this.rewrite();
  }

  /** A whole new file takes the place of the old one, or nothing changes. */
  private async rewrite(): Promise<void> {
    const values = this.snapshot();
    const file = openSync(`${this.path}.new`, "w", 0o600);
    for (let at = 0; at < values.length; at += 1000) {
      const chunk = values.slice(at, at + 1000).map((value) => `${JSON.stringify(value)}\n`);
      const bytes = Buffer.from(chunk.join(""));
      for (let done = 0; done < bytes.length;) done += writeSync(file, bytes, done);
    }
    fdatasyncSync(file);
    closeSync(file);
    renameSync(`${this.path}.new`, this.path);
    const directory = openSync(dirname(this.path), "r");
    fsyncSync(directory);
    closeSync(directory);
    await this.handle?.close();
    this.handle = await open(this.path, "a");
    this.lines = values.length;
    this.rewriteAt = Math.max(LINES_MIN, 4 * values.length);
  }
}
