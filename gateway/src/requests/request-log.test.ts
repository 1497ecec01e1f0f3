// Goal: every request of a sandbox, and each refused one of production, is in its merchant's log, redacted and bounded; whatever is too much is counted; no
// stranger fills a log. Method: a real service asked by signed clients, read back through the portal by its members.
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import type { Client } from "../../../e2e/kit/client.ts";
import { type TestService, asOwner, openDatabase, paymentBody, startService } from "../../test/kit.ts";
import { Browser, joins } from "../../test/portal.ts";
import { systemClock } from "../ground/clock.ts";
import { newId, uuidOf } from "../ground/ids.ts";
import { deleteExpired } from "../store/retention.ts";
import { expiredGaps, expiredRequests } from "./request-log.sql.ts";
import { PER_SECOND, UNPROVEN_PER_MINUTE } from "./request-quotas.ts";

let service: TestService;
let merchantId: string;
let client: Client;
let owner: Browser;

beforeAll(async () => {
  service = await startService({ roles: ["api"] });
});
afterAll(() => service.stop());
beforeEach(async () => {
  ({ merchantId, client } = await service.merchant());
  owner = await joins(service, merchantId);
});

// oxlint-disable-next-line typescript/no-explicit-any -- as the answers of tests are
type Json = any;
const read = async (path: string, browser = owner): Promise<Json> => {
  const answer = await browser.get(`/portal/v1${path}`);
  expect(answer.status, answer.text).toBe(200);
  return answer.json;
};
/** The log once it holds so many. */
const logged = (count: number, query = "", browser = owner): Promise<Json[]> =>
  vi.waitFor(
    async () => {
      const { data } = await read(`/requests${query}`, browser);
      expect(data).toHaveLength(count);
      return data;
    },
    { timeout: 30_000 },
  );
const raw = (path: string, headers: Record<string, string>, body?: string): Promise<Response> =>
  fetch(service.origin + path, {
    method: body === undefined ? "GET" : "POST",
    headers,
    ...(body !== undefined && { body }),
  });
const misSigned = { "x-signature": "0".repeat(64) };
const bearer = (): Record<string, string> => ({ authorization: `Bearer ${client.credentials.client_id}` });

describe("what is logged", () => {
  test("a request with its bodies, and nothing that names its payer", async () => {
    const customer = { name: "Budi Santoso", email: "budi@pembeli.example", phone: "+6281234567890" };
    const sent = await client.post("/v1/payments", paymentBody({ customer, description: "card 4111 1111 1111 1111" }));
    expect(sent.status).toBe(201);
    const [found] = await logged(1);
    expect(found).toMatchObject({
      request_id: sent.headers.get("x-request-id"),
      method: "POST",
      path: "/v1/payments",
      query: null,
      status: 201,
      error_code: null,
      client_id: client.credentials.client_id,
      proven: true,
      replayed: false,
      diagnosis: null,
    });
    expect(found.duration_ms).toBeGreaterThan(0);
    const whole = await read(`/requests/${found.request_id}`);
    expect(JSON.parse(whole.request.text).customer.name).toBe("[redacted]");
    expect(JSON.parse(whole.response.text)).toMatchObject({
      reference: sent.json.reference,
      instructions: { qr_string: sent.json.instructions.qr_string },
    });
    expect(whole.request.bytes).toBeGreaterThan(200);
    const everything = await asOwner(service.database, (root) =>
      root.query<{ text: string }>("select r::text as text from request_log r where merchant_id = $1", [
        uuidOf(merchantId),
      ]),
    );
    for (const mark of ["Budi", "pembeli", "812345", "4111 1111", client.credentials.secret])
      expect(everything.rows.map(({ text }) => text).join()).not.toContain(mark);
  });

  test("refusals say their code, and a query keeps what may be kept", async () => {
    await client.get("/v1/payments?limit=5&email=a%40b.example");
    await client.post("/v1/payments", paymentBody({ amount_minor: 0 }));
    const [amount, query] = await logged(2);
    expect([amount.status, amount.error_code]).toEqual([422, "INVALID_AMOUNT"]);
    expect([query.status, query.query]).toEqual([422, "limit=5&email=[redacted]"]);
    const whole = await read(`/requests/${amount.request_id}`);
    expect(JSON.parse(whole.response.text).error.code).toBe("INVALID_AMOUNT");
  });

  test("bodies that cannot be kept are told by their size, and why", async () => {
    const bodies = {
      not_json: '{"secret": "sk_test_0123456789", ',
      duplicate_key: '{"a":1,"a":2}',
      not_an_object: "[1]",
      too_large: `{"description":"${"x".repeat(9_000)}"}`,
    };
    for (const body of Object.values(bodies)) await client.post("/v1/payments", body);
    const found = await logged(4);
    const wholes = await Promise.all(found.map(({ request_id: id }) => read(`/requests/${id}`)));
    expect(wholes.toReversed().map(({ request }) => request)).toEqual(
      Object.entries(bodies).map(([omitted, body]) => ({ bytes: body.length, text: null, omitted })),
    );
  });

  test("a refused signature comes with its diagnosis", async () => {
    const body = JSON.stringify(paymentBody());
    const now = String(Date.now()); // in milliseconds
    const { status } = await client.post("/v1/payments", body, {
      headers: { "x-timestamp": now, "x-signature": client.sign(now, body) },
    });
    expect(status).toBe(401);
    await vi.waitFor(async () => {
      const [found] = await logged(1);
      expect(found).toMatchObject({ status: 401, proven: false });
      expect(found.diagnosis).toMatchObject({ diagnosis: "milliseconds", explanation: expect.any(String) });
    }, 30_000);
  });

  test("what was refused before its sender was looked up is logged where the key is somebody's", async () => {
    await raw("/v1/payments", bearer(), "{}");
    await raw("/v1/nowhere", bearer());
    await raw("/v1/payments", { authorization: "Bearer ak_test_00000000000000000000000000" }, "{}");
    await raw("/v1/payments", { authorization: "Bearer x" }, "{}");
    await raw("/nowhere", bearer());
    const found = await logged(2);
    expect(found.map(({ error_code: code, proven }) => [code, proven])).toEqual([
      ["ROUTE_NOT_FOUND", false],
      ["SIGNATURE_MISSING", false],
    ]);
  });

  test("of production refused requests alone", async () => {
    const live = await service.client(merchantId, "production");
    await live.get("/v1/balances");
    await live.get("/v1/balances?colour=red");
    const there = Object.assign(new Browser(service.origin, merchantId, "production"), { cookie: owner.cookie });
    const [found] = await logged(1, "", there);
    expect(found.query).toBe("colour=red");
    expect(await logged(0)).toEqual([]);
    expect((await read("/request-log", there)).logged).toBe("refused");
  });

  test("not what people do on pages", async () => {
    await owner.get("/portal/v1/payments");
    await client.get("/v1/balances");
    expect(await logged(1)).toMatchObject([{ path: "/v1/balances" }]);
  });
});

describe("what is too much", () => {
  test("of a burst some are logged, the rest is counted, and all are answered", async () => {
    const answers = await Promise.all(
      Array.from({ length: 8 * PER_SECOND }, (_, n) =>
        client.get(
          `/v1/payments?limit=${(n % 100) + 1}&status=${["pending", "failed", "expired", "canceled"][Math.floor(n / 100)]}`,
        ),
      ),
    );
    expect(answers.every(({ status }) => status === 200)).toBe(true);
    await vi.waitFor(
      async () => {
        const { not_logged: left } = await read("/request-log");
        expect(left).toBeGreaterThan(0);
        const rows = await asOwner(service.database, (root) =>
          root.query<{ n: number }>("select count(*)::integer as n from request_log where merchant_id = $1", [
            uuidOf(merchantId),
          ]),
        );
        expect((rows.rows[0]?.n ?? 0) + left).toBe(answers.length);
      },
      { timeout: 30_000, interval: 200 },
    );
    const written = await service.app.metrics.registry.getSingleMetricAsString("gerbang_request_log_total");
    expect(written).toMatch(/result="dropped"\} [1-9]/);
  });

  test("who only knows a client_id fills no log: a minute takes a few, also beside an honest request", async () => {
    for (let n = 0; n < UNPROVEN_PER_MINUTE + 10; n++)
      await raw("/v1/payments", { ...bearer(), "x-timestamp": "1", ...misSigned }, "{}");
    await client.get("/v1/balances");
    const found = await logged(UNPROVEN_PER_MINUTE + 1, "?limit=100");
    expect(found[0]).toMatchObject({ path: "/v1/balances", proven: true });
    await vi.waitFor(
      async () => expect(await read("/request-log")).toMatchObject({ not_logged: 0, not_logged_unproven: 10 }),
      { timeout: 30_000, interval: 200 },
    );
  });

  test("beyond ten thousand the oldest go", async () => {
    await asOwner(service.database, (root) =>
      root.query(
        `insert into request_log (merchant_id, environment, request_id, at, took_us, status, proven, replayed, client_id, method, path, request_bytes, response_bytes)
select $1, 'sandbox', ('01900000-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid, clock_timestamp(), 1, 200, true, false, 'x', 'GET', '/' || n, 0, 0
from generate_series(1, 11200) n`,
        [uuidOf(merchantId)],
      ),
    );
    await client.get("/v1/balances");
    await vi.waitFor(
      async () => {
        const { rows } = await asOwner(service.database, (root) =>
          root.query<{ n: number; oldest: string }>(
            "select count(*)::integer as n, min(path) filter (where path like '/1202') as oldest from request_log where merchant_id = $1",
            [uuidOf(merchantId)],
          ),
        );
        expect(rows).toEqual([{ n: 10_000, oldest: "/1202" }]);
      },
      { timeout: 30_000 },
    );
  });

  test("what nobody proved takes the place of nothing that somebody did", async () => {
    await asOwner(service.database, (root) =>
      root.query(
        `insert into request_log (merchant_id, environment, request_id, at, took_us, status, proven, replayed, client_id, method, path, request_bytes, response_bytes)
select $1, 'sandbox', ('01900000-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid, clock_timestamp(), 1, case when n <= 100 then 200 else 401 end, n <= 100, false, 'x', 'GET', '/' || n, 0, 0
from generate_series(1, 2400) n`,
        [uuidOf(merchantId)],
      ),
    );
    await client.get("/v1/balances");
    await vi.waitFor(
      async () => {
        const { rows } = await asOwner(service.database, (root) =>
          root.query<{ proven: number; unproven: number; kept: boolean }>(
            `select count(*) filter (where proven)::integer as proven, count(*) filter (where not proven)::integer as unproven,
  bool_or(path = '/401') as kept from request_log where merchant_id = $1`,
            [uuidOf(merchantId)],
          ),
        );
        expect(rows).toEqual([{ proven: 101, unproven: 2_000, kept: true }]);
      },
      { timeout: 30_000 },
    );
  });

  test("after seven days by the database's clock they go, whatever the process's clock says", async () => {
    await client.get("/v1/balances");
    await logged(1);
    const age = (days: number): Promise<unknown> =>
      asOwner(service.database, (root) =>
        root.query("update request_log set at = at - make_interval(days => $1) where merchant_id = $2", [
          days,
          uuidOf(merchantId),
        ]),
      );
    const sweep = async (aheadDays: number): Promise<void> => {
      const database = openDatabase(service.database);
      const now = systemClock.now() + aheadDays * 86_400_000_000;
      await deleteExpired(database, [expiredRequests(now), expiredGaps(now)]);
      await database.end();
    };
    await age(6);
    await sweep(30); // a clock that is wrong
    expect(await logged(1)).toHaveLength(1);
    await age(2);
    await sweep(0);
    expect(await logged(0)).toEqual([]);
  });
});

describe("reading", () => {
  test("filters find, pages go on, and what is no filter is refused", async () => {
    for (let n = 1; n <= 5; n++) await client.get(`/v1/payments?limit=${n}`);
    await client.post("/v1/payments", paymentBody({ amount_minor: 0 }), { key: "filter-key-1" });
    await logged(6);
    const first = await read("/requests?limit=4");
    const second = await read(`/requests?limit=4&starting_after=${first.next_cursor}`);
    expect([first.data.length, first.has_more, second.data.length, second.has_more]).toEqual([4, true, 2, false]);
    const count = async (query: string): Promise<number> => (await read(`/requests?${query}`)).data.length;
    expect(await count("outcome=refused")).toBe(1);
    expect(await count("outcome=succeeded")).toBe(5);
    expect(await count("method=POST")).toBe(1);
    expect(await count("status=422&error_code=INVALID_AMOUNT")).toBe(1);
    expect(await count("idempotency_key=filter-key-1")).toBe(1);
    expect(await count("path=/v1/pay")).toBe(6);
    expect(await count("path=%25")).toBe(0);
    expect(await count(`client_id=${client.credentials.client_id}`)).toBe(6);
    expect(await count("created_from=2026-01-01&created_to=2199-01-01")).toBe(6);
    expect(await count("created_to=2026-01-01")).toBe(0);
    const unknown = `starting_after=${newId("request", systemClock.now())}`;
    for (const query of [
      "status=999",
      "outcome=x",
      "path=%00",
      "starting_after=x",
      unknown,
      "colour=red",
      "error_code=x'--",
    ])
      expect([query, (await owner.get(`/portal/v1/requests?${query}`)).status]).toEqual([query, 422]);
  });

  test("another merchant's request, another environment's, and nonsense are not found; roles without the right are refused", async () => {
    await client.get("/v1/balances");
    const [{ request_id: id }] = (await logged(1)) as [Json];
    const { merchantId: other } = await service.merchant();
    const stranger = await joins(service, other);
    const there = Object.assign(new Browser(service.origin, merchantId, "production"), { cookie: owner.cookie });
    for (const browser of [stranger, there]) {
      expect((await browser.get(`/portal/v1/requests/${id}`)).status).toBe(404);
      expect((await read("/requests", browser)).data).toEqual([]);
    }
    for (const nonsense of ["x", "req_0", "%00"])
      expect((await owner.get(`/portal/v1/requests/${nonsense}`)).status).toBe(404);
    const finance = await joins(service, merchantId, "finance");
    for (const path of [
      "/requests",
      `/requests/${id}`,
      "/request-log",
      "/idempotency-keys",
      "/idempotency-keys/abcdefgh",
    ])
      expect((await finance.get(`/portal/v1${path}`)).status).toBe(403);
  });
});
