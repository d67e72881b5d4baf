"""Staff's order page: the same amount as everywhere, confirmed with a reason, and the buttons around it."""

from typing import Any

import pytest
from django.test import Client
from django.utils import translation

from orders.models import CustomerLink, Order, Shipment
from orders.tests import cast
from orders.tests.factories import shipment_body
from refunds.models import Refund, RefundQuote
from refunds.present import quote_as_dict
from tests.pages.visiting import quoted, signed_in, text_of

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}


def tick(browser: Client, number: str, *keys: str, **fields: str) -> Any:
    """Tick lines of the order: `li_2.cancel`; other fields as `quantity_li_2_cancel` would be awkward, so by name."""
    form: dict[str, Any] = {"pick": list(keys)}
    for key in keys:
        form |= {f"quantity.{key}": fields.get("quantity", "1"), f"reason.{key}": fields.get("reason", "changed_mind")}
    return browser.post(f"/staff/orders/{number}/quote/", form, headers=HTMX)


def test_ticking_the_case_shows_the_same_230_and_steps_as_the_customers_card() -> None:
    order = cast.order_5531()
    with translation.override("zh-hant"):
        theirs = quote_as_dict(quoted(order))
    box = text_of(tick(signed_in("staff"), "5531", "li_2.cancel", reason="late_delivery"))
    assert f'data-amount="{theirs["amount"]}"' in box
    for step in theirs["steps"]:
        assert step["text"] in box
        assert step["display"] in box
    assert "<html" not in box


def test_the_tick_boxes_offer_what_the_goods_allow_and_show_the_rest_without_one() -> None:
    cast.place(
        "7001",
        lines=[("襪子", 100, 3), ("毛巾", 450, 1)],
        shipments=[shipment_body({1: 2}, external_id="s1"), shipment_body({2: 1}, state="packed", external_id="s2")],
    )
    page = text_of(signed_in("staff").get("/staff/orders/7001/"))
    assert 'value="li_1.cancel"' in page
    assert 'value="li_1.return"' in page
    assert 'value="li_2' not in page
    assert "備貨中" in page


def test_units_delivered_in_two_parcels_are_one_row() -> None:
    cast.place(
        "7002", lines=[("襪子", 100, 3)], shipments=[shipment_body({1: 1}), shipment_body({1: 2}, external_id="s2")]
    )
    page = text_of(signed_in("staff").get("/staff/orders/7002/"))
    assert page.count('value="li_1.return"') == 1
    assert 'max="3"' in page


def test_nothing_ticked_asks_nothing_and_says_what_would_be_here() -> None:
    cast.order_5531()
    assert "可以退多少" in text_of(tick(signed_in("staff"), "5531"))
    assert not RefundQuote.objects.exists()


def test_a_refusal_stands_in_the_box_with_its_hint() -> None:
    cast.order_5531()
    box = text_of(tick(signed_in("staff"), "5531", "li_1.return", "li_2.cancel"))
    assert "無法合併試算" in box
    assert "請依此順序逐一試算" in box


@pytest.mark.parametrize("quantity", ["1.5", "", "-1", "０", "9", "true", "9" * 30])
def test_a_quantity_that_cannot_be_is_refused_and_moves_nothing(quantity: str) -> None:
    cast.order_5531()
    answer = tick(signed_in("staff"), "5531", "li_2.cancel", quantity=quantity)
    assert answer.status_code == 200
    assert 'role="alert"' in text_of(answer)
    assert not RefundQuote.objects.exists()


def test_forged_boxes_are_refused_in_words() -> None:
    cast.order_5531()
    for key in ("li_9.cancel", "nonsense", "li_2.steal", "."):
        answer = tick(signed_in("staff"), "5531", key)
        assert answer.status_code == 200
        assert 'role="alert"' in text_of(answer)


def test_without_a_script_the_page_comes_back_with_the_quote_and_the_ticks() -> None:
    cast.order_5531()
    form = {"pick": "li_2.cancel", "quantity.li_2.cancel": "1", "reason.li_2.cancel": "shop_cancelled"}
    page = text_of(signed_in("staff").post("/staff/orders/5531/quote/", form))
    assert "<html" in page
    assert 'id="pick-li_2.cancel" checked' in page
    assert 'value="shop_cancelled" selected' in page


def test_a_confirmation_that_is_refused_leaves_the_reason_and_the_ticks_and_only_once() -> None:
    cast.order_5531()
    staff, too_long = signed_in("staff"), "長" * 1001
    tick(staff, "5531", "li_2.cancel", reason="shop_cancelled")
    refused, again = text_of(confirm(staff, too_long)), text_of(staff.get("/staff/orders/5531/"))
    kept = (f"{too_long}</textarea>", 'id="pick-li_2.cancel" checked', 'value="shop_cancelled" selected', '"load, ')
    assert [part in refused for part in kept] == [True] * len(kept)
    assert [part in again for part in kept] == [False] * len(kept)


def confirm(browser: Client, note: str) -> Any:
    quote = RefundQuote.objects.order_by("-created_at")[0]
    form = {"note": note, "next": "/staff/orders/5531/"}
    return browser.post(f"/refunds/quotes/{quote.pk}/confirm/", form, follow=True)


def test_confirming_needs_a_reason_and_leads_back_to_the_order_with_the_refund() -> None:
    cast.order_5531()
    staff = signed_in("staff")
    tick(staff, "5531", "li_2.cancel")
    confirm(staff, "   ")
    assert not Refund.objects.exists()
    answer = confirm(staff, "顧客來電取消")
    refund = Refund.objects.get()
    assert (refund.amount, refund.note) == (230, "顧客來電取消")
    assert answer.request["PATH_INFO"] == "/staff/orders/5531/"
    assert refund.pk in text_of(answer)
    assert "顧客來電取消" in text_of(answer)


def test_while_money_is_on_its_way_the_refunds_are_fetched_again_and_no_longer_after() -> None:
    cast.order_5531()
    staff = signed_in("staff")
    tick(staff, "5531", "li_2.cancel")
    confirm(staff, "取消")
    part = "/staff/orders/5531/refunds/"
    assert "hx-trigger" in text_of(staff.get(part))
    Refund.objects.update(state="succeeded")
    assert "hx-trigger" not in text_of(staff.get(part))


def test_a_refused_refund_has_a_button_that_sends_it_again() -> None:
    cast.order_5531()
    staff = signed_in("staff")
    tick(staff, "5531", "li_2.cancel")
    confirm(staff, "取消")
    refund = Refund.objects.get()
    refund.allocations.update(state="failed")
    Refund.objects.update(state="failed")
    assert f"/staff/refunds/{refund.pk}/retry/" in text_of(staff.get("/staff/orders/5531/"))
    answer = staff.post(f"/staff/refunds/{refund.pk}/retry/", follow=True)
    refund.refresh_from_db()
    assert refund.state == "pending"
    assert "正在重新送出" in text_of(answer)
    assert "現在無法這麼做" in text_of(staff.post(f"/staff/refunds/{refund.pk}/retry/", follow=True))


def test_the_warehouse_packs_hands_over_and_reports_the_arrival() -> None:
    cast.order_5531()
    warehouse = signed_in("warehouse")
    assert "包裝剩餘商品" in text_of(warehouse.get("/staff/orders/5531/"))
    warehouse.post("/staff/orders/5531/pack/")
    parcel = Shipment.objects.get(state="packed")
    typed = {"carrier": "黑貓" * 50, "tracking_number": "TN-1"}
    refused = text_of(warehouse.post(f"/staff/shipments/{parcel.pk}/ship/", typed, follow=True))
    assert 'value="TN-1"' in refused
    assert f'value="{typed["carrier"]}"' in refused
    warehouse.post(f"/staff/shipments/{parcel.pk}/ship/", {**typed, "carrier": "黑貓"})
    parcel.refresh_from_db()
    assert (parcel.state, parcel.carrier, parcel.tracking_number) == ("shipped", "黑貓", "TN-1")
    answer = warehouse.post(f"/staff/shipments/{parcel.pk}/deliver/", follow=True)
    assert "已送達" in text_of(answer)
    again = warehouse.post("/staff/orders/5531/pack/", follow=True)
    assert "沒有需要包裝的商品" in text_of(again)


def test_a_customer_link_is_shown_once_and_can_be_revoked() -> None:
    order = cast.order_5531()
    staff = signed_in("staff")
    assert "/l/" in text_of(staff.post("/staff/orders/5531/customer-link/"))
    page = text_of(staff.get("/staff/orders/5531/"))
    assert "/l/" not in page
    link = CustomerLink.objects.get()
    assert f"/customer-link/{link.pk}/revoke/" in page
    cast.place("5532")
    assert staff.post(f"/staff/orders/5532/customer-link/{link.pk}/revoke/").status_code == 404
    staff.post(f"/staff/orders/{order.number}/customer-link/{link.pk}/revoke/")
    link.refresh_from_db()
    assert link.revoked_at


@pytest.mark.parametrize(
    ("search", "found"),
    [
        ("5531", {"5531"}),
        ("#5531", {"5531"}),
        ("王小明", {"5531", "5602"}),
        ("MING2@", {"5602"}),
        ("678", {"7003"}),
        ("0912-345-678", {"7003"}),
        ("345 678", {"7003"}),
        ("tn-s1", {"5531"}),
        ("%", set()),
        ("' OR 1=1 --", set()),
        ("\x00", {"5531", "5602", "7003"}),
    ],
)
def test_orders_are_found_by_number_name_mail_phone_end_and_tracking_number(search: str, found: set[str]) -> None:
    cast.order_5531()
    cast.place("5602", who="ming2")
    mei = cast.place("7003", who="mei").customer
    mei.phone = "0912-345-678"
    mei.save(update_fields=["phone"])
    page = text_of(signed_in("staff").get("/staff/orders/", {"q": search, "all": "1"}))
    shown = {order.number for order in Order.objects.all() if f'href="/staff/orders/{order.number}/"' in page}
    assert shown == found
    assert found or "找不到符合的訂單" in page


def test_an_order_is_found_by_the_number_of_whatever_belongs_to_it() -> None:
    order = cast.order_5531()
    cast.place("5602", who="ming2")
    staff = signed_in("staff")
    tick(staff, "5531", "li_2.cancel")
    confirm(staff, "取消")
    for row in (Refund.objects.get(), RefundQuote.objects.get(), cast.shipment(order), cast.payment(order)):
        for typed in (row.pk, f" {row.pk.upper()} "):
            answer = staff.get("/staff/orders/", {"q": typed})
            assert answer.headers["Location"] == f"/staff/orders/5531/#{row.pk}"
    assert "找不到符合的訂單" in text_of(staff.get("/staff/orders/", {"q": "rf_nothing"}))
