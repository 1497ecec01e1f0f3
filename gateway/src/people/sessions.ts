// Sessions of signed-in persons. Only the browser keeps the token; the database keeps its digest.
import { randomBytes } from "node:crypto";
import { type Clock, type Micros, SECOND } from "../ground/clock.ts";
import { sha256 } from "../ground/crypto.ts";
import { Fault } from "../ground/fault.ts";
import { isId, newId } from "../ground/ids.ts";
import type { Database, Statement } from "../store/database.ts";
import { type Query, lockedPerson } from "./locked-person.ts";
import { type Person, personOfRow } from "./people.sql.ts";
import type { MemberRole } from "./roles.ts";
import {
  type Session,
  type Surface,
  endOldestSessions,
  endOtherSessions,
  endSession,
  insertSession,
  renewSession,
  selectRoles,
  selectSignedIn,
  selectSessions,
  sessionOfRow,
  touchSession,
} from "./sessions.sql.ts";

const HOUR: Micros = 3600 * SECOND;
/** A session ends after IDLE_MAX without a request, and after AGE_MAX in any case. */
const IDLE_MAX: Micros = 12 * HOUR;
const AGE_MAX: Micros = 7 * 24 * HOUR;
/** Shortest time between two writes of a session's `seen_at`, so that most requests write nothing. */
const TOUCH_EVERY: Micros = 60 * SECOND;
/** Sessions of one person at the same time. A further sign-in ends the oldest. */
export const SESSIONS_MAX = 50;
/** How long a proof of identity is fresh. After this time, endpoints that move money or show a secret ask for a new proof. */
const PROOF_MAX: Micros = 600 * SECOND;

export type { Surface };

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

export class Sessions {
  private readonly database: Database;
  private readonly clock: Clock;
  private readonly surface: Surface;

  constructor(database: Database, clock: Clock, surface: Surface) {
    this.database = database;
    this.clock = clock;
    this.surface = surface;
  }

  /**
   * Begins a session for a person who has just proved their identity. Gives the token, for the person's browser alone. In the console it throws
   * UNAUTHORIZED for a person who is no operator: a trigger of the database checks it (error code GB013). `stands`: whether what was proved is still so,
   * while nobody else can change the person; UNAUTHORIZED when it is not.
   */
  async begin(
    personId: string,
    origin: Origin,
    stands: (person: Person, query: Query) => boolean | Promise<boolean> = () => true,
  ): Promise<string> {
    const { token, statement } = this.made(personId, origin);
    try {
      await this.database.transaction(async (query) => {
        const person = await lockedPerson(query, personId);
        if (!person || !(await stands(person, query)))
          throw new Fault("UNAUTHORIZED", { message: "Something about your account has just changed. Sign in again." });
        await query(statement);
      });
    } catch (error) {
      if ((error as { code?: unknown }).code !== "GB013") throw error;
      throw new Fault("UNAUTHORIZED", { message: "You are no operator of this gateway. An admin can invite you." });
    }
    await this.database.query(endOldestSessions(personId, SESSIONS_MAX, this.clock.now()));
    return token;
  }

  /**
   * Gives a session a new token after its person has proved their identity again. The old token stops working, in case somebody else has it.
   * Undefined when the session ended meanwhile, or another request renewed it.
   */
  async renew(
    session: Pick<Session, "personId" | "sessionId" | "provedAt">,
    origin: Origin,
  ): Promise<string | undefined> {
    const token = newToken();
    const now = this.clock.now();
    const renewed = { ...session, ...kept(origin), now };
    return (await this.database.query(renewSession(digestOf(token), renewed))).length > 0 ? token : undefined;
  }

  private made(personId: string, origin: Origin): { token: string; statement: Statement } {
    const token = newToken();
    const now = this.clock.now();
    const session: Session = {
      sessionId: newId("session", now),
      personId,
      createdAt: now,
      seenAt: now,
      provedAt: now,
      ...kept(origin),
      surface: this.surface,
    };
    return { token, statement: insertSession(digestOf(token), session) };
  }

  /** The session of a token with its person; undefined when there is none, or it has ended or expired. `role` is set when `merchantId` is given and the person is a member of that merchant. */
  async signedIn(token: string, merchantId?: string): Promise<SignedIn | undefined> {
    if (!/^[\w-]{43}$/.test(token)) return undefined;
    const now = this.clock.now();
    const statement = selectSignedIn(digestOf(token), this.surface, merchantId, now - AGE_MAX, now - IDLE_MAX);
    const [row] = await this.database.query(statement);
    if (!row) return undefined;
    const session = sessionOfRow({ ...row, created_at: row.begun_at });
    if (now - session.seenAt >= TOUCH_EVERY) await this.database.query(touchSession(digestOf(token), now));
    return { session, person: personOfRow(row), role: (row.role as MemberRole | null) ?? undefined };
  }

  /**
   * Current roles for pairs of session and merchant, in the order of `asked`. A role is undefined when the session has ended or expired, the person
   * is no member of the merchant any more, or the merchant is suspended. Does not touch `seen_at`: a person who only listens to a stream is idle.
   */
  async roles(asked: readonly { sessionId: string; merchantId: string }[]): Promise<(MemberRole | undefined)[]> {
    const now = this.clock.now();
    const rows = await this.database.query(selectRoles(asked, now - AGE_MAX, now - IDLE_MAX));
    const byPlace = new Map(rows.map(({ place, role }) => [place as number, role as MemberRole]));
    return asked.map((_, at) => byPlace.get(at + 1));
  }

  /** The time from which sensitive actions of a session need a new proof of identity. */
  freshUntil({ provedAt }: Session): Micros {
    return provedAt + PROOF_MAX;
  }

  /** True when the last proof of identity is younger than PROOF_MAX, so that sensitive actions need no new one. */
  isFresh({ provedAt }: Session): boolean {
    return this.clock.now() - provedAt < PROOF_MAX;
  }

  /** Sessions of a person that have not ended or expired, newest first. */
  async list(personId: string): Promise<Session[]> {
    const now = this.clock.now();
    return (await this.database.query(selectSessions(personId, now - AGE_MAX, now - IDLE_MAX))).map(sessionOfRow);
  }

  /** Ends one session of a person. False when the session is not theirs, or ended before. */
  async end(personId: string, sessionId: string): Promise<boolean> {
    if (!isId("session", sessionId)) return false;
    return this.database.transaction(async (query) => {
      await lockedPerson(query, personId);
      return (await query(endSession(personId, sessionId, this.clock.now()))).length > 0;
    });
  }

  /** Ends all sessions of a person except the session `kept`, if given. */
  async endOthers(personId: string, kept?: string): Promise<void> {
    await this.database.transaction(async (query) => {
      await lockedPerson(query, personId);
      await query(endOtherSessions(personId, kept, this.clock.now()));
    });
  }
}

const newToken = (): string => randomBytes(32).toString("base64url");

/** Cuts an origin to the lengths that the table allows. */
const kept = ({ address, userAgent }: Origin): Origin => ({
  address: address.slice(0, 60),
  userAgent: userAgent.slice(0, 300),
});

function digestOf(token: string): Buffer {
  return sha256(token);
}
