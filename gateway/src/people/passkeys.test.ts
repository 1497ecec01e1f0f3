// Goal: a passkey proves its own person, here, now, once, and with the person verified. Method: a device in software that signs truly, and then
// one thing at a time that it should not.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type Misbehaviour, SoftwareAuthenticator } from "../../test/authenticator.ts";
import { type TestService, asOwner, startService } from "../../test/kit.ts";
import {
  PASSWORD,
  PLACE,
  PeopleRig,
  type TestPerson,
  actionsOnRecord,
  faultOf,
  sessionIdOf,
  sessionOf,
} from "../../test/people.ts";
import { SECOND } from "../ground/clock.ts";
import { uuidBytes, uuidOf } from "../ground/ids.ts";
import { portalOrigins, portalRoot, relyingPartyOf } from "./relying-party.ts";
import { isPlainAttestation } from "./webauthn-input.ts";
import type { Person } from "./people.sql.ts";

const [ORIGIN = ""] = PLACE.origins;
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

const sessionFor = ({ personId }: { personId: string }): Promise<string> => sessionIdOf(rig.people, personId, rig.from);

const optionsFor = async ({ personId }: TestPerson) => {
  const person = await rig.people.read(personId);
  return rig.people.passkeys.registrationOptions(person ?? expect.unreachable("there is such a person"));
};

async function add(
  person: TestPerson,
  device = new SoftwareAuthenticator(ORIGIN),
  wrong: Misbehaviour = {},
): Promise<SoftwareAuthenticator> {
  const response = device.create(await optionsFor(person), wrong);
  await register(person, response);
  return device;
}

const register = async ({ personId }: TestPerson, response: ReturnType<SoftwareAuthenticator["create"]>) => {
  const person = await rig.people.read(personId);
  if (!person) return expect.unreachable("there is such a person");
  const session = await sessionFor(person);
  return rig.people.passkeys.register(person, { name: "Laptop", response }, session, rig.from);
};

const signIn = async (device: SoftwareAuthenticator, wrong: Misbehaviour = {}): Promise<string> =>
  rig.people.passkeys.signIn(device.get(await rig.people.passkeys.signInOptions(rig.from), wrong), rig.from);

describe("signing in", () => {
  test("needs no name and no password: the device says who it is, and the session is fresh", async () => {
    const person = await rig.joined(merchantId);
    const device = await add(person);
    const session = await sessionOf(rig.people, await signIn(device));
    expect(session?.personId).toBe(person.personId);
    expect(session && rig.people.sessions.isFresh(session)).toBe(true);
    expect(await rig.people.passkeys.list(person.personId)).toMatchObject([
      { name: "Laptop", transports: ["internal"], backedUp: false, usedAt: expect.any(Number) as number },
    ]);
  });

  test("tells the browser to ask for a device of this place that verifies its person, and names none", async () => {
    const options = await rig.people.passkeys.signInOptions(rig.from);
    expect(options).toMatchObject({ rpId: "pay.example", userVerification: "required" });
    expect(options.allowCredentials).toBeUndefined();
  });

  test.each<[string, Misbehaviour]>([
    ["of another origin", { origin: "https://pay.example.evil.example" }],
    ["of the same host without https", { origin: "http://pay.example" }],
    ["for another place", { rpId: "evil.example" }],
    ["without the person verified", { flags: 1 }],
    ["without the person present", { flags: 4 }],
    ["that was meant for registering", { type: "webauthn.create" }],
    ["from a page inside another page", { crossOrigin: true }],
    ["of a challenge that nobody gave", { challenge: Buffer.alloc(32, 7).toString("base64url") }],
    ["of no challenge", { challenge: "" }],
    ["that names nobody", { userHandle: undefined }],
    ["that names somebody else", { userHandle: Buffer.alloc(16, 1).toString("base64url") }],
  ])("is refused by a signature %s", async (_what, wrong) => {
    const device = await add(await rig.joined(merchantId));
    expect(await faultOf(signIn(device, wrong))).toBe("UNAUTHORIZED");
    expect(await faultOf(signIn(device))).toBe("no fault");
  });

  test("is refused by a signature of another key, and by one that was changed", async () => {
    const device = await add(await rig.joined(merchantId));
    const forger = new SoftwareAuthenticator(ORIGIN, device.credentialId);
    const options = await rig.people.passkeys.signInOptions(rig.from);
    const { userHandle } = device.get(options).response;
    expect(await faultOf(rig.people.passkeys.signIn(forger.get(options, { userHandle }), rig.from))).toBe(
      "UNAUTHORIZED",
    );
    const response = device.get(await rig.people.passkeys.signInOptions(rig.from));
    const bytes = Buffer.from(response.response.signature, "base64url");
    bytes.writeUInt8((bytes.at(-1) ?? 0) ^ 1, bytes.length - 1);
    response.response.signature = bytes.toString("base64url");
    expect(await faultOf(rig.people.passkeys.signIn(response, rig.from))).toBe("UNAUTHORIZED");
  });

  test("takes an answer once, also when it comes three times at once", async () => {
    const device = await add(await rig.joined(merchantId));
    const response = device.get(await rig.people.passkeys.signInOptions(rig.from));
    const tries = [1, 2, 3].map(() => faultOf(rig.people.passkeys.signIn(response, rig.from)));
    expect((await Promise.all(tries)).toSorted()).toEqual(["UNAUTHORIZED", "UNAUTHORIZED", "no fault"]);
  });

  test("takes an answer for five minutes", async () => {
    const device = await add(await rig.joined(merchantId));
    const options = await rig.people.passkeys.signInOptions(rig.from);
    rig.ahead = 301 * SECOND;
    expect(await faultOf(rig.people.passkeys.signIn(device.get(options), rig.from))).toBe("UNAUTHORIZED");
  });

  test("is refused to who may not sign in any more", async () => {
    const person = await rig.joined(merchantId);
    const device = await add(person);
    await asOwner(service.database, (owner) =>
      owner.query("update persons set closed_at = now() where person_id = $1", [uuidOf(person.personId)]),
    );
    expect(await faultOf(signIn(device))).toBe("UNAUTHORIZED");
  });

  test("says the same, whatever is wrong", async () => {
    const device = await add(await rig.joined(merchantId));
    const unknown = new SoftwareAuthenticator(ORIGIN);
    const said = [];
    for (const [who, wrong] of [
      [unknown, {}],
      [device, { flags: 1 }],
      [device, { challenge: "x" }],
    ] as const)
      said.push(await signIn(who, wrong).catch((error: unknown) => (error as Error).message));
    expect(new Set(said).size).toBe(1);
  });
});

describe("the counter of a device", () => {
  test("goes forward; going back is refused and on record, and so is the second of two with one count", async () => {
    const person = await rig.joined(merchantId);
    const device = await add(person, new SoftwareAuthenticator(ORIGIN), { counter: 5 });
    expect(await faultOf(signIn(device, { counter: 6 }))).toBe("no fault");
    for (const counter of [6, 5, 0])
      expect(await faultOf(signIn(device, { counter })), String(counter)).toBe("UNAUTHORIZED");
    expect(
      (await actionsOnRecord(service.database, person)).filter((action) => action === "passkey_counter_back"),
    ).toHaveLength(3);
    const both = await Promise.all([7, 7].map((counter) => faultOf(signIn(device, { counter }))));
    expect(both.toSorted()).toEqual(["UNAUTHORIZED", "no fault"]);
  });

  test("that always says 0 is none", async () => {
    const device = await add(await rig.joined(merchantId));
    expect([await faultOf(signIn(device)), await faultOf(signIn(device))]).toEqual(["no fault", "no fault"]);
  });
});

describe("adding one", () => {
  test("asks for a key that signs in by itself, and leaves out the devices that are there", async () => {
    const person = await rig.joined(merchantId);
    const device = await add(person);
    const options = await optionsFor(person);
    expect(options).toMatchObject({
      rp: { id: "pay.example", name: "gerbang" },
      user: { id: uuidBytes(person.personId).toString("base64url"), name: person.email },
      attestation: "none",
      authenticatorSelection: { residentKey: "required", userVerification: "required" },
      excludeCredentials: [{ id: device.credentialId.toString("base64url") }],
    });
  });

  test.each<[string, Misbehaviour]>([
    ["of another origin", { origin: "https://evil.example" }],
    ["for another place", { rpId: "evil.example" }],
    ["without the person verified", { flags: 1 }],
    ["from a page inside another page", { crossOrigin: true }],
    ["that is a signature", { type: "webauthn.get" }],
    ["of another challenge", { challenge: Buffer.alloc(32, 7).toString("base64url") }],
  ])("is refused by an answer %s", async (_what, wrong) => {
    const person = await rig.joined(merchantId);
    expect(await faultOf(add(person, new SoftwareAuthenticator(ORIGIN), wrong))).toBe("VALIDATION_ERROR response");
    expect(await rig.people.passkeys.list(person.personId)).toEqual([]);
  });

  test("takes an answer once, from the person who asked, for that purpose", async () => {
    const [person, other] = [await rig.joined(merchantId), await rig.joined(merchantId, "viewer")];
    const [device, second] = [new SoftwareAuthenticator(ORIGIN), new SoftwareAuthenticator(ORIGIN)];
    const options = await optionsFor(person);
    // Somebody who is signed in tries to make the answer of another person's device their own.
    expect(await faultOf(register(other, device.create(options)))).toBe("VALIDATION_ERROR response");
    await register(person, device.create(options));
    expect(await faultOf(register(person, second.create(options)))).toBe("VALIDATION_ERROR response");
    const { challenge } = await rig.people.passkeys.signInOptions(rig.from);
    expect(await faultOf(register(person, second.create(options, { challenge })))).toBe("VALIDATION_ERROR response");
  });

  test("never takes a passkey that somebody has already", async () => {
    const [person, other] = [await rig.joined(merchantId), await rig.joined(merchantId, "viewer")];
    const device = await add(person);
    const same = new SoftwareAuthenticator(ORIGIN, device.credentialId);
    expect(await faultOf(add(other, same))).toBe("VALIDATION_ERROR response");
    expect((await sessionOf(rig.people, await signIn(device)))?.personId).toBe(person.personId);
  });

  test("ends at ten, also when several come at once, and the database itself holds it", async () => {
    const person = await rig.joined(merchantId);
    for (let count = 0; count < 8; count++) await add(person);
    const answers = await Promise.all(
      [1, 2, 3, 4].map(async () => new SoftwareAuthenticator(ORIGIN).create(await optionsFor(person))),
    );
    const tries = await Promise.all(answers.map((answer) => faultOf(register(person, answer))));
    expect(tries.toSorted()).toEqual(["VALIDATION_ERROR name", "VALIDATION_ERROR name", "no fault", "no fault"]);
    expect(await rig.people.passkeys.list(person.personId)).toHaveLength(10);
    expect(await faultOf(optionsFor(person))).toBe("VALIDATION_ERROR name");
    await asOwner(service.database, async (owner) => {
      await expect(
        owner.query("update passkeys set slot = 11 where person_id = $1", [uuidOf(person.personId)]),
      ).rejects.toThrow(/check/);
    });
  });

  test.each(["packed", "android-key", "tpm", "apple", "fido-u2f", "android-safetynet"])(
    "with a certificate (%s) is refused unread: nobody asked for one",
    async (fmt) => {
      const attStmt = new Map<string, number | Buffer | Buffer[]>([
        ["alg", -7],
        ["sig", Buffer.alloc(70)],
        ["x5c", [Buffer.from("a certificate")]],
      ]);
      const options = await optionsFor(await rig.joined(merchantId));
      const answer = new SoftwareAuthenticator(ORIGIN).create(options, { attestation: { fmt, attStmt } });
      expect(await isPlainAttestation(answer.response.attestationObject)).toBe(false);
    },
  );

  test("is possible without any, and with the passkey's own signature", async () => {
    const options = await optionsFor(await rig.joined(merchantId));
    const own = { fmt: "packed", attStmt: new Map<string, number>([["alg", -7]]) };
    const plain = async (attestation: Misbehaviour["attestation"]) =>
      isPlainAttestation(new SoftwareAuthenticator(ORIGIN).create(options, { attestation }).response.attestationObject);
    expect([await plain(undefined), await plain(own), await isPlainAttestation("AAAA")]).toEqual([true, true, false]);
  });
});

describe("proving it again", () => {
  async function signedIn(person: TestPerson, device: SoftwareAuthenticator) {
    const token = await signIn(device);
    const session = await sessionOf(rig.people, token);
    return { token, session: session ?? expect.unreachable(`${person.email} is signed in`) };
  }

  test("renews the session", async () => {
    const person = await rig.joined(merchantId);
    const device = await add(person);
    const { token, session } = await signedIn(person, device);
    const options = await rig.people.passkeys.proofOptions(person.personId);
    expect(options.allowCredentials).toEqual([
      { id: device.credentialId.toString("base64url"), transports: ["internal"], type: "public-key" },
    ]);
    const proved = await rig.people.passkeys.prove(person.personId, device.get(options), session, rig.from);
    expect([await sessionOf(rig.people, token), await sessionOf(rig.people, proved)]).toMatchObject([
      undefined,
      { personId: person.personId },
    ]);
  });

  test("takes neither another person's device, nor a challenge of theirs, nor one for signing in", async () => {
    const [person, other] = [await rig.joined(merchantId), await rig.joined(merchantId, "viewer")];
    const [device, theirs] = [await add(person), await add(other)];
    const { session } = await signedIn(person, device);
    const prove = (answer: ReturnType<SoftwareAuthenticator["get"]>) =>
      faultOf(rig.people.passkeys.prove(person.personId, answer, session, rig.from));
    const mine = () => rig.people.passkeys.proofOptions(person.personId);
    const named = { userHandle: uuidBytes(person.personId).toString("base64url") };
    expect(await prove(theirs.get(await mine(), named))).toBe("UNAUTHORIZED");
    expect(await prove(device.get(await rig.people.passkeys.proofOptions(other.personId)))).toBe("UNAUTHORIZED");
    expect(await prove(device.get(await rig.people.passkeys.signInOptions(rig.from)))).toBe("UNAUTHORIZED");
    const forProof = device.get(await mine());
    expect(await faultOf(rig.people.passkeys.signIn(forProof, rig.from))).toBe("UNAUTHORIZED");
    expect(await prove(forProof)).toBe("no fault");
  });

  test("is not offered to who has none", async () => {
    const { personId } = await rig.joined(merchantId);
    expect(await faultOf(rig.people.passkeys.proofOptions(personId))).toBe("VALIDATION_ERROR passkey");
  });
});

describe("beside a password", () => {
  test("it is a second factor: the password alone signs nobody in any more", async () => {
    const person = await rig.joined(merchantId);
    await add(person);
    expect(await rig.people.signIn(person, rig.from)).toEqual({ needs: "passkey" });
    const [code = ""] = await rig.people.factors.newRecoveryCodes(person.personId, await sessionFor(person), rig.from);
    expect(await rig.tokenOf(person, code)).toBeDefined();
    expect(await faultOf(rig.people.signIn({ ...person, code }, rig.from))).toBe("UNAUTHORIZED");
  });

  test("an authenticator that somebody began with and did not confirm opens nothing", async () => {
    const person = await rig.joined(merchantId);
    await add(person);
    const { secret } = await rig.people.factors.begin((await rig.people.read(person.personId)) as Person);
    expect(await faultOf(rig.people.signIn({ ...person, code: rig.code(secret) }, rig.from))).toBe("UNAUTHORIZED");
    expect((await rig.people.read(person.personId))?.hasAuthenticator).toBe(false);
    const [code = ""] = await rig.people.factors.newRecoveryCodes(person.personId, await sessionFor(person), rig.from);
    const session = await sessionFor(person);
    expect(await faultOf(rig.people.confirmAuthenticator(person.personId, code, session, rig.from))).toBe(
      "VALIDATION_ERROR code",
    );
  });

  test("whoever removes the authenticator keeps their recovery codes for it", async () => {
    const person = await rig.joined(merchantId);
    const { codes } = await rig.authenticator(person);
    await add(person);
    await rig.people.factors.remove(person.personId, await sessionFor(person), rig.from);
    expect(await rig.tokenOf(person, codes[0])).toBeDefined();
  });
});

describe("removing one", () => {
  const idOfOnly = async ({ personId }: TestPerson): Promise<string> =>
    (await rig.people.passkeys.list(personId))[0]?.passkeyId ?? expect.unreachable("there is one");

  test("is for its own person; it opens nothing then", async () => {
    const [person, other] = [await rig.joined(merchantId), await rig.joined(merchantId, "viewer")];
    const device = await add(person);
    const passkeyId = await idOfOnly(person);
    expect(await rig.people.passkeys.remove(other.personId, passkeyId, await sessionFor(other), rig.from)).toBe(false);
    expect(await rig.people.passkeys.remove(person.personId, "psk_x", await sessionFor(person), rig.from)).toBe(false);
    expect(await rig.people.passkeys.remove(person.personId, passkeyId, await sessionFor(person), rig.from)).toBe(true);
    expect(await rig.people.passkeys.remove(person.personId, passkeyId, await sessionFor(person), rig.from)).toBe(
      false,
    );
    expect(await faultOf(signIn(device))).toBe("UNAUTHORIZED");
    expect(await rig.tokenOf(person)).toBeDefined();
    expect((await actionsOnRecord(service.database, person)).slice(1)).toEqual([
      "passkey_added",
      "passkey_removed",
      "signed_in",
    ]);
  });

  test("is refused to who has no other way in", async () => {
    const person = await rig.joined(merchantId);
    const device = await add(person);
    await asOwner(service.database, (owner) =>
      owner.query("update persons set password_hash = null where person_id = $1", [uuidOf(person.personId)]),
    );
    expect(
      await faultOf(
        rig.people.passkeys.remove(person.personId, await idOfOnly(person), await sessionFor(person), rig.from),
      ),
    ).toBe("VALIDATION_ERROR passkey_id");
    expect(await signIn(device)).toBeDefined();
  });

  test("in production is refused to an owner whose last factor it is, also when both go at once", async () => {
    rig = new PeopleRig(service.app.database, { production: true });
    const [person, viewer] = [await rig.joined(merchantId), await rig.joined(merchantId, "viewer")];
    await add(person);
    await add(viewer);
    const remove = async (of: TestPerson) =>
      faultOf(rig.people.passkeys.remove(of.personId, await idOfOnly(of), await sessionFor(of), rig.from));
    expect(await remove(person)).toBe("VALIDATION_ERROR passkey_id");
    expect(await remove(viewer)).toBe("no fault");
    await rig.authenticator(person);
    const both = await Promise.all([
      remove(person),
      faultOf(rig.people.factors.remove(person.personId, await sessionFor(person), rig.from)),
    ]);
    expect(both.filter((outcome) => outcome === "no fault")).toHaveLength(1);
    expect(await rig.people.signIn({ ...person, password: PASSWORD }, rig.from)).toHaveProperty("needs");
  });
});

test.each<[mine: string, flood: string]>([
  ["203.0.113.9", "198.51.100.7"],
  ["::ffff:203.0.113.9", "::ffff:198.51.100.7"],
  ["2001:db8:0:7::1", "2001:db8:0:8::1"],
])("challenges of a flood leave that of %s alone, and the table has an end", async (address, flooding) => {
  const device = await add(await rig.joined(merchantId));
  const mine = await rig.people.passkeys.signInOptions({ ...rig.from, address });
  const flood = { address: flooding, userAgent: "Flood" };
  await Promise.all(Array.from({ length: 200 }, () => rig.people.passkeys.signInOptions(flood)));
  const { rows } = await asOwner(service.database, (owner) =>
    owner.query<{ n: number }>("select count(*)::integer as n from passkey_challenges"),
  );
  expect(rows[0]?.n).toBeLessThanOrEqual(3 * 64 + 20);
  expect(await faultOf(rig.people.passkeys.signIn(device.get(mine), rig.from))).toBe("no fault");
});

describe("where passkeys work", () => {
  test.each<[string, string | undefined]>([
    ["https://pay.example", "pay.example https://pay.example"],
    ["https://pay.example:8443", "pay.example https://pay.example:8443"],
    ["http://127.0.0.1:8080", "localhost http://localhost:8080"],
    ["http://[::1]:8080", "localhost http://localhost:8080"],
    ["http://0.0.0.0:8080", "localhost http://localhost:8080"],
    ["http://localhost", "localhost http://localhost"],
    ["http://gerbang.localhost:8080", "gerbang.localhost http://gerbang.localhost:8080"],
    ["http://pay.example", undefined],
    ["https://203.0.113.9", undefined],
    ["https://[2001:db8::1]", undefined],
    ["http://192.168.1.4:8080", undefined],
  ])("%s: %s", (root, expected) => {
    const party = relyingPartyOf(root);
    expect(party && `${party.id} ${party.origins.join(" ")}`).toBe(expected);
  });

  test("on one's own machine pages are let in by name and by address, elsewhere by their own origin alone", () => {
    expect(portalOrigins("http://127.0.0.1:8080")).toEqual(["http://127.0.0.1:8080", "http://localhost:8080"]);
    expect(portalOrigins("https://pay.example")).toEqual(["https://pay.example"]);
    expect(portalRoot("http://127.0.0.1:8080")).toBe("http://localhost:8080");
  });

  test("without a domain they are refused with the reason", async () => {
    rig = new PeopleRig(service.app.database, { relyingParty: () => undefined });
    expect(await faultOf(rig.people.passkeys.signInOptions(rig.from))).toBe("SERVICE_UNAVAILABLE");
  });
});
