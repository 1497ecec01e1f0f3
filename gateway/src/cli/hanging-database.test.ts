// Goal: whoever tells the service to stop is obeyed, also while its PostgreSQL hangs, and a start waits for nobody who migrates. Method: the program
// as a process of its own, on a server whose processes are stopped.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { Service, gerbang } from "../../../e2e/kit/service.ts";
import { slowness, waiting } from "../../test/slowness.ts";
import { PostgresServer, signalServer } from "../../test/postgres-server.ts";
import { migrate } from "../store/migrations.ts";

describe.skipIf(process.platform !== "linux")("a service whose PostgreSQL hangs", () => {
  let folder: string;
  let server: PostgresServer;
  let env: Record<string, string>;
  let dataDirectory: string;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "gerbang-hanging-"));
    dataDirectory = mkdtempSync(join(tmpdir(), "gerbang-data-"));
    server = await PostgresServer.start(folder, { access: ["host all all 127.0.0.1/32 trust"] });
    env = { DATABASE_URL: server.url("postgres", "none", "postgres"), MASTER_KEY: "11".repeat(32) };
    await migrate(env.DATABASE_URL ?? "");
  });
  afterEach(() => signalServer(server.cluster, "SIGCONT"));
  afterAll(() => {
    server.stop();
    for (const one of [folder, dataDirectory]) rmSync(one, { recursive: true, force: true });
  });

  test("it ends within ten seconds of its signal, and a start gives up by itself", async () => {
    const service = await Service.start({ env, dataDirectory });
    // A read that is connected and hears nothing any more.
    const locker = new pg.Client({ connectionString: env.DATABASE_URL });
    locker.on("error", () => undefined);
    await locker.connect();
    await locker.query("begin; lock table schema_migrations");
    const unheard = migrate(env.DATABASE_URL ?? "").catch((error: Error) => error.message);
    await expect
      .poll(async () => (await locker.query("select from pg_locks where not granted")).rowCount)
      .toBeGreaterThan(0);
    signalServer(server.cluster, "SIGSTOP");
    const start = gerbang(["serve"], { ...env, PORT: "0", GERBANG_DATA: dataDirectory });
    await expect.poll(() => service.healthy()).toBe(false);
    let ended: number | null | undefined;
    const took = await waiting(async () => (ended = await service.stop()));
    expect(ended).toBe(0);
    expect(took).toBeLessThan(10_000 * slowness());
    expect(service.output).not.toContain("could not start");
    const { code, stderr } = await start;
    expect(code).toBe(1);
    expect(stderr).toContain("The PostgreSQL of DATABASE_URL did not answer in time");
    expect(await unheard).toContain("timeout");
    signalServer(server.cluster, "SIGCONT");
    await locker.end();
  });

  test("a process starts while another one migrates", async () => {
    const other = new pg.Client({ connectionString: env.DATABASE_URL });
    await other.connect();
    await other.query("select pg_advisory_lock(hashtext('gerbang migrations'))");
    try {
      expect(await migrate(env.DATABASE_URL ?? "")).toEqual([]);
      const service = await Service.start({ env, dataDirectory });
      await service.stop();
    } finally {
      await other.end();
    }
  });
});
