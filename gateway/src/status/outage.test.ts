// Goal: the status page answers while the database does not, says so, and shows the outage afterwards. Method: a PostgreSQL of the test's own under a
// whole service, stopped for real, and started again.
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { type TestDatabase, type TestService, asOwner, startService } from "../../test/kit.ts";
import { PostgresServer } from "../../test/postgres-server.ts";
import { MINUTE, SECOND, systemClock } from "../ground/clock.ts";
import { createLog } from "../ground/log.ts";
import { Database } from "../store/database.ts";
import { migrate } from "../store/migrations.ts";
import { Measuring } from "./measuring.ts";
import { minuteOf } from "./minutes.ts";
import { statusSchema } from "./status.schema.ts";
import { countDays } from "./status.sql.ts";
import { slowness, waiting } from "../../test/slowness.ts";

let folder: string;
let server: PostgresServer;
let place: TestDatabase;
let service: TestService;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "gerbang-status-"));
  chmodSync(folder, 0o711);
  server = await PostgresServer.start(join(folder, "postgres"));
  const url = server.adminUrl();
  await migrate(url);
  place = { name: "postgres", url, ownerUrl: url };
  service = await startService({ database: place, config: { statusUrl: "https://status.example.com" } });
});
afterAll(async () => {
  await service.stop();
  server.stop();
  rmSync(folder, { recursive: true, force: true });
});

const get = async (path: string) => {
  const answer = await fetch(service.origin + path, { headers: { "accept-language": "en" } });
  expect(answer.status).toBe(200);
  return { text: await answer.text(), kept: answer.headers.get("cache-control") };
};
const shown = async () => statusSchema.parse(JSON.parse((await get("/status.json")).text));

test("without its database the service tells what it knows, and that its API is down", async () => {
  const incident = { title: "Work at the database", impact: "none", components: [], message: "It may go." };
  await service.operate("POST", "/incidents", incident);
  await vi.waitFor(async () => expect((await shown()).incidents).toHaveLength(1), { timeout: 30_000, interval: 200 });

  server.stop();
  const told = await vi.waitFor(
    async () => {
      const status = await shown();
      expect(status.from_memory).toBe(true);
      return status;
    },
    { timeout: 30_000, interval: 200 },
  );
  expect(told.state).toBe("outage");
  expect(told.components[0]).toMatchObject({ component: "api", state: "outage", measured: "outage" });
  expect(told.components.find(({ component }) => component === "qris")?.state).toBe("operational");
  expect(told.incidents.map(({ title }) => title)).toEqual(["Work at the database"]);
  let page: Awaited<ReturnType<typeof get>> | undefined;
  expect(await waiting(async () => (page = await get("/status")))).toBeLessThan(2_000 * slowness());
  expect(page?.text).toContain("The database is not answering.");
  expect(page?.text).toContain("Some parts are down");
  expect(page?.kept).toBe("public, max-age=2");
  expect((await get("/status.rss")).text).toContain("Work at the database");
  // Where a status page of another address is configured, errors point there.
  const health = await fetch(`${service.origin}/v1/payments`, {
    headers: { authorization: `Bearer ak_test_${"0".repeat(26)}`, "x-timestamp": "1", "x-signature": "0".repeat(64) },
  });
  expect(health.headers.get("link")).toBe('<https://status.example.com>; rel="status"');

  server.boot();
  await vi.waitFor(async () => expect((await shown()).from_memory).toBe(false), { timeout: 30_000, interval: 200 });
});

test("an outage that nobody could write down is in the days afterwards", async () => {
  const database = new Database(place.url, 2, createLog("silent"));
  let now = minuteOf(systemClock.now()) - 20 * MINUTE;
  const first = now;
  const measuring = new Measuring({
    database,
    clock: { now: () => now },
    log: createLog("silent"),
    routingTable: () => ({ version: 1, rules: [], acquirers: [], states: new Map() }),
    acquirer: () => undefined,
    environment: () => "sandbox",
    works: false,
  });
  const turn = (isWell: boolean) => ({ probe: async () => isWell, refresh: async () => undefined });
  for (let at = 0; at < 6; at++, now += 10 * SECOND) await measuring.tick(turn(true));
  server.stop();
  for (let at = 0; at < 18; at++, now += 10 * SECOND) await measuring.tick(turn(false));
  server.boot();
  for (let at = 0; at < 6; at++, now += 10 * SECOND) await measuring.tick(turn(true));
  await measuring.write();
  const counted = await asOwner(place, async (owner) => {
    const { rows } = await owner.query<{ minute: Date; component: string; good: number; bad: number }>(
      "select minute, component, good, bad from status_minutes where minute >= to_timestamp($1) and minute < to_timestamp($2) order by 1",
      [first / SECOND, now / SECOND],
    );
    return (component: string) => rows.filter((row) => row.component === component).map(({ good, bad }) => [good, bad]);
  });
  expect(counted("api")).toEqual([
    [6, 0],
    [0, 6],
    [0, 6],
    [0, 6],
    [6, 0],
  ]);
  expect(counted("webhooks").map(([, bad]) => bad)).toEqual([0, 1, 1, 1, 0]);
  expect(counted("settlements").map(([, bad]) => bad)).toEqual([0, 1, 1, 1, 0]);
  await asOwner(place, (owner) => owner.query("delete from status_days"));
  await database.query(countDays);
  const days = await asOwner(place, async (owner) => {
    const text = "select sum(outage)::int as outage from status_days where component = 'api'";
    return (await owner.query<{ outage: number }>(text)).rows[0]?.outage;
  });
  expect(days).toBeGreaterThanOrEqual(3);
  await database.end();
});
