// Goal: a signature is used once and requests are counted together, whether one process takes requests alone and remembers by itself,
// or several do; and nothing is lost where one becomes the other. Method: services on one database, that come, go and die.
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { type Answer, Client } from "../../../e2e/kit/client.ts";
import {
  type TestService,
  asOwner,
  cloneDatabase,
  makeApp,
  openDatabase,
  paymentBody,
  startService,
} from "../../test/kit.ts";
import { systemClock } from "../ground/clock.ts";
import { uuidOf } from "../ground/ids.ts";
import { createLog } from "../ground/log.ts";
import type { Client as KnownClient } from "../merchants/directory.ts";
import type { Database, Statement } from "../store/database.ts";
import { SettingsWatch } from "../store/settings-watch.ts";
import { Admission, type Admitted, type AdmissionParts } from "./admission.ts";
import type { Use } from "./used-signatures.ts";

let service: TestService;
const more: TestService[] = [];
const start = async (): Promise<TestService> => {
  const started = await startService({ database: service.database, roles: ["api"] });
  more.push(started);
  return started;
};

beforeAll(async () => {
  service = await startService({ roles: ["api"] });
});
afterAll(() => Promise.all([service, ...more].map((one) => one.stop())));

const outcome = ({ status, json }: Answer): string => (status < 300 ? `${status}` : `${status} ${json.error.code}`);
const at = (instance: TestService, by: Client): Client =>
  new Client({ ...by.credentials, base_url: `${instance.origin}/v1` });

/** A signed request that can be sent again, byte for byte. */
function request(by: Client, body?: string): (instance: TestService, key?: string) => Promise<string> {
  const headers = {
    ...by.headers(body ?? ""),
    ...(body !== undefined && { "content-type": "application/json", "idempotency-key": crypto.randomUUID() }),
  };
  const [method, path] = body === undefined ? ["GET", "/v1/balances"] : ["POST", "/v1/payments"];
  return async (instance, key) =>
    outcome(
      await at(instance, by).send(method, path, body, {
        ...headers,
        ...(key !== undefined && { "idempotency-key": key }),
      }),
    );
}
const payment = (): string => JSON.stringify(paymentBody());
const stored = (): Promise<number> =>
  asOwner(service.database, async (owner) => {
    const { rows } = await owner.query("select count(*)::int as n from seen_signatures");
    return rows[0].n as number;
  });
const processes = (): Promise<boolean[]> =>
  asOwner(service.database, async (owner) => {
    const { rows } = await owner.query("select alone from api_processes order by alone");
    return rows.map(({ alone }) => alone as boolean);
  });
async function until(check: () => Promise<boolean>, ms: number): Promise<void> {
  for (const end = performance.now() + ms; !(await check());) {
    if (performance.now() > end) throw new Error("it did not come to be");
    await pause(25);
  }
}

test("alone: a use is good once; what had an effect is written down with it, and what had none is not", async () => {
  const { client } = await service.merchant();
  expect(await processes()).toEqual([true]);
  const before = await stored();
  const [read, broken, write] = [request(client), request(client, "{}"), request(client, payment())];
  expect(await read(service)).toBe("200");
  expect(await broken(service)).toBe("422 INVALID_AMOUNT");
  expect(await stored()).toBe(before);
  expect(await write(service)).toBe("201");
  expect(await stored()).toBe(before + 1);
  for (const again of [read, broken, write]) expect(await again(service)).toBe("401 SIGNATURE_REPLAYED");
  expect(await write(service, "another-key")).toBe("401 SIGNATURE_REPLAYED");
});

test("alone: of one signature sent many times at once, one request gets through", async () => {
  const { client } = await service.merchant();
  const [read, write] = [request(client), request(client, payment())];
  for (const [send, good] of [
    [read, "200"],
    [write, "201"],
  ] as const) {
    const outcomes = await Promise.all(Array.from({ length: 20 }, (_, index) => send(service, `attempt-${index}`)));
    expect(outcomes.filter((text) => text === good)).toHaveLength(1);
    expect(outcomes.filter((text) => text === "401 SIGNATURE_REPLAYED")).toHaveLength(19);
  }
});

test("alone: a use that the database knows from elsewhere has no effect, and neighbours never notice", async () => {
  const { client, merchantId } = await service.merchant();
  const bodies = Array.from({ length: 6 }, payment);
  const sends = bodies.map((body) => request(client, body));
  // As a process would that nobody knows of: the third one's signature is there just before its commit.
  const late = client.headers(bodies[2] as string);
  await asOwner(service.database, (owner) =>
    owner.query("insert into seen_signatures (merchant_id, valid_until, digest) values ($1, $2, $3)", [
      uuidOf(merchantId),
      Number(late["x-timestamp"]) + 300,
      (late["x-signature"] as string).slice(0, 32),
    ]),
  );
  const third = at(service, client).send("POST", "/v1/payments", bodies[2], {
    ...late,
    "content-type": "application/json",
    "idempotency-key": "third-of-them",
  });
  const others = sends.filter((_, index) => index !== 2).map((send) => send(service));
  expect(outcome(await third)).toBe("401 SIGNATURE_REPLAYED");
  expect(await Promise.all(others)).toEqual(Array.from({ length: 5 }, () => "201"));
  const list = await client.get("/v1/payments?limit=100");
  expect(list.json.data).toHaveLength(5);
  // Its key is free: the same intent under a signature of its own goes through.
  expect(outcome(await client.post("/v1/payments", bodies[2], { key: "third-of-them" }))).toBe("201");
});

test("a second process knows from its first moment what the first one used and counted; both go on together", async () => {
  const { client } = await service.merchant({ settings: { rate_limit_per_minute: 1_000 } });
  const before = [request(client), request(client, "{}"), request(client, payment())];
  for (const send of before) await send(service);
  const counted = Number((await client.get("/v1/balances")).headers.get("x-ratelimit-remaining"));
  const other = await start();
  expect(await processes()).toEqual([false, false]);
  for (const send of before) expect(await send(other)).toBe("401 SIGNATURE_REPLAYED");
  const answer = await at(other, client).get("/v1/balances");
  const counts = Number(answer.headers.get("x-ratelimit-remaining"));
  if (Number(answer.headers.get("x-ratelimit-reset")) * 1000 - Date.now() < 58_000) expect(counts).toBe(counted - 4);
  for (const send of [request(client), request(client, payment())]) {
    expect(await send(other)).toMatch(/^20/);
    expect(await send(service)).toBe("401 SIGNATURE_REPLAYED");
  }
  // The other one leaves: the first is alone again, and still knows what was used in the other's time.
  const [read, write] = [request(client), request(client, payment())];
  for (const send of [read, write]) expect(await send(other)).toMatch(/^20/);
  await other.stop();
  more.length = 0;
  await until(async () => (await processes()).join() === "true", 3_000);
  for (const send of [read, write, ...before]) expect(await send(service)).toBe("401 SIGNATURE_REPLAYED");
  expect(await request(client)(service)).toBe("200");
});

test("requests keep coming while another process joins: none is refused or used twice", async () => {
  const { client } = await service.merchant();
  let going = true;
  const outcomes: string[] = [];
  const replays: Promise<string>[] = [];
  let other: TestService | undefined;
  const lines = Array.from({ length: 8 }, async (_, line) => {
    // oxlint-disable-next-line no-unmodified-loop-condition -- the test ends it from outside
    while (going) {
      const send = request(client, line % 2 === 0 ? payment() : undefined);
      // oxlint-disable-next-line no-await-in-loop -- one after another, as a client's connection does
      outcomes.push(await send(service));
      if (other) replays.push(send(other));
    }
  });
  await pause(200);
  other = await start();
  await pause(300);
  going = false;
  await Promise.all(lines);
  expect(outcomes.length).toBeGreaterThan(50);
  // Of one second and one target the reads of two lines may be the same request.
  expect(new Set(outcomes)).toEqual(new Set(["200", "201", ...outcomes.filter((text) => text.includes("REPLAYED"))]));
  const again = await Promise.all(replays);
  expect(again.length).toBeGreaterThan(0);
  expect(new Set(again)).toEqual(new Set(["401 SIGNATURE_REPLAYED"]));
  await other.stop();
  more.length = 0;
  await until(async () => (await processes()).join() === "true", 3_000);
});

test("after a restart a write that had an effect is still known", async () => {
  const { client } = await service.merchant();
  const write = request(client, payment());
  expect(await write(service)).toBe("201");
  await service.stop();
  service = await startService({ database: service.database, roles: ["api"] });
  expect(await processes()).toEqual([true]);
  expect(await write(service)).toBe("401 SIGNATURE_REPLAYED");
  expect(await write(service, "another-key")).toBe("401 SIGNATURE_REPLAYED");
});

test("who comes waits for one that has died alone, as long as it may be alive", async () => {
  const database = await cloneDatabase();
  await asOwner(database, (owner) =>
    owner.query(
      "insert into api_processes values (gen_random_uuid(), clock_timestamp() + interval '1.5 seconds', true)",
    ),
  );
  const begun = performance.now();
  const started = await startService({ database, roles: ["api"] });
  expect(performance.now() - begun).toBeGreaterThan(1_400);
  await until(
    () =>
      asOwner(database, async (owner) => {
        const { rows } = await owner.query("select alone from api_processes");
        return rows.length === 1 && rows[0].alone === true;
      }),
    3_000,
  );
  await started.stop();
  await asOwner(database, async (owner) => {
    expect((await owner.query("select from api_processes")).rowCount).toBe(0);
  });
});

test("one that others took for gone writes down what it knew, and is one of many", async () => {
  const { client } = await service.merchant();
  const read = request(client);
  expect(await read(service)).toBe("200");
  const before = await stored();
  await asOwner(service.database, async (owner) => {
    await owner.query("delete from api_processes");
    await owner.query(
      "insert into api_processes values (gen_random_uuid(), clock_timestamp() + interval '3 seconds', false)",
    );
  });
  await until(async () => (await stored()) > before && (await processes()).join() === "false,false", 3_000);
  expect(await read(service)).toBe("401 SIGNATURE_REPLAYED");
  await until(async () => (await processes()).join() === "true", 6_000);
});

test("while another one may be alone, one that was taken for gone takes no request", async () => {
  const { client } = await service.merchant();
  await asOwner(service.database, async (owner) => {
    await owner.query("delete from api_processes");
    await owner.query(
      "insert into api_processes values (gen_random_uuid(), clock_timestamp() + interval '4 seconds', true)",
    );
  });
  await until(async () => (await request(client)(service)) === "503 SERVICE_UNAVAILABLE", 5_000);
  await until(async () => (await request(client)(service)) === "200", 6_000);
  await until(async () => (await processes()).join() === "true", 3_000);
});

test("what acts outside before it is kept uses its signature up for everybody first", async () => {
  const { client } = await service.merchant();
  const before = await stored();
  const answer = await client.post("/v1/sandbox/webhook/exam", {});
  expect(answer.json.error.code).toBe("OBJECT_NOT_FOUND"); // there is no receiver to examine
  expect(await stored()).toBe(before + 1);
});

test("two that think themselves alone are refused by the database", async () => {
  const database = await cloneDatabase();
  await asOwner(database, async (owner) => {
    const enter = (): Promise<unknown> =>
      owner.query("insert into api_processes values (gen_random_uuid(), clock_timestamp(), true)");
    await enter();
    await expect(enter()).rejects.toMatchObject({ code: "23505" });
  });
});

test("many that start at once agree: one is alone at most, and all know of each other in the end", async () => {
  const database = await cloneDatabase();
  const all = await Promise.all(Array.from({ length: 5 }, () => startService({ database, roles: ["api"] })));
  const rows = (): Promise<boolean[]> =>
    asOwner(database, async (owner) =>
      (await owner.query("select alone from api_processes")).rows.map(({ alone }) => alone as boolean),
    );
  expect(await rows()).toEqual([false, false, false, false, false]);
  await Promise.all(all.map((one) => one.stop()));
  expect(await rows()).toEqual([]);
});

/** Admission by itself, on a database of its own. */
async function admissionAlone(
  rememberedMax?: number,
  on?: Database,
): Promise<{
  admission: Admission;
  parts: AdmissionParts;
  database: Database;
  admit: (use: Use, kind?: "read" | "write") => Promise<Admitted>;
  uses: Use[];
  count: (table: string) => Promise<number>;
}> {
  const database = on ?? openDatabase(await cloneDatabase());
  const log = createLog("silent");
  const watch = new SettingsWatch(database, log);
  const parts = { database, clock: systemClock, log, watch, ...(rememberedMax && { rememberedMax }) };
  const admission = new Admission(parts);
  const client = {
    clientId: "ak_test_1",
    merchant: { merchantId: `mer_${"0".repeat(26)}`, rateLimitPerMinute: 100 },
  } as KnownClient;
  const uses = Array.from({ length: 6 }, (_, index) => ({
    merchantId: client.merchant.merchantId,
    validUntil: Math.floor(systemClock.now() / 1_000_000) + 300,
    digest: `${index}`.repeat(32),
  }));
  return {
    admission,
    parts,
    database,
    uses,
    admit: async (use, kind = "read") => admission.admit(client, use, kind),
    async count(table) {
      const [row] = await database.query<{ n: bigint }>({ text: `select count(*) as n from ${table}` });
      return Number(row?.n);
    },
  };
}
const another = (alone: boolean): Statement => ({
  text: `insert into api_processes values (gen_random_uuid(), clock_timestamp() + interval '4 seconds', ${alone})`,
});

test("what a command owes is not handed over before it, not even when the same signature comes again", async () => {
  const { admission, database, admit, uses, count } = await admissionAlone();
  await admission.start();
  const [use] = uses as [Use];
  const { owed } = await admit(use, "write");
  await database.query(another(false));
  await until(() => Promise.resolve(!admission.alone), 3_000);
  expect(await admit(use, "write")).toMatchObject({ replayed: true });
  await pause(200);
  expect(await count("seen_signatures")).toBe(0); // the command's insert would be refused
  owed?.settle();
  await until(async () => (await count("seen_signatures")) === 1, 3_000);
  await until(async () => (await count("api_processes where alone")) === 0, 3_000);
  expect(await admit(use, "write")).toMatchObject({ replayed: true });
  await admission.stop();
  await database.end();
});

test("who is left alone knows what was used where it took no part", async () => {
  const { admission, database, admit, uses } = await admissionAlone();
  const other = await admissionAlone(undefined, database);
  await admission.start();
  await Promise.all([other.admission.start(), until(() => Promise.resolve(!admission.alone), 3_000)]);
  for (const kind of ["read", "write"] as const) {
    expect(await other.admit(uses[kind === "read" ? 0 : 1] as Use, kind)).toMatchObject({ replayed: false });
  }
  await other.admission.stop();
  await until(() => Promise.resolve(admission.alone), 3_000);
  for (const kind of ["read", "write"] as const) {
    expect(await admit(uses[kind === "read" ? 0 : 1] as Use, kind)).toMatchObject({ replayed: true });
  }
  await admission.stop();
  await database.end();
});

test("who is told to stop while it waits for another process stops", async () => {
  const { parts, database, count } = await admissionAlone();
  await database.query(another(true));
  for (const ms of [0, 200]) {
    const stopped = new Admission(parts);
    const starting = expect(stopped.start()).rejects.toThrow("stopped");
    await pause(ms);
    await stopped.stop();
    await starting;
    expect(await count("api_processes")).toBe(1); // the other one
  }
  await database.end();
});

test("a service that is told to stop before it began begins nothing", async () => {
  const database = await cloneDatabase();
  await asOwner(database, (owner) => owner.query(another(true).text));
  const app = makeApp({ database });
  const starting = expect(app.start()).rejects.toThrow("stopped");
  await pause(300);
  const asked = vi.spyOn(app.database.pool, "connect");
  await app.stop();
  await starting;
  asked.mockClear();
  await pause(1_500); // as long as workers rest at most
  expect(asked).not.toHaveBeenCalled();
});

test("when memory is full uses go to the database, and are known in either place", async () => {
  const { admission, database, admit, uses, count } = await admissionAlone(3);
  await admission.start();
  for (const [index, use] of uses.entries()) {
    expect(await admit(use)).toMatchObject({ replayed: false, count: index + 1 });
  }
  expect(await count("seen_signatures")).toBe(3);
  for (const use of uses) expect(await admit(use)).toMatchObject({ replayed: true });
  await admission.stop();
  const [counted] = await database.query<{ requests: bigint }>({
    text: "select sum(requests) as requests from rate_windows",
  });
  expect(Number(counted?.requests)).toBeGreaterThanOrEqual(6);
  await database.end();
});
