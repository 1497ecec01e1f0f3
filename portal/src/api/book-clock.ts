// The clock of the page's book: a sandbox's clock may be ahead of real time.
import { useQuery } from "@tanstack/react-query";
import { useApi, useCan, usePlace } from "./place.ts";

/**
 * Milliseconds by which the book's clock is ahead of this machine's. Undefined as long as that is not known: until the service has answered, and
 * for a person who may not see the sandbox's clock.
 */
export function useAheadMs(): number | undefined {
  const api = useApi();
  const can = useCan();
  const { environment } = usePlace();
  const isReal = environment === "production";
  const { data } = useQuery({ ...api.read("/v1/sandbox/clock"), enabled: !isReal && can("sandbox:write") });
  if (isReal) return 0;
  return data && data.offset_seconds * 1000;
}
