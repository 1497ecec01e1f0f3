// Goal: whoever calls without a good token, or beyond their role, is on record with name and address, and no flood of them fills a disk; what is on
// record can be neither changed nor deleted by the service. Method: a service on a real socket, a clock that stands, and floods of notes.
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { type Answer, readAnswer } from "../../../e2e/kit/client.ts";
import { OPERATOR_TOKEN, type TestService, asOwner, openDatabase, startService } from "../../test/kit.ts";
import { SECOND, systemClock } from "../ground/clock.ts";
import { createLog } from "../ground/log.ts";
import { createMetrics } from "../ground/metrics.ts";
import type { Database } from "../store/database.ts";
import { deleteExpired } from "../store/retention.ts";
import { expiredRefusals } from "./refusals.sql.ts";
import { Refusals, TOLD_APART_MAX } from "./refusals.ts";

let service: TestService;
let database: Database;
const base = systemClock.now();
let now = base;
const clock = { now: () => now };
const log = createLog("silent");

beforeAll(async () => {
  // One proxy in front of operators, so that a test can say where a request comes from.
  const operator = { port: 0, host: "127.0.0.1", trustProxy: 1 };
  service = await startService({ roles: ["api"], clock, config: { operator } });
  database = openDatabase(service.database);
});
afterAll(async () => {
  await database.end();
  await service.stop();
});

async function call(
  method: string,
  path: string,
  token?: string,
  { from = "203.0.113.1", body }: { from?: string; body?: unknown } = {},
): Promise<Answer> {
  const headers: Record<string, string> = { "x-forwarded-for": from, "content-type": "application/json" };
  if (token !== undefined) headers.authorization = `Bearer ${token}`;
  const sent = body === undefined ? {} : { body: JSON.stringify(body) };
  return readAnswer(await fetch(`${service.operatorOrigin}/ops/v1${path}`, { method, headers, ...sent }));
}

const rows = async (where = "true"): Promise<Record<string, unknown>[]> =>
  (
    await asOwner(service.database, (client) =>
      client.query<Record<string, unknown>>(
        `select reason, actor, address, count from operator_refusals where ${where}`,
      ),
    )
  ).rows;

const counted = async (reason: string): Promise<number> => {
  const metric = service.app.metrics.registry.getSingleMetric("gerbang_operator_authentication_failures_total");
  return (await metric?.get())?.values.find(({ labels }) => labels.reason === reason)?.value ?? 0;
};

test("a missing, a wrong, a revoked token, and a read beyond a role are told by reason, name and address, each once with its count", async () => {
  const { token } = await service.operate("POST", "/tokens", { name: "gone", role: "admin" });
  await service.operate("DELETE", "/tokens/gone");
  const viewer = (await service.operate("POST", "/tokens", { name: "looker" })).token as string;
  for (let n = 0; n < 3; n++) expect((await call("GET", "/acquirers", "op_wrong")).status).toBe(401);
  expect((await call("GET", "/acquirers", "op_other", { from: "2001:db8::7" })).status).toBe(401);
  expect((await call("GET", "/acquirers")).status).toBe(401);
  expect((await call("POST", "/merchants", token, { body: { name: "x" } })).status).toBe(401);
  expect((await call("GET", "/tokens", viewer)).status).toBe(403);
  const expected = [
    { reason: "wrong", actor: null, address: "203.0.113.1", count: 3 },
    { reason: "wrong", actor: null, address: "2001:db8::7", count: 1 },
    { reason: "missing", actor: null, address: "203.0.113.1", count: 1 },
    { reason: "ended", actor: "gone", address: "203.0.113.1", count: 1 },
    { reason: "role", actor: "looker", address: "203.0.113.1", count: 1 },
  ];
  await vi.waitFor(
    async () => {
      const { json } = await call("GET", "/audit/refusals", OPERATOR_TOKEN);
      const found = (json.data as Record<string, unknown>[]).map(({ reason, actor, address, count }) => ({
        reason,
        actor,
        address,
        count,
      }));
      expect(found).toEqual(expect.arrayContaining(expected));
    },
    { timeout: 30_000 },
  );
  expect([await counted("wrong"), await counted("missing"), await counted("ended")]).toEqual([4, 1, 1]);
});

test("good calls and reads leave no row anywhere", async () => {
  const counts = async (): Promise<unknown> =>
    (
      await asOwner(service.database, (client) =>
        client.query(
          "select (select count(*) from operator_audit) as audit, (select count(*) from operator_refusals) as refusals",
        ),
      )
    ).rows;
  const before = await counts();
  for (let n = 0; n < 50; n++) expect((await call("GET", "/merchants", OPERATOR_TOKEN)).status).toBe(200);
  expect(await counts()).toEqual(before);
});

test("a flood from very many addresses is a bounded number of rows, and counts every one of them", async () => {
  const refusals = new Refusals({ database, clock, metrics: createMetrics(), log });
  for (let n = 0; n < 50_000; n++) refusals.note("wrong", `198.18.${n >> 8}.${n & 255}`);
  await refusals.write();
  const found = await rows("address is null or address like '198.18.%'");
  expect(found).toHaveLength(TOLD_APART_MAX + 1);
  expect(found.reduce((sum, { count }) => sum + Number(count), 0)).toBe(50_000);
});

test("a flood of one address is one row", async () => {
  const refusals = new Refusals({ database, clock, metrics: createMetrics(), log });
  for (let n = 0; n < 10_000; n++) refusals.note("missing", "192.0.2.99");
  await refusals.write();
  await refusals.write();
  expect(await rows("address = '192.0.2.99'")).toEqual([
    { reason: "missing", actor: null, address: "192.0.2.99", count: 10_000 },
  ]);
});

test("what a database that is away does not take is written the next time", async () => {
  let away = true;
  const flaky = { query: (statement: never) => (away ? Promise.reject(new Error("away")) : database.query(statement)) };
  const refusals = new Refusals({ database: flaky as unknown as Database, clock, metrics: createMetrics(), log });
  refusals.note("wrong", "192.0.2.50");
  await refusals.write();
  away = false;
  refusals.note("wrong", "192.0.2.50");
  await refusals.write();
  expect(await rows("address = '192.0.2.50'")).toEqual([
    { reason: "wrong", actor: null, address: "192.0.2.50", count: 2 },
  ]);
});

test("they are forgotten after 30 days and not before, and nobody may change or delete one meanwhile", async () => {
  const insert = (age: string): Promise<unknown> =>
    asOwner(service.database, (client) =>
      client.query(
        `insert into operator_refusals (refusal_id, first_at, last_at, reason, address, count)
select gen_random_uuid(), now() - $1::interval, now() - $1::interval, 'wrong', 'old ' || $1, 1`,
        [age],
      ),
    );
  await insert("31 days");
  await insert("29 days");
  // A process whose clock is far ahead deletes nothing too early.
  await deleteExpired(database, [expiredRefusals(systemClock.now() + 365 * 86_400 * SECOND)]);
  expect((await rows("address like 'old %'")).map(({ address }) => address)).toEqual(["old 29 days"]);
  await expect(database.query({ text: "delete from operator_refusals" })).rejects.toThrow("younger than 30 days");
  await expect(database.query({ text: "update operator_refusals set count = 1" })).rejects.toThrow("permission denied");
  await expect(
    asOwner(service.database, (client) => client.query("update operator_refusals set count = 1")),
  ).rejects.toThrow("append-only");
});

test("changes beyond a role are audited, sixty a minute of one token; what goes on is counted and limited", async () => {
  const { token } = await service.operate("POST", "/tokens", { name: "stolen" });
  const answers: number[] = [];
  for (let n = 0; n < 65; n++)
    answers.push((await call("POST", "/merchants", token, { body: { name: "x".repeat(100) } })).status);
  expect(answers).toEqual([...Array.from({ length: 60 }, () => 403), ...Array.from({ length: 5 }, () => 429)]);
  const audited = await asOwner(service.database, (client) =>
    client.query("select count(*)::integer as n from operator_audit where actor = 'stolen'"),
  );
  expect(audited.rows).toEqual([{ n: 120 }]);
  expect((await call("GET", "/acquirers", token)).status).toBe(200);
  now += 60 * SECOND;
  expect((await call("POST", "/merchants", token, { body: {} })).status).toBe(403);
});

test("the audit says whose token and from where, and can be asked for one of them", async () => {
  const { token } = await service.operate("POST", "/tokens", { name: "ani", role: "admin" });
  const made = await call("POST", "/merchants", token, { from: "198.51.100.23", body: { name: "Toko Ani" } });
  const entry = (await call("GET", "/audit?actor=ani", OPERATOR_TOKEN)).json;
  expect(entry.data).toEqual([
    expect.objectContaining({
      actor: "ani",
      address: "198.51.100.23",
      role: "admin",
      merchant_id: made.json.merchant_id,
      status: 201,
    }),
  ]);
  const both = (await call("GET", `/audit?actor=ani&merchant_id=${made.json.merchant_id}`, OPERATOR_TOKEN)).json;
  expect(both.data).toHaveLength(1);
  expect(
    (await call("GET", `/audit?actor=environment&merchant_id=${made.json.merchant_id}`, OPERATOR_TOKEN)).json.data,
  ).toEqual([]);
  for (const wrong of ["%00", "A", "", "a b"])
    expect((await call("GET", `/audit?actor=${wrong}`, OPERATOR_TOKEN)).json.error.code, wrong).toBe(
      "VALIDATION_ERROR",
    );
});

test("the log has a line of each request with whose token it was and from where, and never the token", async () => {
  const { token } = await service.operate("POST", "/tokens", { name: "logged" });
  const write = vi.spyOn(process.stdout, "write").mockReturnValue(true);
  const loud = await startService({
    roles: ["api"],
    clock,
    database: service.database,
    logLevel: "info",
    config: { operator: { port: 0, host: "127.0.0.1", trustProxy: 1 } },
  });
  try {
    const headers = { authorization: `Bearer ${token}`, "x-forwarded-for": "198.51.100.99" };
    await (await fetch(`${loud.operatorOrigin}/ops/v1/acquirers?limit=1`, { headers })).text();
    await vi.waitFor(() => expect(write.mock.calls.map(String).join("")).toContain("/ops/v1/acquirers"), 30_000);
  } finally {
    await loud.stop();
  }
  const printed = write.mock.calls.map(String).join("");
  write.mockRestore();
  const line = printed.split("\n").find((one) => one.includes("/ops/v1/acquirers")) ?? "{}";
  expect(JSON.parse(line.slice(line.indexOf("{"), line.lastIndexOf("}") + 1))).toMatchObject({
    actor: "logged",
    address: "198.51.100.99",
    status: 422,
  });
  expect(printed).not.toContain(token);
});
