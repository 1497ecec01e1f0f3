// Goal: only who proves who they are is signed in, and only who was let in belongs to a merchant. Method: people in a real database, and
// what the database itself refuses.
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { type TestService, asOwner, startService, waitingForLocks } from "../../test/kit.ts";
import { sessionIdOf, sessionOf } from "../../test/people.ts";
import { type Micros, SECOND, systemClock } from "../ground/clock.ts";
import { Vault } from "../ground/crypto.ts";
import { Fault } from "../ground/fault.ts";
import { newId, uuidOf } from "../ground/ids.ts";
import { deleteExpired } from "../store/retention.ts";
import type { Joined } from "./invitations.ts";
import type { NewPerson } from "./invitees.ts";
import { peopleExpiredAt } from "./people-retention.sql.ts";
import { People } from "./people.ts";
import type { MemberRole } from "./roles.ts";
import { SignInThrottle, WrongGuess, ofStranger } from "./sign-in-throttle.ts";
import { codeOf } from "./totp.ts";
import type { Person } from "./people.sql.ts";

const PASSWORD = "kopi tubruk senja 7";
const HOUR = 3600 * SECOND;
let service: TestService;
let merchantId: string;
let people: People;
/** The room's clock: it goes on by a microsecond a look and by what a test adds, so that no authenticator's code changes meanwhile. */
let ahead: Micros;
let looked = systemClock.now();
const clock = { now: () => ++looked + ahead };
let addresses = 0;
let from: { address: string; userAgent: string };

beforeAll(async () => {
  service = await startService({ roles: ["api"] });
});
afterAll(() => service.stop());
beforeEach(async () => {
  ahead = 0;
  from = { address: `203.0.113.${++addresses}`, userAgent: "Test" };
  ({ merchantId } = await service.merchant());
  const vault = new Vault("ab".repeat(32));
  people = new People({
    database: service.app.database,
    vault,
    clock,
    serviceName: "gerbang",
    production: false,
    surface: "portal",
    relyingParty: () => undefined,
  });
});

let names = 0;
const somebody = (): NewPerson => ({ email: `person${++names}@people.example`, name: "Sari Dewi", password: PASSWORD });

async function accepted(token: string, given: NewPerson): Promise<Joined> {
  const answer = await people.invitations.accept(token, given, from);
  if ("needs" in answer) return expect.unreachable(`a ${answer.needs} is asked for`);
  return answer;
}

async function joined(role: MemberRole = "owner", person = somebody()) {
  const { token } = await people.invitations.invite(merchantId, { role }, undefined);
  const { personId } = await accepted(token, person);
  return { ...person, personId };
}

async function codeOfFault(work: Promise<unknown>): Promise<string> {
  try {
    await work;
    return "no fault";
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    const field = error.extras.details?.field as string | undefined;
    return field === undefined ? error.code : `${error.code} ${field}`;
  }
}

async function tokenOf(person: { email: string; password: string }, code?: string): Promise<string> {
  const signed = await people.signIn({ ...person, code }, from);
  if (!("token" in signed)) throw new Error("a code is asked for");
  return signed.token;
}

describe("signing in", () => {
  test("by the right password, whatever the case of the address; the token is kept as a digest alone", async () => {
    const person = await joined();
    const token = await tokenOf({ ...person, email: person.email.toUpperCase() });
    expect((await sessionOf(people, token))?.personId).toBe(person.personId);
    const { rows } = await asOwner(service.database, (owner) =>
      owner.query("select * from persons p join sessions using (person_id) where person_id = $1", [
        uuidOf(person.personId),
      ]),
    );
    expect(JSON.stringify(rows)).not.toContain(token);
    expect(JSON.stringify(rows)).not.toContain(PASSWORD);
  });

  test("unknown, wrong and closed are refused in the same words", async () => {
    const person = await joined();
    const closed = await joined("viewer");
    await asOwner(service.database, (owner) =>
      owner.query("update persons set closed_at = now() where person_id = $1", [uuidOf(closed.personId)]),
    );
    const refusals = [];
    for (const [email, password] of [
      ["nobody@people.example", PASSWORD],
      [person.email, `${PASSWORD}!`],
      [closed.email, PASSWORD],
      ["", ""],
    ] as const) {
      const refused = await people.signIn({ email, password }, from).catch((error: unknown) => error);
      refusals.push([(refused as Fault).code, (refused as Fault).message]);
    }
    expect(new Set(refusals.map(String)).size).toBe(1);
    expect(refusals[0]?.[0]).toBe("UNAUTHORIZED");
  });

  test("after five failures from an address the account waits there, the right password too; elsewhere and at the console it does not", async () => {
    const [person, other] = [await joined(), await joined("viewer")];
    const stranger = { ...from, address: "198.51.100.1" };
    const guesses = async (): Promise<string> => codeOfFault(people.signIn({ ...person, password: "wrong" }, stranger));
    for (let guess = 0; guess < 5; guess++) expect(await guesses()).toBe("UNAUTHORIZED");
    const waits = await people.signIn(person, stranger).catch((error: unknown) => error as Fault);
    expect((waits as Fault).code).toBe("RATE_LIMITED");
    expect((waits as Fault).extras.retryAfterSeconds).toBeGreaterThan(0);
    expect(await tokenOf(other)).toBeDefined();
    expect(await tokenOf(person)).toBeDefined();
    ahead = 900 * SECOND;
    expect("needs" in (await people.signIn(person, stranger))).toBe(false);
  });

  test("fifty failures from everywhere are an account's, at one surface", async () => {
    const throttle = new SignInThrottle(service.app.database, clock);
    const wrong = (): Promise<never> => Promise.reject(new WrongGuess("UNAUTHORIZED"));
    const email = `${"x".repeat(242)}@mail.example`;
    const guess = (surface: "portal" | "console", address: string): Promise<string> =>
      codeOfFault(throttle.guard(ofStranger(surface, email, address), wrong));
    for (let number = 0; number < 50; number++)
      expect(await guess("portal", `2001:db8:${(number / 5) | 0}::1`)).toBe("UNAUTHORIZED");
    expect(await guess("portal", "2001:db8:ffff::1")).toBe("RATE_LIMITED");
    expect(await guess("console", "2001:db8:ffff::1")).toBe("UNAUTHORIZED");
    // What a proxy tells as the address may be any text.
    expect(await guess("console", "y".repeat(100))).toBe("UNAUTHORIZED");
  });

  test("an address waits after thirty failures, over all accounts", async () => {
    const throttle = new SignInThrottle(service.app.database, clock);
    const guess = (number: number, surface: "portal" | "console" = "portal"): Promise<string> =>
      codeOfFault(
        throttle.guard(ofStranger(surface, `guess${number}@mail.example`, "198.18.0.9"), () =>
          Promise.reject(new WrongGuess("UNAUTHORIZED")),
        ),
      );
    for (let number = 0; number < 30; number++) expect(await guess(number)).toBe("UNAUTHORIZED");
    expect(await guess(30)).toBe("RATE_LIMITED");
    expect(await guess(30, "console")).toBe("UNAUTHORIZED");
  });

  test.each<[what: string, guesser: (guess: number) => string, other: string]>([
    ["a whole /64 of IPv6", (guess) => `2001:db8:0:7:${guess}::1`, "2001:db8:0:8::1"],
    ["an address of IPv4 in IPv6", () => "::ffff:198.18.0.7", "::ffff:198.18.0.8"],
  ])("%s waits as one address, and no other one with it", async (_, guesser, other) => {
    const throttle = new SignInThrottle(service.app.database, clock);
    const guess = (name: string, address: string): Promise<string> =>
      codeOfFault(
        throttle.guard(ofStranger("portal", `${name} of ${address}`, address), () =>
          Promise.reject(new WrongGuess("UNAUTHORIZED")),
        ),
      );
    for (let number = 0; number < 30; number++)
      expect(await guess(`guess ${number}`, guesser(number))).toBe("UNAUTHORIZED");
    expect(await guess("guess 30", guesser(30))).toBe("RATE_LIMITED");
    expect(await guess("guess 31", other)).toBe("UNAUTHORIZED");
  });
});

describe("sessions", () => {
  test("end after twelve hours without anything, after seven days, and when they are ended", async () => {
    const person = await joined();
    const token = await tokenOf(person);
    const alive = async (): Promise<boolean> => (await sessionOf(people, token)) !== undefined;
    for (let hours = 11; hours <= 165; hours += 11) {
      ahead = hours * HOUR;
      expect(await alive(), `${hours} hours`).toBe(true);
    }
    ahead = 168 * HOUR + SECOND;
    expect(await alive()).toBe(false);
    ahead = 0;
    const idle = await tokenOf(person);
    ahead = 12 * HOUR + SECOND;
    expect(await sessionOf(people, idle)).toBeUndefined();
  });

  test("are listed, ended one by one or all but one, and only by their own person", async () => {
    const [person, other] = [await joined(), await joined("viewer")];
    const [first, second, third] = [await tokenOf(person), await tokenOf(person), await tokenOf(person)];
    const [newest, middle] = await people.sessions.list(person.personId);
    expect(newest).toMatchObject({ address: from.address, userAgent: "Test" });
    expect(await people.sessions.end(other.personId, middle?.sessionId ?? "")).toBe(false);
    expect(await people.sessions.end(person.personId, middle?.sessionId ?? "")).toBe(true);
    expect(await people.sessions.end(person.personId, middle?.sessionId ?? "")).toBe(false);
    expect(await people.sessions.end(person.personId, "ses_x")).toBe(false);
    expect(await sessionOf(people, second)).toBeUndefined();
    await people.sessions.endOthers(person.personId, newest?.sessionId);
    expect([await sessionOf(people, first), (await sessionOf(people, third))?.sessionId]).toEqual([
      undefined,
      newest?.sessionId,
    ]);
  });

  test("are fresh for ten minutes", async () => {
    const token = await tokenOf(await joined());
    const fresh = async (): Promise<boolean> => {
      const session = await sessionOf(people, token);
      return session !== undefined && people.sessions.isFresh(session);
    };
    expect(await fresh()).toBe(true);
    ahead = 599 * SECOND;
    expect(await fresh()).toBe(true);
    ahead = 601 * SECOND;
    expect(await fresh()).toBe(false);
  });

  test.each(["", "x", "a".repeat(43), "a".repeat(44), "'; drop table sessions --".padEnd(43, "x")])(
    "%s is no token",
    async (token) => {
      expect(await sessionOf(people, token)).toBeUndefined();
    },
  );
});

describe("a password", () => {
  test("is changed by who knows it, and every other session ends", async () => {
    const person = await joined();
    const [here, elsewhere] = [await tokenOf(person), await tokenOf(person)];
    const keep = (await sessionOf(people, here))?.sessionId ?? "";
    const next = "teh manis hangat 8";
    const change = (current: string, to = next) =>
      people.changePassword(person.personId, { current, next: to }, { keep, origin: from });
    expect(await codeOfFault(change("wrong"))).toBe("UNAUTHORIZED");
    for (const bad of ["short", "password1234", person.email, "Sari Dewi 1999"])
      expect(await codeOfFault(change(PASSWORD, bad)), bad).toBe("VALIDATION_ERROR next");
    await change(PASSWORD);
    expect([(await sessionOf(people, here)) !== undefined, await sessionOf(people, elsewhere)]).toEqual([
      true,
      undefined,
    ]);
    expect(await codeOfFault(people.signIn(person, from))).toBe("UNAUTHORIZED");
    expect(await tokenOf({ ...person, password: next })).toBeDefined();
  });
});

describe("an authenticator", () => {
  const bytesOf = (secret: string): Buffer => {
    const bits = [...secret]
      .map((digit) => "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".indexOf(digit).toString(2).padStart(5, "0"))
      .join("");
    return Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
  };
  const now = (secret: string, steps = 0): string =>
    codeOf(bytesOf(secret), Math.floor(clock.now() / SECOND / 30) + steps);

  const begun = ({ personId }: { personId: string }): Promise<string> => sessionIdOf(people, personId, from);

  async function withAuthenticator() {
    const person = await joined();
    const { secret, uri } = await people.factors.begin((await people.read(person.personId)) as Person);
    expect(uri).toContain(secret);
    const codes = await people.confirmAuthenticator(person.personId, now(secret), await begun(person), from);
    return { person, secret, codes };
  }

  test("counts once it is confirmed, and then a password alone signs nobody in", async () => {
    const person = await joined();
    const { secret } = await people.factors.begin((await people.read(person.personId)) as Person);
    expect(await tokenOf(person)).toBeDefined();
    expect(await codeOfFault(people.confirmAuthenticator(person.personId, "000000", await begun(person), from))).toBe(
      "VALIDATION_ERROR code",
    );
    expect(await people.confirmAuthenticator(person.personId, now(secret), await begun(person), from)).toHaveLength(10);
    expect(await people.signIn(person, from)).toEqual({ needs: "code" });
    expect(await codeOfFault(people.factors.begin((await people.read(person.personId)) as Person))).toBe(
      "VALIDATION_ERROR authenticator",
    );
    ahead = 60 * SECOND;
    expect(await tokenOf(person, now(secret))).toBeDefined();
  });

  test("gives codes that are good once, also when two send the same one at once", async () => {
    const { person, secret } = await withAuthenticator();
    ahead = 60 * SECOND;
    const code = now(secret);
    const tries = await Promise.all([1, 2, 3].map(() => codeOfFault(people.signIn({ ...person, code }, from))));
    expect(tries.toSorted()).toEqual(["UNAUTHORIZED", "UNAUTHORIZED", "no fault"]);
  });

  test("a wrong password is refused whatever the code, and guesses of codes are slowed down", async () => {
    const { person, secret } = await withAuthenticator();
    ahead = 60 * SECOND;
    expect(await codeOfFault(people.signIn({ ...person, password: "wrong", code: now(secret) }, from))).toBe(
      "UNAUTHORIZED",
    );
    for (let guess = 0; guess < 4; guess++) await codeOfFault(people.signIn({ ...person, code: "000000" }, from));
    expect(await codeOfFault(people.signIn({ ...person, code: now(secret) }, from))).toBe("RATE_LIMITED");
  });

  test("has recovery codes, each good once, in whatever spelling, for their own person alone", async () => {
    const { person, codes } = await withAuthenticator();
    const other = await withAuthenticator();
    const [code = "", second = ""] = codes;
    expect(await codeOfFault(people.signIn({ ...other.person, code }, from))).toBe("UNAUTHORIZED");
    expect(await tokenOf(person, code.toUpperCase().replaceAll("-", " "))).toBeDefined();
    expect(await codeOfFault(people.signIn({ ...person, code }, from))).toBe("UNAUTHORIZED");
    expect(await tokenOf(person, second)).toBeDefined();
    await people.factors.remove(person.personId, await sessionIdOf(people, person.personId, from), from);
    expect(await tokenOf(person)).toBeDefined();
  });
});

describe("invitations", () => {
  test("let one person in, once, with the role that was given", async () => {
    const { token, invitation } = await people.invitations.invite(merchantId, { role: "finance" }, undefined);
    expect(await people.invitations.list(merchantId)).toEqual([invitation]);
    const person = somebody();
    const { personId } = await accepted(token, person);
    expect(await people.memberships(personId)).toMatchObject([{ merchantId, role: "finance" }]);
    expect(await people.invitations.list(merchantId)).toEqual([]);
    expect(await codeOfFault(people.invitations.accept(token, somebody(), from))).toBe("OBJECT_NOT_FOUND");
  });

  test("of several who accept at once one gets in", async () => {
    const { token } = await people.invitations.invite(merchantId, { role: "viewer" }, undefined);
    const tries = await Promise.all(
      [1, 2, 3].map(() => codeOfFault(people.invitations.accept(token, somebody(), from))),
    );
    expect(tries.toSorted()).toEqual(["OBJECT_NOT_FOUND", "OBJECT_NOT_FOUND", "no fault"]);
    expect(await people.members(merchantId)).toHaveLength(1);
  });

  test("end after a week, when they are taken back, and for another address than theirs", async () => {
    const person = somebody();
    const late = await people.invitations.invite(merchantId, { role: "viewer" }, undefined);
    ahead = 7 * 24 * HOUR + SECOND;
    expect(await codeOfFault(people.invitations.accept(late.token, person, from))).toBe("OBJECT_NOT_FOUND");
    ahead = 0;
    const taken = await people.invitations.invite(merchantId, { role: "viewer" }, undefined);
    expect(await people.invitations.takeBack(merchantId, taken.invitation.invitationId)).toBe(true);
    expect(await people.invitations.takeBack(merchantId, taken.invitation.invitationId)).toBe(false);
    const other = await service.merchant();
    expect(await people.invitations.takeBack(other.merchantId, late.invitation.invitationId)).toBe(false);
    expect(await codeOfFault(people.invitations.accept(taken.token, person, from))).toBe("OBJECT_NOT_FOUND");
    const named = await people.invitations.invite(
      merchantId,
      { role: "viewer", email: "Other@People.example" },
      undefined,
    );
    expect(await codeOfFault(people.invitations.accept(named.token, person, from))).toBe("VALIDATION_ERROR email");
    expect(await people.members(merchantId)).toEqual([]);
  });

  test("say nothing of an e-mail address to who has none", async () => {
    const person = await joined();
    for (const email of [person.email, "nobody@people.example"])
      expect(await codeOfFault(people.invitations.accept("no token", { ...somebody(), email }, from))).toBe(
        "OBJECT_NOT_FOUND",
      );
  });

  test("a person who is known proves it by the password, and acts for both merchants then", async () => {
    const person = await joined();
    const other = await service.merchant();
    const { token } = await people.invitations.invite(other.merchantId, { role: "viewer" }, undefined);
    expect(
      await codeOfFault(people.invitations.accept(token, { ...person, password: "not their password" }, from)),
    ).toBe("UNAUTHORIZED");
    expect((await accepted(token, person)).personId).toBe(person.personId);
    expect((await people.memberships(person.personId)).map((one) => one.role)).toEqual(["owner", "viewer"]);
    const again = await people.invitations.invite(other.merchantId, { role: "owner" }, undefined);
    expect(await codeOfFault(people.invitations.accept(again.token, person, from))).toBe("VALIDATION_ERROR email");
  });

  test("tell nobody who tries addresses with a password that nobody may have which of them have an account", async () => {
    const { token } = await people.invitations.invite(merchantId, { role: "viewer" }, undefined);
    const known = await joined();
    const answers: unknown[] = [];
    for (const email of [known.email, somebody().email])
      answers.push(
        await people.invitations.accept(token, { email, name: "x", password: "short" }, from).catch((error) => error),
      );
    expect(answers.map((answer) => (answer as Fault).message)).toEqual(Array(2).fill((answers[0] as Fault).message));
    expect(await codeOfFault(Promise.reject(answers[0]))).toBe("VALIDATION_ERROR password");
  });

  test("a bad password of a new person is refused, and never shown", async () => {
    const { token } = await people.invitations.invite(merchantId, { role: "viewer" }, undefined);
    const refused = await people.invitations
      .accept(token, { ...somebody(), password: "password1234" }, from)
      .catch((error: unknown) => error);
    expect((refused as Fault).extras.details).toEqual({ field: "password", value: null });
  });
});

describe("a team", () => {
  test("keeps an owner, also when two leave at once", async () => {
    const [first, second] = [await joined(), await joined()];
    const both = await Promise.all(
      [first, second].map(({ personId }) => codeOfFault(people.removeMember(merchantId, personId))),
    );
    expect(both.toSorted()).toEqual(["VALIDATION_ERROR person_id", "no fault"]);
    const [left] = await people.members(merchantId);
    expect(await codeOfFault(people.changeRole(merchantId, left?.personId ?? "", "viewer"))).toBe(
      "VALIDATION_ERROR person_id",
    );
    expect(left?.role).toBe("owner");
  });

  test("keeps an owner where one leaves while another's leaving is not committed yet", async () => {
    const [first, second] = [await joined(), await joined()];
    const leave = "delete from memberships where merchant_id = $1 and person_id = $2";
    await asOwner(service.database, (one) =>
      asOwner(service.database, async (other) => {
        await one.query("begin");
        await one.query(leave, [uuidOf(merchantId), uuidOf(first.personId)]);
        await one.query("set constraints all immediate");
        await other.query("begin");
        await other.query(leave, [uuidOf(merchantId), uuidOf(second.personId)]);
        const last = other.query("set constraints all immediate").catch((error: { code: string }) => error.code);
        await vi.waitFor(async () => expect(await waitingForLocks(one)).toBe(1), { timeout: 30_000 });
        await one.query("commit");
        expect(await last).toBe("GB011");
        await other.query("rollback");
      }),
    );
  });

  test("is changed by merchant: nobody of another one is reached", async () => {
    const person = await joined("developer");
    const other = await service.merchant();
    expect(await people.changeRole(other.merchantId, person.personId, "owner")).toBe(false);
    expect(await people.removeMember(other.merchantId, person.personId)).toBe(false);
    expect(await people.changeRole(merchantId, person.personId, "support")).toBe(true);
    expect(await people.members(merchantId)).toMatchObject([{ personId: person.personId, role: "support" }]);
    expect(await people.removeMember(merchantId, person.personId)).toBe(true);
    expect(await people.memberships(person.personId)).toEqual([]);
  });
});

test("what people did with their access is on record, without a secret, and stays there", async () => {
  const person = await joined();
  await codeOfFault(people.signIn({ ...person, password: "guess of a password" }, from));
  await tokenOf(person);
  await vi.waitFor(async () => {
    const { rows } = await asOwner(service.database, (owner) =>
      owner.query<{ action: string; address: string | null }>(
        "select * from people_audit where person_id = $1 order by audit_id",
        [uuidOf(person.personId)],
      ),
    );
    expect(rows.map(({ action }) => action)).toEqual(["joined", "sign_in_failed", "signed_in"]);
    expect(JSON.stringify(rows)).not.toContain("password");
    expect(rows[2]?.address).toBe(from.address);
  }, 30_000);
  for (const change of [
    "delete from people_audit where person_id is not null",
    "update people_audit set action = 'x'",
    "truncate people_audit",
  ])
    await asOwner(service.database, (owner) => expect(owner.query(change)).rejects.toThrow(/append-only|cannot/));
});

test("attempts at accounts that nobody has are forgotten after thirty days, and nothing else on record is", async () => {
  const person = await joined();
  const merchant = newId("merchant", systemClock.now());
  const rows: [person: string | null, merchant: string | null, days: number][] = [
    [null, null, 31],
    [null, null, 29],
    [uuidOf(person.personId), null, 31],
    [null, uuidOf(merchant), 31],
  ];
  const ids = rows.map(() => uuidOf(newId("request", systemClock.now())));
  await asOwner(service.database, async (owner) => {
    for (const [at, values] of rows.entries())
      await owner.query(
        `insert into people_audit (audit_id, person_id, merchant_id, at, action)
values ($1, $2, $3, now() - make_interval(days => $4), 'sign_in_failed')`,
        [ids[at], ...values],
      );
  });
  await deleteExpired(service.app.database, peopleExpiredAt(systemClock.now()));
  const left = await asOwner(service.database, async (owner) => {
    const found = await owner.query("select audit_id from people_audit where audit_id = any($1)", [ids]);
    for (const id of ids.slice(1))
      await expect(owner.query("delete from people_audit where audit_id = $1", [id])).rejects.toThrow("append-only");
    return found.rows.map(({ audit_id }) => audit_id as string);
  });
  expect(left.toSorted()).toEqual(ids.slice(1).toSorted());
});
