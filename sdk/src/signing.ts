// Request signatures by RFC 9421 (HTTP Message Signatures) and by the interface's own scheme (interface, section 5). Uses WebCrypto only.

export const encoder = new TextEncoder();

/** A key for HMAC-SHA256. It cannot be exported. */
export function hmacKey(secret: string): Promise<CryptoKey> {
  return crypto.subtle.importKey("raw", encoder.encode(secret), { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
}

export async function hmac(key: CryptoKey, text: string | Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.sign("HMAC", key, typeof text === "string" ? encoder.encode(text) : text));
}

export const hex = (bytes: Uint8Array): string =>
  Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
export const base64 = (bytes: Uint8Array): string => btoa(String.fromCharCode(...bytes));

/** 128 random bits. */
export const newNonce = (): string => hex(crypto.getRandomValues(new Uint8Array(16)));

export interface Signed {
  clientId: string;
  key: CryptoKey;
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
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", encoder.encode(request.body)));
  const contentDigest = `sha-256=:${base64(digest)}:`;
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
    signature: `sig1=:${base64(await hmac(request.key, base))}:`,
  };
}

/** The headers of the interface's own scheme, at `timestamp` (Unix seconds). */
export async function timestampHeaders(request: Signed, timestamp: number): Promise<Record<string, string>> {
  return {
    "x-timestamp": String(timestamp),
    "x-signature": hex(await hmac(request.key, `${timestamp}.${request.body}`)),
  };
}
