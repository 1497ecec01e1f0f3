// Identifiers: in the API a kind prefix and a UUIDv7 in 26 lower-case Crockford base32 characters, in the database a `uuid`.
import { randomFillSync } from "node:crypto";
import type { Micros } from "./clock.ts";
import { remembered } from "./remembered.ts";

const kinds = {
  payment: "pay_",
  refund: "rfd_",
  settlement: "set_",
  dispute: "dsp_",
  event: "evt_",
  request: "req_",
  merchant: "mer_",
  journal: "jrn_",
  delivery: "dlv_",
  receipt: "rcp_",
  exception: "ctr_",
  person: "prs_",
  session: "ses_",
  invitation: "inv_",
  passkey: "psk_",
  file: "fil_",
  operatorToken: "otk_",
  refusal: "rej_",
  incident: "inc_",
  incidentUpdate: "inu_",
  approval: "apr_",
  verification: "vrf_",
  link: "lnk_",
} as const;

export type IdKind = keyof typeof kinds;

/** Comes before every identity in the database: where a list begins. */
export const LEAST_UUID = "00000000-0000-0000-0000-000000000000";

const alphabet = "0123456789abcdefghjkmnpqrstvwxyz";
const codes = Buffer.from(alphabet);
const hexDigits = new Uint8Array(128);
for (const [value, character] of [..."0123456789abcdef"].entries()) hexDigits[character.charCodeAt(0)] = value;
/** Buffer in which each text is built before it is converted. */
const written = Buffer.alloc(26);
/** Values of the characters of the alphabet, by character code. */
const digits = new Uint8Array(128);
for (const [value, character] of [...alphabet].entries()) digits[character.charCodeAt(0)] = value;
const body = /^[0-7][0-9a-hjkmnp-tv-z]{25}$/;

const pool = Buffer.alloc(8192);
let used = pool.length;

function randomBytes(count: number): Buffer {
  if (used + count > pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  used += count;
  return pool.subarray(used - count, used);
}

let lastAt: Micros | undefined;
let step = 0;

/**
 * Makes an identifier that sorts by `at` (UUIDv7 with the sub-millisecond part in `rand_a`). Identifiers made one after another for the same
 * moment sort in that order too: `rand_b` begins with a counter.
 */
export function newId(kind: IdKind, at: Micros): string {
  const bytes = Buffer.allocUnsafe(16);
  const ms = Math.floor(at / 1000);
  bytes.writeUIntBE(ms, 0, 6);
  bytes.writeUInt16BE(0x7000 | Math.floor(((at - ms * 1000) * 4096) / 1000), 6);
  randomBytes(8).copy(bytes, 8);
  step = at === lastAt ? step + 1 : bytes.readUInt16BE(8) & 0x1fff;
  lastAt = at;
  bytes.writeUInt16BE(0x8000 | (step & 0x3fff), 8);
  return kinds[kind] + encode(bytes);
}

/** The moment for which an identifier was made, in microseconds, exact to the millisecond. */
export function momentOf(id: string): Micros {
  return decode(id.slice(-26)).readUIntBE(0, 6) * 1000;
}

/** The least `uuid` of an identity that was made at this moment: identities begin with their time in milliseconds. */
export function leastIdOf(at: Micros): string {
  const ms = Math.floor(at / 1000)
    .toString(16)
    .padStart(12, "0");
  return `${ms.slice(0, 8)}-${ms.slice(8)}-0000-0000-000000000000`;
}

/** Writes 16 bytes as 26 characters, most significant first (130 bits, the first two zero). */
export function encode(bytes: Uint8Array): string {
  let [value, bits, at] = [0, 2, 0];
  for (const byte of bytes) {
    value = (value << 8) | byte;
    bits += 8;
    while (bits >= 5) {
      bits -= 5;
      written[at++] = codes[(value >>> bits) & 31] as number;
    }
    value &= (1 << bits) - 1;
  }
  return written.toString("latin1");
}

/** Reverses `encode`; undefined for a text that `encode` cannot have made. */
export function decoded(text: string): Buffer | undefined {
  return body.test(text) ? decode(text) : undefined;
}

function decode(text: string): Buffer {
  const bytes = Buffer.allocUnsafe(16);
  let value = 0;
  let bits = -2;
  let at = 0;
  for (let index = 0; index < text.length; index++) {
    value = (value << 5) | (digits[text.charCodeAt(index)] ?? 0);
    bits += 5;
    if (bits >= 8) {
      bits -= 8;
      bytes[at++] = (value >>> bits) & 255;
      value &= (1 << bits) - 1;
    }
  }
  return bytes;
}

/** The regular expression that identifiers of this kind match, for contracts. */
export function idPattern(kind: IdKind): string {
  return `^${kinds[kind]}${body.source.slice(1)}`;
}

/** True when `text` is a well-formed identifier of this kind. The API answers a malformed identifier as "not found". */
export function isId(kind: IdKind, text: string): boolean {
  return text.startsWith(kinds[kind]) && body.test(text.slice(4));
}

// A cache of merchants' identifiers in both forms: every row of every table needs one.
const merchants = new Map<string, string>();
const MERCHANTS_MAX = 20_000;

/** Converts a well-formed identifier to the `uuid` of the database. */
export function uuidOf(id: string): string {
  return id.startsWith(kinds.merchant) ? remembered(merchants, MERCHANTS_MAX, id, dashed) : dashed(id);
}

/** `uuidOf` of an identifier that there may be none of. */
export function uuidOrNull(id: string | undefined): string | null {
  return id === undefined ? null : uuidOf(id);
}

/** Converts a well-formed identifier to the 16 bytes of its `uuid`. */
export function uuidBytes(id: string): Buffer {
  return decode(id.slice(4));
}

function dashed(id: string): string {
  const hex = decode(id.slice(4)).toString("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/** Converts a `uuid` of the database to an identifier. */
export function idOf(kind: IdKind, uuid: string): string {
  if (kind === "merchant") return remembered(merchants, MERCHANTS_MAX, uuid, () => kinds.merchant + undashed(uuid));
  return kinds[kind] + undashed(uuid);
}

/** The identifier of a kind that has the same `uuid` as `id`, which is one of another kind. */
export function sameId(kind: IdKind, id: string): string {
  return kinds[kind] + id.slice(4);
}

function undashed(uuid: string): string {
  let [value, bits, at] = [0, 2, 0];
  for (let index = 0; index < uuid.length; index++) {
    const code = uuid.charCodeAt(index);
    if (code === 45) continue;
    value = (value << 4) | (hexDigits[code] as number);
    bits += 4;
    if (bits < 5) continue;
    bits -= 5;
    written[at++] = codes[(value >>> bits) & 31] as number;
    value &= (1 << bits) - 1;
  }
  return written.toString("latin1");
}
