// Goal: what began before an account was reset takes no effect after it. Method: a request that waits for the person's row, while the row's holder
// resets the account.
import { afterAll, beforeAll, expect, test } from "vitest";
import { SoftwareAuthenticator } from "../../test/authenticator.ts";
import type { Answer } from "../../../e2e/kit/client.ts";
import { failStatements } from "../../test/failing-statements.ts";
import { type TestService, asOwner, startService, waitingForLocks } from "../../test/kit.ts";
import { PASSWORD, PLACE, PeopleRig, type TestPerson, faultOf, sessionIdOf } from "../../test/people.ts";
import { Browser } from "../../test/portal.ts";
import { uuidOf } from "../ground/ids.ts";
import type { Person } from "./people.sql.ts";

let service: TestService;
let rig: PeopleRig;
let merchantId: string;
beforeAll(async () => {
  service = await startService({ roles: ["api"] });
  rig = new PeopleRig(service.app.database);
  ({ merchantId } = await service.merchant());
});
afterAll(() => service.stop());

const NEXT = "teh manis hangat 8";
const device = (): SoftwareAuthenticator => new SoftwareAuthenticator(PLACE.origins[0] ?? "");

/** Each gives a request that has come as far as the person's row when `work` is called. */
const requests: Record<string, (person: TestPerson) => Promise<() => Promise<unknown>>> = {
  "a sign-in by the password": (person) => Promise.resolve(() => rig.people.signIn(person, rig.from)),
  "a change of the password": async ({ personId }) => {
    const keep = await sessionIdOf(rig.people, personId, rig.from);
    return () => rig.people.changePassword(personId, { current: PASSWORD, next: NEXT }, { keep, origin: rig.from });
  },
  "a confirmation of an authenticator": async ({ personId }) => {
    const session = await sessionIdOf(rig.people, personId, rig.from);
    const { secret } = await rig.people.factors.begin((await rig.people.read(personId)) as Person);
    return () => rig.people.confirmAuthenticator(personId, rig.code(secret), session, rig.from);
  },
  "a new passkey": async ({ personId }) => {
    const session = await sessionIdOf(rig.people, personId, rig.from);
    const person = await rig.people.read(personId);
    if (!person) return expect.unreachable("the person is there");
    const response = device().create(await rig.people.passkeys.registrationOptions(person));
    return () => rig.people.passkeys.register(person, { name: "Laptop", response }, session, rig.from);
  },
  "an acceptance of a merchant's invitation": async (person) => {
    const { token } = await rig.people.invitations.invite(
      (await service.merchant()).merchantId,
      { role: "owner" },
      undefined,
    );
    return () => rig.people.invitations.accept(token, person, rig.from);
  },
  "an acceptance of an operator's invitation": async (person) => {
    const { token } = await rig.people.operators.invite({ role: "admin" }, "command-line");
    return () => rig.people.operators.accept(token, person, rig.from);
  },
};

/** The same for a request that changes the factors of a person who has an authenticator and a passkey. */
const factorChanges: Record<string, (person: TestPerson, session: string) => Promise<unknown>> = {
  "new recovery codes": ({ personId }, session) => rig.people.factors.newRecoveryCodes(personId, session, rig.from),
  "a removal of the authenticator": ({ personId }, session) => rig.people.factors.remove(personId, session, rig.from),
  "a removal of a passkey": async ({ personId }, session) => {
    const [passkey] = await rig.people.passkeys.list(personId);
    return rig.people.passkeys.remove(personId, passkey?.passkeyId ?? "", session, rig.from);
  },
};

/** The outcome of `work`, which waits for the person's row, while the row's holder runs `statements` about the person. */
async function outcomeAfter(
  { personId }: TestPerson,
  work: () => Promise<unknown>,
  ...statements: string[]
): Promise<string> {
  return asOwner(service.database, async (owner) => {
    const id = [uuidOf(personId)];
    await owner.query("begin");
    await owner.query("select from persons where person_id = $1 for no key update", id);
    const outcome = faultOf(work());
    await expect.poll(() => waitingForLocks(owner)).toBe(1);
    for (const statement of statements) await owner.query(statement, id);
    await owner.query("commit");
    return outcome;
  });
}

const RESET = "update persons set password_hash = null, totp_sealed = null where person_id = $1";
const SIGNED_OUT = "update sessions set ended_at = now() where person_id = $1";

test.each(Object.keys(requests))("%s", async (name) => {
  const person = await rig.joined(merchantId);
  const work = (await requests[name]?.(person)) ?? expect.unreachable();
  expect(await outcomeAfter(person, work, RESET, SIGNED_OUT)).toBe("UNAUTHORIZED");
  expect(await rig.people.read(person.personId)).toMatchObject({
    passwordHash: undefined,
    hasAuthenticator: false,
    passkeys: 0,
  });
  expect(await rig.people.sessions.list(person.personId)).toEqual([]);
  expect(await rig.people.memberships(person.personId)).toMatchObject([{ merchantId }]);
  expect(await rig.people.operators.read(person.personId)).toBeUndefined();
});

const doors: Record<string, (person: TestPerson) => Promise<() => Promise<Answer>>> = {
  portal: async (person) => {
    const { token } = await rig.people.invitations.invite(
      (await service.merchant()).merchantId,
      { role: "owner" },
      undefined,
    );
    return () => new Browser(service.origin, "").post("/portal/v1/invitations/accept", accepting(token, person));
  },
  console: async (person) => {
    const { token } = await rig.people.operators.invite({ role: "admin" }, "command-line");
    return () => new Browser(service.operatorOrigin, "").post("/ops/v1/invitations/accept", accepting(token, person));
  },
};
const accepting = (token: string, { email, name, password }: TestPerson) => ({ token, email, name, password });

test.each(Object.keys(doors))("the session that an acceptance begins in the %s", async (name) => {
  const person = await rig.joined(merchantId);
  const accept = await doors[name]?.(person);
  await asOwner(service.database, async (owner) => {
    await owner.query("begin");
    await owner.query("lock table people_audit in share mode"); // The audit is written after the acceptance, before the session.
    const answer = accept?.();
    await expect.poll(() => waitingForLocks(owner)).toBe(1);
    await owner.query(RESET, [uuidOf(person.personId)]);
    await owner.query("commit");
    expect((await answer)?.json).toMatchObject({ error: { code: "UNAUTHORIZED" } });
  });
  expect(await rig.people.sessions.list(person.personId)).toEqual([]);
});

test.each(Object.keys(factorChanges))("%s, of a session that is signed out meanwhile", async (name) => {
  const person = await rig.joined(merchantId);
  const { personId } = person;
  await rig.authenticator(person);
  await (
    await requests["a new passkey"]?.(person)
  )?.();
  const before = [await rig.people.read(personId), await recoveryCodes()];
  const session = await sessionIdOf(rig.people, personId, rig.from);
  const work = async (): Promise<unknown> => factorChanges[name]?.(person, session);
  expect(await outcomeAfter(person, work, SIGNED_OUT)).toBe("UNAUTHORIZED");
  expect([await rig.people.read(personId), await recoveryCodes()]).toEqual(before);
});

test.each(["sign_in", "reset"] as const)("a link for a %s, where a reset deletes it meanwhile", async (purpose) => {
  const person = await rig.joined(merchantId);
  const { token } = await rig.people.links.make(person.personId, purpose);
  const work = (): Promise<unknown> => rig.people.links.use(token, rig.from);
  const deleted = "delete from sign_in_links where person_id = $1";
  expect(await outcomeAfter(person, work, deleted)).toBe("UNAUTHORIZED");
  expect(await rig.people.sessions.list(person.personId)).toEqual([]);
  expect(await faultOf(rig.people.signIn(person, rig.from))).toBe("no fault");
});

test("a proof by a password that is changed meanwhile, in a session that goes on", async () => {
  const person = await rig.joined(merchantId);
  const { personId, password } = person;
  await sessionIdOf(rig.people, personId, rig.from);
  const [held = expect.unreachable()] = await rig.people.sessions.list(personId);
  const work = (): Promise<unknown> => rig.people.prove(personId, { password }, held, rig.from);
  const other = uuidOf((await rig.joined(merchantId)).personId);
  const changed = `update persons set password_hash = (select password_hash from persons where person_id = '${other}') where person_id = $1`;
  expect(await outcomeAfter(person, work, changed)).toBe("UNAUTHORIZED");
  expect(await rig.people.sessions.list(personId)).toEqual([held]);
});

const recoveryCodes = (): Promise<unknown> =>
  asOwner(service.database, async (owner) => (await owner.query("select * from recovery_codes order by 1, 2")).rows);

test("a session begins together with the end of the oldest ones, while nobody else can change the person", async () => {
  const { personId } = await rig.joined(merchantId);
  const failing = failStatements(service.app.database.pool, "57014", (text) => text.includes("offset $2::integer"));
  await expect(rig.people.sessions.begin(personId, rig.from)).rejects.toThrow("planted");
  failing.restore();
  expect(await rig.people.sessions.list(personId)).toEqual([]);
});

test("an authenticator is confirmed together with its recovery codes, or not at all", async () => {
  const { personId } = await rig.joined(merchantId);
  const session = await sessionIdOf(rig.people, personId, rig.from);
  const { secret } = await rig.people.factors.begin((await rig.people.read(personId)) as Person);
  const confirm = () => rig.people.confirmAuthenticator(personId, rig.code(secret), session, rig.from);
  const failing = failStatements(service.app.database.pool, "57014", (text) =>
    text.includes("insert into recovery_codes"),
  );
  await expect(confirm()).rejects.toThrow("planted");
  failing.restore();
  expect(await rig.people.read(personId)).toMatchObject({ hasAuthenticator: false });
  expect(await confirm()).toHaveLength(10);
});
