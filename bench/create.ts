// The case `create`: signed POST /v1/payments over 64 connections, beside the same rows written by awaited statements.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { operate } from "../e2e/kit/client.ts";
import { Service, gerbang } from "../e2e/kit/service.ts";
import { runBaseline } from "./baseline.ts";

export interface BenchResult {
  case: string;
  rate_per_s: number;
  baseline_per_s: number;
  ratio: number;
  p50_ms: number;
  p99_ms: number;
  errors: number;
  requests: number;
  seconds: number;
  batch_average: number;
  memory_mib: number;
  verified: boolean;
}

export interface LoadReport {
  requests: number;
  errors: number;
  seconds: number;
  p50_ms: number;
  p99_ms: number;
}

const CONNECTIONS = 64;

export async function createCase({ seconds }: { seconds: number }): Promise<BenchResult> {
  // The API alone: delivery rows are written like everything else, and nobody sends them meanwhile.
  const first = await Service.start();
  const { demo, dataDirectory } = first;
  await first.stop();
  const service = await Service.start({ dataDirectory, args: ["--role", "api"], port: first.port });
  try {
    await operate(demo, "PATCH", `/merchants/${demo.merchant_id}`, { rate_limit_per_minute: 100_000_000 });
    await operate(demo, "PUT", `/merchants/${demo.merchant_id}/webhook`, {
      environment: "sandbox",
      url: "https://receiver.gerbang-bench.com/hook",
    });
    await load(service, 2, "warm");
    const before = await batches(service);
    const report = await load(service, seconds, "run");
    const after = await batches(service);
    const memory = residentMib(service.process?.pid);
    const baseline = await runBaseline(ownerUrl(dataDirectory), seconds);
    const verify = await gerbang(["verify"], { GERBANG_DATA: dataDirectory });
    const rate = report.requests / report.seconds;
    return {
      case: "create",
      rate_per_s: Math.round(rate),
      baseline_per_s: Math.round(baseline),
      ratio: Math.round((rate / baseline) * 100) / 100,
      p50_ms: report.p50_ms,
      p99_ms: report.p99_ms,
      errors: report.errors,
      requests: report.requests,
      seconds: Math.round(report.seconds * 10) / 10,
      batch_average: Math.round(((after.sum - before.sum) / Math.max(1, after.count - before.count)) * 10) / 10,
      memory_mib: memory,
      verified: verify.code === 0,
    };
  } finally {
    await service.discard();
  }
}

/** Runs the load generator in a process of its own. */
export async function load(
  service: Service,
  seconds: number,
  label: string,
  references?: string[],
  shape: { pace?: number; callbacks?: string[] } = {},
): Promise<LoadReport> {
  const child = spawn(process.execPath, [new URL("load.ts", import.meta.url).pathname], {
    env: {
      ...process.env,
      LOAD: JSON.stringify({
        demo: service.demo,
        port: service.port,
        seconds,
        connections: CONNECTIONS,
        label,
        references,
        ...shape,
      }),
    },
    stdio: ["ignore", "pipe", "inherit"],
  });
  let text = "";
  child.stdout.setEncoding("utf8").on("data", (part: string) => void (text += part));
  const [code] = (await once(child, "exit")) as [number | null];
  if (code !== 0) throw new Error("the load generator failed");
  return JSON.parse(text) as LoadReport;
}

/** Sum and count of the batch sizes of the lanes whose name begins so. */
export async function batches(service: Service, lane = "creation"): Promise<{ sum: number; count: number }> {
  const url = service.metricsUrl;
  if (url === undefined) throw new Error("the service has no metrics");
  const text = await (await fetch(url)).text();
  const read = (name: string): number =>
    [...text.matchAll(new RegExp(`^gerbang_lane_batch_size_${name}\\{lane="${lane}[^"]*"\\} (\\S+)$`, "gm"))].reduce(
      (sum, [, value]) => sum + Number(value),
      0,
    );
  return { sum: read("sum"), count: read("count") };
}

export function residentMib(pid: number | undefined): number {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024);
}

function ownerUrl(dataDirectory: string): string {
  const cluster = join(dataDirectory, "postgres", "cluster");
  const { owner } = JSON.parse(readFileSync(join(cluster, "gerbang.json"), "utf8")) as { owner: string };
  const port = readFileSync(join(cluster, "postmaster.pid"), "utf8").split("\n")[3];
  return `postgres://postgres:${owner}@127.0.0.1:${port}/gerbang`;
}
