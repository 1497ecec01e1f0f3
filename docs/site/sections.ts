// The sections of the navigation, in their order, and where a page goes that does not say. Pure.
import type { Language } from "./page.ts";

export interface Section {
  name: string;
  /** In Indonesian. */
  id: string;
  /** Folded away until one reads in it. */
  folded?: true;
}

export const sections: readonly Section[] = [
  { name: "Start", id: "Mulai" },
  { name: "Take payments", id: "Menerima pembayaran" },
  { name: "Webhooks", id: "Webhook" },
  { name: "Tools", id: "Alat" },
  { name: "Your account", id: "Akun Anda" },
  { name: "Concepts", id: "Konsep" },
  { name: "Reference", id: "Referensi" },
  { name: "Run the service", id: "Menjalankan layanan", folded: true },
  { name: "Decisions", id: "Keputusan", folded: true },
];

/** Where pages of a folder of docs/ go that have no comment of their own. */
export const sectionOfFolder: Readonly<Record<string, string>> = {
  "": "Reference",
  guides: "Take payments",
  concepts: "Concepts",
  decisions: "Decisions",
};

export function sectionName(section: string, language: Language): string {
  return language === "en" ? section : (sections.find(({ name }) => name === section)?.id ?? section);
}
