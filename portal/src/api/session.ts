// The session: the signed-in person, their merchants and rights, and facts about the service.
import { type QueryClient, hashKey, useQuery, useQueryClient } from "@tanstack/react-query";
import { Api } from "./client.ts";
import type { Schema } from "./types.ts";

export type Membership = Schema<"Membership">;
export type Person = Schema<"Person">;
export type SessionView = Schema<"SessionView">;

/** The API without a place. */
export const personApi = new Api();

export const sessionQuery = personApi.read("/v1/session");

/** Undefined while the session is being fetched, and when nobody is signed in. */
export function useSession(): SessionView | undefined {
  return useQuery({ ...sessionQuery, staleTime: 60_000 }).data;
}

/** Adopts a new session. When the person differs, all cached answers are removed. */
export function beginSession(queries: QueryClient, session: SessionView): void {
  const key = hashKey(sessionQuery.queryKey);
  if (queries.getQueryData(sessionQuery.queryKey)?.person.person_id !== session.person.person_id)
    queries.removeQueries({ predicate: ({ queryHash }) => queryHash !== key });
  queries.setQueryData(sessionQuery.queryKey, session);
}

/** Puts a session from the service's answer into the cache. */
export function useKeepSession(): (session: SessionView) => void {
  const queries = useQueryClient();
  return (session) => void queries.setQueryData(sessionQuery.queryKey, session);
}
