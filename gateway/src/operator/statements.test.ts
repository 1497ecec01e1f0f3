// Goal: a statement says what the ledger says. Method: a book in which money moved in two currencies on three days of its own clock, beside a busier
// book; each day's statement, page by page and as CSV, held against the entries of the account; and the statements of a settlement batch.
import type { Readable } from "node:stream";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Client } from "../../../e2e/kit/client.ts";
import { alsoIn } from "../../test/currencies.ts";
import { merchantWith } from "../../test/given.ts";
import { type TestService, lanesOn, openDatabase, paymentBody, startService } from "../../test/kit.ts";
import { VIEWER_TOKEN, operatorCaller, outcomeOf } from "../../test/operator.ts";
import { refundParts } from "../../test/refunds.ts";
import { SECOND, systemClock, wireTime } from "../ground/clock.ts";
import { newId } from "../ground/ids.ts";
import type { Directory } from "../merchants/directory.ts";
import { defaultSettings } from "../merchants/settings.ts";
import { createRefund } from "../refunds/refunds.ts";
import { statementEndpoints } from "./statements.routes.ts";

interface Movement {
  id: string;
  amount_minor: number;
  figure_after_minor: number;
  posted_at: string;
}

let service: TestService;
let shop: { client: Client; merchantId: string };
let book: string;
const ask = operatorCaller(() => service, statementEndpoints({} as never, {} as never));

async function paid(amount_minor: number, changes: Record<string, unknown> = {}, { client } = shop): Promise<string> {
  const { reference } = (await client.post("/v1/payments", paymentBody({ amount_minor, ...changes }))).json;
  await client.post(`/v1/sandbox/payments/${reference}/simulate`, { outcome: "succeeded" });
  return reference as string;
}

const today = async (): Promise<string> =>
  ((await shop.client.get("/v1/sandbox/clock")).json.now as string).slice(0, 10);

const days: string[] = [];
beforeAll(async () => {
  service = await startService({ config: { operatorViewerToken: VIEWER_TOKEN } });
  shop = await service.merchant({ settings: alsoIn(defaultSettings, "USD") });
  // A book of higher numbers, which no statement of the shop's may look into.
  const busier = await service.merchant();
  for (let count = 0; count < 10; count++) await paid(5_000_000, {}, busier);
  book = `/merchants/${shop.merchantId}/books/sandbox`;
  for (let day = 0; day < 3; day++) {
    days.push(await today());
    // What was paid on the day before is paid out on this one.
    await shop.client.post("/v1/sandbox/settlements/run", {});
    const reference = await paid(1_000_000 + day);
    if (day === 1) await shop.client.post("/v1/refunds", { payment_reference: reference, amount_minor: 300_000 });
    // The last journal of a day is in another currency.
    await paid(70_000 + day, { currency: "USD", payment_method: "card" });
    await shop.client.post("/v1/sandbox/clock/advance", { seconds: 86_400 });
  }
});
afterAll(() => service.stop());

const statement = async (query: string) =>
  (await ask("GET", `${book}/balances/IDR/statement${query}`, { token: VIEWER_TOKEN })).json as {
    opening_minor: number;
    closing_minor: number;
    movements: Movement[];
    figure: string | null;
    has_more: boolean;
    next_cursor: string;
  };

describe.each(["figure=available", "figure=pending_settlement", "account=merchant:available", "account=platform:fees"])(
  "a statement of %s",
  (asked) => {
    test("begins where the one before it ended, and its movements lead from one end to the other", async () => {
      let balance = 0;
      for (const day of days) {
        const { opening_minor, closing_minor, movements } = await statement(
          `?${asked}&from=${day}&to=${day}&limit=100`,
        );
        expect(opening_minor).toBe(balance);
        for (const { amount_minor, figure_after_minor, posted_at } of movements) {
          balance += amount_minor;
          expect(figure_after_minor).toBe(balance);
          expect(posted_at.slice(0, 10)).toBe(day);
        }
        expect(closing_minor).toBe(balance);
      }
      const { json } = await service.askOperator(`${book}/balances/IDR/entries?${asked}&limit=100`);
      const all = (await statement(`?${asked}&from=2020-01-01&to=2199-01-01&limit=100`)).movements;
      expect(all.toReversed()).toEqual(json.data);
      expect(all).not.toEqual([]);
    });

    test("says the same page by page and as CSV", async () => {
      const range = `?${asked}&from=${days[0]}&to=${days[2]}`;
      const { movements, opening_minor, closing_minor } = await statement(`${range}&limit=100`);
      const walked: Movement[] = [];
      for (let cursor = ""; ;) {
        const one = await statement(`${range}&limit=1${cursor}`);
        walked.push(...one.movements);
        if (!one.has_more) break;
        cursor = `&starting_after=${one.next_cursor}`;
      }
      expect(walked).toEqual(movements);
      const { text, headers } = await ask("GET", `${book}/balances/IDR/statement.csv${range}`);
      expect(headers.get("content-type")).toBe("text/csv; charset=utf-8");
      const [, name] = asked.split("=");
      expect(headers.get("content-disposition")).toContain(
        `statement-${shop.merchantId}-sandbox-${name?.replaceAll(":", "-")}-IDR-${days[0]}-${days[2]}.csv`,
      );
      const rows = text
        .trimEnd()
        .split("\r\n")
        .map((line) => line.split(","));
      expect(rows.map(([what]) => what)).toEqual(["what", "opening", ...movements.map(() => "movement"), "closing"]);
      expect(rows.slice(2, -1).map((row) => [Number(row[6]), Number(row[7])])).toEqual(
        movements.map(({ amount_minor, figure_after_minor }) => [amount_minor, figure_after_minor]),
      );
      expect([Number(rows[1]?.[7]), Number(rows.at(-1)?.[7])]).toEqual([opening_minor, closing_minor]);
      // The two signs of one account are told apart, and each amount is there with its decimals.
      const { figure } = await statement(range);
      expect(figure).toBe(asked.startsWith("figure=") ? name : null);
      expect(new Set(rows.slice(1).map((row) => row[8]))).toEqual(new Set([name]));
      const decimals = rows.slice(1).flatMap((row) => [9, 10].map((at) => [row[at - 3], row[at]]));
      const inDecimals = (minor = ""): string => (minor === "" ? "" : (Number(minor) / 100).toFixed(2));
      for (const [minor, decimal] of decimals) expect(decimal).toBe(inDecimals(minor));
    });
  },
);

test("before anything moved, and after, both ends are the same and nothing is between them", async () => {
  expect(await statement("?from=2020-01-01&to=2020-12-31")).toMatchObject({
    opening_minor: 0,
    closing_minor: 0,
    movements: [],
  });
  const { opening_minor, closing_minor, movements } = await statement("?from=2190-01-01&to=2190-01-01");
  expect([closing_minor, movements]).toEqual([opening_minor, []]);
});

test("adds up where the process that posted first has the faster clock", async () => {
  const { client, merchantId } = await service.merchant();
  const hurried = await startService({
    database: service.database,
    clock: { now: () => systemClock.now() + 90 * SECOND },
    watchClock: false,
    roles: ["api"],
  });
  const pay = async (by: Client): Promise<void> => {
    const { reference } = (await by.post("/v1/payments", paymentBody())).json;
    await by.post(`/v1/sandbox/payments/${reference}/simulate`, { outcome: "succeeded" });
  };
  await pay(await hurried.client(merchantId));
  await hurried.stop();
  await pay(client);
  const of = async (from: string, to: string) =>
    (await ask("GET", `/merchants/${merchantId}/books/sandbox/balances/IDR/statement?from=${from}&to=${to}&limit=100`))
      .json;
  const all = await of("2020-01-01", "2199-12-31");
  const [first, second] = all.movements as Movement[];
  expect(Date.parse(first?.posted_at ?? "")).toBeGreaterThan(Date.parse(second?.posted_at ?? ""));
  // The second of the later journal: the period ends before the earlier one.
  const at = second?.posted_at ?? "";
  const [before, within, after] = [
    await of("2020-01-01", wireTime(Date.parse(at) * 1_000 - SECOND)),
    await of(at, at),
    await of(wireTime(Date.parse(at) * 1_000 + SECOND), "2199-12-31"),
  ];
  for (const { opening_minor, closing_minor, movements } of [before, within, after])
    expect((movements as Movement[]).reduce((sum, one) => sum + one.amount_minor, opening_minor)).toBe(closing_minor);
  expect([within.opening_minor, after.opening_minor]).toEqual([before.closing_minor, within.closing_minor]);
  expect([before, within, after].flatMap(({ movements }) => movements as Movement[])).toEqual(all.movements);
});

test("a refund that waited for a second operator stands in the statement of the day on which it moved money", async () => {
  const { client, merchantId } = await service.merchant();
  const pay = async (): Promise<string> => {
    const { reference } = (await client.post("/v1/payments", paymentBody({ amount_minor: 1_000_000 }))).json;
    await client.post(`/v1/sandbox/payments/${reference}/simulate`, { outcome: "succeeded" });
    return reference as string;
  };
  const nextDay = async (): Promise<string> => {
    const { json } = await client.post("/v1/sandbox/clock/advance", { seconds: 86_400 });
    return (json.now as string).slice(0, 10);
  };
  const reference = await pay();
  const first = await nextDay();
  await pay();
  const second = await nextDay();
  // Asked for on the first day before anything moved, and carried out on the second one: the refund has the identity of its approval.
  const database = openDatabase(service.database);
  await lanesOn(database).move(
    merchantId,
    createRefund(
      refundParts("at once").parts,
      { merchant: { ...merchantWith(), merchantId }, book: { merchantId, environment: "sandbox" } },
      { payment_reference: reference },
      newId("refund", Date.parse(first) * 1_000),
    ),
  );
  await database.end();
  const ofDay = async (day: string) => {
    const { json } = await service.askOperator(
      `/merchants/${merchantId}/books/sandbox/balances/IDR/statement?from=${day}&to=${day}`,
    );
    return [json.opening_minor, json.movements.map(({ kind }: { kind: string }) => kind), json.closing_minor];
  };
  expect(await ofDay(first)).toEqual([993_000, ["capture"], 1_986_000]);
  expect(await ofDay(second)).toEqual([1_986_000, ["refund"], 986_000]);
});

test("a download that nobody reads leaves room for other operators", async () => {
  const database = openDatabase(service.database);
  const directory = { merchant: (id: string) => Promise.resolve({ merchantId: id }) } as unknown as Directory;
  const endpoint = statementEndpoints(database, directory).find(
    ({ operationId }) => operationId === "downloadBalanceStatement",
  );
  const params = { id: shop.merchantId, environment: "sandbox", currency: "IDR" };
  const query = { figure: "available", from: days[0], to: days[0] };
  const begin = async (name: string): Promise<Readable> => {
    const mayStill = () => Promise.resolve(true);
    const { stream } = (await endpoint?.handle({ params, query, operator: { name }, mayStill } as never)) ?? {};
    if (!stream) throw new Error("a statement is a stream");
    return stream;
  };
  const [first, second] = [await begin("sari"), await begin("sari")];
  await expect(begin("sari")).rejects.toMatchObject({ code: "RATE_LIMITED" });
  expect((await (await begin("budi")).toArray()).join("")).toMatch(/^what,.*\r\nopening,(.*\r\n)+closing,.*\r\n$/);
  for (const stream of [first, second]) stream.destroy();
  await database.end();
});

test("a batch's statement has no formula for the operator's spreadsheet, and what was sent for the merchant's programs", async () => {
  const { client, merchantId } = await service.merchant();
  await paid(2_000_000, { reference_id: '=HYPERLINK("https://evil.example")' }, { client, merchantId });
  const { uuid } = (await client.post("/v1/sandbox/settlements/run", {})).json.data[0] as { uuid: string };
  const own = (await client.get(`/v1/settlements/${uuid}/statement`)).text;
  expect(own).toContain(',"=HYPERLINK(""https://evil.example"")",');
  const { text } = await ask("GET", `/merchants/${merchantId}/books/sandbox/settlements/${uuid}/statement`);
  expect(text).toBe(own.replace('"=HYPERLINK', `"'=HYPERLINK`));
});

test("a settlement batch is read by the operator as by its merchant, and in its own environment alone", async () => {
  await paid(2_000_000);
  const { data } = (await shop.client.post("/v1/sandbox/settlements/run", {})).json;
  const { uuid } = data[0] as { uuid: string };
  expect((await ask("GET", `${book}/settlements/${uuid}`)).json).toMatchObject({ uuid, status: "processing" });
  const { text } = await ask("GET", `${book}/settlements/${uuid}/statement`);
  expect(text).toBe((await shop.client.get(`/v1/settlements/${uuid}/statement`)).text);
  const elsewhere = book.replace("sandbox", "production");
  expect(outcomeOf(await ask("GET", `${elsewhere}/settlements/${uuid}/statement`))).toBe("404 OBJECT_NOT_FOUND");
  const stranger = (await service.merchant()).merchantId;
  expect(outcomeOf(await ask("GET", `/merchants/${stranger}/books/sandbox/settlements/${uuid}`))).toBe(
    "404 OBJECT_NOT_FOUND",
  );
});

test.each([
  ["", "422 VALIDATION_ERROR from"],
  ["?from=2026-01-01", "422 VALIDATION_ERROR to"],
  ["?from=2026-01-02&to=2026-01-01", "422 VALIDATION_ERROR to"],
  ["?from=x&to=2026-01-01", "422 VALIDATION_ERROR from"],
  ["?from=2026-01-01&to=2026-02-30", "422 VALIDATION_ERROR to"],
  ["?from=2026-01-01&to=2026-01-02&account=x", "422 VALIDATION_ERROR account"],
  ["?from=2026-01-01&to=2026-01-02&account=platform:fees&figure=held", "422 VALIDATION_ERROR account"],
  ["?from=2026-01-01&to=2026-01-02&starting_after=x", "422 VALIDATION_ERROR starting_after"],
])("GET …/balances/IDR/statement%s is answered with %s", async (query, expected) => {
  expect(outcomeOf(await ask("GET", `${book}/balances/IDR/statement${query}`))).toBe(expected);
});

test.each([
  ["/balances/XXQ/statement?from=2026-01-01&to=2026-01-02", "422 VALIDATION_ERROR currency"],
  ["/settlements/set_1/statement", "404 OBJECT_NOT_FOUND"],
  [`/settlements/set_${"0".repeat(26)}`, "404 OBJECT_NOT_FOUND"],
])("GET …%s is answered with %s", async (path, expected) => {
  expect(outcomeOf(await ask("GET", `${book}${path}`))).toBe(expected);
});
