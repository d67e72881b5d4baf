"""Money that went back without this desk is booked, and said for which goods it was."""

from datetime import date, timedelta

import pytest
from django.utils import timezone

from orders.models import Order, Payment
from orders.tests import cast
from orders.tests.factories import shipment_body
from refunds.models import Refund
from refunds.present import refund_as_dict
from refunds.refund_words import paid_by_hand
from tests.pages.visiting import signed_in, text_of

pytestmark = pytest.mark.django_db
PATH = "/staff/orders/9501/refund-elsewhere/"


def delivered() -> Order:
    return cast.place("9501", lines=[("襪子", 500, 2)], shipments=[shipment_body({1: 2})])


def form(order: Order, **fields: str) -> dict[str, str]:
    payment = Payment.objects.get(order=order)
    row = {"pick": "li_1.elsewhere", "quantity.li_1.elsewhere": "1", "reason.li_1.elsewhere": "changed_mind"}
    facts = {"amount": "500", "external_ref": "PSP-1", "payment_id": payment.pk, "for": "goods", "note": "金流後台退款"}
    facts["at"] = timezone.localdate().isoformat()
    return {**facts, **row, **fields}


def test_a_refund_for_goods_is_booked_once_and_the_goods_are_gone() -> None:
    order = delivered()
    supervisor = signed_in("supervisor")
    assert PATH in text_of(supervisor.get("/staff/orders/9501/"))
    for _ in range(2):
        answer = supervisor.post(PATH, form(order), follow=True)
    refund = Refund.objects.get()
    assert (refund.kind, refund.amount, refund.state) == ("elsewhere", 500, "succeeded")
    assert cast.payment(order).left == 500
    assert cast.shipment_line(order, 1).refunded_quantity == 1
    assert answer.request["PATH_INFO"] == "/staff/orders/9501/"
    assert refund.pk in text_of(answer)


def test_one_that_did_not_take_place_is_told_to_staff_alone_and_nobody_is_said_to_have_refused_it() -> None:
    order = delivered()
    supervisor = signed_in("supervisor")
    supervisor.post(PATH, form(order))
    refund = Refund.objects.get()
    assert refund.pk in text_of(signed_in("ming").get("/orders/9501/"))
    undo = f"/staff/refunds/{refund.pk}/undo/"
    assert f'data-dialog href="{undo}?next=/staff/orders/9501/"' in text_of(supervisor.get("/staff/orders/9501/"))
    empty = supervisor.post(undo, {"note": " ", "next": "/staff/orders/9501/"})
    assert (empty.status_code, 'aria-invalid="true"' in text_of(empty)) == (400, True)
    supervisor.post(undo, {"note": "打錯訂單了"})
    assert "<textarea" not in text_of(supervisor.get(undo)), "what is over has no form"
    assert refund.pk not in text_of(signed_in("ming").get("/orders/9501/"))
    shown = text_of(supervisor.get("/staff/orders/9501/")).split('id="keys"')[0]
    assert refund.pk in shown
    assert "拒絕" not in shown
    assert "駁回" not in shown
    assert '<span class="badge ">這筆退款並未發生' in shown
    assert "退款並未發生</span>" in shown[shown.index("timeline") :]
    refund.refresh_from_db()
    (share,) = refund_as_dict(refund)["to"]
    assert (share["by"], "PSP-1" in share["label"], "~" in share["label"]) == ("hand", True, False)
    assert share["label"] in shown
    assert refund.pk not in text_of(supervisor.get("/staff/refunds/"))


def test_what_was_paid_by_hand_is_not_said_to_have_gone_to_the_card() -> None:
    order = delivered()
    supervisor = signed_in("supervisor")
    supervisor.post(PATH, form(order))
    shown = text_of(supervisor.get("/staff/orders/9501/"))
    assert paid_by_hand("PSP-1") in shown
    assert "退至" not in shown[shown.index(Refund.objects.get().pk) :]


def test_one_that_did_not_take_place_and_waits_for_its_goods_is_in_no_list_any_more() -> None:
    order = delivered()
    supervisor = signed_in("supervisor")
    supervisor.post(PATH, form(order, **{"for": "later"}))
    refund = Refund.objects.get()
    assert f"{refund.pk}/assign/" in text_of(supervisor.get("/staff/refunds/"))
    supervisor.post(f"/staff/refunds/{refund.pk}/undo/", {"note": "打錯訂單了"})
    assert f"{refund.pk}/assign/" not in text_of(supervisor.get("/staff/refunds/"))


def test_a_refund_for_no_goods_leaves_them_where_they_are() -> None:
    order = delivered()
    signed_in("supervisor").post(PATH, form(order, **{"for": "none"}))
    assert not Refund.objects.get().needs_assignment
    assert cast.shipment_line(order, 1).refunded_quantity == 0


def test_what_is_not_known_yet_waits_is_shown_as_such_and_is_assigned_later() -> None:
    order = delivered()
    supervisor = signed_in("supervisor")
    supervisor.post(PATH, form(order, **{"for": "later"}))
    refund = Refund.objects.get()
    assert refund.needs_assignment
    assign = f"/staff/refunds/{refund.pk}/assign/"
    assert assign in text_of(supervisor.get("/staff/orders/9501/"))
    assert assign not in text_of(signed_in("staff").get("/staff/orders/9501/"))
    assert assign in text_of(supervisor.get("/staff/refunds/"))
    refused = supervisor.post(assign, {**form(order), "quantity.li_1.elsewhere": "9"})
    assert 400 <= refused.status_code < 500
    assert 'value="9"' in text_of(refused)
    answer = supervisor.post(assign, form(order), follow=True)
    refund.refresh_from_db()
    assert (refund.needs_assignment, cast.shipment_line(order, 1).refunded_quantity) == (False, 1)
    assert assign not in text_of(answer)
    assert refund.pk not in text_of(supervisor.get("/staff/refunds/"))


@pytest.mark.parametrize(
    "wrong",
    [
        {"amount": "2000"},
        {"amount": "x"},
        {"amount": "1,00"},
        {"external_ref": ""},
        {"payment_id": "pay_other"},
        {"note": ""},
        {"quantity.li_1.elsewhere": "3"},
        {"pick": ""},
    ],
)
def test_what_cannot_be_booked_is_refused_and_stays_as_typed(wrong: dict[str, str]) -> None:
    order = delivered()
    answer = signed_in("supervisor").post(PATH, form(order, **wrong))
    assert 400 <= answer.status_code < 500
    page = text_of(answer)
    assert 'role="alert"' in page
    for name, value in {"amount": "500", "external_ref": "PSP-1", **wrong}.items():
        if name in {"amount", "external_ref"}:
            assert f'name="{name}"' in page
            assert f'value="{value}"' in page
    assert not Refund.objects.exists()


def test_the_day_is_today_unless_another_is_chosen() -> None:
    order = delivered()
    today = timezone.localdate()
    page = text_of(signed_in("supervisor").get(PATH))
    assert f'name="at" value="{today.isoformat()}"' in page
    assert f'max="{today.isoformat()}"' in page
    signed_in("supervisor").post(PATH, form(order, at=today.isoformat()))
    paid = Refund.objects.get().finished_at
    assert paid is not None
    assert timezone.now() - paid < timedelta(minutes=1)


def test_an_earlier_day_is_kept_as_that_day_in_taipei_and_shown() -> None:
    order = delivered()
    day = timezone.localdate() - timedelta(days=2)
    answer = signed_in("supervisor", language="en").post(PATH, form(order, at=day.isoformat()), follow=True)
    paid = Refund.objects.get().finished_at
    assert paid is not None
    assert timezone.localdate(paid) == day
    assert f"paid back on {day:%B} {day.day}" in text_of(answer)


def test_one_that_did_not_take_place_keeps_the_day_that_was_told_and_is_not_said_to_be_paid_back() -> None:
    browser = signed_in("supervisor", language="en")
    at = timezone.localdate() - timedelta(days=2)
    browser.post(PATH, form(delivered(), at=at.isoformat()))
    told = Refund.objects.get()
    browser.post(f"/staff/refunds/{told.pk}/undo/", {"note": "打錯訂單了"})
    assert (Refund.objects.get().state, Refund.objects.get().finished_at) == ("rejected", told.finished_at)
    page = text_of(browser.get("/staff/orders/9501/"))
    assert (told.pk in page, "paid back on" in page) == (True, False)


def test_a_refund_on_the_day_of_the_order_is_not_before_the_order() -> None:
    order = delivered()
    signed_in("supervisor").post(PATH, form(order, at=timezone.localdate(order.placed_at).isoformat()))
    paid = Refund.objects.get().finished_at
    assert paid is not None
    assert paid >= order.placed_at


@pytest.mark.parametrize("wrong", ["tomorrow", "before", "", "30/11/2026"])
def test_a_day_that_cannot_be_is_refused_by_its_field(wrong: str) -> None:
    order = delivered()
    days = {
        "tomorrow": timezone.localdate() + timedelta(days=1),
        "before": timezone.localdate(order.placed_at) - timedelta(days=1),
    }
    at = days[wrong].isoformat() if isinstance(days.get(wrong), date) else wrong
    answer = signed_in("supervisor").post(PATH, form(order, at=at))
    assert answer.status_code == 400
    assert 'max="' in text_of(answer)
    assert text_of(answer).count('aria-invalid="true"') == 1
    assert 'name="at" value=' in text_of(answer)
    assert not Refund.objects.exists()


def test_support_may_not_book_it() -> None:
    delivered()
    staff = signed_in("staff")
    assert PATH not in text_of(staff.get("/staff/orders/9501/"))
    assert staff.post(PATH).status_code == 403
    assert signed_in("staff").post("/staff/refunds/rf_000000000000/assign/").status_code == 403


def test_a_refund_that_does_not_exist_is_assigned_by_nobody() -> None:
    assert signed_in("supervisor").get("/staff/refunds/rf_000000000000/assign/").status_code == 404


def test_told_again_for_its_day_it_is_the_same_and_for_another_day_it_is_refused_by_the_fields_name() -> None:
    order = cast.place("9501", lines=[("襪子", 500, 2)])
    supervisor = signed_in("supervisor")
    row = {"pick": "li_1.elsewhere"}
    before = (timezone.localdate() - timedelta(days=2)).isoformat()
    assert supervisor.post(PATH, form(order, at=before, **row)).status_code == 302
    assert supervisor.post(PATH, form(order, at=before, **row)).status_code == 302
    refused = supervisor.post(PATH, form(order, **row))
    assert (refused.status_code, refused.context["refusal"].field) == (409, "at")
    assert Refund.objects.count() == 1
