// How an acquirer does over a period, asked for again while the page is open, and how its figures are written.
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { type Schema, read } from "../../api/client.ts";
import type { Period } from "../wall/live.ts";

export type MethodHealth = Schema<"AcquirerMethodHealth">;

const ASK_MS = 10_000;

export function useHealth(code: string, period: Period) {
  return useQuery({
    ...read("/v1/acquirers/{gateway_code}/health", { path: { gateway_code: code }, query: { period } }),
    placeholderData: keepPreviousData,
    refetchInterval: ASK_MS,
  });
}

/** Payments that came to their end, but for canceled ones. */
export const endedOf = ({ total }: MethodHealth): number =>
  total.succeeded + total.failed + total.rejected + total.expired;

/** One that is not called over a network has neither a circuit nor calls. */
export const isCalled = (method: MethodHealth): boolean => method.circuit !== null || method.calls_in_all > 0;
