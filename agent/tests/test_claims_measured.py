"""How well claims are told from innocent words, measured on sentences that people wrote: `sentences/README.md`.

The numbers are printed at the end of every run (`conftest.py`). Whoever changes the detector may look at
the open sentences; those set aside are read here alone, and only counted.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any, Final

import pytest
from django.db import transaction
from django.utils import timezone

from agent.claim_goods import goods_named
from agent.claims import claims_in, is_founded
from agent.deeds import CANCEL, EXCHANGE, REFUND, RESEND, Deed, deeds, numbers_of
from agent.models import Conversation, Turn
from agent.states import CardState
from agent.tests.helpers import SAME_AGAIN, asked, call, hear, hold, quoted, talk
from agent.tests.labelled import labelled
from agent.tools import executor
from orders.actors import agent_actor
from orders.address import change_address
from orders.models import Order
from orders.tests import cast
from orders.tests.factories import PAID_DELIVERY
from refunds import compensation
from refunds.models import Refund, RefundAllocation
from refunds.redeem import redeem
from refunds.resend import resend
from refunds.resend_check import parse_resend
from refunds.states import AllocationState, RefundState
from refunds.tests.going_back import exchange, lost_earphones, requested_return

pytestmark = pytest.mark.django_db
ADDRESS: Final = {
    "recipient": "王小明",
    "phone": "0912345678",
    "postal_code": "106",
    "city": "台北市",
    "district": "大安區",
    "street": "和平東路一段 1 號 3 樓",
}
# The sentences call both halves of a cancellation a refund, and words do not keep an exchange's parcel apart from one
# that is sent again.
ALIKE: Final = {REFUND: {REFUND, CANCEL}, EXCHANGE: {EXCHANGE, RESEND}, RESEND: {RESEND, EXCHANGE}}


@dataclass(frozen=True)
class Known:
    """What the rows say in one of the states. `names`: of the order's goods, by their keys."""

    done: list[Deed]
    numbers: frozenset[str]
    names: dict[int, str]


def refund_submitted() -> Order:
    order = cast.order_5531()
    hear(order)
    redeem(quote_id=quoted(order).pk, actor=cast.shopper())
    return order


def refund_succeeded() -> Order:
    order = refund_submitted()
    RefundAllocation.objects.update(state=AllocationState.SUCCEEDED)
    Refund.objects.update(state=RefundState.SUCCEEDED)
    return order


def return_requested() -> Order:
    order = cast.order_5531()
    requested_return(order, (1, 1, "changed_mind"))
    return order


def exchange_requested() -> Order:
    order = cast.order_5531()
    exchange(order)
    return order


def sent_again() -> Order:
    order = lost_earphones()
    line = order.lines.get()
    lines = parse_resend({"lines": [{"line_item_id": line.line_item_id, "quantity": 1}]})
    resend(order=order, lines=lines, actor=cast.shopper(), request_ref="card_1")
    return order


def address_changed() -> Order:
    order = cast.place("7001", shipping=PAID_DELIVERY)
    change_address(order=order, body=ADDRESS, actor=cast.shopper())
    return order


def person_called() -> Order:
    order = cast.order_5531()
    hear(order)
    Conversation.objects.update(needs_person=True, waiting_since=timezone.now())
    return order


def compensation_proposed() -> Order:
    order = cast.order_5531()
    hear(order)
    actor = agent_actor(order.customer)
    compensation.propose(order=order, amount=200, reason="Late.", actor=actor, request_ref="1:toolu_1")
    return order


def refund_offered() -> Order:
    order = cast.order_5531()
    hear(order)
    offered(order, call("refund_items", quote_id=quoted(order).pk))
    return order


def exchange_offered() -> Order:
    order = cast.order_5531()
    hear(order)
    offered(order, call("create_return", quote_id=None, exchange_lines=[SAME_AGAIN]))
    return order


def offered(order: Order, card: dict[str, Any]) -> None:
    """A card on the page waits for the customer's press."""
    lease = hold(order)
    (each,) = asked(order, card)
    executor.run_call(lease, each.pk)
    assert talk(order).cards.filter(state=CardState.OPEN).exists()
    Turn.objects.update(lease_until=timezone.now() - timedelta(seconds=1))


STATES: Final[dict[str, Callable[[], Order]]] = {
    "-": cast.order_5531,
    "refund.submitted": refund_submitted,
    "refund.succeeded": refund_succeeded,
    "refund.offered": refund_offered,
    "return.requested": return_requested,
    "exchange.offered": exchange_offered,
    "exchange.requested": exchange_requested,
    "resend.requested": sent_again,
    "address.changed": address_changed,
    "person.called": person_called,
    "compensation.proposed": compensation_proposed,
}


@contextmanager
def undone() -> Iterator[None]:
    """What is made in the body is rolled back. By hand: services that begin a transaction of their own may be in it."""
    before = transaction.savepoint()
    yield
    transaction.savepoint_rollback(before)


def shown(order: Order) -> None:
    """The model has looked at the order and at what became of it, as it does before it tells of it."""
    lease = hold(order)
    for each in asked(order, call("get_order"), call("list_refunds"), call("list_shipments")):
        executor.run_call(lease, each.pk)


@pytest.fixture
def known() -> dict[str, Known]:
    """Read from real rows, made by the services that make them."""
    read = {}
    for name, make in STATES.items():
        with undone():
            order = make()
            if not Conversation.objects.filter(order=order).exists():
                hear(order)
            shown(order)
            names = dict(order.lines.values_list("pk", "name"))
            read[name] = Known(deeds(talk(order)), numbers_of(order), names)
    return read


@dataclass
class Score:
    caught: int = 0
    missed: int = 0
    wronged: int = 0
    passed: int = 0

    @property
    def precision(self) -> float:
        return self.caught / (self.caught + self.wronged)

    @property
    def recall(self) -> float:
        return self.caught / (self.caught + self.missed)

    def told(self, name: str) -> str:
        claims, innocent = self.caught + self.missed, self.wronged + self.passed
        return (
            f"claims, {name}: precision {self.precision:.3f}, recall {self.recall:.3f} "
            f"({self.caught} of {claims} claims caught, {self.wronged} of {innocent} innocent ones taken for claims)"
        )


def measured(file: str, known: dict[str, Known]) -> Score:
    score = Score()
    for row in labelled(file):
        state = called(known[row["state"]], row.get("goods"))
        is_claim, is_caught = row["label"] != "none", caught(row["sentence"], row["label"], state)
        score.caught += is_claim and is_caught
        score.missed += is_claim and not is_caught
        score.wronged += not is_claim and is_caught
        score.passed += not is_claim and not is_caught
    return score


def called(state: Known, name: str | None) -> Known:
    """The same with another name for the order's first line."""
    return replace(state, names={**state.names, min(state.names): name}) if name else state


def caught(sentence: str, label: str, state: Known) -> bool:
    """Of a claim its own kind has to be found; of an innocent sentence nothing may be."""
    claims = [replace(claim, goods=goods_named(claim.words, state.names)) for claim in claims_in(sentence)]
    false = {claim.kind for claim in claims if not is_founded(claim, state.done, state.numbers, 0)}
    return bool(false) if label == "none" else bool(false & ALIKE.get(label, {label}))


@pytest.mark.parametrize(
    ("name", "file", "precise", "complete"),
    [
        ("open sentences", "claims_open.tsv", 0.95, 0.95),
        ("second open sentences", "claims_second_open.tsv", 0.95, 0.95),
        ("third open sentences", "claims_third_open.tsv", 0.95, 0.95),
        ("sentences set aside before the detector was written", "claims_held_out.tsv", 0.95, 0.85),
        ("sentences set aside before it was mended", "claims_held_out_second.tsv", 0.95, 0.7),
        ("sentences set aside after it was mended", "claims_held_out_third.tsv", 0.95, 0.6),
    ],
)
def test_claims_are_told_from_innocent_words(
    name: str,
    file: str,
    precise: float,
    complete: float,
    known: dict[str, Known],
    record_property: Callable[[str, object], None],
) -> None:
    score = measured(file, known)
    record_property("measured", score.told(name))
    assert score.precision >= precise, score.told(name)
    assert score.recall >= complete, score.told(name)


def test_innocent_sentences_that_came_after_the_detector_are_told_apart(
    known: dict[str, Known], record_property: Callable[[str, object], None]
) -> None:
    """They were set aside to have as many as there are claims, half an hour after the detector had been written."""
    score = measured("claims_held_out_later.tsv", known)
    innocent = score.wronged + score.passed
    record_property(
        "measured",
        f"claims, set aside after the detector was written: {score.wronged} of {innocent} innocent ones taken for them",
    )
    assert (score.wronged, score.passed) == (0, 13)


def test_there_are_as_many_sentences_as_were_asked_for() -> None:
    """At least 120, half of them innocent; a third set aside; both languages in both."""
    counts = {}
    for file in ("claims_open.tsv", "claims_held_out.tsv"):
        read = labelled(file)
        counts[file] = len(read)
        innocent = sum(row["label"] == "none" for row in read)
        assert 0.4 <= innocent / len(read) <= 0.6
        assert {row["language"] for row in read} == {"zh", "en"}
        assert len({row["label"] for row in read}) == 8
    assert sum(counts.values()) >= 120
    assert 0.3 <= counts["claims_held_out.tsv"] / sum(counts.values()) <= 0.4


@pytest.mark.parametrize(
    ("file", "least"),
    [("claims_third_open.tsv", 500), ("claims_held_out_second.tsv", 40), ("claims_held_out_third.tsv", 60)],
)
def test_half_of_the_later_sentences_are_innocent_and_in_both_languages(file: str, least: int) -> None:
    read = labelled(file)
    assert len(read) >= least
    assert 0.4 <= sum(row["label"] == "none" for row in read) / len(read) <= 0.6
    assert {row["language"] for row in read} == {"zh", "en"}
    assert len({row["label"] for row in read}) == 8
