// Who is signed in: the person, their session, what they belong to and may do, and what the service says about itself.
import { type QueryClient, hashKey, useQuery, useQueryClient } from "@tanstack/react-query";
import { Api } from "./client.ts";
import type { Schema } from "./types.ts";

export type Membership = Schema<"Membership">;
export type Person = Schema<"Person">;
export type SessionView = Schema<"SessionView">;

/** The API of a person, about no merchant. */
export const personApi = new Api();

export const sessionQuery = personApi.read("/v1/session");

/** Undefined while nobody knows, and where nobody is signed in. */
export function useSession(): SessionView | undefined {
  return useQuery({ ...sessionQuery, staleTime: 60_000 }).data;
}

/** Takes over the session that has just begun. What the pages knew was for whoever was there before. */
export function beginSession(queries: QueryClient, session: SessionView): void {
  const key = hashKey(sessionQuery.queryKey);
  if (queries.getQueryData(sessionQuery.queryKey)?.person.person_id !== session.person.person_id)
    queries.removeQueries({ predicate: ({ queryHash }) => queryHash !== key });
  queries.setQueryData(sessionQuery.queryKey, session);
}

/** Shows the session as the service has it now. */
export function useKeepSession(): (session: SessionView) => void {
  const queries = useQueryClient();
  return (session) => void queries.setQueryData(sessionQuery.queryKey, session);
}
