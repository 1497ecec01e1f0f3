// Goal: people make keys that do what they were made for, from where they may, until they end; and nobody learns or changes another's. Method:
// browsers as far as their requests go, and signed requests with the keys that they made, against two processes on one database.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type Answer, Client } from "../../../e2e/kit/client.ts";
import { type Browser, joins } from "../../test/portal.ts";
import { type TestService, asOwner, paymentBody, startService, waitingForLocks } from "../../test/kit.ts";

let service: TestService;
let other: TestService;
let merchantId: string;
let owner: Browser;

beforeAll(async () => {
  service = await startService({ roles: ["api"] });
  other = await startService({ roles: ["api"], database: service.database });
});
afterAll(() => Promise.all([service.stop(), other.stop()]));
beforeEach(async () => {
  ({ merchantId } = await service.merchant());
  owner = await joins(service, merchantId);
});

const keys = "/portal/v1/credentials";
const outcome = ({ status, json }: Answer): string => `${status} ${json?.error?.code ?? ""}`.trim();
const clientOf = ({ json }: Answer, of = service): Client =>
  new Client({ client_id: json.client_id, secret: json.secret, base_url: `${of.origin}/v1` });
const make = (body: object = {}): Promise<Answer> => owner.post(keys, { name: "checkout", ...body });
const balances = async (client: Client): Promise<string> => outcome(await client.get("/v1/balances"));
const inMinutes = (minutes: number): string => `${new Date(Date.now() + minutes * 60_000).toISOString().slice(0, 19)}Z`;
const listed = async (clientId: string): Promise<Answer["json"]> =>
  (await owner.get(keys)).json.data.find((key: { client_id: string }) => key.client_id === clientId);

describe("a key", () => {
  test("is shown with its secret once, signs at once, and says when and from where it was used", async () => {
    const made = await make();
    expect(made.status).toBe(201);
    expect(made.json).toMatchObject({
      client_id: expect.stringMatching(/^ak_test_/),
      secret: expect.stringMatching(/^sk_test_/),
      name: "checkout",
      state: "live",
      signature: "any",
      allowed_addresses: [],
      expires_at: null,
      last_used: null,
    });
    expect((await clientOf(made).post("/v1/payments", paymentBody())).status).toBe(201);
    const { text, json } = await owner.get(keys);
    expect(text).not.toContain("sk_test_");
    expect(json.data[0]).toMatchObject({ name: "checkout", last_used: { address: "127.0.0.1" } });
    expect(Date.now() - Date.parse(json.data[0].last_used.at)).toBeLessThan(60_000);
  });

  test("has the scopes that it was given, until they are changed", async () => {
    const made = await make({ scopes: ["payments:read"] });
    const client = clientOf(made);
    expect(await balances(client)).toBe("403 FORBIDDEN");
    const changed = await owner.send("PATCH", `${keys}/${made.json.client_id}`, {
      scopes: ["balances:read"],
      name: "till",
    });
    expect(changed.json).toMatchObject({ name: "till", scopes: ["balances:read"], signature: "any" });
    expect(await balances(client)).toBe("200");
  });

  test("remembers what it changed and from where, also after its end, for its own merchant", async () => {
    const made = await make();
    const { client_id: id } = made.json;
    const changes = `${keys}/${id}/changes`;
    expect((await owner.get(changes)).json).toEqual({ data: [], has_more: false, next_cursor: null });
    const client = clientOf(made);
    const first = await client.post("/v1/payments", paymentBody());
    const second = await client.post(`/v1/payments/${first.json.reference}/cancel`, {});
    await client.get("/v1/balances");
    await client.post("/v1/payments", paymentBody({ amount_minor: 0 }));
    await owner.send("DELETE", `${keys}/${id}`);
    const { reference: subject } = first.json;
    const wanted = [
      [second, "cancel_payment", "canceled"],
      [first, "create_payment", "pending"],
    ].map(([answer, action, status]) => ({
      request_id: (answer as Answer).headers.get("x-request-id"),
      at: expect.stringMatching(/Z$/),
      action,
      subject,
      status,
      address: "127.0.0.1",
    }));
    expect((await owner.get(changes)).json.data).toEqual(wanted);
    const page = (await owner.get(`${changes}?limit=1`)).json;
    expect(page).toMatchObject({ data: [wanted[0]], has_more: true });
    const next = await owner.get(`${changes}?limit=1&starting_after=${page.next_cursor}`);
    expect(next.json).toEqual({ data: [wanted[1]], has_more: false, next_cursor: null });
    const operator = await service.askOperator(`/merchants/${merchantId}/credentials/${id}/changes`);
    expect(operator.json.data).toEqual(wanted);

    const elsewhere = await service.merchant();
    const stranger = await joins(service, elsewhere.merchantId);
    expect(outcome(await stranger.get(changes))).toBe("404 OBJECT_NOT_FOUND");
    expect((await service.askOperator(`/merchants/${elsewhere.merchantId}/credentials/${id}/changes`)).status).toBe(
      404,
    );
    const unknown = await owner.get(`${changes}?starting_after=${first.json.reference.replace("pay_", "req_")}`);
    expect(outcome(unknown)).toBe("422 VALIDATION_ERROR");
    const support = await joins(service, merchantId, "support");
    expect(outcome(await support.get(changes))).toBe("403 FORBIDDEN");
  });

  test("is used from its addresses alone, in every process", async () => {
    const made = await make({ allowed_addresses: ["203.0.113.0/24", "2001:DB8::/32"] });
    expect(made.json.allowed_addresses).toEqual(["203.0.113.0/24", "2001:db8::/32"]);
    for (const instance of [service, other]) {
      const answer = await clientOf(made, instance).get("/v1/balances");
      expect(outcome(answer)).toBe("403 FORBIDDEN");
      expect(answer.json.error.details).toEqual({ address: "127.0.0.1" });
      const write = await clientOf(made, instance).post("/v1/payments", paymentBody());
      expect(outcome(write)).toBe("403 FORBIDDEN");
    }
    expect((await listed(made.json.client_id)).last_used).toBeNull();
    await owner.send("PATCH", `${keys}/${made.json.client_id}`, { allowed_addresses: ["127.0.0.0/8"] });
    expect(await balances(clientOf(made))).toBe("200");
  });

  test("tells its addresses to nobody who has not its secret", async () => {
    const { json } = await make({ allowed_addresses: ["203.0.113.7"] });
    const forged = new Client({ client_id: json.client_id, secret: "sk_test_wrong", base_url: `${service.origin}/v1` });
    expect(await balances(forged)).toBe("401 SIGNATURE_INVALID");
  });

  test("may demand RFC 9421", async () => {
    const made = await make({ signature: "rfc9421" });
    expect(await balances(clientOf(made))).toBe("401 SIGNATURE_INVALID");
  });

  test("ends when it expires, and says so", async () => {
    const made = await make({ expires_at: inMinutes(1) });
    expect(await balances(clientOf(made))).toBe("200");
    await asOwner(service.database, async (root) => {
      await root.query("update credentials set expires_at = now() - interval '1 second' where client_id = $1", [
        made.json.client_id,
      ]);
      // Together, as every change is: a process that saw the epoch alone would not look again.
      await root.query(
        "with moved as (update settings_epoch set epoch = epoch + 1 returning epoch) update merchants set epoch = (select epoch from moved)",
      );
    });
    await expect.poll(() => balances(clientOf(made)), { timeout: 30_000 }).toBe("401 CLIENT_NOT_FOUND");
    expect((await clientOf(made).get("/v1/balances")).json.error.message).toContain("expired");
    expect(await listed(made.json.client_id)).toMatchObject({ state: "expired", revoked_at: null });
    for (const expires_at of [null, inMinutes(1)]) {
      const refused = await owner.send("PATCH", `${keys}/${made.json.client_id}`, { expires_at });
      expect(outcome(refused)).toBe("422 VALIDATION_ERROR");
      expect(refused.json.error).toMatchObject({
        message: "This key has expired, and does not come back. Make a new one.",
        details: { field: "expires_at", value: expires_at },
      });
    }
    const renamed = await owner.send("PATCH", `${keys}/${made.json.client_id}`, { name: "old till" });
    expect(renamed.json).toMatchObject({ name: "old till", state: "expired" });
    expect(await balances(clientOf(made))).toBe("401 CLIENT_NOT_FOUND");
  });

  test("that is revoked proves nothing any more, and cannot be changed", async () => {
    const made = await make();
    const path = `${keys}/${made.json.client_id}`;
    expect((await owner.send("DELETE", path)).json.state).toBe("revoked");
    expect(await balances(clientOf(made))).toBe("401 CLIENT_NOT_FOUND");
    expect(outcome(await owner.send("DELETE", path))).toBe("404 OBJECT_NOT_FOUND");
    for (const change of [{ name: "x" }, { expires_at: null }])
      expect(outcome(await owner.send("PATCH", path, change))).toBe("404 OBJECT_NOT_FOUND");
    expect(outcome(await owner.post(`${path}/roll`))).toBe("404 OBJECT_NOT_FOUND");
  });
});

describe("rolling", () => {
  test("makes a key on the same terms, and both are good until the overlap is over", async () => {
    const before = await make({ scopes: ["balances:read"], signature: "any", allowed_addresses: ["127.0.0.1"] });
    const rolled = await owner.post(`${keys}/${before.json.client_id}/roll`, { overlap_seconds: 3_600 });
    expect(rolled.status).toBe(201);
    expect(rolled.json).toMatchObject({
      name: "checkout",
      scopes: ["balances:read"],
      allowed_addresses: ["127.0.0.1/32"],
      expires_at: null,
    });
    expect([await balances(clientOf(before)), await balances(clientOf(rolled))]).toEqual(["200", "200"]);
    const old = await listed(before.json.client_id);
    expect(old).toMatchObject({ state: "live", replaced_by: rolled.json.client_id });
    expect(Date.parse(old.expires_at) - Date.now()).toBeLessThanOrEqual(3_600_000);
  });

  test("without an overlap ends the one before at once", async () => {
    const before = await make();
    const rolled = await owner.post(`${keys}/${before.json.client_id}/roll`, { overlap_seconds: 0 });
    expect([await balances(clientOf(before)), await balances(clientOf(rolled))]).toEqual([
      "401 CLIENT_NOT_FOUND",
      "200",
    ]);
    expect((await listed(before.json.client_id)).state).toBe("revoked");
  });

  test("never makes the one before live longer than it would", async () => {
    const expires_at = inMinutes(1);
    const before = await make({ expires_at });
    await asOwner(service.database, (root) =>
      root.query("update credentials set created_at = created_at - interval '1 hour' where client_id = $1", [
        before.json.client_id,
      ]),
    );
    const rolled = await owner.post(`${keys}/${before.json.client_id}/roll`, {});
    expect((await listed(before.json.client_id)).expires_at).toBe(expires_at);
    // As long a life as that one had, from now on.
    expect(Date.parse(rolled.json.expires_at) - Date.parse(expires_at)).toBeGreaterThanOrEqual(3_599_000);
  });
});

test.each([
  ["no name", { name: undefined }, "name"],
  ["an empty name", { name: "" }, "name"],
  ["a long name", { name: "x".repeat(61) }, "name"],
  ["NUL in the name", { name: "a\0b" }, "name"],
  ["an unknown scope", { scopes: ["everything"] }, "scopes.0"],
  ["no scope", { scopes: [] }, "scopes"],
  ["an address that is none", { allowed_addresses: ["203.0.113.0/24", "shop.example"] }, "allowed_addresses.1"],
  ["an address within a network", { allowed_addresses: ["203.0.113.7/24"] }, "allowed_addresses.0"],
  [
    "too many addresses",
    { allowed_addresses: Array.from({ length: 21 }, (_, n) => `10.0.0.${n}`) },
    "allowed_addresses",
  ],
  ["an expiry in the past", { expires_at: "2020-01-01T00:00:00Z" }, "expires_at"],
  ["an expiry far away", { expires_at: "2199-01-01T00:00:00Z" }, "expires_at"],
  ["an expiry on no day", { expires_at: "2030-02-31T00:00:00Z" }, "expires_at"],
  ["an expiry that is no time", { expires_at: "soon" }, "expires_at"],
  ["another scheme", { signature: "none" }, "signature"],
  ["a field of nobody's", { merchant_id: "mer_1" }, "merchant_id"],
])("%s is refused at its field", async (_name, body, field) => {
  const answer = await make(body);
  expect([outcome(answer), answer.json.error.details.field]).toEqual(["422 VALIDATION_ERROR", field]);
});

test("a book has so many live keys and no more, until one is revoked", async () => {
  const many = await Promise.all(Array.from({ length: 25 }, () => make()));
  const made = many.filter(({ status }) => status === 201);
  // The merchant's own first credential is one of the twenty.
  expect(made).toHaveLength(19);
  expect((await owner.get(`${keys}?limit=5`)).json).toMatchObject({ has_more: true });
  // Neither keys of the other environment count, nor those that have expired.
  owner.environment = "production";
  expect((await make()).status).toBe(201);
  owner.environment = "sandbox";
  expect((await make()).status).toBe(422);
  await asOwner(service.database, (root) =>
    root.query("update credentials set expires_at = '2020-01-01' where client_id = $1", [made[1]?.json.client_id]),
  );
  expect((await make()).status).toBe(201);
  expect((await make()).status).toBe(422);
  await owner.send("DELETE", `${keys}/${made[0]?.json.client_id}`);
  expect((await make()).status).toBe(201);
});

test("rolling makes no more live keys than a book may have: at the limit only without an overlap", async () => {
  const first = (await make()).json.client_id as string;
  // Of the twenty one is the merchant's own first credential, and one is rolled.
  const many = await Promise.all(Array.from({ length: 25 }, () => owner.post(`${keys}/${first}/roll`, {})));
  expect(many.filter(({ status }) => status === 201)).toHaveLength(18);
  const refused = await owner.post(`${keys}/${first}/roll`, {});
  expect([outcome(refused), refused.json.error.details.field]).toEqual(["422 VALIDATION_ERROR", "overlap_seconds"]);
  expect(refused.json.error.message).toBe(
    "At most 20 keys may be live at once. The key before stays one of them while it overlaps. Revoke one that is not needed, or roll without an overlap.",
  );
  const atOnce = await owner.post(`${keys}/${first}/roll`, { overlap_seconds: 0 });
  expect(atOnce.status).toBe(201);
  await owner.send("DELETE", `${keys}/${atOnce.json.client_id}`);
  expect((await owner.post(`${keys}/${many.find(({ status }) => status === 201)?.json.client_id}/roll`)).status).toBe(
    201,
  );
});

test("pages go on where the one before ended, and end", async () => {
  for (let n = 0; n < 4; n++) await make({ name: `n${n}` });
  const names: unknown[] = [];
  let cursor = "";
  do {
    const { json } = await owner.get(`${keys}?limit=2${cursor && `&starting_after=${cursor}`}`);
    names.push(...json.data.map(({ name }: { name: string }) => name));
    cursor = json.next_cursor ?? "";
  } while (cursor !== "");
  expect(names).toEqual(["n3", "n2", "n1", "n0", null]);
  const unknown = `ak_test_${"0".repeat(26)}`;
  for (const after of [unknown, "x", "ak_test_%00"])
    expect(outcome(await owner.get(`${keys}?starting_after=${after}`)), after).toBe("422 VALIDATION_ERROR");
});

describe("nobody else", () => {
  test("reads, changes, rolls or revokes a merchant's key", async () => {
    const { json } = await make();
    const stranger = await joins(service, (await service.merchant()).merchantId);
    const path = `${keys}/${json.client_id}`;
    expect((await stranger.get(keys)).text).not.toContain(json.client_id);
    expect(outcome(await stranger.get(`${keys}?starting_after=${json.client_id}`))).toBe("422 VALIDATION_ERROR");
    expect(outcome(await stranger.send("PATCH", path, { name: "mine" }))).toBe("404 OBJECT_NOT_FOUND");
    expect(outcome(await stranger.post(`${path}/roll`))).toBe("404 OBJECT_NOT_FOUND");
    expect(outcome(await stranger.send("DELETE", path))).toBe("404 OBJECT_NOT_FOUND");
    for (const id of ["x", "%00", "ak_test_", json.client_id.toUpperCase()])
      expect(outcome(await owner.send("DELETE", `${keys}/${id}`)), id).toBe("404 OBJECT_NOT_FOUND");
    expect(await listed(json.client_id)).toMatchObject({ name: "checkout", state: "live" });
  });

  test("reaches a key through the other environment", async () => {
    const { json } = await make();
    owner.environment = "production";
    expect((await owner.get(keys)).json.data).toEqual([]);
    expect(outcome(await owner.send("DELETE", `${keys}/${json.client_id}`))).toBe("404 OBJECT_NOT_FOUND");
    const live = await make();
    expect(live.json).toMatchObject({ client_id: expect.stringMatching(/^ak_live_/), environment: "production" });
    expect(await balances(clientOf(live))).toBe("200");
  });

  test("of a role that may not sees or makes keys", async () => {
    const finance = await joins(service, merchantId, "finance");
    expect(outcome(await finance.get(keys))).toBe("403 FORBIDDEN");
    expect(outcome(await finance.post(keys, { name: "x" }))).toBe("403 FORBIDDEN");
  });

  test("comes by a key to what their role does not allow", async () => {
    const developer = await joins(service, merchantId, "developer");
    developer.environment = "production";
    const asked = (scopes?: string[]): Promise<Answer> =>
      developer.post(keys, { name: "escalates", ...(scopes ? { scopes } : {}) });
    const refused = await asked(["payments:read", "refunds:write"]);
    expect(outcome(refused)).toBe("403 FORBIDDEN");
    expect(refused.json.error.details).toEqual({
      role: "developer",
      scopes: ["refunds:write"],
      environment: "production",
    });
    // Without scopes it gets what the developer has, and not what an owner's would have.
    const own = await asked();
    expect(own.json.scopes).toContain("payments:read");
    expect(own.json.scopes).not.toContain("payments:write");
    const patch = { scopes: [...own.json.scopes, "payments:write"] };
    expect(outcome(await developer.send("PATCH", `${keys}/${own.json.client_id}`, patch))).toBe("403 FORBIDDEN");
    owner.environment = "production";
    const whole = (await make()).json;
    expect(whole.scopes).toContain("refunds:write");
    expect(outcome(await developer.post(`${keys}/${whole.client_id}/roll`, {}))).toBe("403 FORBIDDEN");
    // What it may do already is kept by who changes something else.
    const renamed = await developer.send("PATCH", `${keys}/${whole.client_id}`, { name: "till", scopes: whole.scopes });
    expect([renamed.status, renamed.json.name]).toEqual([200, "till"]);
    // To let it live longer is to grant what it may do; to end it sooner is not.
    const ending = (expires_at: string | null): Promise<Answer> =>
      developer.send("PATCH", `${keys}/${whole.client_id}`, { expires_at });
    const [soon, later] = [inMinutes(1), inMinutes(60)];
    expect((await ending(soon)).json).toMatchObject({ expires_at: soon });
    expect((await ending(soon)).status).toBe(200);
    for (const longer of [later, null]) expect(outcome(await ending(longer)), String(longer)).toBe("403 FORBIDDEN");
    const less = { expires_at: later, scopes: ["payments:read"] };
    expect((await developer.send("PATCH", `${keys}/${whole.client_id}`, less)).json).toMatchObject(less);
    expect((await developer.send("DELETE", `${keys}/${whole.client_id}`)).status).toBe(200);
  });

  test("loosens where from, how, or how long a key may do what their role does not allow", async () => {
    const developer = await joins(service, merchantId, "developer");
    owner.environment = developer.environment = "production";
    const addresses = ["203.0.113.7/32", "198.51.100.0/24"];
    const { json } = await make({ allowed_addresses: addresses, signature: "rfc9421", expires_at: inMinutes(60) });
    const patch = async (change: Record<string, unknown>): Promise<string> =>
      outcome(await developer.send("PATCH", `${keys}/${json.client_id}`, change));
    for (const allowed_addresses of [[], ["192.0.2.1/32"], [...addresses, "192.0.2.1/32"]])
      expect(await patch({ allowed_addresses }), String(allowed_addresses)).toBe("403 FORBIDDEN");
    expect(await patch({ signature: "any" })).toBe("403 FORBIDDEN");
    for (const expires_at of [inMinutes(61), null])
      expect(await patch({ expires_at }), String(expires_at)).toBe("403 FORBIDDEN");
    const allowed_addresses = addresses.slice(1);
    for (const stricter of [{ allowed_addresses }, { signature: "rfc9421" }, { expires_at: inMinutes(30) }])
      expect(await patch(stricter)).toBe("200");
    const anyhow = { allowed_addresses: [], signature: "any", expires_at: null };
    expect(await patch({ scopes: ["payments:read"], ...anyhow })).toBe("200");
  });

  test("comes by two changes at once to what neither would be allowed", async () => {
    const developer = await joins(service, merchantId, "developer");
    owner.environment = developer.environment = "production";
    const whole = (await make()).json;
    const path = `${keys}/${whole.client_id}`;
    const until = (expires_at: string, scopes?: string[]): Promise<Answer> =>
      developer.send("PATCH", path, { expires_at, ...(scopes ? { scopes } : {}) });
    await until(inMinutes(1));
    const [less, back] = await asOwner(service.database, async (root) => {
      const waiting = () => waitingForLocks(root);
      await root.query("begin");
      await root.query("select from settings_epoch for update");
      const first = until(inMinutes(60), ["payments:read"]);
      await expect.poll(waiting).toBe(1);
      const second = developer.send("PATCH", path, { scopes: whole.scopes });
      await expect.poll(waiting).toBe(2);
      await root.query("commit");
      return Promise.all([first, second]);
    });
    expect([less.status, outcome(back)]).toEqual([200, "403 FORBIDDEN"]);
  });

  test("whose proof is old makes or changes one in production; revoking needs none", async () => {
    owner.environment = "production";
    const { json } = await make();
    await asOwner(service.database, (root) =>
      root.query("update sessions set proved_at = proved_at - interval '11 minutes'"),
    );
    const path = `${keys}/${json.client_id}`;
    expect(outcome(await make())).toBe("403 PROOF_REQUIRED");
    expect(outcome(await owner.post(`${path}/roll`))).toBe("403 PROOF_REQUIRED");
    expect(outcome(await owner.send("PATCH", path, { allowed_addresses: [] }))).toBe("403 PROOF_REQUIRED");
    expect((await owner.send("DELETE", path)).status).toBe(200);
    owner.environment = "sandbox";
    expect((await make()).status).toBe(201);
  });
});

test("the audit says who made a key, and never its secret", async () => {
  const { json } = await make();
  const audit = await owner.get("/portal/v1/audit");
  expect(audit.json.data[0]).toMatchObject({ action: "create_key", path: `POST ${keys}`, status: 201 });
  expect(audit.text).not.toContain(json.secret);
});
