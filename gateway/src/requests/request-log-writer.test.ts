// Goal: the log holds a bounded amount, whatever comes and whatever the database does, counts what it drops, and ends when it is told to. Method: a log
// whose database the test plays.
import { setTimeout as pause } from "node:timers/promises";
import type { FastifyReply, FastifyRequest } from "fastify";
import { expect, test, vi } from "vitest";
import { systemClock } from "../ground/clock.ts";
import { newId, uuidBytes } from "../ground/ids.ts";
import { createLog } from "../ground/log.ts";
import { createMetrics } from "../ground/metrics.ts";
import type { Client, Directory } from "../merchants/directory.ts";
import type { Database, Statement } from "../store/database.ts";
import { RequestLog } from "./request-log.ts";
import { PER_SECOND } from "./request-quotas.ts";

interface Asked {
  log: RequestLog;
  /** Names of the statements that were sent, and how many rows each had. */
  sent: { name: string; rows: number }[];
  /** How many batches were sent, up to and with the first that has a request of this merchant; 0 when none has. */
  batchOf(this: void, merchant: string): number;
  count(this: void, result: string): Promise<number>;
  /** What the service's own log says. */
  said: string[];
}

const unknown: Directory["client"] = () => Promise.resolve(undefined);

function logOn(query: (statement: Statement) => Promise<unknown[]>, client = unknown): Asked {
  const sent: Asked["sent"] = [];
  const said: string[] = [];
  const batches: unknown[][] = [];
  const database = {
    query: (statement: Statement) => {
      const [first] = statement.values ?? [];
      if (statement.name === "insert requests") batches.push(statement.values ?? []);
      sent.push({ name: statement.name ?? "", rows: Buffer.isBuffer(first) ? first.readInt32BE(12) : 0 });
      return query(statement);
    },
  } as unknown as Database;
  const metrics = createMetrics();
  const directory = { client } as unknown as Directory;
  const log = new RequestLog({
    database,
    directory,
    metrics,
    log: createLog("warn", { write: (line) => void said.push((JSON.parse(line) as { msg: string }).msg) }),
  });
  const count = async (result: string): Promise<number> =>
    (await metrics.requestLog.get()).values.find(({ labels }) => labels.result === result)?.value ?? 0;
  const batchOf = (merchant: string): number =>
    1 +
    batches.findIndex((values) =>
      values.some((value) => Buffer.isBuffer(value) && value.includes(uuidBytes(merchant))),
    );
  return { log, sent, batchOf, count, said };
}

const clientOf = (merchant: string): Client =>
  ({ clientId: "ak_test_0", book: { merchantId: merchant, environment: "sandbox" } }) as Client;

/** Notes an answered request of one of so many merchants; of nobody yet, when that is undefined, who says to be `claimed`. */
function note(
  log: RequestLog,
  merchant: string | undefined,
  body = Buffer.from("{}"),
  status = 201,
  claimed = `ak_test_${"0".repeat(20)}`,
  url = "/v1/payments",
): void {
  const sender = merchant === undefined ? undefined : clientOf(merchant);
  const request = {
    id: newId("request", systemClock.now()),
    sender,
    isProven: sender !== undefined,
    method: "POST",
    url,
    begunAt: performance.now(),
    body,
    headers: { authorization: `Bearer ${claimed}` },
    raw: { headersDistinct: {} },
  } as unknown as FastifyRequest;
  log.note(request, { statusCode: status, hasHeader: () => false } as unknown as FastifyReply, "{}");
}

const merchants = Array.from({ length: 200 }, () => newId("merchant", systemClock.now()));

test("a database that hangs: at most a thousand wait, the rest is counted, and nobody is held up", async () => {
  const hanging = Promise.withResolvers<unknown[]>();
  const { log, sent, count } = logOn(() => hanging.promise);
  for (let n = 0; n < 20; n++) for (const merchant of merchants) note(log, merchant);
  expect(await count("dropped")).toBe(3_000);
  await vi.waitFor(() => expect(sent).toEqual([{ name: "insert requests", rows: 100 }]), 30_000);
  const stopped = log.stop();
  note(log, merchants[0]);
  expect(await count("dropped")).toBe(3_001);
  hanging.resolve([]);
  await stopped;
  const written = sent.filter(({ name }) => name === "insert requests").reduce((sum, { rows }) => sum + rows, 0);
  expect([written, await count("written")]).toEqual([1_000, 1_000]);
});

test("a merchant that is busy for minutes leaves room for a quiet one, whose request is in the next batch", async () => {
  let now = 0;
  const stopwatch = vi.spyOn(performance, "now").mockImplementation(() => now);
  try {
    const first = Promise.withResolvers<unknown[]>();
    const { log, sent, batchOf, count } = logOn(() => first.promise);
    const [busy = "", quiet = ""] = merchants;
    const noteSeconds = (seconds: number): void => {
      for (let second = 0; second < seconds; second++, now += 1_000)
        for (let n = 0; n < PER_SECOND; n++) note(log, busy);
    };
    noteSeconds(2);
    await vi.waitFor(() => expect(sent).toEqual([{ name: "insert requests", rows: 100 }]), 30_000);
    noteSeconds(120);
    const dropped = await count("dropped");
    note(log, quiet);
    expect([dropped, await count("dropped")]).toEqual([120 * PER_SECOND - 250, 120 * PER_SECOND - 250]);
    first.resolve([]);
    await log.stop();
    expect([batchOf(busy), batchOf(quiet), await count("written")]).toEqual([1, 2, 351]);
  } finally {
    stopwatch.mockRestore();
  }
});

test("large bodies fill it sooner: what waits has few bytes, too", async () => {
  const hanging = Promise.withResolvers<unknown[]>();
  const { log, count } = logOn(() => hanging.promise);
  const body = Buffer.from(`{"a":"${"x".repeat(8_000)}"}`);
  for (let n = 0; n < 5; n++) for (const merchant of merchants) note(log, merchant, body);
  const dropped = await count("dropped");
  expect(dropped).toBeGreaterThan(400);
  hanging.resolve([]);
  // What was written has left room.
  await vi.waitFor(async () => expect((await count("written")) + dropped).toBe(1_000), 30_000);
  note(log, merchants[0], body);
  await log.stop();
  expect([await count("dropped"), await count("written")]).toEqual([dropped, 1_001 - dropped]);
});

test("a database that refuses: what was to be written is counted as dropped, and a stop ends", async () => {
  const { log, sent, count } = logOn(() => Promise.reject(new Error("no room")));
  for (const merchant of merchants.slice(0, 5)) note(log, merchant);
  await vi.waitFor(async () => expect(await count("dropped")).toBe(5), 30_000);
  await log.stop();
  expect(await count("written")).toBe(0);
  expect(sent.map(({ name }) => name)).toContain("add gaps of the request log");
});

test("an outage is warned of once, however often a write fails, and the next one again", async () => {
  let isAway = true;
  const { log, sent, count, said } = logOn(() => (isAway ? Promise.reject(new Error("no room")) : Promise.resolve([])));
  const failing = async (more: number): Promise<void> => {
    const before = sent.length;
    while (sent.length < before + more) {
      note(log, merchants[0]);
      await pause(5);
    }
  };
  const warning = "the portal's list of requests could not be written";
  await failing(4);
  expect(said).toEqual([warning]);
  isAway = false;
  note(log, merchants[1]);
  await vi.waitFor(async () => expect(await count("written")).toBeGreaterThan(0), 30_000);
  isAway = true;
  await failing(4);
  await log.stop();
  expect(said).toEqual([warning, warning]);
});

test.each([
  ["its rows", ["known", "stranger"], 1, ["insert requests", "add gaps of the request log"]],
  ["a look-up", ["known", "stranger", "away", "known"], 3, ["add gaps of the request log"]],
])("a database that refuses %s: who was not looked up yet is counted, too, once", async (_, claims, dropped, names) => {
  const ids: Record<string, string> = { known: "1".repeat(20), stranger: "2".repeat(20), away: "3".repeat(20) };
  const { log, sent, count } = logOn(
    () => Promise.reject(new Error("no room")),
    async (clientId) => {
      if (clientId.endsWith(ids.away ?? "")) throw new Error("no answer");
      return clientId.endsWith(ids.known ?? "") ? clientOf(merchants[0] ?? "") : undefined;
    },
  );
  for (const claim of claims) note(log, undefined, Buffer.from("{}"), 401, `ak_test_${ids[claim]}`);
  await log.stop();
  expect([await count("dropped"), sent.map(({ name }) => name)]).toEqual([dropped, names]);
});

test("a busy merchant has its share of a second, for successes and for refusals; a quiet one has its own", async () => {
  const { log, count } = logOn(() => Promise.resolve([]));
  const [busy = "", quiet = ""] = merchants;
  const second = Math.floor(performance.now() / 1_000);
  for (let n = 0; n < PER_SECOND + 10; n++) note(log, busy);
  note(log, busy, Buffer.from("{}"), 422);
  note(log, quiet);
  if (Math.floor(performance.now() / 1_000) === second) expect(await count("dropped")).toBe(10);
  await log.stop();
  expect((await count("written")) + (await count("dropped"))).toBe(PER_SECOND + 12);
});

test.each([
  ["is looked up so often in a minute", 401, 130, 120],
  ["is not looked up for what succeeded", 200, 1, 0],
  ["nor for one request too many", 429, 1, 0],
])("whoever only says who they are %s", async (_what, status, sent, most) => {
  let lookedUp = 0;
  const client = async () => void lookedUp++;
  const { log } = logOn(() => Promise.resolve([]), client);
  const stopwatch = vi.spyOn(performance, "now").mockReturnValue(0); // all in one minute
  try {
    for (let n = 0; n < sent; n++) note(log, undefined, undefined, status);
    await log.stop();
    expect(lookedUp).toBe(most);
  } finally {
    stopwatch.mockRestore();
  }
});

test("whoever reads the log finds no good answer of it there, and every refusal", async () => {
  const { log, count } = logOn(() => Promise.resolve([]));
  for (const list of ["/v1/sandbox/requests", "/v1/sandbox/requests?limit=5"])
    for (const status of [200, 422]) note(log, merchants[0], undefined, status, undefined, list);
  note(log, merchants[0], undefined, 200, undefined, "/v1/sandbox/requests/req_1");
  await log.stop();
  expect(await count("written")).toBe(3);
});

test("what is dropped while a gap is written in vain is told together with it", async () => {
  const refusal = Promise.withResolvers<unknown[]>();
  const gaps = "add gaps of the request log";
  const { log, sent, count } = logOn(({ name }) => (name === gaps ? refusal.promise : Promise.resolve([])));
  for (let n = 0; n < 3 * PER_SECOND; n++) note(log, merchants[0]);
  const stopped = log.stop();
  await vi.waitFor(() => expect(sent.map(({ name }) => name)).toContain(gaps), 30_000);
  note(log, merchants[0]);
  refusal.reject(new Error("no room"));
  await stopped;
  const left = [...(Reflect.get(log, "gaps") as Map<string, unknown>).values()];
  expect(left).toMatchObject([{ dropped: await count("dropped"), unproven: 0 }]);
});
