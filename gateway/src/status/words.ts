// The texts of the status page in each language. Pure.
import { type Micros, SECOND } from "../ground/clock.ts";
import type { Language } from "../ground/languages.ts";

const en = {
  /** The language's own name for itself. */
  name: "English",
  title: "Status",
  components: {
    api: "API",
    qris: "QRIS",
    va: "Virtual accounts",
    card: "Cards",
    ewallet: "E-wallets",
    bank_transfer: "Bank transfers",
    webhooks: "Webhooks",
    settlements: "Settlements",
  },
  states: {
    operational: "Operational",
    degraded: "Degraded",
    outage: "Outage",
    maintenance: "Maintenance",
    no_data: "No data",
  },
  /** States of all components together. */
  overall: {
    operational: "Everything works",
    degraded: "Some parts are degraded",
    outage: "Some parts are down",
    maintenance: "Planned work is under way",
    no_data: "Nothing has been measured lately",
  },
  checked: "Checked",
  fromMemory:
    "The database does not answer. This is what one process of the service knows by itself, and the days are as it last read them.",
  now: "Now, and the last 90 days",
  planned: "Planned work",
  open: "What happens now",
  past: "The last 14 days",
  nothingPast: "Nothing was reported.",
  lastDays: "The last 90 days",
  daysAgo: "90 days ago",
  today: "Today",
  uptime: (percent: string) => `${percent} % up`,
  notMeasured: "Not measured yet",
  troubled: (days: number) => (days === 1 ? "1 day with trouble" : `${days} days with trouble`),
  noTrouble: "no day with trouble",
  minutes: (minutes: number) => (minutes === 1 ? "1 minute" : `${minutes} minutes`),
  statuses: {
    scheduled: "Scheduled",
    investigating: "Investigating",
    identified: "Identified",
    monitoring: "Monitoring",
    resolved: "Resolved",
  },
  impacts: {
    none: "No impact",
    minor: "Minor impact",
    major: "Major impact",
    critical: "Critical impact",
    maintenance: "Planned work",
  },
  affects: "Affects",
  from: "From",
  until: "Until",
  corrected: "Corrected",
  legend: "What the bars mean",
  feed: "Follow by RSS",
  json: "The same as JSON",
  measuredBy:
    "Measured by the service itself, every minute. Up: the measured minutes without an outage, planned work left out. Days are days of UTC.",
};

type Words = typeof en;
const id: Words = {
  name: "Bahasa Indonesia",
  title: "Status",
  components: {
    api: "API",
    qris: "QRIS",
    va: "Virtual account",
    card: "Kartu",
    ewallet: "Dompet digital",
    bank_transfer: "Transfer bank",
    webhooks: "Webhook",
    settlements: "Pencairan dana",
  },
  states: {
    operational: "Normal",
    degraded: "Terganggu",
    outage: "Tidak berfungsi",
    maintenance: "Pemeliharaan",
    no_data: "Tidak ada data",
  },
  overall: {
    operational: "Semua berfungsi normal",
    degraded: "Sebagian layanan terganggu",
    outage: "Sebagian layanan tidak berfungsi",
    maintenance: "Pemeliharaan sedang berlangsung",
    no_data: "Belum ada pengukuran",
  },
  checked: "Diperiksa",
  fromMemory:
    "Basis data tidak menjawab. Yang tampil di sini hanya yang diketahui satu proses layanan; data harian adalah yang terakhir dibaca.",
  now: "Sekarang dan 90 hari terakhir",
  planned: "Pemeliharaan terjadwal",
  open: "Yang sedang terjadi",
  past: "14 hari terakhir",
  nothingPast: "Tidak ada laporan.",
  lastDays: "90 hari terakhir",
  daysAgo: "90 hari lalu",
  today: "Hari ini",
  uptime: (percent) => `${percent.replace(".", ",")} % aktif`,
  notMeasured: "Belum diukur",
  troubled: (days) => `${days} hari dengan gangguan`,
  noTrouble: "tidak ada hari dengan gangguan",
  minutes: (minutes) => `${minutes} menit`,
  statuses: {
    scheduled: "Terjadwal",
    investigating: "Sedang diselidiki",
    identified: "Penyebab ditemukan",
    monitoring: "Dipantau",
    resolved: "Selesai",
  },
  impacts: {
    none: "Tanpa dampak",
    minor: "Dampak kecil",
    major: "Dampak besar",
    critical: "Dampak kritis",
    maintenance: "Pemeliharaan terjadwal",
  },
  affects: "Terdampak",
  from: "Mulai",
  until: "Sampai",
  corrected: "Dikoreksi",
  legend: "Arti batang",
  feed: "Ikuti lewat RSS",
  json: "Data yang sama dalam JSON",
  measuredBy:
    "Diukur oleh layanan sendiri setiap menit. Aktif: menit terukur di luar pemeliharaan tanpa gangguan total. Hari mengikuti UTC.",
};

export const words: Readonly<Record<Language, Words>> = { en, id };

const locales: Readonly<Record<Language, string>> = { en: "en-GB", id: "id-ID" };

/** A time for readers, in UTC. A script on the page shows it in the reader's own time zone. */
export function momentText(at: Micros, language: Language): string {
  const format = new Intl.DateTimeFormat(locales[language], {
    dateStyle: "medium",
    timeStyle: "short",
    timeZone: "UTC",
  });
  return `${format.format((at / SECOND) * 1000)} UTC`;
}

/** The text of a UTC day, given as YYYY-MM-DD. */
export function dayText(day: string, language: Language): string {
  return new Intl.DateTimeFormat(locales[language], { dateStyle: "medium", timeZone: "UTC" }).format(Date.parse(day));
}
