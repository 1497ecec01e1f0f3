// Goal: an export says what the book says, to the last digit, and nothing in a book can break its syntax.
// Method: random books with hostile texts are exported and read back by a strict reader, which knows no line but the right ones.
import fc from "fast-check";
import { expect, test } from "vitest";
import { anyText } from "../../test/any-text.ts";
import { SECOND, sqlTime } from "../ground/clock.ts";
import { newId } from "../ground/ids.ts";
import { exponentOf } from "../ground/money.ts";
import type { Book } from "../merchants/books.ts";
import { accountName, exportBook, type ExportFormat } from "./export.ts";
import { type Journal, type Posting, accounts, capturePostings, journalHash } from "./journal.ts";

const DAY = 86_400 * SECOND;
const begun = Date.UTC(2026, 0, 30, 23, 59) * 1000;
const book: Book = { merchantId: newId("merchant", begun), environment: "sandbox" };

interface Move {
  operationKey: string;
  /** Time since the journal before. */
  later: number;
  postings: Posting[];
}

/** The journals that a book would hold after these moves. */
function journalsOf(moves: readonly Move[]): Journal[] {
  const balances = new Map<string, bigint>();
  let prevHash: Buffer = Buffer.alloc(32);
  let now = begun;
  return moves.map(({ operationKey, later, postings }, index) => {
    now += later;
    const entries = postings.map((posting) => {
      const name = `${posting.account} ${posting.currency}`;
      const balanceAfterMinor = (balances.get(name) ?? 0n) + posting.amountMinor;
      balances.set(name, balanceAfterMinor);
      return { ...posting, balanceAfterMinor };
    });
    const unhashed = {
      book,
      seq: BigInt(index + 1),
      journalId: newId("journal", now),
      groupId: newId("payment", now),
      kind: "capture",
      operationKey,
      postedAt: now,
      prevHash,
      entries,
    };
    const hash = journalHash(unhashed);
    prevHash = hash;
    return { ...unhashed, hash };
  });
}

async function textOf(format: ExportFormat, journals: readonly Journal[]): Promise<string> {
  let text = "";
  for await (const chunk of exportBook(format, book, journals)) text += chunk;
  return text;
}

interface Read {
  day: string;
  tags: Record<string, string>;
  lines: { account: string; currency: string; amountMinor: bigint; balanceAfterMinor?: bigint }[];
}

/** A decimal with exactly the digits of its currency, in minor units. */
function minorOf(text: string, currency: string): bigint {
  expect(text.split(".")[1]?.length ?? 0).toBe(exponentOf(currency));
  return BigInt(text.replace(".", ""));
}

const number = String.raw`(-?\d+(?:\.\d+)?)`;
const patterns = {
  hledger: {
    transaction: /^(\d{4}-\d\d-\d\d) \* \((\d+)\) capture$/,
    tag: /^ {2}; ([a-z_]+): (\S+)$/,
    posting: new RegExp(`^  ([A-Z]\\S+)  ${number} ([A-Z]{3}) = ${number} \\3$`),
    currency: /^commodity ([A-Z]{3})$/,
    account: /^account (\S+)$/,
    balance: /^never$/,
    other: /^$|^; [\x20-\x7e]+$|^tag [a-z_]+$|^ {2}format 1000\.0+ [A-Z]{3}$/,
  },
  beancount: {
    transaction: /^(\d{4}-\d\d-\d\d) \* "capture" \^(pay_[0-9a-z]{26})$/,
    tag: /^ {2}([a-z_]+): "([^"\\]+)"$/,
    posting: new RegExp(`^  ([A-Z]\\S+)  ${number} ([A-Z]{3})()$`),
    currency: /^\d{4}-\d\d-\d\d commodity ([A-Z]{3})$/,
    account: /^\d{4}-\d\d-\d\d open ([A-Z][A-Za-z]+(?::[A-Z0-9][A-Za-z0-9-]*)+)$/,
    balance: new RegExp(`^(\\d{4}-\\d\\d-\\d\\d) balance (\\S+)  ${number} ~ 0 ([A-Z]{3})$`),
    other: /^$|^; [\x20-\x7e]+$|^option "title" "\S+"$/,
  },
};

/** Reads an export line by line, and refuses every line that it does not know. */
function read(format: "hledger" | "beancount", text: string): Read[] {
  const { transaction, tag, posting, currency, account, balance, other } = patterns[format];
  const found: Read[] = [];
  const declared = new Set<string>();
  const sums = new Map<string, bigint>();
  const declare = (name: string | undefined): void => {
    expect(declared, "declared once").not.toContain(name);
    declared.add(name ?? "");
  };
  let today = "";
  for (const line of text.split("\n")) {
    const day = /^(\d{4}-\d\d-\d\d) /.exec(line)?.[1];
    expect((day ?? today) >= today, `${line} goes back in time`).toBe(true);
    today = day ?? today;
    let match: RegExpExecArray | null;
    if ((match = transaction.exec(line))) found.push({ day: match[1] ?? "", tags: {}, lines: [] });
    else if ((match = currency.exec(line) ?? account.exec(line))) declare(match[1]);
    else if ((match = tag.exec(line))) Object.assign(found.at(-1)?.tags ?? {}, { [match[1] ?? ""]: match[2] });
    else if ((match = posting.exec(line))) {
      const [, name = "", amount = "", code = "", after = ""] = match;
      expect(declared).toContain(name);
      expect(declared).toContain(code);
      const amountMinor = minorOf(amount, code);
      sums.set(`${name} ${code}`, (sums.get(`${name} ${code}`) ?? 0n) + amountMinor);
      const balanceAfter = after === "" ? {} : { balanceAfterMinor: minorOf(after, code) };
      found.at(-1)?.lines.push({ account: name, currency: code, amountMinor, ...balanceAfter });
    } else if ((match = balance.exec(line))) {
      const [, , name = "", amount = "", code = ""] = match;
      expect(minorOf(amount, code), line).toBe(sums.get(`${name} ${code}`));
      // A balance holds at the beginning of its day, so nothing of that day may stand before it.
      expect(found.at(-1)?.day.localeCompare(today), line).toBe(-1);
    } else expect(line).toMatch(other);
  }
  return found;
}

const hostile = fc.oneof(
  anyText({ minLength: 1, maxLength: 60 }),
  fc
    .array(
      fc.constantFrom("\n", "\r", "\t", '"', "\\", ";", ":", ",", "%", "[2026/99/99]", "date:", "  ", "= 1", "^", "{", "é"),
      { minLength: 1, maxLength: 12 },
    )
    .map((parts) => parts.join("")),
  fc.constantFrom(
    'x"\n2026-01-01 open Assets:Mine\n',
    "x\n  Assets:Mine  1 IDR",
    "a, date:2026-99-99",
    "\u2028; end comment",
    "\u0000",
    "__proto__",
  ),
); // prettier-ignore
const account = fc.oneof(
  fc.constantFrom(accounts.available, accounts.held, accounts.settling, accounts.fees, accounts.bank, accounts.unapplied),
  fc.stringMatching(/^[a-z_]{1,12}$/).map(accounts.receivable),
  fc.stringMatching(/^[a-z]{1,8}:[a-z_:]{1,20}$/),
); // prettier-ignore
const sized = fc.oneof(
  fc.bigInt({ min: 1n, max: 2_000n }),
  fc.bigInt({ min: 1n, max: 9_007_199_254_740_991n }),
  fc.constantFrom(1n, 10n, 99n, 100n, 999n, 1000n, 1001n, 10n ** 17n + 1n),
);

/** Balanced postings in one or two currencies; the same account may stand in several of them. */
const postings = fc
  .array(
    fc.record({
      currency: fc.constantFrom("IDR", "JPY", "KWD"),
      debits: fc.array(fc.tuple(account, sized), { minLength: 1, maxLength: 3 }),
      credited: account,
    }),
    { minLength: 1, maxLength: 2 },
  )
  .map((sides) =>
    sides.flatMap(({ currency, debits, credited }): Posting[] => [
      ...debits.map(([account, amountMinor]) => ({ account, currency, amountMinor })),
      { account: credited, currency, amountMinor: -debits.reduce((sum, [, amount]) => sum + amount, 0n) },
    ]),
  );
const books = fc
  .array(fc.record({ operationKey: hostile, later: fc.integer({ min: -120, max: 3 * 86_400 }), postings }), {
    maxLength: 12,
  })
  .map((moves) => journalsOf(moves.map((move) => ({ ...move, later: move.later * SECOND }))));

test.for(["hledger", "beancount"] as const)(
  "whatever a book holds, its %s text reads back as the same journals, line by line",
  async (format) => {
    await fc.assert(
      fc.asyncProperty(books, async (journals) => {
        const found = read(format, await textOf(format, journals));
        expect(found).toHaveLength(journals.length);
        for (const [index, journal] of journals.entries()) {
          const { tags, lines } = found[index] as Read;
          expect(tags).toEqual({
            journal: journal.journalId,
            group: journal.groupId,
            operation: expect.any(String),
            seq: String(journal.seq),
            posted_at: sqlTime(journal.postedAt),
            hash: journal.hash.toString("hex"),
          });
          expect(decodeURIComponent(tags.operation ?? "")).toBe(journal.operationKey);
          expect(lines).toEqual(
            journal.entries.map(({ account, balanceAfterMinor, ...entry }) => ({
              ...entry,
              account: accountName(account),
              ...(format === "hledger" ? { balanceAfterMinor } : {}),
            })),
          );
        }
      }),
      { numRuns: 150 },
    );
  },
);

test("a JSON line holds one journal whole, with amounts as text", async () => {
  await fc.assert(
    fc.asyncProperty(books, async (journals) => {
      const text = await textOf("jsonl", journals);
      const lines = text.split("\n");
      expect(lines.pop()).toBe("");
      for (const [index, journal] of journals.entries()) {
        expect(JSON.parse(lines[index] ?? "")).toMatchObject({
          seq: String(journal.seq),
          journal: journal.journalId,
          group: journal.groupId,
          operation_key: journal.operationKey,
          hash: journal.hash.toString("hex"),
          prev_hash: journal.prevHash.toString("hex"),
          entries: journal.entries.map((entry) => ({
            account: entry.account,
            currency: entry.currency,
            amount_minor: String(entry.amountMinor),
            balance_after_minor: String(entry.balanceAfterMinor),
          })),
        });
      }
      expect(lines).toHaveLength(journals.length);
    }),
    { numRuns: 50 },
  );
});

const capture = (currency: string, amountMinor: bigint, later = 0): Move => ({
  operationKey: "capture:the one, again",
  later,
  postings: capturePostings({ gatewayCode: "bank_a", currency, amountMinor, feeMinor: amountMinor / 100n }),
});

/** The text with what differs from run to run replaced. */
function plain(text: string): string {
  return text.replaceAll(/\b(mer|jrn|pay)_[0-9a-z]{26}/g, "$1_0").replaceAll(/\b[0-9a-f]{64}\b/g, "5ea1");
}

test("an hledger journal declares currencies and accounts, tags each journal and states the balance after each posting", async () => {
  const text = await textOf("hledger", journalsOf([capture("IDR", 15_000_000n), capture("JPY", 1_000n)]));
  expect(plain(text)).toBe(`; mer_0/sandbox: debits are positive, days are in UTC, operation keys are percent-encoded

tag journal
tag group
tag operation
tag seq
tag posted_at
tag hash

commodity IDR
  format 1000.00 IDR

account Assets:Acquirer:Bank-a:Receivable

account Liabilities:Merchant:Available

account Income:Platform:Fees

2026-01-30 * (1) capture
  ; journal: jrn_0
  ; group: pay_0
  ; operation: capture:the%20one%2C%20again
  ; seq: 1
  ; posted_at: 2026-01-30T23:59:00.000000Z
  ; hash: 5ea1
  Assets:Acquirer:Bank-a:Receivable  150000.00 IDR = 150000.00 IDR
  Liabilities:Merchant:Available  -148500.00 IDR = -148500.00 IDR
  Income:Platform:Fees  -1500.00 IDR = -1500.00 IDR

commodity JPY

2026-01-30 * (2) capture
  ; journal: jrn_0
  ; group: pay_0
  ; operation: capture:the%20one%2C%20again
  ; seq: 2
  ; posted_at: 2026-01-30T23:59:00.000000Z
  ; hash: 5ea1
  Assets:Acquirer:Bank-a:Receivable  1000 JPY = 1000 JPY
  Liabilities:Merchant:Available  -990 JPY = -990 JPY
  Income:Platform:Fees  -10 JPY = -10 JPY

; end of mer_0/sandbox: 2 journals
`);
});

test("a Beancount file opens each account once and states, with no tolerance, what every day left behind", async () => {
  const text = await textOf("beancount", journalsOf([capture("IDR", 100n), capture("KWD", 1_500n, 2 * DAY)]));
  expect(plain(text)).toBe(`; mer_0/sandbox: debits are positive, days are in UTC, operation keys are percent-encoded

option "title" "mer_0/sandbox"

2026-01-30 commodity IDR

2026-01-30 open Assets:Acquirer:Bank-a:Receivable

2026-01-30 open Liabilities:Merchant:Available

2026-01-30 open Income:Platform:Fees

2026-01-30 * "capture" ^pay_0
  journal: "jrn_0"
  group: "pay_0"
  operation: "capture:the%20one%2C%20again"
  seq: "1"
  posted_at: "2026-01-30T23:59:00.000000Z"
  hash: "5ea1"
  Assets:Acquirer:Bank-a:Receivable  1.00 IDR
  Liabilities:Merchant:Available  -0.99 IDR
  Income:Platform:Fees  -0.01 IDR

2026-02-01 balance Assets:Acquirer:Bank-a:Receivable  1.00 ~ 0 IDR
2026-02-01 balance Liabilities:Merchant:Available  -0.99 ~ 0 IDR
2026-02-01 balance Income:Platform:Fees  -0.01 ~ 0 IDR

2026-02-01 commodity KWD

2026-02-01 * "capture" ^pay_0
  journal: "jrn_0"
  group: "pay_0"
  operation: "capture:the%20one%2C%20again"
  seq: "2"
  posted_at: "2026-02-01T23:59:00.000000Z"
  hash: "5ea1"
  Assets:Acquirer:Bank-a:Receivable  1.500 KWD
  Liabilities:Merchant:Available  -1.485 KWD
  Income:Platform:Fees  -0.015 KWD

2026-02-02 balance Assets:Acquirer:Bank-a:Receivable  1.500 ~ 0 KWD
2026-02-02 balance Liabilities:Merchant:Available  -1.485 ~ 0 KWD
2026-02-02 balance Income:Platform:Fees  -0.015 ~ 0 KWD

; end of mer_0/sandbox: 2 journals
`);
});

test("a journal of an earlier moment than the one before stands on the same day, and keeps its moment as a tag", async () => {
  const journals = journalsOf([capture("IDR", 100n, 2 * 60 * SECOND), capture("IDR", 100n, -3 * 60 * SECOND)]);
  for (const format of ["hledger", "beancount"] as const) {
    const found = read(format, await textOf(format, journals));
    expect(found.map(({ day }) => day)).toEqual(["2026-01-31", "2026-01-31"]);
    expect(found.map(({ tags }) => tags.posted_at?.slice(0, 10))).toEqual(["2026-01-31", "2026-01-30"]);
  }
});

test("every account of a book stands under one of the five roots", () => {
  expect(
    [...Object.values(accounts).filter((name) => typeof name === "string"), accounts.receivable("nusantara")].map(
      accountName,
    ),
  ).toEqual([
    "Liabilities:Merchant:Available",
    "Liabilities:Merchant:Held",
    "Liabilities:Merchant:Settling",
    "Income:Platform:Fees",
    "Assets:Platform:Bank",
    "Liabilities:Platform:Unapplied",
    "Assets:Acquirer:Nusantara:Receivable",
  ]);
  expect(accountName("sandbox:grants")).toBe("Equity:Sandbox:Grants");
  expect(() => accountName('x:"\n')).toThrow(/no name/);
});

test("no two accounts get one name, and every name is one that Beancount accepts", () => {
  const names = fc.stringMatching(/^[a-z]{1,3}:[ab_:]{1,6}$/);
  fc.assert(
    fc.property(names, names, (one, other) => {
      expect(accountName(one) === accountName(other)).toBe(one === other);
      expect(accountName(one)).toMatch(/^(Assets|Liabilities|Equity|Income|Expenses)(:[A-Z0-9][A-Za-z0-9-]*)+$/);
    }),
    { numRuns: 2_000 },
  );
});

test("an empty book is a text without journals", async () => {
  expect(await textOf("jsonl", [])).toBe("");
  expect(read("hledger", await textOf("hledger", []))).toEqual([]);
  expect(read("beancount", await textOf("beancount", []))).toEqual([]);
});

test("a journal is written before the next one is asked for", async () => {
  for (const format of ["jsonl", "hledger", "beancount"] as const) {
    let asked = 0;
    const source = function* (): Generator<Journal> {
      for (const journal of journalsOf([capture("IDR", 100n), capture("IDR", 100n), capture("IDR", 100n)])) {
        asked++;
        yield journal;
      }
    };
    const seqs: number[] = [];
    for await (const chunk of exportBook(format, book, source())) {
      if (/"capture"| capture\n/.test(chunk)) seqs.push(asked);
    }
    expect(seqs).toEqual([1, 2, 3]);
  }
});
