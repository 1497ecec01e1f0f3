// A shop in one file, with Hono: one product, a payment by QRIS, and the webhook that marks the order as paid.
import { randomUUID } from "node:crypto";
import { DatabaseSync } from "node:sqlite";
import Gerbang from "@gerbang/sdk";
import { handler } from "@gerbang/sdk/webhooks";
import { serve } from "@hono/node-server";
import { Hono } from "hono";

const { GERBANG_WEBHOOK_SECRET, PORT = "3000", DATABASE = "shop.sqlite" } = process.env;
if (!GERBANG_WEBHOOK_SECRET) throw new Error("Set GERBANG_WEBHOOK_SECRET: it begins with whsec_.");

const gerbang = new Gerbang(); // GERBANG_CLIENT_ID, GERBANG_SECRET, GERBANG_BASE_URL
const orders = new DatabaseSync(DATABASE, { timeout: 5_000 });
orders.exec(`create table if not exists orders (
  id text primary key, qr text not null default '', pay_at text not null default '', paid integer not null default 0
)`);
const find = orders.prepare("select qr, pay_at, paid from orders where id = ?");
const insert = orders.prepare("insert into orders (id) values (?)");
const show = orders.prepare("update orders set qr = ?, pay_at = ? where id = ?");
const markPaid = orders.prepare("update orders set paid = 1 where id = ?");

const safe = (text) => String(text).replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
const page = (body) => `<!doctype html><meta name="viewport" content="width=device-width"><title>Kopi</title>
<body style="font: 1rem/1.5 system-ui; max-width: 30rem; margin: 3rem auto; overflow-wrap: anywhere"><h1>Kopi</h1>${body}`;

const app = new Hono();
// The signature covers the bytes as they came. The same event may come twice: the second changes nothing.
const on = { "payment.succeeded": ({ data }) => markPaid.run(data.reference_id), other: () => undefined };
app.post(
  "/webhooks",
  handler({ secrets: GERBANG_WEBHOOK_SECRET, on, onError: (error) => console.error(error.message) }),
);

app.get("/", (c) =>
  c.html(page('<p>A coffee, Rp75.000</p><form method="post" action="/orders"><button>Buy it</button></form>')),
);

app.post("/orders", async (c) => {
  const id = `order-${randomUUID()}`;
  insert.run(id); // first: the webhook may be faster than the answer
  const amount = { amount_minor: 7_500_000, currency: "IDR" };
  const payment = await gerbang.payments.createOrFind({ ...amount, payment_method: "qris", reference_id: id });
  show.run(payment.instructions?.value ?? "", payment.checkout_url ?? "", id);
  return c.redirect(`/orders/${id}`, 303);
});

app.get("/orders/:id", (c) => {
  const order = find.get(c.req.param("id"));
  if (order === undefined) return c.html(page("<p>There is no such order.</p>"), 404);
  if (order.paid) return c.html(page("<p>Paid. Your coffee is on its way.</p>"));
  const ask =
    "setInterval(async () => (await (await fetch(location.pathname + '/paid')).json()) && location.reload(), 1000)";
  const pay = `<p><a href="${safe(order.pay_at)}" target="_blank">Show the QR code</a></p><code>${safe(order.qr)}</code>`;
  return c.html(page(`<p>Waiting for Rp75.000.</p>${pay}<script>${ask}</script>`));
});

app.get("/orders/:id/paid", (c) => c.json(find.get(c.req.param("id"))?.paid === 1));

app.onError((error, c) => {
  console.error(error.code, error.message, error.advice ?? "");
  return c.html(page("<p>Payment is not possible now. Please try again.</p>"), 502);
});
serve({ fetch: app.fetch, port: Number(PORT), hostname: "127.0.0.1" }, () => console.log(`http://localhost:${PORT}`));
