"""A second person decides, and goods come back: the supervisor's and the warehouse's pages."""

import pytest

from orders.models import Order
from orders.tests import cast
from orders.tests.factories import fixed_discount, shipment_body
from refunds.models import Refund, Return
from refunds.redeem import redeem
from refunds.returns import receive
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


def received(order: Order, reason: str) -> Return:
    redeemed = redeem(quote_id=ask(order, (1, 1, reason)).pk, actor=cast.shopper())
    assert redeemed.return_request
    return receive(return_id=redeemed.return_request.pk, actor=cast.staff("warehouse"))


def both_delivered(number: str) -> Order:
    """The order of the story with both parcels there: defective earphones come to 1,200, a changed mind to 1,050."""
    return cast.place(number, discounts=[fixed_discount(150, 1500)], shipments=[shipment_body({1: 1, 2: 1})])


def test_the_warehouse_says_per_line_what_it_found_and_less_than_promised_waits_for_a_second_person() -> None:
    back = received(both_delivered("9007"), "defective")
    warehouse, supervisor = signed_in("warehouse"), signed_in("supervisor")
    page = text_of(warehouse.get("/staff/returns/"))
    assert '<select name="found.li_1">' in page
    assert "如顧客所述：商品瑕疵" in page
    answer = warehouse.post(f"/staff/returns/{back.pk}/accept/", {"found.li_1": "changed_mind"}, follow=True)
    assert "退款須由另一位同事核准" in text_of(answer)
    assert "NT$" not in text_of(answer)
    assert state_of(back) == "accepted"

    assert "計算為 NT$1,050，低於原先答應的 NT$1,200" in text_of(supervisor.get("/staff/returns/"))
    approvals = text_of(supervisor.get("/staff/approvals/"))
    assert "原先答應顧客退 NT$1,200，依實際收到的商品計算為 NT$1,050" in approvals
    refund = Refund.objects.get()
    supervisor.post(f"/staff/approvals/{refund.pk}/approve/", {"reason": "倉庫驗收無瑕疵"})
    assert (state_of(refund), refund.amount, state_of(back)) == ("pending", 1050, "refunded")


def test_what_was_found_as_the_customer_said_is_refunded_as_promised() -> None:
    back = received(both_delivered("9008"), "defective")
    answer = signed_in("warehouse").post(f"/staff/returns/{back.pk}/accept/", {"found.li_1": ""}, follow=True)
    assert "退款處理中" in text_of(answer)
    assert (Refund.objects.get().amount, state_of(back)) == (1200, "refunded")


@pytest.mark.parametrize("field", [{"found.li_2": "defective"}, {"found.li_1": "lost"}, {"found.": "other"}])
def test_a_forged_finding_is_refused_in_words_and_nothing_moves(field: dict[str, str]) -> None:
    back = received(both_delivered("9009"), "defective")
    answer = signed_in("warehouse").post(f"/staff/returns/{back.pk}/accept/", field, follow=True)
    assert 'class="notice tone-bad"' in text_of(answer)
    assert state_of(back) == "received"


def test_a_customer_keeps_the_goods_after_all_until_they_have_come_back() -> None:
    order = cast.place("9010", lines=[("襪子", 500, 1)], shipments=[shipment_body({1: 1})])
    back, ming = return_of(order), signed_in("ming")
    button = f"/orders/9010/returns/{back.pk}/withdraw/"
    assert f'action="{button}"' in text_of(ming.get("/orders/9010/"))
    answer = ming.post(button, follow=True)
    assert "商品由您保留" in text_of(answer)
    assert "已送達" in text_of(answer)
    assert button not in text_of(answer)
    assert state_of(back) == "withdrawn"


def test_goods_that_have_come_back_are_not_withdrawn_any_more() -> None:
    back = received(both_delivered("9011"), "defective")
    ming = signed_in("ming")
    button = f"/orders/9011/returns/{back.pk}/withdraw/"
    assert button not in text_of(ming.get("/orders/9011/"))
    assert "現在無法這麼做" in text_of(ming.post(button, follow=True))
    assert state_of(back) == "received"


def test_a_return_is_withdrawn_by_its_own_customer_at_its_own_order_by_post_alone() -> None:
    back = return_of(cast.place("9012", lines=[("襪子", 500, 1)], shipments=[shipment_body({1: 1})]))
    cast.place("9013")
    cast.place("9014", who="ming2")
    ming = signed_in("ming")
    assert ming.get(f"/orders/9012/returns/{back.pk}/withdraw/").status_code == 405
    assert ming.post(f"/orders/9013/returns/{back.pk}/withdraw/").status_code == 404
    assert ming.post("/orders/9012/returns/rt_%00/withdraw/").status_code == 404
    assert signed_in("ming2").post(f"/orders/9014/returns/{back.pk}/withdraw/").status_code == 404
    assert signed_in("staff").post(f"/orders/9012/returns/{back.pk}/withdraw/").status_code == 404
    assert state_of(back) == "requested"


def test_support_withdraws_a_return_in_the_customers_name() -> None:
    back = return_of(cast.place("9015", lines=[("襪子", 500, 1)], shipments=[shipment_body({1: 1})]))
    assert signed_in("warehouse").post(f"/staff/returns/{back.pk}/withdraw/").status_code == 403
    form = {"note": "顧客來電", "next": "/staff/orders/9015/"}
    answer = signed_in("staff").post(f"/staff/returns/{back.pk}/withdraw/", form, follow=True)
    assert answer.request["PATH_INFO"] == "/staff/orders/9015/"
    assert state_of(back) == "withdrawn"


def test_a_large_return_that_comes_to_what_was_promised_waits_without_a_word_of_less() -> None:
    order = cast.place("9016", lines=[("家庭劇院", 25000, 1)], shipments=[shipment_body({1: 1})])
    back = received(order, "changed_mind")
    supervisor = signed_in("supervisor")
    supervisor.post(f"/staff/returns/{back.pk}/accept/")
    page = text_of(supervisor.get("/staff/returns/"))
    assert "退款須由另一位同事核准" in page
    assert "低於原先答應" not in page
    assert "原先答應" not in text_of(supervisor.get("/staff/approvals/"))
