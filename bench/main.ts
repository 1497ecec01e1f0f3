// The benchmark: `npm run bench -- create [--json] [--seconds n]`. Ratios within one run, since machines differ.
import { parseArgs } from "node:util";
import { type BenchResult, createCase } from "./create.ts";
import { refundCase } from "./refund.ts";
import { type WebhooksResult, webhooksCase } from "./webhooks.ts";

const cases: Record<string, (options: { seconds: number }) => Promise<BenchResult | WebhooksResult>> = {
  create: createCase,
  refund: refundCase,
  webhooks: webhooksCase,
};

const baselines: Record<string, string> = {
  create: "the same rows, awaited statements",
  refund: "creations, in the same run",
};

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { json: { type: "boolean", default: false }, seconds: { type: "string", default: "10" } },
});
const names = positionals.length > 0 ? positionals : Object.keys(cases);
for (const name of names) {
  const run = cases[name];
  if (!run) {
    process.stderr.write(`There is no case ${name}. Cases: ${Object.keys(cases).join(", ")}\n`);
    process.exit(2);
  }
  const result = await run({ seconds: Number(values.seconds) });
  if (values.json) process.stdout.write(`${JSON.stringify(result)}\n`);
  else if (result.case === "webhooks") reportWebhooks(result as WebhooksResult);
  else report(result as BenchResult);
  if (result.errors > 0) process.exitCode = 1;
}

function reportWebhooks(result: WebhooksResult): void {
  const lines: [string, string][] = [
    ["backlog drained over TLS", `${result.backlog} at ${result.drained_per_s} a second`],
    ["second half beside the first", result.steadiness.toFixed(2)],
    [
      "event to receiver, p50 / p99",
      `${result.lag_p50_ms} / ${result.lag_p99_ms} ms at ${result.paced_per_s} a second`,
    ],
    ["with a fifth to hosts that never answer", `${result.holes_p50_ms} / ${result.holes_p99_ms} ms`],
    ["ratio of the medians", result.holes_ratio.toFixed(2)],
    ["sockets to the receiver", String(result.sockets)],
    ["memory of the service", `${result.memory_mib} MiB`],
    ["lost, doubled or failed", String(result.errors)],
    ["verify afterwards", result.verified ? "clean" : "NOT CLEAN"],
  ];
  console.log("\nwebhooks\n");
  for (const [name, value] of lines) console.log(`  ${name.padEnd(42)} ${value}`);
  console.log("");
}

function report(result: BenchResult): void {
  const lines: [string, string][] = [
    ["Gerbang, signed requests", `${result.rate_per_s} a second`],
    [baselines[result.case] ?? "baseline", `${result.baseline_per_s} a second`],
    ["ratio", result.ratio.toFixed(2)],
    ["latency p50 / p99", `${result.p50_ms} / ${result.p99_ms} ms`],
    ["commands in a batch, on average", String(result.batch_average)],
    ["memory of the service", `${result.memory_mib} MiB`],
    ["failed requests", String(result.errors)],
    ["verify afterwards", result.verified ? "clean" : "NOT CLEAN"],
  ];
  console.log(`\n${result.case}: ${result.requests} requests in ${result.seconds} s, 64 connections\n`);
  for (const [name, value] of lines) console.log(`  ${name.padEnd(36)} ${value}`);
  console.log("");
}
