// Codes of an authenticator: TOTP (RFC 6238) with HMAC-SHA1, six digits and steps of 30 seconds, which every authenticator supports. Pure.
import { createHmac } from "node:crypto";
import { type Micros, SECOND } from "../ground/clock.ts";
import { sameText } from "../ground/crypto.ts";

const STEP_SECONDS = 30;
const DIGITS = 6;
/** Steps before and after the current one whose codes are accepted, for clocks that differ and the time that typing takes. */
const TOLERANCE_STEPS = 1;
/** Bytes of a secret: the length of a SHA-1 hash (RFC 4226, section 4). */
export const TOTP_SECRET_BYTES = 20;

export function codeOf(secret: Buffer, step: number): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const mac = createHmac("sha1", secret).update(counter).digest();
  const at = (mac.at(-1) ?? 0) & 0xf;
  return String((mac.readUInt32BE(at) & 0x7fffffff) % 10 ** DIGITS).padStart(DIGITS, "0");
}

/**
 * The step that a code belongs to; undefined when the code is wrong. A code is good once: codes of `used`, the newest step with an accepted code, and of
 * steps before it are refused. Every candidate is compared, each in constant time.
 */
export function stepOfCode(secret: Buffer, code: string, now: Micros, used: number | undefined): number | undefined {
  const current = Math.floor(now / SECOND / STEP_SECONDS);
  let found: number | undefined;
  for (let step = current - TOLERANCE_STEPS; step <= current + TOLERANCE_STEPS; step++) {
    const good = sameText(codeOf(secret, step), code);
    if (good && step > (used ?? -1)) found = step;
  }
  return found;
}

const BASE32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/** A secret in base32 (RFC 4648) without padding, for typing into an authenticator. */
export function base32(bytes: Buffer): string {
  let bits = "";
  for (const byte of bytes) bits += byte.toString(2).padStart(8, "0");
  return (bits.match(/.{1,5}/g) ?? []).map((five) => BASE32[Number.parseInt(five.padEnd(5, "0"), 2)]).join("");
}

/** The `otpauth://` address that an authenticator reads from a QR code. */
export function enrolmentUri(issuer: string, account: string, secret: Buffer): string {
  const label = `${encodeURIComponent(issuer)}:${encodeURIComponent(account)}`;
  return `otpauth://totp/${label}?secret=${base32(secret)}&issuer=${encodeURIComponent(issuer)}`;
}
