// People for tests: the people room on a test's database, with a clock that can be set ahead, and persons in it.
import { type Micros, SECOND, systemClock } from "../src/ground/clock.ts";
import { Vault } from "../src/ground/crypto.ts";
import { Fault } from "../src/ground/fault.ts";
import { uuidOf } from "../src/ground/ids.ts";
import type { PeopleParts } from "../src/people/access-audit.ts";
import { People } from "../src/people/people.ts";
import type { MemberRole } from "../src/people/roles.ts";
import type { Session } from "../src/people/sessions.sql.ts";
import type { Origin } from "../src/people/sessions.ts";
import { codeOf } from "../src/people/totp.ts";
import type { Database } from "../src/store/database.ts";
import { type TestDatabase, asOwner } from "./kit.ts";
import type { Person } from "../src/people/people.sql.ts";

export const PASSWORD = "kopi tubruk senja 7";

/** The relying party of the tests' passkeys. */
export const PLACE = { id: "pay.example", origins: ["https://pay.example"] };

export interface TestPerson {
  personId: string;
  email: string;
  name: string;
  password: string;
}

let persons = 0;
let addresses = 0;

/** The session of a token; undefined when there is none, or it has ended or expired. */
export const sessionOf = async ({ sessions }: Pick<People, "sessions">, token: string): Promise<Session | undefined> =>
  (await sessions.signedIn(token))?.session;

/** Begins a session of a person; gives its id. */
export async function sessionIdOf(people: Pick<People, "sessions">, personId: string, from: Origin): Promise<string> {
  const session = await sessionOf(people, await people.sessions.begin(personId, from));
  if (!session) throw new Error("a session has just begun");
  return session.sessionId;
}

export class PeopleRig {
  /** Lead of the room's clock. By itself the clock advances a microsecond per reading, so that authenticator codes do not change meanwhile. */
  ahead: Micros = 0;
  private looked = systemClock.now();
  readonly parts: PeopleParts;
  readonly people: People;
  readonly from = { address: `203.0.113.${++addresses}`, userAgent: "Test" };

  constructor(database: Database, parts: Partial<PeopleParts> = {}) {
    const clock = { now: () => this.now() };
    const vault = new Vault("ab".repeat(32));
    this.parts = {
      database,
      vault,
      clock,
      serviceName: "gerbang",
      production: false,
      surface: "portal",
      relyingParty: () => PLACE,
      ...parts,
    };
    this.people = new People(this.parts);
  }

  /** Makes a person who belongs to a merchant. */
  async joined(merchantId: string, role: MemberRole = "owner"): Promise<TestPerson> {
    const given = { email: `someone${++persons}@people.example`, name: "Sari Dewi", password: PASSWORD };
    const { token } = await this.people.invitations.invite(merchantId, { role }, undefined);
    const accepted = await this.people.invitations.accept(token, given, this.from);
    if ("needs" in accepted) throw new Error("a new person has no second factor");
    return { ...given, personId: accepted.personId };
  }

  /** Signs a person in; gives the session's token. */
  async tokenOf(person: { email: string; password: string }, code?: string): Promise<string> {
    const signed = await this.people.signIn({ ...person, code }, this.from);
    if ("needs" in signed) throw new Error(`a ${signed.needs} is asked for`);
    return signed.token;
  }

  /** Adds a confirmed authenticator; gives its secret and the recovery codes. */
  async authenticator({ personId }: TestPerson): Promise<{ secret: string; codes: string[] }> {
    const { secret } = await this.people.factors.begin((await this.people.read(personId)) as Person);
    const session = await sessionIdOf(this.people, personId, this.from);
    return { secret, codes: await this.people.confirmAuthenticator(personId, this.code(secret), session, this.from) };
  }

  /** The code that an authenticator shows now. */
  code(secret: string): string {
    return codeOf(bytesOf(secret), Math.floor(this.now() / SECOND / 30));
  }

  private now(): Micros {
    return ++this.looked + this.ahead;
  }
}

/** The bytes of a base32 text. */
export function bytesOf(secret: string): Buffer {
  const bits = [...secret]
    .map((digit) => "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".indexOf(digit).toString(2).padStart(5, "0"))
    .join("");
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
}

/** The code of the fault that `work` throws, and its field; "no fault" when it throws none. */
export async function faultOf(work: Promise<unknown>): Promise<string> {
  try {
    await work;
    return "no fault";
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    const field = error.extras.details?.field as string | undefined;
    return field === undefined ? error.code : `${error.code} ${field}`;
  }
}

/** The actions in the audit trail of a person, oldest first. */
export function actionsOnRecord(database: TestDatabase, { personId }: { personId: string }): Promise<string[]> {
  return asOwner(database, async (owner) => {
    const { rows } = await owner.query<{ action: string }>(
      "select action from people_audit where person_id = $1 order by audit_id",
      [uuidOf(personId)],
    );
    return rows.map(({ action }) => action);
  });
}
