// What an endpoint of /ops/v1 is: its path, the least role that may call it, its shapes, and what it does.
import type { z } from "zod";
import type { Reply } from "../ground/reply.ts";
import type { FieldRules } from "../http/fields.ts";
import type { Described, Examples } from "../http/openapi.ts";
import type { Minor } from "../ground/money.ts";
import type { ApprovalAction, Foreseen } from "./approval.ts";
import type { Operator } from "./known-tokens.ts";
import type { OperatorRole } from "../people/operator-roles.ts";

/** A request of an authenticated operator whose query and body passed their rules. */
export interface OperatorCall<Body = unknown, Query = unknown> {
  /** Parts of the path by name, as sent: an identity may be malformed, and is "not found" then. */
  params: Readonly<Record<string, string>>;
  body: Body;
  query: Query;
  requestId: string;
  /** Whose token or session it came with. */
  operator: Operator;
  /**
   * For what goes on after its answer: whether they may still ask for it. Throws SERVICE_UNAVAILABLE when it cannot be found out. Undefined of a change that
   * runs after an approval.
   */
  stands?: (() => Promise<boolean>) | undefined;
  /** What its `Idempotency-Key` is bound to, of a keyed endpoint; of another one the approval that it runs after, and nothing else. */
  keyed: KeyedRequest | undefined;
  /** Up to so much it needed no second operator. Whoever adds up more in the lane refuses it: others may have come at the same moment. */
  freeUpToMinor?: Minor | undefined;
}

/** A change that a policy can demand a second operator for. */
export interface Approvable<Body, Query> {
  action: ApprovalAction;
  /** What it would do as things stand; undefined of one that never needs anybody else. Throws what the change itself would be refused with. */
  foresee(call: OperatorCall<Body, Query>): Promise<Foreseen | undefined>;
  /**
   * Of a change that is not kept under its key with what it does: the answer when it has happened, undefined when it has not. It is asked when the
   * process that ran it said nothing more.
   */
  lookUp?(call: OperatorCall<Body, Query>): Promise<Reply | undefined>;
}

/** A change that happens once for its key. */
export interface KeyedRequest {
  /** As sent. */
  key: string;
  /** Method and path. */
  endpoint: string;
  bodyDigest: Buffer;
}

export interface OperatorEndpoint<Body = unknown, Query = unknown> extends Described {
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** The least role that may call it. */
  role: OperatorRole;
  /** True for a POST that only computes something. Everything else but GET is a change, and is written into the audit. */
  changesNothing?: true;
  /** True for a change that needs an `Idempotency-Key`, by the rules of section 4.11. */
  keyed?: true;
  /** Set for a change that a policy can demand a second operator for. */
  approval?: Approvable<Body, Query>;
  /** Without it whatever is sent as a body is ignored. No body at all means an empty object, where that is one. */
  body?: FieldRules<Body> | z.ZodType<Body>;
  /** Without it no query parameter is accepted. */
  query?: z.ZodType<Query>;
  /** Bodies for the contract; the example of the body's schema when absent. */
  bodyExamples?: Examples;
  handle(call: OperatorCall<Body, Query>): Promise<Reply>;
}

/** Keeps the types of body and query inside one definition and forgets them outside. */
export function operatorEndpoint<Body, Query>(endpoint: OperatorEndpoint<Body, Query>): OperatorEndpoint {
  return endpoint;
}

/** True when a call is written into the audit. */
export function isChange(endpoint: OperatorEndpoint): boolean {
  return endpoint.method !== "GET" && endpoint.changesNothing !== true;
}

/**
 * True where a person who is signed in proves again who they are when they last did so more than ten minutes ago: for what admins alone may
 * change (it moves money, opens a door or changes a setting), and for approving it.
 */
export function needsFreshProof(endpoint: OperatorEndpoint): boolean {
  return isChange(endpoint) && (endpoint.role === "admin" || endpoint.operationId === "approveApproval");
}
