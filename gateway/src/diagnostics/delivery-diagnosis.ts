// Signature diagnostics for deliveries: tells whether a webhook that a receiver got is genuine, and if it does not verify, why. No I/O.
import { isInTimestampWindow } from "../ground/crypto.ts";
import { isDeepStrictEqual } from "node:util";
import { mac } from "./signature-diagnosis.ts";
import { respaced, serialisationsOf } from "./serialisations.ts";

/** A delivery as the developer pasted it. */
export interface PastedDelivery {
  headers: Readonly<Record<string, string>>;
  body: string;
  /** Unix seconds. */
  receivedAt: number;
}

export interface DeliverySecrets {
  current: string;
  /** The secret before the last rotation, while it is kept. */
  previous: string | undefined;
  /** Webhook secrets of the merchant's other book. */
  elsewhere: readonly string[];
  /** Secrets of the merchant's API credentials. */
  api: readonly string[];
  /** Those that `gerbang listen` signs with. */
  listeners: readonly string[];
}

/** The explanation of each diagnosis. `prefix` begins the service's own headers. */
export const explanationsOf = (prefix: string) =>
  ({
    genuine:
      `The delivery is ours, unchanged and of its time. If your receiver refuses it all the same, it does not compute what we do: ` +
      `for ${prefix}Signature the key is the text of the secret, whsec_ included, over ${prefix}Timestamp, a dot and the body, in ` +
      "lower-case hexadecimal; for webhook-signature the key is the bytes behind whsec_ decoded from base64, over webhook-id, " +
      "webhook-timestamp and the body with dots between them, in base64 behind v1, .",
    stale_timestamp:
      "The signature is right, but the timestamp is more than 300 seconds from the moment of receipt. Refuse it, as a replay must be " +
      "refused; if it has just arrived, set your machine's clock (NTP). Each new attempt carries a new timestamp.",
    reserialised_body:
      "The body is the same JSON, written another way than we sent it. Your framework has parsed and rewritten it: take the raw bytes " +
      "of the request before any parsing, and verify those.",
    trailing_newline:
      "The body has lost or gained white space, such as a newline at the end. Take the raw bytes of the request, untrimmed.",
    altered_body:
      "The headers are those of an event of yours, but this is not the body that was sent with them: something between us and your " +
      "code changed it, or it belongs to another delivery. Take the raw bytes of the request, and refuse what does not verify.",
    old_secret:
      "The delivery is ours, signed with the secret from before the last rotation. Accept the secret before and the new one until " +
      "everything that was sent before the rotation has arrived.",
    other_environment:
      "The delivery is signed with the webhook secret of your other environment. Sandbox and production have a secret each: use the " +
      "one that belongs to the address it arrived at.",
    api_secret:
      "The delivery is signed with the secret of an API key (sk_…). Webhooks are signed with their own secret (whsec_…); we never " +
      "sign them with another, so this one was made elsewhere, such as in a test of yours.",
    listener_secret:
      "The delivery was forwarded by gerbang listen, which signs with a secret of its own: gerbang listen --print-secret prints it. " +
      "Verify with that one while you listen, or listen with --as-sent. At a registered address, refuse such a delivery.",
    headers_missing:
      `Headers to verify with are missing. Paste ${prefix}Timestamp and ${prefix}Signature, or webhook-id, webhook-timestamp and ` +
      "webhook-signature, as they arrived.",
    altered_headers:
      `The headers are not in the form in which we send them: ${prefix}Timestamp is Unix seconds, ${prefix}Signature 64 lower-case ` +
      "hexadecimal digits, webhook-signature v1, and base64. Paste them whole and unchanged.",
    unknown:
      "The signature fits neither your secrets, nor another spelling of this body, nor the body of the event that it names. Treat it " +
      "as not ours: refuse it. If it did come from us, a header was changed on its way, or the secret has been replaced since.",
  }) as const;

export type DeliveryDiagnosis = keyof ReturnType<typeof explanationsOf>;

export const deliveryDiagnoses = Object.keys(explanationsOf("")) as [DeliveryDiagnosis, ...DeliveryDiagnosis[]];

/** One family of headers: the service's own, or those of Standard Webhooks. */
interface Claim {
  timestamp: string;
  wellFormed: boolean;
  fits: (secret: string, body: string) => boolean;
}

/** The headers with trimmed lower-case names and trimmed values. */
export function lowerCased(headers: Readonly<Record<string, string>>): Map<string, string> {
  return new Map(Object.entries(headers).map(([name, value]) => [name.trim().toLowerCase(), value.trim()]));
}

/** Finds the mistake of a delivery. `sent` is the body of the event that its headers name, if it exists. */
export function diagnoseDelivery(
  delivery: PastedDelivery,
  secrets: DeliverySecrets,
  prefix: string,
  sent: string | undefined,
): DeliveryDiagnosis {
  const claims = claimsOf(lowerCased(delivery.headers), prefix.toLowerCase());
  if (claims.length === 0) return "headers_missing";
  const verdicts = claims.map((claim) => judge(claim, delivery, secrets, sent));
  return verdicts.find((verdict) => verdict !== "genuine") ?? "genuine";
}

function claimsOf(headers: ReadonlyMap<string, string>, prefix: string): Claim[] {
  const claims: Claim[] = [];
  const [timestamp, signature] = [headers.get(`${prefix}timestamp`), headers.get(`${prefix}signature`)];
  if (timestamp !== undefined && signature !== undefined) {
    claims.push({
      timestamp,
      wellFormed: /^\d{1,12}$/.test(timestamp) && /^[0-9a-f]{64}$/.test(signature),
      fits: (secret, body) => mac(secret, [timestamp, ".", body]).toString("hex") === signature,
    });
  }
  const [id, at, list] = ["webhook-id", "webhook-timestamp", "webhook-signature"].map((name) => headers.get(name));
  if (id !== undefined && at !== undefined && list !== undefined) {
    const signatures = list.split(/\s+/);
    claims.push({
      timestamp: at,
      wellFormed: /^\d{1,12}$/.test(at) && signatures.some((one) => /^v1,[A-Za-z0-9+/]{43}=$/.test(one)),
      fits: (secret, body) => {
        return signatures.includes(`v1,${mac(decodedSecret(secret), [`${id}.${at}.`, body]).toString("base64")}`);
      },
    });
  }
  return claims;
}

function judge(
  { timestamp, wellFormed, fits }: Claim,
  { body, receivedAt }: PastedDelivery,
  secrets: DeliverySecrets,
  sent: string | undefined,
): DeliveryDiagnosis {
  if (!wellFormed) return "altered_headers";
  if (fits(secrets.current, body)) {
    return isInTimestampWindow(Number(timestamp), receivedAt) ? "genuine" : "stale_timestamp";
  }
  if (secrets.previous !== undefined && fits(secrets.previous, body)) return "old_secret";
  if (secrets.elsewhere.some((secret) => fits(secret, body))) return "other_environment";
  if (secrets.api.some((secret) => fits(secret, body))) return "api_secret";
  if (secrets.listeners.some((secret) => fits(secret, body))) return "listener_secret";
  const ours = (other: string): boolean =>
    fits(secrets.current, other) || (secrets.previous !== undefined && fits(secrets.previous, other));
  if (respaced(body).some(ours)) return "trailing_newline";
  for (const other of serialisationsOf(body)) if (ours(other)) return "reserialised_body";
  if (sent === undefined || !ours(sent)) return "unknown";
  return sameJson(body, sent) ? "reserialised_body" : "altered_body";
}

/** The Standard Webhooks key of a webhook secret; for any other secret, its text. */
export function decodedSecret(secret: string): string | Buffer {
  return secret.startsWith("whsec_") ? Buffer.from(secret.slice("whsec_".length), "base64") : secret;
}

/** True when two JSON texts have the same value. */
export function sameJson(one: string, other: string): boolean {
  try {
    return isDeepStrictEqual(JSON.parse(one), JSON.parse(other));
  } catch {
    return false; // not JSON, or nested too deep
  }
}
