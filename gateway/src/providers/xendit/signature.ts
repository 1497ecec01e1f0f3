// Authentication between Xendit and Gerbang: the secret key in each request, and the webhook token in each notification.
import { sameText } from "../../ground/crypto.ts";
import { Fault } from "../../ground/fault.ts";

/** The header with Xendit's token. */
const TOKEN = "x-callback-token";

/** HTTP basic authentication with the secret key as user name and no password. */
export function authorization(secretKey: string): string {
  return `Basic ${Buffer.from(`${secretKey}:`).toString("base64")}`;
}

/**
 * Throws SIGNATURE_MISSING or SIGNATURE_INVALID unless the token of a notification is one of `accepted`. Compares with each, in constant time.
 * The token names the sender and signs nothing: a body is as good as the token is secret. For disputes the token is the only proof.
 */
export function checkToken(
  headers: Readonly<Record<string, string | string[] | undefined>>,
  accepted: readonly string[],
): void {
  const token = headers[TOKEN];
  if (token === undefined) throw new Fault("SIGNATURE_MISSING", { message: "Send X-Callback-Token." });
  const matches = accepted.map((secret) => secret !== "" && typeof token === "string" && sameText(token, secret));
  if (!matches.includes(true)) {
    throw new Fault("SIGNATURE_INVALID", {
      message: "X-Callback-Token is not the webhook verification token of this account.",
    });
  }
}
