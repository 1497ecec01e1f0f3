// Where the portal and the console are reached, as passkeys and browsers see it: which names count as one place. Pure.
import { isIP } from "node:net";
import type { Surface } from "./sessions.sql.ts";

/** Whom a passkey is made for: it works at these origins alone. */
export interface RelyingParty {
  /** A domain. Browsers take no address. */
  id: string;
  origins: readonly string[];
}

const LOCAL = new Set(["127.0.0.1", "[::1]", "localhost", "0.0.0.0", "[::]"]);

/** True where the service is reached from its own machine, under whichever name. */
function isLocal({ hostname }: URL): boolean {
  return LOCAL.has(hostname) || hostname.endsWith(".localhost");
}

/**
 * The address that people are shown. `root` is where the service is reached, without the /v1: on one's own machine the name `localhost` is in
 * its place, because passkeys need a name.
 */
export function portalRoot(root: string): string {
  const url = new URL(root);
  if (LOCAL.has(url.hostname)) url.hostname = "localhost";
  return url.origin;
}

/** Origins that a page may have: on one's own machine by name and by address. */
export function portalOrigins(root: string): string[] {
  const own = new URL(root).origin;
  return [...new Set([own, portalRoot(root)])];
}

/** For whom passkeys are made; undefined where no browser makes any: without a domain, or without https beyond one's own machine. */
export function relyingPartyOf(root: string): RelyingParty | undefined {
  const url = new URL(portalRoot(root));
  if (isIP(url.hostname.replaceAll(/[[\]]/g, "")) !== 0) return undefined;
  if (url.protocol !== "https:" && !isLocal(url)) return undefined;
  return { id: url.hostname, origins: [url.origin] };
}

/** Where an invitation is accepted; its token goes behind the `#`, so that no log has it. */
export const invitationPage = (root: string, surface: Surface = "portal"): string =>
  `${portalRoot(root)}/${surface}/invitation`;

/** Where a link signs somebody in. */
export const signInLinkPage = (root: string, token: string, surface: Surface = "portal"): string =>
  `${portalRoot(root)}/${surface}/sign-in#link=${token}`;
