// HTTP headers of payers' pages.
import type { onRequestHookHandler } from "fastify";

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
