// In what one bank or provider differs from the standard, as data: its addresses, its paths, its banks and wallets, and its habits.

export interface Dialect {
  /** As `profile` in acquirers.json. */
  name: string;
  title: string;
  urls: Readonly<Record<"sandbox" | "production", string>>;
  /** `CHANNEL-ID`, where it is the same for all partners; undefined where each is given its own. */
  channelId: string | undefined;
  /** How transactions are signed, in both directions: HMAC with a token, or RSA without one. */
  signature: "hmac" | "rsa";
  /** The longest `X-EXTERNAL-ID`, in digits. */
  externalIdDigits: number;
  /**
   * What the same order under the same `X-EXTERNAL-ID` on the same day is answered with: `same`, the first answer again (whatever the
   * status of HTTP says), so that a lost answer can be had by repeating; `conflict`, 409, and nothing else.
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
   * Who makes the numbers. `theirs`: its answer brings one. `ours`: they follow from our operation key. (`asked`, where the bank asks us for
   * the bill, is chosen in acquirers.json, since partners agree on it one by one.)
   */
  numbers: "theirs" | "ours";
  /** True where a bank that asks us for a bill tells our reference again with the payment: only then `asked` can be chosen. */
  tellsBillAgain: boolean;
  /** Digits of `customerNo` that we make. */
  customerDigits: number;
  /** `virtualAccountTrxType` of an account that takes one amount once; undefined where the field is not known. */
  transactionType: string | undefined;
  /** True where `additionalInfo` says the bank, and that the account is used once. */
  namesChannel: boolean;
  /**
   * What tells one payment of an account from another, in answers and notifications alike. `paymentRequestId`, or `account` where answers
   * tell no such thing: then an account counts once.
   */
  identity: "paymentRequestId" | "account";
  /** How its status says that it was paid. */
  paidBy: "paymentFlagReason" | "paidStatus";
  banks: Readonly<Record<string, Bank>>;
}

export interface Bank {
  /** In `additionalInfo.channel`. */
  channel: string;
  name: string;
  /** Of the clearing system. */
  code: string;
}

export interface Qris {
  paths: Readonly<{ generate: string; query: string; refund: string }>;
  /** `additionalInfo` that it demands beside what the partner's entry says. */
  additionalInfo: Readonly<Record<string, string>>;
}

export interface Wallets {
  paths: Readonly<{ pay: string; status: string; refund: string }>;
  /** Two digits that it answers a payment with instead of the standard's 54. */
  paymentServices: readonly string[];
  /** By the names that merchants use. */
  channels: Readonly<Record<string, string>>;
}
