"""A return authorisation moves from state to state: compare-and-set, with an audit row and a notice."""

from collections.abc import Mapping
from typing import Any

from orders import audit
from orders.actors import Actor
from orders.announce import announce
from refunds.holding import named
from refunds.models import Return
from refunds.notices import tell_on_commit
from refunds.outcome import WrongMove
from refunds.signals import return_moved
from refunds.states import RETURN_MOVES, ReturnState


def move(
    *,
    request: Return,
    to: ReturnState,
    actor: Actor,
    note: str = "",
    seen: Mapping[str, Any] | None = None,
    **fields: Any,
) -> None:
    """Along `RETURN_MOVES`, inside the caller's transaction with the order locked. Raises WrongMove.

    `seen`: what was found of the goods, for the history and the shop.
    """
    before = request.state
    if to not in RETURN_MOVES[before]:
        raise WrongMove(f"{request.pk}: {before} → {to}")
    if Return.objects.filter(pk=request.pk, state=before).update(state=to, **fields) != 1:
        raise WrongMove(f"{request.pk} is not {before} any more")
    request.refresh_from_db()
    record_state(request, actor, outcome={"from": before, "note": note}, seen=seen)


def record_state(
    request: Return, actor: Actor, *, outcome: dict[str, Any], seen: Mapping[str, Any] | None = None
) -> None:
    """The audit row and the notice of the state that the return has come into."""
    lines = named(request.lines.select_related("line_item", "shipment_line__product"))
    audit.record(
        action=f"return.{request.state}",
        actor=actor,
        subject_type="return",
        subject_id=request.pk,
        order=request.order,
        chosen={"kind": request.kind, "lines": lines, **(seen or {})},
        computed={"amount": request.quote.amount} if request.quote else {},
        outcome={"state": request.state, **outcome},
        correlation={"quote_id": request.quote_id} if request.quote_id else {},
    )
    payload = {"order_number": request.order.number, "return_id": request.pk, "kind": request.kind, "lines": lines}
    announce(order=request.order, event=f"return.{request.state}", payload={**payload, **(seen or {})})
    tell_on_commit(return_moved, return_id=request.pk)
