// The stage of a case: a service whose merchants have no rate limit in practice, and the load generator against it. The cases are in cases.ts.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { Client, operate } from "../e2e/kit/client.ts";
import { Service, gerbang } from "../e2e/kit/service.ts";
import { type Cpu, cpuBetween, cpuOfFamily, cpuOfProcess, cpuSum } from "./cpu.ts";

export const CONNECTIONS = 64;

export interface Sender {
  client_id: string;
  secret: string;
  /** Weight with which the generator chooses this sender among all. */
  weight: number;
  /** References of the payments that its requests are about. */
  targets?: string[];
}

/** The output of a run of the generator. */
interface LoadRun {
  requests: number;
  errors: number;
  reasons: Record<string, number>;
  seconds: number;
  /** Latencies in hundredths of a millisecond, each with its number of requests. */
  histogram: [hundredths: number, count: number][];
  /** CPU time used during the run, in microseconds; absent when it cannot be measured. */
  cpu_us?: Cpu | undefined;
}

export interface LoadReport extends LoadRun {
  p50_ms: number;
  p99_ms: number;
}

/** Combines several runs into one report. */
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
  const cpu_us = cpuSum(runs.map((run) => run.cpu_us));
  return { requests, errors, reasons, seconds, histogram, cpu_us, p50_ms: at(0.5), p99_ms: at(0.99) };
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

export interface StageOptions {
  /** Number of API processes on one database. */
  processes?: number;
  env?: Record<string, string>;
  /** Address to which events are delivered. */
  url?: string;
  /** Whether the first process delivers webhooks too. */
  worker?: boolean;
}

/** Stages that are set up. */
const raised = new Set<Stage>();

/** Takes all stages down: a service that outlives its run would spoil the figures of the next run. */
export async function strikeAll(): Promise<void> {
  await Promise.allSettled([...raised].map((stage) => stage.strike()));
}

/**
 * A service for a case: one or several processes on one database. Without a worker it is the API alone: delivery rows are written as usual,
 * but not sent.
 */
export class Stage {
  /** The first process, which starts the database. */
  private service: Service;
  /** The other processes, each the API alone. */
  private others: Service[] = [];
  /** A client of the demo merchant. */
  readonly client: Client;
  private readonly options: StageOptions;

  private constructor(service: Service, options: StageOptions) {
    this.service = service;
    this.client = new Client(service.demo);
    this.options = options;
  }

  static async set(options: StageOptions = {}): Promise<Stage> {
    const { env, url = nobody, worker = false } = options;
    const first = await Service.start({ ...(env && { env }) });
    const stage = new Stage(first, options);
    raised.add(stage);
    await freed(first.demo, first.demo.merchant_id, url);
    if (worker) await stage.join();
    else await stage.withoutWorker();
    return stage;
  }

  /** Restarts the service with its worker, so that due deliveries are sent from now on. */
  withWorker(): Promise<void> {
    return this.restart([]);
  }

  /** Restarts the service as the API alone. */
  withoutWorker(): Promise<void> {
    return this.restart(["--role", "api"]);
  }

  private async restart(args: string[]): Promise<void> {
    const { dataDirectory, port } = this.service;
    await this.stop();
    const { env } = this.options;
    this.service = await Service.start({ dataDirectory, port, args, ...(env && { env }) });
    await this.join();
  }

  /** Starts the other processes with DATABASE_URL: a process that finds the database in the data directory would also stop it. */
  private async join(): Promise<void> {
    const { dataDirectory } = this.service;
    const env = { ...this.options.env, DATABASE_URL: this.databaseUrl("service") };
    while (this.others.length + 1 < (this.options.processes ?? 1)) {
      this.others.push(await Service.start({ dataDirectory, env, args: ["--role", "api"] }));
    }
  }

  private async stop(): Promise<void> {
    await Promise.all(this.others.map((other) => other.stop()));
    this.others = [];
    await this.service.stop();
  }

  private get services(): Service[] {
    return [this.service, ...this.others];
  }

  /** The origin of each process. */
  get origins(): string[] {
    return this.services.map(({ url }) => url);
  }

  /** The demo merchant as a sender. */
  get sender(): Sender {
    const { client_id, secret } = this.service.demo;
    return { client_id, secret, weight: 1 };
  }

  /** Replaces the active routing rules. */
  async route(rules: readonly object[]): Promise<void> {
    const { version } = await operate(this.service.demo, "POST", "/routing/rules", { rules });
    await operate(this.service.demo, "POST", `/routing/rules/${String(version)}/activate`);
  }

  /** Makes further merchants like the demo merchant. */
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

  /** Makes payments of the demo merchant, and has them paid when `paid`. Gives their references. */
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
          // The signature does not cover the path, so each body must differ: white space makes it unique.
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

  /** Sends requests, spread evenly over the processes. Gives the report with the CPU time of the run and of `until`. */
  async load(load: Load, until?: (run: LoadReport) => Promise<void>): Promise<LoadReport> {
    let before: Cpu | undefined;
    const ports = this.services.map(({ port }) => port);
    const run = await generate(ports, load, () => (before = this.cpu()));
    await until?.(run);
    return { ...run, cpu_us: cpuBetween(before, this.cpu()) };
  }

  /** CPU time that the processes of the service and of PostgreSQL have used so far. */
  cpu(): Cpu | undefined {
    const postgres = cpuOfFamily(Number(this.postmaster[0]));
    let service = 0;
    for (const { process } of this.services) service += cpuOfProcess(process?.pid ?? 0) ?? Number.NaN;
    return postgres === undefined || Number.isNaN(service) ? undefined : { service, postgres };
  }

  /** Sum and count of the batch sizes of the lanes whose names begin with `lane`. */
  async batches(lane: string): Promise<{ sum: number; count: number }> {
    const all = { sum: 0, count: 0 };
    for (const { metricsUrl: url } of this.services) {
      const text = await (await fetch(url)).text();
      const pattern = new RegExp(`^gerbang_lane_batch_size_(sum|count)\\{lane="${lane}[^"]*"\\} (\\S+)$`, "gm");
      for (const [, name, value] of text.matchAll(pattern)) all[name as "sum" | "count"] += Number(value);
    }
    return all;
  }

  /** Resident memory in MiB of the largest process of the service, now or at its peak. Undefined without /proc. */
  memory(which: "now" | "heaviest" = "heaviest"): number | undefined {
    if (!existsSync("/proc/self/status")) return undefined;
    const line = which === "now" ? /VmRSS:\s+(\d+)/ : /VmHWM:\s+(\d+)/;
    const kib = this.services.map(({ process }) =>
      Number(line.exec(readFileSync(`/proc/${process?.pid}/status`, "utf8"))?.[1] ?? 0),
    );
    return Math.round(Math.max(...kib) / 1024);
  }

  /** Verifies every book. Gives whether all are clean, and the journals verified per second. */
  async verify(): Promise<{ clean: boolean; journals_per_s: number }> {
    const { code, stderr } = await gerbang(["verify"], { GERBANG_DATA: this.service.dataDirectory });
    if (code !== 0) process.stderr.write(stderr);
    const [, journals, seconds] = /journals: (\d+), in ([\d.]+) s/.exec(stderr) ?? [];
    return { clean: code === 0, journals_per_s: Math.round(Number(journals) / Number(seconds)) };
  }

  get dataDirectory(): string {
    return this.service.dataDirectory;
  }

  /** The demo merchant's owner: origin of the portal, merchant, and a token that signs the owner in once. */
  get owner(): { origin: string; merchantId: string; signInToken: string } {
    const { demo, url } = this.service;
    return { origin: url, merchantId: demo.merchant_id, signInToken: demo.portal_sign_in?.split("#link=")[1] ?? "" };
  }

  /** Address of the database for its owner. */
  get ownerUrl(): string {
    return this.databaseUrl("owner");
  }

  private databaseUrl(role: "owner" | "service"): string {
    const passwords = JSON.parse(readFileSync(join(this.cluster, "gerbang.json"), "utf8")) as Record<
      typeof role,
      string
    >;
    const user = { owner: "postgres", service: "gerbang_service" }[role];
    return `postgres://${user}:${passwords[role]}@127.0.0.1:${this.postmaster[3]}/gerbang`;
  }

  private get cluster(): string {
    return join(this.service.dataDirectory, "postgres", "cluster");
  }

  /** Lines of PostgreSQL's `postmaster.pid`: the first is the process number, the fourth the port. */
  private get postmaster(): string[] {
    return readFileSync(join(this.cluster, "postmaster.pid"), "utf8").split("\n");
  }

  async strike(): Promise<void> {
    raised.delete(this);
    await this.stop();
    await this.service.discard();
  }
}

async function freed(demo: Service["demo"], merchantId: string, url: string): Promise<void> {
  await operate(demo, "PATCH", `/merchants/${merchantId}`, { rate_limit_per_minute: 100_000_000 });
  await operate(demo, "PUT", `/merchants/${merchantId}/webhook`, { environment: "sandbox", url });
}

/** Runs the generator in its own process against these ports. Calls `onBegun` when the measured time begins. */
export async function generate(
  ports: readonly number[],
  { connections = CONNECTIONS, kind = "create", ...load }: Load,
  onBegun: () => void = () => undefined,
): Promise<LoadReport> {
  const child = spawn(process.execPath, [join(import.meta.dirname, "load.ts")], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  child.stdin.end(JSON.stringify({ ports, connections, kind, ...load }));
  let run: LoadRun | undefined;
  const lines = createInterface({ input: child.stdout }).on("line", (line) => {
    if (line === "begun") onBegun();
    else run = JSON.parse(line) as LoadRun;
  });
  await once(lines, "close");
  if (run === undefined) throw new Error("the load generator failed");
  return together([run]);
}

export const rateOf = ({ requests, seconds }: Pick<LoadReport, "requests" | "seconds">): number => requests / seconds;
