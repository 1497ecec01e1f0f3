// The outcome of each request of one idempotency key: answered, replayed, in conflict, in progress or refused. Pure.
import { Fault, type FaultCode, faultCodes } from "../ground/fault.ts";
import type { WholeRequest } from "./requests.sql.ts";

export const useOutcomes = ["answered", "replayed", "conflict", "in_progress", "refused"] as const;
type UseOutcome = (typeof useOutcomes)[number];

/** `answered`: the request ran, and its answer is stored with the key. `refused`: nothing was stored, so the key can be used for another try. */
export function outcomeOf({ replayed, code, status }: Pick<WholeRequest, "replayed" | "code" | "status">): UseOutcome {
  if (replayed) return "replayed";
  if (code === "IDEMPOTENCY_CONFLICT") return "conflict";
  if (code === "IDEMPOTENCY_IN_PROGRESS" || code === "GATEWAY_TIMEOUT") return "in_progress";
  if (status < 400) return "answered";
  return isCode(code) && new Fault(code).stored ? "answered" : "refused";
}

const isCode = (code: string | undefined): code is FaultCode => faultCodes.some((known) => known === code);

/** Whether a request's body has the bytes of the one that its key is bound to (`bound`, by digest); undefined when a digest is missing. */
export function hasSameBytes(use: WholeRequest, bound: Buffer | undefined): boolean | undefined {
  return use.requestDigest && bound ? use.requestDigest.equals(bound) : undefined;
}

/** The body digest that a key is bound to according to the log: that of the answered request. */
export function boundDigest(uses: readonly WholeRequest[]): Buffer | undefined {
  return uses.find((use) => outcomeOf(use) === "answered")?.requestDigest;
}
