// Goal: no row about money can be changed, lost, added or told twice without verification naming it, and traffic is no
// alarm. Method: a busy book made by a real service; each falsification is done as superuser with all triggers off, in a
// transaction that is rolled back; what one check would hide from another is shown to that one alone; then journals
// that no row asked for; then verification beside several hundred calls.
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import type { Answer, Client } from "../../../e2e/kit/client.ts";
import { alsoIn } from "../../test/currencies.ts";
import { defaultSettings } from "../merchants/settings.ts";
import { postJournal } from "../../test/journals.ts";
import { type TestService, openDatabase, paymentBody, startService } from "../../test/kit.ts";
import { sqlTime, systemClock } from "../ground/clock.ts";
import { newId, uuidOf } from "../ground/ids.ts";
import type { Book } from "../merchants/books.ts";
import { selectBooks } from "../merchants/books.sql.ts";
import type { Database, Statement } from "../store/database.ts";
import { type JournalDraft, accounts, capturePostings, holdPostings, refundPostings } from "./journal.ts";
import { eventsMissing, eventsUnfounded } from "./verify-events.sql.ts";
import { batchesWrong, itemsContested, itemsWrong, marksWrong, paymentsWrong } from "./verify-rows.sql.ts";
import {
  type Claim,
  type PagedTable,
  journalsMissing,
  journalsUnfounded,
  selectHeadMismatch,
  selectKeys,
  selectProtectedMismatch,
} from "./verify.sql.ts";
import { type ReplayProgress, verifyBook } from "./verify.ts";

let service: TestService;
let database: Database;
let busy: Awaited<ReturnType<typeof busyBook>>;

beforeAll(async () => {
  service = await startService();
  database = openDatabase(service.database);
  busy = await busyBook();
});
afterAll(async () => {
  await database.end();
  await service.stop();
});

let calls = 0;

/** A call whose signature is like no other's: equal bodies differ in the white space after them. */
function send(client: Client, path: string, value: unknown): Promise<Answer> {
  const space = [...(++calls).toString(2)].map((bit) => (bit === "1" ? "\n" : " ")).join("");
  return client.post(path, JSON.stringify(value) + space);
}

async function done(answer: Promise<Answer>): Promise<Answer["json"]> {
  const { status, text, json } = await answer;
  expect(status, text).toBeLessThan(300);
  return json;
}

async function paid(client: Client, changes: Record<string, unknown> = {}): Promise<string> {
  const { reference } = await done(send(client, "/v1/payments", paymentBody({ amount_minor: 1_000_000, ...changes })));
  await done(send(client, `/v1/sandbox/payments/${reference}/simulate`, { outcome: "succeeded" }));
  return reference as string;
}

async function refund(client: Client, reference: string, amountMinor?: number): Promise<string> {
  const body = { payment_reference: reference, ...(amountMinor === undefined ? {} : { amount_minor: amountMinor }) };
  return (await done(send(client, "/v1/refunds", body))).uuid as string;
}

async function dispute(client: Client, reference: string, outcome?: string): Promise<string> {
  const { uuid } = await done(send(client, `/v1/sandbox/payments/${reference}/dispute`, { reason: "general" }));
  if (outcome !== undefined) await done(send(client, `/v1/sandbox/disputes/${uuid}/resolve`, { outcome }));
  return uuid as string;
}

async function settle(client: Client): Promise<string> {
  return (await done(send(client, "/v1/sandbox/settlements/run", {}))).data[0].uuid as string;
}

const automatic = { metadata: { "sandbox.scenario": "auto_success" } };

async function paidBySimulator(client: Client): Promise<string> {
  const { reference } = await done(send(client, "/v1/payments", paymentBody(automatic)));
  await vi.waitFor(async () => expect((await client.get(`/v1/payments/${reference}`)).json.status).toBe("succeeded"), {
    timeout: 30_000,
    interval: 150,
  });
  return reference as string;
}

/** A payment that is canceled before its money comes. */
async function paidTooLate(client: Client): Promise<string> {
  const { reference } = await done(send(client, "/v1/payments", paymentBody(automatic)));
  await done(send(client, `/v1/payments/${reference}/cancel`, {}));
  await vi.waitFor(async () => expect(await receiptOf(reference as string)).toBeDefined(), { timeout: 30_000 });
  return reference as string;
}

async function receiptOf(reference: string): Promise<{ uuid: string } | undefined> {
  const { data } = await service.operate("GET", "/receipts?limit=100");
  return (data as { payment_reference: string; uuid: string }[]).find((row) => row.payment_reference === reference);
}

async function decide(reference: string, word: "return" | "credit"): Promise<void> {
  await service.operate("POST", `/receipts/${(await receiptOf(reference))?.uuid}/${word}`);
}

/** Everything that can happen to money, at least once, in one book. */
async function busyBook() {
  const { client, merchantId } = await service.merchant({ settings: alsoIn(defaultSettings, "USD") });
  const book: Book = { merchantId, environment: "sandbox" };
  const slow = { metadata: { "sandbox.scenario": "slow" } };
  const pending = (await done(send(client, "/v1/payments", paymentBody()))).reference as string;
  const canceled = (await done(send(client, "/v1/payments", paymentBody()))).reference as string;
  await done(send(client, `/v1/payments/${canceled}/cancel`, {}));
  const plain = await paid(client);
  const partly = await paid(client);
  const partial = await refund(client, partly, 100_000);
  const whole = await paid(client);
  await refund(client, whole);
  const batched = await paid(client, { amount_minor: 100_000 });
  const paidBatch = await settle(client);
  const meanwhile = await dispute(client, batched); // after its batch was formed, and until it was paid
  await done(send(client, `/v1/sandbox/settlements/${paidBatch}/pay`, {}));
  await done(send(client, `/v1/sandbox/disputes/${meanwhile}/resolve`, { outcome: "won" }));
  await paid(client);
  const returnedBatch = await settle(client);
  await service.app.returnSettlement(book, returnedBatch);
  const slowly = await paid(client, slow);
  const returned = await refund(client, slowly, 200_000);
  await done(send(client, `/v1/sandbox/refunds/${returned}/simulate`, { outcome: "failed" }));
  await done(
    send(client, `/v1/sandbox/refunds/${await refund(client, slowly, 300_000)}/simulate`, { outcome: "succeeded" }),
  );
  const waiting = await refund(client, slowly, 50_000);
  const contested = await paid(client);
  const won = await dispute(client, contested, "won");
  await dispute(client, contested, "withdrawn");
  const losing = await paid(client);
  const lost = await dispute(client, losing, "lost");
  await paid(client, { currency: "USD", payment_method: "card" });
  const openBatch = await settle(client);
  const held = await paid(client);
  const running = await dispute(client, held);
  const reviewed = await dispute(client, await paid(client));
  await service.app.submitEvidence(book, reviewed, { statement: "It was delivered.", files: [] });
  const [unapplied, givenBack, credited] = await Promise.all([1, 2, 3].map(() => paidTooLate(client)));
  await decide(givenBack as string, "return");
  await decide(credited as string, "credit");
  await paid(client); // the newest waits, as long as a refund is under way
  const creditedBatch = await settle(client);
  const applied = await paidBySimulator(client);
  const unsettled = await paid(client);
  await dispute(client, batched);
  return {
    unapplied: unapplied as string, givenBack: givenBack as string, credited: credited as string, creditedBatch, applied,
    client, book, pending, canceled, plain, partly, partial, whole, paidBatch, returnedBatch, slowly, returned, waiting,
    contested, won, lost, losing, openBatch, held, running, reviewed, unsettled,
  }; // prettier-ignore
}

test("a busy book of the real service verifies clean", async () => {
  const report = await verifyBook(database, busy.book);
  expect(report.wrong).toBeUndefined();
  expect(report.journals).toBeGreaterThan(25n);
  const [head] = await database.query<{ hash: Buffer }>({
    text: "select hash from book_heads where merchant_id = $1::uuid and environment = $2",
    values: [uuidOf(busy.book.merchantId), busy.book.environment],
  });
  expect(report.head).toBe(head?.hash.toString("hex"));
});

/** What verification says after this change, which nobody else ever sees. Ids in the change become the database's. */
async function falsified(change: string): Promise<string | undefined> {
  return afterChange(change, async (owner) => (await verifyBook(owner, busy.book)).wrong);
}

async function afterChange<Seen>(change: string, look: (owner: Database) => Promise<Seen>): Promise<Seen> {
  // One connection: the transaction's, so that verification reads what it wrote.
  const owner = openDatabase({ ...service.database, url: service.database.ownerUrl }, 1);
  try {
    await owner.query({ text: "begin" });
    await owner.query({ text: "set local session_replication_role = replica" });
    await owner.query({ text: change.replaceAll(/\b[a-z]{3}_[0-9a-z]{26}\b/g, (id) => `'${uuidOf(id)}'`) });
    const seen = await look(owner);
    await owner.query({ text: "rollback" });
    return seen;
  } finally {
    await owner.end();
  }
}

/** Rules of the table's own rows, which no trigger holds. */
const withoutChecks = (table: string): string => `do $$ declare rule text; begin
  for rule in select conname from pg_constraint where conrelid = '${table}'::regclass and contype = 'c' loop
    execute 'alter table ${table} drop constraint ' || rule;
  end loop;
end $$`;
const strayRefund = newId("refund", systemClock.now());
const later = Math.floor(systemClock.now() / 1_000) * 1_000 + 3_600_000_000;
const lateEvent = newId("event", later);

const receiptRow = (set: string, payment: string): string => `update receipts set ${set} where payment_id = ${payment}`;
type Falsification = [name: string, change: () => string, named: () => string];
const paymentRow = (set: string, id: string): string => `update payments set ${set} where payment_id = ${id}`;
const refundRow = (set: string, id: string): string => `update refunds set ${set} where refund_id = ${id}`;
const disputeRow = (set: string, id: string): string => `update disputes set ${set} where dispute_id = ${id}`;
const batchRow = (set: string, id: string): string => `update settlements set ${set} where settlement_id = ${id}`;
const itemRow = (set: string, id: string): string => `update settlement_items set ${set} where settlement_id = ${id}`;
const copyOf = (table: string, columns: string, changed: string, where: string): string =>
  `insert into ${table} (${columns}) select ${changed} from ${table} where ${where}`;
const eventOf = (id: string): string => `subject_id = ${id} and type = 'payment.succeeded'`;
const refundColumns =
  "merchant_id, environment, refund_id, payment_id, status, amount_minor, currency, created_at, completed_at";
const eventColumns = "merchant_id, environment, event_id, type, subject_id, created_at, body";

const falsifications: Falsification[] = [
  // the journals themselves
  ["an entry's amount", () => `update entries set amount_minor = amount_minor + 1 where merchant_id = ${busy.book.merchantId} and seq = 3 and line = 1`, () => "journal 3 ("],
  ["a journal's kind", () => `update journals set kind = 'gift' where merchant_id = ${busy.book.merchantId} and seq = 2`, () => "journal 2 ("],
  ["a journal less", () => `delete from journals where merchant_id = ${busy.book.merchantId} and seq = 4`, () => "after journal 3 comes journal 5 ("],
  ["a balance", () => `update balances set credit_minor = credit_minor + 1 where merchant_id = ${busy.book.merchantId} and account = 'merchant:held'`, () => "the balance of merchant:held IDR is kept as"],
  ["the head's hash", () => `update book_heads set hash = sha256('x') where merchant_id = ${busy.book.merchantId}`, () => `the head of the book is journal `],
  ["a journal beyond the head", () => `insert into journals select merchant_id, environment, seq + 1000, gen_random_uuid(), group_id, kind, operation_key || 'x', posted_at, prev_hash, hash from journals where merchant_id = ${busy.book.merchantId} and seq = 4`, () => `the newest is journal 1004 with hash`],
  ["entries of a journal to come", () => copyOf("entries", "merchant_id, environment, seq, line, account, currency, amount_minor, balance_after_minor", "merchant_id, environment, seq + 1000, line, account, currency, amount_minor, balance_after_minor", `merchant_id = ${busy.book.merchantId} and seq = 4`), () => "there are entries of journal 1004, which is not there"],
  ["entries before the first journal", () => copyOf("entries", "merchant_id, environment, seq, line, account, currency, amount_minor, balance_after_minor", "merchant_id, environment, seq - 4, line, account, currency, amount_minor, balance_after_minor", `merchant_id = ${busy.book.merchantId} and seq = 4`), () => "there are entries of journal 0, which is not there"],
  ["a book less", () => `delete from books where merchant_id = ${busy.book.merchantId} and environment = 'sandbox'`, () => "the book has a head and is not there itself"],
  // payments
  ["what a dispute took", () => paymentRow("lost_minor = 0", busy.losing), () => `payment ${busy.losing} keeps 0 as lost; its disputes took 1000000`],
  ["a payment's amount", () => paymentRow("amount_minor = amount_minor + 1", busy.plain), () => `payment ${busy.plain} (succeeded) must have exactly one journal capture with`],
  ["a payment's fee", () => paymentRow("fee_minor = fee_minor - 1", busy.plain), () => `payment ${busy.plain} (succeeded) must have exactly one journal capture with`],
  ["a payment's currency", () => paymentRow("currency = 'USD'", busy.plain), () => `payment ${busy.plain} (succeeded) must have exactly one journal capture with`],
  ["a payment's acquirer", () => paymentRow("gateway_code = 'other'", busy.plain), () => `payment ${busy.plain} (succeeded) must have exactly one journal capture with acquirer:other:receivable IDR 1000000`],
  ["a payment no longer paid", () => paymentRow("status = 'pending', paid_at = null", busy.plain), () => `(capture) moves the money of payment ${busy.plain}, which is pending`],
  ["a payment paid by nobody", () => paymentRow("status = 'succeeded', paid_at = now()", busy.pending), () => `payment ${busy.pending} (succeeded) must have exactly one journal capture with`],
  ["a payment less", () => `delete from payments where payment_id = ${busy.plain}`, () => `(capture) moves the money of payment ${busy.plain}, which is not there`],
  ["a refunded total", () => paymentRow("refunded_minor = refunded_minor - 1", busy.partly), () => `payment ${busy.partly} keeps 99999 as refunded; its refunds sum to 100000`],
  ["a refunded total and state", () => paymentRow("status = 'refunded', refunded_minor = amount_minor", busy.partly), () => `payment ${busy.partly} keeps 1000000 as refunded; its refunds sum to 100000`],
  ["a refund forgotten", () => paymentRow("status = 'succeeded', refunded_minor = 0", busy.whole), () => `payment ${busy.whole} keeps 0 as refunded; its refunds sum to 1000000`],
  ["a total under way", () => paymentRow("refund_pending_minor = 0", busy.slowly), () => `payment ${busy.slowly} keeps 0 as being refunded; its refunds sum to 50000`],
  ["refunds summed wrongly", () => `update refund_totals set refunded_minor = 1 where payment_id = ${busy.partly}`, () => `payment ${busy.partly} has totals of 1 refunded and 0 being refunded; its refunds sum to 100000 and 0`],
  ["refunds summed by nobody", () => `delete from refund_totals where payment_id = ${busy.whole}`, () => `payment ${busy.whole} has totals of 0 refunded and 0 being refunded; its refunds sum to 1000000 and 0`],
  ["a state against the totals", () => `${withoutChecks("payments")}; ${paymentRow("status = 'succeeded'", busy.partly)}`, () => `payment ${busy.partly} is succeeded; its refunds make it partially_refunded`],
  ["a dispute hidden", () => paymentRow("dispute_status = null", busy.held), () => `payment ${busy.held} keeps its dispute as none; it is needs_response`],
  ["a dispute further than it is", () => paymentRow("dispute_status = 'under_review'", busy.held), () => `payment ${busy.held} keeps its dispute as under_review; it is needs_response`],
  ["an earlier dispute's outcome", () => paymentRow("dispute_status = 'won'", busy.contested), () => `payment ${busy.contested} keeps its dispute as won; it is withdrawn`],
  ["a dispute invented", () => paymentRow("dispute_status = 'lost'", busy.plain), () => `payment ${busy.plain} keeps its dispute as lost; it is none`],
  ["a partly refunded payment's amount", () => paymentRow("amount_minor = amount_minor + 1", busy.partly), () => `payment ${busy.partly} (partially_refunded) must have exactly one journal capture with`],
  ["a state that no refund made", () => `${withoutChecks("payments")}; ${paymentRow("status = 'partially_refunded'", busy.plain)}`, () => `payment ${busy.plain} is partially_refunded; its refunds make it succeeded`],
  ["a state beyond the totals", () => `${withoutChecks("payments")}; ${paymentRow("status = 'refunded'", busy.partly)}`, () => `payment ${busy.partly} is refunded; its refunds make it partially_refunded`],
  ["a state behind the totals", () => `${withoutChecks("payments")}; ${paymentRow("status = 'partially_refunded'", busy.whole)}`, () => `payment ${busy.whole} is partially_refunded; its refunds make it refunded`],
  ["a total under way, too high", () => paymentRow("refund_pending_minor = refund_pending_minor + 1", busy.slowly), () => `payment ${busy.slowly} keeps 50001 as being refunded; its refunds sum to 50000`],
  ["refunds summed too high", () => totalsRow("refunded_minor = refunded_minor + 1", busy.partly), () => `payment ${busy.partly} has totals of 100001 refunded and 0 being refunded`],
  ["refunds under way summed too low", () => totalsRow("pending_minor = pending_minor - 1", busy.slowly), () => `payment ${busy.slowly} has totals of 300000 refunded and 49999 being refunded`],
  ["refunds under way summed too high", () => totalsRow("pending_minor = pending_minor + 1", busy.slowly), () => `payment ${busy.slowly} has totals of 300000 refunded and 50001 being refunded`],
  ["totals without a refund", () => `insert into refund_totals select merchant_id, environment, ${busy.plain}, 0, 0 from refund_totals where payment_id = ${busy.partly}`, () => `payment ${busy.plain} has totals of 0 refunded and 0 being refunded; its refunds sum to 0 and 0`],
  ["a loss that no dispute made", () => `${withoutChecks("payments")}; ${paymentRow("lost_minor = 1", busy.plain)}`, () => `payment ${busy.plain} keeps 1 as lost; its disputes took 0`],
  // receipts
  ["a receipt's amount", () => receiptRow("amount_minor = amount_minor + 1", busy.unapplied), () => "(unapplied) must have exactly one journal receipt_unapplied with"],
  ["a receipt's acquirer", () => receiptRow("gateway_code = 'other'", busy.unapplied), () => "(unapplied) must have exactly one journal receipt_unapplied with acquirer:other:receivable IDR"],
  ["a decision undone", () => receiptRow("status = 'unapplied', decided_at = null", busy.givenBack), () => "(receipt_returned) moves the money of receipt "],
  ["a decision turned", () => receiptRow("status = 'returned'", busy.credited), () => "(receipt_credited) moves the money of receipt "],
  ["a receipt less", () => `delete from receipts where payment_id = ${busy.unapplied}`, () => "(receipt_unapplied) moves the money of receipt "],
  ["a receipt applied to a payment that is over", () => receiptRow("status = 'applied'", busy.unapplied), () => "(receipt_unapplied) moves the money of receipt "],
  ["an applied receipt's amount", () => receiptRow("amount_minor = amount_minor - 1", busy.applied), () => `payment ${busy.applied} is succeeded of 150000 IDR, and a receipt of another amount or acquirer is applied to it`],
  ["an applied receipt's currency", () => receiptRow("currency = 'USD'", busy.applied), () => `payment ${busy.applied} is succeeded of 150000 IDR, and a receipt of another amount or acquirer is applied to it`],
  ["an applied receipt's acquirer", () => receiptRow("gateway_code = 'other'", busy.applied), () => `payment ${busy.applied} is succeeded of 150000 IDR, and a receipt of another amount or acquirer is applied to it`],
  ["money given back by nobody", () => receiptRow("status = 'returned', decided_at = now()", busy.unapplied), () => "(returned) must have exactly one journal receipt_returned with"],
  ["money credited by nobody", () => receiptRow("status = 'credited', decided_at = now()", busy.unapplied), () => "(credited) must have exactly one journal receipt_credited with"],
  // refunds
  ["a refund's amount", () => refundRow("amount_minor = amount_minor + 1", busy.partial), () => `refund ${busy.partial} (succeeded) must have exactly one journal refund with`],
  ["a refund's currency", () => refundRow("currency = 'USD'", busy.partial), () => `refund ${busy.partial} (succeeded) must have exactly one journal refund with`],
  ["a refund's payment", () => refundRow(`payment_id = ${busy.plain}`, busy.partial), () => `(refund) moves the money of refund ${busy.partial}, which is not there`],
  ["a refund less", () => `delete from refunds where refund_id = ${busy.partial}`, () => `(refund) moves the money of refund ${busy.partial}, which is not there`],
  ["a refund that failed, given back to nobody", () => refundRow("status = 'failed'", busy.partial), () => `refund ${busy.partial} (failed) must have exactly one journal refund_returned with`],
  ["a refund that failed, called good", () => refundRow("status = 'succeeded'", busy.returned), () => `(refund_returned) moves the money of refund ${busy.returned}, which is succeeded`],
  ["a refund that is under way, called good", () => refundRow("status = 'succeeded', completed_at = now()", busy.waiting), () => `payment ${busy.slowly} keeps 300000 as refunded; its refunds sum to 350000`],
  ["a refund without money", () => copyOf("refunds", refundColumns, refundColumns.replace("refund_id", strayRefund), `refund_id = ${busy.partial}`), () => `refund ${strayRefund} (succeeded) must have exactly one journal refund with`],
  // disputes
  ["a dispute's amount", () => disputeRow("amount_minor = amount_minor - 1", busy.won), () => `dispute ${busy.won} (won) must have exactly one journal dispute_opened with`],
  ["a dispute's payment", () => disputeRow(`payment_id = ${busy.plain}`, busy.won), () => `(dispute_opened) moves the money of dispute ${busy.won}, which is not there`],
  ["a dispute less", () => `delete from disputes where dispute_id = ${busy.running}`, () => `(dispute_opened) moves the money of dispute ${busy.running}, which is not there`],
  ["a lost dispute, called won", () => disputeRow("status = 'won'", busy.lost), () => `(dispute_lost) moves the money of dispute ${busy.lost}, which is won`],
  ["a running dispute, called withdrawn", () => disputeRow("status = 'withdrawn', resolved_at = now()", busy.running), () => `dispute ${busy.running} (withdrawn) must have exactly one journal dispute_withdrawn with`],
  ["a dispute that is not under review", () => disputeRow("status = 'needs_response'", busy.reviewed), () => "keeps its dispute as under_review; it is needs_response"],
  ["a running dispute, called won", () => disputeRow("status = 'won', resolved_at = now()", busy.running), () => `dispute ${busy.running} (won) must have exactly one journal dispute_won with`],
  ["a running dispute, called lost", () => disputeRow("status = 'lost', resolved_at = now()", busy.running), () => `dispute ${busy.running} (lost) must have exactly one journal dispute_lost with`],
  ["a won dispute, called lost", () => disputeRow("status = 'lost'", busy.won), () => `(dispute_won) moves the money of dispute ${busy.won}, which is lost`],
  ["a withdrawn dispute, called won", () => `update disputes set status = 'won' where payment_id = ${busy.contested} and status = 'withdrawn'`, () => "(dispute_withdrawn) moves the money of dispute "],
  // settlements
  ["a batch's net", () => batchRow("gross_minor = gross_minor + 1, net_minor = net_minor + 1", busy.openBatch), () => `settlement ${busy.openBatch} (processing) must have exactly one journal settlement_formed with`],
  ["a batch's gross and refunds", () => batchRow("gross_minor = gross_minor + 1, refund_minor = refund_minor + 1", busy.openBatch), () => `settlement ${busy.openBatch} says`],
  ["a batch's count", () => batchRow("payment_count = payment_count + 1", busy.paidBatch), () => `settlement ${busy.paidBatch} says`],
  ["a paid batch, called unpaid", () => batchRow("status = 'processing', paid_at = null, bank_reference = null", busy.paidBatch), () => `(settlement_paid) moves the money of settlement ${busy.paidBatch}, which is processing`],
  ["a batch paid by nobody", () => batchRow("status = 'paid', paid_at = now(), bank_reference = 'x'", busy.openBatch), () => `settlement ${busy.openBatch} (paid) must have exactly one journal settlement_paid with`],
  ["a batch returned to nobody", () => batchRow("status = 'failed', returned_at = now()", busy.openBatch), () => `settlement ${busy.openBatch} (failed) must have exactly one journal settlement_returned with`],
  ["a batch less", () => `delete from settlements where settlement_id = ${busy.returnedBatch}`, () => `(settlement_formed) moves the money of settlement ${busy.returnedBatch}, which is not there`],
  ["a returned batch, called unpaid", () => batchRow("status = 'processing', returned_at = null", busy.returnedBatch), () => `(settlement_returned) moves the money of settlement ${busy.returnedBatch}, which is processing`],
  // what batches are made of
  ["an item less", () => `delete from settlement_items where item_id = ${busy.plain}`, () => `settlement ${busy.paidBatch} says`],
  ["an item's amount", () => `${itemRow("amount_minor = amount_minor + 1", busy.paidBatch)} and kind = 'refund'`, () => `settlement ${busy.paidBatch} says`],
  ["amounts moved between items", () => `${itemRow("amount_minor = amount_minor + 1", busy.paidBatch)} and item_id = ${busy.plain}; ${itemRow("amount_minor = amount_minor - 1", busy.paidBatch)} and item_id = ${busy.partly}`, () => `settlement ${busy.paidBatch} has payment ${busy.plain} in it as 1000001 IDR`],
  ["an item's time", () => `${itemRow("occurred_at = occurred_at + interval '1 second'", busy.paidBatch)} and item_id = ${busy.plain}`, () => `settlement ${busy.paidBatch} has payment ${busy.plain} in it as 1000000 IDR`],
  ["an item for another", () => `${itemRow(`item_id = ${busy.pending}`, busy.paidBatch)} and item_id = ${busy.plain}`, () => `settlement ${busy.paidBatch} has payment ${busy.pending} in it, which is not there or owes nothing`],
  ["an item released too early", () => `${itemRow("released = true", busy.paidBatch)} and item_id = ${busy.plain}`, () => `settlement ${busy.paidBatch} is paid, and payment ${busy.plain} in it is released`],
  ["items of a returned batch, kept", () => `drop index settlement_items_once; ${itemRow("released = false", busy.returnedBatch)}`, () => `settlement ${busy.returnedBatch} is failed, and payment`],
  ["items of no batch", () => copyOf("settlement_items", "merchant_id, environment, settlement_id, kind, item_id, payment_id, amount_minor, fee_minor, occurred_at, released", `merchant_id, environment, ${busy.plain}, kind, item_id, payment_id, amount_minor, fee_minor, occurred_at, true`, `item_id = ${busy.plain}`), () => `is not there, and payment ${busy.plain} is in it`],
  ["a contested payment paid out", () => `update settlement_items i set item_id = p.payment_id, payment_id = p.payment_id, occurred_at = p.paid_at from payments p where p.payment_id = ${busy.held} and i.settlement_id = ${busy.creditedBatch} and i.item_id = (select min(item_id::text)::uuid from settlement_items where settlement_id = ${busy.creditedBatch} and kind = 'payment' and amount_minor = 1000000)`, () => `settlement ${busy.creditedBatch} has payment ${busy.held} in it, whose payment was in a dispute`],
  ["a payment to be settled twice", () => paymentRow("settlement_id = null", busy.plain), () => `payment ${busy.plain} is marked as settled by none; it counts in settlement ${busy.paidBatch}`],
  ["a payment settled by another batch", () => paymentRow(`settlement_id = ${busy.openBatch}`, busy.plain), () => `payment ${busy.plain} is marked as settled by settlement ${busy.openBatch}; it counts in settlement ${busy.paidBatch}`],
  ["a payment in two batches", () => `drop index settlement_items_once; update settlement_items i set item_id = p.payment_id, payment_id = p.payment_id, occurred_at = p.paid_at from payments p where p.payment_id = ${busy.plain} and i.settlement_id = ${busy.openBatch} and i.item_id = ${busy.contested}`, () => `payment ${busy.plain} is marked as settled by settlement ${busy.paidBatch}; it counts in settlement ${busy.paidBatch} and settlement ${busy.openBatch}`],
  ["a payment never settled", () => paymentRow(`settlement_id = ${busy.openBatch}`, busy.unsettled), () => `payment ${busy.unsettled} is marked as settled by settlement ${busy.openBatch}; it counts in none`],
  ["a refund to be settled twice", () => refundRow("settlement_id = null", busy.partial), () => `refund ${busy.partial} is marked as settled by none`],
  ["a credited receipt to be settled twice", () => receiptRow("settlement_id = null", busy.credited), () => "is marked as settled by none; it counts in settlement"],
  ["a credited receipt's item", () => `${itemRow("occurred_at = occurred_at + interval '1 second'", busy.creditedBatch)} and kind = 'receipt'`, () => `settlement ${busy.creditedBatch} has receipt `],
  ["a lost dispute to be settled twice", () => disputeRow("settlement_id = null", busy.lost), () => `dispute ${busy.lost} is marked as settled by none`],
  // events
  ["an event less", () => `delete from events where ${eventOf(busy.plain)}`, () => `payment ${busy.plain} is succeeded and has 0 events payment.succeeded`],
  ["an event of another type", () => `update events set type = 'payment.failed' where ${eventOf(busy.partly)}`, () => `payment ${busy.partly} is partially_refunded and has 0 events payment.succeeded`],
  ["an event twice", () => copyOf("events", eventColumns, eventColumns.replace("event_id", "overlay(event_id::text placing '000000000000' from 25)::uuid"), eventOf(busy.plain)), () => `payment ${busy.plain} is succeeded and has 2 events payment.succeeded`],
  ["an event twice, once later", () => copyOf("events", eventColumns, eventColumns.replace("event_id", lateEvent), eventOf(busy.plain)), () => `event ${lateEvent} is payment.succeeded of payment ${busy.plain}, which did not happen then`],
  ["an event twice, once at a later time", () => copyOf("events", eventColumns, eventColumns.replace("event_id", lateEvent).replace("created_at", `'${sqlTime(later)}'`), eventOf(busy.plain)), () => `event ${lateEvent} is payment.succeeded of payment ${busy.plain}, which did not happen then`],
  ["an event's amount", () => `update events set body = replace(body, '"amount_minor":1000000', '"amount_minor":1000001') where ${eventOf(busy.plain)}`, () => `is payment.succeeded of payment ${busy.plain} and does not say "amount_minor":1000000,`],
  ["an event's fee", () => `update events set body = replace(body, '"fee_minor":', '"fee_minor":1') where ${eventOf(busy.plain)}`, () => `is payment.succeeded of payment ${busy.plain} and does not say "amount_minor":1000000, "fee_minor":`],
  ["an event's currency", () => `update events set body = replace(body, '"IDR"', '"USD"') where subject_id = ${busy.paidBatch} and type = 'settlement.paid'`, () => `is settlement.paid of settlement ${busy.paidBatch} and does not say "gross_minor":`],
  ["an event of a success that never was", () => `update events set type = 'payment.succeeded' where subject_id = ${busy.canceled} and type = 'payment.canceled'`, () => `is payment.succeeded of payment ${busy.canceled}, which did not happen then`],
  ["a refund that nobody was told of", () => `delete from events where subject_id = ${busy.partial}`, () => `refund ${busy.partial} is succeeded and has 0 events refund.succeeded`],
  ["a refund told as failed", () => `update events set type = 'refund.failed' where subject_id = ${busy.partial}`, () => `refund ${busy.partial} is succeeded and has 0 events refund.succeeded`],
  ["a failed refund that nobody was told of", () => `delete from events where subject_id = ${busy.returned}`, () => `refund ${busy.returned} is failed and has 0 events refund.failed`],
  ["a refund under way, told as made", () => copyOf("events", eventColumns, eventColumns.replace("event_id", lateEvent).replace("subject_id", busy.waiting), `subject_id = ${busy.partial}`), () => `event ${lateEvent} is refund.succeeded of refund ${busy.waiting}, which did not happen then`],
  ["a refund told of another amount", () => `update events set body = replace(body, '"amount_minor":100000', '"amount_minor":1000001') where subject_id = ${busy.partial}`, () => `is refund.succeeded of refund ${busy.partial} and does not say "amount_minor":100000,`],
  ["a dispute that nobody was told of", () => `delete from events where subject_id = ${busy.running}`, () => `dispute ${busy.running} is needs_response and has 0 events dispute.opened`],
  ["an end of a dispute that nobody was told of", () => `delete from events where subject_id = ${busy.lost} and type = 'dispute.resolved'`, () => `dispute ${busy.lost} is lost and has 0 events dispute.resolved`],
  ["a payout that nobody was told of", () => `delete from events where subject_id = ${busy.paidBatch} and type = 'settlement.paid'`, () => `settlement ${busy.paidBatch} is paid and has 0 events settlement.paid`],
  ["a batch that nobody was told of", () => `delete from events where subject_id = ${busy.returnedBatch}`, () => `settlement ${busy.returnedBatch} is failed and has 0 events settlement.created`],
  ["a payout told of another net", () => `update events set body = replace(body, '"net_minor":', '"net_minor":1') where subject_id = ${busy.paidBatch} and type = 'settlement.paid'`, () => `is settlement.paid of settlement ${busy.paidBatch} and does not say`],
]; // prettier-ignore

test.for(falsifications)("found and named: %s", async ([, change, named]) => {
  expect(await falsified(change())).toContain(named());
});

type Check = (book: Book, ids: readonly string[]) => Statement;

/** What one check says of all rows of its table after a change that other checks may name as well. */
function unmasked(change: string, table: PagedTable, check: Check): Promise<string | undefined> {
  return afterChange(change, async (owner) => {
    const keys = await owner.query<{ id: string }>(selectKeys(table, busy.book, "", 1_000));
    const ids = keys.map(({ id }) => id);
    const [row] = await owner.query<{ wrong: string | null }>(check(busy.book, ids));
    return row?.wrong ?? undefined;
  });
}

const ours = (): string => `merchant_id = ${busy.book.merchantId} and environment = 'sandbox'`;
const journalRow = (set: string, kind: string, group: string): string =>
  `update journals set ${set} where kind = '${kind}' and group_id = ${group}`;
const entriesOf = (kind: string, group: string): string =>
  `${ours()} and seq = (select seq from journals where kind = '${kind}' and group_id = ${group})`;
const itemOf = (set: string, kind: string): string =>
  `update settlement_items set ${set} where ${ours()} and kind = '${kind}'`;
const free = (table: string, change: string): string => `${withoutChecks(table)}; ${change}`;
const journalColumns =
  "merchant_id, environment, seq, journal_id, group_id, kind, operation_key, posted_at, prev_hash, hash";
const entryColumns = "merchant_id, environment, seq, line, account, currency, amount_minor, balance_after_minor";
const receiptId = (payment: string): string => `(select receipt_id from receipts where payment_id = ${payment})`;
const totalsRow = (set: string, payment: string): string =>
  `update refund_totals set ${set} where payment_id = ${payment}`;

type Unmasked = [name: string, change: () => string, table: PagedTable, check: Check, named: () => string];
const unmaskedChanges: Unmasked[] = [
  // journals, as if the chain had been made anew
  ["a journal of another group", () => journalRow(`group_id = ${busy.partly}`, "capture", busy.plain), "payments", journalsMissing("payment"), () => `payment ${busy.plain} (succeeded) must have exactly one journal capture with`],
  ["a journal of another kind", () => journalRow("kind = 'capture_gift'", "capture", busy.plain), "payments", journalsMissing("payment"), () => `payment ${busy.plain} (succeeded) must have exactly one journal capture with`],
  ["a journal under another operation key", () => journalRow("operation_key = 'capture:x'", "capture", busy.plain), "payments", journalsMissing("payment"), () => `payment ${busy.plain} (succeeded) must have exactly one journal capture with`],
  ["a journal without entries", () => `delete from entries where ${entriesOf("capture", busy.plain)}`, "payments", journalsMissing("payment"), () => `payment ${busy.plain} (succeeded) must have exactly one journal capture with`],
  ["a journal twice", () => `drop index journals_operation_key; ${copyOf("entries", entryColumns, entryColumns.replace("seq", "seq + 1000"), entriesOf("capture", busy.plain))}; ${copyOf("journals", journalColumns, journalColumns.replace("seq", "seq + 1000").replace("journal_id", "gen_random_uuid()"), `kind = 'capture' and group_id = ${busy.plain}`)}`, "payments", journalsMissing("payment"), () => `payment ${busy.plain} (succeeded) must have exactly one journal capture with`],
  ["late money that was never taken in, and credited", () => journalRow("kind = 'gift'", "receipt_unapplied", busy.credited), "receipts", journalsMissing("receipt"), () => "(credited) must have exactly one journal receipt_unapplied with"],
  // payments
  ...["USD", "AAA"].map((currency): Unmasked => [`a refund in ${currency}`, () => refundRow(`currency = '${currency}'`, busy.partial), "payments", paymentsWrong, () => `payment ${busy.partly} is in IDR and has a refund in another currency`]),
  ["a refund of a payment that waits", () => free("payments", paymentRow("status = 'pending'", busy.partly)), "payments", paymentsWrong, () => `payment ${busy.partly} is pending and has refunds`],
  ["a payment paid twice", () => `drop index receipts_applied; ${receiptRow(`status = 'applied', payment_id = ${busy.applied}`, busy.unapplied)}`, "payments", paymentsWrong, () => `payment ${busy.applied} was paid by 2 receipts`],
  ["more given back than came in, beside money that nobody applied", () => journalRow(`group_id = ${busy.unapplied}`, "refund", busy.partly), "payments", paymentsWrong, () => `payment ${busy.unapplied} has 100000 more refunded, held and lost than came in`],
  // batches
  ...["gross_minor", "fee_minor", "refund_minor", "net_minor", "payment_count"].flatMap((column) =>
    ["+", "-"].map((sign): Unmasked => [`a batch's ${column} ${sign} 1`, () => free("settlements", batchRow(`${column} = ${column} ${sign} 1`, busy.paidBatch)), "settlements", batchesWrong, () => `settlement ${busy.paidBatch} says`])),
  // items
  ...[["payment", "refund"], ["receipt", "payment"], ["refund", "payment"], ["dispute", "payment"]].map(([kind = "", other = ""]): Unmasked => [`a ${kind} counted as a ${other}`, () => free("settlement_items", itemOf(`kind = '${other}'`, kind)), "settlement_items", itemsWrong, () => "in it, which is not there or owes nothing"]),
  ["a receipt that was not credited, paid out", () => itemOf(`item_id = ${receiptId(busy.unapplied)}`, "receipt"), "settlement_items", itemsWrong, () => "in it, which is not there or owes nothing"],
  ["a refund that failed, deducted", () => `${itemOf(`item_id = ${busy.returned}`, "refund")} and item_id = ${busy.partial}`, "settlement_items", itemsWrong, () => `refund ${busy.returned} in it, which is not there or owes nothing`],
  ["a dispute that was won, deducted", () => itemOf(`item_id = ${busy.won}`, "dispute"), "settlement_items", itemsWrong, () => `dispute ${busy.won} in it, which is not there or owes nothing`],
  ["a refund without a time", () => free("refunds", refundRow("completed_at = null", busy.partial)), "settlement_items", itemsWrong, () => `has refund ${busy.partial} in it as`],
  ["an item's fee", () => `${itemRow("fee_minor = fee_minor + 1", busy.paidBatch)} and item_id = ${busy.plain}`, "settlement_items", itemsWrong, () => `has payment ${busy.plain} in it as`],
  ["an item's payment", () => `${itemRow(`payment_id = ${busy.plain}`, busy.paidBatch)} and item_id = ${busy.partial}`, "settlement_items", itemsWrong, () => `has refund ${busy.partial} in it as`],
  ["a batch's currency", () => batchRow("currency = 'USD'", busy.paidBatch), "settlement_items", itemsWrong, () => `settlement ${busy.paidBatch} has`],
  ["a contested refund paid out", () => free("settlement_items", itemOf(`payment_id = ${busy.held}, kind = 'refund'`, "receipt")), "settlement_items", itemsContested, () => `settlement ${busy.creditedBatch} has refund`],
  ["a payment that only counts as a refund", () => free("settlement_items", `${itemRow("kind = 'refund'", busy.paidBatch)} and item_id = ${busy.plain}`), "payments", marksWrong("payment"), () => `payment ${busy.plain} is marked as settled by settlement ${busy.paidBatch}; it counts in none`],
  // events
  ["an event of another payment", () => `update events set subject_id = ${busy.pending} where ${eventOf(busy.plain)}`, "payments", eventsMissing("payments"), () => `payment ${busy.plain} is succeeded and has 0 events`],
  ["an event of another payment, to its reader", () => `update events set subject_id = ${busy.partly} where ${eventOf(busy.plain)}`, "events", eventsUnfounded, () => `is payment.succeeded of payment ${busy.partly}, which did not happen then`],
  ["a refund that succeeded, told as failed", () => `update events set type = 'refund.failed' where subject_id = ${busy.partial}`, "events", eventsUnfounded, () => `is refund.failed of refund ${busy.partial}, which did not happen then`],
  ["a refund that failed, told as made", () => `update events set type = 'refund.succeeded' where subject_id = ${busy.returned}`, "events", eventsUnfounded, () => `is refund.succeeded of refund ${busy.returned}, which did not happen then`],
  ["a batch that is not paid, told as paid", () => free("settlements", batchRow("status = 'processing'", busy.paidBatch)), "events", eventsUnfounded, () => `is settlement.paid of settlement ${busy.paidBatch}, which did not happen then`],
  ...Object.entries({
    "payment.succeeded": ["amount_minor", "fee_minor"],
    "refund.succeeded": ["amount_minor"],
    "refund.failed": ["amount_minor"],
    "settlement.created": ["gross_minor", "fee_minor", "refund_minor", "net_minor"],
    "settlement.paid": ["gross_minor", "fee_minor", "refund_minor", "net_minor"],
    "dispute.opened": ["amount_minor"],
    "dispute.resolved": ["amount_minor"],
  }).flatMap(([type, columns]) =>
    [...columns.map((column) => `"${column}":`), '"currency":"'].map((fact): Unmasked => [`an event ${type} that says another ${fact}`, () => `update events set body = replace(body, '${fact}', '${fact}1') where ${ours()} and type = '${type}'`, "events", eventsUnfounded, () => `is ${type} of ${type.split(".")[0]} `])),
  // balances and the head
  ...["merchant:held", "merchant:settling", "platform:unapplied"].flatMap((account) =>
    ["debit_minor", "credit_minor"].map((side): Unmasked => [`${side} of ${account}`, () => `update balances set ${side} = ${side} + 1 where ${ours()} and account = '${account}'`, "payments", selectProtectedMismatch, () => `${account} IDR holds`])),
  ...["+", "-"].map((sign): Unmasked => [`the head's number ${sign} 1`, () => `update book_heads set seq = seq ${sign} 1 where ${ours()}`, "payments", selectHeadMismatch, () => "the head of the book is journal"]),
]; // prettier-ignore

test.for(unmaskedChanges)("named by its own check: %s", async ([, change, table, check, named]) => {
  const message = named().replaceAll(/\b[a-z]{3}_[0-9a-z]{26}\b/g, (id) => uuidOf(id));
  expect(await unmasked(change(), table, check)).toContain(message);
  expect(await unmasked("select", table, check)).toBeUndefined();
});

test("late money that was credited is no contested item, whatever becomes of the payment", async () => {
  const change = itemOf(`payment_id = ${busy.held}`, "receipt");
  expect(await unmasked(change, "settlement_items", itemsContested)).toBeUndefined();
});

test("a journal of one row's group under another row's operation key is nobody's", async () => {
  const [unapplied, credited] = await Promise.all([receiptOf(busy.unapplied), receiptOf(busy.credited)]);
  const claims: Omit<Claim, "seq">[] = [
    { kind: "capture", owner: "payment", groupId: busy.plain, ownerId: busy.pending },
    { kind: "refund_returned", owner: "refund", groupId: busy.slowly, ownerId: busy.partial },
    { kind: "dispute_won", owner: "dispute", groupId: busy.contested, ownerId: busy.lost },
    { kind: "settlement_paid", owner: "settlement", groupId: busy.paidBatch, ownerId: busy.openBatch },
    { kind: "receipt_credited", owner: "receipt", groupId: busy.credited, ownerId: unapplied?.uuid ?? "" },
    { kind: "receipt_unapplied", owner: "receipt", groupId: busy.unapplied, ownerId: credited?.uuid ?? "" },
  ];
  for (const claim of claims) {
    const [row] = await database.query(journalsUnfounded(busy.book, [{ seq: 1n, ...claim }]));
    const id = uuidOf(claim.ownerId);
    expect(row?.wrong).toBe(`journal 1 (${claim.kind}) moves the money of ${claim.owner} ${id}, which is not there`);
  }
});

test.each(["balances", "journals", "balances, book_heads"])(
  "a book is verified although it is gone from the list, and from %s",
  async (tables) => {
    const change = ["books", ...tables.split(", ")].map(
      (table) => `delete from ${table} where merchant_id = ${busy.book.merchantId}`,
    );
    const list = (owner: Database) => owner.query(selectBooks(busy.book.merchantId, "sandbox"));
    expect(await afterChange(change.join("; "), list)).toHaveLength(1);
    expect(await falsified(change.join("; "))).toBeDefined();
  },
);

test("after all that, the book is as clean as before", async () => {
  expect((await verifyBook(database, busy.book)).wrong).toBeUndefined();
});

test("a hashed and balanced journal that no row asked for is found", async () => {
  const found = async (
    draft: (reference: string) => Omit<JournalDraft, "groupId">,
    group?: string,
  ): Promise<[wrong: string | undefined, reference: string]> => {
    const { client, merchantId } = await service.merchant();
    const book: Book = { merchantId, environment: "sandbox" };
    const reference = await paid(client);
    await postJournal(database, book, { groupId: group ?? reference, ...draft(reference) });
    return [(await verifyBook(database, book)).wrong, reference];
  };
  const sum = { currency: "IDR", amountMinor: 5_000n };
  const [refunded] = await found(() => ({
    kind: "refund",
    operationKey: `refund:${strayRefund}`,
    postings: refundPostings("nusantara", sum),
  }));
  expect(refunded).toBe(`journal 2 (refund) moves the money of refund ${strayRefund}, which is not there`);
  const [nameless] = await found(() => ({
    kind: "dispute_opened",
    operationKey: "dispute_opened:mine",
    postings: holdPostings(sum),
  }));
  expect(nameless).toMatch(/^journal 2 .* operation key dispute_opened:mine names no dispute$/);
  const other = newId("payment", systemClock.now());
  const captured = { kind: "capture", operationKey: `capture:${other}` };
  const [twice] = await found(() => ({
    ...captured,
    postings: capturePostings({ ...sum, gatewayCode: "nusantara", feeMinor: 0n }),
  }));
  expect(twice).toBe(`journal 2 (capture) moves the money of payment ${other}, which is not there`);
  for (const [account, owners] of [
    [accounts.held, "running disputes"],
    [accounts.settling, "batches under way"],
  ] as const) {
    const [hoarded] = await found(() => ({
      kind: "adjustment",
      operationKey: "adjustment:1",
      postings: [
        { account: accounts.available, ...sum },
        { account, currency: "IDR", amountMinor: -sum.amountMinor },
      ],
    }));
    expect(hoarded).toBe(`${account} IDR holds 5000; ${owners} add up to 0`);
  }
  const [beyond, reference] = await found(() => ({
    kind: "adjustment",
    operationKey: "adjustment:1",
    postings: [
      { account: accounts.bank, currency: "IDR", amountMinor: 1_000_001n },
      { account: accounts.receivable("nusantara"), currency: "IDR", amountMinor: -1_000_001n },
    ],
  }));
  expect(beyond).toBe(`payment ${reference} has 1 more refunded, held and lost than came in`);
});

test.each([
  ["of a kind that nobody posts", "gift", /^journal 2 \(jrn_\w+\) is of the kind gift, which no row asks for$/],
  [
    "of a kind like one of ours",
    "capture_gift",
    /^journal 2 \(capture_gift\) moves the money of payment .*, which is succeeded$/,
  ],
])("money out of nothing is found in a journal %s", async (_what, kind, wrong) => {
  const { client, merchantId } = await service.merchant();
  const book: Book = { merchantId, environment: "sandbox" };
  const reference = await paid(client);
  const sum = { currency: "IDR", amountMinor: 5_000_000n };
  const postings = [
    { account: accounts.bank, ...sum },
    { account: accounts.available, currency: "IDR", amountMinor: -sum.amountMinor },
  ];
  await postJournal(database, book, { kind, operationKey: `${kind}:${reference}`, groupId: reference, postings });
  expect((await verifyBook(database, book)).wrong).toMatch(wrong);
});

test("verification beside traffic gives no false alarm", async () => {
  const { client, merchantId } = await service.merchant();
  const book: Book = { merchantId, environment: "sandbox" };
  const load = { runs: true };
  let runs = 0;
  const verify = async (): Promise<void> => {
    while (load.runs) {
      expect((await verifyBook(database, book)).wrong).toBeUndefined();
      runs++;
    }
  };
  const slow = { metadata: { "sandbox.scenario": "slow" } };
  const payer = async (number: number): Promise<void> => {
    for (let round = 0; round < 6; round++) {
      const reference = await paid(client, round % 2 === 0 ? {} : slow);
      const asked = await send(client, "/v1/refunds", { payment_reference: reference, amount_minor: 1_000 });
      // A batch or a dispute may have been faster than this refund, and taken what was available.
      const refused = ["DISPUTE_LOCKED", "INSUFFICIENT_FUNDS"].includes(asked.json.error?.code as string);
      const { uuid } = refused ? asked.json : await done(Promise.resolve(asked));
      if (!refused && round % 2 === 1) {
        const outcome = number % 2 === 0 ? "failed" : "succeeded";
        await done(send(client, `/v1/sandbox/refunds/${uuid}/simulate`, { outcome }));
      }
      await dispute(client, reference, ["won", "lost", "withdrawn", undefined][(number + round) % 4]);
    }
  };
  const bank = async (): Promise<void> => {
    for (let round = 0; round < 12; round++) {
      const { data } = await done(send(client, "/v1/sandbox/settlements/run", {}));
      for (const { uuid } of data as { uuid: string }[]) {
        if (round % 2 === 0) await done(send(client, `/v1/sandbox/settlements/${uuid}/pay`, {}));
        else await service.app.returnSettlement(book, uuid);
      }
    }
  };
  const traffic = Promise.allSettled([bank(), ...Array.from({ length: 16 }, (_, number) => payer(number))]);
  const watching = Promise.allSettled([verify(), verify()]);
  const calls = await traffic;
  load.runs = false;
  const outcomes = [...calls, ...(await watching)];
  expect(outcomes.flatMap((outcome) => (outcome.status === "rejected" ? [outcome.reason as unknown] : []))).toEqual([]);
  expect(runs).toBeGreaterThan(2);
  const report = await verifyBook(database, book);
  expect(report.wrong).toBeUndefined();
  expect(report.journals).toBeGreaterThan(300n);
});

test("a replay tells how far it is, page by page and check by check, and ends where it is told to", async () => {
  const told: ReplayProgress[] = [];
  const { journals } = await verifyBook(database, busy.book, { progress: (now) => told.push(now) });
  const [first, last] = [told[0], told.at(-1)];
  expect(first).toEqual({ journals: 0n, journalsInAll: journals, checks: 0, checksInAll: last?.checksInAll, rows: 0n });
  expect(last).toMatchObject({ journals, checks: last?.checksInAll });
  expect(last?.rows).toBeGreaterThan(journals);
  for (const [at, now] of told.entries()) {
    const before = told[at - 1] ?? now;
    expect([now.journals >= before.journals, now.checks >= before.checks, now.rows >= before.rows]).toEqual([
      true,
      true,
      true,
    ]);
    // Rows come after journals.
    if (now.rows > 0n) expect(now.journals).toBe(journals);
  }
  // At any page: nothing is read after it.
  for (const page of told.keys()) {
    const ending = new AbortController();
    let heard = 0;
    const progress = (): void => {
      if (heard++ === page) ending.abort(new Error(`enough at ${page}`));
    };
    await expect(verifyBook(database, busy.book, { progress, signal: ending.signal })).rejects.toThrow(
      `enough at ${page}`,
    );
    expect(heard).toBe(page + 1);
  }
});
