"""Of more than a round of repairs can take, the next takes others: rows that break do not hide those behind them."""

from collections.abc import Generator
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from agent import cards, events, rounds, sweep
from agent.models import Card
from agent.states import CardKind, CardState
from agent.tests.helpers import hear, talk
from agent.tools.base import CardSpec
from orders.models import Order
from orders.tests import cast

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def from_the_beginning() -> Generator[None]:
    rounds._reached.clear()
    yield
    rounds._reached.clear()


@pytest.fixture
def order() -> Order:
    order = cast.order_5531()
    hear(order)
    return order


def run_out(order: Order, number: int) -> list[str]:
    """So many cards whose time is over, by their numbers."""
    over = timezone.now() - timedelta(seconds=1)
    with events.writing(talk(order).pk) as conversation:
        for _ in range(number):
            spec = CardSpec(kind=CardKind.EXCHANGE, expires_at=over)
            cards.open_card(conversation=conversation, call=None, spec=spec)
    return sorted(Card.objects.values_list("pk", flat=True))


def of_two(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = rounds.next_of
    monkeypatch.setattr(rounds, "next_of", lambda name, rows: whole(name, rows, most=2))


def found() -> list[str]:
    return [card.pk for card in cards.cards_behind()]


def test_every_round_begins_behind_the_last_and_then_from_the_beginning(
    order: Order, monkeypatch: pytest.MonkeyPatch
) -> None:
    a, b, c = run_out(order, 3)
    of_two(monkeypatch)
    assert [found() for _ in range(4)] == [[a, b], [c, a], [b, c], [a, b]]
    Card.objects.exclude(pk=a).update(state=CardState.EXPIRED)
    assert [found(), found()] == [[a], [a]]


def test_a_page_of_cards_that_break_does_not_hide_one_that_can_be_repaired(
    order: Order, monkeypatch: pytest.MonkeyPatch
) -> None:
    *broken, good = run_out(order, 3)
    Card.objects.filter(pk__in=broken).update(payload=[])
    of_two(monkeypatch)
    sweep.sweep()
    assert Card.objects.get(pk=good).state == CardState.OPEN
    sweep.sweep()
    assert Card.objects.get(pk=good).state == CardState.EXPIRED


@pytest.mark.parametrize(
    "search", ["need not wait", "late", "cards behind", "untold", "lost runs"], ids=lambda name: name.replace(" ", "-")
)
def test_every_search_of_the_sweeper_takes_turns(search: str, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def noted(name: str, rows: Any) -> list[Any]:
        asked.append(name)
        return []

    monkeypatch.setattr(rounds, "next_of", noted)
    sweep.sweep()
    assert search in asked
