"""Whether goods can be exchanged, and which units an exchange would take. It changes nothing, so the agent may ask.

For the same product, or for another of the same price in the same currency (docs/money.md, states): then the settlement
stays as it is. Anything else goes to a person.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.utils import timezone

from orders import stock
from orders.models import LineItem, Order, Product, ShipmentLine
from orders.products import product_by_id
from orders.strict import validated
from refunds import errors, exchange_errors
from refunds.choices import ExchangeLinesBody, LineChoice
from refunds.eligibility import Action
from refunds.goods import unit_groups
from refunds.history import policy_for
from refunds.models import ReplacementLine, ReturnLine
from refunds.selection import select


@dataclass(frozen=True, slots=True)
class Unit:
    """`quantity` units of a line in one parcel, and why. `product` comes in their place; None: the same again."""

    line: LineItem
    shipment_line: ShipmentLine
    quantity: int
    reason: str
    product: Product | None = None

    @property
    def replaced_by(self) -> Product:
        """What is sent: what was asked for, else what is there now, which may be another product than the line's."""
        return self.product or self.shipment_line.product or self.line.product


def parse_exchange(body: object) -> list[LineChoice]:
    """`{"lines": [{"line_item_id", "quantity", "reason", "product_id"?}]}` as choices. Raises InvalidInput."""
    return exchange_choices(validated(ExchangeLinesBody, body)["lines"])


def exchange_choices(lines: Iterable[dict[str, object]]) -> list[LineChoice]:
    """Choices from the validated `lines` of an exchange."""
    return [LineChoice(action="exchange", **line) for line in lines]  # type: ignore[arg-type]


def check_exchange(order: Order, choices: Sequence[LineChoice]) -> list[Unit]:
    """Which units an exchange would take, and for what. Changes nothing.

    Delivered goods within their window. Raises InvalidInput or a Refusal in words, among them `unknown_product`,
    `currency_differs`, `price_differs` and `out_of_stock`.
    """
    units = check_units(order, choices, "exchange")
    require_stock(units)
    return units


def check_units(order: Order, choices: Sequence[LineChoice], action: Action) -> list[Unit]:
    """The units that `action` would take of the chosen lines, the earliest parcel first; stock is not looked at."""
    groups, rules = unit_groups(order, now=timezone.now()), policy_for(order)
    _, picked = select(order=order, groups=groups, choices=choices, policy=rules, by_staff=False, only=action)
    wanted = _wanted(choices, {group.line.line_item_id: group.line for group in groups})
    units = [
        Unit(there.line_item, there, item.quantity, item.reason, _instead(order, there, *wanted[there.line_item_id]))
        for item in picked
        if (there := item.shipment_line) is not None
    ]
    _refuse_two_products(units, choices)
    return units


def _refuse_two_products(units: Sequence[Unit], choices: Sequence[LineChoice]) -> None:
    """A parcel holds one product for each line; units that were replaced by something else may lie beside others."""
    seen: dict[str, Product] = {}
    for unit in units:
        line_item_id = unit.line.line_item_id
        if seen.setdefault(line_item_id, unit.replaced_by) != unit.replaced_by:
            index = next(index for index, choice in enumerate(choices) if choice.line_item_id == line_item_id)
            raise exchange_errors.two_products(unit.line.name, f"lines[{index}].quantity")


def _wanted(choices: Sequence[LineChoice], lines: dict[str, LineItem]) -> dict[int, tuple[Product | None, str]]:
    """What is wanted for each line, by its key: the product, None for the same again, and the field that says so."""
    wanted: dict[int, tuple[Product | None, str]] = {}
    for index, choice in enumerate(choices):
        field, line = f"lines[{index}].product_id", lines[choice.line_item_id]
        product = None if choice.product_id is None else product_by_id(choice.product_id)
        if choice.product_id is not None and product is None:
            raise exchange_errors.unknown_product(choice.product_id, field)
        if wanted.setdefault(line.pk, (product, field))[0] != product:
            raise exchange_errors.two_products(line.name, field)
    return wanted


def _instead(order: Order, there: ShipmentLine, product: Product | None, field: str) -> Product | None:
    """The product that comes in the place of what is there; None: the same again, whatever it costs today."""
    line = there.line_item
    if product is None or product.pk == (there.product_id or line.product_id):
        return None
    if product.pk == line.product_id:
        return product  # bought at this price
    if product.currency != order.currency:
        raise exchange_errors.currency_differs(product, order, field)
    if product.price != line.unit_price:
        raise exchange_errors.price_differs(product, line, order, field)
    return product


def require_same_goods(choices: Sequence[LineChoice], made: Iterable[ReturnLine | ReplacementLine]) -> None:
    """Raises the refusal `reference_reused` if what a reference stands for is not what is asked for under it now.

    `made` with their line items and shipment lines. A quantity of None was all that could be had then: how many that
    was is nothing to compare, its line and the wanted product are.
    """
    lines = list(made)
    asked, there = Counter[str](), Counter[str]()
    for line in lines:
        there[line.line_item.line_item_id] += line.quantity
    for choice in choices:
        asked[choice.line_item_id] += choice.quantity or 0
    for choice in choices:
        if choice.quantity is None:
            asked[choice.line_item_id] = there[choice.line_item_id]
    wanted = {(choice.line_item_id, choice.product_id) for choice in choices}
    # As dicts: to a Counter, a line of none is no line.
    if dict(asked) != dict(there) or not all(_is_for(lines, *each) for each in wanted):
        raise errors.reference_reused("request_ref")


def _is_for(made: Iterable[ReturnLine | ReplacementLine], line_item_id: str, product_id: str | None) -> bool:
    """Whether the units of this line were made for the wanted product; None: for the same again."""
    product = None if product_id is None else product_by_id(product_id)
    of_line = [line for line in made if line.line_item.line_item_id == line_item_id]
    if product_id is None:
        return all(line.product_id is None for line in of_line)
    there = {line.product_id or line.shipment_line.product_id or line.line_item.product_id for line in of_line}
    return product is not None and there == {product.pk}


def require_stock(units: Sequence[Unit], *, lost: bool = False) -> None:
    """Raises the refusal `out_of_stock` if there is less of a product than these units need together. `lost`: of goods
    that are sent again.
    """
    for product, quantity in pieces_of(units):
        left = stock.available(product)
        if left is not None and left < quantity:
            raise exchange_errors.out_of_stock(product, left, lost=lost)


def pieces_of(units: Sequence[Unit]) -> list[tuple[Product, int]]:
    """How many pieces of each product these units need, in the order of the products' rows (lock order)."""
    found = {unit.replaced_by.pk: unit.replaced_by for unit in units}
    needed: Counter[int] = Counter()
    for unit in units:
        needed[unit.replaced_by.pk] += unit.quantity
    return [(found[key], needed[key]) for key in sorted(needed)]
