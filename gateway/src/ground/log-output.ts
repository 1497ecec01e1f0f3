// Where the log of a service goes: to standard output, many lines in one write, which another thread makes.
//
// Tried: pino's own output, which writes each line by itself. That took a tenth of the service's processor time for a creation, and kept all that
// nobody read in memory.
import { type DestinationStream, destination } from "pino";
import type { Log } from "./log.ts";

/** Lines are written when there are so many bytes of them, and at the latest after FLUSH_MS. */
const GATHER_BYTES = 16_000;
const FLUSH_MS = 200;
/** Lines that wait for a slow reader. Further ones are lost, so that memory stays bounded. */
export const WAITING_MAX_BYTES = 4 * 1_024 * 1_024;

export interface LogOutput extends DestinationStream {
  /** Calls `count` for each line that is lost. */
  onLost(count: () => void): void;
  /** Says in the log how many lines were lost, once it is read again. */
  sayLost(log: Log): void;
}

/** The output of a process that serves. What waits is written when the process exits; a process that is killed takes it with it. */
export function standardOutput(): LogOutput {
  const output = destination({
    dest: 1,
    sync: false,
    minLength: GATHER_BYTES,
    maxLength: WAITING_MAX_BYTES,
    periodicFlush: FLUSH_MS,
  });
  // A full disk, for example. The lines stay, and the next write tries again; an exit would try for ever.
  let isFailing = false;
  output.on("error", () => (isFailing = true));
  output.on("write", () => (isFailing = false));
  const flushSync = output.flushSync.bind(output);
  return Object.assign(output, {
    flushSync: () => void (isFailing || flushSync()),
    onLost: (count: () => void) => void output.on("drop", count),
    sayLost(log: Log) {
      let lines = 0;
      output.on("drop", () => void lines++);
      output.on("drain", () => {
        if (lines === 0) return;
        const lost = lines;
        lines = 0;
        log.warn({ lines: lost }, "lines of the log were lost: they were read more slowly than written");
      });
    },
  });
}
