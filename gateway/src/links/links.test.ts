// Goal: links are made, found and closed as the contract says, by their merchant alone, and the database holds what the rules hold. Method: a whole
// service; every error by its order; then the tables, asked to take what the rules refuse.
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Answer, Client } from "../../../e2e/kit/client.ts";
import { type TestService, asOwner, startService } from "../../test/kit.ts";
import { newId, uuidOf } from "../ground/ids.ts";
import { linkStatuses } from "./link.ts";
import { linkSchema } from "./links.schema.ts";

let service: TestService;
let client: Client;
let merchantId: string;
beforeAll(async () => {
  service = await startService({ roles: ["api"] });
  ({ client, merchantId } = await service.merchant());
});
afterAll(() => service.stop());

const aLink = (changes: Record<string, unknown> = {}) => ({
  amount_minor: 150_000,
  currency: "IDR",
  reusable: false,
  ...changes,
});
const make = (changes: Record<string, unknown> = {}, by = client): Promise<Answer> =>
  by.post("/v1/payment-links", aLink(changes));
const made = async (changes: Record<string, unknown> = {}, by = client): Promise<Answer["json"]> => {
  const answer = await make(changes, by);
  expect(answer.status, answer.text).toBe(201);
  return answer.json;
};

test("a link is made once a key, with an address that nobody can guess", async () => {
  const key = `link-${newId("request", 0)}`;
  const options = { headers: { "idempotency-key": key } };
  const asked = aLink({ description: "Kopi", payment_methods: ["qris"], expires_in: 3_600, metadata: { order: "7" } });
  const first = await client.post("/v1/payment-links", asked, options);
  const again = await client.post("/v1/payment-links", asked, options);
  expect([first.status, again.status]).toEqual([201, 200]);
  expect(again.text).toBe(first.text);
  expect(linkSchema.parse(first.json)).toMatchObject({
    status: "active",
    payment_methods: ["qris"],
    payment_expires_in: 1_800,
    customer_required: false,
    metadata: { order: "7" },
    payment_reference: null,
  });
  expect(Date.parse(first.json.expires_at as string) - Date.parse(first.json.created_at as string)).toBe(3_600_000);
  expect(first.json.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/pay\/l\/[0-9a-z]{52}$/);
  expect(first.json.url).not.toContain((first.json.uuid as string).slice(4));
  expect((await client.get(`/v1/payment-links/${first.json.uuid}`)).json).toEqual(first.json);
});

test.each([
  [{ amount_minor: 0 }, "INVALID_AMOUNT", "amount_minor"],
  [{ amount_minor: 10_000_000_001 }, "INVALID_AMOUNT", "amount_minor"],
  [{ amount_minor: "150000" }, "INVALID_AMOUNT", "amount_minor"],
  [{ amount_minor: null, minimum_minor: 0 }, "INVALID_AMOUNT", "minimum_minor"],
  [{ amount_minor: null, maximum_minor: 10_000_000_001 }, "INVALID_AMOUNT", "maximum_minor"],
  [{ amount_minor: null, minimum_minor: 500, maximum_minor: 499 }, "INVALID_AMOUNT", "maximum_minor"],
  [{ minimum_minor: 500 }, "VALIDATION_ERROR", "minimum_minor"],
  [{ maximum_minor: 500 }, "VALIDATION_ERROR", "maximum_minor"],
  [{ currency: "USD" }, "CURRENCY_NOT_SUPPORTED", undefined],
  [{ currency: "XXX", reusable: "yes" }, "CURRENCY_NOT_SUPPORTED", undefined],
  [{ reusable: undefined }, "VALIDATION_ERROR", "reusable"],
  [{ reusable: 1 }, "VALIDATION_ERROR", "reusable"],
  [{ expires_in: 59 }, "VALIDATION_ERROR", "expires_in"],
  [{ expires_in: 31_536_001 }, "VALIDATION_ERROR", "expires_in"],
  [{ payment_expires_in: 86_401 }, "VALIDATION_ERROR", "payment_expires_in"],
  [{ payment_methods: [] }, "VALIDATION_ERROR", "payment_methods"],
  [{ payment_methods: ["qris", "qris"] }, "VALIDATION_ERROR", "payment_methods"],
  [{ payment_methods: ["cash"] }, "VALIDATION_ERROR", "payment_methods.0"],
  [{ payment_methods: ["card"] }, "PAYMENT_METHOD_UNAVAILABLE", undefined],
  [{ return_url: "http://shop.example" }, "VALIDATION_ERROR", "return_url"],
  [{ return_url: "javascript:alert(1)" }, "VALIDATION_ERROR", "return_url"],
  [{ description: "x".repeat(256) }, "VALIDATION_ERROR", "description"],
  [{ metadata: { a: 1 } }, "VALIDATION_ERROR", "metadata.a"],
  [{ token: "mine" }, "VALIDATION_ERROR", "token"],
])("%j is refused with %s", async (changes, code, field) => {
  await service.app.merchants.patch(merchantId, { methods: { card: false } });
  const { status, json } = await make(changes);
  expect([status, json.error?.code, json.error?.details?.field]).toEqual([422, code, field]);
  if (code === "INVALID_AMOUNT") expect(json.error.message).toMatch(new RegExp(`^${field} must be `));
});

test("an amount out of bounds is told what they are", async () => {
  const wide = await make({ amount_minor: null, minimum_minor: 500, maximum_minor: 499 });
  expect(wide.json.error.message).toBe("maximum_minor must be from 500 to 10000000000.");
  const large = await make({ amount_minor: 10_000_000_001 });
  expect(large.json.error.message).toBe("amount_minor must be from 1 to 10000000000.");
});

test("links are listed newest first, by status, page after page, and to nobody else", async () => {
  const shop = await service.merchant();
  const active = await made({ reusable: true }, shop.client);
  const closed = await made({}, shop.client);
  await shop.client.post(`/v1/payment-links/${closed.uuid}/deactivate`, {});
  const over = await made({ expires_in: 60 }, shop.client);
  await shop.client.post("/v1/sandbox/clock/advance", { seconds: 60 });
  const paid = await made({ payment_methods: ["qris"] }, shop.client);
  const { html } = await pageOf(paid.url as string);
  const begun = await fetch(paid.url as string, {
    method: "POST",
    redirect: "manual",
    body: new URLSearchParams({ once: /name="once" value="(\w+)"/.exec(html)?.[1] ?? "", method: "qris" }),
  });
  expect(begun.status).toBe(303);
  const held = (await shop.client.get(`/v1/payment-links/${paid.uuid}`)).json;
  expect(held.status).toBe("active");
  await shop.client.post(`/v1/sandbox/payments/${held.payment_reference}/simulate`, { outcome: "succeeded" });
  const uuids = [paid, over, closed, active].map(({ uuid }) => uuid as string);
  const list = async (query: string): Promise<Answer["json"]> =>
    (await shop.client.get(`/v1/payment-links?${query}`)).json;
  expect((await list("limit=100")).data.map(({ uuid }: { uuid: string }) => uuid)).toEqual(uuids);
  const first = await list("limit=3");
  expect([first.data.length, first.has_more, first.next_cursor]).toEqual([3, true, uuids[2]]);
  expect((await list(`limit=3&starting_after=${uuids[2]}`)).data).toHaveLength(1);
  for (const status of linkStatuses) {
    const { data } = await list(`status=${status}`);
    expect(
      data.map((link: { status: string }) => link.status),
      status,
    ).toEqual([status]);
  }
  expect((await list("status=open")).error.code).toBe("VALIDATION_ERROR");
  expect((await list(`starting_after=${(await made()).uuid}`)).error.details.field).toBe("starting_after");
  expect((await client.get(`/v1/payment-links?limit=100`)).text).not.toContain(active.uuid as string);
  const deactivated = await shop.client.post(`/v1/payment-links/${paid.uuid}/deactivate`, {});
  expect([deactivated.status, deactivated.json.error.details]).toEqual([409, { status: "paid" }]);
});

test("an amount that no link may have is told with the merchant's bounds", async () => {
  for (const changes of [{ amount_minor: 0 }, { amount_minor: 10_000_000_001 }]) {
    const { status, json } = await make(changes);
    expect([status, json.error.code]).toEqual([422, "INVALID_AMOUNT"]);
    expect(json.error.details).toMatchObject({
      field: "amount_minor",
      minimum_minor: 1,
      maximum_minor: 10_000_000_000,
    });
  }
});

test("a list by status looks at ten thousand links, and goes on from its cursor to what is behind them", async () => {
  const shop = await service.merchant();
  const closed = await made({}, shop.client);
  await shop.client.post(`/v1/payment-links/${closed.uuid}/deactivate`, {});
  await asOwner(service.database, (owner) =>
    owner.query(
      `insert into payment_links (merchant_id, environment, link_id, token, reusable, customer_required, payment_expires_in, created_at, currency)
select $1, 'sandbox', rpad(lpad(to_hex(4000000000000 + n), 12, '0'), 32, '0')::uuid, substr(sha256(n::text::bytea), 1, 16), true, false, 60, now(), 'IDR'
from generate_series(1, 10000) n`,
      [uuidOf(shop.merchantId)],
    ),
  );
  const list = async (query: string): Promise<Answer["json"]> =>
    (await shop.client.get(`/v1/payment-links?${query}`)).json;
  const first = await list("status=deactivated");
  expect(first).toMatchObject({ data: [], has_more: true, next_cursor: expect.stringMatching(/^lnk_/) });
  const second = await list(`status=deactivated&starting_after=${first.next_cursor}`);
  expect(second).toMatchObject({ data: [{ uuid: closed.uuid }], has_more: false, next_cursor: null });
  const active = await list("status=active&limit=2");
  expect([active.data.length, active.has_more]).toEqual([2, true]);
  expect(active.next_cursor).toBe(active.data[1].uuid);
});

const pageOf = async (url: string): Promise<{ html: string }> => ({ html: await (await fetch(url)).text() });

test("another merchant's link is not there, and one of the other environment is told so", async () => {
  const { uuid } = await made();
  const other = await service.merchant();
  const live = await service.client(merchantId, "production");
  for (const [asker, code] of [
    [other.client, "OBJECT_NOT_FOUND"],
    [live, "ENVIRONMENT_MISMATCH"],
  ] as const) {
    expect((await asker.get(`/v1/payment-links/${uuid}`)).json.error.code).toBe(code);
    expect((await asker.post(`/v1/payment-links/${uuid}/deactivate`, {})).json.error.code).toBe(code);
    expect((await asker.get(`/v1/payments?payment_link=${uuid}`)).json.data).toEqual([]);
  }
  for (const wrong of ["lnk_x", newId("link", 0), (uuid as string).toUpperCase()]) {
    expect((await client.get(`/v1/payment-links/${wrong}`)).json.error.code).toBe("OBJECT_NOT_FOUND");
    expect((await client.post(`/v1/payment-links/${wrong}/deactivate`, {})).json.error.code).toBe("OBJECT_NOT_FOUND");
  }
  const reader = await service.client(merchantId, "sandbox", ["payments:read"]);
  expect((await make({}, reader)).json.error.code).toBe("FORBIDDEN");
  expect((await reader.post(`/v1/payment-links/${uuid}/deactivate`, {})).json.error.code).toBe("FORBIDDEN");
  expect((await reader.get(`/v1/payment-links/${uuid}`)).status).toBe(200);
});

test("the database takes one open or paid payment of a link that is paid once, and none that its link does not allow", async () => {
  const once = await made();
  const open = await made({ amount_minor: null, minimum_minor: 10, maximum_minor: 20, reusable: true });
  const closed = await made();
  await client.post(`/v1/payment-links/${closed.uuid}/deactivate`, {});
  const over = await made({ expires_in: 60 });
  await asOwner(service.database, async (owner) => {
    const pay = async (
      link: Answer["json"],
      { amount = 150_000, reusable = false, at = "now()", currency = "IDR" } = {},
    ) => {
      const id = uuidOf(newId("payment", 0));
      await owner.query(
        `insert into payments (merchant_id, environment, payment_id, status, amount_minor, fee_minor, created_at, updated_at, expires_at,
  payment_method, risk_score, currency, reference_id, risk_decision, risk_reasons, routing, link_id, link_reusable)
values ($1, 'sandbox', $2, 'pending', $3, 0, ${at}, now(), now(), 'qris', 0, $4, gen_random_uuid()::text, 'approve', '[]', '{}', $5, $6)`,
        [uuidOf(merchantId), id, amount, currency, uuidOf(link.uuid as string), reusable],
      );
      return id;
    };
    const first = await pay(once);
    await expect(pay(once)).rejects.toThrow("payments_link_once");
    await owner.query("update payments set status = 'expired' where payment_id = $1", [first]);
    const second = await pay(once);
    await owner.query("update payments set status = 'processing' where payment_id = $1", [second]);
    await expect(pay(once)).rejects.toThrow("payments_link_once");
    // It cannot be called reusable, or another's, either.
    await expect(pay(once, { reusable: true })).rejects.toThrow("payments_link");
    await expect(owner.query("update payments set link_id = null where payment_id = $1", [first])).rejects.toThrow(
      "cannot change",
    );
    await expect(pay(once, { amount: 149_999 })).rejects.toThrow("does not allow it");
    await expect(pay(once, { currency: "USD" })).rejects.toThrow("does not allow it");
    for (const amount of [9, 21])
      await expect(pay(open, { amount, reusable: true })).rejects.toThrow("does not allow it");
    for (const amount of [10, 20]) await pay(open, { amount, reusable: true });
    await expect(pay(closed)).rejects.toThrow("does not allow it");
    const end = `(select expires_at from payment_links where link_id = '${uuidOf(over.uuid as string)}')`;
    for (const at of [end, "now() + interval '1 minute'"])
      await expect(pay(over, { at })).rejects.toThrow("does not allow it");
    await pay(over, { at: `${end} - interval '1 microsecond'` });
    const change = (set: string) =>
      owner.query(`update payment_links set ${set} where link_id = $1`, [uuidOf(once.uuid as string)]);
    for (const set of [
      "amount_minor = 1",
      "reusable = true",
      "deactivated_at = now(), currency = 'USD'",
      "token = '\\x00'",
    ])
      await expect(change(set), set).rejects.toThrow();
    await change("deactivated_at = now()");
    await expect(change("deactivated_at = null")).rejects.toThrow("once");
  });
});
