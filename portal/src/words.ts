// The texts of the shell, in the languages that people can choose. Other texts on pages are in English, like the API's.
import { useMembership } from "./api/place.ts";
import { useSession } from "./api/session.ts";

const en = {
  home: "Home",
  payments: "Payments",
  links: "Payment links",
  refunds: "Refunds",
  disputes: "Disputes",
  settlements: "Settlements",
  balances: "Balances",
  developers: "Developers",
  keys: "Keys",
  webhooks: "Webhooks",
  events: "Events",
  requests: "Requests",
  idempotency: "Idempotency",
  sandbox: "Sandbox",
  production: "Production",
  clock: "Clock",
  qris: "QRIS workbench",
  create: "Create a payment",
  settings: "Settings",
  business: "Business",
  team: "Team",
  branding: "Branding",
  payers: "Forget a payer",
  audit: "Audit log",
  money: "Money",
  account: "Your account",
  documentation: "Documentation",
  profile: "Profile",
  password: "Password",
  authenticator: "Authenticator app",
  passkeys: "Passkeys",
  sessions: "Sessions",
  signOut: "Sign out",
  search: "Search",
  searchHint: "Search, or go to a page",
  theme: "Theme",
  light: "Light",
  dark: "Dark",
  system: "As the system",
  menu: "Menu",
  close: "Close",
  environment: "Environment",
  merchant: "Merchant",
  skip: "Skip to the page",
  live: "Live",
  asking: "Asking every 15 s",
  offline: "No connection",
  liveHint: "New events appear automatically.",
  askingHint: "Live updates are disconnected; the page checks for changes every 15 seconds.",
  offlineHint: "The service is not answering. The page keeps trying.",
};

type Words = typeof en;

const id: Words = {
  home: "Beranda",
  payments: "Pembayaran",
  links: "Tautan pembayaran",
  refunds: "Pengembalian dana",
  disputes: "Sengketa",
  settlements: "Settlement",
  balances: "Saldo",
  developers: "Pengembang",
  keys: "Kunci API",
  webhooks: "Webhook",
  events: "Event",
  requests: "Permintaan",
  idempotency: "Idempotensi",
  sandbox: "Sandbox",
  production: "Produksi",
  clock: "Jam",
  qris: "Alat uji QRIS",
  create: "Buat pembayaran",
  settings: "Pengaturan",
  business: "Usaha",
  team: "Tim",
  branding: "Tampilan",
  payers: "Hapus data pembayar",
  audit: "Log audit",
  money: "Uang",
  account: "Akun Anda",
  documentation: "Dokumentasi",
  profile: "Profil",
  password: "Kata sandi",
  authenticator: "Aplikasi autentikator",
  passkeys: "Passkey",
  sessions: "Sesi",
  signOut: "Keluar",
  search: "Cari",
  searchHint: "Cari, atau buka halaman",
  theme: "Tema",
  light: "Terang",
  dark: "Gelap",
  system: "Ikuti sistem",
  menu: "Menu",
  close: "Tutup",
  environment: "Lingkungan",
  merchant: "Merchant",
  skip: "Langsung ke halaman",
  live: "Langsung",
  asking: "Diperiksa tiap 15 dtk",
  offline: "Tidak terhubung",
  liveHint: "Event baru muncul otomatis.",
  askingHint: "Pembaruan langsung terputus; halaman memeriksa perubahan tiap 15 detik.",
  offlineHint: "Layanan tidak menjawab. Halaman terus mencoba lagi.",
};

const languages = { en, id };
export type Language = keyof typeof languages;

/** The language of the person, else of the page's merchant, else of the browser. */
export function useLanguage(): Language {
  const ofMerchant = useMembership()?.language;
  const chosen = useSession()?.person.language ?? ofMerchant;
  return chosen ?? (navigator.language.startsWith("id") ? "id" : "en");
}

export function useWords(): Words {
  return languages[useLanguage()];
}
