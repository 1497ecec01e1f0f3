// The address of a payment link: whose it is, and 128 random bits that nobody can guess. They are kept with the link, so that an address which
// was printed outlives every key of this installation.
import { randomBytes } from "node:crypto";
import { decoded, encode, isId } from "../ground/ids.ts";

export const TOKEN_BYTES = 16;

/** Names a link to those who have its address. */
export interface LinkName {
  merchantId: string;
  token: Buffer;
}

export const newToken = (): Buffer => randomBytes(TOKEN_BYTES);

/** The path of the page where it is paid. */
export function linkPath({ merchantId, token }: LinkName): string {
  return `/pay/l/${merchantId.slice(4)}${encode(token)}`;
}

/** What the end of such a path names; undefined when it cannot be ours. */
export function readLinkName(text: string): LinkName | undefined {
  const merchantId = `mer_${text.slice(0, 26)}`;
  const token = decoded(text.slice(26));
  return isId("merchant", merchantId) && token ? { merchantId, token } : undefined;
}
