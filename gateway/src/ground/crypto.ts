// Cryptography: digests, request and webhook signatures, and sealing of secrets at rest.
import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  hash,
  hkdfSync,
  randomBytes,
  timingSafeEqual,
  type Hmac,
  type KeyObject,
} from "node:crypto";
import { encode } from "./ids.ts";

export function sha256(data: string | Uint8Array): Buffer {
  return hash("sha256", data, "buffer");
}

/** SHA-256 over several parts, each preceded by its length so that no two lists of parts collide. */
export function digestOf(...parts: (string | Uint8Array)[]): Buffer {
  const texts = parts.every((part) => typeof part === "string");
  if (texts) return sha256(parts.map((part) => `${Buffer.byteLength(part)}:${part}`).join(""));
  return sha256(
    Buffer.concat(parts.flatMap((part) => [Buffer.from(`${Buffer.byteLength(part)}:`), Buffer.from(part)])),
  );
}

/** SHA-256 in hex of several texts, of which none but the last has a space: no two lists of such texts collide. */
export function fingerprintOf(...texts: string[]): string {
  return hash("sha256", texts.join(" "), "hex");
}

export function signingKey(secret: string): KeyObject {
  return createSecretKey(Buffer.from(secret, "utf8"));
}

const hmacOf = (key: KeyObject, timestamp: string, body: Uint8Array | string): Hmac =>
  createHmac("sha256", key).update(`${timestamp}.`).update(body);

/** How far a signature's timestamp may be from the clock that judges it, in both directions: in requests and webhooks. */
export const TIMESTAMP_WINDOW_SECONDS = 300;

/** Interface 5, rule 3: 300 seconds are accepted, 301 are not. Both in Unix seconds. */
export function isInTimestampWindow(timestamp: number, now: number): boolean {
  return Math.abs(timestamp - now) <= TIMESTAMP_WINDOW_SECONDS;
}

/** Interface 5 and 6.2: lower-case hex of HMAC-SHA256 over timestamp + '.' + the exact bytes of the body. */
export function sign(key: KeyObject, timestamp: string, body: Uint8Array | string): string {
  return hmacOf(key, timestamp, body).digest("hex");
}

/** Whether `signature` is exactly what `sign` gives; compared in constant time, as bytes, which costs less than as texts. */
export function isSigned(key: KeyObject, timestamp: string, body: Uint8Array | string, signature: string): boolean {
  if (!/^[0-9a-f]{64}$/.test(signature)) return false;
  return timingSafeEqual(hmacOf(key, timestamp, body).digest(), Buffer.from(signature, "hex"));
}

/** Compares in constant time; different lengths are unequal at once (the length is no secret). */
export function sameText(left: string, right: string): boolean {
  const a = Buffer.from(left);
  const b = Buffer.from(right);
  return a.length === b.length && timingSafeEqual(a, b);
}

/** An unguessable name: 160 random bits in Crockford base32 behind a prefix. */
export function newSecret(prefix: string): string {
  return prefix + encode(randomBytes(16)) + encode(randomBytes(16)).slice(14);
}

/** The 32 bytes of a master key, written in hex or base64; undefined when it is neither. */
export function masterKeyBytes(text: string): Buffer | undefined {
  const bytes = /^[0-9a-f]{64}$/i.test(text) ? Buffer.from(text, "hex") : Buffer.from(text, "base64");
  return bytes.length === 32 ? bytes : undefined;
}

export const MASTER_KEY_FORM = "must be 32 bytes, as 64 hex digits or in base64";

/** Seals secrets with AES-256-GCM under keys derived from the master key, one for each purpose. */
export class Vault {
  private readonly master: Buffer;

  /** `master`: 32 bytes in hex or base64. Throws when it is neither. */
  constructor(master: string) {
    const bytes = masterKeyBytes(master);
    if (!bytes) throw new Error(`MASTER_KEY ${MASTER_KEY_FORM}`);
    this.master = bytes;
  }

  /** A key for one purpose, so that the same master never serves two. */
  derive(purpose: string): Buffer {
    return Buffer.from(hkdfSync("sha256", this.master, "gerbang", purpose, 32));
  }

  /** version byte, 12-byte nonce, ciphertext, 16-byte tag; bound to `owner`, so that a sealed value moved to another row fails. */
  seal(secret: string, owner: string): Buffer {
    const nonce = randomBytes(12);
    const cipher = createCipheriv("aes-256-gcm", this.derive("seal"), nonce).setAAD(Buffer.from(owner));
    return Buffer.concat([Buffer.of(1), nonce, cipher.update(secret, "utf8"), cipher.final(), cipher.getAuthTag()]);
  }

  /** The secret, or an error when the bytes were changed, belong to another owner or another master key. */
  open(sealed: Uint8Array, owner: string): string {
    const bytes = Buffer.from(sealed);
    if (bytes[0] !== 1) throw new Error("unknown seal version");
    const decipher = createDecipheriv("aes-256-gcm", this.derive("seal"), bytes.subarray(1, 13));
    decipher.setAAD(Buffer.from(owner)).setAuthTag(bytes.subarray(bytes.length - 16));
    return decipher.update(bytes.subarray(13, bytes.length - 16), undefined, "utf8") + decipher.final("utf8");
  }
}
