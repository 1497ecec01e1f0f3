// The cases: each sets its stage, runs its load beside what it is compared with, and gives one result.
import { baselineLatency, runBaseline } from "./baseline.ts";
import { type Clone, fill } from "./growth.ts";
import type { Options, Result } from "./result.ts";
import { type LoadReport, type Sender, Stage, generate, rateOf } from "./stage.ts";
import { Stub } from "./stub.ts";
import { ReceiverProcess } from "./webhooks.ts";
import { makeCertificates } from "../e2e/kit/receiver.ts";

const round = (value: number, digits = 0): number => Math.round(value * 10 ** digits) / 10 ** digits;

function resultOf(
  name: string,
  run: LoadReport,
  baseline: { name: string; rate: number },
  aim: number,
  rest: { memory: number; verified: boolean; errors?: number; met?: boolean; notes?: Result["notes"] },
): Result {
  const ratio = rateOf(run) / baseline.rate;
  return {
    case: name,
    rate_per_s: round(rateOf(run)),
    baseline: baseline.name,
    baseline_per_s: round(baseline.rate),
    ratio: round(ratio, 2),
    aim,
    met: ratio >= aim && rest.met !== false,
    p50_ms: run.p50_ms,
    p99_ms: run.p99_ms,
    errors: run.errors + (rest.errors ?? 0),
    memory_mib: rest.memory,
    verified: rest.verified,
    notes: { ...rest.notes, ...run.reasons },
  };
}

async function onStage<T>(
  work: (stage: Stage) => Promise<T>,
  options: Parameters<typeof Stage.set>[0] = {},
): Promise<T> {
  const stage = await Stage.set(options);
  try {
    return await work(stage);
  } finally {
    await stage.strike();
  }
}

const WARM = { label: "warm", seconds: 2 };

/** Creations over 64 connections, beside the same rows written by PostgreSQL's own generator. */
export const create = ({ seconds }: Options): Promise<Result> =>
  onStage(async (stage) => {
    const senders = [stage.sender];
    await stage.load({ ...WARM, senders });
    const before = await stage.batches("creation");
    const run = await stage.load({ label: "run", seconds, senders });
    const after = await stage.batches("creation");
    const memory = stage.memory();
    const baseline = await runBaseline(stage.ownerUrl, seconds);
    const stub = await Stub.start();
    const ceiling = await generate(stub.port, { label: "ceiling", seconds: 2, senders });
    await stub.stop();
    const notes = {
      batch: round((after.sum - before.sum) / Math.max(1, after.count - before.count), 1),
      generator_alone_per_s: round(rateOf(ceiling)),
    };
    return resultOf("create", run, baseline, 1.5, {
      memory,
      verified: (await stage.verify()).clean,
      met: run.p99_ms <= 50,
      notes,
    });
  });

/** One connection: the median of a creation beside that of an awaited transaction of seven statements. */
export const latency = ({ seconds }: Options): Promise<Result> =>
  onStage(async (stage) => {
    const one = { senders: [stage.sender], connections: 1 };
    // Warm as a service is that has run for a while: on one connection alone it would take minutes to be compiled.
    await stage.load({ ...WARM, seconds: 4, senders: one.senders });
    const run = await stage.load({ label: "run", seconds, ...one });
    const memory = stage.memory();
    const { clean: verified } = await stage.verify();
    const p50 = await baselineLatency(stage.ownerUrl, seconds);
    const ratio = run.p50_ms / p50;
    const result = resultOf("latency", run, { name: "an awaited transaction", rate: 1000 / p50 }, 1, {
      memory,
      verified,
    });
    return {
      ...result,
      ratio: round(ratio, 2),
      met: ratio <= 1,
      notes: { baseline_p50_ms: round(p50, 2), ratio_of: "p50, lower is better" },
    };
  });

const zipf = (senders: readonly Sender[]): Sender[] =>
  senders.map((sender, rank) => ({ ...sender, weight: 1 / (rank + 1) }));

/** Creations over a thousand merchants beside creations of one. The ratio is that of the Zipf run. */
export const many = ({ seconds }: Options): Promise<Result> =>
  onStage(async (stage) => {
    const senders = await stage.senders(1_000);
    await stage.load({ ...WARM, senders: [stage.sender] });
    const single = await stage.load({ label: "one", seconds, senders: [stage.sender] });
    const even = await stage.load({ label: "even", seconds, senders });
    const run = await stage.load({ label: "zipf", seconds, senders: zipf(senders) });
    const memory = stage.memory();
    const notes = { evenly_per_s: round(rateOf(even)), evenly_ratio: round(rateOf(even) / rateOf(single), 2) };
    const met = rateOf(even) / rateOf(single) >= 0.8;
    const baseline = { name: "one merchant", rate: rateOf(single) };
    return resultOf("many", run, baseline, 0.8, {
      memory,
      verified: (await stage.verify()).clean,
      errors: even.errors + single.errors,
      met,
      notes,
    });
  });

/** Four fifths of all creations on one of a hundred merchants beside an even share for each. */
export const hot = ({ seconds }: Options): Promise<Result> =>
  onStage(async (stage) => {
    const senders = await stage.senders(100);
    await stage.load({ ...WARM, senders });
    const even = await stage.load({ label: "even", seconds, senders });
    const others = senders.length - 1;
    const run = await stage.load({
      label: "hot",
      seconds,
      senders: senders.map((sender, rank) => ({ ...sender, weight: rank === 0 ? 4 * others : 1 })),
    });
    const baseline = { name: "an even share each", rate: rateOf(even) };
    return resultOf("hot", run, baseline, 0.9, {
      memory: stage.memory(),
      verified: (await stage.verify()).clean,
      errors: even.errors,
    });
  });

/** Partial refunds of one merchant beside its creations. */
export const refund = ({ seconds }: Options): Promise<Result> =>
  onStage(async (stage) => {
    const senders = [{ ...stage.sender, targets: await stage.payments(64, true) }];
    const refunds = { kind: "refund", senders } as const;
    await stage.load({ ...WARM, ...refunds });
    const before = await stage.batches("money");
    const run = await stage.load({ label: "run", seconds, ...refunds });
    const after = await stage.batches("money");
    const creations = await stage.load({ label: "create", seconds, senders });
    const memory = stage.memory();
    const { clean: verified, journals_per_s } = await stage.verify();
    const notes = {
      batch: round((after.sum - before.sum) / Math.max(1, after.count - before.count), 1),
      journals_verified_per_s: journals_per_s,
    };
    const baseline = { name: "creations", rate: rateOf(creations) };
    return resultOf("refund", run, baseline, 0.8, { memory, verified, errors: creations.errors, notes });
  });

/** Reads of a payment's status beside an empty route of the same framework with the same check of the signature. */
export const get = ({ seconds }: Options): Promise<Result> =>
  onStage(async (stage) => {
    const senders = [{ ...stage.sender, targets: await stage.payments(20_000, false) }];
    const reads = { kind: "get", senders } as const;
    await stage.load({ ...WARM, ...reads });
    const run = await stage.load({ label: "run", seconds, ...reads });
    const memory = stage.memory();
    const { clean: verified } = await stage.verify();
    const stub = await Stub.start(stage.sender);
    await generate(stub.port, { ...WARM, ...reads });
    const empty = await generate(stub.port, { label: "empty", seconds, ...reads });
    await stub.stop();
    return resultOf("get", run, { name: "an empty signed route", rate: rateOf(empty) }, 0.5, { memory, verified });
  });

/** Created, paid, in the ledger and delivered over TLS, beside creations alone. */
export async function lifecycle({ seconds }: Options): Promise<Result> {
  const certificates = await makeCertificates();
  const receiver = await ReceiverProcess.start(certificates);
  const env = { WEBHOOK_ALLOW_HOSTS: "localhost", NODE_EXTRA_CA_CERTS: certificates.caFile };
  const url = `https://localhost:${receiver.port}/hook`;
  try {
    return await onStage(
      async (stage) => {
        const senders = [stage.sender];
        await stage.load({ ...WARM, senders, lifecycle: true });
        await receiver.quiet();
        receiver.reset();
        const begun = performance.now();
        const run = await stage.load({ label: "run", seconds, senders, lifecycle: true });
        // The last ones count when their events have arrived, two for each.
        const stats = await receiver.until(run.requests * 2, 60);
        const whole = { ...run, seconds: (performance.now() - begun) / 1000 };
        const creations = await stage.load({ label: "create", seconds, senders });
        const lost = Math.max(0, run.requests * 2 - stats.events) + stats.repeated;
        const notes = { deliveries_per_s: round(stats.events / whole.seconds), lost_or_doubled: lost };
        const baseline = { name: "creations", rate: rateOf(creations) };
        const memory = stage.memory();
        return resultOf("lifecycle", whole, baseline, 0.4, {
          memory,
          verified: (await stage.verify()).clean,
          errors: creations.errors + lost,
          notes,
        });
      },
      { env, url, worker: true },
    );
  } finally {
    receiver.stop();
  }
}

/** Creations on full tables beside creations on empty ones; and how many bytes a payment takes. */
export const growth = ({ seconds, rows }: Options): Promise<Result> =>
  onStage(async (stage) => {
    const senders = [stage.sender];
    await stage.load({ ...WARM, senders });
    const empty = await stage.load({ label: "empty", seconds, senders });
    const clone: Clone = await fill(stage.ownerUrl, rows);
    await stage.load({ ...WARM, label: "warm2", senders });
    const run = await stage.load({ label: "full", seconds, senders });
    const baseline = { name: "creations on empty tables", rate: rateOf(empty) };
    // Clones have no journals and no requests of their own: what is verified is what the service made.
    return resultOf("growth", run, baseline, 0.85, {
      memory: stage.memory(),
      verified: true,
      errors: empty.errors,
      notes: { ...clone },
    });
  });
