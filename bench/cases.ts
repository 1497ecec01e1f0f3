// The cases: each sets up its stage, measures its load and a baseline, and gives one result. Load and baseline take turns, so that both
// are measured in the same minute: a machine's speed varies over time.
import { Baseline } from "./baseline.ts";
import { TURNS, inTurns, mean, onStage, resultOf, round, sound, warm, withReceiver } from "./case.ts";
import { fill, left } from "./growth.ts";
import type { Options, Point, Result } from "./result.ts";
import { type LoadReport, type Sender, Stage, generate, rateOf, together } from "./stage.ts";
import { Stub } from "./stub.ts";

const CREATE_P99_MAX_MS = 50;

/** Creations over 64 connections, compared with the same rows written by PostgreSQL's own generator; then at lower paces. */
export const create = ({ seconds, processes }: Options): Promise<Result> =>
  onStage({ processes }, async (stage) => {
    const senders = [stage.sender];
    await stage.load({ ...warm(seconds), senders });
    const before = await stage.batches("creation");
    const baseline = await Baseline.open(stage.ownerUrl);
    const runs: LoadReport[] = [];
    const rates: number[] = [];
    for (let turn = 0; turn < TURNS; turn++) {
      runs.push(await stage.load({ label: `run${turn}`, seconds: seconds / TURNS, senders }));
      rates.push(await baseline.run(Math.ceil(seconds / TURNS)));
    }
    const run = together(runs);
    const after = await stage.batches("creation");
    const memory = stage.memory();
    const curve: Point[] = [];
    for (const share of [0.2, 0.4, 0.6, 0.8]) {
      const pace = Math.round(share * rateOf(run));
      const open = await stage.load({ label: `open${share}`, seconds: seconds / TURNS, senders, pace });
      curve.push({ rate_per_s: pace, p50_ms: open.p50_ms, p99_ms: open.p99_ms });
    }
    curve.push({ rate_per_s: round(rateOf(run)), p50_ms: run.p50_ms, p99_ms: run.p99_ms });
    await baseline.close();
    const stub = await Stub.start();
    const ceiling = await generate([stub.port], { label: "ceiling", seconds: Math.min(2, seconds), senders });
    await stub.stop();
    const { clean: verified } = await stage.verify();
    const notes = {
      batch: round((after.sum - before.sum) / Math.max(1, after.count - before.count), 1),
      generator_alone_per_s: round(rateOf(ceiling)),
    };
    const beside = { name: baseline.name, rate: mean(rates) };
    return resultOf("create", run, beside, 1.4, {
      memory,
      verified,
      met: run.p99_ms <= CREATE_P99_MAX_MS,
      notes,
      curve,
    });
  });

const LATENCY_AIM = 1.6;
/** CPU time of the service and PostgreSQL together. */
const LATENCY_CPU_MAX_US = 900;

/** One connection: the median latency of a creation compared with that of an awaited transaction of seven statements; and its CPU time. */
export const latency = ({ seconds, processes }: Options): Promise<Result> =>
  onStage({ processes }, async (stage) => {
    const senders = [stage.sender];
    // Warms up over many connections: over one alone it would take minutes until the code is compiled.
    await stage.load({ ...warm(seconds), senders });
    const baseline = await Baseline.open(stage.ownerUrl);
    const runs: LoadReport[] = [];
    const awaited: number[] = [];
    for (let turn = 0; turn < TURNS; turn++) {
      runs.push(await stage.load({ label: `run${turn}`, seconds: seconds / TURNS, senders, connections: 1 }));
      awaited.push(...(await baseline.latencies(seconds / TURNS)));
    }
    await baseline.close();
    const run = together(runs);
    const p50 = awaited.toSorted((a, b) => a - b)[awaited.length >> 1] ?? 0;
    const ratio = run.p50_ms / p50;
    const memory = stage.memory();
    const { clean: verified } = await stage.verify();
    const beside = { name: "an awaited transaction", rate: 1000 / p50 };
    return {
      ...resultOf("latency", run, beside, LATENCY_AIM, { memory, verified }),
      ratio: round(ratio, 2),
      cpu_aim_us: LATENCY_CPU_MAX_US,
      met: ratio <= LATENCY_AIM && sound(run, { verified }),
      notes: { baseline_p50_ms: round(p50, 2), ratio_of: "p50, lower is better" },
    };
  });

const zipf = (senders: readonly Sender[]): Sender[] =>
  senders.map((sender, rank) => ({ ...sender, weight: 1 / (rank + 1) }));

/** Creations over a thousand merchants, evenly and by Zipf's law, compared with creations of one merchant. The ratio is that of the lower rate. */
export const many = ({ seconds, processes }: Options): Promise<Result> =>
  onStage({ processes }, async (stage) => {
    const senders = await stage.senders(1_000);
    await stage.load({ ...warm(seconds), senders });
    const [single, even, uneven] = (await inTurns(stage, seconds, [
      { label: "one", senders: [stage.sender] },
      { label: "even", senders },
      { label: "zipf", senders: zipf(senders) },
    ])) as [LoadReport, LoadReport, LoadReport];
    const run = rateOf(even) < rateOf(uneven) ? even : uneven;
    const beside = { name: "one merchant", rate: rateOf(single) };
    return resultOf("many", run, beside, 0.75, {
      memory: stage.memory(),
      verified: (await stage.verify()).clean,
      errors: single.errors + (run === even ? uneven : even).errors,
      notes: { evenly_per_s: round(rateOf(even)), zipf_per_s: round(rateOf(uneven)) },
    });
  });

/** Creations of a hundred merchants, one of which has four fifths, compared with an even share for each. */
export const hot = ({ seconds, processes }: Options): Promise<Result> =>
  onStage({ processes }, async (stage) => {
    const senders = await stage.senders(100);
    await stage.load({ ...warm(seconds), senders });
    const others = senders.length - 1;
    const uneven = senders.map((sender, rank) => ({ ...sender, weight: rank === 0 ? 4 * others : 1 }));
    const [even, run] = (await inTurns(stage, seconds, [
      { label: "even", senders },
      { label: "hot", senders: uneven },
    ])) as [LoadReport, LoadReport];
    return resultOf("hot", run, { name: "an even share each", rate: rateOf(even) }, 0.9, {
      memory: stage.memory(),
      verified: (await stage.verify()).clean,
      errors: even.errors,
    });
  });

/** Partial refunds of one merchant compared with its creations. */
export const refund = ({ seconds, processes }: Options): Promise<Result> =>
  onStage({ processes }, async (stage) => {
    const senders = [{ ...stage.sender, targets: await stage.payments(1_000, true) }];
    await stage.load({ ...warm(seconds), senders });
    await stage.load({ ...warm(seconds), label: "warm2", senders, kind: "refund" });
    const before = await stage.batches("money");
    const [creations, run] = (await inTurns(stage, seconds, [
      { label: "create", senders },
      { label: "refund", senders, kind: "refund" },
    ])) as [LoadReport, LoadReport];
    const after = await stage.batches("money");
    const memory = stage.memory();
    const { clean: verified, journals_per_s } = await stage.verify();
    const notes = {
      batch: round((after.sum - before.sum) / Math.max(1, after.count - before.count), 1),
      journals_verified_per_s: journals_per_s,
    };
    const beside = { name: "creations", rate: rateOf(creations) };
    return resultOf("refund", run, beside, 0.8, { memory, verified, errors: creations.errors, notes });
  });

/** Reads of a payment's status compared with an empty route of the same framework with the same check of the signature. */
export const get = ({ seconds, processes }: Options): Promise<Result> =>
  onStage({ processes }, async (stage) => {
    const senders = [{ ...stage.sender, targets: await stage.payments(20_000, false) }];
    const reads = { kind: "get", senders } as const;
    const stub = await Stub.start(stage.sender);
    await stage.load({ ...warm(seconds), ...reads });
    await generate([stub.port], { ...warm(seconds), ...reads });
    const runs: LoadReport[] = [];
    const empty: LoadReport[] = [];
    for (let turn = 0; turn < TURNS; turn++) {
      runs.push(await stage.load({ label: `run${turn}`, seconds: seconds / TURNS, ...reads }));
      empty.push(await generate([stub.port], { label: `empty${turn}`, seconds: seconds / TURNS, ...reads }));
    }
    await stub.stop();
    const beside = together(empty);
    const memory = stage.memory();
    const { clean: verified } = await stage.verify();
    return resultOf("get", together(runs), { name: "an empty signed route", rate: rateOf(beside) }, 0.3, {
      memory,
      verified,
      errors: beside.errors,
    });
  });

/** Payments that are created, paid, posted and delivered over TLS, compared with creations alone. */
export const lifecycle = ({ seconds, processes }: Options): Promise<Result> =>
  withReceiver({ processes }, async (stage, receiver) => {
    const senders = [stage.sender];
    await stage.load({ ...warm(seconds), senders, lifecycle: true });
    await receiver.quiet();
    receiver.reset();
    const begun = performance.now();
    // The run ends when the events of all payments have arrived, two for each.
    const run = await stage.load({ label: "run", seconds, senders, lifecycle: true }, async ({ requests }) => {
      await receiver.until(requests * 2, 60);
    });
    const whole = { ...run, seconds: (performance.now() - begun) / 1000 };
    const stats = await receiver.stats();
    const lost = Math.max(0, run.requests * 2 - stats.events) + stats.repeated;
    const memory = stage.memory();
    // Creations alone: their events are not delivered.
    await stage.withoutWorker();
    await stage.load({ ...warm(seconds), label: "warm2", senders });
    const creations = await stage.load({ label: "create", seconds, senders });
    const notes = { deliveries_per_s: round(stats.events / whole.seconds), lost_or_doubled: lost };
    return resultOf("lifecycle", whole, { name: "creations", rate: rateOf(creations) }, 0.3, {
      memory,
      verified: (await stage.verify()).clean,
      errors: creations.errors + lost,
      notes,
    });
  });

/** Largest ratio of p99 with retention to p99 without. */
const RETENTION_AIM = 1.25;
const MEMORY_MAX_MIB = 300;
const PARTS = 10;

/**
 * Runs a minute for each second asked for: creations at full rate, with deliveries and retention at the same time. Compares the peak memory
 * of the process with its limit. Figures come in ten parts, so that growth and the cost of retention show.
 */
export const endurance = ({ seconds, processes }: Options): Promise<Result> =>
  withReceiver({ processes }, async (stage) => {
    if (stage.memory() === undefined) throw new Error("endurance weighs a process: it needs /proc");
    const senders = [stage.sender];
    const runs: LoadReport[] = [];
    const weights: number[] = [];
    for (let part = 0; part < PARTS; part++) {
      runs.push(await stage.load({ label: `part${part}`, seconds: (seconds * 60) / PARTS, senders }));
      weights.push(stage.memory("now") ?? Number.NaN);
      process.stderr.write(`\r${part + 1} of ${PARTS} parts, ${weights.at(-1)} MiB`);
    }
    process.stderr.write("\n");
    const run = together(runs);
    const heaviest = stage.memory() ?? Number.NaN;
    const halves = [weights.slice(1, PARTS / 2), weights.slice(PARTS / 2)].map(mean);
    const { clean: verified } = await stage.verify();
    const ratio = heaviest / MEMORY_MAX_MIB;
    return {
      ...resultOf("endurance", run, { name: `${MEMORY_MAX_MIB} MiB`, rate: MEMORY_MAX_MIB }, 1, {
        memory: heaviest,
        verified,
      }),
      ratio: round(ratio, 2),
      met: ratio <= 1 && (halves[1] as number) <= (halves[0] as number) * 1.1 && sound(run, { verified }),
      notes: {
        ratio_of: "memory, lower is better",
        minutes: seconds,
        mib_part_by_part: weights.join(" "),
        p99_ms_part_by_part: runs.map(({ p99_ms }) => p99_ms).join(" "),
        ...run.reasons,
      },
    };
  });

/** Age of the old rows: more than any row is kept. */
const OLD_DAYS = 40;
const FORGOTTEN_MAX = 50_000;

/**
 * Creations and their deliveries while retention deletes old idempotency records, events, deliveries and attempts; compared with the
 * same while there is nothing to delete. The ratio is that of p99: lower is better.
 */
export const retention = ({ seconds, rows, processes }: Options): Promise<Result> =>
  withReceiver({ processes }, async (stage, receiver) => {
    const senders = [stage.sender];
    const part = (label: string): Promise<LoadReport> => stage.load({ label, seconds: seconds / 2, senders });
    await stage.load({ ...warm(seconds), senders });
    await receiver.quiet();
    const old = Math.min(rows, FORGOTTEN_MAX);
    const [calm, busy]: [LoadReport[], LoadReport[]] = [[await part("before")], []];
    await fill(stage.ownerUrl, old, {
      days: OLD_DAYS,
      into: ["events", "deliveries", "delivery_attempts", "idempotency_keys"],
    });
    const leftOver: number[] = [2 * old];
    for (let number = 0; number < 60 && leftOver.at(-1) !== 0; number++) {
      const run = await part(`forgetting${number}`);
      leftOver.push(await left(stage.ownerUrl, OLD_DAYS));
      // Parts in which nothing was deleted do not count: the next round of retention had not begun.
      if (leftOver.at(-1) !== leftOver.at(-2)) busy.push(run);
    }
    calm.push(await part("after"));
    const [quiet, run] = [together(calm), together(busy)];
    const { clean: verified } = await stage.verify();
    const ratio = round(run.p99_ms / quiet.p99_ms, 2);
    return {
      ...resultOf("retention", run, { name: "nothing to forget", rate: rateOf(quiet) }, RETENTION_AIM, {
        memory: stage.memory(),
        verified,
        errors: quiet.errors,
      }),
      ratio,
      met: ratio <= RETENTION_AIM && leftOver.at(-1) === 0 && sound(run, { verified }),
      notes: {
        ratio_of: "p99, lower is better",
        forgotten: 2 * old - (leftOver.at(-1) ?? 0),
        forgotten_per_s: round((2 * old - (leftOver.at(-1) ?? 0)) / run.seconds),
        p99_ms_without: quiet.p99_ms,
      },
    };
  });

/** Creations on full tables compared with creations on empty ones; and the bytes that a payment takes. */
export const growth = ({ seconds, rows, processes }: Options): Promise<Result> =>
  onStage({ processes }, async (stage) => {
    const senders = [stage.sender];
    const other = await Stage.set({ processes });
    try {
      await stage.load({ ...warm(seconds), label: "first", seconds: 1, senders });
      const notes = { ...(await fill(stage.ownerUrl, rows)) };
      const runs: LoadReport[] = [];
      const empty: LoadReport[] = [];
      for (const one of [other, stage]) await one.load({ ...warm(seconds), senders: [one.sender] });
      for (let turn = 0; turn < TURNS; turn++) {
        empty.push(await other.load({ label: `empty${turn}`, seconds: seconds / TURNS, senders: [other.sender] }));
        runs.push(await stage.load({ label: `full${turn}`, seconds: seconds / TURNS, senders }));
      }
      const beside = together(empty);
      return resultOf("growth", together(runs), { name: "creations on empty tables", rate: rateOf(beside) }, 0.9, {
        memory: stage.memory(),
        verified: (await stage.verify()).clean,
        errors: beside.errors,
        notes,
      });
    } finally {
      await other.strike();
    }
  });
