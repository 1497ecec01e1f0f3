// A gateway for a merchant's own tests: the real service, in its own process, with its own embedded database. Needs Node.
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { Gerbang, type GerbangOptions } from "./gerbang.ts";

export interface GatewayOptions {
  /** A checkout of the gateway after `npm ci`; by default GERBANG_DIRECTORY, or else the current folder. */
  directory?: string;
  /** More settings of the service, as environment variables. */
  env?: Record<string, string>;
  /** Longest start in milliseconds; a minute by default. */
  startMs?: number;
}

export interface TestMerchant {
  merchantId: string;
  clientId: string;
  secret: string;
  /** The secret of `webhookUrl`; undefined when none was given. */
  webhookSecret: string | undefined;
  /** A client with this merchant's sandbox key. */
  gerbang: Gerbang;
}

export interface MerchantOptions {
  name?: string;
  /**
   * Where the merchant's events go: an https address, which may be at localhost. The gateway verifies its certificate: start it with
   * `env: { NODE_EXTRA_CA_CERTS: "ca.pem" }` for an authority of your own. Without an address, hand on what `webhooks.sign` makes.
   */
  webhookUrl?: string;
  client?: Omit<GerbangOptions, "clientId" | "secret" | "baseUrl">;
}

interface DemoFile {
  base_url: string;
  ops_url: string;
  operator_token: string;
}

const START_MS = 60_000;
const LAST_WORDS = 4_000;

export class TestGateway {
  readonly baseUrl: string;
  readonly #demo: DemoFile;
  readonly #process: ChildProcess;
  readonly #data: string;
  #merchants = 0;

  constructor(process: ChildProcess, data: string, demo: DemoFile) {
    this.#process = process;
    this.#data = data;
    this.#demo = demo;
    this.baseUrl = demo.base_url;
  }

  /**
   * Creates a merchant with its own sandbox and clock, so that each test can have one to itself. Its payments stay available for thirty days, not
   * until the next midnight in Jakarta, when a batch would take what a test is about to refund; `sandbox.settlements.run()` forms a batch at once.
   */
  async merchant({ name, webhookUrl, client }: MerchantOptions = {}): Promise<TestMerchant> {
    this.#merchants++;
    const made = await this.#operate("POST", "/merchants", { name: name ?? `Test shop ${this.#merchants}` });
    const merchantId = String(made.merchant_id);
    const settings = { rate_limit_per_minute: 1_000_000, settlement: { delay_days: 30 } };
    await this.#operate("PATCH", `/merchants/${merchantId}`, settings);
    const hook =
      webhookUrl === undefined
        ? undefined
        : await this.#operate("PUT", `/merchants/${merchantId}/webhook`, { environment: "sandbox", url: webhookUrl });
    const key = await this.#operate("POST", `/merchants/${merchantId}/credentials`, { environment: "sandbox" });
    const [clientId, secret] = [String(key.client_id), String(key.secret)];
    const webhookSecret = hook && String(hook.webhook_secret);
    const gerbang = new Gerbang({ ...client, clientId, secret, baseUrl: this.baseUrl });
    return { merchantId, clientId, secret, webhookSecret, gerbang };
  }

  /** Stops the gateway, and removes its data. */
  async stop(): Promise<void> {
    const { exitCode, signalCode } = this.#process;
    if (exitCode === null && signalCode === null) {
      const gone = new Promise((resolve) => this.#process.once("exit", resolve));
      this.#process.kill("SIGTERM");
      await gone;
    }
    rmSync(this.#data, { recursive: true, force: true });
  }

  async #operate(method: string, path: string, body: object): Promise<Record<string, unknown>> {
    const response = await fetch(this.#demo.ops_url + path, {
      method,
      headers: { authorization: `Bearer ${this.#demo.operator_token}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path} was answered ${response.status}: ${text}`);
    return JSON.parse(text) as Record<string, unknown>;
  }
}

/** Starts a gateway and waits until it is healthy. Throws with its last output when it does not start. */
export async function startGateway(options: GatewayOptions = {}): Promise<TestGateway> {
  const directory = resolve(options.directory ?? process.env.GERBANG_DIRECTORY ?? ".");
  const program = join(directory, "gateway/bin/gerbang.js");
  if (!existsSync(program)) {
    throw new Error(
      `${directory} is no checkout of the gateway: clone it, run npm ci there, and give its folder as directory.`,
    );
  }
  const data = mkdtempSync(join(tmpdir(), "gerbang-testing-"));
  const [port, operatorPort, metricsPort] = [await freePort(), await freePort(), await freePort()];
  const child = spawn(process.execPath, [program, "serve"], {
    cwd: directory,
    env: {
      ...plainEnvironment(),
      NODE_ENV: "development",
      LOG_LEVEL: "warn",
      WEBHOOK_ALLOW_HOSTS: "localhost",
      ...options.env,
      GERBANG_DATA: data,
      HOST: "127.0.0.1",
      PORT: String(port),
      OPS_PORT: String(operatorPort),
      METRICS_PORT: String(metricsPort),
      // The gateway stops by itself when this process is killed.
      GERBANG_PARENT: String(process.pid),
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let words = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (text: Buffer) => (words = (words + text.toString()).slice(-LAST_WORDS)));
  const endsAt = Date.now() + (options.startMs ?? START_MS);
  while (child.exitCode === null && Date.now() < endsAt) {
    const demo = readDemo(join(data, "demo.json"));
    if (demo !== undefined && (await isHealthy(demo))) return new TestGateway(child, data, demo);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  await new TestGateway(child, data, { base_url: "", ops_url: "", operator_token: "" }).stop(); // in order: its database ends with it
  throw new Error(`the gateway did not come up:\n${words}`);
}

/** The environment without settings that would configure the service by accident: test runners set BASE_URL and NODE_ENV. */
function plainEnvironment(): NodeJS.ProcessEnv {
  const kept = ["PATH", "HOME", "TMPDIR", "TEMP", "LANG", "USER", "SHELL", "SystemRoot"];
  return Object.fromEntries(
    kept.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])),
  );
}

/** Undefined until the service has written the file. */
function readDemo(file: string): DemoFile | undefined {
  return existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as DemoFile) : undefined;
}

async function isHealthy({ base_url }: DemoFile): Promise<boolean> {
  try {
    const response = await fetch(`${base_url}/health`);
    await response.arrayBuffer();
    return response.ok;
  } catch {
    return false; // not listening yet
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer().once("error", reject);
    probe.listen(0, "127.0.0.1", () => {
      const address = probe.address();
      const port = typeof address === "object" && address !== null ? address.port : 0;
      probe.close(() => resolve(port));
    });
  });
}
