// The case `sdk`: creations by the client library against a stub, compared with the benchmark's own generator, which signs beforehand and
// writes to raw sockets; and a thousand calls at once.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { TURNS, round } from "./case.ts";
import type { Options, Result } from "./result.ts";
import type { SdkPlan, SdkRun } from "./sdk-load.ts";
import { CONNECTIONS, generate, rateOf, together } from "./stage.ts";
import { Stub } from "./stub.ts";

const AIM = 0.9;
const program = fileURLToPath(new URL("sdk-load.ts", import.meta.url));

async function load(plan: SdkPlan): Promise<SdkRun> {
  const child = spawn(process.execPath, [program], { stdio: ["pipe", "pipe", "inherit"] });
  child.stdin.end(JSON.stringify(plan));
  const [run] = await Promise.all([text(child.stdout), once(child, "exit")]);
  return JSON.parse(run) as SdkRun;
}

export async function sdk({ seconds }: Options): Promise<Result> {
  const stub = await Stub.start();
  try {
    const plan = { port: stub.port, seconds: seconds / TURNS, callers: CONNECTIONS };
    const senders = [{ client_id: "ak_test_bench", secret: "sk_test_bench", weight: 1 }];
    const [runs, timestamps, fetches, alone]: [SdkRun[], SdkRun[], SdkRun[], Parameters<typeof together>[0][number][]] =
      [[], [], [], []];
    for (let turn = 0; turn < TURNS; turn++) {
      runs.push(await load({ ...plan, signature: "rfc9421" }));
      timestamps.push(await load({ ...plan, signature: "timestamp" }));
      fetches.push(await load({ ...plan, signature: "none" }));
      alone.push(await generate([stub.port], { label: `alone${turn}`, seconds: plan.seconds, senders }));
    }
    const crowd = await load({ ...plan, callers: 1_000, signature: "rfc9421" });
    const rate = (of: readonly SdkRun[]): number =>
      of.reduce((sum, { requests, seconds }) => sum + requests / seconds, 0) / of.length;
    const latencies = runs.flatMap((run) => run.latencies).toSorted((a, b) => a - b);
    const beside = rateOf(together(alone));
    const errors = [...runs, ...timestamps, ...fetches, crowd].reduce((sum, run) => sum + run.errors, 0);
    return {
      case: "sdk",
      rate_per_s: round(rate(runs)),
      baseline: "the generator, signed beforehand, on raw sockets",
      baseline_per_s: round(beside),
      ratio: round(rate(runs) / beside, 2),
      aim: AIM,
      met: rate(runs) / beside >= AIM && errors === 0,
      p50_ms: (latencies[Math.floor(latencies.length / 2)] ?? 0) / 100,
      p99_ms: (latencies[Math.floor(latencies.length * 0.99)] ?? 0) / 100,
      errors,
      verified: true,
      notes: {
        cpu_us_a_call: round(runs.reduce((sum, { cpu_us }) => sum + cpu_us, 0) / runs.length),
        fetch_alone_per_s: round(rate(fetches)),
        of_fetch_alone: round(rate(runs) / rate(fetches), 2),
        timestamp_scheme_per_s: round(rate(timestamps)),
        thousand_at_once_per_s: round(rate([crowd])),
        thousand_at_once_heap_mib: crowd.heap_mib,
      },
    };
  } finally {
    await stub.stop();
  }
}
