// The case `providers`: creations through a provider that answers in 50 ms, alone and while another provider takes five seconds per answer.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { inTurns, onStage, resultOf, round, warm } from "./case.ts";
import type { Options, Result } from "./result.ts";
import { type LoadReport, type Stage, rateOf } from "./stage.ts";

const FAST_MS = 50;
const SLOW_MS = 5_000;
/** Smallest ratio of the rate while the other provider is slow to the rate alone. */
const AIM = 0.9;
/** Largest ratio of p99 while the other provider is slow to p99 alone. */
const P99_MAX = 1 / AIM;
const RATE_MIN_PER_S = 800;
/** Payments that wait for the slow provider all the time. */
const WAITING = 48;
const SERVER_KEY = "SB-Mid-server-bench";
const program = fileURLToPath(new URL("../e2e/providers/midtrans/fake.ts", import.meta.url));

/** Starts a fake provider as its own process, which answers after `ms` milliseconds. */
async function fakeAfter(ms: number): Promise<{ url: string; child: ChildProcess }> {
  const env = { ...process.env, MIDTRANS_SERVER_KEY: SERVER_KEY, FAKE_DELAY_MS: String(ms) };
  const child = spawn(process.execPath, [program], { env, stdio: ["ignore", "pipe", "inherit"] });
  const lines = createInterface({ input: child.stdout });
  const [line] = (await once(lines, "line")) as [string];
  return { url: (JSON.parse(line) as { url: string }).url, child };
}

function entry(code: string, url: string, method: "qris" | "va"): object {
  return {
    provider: "midtrans",
    code,
    name: code,
    environment: "sandbox",
    url,
    server_key: { env: "BENCH_MIDTRANS_KEY" },
    // Enough for all connections of the generator, so that requests wait only for the provider.
    connections: 256,
    methods: [{ method, minimum_minor: 100, maximum_minor: 1_000_000_000, cost: { basis_points: 70, flat_minor: 0 } }],
  };
}

/** Keeps WAITING payments waiting for the slow provider until `ending` is aborted. Gives the number of created payments. */
async function waitThere(stage: Stage, ending: AbortSignal): Promise<number> {
  let created = 0;
  let number = 0;
  const one = async (): Promise<void> => {
    while (!ending.aborted) {
      const reference_id = `slow-${number++}`;
      const body = { amount_minor: 900_000, currency: "IDR", payment_method: "va", reference_id };
      const { status } = await stage.client.post("/v1/payments", body);
      if (status === 201) created++;
    }
  };
  await Promise.all(Array.from({ length: WAITING }, one));
  return created;
}

export const providers = async ({ seconds, processes }: Options): Promise<Result> => {
  const fakes = await Promise.all([fakeAfter(FAST_MS), fakeAfter(SLOW_MS)]);
  const [fast, slow] = fakes;
  const file = join(mkdtempSync(join(tmpdir(), "gerbang-bench-")), "acquirers.json");
  writeFileSync(file, JSON.stringify([entry("fast", fast.url, "qris"), entry("slow", slow.url, "va")]), {
    mode: 0o600,
  });
  try {
    return await onStage(
      { processes, env: { ACQUIRERS_FILE: file, BENCH_MIDTRANS_KEY: SERVER_KEY } },
      async (stage) => {
        await stage.route([
          { gateway_code: "fast", payment_method: "qris", priority: 1, weight: 1 },
          { gateway_code: "slow", payment_method: "va", priority: 1, weight: 1 },
        ]);
        const load = { senders: [stage.sender], connections: 256 };
        await stage.load({ ...warm(seconds), ...load });
        const [alone] = (await inTurns(stage, seconds, [{ label: "alone", ...load }])) as [LoadReport];
        const ending = new AbortController();
        const waiting = waitThere(stage, ending.signal);
        const [run] = (await inTurns(stage, seconds, [{ label: "run", ...load }])) as [LoadReport];
        ending.abort();
        const created = await waiting;
        const { clean: verified } = await stage.verify();
        const p99Ratio = run.p99_ms / alone.p99_ms;
        return resultOf("providers", run, { name: "while no provider is slow", rate: rateOf(alone) }, AIM, {
          memory: stage.memory(),
          verified,
          errors: alone.errors,
          met: p99Ratio <= P99_MAX && rateOf(alone) >= RATE_MIN_PER_S && created > 0,
          notes: {
            p99_ratio: round(p99Ratio, 2),
            alone_per_s: round(rateOf(alone)),
            alone_aim_per_s: RATE_MIN_PER_S,
            created_by_the_slow_one: created,
            ...Object.fromEntries(
              Object.entries({ ...alone.reasons, ...run.reasons }).map(([why, times]) => [`failed: ${why}`, times]),
            ),
          },
        });
      },
    );
  } finally {
    for (const { child } of fakes) child.kill();
  }
};
