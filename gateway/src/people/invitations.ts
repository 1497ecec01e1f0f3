// Invitations of persons, new or known, to join a merchant. These writes are rare, so they bypass the lanes that batch commands.
import { randomBytes } from "node:crypto";
import { type Micros, SECOND } from "../ground/clock.ts";
import { sha256 } from "../ground/crypto.ts";
import { Fault, validationFault } from "../ground/fault.ts";
import { isId, newId } from "../ground/ids.ts";
import { type PeopleParts, noteAccess } from "./access-audit.ts";
import {
  INVITED_PER_DAY_MAX,
  type Invitation,
  TEAM_MAX,
  endInvitation,
  insertInvitation,
  invitationOfRow,
  selectInvitation,
  selectInvitations,
  takeInvitationTurn,
} from "./invitations.sql.ts";
import { type Admitted, type NewPerson, admit, checkInvitee, noInvitation } from "./invitees.ts";
import { insertMembership } from "./people.sql.ts";
import type { Needs, Proofs } from "./proofs.ts";
import type { MemberRole } from "./roles.ts";
import type { Origin } from "./sessions.ts";

const INVITATION_LASTS: Micros = 7 * 24 * 3600 * SECOND;

export interface Joined extends Admitted {
  merchantId: string;
}

export class Invitations {
  private readonly parts: PeopleParts;
  private readonly proofs: Proofs;

  constructor(parts: PeopleParts, proofs: Proofs) {
    this.parts = parts;
    this.proofs = proofs;
  }

  /**
   * Makes an invitation to join a merchant. Gives the token of its link, which is never shown again. `invitedBy` undefined: the operator invites. Throws
   * VALIDATION_ERROR at TEAM_MAX members and open invitations or INVITED_PER_DAY_MAX invitations in a day, OBJECT_NOT_FOUND (no such merchant).
   */
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
    await this.inserted({ ...invitation, tokenDigest: sha256(token), invitedBy, now });
    const details = { role, email: invitation.email ?? null };
    await noteAccess(this.parts, { action: "invited", personId: invitedBy, merchantId, details });
    return { token, invitation };
  }

  private async inserted(made: Parameters<typeof insertInvitation>[0]): Promise<void> {
    try {
      const inserted = await this.parts.database.transaction(async (query) => {
        await query(takeInvitationTurn(made.merchantId));
        return query(insertInvitation(made));
      });
      if (inserted.length > 0) return;
    } catch (error) {
      if ((error as { constraint?: unknown }).constraint !== "invitations_merchant_id_fkey") throw error;
      throw new Fault("OBJECT_NOT_FOUND", { message: "There is no such merchant." });
    }
    const message = `A team has at most ${TEAM_MAX} people, with those who are invited, and invites at most ${INVITED_PER_DAY_MAX} in a day.`;
    throw validationFault("email", made.email, message);
  }

  /** Open invitations of a merchant, newest first. */
  async list(merchantId: string): Promise<Invitation[]> {
    const rows = await this.parts.database.query(selectInvitations(merchantId, this.parts.clock.now()));
    return rows.map(invitationOfRow);
  }

  /** The open invitation that a link's token belongs to. */
  async find(token: string): Promise<Invitation | undefined> {
    return this.parts.database.first(selectInvitation(sha256(token), this.parts.clock.now()), invitationOfRow);
  }

  /** Revokes an invitation. False when it does not exist, or was accepted or revoked before. */
  async takeBack(merchantId: string, invitationId: string): Promise<boolean> {
    if (!isId("invitation", invitationId)) return false;
    const statement = endInvitation({ merchantId, invitationId }, undefined, this.parts.clock.now());
    return (await this.parts.database.query(statement)).length > 0;
  }

  /**
   * Accepts an invitation. The caller becomes a new person, or proves to be a known one as at a sign-in. Gives the person and the merchant, or the
   * factor that is still needed. Throws OBJECT_NOT_FOUND (no such open invitation), VALIDATION_ERROR, UNAUTHORIZED (the e-mail address belongs to a
   * person, and the password or code is not theirs), RATE_LIMITED.
   */
  async accept(token: string, given: NewPerson, origin: Origin): Promise<Joined | Needs> {
    // The invitation is checked first: without one, a caller must not learn whether an e-mail address has an account.
    const invitation = await this.find(token);
    if (!invitation) throw noInvitation();
    const invitee = await checkInvitee(this.parts, this.proofs, invitation, given, origin);
    if ("needs" in invitee) return invitee;
    const now = this.parts.clock.now();
    const email = given.email.toLowerCase();
    const joined = await this.parts.database.transaction(async (query) => {
      const [found] = await query(selectInvitation(sha256(token), now, "for no key update of i"));
      if (!found) throw noInvitation();
      const { merchantId, invitationId, role } = invitationOfRow(found);
      const { personId, stands } = await admit(query, invitee, now);
      if ((await query(insertMembership(merchantId, personId, role, now))).length === 0)
        throw validationFault("email", email, "You belong to this merchant already. An owner can change your role.");
      await query(endInvitation({ merchantId, invitationId }, personId, now));
      return { personId, stands, merchantId };
    });
    const { personId, merchantId } = joined;
    await noteAccess(this.parts, { action: "joined", personId, merchantId, address: origin.address });
    return joined;
  }
}
