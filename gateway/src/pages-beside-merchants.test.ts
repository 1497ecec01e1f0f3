// Goal: however many requests of people and operators wait for the database, merchants' and payers' requests do not wait behind them.
// Method: tables that only pages read are locked, as by a migration or a VACUUM FULL, while far more page requests arrive than there are connections.
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { OPERATOR_TOKEN, type TestService, asOwner, paymentBody, startService } from "../test/kit.ts";
import { joins } from "../test/portal.ts";

let service: TestService;
beforeAll(async () => {
  service = await startService({ roles: ["api"] });
});
afterAll(() => service.stop());

/** Requests that wait while `table` is locked, and what a merchant and a payer are answered meanwhile. */
async function besideLocked(table: string, ask: () => Promise<unknown>): Promise<number[]> {
  const { client } = await service.merchant();
  const created = await client.post("/v1/payments", paymentBody());
  const asked: Promise<unknown>[] = [];
  try {
    return await asOwner(service.database, async (owner) => {
      await owner.query(`begin; lock table ${table}`);
      for (let request = 0; request < 40; request++) asked.push(ask());
      await vi.waitFor(() => expect(service.app.pages.connections.waiting).toBeGreaterThan(20), 30_000);
      const [paid, read, page] = await Promise.all([
        client.post("/v1/payments", paymentBody()),
        client.get(`/v1/payments/${created.json.reference as string}`),
        fetch(created.json.checkout_url as string),
      ]);
      await owner.query("rollback");
      return [paid.status, read.status, page.status];
    });
  } finally {
    await Promise.all(asked);
  }
}

test("people's requests that wait for a locked table leave merchants and payers their connections", async () => {
  const { merchantId } = await service.merchant();
  const browser = await joins(service, merchantId);
  expect(await besideLocked("sessions", () => browser.get("/portal/v1/session"))).toEqual([201, 200, 200]);
});

test("so do operators' requests", async () => {
  const ask = (): Promise<Response> =>
    fetch(`${service.operatorOrigin}/ops/v1/audit`, { headers: { authorization: `Bearer ${OPERATOR_TOKEN}` } });
  expect(await besideLocked("operator_audit", ask)).toEqual([201, 200, 200]);
});
