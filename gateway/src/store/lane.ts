// Lanes run commands: those that arrive while a transaction is in flight are committed together in the next one. lanes.ts chooses the lane.
import type { PoolClient } from "pg";
import { type Clock, type Micros, stopwatchMs } from "../ground/clock.ts";
import type { IdKind } from "../ground/ids.ts";
import { Fault, ImpossibleState, assert } from "../ground/fault.ts";
import type { Log } from "../ground/log.ts";
import type { Metrics } from "../ground/metrics.ts";
import { type Span, type Tracing, noTracing } from "../ground/tracing.ts";
import { type Database, TRANSACTION_LIMIT_MS, isOutOfService, isRaceLost, rollBack, sqlState } from "./database.ts";
import { batchSpan, commandSpan, flightSpan, identitiesIn, toldTo } from "./lane-spans.ts";
import { byLockOrder } from "./lock-order.ts";
import { type Ending, NotBegun, type Step, beginAndRead, writeAndCommit } from "./transaction.ts";
import { type Need, WorkingSet } from "./working-set.ts";

/** The fields of a book that a lane uses. */
export interface BookName {
  readonly merchantId: string;
  readonly environment: string;
}

/** Inputs of a command besides its rows. */
export interface Moment {
  readonly realNow: Micros;
  /** Makes an identity that sorts by `at`. */
  readonly newId: (kind: IdKind, at: Micros) => string;
}

function nameOf({ merchantId, environment }: BookName): string {
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
  /** The fault when another process keeps rows of this table locked; SERVICE_UNAVAILABLE when absent or undefined. */
  onLocked?: (table: string) => Fault | undefined;
}

export interface LaneOptions {
  name: string;
  /** Transactions that may run at the same time. 1 where commands of one merchant must not run concurrently. */
  inFlight: number;
  batchMax: number;
  /** How long the commands of one book wait for rows that another process has locked, in milliseconds. */
  bookLockMs?: number;
  /**
   * Called with the changes of a batch before they are written, for decisions of the process and not of the business, such as which process
   * delivers an event. Changes that the call adds to the set are kept.
   */
  beforeWrite?: ((set: WorkingSet) => void) | undefined;
  /** Commands that may wait. Further commands are rejected with SERVICE_UNAVAILABLE, so that memory stays bounded. */
  queueMax: number;
}

export interface LaneParts {
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

interface Waiting {
  command: Command<unknown>;
  /** Undefined when nothing is traced. */
  span: Span | undefined;
  since: number;
  resolve(answer: unknown): void;
  reject(error: unknown): void;
}

type Outcome = { answer: unknown } | { error: unknown };

/** The result of a batch: an outcome for each command, or the failure of the whole batch. */
type Run = { outcomes: Outcome[] } | Refused;

interface Refused {
  refused: unknown;
  /** The table whose statement failed. */
  failed: string | undefined;
  /** True when it is certain that nothing is written, so that the commands may run again. */
  isUnwritten: boolean;
}

function isLocked({ refused, isUnwritten }: Refused): boolean {
  return isUnwritten && sqlState(refused) === "55P03";
}

const WAIT_MAX_MS = 10_000;
/** A batch waits this long for a row that another process has locked. With the second try, a key in use is reported within 200 ms. */
const LOCK_MS = 90;
/** A batch of one book that waits by itself waits this long: longer than a process that has died can hold a lock. */
const BOOK_LOCK_MS = TRANSACTION_LIMIT_MS + 500;
/** Maximum of locked books whose batches run at the same time. Each takes a connection. */
const LOCKED_BOOKS_MAX = 4;
/** Attempts of a command that runs alone and keeps losing races. */
const ROUNDS_MAX = 4;

/**
 * What becomes of a command: it waits in the queue for the next batch, whose attempt reads the rows, executes, writes and commits. A batch that
 * - is committed answers each command, or throws what its command threw;
 * - has an unknown ending asks the database what became of each command;
 * - failed as a whole runs again, command by command, if nothing was written;
 * - met rows that another process has locked gives each of its books a queue beside the lane (money lanes), and the lane goes on.
 */
export class Lane {
  private readonly options: LaneOptions;
  private readonly parts: LaneParts;
  private readonly tracing: Tracing;
  private queue: Waiting[] = [];
  private running = 0;
  private scheduled = false;
  /** Commands of books whose rows another process has locked. Each book has its own queue. */
  private readonly locked = new Map<string, Waiting[]>();
  private lockedRunning = 0;

  constructor(options: LaneOptions, parts: LaneParts) {
    this.options = options;
    this.parts = parts;
    this.tracing = parts.tracing ?? noTracing;
  }

  /** Runs the command in one of the next batches. Resolves only after its commit; throws the `Fault` that rejected it. */
  submit<Answer>(command: Command<Answer>): Promise<Answer> {
    const reason = this.parts.quarantine.get(nameOf(command.book));
    if (reason !== undefined) return Promise.reject(new Fault("SERVICE_UNAVAILABLE", { internal: reason }));
    const waits = this.locked.get(nameOf(command.book));
    if ((waits ?? this.queue).length >= this.options.queueMax) {
      return Promise.reject(
        new Fault("SERVICE_UNAVAILABLE", { retryAfterSeconds: 1, internal: "lane backlog is full" }),
      );
    }
    const span = commandSpan(this.tracing, command.name, this.options.name);
    const answered = new Promise<Answer>((resolve, reject) => {
      const waiting = { command, span, since: stopwatchMs(), resolve, reject };
      if (waits) {
        waits.push(waiting);
        return;
      }
      this.queue.push(waiting);
      this.parts.metrics.laneQueue.set({ lane: this.options.name }, this.queue.length);
      this.schedule();
    });
    return span ? toldTo(span, answered) : answered;
  }

  /** Resolves when nothing waits and nothing is in flight. */
  async idle(): Promise<void> {
    while (this.queue.length > 0 || this.running > 0 || this.locked.size > 0)
      await new Promise((resolve) => setTimeout(resolve, 5));
  }

  private schedule(): void {
    // setImmediate, not a timer: requests that are read in this turn of the event loop join the batch, and no command waits longer.
    if (this.scheduled || this.running >= this.options.inFlight || this.queue.length === 0) return;
    this.scheduled = true;
    setImmediate(() => {
      this.scheduled = false;
      if (this.running >= this.options.inFlight) return;
      const batch = this.takeBatch();
      if (batch.length === 0) return;
      this.running++;
      void this.runBatch(batch).finally(() => {
        this.running--;
        this.schedule();
      });
      this.schedule();
    });
  }

  private takeBatch(): Waiting[] {
    rejectLate(this.queue);
    const batch = this.queue.splice(0, this.options.batchMax);
    const lane = this.options.name;
    const now = stopwatchMs();
    this.parts.metrics.laneQueue.set({ lane }, this.queue.length);
    for (const { since } of batch) this.parts.metrics.laneWaitSeconds.observe({ lane }, (now - since) / 1000);
    return batch;
  }

  /** Runs a batch and answers its commands. */
  private async runBatch(batch: Waiting[]): Promise<void> {
    const run = await this.attempt(batch, LOCK_MS);
    if ("outcomes" in run) return answer(batch, run.outcomes);
    if (isLocked(run) && this.options.inFlight === 1) return this.setAside(batch);
    await this.oneByOne(batch, run);
  }

  /** Runs the commands of a batch that failed as a whole again, one by one, so that none fails another; unless they may have been written. */
  private async oneByOne(batch: readonly Waiting[], run: Refused): Promise<void> {
    if (run.isUnwritten && (batch.length > 1 || isRaceLost(run.refused))) {
      this.parts.log.debug(
        { err: run.refused, lane: this.options.name, commands: batch.length },
        "batch refused, running its commands one by one",
      );
      for (const waiting of batch) answer([waiting], [await this.alone(waiting)]);
      return;
    }
    answer(
      batch,
      batch.map(() => ({ error: this.faultOf(run.refused) })),
    );
  }

  /** Gives each book of a batch its own queue, because another process has locked rows of one of them. The lane goes on with other books. */
  private setAside(batch: Waiting[]): void {
    const books = new Set(batch.map(({ command }) => nameOf(command.book)));
    const fresh = [...books].filter((book) => !this.locked.has(book));
    for (const book of fresh) this.locked.set(book, []);
    const queue = this.queue;
    this.queue = queue.filter(({ command }) => !books.has(nameOf(command.book)));
    const behind = queue.filter(({ command }) => books.has(nameOf(command.book)));
    for (const waiting of [...batch, ...behind]) this.locked.get(nameOf(waiting.command.book))?.push(waiting);
    for (const book of fresh) void this.runBook(book);
  }

  /** Runs the commands in the queue of one locked book until the queue is empty. */
  private async runBook(book: string): Promise<void> {
    while (this.lockedRunning >= LOCKED_BOOKS_MAX) await new Promise((resolve) => setTimeout(resolve, 10));
    this.lockedRunning++;
    const waits = this.locked.get(book) ?? [];
    while (waits.length > 0) {
      rejectLate(waits);
      const batch = waits.splice(0, this.options.batchMax);
      if (batch.length === 0) break;
      const run = await this.attempt(batch, this.options.bookLockMs ?? BOOK_LOCK_MS);
      const [only] = batch;
      if ("outcomes" in run) answer(batch, run.outcomes);
      else if (only && batch.length === 1 && isLocked(run)) answer(batch, [await this.lockedOut(only.command, run)]);
      else await this.oneByOne(batch, run);
    }
    this.locked.delete(book);
    this.lockedRunning--;
  }

  private async alone(waiting: Waiting): Promise<Outcome> {
    for (let round = 1; ; round++) {
      const run = await this.attempt([waiting], LOCK_MS);
      if ("outcomes" in run) return run.outcomes[0] as Outcome;
      if (isLocked(run)) return this.lockedOut(waiting.command, run);
      if (!run.isUnwritten || !isRaceLost(run.refused)) return { error: this.faultOf(run.refused) };
      if (round === ROUNDS_MAX) return { error: unavailable(run.refused) };
    }
  }

  /**
   * Rejects a command whose rows another process keeps locked. Writes that happen while its needs are loaded are committed first: the nonce
   * of the request must be consumed before the caller learns of the rejection.
   */
  private async lockedOut(command: Command<unknown>, { refused, failed }: Refused): Promise<Outcome> {
    const fault = command.onLocked?.(failed ?? "") ?? unavailable(refused);
    const needs = command.needs.filter(({ table }) => table.writesOnLoad);
    if (needs.length === 0) return { error: fault };
    const refuse: Command<never> = {
      name: command.name,
      book: command.book,
      needs,
      execute() {
        throw fault;
      },
    };
    const run = await this.attempt(
      [{ command: refuse, span: undefined, since: 0, resolve: nothing, reject: nothing }],
      LOCK_MS,
    );
    return { error: "outcomes" in run ? fault : unavailable(run.refused) };
  }

  /** Reads what the commands need, executes them, writes and commits. */
  private async attempt(batch: readonly Waiting[], lockMs: number): Promise<Run> {
    const spans = batch.map(({ span }) => span);
    const span = batchSpan(this.tracing, this.options.name, spans);
    const run = await this.transact(batch, lockMs, spans, span);
    span?.end("refused" in run ? (run.failed ?? "refused") : undefined);
    return run;
  }

  private async transact(
    batch: readonly Waiting[],
    lockMs: number,
    spans: readonly (Span | undefined)[],
    span: Span | undefined,
  ): Promise<Run> {
    const { database, metrics } = this.parts;
    const lane = this.options.name;
    const commands = batch.map(({ command }) => command);
    const set = new WorkingSet();
    const loads = loadsOf(commands, this.parts.clock.now());
    let client: PoolClient;
    try {
      client = await database.pool.connect();
    } catch (error) {
      return { refused: error, failed: undefined, isUnwritten: false };
    }
    let sound = false;
    let isWriting = false;
    try {
      metrics.laneBatchSize.observe({ lane }, batch.length);
      const found = await flightSpan(this.tracing, "database read", span, loads.length, () =>
        beginAndRead(client, loads, lockMs),
      );
      loads.forEach(({ rows }, index) => {
        for (const row of found[index] ?? []) {
          set.fill(rows, row);
          if (rows.carries) set.fill(rows.carries.table, row);
        }
      });
      const outcomes = this.execute(set, commands, spans);
      const writes = set.writes();
      if (writes.length === 0 && !loads.some(({ rows }) => rows.writesOnLoad)) {
        sound = await rollBack(client);
        return { outcomes };
      }
      const begunAt = stopwatchMs();
      isWriting = true;
      const ending = await flightSpan(this.tracing, "database write", span, writes.length, () =>
        writeAndCommit(client, lockMs > LOCK_MS ? [KEY_LIMIT, ...writes] : writes),
      );
      span?.set({ "gerbang.ending": ending.kind });
      sound = ending.kind !== "unknown";
      metrics.laneCommits.inc({ lane, result: ending.kind });
      metrics.laneCommitSeconds.observe({ lane }, (stopwatchMs() - begunAt) / 1000);
      this.parts.onEnding(ending);
      switch (ending.kind) {
        case "committed":
          set.committed();
          return { outcomes };
        case "rolled_back":
          return { refused: ending.cause, failed: ending.failed, isUnwritten: true };
        case "unknown":
          set.unknown();
          return { outcomes: await this.recallAll(commands, outcomes, ending.cause) };
      }
    } catch (error) {
      // A row that cannot be read or written: the connection is closed, and the transaction with it.
      if (!(error instanceof NotBegun)) return { refused: error, failed: undefined, isUnwritten: !isWriting };
      sound = error.connectionIsSound;
      this.parts.onEnding({ kind: "rolled_back", cause: error.cause, failed: error.failed });
      return { refused: error.cause, failed: error.failed, isUnwritten: sound };
    } finally {
      client.release(!sound);
    }
  }

  private execute(
    set: WorkingSet,
    commands: readonly Command<unknown>[],
    spans: readonly (Span | undefined)[],
  ): Outcome[] {
    const { clock, log } = this.parts;
    const outcomes = commands.map((command, index): Outcome => {
      const reason = this.parts.quarantine.get(nameOf(command.book));
      if (reason !== undefined) return { error: unavailable(reason) };
      try {
        // Each command reads the clock itself, so that commands which run one after another get different times.
        const newId = identitiesIn(this.tracing, spans[index]);
        const answer = command.execute(set, { realNow: clock.now(), newId });
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
    this.options.beforeWrite?.(set);
    set.keep();
    return outcomes;
  }

  /** Finds the outcomes of a batch whose COMMIT may or may not have happened: asks the database on another connection. */
  private async recallAll(
    commands: readonly Command<unknown>[],
    outcomes: readonly Outcome[],
    cause: unknown,
  ): Promise<Outcome[]> {
    this.parts.log.warn({ err: cause, lane: this.options.name }, "the outcome of a commit is unknown, looking it up");
    return Promise.all(
      commands.map(async (command, index) => {
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

  private faultOf(error: unknown): Fault {
    if (error instanceof Fault) return error;
    if (isOutOfService(error)) return unavailable(error);
    this.parts.log.error({ err: error, lane: this.options.name }, "a batch failed unexpectedly");
    return new Fault("INTERNAL_ERROR", { internal: error });
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

const nothing = (): void => undefined;

/** Rejects commands that waited longer than WAIT_MAX_MS: the database hangs, and their clients have given up. */
function rejectLate(queue: Waiting[]): void {
  const oldest = stopwatchMs() - WAIT_MAX_MS;
  const late = queue.findIndex(({ since }) => since >= oldest);
  for (const waiting of queue.splice(0, late < 0 ? queue.length : late))
    waiting.reject(unavailable("waited too long in the lane"));
}

function answer(batch: readonly Waiting[], outcomes: readonly Outcome[]): void {
  batch.forEach((waiting, index) => {
    const outcome = outcomes[index] as Outcome;
    if ("error" in outcome) waiting.reject(outcome.error);
    else waiting.resolve(outcome.answer);
  });
}

function unavailable(cause: unknown): Fault {
  return new Fault("SERVICE_UNAVAILABLE", { retryAfterSeconds: 1, internal: cause });
}

/** One statement per table, tables in lock order, keys in order. Rows that another wanted row carries are not loaded by themselves. */
function loadsOf(commands: readonly Command<unknown>[], realNow: Micros): (Step & { rows: Need["table"] })[] {
  const wanted = new Map<Need["table"], Map<string, unknown>>();
  for (const { table, key } of commands.flatMap(({ needs }) => needs)) {
    let keys = wanted.get(table);
    if (!keys) wanted.set(table, (keys = new Map()));
    keys.set(table.keyText(key), key);
  }
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
