// Goal: a credential's last use is written down soon, in few statements, by several processes in any order, and never holds a request up. Method:
// notes against a real database, and against one that is away.
import { afterAll, beforeAll, expect, test } from "vitest";
import { type TestService, openDatabase, startService } from "../../test/kit.ts";
import { SECOND } from "../ground/clock.ts";
import { createLog } from "../ground/log.ts";
import type { Database } from "../store/database.ts";
import { LastUses } from "../store/last-uses.ts";
import { recordUses } from "./last-uses.sql.ts";

let service: TestService;
let database: Database;
let clientId: string;
let merchantId: string;
let now = 1_900_000_000 * SECOND;
const clock = { now: () => now };
const log = createLog("silent");

beforeAll(async () => {
  service = await startService({ roles: ["api"] });
  database = openDatabase(service.database);
  const made = await service.merchant();
  ({ merchantId } = made);
  clientId = made.client.credentials.client_id;
});
afterAll(async () => {
  await database.end();
  await service.stop();
});

const usesOf = (written: Pick<Database, "query">) =>
  new LastUses({ database: written, clock, log, record: recordUses });
type Uses = ReturnType<typeof usesOf>;
const use = (uses: Uses, address: string, id = clientId): void => uses.note(id, { merchantId, clientId: id }, address);

const lastUse = async (): Promise<unknown> =>
  (await service.app.merchants.credentials.read({ merchantId }, clientId))?.lastUse;

test("of many uses the last one is written, and an older one of another process does not take its place", async () => {
  const [one, two] = [usesOf(database), usesOf(database)];
  use(one, "203.0.113.1");
  now += SECOND;
  use(two, "203.0.113.2");
  use(two, "2001:db8::".padEnd(90, "f"));
  await two.write();
  await one.write();
  expect(await lastUse()).toEqual({ at: now, address: "2001:db8::".padEnd(60, "f") });
});

test("a thousand uses of one credential are one row of one statement; without uses there is none", async () => {
  const asked: unknown[] = [];
  const counting = { query: async (statement: unknown) => asked.push(statement) } as unknown as Database;
  const uses = usesOf(counting);
  for (let n = 0; n < 1_000; n++) use(uses, "203.0.113.1");
  await uses.write();
  await uses.write();
  expect(asked).toHaveLength(1);
  for (let n = 0; n < 30_000; n++) use(uses, "203.0.113.1", `ak_test_${n}`);
  await uses.write();
  expect(asked).toHaveLength(21); // twenty thousand wait at most, a thousand a statement
});

test("a database that is away costs the note, not the request, and the next one is written", async () => {
  let away = true;
  const flaky = {
    query: (statement: never) => (away ? Promise.reject(new Error("away")) : database.query(statement)),
  } as unknown as Database;
  const uses = usesOf(flaky);
  now += SECOND;
  use(uses, "203.0.113.3");
  await uses.write();
  expect(await lastUse()).not.toMatchObject({ address: "203.0.113.3" });
  away = false;
  use(uses, "203.0.113.4");
  await uses.write();
  expect(await lastUse()).toEqual({ at: now, address: "203.0.113.4" });
});
