// The log line of an answered request; docs/guides/observability.md lists its fields. It never contains a query, a body, a header, or the
// token of a payer's page.
import type { FastifyReply, FastifyRequest } from "fastify";
import { REDACTED, isPrivate, redactPart, redactText } from "../ground/redact.ts";

const PATH_MAX = 300;
/** Longest piece of an unknown path that is logged: such a path may be a mistyped one with a secret in it. */
const UNKNOWN_PIECE_MAX = 15;

/** The fields of the log line, in reading order. `route` is the pattern of the path, undefined for an unknown path; `ms` the duration. */
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
    // Kept apart from `actor`, because anybody can claim a key without proving it.
    claimed_client_id: sender && !isProven && actor === undefined ? sender.clientId : undefined,
  };
}

/** Positions of secret path parameters, by route. */
const secretPlaces = new Map<string, readonly number[]>();

function placesIn(route: string): readonly number[] {
  const isSecret = (piece: string): boolean => piece.startsWith(":") && isPrivate(piece.slice(1));
  return route.split("/").flatMap((piece, at) => (isSecret(piece) ? [at] : []));
}

/** The path without its query, with secrets redacted. */
export function keptPath(url: string, route: string | undefined): string {
  const mark = url.indexOf("?");
  const path = (mark < 0 ? url : url.slice(0, mark)).slice(0, PATH_MAX);
  const places = route === undefined ? undefined : secretPlaces.getOrInsertComputed(route, placesIn);
  // Nearly every path has nothing to redact.
  if (places?.length === 0 && !path.includes("%") && redactText(path) === path) return path;
  const isSecret = (piece: string, at: number) => places?.includes(at) ?? piece.length > UNKNOWN_PIECE_MAX;
  return path
    .split("/")
    .map((piece, at) => (isSecret(piece, at) ? REDACTED : redactPart(piece)))
    .join("/");
}
