// What the payer is told, from the documentation's example of each method; and what no payer is to be told.
import { describe, expect, test } from "vitest";
import { crc16 } from "../../acquirers/qris.ts";
import { type Micros, SECOND } from "../../ground/clock.ts";
import type { PaymentMethod } from "../../merchants/settings.ts";
import { type Transaction, readTransaction } from "./answers.ts";
import { instructionsOf, redirect } from "./instructions.ts";

const expiresAt: Micros = 1_795_442_820 * SECOND;
const expires_at = "2026-11-23T14:07:00Z";
const told = (method: PaymentMethod, amountMinor = 10_000_000n) => ({
  method,
  amountMinor,
  merchantName: "Toko Rani",
  expiresAt,
});

function transaction(change: object, gross = "100000.00", amountMinor = 10_000_000n): Transaction {
  const body = {
    status_code: "201",
    transaction_id: "30a689ba-7251-4052-b8a0-f677fd53e1be",
    order_id: "order-id-12312",
    gross_amount: gross,
    currency: "IDR",
    payment_type: "qris",
    transaction_status: "pending",
    ...change,
  };
  return readTransaction({ status: 200, body }, { orderId: "order-id-12312", amountMinor, currency: "IDR" });
}

// https://docs.midtrans.com/reference/charge-transactions-1
const qr_string =
  "00020101021226620014COM.GO-JEK.WWW011993600914337918182570210G3791818250303UKE51440014ID.CO.QRIS.WWW0215AID7720513752290303UKE" +
  "5204359353033605802ID5910PAPI LIVE26005KUKAR6105755535409100000.0062475036b1855b6c-70ab-4449-9778-61b8ffe43fd20703A016304C385";

describe("QRIS", () => {
  test("is the text of the code", () => {
    const instructions = instructionsOf(transaction({ qr_string }), told("qris"), false);
    expect(instructions).toEqual({ type: "qr_string", value: qr_string, qr_string, expires_at });
  });

  test("is not told again by an inquiry", () => {
    expect(instructionsOf(transaction({}), told("qris"), false)).toBeUndefined();
  });

  test("is not believed when its checksum is wrong, or its amount another one", () => {
    const changed = transaction({ qr_string: qr_string.replace("LIVE", "LIFE") });
    expect(() => instructionsOf(changed, told("qris"), false)).toThrow("checksum");
    const other = transaction({ qr_string }, "90000.00", 9_000_000n);
    expect(() => instructionsOf(other, told("qris", 9_000_000n), false)).toThrow("another amount");
    const open = qr_string.replace("5409100000.00", "").slice(0, -4);
    const none = transaction({ qr_string: open + crc16(open) });
    expect(() => instructionsOf(none, told("qris"), false)).toThrow("another amount");
  });
});

describe("a virtual account", () => {
  test.each([
    ["BCA", { va_numbers: [{ bank: "bca", va_number: "812785002530231" }] }, "014", "812785002530231"],
    ["BNI", { va_numbers: [{ bank: "bni", va_number: "9888500212345678" }] }, "009", "9888500212345678"],
    ["BRI", { va_numbers: [{ bank: "bri", va_number: "123456789123456789" }] }, "002", "123456789123456789"],
    ["CIMB", { va_numbers: [{ bank: "cimb", va_number: "2810123456789012" }] }, "022", "2810123456789012"],
    ["Permata", { permata_va_number: "8562000087926752" }, "013", "8562000087926752"],
  ])("at %s", (_, change, code, number) => {
    expect(instructionsOf(transaction(change), told("va"), false)).toMatchObject({
      type: "va_number",
      value: number,
      account_number: number,
      bank_code: code,
      account_name: "Toko Rani",
      expires_at,
    });
  });

  test("at Mandiri is a bill key beside the code of a biller", () => {
    const change = { payment_type: "echannel", biller_code: "70012", bill_key: "990000000260" };
    expect(instructionsOf(transaction(change), told("va"), false)).toEqual({
      type: "va_number",
      value: "990000000260",
      account_number: "990000000260",
      biller_code: "70012",
      bank_name: "Bank Mandiri",
      bank_code: "008",
      account_name: "Toko Rani",
      expires_at,
    });
  });

  test("at a bank that nobody asked for is not believed, and half a bill is none", () => {
    const elsewhere = transaction({ va_numbers: [{ bank: "constructor", va_number: "1" }] });
    expect(() => instructionsOf(elsewhere, told("va"), false)).toThrow("not known here");
    expect(instructionsOf(transaction({ bill_key: "990000000260" }), told("va"), false)).toBeUndefined();
    const atBni = transaction({ va_numbers: [{ bank: "bni", va_number: "9888500212345678" }] });
    expect(() => instructionsOf(atBni, { ...told("va"), bank: "bca" }, false)).toThrow("another bank");
    expect(instructionsOf(atBni, { ...told("va"), bank: "bni" }, false)?.type).toBe("va_number");
  });
});

describe("a wallet", () => {
  const actions = (url: string) => ({
    actions: [
      { name: "generate-qr-code", method: "GET", url: "https://api.midtrans.com/v2/gopay/e484/qr-code" },
      { name: "deeplink-redirect", method: "GET", url },
    ],
  });

  test("is the address that leads to its app", () => {
    const url = "https://wsa.uat.wallet.airpay.co.id/universal-link/wallet/pay?deep_and_deferred=1&token=dFhk";
    expect(instructionsOf(transaction(actions(url)), told("ewallet"), false)).toEqual({
      type: "redirect",
      value: url,
      redirect_url: url,
      expires_at,
    });
  });

  test.each([
    "gojek://gopay/merchanttransfer?tref=1509110800474199656LMVO&amount=10000",
    "javascript:alert(1)",
    "http://127.0.0.1/",
    "https://user@evil.example/",
  ])("is not the address %s", (url) => {
    expect(() => instructionsOf(transaction(actions(url)), told("ewallet"), false)).toThrow("payers cannot use");
  });

  test("is no address at all where there is none", () => {
    expect(instructionsOf(transaction({ actions: [] }), told("ewallet"), false)).toBeUndefined();
  });
});

test("a page of this machine may be plain http where the whole provider is of this machine", () => {
  expect(redirect("http://127.0.0.1:9/page", { expiresAt }, true).value).toBe("http://127.0.0.1:9/page");
  expect(() => redirect("http://127.0.0.1:9/page", { expiresAt }, false)).toThrow("payers cannot use");
});
