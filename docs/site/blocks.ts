// Blocks of code as HTML: one with a copy button, and an example with a tab for each language and, where it can be run, what to run. Pure.
import type { Example } from "./code/request.ts";
import { highlighted } from "./highlight.ts";
import { escaped } from "./html.ts";
import { pathForPages } from "./reference/contract.ts";

/** An example in one language. */
export interface Panel {
  language: string;
  label: string;
  code: string;
  info: string;
}

const copy = '<button type="button" class="copy">Copy</button>';

function pre(code: string, info: string): string {
  return `<pre><code>${highlighted(code.replace(/\n$/, ""), info)}</code></pre>`;
}

/** A block of code. The requests that it makes can be run below it, each by itself. */
export function codeBlock(code: string, info: string, requests: readonly Example[] = []): string {
  const buttons = requests.map((example) => runButton(example, requests.length > 1 ? `Run ${nameOf(example)}` : "Run"));
  const bar = buttons.some(Boolean) ? `<div class="bar runs">${buttons.join("")}</div>` : "";
  return `<div class="code">${copy}${pre(code, info)}${bar}</div>`;
}

const nameOf = ({ operation }: Example): string => `${operation.method} ${operation.path}`;

/**
 * An example: without scripts its languages stand below each other, each with its name. `id` is the page's own for it. With a request it can be
 * run, if people may send it.
 */
export function exampleBlock(id: string, panels: readonly Panel[], example?: Example): string {
  const tabs = panels.map(
    ({ language, label }, at) =>
      `<button type="button" role="tab" id="${id}-${language}" aria-controls="${id}-${language}-panel" aria-selected="${at === 0}" data-language="${language}">${label}</button>`,
  );
  const shown = panels.map(
    ({ language, label, code, info }) =>
      `<div role="tabpanel" id="${id}-${language}-panel" aria-labelledby="${id}-${language}" data-language="${language}"><p class="language">${label}</p>${pre(code, info)}</div>`,
  );
  const run = example ? runButton(example, "Run") : "";
  return `<div class="code example"><div class="bar"><div class="tabs" role="tablist" aria-label="Language">${tabs.join("")}</div>${run}${copy}</div>${shown.join("")}</div>`;
}

/** Nothing, where people do not send it. */
function runButton(example: Example, label: string): string {
  const run = runnable(example);
  if (!run) return "";
  return `<button type="button" class="run" data-run="${escaped(JSON.stringify(run))}">${escaped(label)}</button>`;
}

/** What a page needs to send a request through the session of whoever is signed in. */
export interface Runnable {
  method: string;
  /** With names in it: `/portal/v1/payments/{reference}`. */
  path: string;
  values: Readonly<Record<string, string>>;
  query: Readonly<Record<string, string>>;
  body?: unknown;
}

/** Undefined for what people do not send: pages have no key. The one call without a key is sent as it is. */
function runnable({ operation, path: values, query, body }: Example): Runnable | undefined {
  const path = operation.isPublic ? operation.path : pathForPages(operation);
  if (path === undefined) return undefined;
  return { method: operation.method, path, values, query, ...(body === undefined ? {} : { body }) };
}
