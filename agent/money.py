"""What becomes of money and goods later is a status line in the chat. No model is asked: the rows say what happened.
The model reads the line where it was written, so that what it says next does not contradict it (`agent/history.py`).

Every line names the audit event it tells of, so that each move is told once, and one whose signal was lost is found by
looking for moves that no line tells of. The sentences are in `agent/sentences.py`.
"""

from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any, Final

from django.conf import settings
from django.db.models import Exists, Max, OuterRef, Q, TextChoices
from django.utils import timezone, translation
from django.utils.translation import gettext as translate

from agent import events, mails, people, rounds, sentences, waiting
from agent.models import Conversation
from agent.states import ConversationState
from orders.actors import system_actor
from orders.models import AuditEvent
from refunds.models import Approval, Refund, RefundAllocation, Replacement, Return
from refunds.refund_words import waits_until
from refunds.states import (
    AllocationState,
    ApprovalKind,
    ApprovalState,
    RefundState,
    ReplacementKind,
    ReplacementState,
    ReturnState,
)

LOOK_BACK = timedelta(days=2)
SENTENCES: Final[Mapping[str, tuple[Any, Callable[[Any], str]]]] = {
    "refund": (Refund, sentences.of_refund),
    "return": (Return, sentences.of_return),
    "replacement": (Replacement, sentences.of_replacement),
    "approval": (Approval, sentences.of_approval),
}
STATES: Final[Mapping[str, type[TextChoices]]] = {
    "refund": RefundState,
    "return": ReturnState,
    "replacement": ReplacementState,
    "approval": ApprovalState,
}
# That accepted goods have their refund is told by the refund, as it stands; that they were accepted, by the return.
MOVES: Final = frozenset(
    f"{subject}.{state}"
    for subject, states in STATES.items()
    for state in states.values
    if (subject, state) != ("return", ReturnState.REFUNDED)
)
PENDING: Final = f"refund.{RefundState.PENDING}"
# What the customer's own press has made is in the card's result; what is on its way to the provider is not news yet,
# nor is what a second person is asked.
NO_NEWS: Final = frozenset(
    {
        PENDING,
        f"return.{ReturnState.REQUESTED}",
        f"replacement.{ReplacementState.RESERVED}",
        f"approval.{ApprovalState.WAITING}",
    }
)
# Approvals that end in a line of their own. What becomes of the others shows in their refund, or is between staff.
TOLD_APPROVALS: Final = (Q(kind=ApprovalKind.COMPENSATION) & ~Q(conversation_ref="")) | Q(
    kind=ApprovalKind.OVERRIDE, state=ApprovalState.APPROVED, refund=None
)
# What is about money: a customer who has left the page is told by e-mail as well.
MAILED: Final = frozenset({"refund", "approval"})
PAYMENTS = system_actor("payments")


def tell(subject_type: str, subject_id: str) -> None:
    """Say once to the customer what has become of a refund, return, replacement or approval.

    Not where nobody talked when it happened.
    """
    move = _newest_move(subject_type, subject_id)
    conversation = _conversation(move) if move else None
    if conversation is None:
        return
    with events.writing(conversation.pk, "outcome_told") as locked, translation.override(locked.language):
        # Read again under the lock: two that tell at once tell one thing, and what counts is how it stands now.
        move = _newest_move(subject_type, subject_id)
        if move is not None and not hasattr(move, "told_by"):
            _say(locked, move)


def tell_late(move: AuditEvent) -> None:
    """Tell of a move that `untold` has found."""
    tell(move.subject_type, move.subject_id)


def untold() -> list[AuditEvent]:
    """The newest moves of recent days of which no page was told, because a signal was lost."""
    recent = AuditEvent.objects.filter(at__gt=timezone.now() - LOOK_BACK, action__in=MOVES)
    newest = recent.order_by().values("subject_type", "subject_id").annotate(newest=Max("pk")).values("newest")
    talked = Conversation.objects.filter(order=OuterRef("order"), created_at__lte=OuterRef("at"))
    parts = RefundAllocation.objects.filter(refund=OuterRef("subject_id"))
    later = Q(state=AllocationState.PENDING, not_before__gt=timezone.now())
    waits = Q(action=PENDING) & Exists(parts.filter(later)) & ~Exists(parts.exclude(later))
    news = ~Q(action__in=NO_NEWS) | waits
    rows = AuditEvent.objects.filter(news, Exists(talked), pk__in=newest, told_by=None)
    return rounds.next_of("untold", rows.exclude(_told_elsewhere()))


def _told_elsewhere() -> Q:
    """An exchange is told of by its return, and most approvals by their refund."""
    exchange = Replacement.objects.filter(pk=OuterRef("subject_id"), kind=ReplacementKind.EXCHANGE)
    told = Approval.objects.filter(TOLD_APPROVALS, pk=OuterRef("subject_id"))
    return (Q(subject_type="replacement") & Exists(exchange)) | (Q(subject_type="approval") & ~Exists(told))


def _newest_move(subject_type: str, subject_id: str) -> AuditEvent | None:
    """Into the state it is in now; None if that is no news."""
    moves = AuditEvent.objects.filter(subject_type=subject_type, subject_id=subject_id, action__in=MOVES)
    newest = moves.exclude(_told_elsewhere()).select_related("order", "told_by").order_by("-pk").first()
    if newest is None or (newest.action in NO_NEWS and not _waits(newest)):
        return None
    return newest


def _waits(move: AuditEvent) -> bool:
    """A refund that its provider takes only later is news, though it has not moved."""
    refund = Refund.objects.filter(pk=move.subject_id).first() if move.action == PENDING else None
    return refund is not None and waits_until(refund) is not None


def _conversation(move: AuditEvent) -> Conversation | None:
    """Where the customer reads about it: their newest talk about the order. If one is open, it is the newest."""
    talks = Conversation.objects.filter(order=move.order)
    return talks.order_by("-pk").first() if talks.filter(created_at__lte=move.at).exists() else None


def _say(conversation: Conversation, move: AuditEvent) -> None:
    kind = move.subject_type
    model, sentence = SENTENCES[kind]
    row = model.objects.get(pk=move.subject_id)
    # Of a return the line tells of its goods; of the money the refund's own lines.
    state = ReturnState.ACCEPTED if row.state == ReturnState.REFUNDED else row.state
    data = {"kind": kind, f"{kind}_id": row.pk, "state": state, "text": sentence(row)}
    events.add(conversation, "status", data, tells=move)
    if kind in MAILED or state == ReturnState.REJECTED:
        mails.outcome(conversation, f"{kind} {row.pk}", move.pk, data["text"])
    waits = kind == "refund" and waits_until(row) is not None
    people.tell_model(conversation, data["text"], about=f"{kind} {row.pk}", state="waiting" if waits else state)
    is_open = conversation.state == ConversationState.OPEN
    if kind == "refund" and row.state == RefundState.FAILED and is_open:
        _call_a_colleague(conversation, row)


def _call_a_colleague(conversation: Conversation, refund: Refund) -> None:
    """The line says that a colleague has been told: this tells them, in the shop's language."""
    with translation.override(settings.LANGUAGE_CODE):
        summary = translate("Refund %(number)s was refused by the payment provider. It has to be seen to by hand.") % {
            "number": refund.pk
        }
    people.ask_for_person(conversation=conversation, actor=PAYMENTS, reason=waiting.REFUND_FAILED, summary=summary)
