// Goal: a payer sees what to pay and how, in their language, hears at once that it is paid, and sees nothing that is not theirs. Method: pure pages
// by table; then a real service, its pages asked for as browsers do.
import { finished } from "node:stream/promises";
import { inflateSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { type TestService, openDatabase, paymentBody, startService } from "../../test/kit.ts";
import { aPayment } from "../../test/payments.ts";
import { Fault } from "../ground/fault.ts";
import { pageText } from "../ground/html.ts";
import { newId } from "../ground/ids.ts";
import { languageOf, languages } from "../ground/languages.ts";
import { createLog } from "../ground/log.ts";
import { paymentStatuses } from "../payments/states.ts";
import { SCRIPT_PATH, STYLE_PATH } from "./assets.ts";
import { channels, stepsOf } from "./bank-steps.ts";
import { type CheckoutParts, decide, faceOf } from "./checkout.ts";
import { instructionsPart } from "./methods.ts";
import { OpenPages, openPageLimits } from "./open-pages.ts";
import { qrPng, qrSvg } from "./qr-picture.ts";
import { words } from "./words.ts";
import { slowness, waiting } from "../../test/slowness.ts";

describe("the language", () => {
  test.each([
    [undefined, undefined, "en"],
    [undefined, "id-ID,id;q=0.9,en;q=0.8", "id"],
    [undefined, "en-GB,id;q=0.9", "en"],
    [undefined, "fr,id;q=0.3,en;q=0.2", "id"],
    [undefined, "in", "id"],
    [undefined, "id;q=0,fr", "en"],
    ["id", "en", "id"],
    ["xx", "id", "id"],
  ])("chosen %s, accepted %s, is %s", (chosen, accepted, language) => {
    expect(languageOf(chosen, accepted)).toBe(language);
  });

  test("is English for a header that names too many to read", () => {
    expect(languageOf(undefined, `${"x,".repeat(100_000)}id`)).toBe("en");
  });

  test("has a text for everything, in each", () => {
    const shape = (value: unknown): unknown =>
      typeof value === "object" && value !== null
        ? Object.fromEntries(Object.entries(value).map(([name, part]) => [name, shape(part)]))
        : typeof value === "function"
          ? typeof (value as (text: string) => string)("x")
          : value !== "";
    expect(shape(words.id)).toEqual(shape(words.en));
    // An acquirer may tell of money after the payment is over: a payer who has paid must not pay a second time.
    for (const over of ["failed", "expired", "canceled"] as const) {
      expect(words.en.leads[over]).toMatch(/If .*(paid|left your account).* tell them/);
      expect(words.id.leads[over]).toMatch(/Jika .*beri tahu penjual/);
    }
    for (const language of languages)
      for (const channel of channels) expect(stepsOf("000", channel, language).length).toBeGreaterThan(2);
  });
});

test("each state has its face, and time that is over is over before it is swept", () => {
  const pending = { status: "pending", secondsLeft: 60, isPayable: true, risk: "approve", isSuspended: false } as const;
  expect(paymentStatuses.map((status) => [status, faceOf({ ...pending, status })])).toEqual([
    ["pending", "open"],
    ["processing", "processing"],
    ["succeeded", "paid"],
    ["failed", "failed"],
    ["expired", "expired"],
    ["canceled", "canceled"],
    ["partially_refunded", "paid"],
    ["refunded", "refunded"],
  ]);
  const ofSuspended = paymentStatuses.filter(
    (status) => faceOf({ ...pending, status, isSuspended: true }) === "unavailable",
  );
  expect(ofSuspended).toEqual(["pending"]);
  const unpayable = (secondsLeft: number, risk: "approve" | "review"): string =>
    faceOf({ ...pending, secondsLeft, isPayable: false, risk });
  expect(faceOf({ ...pending, secondsLeft: 0, isSuspended: true })).toBe("expired");
  expect([unpayable(60, "review"), unpayable(60, "approve"), unpayable(0, "review")]).toEqual([
    "review",
    "preparing",
    "expired",
  ]);
});

test("whoever may have paid already is told so wherever nothing can be paid, in every language", () => {
  for (const language of languages)
    for (const face of ["failed", "expired", "canceled", "unavailable"] as const)
      expect(words[language].leads[face]).toMatch(/already paid|money has left|sudah membayar|tetap terpotong/);
});

test("an account that is found only by the code of a company beside it shows that code first", () => {
  const account = { value: "990000000260", bank_name: "Bank Mandiri", bank_code: "008", account_name: "Toko Rani" };
  const instructions = {
    ...account,
    type: "va_number",
    biller_code: "70012",
    expires_at: "2027-01-15T08:30:00Z",
  } as const;
  const payment = aPayment({ method: "va" });
  const html = pageText(instructionsPart({ instructions, payment, path: "/pay/x", language: "id" }));
  expect(html).toMatch(/Kode perusahaan.*data-copy="70012".*Nomor virtual account.*data-copy="990000000260"/s);
});

test("the longest code has few bytes in a page", () => {
  const longest = "00020101021226650016ID.CO.EXAMPLE.WWW".padEnd(350, "0118936009153100000001");
  expect(pageText(qrSvg(longest, "QR")).length).toBeLessThan(16_000);
});

test("the most that an acquirer may name as a code is drawn, in bytes too", () => {
  for (const text of ["x".repeat(2_331), "é".repeat(1_165)]) expect(qrPng(text).length).toBeGreaterThan(1_000);
});

test("a code as a file is the code as lines, pixel by pixel", () => {
  const text = "00020101021226650016ID.CO.EXAMPLE.WWW";
  const png = qrPng(text);
  const width = png.readUInt32BE(16);
  const data = png.subarray(png.indexOf("IDAT") + 4, png.length - 16);
  const pixels = inflateSync(data);
  const stride = 1 + Math.ceil(width / 8);
  expect(pixels.length).toBe(stride * width);
  const isDark = (x: number, y: number): boolean =>
    ((pixels[(y * 10 + 5) * stride + 1 + ((x * 10 + 5) >> 3)] ?? 0) & (0x80 >> ((x * 10 + 5) & 7))) === 0;
  const runs = [...pageText(qrSvg(text, "QR")).matchAll(/M(\d+) (\d+)h(\d+)v1H\1z/g)].map((run) =>
    run.slice(1).map(Number),
  );
  const dark = new Set(
    runs.flatMap(([x = 0, y, length]) => Array.from({ length: length ?? 0 }, (_, n) => `${x + n},${y}`)),
  );
  expect(dark.size).toBeGreaterThan(200);
  for (let y = 0; y < width / 10; y++)
    for (let x = 0; x < width / 10; x++) expect(isDark(x, y), `${x},${y}`).toBe(dark.has(`${x},${y}`));
});

describe("a page", () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startService();
  });
  afterAll(() => service.stop());

  const made = async (changes: Record<string, unknown> = {}) => {
    const { client, merchantId } = await service.merchant({ name: "Kopi <b>Senja</b>" });
    const { json } = await client.post("/v1/payments", paymentBody(changes));
    return { client, merchantId, json, url: json.checkout_url as string };
  };
  const read = async (url: string, language = "id") => {
    const answer = await fetch(url, { headers: { "accept-language": language } });
    return { answer, html: await answer.text() };
  };

  test.each([
    ["qris", ['aria-label="QRIS"', "/qr.png", "Pindai"]],
    ["va", ["data-copy=", "Nomor virtual account", "Lewat aplikasi bank", "Lewat ATM"]],
    ["bank_transfer", ["Berita transfer", "data-copy="]],
    ["card", ['value="approve"', "mengisi kartu", "Sebagai pengganti pembayar"]],
    ["ewallet", ['value="approve"', "membuka dompet digital", "tidak ada pembayaran sungguhan"]],
  ])("of %s shows how to pay, in Indonesian", async (method, shown) => {
    const { url, json } = await made({ payment_method: method, description: "Dua <i>kopi</i>" });
    const { answer, html } = await read(url);
    expect(answer.status).toBe(200);
    for (const text of shown) expect(html).toContain(text);
    if (method !== "qris") expect(html).not.toMatch(/dipindai|Pindai/);
    expect(html).toContain('<html lang="id">');
    expect(html).toContain("Bayar Kopi &#60;b&#62;Senja");
    expect(html).toContain("Dua &#60;i&#62;kopi");
    expect(html).toContain(json.reference);
    expect(html).not.toMatch(/<script(?! type="module" src="\/checkout\/)|\sstyle=|\son\w+="/);
    expect(answer.headers.get("content-security-policy")).not.toContain("unsafe");
    expect([answer.headers.get("cache-control"), answer.headers.get("referrer-policy")]).toEqual([
      "no-store",
      "no-referrer",
    ]);
  });

  test("of a merchant that is suspended asks nobody to pay, and takes no decision, until it is not any more", async () => {
    const { client, merchantId } = await service.merchant();
    const { json } = await client.post("/v1/payments", paymentBody());
    const url = json.checkout_url as string;
    const decide = (): Promise<Response> =>
      fetch(url, { method: "POST", body: new URLSearchParams("decision=approve") });
    await service.operate("PATCH", `/merchants/${merchantId}`, { suspended: true });
    await decide();
    const { html } = await read(url);
    expect(html).toContain("Belum bisa dibayar");
    expect(html).not.toMatch(/data-watch|qr\.png|name="decision"/);
    expect((await fetch(url.replace(/$/, "/qr.png"))).status).toBe(404);
    await service.operate("PATCH", `/merchants/${merchantId}`, { suspended: false });
    expect((await read(url)).html).toContain("qr.png");
    expect((await client.get(`/v1/payments/${json.reference}`)).json.status).toBe("pending");
    await decide();
    expect((await read(url)).html).toContain("Sudah dibayar");
  });

  test("copies an amount without a point where it needs none: some banks' apps drop the point and keep the zeros", async () => {
    for (const [amount, copied] of [
      [7_500_000, "75000"],
      [7_500_050, "75000.50"],
    ]) {
      const { url } = await made({ payment_method: "bank_transfer", amount_minor: amount });
      expect((await read(url)).html).toContain(`data-copy="${copied}"`);
    }
  });

  test("weighs less than 60 KB with all that it loads", async () => {
    const { url } = await made({ payment_method: "qris" });
    const weights = await Promise.all(
      [url, `${service.origin}${STYLE_PATH}`, `${service.origin}${SCRIPT_PATH}`].map(async (address) => {
        const answer = await fetch(address, { headers: { "accept-encoding": "identity" } });
        expect(answer.status).toBe(200);
        return (await answer.arrayBuffer()).byteLength;
      }),
    );
    expect(weights.reduce((sum, weight) => sum + weight, 0)).toBeLessThan(60_000);
  });

  test("is paid by a form alone, once, and says so ever after", async () => {
    const { url, client, json } = await made({ return_url: "https://kopi.example/back" });
    const approve = () =>
      fetch(`${url}?lang=en`, {
        method: "POST",
        redirect: "manual",
        body: new URLSearchParams({ decision: "approve" }),
      });
    const first = await approve();
    expect([first.status, first.headers.get("location")]).toEqual([303, `${new URL(url).pathname}?lang=en`]);
    expect((await approve()).status).toBe(303);
    const { html } = await read(url, "en");
    expect(html).toContain("Paid. Thank you.");
    expect(html).toMatch(/<dt>Paid<\/dt>\s*<dd><time [^>]*>[^<]*<\/time>, QRIS<\/dd>/);
    // Whoever reads it again, or keeps it as a receipt, is not asked to pay.
    expect(html).toContain("<h1>Kopi &#60;b&#62;Senja&#60;/b&#62;</h1>");
    expect(html).not.toContain("Pay Kopi");
    expect(html).toMatch(/<time datetime="[-\dT:]+Z">\d+ \w+ \d{4}, \d\d:\d\d UTC<\/time>/);
    expect(html).toContain('data-back="https://kopi.example/back"');
    expect(html).not.toContain("data-watch");
    expect((await client.get("/v1/balances")).json.data[0].available_minor).toBe(json.net_minor);
    expect((await fetch(`${url}/qr.png`)).status).toBe(404);
  });

  test("that was given back in part, or as a whole, says how much and when", async () => {
    const { url, client, json } = await made({ amount_minor: 1_000_000 });
    // The other one pays the fee, which a refund does not give back.
    for (const { reference } of [json, (await client.post("/v1/payments", paymentBody())).json])
      await client.post(`/v1/sandbox/payments/${reference}/simulate`, { outcome: "succeeded" });
    expect((await read(url)).html).not.toContain("Dikembalikan");
    const refund = (amount_minor: number) =>
      client.post("/v1/refunds", { payment_reference: json.reference, amount_minor });
    for (const amount of [250_000, 150_050]) expect((await refund(amount)).status).toBe(201);
    const { html } = await read(url);
    expect(html).toContain("Sudah dibayar. Terima kasih.");
    expect(html).toMatch(/<dt>Dikembalikan<\/dt>\s*<dd>IDR 4\.000,50<\/dd>/);
    const each = html.matchAll(/<dt><small><time [^<]*<\/time><\/small><\/dt>\s*<dd><small>([^<]*)</g);
    expect([...each].map(([, amount]) => amount)).toEqual(["1.500,50", "2.500,00"]);
    expect((await refund(599_950)).json.remaining_refundable_minor).toBe(0);
    expect((await read(url, "en")).html).toMatch(/The money is on its way back to you\.[^]*<dd>IDR 10,000\.00</);
  });

  test("that was declined leads back as well, and one that nobody paid does not", async () => {
    const { url } = await made({ return_url: "https://kopi.example/back", payment_method: "card" });
    const before = (await read(url, "en")).html;
    expect(before).not.toContain("data-back");
    await fetch(url, { method: "POST", redirect: "manual", body: new URLSearchParams({ decision: "decline" }) });
    const { html } = await read(url, "en");
    expect(html).toContain("Not paid");
    expect(html).toContain('data-back="https://kopi.example/back"');
    expect(html).toContain("You will be taken back in a moment.");
    const other = await made({ return_url: "https://kopi.example/back" });
    await other.client.post(`/v1/payments/${other.json.reference}/cancel`, {});
    expect((await read(other.url, "en")).html).not.toContain("data-back");
  });

  test("says that it is not ready while no acquirer has the payment, and how to pay once one has it", async () => {
    const { client } = await service.merchant();
    const body = paymentBody({ metadata: { "sandbox.scenario": "gateway_error_once" } });
    const create = () => client.post("/v1/payments", body, { key: "one-intent" });
    expect((await create()).json.error.code).toBe("GATEWAY_ERROR");
    const { json } = await client.get(`/v1/payments?reference_id=${body.reference_id as string}`);
    const url = json.data[0].checkout_url as string;
    const before = (await read(url, "en")).html;
    expect(before).toContain('data-face="preparing"');
    expect(before).toContain("Not ready yet");
    expect(before).not.toContain("Being checked");
    expect(await (await fetch(`${url}/state`)).json()).toEqual({ face: "preparing" });
    expect((await create()).status).toBe(201);
    expect((await read(url, "en")).html).toContain('data-face="open"');
  });

  test("keeps to its token: no other, no shorter one, no other part", async () => {
    const { url } = await made();
    const other = (await made()).url;
    const token = url.split("/pay/")[1] ?? "";
    const swapped = `${service.origin}/pay/${token.slice(0, 26)}${(other.split("/pay/")[1] ?? "").slice(26)}`;
    for (const wrong of [swapped, url.slice(0, -1), `${url}0`, `${service.origin}/pay/x`])
      for (const part of ["", "/state", "/stream", "/qr.png"])
        expect((await fetch(wrong + part)).status, wrong + part).toBe(404);
    expect((await fetch(`${service.origin}/checkout/../package.json`)).status).toBe(404);
    expect((await fetch(`${service.origin}/checkout/colour-red;}.css`)).status).toBe(404);
  });

  test("is shown at its address with a slash at the end, too, and leads on from there", async () => {
    const { url } = await made();
    const { html } = await read(`${url}/`, "en");
    expect(html).toContain('data-face="open"');
    expect(html).toContain(`data-watch="${new URL(url).pathname}"`);
    expect(await (await asBrowser("/pay/l/x/?lang=en")).text()).toContain("There is no payment here");
  });

  const asBrowser = (path: string, init: RequestInit = {}) =>
    fetch(service.origin + path, { ...init, headers: { accept: "text/html,*/*;q=0.8" } });

  test("of a wrong address is a page that a payer can read, and tells nothing of any payment", async () => {
    const answer = await asBrowser("/pay/x?lang=id");
    expect([answer.status, answer.headers.get("content-type"), answer.headers.get("referrer-policy")]).toEqual([
      404,
      "text/html; charset=utf-8",
      "no-referrer",
    ]);
    expect(answer.headers.get("content-security-policy")).toContain("default-src 'none'");
    const page = await answer.text();
    expect(page).toContain("Tidak ada pembayaran di sini");
    expect(page).toContain('href="/pay/x?lang=en"');
    const injected = await (await asBrowser(`/pay/${encodeURIComponent('"><b>x')}`)).text();
    expect(injected).not.toContain("<b>x");
    expect(await (await asBrowser("/pay/l/x?lang=en")).text()).toContain("There is no payment here");
    // Each guess counts against its address, as any error does.
    const left = async () => Number((await asBrowser("/pay/x")).headers.get("x-ratelimit-remaining"));
    expect((await left()) - (await left())).toBe(1);
    // A program that watches the page still gets the API's error.
    expect((await (await fetch(`${service.origin}/pay/x/state`)).json()).error.code).toBe("ROUTE_NOT_FOUND");
    expect((await (await fetch(`${service.origin}/pay/x`)).json()).error.code).toBe("ROUTE_NOT_FOUND");
  });

  test("that cannot be shown just now says so, and leads back by itself", async () => {
    const { url } = await made();
    const { pathname } = new URL(url);
    const query = vi.spyOn(service.app.database, "query").mockRejectedValue(new Error("gone"));
    try {
      const answer = await asBrowser(`${pathname}?lang=en`, {
        method: "POST",
        body: new URLSearchParams({ decision: "approve" }),
      });
      const page = await answer.text();
      expect(answer.status).toBe(500);
      expect(page).toContain("If you have already paid, do not pay again");
      expect(page).toContain(`content="10; url=${pathname}?lang=en"`);
      expect(page).not.toContain("gone");
    } finally {
      query.mockRestore();
    }
    expect((await read(url, "en")).html).toContain('data-face="open"');
  });

  test("of real money is decided by nobody who opens it", async () => {
    const payment = aPayment({ book: { merchantId: newId("merchant", 0), environment: "production" } });
    const parts = { directory: { merchant: () => Promise.resolve({}) } } as unknown as CheckoutParts;
    await expect(decide(parts, payment, "succeeded")).rejects.toThrow(new Fault("ROUTE_NOT_FOUND"));
  });

  test("hears within a second that it is paid, or that its merchant is suspended, wherever that was", async () => {
    const { url, client, merchantId, json } = await made();
    const elsewhere = await startService({ database: service.database });
    try {
      const stream = await fetch(`${elsewhere.origin}${new URL(url).pathname}/stream`);
      expect(stream.headers.get("content-type")).toContain("text/event-stream");
      const reader = stream.body?.pipeThrough(new TextDecoderStream()).getReader();
      const heard = async (face: string): Promise<void> => {
        for (let text = ""; !text.includes(`{"face":"${face}"}`);) {
          const { value, done } = (await reader?.read()) ?? { value: undefined, done: true };
          if (done) throw new Error(`the stream ended before ${face}`);
          text += value;
        }
      };
      await heard("open");
      await service.operate("PATCH", `/merchants/${merchantId}`, { suspended: true });
      await heard("unavailable");
      await service.operate("PATCH", `/merchants/${merchantId}`, { suspended: false });
      await heard("open");
      const took = await waiting(async () => {
        await client.post(`/v1/sandbox/payments/${json.reference as string}/simulate`, { outcome: "succeeded" });
        await heard("paid");
      });
      expect(took).toBeLessThan(5_000 * slowness());
      expect(await (await fetch(`${url}/state`)).json()).toEqual({ face: "paid" });
      await reader?.cancel();
    } finally {
      await elsewhere.stop();
    }
  });
});

test("pages that are open are bounded, and end with the process", async () => {
  const service = await startService({ roles: ["api"] });
  const { client, merchantId } = await service.merchant();
  const reference = async () => (await client.post("/v1/payments", paymentBody())).json.reference as string;
  const database = openDatabase(service.database);
  const limits = { ...openPageLimits, ofOnePayment: 2, inAll: 3 };
  const pages = new OpenPages({
    database,
    directory: { merchant: () => Promise.resolve(undefined) },
    log: createLog("silent"),
    limits,
  });
  const [one, two] = [
    { merchantId, reference: await reference() },
    { merchantId, reference: await reference() },
  ];
  const first = [pages.listen(one), pages.listen(one)];
  expect(() => pages.listen(one)).toThrow(Fault);
  pages.listen(two);
  expect(() => pages.listen(two)).toThrow(Fault);
  first[0]?.destroy();
  await new Promise(setImmediate);
  expect(pages.open.size).toBe(2);
  // A merchant with as many pages as it may have leaves room for others.
  const { client: other, merchantId: otherId } = await service.merchant();
  const elsewhere = (await other.post("/v1/payments", paymentBody())).json.reference as string;
  expect(openPageLimits.perMerchant).toBeLessThan(openPageLimits.inAll);
  limits.perMerchant = 2;
  expect(() => pages.listen(one)).toThrow(Fault);
  pages.listen({ merchantId: otherId, reference: elsewhere }).destroy();
  await new Promise(setImmediate);
  expect(pages.open.size).toBe(2);
  pages.open.stop();
  await finished(first[1]!.resume());
  expect([pages.open.size, first[1]?.destroyed]).toEqual([0, true]);
  expect(() => pages.listen(one)).toThrow(Fault);
  await database.end();
  await service.stop();
});
