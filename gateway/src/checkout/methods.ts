// The instructions of a payer's page by their type: a QR code to scan, an account to transfer to, or a page to continue to. Pure.
import type { Instructions } from "../acquirers/acquirer.ts";
import { type Html, html } from "../ground/html.ts";
import type { Language } from "../ground/languages.ts";
import { readable } from "../ground/money.ts";
import type { Payment } from "../payments/payment.ts";
import { channels, stepsOf } from "./bank-steps.ts";
import { qrSvg } from "./qr-picture.ts";
import { words } from "./words.ts";

interface MethodParts {
  instructions: Instructions;
  payment: Payment;
  path: string;
  language: Language;
}

export function instructionsPart(parts: MethodParts): Html {
  const { instructions, payment, language } = parts;
  const title = html`<h2>${words[language].method[payment.method]}</h2>`;
  if (instructions.type === "qr_string") return html`<section>${title}${qrPart(parts, instructions.value)}</section>`;
  if (instructions.type === "redirect")
    return html`<section>${title}${redirectPart(parts, instructions.value)}</section>`;
  return html`<section>${title}${accountPart(parts, instructions)}</section>`;
}

function qrPart({ path, language }: MethodParts, text: string): Html {
  const { scan, scanOnPhone, save } = words[language];
  return html`<p class="muted">${scan}</p>
    <div class="qr">${qrSvg(text, "QRIS")}</div>
    <a class="button wide" href="${path}/qr.png" download="qris.png">${save}</a>
    <p class="muted">${scanOnPhone}</p>`;
}

/** Button to the acquirer's page. The sandbox's own acquirers name this very page: then a text says that there is none to continue to. */
function redirectPart({ payment, path, language }: MethodParts, url: string): Html {
  const method = payment.method === "card" ? "card" : "ewallet";
  if (new URL(url).pathname === path) return html`<p class="muted">${words[language].nowhere[method]}</p>`;
  return html`<a class="button main wide" href="${url}" rel="noreferrer">${words[language].continueTo[method]}</a>`;
}

function accountPart({ payment, language }: MethodParts, account: Instructions): Html {
  const text = words[language];
  const amount = readable(payment.amountMinor, payment.currency);
  return html`${account.biller_code !== undefined && copyable(text.billerCode, account.biller_code, language)}
    ${copyable(text.accountNumber[account.type === "va_number" ? "va" : "bank"], account.value, language)}
    ${
      account.type === "bank_account" &&
      html`${copyable(text.transferCode, account.transfer_code ?? "", language)}
        <p class="muted">${text.transferCodeHint}</p>`
    }
    ${copyable(text.amount, text.amountOf(amount), language, typed(amount))}
    <p class="muted">${text.exactly}</p>
    <dl>
      <dt>${text.bank}</dt>
      <dd>${account.bank_name}</dd>
      <dt>${text.accountName}</dt>
      <dd>${account.account_name}</dd>
    </dl>
    ${
      account.type === "va_number" &&
      html`<h2>${text.how}</h2>
        ${channels.map((channel) => stepsPart(account.bank_code ?? "", channel, language))}`
    }`;
}

/** An amount such as 1,500.00 as a payer types it: 1500. An app that drops the point would make 150000 of 1500.00. */
const typed = (readableAmount: string): string => readableAmount.replaceAll(",", "").replace(/\.0+$/, "");

/** A value that the payer types elsewhere, with a copy button, which is hidden until the script shows it. */
function copyable(label: string, value: string, language: Language, copied = value): Html {
  const text = words[language];
  return html`<div class="copy">
    <div><span>${label}</span><strong>${value}</strong></div>
    <button
      class="small"
      type="button"
      hidden
      data-copy="${copied}"
      data-copied="${text.copied}"
      aria-label="${text.copy}: ${label}"
    >
      ${text.copy}
    </button>
  </div>`;
}

function stepsPart(bankCode: string, channel: (typeof channels)[number], language: Language): Html {
  return html`<details>
    <summary>${words[language].channels[channel]}</summary>
    <ol>
      ${stepsOf(bankCode, channel, language).map((step) => html`<li>${step}</li>`)}
    </ol>
  </details>`;
}
