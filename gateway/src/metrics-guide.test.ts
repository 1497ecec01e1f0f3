// Goal: the guide has a row for each meter, true to the registry, and meters of the process tell what it does.
// Method: the registry of a whole service beside the guide's table; a service whose pool, listeners and stop are looked at.
import { readFileSync } from "node:fs";
import type { Gauge } from "prom-client";
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { failStatements } from "../test/failing-statements.ts";
import { type TestService, asOwner, makeApp, openDatabase, paymentBody, startService } from "../test/kit.ts";
import { joins } from "../test/portal.ts";
import { createLog } from "./ground/log.ts";
import { version } from "./ground/version.ts";
import { countCommitted, rollUpAge } from "./insights/roll-up.ts";
import { DatabaseClock } from "./store/database-clock.ts";
import { Meters } from "./telemetry/meters.ts";

let service: TestService;
beforeAll(async () => {
  service = await startService({ roles: ["api"] });
});
afterAll(() => service.stop());

interface Meter {
  name: string;
  help: string;
  type: string;
  labelNames: string[];
}

const rowOf = ({ name, help, type, labelNames }: Meter): string =>
  `| \`${name}\` | ${type} | ${labelNames.map((label) => `\`${label}\``).join(", ")} | ${help} |`;

test("the guide has a row for each meter, with its type, labels and meaning, and none for anything else", async () => {
  const whole = makeApp({ database: service.database });
  const meters = whole.metrics.registry.getMetricsAsArray() as unknown as Meter[];
  const own = meters.filter(({ name }) => name.startsWith("gerbang_")).map(rowOf);
  const guide = readFileSync(new URL("../../docs/guides/observability.md", import.meta.url), "utf8");
  const rows = [...guide.matchAll(/^(\| `gerbang_\w+` \|[^|]*\|[^|]*\|[^|]*\|)(.*)\|$/gm)];
  const squeezed = (row: string): string => row.replaceAll(/ +/g, " ");
  expect(rows.map(([, row = ""]) => squeezed(row)).sort()).toEqual(own.map(squeezed).sort());
  for (const [row, , look = ""] of rows)
    expect(look.trim().length, `${row} says when to look into it`).toBeGreaterThan(0);
  expect(own.length).toBeGreaterThan(20);
  await whole.stop();
});

/** The values of a meter by the value of its only label, or under "". */
async function read(name: string): Promise<Record<string, number>> {
  const meter = service.app.metrics.registry.getSingleMetric(name) as unknown as Gauge;
  const { values } = await meter.get();
  return Object.fromEntries(values.map(({ labels, value }) => [Object.values(labels).join(" "), value]));
}

test("what runs stands in the labels of one meter", async () => {
  expect(await read("gerbang_build_info")).toEqual({ [`${version} ${process.version}`]: 1 });
});

test("connections are counted by what they do, and so is whoever waits for one", async () => {
  const { pool } = service.app.database;
  const held = await Promise.all(Array.from({ length: 16 }, () => pool.connect()));
  const late = pool.connect();
  try {
    expect(await read("gerbang_database_connections")).toMatchObject({ "main busy": 16, "main idle": 0 });
    expect((await read("gerbang_database_waiting")).main).toBeGreaterThanOrEqual(1);
    // Of the others at most what the service asks for by itself.
    await vi.waitFor(async () => {
      expect(await read("gerbang_database_connections")).toMatchObject({ "portal busy": 0, "operators busy": 0 });
      expect(await read("gerbang_database_waiting")).toMatchObject({ portal: 0, operators: 0 });
    }, 30_000);
  } finally {
    for (const connection of held) connection.release();
    (await late).release();
  }
  await vi.waitFor(async () => {
    expect((await read("gerbang_database_connections"))["main idle"]).toBeGreaterThan(10);
    expect(await read("gerbang_database_waiting")).toEqual({ main: 0, portal: 0, operators: 0 });
  }, 30_000);
});

test("open streams and waits for events are counted while they last", async () => {
  const { client, merchantId } = await service.merchant();
  const browser = await joins(service, merchantId);
  expect(await read("gerbang_listeners")).toEqual({ stream: 0, poll: 0 });
  const { json } = await client.get("/v1/sandbox/events/listen");
  const waiting = client.get(`/v1/sandbox/events/listen?after=${json.next_after}&wait=20`);
  const ending = new AbortController();
  const stream = await fetch(`${service.origin}/portal/v1/stream`, {
    signal: ending.signal,
    headers: { cookie: browser.cookie ?? "", "x-merchant-id": merchantId, "x-environment": "sandbox" },
  });
  expect(stream.status).toBe(200);
  await vi.waitFor(async () => expect(await read("gerbang_listeners")).toEqual({ stream: 1, poll: 1 }), 30_000);
  ending.abort();
  await stream.text().catch(() => undefined);
  await client.post("/v1/payments", paymentBody());
  await waiting;
  await vi.waitFor(async () => expect(await read("gerbang_listeners")).toEqual({ stream: 0, poll: 0 }), 30_000);
});

test("the age of the roll-up is the time since it last moved, whatever is still to be counted", async () => {
  const database = openDatabase(service.database, 2);
  expect(await rollUpAge(database)).toBeUndefined();
  await countCommitted(database, createLog("silent"));
  expect(await rollUpAge(database)).toBeLessThan(5);
  await asOwner(service.database, (owner) =>
    owner.query("update roll_ups set counted_at = counted_at - interval '90 s'"),
  );
  expect(await rollUpAge(database)).toBeGreaterThanOrEqual(90);
  await database.end();
});

test("a round of the worker that fails is counted under its loop", async () => {
  const worker = await startService({ roles: ["worker"], database: service.database });
  const broken = vi.spyOn(worker.app.database, "transaction").mockRejectedValue(new Error("out of order"));
  await vi.waitFor(async () => {
    expect(await worker.app.metrics.registry.metrics()).toMatch(
      /gerbang_worker_rounds_failed_total\{loop="roll-up"\} [1-9]/,
    );
  }, 30_000);
  broken.mockRestore();
  await worker.stop();
});

const workerGauges = ["gerbang_webhook_oldest_due_seconds", "gerbang_roll_up_age_seconds"];

test("ages that a worker measures are absent from a process without that role", async () => {
  const text = await service.app.metrics.registry.metrics();
  for (const name of workerGauges) {
    expect(await read(name)).toEqual({});
    expect(text).not.toMatch(new RegExp(`^${name} `, "m"));
  }
});

test("an age that cannot be measured is no number, is on record as 0, and is measured again afterwards", async () => {
  // The worker's rounds are seconds apart; here they come as fast as they are waited for.
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  const worker = await startService({ roles: ["worker"], database: service.database });
  onTestFinished(async () => {
    vi.useRealTimers();
    await worker.stop();
  });
  const { registry } = worker.app.metrics;
  const at = (name: string): Promise<number | undefined> =>
    (registry.getSingleMetric(name) as unknown as Gauge).get().then(({ values }) => values[0]?.value);
  const all = (expected: unknown): Promise<void> =>
    vi.waitFor(async () => {
      vi.advanceTimersByTime(1_000);
      for (const name of workerGauges) expect(await at(name), name).toEqual(expected);
    }, 30_000);
  const anAge = expect.toSatisfy((age) => typeof age === "number" && age >= 0);
  await all(anAge);
  const broken = failStatements(worker.app.database.pool, "57P03", (text) => /as seconds\s+from/.test(text));
  await all(NaN);
  expect(await registry.metrics()).toMatch(/^gerbang_roll_up_age_seconds nan$/im);
  expect((await new Meters(registry).read(0)).peaks).toMatchObject({
    delivery_oldest_seconds: 0,
    roll_up_age_seconds: 0,
  });
  broken.restore();
  await all(anAge);
});

test("a process is ready on its meters exactly while /readyz answers 200", async () => {
  const both = async (): Promise<unknown[]> => [
    (await fetch(`${service.origin}/readyz`)).status,
    await read("gerbang_ready"),
  ];
  expect(await both()).toEqual([200, { "": 1 }]);
  const silent = vi.spyOn(DatabaseClock.prototype, "hears", "get").mockReturnValue(false);
  onTestFinished(() => silent.mockRestore());
  expect(await both()).toEqual([503, { "": 0 }]);
  silent.mockRestore();
  expect(await both()).toEqual([200, { "": 1 }]);
});

test("a stop shows, until the process has gone", async () => {
  expect(await read("gerbang_draining")).toEqual({ "": 0 });
  service.app.drain();
  expect([await read("gerbang_draining"), await read("gerbang_ready")]).toEqual([{ "": 1 }, { "": 0 }]);
});
