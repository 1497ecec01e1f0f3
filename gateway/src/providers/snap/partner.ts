// Who we are to one bank or provider of SNAP: its dialect, and what it has given us. Without keys; made of an entry of acquirers.json.
import type { Bank, Dialect, VirtualAccounts } from "./dialect.ts";
import { digitsOf } from "./values.ts";

export interface Partner {
  /** Our name for it in routing: part of what makes our numbers. */
  code: string;
  dialect: Dialect;
  /** `X-CLIENT-KEY`. */
  clientId: string;
  /** `X-PARTNER-ID`. */
  partnerId: string;
  /** `CHANNEL-ID`. */
  channelId: string;
  /** By bank. */
  accounts: Readonly<Record<string, AccountRange>>;
  qris: { merchantId: string; terminalId: string; postalCode: string | undefined } | undefined;
}

/** The virtual accounts of one bank that are ours. */
export interface AccountRange {
  /** At most 8 digits, before them spaces on the wire. */
  partnerServiceId: string;
  /** What each `customerNo` of ours begins with. */
  customerPrefix: string;
  /** `asked`: nothing is registered; the bank asks us for the bill when the payer types the number. */
  numbers: "theirs" | "ours" | "asked";
}

/** A virtual account: on the wire in two parts. */
export interface Account {
  partnerServiceId: string;
  customerNo: string;
}

/** The number as a payer types it. */
export function accountNumber({ partnerServiceId, customerNo }: Account): string {
  return partnerServiceId + customerNo;
}

/** Its three fields on the wire: the service's id has eight characters, spaces before it. */
export function accountFields({ partnerServiceId, customerNo }: Account): Record<string, string> {
  const padded = partnerServiceId.padStart(8, " ");
  return { partnerServiceId: padded, customerNo, virtualAccountNo: padded + customerNo };
}

/** The account of a payment at a bank where the numbers are ours. It follows from the operation key, so it is found without having been kept. */
export function ownAccount(
  { code }: Pick<Partner, "code">,
  { customerDigits }: Pick<VirtualAccounts, "customerDigits">,
  { partnerServiceId, customerPrefix }: AccountRange,
  operationKey: string,
): Account {
  const digits = digitsOf(customerDigits - customerPrefix.length, code, partnerServiceId, operationKey);
  return { partnerServiceId, customerNo: customerPrefix + digits };
}

/** The bank of a channel, and our range there. Throws an Error where either is missing: routing has let through what was not set up. */
export function bankOf(
  partner: Partner,
  channel: string,
): { bank: Bank; range: AccountRange; traits: VirtualAccounts } {
  const traits = partner.dialect.virtualAccounts;
  const bank = traits && Object.hasOwn(traits.banks, channel) ? traits.banks[channel] : undefined;
  const range = Object.hasOwn(partner.accounts, channel) ? partner.accounts[channel] : undefined;
  if (!traits || !bank || !range) throw new Error(`${partner.code} has no virtual accounts of ${channel}`);
  return { bank, range, traits };
}
