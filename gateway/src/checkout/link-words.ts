// Texts of payment links' pages in each language. Pure.
import type { Language } from "../ground/languages.ts";
import { words } from "./words.ts";

const en = {
  howMuch: "How much do you want to pay?",
  between: (least: string, most: string) => `From ${least} to ${most}.`,
  atLeast: (least: string) => `At least ${least}.`,
  atMost: (most: string) => `At most ${most}.`,
  youPay: (amount: string) => `You pay ${amount}.`,
  /** `other`: what the same letters mean in the other language. */
  youPayRather: (amount: string, other: string) => `You pay ${amount}, not ${other}.`,
  methodQuestion: "How do you want to pay?",
  who: "Who pays?",
  name: "Your name",
  email: "Your e-mail address",
  emailWhy: "The merchant needs both for this payment.",
  go: "Continue",
  next: "The next page shows how to pay. Nothing is paid yet.",
  resume: "Continue your payment",
  see: "See your payment",
  problems: {
    amount: "Enter an amount in figures, such as 25000.",
    bounds: "This amount cannot be paid here. Enter another one.",
    methodAmount: "This amount cannot be paid by this method. Choose another one.",
    method: "Choose how you want to pay.",
    name: "Enter your name, with 1 to 120 characters.",
    email: "Enter your e-mail address, such as sari@example.com.",
    stale: "This page was too old. Check it once more, then continue.",
    often: "Too many payments were started here just now. Wait a minute, then try again.",
    unavailable: "This method cannot be used right now. Try again in a moment, or choose another one.",
  },
  faces: {
    paid: "Already paid",
    in_use: "Being paid right now",
    yours: "Your payment is open",
    processing: words.en.faces.processing,
    expired: "Too late",
    deactivated: "Closed",
    unavailable: words.en.faces.unavailable,
  },
  leads: {
    paid: "This could be paid only once, and it has been. Do not pay again.",
    in_use:
      "Somebody has started to pay it. If they do not finish, you can soon pay it here. This page updates by itself.",
    yours: "You started to pay it on this device and have not finished.",
    processing: words.en.leads.processing,
    expired: "The time to pay is over. Ask the merchant for a new link.",
    deactivated: "The merchant closed this link. Ask them for a new one.",
    unavailable: words.en.leads.unavailable,
  },
};

export type LinkWords = typeof en;

const id: LinkWords = {
  howMuch: "Berapa yang ingin Anda bayar?",
  between: (least, most) => `Dari ${least} sampai ${most}.`,
  atLeast: (least) => `Paling sedikit ${least}.`,
  atMost: (most) => `Paling banyak ${most}.`,
  youPay: (amount) => `Anda membayar ${amount}.`,
  youPayRather: (amount, other) => `Anda membayar ${amount}, bukan ${other}.`,
  methodQuestion: "Bagaimana Anda ingin membayar?",
  who: "Siapa yang membayar?",
  name: "Nama Anda",
  email: "Alamat email Anda",
  emailWhy: "Penjual membutuhkan keduanya untuk pembayaran ini.",
  go: "Lanjut",
  next: "Cara membayar muncul di halaman berikutnya. Belum ada yang dibayar.",
  resume: "Lanjutkan pembayaran Anda",
  see: "Lihat pembayaran Anda",
  problems: {
    amount: "Tulis jumlahnya dengan angka, misalnya 25000.",
    bounds: "Jumlah ini tidak bisa dibayar di sini. Masukkan jumlah lain.",
    methodAmount: "Jumlah ini tidak bisa dibayar dengan cara ini. Pilih cara lain.",
    method: "Pilih cara membayar.",
    name: "Tulis nama Anda, 1 sampai 120 karakter.",
    email: "Tulis alamat email Anda, misalnya sari@example.com.",
    stale: "Halaman ini sudah terlalu lama. Periksa sekali lagi, lalu lanjutkan.",
    often: "Baru saja terlalu banyak pembayaran dimulai di sini. Tunggu satu menit, lalu coba lagi.",
    unavailable: "Cara ini sedang tidak bisa dipakai. Coba lagi sebentar lagi, atau pilih cara lain.",
  },
  faces: {
    paid: "Sudah dibayar",
    in_use: "Sedang dibayar",
    yours: "Pembayaran Anda belum selesai",
    processing: words.id.faces.processing,
    expired: "Waktu habis",
    deactivated: "Sudah ditutup",
    unavailable: words.id.faces.unavailable,
  },
  leads: {
    paid: "Tagihan ini cukup dibayar sekali, dan sudah dibayar. Jangan membayar lagi.",
    in_use:
      "Seseorang sedang membayarnya. Jika tidak diselesaikan, sebentar lagi Anda bisa membayar di sini. Halaman ini berubah sendiri.",
    yours: "Anda memulainya di perangkat ini dan belum selesai.",
    processing: words.id.leads.processing,
    expired: "Waktu pembayaran sudah habis. Minta tautan baru kepada penjual.",
    deactivated: "Penjual menutup tautan ini. Minta tautan baru kepada penjual.",
    unavailable: words.id.leads.unavailable,
  },
};

export const linkWords: Readonly<Record<Language, LinkWords>> = { en, id };
