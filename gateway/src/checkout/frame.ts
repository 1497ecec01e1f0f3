// The frame of all payers' pages: the merchant's branding, the choice of language, the sandbox's stripes. Pure.
import { type DocumentParts, type Html, documentText, html } from "../ground/html.ts";
import { type Language, otherLanguages } from "../ground/languages.ts";
import type { Book } from "../merchants/books.ts";
import { logoPath } from "../merchants/profiles.ts";
import type { Profile } from "../merchants/profiles.sql.ts";
import { SCRIPT_PATH, STYLE_PATH, colourPath } from "./assets.ts";
import { words } from "./words.ts";

/** Seconds between reloads of a page that will change, where nothing tells its browser. */
export const RELOAD_SECONDS = 10;

export interface PageBasics {
  path: string;
  language: Language;
  serviceName: string;
}

interface FrameParts extends PageBasics {
  book: Book;
  profile: Profile;
  face: string;
  /** Further attributes of `<body>` for the script. */
  attributes?: Html | undefined;
  /** Whether a browser without scripts reloads the page. */
  reloads: boolean;
  content: Html;
  /** Content beside the page. */
  aside?: Html | undefined;
}

/** The whole HTML document of a payer's page. */
export function payerDocument({ head, ...parts }: DocumentParts): string {
  const own = html`<meta name="robots" content="noindex" /><link rel="stylesheet" href="${STYLE_PATH}" />${head}`;
  return documentText({ ...parts, head: own });
}

/** The document of a merchant's page. */
export function framed(parts: FrameParts): string {
  const { book, profile, path, language, serviceName, face, reloads } = parts;
  const isSandbox = book.environment === "sandbox";
  const text = words[language];
  const heading = face === "open" || face === "form" ? text.pay(profile.name) : profile.name;
  return payerDocument({
    language,
    title: `${heading} · ${serviceName}`,
    head: html`${profile.colour !== undefined && html`<link rel="stylesheet" href="${colourPath(profile.colour)}" />`}
      ${reloads && html`<noscript><meta http-equiv="refresh" content="${RELOAD_SECONDS}" /></noscript>`}
      <script type="module" src="${SCRIPT_PATH}"></script>`,
    body: html`<body class="${isSandbox ? "sandbox" : ""}" data-face="${face}" ${parts.attributes}>
      <div class="around">
        <main>
          <header>${logo(book.merchantId, profile)}${switcher(path, language)}</header>
          ${isSandbox && html`<p class="note">${text.sandbox}</p>`}
          <h1>${heading}</h1>
          ${parts.content}
        </main>
        ${parts.aside}
      </div>
    </body>`,
  });
}

/** The logo has an empty `alt`, because screen readers read the merchant's name from the heading. */
function logo(merchantId: string, profile: Profile): Html {
  if (!profile.logo) return html`<span></span>`;
  const { width, height } = profile.logo;
  return html`<img
    class="logo"
    src="${logoPath(merchantId, profile.logo)}"
    width="${width}"
    height="${height}"
    alt=""
  />`;
}

export function switcher(path: string, language: Language): Html {
  return html`<nav class="language">${otherLanguages(path, language)}</nav>`;
}
