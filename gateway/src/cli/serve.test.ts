// Goal: a start tells a person where everything is, and a log the same without secrets; where it cannot listen it says so and ends.
// Method: the program as a process of its own.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { Client, operate } from "../../../e2e/kit/client.ts";
import { Receiver, makeCertificates } from "../../../e2e/kit/receiver.ts";
import { Service, freePort, gerbang, compiled } from "../../../e2e/kit/service.ts";
import { type TestDatabase, asOwner, cloneDatabase, paymentBody } from "../../test/kit.ts";
import { type Config, readConfig } from "../ground/config.ts";
import { createLog } from "../ground/log.ts";
import { version } from "../ground/version.ts";
import { announcer } from "./announcer.ts";
import type { DemoFile } from "./demo-merchant.ts";

let database: TestDatabase;
let service: Service;
beforeAll(async () => {
  database = await cloneDatabase();
  service = await Service.start({ env: { DATABASE_URL: database.url } });
});
afterAll(() => service.discard());

test("demo.json says where the operators' API is, and it answers there", async () => {
  const { ops_url: url, operator_token: token } = service.demo;
  expect(url).toBe(service.opsUrl);
  expect((await fetch(`${url}/acquirers`, { headers: { authorization: `Bearer ${token}` } })).status).toBe(200);
});

test("a taken OPS_PORT ends the start with a sentence that names it", async () => {
  const taken = createServer().listen(0, "127.0.0.1");
  await once(taken, "listening");
  const { port } = taken.address() as AddressInfo;
  const env = { DATABASE_URL: database.url, GERBANG_DATA: service.dataDirectory, PORT: "0", OPS_PORT: String(port) };
  const { code, stdout, stderr } = await gerbang(["serve"], { ...env, LOG_LEVEL: "warn" });
  taken.close();
  expect(code).toBe(1);
  expect(stdout).not.toContain("could not be read back");
  expect(stderr).toMatch(new RegExp(`^Port ${port} of 127\\.0\\.0\\.1 is taken: by another program, .*OPS_PORT`, "m"));
  expect(stderr).not.toMatch(/^ +at /m);
});

test("without a terminal every line is JSON from the first one on, and none has a secret", async () => {
  const env = { DATABASE_URL: database.url, LOG_LEVEL: "info" };
  const other = await Service.start({ dataDirectory: service.dataDirectory, env });
  await expect.poll(() => other.output).toContain('"msg":"ready"');
  const { secret, operator_token: token, webhook_secret: hook, portal_sign_in: link } = other.demo;
  await other.stop();
  const lines = other.output.trim().split("\n");
  const read = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(read[0]).toMatchObject({ level: "info", msg: "starting", version, roles: ["api", "worker"] });
  expect(read).toContainEqual(
    expect.objectContaining({
      msg: "ready",
      base_url: `${other.url}/v1`,
      ops_url: other.opsUrl,
      metrics_url: other.metricsUrl,
    }),
  );
  expect(read.at(-1)).toMatchObject({ msg: "stopping", why: "SIGTERM" });
  for (const word of [secret, token, hook, link.split("#link=")[1] ?? ""]) expect(other.output).not.toContain(word);
});

test("a stop that drains requests first still releases deliveries while a receiver hangs", async () => {
  const place = await cloneDatabase();
  const certificates = await makeCertificates();
  const receiver = await Receiver.start(certificates);
  receiver.answer = () => undefined;
  const webhooks = { NODE_EXTRA_CA_CERTS: certificates.caFile, WEBHOOK_ALLOW_HOSTS: "localhost" };
  const other = await Service.start({ env: { DATABASE_URL: place.url, DRAIN_SECONDS: "5", ...webhooks } });
  const { demo } = other;
  const address = { environment: "sandbox", url: receiver.url() };
  await operate(demo, "PUT", `/merchants/${demo.merchant_id}/webhook`, address);
  for (let count = 0; count < 6; count++) await new Client(demo).post("/v1/payments", paymentBody());
  await receiver.waitFor(() => true);
  other.process?.kill("SIGTERM");
  await pause(1_100);
  expect(await other.stop()).toBe(0); // the second signal ends the wait, and not what follows it
  const [left] = await asOwner(place, async (owner) => {
    const text = `select count(*)::int as deliveries, count(lease_token)::int as leased, (select count(ended_at)::int from telemetry_processes) as ended
from deliveries`;
    return (await owner.query(text)).rows;
  });
  expect(left).toEqual({ deliveries: 6, leased: 0, ended: 1 });
  await Promise.all([receiver.close(), other.discard()]);
});

test("a start that fails is the last line of the log as well", async () => {
  const env = { DATABASE_URL: "postgres://a:b@127.0.0.1:1/c", GERBANG_DATA: service.dataDirectory, LOG_LEVEL: "info" };
  const { code, stdout, stderr } = await gerbang(["serve"], env);
  const last = JSON.parse(stdout.trim().split("\n").at(-1) ?? "") as Record<string, unknown>;
  expect(code).toBe(1);
  expect(last).toMatchObject({ level: "fatal", msg: "the service could not start", reason: stderr.trim() });
});

test("a mistake in the settings is the last line of the log, too", async () => {
  const { code, stdout, stderr } = await gerbang(["serve"], { OPS_PORT: "no port" });
  expect(code).toBe(1);
  expect(stderr).toContain("OPS_PORT");
  expect(JSON.parse(stdout)).toMatchObject({
    level: "fatal",
    msg: "the service could not start",
    reason: stderr.trim(),
  });
});

/** Starts the service on the embedded database of a new folder, in which `prepare` puts something first, with no file above `kib`. */
async function embeddedStart(
  prepare: (folder: string) => void,
  kib = "unlimited",
): Promise<{ folder: string; child: ChildProcess; output: () => string }> {
  const folder = mkdtempSync(join(tmpdir(), "gerbang-start-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  chmodSync(folder, 0o711);
  prepare(folder);
  const command = `ulimit -f ${kib}; exec "${process.execPath}" "${join(import.meta.dirname, "..", "main.ts")}" serve`;
  const ports = { PORT: String(await freePort()), OPS_PORT: "0", METRICS_PORT: "0" };
  const env = { PATH: process.env.PATH, ...ports, GERBANG_DATA: folder };
  const child = spawn("bash", ["-c", command], { env, stdio: ["ignore", "ignore", "pipe"] });
  let said = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => void (said += text));
  return { folder, child, output: () => said };
}

test("a first start without room for its database says so in words, and leaves no password behind", async () => {
  const { folder, child, output } = await embeddedStart(() => undefined, "2048");
  expect(await once(child, "close")).toEqual([1, null]);
  expect(output()).toMatch(/^The embedded PostgreSQL could not be made in .*\/postgres:\n/);
  expect(output()).not.toMatch(/^ +at /m);
  expect(readdirSync(join(folder, "postgres"))).toEqual([]);
});

test("told to stop while the embedded PostgreSQL does not start, it ends with 0, long before it would give up", async () => {
  const { folder, child } = await embeddedStart((data) => {
    const cluster = join(data, "postgres", "cluster");
    mkdirSync(cluster, { recursive: true });
    writeFileSync(join(cluster, "PG_VERSION"), "18\n");
    writeFileSync(join(cluster, "gerbang.json"), JSON.stringify({ owner: "x", service: "y" }));
  });
  const ended = once(child, "close");
  await expect.poll(() => existsSync(join(folder, "postgres", "server.log")), { timeout: 200_000 }).toBe(true);
  child.kill("SIGTERM");
  expect(await ended).toEqual([0, null]);
});

/** Gives a program a terminal of its own. */
const hasTerminal = process.platform === "linux" && existsSync("/usr/bin/script");

test.skipIf(!hasTerminal)("at a terminal a start greets (skipped where there is no `script`)", async () => {
  const port = await freePort();
  const env = {
    PATH: process.env.PATH,
    ...compiled(),
    DATABASE_URL: database.url,
    GERBANG_DATA: service.dataDirectory,
    PORT: String(port),
    LOG_LEVEL: "warn",
  };
  const command = `exec "${process.execPath}" "${join(import.meta.dirname, "..", "main.ts")}" serve`;
  const child = spawn("/usr/bin/script", ["-qefc", command, "/dev/null"], {
    env: { ...env, OPS_PORT: String(await freePort()), METRICS_PORT: String(await freePort()) },
    stdio: ["pipe", "pipe", "ignore"],
  });
  let said = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => void (said += text));
  await expect.poll(() => said, { timeout: 200_000 }).toContain("Stop with Ctrl-C.");
  const exited = once(child, "exit") as Promise<[number | null]>;
  child.stdin.write("\x03"); // Ctrl-C, as a terminal takes it
  expect((await exited)[0]).toBe(0);
  expect(said).toContain("gerbang is ready.");
  expect(said).toContain(`http://127.0.0.1:${port}/v1/payments -H "Authorization: Bearer ak_test_`);
  expect(said).toContain("Stopping …");
});

test("in production, and without a terminal, words become lines of the log", () => {
  const lines: string[] = [];
  const log = createLog("info", { write: (line) => void lines.push(line) });
  const config = (mode: "production" | "development"): Config => ({ ...readConfig({}), mode });
  const demo = { secret: "hidden-of-the-demo" } as DemoFile;
  for (const one of [announcer(config("production"), log, true), announcer(config("development"), log, false)]) {
    one.starting(new Set(["api"]), true);
    one.metricsOff(new Error("no port"));
    one.ready({ baseUrl: "http://127.0.0.1:8080/v1", opsUrl: "http://127.0.0.1:8082", metrics: undefined }, demo);
    one.stoppingLate();
    one.failed(new Error("unexpected"));
  }
  const read = lines.map((line) => JSON.parse(line) as { msg: string; err?: { message: string } });
  expect(read.map(({ msg }) => msg).slice(0, 5)).toEqual(read.map(({ msg }) => msg).slice(5));
  expect(read.map(({ msg }) => msg).slice(0, 2)).toEqual(["starting", "metrics are off"]);
  expect(read.at(-1)?.err?.message).toBe("unexpected");
  // Where to go on is said, and no secret.
  expect(read[2]).toMatchObject({
    docs_url: "http://localhost:8080/docs",
    demo_file: join(readConfig({}).dataDirectory, "demo.json"),
  });
  expect(lines.join("")).not.toContain("hidden-of-the-demo");
});

test("an OPS_HOST that is no address of this machine ends a production start with a sentence that names it; one without an acquirer is warned", async () => {
  const env = {
    NODE_ENV: "production",
    MASTER_KEY: "3b1f6a0c9d2e47588f6b1c0d9e8a7f65443322110f0e0d0c1b2a394857667584",
    OPERATOR_TOKEN: "op_9f2c71e04d5b8a6630c1e7f2",
    BASE_URL: "https://pay.example/v1",
    DATABASE_URL: (await cloneDatabase()).url,
    GERBANG_DATA: service.dataDirectory,
    PORT: "0",
    METRICS_PORT: "0",
    OPS_HOST: "192.0.2.1", // reserved for documents
  };
  const { code, stderr, stdout } = await gerbang(["serve"], env);
  expect(stdout).toMatch(/"level":"warn".*no acquirer takes real payments: list one in this file/);
  expect([code, stderr]).toEqual([1, expect.stringContaining("This machine has no address 192.0.2.1.")]);
  expect(stderr).toContain("OPS_HOST");
  expect(stderr).not.toMatch(/^ +at /m);
});
