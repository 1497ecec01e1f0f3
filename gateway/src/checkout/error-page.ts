// What a payer sees in place of an error: an address that leads to no payment, or a service that cannot answer just now. Pure.
import type { Fault } from "../ground/fault.ts";
import { html } from "../ground/html.ts";
import { type PageBasics, RELOAD_SECONDS, payerDocument, switcher } from "./frame.ts";
import { words } from "./words.ts";

/** The page for an error that payers meet; undefined for those that only programs cause. It tells nothing of the payment. */
export function errorPage({ code, status }: Fault, { path, language, serviceName }: PageBasics): string | undefined {
  const face = code === "ROUTE_NOT_FOUND" ? "lost" : status === 429 || status >= 500 ? "busy" : undefined;
  if (face === undefined) return undefined;
  const { title, lead } = words[language].errors[face];
  return payerDocument({
    language,
    title: `${title} · ${serviceName}`,
    head:
      face === "busy" && html`<meta http-equiv="refresh" content="${RELOAD_SECONDS}; url=${path}?lang=${language}" />`,
    body: html`<body data-face="${face}">
      <div class="around">
        <main>
          <header><span></span>${switcher(path, language)}</header>
          <h1>${title}</h1>
          <p class="muted">${lead}</p>
        </main>
      </div>
    </body>`,
  });
}
