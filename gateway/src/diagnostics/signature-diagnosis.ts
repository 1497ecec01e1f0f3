// Signature diagnostics for requests: finds the mistake of a request with a refused X-Signature. No I/O; the texts are in diagnoses.ts.
import { isInTimestampWindow } from "../ground/crypto.ts";
import { createHash, createHmac } from "node:crypto";
import type { RejectedSignature } from "../http/edge.ts";
import type { Diagnosis } from "./diagnoses.ts";
import { respaced, serialisationsOf } from "./serialisations.ts";

export interface SignedRequest extends Omit<RejectedSignature, "scheme"> {
  clientId: string;
  /** Unix seconds. */
  receivedAt: number;
}

export interface SecretsAtHand {
  /** The secret of the client_id. */
  own: string;
  /** Secrets of the merchant's other credentials that are not revoked. */
  live: readonly string[];
  revoked: readonly string[];
  webhooks: readonly string[];
}

/** Gives the first diagnosis that fits. Of several mistakes it names one; a further attempt shows the next. */
export function diagnose(request: SignedRequest, secrets: SecretsAtHand): Diagnosis {
  const { timestamp, signature, body, receivedAt } = request;
  const misshapen = timestampFault(timestamp, signature);
  if (misshapen !== undefined) return misshapen;
  const read = readSignature(signature);
  if (!read) return "unknown";
  const fits = (key: string | Buffer, ...parts: (string | Buffer)[]): boolean => read.digest.equals(mac(key, parts));

  if (fits(secrets.own, timestamp, ".", body)) {
    if (read.spelling !== undefined) return read.spelling;
    return isInTimestampWindow(Number(timestamp), receivedAt) ? "genuine" : "clock";
  }
  const mistaken = keyMistake(request.clientId, secrets, (key) => fits(key, timestamp, ".", body));
  if (mistaken !== undefined) return mistaken;
  for (const [diagnosis, parts] of otherTexts(request)) if (fits(secrets.own, ...parts)) return diagnosis;
  for (const other of serialisationsOf(body.toString("utf8"))) {
    if (fits(secrets.own, timestamp, ".", other)) return "reserialised_body";
  }
  return "unknown";
}

/** The mistake by which a key other than the secret was used; `isKey` tells whether the signature was made with a key. */
export function keyMistake(
  clientId: string,
  secrets: SecretsAtHand,
  isKey: (key: string | Buffer) => boolean,
): Diagnosis | undefined {
  if (secrets.revoked.some(isKey)) return "old_secret";
  if (secrets.live.some(isKey)) return "other_credential";
  if (secrets.webhooks.some(isKey)) return "webhook_secret";
  if (isKey(clientId)) return "client_id";
  if (decodings(secrets.own).some(isKey)) return "secret_decoded";
  return alterations(secrets.own).some(isKey) ? "secret_altered" : undefined;
}

export function mac(key: string | Buffer, parts: readonly (string | Buffer)[]): Buffer {
  const digest = createHmac("sha256", key);
  for (const part of parts) digest.update(part);
  return digest.digest();
}

function timestampFault(timestamp: string, signature: string): Diagnosis | undefined {
  if (/^\d{13,19}$/.test(timestamp)) return "milliseconds";
  if (/^\d+$/.test(timestamp)) return undefined;
  if (/^\d+[.,]\d+$/.test(timestamp)) return "fraction_timestamp";
  return /^[0-9a-f]{64}$/i.test(timestamp) && /^\d+$/.test(signature) ? "header_swapped" : "timestamp_format";
}

/** Decodes a signature in any spelling. Gives its digest, and the diagnosis of a wrong spelling. */
function readSignature(signature: string): { digest: Buffer; spelling?: Diagnosis } | undefined {
  if (/^[0-9a-f]{64}$/.test(signature)) return { digest: Buffer.from(signature, "hex") };
  if (/^[0-9a-f]{64}$/i.test(signature)) return { digest: Buffer.from(signature, "hex"), spelling: "upper_case" };
  const digest = fromBase64(signature);
  if (digest) return { digest, spelling: "base64" };
  const inside = /(?<![0-9a-z])[0-9a-f]{64}(?![0-9a-z])/i.exec(signature)?.[0];
  return inside === undefined ? undefined : { digest: Buffer.from(inside, "hex"), spelling: "prefix" };
}

/** Decodes 32 bytes, or their hexadecimal digits, from either alphabet of base64. */
function fromBase64(text: string): Buffer | undefined {
  if (!/^[A-Za-z0-9+/_-]{43}=?$|^[A-Za-z0-9+/_-]{86}(==)?$/.test(text)) return undefined;
  const bytes = Buffer.from(text, "base64");
  if (bytes.length === 32) return bytes;
  const hex = bytes.toString("latin1");
  return /^[0-9a-f]{64}$/i.test(hex) ? Buffer.from(hex, "hex") : undefined;
}

/** The bytes that programs get when they decode the secret as base64 or hexadecimal, with or without its prefix. */
function decodings(secret: string): Buffer[] {
  const texts = [secret, withoutBeginning(secret)];
  return [
    ...texts.map((text) => Buffer.from(text, "base64")),
    ...texts.map((text) => Buffer.from(text.replaceAll(/[^A-Za-z0-9+/=]/g, ""), "base64")),
    ...texts.map((text) => Buffer.from(text, "hex")),
  ];
}

/** The secret with common additions (spaces, newlines, quotes), without its prefix, or in upper case. */
function alterations(secret: string): string[] {
  const around = ["\n", "\r\n", " "].flatMap((space) => [secret + space, space + secret]);
  return [...around, `"${secret}"`, `'${secret}'`, withoutBeginning(secret), secret.toUpperCase()];
}

function withoutBeginning(secret: string): string {
  return secret.replace(/^(sk_(test|live)|whsec)_/, "");
}

/** Wrong texts that clients sign with the right secret, each with its diagnosis. */
function* otherTexts(request: SignedRequest): Generator<[Diagnosis, (string | Buffer)[]]> {
  const { timestamp, body, target } = request;
  const text = body.toString("utf8");
  yield ["missing_dot", [timestamp, body]];
  yield ["missing_dot", [timestamp, ":", body]];
  yield ["body_only", [body]];
  yield ["body_first", [body, ".", timestamp]];
  yield ["body_first", [body, timestamp]];
  if (body.length === 0) {
    for (const other of emptyBodies(target)) yield ["body_for_empty", [timestamp, ".", other]];
    return;
  }
  yield ["empty_for_body", [timestamp, "."]];
  yield ["empty_for_body", [timestamp]];
  for (const other of [...respaced(text), `\uFEFF${text}`]) yield ["trailing_newline", [timestamp, ".", other]];
  for (const encoding of ["hex", "base64"] as const) {
    yield ["hashed_body", [timestamp, ".", createHash("sha256").update(body).digest(encoding)]];
  }
  for (const encoding of ["latin1", "utf16le"] as const)
    yield ["charset", [timestamp, ".", Buffer.from(text, encoding)]];
}

/** Wrong bodies that clients sign for a request without a body. */
function emptyBodies(target: string): string[] {
  const query = target.split("?")[1] ?? "";
  const path = target.split("?")[0] ?? "";
  return ["{}", "[]", "null", '""', "''", "undefined", "None", " ", "\n", "{}\n", path, target, query, `?${query}`];
}
