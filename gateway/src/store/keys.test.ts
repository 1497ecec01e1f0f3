// Goal: a merchant's rows lie together, and no key reaches from one merchant to another: merchant_id comes first in each key of their tables. What
// there is once is once by a key, and what a row names is there. Method: the catalogue of a migrated database.
import { beforeAll, expect, test } from "vitest";
import { type TestDatabase, asOwner, cloneDatabase } from "../../test/kit.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await cloneDatabase();
});

async function names(text: string): Promise<string[]> {
  return asOwner(database, async (owner) => (await owner.query<{ name: string }>(text)).rows.map(({ name }) => name));
}

/** The tables whose every row is of a merchant, and the number of the column that says which. */
const owned = `select attrelid as table_id, attnum as merchant_column
from pg_attribute join pg_class on pg_class.oid = attrelid
where attname = 'merchant_id' and attnotnull and not relispartition and relkind in ('r', 'p') and relnamespace = 'public'::regnamespace`;

test("of primary and unique keys", async () => {
  const others = await names(`select i.indexrelid::regclass::text as name
from (${owned}) t join pg_index i on i.indrelid = t.table_id
where i.indisunique and i.indkey[0] <> t.merchant_column
order by 1`);
  expect(others).toEqual([
    "invitations_token", // whoever opens the link names nothing else
    "used_nonces_pkey", // the minute comes first, by which the table is divided
    "used_read_nonces_pkey",
  ]);
});

test("of foreign keys between such tables", async () => {
  const others = await names(`select c.conrelid::regclass || '.' || c.conname as name
from pg_constraint c
join (${owned}) t on t.table_id = c.conrelid
join (${owned}) other on other.table_id = c.confrelid
where c.contype = 'f' and (c.conkey[1] <> t.merchant_column or c.confkey[1] <> other.merchant_column)
order by 1`);
  expect(others).toEqual([]);
});

test("what there is once, beside the identity of each row", async () => {
  const once = await names(`select relname || regexp_replace(pg_get_indexdef(oid), '^.* USING btree', '') as name
from pg_class join pg_index on indexrelid = oid
where relnamespace = 'public'::regnamespace and indisunique and not indisprimary and indisvalid
order by 1`);
  expect(once).toEqual([
    "acquirer_disputes_dispute (merchant_id, environment, dispute_id)",
    "book_verifications_running (merchant_id, environment) WHERE (status = 'running'::text)",
    "device_codes_user_code (user_code)",
    "disputes_running (merchant_id, environment, payment_id) WHERE (status = ANY (ARRAY['needs_response'::dispute_status, 'under_review'::dispute_status]))",
    "evidence_files_slot (merchant_id, environment, dispute_id, slot) WHERE (state <> 'removed'::text)",
    "invitations_token (token_digest)",
    "journals_by_identity (merchant_id, environment, journal_id)",
    "journals_operation_key (merchant_id, environment, operation_key)",
    "operator_approvals_key (request_key) WHERE (request_key IS NOT NULL)",
    "operator_approvals_same (path, method, body_digest) WHERE ((status = 'waiting'::text) AND (request_key IS NULL))",
    "operator_audit_answers (request_id) WHERE (status IS NOT NULL)",
    "operator_invitations_token (token_digest)",
    "operator_tokens_digest (digest)",
    "operator_tokens_name (name) WHERE ((revoked_at IS NULL) AND (replaced_by IS NULL))",
    "passkey_challenges_challenge (challenge)",
    "passkeys_by_id (passkey_id)",
    "passkeys_of_person (person_id, slot)",
    "payer_keys_contacts (purpose) WHERE (purpose = 'contacts'::text)",
    "payment_links_reusable (merchant_id, environment, link_id, reusable)",
    "payment_links_token (merchant_id, sha256(token))",
    "payments_link_once (merchant_id, environment, link_id) WHERE ((link_id IS NOT NULL) AND (NOT link_reusable) AND (status = ANY (ARRAY['pending'::payment_status, 'processing'::payment_status, 'succeeded'::payment_status, 'partially_refunded'::payment_status, 'refunded'::payment_status])))",
    "payments_reference (merchant_id, environment, reference_id)",
    "persons_email (email)",
    "receipts_applied (merchant_id, environment, payment_id) WHERE (status = 'applied'::text)",
    "receipts_transaction (merchant_id, environment, gateway_code, transaction_id)",
    "reconciliation_exceptions_once (merchant_id, environment, operation_id, attempt, kind)",
    "routing_rule_sets_active (active) WHERE active",
    "sessions_by_id (session_id)",
    "settlement_items_once (merchant_id, environment, item_id, kind) WHERE (NOT released)",
  ]);
});

test("what a row names has to be there", async () => {
  const references = await names(`select conrelid::regclass || ' ' || array_to_string(array(
    select attname
    from unnest(conkey) with ordinality as keys (number, place)
    join pg_attribute on attrelid = conrelid and attnum = number
    order by place
  ), ', ') || ': ' || confrelid::regclass as name
from pg_constraint
where contype = 'f' and connamespace = 'public'::regnamespace and convalidated
order by 1`);
  expect(references).toEqual([
    "acquirer_disputes merchant_id, environment, dispute_id: disputes",
    "acquirer_disputes merchant_id, environment, payment_id: payments",
    "acquirer_operations merchant_id, environment, payment_id: payments",
    "book_heads merchant_id, environment: books",
    "book_verifications merchant_id, environment: books",
    "books merchant_id: merchants",
    "credential_uses merchant_id, client_id: credentials",
    "credentials merchant_id: merchants",
    "device_codes merchant_id: merchants",
    "device_codes person_id: persons",
    "dispute_evidence merchant_id, environment, dispute_id: disputes",
    "disputes merchant_id, environment, payment_id: payments",
    "evidence_drafts merchant_id, environment, dispute_id: disputes",
    "evidence_files merchant_id, environment, dispute_id: disputes",
    "evidence_pieces merchant_id, environment, dispute_id, file_id: evidence_files",
    "idempotency_keys merchant_id, environment: books",
    "incident_updates corrects: incident_updates",
    "incident_updates incident_id: incidents",
    "injected_faults merchant_id, environment: books",
    "invitations accepted_by: persons",
    "invitations invited_by: persons",
    "invitations merchant_id: merchants",
    "memberships merchant_id: merchants",
    "memberships person_id: persons",
    "merchant_profiles merchant_id: merchants",
    "operator_approvals merchant_id: merchants",
    "operator_approvals policy_version: operator_approval_policies",
    "operator_audit request_id: operator_audit",
    "operator_invitations accepted_by: persons",
    "operator_token_uses token_id: operator_tokens",
    "operator_tokens replaced_by: operator_tokens",
    "operators person_id: persons",
    "passkeys person_id: persons",
    "payment_links merchant_id, environment: books",
    "payment_splits merchant_id, environment, payment_id: payments",
    "payments merchant_id, environment, link_id, link_reusable: payment_links",
    "payments merchant_id, environment: books",
    "receipts merchant_id, environment, payment_id: payments",
    "reconciliation_exceptions merchant_id, environment, operation_id: acquirer_operations",
    "recovery_codes person_id: persons",
    "refunds merchant_id, environment, payment_id: payments",
    "retention_watermarks merchant_id, environment: books",
    "routing_activations version: routing_rule_sets",
    "routing_rule_sets restores: routing_rule_sets",
    "sessions person_id: persons",
    "settlement_clocks merchant_id, environment: books",
    "settlement_items merchant_id, environment, settlement_id: settlements",
    "settlements merchant_id, environment: books",
    "sign_in_links person_id: persons",
    "telemetry_circuits process_id: telemetry_processes",
    "webhook_endpoints merchant_id: merchants",
  ]);
});
