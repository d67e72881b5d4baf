"""A small shop in which something of every kind is under way, so that an API has something to answer with."""

from dataclasses import dataclass, field
from typing import Any

from rest_framework.authtoken.models import Token

from orders.links import issue_link
from orders.models import Order
from orders.tests import cast
from orders.tests.factories import ago, fixed_discount, line_body, payment_body, shipment_body
from refunds import returns
from refunds.models import Refund
from refunds.redeem import redeem
from refunds.states import RefundState
from refunds.tests.ask import ask, choices


@dataclass
class Shop:
    """`known`: what the shop has, by the name under which the API's page asks for it."""

    known: dict[str, list[Any]] = field(default_factory=dict)
    tokens: dict[str, str] = field(default_factory=dict)

    def knows(self, name: str, *values: Any) -> None:
        self.known.setdefault(name, []).extend(values)


def open_shop() -> Shop:
    """The rows, and a token each for the superuser and the customer whose orders they are."""
    shop = Shop()
    for who, user in (("staff", cast.staff_user("admin")), ("customer", cast.customer_user())):
        shop.tokens[who] = Token.objects.create(user=user).key
    order = busy_order()
    shop.knows("order_number", order.number, cast.order_5531().number, cast.place("6900", who="ming2").number)
    shop.knows("line_item_id", "li_1", "li_2", "li_3")
    shop.knows("payment_id", *order.payments.values_list("pk", flat=True))
    shop.knows("external_id", "c-ming", "s1", "s2", "1")
    shop.knows("currency", "TWD", "USD")
    shop.knows("sku", "EAR", "CASE")
    shop.knows("quantity", 1, 2)
    for name in ("placed_at", "captured_at", "packed_at", "shipped_at", "delivered_at", "at"):
        shop.knows(name, ago(days=5).isoformat())
    for step in (goods_on_their_way_back, quotes_and_refunds):
        step(shop, order)
    return shop


def busy_order() -> Order:
    """Four earphones delivered, three cases not packed, one of two lamps lost; card and store credit."""
    lines = [
        line_body(1, "藍牙耳機", 1200, 4, sku="EAR", category="audio"),
        line_body(2, "耳機殼", 380, 3, sku="CASE"),
        line_body(3, "燈", 30_000, 2, sku="LAMP"),
    ]
    payments = [
        payment_body(60_000),
        payment_body(5_790, external_id="p2", method="store_credit", last4=""),
    ]
    shipments = [shipment_body({1: 4}), shipment_body({3: 1}, state="lost", external_id="s2")]
    return cast.place(
        "5000", lines=lines, discounts=[fixed_discount(150, 1500)], payments=payments, shipments=shipments
    )


def quotes_and_refunds(shop: Shop, order: Order) -> None:
    waiting = redeemed(order, (3, 1, "other", "cancel"))
    failed = redeemed(order, (2, 1, "other", "cancel"))
    Refund.objects.filter(pk=failed.pk).update(state=RefundState.FAILED)
    failed.allocations.update(state="failed")
    shop.knows("refund_id", waiting.pk, failed.pk)
    open_quote = ask(order, (2, 1, "other", "cancel"))
    shop.knows("quote_id", open_quote.pk, waiting.quote_id, ask(order, (2, 1, "other"), actor=cast.staff()).pk)
    shop.knows("link_id", issue_link(order=order, actor=cast.staff())[1].pk)


def redeemed(order: Order, *asked: Any) -> Refund:
    refund = redeem(quote_id=ask(order, *asked).pk, actor=cast.shopper()).refund
    assert refund is not None
    return refund


def goods_on_their_way_back(shop: Shop, order: Order) -> None:
    request = redeem(quote_id=ask(order, (1, 1, "defective")).pk, actor=cast.shopper()).return_request
    assert request is not None
    exchange = returns.request_exchange(
        order=order, lines=choices((1, 1, "defective")), actor=cast.shopper(), request_ref="card_1"
    )
    returns.receive(return_id=request.pk, actor=cast.staff("warehouse"))
    shop.knows("return_id", request.pk, exchange.pk)
