"""A conversation's events as the page shows them; `static/js/chat.js` goes on from the same picture."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final

from agent.events import event_id
from agent.models import ConversationEvent

SHOWN: Final = frozenset({"message", "work", "card", "status"})


@dataclass
class Timeline:
    """`items` to draw in order, how things stand, and `last_event`: where the event stream goes on."""

    items: list[ConversationEvent] = field(default_factory=list)
    turn: dict[str, Any] = field(default_factory=dict)
    conversation: dict[str, Any] = field(default_factory=dict)
    last_event: str = ""

    @property
    def is_closed(self) -> bool:
        return self.conversation.get("state") == "closed"


def fold(events: Iterable[ConversationEvent]) -> Timeline:
    """`events` as `agent.selectors.timeline` gives them: a card and a piece of work stand once, as they are now."""
    rows = list(events)
    timeline = Timeline(items=[event for event in rows if event.kind in SHOWN])
    for event in rows:
        if event.kind in {"turn", "conversation"}:
            setattr(timeline, event.kind, event.data)
    if rows:
        timeline.last_event = event_id(max(rows, key=lambda event: event.number))
    return timeline
