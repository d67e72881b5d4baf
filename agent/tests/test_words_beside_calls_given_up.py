"""Words beside a call that a failing turn never runs are looked at as beside a refused one."""

from typing import Any

import pytest

from agent import claims
from agent.farewells import fail
from agent.states import Author, TurnState
from agent.tests.helpers import asked, call, hear, hold, newest_turn, results, talk, texts
from orders.models import AuditEvent, Order
from orders.tests import cast

pytestmark = pytest.mark.django_db
SAID = "I have passed on your request for a compensation of NT$100 to the team in charge."
PROMISE = "A colleague will answer you here."
PROPOSAL = call("propose_compensation", compensation_ntd=100, reason="The parcel came late.")
TAKEN_BACK = "What the assistant has just written here was not right and is taken back."


@pytest.fixture
def order() -> Order:
    order = cast.order_5531()
    hear(order, "My parcel came late.")
    return order


def fails_before(order: Order, *calls: dict[str, Any], text: str) -> list[str]:
    """The reply with these calls is kept, and the turn fails before it runs them. What the system then says."""
    lease = hold(order)
    asked(order, *calls, text=text)
    fail(lease, "seconds")
    return texts(order, Author.SYSTEM)


def test_a_compensation_that_was_never_proposed_is_taken_back_before_the_farewell(order: Order) -> None:
    taken_back, farewell = fails_before(order, PROPOSAL, text=SAID)
    assert taken_back == f"{TAKEN_BACK} No compensation has been asked for or agreed to."
    assert "longer than I may take" in farewell
    assert results(order)[0]["code"] == "no_answer"
    assert AuditEvent.objects.get(action="conversation.claim_taken_back").chosen["text"] == SAID


def test_two_calls_beside_the_same_words_take_them_back_once(order: Order) -> None:
    assert len(fails_before(order, PROPOSAL, PROPOSAL, text=SAID)) == 2


def test_a_person_promised_beside_another_call_is_asked(order: Order) -> None:
    (farewell,) = fails_before(order, PROPOSAL, text=PROMISE)
    assert talk(order).needs_person
    assert "We have asked a colleague to join." in farewell


def test_a_person_promised_beside_their_own_call_is_asked_once(order: Order) -> None:
    summon = call("hand_off_to_human", reason="complaint", summary="Late.")
    taken_back, farewell = fails_before(order, summon, PROPOSAL, text=f"{PROMISE} {SAID}")
    assert taken_back.startswith(TAKEN_BACK)
    assert "We have asked a colleague to join." in farewell
    assert AuditEvent.objects.filter(action="conversation.person_asked").count() == 1


@pytest.mark.parametrize("text", ["Let me see.", ""])
def test_words_that_say_nothing_of_it_stand(order: Order, text: str) -> None:
    assert len(fails_before(order, PROPOSAL, text=text)) == 1
    assert not talk(order).needs_person


def test_where_the_words_cannot_be_looked_at_the_turn_ends_in_words_all_the_same(
    order: Order, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any) -> None:
        raise RuntimeError("no claims today")

    monkeypatch.setattr(claims, "unfounded", broken)
    (farewell,) = fails_before(order, PROPOSAL, text=SAID)
    assert "longer than I may take" in farewell
    assert newest_turn(order).state == TurnState.FAILED
