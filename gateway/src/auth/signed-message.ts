// A request as message signatures cover it: its header fields, and the address that its client called (RFC 9421, section 2).

/** A request as it came, as far as signatures cover it. */
export interface SignedMessage {
  method: string;
  /** The request target exactly as the client sent it. */
  target: string;
  /** The lines of each header, by its name in lower case. */
  headers: Readonly<NodeJS.Dict<string[]>>;
  /** What stands before the target in the address that clients call; undefined where only the header Host says it. */
  publicRoot: string | undefined;
}

/** The parts of an address, each as it is signed. */
export interface Address {
  uri: string;
  scheme: string;
  authority: string;
  path: string;
  /** With its question mark, which is there even without a query. */
  query: string;
}

/**
 * The address that the client called, escapes and all. A target in absolute form is the address, if it is one of ours; any other one stands
 * behind `publicRoot` or, where none is configured, behind `http://` and the header Host. Undefined when nothing says where it was sent.
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

/** Two lines, or anything but a name and a port, say nothing: what stands behind a slash would be taken for a part of the path. */
function rootOfHost(lines: readonly string[] | undefined): string | undefined {
  const [host = "", ...others] = lines ?? [];
  return others.length === 0 && /^[\w.~%-]+(:\d{0,5})?$|^\[[\w:.%-]+\](:\d{0,5})?$/.test(host)
    ? `http://${host.toLowerCase()}`
    : undefined;
}

const DEFAULT_PORTS: Readonly<Record<string, string>> = { http: ":80", https: ":443" };

function partsOf(uri: string): Address | undefined {
  const [, scheme = "", host = "", path = "", query = "?"] =
    /^(https?):\/\/([^/?#]+)([^?#]*)(\?[^#]*)?$/i.exec(uri) ?? [];
  if (scheme === "") return undefined;
  const name = scheme.toLowerCase();
  const port = DEFAULT_PORTS[name] ?? "";
  const authority = host.toLowerCase();
  return {
    uri,
    scheme: name,
    authority: authority.endsWith(port) ? authority.slice(0, -port.length) : authority,
    path: path === "" ? "/" : path,
    query,
  };
}

/** What stands before targets where the service is reached at `baseUrl`, which ends in /v1. */
export function publicRootOf(baseUrl: string): string {
  const { origin, pathname } = new URL(baseUrl);
  return origin + pathname.replace(/\/v1$/, "");
}

const derived = new Set(["@method", "@target-uri", "@authority", "@scheme", "@request-target", "@path", "@query"]);

/** Whether this may be the name of a component: of a header, or one of those derived from the request. */
export function isComponentName(name: string): boolean {
  return derived.has(name) || /^[a-z0-9!#$%&'*+.^_`|~-]{1,64}$/.test(name);
}

/** What is signed of a component; undefined when the request has no such. */
export function componentValue(message: SignedMessage, address: Address | undefined, name: string): string | undefined {
  switch (name) {
    case "@method":
      return message.method;
    case "@request-target":
      return message.target;
    case "@target-uri":
      return address?.uri;
    case "@authority":
      return address?.authority;
    case "@scheme":
      return address?.scheme;
    case "@path":
      return address?.path;
    case "@query":
      return address?.query;
    default:
      return fieldValue(message, name);
  }
}

/** The lines of a header as one value; undefined when it was not sent. */
export function fieldValue({ headers }: Pick<SignedMessage, "headers">, name: string): string | undefined {
  const lines = Object.hasOwn(headers, name) ? headers[name] : undefined;
  return lines?.map(trimmed).join(", ");
}

/** Without the white space of HTTP around it; a pattern would take long for a line that is full of it. */
function trimmed(line: string): string {
  let from = 0;
  let to = line.length;
  while (from < to && isWhite(line[from])) from++;
  while (to > from && isWhite(line[to - 1])) to--;
  return line.slice(from, to);
}

const isWhite = (character: string | undefined): boolean => character === " " || character === "\t";
