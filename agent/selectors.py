"""What screens read of conversations."""

from django.db.models import Exists, F, OuterRef, Q, QuerySet

from agent.models import Conversation, ConversationEvent, Turn
from agent.states import LIVE_TURNS, ConversationState, TurnState

QUEUES = ("needs_person", "waiting", "working", "done")


def timeline(conversation: Conversation) -> list[ConversationEvent]:
    """What a page shows: durable events in order, a card or a tool's line where it came first, as it stands now."""
    shown: dict[str, ConversationEvent] = {}
    for event in conversation.events.order_by("number"):
        shown[_place(event)] = event
    return list(shown.values())


def _place(event: ConversationEvent) -> str:
    """Events of the same card, tool call or turn replace each other."""
    for key in ("card_id", "tool_call_id"):
        if key in event.data and event.kind in {"card", "work"}:
            return f"{event.kind}:{event.data[key]}"
    if event.kind in {"turn", "conversation"}:
        return event.kind
    return str(event.number)


def queue(state: str = "") -> QuerySet[Conversation]:
    """Conversations for the staff's queue, the longest waiting first in what needs a person, else the newest first."""
    live = Turn.objects.filter(conversation=OuterRef("pk"))
    rows = Conversation.objects.select_related("order", "customer", "owner").annotate(
        working=Exists(live.filter(state__in=[TurnState.QUEUED, TurnState.RUNNING])),
        waiting=Exists(live.filter(state=TurnState.WAITING)),
    )
    open_ones = Q(state=ConversationState.OPEN)
    needs = open_ones & (Q(needs_person=True) | Q(owner__isnull=False))
    if state == "needs_person":
        return rows.filter(needs).order_by(F("waiting_since").asc(nulls_last=True), "updated_at")
    if state == "waiting":
        return rows.filter(open_ones, waiting=True).exclude(needs).order_by("-updated_at")
    if state == "working":
        return rows.filter(open_ones, working=True).exclude(needs).order_by("-updated_at")
    if state == "done":
        return rows.exclude(needs).exclude(Exists(live.filter(state__in=LIVE_TURNS))).order_by("-updated_at")
    return rows.order_by("-updated_at")
