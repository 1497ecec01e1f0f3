// A shop in one file, with Fastify: one product, a payment by QRIS, and the webhook that marks the order as paid.
import { randomUUID } from "node:crypto";
import { DatabaseSync } from "node:sqlite";
import Gerbang from "@gerbang/sdk";
import { handler } from "@gerbang/sdk/webhooks";
import fastify from "fastify";

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
const send = (reply, body, status = 200) => reply.code(status).type("text/html; charset=utf-8").send(page(body));

const app = fastify();
await app.register((webhooks) => {
  // The signature covers the bytes as they came. The same event may come twice: only an open order changes.
  webhooks.addContentTypeParser("application/json", { parseAs: "buffer" }, (_request, body, done) => done(null, body));
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
  webhooks.post(
    "/webhooks",
    handler({ secrets: GERBANG_WEBHOOK_SECRET, on, onError: (error) => console.error(error.message) }),
  );
});
app.addContentTypeParser("application/x-www-form-urlencoded", { parseAs: "string" }, (_request, body, done) =>
  done(null, Object.fromEntries(new URLSearchParams(body))),
);

app.get("/", (_request, reply) => send(reply, shopWindow()));

app.post("/orders", async (request, reply) => {
  const id = String(request.body?.order);
  if (!isName(id)) return send(reply, "<p>There is no such order.</p>", 404);
  insert.run(id); // first: the webhook may be faster than the answer
  const amount = { amount_minor: 7_500_000, currency: "IDR" };
  const payment = await gerbang.payments.createOrFind({ ...amount, payment_method: "qris", reference_id: id });
  show.run(payment.instructions?.value ?? "", payment.checkout_url ?? "", id);
  return reply.redirect(`/orders/${id}`, 303);
});

app.get("/orders/:id", (request, reply) => {
  const order = find.get(request.params.id);
  if (order === undefined) return send(reply, "<p>There is no such order.</p>", 404);
  if (order.status !== "open") return send(reply, ended(order.status));
  const ask =
    "setInterval(async () => (await (await fetch(location.pathname + '/open')).json()) || location.reload(), 1000)";
  const pay = `<p><a href="${safe(order.pay_at)}" target="_blank">Show the QR code</a></p><code>${safe(order.qr)}</code>`;
  return send(reply, `<p>Waiting for Rp75.000.</p>${pay}<script>${ask}</script>`);
});

app.get("/orders/:id/open", (request, reply) =>
  reply.type("application/json").send(String(find.get(request.params.id)?.status === "open")),
);

app.setErrorHandler((error, _request, reply) => {
  console.error(error.code, error.message, error.advice ?? "");
  return send(reply, "<p>Payment is not possible now. Please try again.</p>", 502);
});
await app.listen({ port: Number(PORT), host: "127.0.0.1" });
console.log(`http://localhost:${PORT}`);
