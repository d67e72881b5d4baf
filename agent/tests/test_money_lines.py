"""Money's later outcome becomes one line in the chat, by signal or by the sweeper, never twice and never by a model."""

from datetime import timedelta

import pytest
from django.db import transaction
from django.utils import timezone
from pytest_django import DjangoCaptureOnCommitCallbacks

from agent import money, people, sweep
from agent.models import ConversationEvent
from agent.tests.helpers import becomes, hear, meanwhile, quoted, talk, told
from orders.models import Order
from orders.tests import cast
from orders.tests.factories import fixed_discount, payment_body
from orders.tests.race import wait_until_blocked
from refunds import elsewhere, elsewhere_undone, redeem
from refunds.models import Refund
from refunds.states import AllocationState, RefundState
from refunds.tests.ask import ask

pytestmark = pytest.mark.django_db


@pytest.fixture
def order() -> Order:
    order = cast.order_5531()
    hear(order)
    return order


@pytest.fixture
def refund(order: Order) -> Refund:
    made = redeem.redeem(quote_id=quoted(order).pk, actor=cast.shopper()).refund
    assert made is not None
    return made


@pytest.mark.parametrize(
    ("states", "words"),
    [
        ([RefundState.SUCCEEDED], "NT$230 is on its way to card ending in 4242"),
        ([RefundState.FAILED], "refused"),
        ([RefundState.UNKNOWN], "checking"),
    ],
)
def test_an_outcome_is_told_in_words_at_once(
    refund: Refund,
    states: list[RefundState],
    words: str,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        becomes(refund, *states)
    (line,) = told(refund.order, "status")
    assert (line["kind"], line["refund_id"], line["state"]) == ("refund", refund.pk, states[-1])
    assert words in line["text"]
    assert refund.pk in line["text"]


def test_a_refund_on_its_way_to_the_provider_is_not_worth_a_line(refund: Refund) -> None:
    money.tell("refund", refund.pk)
    assert told(refund.order, "status") == []


def test_the_same_state_is_told_once_and_the_next_one_again(refund: Refund) -> None:
    becomes(refund, RefundState.UNKNOWN)
    for _ in range(2):
        money.tell("refund", refund.pk)
    becomes(refund, RefundState.SUCCEEDED)
    for _ in range(2):
        money.tell("refund", refund.pk)
    assert [line["state"] for line in told(refund.order, "status")] == ["unknown", "succeeded"]


@pytest.mark.django_db(transaction=True)
def test_two_that_tell_at_the_same_moment_tell_it_once_and_neither_breaks() -> None:
    order = cast.order_5531()
    hear(order)
    made = redeem.redeem(quote_id=quoted(order).pk, actor=cast.shopper()).refund
    assert made is not None
    with transaction.atomic():
        becomes(made, RefundState.SUCCEEDED)
    ConversationEvent.objects.filter(kind="status").delete()  # as if its signal had been lost
    with meanwhile(lambda: money.tell("refund", made.pk)) as other, transaction.atomic():
        money.tell("refund", made.pk)
        other.begin()
        wait_until_blocked(1)
    other.result()
    assert len(told(order, "status")) == 1


def test_a_lost_signal_is_made_good_by_the_sweeper_once(refund: Refund) -> None:
    becomes(refund, RefundState.SUCCEEDED)
    assert [move.subject_id for move in money.untold()] == [refund.pk]
    sweep.sweep()
    sweep.sweep()
    assert [line["state"] for line in told(refund.order, "status")] == ["succeeded"]
    assert money.untold() == []


def test_a_refund_that_nobody_talks_about_is_told_to_nobody() -> None:
    order = cast.order_5531()
    made = redeem.redeem(quote_id=ask(order, (2, 1, "other")).pk, actor=cast.shopper()).refund
    assert made is not None
    becomes(made, RefundState.SUCCEEDED)
    money.tell("refund", made.pk)
    sweep.sweep()
    assert not ConversationEvent.objects.exists()


def test_a_move_of_the_week_before_last_is_left_in_peace(refund: Refund, monkeypatch: pytest.MonkeyPatch) -> None:
    becomes(refund, RefundState.SUCCEEDED)
    monkeypatch.setattr(money, "LOOK_BACK", timedelta(0))
    assert money.untold() == []


def test_a_late_decision_about_an_old_refund_is_told_although_its_signal_was_lost(refund: Refund) -> None:
    Refund.objects.update(created_at=timezone.now() - timedelta(days=8))
    becomes(refund, RefundState.SUCCEEDED)
    sweep.sweep()
    assert [line["state"] for line in told(refund.order, "status")] == ["succeeded"]


def test_the_same_state_a_second_time_is_told_a_second_time(refund: Refund) -> None:
    for state in (RefundState.FAILED, RefundState.PENDING, RefundState.UNKNOWN, RefundState.FAILED):
        becomes(refund, state)
        money.tell("refund", refund.pk)
    assert [line["state"] for line in told(refund.order, "status")] == ["failed", "unknown", "failed"]


def test_a_refusal_of_the_provider_calls_the_colleague_of_whom_the_line_speaks(refund: Refund) -> None:
    becomes(refund, RefundState.FAILED)
    money.tell("refund", refund.pk)
    conversation = talk(refund.order)
    assert conversation.needs_person
    assert refund.pk in conversation.hand_off_summary


def test_a_part_that_was_paid_is_not_called_refused() -> None:
    payments = [payment_body(500), payment_body(300, external_id="p2", method="store_credit", last4="")]
    order = cast.place("9002", lines=(("甲", 800, 1),), payments=payments)
    hear(order)
    made = redeem.redeem(quote_id=ask(order, (1, 1, "other")).pk, actor=cast.shopper()).refund
    assert made is not None
    made.allocations.filter(amount=500).update(state=AllocationState.SUCCEEDED)
    made.allocations.filter(amount=300).update(state=AllocationState.FAILED)
    becomes(made, RefundState.FAILED)
    money.tell("refund", made.pk)
    (line,) = told(order, "status")
    assert "NT$500 is on its way" in line["text"]
    assert "refused the other NT$300" in line["text"]


def test_after_a_conversation_was_closed_the_outcome_is_told_in_the_next_one(refund: Refund) -> None:
    people.close(conversation=talk(refund.order), actor=cast.staff())
    hear(refund.order, "and my money?")
    becomes(refund, RefundState.SUCCEEDED)
    money.tell("refund", refund.pk)
    assert [line["state"] for line in told(refund.order, "status")] == ["succeeded"]


def test_what_was_told_in_an_earlier_conversation_is_not_told_again(refund: Refund) -> None:
    becomes(refund, RefundState.SUCCEEDED)
    money.tell("refund", refund.pk)
    people.close(conversation=talk(refund.order), actor=cast.staff())
    hear(refund.order, "hello again")
    money.tell("refund", refund.pk)
    assert told(refund.order, "status") == []


def test_a_refund_of_nothing_does_not_promise_money() -> None:
    lines = (("甲", 100, 1), ("乙", 1500, 1))
    order = cast.place("9001", lines=lines, discounts=[fixed_discount(150, 1600)], payments=[payment_body(1450)])
    hear(order)
    made = redeem.redeem(quote_id=ask(order, (1, 1, "other")).pk, actor=cast.shopper()).refund
    assert made is not None
    assert made.amount == 0
    money.tell("refund", made.pk)
    (line,) = told(order, "status")
    assert "nothing to pay back" in line["text"]


def given_back_in_cash(order: Order) -> Refund:
    told = {"external_ref": "CASH-1", "amount": 100, "payment_id": order.payments.get().pk, "note": "in cash"}
    body = {**told, "lines": [], "for_goods": False}
    return elsewhere.record(order=order, body=body, actor=cast.staff("admin"))


def test_money_that_the_shop_gave_back_in_another_way_is_not_called_on_its_way(order: Order) -> None:
    refund = given_back_in_cash(order)
    money.tell("refund", refund.pk)
    (line,) = told(order, "status")
    assert "in another way" in line["text"]


def test_what_was_given_back_in_another_way_by_mistake_is_taken_back_in_words_too(order: Order) -> None:
    refund = given_back_in_cash(order)
    elsewhere_undone.undo(refund_id=refund.pk, actor=cast.staff("admin"), note="mistyped")
    money.tell("refund", refund.pk)
    (line,) = told(order, "status")
    assert "by mistake" in line["text"]
