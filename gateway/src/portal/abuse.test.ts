// Goal: a person who means harm, or meant well until yesterday, gets nothing that they may not have, and uses up nothing that others need. Method: a
// test an attack, by browsers as far as their requests go.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Answer } from "../../../e2e/kit/client.ts";
import { type TestService, asOwner, paymentBody, startService } from "../../test/kit.ts";
import { Browser, PASSWORD, joins } from "../../test/portal.ts";
import { newId, uuidOf } from "../ground/ids.ts";
import { INVITED_PER_DAY_MAX, TEAM_MAX } from "../people/invitations.sql.ts";
import { OPERATORS_MAX } from "../people/operators.sql.ts";
import { SESSIONS_MAX } from "../people/sessions.ts";

let service: TestService;
let merchantId: string;
let owner: Browser;

beforeAll(async () => {
  service = await startService({ roles: ["api"], config: { unauthenticatedLimitPerMinute: 100_000_000 } });
});
afterAll(() => service.stop());
beforeEach(async () => {
  ({ merchantId } = await service.merchant());
  owner = await joins(service, merchantId);
});

const outcome = ({ status, json }: Answer): string => `${status} ${json?.error?.code ?? ""}`.trim();

async function personIdOf(browser: Browser): Promise<string> {
  return (await browser.get("/portal/v1/session")).json.person.person_id;
}

async function invites(browser: Browser): Promise<string> {
  const { json } = await browser.post("/portal/v1/team/invitations", { role: "owner" });
  return json.url.split("#")[1];
}

describe("invitations of somebody who may invite no more", () => {
  let leaver: Browser;
  let token: string;
  let theirs: string;

  beforeEach(async () => {
    leaver = await joins(service, merchantId);
    token = await invites(leaver);
    theirs = `/portal/v1/team/${await personIdOf(leaver)}`;
  });

  const comesBack = (): Promise<Answer> =>
    new Browser(service.origin, merchantId).post("/portal/v1/invitations/accept", {
      token,
      email: `back-${merchantId}@people.example`,
      name: "Sari Dewi",
      password: PASSWORD,
    });

  test.each([
    ["removed", () => owner.send("DELETE", theirs)],
    ["given another role", () => owner.send("PATCH", theirs, { role: "viewer" })],
    [
      "closed",
      async () => {
        const id = uuidOf(await personIdOf(leaver));
        await asOwner(service.database, (root) =>
          root.query("update persons set closed_at = now() where person_id = $1", [id]),
        );
        return owner.get("/portal/v1/team");
      },
    ],
  ])("are good no more: %s", async (_what, happens) => {
    expect((await happens()).status).toBe(200);
    expect(outcome(await owner.post("/portal/v1/invitations/look", { token }))).toBe("404 OBJECT_NOT_FOUND");
    expect(outcome(await comesBack())).toBe("404 OBJECT_NOT_FOUND");
    expect((await owner.get("/portal/v1/team/invitations")).json.data).toEqual([]);
  });

  test("are good while they may", async () => {
    expect((await comesBack()).status).toBe(200);
  });
});

describe("lists that somebody could make endless", () => {
  test("a team has an end, with those who are invited", async () => {
    const id = uuidOf(merchantId);
    await asOwner(service.database, (root) =>
      root.query(
        `insert into invitations (merchant_id, invitation_id, token_digest, role, created_at, expires_at)
         select $1, gen_random_uuid(), sha256(n::text::bytea || uuid_send($1)), 'viewer', now() - interval '2 days', now() + interval '1 day'
         from generate_series(1, $2) n`,
        [id, TEAM_MAX - 2],
      ),
    );
    const [first, second] = [
      await owner.post("/portal/v1/team/invitations", { role: "viewer" }),
      await owner.post("/portal/v1/team/invitations", { role: "viewer" }),
    ];
    expect([outcome(first), outcome(second)]).toEqual(["201", "422 VALIDATION_ERROR"]);
    await owner.send("DELETE", `/portal/v1/team/invitations/${first.json.invitation_id}`);
    expect(outcome(await owner.post("/portal/v1/team/invitations", { role: "viewer" }))).toBe("201");
  });

  test("also when ten are invited at once, and so have the operators", async () => {
    const { people } = service.app;
    await asOwner(service.database, async (root) => {
      await root.query(
        `insert into invitations (merchant_id, invitation_id, token_digest, role, created_at, expires_at)
         select $1, gen_random_uuid(), sha256(n::text::bytea || uuid_send($1)), 'viewer', now() - interval '2 days', now() + interval '1 day'
         from generate_series(1, $2) n`,
        [uuidOf(merchantId), TEAM_MAX - 2],
      );
      await root.query("delete from operator_invitations");
      await root.query(
        `insert into operator_invitations (invitation_id, token_digest, role, invited_by, created_at, expires_at)
         select gen_random_uuid(), sha256(n::text::bytea), 'viewer', 'command-line', now(), now() + interval '1 day'
         from generate_series(1, $1) n`,
        [OPERATORS_MAX - 1],
      );
    });
    const made = async (invite: () => Promise<unknown>): Promise<number> => {
      const tries = await Promise.allSettled(Array.from({ length: 10 }, invite));
      return tries.filter(({ status }) => status === "fulfilled").length;
    };
    expect(await made(() => people.invitations.invite(merchantId, { role: "viewer" }, undefined))).toBe(1);
    expect(await made(() => people.operators.invite({ role: "viewer" }, "command-line"))).toBe(1);
  });

  test("nobody makes the service write letters without end: taking invitations back makes room for none", async () => {
    const id = uuidOf(merchantId);
    await asOwner(service.database, (root) =>
      root.query(
        `insert into invitations (merchant_id, invitation_id, token_digest, role, created_at, expires_at, ended_at)
         select $1, gen_random_uuid(), sha256(n::text::bytea || uuid_send($1)), 'viewer', now(), now() + interval '1 day', now()
         from generate_series(1, $2) n`,
        [id, INVITED_PER_DAY_MAX - 2], // the owner was invited as well
      ),
    );
    expect(outcome(await owner.post("/portal/v1/team/invitations", { role: "viewer" }))).toBe("201");
    expect(outcome(await owner.post("/portal/v1/team/invitations", { role: "viewer" }))).toBe("422 VALIDATION_ERROR");
  });

  test("of too many sessions the oldest ends", async () => {
    const person = uuidOf(await personIdOf(owner));
    const ids = Array.from({ length: SESSIONS_MAX }, () => uuidOf(newId("session", Date.now() * 1000)));
    await asOwner(service.database, (root) =>
      root.query(
        `insert into sessions (token_digest, session_id, person_id, created_at, seen_at, proved_at, address, user_agent)
         select sha256(uuid_send(id)), id, $1, now() + interval '1 second', now(), now(), '', '' from unnest($2::uuid[]) id`,
        [person, ids],
      ),
    );
    expect((await owner.get("/portal/v1/session")).status).toBe(200);
    const again = new Browser(service.origin, merchantId);
    await again.post("/portal/v1/session", { email: owner.email, password: PASSWORD });
    expect(outcome(await owner.get("/portal/v1/session"))).toBe("401 UNAUTHORIZED");
  });
});

test("whoever exports a long book again and again keeps two places, and leaves some for others", async () => {
  const other = await joins(service, (await service.merchant()).merchantId);
  for (const browser of [owner, other]) {
    const { reference } = (await browser.post("/portal/v1/payments", paymentBody())).json;
    await browser.post(`/portal/v1/sandbox/payments/${reference}/simulate`, { outcome: "succeeded" });
  }
  const book = async (browser: Browser): Promise<number> =>
    (await browser.get("/portal/v1/books/export?format=jsonl")).status;
  await asOwner(service.database, async (root) => {
    // Whoever reads the journals waits, as if the book were long.
    await root.query("begin");
    await root.query("lock table journals in access exclusive mode");
    const own = [book(owner), book(owner), book(owner)];
    expect(await Promise.race(own)).toBe(429);
    const others = book(other);
    await root.query("rollback");
    expect((await Promise.all(own)).toSorted((a, b) => a - b)).toEqual([200, 200, 429]);
    expect(await others).toBe(200);
  });
});

// The minute of the limit may turn while the requests are on their way: then once more.
test("what concerns nobody but a person has a limit as well, and is nobody else's", { retry: 1 }, async () => {
  const other = await joins(service, merchantId);
  const answers = await Promise.all(Array.from({ length: 301 }, () => owner.get("/portal/v1/sessions")));
  expect(answers.filter(({ status }) => status === 200).length).toBeLessThanOrEqual(300);
  const late = answers.filter(({ status }) => status === 429);
  expect(late.length).toBeGreaterThan(0);
  expect(Number(late[0]?.headers.get("retry-after"))).toBeGreaterThan(0);
  expect((await other.get("/portal/v1/sessions")).status).toBe(200);
});

test.each([
  ["a terminal that it writes to the clipboard of", "Sari\u001b]52;c;eA==\u0007"],
  ["a second line", "Sari\nGood once: https://evil.example/"],
  ["text that is read backwards", "\u202Eiras"],
  ["nothing that anybody sees", "\u200b \u2060"],
])("no name of a person or of a program has %s", async (_, name) => {
  const stranger = new Browser(service.origin, merchantId);
  const accepted = { token: await invites(owner), email: `named-${merchantId}@people.example`, password: PASSWORD };
  const answers = [
    await stranger.post("/portal/v1/invitations/accept", { ...accepted, name }),
    await owner.send("PATCH", "/portal/v1/person", { name }),
    await stranger.post("/portal/v1/device-codes", { name }),
  ];
  for (const { status, json } of answers) expect([status, json.error?.details.field]).toEqual([422, "name"]);
  expect((await owner.get("/portal/v1/session")).json.person.name).toBe("Sari Dewi");
});
