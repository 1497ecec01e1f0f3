// Goal: the database refuses each change of an approval, a token or a row of the audit that breaks a rule, whatever the code does. Method: one row in each
// table; an approval is moved from every state to every other. Checks, keys and the service's rights are tested with those of all tables, in the store.
import { beforeAll, describe, expect, test } from "vitest";
import { type TestDatabase, asOwner, cloneDatabase } from "../../test/kit.ts";
import { type ApprovalStatus, approvalStatuses } from "./approval.ts";

const id = (last: number): string => `'01900000-0000-7000-8000-00000000000${last}'`;
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
describe("of an approval", () => {
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
