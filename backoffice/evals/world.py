"""The world that a task is played in: its orders as a shop sends them in, the warehouse, and time that passes."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Final

from django.contrib.auth.models import User
from django.utils import timezone

from agent import sweep
from agent.models import Card
from agent.states import CardState
from backoffice.evals import scratch
from backoffice.evals.browser import Browser
from backoffice.evals.tasks import Task
from orders.actors import customer_actor, system_actor
from orders.ingest import take_in
from orders.models import Customer, Order
from orders.shipments import upsert_shipment
from refunds import ending, quotes
from refunds.models import Refund, RefundQuote
from refunds.states import Asker, QuoteState, RefundState
from refunds.tasks import send_refund

SHOP: Final = system_actor("evaluation")
STANDARD: Final = {"standard_fee": 80, "free_from": 1500}
SHIPPING: Final[Mapping[str, Mapping[str, Any]]] = {
    "pickup": {"method": "store_pickup", "charged": 0, "waiver": "pickup", **STANDARD},
    "charged": {"method": "home_delivery", "charged": 80, "waiver": None, **STANDARD},
    "free": {"method": "home_delivery", "charged": 0, "waiver": "threshold", **STANDARD},
}
# How many days before the last move of a parcel the ones before it were.
EARLIER: Final[Mapping[str, Mapping[str, float]]] = {
    "packed": {"packed_at": 0},
    "shipped": {"packed_at": 0.5, "shipped_at": 0},
    "delivered": {"packed_at": 2, "shipped_at": 1.5, "delivered_at": 0},
}
PLACED_DAYS_AGO: Final = 6


class World:
    """One play of one task: its own customers and orders, numbered by `number`, so that none meets another's."""

    def __init__(self, task: Task, *, number: str) -> None:
        scratch.require()
        self.task = task
        self.order = self._order(number, task.customer, task.order)
        self.others = [
            self._order(f"{number}-{place}", other.customer, other.order)
            for place, other in enumerate(task.others, start=1)
        ]
        self.browser = Browser(self.order.customer)
        for settled in task.before:
            self._settle(settled)

    @property
    def numbers(self) -> list[str]:
        return [self.order.number, *(other.number for other in self.others)]

    def words(self, text: str) -> str:
        """What the customer says, with the numbers of this play in it."""
        other = self.others[0].number if self.others else ""
        return text.replace("{number}", self.order.number).replace("{other}", other)

    def _order(self, number: str, name: str, facts: Mapping[str, Any]) -> Order:
        user = User.objects.create(username=f"eval-{number}", first_name=name)
        customer = Customer.objects.create(external_id=f"eval-{number}", name=name, user=user)
        body = order_body(number, name, facts) | {"customer": {"external_id": customer.external_id, "name": name}}
        return take_in(body=body, actor=SHOP)[0]

    def _settle(self, settled: Mapping[str, Any]) -> None:
        """What had been asked for and confirmed before the talk begins."""
        actor = customer_actor(self.order.customer)
        lines = [
            {"line_item_id": line, "quantity": quantity, "reason": settled["reason"]}
            for line, quantity in settled["goods"].items()
        ]
        quote = quotes.ask(
            order=self.order,
            choices=quotes.parse_choices({"lines": lines}),
            actor=actor,
            asker=Asker.CUSTOMER,
            asker_ref=quotes.asker_ref(actor),
        )
        self.browser.press_quote(quote.pk)
        self.pay()

    def pay(self) -> None:
        """What the worker for money does: send what waits to be sent."""
        for refund_id in Refund.objects.filter(order=self.order, state=RefundState.PENDING).values_list(
            "pk", flat=True
        ):
            send_refund(refund_id)

    def warehouse(self, deed: Mapping[str, Any]) -> None:
        """`{packs: {position: quantity}}`: what of it is still on the order and not packed yet."""
        for position, quantity in deed["packs"].items():
            line = self.order.lines.get(position=position)
            packed = min(quantity, line.unfulfilled_quantity)
            if packed:
                parcel: dict[str, Any] = {"external_id": f"w{position}", "state": "packed"}
                parcel |= {"lines": [{"external_id": str(position), "quantity": packed}]}
                upsert_shipment(order=self.order, body=parcel, actor=SHOP)

    def time_passes(self) -> None:
        """So long that every quote and card has run out; then the sweepers come by, as they do all the time."""
        scratch.require()
        over = timezone.now() - timedelta(seconds=1)
        RefundQuote.objects.filter(order=self.order, state=QuoteState.OPEN).update(expires_at=over)
        Card.objects.filter(conversation__order=self.order, state=CardState.OPEN).update(expires_at=over)
        ending.expire_quotes()
        sweep.sweep()


def order_body(number: str, name: str, facts: Mapping[str, Any]) -> dict[str, Any]:
    """The task's order as `POST /api/v1/orders/` takes it, without the customer's number."""
    paid = facts["paid"]
    payments = [{"method": "card", "amount": paid}] if isinstance(paid, int) else list(paid)
    return {
        "number": number,
        "placed_at": _ago(facts.get("placed_days_ago", PLACED_DAYS_AGO)),
        "currency": "TWD",
        "customer": {"external_id": f"eval-{number}", "name": name},
        "lines": [_line(position, *line) for position, line in enumerate(facts["lines"], start=1)],
        "discounts": [{"code": "", **discount} for discount in facts.get("discounts") or ()],
        "shipping": dict(SHIPPING[facts["shipping"]]),
        "payments": [_payment(position, payment) for position, payment in enumerate(payments, start=1)],
        "shipments": [_parcel(position, each) for position, each in enumerate(facts.get("parcels") or (), start=1)],
    }


def _line(position: int, name: str, price: int, quantity: int, category: str) -> dict[str, Any]:
    return {
        "external_id": str(position),
        "sku": f"EVAL-{name[:20]}-{price}",
        "name": name,
        "unit_price": price,
        "quantity": quantity,
        "category": category,
    }


def _payment(position: int, payment: Mapping[str, Any]) -> dict[str, Any]:
    last4 = {"last4": "4242"} if payment["method"] == "card" else {}
    return {"external_id": f"p{position}", **last4, **payment}


def _parcel(position: int, parcel: Mapping[str, Any]) -> dict[str, Any]:
    times = {name: _ago(parcel["days_ago"] + days) for name, days in EARLIER[parcel["state"]].items()}
    return {
        "external_id": f"s{position}",
        "carrier": "示範物流",
        "tracking_number": f"EVAL{position:04d}",
        "state": parcel["state"],
        **times,
        "lines": [{"external_id": str(line), "quantity": quantity} for line, quantity in parcel["goods"].items()],
    }


def _ago(days: float) -> str:
    return (timezone.now() - timedelta(days=days)).isoformat()
