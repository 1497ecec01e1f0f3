// Goal: however many requests of the portal's people or of operators wait for the database, nobody else's wait behind them.
// Method: tables that only pages read are locked, as by a migration or a VACUUM FULL, while far more requests for them arrive than there are connections.
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import type { Database } from "./store/database.ts";
import { OPERATOR_TOKEN, type TestService, asOwner, paymentBody, startService } from "../test/kit.ts";
import { joins } from "../test/portal.ts";

let service: TestService;
beforeAll(async () => {
  service = await startService({ roles: ["api"] });
});
afterAll(() => service.stop());

const ask = (path: string, token = OPERATOR_TOKEN, method = "GET", body?: unknown): Promise<Response> =>
  fetch(`${service.operatorOrigin}/ops/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });

/** What a merchant, a payer and whoever else `others` asks for are answered while `table` is locked and forty of `requests` wait for it. */
async function besideLocked(
  table: string,
  pool: "portal" | "operators",
  requests: () => Promise<unknown>,
  others: () => Promise<{ status: number }>,
): Promise<number[]> {
  const { client } = await service.merchant();
  const { json } = await client.post("/v1/payments", paymentBody());
  const asked: Promise<unknown>[] = [];
  try {
    return await asOwner(service.database, async (owner) => {
      await owner.query(`begin; lock table ${table}`);
      for (let request = 0; request < 40; request++) asked.push(requests());
      await vi.waitFor(() => expect(service.app.databases[pool].connections.waiting).toBeGreaterThan(20), 30_000);
      const answers = await Promise.all([
        client.post("/v1/payments", paymentBody()),
        client.get(`/v1/payments/${json.reference as string}`),
        fetch(json.checkout_url as string),
        others(),
      ]);
      await owner.query("rollback");
      return answers.map(({ status }) => status);
    });
  } finally {
    await Promise.all(asked);
  }
}

test("people's requests that wait for a locked table leave merchants, payers and operators their connections", async () => {
  const { merchantId } = await service.merchant();
  const browser = await joins(service, merchantId);
  const statuses = await besideLocked(
    "memberships",
    "portal",
    () => browser.get("/portal/v1/session"),
    () => ask("/audit"),
  );
  expect(statuses).toEqual([201, 200, 200, 200]);
});

test("operators' requests leave merchants, payers and the portal's people theirs", async () => {
  const { merchantId } = await service.merchant();
  const browser = await joins(service, merchantId);
  const statuses = await besideLocked(
    "operator_audit",
    "operators",
    () => ask("/audit"),
    () => browser.get("/portal/v1/session"),
  );
  expect(statuses).toEqual([201, 200, 200, 200]);
});

/** What `work` finds out while every connection of a pool is taken. */
async function without<T>({ pool }: Database, work: () => Promise<T>): Promise<T> {
  const taken = await Promise.all(Array.from({ length: pool.options.max }, () => pool.connect()));
  try {
    return await work();
  } finally {
    for (const connection of taken) connection.release();
  }
}

test("merchants do not wait for operators' connections after a change of settings, which every process reads", async () => {
  const { status } = await without(service.app.databases.operators, async () => {
    const { client } = await service.merchant();
    return client.post("/v1/payments", paymentBody());
  });
  expect(status).toBe(201);
});

test("an operator with a token of their own stops a merchant whose requests take all connections", async () => {
  const { merchantId } = await service.merchant();
  const made = await ask("/tokens", OPERATOR_TOKEN, "POST", { name: "sari", role: "admin" });
  const { token } = (await made.json()) as { token: string };
  const stopped = await without(service.app.database, async () => {
    await vi.waitFor(async () => expect((await ask("/audit", token)).status).toBe(200), 30_000);
    return ask(`/merchants/${merchantId}`, token, "PATCH", { suspended: true });
  });
  expect(stopped.status).toBe(200);
});
