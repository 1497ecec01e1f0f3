// Gerbang as a partner of one bank or provider of SNAP: its dialect and the ids that it gave. Made of an entry of acquirers.json, without keys.
import type { Bank, Dialect, VirtualAccounts } from "./dialect.ts";
import { digitsOf } from "./values.ts";

export interface Partner {
  /** The acquirer's `gateway_code`: Gerbang's account numbers depend on it. */
  code: string;
  dialect: Dialect;
  /** Value of the header `X-CLIENT-KEY`. */
  clientId: string;
  /** Value of the header `X-PARTNER-ID`. */
  partnerId: string;
  /** Value of the header `CHANNEL-ID`. */
  channelId: string;
  /** Keyed by bank. */
  accounts: Readonly<Record<string, AccountRange>>;
  qris: { merchantId: string; terminalId: string; postalCode: string | undefined } | undefined;
}

/** Gerbang's virtual accounts at one bank. */
interface AccountRange {
  /** At most 8 digits; on the wire, spaces on the left fill it up to 8 characters. */
  partnerServiceId: string;
  /** Beginning of each `customerNo` of Gerbang's. */
  customerPrefix: string;
  /** `asked`: nothing is registered; the bank asks Gerbang for the bill when the payer types the number. */
  numbers: "theirs" | "ours" | "asked";
}

/** A virtual account, in the two parts that it has on the wire. */
export interface Account {
  partnerServiceId: string;
  customerNo: string;
}

/** The number as a payer types it. */
export function accountNumber({ partnerServiceId, customerNo }: Account): string {
  return partnerServiceId + customerNo;
}

/** The three fields of an account on the wire: spaces fill the service's id up to eight characters, on the left. */
export function accountFields({ partnerServiceId, customerNo }: Account): Record<string, string> {
  const padded = partnerServiceId.padStart(8, " ");
  return { partnerServiceId: padded, customerNo, virtualAccountNo: padded + customerNo };
}

/** The account of a payment at a bank where Gerbang chooses the numbers. It follows from the operation key, so it need not be stored. */
export function ownAccount(
  { code }: Pick<Partner, "code">,
  { customerDigits }: Pick<VirtualAccounts, "customerDigits">,
  { partnerServiceId, customerPrefix }: AccountRange,
  operationKey: string,
): Account {
  const digits = digitsOf(customerDigits - customerPrefix.length, code, partnerServiceId, operationKey);
  return { partnerServiceId, customerNo: customerPrefix + digits };
}

/** Names the one payment to an account: banks give numbers out again, so the payment's own id is in it. At most 64 characters. */
export function accountTransaction(account: Account, operationKey: string): string {
  return `${accountNumber(account)}.${operationKey.split(".", 1)[0]}`;
}

/** The bank of a channel, and Gerbang's range there. Throws an Error when either is missing: routing has chosen a bank that is not set up. */
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
