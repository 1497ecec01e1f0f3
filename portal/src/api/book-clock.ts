// The clock of the book that a page is about: a sandbox's may be ahead of real time.
import { useQuery } from "@tanstack/react-query";
import { useApi, useCan, usePlace } from "./place.ts";

/** Milliseconds that deadlines of the book are nearer than this machine's clock says. Nothing for who may not see the sandbox's clock. */
export function useAheadMs(): number {
  const api = useApi();
  const can = useCan();
  const { environment } = usePlace();
  const enabled = environment === "sandbox" && can("sandbox:write");
  const { data } = useQuery({ ...api.read("/v1/sandbox/clock"), enabled });
  return enabled && data ? data.offset_seconds * 1000 : 0;
}
