// The part of a payer's page for a payment that cannot be paid, not yet or no longer: a mark and two sentences. Pure.
import { type Html, html } from "../ground/html.ts";
import type { Language } from "../ground/languages.ts";
import type { Face } from "./checkout.ts";
import { words } from "./words.ts";

/** Drawing inside the mark of each state. */
export const strokes: Readonly<Record<Exclude<Face, "open">, Html>> = {
  paid: html`<path d="m17 33 10 10 20-21" />`,
  refunded: html`<path d="M20 27h18a8 8 0 0 1 0 16h-8m-10-16 7-7m-7 7 7 7" />`,
  review: html`<path d="M32 20v13l8 6" />`,
  preparing: html`<path d="M32 20v13l8 6" />`,
  processing: html`<path d="M32 20v13l8 6" />`,
  failed: html`<path d="m23 23 18 18m0-18L23 41" />`,
  expired: html`<path d="M32 20v13l8 6" />`,
  canceled: html`<path d="M21 32h22" />`,
};

/** The mark: a stroke in a circle. */
export function markOf(stroke: Html): Html {
  return html`<svg
    viewBox="0 0 64 64"
    fill="none"
    stroke="currentColor"
    stroke-width="3.5"
    stroke-linecap="round"
    stroke-linejoin="round"
    aria-hidden="true"
  >
    <circle cx="32" cy="32" r="28" />
    ${stroke}
  </svg>`;
}

/** The mark and texts of a state, in the place where an open payment shows its instructions. */
export function faceOfEnd(face: Exclude<Face, "open">, language: Language): Html {
  const text = words[language];
  return html`<div class="face ${face}" role="status">
    ${markOf(strokes[face])}
    <p class="said">${text.faces[face]}</p>
    <p class="muted">${text.leads[face]}</p>
  </div>`;
}
