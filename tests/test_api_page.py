"""What the API's page says of a body, a list or an answer, where it must say exactly what is taken and given."""

from typing import Any

import pytest
from django.test import Client

from orders.tests import cast
from orders.tests.factories import fixed_discount, payment_body
from refunds.tests.browser import post_json, signed_in
from refunds.tests.paying import pending_refund

pytestmark = pytest.mark.django_db
LISTS = [
    "orders",
    "products",
    "refund-policies",
    "refund-quotes",
    "refunds",
    "returns",
    "replacements",
    "approvals",
    "alerts",
    "books",
    "customers/c-ming/store-credit",
]


def page() -> dict[str, Any]:
    described: dict[str, Any] = signed_in("admin").get("/api/v1/schema/?format=json").json()
    return described


def body(described: dict[str, Any], operation_id: str) -> dict[str, Any]:
    operations = [each for methods in described["paths"].values() for each in methods.values()]
    wanted = next(each for each in operations if each["operationId"] == operation_id)
    name = wanted["requestBody"]["content"]["application/json"]["schema"]["$ref"].rsplit("/", 1)[1]
    schema: dict[str, Any] = described["components"]["schemas"][name]
    return schema


def test_what_an_answer_may_leave_empty_is_said_to_be_so() -> None:
    order = cast.place(
        "7001", discounts=[{**fixed_discount(10), "code": "", "label": "會員"}], payments=[payment_body(1570)]
    )
    answer = signed_in("admin").get(f"/api/v1/orders/{order.number}/").json()
    assert answer["discounts"][0]["code"] == ""
    assert "minLength" not in page()["components"]["schemas"]["Discount"]["properties"]["code"]


def test_a_list_that_is_refused_empty_says_how_long_it_is_at_least_and_at_most() -> None:
    described = page()
    for name in ("orders_take_in", "overrides_ask", "returns_exchange", "replacements_resend", "refund_quotes_ask"):
        lines = body(described, name)["properties"]["lines"]
        assert (name, lines.get("minItems"), lines.get("maxItems", 0) > 0) == (name, 1, True)
    for name in ("refunds_elsewhere_book", "refunds_elsewhere_assign"):
        assert "minItems" not in body(described, name)["properties"]["lines"]


NEEDED = [
    ("refunds_reject", "refunds/{refund}/reject/", "reason"),
    ("refunds_settle", "refunds/{refund}/settle/", "note"),
    ("refunds_admit_failure", "refunds/{refund}/admit-failure/", "note"),
]


@pytest.mark.parametrize(
    ("operation_id", "field"),
    [
        *((operation_id, field) for operation_id, _, field in NEEDED),
        ("approvals_reject", "reason"),
        ("returns_reject", "note"),
        ("replacements_release", "note"),
    ],
)
def test_a_reason_without_which_nothing_is_done_is_required(operation_id: str, field: str) -> None:
    assert field in body(page(), operation_id)["required"]


@pytest.mark.parametrize("sent", [{}, "blank", "null"])
@pytest.mark.parametrize(("operation_id", "address", "field"), NEEDED)
def test_and_its_absence_is_refused_by_its_name(operation_id: str, address: str, field: str, sent: Any) -> None:
    refund = pending_refund()
    body = {"blank": {field: " "}, "null": {field: None}}.get(str(sent), {})
    answer = post_json(signed_in("supervisor"), f"/api/v1/{address.format(refund=refund.pk)}", body)
    assert (answer.status_code, answer.json()["field"]) == (400, field)


@pytest.fixture
def admin() -> Client:
    cast.order_5531()
    return signed_in("admin")


@pytest.mark.parametrize("address", LISTS)
def test_a_page_that_is_no_number_is_refused_in_every_list_and_the_page_says_which_are(
    admin: Client, address: str
) -> None:
    shown = page()["paths"][f"/api/v1/{address.replace('c-ming', '{external_id}')}/"]["get"]
    limits = {each["name"]: each["schema"] for each in shown["parameters"] if each["name"].startswith("page")}
    assert limits == {
        "page": {"type": "integer", "minimum": 1},
        "page_size": {"type": "integer", "minimum": 1, "maximum": 100},
    }
    assert "400" in shown["responses"]
    for name in limits:
        answer = admin.get(f"/api/v1/{address}/?{name}=abc")
        assert (answer.status_code, answer.json()["field"]) == (400, name)


@pytest.mark.parametrize("written", ["null", "-1", "0", "", "1.5", "１", "last", "9" * 5000, "101"])
def test_a_size_of_pages_that_cannot_be_is_refused_and_never_taken_for_another(admin: Client, written: str) -> None:
    answer = admin.get("/api/v1/orders/", {"page_size": written})
    assert (answer.status_code, answer.json()["field"]) == (400, "page_size")
    assert admin.get("/api/v1/orders/", {"page_size": 100}).status_code == 200


@pytest.mark.parametrize("written", ["null", "-1", "0", "", "1.5", "１", "last"])
def test_a_page_that_cannot_be_is_refused_and_one_beyond_the_last_is_not_there(admin: Client, written: str) -> None:
    answer = admin.get("/api/v1/orders/", {"page": written})
    assert (answer.status_code, answer.json()["field"]) == (400, "page")
    assert admin.get("/api/v1/orders/", {"page": 2}).status_code == 404
