// People: who they are, how they sign in, and how they are let into a merchant. Rare, so outside the lanes: one transaction each.
import { randomBytes } from "node:crypto";
import { type Clock, type Micros, SECOND } from "../ground/clock.ts";
import { type Vault, digestOf, sha256 } from "../ground/crypto.ts";
import { Fault, validationFault } from "../ground/fault.ts";
import { encode, isId, newId } from "../ground/ids.ts";
import type { Database } from "../store/database.ts";
import { hashPassword, isPassword, objectionToPassword } from "./passwords.ts";
import {
  type Invitation,
  type Member,
  type Membership,
  type Person,
  type PeopleAuditEntry,
  deleteMembership,
  endInvitation,
  insertInvitation,
  insertMembership,
  insertPeopleAudit,
  insertPerson,
  invitationOfRow,
  lockInvitation,
  lockPerson,
  memberOfRow,
  membershipOfRow,
  personOfRow,
  removeTotp,
  replaceRecoveryCodes,
  selectInvitation,
  selectInvitations,
  selectMembers,
  selectMemberships,
  selectPerson,
  selectPersonByEmail,
  updatePassword,
  updateRole,
  updateTotp,
  useRecoveryCode,
  useTotpStep,
} from "./people.sql.ts";
import type { MemberRole } from "./roles.ts";
import { type Origin, Sessions } from "./sessions.ts";
import { SignInThrottle } from "./sign-in-throttle.ts";
import { TOTP_SECRET_BYTES, base32, enrolmentUri, stepOfCode } from "./totp.ts";

const INVITATION_LASTS: Micros = 7 * 24 * 3600 * SECOND;
const RECOVERY_CODES = 10;

/** What a new person says of themselves. */
export interface NewPerson {
  email: string;
  name: string;
  password: string;
}

export interface PeopleParts {
  database: Database;
  vault: Vault;
  clock: Clock;
  /** Names the installation in authenticators. */
  serviceName: string;
}

export class People {
  readonly sessions: Sessions;
  private readonly parts: PeopleParts;
  private readonly throttle: SignInThrottle;

  constructor(parts: PeopleParts) {
    this.parts = parts;
    this.sessions = new Sessions(parts.database, parts.clock);
    this.throttle = new SignInThrottle(parts.database, parts.clock);
  }

  async read(personId: string): Promise<Person | undefined> {
    const [row] = await this.parts.database.query(selectPerson(personId));
    return row && personOfRow(row);
  }

  async memberships(personId: string): Promise<Membership[]> {
    return (await this.parts.database.query(selectMemberships(personId))).map(membershipOfRow);
  }

  /**
   * Signs a person in by password and, where they have an authenticator, a code of it or a recovery code. Gives the session's token, or that
   * the password is right and a code is still to be sent. Unknown and wrong are answered alike and in the same time. Throws RATE_LIMITED,
   * UNAUTHORIZED.
   */
  async signIn(
    { email: sent, password, code }: { email: string; password: string; code?: string | undefined },
    origin: Origin,
  ): Promise<{ token: string } | { needs: "code" }> {
    const email = sent.toLowerCase();
    const attempt = { email, address: origin.address };
    await this.throttle.check(attempt);
    const [row] = await this.parts.database.query(selectPersonByEmail(email));
    const person = row && personOfRow(row);
    const proved = await isPassword(password, person?.closed === true ? undefined : person?.passwordHash);
    if (!person || !proved) {
      await this.refused(attempt, person?.personId, "sign_in_failed");
      throw new Fault("UNAUTHORIZED", { message: "This e-mail address and this password do not belong together." });
    }
    if (person.hasAuthenticator) {
      if (code === undefined) return { needs: "code" };
      if (!(await this.useCode(person.personId, code))) {
        await this.refused(attempt, person.personId, "code_failed");
        throw new Fault("UNAUTHORIZED", {
          message: "This code is wrong, over, or was used already. Take the next one.",
        });
      }
    }
    const token = await this.sessions.begin(person.personId, origin);
    await this.note({ action: "signed_in", personId: person.personId, address: origin.address });
    return { token };
  }

  private async refused(attempt: { email: string; address: string }, personId: string | undefined, action: string) {
    await this.throttle.failed(attempt);
    await this.note({ action, personId, address: attempt.address });
  }

  /** True when this is a code of the person's authenticator, or a recovery code of theirs. It is used up then. */
  private async useCode(personId: string, code: string): Promise<boolean> {
    const now = this.parts.clock.now();
    return this.parts.database.transaction(async (query) => {
      const [row] = await query(lockPerson(personId));
      const person = row && personOfRow(row);
      if (!person?.totpSealed) return false;
      const secret = this.openTotp(person.personId, person.totpSealed);
      const step = stepOfCode(secret, code, now, person.totpUsedStep);
      if (step !== undefined) {
        await query(useTotpStep(personId, step, now));
        return true;
      }
      if (!person.hasAuthenticator) return false;
      return (await query(useRecoveryCode(personId, recoveryDigest(personId, code), now))).length > 0;
    });
  }

  /** Sets a new password, and signs the person out everywhere else. Throws UNAUTHORIZED (the current one is wrong), VALIDATION_ERROR. */
  async changePassword(
    personId: string,
    { current, next }: { current: string; next: string },
    { keep, origin }: { keep: string; origin: Origin },
  ): Promise<void> {
    const person = await this.known(personId);
    const attempt = { email: person.email, address: origin.address };
    await this.throttle.check(attempt);
    if (!(await isPassword(current, person.passwordHash))) {
      await this.refused(attempt, personId, "password_change_failed");
      throw new Fault("UNAUTHORIZED", { message: "The current password is wrong." });
    }
    await this.refuseBadPassword("next", next, person);
    await this.parts.database.query(updatePassword(personId, await hashPassword(next)));
    await this.sessions.endOthers(personId, keep);
    await this.note({ action: "password_changed", personId, address: origin.address });
  }

  /** Begins with an authenticator: it counts after `confirmAuthenticator`. Throws VALIDATION_ERROR when there is one already. */
  async beginAuthenticator(personId: string): Promise<{ secret: string; uri: string }> {
    const person = await this.known(personId);
    if (person.hasAuthenticator) throw alreadyThere();
    const secret = randomBytes(TOTP_SECRET_BYTES);
    await this.parts.database.query(
      updateTotp(personId, this.parts.vault.seal(secret.toString("base64"), totpOwner(personId))),
    );
    return { secret: base32(secret), uri: enrolmentUri(this.parts.serviceName, person.email, secret) };
  }

  /** Confirms an authenticator by a code of it. Gives recovery codes, which are shown this once. Throws VALIDATION_ERROR, RATE_LIMITED. */
  async confirmAuthenticator(personId: string, code: string, origin: Origin): Promise<string[]> {
    const person = await this.known(personId);
    if (person.hasAuthenticator) throw alreadyThere();
    const attempt = { email: person.email, address: origin.address };
    await this.throttle.check(attempt);
    if (!(await this.useCode(personId, code))) {
      await this.refused(attempt, personId, "code_failed");
      throw validationFault("code", code, "This is not a code that the authenticator shows now. Is its clock right?");
    }
    const codes = await this.newRecoveryCodes(personId);
    await this.note({ action: "authenticator_added", personId, address: origin.address });
    return codes;
  }

  /** Removes the authenticator and its recovery codes. The caller has asked for a fresh proof. */
  async removeAuthenticator(personId: string, origin: Origin): Promise<void> {
    await this.parts.database.transaction(async (query) => {
      await query(removeTotp(personId));
      await query(replaceRecoveryCodes(personId, []));
    });
    await this.note({ action: "authenticator_removed", personId, address: origin.address });
  }

  private async newRecoveryCodes(personId: string): Promise<string[]> {
    const codes = Array.from({ length: RECOVERY_CODES }, () => {
      const text = encode(randomBytes(16));
      return `${text.slice(2, 7)}-${text.slice(7, 12)}-${text.slice(12, 17)}`;
    });
    const digests = codes.map((code) => recoveryDigest(personId, code));
    await this.parts.database.query(replaceRecoveryCodes(personId, digests));
    return codes;
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
    { role, email }: { role: MemberRole; email?: string | undefined },
    invitedBy: string | undefined,
  ): Promise<{ token: string; invitation: Invitation }> {
    const now = this.parts.clock.now();
    const token = randomBytes(32).toString("base64url");
    const invitation: Invitation = {
      merchantId,
      invitationId: newId("invitation", now),
      role,
      email: email?.toLowerCase(),
      expiresAt: now + INVITATION_LASTS,
    };
    await this.parts.database.query(insertInvitation({ ...invitation, tokenDigest: sha256(token), invitedBy, now }));
    await this.note({ action: "invited", personId: invitedBy, merchantId, details: { role } });
    return { token, invitation };
  }

  async invitations(merchantId: string): Promise<Invitation[]> {
    const rows = await this.parts.database.query(selectInvitations(merchantId, this.parts.clock.now()));
    return rows.map(invitationOfRow);
  }

  /** The invitation of a link, while it can be accepted. */
  async invitationOf(token: string): Promise<Invitation | undefined> {
    const [row] = await this.parts.database.query(selectInvitation(sha256(token), this.parts.clock.now()));
    return row && invitationOfRow(row);
  }

  /** Takes an invitation back. False when it cannot be accepted any more anyway. */
  async takeBack(merchantId: string, invitationId: string): Promise<boolean> {
    if (!isId("invitation", invitationId)) return false;
    const statement = endInvitation({ merchantId, invitationId }, undefined, this.parts.clock.now());
    return (await this.parts.database.query(statement)).length > 0;
  }

  /**
   * Accepts an invitation, as a new person or as one who proves who they are by their password. Gives the person. Throws OBJECT_NOT_FOUND (no
   * such invitation, or over), VALIDATION_ERROR, UNAUTHORIZED (there is such a person, with another password), RATE_LIMITED.
   */
  async accept(token: string, given: NewPerson, origin: Origin): Promise<{ personId: string; merchantId: string }> {
    const email = given.email.toLowerCase();
    const attempt = { email, address: origin.address };
    await this.throttle.check(attempt);
    // Before anything is said of an e-mail address: only who was invited learns that there is an account by it.
    if (!(await this.invitationOf(token))) throw noInvitation();
    const [row] = await this.parts.database.query(selectPersonByEmail(email));
    const known = row && personOfRow(row);
    if (known && !(await isPassword(given.password, known.passwordHash))) {
      await this.refused(attempt, known.personId, "sign_in_failed");
      throw new Fault("UNAUTHORIZED", { message: "You have an account by this e-mail address: send its password." });
    }
    if (!known) await this.refuseBadPassword("password", given.password, { email, name: given.name });
    const passwordHash = known ? "" : await hashPassword(given.password);
    const now = this.parts.clock.now();
    const accepted = await this.parts.database.transaction(async (query) => {
      const [found] = await query(lockInvitation(sha256(token), now));
      const invitation = found && invitationOfRow(found);
      if (!invitation) throw noInvitation();
      if (invitation.email !== undefined && invitation.email !== email)
        throw validationFault("email", given.email, "This invitation is for another e-mail address.");
      const personId = known?.personId ?? newId("person", now);
      if (!known) {
        const made = await query(insertPerson({ personId, email, name: given.name, passwordHash, now }));
        // Somebody else took the address a moment ago: they prove who they are at the next try.
        if (made.length === 0)
          throw new Fault("UNAUTHORIZED", {
            message: "You have an account by this e-mail address: send its password.",
          });
      }
      const { merchantId, role } = invitation;
      const joined = await query(insertMembership(merchantId, personId, role, now));
      if (joined.length === 0)
        throw validationFault(
          "email",
          given.email,
          "You belong to this merchant already. An owner can change your role.",
        );
      await query(endInvitation(invitation, personId, now));
      return { personId, merchantId };
    });
    await this.note({ action: "joined", ...accepted, address: origin.address });
    return accepted;
  }

  private async refuseBadPassword(field: string, password: string, { email, name }: { email: string; name: string }) {
    const about = [email, ...email.split(/[@.]/), ...name.split(/\s+/), this.parts.serviceName];
    const objection = await objectionToPassword(password, about);
    // The value is never shown: it may be a password that is good elsewhere.
    if (objection !== undefined)
      throw new Fault("VALIDATION_ERROR", { message: objection, details: { field, value: null } });
  }

  private async known(personId: string): Promise<Person> {
    const person = await this.read(personId);
    if (!person) throw new Fault("OBJECT_NOT_FOUND", { message: "No such person." });
    return person;
  }

  private openTotp(personId: string, sealed: Buffer): Buffer {
    return Buffer.from(this.parts.vault.open(sealed, totpOwner(personId)), "base64");
  }

  private async note(
    entry: Pick<PeopleAuditEntry, "action"> & Partial<Omit<PeopleAuditEntry, "action" | "at">>,
  ): Promise<void> {
    const now = this.parts.clock.now();
    const { action, personId, merchantId, address, details } = entry;
    const whole: PeopleAuditEntry = { at: now, action, personId, merchantId, address: address?.slice(0, 60), details };
    await this.parts.database.query(insertPeopleAudit(newId("request", now), whole));
  }
}

function totpOwner(personId: string): string {
  return `totp/${personId}`;
}

/** Recovery codes are typed by hand: case and dashes do not matter. */
function recoveryDigest(personId: string, code: string): Buffer {
  return digestOf("recovery", personId, code.toLowerCase().replaceAll(/[^0-9a-z]/g, ""));
}

function alreadyThere(): Fault {
  return validationFault("authenticator", undefined, "There is an authenticator already. Remove it first.");
}

function noInvitation(): Fault {
  return new Fault("OBJECT_NOT_FOUND", {
    message: "This invitation does not exist, is over, or was accepted already.",
  });
}
