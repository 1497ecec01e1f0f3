// Goal: a right ends with what it comes from, whichever of several reasons that is, and with nothing less. Method: each statement that asks for a
// right, of one person who has it, after one change in the database; the person belongs to another merchant too, where nothing changes.
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type TestDatabase, asOwner, cloneDatabase, openDatabase, waitingForLocks } from "../../test/kit.ts";
import { PeopleRig, type TestPerson, faultOf, sessionIdOf } from "../../test/people.ts";
import { HOUR, type Micros, SECOND } from "../ground/clock.ts";
import { sha256 } from "../ground/crypto.ts";
import { idOf, newId, uuidOf } from "../ground/ids.ts";
import type { Database } from "../store/database.ts";
import { type DeviceRequest, answerDevice, insertDeviceCode, useGrant } from "./device-codes.sql.ts";
import { PasskeyChallenges } from "./passkey-challenges.ts";
import type { Person } from "./people.sql.ts";
import { updateTotp } from "./second-factors.sql.ts";

let store: TestDatabase;
let database: Database;
let rig: PeopleRig;
let merchants = 0;
/** The merchant of the right, and another one that its person owns as well. */
let merchantId: string;
let elsewhere: string;
let person: TestPerson;

beforeAll(async () => {
  store = await cloneDatabase();
  database = openDatabase(store);
  return () => database.end();
});
beforeEach(async () => {
  rig = new PeopleRig(database);
  [merchantId, elsewhere] = [await merchant(), await merchant()];
  await rig.joined(merchantId);
  person = await rig.joined(merchantId);
  await joins(elsewhere);
});

const sql = (text: string, ...values: unknown[]): Promise<unknown> =>
  asOwner(store, (client) => client.query(text, values));

async function merchant(): Promise<string> {
  const uuid = `01900000-0000-7000-8000-${String(++merchants).padStart(12, "0")}`;
  await sql(
    "insert into merchants (merchant_id, name, settings, epoch, created_at) values ($1, 'x', '{}', 0, now())",
    uuid,
  );
  return idOf("merchant", uuid);
}

async function joins(id: string): Promise<void> {
  const { token } = await rig.people.invitations.invite(id, { role: "owner" }, undefined);
  await rig.people.invitations.accept(token, person, rig.from);
}

const personUuid = (): string => uuidOf(person.personId);
const closed = (): Promise<unknown> => sql("update persons set closed_at = now() where person_id = $1", personUuid());
const suspended = (): Promise<unknown> =>
  sql("update merchants set suspended = true where merchant_id = $1", uuidOf(merchantId));
const removed = (): Promise<unknown> => rig.people.removeMember(merchantId, person.personId);
const signedOut = (): Promise<unknown> => rig.people.sessions.endOthers(person.personId);
const nothing = (): Promise<unknown> => Promise.resolve();

describe("a role in a session", () => {
  const later = (time: Micros) => (): Promise<unknown> => {
    rig.ahead += time;
    return Promise.resolve();
  };
  const ofConsole = (): Promise<unknown> =>
    sql("update sessions set surface = 'console' where person_id = $1", personUuid());
  /** The role that a stream or an upload is checked against, and that of a new request. A suspended merchant's member may sign in. */
  test.each<[string, () => Promise<unknown>, checked: string | undefined, asked: string | undefined]>([
    ["nothing happened", nothing, "owner", "owner"],
    ["their account was closed", closed, undefined, undefined],
    ["the merchant was suspended", suspended, undefined, "owner"],
    ["they were removed", removed, undefined, undefined],
    ["they signed out", signedOut, undefined, undefined],
    ["it is one of the console", ofConsole, undefined, undefined],
    ["they did nothing for twelve hours", later(12 * HOUR), undefined, undefined],
    ["they did nothing for less", later(12 * HOUR - SECOND), "owner", "owner"],
  ])("after %s", async (_what, happens, checked, asked) => {
    const token = await rig.tokenOf(person);
    const sessionId = (await rig.people.sessions.signedIn(token, merchantId))?.session.sessionId ?? "";
    await happens();
    const pairs = [merchantId, elsewhere].map((id) => ({ sessionId, merchantId: id }));
    const [role, other] = await rig.people.sessions.roles(pairs);
    expect([role, (await rig.people.sessions.signedIn(token, merchantId))?.role]).toEqual([checked, asked]);
    if (happens === removed || happens === suspended) expect(other).toBe("owner");
  });

  test("lasts seven days at most, however busy its person is", async () => {
    const token = await rig.tokenOf(person);
    const sessionId = (await rig.people.sessions.signedIn(token))?.session.sessionId ?? "";
    const role = async () => (await rig.people.sessions.roles([{ sessionId, merchantId }]))[0];
    for (let at = 0; at < 15; at++) {
      rig.ahead += 11 * HOUR;
      expect((await rig.people.sessions.signedIn(token, merchantId))?.role).toBe("owner");
    }
    expect(await role()).toBe("owner");
    rig.ahead += 3 * HOUR;
    expect(await role()).toBeUndefined();
    expect(await rig.people.sessions.signedIn(token, merchantId)).toBeUndefined();
  });
});

describe("a key that a program was promised", () => {
  const LETTERS = "BCDFGHJKLMNPQRSTVWXZ";
  let asked = 0;
  const request = (now: Micros): Parameters<typeof insertDeviceCode>[0] => ({
    deviceDigest: sha256(`device ${++asked}`),
    userCode: `BCDFGH${LETTERS[Math.floor(asked / 20)]}${LETTERS[asked % 20]}`,
    name: "laptop",
    environment: "sandbox",
    ...rig.from,
    addressGroup: rig.from.address,
    createdAt: now,
    expiresAt: now + 600 * SECOND,
    intervalSeconds: 5,
  });
  const answer = (code: Pick<DeviceRequest, "userCode">, sessionId: string, now: Micros) =>
    database.query(
      answerDevice(
        code.userCode,
        {
          personId: person.personId,
          sessionId,
          granted: { merchantId, environment: "sandbox", scopes: ["payments:read"] },
        },
        now,
      ),
    );

  test.each<[string, () => Promise<unknown>, string[]]>([
    ["nothing happened", nothing, ["owner"]],
    ["their account was closed", closed, []],
    ["the merchant was suspended", suspended, []],
    ["they were removed, and belong to another merchant still", removed, []],
    ["they signed out", signedOut, []],
  ])("is theirs to give after %s", async (_what, happens, roles) => {
    const now = rig.parts.clock.now();
    const code = request(now);
    await database.query(insertDeviceCode(code));
    await answer(code, await sessionIdOf(rig.people, person.personId, rig.from), now);
    await happens();
    const use = async (at: Micros): Promise<unknown[]> =>
      (await database.query(useGrant(code.deviceDigest, at))).map(({ role }) => role);
    expect(await use(code.expiresAt)).toEqual([]);
    expect(await use(code.expiresAt - 1)).toEqual(roles);
    expect(await use(now)).toEqual([]);
  });

  test("is promised once", async () => {
    const now = rig.parts.clock.now();
    const code = request(now);
    await database.query(insertDeviceCode(code));
    const session = await sessionIdOf(rig.people, person.personId, rig.from);
    expect(await answer(code, session, code.expiresAt)).toEqual([]);
    expect(await answer(code, session, now)).toHaveLength(1);
    expect(await answer(code, session, now)).toEqual([]);
  });

  test("is asked for by ten of an address at once, and by others once those are over", async () => {
    const now = rig.parts.clock.now();
    const insert = async (at: Micros) => (await database.query(insertDeviceCode(request(at)))).length;
    for (let at = 0; at < 10; at++) expect(await insert(now)).toBe(1);
    expect([await insert(now), await insert(now + 600 * SECOND - 1)]).toEqual([0, 0]);
    expect(await insert(now + 600 * SECOND)).toBe(1);
  });
});

describe("an invitation", () => {
  test("of an owner who was removed is good no more, although they own another merchant", async () => {
    const { token } = await rig.people.invitations.invite(merchantId, { role: "owner" }, person.personId);
    expect(await rig.people.invitations.find(token)).toBeDefined();
    await removed();
    expect(await rig.people.invitations.find(token)).toBeUndefined();
  });

  test("that is over takes no place in a team", async () => {
    for (let at = 0; at < 3; at++) await rig.people.invitations.invite(merchantId, { role: "viewer" }, undefined);
    // Of the days before, with the members as many as a team may have.
    await sql(
      `insert into invitations (merchant_id, invitation_id, token_digest, role, created_at, expires_at)
select $1, gen_random_uuid(), sha256(n::text::bytea), 'viewer', now() - interval '9 days', now() - interval '2 days'
from generate_series(1, 500) n`,
      uuidOf(merchantId),
    );
    const invite = () => faultOf(rig.people.invitations.invite(merchantId, { role: "viewer" }, undefined));
    expect(await invite()).toBe("no fault");
    await sql(
      "update invitations set expires_at = now() + interval '1 day' where merchant_id = $1",
      uuidOf(merchantId),
    );
    expect(await invite()).toBe("VALIDATION_ERROR email");
  });

  /** Takes the rows of open invitations, accepts one twice, and lets both go on together. */
  async function acceptedTwice(table: string, accept: (email: string) => Promise<unknown>): Promise<string[]> {
    return asOwner(store, async (owner) => {
      await owner.query("begin");
      await owner.query(`select from ${table} where ended_at is null for update`);
      const both = ["one", "two"].map((name) => faultOf(accept(`${name}-${merchantId}@people.example`)));
      await expect.poll(() => waitingForLocks(owner)).toBe(2);
      await owner.query("commit");
      return (await Promise.all(both)).toSorted();
    });
  }

  test.each<[table: string, made: () => Promise<(email: string) => Promise<unknown>>]>([
    [
      "invitations",
      async () => {
        const { token } = await rig.people.invitations.invite(merchantId, { role: "viewer" }, undefined);
        return (email) => rig.people.invitations.accept(token, { ...person, email }, rig.from);
      },
    ],
    [
      "operator_invitations",
      async () => {
        const { token } = await rig.people.operators.invite({ role: "viewer" }, "command-line");
        return (email) => rig.people.operators.accept(token, { ...person, email }, rig.from);
      },
    ],
  ])("in %s that two accept at the same moment lets one in", async (table, made) => {
    expect(await acceptedTwice(table, await made())).toEqual(["OBJECT_NOT_FOUND", "no fault"]);
  });
});

describe("an operator", () => {
  const isGood = async (by: string): Promise<() => Promise<boolean>> => {
    const { token } = await rig.people.operators.invite({ role: "viewer" }, by);
    return async () => (await rig.people.operators.invitationOf(token)) !== undefined;
  };

  test("whose account was closed is none, and invites nobody any more", async () => {
    await rig.people.operators.add(person.personId, "admin", "command-line");
    const good = await isGood(person.email);
    const listed = async () => (await rig.people.operators.list()).map(({ personId }) => personId);
    expect([await good(), await listed()]).toEqual([true, expect.arrayContaining([person.personId])]);
    await closed();
    expect(await good()).toBe(false);
    expect(await rig.people.operators.read(person.personId)).toBeUndefined();
    expect(await listed()).not.toContain(person.personId);
  });

  test.each<[string, role: string, ended: string, isStillGood: boolean]>([
    ["lasts", "admin", "", true],
    ["lasts longer", "admin", "expires_at = '2100-01-01'", true],
    ["has expired", "admin", "expires_at = '2020-01-01'", false],
    ["was revoked", "admin", "revoked_at = now()", false],
    ["is of support", "support", "", false],
  ])("invites by a token that %s, of the role %s", async (what, role, ended, isStillGood) => {
    const name = what.replaceAll(" ", "-");
    await sql(
      `insert into operator_tokens (token_id, name, role, digest, created_at, created_by)
values (gen_random_uuid(), $1::text, $2::text, sha256($1::text::bytea), now(), 'command-line')`,
      name,
      role,
    );
    const good = await isGood(name);
    if (ended) await sql(`update operator_tokens set ${ended} where name = $1`, name);
    expect(await good()).toBe(isStillGood);
  });

  test("who is taken out stays signed in to the portal", async () => {
    await rig.people.operators.add(person.personId, "viewer", "command-line");
    const portal = await rig.tokenOf(person);
    const atConsole = new PeopleRig(database, { surface: "console" });
    const console = await atConsole.tokenOf(person);
    expect(await atConsole.people.sessions.signedIn(console)).toBeDefined();
    await rig.people.operators.remove(person.personId);
    expect(await atConsole.people.sessions.signedIn(console)).toBeUndefined();
    expect(await rig.people.sessions.signedIn(portal)).toBeDefined();
  });
});

describe("a second factor", () => {
  test("that is confirmed is replaced by none that was begun meanwhile", async () => {
    const { secret } = await rig.authenticator(person);
    await database.query(updateTotp(person.personId, Buffer.alloc(40)));
    rig.ahead += 60 * SECOND;
    expect(await rig.people.factors.useCode(person.personId, rig.code(secret))).toBe(true);
  });

  test("that is removed takes its recovery codes along", async () => {
    await rig.authenticator(person);
    expect(await rig.people.factors.recoveryCodesLeft(person.personId)).toBe(10);
    await rig.people.factors.remove(
      person.personId,
      await sessionIdOf(rig.people, person.personId, rig.from),
      rig.from,
    );
    expect(await rig.people.factors.recoveryCodesLeft(person.personId)).toBe(0);
  });

  test("in production an owner removes the authenticator beside a passkey, and keeps the codes; alone it stays", async () => {
    const production = new PeopleRig(database, { production: true });
    await rig.authenticator(person);
    const remove = async () => {
      const session = await sessionIdOf(rig.people, person.personId, rig.from);
      return faultOf(production.people.factors.remove(person.personId, session, rig.from));
    };
    expect(await remove()).toBe("VALIDATION_ERROR authenticator");
    await sql(
      `insert into passkeys (credential_id, passkey_id, person_id, slot, public_key, counter, transports, backed_up, name, created_at)
values (sha256($1::text::bytea), gen_random_uuid(), $1::uuid, 1, sha256('x'), 0, '{}', false, 'x', now())`,
      personUuid(),
    );
    expect(await remove()).toBe("no fault");
    expect(await rig.people.factors.recoveryCodesLeft(person.personId)).toBe(10);
    expect((await rig.people.read(person.personId)) as Person).toMatchObject({ hasAuthenticator: false, passkeys: 1 });
  });

  test("signs a challenge for the purpose and the person that it was opened for", async () => {
    const challenges = new PasskeyChallenges(rig.parts);
    const other = newId("person", rig.parts.clock.now());
    const text = (await challenges.open("proof", { personId: person.personId })).toString("base64url");
    expect(await challenges.take(text, "registration", person.personId)).toBe(false);
    expect(await challenges.take(text, "proof", other)).toBe(false);
    expect(await challenges.take(text, "proof", undefined)).toBe(false);
    expect(await challenges.take(text, "proof", person.personId)).toBe(true);
    expect(await challenges.take(text, "proof", person.personId)).toBe(false);
  });
});
