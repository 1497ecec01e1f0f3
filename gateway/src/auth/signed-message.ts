// The values of a request's components as message signatures cover them: header fields and the called address (RFC 9421, section 2).

/** The parts of a request that signatures cover, as they arrived. */
export interface SignedMessage {
  method: string;
  /** The request target exactly as the client sent it. */
  target: string;
  /** The lines of each header, by its name in lower case. */
  headers: Readonly<NodeJS.Dict<string[]>>;
  /** The part of the called address before the target; undefined where none is configured and the header Host decides. */
  publicRoot: string | undefined;
}

/** The parts of an address in the form in which they are signed. */
interface Address {
  uri: string;
  scheme: string;
  authority: string;
  path: string;
  /** Begins with a question mark, even when there is no query. */
  query: string;
}

/**
 * The address that the client called, with its escapes as sent. A target in absolute form is the address itself, if it has the service's
 * scheme and authority. Any other target is appended to `publicRoot` or, without one, to `http://` and the header Host. Undefined when the
 * address cannot be determined.
 */
export function addressOf(message: Pick<SignedMessage, "target" | "headers" | "publicRoot">): Address | undefined {
  const { target } = message;
  const root = message.publicRoot ?? rootOfHost(message.headers.host);
  if (root === undefined || target.includes("#")) return undefined;
  if (target.startsWith("/")) return partsOf(root + target);
  const address = partsOf(target);
  const ours = partsOf(root);
  return address?.scheme === ours?.scheme && address?.authority === ours?.authority ? address : undefined;
}

/** Gives undefined for two Host headers or anything but a name and a port: text after a slash would be taken for a part of the path. */
function rootOfHost(lines: readonly string[] | undefined): string | undefined {
  const [host = "", ...others] = lines ?? [];
  return others.length === 0 && /^[\w.~%-]+(:\d{0,5})?$|^\[[\w:.%-]+\](:\d{0,5})?$/.test(host)
    ? `http://${host.toLowerCase()}`
    : undefined;
}

function partsOf(uri: string): Address | undefined {
  const [, scheme = "", host = "", path = "", query = "?"] =
    /^(https?):\/\/([^/?#]+)([^?#]*)(\?[^#]*)?$/i.exec(uri) ?? [];
  if (scheme === "") return undefined;
  const name = scheme.toLowerCase();
  const port = name === "https" ? ":443" : ":80"; // it is left out where it is the scheme's own
  const authority = host.toLowerCase();
  return {
    uri,
    scheme: name,
    authority: authority.endsWith(port) ? authority.slice(0, -port.length) : authority,
    path: path === "" ? "/" : path,
    query,
  };
}

/** The part of the service's addresses before the target, for a `baseUrl` that ends in /v1. */
export function publicRootOf(baseUrl: string): string {
  const { origin, pathname } = new URL(baseUrl);
  return origin + pathname.replace(/\/v1$/, "");
}

/** The components that are derived from the request, with their values. */
const derived = new Map<string, (message: SignedMessage, address: Address | undefined) => string | undefined>([
  ["@method", ({ method }) => method],
  ["@request-target", ({ target }) => target],
  ["@target-uri", (_, address) => address?.uri],
  ["@authority", (_, address) => address?.authority],
  ["@scheme", (_, address) => address?.scheme],
  ["@path", (_, address) => address?.path],
  ["@query", (_, address) => address?.query],
]);

/** True for the possible name of a component: a header name in lower case, or a component derived from the request. */
export function isComponentName(name: string): boolean {
  return derived.has(name) || /^[a-z0-9!#$%&'*+.^_`|~-]{1,64}$/.test(name);
}

/** The value of a component as it is signed; undefined when the request has no such component. */
export function componentValue(message: SignedMessage, address: Address | undefined, name: string): string | undefined {
  const derive = derived.get(name);
  return derive ? derive(message, address) : fieldValue(message, name);
}

/** All lines of a header as one value; undefined when the header was not sent. */
export function fieldValue({ headers }: Pick<SignedMessage, "headers">, name: string): string | undefined {
  const lines = Object.hasOwn(headers, name) ? headers[name] : undefined;
  return lines?.map(trimmed).join(", ");
}

/** Removes spaces and tabs at both ends. A regular expression would take long for a line with many of them. */
function trimmed(line: string): string {
  let from = 0;
  let to = line.length;
  while (from < to && isWhite(line[from])) from++;
  while (to > from && isWhite(line[to - 1])) to--;
  return line.slice(from, to);
}

const isWhite = (character: string | undefined): boolean => character === " " || character === "\t";
