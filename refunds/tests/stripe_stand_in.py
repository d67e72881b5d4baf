"""Stripe's refund endpoints on loopback, for Stripe's own library to talk to: a real HTTP server, no patched library.

It keeps charges and refunds, remembers idempotency keys with their answers, pages its lists, refuses what Stripe
refuses, and can be told to go wrong: see `Fault`. `signed` signs an event as Stripe does.
"""

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, RLock, Thread
from typing import Any, Final
from urllib.parse import parse_qsl, urlsplit

import stripe

KEY: Final = "sk_test_stand_in"
WEBHOOK_SECRET: Final = "whsec_stand_in_of_the_tests"
ERRORS: Final = {
    400: {"type": "invalid_request_error", "code": "charge_disputed", "message": "The charge is disputed."},
    401: {"type": "invalid_request_error", "message": "Invalid API Key provided."},
    402: {"type": "card_error", "code": "expired_or_canceled_card", "message": "The card is closed."},
    403: {"type": "invalid_request_error", "message": "The key lacks the permission rak_charge_write."},
    409: {"type": "idempotency_error", "code": "idempotency_key_in_use", "message": "Another request is in progress."},
    429: {"type": "invalid_request_error", "code": "rate_limit", "message": "Too many requests."},
    500: {"type": "api_error", "message": "Something went wrong."},
    503: {"type": "api_error", "message": "Try again later."},
}


@dataclass
class Fault:
    """What one call goes wrong with. `acted`: the refund is made before it does. One of the rest says how.

    `status`: an HTTP error; `hang_up`: the connection ends without an answer; `slow`: no answer before the test ends.
    """

    method: str = "POST"
    acted: bool = False
    status: int = 0
    hang_up: bool = False
    slow: bool = False


@dataclass
class Stripe:
    """The stand-in's books. Amounts are Stripe's: TWD in hundredths."""

    url: str = ""
    charges: dict[str, dict[str, Any]] = field(default_factory=dict)
    refunds: list[dict[str, Any]] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    # The status of the refunds that are made from now on.
    status: str = "succeeded"
    calls: list[tuple[str, str, dict[str, str], dict[str, str]]] = field(default_factory=list)
    keys: dict[str, tuple[dict[str, str], int, dict[str, Any]]] = field(default_factory=dict)
    lock: Any = field(default_factory=RLock)
    ended: Event = field(default_factory=Event)

    def charge(self, charge_id: str, amount: int, *, currency: str = "twd", payment_intent: str | None = None) -> str:
        self.charges[charge_id] = {"amount": amount, "currency": currency, "payment_intent": payment_intent}
        return charge_id

    def charged(self, charge_id: str, params: dict[str, str]) -> tuple[int, dict[str, Any]]:
        """One charge, or those of a payment intent."""
        found = [
            {"id": each, "object": "charge", "status": "succeeded", "captured": True, **charge}
            for each, charge in self.charges.items()
            if each == charge_id or (not charge_id and charge["payment_intent"] == params.get("payment_intent"))
        ]
        if charge_id:
            return (200, found[0]) if found else _error(404, code="resource_missing")
        return 200, {"object": "list", "url": "/v1/charges", "data": found[:1], "has_more": False}

    def given_back(self, charge_id: str) -> int:
        """The charge's `amount_refunded`: what failed has come back to it."""
        counted = (each for each in self.refunds if each["status"] not in {"failed", "canceled"})
        return sum(each["amount"] for each in counted if each["charge"] == charge_id)

    def refund_at_the_desk(self, charge_id: str, amount: int, **changes: Any) -> dict[str, Any]:
        """A refund that somebody makes on Stripe's own pages."""
        with self.lock:
            refund = {
                "id": f"re_{len(self.refunds) + 1}",
                "object": "refund",
                "amount": amount,
                "charge": charge_id,
                "payment_intent": self.charges[charge_id]["payment_intent"],
                "currency": self.charges[charge_id]["currency"],
                "created": int(time.time()),
                "metadata": {},
                "status": self.status,
                **changes,
            }
            self.refunds.insert(0, refund)
        return refund

    def posts(self) -> list[dict[str, str]]:
        return [params for method, _, params, _ in self.calls if method == "POST"]

    def keys_sent(self) -> list[str]:
        return [headers["idempotency-key"] for method, _, _, headers in self.calls if method == "POST"]

    # --- what the endpoints do ---
    def create(self, params: dict[str, str], key: str) -> tuple[int, dict[str, Any]]:
        with self.lock:
            if key in self.keys:
                known, status, answer = self.keys[key]
                return (status, answer) if known == params else _error(400, code=None, kind="idempotency_error")
            status, answer = self._make(params)
            if status == 200:
                self.keys[key] = (params, status, dict(answer))
            return status, answer

    def _make(self, params: dict[str, str]) -> tuple[int, dict[str, Any]]:
        charge_id = params.get("charge") or self._of_intent(params.get("payment_intent"))
        if charge_id not in self.charges:
            return _error(404, code="resource_missing")
        charge, amount = self.charges[charge_id], int(params["amount"])
        if charge["currency"] == "twd" and amount % 100:
            return _error(400, code="invalid_amount")
        left = charge["amount"] - self.given_back(charge_id)
        if amount < 1 or amount > left:
            return _error(400, code="charge_already_refunded" if left == 0 else "amount_too_large")
        metadata = {name[9:-1]: value for name, value in params.items() if name.startswith("metadata[")}
        return 200, self.refund_at_the_desk(charge_id, amount, metadata=metadata)

    def _of_intent(self, intent: str | None) -> str:
        return next((each for each, charge in self.charges.items() if charge["payment_intent"] == intent), "")

    def listed(self, params: dict[str, str]) -> tuple[int, dict[str, Any]]:
        """Newest first, ten at a time unless asked for more, from behind `starting_after`."""
        with self.lock:
            found = [refund for refund in self.refunds if _wanted(refund, params)]
        wanted_charge = params.get("charge")
        if wanted_charge and wanted_charge not in self.charges:
            return _error(404, code="resource_missing")
        if "starting_after" in params:
            ids = [refund["id"] for refund in found]
            found = found[ids.index(params["starting_after"]) + 1 :]
        limit = min(int(params.get("limit", 10)), self.page)
        page = {"object": "list", "url": "/v1/refunds", "data": found[:limit], "has_more": len(found) > limit}
        return 200, page

    # Stripe gives at most 100; tests of paging make it fewer.
    page: int = 100

    def take_fault(self, method: str) -> Fault | None:
        with self.lock:
            fault = next((each for each in self.faults if each.method == method), None)
            if fault:
                self.faults.remove(fault)
        return fault


def _wanted(refund: dict[str, Any], params: dict[str, str]) -> bool:
    same = all(refund[name] == params[name] for name in ("charge", "payment_intent") if name in params)
    since, until = int(params.get("created[gte]", 0)), int(params.get("created[lt]", 2**40))
    return same and since <= refund["created"] < until


def _error(status: int, *, code: str | None, kind: str = "invalid_request_error") -> tuple[int, dict[str, Any]]:
    return status, {"error": {"type": kind, "message": f"Refused: {code}.", **({"code": code} if code else {})}}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: "_Server"

    def do_POST(self) -> None:
        length = int(self.headers.get("Content-Length", 0))
        self._answer("POST", dict(parse_qsl(self.rfile.read(length).decode())))

    def do_GET(self) -> None:
        self._answer("GET", dict(parse_qsl(urlsplit(self.path).query)))

    def _answer(self, method: str, params: dict[str, str]) -> None:
        books, path = self.server.books, urlsplit(self.path).path
        headers = {name.lower(): value for name, value in self.headers.items()}
        books.calls.append((method, path, params, headers))
        fault = books.take_fault(method)
        if fault is None or fault.acted:
            status, body = self._act(method, path, params, headers)
        else:
            status, body = fault.status, {}
        if fault and fault.slow:
            books.ended.wait(30)
        if fault and (fault.hang_up or fault.slow):
            self.close_connection = True
            return
        if fault and fault.status:
            status, body = fault.status, {"error": ERRORS[fault.status]}
        self._write(status, body)

    def _act(
        self, method: str, path: str, params: dict[str, str], headers: dict[str, str]
    ) -> tuple[int, dict[str, Any]]:
        books = self.server.books
        if headers.get("authorization") != f"Bearer {KEY}":
            return 401, {"error": ERRORS[401]}
        if path == "/v1/refunds":
            return books.create(params, headers["idempotency-key"]) if method == "POST" else books.listed(params)
        if path.startswith("/v1/charges"):
            return books.charged(path.removeprefix("/v1/charges").strip("/"), params)
        known = next((each for each in books.refunds if path == f"/v1/refunds/{each['id']}"), None)
        return (200, known) if known else _error(404, code="resource_missing")

    def _write(self, status: int, body: dict[str, Any]) -> None:
        text = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.send_header("Request-Id", "req_stand_in")
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, format: str, *args: Any) -> None:
        return


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    books: Stripe


@contextmanager
def running_stripe() -> Iterator[Stripe]:
    """The stand-in on a free port of loopback, until the block ends."""
    server = _Server(("127.0.0.1", 0), _Handler)
    server.books = Stripe(url=f"http://127.0.0.1:{server.server_port}")
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server.books
    finally:
        server.books.ended.set()
        server.shutdown()
        server.server_close()
        thread.join(10)


def event(kind: str, told: dict[str, Any], event_id: str = "evt_1") -> dict[str, Any]:
    """An event as Stripe's webhooks carry it."""
    return {"id": event_id, "object": "event", "type": kind, "data": {"object": told}}


def signed(body: str, *, secret: str = WEBHOOK_SECRET, seconds_ago: int = 0) -> str:
    """The header `Stripe-Signature` for this body."""
    header: str = stripe.WebhookSignature.generate_signature_header(body, secret, int(time.time()) - seconds_ago)
    return header
