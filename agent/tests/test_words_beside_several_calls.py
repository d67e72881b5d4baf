"""Words beside several calls are looked at again once: when the last call that could make them true has been run."""

from typing import Any

import pytest

from agent.offline.control import Control
from agent.states import Author
from agent.tests.helpers import call, hear, reply, talk, texts, work
from orders.models import AuditEvent, Order
from orders.tests import cast

pytestmark = pytest.mark.django_db(transaction=True)
TOO_MUCH = 900_000


@pytest.fixture
def order(model: Control) -> Order:
    order = cast.order_5531()
    hear(order, "I want something for the trouble.")
    return order


def proposal() -> dict[str, Any]:
    return call("propose_compensation", compensation_ntd=TOO_MUCH, reason="Late.")


def test_a_call_that_promises_nothing_does_not_put_the_same_words_right_again(model: Control, order: Order) -> None:
    said = "I have proposed a compensation of NT$900,000."
    model.script([reply(said, proposal(), call("get_order")), reply("I am sorry.")])
    work(order)
    assert sum("taken back" in line for line in texts(order, Author.SYSTEM)) == 1


def test_a_promise_is_not_kept_for_a_call_that_is_still_to_be_run(model: Control, order: Order) -> None:
    person = call("hand_off_to_human", reason="complaint", summary="Wants more than may be proposed.")
    model.script([reply("I have asked a colleague to take over.", proposal(), person), reply("They will be with you.")])
    work(order)
    asked_for = AuditEvent.objects.filter(action="conversation.person_asked")
    assert [event.chosen["reason"] for event in asked_for] == ["complaint"]
    assert talk(order).hand_off_reason == "complaint"
