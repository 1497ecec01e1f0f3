// Texts of payers' pages in each language. Pure.
import type { Language } from "../ground/languages.ts";

type Method = "qris" | "va" | "card" | "ewallet" | "bank_transfer";

interface Words {
  /** Turns an amount such as 1,500.00 into this language's notation. */
  amountOf: (readable: string) => string;
  /** Name of the language in that language. */
  name: string;
  pay: (merchant: string) => string;
  amount: string;
  timeLeft: string;
  for: string;
  reference: string;
  method: Record<Method, string>;
  scan: string;
  scanOnPhone: string;
  save: string;
  copy: string;
  copied: string;
  accountNumber: string;
  bank: string;
  accountName: string;
  transferCode: string;
  transferCodeHint: string;
  exactly: string;
  how: string;
  channels: Record<"app" | "web" | "atm", string>;
  continueTo: Record<"card" | "ewallet", string>;
  /** Shown in place of `continueTo` in the sandbox, which has no page to continue to. */
  nowhere: Record<"card" | "ewallet", string>;
  back: (merchant: string) => string;
  backSoon: string;
  waiting: string;
  noScript: string;
  sandbox: string;
  /** Title (`own`) and text (`ownLead`) above the sandbox's buttons that stand in for the payer's device. */
  own: Record<Method, string>;
  ownLead: Record<Method, string>;
  approve: string;
  decline: string;
  faces: Record<
    "open" | "review" | "preparing" | "processing" | "paid" | "refunded" | "failed" | "expired" | "canceled",
    string
  >;
  leads: Record<
    "review" | "preparing" | "processing" | "paid" | "refunded" | "failed" | "expired" | "canceled",
    string
  >;
}

export const words: Readonly<Record<Language, Words>> = {
  en: {
    name: "English",
    amountOf: (readable) => readable,
    pay: (merchant) => `Pay ${merchant}`,
    amount: "Amount",
    timeLeft: "Time left",
    for: "For",
    reference: "Reference",
    method: {
      qris: "QRIS",
      va: "Virtual account",
      card: "Card",
      ewallet: "E-wallet",
      bank_transfer: "Bank transfer",
    },
    scan: "Scan it with your bank's app or your wallet.",
    scanOnPhone: "On this phone: save the picture, then choose it in your wallet under “Scan”.",
    save: "Save the picture",
    copy: "Copy",
    copied: "Copied",
    accountNumber: "Account number",
    bank: "Bank",
    accountName: "In the name of",
    transferCode: "Message of the transfer",
    transferCodeHint: "Without it nobody knows that the transfer is yours.",
    exactly: "Pay exactly this amount.",
    how: "How to pay",
    channels: { app: "With the bank's app", web: "By internet banking", atm: "At an ATM" },
    continueTo: { card: "Continue to the card's page", ewallet: "Continue to your wallet" },
    nowhere: {
      card: "In production a button here leads to the page where the card is entered.",
      ewallet: "In production a button here leads to the wallet.",
    },
    back: (merchant) => `Back to ${merchant}`,
    backSoon: "You are taken back in a moment.",
    waiting: "This page changes by itself; you need not load it again.",
    noScript: "Load the page again to see whether it is paid.",
    sandbox: "Sandbox: no real money",
    own: {
      qris: "Your phone, as the sandbox has it",
      va: "Your bank, as the sandbox has it",
      card: "Your card, as the sandbox has it",
      ewallet: "Your wallet, as the sandbox has it",
      bank_transfer: "Your bank, as the sandbox has it",
    },
    ownLead: {
      qris: "Nobody scans a code of the sandbox. Decide here what the payer does.",
      va: "Nobody pays into an account of the sandbox. Decide here what the payer does.",
      card: "The sandbox takes no card numbers. Decide here what the payer does.",
      ewallet: "The sandbox has no wallets. Decide here what the payer does.",
      bank_transfer: "Nobody pays into an account of the sandbox. Decide here what the payer does.",
    },
    approve: "Pay",
    decline: "Decline",
    faces: {
      open: "Waiting for your payment",
      review: "Being checked",
      preparing: "Not ready yet",
      processing: "Being processed",
      paid: "Paid. Thank you.",
      refunded: "Refunded",
      failed: "Not paid",
      expired: "Too late",
      canceled: "Canceled",
    },
    leads: {
      review: "The merchant's bank looks at it. How to pay is shown here as soon as it may be paid.",
      preparing:
        "How to pay is shown here as soon as it is there. If that takes more than a minute, go back to the shop and press its button again.",
      processing: "Your bank is at it. You need not do anything.",
      paid: "The merchant knows.",
      refunded: "The money is on its way back to you.",
      failed: "No money was taken. Ask the merchant for another way to pay.",
      expired: "The time to pay is over. Do not pay any more; ask the merchant for a new payment.",
      canceled: "The merchant took it back. Do not pay any more.",
    },
  },
  id: {
    name: "Bahasa Indonesia",
    amountOf: (readable) => readable.replaceAll(/[.,]/g, (mark) => (mark === "." ? "," : ".")),
    pay: (merchant) => `Bayar ${merchant}`,
    amount: "Jumlah",
    timeLeft: "Sisa waktu",
    for: "Untuk",
    reference: "Nomor referensi",
    method: {
      qris: "QRIS",
      va: "Virtual account",
      card: "Kartu",
      ewallet: "Dompet digital",
      bank_transfer: "Transfer bank",
    },
    scan: "Pindai dengan aplikasi bank atau dompet digital Anda.",
    scanOnPhone: "Di ponsel ini: simpan gambarnya, lalu pilih lewat menu “Pindai” di dompet digital Anda.",
    save: "Simpan gambar",
    copy: "Salin",
    copied: "Tersalin",
    accountNumber: "Nomor rekening",
    bank: "Bank",
    accountName: "Atas nama",
    transferCode: "Berita transfer",
    transferCodeHint: "Tanpa kode ini transfer Anda tidak dikenali.",
    exactly: "Bayar tepat sejumlah ini.",
    how: "Cara membayar",
    channels: { app: "Lewat aplikasi bank", web: "Lewat internet banking", atm: "Lewat ATM" },
    continueTo: { card: "Lanjut ke halaman kartu", ewallet: "Lanjut ke dompet digital" },
    nowhere: {
      card: "Di produksi, tombol di sini membuka halaman untuk mengisi kartu.",
      ewallet: "Di produksi, tombol di sini membuka dompet digital.",
    },
    back: (merchant) => `Kembali ke ${merchant}`,
    backSoon: "Sebentar lagi Anda dibawa kembali.",
    waiting: "Halaman ini berubah sendiri, tidak perlu dimuat ulang.",
    noScript: "Muat ulang halaman ini untuk melihat apakah sudah dibayar.",
    sandbox: "Sandbox: bukan uang sungguhan",
    own: {
      qris: "Ponsel Anda, versi sandbox",
      va: "Bank Anda, versi sandbox",
      card: "Kartu Anda, versi sandbox",
      ewallet: "Dompet digital Anda, versi sandbox",
      bank_transfer: "Bank Anda, versi sandbox",
    },
    ownLead: {
      qris: "Kode sandbox tidak bisa dipindai. Tentukan di sini apa yang dilakukan pembayar.",
      va: "Rekening sandbox tidak bisa dibayar. Tentukan di sini apa yang dilakukan pembayar.",
      card: "Sandbox tidak menerima nomor kartu. Tentukan di sini apa yang dilakukan pembayar.",
      ewallet: "Sandbox tidak punya dompet digital. Tentukan di sini apa yang dilakukan pembayar.",
      bank_transfer: "Rekening sandbox tidak bisa dibayar. Tentukan di sini apa yang dilakukan pembayar.",
    },
    approve: "Bayar",
    decline: "Tolak",
    faces: {
      open: "Menunggu pembayaran Anda",
      review: "Sedang diperiksa",
      preparing: "Belum siap",
      processing: "Sedang diproses",
      paid: "Sudah dibayar. Terima kasih.",
      refunded: "Dikembalikan",
      failed: "Tidak dibayar",
      expired: "Waktu habis",
      canceled: "Dibatalkan",
    },
    leads: {
      review: "Pembayaran ini sedang diperiksa. Cara membayar muncul di sini setelah disetujui.",
      preparing:
        "Cara membayar muncul di sini begitu tersedia. Jika lebih dari satu menit, kembali ke toko dan tekan tombol bayarnya sekali lagi.",
      processing: "Bank Anda sedang memprosesnya. Anda tidak perlu berbuat apa-apa.",
      paid: "Penjual sudah mengetahuinya.",
      refunded: "Uang Anda sedang dikirim kembali.",
      failed: "Tidak ada uang yang diambil. Minta cara lain kepada penjual.",
      expired: "Waktu pembayaran sudah habis. Jangan membayar lagi; minta pembayaran baru kepada penjual.",
      canceled: "Penjual membatalkannya. Jangan membayar lagi.",
    },
  },
};
