"""What becomes of returns, replacements, compensations and exceptions is one line in the chat as well, once."""

from collections.abc import Callable
from typing import Any

import pytest

from agent import money, sweep
from agent.tests.helpers import becomes, hear, talk, told
from orders.actors import agent_actor
from orders.models import Order
from orders.shipments import upsert_shipment
from orders.tests import cast
from orders.tests.factories import ago, shipment_body
from refunds import acceptance, approvals, compensation, overrides, redeem, replacements, returns
from refunds.exchange_check import parse_exchange
from refunds.models import Approval, Refund, Replacement, Return
from refunds.quotes import parse_choices
from refunds.resend import resend
from refunds.resend_check import parse_resend
from refunds.states import RefundState
from refunds.tests.ask import ask
from refunds.tests.old_rules import published_long_ago

pytestmark = pytest.mark.django_db


@pytest.fixture
def order() -> Order:
    order = cast.order_5531()
    hear(order)
    return order


def test_a_return_whose_signal_was_lost_is_told_by_the_sweeper(order: Order) -> None:
    choice = parse_choices({"lines": [{"line_item_id": "li_1", "quantity": 1, "reason": "defective"}]})
    item = returns.request_exchange(order=order, lines=choice, actor=cast.shopper(), request_ref="test")
    returns.reject(return_id=item.pk, actor=cast.staff("warehouse"), note="空盒")
    sweep.sweep()
    sweep.sweep()
    assert [(line["return_id"], line["state"]) for line in told(order, "status")] == [(item.pk, "rejected")]


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
