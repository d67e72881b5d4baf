"""What customers and staff read of money that went back without a machine of ours."""

from datetime import timedelta

import pytest
from django.http import Http404
from django.utils import timezone, translation

from orders.actors import system_actor
from orders.errors import InvalidInput, Refusal
from orders.models import Payment
from orders.tests import cast
from orders.tests.factories import payment_body
from refunds import access, selectors
from refunds.by_hand import paid_by_hand
from refunds.elsewhere_undone import undo
from refunds.errors import day
from refunds.goods import unit_groups
from refunds.models import Refund
from refunds.present import moment, refund_as_dict
from refunds.states import AllocationState, RefundState
from refunds.tests.ask import ask
from refunds.tests.paying import pending_refund
from refunds.tests.test_elsewhere import CASE, book

pytestmark = pytest.mark.django_db


def test_one_that_was_taken_back_is_nothing_that_a_person_has_to_look_at() -> None:
    refund = book(cast.order_5531(), lines=[CASE])
    undo(refund_id=refund.pk, actor=cast.staff("supervisor"), note="打錯訂單了")
    assert not selectors.needs_a_look().exists()


def test_one_that_was_taken_back_is_kept_for_staff_and_not_shown_to_the_customer() -> None:
    order = cast.order_5531()
    refund = book(order, lines=[CASE])
    kept = book(order, 100, external_ref="re_78")
    undo(refund_id=refund.pk, actor=cast.staff("supervisor"), note="打錯訂單了")
    customer = cast.customer_user("ming")
    assert list(selectors.refunds_of(order)) == [kept, refund]
    assert list(selectors.refunds_shown_to_customer(order)) == [kept]
    assert list(access.rows_for(customer, selectors.refunds(), access.VIEW_REFUND)) == [kept]
    assert access.refund_for(cast.staff_user("supervisor"), refund.pk) == refund
    with pytest.raises(Http404):
        access.refund_for(customer, refund.pk)


def refused(amounts: tuple[int, ...] = (380,)) -> Refund:
    """The first payment has been given back, if there are two; the gateway has refused the last one."""
    payments = [payment_body(amount, external_id=f"p{index}") for index, amount in enumerate(amounts, 1)]
    order = cast.place("7710", lines=[("殼", sum(amounts), 1)], payments=payments)
    refund = pending_refund(order, (1, 1, "other"))
    refund.allocations.update(state=AllocationState.SUCCEEDED)
    last = refund.allocations.get(position=len(amounts))
    last.state = AllocationState.FAILED
    last.save(update_fields=["state"])
    Refund.objects.filter(pk=refund.pk).update(state=RefundState.FAILED)
    return refund


def by_hand(refund: Refund) -> Refund:
    return paid_by_hand(refund_id=refund.pk, external_ref="TR0412", actor=cast.staff("supervisor"), note="匯了")


@translation.override("en")
def test_what_was_paid_by_hand_is_said_to_be_and_under_which_number_and_not_to_be_on_the_card() -> None:
    refund = by_hand(refused())
    (share,) = refund_as_dict(refund)["to"]
    assert (share["by"], share["label"]) == ("hand", "paid by hand, number TR0412")


@translation.override("en")
def test_of_a_refund_in_two_ways_each_amount_is_told_with_its_way() -> None:
    refund = by_hand(refused((100, 280)))
    assert [share["by"] for share in refund_as_dict(refund)["to"]] == ["machine", "hand"]


@translation.override("en")
def test_a_refund_made_elsewhere_went_by_hand_where_a_person_tells_of_it_and_to_the_card_where_its_provider_does() -> (
    None
):
    order = cast.order_5531()
    told = book(order, 100, lines=[], for_goods=False)
    reported = book(order, 200, external_ref="re_9", actor=system_actor("watch"))
    labels = [refund_as_dict(refund)["to"][0]["label"] for refund in (told, reported)]
    assert labels == ["paid by hand, number re_77", "card ending in 4242"]


def test_nothing_is_said_to_be_on_its_way_of_a_refund_that_waits_for_a_second_person_or_was_let_go_of() -> None:
    refund = pending_refund(cast.order_5531(), (2, 1, "other"))
    for state in (RefundState.PENDING_APPROVAL, RefundState.REJECTED):
        refund.state = state
        assert [share["state"] for share in refund_as_dict(refund)["to"]] == [None]


def test_nothing_was_given_back_before_the_shop_had_the_money() -> None:
    order = cast.order_5531()
    payment = cast.payment(order)
    Payment.objects.filter(pk=payment.pk).update(captured_at=order.placed_at + timedelta(minutes=5))
    for minutes in (-1, 4):
        with pytest.raises(InvalidInput) as caught:
            book(order, at=(order.placed_at + timedelta(minutes=minutes)).isoformat())
        assert caught.value.field == "at"
    assert book(order, at=(order.placed_at + timedelta(minutes=5)).isoformat()).finished_at


def test_a_number_of_one_order_is_refused_for_another_which_is_named() -> None:
    first, second = cast.place("7711"), cast.place("7712")
    booked = book(first, 100)
    with pytest.raises(Refusal) as caught:
        book(second, 100)
    assert (caught.value.code, caught.value.field) == ("reference_reused", "external_ref")
    assert caught.value.details == {"order_number": "7711", "refund_id": booked.pk}
    assert book(first, 100) == booked
    undo(refund_id=booked.pk, actor=cast.staff("supervisor"), note="打錯訂單了")
    assert book(second, 100).order == second


def test_a_number_under_which_something_was_paid_by_hand_is_of_no_other_order_either() -> None:
    by_hand(refused())
    with pytest.raises(Refusal) as caught:
        book(cast.order_5531(), 100, external_ref="TR0412")
    assert (caught.value.code, caught.value.details["order_number"]) == ("reference_reused", "7710")


def test_the_same_number_with_another_provider_and_what_a_provider_reports_are_no_slip() -> None:
    first, second, third = (cast.place(number) for number in ("7713", "7714", "7715"))
    book(first, 100)
    Payment.objects.filter(order=second).update(provider="other_bank")
    assert book(second, 100).order == second
    assert book(third, 100, actor=system_actor("watch")).order == third


@translation.override("en")
def test_its_day_is_the_one_on_which_it_was_paid_and_not_the_one_on_which_it_was_booked() -> None:
    order = cast.place("9502", lines=[("襪子", 500, 2)])
    paid_on = timezone.now() - timedelta(days=4)
    refund = book(order, 500, lines=[{"line_item_id": "li_1", "quantity": 1}], at=paid_on.isoformat())
    gone = next(group for group in unit_groups(order, now=timezone.now()) if group.refund_id == refund.pk)
    with pytest.raises(Refusal) as refused_quote:
        ask(order, (1, 2, "other"))
    assert gone.since == paid_on
    assert refund_as_dict(refund)["paid_at"] == moment(paid_on)
    assert refused_quote.value.details["date"] == timezone.localdate(paid_on).isoformat()
    assert day(paid_on) in refused_quote.value.message


def test_what_is_not_paid_has_no_moment_of_payment() -> None:
    refund = pending_refund()
    assert refund_as_dict(refund)["paid_at"] is None
    refund = undo(refund_id=book(refund.order, 100).pk, actor=cast.staff("supervisor"), note="打錯了")
    assert refund_as_dict(refund)["paid_at"] is None


def test_the_same_number_again_as_of_another_moment_is_refused_and_without_one_is_the_same() -> None:
    order = cast.order_5531()
    told = (timezone.now() - timedelta(hours=2)).replace(microsecond=0)
    refund = book(order, at=told.isoformat())
    with pytest.raises(Refusal) as caught:
        book(order, at=(told + timedelta(hours=1)).isoformat())
    assert (caught.value.code, caught.value.field) == ("reference_reused", "at")
    assert book(order, at=told.isoformat()) == book(order) == refund


def test_a_person_who_tells_what_a_reported_one_was_for_does_not_contradict_the_providers_clock() -> None:
    order = cast.order_5531()
    reported = book(order, actor=system_actor("watch"))
    told = (timezone.now() - timedelta(hours=1)).isoformat()
    assert book(order, at=told, lines=[CASE]) == reported
