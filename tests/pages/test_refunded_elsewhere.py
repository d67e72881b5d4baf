"""Money that went back without this desk is booked, and said for which goods it was."""

import pytest

from orders.models import Order, Payment
from orders.tests import cast
from orders.tests.factories import shipment_body
from refunds.models import Refund
from tests.pages.visiting import signed_in, text_of

pytestmark = pytest.mark.django_db
PATH = "/staff/orders/9501/refund-elsewhere/"


def delivered() -> Order:
    return cast.place("9501", lines=[("襪子", 500, 2)], shipments=[shipment_body({1: 2})])


def form(order: Order, **fields: str) -> dict[str, str]:
    payment = Payment.objects.get(order=order)
    row = {"pick": "li_1.elsewhere", "quantity.li_1.elsewhere": "1", "reason.li_1.elsewhere": "changed_mind"}
    facts = {"amount": "500", "external_ref": "PSP-1", "payment_id": payment.pk, "for": "goods", "note": "金流後台退款"}
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
    refused = supervisor.post(assign, {**form(order), "quantity.li_1.elsewhere": "9"})
    assert 400 <= refused.status_code < 500
    assert 'value="9"' in text_of(refused)
    answer = supervisor.post(assign, form(order), follow=True)
    refund.refresh_from_db()
    assert (refund.needs_assignment, cast.shipment_line(order, 1).refunded_quantity) == (False, 1)
    assert assign not in text_of(answer)


@pytest.mark.parametrize(
    "wrong",
    [
        {"amount": "2000"},
        {"amount": "x"},
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


def test_support_may_not_book_it() -> None:
    delivered()
    staff = signed_in("staff")
    assert PATH not in text_of(staff.get("/staff/orders/9501/"))
    assert staff.post(PATH).status_code == 403
    assert signed_in("staff").post("/staff/refunds/rf_000000000000/assign/").status_code == 403


def test_a_refund_that_does_not_exist_is_assigned_by_nobody() -> None:
    assert signed_in("supervisor").get("/staff/refunds/rf_000000000000/assign/").status_code == 404
