// Goal: each CHECK of a table that holds money, states or rights takes what is allowed, to the last unit, and nothing beyond. Method: its own
// expression, as the catalogue has it, judges rows of these lists; a check without a list, or a list without its check, fails.
import { beforeAll, expect, test } from "vitest";
import { type TestDatabase, asOwner, cloneDatabase } from "../../test/kit.ts";

type Row = Record<string, unknown>;
/** A value that is no row is one of the column that gave the list its name. */
interface Cases {
  takes: unknown[];
  refuses: unknown[];
}

/** Figures, logs and the status page: no money and no right rests on them. */
const others =
  /^(?:health_probe|settings_epoch|incidents|incident_updates|injected_faults|refused_requests|roll_ups|payment_(?:quarters|totals)|(?:request_log|status|telemetry)_?\w*)$/;

const MOST = Number.MAX_SAFE_INTEGER;
const between = (least: number, most: number): Cases => ({ takes: [least, most], refuses: [least - 1, most + 1] });
const atLeast = (least: number): Cases => ({ takes: [least, least + 1], refuses: [least - 1] });
const amount = between(1, MOST);
const text = (least: number, most: number, of = (count: number): string => "x".repeat(count)): Cases => ({
  takes: [of(least), of(most)],
  refuses: [...(least > 0 ? [of(least - 1)] : []), of(most + 1)],
});
const bytes = (least: number, most = least): Cases => text(least, most, (count) => `\\x${"00".repeat(count)}`);
/** Text as JSON has it, with its two quotes. */
const json = (most: number): Cases => ({ takes: ["", "x".repeat(most - 2)], refuses: ["x".repeat(most - 1)] });
const list = (least: number, most: number, of: unknown = "x"): Cases => ({
  takes: [Array(least).fill(of), Array(most).fill(of)],
  refuses: [...(least > 0 ? [[]] : []), Array(most + 1).fill(of)],
});
const oneOf = (...values: string[]): Cases => ({ takes: values, refuses: ["", `${values[0]}x`] });
const currency: Cases = { takes: ["IDR", "USD"], refuses: ["", "ID", "idr", "IDRX", "ID1"] };
const code: Cases = { takes: ["x", "x_y", "x".repeat(30)], refuses: ["", "X", "x1", "x-y", "x".repeat(31)] };
const https: Cases = {
  takes: ["https://x", `https://${"x".repeat(2040)}`],
  refuses: ["", "http://x", "ftp://x", " https://x", `https://${"x".repeat(2041)}`],
};
const email: Cases = { takes: ["a@b", `a@${"b".repeat(252)}`], refuses: ["A@b", "a@", `a@${"b".repeat(253)}`] };
const [before, then, after] = ["2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z", "2026-01-03T00:00:00Z"];
const [one, two] = ["01900000-0000-7000-8000-000000000001", "01900000-0000-7000-8000-000000000002"];
const role = oneOf("viewer", "support", "admin");
const memberRole = oneOf("owner", "developer", "finance", "support", "viewer");
const identity = oneOf("token", "person", "environment");
const language = oneOf("id", "en");
const accepted: Cases = {
  takes: [{}, { ended_at: then }, { accepted_by: one, ended_at: then }],
  refuses: [{ accepted_by: one }],
};
const lasting: Cases = {
  takes: [{ created_at: then, expires_at: after }],
  refuses: [
    { created_at: then, expires_at: then },
    { created_at: then, expires_at: before },
  ],
};
/** Both or neither of two columns. */
const together = (a: Row, b: Row): Cases => ({ takes: [{}, { ...a, ...b }], refuses: [a, b] });
/** A column that is there in these states, and in no other. */
const there = (column: Row, states: string[], rest: string[]): Cases => ({
  takes: [...states.map((status) => ({ status, ...column })), ...rest.map((status) => ({ status }))],
  refuses: [...states.map((status) => ({ status })), ...rest.map((status) => ({ status, ...column }))],
});
const returnUrl = (): Cases => {
  const inSandbox = (url: string): Row => ({ environment: "sandbox", return_url: url });
  const own = ["http://localhost", "http://localhost:3000/x", "http://127.0.0.1?x", "http://[::1]#x"];
  const foreign = ["http://x", "http://localhost.x", "http://127.0.0.11", "http://localhost:x", "x", ""];
  return {
    takes: [
      ...own.map(inSandbox),
      ...["https://x", `https://${"x".repeat(2040)}`].map((url) => ({ environment: "production", return_url: url })),
    ],
    refuses: [
      ...own.map((url) => ({ environment: "production", return_url: url })),
      ...[...foreign, `https://${"x".repeat(2041)}`].map(inSandbox),
    ],
  };
};
const asked = { asked_kind: "token", asked_id: "a", asked_by: "ani", asked_at: then };
const decided = {
  ...asked,
  decided_kind: "token",
  decided_id: "b",
  decided_by: "budi",
  decided_made_at: before,
  decided_at: after,
  run_id: one,
};
const logo: Row = { logo: "\\x00", logo_type: "image/png", logo_width: 1, logo_height: 1, logo_digest: "\\x00" };
const split = { id: "a", gateway_code: "b", percent: 1 };
const rule = (change: Row): Row => ({ gateway_code: "a", split: { ...split, ...change } });
const ran = ["executing", "executed", "failed", "unknown"];

const checks: Record<string, Record<string, Cases>> = {
  acquirer_costs: {
    basis_points: between(0, 10_000),
    bounds: {
      takes: [{ minimum_minor: 5, maximum_minor: 5 }, { minimum_minor: 5 }, { maximum_minor: 5 }],
      refuses: [{ minimum_minor: 6, maximum_minor: 5 }],
    },
    currency,
    flat_minor: between(0, MOST),
    gateway_code: code,
    maximum_minor: between(0, MOST),
    minimum_minor: between(0, MOST),
    set_by: text(1, 254),
  },
  acquirer_disputes: {
    acquirer_dispute_id: { takes: ["!", "~".repeat(64)], refuses: ["", "a b", "é", "x".repeat(65)] },
    evidence_tries: atLeast(0),
    gateway_code: code,
  },
  acquirer_messages: {
    about: text(0, 200),
    call: oneOf("open", "inquire", "cancel", "judge", "refund", "inquire_refund", "submit_evidence", "report"),
    digest: bytes(32),
    gateway_code: code,
    operation_kind: oneOf("payment", "refund"),
    text: text(0, 8192),
  },
  acquirer_operations: {
    attempt: between(1, 10_000),
    due_with_step: {
      takes: [
        ...["retryable", "done"].map((step) => ({ step })),
        ...["planned", "calling", "inquiring", "polling"].map((step) => ({ step, due_at: then })),
      ],
      refuses: [
        ...["retryable", "done"].map((step) => ({ step, due_at: then })),
        ...["planned", "calling", "inquiring", "polling"].map((step) => ({ step })),
      ],
    },
    gateway_code: code,
    idempotency_key: text(8, 255),
    inquiries: atLeast(0),
    kind: oneOf("payment", "refund"),
    of_payment: {
      takes: [{ kind: "payment", operation_id: one, payment_id: one }, { kind: "refund", operation_id: one, payment_id: two }],
      refuses: [{ kind: "payment", operation_id: one, payment_id: two }],
    },
    provider_ids: {
      takes: [{ provider_ids: {} }, { provider_ids: { x: "x".repeat(4087) } }],
      refuses: [[], "x", 1, { provider_ids: { x: "x".repeat(4088) } }],
    },
    refused_by: text(0, 2000),
    review: oneOf("asked", "approve", "refuse"),
    review_of_payment: { takes: [{ kind: "payment", review: "asked" }, { kind: "refund" }], refuses: [{ kind: "refund", review: "asked" }] },
    round: between(0, 10_000),
    step: oneOf("planned", "calling", "inquiring", "retryable", "polling", "done"),
  },
  acquirer_states: { gateway_code: code, health: oneOf("healthy", "degraded", "down") },
  balances: { credit_minor: atLeast(0), debit_minor: atLeast(0) },
  book_heads: { hash: bytes(32), seq: atLeast(0) },
  book_verifications: {
    check: { takes: [{ journals: 5, journals_in_all: 5 }], refuses: [{ journals: 6, journals_in_all: 5 }] },
    check1: {
      takes: [{ checks: 0, checks_in_all: 0 }, { checks: 5, checks_in_all: 5 }],
      refuses: [{ checks: -1, checks_in_all: 0 }, { checks: 6, checks_in_all: 5 }],
    },
    ended: there({ ended_at: then }, ["clean", "wrong", "stopped", "interrupted"], ["running"]),
    found: there({ wrong: "x" }, ["wrong"], ["running", "clean", "stopped", "interrupted"]),
    head: {
      takes: [{ status: "clean", head_hash: "\\x00" }, { status: "wrong", head_hash: "\\x00" }, { status: "running" }],
      refuses: ["running", "stopped", "interrupted"].map((status) => ({ status, head_hash: "\\x00" })),
    },
    head_hash: bytes(32),
    journals: atLeast(0),
    journals_ms: atLeast(0),
    rows_held: atLeast(0),
    started_by: text(0, 254),
    status: oneOf("running", "clean", "wrong", "stopped", "interrupted"),
    stopped_by: text(0, 254),
    wrong: text(0, 2000),
  },
  books: {
    clock_offset_seconds: between(0, 3_153_600_000),
    clock_sandbox_only: {
      takes: [{ environment: "sandbox", clock_offset_seconds: 1 }, { environment: "production", clock_offset_seconds: 0 }],
      refuses: [{ environment: "production", clock_offset_seconds: 1 }],
    },
    clock_target: {
      takes: [
        { clock_offset_seconds: 5 },
        { clock_offset_seconds: 5, clock_target_seconds: 6 },
        { clock_offset_seconds: 5, clock_target_seconds: 3_153_600_000 },
      ],
      refuses: [{ clock_offset_seconds: 5, clock_target_seconds: 5 }, { clock_offset_seconds: 5, clock_target_seconds: 3_153_600_001 }],
    },
  },
  client_audit: { action: text(1, 40), address: text(0, 60), client_id: text(0, 80), status: text(0, 40), subject: text(0, 40) },
  credential_uses: { address: text(0, 60) },
  credentials: {
    allowed_addresses: list(0, 20, "10.0.0.0/8"),
    client_id: {
      takes: [`ak_test_${"0".repeat(20)}`, `ak_live_${"z".repeat(60)}`],
      refuses: [`ak_test_${"0".repeat(19)}`, `ak_live_${"z".repeat(61)}`, `ak_prod_${"0".repeat(20)}`, `ak_test_${"A".repeat(20)}`],
    },
    environment_of_client_id: {
      takes: [{ environment: "sandbox", client_id: "ak_test_0" }, { environment: "production", client_id: "ak_live_0" }],
      refuses: [{ environment: "sandbox", client_id: "ak_live_0" }, { environment: "production", client_id: "ak_test_0" }],
    },
    name: text(1, 60),
    replaced_by: text(0, 68),
    scopes: list(1, 32),
    secret_sealed: bytes(30, 400),
    signature: oneOf("any", "rfc9421"),
  },
  deliveries: {
    attempts: between(0, 1000),
    by_hand: atLeast(0),
    lease: { takes: [{}, { leased_until: then }, { leased_until: then, lease_token: one }], refuses: [{ lease_token: one }] },
    resend_of: { takes: ["delivered", "undelivered"], refuses: ["pending"] },
    url: https,
  },
  delivery_attempts: {
    address: text(0, 60),
    attempt: between(1, 1000),
    duration_ms: atLeast(0),
    note: text(0, 1000),
    reason: text(0, 500),
    request_body: text(0, 262_144),
    response_body: bytes(0, 16_384),
    status: between(100, 999),
    url: text(0, 2048),
  },
  device_codes: {
    address: text(0, 60),
    address_group: text(0, 60),
    answer: {
      takes: [
        {},
        { answered_at: then, person_id: one, session_id: one },
        { answered_at: then, person_id: one, session_id: one, merchant_id: one, scopes: ["x"] },
        { answered_at: then, person_id: one, session_id: one, merchant_id: one, scopes: ["x"], used_at: after },
      ],
      refuses: [
        { answered_at: then },
        { person_id: one, session_id: one },
        { answered_at: then, session_id: one },
        { answered_at: then, person_id: one },
        { answered_at: then, person_id: one, session_id: one, merchant_id: one },
        { answered_at: then, person_id: one, session_id: one, scopes: ["x"] },
        { merchant_id: one, scopes: ["x"] },
        { answered_at: then, person_id: one, session_id: one, used_at: after },
      ],
    },
    check: lasting,
    device_digest: bytes(32),
    environment: oneOf("sandbox", "production"),
    interval_seconds: between(1, 60),
    name: text(1, 60),
    scopes: list(1, 20),
    user_agent: text(0, 300),
    user_code: { takes: ["BCDFGHJK"], refuses: ["BCDFGHJ", "BCDFGHJKL", "BCDFGHJA", "bcdfghjk"] },
  },
  dispute_evidence: { carrier: text(1, 120), files: json(262_144), statement: text(1, 20_000), tracking_number: text(1, 120) },
  disputes: {
    amount_minor: amount,
    currency,
    reason: oneOf("product_not_received", "product_unacceptable", "fraudulent", "duplicate", "credit_not_processed", "general"),
    resolved_at_with_status: there({ resolved_at: then }, ["won", "lost", "withdrawn"], ["needs_response", "under_review"]),
  },
  entries: {
    account: { takes: ["a:b", `a:${"b_:".repeat(32)}bb`], refuses: ["a", ":b", "a:", "a:B", `a:${"b".repeat(99)}`] },
    amount_minor: { takes: [-1, 1], refuses: [0] },
    currency,
    line: between(1, 100),
  },
  events: {
    body: text(0, 1_048_576),
    type: { takes: ["a.b", `a.${"b_".repeat(19)}`], refuses: ["a", "a.", ".b", "a.B", "a.b.c", `a.${"b".repeat(39)}`] },
  },
  evidence_drafts: { carrier: text(1, 120), statement: text(0, 20_000), tracking_number: text(1, 120) },
  evidence_files: {
    arriving_is_not: { takes: [{ state: "arriving" }, { state: "kept", kept_at: then }], refuses: [{ state: "arriving", kept_at: then }] },
    kept_is_judged: {
      takes: [{ state: "arriving" }, { state: "kept", media_type: "image/png", sha256: "\\x00", kept_at: then }],
      refuses: [
        { state: "kept", sha256: "\\x00", kept_at: then },
        { state: "kept", media_type: "image/png", kept_at: then },
        { state: "kept", media_type: "image/png", sha256: "\\x00" },
      ],
    },
    media_type: oneOf("application/pdf", "image/png", "image/jpeg"),
    name: text(1, 200),
    sha256: bytes(32),
    size_bytes: between(1, 10_485_760),
    slot: between(1, 10),
    state: oneOf("arriving", "kept", "removed"),
  },
  evidence_pieces: { bytes: bytes(1, 262_144), piece: between(0, 39) },
  idempotency_keys: {
    body_digest: bytes(32),
    endpoint: text(0, 200),
    idempotency_key: text(8, 255),
    response: text(0, 1_048_576),
    status: between(200, 499),
    whole_answer: together({ status: 200 }, { response: "{}" }),
  },
  invitations: { accepted, email, role: memberRole, token_digest: bytes(32) },
  journals: {
    hash: bytes(32),
    kind: { takes: ["a", "a_b", "a".repeat(40)], refuses: ["", "A", "a1", "a".repeat(41)] },
    operation_key: text(1, 120),
    prev_hash: bytes(32),
    seq: atLeast(1),
  },
  memberships: { role: memberRole },
  merchant_profiles: {
    colour: { takes: ["#0099af"], refuses: ["0099af", "#0099AF", "#0099a", "#0099aff"] },
    language,
    logo: { takes: [{}, logo], refuses: Object.keys(logo).flatMap((name) => [{ [name]: logo[name] }, { ...logo, [name]: null }]) },
    logo_check: bytes(1, 131_072),
    logo_digest: bytes(32),
    logo_height: between(1, 2048),
    logo_type: oneOf("image/png", "image/jpeg"),
    logo_width: between(1, 2048),
    time_zone: text(1, 64),
  },
  merchants: { name: text(1, 120), rate_limit_per_minute: between(1, 100_000_000), settings: { takes: [{ settings: {} }], refuses: [[], "x"] } },
  operator_approval_policies: { changed_by: text(1, 254), rules: json(65_536), version: atLeast(1) },
  operator_approvals: {
    action: text(1, 40),
    amount_minor: atLeast(0),
    answer: {
      takes: [
        ...["executed", "failed"].flatMap((status) => [{ status, answer_status: 200 }, { status, answer_status: 200, answer: {} }]),
        ...["waiting", "executing", "unknown", "refused", "withdrawn", "expired"].map((status) => ({ status })),
      ],
      refuses: [
        ...["executed", "failed"].map((status) => ({ status })),
        ...["waiting", "executing", "unknown", "refused"].map((status) => ({ status, answer_status: 200 })),
        { status: "unknown", answer: {} },
      ],
    },
    answer_check: json(16_384),
    answer_status: between(200, 599),
    asked_by: text(1, 254),
    asked_id: text(1, 60),
    asked_kind: identity,
    asked_role: role,
    attempts: between(0, 100),
    body: bytes(0, 65_536),
    book: together({ merchant_id: one }, { environment: "sandbox" }),
    currency,
    decided_by: text(1, 254),
    decided_id: text(1, 60),
    decided_kind: identity,
    digest: {
      takes: [{ body: "\\x00", body_digest: "\\x6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d" }],
      refuses: [{ body: "\\x01", body_digest: "\\x6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d" }],
    },
    lease: there({ leased_until: then }, ["executing"], ["waiting", "executed", "failed", "unknown", "refused"]),
    least_role: role,
    method: oneOf("POST", "PUT", "PATCH", "DELETE"),
    money: together({ amount_minor: 1 }, { currency: "IDR" }),
    note: text(1, 500),
    operation: text(1, 60),
    path: text(1, 512),
    request_key: text(8, 255),
    status: oneOf("waiting", "executing", "executed", "failed", "unknown", "refused", "withdrawn", "expired"),
    summary: text(1, 1000),
    two: {
      takes: [
        ...ran.flatMap((status) => [{ ...decided, status }, { ...decided, status, decided_kind: "person", decided_id: "a" }]),
        ...["waiting", "refused", "withdrawn", "expired"].map((status) => ({ ...asked, status })),
      ],
      refuses: ran.flatMap((status) =>
        [
          ...["decided_kind", "decided_id", "decided_by", "decided_at", "decided_made_at", "run_id"].map((name) => ({ [name]: null })),
          { decided_kind: null, decided_id: "a" },
          { decided_id: "a" },
          { decided_by: "ANI" },
          { decided_kind: "environment" },
          { decided_made_at: then },
        ].map((change) => ({ ...decided, status, ...change })),
      ),
    },
    refused: {
      takes: [
        { ...decided, status: "refused" },
        { ...decided, status: "refused", decided_kind: "person", decided_id: "a" },
        { ...asked, status: "waiting" },
      ],
      refuses: [{ decided_at: null }, { decided_kind: null }, { decided_id: null }, { decided_id: "a" }].map(
        (change) => ({ ...decided, status: "refused", ...change }),
      ),
    },
    withdrawn: {
      takes: [{ ...decided, status: "withdrawn", decided_id: "a" }, { ...asked, status: "waiting" }],
      refuses: [
        { decided_at: null },
        { decided_kind: null },
        { decided_id: null },
        { decided_id: "b" },
        { decided_kind: "person" },
      ].map((change) => ({ ...decided, status: "withdrawn", decided_id: "a", ...change })),
    },
    undecided: {
      takes: [{ status: "waiting" }, { status: "expired" }, { ...decided, status: "refused" }],
      refuses: ["waiting", "expired"].flatMap((status) =>
        [{ decided_id: "b" }, { decided_at: then }, { run_id: one }].map((change) => ({ status, ...change })),
      ),
    },
  },
  operator_audit: {
    actor: text(1, 254),
    address: text(0, 60),
    approved_by: text(1, 254),
    body: json(16_384),
    body_in_first_row: { takes: [{ body: {} }, { status: 200 }], refuses: [{ body: {}, status: 200 }] },
    first_row: {
      takes: [{ audit_id: one, request_id: one }, { audit_id: two, request_id: one, status: 200 }],
      refuses: [{ audit_id: two, request_id: one }, { audit_id: one, request_id: one, status: 200 }],
    },
    method: oneOf("POST", "PUT", "PATCH", "DELETE"),
    path: text(1, 512),
    role,
    status: between(200, 599),
  },
  operator_invitations: { accepted, check: lasting, email, invited_by: text(1, 254), role, token_digest: bytes(32) },
  operator_refusals: {
    actor: text(1, 254),
    address: text(0, 60),
    check: { takes: [{ first_at: then, last_at: then }], refuses: [{ first_at: then, last_at: before }] },
    count: atLeast(1),
    reason: oneOf("missing", "wrong", "ended", "role"),
  },
  operator_token_uses: { address: text(0, 60) },
  operator_tokens: {
    created_by: text(1, 254),
    digest: bytes(32),
    name: { takes: ["a", "0._-", "a".repeat(40)], refuses: ["", ".a", "-a", "A", "a b", "a".repeat(41)] },
    reserved: { takes: [{ name: "environments" }], refuses: ["environment", "environment-viewer", "command-line"].map((name) => ({ name })) },
    role,
  },
  operators: { created_by: text(1, 254), role },
  passkey_challenges: {
    challenge: bytes(32),
    person: {
      takes: [{ purpose: "sign_in" }, { purpose: "registration", person_id: one }, { purpose: "proof", person_id: one }],
      refuses: [{ purpose: "sign_in", person_id: one }, { purpose: "registration" }, { purpose: "proof" }],
    },
    purpose: oneOf("registration", "sign_in", "proof"),
    slot: between(0, 262_143),
  },
  passkeys: {
    counter: between(0, 4_294_967_295),
    credential_id: bytes(1, 1023),
    name: text(1, 60),
    public_key: bytes(30, 4000),
    slot: between(1, 10),
    transports: list(0, 10),
  },
  payer_keys: { key_sealed: bytes(30, 400), purpose: oneOf("seal", "contacts") },
  payment_links: {
    amount: {
      takes: [{ amount_minor: 1 }, { minimum_minor: 1, maximum_minor: 2 }, {}],
      refuses: [{ amount_minor: 1, minimum_minor: 1 }, { amount_minor: 1, maximum_minor: 1 }],
    },
    amount_minor: amount,
    bounds: {
      takes: [{ minimum_minor: 5, maximum_minor: 5 }, { minimum_minor: 5 }, { maximum_minor: 5 }],
      refuses: [{ minimum_minor: 6, maximum_minor: 5 }],
    },
    check: { ...lasting, takes: [...lasting.takes, { created_at: then }] },
    currency,
    description: text(0, 255),
    maximum_minor: amount,
    minimum_minor: amount,
    payment_expires_in: between(60, 86_400),
    payment_methods: {
      takes: ["qris", "qris,va,card,ewallet,bank_transfer"],
      refuses: ["", "x", "qris,", ",qris", "qris va", "qris,qris,qris,qris,qris,qris"],
    },
    return_url: returnUrl(),
    token: bytes(16),
  },
  payment_splits: {
    arm: oneOf("control", "test"),
    control_code: code,
    percent: between(1, 99),
    split_id: { takes: ["a", "a_1", "a".repeat(40)], refuses: ["", "A", "a-b", "a".repeat(41)] },
    test_code: code,
    two_acquirers: { takes: [{ control_code: "a", test_code: "b" }], refuses: [{ control_code: "a", test_code: "a" }] },
  },
  payments: {
    amount_minor: amount,
    callback_url: https,
    cancel_reason: text(0, 255),
    canceled_at_with_status: there(
      { canceled_at: then },
      ["canceled"],
      ["pending", "processing", "succeeded", "failed", "expired", "partially_refunded", "refunded"],
    ),
    currency,
    customer_key: bytes(16),
    customer_sealed_length: {
      takes: bytes(33, 8192).takes.map((value) => ({ customer_sealed: value })),
      refuses: bytes(33, 8192).refuses.map((value) => ({ customer_sealed: value })),
    },
    description: text(0, 255),
    expires_in: between(60, 86_400),
    fee_within_amount: {
      takes: [{ amount_minor: 100, fee_minor: 0 }, { amount_minor: 100, fee_minor: 100 }],
      refuses: [{ amount_minor: 100, fee_minor: -1 }, { amount_minor: 100, fee_minor: 101 }],
    },
    gateway_code: code,
    link_whole: together({ link_id: one }, { link_reusable: false }),
    lost_minor: atLeast(0),
    paid_at_with_status: there(
      { paid_at: then },
      ["succeeded", "partially_refunded", "refunded"],
      ["pending", "processing", "failed", "expired", "canceled"],
    ),
    payer_erased: {
      takes: [{ payer_erased_at: then }, { customer_sealed: "\\x00", customer_key: "\\x00", phone_key: "\\x00" }],
      refuses: ["customer_sealed", "customer_key", "phone_key"].map((name) => ({ payer_erased_at: then, [name]: "\\x00" })),
    },
    phone_key: bytes(16),
    reference_id: text(1, 64),
    refund_pending_minor: atLeast(0),
    refunded_part: {
      takes: [
        { status: "partially_refunded", amount_minor: 100, refunded_minor: 1 },
        { status: "partially_refunded", amount_minor: 100, refunded_minor: 99 },
        { status: "succeeded", amount_minor: 100, refunded_minor: 0 },
      ],
      refuses: [
        { status: "partially_refunded", amount_minor: 100, refunded_minor: 0 },
        { status: "partially_refunded", amount_minor: 100, refunded_minor: 100 },
      ],
    },
    refunded_whole: {
      takes: [{ status: "refunded", amount_minor: 100, refunded_minor: 100 }, { status: "succeeded", amount_minor: 100, refunded_minor: 0 }],
      refuses: [99, 101].map((refunded) => ({ status: "refunded", amount_minor: 100, refunded_minor: refunded })),
    },
    refunded_with_status: {
      takes: [
        { status: "succeeded", refunded_minor: 0 },
        { status: "partially_refunded", refunded_minor: 1 },
        { status: "refunded", refunded_minor: 1 },
      ],
      refuses: ["pending", "processing", "succeeded", "failed", "expired", "canceled"].flatMap((status) =>
        [-1, 1].map((refunded) => ({ status, refunded_minor: refunded })),
      ),
    },
    refunds_within_amount: {
      takes: [{ amount_minor: 100, refunded_minor: 50, refund_pending_minor: 30, lost_minor: 20 }],
      refuses: [
        { amount_minor: 100, refunded_minor: 51, refund_pending_minor: 30, lost_minor: 20 },
        { amount_minor: 100, refunded_minor: 50, refund_pending_minor: 31, lost_minor: 20 },
        { amount_minor: 100, refunded_minor: 50, refund_pending_minor: 30, lost_minor: 21 },
      ],
    },
    return_url: returnUrl(),
    risk_decision: oneOf("approve", "review", "reject"),
    risk_score: between(0, 100),
  },
  people_audit: {
    action: { takes: ["a", "a".repeat(40)], refuses: ["", "A", "a1", "a".repeat(41)] },
    address: text(0, 60),
    answer: { takes: [{}, { request_id: one, status: 200 }], refuses: [{ status: 200 }] },
    call: together({ request_id: one }, { path: "x" }),
    details: json(2048),
    environment: oneOf("sandbox", "production"),
    path: text(0, 512),
  },
  persons: {
    email,
    language,
    name: text(1, 120),
    password_hash: text(20, 300),
    time_zone: text(1, 64),
    totp_confirmed: {
      takes: [{}, { totp_sealed: "\\x00" }, { totp_sealed: "\\x00", totp_confirmed_at: then }],
      refuses: [{ totp_confirmed_at: then }],
    },
    totp_sealed: bytes(30, 400),
    totp_used_step: atLeast(0),
  },
  receipts: {
    amount_minor: amount,
    currency,
    decided_at_with_status: there({ decided_at: then }, ["returned", "credited"], ["applied", "unapplied"]),
    fee_minor: between(0, MOST),
    gateway_code: code,
    status: oneOf("applied", "unapplied", "returned", "credited"),
    transaction_id: { takes: ["!", "~".repeat(64)], refuses: ["", "a b", "é", "x".repeat(65)] },
  },
  reconciliation_exceptions: {
    closed_with_note: together({ closed_at: then }, { note: "x" }),
    gateway_code: code,
    kind: oneOf(
      "refund_after_failure", "refund_twice", "refund_undone", "refund_elsewhere", "other_money", "receipt", "forgotten", "dispute", "evidence",
    ),
    note: text(1, 1000),
    occasions: list(0, 32),
  },
  recovery_codes: { code_digest: bytes(32) },
  refund_totals: { pending_minor: atLeast(0), refunded_minor: atLeast(0) },
  refunds: {
    amount_minor: amount,
    completed_at_with_status: there({ completed_at: then }, ["succeeded", "failed"], ["pending"]),
    currency,
    reason: text(0, 255),
  },
  routing_activations: { activated_by: text(1, 254), activation: atLeast(1) },
  routing_rule_sets: {
    created_by: text(1, 254),
    note: text(1, 200),
    restores_earlier: { takes: [{ version: 2, restores: 1 }, { version: 2 }], refuses: [{ version: 2, restores: 2 }, { version: 2, restores: 3 }] },
    rules: { takes: [[]], refuses: [{ rules: {} }, "x"] },
    split_tests: {
      takes: [
        [],
        [{ gateway_code: "a" }],
        [rule({}), { gateway_code: "a" }, rule({ id: "a_1", percent: 99 })],
        [rule({ id: "a".repeat(40), gateway_code: "b".repeat(30) })],
      ].map((rules) => ({ rules })),
      refuses: [
        [rule({}), rule({})],
        ...["", "A", "a".repeat(41), null, undefined].map((id) => [rule({ id })]),
        ...["a", "", "B", "b".repeat(31), null, undefined].map((code) => [rule({ gateway_code: code })]),
        ...[0, 100, 1.5, "1", null, undefined].map((percent) => [rule({ percent })]),
        ...["a", 1, null, []].map((value) => [{ gateway_code: "a", split: value }]),
        [{ split }],
        [rule({}), rule({ id: "b", percent: 0 })],
      ].map((rules) => ({ rules })),
    },
    version: atLeast(1),
  },
  sessions: { address: text(0, 60), surface: oneOf("portal", "console"), token_digest: bytes(32), user_agent: text(0, 300) },
  settlement_items: {
    amount_minor: atLeast(1),
    fee_of_payment: {
      takes: [{ kind: "payment", fee_minor: 1 }, ...["payment", "receipt", "refund", "dispute"].map((kind) => ({ kind, fee_minor: 0 }))],
      refuses: [{ kind: "payment", fee_minor: -1 }, ...["receipt", "refund", "dispute"].map((kind) => ({ kind, fee_minor: 1 }))],
    },
    kind: oneOf("payment", "receipt", "refund", "dispute"),
  },
  settlements: {
    bank_reference: text(0, 64),
    bank_reference_with_status: there({ bank_reference: "x" }, ["paid"], ["processing", "failed"]),
    currency,
    fee_minor: atLeast(0),
    gross_minor: between(0, MOST),
    net: {
      takes: [{ gross_minor: 100, fee_minor: 10, refund_minor: 20, net_minor: 70 }],
      refuses: [
        { gross_minor: 100, fee_minor: 10, refund_minor: 20, net_minor: 71 },
        { gross_minor: 100, fee_minor: 9, refund_minor: 20, net_minor: 70 },
        { gross_minor: 100, fee_minor: 10, refund_minor: 21, net_minor: 70 },
        { gross_minor: 101, fee_minor: 10, refund_minor: 20, net_minor: 70 },
      ],
    },
    net_minor: atLeast(1),
    paid_at_with_status: there({ paid_at: then }, ["paid"], ["processing", "failed"]),
    payment_count: atLeast(0),
    period: { takes: [{ period_start: then, period_end: then }], refuses: [{ period_start: then, period_end: before }] },
    refund_minor: atLeast(0),
    returned_at_with_status: there({ returned_at: then }, ["failed"], ["processing", "paid"]),
  },
  sign_in_failures: { failures: atLeast(0), name: text(0, 300) },
  sign_in_links: { check: lasting, purpose: oneOf("sign_in", "reset"), token_digest: bytes(32) },
  stray_messages: {
    about: text(0, 200),
    digest: bytes(32),
    gateway_code: code,
    kind: oneOf("payment", "refund", "look", "dispute", "refund_elsewhere"),
    kind_told: {
      takes: [{ reason: "unreadable" }, { reason: "refused", kind: "payment" }],
      refuses: [{ reason: "unreadable", kind: "payment" }, { reason: "refused" }],
    },
    operation_key: text(0, 64),
    reason: oneOf("unknown operation", "refused", "earlier attempt", "unreadable"),
    text: text(0, 8192),
    times: atLeast(1),
  },
  webhook_endpoints: {
    previous: together({ previous_sealed: "\\x00" }, { previous_until: then }),
    previous_sealed: bytes(30, 400),
    secret_sealed: bytes(30, 400),
    url: https,
  },
}; // prettier-ignore

const named = (table: string, key: string): string => `${table}_${key}`;

let database: TestDatabase;
/** Conditions by table and name. */
const conditions = new Map<string, Map<string, string>>();
beforeAll(async () => {
  database = await cloneDatabase();
  const text = `select conrelid::regclass::text as table, conname as name, pg_get_expr(conbin, conrelid) as condition
from pg_constraint
where contype = 'c' and convalidated and connamespace = 'public'::regnamespace`;
  const { rows } = await asOwner(database, (owner) =>
    owner.query<{ table: string; name: string; condition: string }>(text),
  );
  for (const { table, name, condition } of rows) {
    if (others.test(table)) continue;
    conditions.set(table, (conditions.get(table) ?? new Map<string, string>()).set(name, condition));
  }
});

test("each of these tables is in the lists, and each list is of a table", () => {
  expect(Object.keys(checks)).toEqual([...conditions.keys()].sort());
});

test.each(Object.entries(checks))("checks of %s", async (table, lists) => {
  const found = conditions.get(table) ?? new Map<string, string>();
  const keyOf = new Map(
    Object.keys(lists).map((key) => [
      found.has(named(table, key)) ? named(table, key) : named(table, `${key}_check`),
      key,
    ]),
  );
  expect([...keyOf.keys()].sort()).toEqual([...found.keys()].sort());
  await asOwner(database, async (owner) => {
    for (const [name, key] of keyOf) {
      const { takes, refuses } = lists[key] as Cases;
      const rows = [...takes, ...refuses].map((value) =>
        value !== null && typeof value === "object" && !Array.isArray(value)
          ? value
          : { [key.replace(/_check$/, "")]: value },
      );
      // A check takes what it does not find false: also what is unknown.
      const { rows: judged } = await owner.query<{ taken: boolean }>(
        `select (select (${found.get(name)}) is not false from jsonb_populate_record(null::${table}, given)) as taken
from jsonb_array_elements($1::jsonb) with ordinality as rows (given, place)
order by place`,
        [JSON.stringify(rows)],
      );
      for (const [place, { taken }] of judged.entries())
        expect(taken, `${name}: ${JSON.stringify(rows[place]).slice(0, 200)}`).toBe(place < takes.length);
    }
  });
});
