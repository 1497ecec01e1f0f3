// The worker runs the tasks that need no request: expiry, deliveries, and the deletion of expired rows.
import { DueOperations, type DueParts } from "./acquiring/operation-worker.ts";
import type { SweepParts } from "./commands/sweep.ts";
import type { Foundation } from "./foundation.ts";
import { submitDueEvidence } from "./acquiring/evidence-submission.ts";
import { sweepExpiredDisputes } from "./disputes/dispute-expiry.ts";
import { emptyDeadSlots } from "./auth/nonces.ts";
import { stopwatchMs } from "./ground/clock.ts";
import { Throttle } from "./ground/throttle.ts";
import { expiredAt } from "./retention.ts";
import { deleteExpired } from "./store/retention.ts";
import { forgetHistory } from "./events/history.ts";
import { countCommitted, rollUpAge } from "./insights/roll-up.ts";
import type { Merchants } from "./merchants/merchants.ts";
import { settleDue } from "./settlements/settlement-worker.ts";
import { sweepExpiredPayments } from "./payments/expiry.ts";
import type { Clocks } from "./sandbox/clock.ts";
import type { Deliverer } from "./webhooks/deliverer.ts";
import { foldTelemetry } from "./telemetry/fold.ts";
import { deliveryTiming } from "./webhooks/timing.ts";

const EXPIRY_MS = 500;
const ACQUIRERS_MS = 250;
const EVIDENCE_MS = 1_000;
const DISPUTES_MS = 1_000;
const SETTLEMENTS_MS = 1_000;
const CLOCKS_MS = 5_000;
const RETENTION_MS = 30_000;
const NONCES_MS = 15_000;
const ROLL_UP_MS = 500;
const ROLL_UP_AGE_MS = 5_000;
const TELEMETRY_MS = 15_000;

interface WorkerParts extends SweepParts, Pick<Foundation, "realClock" | "metrics" | "config" | "maySweep"> {
  operations: DueParts;
  merchants: Merchants;
  clocks: Clocks;
  /** Absent in a process that does not deliver. */
  deliverer: Deliverer | undefined;
  rotationMs?: number | undefined;
}

export class Worker {
  private readonly deliverer: Deliverer | undefined;
  private readonly operations: DueOperations;
  private readonly loops: Loop[];
  private readonly parts: Pick<WorkerParts, "log" | "metrics">;
  private running = false;

  constructor(parts: WorkerParts) {
    this.parts = parts;
    const { database, directory, lanes, clock, config, merchants, metrics, log } = parts;
    this.deliverer = parts.deliverer;
    this.operations = new DueOperations(parts.operations);
    /** A loop that deletes or expires something: it does nothing while the clock is wrong. */
    const sweep = (name: string, intervalMs: number, work: (ending: AbortSignal) => Promise<unknown>): Loop =>
      new Loop(name, intervalMs, parts, async (ending) => (parts.maySweep() ? work(ending) : undefined));
    this.loops = [
      sweep("expiry", EXPIRY_MS, () => sweepExpiredPayments({ database, lanes, directory, clock, log })),
      new Loop("acquirers", ACQUIRERS_MS, parts, () => this.operations.poll()),
      new Loop("evidence", EVIDENCE_MS, parts, () => submitDueEvidence(parts.operations)),
      sweep("settlements", SETTLEMENTS_MS, () => settleDue(parts)),
      sweep("nonces", NONCES_MS, () => emptyDeadSlots(database, parts.realClock)),
      new Loop("clocks", CLOCKS_MS, parts, () => parts.clocks.moveLeft()),
      sweep("disputes", DISPUTES_MS, () => sweepExpiredDisputes(parts)),
      new Loop("rotation", parts.rotationMs ?? deliveryTiming.rotationMs, parts, async () => {
        const marks = this.deliverer?.takeMarks() ?? [];
        if (marks.length > 0) await merchants.markPrevious(marks);
      }),
      new Loop("roll-up", ROLL_UP_MS, parts, (signal) => countCommitted(database, log, signal)),
      new Loop("roll-up age", ROLL_UP_AGE_MS, parts, async () => {
        const age = await rollUpAge(database).catch((error: unknown) => {
          metrics.rollUpAgeSeconds.set(NaN);
          throw error;
        });
        metrics.rollUpAgeSeconds.set(age ?? 0);
      }),
      new Loop("telemetry", TELEMETRY_MS, parts, () => foldTelemetry(database)),
      sweep("history", RETENTION_MS, (signal) =>
        forgetHistory(database, clock.now(), config.webhookHistoryDays, new Throttle(signal)),
      ),
      sweep("retention", RETENTION_MS, (signal) =>
        deleteExpired(database, expiredAt(clock.now()), new Throttle(signal)),
      ),
    ];
  }

  /** Adds a loop for a room that is built after the worker. Must be called before `start`. */
  repeat(name: string, intervalMs: number, work: () => Promise<unknown>): void {
    this.loops.push(new Loop(name, intervalMs, this.parts, work));
  }

  start(): void {
    this.running = true;
    this.deliverer?.start();
    for (const loop of this.loops) loop.start();
  }

  async stop(): Promise<void> {
    if (!this.running) return this.deliverer?.stop();
    const loops = this.loops.map((loop) => loop.stop());
    await Promise.all([this.deliverer?.stop(), this.operations.stop(), ...loops]);
  }
}

/** A loop whose runs fail one after the other says so once in this time: without a database a dozen loops fail several times a second. */
const SAID_EVERY_MS = 60_000;

/** Repeats a task, one run at a time. A run that fails is logged, and the next run tries again. */
export class Loop {
  private readonly name: string;
  private readonly intervalMs: number;
  private readonly parts: Pick<WorkerParts, "log" | "metrics">;
  private readonly work: (ending: AbortSignal) => Promise<unknown>;
  private readonly ending = new AbortController();
  private timer: NodeJS.Timeout | undefined;
  private run: Promise<void> | undefined;
  private saidAt = -Infinity;

  constructor(
    name: string,
    intervalMs: number,
    parts: Pick<WorkerParts, "log" | "metrics">,
    work: (ending: AbortSignal) => Promise<unknown>,
  ) {
    this.name = name;
    this.intervalMs = intervalMs;
    this.parts = parts;
    this.work = work;
  }

  start(): void {
    this.timer = setInterval(() => {
      this.run ??= this.once().finally(() => (this.run = undefined));
    }, this.intervalMs);
  }

  async stop(): Promise<void> {
    clearInterval(this.timer);
    this.ending.abort();
    await this.run;
  }

  private async once(): Promise<void> {
    try {
      await this.work(this.ending.signal);
      this.saidAt = -Infinity;
    } catch (error) {
      this.parts.metrics.roundsFailed.inc({ loop: this.name });
      if (stopwatchMs() - this.saidAt < SAID_EVERY_MS) return;
      this.saidAt = stopwatchMs();
      this.parts.log.warn({ err: error, loop: this.name }, "a worker's round failed; the next one tries again");
    }
  }
}
