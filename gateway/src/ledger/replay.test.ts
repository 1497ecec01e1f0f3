// Goal: a book whose chain was made anew around a false journal is found out all the same. Method: pure. Three journals and what the database keeps
// beside them are forged, hashed as if nothing had happened, and given to verification by a database that has nothing else.
import { expect, test } from "vitest";
import { HOUR } from "../ground/clock.ts";
import { newId, uuidOf } from "../ground/ids.ts";
import type { Book } from "../merchants/books.ts";
import type { Database, Row, Statement } from "../store/database.ts";
import { type Entry, type Journal, journalHash } from "./journal.ts";
import type { BalanceRow, JournalRow } from "./ledger.sql.ts";
import type { CountedRow } from "./verify.sql.ts";
import { readJournals, verifyBook } from "./verify.ts";

const now = Date.UTC(2026, 0, 30, 12, 59) * 1_000;
const hour = now - (now % HOUR);
const book: Book = { merchantId: newId("merchant", now), environment: "sandbox" };
const [payment, other, refund] = [newId("payment", now), newId("payment", now), newId("refund", now)];
const zeros = Buffer.alloc(32);

type Unhashed = Omit<Journal, "hash">;

/** Entries as `account currency amount balance`. */
const entriesOf = (...lines: string[]): Entry[] =>
  lines.map((line) => {
    const [account = "", currency = "", amount = "", after = ""] = line.split(" ");
    return { account, currency, amountMinor: BigInt(amount), balanceAfterMinor: BigInt(after) };
  });

const captureOf = (seq: bigint, reference: string, entries: Entry[]): Unhashed => ({
  book, seq, entries, journalId: newId("journal", now), groupId: reference, kind: "capture", operationKey: `capture:${reference}`,
  postedAt: now, prevHash: zeros,
}); // prettier-ignore

interface Kept {
  journals: Unhashed[];
  balances: BalanceRow[];
  counted: CountedRow[];
  /** The head's number; that of the last journal when absent. */
  seq?: bigint;
  /** Makes journals false after they were hashed. */
  after?: (journals: Journal[]) => void;
  /** False when a forger left the journals' own `prevHash`. */
  isLinked?: boolean;
}

const balance = (account: string, debit: bigint, credit: bigint, currency = "IDR"): BalanceRow => ({
  seq: 0n, hash: zeros, account, currency, debit_minor: debit, credit_minor: credit,
}); // prettier-ignore
const counted = (payments: string, amount: string, changes: Partial<CountedRow> = {}): CountedRow => ({
  seq: 3n, hour, acquirer: "merapi", currency: "IDR", payments, amount_minor: amount, ...changes,
}); // prettier-ignore

/** Two captures and a refund: 1000 and 500 came in for fees of 7 and 0, and 300 went back. */
const honest = (): Kept => ({
  journals: [
    captureOf(1n, payment, entriesOf("acquirer:merapi:receivable IDR 1000 1000", "merchant:available IDR -993 -993", "platform:fees IDR -7 -7")),
    captureOf(2n, other, entriesOf("acquirer:merapi:receivable IDR 500 1500", "merchant:available IDR -500 -1493")),
    {
      ...captureOf(3n, payment, entriesOf("merchant:available IDR 300 -1193", "acquirer:merapi:receivable IDR -300 1200")),
      kind: "refund", operationKey: `refund:${refund}`,
    },
  ],
  balances: [balance("acquirer:merapi:receivable", 1500n, 300n), balance("merchant:available", 300n, 1493n), balance("platform:fees", 0n, 7n)],
  counted: [counted("2", "1500")],
}); // prettier-ignore

/** The journals with hashes, each continuing the one before. */
function chained({ journals, after, isLinked = true }: Kept): Journal[] {
  let prevHash: Buffer = zeros;
  const hashed = journals.map((journal) => {
    const linked = { ...journal, ...(isLinked ? { prevHash } : {}) };
    prevHash = journalHash(linked);
    return { ...linked, hash: prevHash };
  });
  after?.(hashed);
  return hashed;
}

const rowOf = (journal: Journal): JournalRow => ({
  seq: journal.seq,
  journal_id: uuidOf(journal.journalId),
  group_id: uuidOf(journal.groupId),
  kind: journal.kind,
  operation_key: journal.operationKey,
  posted_at: journal.postedAt,
  prev_hash: journal.prevHash,
  hash: journal.hash,
  entries: journal.entries.length === 0 ? null : JSON.stringify(
    journal.entries.map((entry) => [entry.account, entry.currency, String(entry.amountMinor), String(entry.balanceAfterMinor)]),
  ),
}); // prettier-ignore

/** A database that has a book's journals, balances and counts, no row that is wrong, and `others` by the names of statements. */
function keeping(kept: Kept, others: Record<string, Row[]> = {}): Database {
  const journals = chained(kept);
  const seq = kept.seq ?? journals.at(-1)?.seq ?? 0n;
  const answers = (statement: Statement): Row[] => {
    if (statement.name === "select balances") {
      const empty = { account: null, currency: null, debit_minor: null, credit_minor: null };
      return (kept.balances.length === 0 ? [empty] : kept.balances).map((row) => ({ ...row, seq }));
    }
    if (statement.name === "verify: counted payments") return kept.counted;
    if (statement.name !== "select journals") return [];
    const [, , after, upTo] = statement.values as [string, string, bigint, bigint];
    return journals.filter((journal) => journal.seq > after && journal.seq <= upTo).map(rowOf);
  };
  const query = (statement: Statement) => Promise.resolve(others[statement.name ?? ""] ?? answers(statement));
  return { query } as unknown as Database;
}

const saidOf = async (forge: (kept: Kept) => void): Promise<string | undefined> => {
  const kept = honest();
  forge(kept);
  return (await verifyBook(keeping(kept), book)).wrong?.replaceAll(/jrn_\w+/g, "jrn");
};

const last = ({ journals }: Kept): Unhashed => journals[2] as Unhashed;
const change = (kept: Kept, seq: number, changes: Partial<Unhashed>): void => {
  kept.journals[seq - 1] = { ...(kept.journals[seq - 1] as Unhashed), ...changes };
};

test("an honest book is clean, and its head is the hash of its last journal", async () => {
  const kept = honest();
  const head = chained(kept)[2]?.hash.toString("hex");
  const hashed = chained(kept);
  expect(await verifyBook(keeping(kept), book)).toEqual({ book, journals: 3n, wrong: undefined, head });
  const read: Journal[] = [];
  for await (const journal of readJournals(keeping(kept), book)) read.push(journal);
  expect(read).toEqual(hashed);
});

test("a book that ends before its head is not read as if it were whole", async () => {
  const kept = { ...honest(), seq: 3n };
  kept.journals.pop();
  await expect(Array.fromAsync(readJournals(keeping(kept), book))).rejects.toThrow(
    "the book ends at journal 2, its head says 3",
  );
  const headless = keeping(honest(), { "select balances": [] });
  await expect(Array.fromAsync(readJournals(headless, book))).rejects.toThrow("the book has no head");
});

test("a book without journals is clean, and one without a head is not", async () => {
  const empty = { journals: [], balances: [], counted: [] };
  expect(await verifyBook(keeping(empty), book)).toEqual({
    book,
    journals: 0n,
    wrong: undefined,
    head: "0".repeat(64),
  });
  const wrong = "the book has no head";
  expect(await verifyBook(keeping(empty, { "select balances": [] }), book)).toEqual({ book, journals: 0n, wrong });
});

test("a roll-up that counts payments of a book without journals is found", async () => {
  const empty = { journals: [], balances: [], counted: [counted("1", "5", { seq: 0n })] };
  expect((await verifyBook(keeping(empty), book)).wrong).toBe(
    "the roll-up says 1 payments of 5 in 2026-01-30T12:00:00Z merapi IDR, the journals nothing: gerbang insights rebuild",
  );
});

test.each<[name: string, forge: (kept: Kept) => void, wrong: string]>([
  // the chain
  ["a first journal with another number", (kept) => kept.journals.shift(), "after journal 0 comes journal 2 (jrn): the sequence has a gap"],
  ["a journal left out", (kept) => kept.journals.splice(1, 1), "after journal 1 comes journal 3 (jrn): the sequence has a gap"],
  ["a number given twice", (kept) => change(kept, 2, { seq: 1n }), "after journal 1 comes journal 1 (jrn): the sequence has a gap"],
  ["a last journal left out", (kept) => { kept.seq = 3n; kept.journals.pop(); }, "the book ends at journal 2, its head says 3"],
  ["a chain that begins elsewhere", (kept) => { kept.isLinked = false; change(kept, 1, { prevHash: Buffer.alloc(32, 1) }); }, "journal 1 (jrn) does not continue the chain"],
  ["a chain that begins again", (kept) => { kept.isLinked = false; }, "journal 2 (jrn) does not continue the chain"],
  ["a journal hashed before it was changed", (kept) => { kept.after = ([first]) => { (first as Journal).postedAt += 1; }; }, "journal 1 (jrn) was changed after it was written"],
  ["a hash of another journal", (kept) => { kept.after = ([, , third]) => { (third as Journal).hash = zeros; }; }, "journal 3 (jrn) was changed after it was written"],
  // the entries
  ["a journal without entries", (kept) => change(kept, 3, { entries: [] }), "journal 3 (jrn) has 0 entries"],
  ["a journal of one entry", (kept) => change(kept, 3, { entries: entriesOf("merchant:available IDR 0 -1493") }), "journal 3 (jrn) has 1 entries"],
  ["money out of nothing", (kept) => change(kept, 3, { entries: entriesOf("merchant:available IDR 299 -1194", "acquirer:merapi:receivable IDR -300 1200") }), "journal 3 (jrn) sums to -1 IDR"],
  ["money into nothing", (kept) => change(kept, 3, { entries: entriesOf("merchant:available IDR 301 -1192", "acquirer:merapi:receivable IDR -300 1200") }), "journal 3 (jrn) sums to 1 IDR"],
  ["currencies that make up for each other", (kept) => change(kept, 3, { entries: entriesOf("merchant:available IDR 300 -1193", "merchant:available USD -300 -300") }), "journal 3 (jrn) sums to 300 IDR"],
  ["a balance after an entry", (kept) => { last(kept).entries = entriesOf("merchant:available IDR 300 -1193", "acquirer:merapi:receivable IDR -300 1201"); }, "journal 3 (jrn) says acquirer:merapi:receivable IDR is 1201 after it; it is 1200"],
  ["a balance that begins anew in another currency", (kept) => change(kept, 3, { entries: entriesOf("merchant:available USD 300 -1193", "acquirer:merapi:receivable USD -300 1200") }), "journal 3 (jrn) says merchant:available USD is -1193 after it; it is 300"],
  // the totals that the database keeps
  ["a debit and a credit too much", (kept) => { kept.balances[1] = balance("merchant:available", 301n, 1494n); }, "the balance of merchant:available IDR is kept as 301 - 1494; the journals give 300 - 1493"],
  ["a debit", (kept) => { kept.balances[0] = balance("acquirer:merapi:receivable", 1501n, 300n); }, "the balance of acquirer:merapi:receivable IDR is kept as 1501 - 300; the journals give 1500 - 300"],
  ["a credit", (kept) => { kept.balances[0] = balance("acquirer:merapi:receivable", 1500n, 299n); }, "the balance of acquirer:merapi:receivable IDR is kept as 1500 - 299; the journals give 1500 - 300"],
  ["a balance less", (kept) => kept.balances.pop(), "the balance of platform:fees IDR is kept as undefined - undefined; the journals give 0 - 7"],
  ["a balance of another account", (kept) => kept.balances.push(balance("platform:bank", 5n, 0n)), "the balance of platform:bank IDR is kept as 5 - 0; the journals give 0 - 0"],
  ["a balance in another currency", (kept) => { kept.balances[2] = balance("platform:fees", 0n, 7n, "USD"); }, "the balance of platform:fees USD is kept as 0 - 7; the journals give 0 - 0"],
  // what a journal is for
  ["an operation key of another kind", (kept) => change(kept, 3, { operationKey: `capture:${refund}` }), `journal 3 (jrn) is a refund and its operation key capture:${refund} names no refund`],
  ["an operation key with more behind it", (kept) => change(kept, 3, { operationKey: `refund:${refund}:2` }), `journal 3 (jrn) is a refund and its operation key refund:${refund}:2 names no refund`],
  ["a capture for a refund", (kept) => change(kept, 2, { operationKey: `capture:${refund}` }), `journal 2 (jrn) is a capture and its operation key capture:${refund} names no payment`],
  ["a kind of nobody's", (kept) => change(kept, 3, { kind: "gift", operationKey: "gift:1" }), "journal 3 (jrn) is of the kind gift, which no row asks for"],
  ["a kind that only begins like one", (kept) => change(kept, 3, { kind: "refunds", operationKey: "refunds:1" }), "journal 3 (jrn) is of the kind refunds, which no row asks for"],
  ["a kind that only ends like one", (kept) => change(kept, 3, { kind: "my_refund", operationKey: "my_refund:1" }), "journal 3 (jrn) is of the kind my_refund, which no row asks for"],
  ["two kinds of nobody's", (kept) => { for (const seq of [2, 3]) change(kept, seq, { kind: `gift_${seq === 2 ? "a" : "b"}`, operationKey: "gift:1" }); }, "journal 2 (jrn) is of the kind gift_a, which no row asks for"],
  // the roll-up
  ["a payment counted twice", (kept) => { kept.counted = [counted("3", "1500")]; }, "the roll-up says 3 payments of 1500 in 2026-01-30T12:00:00Z merapi IDR, the journals 2 payments of 1500: gerbang insights rebuild"],
  ["an amount counted wrongly", (kept) => { kept.counted = [counted("2", "1501")]; }, "the roll-up says 2 payments of 1501 in 2026-01-30T12:00:00Z merapi IDR, the journals 2 payments of 1500: gerbang insights rebuild"],
  ["payments counted in another hour", (kept) => { kept.counted = [counted("2", "1500", { hour: hour + HOUR })]; }, "the roll-up says nothing in 2026-01-30T12:00:00Z merapi IDR, the journals 2 payments of 1500: gerbang insights rebuild"],
  ["payments counted for another acquirer as well", (kept) => kept.counted.push(counted("1", "5", { acquirer: "samudra" })), "the roll-up says 1 payments of 5 in 2026-01-30T12:00:00Z samudra IDR, the journals nothing: gerbang insights rebuild"],
  ["payments counted in another currency as well", (kept) => kept.counted.push(counted("1", "5", { currency: "USD" })), "the roll-up says 1 payments of 5 in 2026-01-30T12:00:00Z merapi USD, the journals nothing: gerbang insights rebuild"],
  ["payments that nobody counted", (kept) => { kept.counted = [counted("0", "0", { hour: null })]; }, "the roll-up says nothing in 2026-01-30T12:00:00Z merapi IDR, the journals 2 payments of 1500: gerbang insights rebuild"],
  ["a payment of a later journal counted already", (kept) => { kept.counted = [counted("2", "1500", { seq: 1n })]; }, "the roll-up says 2 payments of 1500 in 2026-01-30T12:00:00Z merapi IDR, the journals 1 payments of 1000: gerbang insights rebuild"],
])("found and named: %s", async (_name, forge, wrong) => {
  expect(await saidOf(forge)).toBe(wrong);
}); // prettier-ignore

test.each<[name: string, forge: (kept: Kept) => void]>([
  ["no roll-up exists yet", (kept) => { kept.counted = []; }],
  ["the roll-up was read before the last capture", (kept) => { kept.counted = [counted("1", "1000", { seq: 1n })]; }],
  ["the roll-up was read right after the last capture", (kept) => { kept.counted = [counted("2", "1500", { seq: 2n })]; }],
])("clean: %s", async (_name, forge) => {
  expect(await saidOf(forge)).toBeUndefined();
}); // prettier-ignore

test("what the database finds is named before what the journals alone cannot place, and the roll-up comes last", async () => {
  const kept = honest();
  change(kept, 3, { kind: "gift", operationKey: "gift:1" });
  kept.counted = [];
  const ids = [{ id: uuidOf(payment) }];
  const found: Row[] = [{ wrong: `payment ${uuidOf(payment)} is wrong` }];
  const pages = { ...kept, counted: [counted("9", "9")] };
  for (const name of ["verify: owners of journals", "verify: head", "verify: held, settling and unapplied"])
    expect((await verifyBook(keeping(pages, { [name]: found }), book)).wrong).toBe(`payment ${payment} is wrong`);
  // A page of one payment, and then none.
  const database = keeping(pages, { "verify: totals of payments": found });
  const query = (statement: Statement) =>
    statement.name === "verify: next payments" && String(statement.values?.[2]).startsWith("0000")
      ? Promise.resolve(ids)
      : database.query(statement);
  expect((await verifyBook({ query } as unknown as Database, book)).wrong).toBe(`payment ${payment} is wrong`);
  expect((await verifyBook(keeping(pages), book)).wrong).toContain("is of the kind gift");
});
