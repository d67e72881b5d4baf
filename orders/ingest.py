"""An order comes in from the checkout: checked, written once, priced again and compared with what was paid.

Idempotent on the order's number. What the goods cost is not known here: whoever owns the money rules registers the
function that prices a whole order (`register_price_check`), and an order whose payments disagree with it is refused.
"""

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from typing import Any

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.core.serializers.json import DjangoJSONEncoder
from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from orders import audit
from orders.actors import Actor
from orders.bodies import OrderBody
from orders.errors import Refusal
from orders.models import Customer, LineItem, Order, OrderDiscount, Payment, Product
from orders.money import format_money
from orders.shipments import write_shipment
from orders.states import PaymentMethod
from orders.strict import validated

PriceCheck = Callable[[Order], int]

# What money that no gateway took came through.
BY_HAND = "cash"

_price_checks: list[PriceCheck] = []


def register_price_check(function: PriceCheck) -> None:
    """Say what a whole order costs: `function(order)` reads its rows and answers in smallest units."""
    _price_checks[:] = [function]


def take_in(*, body: object, actor: Actor) -> tuple[Order, bool]:
    """The order of an `OrderBody`, and True if it is new; the same body again gives the same order.

    Raises NotAllowed, InvalidInput, and Refusal `order_differs` (another body for a known number) or
    `payments_do_not_match`. Whatever is refused leaves nothing behind.
    """
    actor.require("orders.add_order")
    facts = validated(OrderBody, body)
    digest = digest_of(facts)
    known = _known(facts["number"], digest)
    if known is not None:
        return known, False
    try:
        with transaction.atomic():
            return _write(facts, digest, actor), True
    except IntegrityError:
        known = _known(facts["number"], digest)  # somebody else took it in meanwhile
        if known is None:
            raise
        return known, False


def digest_of(facts: Mapping[str, Any]) -> str:
    """One digest for all ways to write the same body: order of keys, offsets and left-out defaults do not count."""
    text = json.dumps(_without_gaps(facts), sort_keys=True, cls=DjangoJSONEncoder, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def _without_gaps(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _without_gaps(below) for key, below in value.items() if below not in (None, "", [])}
    if isinstance(value, list):
        return [_without_gaps(item) for item in value]
    if isinstance(value, Decimal):
        return f"{value.normalize():f}"
    return value


def _known(number: str, digest: str) -> Order | None:
    order = Order.objects.filter(number=number).first()
    if order is not None and order.intake_digest != digest:
        raise Refusal(
            "order_differs",
            _("Order %(number)s was taken in before, with a different body.") % {"number": number},
            hint=_("An order cannot be changed by taking it in again. Send it under its own number."),
            field="number",
        )
    return order


def _write(facts: Mapping[str, Any], digest: str, actor: Actor) -> Order:
    """Touches the customer first, then products by sku, then the order: no two take-ins can block each other."""
    customer = _customer(facts["customer"])
    products = _products(facts["lines"], facts["currency"])
    order = _order(facts, digest, customer)
    names = _write_lines(order, facts["lines"], products)
    _write_discounts(order, facts["discounts"], names)
    _write_payments(order, facts["payments"])
    price = _check_payments(order, facts["payments"])
    _record(order, facts, price, actor)
    for index, shipment in enumerate(facts["shipments"]):
        write_shipment(order=order, facts=shipment, actor=actor, where=f"shipments[{index}].")
    return order


def _customer(facts: Mapping[str, Any]) -> Customer:
    """The customer of this external id, with what the body knows better. Who may sign in as them is never touched."""
    known = {name: facts[name] for name in ("name", "email", "phone") if name in facts}
    customer, created = Customer.objects.get_or_create(external_id=facts["external_id"], defaults=known)
    changed = [name for name, value in known.items() if getattr(customer, name) != value]
    if changed and not created:
        for name in changed:
            setattr(customer, name, known[name])
        customer.save(update_fields=changed)
    return customer


def _products(lines: Iterable[Mapping[str, Any]], currency: str) -> dict[str, Product]:
    """Products by sku: unseen ones are added in the order of their sku, known ones stay as they are."""
    unseen = {
        line["sku"]: Product(
            sku=line["sku"],
            name=line["name"],
            category=line["category"],
            price=line["unit_price"],
            currency=currency,
        )
        for line in lines
    }
    Product.objects.bulk_create([unseen[sku] for sku in sorted(unseen)], ignore_conflicts=True)
    return {product.sku: product for product in Product.objects.filter(sku__in=unseen)}


def _order(facts: Mapping[str, Any], digest: str, customer: Customer) -> Order:
    shipping = facts["shipping"]
    return Order.objects.create(
        number=facts["number"],
        customer=customer,
        placed_at=facts["placed_at"],
        currency=facts["currency"],
        shipping_method=shipping["method"],
        shipping_charged=shipping["charged"],
        shipping_standard_fee=shipping["standard_fee"],
        shipping_free_from=shipping["free_from"],
        shipping_waiver=shipping["waiver"],
        shipping_address=facts["shipping_address"],
        intake_digest=digest,
    )


def _write_lines(order: Order, lines: Iterable[Mapping[str, Any]], products: Mapping[str, Product]) -> dict[str, str]:
    """Write the lines in the order sent; gives our id of each by the shop's."""
    rows = [
        LineItem(order=order, line_item_id=f"li_{position}", position=position, product=products[line["sku"]], **line)
        for position, line in enumerate(lines, start=1)
    ]
    LineItem.objects.bulk_create(rows)
    return {row.external_id: row.line_item_id for row in rows}


def _write_discounts(order: Order, discounts: Iterable[Mapping[str, Any]], names: Mapping[str, str]) -> None:
    OrderDiscount.objects.bulk_create(
        OrderDiscount(
            order=order,
            position=position,
            **{**discount, "lines": discount["lines"] and [names[name] for name in discount["lines"]]},
        )
        for position, discount in enumerate(discounts, start=1)
    )


def _write_payments(order: Order, payments: Iterable[Mapping[str, Any]]) -> None:
    Payment.objects.bulk_create(
        Payment(
            order=order,
            position=position,
            external_id=payment["external_id"],
            method=payment["method"],
            provider=payment.get("provider") or _usual_provider(payment["method"]),
            provider_ref=payment["provider_ref"],
            last4=payment["last4"],
            amount=payment["amount"],
            captured_at=payment["captured_at"] or order.placed_at,
        )
        for position, payment in enumerate(payments, start=1)
    )


def _usual_provider(method: str) -> str:
    return BY_HAND if method == PaymentMethod.CASH_ON_DELIVERY else settings.PAYMENT_GATEWAY


def _check_payments(order: Order, payments: Iterable[Mapping[str, Any]]) -> int:
    """What the whole order costs. Raises Refusal unless the payments come to exactly that."""
    if not _price_checks:
        raise ImproperlyConfigured("Nobody registered what prices an order (orders.ingest.register_price_check).")
    price, paid = _price_checks[0](order), sum(payment["amount"] for payment in payments)
    if price != paid:
        sums = {"paid": format_money(paid, order.currency), "price": format_money(price, order.currency)}
        raise Refusal(
            "payments_do_not_match",
            _("The payments come to %(paid)s, but the goods with discounts and shipping come to %(price)s.") % sums,
            hint=_("Correct the payments, the discounts or the shipping terms and send the order again."),
            field="payments",
            status=400,
            details={"paid": paid, "price": price, "currency": order.currency},
        )
    return price


def _record(order: Order, facts: Mapping[str, Any], price: int, actor: Actor) -> None:
    """What was taken in, without the customer's name and address: the history is kept longer than those."""
    chosen = {**facts, "customer": {"external_id": facts["customer"]["external_id"]}}
    del chosen["shipping_address"]
    audit.record(
        action="order.taken_in",
        actor=actor,
        order=order,
        subject_type="order",
        subject_id=order.number,
        chosen=audit.as_json(chosen),
        computed={"price": price, "currency": order.currency},
    )
