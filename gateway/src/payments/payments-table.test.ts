// Goal: the database refuses each payment that breaks a rule, whatever the code does. Method: one payment in a database; each rule of its table is
// broken by a change of that payment, also at the ends of ranges; then how it is paid is changed in every state.
import { beforeAll, expect, test } from "vitest";
import { type TestDatabase, asOwner, cloneDatabase } from "../../test/kit.ts";
import { expectRights, expectRules } from "../../test/table-rules.ts";
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
const text = (count: number): string => `repeat('x', ${count})`;
const paid = (status: string, refunded: number): string =>
  `status = '${status}', paid_at = now(), refunded_minor = ${refunded}`;

test("every rule of the table of payments refuses what breaks it, and nothing within it", async () => {
  await expectRules(
    database,
    "payments",
    [
      ["payments_pkey", another({ payment_id: `'${payment}'` })],
      ["payments_reference", another({ reference_id: "'first'" })],
      ["payments_merchant_id_environment_fkey", another({ environment: "'production'" })],
      ["payments_link", another({ link_id: `'${link}'`, link_reusable: "true" })],
      ["payments_link_once", another({ link_id: `'${link}'`, link_reusable: "false" })],
      ["payments_link_whole", "link_id = null", "link_reusable = null"],
      ["payments_amount_minor_check", "amount_minor = 0, fee_minor = 0", "amount_minor = 9007199254740992"],
      ["payments_fee_within_amount", "fee_minor = -1", "fee_minor = 101"],
      ["payments_refund_pending_minor_check", "refund_pending_minor = -1"],
      ["payments_lost_minor_check", "lost_minor = -1"],
      [
        "payments_refunds_within_amount",
        "refund_pending_minor = 101",
        "lost_minor = 101",
        `${paid("partially_refunded", 50)}, refund_pending_minor = 30, lost_minor = 21`,
        `${paid("refunded", 100)}, refund_pending_minor = 1`,
      ],
      ["payments_refunded_part", paid("partially_refunded", 0), paid("partially_refunded", 100)],
      ["payments_refunded_whole", paid("refunded", 99), paid("refunded", 101)],
      ["payments_refunded_with_status", "refunded_minor = 1", "refunded_minor = -1", paid("succeeded", 1)],
      [
        "payments_paid_at_with_status",
        "paid_at = now()",
        "status = 'succeeded'",
        "status = 'partially_refunded', refunded_minor = 40",
        "status = 'refunded', refunded_minor = 100",
        ...["processing", "failed", "expired"].map((status) => `status = '${status}', paid_at = now()`),
      ],
      ["payments_canceled_at_with_status", "canceled_at = now()", "status = 'canceled'"],
      ["payments_expires_in_check", "expires_in = 59", "expires_in = 86401"],
      ["payments_risk_score_check", "risk_score = -1", "risk_score = 101"],
      ["payments_risk_decision_check", "risk_decision = 'unsure'", "risk_decision = ''"],
      ["payments_currency_check", "currency = 'idr'", "currency = 'ID'", "currency = 'IDRX'"],
      ["payments_reference_id_check", "reference_id = ''", `reference_id = ${text(65)}`],
      ["payments_gateway_code_check", "gateway_code = ''", "gateway_code = 'Merapi'", `gateway_code = ${text(31)}`],
      ["payments_description_check", `description = ${text(256)}`],
      ["payments_cancel_reason_check", `cancel_reason = ${text(256)}`],
      [
        "payments_callback_url_check",
        "callback_url = 'http://shop.test'",
        `callback_url = 'https://' || ${text(2041)}`,
      ],
      [
        "payments_return_url_check",
        "return_url = 'http://shop.test'",
        "return_url = 'http://localhost.shop.test'",
        `return_url = 'https://' || ${text(2041)}`,
        "return_url = 'http://localhost:3000/', environment = 'production'",
      ],
      ["payments_customer_key_check", `customer_key = ${bytes(15)}`, `customer_key = ${bytes(17)}`],
      ["payments_phone_key_check", `phone_key = ${bytes(15)}`, `phone_key = ${bytes(17)}`],
      ["payments_customer_sealed_length", `customer_sealed = ${bytes(32)}`, `customer_sealed = ${bytes(8193)}`],
      [
        "payments_payer_erased",
        `payer_erased_at = now(), customer_sealed = ${bytes(40)}`,
        `payer_erased_at = now(), customer_key = ${bytes(16)}`,
        `payer_erased_at = now(), phone_key = ${bytes(16)}`,
      ],
    ],
    [
      "amount_minor = 1, fee_minor = 1, reference_id = 'x'",
      "amount_minor = 9007199254740991, fee_minor = 0",
      paid("succeeded", 0),
      paid("partially_refunded", 1),
      `${paid("partially_refunded", 99)}, refund_pending_minor = 1`,
      `${paid("partially_refunded", 99)}, lost_minor = 1`,
      paid("refunded", 100),
      "status = 'canceled', canceled_at = now()",
      "expires_in = 60, risk_score = 100, risk_decision = 'review'",
      "expires_in = 86400, risk_decision = 'reject'",
      `reference_id = ${text(64)}, gateway_code = ${text(30)}, description = ${text(255)}, cancel_reason = ${text(255)}`,
      `callback_url = 'https://' || ${text(2040)}, return_url = 'https://' || ${text(2040)}`,
      ...["localhost", "127.0.0.1", "[::1]"].map((host) => `return_url = 'http://${host}:3000/'`),
      "return_url = 'https://shop.test', environment = 'production'",
      `customer_key = ${bytes(16)}, phone_key = ${bytes(16)}, customer_sealed = ${bytes(33)}`,
      `customer_sealed = ${bytes(8192)}`,
      "payer_erased_at = now()",
    ],
  );
});

test("every rule of the table of payers' keys refuses what breaks it", async () => {
  const key = (purpose: string, id = "gen_random_uuid()", sealed = 30): string =>
    `insert into payer_keys (key_id, purpose, key_sealed, created_at) values (${id}, '${purpose}', ${bytes(sealed)}, now())`;
  await asOwner(database, (client) => client.query(`delete from payer_keys; ${key("contacts", `'${payment}'`)}`));
  await expectRules(
    database,
    "payer_keys",
    [
      ["payer_keys_pkey", key("seal", `'${payment}'`)],
      ["payer_keys_contacts", key("contacts")],
      ["payer_keys_purpose_check", "purpose = 'any'"],
      ["payer_keys_key_sealed_check", `key_sealed = ${bytes(29)}`, `key_sealed = ${bytes(401)}`],
    ],
    [key("seal"), `key_sealed = ${bytes(400)}`],
  );
});

test("the service's role may change of a payment what changes after its creation, and delete none", async () => {
  const update = `status refunded_minor refund_pending_minor lost_minor dispute_status updated_at paid_at canceled_at cancel_reason
settlement_id risk_decision gateway_code instructions routing expires_at customer_sealed customer_key phone_key payer_erased_at`;
  await expectRights(database, "payments", { insert: true, update: update.replaceAll("\n", " ") });
  await expectRights(database, "payer_keys", { insert: true, update: "key_sealed" });
});

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
