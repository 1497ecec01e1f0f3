// The page of an address that leads to no payment, such as a link that was cut in a chat. It tells no more than that. Pure.
import { Fault } from "../ground/fault.ts";
import { html, pageText } from "../ground/html.ts";
import type { Language } from "../ground/languages.ts";
import { STYLE_PATH } from "./assets.ts";
import { switcher } from "./frame.ts";
import { words } from "./words.ts";

/** For the look-up of a page by its address: undefined in place of ROUTE_NOT_FOUND. */
export function unlessLost(error: unknown): undefined {
  if (!(error instanceof Fault) || error.code !== "ROUTE_NOT_FOUND") throw error;
}

export function lostPage(path: string, language: Language, serviceName: string): string {
  const text = words[language];
  return `<!doctype html>\n${pageText(
    html`<html lang="${language}">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="robots" content="noindex" />
        <title>${text.lost} · ${serviceName}</title>
        <link rel="stylesheet" href="${STYLE_PATH}" />
      </head>
      <body data-face="lost">
        <div class="around">
          <main>
            <header><span></span>${switcher(path, language)}</header>
            <h1>${text.lost}</h1>
            <p class="muted">${text.lostLead}</p>
          </main>
        </div>
      </body>
    </html>`,
  )}\n`;
}
