// The clock of the page's book: a sandbox's clock may be ahead of real time.
import { useQuery } from "@tanstack/react-query";
import { useApi, useCan, usePlace } from "./place.ts";

/** Milliseconds by which the book's clock is ahead of this machine's; zero when the person may not see the sandbox's clock. */
export function useAheadMs(): number {
  const api = useApi();
  const can = useCan();
  const { environment } = usePlace();
  const enabled = environment === "sandbox" && can("sandbox:write");
  const { data } = useQuery({ ...api.read("/v1/sandbox/clock"), enabled });
  return enabled && data ? data.offset_seconds * 1000 : 0;
}
