// The session cookie: its name, and how it is read, set and removed. Pure.
import type { Surface } from "../people/sessions.sql.ts";

export interface Cookie {
  name: string;
  /** True when the service is reached over https only. */
  secure: boolean;
}

/** Each surface has a name of its own, because browsers share the cookies of a host between its ports. */
const names: Readonly<Record<Surface, string>> = { portal: "session", console: "console-session" };

/** With https, the prefix `__Host-` makes browsers refuse the cookie from any other host. Plain http is for development on loopback. */
export function cookieOf(surface: Surface, secure: boolean): Cookie {
  return { name: secure ? `__Host-${names[surface]}` : names[surface], secure };
}

/** The session token in a Cookie header. Undefined without the cookie, and when two cookies have its name: one of them may be planted. */
export function tokenOf(header: string | undefined, { name }: Cookie): string | undefined {
  const prefix = `${name}=`;
  const found = (header ?? "")
    .split(";")
    .map((part) => part.trim())
    .filter((part) => part.startsWith(prefix));
  return found.length === 1 ? found[0]?.slice(prefix.length) : undefined;
}

/** The value of `Set-Cookie` for a token; undefined removes the cookie. The cookie lives 7 days, the longest time that a session lasts. */
export function setCookie(token: string | undefined, { name, secure }: Cookie): string {
  const attributes = `Path=/; HttpOnly; SameSite=Lax${secure ? "; Secure" : ""}`;
  return token === undefined
    ? `${name}=; ${attributes}; Max-Age=0`
    : `${name}=${token}; ${attributes}; Max-Age=${7 * 24 * 3600}`;
}
