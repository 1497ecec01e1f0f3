// Reads the credential and signature headers of a request, and verifies X-Signature (section 5). RFC 9421: see message-signature.ts.
import { type Micros, SECOND } from "../ground/clock.ts";
import { TIMESTAMP_WINDOW_SECONDS, isInTimestampWindow, isSigned } from "../ground/crypto.ts";
import { Fault } from "../ground/fault.ts";
import type { Client } from "../merchants/directory.ts";

const DEMANDS_MESSAGE_SIGNATURE =
  "This credential takes no X-Signature: sign by RFC 9421, with Signature-Input and Signature, and without X-Timestamp and X-Signature.";

/** The credential that a request claims, with the headers of section 5 that are to prove it. */
interface TimestampClaim {
  scheme: "timestamp";
  clientId: string;
  timestamp: string | string[];
  signature: string | string[];
}

/** The same with the headers of RFC 9421. */
export interface MessageClaim {
  scheme: "rfc9421";
  clientId: string;
  signatureInput: string;
  signature: string;
}

export type Claim = TimestampClaim | MessageClaim;

/** Reads the headers of section 5; X-Timestamp or X-Signature decides the scheme. Throws UNAUTHORIZED, SIGNATURE_MISSING, CLIENT_NOT_FOUND. */
export function claimOf(headers: Readonly<Record<string, string | string[] | undefined>>): Claim {
  const { authorization, "x-timestamp": timestamp, "x-signature": own, "signature-input": input, signature } = headers;
  const clientId = /^bearer (\S+)$/i.exec(typeof authorization === "string" ? authorization : "")?.[1];
  if (clientId === undefined) throw new Fault("UNAUTHORIZED");
  let claim: Claim | undefined;
  if (timestamp !== undefined && own !== undefined)
    claim = { scheme: "timestamp", clientId, timestamp, signature: own };
  else if (timestamp === undefined && own === undefined && typeof input === "string" && typeof signature === "string")
    claim = { scheme: "rfc9421", clientId, signatureInput: input, signature };
  if (!claim) throw new Fault("SIGNATURE_MISSING");
  if (!/^ak_(test|live)_[0-9a-z]{20,60}$/.test(clientId)) throw new Fault("CLIENT_NOT_FOUND");
  return claim;
}

/**
 * Verifies X-Timestamp and X-Signature (section 5, rules 3 and 5). Gives the signature and the Unix seconds until which it is good. Throws
 * SIGNATURE_INVALID, also for a credential that takes RFC 9421 only, and TIMESTAMP_OUT_OF_WINDOW.
 */
export function verifySignature(
  client: Client,
  { timestamp, signature }: Omit<TimestampClaim, "scheme">,
  body: Buffer,
  realNow: Micros,
): { validUntil: number; signature: string } {
  if (typeof timestamp !== "string" || typeof signature !== "string") throw new Fault("SIGNATURE_INVALID");
  if (!/^\d+$/.test(timestamp)) throw new Fault("SIGNATURE_INVALID");
  const now = Math.floor(realNow / SECOND);
  if (!isInTimestampWindow(Number(timestamp), now)) throw new Fault("TIMESTAMP_OUT_OF_WINDOW");
  if (client.signature === "rfc9421") throw new Fault("SIGNATURE_INVALID", { message: DEMANDS_MESSAGE_SIGNATURE });
  if (!isSigned(client.key, timestamp, body, signature)) throw new Fault("SIGNATURE_INVALID");
  return { validUntil: Number(timestamp) + TIMESTAMP_WINDOW_SECONDS, signature };
}
