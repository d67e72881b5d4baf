"""What screens read of conversations."""

from django.db.models import Exists, OuterRef, Q, QuerySet

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


# A person has to do something: one is asked for, or has the conversation and has not answered yet.
NEEDS_PERSON = Q(state=ConversationState.OPEN, waiting_since__isnull=False) & (
    Q(needs_person=True) | Q(owner__isnull=False)
)


def queue(state: str = "") -> QuerySet[Conversation]:
    """Conversations by who has to do something: a person (the longest waiting first), the customer, the assistant,
    nobody (else the newest first).

    Where a colleague has answered, it is the customer's turn, as where a card waits for their press.
    """
    live = Turn.objects.filter(conversation=OuterRef("pk"))
    rows = Conversation.objects.select_related("order", "customer", "owner", "assignee").annotate(
        working=Exists(live.filter(state__in=[TurnState.QUEUED, TurnState.RUNNING])),
        waiting=Exists(live.filter(state=TurnState.WAITING)),
    )
    newest = ("-updated_at", "-pk")
    open_ones = Q(state=ConversationState.OPEN)
    if state == "needs_person":
        return rows.filter(NEEDS_PERSON).order_by("waiting_since", "pk")
    if state == "waiting":
        return rows.filter(open_ones, Q(owner__isnull=False) | Q(waiting=True)).exclude(NEEDS_PERSON).order_by(*newest)
    if state == "working":
        return rows.filter(open_ones, working=True, owner=None).exclude(NEEDS_PERSON).order_by(*newest)
    if state == "done":
        over = ~open_ones | (Q(owner=None) & ~Exists(live.filter(state__in=LIVE_TURNS)))
        return rows.filter(over).exclude(NEEDS_PERSON).order_by(*newest)
    return rows.order_by(*newest)
