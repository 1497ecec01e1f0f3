// The banks and wallets (Xendit: channels) that Gerbang offers, with what Xendit's pages say of each. Data, read on 2026-11-23.

interface Bank {
  /** Xendit's `channel_code`. */
  code: string;
  name: string;
  /** Bank Indonesia's number of the bank, for a payer who has to select the bank. */
  bankCode: string;
}

/** Xendit's only channel for QR codes, and its only one for cards. */
export const QRIS = "QRIS";
export const CARDS = "CARDS";

/** Virtual accounts, keyed by the name that merchants use. None can be refunded. */
export const banks = {
  bca: { code: "BCA_VIRTUAL_ACCOUNT", name: "Bank Central Asia", bankCode: "014" },
  bni: { code: "BNI_VIRTUAL_ACCOUNT", name: "Bank Negara Indonesia", bankCode: "009" },
  bri: { code: "BRI_VIRTUAL_ACCOUNT", name: "Bank Rakyat Indonesia", bankCode: "002" },
  mandiri: { code: "MANDIRI_VIRTUAL_ACCOUNT", name: "Bank Mandiri", bankCode: "008" },
  permata: { code: "PERMATA_VIRTUAL_ACCOUNT", name: "Bank Permata", bankCode: "013" },
  bsi: { code: "BSI_VIRTUAL_ACCOUNT", name: "Bank Syariah Indonesia", bankCode: "451" },
  bjb: { code: "BJB_VIRTUAL_ACCOUNT", name: "Bank BJB", bankCode: "110" },
  bnc: { code: "BNC_VIRTUAL_ACCOUNT", name: "Bank Neo Commerce", bankCode: "490" },
  muamalat: { code: "MUAMALAT_VIRTUAL_ACCOUNT", name: "Bank Muamalat", bankCode: "147" },
} as const satisfies Record<string, Bank>;

/** Xendit's `channel_code` of each wallet, which has a page of its own for payers. OVO refunds no one-off payment, LinkAja refunds whole payments only. */
export const wallets = {
  ovo: "OVO",
  dana: "DANA",
  linkaja: "LINKAJA",
  shopeepay: "SHOPEEPAY",
} as const;

export const bankNames = Object.keys(banks);
export const walletNames = Object.keys(wallets);

export function isBank(name: string): name is keyof typeof banks {
  return Object.hasOwn(banks, name);
}

export function isWallet(name: string): name is keyof typeof wallets {
  return Object.hasOwn(wallets, name);
}
