"""A shop in one file, with Flask: one product, a payment by QRIS, and the webhook that marks the order as paid."""

import os
import re
import sqlite3
import uuid
from contextlib import closing

from flask import Flask, abort, jsonify, redirect, request
from markupsafe import escape

from gerbang import Gerbang, GerbangError, WebhookError, webhooks

gerbang = Gerbang()  # GERBANG_CLIENT_ID, GERBANG_SECRET, GERBANG_BASE_URL
secret = os.environ["GERBANG_WEBHOOK_SECRET"]
ASK = "setInterval(async () => (await (await fetch(location.pathname + '/open')).json()) || location.reload(), 1000)"
ENDS = {"payment.succeeded": "paid", "payment.failed": "not paid", "payment.expired": "not paid", "payment.canceled": "not paid"}
app = Flask(__name__)


def orders(sql, *values):
    with closing(sqlite3.connect(os.environ.get("DATABASE", "shop.sqlite"), timeout=5)) as database, database:
        return database.execute(sql, values).fetchone()


columns = "id text primary key, qr text not null default '', pay_at text not null default '', status text not null default 'open'"
orders(f"create table if not exists orders ({columns})")


def page(body, status=200):
    style = "font: 1rem/1.5 system-ui; max-width: 30rem; margin: 3rem auto; overflow-wrap: anywhere"
    head = f'<!doctype html><meta name="viewport" content="width=device-width"><title>Kopi</title><body style="{style}">'
    return f"{head}<h1>Kopi</h1>{body}", status


@app.get("/")
def show():
    button = f'<button name="order" value="order-{uuid.uuid4()}">Buy it</button>'  # who presses it twice buys once
    return page(f'<p>A coffee, Rp75.000</p><form method="post" action="/orders">{button}</form>')


@app.post("/orders")
def buy():
    order = request.form.get("order", "")
    if not re.fullmatch("order-[0-9a-f-]{36}", order):
        abort(404)
    orders("insert or ignore into orders (id) values (?)", order)  # first: the webhook may be faster than the answer
    try:
        payment = gerbang.payments.create_or_find(amount_minor=7_500_000, currency="IDR", payment_method="qris", reference_id=order)
    except GerbangError as error:
        app.logger.error("%s %s", error, error.advice)
        return page("<p>Payment is not possible now. Please try again.</p>", 502)
    qr = (payment.get("instructions") or {}).get("value", "")
    orders("update orders set qr = ?, pay_at = ? where id = ?", qr, payment.get("checkout_url", ""), order)
    return redirect(f"/orders/{order}", 303)


@app.get("/orders/<order>")
def wait(order):
    qr, pay_at, status = orders("select qr, pay_at, status from orders where id = ?", order) or abort(404)
    if status == "paid":
        return page("<p>Paid. Your coffee is on its way.</p>")
    if status != "open":
        return page('<p>Not paid. <a href="/">Try again</a></p>')
    pay = f'<p><a href="{escape(pay_at)}" target="_blank">Show the QR code</a></p><code>{escape(qr)}</code>'
    return page(f"<p>Waiting for Rp75.000.</p>{pay}<script>{ASK}</script>")


@app.get("/orders/<order>/open")
def is_open(order):
    return jsonify(orders("select status from orders where id = ?", order) == ("open",))


@app.post("/webhooks")
def webhook():
    try:
        event = webhooks.unwrap(request.get_data(), request.headers, secret)
    except WebhookError as error:
        return error.step, 401
    if event["type"] in ENDS:  # the same event may come twice: only an open order changes
        orders("update orders set status = ? where id = ? and status = 'open'", ENDS[event["type"]], event["data"]["reference_id"])
    return ""


if __name__ == "__main__":
    app.run("127.0.0.1", int(os.environ.get("PORT", "3000")))
