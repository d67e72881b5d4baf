"""Exceptions: staff ask for a return that the rules refuse, and a second person lets it happen, by the same amounts."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from orders.actors import Actor, NotAllowed
from orders.errors import InvalidInput, NotFound, Refusal
from orders.models import AuditEvent, Order
from orders.tests import cast
from orders.tests.factories import fixed_discount, line_body, shipment_body
from refunds import approvals, ending, overrides, release, returns
from refunds.acceptance import accept
from refunds.models import Approval, Refund, RefundQuote, Return
from refunds.redeem import decline, redeem
from refunds.states import ApprovalKind, ApprovalState, QuoteState, ReturnState
from refunds.tests.ask import Asked, ask, choices
from refunds.tests.going_back import received_return, warehouse
from refunds.tests.old_rules import published_long_ago

pytestmark = pytest.mark.django_db
EARPHONES: Asked = (1, 1, "changed_mind")


def late_order(**changes: Any) -> Order:
    """The earphones and the case of the story, both delivered ten days ago: too late to return."""
    order = cast.order_5531(shipments=[shipment_body({1: 1, 2: 1})], **changes)
    cast.delivered_days_ago(order, 10)
    return order


def hygiene_order() -> Order:
    """Delivered two days ago, of a category that a second version of the policy does not take back."""
    published_long_ago(excluded_categories=["hygiene"])
    return cast.place(
        "7401",
        lines=[
            line_body(1, "耳塞", 300, category="hygiene"),
            line_body(2, "盒", 100),
            line_body(3, "牙刷", 50, category="hygiene"),
        ],
        shipments=[shipment_body({1: 1, 2: 1, 3: 1})],
    )


def exception(order: Order, *asked: Asked, actor: Actor | None = None) -> Approval:
    return overrides.ask(
        order=order, choices=choices(*(asked or (EARPHONES,))), reason="老客人", actor=actor or cast.staff()
    )


def approved(approval: Approval) -> Return:
    approvals.approve(approval_id=approval.pk, actor=cast.staff("supervisor"), reason="可以")
    return Return.objects.get(quote=approval.quote)


def test_a_return_that_comes_too_late_waits_with_its_amount_and_holds_nothing() -> None:
    order = late_order()
    approval = exception(order)
    quote = approval.quote
    assert quote is not None
    assert (approval.kind, approval.state, approval.amount) == (ApprovalKind.OVERRIDE, ApprovalState.WAITING, 1050)
    assert (quote.state, quote.amount, quote.overrides) == (QuoteState.OPEN, 1050, ["return_window_over"])
    assert quote.expires_at > timezone.now() + release.APPROVAL_LIFE - timedelta(minutes=1)
    assert cast.shipment_line(order, 1).returning_quantity == 0
    assert not Return.objects.exists()


def test_an_excluded_category_can_be_set_aside_too() -> None:
    quote = exception(hygiene_order(), (1, 1, "changed_mind")).quote
    assert quote is not None
    assert (quote.amount, quote.overrides) == (300, ["excluded_category"])


def test_both_at_once_and_no_more_than_it_needs() -> None:
    order = hygiene_order()
    cast.delivered_days_ago(order, 10)
    both = exception(order, (1, 1, "changed_mind")).quote
    late = exception(order, (2, 1, "changed_mind")).quote
    assert both is not None
    assert late is not None
    assert (both.overrides, late.overrides) == (["return_window_over", "excluded_category"], ["return_window_over"])


def test_approved_the_return_is_open_with_the_promised_amount_for_whoever_asked() -> None:
    order = late_order()
    request = approved(exception(order))
    assert (request.state, request.confirmed_by) == (ReturnState.REQUESTED, cast.staff_user())
    assert request.quote is not None
    assert (request.quote.state, request.quote.amount) == (QuoteState.REDEEMED, 1050)
    assert cast.shipment_line(order, 1).returning_quantity == 1
    assert cast.payment(order).refunded_amount == 0


def test_its_goods_are_received_accepted_and_refunded_like_any_others() -> None:
    request = approved(exception(late_order()))
    returns.receive(return_id=request.pk, actor=cast.staff("warehouse"))
    accept(return_id=request.pk, actor=cast.staff("warehouse"))
    request.refresh_from_db()
    assert request.state == ReturnState.REFUNDED
    assert Refund.objects.get().amount == 1050


def test_the_preview_says_the_same_amount_and_keeps_nothing() -> None:
    order = late_order()
    shown = overrides.preview(order=order, choices=choices(EARPHONES), actor=cast.staff())
    assert (shown["amount"], shown["display"]) == (1050, "NT$1,050")
    assert sum(step["amount"] for step in shown["steps"]) == 1050
    assert not RefundQuote.objects.exists()


def test_what_the_rules_allow_needs_no_exception() -> None:
    with pytest.raises(Refusal) as caught:
        exception(cast.order_5531())
    assert caught.value.code == "no_exception_needed"


@pytest.mark.parametrize(
    ("shipments", "code"),
    [
        ([shipment_body({1: 1}, state="packed")], "line_in_fulfilment"),
        ([shipment_body({1: 1}, state="shipped")], "line_in_transit"),
    ],
)
def test_no_other_refusal_can_be_set_aside(shipments: list[dict[str, Any]], code: str) -> None:
    with pytest.raises(Refusal) as caught:
        exception(cast.order_5531(shipments=shipments))
    assert caught.value.code == code


def test_what_was_never_packed_is_cancelled_and_not_returned() -> None:
    with pytest.raises(InvalidInput) as caught:
        exception(cast.order_5531(shipments=[]))
    assert caught.value.field == "lines[0].line_item_id"


@pytest.mark.parametrize("actor", [cast.shopper, lambda: cast.staff("warehouse"), lambda: cast.staff("auditor")])
def test_only_staff_with_the_permission_ask(actor: Callable[[], Actor]) -> None:
    with pytest.raises(NotAllowed):
        exception(late_order(), actor=actor())


def test_it_needs_a_reason() -> None:
    with pytest.raises(InvalidInput) as caught:
        overrides.ask(order=late_order(), choices=choices(EARPHONES), reason="", actor=cast.staff())
    assert caught.value.field == "reason"


def test_whoever_asked_does_not_approve() -> None:
    approval = exception(late_order(), actor=cast.staff("supervisor"))
    with pytest.raises(Refusal) as caught:
        approvals.approve(approval_id=approval.pk, actor=cast.staff("supervisor"))
    assert caught.value.code == "own_decision"


@pytest.mark.parametrize("act", [redeem, decline])
@pytest.mark.parametrize("who", ["staff", "supervisor"])
def test_nobody_redeems_or_declines_its_quote_while_it_waits(act: Callable[..., object], who: str) -> None:
    quote = exception(late_order()).quote
    assert quote is not None
    extra = {"note": "我來"} if act is redeem else {}
    with pytest.raises(Refusal) as caught:
        act(quote_id=quote.pk, actor=cast.staff(who), **extra)
    assert caught.value.code == "waits_for_approval"
    assert RefundQuote.objects.get().state == QuoteState.OPEN


@pytest.mark.parametrize("act", [redeem, decline])
def test_to_the_customer_it_does_not_exist_before_it_is_approved(act: Callable[..., object]) -> None:
    quote = exception(late_order()).quote
    assert quote is not None
    with pytest.raises(NotFound):
        act(quote_id=quote.pk, actor=cast.shopper())


def test_an_ordinary_quote_of_the_same_asker_does_not_end_it() -> None:
    order = cast.place(
        "7402",
        lines=[("甲", 500, 1), ("乙", 300, 1)],
        shipments=[shipment_body({1: 1})],
        discounts=[fixed_discount(50)],
    )
    cast.delivered_days_ago(order, 10)
    approval = exception(order, (1, 1, "changed_mind"))
    ask(order, (2, 1, "other"), actor=cast.staff())
    assert approval.quote is not None
    approval.quote.refresh_from_db()
    assert approval.quote.state == QuoteState.OPEN


def test_the_same_goods_wait_for_one_decision_only() -> None:
    order = late_order()
    first = exception(order)
    with pytest.raises(Refusal) as caught:
        exception(order, actor=cast.staff("supervisor"))
    assert (caught.value.code, caught.value.details) == ("already_asked", {"approval_id": first.pk})


def test_rejected_its_quote_is_declined_and_it_can_be_asked_for_anew() -> None:
    order = late_order()
    approval = exception(order)
    approvals.reject(approval_id=approval.pk, actor=cast.staff("supervisor"), reason="不行")
    assert approval.quote is not None
    approval.quote.refresh_from_db()
    assert approval.quote.state == QuoteState.DECLINED
    assert not Return.objects.exists()
    assert exception(order).state == ApprovalState.WAITING


@pytest.mark.parametrize("first", [ending.expire_quotes, release.expire_approvals])
def test_undecided_for_seven_days_both_end_in_whichever_order_they_are_swept(first: Callable[[], int]) -> None:
    approval = exception(late_order())
    Approval.objects.update(expires_at=timezone.now())
    RefundQuote.objects.update(expires_at=timezone.now())
    for sweep in (first, ending.expire_quotes, release.expire_approvals):
        sweep()
    approval.refresh_from_db()
    assert (approval.state, RefundQuote.objects.get().state) == (ApprovalState.EXPIRED, QuoteState.EXPIRED)
    assert AuditEvent.objects.filter(action="quote.expired").count() == 1


def test_if_the_order_has_changed_the_exception_ends_and_nothing_is_promised() -> None:
    order = late_order()
    approval = exception(order)
    other = exception(order, (2, 1, "changed_mind"))
    approved(other)
    with pytest.raises(Refusal) as caught:
        approvals.approve(approval_id=approval.pk, actor=cast.staff("supervisor"))
    approval.refresh_from_db()
    assert (caught.value.code, approval.state) == ("order_changed", ApprovalState.EXPIRED)
    assert approval.decided_by is None
    assert Return.objects.count() == 1
    assert cast.shipment_line(order, 1).returning_quantity == 0


def test_goods_that_have_found_another_way_meanwhile_are_not_promised_twice() -> None:
    order = hygiene_order()
    approval = exception(order, (1, 1, "changed_mind"))
    redeem(quote_id=ask(order, (1, 1, "defective")).pk, actor=cast.shopper())
    with pytest.raises(Refusal) as caught:
        approvals.approve(approval_id=approval.pk, actor=cast.staff("supervisor"))
    assert caught.value.code == "order_changed"
    assert Return.objects.count() == 1


def test_approved_once_it_is_not_approved_again() -> None:
    approval = exception(late_order())
    approved(approval)
    with pytest.raises(Refusal) as caught:
        approved(approval)
    assert caught.value.code == "wrong_state"
    assert Return.objects.count() == 1


def came_back(order: Order, *asked: Asked, found: dict[str, str]) -> Return:
    """Let in for the claims of `asked`, received, and accepted as what the warehouse found."""
    return accept(return_id=received_return(order, *asked).pk, actor=warehouse(), found=found)


DEFECTIVE: Asked = (1, 1, "defective")
DEFECTIVE_TOO: Asked = (3, 1, "defective")
NO_DEFECT = {"li_1": "changed_mind"}


def test_goods_that_are_not_taken_back_and_show_no_defect_are_refunded_by_a_second_person_only() -> None:
    request = came_back(hygiene_order(), DEFECTIVE, found=NO_DEFECT)
    refund = Refund.objects.get()
    assert (refund.amount, refund.state, request.state) == (300, "pending_approval", ReturnState.ACCEPTED)
    approval = refund.approval
    assert (approval.kind, approval.quote) == (ApprovalKind.OVERRIDE, refund.quote)
    assert refund.quote is not None
    assert refund.quote.overrides == ["excluded_category"]
    assert (approval.asked_by, approval.expires_at) == (cast.staff_user("warehouse"), None)


def test_such_an_exception_is_sent_when_it_is_approved_and_opens_no_second_return() -> None:
    request = came_back(hygiene_order(), DEFECTIVE, found=NO_DEFECT)
    approvals.approve(approval_id=Approval.objects.get().pk, actor=cast.staff("supervisor"), reason="老客人")
    request.refresh_from_db()
    assert (Refund.objects.get().state, request.state) == ("pending", ReturnState.REFUNDED)
    assert Return.objects.count() == 1


def test_rejected_the_goods_are_the_customers_again_and_no_money_is_held() -> None:
    order = hygiene_order()
    request = came_back(order, DEFECTIVE, found=NO_DEFECT)
    approvals.reject(approval_id=Approval.objects.get().pk, actor=cast.staff("supervisor"), reason="寄回客人")
    request.refresh_from_db()
    assert (Refund.objects.get().state, request.state) == ("rejected", ReturnState.REJECTED)
    assert cast.shipment_line(order, 1).refunded_quantity == cast.payment(order).refunded_amount == 0


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ((1, 1, "defective"), {}),
        ((1, 1, "defective"), {"li_1": "wrong_item"}),
        ((2, 1, "defective"), {"li_2": "changed_mind"}),
    ],
    ids=["the defect is there", "another fault of the shop", "a category that is taken back"],
)
def test_what_the_rules_take_back_needs_nobody_else(asked: Asked, found: dict[str, str]) -> None:
    came_back(hygiene_order(), asked, found=found)
    assert Refund.objects.get().state == "pending"


def test_one_line_that_is_an_exception_makes_the_whole_refund_wait() -> None:
    came_back(hygiene_order(), DEFECTIVE, (2, 1, "changed_mind"), found=NO_DEFECT)
    assert (Refund.objects.get().amount, Refund.objects.get().state) == (400, "pending_approval")


def test_an_exception_that_was_approved_beforehand_is_not_asked_about_again() -> None:
    request = approved(exception(hygiene_order(), EARPHONES))
    returns.receive(return_id=request.pk, actor=warehouse())
    accept(return_id=request.pk, actor=warehouse())
    assert Refund.objects.get().state == "pending"


def test_an_exception_does_not_cover_a_claim_that_was_made_beside_it() -> None:
    request = approved(exception(hygiene_order(), EARPHONES, DEFECTIVE_TOO))
    returns.receive(return_id=request.pk, actor=warehouse())
    accept(return_id=request.pk, actor=warehouse(), found={"li_3": "other"})
    assert Refund.objects.get().state == "pending_approval"
