// The words of the frame around a page, in both languages. Pure.
import type { Language } from "./page.ts";

const en = {
  docs: "Docs",
  documentation: "Documentation",
  skip: "Skip to the text",
  menu: "Menu",
  search: "Search",
  searchHint: "Search  /",
  onThisPage: "On this page",
  before: "Before",
  next: "Next",
  asMarkdown: "This page as Markdown",
  theme: "Light or dark",
  portal: "Portal",
  status: "Status",
  other: "Bahasa Indonesia",
  around: "Pages around this one",
  notHere: "There is no such page",
  notHereLong: "The address may have changed, or never was one. Search, or begin at the first page.",
  first: "The first page",
};

export const words: Readonly<Record<Language, typeof en>> = {
  en,
  id: {
    docs: "Docs",
    documentation: "Dokumentasi",
    skip: "Langsung ke teks",
    menu: "Menu",
    search: "Cari",
    searchHint: "Cari  /",
    onThisPage: "Di halaman ini",
    before: "Sebelumnya",
    next: "Berikutnya",
    asMarkdown: "Halaman ini sebagai Markdown",
    theme: "Terang atau gelap",
    portal: "Portal",
    status: "Status",
    other: "English",
    around: "Halaman di sekitarnya",
    notHere: "Halaman ini tidak ada",
    notHereLong: "Alamatnya mungkin telah berubah. Carilah, atau mulai dari halaman pertama.",
    first: "Halaman pertama",
  },
};
