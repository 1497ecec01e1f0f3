// Goal: payments do what the interface says, from creation to money. Method: a whole service in this process, real sockets.
import { alsoIn } from "../../test/currencies.ts";
import { defaultSettings } from "../merchants/settings.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Answer, Client } from "../../../e2e/kit/client.ts";
import { type TestService, asOwner, paymentBody, startService } from "../../test/kit.ts";
import { uuidOf } from "../ground/ids.ts";
import { verifyBook } from "../ledger/verify.ts";
import { openDatabase } from "../../test/kit.ts";
import {
  canceledPaymentSchema,
  createdPaymentSchema,
  paymentEventSchema,
  paymentListSchema,
  paymentStatusSchema,
} from "./payments.schema.ts";

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

async function created(client: Client, changes: Record<string, unknown> = {}): Promise<Answer["json"]> {
  const answer = await client.post("/v1/payments", paymentBody(changes));
  expect(answer.status, answer.text).toBe(201);
  return answer.json;
}

const simulate = (client: Client, reference: string, outcome: string): Promise<Answer> =>
  client.post(`/v1/sandbox/payments/${reference}/simulate`, { outcome });

async function eventsOf(
  merchantId: string,
): Promise<{ type: string; data: Record<string, unknown>; id: string; created_at: string }[]> {
  const { rows } = await asOwner(service.database, (client) =>
    client.query<{ body: string }>("select body from events where merchant_id = $1 order by event_id", [
      uuidOf(merchantId),
    ]),
  );
  return rows.map(({ body }) => JSON.parse(body) as never);
}

describe("creation", () => {
  test.each(["qris", "va", "card", "ewallet", "bank_transfer"])(
    "%s: the answer has the contract's shape and says what was asked",
    async (method) => {
      const { client } = await service.merchant();
      const body = paymentBody({
        payment_method: method,
        description: "Kopi ☕",
        metadata: { table: "4", "": undefined, kosong: "" },
        customer: { name: "Sari", email: "sari@pelanggan.id", phone: "+628123456789" },
        expires_in: 600,
      });
      const answer = await client.post("/v1/payments", body);
      expect(answer.status).toBe(201);
      const payment = createdPaymentSchema.parse(answer.json);
      expect(payment).toMatchObject({
        status: "pending",
        amount_minor: 150_000,
        exponent: 2,
        refunded_minor: 0,
        payment_method: method,
        description: "Kopi ☕",
        environment: "sandbox",
        metadata: { table: "4", kosong: "" },
        risk: { decision: "approve", score: 0 },
      });
      expect(payment.net_minor).toBe(payment.amount_minor - payment.fee_minor);
      expect(payment.instructions?.expires_at).toBe(payment.expires_at);
      expect(Date.parse(payment.expires_at) - Date.parse(payment.created_at)).toBe(600_000);
      // Who lost this answer still learns where its payer pays.
      const read = await client.get(`/v1/payments/${payment.reference}`);
      const [listed] = (await client.get(`/v1/payments?reference_id=${payment.reference_id}`)).json.data;
      expect([read.json.checkout_url, listed.checkout_url]).toEqual([payment.checkout_url, payment.checkout_url]);
    },
  );

  test("a rejected payment exists as failed, tells why to the operator alone, and emits payment.failed", async () => {
    const { client, merchantId } = await service.merchant();
    const body = paymentBody({ customer: { email: "x@reject.test" } });
    const answer = await client.post("/v1/payments", body);
    expect([answer.status, answer.json.error.code]).toEqual([422, "RISK_REJECTED"]);
    expect(answer.text).not.toContain("sandbox_asked");
    const { json } = await client.get(`/v1/payments?reference_id=${String(body.reference_id)}`);
    expect(json.data).toMatchObject([{ status: "failed", gateway_code: null }]);
    expect((await eventsOf(merchantId)).map(({ type }) => type)).toEqual(["payment.failed"]);
    const { rows } = await asOwner(service.database, (owner) =>
      owner.query("select risk_reasons from payments where merchant_id = $1", [uuidOf(merchantId)]),
    );
    expect(JSON.stringify(rows)).toContain("sandbox_asked_for_reject");
  });

  test("velocity counts one customer's payments by the book's clock", async () => {
    const { client } = await service.merchant({ settings: { risk: { customer_per_hour: 5 } } });
    const body = () => paymentBody({ customer: { email: "busy@pelanggan.id" } });
    for (let count = 0; count < 5; count++) expect((await client.post("/v1/payments", body())).json.risk.score).toBe(0);
    const more = await Promise.all(Array.from({ length: 3 }, () => client.post("/v1/payments", body())));
    expect(more.map(({ json }) => json.risk.score as number)).toEqual([60, 60, 60]);
    await client.post("/v1/sandbox/clock/advance", { seconds: 3601 });
    expect((await client.post("/v1/payments", body())).json.risk.score).toBe(0);
  });

  test("each payment keeps which acquirers were looked at and why one was chosen", async () => {
    const { client, merchantId } = await service.merchant();
    await created(client);
    const { rows } = await asOwner(service.database, (owner) =>
      owner.query<{ routing: { candidates: { gateway_code: string; verdict: string }[] } }>(
        "select routing from payments where merchant_id = $1",
        [uuidOf(merchantId)],
      ),
    );
    expect(rows[0]?.routing.candidates.map(({ verdict }) => verdict)).toContain("chosen");
    expect(rows[0]?.routing.candidates).toHaveLength(4);
  });
});

describe("reading", () => {
  test("a payment is found by reference and by the merchant's own order identity", async () => {
    const { client } = await service.merchant();
    const payment = await created(client, { reference_id: "pesanan 1/ä" });
    const byReference = await client.get(`/v1/payments/${payment.reference}`);
    expect(paymentStatusSchema.parse(byReference.json)).toMatchObject({
      reference: payment.reference,
      status: "pending",
    });
    const list = paymentListSchema.parse(
      (await client.get(`/v1/payments?reference_id=${encodeURIComponent("pesanan 1/ä")}`)).json,
    );
    expect(list).toMatchObject({ data: [{ reference: payment.reference }], has_more: false, next_cursor: null });
    expect((await client.get("/v1/payments?reference_id=unknown")).json).toEqual({
      data: [],
      has_more: false,
      next_cursor: null,
    });
  });

  test("the list pages through everything once, newest first, under any filter", async () => {
    const { client } = await service.merchant();
    const references: string[] = [];
    for (let count = 0; count < 7; count++) {
      references.unshift((await created(client, { payment_method: count % 2 ? "va" : "qris" })).reference);
    }
    const walk = async (query: string): Promise<string[]> => {
      const seen: string[] = [];
      for (let cursor = ""; ;) {
        const { json } = await client.get(`/v1/payments?limit=2${query}${cursor}`);
        const page = paymentListSchema.parse(json);
        seen.push(...page.data.map(({ reference }) => reference));
        expect(page.has_more).toBe(page.next_cursor !== null);
        if (page.next_cursor === null) return seen;
        expect(page.next_cursor).toBe(page.data.at(-1)?.reference);
        cursor = `&starting_after=${page.next_cursor}`;
      }
    };
    expect(await walk("")).toEqual(references);
    expect(await walk("&payment_method=va")).toEqual(references.filter((_, index) => index % 2 === 1));
    expect(await walk("&status=succeeded")).toEqual([]);
    const today = new Date().toISOString().slice(0, 10);
    expect(await walk(`&created_from=${today}&created_to=${today}`)).toEqual(references);
    expect(await walk("&created_to=2020-01-01")).toEqual([]);
  });

  test("cursors that are not one's own are refused", async () => {
    const [{ client }, other] = await Promise.all([service.merchant(), service.merchant()]);
    const foreign = await created(other.client);
    for (const cursor of [foreign.reference, "pay_nonsense", ""]) {
      const answer = await client.get(`/v1/payments?starting_after=${cursor}`);
      expect([answer.status, answer.json.error.code, answer.json.error.details.field]).toEqual([
        422,
        "VALIDATION_ERROR",
        "starting_after",
      ]);
    }
  });
});

describe("money", () => {
  test("a paid payment credits the merchant net, once, and the book verifies", async () => {
    const { client, merchantId } = await service.merchant();
    const payment = await created(client, { amount_minor: 1_000_000 });
    expect((await client.get("/v1/balances")).json.data).toMatchObject([{ currency: "IDR", available_minor: 0 }]);
    expect((await simulate(client, payment.reference, "processing")).json.status).toBe("processing");
    const paid = await simulate(client, payment.reference, "succeeded");
    const status = paymentStatusSchema.parse(paid.json);
    expect(status).toMatchObject({ status: "succeeded", settlement: { status: "pending" } });
    expect(status.paid_at).toBeDefined();
    const { json } = await client.get("/v1/balances");
    expect(json).toMatchObject({
      environment: "sandbox",
      data: [
        {
          currency: "IDR",
          exponent: 2,
          available_minor: payment.net_minor,
          held_minor: 0,
          pending_settlement_minor: 0,
        },
      ],
    });
    const again = await simulate(client, payment.reference, "succeeded");
    expect([again.status, again.json.error.code]).toEqual([409, "PAYMENT_NOT_PAYABLE"]);
    const database = openDatabase(service.database);
    expect(await verifyBook(database, { merchantId, environment: "sandbox" })).toMatchObject({
      journals: 1n,
      wrong: undefined,
    });
    await database.end();
    const events = await eventsOf(merchantId);
    expect(events.map(({ type }) => type)).toEqual(["payment.created", "payment.processing", "payment.succeeded"]);
    for (const { data } of events) paymentEventSchema.parse(data);
  });

  test("any number of concurrent payers' decisions credit once", async () => {
    const { client } = await service.merchant();
    const payment = await created(client);
    const answers = await Promise.all(
      Array.from({ length: 12 }, () => simulate(client, payment.reference, "succeeded")),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect((await client.get("/v1/balances")).json.data[0].available_minor).toBe(payment.net_minor);
  });

  test("every enabled currency has an entry, zeros included", async () => {
    const { client } = await service.merchant({ settings: alsoIn(defaultSettings, "USD", "JPY") });
    const { json } = await client.get("/v1/balances");
    expect(json.data.map((entry: { currency: string; exponent: number }) => [entry.currency, entry.exponent])).toEqual([
      ["IDR", 2],
      ["JPY", 0],
      ["USD", 2],
    ]);
  });
});

describe("endings", () => {
  test("a pending payment is canceled once", async () => {
    const { client, merchantId } = await service.merchant();
    const payment = await created(client);
    const canceled = await client.post(`/v1/payments/${payment.reference}/cancel`, { reason: "out of stock" });
    expect(canceledPaymentSchema.parse(canceled.json)).toMatchObject({ status: "canceled", reason: "out of stock" });
    const again = await client.post(`/v1/payments/${payment.reference}/cancel`, {});
    expect([again.status, again.json.error.code]).toEqual([409, "PAYMENT_NOT_CANCELABLE"]);
    expect((await eventsOf(merchantId)).filter(({ type }) => type === "payment.canceled")).toHaveLength(1);
  });

  test("a payment expires by the book's clock, within two seconds, and cannot be paid after", async () => {
    const { client, merchantId } = await service.merchant();
    const [first, second] = [await created(client, { expires_in: 60 }), await created(client, { expires_in: 3600 })];
    await client.post("/v1/sandbox/clock/advance", { seconds: 61 });
    expect((await client.get(`/v1/payments/${first.reference}`)).json.status).toBe("expired");
    expect((await client.get(`/v1/payments/${second.reference}`)).json.status).toBe("pending");
    const late = await simulate(client, first.reference, "succeeded");
    expect([late.status, late.json.error.code]).toEqual([409, "PAYMENT_EXPIRED"]);
    expect((await eventsOf(merchantId)).filter(({ type }) => type === "payment.expired")).toHaveLength(1);
    // The clock of one book is nobody else's.
    const other = await service.merchant();
    const [{ json: mine }, { json: theirs }] = await Promise.all([
      client.get("/v1/sandbox/clock"),
      other.client.get("/v1/sandbox/clock"),
    ]);
    expect(Date.parse(mine.now) - Date.parse(theirs.now)).toBeGreaterThanOrEqual(60_000);
    expect(theirs.offset_seconds).toBe(0);
  });

  test("the worker expires by itself what falls due in real time", async () => {
    const { client, merchantId } = await service.merchant();
    const payment = await created(client, { expires_in: 60 });
    // Move the creation into the past, as if a minute had gone by: owner's rights, the guard set aside.
    await asOwner(service.database, async (owner) => {
      await owner.query("set session_replication_role = replica");
      await owner.query("update payments set expires_at = now() where merchant_id = $1", [uuidOf(merchantId)]);
    });
    const status = async (): Promise<unknown> => (await client.get(`/v1/payments/${payment.reference}`)).json.status;
    await expect.poll(status).toBe("expired");
  });

  test("the largest payment that is accepted can take every step", async () => {
    const { client } = await service.merchant();
    const wide = "\u0001".repeat(500); // six bytes each in JSON
    const metadata = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`${index}${"k".repeat(38)}`, wide]));
    const changes = { metadata, description: "\u0001".repeat(255), customer: { name: "N".repeat(120) } };
    for (const end of ["succeeded", "failed", "cancel"]) {
      const payment = await created(client, { ...changes, reference_id: `${end}${"r".repeat(50)}` });
      expect(payment.metadata).toEqual(metadata);
      const answer =
        end === "cancel"
          ? await client.post(`/v1/payments/${payment.reference}/cancel`, { reason: "\u0001".repeat(255) })
          : await simulate(client, payment.reference, end);
      expect(answer.status, end).toBe(200);
    }
  });
});

describe("review", () => {
  const asked = (changes: Record<string, unknown> = {}): Record<string, unknown> =>
    paymentBody({ customer: { email: "someone@review.test" }, ...changes });
  const typesOf = async (merchantId: string): Promise<string[]> => (await eventsOf(merchantId)).map(({ type }) => type);

  test("it waits with its 202 replayed under the key, and approved it can be paid for as long as was asked", async () => {
    const { client, merchantId } = await service.merchant();
    const body = asked({ expires_in: 600 });
    const first = await client.post("/v1/payments", body, { key: "review-once" });
    const again = await client.post("/v1/payments", body, { key: "review-once" });
    expect([again.status, again.headers.get("x-idempotent-replay"), again.text]).toEqual([202, "true", first.text]);
    const { reference } = first.json.error.details;
    const queue = await service.operate("GET", "/reviews?limit=100");
    expect(queue.data.find((entry: { reference: string }) => entry.reference === reference)).toMatchObject({
      merchant_id: merchantId,
      reasons: expect.arrayContaining([expect.objectContaining({ sign: "sandbox_asked_for_review" })]),
    });
    await client.post("/v1/sandbox/clock/advance", { seconds: 3_600 });
    const read = async (): Promise<Answer["json"]> => (await client.get(`/v1/payments/${reference}`)).json;
    // the review's own time, not the payment's
    expect(await read()).toMatchObject({ status: "pending", gateway_code: null, instructions: null });
    expect(await typesOf(merchantId)).toEqual([]);
    const approved = await service.operate("POST", `/reviews/${reference}/approve`);
    const instructions = { type: "qr_string", value: expect.stringMatching(/^000201/) };
    expect(approved).toMatchObject({ reference, merchant_id: merchantId, status: "pending", instructions });
    await expect(service.operate("POST", `/reviews/${reference}/approve`)).rejects.toThrow(/PAYMENT_NOT_FOUND/);
    expect(await typesOf(merchantId)).toEqual(["payment.created"]);
    expect(await read()).toMatchObject({ gateway_code: "nusantara", instructions, expires_at: approved.expires_at });
    const [listed] = (await client.get("/v1/payments?limit=1")).json.data;
    expect(listed.instructions).toEqual(approved.instructions);
    const [event] = (await client.get("/v1/events?limit=1")).json.data;
    expect(event.data).toMatchObject({ instructions: approved.instructions, expires_at: approved.expires_at });
    const { reference: brief } = (await client.post("/v1/payments", asked({ expires_in: 60 }))).json.error.details;
    await service.operate("POST", `/reviews/${brief}/approve`);
    await client.post("/v1/sandbox/clock/advance", { seconds: 500 });
    expect((await client.get(`/v1/payments/${brief}`)).json.status).toBe("expired");
    const paidNow = (await simulate(client, reference, "succeeded")).json;
    expect([paidNow.status, "instructions" in paidNow, "instructions" in (await read())]).toEqual([
      "succeeded",
      false,
      false,
    ]);
  });

  test("refused, canceled or forgotten, it ends", async () => {
    const { client, merchantId } = await service.merchant();
    const reviewed = async (): Promise<string> =>
      (await client.post("/v1/payments", asked())).json.error.details.reference;
    const [refused, canceled, forgotten] = [await reviewed(), await reviewed(), await reviewed()];
    expect(await service.operate("POST", `/reviews/${refused}/refuse`)).toMatchObject({ status: "failed" });
    expect((await client.post(`/v1/payments/${canceled}/cancel`, {})).json.status).toBe("canceled");
    await client.post("/v1/sandbox/clock/advance", { seconds: 24 * 3600 + 1 });
    expect(await typesOf(merchantId)).toEqual(["payment.failed", "payment.canceled", "payment.failed"]);
    for (const reference of [refused, canceled, forgotten, "pay_nonsense"])
      await expect(service.operate("POST", `/reviews/${reference}/approve`)).rejects.toThrow(/PAYMENT_NOT_FOUND/);
  });

  test("two judgements at once have one effect", async () => {
    const { client, merchantId } = await service.merchant();
    const { reference } = (await client.post("/v1/payments", asked())).json.error.details;
    const results = await Promise.allSettled(
      ["approve", "refuse", "approve", "refuse"].map((word) =>
        service.operate("POST", `/reviews/${reference}/${word}`),
      ),
    );
    expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    expect(await typesOf(merchantId)).toHaveLength(1);
  });
});

describe("the payer's page", () => {
  test("shows what is owed to whom, takes the decision once, and is found only by its own name", async () => {
    const { client } = await service.merchant({ name: "Kopi <b>&" });
    const payment = await created(client, {
      payment_method: "ewallet",
      amount_minor: 1_234_567,
      description: "<script>alert(1)</script>",
    });
    const url: string = payment.instructions.redirect_url;
    const page = await fetch(url);
    const html = await page.text();
    expect(page.headers.get("content-security-policy")).toContain("default-src 'none'");
    expect(html).toContain("<small>IDR</small>12,345.67");
    expect(html).toContain("Kopi &#60;b&#62;&#38;");
    expect(html).not.toContain("<script>");
    const approve = (): Promise<Response> =>
      fetch(url, {
        method: "POST",
        redirect: "manual",
        headers: { "content-type": "application/x-www-form-urlencoded" },
        body: "decision=approve",
      });
    expect((await approve()).status).toBe(303);
    expect((await approve()).status).toBe(303);
    expect(await (await fetch(url)).text()).toContain("Paid. Thank you.");
    expect((await client.get(`/v1/payments/${payment.reference}`)).json.status).toBe("succeeded");
    expect((await client.get("/v1/balances")).json.data[0].available_minor).toBe(payment.net_minor);
    const forged = `${url.slice(0, -1)}${url.endsWith("0") ? "1" : "0"}`;
    for (const wrong of [forged, url.slice(0, -5), `${service.origin}/pay/x`])
      expect((await fetch(wrong)).status).toBe(404);
  });

  test("leads back to the merchant's own page: quietly while it can be paid, by a button when the payer has decided", async () => {
    const { client } = await service.merchant({ name: "Kopi" });
    const returnUrl = "https://kopi.example.com/thanks?a=1&b='2'#x";
    const payment = await created(client, { payment_method: "card", return_url: returnUrl });
    expect(payment.return_url).toBe(returnUrl);
    const url: string = payment.instructions.redirect_url;
    const link = 'href="https://kopi.example.com/thanks?a=1&#38;b=&#39;2&#39;#x" rel="noreferrer">Back to Kopi</a>';
    expect(await (await fetch(url)).text()).toContain(`<a class="back" ${link}`);
    await fetch(url, { method: "POST", redirect: "manual", body: new URLSearchParams({ decision: "approve" }) });
    expect(await (await fetch(url)).text()).toContain(`<a class="button main wide" ${link}`);
  });

  test("of a sandbox lead back to a program on the developer's own machine, and the database takes no other http", async () => {
    const { client } = await service.merchant();
    for (const url of ["http://localhost:3000/orders/1", "http://127.0.0.1", "http://[::1]:5173?x"])
      expect((await created(client, { return_url: url })).return_url).toBe(url);
    const { reference } = await created(client, {});
    const keep = (url: string) =>
      asOwner(service.database, (owner) =>
        owner.query("update payments set return_url = $1 where payment_id = $2", [url, uuidOf(reference)]),
      );
    for (const url of ["http://shop.example", "http://localhost.shop.example", "http://127.0.0.2/"])
      await expect(keep(url)).rejects.toThrow("payments_return_url_check");
    const { status, json } = await client.post("/v1/payment-links", {
      currency: "IDR",
      reusable: true,
      return_url: "http://localhost:3000",
    });
    expect([status, json.return_url]).toEqual([201, "http://localhost:3000"]);
  });

  test("a declined and an expired payment say so", async () => {
    const { client } = await service.merchant();
    const [declined, expired] = [
      await created(client, { payment_method: "card" }),
      await created(client, { payment_method: "card" }),
    ];
    await fetch(declined.instructions.redirect_url, {
      method: "POST",
      redirect: "manual",
      body: new URLSearchParams({ decision: "decline" }),
    });
    expect(await (await fetch(declined.instructions.redirect_url)).text()).toContain("Not paid");
    await client.post("/v1/sandbox/clock/advance", { seconds: 1801 });
    expect(await (await fetch(expired.instructions.redirect_url)).text()).toContain("The time to pay is over.");
  });
});
