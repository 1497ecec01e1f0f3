// Goal: a busy merchant among a thousand others costs no more than any other, and one that is alone in its installation no more than that:
// a planner that knows one merchant expects each row to be the one it looks for. Method: such tables, with statistics; of what each payment
// and refund looks for, the plan that serves all its batches. It must find rows by whole keys, and leave nothing to a filter. Other tables
// are asked in the same words (`loadByKey`).
import { beforeAll, describe, expect, test } from "vitest";
import { type TestDatabase, asOwner, cloneDatabase } from "../test/kit.ts";
import { selectMessages } from "./acquiring/messages.sql.ts";
import { selectDisputes } from "./disputes/disputes.sql.ts";
import { evidenceDrafts, evidenceFiles, fileLists } from "./disputes/evidence.sql.ts";
import { SECOND } from "./ground/clock.ts";
import { keyRecords, openKeys } from "./idempotency/idempotency.sql.ts";
import { heads } from "./ledger/ledger.sql.ts";
import { selectBookAttempts } from "./events/deliveries.sql.ts";
import { exampleIds } from "./http/examples.ts";
import { linkUses, links, selectLink, selectLinkByToken, selectLinks } from "./links/links.sql.ts";
import { bookClocks, movableBookClocks } from "./merchants/books.ts";
import { selectCredentials } from "./merchants/credentials.sql.ts";
import { selectFound } from "./payments/payment-search.sql.ts";
import { payments, takenReferenceIds } from "./payments/payments.sql.ts";
import { refunds, selectRefunds } from "./refunds/refunds.sql.ts";
import { expiredRequests, trimRequests } from "./requests/request-log.sql.ts";
import { selectRequest, selectRequests, selectUsedKeys, selectUses } from "./requests/requests.sql.ts";
import { customerVelocity, merchantVelocity } from "./risk/velocity.sql.ts";
import { selectJournal, selectJournalPage, selectStartingLike } from "./search/search.sql.ts";
import { selectItemPage } from "./settlements/items.sql.ts";
import { selectComingDue } from "./sandbox/clock.sql.ts";
import type { Statement } from "./store/database.ts";
import {
  selectBatchesOf,
  selectDisputesOf,
  selectChangesOf,
  selectEventsOf,
  selectJournalsOf,
  selectOperationsOfPayment,
  selectReceiptsOf,
  selectRefundsOf,
} from "./story/story.sql.ts";

const unpaidOfLinks =
  /Subquery Scan on p\S*  .*\n +Filter: \(\(p\S*\.link_id IS NULL\) OR \(p\S*\.paid_at IS NOT NULL\)\)\n +->  Limit/g;
const BUSY_ROWS = 12_000;
const OTHERS_ROWS = 10;

async function databaseOf(others: number): Promise<TestDatabase> {
  const database = await cloneDatabase();
  const made: Record<string, string> = {
    payments: `(merchant_id, environment, payment_id, status, amount_minor, fee_minor, created_at, updated_at, expires_at, payment_method, risk_score,
  currency, reference_id, risk_decision, risk_reasons, routing, customer_key, phone_key)
select merchant, 'sandbox', gen_random_uuid(), 'pending', 1, 0, now(), now(), now(), 'qris', 0,
  'IDR', 'order-' || n, 'approve', '[]', '{}', decode(md5(n::text), 'hex'), decode(md5('p' || n), 'hex')`,
    refunds: `(merchant_id, environment, refund_id, payment_id, status, amount_minor, currency, created_at, completed_at)
select merchant, 'sandbox', gen_random_uuid(), gen_random_uuid(), 'succeeded', 1, 'IDR', now(), now()`,
    events: `(merchant_id, environment, event_id, type, subject_id, created_at, body)
select merchant, 'sandbox', gen_random_uuid(), 'payment.created', gen_random_uuid(), now(), '{}'`,
    journals: `(merchant_id, environment, seq, journal_id, group_id, kind, operation_key, posted_at, prev_hash, hash)
select merchant, 'sandbox', n, gen_random_uuid(), gen_random_uuid(), 'capture', 'capture:' || n, now(),
  decode(repeat('00', 32), 'hex'), decode(repeat('00', 32), 'hex')`,
    entries: `(merchant_id, environment, seq, line, account, currency, amount_minor, balance_after_minor)
select merchant, 'sandbox', n, 1, 'merchant:available', 'IDR', 1, 1`,
    disputes: `(merchant_id, environment, dispute_id, payment_id, status, reason, amount_minor, currency, evidence_due_at, opened_at, resolved_at)
select merchant, 'sandbox', gen_random_uuid(), gen_random_uuid(), 'won', 'general', 1, 'IDR', now(), now(), now()`,
    receipts: `(merchant_id, environment, receipt_id, gateway_code, transaction_id, payment_id, amount_minor, currency, status, received_at)
select merchant, 'sandbox', gen_random_uuid(), 'nusantara', 't' || n, gen_random_uuid(), 1, 'IDR', 'applied', now()`,
    acquirer_operations: `(merchant_id, environment, operation_id, kind, payment_id, step, gateway_code, attempt, round, created_at)
select merchant, 'sandbox', gen_random_uuid(), 'refund', gen_random_uuid(), 'done', 'nusantara', 1, 0, now()`,
    acquirer_messages: `(merchant_id, environment, operation_id, digest, payment_id, operation_kind, gateway_code, attempt, call, about, text, exchanged_at)
select merchant, 'sandbox', gen_random_uuid(), decode(repeat('00', 32), 'hex'), gen_random_uuid(), 'payment', 'nusantara', 1, 'open', 'POST /',
  '', now()`,
    settlement_items: `(merchant_id, environment, settlement_id, kind, item_id, payment_id, amount_minor, fee_minor, occurred_at)
select merchant, 'sandbox', gen_random_uuid(), 'payment', gen_random_uuid(), gen_random_uuid(), 1, 0, now()`,
    evidence_drafts: `(merchant_id, environment, dispute_id, statement, saved_at)
select merchant, 'sandbox', gen_random_uuid(), '', now()`,
    evidence_files: `(merchant_id, environment, dispute_id, file_id, slot, state, name, size_bytes)
select merchant, 'sandbox', gen_random_uuid(), gen_random_uuid(), 1, 'arriving', 'resi.pdf', 1`,
    idempotency_keys: `(merchant_id, environment, idempotency_key, endpoint, body_digest, first_seen_at)
select merchant, 'sandbox', 'key-of-request-' || n, 'POST /v1/payments', decode(md5(n::text) || md5(n::text), 'hex'), now()`,
    client_audit: `(merchant_id, environment, subject, request_id, at, client_id, address, action)
select merchant, 'sandbox', 'pay_' || n, gen_random_uuid(), now(), 'ak_test_x', '127.0.0.1', 'create_payment'`,
    delivery_attempts: `(merchant_id, environment, event_id, attempt, started_at, duration_ms, succeeded, request_headers)
select merchant, 'sandbox', gen_random_uuid(), 1, now() - n * interval '1 second', 1, n % 100 > 0, '{}'`,
    payment_links: `(merchant_id, environment, link_id, token, reusable, customer_required, payment_expires_in, created_at, currency)
select merchant, 'sandbox', gen_random_uuid(), decode(md5(random()::text), 'hex'), n % 2 = 0, false, 1800, now(), 'IDR'`,
    request_log: `(merchant_id, environment, request_id, at, took_us, status, proven, replayed, client_id, method, path, idempotency_key,
  request_bytes, response_bytes)
select merchant, 'sandbox', gen_random_uuid(), now() - n * interval '1 second', 1, case n % 20 when 0 then 422 else 200 end, true, false,
  'ak_test_x', 'POST', '/v1/payments', 'key-of-request-' || n, 0, 0`,
    credentials: `(merchant_id, client_id, environment, secret_sealed, scopes, created_at)
select merchant, 'ak_test_' || substr(md5(merchant::text || n), 1, 26), 'sandbox', decode(repeat('00', 60), 'hex'), '{payments:read}',
  now() - n * interval '1 second'`,
  };
  await asOwner(database, async (owner) => {
    await owner.query("set session_replication_role = replica"); // no triggers and no foreign keys
    await owner.query(`create temporary table made as
select gen_random_uuid() as merchant, case when n = 0 then ${BUSY_ROWS} else ${OTHERS_ROWS} end as rows
from generate_series(0, ${others}) n`);
    for (const table of ["books", "book_heads"]) {
      await owner.query(`insert into ${table} (merchant_id, environment) select merchant, 'sandbox' from made
on conflict do nothing`);
    }
    for (const [table, select] of Object.entries(made)) {
      await owner.query(`insert into ${table} ${select} from made, generate_series(1, made.rows) n`);
    }
    await owner.query("analyze");
  });
  return database;
}

const book = { merchantId: "mer_00000000000000000000000000", environment: "sandbox" } as const;

const attempts = (failedOnly: boolean): Statement =>
  selectBookAttempts({ book, hidden: [], failedOnly, startedFrom: 0, startedBefore: 0, after: undefined, limit: 25 });

const reference = "pay_00000000000000000000000000";

const searched = {
  book,
  reference: undefined,
  referenceId: undefined,
  contactKey: undefined,
  status: undefined,
  method: undefined,
  amounts: [{ currency: "IDR", amountMinor: 1n }],
  metadata: undefined,
  createdFrom: undefined,
  createdBefore: undefined,
  after: undefined,
};

const ofTime = { paymentReference: undefined, status: undefined, from: 0, before: SECOND, after: undefined, limit: 25 };

const anyRequest = {
  book,
  outcome: undefined,
  method: undefined,
  path: undefined,
  status: undefined,
  code: undefined,
  clientId: undefined,
  idempotencyKey: undefined,
  createdFrom: undefined,
  createdBefore: undefined,
  after: exampleIds.request,
  limit: 25,
};

// Reading all of a table is right where it has one row or none: the second has no others in its books, and neither has the rest.
describe.each([
  ["beside a thousand others", 1_000, /Seq Scan on (settlements|deliveries|dispute_evidence)\b.*(\n +Filter: .*)?/g],
  ["alone", 0, /Seq Scan on (books|book_heads|settlements|deliveries|dispute_evidence)\b.*(\n +Filter: .*)?/g],
])("%s", (_where, others, ofFewRows) => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await databaseOf(others);
  });

  async function genericPlan({ text }: Statement): Promise<string> {
    return asOwner(database, async (owner) => {
      const { rows } = await owner.query<Record<string, string>>(`explain (generic_plan) ${text}`);
      const plan = rows.map((row) => row["QUERY PLAN"]).join("\n");
      return plan.replaceAll(ofFewRows, "Index Scan is not needed");
    });
  }

  test.each([
    movableBookClocks,
    payments,
    takenReferenceIds,
    refunds,
    keyRecords,
    openKeys,
    bookClocks,
    heads,
    merchantVelocity,
    customerVelocity,
    links,
    linkUses,
    evidenceDrafts,
    evidenceFiles,
    fileLists,
  ])("$name are found by their key, and by nothing else", async (table) => {
    const plan = await genericPlan(table.load?.([], 0) ?? expect.unreachable("it can be loaded"));
    expect(plan).toMatch(/Index (Only )?Scan/);
    expect(plan).not.toContain("Seq Scan");
    // Of a customer's velocity the found rows are filtered, a bounded number of them, and not the table's.
    expect(plan.replaceAll(unpaidOfLinks, "")).not.toContain("Filter: ");
  });

  test.each([payments, refunds, keyRecords])("$name are changed by their key", async (table) => {
    const plan = await genericPlan(table.update?.([]) ?? expect.unreachable("it can be changed"));
    expect(plan).not.toContain("Seq Scan");
    expect(plan).not.toMatch(/^\s*Filter: /m);
  });

  test.each<[string, string, Statement]>([
    ["attempts", "delivery_attempts_newest", attempts(false)],
    ["failed attempts", "delivery_attempts_failed", attempts(true)],
    ["keys", "credentials_newest", selectCredentials(book, undefined, 26)],
  ])("a page of %s is read from %s, newest first, without sorting all of them", async (_what, index, statement) => {
    const plan = await genericPlan(statement);
    expect(plan).toContain(`Index Scan Backward using ${index}`);
    expect(plan).not.toMatch(/^\s*(->  )?Sort {2}/m); // an incremental one sorts a moment's rows
  });

  test.each<[string, string, Statement]>([
    ["refunds of a payment", "refunds_of_payment", selectRefundsOf(book, reference)],
    ["disputes of a payment", "disputes_of_payment", selectDisputesOf(book, reference)],
    [
      "refunds of a time",
      "(refund_id >= $4",
      selectRefunds({ ...ofTime, book: { ...book, environment: "production" } }),
    ],
    ["disputes of a time", "(dispute_id >= $4", selectDisputes({ ...ofTime, book })],
    ["receipts of a payment", "receipts_payment", selectReceiptsOf(book, reference)],
    ["journals of a payment", "journals_group", selectJournalsOf(book, reference)],
    ["events about an object", "events_of_subject", selectEventsOf(book, [reference])],
    ["changes by keys", "client_audit_pkey", selectChangesOf(book, [reference])],
    ["settlements of a payment", "payments_pkey", selectBatchesOf(book, reference)],
    ["operations of a payment", "acquirer_operations_pkey", selectOperationsOfPayment(book, reference)],
    ["messages about a payment", "acquirer_messages_payment", selectMessages(book, reference, 101)],
    ["payments by amount", "payments_pkey", selectFound(searched, 25)],
    ["payments of a payer", "payments_customer", selectFound({ ...searched, contactKey: "00" }, 25)],
    ["payments by reference_id", "payments_reference", selectFound({ ...searched, referenceId: "a" }, 25)],
    ["payments by the beginning of reference_id", "payments_reference", selectStartingLike(book, "a")],
    ["a journal by its identity", "journals_by_identity", selectJournal(book, "jrn_00000000000000000000000000")],
    ["journals, newest first", "journals_pkey", selectJournalPage(book, undefined, 5n, 25)],
    ["a payment link", "payment_links_", selectLink(book.merchantId, exampleIds.link)],
    [
      "the link of an address",
      "payment_links_token",
      selectLinkByToken({ merchantId: book.merchantId, token: Buffer.alloc(16) }),
    ],
    [
      "links, newest first",
      "payment_links_",
      selectLinks({ book, status: "paid", realNow: 0, after: exampleIds.link, limit: 25 }),
    ],
    ["payments of a link", "payments_of_link", selectFound({ book, link: exampleIds.link }, 25)],
    ["items of a settlement", "settlement_items_pkey", selectItemPage({ book, uuid: reference }, undefined, 25)],
  ])("%s are found by %s, and no table is read as a whole", async (_what, index, statement) => {
    const plan = await genericPlan(statement);
    expect(plan).toContain(index);
    expect(plan).not.toContain("Seq Scan");
  });

  test.each([
    ["a page of requests", selectRequests(anyRequest)],
    ["a page of refused requests", selectRequests({ ...anyRequest, outcome: "refused" })],
    ["one request", selectRequest(book, exampleIds.request)],
    ["used keys", selectUsedKeys(book, undefined, 25)],
    ["uses of a key", selectUses(book, "key-of-request-1", 10, 40)],
    ["what a book has too much of", trimRequests(book)],
    ["what is a week old", expiredRequests(0)],
  ])("of the request log, %s is found by an index", async (_, statement) => {
    const plan = await genericPlan(statement);
    expect(plan).not.toMatch(/Seq Scan on (request_log|idempotency_keys)/);
    expect(plan).not.toContain("Filter: (at <");
  });

  // The index of keys holds proven requests alone: the others are found among those of the book, of which it keeps so many.
  test.runIf(others > 0)(
    "requests of a key, also those without a good signature, are found within their book",
    async () => {
      const plan = await genericPlan(selectRequests({ ...anyRequest, idempotencyKey: "key-of-request-1" }));
      expect(plan).not.toContain("Seq Scan on request_log");
    },
  );

  test("what falls due next by a sandbox's clock is read from the end of an index, however many payments wait", async () => {
    const plan = await genericPlan(selectComingDue(book, 0, 26));
    expect(plan).toMatch(/Limit .*\n +->  Index Scan using payments_expiring_in_sandbox/);
  });
});
