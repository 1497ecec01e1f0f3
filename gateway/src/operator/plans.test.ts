// Goal: what an operator asks reads as much as it shows, however many merchants there are and however busy one is. Method: such tables, with
// statistics; the plan of each statement. It reads no table of payments, or of what belongs to them, from end to end.
import { beforeAll, expect, test } from "vitest";
import { type TestDatabase, asOwner, cloneDatabase } from "../../test/kit.ts";
import { aPayment } from "../../test/payments.ts";
import type { Statement } from "../store/database.ts";
import { selectException, selectExceptions } from "../acquiring/exceptions.sql.ts";
import { selectReceipt, selectReceipts } from "../acquiring/receipts.sql.ts";
import { selectEntries } from "../ledger/ledger.sql.ts";
import { selectBalanceBefore, selectMovements, selectPeriod, selectSums } from "../balances/statement.sql.ts";
import { selectAccounts } from "../balances/trial-balance.sql.ts";
import { selectAuditAbout } from "./audit.sql.ts";
import { selectExceptionsOf, selectOperationsOf, selectPeopleAbout } from "./payment-record.sql.ts";
import { selectAnyPayment, selectSearched, selectSearchedTo } from "./payments.sql.ts";
import { selectSameAmount } from "./receipt-candidates.sql.ts";
import { selectOthersOfPayer, selectVelocities } from "./risk-seen.sql.ts";
import { selectByContact, selectById, selectByReferenceId, selectByTransaction, selectPaidBy } from "./search.sql.ts";
import { selectComing, selectPayouts, selectPayoutsOf } from "./settlement-calendar.sql.ts";
import {
  waitingDeadlines,
  waitingDecisions,
  waitingEndpoints,
  waitingExceptions,
  waitingOperations,
  waitingOutcomes,
  waitingPayouts,
  waitingReceipts,
  waitingRefunds,
  waitingReturns,
  waitingReviews,
} from "./waiting.sql.ts";

const MERCHANTS = 300;
const BUSY_ROWS = 20_000;
const OTHERS_ROWS = 20;

let database: TestDatabase;
beforeAll(async () => {
  database = await cloneDatabase();
  const made: Record<string, string> = {
    payments: `(merchant_id, environment, payment_id, status, amount_minor, fee_minor, created_at, updated_at, expires_at, payment_method,
  risk_score, currency, reference_id, risk_decision, risk_reasons, routing, customer_key, phone_key)
select merchant, 'sandbox', gen_random_uuid(), 'pending', 1, 0, now(), now(), now(), 'qris', 0, 'IDR', 'order-' || n, 'approve', '[]', '{}',
  decode(md5(n::text), 'hex'), decode(md5('p' || n), 'hex')`,
    acquirer_operations: `(merchant_id, environment, operation_id, kind, payment_id, step, gateway_code, attempt, round, created_at)
select merchant, 'sandbox', gen_random_uuid(), 'refund', gen_random_uuid(), 'done', 'nusantara', 1, 0, now()`,
    reconciliation_exceptions: `(merchant_id, environment, exception_id, operation_id, attempt, kind, gateway_code, noticed_at, closed_at, note)
select merchant, 'sandbox', gen_random_uuid(), gen_random_uuid(), 1, 'receipt', 'nusantara', now(), now(), 'done'`,
    refunds: `(merchant_id, environment, refund_id, payment_id, status, amount_minor, currency, created_at, completed_at)
select merchant, 'sandbox', gen_random_uuid(), gen_random_uuid(), 'succeeded', 1, 'IDR', now(), now()`,
    disputes: `(merchant_id, environment, dispute_id, payment_id, status, reason, amount_minor, currency, evidence_due_at, opened_at, resolved_at)
select merchant, 'sandbox', gen_random_uuid(), gen_random_uuid(), 'won', 'general', 1, 'IDR', now(), now(), now()`,
    receipts: `(merchant_id, environment, receipt_id, gateway_code, transaction_id, payment_id, amount_minor, currency, status, received_at)
select merchant, 'sandbox', gen_random_uuid(), 'nusantara', 't' || n, gen_random_uuid(), 1, 'IDR', 'applied', now()`,
    settlements: `(merchant_id, environment, settlement_id, status, currency, period_start, period_end, gross_minor, fee_minor, refund_minor,
  net_minor, payment_count, created_at, pay_due_at, payout_date, paid_at, bank_reference)
select merchant, 'sandbox', gen_random_uuid(), 'paid', 'IDR', now(), now(), 1, 0, 0, 1, 1, now(), now(), current_date, now(), 'T'`,
    balances: `(merchant_id, environment, account, currency, debit_minor, credit_minor)
select merchant, 'sandbox', case n when 1 then 'merchant:available' else 'acquirer:' || n end, 'IDR', 0, 1`,
    deliveries: `(merchant_id, environment, event_id, url, state, attempts, next_attempt_at)
select merchant, 'sandbox', gen_random_uuid(), 'https://shop.example/hook', 'delivered', 1, now()`,
    journals: `(merchant_id, environment, seq, journal_id, group_id, kind, operation_key, posted_at, prev_hash, hash)
select merchant, 'sandbox', n, gen_random_uuid(), gen_random_uuid(), 'capture', 'capture:' || n, now(),
  decode(repeat('00', 32), 'hex'), decode(repeat('00', 32), 'hex')`,
    entries: `(merchant_id, environment, seq, line, account, currency, amount_minor, balance_after_minor)
select merchant, 'sandbox', n, 1, (array['merchant:available', 'merchant:held', 'platform:fees', 'platform:unapplied'])[1 + n % 4], 'IDR', 1, 1`,
    people_audit: `(audit_id, at, action, merchant_id, request_id, environment, path)
select id, now(), 'cancel_payment', merchant, id, 'sandbox', 'POST /portal/v1/payments' from (select gen_random_uuid() as id, merchant, n`,
    operator_audit: `(audit_id, at, role, actor, method, path, merchant_id, request_id)
select id, now(), 'admin', 'sari', 'POST', '/ops/v1/payments/' || n, merchant, id from (select gen_random_uuid() as id, merchant, n`,
  };
  await asOwner(database, async (owner) => {
    await owner.query("set session_replication_role = replica"); // no triggers and no foreign keys
    await owner.query(`create temporary table made as
select gen_random_uuid() as merchant, case when n = 0 then ${BUSY_ROWS} else ${OTHERS_ROWS} end as rows
from generate_series(0, ${MERCHANTS}) n`);
    await owner.query("insert into books (merchant_id, environment) select merchant, 'sandbox' from made");
    await owner.query("insert into settlement_clocks select merchant, 'sandbox', now() from made");
    await owner.query(`insert into merchants (merchant_id, name, created_at, settings, epoch)
select merchant, 'Shop', now(), '{}', 0 from made`);
    for (const [table, select] of Object.entries(made)) {
      const inner = select.includes("from (select");
      await owner.query(
        `insert into ${table} ${select} from made, generate_series(1, made.rows) n${inner ? ") made" : ""}`,
      );
    }
    await owner.query("analyze");
  });
});

async function genericPlan({ text }: Statement): Promise<string> {
  return asOwner(database, async (owner) => {
    const { rows } = await owner.query<Record<string, string>>(`explain (generic_plan) ${text}`);
    return rows.map((row) => row["QUERY PLAN"]).join("\n");
  });
}

const payment = aPayment();
const days = { from: "2026-11-01", to: "2026-11-30" };
const { book, reference } = payment;
const asked = { now: 0, environment: undefined };
const account = { book, account: "merchant:available", currency: "IDR" };

test.each<[string, string, Statement]>([
  ["a payment of anybody's", "payments_pkey", selectAnyPayment(reference)],
  ["payments by reference", "payments_pkey", selectSearched({ reference }, 25)],
  ["payments by reference_id", "payments_reference", selectSearched({ referenceId: "a" }, 25)],
  ["payments by amount", "payments_pkey", selectSearched({ amountMinor: 1n, after: reference }, 25)],
  ["payments of a day", "payments_pkey", selectSearched({ createdFrom: 0, createdBefore: 1, status: "pending" }, 25)],
  ["payments of a merchant", "payments_pkey", selectSearched({ merchantId: book.merchantId }, 25)],
  ["the end of a search", "payments_pkey", selectSearchedTo({ amountMinor: 1n })],
  ["what risk counted", "payments_customer", selectVelocities(payment)],
  ["other payments of a payer", "payments_phone", selectOthersOfPayer(payment)],
  ["operations of a payment", "acquirer_operations_pkey", selectOperationsOf(book, [reference])],
  ["exceptions of a payment", "reconciliation_exceptions", selectExceptionsOf(book, [reference])],
  ["what people did to a payment", "people_audit_of_merchant", selectPeopleAbout(book, [reference])],
  ["reviews that wait", "payments_under_review", waitingReviews(asked)],
  ["disputes near their deadline", "disputes_unanswered", waitingDeadlines(asked)],
  ["disputes without a decision", "disputes_", waitingDecisions(asked)],
  ["money of nobody", "receipts_unapplied", waitingReceipts(asked)],
  ["a receipt", "receipts_of_all", selectReceipt(reference)],
  ["receipts", "receipts_of_all", selectReceipts(undefined, undefined, 25)],
  ["applied receipts", "receipts_of_all", selectReceipts("applied", undefined, 25)],
  ["unapplied receipts", "receipts_unapplied", selectReceipts("unapplied", undefined, 25)],
  ["returned receipts", "receipts_decided", selectReceipts("returned", undefined, 25)],
  ["credited receipts", "receipts_decided", selectReceipts("credited", undefined, 25)],
  ["an exception", "reconciliation_exceptions_of_all", selectException(reference)],
  ["exceptions", "reconciliation_exceptions_of_all", selectExceptions(undefined, undefined, 25)],
  ["open ones", "reconciliation_exceptions_open", selectExceptions(true, undefined, 25)],
  ["closed ones", "reconciliation_exceptions_of_all", selectExceptions(false, undefined, 25)],
  ["what it may have been meant for", "payments_pkey", selectSameAmount({ ...payment, receivedAt: 0 } as never)],
  ["open exceptions", "reconciliation_exceptions_open", waitingExceptions(asked)],
  ["late payouts", "settlements_due", waitingPayouts(asked)],
  ["returned payouts", "settlements_returned", waitingReturns(asked)],
  ["payouts by day", "settlements_payout", selectPayouts({ environment: "sandbox", ...days })],
  ["payouts to come", "balances_pkey", selectComing({ environment: "sandbox", ...days }, 0)],
  [
    "payouts of a day",
    "settlements_payout",
    selectPayoutsOf({ environment: "sandbox", day: days.to, status: "paid", currency: "IDR", after: undefined }, 25),
  ],
  ["late refunds", "refunds_pending", waitingRefunds(asked)],
  ["late operations", "acquirer_operations_due", waitingOperations(asked)],
  ["unknown outcomes", "acquirer_operations_unknown", waitingOutcomes(asked)],
  ["events that were given up", "deliveries_given_up", waitingEndpoints(asked)],
  ["the ends of a period", "journals_by_identity", selectPeriod(book, 0, 1)],
  ["the balance before a journal", "entries_account", selectBalanceBefore(account, 1n)],
  ["the accounts of all books", "entries_account", selectAccounts("sandbox", { from: 0, before: 1 }, undefined, 200)],
  [
    "the ends of a period of all books",
    "journals_by_identity",
    selectAccounts("sandbox", { from: 0, before: 1 }, undefined, 200),
  ],
  ["movements of a period", "entries_account", selectMovements(account, { seq: 1n, line: 0 }, 9n, 25)],
  [
    "entries behind a figure",
    "entries_account",
    selectEntries(account, { first: 1n, before: { seq: 9n, line: 0 } }, 25),
  ],
  ["the sums of a period", "entries_pkey", selectSums(account, 1n, 9n)],
  ["anybody's refund by its identity", "refunds_pkey", selectById("refund", reference)],
  ["anybody's dispute by its identity", "disputes_pkey", selectById("dispute", reference)],
  ["anybody's journal by its identity", "journals_by_identity", selectById("journal", reference)],
  ["anybody's order", "payments_reference", selectByReferenceId("a")],
  ["payments of an e-mail address", "payments_customer", selectByContact("00")[0] as Statement],
  ["payments of a telephone", "payments_phone", selectByContact("00")[1] as Statement],
  ["money by its transaction", "receipts_transaction", selectByTransaction("t", ["nusantara"])],
  ["what was paid by a transaction", "payments_pkey", selectPaidBy("t", ["nusantara"])],
  ["what operators did to a payment", "operator_audit_path", selectAuditAbout(["/ops/v1/x"], reference)],
])("%s are found by %s, and no long table is read as a whole", async (_what, index, statement) => {
  const plan = await genericPlan(statement);
  expect(plan).toContain(index);
  const whole = [...plan.matchAll(/Seq Scan on (\w+)/g)].map(([, table]) => table ?? "");
  expect(
    whole.filter((table) => !["books", "book_heads", "merchants", "persons", "settlement_clocks"].includes(table)),
  ).toEqual([]);
});
