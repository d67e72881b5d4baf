"""Lost parcels that arrive after all, and returns that nobody sends: staff are told, once, and nothing is decided."""

from datetime import timedelta

import pytest
from django.utils import timezone
from pytest_django import Settings

from orders.models import AuditEvent, Order
from orders.tests import cast
from refunds import alerts, elsewhere, parcels_astray, returns, tasks
from refunds.elsewhere_undone import undo
from refunds.models import Refund, Replacement, Return, StaffAlert
from refunds.redeem import redeem
from refunds.states import AlertKind, ReturnState
from refunds.tests.ask import ask
from refunds.tests.going_back import (
    earphones,
    exchange,
    exchanged,
    leaves,
    lost_earphones,
    own_stock,
    parcel_is,
    requested_return,
    sent_again,
    states_of,
    stock_of,
    warehouse,
)
from refunds.tests.reporting import alerts_of

pytestmark = pytest.mark.django_db


def refunded_as_lost(order: Order) -> Refund:
    refund = redeem(quote_id=ask(order, (1, 1, "lost", "lost")).pk, actor=cast.shopper()).refund
    assert refund is not None
    return refund


def arrived() -> list[str]:
    """What is raised by now; found again, nothing is new."""
    parcels_astray.raise_astray()
    assert parcels_astray.raise_astray() == 0
    return alerts_of(AlertKind.ARRIVED_AFTER_ALL)


class TestLostGoodsThatArriveAfterAll:
    def test_after_they_were_refunded_staff_are_told_and_they_stay_refunded(self) -> None:
        order = lost_earphones(1)
        refund = refunded_as_lost(order)
        assert arrived() == []
        parcel = parcel_is(order, "s1", "delivered")
        assert arrived() == [parcel.pk]
        alert = StaffAlert.objects.get()
        assert (alert.order, alert.refund, alert.facts["refunded"]) == (order, refund, refund.pk)
        assert (alert.facts["parcel"], alert.facts["amount"]) == ("TN-s1", 1200)
        assert (states_of(order), cast.payment(order).refunded_amount) == ({"refunded": 1}, 1200)
        told = AuditEvent.objects.filter(order=order).order_by("pk").values_list("action", flat=True)
        assert list(told)[-2:] == ["shipment.delivered", "alert.raised"]

    def test_after_others_were_sent_staff_are_told_and_every_unit_counts_once(self) -> None:
        order = lost_earphones()
        own_stock(3)
        replacement = leaves(sent_again(order, (1, 1, "lost")))
        parcel = parcel_is(order, "s1", "delivered")
        assert arrived() == [parcel.pk]
        assert StaffAlert.objects.get().facts["sent_again"] == replacement.pk
        assert states_of(order) == {"delivered": 1, "shipped": 1}

    def test_one_parcel_is_told_once_whatever_became_of_its_units(self) -> None:
        order = lost_earphones()
        own_stock(3)
        leaves(sent_again(order, (1, 1, "lost")))
        refund = refunded_as_lost(order)
        parcel = parcel_is(order, "s1", "delivered")
        assert arrived() == [parcel.pk]
        facts = StaffAlert.objects.get().facts
        assert (facts["sent_again"], facts["refunded"]) == (Replacement.objects.get().pk, refund.pk)

    def test_before_others_were_sent_nothing_is_wrong(self) -> None:
        order = lost_earphones()
        sent_again(order, (1, 1, "lost"))
        parcel_is(order, "s1", "delivered")
        assert arrived() == []

    def test_a_parcel_that_was_exchanged_is_no_lost_one(self) -> None:
        order = earphones()
        exchanged(order)
        assert arrived() == []

    def test_a_refund_that_did_not_take_place_has_settled_nothing(self) -> None:
        order = lost_earphones(1)
        body = {"external_ref": "匯款 1", "amount": 1200, "payment_id": cast.payment(order).pk, "note": "匯了"}
        lines = [{"line_item_id": "li_1", "quantity": 1}]
        refund = elsewhere.record(order=order, body={**body, "lines": lines}, actor=cast.staff("supervisor"))
        undo(refund_id=refund.pk, actor=cast.staff("supervisor"), note="其實沒匯")
        parcel_is(order, "s1", "delivered")
        assert arrived() == []

    def test_somebody_settles_it_and_it_is_not_told_again(self) -> None:
        order = lost_earphones(1)
        refunded_as_lost(order)
        parcel_is(order, "s1", "delivered")
        tasks.raise_overdue()
        alert = StaffAlert.objects.get()
        alerts.settle(alert_id=alert.pk, actor=cast.staff(), note="顧客寄回來了")
        tasks.raise_overdue()
        assert StaffAlert.objects.count() == 1


def not_sent(*, days: float) -> list[str]:
    """The returns that are told so many days from now."""
    parcels_astray.raise_astray(timezone.now() + timedelta(days=days))
    return alerts_of(AlertKind.NOT_SENT_BACK)


class TestReturnsThatNobodySends:
    def test_are_told_once_after_thirty_days_with_what_they_hold_and_stay_open(self) -> None:
        request = requested_return(earphones(), (1, 1, "changed_mind"))
        assert not_sent(days=29.9) == []
        assert not_sent(days=30) == not_sent(days=60) == [request.pk]
        alert = StaffAlert.objects.get()
        assert (alert.order, alert.facts["days"], alert.facts["amount"]) == (request.order, 30, 1200)
        assert Return.objects.get().state == ReturnState.REQUESTED

    def test_exchanges_too_for_they_hold_stock(self) -> None:
        own = earphones()
        own_stock(2)
        request = exchange(own)
        assert not_sent(days=31) == [request.pk]
        assert (stock_of(), "amount" in StaffAlert.objects.get().facts) == ((2, 1), False)
        returns.reject(return_id=request.pk, actor=warehouse(), note="等了一個月沒寄回")
        assert (states_of(own), stock_of()) == ({"delivered": 3}, (2, 0))

    def test_the_shop_says_after_how_many_days(self, settings: Settings) -> None:
        settings.RETURN_SEND_BY_DAYS = 5
        request = requested_return(earphones(), (1, 1, "changed_mind"))
        assert not_sent(days=4.9) == []
        assert not_sent(days=5) == [request.pk]

    def test_what_has_come_or_was_withdrawn_is_not_waited_for(self) -> None:
        order = earphones()
        received = requested_return(order, (1, 1, "changed_mind"))
        returns.receive(return_id=received.pk, actor=warehouse())
        withdrawn = requested_return(order, (1, 1, "changed_mind"))
        returns.withdraw(return_id=withdrawn.pk, actor=cast.shopper())
        assert not_sent(days=40) == []
