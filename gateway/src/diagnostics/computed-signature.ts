// Signature diagnostics for a signature that a receiver's own code computed: finds the mistake by which it differs from the delivery's.
// The mistakes are those of signed requests (signature-diagnosis.ts), described in the terms of webhooks. No I/O.
import { diagnose, mac } from "./signature-diagnosis.ts";
import type { Diagnosis } from "./diagnoses.ts";
import {
  type DeliveryDiagnosis,
  type DeliverySecrets,
  type PastedDelivery,
  decodedSecret,
  lowerCased,
  sameJson,
} from "./delivery-diagnosis.ts";

/** The explanation of each diagnosis. `prefix` begins the service's own headers. */
export const computedExplanationsOf = (prefix: string) => {
  const shape = `the value of ${prefix}Timestamp, a dot, and the exact bytes of the body: 1767225600.{"id":"evt_…"}`;
  return {
    right:
      "Your code computes what we do. If it refuses the delivery all the same, look at how it compares the two, and at which " +
      "header it compares with.",
    milliseconds: `${prefix}Timestamp was turned into milliseconds before it was signed. Sign the text of the header as it came.`,
    upper_case:
      "The signature is right, but in upper-case hexadecimal. Compare in lower case, or better the bytes, in constant time.",
    base64:
      `The digest is right, but encoded in base64; ${prefix}Signature is lower-case hexadecimal. In most libraries: hexdigest() ` +
      'or digest("hex").',
    prefix:
      "The signature is right, but something stands around it, such as sha256= or quotes. Compare the 64 hexadecimal digits alone.",
    missing_dot: `The dot between timestamp and body is missing in the text you signed. Sign ${shape}.`,
    body_only: `Only the body was signed. Sign ${shape}.`,
    body_first: `The body was signed before the timestamp. Sign ${shape}.`,
    hashed_body: `A hash of the body was signed in place of the body. Sign ${shape}.`,
    empty_body:
      "The signature fits an empty body. Your framework had read the body before your code did, or your code signs before it has " +
      "arrived: keep the raw bytes when they come in.",
    trailing_newline:
      "The signature fits this body with, or without, white space around it, such as a newline at the end. Take the raw bytes of " +
      "the request, untrimmed.",
    reserialised_body:
      "The signature fits the same JSON written another way. Your framework has parsed and rewritten it: take the raw bytes of the " +
      "request before any parsing, and sign those.",
    altered_body:
      "Your code computes the right thing over the body that you pasted, but that is not the body that was signed. Something " +
      "between us and your code changed it, or it belongs to another delivery.",
    charset:
      "The body was signed in another character encoding than it came in. Sign its bytes as they came, in UTF-8.",
    api_secret:
      "The key was the secret of an API key (sk_…). Webhooks are signed with their own secret (whsec_…), which was shown when the " +
      "address was registered or the secret was rotated.",
    listener_secret:
      "The key was the secret of gerbang listen. A registered address has a secret of its own, which was shown when the address was " +
      "registered or the secret was rotated.",
    old_secret:
      "The key was the webhook secret from before the last rotation. Set your receiver to the new one; during the overlap only " +
      `webhook-signature carries both, ${prefix}Signature is the new one's.`,
    new_secret:
      "The key was the webhook secret of today, but this delivery was signed before the last rotation, with the one before. Accept " +
      "either until everything that was sent before the rotation has arrived.",
    other_environment:
      "The key was the webhook secret of your other environment. Sandbox and production have a secret each: use the one that " +
      "belongs to the address the delivery arrived at.",
    secret_empty: "The key was empty. Is the secret set where your receiver runs, under the name that it reads?",
    secret_decoded:
      `The secret was decoded (as base64 or hexadecimal) before it was used as the key. For ${prefix}Signature the key is its text ` +
      "as it is, whsec_ included; only for webhook-signature it is the bytes behind whsec_.",
    secret_not_decoded:
      "The signed text is that of webhook-signature, but the key was the text of the secret. There the key is the bytes behind " +
      "whsec_, decoded from base64.",
    secret_altered:
      "The key was not exactly the text of the secret: a newline or quotes around it, or its beginning whsec_ missing. A secret read " +
      "from a file often ends in a newline: trim it.",
    timestamp_missing: `There is no timestamp to compute with. Paste ${prefix}Timestamp, or webhook-id and webhook-timestamp, as they arrived.`,
    unknown:
      `The signature fits none of the usual mistakes. It is made with HMAC-SHA256, key: the text of your webhook secret, over ${shape}; ` +
      "in lower-case hexadecimal. Most often the secret is another one, or the body was changed before your code had it.",
  } as const;
};

export type ComputedDiagnosis = keyof ReturnType<typeof computedExplanationsOf>;

export const computedDiagnoses = Object.keys(computedExplanationsOf("")) as [ComputedDiagnosis, ...ComputedDiagnosis[]];

/** Diagnoses of requests with another name here. All others have the same name, or are not checked here. */
const renamed: Partial<Record<Diagnosis, ComputedDiagnosis>> = {
  genuine: "right",
  clock: "right",
  empty_for_body: "empty_body",
  body_for_empty: "altered_body",
  webhook_secret: "api_secret",
  other_credential: "other_environment",
  client_id: "secret_empty",
};
const known = new Set<string>(computedDiagnoses);

/** The mistake by which `computed` differs from the delivery's signature. `sent`: the body of the event named; `verdict`: the delivery's. */
export function diagnoseComputed(
  computed: string,
  delivery: PastedDelivery,
  secrets: DeliverySecrets,
  prefix: string,
  { sent, verdict }: { sent: string | undefined; verdict: DeliveryDiagnosis },
): ComputedDiagnosis {
  const headers = lowerCased(delivery.headers);
  const timestamp = headers.get(`${prefix.toLowerCase()}timestamp`) ?? headers.get("webhook-timestamp");
  if (timestamp === undefined || !/^\d{1,12}$/.test(timestamp)) return "timestamp_missing";
  const signature = computed.trim().replace(/^v1,/, "");
  // The computed signature is compared with the secret that signed this delivery.
  const [own, other] =
    verdict === "old_secret" && secrets.previous !== undefined
      ? [secrets.previous, secrets.current]
      : [secrets.current, secrets.previous];
  const eventId = headers.get("webhook-id");
  const compare = (body: string): ComputedDiagnosis => {
    const made = (key: string, at = timestamp): boolean =>
      mac(key, [at, ".", body]).toString("hex") === signature.toLowerCase();
    const standard = (key: string | Buffer): boolean =>
      eventId !== undefined && mac(key, [`${eventId}.${timestamp}.`, body]).toString("base64") === signature;
    if (standard(decodedSecret(own))) return "right";
    if (standard(own)) return "secret_not_decoded";
    const request = { signature, body: Buffer.from(body), target: "", clientId: "", receivedAt: Number(timestamp) };
    const found = diagnose(
      { ...request, timestamp },
      { own, live: secrets.elsewhere, revoked: other === undefined ? [] : [other], webhooks: secrets.api },
    );
    if (found === "old_secret") return other === secrets.previous ? "old_secret" : "new_secret";
    const name = renamed[found] ?? found;
    if (found !== "unknown") return known.has(name) ? (name as ComputedDiagnosis) : "unknown";
    if (secrets.listeners.some((key) => made(key) || standard(decodedSecret(key)))) return "listener_secret";
    // Our timestamps have no fraction, so in milliseconds they always end in 000.
    return made(own, `${timestamp}000`) ? "milliseconds" : "unknown";
  };
  const overSent = sent === undefined ? "unknown" : compare(sent);
  if (overSent !== "unknown") return overSent;
  const overPasted = sent === delivery.body ? "unknown" : compare(delivery.body);
  if (overPasted !== "right") return overPasted;
  // The signature is right for the pasted body. The diagnosis of the delivery tells whether that body was signed.
  if (verdict === "trailing_newline" || verdict === "reserialised_body") return verdict;
  if (sent !== undefined) return sameJson(delivery.body, sent) ? "reserialised_body" : "altered_body";
  return verdict === "altered_body" || verdict === "unknown" ? "altered_body" : "right";
}
