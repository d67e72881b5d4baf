"""The buttons on the page: a press moves money once; by GET, without CSRF or by somebody else nothing moves."""

from typing import Any

import pytest
from django.contrib.messages import get_messages
from django.test import Client

from orders.links import issue_link
from orders.shipments import pack_order
from orders.tests import cast
from refunds.models import Refund, RefundQuote, Return
from refunds.states import QuoteState
from refunds.tests.ask import ask
from refunds.tests.browser import signed_in

pytestmark = pytest.mark.django_db
JSON, FORM = {"Accept": "application/json"}, {"Accept": "text/html"}


@pytest.fixture
def quote() -> RefundQuote:
    return ask(cast.order_5531(), (2, 1, "late_delivery"))


def press(client: Client, quote: RefundQuote, button: str = "confirm", **options: Any) -> Any:
    """A plain form's press, unless other headers are given."""
    return client.post(f"/refunds/quotes/{quote.pk}/{button}/", **{"headers": FORM, **options})


def words(answer: Any) -> str:
    return " ".join(str(message) for message in get_messages(answer.wsgi_request))


def test_a_press_answers_the_pages_script_with_the_refund(quote: RefundQuote) -> None:
    client = signed_in("ming")
    first, again = press(client, quote, headers=JSON), press(client, quote, headers=JSON)
    assert (first.status_code, again.status_code) == (201, 200)
    assert first.json()["refund"]["display"] == "NT$230"
    assert first.json() == again.json()


def test_a_press_without_javascript_leads_back_to_the_order_and_says_what_happened(quote: RefundQuote) -> None:
    answer = press(signed_in("ming"), quote)
    assert (answer.status_code, answer["Location"]) == (302, "/orders/5531/")
    assert Refund.objects.get().pk in words(answer)


def test_an_order_number_is_escaped_in_the_address() -> None:
    quote = ask(cast.place("#70-1"), (2, 1, "other"))
    assert press(signed_in("ming"), quote)["Location"] == "/orders/%2370-1/"


def test_a_quote_to_return_answers_with_the_return() -> None:
    quote = ask(cast.order_5531(), (1, 1, "changed_mind"))
    answer = press(signed_in("ming"), quote, headers=JSON)
    assert answer.json()["return"]["return_id"] == Return.objects.get().pk


def test_a_declined_quote_refunds_nothing(quote: RefundQuote) -> None:
    client = signed_in("ming")
    assert press(client, quote, "decline", headers=JSON).json() == {"quote_id": quote.pk, "state": "declined"}
    answer = press(client, quote, headers=JSON)
    assert (answer.status_code, answer.json()["code"]) == (409, "quote_declined")
    assert not Refund.objects.exists()


def test_a_press_after_the_case_was_packed_says_what_to_do(quote: RefundQuote) -> None:
    pack_order(order=quote.order, actor=cast.staff("warehouse"))
    answer = press(signed_in("ming"), quote)
    assert answer.status_code == 302
    assert "7" in words(answer)
    assert not Refund.objects.exists()


@pytest.mark.parametrize("button", ["confirm", "decline"])
def test_a_link_that_is_merely_opened_does_nothing(quote: RefundQuote, button: str) -> None:
    assert signed_in("ming").get(f"/refunds/quotes/{quote.pk}/{button}/").status_code == 405
    quote.refresh_from_db()
    assert quote.state == QuoteState.OPEN


def test_a_press_without_the_csrf_token_does_nothing(quote: RefundQuote) -> None:
    assert press(signed_in("ming", enforce_csrf_checks=True), quote).status_code == 403
    assert not Refund.objects.exists()


@pytest.mark.parametrize("quote_id", ["", "rq_nothing00000"])
def test_who_is_nobody_any_more_is_told_so_and_moves_nothing(quote: RefundQuote, quote_id: str) -> None:
    for button in ("confirm", "decline"):
        path = f"/refunds/quotes/{quote_id or quote.pk}/{button}/"
        answer = Client().post(path, headers=JSON)
        assert (answer.status_code, answer.json()["code"]) == (401, "signed_out")
        page = Client().post(path, headers={**FORM, "Referer": "http://testserver/orders/5531/"})
        assert page["Location"] == "/accounts/login/?next=/orders/5531/"
    quote.refresh_from_db()
    assert quote.state == QuoteState.OPEN


@pytest.mark.parametrize("who", ["ming2", "warehouse"])
def test_the_wrong_person_finds_nothing(quote: RefundQuote, who: str) -> None:
    client = signed_in(who)
    assert press(client, quote, headers=JSON).status_code == 404
    assert press(client, quote, "decline", headers=JSON).status_code == 404
    quote.refresh_from_db()
    assert quote.state == QuoteState.OPEN


def test_an_auditor_may_look_and_not_press(quote: RefundQuote) -> None:
    answer = press(signed_in("auditor"), quote, data={"note": "看看"}, headers=JSON)
    assert (answer.status_code, answer.json()["code"]) == (403, "not_allowed")
    assert not Refund.objects.exists()


def test_a_customer_who_came_by_link_presses_for_that_order_only(quote: RefundQuote) -> None:
    other = ask(cast.place("7101"), (2, 1, "other"))
    path, _ = issue_link(order=quote.order, actor=cast.staff())
    client = Client()
    client.get(path)
    assert press(client, other, headers=JSON).status_code == 404
    assert press(client, quote, headers=JSON).status_code == 201


def test_staff_give_a_reason_and_go_back_to_where_they_were(quote: RefundQuote) -> None:
    client = signed_in("staff")
    missing = press(client, quote, headers=JSON)
    assert (missing.status_code, missing.json()["field"]) == (400, "note")
    answer = press(client, quote, data={"note": "客人來電", "next": "/staff/orders/5531/?tab=refunds"})
    assert answer["Location"] == "/staff/orders/5531/?tab=refunds"
    assert Refund.objects.get().note == "客人來電"


@pytest.mark.parametrize("wanted", ["https://elsewhere.example/", "nope", "/" + "x" * 3000])
def test_what_is_no_page_of_ours_to_go_to_is_ignored(quote: RefundQuote, wanted: str) -> None:
    answer = press(signed_in("staff"), quote, data={"note": "來電", "next": wanted})
    assert answer["Location"] == "/staff/orders/5531/"
