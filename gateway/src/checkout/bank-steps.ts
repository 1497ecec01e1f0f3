// Steps to pay a virtual account at each bank, by app, internet banking or ATM, as the banks' own menus have them. Pure.
import type { Language } from "../ground/languages.ts";

export const channels = ["app", "web", "atm"] as const;
type Channel = (typeof channels)[number];

/** Names of the menus that lead to the input of the account number, in the bank's own language. */
type Menus = Readonly<Record<Channel, readonly string[]>>;

const menus: Readonly<Record<string, Menus>> = {
  "014": {
    app: ["BCA mobile", "m-Transfer", "BCA Virtual Account"],
    web: ["KlikBCA", "Transfer Dana", "Transfer ke BCA Virtual Account"],
    atm: ["Transaksi Lainnya", "Transfer", "Ke Rek BCA Virtual Account"],
  },
  "009": {
    app: ["wondr by BNI", "Transfer", "Virtual Account"],
    web: ["BNI Direct", "Transfer", "Virtual Account Billing"],
    atm: ["Menu Lain", "Transfer", "Virtual Account Billing"],
  },
  "002": {
    app: ["BRImo", "BRIVA"],
    web: ["BRI Internet Banking", "Pembayaran", "BRIVA"],
    atm: ["Transaksi Lain", "Pembayaran", "Lainnya", "BRIVA"],
  },
  "008": {
    app: ["Livin' by Mandiri", "Bayar", "Multipayment"],
    web: ["Mandiri Internet Banking", "Pembayaran", "Multipayment"],
    atm: ["Bayar/Beli", "Lainnya", "Multipayment"],
  },
  "013": {
    app: ["PermataMobile X", "Bayar Tagihan", "Virtual Account"],
    web: ["PermataNet", "Pembayaran", "Virtual Account"],
    atm: ["Transaksi Lainnya", "Pembayaran", "Pembayaran Lainnya", "Virtual Account"],
  },
};

/** Steps for banks that are not in `menus`. */
const anywhere: Menus = {
  app: ["Transfer", "Virtual Account"],
  web: ["Transfer", "Virtual Account"],
  atm: ["Transfer"],
};

const texts: Readonly<
  Record<Language, { go: (menus: string) => string; type: string; check: string; confirm: string }>
> = {
  en: {
    go: (way) => `Choose ${way}.`,
    type: "Type the virtual account number, without spaces.",
    check: "Compare the name and the amount with those on this page.",
    confirm: "Confirm with your PIN or password.",
  },
  id: {
    go: (way) => `Pilih ${way}.`,
    type: "Masukkan nomor virtual account tanpa spasi.",
    check: "Cocokkan nama dan jumlahnya dengan yang ada di halaman ini.",
    confirm: "Konfirmasi dengan PIN atau kata sandi Anda.",
  },
};

/** Steps of one channel of a bank. `bankCode`: three digits. */
export function stepsOf(bankCode: string, channel: Channel, language: Language): string[] {
  const way = (menus[bankCode] ?? anywhere)[channel];
  const text = texts[language];
  return [text.go(way.join(" › ")), text.type, text.check, text.confirm];
}
