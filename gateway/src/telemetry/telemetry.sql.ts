// All SQL of telemetry: writing the samples of processes, folding them into longer spans, reading and deleting them.
import { DAY_SECONDS, HOUR_SECONDS, type Micros, sqlTime } from "../ground/clock.ts";
import type { Row, Statement } from "../store/database.ts";
import { deleteOldest } from "../store/retention.ts";
import { type AcquirerSample, type Fold, type Measured, measures } from "./sample.ts";

/** Time between two samples that a process takes. */
export const SAMPLE_SECONDS = 5;
/** Retention in seconds by length of span in seconds: a little longer than any plot of that length. */
export const samplesKeptSeconds = { 5: 2 * HOUR_SECONDS, 60: 2 * DAY_SECONDS, 3600: 35 * DAY_SECONDS } as const;
export type SampleStep = keyof typeof samplesKeptSeconds;
/** A process without a write for this long counts as gone. */
const ALIVE_SECONDS = 15;
/** How long a gone process stays in the list of processes. */
const GONE_TOLD_SECONDS = HOUR_SECONDS;
const PROCESSES_MAX = 100;
const ACQUIRERS_MAX = 100;
const CIRCUITS_MAX = 500;

const names = Object.keys(measures) as (keyof typeof measures)[];
const folds: Record<Fold, string> = { count: "sum", level: "max", peak: "max" };
const typeOf = (name: keyof typeof measures): string => (measures[name] === "count" ? "integer" : "real");
/** Folds spans of one process into the longer span that holds them. */
const foldedInTime = names.map((name) => `${folds[measures[name]]}(s.${name}) as ${name}`).join(", ");
/** Folds one span of several processes. */
const foldedOverProcesses = names
  .map((name) => `${measures[name] === "peak" ? "max" : "sum"}(s.${name}) as ${name}`)
  .join(", ");

export interface ProcessFacts {
  processId: string;
  version: string;
  node: string;
  host: string;
  pid: number;
  roles: string;
  startedAt: Micros;
}

/** A sample to write. `at`: start of its span. */
export interface WrittenSample {
  at: Micros;
  measuredMs: number;
  measured: Measured;
  acquirers: readonly AcquirerSample[];
}

/** Writes samples and renews the process's `seen_at` in one small statement. A sample that is stored already stays as it is. */
export function insertSamples(own: ProcessFacts, samples: readonly WrittenSample[]): Statement {
  const rows = samples.map(({ at, measuredMs, measured }) => ({
    at: sqlTime(at),
    measured_ms: measuredMs,
    ...measured,
  }));
  const acquirers = samples.flatMap(({ at, acquirers }) => acquirers.map((one) => ({ at: sqlTime(at), ...one })));
  return {
    name: "write samples",
    text: `with process as (
  insert into telemetry_processes (process_id, version, node, host, pid, roles, started_at, seen_at)
  values ($1::uuid, $2::text, $3::text, $4::text, $5::integer, $6::text, $7::timestamptz, statement_timestamp())
  on conflict (process_id) do update
  set seen_at = excluded.seen_at, ended_at = null
), acquirers as (
  insert into telemetry_acquirers (step_seconds, at, process_id, gateway_code, method, calls, refused, unknown, call_ms, is_open)
  select ${SAMPLE_SECONDS}, at, $1::uuid, gateway_code, method, calls, refused, unknown, call_ms, is_open
  from json_to_recordset($9::json) as s (at timestamptz, gateway_code text, method text, calls integer, refused integer, unknown integer,
    call_ms integer, is_open boolean)
  on conflict do nothing
)
insert into telemetry_samples (step_seconds, at, process_id, measured_ms, ${names.join(", ")})
select ${SAMPLE_SECONDS}, at, $1::uuid, measured_ms, ${names.join(", ")}
from json_to_recordset($8::json) as s (at timestamptz, measured_ms integer, ${names
      .map((name) => `${name} ${typeOf(name)}`)
      .join(", ")})
on conflict do nothing`,
    values: [
      own.processId,
      own.version,
      own.node,
      own.host,
      own.pid,
      own.roles,
      sqlTime(own.startedAt),
      JSON.stringify(rows),
      JSON.stringify(acquirers),
    ],
  };
}

/** Records the end of a process, and deletes its circuits. */
export function endProcess(processId: string): Statement {
  return {
    text: `with circuits as (delete from telemetry_circuits where process_id = $1::uuid)
update telemetry_processes
set seen_at = statement_timestamp(), ended_at = statement_timestamp()
where process_id = $1::uuid`,
    values: [processId],
  };
}

interface WrittenCircuit {
  gateway_code: string;
  method: string;
  state: "closed" | "open" | "probing";
  calls: number;
  failures: number;
}

/** Writes changed circuits. The process must be in `telemetry_processes`. */
export function putCircuits(processId: string, circuits: readonly WrittenCircuit[]): Statement {
  return {
    name: "write circuits",
    text: `insert into telemetry_circuits as t (process_id, gateway_code, method, state, calls, failures, changed_at)
select $1::uuid, gateway_code, method, state, calls, failures, statement_timestamp()
from json_to_recordset($2::json) as c (gateway_code text, method payment_method, state text, calls integer, failures integer)
on conflict (process_id, gateway_code, method) do update
set state = excluded.state, calls = excluded.calls, failures = excluded.failures,
  changed_at = case when t.state = excluded.state then t.changed_at else excluded.changed_at end`,
    values: [processId, JSON.stringify(circuits)],
  };
}

/** Takes the lock of folding, which one process holds until its transaction ends; `taken` is false when another has it. */
export const takeTurn: Statement = {
  name: "turn of telemetry",
  text: "select pg_try_advisory_xact_lock(hashtext('gerbang telemetry')) as taken",
};

/** Longest delay of a write: a process keeps samples that it could not write for ten minutes. */
const LATE_SECONDS = 15 * 60;

/** SQL of the time from which spans must be folded again: the newest folded span, or earlier, as late samples may reach back further. */
function foldedFrom(table: string, from: SampleStep, to: SampleStep): string {
  return `greatest(statement_timestamp() - interval '${samplesKeptSeconds[from]} seconds', date_bin(interval '${to} seconds', least(
    statement_timestamp() - interval '${Math.max(LATE_SECONDS, 2 * to)} seconds',
    coalesce((select max(at) from ${table} where step_seconds = ${to}), 'epoch')
  ), 'epoch'))`;
}

/** Folds shorter spans into longer ones. Idempotent: a repeated run writes only spans that changed. */
export function foldSamples(from: SampleStep, to: SampleStep): Statement {
  return {
    name: `fold samples of ${from} s into ${to} s`,
    text: `insert into telemetry_samples as t (step_seconds, at, process_id, measured_ms, ${names.join(", ")})
select ${to}, date_bin(interval '${to} seconds', s.at, 'epoch'), s.process_id, sum(s.measured_ms), ${foldedInTime}
from telemetry_samples s
where s.step_seconds = ${from} and s.at >= ${foldedFrom("telemetry_samples", from, to)}
group by 2, 3
order by 2, 3
on conflict (step_seconds, at, process_id) do update
set measured_ms = excluded.measured_ms, ${names.map((name) => `${name} = excluded.${name}`).join(", ")}
where t.measured_ms < excluded.measured_ms`,
  };
}

/** Folds shorter spans of acquirers into longer ones, as `foldSamples` does. */
export function foldAcquirers(from: SampleStep, to: SampleStep): Statement {
  return {
    name: `fold acquirers of ${from} s into ${to} s`,
    text: `insert into telemetry_acquirers as t (step_seconds, at, process_id, gateway_code, method, calls, refused, unknown, call_ms, is_open)
select ${to}, date_bin(interval '${to} seconds', s.at, 'epoch'), s.process_id, s.gateway_code, s.method, sum(s.calls), sum(s.refused),
  sum(s.unknown), sum(s.call_ms), bool_or(s.is_open)
from telemetry_acquirers s
where s.step_seconds = ${from} and s.at >= ${foldedFrom("telemetry_acquirers", from, to)}
group by 2, 3, 4, 5
order by 2, 3, 4, 5
on conflict (step_seconds, at, process_id, gateway_code, method) do update
set calls = excluded.calls, refused = excluded.refused, unknown = excluded.unknown, call_ms = excluded.call_ms, is_open = excluded.is_open
where (t.calls, t.call_ms, t.is_open) is distinct from (excluded.calls, excluded.call_ms, excluded.is_open)`,
  };
}

export interface SpanRow extends Row, Record<Exclude<keyof Measured, symbol>, unknown> {
  /** Number of the span, from 0. */
  span: number;
  /** Part of the span that was measured. */
  measured_ms: number;
}

/** SQL of a span's number, from 0, when the first span begins at $2 and each has $3 seconds. */
const span = "floor(extract(epoch from s.at - $2::timestamptz) / $3::integer)::integer";

/** Spans of a plot: `spans` of equal length, the first of which begins at `begin`. */
export interface Spans {
  step: SampleStep;
  begin: Micros;
  spanSeconds: number;
  spans: number;
}

/** Measures of all processes together. */
export function selectSamples(asked: Spans): Statement {
  return {
    name: "samples over time",
    text: `select ${span} as span, sum(s.measured_ms)::float8 as measured_ms, ${names.map((name) => `${folds[measures[name]]}(s.${name})::float8 as ${name}`).join(", ")}
from (
  select s.at, max(s.measured_ms) as measured_ms, ${foldedOverProcesses}
  from telemetry_samples s
  where s.step_seconds = $1::integer and s.at >= $2::timestamptz
  group by s.at
) s
group by 1
order by 1`,
    values: [asked.step, sqlTime(asked.begin), asked.spanSeconds],
  };
}

export interface AcquirerSpanRow extends Row, Omit<AcquirerSample, "method"> {
  span: number;
}

const foldedCalls = `sum(s.calls)::float8 as calls, sum(s.refused)::float8 as refused,
  sum(s.unknown)::float8 as unknown, sum(s.call_ms)::float8 as call_ms, bool_or(s.is_open) as is_open`;

/** Calls to each acquirer from all processes together, newest spans first: beyond the limit the oldest are left out. */
export function selectAcquirers(asked: Spans): Statement {
  return {
    name: "acquirers over time",
    text: `select ${span} as span, s.gateway_code, ${foldedCalls}
from telemetry_acquirers s
where s.step_seconds = $1::integer and s.at >= $2::timestamptz
group by 1, 2
order by 1 desc, 2
limit ${ACQUIRERS_MAX} * 200`,
    values: [asked.step, sqlTime(asked.begin), asked.spanSeconds],
  };
}

export interface MethodSpanRow extends AcquirerSpanRow {
  method: string;
}

const METHODS_MAX = 20;

/** Calls to one acquirer by method, newest spans first: beyond the limit the oldest are left out. */
export function selectMethods(asked: Spans, gatewayCode: string): Statement {
  return {
    name: "methods of an acquirer over time",
    text: `select ${span} as span, s.gateway_code, s.method, ${foldedCalls}
from telemetry_acquirers s
where s.step_seconds = $1::integer and s.at >= $2::timestamptz and s.gateway_code = $4::text and s.method <> ''
group by 1, 2, 3
order by 1 desc, 3
limit ${METHODS_MAX} * 200`,
    values: [asked.step, sqlTime(asked.begin), asked.spanSeconds, gatewayCode],
  };
}

export interface ProcessRow extends Row, Pick<ProcessFacts, "version" | "node" | "host" | "pid" | "roles"> {
  process_id: string;
  started_at: Micros;
  seen_at: Micros;
  ended_at: Micros | null;
  is_alive: boolean;
  /** Null before the first sample, and when the process is gone. */
  measured_ms: number | null;
}

const alive = `p.ended_at is null and p.seen_at >= statement_timestamp() - interval '${ALIVE_SECONDS} seconds'`;

/** Processes that are alive, with their newest samples, and processes that went within the last hour. */
export const selectProcesses: Statement = {
  name: "processes",
  text: `select p.*, n.measured_ms, ${names.map((name) => `n.${name}::float8`).join(", ")}
from (
  select p.*, ${alive} as is_alive
  from telemetry_processes p
  where p.seen_at >= statement_timestamp() - interval '${GONE_TOLD_SECONDS} seconds'
  order by p.seen_at desc
  limit ${PROCESSES_MAX}
) p
left join lateral (
  select *
  from telemetry_samples s
  where p.is_alive and s.step_seconds = ${SAMPLE_SECONDS} and s.at >= statement_timestamp() - interval '${2 * ALIVE_SECONDS} seconds'
    and s.process_id = p.process_id
  order by s.at desc
  limit 1
) n on true
order by p.is_alive desc, p.started_at`,
};

export interface CircuitRow extends Row, WrittenCircuit {
  changed_at: Micros;
}

/** Circuits by acquirer and method, over all processes that are alive: the worst state, and the sum of calls and failures. */
export const selectCircuits: Statement = {
  name: "circuits",
  text: `select c.gateway_code, c.method, (array_agg(c.state order by array_position(array['open', 'probing', 'closed'], c.state)))[1] as state,
  sum(c.calls)::integer as calls, sum(c.failures)::integer as failures, max(c.changed_at) as changed_at
from telemetry_processes p
join telemetry_circuits c using (process_id)
where ${alive}
group by 1, 2
order by 1, 2
limit ${CIRCUITS_MAX}`,
};

/** Start of the newest sample's span, and the number of processes that are alive. */
export const selectPulse: Statement = {
  name: "pulse",
  text: `select (
  select max(at)
  from telemetry_samples
  where step_seconds = ${SAMPLE_SECONDS}
) as sampled_at, (
  select count(*)::integer
  from telemetry_processes p
  where ${alive}
) as processes`,
};

const PROCESSES_KEPT_SECONDS = 2 * 86_400;

/** The statements that delete samples beyond their retention, and processes not seen for 2 days. */
export function expiredTelemetry(realNow: Micros): Statement[] {
  return [
    ...Object.entries(samplesKeptSeconds).flatMap(([step, keptSeconds]) => {
      const expiry = { column: "at", keptSeconds, which: `step_seconds = ${step}` };
      return ["telemetry_samples", "telemetry_acquirers"].map((table) => deleteOldest(table, expiry, realNow));
    }),
    deleteOldest("telemetry_processes", { column: "seen_at", keptSeconds: PROCESSES_KEPT_SECONDS }, realNow),
  ];
}
