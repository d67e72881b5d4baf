"""The shop's own system hears of every change, signed, in order, until it says it has."""

import hashlib
import hmac
import json
import socket
from collections.abc import Generator
from datetime import timedelta
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest
from django.db import transaction
from django.utils import timezone
from pytest_django import Settings

from orders import webhook
from orders.announce import announce
from orders.models import Order, OrderAnnouncement
from orders.tests import cast
from orders.tests.race import at_once

pytestmark = pytest.mark.django_db
SECRET = "a secret that the shop knows too"


class Shop(ThreadingHTTPServer):
    """A shop's system: answers with the `statuses` one after the other (the last one stays) and keeps what it heard."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), ShopHandler)
        self.statuses = [200]
        self.heard: list[tuple[dict[str, str], bytes]] = []

    @property
    def events(self) -> list[str]:
        return [json.loads(body)["event"] for _, body in self.heard]


class ShopHandler(BaseHTTPRequestHandler):
    server: Shop

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.heard.append(({name.lower(): value for name, value in self.headers.items()}, body))
        status = self.server.statuses[0]
        if len(self.server.statuses) > 1:
            self.server.statuses.pop(0)
        self.send_response(status)
        if status == 302:
            self.send_header("Location", "/elsewhere")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def do_GET(self) -> None:
        self.server.heard.append(({}, b'{"event": "followed a redirect"}'))
        self.send_response(200)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        return None


@pytest.fixture
def shop(settings: Settings) -> Generator[Shop]:
    server = Shop()
    thread = Thread(target=partial(server.serve_forever, poll_interval=0.02))
    thread.start()
    settings.ORDER_WEBHOOK_URL = f"http://127.0.0.1:{server.server_address[1]}/hook"
    settings.ORDER_WEBHOOK_SECRET = SECRET
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def order() -> Order:
    return cast.place("7001")


def tell(order: Order, event: str = "goods.cancelled") -> OrderAnnouncement:
    announcement = announce(order=order, event=event, payload={"lines": [{"line_item_id": "li_2", "quantity": 1}]})
    assert announcement is not None
    return announcement


def make_due() -> None:
    OrderAnnouncement.objects.update(next_attempt_at=timezone.now() - timedelta(seconds=1))


def test_what_is_announced_arrives_with_a_signature_the_shop_can_check(shop: Shop, order: Order) -> None:
    announcement = tell(order)
    assert webhook.send_due() == 1
    headers, body = shop.heard[0]
    expected = hmac.new(SECRET.encode(), headers["x-refund-desk-timestamp"].encode() + b"." + body, hashlib.sha256)
    assert headers["x-refund-desk-signature"] == f"sha256={expected.hexdigest()}"
    assert json.loads(body) == {
        "id": announcement.pk,
        "event": "goods.cancelled",
        "order_number": "7001",
        "created_at": announcement.created_at.isoformat(),
        "data": {"lines": [{"line_item_id": "li_2", "quantity": 1}]},
    }
    assert OrderAnnouncement.objects.get().state == "accepted"
    assert webhook.send_due() == 0


@pytest.mark.parametrize("status", [500, 404, 302, 410])
def test_what_is_not_accepted_is_sent_again_later(shop: Shop, order: Order, status: int) -> None:
    shop.statuses = [status, 204]
    tell(order)
    assert webhook.send_due() == 0
    assert webhook.send_due() == 0, "it waits before it tries again"
    make_due()
    assert webhook.send_due() == 1
    assert shop.events == ["goods.cancelled", "goods.cancelled"]


def test_a_shop_that_is_away_is_tried_again(shop: Shop, order: Order, settings: Settings) -> None:
    there = settings.ORDER_WEBHOOK_URL
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        settings.ORDER_WEBHOOK_URL = f"http://127.0.0.1:{nobody.getsockname()[1]}/"
        tell(order)
        assert webhook.send_due() == 0
    settings.ORDER_WEBHOOK_URL = there
    make_due()
    assert webhook.send_due() == 1


def test_the_wait_doubles_up_to_an_hour() -> None:
    assert [webhook.wait_after(n).total_seconds() for n in (1, 2, 3, 8, 9, 10, 10_000)] == [
        15,
        30,
        60,
        1920,
        3600,
        3600,
        3600,
    ]


def test_one_orders_news_arrive_in_order_and_hold_up_no_other_order(shop: Shop, order: Order) -> None:
    other = cast.place("7002")
    shop.statuses = [500, 200]
    for event in ("first", "second"):
        tell(order, event)
    tell(other, "other")
    assert webhook.send_due() == 0
    assert webhook.send_due() == 1
    assert shop.events == ["first", "other"]
    make_due()
    assert webhook.send_due() == 2
    assert shop.events[2:] == ["first", "second"]


def test_a_shop_that_does_not_answer_holds_a_worker_for_one_time_out(
    order: Order, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(webhook, "TIMEOUT_SECONDS", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        settings.ORDER_WEBHOOK_URL = f"http://127.0.0.1:{silent.getsockname()[1]}/"
        for number in range(7002, 7012):
            tell(cast.place(str(number)))
        assert webhook.send_due() == 0
    assert OrderAnnouncement.objects.filter(attempts=1).count() == 1
    assert OrderAnnouncement.objects.filter(attempts=0).count() == 9


def test_an_announcement_of_a_change_that_did_not_happen_is_not_sent(shop: Shop, order: Order) -> None:
    with transaction.atomic():
        tell(order)
        transaction.set_rollback(True)
    assert webhook.send_due() == 0
    assert not shop.heard


def test_where_no_webhook_is_set_nothing_is_queued(order: Order, settings: Settings) -> None:
    settings.ORDER_WEBHOOK_URL = ""
    assert announce(order=order, event="goods.cancelled", payload={}) is None
    assert not OrderAnnouncement.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_workers_that_sweep_at_once_send_each_announcement_once(shop: Shop) -> None:
    for number in range(7001, 7007):
        tell(cast.place(str(number)), f"of {number}")
    assert sum(n for n in at_once([webhook.send_due] * 4) if isinstance(n, int)) == 6
    assert sorted(shop.events) == [f"of {number}" for number in range(7001, 7007)]
