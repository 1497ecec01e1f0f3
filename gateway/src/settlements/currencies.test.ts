// Goal: in a currency with no, three or four decimals every unit is accounted for, from the fee to the payout and in every export. Method: a whole
// service; one merchant's payments of odd amounts, refunded to the last unit, contested, lost and paid out; sums that are made here.
import { afterAll, beforeAll, expect, test } from "vitest";
import { type TestService, openDatabase, paymentBody, startService } from "../../test/kit.ts";
import { alsoIn } from "../../test/currencies.ts";
import { exportBook } from "../ledger/export.ts";
import { readJournals, verifyBook } from "../ledger/verify.ts";
import { defaultSettings } from "../merchants/settings.ts";

let service: TestService;
beforeAll(async () => {
  service = await startService({ roles: ["api"] });
});
afterAll(() => service.stop());

const currencies = ["JPY", "VND", "KWD", "CLF"];

/** Amounts of payments by card, whose fee is 2.9 %: a half unit rounds up, and the fee of what is too small is nothing. */
const amounts = [
  [1, 0],
  [17, 0],
  [18, 1],
  [50, 1],
  [500, 15],
  [1_234_567, 35_802],
] as const;

test.each([
  ["JPY", 0, "1199261"],
  ["VND", 0, "1199261"],
  ["KWD", 3, "1199.261"],
  ["CLF", 4, "119.9261"],
])(
  "of %s, which has %i decimals, every unit is paid back, lost, kept as a fee or paid out",
  async (currency, exponent, net) => {
    const { client, merchantId } = await service.merchant({ settings: alsoIn(defaultSettings, ...currencies) });
    const book = { merchantId, environment: "sandbox" } as const;
    const pay = async (amount_minor: number) => {
      const { json } = await client.post(
        "/v1/payments",
        paymentBody({ amount_minor, currency, payment_method: "card" }),
      );
      await client.post(`/v1/sandbox/payments/${json.reference}/simulate`, { outcome: "succeeded" });
      return json;
    };
    for (const [amount, fee] of amounts)
      expect(await pay(amount)).toMatchObject({ exponent, fee_minor: fee, net_minor: amount - fee });

    // Its fee of 44 stays when all of it goes back, part by part.
    const { reference } = await pay(1_500);
    const parts = [
      [499, 201],
      [1_000, 201],
      [2, 422],
      [1, 201],
      [1, 422],
    ] as const;
    for (const [amount_minor, expected] of parts)
      expect((await client.post("/v1/refunds", { payment_reference: reference, amount_minor })).status).toBe(expected);
    expect((await client.get(`/v1/payments/${reference}`)).json).toMatchObject({
      status: "refunded",
      refunded_minor: 1_500,
    });

    // A part is contested and lost; the rest can be given back, to the last unit.
    const { reference: contested } = await pay(1_001);
    const dispute = { reason: "general", amount_minor: 3 };
    const { uuid } = (await client.post(`/v1/sandbox/payments/${contested}/dispute`, dispute)).json;
    expect((await client.post(`/v1/sandbox/disputes/${uuid}/resolve`, { outcome: "lost" })).json.status).toBe("lost");
    const rest = await client.post("/v1/refunds", { payment_reference: contested, amount_minor: 998 });
    expect(rest.json).toMatchObject({ status: "succeeded", remaining_refundable_minor: 0 });

    const gross = 1_235_153 + 1_500 + 1_001;
    const fees = 35_819 + 44 + 29;
    const back = 1_500 + 3 + 998;
    const [batch, ...others] = (await client.post("/v1/sandbox/settlements/run", {})).json.data;
    expect(others).toEqual([]);
    expect(batch).toMatchObject({
      currency,
      exponent,
      gross_minor: gross,
      fee_minor: fees,
      refund_minor: back,
      net_minor: gross - fees - back,
    });
    const lines = (await client.get(`/v1/settlements/${batch.uuid}/statement`)).text.trimEnd().split("\r\n");
    const [names = [], ...rows] = lines.map((line) => line.split(","));
    const column = (name: string): string[] => rows.map((row) => row[names.indexOf(name)] ?? "");
    const nets = column("net_minor").map(Number);
    expect(nets.slice(0, -1).reduce((sum, one) => sum + one, 0)).toBe(nets.at(-1));
    expect([nets.at(-1), column("net").at(-1)]).toEqual([gross - fees - back, net]);

    await client.post(`/v1/sandbox/settlements/${batch.uuid}/pay`, {});
    const balance = (await client.get("/v1/balances")).json.data.find(
      (one: { currency: string }) => one.currency === currency,
    );
    expect(balance).toEqual({ currency, exponent, available_minor: 0, held_minor: 0, pending_settlement_minor: 0 });
    const database = openDatabase(service.database);
    try {
      expect((await verifyBook(database, book)).wrong).toBeUndefined();
      let text = "";
      for await (const chunk of exportBook("beancount", book, readJournals(database, book))) text += chunk;
      expect(text).toContain(`balance Assets:Platform:Bank  -${net} ~ 0 ${currency}`);
    } finally {
      await database.end();
    }
  },
);
