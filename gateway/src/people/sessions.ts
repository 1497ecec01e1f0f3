// Sessions of signed-in persons. Only the browser keeps the token; the database keeps its digest.
import { randomBytes } from "node:crypto";
import { type Micros, HOUR, SECOND } from "../ground/clock.ts";
import { sha256 } from "../ground/crypto.ts";
import { Fault } from "../ground/fault.ts";
import { isId, newId } from "../ground/ids.ts";
import { type PeopleParts, noteAccess } from "./access-audit.ts";
import { type Query, optional } from "../store/database.ts";
import { lockedInSession, lockedPerson, signedOut } from "./locked-person.ts";
import { type Person, personOfRow } from "./people.sql.ts";
import type { MemberRole } from "./roles.ts";
import {
  type Session,
  endOldestSessions,
  endOtherSessions,
  endSession,
  insertSessions,
  renewSession,
  selectRoles,
  selectSignedIn,
  selectSessions,
  sessionOfRow,
  touchSession,
} from "./sessions.sql.ts";

/** A session ends after IDLE_MAX without a request, and after AGE_MAX in any case. */
const IDLE_MAX: Micros = 12 * HOUR;
const AGE_MAX: Micros = 7 * 24 * HOUR;
/** Shortest time between two writes of a session's `seen_at`, so that most requests write nothing. */
const TOUCH_EVERY: Micros = 60 * SECOND;
/** Sessions of one person at the same time. A further sign-in ends the oldest. */
export const SESSIONS_MAX = 50;
/** How long a proof of identity is fresh. After this time, endpoints that move money or show a secret ask for a new proof. */
const PROOF_MAX: Micros = 600 * SECOND;

/** Address and browser that a sign-in comes from. */
export interface Origin {
  address: string;
  userAgent: string;
}

/** A session with its person and, when a merchant was named, the person's role there. */
export interface SignedIn {
  session: Session;
  person: Person;
  role: MemberRole | undefined;
}

/** Whether what proved a person's identity still stands, once the person is locked. */
export type Stands = (person: Person, query: Query) => boolean | Promise<boolean>;

export class Sessions {
  private readonly parts: PeopleParts;

  constructor(parts: PeopleParts) {
    this.parts = parts;
  }

  /**
   * Begins a session for a person who has just proved their identity. Gives the token, for the person's browser alone. In the console it throws
   * UNAUTHORIZED for a person who is no operator: a trigger of the database checks it (error code GB013). `stands`: whether what was proved is still so,
   * while nobody else can change the person; UNAUTHORIZED when it is not.
   */
  async begin(personId: string, origin: Origin, stands: Stands = () => true): Promise<string> {
    const token = newToken();
    const now = this.parts.clock.now();
    const session: Session = {
      sessionId: newId("session", now),
      personId,
      createdAt: now,
      seenAt: now,
      provedAt: now,
      ...kept(origin),
      surface: this.parts.surface,
    };
    try {
      await this.parts.database.transaction(async (query) => {
        const person = await lockedPerson(query, personId);
        if (!person || !(await stands(person, query)))
          throw new Fault("UNAUTHORIZED", { message: "Something about your account has just changed. Sign in again." });
        await query(insertSessions([{ ...session, tokenDigest: sha256(token) }]));
        await query(endOldestSessions(personId, SESSIONS_MAX, now));
      });
    } catch (error) {
      if ((error as { code?: unknown }).code !== "GB013") throw error;
      throw new Fault("UNAUTHORIZED", { message: "You are no operator of this gateway. An admin can invite you." });
    }
    return token;
  }

  /**
   * Gives a session a new token after its person has proved their identity again. The old token stops working, in case somebody else has it.
   * Throws UNAUTHORIZED when the session was ended or renewed meanwhile, or when `stands` says that what proved it does not any more.
   */
  async renew(
    session: Pick<Session, "personId" | "sessionId" | "provedAt">,
    origin: Origin,
    stands: Stands,
  ): Promise<string> {
    const { personId, sessionId } = session;
    const token = newToken();
    const statement = renewSession(sha256(token), { ...session, ...kept(origin), now: this.parts.clock.now() });
    await this.parts.database.transaction(async (query) => {
      const person = await lockedInSession(query, personId, sessionId);
      if (!(await stands(person, query)) || (await query(statement)).length === 0) throw signedOut();
    });
    await noteAccess(this.parts, { action: "proved", personId, address: origin.address });
    return token;
  }

  /** The session of a token with its person; undefined when there is none, or it has ended or expired. `role` is set when `merchantId` is given and the person is a member of that merchant. */
  async signedIn(token: string, merchantId?: string): Promise<SignedIn | undefined> {
    if (!/^[\w-]{43}$/.test(token)) return undefined;
    const now = this.parts.clock.now();
    const statement = selectSignedIn(sha256(token), this.parts.surface, merchantId, now - AGE_MAX, now - IDLE_MAX);
    const [row] = await this.parts.database.query(statement);
    if (!row) return undefined;
    const session = sessionOfRow({ ...row, created_at: row.begun_at });
    if (now - session.seenAt >= TOUCH_EVERY) await this.parts.database.query(touchSession(sha256(token), now));
    return { session, person: personOfRow(row), role: optional<MemberRole>(row.role) };
  }

  /**
   * Current roles for pairs of session and merchant, in the order of `asked`. A role is undefined when the session has ended or expired, the person
   * is no member of the merchant any more, or the merchant is suspended. Does not touch `seen_at`: a person who only listens to a stream is idle.
   */
  async roles(asked: readonly { sessionId: string; merchantId: string }[]): Promise<(MemberRole | undefined)[]> {
    const now = this.parts.clock.now();
    const rows = await this.parts.database.query(selectRoles(asked, now - AGE_MAX, now - IDLE_MAX));
    const byPlace = new Map(rows.map(({ place, role }) => [place as number, role as MemberRole]));
    return asked.map((_, at) => byPlace.get(at + 1));
  }

  /** The time from which sensitive actions of a session need a new proof of identity. */
  freshUntil({ provedAt }: Session): Micros {
    return provedAt + PROOF_MAX;
  }

  /** True when the last proof of identity is younger than PROOF_MAX, so that sensitive actions need no new one. */
  isFresh({ provedAt }: Session): boolean {
    return this.parts.clock.now() - provedAt < PROOF_MAX;
  }

  /** Sessions of a person that have not ended or expired, newest first. */
  async list(personId: string): Promise<Session[]> {
    const now = this.parts.clock.now();
    return (await this.parts.database.query(selectSessions(personId, now - AGE_MAX, now - IDLE_MAX))).map(sessionOfRow);
  }

  /** Ends one session of a person. False when the session is not theirs, or ended before. */
  async end(personId: string, sessionId: string): Promise<boolean> {
    if (!isId("session", sessionId)) return false;
    return this.parts.database.transaction(async (query) => {
      await lockedPerson(query, personId);
      return (await query(endSession(personId, sessionId, this.parts.clock.now()))).length > 0;
    });
  }

  /** Ends all sessions of a person except the session `kept`, if given. */
  async endOthers(personId: string, kept?: string): Promise<void> {
    await this.parts.database.transaction(async (query) => {
      await lockedPerson(query, personId);
      await query(endOtherSessions(personId, kept, this.parts.clock.now()));
    });
  }
}

const newToken = (): string => randomBytes(32).toString("base64url");

/** Cuts an origin to the lengths that the tables allow. */
export const kept = ({ address, userAgent }: Origin): Origin => ({
  address: address.slice(0, 60),
  userAgent: userAgent.slice(0, 300),
});
