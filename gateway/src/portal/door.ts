// Authorization in the portal: the merchant and environment that a request is for, and the member's rights there.
import type { FastifyReply, FastifyRequest } from "fastify";
import { PersonDoor, type PersonDoorParts, headerOf, notSignedIn } from "../access/door.ts";
import type { Admitted } from "../auth/admission.ts";
import { Fault, validationFault } from "../ground/fault.ts";
import { isId } from "../ground/ids.ts";
import type { Edge } from "../http/edge.ts";
import { environments } from "../merchants/books.ts";
import type { Directory, Merchant, Principal } from "../merchants/directory.ts";
import { type Action, type MemberRole, actionsOf } from "../people/roles.ts";
import { secondFactorOf } from "../people/second-factors.ts";
import type { SignedIn } from "../people/sessions.ts";

interface DoorParts extends PersonDoorParts {
  directory: Directory;
  edge: Edge;
  ownersNeedSecondFactor: boolean;
}

/** A member of a merchant, in one of its environments. */
export interface Member extends SignedIn {
  role: MemberRole;
  merchant: Merchant;
  principal: Principal;
}

export class Door extends PersonDoor {
  private readonly parts: DoorParts;

  constructor(parts: DoorParts) {
    super(parts);
    this.parts = parts;
  }

  /**
   * The member who sent a request. The principal's actor is the person, so each member has a rate limit of their own. Throws UNAUTHORIZED, VALIDATION_ERROR
   * (a header is missing), OBJECT_NOT_FOUND (the person is no member of the merchant), SECOND_FACTOR_REQUIRED.
   */
  async member(request: FastifyRequest): Promise<Member> {
    const merchantId = headerOf(request, "x-merchant-id");
    const known = merchantId !== undefined && isId("merchant", merchantId) ? merchantId : undefined;
    const signedIn = await this.person(request, known);
    if (merchantId === undefined) throw missingHeader("X-Merchant-Id", "the merchant that you act for");
    const named = headerOf(request, "x-environment");
    const environment = environments.find((one) => one === named);
    if (!environment) throw missingHeader("X-Environment", "sandbox or production");
    const { role } = signedIn;
    const merchant = known === undefined || !role ? undefined : await this.parts.directory.merchant(known);
    if (!merchant || !role) throw noMembership();
    if (role === "owner" && this.parts.ownersNeedSecondFactor && secondFactorOf(signedIn.person) === undefined)
      throw new Fault("SECOND_FACTOR_REQUIRED");
    const scopes = actionsOf(role, environment);
    const book = { merchantId: merchant.merchantId, environment };
    return {
      ...signedIn,
      role,
      merchant,
      principal: { actor: signedIn.person.personId, merchant, book, scopes },
    };
  }

  /**
   * Checks the member of a request that takes minutes again: the session must still be open (its token may be new), and the current role must allow the
   * action. Throws UNAUTHORIZED, OBJECT_NOT_FOUND, FORBIDDEN, MERCHANT_SUSPENDED.
   */
  async refuseUnlessStill({ session, principal, merchant }: Member, action: Action): Promise<void> {
    const { merchantId } = merchant;
    const { sessions, directory } = this.parts;
    const [role] = await sessions.roles([{ sessionId: session.sessionId, merchantId }]);
    if (!role) {
      if ((await directory.merchant(merchantId))?.suspended) throw new Fault("MERCHANT_SUSPENDED");
      const lasts = (await sessions.list(session.personId)).some(({ sessionId }) => sessionId === session.sessionId);
      throw lasts ? noMembership() : notSignedIn();
    }
    const scopes = actionsOf(role, principal.book.environment);
    this.refuseUnlessAllowed({ principal: { ...principal, scopes }, role }, action);
  }

  /** Counts a member's request against the rate limit. Throws MERCHANT_SUSPENDED, RATE_LIMITED. */
  enter({ principal }: Member, reply: FastifyReply): Promise<Admitted> {
    return this.parts.edge.enterAs(principal, reply);
  }

  /** Throws FORBIDDEN when the member's role does not allow the action in the request's environment. */
  refuseUnlessAllowed({ principal, role }: Pick<Member, "principal" | "role">, action: Action): void {
    const { scopes, book } = principal;
    if (scopes.has(action)) return;
    throw new Fault("FORBIDDEN", {
      message: `Your role, ${role}, does not allow this in ${book.environment}. An owner can change your role.`,
      details: { role, action, environment: book.environment },
    });
  }
}

const noMembership = (): Fault => new Fault("OBJECT_NOT_FOUND", { message: "You belong to no such merchant." });

function missingHeader(name: string, meaning: string): Fault {
  return validationFault(name, undefined, `Send the header ${name}, once: ${meaning}.`);
}
