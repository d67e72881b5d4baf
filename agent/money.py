"""Money's later outcome becomes a status line in the chat. No model is asked: the rows say what happened.

Every line names the audit event it tells of, so that each move of a refund or a return is told once, and one whose
signal was lost is found by looking for moves that no line tells of.
"""

from datetime import timedelta

from django.conf import settings
from django.db.models import Exists, Max, OuterRef
from django.utils import timezone, translation
from django.utils.translation import gettext as translate

from agent import events, people
from agent.models import Conversation
from agent.states import ConversationState
from orders.actors import system_actor
from orders.models import AuditEvent
from orders.money import format_money
from refunds.models import Refund, Return
from refunds.present import refund_as_dict, return_as_dict
from refunds.states import AllocationState, RefundState, ReturnState

LOOK_BACK = timedelta(days=2)
# What the customer's own press has made is in the card's result; what is on its way to the provider is not news yet.
NO_NEWS = frozenset({f"refund.{RefundState.PENDING}", f"return.{ReturnState.REQUESTED}"})
MOVES = frozenset({*(f"refund.{state}" for state in RefundState), *(f"return.{state}" for state in ReturnState)})
PAYMENTS = system_actor("payments")


def tell_refund(refund_id: str) -> None:
    """Say once to the refund's customer what has become of it. Not where nobody talked when it happened."""
    _tell("refund", refund_id)


def tell_return(return_id: str) -> None:
    """As `tell_refund`, for a return."""
    _tell("return", return_id)


def tell_late(move: AuditEvent) -> None:
    """Tell of a move that `untold` has found."""
    _tell(move.subject_type, move.subject_id)


def untold() -> list[AuditEvent]:
    """The newest moves of recent days' refunds and returns of which no page was told, because a signal was lost."""
    recent = AuditEvent.objects.filter(at__gt=timezone.now() - LOOK_BACK, action__in=MOVES)
    newest = recent.order_by().values("subject_type", "subject_id").annotate(newest=Max("pk")).values("newest")
    talked = Conversation.objects.filter(order=OuterRef("order"), created_at__lte=OuterRef("at"))
    rows = AuditEvent.objects.filter(Exists(talked), pk__in=newest, told_by=None).exclude(action__in=NO_NEWS)
    return list(rows.order_by("pk")[:200])


def _tell(subject_type: str, subject_id: str) -> None:
    move = _newest_move(subject_type, subject_id)
    conversation = _conversation(move) if move else None
    if conversation is None:
        return
    with events.writing(conversation.pk) as locked, translation.override(locked.language):
        # Read again under the lock: two that tell at once tell one thing, and what counts is how it stands now.
        move = _newest_move(subject_type, subject_id)
        if move is None or hasattr(move, "told_by"):
            return
        if subject_type == "refund":
            _say_refund(locked, move, Refund.objects.get(pk=subject_id))
        else:
            _say_return(locked, move, Return.objects.get(pk=subject_id))


def _newest_move(subject_type: str, subject_id: str) -> AuditEvent | None:
    """Into the state it is in now; None if that is no news."""
    moves = AuditEvent.objects.filter(subject_type=subject_type, subject_id=subject_id, action__in=MOVES)
    newest = moves.select_related("order", "told_by").order_by("-pk").first()
    return None if newest is None or newest.action in NO_NEWS else newest


def _conversation(move: AuditEvent) -> Conversation | None:
    """Where the customer reads about it: their newest talk about the order. If one is open, it is the newest."""
    talks = Conversation.objects.filter(order=move.order)
    return talks.order_by("-pk").first() if talks.filter(created_at__lte=move.at).exists() else None


def _say_refund(conversation: Conversation, move: AuditEvent, refund: Refund) -> None:
    data = {"kind": "refund", "refund_id": refund.pk, "state": refund.state, "text": _sentence(refund)}
    events.add(conversation, "status", data, tells=move)
    if refund.state == RefundState.FAILED and conversation.state == ConversationState.OPEN:
        _call_a_colleague(conversation, refund)


def _call_a_colleague(conversation: Conversation, refund: Refund) -> None:
    """The line says that a colleague has been told: this tells them, in the shop's language."""
    with translation.override(settings.LANGUAGE_CODE):
        summary = translate("Refund %(number)s was refused by the payment provider. It has to be seen to by hand.") % {
            "number": refund.pk
        }
    people.ask_for_person(conversation=conversation, actor=PAYMENTS, reason="refund_failed", summary=summary)


def _say_return(conversation: Conversation, move: AuditEvent, item: Return) -> None:
    words = {"number": item.pk, "state": return_as_dict(item)["state_text"]}
    text = translate("Return %(number)s: %(state)s.") % words
    data = {"kind": "return", "return_id": item.pk, "state": item.state, "text": text}
    events.add(conversation, "status", data, tells=move)


def _sentence(refund: Refund) -> str:
    paid = sum(part.amount for part in refund.allocations.all() if part.state == AllocationState.SUCCEEDED)
    words = {
        "amount": format_money(refund.amount, refund.currency),
        "paid": format_money(paid, refund.currency),
        "rest": format_money(refund.amount - paid, refund.currency),
        "to": ", ".join(to["label"] for to in refund_as_dict(refund)["to"]),
        "number": refund.pk,
    }
    if refund.state == RefundState.FAILED and paid:
        return (
            translate(
                "%(paid)s is on its way, but the payment provider has refused the other %(rest)s. A colleague has been "
                "told and will see to it (%(number)s)."
            )
            % words
        )
    if refund.amount == 0:
        return translate("Done. By the rules of this order there is nothing to pay back (%(number)s).") % words
    sentences = {
        RefundState.PENDING_APPROVAL: translate(
            "Your refund of %(amount)s is waiting for a colleague's approval (%(number)s)."
        ),
        RefundState.SUCCEEDED: translate(
            "%(amount)s is on its way to %(to)s. It usually arrives within 7 to 14 working days (%(number)s)."
        ),
        RefundState.FAILED: translate(
            "The payment provider has refused the refund of %(amount)s. A colleague has been told and will see to it "
            "(%(number)s)."
        ),
        RefundState.UNKNOWN: translate(
            "The payment provider has not answered yet. We are checking what became of your %(amount)s and tell you "
            "here (%(number)s)."
        ),
        RefundState.REJECTED: translate("The refund of %(amount)s was not approved (%(number)s)."),
        RefundState.EXPIRED: translate("The refund of %(amount)s was not approved in time (%(number)s)."),
    }
    return sentences[RefundState(refund.state)] % words
