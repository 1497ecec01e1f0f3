"""A merchant's whole day with a running service; prints what came of it as JSON. GERBANG_* say with whom, CUT_BASE_URL is a proxy that cuts."""

import concurrent.futures
import json
import logging
import multiprocessing
import os
import pathlib
import sys
import time
import types

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import gerbang as library  # noqa: E402
from gerbang import Gerbang, GerbangError, WebhookError  # noqa: E402


class FastClock:
    """The machine's clock, and a part of each wait."""

    part = 20
    time, monotonic = staticmethod(time.time), staticmethod(time.monotonic)

    @classmethod
    def sleep(cls, seconds):
        time.sleep(seconds / cls.part)


def code_of(work, *given, **named):
    try:
        return work(*given, **named).get("status", "ok")
    except GerbangError as error:
        return error.code


def order(name, **changes):
    return {"amount_minor": 7_500_000, "currency": "IDR", "payment_method": "qris", "reference_id": f"python-{name}", **changes}


def cancel(reference):
    """One of forty that send the very same bytes within one second."""
    return code_of(Gerbang(scheme="timestamp").payments.cancel, reference)


def payments(gerbang, facts):
    created = gerbang.payments.create(**order("first", metadata={"catatan": "kopi é ☕"}))
    facts["created"] = [created["status"], created["instructions"]["type"], created["metadata"]["catatan"]]
    reference = created["reference"]
    facts["simulated"] = gerbang.sandbox.payments.simulate(reference, "succeeded")["status"]
    facts["waited"] = gerbang.payments.wait_for(reference, timeout=5)["status"]
    facts["never"] = code_of(gerbang.payments.wait_for, reference, "expired", timeout=5)
    for name in ("second", "third"):
        gerbang.sandbox.payments.simulate(gerbang.payments.create(**order(name))["reference"], "succeeded")
    refund = gerbang.refunds.create(payment_reference=reference, amount_minor=2_500_000, reason="satu gelas tumpah")
    facts["refunded"] = [refund["status"], refund["remaining_refundable_minor"], gerbang.refunds.get(refund["uuid"])["status"]]
    facts["refunds"] = len(list(gerbang.refunds.list(payment_reference=reference)))
    try:
        gerbang.refunds.create(payment_reference=reference, amount_minor=7_500_000)
    except GerbangError as error:
        facts["too much"] = [error.code, error.status, error.retryable, error.details["remaining_refundable_minor"]]
    facts["twice"] = code_of(gerbang.payments.create, **order("first"))
    facts["found"] = gerbang.payments.create_or_find(**order("first"))["reference"] == reference
    facts["another amount"] = code_of(gerbang.payments.create_or_find, **order("first", amount_minor=1))
    facts["canceled"] = gerbang.payments.cancel(gerbang.payments.create(**order("canceled"))["reference"], reason="habis")["status"]
    facts["review"] = code_of(gerbang.payments.create, **order("review", customer={"email": "ann@review.test"}))
    facts["review found"] = gerbang.payments.create_or_find(**order("review-too", customer={"email": "ann@review.test"}))["status"]
    facts["passing error"] = gerbang.payments.create(**order("once", metadata={"sandbox.scenario": "gateway_error_once"}))["status"]
    facts["malformed id"] = [code_of(gerbang.payments.get, "../balances"), code_of(gerbang.payments.get, "pay_" + "0" * 26)]
    facts["listed"] = [payment["reference_id"] for payment in gerbang.payments.list(limit=2, status="succeeded")]
    facts["page"] = len(gerbang.payments.page(limit=1)["data"])
    facts["unknown field"] = code_of(gerbang.payments.create, **order("unknown", colour="red"))
    return reference


def money(gerbang, facts):
    (balance,) = [entry for entry in gerbang.balances.get()["data"] if entry["currency"] == "IDR"]
    entries = list(gerbang.balances.entries("IDR", limit=2))
    facts["entries"] = sum(entry["amount_minor"] for entry in entries) == balance["available_minor"]
    second = next(gerbang.payments.list(reference_id="python-second"))["reference"]
    dispute = gerbang.sandbox.payments.dispute(second, reason="product_not_received")
    facts["dispute"] = [gerbang.disputes.get(dispute["uuid"])["status"], gerbang.sandbox.disputes.resolve(dispute["uuid"], "won")["status"]]
    facts["disputes"] = len(list(gerbang.disputes.list()))
    (batch,) = gerbang.sandbox.settlements.run()["data"]
    facts["settled"] = gerbang.sandbox.settlements.pay(batch["uuid"])["status"]
    facts["settlements"] = [one["status"] for one in gerbang.settlements.list()] + [gerbang.settlements.get(batch["uuid"])["status"]]
    statement = gerbang.settlements.statement(batch["uuid"]).splitlines()
    facts["statement"] = [statement[0].split(",")[0], statement[-1].split(",")[0], str(batch["net_minor"]) in statement[-1]]
    link = gerbang.payment_links.create(currency="IDR", reusable=True, description="Tip")
    facts["link"] = [link["status"], gerbang.payment_links.get(link["uuid"])["status"], gerbang.payment_links.deactivate(link["uuid"])["status"]]
    facts["links"] = len(list(gerbang.payment_links.list()))


def events(gerbang, facts, begin):
    heard = gerbang.sandbox.events.listen(after=begin, wait=2)["data"]
    secret, seen = os.environ["GERBANG_WEBHOOK_SECRET"], set()
    store = types.SimpleNamespace(claim=lambda id: id not in seen and not seen.add(id))
    unwrapped = [gerbang.webhooks.unwrap(one["body"].encode(), one["headers"], ["whsec_b2xk", secret], store=store) for one in heard]
    facts["heard"] = [unwrapped[0]["type"], unwrapped[1]["type"], len(seen) == len(heard)]
    facts["heard again"] = gerbang.webhooks.unwrap(heard[0]["body"].encode(), heard[0]["headers"], secret, store=store)
    try:
        gerbang.webhooks.unwrap(heard[0]["body"].replace("7500000", "7500001"), heard[0]["headers"], secret)
    except WebhookError as error:
        facts["tampered"] = error.step
    headers = library.webhooks.sign(heard[0]["body"], secret)
    facts["own"] = library.webhooks.unwrap(heard[0]["body"], headers.items(), secret)["id"] == heard[0]["id"]
    facts["doctor"] = gerbang.sandbox.webhook.doctor(headers=heard[0]["headers"], body=heard[0]["body"])["diagnosis"]
    event = next(gerbang.events.list(type="payment.succeeded"))
    facts["event"] = [gerbang.events.get(event["id"])["type"], len(list(gerbang.events.deliveries(event["id"])))]
    facts["misbehave"] = [gerbang.sandbox.webhook.misbehave("delay", for_next=1)["mode"], gerbang.sandbox.webhook.misbehaviour()["mode"], gerbang.sandbox.webhook.misbehave("none")["mode"]]
    facts["resent by name"] = code_of(gerbang.events.resend_many, [event["id"]])  # no address is registered
    log = next(gerbang.sandbox.requests.list(limit=1))
    facts["log"] = log["method"]
    facts["one request"] = gerbang.sandbox.requests.get(log["request_id"])["path"] == log["path"]
    facts["clock"] = gerbang.sandbox.clock.advance(60)["offset_seconds"] == gerbang.sandbox.clock.get()["offset_seconds"]


def stranger(gerbang, facts):
    try:
        Gerbang(secret="sk_test_of_somebody_else").balances.get()
    except GerbangError as error:
        facts["stranger"] = [error.code, gerbang.sandbox.requests.doctor(error.request_id)["diagnosis"]]


def same_second(facts, reference):
    """Equal requests by the interface's scheme: none is sent twice, since each has a timestamp of its own."""
    told = []
    handler = logging.Handler()
    handler.emit = lambda record: told.append(record.getMessage())
    log = logging.getLogger("gerbang")
    log.addHandler(handler)
    log.setLevel(logging.DEBUG)
    with Gerbang(scheme="timestamp") as gerbang:
        for _ in range(10):
            gerbang.balances.get()
            code_of(gerbang.payments.cancel, reference)
    log.removeHandler(handler)
    facts["same second"] = [len(told), sum("attempt 1: " in line for line in told), os.environ["GERBANG_SECRET"] in "".join(told)]


def network(facts):
    FastClock.part = 200
    with Gerbang(base_url=os.environ["CUT_BASE_URL"]) as cut:
        facts["lost once"] = cut.payments.create(**order("cut-once"))["reference_id"]
        facts["lost always"] = cut.payments.create_or_find(**order("cut-always"))["reference_id"]
        try:
            cut.payments.create(**order("cut-always-too"))
        except GerbangError as error:
            facts["lost and thrown"] = [error.code, error.retryable, error.outcome_unknown, len(error.idempotency_key)]
    FastClock.part = 20


def together(gerbang, facts):
    with concurrent.futures.ThreadPoolExecutor(100) as pool:
        made = pool.map(lambda n: gerbang.payments.create(**order(f"many-{n}"))["reference"], range(100))
        facts["a hundred at once"] = len(set(made))
    reference = gerbang.payments.create(**order("forty"))["reference"]
    with multiprocessing.get_context("fork").Pool(40) as pool:
        outcomes = pool.map(cancel, [reference] * 40, chunksize=1)
    facts["forty processes"] = {outcome: outcomes.count(outcome) for outcome in sorted(set(outcomes))}


def main():
    library._clock = FastClock
    facts = {}
    with Gerbang() as gerbang:
        facts["health"] = gerbang.health()["status"]
        facts["shown"] = os.environ["GERBANG_SECRET"] in repr(gerbang) + repr(vars(gerbang))
        begin = gerbang.sandbox.events.listen(wait=0)["next_after"]
        same_second(facts, payments(gerbang, facts))
        money(gerbang, facts)
        events(gerbang, facts, begin)
        stranger(gerbang, facts)
    network(facts)
    together(Gerbang(), facts)
    json.dump(facts, sys.stdout)


if __name__ == "__main__":
    main()
