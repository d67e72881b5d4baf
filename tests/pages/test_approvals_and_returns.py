"""A second person decides, and goods come back: the supervisor's and the warehouse's pages."""

import pytest

from orders.models import Order
from orders.tests import cast
from orders.tests.factories import shipment_body
from refunds.models import Refund, Return
from refunds.redeem import redeem
from refunds.tests.ask import ask
from tests.pages.visiting import signed_in, text_of

pytestmark = pytest.mark.django_db


def large_refund() -> Refund:
    """A refund above the policy's amount: it waits for a second person."""
    order = cast.place("9001", lines=[("家庭劇院", 25000, 1)])
    redeemed = redeem(quote_id=ask(order, (1, 1, "changed_mind")).pk, actor=cast.shopper())
    assert redeemed.refund
    return redeemed.refund


def return_of(order: Order) -> Return:
    redeemed = redeem(quote_id=ask(order, (1, 1, "changed_mind")).pk, actor=cast.shopper())
    assert redeemed.return_request
    return redeemed.return_request


def state_of(row: Refund | Return) -> str:
    row.refresh_from_db()
    return row.state


def test_a_large_refund_waits_with_its_reasons_and_is_approved() -> None:
    refund = large_refund()
    supervisor = signed_in("supervisor")
    page = text_of(supervisor.get("/staff/approvals/"))
    assert refund.pk in page
    assert "NT$25,000" in page
    assert "家庭劇院" in page
    answer = supervisor.post(f"/staff/approvals/{refund.pk}/approve/", {"reason": "已確認"}, follow=True)
    assert "已核准" in text_of(answer)
    assert state_of(refund) == "pending"
    assert "目前沒有待核准的退款" in text_of(supervisor.get("/staff/approvals/"))


def test_rejecting_needs_a_reason() -> None:
    refund = large_refund()
    supervisor = signed_in("supervisor")
    supervisor.post(f"/staff/approvals/{refund.pk}/reject/", {"reason": ""})
    assert state_of(refund) == "pending_approval"
    supervisor.post(f"/staff/approvals/{refund.pk}/reject/", {"reason": "序號不符"})
    assert state_of(refund) == "rejected"


def test_whoever_confirmed_it_is_told_that_somebody_else_decides() -> None:
    order = cast.place("9002", lines=[("家庭劇院", 25000, 1)])
    quote = ask(order, (1, 1, "changed_mind"), actor=cast.staff("supervisor"))
    redeem(quote_id=quote.pk, actor=cast.staff("supervisor"), note="顧客來電")
    supervisor = signed_in("supervisor")
    assert "須由其他人決定" in text_of(supervisor.get("/staff/approvals/"))
    refund = Refund.objects.get()
    supervisor.post(f"/staff/approvals/{refund.pk}/approve/", {"reason": "自己核准"})
    assert state_of(refund) == "pending_approval"


def test_a_return_is_received_accepted_and_the_refund_follows() -> None:
    order = cast.place("9003", lines=[("襪子", 500, 1)], shipments=[shipment_body({1: 1})])
    back = return_of(order)
    warehouse = signed_in("warehouse")
    assert back.pk in text_of(warehouse.get("/staff/returns/"))
    warehouse.post(f"/staff/returns/{back.pk}/receive/")
    assert state_of(back) == "received"
    answer = warehouse.post(f"/staff/returns/{back.pk}/accept/", {"next": "/staff/orders/9003/"}, follow=True)
    assert answer.request["PATH_INFO"] == "/staff/orders/9003/"
    assert state_of(back) == "refunded"
    assert Refund.objects.get().amount == 500
    assert "目前沒有退貨" in text_of(warehouse.get("/staff/returns/"))
    assert back.pk in text_of(warehouse.get("/staff/returns/", {"q": back.pk[-6:].upper()}))


def test_goods_that_are_not_accepted_need_a_reason_and_count_as_delivered_again() -> None:
    order = cast.place("9004", lines=[("襪子", 500, 1)], shipments=[shipment_body({1: 1})])
    back = return_of(order)
    warehouse = signed_in("warehouse")
    warehouse.post(f"/staff/returns/{back.pk}/reject/", {"note": ""})
    assert state_of(back) == "requested"
    warehouse.post(f"/staff/returns/{back.pk}/reject/", {"note": "已拆封使用"})
    assert state_of(back) == "rejected"
    assert "已送達" in text_of(signed_in("ming").get("/orders/9004/"))


def test_support_sees_returns_but_has_no_buttons_for_them() -> None:
    order = cast.place("9005", lines=[("襪子", 500, 1)], shipments=[shipment_body({1: 1})])
    back = return_of(order)
    staff = signed_in("staff")
    assert "receive/" not in text_of(staff.get("/staff/returns/"))
    assert staff.post(f"/staff/returns/{back.pk}/receive/").status_code == 403


def test_a_way_back_to_another_site_is_not_taken() -> None:
    order = cast.place("9006", lines=[("襪子", 500, 1)], shipments=[shipment_body({1: 1})])
    back = return_of(order)
    answer = signed_in("warehouse").post(f"/staff/returns/{back.pk}/receive/", {"next": "//elsewhere.example/"})
    assert answer["Location"] == "/staff/returns/"
