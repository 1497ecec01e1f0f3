// Converts operation keys to Midtrans' order ids and refund keys, and back. Pure.
import { sha256 } from "../../ground/crypto.ts";
import { assert } from "../../ground/fault.ts";

/** A Midtrans order id has at most 50 characters of letters, digits, `-`, `_`, `~` and `.`; an operation key has up to 64. */
const NAME_MAX = 50;

// 24 characters of base64url hold 144 bits: 26 characters of a merchant id, five bits each, one bit for the environment, 13 for the attempt.
const alphabet = "0123456789abcdefghjkmnpqrstvwxyz";
const ATTEMPT_MAX = 0x1fff;
const PRODUCTION = 0x2000;
const NUMBER_BITS = 14n;
const PACKED_BYTES = 18;

const longKey = /^(pay|rfd)([0-9a-hjkmnp-tv-z]{26})\.([0-9a-hjkmnp-tv-z]{26})\.([sp])([1-9]\d{0,3})$/;
const shortKey = /^[a-z0-9.]{1,49}$/;
const packedName = /^([0-9a-hjkmnp-tv-z]{26})([A-Za-z0-9_-]{24})$/;

type Kind = "pay" | "rfd";

/**
 * Converts a payment's operation key to an order id. It begins with the 26 characters of the payment's reference, so that a person finds it in
 * Midtrans' dashboard; merchant, environment and attempt follow in 24 of base64url. Keys of fewer than 50 characters stay as they are.
 */
export function orderIdOf(operationKey: string): string {
  return packed(operationKey, "pay");
}

/** Converts an order id to its operation key; undefined when the id is not Gerbang's. */
export function operationKeyOfOrder(orderId: string): string | undefined {
  return unpacked(orderId, "pay");
}

/** Converts a refund's operation key to a refund key, which may contain no dot. */
export function refundKeyOf(operationKey: string): string {
  return packed(operationKey, "rfd").replaceAll(".", "_");
}

/** Converts a refund key to its operation key; undefined when the key is not Gerbang's. */
export function operationKeyOfRefund(refundKey: string): string | undefined {
  return unpacked(refundKey.length < NAME_MAX ? refundKey.replaceAll("_", ".") : refundKey, "rfd");
}

/** One `Idempotency-Key` counts across all of Midtrans' addresses, and is ignored beyond 46 characters. This one has 43. */
export function idempotencyKeyOf(verb: "charge" | "page" | "refund", operationKey: string): string {
  return sha256(`${verb} ${operationKey}`).toString("base64url");
}

function packed(key: string, kind: Kind): string {
  const parts = longKey.exec(key);
  if (!parts) {
    assert(shortKey.test(key), `the operation key ${key} cannot be told to Midtrans`);
    return key;
  }
  const [, prefix, body = "", merchant = "", environment, attempt] = parts;
  const number = Number(attempt);
  assert(prefix === kind && number <= ATTEMPT_MAX, `the operation key ${key} cannot be told to Midtrans`);
  const characters = [...merchant].reduce((bits, character) => (bits << 5n) | BigInt(alphabet.indexOf(character)), 0n);
  const bits = (characters << NUMBER_BITS) | BigInt(environment === "p" ? PRODUCTION | number : number);
  return body + Buffer.from(bits.toString(16).padStart(PACKED_BYTES * 2, "0"), "hex").toString("base64url");
}

function unpacked(name: string, kind: Kind): string | undefined {
  if (name.length !== NAME_MAX) return shortKey.test(name) ? name : undefined;
  const [, body, rest] = packedName.exec(name) ?? [];
  if (body === undefined || rest === undefined) return undefined;
  const bits = BigInt(`0x${Buffer.from(rest, "base64url").toString("hex")}`);
  const number = Number(bits & ((1n << NUMBER_BITS) - 1n));
  const attempt = number & ATTEMPT_MAX;
  if (attempt === 0) return undefined;
  const merchant = Array.from(
    { length: 26 },
    (_, at) => alphabet[Number((bits >> (NUMBER_BITS + 5n * BigInt(25 - at))) & 31n)],
  );
  return `${kind}${body}.${merchant.join("")}.${number & PRODUCTION ? "p" : "s"}${attempt}`;
}
