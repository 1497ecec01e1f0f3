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
  id text primary key, qr text not null default '', pay_at text not null default '', paid integer not null default 0
)`);
const find = orders.prepare("select qr, pay_at, paid from orders where id = ?");
const insert = orders.prepare("insert into orders (id) values (?)");
const show = orders.prepare("update orders set qr = ?, pay_at = ? where id = ?");
const markPaid = orders.prepare("update orders set paid = 1 where id = ?");

const safe = (text) => String(text).replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
const page = (body) => `<!doctype html><meta name="viewport" content="width=device-width"><title>Kopi</title>
<body style="font: 1rem/1.5 system-ui; max-width: 30rem; margin: 3rem auto; overflow-wrap: anywhere"><h1>Kopi</h1>${body}`;
const send = (reply, body, status = 200) => reply.code(status).type("text/html; charset=utf-8").send(page(body));

const app = fastify();
await app.register((webhooks) => {
  // The signature covers the bytes as they came. The same event may come twice: the second changes nothing.
  webhooks.addContentTypeParser("application/json", { parseAs: "buffer" }, (_request, body, done) => done(null, body));
  const on = { "payment.succeeded": ({ data }) => markPaid.run(data.reference_id), other: () => undefined };
  webhooks.post(
    "/webhooks",
    handler({ secrets: GERBANG_WEBHOOK_SECRET, on, onError: (error) => console.error(error.message) }),
  );
});
app.addContentTypeParser("application/x-www-form-urlencoded", { parseAs: "string" }, (_request, _body, done) =>
  done(null),
);

app.get("/", (_request, reply) =>
  send(reply, '<p>A coffee, Rp75.000</p><form method="post" action="/orders"><button>Buy it</button></form>'),
);

app.post("/orders", async (_request, reply) => {
  const id = `order-${randomUUID()}`;
  insert.run(id); // first: the webhook may be faster than the answer
  const amount = { amount_minor: 7_500_000, currency: "IDR" };
  const payment = await gerbang.payments.createOrFind({ ...amount, payment_method: "qris", reference_id: id });
  show.run(payment.instructions?.value ?? "", payment.checkout_url ?? "", id);
  return reply.redirect(`/orders/${id}`, 303);
});

app.get("/orders/:id", (request, reply) => {
  const order = find.get(request.params.id);
  if (order === undefined) return send(reply, "<p>There is no such order.</p>", 404);
  if (order.paid) return send(reply, "<p>Paid. Your coffee is on its way.</p>");
  const ask =
    "setInterval(async () => (await (await fetch(location.pathname + '/paid')).json()) && location.reload(), 1000)";
  const pay = `<p><a href="${safe(order.pay_at)}" target="_blank">Show the QR code</a></p><code>${safe(order.qr)}</code>`;
  return send(reply, `<p>Waiting for Rp75.000.</p>${pay}<script>${ask}</script>`);
});

app.get("/orders/:id/paid", (request, reply) =>
  reply.type("application/json").send(String(find.get(request.params.id)?.paid === 1)),
);

app.setErrorHandler((error, _request, reply) => {
  console.error(error.code, error.message, error.advice ?? "");
  return send(reply, "<p>Payment is not possible now. Please try again.</p>", 502);
});
await app.listen({ port: Number(PORT), host: "127.0.0.1" });
console.log(`http://localhost:${PORT}`);
