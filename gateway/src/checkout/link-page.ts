// The page of a payment link as HTML: merchant, amount and methods, or the reason why it cannot be paid. The page works without scripts. Pure.
import { type Html, html } from "../ground/html.ts";
import { type Minor, exponentOf, readable } from "../ground/money.ts";
import type { PaymentMethod } from "../merchants/settings.ts";
import type { Face } from "./checkout.ts";
import { type PageBasics, RELOAD_SECONDS, framed } from "./frame.ts";
import { facePart } from "./faces.ts";
import { type Problems, type SentForm, amountPattern } from "./link-form.ts";
import { linkWords } from "./link-words.ts";
import type { LinkCheckout, LinkFace } from "./links.ts";
import { words } from "./words.ts";

interface LinkPageParts extends PageBasics {
  checkout: LinkCheckout;
  /** Value of the form's `once` field, new for every page. */
  once: string;
  /** The form that the payer sent, with problems to correct. */
  sent?: { form: SentForm; problems: Problems } | undefined;
}

export function linkPage(parts: LinkPageParts): string {
  const { checkout, path, language, serviceName } = parts;
  const { link, profile, face } = checkout;
  const waits = face === "in_use" || face === "processing";
  return framed({
    book: link.book,
    profile,
    path,
    language,
    serviceName,
    face,
    attributes: waits ? html` data-again="${RELOAD_SECONDS}"` : undefined,
    reloads: waits,
    content: html`${
      link.amountMinor !== undefined &&
      html`<p class="amount"><small>${link.currency}</small>${written(link.amountMinor, parts)}</p>`
    }
    ${link.description !== undefined && link.description !== "" && html`<p class="what">${link.description}</p>`}
    ${face === "form" ? formPart(parts) : linkFacePart(face, parts)}`,
  });
}

function written(amount: Minor, { checkout, language }: LinkPageParts): string {
  return words[language].amountOf(readable(amount, checkout.link.currency));
}

/** The payment's state whose mark a link has. */
const marks: Readonly<Record<Exclude<LinkFace, "form">, Exclude<Face, "open">>> = {
  paid: "paid",
  in_use: "processing",
  yours: "processing",
  processing: "processing",
  expired: "expired",
  deactivated: "canceled",
  unavailable: "unavailable",
};

function linkFacePart(face: Exclude<LinkFace, "form">, { checkout, language }: LinkPageParts): Html {
  const text = linkWords[language];
  return html`${facePart(marks[face], text.faces[face], text.leads[face])}
  ${
    checkout.resumePath !== undefined &&
    html`<a class="button main wide" href="${checkout.resumePath}?lang=${language}">
      ${face === "yours" ? text.resume : text.see}
    </a>`
  }`;
}

function formPart(parts: LinkPageParts): Html {
  const { checkout, path, language, once, sent } = parts;
  const { link, methods } = checkout;
  const text = linkWords[language];
  const problem = sent?.problems.form;
  return html`${problem !== undefined && html`<p class="problem" role="alert">${text.problems[problem]}</p>`}
    <form class="asked" method="post" action="${path}?lang=${language}">
      <input type="hidden" name="once" value="${once}" />
      ${link.amountMinor === undefined && amountPart(parts)} ${methodPart(methods, parts)}
      ${link.customerRequired && customerPart(parts)}
      <button class="main wide">${text.go}</button>
      <p class="muted">${text.next}</p>
    </form>`;
}

function amountPart(parts: LinkPageParts): Html {
  const { checkout, language, sent } = parts;
  const { link } = checkout;
  const text = linkWords[language];
  const { minimumMinor: least, maximumMinor: most } = link;
  const bounds =
    least !== undefined && most !== undefined
      ? text.between(written(least, parts), written(most, parts))
      : least !== undefined
        ? text.atLeast(written(least, parts))
        : most !== undefined && text.atMost(written(most, parts));
  const problem = sent?.problems.amount;
  // Stays in one line; the script puts the digits in place of the sign.
  const figure = `${link.currency}\u00A0#`;
  return html`<div class="field">
    <label for="amount">${text.howMuch}</label>
    <div class="money">
      <span aria-hidden="true">${link.currency}</span>
      <input
        id="amount"
        name="amount"
        inputmode="decimal"
        autocomplete="off"
        maxlength="24"
        required
        value="${sent?.form.amount ?? ""}"
        aria-describedby="amount-read amount-hint"
        ${problem !== undefined && html`aria-invalid="true"`}
      />
    </div>
    <p
      class="hint"
      id="amount-read"
      aria-live="polite"
      data-reads="${amountPattern(link.currency, language)}"
      data-exponent="${exponentOf(link.currency)}"
      data-text="${text.youPay(figure)}"
      data-text-elsewhere="${text.youPayRather(figure, figure)}"
    ></p>
    <p class="hint" id="amount-hint">
      ${problem !== undefined && html`<b class="problem">${text.problems[problem]}</b>`} ${bounds}
    </p>
  </div>`;
}

function methodPart(methods: readonly PaymentMethod[], { language, sent }: LinkPageParts): Html {
  const text = linkWords[language];
  const names = words[language].method;
  const problem = sent?.problems.method;
  const [only] = methods;
  if (methods.length === 1 && only)
    return html`<input type="hidden" name="method" value="${only}" />${
        problem !== undefined && html`<p class="problem" role="alert">${text.problems[problem]}</p>`
      }`;
  return html`<fieldset>
    <legend>${text.methodQuestion}</legend>
    ${methods.map(
      (method) =>
        html`<label class="choice">
          <input
            type="radio"
            name="method"
            value="${method}"
            required
            ${sent?.form.method === method && html`checked`}
            ${problem !== undefined && html`aria-describedby="method-hint"`}
          />
          <span>${names[method]}</span>
        </label>`,
    )}
    ${problem !== undefined && html`<p class="hint problem" id="method-hint">${text.problems[problem]}</p>`}
  </fieldset>`;
}

function customerPart({ language, sent }: LinkPageParts): Html {
  const text = linkWords[language];
  return html`<fieldset>
    <legend>${text.who}</legend>
    ${textField("name", text.name, { type: "text", most: 120 })}
    ${textField("email", text.email, { type: "email", most: 254 })}
    <p class="hint">${text.emailWhy}</p>
  </fieldset>`;

  function textField(field: "name" | "email", label: string, { type, most }: { type: string; most: number }): Html {
    const problem = sent?.problems[field];
    return html`<div class="field">
      <label for="${field}">${label}</label>
      <input
        id="${field}"
        name="${field}"
        type="${type}"
        autocomplete="${field}"
        maxlength="${most}"
        required
        value="${sent?.form[field] ?? ""}"
        ${problem !== undefined && html`aria-invalid="true" aria-describedby="${field}-hint"`}
      />
      ${problem !== undefined && html`<p class="hint problem" id="${field}-hint">${text.problems[problem]}</p>`}
    </div>`;
  }
}
