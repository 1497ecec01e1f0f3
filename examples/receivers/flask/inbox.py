"""What a receiver keeps, in SQLite: the events it knows, the newest state of each payment, and the work that is to be done.

In your shop these are three tables beside your orders. `python3 inbox.py` does what is queued.
"""

import os
import sqlite3
import time
from contextlib import closing

from gerbang import WebhookError, webhooks

PAYMENTS = {f"payment.{end}" for end in ("created", "processing", "succeeded", "failed", "expired", "canceled")}
SECRETS = os.environ["GERBANG_WEBHOOK_SECRET"].replace(" ", "").split(",")  # whsec_…; two with a comma between them during a rotation


def connected():
    return closing(sqlite3.connect(os.environ.get("INBOX", "inbox.sqlite"), timeout=5, isolation_level=None))


with connected() as database:
    database.execute("create table if not exists events (id text primary key, kept_at integer not null)")
    database.execute(
        "create table if not exists payments (reference text primary key, order_id text not null, status text not null, version text not null)"
    )
    database.execute("create table if not exists jobs (id integer primary key, order_id text not null, due_at integer not null)")


def receive(raw_body, headers):
    """The status to answer to a delivery: 200 only when it is genuine, and kept."""
    try:
        event = webhooks.unwrap(raw_body, headers, SECRETS)
    except WebhookError as error:
        print(f"webhook: {error.step}", flush=True)
        return 401
    if event["type"] in PAYMENTS:  # types that you do not know are answered with 2xx, too
        keep(event)
    return 200


def keep(event):
    """One transaction: the event is known, the payment is as it says, and the work is queued; or nothing of all that, and it comes again."""
    data, now = event["data"], int(time.time())
    rank = {"pending": 0, "processing": 1}.get(data["status"], 2)  # what is over stays over, whatever the clocks say
    version = f"{rank} {event['created_at']} {event['id']}"  # within a second, ids are in the order of the events
    with connected() as database, database:  # commits, or rolls back what an error interrupted
        database.execute("begin immediate")
        if database.execute("insert into events values (?, ?) on conflict do nothing", [event["id"], now]).rowcount == 0:
            return  # known
        newer = database.execute(
            "insert into payments values (?, ?, ?, ?) on conflict (reference) do update"
            " set status = excluded.status, version = excluded.version where excluded.version > payments.version",
            [data["reference"], data["reference_id"], data["status"], version],
        ).rowcount
        if newer and event["type"] == "payment.succeeded":
            database.execute("insert into jobs (order_id, due_at) values (?, ?)", [data["reference_id"], now])


def work(fulfil):
    """Does what is queued, for ever. What fails, or a crash interrupts, is done again after a minute: let `fulfil` bear that."""
    while True:
        now = int(time.time())
        with connected() as database:
            job = database.execute(
                "update jobs set due_at = ? where id = (select id from jobs where due_at <= ? order by due_at, id limit 1)"
                " returning id, order_id",
                [now + 60, now],
            ).fetchall()
            if not job:
                time.sleep(0.2)
                continue
            [(id, order)] = job
            try:
                fulfil(order)
            except Exception as error:
                print(f"order {order} is not fulfilled yet: {error}", flush=True)
            else:
                database.execute("delete from jobs where id = ?", [id])


if __name__ == "__main__":
    work(lambda order: print(f"paid: {order}", flush=True))  # in your shop: fulfil it
