// Vitals: measurements of all processes of the service, now and over time, read from what each process wrote to the database.
import type { Micros } from "../ground/clock.ts";
import type { Database } from "../store/database.ts";
import { type Measure, type Measured, measures } from "./sample.ts";
import {
  type AcquirerSpanRow,
  type CircuitRow,
  type MethodSpanRow,
  type ProcessRow,
  type SpanRow,
  type Spans,
  selectAcquirers,
  selectCircuits,
  selectMethods,
  selectProcesses,
  selectPulse,
  selectSamples,
} from "./telemetry.sql.ts";

/** A process with its newest sample. */
export interface KnownProcess extends ProcessRow {
  /** Undefined before the first sample, and when the process is no longer alive. */
  newest: { measuredMs: number; measured: Measured } | undefined;
}

export interface AcquirerSpan {
  calls: number;
  refused: number;
  unknown: number;
  callMs: number;
  isOpen: boolean;
}

export interface Vitals {
  processes: KnownProcess[];
  circuits: CircuitRow[];
  /** One value for each span, counts per second; undefined when no process measured anything in the span. */
  series: Record<Measure, (number | undefined)[]>;
  /** By acquirer, one entry for each span; undefined when nothing was measured. */
  acquirers: Map<string, (AcquirerSpan | undefined)[]>;
}

/** Reads processes, circuits and plots in one round trip. */
export async function readVitals(database: Database, asked: Spans): Promise<Vitals> {
  const [processes, circuits, samples, acquirers] = await database.pipeline([
    selectProcesses,
    selectCircuits,
    selectSamples(asked),
    selectAcquirers(asked),
  ]);
  return {
    processes: ((processes ?? []) as ProcessRow[]).map(processOfRow),
    circuits: (circuits ?? []) as CircuitRow[],
    series: seriesOf((samples ?? []) as SpanRow[], asked.spans),
    acquirers: spansOf((acquirers ?? []) as AcquirerSpanRow[], asked.spans, ({ gateway_code: code }) => code),
  };
}

export async function readProcesses(database: Database): Promise<KnownProcess[]> {
  return (await database.query<ProcessRow>(selectProcesses)).map(processOfRow);
}

export async function readCircuits(database: Database): Promise<CircuitRow[]> {
  return database.query<CircuitRow>(selectCircuits);
}

/** Time of the newest sample, and the number of processes that are alive. */
export async function readPulse(database: Database): Promise<{ sampledAt: Micros | undefined; processes: number }> {
  const [row] = await database.query<{ sampled_at: Micros | null; processes: number }>(selectPulse);
  return { sampledAt: row?.sampled_at ?? undefined, processes: row?.processes ?? 0 };
}

const names = Object.keys(measures) as Measure[];

function processOfRow(row: ProcessRow): KnownProcess {
  const { measured_ms: measuredMs } = row;
  if (measuredMs === null) return { ...row, newest: undefined };
  const measured = Object.fromEntries(names.map((name) => [name, row[name] as number])) as Measured;
  return { ...row, newest: { measuredMs, measured } };
}

function seriesOf(rows: readonly SpanRow[], spans: number): Vitals["series"] {
  const bySpan = new Map(rows.map((row) => [row.span, row]));
  const values = (name: Measure): (number | undefined)[] =>
    Array.from({ length: spans }, (_, at) => {
      const row = bySpan.get(at);
      const value = row?.[name] as number | undefined;
      return row && value !== undefined && measures[name] === "count" ? (value * 1_000) / row.measured_ms : value;
    });
  return Object.fromEntries(names.map((name) => [name, values(name)])) as Vitals["series"];
}

/** Circuits of one acquirer, and its measurements in each span by method. */
export async function readMethods(
  database: Database,
  asked: Spans,
  gatewayCode: string,
): Promise<{ circuits: CircuitRow[]; methods: Map<string, (AcquirerSpan | undefined)[]> }> {
  const [circuits, rows] = await database.pipeline([selectCircuits, selectMethods(asked, gatewayCode)]);
  return {
    circuits: ((circuits ?? []) as CircuitRow[]).filter(({ gateway_code: code }) => code === gatewayCode),
    methods: spansOf((rows ?? []) as MethodSpanRow[], asked.spans, ({ method }) => method),
  };
}

function spansOf<SpanOf extends AcquirerSpanRow>(
  rows: readonly SpanOf[],
  spans: number,
  nameOf: (row: SpanOf) => string,
): Map<string, (AcquirerSpan | undefined)[]> {
  return new Map(
    [...Map.groupBy(rows, nameOf)].map(([code, own]) => {
      const bySpan = new Map(own.map((row) => [row.span, row]));
      const rows = Array.from({ length: spans }, (_, at) => {
        const row = bySpan.get(at);
        if (!row) return undefined;
        const { calls, refused, unknown, call_ms: callMs, is_open: isOpen } = row;
        return { calls, refused, unknown, callMs, isOpen };
      });
      return [code, rows];
    }),
  );
}

/** Current measures of all processes that are alive, by their newest samples: counts per second, the sum of levels, the highest peak. */
export function now(processes: readonly KnownProcess[]): Measured {
  const newest = processes.flatMap(({ is_alive: isAlive, newest: one }) => (isAlive && one ? [one] : []));
  const folded = (name: Measure): number => {
    if (measures[name] === "peak") return Math.max(0, ...newest.map(({ measured }) => measured[name]));
    const perSecond = measures[name] === "count";
    return newest.reduce(
      (sum, { measuredMs, measured }) => sum + (perSecond ? (measured[name] * 1_000) / measuredMs : measured[name]),
      0,
    );
  };
  return Object.fromEntries(names.map((name) => [name, folded(name)])) as Measured;
}
