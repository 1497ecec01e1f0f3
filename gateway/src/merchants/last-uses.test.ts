// Goal: a credential's last use is written down soon, in few statements, by several processes in any order, and never holds a request up. Method:
// notes against a real database, and against one that is away.
import { afterAll, beforeAll, expect, test } from "vitest";
import { type TestService, openDatabase, startService } from "../../test/kit.ts";
import { SECOND } from "../ground/clock.ts";
import { createLog } from "../ground/log.ts";
import type { Database } from "../store/database.ts";
import type { Client } from "./directory.ts";
import { LastUses } from "./last-uses.ts";

let service: TestService;
let database: Database;
let client: Client;
let merchantId: string;
let now = 1_900_000_000 * SECOND;
const clock = { now: () => now };
const log = createLog("silent");

beforeAll(async () => {
  service = await startService({ roles: ["api"] });
  database = openDatabase(service.database);
  const made = await service.merchant();
  ({ merchantId } = made);
  client = { clientId: made.client.credentials.client_id, merchant: { merchantId } } as unknown as Client;
});
afterAll(async () => {
  await database.end();
  await service.stop();
});

const lastUse = async (): Promise<unknown> =>
  (await service.app.merchants.credentials.read({ merchantId }, client.clientId))?.lastUse;

test("of many uses the last one is written, and an older one of another process does not take its place", async () => {
  const [one, two] = [new LastUses(database, clock, log), new LastUses(database, clock, log)];
  one.note(client, "203.0.113.1");
  now += SECOND;
  two.note(client, "203.0.113.2");
  two.note(client, "2001:db8::".padEnd(90, "f"));
  await two.write();
  await one.write();
  expect(await lastUse()).toEqual({ at: now, address: "2001:db8::".padEnd(60, "f") });
});

test("a thousand uses of one credential are one row of one statement; without uses there is none", async () => {
  const asked: unknown[] = [];
  const counting = { query: async (statement: unknown) => asked.push(statement) } as unknown as Database;
  const uses = new LastUses(counting, clock, log);
  for (let n = 0; n < 1_000; n++) uses.note(client, "203.0.113.1");
  await uses.write();
  await uses.write();
  expect(asked).toHaveLength(1);
  for (let n = 0; n < 30_000; n++) uses.note({ ...client, clientId: `ak_test_${n}` }, "203.0.113.1");
  await uses.write();
  expect(asked).toHaveLength(21); // twenty thousand wait at most, a thousand a statement
});

test("a database that is away costs the note, not the request, and the next one is written", async () => {
  let away = true;
  const flaky = {
    query: (statement: never) => (away ? Promise.reject(new Error("away")) : database.query(statement)),
  } as unknown as Database;
  const uses = new LastUses(flaky, clock, log);
  now += SECOND;
  uses.note(client, "203.0.113.3");
  await uses.write();
  expect(await lastUse()).not.toMatchObject({ address: "203.0.113.3" });
  away = false;
  uses.note(client, "203.0.113.4");
  await uses.write();
  expect(await lastUse()).toEqual({ at: now, address: "203.0.113.4" });
});
