// Goal: whoever has a link's address pays by it what it says, once where it is to be paid once, and learns nothing else. Method: amounts as people
// write them, by table; then a real service, its forms sent as browsers and as attackers send them.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Answer, Client } from "../../../e2e/kit/client.ts";
import { alsoIn } from "../../test/currencies.ts";
import { type TestService, asOwner, paymentBody, startService } from "../../test/kit.ts";
import { uuidOf } from "../ground/ids.ts";
import { languages } from "../ground/languages.ts";
import { defaultSettings } from "../merchants/settings.ts";
import { amountOfText } from "./link-form.ts";
import { linkWords } from "./link-words.ts";

describe("an amount in figures", () => {
  test.each([
    ["25000", 2_500_000n, 2_500_000n],
    ["25.000", undefined, 2_500_000n],
    ["25,000", 2_500_000n, undefined],
    ["25.00", 2_500n, undefined],
    ["25,5", undefined, 2_550n],
    ["1,234,567.80", 123_456_780n, undefined],
    ["1.234.567,80", undefined, 123_456_780n],
    ["Rp 25.000", undefined, 2_500_000n],
    ["rp25.000", undefined, 2_500_000n],
    ["IDR 25000", 2_500_000n, 2_500_000n],
    ["0", 0n, 0n],
    ["", undefined, undefined],
    ["-5", undefined, undefined],
    ["5e3", undefined, undefined],
    ["1,00,000", undefined, undefined],
    ["0,500", undefined, undefined],
    ["0.500", undefined, undefined],
    ["0x10", undefined, undefined],
    ["٢٥", undefined, undefined],
    ["1".repeat(17), undefined, undefined],
    ["USD 5", undefined, undefined],
  ])("%j is %s in English and %s in Indonesian", (text, english, indonesian) => {
    expect(amountOfText(text, "IDR", "en")).toBe(english);
    expect(amountOfText(text, "IDR", "id")).toBe(indonesian);
  });

  test("has no fraction where the currency has none", () => {
    expect(amountOfText("1,500", "JPY", "en")).toBe(1_500n);
    expect(amountOfText("0,500", "JPY", "en")).toBeUndefined();
    expect(amountOfText("1,500.0", "JPY", "en")).toBeUndefined();
    expect(amountOfText("1.500", "KWD", "en")).toBe(1_500n);
  });

  test.each([
    ["0.500", 500n, undefined],
    ["0,500", undefined, 500n],
    ["1,500", undefined, 1_500n],
    ["1,500.0", 1_500_000n, undefined],
    ["1,500,000", 1_500_000_000n, undefined],
    ["1500", 1_500_000n, 1_500_000n],
    ["KWD 5", 5_000n, 5_000n],
    ["Rp 5", undefined, undefined],
  ])("in dinars, which have three decimals, %j is %s in English and %s in Indonesian", (text, english, indonesian) => {
    expect(amountOfText(text, "KWD", "en")).toBe(english);
    expect(amountOfText(text, "KWD", "id")).toBe(indonesian);
  });
});

test("the amount that a refusal shows as an example is one that is taken, in every currency", () => {
  for (const language of languages) {
    const [example = ""] = /\d[\d.,]*\d/.exec(linkWords[language].problems.amount) ?? [];
    for (const currency of ["IDR", "JPY", "KWD"]) expect(amountOfText(example, currency, language)).toBeDefined();
  }
});

test("every text is there in each language", () => {
  const shape = (value: unknown): unknown =>
    typeof value === "object" && value !== null
      ? Object.fromEntries(Object.entries(value).map(([name, part]) => [name, shape(part)]))
      : typeof value === "function"
        ? (value as (...texts: string[]) => string)("x", "y").includes("x")
        : value !== "";
  for (const language of languages) expect(shape(linkWords[language])).toEqual(shape(linkWords.en));
});

describe("a link's page", () => {
  let service: TestService;
  let client: Client;
  let merchantId: string;
  beforeAll(async () => {
    service = await startService();
    ({ client, merchantId } = await service.merchant({ name: "Kopi <b>Senja</b>" }));
  });
  afterAll(() => service.stop());

  const link = async (changes: Record<string, unknown> = {}, by = client): Promise<Answer["json"]> => {
    const body = { amount_minor: 150_000, currency: "IDR", reusable: false, ...changes };
    const answer = await by.post("/v1/payment-links", body);
    expect(answer.status, answer.text).toBe(201);
    return answer.json;
  };
  const read = async (url: string, headers: Record<string, string> = {}) => {
    const answer = await fetch(url, { headers: { "accept-language": "en", ...headers } });
    const html = await answer.text();
    return { answer, html, once: /name="once" value="([^"]*)"/.exec(html)?.[1] ?? "" };
  };
  const send = async (url: string, fields: Record<string, string>) => {
    const answer = await fetch(url, {
      method: "POST",
      redirect: "manual",
      headers: { "accept-language": "en" },
      body: new URLSearchParams(fields),
    });
    return { status: answer.status, location: answer.headers.get("location") ?? "", html: await answer.text(), answer };
  };
  const pay = async (url: string, fields: Record<string, string> = {}) =>
    send(url, { once: (await read(url)).once, method: "qris", ...fields });
  const paymentsOf = async (uuid: string): Promise<Answer["json"][]> =>
    (await client.get(`/v1/payments?payment_link=${uuid}`)).json.data as Answer["json"][];
  const approve = (location: string) =>
    fetch(service.origin + location, {
      method: "POST",
      redirect: "manual",
      body: new URLSearchParams({ decision: "approve" }),
    });

  test("asks for a method, begins a payment like any other, and is paid for good", async () => {
    const made = await link({
      description: "Dua <i>kopi</i>",
      return_url: "https://kopi.example/back",
      metadata: { a: "b" },
    });
    const { answer, html } = await read(made.url as string, { "accept-language": "id" });
    expect(answer.status).toBe(200);
    expect(answer.headers.get("content-security-policy")).not.toContain("unsafe");
    expect([answer.headers.get("cache-control"), answer.headers.get("referrer-policy")]).toEqual([
      "no-store",
      "no-referrer",
    ]);
    expect(html).toContain("Bayar Kopi &#60;b&#62;Senja");
    expect(html).toContain("Dua &#60;i&#62;kopi");
    expect(html).toContain("1.500,00");
    expect(html).not.toMatch(/<script(?! type="module" src="\/checkout\/)|\sstyle=|\son\w+="/);
    expect(html).not.toContain(merchantId);
    const parts = await Promise.all(
      [...html.matchAll(/(?:href|src)="(\/checkout\/[^"]+)"/g)].map(async ([, path]) =>
        (await fetch(service.origin + path, { headers: { "accept-encoding": "identity" } })).text(),
      ),
    );
    expect(parts.length).toBeGreaterThanOrEqual(2);
    expect([html, ...parts].join("").length).toBeLessThan(60_000);
    const begun = await pay(made.url as string);
    expect(begun.status).toBe(303);
    const [payment] = await paymentsOf(made.uuid as string);
    expect(payment).toMatchObject({
      status: "pending",
      amount_minor: 150_000,
      payment_method: "qris",
      payment_link: made.uuid,
    });
    expect((await approve(begun.location)).status).toBe(303);
    const { html: after } = await read(made.url as string);
    expect(after).toContain("Already paid");
    expect(after).not.toContain("Pay Kopi");
    expect(after).not.toContain("<form");
    expect((await client.get(`/v1/payment-links/${made.uuid}`)).json).toMatchObject({
      status: "paid",
      payment_reference: payment?.reference,
    });
    const { rows } = await asOwner(service.database, (owner) =>
      owner.query<{ body: { data: Record<string, unknown> } }>(
        "select body::json as body from events where merchant_id = $1 and subject_id = $2 order by event_id",
        [uuidOf(merchantId), uuidOf(payment?.reference as string)],
      ),
    );
    expect(rows.map(({ body }) => body.data.payment_link)).toEqual([made.uuid, made.uuid]);
  });

  test("makes one payment of one form, however often it is sent, at once and later", async () => {
    const { url, uuid } = await link({ reusable: true });
    const { once } = await read(url as string);
    const answers = await Promise.all(Array.from({ length: 5 }, () => send(url as string, { once, method: "va" })));
    expect(new Set(answers.map(({ status, location }) => `${status} ${location}`)).size).toBe(1);
    expect((await send(url as string, { once, method: "qris" })).location).toBe(answers[0]?.location);
    expect(await paymentsOf(uuid as string)).toHaveLength(1);
    await pay(url as string);
    expect(await paymentsOf(uuid as string)).toHaveLength(2);
  });

  test("that is to be paid once lets one of many payers begin, over two processes", async () => {
    const { url, uuid } = await link();
    const other = await startService({ database: service.database });
    try {
      const urls = Array.from({ length: 8 }, (_, at) =>
        at % 2 ? (url as string) : other.origin + new URL(url as string).pathname,
      );
      const answers = await Promise.all(urls.map((one) => pay(one)));
      expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 8 }, () => 303));
      const ways = answers.map(({ location }) => (location.startsWith("/pay/l/") ? "back" : "begun"));
      expect(ways.filter((way) => way === "begun")).toHaveLength(1);
      expect(await paymentsOf(uuid as string)).toHaveLength(1);
    } finally {
      await other.stop();
    }
    const { html } = await read(url as string);
    expect(html).toContain("Being paid right now");
    expect(html).not.toContain("<form");
  });

  test("leads back whoever sent the form and never got its answer, and shows a form anew once that payment is over", async () => {
    const { url } = await link();
    const shown = await read(url as string);
    const [cookie = ""] = shown.answer.headers.getSetCookie();
    const mine = { cookie: cookie.split(";")[0] ?? "" };
    const lost = await send(url as string, { once: shown.once, method: "qris" });
    const back = await read(url as string, mine);
    expect(back.html).toContain(`href="${lost.location.split("?")[0]}?lang=en"`);
    expect(back.answer.headers.getSetCookie()).toEqual([]);
    const onward = `href="${new URL(url as string).pathname}?lang=en"`;
    const paymentPage = async (): Promise<string> => (await read(service.origin + lost.location)).html;
    expect(await paymentPage()).not.toContain(onward);
    await fetch(service.origin + lost.location, { method: "POST", body: new URLSearchParams({ decision: "decline" }) });
    expect(await paymentPage()).toContain(onward);
    const again = await read(url as string, mine);
    expect(again.once).not.toBe(shown.once);
    expect(again.answer.headers.getSetCookie()[0]).toContain(`once=${again.once}; `);
    expect((await send(url as string, { once: again.once, method: "qris" })).location).not.toBe(lost.location);
  });

  test("leads the browser that began back to its payment, and no other", async () => {
    const { url, uuid } = await link();
    const begun = await pay(url as string);
    const [cookie = ""] = begun.answer.headers.getSetCookie();
    expect(cookie).toContain(`Path=${new URL(url as string).pathname}; `);
    expect(cookie).toContain("HttpOnly; SameSite=Lax");
    const mine = async () => (await read(url as string, { cookie: cookie.split(";")[0] ?? "" })).html;
    const own = `href="${begun.location.split("?")[0]}?lang=en"`;
    expect(await mine()).toContain(own);
    const other = await pay((await link()).url as string);
    const [wrong = ""] = other.answer.headers.getSetCookie();
    const { html } = await read(url as string, { cookie: wrong.split(";")[0] ?? "" });
    expect(html).toContain("Being paid right now");
    expect(html).not.toContain(begun.location.split("?")[0]);
    // Whoever has paid is told so, not that something is left to do.
    const path = `/v1/sandbox/payments/${(await paymentsOf(uuid as string))[0]?.reference as string}/simulate`;
    await client.post(path, { outcome: "processing" });
    expect(await mine()).toContain("Your payment is on its way. Do not pay again");
    expect(await mine()).not.toContain("have not finished");
    expect(await mine()).toContain(own);
    await client.post(path, { outcome: "succeeded" });
    expect(await mine()).toContain("Already paid");
    expect(await mine()).toContain(own);
    expect((await read(url as string)).html).not.toContain(own);
  });

  test("is free again when its payment failed, was canceled or has expired", async () => {
    const { url, uuid } = await link();
    let page = "";
    /** Whether the page of the last payment leads to the link. */
    const leadsOn = async () => (await read(page)).html.includes(`href="${new URL(url as string).pathname}?lang=en"`);
    const next = async (): Promise<string> => {
      expect((await read(url as string)).html).toContain("<form");
      const { location } = await pay(url as string);
      expect(location).not.toContain("/pay/l/");
      page = service.origin + location;
      return (await paymentsOf(uuid as string))[0]?.reference as string;
    };
    await client.post(`/v1/sandbox/payments/${await next()}/simulate`, { outcome: "failed" });
    expect(await leadsOn()).toBe(true);
    await client.post(`/v1/payments/${await next()}/cancel`, {});
    expect(await leadsOn()).toBe(false);
    await next();
    await client.post("/v1/sandbox/clock/advance", { seconds: 1_801 });
    expect(await leadsOn()).toBe(true);
    await next();
    expect((await paymentsOf(uuid as string)).map(({ status }) => status)).toEqual([
      "pending",
      "expired",
      "canceled",
      "failed",
    ]);
  });

  test("with an open amount takes what is within its bounds, and says what is not", async () => {
    const { url, uuid } = await link({
      amount_minor: null,
      minimum_minor: 500_000,
      maximum_minor: 10_000_000,
      reusable: true,
    });
    const { html } = await read(url as string);
    expect(html).toContain("From 5,000.00 to 100,000.00.");
    for (const [amount, problem] of [
      ["4,999.99", "This amount cannot be paid here."],
      ["100,000.01", "This amount cannot be paid here."],
      ["many", "Enter an amount in figures"],
      ['"><script>alert(1)</script>', "Enter an amount in figures"],
    ] as const) {
      const refused = await pay(url as string, { amount });
      expect([refused.status, refused.html.includes(problem)], amount).toEqual([422, true]);
      expect(refused.html).not.toContain("<script>");
      expect(refused.html).toContain('aria-invalid="true"');
    }
    expect(await paymentsOf(uuid as string)).toEqual([]);
    expect((await pay(url as string, { amount: "5,000" })).status).toBe(303);
    expect((await paymentsOf(uuid as string))[0]).toMatchObject({ amount_minor: 500_000 });
  });

  test("takes nothing from a form but what the link leaves open", async () => {
    const { url, uuid } = await link({ payment_methods: ["va", "qris"], reusable: true });
    const { html } = await read(url as string);
    expect(html).not.toContain('value="card"');
    for (const method of ["card", "", "cash", "qris,va"]) {
      const refused = await pay(url as string, { method });
      expect([method, refused.status, refused.html.includes("Choose how you want to pay.")]).toEqual([
        method,
        422,
        true,
      ]);
    }
    const begun = await pay(url as string, {
      amount: "1",
      amount_minor: "1",
      currency: "USD",
      reference_id: "mine",
      metadata: "{}",
    });
    expect(begun.status).toBe(303);
    expect((await paymentsOf(uuid as string))[0]).toMatchObject({ amount_minor: 150_000, currency: "IDR" });
    for (const once of ["", "short", "8".repeat(26), `${"0".repeat(25)}\0`])
      expect((await send(url as string, { once, method: "qris" })).html, once).toContain("This page was too old");
    expect(await paymentsOf(uuid as string)).toHaveLength(1);
  });

  test("asks who pays where the link says so, and keeps it as any payer's data", async () => {
    const { url, uuid } = await link({ customer_required: true, reusable: true });
    const refused = await pay(url as string, { name: "", email: "sari" });
    expect(refused.status).toBe(422);
    expect(refused.html).toContain("Enter your name");
    expect(refused.html).toContain("Enter your e-mail address");
    expect(refused.html).toContain('value="sari"');
    expect((await pay(url as string, { name: "Sari", email: "sari@example.com" })).status).toBe(303);
    const { rows } = await asOwner(service.database, (owner) =>
      owner.query<{ sealed: boolean }>(
        "select customer_sealed is not null as sealed from payments where link_id = $1",
        [uuidOf(uuid as string)],
      ),
    );
    expect(rows).toEqual([{ sealed: true }]);
    // A payment that is judged, or rejected, has a page that says so.
    for (const [email, face] of [
      ["sari@review.test", "review"],
      ["sari@reject.test", "failed"],
    ]) {
      const begun = await pay(url as string, { name: "Sari", email: email ?? "" });
      expect((await read(service.origin + begun.location)).html).toContain(`data-face="${face}"`);
    }
  });

  test("of a link that is over, of a suspended merchant or of a closed production has a calm face and begins nothing", async () => {
    const shop = await service.merchant();
    const once = (await read((await link({}, shop.client)).url as string)).once;
    const over = await link({ expires_in: 60 }, shop.client);
    const closed = await link({}, shop.client);
    const suspended = await link({}, shop.client);
    await shop.client.post("/v1/sandbox/clock/advance", { seconds: 61 });
    expect((await shop.client.post(`/v1/payment-links/${closed.uuid}/deactivate`, {})).status).toBe(200);
    const live = await service.client(shop.merchantId, "production");
    const production = await link({}, live);
    const expectFace = async (url: unknown, said: string): Promise<void> => {
      const { answer, html } = await read(url as string);
      expect([answer.status, html.includes(said), html.includes("<form")], said).toEqual([200, true, false]);
      const sent = await send(url as string, { once, method: "qris" });
      expect([sent.status, sent.location]).toEqual([303, `${new URL(url as string).pathname}?lang=en`]);
    };
    await expectFace(over.url, "Too late");
    await expectFace(closed.url, "Closed");
    await expectFace(production.url, "Cannot be paid now");
    await service.app.merchants.patch(shop.merchantId, { suspended: true });
    await expectFace(suspended.url, "Cannot be paid now");
    const { rows } = await asOwner(service.database, (owner) =>
      owner.query("select from payments where merchant_id = $1", [uuidOf(shop.merchantId)]),
    );
    expect(rows).toHaveLength(0);
  });

  test("in a currency that was disabled since begins nothing, also where the currency has no price any more", async () => {
    const shop = await service.merchant({ settings: alsoIn(defaultSettings, "USD") });
    const { url } = await link({ currency: "USD", reusable: true }, shop.client);
    const { once } = await read(url as string);
    const { fees } = defaultSettings;
    for (const change of [{ currencies: ["IDR"] }, { fees }]) {
      await service.app.merchants.patch(shop.merchantId, change);
      expect((await read(url as string)).html).toContain("Cannot be paid now");
      expect((await send(url as string, { once, method: "card" })).status).toBe(303);
    }
    expect((await shop.client.get("/v1/payments")).json.data).toEqual([]);
    expect((await shop.client.post("/v1/payments", paymentBody())).status).toBe(201);
  });

  test("keeps to its address: no other, no shorter one, no other merchant's", async () => {
    const { url } = await link();
    const other = await service.merchant();
    const theirs = (await link({}, other.client)).url as string;
    const end = (url as string).split("/pay/l/")[1] ?? "";
    const swapped = (theirs.split("/pay/l/")[1] ?? "").slice(0, 26) + end.slice(26);
    for (const wrong of [swapped, end.slice(0, -1), `${end}0`, "x", "state", `${end.slice(0, -1)}u`])
      for (const method of ["GET", "POST"])
        expect((await fetch(`${service.origin}/pay/l/${wrong}`, { method })).status, `${method} ${wrong}`).toBe(404);
  });

  test("bounds what one address begins, and says when it may go on", async () => {
    const fresh = await startService({ database: service.database });
    try {
      const { url } = await link({ reusable: true });
      const here = fresh.origin + new URL(url as string).pathname;
      const forms = await Promise.all(Array.from({ length: 40 }, async () => (await read(here)).once));
      const answers = await Promise.all(forms.map((once) => send(here, { once, method: "qris" })));
      const begun = answers.filter(({ status }) => status === 303);
      const refused = answers.filter(({ status }) => status === 429);
      expect([begun.length, refused.length]).toEqual([30, 10]);
      expect(refused[0]?.html).toContain("Too many payments were started here just now.");
    } finally {
      await fresh.stop();
    }
  });
});
