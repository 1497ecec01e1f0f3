// Texts of payers' pages in each language. Pure.
import type { Language } from "../ground/languages.ts";

const en = {
  /** Turns an amount such as 1,500.00 into this language's notation. */
  amountOf: (readable: string) => readable,
  pay: (merchant: string) => `Pay ${merchant}`,
  amount: "Amount",
  timeLeft: "Time left",
  /** On paper, where no clock runs. A date and a time follow. */
  payBy: "Pay by",
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
  accountNumber: { va: "Virtual account number", bank: "Account number" },
  bank: "Bank",
  accountName: "In the name of",
  billerCode: "Company code, which the bank asks for first",
  transferCode: "Transfer message",
  transferCodeHint: "Without it, nobody can tell that the transfer is yours.",
  exactly: "Pay exactly this amount.",
  how: "How to pay",
  channels: { app: "With the bank's app", web: "By internet banking", atm: "At an ATM" },
  continueTo: { card: "Continue to the card's page", ewallet: "Continue to your wallet" },
  /** Shown in place of `continueTo` in the sandbox, which has no page to continue to. */
  nowhere: {
    card: "In production, a button here opens the page where the card is entered.",
    ewallet: "In production, a button here opens the wallet.",
  },
  back: (merchant: string) => `Back to ${merchant}`,
  /** To the payment link of a payment that has failed or expired. */
  beginAgain: "Open the payment link again",
  backSoon: "You will be taken back in a moment.",
  stay: "Stay here",
  waiting: "This page updates by itself. You do not need to reload it.",
  sandbox: "Sandbox: no real money",
  /** Title (`own`) and text (`ownLead`) above the sandbox's buttons that stand in for the payer. */
  own: "In place of the payer",
  ownLead: "Nobody can really pay in the sandbox. Choose here what the payer does.",
  approve: "Pay",
  decline: "Decline",
  /** `lost`: an address that leads to no payment. `busy`: the service cannot answer just now. */
  errors: {
    lost: {
      title: "There is no payment here",
      lead: "Open the merchant's full link again. If it still leads here, ask the merchant for a new one. Nothing was paid on this page.",
    },
    busy: {
      title: "Just a moment",
      lead: "This page cannot be shown right now. It will try again by itself. If you have already paid, do not pay again: your payment will show here later.",
    },
  },
  faces: {
    review: "Being checked",
    preparing: "Not ready yet",
    processing: "Being processed",
    paid: "Paid. Thank you.",
    refunded: "Refunded",
    failed: "Not paid",
    expired: "Too late",
    canceled: "Canceled",
    unavailable: "Cannot be paid now",
  },
  leads: {
    review: "This payment is being checked. How to pay appears here once it is approved.",
    preparing: "How to pay appears here once it is ready. If not within a minute, begin again where you came from.",
    processing: "Your payment is on its way. Do not pay again; you do not need to do anything.",
    paid: "The merchant can see your payment.",
    refunded: "The money is on its way back to you.",
    failed:
      "Ask the merchant for another way to pay. If money has left your account anyway, tell them first and do not pay again.",
    expired:
      "The time to pay is over. Do not pay now; ask the merchant for a new payment. If you have already paid, tell them first and do not pay again.",
    canceled: "The merchant canceled this payment. Do not pay it. If you have already paid, tell them.",
    unavailable: "The merchant takes no payments just now. Try later. If you have already paid, do not pay again.",
  },
};

type Words = typeof en;
const id: Words = {
  amountOf: (readable) => readable.replaceAll(/[.,]/g, (mark) => (mark === "." ? "," : ".")),
  pay: (merchant) => `Bayar ${merchant}`,
  amount: "Jumlah",
  timeLeft: "Sisa waktu",
  payBy: "Bayar paling lambat",
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
  accountNumber: { va: "Nomor virtual account", bank: "Nomor rekening" },
  bank: "Bank",
  accountName: "Atas nama",
  billerCode: "Kode perusahaan, yang diminta bank lebih dulu",
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
  beginAgain: "Buka lagi tautan pembayarannya",
  backSoon: "Sebentar lagi Anda dibawa kembali.",
  stay: "Tetap di sini",
  waiting: "Halaman ini berubah sendiri, tidak perlu dimuat ulang.",
  sandbox: "Sandbox: bukan uang sungguhan",
  own: "Sebagai pengganti pembayar",
  ownLead: "Di sandbox tidak ada pembayaran sungguhan. Tentukan di sini apa yang dilakukan pembayar.",
  approve: "Bayar",
  decline: "Tolak",
  errors: {
    lost: {
      title: "Tidak ada pembayaran di sini",
      lead: "Buka lagi tautan dari penjual secara lengkap. Jika tetap sampai di sini, minta tautan baru kepada penjual. Tidak ada yang dibayar lewat halaman ini.",
    },
    busy: {
      title: "Sebentar",
      lead: "Halaman ini belum bisa ditampilkan dan akan mencoba lagi sendiri. Jika Anda sudah membayar, jangan membayar lagi; nanti terlihat di sini.",
    },
  },
  faces: {
    review: "Sedang diperiksa",
    preparing: "Belum siap",
    processing: "Sedang diproses",
    paid: "Sudah dibayar. Terima kasih.",
    refunded: "Dikembalikan",
    failed: "Tidak dibayar",
    expired: "Waktu habis",
    canceled: "Dibatalkan",
    unavailable: "Belum bisa dibayar",
  },
  leads: {
    review: "Pembayaran ini sedang diperiksa. Cara membayar muncul di sini setelah disetujui.",
    preparing: "Cara membayar segera muncul di sini. Jika lebih dari satu menit, mulai lagi dari halaman sebelumnya.",
    processing: "Pembayaran Anda sedang diproses. Jangan membayar lagi; Anda tidak perlu berbuat apa-apa.",
    paid: "Penjual sudah mengetahuinya.",
    refunded: "Uang Anda sedang dikirim kembali.",
    failed:
      "Minta cara lain kepada penjual. Jika uang Anda tetap terpotong, beri tahu penjual dulu dan jangan membayar lagi.",
    expired:
      "Waktu pembayaran sudah habis. Jangan membayar sekarang; minta pembayaran baru kepada penjual. Jika Anda sudah membayar, beri tahu penjual dulu dan jangan membayar lagi.",
    canceled: "Penjual membatalkan pembayaran ini. Jangan membayarnya. Jika Anda sudah membayar, beri tahu penjual.",
    unavailable: "Penjual sedang tidak menerima pembayaran. Coba lagi nanti. Jika sudah membayar, jangan bayar lagi.",
  },
};

export const words: Readonly<Record<Language, Words>> = { en, id };
