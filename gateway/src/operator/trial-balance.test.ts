// Goal: the trial balance says what the books say, over all merchants and for any period. Method: three shops and two currencies, money in
// every account, moved on three days of the books' own clocks; each answer held against the totals and the statements of each book.
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Client } from "../../../e2e/kit/client.ts";
import { alsoIn } from "../../test/currencies.ts";
import { postJournal } from "../../test/journals.ts";
import { type TestService, openDatabase, paymentBody, startService } from "../../test/kit.ts";
import { VIEWER_TOKEN, operatorCaller, outcomeOf } from "../../test/operator.ts";
import { type AccountRow, selectAccounts } from "../balances/trial-balance.sql.ts";
import { systemClock } from "../ground/clock.ts";
import { newId } from "../ground/ids.ts";
import { capturePostings } from "../ledger/journal.ts";
import type { Book } from "../merchants/books.ts";
import { defaultSettings } from "../merchants/settings.ts";
import { trialBalanceEndpoints } from "./trial-balance.routes.ts";

interface AccountOfAll {
  account: string;
  opening_minor: number;
  added_minor: number;
  closing_minor: number;
}
interface CurrencyOfAll {
  currency: string;
  accounts: AccountOfAll[];
}

let service: TestService;
interface Shop {
  client: Client;
  merchantId: string;
}
const shops: Shop[] = [];
const days: string[] = [];
const ask = operatorCaller(() => service, trialBalanceEndpoints({} as never));

const trial = async (query: string): Promise<{ books: number; currencies: CurrencyOfAll[] }> =>
  (await ask("GET", `/trial-balance?environment=sandbox&${query}`, { token: VIEWER_TOKEN })).json;
const rowsOf = async (query: string): Promise<string[][]> =>
  (await ask("GET", `/trial-balance.csv?environment=sandbox&${query}`)).text
    .trimEnd()
    .split("\r\n")
    .map((line) => line.split(","));
const always = "from=1970-01-01&to=2199-12-31";

async function pay(client: Client, changes: Record<string, unknown>): Promise<string> {
  const { reference } = (await client.post("/v1/payments", paymentBody(changes))).json;
  await client.post(`/v1/sandbox/payments/${reference}/simulate`, { outcome: "succeeded" });
  return reference as string;
}

beforeAll(async () => {
  service = await startService({ config: { operatorViewerToken: VIEWER_TOKEN } });
  const settings = alsoIn(defaultSettings, "USD");
  for (const name of ["Toko Senja", "=Kopi;@Teh", "Nobody has paid here yet"])
    shops.push(await service.merchant({ name, settings }));
  for (let day = 0; day < 3; day++) {
    const [{ client }, other] = shops as [Shop, Shop];
    days.push(((await client.get("/v1/sandbox/clock")).json.now as string).slice(0, 10));
    const reference = await pay(client, { amount_minor: 1_000_000 + day });
    await pay(other.client, { amount_minor: 70_007, currency: "USD", payment_method: "card" });
    if (day === 1) {
      await client.post("/v1/refunds", { payment_reference: reference, amount_minor: 300_000 });
      await client.post(`/v1/sandbox/payments/${await pay(client, { amount_minor: 500_000 })}/dispute`, {
        reason: "general",
      });
    }
    for (const shop of shops) await shop.client.post("/v1/sandbox/clock/advance", { seconds: 86_400 });
  }
});
afterAll(() => service.stop());

test("of all time, it is the totals of all books, and each currency sums to zero at both ends", async () => {
  const sums = new Map<string, number>();
  for (const { merchantId } of shops) {
    const { json } = await service.askOperator(`/merchants/${merchantId}/books/sandbox`);
    for (const { currency, accounts } of json.currencies as { currency: string; accounts: never[] }[])
      for (const { account, balance_minor: balance } of accounts as { account: string; balance_minor: number }[])
        sums.set(`${currency} ${account}`, (sums.get(`${currency} ${account}`) ?? 0) + balance);
  }
  const { books, currencies } = await trial(always);
  expect(books).toBe(2);
  expect(currencies.map(({ currency }) => currency)).toEqual(["IDR", "USD"]);
  const shown = currencies.flatMap(({ currency, accounts }) =>
    accounts.map(({ account, closing_minor: closing }) => [`${currency} ${account}`, closing] as const),
  );
  expect(Object.fromEntries(shown)).toEqual(
    Object.fromEntries([...sums].filter(([name]) => shown.some(([other]) => other === name))),
  );
  for (const [name, balance] of sums) if (balance !== 0) expect(shown.map(([other]) => other)).toContain(name);
  for (const { accounts } of currencies) {
    expect(accounts.reduce((sum, { closing_minor: closing }) => sum + closing, 0)).toBe(0);
    expect(accounts.reduce((sum, { opening_minor: opening }) => sum + opening, 0)).toBe(0);
    expect(accounts.length).toBeGreaterThan(2);
  }
});

test("each day begins where the day before ended, and says what the statements of the books say", async () => {
  let before = new Map<string, number>();
  for (const day of days) {
    const { currencies } = await trial(`from=${day}&to=${day}`);
    const ends = new Map<string, number>();
    for (const { currency, accounts } of currencies) {
      for (const { account, opening_minor: opening, added_minor: added, closing_minor: closing } of accounts) {
        expect(opening).toBe(before.get(`${currency} ${account}`) ?? 0);
        expect(added).toBe(closing - opening);
        ends.set(`${currency} ${account}`, closing);
        const path = `balances/${currency}/statement?account=${account}&from=${day}&to=${day}`;
        const statements = await Promise.all(
          shops.map(({ merchantId }) => service.askOperator(`/merchants/${merchantId}/books/sandbox/${path}`)),
        );
        expect(statements.reduce((sum, { json }) => sum + (json.closing_minor as number), 0)).toBe(closing);
      }
      expect(accounts.reduce((sum, { added_minor: added }) => sum + added, 0)).toBe(0);
    }
    before = ends;
  }
  expect(before.get("IDR platform:fees")).toBeLessThan(0);
  expect(before.get("IDR merchant:held")).toBe(-500_000);
});

test("the CSV has each account of each book, with decimals, and ends with a line that says so", async () => {
  const [head, ...rows] = await rowsOf(`from=${days[1]}&to=${days[2]}`);
  expect(head?.slice(0, 6)).toEqual([
    "merchant_id",
    "currency",
    "account",
    "opening_minor",
    "added_minor",
    "closing_minor",
  ]);
  expect(rows.pop()).toEqual(["end"]);
  expect(new Set(rows.map(([merchant, ...rest]) => [merchant, rest.at(-1)].join(" ")))).toEqual(
    new Set([`${shops[0]?.merchantId} Toko Senja`, `${shops[1]?.merchantId} '=Kopi;'@Teh`]),
  );
  const { currencies } = await trial(`from=${days[1]}&to=${days[2]}`);
  for (const { currency, accounts } of currencies)
    for (const { account, closing_minor: closing } of accounts) {
      const own = rows.filter((row) => row[1] === currency && row[2] === account);
      expect(own.reduce((sum, row) => sum + Number(row[5]), 0)).toBe(closing);
    }
  for (const row of rows) for (const at of [3, 4, 5]) expect(row[at + 3]).toBe((Number(row[at]) / 100).toFixed(2));
});

test("books are read some at a time, all accounts of one book together", async () => {
  const database = openDatabase(service.database);
  const period = { from: 0, before: Date.parse("2199-01-01") * 1_000 };
  const all = await database.query<AccountRow>(selectAccounts("sandbox", period, undefined, 200));
  const walked: AccountRow[] = [];
  for (let after: string | undefined; ;) {
    const rows = await database.query<AccountRow>(selectAccounts("sandbox", period, after, 1));
    if (rows.length === 0) break;
    expect(new Set(rows.map(({ merchant_id: merchant }) => merchant)).size).toBe(1);
    after = rows[0]?.merchant_id;
    walked.push(...rows);
  }
  await database.end();
  expect(walked).toEqual(all);
  expect(new Set(all.map(({ merchant_id: merchant }) => merchant)).size).toBe(2);
});

test("the ends of the period are looked for once in each book, however many accounts it has", async () => {
  const database = openDatabase(service.database);
  const { text, values } = selectAccounts("sandbox", { from: 0, before: 1 }, undefined, 200);
  const plan = await database.query<{ "QUERY PLAN": string }>({
    text: `explain (analyze) ${text}`,
    values: values ?? [],
  });
  await database.end();
  const loops = plan.map((row) => / on journals j.* loops=(\d+)/.exec(row["QUERY PLAN"])?.[1]).filter(Boolean);
  expect(loops).toEqual(["2", "2"]);
});

test("at most two are read for one operator at once, and a wrong period takes no place", async () => {
  const [endpoint] = trialBalanceEndpoints({ query: () => new Promise(() => undefined) } as never);
  const read = (name: string, to: string) =>
    endpoint?.handle({ query: { environment: "sandbox", from: "2026-01-02", to }, operator: { name } } as never);
  for (let time = 0; time < 3; time++)
    await expect(read("sari", "2026-01-01")).rejects.toMatchObject({ code: "VALIDATION_ERROR" });
  void read("sari", "2026-01-03");
  void read("sari", "2026-01-03");
  await expect(read("sari", "2026-01-03")).rejects.toMatchObject({ code: "RATE_LIMITED" });
});

test.each([
  ["", "422 VALIDATION_ERROR from"],
  ["?from=2026-01-01", "422 VALIDATION_ERROR to"],
  ["?from=2026-01-02&to=2026-01-01", "422 VALIDATION_ERROR to"],
  ["?from=2026-01-01&to=2026-01-02&environment=x", "422 VALIDATION_ERROR environment"],
  ["?from=2026-01-01&to=2026-01-02&currency=IDR", "422 VALIDATION_ERROR currency"],
])("GET /trial-balance%s is answered with %s", async (query, expected) => {
  for (const path of ["/trial-balance", "/trial-balance.csv"])
    expect(outcomeOf(await ask("GET", `${path}${query}`))).toBe(expected);
});

test("production is what is shown when no environment is named, and no sandbox money stands in it", async () => {
  const { json } = await ask("GET", `/trial-balance?${always}`);
  expect(json).toMatchObject({ environment: "production", books: 0, currencies: [] });
});

test("a merchant with money in both environments stands in each with that environment's alone", async () => {
  const sandbox = await trial(always);
  const database = openDatabase(service.database);
  const { merchantId } = shops[0] as Shop;
  const book: Book = { merchantId, environment: "production" };
  const groupId = newId("payment", systemClock.now());
  const postings = capturePostings({ currency: "IDR", amountMinor: 1_000n, feeMinor: 7n, gatewayCode: "nusantara" });
  await postJournal(database, book, { kind: "capture", groupId, operationKey: `capture:${groupId}`, postings });
  await database.end();
  const { books, currencies } = (await ask("GET", `/trial-balance?${always}`)).json;
  expect(books).toBe(1);
  const account = (name: string, closing: number) => ({ account: name, opening_minor: 0, added_minor: closing, closing_minor: closing }); // prettier-ignore
  expect(currencies).toMatchObject([
    {
      currency: "IDR",
      accounts: [
        account("acquirer:nusantara:receivable", 1_000),
        account("merchant:available", -993),
        account("platform:fees", -7),
      ],
    },
  ]);
  expect(await trial(always)).toEqual(sandbox);
});
