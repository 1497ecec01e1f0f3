// Goal: the health check says that the ledger is unavailable when a book does not end as its head says, and the pages promise no more than that; and
// that a server which takes no writes is no database. Method: a real service, whose database somebody changes past it.
import { readFileSync } from "node:fs";
import { expect, test, vi } from "vitest";
import { asOwner, paymentBody, startService } from "../../test/kit.ts";
import { systemClock } from "../ground/clock.ts";
import { WriteHealth } from "../store/write-health.ts";
import { Health } from "./health.ts";
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

test("a server that was made read-only, or became a standby, makes it 503, although nobody has tried a write", async () => {
  const service = await startService({ roles: ["api"] });
  try {
    const readOnly = (value: string): Promise<void> =>
      asOwner(service.database, async (admin) => {
        await admin.query("set default_transaction_read_only = off");
        await admin.query(`alter database ${service.database.name} set default_transaction_read_only = ${value}`);
        const others = "datname = current_database() and pid <> pg_backend_pid()";
        await admin.query(`select pg_terminate_backend(pid) from pg_stat_activity where ${others}`);
      });
    const answers = (status: number, database: string): Promise<void> =>
      vi.waitFor(
        async () => {
          const answer = await fetch(`${service.origin}/v1/health`);
          const dependencies = { core_ledger: "ok", database };
          expect([answer.status, await answer.json()]).toMatchObject([status, { dependencies }]);
        },
        { timeout: 30_000 },
      );
    await readOnly("on");
    await answers(503, "unavailable");
    await readOnly("off");
    await answers(200, "ok");
  } finally {
    await service.stop();
  }
});

test("a master key that the process lacks makes it 503 for people, and no outage of the service", async () => {
  const service = await startService({ roles: ["api"] });
  try {
    const health = new Health({
      database: service.app.database,
      writes: new WriteHealth(service.app.database),
      mayServe: () => true,
      opensSecrets: () => false,
      clock: systemClock,
      serviceName: "gerbang",
      version: "1.0.0",
      environment: () => "sandbox",
    });
    health.open();
    expect(await health.answer("req_1")).toMatchObject({ status: 503 });
    expect(await health.isWell()).toBe(true);
  } finally {
    await service.stop();
  }
});
