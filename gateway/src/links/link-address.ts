// The address of a payment link: the merchant's id, and 128 random bits that nobody can guess. The bits are stored with the link and not derived
// from a key, so that a printed address outlives every key of the installation.
import { randomBytes } from "node:crypto";
import { decoded, encode, isId } from "../ground/ids.ts";

/** The two parts of a link's address. */
export interface LinkName {
  merchantId: string;
  token: Buffer;
}

export const newToken = (): Buffer => randomBytes(16);

/** The path of the link's page. */
export function linkPath({ merchantId, token }: LinkName): string {
  return `/pay/l/${merchantId.slice(4)}${encode(token)}`;
}

/** Parses the last part of such a path; undefined for text that `linkPath` cannot have made. */
export function readLinkName(text: string): LinkName | undefined {
  const merchantId = `mer_${text.slice(0, 26)}`;
  const token = decoded(text.slice(26));
  return isId("merchant", merchantId) && token ? { merchantId, token } : undefined;
}
