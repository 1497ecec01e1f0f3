// Persons, their sign-in and their membership of merchants. These writes are rare, so they bypass the lanes that batch commands: one transaction each.
import { Fault, assert, validationFault } from "../ground/fault.ts";
import { isId, newId } from "../ground/ids.ts";
import { isTimeZone } from "../ground/time-zones.ts";
import { type PeopleParts, noteAccess } from "./access-audit.ts";
import { Invitations } from "./invitations.ts";
import { lockedInSession, signedOut } from "./locked-person.ts";
import { Operators } from "./operators.ts";
import { Passkeys } from "./passkeys.ts";
import { hashPassword, isPassword, refuseBadPassword } from "./passwords.ts";
import {
  type Member,
  type Membership,
  type Person,
  type ProfileChange,
  deleteMembership,
  insertMembership,
  insertPerson,
  memberOfRow,
  membershipOfRow,
  personOfRow,
  selectMembers,
  selectMemberships,
  selectPerson,
  selectPersonByEmail,
  updatePassword,
  updateProfile,
  updateRole,
} from "./people.sql.ts";
import { type Given, type Needs, Proofs } from "./proofs.ts";
import type { MemberRole } from "./roles.ts";
import { SecondFactors, alreadyThere } from "./second-factors.ts";
import { type Session, endOtherSessions } from "./sessions.sql.ts";
import { type Origin, Sessions } from "./sessions.ts";
import { SignInLinks } from "./sign-in-links.ts";
import { WrongGuess, ofSignedIn, ofStranger } from "./sign-in-throttle.ts";

/** Demo persons of a development installation. */
export const DEMO_OWNER = { email: "owner@demo.test", name: "Demo Owner" };
export const DEMO_OPERATOR = { email: "operator@demo.test", name: "Demo Operator" };

export class People {
  readonly sessions: Sessions;
  readonly passkeys: Passkeys;
  readonly operators: Operators;
  readonly invitations: Invitations;
  readonly links: SignInLinks;
  readonly factors: SecondFactors;
  private readonly parts: PeopleParts;
  private readonly proofs: Proofs;

  constructor(parts: PeopleParts) {
    this.parts = parts;
    this.sessions = new Sessions(parts);
    this.factors = new SecondFactors(parts);
    this.proofs = new Proofs(parts, this.factors);
    this.invitations = new Invitations(parts, this.proofs);
    this.operators = new Operators(parts, this.proofs);
    this.links = new SignInLinks(parts, this.sessions);
    this.passkeys = new Passkeys(parts, this.sessions, this.factors);
  }

  async read(personId: string): Promise<Person | undefined> {
    return this.parts.database.first(selectPerson(personId), personOfRow);
  }

  async readByEmail(email: string): Promise<Person | undefined> {
    return this.parts.database.first(selectPersonByEmail(email.toLowerCase()), personOfRow);
  }

  /** Merchants that a person belongs to, oldest membership first. */
  async memberships(personId: string): Promise<Membership[]> {
    return (await this.parts.database.query(selectMemberships(personId))).map(membershipOfRow);
  }

  /**
   * Signs a person in by password and, where the person has a second factor, by a code of the authenticator or a recovery code. Gives the
   * session's token, or the factor that is still needed after the right password. An unknown e-mail address and a wrong password get the same
   * answer in the same time. Throws RATE_LIMITED, UNAUTHORIZED.
   */
  async signIn(
    { email: sent, ...given }: Given & { email: string },
    origin: Origin,
  ): Promise<{ token: string } | Needs> {
    const email = sent.toLowerCase();
    const person = await this.readByEmail(email);
    const refusal = {
      action: "sign_in_failed",
      message: "This e-mail address and this password do not belong together.",
    };
    const attempt = ofStranger(this.parts.surface, email, origin.address);
    const needs = await this.proofs.byPassword(person, given, attempt, refusal);
    if (needs) return needs;
    assert(person, "somebody who is not known proved who they are");
    const { personId, passwordHash } = person;
    // Hashing takes a while, in which the password may be changed, or the account be reset.
    const token = await this.sessions.begin(personId, origin, (now) => now.passwordHash === passwordHash);
    await this.note("signed_in", person.personId, origin);
    return { token };
  }

  /**
   * Checks a signed-in person's password and code again, as at a sign-in. Gives a new token of `session`, which replaces the old token, or the
   * factor that is still needed. Throws UNAUTHORIZED, RATE_LIMITED.
   */
  async prove(
    personId: string,
    given: Given,
    session: Pick<Session, "sessionId" | "provedAt">,
    origin: Origin,
  ): Promise<{ token: string } | Needs> {
    const person = await this.known(personId);
    const attempt = ofSignedIn(`proofs of ${personId}`, origin.address);
    const refusal = { action: "proof_failed", message: "This is not your password." };
    const needs = await this.proofs.byPassword(person, given, attempt, refusal);
    if (needs) return needs;
    // Hashing takes a while, in which the password may be changed; the session in which that is done goes on.
    const stands = (now: Person): boolean => now.passwordHash === person.passwordHash;
    return { token: await this.sessions.renew({ ...session, personId }, origin, stands) };
  }

  /** Changes a profile. Throws VALIDATION_ERROR for an unknown time zone. */
  async update(personId: string, change: ProfileChange): Promise<void> {
    const zone = change.time_zone;
    if (typeof zone === "string" && !isTimeZone(zone))
      throw validationFault("time_zone", zone, "time_zone is a name such as Asia/Jakarta.");
    await this.parts.database.query(updateProfile(personId, change));
  }

  /** Sets a new password, and ends all sessions but `keep`. Throws UNAUTHORIZED (wrong current password), VALIDATION_ERROR, RATE_LIMITED. */
  async changePassword(
    personId: string,
    { current, next }: { current: string; next: string },
    rest: { keep: string; origin: Origin },
  ): Promise<void> {
    const person = await this.known(personId);
    const attempt = ofSignedIn(`proofs of ${personId}`, rest.origin.address);
    await this.proofs.guessing(attempt, { personId, action: () => "password_change_failed" }, async () => {
      if (!(await isPassword(this.parts.surface, current, person.passwordHash)))
        throw new WrongGuess("UNAUTHORIZED", { message: "The current password is wrong." });
    });
    if (!(await this.replacePassword(person, next, rest, "password_changed"))) throw signedOut();
  }

  /**
   * Sets the first password of a person who has none, and ends every session of the person but `keep`. The caller has checked that the session's
   * proof is fresh. Throws VALIDATION_ERROR (field `current` when the person has a password already).
   */
  async setPassword(personId: string, next: string, rest: { keep: string; origin: Origin }): Promise<void> {
    const person = await this.known(personId);
    if (person.passwordHash !== undefined || !(await this.replacePassword(person, next, rest, "password_set")))
      throw validationFault("current", undefined, "You have a password: send it as the current one.");
  }

  /**
   * Replaces the password of the person, as read before, in the session `keep`, and ends all other sessions of the person. False when another request has
   * changed it. Throws VALIDATION_ERROR, and UNAUTHORIZED when the session has ended meanwhile, as by a reset.
   */
  private async replacePassword(
    { personId, email, name, passwordHash: before }: Person,
    next: string,
    { keep, origin }: { keep: string; origin: Origin },
    action: string,
  ): Promise<boolean> {
    await refuseBadPassword("next", next, [email, name, this.parts.serviceName]);
    const hash = await hashPassword(this.parts.surface, next, this.parts.passwordCost);
    const replaced = await this.parts.database.transaction(async (query) => {
      await lockedInSession(query, personId, keep);
      if ((await query(updatePassword(personId, before, hash))).length === 0) return false;
      await query(endOtherSessions(personId, keep, this.parts.clock.now()));
      return true;
    });
    if (replaced) await this.note(action, personId, origin);
    return replaced;
  }

  /** Confirms an authenticator by a code. Gives recovery codes, never shown again. Throws VALIDATION_ERROR, RATE_LIMITED, UNAUTHORIZED. */
  async confirmAuthenticator(personId: string, code: string, sessionId: string, origin: Origin): Promise<string[]> {
    const person = await this.known(personId);
    if (person.hasAuthenticator) throw alreadyThere();
    const attempt = ofSignedIn(`proofs of ${personId}`, origin.address);
    const codes = await this.proofs.guessing(attempt, { personId, action: () => "code_failed" }, async () => {
      const made = await this.factors.confirm(personId, code, sessionId);
      if (made) return made;
      const message = "This is not a code that the authenticator shows now. Is its clock right?";
      throw new WrongGuess("VALIDATION_ERROR", { message, details: { field: "code", value: null } });
    });
    await this.note("authenticator_added", personId, origin);
    return codes;
  }

  /** Members of a merchant, oldest membership first. */
  async members(merchantId: string): Promise<Member[]> {
    return (await this.parts.database.query(selectMembers(merchantId))).map(memberOfRow);
  }

  /** Changes a member's role. False when there is no such member. Throws VALIDATION_ERROR when the merchant would have no owner left. */
  async changeRole(merchantId: string, personId: string, role: MemberRole): Promise<boolean> {
    return isId("person", personId) && this.keepingAnOwner(updateRole(merchantId, personId, role));
  }

  /** Removes a member from a merchant. False when there is no such member. Throws VALIDATION_ERROR when the merchant would have no owner left. */
  async removeMember(merchantId: string, personId: string): Promise<boolean> {
    return isId("person", personId) && this.keepingAnOwner(deleteMembership(merchantId, personId));
  }

  private async keepingAnOwner(statement: ReturnType<typeof deleteMembership>): Promise<boolean> {
    try {
      return (await this.parts.database.query(statement)).length > 0;
    } catch (error) {
      if ((error as { code?: unknown }).code !== "GB011") throw error;
      throw validationFault("person_id", undefined, "A merchant keeps an owner. Make somebody else one first.");
    }
  }

  /** Gives the demo owner of a merchant, who has no password and signs in by links. Creates the person and the membership when missing. */
  async demoOwner(merchantId: string): Promise<Person> {
    const person = await this.demoPerson(DEMO_OWNER);
    const now = this.parts.clock.now();
    await this.parts.database.query(insertMembership(merchantId, person.personId, "owner", now));
    return person;
  }

  /** Gives the demo operator, an admin of the console without a password. Creates the person and the operator when missing. */
  async demoOperator(): Promise<Person> {
    const person = await this.demoPerson(DEMO_OPERATOR);
    await this.operators.add(person.personId, "admin", "command-line");
    return person;
  }

  private async demoPerson(demo: { email: string; name: string }): Promise<Person> {
    assert(!this.parts.production, "production has no demo people");
    const now = this.parts.clock.now();
    const made = { ...demo, personId: newId("person", now), passwordHash: undefined, now };
    await this.parts.database.query(insertPerson(made));
    return (await this.readByEmail(demo.email)) ?? this.known(made.personId);
  }

  private async known(personId: string): Promise<Person> {
    const person = await this.read(personId);
    if (!person) throw new Fault("OBJECT_NOT_FOUND", { message: "No such person." });
    return person;
  }

  private async note(action: string, personId: string, { address }: Origin): Promise<void> {
    await noteAccess(this.parts, { action, personId, address });
  }
}
