"""Short ways to ask and confirm in tests. Who is who stands in `orders/tests/cast.py`."""

from typing import Any

from orders.actors import Actor
from orders.models import Order
from orders.tests import cast
from refunds import quotes
from refunds.models import RefundQuote
from refunds.states import Asker

# (position of the line, quantity, reason) and, where several fit, the action.
Asked = tuple[int, int | None, str] | tuple[int, int | None, str, str]


def choices(*asked: Asked) -> list[quotes.LineChoice]:
    return [
        quotes.LineChoice(f"li_{position}", quantity, reason, action[0] if action else None)
        for position, quantity, reason, *action in asked
    ]


def ask(order: Order, *asked: Asked, actor: Actor | None = None, **options: Any) -> RefundQuote:
    """A quote for the customer of the order, or for `actor`."""
    actor = actor or cast.shopper()
    asker = Asker.STAFF if actor.kind == "staff" else Asker.CUSTOMER
    options = {"asker": asker, "asker_ref": f"{actor.kind}:{actor.name}:{actor.user}", **options}
    return quotes.ask(order=order, choices=choices(*asked), actor=actor, **options)
