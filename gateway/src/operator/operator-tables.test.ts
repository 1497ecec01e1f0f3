// Goal: the database refuses each approval, token and row of the audit that breaks a rule, whatever the code does. Method: one row in each table; each
// rule is broken by a change of that row, also at the ends of ranges; then an approval is moved from every state to every other.
import { beforeAll, describe, expect, test } from "vitest";
import { type TestDatabase, asOwner, cloneDatabase } from "../../test/kit.ts";
import { expectRights, expectRules } from "../../test/table-rules.ts";
import { type ApprovalStatus, approvalStatuses } from "./approval.ts";

const id = (last: number): string => `'01900000-0000-7000-8000-00000000000${last}'`;
const text = (count: number): string => `repeat('x', ${count})`;
const json = (count: number): string => `('"' || repeat('x', ${count - 2}) || '"')::json`;
let database: TestDatabase;

/** An insert of one row; `changes` replace the values of the columns that they name, and add columns. */
const inserting =
  (table: string, row: Record<string, string>) =>
  (changes: Record<string, string> = {}): string => {
    const all = { ...row, ...changes };
    return `insert into ${table} (${Object.keys(all).join(", ")}) values (${Object.values(all).join(", ")})`;
  };
const approval = inserting("operator_approvals", {
  approval_id: "gen_random_uuid()",
  action: "'refund_payment'",
  operation: "'refund'",
  method: "'POST'",
  path: "'/ops/v1/x'",
  body: "'{}'",
  body_digest: "sha256('{}')",
  summary: "'x'",
  least_role: "'admin'",
  policy_version: "1",
  request_id: id(9),
  asked_kind: "'token'",
  asked_id: "'otk_1'",
  asked_by: "'sari'",
  asked_role: "'admin'",
});
const token = inserting("operator_tokens", {
  token_id: "gen_random_uuid()",
  name: "'budi'",
  role: "'viewer'",
  digest: "sha256('budi')",
  created_at: "now()",
  created_by: "'sari'",
});
const call = inserting("operator_audit", {
  audit_id: id(1),
  at: "now()",
  role: "'admin'",
  actor: "'sari'",
  method: "'POST'",
  path: "'/ops/v1/x'",
  request_id: id(1),
});

beforeAll(async () => {
  database = await cloneDatabase();
  await asOwner(database, (client) =>
    client.query(
      [
        "insert into operator_approval_policies (version, rules, changed_by) values (1, '{}', 'sari')",
        approval({ approval_id: id(1), request_key: "'the-first-key'" }),
        token({ token_id: id(1), name: "'sari'", digest: "sha256('sari')" }),
        call(),
      ].join(";\n"),
    ),
  );
});

const other = "decided_kind = 'token', decided_id = 'otk_2', decided_by = 'budi', decided_at = now()";
const asker = "decided_kind = asked_kind, decided_id = asked_id, decided_by = asked_by, decided_at = now()";
const approved = `${other}, run_id = ${id(8)}, decided_made_at = asked_at - interval '1 us'`;
/** What makes the approval one of a state. */
const made: Record<ApprovalStatus, string> = {
  waiting: "status = 'waiting'",
  executing: `status = 'executing', ${approved}, leased_until = now()`,
  executed: `status = 'executed', ${approved}, answer_status = 200`,
  failed: `status = 'failed', ${approved}, answer_status = 422`,
  unknown: `status = 'unknown', ${approved}`,
  refused: `status = 'refused', ${other}`,
  withdrawn: `status = 'withdrawn', ${asker}`,
  expired: "status = 'expired'",
};
/** States that only another operator's approval leads to. */
const runs = ["executing", "executed", "failed", "unknown"] as const;
/** A change with one assignment replaced. */
const instead = (change: string, column: string, value: string): string =>
  change.replace(new RegExp(`\\b${column} = (?:[^,(]|\\([^)]*\\))+`), `${column} = ${value}`);

describe("of an approval", () => {
  test("every rule of the table refuses what breaks it, and nothing within it", async () => {
    const waits = { request_key: "null" };
    await expectRules(
      database,
      "operator_approvals",
      [
        ["operator_approvals_pkey", approval({ approval_id: id(1) })],
        ["operator_approvals_key", approval({ request_key: "'the-first-key'" })],
        ["operator_approvals_same", `${approval(waits)}, ${approval(waits).split(" values ")[1]}`],
        ["operator_approvals_merchant_id_fkey", approval({ merchant_id: id(2), environment: "'sandbox'" })],
        ["operator_approvals_policy_version_fkey", approval({ policy_version: "2" })],
        ["operator_approvals_action_check", "action = ''", `action = ${text(41)}`, "action = 'Refund'"],
        ["operator_approvals_operation_check", "operation = ''", `operation = ${text(61)}`],
        ["operator_approvals_method_check", "method = 'GET'"],
        ["operator_approvals_path_check", "path = ''", `path = ${text(513)}`],
        [
          "operator_approvals_body_check",
          `body = ${text(65_537)}::bytea, body_digest = sha256(${text(65_537)}::bytea)`,
        ],
        ["operator_approvals_digest", "body = '{} '", "body_digest = sha256('')"],
        ["operator_approvals_request_key_check", "request_key = '1234567'", `request_key = ${text(256)}`],
        ["operator_approvals_summary_check", "summary = ''", `summary = ${text(1001)}`],
        ["operator_approvals_book", `merchant_id = ${id(2)}`, "environment = 'sandbox'"],
        ["operator_approvals_money", "amount_minor = 1", "currency = 'IDR'"],
        ["operator_approvals_amount_minor_check", "amount_minor = -1, currency = 'IDR'"],
        [
          "operator_approvals_currency_check",
          ...["idr", "ID", "IDRX"].map((one) => `amount_minor = 1, currency = '${one}'`),
        ],
        ["operator_approvals_least_role_check", "least_role = 'owner'"],
        ["operator_approvals_asked_kind_check", "asked_kind = 'program'"],
        ["operator_approvals_asked_id_check", "asked_id = ''", `asked_id = ${text(61)}`],
        ["operator_approvals_asked_by_check", "asked_by = ''", `asked_by = ${text(255)}`],
        ["operator_approvals_asked_role_check", "asked_role = 'owner'"],
        ["operator_approvals_status_check", "status = 'approved'"],
        ["operator_approvals_decided_kind_check", instead(made.refused, "decided_kind", "'program'")],
        [
          "operator_approvals_decided_id_check",
          instead(made.refused, "decided_id", "''"),
          instead(made.refused, "decided_id", text(61)),
        ],
        [
          "operator_approvals_decided_by_check",
          instead(made.refused, "decided_by", "''"),
          instead(made.refused, "decided_by", text(255)),
        ],
        ["operator_approvals_note_check", "note = ''", `note = ${text(501)}`],
        ["operator_approvals_attempts_check", "attempts = -1", "attempts = 101"],
        [
          "operator_approvals_answer_status_check",
          instead(made.executed, "answer_status", "199"),
          instead(made.executed, "answer_status", "600"),
        ],
        ["operator_approvals_answer_check", `${made.executed}, answer = ${json(16_385)}`],
        [
          "operator_approvals_answer",
          instead(made.executed, "answer_status", "null"),
          instead(made.failed, "answer_status", "null"),
          ...(["waiting", "executing", "unknown", "refused", "withdrawn", "expired"] as const).map(
            (status) => `${made[status]}, answer_status = 200`,
          ),
          `${made.unknown}, answer = '{}'`,
        ],
        [
          "operator_approvals_lease",
          instead(made.executing, "leased_until", "null"),
          ...approvalStatuses
            .filter((status) => status !== "executing")
            .map((status) => `${made[status]}, leased_until = now()`),
        ],
        [
          "operator_approvals_two",
          ...runs.flatMap((status) => [
            ...["decided_id", "decided_by", "decided_at", "run_id", "decided_made_at"].map((column) =>
              instead(made[status], column, "null"),
            ),
            instead(made[status], "decided_id", "asked_id"),
            instead(made[status], "decided_by", "asked_by"),
            instead(made[status], "decided_by", "upper(asked_by)"),
            instead(made[status], "decided_kind", "'environment'"),
            instead(made[status], "decided_made_at", "asked_at"),
          ]),
        ],
        [
          "operator_approvals_withdrawn",
          instead(made.withdrawn, "decided_id", "'otk_2'"),
          instead(made.withdrawn, "decided_kind", "'person'"),
          instead(made.withdrawn, "decided_at", "null"),
        ],
        [
          "operator_approvals_refused",
          instead(made.refused, "decided_id", "asked_id"),
          instead(made.refused, "decided_at", "null"),
        ],
        [
          "operator_approvals_undecided",
          ...(["waiting", "expired"] as const).flatMap((status) => [
            `${made[status]}, decided_id = 'otk_2'`,
            `${made[status]}, decided_at = now()`,
            `${made[status]}, run_id = ${id(8)}`,
          ]),
        ],
      ],
      [
        ...Object.values(made),
        approval({ request_key: "'another-key'" }),
        approval(waits),
        `request_key = '12345678', path = ${text(512)}, summary = ${text(1_000)}, operation = ${text(60)}, action = ${text(40)}`,
        `request_key = ${text(255)}, asked_id = ${text(60)}, asked_by = ${text(254)}, attempts = 100, note = ${text(500)}`,
        "amount_minor = 0, currency = 'IDR'",
        `body = ${text(65_536)}::bytea, body_digest = sha256(${text(65_536)}::bytea)`,
        `${made.executed}, answer = ${json(16_384)}`,
        // Persons and tokens have identities of their own kinds.
        instead(instead(made.executed, "decided_id", "asked_id"), "decided_kind", "'person'"),
        instead(made.refused, "decided_kind", "'environment'"),
      ],
    );
  });

  const leads: Record<ApprovalStatus, readonly ApprovalStatus[]> = {
    waiting: ["executing", "refused", "withdrawn", "expired"],
    executing: ["executing", "executed", "failed", "unknown"],
    executed: [],
    failed: [],
    unknown: [],
    refused: [],
    withdrawn: [],
    expired: [],
  };
  /** The outcome of a change of the approval once it is in a state: the error's message, or "accepted". */
  async function changing(status: ApprovalStatus, change: string): Promise<string> {
    return asOwner(database, async (client) => {
      await client.query("begin");
      try {
        await client.query("set local session_replication_role = replica");
        await client.query(`update operator_approvals set ${made[status]}`);
        await client.query("set local session_replication_role = origin");
        return await client.query(`update operator_approvals set ${change}`).then(
          () => "accepted",
          (error: Error) => error.message,
        );
      } finally {
        await client.query("rollback");
      }
    });
  }

  const once = "an approval is decided once";
  test.each(approvalStatuses)("that is %s a change leads to the states that follow it alone", async (before) => {
    for (const after of approvalStatuses) {
      // A decision that is there already stays as it is.
      const change =
        before === "executing" ? made[after].replace(`${approved}, `, "").replace(`, ${approved}`, "") : made[after];
      const lease = before === "executing" && after !== "executing" ? ", leased_until = null" : "";
      expect(await changing(before, change + lease), `${before} to ${after}`).toBe(
        leads[before].includes(after) ? "accepted" : once,
      );
    }
  });

  test.each([
    "decided_kind = 'person'",
    "decided_id = 'otk_3'",
    "decided_by = 'tini'",
    "decided_made_at = decided_made_at - interval '1 us'",
    "decided_at = decided_at + interval '1 us'",
    "note = 'x'",
    `run_id = ${id(7)}`,
  ])("that runs the decision is for good: not %s", async (change) => {
    expect(await changing("executing", change)).toBe(once);
  });

  test.each([
    `approval_id = ${id(2)}`,
    "action = 'x'",
    "operation = 'x'",
    "method = 'PUT'",
    "path = 'x'",
    "body = 'x', body_digest = sha256('x')",
    "request_key = null",
    "summary = 'y'",
    `merchant_id = ${id(2)}, environment = 'sandbox'`,
    `payment_id = ${id(2)}`,
    "amount_minor = 1, currency = 'IDR'",
    "least_role = 'viewer'",
    "policy_version = 2",
    `request_id = ${id(2)}`,
    "asked_kind = 'person'",
    "asked_id = 'otk_3'",
    "asked_by = 'budi'",
    "asked_role = 'viewer'",
    "asked_at = asked_at + interval '1 hour'",
  ])("what was asked never changes: not %s", async (change) => {
    expect(await changing("waiting", `${made.expired}, ${change}`)).toBe("what was asked for never changes");
  });
});

test("every rule of the table of tokens refuses what breaks it, and nothing within it", async () => {
  await expectRules(
    database,
    "operator_tokens",
    [
      ["operator_tokens_pkey", token({ token_id: id(1) })],
      ["operator_tokens_digest", token({ digest: "sha256('sari')" })],
      ["operator_tokens_name", token({ name: "'sari'" }), token({ name: "'sari'", expires_at: "now()" })],
      [
        "operator_tokens_name_check",
        "name = ''",
        "name = 'Sari'",
        "name = '-sari'",
        "name = 'a b'",
        `name = ${text(41)}`,
      ],
      [
        "operator_tokens_reserved",
        ...["environment", "environment-viewer", "command-line"].map((name) => `name = '${name}'`),
      ],
      ["operator_tokens_role_check", "role = 'owner'"],
      ["operator_tokens_digest_check", "digest = 'x'", "digest = sha256('x') || 'x'::bytea"],
      ["operator_tokens_created_by_check", "created_by = ''", `created_by = ${text(255)}`],
      ["operator_tokens_replaced_by_fkey", `${token({ replaced_by: id(9) })}; set constraints all immediate`],
    ],
    [
      token(),
      token({ name: "'sari'", revoked_at: "now()" }),
      token({ name: "'sari'", replaced_by: id(1) }),
      `name = ${text(40)}, created_by = ${text(254)}`,
      "name = '0.a_b-c', role = 'support'",
    ],
  );
});

test.each<[before: string, change: string, isAllowed: boolean]>([
  ["revoked_at = null", "revoked_at = now()", true],
  ["revoked_at = now()", "revoked_at = null", false],
  ["revoked_at = now()", "revoked_at = now() + interval '1 hour'", false],
  ["replaced_by = null", `replaced_by = ${id(1)}`, true],
  [`replaced_by = ${id(1)}`, "replaced_by = null", false],
  [`replaced_by = ${id(1)}`, `replaced_by = ${id(2)}`, false],
  ["expires_at = null", "expires_at = now()", true],
  ["expires_at = now()", "expires_at = now() - interval '1 us'", true],
  ["expires_at = now()", "expires_at = null", false],
  ["expires_at = now()", "expires_at = now() + interval '1 us'", false],
  ...[
    `token_id = ${id(2)}`,
    "name = 'x'",
    "role = 'admin'",
    "digest = sha256('x')",
    "created_at = '2020-01-01'",
    "created_by = 'x'",
  ].map((change): [string, string, boolean] => ["revoked_at = null", change, false]),
])("of a token with %s, to set %s is allowed: %s", async (before, change, isAllowed) => {
  await asOwner(database, async (client) => {
    await client.query("begin");
    await client.query("set local session_replication_role = replica");
    await client.query(`update operator_tokens set ${before}`);
    await client.query("set local session_replication_role = origin");
    const changed = client.query(`update operator_tokens set ${change}`);
    if (isAllowed) await changed;
    else await expect(changed).rejects.toThrow("a token only ends");
    await client.query("rollback");
  });
});

test("every rule of the audit refuses what breaks it, and nothing within it", async () => {
  const answer = { audit_id: id(2), status: "200" };
  await expectRules(
    database,
    "operator_audit",
    [
      ["operator_audit_pkey", call()],
      ["operator_audit_answers", `${call(answer)}, ${call({ ...answer, audit_id: id(3) }).split(" values ")[1]}`],
      ["operator_audit_request_id_fkey", call({ audit_id: id(2), request_id: id(3), status: "200" })],
      ["operator_audit_first_row", "status = 200", `audit_id = ${id(2)}`],
      ["operator_audit_body_in_first_row", call({ ...answer, body: "'{}'" })],
      ["operator_audit_body_check", `body = ${json(16_385)}`],
      ["operator_audit_status_check", call({ ...answer, status: "199" }), call({ ...answer, status: "600" })],
      ["operator_audit_role_check", "role = 'owner'"],
      ["operator_audit_actor_check", "actor = ''", `actor = ${text(255)}`],
      ["operator_audit_address_check", `address = ${text(61)}`],
      ["operator_audit_approved_by_check", "approved_by = ''", `approved_by = ${text(255)}`],
      ["operator_audit_method_check", "method = 'GET'"],
      ["operator_audit_path_check", "path = ''", `path = ${text(513)}`],
    ],
    [call(answer), `body = ${json(16_384)}`, `actor = ${text(254)}, address = ${text(60)}, path = ${text(512)}`],
  );
});

test("the service's role may decide an approval and end a token, and takes back or deletes nothing", async () => {
  await expectRights(database, "operator_approvals", {
    insert: true,
    update:
      "status decided_kind decided_id decided_by decided_made_at decided_at note run_id attempts leased_until answer_status answer ended_at",
  });
  await expectRights(database, "operator_tokens", { insert: true, update: "expires_at replaced_by revoked_at" });
  await expectRights(database, "operator_audit", { insert: true });
  await expectRights(database, "operator_approval_policies", { insert: true });
});

test.each(["operator_approvals", "operator_tokens", "operator_audit", "operator_approval_policies"])(
  "no row of %s is deleted, by the owner either",
  async (table) => {
    await asOwner(database, async (client) => {
      await expect(client.query(`delete from ${table}`)).rejects.toThrow("append-only");
      await expect(client.query(`truncate ${table} cascade`)).rejects.toThrow("append-only");
    });
  },
);

test.each(["operator_audit set actor = 'x'", "operator_approval_policies set changed_by = 'x'"])(
  "not update %s, by the owner either",
  async (change) => {
    await asOwner(database, (client) => expect(client.query(`update ${change}`)).rejects.toThrow("append-only"));
  },
);
