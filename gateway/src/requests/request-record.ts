// The log record of a request and its answer: bounded in size, with card numbers and other secrets redacted. Pure.
import { type Micros, SECOND } from "../ground/clock.ts";
import { sha256 } from "../ground/crypto.ts";
import { momentOf } from "../ground/ids.ts";
import { readObject } from "../ground/json.ts";
import { redactObject, redactPart, redactQuery } from "../ground/redact.ts";
import type { Book } from "../merchants/books.ts";

/** Of a larger body only the size is logged. */
export const BODY_MAX_BYTES = 8_192;
/** Redaction may make a text longer than it was. */
const KEPT_MAX_BYTES = 16_384;
const PATH_MAX = 512;
const QUERY_MAX = 1_024;

/** An answered request, not yet redacted. */
export interface Answered {
  requestId: string;
  book: Book;
  clientId: string;
  isProven: boolean;
  method: string;
  /** Path and query in the form of `canonicalTarget`. */
  target: string;
  status: number;
  tookMs: number;
  replayed: boolean;
  idempotencyKey: string | undefined;
  request: Sent;
  response: Sent;
}

/** A body: its size, and its bytes up to BODY_MAX_BYTES. */
export interface Sent {
  size: number;
  bytes: Buffer | undefined;
}

export const requestOmissions = [
  "too_large",
  "not_json",
  "not_an_object",
  "duplicate_key",
  "too_deep",
  "unproven",
] as const;
export type Omission = (typeof requestOmissions)[number];

export interface KeptBody {
  size: number;
  /** JSON text; undefined when the body is empty or omitted. */
  text: string | undefined;
  omitted: Omission | undefined;
}

export interface RequestRecord extends Omit<Answered, "target" | "tookMs" | "request" | "response"> {
  at: Micros;
  path: string;
  query: string | undefined;
  code: string | undefined;
  tookUs: number;
  requestDigest: Buffer | undefined;
  request: KeptBody;
  response: KeptBody;
}

export function recordOf(answered: Answered): RequestRecord {
  const { target, tookMs, request, response, ...kept } = answered;
  const [, path = "", query] = /^([^?]*)(?:\?(.*))?$/s.exec(target) ?? [];
  const { bytes, size } = request;
  return {
    ...kept,
    at: momentOf(kept.requestId),
    method: cut(kept.method, 20),
    path: cut(path.split("/").map(redactPart).join("/"), PATH_MAX),
    query: query && cut(redactQuery(query), QUERY_MAX),
    code: codeOf(response),
    tookUs: Math.min(Math.max(0, Math.round(tookMs * 1000)), 600 * SECOND),
    requestDigest: bytes && sha256(bytes),
    // Unauthenticated callers must not put content of theirs into a merchant's log.
    request: kept.isProven || size === 0 ? keptBody(request) : { size, text: undefined, omitted: "unproven" },
    response: keptBody(response, OWN_NUMBERS),
  };
}

/** The log form of an answer's body. */
export function keptResponse(body: Buffer): KeptBody {
  return keptBody({ size: body.length, bytes: body.length > BODY_MAX_BYTES ? undefined : body }, OWN_NUMBERS);
}

/** The field of an answer whose long numbers are no card numbers, such as the text of a QR code. */
const OWN_NUMBERS = "instructions";

/** `trusted`: the field in which long numbers are the service's own and are not redacted. */
function keptBody({ size, bytes }: Sent, trusted?: string): KeptBody {
  if (size === 0) return { size, text: undefined, omitted: undefined };
  if (!bytes) return { size, text: undefined, omitted: "too_large" };
  const read = readObject(bytes);
  if ("malformed" in read)
    return { size, text: undefined, omitted: trusted === undefined ? read.malformed : "not_json" };
  const text = redactObject(read.object, trusted === undefined ? {} : { trusted });
  if (Buffer.byteLength(text) > KEPT_MAX_BYTES) return { size, text: undefined, omitted: "too_large" };
  return { size, text, omitted: undefined };
}

/** The error code of an answer, also of a replayed one. */
function codeOf({ bytes }: Sent): string | undefined {
  const found = bytes && /^\{"error":\{"code":"([A-Z_]{1,40})"/.exec(bytes.subarray(0, 80).toString("latin1"));
  return found?.[1];
}

/** Bounds a text, and removes NUL and half surrogate pairs, which PostgreSQL cannot store. JSON writes both as escapes, but a path may contain them. */
function cut(text: string, most: number): string {
  const whole = text.replaceAll("\0", "").toWellFormed();
  return whole.length <= most ? whole : `${whole.slice(0, most - 1).toWellFormed()}…`;
}
