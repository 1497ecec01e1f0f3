// A shop in one file, with Fastify: one product, paid by QRIS on the gateway's page, and the webhook that marks its order as paid.
import { randomUUID } from "node:crypto";
import { DatabaseSync } from "node:sqlite";
import Gerbang from "@gerbang/sdk";
import { handler } from "@gerbang/sdk/webhooks";
import fastify from "fastify";

const { GERBANG_WEBHOOK_SECRET: secrets, PORT = "3000", DATABASE = "shop.sqlite" } = process.env;
if (!secrets) throw new Error("Set GERBANG_WEBHOOK_SECRET: it begins with whsec_.");
const { SHOP_URL = `http://localhost:${PORT}` } = process.env; // where payers come back to

// GERBANG_CLIENT_ID, GERBANG_SECRET, GERBANG_BASE_URL; short times, because a payer waits
const gerbang = new Gerbang({ timeoutMs: 8_000, deadlineMs: 15_000 });
const coffee = { amount_minor: 7_500_000, currency: "IDR", payment_method: "qris" };
const orders = new DatabaseSync(DATABASE, { timeout: 5_000 });
orders.exec("create table if not exists orders (id text primary key, status text not null default 'open')");
const insert = orders.prepare("insert or ignore into orders (id) values (?)");
const find = orders.prepare("select status from orders where id = ?");
const finish = orders.prepare("update orders set status = ? where id = ? and status = 'open'");
const page = (body) => `<!doctype html><meta name="viewport" content="width=device-width"><title>Kopi</title>
<body style="font: 1rem/1.5 system-ui; max-width: 30rem; margin: 3rem auto"><h1>Kopi</h1>${body}`;
// The form has the order's name: who presses twice buys once, and who comes back pays for the same order.
const button = (id, text) => `<form method="post" action="/orders/${id}"><button>${text}</button></form>`;
const faces = (id) => ({
  open: `<p>Waiting for Rp75.000.</p>${button(id, "Pay")}<meta http-equiv="refresh" content="2">`,
  succeeded: "<p>Paid. Your coffee is on its way.</p>",
});
const notPaid = '<p>Not paid. <a href="/">Try again</a></p>';
const ends = ["succeeded", "partially_refunded", "refunded", "failed", "expired", "canceled"];
// Said by the webhook, and by the service when somebody presses again, so perhaps twice: only an open order changes.
const end = ({ status, reference_id: id }) =>
  ends.includes(status) && finish.run(status.replace("partially_refunded", "succeeded"), id);
const on = ({ type, data }) => type.startsWith("payment.") && end(data);
const app = fastify();
app.removeAllContentTypeParsers();
app.addContentTypeParser("*", { parseAs: "buffer" }, (_request, body, done) => done(null, body)); // the signature covers the bytes
const send = (reply, body, status = 200) => reply.code(status).type("text/html; charset=utf-8").send(page(body));
app.post("/webhooks", handler({ secrets, on, onError: ({ message }) => console.error(message) }));

app.get("/", (_request, reply) => send(reply, `<p>A coffee, Rp75.000</p>${button(`order-${randomUUID()}`, "Buy it")}`));

app.post("/orders/:id(^order-[0-9a-f-]{36}$)", async ({ params: { id } }, reply) => {
  insert.run(id); // first: the webhook may be faster than the answer
  const returnUrl = `${SHOP_URL}/orders/${id}`;
  const payment = await gerbang.payments.createOrFind({ ...coffee, reference_id: id, return_url: returnUrl });
  end(payment);
  return reply.redirect(payment.checkout_url ?? returnUrl, 303); // one that is paid has no page to pay at
});

app.get("/orders/:id", ({ params: { id } }, reply) => {
  const order = find.get(id);
  return order ? send(reply, faces(id)[order.status] ?? notPaid) : reply.callNotFound();
});

app.setNotFoundHandler((_request, reply) => send(reply, "<p>There is no such order.</p>", 404));
app.setErrorHandler((error, _request, reply) => {
  console.error(error.code, error.message, error.advice ?? "");
  return send(reply, "<p>Payment is not possible now. Please try again.</p>", 502);
});
console.log(await app.listen({ port: Number(PORT), host: "127.0.0.1" }));
