// Goal: what is written for good stays, whoever writes: triggers refuse it to the owner as well. Method: rows are put beside the triggers, and then
// changed column by column and status by status; what is appended only is attacked as a whole.
import { beforeAll, describe, expect, test } from "vitest";
import type pg from "pg";
import { type TestDatabase, asOwner, cloneDatabase } from "../../test/kit.ts";

type Row = Record<string, unknown>;

let database: TestDatabase;

/** The code and text of the error with which a statement is refused; undefined: it changes one row. Nothing of it stays. */
async function refusal(owner: pg.Client, statement: string): Promise<string | undefined> {
  await owner.query("savepoint before");
  try {
    const { rowCount } = await owner.query(statement);
    return rowCount === 1 ? undefined : "it found no row";
  } catch (error) {
    return `${(error as pg.DatabaseError).code} ${(error as Error).message}`;
  } finally {
    await owner.query("rollback to before");
  }
}

/** Writes a row while no trigger runs. */
async function write(owner: pg.Client, table: string, row: Row): Promise<void> {
  const columns = Object.keys(row).join(", ");
  await owner.query("set session_replication_role = replica");
  await owner.query(
    `insert into ${table} (${columns}) select ${columns} from jsonb_populate_record(null::${table}, $1)`,
    [JSON.stringify(row)],
  );
  await owner.query("set session_replication_role = origin");
}

/** Changes the row that this transaction wrote. */
const change = (owner: pg.Client, table: string, set: string): Promise<string | undefined> =>
  refusal(owner, `update ${table} set ${set} where xmin = pg_current_xact_id()::xid`);

/** Works on one row of a table, written beside the triggers. Nothing of it stays. */
async function beside(table: string, row: Row, work: (owner: pg.Client) => Promise<void>): Promise<void> {
  await asOwner(database, async (owner) => {
    await owner.query("begin");
    try {
      await write(owner, table, row);
      await work(owner);
    } finally {
      await owner.query("rollback");
    }
  });
}

const [id, other] = ["01900000-0000-7000-8000-000000000001", "01900000-0000-7000-8000-000000000002"];
const [then, later] = ["2026-01-02T00:00:00Z", "2026-01-03T00:00:00Z"];
const digest = `\\x${"00".repeat(32)}`;
const book = { merchant_id: id, environment: "sandbox" };
const money = { amount_minor: 100, currency: "IDR" };
const payment = {
  ...book,
  ...money,
  payment_id: id,
  status: "pending",
  fee_minor: 1,
  created_at: then,
  updated_at: then,
  expires_at: then,
  payment_method: "qris",
  risk_score: 0,
  reference_id: "x",
  risk_decision: "approve",
  risk_reasons: [],
  routing: {},
};
const credential = {
  ...book,
  client_id: `ak_test_${"0".repeat(26)}`,
  secret_sealed: `\\x${"00".repeat(30)}`,
  scopes: ["payments:read"],
  signature: "any",
  created_at: then,
  allowed_addresses: [],
};
const refund = { ...book, ...money, refund_id: id, payment_id: other, created_at: then };
const dispute = {
  ...book,
  ...money,
  dispute_id: id,
  payment_id: other,
  reason: "general",
  evidence_due_at: then,
  opened_at: then,
};
const receipt = {
  ...book,
  ...money,
  receipt_id: id,
  payment_id: other,
  gateway_code: "x",
  transaction_id: "x",
  received_at: then,
};
const settlement = {
  ...book,
  settlement_id: id,
  currency: "IDR",
  period_start: then,
  period_end: then,
  gross_minor: 3,
  fee_minor: 1,
  refund_minor: 1,
  net_minor: 1,
  payment_count: 1,
  created_at: then,
  pay_due_at: then,
  payout_date: "2026-01-02",
};
const file = {
  ...book,
  dispute_id: other,
  file_id: id,
  slot: 1,
  state: "arriving",
  name: "x",
  size_bytes: 1,
  arriving_since: then,
};
const key = { ...book, idempotency_key: "12345678", first_seen_at: then, body_digest: digest, endpoint: "x" };
const token = { token_id: id, name: "x", role: "viewer", digest, created_at: then, created_by: "x" };
const approval = {
  ...book,
  ...money,
  approval_id: id,
  action: "x",
  operation: "x",
  method: "POST",
  path: "x",
  body: "\\x00",
  body_digest: "\\x6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
  request_key: "12345678",
  summary: "x",
  payment_id: id,
  least_role: "admin",
  policy_version: 1,
  request_id: id,
  status: "waiting",
  asked_kind: "token",
  asked_id: "a",
  asked_by: "a",
  asked_role: "admin",
  asked_at: later,
};
const executing = {
  ...approval,
  status: "executing",
  decided_kind: "token",
  decided_id: "b",
  decided_by: "b",
  decided_made_at: then,
  note: "x",
  decided_at: later,
  run_id: id,
  leased_until: later,
};
const rules = {
  version: 2,
  active: true,
  rules: [],
  epoch: 0,
  created_at: then,
  created_by: "x",
  note: "x",
  restores: 1,
};
const incident = {
  incident_id: id,
  title: "x",
  impact: "minor",
  components: [],
  starts_at: then,
  created_at: then,
  created_by: "x",
};

// What the rows below name is there.
beforeAll(async () => {
  database = await cloneDatabase();
  await asOwner(database, async (owner) => {
    for (const merchant of [id, other])
      await write(owner, "merchants", { merchant_id: merchant, name: "x", settings: {}, epoch: 0, created_at: then });
    await write(owner, "books", { ...book, clock_offset_seconds: 0 });
    await write(owner, "payments", { ...payment, payment_id: other, reference_id: "other" });
    await write(owner, "disputes", { ...dispute, dispute_id: other, status: "won", resolved_at: then });
    await write(owner, "routing_rule_sets", { ...rules, version: 1, active: false, restores: null });
  });
});

/** Another value of a column, by its type. */
const otherValues: Record<string, (column: string) => string> = {
  uuid: () => "gen_random_uuid()",
  text: (column) => `coalesce(${column}, '') || 'x'`,
  bytea: (column) => `coalesce(${column}, '') || '\\x01'`,
  json: () => `'{"other": true}'`,
  jsonb: () => `'{"other": true}'`,
  boolean: (column) => `${column} is not true`,
  date: (column) => `coalesce(${column}, '2026-01-01') + 1`,
  "timestamp with time zone": (column) => `coalesce(${column}, '2026-01-01') + interval '1 microsecond'`,
  environment: (column) => `case when ${column} = 'sandbox' then 'production' else 'sandbox' end::environment`,
};
const number = (column: string): string => `coalesce(${column}, 0) + 1`;

async function typesOf(owner: pg.Client, table: string): Promise<Map<string, string>> {
  const { rows } = await owner.query<{ column: string; type: string }>(
    `select attname as column, format_type(atttypid, null) as type from pg_attribute
where attrelid = $1::regclass and attnum > 0 and not attisdropped`,
    [table],
  );
  return new Map(rows.map(({ column, type }) => [column, type]));
}

test.each<[what: string, table: string, row: Row, stays: string | RegExp, together?: string]>([
  [
    "what a refund was created with",
    "refunds",
    { ...refund, status: "pending", reason: "x" },
    "refund_id payment_id amount_minor currency reason created_at",
  ],
  [
    "what a dispute was opened with",
    "disputes",
    { ...dispute, status: "needs_response" },
    "dispute_id payment_id amount_minor currency opened_at reason",
  ],
  ["what was decided of a receipt", "receipts", { ...receipt, status: "credited", decided_at: then }, "decided_at"],
  [
    "a settlement that was paid",
    "settlements",
    { ...settlement, status: "paid", paid_at: then, bank_reference: "x" },
    /^(?!status$)/,
  ],
  [
    "a settlement that was returned",
    "settlements",
    { ...settlement, status: "failed", returned_at: then },
    /^(?!status$)/,
  ],
  [
    "what a file was announced as",
    "evidence_files",
    file,
    "file_id slot name size_bytes arriving_since",
    "state = 'removed'",
  ],
  ["the request of a key that is not answered yet", "idempotency_keys", key, "first_seen_at body_digest endpoint"],
  [
    "the answer of a key",
    "idempotency_keys",
    { ...key, status: 200, response: "{}" },
    "first_seen_at body_digest endpoint status response",
  ],
  [
    "a token's rights and its end",
    "operator_tokens",
    { ...token, revoked_at: then, replaced_by: other, expires_at: then },
    "token_id name role digest created_at created_by revoked_at replaced_by expires_at",
  ],
  [
    "what was asked for",
    "operator_approvals",
    approval,
    /^(?!(?:status|decided_\w+|note|run_id|attempts|leased_until|answer|answer_status|ended_at)$)/,
    "status = 'expired'", // which may follow
  ],
  [
    "who decided what runs",
    "operator_approvals",
    executing,
    /^(?!(?:status|attempts|leased_until|answer|answer_status|ended_at)$)/,
  ],
  ["a version of the routing rules", "routing_rule_sets", rules, /^(?!(?:active|epoch)$)/],
  ["when and by whom an incident was told", "incidents", incident, "incident_id created_at created_by"],
])("stays: %s", async (_what, table, row, stays, together) => {
  await beside(table, row, async (owner) => {
    const types = await typesOf(owner, table);
    const columns = typeof stays === "string" ? stays.split(" ") : [...types.keys()].filter((name) => stays.test(name));
    for (const column of columns) {
      const value = (otherValues[types.get(column) ?? ""] ?? number)(column);
      const sets = [`${column} = ${value}`, ...(together === undefined ? [] : [together])].join(", ");
      expect(await change(owner, table, sets), column).toMatch(
        /cannot change|stays as it is|stays what it is|for 72 hours|only ends|never changes|decided once|cannot go/,
      );
    }
  });
});

test.each<[what: string, table: string, row: Row, set: string, refused?: string]>([
  [
    "the batch of a receipt is written",
    "receipts",
    { ...receipt, status: "credited", decided_at: then },
    "settlement_id = gen_random_uuid()",
  ],
  ["a refund loses its reason", "refunds", { ...refund, status: "pending", reason: "x" }, "reason = null", "GB006"],
  [
    "what was asked for loses its key",
    "operator_approvals",
    approval,
    "status = 'expired', request_key = null",
    "GB005",
  ],
  ["a token ends sooner", "operator_tokens", { ...token, expires_at: later }, `expires_at = '${then}'`],
  ["a token gets its end", "operator_tokens", token, "expires_at = now(), revoked_at = now(), replaced_by = token_id"],
  ["a token never ends after all", "operator_tokens", { ...token, expires_at: later }, "expires_at = null", "GB005"],
  ["a revocation is taken back", "operator_tokens", { ...token, revoked_at: later }, "revoked_at = null", "GB005"],
  [
    "a key's revocation is taken back",
    "credentials",
    { ...credential, revoked_at: then },
    "revoked_at = null",
    "GB005",
  ],
  ["a key was revoked later", "credentials", { ...credential, revoked_at: then }, `revoked_at = '${later}'`, "GB005"],
  [
    "a revoked key is sealed anew",
    "credentials",
    { ...credential, revoked_at: then },
    "secret_sealed = secret_sealed || '\\x00'",
  ],
  ["a replacement is taken back", "operator_tokens", { ...token, replaced_by: other }, "replaced_by = null", "GB005"],
  ["other rules decide", "routing_rule_sets", rules, "active = false, epoch = 1"],
  ["an incident becomes planned work", "incidents", incident, `impact = 'maintenance', ends_at = '${later}'`, "GB005"],
  [
    "planned work becomes an incident",
    "incidents",
    { ...incident, impact: "maintenance", ends_at: later },
    "impact = 'minor', ends_at = null",
    "GB005",
  ],
  ["an incident grows", "incidents", incident, "impact = 'critical', title = 'other'"],
  ["a key is answered", "idempotency_keys", key, "status = 200, response = '{}'"],
  [
    "a key is answered after 72 hours less a moment for another request",
    "idempotency_keys",
    key,
    "endpoint = 'y', first_seen_at = first_seen_at + interval '72 hours' - interval '1 microsecond'",
    "GB006",
  ],
  [
    "a key stands for another request after 72 hours",
    "idempotency_keys",
    { ...key, status: 200, response: "{}" },
    "endpoint = 'y', status = null, response = null, first_seen_at = first_seen_at + interval '72 hours'",
  ],
  [
    "a book's clock goes on",
    "books",
    { ...book, merchant_id: other, clock_offset_seconds: 5 },
    "clock_offset_seconds = 6",
  ],
  [
    "a book's clock goes back",
    "books",
    { ...book, merchant_id: other, clock_offset_seconds: 5 },
    "clock_offset_seconds = 4",
    "23514",
  ],
])("%s: %s", async (_what, table, row, set, refused) => {
  await beside(table, row, async (owner) => {
    expect((await change(owner, table, set))?.slice(0, 5)).toBe(refused);
  });
});

/** Which status may follow which. A status that may follow itself can be written again. */
const ways: Record<string, { rows: Record<string, Row>; follows: Record<string, string[]> }> = {
  refunds: {
    rows: {
      pending: { ...refund },
      succeeded: { ...refund, completed_at: then },
      failed: { ...refund, completed_at: then },
    },
    follows: { pending: ["pending", "succeeded", "failed"], succeeded: ["succeeded"], failed: ["failed"] },
  },
  receipts: {
    rows: {
      applied: receipt,
      unapplied: receipt,
      returned: { ...receipt, decided_at: then },
      credited: { ...receipt, decided_at: then },
    },
    follows: { unapplied: ["returned", "credited"] },
  },
  settlements: {
    rows: {
      processing: settlement,
      paid: { ...settlement, paid_at: then, bank_reference: "x" },
      failed: { ...settlement, returned_at: then },
    },
    follows: { processing: ["processing", "paid", "failed"], paid: ["paid"], failed: ["failed"] },
  },
  operator_approvals: {
    rows: {
      waiting: approval,
      executing,
      executed: { ...executing, leased_until: null, answer_status: 200 },
      failed: { ...executing, leased_until: null, answer_status: 200 },
      unknown: { ...executing, leased_until: null },
      refused: { ...executing, leased_until: null },
      withdrawn: { ...executing, decided_id: "a", leased_until: null },
      expired: approval,
    },
    follows: {
      waiting: ["executing", "refused", "withdrawn", "expired"],
      executing: ["executing", "executed", "failed", "unknown"],
    },
  },
};

describe.each(Object.entries(ways))("of %s", (table, { rows, follows }) => {
  test.each(Object.keys(rows))("what may follow %s", async (from) => {
    await beside(table, { ...rows[from], status: from }, async (owner) => {
      for (const to of Object.keys(rows)) {
        // Triggers come before checks: what a trigger lets pass may miss columns that go with the status.
        const code = await change(owner, table, `status = '${to}'`);
        const allowed = follows[from]?.includes(to) ?? false;
        expect(/^GB00[56] /.test(code ?? ""), `${from} > ${to}: ${code}`).toBe(!allowed);
      }
    });
  });
});

test.each(["returned", "credited"])("no receipt begins as %s", async (status) => {
  await asOwner(database, async (owner) => {
    await expect(
      owner.query(
        `insert into receipts (merchant_id, environment, receipt_id, gateway_code, transaction_id, payment_id, amount_minor, currency, status, received_at, decided_at)
values ('${id}', 'sandbox', '${id}', 'x', 'x', '${id}', 1, 'IDR', '${status}', now(), now())`,
      ),
    ).rejects.toThrow("cannot begin");
  });
});

const whole = ["update", "delete", "truncate"];
test.each<[table: string, attacks: string[]]>([
  ["journals", whole],
  ["entries", whole],
  ["client_audit", whole],
  ["dispute_evidence", whole],
  ["operator_audit", whole],
  ["operator_approval_policies", whole],
  ["routing_activations", whole],
  ["payment_splits", whole],
  ["incident_updates", whole],
  ["book_heads", ["delete", "truncate"]],
  ["routing_rule_sets", ["delete", "truncate"]],
  ["operator_tokens", ["delete", "truncate"]],
  ["operator_approvals", ["delete", "truncate"]],
  ["incidents", ["delete", "truncate"]],
  ["people_audit", ["update", "truncate"]],
  ["operator_refusals", ["update", "truncate"]],
  ["balances", ["truncate"]],
  ["refund_totals", ["truncate"]],
  ["evidence_files", ["truncate"]],
  ["evidence_pieces", ["truncate"]],
])("of %s nothing is done as a whole: %j", async (table, attacks) => {
  await asOwner(database, async (owner) => {
    const [column] = [...(await typesOf(owner, table)).keys()];
    await owner.query("begin");
    for (const attack of attacks) {
      const statement = {
        update: `update ${table} set ${column} = ${column}`,
        delete: `delete from ${table}`,
        truncate: `truncate ${table} cascade`,
      }[attack];
      expect(await refusal(owner, statement ?? ""), attack).toBe(`GB005 ${table} is append-only`);
    }
    await owner.query("rollback");
  });
});
