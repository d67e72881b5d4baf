"""Whoever opens a dialog about something that a colleague has decided meanwhile reads who did what, when and why."""

import re
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.utils import timezone

from orders.tests import cast
from orders.tests.factories import shipment_body
from refunds import alerts, policies
from refunds.models import Refund, Replacement
from refunds.states import AlertKind
from refunds.tests.going_back import sent_again
from tests.pages.coming_back import return_of
from tests.pages.test_refunds_that_need_a_look import failed_after_it_was_paid, refused
from tests.pages.visiting import signed_in, text_of

pytestmark = pytest.mark.django_db
OVER = "There is nothing left to decide here."
WHY = "與同事確認過"


def alert() -> tuple[str, str, str]:
    made = alerts.raise_alert(kind=AlertKind.OVERDUE, subject="rf_late:legal", order=cast.order_5531(), facts={})
    assert made
    return f"/staff/alerts/{made.pk}/settle/", "settle", "supervisor settled the alert: "


def settled() -> tuple[str, str, str]:
    refund = failed_after_it_was_paid(cast.order_5531())
    return f"/staff/refunds/{refund.pk}/settled/", "settled", "supervisor settled with the provider what had been paid."


def failed() -> tuple[str, str, str]:
    refund = failed_after_it_was_paid(cast.order_5531())
    return (
        f"/staff/refunds/{refund.pk}/failed/",
        "failed",
        "supervisor said that it had failed at the provider after all.",
    )


def retry() -> tuple[str, str, str]:
    refund = refused(cast.order_5531(), (2, 1, "late_delivery"))
    return f"/staff/refunds/{refund.pk}/retry/", "retry", "supervisor had NT$230 sent once more, to "


def by_hand() -> tuple[str, str, str]:
    refund = refused(cast.order_5531(), (2, 1, "late_delivery"))
    return (
        f"/staff/refunds/{refund.pk}/paid-by-hand/",
        "paid-by-hand",
        "supervisor paid NT$230 back by hand, number R-17.",
    )


def withdrawn() -> tuple[str, str, str]:
    back = return_of(cast.place("9015", lines=[("襪子", 500, 1)], shipments=[shipment_body({1: 1})]))
    return f"/staff/returns/{back.pk}/withdraw/", "withdraw", "supervisor withdrew the return of "


def rules() -> tuple[str, str, str]:
    draft, _ = policies.draft(currency="TWD", actor=cast.staff("supervisor"))
    soon = timezone.now() + timedelta(days=30)
    policies.publish(currency="TWD", version=draft.version, in_force_from=soon, actor=cast.staff("marketing"))
    return (
        f"/staff/policies/TWD/{draft.version}/withdraw/",
        "withdraw",
        "supervisor withdrew version 2 of the TWD rules",
    )


def released() -> tuple[str, str, str]:
    made = sent_again(cast.place("5540", shipments=[shipment_body({1: 1}, state="lost")]), (1, 1, "lost"))
    return f"/staff/replacements/{made.pk}/release/", "release", "warehouse gave the replacement up"


@pytest.mark.parametrize("make", [alert, settled, failed, retry, by_hand, withdrawn, rules, released])
def test_it_says_what_a_colleague_has_decided_with_their_words(make: Callable[[], tuple[str, str, str]]) -> None:
    address, what, sentence = make()
    who = "warehouse" if what == "release" else "supervisor"
    first, second = signed_in(who, language="en"), signed_in("admin", language="en")
    open_page = text_of(second.get(address))
    assert f'action="{address}"' in open_page
    assert OVER not in open_page
    first.post(address, {"note": WHY, "reason": WHY, "external_ref": "R-17"})
    over = text_of(second.get(address))
    assert f'action="{address}"' not in over
    said = over[over.index(OVER) : over.index("data-back")]
    for words in (sentence, WHY, timezone.localtime().strftime("%m/%d ")):
        assert words in said


def test_a_settled_alert_is_red_no_more() -> None:
    address, *_ = alert()
    staff = signed_in("staff")
    assert "badge tone-bad" in text_of(staff.get(address))
    staff.post(address, {"note": WHY})
    assert "badge tone-bad" not in text_of(staff.get(address))


def test_what_was_reported_paid_without_anybody_says_how_it_stands() -> None:
    refund = refused(cast.order_5531(), (2, 1, "late_delivery"))
    refund.allocations.update(state="succeeded")
    Refund.objects.filter(pk=refund.pk).update(state="succeeded")
    page = text_of(signed_in("staff", language="en").get(f"/staff/refunds/{refund.pk}/retry/"))
    assert re.search(rf"{re.escape(OVER)}.*The refund of NT\$230 is on its way", page, re.DOTALL)


def test_a_parcel_that_has_left_says_who_sent_it() -> None:
    sent_again(cast.place("5540", shipments=[shipment_body({1: 1}, state="lost")]), (1, 1, "lost"))
    address = f"/staff/replacements/{Replacement.objects.get().pk}/send/"
    signed_in("warehouse").post(address, {"carrier": "黑貓", "tracking_number": "TN-77"})
    assert "warehouse sent the replacement" in text_of(signed_in("warehouse", language="en").get(address))
