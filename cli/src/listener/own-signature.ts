// The signing secret of a listener, derived from the key's secret so that nobody has to look one up; and deliveries signed with it.
import { createHmac } from "node:crypto";
import { sign } from "../../../sdk/src/verify.ts";
import type { ListenEvent } from "./feed.ts";

/** The secret reveals nothing of the key's, and signs only what this machine hands on to itself. */
export function listenerSecret(secret: string): string {
  return `whsec_${createHmac("sha256", secret).update("gerbang listen").digest("base64")}`;
}

/**
 * The headers of a delivery with the signature of `secret` in place of the service's. A header with room for several signatures keeps the
 * service's too. Headers without a signature are left as they are.
 */
export async function signedWith(secret: string, { headers, body, id }: ListenEvent): Promise<Record<string, string>> {
  const lower = new Map(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
  const prefix = [...lower.keys()].find((name) => name.endsWith("event-id"))?.slice(0, -"event-id".length);
  if (prefix === undefined) return headers;
  const timestamp = Number(lower.get(`${prefix}timestamp`));
  const made = await sign({ secret, event: body, timestamp, headerPrefix: prefix });
  const own = `${prefix}signature`;
  const signature = made.headers[`${prefix}Signature`] ?? "";
  const standard = [made.headers["webhook-signature"], lower.get("webhook-signature")].filter(Boolean).join(" ");
  const others = Object.entries(headers).filter(
    ([name]) => name.toLowerCase() !== own && name.toLowerCase() !== "webhook-signature",
  );
  const name = Object.keys(headers).find((one) => one.toLowerCase() === own) ?? own;
  return { ...Object.fromEntries(others), [name]: signature, "webhook-id": id, "webhook-signature": standard };
}
