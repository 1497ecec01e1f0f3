// Goal: when a synchronous standby takes over, nothing that was acknowledged is lost, and nothing happens twice. Method: a service behind an address
// that leads to the primary; the primary is killed under load, the standby promoted, and the address leads there.
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import {
  appendFileSync,
  chmodSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { type AddressInfo, type Server, connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { findBinaries } from "../gateway/src/store/embedded-binaries.ts";
import { creation, payer } from "../soak/faults.ts";
import { type Answer, Client, operate } from "./kit/client.ts";
import { PREPARED_CLUSTER, Service, freePort, gerbang } from "./kit/service.ts";

const folder = mkdtempSync(join(tmpdir(), "failover-"));
const clusters = { primary: join(folder, "primary"), standby: join(folder, "standby") };
const servers = new Map<keyof typeof clusters, { process: ChildProcess; port: number }>();
let passwords: { owner: string; service: string };
/** The port to which the address leads. */
let target: number;
let address: Server;
let service: Service;
let client: Client;

const ownerUrl = (port: number): string => `postgres://postgres:${passwords.owner}@127.0.0.1:${port}/gerbang`;

async function asOwner<T>(port: number, work: (owner: pg.Client) => Promise<T>): Promise<T> {
  const owner = new pg.Client({ connectionString: ownerUrl(port) });
  owner.on("error", () => undefined); // a server that is killed fails the statement too
  await owner.connect();
  try {
    return await work(owner);
  } finally {
    await owner.end();
  }
}

const logOf = (name: keyof typeof clusters): string => join(folder, `${name}.log`);

async function startServer(name: keyof typeof clusters, settings: Record<string, string>): Promise<number> {
  const { uid, gid } = statSync(clusters[name]);
  const user = process.getuid?.() === 0 ? { uid, gid } : {};
  const { postgres } = await findBinaries(process.getuid?.() === 0 ? { uid, gid } : undefined);
  const port = await freePort();
  const usual = {
    listen_addresses: "127.0.0.1",
    unix_socket_directories: "",
    shared_buffers: "64MB",
    max_connections: "120", // no less than where the cluster was prepared, or it does not follow
  };
  const flags = Object.entries({ ...usual, ...settings }).flatMap(([key, value]) => ["-c", `${key}=${value}`]);
  const child = spawn(postgres, ["-D", clusters[name], "-p", String(port), ...flags], {
    ...user,
    cwd: clusters[name],
    stdio: ["ignore", "ignore", openSync(logOf(name), "a")],
  });
  servers.set(name, { process: child, port });
  await vi.waitFor(
    () => {
      if (child.exitCode !== null) throw new Error(readFileSync(logOf(name), "utf8"));
      return asOwner(port, (owner) => owner.query("select 1"));
    },
    { timeout: 30_000, interval: 50 },
  );
  return port;
}

beforeAll(async () => {
  chmodSync(folder, 0o711); // when root starts PostgreSQL, it runs as another user, who must reach its files
  const prepared = process.env[PREPARED_CLUSTER];
  if (prepared === undefined) throw new Error(`${PREPARED_CLUSTER} is not set`);
  passwords = JSON.parse(readFileSync(join(prepared, "gerbang.json"), "utf8"));
  for (const cluster of Object.values(clusters)) execFileSync("cp", ["-a", prepared, cluster]);
  const primary = await startServer("primary", { synchronous_standby_names: "standby" });
  const settings = `host=127.0.0.1 port=${primary} user=postgres password=${passwords.owner} application_name=standby`;
  appendFileSync(join(clusters.standby, "postgresql.auto.conf"), `primary_conninfo = '${settings}'\n`);
  writeFileSync(join(clusters.standby, "standby.signal"), "");
  await startServer("standby", {});
  await vi.waitFor(
    () =>
      asOwner(primary, async (owner) => {
        const { rows } = await owner.query("select sync_state from pg_stat_replication");
        expect(rows).toEqual([{ sync_state: "sync" }]);
      }),
    { timeout: 30_000, interval: 50 },
  );
  target = primary;
  address = createServer((socket) => {
    const server = connect(target, "127.0.0.1");
    socket.pipe(server).pipe(socket);
    for (const [one, other] of [
      [socket, server],
      [server, socket],
    ] as const) {
      one.on("error", () => other.destroy());
      one.on("close", () => other.destroy());
    }
  }).listen(0, "127.0.0.1");
  await once(address, "listening");
  const { port } = address.address() as AddressInfo;
  service = await Service.start({
    env: {
      DATABASE_URL: `postgres://gerbang_service:${passwords.service}@127.0.0.1:${port}/gerbang`,
      MIGRATION_DATABASE_URL: ownerUrl(port),
    },
  });
  const { demo } = service;
  await operate(demo, "PATCH", `/merchants/${demo.merchant_id}`, { rate_limit_per_minute: 10_000_000 });
  client = new Client(demo);
});

afterAll(() => {
  for (const { process: child } of servers.values()) child.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
});
// The last hook runs first.
afterAll(async () => {
  await service.discard();
  address.close();
});

test("a synchronous standby takes over: all that was acknowledged is there, once", async () => {
  const load = { goesOn: true };
  const answers: Answer[] = [];
  /** Sends an intent until its outcome is known. Without an answer it is sent again, under the same key. */
  const insist = async (intent: { path: string; body: string; key: string }): Promise<Answer> => {
    for (;;) {
      const answer = await client.post(intent.path, intent.body, { key: intent.key });
      answers.push(answer);
      if (answer.status < 400) return answer;
      expect(["SERVICE_UNAVAILABLE", "IDEMPOTENCY_IN_PROGRESS", "SIGNATURE_REPLAYED"]).toContain(
        answer.json.error.code,
      );
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  };
  const paid = new Map<string, string>();
  const shop = async (): Promise<void> => {
    while (load.goesOn) {
      const intent = creation();
      const { json } = await insist(intent);
      await insist(payer(json.reference as string));
      paid.set(json.reference as string, intent.referenceId);
    }
  };
  const shops = Promise.all(Array.from({ length: 8 }, shop));
  await vi.waitFor(() => expect(paid.size).toBeGreaterThan(30), { timeout: 30_000 });
  const { primary, standby } = Object.fromEntries(servers) as Record<
    keyof typeof clusters,
    { process: ChildProcess; port: number }
  >;
  primary.process.kill("SIGKILL");
  await vi.waitFor(async () => expect(await service.healthy()).toBe(false), { timeout: 30_000 });
  const before = paid.size;
  await asOwner(standby.port, (owner) => owner.query("select pg_promote(true)"));
  target = standby.port;
  await vi.waitFor(async () => expect(await service.healthy()).toBe(true), { timeout: 30_000 });
  await vi.waitFor(() => expect(paid.size).toBeGreaterThan(before + 30), { timeout: 30_000 });
  load.goesOn = false;
  await shops;

  expect(answers.some(({ status }) => status === 503)).toBe(true);
  const stored = await asOwner(standby.port, (owner) =>
    owner.query<{ reference_id: string; status: string; captures: string }>(`select p.reference_id, p.status,
  (select count(*) from journals j where j.group_id = p.payment_id and j.kind = 'capture') as captures
from payments p`),
  );
  expect(stored.rows.map((row) => row.reference_id).sort()).toEqual([...paid.values()].sort());
  expect(new Set(stored.rows.map(({ status, captures }) => `${status} ${captures}`))).toEqual(new Set(["succeeded 1"]));
  const verified = await gerbang(["verify"], {
    DATABASE_URL: ownerUrl(standby.port),
    GERBANG_DATA: service.dataDirectory,
  });
  expect(verified.code, verified.stdout + verified.stderr).toBe(0);
});
