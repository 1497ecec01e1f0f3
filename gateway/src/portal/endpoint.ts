// The definition of a /portal/v1 endpoint for members of a merchant: the action that it needs, its shapes and its handler.
import type { AccessEndpoint, PersonCall, Shaped } from "../access/endpoint.ts";
import type { Reply } from "../ground/reply.ts";
import type { SentFile } from "../http/sent-file.ts";
import type { Book } from "../merchants/books.ts";
import type { Merchant, Principal } from "../merchants/directory.ts";
import type { Action, MemberRole } from "../people/roles.ts";

/** A call of a member for one environment of a merchant. */
export interface MemberCall<Body = unknown, Query = unknown> extends PersonCall<Body, Query> {
  /** The file that the request carries, where the endpoint has `upload`. Throws VALIDATION_ERROR when the request does not state its name or size. */
  file(): SentFile;
  /** Checks the member's rights again, for answers that take minutes. Throws UNAUTHORIZED, OBJECT_NOT_FOUND, FORBIDDEN, MERCHANT_SUSPENDED. */
  stillAllowed: () => Promise<void>;
  role: MemberRole;
  principal: Principal;
  merchant: Merchant;
  book: Book;
}

/** An endpoint for members whose role allows the action in the environment of the request. */
export interface MemberEndpoint<Body = unknown, Query = unknown> extends Shaped<Body, Query> {
  for: "member";
  action: Action;
  /** Set when the last proof of identity must be younger than ten minutes: in both environments (true), or in production only. */
  fresh?: true | "production";
  /** Set when the request body is a file, which is streamed. Such an endpoint has no `body`. */
  upload?: { description: string };
  handle(call: MemberCall<Body, Query>): Promise<Reply>;
}

export type PortalEndpoint = AccessEndpoint | MemberEndpoint;

/** Types the handler's body and query within one definition. The result has no type parameters, so that endpoints fit in one list. */
export function memberEndpoint<Body, Query>(endpoint: Omit<MemberEndpoint<Body, Query>, "for">): PortalEndpoint {
  return { for: "member", ...endpoint } as unknown as PortalEndpoint;
}
