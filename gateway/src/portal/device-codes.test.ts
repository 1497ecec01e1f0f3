// Goal: a program gets a key when the person who was shown its code agreed to it, once, and no more than that person may have; nobody else gets one
// or is tricked into giving one. Method: programs and browsers as far as their requests go, and signed requests with the keys that came of it.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type Answer, Client, readAnswer } from "../../../e2e/kit/client.ts";
import { Browser, PASSWORD, joins } from "../../test/portal.ts";
import { type TestService, asOwner, openDatabase, startService } from "../../test/kit.ts";
import { systemClock } from "../ground/clock.ts";
import { uuidOf } from "../ground/ids.ts";
import { OPEN_OF_ADDRESS_MAX } from "../people/device-codes.sql.ts";
import { DeviceCodes } from "../people/device-codes.ts";

let service: TestService;
let other: TestService;
let merchantId: string;
let owner: Browser;

beforeAll(async () => {
  const config = { unauthenticatedLimitPerMinute: 100_000_000 };
  service = await startService({ roles: ["api"], config });
  other = await startService({ roles: ["api"], config, database: service.database });
});
afterAll(() => Promise.all([service.stop(), other.stop()]));
beforeEach(async () => {
  await asOwner(service.database, (root) => root.query("delete from device_codes; delete from sign_in_failures"));
  ({ merchantId } = await service.merchant());
  owner = await joins(service, merchantId);
});

const codes = "/portal/v1/device-codes";
const outcome = ({ status, json }: Answer): string => `${status} ${json?.error?.code ?? ""}`.trim();

/** As a program sends it: without a word about pages. */
async function program(path: string, body: unknown, headers: Record<string, string> = {}): Promise<Answer> {
  return readAnswer(
    await fetch(service.origin + path, {
      method: "POST",
      headers: { "content-type": "application/json", "user-agent": "gerbang-cli/test", ...headers },
      body: JSON.stringify(body),
    }),
  );
}

interface Begun {
  device_code: string;
  user_code: string;
}

const begin = async (body: object = {}): Promise<Begun> =>
  (await program(codes, { name: "gerbang CLI on laptop", ...body })).json;

/** Asks, as if the interval were over. */
async function poll({ device_code }: Pick<Begun, "device_code">): Promise<Answer> {
  await later("polled_at = polled_at - interval '2 minutes'");
  return program(`${codes}/token`, { device_code });
}

const statusOf = async (begun: Begun): Promise<string> => (await poll(begun)).json.status;
const confirm = (begun: Begun, body: object = {}, by = owner): Promise<Answer> =>
  by.post(`${codes}/confirm`, { user_code: begun.user_code, ...body });
const later = (change: string): Promise<unknown> =>
  asOwner(service.database, (root) => root.query(`update device_codes set ${change}`));
/** Those that people named: a merchant of the tests comes with one that nobody did. */
const keysOf = async (): Promise<Answer["json"][]> =>
  (await owner.get("/portal/v1/credentials")).json.data.filter(({ name }: { name: string | null }) => name !== null);
const usedBySomebody = ({ token }: { token: string }): Promise<Answer> =>
  new Browser(service.origin, merchantId).post("/portal/v1/session/link", { token });
async function endedFromAnother(personId: string): Promise<void> {
  const [session] = await service.app.people.sessions.list(personId);
  await service.app.people.sessions.end(personId, session?.sessionId ?? "");
}
const personIdOf = async (browser: Browser): Promise<string> =>
  (await browser.get("/portal/v1/session")).json.person.person_id;

describe("a program", () => {
  test("is shown a short code, and gets a key that works when a person agreed", async () => {
    const begun = await program(codes, { name: "gerbang CLI on laptop" });
    expect([begun.status, begun.json]).toEqual([
      201,
      {
        device_code: expect.stringMatching(/^[\w-]{43}$/),
        user_code: expect.stringMatching(/^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/),
        verification_uri: expect.stringMatching(/\/portal\/device$/),
        verification_uri_complete: expect.stringContaining(`/portal/device?code=${begun.json.user_code}`),
        expires_in: 600,
        interval: 5,
      },
    ]);
    expect((await poll(begun.json)).json).toEqual({ status: "authorization_pending", interval: 5 });
    expect(outcome(await confirm(begun.json))).toBe("200");
    const granted = (await poll(begun.json)).json;
    expect(granted).toMatchObject({
      status: "granted",
      client_id: expect.stringMatching(/^ak_test_/),
      secret: expect.stringMatching(/^sk_test_/),
      base_url: `${service.origin}/v1`,
      environment: "sandbox",
      name: "gerbang CLI on laptop",
      merchant_id: merchantId,
    });
    const client = new Client(granted);
    expect((await client.get("/v1/balances")).status).toBe(200);
    expect(await keysOf()).toMatchObject([{ client_id: granted.client_id, name: "gerbang CLI on laptop" }]);
  });

  test("gets the key once: whoever asks again, or at the same moment, gets nothing", async () => {
    const begun = await begin();
    await confirm(begun);
    await later("polled_at = null");
    const ask = (of: TestService): Promise<Answer> =>
      fetch(`${of.origin}${codes}/token`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ device_code: begun.device_code }),
      }).then(readAnswer);
    const answers = await Promise.all([service, other, service, other].map(ask));
    const granted = answers.filter(({ json }) => json.status === "granted");
    expect(granted).toHaveLength(1);
    expect(await statusOf(begun)).toBe("expired_token");
    expect(await keysOf()).toHaveLength(1);
  });

  test("gets the key once although two questions found it granted, the first one still under way", async () => {
    const begun = await begin();
    await confirm(begun);
    const database = openDatabase(service.database);
    const { credentials } = service.app.merchants;
    const from = { address: "192.0.2.1", userAgent: "" };
    let second: Promise<unknown> | undefined;
    const devices: DeviceCodes = new DeviceCodes({
      database,
      clock: systemClock,
      credentials: {
        refuseFull: async () => undefined,
        create: async (...made) => {
          if (second === undefined) {
            await later("polled_at = polled_at - interval '2 minutes'");
            await (second = devices.poll(begun.device_code, from));
          }
          return credentials.create(...made);
        },
      },
    });
    const first = await devices.poll(begun.device_code, from);
    expect([first, await second]).toMatchObject([{ status: "access_denied" }, { status: "granted" }]);
    expect(await keysOf()).toHaveLength(1);
    await database.end();
  });

  test("that asks too soon is told to slow down, and has to wait five seconds longer each time", async () => {
    const begun = await begin();
    const ask = async (): Promise<unknown> =>
      (await program(`${codes}/token`, { device_code: begun.device_code })).json;
    expect(await ask()).toEqual({ status: "authorization_pending", interval: 5 });
    expect(await ask()).toEqual({ status: "slow_down", interval: 10 });
    expect(await ask()).toEqual({ status: "slow_down", interval: 15 });
    await confirm(begun);
    expect(await ask()).toEqual({ status: "slow_down", interval: 20 });
    await later("polled_at = polled_at - interval '15 seconds'");
    expect(await ask()).toEqual({ status: "slow_down", interval: 25 });
    await later("polled_at = polled_at - interval '25 seconds'");
    expect(await ask()).toMatchObject({ status: "granted" });
  });

  test("is told when the person refused", async () => {
    const begun = await begin();
    expect(outcome(await owner.post(`${codes}/refuse`, { user_code: begun.user_code }))).toBe("200");
    expect(await statusOf(begun)).toBe("access_denied");
    expect(outcome(await confirm(begun))).toBe("404 OBJECT_NOT_FOUND");
    expect(await keysOf()).toEqual([]);
  });

  test("is told when its code is over, confirmed or not", async () => {
    const [waiting, agreed] = [await begin(), await begin()];
    await confirm(agreed);
    await later("created_at = created_at - interval '1 hour', expires_at = now() - interval '1 second'");
    expect([await statusOf(waiting), await statusOf(agreed)]).toEqual(["expired_token", "expired_token"]);
    expect(outcome(await confirm(waiting))).toBe("404 OBJECT_NOT_FOUND");
    expect(await keysOf()).toEqual([]);
  });

  test("gets nothing by the code that it shows, or by one that nobody has", async () => {
    const begun = await begin();
    await confirm(begun);
    for (const device_code of [begun.user_code, "x".repeat(43), " ", `${begun.device_code} `])
      expect((await poll({ device_code })).json).toEqual({ status: "expired_token" });
    expect(await statusOf(begun)).toBe("granted");
  });
});

describe("a person", () => {
  test("sees what asks, and from where, however they type the code", async () => {
    const { user_code: code } = await begin({ environment: "production" });
    for (const typed of [code, code.toLowerCase(), code.replace("-", ""), ` ${code.replace("-", " ")} `]) {
      const seen = await owner.post(`${codes}/look`, { user_code: typed });
      expect(seen.json).toMatchObject({
        user_code: code,
        name: "gerbang CLI on laptop",
        environment: "production",
        address: "127.0.0.1",
        same_address: true,
        user_agent: "gerbang-cli/test",
      });
    }
  });

  test("is told when the program asked from elsewhere than they are", async () => {
    const begun = await begin();
    await later("address = '198.51.100.7'");
    const { json } = await owner.post(`${codes}/look`, { user_code: begun.user_code });
    expect(json).toMatchObject({ address: "198.51.100.7", same_address: false });
  });

  test("decides the environment and what the key may do, whatever was asked for", async () => {
    const begun = await begin({ environment: "production" });
    await confirm(begun, { scopes: ["payments:read"] });
    const granted = (await poll(begun)).json;
    expect(granted).toMatchObject({ environment: "sandbox", scopes: ["payments:read"] });
    const client = new Client(granted);
    expect(outcome(await client.get("/v1/balances"))).toBe("403 FORBIDDEN");
    expect((await client.get("/v1/payments")).status).toBe(200);
  });

  test("answers once: of several confirmations at the same moment one counts", async () => {
    const begun = await begin();
    const answers = await Promise.all([1, 2, 3].map(() => confirm(begun)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 404)).toHaveLength(2);
    expect(outcome(await owner.post(`${codes}/refuse`, { user_code: begun.user_code }))).toBe("404 OBJECT_NOT_FOUND");
  });

  test("is on record: with the answer, and with the key that came of it", async () => {
    const begun = await begin();
    await confirm(begun, { scopes: ["refunds:read"] });
    const granted = (await poll(begun)).json;
    const { json, text } = await owner.get("/portal/v1/audit");
    expect(json.data.slice(0, 2)).toMatchObject([
      {
        action: "device_key_made",
        person: { name: "Sari Dewi" },
        details: { client_id: granted.client_id, scopes: ["refunds:read"] },
      },
      { action: "confirm_device", person: { name: "Sari Dewi" }, status: 200 },
    ]);
    expect(text).not.toContain(granted.secret);
    expect(text).not.toContain(begun.device_code);
  });

  test("without the right to make keys gives none", async () => {
    for (const role of ["finance", "support", "viewer"] as const) {
      const begun = await begin();
      expect([role, outcome(await confirm(begun, {}, await joins(service, merchantId, role)))]).toEqual([
        role,
        "403 FORBIDDEN",
      ]);
    }
  });

  test("gives no key that may do more than they may", async () => {
    const developer = await joins(service, merchantId, "developer", "production");
    const begun = await begin();
    const refused = await confirm(begun, { scopes: ["payments:read", "refunds:write"] }, developer);
    expect(outcome(refused)).toBe("403 FORBIDDEN");
    expect(refused.json.error.details.scopes).toEqual(["refunds:write"]);
    expect(outcome(await confirm(begun, {}, developer))).toBe("200");
    const granted = (await poll(begun)).json;
    expect(granted.client_id).toMatch(/^ak_live_/);
    expect(granted.scopes).not.toContain("refunds:write");
  });

  test("proves again who they are for a key of production", async () => {
    await asOwner(service.database, (root) =>
      root.query("update sessions set proved_at = proved_at - interval '11 minutes'"),
    );
    const begun = await begin();
    owner.environment = "production";
    expect(outcome(await confirm(begun))).toBe("403 PROOF_REQUIRED");
    owner.environment = "sandbox";
    expect(outcome(await confirm(begun))).toBe("200");
  });

  test("confirms nothing that would not fit: a book has an end of keys", async () => {
    const begun = await begin();
    for (let n = 0; n < 19; n++) await owner.post("/portal/v1/credentials", { name: `key ${n}` });
    expect(outcome(await confirm(begun))).toBe("422 VALIDATION_ERROR");
    const [key] = await keysOf();
    await owner.send("DELETE", `/portal/v1/credentials/${key?.client_id}`);
    expect(outcome(await confirm(begun))).toBe("200");
    await owner.post("/portal/v1/credentials", { name: "was faster" });
    expect(outcome(await poll(begun))).toBe("422 VALIDATION_ERROR");
    await owner.send("DELETE", `/portal/v1/credentials/${(await keysOf())[0]?.client_id}`);
    expect(await statusOf(begun)).toBe("granted");
  });
});

describe("between the answer and the key", () => {
  test.each([
    ["removed", (id: string) => owner.send("DELETE", `/portal/v1/team/${id}`)],
    [
      "given a role that makes no keys",
      (id: string) => owner.send("PATCH", `/portal/v1/team/${id}`, { role: "viewer" }),
    ],
    [
      "closed",
      (id: string) =>
        asOwner(service.database, (root) =>
          root.query("update persons set closed_at = now() where person_id = $1", [uuidOf(id)]),
        ),
    ],
  ])("a person who is %s gives nothing any more", async (_what, happens) => {
    const leaver = await joins(service, merchantId);
    const begun = await begin();
    expect(outcome(await confirm(begun, {}, leaver))).toBe("200");
    await happens(await personIdOf(leaver));
    expect(await statusOf(begun)).toBe("access_denied");
    expect(await keysOf()).toEqual([]);
    const { json } = await owner.get("/portal/v1/audit");
    expect(json.data.map(({ action }: { action: string }) => action)).toContain("device_key_refused");
  });

  test.each([
    ["their account was reset", (id: string) => service.app.people.links.make(id, "reset").then(usedBySomebody)],
    ["they signed out everywhere else", (id: string) => service.app.people.sessions.endOthers(id)],
    ["that session was ended from another one", endedFromAnother],
  ])("whoever confirmed in somebody's session gives nothing any more: %s", async (_what, happens) => {
    const taken = await joins(service, merchantId, "owner", "production");
    const begun = await begin();
    expect(outcome(await confirm(begun, {}, taken))).toBe("200");
    await happens(await personIdOf(taken));
    expect(await statusOf(begun)).toBe("access_denied");
    expect(await keysOf()).toEqual([]);
  });

  test("a session that its person proves again is the same one: its program gets its key", async () => {
    const begun = await begin();
    await confirm(begun);
    expect(outcome(await owner.post("/portal/v1/session/proof", { password: PASSWORD }))).toBe("200");
    expect(await statusOf(begun)).toBe("granted");
  });

  test("an owner who is a developer by now gives no more than a developer may", async () => {
    const leaver = await joins(service, merchantId, "owner", "production");
    const begun = await begin();
    await confirm(begun, { scopes: ["refunds:write"] }, leaver);
    await owner.send("PATCH", `/portal/v1/team/${await personIdOf(leaver)}`, { role: "developer" });
    expect(await statusOf(begun)).toBe("access_denied");
  });
});

describe("whoever means harm", () => {
  test("cannot guess codes: after a few that are wrong they wait, and codes that are right do not help", async () => {
    const begun = await begin();
    for (let n = 0; n < 5; n++)
      expect(outcome(await owner.post(`${codes}/look`, { user_code: "BBBB-BBBB" }))).toBe("404 OBJECT_NOT_FOUND");
    for (const call of [
      owner.post(`${codes}/look`, { user_code: begun.user_code }),
      confirm(begun),
      owner.post(`${codes}/refuse`, { user_code: begun.user_code }),
    ])
      expect(outcome(await call)).toBe("429 RATE_LIMITED");
    const somebodyElse = await joins(service, merchantId);
    expect(outcome(await confirm(begun, {}, somebodyElse))).toBe("200");
  });

  test("cannot make a signed-in browser confirm: changes are taken from our own pages alone", async () => {
    const begun = await begin();
    const elsewhere = { "sec-fetch-site": "cross-site", origin: "https://evil.example" };
    const nowhere = { "sec-fetch-site": "", origin: "" };
    for (const path of ["confirm", "refuse", "look"])
      for (const headers of [elsewhere, nowhere])
        expect(outcome(await owner.post(`${codes}/${path}`, { user_code: begun.user_code }, headers))).toBe(
          "403 FORBIDDEN",
        );
    expect(await statusOf(begun)).toBe("authorization_pending");
  });

  test("cannot begin or ask through the browser of somebody else", async () => {
    const begun = await begin();
    for (const headers of [
      { origin: "https://evil.example" },
      { "sec-fetch-site": "cross-site" },
      { "sec-fetch-site": "same-site", origin: service.origin },
    ]) {
      expect(outcome(await program(codes, { name: "x" }, headers))).toBe("403 FORBIDDEN");
      expect(outcome(await program(`${codes}/token`, { device_code: begun.device_code }, headers))).toBe(
        "403 FORBIDDEN",
      );
    }
  });

  test("cannot answer without being signed in, or for a merchant that they do not belong to", async () => {
    const begun = await begin();
    const guest = new Browser(service.origin, merchantId);
    expect(outcome(await confirm(begun, {}, guest))).toBe("401 UNAUTHORIZED");
    expect(outcome(await guest.post(`${codes}/look`, { user_code: begun.user_code }))).toBe("401 UNAUTHORIZED");
    const stranger = await joins(service, (await service.merchant()).merchantId);
    stranger.merchantId = merchantId;
    expect(outcome(await confirm(begun, {}, stranger))).toBe("404 OBJECT_NOT_FOUND");
    expect(await statusOf(begun)).toBe("authorization_pending");
  });

  test("cannot fill the table: from one address few wait at once", async () => {
    for (let n = 0; n < OPEN_OF_ADDRESS_MAX; n++) await begin();
    const refused = await program(codes, { name: "one more" });
    expect(outcome(refused)).toBe("429 RATE_LIMITED");
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    await later("address_group = '198.51.100.7'");
    expect((await program(codes, { name: "one more" })).status).toBe(201);
  });

  test("finds no code in the database that a program could ask with", async () => {
    const begun = await begin();
    const rows = await asOwner(service.database, (root) => root.query("select d::text as all from device_codes d"));
    expect(JSON.stringify(rows.rows)).not.toContain(begun.device_code);
    expect(JSON.stringify(rows.rows)).toContain(begun.user_code.replace("-", ""));
  });

  test.each([
    ["no name", {}],
    ["a name of 61 characters", { name: "x".repeat(61) }],
    ["another field", { name: "x", scopes: [] }],
    ["another environment", { name: "x", environment: "staging" }],
  ])("is refused with a field: %s", async (_what, body) => {
    expect(outcome(await program(codes, body))).toBe("422 VALIDATION_ERROR");
  });
});
