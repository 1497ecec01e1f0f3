// Lanes run commands: those that arrive while a transaction is in flight are committed together in the next one. lanes.ts chooses the lane.
import { setTimeout as pause } from "node:timers/promises";
import { stopwatchMs } from "../ground/clock.ts";
import { Fault, unavailable } from "../ground/fault.ts";
import { noTracing } from "../ground/tracing.ts";
import { Batches, LOCK_MS, isLocked, tableOfLockedRow } from "./batch.ts";
import type { BatchParts, Outcome, Refused, Traced } from "./batch.ts";
import { type Command, nameOf } from "./command.ts";
import { TRANSACTION_LIMIT_MS, isOutOfService, isRaceLost } from "./database.ts";
import { commandSpan, endingWith } from "./lane-spans.ts";
import type { WorkingSet } from "./working-set.ts";

interface LaneOptions {
  name: string;
  /** Transactions that may run at the same time. 1 where commands of one merchant must not run concurrently. */
  inFlight: number;
  batchMax: number;
  /** How long the commands of one book wait for rows that another process has locked, in milliseconds. */
  bookLockMs?: number;
  /** How long a command waits for its turn before it is rejected, in milliseconds. */
  waitMs?: number;
  /**
   * Called with the changes of a batch before they are written, for decisions of the process and not of the business, such as which process
   * delivers an event. Changes that the call adds to the set are kept.
   */
  beforeWrite?: ((set: WorkingSet) => void) | undefined;
  /** Commands that may wait. Further commands are rejected with SERVICE_UNAVAILABLE, so that memory stays bounded. */
  queueMax: number;
}

interface Waiting extends Traced {
  since: number;
  resolve(answer: unknown): void;
  reject(error: unknown): void;
}

const WAIT_MS = 10_000;
/** A batch of one book that waits by itself waits this long: longer than a process that has died can hold a lock. */
const BOOK_LOCK_MS = TRANSACTION_LIMIT_MS + 500;
/** Maximum of locked books whose batches run at the same time. Each takes a connection. */
const LOCKED_BOOKS_MAX = 4;
/** Attempts of a command that runs alone and keeps losing races. */
const ROUNDS_MAX = 4;

/**
 * What becomes of a command: it waits in the queue for the next batch, whose attempt (batch.ts) reads the rows, executes, writes and commits. A batch that
 * - is committed answers each command, or throws what its command threw;
 * - has an unknown ending asks the database what became of each command;
 * - failed as a whole runs again in halves, down to single commands, if nothing was written;
 * - met rows that another process has locked gives each of its books a queue beside the lane (money lanes), and the lane goes on.
 */
export class Lane {
  private readonly options: LaneOptions;
  private readonly parts: BatchParts;
  private readonly batches: Batches;
  private queue: Waiting[] = [];
  private running = 0;
  private scheduled = false;
  /** Commands of books whose rows another process has locked. Each book has its own queue. */
  private readonly locked = new Map<string, Waiting[]>();
  private lockedRunning = 0;

  constructor(options: LaneOptions, parts: BatchParts) {
    this.options = options;
    this.parts = parts;
    this.batches = new Batches(options.name, parts, options.beforeWrite);
  }

  /** Runs the command in one of the next batches. Resolves only after its commit; throws the `Fault` that rejected it. */
  submit<Answer>(command: Command<Answer>): Promise<Answer> {
    const reason = this.parts.quarantine.get(nameOf(command.book));
    if (reason !== undefined) return Promise.reject(unavailable(reason));
    const waits = this.locked.get(nameOf(command.book));
    if ((waits ?? this.queue).length >= this.options.queueMax)
      return Promise.reject(unavailable("lane backlog is full"));
    const span = commandSpan(this.parts.tracing ?? noTracing, command.name, this.options.name);
    const answered = new Promise<Answer>((resolve, reject) => {
      const waiting = { command, span, since: stopwatchMs(), resolve, reject };
      if (waits) return void waits.push(waiting);
      this.queue.push(waiting);
      this.parts.metrics.laneQueue.set({ lane: this.options.name }, this.queue.length);
      this.schedule();
    });
    return span ? endingWith(span, answered) : answered;
  }

  /** Resolves when nothing waits and nothing is in flight. */
  async idle(): Promise<void> {
    while (this.queue.length > 0 || this.running > 0 || this.locked.size > 0) await pause(5);
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
    this.rejectLate(this.queue);
    const batch = this.queue.splice(0, this.options.batchMax);
    const [lane, now] = [this.options.name, stopwatchMs()];
    this.parts.metrics.laneQueue.set({ lane }, this.queue.length);
    for (const { since } of batch) this.parts.metrics.laneWaitSeconds.observe({ lane }, (now - since) / 1000);
    return batch;
  }

  private async runBatch(batch: Waiting[]): Promise<void> {
    const waiting = await this.run(batch, LOCK_MS);
    if (waiting.length > 0) this.setAside(waiting);
  }

  /**
   * Runs a batch and answers its commands. A batch that fails as a whole runs again in halves, and a half that fails in its halves, so that no
   * command fails another. Gives the commands that wait for rows that another process has locked.
   */
  private async run(batch: Waiting[], lockMs: number): Promise<Waiting[]> {
    const parts = [batch];
    for (let part = parts.shift(); part; part = parts.shift()) {
      this.rejectLate(part);
      const run = part.length === 0 ? [] : await this.runPart(part, lockMs);
      if (run === "waits") return [...part, ...parts.flat()];
      if (Array.isArray(run)) answer(part, run);
      else parts.unshift(...this.partsOf(part, run));
    }
    return [];
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
    const waits = this.locked.get(book) ?? [];
    while (waits.length > 0) {
      while (this.lockedRunning >= LOCKED_BOOKS_MAX) await pause(10);
      this.lockedRunning++;
      const isPutBack = await this.runTurn(waits);
      this.lockedRunning--;
      if (isPutBack) await pause(10);
    }
    this.locked.delete(book);
  }

  /** Runs the next batch of a locked book. True when some of it goes back to the front: while many books have a queue, turns are short, because most books may be free. */
  private async runTurn(waits: Waiting[]): Promise<boolean> {
    const batch = waits.splice(0, this.options.batchMax);
    const lockMs = this.locked.size > LOCKED_BOOKS_MAX ? LOCK_MS : (this.options.bookLockMs ?? BOOK_LOCK_MS);
    const waiting = await this.run(batch, lockMs);
    waits.unshift(...waiting);
    return waiting.length > 0;
  }

  /** The halves of a batch that failed; its single commands where it waited for a lock, because every half with the locked row would wait again. */
  private partsOf(batch: readonly Waiting[], run: Refused): Waiting[][] {
    const [commands, lane] = [batch.length, this.options.name];
    this.parts.log.debug({ err: run.refused, lane, commands }, "batch refused, running it in parts");
    const length = isLocked(run) ? 1 : Math.ceil(commands / 2);
    const begins = Array.from({ length: Math.ceil(commands / length) }, (_, place) => place * length);
    return begins.map((begin) => batch.slice(begin, begin + length));
  }

  /** Gives the outcomes of commands that run together; "waits" when they wait for locked rows; how several failed, if none of them is written. */
  private async runPart(part: readonly Waiting[], lockMs: number): Promise<Outcome[] | "waits" | Refused> {
    for (let round = 1; ; round++) {
      const run = await this.batches.attempt(part, lockMs);
      if ("outcomes" in run) return run.outcomes;
      if (this.mayWait(part, run, lockMs)) return "waits";
      if (run.isUnwritten && part.length > 1) return run;
      if (isLocked(run)) return Promise.all(part.map(({ command }) => this.lockedOut(command, run)));
      const isLost = run.isUnwritten && isRaceLost(run.refused);
      if (isLost && round < ROUNDS_MAX) continue;
      const error = isLost ? unavailable(run.refused) : this.faultOf(run.refused);
      return part.map(() => ({ error }));
    }
  }

  /** True when commands whose rows are locked go to the queues of their books. Only one that runs alone, or is in such a queue, is told of a key in use. */
  private mayWait(part: readonly Waiting[], run: Refused, lockMs: number): boolean {
    if (!isLocked(run) || lockMs !== LOCK_MS || this.options.inFlight > 1) return false;
    const isInQueue = part.every(({ command }) => this.locked.has(nameOf(command.book)));
    const isTold = part.some(({ command }) => command.onLocked?.(tableOfLockedRow(run)) !== undefined);
    return !isTold || (part.length > 1 && !isInQueue);
  }

  /** Rejects a command whose rows another process keeps locked. What loading its needs writes, its nonce, is committed before the caller learns of it. */
  private async lockedOut(command: Command<unknown>, locked: Refused): Promise<Outcome> {
    const fault = command.onLocked?.(tableOfLockedRow(locked)) ?? unavailable(locked.refused);
    const needs = command.needs.filter(({ table }) => table.writesOnLoad);
    if (needs.length === 0) return { error: fault };
    const consume: Command<unknown> = { ...command, needs, execute: () => undefined };
    const run = await this.batches.attempt([{ command: consume, span: undefined }], LOCK_MS);
    return { error: "outcomes" in run ? fault : unavailable(run.refused) };
  }

  /** Rejects commands that waited too long for their turn: the database hangs, and their clients have given up. */
  private rejectLate(queue: Waiting[]): void {
    const oldest = stopwatchMs() - (this.options.waitMs ?? WAIT_MS);
    const punctual = queue.findIndex(({ since }) => since >= oldest);
    for (const waiting of queue.splice(0, punctual < 0 ? queue.length : punctual))
      waiting.reject(unavailable("waited too long in the lane"));
  }

  private faultOf(error: unknown): Fault {
    if (error instanceof Fault) return error;
    if (isOutOfService(error)) return unavailable(error);
    this.parts.log.error({ err: error, lane: this.options.name }, "a batch failed unexpectedly");
    return new Fault("INTERNAL_ERROR", { internal: error });
  }
}

function answer(batch: readonly Waiting[], outcomes: readonly Outcome[]): void {
  batch.forEach((waiting, index) => {
    const outcome = outcomes[index] as Outcome;
    if ("error" in outcome) waiting.reject(outcome.error);
    else waiting.resolve(outcome.answer);
  });
}
