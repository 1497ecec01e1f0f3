// Highlights code as HTML with classes; the stylesheet has the colours.
import hljs from "highlight.js/lib/core";
import bash from "highlight.js/lib/languages/bash";
import css from "highlight.js/lib/languages/css";
import diff from "highlight.js/lib/languages/diff";
import go from "highlight.js/lib/languages/go";
import http from "highlight.js/lib/languages/http";
import ini from "highlight.js/lib/languages/ini";
import json from "highlight.js/lib/languages/json";
import nginx from "highlight.js/lib/languages/nginx";
import php from "highlight.js/lib/languages/php";
import python from "highlight.js/lib/languages/python";
import sql from "highlight.js/lib/languages/sql";
import typescript from "highlight.js/lib/languages/typescript";
import xml from "highlight.js/lib/languages/xml";
import yaml from "highlight.js/lib/languages/yaml";
import { CLIENT_ID, ROOT, ROOTS } from "./code/request.ts";
import { escaped } from "./html.ts";

const known = { bash, css, diff, go, http, ini, json, nginx, php, python, sql, typescript, xml, yaml };
for (const [name, language] of Object.entries(known)) hljs.registerLanguage(name, language);

/** Other names for languages in Markdown. */
const aliases: Readonly<Record<string, string>> = {
  sh: "bash",
  shell: "bash",
  curl: "bash",
  ts: "typescript",
  tsx: "typescript",
  js: "typescript",
  javascript: "typescript",
  py: "python",
  html: "xml",
  yml: "yaml",
  toml: "ini",
  blade: "xml",
};

export const languageOf = (info: string): string => aliases[info] ?? info;

/** The code as HTML. Marks the address and the client_id, which a reader's own values replace. */
export function highlighted(code: string, info: string): string {
  const language = languageOf(info);
  const html = language in known ? hljs.highlight(code, { language, ignoreIllegals: true }).value : escaped(code);
  return html
    .replaceAll(CLIENT_ID, `<span data-fill="client-id">${CLIENT_ID}</span>`)
    .replaceAll(ROOTS, `<span data-fill="root">${ROOT}</span>`);
}
