// One attempt to run a batch of commands in a transaction: read, execute, write, commit, and look up what is uncertain. lane.ts chooses the
// batches, and what happens after an attempt that failed.
import type { PoolClient } from "pg";
import { type Clock, type Micros, stopwatchMs } from "../ground/clock.ts";
import { Fault, ImpossibleState, assert, unavailable } from "../ground/fault.ts";
import type { Log } from "../ground/log.ts";
import type { Metrics } from "../ground/metrics.ts";
import { type Span, type Tracing, noTracing } from "../ground/tracing.ts";
import { type Command, nameOf } from "./command.ts";
import { type Database, rollBack, sqlState } from "./database.ts";
import { batchSpan, flightSpan, identitiesIn } from "./lane-spans.ts";
import { byLockOrder } from "./lock-order.ts";
import { type Ending, NotBegun, type Step, beginAndRead, writeAndCommit } from "./transaction.ts";
import { type Need, WorkingSet } from "./working-set.ts";

export interface BatchParts {
  database: Database;
  clock: Clock;
  metrics: Metrics;
  log: Log;
  /** Books in which an impossible state was found, with the reason. Their commands are rejected, or they could move wrong money. */
  quarantine: Map<string, string>;
  /** Called with the ending of each transaction; `WriteHealth` learns from it whether the database can be written to. */
  onEnding(ending: Ending): void;
  tracing?: Tracing;
}

/** A command, and its span if anything is traced. */
export interface Traced {
  command: Command<unknown>;
  span: Span | undefined;
}

/** What became of one command. */
export type Outcome = { answer: unknown } | { error: unknown };

/** The result of a batch: an outcome for each command, or the failure of the whole batch. */
type Run = { outcomes: Outcome[] } | Refused;

export interface Refused {
  refused: unknown;
  /** The table whose statement failed. */
  failed: string | undefined;
  /** True when it is certain that nothing is written, and the connection answers: the commands may run again at once. */
  isUnwritten: boolean;
}

/** True when a batch failed because another process keeps a row, or a table, locked. */
export function isLocked({ refused, isUnwritten }: Refused): boolean {
  return isUnwritten && sqlState(refused) === "55P03";
}

/** The table of which another process has locked a row; "" when it has locked all of it. In each language PostgreSQL says where the row is. */
export function tableOfLockedRow({ refused, failed = "" }: Refused): string {
  return /\(\d+,\d+\)/.test(String((refused as { where?: unknown }).where)) ? failed : "";
}

/** A batch waits this long for a row that another process has locked. With the second try, a key in use is reported within 200 ms. */
export const LOCK_MS = 90;

export class Batches {
  private readonly lane: string;
  private readonly parts: BatchParts;
  private readonly beforeWrite: ((set: WorkingSet) => void) | undefined;
  private readonly tracing: Tracing;

  /** `lane`: the name of the lane, for metrics, logs and spans. `beforeWrite`: see `LaneOptions`. */
  constructor(lane: string, parts: BatchParts, beforeWrite?: (set: WorkingSet) => void) {
    this.lane = lane;
    this.parts = parts;
    this.beforeWrite = beforeWrite;
    this.tracing = parts.tracing ?? noTracing;
  }

  /** Reads what the commands need, waiting at most `lockMs` for a locked row; executes the commands, writes and commits. */
  async attempt(batch: readonly Traced[], lockMs: number): Promise<Run> {
    const spans = batch.map((traced) => traced.span);
    const span = batchSpan(this.tracing, this.lane, spans);
    const run = await this.transact(batch, lockMs, span);
    span?.end("refused" in run ? (run.failed ?? "refused") : undefined);
    return run;
  }

  private async transact(batch: readonly Traced[], lockMs: number, span: Span | undefined): Promise<Run> {
    let client: PoolClient;
    try {
      client = await this.parts.database.pool.connect();
    } catch (error) {
      return { refused: error, failed: undefined, isUnwritten: false };
    }
    let sound = false;
    let isWriting = false;
    try {
      this.parts.metrics.laneBatchSize.observe({ lane: this.lane }, batch.length);
      const { set, hasWritten } = await this.read(client, batch, lockMs, span);
      const outcomes = this.execute(set, batch);
      const writes = set.writes();
      if (writes.length === 0 && !hasWritten) {
        sound = await rollBack(client);
        return { outcomes };
      }
      isWriting = true;
      const ending = await this.write(client, writes, lockMs, span);
      sound = ending.kind !== "unknown";
      if (ending.kind !== "rolled_back") this.runHooks(set.hooksAfter(ending.kind));
      switch (ending.kind) {
        case "committed":
          return { outcomes };
        case "rolled_back":
          return { refused: ending.cause, failed: ending.failed, isUnwritten: true };
        case "unknown":
          return { outcomes: await this.recallAll(batch, outcomes, ending.cause) };
      }
    } catch (error) {
      // A row that cannot be asked for, read or written: the connection is closed, and the transaction with it.
      if (!(error instanceof NotBegun)) return { refused: error, failed: undefined, isUnwritten: !isWriting };
      sound = error.connectionIsSound;
      this.parts.onEnding({ kind: "rolled_back", cause: error.cause, failed: error.failed });
      return { refused: error.cause, failed: error.failed, isUnwritten: sound };
    } finally {
      client.release(!sound);
    }
  }

  /** Begins the transaction. Gives the rows that the commands need, and whether reading them has written others. Throws `NotBegun`. */
  private async read(client: PoolClient, batch: readonly Traced[], lockMs: number, span: Span | undefined) {
    const set = new WorkingSet();
    const loads = loadsOf(batch, this.parts.clock.now());
    const found = await flightSpan(this.tracing, "database read", span, loads.length, () =>
      beginAndRead(client, loads, lockMs),
    );
    for (const [index, { rows }] of loads.entries())
      for (const row of found[index] ?? []) {
        set.fill(rows, row);
        if (rows.carries) set.fill(rows.carries.table, row);
      }
    return { set, hasWritten: loads.some(({ rows }) => rows.writesOnLoad) };
  }

  private execute(set: WorkingSet, batch: readonly Traced[]): Outcome[] {
    const { clock, log } = this.parts;
    const outcomes = batch.map(({ command, span }): Outcome => {
      const reason = this.parts.quarantine.get(nameOf(command.book));
      if (reason !== undefined) return { error: unavailable(reason) };
      try {
        // Each command reads the clock itself, so that commands which run one after another get different times.
        const answer = command.execute(set, { realNow: clock.now(), newId: identitiesIn(this.tracing, span) });
        set.keep();
        return { answer };
      } catch (error) {
        if (error instanceof Fault && error.keepsChanges) set.keep();
        else set.drop();
        if (error instanceof Fault) return { error };
        log.error({ err: error, command: command.name, book: command.book }, "a command failed unexpectedly");
        if (error instanceof ImpossibleState)
          this.parts.quarantine.set(nameOf(command.book), `impossible state in ${command.name}: ${error.message}`);
        return { error: new Fault("INTERNAL_ERROR", { internal: error }) };
      }
    });
    this.beforeWrite?.(set);
    set.keep();
    return outcomes;
  }

  /** Writes and commits. Gives how the transaction ended, and tells the metrics and `onEnding`. */
  private async write(client: PoolClient, writes: Step[], lockMs: number, span: Span | undefined): Promise<Ending> {
    const { metrics } = this.parts;
    const begunAt = stopwatchMs();
    const ending = await flightSpan(this.tracing, "database write", span, writes.length, () =>
      writeAndCommit(client, lockMs > LOCK_MS ? [KEY_LIMIT, ...writes] : writes),
    );
    span?.set({ "gerbang.ending": ending.kind });
    metrics.laneCommits.inc({ lane: this.lane, result: ending.kind });
    metrics.laneCommitSeconds.observe({ lane: this.lane }, (stopwatchMs() - begunAt) / 1000);
    this.parts.onEnding(ending);
    return ending;
  }

  /** Runs what follows an ending. A failure there is logged, since it changes nothing of what is committed, nor of what else follows. */
  private runHooks(hooks: readonly (() => void)[]): void {
    for (const hook of hooks)
      try {
        hook();
      } catch (error) {
        this.parts.log.error({ err: error, lane: this.lane }, "what follows a commit failed");
      }
  }

  /** Finds the outcomes of a batch whose COMMIT may or may not have happened: asks the database on another connection. */
  private async recallAll(batch: readonly Traced[], outcomes: readonly Outcome[], cause: unknown): Promise<Outcome[]> {
    this.parts.log.warn({ err: cause, lane: this.lane }, "the outcome of a commit is unknown, looking it up");
    return Promise.all(
      batch.map(async ({ command }, index) => {
        // A rejection is not passed on either: whether the nonce of its request was consumed is unknown too.
        if ("error" in (outcomes[index] as Outcome)) return { error: unavailable(cause) };
        try {
          const found = await command.recall?.();
          return found === undefined ? { error: unavailable(cause) } : { answer: found };
        } catch (error) {
          return { error: error instanceof Fault ? error : unavailable(error) };
        }
      }),
    );
  }
}

/** Lowers the lock timeout before the writes of a transaction that may wait longer for rows: keys in use elsewhere are reported soon. */
const KEY_LIMIT: Step = {
  table: "",
  statement: {
    name: "limit of key locks",
    text: "select set_config('lock_timeout', $1::text, true)",
    values: [String(LOCK_MS)],
  },
};

/** One statement per table, tables in lock order, keys in order. Rows that another wanted row carries are not loaded by themselves. */
function loadsOf(batch: readonly Traced[], realNow: Micros): (Step & { rows: Need["table"] })[] {
  const wanted = new Map<Need["table"], Map<string, unknown>>();
  for (const { table, key } of batch.flatMap(({ command }) => command.needs))
    wanted.getOrInsertComputed(table, () => new Map()).set(table.keyText(key), key);
  for (const [{ carries }, keys] of wanted) {
    const carried = carries && wanted.get(carries.table);
    if (!carried) continue;
    for (const key of keys.values()) carried.delete(carries.table.keyText(carries.keyOf(key)));
    if (carried.size === 0) wanted.delete(carries.table);
  }
  return [...wanted]
    .sort(([a], [b]) => byLockOrder(a, b))
    .map(([table, keys]) => {
      const ordered = [...keys].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, key]) => key);
      const statement = table.load?.(ordered, realNow);
      assert(statement, `${table.name} cannot be loaded`);
      return { table: table.name, statement, rows: table };
    });
}
