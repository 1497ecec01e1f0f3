// Endpoints of the merchants' API that the portal offers too: their paths there, and which of them need a fresh proof of identity. Pure.
import type { Endpoint } from "../http/endpoint.ts";
import type { Environment } from "../merchants/books.ts";

/** Endpoints that persons may call too: all but those about the calling credential itself. */
export function mountable(endpoints: readonly Endpoint[]): Endpoint[] {
  return endpoints.filter(({ forCredentialsOnly }) => forCredentialsOnly !== true);
}

/** The portal's path of an endpoint: `/v1/payments` becomes `/portal/v1/payments`. */
export function mountedPath({ path }: Pick<Endpoint, "path">): string {
  return `/portal${path}`;
}

/** True for refunds in production, which need a fresh proof: of these endpoints only refunds take real money from a merchant. */
export function needsFreshProof({ kind, scope }: Pick<Endpoint, "kind" | "scope">, environment: Environment): boolean {
  return kind === "write" && scope === "refunds:write" && environment === "production";
}
