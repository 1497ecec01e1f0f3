// The cookie of a session: its name, how it is read, and how it is set and removed. Pure.

/** Where everything is https the name's prefix makes the browser refuse it from anywhere else; plain http is for development on loopback. */
export function cookieName(secure: boolean): string {
  return secure ? "__Host-session" : "session";
}

/** The token that a request carries, or undefined. Of two cookies of the name neither is believed. */
export function tokenOf(header: string | undefined, secure: boolean): string | undefined {
  const prefix = `${cookieName(secure)}=`;
  const found = (header ?? "")
    .split(";")
    .map((part) => part.trim())
    .filter((part) => part.startsWith(prefix));
  return found.length === 1 ? found[0]?.slice(prefix.length) : undefined;
}

/** The value of `Set-Cookie` for a token; undefined removes the cookie. It ends with the browser or with its session, whichever comes first. */
export function setCookie(token: string | undefined, secure: boolean): string {
  const attributes = `Path=/; HttpOnly; SameSite=Lax${secure ? "; Secure" : ""}`;
  return token === undefined
    ? `${cookieName(secure)}=; ${attributes}; Max-Age=0`
    : `${cookieName(secure)}=${token}; ${attributes}; Max-Age=${7 * 24 * 3600}`;
}
