// The payer's page as HTML: who is paid, how much, how long still, how. It works without scripts. Pure.
import { wireTime } from "../ground/clock.ts";
import { type Html, html, pageText } from "../ground/html.ts";
import { type Language, languages } from "../ground/languages.ts";
import { readable } from "../ground/money.ts";
import { logoPath } from "../merchants/profiles.ts";
import type { Profile } from "../merchants/profiles.sql.ts";
import { SCRIPT_PATH, STYLE_PATH, colourPath } from "./assets.ts";
import type { Checkout, Face } from "./checkout.ts";
import { faceOfEnd } from "./faces.ts";
import { instructionsPart } from "./methods.ts";
import { words } from "./words.ts";

export interface PageParts {
  checkout: Checkout;
  /** The path of this page. */
  path: string;
  language: Language;
  serviceName: string;
}

/** While a payment has one of these faces its page waits for another one. */
const waiting: ReadonlySet<Face> = new Set(["open", "review", "processing"]);

/** The whole page. */
export function payerPage({ checkout, path, language, serviceName }: PageParts): string {
  const { payment, profile, face, secondsLeft } = checkout;
  const text = words[language];
  const isSandbox = payment.book.environment === "sandbox";
  const watch = waiting.has(face) && path;
  const back = payment.returnUrl;
  return `<!doctype html>\n${pageText(
    html`<html lang="${language}">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="robots" content="noindex" />
        <title>${text.pay(profile.name)} · ${serviceName}</title>
        <link rel="stylesheet" href="${STYLE_PATH}" />
        ${profile.colour !== undefined && html`<link rel="stylesheet" href="${colourPath(profile.colour)}" />`}
        ${watch !== false && html`<noscript><meta http-equiv="refresh" content="10" /></noscript>`}
        <script type="module" src="${SCRIPT_PATH}"></script>
      </head>
      <body
        class="${isSandbox ? "sandbox" : ""}"
        data-face="${face}"
        ${watch !== false && html` data-watch="${watch}"`}${face === "paid" && back !== undefined && html` data-back="${back}"`}
      >
        <div class="around">
          <main>
            <header>${logo(checkout.payment.book.merchantId, profile)}${switcher(path, language)}</header>
            ${isSandbox && html`<p class="note">${text.sandbox}</p>`}
            <h1>${text.pay(profile.name)}</h1>
            <p class="amount">
              <small>${payment.currency}</small>${text.amountOf(readable(payment.amountMinor, payment.currency))}
            </p>
            ${face === "open" ? html`<p class="left">${text.timeLeft}: <b data-left="${secondsLeft}">${clock(secondsLeft)}</b></p>` : faceOfEnd(face, language)}
            ${checkout.instructions && instructionsPart({ instructions: checkout.instructions, payment, path, language })}
            ${
              watch !== false &&
              html`<p class="muted" role="status">${text.waiting}</p>
                <noscript><p class="muted">${text.noScript}</p></noscript>`
            }
            ${face !== "open" && back !== undefined && backPart(back, profile.name, face, language)}
            <section>
              <dl>
                <dt>${text.for}</dt>
                <dd>${payment.description ?? payment.referenceId}</dd>
                <dt>${text.reference}</dt>
                <dd>${payment.reference}</dd>
                ${
                  face === "paid" &&
                  payment.paidAt !== undefined &&
                  html`<dt>${text.faces.paid.split(".")[0]}</dt>
                    <dd>${wireTime(payment.paidAt)}</dd>`
                }
              </dl>
            </section>
          </main>
          ${isSandbox && face === "open" && phone(path, language)}
        </div>
      </body>
    </html>`,
  )}\n`;
}

function backPart(back: string, merchant: string, face: Face, language: Language): Html {
  const text = words[language];
  return html`<a class="button main wide" href="${back}" rel="noreferrer">${text.back(merchant)}</a>
    ${face === "paid" && html`<p class="muted">${text.backSoon}</p>`}`;
}

/** The logo stands for the name, which is read out from the heading. */
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

function switcher(path: string, language: Language): Html {
  const others = languages.filter((one) => one !== language);
  return html`<nav class="language">
    ${others.map((one) => html`<a href="${path}?lang=${one}" lang="${one}" hreflang="${one}">${words[one].name}</a>`)}
  </nav>`;
}

/** What a payer would do with a phone; there is none in a sandbox. */
function phone(path: string, language: Language): Html {
  const text = words[language];
  return html`<aside aria-label="${text.phone}">
    <h2>${text.phone}</h2>
    <p class="muted">${text.phoneLead}</p>
    <form method="post" action="${path}?lang=${language}">
      <button class="main" name="decision" value="approve">${text.approve}</button>
      <button name="decision" value="decline">${text.decline}</button>
    </form>
  </aside>`;
}

function clock(seconds: number): string {
  const two = (number: number): string => String(number).padStart(2, "0");
  const hours = Math.floor(seconds / 3600);
  return `${hours > 0 ? `${hours}:` : ""}${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`;
}
