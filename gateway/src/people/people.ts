// People: who they are, how they sign in, and how they are let into a merchant. Rare, so outside the lanes: one transaction each.
import type { Micros } from "../ground/clock.ts";
import { Fault, assert, validationFault } from "../ground/fault.ts";
import { isId, newId } from "../ground/ids.ts";
import { isTimeZone } from "../ground/time-zones.ts";
import { type PeopleParts, noteAccess } from "./access-audit.ts";
import type { Invitation } from "./invitations.sql.ts";
import { Invitations, type Joined } from "./invitations.ts";
import type { NewPerson } from "./newcomers.ts";
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
  insertPassword,
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
import type { Session } from "./sessions.sql.ts";
import { type Origin, Sessions } from "./sessions.ts";
import type { LinkPurpose } from "./sign-in-links.sql.ts";
import { type MadeLink, SignInLinks } from "./sign-in-links.ts";
import { WrongGuess } from "./sign-in-throttle.ts";

/** The people of a development that tries it out. */
export const DEMO_OWNER = { email: "owner@demo.test", name: "Demo Owner" };
export const DEMO_OPERATOR = { email: "operator@demo.test", name: "Demo Operator" };

export class People {
  readonly sessions: Sessions;
  readonly passkeys: Passkeys;
  readonly operators: Operators;
  private readonly parts: PeopleParts;
  private readonly factors: SecondFactors;
  private readonly proofs: Proofs;
  private readonly invited: Invitations;
  private readonly links: SignInLinks;

  constructor(parts: PeopleParts) {
    this.parts = parts;
    this.sessions = new Sessions(parts.database, parts.clock, parts.surface);
    this.factors = new SecondFactors(parts);
    this.proofs = new Proofs(parts, this.factors);
    this.invited = new Invitations(parts, this.proofs);
    this.operators = new Operators(parts, this.proofs);
    this.links = new SignInLinks(parts, this.sessions);
    this.passkeys = new Passkeys(parts, {
      sessions: this.sessions,
      factors: this.factors,
      proved: (personId, session, origin) => this.proved(personId, session, origin),
    });
  }

  async read(personId: string): Promise<Person | undefined> {
    const [row] = await this.parts.database.query(selectPerson(personId));
    return row && personOfRow(row);
  }

  async readByEmail(email: string): Promise<Person | undefined> {
    const [row] = await this.parts.database.query(selectPersonByEmail(email.toLowerCase()));
    return row && personOfRow(row);
  }

  /** For whom a person may act, the longest first. */
  async memberships(personId: string): Promise<Membership[]> {
    return (await this.parts.database.query(selectMemberships(personId))).map(membershipOfRow);
  }

  /**
   * Signs a person in by password and, where they have a second factor, a code of the authenticator or a recovery code. Gives the session's
   * token, or that the password is right and what is still to be sent. Unknown and wrong are answered alike and in the same time. Throws
   * RATE_LIMITED, UNAUTHORIZED.
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
    const needs = await this.proofs.byPassword(person, given, { email, address: origin.address }, refusal);
    if (needs) return needs;
    assert(person, "somebody who is not known proved who they are");
    const token = await this.sessions.begin(person.personId, origin);
    await this.note("signed_in", person.personId, origin);
    return { token };
  }

  /**
   * Proves again who somebody is, as at a sign-in. Gives the new token of `session`, which takes the place of its old one, or what is still to be
   * sent. Throws UNAUTHORIZED, RATE_LIMITED.
   */
  async prove(
    personId: string,
    given: Given,
    session: Pick<Session, "sessionId" | "provedAt">,
    origin: Origin,
  ): Promise<{ token: string } | Needs> {
    const person = await this.known(personId);
    const attempt = { email: person.email, address: origin.address };
    const refusal = { action: "proof_failed", message: "This is not your password." };
    const needs = await this.proofs.byPassword(person, given, attempt, refusal);
    if (needs) return needs;
    return { token: await this.proved(personId, session, origin) };
  }

  /** A new token of a session, for who has just proved who they are. Throws UNAUTHORIZED when it was ended or renewed meanwhile. */
  async proved(
    personId: string,
    { sessionId, provedAt }: Pick<Session, "sessionId" | "provedAt">,
    origin: Origin,
  ): Promise<string> {
    const token = await this.sessions.renew({ personId, sessionId, provedAt }, origin);
    if (token === undefined) throw new Fault("UNAUTHORIZED", { message: "You have been signed out. Sign in again." });
    await this.note("proved", personId, origin);
    return token;
  }

  /** Changes a profile. Throws VALIDATION_ERROR when nobody knows this time zone. */
  async update(personId: string, change: ProfileChange): Promise<void> {
    const zone = change.time_zone;
    if (typeof zone === "string" && !isTimeZone(zone))
      throw validationFault("time_zone", zone, "time_zone is a name such as Asia/Jakarta.");
    await this.parts.database.query(updateProfile(personId, change));
  }

  /** Sets a new password, and signs the person out everywhere else. Throws UNAUTHORIZED (the current one is wrong), VALIDATION_ERROR. */
  async changePassword(
    personId: string,
    { current, next }: { current: string; next: string },
    { keep, origin }: { keep: string; origin: Origin },
  ): Promise<void> {
    const person = await this.known(personId);
    const attempt = { email: person.email, address: origin.address };
    await this.proofs.guessing(attempt, { personId, action: () => "password_change_failed" }, async () => {
      if (!(await isPassword(current, person.passwordHash)))
        throw new WrongGuess("UNAUTHORIZED", { message: "The current password is wrong." });
    });
    await this.refuseBad(next, person);
    await this.parts.database.query(updatePassword(personId, await hashPassword(next)));
    await this.sessions.endOthers(personId, keep);
    await this.note("password_changed", personId, origin);
  }

  /**
   * Sets the first password of a person who has none, and signs them out everywhere else. The caller has asked for a fresh proof. Throws
   * VALIDATION_ERROR (field `current` when there is one already).
   */
  async setPassword(personId: string, next: string, { keep, origin }: { keep: string; origin: Origin }): Promise<void> {
    const person = await this.known(personId);
    const there = validationFault("current", undefined, "You have a password: send it as the current one.");
    if (person.passwordHash !== undefined) throw there;
    await this.refuseBad(next, person);
    const set = await this.parts.database.query(insertPassword(personId, await hashPassword(next)));
    if (set.length === 0) throw there;
    await this.sessions.endOthers(personId, keep);
    await this.note("password_set", personId, origin);
  }

  /** Begins with an authenticator: it counts after `confirmAuthenticator`. Throws VALIDATION_ERROR when there is one already. */
  async beginAuthenticator(personId: string): Promise<{ secret: string; uri: string }> {
    return this.factors.begin(await this.known(personId));
  }

  /** Confirms an authenticator by a code of it. Gives recovery codes, which are shown this once. Throws VALIDATION_ERROR, RATE_LIMITED. */
  async confirmAuthenticator(personId: string, code: string, origin: Origin): Promise<string[]> {
    const person = await this.known(personId);
    if (person.hasAuthenticator) throw alreadyThere();
    const attempt = { email: person.email, address: origin.address };
    await this.proofs.guessing(attempt, { personId, action: () => "code_failed" }, async () => {
      if (await this.factors.confirm(personId, code)) return;
      const message = "This is not a code that the authenticator shows now. Is its clock right?";
      throw new WrongGuess("VALIDATION_ERROR", { message, details: { field: "code", value: null } });
    });
    const codes = await this.factors.newRecoveryCodes(personId);
    await this.note("authenticator_added", personId, origin);
    return codes;
  }

  /**
   * Removes the authenticator, and its recovery codes where no passkey is left. The caller has asked for a fresh proof. Throws
   * VALIDATION_ERROR when an owner in production would have no second factor.
   */
  async removeAuthenticator(personId: string, origin: Origin): Promise<void> {
    await this.factors.remove(personId, origin);
  }

  /**
   * Puts new recovery codes in the place of all there were; they are shown this once. The caller has asked for a fresh proof. Throws
   * VALIDATION_ERROR where there is no second factor.
   */
  async newRecoveryCodes(personId: string, origin: Origin): Promise<string[]> {
    const codes = await this.factors.newRecoveryCodes(personId);
    await this.note("recovery_codes_made", personId, origin);
    return codes;
  }

  async recoveryCodesLeft(personId: string): Promise<number> {
    return this.factors.recoveryCodesLeft(personId);
  }

  /** Who may act for a merchant. */
  async members(merchantId: string): Promise<Member[]> {
    return (await this.parts.database.query(selectMembers(merchantId))).map(memberOfRow);
  }

  /** Gives a member another role. False when there is no such member. Throws VALIDATION_ERROR when the last owner would go. */
  async changeRole(merchantId: string, personId: string, role: MemberRole): Promise<boolean> {
    return isId("person", personId) && this.keepingAnOwner(updateRole(merchantId, personId, role));
  }

  /** Takes a member out of a merchant. False when there is no such member. Throws VALIDATION_ERROR when the last owner would go. */
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

  /** Lets somebody into a merchant by a link. Gives the link's token, which is shown this once. `invitedBy` undefined: the operator. */
  async invite(
    merchantId: string,
    given: { role: MemberRole; email?: string | undefined },
    invitedBy: string | undefined,
  ): Promise<{ token: string; invitation: Invitation }> {
    return this.invited.invite(merchantId, given, invitedBy);
  }

  /** Invitations of a merchant that can still be accepted, newest first. */
  async invitations(merchantId: string): Promise<Invitation[]> {
    return this.invited.list(merchantId);
  }

  /** The invitation of a link, while it can be accepted. */
  async invitationOf(token: string): Promise<Invitation | undefined> {
    return this.invited.find(token);
  }

  /** Takes an invitation back. False when it cannot be accepted any more anyway. */
  async takeBack(merchantId: string, invitationId: string): Promise<boolean> {
    return this.invited.takeBack(merchantId, invitationId);
  }

  /**
   * Accepts an invitation, as a new person or as one who proves who they are as at a sign-in. Gives the person, or what is still to be sent.
   * Throws OBJECT_NOT_FOUND (no such invitation, or over), VALIDATION_ERROR, UNAUTHORIZED (there is such a person, and this is not their
   * password or code), RATE_LIMITED.
   */
  async accept(token: string, given: NewPerson, origin: Origin): Promise<Joined | Needs> {
    return this.invited.accept(token, given, origin);
  }

  /**
   * A link that signs a person in, once, for `lasts` (15 minutes); an earlier one for the same purpose is good no more. Throws FORBIDDEN in
   * production, but for one that resets.
   */
  async makeLink(personId: string, purpose: LinkPurpose, lasts?: Micros): Promise<MadeLink> {
    return this.links.make(personId, purpose, lasts);
  }

  /** Signs in by a link. Gives the session's token. After a link that resets, the person has no password and no factor. Throws UNAUTHORIZED. */
  async useLink(token: string, origin: Origin): Promise<string> {
    return this.links.use(token, origin);
  }

  /** The person of a development that tries it out: an owner of the merchant without a password, who signs in by links. Made once. */
  async demoOwner(merchantId: string): Promise<Person> {
    const person = await this.demoPerson(DEMO_OWNER);
    const now = this.parts.clock.now();
    await this.parts.database.query(insertMembership(merchantId, person.personId, "owner", now));
    return person;
  }

  /** The same in the console: an admin. */
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

  private async refuseBad(next: string, { email, name }: Person): Promise<void> {
    await refuseBadPassword("next", next, [email, name, this.parts.serviceName]);
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
