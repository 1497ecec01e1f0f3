"""A shop in one file, with Flask: one product, paid by QRIS on the gateway's page, and the webhook that marks its order as paid."""

import os
import re
import sqlite3
import uuid
from contextlib import closing

from flask import Flask, abort, redirect, request

from gerbang import Gerbang, GerbangError, WebhookError, webhooks

# GERBANG_CLIENT_ID, GERBANG_SECRET, GERBANG_BASE_URL; short times, because a payer waits
gerbang = Gerbang(timeout=8, deadline=15)
secret = os.environ["GERBANG_WEBHOOK_SECRET"]
port = os.environ.get("PORT", "3000")
shop_url = os.environ.get("SHOP_URL", f"http://localhost:{port}")  # where payers come back to
coffee = {"amount_minor": 7_500_000, "currency": "IDR", "payment_method": "qris"}
app = Flask(__name__)


def orders(sql, *values):
    with closing(sqlite3.connect(os.environ.get("DATABASE", "shop.sqlite"), timeout=5)) as database, database:
        return database.execute(sql, values).fetchone()


orders("create table if not exists orders (id text primary key, status text not null default 'open')")


def end(payment):  # said by the webhook, and by the service when somebody presses again, so perhaps twice: only an open order changes
    if payment["status"] in ("succeeded", "failed", "expired", "canceled"):
        orders("update orders set status = ? where id = ? and status = 'open'", payment["status"], payment["reference_id"])


def page(body, status=200):
    style = "font: 1rem/1.5 system-ui; max-width: 30rem; margin: 3rem auto"
    head = f'<!doctype html><meta name="viewport" content="width=device-width"><title>Kopi</title><body style="{style}">'
    return f"{head}<h1>Kopi</h1>{body}", status


def button(order, text):  # the form has the order's name: who presses twice buys once, and who comes back pays for the same order
    return f'<form method="post" action="/orders/{order}"><button>{text}</button></form>'


@app.get("/")
def show():
    return page(f"<p>A coffee, Rp75.000</p>{button(f'order-{uuid.uuid4()}', 'Buy it')}")


@app.post("/orders/<order>")
def buy(order):
    if not re.fullmatch("order-[0-9a-f-]{36}", order):
        abort(404)
    orders("insert or ignore into orders (id) values (?)", order)  # first: the webhook may be faster than the answer
    return_url = f"{shop_url}/orders/{order}"
    try:
        payment = gerbang.payments.create_or_find(**coffee, reference_id=order, return_url=return_url)
    except GerbangError as error:
        app.logger.error("%s %s", error, error.advice)
        return page("<p>Payment is not possible now. Please try again.</p>", 502)
    end(payment)
    return redirect(payment.get("checkout_url", return_url), 303)  # one that is paid has no page to pay at


@app.get("/orders/<order>")
def wait(order):
    (status,) = orders("select status from orders where id = ?", order) or abort(404)
    if status == "open":
        return page(f'<p>Waiting for Rp75.000.</p>{button(order, "Pay")}<meta http-equiv="refresh" content="2">')
    paid = "<p>Paid. Your coffee is on its way.</p>"
    return page(paid if status == "succeeded" else '<p>Not paid. <a href="/">Try again</a></p>')


@app.post("/webhooks")
def webhook():
    try:
        event = webhooks.unwrap(request.get_data(), request.headers, secret)
    except WebhookError as error:
        return error.step, 401
    if event["type"].startswith("payment."):
        end(event["data"])
    return ""


if __name__ == "__main__":
    app.run("127.0.0.1", int(port))
