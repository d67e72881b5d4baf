"""Where an order goes, as staff and its customer see it; and what credit the customer has left."""

import pytest

from orders import store_credit
from orders.models import Order
from orders.tests import cast
from orders.tests.factories import FREE_DELIVERY, shipment_body
from refunds.tests.going_back import leaves, sent_again
from tests.pages.visiting import signed_in, text_of

pytestmark = pytest.mark.django_db
ADDRESS = {
    "recipient": "王小明",
    "phone": "0912-345-678",
    "postal_code": "106",
    "city": "臺北市",
    "district": "大安區",
    "street": "和平東路一段 1 號",
}
PATH = "/staff/orders/9601/address/"


def to_be_sent(**fields: object) -> Order:
    return cast.place("9601", shipping=FREE_DELIVERY, shipping_address=ADDRESS, **fields)  # type: ignore[arg-type]


def test_the_address_stands_on_the_orders_pages_and_in_the_form() -> None:
    to_be_sent()
    for page in (
        text_of(signed_in("staff").get("/staff/orders/9601/")),
        text_of(signed_in("ming").get("/orders/9601/")),
    ):
        assert "和平東路一段 1 號" in page
    assert 'value="和平東路一段 1 號"' in text_of(signed_in("staff").get(PATH))


def test_it_is_changed_while_anything_is_unpacked() -> None:
    order = to_be_sent()
    staff = signed_in("staff")
    assert PATH in text_of(staff.get("/staff/orders/9601/"))
    answer = staff.post(PATH, {**ADDRESS, "street": "信義路 5 號"}, follow=True)
    order.refresh_from_db()
    assert order.shipping_address == {**ADDRESS, "street": "信義路 5 號"}
    assert "信義路 5 號" in text_of(answer)


def test_lost_goods_that_are_to_be_sent_again_can_go_elsewhere_until_they_have_left() -> None:
    order = to_be_sent(shipments=[shipment_body({1: 1, 2: 1}, state="lost")])
    staff, street = signed_in("staff"), {**ADDRESS, "street": "信義路 5 號"}
    assert PATH not in text_of(staff.get("/staff/orders/9601/"))
    replacement = sent_again(order, (1, 1, "lost"))
    assert PATH in text_of(staff.get("/staff/orders/9601/"))
    assert "信義路 5 號" in text_of(staff.post(PATH, street, follow=True))
    leaves(replacement)
    assert PATH not in text_of(staff.get("/staff/orders/9601/"))
    assert staff.post(PATH, ADDRESS).status_code == 409
    shown = text_of(staff.get(PATH))
    assert ('name="street"' in shown, "已沒有待包裝的商品" in shown) == (False, True)
    order.refresh_from_db()
    assert order.shipping_address == street


@pytest.mark.parametrize("wrong", [{"phone": "abc"}, {"recipient": ""}, {"street": "長" * 300}, {"postal_code": "?"}])
def test_a_wrong_field_is_named_and_all_of_them_stay_as_typed(wrong: dict[str, str]) -> None:
    to_be_sent()
    answer = signed_in("staff").post(PATH, {**ADDRESS, **wrong})
    assert answer.status_code == 400
    page = text_of(answer)
    ((name, value),) = wrong.items()
    assert f'name="{name}" value="{value}"' in page
    assert 'aria-invalid="true"' in page
    assert 'value="臺北市"' in page


def test_once_everything_is_packed_there_is_no_button_and_a_forged_form_is_refused() -> None:
    to_be_sent(shipments=[shipment_body({1: 1, 2: 1}, state="packed")])
    staff = signed_in("staff")
    assert PATH not in text_of(staff.get("/staff/orders/9601/"))
    assert staff.post(PATH, {**ADDRESS, "street": "信義路 5 號"}).status_code == 409


def test_the_customers_store_credit_stands_beside_the_payments() -> None:
    order = to_be_sent()
    store_credit.post(
        customer=order.customer, currency="TWD", amount=321, kind="granted", reference="test", actor=cast.SHOP
    )
    assert "NT$321" in text_of(signed_in("staff").get("/staff/orders/9601/"))
    assert "NT$321" not in text_of(signed_in("warehouse").get("/staff/orders/9601/"))
