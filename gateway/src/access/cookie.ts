// The cookie of a session: its name, how it is read, and how it is set and removed. Pure.
import type { Surface } from "../people/sessions.ts";

export interface Cookie {
  name: string;
  /** True where all is https. */
  secure: boolean;
}

/** Each surface has its own: browsers hold the cookies of one host together, whatever the port. */
const names: Readonly<Record<Surface, string>> = { portal: "session", console: "console-session" };

/** Where everything is https the name's prefix makes the browser refuse it from anywhere else; plain http is for development on loopback. */
export function cookieOf(surface: Surface, secure: boolean): Cookie {
  return { name: secure ? `__Host-${names[surface]}` : names[surface], secure };
}

/** The token that a request carries, or undefined. Of two cookies of the name neither is believed. */
export function tokenOf(header: string | undefined, { name }: Cookie): string | undefined {
  const prefix = `${name}=`;
  const found = (header ?? "")
    .split(";")
    .map((part) => part.trim())
    .filter((part) => part.startsWith(prefix));
  return found.length === 1 ? found[0]?.slice(prefix.length) : undefined;
}

/** The value of `Set-Cookie` for a token; undefined removes the cookie. It ends with the browser or with its session, whichever comes first. */
export function setCookie(token: string | undefined, { name, secure }: Cookie): string {
  const attributes = `Path=/; HttpOnly; SameSite=Lax${secure ? "; Secure" : ""}`;
  return token === undefined
    ? `${name}=; ${attributes}; Max-Age=0`
    : `${name}=${token}; ${attributes}; Max-Age=${7 * 24 * 3600}`;
}
