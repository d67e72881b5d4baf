"""Goods progress: packed, shipped, delivered or lost. The shop's system and the warehouse button come through here.

A shipment is known by the shop's `external_id`. Saying the same again changes nothing; going back is refused; what is
in the parcel may change only while it is packed. Everything happens under the order's row lock.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import pairwise
from typing import Any, Final

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from orders import audit, goods, ids
from orders.actors import Actor
from orders.bodies import ShipmentBody
from orders.errors import InvalidInput, Refusal
from orders.models import LineItem, Order, Product, Shipment, ShipmentLine
from orders.states import SHIPMENT_MOVES, ShipmentState
from orders.strict import validated

PERMISSION: Final = "orders.handle_shipments"
_TIMES: Final = ("packed_at", "shipped_at", "delivered_at")


def upsert_shipment(*, order: Order, body: object, actor: Actor) -> tuple[Shipment, bool]:
    """Take in where a parcel is; True if the parcel is new. The body is a `ShipmentBody`.

    Raises NotAllowed, InvalidInput, and Refusal `not_enough_units`, `shipment_moved_on` or `shipment_closed`.
    """
    actor.require(PERMISSION)
    facts = validated(ShipmentBody, body)
    with transaction.atomic():
        return write_shipment(order=goods.lock_order(order.pk), facts=facts, actor=actor)


def pack_order(
    *, order: Order, actor: Actor, lines: Sequence[Mapping[str, Any]] | None = None, carrier: str = ""
) -> Shipment:
    """Pack `lines` (`[{"line_item_id", "quantity"}]`) into a new parcel; None packs all that is not packed yet."""
    actor.require(PERMISSION)
    with transaction.atomic():
        order = goods.lock_order(order.pk)
        wanted = _all_unpacked(order) if lines is None else list(lines)
        if not wanted:
            raise Refusal(
                "nothing_to_pack",
                _("There is nothing left to pack on order %(number)s.") % {"number": order.number},
                hint=_("Look where the goods are now."),
            )
        body = {"external_id": ids.new_id("desk"), "state": ShipmentState.PACKED, "carrier": carrier, "lines": wanted}
        return upsert_shipment(order=order, body=body, actor=actor)[0]


def ship(*, shipment: Shipment, actor: Actor, carrier: str = "", tracking_number: str = "") -> Shipment:
    """The parcel has left the house. What is left empty stays as it is known."""
    given = {"carrier": carrier, "tracking_number": tracking_number}
    return _advance(shipment, ShipmentState.SHIPPED, actor, {name: text for name, text in given.items() if text})


def deliver(*, shipment: Shipment, actor: Actor) -> Shipment:
    """The customer has the parcel, as of now."""
    return _advance(shipment, ShipmentState.DELIVERED, actor, {})


def _advance(shipment: Shipment, state: ShipmentState, actor: Actor, given: Mapping[str, str]) -> Shipment:
    body = {"external_id": shipment.external_id, "state": state, **given}
    return upsert_shipment(order=shipment.order, body=body, actor=actor)[0]


def write_shipment(*, order: Order, facts: Mapping[str, Any], actor: Actor, where: str = "") -> tuple[Shipment, bool]:
    """The step behind every door: `facts` are a validated `ShipmentBody`. Call it with the order locked.

    `where` is put before the names of fields in refusals, for a shipment that is part of a larger body.
    """
    shipment = Shipment.objects.filter(order=order, external_id=facts["external_id"]).first()
    if shipment is None:
        return _create(order, facts, actor, where), True
    _update(order, shipment, facts, actor, where)
    return shipment, False


def write_replacement(
    *,
    order: Order,
    external_id: str,
    lines: Sequence[tuple[LineItem, Product | None, int]],
    carrier: str,
    tracking_number: str,
    actor: Actor,
) -> Shipment:
    """A parcel that has left the house as a replacement. Call it with the order locked.

    `lines` say which units it stands for, what is really in it (None: the line's own product) and how many. The units
    were packed once already, so the counters of the lines stay. Raises NotAllowed, and Refusal `one_product_per_line`.
    """
    actor.require(PERMISSION)
    now = timezone.now()
    shipment = Shipment.objects.create(
        order=order,
        external_id=external_id,
        carrier=carrier,
        tracking_number=tracking_number,
        state=ShipmentState.SHIPPED,
        packed_at=now,
        shipped_at=now,
        is_replacement=True,
    )
    contents = _contents(lines)
    ShipmentLine.objects.bulk_create(
        ShipmentLine(shipment=shipment, line_item=line, product=product, quantity=quantity)
        for line, product, quantity in contents
    )
    facts = {
        "external_id": external_id,
        "carrier": carrier,
        "tracking_number": tracking_number,
        "lines": [
            {"line_item_id": line.line_item_id, "sku": product.sku if product else line.sku, "quantity": quantity}
            for line, product, quantity in contents
        ],
    }
    _record(order, shipment, "shipment.shipped", facts, actor, {"state": shipment.state, "is_replacement": True})
    return shipment


def _contents(
    lines: Sequence[tuple[LineItem, Product | None, int]],
) -> list[tuple[LineItem, Product | None, int]]:
    """One entry per line: units of several old parcels travel together."""
    together: dict[int, tuple[LineItem, Product | None, int]] = {}
    for line, product, quantity in lines:
        known, so_far = together.get(line.pk, (line, product, 0))[1:]
        if known != product:
            raise Refusal(
                "one_product_per_line",
                _("Units of line %(line)s (%(name)s) cannot be replaced by two different products in one parcel.")
                % {"line": line.line_item_id, "name": line.name},
                hint=_("Send them in two parcels, one for each product."),
            )
        together[line.pk] = (line, product, so_far + quantity)
    return list(together.values())


def _create(order: Order, facts: Mapping[str, Any], actor: Actor, where: str) -> Shipment:
    if "lines" not in facts:
        raise InvalidInput(f"{where}lines", _("A new shipment has to say what is in it."))
    shipment = Shipment(order=order, external_id=facts["external_id"], state=facts["state"])
    _set_texts(shipment, facts)
    _set_times(shipment, facts, where)
    shipment.save(force_insert=True)
    _put_in(shipment, _quantities(order, facts["lines"], where), where)
    _record(order, shipment, f"shipment.{shipment.state}", facts, actor, {"state": shipment.state})
    return shipment


def _update(order: Order, shipment: Shipment, facts: Mapping[str, Any], actor: Actor, where: str) -> None:
    before = _snapshot(shipment)
    _check_move(shipment, facts["state"], where)
    repacked = _repack(order, shipment, facts, where)
    shipment.state = facts["state"]
    _set_texts(shipment, facts)
    _set_times(shipment, facts, where)
    after = _snapshot(shipment)
    changed = [name for name in after if after[name] != before[name]]
    if not changed and not repacked:
        return
    shipment.save(update_fields=changed)
    action = f"shipment.{shipment.state}" if "state" in changed else "shipment.corrected"
    outcome = {"before": {name: before[name] for name in changed}, "after": {name: after[name] for name in changed}}
    _record(order, shipment, action, facts, actor, outcome)


def _check_move(shipment: Shipment, state: str, where: str) -> None:
    if state == shipment.state or state in SHIPMENT_MOVES[shipment.state]:
        return
    raise Refusal(
        "shipment_moved_on",
        _("Shipment %(id)s is %(now)s already; it cannot become %(wanted)s.")
        % {
            "id": shipment.external_id,
            "now": shipment.get_state_display(),
            "wanted": ShipmentState(state).label,
        },
        hint=_("Send the state the parcel has now, or a later one."),
        field=f"{where}state",
        details={"state": shipment.state},
    )


def _repack(order: Order, shipment: Shipment, facts: Mapping[str, Any], where: str) -> bool:
    """Change what is in the parcel, if `lines` say something else. True if it did."""
    if "lines" not in facts:
        return False
    wanted = _quantities(order, facts["lines"], where)
    lines = list(shipment.lines.select_related("line_item"))
    if {line.line_item_id: line.quantity for line in lines} == {line.pk: count for line, count in wanted.items()}:
        return False
    if shipment.is_replacement or shipment.state != ShipmentState.PACKED:
        raise Refusal(
            "shipment_closed",
            _("What is in shipment %(id)s cannot change any more: it is %(now)s.")
            % {"id": shipment.external_id, "now": shipment.get_state_display()},
            hint=_("Leave the lines out, or send them as they were packed."),
            field=f"{where}lines",
        )
    for line in lines:
        goods.unfulfil_units(line=line.line_item, quantity=line.quantity)
    shipment.lines.all().delete()
    _put_in(shipment, _quantities(order, facts["lines"], where), where)
    return True


def _put_in(shipment: Shipment, wanted: Mapping[LineItem, int], where: str) -> None:
    for index, (line, quantity) in enumerate(wanted.items()):
        if quantity > line.unfulfilled_quantity:
            refusal = _not_enough(line, quantity, f"{where}lines[{index}].quantity")
            # In the body of a new order it is the body that contradicts itself: there is nothing to read again.
            raise InvalidInput(refusal.field, refusal.message) if where else refusal
        goods.fulfil_units(line=line, quantity=quantity)
        ShipmentLine.objects.create(shipment=shipment, line_item=line, quantity=quantity)


def _not_enough(line: LineItem, quantity: int, field: str) -> Refusal:
    left = line.unfulfilled_quantity
    return Refusal(
        "not_enough_units",
        _(
            "%(quantity)s of line %(line)s (%(name)s) cannot be packed: "
            "only %(left)s are neither packed already nor cancelled."
        )
        % {"quantity": quantity, "line": line.line_item_id, "name": line.name, "left": left},
        hint=_("Read the order again: units may have been cancelled or be in another shipment."),
        field=field,
        details={"line_item_id": line.line_item_id, "asked": quantity, "left": left},
    )


def _quantities(order: Order, lines: Sequence[Mapping[str, Any]], where: str) -> dict[LineItem, int]:
    """Rows of the order's lines, as they are now, with the quantity asked for each. Raises InvalidInput."""
    known = {name: line for line in order.lines.all() for name in _names(line)}
    wanted: dict[LineItem, int] = {}
    for index, asked in enumerate(lines):
        kind = "line_item_id" if "line_item_id" in asked else "external_id"
        line = known.get((kind, asked[kind]))
        field = f"{where}lines[{index}].{kind}"
        if line is None:
            raise InvalidInput(field, _("The order has no line %(name)s.") % {"name": asked[kind]})
        if line in wanted:
            raise InvalidInput(field, _("This stands here twice."))
        wanted[line] = asked["quantity"]
    return wanted


def _names(line: LineItem) -> tuple[tuple[str, str], tuple[str, str]]:
    return ("line_item_id", line.line_item_id), ("external_id", line.external_id)


def _all_unpacked(order: Order) -> list[dict[str, Any]]:
    return [
        {"line_item_id": line.line_item_id, "quantity": line.unfulfilled_quantity}
        for line in order.lines.all()
        if line.unfulfilled_quantity
    ]


def _set_texts(shipment: Shipment, facts: Mapping[str, Any]) -> None:
    for name in ("carrier", "tracking_number"):
        setattr(shipment, name, facts.get(name, getattr(shipment, name)))


def _set_times(shipment: Shipment, facts: Mapping[str, Any], where: str) -> None:
    """Times as given, else as known, else as the later ones allow, else now; never for a state not yet reached."""
    _refuse_times_ahead_of_state(facts, where)
    times: dict[str, datetime | None] = {name: facts.get(name) or getattr(shipment, name) for name in _TIMES}
    if shipment.state == ShipmentState.DELIVERED:
        times["delivered_at"] = times["delivered_at"] or timezone.now()
    if shipment.state != ShipmentState.PACKED:
        times["shipped_at"] = times["shipped_at"] or times["delivered_at"] or timezone.now()
    times["packed_at"] = times["packed_at"] or times["shipped_at"] or timezone.now()
    _refuse_disorder(times, where)
    for name, moment in times.items():
        setattr(shipment, name, moment)


def _refuse_times_ahead_of_state(facts: Mapping[str, Any], where: str) -> None:
    state = facts["state"]
    ahead = {"delivered_at": state != ShipmentState.DELIVERED, "shipped_at": state == ShipmentState.PACKED}
    for name, too_early in ahead.items():
        if too_early and facts.get(name):
            label = ShipmentState(state).label
            raise InvalidInput(f"{where}{name}", _("A shipment that is %(state)s has no such time.") % {"state": label})


def _refuse_disorder(times: Mapping[str, datetime | None], where: str) -> None:
    moments = [(name, moment) for name in _TIMES if (moment := times[name])]
    for (earlier, first), (later, second) in pairwise(moments):
        if second < first:
            raise InvalidInput(
                f"{where}{later}",
                _("This lies before the earlier step: %(step)s %(time)s.")
                % {"step": _name_of(earlier), "time": _to_the_second(first)},
            )


def _name_of(field: str) -> str:
    return str(next(each.verbose_name for each in Shipment._meta.fields if each.name == field))


def _to_the_second(moment: datetime) -> str:
    return f"{timezone.localtime(moment):%Y-%m-%d %H:%M:%S}"


def _snapshot(shipment: Shipment) -> dict[str, Any]:
    names = ("state", "carrier", "tracking_number", *_TIMES)
    return {name: getattr(shipment, name) for name in names}


def _record(
    order: Order, shipment: Shipment, action: str, facts: Mapping[str, Any], actor: Actor, outcome: Mapping[str, Any]
) -> None:
    audit.record(
        action=action,
        actor=actor,
        order=order,
        subject_type="shipment",
        subject_id=shipment.pk,
        chosen=audit.as_json(facts),
        outcome=audit.as_json(outcome),
    )
