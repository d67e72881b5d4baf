"""Refunds that were made without us: booked once, bounded by what was paid, and in agreement with what comes after."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone, translation

from orders.actors import Actor, NotAllowed, system_actor
from orders.errors import InvalidInput, Refusal
from orders.models import AuditEvent, Order, OrderAnnouncement
from orders.tests import cast
from orders.tests.factories import payment_body, shipment_body
from refunds import compensation, elsewhere, returns
from refunds.acceptance import accept
from refunds.elsewhere_undone import undo
from refunds.models import Refund, RefundQuote, Return
from refunds.present import quote_as_dict, refund_as_dict
from refunds.redeem import redeem
from refunds.states import AllocationState, QuoteState, RefundKind, RefundState
from refunds.tests.ask import ask

pytestmark = pytest.mark.django_db
CASE = {"line_item_id": "li_2", "quantity": 1, "reason": "changed_mind"}
EARPHONES = {"line_item_id": "li_1", "quantity": 1, "reason": "changed_mind"}


def body(order: Order, amount: int = 230, **more: Any) -> dict[str, Any]:
    return {
        "external_ref": "re_77",
        "amount": amount,
        "payment_id": cast.payment(order).pk,
        "note": "在後台直接退的",
        **more,
    }


def book(order: Order, amount: int = 230, *, actor: Actor | None = None, **more: Any) -> Refund:
    return elsewhere.record(order=order, body=body(order, amount, **more), actor=actor or cast.staff("supervisor"))


def assign(refund: Refund, *lines: dict[str, Any], actor: Actor | None = None, **more: Any) -> Refund:
    return elsewhere.assign(
        refund_id=refund.pk, lines=list(lines), actor=actor or cast.staff("supervisor"), note="查過了", **more
    )


def test_it_is_a_fact_paid_and_in_what_its_payment_has_left() -> None:
    order, paid_at = cast.order_5531(), (timezone.now() - timedelta(days=1)).replace(microsecond=0)
    refund = book(order, lines=[CASE], at=paid_at.isoformat())
    assert (refund.kind, refund.state, refund.amount) == (RefundKind.ELSEWHERE, RefundState.SUCCEEDED, 230)
    assert (refund.external_ref, refund.finished_at, refund.confirmed_by) == (
        "re_77",
        paid_at,
        cast.staff_user("supervisor"),
    )
    part = refund.allocations.get()
    assert (part.payment, part.amount, part.state) == (cast.payment(order), 230, AllocationState.SUCCEEDED)
    assert not part.attempts.exists()
    assert cast.payment(order).refunded_amount == 230


def test_the_same_number_again_is_the_same_refund() -> None:
    order = cast.order_5531()
    assert book(order, lines=[CASE]) == book(order, lines=[CASE])
    assert Refund.objects.count() == 1
    assert cast.payment(order).refunded_amount == 230


def test_the_same_number_for_another_amount_is_refused() -> None:
    order = cast.order_5531()
    book(order)
    with pytest.raises(Refusal) as caught:
        book(order, 231)
    assert (caught.value.code, caught.value.field) == ("reference_reused", "external_ref")


@pytest.mark.parametrize(
    "told",
    [{"lines": [EARPHONES]}, {"lines": [CASE, EARPHONES]}, {"lines": [], "for_goods": False}],
    ids=["other goods", "more goods", "no goods"],
)
def test_the_same_number_for_other_goods_is_refused_and_changes_nothing(told: dict[str, Any]) -> None:
    order = cast.order_5531()
    book(order, lines=[CASE])
    with pytest.raises(Refusal) as caught:
        book(order, **told)
    assert (caught.value.code, caught.value.field) == ("reference_reused", "external_ref")
    assert (cast.line(order, 2).cancelled_quantity, cast.shipment_line(order, 1).refunded_quantity) == (1, 0)


def test_for_no_goods_needs_no_lines_and_waits_for_nobody() -> None:
    order = cast.order_5531()
    refund = book(order, for_goods=False)
    assert (refund.needs_assignment, refund.quote) == (False, None)
    assert book(order, lines=[], for_goods=False) == refund
    assert ask(order, (2, 1, "other"))


def test_the_same_number_for_goods_after_it_was_for_none_is_refused() -> None:
    order = cast.order_5531()
    book(order, lines=[], for_goods=False)
    assert book(order, lines=[], for_goods=False) == Refund.objects.get()
    with pytest.raises(Refusal) as caught:
        book(order, lines=[CASE])
    assert caught.value.code == "reference_reused"


@pytest.mark.parametrize(
    ("told", "gone"), [({"lines": [CASE]}, 1), ({"lines": [], "for_goods": False}, 0)], ids=["goods", "no goods"]
)
def test_told_again_with_what_it_was_for_a_refund_that_waits_is_assigned(told: dict[str, Any], gone: int) -> None:
    order = cast.order_5531()
    refund = book(order)
    again = book(order, **told)
    assert (again, again.needs_assignment, cast.line(order, 2).cancelled_quantity) == (refund, False, gone)
    assert book(order, **told) == refund
    assert AuditEvent.objects.filter(action="refund.assigned", subject_id=refund.pk).count() == 1
    assert cast.payment(order).refunded_amount == 230


def test_a_report_that_names_no_goods_contradicts_nobody() -> None:
    order = cast.order_5531()
    refund = book(order, lines=[CASE])
    assert book(order) == refund
    assert not Refund.objects.get().needs_assignment


def test_its_goods_are_gone_and_the_shop_is_told(settings: Any) -> None:
    settings.ORDER_WEBHOOK_URL = "http://127.0.0.1:9/"
    order = cast.order_5531()
    refund = book(order, lines=[CASE, EARPHONES], amount=1430)
    assert cast.line(order, 2).cancelled_quantity == 1
    assert cast.shipment_line(order, 1).refunded_quantity == 1
    told = OrderAnnouncement.objects.get(event="goods.return").payload
    assert (told["refund_id"], told["elsewhere"]) == (refund.pk, "re_77")
    assert sorted(line["line_item_id"] for line in told["lines"]) == ["li_1", "li_2"]


def test_who_asks_for_its_goods_again_is_told_of_it() -> None:
    order = cast.order_5531()
    refund = book(order, lines=[CASE])
    with pytest.raises(Refusal) as caught, translation.override("en"):
        ask(order, (2, 1, "other"))
    assert (caught.value.code, caught.value.details["refund_id"]) == ("already_cancelled", refund.pk)
    assert "in another way" in caught.value.message


def test_it_has_a_quote_of_one_step_that_can_be_read() -> None:
    order = cast.order_5531()
    refund = book(order, lines=[CASE])
    quote = RefundQuote.objects.get()
    assert (quote.state, quote.amount, quote.fee) == (QuoteState.REDEEMED, 230, 0)
    assert [(step["code"], step["amount"]) for step in quote.steps] == [("paid_elsewhere", 230)]
    assert "re_77" in quote_as_dict(quote)["steps"][0]["text"]
    shown = refund_as_dict(refund)
    assert (shown["kind"], shown["quote_id"], shown["state"]) == ("elsewhere", quote.pk, "succeeded")


@pytest.mark.parametrize(("amount", "next_amount"), [(230, 1200), (300, 1130), (380, 1050), (0 + 1, 1429)])
def test_the_next_settlement_takes_up_what_was_paid_differently(amount: int, next_amount: int) -> None:
    """By the rule the case comes to 230; whatever was paid for it, all together comes to the 1,430 that were paid."""
    order = cast.order_5531()
    book(order, amount, lines=[CASE])
    quote = ask(order, (1, 1, "defective"))
    assert quote.amount == next_amount
    assert amount + quote.amount == 1430


@pytest.mark.parametrize("amount", [1, 500, 2000])
def test_after_everything_is_given_back_paid_is_refunded_plus_fees(amount: int) -> None:
    """Three goods, the second returned by way of us, the third too: a fee for the second return."""
    order = cast.place(
        "7502", lines=[("甲", 990, 1), ("乙", 790, 1), ("丙", 590, 1)], shipments=[shipment_body({1: 1, 2: 1, 3: 1})]
    )
    book(order, amount, lines=[EARPHONES])
    for position in (2, 3):
        request = redeem(quote_id=ask(order, (position, 1, "changed_mind")).pk, actor=cast.shopper()).return_request
        assert request is not None
        returns.receive(return_id=request.pk, actor=cast.staff("warehouse"))
        accept(return_id=request.pk, actor=cast.staff("warehouse"))
    fees = sum(refund.quote.fee for refund in Refund.objects.select_related("quote") if refund.quote)
    refunded = sum(Refund.objects.values_list("amount", flat=True))
    assert refunded + fees == cast.payment(order).amount == 2370
    assert fees == 80 or amount == 2000


def test_without_lines_nothing_can_be_worked_out_until_somebody_says_for_what_it_was() -> None:
    order = cast.order_5531()
    open_quote = ask(order, (2, 1, "other"))
    refund = book(order)
    assert refund.needs_assignment
    attempts: list[Callable[[], object]] = [
        lambda: ask(order, (1, 1, "defective")),
        lambda: redeem(quote_id=open_quote.pk, actor=cast.shopper()),
    ]
    for attempt in attempts:
        with pytest.raises(Refusal) as caught:
            attempt()
        assert (caught.value.code, caught.value.details["refund_id"]) == ("needs_assignment", refund.pk)
    assert cast.line(order, 2).cancelled_quantity == 0
    assign(refund, CASE)
    assert ask(order, (1, 1, "defective")).amount == 1200
    assert AuditEvent.objects.filter(action="refund.assigned", subject_id=refund.pk).count() == 1


def test_goods_that_have_come_back_are_not_settled_either_before_it_is_assigned() -> None:
    order = cast.order_5531()
    request = redeem(quote_id=ask(order, (1, 1, "changed_mind")).pk, actor=cast.shopper()).return_request
    assert request is not None
    returns.receive(return_id=request.pk, actor=cast.staff("warehouse"))
    refund = book(order)
    with pytest.raises(Refusal) as caught:
        accept(return_id=request.pk, actor=cast.staff("warehouse"))
    assert caught.value.code == "needs_assignment"
    assign(refund, CASE)
    accept(return_id=request.pk, actor=cast.staff("warehouse"))
    assert Return.objects.get().state == "refunded"


def test_money_for_no_goods_is_like_a_compensation() -> None:
    order = cast.order_5531()
    refund = book(order, 100, lines=[], for_goods=False)
    assert (refund.quote, refund.needs_assignment) == (None, False)
    assert ask(order, (2, 1, "other")).amount == 230


def test_that_it_was_for_no_goods_can_be_said_later() -> None:
    order = cast.order_5531()
    refund = assign(book(order, 100), for_goods=False)
    assert (refund.quote, refund.needs_assignment) == (None, False)
    assert ask(order, (2, 1, "other")).amount == 230


def test_what_has_its_goods_is_not_assigned_again() -> None:
    refund = book(cast.order_5531(), lines=[CASE])
    with pytest.raises(Refusal) as caught:
        assign(refund, EARPHONES)
    assert caught.value.code == "wrong_state"


def test_never_more_than_the_payment_has_left() -> None:
    order = cast.order_5531()
    redeem(quote_id=ask(order, (2, 1, "other")).pk, actor=cast.shopper())
    with pytest.raises(Refusal) as caught:
        book(order, 1201)
    assert (caught.value.code, caught.value.details["left"]) == ("payment_has_less", 1200)
    assert Refund.objects.count() == 1
    assert book(order, 1200).amount == 1200


def test_cash_on_delivery_that_was_paid_back_by_hand_is_booked_so() -> None:
    payments = [payment_body(1580, method="cash_on_delivery", last4="")]
    order = cast.place("7503", payments=payments, shipments=[shipment_body({1: 1, 2: 1})])
    with pytest.raises(Refusal) as caught:
        ask(order, (2, 1, "changed_mind"))
    assert caught.value.code == "needs_a_person"
    book(order, 380, lines=[CASE], external_ref="匯款 0412")
    assert cast.payment(order).left == 1200
    assert cast.shipment_line(order, 2).refunded_quantity == 1


def test_units_that_the_customer_does_not_have_are_taken_first() -> None:
    order = cast.place("7504", lines=[("杯", 100, 3)], shipments=[shipment_body({1: 1})])
    book(order, 200, lines=[{"line_item_id": "li_1", "quantity": 2}])
    assert (cast.line(order, 1).cancelled_quantity, cast.shipment_line(order, 1).refunded_quantity) == (2, 0)


@pytest.mark.parametrize(
    ("shipments", "code"),
    [([shipment_body({2: 1}, state="packed")], "line_in_fulfilment"), ([], "already_cancelled")],
)
def test_units_that_something_else_holds_cannot_have_been_meant(shipments: list[dict[str, Any]], code: str) -> None:
    order = cast.order_5531(shipments=shipments)
    if not shipments:
        redeem(quote_id=ask(order, (2, 1, "other")).pk, actor=cast.shopper())
    with pytest.raises(Refusal) as caught:
        book(order, 100, lines=[CASE])
    assert caught.value.code == code
    assert not Refund.objects.filter(kind=RefundKind.ELSEWHERE).exists()


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"amount": 0}, "amount"),
        ({"amount": 1.5}, "amount"),
        ({"amount": "230"}, "amount"),
        ({"external_ref": ""}, "external_ref"),
        ({"payment_id": "pay_unknown"}, "payment_id"),
        ({"note": " "}, "note"),
        ({"at": "2999-01-01T00:00:00+08:00"}, "at"),
        ({"lines": []}, "lines"),
        ({"lines": [CASE], "for_goods": False}, "lines"),
        ({"lines": [CASE], "for_goods": "no"}, "for_goods"),
        ({"lines": [{**CASE, "quantity": 0}]}, "lines[0].quantity"),
        ({"lines": [{**CASE, "quantity": 2}]}, "lines[0].quantity"),
        ({"lines": [{**CASE, "line_item_id": "li_9"}]}, "lines[0].line_item_id"),
        ({"lines": [CASE, CASE]}, "lines[1].quantity"),
    ],
)
def test_a_wrong_value_is_named_and_nothing_is_booked(wrong: dict[str, Any], field: str) -> None:
    order = cast.order_5531()
    with pytest.raises(InvalidInput) as caught:
        book(order, **wrong)
    assert caught.value.field == field
    assert not Refund.objects.exists()
    assert cast.payment(order).refunded_amount == 0


@pytest.mark.parametrize("actor", [cast.shopper, cast.staff, lambda: cast.staff("auditor")])
def test_only_staff_with_the_permission_book_and_assign(actor: Callable[[], Actor]) -> None:
    order = cast.order_5531()
    with pytest.raises(NotAllowed):
        book(order, actor=actor())
    refund = book(order)
    with pytest.raises(NotAllowed):
        assign(refund, CASE, actor=actor())


def test_what_a_provider_reports_the_system_books_without_goods() -> None:
    refund = book(cast.order_5531(), actor=system_actor("payments"))
    assert (refund.confirmed_by_kind, refund.needs_assignment) == ("system", True)


def test_only_what_was_made_elsewhere_can_wait_for_its_goods() -> None:
    refund = redeem(quote_id=ask(cast.order_5531(), (2, 1, "other")).pk, actor=cast.shopper()).refund
    assert refund is not None
    with pytest.raises(IntegrityError, match="only_elsewhere_waits"), transaction.atomic():
        Refund.objects.filter(pk=refund.pk).update(needs_assignment=True)


def test_compensation_beside_it_is_bounded_by_what_is_left() -> None:
    order = cast.place("7505", lines=[("線", 200, 1)])
    book(order, 150, lines=[], for_goods=False)
    with pytest.raises(Refusal) as caught:
        compensation.propose(order=order, amount=51, reason="遲到", actor=cast.staff(), request_ref="c1")
    assert caught.value.code == "payments_have_less"


def test_one_that_did_not_take_place_is_taken_back_with_its_goods_and_its_money() -> None:
    order = cast.order_5531()
    before = ask(order, (2, 1, "other")).amount
    refund = book(order, lines=[CASE])
    undone = undo(refund_id=refund.pk, actor=cast.staff("supervisor"), note="打錯訂單了")
    assert (undone.state, undone.needs_assignment, undone.decided_by) == (
        RefundState.REJECTED,
        False,
        cast.staff_user("supervisor"),
    )
    assert cast.payment(order).refunded_amount == 0
    assert ask(order, (2, 1, "other")).amount == before
    assert undo(refund_id=refund.pk, actor=cast.staff("supervisor"), note="再按一次").pk == refund.pk
    assert order.audit_events.filter(action="refund.undone").count() == 1
    # The number can be booked again, as it should have been.
    assert book(order, lines=[CASE]).pk != refund.pk


def test_one_that_waited_for_its_goods_blocks_no_quote_once_it_is_taken_back() -> None:
    order = cast.order_5531()
    refund = book(order)
    undo(refund_id=refund.pk, actor=cast.staff("supervisor"), note="銀行退回了")
    assert ask(order, (2, 1, "other")).amount == 230


def test_taking_back_needs_the_permission_a_reason_and_a_refund_made_elsewhere() -> None:
    order = cast.order_5531()
    refund = book(order, lines=[CASE])
    with pytest.raises(NotAllowed):
        undo(refund_id=refund.pk, actor=cast.staff(), note="打錯了")
    with pytest.raises(NotAllowed):
        undo(refund_id=refund.pk, actor=cast.shopper(), note="打錯了")
    with pytest.raises(InvalidInput):
        undo(refund_id=refund.pk, actor=cast.staff("supervisor"), note=" ")
    ours = redeem(quote_id=ask(cast.place("5600"), (2, 1, "other")).pk, actor=cast.staff(), note="依規定").refund
    assert ours is not None
    with pytest.raises(Refusal) as refused:
        undo(refund_id=ours.pk, actor=cast.staff("supervisor"), note="打錯了")
    assert refused.value.code == "wrong_state"
    refund.refresh_from_db()
    assert refund.state == RefundState.SUCCEEDED
