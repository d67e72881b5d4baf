"""Where an order is sent, and changing that before it leaves: by the customer or staff, never by the agent itself."""

from typing import Any, Final

from django.db import transaction
from django.db.models import Q
from django.utils.translation import gettext as _

from orders import audit, goods
from orders.actors import Actor, NotAllowed
from orders.announce import announce
from orders.bodies import AddressBody
from orders.errors import NotFound, Refusal
from orders.models import Order, ShipmentLine
from orders.states import PICKUP_METHODS
from orders.strict import validated

__all__ = [
    "PERMISSION",
    "AddressBody",
    "address_as_dict",
    "anything_to_send",
    "change_address",
    "check_change",
    "why_not_changed",
]

PERMISSION: Final = "orders.change_address"
# The agent asks for a card; the press on it is the customer's own.
_MAY_CHANGE: Final = frozenset({"customer", "staff"})
FIELDS: Final = ("recipient", "phone", "postal_code", "city", "district", "street")


def check_change(order: Order, body: object) -> dict[str, str]:
    """The address of an `AddressBody`, if the order may be sent there instead. Changes nothing.

    Raises InvalidInput, and Refusal `pickup_order` or `already_shipped`.
    """
    wanted = _wanted(body)
    _refuse_too_late(order)
    return wanted


@transaction.atomic
def change_address(*, order: Order, body: object, actor: Actor, request_ref: str = "") -> Order:
    """Send what is not packed, replacements too, to the address of an `AddressBody`. The same again changes nothing.

    By the order's customer, or by staff with `orders.change_address`. `request_ref` says in the history through what it
    was asked for. Raises NotAllowed, NotFound, InvalidInput, and Refusal `pickup_order` or `already_shipped`.
    """
    _require(actor, order)
    wanted = _wanted(body)
    order = goods.lock_order(order.pk)
    before = order.shipping_address
    if before == wanted:
        return order
    _refuse_too_late(order)
    order.shipping_address = wanted
    order.save(update_fields=["shipping_address"])
    audit.record(
        action="order.address_changed",
        actor=actor,
        order=order,
        subject_type="order",
        subject_id=order.number,
        chosen=wanted,
        outcome={"before": before, "after": wanted},
        correlation={"request_ref": request_ref} if request_ref else None,
    )
    announce(
        order=order,
        event="order.address_changed",
        payload={"order_number": order.number, "shipping_address": wanted},
    )
    return order


def address_as_dict(order: Order) -> dict[str, str] | None:
    """Where the order is sent: recipient, phone, postal_code, city, district, street; None if nobody told."""
    address: dict[str, str] | None = order.shipping_address
    return address


def anything_to_send(order: Order) -> bool:
    """Whether goods of the order will leave yet: not packed, or to be sent in the place of others."""
    reserved = Q(exchanging_quantity__gt=0) | Q(resending_quantity__gt=0)
    if any(line.unfulfilled_quantity for line in order.lines.all()):
        return True
    return ShipmentLine.objects.filter(reserved, shipment__order=order).exists()


def _wanted(body: object) -> dict[str, str]:
    facts: dict[str, Any] = validated(AddressBody, body)
    return {name: facts[name] for name in FIELDS}


def _require(actor: Actor, order: Order) -> None:
    if actor.kind not in _MAY_CHANGE:
        raise NotAllowed(PERMISSION)
    actor.require(PERMISSION)
    if actor.kind == "customer" and (actor.customer is None or actor.customer.pk != order.customer_id):
        raise NotFound(_("There is no such order."), hint=_("Check the order number."))


def _refuse_too_late(order: Order) -> None:
    """With the order locked this holds until the transaction ends: packing waits for the same lock."""
    refusal = why_not_changed(order)
    if refusal is not None:
        raise refusal


def why_not_changed(order: Order) -> Refusal | None:
    """`pickup_order` or `already_shipped`; None where the address can be changed."""
    if order.shipping_method in PICKUP_METHODS:
        return Refusal(
            "pickup_order",
            _("Order %(number)s is picked up and not sent to an address.") % {"number": order.number},
            hint=_("To have it sent instead, a person of the shop must look at it."),
        )
    if not anything_to_send(order):
        return Refusal(
            "already_shipped",
            _("Nothing of order %(number)s is left to be packed: its parcels go where they are addressed.")
            % {"number": order.number},
            hint=_("Ask the carrier to redirect the parcel, or hand over to a person of the shop."),
        )
    return None
