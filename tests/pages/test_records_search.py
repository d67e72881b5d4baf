"""A search in the records finds a number that is written whole: by its index, and nothing that merely contains it."""

import pytest

from orders.models import Customer
from orders.tests import cast
from tests.pages.visiting import signed_in, text_of

pytestmark = pytest.mark.django_db
WORDS = ("5531", "553", "531")


@pytest.mark.parametrize(("words", "found"), [("5531", ["5531"]), ("553", []), ("531", []), ("55310", ["55310"])])
def test_an_order_is_found_by_its_whole_number(words: str, found: list[str]) -> None:
    for number in ("5531", "55310"):
        cast.place(number)
    answer = signed_in("auditor").get("/admin/orders/order/", {"q": words})
    assert [order.number for order in answer.context["cl"].queryset] == found


@pytest.mark.parametrize("model", ["payment", "lineitem", "shipment"])
def test_a_part_of_an_orders_number_finds_nothing_of_the_order(model: str) -> None:
    cast.order_5531()
    auditor = signed_in("auditor")
    found = {words: auditor.get(f"/admin/orders/{model}/", {"q": words}).context["cl"].result_count for words in WORDS}
    assert found["5531"] > 0
    assert (found["553"], found["531"]) == (0, 0)


@pytest.mark.parametrize("words", ["#5531", "0912 345 678", "+886 912-345-678", "345 678"])
def test_numbers_may_be_written_as_people_write_them(words: str) -> None:
    order = cast.order_5531()
    Customer.objects.filter(pk=order.customer_id).update(phone="0912-345-678")
    model = "order" if words.startswith("#") else "customer"
    answer = signed_in("auditor").get(f"/admin/orders/{model}/", {"q": words})
    assert answer.context["cl"].result_count == 1


def test_a_search_says_what_it_finds_as_a_whole_and_what_by_a_part() -> None:
    auditor = signed_in("auditor", language="en")
    page = text_of(auditor.get("/admin/orders/order/"))
    for told in ("As a whole: order number, ", "Also a part: full name, e-mail."):
        assert told in page
    assert "As a whole: conversation, turn, order number" in text_of(auditor.get("/admin/agent/modelcall/"))
