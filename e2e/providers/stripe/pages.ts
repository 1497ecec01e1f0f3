// The payer's pages at the fake of Stripe: one with a button to pay, and one that says that the payment is over.
import type { Session } from "./account.ts";

export function payPage({ productName, amount, currency, cancelUrl }: Session): string {
  return page(
    `<h1>${escaped(productName)}</h1><p>${escaped(currency.toUpperCase())} ${amount} in minor units</p>` +
      `<form method="post"><button>Pay by card</button></form><p><a href="${escaped(cancelUrl)}">Back</a></p>`,
  );
}

export function paidPage(sentence: string): string {
  return page(`<p>${escaped(sentence)}</p>`);
}

function page(body: string): string {
  return `<!doctype html><html lang="en"><meta charset="utf-8"><title>Made-up Stripe</title><body>${body}</body></html>`;
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
}
