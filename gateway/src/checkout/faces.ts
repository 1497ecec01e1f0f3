// The part of a payer's page for a payment that cannot be paid, not yet or no longer: a mark and two sentences. Pure.
import { type Html, html } from "../ground/html.ts";
import type { Face } from "./checkout.ts";

/** Drawing inside the mark of each state. */
const strokes: Readonly<Record<Exclude<Face, "open">, Html>> = {
  paid: html`<path d="m17 33 10 10 20-21" />`,
  refunded: html`<path d="M20 27h18a8 8 0 0 1 0 16h-8m-10-16 7-7m-7 7 7 7" />`,
  review: html`<path d="M32 20v13l8 6" />`,
  preparing: html`<path d="M32 20v13l8 6" />`,
  processing: html`<path d="M32 20v13l8 6" />`,
  failed: html`<path d="m23 23 18 18m0-18L23 41" />`,
  expired: html`<path d="M32 20v13l8 6" />`,
  canceled: html`<path d="M21 32h22" />`,
  unavailable: html`<path d="M21 32h22" />`,
};

/** The mark and the sentences, in the place where an open payment shows its instructions. */
export function facePart(face: Exclude<Face, "open">, said: string, lead: string): Html {
  return html`<div class="face ${face}" role="status">
    <svg viewBox="0 0 64 64" aria-hidden="true">
      <circle cx="32" cy="32" r="28" />
      ${strokes[face]}
    </svg>
    <p class="said">${said}</p>
    <p class="muted">${lead}</p>
  </div>`;
}
