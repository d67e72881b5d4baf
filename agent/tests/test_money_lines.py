"""Money's later outcome becomes one line in the chat, by signal or by the sweeper, never twice and never by a model."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import transaction
from django.utils import timezone
from pytest_django import DjangoCaptureOnCommitCallbacks

from agent import money, people, sweep
from agent.models import ConversationEvent
from agent.tests.helpers import hear, meanwhile, quoted, talk, told
from orders.actors import agent_actor
from orders.models import Order
from orders.shipments import upsert_shipment
from orders.tests import cast
from orders.tests.factories import ago, fixed_discount, payment_body, shipment_body
from orders.tests.race import wait_until_blocked
from refunds import (
    acceptance,
    approvals,
    compensation,
    elsewhere,
    elsewhere_undone,
    overrides,
    redeem,
    replacements,
    returns,
)
from refunds.exchange_check import parse_exchange
from refunds.models import Approval, Refund, Replacement, Return
from refunds.outcome import move_refund
from refunds.quotes import parse_choices
from refunds.resend import resend
from refunds.resend_check import parse_resend
from refunds.states import AllocationState, RefundState
from refunds.tests.ask import ask
from refunds.tests.old_rules import published_long_ago

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


def becomes(refund: Refund, *states: RefundState) -> None:
    for state in states:
        move_refund(refund=refund, to=state, actor=cast.SHOP)


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


def test_a_return_whose_signal_was_lost_is_told_by_the_sweeper(order: Order) -> None:
    choice = parse_choices({"lines": [{"line_item_id": "li_1", "quantity": 1, "reason": "defective"}]})
    item = returns.request_exchange(order=order, lines=choice, actor=cast.shopper(), request_ref="test")
    returns.reject(return_id=item.pk, actor=cast.staff("warehouse"), note="空盒")
    sweep.sweep()
    sweep.sweep()
    assert [(line["return_id"], line["state"]) for line in told(order, "status")] == [(item.pk, "rejected")]


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


# --- replacements, compensations and exceptions ---
def lost_case(order: Order) -> None:
    body = shipment_body(
        {2: 1},
        state="shipped",
        external_id="s2",
        packed_at=ago(days=21).isoformat(),
        shipped_at=ago(days=20).isoformat(),
    )
    upsert_shipment(order=order, body=body, actor=cast.SHOP)


def sent_again(order: Order) -> Replacement:
    lost_case(order)
    lines = parse_resend({"lines": [{"line_item_id": "li_2", "quantity": 1}]})
    return resend(order=order, lines=lines, actor=cast.shopper(), request_ref="test")


def proposed(order: Order) -> Approval:
    return compensation.propose(
        order=order,
        amount=100,
        reason="A week late.",
        actor=agent_actor(order.customer),
        request_ref="test",
        conversation_ref=str(talk(order).pk),
    )


def test_lost_goods_on_their_way_again_are_told_with_their_parcel(order: Order) -> None:
    replacement = sent_again(order)
    sweep.sweep()
    assert told(order, "status") == []
    replacements.send(
        replacement_id=replacement.pk, actor=cast.staff("warehouse"), carrier="黑貓", tracking_number="TN-9"
    )
    money.tell("replacement", replacement.pk)
    sweep.sweep()
    (line,) = told(order, "status")
    assert (line["kind"], line["replacement_id"], line["state"]) == ("replacement", replacement.pk, "sent")
    assert "黑貓 TN-9" in line["text"]


def test_lost_goods_that_are_not_sent_again_are_told(order: Order) -> None:
    replacement = sent_again(order)
    replacements.release(replacement_id=replacement.pk, actor=cast.staff("warehouse"), note="sold out")
    sweep.sweep()
    assert [line["state"] for line in told(order, "status")] == ["released"]


def test_an_exchange_is_told_of_once_by_its_return_and_names_the_parcel(order: Order) -> None:
    choice = parse_exchange({"lines": [{"line_item_id": "li_1", "quantity": 1, "reason": "defective"}]})
    item = returns.request_exchange(order=order, lines=choice, actor=cast.shopper(), request_ref="test")
    warehouse = cast.staff("warehouse")
    returns.receive(return_id=item.pk, actor=warehouse)
    acceptance.accept(return_id=item.pk, actor=warehouse)
    replacements.send(replacement_id=item.replacement.pk, actor=warehouse, carrier="黑貓", tracking_number="TN-9")
    sweep.sweep()
    sweep.sweep()
    (line,) = told(order, "status")
    assert (line["kind"], line["state"]) == ("return", "exchanged")
    assert "黑貓 TN-9" in line["text"]
    assert money.untold() == []


def accepted_return(order: Order, *, shown: str = "defective") -> Return:
    """Received and accepted, with the refund that this has made; nobody has sent that yet."""
    request = redeem.redeem(quote_id=ask(order, (1, 1, "defective")).pk, actor=cast.shopper()).return_request
    assert request is not None
    returns.receive(return_id=request.pk, actor=cast.staff("warehouse"))
    return acceptance.accept(return_id=request.pk, actor=cast.staff("warehouse"), found={"li_1": shown})


@pytest.mark.parametrize("outcome", [RefundState.SUCCEEDED, RefundState.FAILED])
def test_a_return_tells_that_its_goods_were_accepted_and_its_refund_what_becomes_of_the_money(
    order: Order, outcome: RefundState
) -> None:
    request = accepted_return(order)
    sweep.sweep()
    (line,) = told(order, "status")
    assert (line["kind"], line["state"]) == ("return", "accepted")
    assert "The goods have been accepted" in line["text"]
    becomes(Refund.objects.get(return_request=request), outcome)
    sweep.sweep()
    sweep.sweep()
    assert [(each["kind"], each["state"]) for each in told(order, "status")[1:]] == [("refund", outcome)]
    assert money.untold() == []


def test_so_it_does_where_the_refund_waits_for_a_second_person_and_is_granted_later(order: Order) -> None:
    accepted_return(order, shown="changed_mind")  # so the coupon is lost, and it comes to less than was promised
    sweep.sweep()
    assert [(line["kind"], line["state"]) for line in told(order, "status")] == [
        ("return", "accepted"),
        ("refund", "pending_approval"),
    ]
    approvals.approve(approval_id=Approval.objects.get().pk, actor=cast.staff("supervisor"), reason="fine")
    sweep.sweep()
    assert len(told(order, "status")) == 2
    assert money.untold() == []


@pytest.mark.parametrize(("decide", "state"), [(approvals.approve, "approved"), (approvals.reject, "rejected")])
def test_the_decision_about_a_compensation_is_told_where_it_was_asked_for(
    order: Order, decide: Callable[..., Any], state: str
) -> None:
    approval = proposed(order)
    decide(approval_id=approval.pk, actor=cast.staff("supervisor"), reason="between colleagues")
    sweep.sweep()
    sweep.sweep()
    (line,) = [each for each in told(order, "status") if each["kind"] == "approval"]
    assert (line["approval_id"], line["state"]) == (approval.pk, state)
    assert "NT$100" in line["text"]
    assert "between colleagues" not in line["text"]


def test_a_proposal_that_waits_is_no_news(order: Order) -> None:
    proposed(order)
    sweep.sweep()
    assert told(order, "status") == []


def test_a_compensation_on_its_way_is_called_one(order: Order) -> None:
    refund = approvals.approve(approval_id=proposed(order).pk, actor=cast.staff("supervisor"), reason="").refund
    assert refund is not None
    becomes(refund, RefundState.SUCCEEDED)
    money.tell("refund", refund.pk)
    assert "Your compensation of NT$100 is on its way" in told(order, "status")[-1]["text"]


def test_what_staff_ask_each_other_is_not_told_to_the_customer(order: Order) -> None:
    asked = compensation.propose(
        order=order, amount=50, reason="kind", actor=cast.staff("supervisor"), request_ref="staff"
    )
    approvals.reject(approval_id=asked.pk, actor=cast.staff("admin"), reason="no")
    sweep.sweep()
    assert told(order, "status") == []
    assert money.untold() == []


def test_an_exception_that_was_granted_tells_the_customer_what_to_do(order: Order) -> None:
    cast.delivered_days_ago(order, 20)
    wanted = parse_choices({"lines": [{"line_item_id": "li_1", "quantity": 1, "reason": "changed_mind"}]})
    asked = overrides.ask(order=order, choices=wanted, reason="a loyal customer", actor=cast.staff("supervisor"))
    approvals.approve(approval_id=asked.pk, actor=cast.staff("admin"), reason="fine")
    sweep.sweep()
    (line,) = told(order, "status")
    made = Return.objects.get()
    assert (line["kind"], line["state"]) == ("approval", "approved")
    assert made.pk in line["text"]
    assert "Pack the goods" in line["text"]
    assert "loyal" not in line["text"]


def test_an_exception_about_goods_that_have_come_back_is_told_by_their_refund(order: Order) -> None:
    published_long_ago(excluded_categories=["audio"])
    request = redeem.redeem(quote_id=ask(order, (1, 1, "defective")).pk, actor=cast.shopper()).return_request
    assert request is not None
    returns.receive(return_id=request.pk, actor=cast.staff("warehouse"))
    acceptance.accept(return_id=request.pk, actor=cast.staff("warehouse"), found={"li_1": "other"})
    approvals.approve(approval_id=Approval.objects.get().pk, actor=cast.staff("supervisor"), reason="fine")
    sweep.sweep()
    assert "approval" not in {line["kind"] for line in told(order, "status")}
    assert money.untold() == []


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
