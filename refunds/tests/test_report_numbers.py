"""The numbers of the reports about money, on a few refunds of which everybody can see what comes out."""

from datetime import date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from orders.models import Order
from orders.periods import Period, Spread
from orders.tests import cast
from orders.tests.factories import payment_body
from refunds import report_selectors as reports
from refunds.models import Approval, Refund
from refunds.report_selectors import Total
from refunds.tests.ask import Asked
from refunds.tests.paying import pending_refund

pytestmark = pytest.mark.django_db
TAIPEI = ZoneInfo("Asia/Taipei")
DAYS = Period(date(2026, 9, 1), date(2026, 9, 7))


def at(day: int, hour: int = 12, minute: int = 0) -> datetime:
    return datetime(2026, 9, day, hour, minute, tzinfo=TAIPEI)


def back(order: Order, *asked: Asked, when: datetime, took: timedelta = timedelta(hours=1), **more: Any) -> Refund:
    """A refund whose money was back at this moment."""
    refund = pending_refund(order, *asked)
    fields = {"state": "succeeded", "created_at": when - took, "finished_at": when, **more}
    Refund.objects.filter(pk=refund.pk).update(**fields)
    return refund


def socks(number: str, price: int = 100, pieces: int = 3) -> Order:
    return cast.place(number, lines=[("襪子", price, pieces), ("毛巾", 200, 1)])


def test_a_refund_counts_on_the_day_of_the_shop_on_which_its_money_was_back() -> None:
    back(socks("1"), (1, 1, "changed_mind"), when=at(1, 0, 0))
    back(socks("2"), (1, 2, "changed_mind"), when=at(1, 23, 59))
    back(socks("3"), (1, 1, "changed_mind"), when=at(7, 23, 59))
    back(socks("4"), (1, 1, "changed_mind"), when=at(8, 0, 0))
    back(socks("5"), (1, 1, "changed_mind"), when=datetime(2026, 8, 31, 23, 59, tzinfo=TAIPEI))
    assert reports.by_day(DAYS) == {"TWD": {date(2026, 9, 1): Total(2, 300), date(2026, 9, 7): Total(1, 100)}}


def test_what_has_not_come_back_counts_nowhere() -> None:
    back(socks("1"), (1, 1, "changed_mind"), when=at(2), state="unknown")
    pending_refund(socks("2"), (1, 1, "changed_mind"))
    assert reports.by_day(DAYS) == {}
    assert reports.by_reason(DAYS, "TWD") == {}


def test_each_currency_is_added_up_by_itself() -> None:
    back(socks("1"), (1, 1, "changed_mind"), when=at(2))
    in_dollars = cast.place(
        "2",
        lines=[("Socks", 1000, 1)],
        currency="USD",
        payments=[payment_body(1080)],
        shipping={"method": "home_delivery", "charged": 80, "standard_fee": 80, "free_from": None, "waiver": None},
    )
    back(in_dollars, (1, 1, "changed_mind"), when=at(2))
    found = reports.by_day(DAYS)
    assert found == {"TWD": {date(2026, 9, 2): Total(1, 100)}, "USD": {date(2026, 9, 2): Total(1, 1080)}}
    assert reports.by_reason(DAYS, "USD") == {"changed_mind": Total(1, 1080)}


def test_a_refund_stands_under_its_one_reason_and_one_of_several_by_itself() -> None:
    back(socks("1"), (1, 1, "changed_mind"), when=at(2))
    back(socks("2"), (1, 2, "changed_mind"), when=at(3))
    back(socks("3"), (1, 1, "late_delivery"), (2, 1, "late_delivery"), when=at(3))
    back(socks("4"), (1, 1, "late_delivery"), (2, 1, "changed_mind"), when=at(4))
    assert reports.by_reason(DAYS, "TWD") == {
        "changed_mind": Total(2, 300),
        "late_delivery": Total(1, 300),
        "several": Total(1, 300),
    }


def test_money_without_goods_stands_under_its_kind() -> None:
    order = socks("1")
    made: dict[str, Any] = {
        "order": order,
        "currency": "TWD",
        "state": "succeeded",
        "confirmed_by_kind": "staff",
        "finished_at": at(2),
    }
    Refund.objects.create(kind="compensation", amount=50, **made)
    Refund.objects.create(kind="elsewhere", amount=70, external_ref="e1", **made)
    assert reports.by_reason(DAYS, "TWD") == {"elsewhere": Total(1, 70), "compensation": Total(1, 50)}


def test_half_of_the_refunds_took_at_most_the_middle_and_nine_of_ten_the_other_time() -> None:
    for hours in range(1, 12):
        back(socks(str(hours)), (1, 1, "changed_mind"), when=at(3), took=timedelta(hours=hours))
    found = reports.time_to_money_back(DAYS)
    assert (found.count, found.middle, found.slow) == (11, timedelta(hours=6), timedelta(hours=10))


def test_what_was_made_elsewhere_took_no_time_of_ours() -> None:
    Refund.objects.create(
        kind="elsewhere",
        amount=70,
        external_ref="e1",
        order=socks("1"),
        currency="TWD",
        state="succeeded",
        confirmed_by_kind="staff",
        finished_at=at(2),
    )
    assert reports.time_to_money_back(DAYS) == Spread(0, None, None)


def asked(number: str, *, hours_ago: float = 0, **fields: Any) -> Approval:
    approval = Approval.objects.create(
        kind="compensation", order=socks(number), amount=50, currency="TWD", asked_by_kind="staff", request_ref=number
    )
    if hours_ago:
        fields["created_at"] = approval.created_at - timedelta(hours=hours_ago)
    Approval.objects.filter(pk=approval.pk).update(**fields)
    approval.refresh_from_db()
    return approval


def test_questions_that_wait_are_counted_by_their_age() -> None:
    asked("1", hours_ago=1)
    oldest = asked("2", hours_ago=100)
    asked("3", hours_ago=5)
    asked("4", hours_ago=200, state="approved", decided_at=at(2))
    assert reports.approvals_waiting() == reports.Waiting(3, oldest.created_at)
    ages = {"short": (0.0, 4.0), "long": (4.0, float("inf"))}
    assert reports.approvals_of_age(ages) == {"short": 1, "long": 2}


def test_time_to_decide_is_that_of_questions_of_these_days_that_have_an_answer() -> None:
    asked("1", created_at=at(2, 10), state="approved", decided_at=at(2, 12))
    asked("2", created_at=at(2, 10), state="rejected", decided_at=at(2, 14))
    asked("3", created_at=at(2, 10), state="expired", decided_at=at(7))
    asked("4", created_at=at(9, 10), state="approved", decided_at=at(9, 11))
    found = reports.time_to_decide(DAYS)
    assert (found.count, found.middle) == (2, timedelta(hours=3))


def test_a_period_has_as_many_days_before_it() -> None:
    before = DAYS.before()
    assert (before.first, before.last) == (date(2026, 8, 25), date(2026, 8, 31))
    assert len(DAYS.days) == len(before.days) == 7
