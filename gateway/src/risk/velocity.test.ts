// Goal: whoever comes too often is seen by each contact, whatever else changes. Method: payments through the API, with one
// contact kept and the other one varied, one after another and all at once; a merchant's minute beside plain counting, by property; the plan
// of the statement over many payments.
import fc from "fast-check";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import type { Client } from "../../../e2e/kit/client.ts";
import { type TestService, asOwner, paymentBody, startService } from "../../test/kit.ts";
import { SECOND, systemClock } from "../ground/clock.ts";
import { newId, uuidOf } from "../ground/ids.ts";
import type { Environment } from "../merchants/books.ts";
import { type VelocityKey, customerVelocity, merchantVelocity } from "./velocity.sql.ts";

const PER_HOUR = 4;
let service: TestService;

beforeAll(async () => {
  service = await startService({ roles: ["api"] });
});
afterAll(() => service.stop());

let number = 0;
const email = (): string => `someone${++number}@pelanggan.id`;
const phone = (): string => `+62812000${String(++number).padStart(5, "0")}`;

const merchant = (): Promise<{ client: Client; merchantId: string }> =>
  service.merchant({ settings: { risk: { customer_per_hour: PER_HOUR } } });

/** Whether the customer's velocity speaks against a payment. */
async function suspected(client: Client, customer: Record<string, string>): Promise<boolean> {
  const { status, json } = await client.post("/v1/payments", paymentBody({ customer }));
  expect([201, 202]).toContain(status);
  return status === 202 || json.risk.score > 0;
}

test.each<[string, () => Record<string, string>]>([
  ["one telephone under ever new addresses", () => ({ email: email(), phone: "+628110000001" })],
  ["one address under ever new telephones", () => ({ email: "same@pelanggan.id", phone: phone() })],
  [
    "one telephone, now with and now without an address",
    () => ({
      phone: "+628110000003",
      ...(number++ % 2 ? { email: email() } : {}),
    }),
  ],
])("%s is one customer, one after another and all at once", async (_name, customer) => {
  const { client } = await merchant();
  for (let count = 0; count < PER_HOUR; count++) expect(await suspected(client, customer())).toBe(false);
  const more = await Promise.all(Array.from({ length: 3 }, () => suspected(client, customer())));
  expect(more).toEqual([true, true, true]);
});

test("customers who share nothing are not counted together", async () => {
  const { client } = await merchant();
  for (let count = 0; count < PER_HOUR + 2; count++) {
    expect(await suspected(client, { email: email(), phone: phone() })).toBe(false);
  }
});

test("payments begun by a link count for the customer whose address was typed there only once they are paid", async () => {
  const { client } = await merchant();
  const customer = { name: "Sari", email: "named@pelanggan.id" };
  const { json: link } = await client.post("/v1/payment-links", {
    amount_minor: 150_000,
    currency: "IDR",
    reusable: true,
    customer_required: true,
  });
  for (let count = 0; count < PER_HOUR + 1; count++) {
    const once = /name="once" value="([^"]*)"/.exec(await (await fetch(link.url)).text())?.[1] ?? "";
    const body = new URLSearchParams({ once, method: "qris", ...customer });
    expect((await fetch(link.url, { method: "POST", redirect: "manual", body })).status).toBe(303);
  }
  const pay = async (): Promise<{ isSuspected: boolean; reference: string }> => {
    const { status, json } = await client.post("/v1/payments", paymentBody({ customer }));
    expect(status).toBe(201);
    return { isSuspected: json.risk.score > 0, reference: json.reference };
  };
  const shownToOperator = async (reference: string): Promise<number> =>
    (await service.askOperator(`/payments/${reference}`)).json.risk.facts.customer_payments;
  const before = await pay();
  expect(before.isSuspected).toBe(false);
  const begun = (await client.get(`/v1/payments?payment_link=${link.uuid}`)).json.data as { reference: string }[];
  expect(begun).toHaveLength(PER_HOUR + 1);
  // With the shop's own payment they are as many as the threshold.
  for (const { reference } of begun.slice(0, PER_HOUR - 1)) {
    const path = `/v1/sandbox/payments/${reference}/simulate`;
    expect((await client.post(path, { outcome: "succeeded" })).status).toBe(200);
  }
  const after = await pay();
  expect(after.isSuspected).toBe(true);
  expect([await shownToOperator(before.reference), await shownToOperator(after.reference)]).toEqual([0, PER_HOUR]);
  // More unpaid ones than are examined, begun before, hide none of these.
  const ids = Array.from({ length: 1_100 }, (_, at) =>
    uuidOf(newId("payment", systemClock.now() - 1_800 * SECOND + at)),
  );
  await asOwner(service.database, (owner) =>
    owner.query(
      `insert into payments
select (jsonb_populate_record(p, jsonb_build_object('payment_id', id, 'reference_id', id))).*
from payments p, unnest($2::uuid[]) id
where p.payment_id = $1::uuid`,
      [uuidOf(begun.at(-1)?.reference ?? ""), ids],
    ),
  );
  expect((await pay()).isSuspected).toBe(true);
});

test("a busy merchant is counted exactly: within its minute, after it, and under another threshold", async () => {
  const { client, merchantId } = await service.merchant({ settings: { risk: { merchant_per_minute: 3 } } });
  const several = async (count: number): Promise<boolean[]> => {
    const seen: boolean[] = [];
    for (let one = 0; one < count; one++) seen.push(await suspected(client, { email: email() }));
    return seen;
  };
  expect(await several(6)).toEqual([false, false, false, true, true, true]);
  expect((await client.post("/v1/sandbox/clock/advance", { seconds: 61 })).status).toBe(200);
  expect(await several(5)).toEqual([false, false, false, true, true]);
  await service.operate("PATCH", `/merchants/${merchantId}`, { risk: { merchant_per_minute: 7 } });
  expect(await several(4)).toEqual([false, false, true, true]);
});

test("a lone payment sees what another process did to the clock and the count", async () => {
  const beside = await startService({ database: service.database, roles: ["api"] });
  onTestFinished(() => beside.stop());
  const { client, merchantId } = await service.merchant({ settings: { risk: { merchant_per_minute: 3 } } });
  const id = uuidOf(merchantId);
  const pay = async (): Promise<{ score: number; createdAt: number }> => {
    const { json } = await client.post("/v1/payments", paymentBody());
    return { score: json.risk.score, createdAt: Date.parse(json.created_at) };
  };
  const { score: calm } = await pay();
  expect((await pay()).score).toBe(calm);
  const move =
    "update books set clock_offset_seconds = clock_offset_seconds + 7200 where merchant_id = $1::uuid and environment = 'sandbox'";
  await asOwner(service.database, (owner) => owner.query(move, [id]));
  const later = await pay();
  expect(later.createdAt - Date.now()).toBeGreaterThan(7_000_000);
  expect(later.score).toBe(calm);
  await payTwiceBeside(id);
  expect((await pay()).score).toBeGreaterThan(calm);
  expect((await pay()).score).toBeGreaterThan(calm);
});

/** Two more of this minute, written by somebody else. */
async function payTwiceBeside(merchant: string, database = service.database): Promise<void> {
  await asOwner(database, async (owner) => {
    const { rows } = await owner.query(
      "select * from payments where merchant_id = $1::uuid order by payment_id desc limit 1",
      [merchant],
    );
    const last = (rows[0] as { payment_id: string }).payment_id;
    for (const end of ["000000000001", "000000000002"]) {
      await owner.query(
        `insert into payments select (jsonb_populate_record(p, jsonb_build_object('payment_id', $3::text, 'reference_id', $4::text))).*
from payments p where merchant_id = $1::uuid and payment_id = $2::uuid`,
        [merchant, last, last.slice(0, -12) + end, `beside-${last}-${end}`],
      );
    }
  });
}

test("a merchant's minute is counted exactly, whatever is in it, up to its bound", async () => {
  const nowMs = 1_800_000_000_000;
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.nat(90_000), { maxLength: 60 }),
      fc.integer({ min: 1, max: 40 }),
      fc.nat(100),
      async (ago, most, offsetSeconds) => {
        const { merchantId } = await service.merchant();
        await moveClock(merchantId, offsetSeconds);
        const sinceMs = nowMs - 60_000;
        const moments = ago.map((ms) => nowMs + offsetSeconds * 1_000 - ms);
        await payAt(merchantId, moments);
        // What the merchant takes in its other environment counts there.
        await payAt(merchantId, [nowMs + offsetSeconds * 1_000], "production");
        const key: VelocityKey = {
          book: { merchantId, environment: "sandbox" },
          contactKey: null,
          realSince: sinceMs * 1_000,
          most,
        };
        const { text, values } = merchantVelocity.load?.([key], nowMs * 1_000) ?? expect.unreachable();
        const [row] = await asOwner(service.database, async (owner) => (await owner.query(text, values)).rows);
        const inside = moments.filter((at) => at >= sinceMs + offsetSeconds * 1_000).length;
        expect(merchantVelocity.parse?.(row as Record<string, unknown>).count).toBe(Math.min(most, inside));
      },
    ),
    { numRuns: 15 },
  );
});

async function moveClock(merchantId: string, seconds: number): Promise<void> {
  await asOwner(service.database, (owner) =>
    owner.query(
      "update books set clock_offset_seconds = clock_offset_seconds + $2 where merchant_id = $1::uuid and environment = 'sandbox'",
      [uuidOf(merchantId), seconds],
    ),
  );
}

/** Payments that somebody made at these milliseconds. */
async function payAt(merchantId: string, moments: number[], environment: Environment = "sandbox"): Promise<void> {
  await asOwner(service.database, (owner) =>
    owner.query(
      `insert into payments (merchant_id, environment, payment_id, status, amount_minor, fee_minor, created_at, updated_at, expires_at,
  payment_method, risk_score, currency, reference_id, risk_decision, risk_reasons, routing)
select $1::uuid, $3::environment, (lpad(to_hex(ms), 12, '0') || right(replace(gen_random_uuid()::text, '-', ''), 20))::uuid, 'pending', 1, 0, now(), now(), now(),
  'qris', 0, 'IDR', gen_random_uuid()::text, 'approve', '[]', '{}'
from unnest($2::bigint[]) as ms`,
      [uuidOf(merchantId), moments, environment],
    ),
  );
}

test("both contacts are counted in one statement, and each through an index of its own", async () => {
  const { merchantId } = await merchant();
  const book = { merchantId, environment: "sandbox" } as const;
  const keys = ["0a".repeat(16), "0b".repeat(16)].map((contactKey) => ({
    book,
    contactKey,
    realSince: Date.now() * 1000 - SECOND,
    most: PER_HOUR,
  }));
  const statement = customerVelocity.load?.(keys, Date.now() * 1000) ?? expect.unreachable("velocities are loaded");
  const plan = await asOwner(service.database, async (owner) => {
    await owner.query("begin");
    await owner.query(
      `insert into payments (merchant_id, environment, payment_id, status, amount_minor, fee_minor, created_at, updated_at, expires_at,
  payment_method, risk_score, currency, reference_id, risk_decision, risk_reasons, routing, customer_key, phone_key)
select $1::uuid, 'sandbox', gen_random_uuid(), 'pending', 1, 0, now(), now(), now(), 'qris', 0, 'IDR', 'order-' || n, 'approve', '[]', '{}',
  decode(md5(n::text), 'hex'), decode(md5('p' || n), 'hex')
from generate_series(1, 20000) n`,
      [uuidOf(merchantId)],
    );
    await owner.query("analyze payments");
    const { rows } = await owner.query<Record<string, string>>(`explain ${statement.text}`, statement.values);
    await owner.query("rollback");
    return rows.map((row) => row["QUERY PLAN"]).join("\n");
  });
  expect(plan).toMatch(/Index (Only )?Scan (?:Backward )?using payments_customer/);
  expect(plan).toMatch(/Index (Only )?Scan (?:Backward )?using payments_phone/);
  expect(plan).not.toContain("Seq Scan on payments");
});
