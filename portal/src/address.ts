// The address bar, as pages read and change it. Addresses are the ones of paths.ts, without /portal.
import { useNavigate, useParams, useRouterState, useSearch } from "@tanstack/react-router";
import { useCallback } from "react";

export type Search = Readonly<Record<string, string | undefined>>;

/** The part of the address that the route calls so: `usePart("uuid")`. */
export function usePart(name: string): string {
  const part = useParts()[name];
  if (part === undefined) throw new Error(`the address of this page has no ${name}`);
  return part;
}

export function useParts(): Search {
  return useParams({ strict: false });
}

/** What stands behind the question mark. */
export function useQueryText(): Search {
  return useSearch({ strict: false });
}

/** The address without its query. */
export function usePathname(): string {
  return useRouterState({ select: ({ location }) => location.pathname });
}

interface How {
  /** The page before is forgotten: back leads to the one before it. */
  replace?: boolean;
  /** Kept with this entry of the history. */
  state?: object;
}

/** Goes to an address: `go(paths.refunds(place))`, with a query or not. */
export function useGo(): (to: string, how?: How) => Promise<void> {
  const navigate = useNavigate();
  return useCallback(
    (to, how = {}) => {
      const [path, query] = to.split("?");
      return navigate({ to: path, search: searchOf(query), ...how } as never);
    },
    [navigate],
  );
}

/** Changes the query of the address and stays on the page. Undefined and empty ones are left out. */
export function useSetQuery(): (search: Search, how?: How) => void {
  const navigate = useNavigate();
  return useCallback(
    (search, how = {}) => {
      const set = Object.entries(search).filter(([, value]) => value !== undefined && value !== "");
      void navigate({ to: ".", search: Object.fromEntries(set), ...how } as never);
    },
    [navigate],
  );
}

export function searchOf(query: string | undefined): Record<string, string> {
  return Object.fromEntries(new URLSearchParams(query ?? ""));
}
