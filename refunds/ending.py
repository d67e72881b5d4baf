"""How an open quote ends: spent, declined, run out, or overtaken. Compare-and-set, with an audit row and a notice."""

from typing import Any

from django.db import transaction
from django.utils import timezone

from orders import audit, goods
from orders.actors import Actor, system_actor
from orders.models import Order
from refunds import access
from refunds.models import RefundQuote
from refunds.notices import tell_on_commit
from refunds.signals import quote_ended
from refunds.states import EndedBecause, QuoteState

BATCH = 200


def end(*, quote: RefundQuote, to: QuoteState, actor: Actor, because: str = "", note: str = "") -> bool:
    """Move an open quote to `to`; False if it was not open any more. Inside the caller's transaction."""
    moved = RefundQuote.objects.filter(pk=quote.pk, state=QuoteState.OPEN).update(
        state=to, ended_at=timezone.now(), ended_because=because
    )
    if moved != 1:
        return False
    quote.refresh_from_db(fields=["state", "ended_at", "ended_because"])
    audit.record(
        action=f"quote.{to}",
        actor=actor,
        subject_type="quote",
        subject_id=quote.pk,
        order=quote.order,
        chosen={"note": note} if note else None,
        computed=computed(quote),
        outcome={"state": to, "because": because},
        correlation=correlation_of(quote),
    )
    tell_on_commit(quote_ended, quote_id=quote.pk)
    return True


def spend(*, quote: RefundQuote, actor: Actor, note: str) -> None:
    """The quote is redeemed. Raises GoodsMoved if somebody else was faster, which the order's lock prevents."""
    if not end(quote=quote, to=QuoteState.REDEEMED, actor=actor, note=note):
        raise goods.GoodsMoved(quote.pk)


def computed(quote: RefundQuote) -> dict[str, Any]:
    """What the system worked out, as the audit keeps it."""
    return {
        "action": quote.action,
        "amount": quote.amount,
        "fee": quote.fee,
        "currency": quote.currency,
        "steps": quote.steps,
        "policy_version": quote.policy.version,
        "fingerprint": quote.fingerprint,
    }


def correlation_of(quote: RefundQuote) -> dict[str, str]:
    """Through which conversation and tool call it came, for the audit."""
    refs = {"conversation_ref": quote.conversation_ref, "tool_call_ref": quote.tool_call_ref or ""}
    return {"quote_id": quote.pk, **{name: ref for name, ref in refs.items() if ref}}


def supersede_open(*, order: Order, asker_ref: str, actor: Actor) -> None:
    """A new quote of the same asker takes the place of the older ones on the order."""
    for quote in RefundQuote.objects.filter(order=order, asker_ref=asker_ref, state=QuoteState.OPEN):
        end(quote=quote, to=QuoteState.SUPERSEDED, actor=actor, because=EndedBecause.NEWER_QUOTE)


@transaction.atomic
def decline(*, quote_id: str, actor: Actor, because: str = "") -> bool:
    """The quote is not wanted. False if it had already ended; then nothing changes. Raises NotFound, NotAllowed.

    `because`: where nobody has said no, why it is over all the same (`EndedBecause`).
    """
    return end(quote=access.quote_to_decline(quote_id, actor), to=QuoteState.DECLINED, actor=actor, because=because)


def expire_quotes() -> int:
    """End the open quotes whose time is over; how many. For the sweeper: each in its own transaction."""
    over = RefundQuote.objects.filter(state=QuoteState.OPEN, expires_at__lte=timezone.now()).select_related("order")
    expired = 0
    for quote in over.order_by("expires_at")[:BATCH]:
        with transaction.atomic():
            expired += end(quote=quote, to=QuoteState.EXPIRED, actor=system_actor("sweeper"))
    return expired
