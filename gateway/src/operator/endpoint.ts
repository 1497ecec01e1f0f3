// The definition of an endpoint of /ops/v1: its path, lowest role, schemas and handler. operator.routes.ts authenticates and dispatches its requests.
import { type Shaped, isChange } from "../access/endpoint.ts";
import type { Reply } from "../ground/reply.ts";
import type { Minor } from "../ground/money.ts";
import type { Intent } from "../idempotency/idempotency.ts";
import type { ApprovalAction, Foreseen } from "./approval.ts";
import type { Operator } from "./known-tokens.ts";
import type { OperatorRole } from "../people/operator-roles.ts";

/** A request of an authenticated operator, with a valid query and body. */
export interface OperatorCall<Body = unknown, Query = unknown> {
  /** Path parameters by name, as sent. An identity may be malformed; the handler then answers "not found". */
  params: Readonly<Record<string, string>>;
  body: Body;
  query: Query;
  requestId: string;
  /** The operator whose token or session authenticated the request. */
  operator: Operator;
  /**
   * Tells whether the operator may still call the endpoint, for answers that last (exports, event streams). Throws SERVICE_UNAVAILABLE when that cannot be
   * checked. Undefined for a change that runs after an approval.
   */
  mayStill?: (() => Promise<boolean>) | undefined;
  /** The idempotency key. On an endpoint that is not keyed: set only for a change that runs after an approval, with a key made from the approval. */
  keyed: KeyedRequest | undefined;
  /** Identity of the approval, for a change that runs after one. */
  approvalId?: string | undefined;
  /** What was approved: what is left of a payment may have grown since, and a dispute may have been answered. */
  approved?: { summary: string; amountMinor: Minor | undefined } | undefined;
  /** The amount up to which no second operator is needed. Concurrent requests may each be within it, so the lane rejects a sum above it. */
  freeUpToMinor?: Minor | undefined;
}

/** A change for which a policy can require a second operator. */
interface Approvable<Body, Query> {
  action: ApprovalAction;
  /** What the change would do now; undefined when this call never needs a second operator. Throws the error with which the change would fail. */
  foresee(call: OperatorCall<Body, Query>): Promise<Foreseen | undefined>;
  /**
   * For a change whose answer is not stored under an idempotency key: the answer when the change has happened, undefined when it has not. Called when the
   * process that ran the change recorded no outcome.
   */
  lookUp?(call: OperatorCall<Body, Query>): Promise<Reply | undefined>;
}

/** An idempotency key, as sent in the `Idempotency-Key` header or derived from the approval, with the request that it is bound to. */
export type KeyedRequest = Pick<Intent, "key" | "endpoint" | "bodyDigest">;

export interface OperatorEndpoint<Body = unknown, Query = unknown> extends Shaped<Body, Query> {
  /** The lowest role that may call the endpoint. */
  role: OperatorRole;
  /** True for a change that needs an `Idempotency-Key` (section 4.11). */
  keyed?: true;
  /** True for a request that names somebody who shall be forgotten: the audit, which is for good, keeps nothing of its body, well-formed or not. */
  namesPayer?: true;
  /** Set for a change for which a policy can require a second operator. */
  approval?: Approvable<Body, Query>;
  handle(call: OperatorCall<Body, Query>): Promise<Reply>;
}

/** Checks the types of body and query inside one definition and erases them for callers. */
export function operatorEndpoint<Body, Query>(endpoint: OperatorEndpoint<Body, Query>): OperatorEndpoint {
  return endpoint;
}

/**
 * True when a signed-in person must prove their identity again if their last proof is more than ten minutes old: for changes that only admins may make (they
 * move money, grant access or change a setting), and for approving a change.
 */
export function needsFreshProof(endpoint: OperatorEndpoint): boolean {
  return isChange(endpoint) && (endpoint.role === "admin" || endpoint.operationId === "approveApproval");
}
