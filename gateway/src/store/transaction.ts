// One transaction of a lane, in two round trips: begin and read, then write and commit. The ending is `unknown` when it is not certain.
import type { PoolClient, QueryConfig, QueryResult } from "pg";
import { type Row, type Statement, limits, rollBack, together } from "./database.ts";

/**
 * How a transaction ended. Callers hear of success only after `committed`. After `unknown` the database is asked before any caller is
 * answered.
 */
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
  /** False when it is unknown whether the statements ran inside a transaction: the connection must be closed. */
  readonly connectionIsSound: boolean;

  constructor(cause: unknown, failed: string | undefined, connectionIsSound: boolean) {
    super("the transaction did not begin", { cause });
    this.failed = failed;
    this.connectionIsSound = connectionIsSound;
  }
}

/**
 * Begins a transaction and runs the reads. Waits at most `lockMs` for a locked row. Gives the rows of each read. Throws `NotBegun`.
 */
export async function beginAndRead(client: PoolClient, reads: readonly Step[], lockMs: number): Promise<Row[][]> {
  const [begun, limited, ...read] = await Promise.allSettled(
    together(client, () => [
      client.query("begin"),
      send(client, limits(lockMs)),
      ...reads.map(({ statement }) => send(client, statement)),
    ]),
  );
  // If BEGIN failed, each later statement ran, and was committed, by itself.
  if (begun?.status !== "fulfilled") throw new NotBegun(begun?.reason, undefined, false);
  const at = read.findIndex(({ status }) => status === "rejected");
  const failed = limited?.status === "rejected" ? limited : read[at];
  if (failed?.status === "rejected") {
    const sound = await rollBack(client);
    throw new NotBegun(failed.reason, reads[at]?.table, sound);
  }
  return read.map((result) => (result.status === "fulfilled" ? (result.value.rows as Row[]) : []));
}

export async function writeAndCommit(client: PoolClient, writes: readonly Step[]): Promise<Ending> {
  const results = await Promise.allSettled(
    together(client, () => [...writes.map(({ statement }) => send(client, statement)), client.query("commit")]),
  );
  const at = results.findIndex(({ status }) => status === "rejected");
  const rejected = results[at];
  const cause: unknown = rejected?.status === "rejected" ? rejected.reason : undefined;
  const last = results.at(-1);
  const tag = last?.status === "fulfilled" ? last.value.command : undefined;
  if (at < 0 && tag === "COMMIT") return { kind: "committed" };
  // BEGIN had succeeded, so a COMMIT that is answered with ROLLBACK ended this transaction, and nothing is written.
  if (tag === "ROLLBACK") return { kind: "rolled_back", cause, failed: writes[at]?.table };
  return { kind: "unknown", cause };
}

function send(client: PoolClient, statement: Statement): Promise<QueryResult> {
  return client.query(statement as QueryConfig);
}
