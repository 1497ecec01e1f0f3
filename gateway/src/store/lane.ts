// Lanes: the one way to write. Commands that arrive while a transaction is in flight are committed together in the next.
import type { Socket } from "node:net";
import type { PoolClient, QueryConfig, QueryResult } from "pg";
import { type Clock, type Micros, stopwatchMs } from "../ground/clock.ts";
import { Fault, ImpossibleState, assert } from "../ground/fault.ts";
import type { Log } from "../ground/log.ts";
import type { Metrics } from "../ground/metrics.ts";
import { type Database, type Statement, constraintOf, isConnectionLoss, isRaceLost, sqlState } from "./database.ts";
import { type Need, WorkingSet } from "./working-set.ts";

/**
 * A change of state: a pure function from the working set to changes and an answer. It may throw a `Fault`, which
 * refuses it without a trace. It is called again when its batch is run again, so it must not remember anything.
 */
export interface Command<Answer> {
  readonly name: string;
  readonly needs: readonly Need[];
  execute(set: WorkingSet, realNow: Micros): Answer;
  /**
   * What is still being asked elsewhere and decides whether the command may run at all: awaited beside the prefetch. When it rejects, the
   * command is refused with that.
   */
  readonly gate?: Promise<unknown>;
  /** After a COMMIT whose outcome is unknown: the answer, if what it did is there. Throws the `Fault` that it was refused with. */
  recall?(): Promise<Answer | undefined>;
  /** What a lock that another process holds too long means for this command; SERVICE_UNAVAILABLE when absent. */
  onBusy?(): Fault;
  /** What it means for good that a row of this unique constraint is there already; it runs again and looks when absent or undefined. */
  onTaken?(constraint: string): Fault | undefined;
}

export interface LaneOptions {
  name: string;
  /** Transactions at the same time. 1 where commands of one merchant must not run concurrently. */
  inFlight: number;
  batchMax: number;
  /** Whether its commands lock rows that they load. */
  locks: boolean;
  /**
   * Called with what the commands of a batch did, before it is written: for what is decided by the process and not by the business, such
   * as who delivers an event. What it adds to the set is kept.
   */
  beforeWrite?: ((set: WorkingSet) => void) | undefined;
  /** Commands that may wait; more are refused with SERVICE_UNAVAILABLE before memory grows. */
  queueMax: number;
}

interface Waiting {
  command: Command<unknown>;
  since: number;
  resolve(answer: unknown): void;
  reject(error: unknown): void;
}

const WAIT_MAX_MS = 10_000;
/** A row that another process has locked is waited for so long. */
const ROW_TIMEOUT = "set local lock_timeout = '2s'";
/** A unique key that another process is just writing is waited for, but with the second try not beyond 200 ms. */
const KEY_TIMEOUT = "set local lock_timeout = '90ms'";
/**
 * Plans are made once and not for each batch anew: arrays of keys look alike to the planner, and looking cost a lone request a third
 * of a millisecond.
 */
const BEGIN = "begin; set local plan_cache_mode = force_generic_plan";
/** How often a command that lost a race runs again alone. */
const ROUNDS_MAX = 4;

type Outcome = { answer: unknown } | { error: unknown };

/** A batch that has begun: what its commands need is on the way. */
interface Begun {
  batch: Waiting[];
  client: PoolClient;
  set: WorkingSet;
  loaded: Promise<void>;
  /** What was not asked for, and is taken for absent. */
  absent: readonly Need[];
  /** Nothing was asked for, and the transaction is to begin with these checks of what rows were taken to be. */
  checks: Statement[] | undefined;
}

export class Lane {
  private readonly options: LaneOptions;
  private readonly database: Database;
  private readonly clock: Clock;
  private readonly metrics: Metrics;
  private readonly log: Log;
  private queue: Waiting[] = [];
  private running = 0;
  private scheduled = false;
  /** The batch that is being written, when the next may begin behind it. */
  private writing: { commands: number; begin: () => void } | undefined;
  /** Set when an impossible state was met: the lane refuses everything rather than go on. */
  private stopped: string | undefined;

  constructor(options: LaneOptions, database: Database, clock: Clock, metrics: Metrics, log: Log) {
    this.options = options;
    this.database = database;
    this.clock = clock;
    this.metrics = metrics;
    this.log = log;
  }

  /** Why the lane stopped, or undefined while it works. */
  get broken(): string | undefined {
    return this.stopped;
  }

  /** Runs the command in one of the next batches. Resolves only after its commit; throws the `Fault` that refused it. */
  submit<Answer>(command: Command<Answer>): Promise<Answer> {
    if (this.stopped !== undefined) return Promise.reject(new Fault("SERVICE_UNAVAILABLE", { internal: this.stopped }));
    if (this.queue.length >= this.options.queueMax) {
      return Promise.reject(
        new Fault("SERVICE_UNAVAILABLE", { retryAfterSeconds: 1, internal: "lane backlog is full" }),
      );
    }
    command.gate?.catch(() => undefined); // judged when its batch runs, which may be later than it fails
    return new Promise<Answer>((resolve, reject) => {
      this.queue.push({ command, since: stopwatchMs(), resolve: resolve, reject });
      this.metrics.laneQueue.set({ lane: this.options.name }, this.queue.length);
      this.schedule();
      this.overlap();
    });
  }

  /** True while nothing waits and nothing is in flight: a command would be alone in its batch. */
  get isIdle(): boolean {
    return this.queue.length === 0 && this.running === 0;
  }

  /** Resolves when nothing waits and nothing is in flight. */
  async idle(): Promise<void> {
    while (!this.isIdle) await new Promise((resolve) => setTimeout(resolve, 5));
  }

  private schedule(): void {
    // The next turn of the event loop, not a timer: requests read in this turn join the batch, and nobody waits longer.
    if (this.scheduled || this.running >= this.options.inFlight || this.queue.length === 0) return;
    this.scheduled = true;
    setImmediate(() => {
      this.scheduled = false;
      if (this.queue.length === 0 || this.running >= this.options.inFlight) return;
      const batch = this.takeBatch();
      if (batch.length === 0) return;
      this.running++;
      void this.runBatches(batch).finally(() => {
        this.running--;
        this.schedule();
      });
      this.schedule();
    });
  }

  /** Begins the next batch behind the one that is being written, once it is half as large: PostgreSQL goes on while this process turns round. */
  private overlap(): void {
    if (this.writing && this.queue.length >= this.writing.commands / 2) setImmediate(this.writing.begin);
  }

  /** The next commands in line. Who has waited too long (the database hangs) is refused instead of run for nobody. */
  private takeBatch(): Waiting[] {
    const oldest = stopwatchMs() - WAIT_MAX_MS;
    const late = this.queue.findIndex((waiting) => waiting.since >= oldest);
    for (const waiting of this.queue.splice(0, late < 0 ? this.queue.length : late)) {
      waiting.reject(unavailable("waited too long in the lane"));
    }
    return this.queue.splice(0, this.options.batchMax);
  }

  /** Runs a batch, and then those that were begun as it ended. */
  private async runBatches(batch: Waiting[]): Promise<void> {
    let begun: Begun | undefined;
    for (let next: Waiting[] | undefined = batch; next; next = begun?.batch) {
      try {
        begun = await this.runBatch(next, begun);
      } catch (error) {
        for (const waiting of next) waiting.reject(error);
        return;
      }
    }
  }

  /** Runs one batch and settles it. Gives the one that was begun as it ended, if there is one. */
  private async runBatch(batch: Waiting[], begun: Begun | undefined): Promise<Begun | undefined> {
    const lane = this.options.name;
    let outcomes: Outcome[];
    let next: Begun | undefined;
    try {
      ({ outcomes, next } = await this.attempt(
        batch.map((waiting) => waiting.command),
        begun ?? (await this.begin(batch)),
      ));
    } catch (error) {
      const refused = error instanceof BatchRefused && !isConnectionLoss(error.cause);
      if (refused && (batch.length > 1 || error.cause instanceof PresumedWrongly || isRaceLost(error.cause))) {
        // One poisoned command must not fail the others: each runs again alone.
        this.log.debug(
          { err: error.cause, lane, commands: batch.length },
          "batch refused, running its commands one by one",
        );
        for (const waiting of batch) settle(waiting, await this.alone(waiting));
        return undefined;
      }
      outcomes = batch.map(() => ({ error: this.faultOf(error) }));
    }
    batch.forEach((waiting, index) => {
      settle(waiting, outcomes[index] as Outcome);
    });
    return next;
  }

  private async alone(waiting: Waiting): Promise<Outcome> {
    const { command } = waiting;
    for (let round = 1; ; round++) {
      try {
        const { outcomes } = await this.attempt([command], await this.begin([waiting], true), false);
        return outcomes[0] as Outcome;
      } catch (error) {
        const cause = error instanceof BatchRefused ? error.cause : error;
        if (sqlState(cause) === "55P03") return { error: command.onBusy?.() ?? unavailable(cause) };
        const taken = command.onTaken?.(constraintOf(cause) ?? "");
        if (taken) return { error: taken };
        if (isRaceLost(cause)) {
          if (round < ROUNDS_MAX) continue;
          return { error: command.onBusy?.() ?? unavailable(cause) };
        }
        return { error: this.faultOf(error) };
      }
    }
  }

  /** `exactly`: everything that is needed is asked for. */
  private async begin(batch: Waiting[], exactly = false): Promise<Begun> {
    try {
      return this.beginOn(await this.database.pool.connect(), batch, exactly);
    } catch (error) {
      throw new BatchRefused(error);
    }
  }

  /** Sends BEGIN and asks for what the commands need. */
  private beginOn(client: PoolClient, batch: Waiting[], exactly = false): Begun {
    const [lane, set, now] = [this.options.name, new WorkingSet(), stopwatchMs()];
    this.metrics.laneBatchSize.observe({ lane }, batch.length);
    this.metrics.laneQueue.set({ lane }, this.queue.length);
    for (const waiting of batch) this.metrics.laneWaitSeconds.observe({ lane }, (now - waiting.since) / 1000);
    const commands = batch.map(({ command }) => command);
    const needs = commands.flatMap((command) => command.needs);
    const presumes = batch.length === 1 && !this.options.locks && !exactly;
    const absent = presumes ? needs.filter(({ table }) => table.refusesSecond) : [];
    const wanted = wantedOf(presumes ? needs.filter(({ table }) => !table.refusesSecond) : needs);
    const checks = presumes ? presume(set, wanted) : undefined;
    const timeout = this.options.locks ? ROW_TIMEOUT : KEY_TIMEOUT;
    const loaded = checks ? Promise.resolve() : prefetch(client, set, wanted, timeout, this.clock.now());
    loaded.catch(() => undefined); // judged when its turn comes
    return { batch, client, set, loaded, absent, checks };
  }

  /** Begins the next batch on the same connection: while this one is answered, what the next one needs is read. */
  private beginNext(client: PoolClient): Begun | undefined {
    const batch = this.takeBatch();
    return batch.length > 0 ? this.beginOn(client, batch) : undefined;
  }

  /** What began behind a batch that was not committed goes back in line. False when the connection is lost. */
  private async takeBack({ batch, client, loaded }: Begun): Promise<boolean> {
    this.queue.unshift(...batch);
    try {
      await loaded;
      await client.query("rollback");
      return true;
    } catch (error) {
      return !isConnectionLoss(error instanceof BatchRefused ? error.cause : error);
    }
  }

  /**
   * Waits for what the commands need, executes them, writes, commits. With `more` the next batch is begun as soon as this one is committed. Throws
   * `BatchRefused` when it is certain that nothing was written.
   */
  private async attempt(
    commands: Command<unknown>[],
    { client, set, loaded, absent, checks }: Begun,
    more = true,
  ): Promise<{ outcomes: Outcome[]; next: Begun | undefined }> {
    let broken = true;
    let next: Begun | undefined;
    try {
      const [gates] = await Promise.all([Promise.allSettled(commands.map(async (command) => command.gate)), loaded]);
      const outcomes = this.execute(set, commands, gates);
      this.options.beforeWrite?.(set);
      set.keep();
      const letIn = gates.every(({ status }) => status === "fulfilled");
      const statements = set.statements();
      const isSure = absent.every(({ table, key }) => set.isInserted(table, key)) && (!checks || statements.length > 0);
      if (letIn && !isSure) {
        // Nothing that it writes would be refused if what it took for granted were otherwise.
        if (!checks) await client.query("rollback");
        broken = false;
        throw new BatchRefused(new PresumedWrongly());
      }
      if (checks && !letIn) {
        broken = false;
        next = this.beginNext(client);
        return { outcomes, next };
      }
      const commit = statements.length === 0 ? "rollback" : "commit";
      const written = Promise.allSettled(
        together(client, () => [
          ...(this.options.locks ? [client.query(KEY_TIMEOUT)] : []),
          ...(checks ? [client.query(`${BEGIN}; ${KEY_TIMEOUT}`)] : []),
          ...[...(checks ?? []), ...statements].map((statement) => send(client, statement)),
          client.query(commit),
        ]),
      );
      if (more && this.options.inFlight === 1) {
        const begin = (): void => {
          if (this.writing?.begin === begin) next ??= this.beginNext(client);
        };
        this.writing = { commands: commands.length, begin };
        this.overlap();
      }
      const results = await written;
      this.writing = undefined;
      const failed = results.find((result) => result.status === "rejected")?.reason as unknown;
      const last = results.at(-1);
      const ended = last?.status === "fulfilled" ? last.value.command : undefined;
      const unknown = ended === undefined;
      broken = unknown;
      if (commit === "commit" && ended !== "COMMIT") {
        this.metrics.laneCommits.inc({ lane: this.options.name, result: unknown ? "unknown" : "rolled_back" });
        if (next) broken = !(await this.takeBack(next));
        next = undefined;
        if (!unknown) throw new BatchRefused(failed);
        set.unknown();
        return { outcomes: await this.recallAll(commands, outcomes, failed), next };
      }
      this.metrics.laneCommits.inc({ lane: this.options.name, result: "committed" });
      set.committed();
      if (more && !broken) next ??= this.beginNext(client);
      return { outcomes, next };
    } finally {
      if (!next) client.release(broken);
    }
  }

  private execute(set: WorkingSet, commands: Command<unknown>[], gates: PromiseSettledResult<unknown>[]): Outcome[] {
    return commands.map((command, index) => {
      const gate = gates[index];
      if (gate?.status === "rejected") return { error: gate.reason };
      try {
        // A moment of its own for each: what happens one after another must not look as if it happened at once.
        const answer = command.execute(set, this.clock.now());
        set.keep();
        return { answer };
      } catch (error) {
        set.drop();
        if (error instanceof Fault) return { error };
        this.log.error({ err: error, command: command.name }, "a command failed unexpectedly");
        if (error instanceof ImpossibleState) this.stopped = `impossible state in ${command.name}: ${error.message}`;
        return { error: new Fault("INTERNAL_ERROR", { internal: error }) };
      }
    });
  }

  /** COMMIT was sent and no answer came: what is true stands in the database, so look there on a new connection. */
  private async recallAll(commands: Command<unknown>[], outcomes: Outcome[], cause: unknown): Promise<Outcome[]> {
    this.log.warn({ err: cause, lane: this.options.name }, "the outcome of a commit is unknown, looking it up");
    return Promise.all(
      commands.map(async (command, index) => {
        const outcome = outcomes[index] as Outcome;
        if ("error" in outcome) return outcome;
        try {
          const answer = await command.recall?.();
          return answer === undefined ? { error: unavailable(cause) } : { answer };
        } catch (error) {
          return { error: error instanceof Fault ? error : unavailable(error) };
        }
      }),
    );
  }

  private faultOf(error: unknown): Fault {
    const cause = error instanceof BatchRefused ? error.cause : error;
    if (cause instanceof Fault) return cause;
    if (isConnectionLoss(cause)) return unavailable(cause);
    this.log.error({ err: cause, lane: this.options.name }, "a batch failed unexpectedly");
    return new Fault("INTERNAL_ERROR", { internal: cause });
  }
}

/** The database refused the batch and nothing of it was written. */
class BatchRefused extends Error {
  constructor(cause: unknown) {
    super("batch refused", { cause });
  }
}

/** A command ran on what it took for granted, and writes nothing that would show it: it must look. */
class PresumedWrongly extends Error {}

function settle(waiting: Waiting, outcome: Outcome): void {
  if ("error" in outcome) waiting.reject(outcome.error);
  else waiting.resolve(outcome.answer);
}

function unavailable(cause: unknown): Fault {
  return new Fault("SERVICE_UNAVAILABLE", { retryAfterSeconds: 1, internal: cause });
}

function send(client: PoolClient, statement: Statement): Promise<QueryResult> {
  return client.query(statement as QueryConfig);
}

/** Hands what `work` sends to the socket in one piece: one system call a round trip, not one a statement. */
function together<Sent>(client: PoolClient, work: () => Sent): Sent {
  const { stream } = (client as PoolClient & { connection: { stream: Socket } }).connection;
  stream.cork();
  try {
    return work();
  } finally {
    stream.uncork();
  }
}

type Wanted = Map<Need["table"], Map<string, unknown>>;

/** The keys of each table. What comes with rows that are wanted anyway is not asked for by itself. */
function wantedOf(needs: readonly Need[]): Wanted {
  const wanted: Wanted = new Map();
  for (const { table, key } of needs) {
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
  return wanted;
}

/** Puts in what is wanted as it is taken to be, where all of it may be. Gives the checks. */
function presume(set: WorkingSet, wanted: Wanted): Statement[] | undefined {
  const found = [...wanted].flatMap(([table, keys]) =>
    [...keys.values()].map((key) => ({ table, presumed: table.presume?.(key) })),
  );
  const checks: Statement[] = [];
  for (const { presumed } of found) {
    if (!presumed) return undefined;
    checks.push(presumed.check);
  }
  for (const { table, presumed } of found) {
    set.put(table, presumed?.value);
    if (table.carries) set.put(table.carries.table, presumed?.carried);
  }
  return checks.length > 0 ? checks : undefined;
}

/** BEGIN and every row that the commands need, in one round trip: one statement a table, tables by rank, keys in order. */
async function prefetch(
  client: PoolClient,
  set: WorkingSet,
  wanted: Wanted,
  timeout: string,
  realNow: Micros,
): Promise<void> {
  const byRank = [...wanted].sort(([a], [b]) => a.rank - b.rank);
  const loads = byRank.map(([table, keys]) => {
    const ordered = [...keys].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, key]) => key);
    const load = table.load?.(ordered, realNow);
    assert(load, `${table.name} cannot be loaded`);
    return { table, load };
  });
  const results = await Promise.allSettled(
    together(client, () => [client.query(`${BEGIN}; ${timeout}`), ...loads.map(({ load }) => send(client, load))]),
  );
  const failed = results.find((result) => result.status === "rejected");
  if (failed) {
    const error: unknown = failed.reason;
    if (!isConnectionLoss(error)) await client.query("rollback");
    throw new BatchRefused(error);
  }
  loads.forEach(({ table, load }, index) => {
    const result = results[index + 1];
    if (result?.status !== "fulfilled") return;
    for (const row of result.value.rows as Record<string, unknown>[]) {
      set.fill(table, row, load);
      if (table.carries) set.fill(table.carries.table, row);
    }
  });
}
