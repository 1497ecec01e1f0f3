"""Runs the vectors of sdk/vectors with the client: `{task, vectors, base_url}` on standard input, one result a vector on standard output."""

import json
import pathlib
import ssl
import sys
import time
import traceback

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import gerbang  # noqa: E402

CREDENTIALS = {"client_id": "ak_test_01kan3t5q8e4vs0x7ybd2m9fjh", "secret": "sk_test_3q8mzv0c7x2fh5n9t4ykw6r1bdga8jpe"}

# Python itself refuses a call without them; None is the value of a field left out.
LEFT_OUT = dict.fromkeys(("currency", "payment_method", "reference_id"))


class StandingClock:
    """Time that passes by waiting alone."""

    def __init__(self, now):
        self.now, self.waits = now, []

    def time(self):
        return self.now

    def monotonic(self):
        return sum(self.waits)

    def sleep(self, seconds):
        self.waits.append(seconds)


def signing(vector, _):
    secret = gerbang._Secret(vector["secret"])
    return secret.hmac(vector["timestamp"].encode(), b".", vector["body"].encode()).hexdigest()


def messages(vector, _):
    secret, body = gerbang._Secret(vector["secret"]), vector["body"].encode()
    given = (vector["client_id"], vector["method"], vector["url"], body, vector.get("idempotency_key"), vector["created"], vector["nonce"])
    return {name.lower(): value for name, value in gerbang._message_headers(secret, *given).items()}


def webhooks(vector, _):
    try:
        event = gerbang.webhooks.unwrap(
            vector["body"].encode(), vector["headers"], vector["secrets"], prefix=vector.get("prefix", "X-SVC-"), now=vector["now"]
        )
    except gerbang.WebhookError as error:
        return error.step
    except ValueError:
        return "secret_missing"
    return f"ok {event['id']}"


class ScriptedStore:
    """Answers as a vector says, the last answer again and again, and notes what it was asked, equal questions in a row once."""

    def __init__(self, claims, fails, calls):
        self.claims, self.fails, self.calls = list(claims), fails, calls

    def note(self, name):
        if self.calls[-1:] != [name]:
            self.calls.append(name)
        if name == self.fails:
            raise OSError("the database is away")

    def claim(self, id):
        self.note("claim")
        return self.claims.pop(0) if len(self.claims) > 1 else self.claims[0]

    def done(self, id):
        self.note("done")

    def release(self, id):
        self.note("release")


def handling(vector, _):
    gerbang._clock, calls = StandingClock(0), []
    body = '{"id":"evt_01kan3t6b7r9md3kq5x1zc8evw","type":"payment.succeeded"}'
    headers = gerbang.webhooks.sign(body, {"genuine": "whsec_b25l", "forged": "whsec_dHdv"}.get(vector["delivery"], "whsec_b25l"))

    def on(event):
        calls.append("on")
        if vector["on"] == "throws":
            raise OSError("the queue is away")

    store = ScriptedStore(vector["claims"], vector.get("fails"), calls) if "claims" in vector else None
    status = gerbang.webhooks.handle(body, {} if vector["delivery"] == "without headers" else headers, "whsec_b25l", on, store=store)
    return {"status": status, "calls": calls, "waited_ms": round(sum(gerbang._clock.waits) * 1000)}


def called(client, call, deadline):
    body = call.get("body", {})
    return {
        "payments.create": lambda: client.payments.create(**{**LEFT_OUT, **body}, deadline=deadline),
        "payments.createOrFind": lambda: client.payments.create_or_find(**body, deadline=deadline),
        "payments.get": lambda: client.payments.get(call["reference"]),
        "refunds.create": lambda: client.refunds.create(**body, deadline=deadline),
    }[call["operation"]]()


def told(error):
    """All that a report of this error could hold: its words, its trace, and the variables of each frame."""
    trace = traceback.TracebackException.from_exception(error, capture_locals=True)
    return f"{error} {error!r} {vars(error)} {''.join(trace.format())}"


def retries(vector, base_url):
    gerbang._clock = clock = StandingClock(vector["now"])
    silent = [answer.get("fault") == "timeout" for answer in vector["answers"]]
    # An answer that does come has to come in time on a busy machine, too.
    options = {"scheme": vector.get("scheme", "rfc9421"), "timeout": 0.1 if all(silent) else 1 if any(silent) else 10}
    client = gerbang.Gerbang(**CREDENTIALS, base_url=base_url.replace("INDEX", str(vector["index"])), **options)
    deadline_ms = vector.get("options", {}).get("deadline_ms")
    with client:
        try:
            given = called(client, vector["call"], None if deadline_ms is None else deadline_ms / 1000)
            result = {"result": "ok", "status": given.get("status")}
        except gerbang.GerbangError as error:
            result = {"result": error.code, "request_id": error.request_id, "text": told(error), "key": error.idempotency_key, "attempts": error.attempts, "unknown": error.outcome_unknown, "advice": error.advice}
    return {**result, "waits_ms": [round(wait * 1000) for wait in clock.waits]}


def asked(client, call):
    """What a call gives."""
    given = call.get("given")
    reference, settlement = "pay_01kan3t5q8e4vs0x7ybd2m9fjh", "set_01kan3t5q8e4vs0x7ybd2m9fjh"
    return {
        "payments.create": lambda: client.payments.create(**given),
        "payments.createOrFind": lambda: client.payments.create_or_find(**given),
        "payments.get": lambda: client.payments.get(reference),
        "payments.cancel": lambda: client.payments.cancel(reference),
        "payments.list": lambda: len(list(client.payments.list())),
        "payments.waitFor": lambda: client.payments.wait_for(reference, timeout=given),
        "refunds.create": lambda: client.refunds.create(**given),
        "paymentLinks.create": lambda: client.payment_links.create(**given),
        "balances.entries": lambda: len(list(client.balances.entries(given))),
        "settlements.statement": lambda: client.settlements.statement(settlement),
        "call": lambda: client.call("POST", "/v1/refunds", given),
    }[call["operation"]]()


def hostile(vector, base_url):
    """One call of a service that answers what no API would. Waits take no time, unless the vector wants the time that they take."""
    gerbang._clock = time if "deadline" in vector else StandingClock(vector["now"])
    options = {"timeout": vector.get("timeout", 10), "deadline": vector.get("deadline", 120)}
    begun = time.monotonic()
    with gerbang.Gerbang(**CREDENTIALS, base_url=base_url.replace("INDEX", str(vector["index"])), **options) as client:
        try:
            result = {"result": "ok", "given": asked(client, vector["call"])}
        except gerbang.GerbangError as error:
            result = {"result": error.code, "unknown": error.outcome_unknown, "message": error.message, "request_id": error.request_id, "details": error.details}
    return {**result, "seconds": time.monotonic() - begun}


def validation(vector, _):
    client = gerbang.Gerbang(**CREDENTIALS, base_url="http://127.0.0.1:9")
    try:
        called(client, vector["call"], 0)
    except gerbang.GerbangError as error:
        return {"code": error.code, "message": error.message, **error.details}


def tls(vector, base_url):
    context = ssl.create_default_context(cafile=vector["ca_file"]) if "ca_file" in vector else None
    if context is not None:  # the authority of the tests has no key identifier, which Python demands from 3.13 on
        context.verify_flags &= ~getattr(ssl, "VERIFY_X509_STRICT", 0)
    client = gerbang.Gerbang(**CREDENTIALS, base_url=base_url.replace("INDEX", str(vector["index"])), ssl_context=context)
    with client:
        try:
            return " ".join(client.health()["status"] for _ in range(vector["calls"]))
        except gerbang.GerbangError as error:
            return f"{error.code} {str(error.retryable).lower()}"


def drip(vector, base_url):
    started = time.monotonic()
    client = gerbang.Gerbang(**CREDENTIALS, base_url=base_url.replace("INDEX", str(vector["index"])), timeout=vector["timeout"], deadline=0.5)
    try:
        client.health()
    except gerbang.GerbangError as error:
        return {"result": error.code, "seconds": time.monotonic() - started}


def injection(vector, base_url):
    try:
        client = gerbang.Gerbang(**CREDENTIALS, base_url=vector.get("base_url", base_url), deadline=0)
        client.call("POST", vector.get("path", "/v1/payments"), {}, idempotency_key=vector.get("key"))
    except ValueError:
        return "refused"
    except gerbang.GerbangError as error:
        return error.code


given = json.load(sys.stdin)
tasks = (signing, messages, webhooks, handling, retries, hostile, validation, tls, drip, injection)
task = {one.__name__: one for one in tasks}[given["task"]]
json.dump([task({**vector, "index": index}, given.get("base_url", "")) for index, vector in enumerate(given["vectors"])], sys.stdout)
