// Goal: instructions that a payer's bank understands. Method: parse what we write with a reader written here from the standard.
import fc from "fast-check";
import { expect, test } from "vitest";
import type { InstructionRequest, OpenRequest } from "./acquirer.ts";
import { currencyCodes, feeOf } from "../ground/money.ts";
import { crc16, qrisString } from "./qris.ts";
import { readQr } from "./qris-reading.ts";
import { simulatedAcquirers } from "./simulated.ts";

/** Reads tag, length, value; throws when the text is not whole. */
function readFields(text: string): Map<string, string> {
  const fields = new Map<string, string>();
  for (let at = 0; at < text.length;) {
    const tag = text.slice(at, at + 2);
    const length = Number(text.slice(at + 2, at + 4));
    const value = text.slice(at + 4, at + 4 + length);
    if (
      !/^\d\d$/.test(tag) ||
      !/^\d\d$/.test(text.slice(at + 2, at + 4)) ||
      value.length !== length ||
      fields.has(tag)
    ) {
      throw new Error(`not EMVCo at ${at}: ${text}`);
    }
    fields.set(tag, value);
    at += 4 + length;
  }
  return fields;
}

const request: InstructionRequest = {
  reference: "pay_01m7yjgp5af9zagwxw9d6sqxgf",
  amountMinor: 7_500_000n,
  currency: "IDR",
  method: "qris",
  merchantName: "Kopi Gerbang",
  expiresAt: 1_795_246_942_000_000,
  payUrl: "https://pay.example.com/pay/x",
  returnUrl: undefined,
  metadata: undefined,
};

test("the checksum is CRC-16/CCITT-FALSE", () => {
  expect(crc16("123456789")).toBe("29B1"); // the check value of the standard
});

test("a QRIS string holds the tags that readers look for, whatever the merchant is called", () => {
  fc.assert(
    fc.property(
      fc.bigInt({ min: 1n, max: 999_999_999_999n }),
      fc.string({ unit: "grapheme" }),
      (amountMinor, merchantName) => {
        const text = qrisString({
          amountMinor,
          merchantName,
          city: "Jakarta",
          postalCode: "10110",
          categoryCode: "5999",
          nationalMerchantId: "ID1012345678901",
          acquirerDomain: "ID.CO.NUSANTARA.WWW",
          merchantPan: "936000141234567890",
          merchantId: "123456789012345",
          billNumber: request.reference,
        });
        const fields = readFields(text);
        expect([...fields.keys()]).toEqual([
          "00",
          "01",
          "26",
          "51",
          "52",
          "53",
          "54",
          "58",
          "59",
          "60",
          "61",
          "62",
          "63",
        ]);
        expect(fields.get("01")).toBe("12");
        expect(fields.get("53")).toBe("360");
        expect(Math.round(Number(fields.get("54")) * 100)).toBe(Number(amountMinor));
        expect(fields.get("54")?.length).toBeLessThanOrEqual(13);
        expect(fields.get("59")?.length).toBeGreaterThan(0);
        expect(fields.get("59")?.length).toBeLessThanOrEqual(25);
        expect(readFields(fields.get("51") ?? "").get("00")).toBe("ID.CO.QRIS.WWW");
        expect(readFields(fields.get("26") ?? "").get("01")).toBe("936000141234567890");
        expect(readFields(fields.get("62") ?? "").get("01")?.length).toBeLessThanOrEqual(25);
        expect(text.slice(-4)).toBe(crc16(text.slice(0, -4)));
        expect(text).toMatch(/^[\x20-\x7e]+$/);
      },
    ),
  );
});

test("every capability of every acquirer issues instructions of the interface's shape, the same each time", () => {
  const shapes: Record<string, string[]> = {
    qris: ["expires_at", "qr_string", "type", "value"],
    va: ["account_name", "account_number", "bank_code", "bank_name", "expires_at", "type", "value"],
    bank_transfer: [
      "account_name",
      "account_number",
      "bank_code",
      "bank_name",
      "expires_at",
      "transfer_code",
      "type",
      "value",
    ],
    card: ["expires_at", "redirect_url", "type", "value"],
    ewallet: ["expires_at", "redirect_url", "type", "value"],
  };
  for (const acquirer of simulatedAcquirers) {
    for (const { method } of acquirer.capabilities) {
      const instructions = acquirer.issue({ ...request, method });
      if (!instructions) throw new Error(`${acquirer.code} issues nothing for ${method}`);
      expect(Object.keys(instructions).sort(), `${acquirer.code} ${method}`).toEqual(shapes[method]);
      expect(acquirer.issue({ ...request, method })).toEqual(instructions);
      expect(instructions.expires_at).toBe("2026-11-21T07:42:22Z");
      if (method === "va") expect(instructions.value).toMatch(/^\d{16,18}$/);
      if (method === "qris") expect(() => readFields(instructions.value)).not.toThrow();
    }
  }
});

test.each(["constructor", "toString", "__proto__", "hasOwnProperty", "", "nothing"])(
  "a scenario that there is not, such as %j, decides nothing",
  async (scenario) => {
    const metadata = Object.fromEntries([["sandbox.scenario", scenario]]);
    for (const acquirer of simulatedAcquirers) {
      expect(acquirer.inquiresAfterMs({ ...request, metadata })).toBeUndefined();
      const found = await acquirer.calls?.inquire(
        { ...request, metadata } as OpenRequest,
        new AbortController().signal,
      );
      expect(found).toMatchObject({ known: true, state: { status: "waiting" } });
    }
  },
);

test("every method has two acquirers, so that one can stand in for the other", () => {
  for (const method of ["qris", "va", "card", "ewallet", "bank_transfer"]) {
    const able = simulatedAcquirers.filter((acquirer) =>
      acquirer.capabilities.some((capability) => capability.method === method),
    );
    expect(able.length, method).toBeGreaterThanOrEqual(2);
  }
});

test("cards are taken in every currency, at a cost in its own minor units", () => {
  const takers = simulatedAcquirers.filter(({ capabilities }) => capabilities.some(({ method }) => method === "card"));
  expect(takers).toHaveLength(2);
  for (const { code, capabilities } of takers) {
    const cards = capabilities.filter(({ method }) => method === "card");
    const taken = cards.flatMap(({ currencies }) => currencies);
    expect(taken.toSorted(), code).toEqual(currencyCodes.toSorted());
    for (const currency of ["JPY", "USD", "KWD"]) {
      const [cost] = cards.filter(({ currencies }) => currencies.includes(currency)).map((one) => one.cost);
      expect(feeOf(10_000n, cost!), `${code} ${currency}`).toBeLessThan(300n);
    }
  }
});

test("a code whose checksum reads as its own tag and length is whole; one without a checksum at its end is not", () => {
  const whole =
    "00020101021226300016ID.CO.EXAMPL.WWW01061234565204581253033605405150005802ID5909Test Shop6007Jakarta62140110000010785963046304";
  expect(readQr(whole).crc).toEqual({ stated: "6304", computed: "6304", matches: true });
  expect(readQr(`${whole}00`).crc.matches).toBe(false);
  expect(readQr(whole.slice(0, -8)).crc.matches).toBe(false);
  expect(readQr("6304").crc.matches).toBe(false);
});
