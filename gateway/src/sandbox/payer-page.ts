// The payer's page of the sandbox: what is owed, to whom, how long still, approve or decline. Plain HTML, no script.
import { bookCommand } from "../commands/command-context.ts";
import { createHmac } from "node:crypto";
import type { FastifyInstance, FastifyReply, onRequestHookHandler } from "fastify";
import { type Clock, SECOND, wireTime } from "../ground/clock.ts";
import { sameText } from "../ground/crypto.ts";
import { Fault } from "../ground/fault.ts";
import { encode, isId } from "../ground/ids.ts";
import { readable } from "../ground/money.ts";
import { selectBookOffset } from "../merchants/books.sql.ts";
import type { Book } from "../merchants/books.ts";
import type { Directory } from "../merchants/directory.ts";
import type { Profile } from "../merchants/profiles.sql.ts";
import { type Profiles, logoPath } from "../merchants/profiles.ts";
import type { Payment } from "../payments/payment.ts";
import { paymentOfRow, selectPayment } from "../payments/payments.sql.ts";
import { type PaymentParts, outcomeNeeds, takeOutcome } from "../payments/payments.ts";
import type { Database } from "../store/database.ts";
import type { Lanes } from "../store/lanes.ts";

/** Names of payer pages: the payment and a mark that only this installation can make, so no page can be guessed. */
export class PayerTokens {
  private readonly keys: readonly [Buffer, ...Buffer[]];

  /** The first key makes names; a name that one of the others made is good, too, while the master key is being replaced. */
  constructor(keys: readonly [Buffer, ...Buffer[]]) {
    this.keys = keys;
  }

  make(book: Book, reference: string): string {
    return book.merchantId.slice(4) + reference.slice(4) + mark(this.keys[0], book.merchantId, reference);
  }

  /** The payment a token names, or undefined when the token is not ours. */
  read(token: string): { merchantId: string; reference: string } | undefined {
    const merchantId = `mer_${token.slice(0, 26)}`;
    const reference = `pay_${token.slice(26, 52)}`;
    if (!isId("merchant", merchantId) || !isId("payment", reference)) return undefined;
    const isOurs = this.keys.some((key) => sameText(token.slice(52), mark(key, merchantId, reference)));
    return isOurs ? { merchantId, reference } : undefined;
  }
}

function mark(key: Buffer, merchantId: string, reference: string): string {
  const mac = createHmac("sha256", key).update(`${merchantId}/${reference}`).digest();
  return encode(mac.subarray(0, 16));
}

export interface PayerPageParts extends PaymentParts {
  tokens: PayerTokens;
  database: Database;
  directory: Directory;
  profiles: Profiles;
  lanes: Lanes;
  clock: Clock;
  serviceName: string;
}

interface Found {
  payment: Payment;
  profile: Profile;
  secondsLeft: number;
}

export function openPayerPages(server: FastifyInstance, parts: PayerPageParts): void {
  // The address is the key to the page: no site that is linked or redirected to from here is told it, by no answer.
  const onRequest: onRequestHookHandler = (_request, reply, done) => {
    reply.header("referrer-policy", "no-referrer");
    done();
  };
  server.get("/pay/:token", { onRequest }, async (request, reply) => {
    const found = await find(parts, (request.params as { token: string }).token);
    return sendPage(reply, 200, page(parts.serviceName, found));
  });
  server.post("/pay/:token", { onRequest }, async (request, reply) => {
    const { token } = request.params as { token: string };
    const { payment } = await find(parts, token);
    const form = new URLSearchParams(Buffer.isBuffer(request.body) ? request.body.toString("utf8") : "");
    const decision = form.get("decision");
    if (decision === "approve" || decision === "decline") {
      await decide(parts, payment, decision === "approve" ? "succeeded" : "failed");
    }
    // Back to the page by GET, so that reloading it pays nothing twice.
    return reply.code(303).header("location", `/pay/${token}`).send();
  });
}

async function find(parts: PayerPageParts, token: string): Promise<Found> {
  const named = parts.tokens.read(token);
  const [row] = named ? await parts.database.query(selectPayment(named.merchantId, named.reference)) : [];
  const payment = row && paymentOfRow(row);
  if (!payment || payment.book.environment !== "sandbox") throw new Fault("ROUTE_NOT_FOUND");
  const profile = await parts.profiles.of(payment.book.merchantId);
  const [clock] = await parts.database.query<{ clock_offset_seconds: bigint }>(selectBookOffset(payment.book));
  const now = parts.clock.now() + Number(clock?.clock_offset_seconds ?? 0n) * SECOND;
  return {
    payment,
    profile,
    secondsLeft: Math.max(0, Math.ceil((payment.expiresAt - now) / SECOND)),
  };
}

/** Takes the payer's decision. Meeting a payment that is over already is no error: the page then says so. */
async function decide(parts: PayerPageParts, payment: Payment, outcome: "succeeded" | "failed"): Promise<void> {
  const { book, reference } = payment;
  const merchant = await parts.directory.merchant(book.merchantId);
  if (!merchant) return;
  try {
    const command = bookCommand(
      { merchant, book },
      {
        name: "payer's decision",
        needs: outcomeNeeds(book, reference),
        execute: (context) => takeOutcome(context, reference, outcome),
      },
    );
    await parts.lanes.move(book.merchantId, command);
  } catch (error) {
    const over = error instanceof Fault && (error.code === "PAYMENT_EXPIRED" || error.code === "PAYMENT_NOT_PAYABLE");
    if (!over) throw error;
  }
}

function sendPage(reply: FastifyReply, status: number, html: string): FastifyReply {
  return reply
    .code(status)
    .headers({
      "content-type": "text/html; charset=utf-8",
      "x-content-type-options": "nosniff",
      "content-security-policy":
        "default-src 'none'; img-src 'self'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
    })
    .send(html);
}

const escape = (text: string): string => text.replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);

const outcomes: Record<Payment["status"], string> = {
  pending: "Waiting for you",
  processing: "Being processed",
  succeeded: "Paid. Thank you.",
  partially_refunded: "Paid, and partly refunded.",
  refunded: "Refunded.",
  failed: "Declined.",
  expired: "This payment has expired.",
  canceled: "The merchant canceled this payment.",
};

function back(returnUrl: string | undefined, merchantName: string): string {
  if (returnUrl === undefined) return "";
  return `
  <p class="back"><a href="${escape(returnUrl)}">Back to ${escape(merchantName)}</a></p>`;
}

/** The logo in the merchant's name: who cannot see it hears the name from the heading below. */
function logoOf({ book }: Payment, { logo }: Profile): string {
  if (!logo) return "";
  const { width, height } = logo;
  return `<img class="logo" src="${logoPath(book.merchantId, logo)}" width="${width}" height="${height}" alt="">
  `;
}

/** Black or white, whichever is read better on a colour: by the luminance of WCAG, at which both have the same contrast. */
export function inkOn(colour: string): "#000" | "#fff" {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5]
    .map((at) => Number.parseInt(colour.slice(at, at + 2), 16) / 255)
    .map((part) => (part <= 0.040_45 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.179 ? "#000" : "#fff";
}

const DEFAULT_COLOUR = "#15803d";

function page(serviceName: string, { payment, profile, secondsLeft }: Found): string {
  const { name: merchantName, colour = DEFAULT_COLOUR } = profile;
  const open = payment.status === "pending" && secondsLeft > 0;
  const status = payment.status === "pending" && !open ? outcomes.expired : outcomes[payment.status];
  const minutes = `${Math.floor(secondsLeft / 60)}:${String(secondsLeft % 60).padStart(2, "0")}`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Pay ${escape(merchantName)} · ${escape(serviceName)} sandbox</title>
<style>
  :root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif }
  body { margin: 0; min-height: 100vh; display: grid; place-items: center; background: #8881 }
  main { width: min(26rem, 92vw); padding: 2rem; border: 1px solid #8884; border-radius: 1rem; background: Canvas }
  .note { font-size: .8rem; letter-spacing: .06em; text-transform: uppercase; color: #b45309 }
  .amount { font-size: 2.2rem; font-weight: 700; margin: .2rem 0 }
  dl { display: grid; grid-template-columns: auto 1fr; gap: .3rem 1rem; margin: 1.2rem 0 }
  dt { color: GrayText } dd { margin: 0; text-align: right; overflow-wrap: anywhere }
  form { display: grid; grid-template-columns: 1fr 1fr; gap: .8rem }
  button { font: inherit; padding: .8rem; border-radius: .6rem; border: 1px solid #8886; cursor: pointer }
  .approve { background: ${colour}; color: ${inkOn(colour)}; border-color: ${colour} }
  .logo { display: block; max-width: 10rem; max-height: 4rem; width: auto; height: auto }
  .back { text-align: center; margin: .4rem 0 0 }
  .state { font-weight: 600; text-align: center; padding: .6rem }
</style>
</head>
<body>
<main>
  <p class="note">Sandbox · no real money</p>
  ${logoOf(payment, profile)}<h1>Pay ${escape(merchantName)}</h1>
  <p class="amount">${escape(payment.currency)} ${readable(payment.amountMinor, payment.currency)}</p>
  <dl>
    <dt>For</dt><dd>${escape(payment.description ?? payment.referenceId)}</dd>
    <dt>With</dt><dd>${escape(payment.method === "card" ? "Card" : payment.method === "ewallet" ? "E-wallet" : payment.method)}</dd>
    <dt>Reference</dt><dd>${payment.reference}</dd>
    <dt>${open ? "Time left" : "Valid until"}</dt><dd>${open ? minutes : wireTime(payment.expiresAt)}</dd>
  </dl>
  ${
    open
      ? `<form method="post">
    <button class="approve" name="decision" value="approve">Approve</button>
    <button name="decision" value="decline">Decline</button>
  </form>`
      : `<p class="state" role="status">${escape(status)}</p>${back(payment.returnUrl, merchantName)}`
  }
</main>
</body>
</html>
`;
}
