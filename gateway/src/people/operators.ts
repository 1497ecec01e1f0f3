// Persons who are operators of the console, their roles and invitations. These writes are rare, so they bypass the lanes that batch commands.
import { randomBytes } from "node:crypto";
import { type Micros, SECOND } from "../ground/clock.ts";
import { sha256 } from "../ground/crypto.ts";
import { validationFault } from "../ground/fault.ts";
import { isId, newId } from "../ground/ids.ts";
import { type PeopleParts, noteAccess } from "./access-audit.ts";
import { lockedPerson } from "./locked-person.ts";
import { type Admitted, type NewPerson, admit, checkInvitee, noInvitation } from "./invitees.ts";
import type { OperatorRole } from "./operator-roles.ts";
import {
  OPERATORS_MAX,
  type OperatorInvitation,
  type OperatorPerson,
  deleteOperator,
  endConsoleSessions,
  endOperatorInvitation,
  insertOperator,
  insertOperatorInvitation,
  operatorInvitationOfRow,
  operatorOfRow,
  selectOperator,
  selectOperatorInvitation,
  selectOperatorInvitations,
  selectOperators,
  takeOperatorInvitationTurn,
  updateOperatorRole,
} from "./operators.sql.ts";
import type { Needs, Proofs } from "./proofs.ts";
import type { Origin } from "./sessions.ts";

const INVITATION_LASTS: Micros = 3 * 24 * 3600 * SECOND;

export class Operators {
  private readonly parts: PeopleParts;
  private readonly proofs: Proofs;

  constructor(parts: PeopleParts, proofs: Proofs) {
    this.parts = parts;
    this.proofs = proofs;
  }

  /** All operators, those added first at the top. */
  async list(): Promise<OperatorPerson[]> {
    return (await this.parts.database.query(selectOperators)).map(operatorOfRow);
  }

  /** A person as an operator; undefined when the person is none. */
  async read(personId: string): Promise<OperatorPerson | undefined> {
    return this.parts.database.first(selectOperator(personId), operatorOfRow);
  }

  /** Makes a person an operator. False when the person is one already. `by`: a token's name, an operator's e-mail address, or `command-line`. */
  async add(personId: string, role: OperatorRole, by: string): Promise<boolean> {
    const now = this.parts.clock.now();
    return (await this.parts.database.query(insertOperator({ personId, role, by, now }))).length > 0;
  }

  /** Changes an operator's role, with effect from the operator's next request. False when there is no such operator. */
  async changeRole(personId: string, role: OperatorRole): Promise<boolean> {
    if (!isId("person", personId)) return false;
    return (await this.parts.database.query(updateOperatorRole(personId, role))).length > 0;
  }

  /** Removes an operator, and ends all console sessions of the person. False when there is no such operator. */
  async remove(personId: string): Promise<boolean> {
    if (!isId("person", personId)) return false;
    const now = this.parts.clock.now();
    return this.parts.database.transaction(async (query) => {
      await lockedPerson(query, personId);
      const removed = await query(deleteOperator(personId));
      await query(endConsoleSessions(personId, now));
      return removed.length > 0;
    });
  }

  /** Makes an invitation. Gives the token of its link, shown only now. Throws VALIDATION_ERROR at OPERATORS_MAX operators and open invitations. */
  async invite(
    { role, email }: { role: OperatorRole; email?: string | undefined },
    by: string,
  ): Promise<{ token: string; invitation: OperatorInvitation }> {
    const now = this.parts.clock.now();
    const token = randomBytes(32).toString("base64url");
    const invitation: OperatorInvitation = {
      invitationId: newId("invitation", now),
      role,
      email: email?.toLowerCase(),
      by,
      expiresAt: now + INVITATION_LASTS,
    };
    const made = await this.parts.database.transaction(async (query) => {
      await query(takeOperatorInvitationTurn);
      return query(insertOperatorInvitation({ ...invitation, tokenDigest: sha256(token), now }));
    });
    if (made.length === 0)
      throw validationFault(
        "email",
        email,
        `There are at most ${OPERATORS_MAX} operators, with those who are invited. Take somebody out first.`,
      );
    return { token, invitation };
  }

  /** Open invitations, newest first. */
  async invitations(): Promise<OperatorInvitation[]> {
    const rows = await this.parts.database.query(selectOperatorInvitations(this.parts.clock.now()));
    return rows.map(operatorInvitationOfRow);
  }

  /** The open invitation that a link's token belongs to. */
  async invitationOf(token: string): Promise<OperatorInvitation | undefined> {
    return this.parts.database.first(
      selectOperatorInvitation(sha256(token), this.parts.clock.now()),
      operatorInvitationOfRow,
    );
  }

  /** Revokes an invitation. False when it does not exist, or was accepted or revoked before. */
  async takeBack(invitationId: string): Promise<boolean> {
    if (!isId("invitation", invitationId)) return false;
    const ended = endOperatorInvitation(invitationId, undefined, this.parts.clock.now());
    return (await this.parts.database.query(ended)).length > 0;
  }

  /**
   * Accepts an invitation. The caller becomes a new person, or proves to be a known one as at a sign-in. Gives the person, or the factor that is
   * still needed. Throws OBJECT_NOT_FOUND (no such open invitation), VALIDATION_ERROR, UNAUTHORIZED, RATE_LIMITED.
   */
  async accept(token: string, given: NewPerson, origin: Origin): Promise<Admitted | Needs> {
    // The invitation is checked first: without one, a caller must not learn whether an e-mail address has an account.
    const invitation = await this.invitationOf(token);
    if (!invitation) throw noInvitation();
    const invitee = await checkInvitee(this.parts, this.proofs, invitation, given, origin);
    if ("needs" in invitee) return invitee;
    const now = this.parts.clock.now();
    const joined = await this.parts.database.transaction(async (query) => {
      const [found] = await query(selectOperatorInvitation(sha256(token), now, "for no key update of i"));
      if (!found) throw noInvitation();
      const { invitationId, role, by } = operatorInvitationOfRow(found);
      const someone = await admit(query, invitee, now);
      if ((await query(insertOperator({ personId: someone.personId, role, by, now }))).length === 0)
        throw validationFault("email", given.email, "You are an operator already. An admin can change your role.");
      await query(endOperatorInvitation(invitationId, someone.personId, now));
      return someone;
    });
    await noteAccess(this.parts, {
      action: "became_operator",
      personId: joined.personId,
      address: origin.address,
      details: { role: invitation.role, by: invitation.by },
    });
    return joined;
  }
}
