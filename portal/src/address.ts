// Hooks that read and change the address bar. Addresses are those of paths.ts, without /portal.
import { useNavigate, useParams, useRouterState, useSearch } from "@tanstack/react-router";
import { useCallback } from "react";

export type Search = Readonly<Record<string, string | undefined>>;

/** A path parameter of the route: `usePart("uuid")`. Throws when the address has no such part. */
export function usePart(name: string): string {
  const part = useParts()[name];
  if (part === undefined) throw new Error(`the address of this page has no ${name}`);
  return part;
}

export function useParts(): Search {
  return useParams({ strict: false });
}

/** The query parameters of the address, as texts. */
export function useQueryText(): Search {
  return useSearch({ strict: false });
}

export function usePathname(): string {
  return useRouterState({ select: ({ location }) => location.pathname });
}

/** The path of the page that is shown: that of the address bar changes while the page before is still there. */
export function useShownPath(): string | undefined {
  return useRouterState({ select: ({ resolvedLocation }) => resolvedLocation?.pathname });
}

interface How {
  /** Replaces the current entry of the browser's history, so that back skips it. */
  replace?: boolean;
  /** State to keep with the entry of the history. */
  state?: object;
  /** Leaves what is shown once without asking whether it is kept. */
  ignoreBlocker?: boolean;
}

/** Goes to an address, which may have a query: `go(paths.refunds(place))`. */
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

/** Changes the query of the address and stays on the page. Undefined and empty parameters are left out. */
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
