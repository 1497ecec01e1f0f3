// Goal: whatever people hold in their hands leads to what it is about. Method: a payment that much happened to, looked for by each of its names; texts
// that mean something to a database; merchants by their names.
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Client } from "../../../e2e/kit/client.ts";
import { type TestService, asOwner, paymentBody, startService } from "../../test/kit.ts";
import { VIEWER_TOKEN, operatorCaller, outcomeOf } from "../../test/operator.ts";
import { uuidOf } from "../ground/ids.ts";
import { operationKey } from "../acquiring/operation.ts";
import { operatorSearchEndpoint } from "./search.routes.ts";

interface Hit {
  kind: string;
  id: string;
  title: string;
  status: string | null;
  merchant_id: string;
  url: string | null;
}

const nobody = "0".repeat(26);
let service: TestService;
let shop: { client: Client; merchantId: string };
const held: Record<string, string> = {};
const ask = operatorCaller(() => service, [operatorSearchEndpoint({} as never)]);
const search = async (q: string): Promise<Hit[]> =>
  (await ask("GET", `/search?q=${encodeURIComponent(q)}`, { token: VIEWER_TOKEN })).json.data as Hit[];

beforeAll(async () => {
  service = await startService({ config: { operatorViewerToken: VIEWER_TOKEN } });
  shop = await service.merchant({ name: "Kopi Melati 100%" });
  await service.merchant({ name: "Toko Anggrek" });
  const { client } = shop;
  const customer = { name: "Sari", email: "Sari@People.example", phone: "+6281234567890" };
  const created = await client.post(
    "/v1/payments",
    paymentBody({ amount_minor: 900_000, reference_id: "order-77", customer }),
  );
  const payment = created.json.reference as string;
  await client.post(`/v1/sandbox/payments/${payment}/simulate`, { outcome: "succeeded" });
  held.payment = payment;
  held.refund = (await client.post("/v1/refunds", { payment_reference: payment, amount_minor: 5 })).json.uuid as string;
  const other = (await client.post("/v1/payments", paymentBody({ amount_minor: 900_000 }))).json.reference as string;
  await client.post(`/v1/sandbox/payments/${other}/simulate`, { outcome: "succeeded" });
  held.settlement = (await client.post("/v1/sandbox/settlements/run", {})).json.data[0].uuid as string;
  const paid = { bank_reference: "TRF20261201077" };
  await service.operate("POST", `/merchants/${shop.merchantId}/books/sandbox/settlements/${held.settlement}/pay`, paid);
  const third = (await client.post("/v1/payments", paymentBody())).json.reference as string;
  await client.post(`/v1/sandbox/payments/${third}/simulate`, { outcome: "succeeded" });
  held.dispute = (await client.post(`/v1/sandbox/payments/${third}/dispute`, { reason: "general" })).json
    .uuid as string;
  held.event = (await client.get("/v1/events")).json.data[0].id as string;
  const entries = await service.askOperator(`/merchants/${shop.merchantId}/books/sandbox/balances/IDR/entries`);
  held.journal = entries.json.data[0].journal as string;
  held.merchant = shop.merchantId;
  await asOwner(service.database, async (owner) => {
    await owner.query("set session_replication_role = replica");
    await owner.query(
      `insert into receipts (merchant_id, environment, receipt_id, gateway_code, transaction_id, payment_id, amount_minor, currency, status, received_at)
values ($1, 'sandbox', gen_random_uuid(), 'nusantara', 'NQR-77', $2, 900000, 'IDR', 'unapplied', now()),
  ($1, 'sandbox', gen_random_uuid(), 'nusantara', 'NQR-78', $2, 900000, 'IDR', 'applied', now())`,
      [uuidOf(shop.merchantId), uuidOf(payment)],
    );
  });
});
afterAll(() => service.stop());

test.each(["payment", "refund", "settlement", "dispute", "event", "journal", "merchant"])(
  "a %s is found by its identity, with whose it is and where it is read",
  async (kind) => {
    const hits = await search(` ${held[kind]} `);
    expect(hits).toMatchObject([{ kind, id: held[kind], merchant_id: shop.merchantId }]);
    const { url } = hits[0] as Hit;
    if (url === null) return;
    expect(url).toMatch(new RegExp(`/${held[kind]}$`));
    expect((await service.askOperator(url.replace("/ops/v1", ""))).status, url).toBe(200);
  },
);

test("a payout is found by the reference on the bank's account, and by nothing shorter", async () => {
  expect(await search("TRF20261201077")).toMatchObject([{ kind: "settlement", id: held.settlement, status: "paid" }]);
  expect(await search("TRF2026120107")).toEqual([]);
});

test.each<[string, () => string]>([
  ["its reference_id", () => "order-77"],
  ["the payer's e-mail address, in capitals or not", () => "sari@people.EXAMPLE"],
  ["the payer's telephone", () => "+6281234567890"],
  [
    "the operation key that an acquirer knows it by",
    () =>
      operationKey({
        book: { merchantId: shop.merchantId, environment: "sandbox" },
        id: held.payment ?? "",
        attempt: 2,
      }),
  ],
])("a payment is found by %s", async (_what, text) => {
  expect((await search(text())).filter(({ kind }) => kind === "payment").map(({ id }) => id)).toEqual([held.payment]);
});

test("of the payments of a telephone the newest eight are found, whether it came alone or with an e-mail address", async () => {
  const { client } = await service.merchant({ name: "Warung Kenanga" });
  const phone = "+6289876543210";
  const made: string[] = [];
  for (let at = 0; at < 18; at++) {
    const customer = at % 2 === 0 ? { phone } : { phone, email: "ani@people.example" };
    made.unshift((await client.post("/v1/payments", paymentBody({ customer }))).json.reference as string);
  }
  expect((await search(phone)).map(({ id }) => id)).toEqual(made.slice(0, 8));
});

test("money is found by its acquirer's transaction", async () => {
  const [waiting] = await search("NQR-77");
  expect(waiting).toMatchObject({ kind: "receipt", title: "NQR-77", merchant_id: shop.merchantId });
  expect((await service.askOperator(waiting?.url?.replace("/ops/v1", "") ?? "")).json.receipt.uuid).toBe(waiting?.id);
});

test("money that waits for no decision is found with what it paid, and where it is listed", async () => {
  const [payment, applied] = await search("NQR-78");
  expect(payment).toMatchObject({ kind: "payment", id: held.payment });
  const { json } = await service.askOperator(applied?.url?.replace("/ops/v1", "") ?? "");
  expect((json.data as { uuid: string }[]).map(({ uuid }) => uuid)).toContain(applied?.id);
});

test("a merchant is found by a credential and by a part of its name, in which no character means anything else", async () => {
  const { json } = await service.askOperator(`/merchants/${shop.merchantId}/credentials`);
  expect(await search(json.data[0].client_id as string)).toMatchObject([{ kind: "merchant", id: shop.merchantId }]);
  expect((await search("mElAtI")).map(({ id }) => id)).toEqual([shop.merchantId]);
  expect((await search("100%")).map(({ id }) => id)).toEqual([shop.merchantId]);
  for (const text of ["%%", "__", "k%i", "' or true --", "\\\\", "toko' "])
    expect(await search(text), text).toEqual([]);
});

test("merchants are listed by a part of their name, page by page", async () => {
  const listed = async (query: string) =>
    ((await service.askOperator(`/merchants${query}`)).json.data as { name: string }[]).map(({ name }) => name);
  expect(await listed("?name=MELATI")).toEqual(["Kopi Melati 100%"]);
  expect(await listed("?name=%25")).toEqual(["Kopi Melati 100%"]);
  expect(await listed("?name=o&limit=1")).toEqual(["Toko Anggrek"]);
  const { json } = await service.askOperator("/merchants?name=o&limit=1");
  expect(await listed(`?name=o&limit=1&starting_after=${json.next_cursor}`)).toEqual(["Kopi Melati 100%"]);
  expect(outcomeOf(await service.askOperator("/merchants?name="))).toBe("422 VALIDATION_ERROR name");
});

test.each([`pay_${nobody}`, `rfd_${nobody}`, `req_${nobody}`, `mer_${nobody}`, "nothing like it", "a@b.example", "  "])(
  "%j is nobody's, and nothing is found",
  async (q) => expect(await search(q)).toEqual([]),
);

test.each([
  ["", "422 VALIDATION_ERROR q"],
  ["?q=a", "422 VALIDATION_ERROR q"],
  ["?q=%00%00", "422 VALIDATION_ERROR q"],
  [`?q=${"x".repeat(255)}`, "422 VALIDATION_ERROR q"],
  ["?q=ab&limit=5", "422 VALIDATION_ERROR limit"],
])("GET /ops/v1/search%s is answered with %s", async (query, expected) => {
  expect(outcomeOf(await ask("GET", `/search${query}`))).toBe(expected);
});
