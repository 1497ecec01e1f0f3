// Shared by the cases: a stage for each, loads in turns, and the computation of results.
import { makeCertificates } from "../e2e/kit/receiver.ts";
import { cpuOfEach } from "./cpu.ts";
import { ReceiverProcess } from "./receiver-process.ts";
import type { Point, Result } from "./result.ts";
import { type Load, type LoadReport, Stage, type StageOptions, rateOf, together } from "./stage.ts";

export const round = (value: number, digits = 0): number => Math.round(value * 10 ** digits) / 10 ** digits;

export function resultOf(
  name: string,
  run: LoadReport,
  baseline: { name: string; rate: number },
  aim: number,
  rest: {
    memory: number | undefined;
    verified: boolean;
    errors?: number;
    met?: boolean;
    notes?: Result["notes"];
    curve?: Point[];
  },
): Result {
  const ratio = rateOf(run) / baseline.rate;
  const cpu = cpuOfEach(run.cpu_us, run.requests);
  return {
    case: name,
    rate_per_s: round(rateOf(run)),
    baseline: baseline.name,
    baseline_per_s: round(baseline.rate),
    ratio: round(ratio, 2),
    aim,
    met: ratio >= aim && rest.met !== false && sound(run, rest),
    p50_ms: run.p50_ms,
    p99_ms: run.p99_ms,
    errors: run.errors + (rest.errors ?? 0),
    ...(rest.memory !== undefined && { memory_mib: rest.memory }),
    ...(cpu && { cpu_us: cpu }),
    verified: rest.verified,
    notes: { ...rest.notes, ...run.reasons },
    ...(rest.curve && { curve: rest.curve }),
  };
}

/** A run counts only without errors and with clean books: requests that fail quickly would make it look fast. */
export function sound(run: LoadReport, { errors = 0, verified }: { errors?: number; verified: boolean }): boolean {
  return run.errors + errors === 0 && verified;
}

export async function onStage<T>(options: StageOptions, work: (stage: Stage) => Promise<T>): Promise<T> {
  const stage = await Stage.set(options);
  try {
    return await work(stage);
  } finally {
    await stage.strike();
  }
}

/** The warm-up before anything is measured, until the service's code is compiled: a lifecycle needs twenty seconds. */
export const warm = (seconds: number): { label: string; seconds: number } => ({
  label: "warm",
  seconds: Math.min(20, seconds * 2),
});
export const TURNS = 3;

/** Runs loads in turns, each for `seconds` in all. Gives a report for each. */
export async function inTurns(
  stage: Stage,
  seconds: number,
  loads: readonly Omit<Load, "seconds">[],
): Promise<LoadReport[]> {
  const runs: LoadReport[][] = loads.map(() => []);
  for (let turn = 0; turn < TURNS; turn++) {
    for (const [index, load] of loads.entries()) {
      runs[index]?.push(await stage.load({ ...load, label: `${load.label}${turn}`, seconds: seconds / TURNS }));
    }
  }
  return runs.map(together);
}

export const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;

/** Runs `work` with a receiver of webhooks in another process, and the options of a stage that delivers to it over TLS. */
export async function receiving<T>(work: (receiver: ReceiverProcess, toIt: StageOptions) => Promise<T>): Promise<T> {
  const certificates = await makeCertificates();
  const receiver = await ReceiverProcess.start(certificates);
  const env = { WEBHOOK_ALLOW_HOSTS: "localhost", NODE_EXTRA_CA_CERTS: certificates.caFile };
  try {
    return await work(receiver, { env, url: `https://localhost:${receiver.port}/hook`, worker: true });
  } finally {
    receiver.stop();
  }
}

/** Runs `work` on a stage with a worker that delivers to a receiver. */
export const withReceiver = <T>(
  options: StageOptions,
  work: (stage: Stage, receiver: ReceiverProcess) => Promise<T>,
): Promise<T> => receiving((receiver, toIt) => onStage({ ...options, ...toIt }, (stage) => work(stage, receiver)));
