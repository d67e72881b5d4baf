"""Goods on their way back, for tests of the pages that see them."""

from django.db.models import Model

from orders.models import Order
from orders.tests import cast
from orders.tests.factories import fixed_discount, shipment_body
from refunds.models import Return
from refunds.redeem import redeem
from refunds.returns import receive
from refunds.tests.ask import ask


def return_of(order: Order, *, quantity: int = 1, reason: str = "changed_mind") -> Return:
    """A return of the first line that its customer has confirmed."""
    redeemed = redeem(quote_id=ask(order, (1, quantity, reason)).pk, actor=cast.shopper())
    assert redeemed.return_request
    return redeemed.return_request


def received(order: Order, reason: str) -> Return:
    """The same, arrived, everything as announced."""
    return receive(return_id=return_of(order, reason=reason).pk, actor=cast.staff("warehouse"))


def both_delivered(number: str) -> Order:
    """The order of the story with both parcels there: defective earphones come to 1,200, a changed mind to 1,050."""
    return cast.place(number, discounts=[fixed_discount(150, 1500)], shipments=[shipment_body({1: 1, 2: 1})])


def state_of(row: Model) -> str:
    row.refresh_from_db()
    return str(row.state)  # type: ignore[attr-defined]
