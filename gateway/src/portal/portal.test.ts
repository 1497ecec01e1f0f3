// Goal: through the portal's door comes only who is signed in, from our own pages, for a merchant they belong to, to do what their role allows;
// and behind it are the merchants' own endpoints. Method: browsers, as far as their requests go, on a real service.
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { Browser, PASSWORD, joins } from "../../test/portal.ts";
import { type TestService, asOwner, paymentBody, startService } from "../../test/kit.ts";
import type { Answer } from "../../../e2e/kit/client.ts";

let service: TestService;
let merchantId: string;
let owner: Browser;

beforeAll(async () => {
  service = await startService({ roles: ["api"] });
});
afterAll(() => service.stop());
beforeEach(async () => {
  ({ merchantId } = await service.merchant());
  owner = await joins(service, merchantId);
});

const outcome = ({ status, json }: Answer): string => `${status} ${json?.error?.code ?? ""}`.trim();
const elsewhere = (browser: Browser): Browser =>
  Object.assign(new Browser(browser.origin, browser.merchantId), { email: browser.email });
const ages = (minutes: number): Promise<unknown> =>
  asOwner(service.database, (root) =>
    root.query("update sessions set proved_at = proved_at - make_interval(mins => $1)", [minutes]),
  );

describe("signing in", () => {
  test("a password begins a session, which says what one may do for whom", async () => {
    const browser = elsewhere(owner);
    expect(outcome(await browser.get("/portal/v1/session"))).toBe("401 UNAUTHORIZED");
    const answer = await browser.post("/portal/v1/session", { email: browser.email, password: PASSWORD });
    expect(answer.status).toBe(200);
    expect(answer.headers.getSetCookie()).toEqual([
      expect.stringMatching(/^session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax; Max-Age=604800$/),
    ]);
    expect(answer.headers.get("cache-control")).toBe("no-store");
    const { json } = await browser.get("/portal/v1/session");
    expect(json).toEqual(answer.json);
    expect(json.person.email).toBe(browser.email);
    expect(json.memberships).toMatchObject([{ merchant_id: merchantId, role: "owner" }]);
    expect(json.memberships[0].actions.production).toContain("refunds:write");
    expect(json.memberships[0].actions.production).not.toContain("sandbox:write");
  });

  test("an unknown address and a wrong password are answered alike", async () => {
    const browser = elsewhere(owner);
    const wrong = await browser.post("/portal/v1/session", { email: browser.email, password: "kopi tubruk senja 8" });
    const unknown = await browser.post("/portal/v1/session", { email: "nobody@people.example", password: PASSWORD });
    expect([outcome(wrong), wrong.json.error.message]).toEqual([outcome(unknown), unknown.json.error.message]);
    expect(outcome(wrong)).toBe("401 UNAUTHORIZED");
    expect(browser.cookie).toBeUndefined();
  });

  test("a page in whose browser someone else has signed in since is told nothing, and changes nothing", async () => {
    const name = async (): Promise<string> => (await owner.get("/portal/v1/session")).json.person.name;
    const before = await name();
    const meant = async (personId: string): Promise<string> =>
      outcome(await owner.send("PATCH", "/portal/v1/person", { name: "Another" }, { "x-person-id": personId }));
    const { json } = await (await joins(service, merchantId, "viewer")).get("/portal/v1/session");
    expect(await meant(json.person.person_id)).toBe("401 UNAUTHORIZED");
    expect(await name()).toBe(before);
    expect(await meant((await owner.get("/portal/v1/session")).json.person.person_id)).toBe("200");
    expect(await name()).toBe("Another");
  });

  test("a session that is ended elsewhere is over at once, and one of somebody else's cannot be ended", async () => {
    const phone = elsewhere(owner);
    await phone.post("/portal/v1/session", { email: phone.email, password: PASSWORD });
    const stranger = await joins(service, merchantId, "viewer");
    const { json } = await owner.get("/portal/v1/sessions");
    const [ofPhone] = json.data.filter(({ current }: { current: boolean }) => !current);
    expect(outcome(await stranger.send("DELETE", `/portal/v1/sessions/${ofPhone.session_id}`))).toBe(
      "404 OBJECT_NOT_FOUND",
    );
    expect((await phone.get("/portal/v1/session")).status).toBe(200);
    expect((await owner.send("DELETE", `/portal/v1/sessions/${ofPhone.session_id}`)).status).toBe(200);
    expect(outcome(await phone.get("/portal/v1/session"))).toBe("401 UNAUTHORIZED");
  });

  test("signing out removes the cookie and ends the session", async () => {
    const { cookie } = owner;
    expect((await owner.send("DELETE", "/portal/v1/session")).status).toBe(200);
    expect(owner.cookie).toBeUndefined();
    owner.cookie = cookie;
    expect(outcome(await owner.get("/portal/v1/session"))).toBe("401 UNAUTHORIZED");
  });

  test("a proof makes a session fresh, under another token", async () => {
    await ages(11);
    const invite = (): Promise<Answer> => owner.post("/portal/v1/team/invitations", { role: "viewer" });
    expect(outcome(await invite())).toBe("403 PROOF_REQUIRED");
    const { cookie } = owner;
    expect(outcome(await owner.post("/portal/v1/session/proof", { password: "not the password" }))).toBe(
      "401 UNAUTHORIZED",
    );
    expect((await owner.post("/portal/v1/session/proof", { password: PASSWORD })).status).toBe(200);
    expect((await invite()).status).toBe(201);
    const before = elsewhere(owner);
    before.cookie = cookie;
    expect(outcome(await before.get("/portal/v1/session"))).toBe("401 UNAUTHORIZED");
  });
});

describe("the door", () => {
  test.each([
    ["no Sec-Fetch-Site", { "sec-fetch-site": "" }],
    ["another site", { "sec-fetch-site": "cross-site" }],
    ["a sister of ours", { "sec-fetch-site": "same-site" }],
    ["no Origin", { origin: "" }],
    ["another Origin", { origin: "https://evil.example" }],
    ["an opaque Origin", { origin: "null" }],
  ])("refuses a change from %s, and nothing happens", async (_name, headers: Record<string, string>) => {
    const body = paymentBody();
    expect(outcome(await owner.post("/portal/v1/payments", body, headers))).toBe("403 FORBIDDEN");
    expect(outcome(await owner.post("/portal/v1/team/invitations", { role: "owner" }, headers))).toBe("403 FORBIDDEN");
    expect(outcome(await owner.send("DELETE", "/portal/v1/session", undefined, headers))).toBe("403 FORBIDDEN");
    expect((await owner.get(`/portal/v1/payments?reference_id=${String(body.reference_id)}`)).json.data).toEqual([]);
    expect((await owner.get("/portal/v1/team/invitations")).json.data).toEqual([]);
  });

  test("asks for merchant and environment, and knows no merchant but one's own", async () => {
    const { merchantId: other } = await service.merchant();
    const ask = (headers: Record<string, string>): Promise<Answer> => owner.get("/portal/v1/payments", headers);
    expect((await ask({})).status).toBe(200);
    expect((await ask({ "x-merchant-id": "" })).json.error.details.field).toBe("X-Merchant-Id");
    expect((await ask({ "x-environment": "live" })).json.error.details.field).toBe("X-Environment");
    for (const id of [other, "mer_1", "mer_00000000000000000000000000"])
      expect(outcome(await ask({ "x-merchant-id": id }))).toBe("404 OBJECT_NOT_FOUND");
    expect(outcome(await ask({ cookie: "" }))).toBe("401 UNAUTHORIZED");
    expect(outcome(await ask({ cookie: `session=${"A".repeat(43)}` }))).toBe("401 UNAUTHORIZED");
    expect(outcome(await ask({ cookie: `${owner.cookie}; ${owner.cookie}` }))).toBe("401 UNAUTHORIZED");
  });

  test("lets a role do what it may, there where it may", async () => {
    const viewer = await joins(service, merchantId, "viewer");
    const refused = await viewer.post("/portal/v1/payments", paymentBody());
    expect(outcome(refused)).toBe("403 FORBIDDEN");
    expect(refused.json.error.details).toEqual({ role: "viewer", action: "payments:write", environment: "sandbox" });
    expect((await viewer.get("/portal/v1/payments")).status).toBe(200);
    expect(outcome(await viewer.get("/portal/v1/audit"))).toBe("403 FORBIDDEN");
    const developer = await joins(service, merchantId, "developer");
    expect((await developer.post("/portal/v1/payments", paymentBody())).status).toBe(201);
    developer.environment = "production";
    expect(outcome(await developer.post("/portal/v1/payments", paymentBody()))).toBe("403 FORBIDDEN");
  });

  test("forgets nobody's change of role: it holds at the next request", async () => {
    const finance = await joins(service, merchantId, "finance");
    const team = (await owner.get("/portal/v1/team")).json.data as { person_id: string; email: string }[];
    const { person_id: id } = team.find(({ email }) => email === finance.email) ?? {};
    expect((await owner.send("PATCH", `/portal/v1/team/${id}`, { role: "viewer" })).status).toBe(200);
    expect(outcome(await finance.post("/portal/v1/refunds", { payment_reference: "pay_1" }))).toBe("403 FORBIDDEN");
    expect((await owner.send("DELETE", `/portal/v1/team/${id}`)).status).toBe(200);
    expect(outcome(await finance.get("/portal/v1/payments"))).toBe("404 OBJECT_NOT_FOUND");
    const self = team.find(({ email }) => email === owner.email)?.person_id;
    expect(outcome(await owner.send("DELETE", `/portal/v1/team/${self}`))).toBe("422 VALIDATION_ERROR");
  });

  test("stops a suspended merchant, and who asks too often", async () => {
    await service.operate("PATCH", `/merchants/${merchantId}`, { rate_limit_per_minute: 2 });
    const asked: string[] = [];
    await expect
      .poll(
        async () => {
          asked.push(outcome(await owner.get("/portal/v1/team")));
          return asked.at(-1);
        },
        { timeout: 30_000, interval: 50 },
      )
      .toBe("429 RATE_LIMITED");
    await service.operate("PATCH", `/merchants/${merchantId}`, { rate_limit_per_minute: 100_000, suspended: true });
    await expect
      .poll(async () => outcome(await owner.get("/portal/v1/payments")), { timeout: 30_000, interval: 50 })
      .toBe("403 MERCHANT_SUSPENDED");
    // What the portal alone offers, too: no key is made for it, and nobody is let in.
    for (const [path, body] of [
      ["credentials", { name: "x" }],
      ["team/invitations", { role: "owner" }],
    ] as const)
      expect(outcome(await owner.post(`/portal/v1/${path}`, body)), path).toBe("403 MERCHANT_SUSPENDED");
    expect((await owner.get("/portal/v1/session")).status).toBe(200);
  });

  test.each([
    ["{", "400 MALFORMED_JSON"],
    ['{"role":"viewer","role":"owner"}', "400 MALFORMED_JSON"],
    ['{"role":"king"}', "422 VALIDATION_ERROR"],
    ['{"role":"viewer","colour":"red"}', "422 VALIDATION_ERROR"],
    ['{"role":"viewer","email":null}', "422 VALIDATION_ERROR"],
    [`{"role":"viewer","email":"${"x".repeat(300_000)}"}`, "413 PAYLOAD_TOO_LARGE"],
  ])("judges a body: %.40s", async (body, wanted) => {
    expect(outcome(await owner.send("POST", "/portal/v1/team/invitations", Buffer.from(body)))).toBe(wanted);
  });
});

describe("the merchants' endpoints behind it", () => {
  test("are all there, with the same answers", async () => {
    const merchants = JSON.parse(service.app.contracts.merchant()) as {
      paths: Record<string, Record<string, unknown>>;
    };
    const portal = JSON.parse(service.app.contracts.portal()) as typeof merchants;
    const pathsOf = ({ paths }: typeof merchants): string[] =>
      Object.entries(paths).flatMap(([path, methods]) => Object.keys(methods).map((method) => `${method} ${path}`));
    const wanted = pathsOf(merchants)
      // The log of requests is there by another path, that of both environments.
      .filter((line) => !/\/v1\/(health|sandbox\/events\/listen|sandbox\/requests(\/\{\w+\})?)$/.test(line))
      .map((line) => line.replace(" /v1", " /portal/v1"));
    expect(wanted.length).toBeGreaterThan(30);
    expect(pathsOf(portal)).toEqual(expect.arrayContaining(wanted));
    // It is about the credential that asks, and people have none.
    expect(pathsOf(portal)).not.toContain("get /portal/v1/sandbox/events/listen");
    expect(outcome(await owner.get("/portal/v1/sandbox/events/listen"))).toBe("404 ROUTE_NOT_FOUND");
    const client = await service.client(merchantId);
    const made = (await client.post("/v1/payments", paymentBody())).json;
    const [byKey, byPerson] = await Promise.all([
      client.get(`/v1/payments/${made.reference}`),
      owner.get(`/portal/v1/payments/${made.reference}`),
    ]);
    expect(byPerson.json).toEqual(byKey.json);
  });

  test("an intent happens once, however often it is clicked", async () => {
    const headers = { "idempotency-key": randomUUID() };
    const body = paymentBody();
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => owner.post("/portal/v1/payments", body, headers)),
    );
    const made = answers.filter(({ status }) => status < 300).map(({ json }) => json.reference as string);
    expect(new Set(made).size).toBe(1);
    expect((await owner.get("/portal/v1/payments")).json.data).toHaveLength(1);
    expect(outcome(await owner.post("/portal/v1/payments", paymentBody(), { "idempotency-key": "" }))).toBe(
      "422 IDEMPOTENCY_KEY_REQUIRED",
    );
  });

  test("one environment never shows in the other", async () => {
    const { reference } = (await owner.post("/portal/v1/payments", paymentBody())).json;
    owner.environment = "production";
    expect((await owner.get("/portal/v1/payments")).json.data).toEqual([]);
    expect(outcome(await owner.get(`/portal/v1/payments/${reference}`))).toBe("403 ENVIRONMENT_MISMATCH");
    const simulate = `/portal/v1/sandbox/payments/${reference}/simulate`;
    expect(outcome(await owner.post(simulate, { outcome: "succeeded" }))).toBe("403 FORBIDDEN");
  });

  test("real money leaves after a fresh proof alone", async () => {
    await ages(11);
    const refund = (): Promise<Answer> => owner.post("/portal/v1/refunds", { payment_reference: "pay_1" });
    expect(outcome(await refund())).toBe("404 PAYMENT_NOT_FOUND");
    owner.environment = "production";
    expect(outcome(await refund())).toBe("403 PROOF_REQUIRED");
    await owner.post("/portal/v1/session/proof", { password: PASSWORD });
    expect(outcome(await refund())).toBe("404 PAYMENT_NOT_FOUND");
  });
});

describe("the audit", () => {
  test("has each change with who made it and what came of it, refused ones too, and reads never", async () => {
    const viewer = await joins(service, merchantId, "viewer");
    const made = await owner.post("/portal/v1/payments", paymentBody());
    const refused = await owner.post(`/portal/v1/payments/${made.json.reference}/cancel`, { reason: 5 });
    await viewer.post("/portal/v1/payments", paymentBody());
    await viewer.send("PATCH", "/portal/v1/settings", { name: "Mine" });
    await viewer.get("/portal/v1/audit");
    await owner.get("/portal/v1/payments");
    const { data } = (await owner.get("/portal/v1/audit?limit=4")).json;
    expect(data).toMatchObject([
      { action: "change_merchant_settings", status: 403, path: "PATCH /portal/v1/settings" },
      { action: "create_payment", status: 403, path: "POST /portal/v1/payments" },
      { action: "cancel_payment", status: 422, request_id: refused.headers.get("x-request-id") },
      {
        action: "create_payment",
        status: 201,
        environment: "sandbox",
        path: "POST /portal/v1/payments",
        address: "127.0.0.1",
        request_id: made.headers.get("x-request-id"),
        person: { name: "Sari Dewi" },
      },
    ]);
    const next = await owner.get(`/portal/v1/audit?starting_after=${data[3].request_id}`);
    expect(next.json.data[0].action).toMatch(/joined|accept/);
    const { merchantId: other } = await service.merchant();
    const stranger = await joins(service, other);
    expect(outcome(await stranger.get(`/portal/v1/audit?starting_after=${data[1].request_id}`))).toBe(
      "422 VALIDATION_ERROR",
    );
  });

  test("has what was made and what was granted", async () => {
    const helper = await joins(service, merchantId, "viewer");
    const team = (await owner.get("/portal/v1/team")).json.data as { person_id: string; email: string }[];
    const { person_id: id } = team.find(({ email }) => email === helper.email) ?? {};
    const { json: payment } = await owner.post("/portal/v1/payments", paymentBody());
    await owner.send("PATCH", `/portal/v1/team/${id}`, { role: "owner" });
    const asked = { name: "till", scopes: ["payments:read"], allowed_addresses: ["203.0.113.0/24"] };
    const { json: key } = await owner.post("/portal/v1/credentials", asked);
    await owner.send("PATCH", `/portal/v1/credentials/${key.client_id}`, { allowed_addresses: [] });
    const { json, text } = await owner.get("/portal/v1/audit?limit=4");
    const granted = { client_id: key.client_id, scopes: ["payments:read"], signature: "any", expires_at: null };
    const entries = json.data as { action: string; details: unknown }[];
    expect(entries.map(({ action, details }) => [action, details])).toEqual([
      ["change_key", { ...granted, allowed_addresses: [] }],
      ["create_key", { ...granted, allowed_addresses: ["203.0.113.0/24"] }],
      ["change_role", { role: "owner" }],
      ["create_payment", { object: payment.reference }],
    ]);
    expect(text).not.toContain(key.secret);
  });

  test("does not grow by who asks too often", async () => {
    const developer = await joins(service, merchantId, "developer");
    await service.operate("PATCH", `/merchants/${merchantId}`, { rate_limit_per_minute: 1 });
    const pay = (): Promise<Answer> => developer.post("/portal/v1/payments", {});
    await expect.poll(async () => outcome(await pay()), { timeout: 30_000, interval: 50 }).toBe("429 RATE_LIMITED");
    await pay();
    await service.operate("PATCH", `/merchants/${merchantId}`, { rate_limit_per_minute: 100_000 });
    await expect
      .poll(async () => (await owner.get("/portal/v1/audit")).status, { timeout: 30_000, interval: 50 })
      .toBe(200);
    const { data } = (await owner.get("/portal/v1/audit")).json as { data: { status: number }[] };
    expect(data.filter(({ status }) => status === 429)).toEqual([]);
  });

  test("comes first: what cannot be recorded does not happen", async () => {
    const body = paymentBody();
    await asOwner(service.database, (root) => root.query("revoke insert on people_audit from gerbang_app"));
    try {
      expect(outcome(await owner.post("/portal/v1/payments", body))).toBe("503 SERVICE_UNAVAILABLE");
    } finally {
      await asOwner(service.database, (root) => root.query("grant insert on people_audit to gerbang_app"));
    }
    expect((await owner.get(`/portal/v1/payments?reference_id=${String(body.reference_id)}`)).json.data).toEqual([]);
  });
});
