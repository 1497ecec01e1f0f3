// Who is signed in: the person, their session, what they belong to and may do, and what the service says about itself.
import { useQuery } from "@tanstack/react-query";
import { Api, type Environment } from "./client.ts";

export interface Membership {
  merchant_id: string;
  merchant_name: string;
  role: "owner" | "developer" | "finance" | "support" | "viewer";
  actions: Record<Environment, string[]>;
}

export interface Person {
  person_id: string;
  email: string;
  name: string;
  language: "id" | "en" | null;
  time_zone: string | null;
  has_authenticator: boolean;
  passkeys: number;
  recovery_codes_left: number;
}

export interface SessionView {
  person: Person;
  session: { session_id: string; created_at: string; fresh_until: string };
  memberships: Membership[];
  service: {
    name: string;
    production_open: boolean;
    base_url: string;
    webhook_header_prefix: string;
    must_have_second_factor: boolean;
  };
}

/** The API of a person, about no merchant. */
export const personApi = new Api();

export const sessionQuery = personApi.readDraft<SessionView>("/v1/session");

/** Undefined while nobody knows, and where nobody is signed in. */
export function useSession(): SessionView | undefined {
  return useQuery({ ...sessionQuery, staleTime: 60_000 }).data;
}
