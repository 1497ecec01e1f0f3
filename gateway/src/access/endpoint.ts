// Definitions of endpoints for guests and for signed-in persons: path, shapes and handler.
import type { z } from "zod";
import type { Micros } from "../ground/clock.ts";
import type { FaultCode } from "../ground/fault.ts";
import type { Reply } from "../ground/reply.ts";
import type { FieldRules } from "../http/fields.ts";
import type { Described, Examples } from "../http/openapi.ts";
import type { Person } from "../people/people.sql.ts";
import type { Session } from "../people/sessions.sql.ts";
import type { Origin } from "../people/sessions.ts";

/** A request of any caller whose query and body passed the endpoint's rules. */
export interface GuestCall<Body = unknown, Query = unknown> {
  /** Path parameters by name, as sent. Handlers answer a malformed identity with "not found". */
  params: Readonly<Record<string, string>>;
  body: Body;
  query: Query;
  origin: Origin;
  /** Value of a header by its lower-case name; undefined unless it was sent exactly once. */
  header(name: string): string | undefined;
  /** The service's time, not that of a sandbox clock. */
  now: Micros;
  /** Adds a header to the answer that sets the session cookie or, with undefined, removes it. */
  setSession(token: string | undefined): void;
}

export interface PersonCall<Body = unknown, Query = unknown> extends GuestCall<Body, Query> {
  person: Person;
  session: Session;
}

export interface Shaped<Body, Query> extends Described {
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Codes besides those of every operation; when absent, an endpoint with path parameters may answer OBJECT_NOT_FOUND. */
  errors?: readonly FaultCode[];
  /** Set for a POST that only computes something. All other requests except GET are changes, which the audit records. */
  changesNothing?: true;
  /** Rules of the body. A missing body counts as an empty object, if the rules accept that. `null` never means that a field was left out. */
  body?: FieldRules<Body> | z.ZodType<Body>;
  /** Rules of the query. Without them no query parameter is accepted. */
  query?: z.ZodType<Query>;
  bodyExamples?: Examples;
}

/** An endpoint for any caller, signed in or not. */
interface GuestEndpoint<Body = unknown, Query = unknown> extends Shaped<Body, Query> {
  for: "guest";
  /** Set when programs may call the endpoint too, without the headers of a page. A browser's request must still come from one of our pages. */
  forPrograms?: true;
  handle(call: GuestCall<Body, Query>): Promise<Reply>;
}

/** An endpoint for any signed-in person, with or without a merchant. */
interface PersonEndpoint<Body = unknown, Query = unknown> extends Shaped<Body, Query> {
  for: "person";
  /** Set when the last proof of identity must be younger than ten minutes. */
  fresh?: true;
  handle(call: PersonCall<Body, Query>): Promise<Reply>;
}

export type AccessEndpoint = GuestEndpoint | PersonEndpoint;

// These functions type the handler's body and query within one definition. The results have no type parameters, so that endpoints fit in one list.

export function guestEndpoint<Body, Query>(endpoint: Omit<GuestEndpoint<Body, Query>, "for">): AccessEndpoint {
  return { for: "guest", ...endpoint } as unknown as AccessEndpoint;
}

export function personEndpoint<Body, Query>(endpoint: Omit<PersonEndpoint<Body, Query>, "for">): AccessEndpoint {
  return { for: "person", ...endpoint } as unknown as AccessEndpoint;
}

/** True when the audit records calls of the endpoint. */
export function isChange(endpoint: Pick<Shaped<unknown, unknown>, "method" | "changesNothing">): boolean {
  return endpoint.method !== "GET" && endpoint.changesNothing !== true;
}
