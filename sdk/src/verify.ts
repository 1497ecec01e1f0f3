// Webhook verification: a delivery is verified over its raw bytes before anything parses it (interface, section 6.3).
import { type EventStore, type Sleep, claimed } from "./claims.ts";
import { encoder, hashing } from "./hashing.ts";
import { base64, hex } from "./signing.ts";
import type { EventType, WebhookEvent } from "./types.ts";

/** The checks of a delivery, in the order in which they run. */
export type WebhookStep =
  | "header_missing"
  | "timestamp_malformed"
  | "timestamp_out_of_window"
  | "signature_malformed"
  | "signature_mismatch"
  | "body_malformed";

const reasons: Record<WebhookStep, string> = {
  header_missing:
    "The headers of a delivery are missing. Does something before you drop them, or is another prefix configured?",
  timestamp_malformed: "The timestamp is not one Unix time in seconds.",
  timestamp_out_of_window:
    "The timestamp is more than 300 seconds from this machine's clock. Synchronise it (NTP); an old delivery is refused.",
  signature_malformed: "The signature has not the form of one.",
  signature_mismatch:
    "The signature does not fit. Give the raw bytes of the body, unparsed, and the secret of this address and environment.",
  body_malformed: "The signature is good, but the body is no event.",
};

/** A delivery that is not genuine. Answer it with 401 and do nothing else. */
export class WebhookError extends Error {
  readonly step: WebhookStep;

  constructor(step: WebhookStep) {
    super(reasons[step]);
    this.name = "WebhookError";
    this.step = step;
  }
}

/** Headers as `fetch`, Node and frameworks give them. */
export type DeliveryHeaders =
  | Headers
  | Iterable<[string, string]>
  | Record<string, string | readonly string[] | undefined>;

export interface UnwrapOptions {
  /** Prefix of the service's headers; `X-SVC-` unless the operator changed it. */
  headerPrefix?: string | undefined;
  /** Unix seconds; the current time by default. */
  now?: number | undefined;
}

export interface ClaimOptions {
  store: Pick<EventStore, "claim">;
  /** Waits, in milliseconds, while another process holds the claim; tests replace it. */
  sleep?: Sleep | undefined;
}

/** The webhook secrets in use. One that is undefined or empty is passed over: a variable may be unset during a rotation. At least one must be set. */
export type Secrets = string | undefined | readonly (string | undefined)[];

const WINDOW_SECONDS = 300;

/**
 * Verifies a delivery and returns its event. `body` is the raw body; `secrets` are all secrets in use, such as two during a rotation. Throws a
 * WebhookError that names the failed step. With a `store` the event is also claimed: an event that was handled before gives undefined, and an
 * EventBusyError says that another process handles it. The caller ends the claim with `done` or `release`.
 */
export async function unwrap(
  body: string | Uint8Array,
  headers: DeliveryHeaders,
  secrets: Secrets,
  options: UnwrapOptions & ClaimOptions,
): Promise<WebhookEvent | undefined>;
export async function unwrap(
  body: string | Uint8Array,
  headers: DeliveryHeaders,
  secrets: Secrets,
  options?: UnwrapOptions,
): Promise<WebhookEvent>;
export async function unwrap(
  body: string | Uint8Array,
  headers: DeliveryHeaders,
  secrets: Secrets,
  options: UnwrapOptions & Partial<ClaimOptions> = {},
): Promise<WebhookEvent | undefined> {
  const { headerPrefix = "X-SVC-", now = Math.floor(Date.now() / 1000), store, sleep } = options;
  const known = secretsOf(secrets);
  const bytes = typeof body === "string" ? encoder.encode(body) : new Uint8Array(body);
  const read = readerOf(headers);
  const prefix = headerPrefix.toLowerCase();
  const own = { timestamp: read(`${prefix}timestamp`), signature: read(`${prefix}signature`) };
  const standard = {
    id: read("webhook-id"),
    timestamp: read("webhook-timestamp"),
    signature: read("webhook-signature"),
  };
  const isStandard = isThere(standard.id) && isThere(standard.timestamp) && isThere(standard.signature);
  if (isThere(own.timestamp) && isThere(own.signature)) {
    const timestamp = inWindow(own.timestamp, now);
    if (!/^[0-9a-f]{64}$/.test(own.signature)) throw new WebhookError("signature_malformed");
    const isGood = await fits(known, joined(`${timestamp}.`, bytes), hex, [own.signature]);
    if (!isGood) {
      // During a rotation the Standard Webhooks header still carries a signature by the old secret.
      if (!isStandard) throw new WebhookError("signature_mismatch");
      await verifyStandard(standard, known, bytes, now);
    }
  } else {
    if (!isStandard) throw new WebhookError("header_missing");
    await verifyStandard(standard, known, bytes, now);
  }
  const event = eventOf(bytes);
  return store === undefined || (await claimed(store, event.id, sleep)) ? event : undefined;
}

/** The secrets that are set, of those given. Throws a TypeError when none is, and for what is no secret: signatures by an empty key fit for everybody. */
function secretsOf(given: unknown): string[] {
  const set = [given].flat().filter((secret) => secret !== undefined && secret !== "");
  const isSecret = (secret: unknown): secret is string => typeof secret === "string" && standardKey(secret).length > 0;
  if (set.length > 0 && set.every(isSecret)) return set;
  throw new TypeError("Give the webhook secret: without one nothing can be verified.");
}

const isThere = (value: string | undefined): value is string => value !== undefined;

/** Reads headers by lower-case name. Repeated headers are joined with commas, as HTTP says, which makes them malformed. */
export function readerOf(headers: DeliveryHeaders): (name: string) => string | undefined {
  const values = new Map<string, string>();
  const entries = Symbol.iterator in headers ? headers : Object.entries(headers);
  for (const [name, value] of entries as Iterable<[string, string | readonly string[] | undefined]>) {
    if (value === undefined) continue;
    const lower = name.toLowerCase();
    const before = values.get(lower);
    const text = typeof value === "string" ? value : value.join(", ");
    values.set(lower, before === undefined ? text : `${before}, ${text}`);
  }
  return (name) => values.get(name);
}

function inWindow(timestamp: string, now: number): string {
  if (!/^[0-9]{1,12}$/.test(timestamp)) throw new WebhookError("timestamp_malformed");
  if (Math.abs(Number(timestamp) - now) > WINDOW_SECONDS) throw new WebhookError("timestamp_out_of_window");
  return timestamp;
}

interface StandardHeaders {
  id: string | undefined;
  timestamp: string | undefined;
  signature: string | undefined;
}

/** Several signatures are separated by spaces. A header that came twice has a comma before one, and is malformed. */
const signaturesOf = ({ signature = "" }: StandardHeaders): string[] =>
  (signature.includes(", ") ? "" : signature)
    .split(" ")
    .filter((each) => each.startsWith("v1,"))
    .map((each) => each.slice(3));

/** Verifies a delivery by Standard Webhooks. Throws a WebhookError. */
async function verifyStandard(
  headers: StandardHeaders,
  secrets: readonly string[],
  bytes: Uint8Array,
  now: number,
): Promise<void> {
  inWindow(headers.timestamp ?? "", now);
  const signatures = signaturesOf(headers);
  if (signatures.length === 0) throw new WebhookError("signature_malformed");
  const signed = joined(`${headers.id}.${headers.timestamp}.`, bytes);
  if (!(await fits(secrets, signed, base64, signatures, standardKey))) throw new WebhookError("signature_mismatch");
}

/** Whether one of the secrets signs `signed` as one of `signatures`. Every pair is compared, each in constant time. */
async function fits(
  secrets: readonly string[],
  signed: Uint8Array<ArrayBuffer>,
  written: (bytes: Uint8Array) => string,
  signatures: readonly string[],
  keyOf: (secret: string) => Uint8Array<ArrayBuffer> = (secret) => encoder.encode(secret),
): Promise<boolean> {
  let found = false;
  for (const secret of secrets) {
    const expected = written(await hmacOf(keyOf(secret), signed));
    for (const signature of signatures.slice(0, 10)) found = isEqual(expected, signature) || found;
  }
  return found;
}

/** Compares in constant time: texts of one length take equally long, wherever they differ. */
function isEqual(one: string, other: string): boolean {
  let difference = one.length ^ other.length;
  for (let at = 0; at < one.length; at++) difference |= one.charCodeAt(at) ^ other.charCodeAt(at % (other.length || 1));
  return difference === 0;
}

/** The HMAC key by Standard Webhooks: the bytes behind `whsec_`, decoded from base64. */
function standardKey(secret: string): Uint8Array<ArrayBuffer> {
  const text = secret.replace(/^whsec_/, "");
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    return encoder.encode(secret); // not base64: the text itself is the key
  }
}

const hmacOf = async (secret: Uint8Array<ArrayBuffer>, signed: Uint8Array<ArrayBuffer>): Promise<Uint8Array> =>
  (await hashing.hmac(secret))(signed);

function joined(text: string, bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const head = encoder.encode(text);
  const whole = new Uint8Array(head.length + bytes.length);
  whole.set(head);
  whole.set(bytes, head.length);
  return whole;
}

function eventOf(bytes: Uint8Array): WebhookEvent {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    throw new WebhookError("body_malformed");
  }
  const { id, type } = (value ?? {}) as { id?: unknown; type?: unknown };
  if (typeof id !== "string" || typeof type !== "string") throw new WebhookError("body_malformed");
  return value as WebhookEvent;
}

export interface SignOptions {
  secret: string;
  /** The event object, or its exact body. */
  event: string | { id: string; type: EventType | (string & {}) };
  /** Unix seconds; the current time by default. */
  timestamp?: number;
  attempt?: number;
  headerPrefix?: string;
}

/** Signs a delivery as the service does, for tests of a receiver. */
export async function sign(options: SignOptions): Promise<{ body: string; headers: Record<string, string> }> {
  const { secret, event, timestamp = Math.floor(Date.now() / 1000), attempt = 1, headerPrefix = "X-SVC-" } = options;
  const body = typeof event === "string" ? event : JSON.stringify(event);
  const { id, type } = eventOf(encoder.encode(body));
  const bytes = encoder.encode(body);
  const signature = await hmacOf(encoder.encode(secret), joined(`${timestamp}.`, bytes));
  const standard = await hmacOf(standardKey(secret), joined(`${id}.${timestamp}.`, bytes));
  const headers = {
    "content-type": "application/json; charset=utf-8",
    [`${headerPrefix}Event-Id`]: id,
    [`${headerPrefix}Event-Type`]: type,
    [`${headerPrefix}Timestamp`]: String(timestamp),
    [`${headerPrefix}Signature`]: hex(signature),
    [`${headerPrefix}Delivery-Attempt`]: String(attempt),
    "webhook-id": id,
    "webhook-timestamp": String(timestamp),
    "webhook-signature": `v1,${base64(standard)}`,
  };
  return { body, headers };
}
