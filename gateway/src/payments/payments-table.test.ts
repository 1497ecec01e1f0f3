// Goal: the database refuses each change of a payment that breaks a rule, whatever the code does. Method: one payment in a database; how it is paid is
// changed in every state. The checks of its table, its keys and the service's rights are tested with those of all tables, in the store.
import { beforeAll, expect, test } from "vitest";
import { type TestDatabase, asOwner, cloneDatabase } from "../../test/kit.ts";
import { isPaid, paymentStatuses } from "./states.ts";

const merchant = "01900000-0000-7000-8000-000000000001";
const link = "01900000-0000-7000-8000-000000000002";
const payment = "01900000-0000-7000-8000-000000000003";
let database: TestDatabase;

const columns = `merchant_id, environment, payment_id, status, amount_minor, fee_minor, created_at, updated_at, expires_at,
  payment_method, risk_score, currency, reference_id, risk_decision, risk_reasons, routing, link_id, link_reusable`;
/** A payment like the one of the table, but with an identity and an order of its own, and with the given changes. */
const another = (changes: Record<string, string> = {}): string => {
  const row = {
    merchant_id: `'${merchant}'`,
    environment: "'sandbox'",
    payment_id: "gen_random_uuid()",
    reference_id: "'another'",
    link_id: "null",
    link_reusable: "null",
    ...changes,
  };
  return `insert into payments (${columns}) values (${row.merchant_id}, ${row.environment}, ${row.payment_id}, 'pending', 100, 1, now(), now(), now(),
  'qris', 0, 'IDR', ${row.reference_id}, 'approve', '[]', '{}', ${row.link_id}, ${row.link_reusable})`;
};

beforeAll(async () => {
  database = await cloneDatabase();
  await asOwner(database, async (client) => {
    await client.query(`insert into merchants (merchant_id, name, settings, epoch, created_at) values ('${merchant}', 'x', '{}', 0, now());
insert into books (merchant_id, environment) values ('${merchant}', 'sandbox');
insert into payment_links (merchant_id, environment, link_id, token, reusable, customer_required, payment_expires_in, created_at, currency, amount_minor)
values ('${merchant}', 'sandbox', '${link}', decode(repeat('00', 16), 'hex'), false, false, 60, now(), 'IDR', 100);
${another({ payment_id: `'${payment}'`, reference_id: "'first'", link_id: `'${link}'`, link_reusable: "false" })}`);
  });
});

const bytes = (count: number): string => `decode(repeat('00', ${count}), 'hex')`;
const paid = (status: string, refunded: number): string =>
  `status = '${status}', paid_at = now(), refunded_minor = ${refunded}`;

test.each(paymentStatuses)("a link that is paid once, and has a payment that is %s", async (status) => {
  await asOwner(database, async (client) => {
    await client.query("begin");
    await client.query("set local session_replication_role = replica");
    const refunded = status === "refunded" ? 100 : status === "partially_refunded" ? 40 : 0;
    const canceled = status === "canceled" ? ", canceled_at = now()" : "";
    await client.query(
      `update payments set ${isPaid(status) ? paid(status, refunded) : `status = '${status}'${canceled}`}`,
    );
    await client.query("set local session_replication_role = origin");
    const second = client.query(another({ link_id: `'${link}'`, link_reusable: "false" }));
    if (["failed", "expired", "canceled"].includes(status)) await second;
    else await expect(second).rejects.toMatchObject({ constraint: "payments_link_once" });
    await client.query("rollback");
  });
});

const origin = "the link that it came by cannot change";
const payer = "who pays cannot change";
test.each<[given: string, change: string, message: string]>([
  ["status = 'pending'", "link_id = gen_random_uuid()", origin],
  ["status = 'pending'", "link_reusable = true", origin],
  ["lost_minor = 5", "lost_minor = 4", "what a dispute has lost is not taken back"],
  [paid("partially_refunded", 50), "refunded_minor = 49", "refunds are not taken back"],
  ...["customer_sealed", "customer_key", "phone_key"].map((column): [string, string, string] => [
    `customer_sealed = ${bytes(40)}, customer_key = ${bytes(16)}, phone_key = ${bytes(16)}`,
    `${column} = null`,
    payer,
  ]),
  ["payer_erased_at = now()", "payer_erased_at = null", payer],
  ["payer_erased_at = now()", "payer_erased_at = now() + interval '1 hour'", payer],
])("of a payment with %s, to set %s is refused", async (before, change, message) => {
  await asOwner(database, async (client) => {
    await client.query("begin");
    await client.query("set local session_replication_role = replica");
    await client.query(`update payments set ${before}`);
    await client.query("set local session_replication_role = origin");
    await expect(client.query(`update payments set ${change}`)).rejects.toThrow(message);
    await client.query("rollback");
  });
});

const review = "risk_decision = 'review'";
const routed = `gateway_code = 'nusantara', instructions = '{"a":1}'`;
test.each<[given: string, change: string, isAllowed: boolean]>([
  [review, `risk_decision = 'approve', ${routed}, expires_at = now() + interval '1 hour'`, true],
  [`${review}, status = 'failed'`, "risk_decision = 'approve'", false],
  [`${review}, status = 'canceled', canceled_at = now()`, "expires_at = now() + interval '1 hour'", false],
  ...["risk_decision = 'approve'", "gateway_code = 'nusantara'", "expires_at = now() + interval '1 hour'"].map(
    (change): [string, string, boolean] => [`${review}, status = 'expired'`, change, false],
  ),
  ["status = 'pending'", routed, true],
  ["status = 'processing'", "gateway_code = 'nusantara'", true],
  ["status = 'pending'", `routing = '{"b":1}'`, true],
  ["status = 'pending'", review, false],
  ["status = 'pending'", "expires_at = now() + interval '1 hour'", false],
  ["status = 'failed'", "gateway_code = 'nusantara'", false],
  ["status = 'expired'", "gateway_code = 'nusantara'", false],
  [paid("succeeded", 0), "gateway_code = 'nusantara'", false],
  [routed, "gateway_code = 'merapi'", false],
  [routed, "gateway_code = null", false],
  [routed, `instructions = '{"a":2}'`, false],
  [routed, "instructions = null", false],
  [`${paid("succeeded", 0)}, ${routed}`, routed, true],
  [routed, `routing = '{"b":1}', ${routed}`, true],
])("how a payment with %s is paid: to set %s is allowed: %s", async (before, change, isAllowed) => {
  await asOwner(database, async (client) => {
    await client.query("begin");
    await client.query("set local session_replication_role = replica");
    await client.query(`update payments set ${before}`);
    await client.query("set local session_replication_role = origin");
    const changed = client.query(`update payments set ${change}`);
    if (isAllowed) await expect(changed).resolves.toMatchObject({ rowCount: 1 });
    else await expect(changed).rejects.toThrow("how a payment is paid cannot change");
    await client.query("rollback");
  });
});

test("a payment is paid by its own capture alone", async () => {
  let seq = 0;
  const journal = (kind: string, group: string, environment = "sandbox"): string =>
    `insert into journals (merchant_id, environment, seq, journal_id, group_id, kind, operation_key, posted_at, prev_hash, hash)
values ('${merchant}', '${environment}', ${++seq}, gen_random_uuid(), '${group}', '${kind}', '${kind}:${seq}', now(), ${bytes(32)}, ${bytes(32)})`;
  const others = [
    journal("receipt_unapplied", payment),
    journal("capture", link),
    journal("capture", payment, "production"),
  ];
  await asOwner(database, async (client) => {
    for (const journals of [[], others, [...others, journal("capture", payment)]]) {
      await client.query("begin");
      await client.query("set local session_replication_role = replica");
      for (const one of journals) await client.query(one);
      await client.query("set local session_replication_role = origin");
      await client.query(`update payments set ${paid("succeeded", 0)}`);
      const checked = client.query("set constraints payments_captured immediate");
      if (journals.length > others.length) await checked;
      else await expect(checked).rejects.toThrow("succeeded without a capture");
      await client.query("rollback");
    }
  });
});
