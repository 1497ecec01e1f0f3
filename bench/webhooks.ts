// The case `webhooks`: drains a backlog over verified TLS into a receiver in another process; then delivers events while payments are
// created at half that rate; then the same while a fifth of the payments name hosts that never answer.
import pg from "pg";
import { makeCertificates } from "../e2e/kit/receiver.ts";
import { cpuBetween, cpuOfEach } from "./cpu.ts";
import { ReceiverProcess, type Stats } from "./receiver-process.ts";
import type { Options, Result } from "./result.ts";
import { type LoadReport, Stage } from "./stage.ts";

const AIM_PER_S = 3_000;
/** Maximum of payments per second while the lag is measured. */
const PACE_MAX_PER_S = 750;
/** Turns of measuring without and with such hosts, so that both are measured in the same minute. */
const TURNS = 3;
/** Longer than a call to such a host lasts. */
const HOLES_OVER_MS = 11_000;

/** The figures of a run of deliveries. */
interface Paced {
  stats: Stats;
  report: LoadReport;
  missing: number;
}

/** Gives up pending deliveries to hosts that never answer, so that the next turn begins without them. */
async function forgetHoles(stage: Stage): Promise<void> {
  const client = new pg.Client({ connectionString: stage.ownerUrl });
  await client.connect();
  await client.query(
    "update deliveries set state = 'undelivered', lease_token = null, leased_until = null where state = 'pending'",
  );
  await client.end();
  await new Promise((resolve) => setTimeout(resolve, HOLES_OVER_MS));
}

/**
 * Drains a backlog over TLS; then, in turns, delivers events while payments are created at half that rate, without and with a fifth of the
 * payments naming hosts that never answer. Gives the middle of the medians and the worst of the p99s. The ratio compares the drain with the aim.
 */
export async function webhooks({ seconds, processes }: Options): Promise<Result> {
  const certificates = await makeCertificates();
  const receiver = await ReceiverProcess.start(certificates);
  const env = { WEBHOOK_ALLOW_HOSTS: "localhost", NODE_EXTRA_CA_CERTS: certificates.caFile };
  const stage = await Stage.set({ processes, env, url: `https://localhost:${receiver.port}/hook` });
  try {
    const senders = [stage.sender];
    const filled = await stage.load({ label: "backlog", seconds: seconds * 3, senders });
    await stage.withWorker();
    const [cpuBefore, { events: early }] = [stage.cpu(), await receiver.stats()];
    const drained = await receiver.until(filled.requests, 600);
    const cpu = cpuOfEach(cpuBetween(cpuBefore, stage.cpu()), drained.events - early);
    const rates = drained.perSecond.slice(1, -1); // the first and the last second are incomplete
    const half = Math.floor(rates.length / 2);
    const mean = (part: number[]): number => part.reduce((sum, rate) => sum + rate, 0) / Math.max(1, part.length);
    const pace = Math.round(Math.min(PACE_MAX_PER_S, mean(rates) / 2));
    const turnSeconds = Math.ceil(seconds / TURNS);
    const paced = async (label: string, callbacks: string[]): Promise<Paced> => {
      receiver.reset();
      const report = await stage.load({ label, seconds: turnSeconds, senders, pace, callbacks });
      const share = callbacks.filter((callback) => callback === "").length / callbacks.length;
      const expected = Math.floor(report.requests * share);
      const stats = await receiver.until(expected, 15);
      return { stats, report, missing: Math.max(0, expected - stats.events - 1) + stats.repeated };
    };
    await paced("warm", [""]);
    const holes = receiver.holes.map((hole) => `https://localhost:${hole}/hook`);
    const runs: { calm: Paced; stormy: Paced }[] = [];
    for (let turn = 0; turn < TURNS; turn++) {
      const calm = await paced("calm", [""]);
      const stormy = await paced(
        "stormy",
        holes.flatMap((hole) => [hole, "", "", "", ""]),
      );
      runs.push({ calm, stormy });
      if (turn < TURNS - 1) await forgetHoles(stage);
    }
    const middle = (of: (run: (typeof runs)[number]) => number): number =>
      runs.map(of).toSorted((one, other) => one - other)[Math.floor(TURNS / 2)] ?? 0;
    const worst = (of: (run: (typeof runs)[number]) => number): number => Math.max(...runs.map(of));
    const calmMs = { p50: middle(({ calm }) => calm.stats.p50_ms), p99: worst(({ calm }) => calm.stats.p99_ms) };
    const stormyMs = {
      p50: middle(({ stormy }) => stormy.stats.p50_ms),
      p99: worst(({ stormy }) => stormy.stats.p99_ms),
    };
    const pacedRuns = runs.flatMap(({ calm, stormy }) => [calm, stormy]);
    const sum = (of: (run: Paced) => number): number => pacedRuns.reduce((total, run) => total + of(run), 0);
    const lost = Math.max(0, filled.requests - drained.events) + drained.repeated + sum((run) => run.missing);
    const steadiness = mean(rates.slice(half)) / mean(rates.slice(0, half));
    const memory = stage.memory();
    const { clean } = await stage.verify();
    const holesRatio = Math.round((stormyMs.p50 / calmMs.p50) * 100) / 100;
    return {
      case: "webhooks",
      rate_per_s: Math.round(mean(rates)),
      baseline: "the aim",
      baseline_per_s: AIM_PER_S,
      ratio: Math.round((mean(rates) / AIM_PER_S) * 100) / 100,
      aim: 1,
      met: mean(rates) >= AIM_PER_S && calmMs.p99 < 1_000 && steadiness >= 0.8 && holesRatio <= 1.5,
      p50_ms: calmMs.p50,
      p99_ms: calmMs.p99,
      errors: filled.errors + sum(({ report }) => report.errors) + lost,
      ...(memory !== undefined && { memory_mib: memory }),
      ...(cpu && { cpu_us: cpu }),
      verified: clean,
      notes: {
        backlog: filled.requests,
        second_half_to_first: Math.round(steadiness * 100) / 100,
        paced_per_s: pace,
        with_black_holes_p50_ms: stormyMs.p50,
        with_black_holes_p99_ms: stormyMs.p99,
        black_holes_ratio: holesRatio,
        black_holes_ratio_of_each_turn: runs
          .map(({ calm, stormy }) => Math.round((stormy.stats.p50_ms / calm.stats.p50_ms) * 100) / 100)
          .join(", "),
        sockets: drained.sockets,
        lost_or_doubled: lost,
      },
    };
  } finally {
    receiver.stop();
    await stage.strike();
  }
}
