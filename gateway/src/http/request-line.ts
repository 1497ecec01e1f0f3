// The log line of a request that was answered: who asked for what, from where, and what came of it. docs/guides/observability.md lists its
// fields. Never a query, a body, a header, or the token of a payer's page.
import type { FastifyReply, FastifyRequest } from "fastify";
import { REDACTED, isPrivate, redactText, unescaped } from "../ground/redact.ts";

const PATH_MAX = 300;
/** What nobody knows as a path may be a mistyped one with a secret in it: pieces this long are not kept. */
const UNKNOWN_PIECE_MAX = 15;

/** The fields of the line, in the order in which a person reads them. `route`: the pattern of the path; undefined where there is none. */
export function lineOf(
  request: FastifyRequest,
  reply: FastifyReply,
  route: string | undefined,
  ms: number,
): Record<string, string | number | undefined> {
  const { id, method, url, ip, sender, isProven, actor, book, errorCode } = request;
  return {
    request_id: id,
    method,
    path: keptPath(url, route),
    route,
    status: reply.statusCode,
    code: errorCode,
    ms: Math.round(ms * 10) / 10,
    address: ip,
    actor,
    merchant_id: book?.merchantId,
    environment: book?.environment,
    // Anybody can name a key that is not theirs.
    claimed_client_id: sender && !isProven && actor === undefined ? sender.clientId : undefined,
  };
}

/** By route: the places of what must not be kept. */
const secretPlaces = new Map<string, readonly number[]>();

function placesIn(route: string): readonly number[] {
  let places = secretPlaces.get(route);
  if (!places) {
    const isSecret = (piece: string): boolean => piece.startsWith(":") && isPrivate(piece.slice(1));
    places = route.split("/").flatMap((piece, at) => (isSecret(piece) ? [at] : []));
    secretPlaces.set(route, places);
  }
  return places;
}

/** A path as it may be kept. */
export function keptPath(url: string, route: string | undefined): string {
  const mark = url.indexOf("?");
  const path = (mark < 0 ? url : url.slice(0, mark)).slice(0, PATH_MAX);
  const places = route === undefined ? undefined : placesIn(route);
  // Nearly every path is kept as it is.
  if (places?.length === 0 && !path.includes("%") && redactText(path) === path) return path;
  const isKept = (piece: string, at: number): boolean =>
    (places ? !places.includes(at) : piece.length <= UNKNOWN_PIECE_MAX) &&
    redactText(unescaped(piece)) === unescaped(piece);
  return path
    .split("/")
    .map((piece, at) => (isKept(piece, at) ? piece : REDACTED))
    .join("/");
}
