"""An order's rows as the money rules read them: `terms_of(order)`. The rules are `refunds/policy.py`."""

from orders.errors import InvalidInput
from orders.models import LineItem, Order, OrderDiscount
from refunds import policy


def terms_of(order: Order) -> policy.Terms:
    """What the order was sold under, from its own snapshot. Raises PolicyError where the rows contradict each other."""
    return policy.Terms(
        currency=order.currency,
        lines=tuple(_line(line) for line in order.lines.all()),
        discounts=tuple(_discount(discount) for discount in order.discounts.all()),
        shipping=policy.Shipping(
            charged=order.shipping_charged,
            standard_fee=order.shipping_standard_fee,
            free_from=order.shipping_free_from,
            waiver=order.shipping_waiver,  # type: ignore[arg-type]
        ),
    )


def _line(line: LineItem) -> policy.Line:
    return policy.Line(line_item_id=line.line_item_id, unit_price=line.unit_price, quantity=line.quantity)


def _discount(discount: OrderDiscount) -> policy.Discount:
    return policy.Discount(
        code=discount.code,
        label=discount.label,
        kind=discount.kind,  # type: ignore[arg-type]
        settlement=discount.settlement,  # type: ignore[arg-type]
        lines=None if discount.lines is None else frozenset(discount.lines),
        amount=discount.amount,
        percent=discount.percent,
        min_spend=discount.min_spend,
        min_quantity=discount.min_quantity,
        amount_per_unit=discount.amount_per_unit,
    )


def price_whole_order(order: Order) -> int:
    """What the whole order costs by its own terms: the payments of an order that is taken in must equal it.

    Raises InvalidInput, naming the field as the body of `POST /api/v1/orders/` does.
    """
    try:
        return policy.price(terms_of(order), ()).total
    except policy.PolicyError as error:
        raise InvalidInput(error.field, error.message) from error
