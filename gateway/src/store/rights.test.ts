// Goal: the service's role may do to each table what its rooms need and nothing more: whoever takes over a process cannot rewrite money, or what was
// done. Method: the catalogue of a migrated database; a right that is added anywhere is seen here.
import { beforeAll, expect, test } from "vitest";
import { type TestDatabase, asOwner, cloneDatabase } from "../../test/kit.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await cloneDatabase();
});

async function names(text: string): Promise<string[]> {
  return asOwner(database, async (owner) => (await owner.query<{ name: string }>(text)).rows.map(({ name }) => name));
}

const tables = `from pg_class where relkind in ('r', 'p') and relnamespace = 'public'::regnamespace`;
const allowing = (right: string): Promise<string[]> =>
  names(`select relname as name ${tables} and has_table_privilege('gerbang_app', oid, '${right}') order by 1`);

test("it deletes what is forgotten after its time, what is figures alone, and what somebody takes back", async () => {
  expect(await allowing("delete")).toEqual([
    "acquirer_costs",
    "acquirer_messages",
    "book_verifications",
    "deliveries",
    "delivery_attempts",
    "device_codes",
    "events",
    "evidence_files", // a trigger keeps those that are kept
    "evidence_pieces",
    "idempotency_keys", // a trigger keeps young ones
    "injected_faults",
    "memberships",
    "operator_refusals", // a trigger keeps young ones
    "operators",
    "passkey_challenges",
    "passkeys",
    "payment_quarters",
    "payment_totals",
    "people_audit", // a trigger keeps all but what nobody did
    "rate_windows",
    "recovery_codes",
    "refused_requests",
    "request_log",
    "request_log_gaps",
    "retained_events",
    "roll_ups",
    "sessions",
    "sign_in_failures",
    "sign_in_links",
    "status_days",
    "status_minutes",
    "stray_messages",
    "telemetry_acquirers",
    "telemetry_circuits",
    "telemetry_processes",
    "telemetry_samples",
  ]);
});

test("it empties nothing as a whole but the minutes of used nonces", async () => {
  const emptied = await allowing("truncate");
  expect(emptied).toHaveLength(48);
  expect(emptied.filter((name) => !/^used_(?:read_)?nonces_\d\d$/.test(name))).toEqual([]);
});

test("it changes whole rows only where no column has to stay", async () => {
  expect(await allowing("update")).toEqual([
    "acquirer_states",
    "book_verifications",
    "books",
    "credential_uses",
    "deliveries",
    "health_probe",
    "idempotency_keys", // a trigger keeps what is answered
    "injected_faults",
    "merchant_profiles",
    "merchants",
    "operator_token_uses",
    "passkey_challenges",
    "payment_quarters",
    "payment_totals",
    "rate_windows",
    "request_log_gaps",
    "retained_events",
    "retention_watermarks",
    "roll_ups",
    "settings_epoch",
    "sign_in_failures",
    "status_days",
    "status_minutes",
    "telemetry_acquirers",
    "telemetry_circuits",
    "telemetry_processes",
    "telemetry_samples",
    "webhook_endpoints",
  ]);
});

test("elsewhere it changes these columns", async () => {
  const changed = await names(`select relname || ': ' || string_agg(attname, ' ' order by attname) as name
from pg_attribute join (select oid, relname ${tables}) t on t.oid = attrelid
where attnum > 0 and not attisdropped and has_column_privilege('gerbang_app', attrelid, attnum, 'update')
  and not has_table_privilege('gerbang_app', attrelid, 'update')
group by relname
order by 1`);
  expect(changed).toEqual([
    "acquirer_disputes: evidence_due_at evidence_ended_at evidence_tries",
    "acquirer_operations: attempt due_at gateway_code idempotency_key inquiries provider_ids refused_by review round step",
    "book_heads: lockable",
    "credentials: allowed_addresses expires_at name replaced_by revoked_at scopes secret_sealed signature",
    "device_codes: answered_at environment interval_seconds merchant_id person_id polled_at scopes session_id used_at",
    "disputes: evidence_due_at resolved_at settlement_id status",
    "evidence_drafts: carrier delivered_on saved_at statement tracking_number",
    "evidence_files: kept_at media_type sha256 state",
    "incidents: components ends_at impact resolved_at starts_at title",
    "invitations: accepted_by ended_at",
    "memberships: role",
    "operator_approvals: answer answer_status attempts decided_at decided_by decided_id decided_kind decided_made_at ended_at leased_until note run_id status",
    "operator_invitations: accepted_by ended_at",
    "operator_tokens: expires_at replaced_by revoked_at",
    "operators: role",
    "passkeys: backed_up counter used_at",
    "payer_keys: key_sealed",
    "payment_links: deactivated_at",
    "payments: cancel_reason canceled_at customer_key customer_sealed dispute_status expires_at gateway_code instructions lost_minor paid_at payer_erased_at phone_key refund_pending_minor refunded_minor risk_decision routing settlement_id status updated_at",
    "persons: closed_at language name password_hash time_zone totp_confirmed_at totp_sealed totp_used_step",
    "receipts: decided_at settlement_id status",
    "reconciliation_exceptions: closed_at note occasions",
    "recovery_codes: used_at",
    "refunds: completed_at settlement_id status",
    "routing_rule_sets: active epoch",
    "sessions: address created_at ended_at proved_at seen_at token_digest user_agent",
    "settlement_clocks: next_run_at",
    "settlement_items: released",
    "settlements: bank_reference paid_at payout_date returned_at status",
    "sign_in_links: used_at",
    "stray_messages: last_at times",
  ]);
});

test("it reads all, and adds no rows to what triggers and the owner write", async () => {
  expect(
    await names(`select relname as name ${tables} and not has_table_privilege('gerbang_app', oid, 'select')`),
  ).toEqual([]);
  const closed = await names(
    `select relname as name ${tables} and not has_table_privilege('gerbang_app', oid, 'insert') and not relispartition order by 1`,
  );
  expect(closed).toEqual([
    "balances",
    "book_heads",
    "health_probe",
    "refund_totals",
    "schema_migrations",
    "settings_epoch",
    "settlement_clocks",
  ]);
  expect([...(await allowing("references")), ...(await allowing("trigger"))]).toEqual([]);
});

test("nobody else has any right, and it owns nothing", async () => {
  const others = await names(`select relname || ' ' || grantee::regrole as name
from pg_class, aclexplode(relacl)
where relnamespace = 'public'::regnamespace and grantee <> relowner and grantee <> 'gerbang_app'::regrole`);
  expect(others).toEqual([]);
  expect(await names("select relname as name from pg_class where relowner = 'gerbang_app'::regrole")).toEqual([]);
});

test("functions that act with their owner's rights are called by their own triggers alone", async () => {
  const functions = await names(`select proname || coalesce(' ' || string_agg(grantee::regrole::text, ' '), '') as name
from pg_proc
left join lateral (
  select grantee from aclexplode(coalesce(proacl, acldefault('f', proowner))) where grantee <> proowner
) given on true
where pronamespace = 'public'::regnamespace and prosecdef
group by proname
order by 1`);
  expect(functions).toEqual([
    "apply_new_entries",
    "begin_book",
    "begin_settlements",
    "check_new_journals",
    "check_refund_totals",
  ]);
});
