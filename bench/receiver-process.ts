// The cases' handle of the receiver of webhooks, which runs as its own process: start it, ask for its figures, stop it.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";

export interface Stats {
  events: number;
  repeated: number;
  p50_ms: number;
  p99_ms: number;
  sockets: number;
  perSecond: number[];
}

/** Hosts that accept connections and never answer. */
const BLACK_HOLES = 20;

export class ReceiverProcess {
  private readonly child: ChildProcess;
  readonly port: number;
  readonly holes: readonly number[];

  private constructor(child: ChildProcess, port: number, holes: number[]) {
    this.child = child;
    this.port = port;
    this.holes = holes;
  }

  static async start(identity: { key: string; cert: string }): Promise<ReceiverProcess> {
    const program = join(import.meta.dirname, "receiver.ts");
    const child = spawn(process.execPath, [program], { stdio: ["pipe", "inherit", "inherit", "ipc"] });
    child.stdin?.end(JSON.stringify({ ...identity, blackHoles: BLACK_HOLES }));
    const [{ port, holes }] = (await once(child, "message")) as [{ port: number; holes: number[] }];
    return new ReceiverProcess(child, port, holes);
  }

  /** Waits until no event has come for half a second. */
  async quiet(): Promise<void> {
    for (let before = -1; ;) {
      const { events } = await this.stats();
      if (events === before) return;
      before = events;
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
  }

  reset(): void {
    this.child.send("reset");
  }

  async stats(): Promise<Stats> {
    const answer = once(this.child, "message") as Promise<[Stats]>;
    this.child.send("stats");
    return (await answer)[0];
  }

  /** Waits until this many events have come, or the patience is over; gives the statistics then. */
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
