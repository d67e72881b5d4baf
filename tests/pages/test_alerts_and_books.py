"""What staff must see although nobody asked, and the comparisons of our books with the provider's."""

import re
from datetime import timedelta
from urllib.parse import quote

import pytest
from django.utils import timezone

from orders.tests import cast
from orders.tests.factories import shipment_body
from refunds import alerts
from refunds.models import BooksCompared, Refund, StaffAlert
from refunds.states import AlertKind
from refunds.tests.going_back import sent_again
from refunds.tests.paying import pending_refund
from tests.pages.visiting import signed_in, text_of

pytestmark = pytest.mark.django_db


def overdue() -> StaffAlert:
    facts = {"level": "statutory", "days": 16, "number": "rf_late", "amount": 230, "currency": "TWD", "state": "failed"}
    order = cast.order_5531()
    alert = alerts.raise_alert(kind=AlertKind.OVERDUE, subject="rf_late:statutory", order=order, facts=facts)
    assert alert
    return alert


def test_an_alert_is_listed_in_words_counted_and_leads_to_its_order() -> None:
    overdue()
    staff = signed_in("staff", language="en")
    page = text_of(staff.get("/staff/refunds/"))
    assert "later than the law allows" in page
    assert "NT$230" in page
    assert 'href="/staff/orders/5531/"' in page
    assert 'Needs a look</span><b class="count">1</b>' in text_of(staff.get("/staff/orders/"))


def test_goods_that_are_owed_are_told_in_words() -> None:
    order = cast.place("5540", shipments=[shipment_body({1: 1}, state="lost")])
    replacement = sent_again(order, (1, 1, "lost"))
    alerts.raise_overdue(timezone.now() + timedelta(days=15))
    page = text_of(signed_in("staff", language="en").get("/staff/refunds/"))
    for words in ("a customer has waited too long for goods", replacement.pk, "much too late", "to be sent"):
        assert words in page


def test_it_is_settled_with_a_note_and_gone_from_the_list() -> None:
    alert = overdue()
    staff = signed_in("staff")
    settle = f"/staff/alerts/{alert.pk}/settle/"
    assert "NT$230" in text_of(staff.get(settle)), "with its facts before one's eyes"
    answer = staff.post(settle, {"note": " ", "next": "/staff/refunds/"})
    assert answer.status_code == 400
    assert 'aria-invalid="true"' in text_of(answer)
    assert 'name="next" value="/staff/refunds/"' in text_of(answer)
    assert settle in text_of(staff.get("/staff/refunds/"))
    staff.post(settle, {"note": "已電匯給顧客"})
    alert.refresh_from_db()
    assert (alert.note, alert.settled_at is None) == ("已電匯給顧客", False)
    assert settle not in text_of(staff.get("/staff/refunds/"))
    assert f'action="{settle}"' not in text_of(staff.get(settle)), "what is over has no form"


def test_alerts_beyond_the_first_page_are_reached_and_later_pages_of_refunds_do_not_repeat_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("backoffice.screens.refunds.MOST_ALERTS", 2)
    monkeypatch.setattr("backoffice.screens.refunds.PER_PAGE", 1)
    first = overdue()
    others = [alerts.raise_alert(kind=AlertKind.OVERDUE, subject=f"rf_{each}:statutory", facts={}) for each in "abcd"]
    for number in ("9001", "9002"):
        refund = pending_refund(cast.place(number), (1, 1, "changed_mind"))
        refund.allocations.update(state="failed")
        Refund.objects.filter(pk=refund.pk).update(state="failed")
    staff = signed_in("staff", language="en")
    shown: list[str] = []
    assert "All alerts" in text_of(staff.get("/staff/refunds/"))
    address = "/staff/refunds/?alerts=1"
    while address:
        answer = staff.get(address)
        found = re.findall(r'id="alert-(\d+)"', text_of(answer))
        assert f'settle/?next={quote(address, safe="")}"' in text_of(answer)
        shown += found
        later = answer.context["alert_sheet"].later
        address = f"/staff/refunds/?{later}" if later else ""
    assert shown == [str(alert.pk) for alert in (first, *others) if alert]
    second = staff.get(f"/staff/refunds/?{staff.get('/staff/refunds/').context['sheet'].later}")
    assert (len(second.context["refund_rows"]), second.context["alerts"]) == (1, [])


@pytest.mark.parametrize(
    "wanted", ["nope", "-1", "evil.example/x", "//evil.example/", "/\\evil.example/", "staff-orders", "/" + "x" * 3000]
)
def test_a_form_that_asks_for_no_page_of_ours_leads_to_the_usual_one_and_what_was_done_is_answered(wanted: str) -> None:
    alert = overdue()
    answer = signed_in("staff").post(f"/staff/alerts/{alert.pk}/settle/", {"note": "已電匯", "next": wanted})
    alert.refresh_from_db()
    assert alert.settled_at
    assert (answer.status_code, answer["Location"]) == (302, "/staff/refunds/")


def test_only_those_who_may_see_to_money_settle() -> None:
    alert = overdue()
    for name in ("warehouse", "marketing", "auditor"):
        browser = signed_in(name)
        assert browser.get(f"/staff/alerts/{alert.pk}/settle/").status_code == 403
        assert browser.post(f"/staff/alerts/{alert.pk}/settle/", {"note": "已電匯"}).status_code == 403
    alert.refresh_from_db()
    assert alert.settled_at is None
    assert signed_in("staff").post("/staff/alerts/999999/settle/").status_code == 404


def test_every_comparison_is_listed_with_its_differences_in_words() -> None:
    now = timezone.now()
    differences = [
        {
            "difference": "amount",
            "number": "sim_1",
            "order_number": "5531",
            "ours": {"amount": 230, "currency": "TWD"},
            "theirs": {"amount": 200, "currency": "TWD"},
        },
        {"difference": "missing_there", "number": "ra_1-1", "order_number": None, "amount": 50, "currency": "TWD"},
        {"difference": "something new", "number": None},
    ]
    BooksCompared.objects.create(
        provider="simulated", since=now - timedelta(days=30), until=now, checked=7, differences=differences
    )
    page = text_of(signed_in("auditor", language="en").get("/staff/books/"))
    for words in ("the amounts differ", "NT$230", "NT$200", "sim_1", "the provider does not list", "something new"):
        assert words in page


def test_an_empty_list_of_comparisons_says_when_the_first_is_made() -> None:
    assert "Nothing has been compared yet" in text_of(signed_in("staff", language="en").get("/staff/books/"))
