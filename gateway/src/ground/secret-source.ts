// Where secrets outside the service's own configuration come from: a variable of the environment, or a file that may change while it runs.
import { readFileSync, statSync } from "node:fs";
import { stopwatchMs } from "./clock.ts";

/** A variable of the environment; undefined when it is not set, or empty. */
export function environmentVariable(name: string): string | undefined {
  return process.env[name] || undefined;
}

export interface SecretFile {
  readonly path: string;
  /** What the file holds now, as far as it was looked at in the last seconds. Throws when it was never readable. */
  read(): string;
}

/** A changed file is noticed after so long at the latest. */
const LOOK_MS = 2_000;
/** Longer files hold no key. */
const BYTES_MAX = 65_536;

/**
 * A file that is read again when it has changed. While it cannot be read, as in the moment of its replacement, what it held before
 * is given.
 */
export function watchedFile(path: string, stopwatch: () => number = stopwatchMs): SecretFile {
  let text: string | undefined;
  let seen = "";
  let lookAt = -Infinity;
  return {
    path,
    read() {
      const now = stopwatch();
      if (now < lookAt && text !== undefined) return text;
      lookAt = now + LOOK_MS;
      try {
        const { mtimeMs, size, ino } = statSync(path);
        const mark = `${mtimeMs} ${size} ${ino}`;
        if (mark === seen && text !== undefined) return text;
        if (size > BYTES_MAX) throw new Error(`${path} is too long for a key`);
        const read = readFileSync(path, "utf8");
        // Half of a file that is being written is no key: an empty one is not taken in place of one that was there.
        if (read.trim() !== "" || text === undefined) text = read;
        seen = mark;
      } catch (error) {
        if (text === undefined) throw new Error(`${path} cannot be read (${codeOf(error)})`, { cause: error });
      }
      return text;
    },
  };
}

function codeOf(error: unknown): string {
  const { code, message } = error as { code?: unknown; message?: unknown };
  return typeof code === "string" ? code : String(message);
}
