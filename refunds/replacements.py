"""Goods that the shop sends in the place of others: reserved, then sent in a parcel of their own, or released.

A replacement holds its units (being exchanged, or being sent again) and stock from the first moment. Once it is sent,
the units of its parcel stand for the old ones: they are delivered, returned or lost like any others.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from django.db import transaction

from orders import goods, shipments, stock
from orders.actors import Actor, NotAllowed
from orders.goods import Hold
from orders.models import LineItem, Order, Product, Shipment
from orders.prose import aside
from orders.stock import OutOfStock
from orders.strict import validated
from refunds import access, errors, exchange_errors, replacement_states, return_states
from refunds.choices import ParcelBody, clean_note
from refunds.exchange_check import Unit, pieces_of
from refunds.models import Replacement, ReplacementLine, Return
from refunds.states import ReplacementKind, ReplacementState, ReturnState

SEND: Final = "orders.handle_shipments"
# While a replacement is reserved, the units it stands for are held in this way.
HOLDS: Final[Mapping[str, Hold]] = {ReplacementKind.EXCHANGE: "exchanging", ReplacementKind.LOST: "resending"}


def reserve(
    *,
    order: Order,
    kind: ReplacementKind,
    units: Sequence[Unit],
    return_request: Return | None,
    actor: Actor,
    request_ref: str,
    note: str,
) -> Replacement:
    """Hold the units and the stock for them. Inside the caller's transaction, with the order locked.

    Raises GoodsMoved, and the refusal `out_of_stock`.
    """
    replacement = Replacement.objects.create(
        order=order,
        kind=kind,
        return_request=return_request,
        confirmed_by_kind=actor.kind,
        confirmed_by=actor.user,
        note=note,
        request_ref=request_ref,
    )
    for unit in units:
        goods.hold_units(shipment_line=unit.shipment_line, quantity=unit.quantity, hold=HOLDS[kind])
        ReplacementLine.objects.create(
            replacement=replacement,
            line_item=unit.line,
            shipment_line=unit.shipment_line,
            product=unit.product,
            quantity=unit.quantity,
        )
    for product, quantity in pieces_of(units):
        try:
            stock.reserve(product, quantity)
        except OutOfStock as none_left:
            lost = kind == ReplacementKind.LOST
            raise exchange_errors.out_of_stock(product, none_left.available, lost=lost) from none_left
    replacement_states.record_state(replacement, actor, outcome={"note": note})
    return replacement


@transaction.atomic
def send(
    *, replacement_id: str, actor: Actor, carrier: str = "", tracking_number: str = "", note: str = ""
) -> Replacement:
    """The replacement has left the house, in a parcel that carries its number. An exchange ends with it.

    By staff with `orders.handle_shipments`; again: the same. Raises NotAllowed, NotFound, InvalidInput, and Refusal
    `wrong_state`, `goods_not_accepted` (an exchange), `arrived_after_all` (lost goods).
    """
    text, parcel = clean_note(note), validated(ParcelBody, {"carrier": carrier, "tracking_number": tracking_number})
    _require(actor, SEND)
    order, request, replacement = locked(replacement_id)
    if replacement.state == ReplacementState.SENT:
        return replacement
    require_reserved(replacement)
    if request is not None and request.state != ReturnState.ACCEPTED:
        raise exchange_errors.not_accepted_yet(request.pk)
    units = units_of(replacement)
    _refuse_what_arrived(replacement, units)
    shipment = shipments.write_replacement(
        order=order,
        external_id=replacement.pk,
        lines=_contents(units),
        actor=actor,
        **parcel,
    )
    _hand_over(replacement, units, shipment, actor, text)
    if request is not None:
        return_states.move(request=request, to=ReturnState.EXCHANGED, actor=actor, note=text)
    return replacement


def _hand_over(replacement: Replacement, units: Sequence[Unit], shipment: Shipment, actor: Actor, note: str) -> None:
    """The new parcel's units stand for the old ones from now on."""
    _free_units(replacement, units)
    for unit in units:
        goods.hold_units(shipment_line=unit.shipment_line, quantity=unit.quantity, hold="replaced")
    for product, quantity in pieces_of(units):
        stock.use(product, quantity)
    replacement_states.move(
        replacement=replacement, to=ReplacementState.SENT, actor=actor, note=note, shipment=shipment
    )


@transaction.atomic
def release(*, replacement_id: str, actor: Actor, note: str) -> Replacement:
    """Lost goods are not sent again after all: they stand where their parcel says. Again: the same.

    By staff with a reason: whoever may send it, or confirm for customers. Raises NotAllowed, NotFound, InvalidInput,
    and Refusal `wrong_state` or `follows_its_return`.
    """
    text = clean_note(note, required=True)
    _require(actor, SEND, access.REDEEM)
    _, request, replacement = locked(replacement_id)
    if request is not None:
        raise exchange_errors.follows_its_return(request.pk)
    if replacement.state != ReplacementState.RELEASED:
        require_reserved(replacement)
        let_go(replacement, actor, text)
    return replacement


def let_go(replacement: Replacement, actor: Actor, note: str) -> None:
    """Free the units and the stock of a reserved replacement, in the caller's transaction, with the order locked."""
    units = units_of(replacement)
    _free_units(replacement, units)
    _free_stock(units)
    replacement_states.move(replacement=replacement, to=ReplacementState.RELEASED, actor=actor, note=note)


def reduce_to(replacement: Replacement, accepted: Mapping[tuple[int, int | None], int], actor: Actor) -> None:
    """Replace only `accepted` units, by (shipment line, wanted product); the others are free, and their stock too."""
    freed: list[Unit] = []
    left = dict(accepted)
    for line, unit in zip(_lines(replacement), units_of(replacement), strict=True):
        key = (line.shipment_line_id, line.product_id)
        kept = min(left.get(key, 0), line.quantity)
        left[key] = left.get(key, 0) - kept
        if kept < line.quantity:
            freed.append(Unit(unit.line, unit.shipment_line, line.quantity - kept, unit.reason, unit.product))
            _shorten(line, kept)
    _free_units(replacement, freed)
    _free_stock(freed)
    if freed:
        replacement_states.record_fewer(replacement, actor)


def _free_units(replacement: Replacement, units: Sequence[Unit]) -> None:
    for unit in units:
        goods.release_units(shipment_line=unit.shipment_line, quantity=unit.quantity, hold=HOLDS[replacement.kind])


def _free_stock(units: Sequence[Unit]) -> None:
    for product, quantity in pieces_of(units):
        stock.free(product, quantity)


def _shorten(line: ReplacementLine, kept: int) -> None:
    if kept:
        ReplacementLine.objects.filter(pk=line.pk).update(quantity=kept)
    else:
        line.delete()


def locked(replacement_id: str) -> tuple[Order, Return | None, Replacement]:
    """The order, the return of an exchange and the replacement, locked in this order. Raises NotFound."""
    seen = access.find(Replacement.objects.all(), replacement_id)
    if seen is None:
        raise errors.no_such_replacement()
    order = goods.lock_order(seen.order_id)
    request = None
    if seen.return_request_id is not None:
        request = Return.objects.select_for_update(of=("self",), no_key=True).get(pk=seen.return_request_id)
        request.order = order
    return order, request, of_locked_order(order, seen.pk)


def of_locked_order(order: Order, replacement_id: str) -> Replacement:
    """The replacement, locked; with its order locked before it."""
    replacement = Replacement.objects.select_for_update(no_key=True).get(pk=replacement_id)
    replacement.order = order
    return replacement


def require_reserved(replacement: Replacement) -> None:
    if replacement.state != ReplacementState.RESERVED:
        raise errors.wrong_state(aside(replacement.pk, replacement.get_state_display()))


def units_of(replacement: Replacement) -> list[Unit]:
    """The units that it stands for, as they were confirmed."""
    return [Unit(line.line_item, line.shipment_line, line.quantity, "", line.product) for line in _lines(replacement)]


def _lines(replacement: Replacement) -> list[ReplacementLine]:
    rows = replacement.lines.select_related(
        "line_item__product", "shipment_line__line_item", "shipment_line__product", "shipment_line__shipment", "product"
    )
    return list(rows.order_by("pk"))


def _refuse_what_arrived(replacement: Replacement, units: Sequence[Unit]) -> None:
    """A parcel that was taken for lost may arrive while the next one is being packed."""
    if replacement.kind != ReplacementKind.LOST:
        return
    for unit in units:
        if unit.shipment_line.shipment.delivered_at is not None:
            raise exchange_errors.arrived_after_all(unit.shipment_line.name)


def _contents(units: Sequence[Unit]) -> list[tuple[LineItem, Product | None, int]]:
    """What is in the parcel: the product only where it is not the line's own."""
    return [
        (unit.line, None if unit.replaced_by.pk == unit.line.product_id else unit.replaced_by, unit.quantity)
        for unit in units
    ]


def _require(actor: Actor, *permissions: str) -> None:
    """Staff with one of the permissions; nobody else handles goods. Raises NotAllowed with the first."""
    allowed = actor.kind == "staff" and actor.user is not None and any(map(actor.user.has_perm, permissions))
    if not allowed:
        raise NotAllowed(permissions[0])
