// Goal: a database that cannot do its work is told truthfully: 503 with Retry-After, health with it, and never a failure of the service.
// Method: a service whose connections answer as PostgreSQL does when its disk is full, or when somebody cancels a statement.
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { failStatements } from "../test/failing-statements.ts";
import { type TestService, asOwner, paymentBody, startService } from "../test/kit.ts";

let service: TestService;
const log: string[] = [];
beforeAll(async () => {
  service = await startService({ roles: ["api"], logLevel: "warn", logTo: { write: (line) => void log.push(line) } });
});
afterAll(() => service.stop());
afterEach(() => vi.restoreAllMocks());

/** Fails statements of the service that `fails` picks with a SQLSTATE, until it is restored. */
const failing = (state: string, fails: (text: string) => boolean): { restore(): void } =>
  failStatements(service.app.database.pool, state, fails);

const health = async (): Promise<number> => (await fetch(`${service.origin}/v1/health`)).status;
const writes = (text: string): boolean => /^\s*(insert|update|with|commit)/i.test(text);

test("a full disk answers writes with 503 and health with it, and all is well when there is room again", async () => {
  const { client } = await service.merchant();
  const full = failing("53100", writes);
  for (const path of ["/v1/payments", "/v1/refunds"]) {
    const answer = await client.post(path, path === "/v1/payments" ? paymentBody() : { payment_reference: "pay_x" });
    expect([answer.status, answer.json.error.code]).toEqual([503, "SERVICE_UNAVAILABLE"]);
    expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
  }
  await vi.waitFor(async () => expect(await health()).toBe(503), 30_000);
  full.restore();
  await vi.waitFor(async () => expect(await health()).toBe(200), 30_000);
  expect((await client.post("/v1/payments", paymentBody())).status).toBe(201);
});

test.each(["57014", "53200", "25006"])("SQLSTATE %s in a write is 503 and no failure of the service", async (state) => {
  const { client } = await service.merchant();
  const broken = failing(state, (text) => text.includes("insert into payments"));
  const answer = await client.post("/v1/payments", paymentBody());
  broken.restore();
  expect([answer.status, answer.json.error.code]).toEqual([503, "SERVICE_UNAVAILABLE"]);
  await vi.waitFor(async () => expect(await health()).toBe(200), 30_000);
});

test("the log says why a write failed whose body had been read", async () => {
  const { client } = await service.merchant();
  const broken = failing("55P03", (text) => text.includes("insert into payments"));
  const answer = await client.post("/v1/payments", paymentBody());
  broken.restore();
  expect(answer.status).toBe(503);
  const lines = log.map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(lines.filter(({ request_id }) => request_id === answer.headers.get("x-request-id"))).toMatchObject([
    { level: "warn", msg: "request failed", code: "SERVICE_UNAVAILABLE", err: { message: "planted", code: "55P03" } },
  ]);
});

test.each(["57014", "53200", "55P03"])(
  "SQLSTATE %s in a read that nobody waits for in a lane is 503, too",
  async (state) => {
    const { client } = await service.merchant();
    const broken = failing(state, (text) => text.endsWith("from settings_epoch"));
    // The settings are read again when the last reading is older than a moment.
    const answer = await vi.waitFor(async () => {
      const unlucky = await client.get("/v1/balances");
      expect(unlucky.status).not.toBe(200);
      return unlucky;
    }, 30_000);
    broken.restore();
    expect([answer.status, answer.json.error.code]).toEqual([503, "SERVICE_UNAVAILABLE"]);
    expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
  },
);

test.each([
  ["EMFILE", "connect EMFILE 127.0.0.1:5432"],
  ["CERT_HAS_EXPIRED", "certificate has expired"],
  ["28P01", 'password authentication failed for user "gerbang_service"'],
])("where no connection can be made (%s), requests are 503 and health with them", async (code, message) => {
  const { client } = await service.merchant();
  const refused = Object.assign(new Error(message), { code });
  for (const way of ["connect", "query"] as const)
    vi.spyOn(service.app.database.pool, way).mockImplementation((() => Promise.reject(refused)) as never);
  const answers = [await client.post("/v1/payments", paymentBody()), await client.get("/v1/balances")];
  await vi.waitFor(async () => expect(await health()).toBe(503), 30_000);
  vi.restoreAllMocks();
  for (const { status, json, headers } of answers)
    expect([status, json.error.code, headers.get("retry-after")]).toEqual([503, "SERVICE_UNAVAILABLE", "1"]);
  await vi.waitFor(async () => expect(await health()).toBe(200), 30_000);
});

test("a key is revoked although a peer vanished while it changed settings", async () => {
  const { client, merchantId } = await service.merchant();
  const done = Promise.withResolvers<void>();
  const peer = asOwner(service.database, async (owner) => {
    owner.on("error", () => undefined);
    await owner.query("begin");
    await owner.query("set local idle_in_transaction_session_timeout = '1s'"); // ours is longer, and works alike
    await owner.query("update settings_epoch set epoch = epoch + 1");
    await done.promise;
  }).catch(() => undefined);
  expect(await service.app.merchants.credentials.end(merchantId, client.credentials.client_id)).toBe(true);
  done.resolve();
  await peer;
  await vi.waitFor(
    async () => expect((await client.get("/v1/balances")).json.error?.code).toBe("CLIENT_NOT_FOUND"),
    5_000,
  );
});
