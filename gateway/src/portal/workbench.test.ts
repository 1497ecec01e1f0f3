// Goal: a QRIS text is read as any reader reads it, and whatever is wrong with it is said; and what falls due next is what happens next.
// Method: texts of real payments, texts that lie about their lengths, and a clock that is moved as far as the list says.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { anyText } from "../../test/any-text.ts";
import fc from "fast-check";
import { crc16 } from "../acquirers/qris.ts";
import { readQr } from "../acquirers/qris-reading.ts";
import { type TestService, paymentBody, startService } from "../../test/kit.ts";
import { Browser, joins } from "../../test/portal.ts";
import type { Answer } from "../../../e2e/kit/client.ts";

let service: TestService;
let merchantId: string;
let developer: Browser;

beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());
beforeEach(async () => {
  ({ merchantId } = await service.merchant());
  developer = await joins(service, merchantId, "developer");
});

const outcome = ({ status, json }: Answer): string => `${status} ${json?.error?.code ?? ""}`.trim();
const decode = (text: unknown): Promise<Answer> =>
  developer.send("POST", "/portal/v1/sandbox/qris/decode", { qr_string: text });
const encode = (body: object): Promise<Answer> => developer.send("POST", "/portal/v1/sandbox/qris/encode", body);
const composed = {
  amount_minor: 7_500_000,
  merchant_name: "Toko Sari & Co",
  city: "Jakarta",
  postal_code: "10110",
  category_code: "5999",
  national_merchant_id: "ID1020012345678",
  merchant_pan: "9360001412345678901",
  bill_number: "INV-1042",
};

interface Shown {
  tag: string;
  value: string;
  meaning: string | null;
  objects: Shown[] | null;
}
const find = (objects: Shown[] | null, tag: string): Shown | undefined => objects?.find((object) => object.tag === tag);

describe("a QRIS text", () => {
  test("of a payment is whole, and says its amount, its merchant and its bill", async () => {
    const { json: payment } = await developer.post("/portal/v1/payments", { ...paymentBody(), payment_method: "qris" });
    const { json } = await decode(payment.instructions.value);
    expect(json).toMatchObject({ problems: [], crc: { matches: true } });
    expect(find(json.objects, "54")?.value).toBe((Number(payment.amount_minor) / 100).toFixed(2));
    expect(find(json.objects, "01")?.meaning).toBe("dynamic: for one payment");
    expect(find(json.objects, "53")?.meaning).toBe("IDR");
    expect(find(find(json.objects, "51")?.objects ?? [], "00")?.value).toBe("ID.CO.QRIS.WWW");
    const bill = find(find(json.objects, "62")?.objects ?? [], "01")?.value;
    expect(`pay_0${bill?.toLowerCase()}`).toBe(payment.reference);
  });

  test("that is composed is read back; without an amount it is static", async () => {
    const { json } = await encode(composed);
    expect(json).toMatchObject({ problems: [], crc: { matches: true } });
    expect((await decode(json.qr_string)).json).toEqual(json);
    expect(find(json.objects, "59")?.value).toBe("TOKO SARI & CO");
    expect(find(json.objects, "54")?.value).toBe("75000.00");
    const { amount_minor: _amount, bill_number: _bill, ...open } = composed;
    const { json: fixed } = await encode(open);
    expect([find(fixed.objects, "54"), find(fixed.objects, "62")]).toEqual([undefined, undefined]);
    expect(find(fixed.objects, "01")?.value).toBe("11");
    expect(fixed.problems).toEqual([]);
  });

  test("one changed character is found by the checksum", async () => {
    const { qr_string: text } = (await encode(composed)).json as { qr_string: string };
    const { json } = await decode(text.replace("75000.00", "15000.00"));
    expect(json.crc.matches).toBe(false);
    expect(json.problems).toEqual([expect.stringContaining("something in it was changed")]);
  });

  test.each([
    ["<script>alert(1)</script>", "At character 1 stands no tag and length"],
    ["000201", "Tag 63, checksum, is missing."],
    ["00020159", "At character 7 stands no tag and length"],
    ["0002015999TOKO", "Tag 59 says 99 characters, and 4 are left."],
    ["00020126120005ID.CO", "Tag 26 says 12 characters, and 9 are left."],
    ["0002010002016304", "Tag 00 stands there twice."],
    ["5902AB000201", "It does not begin with 000201"],
    ["00020162080104A", "Tag 62 says 8 characters, and 5 are left."],
    ["000201620601046304", "Tag 01 in tag 62 says 4 characters, and 2 are left."],
  ])("is read as far as it can be: %j", async (text, told) => {
    const answer = await decode(text);
    expect(answer.status).toBe(200);
    expect(answer.json.problems.join("\n")).toContain(told);
    expect(answer.json.crc.matches).toBe(false);
  });

  test("of any characters is read without an error, and once", () => {
    fc.assert(
      fc.property(anyText({ maxLength: 300 }), (text) => {
        const { objects, problems } = readQr(text);
        expect(objects.length).toBeLessThanOrEqual(text.length / 4);
        expect(problems.length).toBeGreaterThan(0);
      }),
    );
    fc.assert(
      fc.property(fc.stringMatching(/^\d{0,200}$/), (digits) => {
        const text = `000201${digits}6304`;
        expect(readQr(text + crc16(text)).objects[0]?.value).toBe("01");
      }),
    );
  });

  test.each([
    [decode, undefined],
    [decode, ""],
    [decode, "0".repeat(1025)],
    [decode, "a\0b"],
    [decode, 5],
    [encode, { ...composed, amount_minor: 0 }],
    [encode, { ...composed, merchant_name: "x".repeat(26) }],
    [encode, { ...composed, merchant_name: "Kopi ☕" }],
    [encode, { ...composed, postal_code: "1011" }],
    [encode, { ...composed, merchant_pan: "12" }],
    [encode, { ...composed, colour: "red" }],
  ] as [(value: never) => Promise<Answer>, unknown][])("is not taken as %o of %j", async (call, value) => {
    expect(outcome(await call(value as never))).toBe("422 VALIDATION_ERROR");
  });

  test("is for the sandbox, and not for viewers", async () => {
    const viewer = await joins(service, merchantId, "viewer");
    const path = "/portal/v1/sandbox/qris/decode";
    expect(outcome(await viewer.send("POST", path, { qr_string: "000201" }))).toBe("403 FORBIDDEN");
    developer.environment = "production";
    expect(outcome(await decode("000201"))).toBe("403 FORBIDDEN");
  });
});

describe("what falls due next", () => {
  const due = async (): Promise<{ kind: string; id: string | null; in_seconds: number }[]> =>
    (await developer.get("/portal/v1/sandbox/clock/due")).json.data;
  const advance = (seconds: number): Promise<Answer> => developer.post("/portal/v1/sandbox/clock/advance", { seconds });

  test("happens when the clock is moved so far, and not a second before", async () => {
    const { json: payment } = await developer.post("/portal/v1/payments", { ...paymentBody(), expires_in: 3600 });
    const read = async () => (await developer.get(`/portal/v1/payments/${payment.reference}`)).json.status as string;
    const [first] = (await due()).filter(({ kind }) => kind === "payment_expires");
    expect(first).toMatchObject({ kind: "payment_expires", id: payment.reference });
    expect(first?.in_seconds).toBeGreaterThan(3_500);
    await advance((first?.in_seconds ?? 0) - 120);
    expect(await read()).toBe("pending");
    await advance(120);
    expect(await read()).toBe("expired");
    expect((await due()).filter(({ kind }) => kind === "payment_expires")).toEqual([]);
  });

  test("is the soonest first, of this merchant alone", async () => {
    const other = await joins(service, (await service.merchant()).merchantId);
    await other.post("/portal/v1/payments", { ...paymentBody(), expires_in: 60 });
    for (const expiry of [7200, 600, 3600])
      await developer.post("/portal/v1/payments", { ...paymentBody(), expires_in: expiry });
    const list = await due();
    expect(list.filter(({ kind }) => kind === "payment_expires")).toHaveLength(3);
    const spans = list.map(({ in_seconds: seconds }) => seconds);
    expect(spans).toEqual(spans.toSorted((one, another) => one - another));
  });
});
