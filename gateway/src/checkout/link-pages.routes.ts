// Routes of payment links' pages at /pay/l/{token}: the page, and the form that begins a payment. The address alone gives access.
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { UnauthenticatedCallers } from "../auth/rate.ts";
import { Fault } from "../ground/fault.ts";
import { type LinkCheckout, type LinkCheckoutParts, beginPayment, findLink } from "./links.ts";
import { type Problems, type SentForm, judgeForm, newOnce, sentForm } from "./link-form.ts";
import { linkPage } from "./link-page.ts";
import { PAGE_HEADERS, type PageRequest, pageOptions, pageRequest } from "./page-route.ts";

/** Payments begun from one IP address in a minute, in each process: enough for an office behind one address, too few for a program. */
const BEGUN_PER_ADDRESS = 30;
/**
 * Cookie that names the form which this browser was shown last, so that the page leads back to the payment that the form began, even where the answer
 * to the form never arrived. No session depends on it.
 */
const COOKIE = "once";
const COOKIE_SECONDS = 86_400;

const ROOT = "/pay/l/";

interface LinkRequest extends PageRequest {
  once: string | undefined;
}

function linkRequest(request: FastifyRequest): LinkRequest {
  const [, once] = new RegExp(`(?:^|;\\s*)${COOKIE}=([0-9a-z]{26})(?:;|$)`).exec(request.headers.cookie ?? "") ?? [];
  return { ...pageRequest(request, ROOT), once };
}

export function openLinkPages(server: FastifyInstance, parts: LinkCheckoutParts): void {
  const begun = new UnauthenticatedCallers(BEGUN_PER_ADDRESS, parts.clock);
  const { serviceName } = parts;
  const page = pageOptions(ROOT, serviceName);
  const remember = (reply: FastifyReply, once: string, path: string): FastifyReply =>
    reply.header("set-cookie", cookie(once, path, parts.isSecure()));
  const show = (
    reply: FastifyReply,
    checkout: LinkCheckout,
    { path, language }: LinkRequest,
    sent?: { form: SentForm; problems: Problems },
  ): FastifyReply => {
    const once = newOnce();
    if (checkout.face === "form" && !checkout.link.reusable) remember(reply, once, path);
    return reply.headers(PAGE_HEADERS).send(linkPage({ checkout, path, language, serviceName, once, sent }));
  };

  for (const url of ["/pay/l/:token", "/pay/l/:token/"])
    server.get(url, page, async (request, reply) => {
      const from = linkRequest(request);
      return show(reply, await findLink(parts, from.token, from.once), from);
    });

  server.post("/pay/l/:token", page, async (request, reply) => {
    const from = linkRequest(request);
    const checkout = await findLink(parts, from.token, from.once);
    const { link, merchant, methods } = checkout;
    const form = sentForm(Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0));
    const again = (status: number, problems: Problems): FastifyReply =>
      show(reply.code(status), checkout, from, { form, problems });
    // Redirects by GET to a page that shows the state. Below, a form that is sent twice still leads to the payment that it began.
    const back = (path: string): FastifyReply =>
      reply.code(303).header("location", `${path}?lang=${from.language}`).send();
    if (checkout.face === "unavailable") return back(from.path);
    const judged = judgeForm(form, { link, settings: merchant.settings, methods, language: from.language });
    if ("problems" in judged) return checkout.face === "form" ? again(422, judged.problems) : back(from.path);
    if (!begun.count(request.ip)) return again(429, { form: "often" });
    try {
      const reference = await beginPayment(parts, checkout, judged.body);
      // Another tab may have been shown another form since.
      if (!link.reusable) remember(reply, form.once, from.path);
      return back(`/pay/${parts.tokens.make(link.book, reference)}`);
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      if (error.code === "PAYMENT_NOT_PAYABLE") return back(from.path);
      const shown = shownAgain(error);
      if (!shown) throw error;
      return again(...shown);
    }
  });
}

/** Status and problems for showing the form again after a refused creation; undefined when the payer cannot correct or retry it. */
function shownAgain({ code }: Fault): [status: number, problems: Problems] | undefined {
  if (code === "INVALID_AMOUNT") return [422, { method: "methodAmount" }];
  if (code === "RATE_LIMITED") return [429, { form: "often" }];
  return code === "NO_ROUTE_AVAILABLE" ? [503, { form: "unavailable" }] : undefined;
}

function cookie(once: string, path: string, isSecure: boolean): string {
  return `${COOKIE}=${once}; Path=${path}; Max-Age=${COOKIE_SECONDS}; HttpOnly; SameSite=Lax${isSecure ? "; Secure" : ""}`;
}
