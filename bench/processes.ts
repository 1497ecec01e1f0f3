// The case `processes`: creations through several API processes on one database, compared with creations through one. The first process of
// each delivers webhooks, so the events of all processes must reach the receiver too.
import { TURNS, onStage, receiving, resultOf, warm } from "./case.ts";
import type { Options, Result } from "./result.ts";
import { type LoadReport, type Stage, rateOf, together } from "./stage.ts";

/** Both services run all the time, each on its own database, so that no process must warm up again for its turn. */
export const processes = ({ seconds, processes: asked }: Options): Promise<Result> =>
  receiving((receiver, toIt) =>
    onStage({ ...toIt, processes: 1 }, (one) =>
      onStage({ ...toIt, processes: Math.max(2, asked) }, async (several) => {
        let sent = 0;
        /** Loads one service; its events have arrived before the load of the other begins. */
        const alone = async (stage: Stage, part: { label: string; seconds: number }): Promise<LoadReport> => {
          const run = await stage.load({ ...part, senders: [stage.sender] });
          sent += run.requests;
          await receiver.until(sent, 60);
          return run;
        };
        for (const stage of [one, several]) await alone(stage, warm(seconds));
        const [single, spread]: [LoadReport[], LoadReport[]] = [[], []];
        for (let turn = 0; turn < TURNS; turn++) {
          single.push(await alone(one, { label: `one${turn}`, seconds: seconds / TURNS }));
          spread.push(await alone(several, { label: `several${turn}`, seconds: seconds / TURNS }));
        }
        const [beside, run] = [together(single), together(spread)];
        const { events, repeated } = await receiver.stats();
        const lost = Math.max(0, sent - events) + repeated;
        const memory = several.memory();
        const verified = [await one.verify(), await several.verify()].every(({ clean }) => clean);
        return resultOf("processes", run, { name: "one process", rate: rateOf(beside) }, 0.9, {
          memory,
          verified,
          errors: beside.errors + lost,
          notes: { processes: Math.max(2, asked), one_process_p99_ms: beside.p99_ms, lost_or_doubled: lost },
        });
      }),
    ),
  );
