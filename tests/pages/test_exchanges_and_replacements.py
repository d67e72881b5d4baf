"""Staff arrange exchanges and send lost goods again; the warehouse sends what comes in their place."""

from typing import Any

import pytest
from django.test import Client

from orders.models import Order, Product, Shipment
from orders.tests import cast
from orders.tests.factories import shipment_body
from refunds.acceptance import accept
from refunds.models import Replacement, Return
from refunds.returns import receive
from tests.pages.coming_back import state_of
from tests.pages.visiting import signed_in, text_of

pytestmark = pytest.mark.django_db


def socks(number: str, quantity: int = 1) -> Order:
    return cast.place(number, lines=[("襪子", 500, quantity)], shipments=[shipment_body({1: quantity})])


def product(name: str, price: int, *, stock: int | None = None) -> Product:
    return Product.objects.create(sku=f"SKU-{name}", name=name, price=price, currency="TWD", stock=stock)


def exchange_form(**fields: str) -> dict[str, str]:
    row = {"pick": "li_1.exchange", "quantity.li_1.exchange": "1", "reason.li_1.exchange": "defective"}
    return {**row, "note": "左腳破洞", **fields}


def lost_order(number: str) -> Order:
    """Socks that the carrier has lost."""
    return cast.place(number, lines=[("襪子", 500, 1)], shipments=[shipment_body({1: 1}, state="lost")])


def post(browser: Client, path: str, form: dict[str, str]) -> Any:
    return browser.post(path, form, follow=True)


def test_an_exchange_for_the_same_again_is_arranged_with_a_reason() -> None:
    socks("9301")
    staff = signed_in("staff")
    assert "/staff/orders/9301/exchange/" in text_of(staff.get("/staff/orders/9301/"))
    answer = post(staff, "/staff/orders/9301/exchange/", exchange_form())
    made = Return.objects.get()
    assert answer.request["PATH_INFO"] == "/staff/orders/9301/"
    assert (made.kind, made.note, made.replacement.state) == ("exchange", "左腳破洞", "reserved")
    assert made.pk in text_of(answer)
    assert "/staff/orders/9301/exchange/" not in text_of(answer)


def test_another_product_of_the_same_price_is_found_by_words_and_chosen() -> None:
    socks("9302")
    wool = product("羊毛襪", 500, stock=2)
    product("絲襪", 900)
    product("毛襪禮盒", 500, stock=0)
    staff = signed_in("staff")
    found = text_of(
        staff.get(
            "/staff/orders/9302/exchange/products/li_1/", {"words.li_1.exchange": "襪"}, headers={"HX-Request": "1"}
        )
    )
    assert f'value="{wool.sku}"' in found
    assert "絲襪" not in found
    assert 'value="SKU-毛襪禮盒"  disabled' in found
    assert "<html" not in found
    assert staff.get("/staff/orders/9302/exchange/products/li_9/").status_code == 404
    post(staff, "/staff/orders/9302/exchange/", exchange_form(**{"product.li_1.exchange": wool.sku}))
    assert Return.objects.get().lines.get().product == wool
    wool.refresh_from_db()
    assert wool.reserved == 1


def test_without_a_script_the_search_is_a_button_that_keeps_everything_typed() -> None:
    socks("9303")
    wool = product("羊毛襪", 500)
    form = exchange_form(**{"words.li_1.exchange": "羊毛", "search": "1"})
    page = text_of(signed_in("staff").post("/staff/orders/9303/exchange/", form))
    assert f'value="{wool.sku}"' in page
    assert "左腳破洞" in page
    assert 'id="pick-li_1.exchange" checked' in page
    assert not Return.objects.exists()


@pytest.mark.parametrize(
    "wrong",
    [
        {"quantity.li_1.exchange": "3"},
        {"quantity.li_1.exchange": "x"},
        {"product.li_1.exchange": "SKU-絲襪"},
        {"product.li_1.exchange": "no-such-thing"},
        {"pick": "li_9.exchange"},
        {"pick": ""},
    ],
)
def test_an_exchange_that_cannot_be_is_refused_in_words_and_what_was_typed_stays(wrong: dict[str, str]) -> None:
    socks("9304")
    product("絲襪", 900)
    answer = post(signed_in("staff"), "/staff/orders/9304/exchange/", exchange_form(**wrong))
    assert 400 <= answer.status_code < 500
    assert 'role="alert"' in text_of(answer)
    assert "左腳破洞" in text_of(answer)
    assert not Return.objects.exists()


def test_a_form_that_is_sent_twice_asks_once() -> None:
    socks("9305", quantity=2)
    staff = signed_in("staff")
    for _ in range(2):
        post(staff, "/staff/orders/9305/exchange/", exchange_form(token="t" * 20))
    assert Return.objects.count() == 1


def test_lost_goods_are_sent_again_and_the_warehouse_sends_them_with_a_number() -> None:
    lost_order("9306")
    staff, warehouse = signed_in("staff"), signed_in("warehouse")
    form = {"pick": "li_1.resend", "quantity.li_1.resend": "1", "note": "包裹遺失"}
    page = text_of(post(staff, "/staff/orders/9306/resend/", form))
    made = Replacement.objects.get()
    assert made.pk in page
    listed = text_of(warehouse.get("/staff/replacements/"))
    assert f"/staff/replacements/{made.pk}/send/" in listed
    parcel = {"carrier": "黑貓", "tracking_number": "TN-77"}
    post(warehouse, f"/staff/replacements/{made.pk}/send/", parcel)
    sent = Shipment.objects.get(is_replacement=True)
    assert (state_of(made), sent.tracking_number) == ("sent", "TN-77")
    assert made.pk not in text_of(warehouse.get("/staff/replacements/"))
    assert "TN-77" in text_of(warehouse.get("/staff/replacements/?all=1"))
    assert "TN-77" in text_of(signed_in("ming").get("/orders/9306/"))


def test_a_replacement_that_is_not_sent_needs_a_reason_and_is_lost_again() -> None:
    lost_order("9307")
    form = {"pick": "li_1.resend", "quantity.li_1.resend": "1", "note": "包裹遺失"}
    post(signed_in("staff"), "/staff/orders/9307/resend/", form)
    made, warehouse = Replacement.objects.get(), signed_in("warehouse")
    post(warehouse, f"/staff/replacements/{made.pk}/release/", {"note": ""})
    assert state_of(made) == "reserved"
    post(warehouse, f"/staff/replacements/{made.pk}/release/", {"note": "改退款"})
    assert state_of(made) == "released"
    assert "/staff/orders/9307/resend/" in text_of(signed_in("staff").get("/staff/orders/9307/"))


def test_an_exchange_leaves_only_after_the_goods_were_accepted() -> None:
    socks("9308")
    post(signed_in("staff"), "/staff/orders/9308/exchange/", exchange_form())
    back, warehouse = Return.objects.get(), signed_in("warehouse")
    send = f"/staff/replacements/{back.replacement.pk}/send/"
    assert send not in text_of(warehouse.get("/staff/replacements/?all=1"))
    post(warehouse, send, {"carrier": "黑貓"})
    assert state_of(back.replacement) == "reserved"
    receive(return_id=back.pk, actor=cast.staff("warehouse"))
    accept(return_id=back.pk, actor=cast.staff("warehouse"))
    assert send in text_of(warehouse.get(f"/staff/returns/{back.pk}/"))
    post(warehouse, send, {"carrier": "黑貓", "tracking_number": "TN-78"})
    assert state_of(back) == "exchanged"


def test_a_tracking_number_that_is_too_long_stands_in_the_form_again() -> None:
    lost_order("9309")
    post(
        signed_in("staff"),
        "/staff/orders/9309/resend/",
        {"pick": "li_1.resend", "quantity.li_1.resend": "1", "note": "包裹遺失"},
    )
    made = Replacement.objects.get()
    form = {"carrier": "黑貓", "tracking_number": "9" * 200}
    page = text_of(post(signed_in("warehouse"), f"/staff/replacements/{made.pk}/send/", form))
    assert f'value="{"9" * 200}"' in page
    assert state_of(made) == "reserved"


def test_support_sees_what_is_to_be_sent_without_buttons() -> None:
    lost_order("9310")
    staff = signed_in("staff")
    post(staff, "/staff/orders/9310/resend/", {"pick": "li_1.resend", "quantity.li_1.resend": "1", "note": "包裹遺失"})
    made = Replacement.objects.get()
    page = text_of(staff.get("/staff/replacements/"))
    assert made.pk in page
    assert "/send/" not in page
    assert staff.post(f"/staff/replacements/{made.pk}/send/").status_code == 403


@pytest.mark.parametrize("number", ["rp_000000000000", "nothing", "rp_%00"])
def test_a_replacement_that_does_not_exist_is_a_404(number: str) -> None:
    assert signed_in("warehouse").post(f"/staff/replacements/{number}/send/").status_code == 404


def test_where_nothing_fits_the_form_says_so() -> None:
    order = socks("9311")
    cast.delivered_days_ago(order, 20)
    staff = signed_in("staff", language="en")
    assert "Nothing can be exchanged now" in text_of(staff.get("/staff/orders/9311/exchange/"))
    assert "Nothing is lost" in text_of(staff.get("/staff/orders/9311/resend/"))
    page = text_of(staff.get("/staff/orders/9311/"))
    assert "/staff/orders/9311/exchange/" not in page


@pytest.mark.parametrize("page", ["exchange", "resend"])
@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"pick": ""}, "還沒有勾選商品。"),
        ({"pick": "li_9.exchange"}, "表單裡沒有這些商品。"),
        ({"quantity.li_1.exchange": ""}, "請填寫件數，例如 1。"),
        ({"note": " "}, "請簡單寫下原因"),
    ],
)
def test_what_a_form_leaves_open_is_said_in_the_words_of_the_form(page: str, wrong: dict[str, str], says: str) -> None:
    socks("9350")
    shown = text_of(post(signed_in("staff"), f"/staff/orders/9350/{page}/", exchange_form(**wrong)))
    assert says in shown
    for framework in ("列表", "整數", "product_id"):
        assert framework not in shown
