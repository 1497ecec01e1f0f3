// What an endpoint is that only pages need, for everybody or for whoever is signed in: its path, its shapes, and what it does.
import type { z } from "zod";
import type { Micros } from "../ground/clock.ts";
import type { Reply } from "../ground/reply.ts";
import type { FieldRules } from "../http/fields.ts";
import type { Described, Examples } from "../http/openapi.ts";
import type { Person } from "../people/people.sql.ts";
import type { Session } from "../people/sessions.sql.ts";
import type { Origin } from "../people/sessions.ts";

/** A request whose query and body passed their rules, of whoever it is. */
export interface GuestCall<Body = unknown, Query = unknown> {
  requestId: string;
  /** Parts of the path by name, as sent: an identity may be malformed, and is "not found" then. */
  params: Readonly<Record<string, string>>;
  body: Body;
  query: Query;
  origin: Origin;
  /** A header, by its name in lower case, where it was sent exactly once. */
  header(name: string): string | undefined;
  /** The real time. */
  now: Micros;
  /** Sets or, with undefined, removes the cookie of the session, once the answer is sent. */
  setSession(token: string | undefined): void;
}

/** The same of somebody who is signed in. */
export interface PersonCall<Body = unknown, Query = unknown> extends GuestCall<Body, Query> {
  person: Person;
  session: Session;
}

export interface Shaped<Body, Query> extends Described {
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** True for a POST that only computes something. Everything else but GET is a change, and is written into the audit. */
  changesNothing?: true;
  /** No body at all means an empty object, where that is one. `null` is never a field left out. */
  body?: FieldRules<Body> | z.ZodType<Body>;
  /** Without it no query parameter is accepted. */
  query?: z.ZodType<Query>;
  bodyExamples?: Examples;
}

/** For everybody, signed in or not. */
export interface GuestEndpoint<Body = unknown, Query = unknown> extends Shaped<Body, Query> {
  for: "guest";
  /** True where programs ask too, which say nothing of a page. What a browser sends has to come from one of our pages all the same. */
  forPrograms?: true;
  handle(call: GuestCall<Body, Query>): Promise<Reply>;
}

/** For a person, whatever they belong to. */
export interface PersonEndpoint<Body = unknown, Query = unknown> extends Shaped<Body, Query> {
  for: "person";
  /** True where the person proves again who they are when they last did so more than ten minutes ago. */
  fresh?: true;
  handle(call: PersonCall<Body, Query>): Promise<Reply>;
}

export type AccessEndpoint = GuestEndpoint | PersonEndpoint;

// Each keeps the types of body and query inside one definition and forgets them outside.

export function guestEndpoint<Body, Query>(endpoint: Omit<GuestEndpoint<Body, Query>, "for">): AccessEndpoint {
  return { for: "guest", ...endpoint } as unknown as AccessEndpoint;
}

export function personEndpoint<Body, Query>(endpoint: Omit<PersonEndpoint<Body, Query>, "for">): AccessEndpoint {
  return { for: "person", ...endpoint } as unknown as AccessEndpoint;
}

/** True when a call is written into the audit. */
export function isChange({
  method,
  changesNothing,
}: Pick<Shaped<unknown, unknown>, "method" | "changesNothing">): boolean {
  return method !== "GET" && changesNothing !== true;
}
