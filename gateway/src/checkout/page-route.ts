// What the routes of payers' pages share: headers, the address and language of a request, and the page in place of an error.
import type { FastifyContextConfig, FastifyRequest, onRequestHookHandler } from "fastify";
import { type Language, languageOf } from "../ground/languages.ts";
import { errorPage } from "./error-page.ts";

/** Only files of this service may run in the page, and no other site may embed it. */
export const PAGE_HEADERS = {
  "content-type": "text/html; charset=utf-8",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "content-security-policy":
    "default-src 'none'; img-src 'self'; style-src 'self'; script-src 'self'; connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
};

/** The address is the key to the page, so no answer may let a browser send it to a linked site as a referrer. */
export const onRequest: onRequestHookHandler = (_request, reply, done) => {
  reply.header("referrer-policy", "no-referrer");
  done();
};

export interface PageRequest {
  /** Last part of the path. The parameter is named `token` so that the log redacts it. */
  token: string;
  path: string;
  language: Language;
}

/** `root`: what stands before the token in the path. The language is the payer's choice, else the browser's. */
export function pageRequest(request: FastifyRequest, root: string): PageRequest {
  const { token } = request.params as { token: string };
  const { lang } = request.query as { lang?: unknown };
  const language = languageOf(typeof lang === "string" ? lang : undefined, request.headers["accept-language"]);
  return { token, path: `${root}${token}`, language };
}

/** Options of the routes that show a page. Browsers ask for HTML, and get it for errors too; programs get the JSON. */
export function pageOptions(
  root: string,
  serviceName: string,
): { onRequest: onRequestHookHandler; config: FastifyContextConfig } {
  return {
    onRequest,
    config: {
      errorPage(fault, request) {
        if (request.headers.accept?.includes("text/html") !== true) return undefined;
        const body = errorPage(fault, { ...pageRequest(request, root), serviceName });
        return body === undefined
          ? undefined
          : { headers: { ...PAGE_HEADERS, "referrer-policy": "no-referrer" }, body };
      },
    },
  };
}
