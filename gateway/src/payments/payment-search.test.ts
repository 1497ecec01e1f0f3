// Goal: a list of payments costs no more than ten thousand rows a page, however many a merchant has, and leaves none out. Method: a merchant with
// two payments that a filter is for, behind and before more payments than one page looks at.
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Client } from "../../../e2e/kit/client.ts";
import { type TestService, paymentBody, startService } from "../../test/kit.ts";
import { insertPastPayments } from "../../test/past-payments.ts";
import { LOOKED_AT_MAX } from "../store/searches.sql.ts";

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

async function made(client: Client, method: string): Promise<string> {
  const { status, json } = await client.post("/v1/payments", paymentBody({ payment_method: method }));
  expect(status, JSON.stringify(json)).toBe(201);
  return json.reference as string;
}

interface Walked {
  references: string[];
  pages: number;
}

async function walk(client: Client, filter: string): Promise<Walked> {
  const references: string[] = [];
  for (let pages = 1, cursor = ""; ; pages++) {
    const { status, json } = await client.get(`/v1/payments?${filter}${cursor}`);
    expect(status, JSON.stringify(json)).toBe(200);
    references.push(...(json.data as { reference: string }[]).map(({ reference }) => reference));
    if (!json.has_more) return { references, pages };
    cursor = `&starting_after=${json.next_cursor}`;
  }
}

test("a list with a filter goes on from where it stopped, until it has looked at all payments", async () => {
  const { client, merchantId } = await service.merchant();
  const oldest = await made(client, "va");
  const canceled = await made(client, "qris");
  await client.post(`/v1/payments/${canceled}/cancel`, {});
  await insertPastPayments(service.database, [
    { merchantId, count: LOOKED_AT_MAX + 500, chosen: "nusantara", status: "pending", daysAgo: -1 },
  ]);

  expect(await walk(client, "payment_method=va")).toEqual({ references: [oldest], pages: 2 });
  expect(await walk(client, "status=canceled&limit=1")).toEqual({ references: [canceled], pages: 2 });
  // The range of time is found by the index: what lies outside it is not looked at.
  const before = new Date().toISOString();
  expect(await walk(client, `payment_method=va&created_to=${before.slice(0, 19)}Z`)).toEqual({
    references: [oldest],
    pages: 1,
  });
  expect(await walk(client, "payment_method=va&created_from=2199-01-01")).toEqual({ references: [], pages: 1 });
});
