// What every case stands on: a service with merchants that may send as fast as they can, and the generator against it.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Client, operate } from "../e2e/kit/client.ts";
import { Service, gerbang } from "../e2e/kit/service.ts";

export const CONNECTIONS = 64;

export interface Sender {
  client_id: string;
  secret: string;
  /** How often it is chosen beside the others. */
  weight: number;
  /** What its requests are about. */
  targets?: string[];
}

/** What a run of the generator says. */
interface LoadRun {
  requests: number;
  errors: number;
  reasons: Record<string, number>;
  seconds: number;
  /** Latencies in hundredths of a millisecond, and how many took so long. */
  histogram: [hundredths: number, count: number][];
}

export interface LoadReport extends LoadRun {
  p50_ms: number;
  p99_ms: number;
}

/** Several runs as one. */
export function together(runs: readonly LoadRun[]): LoadReport {
  const counts = new Map<number, number>();
  const reasons: Record<string, number> = {};
  let [requests, errors, seconds] = [0, 0, 0];
  for (const run of runs) {
    requests += run.requests;
    errors += run.errors;
    seconds += run.seconds;
    for (const [reason, count] of Object.entries(run.reasons)) reasons[reason] = (reasons[reason] ?? 0) + count;
    for (const [hundredths, count] of run.histogram) counts.set(hundredths, (counts.get(hundredths) ?? 0) + count);
  }
  const histogram = [...counts].toSorted(([a], [b]) => a - b);
  const total = histogram.reduce((sum, [, count]) => sum + count, 0);
  const at = (share: number): number => {
    let seen = 0;
    const found = histogram.find(([, count]) => (seen += count) > total * share);
    return (found?.[0] ?? 0) / 100;
  };
  return { requests, errors, reasons, seconds, histogram, p50_ms: at(0.5), p99_ms: at(0.99) };
}

export interface Load {
  label: string;
  seconds: number;
  senders: readonly Sender[];
  kind?: "create" | "refund" | "get";
  connections?: number;
  pace?: number;
  callbacks?: string[];
  lifecycle?: boolean;
}

const nobody = "https://receiver.gerbang-bench.com/hook";

/** A service for a case. Without `webhooks` it is the API alone: delivery rows are written like everything else, and nobody sends them. */
export class Stage {
  service: Service;
  private readonly client: Client;
  private readonly env: Record<string, string> | undefined;

  private constructor(service: Service, env: Record<string, string> | undefined) {
    this.service = service;
    this.client = new Client(service.demo);
    this.env = env;
  }

  static async set({
    env,
    url = nobody,
    worker = false,
  }: { env?: Record<string, string>; url?: string; worker?: boolean } = {}): Promise<Stage> {
    const first = await Service.start({ ...(env && { env }) });
    const { demo, dataDirectory, port } = first;
    await freed(demo, demo.merchant_id, url);
    if (worker) return new Stage(first, env);
    await first.stop();
    const service = await Service.start({ dataDirectory, port, ...(env && { env }), args: ["--role", "api"] });
    return new Stage(service, env);
  }

  /** Starts the service again, with its worker: what is due is delivered from now on. */
  async withWorker(): Promise<void> {
    const { dataDirectory, port } = this.service;
    await this.service.stop();
    this.service = await Service.start({ dataDirectory, port, ...(this.env && { env: this.env }) });
  }

  /** Starts the service again as the API alone. */
  async withoutWorker(): Promise<void> {
    const { dataDirectory, port } = this.service;
    await this.service.stop();
    this.service = await Service.start({
      dataDirectory,
      port,
      args: ["--role", "api"],
      ...(this.env && { env: this.env }),
    });
  }

  /** The demo merchant. */
  get sender(): Sender {
    const { client_id, secret } = this.service.demo;
    return { client_id, secret, weight: 1 };
  }

  /** More merchants, like the demo one. */
  async senders(count: number): Promise<Sender[]> {
    const { demo } = this.service;
    const made: Sender[] = [];
    const one = async (number: number): Promise<void> => {
      const { merchant_id: id } = await operate(demo, "POST", "/merchants", { name: `Merchant ${number}` });
      await freed(demo, id as string, nobody);
      const { client_id, secret } = await operate(demo, "POST", `/merchants/${id}/credentials`, {
        environment: "sandbox",
      });
      made.push({ client_id, secret, weight: 1 });
    };
    let next = 0;
    const lines = Array.from({ length: 16 }, async () => {
      while (next < count) await one(next++);
    });
    await Promise.all(lines);
    return made;
  }

  /** Payments of the demo merchant, paid when `paid`. Gives their references. */
  async payments(count: number, paid: boolean): Promise<string[]> {
    const references: string[] = [];
    let next = 0;
    const lines = Array.from({ length: 16 }, async () => {
      while (next < count) {
        const number = next++;
        const payment = {
          amount_minor: 900_000,
          currency: "IDR",
          payment_method: "qris",
          reference_id: `staged-${number}`,
        };
        const { json } = await this.client.post("/v1/payments", payment);
        if (paid) {
          // The signature covers no path: no two bodies may be the same, so each has white space of its own.
          const body = `{"outcome":"succeeded"}${" ".repeat(number)}`;
          const { status } = await this.client.post(`/v1/sandbox/payments/${json.reference}/simulate`, body);
          if (status !== 200) throw new Error(`${json.reference} could not be paid: ${status}`);
        }
        references.push(json.reference as string);
      }
    });
    await Promise.all(lines);
    return references;
  }

  load(load: Load): Promise<LoadReport> {
    return generate(this.service.port, load);
  }

  /** Sum and count of the batch sizes of the lanes whose name begins so. */
  async batches(lane: string): Promise<{ sum: number; count: number }> {
    const url = this.service.metricsUrl;
    if (url === undefined) throw new Error("the service has no metrics");
    const text = await (await fetch(url)).text();
    const read = (name: string): number =>
      [...text.matchAll(new RegExp(`^gerbang_lane_batch_size_${name}\\{lane="${lane}[^"]*"\\} (\\S+)$`, "gm"))].reduce(
        (sum, [, value]) => sum + Number(value),
        0,
      );
    return { sum: read("sum"), count: read("count") };
  }

  /** Resident memory of the service, in MiB: now, and at its heaviest. */
  memory(which: "now" | "heaviest" = "heaviest"): number {
    const status = readFileSync(`/proc/${this.service.process?.pid}/status`, "utf8");
    const line = which === "now" ? /VmRSS:\s+(\d+)/ : /VmHWM:\s+(\d+)/;
    return Math.round(Number(line.exec(status)?.[1] ?? 0) / 1024);
  }

  /** Whether every book is in order, and how many journals a second it took to know. */
  async verify(): Promise<{ clean: boolean; journals_per_s: number }> {
    const { code, stderr } = await gerbang(["verify"], { GERBANG_DATA: this.service.dataDirectory });
    if (code !== 0) process.stderr.write(stderr);
    return { clean: code === 0, journals_per_s: Number(/\((\d+) a second\)/.exec(stderr)?.[1] ?? 0) };
  }

  /** The owner's address of the database. */
  get ownerUrl(): string {
    const cluster = join(this.service.dataDirectory, "postgres", "cluster");
    const { owner } = JSON.parse(readFileSync(join(cluster, "gerbang.json"), "utf8")) as { owner: string };
    const port = readFileSync(join(cluster, "postmaster.pid"), "utf8").split("\n")[3];
    return `postgres://postgres:${owner}@127.0.0.1:${port}/gerbang`;
  }

  strike(): Promise<void> {
    return this.service.discard();
  }
}

async function freed(demo: Service["demo"], merchantId: string, url: string): Promise<void> {
  await operate(demo, "PATCH", `/merchants/${merchantId}`, { rate_limit_per_minute: 100_000_000 });
  await operate(demo, "PUT", `/merchants/${merchantId}/webhook`, { environment: "sandbox", url });
}

/** Runs the generator against a port, in a process of its own. */
export async function generate(
  port: number,
  { connections = CONNECTIONS, kind = "create", ...load }: Load,
): Promise<LoadReport> {
  const child = spawn(process.execPath, [new URL("load.ts", import.meta.url).pathname], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  child.stdin.end(JSON.stringify({ port, connections, kind, ...load }));
  let text = "";
  child.stdout.setEncoding("utf8").on("data", (part: string) => void (text += part));
  const [code] = (await once(child, "exit")) as [number | null];
  if (code !== 0) throw new Error("the load generator failed");
  return together([JSON.parse(text) as LoadRun]);
}

export const rateOf = ({ requests, seconds }: Pick<LoadReport, "requests" | "seconds">): number => requests / seconds;
