// Finds the operator of a console session, and accepts changes only from our own pages.
import type { FastifyReply, FastifyRequest } from "fastify";
import { PersonDoor, type PersonDoorParts, notSignedIn } from "../access/door.ts";
import { Fault } from "../ground/fault.ts";
import type { Operators } from "../people/operators.ts";
import { secondFactorOf } from "../people/second-factors.ts";
import type { OperatorRole } from "../people/operator-roles.ts";
import { type OperatorEndpoint, needsFreshProof } from "./endpoint.ts";
import type { Operator } from "./known-tokens.ts";

export interface ConsoleDoorParts extends PersonDoorParts {
  operators: Pick<Operators, "read">;
  operatorsNeedSecondFactor: boolean;
}

export class ConsoleDoor extends PersonDoor {
  private readonly parts: ConsoleDoorParts;
  /** Whose session a request came in by. A fresh proof gives the session another token while an answer is being sent. */
  private readonly sessions = new WeakMap<FastifyRequest, { personId: string; sessionId: string }>();

  constructor(parts: ConsoleDoorParts) {
    super(parts);
    this.parts = parts;
  }

  /**
   * The operator of the request's session, counted against their own rate limit. Throws UNAUTHORIZED, FORBIDDEN (a change that did not come from our pages),
   * RATE_LIMITED, SECOND_FACTOR_REQUIRED, PROOF_REQUIRED.
   */
  async operator(request: FastifyRequest, reply: FastifyReply, endpoint: OperatorEndpoint): Promise<Operator> {
    if (endpoint.method !== "GET") this.refuseForeign(request);
    const signedIn = await this.person(request);
    const { person, session } = signedIn;
    this.sessions.set(request, { personId: person.personId, sessionId: session.sessionId });
    const operator = await this.parts.operators.read(person.personId);
    // The person is no longer an operator; their sessions are about to end.
    if (!operator) throw notSignedIn();
    this.enterAlone(signedIn, reply);
    if (this.parts.operatorsNeedSecondFactor && secondFactorOf(person) === undefined)
      throw new Fault("SECOND_FACTOR_REQUIRED");
    if (needsFreshProof(endpoint)) this.refuseUnlessFresh(signedIn);
    const { personId: id, email: name, role } = operator;
    return { kind: "person", id, name, role, expiresAt: undefined };
  }

  /** The role of the session's operator, or undefined when they lost access. Checked while an answer is still being sent. */
  async roleOf(request: FastifyRequest): Promise<OperatorRole | undefined> {
    const { personId = "", sessionId } = this.sessions.get(request) ?? {};
    const lasts = (await this.parts.sessions.list(personId)).some((session) => session.sessionId === sessionId);
    return lasts ? (await this.parts.operators.read(personId))?.role : undefined;
  }
}
