// The case `requestlog`: creations of a hundred merchants with the request log, compared with the same without the log. The merchants send far
// more requests than the log takes, so its writer is always at its limit, and further requests are dropped.
import pg from "pg";
import { onStage, resultOf, round, warm } from "./case.ts";
import type { Options, Result } from "./result.ts";
import { type LoadReport, type Stage, rateOf, together } from "./stage.ts";
import { cpuOfEach } from "./cpu.ts";

/** More and shorter turns than in other cases, because the difference is small. */
const TURNS = 6;
const MERCHANTS = 100;

/** Both services run all the time, each on its own database. */
export const requestlog = ({ seconds, processes }: Options): Promise<Result> =>
  onStage({ processes, env: { REQUEST_LOG: "false" } }, (off) =>
    onStage({ processes, env: { REQUEST_LOG: "true" } }, async (on) => {
      const senders = new Map(
        [off, on].map((stage): [Stage, ReturnType<Stage["senders"]>] => [stage, stage.senders(MERCHANTS)]),
      );
      const run = async (stage: Stage, part: { label: string; seconds: number }): Promise<LoadReport> =>
        stage.load({ ...part, senders: (await senders.get(stage)) ?? [] });
      for (const stage of [off, on]) await run(stage, warm(seconds));
      const before = await logged(on);
      const runs = new Map<Stage, LoadReport[]>([
        [off, []],
        [on, []],
      ]);
      for (let turn = 0; turn < TURNS; turn++) {
        // The services take turns at being first.
        for (const stage of turn % 2 === 0 ? [off, on] : [on, off])
          runs.get(stage)?.push(await run(stage, { label: `turn${turn}`, seconds: (2 * seconds) / TURNS }));
      }
      const after = await logged(on);
      const [without, logging] = [together(runs.get(off) ?? []), together(runs.get(on) ?? [])];
      const cpu = [without, logging].map(({ cpu_us, requests }) => cpuOfEach(cpu_us, requests));
      const [cpuWithout, cpuLogging] = cpu.map((each) => (each ? each.service + each.postgres : Number.NaN)) as [
        number,
        number,
      ];
      const memory = on.memory();
      const verified = (await on.verify()).clean && (await off.verify()).clean;
      return resultOf("requestlog", logging, { name: "without a log", rate: rateOf(without) }, 0.97, {
        memory,
        verified,
        errors: without.errors,
        notes: {
          logged_per_s: round((after - before) / logging.seconds),
          cpu_us_without: round(cpuWithout),
          cpu_ratio: round(cpuWithout / cpuLogging, 3),
          p99_ms_without: without.p99_ms,
        },
      });
    }),
  );

/** Counts the requests in the log of a service. */
async function logged(stage: Stage): Promise<number> {
  const client = new pg.Client({ connectionString: stage.ownerUrl });
  await client.connect();
  try {
    const { rows } = await client.query<{ logged: number }>("select count(*)::float8 as logged from request_log");
    return rows[0]?.logged ?? 0;
  } finally {
    await client.end();
  }
}
