// Addresses of the portal and the console, and the origins and relying party that belong to them. Pure.
import { isIP } from "node:net";
import type { Surface } from "./sessions.sql.ts";

/** The relying party of passkeys (WebAuthn): a passkey works at these origins only. */
export interface RelyingParty {
  /** A domain. Browsers accept no IP address. */
  id: string;
  origins: readonly string[];
}

const LOCAL = new Set(["127.0.0.1", "[::1]", "localhost", "0.0.0.0", "[::]"]);

/** The portal's origin as people see it. `root`: the service's address without `/v1`. Passkeys need a name: loopback becomes `localhost`. */
export function portalRoot(root: string): string {
  const url = new URL(root);
  if (LOCAL.has(url.hostname)) url.hostname = "localhost";
  return url.origin;
}

/** Origins that our pages may have. On a loopback address there are two: by name and by address. */
export function portalOrigins(root: string): string[] {
  return [...new Set([new URL(root).origin, portalRoot(root)])];
}

/** The relying party; undefined where browsers make no passkeys: on an IP address, or without https on anything but the own machine. */
export function relyingPartyOf(root: string): RelyingParty | undefined {
  const url = new URL(portalRoot(root));
  if (isIP(url.hostname.replaceAll(/[[\]]/g, "")) !== 0) return undefined;
  const isLocal = LOCAL.has(url.hostname) || url.hostname.endsWith(".localhost");
  return url.protocol === "https:" || isLocal ? { id: url.hostname, origins: [url.origin] } : undefined;
}

/** Page that accepts an invitation. The caller appends `#` and the token: browsers do not send the fragment, so no log has the token. */
export const invitationPage = (root: string, surface: Surface = "portal"): string =>
  `${portalRoot(root)}/${surface}/invitation`;

export const signInLinkPage = (root: string, token: string, surface: Surface = "portal"): string =>
  `${portalRoot(root)}/${surface}/sign-in#link=${token}`;
