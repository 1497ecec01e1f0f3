// Cryptography: digests, signatures of requests and webhooks, random secrets, and the vault. Seals, and their format, are in key-ring.ts.
import { hash, hkdfSync, randomBytes, timingSafeEqual } from "node:crypto";
import { encode } from "./ids.ts";
import { KeyRing } from "./key-ring.ts";
import type { SigningKey } from "./signing-key.ts";

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

/** SHA-256, in hex, of several texts. Only the last may contain a space, so different lists never give the same input. */
export function fingerprintOf(...texts: string[]): string {
  return hash("sha256", texts.join(" "), "hex");
}

/** Largest difference, in both directions, between the timestamp of a signed request or webhook and the clock of its receiver. */
export const TIMESTAMP_WINDOW_SECONDS = 300;

/** Checks a timestamp (interface 5, rule 3): 300 seconds are accepted, 301 are not. Both arguments are Unix seconds. */
export function isInTimestampWindow(timestamp: number, now: number): boolean {
  return Math.abs(timestamp - now) <= TIMESTAMP_WINDOW_SECONDS;
}

/** Signs by interface 5 and 6.2: lower-case hex of HMAC-SHA256 over timestamp + '.' + the exact bytes of the body. */
export function sign(key: SigningKey, timestamp: string, body: Uint8Array | string): string {
  return key.sign("hex", timestamp, ".", body);
}

/** True when `signature` is exactly the result of `sign`. Compares in constant time. */
export function isSigned(key: SigningKey, timestamp: string, body: Uint8Array | string, signature: string): boolean {
  return sameText(sign(key, timestamp, body), signature);
}

/** Compares texts in constant time. Texts of different lengths are unequal at once: the length is no secret. */
export function sameText(left: string, right: string): boolean {
  const a = Buffer.from(left);
  const b = Buffer.from(right);
  return a.length === b.length && timingSafeEqual(a, b);
}

/** Makes an unguessable text: 188 random bits in Crockford base32 after a prefix. */
export function newSecret(prefix: string): string {
  return prefix + encode(randomBytes(16)) + encode(randomBytes(16)).slice(14);
}

/** The 32 bytes of a master key that is written in hex or base64; undefined when the text is neither. */
export function masterKeyBytes(text: string): Buffer | undefined {
  const bytes = /^[0-9a-f]{64}$/i.test(text) ? Buffer.from(text, "hex") : Buffer.from(text, "base64");
  return bytes.length === 32 ? bytes : undefined;
}

export const MASTER_KEY_FORM = "must be 32 bytes, as 64 hex digits or in base64";

type Keys = [Buffer, ...Buffer[]];

/** Derives a key for each purpose, and seals secrets. While the master key is being replaced there are two: the first seals, both open. */
export class Vault extends KeyRing {
  private readonly masters: Keys;

  /** Takes master keys of 32 bytes in hex or base64. Throws when one is neither. */
  constructor(master: string, second?: string) {
    const masters: Keys = second === undefined ? [masterOf(master)] : [masterOf(master), masterOf(second)];
    super(derivedEach(masters, "seal"));
    this.masters = masters;
  }

  /** Derives the key of a purpose, so that no key serves two purposes. */
  derive(purpose: string): Buffer {
    return derived(this.masters[0], purpose);
  }

  /** Derives the key of a purpose from each master key, in the order of the master keys. */
  deriveEach(purpose: string): Keys {
    return derivedEach(this.masters, purpose);
  }
}

function masterOf(text: string): Buffer {
  const bytes = masterKeyBytes(text);
  if (!bytes) throw new Error(`MASTER_KEY ${MASTER_KEY_FORM}`);
  return bytes;
}

function derivedEach([first, ...others]: Keys, purpose: string): Keys {
  return [derived(first, purpose), ...others.map((master) => derived(master, purpose))];
}

function derived(master: Buffer, purpose: string): Buffer {
  return Buffer.from(hkdfSync("sha256", master, "gerbang", purpose, 32));
}
