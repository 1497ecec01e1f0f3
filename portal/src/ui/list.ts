// Lists of the API: the cursor is in the address, and the previous rows stay while the next ones are fetched.
import { type UseQueryOptions, type UseQueryResult, useQuery } from "@tanstack/react-query";
import { useRouterState } from "@tanstack/react-router";
import { useQueryText, useSetQuery } from "../address.ts";
import type { ApiError } from "../api/error.ts";

export interface ListOf<Row> {
  data: Row[];
  has_more: boolean;
  next_cursor: string | null;
}

export interface Cursor {
  /** The cursor's part of the query: `{ query: { ...filters.value, ...cursor.query } }`. */
  query: { limit: number; starting_after?: string | undefined };
  /** Whether this is the first page. */
  isFirst: boolean;
  older(next: string): void;
  newer(): void;
}

const ROWS = 25;

/** The list's position in the address: `?after=` is the cursor, so that a page of a list can be shared. */
export function useCursor(limit = ROWS): Cursor {
  const search = useQueryText();
  const setQuery = useSetQuery();
  // The cursors of the previous pages, for the way back. A visitor from a link has none and goes back to the newest rows.
  const trail = useRouterState({ select: ({ location }) => (location.state as { trail?: string[] }).trail ?? [] });
  const go = (after: string | undefined, state: object): void => setQuery({ ...search, after }, { state });
  return {
    query: { limit, starting_after: search.after },
    isFirst: search.after === undefined,
    older: (next) => go(next, { trail: [...trail, search.after ?? ""] }),
    newer: () => go(trail.at(-1) || undefined, { trail: trail.slice(0, -1) }),
  };
}

/** Queries a list. While another page or filter loads, the old rows stay, but never those of another merchant, environment or object. */
export function useList<Answer>(options: UseQueryOptions<Answer, ApiError>): UseQueryResult<Answer, ApiError> {
  const placeOf = (key: readonly unknown[] | undefined): string => JSON.stringify(key?.slice(0, 4));
  const placeholderData = (previous: Answer | undefined, query: { queryKey: readonly unknown[] } | undefined) =>
    placeOf(query?.queryKey) === placeOf(options.queryKey) ? previous : undefined;
  return useQuery({ ...options, placeholderData } as UseQueryOptions<Answer, ApiError>);
}
