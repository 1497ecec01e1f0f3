// The payer's page as HTML: merchant, amount, time left and instructions. The page works without scripts. Pure.
import { type Html, html } from "../ground/html.ts";
import { type Language, moment } from "../ground/languages.ts";
import { type Minor, readable } from "../ground/money.ts";
import type { Checkout, Face } from "./checkout.ts";
import { facePart } from "./faces.ts";
import { type PageBasics, framed } from "./frame.ts";
import { instructionsPart } from "./methods.ts";
import { words } from "./words.ts";

interface PageParts extends PageBasics {
  checkout: Checkout;
}

/** States that will change: the page watches the payment. */
const waiting: ReadonlySet<Face> = new Set(["open", "review", "preparing", "processing"]);

/** Final states after which the page sends the payer back to the merchant. */
const leadsBack: ReadonlySet<Face> = new Set(["paid", "failed"]);

export function payerPage({ checkout, path, language, serviceName }: PageParts): string {
  const { payment, profile, face, secondsLeft, refunds } = checkout;
  const text = words[language];
  const amount = (minor: Minor): string => text.amountOf(readable(minor, payment.currency));
  const watch = waiting.has(face) && path;
  const back = payment.returnUrl;
  // The `reference_id` of a payment by link means nothing to its payer: the service made it from the form.
  const what = payment.description ?? (payment.link === undefined ? payment.referenceId : undefined);
  return framed({
    book: payment.book,
    profile,
    path,
    language,
    serviceName,
    face,
    attributes: html`${watch !== false && html` data-watch="${watch}"`}${leadsBack.has(face) && back !== undefined && html` data-back="${back}"`}`,
    reloads: watch !== false,
    content: html`<p class="amount"><small>${payment.currency}</small>${amount(payment.amountMinor)}</p>
      ${
        face === "open"
          ? html`<p class="left screen">${text.timeLeft}: <b data-left="${secondsLeft}">${clock(secondsLeft)}</b></p>
              <p class="left paper">${text.payBy} ${moment(payment.expiresAt, language)}</p>`
          : facePart(face, text.faces[face], text.leads[face])
      }
      ${checkout.instructions && instructionsPart({ instructions: checkout.instructions, payment, path, language })}
      ${watch !== false && html`<p class="muted screen" role="status">${text.waiting}</p>`}
      ${
        checkout.linkPath !== undefined &&
        html`<a class="button wide" href="${checkout.linkPath}?lang=${language}">${text.beginAgain}</a>`
      }
      ${back !== undefined && backPart(back, profile.name, face, language)}
      <section>
        <dl>
          ${
            what !== undefined &&
            html`<dt>${text.for}</dt>
              <dd>${what}</dd>`
          }
          <dt>${text.reference}</dt>
          <dd>${payment.reference}</dd>
          ${
            face === "paid" &&
            payment.paidAt !== undefined &&
            html`<dt>${text.faces.paid.split(".")[0]}</dt>
              <dd>${moment(payment.paidAt, language)}, ${text.method[payment.method]}</dd>`
          }
          ${
            payment.refundedMinor > 0n &&
            html`<dt>${text.faces.refunded}</dt>
              <dd>${payment.currency} ${amount(payment.refundedMinor)}</dd>
              ${refunds.map(
                ({ amountMinor, completedAt, createdAt }) =>
                  html`<dt><small>${moment(completedAt ?? createdAt, language)}</small></dt>
                    <dd><small>${amount(amountMinor)}</small></dd>`,
              )}`
          }
        </dl>
      </section>`,
    aside: payment.book.environment === "sandbox" && face === "open" ? decisionPart(path, language) : undefined,
  });
}

function backPart(back: string, merchant: string, face: Face, language: Language): Html {
  const text = words[language];
  const style = face === "open" ? "back" : "button main wide";
  return html`<a class="${style}" href="${back}" rel="noreferrer">${text.back(merchant)}</a>
    ${leadsBack.has(face) && html`<p class="muted screen" data-soon hidden>${text.backSoon} <button type="button" class="small">${text.stay}</button></p>`}`;
}

/** Buttons of the sandbox that stand in for the payer's phone, bank or card. */
function decisionPart(path: string, language: Language): Html {
  const text = words[language];
  return html`<aside aria-label="${text.own}">
    <h2>${text.own}</h2>
    <p class="muted">${text.ownLead}</p>
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
