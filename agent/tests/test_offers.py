"""A card that a person puts on the page: the amount that was seen, once, and only the customer's press moves it."""

from typing import Any

import pytest
from django.utils import timezone

from agent import offers, people
from agent.models import Card, Message
from agent.states import CardKind, CardState
from agent.tests.helpers import CASE, EARPHONES, hear, press, talk, told
from orders.actors import NotAllowed
from orders.errors import NotFound, Refusal
from orders.models import AuditEvent, Order
from orders.tests import cast
from refunds import quotes
from refunds.models import Refund, RefundQuote
from refunds.states import QuoteState

pytestmark = pytest.mark.django_db(transaction=True)
FORM = "the-form-of-this-page"
SHOP_CANCELLED = {**CASE, "reason": "shop_cancelled"}


@pytest.fixture
def order() -> Order:
    order = cast.order_5531()
    hear(order)
    return order


def preview(order: Order, *lines: dict[str, Any], form: str = FORM, role: str = "staff") -> RefundQuote:
    choices = quotes.parse_choices({"lines": list(lines) or [CASE]})
    return offers.preview(conversation=talk(order), actor=cast.staff(role), choices=choices, form=form)


def offer(order: Order, quote: RefundQuote, role: str = "staff") -> Card:
    return offers.offer(conversation=talk(order), actor=cast.staff(role), quote_id=quote.pk)


def test_the_customer_gets_the_amount_that_was_seen_and_their_press_moves_it(order: Order) -> None:
    quote = preview(order)
    card = offer(order, quote)
    assert (card.kind, card.state, card.tool_call) == (CardKind.REFUND, CardState.OPEN, None)
    assert told(order, "card")[-1]["display"] == "NT$230"
    assert not Refund.objects.exists()
    press(card)
    card.refresh_from_db()
    assert card.state == CardState.CONFIRMED
    assert Refund.objects.get().amount == 230
    actions = AuditEvent.objects.filter(subject_type="card").order_by("pk").values_list("action", flat=True)
    assert list(actions) == ["card.open", "card.offered", "card.confirmed"]


def test_what_has_to_come_back_first_is_a_card_of_a_return(order: Order) -> None:
    assert offer(order, preview(order, EARPHONES)).kind == CardKind.RETURN


def test_offering_it_again_gives_the_same_card(order: Order) -> None:
    quote = preview(order)
    assert offer(order, quote) == offer(order, quote)
    assert Card.objects.count() == 1


def test_whoever_offers_answers_from_then_on_and_a_colleagues_conversation_is_theirs(order: Order) -> None:
    offer(order, preview(order))
    assert talk(order).owner == cast.staff_user()
    with pytest.raises(Refusal) as refused:
        offer(order, preview(order, role="supervisor"), role="supervisor")
    assert refused.value.code == "taken_over"
    assert Card.objects.count() == 1


def test_another_look_at_the_goods_takes_no_card_off_the_page(order: Order) -> None:
    card = offer(order, preview(order))
    preview(order, EARPHONES)
    card.refresh_from_db()
    assert card.state == CardState.OPEN
    assert card.quote is not None
    assert card.quote.state == QuoteState.OPEN


def test_until_it_is_offered_a_form_has_one_live_quote(order: Order) -> None:
    first, second = preview(order), preview(order, EARPHONES)
    first.refresh_from_db()
    assert (first.state, second.state) == (QuoteState.SUPERSEDED, QuoteState.OPEN)
    with pytest.raises(Refusal) as refused:
        offer(order, first)
    assert refused.value.code == "quote_stale"


def test_a_quote_whose_time_is_over_is_not_offered(order: Order) -> None:
    quote = preview(order)
    RefundQuote.objects.update(expires_at=timezone.now())
    with pytest.raises(Refusal) as refused:
        offer(order, quote)
    assert refused.value.code == "quote_stale"


def test_what_only_the_shop_may_say_is_no_card_for_a_customer(order: Order) -> None:
    with pytest.raises(Refusal) as refused:
        offer(order, preview(order, SHOP_CANCELLED))
    assert refused.value.code == "only_staff_may_confirm"
    assert talk(order).owner is None


def test_a_colleagues_quote_and_that_of_another_order_do_not_exist_here(order: Order) -> None:
    other = cast.place("B1", lines=[("毛巾", 200, 1)])
    hear(other)
    with pytest.raises(NotFound):
        offer(order, preview(order, role="supervisor"))
    with pytest.raises(NotFound):
        offer(order, preview(other, {"line_item_id": "li_1", "quantity": 1, "reason": "changed_mind"}))


def test_a_closed_conversation_gets_no_card(order: Order) -> None:
    quote = preview(order)
    people.close(conversation=talk(order), actor=cast.staff())
    with pytest.raises(Refusal) as refused:
        offer(order, quote)
    assert refused.value.code == "conversation_closed"


@pytest.mark.parametrize("role", ["warehouse", "auditor"])
def test_without_the_permission_nobody_offers(order: Order, role: str) -> None:
    quote = preview(order)
    with pytest.raises(NotAllowed):
        offer(order, quote, role=role)
    with pytest.raises(NotAllowed):
        preview(order, role=role)


def test_the_model_reads_that_a_colleague_has_put_a_card_there(order: Order) -> None:
    card = offer(order, preview(order))
    (note,) = Message.objects.filter(content__0__about=f"card {card.pk}")
    assert "NT$230" in note.text
