// Sources of secrets that are not part of the service's own configuration: an environment variable, or a file that may change at run time.
import { readFileSync, statSync } from "node:fs";
import { stopwatchMs } from "./clock.ts";

/** An environment variable; undefined when it is not set or empty. */
export function environmentVariable(name: string): string | undefined {
  return process.env[name] || undefined;
}

export interface SecretFile {
  readonly path: string;
  /** The text of the file, at most LOOK_MS old. Throws when the file was never readable. */
  read(): string;
}

/** Interval at which the file is checked for changes, at most. */
const LOOK_MS = 2_000;
/** Largest file, in bytes; keys are shorter. */
const BYTES_MAX = 65_536;

/** A file that is read again when it has changed. While it cannot be read, as when it is being replaced, `read` gives the earlier text. */
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
        // An empty file is probably being written: the earlier text stays.
        if (read.trim() !== "" || text === undefined) text = read;
        seen = mark;
      } catch (error) {
        const { code, message } = error as NodeJS.ErrnoException;
        if (text === undefined) throw new Error(`${path} cannot be read (${code ?? message})`, { cause: error });
      }
      return text;
    },
  };
}
