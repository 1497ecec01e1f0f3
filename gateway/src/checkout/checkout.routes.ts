// Routes of payers' pages at /pay/{token}: the page, its QR code as a file, its state and its stream. The token alone gives access.
import type { FastifyInstance, FastifyRequest } from "fastify";
import { Fault } from "../ground/fault.ts";
import { languageOf } from "../ground/languages.ts";
import { sendReply } from "../http/server.ts";
import { openCheckoutAssets } from "./assets.ts";
import { type CheckoutParts, decide, findCheckout } from "./checkout.ts";
import { lostPage, unlessLost } from "./lost-page.ts";
import type { OpenPages } from "./open-pages.ts";
import { payerPage } from "./page.ts";
import { PAGE_HEADERS, onRequest } from "./page-headers.ts";
import { qrPng } from "./qr-picture.ts";

export interface CheckoutRouteParts extends CheckoutParts {
  openPages: OpenPages;
}

interface PageRequest {
  token: string;
  /** Language that the payer chose. */
  lang: string | undefined;
}

function pageRequest(request: FastifyRequest): PageRequest {
  const { token } = request.params as { token: string };
  const { lang } = request.query as { lang?: unknown };
  return { token, lang: typeof lang === "string" ? lang : undefined };
}

export function openCheckout(server: FastifyInstance, parts: CheckoutRouteParts): void {
  openCheckoutAssets(server);
  server.get("/pay/:token", { onRequest }, async (request, reply) => {
    const { token, lang } = pageRequest(request);
    const path = `/pay/${token}`;
    const language = languageOf(lang, request.headers["accept-language"]);
    const { serviceName } = parts;
    const checkout = await findCheckout(parts, token).catch(unlessLost);
    reply.headers(PAGE_HEADERS);
    if (!checkout) return reply.code(404).send(lostPage(path, language, serviceName));
    return reply.send(payerPage({ checkout, path, language, serviceName }));
  });
  server.post("/pay/:token", { onRequest }, async (request, reply) => {
    const { token, lang } = pageRequest(request);
    const { payment } = await findCheckout(parts, token);
    const form = new URLSearchParams(Buffer.isBuffer(request.body) ? request.body.toString("utf8") : "");
    const decision = form.get("decision");
    if (decision === "approve" || decision === "decline")
      await decide(parts, payment, decision === "approve" ? "succeeded" : "failed");
    // Redirects to the page by GET, so that a reload does not send the decision again.
    const query = lang === undefined ? "" : `?${String(new URLSearchParams({ lang }))}`;
    return reply.code(303).header("location", `/pay/${token}${query}`).send();
  });
  server.get("/pay/:token/qr.png", { onRequest }, async (request, reply) => {
    const { instructions } = await findCheckout(parts, pageRequest(request).token);
    if (instructions?.type !== "qr_string") throw new Fault("ROUTE_NOT_FOUND");
    return reply
      .headers({
        "content-type": "image/png",
        "content-disposition": 'attachment; filename="qris.png"',
        "x-content-type-options": "nosniff",
      })
      .send(qrPng(instructions.value));
  });
  server.get("/pay/:token/state", { onRequest }, async (request, reply) => {
    const { face } = await findCheckout(parts, pageRequest(request).token);
    return sendReply(reply, { status: 200, body: JSON.stringify({ face }) });
  });
  // The stream is exempt from the server's limits for requests (`boundsItself`): `openPageLimits` bounds the open pages.
  server.get("/pay/:token/stream", { onRequest, config: { boundsItself: true } }, (request, reply) => {
    const named = parts.tokens.read(pageRequest(request).token);
    if (!named) throw new Fault("ROUTE_NOT_FOUND");
    const stream = parts.openPages.listen(named);
    return sendReply(reply, { status: 200, body: "", stream, contentType: "text/event-stream; charset=utf-8" });
  });
}
