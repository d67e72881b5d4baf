"""Goods on their way back, and others in their place: short ways for tests. Real services, the cast's people."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from django.utils import timezone

from orders.actors import Actor
from orders.models import Order, Product, Shipment
from orders.shipments import upsert_shipment
from orders.tests import cast
from orders.tests.factories import ago, line_body, shipment_body
from refunds import replacements, returns
from refunds.acceptance import accept
from refunds.goods import unit_groups
from refunds.models import Replacement, Return
from refunds.quotes import LineChoice
from refunds.redeem import redeem
from refunds.resend import resend
from refunds.tests.ask import Asked, ask, choices


def warehouse() -> Actor:
    return cast.staff("warehouse")


def requested_return(order: Order, *asked: Asked) -> Return:
    request = redeem(quote_id=ask(order, *asked).pk, actor=cast.shopper()).return_request
    assert request is not None
    return request


def received_return(order: Order, *asked: Asked, found: Mapping[str, Mapping[str, int]] | None = None) -> Return:
    return returns.receive(return_id=requested_return(order, *asked).pk, actor=warehouse(), found=found)


def returned(order: Order, *asked: Asked) -> Return:
    return accept(return_id=received_return(order, *asked).pk, actor=warehouse())


def exchange(order: Order, *asked: Asked, ref: str = "card_1", product_id: str | None = None) -> Return:
    """By the customer; by default of one piece of the first line, for the same again."""
    wanted = choices(*(asked or ((1, 1, "defective"),)))
    lines = [LineChoice(each.line_item_id, each.quantity, each.reason, None, product_id) for each in wanted]
    return returns.request_exchange(order=order, lines=lines, actor=cast.shopper(), request_ref=ref)


def accepted_exchange(order: Order, *asked: Asked, **options: Any) -> Return:
    request = exchange(order, *asked, **options)
    returns.receive(return_id=request.pk, actor=warehouse())
    return accept(return_id=request.pk, actor=warehouse())


def exchanged(order: Order, *asked: Asked, **options: Any) -> Replacement:
    """The replacement of an exchange that has gone all the way, and has arrived."""
    request = accepted_exchange(order, *asked, **options)
    returns.complete_exchange(return_id=request.pk, actor=warehouse())
    return arrives(Replacement.objects.get(return_request=request))


def sent_again(order: Order, *asked: Asked, ref: str = "card_9") -> Replacement:
    return resend(order=order, lines=choices(*asked), actor=cast.shopper(), request_ref=ref)


def leaves(replacement: Replacement) -> Replacement:
    return replacements.send(replacement_id=replacement.pk, actor=warehouse(), carrier="黑貓宅急便")


def arrives(replacement: Replacement) -> Replacement:
    parcel_is(replacement.order, replacement.pk, "delivered")
    replacement.refresh_from_db()
    return replacement


def parcel_is(order: Order, external_id: str, state: str) -> Shipment:
    """The shop's system says so of one of its parcels."""
    body = {"external_id": external_id, "state": state}
    return upsert_shipment(order=order, body=body, actor=warehouse())[0]


def earphones(quantity: int = 3, **changes: Any) -> Order:
    """Three earphones at 1,200, delivered, and nothing else; no coupon."""
    body = line_body(1, "藍牙耳機", 1200, quantity, sku="EAR", category="audio")
    return cast.place("7801", **{"lines": [body], "shipments": [shipment_body({1: quantity})], **changes})


def lost_earphones(quantity: int = 2) -> Order:
    """Sent 20 days ago and not arrived."""
    days = {"packed_at": ago(days=21).isoformat(), "shipped_at": ago(days=20).isoformat()}
    parcel = shipment_body({1: quantity}, state="shipped", **days)
    return earphones(quantity, shipments=[parcel], placed_at=ago(days=22).isoformat())


def product(sku: str = "EAR-RED", *, price: int = 1200, pieces: int | None = 5, **changes: Any) -> Product:
    fields = {"name": "藍牙耳機 紅", "currency": "TWD", **changes}
    return Product.objects.create(sku=sku, price=price, stock=pieces, **fields)


def own_stock(pieces: int, sku: str = "EAR") -> None:
    Product.objects.filter(sku=sku).update(stock=pieces)


def stock_of(sku: str = "EAR") -> tuple[int | None, int]:
    """(stock, reserved)"""
    stock, reserved = Product.objects.values_list("stock", "reserved").get(sku=sku)
    return stock, reserved


def states_of(order: Order, position: int = 1) -> dict[str, int]:
    """How many units of the line are in which state; together they are what was ordered."""
    counted: Counter[str] = Counter()
    groups = [group for group in unit_groups(order, now=timezone.now()) if group.line.position == position]
    for group in groups:
        counted[group.state] += group.quantity
    assert counted.total() == cast.line(order, position).quantity
    return dict(counted)


def names_of(order: Order, position: int = 1) -> list[str]:
    return [g.product_name for g in unit_groups(order, now=timezone.now()) if g.line.position == position]
