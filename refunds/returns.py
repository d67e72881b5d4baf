"""Returns (RMA): goods travel back first, and are refunded or exchanged once they are there.

requested → received → accepted → refunded | exchanged; or withdrawn, or rejected. A redeemed quote of action *return*
opens one with a promised amount; an exchange needs no quote, because goods of the same price cost nothing, and reserves
its replacement at once (`refunds/replacements.py`). What an acceptance pays is in `refunds/acceptance.py`.
"""

from collections.abc import Sequence
from typing import Final

from django.db import transaction

from orders import audit, goods
from orders.actors import Actor, NotAllowed
from orders.models import Order
from orders.prose import aside
from refunds import access, errors, findings, owed, replacements, return_states
from refunds.choices import LineChoice, clean_note
from refunds.exchange_check import Unit, check_exchange, require_same_goods
from refunds.findings import Found
from refunds.holding import lines_of
from refunds.models import RefundQuote, Replacement, Return, ReturnLine
from refunds.states import ReplacementKind, ReturnKind, ReturnState

HANDLE: Final = "orders.handle_shipments"
# The refund of accepted goods is a second person's to refuse (`refunds/approvals.py`).
REJECTABLE: Final[dict[str, tuple[ReturnState, ...]]] = {
    ReturnKind.REFUND: (ReturnState.REQUESTED, ReturnState.RECEIVED),
    ReturnKind.EXCHANGE: (ReturnState.REQUESTED, ReturnState.RECEIVED, ReturnState.ACCEPTED),
}


def open_return(*, order: Order, quote: RefundQuote, actor: Actor, note: str) -> Return:
    """The return that a redeemed quote promises to refund. No money moves. Inside the caller's transaction."""
    units = [
        Unit(line.line_item, line.shipment_line, line.quantity, line.reason)
        for line in lines_of(quote.pk)
        if line.shipment_line is not None
    ]
    request = Return(order=order, kind=ReturnKind.REFUND, quote=quote, note=note, request_ref=f"quote:{quote.pk}")
    _write(request, units, actor)
    for unit in units:
        goods.hold_units(shipment_line=unit.shipment_line, quantity=unit.quantity, hold="returning")
    return request


@transaction.atomic
def request_exchange(
    *, order: Order, lines: Sequence[LineChoice], actor: Actor, request_ref: str, note: str = ""
) -> Return:
    """Open an exchange, for the customer of the order or by staff; its `request_ref` again gives the same one.

    The stock of what will be sent is reserved with it. Raises NotFound, NotAllowed, what `check_exchange` raises, and
    Refusal reference_reused where `request_ref` was used for other goods.
    """
    if actor.kind not in {"customer", "staff"}:
        raise NotAllowed(access.REDEEM)
    actor.require(access.REDEEM)
    if not access.may_touch(actor, order.customer_id):
        raise errors.no_such_return()
    order = goods.lock_order(order.pk)
    known = Return.objects.filter(order=order, request_ref=request_ref).first()
    if known is not None:
        require_same_goods(lines, known.lines.select_related("line_item", "shipment_line"))
        return known
    units = check_exchange(order, lines)
    text = clean_note(note)
    request = Return(order=order, kind=ReturnKind.EXCHANGE, note=text, request_ref=request_ref)
    _write(request, units, actor)
    replacements.reserve(
        order=order,
        kind=ReplacementKind.EXCHANGE,
        units=units,
        return_request=request,
        actor=actor,
        request_ref=f"return:{request.pk}",
        note=text,
    )
    return request


def _write(request: Return, units: Sequence[Unit], actor: Actor) -> None:
    request.confirmed_by_kind, request.confirmed_by = actor.kind, actor.user
    request.save(force_insert=True)
    for unit in units:
        ReturnLine.objects.create(
            return_request=request,
            line_item=unit.line,
            shipment_line=unit.shipment_line,
            quantity=unit.quantity,
            reason=unit.reason,
            product=unit.product,
        )
    return_states.record_state(request, actor, outcome={"note": request.note})


@transaction.atomic
def receive(*, return_id: str, actor: Actor, note: str = "", found: Found | None = None) -> Return:
    """The goods are back in the warehouse. `found`: what was found of them, where not everything was as it should be.

    By staff with `orders.handle_shipments`. Again: nothing changes, unless `found` says something else than before;
    that corrects the findings, until the goods are accepted. Raises NotAllowed, NotFound, Refusal wrong_state, and
    InvalidInput (`found.li_1`: the pieces of a line must come to what was announced).
    """
    text = clean_note(note)
    request = locked(return_id, actor)
    require_state(request, ReturnState.REQUESTED, ReturnState.RECEIVED)
    told = findings.checked(request, found)
    if request.state == ReturnState.REQUESTED:
        findings.write(request, told)
        seen = {"found": findings.as_json(told)}
        return_states.move(request=request, to=ReturnState.RECEIVED, actor=actor, note=text, seen=seen)
    elif found is not None and (before := findings.known(request)) != told:
        findings.write(request, told)
        _record_correction(request, actor, text, before=findings.as_json(before), after=findings.as_json(told))
    return request


def _record_correction(request: Return, actor: Actor, note: str, **found: object) -> None:
    audit.record(
        action="return.corrected",
        actor=actor,
        subject_type="return",
        subject_id=request.pk,
        order=request.order,
        chosen={"note": note} if note else None,
        outcome={"state": request.state, **found},
    )


@transaction.atomic
def complete_exchange(
    *, return_id: str, actor: Actor, note: str = "", carrier: str = "", tracking_number: str = ""
) -> Return:
    """The replacement has left the house and stands for the goods that came back, as by `replacements.send`."""
    request = locked(return_id, actor)
    replacement = Replacement.objects.filter(return_request=request).first()
    if replacement is None or request.state not in {ReturnState.ACCEPTED, ReturnState.EXCHANGED}:
        raise errors.wrong_state(describe(request))
    replacements.send(
        replacement_id=replacement.pk, actor=actor, note=note, carrier=carrier, tracking_number=tracking_number
    )
    request.refresh_from_db()
    return request


@transaction.atomic
def reject(*, return_id: str, actor: Actor, note: str) -> Return:
    """The goods are not taken back: they count as delivered again. Staff, with a reason.

    An exchange also after its goods were accepted, as long as its replacement has not been sent: the way out where it
    cannot be.
    """
    text = clean_note(note, required=True)
    request = locked(return_id, actor)
    require_state(request, *REJECTABLE[request.kind])
    release_units(request, actor=actor, note=text)
    return_states.move(request=request, to=ReturnState.REJECTED, actor=actor, note=text)
    owed.tell_if_owed(request.order, number=request.pk)
    return request


@transaction.atomic
def withdraw(*, return_id: str, actor: Actor, note: str = "") -> Return:
    """The customer keeps the goods after all; before they have come back. By the customer, or staff for them."""
    if actor.kind == "staff":
        actor.require(access.REDEEM)
    elif actor.kind != "customer":
        raise NotAllowed(access.REDEEM)
    text = clean_note(note)
    request = _locked(return_id, actor)
    if request.state != ReturnState.WITHDRAWN:
        require_state(request, ReturnState.REQUESTED)
        release_units(request, actor=actor, note=text)
        return_states.move(request=request, to=ReturnState.WITHDRAWN, actor=actor, note=text)
        owed.tell_if_owed(request.order, number=request.pk)
    return request


def locked(return_id: str, actor: Actor) -> Return:
    """The return with its order locked, for staff who handle goods. Raises NotAllowed, NotFound."""
    actor.require_staff(HANDLE)
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
    return aside(request.pk, request.get_state_display())


def release_units(request: Return, *, actor: Actor, note: str = "") -> None:
    """The units are no longer held for this return, nor is stock for its replacement."""
    if request.kind == ReturnKind.EXCHANGE:
        replacement = replacements.of_locked_order(request.order, Replacement.objects.get(return_request=request).pk)
        replacements.let_go(replacement, actor, note)
        return
    for line in request.lines.select_related("shipment_line__line_item"):
        goods.release_units(shipment_line=line.shipment_line, quantity=line.quantity, hold="returning")
