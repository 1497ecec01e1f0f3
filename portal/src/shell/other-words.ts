// Other words by which the palette finds pages. Only the palette loads them, since the first page has no room for them.
import type { Words } from "./map.ts";

/** What people look for who do not know yet how a page is called, in both languages. */
export const otherWords: Partial<Record<keyof Words, string>> = {
  payments: "sales orders transactions penjualan pesanan transaksi",
  links: "invoice qr stall tagihan lapak",
  refunds: "money back pengembalian uang kembali",
  disputes: "chargeback complaint evidence keluhan bukti",
  settlements: "payout bank transfer month csv pencairan bulan",
  balances: "book ledger monthly statement buku laporan bulan",
  keys: "api key secret client_id",
  webhooks: "notification callback notifikasi",
  business: "name fee price schedule payout language time zone nama biaya jadwal bahasa",
  team: "invite people colleague role member undang orang karyawan peran",
  branding: "logo colour color warna",
  audit: "history who changed riwayat",
  profile: "name language time zone nama bahasa zona waktu",
  authenticator: "two-factor 2fa mfa second factor otp verifikasi dua langkah",
  passkeys: "two-factor 2fa second factor fingerprint sidik jari",
  sessions: "devices sign out perangkat",
};
