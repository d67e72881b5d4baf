"""What happened in one turn, in order: its states, what was said, requests to the model, tool calls and cards."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final

from django.db.models import Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from agent import cards
from agent.models import Card, Message, ModelCall, ToolCall, Turn
from agent.states import LIVE_TURNS, Author, CardState, ToolCallState, TurnState
from agent.usage import cached_share, cost_words, model_words
from backoffice.screens.trace_time import Bar, Scale
from orders.models import AuditEvent

# A customer's words are kept just before their turn is queued, in the same transaction.
JUST_BEFORE: Final = timedelta(seconds=2)
TONES: Final[Mapping[str, str]] = {TurnState.WAITING: "wait", TurnState.DONE: "good", TurnState.FAILED: "bad"}
CARD_TONES: Final = {CardState.OPEN: "info", CardState.CONFIRMED: "good", CardState.EXPIRED: "wait"}
# Endings of a request that are what was hoped for.
GOOD_ENDINGS: Final = frozenset({"end_turn", "tool_use", "stop_sequence", "pause_turn"})


@dataclass(slots=True)
class Step:
    """One row. `spans` are (begin, end or None for a moment, tone); `folded` are (label, JSON or text) to be opened."""

    kind: str
    at: datetime
    title: str
    badge: str = ""
    tone: str = ""
    spans: list[tuple[datetime, datetime | None, str]] = field(default_factory=list)
    took: timedelta | None = None
    facts: list[tuple[str, str]] = field(default_factory=list)
    text: str = ""
    folded: list[tuple[str, Any]] = field(default_factory=list)
    bars: list[Bar] = field(default_factory=list)
    after: str = ""
    duration: str = ""
    is_chosen: bool = False


def steps_of(turn: Turn) -> list[Step]:
    """All steps in order, with their bars; as many queries for many as for few."""
    moves = list(AuditEvent.objects.filter(subject_type="turn", subject_id=str(turn.pk)).order_by("pk"))
    begin = min([move.at for move in moves] or [turn.queued_at])
    end = None if turn.state in LIVE_TURNS else turn.finished_at
    cards = list(Card.objects.filter(tool_call__turn=turn).order_by("created_at"))
    with_card = {card.tool_call_id for card in cards}
    steps = [
        *map(_move, moves),
        *map(_message, _messages(turn, begin - JUST_BEFORE, end)),
        *map(_model_call, turn.model_calls.all()),
        *(_tool_call(call, with_card) for call in turn.tool_calls.order_by("pk")),
        *map(_card, cards),
    ]
    steps.sort(key=lambda step: step.at)
    draw(steps, _scale(steps, moves, end or timezone.now()))
    return steps


def _scale(steps: list[Step], moves: list[AuditEvent], end: datetime) -> Scale:
    begin = steps[0].at if steps else end
    nexts = [*(move.at for move in moves[1:]), end]
    waits = [
        (move.at, until)
        for move, until in zip(moves, nexts, strict=False)
        if move.action == f"turn.{TurnState.WAITING}"
    ]
    return Scale(begin, max([end, *(step.at for step in steps)]), waits)


def draw(steps: Iterable[Step], scale: Scale) -> None:
    """Says of each step when it came, how long it took, and where it stands on the bar."""
    first: datetime | None = None
    for step in steps:
        first = first or step.at
        step.after = f"+{seconds(step.at - first)}"
        step.duration = "" if step.took is None else seconds(step.took)
        step.bars = [scale.bar(*span) for span in step.spans or [(step.at, None, step.kind)]]


def seconds(length: timedelta) -> str:
    """0.042 s, 3.21 s, 42.5 s, 2 min 5 s: as exactly as matters."""
    value = length.total_seconds()
    if value < 1:
        return _("%(number)s s") % {"number": f"{value:.3f}"}
    if value < 60:
        return _("%(number)s s") % {"number": f"{value:.2f}" if value < 10 else f"{value:.1f}"}
    return _("%(minutes)s min %(seconds)s s") % {"minutes": int(value) // 60, "seconds": int(value) % 60}


def _move(event: AuditEvent) -> Step:
    state = event.action.removeprefix("turn.")
    why = str(event.outcome.get("error", ""))
    return Step(
        "move",
        event.at,
        _("Turn: %(state)s") % {"state": TurnState(state).label},
        tone=TONES.get(state, ""),
        facts=[(_("reason"), why)] if why else [],
    )


def _messages(turn: Turn, begin: datetime, end: datetime | None) -> QuerySet[Message]:
    """The turn's own, and what others said while it was not over."""
    rows = Message.objects.filter(conversation=turn.conversation_id, created_at__gte=begin).select_related("staff")
    rows = rows.filter(Q(turn=turn) | Q(turn=None))
    return (rows.filter(created_at__lte=end) if end else rows).order_by("pk")


def _message(message: Message) -> Step:
    names = {
        Author.CUSTOMER: _("The customer wrote"),
        Author.AGENT: _("The assistant said"),
        Author.STAFF: _("Staff answered"),
        Author.SYSTEM: _("The system said"),
    }
    return Step("message", message.created_at, names[Author(message.author)], text=message.text)


def _model_call(call: ModelCall) -> Step:
    title = _("Request to the model %(number)s") % {"number": call.number}
    if call.attempt > 1:
        title = _("Request to the model %(number)s, attempt %(attempt)s") % {
            "number": call.number,
            "attempt": call.attempt,
        }
    return Step(
        "model",
        call.started_at,
        title,
        badge=call.ending or _("not ended"),
        tone=_tone_of(call),
        spans=_spans_of(call),
        took=call.ended_at - call.started_at if call.ended_at else None,
        facts=[(label, value) for label, value in _facts_of(call) if value],
        folded=[(_("Text taken back"), call.dropped_text)] if call.dropped_text else [],
    )


def _tone_of(call: ModelCall) -> str:
    if not call.ending:
        return "wait"
    return "good" if call.ending in GOOD_ENDINGS else "bad"


def _spans_of(call: ModelCall) -> list[tuple[datetime, datetime | None, str]]:
    """Silent until its first words, then talking."""
    end = call.ended_at
    if call.first_text_at is None:
        return [(call.started_at, end, "model-silent")]
    return [(call.started_at, call.first_text_at, "model-silent"), (call.first_text_at, end, "model")]


def _facts_of(call: ModelCall) -> Iterator[tuple[str, str]]:
    """Nothing of what an attempt that failed did not use."""
    if call.first_text_at:
        yield _("first words after"), seconds(call.first_text_at - call.started_at)
    afresh = call.input_tokens + call.written_tokens
    if afresh + call.cached_tokens:
        yield _("read"), _("%(number)s tokens") % {"number": f"{afresh + call.cached_tokens:,}"}
        yield _("from the cache"), cached_share(afresh=afresh, cached=call.cached_tokens)
        yield _("written"), _("%(number)s tokens") % {"number": f"{call.output_tokens:,}"}
        yield _("cost"), cost_words(call.cost_micro, [call.model])
    yield _("model"), model_words(call.model)
    yield _("stop reason"), "" if call.stop_reason == call.ending else call.stop_reason
    yield _("request id"), call.request_id


def _tool_call(call: ToolCall, with_card: set[int | None]) -> Step:
    began = call.started_at or call.created_at
    # What a card was answered with came from the customer, later: its own row shows how long that took.
    end = None if call.pk in with_card else call.answered_at
    code = str((call.result or {}).get("code", "")) if call.is_error else ""
    folded: list[tuple[str, Any]] = [(_("Arguments"), call.arguments)]
    if call.result is not None:
        folded.append((_("Result"), call.result))
    return Step(
        "tool",
        began,
        call.name,
        badge=code or str(ToolCallState(call.state).label),
        tone="bad" if call.is_error else "info" if call.state != ToolCallState.ANSWERED else "good",
        spans=[(began, end, "tool-bad" if call.is_error else "tool")],
        took=end - began if end and call.started_at else None,
        facts=[(_("tool call id"), call.tool_use_id)],
        folded=folded,
    )


def _card(card: Card) -> Step:
    return Step(
        "card",
        card.created_at,
        _("Card: %(title)s") % {"title": card.payload.get("title") or card.get_kind_display()},
        badge=cards.state_words(card.state, card.payload),
        tone=CARD_TONES.get(CardState(card.state), ""),
        spans=[(card.created_at, card.ended_at or timezone.now(), "card")],
        took=card.ended_at - card.created_at if card.ended_at else None,
        facts=[(_("card number"), card.pk), *([(_("quote"), card.quote_id)] if card.quote_id else [])],
    )
