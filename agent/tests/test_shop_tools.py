"""Tools around the order: products, delivery dates, lost goods, address and compensation, as the model meets them."""

import json
import re
from datetime import date, timedelta
from typing import Any

import pytest
from django.utils import timezone

from agent.models import Card, ToolCall
from agent.states import CardKind, CardState, ToolCallState
from agent.tests.helpers import SAME_AGAIN, asked, call, hear, hold, told
from agent.tools import executor
from agent.turns import Lease
from orders.actors import system_actor
from orders.models import AuditEvent, CarrierFault, Order, Product
from orders.products import take_in_product
from orders.shipments import upsert_shipment
from orders.states import CarrierFaultKind
from orders.tests import cast
from orders.tests.factories import FREE_DELIVERY, ago, shipment_body
from refunds import approvals
from refunds.models import Approval, Refund, Replacement
from refunds.states import ApprovalKind, ApprovalState

pytestmark = pytest.mark.django_db
SHOP = system_actor("test shop")
HOME = {
    "recipient": "王小明",
    "phone": "0912345678",
    "postal_code": "220",
    "city": "新北市",
    "district": "板橋區",
    "street": "中山路一段 1 號",
}
OFFICE = {**HOME, "postal_code": "106", "city": "台北市", "district": "大安區", "street": "和平東路一段 1 號 3 樓"}


def product(sku: str, name: str, price: int, **more: Any) -> Product:
    body = {"sku": sku, "name": name, "price": price, "currency": "TWD", "category": "audio", **more}
    return take_in_product(body=body, actor=SHOP)[0]


@pytest.fixture
def order() -> Order:
    """Order 5531, sent home: the case is not packed yet."""
    order = cast.order_5531(shipping=FREE_DELIVERY, shipping_address=HOME)
    hear(order)
    return order


@pytest.fixture
def lease(order: Order) -> Lease:
    return hold(order)


def run(order: Order, lease: Lease, name: str, **arguments: Any) -> ToolCall:
    (made,) = asked(order, call(name, **arguments))
    executor.run_call(lease, made.pk)
    made.refresh_from_db()
    return made


def result(made: ToolCall) -> dict[str, Any]:
    assert made.state == ToolCallState.ANSWERED
    assert made.result is not None
    return dict(made.result)


def refused(made: ToolCall) -> dict[str, Any]:
    assert made.is_error
    error = result(made)
    assert error.keys() >= {"code", "message", "hint", "retryable"}
    return error


def search(order: Order, lease: Lease, words: str, **more: Any) -> dict[str, Any]:
    return result(run(order, lease, "search_products", **{"words": words, "category": None, "price_max": None, **more}))


def lose_the_case(order: Order) -> None:
    upsert_shipment(
        order=order,
        body=shipment_body(
            {2: 1},
            state="shipped",
            external_id="s2",
            packed_at=ago(days=21).isoformat(),
            shipped_at=ago(days=20).isoformat(),
        ),
        actor=cast.SHOP,
    )


# --- products ---
def test_products_are_found_by_all_words_category_and_price(order: Order, lease: Lease) -> None:
    product("EAR-B", "藍牙耳機 黑色", 1200, stock=3)
    product("EAR-P", "藍牙耳機 Pro 黑色", 2400)
    found = search(order, lease, "耳機 黑", category="audio", price_max=1200)
    (shown,) = found["products"]
    assert (shown["product_id"], shown["display"], shown["in_stock"], shown["available"]) == (
        "EAR-B",
        "NT$1,200",
        True,
        3,
    )
    assert "All" in found["note"]


def test_an_empty_search_says_so_and_what_to_try(order: Order, lease: Lease) -> None:
    found = search(order, lease, "洗衣機")
    assert (found["products"], "No product fits" in found["note"]) == ([], True)


def test_a_long_list_is_cut_and_says_how_to_see_less(order: Order, lease: Lease) -> None:
    for number in range(12):
        product(f"X-{number:02}", f"喇叭 {number}", 500)
    found = search(order, lease, "喇叭")
    assert (len(found["products"]), "more products" in found["note"]) == (10, True)


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({"words": "  "}, "words"),
        ({"words": "x" * 101}, "words"),
        ({"words": "耳機", "price_max": -1}, "price_max"),
        ({"words": "耳機", "price_max": "1200"}, "price_max"),
    ],
)
def test_a_search_that_cannot_be_used_names_the_field(
    order: Order, lease: Lease, arguments: dict[str, Any], field: str
) -> None:
    error = refused(run(order, lease, "search_products", **{"category": None, "price_max": None, **arguments}))
    assert (error["code"], error["field"]) == ("invalid_argument", field)


def test_products_in_another_currency_are_not_offered(order: Order, lease: Lease) -> None:
    product("USD-1", "headphones", 1200, currency="USD")
    assert search(order, lease, "headphones")["products"] == []
    assert refused(run(order, lease, "get_product", product_id="USD-1"))["code"] == "not_found"


@pytest.mark.parametrize("product_id", ["", "nope", "' OR 1=1 --", "li_1", "x" * 500, "a\x00b"])
def test_an_unknown_product_is_a_result_and_no_fault(order: Order, lease: Lease, product_id: str) -> None:
    error = refused(run(order, lease, "get_product", product_id=product_id.replace("\x00", "\ufffd")))
    assert (error["code"], error["field"]) == ("not_found", "product_id")
    assert "search_products" in error["hint"]


def test_a_product_of_the_order_says_which_line_it_is(order: Order, lease: Lease) -> None:
    assert result(run(order, lease, "get_product", product_id="EAR"))["line_item_ids"] == ["li_1"]


# --- exchanges for another product ---
def exchange(order: Order, lease: Lease, product_id: str) -> ToolCall:
    return run(order, lease, "create_return", quote_id=None, exchange_lines=[{**SAME_AGAIN, "product_id": product_id}])


def test_an_exchange_for_another_product_of_the_same_price_names_both_on_its_card(order: Order, lease: Lease) -> None:
    product("EAR-B", "藍牙耳機 黑色", 1200, stock=1)
    assert exchange(order, lease, "EAR-B").state == ToolCallState.SUSPENDED
    (shown,) = told(order, "card")
    (line,) = shown["lines"]
    assert (line["name"], line["becomes"]) == ("藍牙耳機", "藍牙耳機 黑色")
    assert "what you have chosen" in shown["explanation"]
    assert Product.objects.get(sku="EAR-B").reserved == 0


@pytest.mark.parametrize(
    ("sku", "price", "stock", "code"),
    [("EAR-B", 1300, 5, "price_differs"), ("EAR-B", 1200, 0, "out_of_stock"), ("OTHER", 1200, 5, "unknown_product")],
)
def test_what_cannot_be_exchanged_is_refused_and_the_argument_named(
    order: Order, lease: Lease, sku: str, price: int, stock: int, code: str
) -> None:
    product(sku, "藍牙耳機 黑色", price, stock=stock)
    error = refused(exchange(order, lease, "EAR-B"))
    assert error["code"] == code
    assert error.get("field", "exchange_lines").startswith("exchange_lines")
    assert not Card.objects.exists()


# --- delivery dates ---
@pytest.mark.django_db(transaction=True)
def test_a_carrier_is_asked_for_what_has_not_arrived(order: Order, lease: Lease) -> None:
    found = result(run(order, lease, "estimate_delivery", product_id=None))
    (estimate,) = found["estimates"]
    assert [line["line_item_id"] for line in estimate["lines"]] == ["li_2"]
    assert timezone.localdate() < date.fromisoformat(estimate["earliest"]) <= date.fromisoformat(estimate["latest"])


@pytest.mark.django_db(transaction=True)
def test_a_parcel_that_left_long_ago_is_late_and_gets_no_new_day(order: Order, lease: Lease) -> None:
    upsert_shipment(
        order=order,
        body=shipment_body(
            {2: 1},
            state="shipped",
            external_id="s2",
            packed_at=ago(days=11).isoformat(),
            shipped_at=ago(days=10).isoformat(),
        ),
        actor=cast.SHOP,
    )
    (estimate,) = result(run(order, lease, "estimate_delivery", product_id=None))["estimates"]
    assert estimate["late"] is True
    assert date.fromisoformat(estimate["latest"]) < timezone.localdate()


@pytest.mark.django_db(transaction=True)
def test_a_product_that_would_be_sent_now_has_a_date_unless_it_is_sold_out(order: Order, lease: Lease) -> None:
    product("EAR-B", "藍牙耳機 黑色", 1200, stock=1)
    product("EAR-W", "藍牙耳機 白色", 1200, stock=0)
    assert len(result(run(order, lease, "estimate_delivery", product_id="EAR-B"))["estimates"]) == 1
    sold_out = result(run(order, lease, "estimate_delivery", product_id="EAR-W"))
    assert (sold_out["estimates"], "out of stock" in sold_out["note"]) == ([], True)
    assert refused(run(order, lease, "estimate_delivery", product_id="nope"))["code"] == "not_found"


@pytest.mark.django_db(transaction=True)
def test_when_everything_has_arrived_nobody_is_asked(lease: Lease) -> None:
    done = cast.place("7002", shipments=[shipment_body({1: 1, 2: 1})])
    hear(done)
    CarrierFault.objects.create(kind=CarrierFaultKind.DOWN, remaining=9, seconds=0)
    found = result(run(done, hold(done), "estimate_delivery", product_id=None))
    assert (found["estimates"], "Nothing" in found["note"]) == ([], True)
    assert CarrierFault.objects.get().remaining == 9


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("kind", [CarrierFaultKind.DOWN, CarrierFaultKind.SLOW])
def test_a_carrier_that_stays_away_gives_a_retryable_error_and_no_date(
    order: Order, lease: Lease, settings: Any, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    settings.CARRIER_TIMEOUT_SECONDS = 0.05
    monkeypatch.setattr(executor, "PAUSE_SECONDS", 0)
    CarrierFault.objects.create(kind=kind, remaining=executor.TRIES, seconds=1)
    error = refused(run(order, lease, "estimate_delivery", product_id=None))
    assert (error["code"], error["retryable"]) == ("carrier_unavailable", True)
    assert str(timezone.localdate().year) not in str(error)
    assert CarrierFault.objects.get().remaining == 0


@pytest.mark.django_db(transaction=True)
def test_a_carrier_that_is_away_for_a_moment_is_asked_again(
    order: Order, lease: Lease, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(executor, "PAUSE_SECONDS", 0)
    CarrierFault.objects.create(kind=CarrierFaultKind.DOWN, remaining=executor.TRIES - 1, seconds=0)
    assert result(run(order, lease, "estimate_delivery", product_id=None))["estimates"]


# --- lost goods ---
def test_lost_goods_can_be_sent_again_by_a_card(order: Order, lease: Lease) -> None:
    lose_the_case(order)
    units = result(run(order, lease, "get_order"))["lines"][1]["units"]
    assert [each["can"] for each in units] == [["lost", "resend"]]
    waiting = run(order, lease, "resend_items", lines=[{"line_item_id": "li_2", "quantity": 1}])
    assert waiting.state == ToolCallState.SUSPENDED
    (shown,) = told(order, "card")
    assert (shown["kind"], shown["amount"], [line["name"] for line in shown["lines"]]) == ("resend", None, ["耳機殼"])
    assert "resend_lines" not in shown
    assert not Replacement.objects.exists()


@pytest.mark.parametrize("line_item_id", ["li_1", "li_2", "li_9"])
def test_goods_that_are_not_lost_are_not_sent_again(order: Order, lease: Lease, line_item_id: str) -> None:
    refused(run(order, lease, "resend_items", lines=[{"line_item_id": line_item_id, "quantity": 1}]))
    assert not Card.objects.exists()


# --- the address ---
def test_another_address_is_shown_beside_the_old_one_and_changes_nothing(order: Order, lease: Lease) -> None:
    waiting = run(order, lease, "update_shipping_address", **OFFICE)
    assert waiting.state == ToolCallState.SUSPENDED
    (shown,) = told(order, "card")
    assert [place["text"][:6] for place in shown["places"]] == ["220 新北", "106 台北"]
    assert "address" not in shown
    assert Card.objects.get().kind == CardKind.ADDRESS
    order.refresh_from_db()
    assert order.shipping_address == HOME


def test_the_same_address_needs_no_card(order: Order, lease: Lease) -> None:
    assert result(run(order, lease, "update_shipping_address", **HOME))["status"] == "unchanged"
    assert not Card.objects.exists()


@pytest.mark.parametrize(
    ("field", "value"), [("recipient", ""), ("phone", "call me"), ("postal_code", "一〇六"), ("street", "x" * 300)]
)
def test_an_address_that_cannot_be_used_names_the_part(order: Order, lease: Lease, field: str, value: str) -> None:
    error = refused(run(order, lease, "update_shipping_address", **{**OFFICE, field: value}))
    assert (error["code"], error["field"]) == ("invalid_argument", field)


def test_what_is_packed_or_picked_up_keeps_its_address(order: Order, lease: Lease) -> None:
    upsert_shipment(order=order, body=shipment_body({2: 1}, state="packed", external_id="s2"), actor=cast.SHOP)
    assert refused(run(order, lease, "update_shipping_address", **OFFICE))["code"] == "already_shipped"
    Order.objects.filter(pk=order.pk).update(shipping_method="store_pickup")
    assert refused(run(order, lease, "update_shipping_address", **OFFICE))["code"] == "pickup_order"
    assert not Card.objects.exists()


# --- compensation ---
def propose(order: Order, lease: Lease, amount: Any, reason: str = "The parcel came a week late.") -> ToolCall:
    return run(order, lease, "propose_compensation", compensation_ntd=amount, reason=reason)


def test_a_compensation_is_a_question_to_a_colleague_and_pays_nothing(order: Order, lease: Lease) -> None:
    made = result(propose(order, lease, 100))
    approval = Approval.objects.get()
    assert (approval.kind, approval.state, approval.amount) == (ApprovalKind.COMPENSATION, ApprovalState.WAITING, 100)
    assert (made["status"], made["approval_id"], made["display"]) == ("proposed", approval.pk, "NT$100")
    assert "colleague" in made["next"]
    assert not Refund.objects.exists()
    assert AuditEvent.objects.filter(action="approval.waiting", actor_kind="agent").count() == 1


def test_a_second_call_is_told_of_the_proposal_that_waits(order: Order, lease: Lease) -> None:
    made = result(propose(order, lease, 100))
    again = result(propose(order, lease, 100, reason="It was very late."))
    assert (again["approval_id"], again["amount"]) == (made["approval_id"], 100)
    assert "A proposal of NT$100 waits already" in again["next"]
    assert "waits already" not in made["next"]
    error = refused(propose(order, lease, 150))
    assert (error["code"], error["field"]) == ("proposal_waits", "compensation_ntd")
    assert Approval.objects.count() == 1


def test_the_same_call_run_again_finds_its_proposal(order: Order, lease: Lease) -> None:
    made = propose(order, lease, 100)
    ToolCall.objects.filter(pk=made.pk).update(state=ToolCallState.ASKED, result=None)
    executor.run_call(lease, made.pk)
    assert Approval.objects.count() == 1


@pytest.mark.parametrize(
    ("amount", "field"),
    [
        (0, "compensation_ntd"),
        (-5, "compensation_ntd"),
        (10**15, "compensation_ntd"),
        ("100", "compensation_ntd"),
        (1.5, "compensation_ntd"),
    ],
)
def test_an_amount_that_is_none_names_the_argument(order: Order, lease: Lease, amount: Any, field: str) -> None:
    error = refused(propose(order, lease, amount))
    assert (error["code"], error["field"]) == ("invalid_argument", field)
    assert not Approval.objects.exists()


def test_above_the_shops_limit_the_model_hears_no_number_and_offers_a_person(order: Order, lease: Lease) -> None:
    error = refused(propose(order, lease, 1_400))
    assert not re.search(r"\d", json.dumps(error))
    assert "hand_off_to_human" in error["hint"]
    assert error["code"] == "above_compensation_cap"
    assert error.get("field", "compensation_ntd") == "compensation_ntd"
    assert not Approval.objects.exists()


def test_many_small_proposals_stay_within_the_limit_together(order: Order, lease: Lease) -> None:
    codes = []
    for _ in range(3):
        codes.append((propose(order, lease, 120).result or {}).get("code"))
        for waiting in Approval.objects.filter(state=ApprovalState.WAITING):
            approvals.approve(approval_id=waiting.pk, actor=cast.staff("supervisor"), reason="fine")
    assert codes == [None, None, "above_compensation_cap"]
    assert [approval.amount for approval in Approval.objects.all()] == [120, 120]


def test_another_currency_is_for_a_person(lease: Lease) -> None:
    order = cast.place("7003", lines=(("headphones", 1200, 1),), currency="USD")
    hear(order)
    error = refused(propose(order, hold(order), 100))
    assert (error["code"], "hand_off_to_human" in error["hint"]) == ("other_currency", True)


# --- what reading shows of it ---
def test_the_order_and_its_parcels_show_address_products_and_replacements(order: Order, lease: Lease) -> None:
    shown = result(run(order, lease, "get_order"))
    assert shown["shipping"]["address"] == HOME
    assert [line["product_id"] for line in shown["lines"]] == ["EAR", "CASE"]
    assert shown["replacements"] == []
    (parcel,) = result(run(order, lease, "list_shipments"))["shipments"]
    assert parcel["is_replacement"] is False


def test_a_cards_time_is_a_quarter_of_an_hour(order: Order, lease: Lease) -> None:
    run(order, lease, "update_shipping_address", **OFFICE)
    card = Card.objects.get()
    assert card.state == CardState.OPEN
    assert timedelta(minutes=14) < card.expires_at - timezone.now() <= timedelta(minutes=15)
