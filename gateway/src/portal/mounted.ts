// The merchants' own endpoints as the portal has them: where they are, and which ask a person to prove again who they are. Pure.
import type { Endpoint } from "../http/endpoint.ts";
import type { Environment } from "../merchants/books.ts";

/** Those of the merchants' endpoints that people have as well. */
export function mountable(endpoints: readonly Endpoint[]): Endpoint[] {
  return endpoints.filter(({ forCredentialsOnly }) => forCredentialsOnly !== true);
}

/** `/v1/payments` is `/portal/v1/payments`. */
export function mountedPath({ path }: Pick<Endpoint, "path">): string {
  return `/portal${path}`;
}

/** Real money leaves a merchant by a refund alone: a fresh proof is asked for it. */
export function needsFreshProof({ kind, scope }: Pick<Endpoint, "kind" | "scope">, environment: Environment): boolean {
  return kind === "write" && scope === "refunds:write" && environment === "production";
}
