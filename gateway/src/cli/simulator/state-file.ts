// A file of JSON lines to which lines are only appended: a line that was flushed survives a kill. The lines' meaning is not known here.
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

/** A file with fewer lines than this is not rewritten, however many of them are outdated. */
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

  /** `snapshot` returns values that are equivalent to all lines so far: the file is rewritten from them when it has grown. */
  constructor(path: string, snapshot: () => unknown[]) {
    this.path = path;
    this.snapshot = snapshot;
  }

  /** The values of the file, in order. A last line that a kill cut off was never flushed, and is left out. */
  static read(path: string): unknown[] {
    if (!existsSync(path)) return [];
    const lines = readFileSync(path, "utf8").split("\n");
    lines.pop(); // after the last newline: nothing, or a line that a kill cut off
    return lines.map((line, index) => {
      try {
        return JSON.parse(line) as unknown;
      } catch (cause) {
        throw new Error(`line ${index + 1} of ${path} is damaged; move the file away to begin anew`, { cause });
      }
    });
  }

  /** Rewrites the file and opens it. */
  async start(): Promise<void> {
    await this.rewrite();
  }

  /** Appends a value. It is on the disk once `flushed` has resolved. */
  append(value: unknown): void {
    this.waiting.push(`${JSON.stringify(value)}\n`);
    if (this.planned) return;
    this.planned = true;
    this.tail = this.tail.then(() => this.write());
    this.tail.catch(() => undefined); // callers of `flushed` get the error
  }

  /** Resolves when everything appended so far is on the disk; rejects for good once the disk has failed. */
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

  /** Writes all pending lines in one write and one flush. */
  private async write(): Promise<void> {
    this.planned = false;
    const batch = this.waiting;
    this.waiting = [];
    await this.handle?.appendFile(batch.join(""));
    await this.handle?.datasync();
    this.lines += batch.length;
    if (this.lines > this.rewriteAt) await this.rewrite();
  }

  /** Replaces the file by a whole new one, or changes nothing. */
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
