// Checks the header Stripe-Signature of events, `t=<unix seconds>,v1=<hex>`: one v1 must fit one accepted secret. Pure.
import { type Micros, SECOND } from "../../ground/clock.ts";
import { isInTimestampWindow, isSigned } from "../../ground/crypto.ts";
import { Fault } from "../../ground/fault.ts";
import { SigningKey } from "../../ground/signing-key.ts";

const HEADER_MAX = 2_048;
/** While a secret is rotated, Stripe signs with each secret that is active. */
const SIGNATURES_MAX = 8;

/**
 * Checks the signature over the exact bytes of the body. `secrets` are those accepted now, each as the dashboard shows it, `whsec_`
 * included; `now` is real time. Every scheme but v1 is ignored. Throws SIGNATURE_MISSING, SIGNATURE_INVALID, TIMESTAMP_OUT_OF_WINDOW.
 */
export function checkSignature(
  header: string | string[] | undefined,
  body: Uint8Array,
  secrets: readonly string[],
  now: Micros,
): void {
  if (header === undefined || header === "")
    throw new Fault("SIGNATURE_MISSING", { message: "Send Stripe-Signature." });
  const read = typeof header === "string" ? readHeader(header) : undefined;
  const fits = read?.signatures.some((signature) =>
    secrets.some((secret) => isSigned(new SigningKey(secret), read.timestamp, body, signature)),
  );
  if (!read || fits !== true) {
    throw new Fault("SIGNATURE_INVALID", {
      message: "No v1 of Stripe-Signature fits the body and an accepted secret.",
    });
  }
  if (!isInTimestampWindow(Number(read.timestamp), Math.floor(now / SECOND))) {
    throw new Fault("TIMESTAMP_OUT_OF_WINDOW", {
      message: "Stripe-Signature is more than 300 seconds from our clock.",
    });
  }
}

function readHeader(header: string): { timestamp: string; signatures: string[] } | undefined {
  if (header.length > HEADER_MAX) return undefined;
  let timestamp: string | undefined;
  const signatures: string[] = [];
  for (const item of header.split(",")) {
    const at = item.indexOf("=");
    const name = item.slice(0, at);
    const value = item.slice(at + 1);
    if (name === "t") {
      if (timestamp !== undefined || !/^\d{1,12}$/.test(value)) return undefined;
      timestamp = value;
    } else if (name === "v1") signatures.push(value);
  }
  return timestamp === undefined || signatures.length > SIGNATURES_MAX ? undefined : { timestamp, signatures };
}
