// Request signatures by RFC 9421 (HTTP Message Signatures) and by the interface's own scheme (interface, section 5).
import { type Hmac, hashing } from "./hashing.ts";

export const hex = (bytes: Uint8Array): string =>
  Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
export const base64 = (bytes: Uint8Array): string => btoa(String.fromCharCode(...bytes));

/** 122 random bits: platforms draw them for many of these at once. */
export const newNonce = (): string => crypto.randomUUID();

export interface Signed {
  clientId: string;
  hmac: Hmac;
  method: string;
  /** The exact address that is called. */
  url: string;
  body: string;
  idempotencyKey?: string | undefined;
}

/** The headers that sign a request by RFC 9421, at `created` (Unix seconds). The nonce makes the signature unique. */
export async function messageHeaders(
  request: Signed,
  created: number,
  nonce: string = newNonce(),
): Promise<Record<string, string>> {
  const contentDigest = `sha-256=:${base64(await hashing.sha256(request.body))}:`;
  const covered: [name: string, value: string][] = [
    ["@method", request.method],
    ["@target-uri", request.url],
    ["content-digest", contentDigest],
  ];
  if (request.idempotencyKey !== undefined) covered.push(["idempotency-key", request.idempotencyKey]);
  const components = covered.map(([name]) => `"${name}"`).join(" ");
  const parameters = `(${components});created=${created};keyid="${request.clientId}";nonce="${nonce}"`;
  const lines = covered.map(([name, value]) => `"${name}": ${value}`);
  const base = [...lines, `"@signature-params": ${parameters}`].join("\n");
  return {
    "content-digest": contentDigest,
    "signature-input": `sig1=${parameters}`,
    signature: `sig1=:${base64(await request.hmac(base))}:`,
  };
}

/** The headers of the interface's own scheme, at `timestamp` (Unix seconds). */
export async function timestampHeaders(request: Signed, timestamp: number): Promise<Record<string, string>> {
  return {
    "x-timestamp": String(timestamp),
    "x-signature": hex(await request.hmac(`${timestamp}.${request.body}`)),
  };
}
