// HTTP Message Signatures (RFC 9421) with HMAC-SHA256: reads a signature, forms its signature base and verifies it (interface 5.1).
import { isInTimestampWindow } from "../ground/crypto.ts";
import { timingSafeEqual } from "node:crypto";
import { type Micros, SECOND } from "../ground/clock.ts";
import { Fault } from "../ground/fault.ts";
import type { SigningKey } from "../ground/signing-key.ts";
import { type InnerList, type Member, innerListText, parseDictionary } from "../ground/structured-fields.ts";
import type { Client } from "../merchants/directory.ts";
import { type DigestProblem, digestProblem } from "./content-digest.ts";
import { type MessageProblem, problemText } from "./message-problems.ts";
import type { MessageClaim } from "./signature.ts";
import { type SignedMessage, addressOf, componentValue, fieldValue, isComponentName } from "./signed-message.ts";

/** A problem of a signature that shows before any key is used; `subject` is the component, parameter, label or header that has it. */
interface Objection {
  problem: MessageProblem | DigestProblem;
  subject: string;
}

/** A well-formed signature that covers all required components and is not verified yet. */
interface ReadSignature extends Times {
  base: string;
  signature: Buffer;
  nonce: string;
}

/** Unix seconds. */
interface Times {
  created: number;
  expires: number | undefined;
}

/** The client's signature among those of a request. */
interface OwnSignature {
  list: InnerList;
  label: string;
  bytes: Buffer | undefined;
}

const BOUNDS = { characters: 4_096, members: 4, itemsOfList: 16, parameters: 16 };

/** The components that a signature of this request must cover. */
export function requiredOf({ headers }: SignedMessage): string[] {
  const required = ["@method", "@target-uri", "content-digest"];
  return Object.hasOwn(headers, "idempotency-key") ? [...required, "idempotency-key"] : required;
}

/** Finds the client's signature among those of a request. Gives its components and parameters, its label and its bytes. */
export function ownSignature(claim: Omit<MessageClaim, "scheme">): OwnSignature | { objection: Objection } {
  const inputs = parseDictionary(claim.signatureInput, BOUNDS);
  if (!inputs) return objection("header_malformed", "signature-input");
  const signatures = parseDictionary(claim.signature, BOUNDS);
  if (!signatures) return objection("header_malformed", "signature");
  const lists: [string, InnerList][] = [];
  for (const [label, member] of inputs) {
    if (member.kind !== "list") return objection("header_malformed", "signature-input");
    lists.push([label, member.list]);
  }
  const own = lists.filter(([, list]) => list.parameters.get("keyid")?.value === claim.clientId);
  if (own.length > 1) return objection("signed_twice", "keyid");
  const [label, list] = own[0] ?? [];
  if (label === undefined || list === undefined) return objection("not_by_client", "keyid");
  return { list, label, bytes: signatureBytes(signatures.get(label)) };
}

/**
 * Reads the client's signature of a request and checks its form, its parameters and its components. Uses neither the key nor the clock nor
 * the body, so the signature is not verified yet. An objection comes with the times of the signature where they could be read: whether they are over
 * comes first in the order of errors.
 */
export function readSignature(
  message: SignedMessage,
  claim: Omit<MessageClaim, "scheme">,
): ReadSignature | { objection: Objection; times?: Times } {
  const own = ownSignature(claim);
  if ("objection" in own) return own;
  const times = timesOf(own.list);
  if ("objection" in times) return times;
  const rest = restOf(message, own);
  return "objection" in rest ? { ...rest, times } : { ...rest, ...times };
}

/** Reads everything of a signature but its times. */
function restOf(
  message: SignedMessage,
  { list, label, bytes }: OwnSignature,
): Omit<ReadSignature, keyof Times> | { objection: Objection } {
  if (bytes === undefined) return objection("signature_absent", label);
  if (bytes.length !== 32) return objection("signature_length", label);
  const nonce = nonceOf(list);
  if (typeof nonce !== "string") return nonce;
  const base = signatureBase(message, list);
  return typeof base === "string" ? { base, signature: bytes, nonce } : base;
}

function objection(problem: MessageProblem, subject: string): { objection: Objection } {
  return { objection: { problem, subject } };
}

function signatureBytes(member: Member | undefined): Buffer | undefined {
  const value = member?.kind === "item" ? member.item.bare.value : undefined;
  return Buffer.isBuffer(value) ? value : undefined;
}

function timesOf({ parameters }: InnerList): Times | { objection: Objection } {
  if (!parameters.has("created")) return objection("parameter_missing", "created");
  const [created, expires] = [parameters.get("created"), parameters.get("expires")];
  if (created?.kind !== "integer") return objection("parameter_wrong", "created");
  if (expires !== undefined && expires.kind !== "integer") return objection("parameter_wrong", "expires");
  return { created: Number(created.value), expires: expires && Number(expires.value) };
}

/** Gives the nonce, after a look at the other parameters. */
function nonceOf({ parameters }: InnerList): string | { objection: Objection } {
  if (!parameters.has("nonce")) return objection("parameter_missing", "nonce");
  const [nonce, alg, keyid] = ["nonce", "alg", "keyid"].map((name) => parameters.get(name));
  if (keyid?.kind !== "string") return objection("parameter_wrong", "keyid");
  if (alg !== undefined && !(alg.kind === "string" && alg.value === "hmac-sha256"))
    return objection("parameter_wrong", "alg");
  const text = nonce?.kind === "string" ? String(nonce.value) : "";
  return text.length < 16 || text.length > 64 ? objection("parameter_wrong", "nonce") : text;
}

/** Forms the signature base (RFC 9421, section 2.5), or gives the objection. */
function signatureBase(message: SignedMessage, list: InnerList): string | { objection: Objection } {
  const address = addressOf(message);
  const lines = new Map<string, string>();
  for (const { bare, parameters } of list.items) {
    // The bytes of a byte sequence are not shown: no text of the database may have a NUL.
    const name = bare.kind === "string" ? String(bare.value) : bare.text;
    if (bare.kind !== "string" || !isComponentName(name)) return objection("component_unknown", name.slice(0, 64));
    if (parameters.size > 0) return objection("component_parameter", name);
    if (lines.has(name)) return objection("component_twice", name);
    const value = componentValue(message, address, name);
    if (value === undefined) return objection("component_absent", name);
    if (!/^[\t\x20-\x7e]*$/.test(value)) return objection("component_value", name);
    lines.set(name, value);
  }
  const missing = requiredOf(message).find((name) => !lines.has(name));
  if (missing !== undefined) return objection("component_missing", missing);
  return baseText(lines, innerListText(list));
}

/** Joins components with their values, in the given order, and the text of the signature's parameters to a signature base. */
export function baseText(components: Iterable<readonly [string, string]>, parameters: string): string {
  const lines = [...components].map(([name, value]) => `"${name}": ${value}`);
  return [...lines, `"@signature-params": ${parameters}`].join("\n");
}

export function signBase(key: SigningKey, base: string): Buffer {
  return Buffer.from(key.sign("hex", base), "hex");
}

/** Verifies a request's signature (interface 5.1). Gives its nonce and creation (Unix seconds). Throws SIGNATURE_INVALID, TIMESTAMP_OUT_OF_WINDOW. */
export function verifyMessage(
  client: Pick<Client, "clientId" | "key">,
  claim: Omit<MessageClaim, "scheme">,
  message: SignedMessage,
  body: Buffer,
  realNow: Micros,
): { created: number; nonce: string } {
  const read = readSignature(message, claim);
  const times = "objection" in read ? read.times : read;
  if (times && isOver(times, Math.floor(realNow / SECOND)))
    throw new Fault("TIMESTAMP_OUT_OF_WINDOW", { message: OUT_OF_WINDOW });
  if ("objection" in read) throw invalid(read.objection);
  const { base, signature, created, nonce } = read;
  if (!timingSafeEqual(signBase(client.key, base), signature))
    throw new Fault("SIGNATURE_INVALID", { message: NOT_PROVED });
  const wrong = bodyProblem(message, body);
  if (wrong) throw invalid({ problem: wrong, subject: "content-digest" });
  return { created, nonce };
}

/** True when a signature is out of the window, or expired, at a moment in Unix seconds. */
function isOver({ created, expires }: Times, now: number): boolean {
  return !isInTimestampWindow(created, now) || (expires !== undefined && expires < now);
}

/** The problem of a request's Content-Digest; undefined when the header fits the body. */
export function bodyProblem(message: SignedMessage, body: Buffer): DigestProblem | undefined {
  return digestProblem(fieldValue(message, "content-digest") ?? "", body);
}

const OUT_OF_WINDOW =
  "The parameter created is more than 300 seconds from our clock, or expires is over. Synchronise your clock and sign again.";
const NOT_PROVED =
  "The signature does not fit the signature base (RFC 9421, section 2.5) that we form from this request. Sign exactly the method, the " +
  "address and the headers that you send, with the secret of this client_id.";

function invalid({ problem, subject }: Objection): Fault {
  return new Fault("SIGNATURE_INVALID", { message: problemText(problem, subject) });
}
