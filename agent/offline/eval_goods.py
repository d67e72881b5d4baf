"""An order as the API shows it, read as the evaluation's parts need it: states of units, and two ways to an amount."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta, timezone
from decimal import ROUND_HALF_UP, Decimal
from typing import Any, Final

from agent.offline.goods import Line

Data = Mapping[str, Any]
TAIPEI: Final = timezone(timedelta(hours=8))
WINDOW_DAYS, LOST_AFTER_DAYS = 7, 14
# Of units in a parcel: no longer there to be asked for.
HELD: Final = {
    "returning_quantity": "returning",
    "exchanging_quantity": "exchanging",
    "resending_quantity": "resending",
    "replaced_quantity": "replaced",
    "refunded_quantity": "refunded",
}
CAN: Final[Mapping[str, tuple[str, ...]]] = {"unfulfilled": ("cancel",), "lost": ("lost",)}
GONE: Final = frozenset({"cancelled", "refunded", "returning"})


@dataclass(frozen=True, slots=True)
class RawOrder:
    """`gone`: units per line that are not kept any more; `given`: what went back for them, as far as parcels tell."""

    lines: tuple[Line, ...]
    discounts: tuple[Data, ...]
    paid: int
    shipping: int
    gone: Mapping[str, int]

    @property
    def list_total(self) -> int:
        return sum(line.price * line.quantity for line in self.lines)


def read_order(data: Data, today: date) -> RawOrder:
    lines = tuple(_line(line, data.get("shipments") or (), today) for line in data["lines"])
    gone = {
        line.line_item_id: sum(int(units["quantity"]) for units in line.units if units["state"] in GONE)
        for line in lines
    }
    return RawOrder(lines, tuple(data["discounts"]), int(data["paid"]), int(data["shipping"]["charged"]), gone)


def with_open(order: RawOrder, cancelled: Mapping[str, int]) -> RawOrder:
    """The order as it was before these units were cancelled: whoever has cancelled them still owes a refund."""
    lines = tuple(_opened(line, cancelled.get(line.line_item_id, 0)) for line in order.lines)
    gone = {name: units - cancelled.get(name, 0) for name, units in order.gone.items()}
    return replace(order, lines=lines, gone=gone)


def _opened(line: Line, quantity: int) -> Line:
    left = Counter({str(units["state"]): int(units["quantity"]) for units in line.units})
    left.update({"cancelled": -quantity, "unfulfilled": quantity})
    return replace(line, units=tuple(_units(state, count) for state, count in left.items() if count > 0))


def _line(line: Data, shipments: Sequence[Data], today: date) -> Line:
    units = [("cancelled", int(line["cancelled_quantity"])), ("unfulfilled", int(line["unfulfilled_quantity"]))]
    for shipment in shipments:
        for inside in shipment["lines"]:
            if inside["line_item_id"] == line["line_item_id"]:
                units += _in_parcel(shipment, inside, today)
    return Line(
        line["line_item_id"],
        line["name"],
        int(line["quantity"]),
        tuple(_units(state, quantity) for state, quantity in units if quantity),
        category=line["category"],
        price=int(line["unit_price"]),
        product_id=line["sku"],
    )


def _in_parcel(shipment: Data, inside: Data, today: date) -> list[tuple[str, int]]:
    held = [(state, int(inside.get(name) or 0)) for name, state in HELD.items()]
    free = int(inside["quantity"]) - sum(quantity for _, quantity in held)
    return [*held, (_state(shipment, today), free)]


def _state(shipment: Data, today: date) -> str:
    state = str(shipment["state"])
    if state == "delivered" and _days_since(shipment["delivered_at"], today) > WINDOW_DAYS:
        return "window_over"
    if state == "shipped" and _days_since(shipment["shipped_at"], today) >= LOST_AFTER_DAYS:
        return "lost"
    return state


def _days_since(moment: str, today: date) -> int:
    return (today - datetime.fromisoformat(moment).astimezone(TAIPEI).date()).days


def _units(state: str, quantity: int) -> dict[str, Any]:
    can = ("return", "exchange") if state == "delivered" else CAN.get(state, ())
    return {"state": state, "quantity": quantity, "can": list(can)}


def shared(order: RawOrder, units: Mapping[str, int]) -> int:
    """The goods' list price less their share of all discounts, by price."""
    price = sum(line.price * units.get(line.line_item_id, 0) for line in order.lines)
    paid_for_goods = order.paid - order.shipping
    return _rounded(Decimal(price * paid_for_goods) / order.list_total) if order.list_total else 0


def settled_by_rule(order: RawOrder, units: Mapping[str, int]) -> int:
    """What was paid for the goods that were kept until now, less what those that stay would have cost by themselves."""
    kept_now = {line.line_item_id: line.quantity - order.gone[line.line_item_id] for line in order.lines}
    kept_then = {name: quantity - units.get(name, 0) for name, quantity in kept_now.items()}
    return max(_price(order, kept_now) - _price(order, kept_then), 0)


def _price(order: RawOrder, kept: Mapping[str, int]) -> int:
    goods = sum(line.price * kept[line.line_item_id] for line in order.lines)
    return max(goods - sum(_discount(each, order, kept) for each in order.discounts), 0)


def _discount(discount: Data, order: RawOrder, kept: Mapping[str, int]) -> int:
    eligible = [line for line in order.lines if discount["lines"] is None or line.line_item_id in discount["lines"]]
    goods = sum(line.price * kept[line.line_item_id] for line in eligible)
    pieces = sum(kept[line.line_item_id] for line in eligible)
    if not goods or goods < discount["min_spend"] or pieces < discount["min_quantity"]:
        return 0
    if discount["kind"] == "percent":
        return _rounded(Decimal(goods) * Decimal(str(discount["percent"])) / 100)
    off = discount["amount"] if discount["kind"] == "fixed" else discount["amount_per_unit"] * pieces
    return min(int(off), goods)


def _rounded(amount: Decimal) -> int:
    return int(amount.quantize(Decimal(1), ROUND_HALF_UP))
