// The worker that goes on with what acquirers were asked: calls that are planned, and questions about what became of others.
import { type Operation, claimOperations, operationOfRow } from "../acquirers/operations.sql.ts";
import type { Book } from "../merchants/books.ts";
import { type Acquiring, type AcquiringParts } from "../payments/acquiring.ts";
import { performRefund } from "../refunds/acquiring.ts";

/** Calls of one round, at the same time. */
const CALLS_MAX = 64;

export interface DueParts extends AcquiringParts {
  acquiring: Acquiring;
}

/**
 * Takes up what is due now, of one book or of all, once. Gives how many operations that were. Any number of processes may do
 * it: each operation is one worker's for as long as its lease runs.
 */
export async function performDue(parts: DueParts, book?: Book): Promise<number> {
  const rows = await parts.database.query(claimOperations(parts.clock.now(), CALLS_MAX, book));
  const results = await Promise.allSettled(rows.map((row) => perform(parts, operationOfRow(row))));
  for (const result of results) {
    if (result.status === "rejected")
      parts.log.warn({ err: result.reason as unknown }, "an acquirer's operation could not be carried on");
  }
  return rows.length;
}

async function perform(parts: DueParts, operation: Operation): Promise<void> {
  if (operation.kind === "payment") await parts.acquiring.perform(operation);
  else await performRefund(parts, operation);
}
