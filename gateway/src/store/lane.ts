// Lanes: the one way to write. Commands that arrive while a transaction is in flight are committed together in the next.
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

/** A book, as far as a lane needs to know it. */
export interface BookName {
  readonly merchantId: string;
  readonly environment: string;
}

/** What a command may know beyond its rows: the real time, and how identities are made. */
export interface Moment {
  readonly realNow: Micros;
  /** A new identity whose order follows `at`. */
  readonly newId: (kind: IdKind, at: Micros) => string;
}

function nameOf({ merchantId, environment }: BookName): string {
  return `${merchantId}/${environment}`;
}

/**
 * A change of state: a pure function from the working set to changes and an answer. It may throw a `Fault`, which
 * refuses it without a trace. It is called again when its batch is run again, so it must not remember anything.
 */
export interface Command<Answer> {
  readonly name: string;
  /** Whose rows it locks: commands of one book wait for each other, and for nobody else. */
  readonly book: BookName;
  readonly needs: readonly Need[];
  execute(set: WorkingSet, moment: Moment): Answer;
  /** After a COMMIT whose outcome is unknown: the answer, if what it did is there. Throws the `Fault` that it was refused with. */
  recall?(): Promise<Answer | undefined>;
  /** What it means when rows of this table stay locked by another process; SERVICE_UNAVAILABLE when absent or undefined. */
  onLocked?: (table: string) => Fault | undefined;
}

export interface LaneOptions {
  name: string;
  /** Transactions at the same time. 1 where commands of one merchant must not run concurrently. */
  inFlight: number;
  batchMax: number;
  /** How long the commands of one book wait for rows that another process has locked, in milliseconds. */
  bookLockMs?: number;
  /**
   * Called with what the commands of a batch did, before it is written: for what is decided by the process and not by the business, such
   * as who delivers an event. What it adds to the set is kept.
   */
  beforeWrite?: ((set: WorkingSet) => void) | undefined;
  /** Commands that may wait; more are refused with SERVICE_UNAVAILABLE before memory grows. */
  queueMax: number;
}

export interface LaneParts {
  database: Database;
  clock: Clock;
  metrics: Metrics;
  log: Log;
  /** Books in which an impossible state was met, and why: their commands are refused rather than go on with wrong money. */
  quarantine: Map<string, string>;
  /** Hears how each transaction ended, for whoever says whether the database can be written to. */
  onEnding(ending: Ending): void;
  tracing?: Tracing;
}

interface Waiting {
  command: Command<unknown>;
  /** Undefined where nothing is traced. */
  span: Span | undefined;
  since: number;
  resolve(answer: unknown): void;
  reject(error: unknown): void;
}

type Outcome = { answer: unknown } | { error: unknown };

/** What a batch came to: an outcome for each command, or that nothing of it is written. */
type Run = { outcomes: Outcome[] } | Refused;

interface Refused {
  refused: unknown;
  /** The table whose statement failed. */
  failed: string | undefined;
  /** True when it is certain that nothing is written, so that the commands may run again. */
  again: boolean;
}

function isLocked({ refused, again }: Refused): boolean {
  return again && sqlState(refused) === "55P03";
}

const WAIT_MAX_MS = 10_000;
/** Rows that another process has locked are waited for so long by a batch: with the second try a key in use is told within 200 ms. */
const LOCK_MS = 90;
/** And so long by the commands of one book alone: longer than a process that has gone can hold a lock. */
const BOOK_LOCK_MS = TRANSACTION_LIMIT_MS + 500;
/** Books whose rows are locked by others and that are waited for at the same time. Each takes a connection. */
const LOCKED_BOOKS_MAX = 4;
/** How often a command that lost a race runs again alone. */
const ROUNDS_MAX = 4;

export class Lane {
  private readonly options: LaneOptions;
  private readonly parts: LaneParts;
  private readonly tracing: Tracing;
  private queue: Waiting[] = [];
  private running = 0;
  private scheduled = false;
  /** Commands of books whose rows somebody else has locked: each book waits by itself. */
  private readonly locked = new Map<string, Waiting[]>();
  private lockedRunning = 0;

  constructor(options: LaneOptions, parts: LaneParts) {
    this.options = options;
    this.parts = parts;
    this.tracing = parts.tracing ?? noTracing;
  }

  /** Runs the command in one of the next batches. Resolves only after its commit; throws the `Fault` that refused it. */
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
    // The next turn of the event loop, not a timer: requests read in this turn join the batch, and nobody waits longer.
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

  /** Runs a batch and answers its commands. One that fails as a whole is run again in parts, so that one command fails no other. */
  private async runBatch(batch: Waiting[]): Promise<void> {
    const run = await this.attempt(batch, LOCK_MS);
    if ("outcomes" in run) return answer(batch, run.outcomes);
    if (isLocked(run) && this.options.inFlight === 1) return this.setAside(batch);
    if (run.again && (batch.length > 1 || isRaceLost(run.refused))) {
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

  /** Another process has locked a row of these commands' books: each book waits by itself, and the lane goes on. */
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

  /** Runs what waits for one book, until nothing does. */
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
      else for (const waiting of batch) answer([waiting], [await this.alone(waiting)]);
    }
    this.locked.delete(book);
    this.lockedRunning--;
  }

  private async alone(waiting: Waiting): Promise<Outcome> {
    for (let round = 1; ; round++) {
      const run = await this.attempt([waiting], LOCK_MS);
      if ("outcomes" in run) return run.outcomes[0] as Outcome;
      if (isLocked(run)) return this.lockedOut(waiting.command, run);
      if (!run.again || !isRaceLost(run.refused)) return { error: this.faultOf(run.refused) };
      if (round === ROUNDS_MAX) return { error: unavailable(run.refused) };
    }
  }

  /**
   * Refuses a command whose rows stay locked by another process. What its needs write by being read is kept: the signature of the request is
   * used up before the refusal is told.
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
      return { refused: error, failed: undefined, again: false };
    }
    let sound = false;
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
          return { refused: ending.cause, failed: ending.failed, again: true };
        case "unknown":
          set.unknown();
          return { outcomes: await this.recallAll(commands, outcomes, ending.cause) };
      }
    } catch (error) {
      if (!(error instanceof NotBegun)) throw error;
      sound = error.connectionIsSound;
      this.parts.onEnding({ kind: "rolled_back", cause: error.cause, failed: error.failed });
      return { refused: error.cause, failed: error.failed, again: sound };
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
        // A moment of its own for each: what happens one after another must not look as if it happened at once.
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

  /** Nobody knows whether the batch was committed: what is true stands in the database, so look there on a new connection. */
  private async recallAll(
    commands: readonly Command<unknown>[],
    outcomes: readonly Outcome[],
    cause: unknown,
  ): Promise<Outcome[]> {
    this.parts.log.warn({ err: cause, lane: this.options.name }, "the outcome of a commit is unknown, looking it up");
    return Promise.all(
      commands.map(async (command, index) => {
        // A refusal is not told either: that its signature is used up is no more certain than the rest.
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

/** Keys in use by another process are never waited for longer than this, whatever rows are. */
const KEY_LIMIT: Step = {
  table: "",
  statement: {
    name: "limit of key locks",
    text: "select set_config('lock_timeout', $1::text, true)",
    values: [String(LOCK_MS)],
  },
};

const nothing = (): void => undefined;

/** Who has waited too long (the database hangs) is refused instead of run for nobody. */
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

/** One statement a table, tables in lock order, keys in order. What comes with rows that are wanted anyway is not asked for by itself. */
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
