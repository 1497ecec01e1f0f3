// Goal: an operator sees where all money of a book stands, and why. Method: a book in which everything happened once; each
// total is explained entry by entry, and the two must agree to the last unit.
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Answer } from "../../../e2e/kit/client.ts";
import { alsoIn } from "../../test/currencies.ts";
import { defaultSettings } from "../merchants/settings.ts";
import { type TestService, asOwner, paymentBody, startService } from "../../test/kit.ts";
import { uuidOf } from "../ground/ids.ts";
import { bookEndpoints } from "./books.routes.ts";

const [readBook, explain] = bookEndpoints({} as never, {} as never);

interface AccountTotal {
  account: string;
  debit_minor: number | null;
  credit_minor: number | null;
  balance_minor: number | null;
}

let service: TestService;
let merchantId: string;
let path: string;
beforeAll(async () => {
  service = await startService();
  const made = await service.merchant({ settings: alsoIn(defaultSettings, "USD") });
  merchantId = made.merchantId;
  path = `/merchants/${merchantId}/books/sandbox`;
  const { client } = made;
  const pay = async (changes: Record<string, unknown> = {}): Promise<string> => {
    const { reference } = (await client.post("/v1/payments", paymentBody({ amount_minor: 1_000_000, ...changes })))
      .json;
    await client.post(`/v1/sandbox/payments/${reference}/simulate`, { outcome: "succeeded" });
    return reference as string;
  };
  for (let count = 0; count < 4; count++) await pay();
  await pay({ payment_method: "ewallet" });
  await pay({ payment_method: "card", currency: "USD" });
  await client.post("/v1/refunds", { payment_reference: await pay(), amount_minor: 300_000 });
  await client.post("/v1/sandbox/settlements/run", {});
  const [batch] = (await client.get("/v1/settlements")).json.data;
  await client.post(`/v1/sandbox/settlements/${batch.uuid}/pay`, {});
  await client.post(`/v1/sandbox/payments/${await pay()}/dispute`, { reason: "general", amount_minor: 250_000 });
});
afterAll(() => service.stop());

async function book(at = path): Promise<Answer["json"]> {
  const { status, json } = await service.askOperator(at);
  expect(status).toBe(200);
  return readBook?.success.schema.parse(json);
}

const outcome = ({ status, json }: Answer): string => `${status} ${json.error?.code} ${json.error?.details?.field}`;

test("every account has its totals in every currency, in the sum they are zero, and the chain's end is told", async () => {
  const { currencies, ...rest } = await book();
  const { rows } = await asOwner(service.database, (owner) =>
    owner.query<{ seq: string; hash: Buffer }>(
      "select seq, hash from journals where merchant_id = $1 order by seq desc limit 1",
      [uuidOf(merchantId)],
    ),
  );
  expect(rest).toEqual({
    merchant_id: merchantId,
    environment: "sandbox",
    journals: Number(rows[0]?.seq),
    head_hash: rows[0]?.hash.toString("hex"),
  });
  expect(rest.journals).toBe((await service.operate("GET", `${path}/verify`)).journals);
  const names = (at: number): string[] => currencies[at].accounts.map(({ account }: AccountTotal) => account);
  expect(currencies.map(({ currency }: { currency: string }) => currency)).toEqual(["IDR", "USD"]);
  const permanent = ["merchant:available", "merchant:held", "merchant:settling"];
  const platform = ["platform:bank", "platform:fees", "platform:unapplied"];
  expect(names(0)).toEqual(["acquirer:nusantara:receivable", "acquirer:samudra:receivable", ...permanent, ...platform]);
  expect(names(1)).toEqual(["acquirer:samudra:receivable", ...permanent, ...platform]);
  for (const { accounts } of currencies as { accounts: AccountTotal[] }[]) {
    for (const { debit_minor, credit_minor, balance_minor } of accounts)
      expect(balance_minor).toBe(Number(debit_minor) - Number(credit_minor));
    expect(accounts.reduce((sum, { balance_minor }) => sum + Number(balance_minor), 0)).toBe(0);
  }
  const total = (name: string): AccountTotal =>
    currencies[0].accounts.find(({ account }: AccountTotal) => account === name);
  expect(total("acquirer:nusantara:receivable")).toMatchObject({ debit_minor: 6_000_000, credit_minor: 300_000 });
  expect(total("merchant:held").balance_minor).toBe(-250_000);
  expect(total("platform:unapplied")).toMatchObject({ debit_minor: 0, credit_minor: 0, balance_minor: 0 });
});

test("the entries of every account, page by page, add up to its totals", async () => {
  for (const { currency, accounts } of (await book()).currencies) {
    for (const { account, debit_minor, credit_minor, balance_minor } of accounts as AccountTotal[]) {
      const amounts: number[] = [];
      let newest: number | undefined;
      let cursor = "";
      do {
        const query = `account=${account}&limit=2${cursor && `&starting_after=${cursor}`}`;
        const { json } = await service.askOperator(`${path}/balances/${currency}/entries?${query}`);
        explain?.success.schema.parse(json);
        newest ??= json.data[0]?.figure_after_minor;
        amounts.push(...json.data.map((entry: { amount_minor: number }) => entry.amount_minor));
        cursor = (json.next_cursor as string | null) ?? "";
      } while (cursor !== "");
      const sum = (sign: number): number =>
        amounts.filter((amount) => amount * sign > 0).reduce((total, amount) => total + amount * sign, 0);
      expect([sum(1), sum(-1), newest ?? 0], `${account} ${currency}`).toEqual([
        debit_minor,
        credit_minor,
        balance_minor,
      ]);
    }
  }
});

test("a figure is explained as the merchant is told it", async () => {
  const client = await service.client(merchantId);
  for (const query of ["", "?figure=held", "?figure=pending_settlement&limit=1"]) {
    const own = (await client.get(`/v1/balances/IDR/entries${query}`)).json;
    expect((await service.askOperator(`${path}/balances/IDR/entries${query}`)).json, query).toEqual(own);
    expect(own.data.length).toBeGreaterThan(0);
  }
  const { json } = await client.get("/v1/balances/IDR/entries?account=platform:fees");
  expect([json.error.code, json.error.details.field]).toEqual(["VALIDATION_ERROR", "account"]);
});

test("a book in which nothing happened has its accounts, at zero", async () => {
  const { journals, head_hash, currencies } = await book(path.replace("sandbox", "production"));
  expect([journals, head_hash]).toEqual([0, "0".repeat(64)]);
  for (const { accounts } of currencies as { accounts: AccountTotal[] }[]) {
    expect(accounts).toHaveLength(6);
    for (const { debit_minor, credit_minor, balance_minor } of accounts)
      expect([debit_minor, credit_minor, balance_minor]).toEqual([0, 0, 0]);
  }
});

test.each([
  ["/balances/ZZZ/entries", "422 VALIDATION_ERROR currency"],
  ["/balances/IDR/entries?account=merchant:wallet", "422 VALIDATION_ERROR account"],
  ["/balances/IDR/entries?account=acquirer::receivable", "422 VALIDATION_ERROR account"],
  ["/balances/IDR/entries?account=constructor", "422 VALIDATION_ERROR account"],
  ["/balances/IDR/entries?account=merchant:held&figure=held", "422 VALIDATION_ERROR account"],
  ["/balances/IDR/entries?account=merchant:held&starting_after=x", "422 VALIDATION_ERROR starting_after"],
  [
    "/balances/IDR/entries?account=merchant:held&starting_after=999999999999999999-1",
    "422 VALIDATION_ERROR starting_after",
  ],
  ["/balances/idr/entries?account=merchant:held", "422 VALIDATION_ERROR currency"],
  ["?currency=IDR", "422 VALIDATION_ERROR currency"],
])("%s is refused with %s", async (rest, expected) => {
  expect(outcome(await service.askOperator(path + rest))).toBe(expected);
});

test("books of nobody, and of no environment, are not found", async () => {
  for (const wrong of [path.replace(merchantId, `mer_${"0".repeat(26)}`), path.replace("sandbox", "live")])
    expect(outcome(await service.askOperator(wrong))).toBe("404 OBJECT_NOT_FOUND undefined");
});

test("a total that a JSON number cannot carry is left out rather than rounded", async () => {
  const { merchantId: rich } = await service.merchant();
  await asOwner(service.database, (owner) =>
    owner.query("insert into balances values ($1, 'sandbox', 'platform:bank', 'IDR', 7, 9007199254740999)", [
      uuidOf(rich),
    ]),
  );
  const [{ accounts }] = (await book(`/merchants/${rich}/books/sandbox`)).currencies;
  expect(accounts.find(({ account }: AccountTotal) => account === "platform:bank")).toMatchObject({
    debit_minor: 7,
    credit_minor: null,
    balance_minor: null,
  });
});

test("why this number: the entries behind each figure lead from the newest back to nothing", async () => {
  const { client, merchantId } = await service.merchant();
  const { json: payment } = await client.post("/v1/payments", paymentBody({ amount_minor: 1_000_000 }));
  await client.post(`/v1/sandbox/payments/${payment.reference}/simulate`, { outcome: "succeeded" });
  await client.post("/v1/refunds", { payment_reference: payment.reference, amount_minor: 100_000 });
  await client.post("/v1/sandbox/settlements/run", {});
  const list = async (query = ""): Promise<Answer["json"]> =>
    (await client.get(`/v1/balances/IDR/entries${query}`)).json;
  const { data } = await list();
  expect(data.map(({ kind, amount_minor: amount }: { kind: string; amount_minor: number }) => [kind, amount])).toEqual([
    ["settlement_formed", -(payment.net_minor - 100_000)],
    ["refund", -100_000],
    ["capture", payment.net_minor],
  ]);
  expect(data.map(({ figure_after_minor: after }: { figure_after_minor: number }) => after)).toEqual([
    0,
    payment.net_minor - 100_000,
    payment.net_minor,
  ]);
  expect((await list("?figure=pending_settlement")).data).toHaveLength(1);
  const first = await list("?limit=2");
  expect((await list(`?limit=2&starting_after=${first.next_cursor}`)).data).toEqual(data.slice(2));
  expect(await service.operate("GET", `/merchants/${merchantId}/books/sandbox/balances/IDR/entries`)).toEqual(
    await list(),
  );
  expect((await client.get("/v1/balances/rupiah/entries")).json.error.code).toBe("VALIDATION_ERROR");
  expect((await client.get("/v1/balances/IDR/entries?figure=all")).json.error.code).toBe("VALIDATION_ERROR");
});
