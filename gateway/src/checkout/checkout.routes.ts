// Routes of payers' pages at /pay/{token}: the page, its QR code as a file, its state and its stream. The token alone gives access.
import type { FastifyInstance, FastifyRequest, RouteHandlerMethod } from "fastify";
import { Fault } from "../ground/fault.ts";
import { sendReply } from "../http/server.ts";
import { openCheckoutAssets } from "./assets.ts";
import { type CheckoutParts, decide, findCheckout } from "./checkout.ts";
import type { OpenPages } from "./open-pages.ts";
import { payerPage } from "./page.ts";
import { PAGE_HEADERS, onRequest, pageOptions, pageRequest } from "./page-route.ts";
import { qrPng } from "./qr-picture.ts";

interface CheckoutRouteParts extends CheckoutParts {
  openPages: OpenPages;
}

const ROOT = "/pay/";
const tokenOf = (request: FastifyRequest): string => pageRequest(request, ROOT).token;

export function openCheckout(server: FastifyInstance, parts: CheckoutRouteParts): void {
  openCheckoutAssets(server);
  const { serviceName } = parts;
  const page = pageOptions(ROOT, serviceName);
  const show: RouteHandlerMethod = async (request, reply) => {
    const { token, path, language } = pageRequest(request, ROOT);
    const checkout = await findCheckout(parts, token);
    return reply.headers(PAGE_HEADERS).send(payerPage({ checkout, path, language, serviceName }));
  };
  // People and messengers add a slash to an address.
  for (const url of ["/pay/:token", "/pay/:token/"]) server.get(url, page, show);
  server.post("/pay/:token", page, async (request, reply) => {
    const { token, path, language } = pageRequest(request, ROOT);
    const { payment } = await findCheckout(parts, token);
    const form = new URLSearchParams(Buffer.isBuffer(request.body) ? request.body.toString("utf8") : "");
    const decision = form.get("decision");
    if (decision === "approve" || decision === "decline")
      await decide(parts, payment, decision === "approve" ? "succeeded" : "failed");
    // Redirects to the page by GET, so that a reload does not send the decision again.
    return reply.code(303).header("location", `${path}?lang=${language}`).send();
  });
  server.get("/pay/:token/qr.png", { onRequest }, async (request, reply) => {
    const { instructions } = await findCheckout(parts, tokenOf(request));
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
    const { face } = await findCheckout(parts, tokenOf(request));
    return sendReply(reply, { status: 200, body: JSON.stringify({ face }) });
  });
  // The stream is exempt from the server's limits for requests (`boundsItself`): `openPageLimits` bounds the open pages.
  server.get("/pay/:token/stream", { onRequest, config: { boundsItself: true } }, (request, reply) => {
    const named = parts.tokens.read(tokenOf(request));
    if (!named) throw new Fault("ROUTE_NOT_FOUND");
    const stream = parts.openPages.listen(named);
    return sendReply(reply, { status: 200, body: "", stream, contentType: "text/event-stream; charset=utf-8" });
  });
}
