"""Who reaches a quote: a customer what they could have asked for, never what stands on a reason only staff may give."""

from typing import Any

import pytest

from orders.actors import agent_actor
from orders.errors import NotFound
from orders.tests import cast
from refunds.models import Refund, RefundQuote
from refunds.redeem import decline, redeem
from refunds.states import Asker, QuoteState
from refunds.tests.ask import ask
from refunds.tests.browser import post_json, signed_in

pytestmark = pytest.mark.django_db
QUOTES = "/api/v1/refund-quotes/"


@pytest.fixture
def of_staff() -> RefundQuote:
    """What staff look at, with a reason that only staff may give: 380 where the customer's own quote comes to 230."""
    return ask(cast.order_5531(), (2, 1, "shop_cancelled"), actor=cast.staff())


def test_a_quote_with_a_reason_of_staff_does_not_exist_for_the_customer(of_staff: RefundQuote) -> None:
    ming = signed_in("ming")
    assert ming.get(f"{QUOTES}?state=open").json()["results"] == []
    missing = ming.get(f"{QUOTES}rq_00000000000000000000/")
    for answer in (
        ming.get(f"{QUOTES}{of_staff.pk}/"),
        post_json(ming, f"{QUOTES}{of_staff.pk}/redeem/"),
        post_json(ming, f"{QUOTES}{of_staff.pk}/decline/"),
    ):
        assert (answer.status_code, answer.json()) == (404, missing.json())
    for button in ("confirm", "decline"):
        assert ming.post(f"/refunds/quotes/{of_staff.pk}/{button}/").status_code == 404
    of_staff.refresh_from_db()
    assert of_staff.state == QuoteState.OPEN
    assert not Refund.objects.exists()


@pytest.mark.parametrize("act", [redeem, decline])
def test_the_services_say_the_same(of_staff: RefundQuote, act: Any) -> None:
    with pytest.raises(NotFound):
        act(quote_id=of_staff.pk, actor=cast.shopper())
    assert not Refund.objects.exists()


def test_the_agent_cannot_decline_what_staff_look_at(of_staff: RefundQuote) -> None:
    with pytest.raises(NotFound):
        decline(quote_id=of_staff.pk, actor=agent_actor(cast.customer()))


def test_once_staff_have_confirmed_it_the_customer_reads_it(of_staff: RefundQuote) -> None:
    redeem(quote_id=of_staff.pk, actor=cast.staff(), note="缺貨")
    shown = signed_in("ming").get(f"{QUOTES}{of_staff.pk}/").json()
    assert (shown["state"], shown["refund"]["amount"]) == ("redeemed", 380)
    again = post_json(signed_in("ming"), f"{QUOTES}{of_staff.pk}/redeem/")
    assert (again.status_code, again.json()["refund_id"]) == (200, shown["refund"]["refund_id"])


def test_what_the_agent_asked_for_the_customer_is_the_customers() -> None:
    quote = ask(cast.order_5531(), (2, 1, "other"), actor=agent_actor(cast.customer()), asker=Asker.AGENT)
    assert [row["quote_id"] for row in signed_in("ming").get(QUOTES).json()["results"]] == [quote.pk]
    assert signed_in("ming").post(f"/refunds/quotes/{quote.pk}/confirm/").status_code in {201, 302}
    assert Refund.objects.get().amount == 230


def test_what_staff_asked_by_the_customers_own_rules_the_customer_may_confirm() -> None:
    quote = ask(cast.order_5531(), (2, 1, "other"), actor=cast.staff())
    assert signed_in("ming").post(f"/refunds/quotes/{quote.pk}/confirm/").status_code in {201, 302}
    assert Refund.objects.get().amount == 230


def test_staff_reach_each_others_quotes(of_staff: RefundQuote) -> None:
    assert post_json(signed_in("supervisor"), f"{QUOTES}{of_staff.pk}/redeem/", {"note": "缺貨"}).status_code == 201
