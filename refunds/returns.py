"""Returns (RMA): goods travel back first, and are refunded or exchanged once they are there.

requested → received → accepted → refunded | exchanged; or withdrawn, or rejected. A redeemed quote of action *return*
opens one with a promised amount; an exchange needs no quote, because same for same costs nothing. What the acceptance
of a return pays is in `refunds/acceptance.py`.
"""

from collections.abc import Sequence
from typing import Final

from django.db import transaction

from orders import goods
from orders.actors import Actor, NotAllowed
from orders.goods import Hold
from orders.models import Order
from refunds import access, errors, return_states
from refunds.choices import LineChoice, clean_note
from refunds.exchange_check import Unit, check_exchange
from refunds.holding import lines_of
from refunds.models import RefundQuote, Return, ReturnLine
from refunds.states import ReturnKind, ReturnState

HANDLE: Final = "orders.handle_shipments"
# While a return is open, its units are held in this way.
HOLDS: Final[dict[str, Hold]] = {ReturnKind.REFUND: "returning", ReturnKind.EXCHANGE: "exchanging"}


def open_return(*, order: Order, quote: RefundQuote, actor: Actor, note: str) -> Return:
    """The return that a redeemed quote promises to refund. No money moves. Inside the caller's transaction."""
    units = [
        (line.line_item, line.shipment_line, line.quantity, line.reason)
        for line in lines_of(quote.pk)
        if line.shipment_line is not None
    ]
    request = Return(order=order, kind=ReturnKind.REFUND, quote=quote, note=note, request_ref=f"quote:{quote.pk}")
    return _open(request, units, actor)


@transaction.atomic
def request_exchange(
    *, order: Order, lines: Sequence[LineChoice], actor: Actor, request_ref: str, note: str = ""
) -> Return:
    """Open an exchange, for the customer of the order or by staff; the same `request_ref` again gives the same one.

    Raises NotFound, NotAllowed, InvalidInput, or a Refusal in words.
    """
    if actor.kind not in {"customer", "staff"}:
        raise NotAllowed(access.REDEEM)
    actor.require(access.REDEEM)
    if not access.may_touch(actor, order.customer_id):
        raise errors.no_such_return()
    order = goods.lock_order(order.pk)
    known = Return.objects.filter(order=order, request_ref=request_ref).first()
    if known is not None:
        return known
    units = check_exchange(order, lines)
    text = clean_note(note)
    return _open(Return(order=order, kind=ReturnKind.EXCHANGE, note=text, request_ref=request_ref), units, actor)


def _open(request: Return, units: Sequence[Unit], actor: Actor) -> Return:
    request.confirmed_by_kind, request.confirmed_by = actor.kind, actor.user
    request.save(force_insert=True)
    for line, shipment_line, quantity, reason in units:
        goods.hold_units(shipment_line=shipment_line, quantity=quantity, hold=HOLDS[request.kind])
        ReturnLine.objects.create(
            return_request=request, line_item=line, shipment_line=shipment_line, quantity=quantity, reason=reason
        )
    return_states.record_state(request, actor, outcome={"note": request.note})
    return request


@transaction.atomic
def receive(*, return_id: str, actor: Actor, note: str = "") -> Return:
    """The goods are back in the warehouse. Staff with `orders.handle_shipments`; again: nothing changes."""
    request = locked(return_id, actor)
    if request.state != ReturnState.RECEIVED:
        require_state(request, ReturnState.REQUESTED)
        return_states.move(request=request, to=ReturnState.RECEIVED, actor=actor, note=clean_note(note))
    return request


@transaction.atomic
def complete_exchange(*, return_id: str, actor: Actor, note: str = "") -> Return:
    """The replacement has left the house; from now on it stands for the goods that came back."""
    request = locked(return_id, actor)
    if request.kind == ReturnKind.EXCHANGE and request.state == ReturnState.EXCHANGED:
        return request
    require_state(request, ReturnState.ACCEPTED)
    if request.kind != ReturnKind.EXCHANGE:
        raise errors.wrong_state(describe(request))
    release_units(request)
    return_states.move(request=request, to=ReturnState.EXCHANGED, actor=actor, note=clean_note(note))
    return request


@transaction.atomic
def reject(*, return_id: str, actor: Actor, note: str) -> Return:
    """The goods are not taken back: they count as delivered again. Staff, with a reason."""
    text = clean_note(note, required=True)
    request = locked(return_id, actor)
    require_state(request, ReturnState.REQUESTED, ReturnState.RECEIVED)
    release_units(request)
    return_states.move(request=request, to=ReturnState.REJECTED, actor=actor, note=text)
    return request


@transaction.atomic
def withdraw(*, return_id: str, actor: Actor, note: str = "") -> Return:
    """The customer keeps the goods after all; before they have come back. By the customer, or staff for them."""
    if actor.kind == "staff":
        actor.require(access.REDEEM)
    elif actor.kind != "customer":
        raise NotAllowed(access.REDEEM)
    request = _locked(return_id, actor)
    if request.state != ReturnState.WITHDRAWN:
        require_state(request, ReturnState.REQUESTED)
        release_units(request)
        return_states.move(request=request, to=ReturnState.WITHDRAWN, actor=actor, note=clean_note(note))
    return request


def locked(return_id: str, actor: Actor) -> Return:
    """The return with its order locked, for staff who handle goods. Raises NotAllowed, NotFound."""
    if actor.kind != "staff":
        raise NotAllowed(HANDLE)
    actor.require(HANDLE)
    return _locked(return_id, actor)


def _locked(return_id: str, actor: Actor) -> Return:
    seen = access.find(Return.objects.select_related("order"), return_id)
    if seen is None or not access.may_touch(actor, seen.order.customer_id):
        raise errors.no_such_return()
    order = goods.lock_order(seen.order_id)
    request = Return.objects.select_for_update(of=("self",), no_key=True).select_related("quote").get(pk=seen.pk)
    request.order = order
    return request


def require_state(request: Return, *states: ReturnState) -> None:
    """Raises the refusal `wrong_state` unless the return is in one of them."""
    if request.state not in states:
        raise errors.wrong_state(describe(request))


def describe(request: Return) -> str:
    """“rt_… (received)”"""
    return f"{request.pk} ({request.get_state_display()})"


def release_units(request: Return) -> None:
    """The units are no longer held for this return."""
    for line in request.lines.select_related("shipment_line__line_item"):
        goods.release_units(shipment_line=line.shipment_line, quantity=line.quantity, hold=HOLDS[request.kind])
