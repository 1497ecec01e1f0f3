// The sections of the navigation in their order, and the default sections of pages. Pure.
import type { Language } from "./page.ts";

export interface Section {
  name: string;
  /** The Indonesian name. */
  id: string;
  /** Collapsed until the reader is in this section. */
  folded?: true;
}

export const sections: readonly Section[] = [
  { name: "Start", id: "Mulai" },
  { name: "Take payments", id: "Menerima pembayaran" },
  { name: "Webhooks", id: "Webhook" },
  { name: "For finance", id: "Untuk keuangan" },
  { name: "Tools", id: "Alat" },
  { name: "Your account", id: "Akun Anda" },
  { name: "Concepts", id: "Konsep" },
  { name: "Reference", id: "Referensi" },
  { name: "Run the service", id: "Menjalankan layanan", folded: true },
  { name: "Decisions", id: "Keputusan", folded: true },
];

/** The default sections, by the page's folder in docs/. A comment at the top of a file overrides them. */
export const sectionOfFolder: Readonly<Record<string, string>> = {
  "": "Reference",
  guides: "Take payments",
  concepts: "Concepts",
  decisions: "Decisions",
};

export function sectionName(section: string, language: Language): string {
  return language === "en" ? section : (sections.find(({ name }) => name === section)?.id ?? section);
}
