// Goal: a session of the console is worth what its operator's role is, on our own pages, while it lasts, and nothing anywhere else.
// Method: requests as a browser sends them, to both listeners, by operators who came by an invitation.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type TestService, asOwner, startService } from "../../test/kit.ts";
import { Browser, PASSWORD, joins, operates } from "../../test/portal.ts";
import { uuidOf } from "../ground/ids.ts";

let service: TestService;
beforeAll(async () => {
  service = await startService({ roles: ["api"], config: { unauthenticatedLimitPerMinute: 1_000_000 } });
});
afterAll(() => service.stop());

const outcome = ({ status, json }: { status: number; json: { error?: { code: string } } }): string =>
  json.error === undefined ? String(status) : `${status} ${json.error.code}`;
const token = { name: "made-in-the-console" };

test("an operator reads and changes what their role allows, and is in the audit by their address", async () => {
  const [viewer, admin] = [await operates(service, "viewer"), await operates(service, "admin")];
  expect(outcome(await viewer.get("/ops/v1/acquirers"))).toBe("200");
  expect(outcome(await viewer.post("/ops/v1/tokens", token))).toBe("403 FORBIDDEN");
  expect(outcome(await admin.post("/ops/v1/tokens", token))).toBe("201");
  const { json } = await admin.get(`/ops/v1/audit?actor=${encodeURIComponent(admin.email)}`);
  expect(json.data[0]).toMatchObject({ actor: admin.email, path: "/ops/v1/tokens", role: "admin", status: 201 });
});

test("a token that is sent along decides, whoever is signed in", async () => {
  const admin = await operates(service, "admin");
  const { token: viewer } = await service.operate("POST", "/tokens", { name: "beside", role: "viewer" });
  const sent = async (bearer: string): Promise<string> =>
    outcome(await admin.get("/ops/v1/operators/invitations", { authorization: `Bearer ${bearer}` }));
  expect([await sent(viewer as string), await sent("op_wrong")]).toEqual(["403 FORBIDDEN", "401 UNAUTHORIZED"]);
});

test("the view of a session says the role, and no memberships", async () => {
  const support = await operates(service, "support");
  const { json } = await support.get("/ops/v1/session");
  expect(json).toMatchObject({ operator: { role: "support" }, memberships: [], person: { email: support.email } });
});

describe("a change has to come from the console's own pages", () => {
  const foreign: [string, Record<string, string>][] = [
    ["another site", { "sec-fetch-site": "cross-site", origin: "https://evil.example" }],
    ["a site beside it", { "sec-fetch-site": "same-site" }],
    ["a name that leads here and is not ours", { origin: "http://evil.example:8082", host: "evil.example:8082" }],
    ["no origin at all", { origin: "" }],
    ["an older browser that says nothing", { "sec-fetch-site": "" }],
  ];
  test.each(foreign)("not from %s", async (_, headers) => {
    const admin = await operates(service, "admin");
    expect(outcome(await admin.post("/ops/v1/tokens", token, headers))).toBe("403 FORBIDDEN");
    expect(outcome(await admin.post("/ops/v1/session", { email: admin.email, password: PASSWORD }, headers))).toBe(
      "403 FORBIDDEN",
    );
  });

  test("neither from the portal's", async () => {
    const admin = await operates(service, "admin");
    expect(outcome(await admin.post("/ops/v1/tokens", token, { origin: service.origin }))).toBe("403 FORBIDDEN");
  });
});

test("a session of one surface is worth nothing on the other, under whichever name its cookie goes", async () => {
  const [operator, member] = [
    await operates(service, "admin"),
    await joins(service, (await service.merchant()).merchantId, "owner"),
  ];
  const value = (browser: Browser): string => browser.cookie?.split("=")[1] ?? "";
  const ask = async (origin: string, path: string, cookie: string): Promise<number> =>
    (await fetch(origin + path, { headers: { cookie } })).status;
  for (const name of ["session", "console-session", "__Host-session", "__Host-console-session"]) {
    expect(await ask(service.operatorOrigin, "/ops/v1/acquirers", `${name}=${value(member)}`), name).toBe(401);
    expect(await ask(service.origin, "/portal/v1/session", `${name}=${value(operator)}`), name).toBe(401);
  }
  expect(await ask(service.operatorOrigin, "/ops/v1/acquirers", `console-session=${value(operator)}`)).toBe(200);
});

test("who is no operator is told so with the right password, and has no session; the database holds it too", async () => {
  const { merchantId } = await service.merchant();
  const member = await joins(service, merchantId, "owner");
  const stranger = new Browser(service.operatorOrigin, "");
  const answer = await stranger.post("/ops/v1/session", { email: member.email, password: PASSWORD });
  expect(outcome(answer)).toBe("401 UNAUTHORIZED");
  expect(stranger.cookie).toBeUndefined();
  const { json } = await member.get("/portal/v1/session");
  await expect(
    asOwner(service.database, (owner) =>
      owner.query(
        `insert into sessions (token_digest, session_id, person_id, created_at, seen_at, proved_at, address, user_agent, surface)
values (sha256('x'), gen_random_uuid(), $1, now(), now(), now(), '', '', 'console')`,
        [uuidOf(json.person.person_id as string)],
      ),
    ),
  ).rejects.toMatchObject({ code: "GB013" });
});

test("who is taken out is out with the next request, and who is given another role has it with the next", async () => {
  const [admin, other] = [await operates(service, "admin"), await operates(service, "admin")];
  const { person_id: id } = (await other.get("/ops/v1/session")).json.person;
  expect(outcome(await admin.send("PATCH", `/ops/v1/operators/${id}`, { role: "viewer" }))).toBe("200");
  expect(outcome(await other.post("/ops/v1/tokens", token))).toBe("403 FORBIDDEN");
  expect(outcome(await admin.send("DELETE", `/ops/v1/operators/${id}`))).toBe("200");
  expect(outcome(await other.get("/ops/v1/acquirers"))).toBe("401 UNAUTHORIZED");
  expect(outcome(await admin.send("DELETE", `/ops/v1/operators/${id}`))).toBe("404 OBJECT_NOT_FOUND");
});

test("an invitation ends with the rights of who made it, so that nobody returns by a link of their own", async () => {
  const admin = await operates(service, "admin");
  const { operators } = service.app.consolePeople;
  const idOf = async (email: string): Promise<string> =>
    (await operators.list()).find((one) => one.email === email)?.personId ?? "";
  const open = async (): Promise<string[]> =>
    ((await admin.get("/ops/v1/operators/invitations")).json.data as { created_by: string }[]).map(
      (one) => one.created_by,
    );
  const [removed, lowered] = [await operates(service, "admin"), await operates(service, "admin")];
  const keys = await Promise.all(
    [removed, lowered].map(async (browser) => {
      const { url } = (await browser.post("/ops/v1/operators/invitations", { role: "admin" })).json as { url: string };
      return url.split("#")[1] ?? "";
    }),
  );
  const token = "night-shift";
  await service.operate("POST", "/tokens", { name: token, role: "admin" });
  const { token: ofToken } = await operators.invite({ role: "viewer" }, token);
  expect(await open()).toEqual(expect.arrayContaining([removed.email, lowered.email, token]));
  await operators.remove(await idOf(removed.email));
  await operators.changeRole(await idOf(lowered.email), "support");
  await service.operate("DELETE", `/tokens/${token}`);
  for (const key of [...keys, ofToken]) {
    const browser = new Browser(service.operatorOrigin, "");
    const joining = { token: key, email: "back@gateway.example", name: "Back Again", password: PASSWORD };
    expect(outcome(await browser.post("/ops/v1/invitations/accept", joining))).toBe("404 OBJECT_NOT_FOUND");
  }
  expect((await open()).filter((name) => [removed.email, lowered.email, token].includes(name))).toEqual([]);
});

test("an invitation is good once, for its address alone, and not after it was taken back", async () => {
  const admin = await operates(service, "admin");
  const invite = async (body: object) => (await admin.post("/ops/v1/operators/invitations", body)).json;
  const accept = async (url: string, email: string): Promise<string> => {
    const browser = new Browser(service.operatorOrigin, "");
    const [, key] = url.split("#");
    return outcome(
      await browser.post("/ops/v1/invitations/accept", { token: key, email, name: "Tono", password: PASSWORD }),
    );
  };
  const named = await invite({ role: "support", email: "tono@gateway.example" });
  expect(await accept(named.url, "dewi@gateway.example")).toBe("422 VALIDATION_ERROR");
  expect(await accept(named.url, "tono@gateway.example")).toBe("200");
  expect(await accept(named.url, "tono@gateway.example")).toBe("404 OBJECT_NOT_FOUND");
  const open = await invite({ role: "viewer" });
  expect(outcome(await admin.send("DELETE", `/ops/v1/operators/invitations/${open.invitation_id}`))).toBe("200");
  expect(await accept(open.url, "dewi@gateway.example")).toBe("404 OBJECT_NOT_FOUND");
  // Of a merchant's team it is no invitation here.
  const { token: team } = await service.app.people.invitations.invite(
    (await service.merchant()).merchantId,
    { role: "owner" },
    undefined,
  );
  expect(await accept(`#${team}`, "dewi@gateway.example")).toBe("404 OBJECT_NOT_FOUND");
});

test("what moves money or opens a door asks again who it is once the proof is ten minutes old", async () => {
  const admin = await operates(service, "admin");
  await asOwner(service.database, (owner) =>
    owner.query("update sessions set proved_at = proved_at - interval '11 minutes' where surface = 'console'"),
  );
  expect(outcome(await admin.get("/ops/v1/acquirers"))).toBe("200");
  for (const [method, path, body] of [
    ["POST", "/ops/v1/tokens", token],
    ["POST", "/ops/v1/operators/invitations", { role: "admin" }],
    ["POST", "/ops/v1/payments/pay_01kan3t5q8e4vs0x7ybd2m9fjh/refunds", { amount_minor: 1 }],
  ] as const) {
    const answer = await admin.send(method, path, body, { "idempotency-key": "console-refund-1" });
    expect([path, outcome(answer)]).toEqual([path, "403 PROOF_REQUIRED"]);
  }
  expect(outcome(await admin.post("/ops/v1/session/proof", { password: PASSWORD }))).toBe("200");
  expect(outcome(await admin.post("/ops/v1/operators/invitations", { role: "viewer" }))).toBe("201");
});
