// The languages of pages without a sign-in, the choice among them by a browser's preferences, and how each writes a time. Pure.
import { type Micros, SECOND, wireTime } from "./clock.ts";
import { type Html, html } from "./html.ts";

export const languages = ["id", "en"] as const;
export type Language = (typeof languages)[number];

const names: Readonly<Record<Language, string>> = { id: "Bahasa Indonesia", en: "English" };

/** Links to a page in its other languages. */
export function otherLanguages(path: string, language: Language): Html[] {
  const others = languages.filter((one) => one !== language);
  return others.map((one) => html`<a href="${path}?lang=${one}" lang="${one}" hreflang="${one}">${names[one]}</a>`);
}

/** The language of a page: the one chosen on the page, else the one that the browser prefers, else English. */
export function languageOf(chosen: string | undefined, acceptLanguage: string | undefined): Language {
  const known = languages.find((language) => language === chosen);
  if (known) return known;
  const wanted = (acceptLanguage ?? "")
    .slice(0, 500)
    .split(",")
    .map((part) => {
      const [tag = "", ...parameters] = part.trim().toLowerCase().split(";");
      const weight = parameters.map((one) => /^\s*q=([01](?:\.\d{1,3})?)$/.exec(one)?.[1]).find(Boolean);
      return { language: tag.split("-")[0], weight: weight === undefined ? 1 : Number(weight) };
    })
    .filter(({ weight }) => weight > 0)
    .toSorted((a, b) => b.weight - a.weight);
  // `in` is the former code of Indonesian, which old phones send.
  const spoken = wanted.map(({ language }) => (language === "in" ? "id" : language));
  return spoken.flatMap((one) => languages.filter((language) => language === one))[0] ?? "en";
}

const locales: Readonly<Record<Language, string>> = { en: "en-GB", id: "id-ID" };

/** A time for readers, in UTC. A script on the page shows it in the reader's own time zone. */
export function moment(at: Micros, language: Language): Html {
  const format = new Intl.DateTimeFormat(locales[language], {
    dateStyle: "medium",
    timeStyle: "short",
    timeZone: "UTC",
  });
  return html`<time datetime="${wireTime(at)}">${format.format((at / SECOND) * 1000)} UTC</time>`;
}

/** The text of a UTC day, given as YYYY-MM-DD. */
export function dayText(day: string, language: Language): string {
  return new Intl.DateTimeFormat(locales[language], { dateStyle: "medium", timeZone: "UTC" }).format(Date.parse(day));
}
