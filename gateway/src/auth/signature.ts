// Who a request says it is from, and whether its signature proves it (section 5). Knows nothing of HTTP but headers.
import { type Micros, SECOND } from "../ground/clock.ts";
import { isSigned } from "../ground/crypto.ts";
import { Fault } from "../ground/fault.ts";
import type { Client } from "../merchants/directory.ts";

/** Seconds between the request's time and ours that are still good. */
export const TOLERANCE_SECONDS = 300;

/** Who a request says it is from, and what is to prove it. */
export interface Claim {
  clientId: string;
  timestamp: string | string[];
  signature: string | string[];
}

/** Reads the headers of section 5, rule 5. Throws UNAUTHORIZED, SIGNATURE_MISSING, CLIENT_NOT_FOUND. */
export function claimOf(headers: Readonly<Record<string, string | string[] | undefined>>): Claim {
  const { authorization, "x-timestamp": timestamp, "x-signature": signature } = headers;
  const clientId = /^bearer (\S+)$/i.exec(typeof authorization === "string" ? authorization : "")?.[1];
  if (clientId === undefined) throw new Fault("UNAUTHORIZED");
  if (timestamp === undefined || signature === undefined) throw new Fault("SIGNATURE_MISSING");
  if (!/^ak_(test|live)_[0-9a-z]{20,60}$/.test(clientId)) throw new Fault("CLIENT_NOT_FOUND");
  return { clientId, timestamp, signature };
}

/**
 * Section 5, rules 3 and 5. Gives the signature and until when, in Unix seconds, it is good. Throws SIGNATURE_INVALID,
 * TIMESTAMP_OUT_OF_WINDOW.
 */
export function verifySignature(
  client: Client,
  { timestamp, signature }: Claim,
  body: Buffer,
  realNow: Micros,
): { validUntil: number; signature: string } {
  if (typeof timestamp !== "string" || typeof signature !== "string") throw new Fault("SIGNATURE_INVALID");
  if (!/^\d+$/.test(timestamp)) throw new Fault("SIGNATURE_INVALID");
  const now = Math.floor(realNow / SECOND);
  if (Math.abs(Number(timestamp) - now) > TOLERANCE_SECONDS) throw new Fault("TIMESTAMP_OUT_OF_WINDOW");
  if (!isSigned(client.key, timestamp, body, signature)) throw new Fault("SIGNATURE_INVALID");
  return { validUntil: Number(timestamp) + TOLERANCE_SECONDS, signature };
}
