#!/usr/bin/env python3
"""Makes the test vectors beside it: `python3 make.py` writes them, `python3 make.py --check` says whether they are as they would be written.

Python's standard library alone, and nothing of the service: what both agree on was implemented twice. README.md describes the files.
"""

import base64
import hashlib
import hmac
import json
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
NOW = 1_800_000_000  # Fri, 15 Jan 2027 08:00:00 GMT
CLIENT = "ak_test_01kan3t5q8e4vs0x7ybd2m9fjh"
SECRET = "sk_test_3q8mzv0c7x2fh5n9t4ykw6r1bdga8jpe"
PAYMENT = "pay_01kan3t5q8e4vs0x7ybd2m9fjh"


def hmac_sha256(key, *parts):
    signature = hmac.new(key if isinstance(key, bytes) else key.encode(), digestmod=hashlib.sha256)
    for part in parts:
        signature.update(part if isinstance(part, bytes) else part.encode())
    return signature


def b64(data):
    return base64.b64encode(data).decode()


def compact(value):
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


CREATE = {"amount_minor": 7500000, "currency": "IDR", "payment_method": "qris", "reference_id": "order-1001"}
INDONESIAN = {**CREATE, "description": "Kopi susu gula aren, dua gelas, untuk Bu Sri – terima kasih! ☕🇮🇩", "metadata": {"catatan": "diantar ke rumah, é ü 東京"}}
PRETTY = json.dumps(CREATE, indent=2) + "\n"
LARGE = compact({**CREATE, "metadata": {f"key-{n:02}": "kopi ☕ " * 60 for n in range(20)}})


# signing.json


def signing():
    def vector(name, body, timestamp=NOW, secret=SECRET):
        signature = hmac_sha256(secret, f"{timestamp}.", body).hexdigest()
        return {"name": name, "secret": secret, "timestamp": str(timestamp), "body": body, "signature": signature}

    return [
        vector("no body: the timestamp, a dot and nothing after it", ""),
        vector("an empty object", "{}"),
        vector("a payment", compact(CREATE)),
        vector("another second", compact(CREATE), NOW + 1),
        vector("another secret", compact(CREATE), secret="sk_live_another"),
        vector("a secret of 100 bytes, more than a block of SHA-256", compact(CREATE), secret="sk_test_" + "0123456789ab" * 8),
        vector("UTF-8: Indonesian, accents, an emoji of one and one of two code points", compact(INDONESIAN)),
        vector("the same text as escapes: other bytes, another signature", json.dumps(INDONESIAN, separators=(",", ":"))),
        vector("new lines and spaces, one new line at the end", PRETTY),
        vector("new lines of Windows", PRETTY.replace("\n", "\r\n")),
        vector("tabs, quotes and backslashes", '{"a":\t"\\"quoted\\" and \\\\ and / and \\u0041"}'),
        vector("a dot in front, as if it were the one of the timestamp", ".{}"),
        vector("no JSON at all", "not JSON, and signed all the same"),
        vector("large", LARGE),
    ]


# message-signatures.json


def message(name, method, url, body="", key=None, created=NOW, nonce="0123456789abcdef", client=CLIENT, secret=SECRET):
    digest = f"sha-256=:{b64(hashlib.sha256(body.encode()).digest())}:"
    covered = [("@method", method), ("@target-uri", url), ("content-digest", digest)]
    if key is not None:
        covered.append(("idempotency-key", key))
    names = " ".join(f'"{component}"' for component, _ in covered)
    parameters = f'({names});created={created};keyid="{client}";nonce="{nonce}"'
    lines = [f'"{component}": {value}' for component, value in covered]
    base = "\n".join([*lines, f'"@signature-params": {parameters}'])
    return {
        "name": name,
        "client_id": client,
        "secret": secret,
        "method": method,
        "url": url,
        "body": body,
        **({} if key is None else {"idempotency_key": key}),
        "created": created,
        "nonce": nonce,
        "headers": {
            "content-digest": digest,
            "signature-input": f"sig1={parameters}",
            "signature": f"sig1=:{b64(hmac_sha256(secret, base).digest())}:",
        },
        "signature_base": base,
    }


def message_signatures():
    host = "https://pay.example"
    return [
        message("the vector of the guide", "POST", f"{host}/v1/payments", '{"a":1}', "order-1001-create", 1_700_000_000, client="ak_test_vector", secret="sk_test_vector"),
        message("a read: the digest of no body, and no key", "GET", f"{host}/v1/balances"),
        message("a read of the same second with another nonce", "GET", f"{host}/v1/balances", nonce="fedcba9876543210"),
        message("a query, with the escapes that are sent", "GET", f"{host}/v1/payments?reference_id=order%201001%2Fa&limit=100"),
        message("a query with a plus sign and small escapes, letter for letter", "GET", f"{host}/v1/payments?reference_id=a+b%c3%a9"),
        message("a port and plain HTTP", "POST", "http://127.0.0.1:8080/v1/payments", compact(CREATE), "order-1001-pay"),
        message("a path in front of /v1", "POST", f"{host}/gateway/v1/refunds", compact({"payment_reference": PAYMENT}), "refund-1001"),
        message("a write without a body", "POST", f"{host}/v1/payments/{PAYMENT}/cancel", "", "order-1001-cancel"),
        message("PUT", "PUT", f"{host}/v1/sandbox/webhook/misbehave", '{"mode":"duplicate","for_next":5}', "misbehave-1"),
        message("UTF-8 in the body", "POST", f"{host}/v1/payments", compact(INDONESIAN), "order-1002-pay"),
        message("new lines in the body", "POST", f"{host}/v1/payments", PRETTY, "order-1003-pay"),
        message("a key with spaces and signs, the shortest nonce but one", "POST", f"{host}/v1/payments", compact(CREATE), 'order: 1001, "pay" (again)', nonce="0123456789abcdefg"),
        message("the longest key and the longest nonce", "POST", f"{host}/v1/payments", compact(CREATE), "k" * 255, nonce="n-" + "0123456789" * 6 + "ab"),
        message("large", "POST", f"{host}/v1/payments", LARGE, "order-1004-pay"),
    ]


# webhooks.json

WEBHOOK = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwSwSwSwSwSwQ="
BEFORE = "whsec_" + b64(hashlib.sha256(b"the secret before").digest())
STRANGER = "whsec_" + b64(hashlib.sha256(b"the secret of nobody").digest())
EVENT_ID = "evt_01kan3t6b7r9md3kq5x1zc8evw"
EVENT = {
    "id": EVENT_ID,
    "type": "payment.succeeded",
    "created_at": "2027-01-15T08:00:00Z",
    "environment": "sandbox",
    "api_version": "v1",
    "data": {"reference": PAYMENT, "status": "succeeded", "amount_minor": 150000, "currency": "IDR", "metadata": {"note": "kopi é ☕"}},
}
BODY = compact(EVENT)
GUIDE = (
    '{"id":"evt_01m7yjgp5af9zagwxw9d6sqxgf","type":"payment.succeeded","created_at":"2026-11-21T07:42:22Z","environment":"sandbox",'
    '"api_version":"v1","data":{"reference":"pay_01m7yjgn2zf4ar8s1j9h0kq3tw","status":"succeeded","amount_minor":150000,"currency":"IDR",'
    '"metadata":{"note":"kopi é ☕"}}}'
)


def delivery_headers(body=BODY, secrets=(WEBHOOK,), timestamp=NOW, prefix="X-SVC-", event_id=EVENT_ID, event_type="payment.succeeded", attempt=1):
    """The headers as the service sends them, the secret in force first."""
    standard = [
        "v1," + b64(hmac_sha256(base64.b64decode(secret[len("whsec_"):]), f"{event_id}.{timestamp}.", body).digest())
        for secret in secrets
    ]
    return {
        "content-type": "application/json; charset=utf-8",
        f"{prefix}Event-Id": event_id,
        f"{prefix}Event-Type": event_type,
        f"{prefix}Timestamp": str(timestamp),
        f"{prefix}Signature": hmac_sha256(secrets[0], f"{timestamp}.", body).hexdigest(),
        f"{prefix}Delivery-Attempt": str(attempt),
        "webhook-id": event_id,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": " ".join(standard),
    }


def without(headers, start):
    return {name: value for name, value in headers.items() if not name.lower().startswith(start.lower())}


OWN = without(delivery_headers(), "webhook-")
STANDARD = without(delivery_headers(), "X-SVC-")


def webhook(name, expect, headers=None, body=BODY, secrets=(WEBHOOK,), now=NOW, prefix=None, event_id=EVENT_ID):
    return {
        "name": name,
        **({} if prefix is None else {"prefix": prefix}),
        "secrets": list(secrets),
        "headers": OWN if headers is None else headers,
        "body": body,
        "now": now,
        "expect": expect,
        **({"event_id": event_id} if expect == "ok" else {}),
    }


def delivered(name, body=BODY, signed_by=(WEBHOOK,), prefix=None, attempt=1, event_type="payment.succeeded", **more):
    """A delivery letter for letter as the service sends it."""
    headers = delivery_headers(body, signed_by, NOW, prefix or "X-SVC-", EVENT_ID, event_type, attempt)
    sent = {"secrets": list(signed_by), "prefix": prefix or "X-SVC-", "timestamp": NOW, "attempt": attempt, "type": event_type}
    return {**webhook(name, more.pop("expect", "ok"), headers, body, prefix=prefix, **more), "delivered": sent}


def changed(**values):
    """The headers of the interface with some of them changed, by the last word of their names."""
    return {name: values.get(name.rsplit("-", 1)[1].lower(), value) for name, value in OWN.items()}


def signed(body, **more):
    """The headers of the interface for another body, rightly signed."""
    return without(delivery_headers(body, **more), "webhook-")


def webhooks():
    signature = OWN["X-SVC-Signature"]
    standard = STANDARD["webhook-signature"]
    unsigned_id = {**OWN, "X-SVC-Event-Id": "evt_01kan3t6b7r9md3kq5x1zc8evx"}
    pretty = json.dumps(EVENT, ensure_ascii=False, indent=2) + "\n"
    unknown = compact({**EVENT, "type": "invoice.unheard_of", "data": {}})
    return [
        # As they are sent.
        delivered("a delivery as it is sent"),
        delivered("the third attempt", attempt=3),
        delivered("another prefix", prefix="X-Toko-"),
        delivered("a type that the receiver does not know", unknown, event_type="invoice.unheard_of"),
        delivered("a body with new lines and spaces", pretty),
        delivered("after a rotation, the receiver knows both secrets, the old one first", signed_by=(WEBHOOK, BEFORE), secrets=(BEFORE, WEBHOOK)),
        delivered("after a rotation, the receiver knows the new secret", signed_by=(WEBHOOK, BEFORE)),
        delivered("during the overlap, the receiver knows the old secret alone: webhook-signature carries its signature", signed_by=(WEBHOOK, BEFORE), secrets=(BEFORE,)),
        delivered("a delivery with the new secret's signature alone, the receiver knows the old secret alone", expect="signature_mismatch", secrets=(BEFORE,)),
        webhook("the vector of the guide", "ok", signed(GUIDE, timestamp=1795246942), GUIDE, now=1795246942, event_id=json.loads(GUIDE)["id"]),
        # The headers.
        webhook("the interface's headers alone", "ok"),
        webhook("names in small letters", "ok", {name.lower(): value for name, value in OWN.items()}),
        webhook("names in capitals", "ok", {name.upper(): value for name, value in OWN.items()}),
        webhook("the default prefix where another is expected", "header_missing", prefix="X-Toko-"),
        webhook("no headers at all", "header_missing", {}),
        webhook("no timestamp", "header_missing", without(OWN, "X-SVC-Timestamp")),
        webhook("no signature", "header_missing", without(OWN, "X-SVC-Signature")),
        webhook("half of the interface's headers, and all of Standard Webhooks", "ok", without(delivery_headers(), "X-SVC-Signature")),
        webhook("a prefix in another case than the headers", "ok", {name.replace("X-SVC-", "X-Toko-"): value for name, value in OWN.items()}, prefix="x-TOKO-"),
        webhook("no event id in the headers: the body has it", "ok", without(OWN, "X-SVC-Event")),
        webhook("another event id in the headers, which nobody signed: the body's counts", "ok", unsigned_id),
        webhook("values as lists of one", "ok", {name: [value] for name, value in OWN.items()}),
        webhook("the signature twice, as a list", "signature_malformed", changed(signature=[signature, signature])),
        webhook("the signature twice, in one line", "signature_malformed", changed(signature=f"{signature}, {signature}")),
        webhook("the timestamp twice, as a list", "timestamp_malformed", changed(timestamp=[str(NOW), str(NOW)])),
        webhook("the timestamp twice, in one line", "timestamp_malformed", changed(timestamp=f"{NOW}, {NOW}")),
        webhook("a header of no consequence twice", "ok", {**OWN, "X-Forwarded-For": ["10.0.0.1", "10.0.0.2"]}),
        # The timestamp.
        *[
            webhook(f"a timestamp that is {what}", "timestamp_malformed", {**OWN, "X-SVC-Timestamp": text, "X-SVC-Signature": hmac_sha256(WEBHOOK, f"{text}.", BODY).hexdigest()})
            for what, text in [
                ("empty", ""),
                ("a fraction", f"{NOW}.0"),
                ("signed", f"+{NOW}"),
                ("negative", f"-{NOW}"),
                ("in scientific notation", "18e8"),
                ("in hexadecimal", hex(NOW)),
                ("grouped by underscores", "1_800_000_000"),
                ("a date", "2027-01-15T08:00:00Z"),
                ("in digits that are not ASCII", "١٨٠٠٠٠٠٠٠٠"),
                ("of thirteen digits", f"{NOW}000"),
                ("followed by a new line", f"{NOW}\n"),
            ]
        ],
        webhook("exactly 300 seconds old", "ok", now=NOW + 300),
        webhook("301 seconds old", "timestamp_out_of_window", now=NOW + 301),
        webhook("exactly 300 seconds ahead", "ok", now=NOW - 300),
        webhook("301 seconds ahead", "timestamp_out_of_window", now=NOW - 301),
        webhook("twelve digits", "timestamp_out_of_window", signed(BODY, timestamp=999_999_999_999)),
        webhook("the window comes before the signature", "timestamp_out_of_window", changed(signature="0" * 64), now=NOW + 301),
        webhook("an event made hours ago, sent now", "ok", signed(compact({**EVENT, "created_at": "2027-01-14T20:00:00Z"})), compact({**EVENT, "created_at": "2027-01-14T20:00:00Z"})),
        # The signature.
        *[
            webhook(f"a signature that is {what}", "signature_malformed", changed(signature=text))
            for what, text in [
                ("empty", ""),
                ("in capitals", signature.upper()),
                ("a character short", signature[1:]),
                ("a character long", signature + "0"),
                ("in base64", b64(bytes.fromhex(signature))),
                ("not hexadecimal", "z" * 64),
                ("in spaces", f" {signature}"),
            ]
        ],
        webhook("right but for its last character", "signature_mismatch", changed(signature=signature[:-1] + ("0" if signature[-1] != "0" else "1"))),
        webhook("another secret's signature", "signature_mismatch", signed(BODY, secrets=(STRANGER,))),
        webhook("keyed with the bytes behind whsec_ instead of the whole text", "signature_mismatch", changed(signature=hmac_sha256(base64.b64decode(WEBHOOK[6:]), f"{NOW}.", BODY).hexdigest())),
        webhook("an amount was changed on the way", "signature_mismatch", body=BODY.replace("150000", "150001")),
        webhook("a new line was added to the body", "signature_mismatch", body=BODY + "\n"),
        webhook("parsed and written again with spaces", "signature_mismatch", body=json.dumps(EVENT, ensure_ascii=False)),
        webhook("parsed and written again with escapes", "signature_mismatch", body=json.dumps(EVENT, separators=(",", ":"))),
        webhook("the timestamp of another second", "signature_mismatch", changed(timestamp=str(NOW + 1))),
        *[
            webhook(f"no secret ({what}): not even what is signed by an empty key", "secret_missing", signed(BODY, secrets=("",)), secrets=secrets)
            for what, secrets in [("none", ()), ("an empty text", ("",))]
        ],
        webhook("the third of three secrets", "ok", secrets=(STRANGER, BEFORE, WEBHOOK)),
        webhook("an empty text beside the secret", "ok", secrets=("", WEBHOOK)),
        webhook("none of two secrets", "signature_mismatch", secrets=(STRANGER, BEFORE)),
        webhook("a secret that is not base64 behind whsec_ is taken as it is", "ok", signed(BODY, secrets=(WEBHOOK,)), secrets=("whsec_not!base64", WEBHOOK)),
        # What is wrong with the interface's headers, but for a signature that does not fit, Standard Webhooks beside them does not mend.
        *[
            webhook(f"{what}, and Standard Webhooks beside it", expect, {**STANDARD, **own})
            for what, expect, own in [
                ("a timestamp that is a date", "timestamp_malformed", changed(timestamp="2027-01-15T08:00:00Z")),
                ("a timestamp that is 301 seconds old", "timestamp_out_of_window", signed(BODY, timestamp=NOW - 301)),
                ("a signature in capitals", "signature_malformed", changed(signature=signature.upper())),
            ]
        ],
        # The headers of Standard Webhooks, where the interface's own are not there.
        webhook("Standard Webhooks alone", "ok", STANDARD),
        webhook("Standard Webhooks alone, whatever the prefix", "ok", STANDARD, prefix="X-Toko-"),
        webhook("Standard Webhooks: several signatures, the second is ours", "ok", {**STANDARD, "webhook-signature": f"v1,{b64(bytes(32))} {standard}"}),
        webhook("Standard Webhooks: versions that nobody knows are skipped", "ok", {**STANDARD, "webhook-signature": f"v1a,{b64(bytes(64))} {standard}"}),
        webhook("Standard Webhooks: the second of two secrets", "ok", STANDARD, secrets=(STRANGER, WEBHOOK)),
        webhook("Standard Webhooks: a secret whose base64 came without its padding", "ok", STANDARD, secrets=(WEBHOOK.rstrip("="),)),
        webhook("Standard Webhooks: keyed with the whole text instead of the bytes behind whsec_", "signature_mismatch", {**STANDARD, "webhook-signature": "v1," + b64(hmac_sha256(WEBHOOK, f"{EVENT_ID}.{NOW}.", BODY).digest())}),
        webhook("Standard Webhooks: a version in capitals is another one", "signature_malformed", {**STANDARD, "webhook-signature": standard.upper()[:3] + standard[3:]}),
        webhook("Standard Webhooks: no signature of version 1", "signature_malformed", {**STANDARD, "webhook-signature": f"v1a,{b64(bytes(64))}"}),
        webhook("Standard Webhooks: another secret", "signature_mismatch", STANDARD, secrets=(STRANGER,)),
        webhook("Standard Webhooks: another id than the signed one", "signature_mismatch", {**STANDARD, "webhook-id": "evt_01kan3t6b7r9md3kq5x1zc8evx"}),
        webhook("Standard Webhooks: no id", "header_missing", without(STANDARD, "webhook-id")),
        webhook("Standard Webhooks: a timestamp that is a date", "timestamp_malformed", {**STANDARD, "webhook-timestamp": "2027-01-15"}),
        webhook("Standard Webhooks: 301 seconds old", "timestamp_out_of_window", STANDARD, now=NOW + 301),
        webhook("Standard Webhooks: an old delivery with a new timestamp of ours, which nobody signed", "timestamp_out_of_window", {**STANDARD, "X-SVC-Timestamp": str(NOW + 301), "X-SVC-Signature": "0" * 64}, now=NOW + 301),
        webhook("Standard Webhooks: signatures in two headers", "signature_malformed", {**STANDARD, "webhook-signature": [f"v1,{b64(bytes(32))}", standard]}),
        webhook("Standard Webhooks: signatures in two headers that were joined to one", "signature_malformed", {**STANDARD, "webhook-signature": f"v1,{b64(bytes(32))}, {standard}"}),
        # The body, rightly signed.
        *[
            webhook(f"a genuine body that is {what}", "body_malformed", signed(body), body)
            for what, body in [
                ("empty", ""),
                ("no JSON", "hello"),
                ("JSON but for a number that is none", '{"id":"evt_1","type":"payment.succeeded","data":NaN}'),
                ("cut off", BODY[:-1]),
                ("followed by more", f"{BODY} {BODY}"),
                ("an array", f"[{BODY}]"),
                ("null", "null"),
                ("without an id", compact({key: value for key, value in EVENT.items() if key != "id"})),
                ("without a type", compact({key: value for key, value in EVENT.items() if key != "type"})),
                ("with a number for an id", compact({**EVENT, "id": 1})),
                ("with null for a type", compact({**EVENT, "type": None})),
                ("with names in another case", compact({**{key: value for key, value in EVENT.items() if key not in ("id", "type")}, "ID": EVENT_ID, "Type": "payment.succeeded"})),
            ]
        ],
    ]


# handling.json


def handled(name, status, calls, delivery="genuine", claims=None, on="ok", fails=None):
    store = {} if claims is None else {"claims": claims}
    return {"name": name, "delivery": delivery, **store, "on": on, **({} if fails is None else {"fails": fails}), "status": status, "calls": calls}


def handling():
    return [
        handled("without a store", 200, ["on"]),
        handled("without a store, and what handles it fails", 500, ["on"], on="throws"),
        handled("the first copy", 200, ["claim", "on", "done"], claims=[True]),
        handled("a copy of what was handled", 200, ["claim"], claims=[False]),
        handled("what handles it fails: the next copy may try", 500, ["claim", "on", "release"], claims=[True], on="throws"),
        handled("a copy while another one is handled, which succeeds: it waits, and is answered then", 200, ["claim"], claims=["busy", "busy", False]),
        handled("a copy while another one is handled, which fails: it tries", 200, ["claim", "on", "done"], claims=["busy", True]),
        handled("a copy while another one is handled, which takes too long or died: it comes again", 503, ["claim"], claims=["busy"]),
        handled("the store cannot say whether it is new: it comes again", 500, ["claim"], claims=[True], fails="claim"),
        handled("it was handled, and the store could not keep that: it comes again, once the claim is over", 500, ["claim", "on", "done"], claims=[True], fails="done"),
        handled("what handles it fails, and the store too", 500, ["claim", "on", "release"], claims=[True], on="throws", fails="release"),
        handled("a forged one is not claimed", 401, [], delivery="forged", claims=[True]),
        handled("one without headers is not claimed", 401, [], delivery="without headers", claims=[True]),
        handled("a forged one without a store", 401, [], delivery="forged"),
    ]


# retries.json

# Where encoders of JSON and of queries differ.
STRANGE = {
    "amount_minor": 9007199254740991,
    "currency": "IDR",
    "payment_method": "va",
    "reference_id": "order 1001/a+b&c=d%2F?#é☕😀",
    "description": "</script> & 'apos' \"quot\" \\ / \t\n\x7f \u2028 é e\u0301 ☕ 😀",
    "metadata": {"z": "", "a": "1.0", "é": "1e3"},
}
PAID = {"reference": PAYMENT, "status": "pending", **CREATE}
PAID_STRANGE = {"reference": PAYMENT, "status": "pending", **STRANGE}
BACKOFF = [[800, 1200], [1600, 2400], [3200, 4800], [6400, 9600]]
AT_ONCE = [0, 50]
RESET = {"fault": "reset"}


def answer(status, body, **headers):
    return {"status": status, "headers": {name.replace("_", "-"): value for name, value in headers.items()}, "body": body}


def error(status, code, details=None, **headers):
    fault = {"code": code, "message": f"{code} in words", "request_id": "req_01kan3t5pzh6c2nb8w4fy7gmsd"}
    return answer(status, {"error": {**fault, **({} if details is None else {"details": details})}}, **headers)


CREATED = answer(201, PAID)
REPLAYED = answer(200, PAID, x_idempotent_replay="true")
FOUND = answer(200, {"data": [PAID], "has_more": False, "next_cursor": None})
FOUND_PAID = answer(200, {"data": [{**PAID, "status": "succeeded"}], "has_more": False, "next_cursor": None})
NONE_FOUND = answer(200, {"data": [], "has_more": False, "next_cursor": None})
CALLS = {
    "create": {"operation": "payments.create", "body": CREATE},
    "create_or_find": {"operation": "payments.createOrFind", "body": CREATE},
    "get": {"operation": "payments.get", "reference": PAYMENT},
    "refund": {"operation": "refunds.create", "body": {"payment_reference": PAYMENT}},
    "create_strange": {"operation": "payments.create", "body": STRANGE},
    "create_or_find_strange": {"operation": "payments.createOrFind", "body": STRANGE},
}


def is_open(answers):
    """Whether nobody has said what became of a write: what was lost said nothing, and some answers know nothing of the key."""
    opened = False
    for one in answers:
        fault = one.get("body", {}).get("error", {})
        code = fault.get("code") if "message" in fault else None  # without a message it is none of this API
        if one.get("fault") in ("reset", "timeout", "half_body", "too_large") or code in ("IDEMPOTENCY_IN_PROGRESS", "SIGNATURE_REPLAYED"):
            opened = True
        elif "fault" in one:
            opened = opened or one["fault"] in ("html", "empty") and not 300 <= one.get("status", 200) < 500
        elif one["status"] >= 500 and code not in ("GATEWAY_ERROR", "NO_ROUTE_AVAILABLE"):
            opened = True
        elif code in ("WALLET_FROZEN", "ENVIRONMENT_MISMATCH") or code not in (None, "ROUTE_NOT_FOUND") and one["status"] in (202, 404, 409, 422):
            opened = False
    return opened


def retry(name, answers, result, waits=(), call="create", attempts=None, lookups=0, offsets=None, status=None, **options):
    scheme = options.pop("scheme", None)
    opened = options.pop("opened", None)
    return {
        "name": name,
        **({} if scheme is None else {"scheme": scheme}),
        "now": NOW,
        **({} if not options else {"options": options}),
        "call": CALLS[call],
        "answers": answers,
        "expect": {
            "attempts": len(answers) - lookups if attempts is None else attempts,
            "waits_ms": list(waits),
            "lookups": lookups,
            **({} if offsets is None else {"offsets_s": offsets}),
            "result": result,
            **({} if status is None else {"status": status}),
            **({} if result == "ok" else {"outcome_unknown": (call != "get" and is_open(answers[: len(answers) - lookups])) if opened is None else opened}),
        },
    }


def date(offset):
    hours, rest = divmod(8 * 3600 + offset, 3600)
    return f"Fri, 15 Jan 2027 {hours:02}:{rest // 60:02}:{rest % 60:02} GMT"


def retries():
    late = {"date": date(3600)}
    gone = {"date": date(-3600)}
    limited = error(429, "RATE_LIMITED")
    unavailable = error(503, "SERVICE_UNAVAILABLE")
    replayed = error(401, "SIGNATURE_REPLAYED")
    proxy = {"message": "of a proxy, in JSON"}
    return [
        retry("the first answer is good", [CREATED], "ok"),
        retry("a kept answer is a success: 200 instead of 201", [REPLAYED], "ok"),
        # 5xx.
        *[
            retry(f"{status} {code}, then good", [error(status, code), CREATED], "ok", BACKOFF[:1])
            for status, code in [(500, "INTERNAL_ERROR"), (502, "GATEWAY_ERROR"), (503, "NO_ROUTE_AVAILABLE"), (503, "SERVICE_UNAVAILABLE")]
        ],
        retry("four errors, then good: 1, 2, 4 and 8 seconds", [error(503, "SERVICE_UNAVAILABLE")] * 4 + [CREATED], "ok", BACKOFF),
        retry("five errors: there is no sixth attempt", [error(502, "GATEWAY_ERROR")] * 5, "GATEWAY_ERROR", BACKOFF),
        retry("no route for five attempts", [error(503, "NO_ROUTE_AVAILABLE")] * 5, "NO_ROUTE_AVAILABLE", BACKOFF),
        retry("the acquirer's outcome is open: the key is in progress, then its answer is kept", [error(504, "GATEWAY_TIMEOUT"), error(409, "IDEMPOTENCY_IN_PROGRESS"), REPLAYED], "ok", BACKOFF[:2]),
        retry("a code that the client does not know, by its status", [error(500, "SOMETHING_NEW"), CREATED], "ok", BACKOFF[:1]),
        retry("a read", [error(500, "INTERNAL_ERROR"), answer(200, PAID)], "ok", BACKOFF[:1], "get"),
        retry("a refund", [error(503, "SERVICE_UNAVAILABLE"), answer(201, {"uuid": "rfd_01kan5c9w2f8zr4h6t1n3yqekp", "status": "succeeded"})], "ok", BACKOFF[:1], "refund"),
        retry("texts and the largest amount arrive as they were given, and the signature fits their bytes", [unavailable, answer(201, PAID_STRANGE)], "ok", BACKOFF[:1], "create_strange"),
        retry("500 INTERNAL_ERROR for five attempts", [error(500, "INTERNAL_ERROR")] * 5, "INTERNAL_ERROR", BACKOFF),
        retry("504 GATEWAY_TIMEOUT for five attempts", [error(504, "GATEWAY_TIMEOUT")] * 5, "GATEWAY_TIMEOUT", BACKOFF),
        retry("the interface's scheme: the second attempt has another timestamp, though the clock stands still", [unavailable, CREATED], "ok", BACKOFF[:1], scheme="timestamp"),
        # 4xx.
        *[
            retry(f"{status} {code} is final", [error(status, code)], code)
            for status, code in [
                (400, "MALFORMED_JSON"),
                (401, "UNAUTHORIZED"),
                (401, "SIGNATURE_INVALID"),
                (403, "FORBIDDEN"),
                (404, "PAYMENT_NOT_FOUND"),
                (409, "IDEMPOTENCY_CONFLICT"),
                (409, "REFERENCE_ID_DUPLICATE"),
                (413, "PAYLOAD_TOO_LARGE"),
                (422, "VALIDATION_ERROR"),
                (422, "SOMETHING_NEW"),
            ]
        ],
        retry("a kept refusal is final", [error(422, "RISK_REJECTED", {"reference": PAYMENT}, x_idempotent_replay="true")], "RISK_REJECTED"),
        retry("202 RISK_REVIEW is an error that is not tried again", [error(202, "RISK_REVIEW", {"reference": PAYMENT, "status": "pending"})], "RISK_REVIEW"),
        retry("a final error after one that passed", [error(503, "SERVICE_UNAVAILABLE"), error(422, "INVALID_AMOUNT")], "INVALID_AMOUNT", BACKOFF[:1]),
        # 409 IDEMPOTENCY_IN_PROGRESS.
        retry("the first request still runs", [error(409, "IDEMPOTENCY_IN_PROGRESS"), REPLAYED], "ok", BACKOFF[:1]),
        retry("the first request runs for five attempts", [error(409, "IDEMPOTENCY_IN_PROGRESS")] * 5, "IDEMPOTENCY_IN_PROGRESS", BACKOFF),
        # Retry-After.
        retry("429 with Retry-After: at least so long", [error(429, "RATE_LIMITED", retry_after="7"), CREATED], "ok", [[7000, 8400]]),
        retry("503 with Retry-After", [error(503, "SERVICE_UNAVAILABLE", retry_after="3"), CREATED], "ok", [[3000, 3600]]),
        retry("429 without Retry-After", [error(429, "RATE_LIMITED"), CREATED], "ok", BACKOFF[:1]),
        retry("Retry-After that is shorter than the usual wait", [unavailable, error(503, "SERVICE_UNAVAILABLE", retry_after="1"), error(429, "RATE_LIMITED", retry_after="2"), CREATED], "ok", BACKOFF[:3]),
        retry("Retry-After of 0: no less than the usual wait", [error(429, "RATE_LIMITED", retry_after="0"), CREATED], "ok", BACKOFF[:1]),
        *[
            retry(f"Retry-After that is no number of seconds ({text}) counts as none", [error(503, "SERVICE_UNAVAILABLE", retry_after=text), CREATED], "ok", BACKOFF[:1])
            for text in ["soon", "-5", "1e9"]
        ],
        retry("Retry-After as a date, by the service's clock", [error(503, "SERVICE_UNAVAILABLE", retry_after=date(3607), **late), CREATED], "ok", [[7000, 8400]]),
        retry("Retry-After as a date, and no Date: by the client's clock", [error(503, "SERVICE_UNAVAILABLE", retry_after=date(7)), CREATED], "ok", [[7000, 8400]]),
        retry("Retry-After as a date that is over", [error(503, "SERVICE_UNAVAILABLE", retry_after=date(-7), date=date(0)), CREATED], "ok", BACKOFF[:1]),
        retry("Retry-After beyond the deadline gives up at once, with the error", [error(429, "RATE_LIMITED", retry_after="30")], "RATE_LIMITED", deadline_ms=10_000),
        retry("Retry-After of a year, and no deadline given: gives up at once", [error(503, "SERVICE_UNAVAILABLE", retry_after="31536000")], "SERVICE_UNAVAILABLE"),
        retry("Retry-After of more seconds than a number holds: gives up at once", [error(503, "SERVICE_UNAVAILABLE", retry_after="9" * 400)], "SERVICE_UNAVAILABLE"),
        retry("Retry-After of 7 with zeros before it", [error(503, "SERVICE_UNAVAILABLE", retry_after="7".zfill(20)), CREATED], "ok", [[7000, 8400]]),
        retry("a deadline for all attempts: the wait that would end after it is not begun", [error(503, "SERVICE_UNAVAILABLE")] * 2, "SERVICE_UNAVAILABLE", BACKOFF[:1], deadline_ms=2_000),
        # Lost and unreadable answers.
        *[
            retry(f"{name}, then the kept answer", [{"fault": fault}, REPLAYED], "ok", BACKOFF[:1])
            for name, fault in [
                ("a connection that is reset before the answer", "reset"),
                ("no answer in time", "timeout"),
                ("half a body", "half_body"),
                ("a page of HTML with status 200", "html"),
                ("an empty body with status 201", "empty"),
            ]
        ],
        retry("a proxy's page with status 502", [{"fault": "html", "status": 502}, CREATED], "ok", BACKOFF[:1]),
        retry("a proxy's page with status 429", [{"fault": "html", "status": 429}, CREATED], "ok", BACKOFF[:1]),
        retry("a proxy's JSON with status 502", [answer(502, proxy), CREATED], "ok", BACKOFF[:1]),
        retry("five pages of a proxy with status 502", [{"fault": "html", "status": 502}] * 5, "ANSWER_UNREADABLE", BACKOFF),
        retry("a proxy's JSON with status 403 is final", [answer(403, proxy)], "ANSWER_UNREADABLE"),
        retry("a proxy's page with status 403 is final", [{"fault": "html", "status": 403}], "ANSWER_UNREADABLE"),
        retry("five lost answers", [RESET] * 5, "CONNECTION_FAILED", BACKOFF),
        retry("five times no answer in time", [{"fault": "timeout"}] * 5, "TIMED_OUT", BACKOFF),
        retry("five halves of a body", [{"fault": "half_body"}] * 5, "CONNECTION_FAILED", BACKOFF),
        retry("five pages of HTML", [{"fault": "html"}] * 5, "ANSWER_UNREADABLE", BACKOFF),
        *[
            retry(f"five times {what} with status {status}, where a payment is expected", [answer(status, body)] * 5, "ANSWER_UNREADABLE", BACKOFF, opened=True)
            for what, status, body in [
                ("an object that is no payment", 200, {"status": "maintenance"}),
                ("an empty object", 201, {}),
                ("a list", 201, [PAID]),
                ("an error", 200, {"error": {"code": "INTERNAL_ERROR", "message": "no"}}),
            ]
        ],
        retry("five times an empty object with status 201, where a refund is expected", [answer(201, {})] * 5, "ANSWER_UNREADABLE", BACKOFF, "refund", opened=True),
        retry("five times an object that is no refund, where a refund is expected", [answer(201, {"status": "succeeded"})] * 5, "ANSWER_UNREADABLE", BACKOFF, "refund", opened=True),
        retry("an object that is no payment, then the kept answer", [answer(200, {"status": "maintenance"}), REPLAYED], "ok", BACKOFF[:1]),
        retry("a redirect is not followed", [{"fault": "redirect"}], "REDIRECTED"),
        retry("a redirect that keeps the method and the body is not followed", [{"fault": "redirect", "status": 307}], "REDIRECTED"),
        retry("a body of more than 10 MB is not read to its end", [{"fault": "too_large"}], "ANSWER_TOO_LARGE"),
        retry("a lost read", [RESET, answer(200, PAID)], "ok", BACKOFF[:1], "get"),
        retry("five lost reads: nothing was written", [RESET] * 5, "CONNECTION_FAILED", BACKOFF, "get"),
        retry("five times an empty object, where a payment is read", [answer(200, {})] * 5, "ANSWER_UNREADABLE", BACKOFF, "get"),
        retry("a payment that is not there", [error(404, "PAYMENT_NOT_FOUND")], "PAYMENT_NOT_FOUND", call="get"),
        # A lost answer, and then one. What says nothing of the key leaves the outcome as open as it was.
        retry("a lost answer, then a refusal: the key was not used", [RESET, error(422, "INVALID_AMOUNT")], "INVALID_AMOUNT", BACKOFF[:1]),
        retry("a lost answer, then the quota is used up", [RESET] + [limited] * 4, "RATE_LIMITED", BACKOFF),
        retry("a lost answer, then no route", [RESET] + [error(503, "NO_ROUTE_AVAILABLE")] * 4, "NO_ROUTE_AVAILABLE", BACKOFF),
        retry("a lost answer, then the credential has ended", [RESET, error(401, "CLIENT_NOT_FOUND")], "CLIENT_NOT_FOUND", BACKOFF[:1]),
        retry("a lost answer, then the credential may not", [RESET, error(403, "FORBIDDEN")], "FORBIDDEN", BACKOFF[:1]),
        *[
            retry(f"a lost answer, then {code}, which is stored under the key: nothing was done", [RESET, error(403, code)], code, BACKOFF[:1], "refund")
            for code in ("WALLET_FROZEN", "ENVIRONMENT_MISMATCH")
        ],
        retry("a lost answer, then a request that was broken off", [RESET, error(400, "MALFORMED_REQUEST")], "MALFORMED_REQUEST", BACKOFF[:1]),
        retry("a lost answer, then a request that did not arrive in time", [RESET, error(408, "MALFORMED_REQUEST")], "MALFORMED_REQUEST", BACKOFF[:1]),
        retry("createOrFind: a lost answer, then a request that did not arrive in time", [RESET, error(408, "MALFORMED_REQUEST"), FOUND], "ok", BACKOFF[:1], "create_or_find", lookups=1, status="pending"),
        retry("a lost answer, then a proxy's page with status 403", [RESET, {"fault": "html", "status": 403}], "ANSWER_UNREADABLE", BACKOFF[:1]),
        retry("a lost answer, then a proxy's page with status 404", [RESET, {"fault": "html", "status": 404}], "ANSWER_UNREADABLE", BACKOFF[:1]),
        retry("a lost answer, then a service that does not know the path, such as an older one", [RESET, error(404, "ROUTE_NOT_FOUND")], "ROUTE_NOT_FOUND", BACKOFF[:1], "refund"),
        retry("a lost answer, then a refusal without a message, which is none of this API", [RESET, answer(404, {"error": {"code": "NOT_FOUND"}})], "ANSWER_UNREADABLE", BACKOFF[:1]),
        retry("a lost answer, then a redirect", [RESET, {"fault": "redirect"}], "REDIRECTED", BACKOFF[:1]),
        # The signature.
        retry("a replay of our own making: another nonce, at once", [error(401, "SIGNATURE_REPLAYED"), CREATED], "ok", [AT_ONCE]),
        retry("a replay again, though the nonce was new", [error(401, "SIGNATURE_REPLAYED")] * 2, "SIGNATURE_REPLAYED", [AT_ONCE]),
        retry("a replay, then an error: the waits go by the number of the attempt", [replayed, unavailable, CREATED], "ok", [AT_ONCE, BACKOFF[1]]),
        retry("a replay is one of the five attempts", [replayed] + [unavailable] * 4, "SERVICE_UNAVAILABLE", [AT_ONCE] + BACKOFF[1:]),
        retry("a second replay is final, also behind an error", [replayed, unavailable, replayed], "SIGNATURE_REPLAYED", [AT_ONCE, BACKOFF[1]]),
        retry("the interface's scheme: another timestamp, until one is free", [error(401, "SIGNATURE_REPLAYED")] * 3 + [CREATED], "ok", [AT_ONCE] * 3, scheme="timestamp"),
        retry("the interface's scheme: five replays", [error(401, "SIGNATURE_REPLAYED")] * 5, "SIGNATURE_REPLAYED", [AT_ONCE] * 4, scheme="timestamp"),
        # The clock.
        retry("a clock that is an hour late is corrected by the header Date", [error(401, "TIMESTAMP_OUT_OF_WINDOW", **late), CREATED], "ok", [AT_ONCE], offsets=[0, 3600]),
        retry("a clock that is an hour ahead", [error(401, "TIMESTAMP_OUT_OF_WINDOW", **gone), CREATED], "ok", [AT_ONCE], offsets=[0, -3600]),
        retry("the interface's scheme: a clock that is an hour late", [error(401, "TIMESTAMP_OUT_OF_WINDOW", **late), CREATED], "ok", [AT_ONCE], offsets=[0, 3600], scheme="timestamp"),
        retry("a clock that was corrected stays so", [error(401, "TIMESTAMP_OUT_OF_WINDOW", **late), unavailable, CREATED], "ok", [AT_ONCE, BACKOFF[1]], offsets=[0, 3600, 3600]),
        retry("a clock that is a day late", [error(401, "TIMESTAMP_OUT_OF_WINDOW", date="Sat, 16 Jan 2027 08:00:00 GMT"), CREATED], "ok", [AT_ONCE], offsets=[0, 86400]),
        retry("a clock that is a day and a second late is not corrected", [error(401, "TIMESTAMP_OUT_OF_WINDOW", date="Sat, 16 Jan 2027 08:00:01 GMT")], "TIMESTAMP_OUT_OF_WINDOW"),
        retry("the clock is corrected once", [error(401, "TIMESTAMP_OUT_OF_WINDOW", **late)] * 2, "TIMESTAMP_OUT_OF_WINDOW", [AT_ONCE], offsets=[0, 3600]),
        retry("the next call corrects it anew, and not on top of what was corrected", [error(401, "TIMESTAMP_OUT_OF_WINDOW", **late), REPLAYED, error(401, "TIMESTAMP_OUT_OF_WINDOW", **gone), FOUND_PAID], "ok", [AT_ONCE] * 2, "create_or_find", lookups=2, offsets=[0, 3600, 3600, -3600], status="succeeded"),
        retry("no Date to correct it by", [error(401, "TIMESTAMP_OUT_OF_WINDOW")], "TIMESTAMP_OUT_OF_WINDOW"),
        retry("a Date of another day corrects nothing: what is signed for it could be replayed then", [error(401, "TIMESTAMP_OUT_OF_WINDOW", date="Sun, 17 Jan 2027 08:00:00 GMT")], "TIMESTAMP_OUT_OF_WINDOW"),
        retry("a Date in another form than HTTP's", [error(401, "TIMESTAMP_OUT_OF_WINDOW", date="2027-01-15T09:00:00Z")], "TIMESTAMP_OUT_OF_WINDOW"),
        retry("a Date that is none", [error(401, "TIMESTAMP_OUT_OF_WINDOW", date="yesterday")], "TIMESTAMP_OUT_OF_WINDOW"),
        # createOrFind.
        retry("createOrFind: the first answer is good, and nothing is looked up", [CREATED], "ok", call="create_or_find"),
        retry("createOrFind: after five lost answers the payment is found by its reference_id", [RESET] * 5 + [FOUND], "ok", BACKOFF, "create_or_find", lookups=1),
        retry("createOrFind: the outcome stays open for five attempts, and the payment is found", [error(504, "GATEWAY_TIMEOUT")] + [error(409, "IDEMPOTENCY_IN_PROGRESS")] * 4 + [FOUND], "ok", BACKOFF, "create_or_find", lookups=1),
        retry("createOrFind: something sends each request twice, and the payment is found", [replayed] * 2 + [FOUND], "ok", [AT_ONCE], "create_or_find", lookups=1),
        retry("createOrFind: five lost answers, and no such payment: the error of the last attempt", [RESET] * 5 + [NONE_FOUND], "CONNECTION_FAILED", BACKOFF, "create_or_find", lookups=1),
        retry("createOrFind: another key made this payment before", [error(409, "REFERENCE_ID_DUPLICATE", {"reference": PAYMENT}), FOUND], "ok", (), "create_or_find", lookups=1),
        retry("createOrFind: another payment of another amount has the reference_id", [error(409, "REFERENCE_ID_DUPLICATE", {"reference": PAYMENT}), answer(200, {"data": [{**PAID, "amount_minor": 1}], "has_more": False, "next_cursor": None})], "REFERENCE_ID_DUPLICATE", (), "create_or_find", lookups=1),
        *[
            retry(f"createOrFind: the answer is about a payment with another {field}, and the right one is not found", [answer(201, {**PAID, field: other}), NONE_FOUND], "ANSWER_UNREADABLE", (), "create_or_find", lookups=1, opened=True)
            for field, other in [("reference_id", "order-2"), ("amount_minor", 1), ("currency", "USD"), ("payment_method", "qris" if CREATE["payment_method"] != "qris" else "va")]
        ],
        retry("createOrFind: five lost answers, and the lookup gives another order's payment", [RESET] * 5 + [answer(200, {"data": [{**PAID, "reference_id": "order-2"}], "has_more": False, "next_cursor": None})], "CONNECTION_FAILED", BACKOFF, "create_or_find", lookups=1),
        retry("createOrFind: a kept answer, and the lookup gives another order's payment", [REPLAYED, answer(200, {"data": [{**PAID, "reference_id": "order-2", "status": "succeeded"}], "has_more": False, "next_cursor": None})], "ok", (), "create_or_find", lookups=1, status="pending"),
        retry("createOrFind: five lost answers, and the lookup's answer is no list", [RESET] * 5 + [answer(200, {})] * 5, "CONNECTION_FAILED", BACKOFF + BACKOFF, "create_or_find", lookups=5, attempts=5),
        retry("createOrFind: a final error is not looked up", [error(422, "VALIDATION_ERROR")], "VALIDATION_ERROR", (), "create_or_find"),
        retry("createOrFind: a kept answer is old, so the payment is looked up", [REPLAYED, FOUND_PAID], "ok", (), "create_or_find", lookups=1, status="succeeded"),
        retry("createOrFind: a kept answer is given as it is when the lookup fails", [REPLAYED, error(403, "FORBIDDEN")], "ok", (), "create_or_find", lookups=1, status="pending"),
        retry("createOrFind: its own key was used with another body, and the payment is found", [error(409, "IDEMPOTENCY_CONFLICT"), FOUND_PAID], "ok", (), "create_or_find", lookups=1, status="succeeded"),
        retry("createOrFind: its own key was used for something else", [error(409, "IDEMPOTENCY_CONFLICT"), NONE_FOUND], "IDEMPOTENCY_CONFLICT", (), "create_or_find", lookups=1),
        retry("createOrFind: a payment under review is looked up", [error(202, "RISK_REVIEW", {"reference": PAYMENT, "status": "pending"}), FOUND], "ok", (), "create_or_find", lookups=1, status="pending"),
        retry("createOrFind: a payment under review that is not found", [error(202, "RISK_REVIEW", {"reference": PAYMENT, "status": "pending"}), NONE_FOUND], "RISK_REVIEW", (), "create_or_find", lookups=1),
        retry("createOrFind: a payment that was refused is not looked up", [error(422, "RISK_REJECTED", {"reference": PAYMENT})], "RISK_REJECTED", (), "create_or_find"),
        retry("createOrFind: no acquirer took the payment, so nobody could pay what is found", [error(502, "GATEWAY_ERROR")] * 5, "GATEWAY_ERROR", BACKOFF, "create_or_find"),
        retry("createOrFind: a lost answer, then the credential may not: the payment is found", [RESET, error(403, "FORBIDDEN"), FOUND], "ok", BACKOFF[:1], "create_or_find", lookups=1),
        retry("createOrFind: the payment stands behind another one in the list", [RESET] * 5 + [answer(200, {"data": [{**PAID, "reference_id": "order-2", "status": "failed"}, PAID], "has_more": False, "next_cursor": None})], "ok", BACKOFF, "create_or_find", lookups=1, status="pending"),
        retry("createOrFind: the deadline is over, and the payment is looked up all the same", [RESET] * 2 + [FOUND], "ok", BACKOFF[:1], "create_or_find", lookups=1, status="pending", deadline_ms=2_000),
        retry("createOrFind: the lookup has two seconds of its own, enough to be tried again", [RESET] * 2 + [error(503, "SERVICE_UNAVAILABLE"), FOUND], "ok", BACKOFF[:1] * 2, "create_or_find", lookups=2, status="pending", deadline_ms=2_000),
        retry("createOrFind: the lookup asks for exactly this reference_id", [RESET] * 5 + [answer(200, {"data": [PAID_STRANGE], "has_more": False, "next_cursor": None})], "ok", BACKOFF, "create_or_find_strange", lookups=1, status="pending"),
        retry("create never looks up: it throws, and the outcome is open", [RESET] * 5, "CONNECTION_FAILED", BACKOFF),
    ]


# validation.json


def validation():
    methods = ", ".join(f'"{one}"' for one in ["qris", "va", "card", "ewallet", "bank_transfer"])
    amount = "amount_minor must be a positive integer within the limit for one transaction."

    def vector(name, operation, body, code, message, field, value):
        return {"name": name, "call": {"operation": operation, "body": body}, "error": {"code": code, "message": message, "field": field, "value": value}}

    def payment(name, change, field, value, rule, operation="payments.create"):
        return vector(name, operation, {**CREATE, **change}, "VALIDATION_ERROR", f"{field}: {rule}", field, value)

    def left_out(field):
        rest = {name: value for name, value in CREATE.items() if name != field}
        return vector(f"{field}: left out", "payments.create", rest, "VALIDATION_ERROR", f"{field}: is required", field, None)

    def of_amount(name, value, shown=None):
        return vector(f"amount_minor: {name}", "payments.create", {**CREATE, "amount_minor": value}, "INVALID_AMOUNT", amount, "amount_minor", value if shown is None else shown)

    def taken(name, change=None, operation="payments.create", body=CREATE):
        """A body that is sent: the service takes it, or refuses it by what it knows of the merchant."""
        return {"name": f"sent: {name}", "call": {"operation": operation, "body": {**body, **(change or {})}}}

    refund = {"payment_reference": PAYMENT}
    return [
        of_amount("zero", 0),
        of_amount("negative", -1),
        of_amount("a fraction", 1.5),
        of_amount("a text", "150"),
        of_amount("true", True),
        of_amount("beyond what every JSON parser reads exactly", 9007199254740992),
        of_amount("an array", [1], "(array)"),
        *(left_out(name) for name in ("currency", "payment_method", "reference_id")),
        payment("currency: a number", {"currency": 5}, "currency", 5, "must be a string"),
        payment("payment_method: none of the five", {"payment_method": "cash"}, "payment_method", "cash", f"must be one of {methods}"),
        payment("reference_id: empty", {"reference_id": ""}, "reference_id", "", "must have 1 to 64 characters"),
        payment("reference_id: a number", {"reference_id": 1001}, "reference_id", 1001, "must be a string"),
        payment("reference_id: 65 characters", {"reference_id": "x" * 65}, "reference_id", "x" * 65, "must have 1 to 64 characters"),
        payment("reference_id: NUL", {"reference_id": "a\0"}, "reference_id", "a\0", "must be Unicode text without NUL"),
        payment("description: 256 code points, shown as far as 100", {"description": "☕" * 256}, "description", "☕" * 100 + "…", "must have 0 to 255 characters"),
        payment("description: 256 code points of two units in UTF-16, shown as far as 100", {"description": "a" + "😀" * 255}, "description", "a" + "😀" * 99 + "…", "must have 0 to 255 characters"),
        payment("description: true", {"description": True}, "description", True, "must be a string"),
        payment("expires_in: 59", {"expires_in": 59}, "expires_in", 59, "must be at least 60"),
        payment("expires_in: 86401", {"expires_in": 86401}, "expires_in", 86401, "must be at most 86400"),
        payment("expires_in: a text", {"expires_in": "60"}, "expires_in", "60", "must be a whole number"),
        payment("expires_in: a fraction", {"expires_in": 60.5}, "expires_in", 60.5, "must be a whole number"),
        payment("customer: a text", {"customer": "Sari"}, "customer", "Sari", "must be an object"),
        payment("customer: an empty name", {"customer": {"name": ""}}, "customer.name", "", "must have 1 to 120 characters"),
        payment("customer: an email without @", {"customer": {"email": "sari.example"}}, "customer.email", "sari.example", "must have exactly one @"),
        payment("customer: a phone without +", {"customer": {"phone": "08123456789"}}, "customer.phone", "08123456789", "must be + and 8 to 15 digits"),
        payment("return_url: not https", {"return_url": "http://shop.example"}, "return_url", "http://shop.example", "must be an https address"),
        payment("metadata: a text", {"metadata": "a"}, "metadata", "a", "must be an object of texts"),
        payment("metadata: a number for a text", {"metadata": {"order": 1001}}, "metadata.order", 1001, "must be a string"),
        payment("metadata: a name of 41 characters", {"metadata": {"k" * 41: "x"}}, f"metadata.{'k' * 41}", "x", "must have 1 to 40 characters"),
        payment("metadata: 501 characters", {"metadata": {"a": "x" * 501}}, "metadata.a", "x" * 100 + "…", "must have 0 to 500 characters"),
        payment("metadata: 21 pairs", {"metadata": {f"k{n}": "x" for n in range(21)}}, "metadata", "(object)", "must have at most 20 pairs"),
        payment("the first field of the table prevails", {"reference_id": "", "expires_in": 5, "payment_method": "cash"}, "payment_method", "cash", f"must be one of {methods}"),
        vector("refund: no amount", "refunds.create", {**refund, "amount_minor": 0}, "INVALID_AMOUNT", amount, "amount_minor", 0),
        vector("refund: a reason of 256 characters", "refunds.create", {**refund, "reason": "x" * 256}, "VALIDATION_ERROR", "reason: must have 0 to 255 characters", "reason", "x" * 100 + "…"),
        taken("the least", {"amount_minor": 1, "reference_id": "x", "description": "", "expires_in": 60, "metadata": {}}),
        taken("the most, in code points", {"amount_minor": 9007199254740991, "reference_id": "😀" * 64, "description": "😀" * 255, "expires_in": 86400}),
        taken("the most metadata, in code points", {"metadata": {f"{n:02}" + "😀" * 38: "😀" * 500 for n in range(20)}}),
        taken("the shortest customer", {"customer": {"name": "x", "email": "a@b", "phone": "+12345678"}}),
        taken("the longest customer", {"customer": {"name": "😀" * 120, "email": "a@" + "b" * 252, "phone": "+123456789012345"}}),
        taken("null for every field that is optional", {name: None for name in ("description", "expires_in", "customer", "return_url", "metadata")}),
        taken("a currency that this merchant may have", {"currency": "USD"}),
        taken("a return_url of the sandbox", {"return_url": "http://localhost:3000/thanks?order=1001"}),
        *[taken(f"by {method}", {"payment_method": method}) for method in ["qris", "va", "card", "ewallet", "bank_transfer"]],
        taken("a refund of the rest", None, "refunds.create", refund),
        taken("a refund of the least", {"amount_minor": 1, "reason": "😀" * 255, "currency": "IDR"}, "refunds.create", refund),
    ]


FILES = {"signing.json": signing, "message-signatures.json": message_signatures, "webhooks.json": webhooks, "handling.json": handling, "retries.json": retries, "validation.json": validation}


def written(vectors):
    """As JSON with a line for each field of a vector."""
    fields = (",\n    ".join(f"{json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}" for key, value in vector.items()) for vector in vectors)
    return "[\n" + ",\n".join(f"  {{\n    {one}\n  }}" for one in fields) + "\n]\n"


def main():
    wrong = []
    for name, make in FILES.items():
        vectors = make()
        names = [vector["name"] for vector in vectors]
        assert len(set(names)) == len(names), f"{name}: a name stands twice"
        text = written(vectors)
        path = HERE / name
        if sys.argv[1:] == ["--check"]:
            if not path.exists() or path.read_text("utf-8") != text:
                wrong.append(name)
        else:
            path.write_text(text, "utf-8")
    if wrong:
        sys.exit(f"not as this script writes them: {', '.join(wrong)}")


if __name__ == "__main__":
    main()
