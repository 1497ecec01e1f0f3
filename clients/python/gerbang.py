"""The client of the Gerbang payment API for Python 3.9 and later: one file, the standard library alone.

    from gerbang import Gerbang

    gerbang = Gerbang()  # GERBANG_CLIENT_ID, GERBANG_SECRET, GERBANG_BASE_URL
    payment = gerbang.payments.create(amount_minor=7500000, currency="IDR", payment_method="qris", reference_id="order-1001")

Fields are named as in the API, answers are dicts, and every error is a GerbangError. Each call is signed anew for every attempt and
keeps one idempotency key. README.md says more. One client may be used by many threads and after a fork.
"""

from __future__ import annotations

import base64
import email.utils
import functools
import hashlib
import hmac
import http.client
import inspect
import io
import json
import logging
import os
import random
import re
import secrets as _random
import select
import socket
import ssl
import threading
import time
from typing import Any, Callable, Dict, Iterable, Iterator, List, Mapping, Optional, Protocol, Sequence, Tuple, TypedDict, Union, cast
from urllib.parse import quote, urlencode, urlsplit

__version__ = "0.1.0"
__all__ = ["EventBusyError", "EventStore", "Gerbang", "GerbangError", "WebhookError", "Webhooks", "webhooks"]

# An answer is one object, unless it is a list or a statement: a hundred payments with all that a merchant may write to them have some megabytes.
ANSWER_MAX_BYTES = 1_048_576
LIST_MAX_BYTES = 10_000_000
# Values take many times the memory of their text. A page of a list has some thousand.
VALUES_MAX = 50_000
LEVELS_MAX = 64
MESSAGE_MAX = 1_000
ATTEMPTS_MAX = 5
WINDOW_SECONDS = 300
# Timestamps of the interface's own scheme are moved by so much at most: the clocks may differ by the rest of the window.
SPREAD_SECONDS = 240
# A clock that is further off is not corrected by an answer.
CORRECTION_MAX_SECONDS = 86_400
# What a lookup has at least, where less is left of the deadline.
LOOKUP_MIN_SECONDS = 2.0
# A copy of an event waits for the one before it, well within the ten seconds that an answer may take.
CLAIM_ASK_EVERY_SECONDS = 0.25
CLAIM_WAIT_MAX_SECONDS = 5

_log = logging.getLogger("gerbang")
_chance = random.SystemRandom()  # a program may seed the module's own, and then each of its processes would draw the same
_clock = time  # what attempts are dated by and wait with; tests put another in its place
Json = Dict[str, Any]
_Hmac = hmac.HMAC


class Payment(TypedDict, total=False):
    """A payment; `instructions` and `checkout_url` say how the payer pays. `sample` is in an event that was triggered by hand."""

    reference: str
    status: str
    amount_minor: int
    currency: str
    exponent: int
    fee_minor: int
    net_minor: int
    refunded_minor: int
    payment_method: str
    reference_id: str
    description: Optional[str]
    gateway_code: Optional[str]
    environment: str
    risk: Json
    instructions: Optional[Json]
    checkout_url: str
    expires_at: str
    return_url: Optional[str]
    payment_link: str
    metadata: Dict[str, str]
    settlement: Json
    settlement_uuid: Optional[str]
    created_at: str
    updated_at: str
    paid_at: str
    canceled_at: str
    reason: Optional[str]
    sample: bool


class Refund(TypedDict, total=False):
    """A refund; `remaining_refundable_minor` is there when it was just created."""

    uuid: str
    payment_reference: str
    reference_id: str
    status: str
    amount_minor: int
    currency: str
    exponent: int
    remaining_refundable_minor: int
    reason: Optional[str]
    environment: str
    created_at: str
    completed_at: Optional[str]
    settlement_uuid: Optional[str]
    sample: bool


class Event(TypedDict, total=False):
    """What a webhook delivers. `data` is the object as the API shows it. The list of types grows: ignore unknown ones."""

    id: str
    type: str
    created_at: str
    environment: str
    api_version: str
    data: Json


class Page(TypedDict):
    """One page of a list."""

    data: List[Json]
    has_more: bool
    next_cursor: Optional[str]


# Errors


_ADVICE = {
    "UNAUTHORIZED": "Check client_id.",
    "CLIENT_NOT_FOUND": "Check the pair of client_id and secret, and that it was not replaced.",
    "SIGNATURE_INVALID": "Check that the secret belongs to this client_id, and that base_url is the address the service knows itself by. In the sandbox, sandbox.requests.doctor(request_id) says what differs.",
    "TIMESTAMP_OUT_OF_WINDOW": "Synchronise this machine's clock.",
    "SIGNATURE_REPLAYED": "Something between here and the service sends requests twice: a write may have been done. Repeat it with the same idempotency_key.",
    "FORBIDDEN": "Use a credential that has the scope, from an address that it allows.",
    "ENVIRONMENT_MISMATCH": "Use the key of the environment that the object is in.",
    "MERCHANT_SUSPENDED": "Contact support.",
    "VALIDATION_ERROR": "Correct the field in details.field.",
    "INVALID_AMOUNT": "Send whole minor units within your limit, as an int.",
    "CURRENCY_NOT_SUPPORTED": "Use an enabled currency, or ask for this one.",
    "PAYMENT_METHOD_UNAVAILABLE": "Offer the payer another method.",
    "REFERENCE_ID_DUPLICATE": "details.reference is that payment: read it, or use a new reference_id.",
    "IDEMPOTENCY_KEY_INVALID": "Leave the key out: the client makes one.",
    "IDEMPOTENCY_CONFLICT": "Use a new key for a new intent.",
    "IDEMPOTENCY_IN_PROGRESS": "Ask again later with the same idempotency_key.",
    "PAYMENT_NOT_CANCELABLE": "Read its status; refund it when it was paid.",
    "PAYMENT_NOT_REFUNDABLE": "Read its status, and wait for the payment or for the end of the dispute.",
    "REFUND_EXCEEDS_PAYMENT": "Refund no more than details.remaining_refundable_minor.",
    "PAYMENT_EXPIRED": "Create a new payment with a new reference_id.",
    "DISPUTE_LOCKED": "Wait until the dispute is decided, or until more payments come in.",
    "INSUFFICIENT_FUNDS": "Refund less, or wait until more payments come in, and then use a new idempotency_key.",
    "GATEWAY_TIMEOUT": "The outcome is open: do not take it for a failure. Repeat with the same idempotency_key, or wait for the webhook.",
    "RISK_REJECTED": "Ask the payer for another way to pay.",
    "RISK_REVIEW": "The payment exists and is pending (details.reference). Wait for the webhook, and do not create it again.",
    "RATE_LIMITED": "Make fewer calls a minute.",
    "CONNECTION_FAILED": "The outcome of a write is open: repeat with the same idempotency_key, or look the object up.",
    "TIMED_OUT": "The outcome of a write is open: repeat with the same idempotency_key, or look the object up.",
    "ANSWER_UNREADABLE": "Something between here and the service answered in its place, or cut the answer. The outcome of a write is open.",
    "ANSWER_TOO_LARGE": "Something between here and the service answered in its place. The outcome of a write is open.",
    "STATE_NOT_REACHED": "Read details.status. Unless it is final, go on by webhook, or wait longer.",
    "REDIRECTED": "Set base_url to where the API is: redirects are not followed, since the address is signed.",
}


_AGAIN = "Try again later with the same idempotency_key."

# Of a read, which changes nothing and has no key.
_ADVICE_OF_READ = {
    "CONNECTION_FAILED": "Nothing was changed. Try again.",
    "TIMED_OUT": "Nothing was changed. Try again.",
    "ANSWER_UNREADABLE": "Something between here and the service answered in its place, or cut the answer. Nothing was changed.",
    "ANSWER_TOO_LARGE": "Something between here and the service answered in its place. Nothing was changed.",
    "SIGNATURE_REPLAYED": "Something between here and the service sends requests twice.",
}

# Of a page with a status of refusal: what gave it did not pass the call on.
_ADVICE_OF_FOREIGN_REFUSAL = "Something in the service's place refused the call, such as a proxy. Check base_url."


class GerbangError(Exception):
    """What went wrong: an error of the API with its `code`, or one of the way to it.

    `status` is the HTTP status and None where no answer came, `request_id` names the request for support, `details` is a dict,
    `retryable` says whether the same call with the same idempotency key may succeed later, `advice` says what to do.
    `outcome_unknown`: a write may have been done, though nobody said so; never take it for failed. `idempotency_key` is the key that the
    call carried, `attempts` is how often it was sent.
    """

    def __init__(
        self,
        code: str,
        message: str,
        *,
        status: Optional[int] = None,
        request_id: Optional[str] = None,
        details: Optional[Json] = None,
        retryable: bool = False,
        advice: Optional[str] = None,
    ) -> None:
        super().__init__(code, message)
        self.code = code
        self.message = message
        self.status = status
        self.request_id = request_id
        self.details = details or {}
        self.retryable = retryable
        default = _AGAIN if retryable else "See the errors in the docs of your service, at /docs/errors."
        self.advice = advice or _ADVICE.get(code, default)
        self.outcome_unknown = False
        self.idempotency_key: Optional[str] = None
        self.attempts = 0
        self._retry_after: Optional[float] = None
        self._date: Optional[str] = None

    def __str__(self) -> str:
        where = "".join([f", status {self.status}" if self.status else "", f", request {self.request_id}" if self.request_id else ""])
        return f"{self.code}: {self.message}" + (f" ({where[2:]})" if where else "")


def _of_read(error: GerbangError) -> GerbangError:
    """The error of a call that reads, with the advice for one."""
    error.advice = _ADVICE_OF_READ.get(error.code, "Try again later." if error.advice == _AGAIN else error.advice)
    return error


def _opens(error: GerbangError) -> bool:
    """Whether an attempt leaves open whether a write was done."""
    if error.code in ("CONNECTION_FAILED", "TIMED_OUT", "ANSWER_TOO_LARGE", "IDEMPOTENCY_IN_PROGRESS", "SIGNATURE_REPLAYED"):
        return True
    status = error.status or 0
    undone = error.code in ("GATEWAY_ERROR", "NO_ROUTE_AVAILABLE")
    return (status >= 500 and not undone) or (error.code == "ANSWER_UNREADABLE" and status < 300)


def _closes(error: GerbangError) -> bool:
    """Whether the answer says what became of the key, also of an attempt before. Other refusals are of answers from before it is read."""
    is_before = error.code in ("ANSWER_UNREADABLE", "ROUTE_NOT_FOUND")
    return error.code in ("WALLET_FROZEN", "ENVIRONMENT_MISMATCH") or (not is_before and error.status in (202, 404, 409, 422))


class WebhookError(GerbangError):
    """A delivery that does not verify. `step` is the step that failed; answer 401 and do nothing else."""

    def __init__(self, step: str, message: str) -> None:
        super().__init__(step, message, advice="Answer 401, and do nothing else with the delivery.")
        self.step = step


# What the API would refuse: the same codes and words, before anything is sent. Only rules that never change with the merchant.


_METHODS = ("qris", "va", "card", "ewallet", "bank_transfer")


class EventBusyError(GerbangError):
    """Somebody else handles the event just now: answer 503, and nothing is lost. It comes again."""

    def __init__(self) -> None:
        super().__init__("event_busy", "Another process handles this event just now.", advice="Answer 503: it comes again.")

    def __reduce__(self) -> Any:
        return (EventBusyError, ())


def _invalid(field: str, value: Any, rule: str) -> GerbangError:
    field = str(_shown(field))
    return GerbangError("VALIDATION_ERROR", f"{field}: {rule}", status=422, details={"field": field, "value": _shown(value)})


def _shown(value: Any) -> Any:
    if isinstance(value, str):
        return value if len(value) <= 100 else value[:100] + "…"
    if value is None or isinstance(value, (bool, int, float)):
        return value
    return "(array)" if isinstance(value, (list, tuple)) else "(object)"


def _is_text(value: str) -> bool:
    return "\0" not in value and not _has_half(value)


def _has_half(value: str) -> bool:
    """Whether half a character is in it, which no UTF-8 can write."""
    return any("\ud800" <= character <= "\udfff" for character in value)


Rule = Callable[[str, Any], None]


def _string(field: str, value: Any) -> None:
    if not isinstance(value, str):
        raise _invalid(field, value, "must be a string")


def _text(least: int, most: int) -> Rule:
    def check(field: str, value: Any) -> None:
        _string(field, value)
        if not least <= len(value) <= most:
            raise _invalid(field, value, f"must have {least} to {most} characters")
        if not _is_text(value):
            raise _invalid(field, value, "must be Unicode text without NUL")

    return check


def _matching(pattern: str, rule: str, first: Rule) -> Rule:
    def check(field: str, value: Any) -> None:
        first(field, value)
        if not re.fullmatch(pattern, value):
            raise _invalid(field, value, rule)

    return check


def _whole(least: int, most: int) -> Rule:
    def check(field: str, value: Any) -> None:
        if not isinstance(value, int) or isinstance(value, bool):
            raise _invalid(field, value, "must be a whole number")
        if value < least:
            raise _invalid(field, value, f"must be at least {least}")
        if value > most:
            raise _invalid(field, value, f"must be at most {most}")

    return check


def _amount(field: str, value: Any) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= 9_007_199_254_740_991:
        message = f"{field} must be a positive integer within the limit for one transaction."
        raise GerbangError("INVALID_AMOUNT", message, status=422, details={"field": field, "value": _shown(value)})


def _currency(field: str, value: Any) -> None:
    _string(field, value)
    if not re.fullmatch("[A-Z]{3}", value):
        raise GerbangError("CURRENCY_NOT_SUPPORTED", f"{field}: must be a code of ISO 4217, in upper case", status=422)


def _one_of(*values: str) -> Rule:
    def check(field: str, value: Any) -> None:
        if value not in values:
            raise _invalid(field, value, "must be one of " + ", ".join(f'"{one}"' for one in values))

    return check


def _object(rules: Mapping[str, Rule]) -> Rule:
    def check(field: str, value: Any) -> None:
        if not isinstance(value, dict):
            raise _invalid(field, value, "must be an object")
        for name, rule in rules.items():
            if value.get(name) is not None:
                rule(f"{field}.{name}", value[name])

    return check


def _metadata(field: str, value: Any) -> None:
    if not isinstance(value, dict):
        raise _invalid(field, value, "must be an object of texts")
    if len(value) > 20:
        raise _invalid(field, value, "must have at most 20 pairs")
    for name, text in value.items():
        if not isinstance(name, str):
            raise _invalid(f"{field}.{name}", name, "must be a string")
        if not 1 <= len(name) <= 40:
            raise _invalid(f"{field}.{name}", text, "must have 1 to 40 characters")
        _text(0, 500)(f"{field}.{name}", text)


_EMAIL = _matching("[^@]*@[^@]*", "must have exactly one @", _text(3, 254))
_PHONE = _matching(r"\+[0-9]{8,15}", "must be + and 8 to 15 digits", _string)
_RETURN_URL = _matching(r"(?:https://[^/?#]+|http://(?:localhost|127\.0\.0\.1|\[::1\])(?::[0-9]{1,5})?)(?:[/?#].*)?", "must be an https address", _string)
# In the order in which errors prevail; those with an asterisk are required.
_CREATE_PAYMENT: Dict[str, Rule] = {
    "amount_minor*": _amount,
    "currency*": _currency,
    "payment_method*": _one_of(*_METHODS),
    "reference_id*": _text(1, 64),
    "description": _text(0, 255),
    "expires_in": _whole(60, 86_400),
    "customer": _object({"name": _text(1, 120), "email": _EMAIL, "phone": _PHONE}),
    "return_url": _RETURN_URL,
    "metadata": _metadata,
}
_CREATE_REFUND: Dict[str, Rule] = {"payment_reference*": _string, "amount_minor": _amount, "reason": _text(0, 255)}
_CANCEL: Dict[str, Rule] = {"reason": _text(0, 255)}
_CREATE_LINK: Dict[str, Rule] = {
    "amount_minor": _amount,
    "currency*": _currency,
    "description": _text(0, 255),
    "expires_in": _whole(60, 31_536_000),
    "payment_expires_in": _whole(60, 86_400),
    "return_url": _RETURN_URL,
    "metadata": _metadata,
}
_ADVANCE: Dict[str, Rule] = {"seconds*": _whole(1, 31_622_400)}


def _checked(body: Json, rules: Mapping[str, Rule]) -> Json:
    """The body without what is None. Raises what the API would answer to the first field that breaks a rule."""
    for name, rule in rules.items():
        field = name.rstrip("*")
        value = body.get(field)
        if value is not None or field != name and rule is _amount:
            rule(field, value)
        elif field != name:
            raise _invalid(field, value, "is required")
    return {name: value for name, value in body.items() if value is not None}


_NOT_FOUND = {"pay": ("PAYMENT_NOT_FOUND", "No such payment."), "rfd": ("REFUND_NOT_FOUND", "No such refund.")}


def _id(kind: str, value: Any) -> str:
    """An identity for a path. A malformed one names nothing, as the API would answer."""
    if isinstance(value, str) and re.fullmatch(f"{kind}_[0-7][0-9a-hjkmnp-tv-z]{{25}}", value):
        return value
    code, message = _NOT_FOUND.get(kind, ("OBJECT_NOT_FOUND", "No such object."))
    raise GerbangError(code, message, status=404, advice=f"Identities of this kind begin with {kind}_.")


def _json_bytes(body: Json) -> bytes:
    try:
        return json.dumps(body, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode("utf-8")
    except (TypeError, ValueError, RecursionError) as error:  # UnicodeEncodeError is a ValueError
        message = "The body must be one JSON object in UTF-8 without duplicate keys, as application/json."
        raise GerbangError("MALFORMED_JSON", message, status=400, advice=f"{type(error).__name__}: check the values.") from None


# Signing


class _Secret:
    """A secret that shows itself to nobody: not in a repr, a trace, a pickle."""

    __slots__ = ("__text",)

    def __init__(self, text: str) -> None:
        self.__text = text

    def __bool__(self) -> bool:
        return isinstance(self.__text, str) and self.__text != ""

    def hmac(self, *parts: bytes) -> _Hmac:
        """Keyed with the whole text."""
        return _hmac(self.__text.encode("utf-8"), parts)

    def standard_hmac(self, *parts: bytes) -> Optional[_Hmac]:
        """Keyed with the bytes behind whsec_, as Standard Webhooks has it; None where there are none."""
        if not self.__text.startswith("whsec_"):
            return None
        text = self.__text[len("whsec_") :]
        try:
            key = base64.b64decode(text + "=" * (-len(text) % 4), validate=True)  # a copy may lack its end
        except ValueError:
            return None
        return _hmac(key, parts) if key else None

    def __repr__(self) -> str:
        return "<secret>"

    def __reduce__(self) -> Any:
        raise TypeError("a secret is not pickled")


def _hmac(key: bytes, parts: Iterable[bytes]) -> _Hmac:
    signature = hmac.new(key, digestmod=hashlib.sha256)
    for part in parts:
        signature.update(part)
    return signature


def _message_headers(
    secret: _Secret, client_id: str, method: str, url: str, body: bytes, key: Optional[str], created: int, nonce: str
) -> Dict[str, str]:
    """The headers of RFC 9421: Content-Digest, Signature-Input, Signature."""
    digest = f"sha-256=:{_base64(hashlib.sha256(body).digest())}:"
    covered = [("@method", method), ("@target-uri", url), ("content-digest", digest)]
    if key is not None:
        covered.append(("idempotency-key", key))
    names = " ".join(f'"{name}"' for name, _ in covered)
    parameters = f'({names});created={created};keyid="{client_id}";nonce="{nonce}"'
    base = "\n".join([*(f'"{name}": {value}' for name, value in covered), f'"@signature-params": {parameters}'])
    signature = _base64(secret.hmac(base.encode("ascii")).digest())
    return {"Content-Digest": digest, "Signature-Input": f"sig1={parameters}", "Signature": f"sig1=:{signature}:"}


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")


class _Stamps:
    """Timestamps of the interface's own scheme that this process has used: two equal requests of one second need two.

    Threads share it without a lock: a process that is forked while another thread holds one would wait for it for ever.
    """

    def __init__(self) -> None:
        self._used: Dict[Tuple[bytes, int], object] = {}
        self._pruned_at = 0

    def take(self, request: bytes, now: int, anywhere: bool) -> int:
        """The free timestamp that is nearest to now; `anywhere`: a random one, since others use the near ones as well."""
        if now - self._pruned_at > WINDOW_SECONDS:
            self._pruned_at = now
            for use in self._used.copy():
                if now - use[1] > 2 * WINDOW_SECONDS:
                    self._used.pop(use, None)
        order = sorted(range(-SPREAD_SECONDS, SPREAD_SECONDS + 1), key=abs)
        if anywhere:
            _chance.shuffle(order)
        mine = object()
        for offset in order:
            # Of two threads that ask at once, the dict keeps the object of one.
            if self._used.setdefault((request, now + offset), mine) is mine:
                return now + offset
        raise GerbangError("SIGNATURE_REPLAYED", "Every timestamp within the window was used for this very request.", status=401)


# The way to the service


class _DeadlineReader(io.RawIOBase):
    """Reads from a socket until a moment, however slowly the bytes drip."""

    def __init__(self, sock: socket.socket, until: float) -> None:
        self._sock = sock
        self._until = until
        self._raw = sock.makefile("rb", buffering=0)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> Optional[int]:
        left = self._until - time.monotonic()
        if left <= 0:
            raise socket.timeout("timed out")
        self._sock.settimeout(left)
        return cast(Optional[int], cast(Any, self._raw).readinto(buffer))

    def close(self) -> None:
        self._raw.close()
        super().close()


class _Answer:
    def __init__(self, status: int, headers: http.client.HTTPMessage, body: bytes) -> None:
        self.status = status
        self.headers = headers
        self.body = body
        self.object: Json = {}
        self.attempts = 0

    @property
    def request_id(self) -> Optional[str]:
        return _request_id(self.headers.get("x-request-id"))


def _request_id(value: Any) -> Optional[str]:
    return value if isinstance(value, str) and re.fullmatch(r"[\w-]{1,80}", value, re.ASCII) else None


class _Transport:
    """One connection a thread, kept alive. Never follows a redirect, never reads more than it is told to."""

    def __init__(self, base_url: str, context: Optional[ssl.SSLContext]) -> None:
        try:
            parts = urlsplit(base_url)
            host, port = parts.hostname or "", parts.port
        except ValueError:
            raise ValueError("base_url is not an address") from None
        is_plain = re.fullmatch("[!-~]+", base_url) and not (parts.query or parts.fragment or "@" in parts.netloc)
        if parts.scheme not in ("http", "https") or not host or not is_plain:
            raise ValueError("base_url must be http(s)://host[:port][/path][/v1] in ASCII, without a query or user information")
        self._https = parts.scheme == "https"
        self._host, self._port = host.lower(), port
        shown = f"[{self._host}]" if ":" in host else self._host
        usual = port is None or port == (443 if self._https else 80)
        self._origin = f"{parts.scheme}://{shown}" + ("" if usual else f":{port}")
        path = parts.path.rstrip("/")
        self._path = path[: -len("/v1")] if path.endswith("/v1") else path
        self._context = context or (ssl.create_default_context() if self._https else None)
        self._local = threading.local()

    @property
    def root(self) -> str:
        """What stands in front of /v1."""
        return self._origin + self._path

    def send(self, method: str, target: str, headers: Mapping[str, str], body: bytes, timeout: float, most: int) -> _Answer:
        """Raises GerbangError when no whole answer of at most so many bytes comes within the timeout, in seconds."""
        until = time.monotonic() + timeout
        connection = self._connection(timeout)
        whole = False
        request_id = None
        try:
            if connection.sock is None:
                cast(Any, connection)._create_connection = functools.partial(_reached, until)
                connection.connect()
            connection.sock.settimeout(max(0.001, until - time.monotonic()))
            made: Any = lambda sock, *given, **named: _Response(cast(Any, _Timed(sock, until)), *given, **named)  # noqa: E731
            connection.response_class = made
            connection.request(method, self._path + target, body=body or None, headers=dict(headers))
            response = connection.getresponse()
            request_id = _request_id(response.headers.get("x-request-id"))
            answer = _Answer(response.status, response.headers, self._body_of(response, most))
            whole = not response.will_close
            return answer
        except socket.timeout:
            raise _lost("TIMED_OUT", f"No whole answer came within {timeout:g} seconds.", request_id) from None
        except ssl.SSLCertVerificationError as error:
            raise GerbangError("CONNECTION_FAILED", f"The certificate does not verify: {error.verify_message}.") from None
        except (OSError, http.client.HTTPException) as error:
            why = getattr(error, "strerror", None) or type(error).__name__
            raise _lost("CONNECTION_FAILED", f"The connection to {self._origin} failed: {why}.", request_id) from None
        except GerbangError as error:
            error.request_id = request_id
            raise
        finally:
            if not whole:
                connection.close()

    def _body_of(self, response: http.client.HTTPResponse, most: int) -> bytes:
        if not 200 <= response.status < 300:
            most = ANSWER_MAX_BYTES
        announced = response.length
        parts, size = [], 0
        while announced is None or announced <= most:
            part = response.read(65_536)
            if not part:
                break
            parts.append(part)
            size += len(part)
            if size > most:
                break
        if size > most or (announced or 0) > most:
            raise GerbangError("ANSWER_TOO_LARGE", f"The answer has more than {most:,} bytes.", status=response.status)
        if announced is not None and size < announced:
            raise http.client.IncompleteRead(b"")
        return b"".join(parts)

    def _connection(self, timeout: float) -> http.client.HTTPConnection:
        pid, connection = getattr(self._local, "kept", (None, None))
        if pid == os.getpid() and connection is not None:
            if connection.sock is not None and _has_ended(connection.sock):
                connection.close()
            connection.timeout = timeout
            return cast(http.client.HTTPConnection, connection)
        made: http.client.HTTPConnection
        if self._https:
            made = http.client.HTTPSConnection(self._host, self._port, timeout=timeout, context=self._context)
        else:
            made = http.client.HTTPConnection(self._host, self._port, timeout=timeout)
        self._local.kept = (os.getpid(), made)
        return made

    def close(self) -> None:
        _, connection = getattr(self._local, "kept", (None, None))
        if connection is not None:
            connection.close()


def _reached(until: float, address: Tuple[str, int], *_: Any) -> socket.socket:
    """A connection to the first address of a host that answers. Each has its share of the time until then: one that is silent leaves some for the rest."""
    failed: OSError = socket.timeout()
    places = socket.getaddrinfo(*address, type=socket.SOCK_STREAM)
    for others, (family, kind, protocol, _name, place) in zip(range(len(places), 0, -1), places):
        left = until - time.monotonic()
        if left <= 0:
            raise socket.timeout()
        try:
            reached = socket.socket(family, kind, protocol)
        except OSError as error:  # this machine has none of this family, such as IPv6
            failed = error
            continue
        try:
            reached.settimeout(left / others)
            reached.connect(place)
            reached.settimeout(max(0.001, until - time.monotonic()))
            return reached
        except OSError as error:
            reached.close()
            failed = error
    raise failed


class _Response(http.client.HTTPResponse):
    """An answer without the interim ones before it, such as 103 Early Hints of a proxy: of those http.client leaves out 100 Continue alone."""

    def _read_status(self) -> Tuple[str, int, str]:
        while True:
            line = cast(Tuple[str, int, str], cast(Any, super())._read_status())
            if line[1] >= 200 or line[1] == 101:
                return line
            http.client.parse_headers(cast(Any, self.fp))

    def _read_next_chunk_size(self) -> int:
        """A negative one would read all that comes, however much, or raise a ValueError that is none of ours."""
        size = cast(int, cast(Any, super())._read_next_chunk_size())
        if size < 0:
            raise http.client.IncompleteRead(b"")
        return size


class _Timed:
    """What http.client reads an answer from, with a moment when that ends."""

    def __init__(self, sock: socket.socket, until: float) -> None:
        self._reader = (sock, until)

    def makefile(self, *_: Any, **__: Any) -> io.BufferedReader:
        return io.BufferedReader(_DeadlineReader(*self._reader))


def _has_ended(sock: socket.socket) -> bool:
    """Whether an idle connection was closed by the other side: then it has something to read."""
    try:
        if isinstance(sock, ssl.SSLSocket) and sock.pending():
            return True  # of a record that came with the answer before
        if hasattr(select, "poll"):
            poll = select.poll()
            poll.register(sock, select.POLLIN)
            return bool(poll.poll(0))
        return bool(select.select([sock], [], [], 0)[0])
    except (OSError, ValueError):
        return True


class _Expected:
    """What a call takes for an answer of the API: CSV or an object, how large it may be, and whether the object is one of its kind."""

    def __init__(self, fits: Callable[[Json], bool] = lambda answer: True, *, most: int = ANSWER_MAX_BYTES, csv: bool = False) -> None:
        self.fits = fits
        self.most = most
        self.csv = csv


def _has(*names: str, kind: type = str) -> _Expected:
    """An object with these fields, by which an answer of something else is told apart."""
    return _Expected(lambda answer: all(isinstance(answer.get(name), kind) and answer[name] != "" for name in names))


def _is_list(answer: Json) -> bool:
    data = answer.get("data")
    return isinstance(data, list) and all(isinstance(one, dict) for one in data)


_LIST = _Expected(_is_list, most=LIST_MAX_BYTES)
# One that does not say whether there is more is not taken for the last.
_PAGE = _Expected(lambda answer: _is_list(answer) and isinstance(answer.get("has_more"), bool), most=LIST_MAX_BYTES)
_STATEMENT = _Expected(most=LIST_MAX_BYTES, csv=True)


def _lost(code: str, message: str, request_id: Optional[str] = None, status: Optional[int] = None) -> GerbangError:
    return GerbangError(code, message, retryable=True, request_id=request_id, status=status)


# The client


class Gerbang:
    """Calls the API for one merchant.

    `client_id`, `secret` and `base_url` come from GERBANG_CLIENT_ID, GERBANG_SECRET and GERBANG_BASE_URL where they are left out;
    `base_url` may end in /v1. `scheme` is "rfc9421", or "timestamp" for X-Timestamp and X-Signature. `timeout` is for one
    attempt, `deadline` for a call with all its attempts and waits, in seconds. Raises ValueError where something is missing.
    """

    def __init__(
        self,
        client_id: Optional[str] = None,
        secret: Optional[str] = None,
        base_url: Optional[str] = None,
        *,
        scheme: str = "rfc9421",
        timeout: float = 30.0,
        deadline: float = 120.0,
        ssl_context: Optional[ssl.SSLContext] = None,
    ) -> None:
        self._secret = _Secret(secret or os.environ.get("GERBANG_SECRET", ""))
        del secret
        self._client_id = client_id or os.environ.get("GERBANG_CLIENT_ID", "")
        address = base_url or os.environ.get("GERBANG_BASE_URL", "")
        if not self._client_id:
            raise ValueError("client_id is missing: pass it, or set GERBANG_CLIENT_ID to one like ak_test_…")
        if not re.fullmatch(r"[\w-]{1,100}", self._client_id, re.ASCII):
            raise ValueError("client_id is not one like ak_test_…: look for a space or a line end in it")
        if not self._secret:
            raise ValueError("secret is missing: pass it, or set GERBANG_SECRET")
        if not address:
            raise ValueError("base_url is missing: pass it, or set GERBANG_BASE_URL to one like https://pay.example/v1")
        if scheme not in ("rfc9421", "timestamp"):
            raise ValueError('scheme is "rfc9421" or "timestamp"')
        self._scheme = scheme
        self._timeout = timeout
        self._deadline = deadline
        self._transport = _Transport(address, ssl_context)
        self._stamps = _Stamps()
        self._offset = 0
        self.payments = _Payments(self)
        self.refunds = _Refunds(self)
        self.balances = _Balances(self)
        self.settlements = _Settlements(self)
        self.disputes = _Disputes(self)
        self.events = _Events(self)
        self.payment_links = _PaymentLinks(self)
        self.sandbox = _Sandbox(self)
        self.webhooks = webhooks

    def __repr__(self) -> str:
        return f"<Gerbang {self._client_id} at {self._transport.root}/v1>"

    def __enter__(self) -> "Gerbang":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def close(self) -> None:
        """Closes this thread's connection. Those of other threads end with them."""
        self._transport.close()

    def health(self) -> Json:
        """Whether the service is well. Raises SERVICE_UNAVAILABLE, and others, when it is not."""
        return self._called("GET", "/v1/health", expected=_has("status"))

    def call(
        self,
        method: str,
        path: str,
        body: Optional[Json] = None,
        *,
        query: Optional[Mapping[str, Any]] = None,
        idempotency_key: Optional[str] = None,
        deadline: Optional[float] = None,
        timeout: Optional[float] = None,
    ) -> Json:
        """One call of the API by its path, signed and tried again where that is safe. Gives the answer; raises GerbangError."""
        expected = _Expected(most=LIST_MAX_BYTES if method == "GET" else ANSWER_MAX_BYTES)  # what is read may be a list
        return self._tried(method, path, expected, body, query, idempotency_key, deadline, timeout).object

    def _called(
        self,
        method: str,
        path: str,
        body: Optional[Json] = None,
        *,
        expected: _Expected,
        query: Optional[Mapping[str, Any]] = None,
        idempotency_key: Optional[str] = None,
        deadline: Optional[float] = None,
        timeout: Optional[float] = None,
    ) -> Json:
        return self._tried(method, path, expected, body, query, idempotency_key, deadline, timeout).object

    def _tried(
        self,
        method: str,
        path: str,
        expected: _Expected,
        body: Optional[Json] = None,
        query: Optional[Mapping[str, Any]] = None,
        key: Optional[str] = None,
        deadline: Optional[float] = None,
        timeout: Optional[float] = None,
    ) -> _Answer:
        if not re.fullmatch("/v1/[!-~]*", path) or not re.fullmatch("[A-Z]{3,7}", method):
            raise ValueError("a call has a method in capitals and a path that begins with /v1/")
        given = {name: value for name, value in (query or {}).items() if value is not None}
        for name, value in given.items():
            if _has_half(str(value)):
                raise _invalid(name, value, "must be Unicode text")
        target = path + (f"?{urlencode(given, quote_via=quote)}" if given else "")
        payload = b"" if method == "GET" else _json_bytes(body or {})
        if method != "GET":
            key = _idempotency_key(key)
        elif key is not None:
            raise GerbangError("IDEMPOTENCY_KEY_INVALID", "A read has no idempotency key.", advice="Leave idempotency_key out.")
        give_up = _clock.monotonic() + (self._deadline if deadline is None else deadline)
        replays, corrected, unknown = 0, False, False
        attempt = 0
        while True:
            attempt += 1
            limit = min(self._timeout if timeout is None else timeout, max(0.001, give_up - _clock.monotonic()))
            started = time.monotonic()
            try:
                answer = self._attempt(method, target, payload, key, limit, replays > 0, expected)
                answer.attempts = attempt
                _report(method, path, attempt, started, str(answer.status), answer.request_id)
                return answer
            except GerbangError as error:
                unknown = key is not None and (_opens(error) or (unknown and not _closes(error)))
                error.idempotency_key, error.attempts, error.outcome_unknown = key, attempt, unknown
                if key is None:
                    _of_read(error)
                if error.code == "ANSWER_UNREADABLE" and not unknown and 400 <= (error.status or 0) < 500:
                    error.advice = _ADVICE_OF_FOREIGN_REFUSAL
                _report(method, path, attempt, started, error.code, error.request_id)
                wait: Optional[float] = None
                if attempt >= ATTEMPTS_MAX:
                    raise
                if error.code == "SIGNATURE_REPLAYED" and replays < (1 if self._scheme == "rfc9421" else ATTEMPTS_MAX):
                    replays += 1
                    wait = 0.0
                elif error.code == "TIMESTAMP_OUT_OF_WINDOW" and not corrected:
                    corrected = self._correct(error._date)
                    wait = 0.0 if corrected else None
                elif error.retryable:
                    wait = 2 ** (attempt - 1) * _chance.uniform(0.8, 1.2)
                    if error._retry_after is not None:
                        wait = max(wait, error._retry_after * _chance.uniform(1, 1.2))
                if wait is None or _clock.monotonic() + wait > give_up:
                    raise
            _clock.sleep(wait)

    def _attempt(
        self, method: str, target: str, body: bytes, key: Optional[str], timeout: float, replayed: bool, expected: _Expected
    ) -> _Answer:
        headers = self._signed(method, target, body, key, replayed)
        answer = self._transport.send(method, target, headers, body, timeout, expected.most)
        if not 200 <= answer.status < 300 or answer.status == 202:
            raise _error_of(answer)
        if not answer.body or _is_csv(answer) != expected.csv:
            raise _unreadable(answer)
        if not expected.csv:
            answer.object = _object_of(answer)
            # An error with a status of success is none of the API's answers.
            if isinstance(answer.object.get("error"), dict) or not expected.fits(answer.object):
                raise _unreadable(answer)
        return answer

    def _signed(self, method: str, target: str, body: bytes, key: Optional[str], replayed: bool) -> Dict[str, str]:
        headers = {
            "Accept": "application/json",
            "Authorization": f"Bearer {self._client_id}",
            "User-Agent": f"gerbang-python/{__version__}",
        }
        if body:
            headers["Content-Type"] = "application/json"
        if key is not None:
            headers["Idempotency-Key"] = key
        now = int(_clock.time()) + self._offset
        if self._scheme == "rfc9421":
            url = self._transport.root + target
            nonce = _random.token_hex(16)
            return {**headers, **_message_headers(self._secret, self._client_id, method, url, body, key, now, nonce)}
        # What makes two requests one: of a write its bytes alone, of a read its address too.
        request = hashlib.sha256(b"" if key is not None else f"{method} {target}".encode("ascii"))
        request.update(b"\0" + body)
        stamp = str(self._stamps.take(request.digest(), now, replayed))
        signature = self._secret.hmac(stamp.encode("ascii"), b".", body).hexdigest()
        return {**headers, "X-Timestamp": stamp, "X-Signature": signature}

    def _correct(self, date: Optional[str]) -> bool:
        """Takes the service's clock for ours, as its answer tells it. False where it tells none, or one of another day."""
        moment, now = _http_date(date), int(_clock.time())
        if moment is None or abs(moment - now) > CORRECTION_MAX_SECONDS:
            return False
        self._offset = moment - now
        return True


def _report(method: str, path: str, attempt: int, started: float, outcome: str, request_id: Optional[str]) -> None:
    _log.debug("%s %s attempt %d: %s in %.0f ms, request %s", method, path, attempt, outcome, (time.monotonic() - started) * 1000, request_id)


def _idempotency_key(key: Optional[str]) -> str:
    if key is None:
        return _random.token_hex(16)
    if not isinstance(key, str) or not re.fullmatch(r"[!-~][ -~]{6,253}[!-~]", key):
        raise GerbangError("IDEMPOTENCY_KEY_INVALID", "Idempotency-Key must be 8 to 255 ASCII characters.", status=422)
    return key


def _is_csv(answer: _Answer) -> bool:
    return (answer.headers.get("content-type") or "").lower().startswith("text/csv")


def _no_number(text: str) -> float:
    """Takes NaN and Infinity for what they are, which is no JSON."""
    raise ValueError(f"{text} is no number of JSON")


def _object_of(answer: _Answer) -> Json:
    if _values_in(answer.body) > VALUES_MAX:
        message = f"The answer has more than {VALUES_MAX:,} values."
        raise GerbangError("ANSWER_TOO_LARGE", message, status=answer.status, request_id=answer.request_id)
    try:
        value = json.loads(answer.body, parse_constant=_no_number)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict) or not _is_within(value, LEVELS_MAX):
        raise _unreadable(answer)
    return value


def _values_in(body: bytes) -> int:
    """How many values a JSON text has at most, without reading it."""
    count = sum(map(body.count, (b",", b"[", b"{")))
    if count <= VALUES_MAX:
        return count
    # Some may stand within texts.
    plain = re.sub(rb'"[^"]*"', b"", body.replace(b"\\\\", b"").replace(b'\\"', b""))
    return sum(map(plain.count, (b",", b"[", b"{")))


def _is_within(value: Any, levels: int) -> bool:
    """Whether objects and lists stand in each other for so many levels at most."""
    if not isinstance(value, (dict, list)):
        return True
    return levels > 0 and all(_is_within(one, levels - 1) for one in (value.values() if isinstance(value, dict) else value))


def _unreadable(answer: _Answer) -> GerbangError:
    kind = re.sub(r"[^\w/+.-].*", "", answer.headers.get("content-type") or "")[:60] or "no content type"
    message = f"The answer is none of this API: status {answer.status}, {len(answer.body)} bytes, {kind}."
    error = GerbangError("ANSWER_UNREADABLE", message, status=answer.status, request_id=answer.request_id)
    error.retryable = answer.status < 300 or answer.status == 429 or answer.status >= 500
    error._retry_after = _retry_after(answer)
    return error


def _retry_after(answer: _Answer) -> Optional[float]:
    """The seconds that the answer asks to wait. A date is counted from the answer's own."""
    text = answer.headers.get("retry-after") or ""
    if re.fullmatch("[0-9]+", text):
        return float(text)
    until, now = _http_date(text), _http_date(answer.headers.get("date"))
    return None if until is None else until - (_clock.time() if now is None else now)


def _http_date(text: Optional[str]) -> Optional[int]:
    """The Unix seconds of a date as HTTP writes it, such as Fri, 15 Jan 2027 09:00:00 GMT; None for any other text."""
    if not text or not re.fullmatch("[A-Z][a-z]{2}, [0-9]{2} [A-Z][a-z]{2} [0-9]{4} [0-9]{2}:[0-9]{2}:[0-9]{2} GMT", text):
        return None
    try:
        moment = int(email.utils.parsedate_to_datetime(text).timestamp())
    except (TypeError, ValueError, OverflowError):
        return None
    return moment if email.utils.formatdate(moment, usegmt=True) == text else None


def _error_of(answer: _Answer) -> GerbangError:
    """The error of an answer that is no success."""
    if 300 <= answer.status < 400:
        return GerbangError("REDIRECTED", f"The service answered {answer.status}.", status=answer.status, request_id=answer.request_id)
    try:
        found = _object_of(answer).get("error")
    except GerbangError as unreadable:
        return unreadable
    code, message, details = [found.get(name) if isinstance(found, dict) else None for name in ("code", "message", "details")]
    if not isinstance(code, str) or not re.fullmatch("[A-Z][A-Z0-9_]{0,79}", code) or not isinstance(message, str):
        return _unreadable(answer)
    error = GerbangError(
        code,
        message[:MESSAGE_MAX],
        status=answer.status,
        request_id=_request_id(found.get("request_id")) or answer.request_id,
        details=details if isinstance(details, dict) else None,
        retryable=answer.status == 429 or answer.status >= 500 or code == "IDEMPOTENCY_IN_PROGRESS",
    )
    error._retry_after = _retry_after(answer)
    error._date = answer.headers.get("date")
    return error


def _of_another(answer: _Answer, key: str) -> GerbangError:
    message = "The answer is about another payment."
    error = GerbangError("ANSWER_UNREADABLE", message, status=answer.status, request_id=answer.request_id, retryable=True)
    error.idempotency_key, error.attempts, error.outcome_unknown = key, answer.attempts, True
    return error


# The resources


class _Resource:
    def __init__(self, gerbang: Gerbang) -> None:
        self._gerbang = gerbang
        self._call = gerbang._called


class _Listed(_Resource):
    _path = ""

    def page(self, **filters: Any) -> Page:
        """One page: `data`, `has_more`, `next_cursor`. Send `next_cursor` as `starting_after` for the next one."""
        return _page(self._call, self._path, filters)

    def list(self, **filters: Any) -> Iterator[Any]:
        """All objects, newest first, page by page as they are asked for."""
        return _pages(self._call, self._path, filters)


def _page(call: Callable[..., Json], path: str, filters: Mapping[str, Any]) -> Page:
    return cast(Page, call("GET", path, query=filters, expected=_PAGE))


def _pages(call: Callable[..., Json], path: str, filters: Mapping[str, Any]) -> Iterator[Json]:
    asked: Dict[str, Any] = {"limit": 100, **filters}
    seen = {asked.get("starting_after")}
    while True:
        page = _page(call, path, asked)
        yield from page["data"]
        if not page["has_more"]:
            return
        cursor = page.get("next_cursor")
        # To go on would have no end, and to end here would leave objects out. A page may be empty and have more after it.
        if not isinstance(cursor, str) or cursor == "" or cursor in seen:
            raise _of_read(GerbangError("ANSWER_UNREADABLE", "The list has more, and does not say where.", status=200))
        seen.add(cursor)
        asked["starting_after"] = cursor


# Codes after which a payment with this reference_id may exist.
_MAY_EXIST = ("REFERENCE_ID_DUPLICATE", "RISK_REVIEW", "IDEMPOTENCY_CONFLICT")


def _is_same(found: Json, asked: Json) -> bool:
    """Whether a payment is the one that was asked for. True is no amount, though it equals 1."""
    names = ("amount_minor", "currency", "payment_method", "reference_id")
    return all(found.get(name) == asked[name] and isinstance(asked[name], type(found.get(name))) for name in names)


class _Payments(_Listed):
    _path = "/v1/payments"

    def create(
        self,
        *,
        amount_minor: int,
        currency: str,
        payment_method: str,
        reference_id: str,
        description: Optional[str] = None,
        expires_in: Optional[int] = None,
        customer: Optional[Dict[str, str]] = None,
        callback_url: Optional[str] = None,
        return_url: Optional[str] = None,
        metadata: Optional[Dict[str, str]] = None,
        idempotency_key: Optional[str] = None,
        deadline: Optional[float] = None,
        **more: Any,
    ) -> Payment:
        """Creates a payment. When it raises one of the way to the service, the outcome is open: see create_or_find."""
        body = {
            "amount_minor": amount_minor,
            "currency": currency,
            "payment_method": payment_method,
            "reference_id": reference_id,
            "description": description,
            "expires_in": expires_in,
            "customer": customer,
            "callback_url": callback_url,
            "return_url": return_url,
            "metadata": metadata,
            **more,
        }
        return self._create(body, idempotency_key, deadline)

    def _create(self, body: Json, key: Optional[str], deadline: Optional[float]) -> Payment:
        sent = _checked(body, _CREATE_PAYMENT)
        return cast(
            Payment, self._call("POST", self._path, sent, expected=_has("reference"), idempotency_key=key, deadline=deadline)
        )

    def create_or_find(self, *, idempotency_key: Optional[str] = None, deadline: Optional[float] = None, **body: Any) -> Payment:
        """Creates a payment, or gives the one that an attempt before has made: looked up by its `reference_id` when the outcome
        stays open, when it is under review, or when another key made it with the same amount, currency and method. Without a key
        of your own the key is made of the body, so that a second call takes the same payment further after GATEWAY_ERROR."""
        sent = _checked(body, _CREATE_PAYMENT)
        key = hashlib.sha256(_json_bytes(sent)).hexdigest() if idempotency_key is None else idempotency_key
        give_up = _clock.monotonic() + (self._gerbang._deadline if deadline is None else deadline)
        try:
            answer = self._gerbang._tried("POST", self._path, _has("reference"), sent, key=key, deadline=deadline)
            if not _is_same(answer.object, sent):
                raise _of_another(answer, key)
            # A kept answer, which the service gives with status 200, shows the payment as it was at its creation.
            return cast(Payment, (answer.status == 200 and self._find(sent, give_up)) or answer.object)
        except GerbangError as error:
            if not error.outcome_unknown and error.code not in _MAY_EXIST:
                raise
            found = self._find(sent, give_up)
            if found is None:
                raise error from None  # nothing is known that its caller does not know already
            return found

    def _find(self, sent: Json, give_up: float) -> Optional[Payment]:
        """The payment with this `reference_id`, amount, currency and method; None when there is none, or the lookup fails."""
        left = max(give_up - _clock.monotonic(), min(self._gerbang._timeout, LOOKUP_MIN_SECONDS))
        query = {"reference_id": sent["reference_id"]}
        try:
            page = self._call("GET", self._path, expected=_PAGE, query=query, deadline=left)
        except GerbangError:
            return None
        return cast(Optional[Payment], next((found for found in page["data"] if _is_same(found, sent)), None))

    def get(self, reference: str) -> Payment:
        return self._read(reference)

    def _read(self, reference: str, deadline: Optional[float] = None) -> Payment:
        path = f"/v1/payments/{_id('pay', reference)}"
        return cast(Payment, self._call("GET", path, expected=_has("reference", "status"), deadline=deadline))

    def cancel(self, reference: str, *, reason: Optional[str] = None, idempotency_key: Optional[str] = None) -> Json:
        path = f"/v1/payments/{_id('pay', reference)}/cancel"
        sent = _checked({"reason": reason}, _CANCEL)
        return self._call("POST", path, sent, expected=_has("reference"), idempotency_key=idempotency_key)

    def wait_for(self, reference: str, status: Union[str, Sequence[str]] = "succeeded", *, timeout: float = 600.0) -> Payment:
        """Reads the payment until it has this status, or one of several: after 1, 2, 4 and then every 8 seconds, for `timeout` seconds at
        most. A payment that was paid and refunded has `succeeded`. Raises STATE_NOT_REACHED when time is over, or when it never will be."""
        wanted = {status} if isinstance(status, str) else set(status)
        give_up = _clock.monotonic() + timeout
        pause = 1.0
        while True:
            payment = self._read(reference, give_up - _clock.monotonic())
            now = payment["status"]
            if now in wanted or ("succeeded" in wanted and now in ("partially_refunded", "refunded")):
                return payment
            is_paid = now in ("succeeded", "partially_refunded") and not wanted & {"partially_refunded", "refunded"}
            is_final = is_paid or now in ("failed", "expired", "canceled", "refunded")
            if is_final or _clock.monotonic() + pause + 1 > give_up:  # a request needs time, too
                message = f"The payment {reference} is {_shown(now)}, not {' or '.join(sorted(wanted))}{'' if is_final else ' in time'}."
                raise GerbangError("STATE_NOT_REACHED", message, details={"reference": reference, "status": now})
            _clock.sleep(pause)
            pause = min(pause * 2, 8.0)


class _Refunds(_Listed):
    _path = "/v1/refunds"

    def create(
        self,
        *,
        payment_reference: str,
        amount_minor: Optional[int] = None,
        reason: Optional[str] = None,
        currency: Optional[str] = None,
        idempotency_key: Optional[str] = None,
        deadline: Optional[float] = None,
        **more: Any,
    ) -> Refund:
        """Refunds a payment, all that is left of it where no amount is given. Give `idempotency_key` to repeat it later."""
        body = {"payment_reference": payment_reference, "amount_minor": amount_minor, "reason": reason, "currency": currency, **more}
        sent = _checked(body, _CREATE_REFUND)
        return cast(
            Refund, self._call("POST", self._path, sent, expected=_has("uuid"), idempotency_key=idempotency_key, deadline=deadline)
        )

    def get(self, uuid: str) -> Refund:
        return cast(Refund, self._call("GET", f"/v1/refunds/{_id('rfd', uuid)}", expected=_has("uuid")))


class _Balances(_Resource):
    def get(self) -> Json:
        return self._call("GET", "/v1/balances", expected=_LIST)

    def entries(self, currency: str, **filters: Any) -> Iterator[Json]:
        """The entries behind a figure: `figure` is `available`, `held` or `pending_settlement`."""
        if not isinstance(currency, str) or not re.fullmatch("[A-Z]{3}", currency):
            details = {"field": "currency", "value": _shown(currency)}
            raise GerbangError("VALIDATION_ERROR", "currency must be a currency code like IDR.", status=422, details=details)
        return _pages(self._call, f"/v1/balances/{currency}/entries", filters)


class _Settlements(_Listed):
    _path = "/v1/settlements"

    def get(self, uuid: str) -> Json:
        return self._call("GET", f"/v1/settlements/{_id('set', uuid)}", expected=_has("uuid"))

    def statement(self, uuid: str) -> str:
        """The batch as CSV, one line an item."""
        answer = self._gerbang._tried("GET", f"/v1/settlements/{_id('set', uuid)}/statement", _STATEMENT)
        try:
            return answer.body.decode("utf-8")
        except UnicodeDecodeError:
            raise _of_read(_unreadable(answer)) from None


class _Disputes(_Listed):
    _path = "/v1/disputes"

    def get(self, uuid: str) -> Json:
        return self._call("GET", f"/v1/disputes/{_id('dsp', uuid)}", expected=_has("uuid"))


class _Events(_Listed):
    _path = "/v1/events"

    def get(self, id: str) -> Json:
        return self._call("GET", f"/v1/events/{_id('evt', id)}", expected=_has("id"))

    def deliveries(self, id: str, **filters: Any) -> Iterator[Json]:
        """The attempts to deliver an event."""
        return _pages(self._call, f"/v1/events/{_id('evt', id)}/deliveries", filters)

    def resend(self, id: str, *, idempotency_key: Optional[str] = None) -> Json:
        return self._call("POST", f"/v1/events/{_id('evt', id)}/resend", expected=_has("id"), idempotency_key=idempotency_key)

    def resend_since(
        self, since: str, *, state: Optional[str] = None, starting_after: Optional[str] = None, idempotency_key: Optional[str] = None
    ) -> Json:
        """Sends the events since a moment again, 1,000 a call: go on with `next_cursor` as `starting_after`."""
        body = _checked({"since": since, "state": state, "starting_after": starting_after}, {})
        return self._call("POST", "/v1/events/resend", body, expected=_has("resent", kind=int), idempotency_key=idempotency_key)

    def resend_many(self, ids: Sequence[str], *, idempotency_key: Optional[str] = None) -> Json:
        """Sends those that are named again, 100 at most."""
        body = {"event_ids": list(ids)}
        return self._call("POST", "/v1/events/resend", body, expected=_has("resent", kind=int), idempotency_key=idempotency_key)


class _PaymentLinks(_Listed):
    _path = "/v1/payment-links"

    def create(self, *, currency: str, reusable: bool, idempotency_key: Optional[str] = None, **body: Any) -> Json:
        sent = _checked({**body, "currency": currency, "reusable": reusable}, _CREATE_LINK)
        return self._call("POST", self._path, sent, expected=_has("uuid"), idempotency_key=idempotency_key)

    def get(self, uuid: str) -> Json:
        return self._call("GET", f"/v1/payment-links/{_id('lnk', uuid)}", expected=_has("uuid"))

    def deactivate(self, uuid: str, *, idempotency_key: Optional[str] = None) -> Json:
        return self._call("POST", f"/v1/payment-links/{_id('lnk', uuid)}/deactivate", expected=_has("uuid"), idempotency_key=idempotency_key)


class _Sandbox(_Resource):
    """What plays the world around the sandbox: payers, banks and time."""

    def __init__(self, gerbang: Gerbang) -> None:
        super().__init__(gerbang)
        self.payments = _SandboxPayments(gerbang)
        self.refunds = _SandboxRefunds(gerbang)
        self.disputes = _SandboxDisputes(gerbang)
        self.settlements = _SandboxSettlements(gerbang)
        self.clock = _SandboxClock(gerbang)
        self.events = _SandboxEvents(gerbang)
        self.webhook = _SandboxWebhook(gerbang)
        self.requests = _SandboxRequests(gerbang)


class _SandboxPayments(_Resource):
    def simulate(self, reference: str, outcome: str) -> Payment:
        """`outcome`: processing, succeeded, failed."""
        path = f"/v1/sandbox/payments/{_id('pay', reference)}/simulate"
        return cast(Payment, self._call("POST", path, _checked({"outcome": outcome}, {}), expected=_has("reference")))

    def dispute(self, reference: str, *, reason: str, amount_minor: Optional[int] = None) -> Json:
        body = _checked({"reason": reason, "amount_minor": amount_minor}, {"amount_minor": _amount})
        return self._call("POST", f"/v1/sandbox/payments/{_id('pay', reference)}/dispute", body, expected=_has("uuid"))


class _SandboxRefunds(_Resource):
    def simulate(self, uuid: str, outcome: str) -> Refund:
        """`outcome`: succeeded, failed."""
        path = f"/v1/sandbox/refunds/{_id('rfd', uuid)}/simulate"
        return cast(Refund, self._call("POST", path, {"outcome": outcome}, expected=_has("uuid")))


class _SandboxDisputes(_Resource):
    def resolve(self, uuid: str, outcome: str) -> Json:
        """`outcome`: won, lost, withdrawn."""
        return self._call("POST", f"/v1/sandbox/disputes/{_id('dsp', uuid)}/resolve", {"outcome": outcome}, expected=_has("uuid"))


class _SandboxSettlements(_Resource):
    def run(self) -> Json:
        return self._call("POST", "/v1/sandbox/settlements/run", expected=_LIST)

    def pay(self, uuid: str) -> Json:
        return self._call("POST", f"/v1/sandbox/settlements/{_id('set', uuid)}/pay", expected=_has("uuid"))


class _SandboxClock(_Resource):
    def get(self) -> Json:
        return self._call("GET", "/v1/sandbox/clock", expected=_has("now"))

    def advance(self, seconds: int) -> Json:
        return self._call("POST", "/v1/sandbox/clock/advance", _checked({"seconds": seconds}, _ADVANCE), expected=_has("now"))


class _SandboxEvents(_Resource):
    def trigger(self, type: str) -> Json:
        return self._call("POST", "/v1/sandbox/events/trigger", {"type": type}, expected=_has("event_id"))

    def listen(self, *, after: Optional[str] = None, seen: Sequence[str] = (), wait: int = 20) -> Json:
        """Waits for events, `wait` seconds at most. Without `after` it only says where to begin (`next_after`)."""
        query = {"after": after, "seen": ",".join(seen) or None, "wait": wait}
        timeout = self._gerbang._timeout + wait
        return self._call("GET", "/v1/sandbox/events/listen", expected=_LIST, query=query, timeout=timeout)


class _SandboxWebhook(_Resource):
    def exam(self) -> Json:
        """Sends genuine and false deliveries to your address and gives the scorecard. Takes 20 seconds at most."""
        timeout = self._gerbang._timeout + 20
        return self._call("POST", "/v1/sandbox/webhook/exam", expected=_has("checks", kind=list), timeout=timeout)

    def doctor(
        self, *, headers: Dict[str, str], body: str, received_at: Optional[int] = None, computed_signature: Optional[str] = None
    ) -> Json:
        given = {"headers": headers, "body": body, "received_at": received_at, "computed_signature": computed_signature}
        return self._call("POST", "/v1/sandbox/webhook/doctor", _checked(given, {}), expected=_has("diagnosis"))

    def misbehave(self, mode: str, *, for_next: Optional[int] = None) -> Json:
        """Lets deliveries go wrong on purpose, for so many attempts or until the mode is `none`."""
        sent = _checked({"mode": mode, "for_next": for_next}, {})
        return self._call("PUT", "/v1/sandbox/webhook/misbehave", sent, expected=_has("mode"))

    def misbehaviour(self) -> Json:
        """How they go wrong now."""
        return self._call("GET", "/v1/sandbox/webhook/misbehave", expected=_has("mode"))


class _SandboxRequests(_Listed):
    """The log of your own requests in the sandbox."""

    _path = "/v1/sandbox/requests"

    def get(self, request_id: str) -> Json:
        """One with its bodies, redacted."""
        return self._call("GET", f"/v1/sandbox/requests/{_id('req', request_id)}", expected=_has("request_id"))

    def doctor(self, request_id: str) -> Json:
        """Why the signature of a request was refused."""
        return self._call("GET", f"/v1/sandbox/requests/{_id('req', request_id)}/doctor", expected=_has("diagnosis"))


# Webhooks


Headers = Union[Mapping[str, Any], Iterable[Tuple[Any, Any]]]


class EventStore(Protocol):
    """Remembers which events were handled, such as a table with the event's id as its key.

    A claim is over after a minute or so: a process that died while it handled an event never says what became of it, and the event comes again.
    """

    def claim(self, id: str) -> Union[bool, str]:
        """Takes an event that nobody has, or whose claim is over: True for one caller alone, however many ask at once.

        False: it was handled. "busy": somebody else handles it, and their claim is not over.
        """

    def done(self, id: str) -> Any:
        """The event was handled: nobody gets it any more."""

    def release(self, id: str) -> Any:
        """It was not: who asks next may have it."""


def _done(given: Any) -> Any:
    """What a function of the receiver gave. An async one has done nothing yet, and to answer 200 would lose the event."""
    if inspect.iscoroutine(given):
        raise TypeError("on and the store have to be plain functions: nothing here awaits an async one")
    return given


def _claimed(store: EventStore, id: str) -> bool:
    waited = 0.0
    while True:
        answer = _done(store.claim(id))
        # A store that gives nothing has not said that the event was handled: to answer 200 would lose it.
        if answer is not None and answer != "busy":
            return bool(answer)
        if waited >= CLAIM_WAIT_MAX_SECONDS:
            raise EventBusyError
        _clock.sleep(CLAIM_ASK_EVERY_SECONDS)
        waited += CLAIM_ASK_EVERY_SECONDS


class Webhooks:
    """Verifies deliveries, and makes them for tests. Needs no credentials."""

    def handle(
        self,
        raw_body: Union[bytes, str],
        headers: Headers,
        secrets: Union[str, Sequence[str]],
        on: Callable[[Event], Any],
        *,
        prefix: str = "X-SVC-",
        store: Optional[EventStore] = None,
    ) -> int:
        """The status to answer to a delivery: 200 once `on` is done, or was before; 401 to what is not genuine, 500 when `on` raises, 503 while
        another process handles the event. What was wrong is in the log `gerbang`.

        With a `store` the event is claimed before `on` gets it, so that of two copies one runs. Keep `on` short (ten seconds at most), such as a row
        in a queue. Neither may be async: then the answer is 500.
        """
        try:
            known = _known(secrets)
            del secrets  # so that no report of an error has it among the variables of this frame
            event = self._event(raw_body, headers, known, prefix, None, store)
            if event is not None:
                _handle(event, on, store)
            return 200
        except WebhookError as error:
            _log.warning("a delivery was refused: %s", error)
            return 401
        except EventBusyError:
            _log.warning("an event is handled by another process")
            return 503
        except Exception:
            _log.exception("an event was not handled")
            return 500

    def unwrap(
        self,
        raw_body: Union[bytes, str],
        headers: Headers,
        secrets: Union[str, Sequence[str]],
        *,
        prefix: str = "X-SVC-",
        now: Optional[float] = None,
        store: Optional[EventStore] = None,
    ) -> Optional[Event]:
        """The event of a genuine delivery; raises WebhookError, whose `step` is the one that failed.

        `raw_body` are the bytes as they came. `secrets`: one, or several while they are rotated. With a `store` the event is claimed: one that
        was handled gives None (answer 2xx), and EventBusyError says that somebody handles it. Whoever gets the event then says `done` or `release`.
        """
        known = _known(secrets)
        del secrets  # so that no report of an error has it among the variables of this frame
        return self._event(raw_body, headers, known, prefix, now, store)

    def _event(
        self,
        raw_body: Union[bytes, str],
        headers: Headers,
        known: Sequence[_Secret],
        prefix: str,
        now: Optional[float],
        store: Optional[EventStore],
    ) -> Optional[Event]:
        if not known or not all(known):
            raise ValueError("secrets: at least one webhook secret is needed, as text")
        body = raw_body.encode("utf-8") if isinstance(raw_body, str) else bytes(raw_body)
        given = _by_name(headers)
        own = [given.get(f"{prefix}{name}".lower()) for name in ("Timestamp", "Signature")]
        standard = [given.get(f"webhook-{name}") for name in ("id", "timestamp", "signature")]
        moment = int(time.time() if now is None else now)
        if all(value is not None for value in own):
            try:
                _verify_own(body, cast(Any, own), known, moment)
            except WebhookError as error:
                if error.step != "signature_mismatch" or None in standard:
                    raise
                # During the overlap after a rotation it carries the signature of the old secret as well.
                _verify_standard(body, cast(Any, standard), known, moment)
        elif all(value is not None for value in standard):
            _verify_standard(body, cast(Any, standard), known, moment)
        else:
            raise WebhookError("header_missing", f"{prefix}Timestamp and {prefix}Signature are not both there.")
        event = _event_of(body)
        return event if store is None or _claimed(store, event["id"]) else None

    def sign(
        self, body: Union[bytes, str], secret: str, *, timestamp: Optional[int] = None, prefix: str = "X-SVC-", attempt: int = 1
    ) -> Dict[str, str]:
        """The headers of a delivery of this body, for tests of your receiver."""
        key = _Secret(secret)
        del secret
        data = body.encode("utf-8") if isinstance(body, str) else bytes(body)
        event = _event_of(data)
        stamp = str(int(time.time()) if timestamp is None else timestamp)
        return {
            "content-type": "application/json; charset=utf-8",
            f"{prefix}Event-Id": event["id"],
            f"{prefix}Event-Type": event["type"],
            f"{prefix}Timestamp": stamp,
            f"{prefix}Signature": key.hmac(stamp.encode("ascii"), b".", data).hexdigest(),
            f"{prefix}Delivery-Attempt": str(attempt),
        }


def _known(secrets: Union[str, Sequence[str]]) -> List[_Secret]:
    """The secrets that are set: a variable may be unset while they are rotated."""
    return [_Secret(one) for one in ([secrets] if isinstance(secrets, str) else secrets or ()) if one not in (None, "")]


def _handle(event: Event, on: Callable[[Event], Any], store: Optional[EventStore]) -> None:
    """Hands on an event that is claimed, and ends the claim. What `on` has done stays claimed, though `done` could not be kept."""
    try:
        _done(on(event))
    except BaseException:
        if store is not None:
            store.release(event["id"])  # when that fails, too, the claim ends by its time
        raise
    if store is not None:
        _done(store.done(event["id"]))


def _by_name(headers: Headers) -> Dict[str, List[str]]:
    """The values of each header, by its name in small letters; HTTP_X_SVC_TIMESTAMP of a WSGI environment is x-svc-timestamp."""
    found: Dict[str, List[str]] = {}
    pairs = headers.items() if isinstance(headers, Mapping) or hasattr(headers, "items") else headers
    for name, value in cast(Iterable[Tuple[Any, Any]], pairs):
        text = _as_text(name)
        plain = text[len("HTTP_") :].replace("_", "-") if re.fullmatch("HTTP_[A-Z0-9_]+", text) else text
        for one in value if isinstance(value, (list, tuple)) else [value]:
            found.setdefault(plain.lower(), []).append(_as_text(one))
    return found


def _as_text(value: Any) -> str:
    return value.decode("latin-1") if isinstance(value, bytes) else str(value)


def _moment_of(values: Sequence[str], now: int) -> str:
    if len(values) != 1 or not re.fullmatch("[0-9]{1,12}", values[0]):
        raise WebhookError("timestamp_malformed", "The timestamp is not 1 to 12 digits, once.")
    if abs(now - int(values[0])) > WINDOW_SECONDS:
        raise WebhookError("timestamp_out_of_window", "The timestamp is more than 300 seconds from this machine's clock.")
    return values[0]


def _verify_own(body: bytes, own: Sequence[List[str]], known: Sequence[_Secret], now: int) -> None:
    stamp = _moment_of(own[0], now)
    if len(own[1]) != 1 or not re.fullmatch("[0-9a-f]{64}", own[1][0]):
        raise WebhookError("signature_malformed", "The signature is not 64 characters 0-9a-f, once.")
    fits = [hmac.compare_digest(secret.hmac(stamp.encode("ascii"), b".", body).hexdigest(), own[1][0]) for secret in known]
    if not any(fits):
        raise WebhookError("signature_mismatch", "The signature fits none of the secrets: another secret, or other bytes than were signed.")


def _verify_standard(body: bytes, standard: Sequence[List[str]], known: Sequence[_Secret], now: int) -> None:
    ids, stamps, signatures = standard
    stamp = _moment_of(stamps, now)
    # Several signatures stand in one header, separated by spaces. A header that came twice may have been joined by commas on the way.
    is_once = len(ids) == 1 and len(signatures) == 1 and ", " not in signatures[0]
    given = [part[3:] for part in signatures[0].split(" ") if part.startswith("v1,")] if is_once else []
    if not given:
        raise WebhookError("signature_malformed", "webhook-signature has no signature that begins with v1,, or came more than once.")
    fits = []
    for secret in known:
        signed = secret.standard_hmac(f"{ids[0]}.{stamp}.".encode("utf-8"), body)
        if signed is not None:
            expected = _base64(signed.digest()).encode("ascii")
            fits += [hmac.compare_digest(expected, one.encode("utf-8", "replace")) for one in given]
    if not any(fits):
        raise WebhookError("signature_mismatch", "webhook-signature fits none of the secrets: another secret, or other bytes than were signed.")


def _event_of(body: bytes) -> Event:
    try:
        event = json.loads(body.decode("utf-8"), parse_constant=_no_number)
    except (ValueError, RecursionError):
        event = None
    if not isinstance(event, dict) or not isinstance(event.get("id"), str) or not isinstance(event.get("type"), str):
        raise WebhookError("body_malformed", "The body is not a JSON object with the texts id and type.")
    return cast(Event, event)


webhooks = Webhooks()
