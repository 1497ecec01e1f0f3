// What Midtrans calls our operations: an order id and a refund key, made from an operation key so that the key can be read back from them. Pure.
import { sha256 } from "../../ground/crypto.ts";
import { assert } from "../../ground/fault.ts";
import { decoded, encode } from "../../ground/ids.ts";

/** Their order id has at most 50 characters of letters, digits, `-`, `_`, `~` and `.`; an operation key has up to 64. */
const NAME_MAX = 50;
const ATTEMPT_MAX = 0x7fff;
const PRODUCTION = 0x8000;

const longKey = /^(pay|rfd)([0-9a-z]{26})\.([0-9a-z]{26})\.([sp])([1-9]\d{0,4})$/;
const shortKey = /^[a-z0-9.]{1,49}$/;
const packedName = /^([0-9a-z]{26})([A-Za-z0-9_-]{24})$/;

type Kind = "pay" | "rfd";

/**
 * The order id of a payment's operation key. It begins with the 26 characters of the payment's reference, so that a person finds it in
 * their dashboard; the merchant, the environment and the attempt follow in 24 of base64url. A key of fewer than 50 characters stays as it is.
 */
export function orderIdOf(operationKey: string): string {
  return packed(operationKey, "pay");
}

/** The operation key of an order id; undefined when it is none of ours. */
export function operationKeyOfOrder(orderId: string): string | undefined {
  return unpacked(orderId, "pay");
}

/** The refund key of a refund's operation key. Refund keys take no dot. */
export function refundKeyOf(operationKey: string): string {
  return packed(operationKey, "rfd").replaceAll(".", "_");
}

/** The operation key of a refund key; undefined when it is none of ours. */
export function operationKeyOfRefund(refundKey: string): string | undefined {
  return unpacked(refundKey.length < NAME_MAX ? refundKey.replaceAll("_", ".") : refundKey, "rfd");
}

/** Their `Idempotency-Key` counts across all of their addresses, and is ignored beyond 46 characters. This one has 43. */
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
  const bytes = decoded(merchant);
  const number = Number(attempt);
  const fits = prefix === kind && decoded(body) && bytes && number <= ATTEMPT_MAX;
  assert(fits, `the operation key ${key} cannot be told to Midtrans`);
  const last = Buffer.alloc(2);
  last.writeUInt16BE(environment === "p" ? PRODUCTION | number : number);
  return body + Buffer.concat([bytes, last]).toString("base64url");
}

function unpacked(name: string, kind: Kind): string | undefined {
  if (name.length !== NAME_MAX) return shortKey.test(name) ? name : undefined;
  const [, body = "", rest = ""] = packedName.exec(name) ?? [];
  if (!decoded(body)) return undefined;
  const bytes = Buffer.from(rest, "base64url");
  const last = bytes.readUInt16BE(16);
  const attempt = last & ATTEMPT_MAX;
  return attempt === 0
    ? undefined
    : `${kind}${body}.${encode(bytes.subarray(0, 16))}.${last & PRODUCTION ? "p" : "s"}${attempt}`;
}
