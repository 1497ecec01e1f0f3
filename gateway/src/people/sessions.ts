// Sessions: who is signed in. The token is in the browser alone; the database has its digest.
import { randomBytes } from "node:crypto";
import { type Clock, type Micros, SECOND } from "../ground/clock.ts";
import { sha256 } from "../ground/crypto.ts";
import { Fault } from "../ground/fault.ts";
import { isId, newId } from "../ground/ids.ts";
import type { Database, Statement } from "../store/database.ts";
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
  selectSession,
  selectSignedIn,
  selectSessions,
  sessionOfRow,
  touchSession,
} from "./sessions.sql.ts";

const HOUR: Micros = 3600 * SECOND;
/** Nobody is signed in for longer without doing anything, or at all. */
const IDLE_MAX: Micros = 12 * HOUR;
const AGE_MAX: Micros = 7 * 24 * HOUR;
/** `seen_at` is written no more often than this. */
const TOUCH_EVERY: Micros = 60 * SECOND;
/** Nobody is signed in at more places at once: the oldest session ends. */
export const SESSIONS_MAX = 50;
/** What moves money or shows a secret asks again after this time. */
const PROOF_MAX: Micros = 600 * SECOND;

export type { Surface };

/** Where somebody signs in from, as far as it is kept. */
export interface Origin {
  address: string;
  userAgent: string;
}

/** Who is signed in. */
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
   * Signs somebody in who has just proved who they are. Gives the token, which is shown to nobody else. Throws UNAUTHORIZED in the console for
   * who is no operator: the database decides.
   */
  async begin(personId: string, origin: Origin): Promise<string> {
    const { token, statement } = this.made(personId, origin);
    try {
      await this.database.query(statement);
    } catch (error) {
      if ((error as { code?: unknown }).code !== "GB013") throw error;
      throw new Fault("UNAUTHORIZED", { message: "You are no operator of this gateway. An admin can invite you." });
    }
    await this.database.query(endOldestSessions(personId, SESSIONS_MAX, this.clock.now()));
    return token;
  }

  /**
   * Gives a session a new token, as its person has just proved who they are again: one that somebody else may have had is worth nothing
   * then. Undefined when the session was over meanwhile, or was renewed by another request.
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

  /** The session of a token; undefined when there is none, or it is over. */
  async find(token: string): Promise<Session | undefined> {
    if (!/^[\w-]{43}$/.test(token)) return undefined;
    const now = this.clock.now();
    const [row] = await this.database.query(
      selectSession(digestOf(token), this.surface, now - AGE_MAX, now - IDLE_MAX),
    );
    const session = row && sessionOfRow(row);
    if (session && now - session.seenAt >= TOUCH_EVERY) await this.database.query(touchSession(digestOf(token), now));
    return session;
  }

  /** The same with its person, and with their role for a merchant where one is named and they belong to it. */
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
   * What the people of sessions are for merchants now, each in its place; undefined where a session is over, its person does not belong to
   * the merchant any more, or the merchant is suspended. It is no sign of life: whoever only listens is idle.
   */
  async roles(asked: readonly { sessionId: string; merchantId: string }[]): Promise<(MemberRole | undefined)[]> {
    const now = this.clock.now();
    const rows = await this.database.query(selectRoles(asked, now - AGE_MAX, now - IDLE_MAX));
    const byPlace = new Map(rows.map(({ place, role }) => [place as number, role as MemberRole]));
    return asked.map((_, at) => byPlace.get(at + 1));
  }

  /** When the person has to prove again who they are before what is dear. */
  freshUntil({ provedAt }: Session): Micros {
    return provedAt + PROOF_MAX;
  }

  /** True when the person has proved who they are a short while ago, so that what is dear may be done without asking again. */
  isFresh({ provedAt }: Session): boolean {
    return this.clock.now() - provedAt < PROOF_MAX;
  }

  /** Where a person is signed in, newest first. */
  async list(personId: string): Promise<Session[]> {
    const now = this.clock.now();
    return (await this.database.query(selectSessions(personId, now - AGE_MAX, now - IDLE_MAX))).map(sessionOfRow);
  }

  /** Signs a person out of one session. False when it is not theirs, or over already. */
  async end(personId: string, sessionId: string): Promise<boolean> {
    if (!isId("session", sessionId)) return false;
    return (await this.database.query(endSession(personId, sessionId, this.clock.now()))).length > 0;
  }

  /** Signs a person out everywhere, but for one session where it is named. */
  async endOthers(personId: string, kept?: string): Promise<void> {
    await this.database.query(endOtherSessions(personId, kept, this.clock.now()));
  }
}

const newToken = (): string => randomBytes(32).toString("base64url");

/** As much of it as the table keeps. */
const kept = ({ address, userAgent }: Origin): Origin => ({
  address: address.slice(0, 60),
  userAgent: userAgent.slice(0, 300),
});

function digestOf(token: string): Buffer {
  return sha256(token);
}
