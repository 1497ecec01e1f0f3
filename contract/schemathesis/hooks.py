"""Signs what Schemathesis sends to /v1, and fills in what depends on the state of the service.

Credentials come from the environment: CLIENT_ID and SECRET, of a sandbox.
"""

import hashlib
import hmac
import itertools
import os
import re
import time
import uuid

import requests
import schemathesis
from schemathesis.core.parameters import ParameterLocation

CLIENT_ID = os.environ["CLIENT_ID"]
SECRET = os.environ["SECRET"].encode()

IDENTITY = "[a-z]{3}_[0-7][0-9a-hjkmnp-tv-z]{25}"
CURSORS = ("starting_after", "after", "seen")
DAYS = re.compile("since|.*_(from|to)")
# What the simulated acquirers take at most, in every currency.
AMOUNT_MAX = 999_999_999_999
# White space as JSON Schema has it, which is not what Python has.
ADDRESS = "[hH][tT][tT][pP][sS]://[^\x00-\x20\x7f\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff\\\\]+"

RETURN_ADDRESS = r"(https://[!$-.0-;=A-\[\]_a-z~]+|http://(localhost|127\.0\.0\.1|\[::1\])(:\d{1,5})?)([/?#][!#-;=?-\[\]_a-z~]*)?"

# A signature is good once. Equal bodies within a second need timestamps of their own, within 300 seconds of now.
spread = itertools.cycle(range(-100, 101))


class Signature(requests.auth.AuthBase):
    def __call__(self, request):
        body = request.body or b""
        if isinstance(body, str):
            body = body.encode()
        timestamp = str(int(time.time()) + next(spread))
        request.headers["Authorization"] = f"Bearer {CLIENT_ID}"
        request.headers["X-Timestamp"] = timestamp
        signed = timestamp.encode() + b"." + body
        request.headers["X-Signature"] = hmac.new(SECRET, signed, hashlib.sha256).hexdigest()
        return request


schemathesis.auth.set_from_requests(Signature())


@schemathesis.deserializer("text/csv")
def csv(context, response):
    return response.content.decode()


def is_form(value, form):
    return isinstance(value, str) and re.fullmatch(form, value) is not None


def plain(value):
    """JSON Schema counts 1.0 as an integer. The interface takes numbers without a fraction alone."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, dict):
        return {name: plain(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [plain(inner) for inner in value]
    return value


@schemathesis.hook
def before_call(context, case, kwargs):
    """Valid values that this service has no use for become ones that it has."""
    headers = case.meta.components.get(ParameterLocation.HEADER) if case.meta else None
    if "Idempotency-Key" in (case.headers or {}) and (headers is None or headers.mode.is_positive):
        case.headers["Idempotency-Key"] = str(uuid.uuid4())  # one key for one intent
    for fields in (case.path_parameters, case.query):
        if isinstance(fields, dict):
            usable(fields)
    if isinstance(case.body, dict):
        body = plain(case.body)
        usable(body)
        # A body that is set is judged anew: one that was left out must stay so.
        case.body = body


def usable(fields):
    for name in CURSORS:
        # A well-formed cursor of no object is refused, and which objects there are no contract tells.
        if is_form(fields.get(name), IDENTITY + r"(,.*)?|[1-9]\d{0,3}|\d{1,18}-\d{1,3}"):
            del fields[name]
    for name in filter(DAYS.fullmatch, fields):
        # No pattern knows how many days a month has.
        if is_form(fields.get(name), r"\d{4}-\d\d-(29|3[01])(T.*)?"):
            fields[name] = fields[name][:8] + "28" + fields[name][10:]
    address = fields.get("callback_url")
    if is_form(address, ADDRESS) and len(address) <= 2048:
        fields["callback_url"] = "https://example.com/hook"  # it must be public
    if is_form(fields.get("return_url"), RETURN_ADDRESS):
        # What stands before the path is a host and a port: that is more than a pattern tells.
        fields["return_url"] = re.sub("^https?://[^/?#]+", "https://e.com", fields["return_url"])
    if is_form(fields.get("currency"), "[A-Z]{3}"):
        fields["currency"] = "IDR"
    least, most = fields.get("minimum_minor"), fields.get("maximum_minor")
    if type(least) is int and type(most) is int and 0 < most < least:
        fields["minimum_minor"], fields["maximum_minor"] = most, least
    amount = fields.get("amount_minor")
    if type(amount) is int and AMOUNT_MAX < amount < 2**53:
        fields["amount_minor"] = AMOUNT_MAX
    if re.fullmatch(r"\d|1\d|2[0-5]", str(fields.get("wait"))):
        fields["wait"] = 0
