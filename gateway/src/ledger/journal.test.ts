// Goal: each movement of money goes to the accounts that it names, a journal that does not balance is refused, and its hash covers all of it.
// Method: pure. The postings are written out; a journal is changed field by field, and its hash is compared with one that was computed elsewhere.
import { expect, test } from "vitest";
import { NOW, book, given, ownerWith, row } from "../../test/given.ts";
import { bookCommand } from "../commands/command-context.ts";
import * as journal from "./journal.ts";
import { bookBalances, heads, journals } from "./ledger.sql.ts";
import { balanceOf, ledgerNeeds } from "./ledger.ts";

const { accounts, assertBalanced, journalHash } = journal;
const money = { currency: "IDR", amountMinor: 1_000n };
const payment = { ...money, gatewayCode: "merapi", feeMinor: 7n };

test.each<[name: string, postings: journal.Posting[], expected: Record<string, bigint>]>([
  [
    "a capture",
    journal.capturePostings(payment),
    { "acquirer:merapi:receivable": 1_000n, "merchant:available": -993n, "platform:fees": -7n },
  ],
  [
    "a capture without a fee",
    journal.capturePostings({ ...payment, feeMinor: 0n }),
    { "acquirer:merapi:receivable": 1_000n, "merchant:available": -1_000n },
  ],
  [
    "a capture that is all fee",
    journal.capturePostings({ ...payment, feeMinor: 1_000n }),
    { "acquirer:merapi:receivable": 1_000n, "platform:fees": -1_000n },
  ],
  [
    "a refund",
    journal.refundPostings("merapi", money),
    { "merchant:available": 1_000n, "acquirer:merapi:receivable": -1_000n },
  ],
  [
    "a refund that failed",
    journal.refundReturnPostings("merapi", money),
    { "merchant:available": -1_000n, "acquirer:merapi:receivable": 1_000n },
  ],
  [
    "money that no payment awaits",
    journal.unappliedPostings("merapi", money),
    { "acquirer:merapi:receivable": 1_000n, "platform:unapplied": -1_000n },
  ],
  [
    "such money that goes back",
    journal.unappliedReturnPostings("merapi", money),
    { "acquirer:merapi:receivable": -1_000n, "platform:unapplied": 1_000n },
  ],
  [
    "such money that is credited",
    journal.unappliedCreditPostings(money),
    { "platform:unapplied": 1_000n, "merchant:available": -1_000n },
  ],
  ["a dispute", journal.holdPostings(money), { "merchant:available": 1_000n, "merchant:held": -1_000n }],
  ["a dispute that is won", journal.releasePostings(money), { "merchant:available": -1_000n, "merchant:held": 1_000n }],
  [
    "a dispute that is lost",
    journal.lossPostings("merapi", money),
    { "merchant:held": 1_000n, "acquirer:merapi:receivable": -1_000n },
  ],
  [
    "a settlement",
    journal.settlementFormedPostings(money),
    { "merchant:available": 1_000n, "merchant:settling": -1_000n },
  ],
  [
    "a settlement that the bank returned",
    journal.settlementReturnedPostings(money),
    { "merchant:available": -1_000n, "merchant:settling": 1_000n },
  ],
  [
    "a settlement that the bank paid out",
    journal.settlementPaidPostings(money),
    { "merchant:settling": 1_000n, "platform:bank": -1_000n },
  ],
])("%s moves money between the accounts that it names", (_name, postings, expected) => {
  expect(postings).toHaveLength(Object.keys(expected).length);
  expect(Object.fromEntries(postings.map(({ account, amountMinor }) => [account, amountMinor]))).toEqual(expected);
  expect(postings.every(({ account, currency }) => currency === "IDR" && journal.isAccount(account))).toBe(true);
  expect(() => assertBalanced(postings)).not.toThrow();
});

test.each([
  "merchant:other",
  "acquirer::receivable",
  `acquirer:${"a".repeat(31)}:receivable`,
  "acquirer:a:receivable ",
])("%j is no account of a book", (name) => expect(journal.isAccount(name)).toBe(false));

const to = (account: string, amountMinor: bigint, currency = "IDR"): journal.Posting => ({
  account,
  currency,
  amountMinor,
});
const post = (postings: readonly journal.Posting[], operationKey = "test:1") =>
  bookCommand(ownerWith(), {
    name: "post",
    needs: ledgerNeeds(book),
    execute: (context) => {
      const posted = context.post({ groupId: "group", kind: "test", operationKey, postings });
      return [posted, balanceOf(context.set, book, accounts.fees, "IDR")] as const;
    },
  });

test.each<[string, journal.Posting[]]>([
  ["nothing", []],
  ["one side", [to(accounts.fees, 5n)]],
  ["a posting of nothing", [to(accounts.fees, 0n), to(accounts.bank, 0n)]],
  ["one of several of nothing", [to(accounts.fees, 5n), to(accounts.bank, -5n), to(accounts.held, 0n)]],
  ["too much on one side", [to(accounts.fees, 5n), to(accounts.bank, -4n)]],
  ["two sides alike", [to(accounts.fees, 5n), to(accounts.bank, 5n)]],
  ["one currency against another", [to(accounts.fees, 5n), to(accounts.bank, -5n, "USD")]],
  [
    "one currency of two",
    [to(accounts.fees, 5n), to(accounts.bank, -5n), to(accounts.fees, 5n, "USD"), to(accounts.bank, -4n, "USD")],
  ],
])("a journal with %s does not balance, and nothing is posted", (_name, postings) => {
  given().when(post(postings)).refuses("UNBALANCED_ENTRY");
});

test("a journal continues its book: its number, the hash before it, and what each account has after each of its entries", () => {
  const hash = Buffer.alloc(32, 1);
  const { answer, changes } = given({
    balances: { "platform:fees IDR": -10n, "platform:fees USD": 3n },
    rows: [row(heads, { book, seq: 41n, hash })],
  }).when(post([to(accounts.fees, -5n), to(accounts.bank, 7n), to(accounts.fees, -2n)]));
  const [posted, fees] = answer;
  expect(posted).toMatchObject({ book, seq: 42n, prevHash: hash, postedAt: NOW, operationKey: "test:1" });
  expect(posted.entries.map(({ balanceAfterMinor }) => balanceAfterMinor)).toEqual([-15n, 7n, -17n]);
  expect(posted.hash).toEqual(journalHash(posted));
  expect(changes.inserted(journals)).toEqual([posted]);
  expect(changes.journals).toEqual([{ kind: "test", entries: { "platform:fees IDR": -7n, "platform:bank IDR": 7n } }]);
  expect(changes.seen(heads, book)).toEqual({ book, seq: 42n, hash: posted.hash });
  expect(Object.fromEntries(changes.seen(bookBalances, book)?.balances ?? [])).toEqual({
    "platform:fees IDR": -17n,
    "platform:fees USD": 3n,
    "platform:bank IDR": 7n,
  });
  expect(fees).toBe(-17n);
});

test("what no entry named has a balance of nothing", () => {
  given()
    .when(post([to(accounts.held, 5n), to(accounts.bank, -5n)]))
    .then((_changes, [, fees]) => expect(fees).toBe(0n));
});

const whole: Omit<journal.Journal, "hash"> = {
  book,
  seq: 2n,
  journalId: "jrn_1",
  groupId: "pay_1",
  kind: "capture",
  operationKey: "capture:pay_1",
  postedAt: NOW,
  prevHash: Buffer.alloc(32, 7),
  entries: [
    { account: accounts.bank, currency: "IDR", amountMinor: 5n, balanceAfterMinor: 15n },
    { account: accounts.fees, currency: "IDR", amountMinor: -5n, balanceAfterMinor: -15n },
  ],
};

test("the hash of a journal covers every field of it and of its entries, and their order", () => {
  const [first, second] = whole.entries as [journal.Entry, journal.Entry];
  const changed: Partial<journal.Journal>[] = [
    { book: { ...book, environment: "production" } },
    { book: { ...book, merchantId: "mer_other" } },
    { seq: 3n },
    { journalId: "jrn_2" },
    { groupId: "pay_2" },
    { kind: "refund" },
    { operationKey: "capture:pay_2" },
    { postedAt: NOW + 1 },
    { prevHash: Buffer.alloc(32, 8) },
    { entries: [first] },
    { entries: [second, first] },
    ...[{ account: accounts.held }, { currency: "USD" }, { amountMinor: 6n }, { balanceAfterMinor: 16n }].map(
      (change) => ({ entries: [{ ...first, ...change }, second] }),
    ),
  ];
  const hashes = [whole, ...changed.map((change) => ({ ...whole, ...change }))].map((one) =>
    journalHash(one).toString("hex"),
  );
  expect(new Set(hashes).size).toBe(hashes.length);
  // Computed by another program: a book that was written long ago must still verify.
  expect(hashes[0]).toBe("9abfb79f3ac3fe8324d5a45e05db3aa7352b5d875b465ae5412d84534a6b6a3a");
});
