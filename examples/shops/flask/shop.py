"""A shop in one file, with Flask: one product, paid by QRIS on the gateway's page, and the webhook that marks its order as paid."""

import os
import sqlite3
import uuid

from flask import Flask, abort, redirect, render_template_string, request
from gerbang import Gerbang, GerbangError, WebhookError, webhooks

gerbang = Gerbang(timeout=8, deadline=15)  # GERBANG_CLIENT_ID, GERBANG_SECRET, GERBANG_BASE_URL; short times, because a payer waits
secret = os.environ["GERBANG_WEBHOOK_SECRET"]
port = os.environ.get("PORT", "3000")
shop_url = os.environ.get("SHOP_URL", f"http://localhost:{port}")  # where payers come back to
orders = sqlite3.connect(os.environ.get("DATABASE", "shop.sqlite"), timeout=5, isolation_level=None, check_same_thread=False)
orders.execute("create table if not exists orders (id text primary key, status text not null default 'open')")
# Said by the webhook, and by the service when somebody presses again, so perhaps twice: only an open order changes.
finish = """update orders set status = replace(:status, 'partially_refunded', 'succeeded') where id = :reference_id and status = 'open'
and :status in ('succeeded', 'partially_refunded', 'refunded', 'failed', 'expired', 'canceled')"""
page = """<!doctype html><meta name="viewport" content="width=device-width"><title>Kopi</title>
<body style="font: 1rem/1.5 system-ui; max-width: 30rem; margin: 3rem auto"><h1>Kopi</h1>{{ text }}
{% if status == "open" %}<p>Waiting for Rp75.000.</p><meta http-equiv="refresh" content="2">
{% elif status == "succeeded" %}<p>Paid. Your coffee is on its way.</p>
{% elif status %}<p>Not paid. <a href="/">Try again</a></p>{% endif %}
{% if button %}<form method="post" action="/orders/{{ order }}"><button>{{ button }}</button></form>{% endif %}"""
app = Flask(__name__)
app.register_error_handler(WebhookError, lambda error: (error.step, 401))


@app.get("/")
def show():  # the form has the order's name: who presses twice buys once, and who comes back pays for the same order
    return render_template_string(page, text="A coffee, Rp75.000", button="Buy it", order=f"order-{uuid.uuid4()}")


@app.route("/orders/order-<uuid:name>", methods=["GET", "POST"])
def pay(name):
    order = f"order-{name}"
    if request.method == "POST":
        orders.execute("insert or ignore into orders (id) values (?)", [order])  # first: the webhook may be faster than the answer
        coffee = {"amount_minor": 7_500_000, "currency": "IDR", "payment_method": "qris", "reference_id": order}
        try:
            payment = gerbang.payments.create_or_find(**coffee, return_url=shop_url + request.path)
        except GerbangError as error:
            app.logger.error("%s %s", error, error.advice)
            return render_template_string(page, text="Payment is not possible now. Please try again."), 502
        orders.execute(finish, payment)
        return redirect(payment.get("checkout_url", request.path), 303)  # one that is paid has no page to pay at
    (status,) = orders.execute("select status from orders where id = ?", [order]).fetchone() or abort(404, "There is no such order.")
    return render_template_string(page, status=status, order=order, button="Pay" if status == "open" else None)


@app.post("/webhooks")
def webhook():
    event = webhooks.unwrap(request.get_data(), request.headers, secret)
    if event["type"].startswith("payment."):
        orders.execute(finish, event["data"])
    return ""


if __name__ == "__main__":
    app.run("127.0.0.1", int(port))
