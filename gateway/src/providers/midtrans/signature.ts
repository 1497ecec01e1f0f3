// Checks that a notification is from Midtrans: SHA-512 over the order id, the status code, the amount and the server key. Pure.
import { hash } from "node:crypto";
import { sameText } from "../../ground/crypto.ts";

/** The three signed fields, as they stand in the notification. The signature covers nothing else, not even the status in words. */
interface Signed {
  order_id: string;
  status_code: string;
  gross_amount: string;
}

/** Midtrans' `signature_key`: 128 lower-case hex digits. */
export function signatureKeyOf({ order_id, status_code, gross_amount }: Signed, serverKey: string): string {
  return hash("sha512", order_id + status_code + gross_amount + serverKey, "hex");
}

/** Whether one of the server keys made this signature. Compares with each of them, in constant time. */
export function isSignedBy(signed: Signed, signatureKey: string, serverKeys: readonly string[]): boolean {
  const matches = serverKeys.map((serverKey) => sameText(signatureKey, signatureKeyOf(signed, serverKey)));
  return matches.includes(true);
}
