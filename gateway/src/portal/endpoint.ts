// What an endpoint of /portal/v1 is that only pages of a merchant need: the action it takes, its shapes, and what it does.
import type { AccessEndpoint, PersonCall, Shaped } from "../access/endpoint.ts";
import type { Reply } from "../ground/reply.ts";
import type { SentFile } from "../http/sent-file.ts";
import type { Book } from "../merchants/books.ts";
import type { Merchant, Principal } from "../merchants/directory.ts";
import type { Action, MemberRole } from "../people/roles.ts";

/** A call of a member of a merchant, who asks about one of its environments. */
export interface MemberCall<Body = unknown, Query = unknown> extends PersonCall<Body, Query> {
  /** The file that is sent, where the endpoint takes one. Throws VALIDATION_ERROR when its name or its size is not said. */
  file(): SentFile;
  /** Whether they may still do it: for answers that take minutes. Throws UNAUTHORIZED, OBJECT_NOT_FOUND, FORBIDDEN, MERCHANT_SUSPENDED. */
  stillAllowed: () => Promise<void>;
  role: MemberRole;
  principal: Principal;
  merchant: Merchant;
  book: Book;
}

/** For members of a merchant whose role allows the action in the environment they ask about. */
export interface MemberEndpoint<Body = unknown, Query = unknown> extends Shaped<Body, Query> {
  for: "member";
  action: Action;
  sandboxOnly?: true;
  /** True where they prove again who they are when they last did so more than ten minutes ago: everywhere, or in production alone. */
  fresh?: true | "production";
  /** Said of the file that is the body, which is read as it arrives. Such an endpoint has no other body. */
  upload?: { description: string };
  handle(call: MemberCall<Body, Query>): Promise<Reply>;
}

export type PortalEndpoint = AccessEndpoint | MemberEndpoint;

/** Keeps the types of body and query inside one definition and forgets them outside. */
export function memberEndpoint<Body, Query>(endpoint: Omit<MemberEndpoint<Body, Query>, "for">): PortalEndpoint {
  return { for: "member", ...endpoint } as unknown as PortalEndpoint;
}
