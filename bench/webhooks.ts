// The case `webhooks`: a backlog drained over verified TLS into a receiver in another process; then events told of while
// payments flow at half that rate; then the same while a fifth of the payments name hosts that never answer.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { operate } from "../e2e/kit/client.ts";
import { makeCertificates } from "../e2e/kit/receiver.ts";
import { Service, gerbang } from "../e2e/kit/service.ts";
import { load, residentMib } from "./create.ts";

export interface WebhooksResult {
  case: "webhooks";
  backlog: number;
  drained_per_s: number;
  /** The second half of the backlog beside the first. */
  steadiness: number;
  paced_per_s: number;
  lag_p50_ms: number;
  lag_p99_ms: number;
  /** First-attempt lag of everyone else, with a fifth of the payments going to hosts that never answer. */
  holes_p50_ms: number;
  holes_p99_ms: number;
  holes_ratio: number;
  sockets: number;
  errors: number;
  memory_mib: number;
  verified: boolean;
}

interface Stats {
  events: number;
  repeated: number;
  p50_ms: number;
  p99_ms: number;
  sockets: number;
  perSecond: number[];
}

/** Hosts that take connections and never answer. */
const BLACK_HOLES = 20;
const AIM_PER_S = 1_500;

class ReceiverProcess {
  private readonly child: ChildProcess;
  readonly port: number;
  readonly holes: readonly number[];

  private constructor(child: ChildProcess, port: number, holes: number[]) {
    this.child = child;
    this.port = port;
    this.holes = holes;
  }

  static async start(identity: { key: string; cert: string }): Promise<ReceiverProcess> {
    const program = new URL("receiver.ts", import.meta.url).pathname;
    const child = spawn(process.execPath, [program], { stdio: ["pipe", "inherit", "inherit", "ipc"] });
    child.stdin?.end(JSON.stringify({ ...identity, blackHoles: BLACK_HOLES }));
    const [{ port, holes }] = (await once(child, "message")) as [{ port: number; holes: number[] }];
    return new ReceiverProcess(child, port, holes);
  }

  reset(): void {
    this.child.send("reset");
  }

  async stats(): Promise<Stats> {
    const answer = once(this.child, "message") as Promise<[Stats]>;
    this.child.send("stats");
    return (await answer)[0];
  }

  /** Waits until so many events have come; gives the statistics then. */
  async until(events: number, patienceSeconds: number): Promise<Stats> {
    for (let waited = 0; ; waited += 0.2) {
      const stats = await this.stats();
      if (stats.events >= events || waited > patienceSeconds) return stats;
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  }

  stop(): void {
    this.child.disconnect();
  }
}

export async function webhooksCase({ seconds }: { seconds: number }): Promise<WebhooksResult> {
  const certificates = await makeCertificates();
  const receiver = await ReceiverProcess.start(certificates);
  const env = { WEBHOOK_ALLOW_HOSTS: "localhost", NODE_EXTRA_CA_CERTS: certificates.caFile };
  const first = await Service.start({ env });
  const { demo, dataDirectory, port } = first;
  await operate(demo, "PATCH", `/merchants/${demo.merchant_id}`, { rate_limit_per_minute: 100_000_000 });
  const url = `https://localhost:${receiver.port}/hook`;
  await operate(demo, "PUT", `/merchants/${demo.merchant_id}/webhook`, { environment: "sandbox", url });
  await first.stop();
  let service = await Service.start({ dataDirectory, env, port, args: ["--role", "api"] });
  try {
    const filled = await load(service, seconds * 3, "backlog");
    await service.stop();
    service = await Service.start({ dataDirectory, env, port });
    const drained = await receiver.until(filled.requests, 600);
    const rates = drained.perSecond.slice(1, -1); // the first and the last second are not whole
    const half = Math.floor(rates.length / 2);
    const mean = (part: number[]): number => part.reduce((sum, rate) => sum + rate, 0) / Math.max(1, part.length);
    const pace = Math.round(Math.min(AIM_PER_S, mean(rates)) / 2);
    const paced = async (label: string, callbacks: string[]): Promise<{ stats: Stats; errors: number }> => {
      receiver.reset();
      const report = await load(service, seconds, label, undefined, { pace, callbacks });
      const expected = callbacks.filter((callback) => callback === "").length / callbacks.length;
      const stats = await receiver.until(Math.floor(report.requests * expected), 15);
      return { stats, errors: report.errors + Math.max(0, Math.floor(report.requests * expected) - stats.events - 1) };
    };
    await paced("warm", [""]);
    const calm = await paced("calm", [""]);
    const holes = receiver.holes.map((hole) => `https://localhost:${hole}/hook`);
    const fifth = holes.flatMap((hole) => [hole, "", "", "", ""]);
    const stormy = await paced("stormy", fifth);
    const memory = residentMib(service.process?.pid);
    const verify = await gerbang(["verify"], { GERBANG_DATA: dataDirectory });
    return {
      case: "webhooks",
      backlog: filled.requests,
      drained_per_s: Math.round(mean(rates)),
      steadiness: Math.round((mean(rates.slice(half)) / mean(rates.slice(0, half))) * 100) / 100,
      paced_per_s: pace,
      lag_p50_ms: calm.stats.p50_ms,
      lag_p99_ms: calm.stats.p99_ms,
      holes_p50_ms: stormy.stats.p50_ms,
      holes_p99_ms: stormy.stats.p99_ms,
      holes_ratio: Math.round((stormy.stats.p50_ms / calm.stats.p50_ms) * 100) / 100,
      sockets: drained.sockets,
      errors: filled.errors + calm.errors + stormy.errors + drained.repeated,
      memory_mib: memory,
      verified: verify.code === 0,
    };
  } finally {
    receiver.stop();
    await service.discard();
  }
}
