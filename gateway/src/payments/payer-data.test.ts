// Goal: what a merchant says of a payer can be read with the keys alone, is found again without being readable, and can be erased, while
// the books stay as they are. Method: pure seals; then a real service, and every table of its database read as text.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Client } from "../../../e2e/kit/client.ts";
import { type TestService, asOwner, openDatabase, paymentBody, startService } from "../../test/kit.ts";
import { payers } from "../../test/payers.ts";
import { type Browser, joins } from "../../test/portal.ts";
import { systemClock } from "../ground/clock.ts";
import { Vault } from "../ground/crypto.ts";
import { newId, uuidOf } from "../ground/ids.ts";
import type { Environment } from "../merchants/books.ts";
import type { Customer } from "../risk/risk.ts";
import { selectOfContact } from "./payer-data.sql.ts";
import { PayerData } from "./payer-data.ts";

const book = { merchantId: newId("merchant", 0), environment: "sandbox" } as const;
const row = { book, referenceId: "order-1" };
const sari: Customer = { name: "Sari Wijaya", email: "Sari@Pelanggan.ID", phone: "+628123456789" };

describe("a seal", () => {
  test("opens for its own payment alone, and shows nothing", async () => {
    const payer = payers.seal(row, sari);
    expect(await payers.open({ ...row, payer })).toEqual(sari);
    for (const text of ["Sari", "Pelanggan", "628123"]) expect(payer.sealed?.toString("latin1")).not.toContain(text);
    await expect(payers.open({ ...row, referenceId: "order-2", payer })).rejects.toThrow();
    await expect(payers.open({ ...row, book: { ...book, environment: "production" }, payer })).rejects.toThrow();
  });

  test("of nobody is none", async () => {
    const payer = payers.seal(row, undefined);
    expect(payer).toEqual({ customerKey: null, phoneKey: null, sealed: null, erasedAt: null });
    expect(await payers.open({ ...row, payer })).toBeUndefined();
  });
});

describe("a contact's key", () => {
  const keysOf = (customer: Customer) => {
    const { customerKey, phoneKey } = payers.seal(row, customer);
    return { customerKey, phoneKey };
  };

  test("is the same for either spelling of an address", () => {
    expect(keysOf({ email: "Sari@Pelanggan.ID" })).toEqual(keysOf({ email: "sari@pelanggan.id" }));
  });

  test("is one of its own, and a telephone's the same with and without an address", () => {
    const [email, phone] = ["sari@pelanggan.id", "+628123456789"];
    const both = keysOf({ email, phone });
    expect(both).toEqual({ customerKey: keysOf({ email }).customerKey, phoneKey: keysOf({ phone }).customerKey });
    expect(both.customerKey).not.toBe(both.phoneKey);
    expect(keysOf({ phone }).phoneKey).toBeNull();
    expect(keysOf({ name: "Sari" })).toEqual({ customerKey: null, phoneKey: null });
  });
});

describe("in a service", () => {
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

  const pay = async (customer: Customer, reference_id: string): Promise<string> =>
    (await client.post("/v1/payments", paymentBody({ customer, reference_id }))).json.reference as string;
  const customerOf = async (reference: string): Promise<unknown> =>
    (await owner.get(`/portal/v1/payments/${reference}/story`)).json.payment.customer;
  const found = async (q: string): Promise<string[]> =>
    (await owner.get(`/portal/v1/search?${String(new URLSearchParams({ q }))}`)).json.data.map(
      ({ id }: { id: string }) => id,
    );
  const erase = async (contacts: Customer) =>
    service.operate("POST", `/merchants/${merchantId}/books/sandbox/payers/erase`, { payer: contacts });
  /** Everything in the database as text, but what people of the portal are called. */
  const everything = (): Promise<string> =>
    asOwner(service.database, async (database) => {
      const { rows } = await database.query<{ name: string }>(
        "select table_name as name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'",
      );
      expect(rows.length).toBeGreaterThan(40);
      const texts: string[] = [];
      for (const { name } of rows) {
        const found = await database.query<{ text: string }>(`select t::text as text from ${name} t`);
        for (const { text } of found.rows) {
          // Bytes are written in hex: what could be read of them is looked at, too.
          const bytes = [...text.matchAll(/\\x([0-9a-f]+)/g)].map(([, hex]) => Buffer.from(hex ?? "", "hex"));
          texts.push(text, ...bytes.map((read) => read.toString("latin1")));
        }
      }
      return texts.join("\n").toLowerCase();
    });

  test("what a merchant says of a payer stands nowhere in the database, and is shown to the merchant", async () => {
    const reference = await pay(
      { name: "Qwertina", email: "qwertina@rumah.id", phone: "+62877665544" },
      "order-sealed",
    );
    await client.post(`/v1/sandbox/payments/${reference}/simulate`, { outcome: "succeeded" });
    const text = await everything();
    expect(text).toContain("order-sealed");
    for (const personal of ["qwertina", "rumah.id", "62877665544"]) expect(text).not.toContain(personal);
    expect(await customerOf(reference)).toEqual({
      name: "Qwertina",
      email: "qwertina@rumah.id",
      phone: "+62877665544",
    });
    expect(await found("Qwertina@rumah.id")).toEqual([reference]);
    expect(await found("+62877665544")).toEqual([reference]);
  });

  test("an erased payer is gone from all payments and found no more; the money stays where it is", async () => {
    const [email, phone] = ["budi@rumah.id", "+62811111111"];
    const both = await pay({ name: "Budi", email, phone }, "erase-1");
    const alone = await pay({ name: "Budi", phone }, "erase-2");
    const other = await pay({ name: "Ani", email: "ani@rumah.id" }, "erase-3");
    const elsewhere = await pay({ name: "Budi", email: "budi@kantor.id", phone }, "erase-4");
    for (const reference of [both, alone, other, elsewhere])
      await client.post(`/v1/sandbox/payments/${reference}/simulate`, { outcome: "succeeded" });
    const before = (await client.get("/v1/balances")).json.data;
    expect(await erase({ email: "BUDI@rumah.id" })).toEqual({ erased_payments: 1, complete: true });
    // By the telephone, also where the payment is found by an address first.
    expect(await erase({ phone })).toEqual({ erased_payments: 2, complete: true });
    expect(await erase({ email, phone })).toEqual({ erased_payments: 0, complete: true });
    expect([await customerOf(both), await customerOf(alone), await customerOf(elsewhere)]).toEqual([null, null, null]);
    expect(await customerOf(other)).toEqual({ name: "Ani", email: "ani@rumah.id" });
    expect([await found(email), await found(phone)]).toEqual([[], []]);
    expect((await client.get("/v1/balances")).json.data).toEqual(before);
    const refund = await client.post("/v1/refunds", { payment_reference: both, amount_minor: 1_000 });
    expect(refund.json.status).toBe("succeeded");
    expect((await everything()).match(/budi/g)).toBeNull();
  });

  test("who is to be erased stands in no audit, however an operator or an owner writes it", async () => {
    const email = "kuswandari@rumah.id";
    const path = `/merchants/${merchantId}/books/sandbox/payers/erase`;
    const wrong = [{ email }, { payers: [{ email }] }, { payer: [email] }, { [email]: null }];
    for (const body of wrong)
      for (const at of [path, path.replace(/erase$/, "%65rase"), `${path}?email=${email}`]) {
        await expect(service.operate("POST", at, body), at).rejects.toThrow("422");
        expect((await owner.post("/portal/v1/payers/erase", body)).status).toBe(422);
      }
    expect(await everything()).not.toContain("kuswandari");
    const { data } = (await service.askOperator(`/audit?merchant_id=${merchantId}&limit=100`)).json;
    const bodies = data
      .filter((one: { path: string }) => one.path.includes("payers"))
      .map((one: { body: unknown }) => one.body);
    expect(bodies).toEqual(Array.from({ length: 12 }, () => ({ payer: "(personal)" })));
  });

  test("nobody of another book is erased with them", async () => {
    const email = "same@rumah.id";
    const mine = await pay({ email }, "mine");
    const { client: theirs, merchantId: them } = await service.merchant();
    const theirPayment = (await theirs.post("/v1/payments", paymentBody({ customer: { email } }))).json.reference;
    const theirOwner = await joins(service, them);
    const database = openDatabase(service.database);
    const text = "select encode(customer_key, 'hex') as key from payments where payment_id = $1::uuid";
    const [row] = await database.query<{ key: string }>({ text, values: [uuidOf(mine)] });
    const found = async (environment: Environment): Promise<number> =>
      (await database.query(selectOfContact({ merchantId, environment }, [row?.key ?? ""], 10))).length;
    expect([await found("sandbox"), await found("production")]).toEqual([1, 0]);
    await database.end();
    expect(await erase({ email })).toEqual({ erased_payments: 1, complete: true });
    expect(await customerOf(mine)).toBeNull();
    const story = await theirOwner.get(`/portal/v1/payments/${theirPayment as string}/story`);
    expect(story.json.payment.customer).toEqual({ email });
  });

  test("the database lets a payer be erased, and never be another's", async () => {
    const reference = await pay({ email: "one@rumah.id" }, "fixed");
    const database = openDatabase(service.database);
    const set = (changes: string) =>
      database.query({
        text: `update payments set ${changes} where payment_id = $1::uuid`,
        values: [uuidOf(reference)],
      });
    try {
      for (const changes of [
        "customer_key = decode(repeat('00', 16), 'hex')",
        "customer_sealed = decode(repeat('00', 40), 'hex')",
        "customer_sealed = null",
      ])
        await expect(set(changes), changes).rejects.toThrow("who pays cannot change");
      await expect(set("payer_erased_at = now()")).rejects.toThrow("payments_payer_erased");
      const erased = "customer_sealed = null, customer_key = null, phone_key = null";
      await set(`payer_erased_at = now(), ${erased}`);
      await expect(set("customer_sealed = decode(repeat('00', 40), 'hex')")).rejects.toThrow("who pays cannot change");
    } finally {
      await database.end();
    }
  });

  test("what is sealed with a key that another process made is opened", async () => {
    const database = openDatabase(service.database);
    const other = new PayerData({ database, vault: new Vault("11".repeat(32)), clock: systemClock });
    try {
      await other.load();
      const before = other.seal({ book, referenceId: "a" }, sari);
      await other.addSealingKey();
      const next = new PayerData({ database, vault: new Vault("11".repeat(32)), clock: systemClock });
      await next.load();
      const after = next.seal({ book, referenceId: "b" }, sari);
      expect(after.sealed?.subarray(0, 5)).not.toEqual(before.sealed?.subarray(0, 5));
      expect(await other.open({ book, referenceId: "b", payer: after })).toEqual(sari);
      expect(await next.open({ book, referenceId: "a", payer: before })).toEqual(sari);
      expect(after.customerKey).toBe(before.customerKey);
    } finally {
      await database.end();
    }
  });
});
