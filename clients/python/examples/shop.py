"""A shop in one file: an order page, a payment by QRIS, and the webhook that marks the order as paid. `python3 shop.py`, then open it.

Set GERBANG_CLIENT_ID, GERBANG_SECRET, GERBANG_BASE_URL and GERBANG_WEBHOOK_SECRET. SHOP_PORT is 3000 where it is not set.
"""

import html
import os
import sqlite3
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from gerbang import Gerbang, GerbangError, WebhookError, webhooks

gerbang = Gerbang(timeout=8, deadline=15)  # a payer is waiting
database = os.environ.get("SHOP_DATABASE", "shop.sqlite")
with sqlite3.connect(database) as tables:
    tables.execute("create table if not exists orders (id text primary key, reference text, paid integer not null default 0)")
    tables.execute("create table if not exists events (id text primary key)")


class Shop(BaseHTTPRequestHandler):
    def do_GET(self):
        with sqlite3.connect(database) as tables:
            orders = tables.execute("select id, paid from orders order by rowid desc limit 20").fetchall()
        rows = "".join(f"<li>{html.escape(id)}: {'paid' if paid else 'open'}</li>" for id, paid in orders)
        self.answer(200, f"<h1>Kopi</h1><form method=post action=/orders><button>Buy a coffee, Rp75.000</button></form><ul>{rows}</ul>")

    def do_POST(self):
        body = self.rfile.read(min(max(int(self.headers.get("content-length", 0)), 0), 1_000_000))
        if self.path == "/orders":
            self.order()
        elif self.path == "/webhooks":
            self.webhook(body)
        else:
            self.answer(404, "not here")

    def order(self):
        order = f"order-{uuid.uuid4().hex[:12]}"
        with sqlite3.connect(database) as tables:
            tables.execute("insert into orders (id) values (?)", [order])
        try:
            payment = gerbang.payments.create_or_find(amount_minor=7_500_000, currency="IDR", payment_method="qris", reference_id=order)
        except GerbangError as error:
            print(error, error.advice)
            return self.answer(502, "Payment is not possible now. Please try again.")
        self.answer(303, "", location=payment.get("checkout_url", "/"))

    def webhook(self, body):
        try:
            event = webhooks.unwrap(body, self.headers, os.environ["GERBANG_WEBHOOK_SECRET"])
        except WebhookError as error:
            return self.answer(401, error.step)
        with sqlite3.connect(database) as tables:  # one transaction: the event is known, and its order is paid
            new = tables.execute("insert or ignore into events values (?)", [event["id"]]).rowcount == 1
            if new and event["type"] == "payment.succeeded":
                data = event["data"]
                tables.execute("update orders set paid = 1, reference = ? where id = ?", [data["reference"], data["reference_id"]])
        self.answer(200, "")

    def answer(self, status, page, **headers):
        self.send_response(status)
        for name, value in {"content-type": "text/html; charset=utf-8", **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(page.encode())


if __name__ == "__main__":
    ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("SHOP_PORT", "3000"))), Shop).serve_forever()
