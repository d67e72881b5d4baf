"""The chat's addresses: who may say something where, and how a refusal looks from outside."""

from http import HTTPStatus
from typing import Any

import pytest
import redis
from django.http import Http404
from django.test import Client
from pytest_django import Settings

from agent import views
from agent.access import conversation_of
from agent.models import Conversation, Message
from agent.states import TurnState
from agent.tests.helpers import hear, newest_turn, talk
from orders.access import Shopper
from orders.models import Order
from orders.tests import cast

pytestmark = pytest.mark.django_db
JSON = {"accept": "application/json"}


@pytest.fixture
def order() -> Order:
    return cast.order_5531()


@pytest.fixture
def ming(order: Order) -> Client:
    client = Client()
    client.force_login(cast.customer_user("ming"))
    return client


def post(client: Client, path: str, **data: str) -> Any:
    return client.post(path, data, headers=JSON)


def test_saying_something_is_accepted_with_its_number(ming: Client, order: Order) -> None:
    answer = post(ming, "/orders/5531/chat/messages/", text="hello", client_ref="r1")
    assert answer.status_code == HTTPStatus.ACCEPTED
    assert answer.json() == {"message_id": Message.objects.get().pk}


def test_a_browser_without_javascript_is_led_back_to_the_order(ming: Client) -> None:
    answer = ming.post("/orders/5531/chat/messages/", {"text": "hello"}, headers={"accept": "text/html"})
    assert (answer.status_code, answer["Location"]) == (HTTPStatus.FOUND, "/orders/5531/")


@pytest.mark.parametrize("text", ["", "x" * 20_000, "a\x00b"])
def test_what_cannot_be_used_is_the_one_error_object(ming: Client, text: str) -> None:
    answer = post(ming, "/orders/5531/chat/messages/", text=text)
    assert answer.status_code == HTTPStatus.BAD_REQUEST
    body = answer.json()
    assert (body["code"], body["field"]) == ("invalid_argument", "text")
    assert body["message"]
    assert not Conversation.objects.exists()


def test_a_flood_is_told_how_long_to_wait(ming: Client, settings: Settings) -> None:
    settings.CHAT_MESSAGES_PER_MINUTE = 1
    post(ming, "/orders/5531/chat/messages/", text="one")
    answer = post(ming, "/orders/5531/chat/messages/", text="two")
    assert answer.status_code == HTTPStatus.TOO_MANY_REQUESTS
    assert answer["Retry-After"] == str(answer.json()["details"]["retry_after"])
    assert Message.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_anothers_order_and_none_are_word_for_word_the_same(ming: Client) -> None:
    cast.place("5602", who="ming2")
    for address in ("messages", "seen", "retry", "person", "events"):
        answers = []
        for number in ("5602", "9999"):
            path = f"/orders/{number}/chat/{address}/"
            answer = ming.get(path) if address == "events" else post(ming, path, text="hello")
            answers.append((answer.status_code, answer.content.decode().replace(number, "…")))
        assert answers[0] == answers[1]
        assert answers[0][0] == HTTPStatus.NOT_FOUND
    assert not Conversation.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_who_is_nobody_any_more_is_told_so_whatever_the_order_and_staff_find_nothing(order: Order) -> None:
    staff = Client()
    staff.force_login(cast.staff_user())
    for address in ("messages", "seen", "retry", "person", "events"):
        for number in ("5531", "9999"):
            path = f"/orders/{number}/chat/{address}/"
            for client, status, code in ((Client(), 401, "signed_out"), (staff, 404, "not_found")):
                answer = client.get(path, headers=JSON) if address == "events" else post(client, path, text="hello")
                assert (answer.status_code, answer.json()["code"]) == (status, code), path
    assert not Conversation.objects.exists()


def test_without_javascript_who_is_nobody_any_more_signs_in_and_is_back_at_the_order(order: Order) -> None:
    headers = {"accept": "text/html", "referer": "http://testserver/orders/5531/"}
    answer = Client().post("/orders/5531/chat/messages/", {"text": "hello"}, headers=headers)
    assert answer["Location"] == "/accounts/login/?next=/orders/5531/"


def test_who_came_by_a_link_to_one_order_finds_no_talk_about_another(order: Order) -> None:
    hear(order)
    everything, by_link = Shopper(order.customer, None), Shopper(order.customer, frozenset({"7001"}))
    assert conversation_of(everything, order) == talk(order)
    with pytest.raises(Http404):
        conversation_of(by_link, order)


def test_without_the_csrf_token_nothing_is_said(order: Order) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(cast.customer_user("ming"))
    for address in ("messages", "seen", "retry", "person"):
        answer = post(client, f"/orders/5531/chat/{address}/", text="hello")
        assert answer.status_code == HTTPStatus.FORBIDDEN
    assert not Conversation.objects.exists()


@pytest.mark.parametrize("address", ["messages", "seen", "retry", "person"])
def test_reading_says_nothing(ming: Client, address: str) -> None:
    assert ming.get(f"/orders/5531/chat/{address}/").status_code == HTTPStatus.METHOD_NOT_ALLOWED


def test_trying_again_needs_a_failed_turn(ming: Client, order: Order) -> None:
    assert post(ming, "/orders/5531/chat/retry/").status_code == HTTPStatus.NOT_FOUND
    post(ming, "/orders/5531/chat/messages/", text="hello")
    assert post(ming, "/orders/5531/chat/retry/").json() == {"queued": False}
    talk(order).turns.update(state=TurnState.FAILED)
    assert post(ming, "/orders/5531/chat/retry/").json() == {"queued": True}
    assert newest_turn(order).state == TurnState.QUEUED


def test_asking_for_a_person_is_marked_at_once(ming: Client, order: Order) -> None:
    assert post(ming, "/orders/5531/chat/person/").status_code == HTTPStatus.ACCEPTED
    assert talk(order).needs_person


def test_a_page_that_says_without_end_that_it_is_looked_at_is_told_to_wait(
    ming: Client, monkeypatch: pytest.MonkeyPatch, redis_server: redis.Redis
) -> None:
    """The limit is switched low; the third look is answered at the door, before the order is read or anything kept."""
    monkeypatch.setattr(views, "LOOKS_PER_MINUTE", 2)
    for event in ("7-1", "7-2"):
        assert post(ming, "/orders/5531/chat/seen/", last_event=event).status_code == HTTPStatus.NO_CONTENT
    answer = post(ming, "/orders/5531/chat/seen/", last_event="7-3")
    assert answer.status_code == HTTPStatus.TOO_MANY_REQUESTS
    assert 1 <= int(answer["Retry-After"]) <= 60
    (kept,) = redis_server.scan_iter("refund-desk:seen:*")
    assert bytes(redis_server.get(kept)).endswith(b" 7-2")  # type: ignore[arg-type]


@pytest.mark.django_db(transaction=True)
def test_whoever_signs_out_or_is_somebody_else_by_now_may_not_go_on_listening(ming: Client, order: Order) -> None:
    request = ming.get("/orders/5531/").wsgi_request
    assert views._may_stay(request, order.number)
    assert not views._may_stay(request, "9999")
    ming.logout()
    assert not views._may_stay(request, order.number)
