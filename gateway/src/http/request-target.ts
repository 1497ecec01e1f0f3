// The one form of a request's target, for routes, replay protection, limits, metrics and logs. What was signed is the target as it was sent.

/** Characters that stand for themselves in a path or a query: unreserved and reserved ones of RFC 3986. */
const PLAIN = /^\/[\w.~!$&'()*+,;=:@/?[\]-]*$/;
const ESCAPE_OR_OTHER = /%[0-9A-Fa-f]{2}|[^\w.~!$&'()*+,;=:@/?[\]-]/g;
const BROKEN_ESCAPE = /%(?![0-9A-Fa-f]{2})/;
const UNRESERVED = /[\w.~-]/;
/** A query that says nothing, or nothing between two of its separators. */
const EMPTY_PAIR = /\?(?:&|$)|\?.*&(?:&|$)/;

/**
 * A target in the one form of all its spellings (RFC 3986, section 6.2.2): path and query alone, nothing empty in the query, escapes only where they are
 * needed, in capitals. An escaped slash stays one, and nothing is decoded twice. A part whose escapes are broken stays as it is: nobody can
 * say what it means.
 */
export function canonicalTarget(sent: string): string {
  if (PLAIN.test(sent) && !EMPTY_PAIR.test(sent)) return sent;
  const target = originForm(sent);
  if (target === undefined) return sent;
  const mark = target.indexOf("?");
  const path = mark < 0 ? target : target.slice(0, mark);
  const query = mark < 0 ? "" : withoutEmptyPairs(target.slice(mark + 1));
  if (BROKEN_ESCAPE.test(path)) return sent;
  return query === "" ? canonical(path) : `${canonical(path)}?${BROKEN_ESCAPE.test(query) ? query : canonical(query)}`;
}

/** `a=1&&b=2&` and `a=1&b=2` ask for the same. */
function withoutEmptyPairs(query: string): string {
  return query
    .split("&")
    .filter((pair) => pair !== "")
    .join("&");
}

/** Path and query of a target in origin or absolute form; undefined for what is neither. */
function originForm(sent: string): string | undefined {
  if (sent.startsWith("/")) return sent;
  const authority = /^https?:\/\/[^/?#]+/i.exec(sent)?.[0];
  if (authority === undefined || !URL.canParse(sent)) return undefined;
  const rest = sent.slice(authority.length);
  return rest.startsWith("/") ? rest : `/${rest}`;
}

function canonical(part: string): string {
  return part.replaceAll(ESCAPE_OR_OTHER, (found) => {
    if (found.length === 1) return `%${found.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`;
    const character = String.fromCharCode(Number.parseInt(found.slice(1), 16));
    return UNRESERVED.test(character) ? character : found.toUpperCase();
  });
}
