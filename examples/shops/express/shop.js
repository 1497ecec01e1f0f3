// A shop in one file, with Express: one product, a payment by QRIS, and the webhook that marks the order as paid.
import { randomUUID } from "node:crypto";
import { DatabaseSync } from "node:sqlite";
import Gerbang from "@gerbang/sdk";
import { handler } from "@gerbang/sdk/webhooks";
import express from "express";

const { GERBANG_WEBHOOK_SECRET, PORT = "3000", DATABASE = "shop.sqlite" } = process.env;
if (!GERBANG_WEBHOOK_SECRET) throw new Error("Set GERBANG_WEBHOOK_SECRET: it begins with whsec_.");

const gerbang = new Gerbang(); // GERBANG_CLIENT_ID, GERBANG_SECRET, GERBANG_BASE_URL
const orders = new DatabaseSync(DATABASE, { timeout: 5_000 });
orders.exec(`create table if not exists orders (
  id text primary key, qr text not null default '', pay_at text not null default '', status text not null default 'open'
)`);
const find = orders.prepare("select qr, pay_at, status from orders where id = ?");
const insert = orders.prepare("insert or ignore into orders (id) values (?)");
const show = orders.prepare("update orders set qr = ?, pay_at = ? where id = ?");
const finish = orders.prepare("update orders set status = ? where id = ? and status = 'open'");

const safe = (text) => String(text).replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
const page = (body) => `<!doctype html><meta name="viewport" content="width=device-width"><title>Kopi</title>
<body style="font: 1rem/1.5 system-ui; max-width: 30rem; margin: 3rem auto; overflow-wrap: anywhere"><h1>Kopi</h1>${body}`;
// The button has the order's name in it: who presses it twice buys once.
const shopWindow = () => `<p>A coffee, Rp75.000</p>
<form method="post" action="/orders"><button name="order" value="order-${randomUUID()}">Buy it</button></form>`;
const ended = (status) =>
  status === "paid" ? "<p>Paid. Your coffee is on its way.</p>" : '<p>Not paid. <a href="/">Try again</a></p>';
const isName = (id) => /^order-[0-9a-f-]{36}$/.test(id);

const app = express();
// Before any parser: the signature covers the bytes as they came. The same event may come twice: only an open order changes.
const ends =
  (status) =>
  ({ data }) =>
    finish.run(status, data.reference_id);
const on = {
  "payment.succeeded": ends("paid"),
  "payment.failed": ends("not paid"),
  "payment.expired": ends("not paid"),
  "payment.canceled": ends("not paid"),
  other: () => undefined,
};
app.post(
  "/webhooks",
  handler({ secrets: GERBANG_WEBHOOK_SECRET, on, onError: (error) => console.error(error.message) }),
);

app.get("/", (_request, response) => {
  response.send(page(shopWindow()));
});

app.post("/orders", express.urlencoded({ extended: false }), async (request, response) => {
  const id = String(request.body?.order);
  if (!isName(id)) return response.status(404).send(page("<p>There is no such order.</p>"));
  insert.run(id); // first: the webhook may be faster than the answer
  const amount = { amount_minor: 7_500_000, currency: "IDR" };
  const payment = await gerbang.payments.createOrFind({ ...amount, payment_method: "qris", reference_id: id });
  show.run(payment.instructions?.value ?? "", payment.checkout_url ?? "", id);
  response.redirect(303, `/orders/${id}`);
});

app.get("/orders/:id", (request, response) => {
  const order = find.get(request.params.id);
  if (order === undefined) return response.status(404).send(page("<p>There is no such order.</p>"));
  if (order.status !== "open") return response.send(page(ended(order.status)));
  const ask =
    "setInterval(async () => (await (await fetch(location.pathname + '/open')).json()) || location.reload(), 1000)";
  const pay = `<p><a href="${safe(order.pay_at)}" target="_blank">Show the QR code</a></p><code>${safe(order.qr)}</code>`;
  response.send(page(`<p>Waiting for Rp75.000.</p>${pay}<script>${ask}</script>`));
});

app.get("/orders/:id/open", (request, response) => response.json(find.get(request.params.id)?.status === "open"));

app.use((error, _request, response, _next) => {
  console.error(error.code, error.message, error.advice ?? "");
  response.status(502).send(page("<p>Payment is not possible now. Please try again.</p>"));
});
app.listen(Number(PORT), "127.0.0.1", () => console.log(`http://localhost:${PORT}`));
