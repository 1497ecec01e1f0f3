// Goal: the state machine in the code and the one in the database are the same. Method: try every pair on both.
import { beforeAll, expect, test } from "vitest";
import type pg from "pg";
import { type TestDatabase, asOwner, cloneDatabase } from "../../test/kit.ts";
import { type PaymentStatus, paymentStatuses, transitions } from "./states.ts";

const merchant = "01900000-0000-7000-8000-000000000001";
let database: TestDatabase;

beforeAll(async () => {
  database = await cloneDatabase();
  await asOwner(database, async (client) => {
    await client.query(
      "insert into merchants (merchant_id, name, settings, epoch, created_at) values ($1, 'x', '{}', 0, now())",
      [merchant],
    );
    await client.query("insert into books (merchant_id, environment) values ($1, 'sandbox')", [merchant]);
  });
});

const shapeOf = (status: PaymentStatus): Record<string, unknown> => ({
  status,
  paid_at: ["succeeded", "partially_refunded", "refunded"].includes(status) ? "2026-01-01" : null,
  canceled_at: status === "canceled" ? "2026-01-01" : null,
  refunded_minor: status === "refunded" ? 100 : status === "partially_refunded" ? 40 : 0,
});

async function insert(client: pg.Client, status: PaymentStatus): Promise<string> {
  const { rows } = await client.query<{ payment_id: string }>(
    `insert into payments (merchant_id, environment, payment_id, status, amount_minor, fee_minor, created_at, updated_at, expires_at,
  payment_method, risk_score, currency, reference_id, risk_decision, risk_reasons, routing, paid_at, canceled_at, refunded_minor)
values ($1, 'sandbox', gen_random_uuid(), $2, 100, 1, now(), now(), now(), 'qris', 0, 'IDR', gen_random_uuid()::text, 'approve', '[]', '{}', $3, $4, $5)
returning payment_id`,
    [merchant, ...Object.values(shapeOf(status))],
  );
  return rows[0]?.payment_id ?? "";
}

test("code and database know the same states", async () => {
  await asOwner(database, async (client) => {
    const { rows } = await client.query("select unnest(enum_range(null::payment_status))::text as status");
    expect(rows.map((row: { status: string }) => row.status)).toEqual(paymentStatuses);
  });
});

test("a payment begins as pending or failed, and nothing else", async () => {
  await asOwner(database, async (client) => {
    for (const status of paymentStatuses) {
      const allowed = status === "pending" || status === "failed";
      const attempt = insert(client, status);
      if (allowed) await expect(attempt, status).resolves.toBeTypeOf("string");
      else await expect(attempt, status).rejects.toThrow(/cannot begin/);
    }
  });
});

test("code and database allow the same transitions", async () => {
  await asOwner(database, async (client) => {
    for (const from of paymentStatuses) {
      for (const to of paymentStatuses) {
        if (from === to) continue;
        await client.query("begin");
        await client.query("alter table payments disable trigger payments_begin");
        const payment = await insert(client, from);
        const shape = shapeOf(to);
        const change = client.query(
          "update payments set status = $2, paid_at = $3, canceled_at = $4, refunded_minor = greatest(refunded_minor, $5) where payment_id = $1",
          [payment, ...Object.values(shape)],
        );
        const allowed = transitions[from].includes(to);
        if (allowed) await expect(change, `${from} > ${to}`).resolves.toMatchObject({ rowCount: 1 });
        else await expect(change, `${from} > ${to}`).rejects.toThrow(/a payment cannot go from/);
        await client.query("rollback");
      }
    }
  });
});

test("what a payment was created with cannot change", async () => {
  await asOwner(database, async (client) => {
    const payment = await insert(client, "pending");
    for (const change of [
      "merchant_id = gen_random_uuid()",
      "environment = 'production'",
      "payment_id = gen_random_uuid()",
      "amount_minor = 200",
      "fee_minor = 0",
      "currency = 'USD'",
      "reference_id = 'other'",
      "created_at = now() - interval '1 day'",
    ]) {
      await expect(
        client.query(`update payments set ${change} where payment_id = $1`, [payment]),
        change,
      ).rejects.toThrow(/cannot change/);
    }
  });
});

test("what was refunded is not taken back", async () => {
  await asOwner(database, async (client) => {
    const payment = await insert(client, "pending");
    await client.query("begin");
    const change = (set: string): Promise<unknown> =>
      client.query(`update payments set ${set} where payment_id = $1`, [payment]);
    await change("status = 'succeeded', paid_at = now()");
    await change("status = 'partially_refunded', refunded_minor = 50");
    await change("refunded_minor = 60");
    await expect(change("refunded_minor = 59")).rejects.toThrow(/not taken back/);
    await client.query("rollback");
  });
});
