"""A question to a second person is asked and ends: compare-and-set, with an audit row and a notice."""

from datetime import timedelta
from typing import Any, Final

from django.utils import timezone

from orders import audit
from orders.actors import Actor
from orders.models import Order
from refunds.models import Approval
from refunds.notices import tell_on_commit
from refunds.outcome import WrongMove
from refunds.signals import approval_ended
from refunds.states import APPROVAL_MOVES, ApprovalKind, ApprovalState

# After this long without a decision it is a no, except about goods that have come back (docs/money.md, states).
APPROVAL_LIFE: Final = timedelta(days=7)


def ask(
    *,
    kind: ApprovalKind,
    order: Order,
    amount: int,
    reason: str,
    actor: Actor,
    request_ref: str,
    expires: bool = True,
    computed: dict[str, Any] | None = None,
    **about: Any,
) -> Approval:
    """Ask a second person, in the caller's transaction with the order locked. `about`: refund, quote, conversation.

    `expires`: False where silence must not become a no, so that it waits until somebody answers.
    """
    approval = Approval.objects.create(
        kind=kind,
        order=order,
        amount=amount,
        currency=order.currency,
        reason=reason,
        asked_by_kind=actor.kind,
        asked_by=actor.user,
        request_ref=request_ref,
        expires_at=timezone.now() + APPROVAL_LIFE if expires else None,
        **about,
    )
    _record(approval, actor, chosen={"reason": reason}, computed=computed or {}, outcome={})
    return approval


def move(*, approval: Approval, to: ApprovalState, actor: Actor, reason: str = "", **fields: Any) -> None:
    """Along `APPROVAL_MOVES`, inside the caller's transaction. Raises WrongMove if somebody has decided before."""
    before = approval.state
    if to not in APPROVAL_MOVES[before]:
        raise WrongMove(f"{approval.pk}: {before} → {to}")
    fields |= {"state": to, "decided_at": timezone.now(), "decided_by": actor.user, "decision_reason": reason}
    if Approval.objects.filter(pk=approval.pk, state=before).update(**fields) != 1:
        raise WrongMove(f"{approval.pk} is not {before} any more")
    order = approval.order
    approval.refresh_from_db()
    approval.order = order
    _record(approval, actor, chosen={"reason": reason}, computed={}, outcome={"from": before})
    tell_on_commit(approval_ended, approval_id=approval.pk)


def _record(
    approval: Approval, actor: Actor, *, chosen: dict[str, Any], computed: dict[str, Any], outcome: dict[str, Any]
) -> None:
    refs = {
        "refund_id": approval.refund_id,
        "quote_id": approval.quote_id,
        "conversation_ref": approval.conversation_ref,
    }
    audit.record(
        action=f"approval.{approval.state}",
        actor=actor,
        subject_type="approval",
        subject_id=approval.pk,
        order=approval.order,
        chosen={"kind": approval.kind, **chosen},
        computed={"amount": approval.amount, "currency": approval.currency, **computed},
        outcome={"state": approval.state, **outcome},
        correlation={name: ref for name, ref in refs.items() if ref},
    )
