// How one bank or provider differs from the standard, as data: its addresses, its paths, its banks and wallets, and its behaviour.

export interface Dialect {
  title: string;
  urls: Readonly<Record<"sandbox" | "production", string>>;
  /** Value of the header `CHANNEL-ID`, if it is the same for all partners; undefined if each partner is given its own. */
  channelId: string | undefined;
  /** How transactions are signed, in both directions: HMAC with a token, or RSA without one. */
  signature: "hmac" | "rsa";
  /** Maximum length of an `X-EXTERNAL-ID`, in digits. */
  externalIdDigits: number;
  /**
   * Response to the same order under the same `X-EXTERNAL-ID` on the same day. `same`: the first response again (whatever the HTTP status), so
   * that a lost response can be had by repeating the order. `conflict`: 409, and nothing else.
   */
  repetition: "same" | "conflict";
  paths: Readonly<{ token: string }>;
  virtualAccounts?: VirtualAccounts;
  qris?: Qris;
  wallets?: Wallets;
}

export interface VirtualAccounts {
  paths: Readonly<{ create: string; status: string; delete: string }>;
  /**
   * Origin of account numbers. `theirs`: the provider's response contains one. `ours`: Gerbang derives them from the operation key. (`asked`,
   * where the bank asks Gerbang for the bill, is chosen in acquirers.json, since partners agree on it one by one.)
   */
  numbers: "theirs" | "ours";
  /** True when a bank that asks for a bill repeats Gerbang's reference with the payment: only then `asked` can be chosen. */
  tellsBillAgain: boolean;
  /** Digits of a `customerNo` that Gerbang makes. */
  customerDigits: number;
  /** `virtualAccountTrxType` of an account that takes one amount once; undefined if the provider does not know the field. */
  transactionType: string | undefined;
  /** True when `additionalInfo` names the bank, and says that the account is used once. */
  namesChannel: boolean;
  /** What names a payment to an account everywhere: `paymentRequestId`, or `account` where answers have no such id and each counts once. */
  identity: "paymentRequestId" | "account";
  /** The field of the account's status that says that it was paid. */
  paidBy: "paymentFlagReason" | "paidStatus";
  banks: Readonly<Record<string, Bank>>;
}

export interface Bank {
  /** Value of `additionalInfo.channel`. */
  channel: string;
  name: string;
  /** The bank's code in the clearing system. */
  code: string;
}

export interface Qris {
  paths: Readonly<{ generate: string; query: string; refund: string }>;
  /** Fields of `additionalInfo` that the provider demands beside those of the partner's entry. */
  additionalInfo: Readonly<Record<string, string>>;
}

export interface Wallets {
  paths: Readonly<{ pay: string; status: string; refund: string }>;
  /** Digits of the service that the provider answers a payment with instead of the standard's 54. */
  paymentServices: readonly string[];
  /** Keyed by the names that merchants use. */
  channels: Readonly<Record<string, string>>;
}
