"""A replacement moves from state to state: compare-and-set, with an audit row, an announcement and a notice."""

from collections.abc import Iterable
from typing import Any

from django.utils import timezone

from orders import audit
from orders.actors import Actor
from orders.announce import announce
from refunds.models import Replacement, ReplacementLine
from refunds.notices import tell_on_commit
from refunds.outcome import WrongMove
from refunds.signals import replacement_moved
from refunds.states import REPLACEMENT_MOVES, ReplacementState


def move(*, replacement: Replacement, to: ReplacementState, actor: Actor, note: str = "", **fields: Any) -> None:
    """Along `REPLACEMENT_MOVES`, inside the caller's transaction with the order locked. Raises WrongMove."""
    before = replacement.state
    if to not in REPLACEMENT_MOVES[before]:
        raise WrongMove(f"{replacement.pk}: {before} → {to}")
    fields = {"state": to, "ended_at": timezone.now(), **fields}
    if Replacement.objects.filter(pk=replacement.pk, state=before).update(**fields) != 1:
        raise WrongMove(f"{replacement.pk} is not {before} any more")
    replacement.refresh_from_db()
    record_state(replacement, actor, outcome={"from": before, "note": note})


def record_state(replacement: Replacement, actor: Actor, *, outcome: dict[str, Any]) -> None:
    """The audit row, the announcement and the notice of the state that the replacement has come into."""
    tell(replacement, actor, event=f"replacement.{replacement.state}", outcome=outcome)
    tell_on_commit(replacement_moved, replacement_id=replacement.pk)


def record_fewer(replacement: Replacement, actor: Actor) -> None:
    """Fewer units are replaced than were asked for: not all of the goods were accepted. The state stays."""
    tell(replacement, actor, event="replacement.reduced", outcome={})


def tell(replacement: Replacement, actor: Actor, *, event: str, outcome: dict[str, Any]) -> None:
    """The history and the shop's own system hear of `event`."""
    lines = told(replacement.lines.select_related("line_item__product", "shipment_line__product", "product"))
    ids = {"return_id": replacement.return_request_id, "shipment_id": replacement.shipment_id}
    known = {name: value for name, value in ids.items() if value}
    audit.record(
        action=event,
        actor=actor,
        subject_type="replacement",
        subject_id=replacement.pk,
        order=replacement.order,
        chosen={"kind": replacement.kind, "lines": lines},
        outcome={"state": replacement.state, **outcome},
        correlation=known,
    )
    payload = {"order_number": replacement.order.number, "replacement_id": replacement.pk, "kind": replacement.kind}
    announce(order=replacement.order, event=event, payload={**payload, **known, "lines": lines})


def told(lines: Iterable[ReplacementLine]) -> list[dict[str, Any]]:
    """The units as the shop is told of them: by our id and its own, and what it is to send."""
    return [
        {
            "line_item_id": line.line_item.line_item_id,
            "external_id": line.line_item.external_id,
            "sku": line.replaced_by.sku,
            "quantity": line.quantity,
        }
        for line in lines
    ]
