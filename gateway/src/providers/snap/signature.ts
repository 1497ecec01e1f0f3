// SNAP's signatures of requests for a token and of transactions, in both directions. Pure.
import { type KeyObject, createHmac, createPrivateKey, createPublicKey, hash, sign, verify } from "node:crypto";
import { sameText } from "../../ground/crypto.ts";

/** The text that a request for a token signs. */
export function tokenText(clientId: string, timestamp: string): string {
  return `${clientId}|${timestamp}`;
}

interface SignedRequest {
  method: string;
  /** Query included, as it is sent. */
  path: string;
  /** Undefined if transactions are signed by RSA, without a token. */
  token: string | undefined;
  body: string;
  timestamp: string;
}

/** The text that a transaction signs: method, path, token, the body's hash, and the time, with colons between. */
export function transactionText({ method, path, token, body, timestamp }: SignedRequest): string {
  const digest = hash("sha256", minified(body), "hex");
  return [method, path, ...(token === undefined ? [] : [token]), digest, timestamp].join(":");
}

/**
 * JSON without the white space between its parts. Text within strings stays as it was written, escapes too. A text that nobody closed goes to the end:
 * looked for again from each of its quotes, an unsigned body of 250 KB held the process for 22 s.
 */
export function minified(json: string): string {
  return json.replaceAll(/("(?:[^"\\]|\\.)*(?:"|\\?$))|\s+/gs, (_, text?: string) => text ?? "");
}

/** Base64 of SHA-256 with RSA (PKCS #1 v1.5). */
export function signedByRsa(privateKey: KeyObject, text: string): string {
  return sign("sha256", Buffer.from(text), privateKey).toString("base64");
}

export function isSignedByRsa(publicKey: KeyObject, text: string, signature: string): boolean {
  return /^[A-Za-z0-9+/]{20,2048}={0,2}$/.test(signature)
    ? verify("sha256", Buffer.from(text), publicKey, Buffer.from(signature, "base64"))
    : false;
}

/** Base64 of HMAC-SHA512. */
export function signedByHmac(secret: string, text: string): string {
  return createHmac("sha512", secret).update(text).digest("base64");
}

/** Compares in constant time. */
export function isSignedByHmac(secret: string, text: string, signature: string): boolean {
  return sameText(signature, signedByHmac(secret, text));
}

/** Reads an RSA private key in PEM. Throws an Error that quotes nothing of it. */
export function privateKeyOf(pem: string): KeyObject {
  return rsaKey(() => createPrivateKey(pem), "is no private key in PEM");
}

/** Reads an RSA public key in PEM; the public half of a certificate is fine. Throws an Error that quotes nothing of it. */
export function publicKeyOf(pem: string): KeyObject {
  return rsaKey(() => createPublicKey(pem), "is no public key in PEM");
}

function rsaKey(read: () => KeyObject, otherwise: string): KeyObject {
  let key: KeyObject;
  try {
    key = read();
  } catch {
    // OpenSSL's error is not kept as the cause: its message may quote the key.
    throw new Error(otherwise);
  }
  if (key.asymmetricKeyType !== "rsa") throw new Error("is no RSA key");
  if ((key.asymmetricKeyDetails?.modulusLength ?? 0) < 2048) throw new Error("has fewer than 2048 bits");
  return key;
}
