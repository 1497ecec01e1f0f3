// Goal: a link signs in its own person, once, for its time, and skips nothing in production. Method: links in a real database, used twice, late,
// at once, by the wrong one, and of a database that a development used before.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { SoftwareAuthenticator } from "../../test/authenticator.ts";
import { type TestService, asOwner, startService } from "../../test/kit.ts";
import {
  PLACE,
  PeopleRig,
  type TestPerson,
  actionsOnRecord,
  faultOf,
  sessionIdOf,
  sessionOf,
} from "../../test/people.ts";
import { SECOND } from "../ground/clock.ts";
import { uuidOf } from "../ground/ids.ts";

let service: TestService;
let merchantId: string;
let rig: PeopleRig;

beforeAll(async () => {
  service = await startService({ roles: ["api"] });
});
afterAll(() => service.stop());
beforeEach(async () => {
  ({ merchantId } = await service.merchant());
  rig = new PeopleRig(service.app.database);
});

const use = (token: string): Promise<string> => rig.people.links.use(token, rig.from);
const inProduction = (): PeopleRig => (rig = new PeopleRig(service.app.database, { production: true }));

test("a link signs its person in, once, also when three use it at once, and the token is kept as a digest alone", async () => {
  const person = await rig.joined(merchantId);
  const { token } = await rig.people.links.make(person.personId, "sign_in");
  const tries = await Promise.allSettled([use(token), use(token), use(token)]);
  const [good] = tries.filter((tried) => tried.status === "fulfilled");
  expect(tries.filter((tried) => tried.status === "rejected")).toHaveLength(2);
  expect((await sessionOf(rig.people, good?.value ?? ""))?.personId).toBe(person.personId);
  expect(await faultOf(use(token))).toBe("UNAUTHORIZED");
  const { rows } = await asOwner(service.database, (owner) => owner.query("select * from sign_in_links"));
  expect(JSON.stringify(rows)).not.toContain(token);
  expect(await actionsOnRecord(service.database, person)).toEqual(["joined", "link_made", "signed_in"]);
});

test("a link lasts fifteen minutes, or as long as was said, and a new one takes its place", async () => {
  const { personId } = await rig.joined(merchantId);
  const first = await rig.people.links.make(personId, "sign_in");
  const late = await rig.people.links.make(personId, "sign_in");
  expect(await faultOf(use(first.token))).toBe("UNAUTHORIZED");
  rig.ahead = 901 * SECOND;
  expect(await faultOf(use(late.token))).toBe("UNAUTHORIZED");
  const long = await rig.people.links.make(personId, "sign_in", 3600 * SECOND);
  rig.ahead += 3599 * SECOND;
  expect(await faultOf(use(long.token))).toBe("no fault");
});

test.each(["", "x", "a".repeat(43), "'; drop table sign_in_links --".padEnd(43, "x")])(
  "%j is no link",
  async (token) => {
    expect(await faultOf(use(token))).toBe("UNAUTHORIZED");
  },
);

test("a person who may not sign in any more is not signed in by a link", async () => {
  const { personId } = await rig.joined(merchantId);
  const { token } = await rig.people.links.make(personId, "sign_in");
  await asOwner(service.database, (owner) =>
    owner.query("update persons set closed_at = now() where person_id = $1", [uuidOf(personId)]),
  );
  expect(await faultOf(use(token))).toBe("UNAUTHORIZED");
});

describe("in production", () => {
  test("no link skips the sign-in: none is made, and one of a development is worth nothing", async () => {
    const { personId } = await rig.joined(merchantId);
    const { token } = await rig.people.links.make(personId, "sign_in", 24 * 3600 * SECOND);
    inProduction();
    expect(await faultOf(rig.people.links.make(personId, "sign_in"))).toBe("FORBIDDEN");
    expect(await faultOf(use(token))).toBe("UNAUTHORIZED");
  });

  test("there is no demo owner", async () => {
    await expect(inProduction().people.demoOwner(merchantId)).rejects.toThrow("no demo people");
  });
});

describe("a link that resets", () => {
  async function withEverything(): Promise<{ person: TestPerson; device: SoftwareAuthenticator; codes: string[] }> {
    const person = await rig.joined(merchantId);
    const { codes } = await rig.authenticator(person);
    const device = new SoftwareAuthenticator(PLACE.origins[0] ?? "");
    const read = await rig.people.read(person.personId);
    if (!read) return expect.unreachable("the person is there");
    const response = device.create(await rig.people.passkeys.registrationOptions(read));
    const session = await sessionIdOf(rig.people, person.personId, rig.from);
    await rig.people.passkeys.register(read, { name: "Laptop", response }, session, rig.from);
    return { person, device, codes };
  }

  test("takes away everything by which the person signed in, ends their sessions, and lets them choose a password", async () => {
    inProduction();
    const { person, device, codes } = await withEverything();
    const elsewhere = await rig.people.sessions.begin(person.personId, rig.from);
    const { token } = await rig.people.links.make(person.personId, "reset");
    expect(await sessionOf(rig.people, elsewhere)).toBeDefined(); // it takes the link, not its making
    const session = await sessionOf(rig.people, await use(token));
    expect(session && rig.people.sessions.isFresh(session)).toBe(true);
    expect(await sessionOf(rig.people, elsewhere)).toBeUndefined();
    expect(await rig.people.read(person.personId)).toMatchObject({
      passwordHash: undefined,
      totpSealed: undefined,
      hasAuthenticator: false,
      passkeys: 0,
    });
    expect(await faultOf(rig.people.signIn({ ...person, code: codes[0] }, rig.from))).toBe("UNAUTHORIZED");
    const answer = device.get(await rig.people.passkeys.signInOptions(rig.from));
    expect(await faultOf(rig.people.passkeys.signIn(answer, rig.from))).toBe("UNAUTHORIZED");
    const next = "teh manis hangat 8";
    await rig.people.setPassword(person.personId, next, { keep: session?.sessionId ?? "", origin: rig.from });
    expect(await rig.tokenOf({ ...person, password: next })).toBeDefined();
    expect((await actionsOnRecord(service.database, person)).slice(3)).toEqual([
      "link_made",
      "reset_by_link",
      "sign_in_failed",
      "password_set",
      "signed_in",
    ]);
  });

  test("takes back the other links of the person", async () => {
    const { personId } = await rig.joined(merchantId);
    const other = await rig.people.links.make(personId, "sign_in");
    const { token } = await rig.people.links.make(personId, "reset");
    await use(token);
    expect(await faultOf(use(other.token))).toBe("UNAUTHORIZED");
  });

  test("changes nothing when it is over", async () => {
    const { person, codes } = await withEverything();
    const { token } = await rig.people.links.make(person.personId, "reset");
    rig.ahead = 901 * SECOND;
    expect(await faultOf(use(token))).toBe("UNAUTHORIZED");
    expect(await rig.tokenOf(person, codes[0])).toBeDefined();
  });
});

test("the demo owner is made once, owns the merchant, and has no password", async () => {
  const [first, again] = [await rig.people.demoOwner(merchantId), await rig.people.demoOwner(merchantId)];
  expect(first).toEqual(again);
  expect(first).toMatchObject({ email: "owner@demo.test", name: "Demo Owner", passwordHash: undefined });
  expect(await rig.people.memberships(first.personId)).toMatchObject([{ merchantId, role: "owner" }]);
});
