// Goal: the database refuses each refund that breaks a rule, whatever the code does. Method: one refund in a database; each rule of its tables is
// broken by a change of that refund, also at the ends of ranges. How refunds and their payment agree is tested in refunds.test.ts.
import { beforeAll, expect, test } from "vitest";
import { type TestDatabase, asOwner, cloneDatabase } from "../../test/kit.ts";
import { expectRights, expectRules } from "../../test/table-rules.ts";

const merchant = "01900000-0000-7000-8000-000000000001";
const payment = "01900000-0000-7000-8000-000000000002";
const refund = "01900000-0000-7000-8000-000000000003";
let database: TestDatabase;

const refundRow = (refundId: string, paymentId: string): string =>
  `insert into refunds (merchant_id, environment, refund_id, payment_id, status, amount_minor, currency, reason, created_at)
values ('${merchant}', 'sandbox', ${refundId}, ${paymentId}, 'pending', 5, 'IDR', 'broken', now())`;
const totalsRow = `insert into refund_totals (merchant_id, environment, payment_id, refunded_minor, pending_minor)
values ('${merchant}', 'sandbox', '${payment}', 0, 5)`;

beforeAll(async () => {
  database = await cloneDatabase();
  await asOwner(database, async (client) => {
    await client.query(`set session_replication_role = replica;
${refundRow(`'${refund}'`, `'${payment}'`)};
${totalsRow}`);
  });
});

test("every rule of the table of refunds refuses what breaks it", async () => {
  await expectRules(
    database,
    "refunds",
    [
      ["refunds_pkey", refundRow(`'${refund}'`, `'${payment}'`)],
      ["refunds_merchant_id_environment_payment_id_fkey", refundRow("gen_random_uuid()", "gen_random_uuid()")],
      ["refunds_amount_minor_check", "amount_minor = 0", "amount_minor = 9007199254740992"],
      ["refunds_currency_check", "currency = 'idr'", "currency = 'ID'", "currency = 'IDRX'"],
      ["refunds_reason_check", "reason = repeat('x', 256)"],
      ["refunds_completed_at_with_status", "completed_at = now()", "status = 'succeeded'", "status = 'failed'"],
    ],
    [
      "amount_minor = 1, reason = repeat('x', 255)",
      "amount_minor = 9007199254740991, reason = null",
      "status = 'succeeded', completed_at = now()",
      "status = 'failed', completed_at = now()",
    ],
  );
  await expectRights(database, "refunds", { insert: true, update: "status completed_at settlement_id" });
});

test("every rule of the table of refunds' totals refuses what breaks it", async () => {
  await expectRules(
    database,
    "refund_totals",
    [
      ["refund_totals_pkey", totalsRow],
      ["refund_totals_refunded_minor_check", "refunded_minor = -1"],
      ["refund_totals_pending_minor_check", "pending_minor = -1"],
    ],
    ["refunded_minor = 0, pending_minor = 0"],
  );
  await expectRights(database, "refund_totals", {});
});

test.each<[status: string, change: string, message: string]>([
  ["succeeded", "status = 'pending', completed_at = null", "a refund cannot go from succeeded to pending"],
  ["succeeded", "status = 'failed'", "a refund cannot go from succeeded to failed"],
  ["failed", "status = 'succeeded'", "a refund cannot go from failed to succeeded"],
  ...[
    "refund_id = gen_random_uuid()",
    "payment_id = gen_random_uuid()",
    "amount_minor = 6",
    "currency = 'USD'",
    "reason = 'other'",
    "reason = null",
    "created_at = now() + interval '1 hour'",
  ].map((change): [string, string, string] => ["pending", change, "what a refund was created with cannot change"]),
])("a %s refund: to set %s is refused", async (status, change, message) => {
  await asOwner(database, async (client) => {
    await client.query("begin");
    await client.query("set local session_replication_role = replica");
    await client.query(
      `update refunds set status = '${status}', completed_at = ${status === "pending" ? "null" : "now()"}`,
    );
    await client.query("set local session_replication_role = origin");
    await expect(client.query(`update refunds set ${change}`)).rejects.toThrow(message);
    await client.query("rollback");
  });
});

test("refunds' totals are not emptied", async () => {
  await asOwner(database, (client) =>
    expect(client.query("truncate refund_totals")).rejects.toThrow("refund_totals is append-only"),
  );
});
