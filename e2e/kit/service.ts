// A whole service in its own process with its own data directory, for tests, the demo and the benchmark.
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { randomInt } from "node:crypto";
import { once } from "node:events";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Credentials, Operator } from "./client.ts";
import type { QuickTiming } from "./quick-service.ts";

const program = fileURLToPath(new URL("../../gateway/bin/gerbang.js", import.meta.url));
const quickProgram = fileURLToPath(new URL("quick-service.ts", import.meta.url));

/** Environment variable with the folder of a migrated cluster, which a service in a new folder copies instead of making its own. */
export const PREPARED_CLUSTER = "GERBANG_TEST_CLUSTER";

/** The environment of this process without settings of the service: a test runner has a BASE_URL of its own. */
export function plainEnvironment(): Record<string, string> {
  const kept = ["PATH", "HOME", "TMPDIR", "LANG", "USER", "SHELL", "NODE_COMPILE_CACHE"];
  return Object.fromEntries(
    kept.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])),
  );
}

/** For programs with an environment of their own: lets them share the cache of compiled code. */
export function compiled(): { NODE_COMPILE_CACHE?: string } {
  const { NODE_COMPILE_CACHE } = process.env;
  return NODE_COMPILE_CACHE === undefined ? {} : { NODE_COMPILE_CACHE };
}

export interface Demo extends Credentials, Operator {
  merchant_id: string;
  webhook_secret: string;
  /** Address that signs the demo owner in, once. */
  portal_sign_in: string;
}

interface ServiceOptions {
  /** The data directory; a new temporary one when absent. */
  dataDirectory?: string;
  env?: Record<string, string>;
  args?: string[];
  port?: number;
  /** True to make the PostgreSQL cluster anew, as at a person's first start, even when there is a prepared one. */
  fromNothing?: boolean;
  /** Path of another copy of the program. */
  program?: string;
  /** Shorter times than the usual ones, so that tests need not wait. */
  timing?: QuickTiming;
  /** False when the service makes no demo merchant, because its database has merchants already. */
  demo?: boolean;
}

export class Service {
  readonly dataDirectory: string;
  readonly port: number;
  private readonly operatorPort: number;
  private readonly metricsPort: number;
  private readonly options: ServiceOptions;
  process: ChildProcess | undefined;
  /** The end of the process's output. */
  output = "";

  private constructor(
    options: ServiceOptions,
    dataDirectory: string,
    ports: [api: number, ops: number, metrics: number],
  ) {
    this.options = options;
    this.dataDirectory = dataDirectory;
    [this.port, this.operatorPort, this.metricsPort] = ports;
  }

  /** Starts a service and waits until it is ready. */
  static async start(options: ServiceOptions = {}): Promise<Service> {
    const directory = options.dataDirectory ?? mkdtempSync(join(tmpdir(), "gerbang-"));
    mkdirSync(directory, { recursive: true });
    chmodSync(directory, 0o711); // when root starts PostgreSQL, it runs as another user, who must reach its files
    const prepared = process.env[PREPARED_CLUSTER];
    const ownDatabase = options.dataDirectory === undefined && options.env?.DATABASE_URL === undefined;
    if (prepared !== undefined && ownDatabase && options.fromNothing !== true) {
      mkdirSync(join(directory, "postgres"), { mode: 0o700 });
      execFileSync("cp", ["-a", prepared, join(directory, "postgres", "cluster")]);
    }
    const service = new Service(options, directory, [
      options.port ?? (await freePort()),
      await freePort(),
      await freePort(),
    ]);
    await service.start();
    return service;
  }

  async start(): Promise<void> {
    const { timing, args = [] } = this.options;
    const run = timing
      ? [quickProgram, JSON.stringify(timing), ...args]
      : [this.options.program ?? program, "serve", ...args];
    const child = spawn(process.execPath, ["--max-semi-space-size=16", "--initial-old-space-size=128", ...run], {
      env: {
        ...plainEnvironment(),
        NODE_ENV: "development",
        LOG_LEVEL: "warn",
        ...this.options.env,
        GERBANG_DATA: this.dataDirectory,
        PORT: String(this.port),
        METRICS_PORT: String(this.metricsPort),
        OPS_PORT: String(this.operatorPort),
      },
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.process = child;
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8");
      stream.on("data", (text: string) => {
        this.output = (this.output + text).slice(-100_000);
      });
    }
    // The test's own time is limit enough for a machine on which everything takes long.
    for (const end = Date.now() + 200_000; Date.now() < end && child.exitCode === null;) {
      if (await this.healthy()) return;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    await this.stop(); // a service that comes up after its test has failed would stay
    throw new Error(`the service did not become ready:\n${this.output}`);
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  get opsUrl(): string {
    return `http://127.0.0.1:${this.operatorPort}/ops/v1`;
  }

  get demo(): Demo {
    return JSON.parse(readFileSync(join(this.dataDirectory, "demo.json"), "utf8")) as Demo;
  }

  async healthy(): Promise<boolean> {
    try {
      const response = await fetch(`${this.url}/v1/health`);
      await response.arrayBuffer();
      const waits = this.options.demo !== false && !this.options.args?.length;
      return response.ok && (!waits || existsSync(join(this.dataDirectory, "demo.json")));
    } catch {
      return false; // not listening yet
    }
  }

  get metricsUrl(): string {
    return `http://127.0.0.1:${this.metricsPort}/metrics`;
  }

  async kill(signal: NodeJS.Signals): Promise<number | null> {
    const child = this.process;
    if (!child || child.exitCode !== null || child.signalCode !== null) return child?.exitCode ?? null;
    const exited = once(child, "exit") as Promise<[number | null]>;
    child.kill(signal);
    return (await exited)[0];
  }

  /** Stops the service by SIGTERM and gives the exit code. */
  stop(): Promise<number | null> {
    return this.kill("SIGTERM");
  }

  /** Stops the service and removes its data directory. */
  async discard(): Promise<void> {
    await this.stop();
    rmSync(this.dataDirectory, { recursive: true, force: true });
  }
}

/** Each worker of the tests has its own range of ports, so that no two choose the same port between the check and listening. */
const PORTS_PER_WORKER = 1_500;
const firstPort = 20_000 + (Number(process.env.VITEST_POOL_ID ?? 0) % 8) * PORTS_PER_WORKER;
const given = new Set<number>();

/** Finds a free port. It lies below the system's own range, so a program that asks for any port does not get it meanwhile. */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < 1_000; tries++) {
    const port = firstPort + randomInt(PORTS_PER_WORKER);
    // A port given out earlier may not be in use yet, and a service takes the two behind its own for metrics and operators. When a sixth is given
    // out, all start anew: the users of the first have long stopped.
    if ([-2, -1, 0, 1, 2].some((distance) => given.has(port + distance))) continue;
    if (given.size > PORTS_PER_WORKER / 6) given.clear();
    given.add(port);
    const probe = createServer().listen(port, "127.0.0.1");
    const isFree = await once(probe, "listening").then(
      () => true,
      () => false,
    );
    if (!isFree) continue;
    probe.close();
    await once(probe, "close");
    return port;
  }
  throw new Error("no port is free");
}

/** Runs a `gerbang` command in its own process, and waits for its end. */
export async function gerbang(
  args: string[],
  env: Record<string, string>,
): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const child = spawn(process.execPath, [program, ...args], {
    env: { ...plainEnvironment(), LOG_LEVEL: "warn", ...env },
  });
  const out = { stdout: "", stderr: "" };
  child.stdout.setEncoding("utf8").on("data", (text: string) => void (out.stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => void (out.stderr += text));
  const [code] = (await once(child, "close")) as [number | null];
  return { code, ...out };
}
