// One transaction of a lane, in two round trips: begin and read, then write and commit. The ending is `unknown` when it is not certain.
import type { PoolClient } from "pg";
import { type Row, type Statement, isConnectionLoss, limits, rollBack, sqlState } from "./database.ts";
import { roundTrip } from "./round-trip.ts";

/** How a transaction ended. Success is told after `committed` alone. After `unknown` the database is asked before any caller is answered. */
export type Ending =
  | { readonly kind: "committed" }
  | { readonly kind: "rolled_back"; readonly cause: unknown; readonly failed: string | undefined }
  | { readonly kind: "unknown"; readonly cause: unknown };

/** A statement of a batch, and the table whose rows it reads or writes. */
export interface Step {
  readonly table: string;
  readonly statement: Statement;
}

/** The transaction did not begin, or its rows could not be read: nothing is written. */
export class NotBegun extends Error {
  /** The table whose rows could not be read. */
  readonly failed: string | undefined;
  /** False when the connection was lost and must be closed. */
  readonly connectionIsSound: boolean;

  constructor(cause: unknown, failed: string | undefined, connectionIsSound: boolean) {
    super("the transaction did not begin", { cause });
    this.failed = failed;
    this.connectionIsSound = connectionIsSound;
  }
}

const BEGIN: Statement = { name: "begin", text: "begin" };
const COMMIT: Statement = { name: "commit", text: "commit" };

/** Begins a transaction, and gives the rows of each read. Waits at most `lockMs` for a locked row. Throws `NotBegun`. */
export async function beginAndRead(client: PoolClient, reads: readonly Step[], lockMs: number): Promise<Row[][]> {
  const before = [BEGIN, limits(lockMs)];
  const { completed, rejected } = await roundTrip(client, [...before, ...reads.map(({ statement }) => statement)]);
  if (!rejected) return completed.slice(before.length).map(({ rows }) => rows);
  const sound = await rollBack(client);
  throw new NotBegun(rejected.cause, reads[completed.length - before.length]?.table, sound);
}

/** Writes, and commits in the same round trip. Gives how the transaction ended. */
export async function writeAndCommit(client: PoolClient, writes: readonly Step[]): Promise<Ending> {
  const { completed, rejected } = await roundTrip(client, [...writes.map(({ statement }) => statement), COMMIT]);
  if (!rejected && completed.at(-1)?.tag === "COMMIT") return { kind: "committed" };
  const cause = rejected?.cause;
  const failed = writes[completed.length];
  // A write that PostgreSQL rejected kept COMMIT from being executed: the transaction is still open, and the rollback ends it.
  if (failed && sqlState(cause) !== undefined && !isConnectionLoss(cause) && (await rollBack(client)))
    return { kind: "rolled_back", cause, failed: failed.table };
  return { kind: "unknown", cause };
}
