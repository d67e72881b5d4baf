"""A conversation as staff read it: what was said, what the assistant did folded behind it, and notes for colleagues."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from agent.models import ConversationEvent, StaffNote, ToolCall, Turn
from agent.tools import registry
from agent.usage import cost_words
from backoffice.screens.trace_steps import seconds


@dataclass
class Said:
    """Words, a card or a status line: `event` as the customer's page has it."""

    kind: str
    event: ConversationEvent


@dataclass
class Noted:
    """Words for colleagues."""

    note: StaffNote
    kind: str = "note"


@dataclass
class Step:
    """One tool call; `name`: what it does, in the reader's language. `took` is empty where it is not answered yet."""

    call: ToolCall | None
    data: Mapping[str, Any]
    name: str
    took: str


@dataclass
class Steps:
    """What the assistant did between two things that were said, in one turn. `cost`: of the whole turn, at its end."""

    turn: Turn | None
    steps: list[Step] = field(default_factory=list)
    took: str = ""
    cost: str = ""
    kind: str = "steps"

    @property
    def went_wrong(self) -> bool:
        return any(step.data.get("state") == "failed" or (step.call and step.call.is_error) for step in self.steps)

    @property
    def goes_on(self) -> bool:
        return any(step.data.get("state") == "started" for step in self.steps)


Item = Said | Noted | Steps


def items_of(
    events: Iterable[ConversationEvent],
    *,
    calls: Mapping[str, ToolCall],
    turns: Iterable[Turn],
    notes: Iterable[StaffNote],
) -> list[Item]:
    """In the order in which they happened. `calls` by their tool call ids."""
    by_number = {turn.pk: turn for turn in turns}
    left = sorted(notes, key=lambda note: note.created_at)
    items: list[Item] = []
    for event in events:
        while left and (at := _at(event)) and left[0].created_at < at:
            items.append(Noted(left.pop(0)))
        if event.kind == "work":
            _add_step(items, calls.get(event.data["tool_call_id"]), event.data, by_number)
        else:
            items.append(Said(event.kind, event))
    _set_costs(items)
    return [*items, *map(Noted, left)]


def _set_costs(items: Iterable[Item]) -> None:
    """What a turn has cost stands once, where it did something last."""
    last = {item.turn.pk: item for item in items if isinstance(item, Steps) and item.turn}
    for item in last.values():
        assert item.turn is not None
        item.cost = cost_words(item.turn.cost_micro, [item.turn.model])


def _at(event: ConversationEvent) -> datetime | None:
    """When it was said. An event that stands for a later one of its card or call does not know."""
    return datetime.fromisoformat(event.data["at"]) if event.kind == "message" else None


def _add_step(items: list[Item], call: ToolCall | None, data: Mapping[str, Any], turns: Mapping[int, Turn]) -> None:
    turn = turns.get(call.turn_id) if call else None
    last = items[-1] if items else None
    if not isinstance(last, Steps) or last.turn != turn:
        last = Steps(turn)
        items.append(last)
    took = seconds(_length(call)) if _is_over(call) else ""
    last.steps.append(Step(call, data, _name(data), took))
    lengths = [_length(step.call) for step in last.steps if _is_over(step.call)]
    last.took = seconds(sum(lengths, timedelta())) if lengths else ""


def _name(data: Mapping[str, Any]) -> str:
    """The event says it in the customer's language. A tool that is no more is only known by that."""
    known = registry.BY_NAME.get(data["tool"])
    return str(known.working) if known else str(data["text"])


def _is_over(call: ToolCall | None) -> bool:
    return call is not None and call.answered_at is not None


def _length(call: ToolCall | None) -> timedelta:
    """From when it was begun. What waits for the customer's press takes as long as they do."""
    assert call is not None
    assert call.answered_at is not None
    return call.answered_at - (call.started_at or call.created_at)
