// Goal: whoever proves again who they are gets a new session and the old one is worth nothing; what a password alone opens stays shut to who
// has only that. Method: people in a real database, and an attacker who holds a token, a password, or both.
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { type TestService, startService } from "../../test/kit.ts";
import {
  PASSWORD,
  PeopleRig,
  type TestPerson,
  actionsOnRecord,
  faultOf,
  sessionIdOf,
  sessionOf,
} from "../../test/people.ts";
import { SECOND } from "../ground/clock.ts";
import { uuidOf } from "../ground/ids.ts";
import { asOwner } from "../../test/kit.ts";
import type { Database } from "../store/database.ts";
import { DeviceCodes } from "./device-codes.ts";
import { SignInThrottle, WrongGuess, ofStranger } from "./sign-in-throttle.ts";
import type { Person } from "./people.sql.ts";

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

const session = ({ personId }: TestPerson): Promise<string> => sessionIdOf(rig.people, personId, rig.from);
const sessionWith = async (token: string) => {
  const session = await sessionOf(rig.people, token);
  return session ?? expect.unreachable("the session lasts");
};

describe("proving it again", () => {
  test("gives a fresh session in the place of the old one", async () => {
    const person = await rig.joined(merchantId);
    const token = await rig.tokenOf(person);
    const other = await rig.tokenOf(person);
    rig.ahead = 700 * SECOND;
    const session = await sessionWith(token);
    expect(rig.people.sessions.isFresh(session)).toBe(false);
    const proved = await rig.people.prove(person.personId, { password: PASSWORD }, session, rig.from);
    if ("needs" in proved) return expect.unreachable("nothing else is needed");
    expect(rig.people.sessions.isFresh(await sessionWith(proved.token))).toBe(true);
    expect(await sessionOf(rig.people, token)).toBeUndefined();
    expect(await sessionOf(rig.people, other)).toBeDefined();
  });

  test("asks for everything that a sign-in asks for, and says what is wrong", async () => {
    const person = await rig.joined(merchantId);
    const { secret, codes } = await rig.authenticator(person);
    rig.ahead = 60 * SECOND;
    const session = await sessionWith(await rig.tokenOf(person, rig.code(secret)));
    const prove = (password: string, code?: string) =>
      rig.people.prove(person.personId, { password, code }, session, rig.from);
    expect(await prove(PASSWORD)).toEqual({ needs: "code" });
    expect(await faultOf(prove("not the password", codes[0]))).toBe("UNAUTHORIZED");
    expect(await faultOf(prove(PASSWORD, rig.code(secret)))).toBe("UNAUTHORIZED"); // was used to sign in
    expect(await prove(PASSWORD, codes[0])).toHaveProperty("token");
    expect(await actionsOnRecord(service.database, person)).toEqual([
      "joined",
      "authenticator_added",
      "signed_in",
      "proof_failed",
      "code_failed",
      "proved",
    ]);
  });

  test("of a session that was ended elsewhere makes none, also when both happen at once", async () => {
    const person = await rig.joined(merchantId);
    const stolen = await sessionWith(await rig.tokenOf(person));
    await rig.people.sessions.end(person.personId, stolen.sessionId);
    const prove = () => rig.people.prove(person.personId, { password: PASSWORD }, stolen, rig.from);
    expect(await faultOf(prove())).toBe("UNAUTHORIZED");
    const session = await sessionWith(await rig.tokenOf(person));
    const both = () => faultOf(rig.people.prove(person.personId, { password: PASSWORD }, session, rig.from));
    expect((await Promise.all([both(), both(), both()])).toSorted()).toEqual([
      "UNAUTHORIZED",
      "UNAUTHORIZED",
      "no fault",
    ]);
    expect(await rig.people.sessions.list(person.personId)).toHaveLength(1);
  });

  test("never ends a session of somebody else", async () => {
    const [person, other] = [await rig.joined(merchantId), await rig.joined(merchantId, "viewer")];
    const theirs = await sessionWith(await rig.tokenOf(other));
    expect(await faultOf(rig.people.prove(person.personId, { password: PASSWORD }, theirs, rig.from))).toBe(
      "UNAUTHORIZED",
    );
    expect(await rig.people.sessions.list(other.personId)).toHaveLength(1);
  });
});

test("of any number of guesses at once no more are compared than one after the other", async () => {
  const person = await rig.joined(merchantId);
  const guesses = Array.from({ length: 20 }, () =>
    faultOf(rig.people.signIn({ email: person.email, password: "a guess" }, rig.from)),
  );
  const outcomes = await Promise.all(guesses);
  expect(outcomes.filter((outcome) => outcome === "UNAUTHORIZED").length).toBeLessThanOrEqual(5);
  expect(outcomes.filter((outcome) => outcome === "RATE_LIMITED").length).toBeGreaterThanOrEqual(15);
});

test("a flood of right passwords at once takes no connection of the database that others wait for", async () => {
  // A handle of its own on the service's connections: the service goes on asking meanwhile.
  const { database } = service.app;
  const ask = vi.fn<Database["query"]>((statement) => database.query(statement));
  const own = new Proxy(database, { get: (of, name) => (name === "query" ? ask : Reflect.get(of, name, of)) });
  const throttle = new SignInThrottle(own, rig.parts.clock);
  const compared = Promise.withResolvers<void>();
  const attempt = ofStranger("portal", "flood@people.example", "198.51.100.9");
  const flood = Array.from({ length: 90 }, () => faultOf(throttle.guard(attempt, () => compared.promise)));
  expect(ask).toHaveBeenCalledTimes(5);
  compared.resolve();
  const outcomes = (await Promise.all(flood)).toSorted();
  expect(outcomes).toEqual([...Array(85).fill("RATE_LIMITED"), ...Array(5).fill("no fault")]);
  expect(ask).toHaveBeenCalledTimes(15);
  expect(await faultOf(throttle.guard(attempt, () => Promise.resolve()))).toBe("no fault");
});

describe("guesses", () => {
  const wrong = "not the password";
  const outcomes = async (person: TestPerson, keep: string, secret: string): Promise<string[]> => {
    const { personId } = person;
    const current = (await rig.people.sessions.list(personId)).find(({ sessionId }) => sessionId === keep);
    return [
      await faultOf(rig.people.prove(personId, person, current ?? expect.unreachable(), rig.from)),
      await faultOf(
        rig.people.changePassword(
          personId,
          { current: PASSWORD, next: "teh manis hangat 8" },
          { keep, origin: rig.from },
        ),
      ),
      await faultOf(rig.people.confirmAuthenticator(personId, rig.code(secret), keep, rig.from)),
    ];
  };

  test("of strangers at the sign-in do not stop what a signed-in person proves", async () => {
    const person = await rig.joined(merchantId);
    const keep = await session(person);
    const { secret } = await rig.people.factors.begin((await rig.people.read(person.personId)) as Person);
    const stranger = { address: "198.51.100.77", userAgent: "Test" };
    const throttle = new SignInThrottle(service.app.database, rig.parts.clock);
    const refuse = () => Promise.reject(new WrongGuess("UNAUTHORIZED"));
    for (let guess = 0; guess < 50; guess++)
      await faultOf(throttle.guard(ofStranger("portal", person.email, `198.51.100.${guess}`), refuse));
    expect(await faultOf(rig.people.signIn(person, stranger))).toBe("RATE_LIMITED");
    expect(await faultOf(rig.people.signIn(person, rig.from))).toBe("RATE_LIMITED");
    expect(await outcomes(person, keep, secret)).toEqual(["no fault", "no fault", "no fault"]);
  });

  test("at the code are five for whoever has the password, from wherever, and spare the password", async () => {
    const person = await rig.joined(merchantId);
    const { secret } = await rig.authenticator(person);
    rig.ahead = 60 * SECOND;
    const thief = (guess: number) => ({ address: `198.51.100.${guess}`, userAgent: "Test" });
    for (let guess = 0; guess < 5; guess++)
      expect(await faultOf(rig.people.signIn({ ...person, code: "000000" }, thief(guess)))).toBe("UNAUTHORIZED");
    expect(await faultOf(rig.people.signIn({ ...person, code: rig.code(secret) }, thief(99)))).toBe("RATE_LIMITED");
    expect(await rig.people.signIn(person, thief(99))).toEqual({ needs: "code" });
  });

  test("of strangers at the same address do not stop it either, as behind the one address of a whole network", async () => {
    const person = await rig.joined(merchantId);
    const keep = await session(person);
    const { secret } = await rig.people.factors.begin((await rig.people.read(person.personId)) as Person);
    const devices = new DeviceCodes({ ...rig.parts, credentials: service.app.merchants.credentials });
    const { userCode } = await devices.begin({ name: "terminal", environment: "sandbox" }, rig.from);
    const throttle = new SignInThrottle(service.app.database, rig.parts.clock);
    const refuse = () => Promise.reject(new WrongGuess("UNAUTHORIZED"));
    for (let guess = 0; guess < 30; guess++) {
      const email = `nobody${guess}@people.example`;
      await faultOf(throttle.guard(ofStranger("portal", email, rig.from.address), refuse));
    }
    expect(await faultOf(rig.people.signIn(person, rig.from))).toBe("RATE_LIMITED");
    expect(await outcomes(person, keep, secret)).toEqual(["no fault", "no fault", "no fault"]);
    expect(await faultOf(devices.find(person.personId, userCode, rig.from))).toBe("no fault");
  });

  test("of who holds a session are five for all proofs together, and do not stop the sign-in", async () => {
    const person = await rig.joined(merchantId);
    const { personId } = person;
    const keep = await session(person);
    const { secret } = await rig.people.factors.begin((await rig.people.read(personId)) as Person);
    const held = (await rig.people.sessions.list(personId))[0] ?? expect.unreachable();
    const rest = { keep, origin: rig.from };
    for (let guess = 0; guess < 2; guess++) {
      const proof = rig.people.prove(personId, { password: wrong }, held, rig.from);
      expect(await faultOf(proof)).toBe("UNAUTHORIZED");
      const change = rig.people.changePassword(personId, { current: wrong, next: "teh manis hangat 8" }, rest);
      expect(await faultOf(change)).toBe("UNAUTHORIZED");
    }
    const confirmation = rig.people.confirmAuthenticator(personId, "000000", keep, rig.from);
    expect(await faultOf(confirmation)).toBe("VALIDATION_ERROR code");
    expect(await outcomes(person, keep, secret)).toEqual(["RATE_LIMITED", "RATE_LIMITED", "RATE_LIMITED"]);
    expect(await faultOf(rig.people.signIn(person, rig.from))).toBe("no fault");
  });
});

test("who signs in rightly is slowed down at twenty times a minute, and alone", async () => {
  rig.ahead = (60 - (Math.floor(Date.now() / 1000) % 60)) * SECOND;
  const person = await rig.joined(merchantId);
  for (let round = 0; round < 20; round++) await rig.tokenOf(person);
  expect(await rig.people.sessions.list(person.personId)).toHaveLength(20);
  expect(await faultOf(rig.people.signIn(person, rig.from))).toBe("RATE_LIMITED");
  expect(await faultOf(rig.people.signIn(await rig.joined(merchantId), rig.from))).toBe("no fault");
  expect(await faultOf(rig.people.signIn(person, { ...rig.from, address: "198.51.100.7" }))).toBe("no fault");
  rig.ahead += 60 * SECOND;
  expect(await faultOf(rig.people.signIn(person, rig.from))).toBe("no fault");
});

test("an address signs in a hundred and twenty times a minute, whoever signs in there", async () => {
  rig.ahead = (60 - (Math.floor(Date.now() / 1000) % 60)) * SECOND;
  const throttle = new SignInThrottle(service.app.database, rig.parts.clock);
  const right = (person: number, address = rig.from.address): Promise<string> =>
    faultOf(throttle.guard(ofStranger("portal", `right${person}@people.example`, address), () => Promise.resolve()));
  for (let person = 0; person < 120; person++) expect(await right(person)).toBe("no fault");
  expect(await right(120)).toBe("RATE_LIMITED");
  expect(await right(120, "198.51.100.7")).toBe("no fault");
});

test("an authenticator that somebody began with and did not confirm is no factor", async () => {
  const person = await rig.joined(merchantId);
  const { secret } = await rig.people.factors.begin((await rig.people.read(person.personId)) as Person);
  const code = rig.code(secret);
  expect(await rig.tokenOf(person, code)).toBeDefined(); // none is asked for
  expect((await rig.people.read(person.personId))?.hasAuthenticator).toBe(false);
});

describe("an invitation of somebody who has an account", () => {
  test("asks for the second factor too: a password that leaked lets nobody in", async () => {
    const person = await rig.joined(merchantId);
    const { secret } = await rig.authenticator(person);
    const other = await service.merchant();
    const { token } = await rig.people.invitations.invite(other.merchantId, { role: "owner" }, undefined);
    rig.ahead = 60 * SECOND;
    expect(await rig.people.invitations.accept(token, person, rig.from)).toEqual({ needs: "code" });
    expect(await faultOf(rig.people.invitations.accept(token, { ...person, code: "000000" }, rig.from))).toBe(
      "UNAUTHORIZED",
    );
    expect(await rig.people.members(other.merchantId)).toEqual([]);
    const joined = await rig.people.invitations.accept(token, { ...person, code: rig.code(secret) }, rig.from);
    expect(joined).toMatchObject({ personId: person.personId, merchantId: other.merchantId });
  });

  test("for another address says nothing of whether there is one by theirs", async () => {
    const person = await rig.joined(merchantId);
    const { token } = await rig.people.invitations.invite(
      merchantId,
      { role: "viewer", email: "new@people.example" },
      undefined,
    );
    for (const email of [person.email, "nobody-at-all@people.example"])
      expect(await faultOf(rig.people.invitations.accept(token, { ...person, email, password: "x" }, rig.from))).toBe(
        "VALIDATION_ERROR email",
      );
  });
});

describe("a profile", () => {
  test("changes in what is sent, is emptied by null, and nothing else", async () => {
    const { personId } = await rig.joined(merchantId);
    await rig.people.update(personId, { language: "id", time_zone: "Asia/Jakarta" });
    await rig.people.update(personId, { name: "Sari" });
    expect(await rig.people.read(personId)).toMatchObject({ name: "Sari", language: "id", timeZone: "Asia/Jakarta" });
    await rig.people.update(personId, { language: null, time_zone: null });
    expect(await rig.people.read(personId)).toMatchObject({ name: "Sari", language: undefined, timeZone: undefined });
  });

  test.each([
    "",
    "Asia/Nowhere",
    "+07:00",
    "Asia/Jakarta\0",
    "x".repeat(65),
    "../etc/localtime",
    "Asia/Jakarta;drop",
    "T10Z",
    "T10+07",
  ])("%j is no time zone", async (zone) => {
    const { personId } = await rig.joined(merchantId);
    expect(await faultOf(rig.people.update(personId, { time_zone: zone }))).toBe("VALIDATION_ERROR time_zone");
  });

  test.each(["UTC", "Asia/Makassar", "America/Argentina/Buenos_Aires", "Etc/GMT+7"])("%s is one", async (zone) => {
    const { personId } = await rig.joined(merchantId);
    await rig.people.update(personId, { time_zone: zone });
    expect((await rig.people.read(personId))?.timeZone).toBe(zone);
  });
});

describe("a person without a password", () => {
  async function passwordless() {
    const person = await rig.joined(merchantId);
    const token = await rig.tokenOf(person);
    await asOwner(service.database, (owner) =>
      owner.query("update persons set password_hash = null where person_id = $1", [uuidOf(person.personId)]),
    );
    return { person, token, keep: (await sessionWith(token)).sessionId };
  }

  test("chooses one, once, and is signed out everywhere else", async () => {
    const { person, token, keep } = await passwordless();
    const elsewhere = await rig.people.sessions.begin(person.personId, rig.from);
    const set = (next: string) => rig.people.setPassword(person.personId, next, { keep, origin: rig.from });
    expect(await faultOf(set("short"))).toBe("VALIDATION_ERROR next");
    const tries = await Promise.all(["teh manis hangat 8", "teh manis hangat 9"].map((next) => faultOf(set(next))));
    expect(tries.toSorted()).toEqual(["VALIDATION_ERROR current", "no fault"]);
    expect([await sessionOf(rig.people, elsewhere), (await sessionWith(token)).sessionId]).toEqual([undefined, keep]);
    expect(await faultOf(set("kopi susu dingin 3"))).toBe("VALIDATION_ERROR current");
  });

  test("neither signs in nor proves anything by an empty one", async () => {
    const { person, token } = await passwordless();
    for (const password of ["", "null", "undefined", PASSWORD]) {
      expect(await faultOf(rig.people.signIn({ email: person.email, password }, rig.from))).toBe("UNAUTHORIZED");
    }
    const session = await sessionWith(token);
    expect(await faultOf(rig.people.prove(person.personId, { password: "" }, session, rig.from))).toBe("UNAUTHORIZED");
  });
});

describe("recovery codes", () => {
  test("are counted, and made anew: the old ones are worth nothing then", async () => {
    const person = await rig.joined(merchantId);
    const { codes } = await rig.authenticator(person);
    expect(await rig.people.factors.recoveryCodesLeft(person.personId)).toBe(10);
    await rig.tokenOf(person, codes[0]);
    expect(await rig.people.factors.recoveryCodesLeft(person.personId)).toBe(9);
    const made = await rig.people.factors.newRecoveryCodes(person.personId, await session(person), rig.from);
    expect([made.length, await rig.people.factors.recoveryCodesLeft(person.personId)]).toEqual([10, 10]);
    expect(await faultOf(rig.people.signIn({ ...person, code: codes[1] }, rig.from))).toBe("UNAUTHORIZED");
    expect(await rig.tokenOf(person, made[1])).toBeDefined();
    expect((await actionsOnRecord(service.database, person)).at(-3)).toBe("recovery_codes_made");
  });

  test("are for who has a second factor alone", async () => {
    const person = await rig.joined(merchantId);
    const made = rig.people.factors.newRecoveryCodes(person.personId, await session(person), rig.from);
    expect(await faultOf(made)).toBe("VALIDATION_ERROR authenticator");
    expect(await rig.people.factors.recoveryCodesLeft(person.personId)).toBe(0);
  });
});

test("in production an owner keeps a second factor; others need not", async () => {
  rig = new PeopleRig(service.app.database, { production: true });
  const [owner, viewer] = [await rig.joined(merchantId), await rig.joined(merchantId, "viewer")];
  for (const person of [owner, viewer]) await rig.authenticator(person);
  const remove = async (person: TestPerson) =>
    rig.people.factors.remove(person.personId, await session(person), rig.from);
  expect(await faultOf(remove(owner))).toBe("VALIDATION_ERROR authenticator");
  expect(await rig.people.signIn(owner, rig.from)).toEqual({ needs: "code" });
  await remove(viewer);
  expect(await rig.tokenOf(viewer)).toBeDefined();
});
