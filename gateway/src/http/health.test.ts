// Goal: the health check says that the ledger is unavailable when a book does not end as its head says, and the pages promise no more than that.
// Method: a real service, whose database somebody changes past it.
import { readFileSync } from "node:fs";
import { expect, test, vi } from "vitest";
import { asOwner, paymentBody, startService } from "../../test/kit.ts";
import { uuidOf } from "../ground/ids.ts";

test("a changed chain head makes it 503; a changed entry does not, because it replays no book", async () => {
  const service = await startService();
  try {
    const { client, merchantId } = await service.merchant();
    const { reference } = (await client.post("/v1/payments", paymentBody())).json;
    await client.post(`/v1/sandbox/payments/${reference}/simulate`, { outcome: "succeeded" });
    const changed = (statement: string): Promise<void> =>
      asOwner(service.database, async (admin) => {
        await admin.query("set session_replication_role = replica");
        await admin.query(`${statement} where merchant_id = $1::uuid and seq > 0`, [uuidOf(merchantId)]);
        await admin.query("set session_replication_role = origin");
      });
    const health = async (): Promise<unknown> => {
      const answer = await fetch(`${service.origin}/v1/health`);
      const { dependencies } = (await answer.json()) as { dependencies: { core_ledger: string } };
      return [answer.status, dependencies.core_ledger];
    };
    await changed("update entries set amount_minor = amount_minor + 1");
    await new Promise((resolve) => setTimeout(resolve, 300)); // a finding is kept for a quarter of a second
    expect(await health()).toEqual([200, "ok"]);
    await changed("update book_heads set hash = sha256('x')");
    await vi.waitFor(async () => expect(await health()).toEqual([503, "unavailable"]), { timeout: 30_000 });
  } finally {
    await service.stop();
  }
  const page = (name: string): string => readFileSync(new URL(`../../../docs/${name}`, import.meta.url), "utf8");
  expect(page("interface.md")).toContain("up to three books match their chain heads. No book is replayed.");
  expect(page("guides/running.md")).toContain("`was changed after it was written`");
});
