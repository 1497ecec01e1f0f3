// The sampler: measures this process every five seconds, and writes the samples to the database. Writes changed circuits within half a second.
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

/** Samples kept in memory while the database cannot be written: ten minutes' worth, written together later. */
const UNWRITTEN_MAX = 120;
/** Time between two checks for changed circuits. */
const CIRCUITS_MS = 500;
const HOST_MAX = 64;
const SPAN: Micros = SAMPLE_SECONDS * SECOND;
const MEASURED_MIN: Micros = SECOND / 2;

interface SamplerParts {
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
  /** State of each circuit as last written, by acquirer and method. */
  private readonly written = new Map<string, string>();
  private timer: NodeJS.Timeout | undefined;
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

  /** Starts to measure, and registers the process in the database at once. */
  async start(): Promise<void> {
    this.running = true;
    this.meters.start();
    this.before = await this.read();
    void this.queue(() => this.write());
    this.plan();
    this.timer = setInterval(() => {
      if (!this.busy) void this.queue(() => this.writeCircuits());
    }, CIRCUITS_MS).unref();
  }

  /** Writes the last sample, and records the end of the process. */
  async stop(): Promise<void> {
    if (!this.running) return;
    this.running = false;
    clearInterval(this.timer);
    clearTimeout(this.next);
    await this.queue(async () => {
      await this.sample();
      await this.parts.database.query(endProcess(this.own.processId));
    });
    this.meters.stop();
  }

  /** Takes a sample of the time since the last one, and writes it with the samples that could not be written before. */
  async sample(): Promise<void> {
    const { before } = this;
    if (!before) return;
    const after = await this.read();
    // The clock was set back: the next sample begins here, and not when the clock has caught up.
    if (after.at < before.at) this.before = after;
    const own = spanOf(before.at);
    // A span has one sample. When a timer was early or late and the span has its sample, this one belongs to the next span, once that has begun.
    const at = own === this.lastAt ? own + SPAN : own;
    if (at > after.at) return;
    // A count per second would mean nothing over so short a time.
    if (after.at - before.at < MEASURED_MIN) return;
    const open = this.parts.circuits().filter(({ state }) => state !== "closed");
    const left = open.map(({ gatewayCode, method }) => ({ gateway_code: gatewayCode, method }));
    const sample = sampleOf(before.reading, after.reading, left);
    this.unwritten = [...this.unwritten, { at, ...sample }].slice(-UNWRITTEN_MAX);
    this.lastAt = at;
    this.before = after;
    await this.write();
  }

  /** Writes circuits that changed since the last write. */
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
      .filter((circuit) => this.written.get(nameOfMethod(circuit)) !== stateText(circuit));
    if (changed.length === 0) return;
    await this.parts.database.query(putCircuits(this.own.processId, changed));
    for (const circuit of changed) this.written.set(nameOfMethod(circuit), stateText(circuit));
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

  /** Plans a sample at the end of each span. Spans follow the clock that all processes share, so they are the same in every process. */
  private plan(): void {
    const leftMs = (SPAN - (this.parts.clock.now() % SPAN)) / 1_000;
    this.next = setTimeout(() => {
      if (!this.running) return;
      this.plan();
      if (!this.busy) void this.queue(() => this.sample());
    }, leftMs + 5);
    this.next.unref();
  }

  /** Runs one task at a time. A failure is only logged, and the next sample retries the write: telemetry must not stop the service. */
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
/** The part of a circuit whose change is written at once. The number of calls is not: it goes along with the next failure or change of state. */
const stateText = (circuit: { state: string; failures: number }): string => `${circuit.state} ${circuit.failures}`;
