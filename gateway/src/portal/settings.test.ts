// Goal: an owner's name and branding reach the payer, and nothing that is no picture ever does. Method: a real service; files that are not what
// they seem.
import { crc32, deflateSync } from "node:zlib";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { alsoIn } from "../../test/currencies.ts";
import { logoUploadSchema } from "./settings.schema.ts";
import { type TestService, paymentBody, startService } from "../../test/kit.ts";
import { Browser, joins } from "../../test/portal.ts";
import type { Answer } from "../../../e2e/kit/client.ts";
import { exampleOf } from "../http/shapes.ts";
import { inkOn } from "../checkout/assets.ts";
import { LOGO_BYTES_MAX } from "../merchants/profiles.ts";
import { defaultSettings } from "../merchants/settings.ts";

let service: TestService;
let merchantId: string;
let owner: Browser;

beforeAll(async () => {
  service = await startService({ roles: ["api"] });
});
afterAll(() => service.stop());
beforeEach(async () => {
  ({ merchantId } = await service.merchant({ settings: { settlement: { delay_days: 3 } } }));
  owner = await joins(service, merchantId);
});

const outcome = ({ status, json }: Answer): string => `${status} ${json?.error?.code ?? ""}`.trim();
const change = (body: object): Promise<Answer> => owner.send("PATCH", "/portal/v1/settings", body);
const upload = (file: Buffer): Promise<Answer> =>
  owner.send("PUT", "/portal/v1/settings/logo", { picture: file.toString("base64") });

function chunk(kind: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(kind, "latin1"), data]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  sum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, sum]);
}

/** A black picture of grey values. */
function png(width: number, height: number, ...more: Buffer[]): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 0, 0, 0, 0], 8);
  const pixels = chunk("IDAT", deflateSync(Buffer.alloc(Math.min(height, 100) * (Math.min(width, 100) + 1))));
  const magic = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  return Buffer.concat([magic, chunk("IHDR", header), ...more, pixels, chunk("IEND", Buffer.alloc(0))]);
}

function jpeg(width: number, height: number): Buffer {
  const frame = Buffer.from([0xff, 0xc0, 0, 11, 8, height >> 8, height & 255, width >> 8, width & 255, 1, 1, 0x11, 0]);
  const scan = Buffer.from([0xff, 0xda, 0, 8, 1, 1, 0, 0, 63, 0, 0x12, 0x34]);
  return Buffer.concat([Buffer.from([0xff, 0xd8]), frame, scan, Buffer.from([0xff, 0xd9])]);
}

describe("settings", () => {
  test("say what an owner chose and what the operator set", async () => {
    const answer = await owner.get("/portal/v1/settings");
    expect(answer.json).toMatchObject({
      merchant_id: merchantId,
      name: "Test Shop",
      language: null,
      time_zone: null,
      colour: null,
      logo: null,
      currencies: [{ currency: "IDR", exponent: 2, max_amount_minor: 10_000_000_000, minimum_payout_minor: 0 }],
      settlement: { cutoff: "00:00", delay_days: 3 },
    });
    expect(answer.json.payment_methods[0]).toMatchObject({
      payment_method: "qris",
      enabled: true,
      fees: [{ currency: "IDR", exponent: 2, basis_points: 70, flat_minor: 0 }],
    });
  });

  test("have each currency's own limits, in its own minor units, and every day without a batch", async () => {
    const schedule = { minimum_payout_minor: 5_000_000, minimum_payout_minor_per_currency: { KWD: 10_000 } };
    const days = { holidays: ["2027-03-09", "2027-03-10"], pay_after_seconds: 7_200 };
    await service.operate("PATCH", `/merchants/${merchantId}`, {
      ...alsoIn(defaultSettings, "JPY", "KWD"),
      settlement: { ...schedule, ...days },
    });
    const most = { max_amount_minor: 10_000_000_000 };
    await vi.waitFor(
      async () =>
        expect((await owner.get("/portal/v1/settings")).json.currencies).toEqual([
          { currency: "IDR", exponent: 2, ...most, minimum_payout_minor: 5_000_000 },
          { currency: "JPY", exponent: 0, ...most, minimum_payout_minor: 0 },
          { currency: "KWD", exponent: 3, ...most, minimum_payout_minor: 10_000 },
        ]),
      30_000,
    );
    expect((await owner.get("/portal/v1/settings")).json.settlement).toEqual({
      cutoff: "00:00",
      utc_offset_minutes: 420,
      delay_days: 3,
      closed_weekdays: [0, 6],
      ...days,
    });
  });

  test("change by what is given, and null chooses no more", async () => {
    const name = "<b>Toko</b> & 'Sari' \u{1f469}\u200d\u{1f373}";
    const changed = await change({ name, language: "id", time_zone: "Asia/Makassar", colour: "#0b6b53" });
    expect(changed.json).toMatchObject({ name, language: "id", time_zone: "Asia/Makassar", colour: "#0b6b53" });
    expect((await change({ language: null })).json).toMatchObject({ name, language: null, time_zone: "Asia/Makassar" });
    expect((await change({})).json).toMatchObject({ name, colour: "#0b6b53" });
    expect((await owner.get("/portal/v1/session")).json.memberships[0]).toMatchObject({
      merchant_name: name,
      time_zone: "Asia/Makassar",
      statement_time_zone: "Asia/Makassar",
    });
    await change({ time_zone: null });
    expect((await owner.get("/portal/v1/session")).json.memberships[0]).toMatchObject({
      time_zone: null,
      statement_time_zone: "Asia/Jakarta",
    });
  });

  test.each([
    [{ name: "" }, "name"],
    [{ name: "\u200b \u2060" }, "name"],
    [{ name: "a\0b" }, "name"],
    [{ name: "Toko\nSari" }, "name"],
    [{ name: "Toko\u2028Sari" }, "name"],
    [{ name: "\u202Eiras okot" }, "name"],
    [{ name: "Toko\u200bSari" }, "name"],
    [{ name: "x".repeat(121) }, "name"],
    [{ name: null }, "name"],
    [{ language: "de" }, "language"],
    [{ time_zone: "Asia/Atlantis" }, "time_zone"],
    [{ time_zone: "+07:00" }, "time_zone"],
    [{ colour: "red" }, "colour"],
    [{ colour: "#FFF;}" }, "colour"],
    [{ suspended: false }, "suspended"],
  ])("refuse %j at its field, and change nothing", async (body, field) => {
    const before = (await owner.get("/portal/v1/settings")).json;
    const answer = await change({ colour: "#123456", ...body });
    expect([outcome(answer), answer.json.error.details.field]).toEqual(["422 VALIDATION_ERROR", field]);
    expect((await owner.get("/portal/v1/settings")).json).toEqual(before);
  });

  test("are read by every role, changed by an owner alone, and one's own merchant's only", async () => {
    const viewer = await joins(service, merchantId, "viewer");
    expect((await viewer.get("/portal/v1/settings")).status).toBe(200);
    for (const role of ["viewer", "developer", "finance", "support"] as const) {
      const member = await joins(service, merchantId, role);
      expect(outcome(await member.send("PATCH", "/portal/v1/settings", { name: "Mine" }))).toBe("403 FORBIDDEN");
      expect(outcome(await member.send("DELETE", "/portal/v1/settings/logo"))).toBe("403 FORBIDDEN");
    }
    const stranger = await joins(service, (await service.merchant()).merchantId);
    expect(outcome(await stranger.get("/portal/v1/settings", { "x-merchant-id": merchantId }))).toBe(
      "404 OBJECT_NOT_FOUND",
    );
  });
});

describe("a logo", () => {
  test.each([
    ["a PNG", png(320, 96), "image/png"],
    ["a JPEG", jpeg(320, 96), "image/jpeg"],
  ])("that is %s is served as that and as nothing else", async (_name, file, type) => {
    const { json } = await upload(file);
    expect(json.logo).toMatchObject({ content_type: type, width: 320, height: 96 });
    const served = await fetch(service.origin + String(json.logo.url));
    expect(Buffer.from(await served.arrayBuffer())).toEqual(file);
    expect(Object.fromEntries(served.headers)).toMatchObject({
      "content-type": type,
      "x-content-type-options": "nosniff",
      "content-security-policy": "default-src 'none'; sandbox",
      "cache-control": "public, max-age=31536000, immutable",
    });
    expect((await owner.send("DELETE", "/portal/v1/settings/logo")).status).toBe(200);
    expect((await fetch(service.origin + String(json.logo.url))).status).toBe(404);
    expect(outcome(await owner.send("DELETE", "/portal/v1/settings/logo"))).toBe("404 OBJECT_NOT_FOUND");
  });

  test("that is the contract's example is taken", async () => {
    expect((await owner.send("PUT", "/portal/v1/settings/logo", exampleOf(logoUploadSchema))).json).toMatchObject({
      logo: { content_type: "image/png", width: 1, height: 1 },
    });
  });

  const whole = png(320, 96);
  test.each([
    ["nothing", Buffer.alloc(0), "empty"],
    ["a page called a picture", Buffer.from("<script>alert(1)</script>"), "neither a PNG nor a JPEG"],
    ["an SVG", Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'), "neither a PNG nor a JPEG"],
    ["a program", Buffer.from("MZ\x90\0\x03"), "neither a PNG nor a JPEG"],
    ["half a PNG", whole.subarray(0, whole.length - 20), "cut off"],
    ["a PNG with a changed byte", Buffer.from(whole.map((byte, at) => (at === 17 ? byte ^ 1 : byte))), "damaged"],
    ["a PNG with a page behind it", Buffer.concat([whole, Buffer.from("<html>")]), "followed by"],
    ["a bomb of 2^31 pixels a side", png(0x7fffffff, 0x7fffffff), "2147483647 by 2147483647"],
    ["a picture without height", png(320, 0), "damaged"],
    ["a JPEG without an end", jpeg(320, 96).subarray(0, -2), "cut off"],
    ["a JPEG whose segments lie", Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0xff, 0xff, 1]), "cut off"],
    ["a JPEG of 65535 pixels a side", jpeg(65_535, 65_535), "65535 by 65535"],
    [
      "one byte too many",
      png(320, 96, chunk("tEXt", Buffer.alloc(LOGO_BYTES_MAX + 1 - whole.length - 12))),
      "at most 32768",
    ],
  ])("is refused when it is %s", async (_name, file, told) => {
    const answer = await upload(file);
    expect([outcome(answer), answer.json.error.details.field]).toEqual(["422 VALIDATION_ERROR", "picture"]);
    expect(answer.json.error.message).toContain(told);
    expect((await owner.get("/portal/v1/settings")).json.logo).toBeNull();
  });

  test("may have 32768 bytes, with which a payer's page has less than 60 KB", async () => {
    const largest = png(320, 96, chunk("tEXt", Buffer.alloc(LOGO_BYTES_MAX - whole.length - 12)));
    expect([largest.length, (await upload(largest)).status]).toEqual([LOGO_BYTES_MAX, 200]);
    await change({ colour: "#0b6b53" });
    const body = { ...paymentBody(), payment_method: "qris", description: "x".repeat(200) };
    const { json } = await owner.post("/portal/v1/payments", body);
    const page = await (await fetch(json.checkout_url as string)).text();
    let bytes = Buffer.byteLength(page);
    const others = [...page.matchAll(/(?:src|href)="(\/(?:logos|checkout)\/[^"]+)"/g)].map(([, path = ""]) => path);
    expect(others).toHaveLength(4);
    for (const path of others) {
      const answer = await fetch(service.origin + path, { headers: { "accept-encoding": "br" } });
      bytes += Number(answer.headers.get("content-length"));
      await answer.body?.cancel();
    }
    expect(bytes).toBeGreaterThan(LOGO_BYTES_MAX);
    expect(bytes).toBeLessThan(60_000);
  });

  test.each(["", "!", "iVBOR", "aGVsbG8", "%2e%2e"])("is no base64: %j", async (picture) => {
    expect(outcome(await owner.send("PUT", "/portal/v1/settings/logo", { picture }))).toBe("422 VALIDATION_ERROR");
  });

  test.each(["", "/mer_1/..", "/mer_1/00", `/mer_00000000000000000000000000/${"0".repeat(64)}`])(
    "is at no other address: /logos%s",
    async (path) => {
      expect((await fetch(`${service.origin}/logos${path}`)).status).toBe(404);
    },
  );
});

test("a payer sees the merchant's name, logo and colour, as text, picture and colour", async () => {
  const { logo } = (await upload(png(320, 96))).json;
  await change({ name: "Toko <img src=x onerror=alert(1)>", colour: "#ffe08a" });
  const payment = await owner.post("/portal/v1/payments", { ...paymentBody(), payment_method: "ewallet" });
  const page = await fetch(payment.json.instructions.redirect_url as string);
  const html = await page.text();
  expect(html).toContain(`src="${logo.url}"`);
  const colour = await fetch(`${service.origin}/checkout/colour-ffe08a.css`);
  expect(html).toContain('href="/checkout/colour-ffe08a.css"');
  expect(await colour.text()).toContain("--brand:#ffe08a;--on-brand:#000");
  expect(html).toContain("Toko &#60;img");
  expect(html).not.toContain("<img src=x");
  expect(page.headers.get("content-security-policy")).toContain(
    "default-src 'none'; img-src 'self'; style-src 'self'; script-src 'self'",
  );
});

test("letters on a colour are read", () => {
  expect(["#000000", "#15803d", "#ffffff", "#ffe08a", "#777777"].map(inkOn)).toEqual([
    "#fff",
    "#fff",
    "#000",
    "#000",
    "#000",
  ]);
});
