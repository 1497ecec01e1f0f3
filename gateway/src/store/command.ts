// What a lane runs: a command, the book it is about, and the moment handed to it.
import type { Micros } from "../ground/clock.ts";
import type { Fault } from "../ground/fault.ts";
import type { IdKind } from "../ground/ids.ts";
import type { Need, WorkingSet } from "./working-set.ts";

/** The fields of a book that a lane uses. */
interface BookName {
  readonly merchantId: string;
  readonly environment: string;
}

/** Inputs of a command besides its rows. */
export interface Moment {
  readonly realNow: Micros;
  /** Makes an identity that sorts by `at`. */
  readonly newId: (kind: IdKind, at: Micros) => string;
}

/** The name of a book, in maps and logs. */
export function nameOf({ merchantId, environment }: BookName): string {
  return `${merchantId}/${environment}`;
}

/**
 * A change of state: a pure function from the working set to changes and an answer. A `Fault` that it throws rejects the command, and drops
 * its changes unless the fault has `keepsChanges`. `execute` is called again when the batch runs again, so it must keep no state.
 */
export interface Command<Answer> {
  readonly name: string;
  /** The book whose rows the command locks. Commands of one book wait for each other, and not for those of other books. */
  readonly book: BookName;
  readonly needs: readonly Need[];
  execute(set: WorkingSet, moment: Moment): Answer;
  /** Called after a COMMIT whose outcome is unknown: gives the answer if the database has it. Throws the `Fault` to answer instead. */
  recall?(): Promise<Answer | undefined>;
  /** The fault when another process keeps a row of this table locked; SERVICE_UNAVAILABLE when absent or undefined. */
  onLocked?: (table: string) => Fault | undefined;
}
