// Blocks of code as HTML, with a copy button; examples have a tab for each language and, where people may send the request, a run button. Pure.
import type { Example } from "./code/request.ts";
import { highlighted } from "./highlight.ts";
import { escaped } from "./html.ts";
import type { Language } from "./page.ts";
import { pathForPages } from "./reference/contract.ts";
import { words } from "./words.ts";

/** An example in one language. */
export interface Panel {
  language: string;
  label: string;
  code: string;
  info: string;
}

const copyButton = (language: Language): string =>
  `<button type="button" class="copy">${words[language].copy}</button>`;

function pre(code: string, info: string): string {
  return `<pre><code>${highlighted(code.replace(/\n$/, ""), info)}</code></pre>`;
}

/** A block of code. Each request in it gets its own button to run it. */
export function codeBlock(language: Language, code: string, info: string, requests: readonly Example[] = []): string {
  const { run } = words[language];
  const buttons = requests.map((example) =>
    runButton(example, requests.length > 1 ? `${run} ${nameOf(example)}` : run),
  );
  const bar = buttons.some(Boolean) ? `<div class="bar runs">${buttons.join("")}</div>` : "";
  return `<div class="code">${copyButton(language)}${pre(code, info)}${bar}</div>`;
}

const nameOf = ({ operation }: Example): string => `${operation.method} ${operation.path}`;

/**
 * An example with tabs. Without scripts its languages stand below each other, each with its name. `id` is unique on the page. An example with
 * a request gets a run button, if people may send it.
 */
export function exampleBlock(language: Language, id: string, panels: readonly Panel[], example?: Example): string {
  const text = words[language];
  const tabs = panels.map(
    ({ language: name, label }, at) =>
      `<button type="button" role="tab" id="${id}-${name}" aria-controls="${id}-${name}-panel" aria-selected="${at === 0}" data-language="${name}">${label}</button>`,
  );
  const shown = panels.map(
    ({ language: name, label, code, info }) =>
      `<div role="tabpanel" id="${id}-${name}-panel" aria-labelledby="${id}-${name}" data-language="${name}"><p class="language">${label}</p>${pre(code, info)}</div>`,
  );
  const run = example ? runButton(example, text.run) : "";
  return `<div class="code example"><div class="bar"><div class="tabs" role="tablist" aria-label="${text.language}">${tabs.join("")}</div>${run}${copyButton(language)}</div>${shown.join("")}</div>`;
}

/** The button that runs a request; empty when people cannot send it. */
function runButton(example: Example, label: string): string {
  const run = runnable(example);
  if (!run) return "";
  return `<button type="button" class="run" data-run="${escaped(JSON.stringify(run))}">${escaped(label)}</button>`;
}

/** A request that a page can send with the session of the signed-in reader. */
export interface Runnable {
  method: string;
  /** The path with parameter names: `/portal/v1/payments/{reference}`. */
  path: string;
  values: Readonly<Record<string, string>>;
  query: Readonly<Record<string, string>>;
  body?: unknown;
}

/** Undefined for operations that need an API key, which pages do not have. The one operation without a key is sent as it is. */
function runnable({ operation, path: values, query, body }: Example): Runnable | undefined {
  const path = operation.isPublic ? operation.path : pathForPages(operation);
  if (path === undefined) return undefined;
  return { method: operation.method, path, values, query, ...(body === undefined ? {} : { body }) };
}
