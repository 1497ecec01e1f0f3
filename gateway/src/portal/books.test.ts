// Goal: every figure leads down to the entries that make it, a settlement down to its payments, and the book is downloaded whole; nobody reads
// another's. Method: a real service with payments that were settled; the sums are held against each other.
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { Client } from "../../../e2e/kit/client.ts";
import { postJournal } from "../../test/journals.ts";
import { type TestService, asOwner, openDatabase, paymentBody, startService } from "../../test/kit.ts";
import { type Browser, joins } from "../../test/portal.ts";
import { systemClock } from "../ground/clock.ts";
import { newId, uuidOf } from "../ground/ids.ts";
import { capturePostings, unappliedPostings } from "../ledger/journal.ts";
import type { Book } from "../merchants/books.ts";

let service: TestService;
let client: Client;
let merchantId: string;
let owner: Browser;

beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

beforeEach(async () => {
  ({ client, merchantId } = await service.merchant());
  owner = await joins(service, merchantId);
});

async function paid(): Promise<string> {
  const { reference } = (await client.post("/v1/payments", paymentBody())).json;
  await client.post(`/v1/sandbox/payments/${reference}/simulate`, { outcome: "succeeded" });
  return reference as string;
}

interface Amount {
  amount_minor: number;
}
const sumOf = (amounts: Amount[]): number => amounts.reduce((sum, { amount_minor: amount }) => sum + amount, 0);

test("a figure of the balances is the sum of its entries, and each entry leads to a journal that sums to zero", async () => {
  const references = [await paid(), await paid()];
  await client.post("/v1/refunds", { payment_reference: references[0], amount_minor: 10_000 });
  const [balance] = (await owner.get("/portal/v1/balances")).json.data;
  const entries = (await owner.get("/portal/v1/accounts/IDR/entries?figure=available")).json.data;
  expect(sumOf(entries)).toBe(balance.available_minor);
  for (const { journal } of entries) {
    const { entries: lines } = (await owner.get(`/portal/v1/journals/${journal}`)).json;
    expect(sumOf(lines)).toBe(0);
  }
  const accounts = (await owner.get("/portal/v1/accounts")).json;
  expect(accounts.journals).toBe(3);
  const [{ accounts: totals }] = accounts.currencies;
  expect(totals.reduce((sum: number, { balance_minor: minor }: { balance_minor: number }) => sum + minor, 0)).toBe(0);
  const ofAccount = await owner.get("/portal/v1/accounts/IDR/entries?account=platform:fees");
  expect(ofAccount.json.data).toHaveLength(2);
});

test("journals are listed newest first, by page and by what they belong to", async () => {
  const [first, second] = [await paid(), await paid()];
  const { data, has_more: more, next_cursor: next } = (await owner.get("/portal/v1/journals?limit=1")).json;
  expect(data).toMatchObject([{ seq: 2, kind: "capture", group: second, operation_key: `capture:${second}` }]);
  expect(more).toBe(true);
  const rest = (await owner.get(`/portal/v1/journals?starting_after=${next}`)).json;
  expect(rest).toMatchObject({ data: [{ seq: 1, group: first, hash: data[0].prev_hash }], has_more: false });
  expect((await owner.get(`/portal/v1/journals?group=${first}`)).json.data).toHaveLength(1);
});

test("a settlement is what its items add up to, page by page", async () => {
  const references = [await paid(), await paid(), await paid()];
  await client.post("/v1/refunds", { payment_reference: references[0], amount_minor: 10_000 });
  await client.post("/v1/sandbox/settlements/run", {});
  const [batch] = (await client.get("/v1/settlements")).json.data;
  const items: Record<string, never>[] = [];
  for (let after = ""; ;) {
    const path = `/portal/v1/settlements/${batch.uuid}/items?limit=2${after && `&starting_after=${after}`}`;
    const { json } = await owner.get(path);
    items.push(...json.data);
    if (!json.has_more) break;
    after = json.next_cursor;
  }
  const ofKind = (kind: string): Amount[] => items.filter((item) => item.kind === kind) as never;
  expect(items).toHaveLength(4);
  expect(sumOf(ofKind("payment"))).toBe(batch.gross_minor);
  expect(sumOf(ofKind("refund"))).toBe(batch.refund_minor);
  const { sums } = (await owner.get(`/portal/v1/settlements/${batch.uuid}/items`)).json;
  expect(sums).toEqual([
    { kind: "payment", items: 3, amount_minor: batch.gross_minor, fee_minor: batch.fee_minor },
    { kind: "refund", items: 1, amount_minor: batch.refund_minor, fee_minor: 0 },
  ]);
  const elsewhere = await paid();
  const after = await owner.get(`/portal/v1/settlements/${batch.uuid}/items?starting_after=${elsewhere}`);
  expect([after.status, after.json.error.details.field]).toEqual([422, "starting_after"]);
});

test.each([
  ["hledger", /; end of .*: 2 journals\n$/],
  ["beancount", /; end of .*: 2 journals\n$/],
  ["jsonl", /"seq":"2".*\n$/],
])("the book is downloaded as %s, whole", async (format, end) => {
  await paid();
  await paid();
  const answer = await owner.get(`/portal/v1/books/export?format=${format}`);
  expect(answer.status).toBe(200);
  expect(answer.headers.get("content-disposition")).toMatch(/^attachment; filename="book-sandbox\.\w+"$/);
  expect(answer.text).toMatch(end);
});

test("whoever leaves in the middle of an export leaves room for others", async () => {
  await paid();
  for (let times = 0; times < 5; times++) {
    const leaving = new AbortController();
    const response = await fetch(`${service.origin}/portal/v1/books/export?format=jsonl`, {
      headers: { "x-merchant-id": merchantId, "x-environment": "sandbox", cookie: owner.cookie ?? "" },
      signal: leaving.signal,
    });
    expect(response.status).toBe(200);
    leaving.abort();
  }
  await expect
    .poll(async () => (await owner.get("/portal/v1/books/export?format=hledger")).status, { timeout: 30_000 })
    .toBe(200);
});

test("another merchant's books, and those of the other environment, are not found", async () => {
  const reference = await paid();
  await client.post("/v1/sandbox/settlements/run", {});
  const [{ uuid }] = (await client.get("/v1/settlements")).json.data;
  const [{ id }] = (await owner.get("/portal/v1/journals")).json.data;
  const { merchantId: other } = await service.merchant();
  const stranger = await joins(service, other);
  const codeOf = async (reader: Browser, path: string): Promise<unknown> => {
    const { json, status } = await reader.get(`/portal/v1/${path}`);
    return status === 200 ? json.data : json.error.code;
  };
  expect(await codeOf(stranger, `journals/${id}`)).toBe("OBJECT_NOT_FOUND");
  expect(await codeOf(stranger, `journals?group=${reference}`)).toEqual([]);
  expect(await codeOf(stranger, `journals?starting_after=${id}`)).toBe("VALIDATION_ERROR");
  expect(await codeOf(stranger, `settlements/${uuid}/items`)).toBe("OBJECT_NOT_FOUND");
  expect(await codeOf(stranger, "accounts/IDR/entries")).toEqual([]);
  expect((await stranger.get("/portal/v1/books/export?format=jsonl")).text).toBe("");
  owner.environment = "production";
  expect(await codeOf(owner, `journals/${id}`)).toBe("OBJECT_NOT_FOUND");
  expect(await codeOf(owner, `settlements/${uuid}/items`)).toBe("ENVIRONMENT_MISMATCH");
  owner.environment = "sandbox";
  for (const wrong of ["jrn_1", "42", "%00", "set_01kan3t5q8e4vs0x7ybd2m9fjh"])
    expect(await codeOf(owner, `journals/${wrong}`)).toBe("OBJECT_NOT_FOUND");
});

test("who may not read balances reads no books", async () => {
  const support = await joins(service, merchantId, "support");
  for (const path of ["journals", "accounts", "accounts/IDR/entries", "books/export?format=jsonl"])
    expect((await support.get(`/portal/v1/${path}`)).json.error.code).toBe("FORBIDDEN");
});

interface Owned {
  available_minor: number;
  held_minor: number;
  pending_settlement_minor: number;
}
interface Statement {
  opening: Owned;
  closing: Owned;
  movements: { kind: string; journals: number; added: Owned; fee_minor: number }[];
}

test("a statement leads from what was there to what is there, by what each kind of journal added", async () => {
  const at = async (): Promise<string> => (await client.get("/v1/sandbox/clock")).json.now as string;
  const nextMonth = async (): Promise<string> => {
    await client.post("/v1/sandbox/clock/advance", { seconds: 30 * 86_400 });
    return at();
  };
  const of = async (from: string, to: string) =>
    (await owner.get(`/portal/v1/statements/IDR?from=${from}&to=${to}`)).json as Statement;
  const first = await paid();
  await paid();
  await client.post("/v1/refunds", { payment_reference: first, amount_minor: 10_000 });
  await client.post("/v1/sandbox/settlements/run", {});
  const begun = await nextMonth();
  const contested = await paid();
  await client.post(`/v1/sandbox/payments/${contested}/dispute`, { reason: "product_not_received" });
  const end = await nextMonth();
  const until = new Date(Date.parse(begun) - 1_000).toISOString().replace(".000", "");
  const [whole, before, month] = [await of("2020-01-01", end), await of("2020-01-01", until), await of(begun, end)];

  expect(before.opening).toEqual({ available_minor: 0, held_minor: 0, pending_settlement_minor: 0 });
  expect(month.opening).toEqual(before.closing);
  expect(whole.closing).toEqual(month.closing);
  const [{ currency: _currency, exponent: _exponent, ...now }] = (await owner.get("/portal/v1/balances")).json.data;
  expect(whole.closing).toEqual(now);
  for (const { opening, closing, movements } of [whole, before, month])
    for (const name of ["available_minor", "held_minor", "pending_settlement_minor"] as const)
      expect(movements.reduce((sum, { added }) => sum + added[name], opening[name])).toBe(closing[name]);

  const { amount_minor: amount, fee_minor: fee } = (await client.get(`/v1/payments/${first}`)).json;
  const added = (available: number, held = 0) => ({
    available_minor: available,
    held_minor: held,
    pending_settlement_minor: 0,
  });
  expect(before.movements.filter(({ kind }) => !kind.startsWith("settlement_"))).toEqual([
    { kind: "capture", journals: 2, added: added(2 * (amount - fee)), fee_minor: 2 * fee },
    { kind: "refund", journals: 1, added: added(-10_000), fee_minor: 0 },
  ]);
  expect(month.movements.find(({ kind }) => kind === "dispute_opened")).toEqual({
    kind: "dispute_opened",
    journals: 1,
    added: added(-amount, amount),
    fee_minor: 0,
  });
});

test("a statement has what a merchant paid as a fee, and not what is nobody's yet", async () => {
  const database = openDatabase(service.database);
  const book: Book = { merchantId, environment: "sandbox" };
  const money = { currency: "IDR", amountMinor: 500n };
  const moves = [
    ["capture", capturePostings({ ...money, feeMinor: 500n, gatewayCode: "nusantara" })],
    ["receipt_unapplied", unappliedPostings("nusantara", money)],
  ] as const;
  for (const [kind, postings] of moves) {
    const groupId = newId("payment", systemClock.now());
    await postJournal(database, book, { kind, groupId, operationKey: `${kind}:${groupId}`, postings });
  }
  await database.end();
  const { movements } = (await owner.get("/portal/v1/statements/IDR?from=2020-01-01&to=2199-12-31")).json as Statement;
  const nothing = { available_minor: 0, held_minor: 0, pending_settlement_minor: 0 };
  expect(movements).toEqual([{ kind: "capture", journals: 1, added: nothing, fee_minor: 500 }]);
});

test("entries of some days: by both ends, by pages, and of accounts, too", async () => {
  const at = async (): Promise<string> => (await client.get("/v1/sandbox/clock")).json.now as string;
  const later = (): Promise<unknown> => client.post("/v1/sandbox/clock/advance", { seconds: 10 });
  await paid();
  await later();
  const begun = await at();
  const within = [await paid(), await paid(), await paid()];
  const end = await at();
  await later();
  await paid();
  const of = async (query: string) => (await client.get(`/v1/balances/IDR/entries?${query}`)).json;
  const objects = ({ data }: { data: { object: string }[] }): string[] => data.map(({ object }) => object);
  const days = `posted_from=${begun}&posted_to=${end}`;
  expect(objects(await of(days))).toEqual(within.toReversed());
  const page = await of(`${days}&limit=2`);
  expect([objects(page), page.has_more]).toEqual([within.toReversed().slice(0, 2), true]);
  const rest = await of(`${days}&limit=2&starting_after=${page.next_cursor}`);
  expect([objects(rest), rest.has_more]).toEqual([within.slice(0, 1), false]);
  expect((await of(`posted_from=${begun}`)).data).toHaveLength(4);
  expect((await of(`posted_to=${end}`)).data).toHaveLength(4);
  expect((await of("posted_from=2100-01-01&posted_to=2020-01-01")).data).toEqual([]);
  expect((await of(`posted_from=2100-01-01`)).data).toEqual([]);
  expect((await of(`posted_to=2020-01-01`)).data).toEqual([]);
  const fees = (await owner.get(`/portal/v1/accounts/IDR/entries?account=platform:fees&${days}`)).json;
  expect(objects(fees)).toEqual(within.toReversed());
  const [newest] = (await of("limit=1")).data;
  for (const [query, field] of [
    [`${days}&starting_after=${newest.id}`, "starting_after"],
    ["posted_from=yesterday", "posted_from"],
    ["posted_to=2026-13-01", "posted_to"],
    ["posted_from=0001-01-01", "posted_from"],
    ["posted_to=9999-12-31", "posted_to"],
  ] as const)
    expect(await of(query), query).toMatchObject({ error: { code: "VALIDATION_ERROR", details: { field } } });
});

test("a clock that was wrong for more journals than are looked at leaves a statement that adds up", async () => {
  await paid();
  // Journals 2 to 1001 are of 2 January, and the next thousand of the day before. The third moved money.
  await asOwner(service.database, async (admin) => {
    await admin.query("set session_replication_role = replica");
    await admin.query(
      `insert into journals (merchant_id, environment, seq, journal_id, group_id, kind, operation_key, posted_at, prev_hash, hash)
select merchant_id, environment, n, (case when n > 1001 then '019b76da-a800' else '019b7c01-0400' end || '-7000-8000-' || lpad(n::text, 12, '0'))::uuid,
  group_id, kind, 'clone:' || n, posted_at, prev_hash, hash
from journals, generate_series(2, 2001) n
where merchant_id = $1::uuid`,
      [uuidOf(merchantId)],
    );
    await admin.query(
      `insert into entries
select merchant_id, environment, 3, line, account, currency, amount_minor, 2 * balance_after_minor
from entries
where merchant_id = $1::uuid`,
      [uuidOf(merchantId)],
    );
    await admin.query("update book_heads set seq = 2001 where merchant_id = $1::uuid and environment = 'sandbox'", [
      uuidOf(merchantId),
    ]);
    await admin.query("set session_replication_role = origin");
  });
  const { status, json } = await owner.get("/portal/v1/statements/IDR?from=2026-01-01&to=2026-01-01");
  expect({ status, movements: json.movements }).toEqual({ status: 200, movements: [] });
  expect(json.opening).toEqual(json.closing);
});

test.each([
  ["IDR?from=2026-01-01", 422],
  ["IDR?from=2026-01-02&to=2026-01-01", 422],
  ["XXQ?from=2026-01-01&to=2026-01-31", 422],
])("GET /portal/v1/statements/%s is answered with %i", async (asked, status) => {
  expect((await owner.get(`/portal/v1/statements/${asked}`)).status).toBe(status);
});

test("a role that may not read balances reads no statement", async () => {
  const developer = await joins(service, merchantId, "developer");
  const { status } = await developer.get("/portal/v1/statements/IDR?from=2026-01-01&to=2026-01-31");
  expect(status).toBe((await developer.get("/portal/v1/balances")).status);
});
