// The sampler: measures this process every five seconds, writes what it found, and says at once when a circuit changes.
import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { type Clock, type Micros, SECOND } from "../ground/clock.ts";
import type { Log } from "../ground/log.ts";
import type { Metrics } from "../ground/metrics.ts";
import { version } from "../ground/version.ts";
import type { CircuitReport } from "../routing/circuit.ts";
import type { Database } from "../store/database.ts";
import { Meters } from "./meters.ts";
import { type Reading, nameOfMethod, sampleOf } from "./sample.ts";
import {
  type ProcessFacts,
  SAMPLE_SECONDS,
  type WrittenSample,
  endProcess,
  insertSamples,
  putCircuits,
} from "./telemetry.sql.ts";

/** What cannot be written is kept for so many samples, ten minutes, and written together later. */
const UNWRITTEN_MAX = 120;
/** How soon a circuit that changed is written. */
const CIRCUITS_MS = 500;
const HOST_MAX = 64;
const SPAN: Micros = SAMPLE_SECONDS * SECOND;
const MEASURED_MIN: Micros = SECOND / 2;

export interface SamplerParts {
  database: Database;
  metrics: Metrics;
  clock: Clock;
  log: Log;
  roles: ReadonlySet<"api" | "worker">;
  circuits: () => readonly CircuitReport[];
}

export class Sampler {
  readonly own: ProcessFacts;
  private readonly parts: SamplerParts;
  private readonly meters: Meters;
  private before: { reading: Reading; at: Micros } | undefined;
  private unwritten: WrittenSample[] = [];
  private lastAt: Micros | undefined;
  /** By acquirer and method: the circuit as it was written. */
  private readonly written = new Map<string, string>();
  private timers: NodeJS.Timeout[] = [];
  private next: NodeJS.Timeout | undefined;
  private turn: Promise<void> = Promise.resolve();
  private busy = false;
  private running = false;

  constructor(parts: SamplerParts) {
    this.parts = parts;
    this.meters = new Meters(parts.metrics.registry);
    this.own = {
      processId: randomUUID(),
      version,
      node: process.version,
      host: hostname().slice(0, HOST_MAX),
      pid: process.pid,
      roles: [...parts.roles].toSorted().join(" "),
      startedAt: parts.clock.now(),
    };
  }

  /** Measures from now on. The process is known at once. */
  async start(): Promise<void> {
    this.running = true;
    this.meters.start();
    this.before = await this.read();
    void this.queue(() => this.write());
    this.plan();
    this.timers = [setInterval(() => this.look(), CIRCUITS_MS)];
    for (const timer of this.timers) timer.unref();
  }

  /** Writes what is left, and that the process ends. */
  async stop(): Promise<void> {
    if (!this.running) return;
    this.running = false;
    for (const timer of this.timers) clearInterval(timer);
    clearTimeout(this.next);
    await this.queue(async () => {
      await this.sample();
      await this.parts.database.query(endProcess(this.own.processId));
    });
    this.meters.stop();
  }

  /** Takes a sample of what happened since the last one, and writes it with those that could not be written before. */
  async sample(): Promise<void> {
    const { before } = this;
    if (!before) return;
    const after = await this.read();
    const own = spanOf(before.at);
    // A span has one sample. What came after it, because a timer was early or late, is of the next one, once that has begun.
    const at = own === this.lastAt ? own + SPAN : own;
    if (at > after.at) return;
    // Of so short a time a count by the second would say nothing.
    if (after.at - before.at < MEASURED_MIN) return;
    const open = this.parts.circuits().filter(({ state }) => state !== "closed");
    const left = open.map(({ gatewayCode, method }) => ({ gateway_code: gatewayCode, method }));
    const sample = sampleOf(before.reading, after.reading, left);
    this.unwritten = [...this.unwritten, { at, ...sample }].slice(-UNWRITTEN_MAX);
    this.lastAt = at;
    this.before = after;
    await this.write();
  }

  /** Writes the circuits that changed since they were written last. */
  async writeCircuits(): Promise<void> {
    const changed = this.parts
      .circuits()
      .map(({ gatewayCode, method, state, calls, failures }) => ({
        gateway_code: gatewayCode,
        method,
        state,
        calls,
        failures,
      }))
      .filter((circuit) => this.written.get(nameOfMethod(circuit)) !== standingOf(circuit));
    if (changed.length === 0) return;
    await this.parts.database.query(putCircuits(this.own.processId, changed));
    for (const circuit of changed) this.written.set(nameOfMethod(circuit), standingOf(circuit));
  }

  private async read(): Promise<{ reading: Reading; at: Micros }> {
    const at = this.parts.clock.now();
    return { reading: await this.meters.read(at), at };
  }

  private async write(): Promise<void> {
    const samples = this.unwritten;
    await this.parts.database.query(insertSamples(this.own, samples));
    this.unwritten = this.unwritten.filter((sample) => !samples.includes(sample));
  }

  /** At the end of each span, by the clock that all processes share: their spans are the same. */
  private plan(): void {
    const leftMs = (SPAN - (this.parts.clock.now() % SPAN)) / 1_000;
    this.next = setTimeout(() => {
      if (!this.running) return;
      this.plan();
      if (!this.busy) void this.queue(() => this.sample());
    }, leftMs + 5);
    this.next.unref();
  }

  private look(): void {
    if (!this.busy) void this.queue(() => this.writeCircuits());
  }

  /** One thing at a time. What fails is tried again with the next sample: telemetry stops nobody. */
  private queue(work: () => Promise<void>): Promise<void> {
    this.busy = true;
    this.turn = this.turn
      .then(work)
      .catch((error: unknown) => this.parts.log.debug({ err: error }, "telemetry could not be written"))
      .finally(() => (this.busy = false));
    return this.turn;
  }
}

const spanOf = (at: Micros): Micros => Math.floor(at / SPAN) * SPAN;
/** Calls alone are no news: they are told with the next failure or change of state. */
const standingOf = (circuit: { state: string; failures: number }): string => `${circuit.state} ${circuit.failures}`;
