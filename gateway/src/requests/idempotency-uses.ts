// What became of each request of one idempotency key: which one was answered, which were replays, conflicts, or refused before. Pure.
import { Fault, type FaultCode, faultCodes } from "../ground/fault.ts";
import type { WholeRequest } from "./requests.sql.ts";

export const useOutcomes = ["answered", "replayed", "conflict", "in_progress", "refused"] as const;
export type UseOutcome = (typeof useOutcomes)[number];

/** `answered`: it ran, and its answer is the one that is stored. `refused`: nothing was stored, and the same key is free for another try. */
export function outcomeOf({ replayed, code, status }: Pick<WholeRequest, "replayed" | "code" | "status">): UseOutcome {
  if (replayed) return "replayed";
  if (code === "IDEMPOTENCY_CONFLICT") return "conflict";
  if (code === "IDEMPOTENCY_IN_PROGRESS" || code === "GATEWAY_TIMEOUT") return "in_progress";
  if (status < 400) return "answered";
  return isCode(code) && new Fault(code).stored ? "answered" : "refused";
}

const isCode = (code: string | undefined): code is FaultCode => faultCodes.some((known) => known === code);

/**
 * Whether a request had the bytes of the one that the key is bound to; undefined where that is not known. `bound`: the digest on record, or
 * else that of the request that was answered.
 */
export function hasSameBytes(use: WholeRequest, bound: Buffer | undefined): boolean | undefined {
  return use.requestDigest && bound ? use.requestDigest.equals(bound) : undefined;
}

/** The digest that a key is bound to as far as the log knows. */
export function boundDigest(uses: readonly WholeRequest[]): Buffer | undefined {
  return uses.find((use) => outcomeOf(use) === "answered")?.requestDigest;
}
