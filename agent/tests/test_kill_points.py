"""A worker is killed at every point where a turn is saved, just before and just after, and the next one goes on.

The points are found by counting: whatever the turn saves, it saves under its lease.
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from agent import asking, keeping, loop
from agent.models import Conversation, Turn
from agent.offline.control import Control
from agent.states import CardState, TurnState
from agent.tests.helpers import hear, newest_turn, press, refused_requests, talk, work
from agent.tools import executor
from agent.turns import Lease, holding
from orders.models import Order
from orders.tests import cast
from orders.tests.factories import fixed_discount, payment_body, shipment_body
from refunds.models import Refund, RefundQuote, Return

pytestmark = pytest.mark.django_db(transaction=True)
SENTENCE = "耳機左耳沒聲音，耳機殼也還沒寄到，我不想等了"


class Killed(BaseException):
    """As SIGKILL is: nothing that catches exceptions sees it."""


class Death:
    """Strikes at the n-th save of a turn: before it is committed, or right after."""

    def __init__(self) -> None:
        self.saves, self.strikes_at, self.before_commit = 0, 0, False

    def arm(self, number: int, *, before_commit: bool) -> None:
        self.saves, self.strikes_at, self.before_commit = 0, number, before_commit

    @contextmanager
    def holding(self, lease: Lease, **options: bool) -> Iterator[Any]:
        self.saves += 1
        struck = self.saves == self.strikes_at
        with holding(lease, **options) as held:
            yield held
            if struck and self.before_commit:
                raise Killed
        if struck:
            raise Killed


@pytest.fixture
def death(monkeypatch: pytest.MonkeyPatch) -> Death:
    death = Death()
    use: Callable[..., AbstractContextManager[Any]] = death.holding
    for module in (loop, asking, keeping, executor):
        monkeypatch.setattr(module, "holding", use)
    return death


def fresh_order(number: int, sentence: str = SENTENCE) -> Order:
    """Another order like 5531."""
    order = cast.place(
        f"T-{number}",
        discounts=[fixed_discount(150, 1500)],
        payments=[payment_body(1430)],
        shipments=[shipment_body({1: 1})],
    )
    hear(order, sentence, language="zh-hant")
    return order


def work_and_die(order: Order) -> None:
    """Die, and let the lease run out."""
    with pytest.raises(Killed):
        work(order)
    stale = Turn.objects.filter(pk=newest_turn(order).pk, state=TurnState.RUNNING)
    stale.update(lease_until=timezone.now() - timedelta(seconds=1))


def picture(conversation: Conversation) -> dict[str, Any]:
    """Everything that a repeated side effect, or a lost one, would change."""
    order = conversation.order
    return {
        "messages": [
            (message.author, message.stop_reason, [block["type"] for block in message.content])
            for message in conversation.messages.order_by("pk")
        ],
        "calls": list(conversation.tool_calls.order_by("pk").values_list("name", "state", "is_error")),
        "cards": sorted(conversation.cards.values_list("kind", "state")),
        "quotes": list(RefundQuote.objects.filter(order=order).values_list("state", "amount")),
        "refunds": list(Refund.objects.filter(order=order).values_list("amount", flat=True)),
        "returns": Return.objects.filter(order=order).count(),
        "turns": list(conversation.turns.values_list("state", flat=True)),
    }


def pressed(number: int) -> Order:
    """An order whose two cards have been pressed: the closing turn is queued."""
    order = fresh_order(number)
    work(order)
    for card in talk(order).cards.filter(state=CardState.OPEN):
        press(card)
    return order


def asking_when(number: int) -> Order:
    """An order whose customer asks when the case arrives: a carrier is asked between two saves."""
    return fresh_order(number, "耳機殼什麼時候會到？")


@pytest.mark.parametrize(
    "prepare",
    [fresh_order, pressed, asking_when],
    ids=["until the cards", "after the presses", "while a carrier is asked"],
)
@pytest.mark.parametrize("before_commit", [True, False], ids=["before the commit", "after the commit"])
def test_killed_at_any_save_the_next_worker_goes_on_and_nothing_happens_twice(
    model: Control, death: Death, prepare: Callable[[int], Order], before_commit: bool
) -> None:
    undisturbed = prepare(0)
    death.arm(0, before_commit=before_commit)
    work(undisturbed)
    points, expected = death.saves, picture(talk(undisturbed))
    assert points >= 4

    for point in range(1, points + 1):
        order = prepare(point)
        death.arm(point, before_commit=before_commit)
        work_and_die(order)
        death.arm(0, before_commit=before_commit)
        work(order)
        assert picture(talk(order)) == expected, f"killed at save {point} of {points}"
    assert refused_requests(model) == []
