"""One turn, step by step: what the assistant was asked, what it did, how long each step took and what it cost."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from agent.access import conversation_for_staff
from agent.models import Conversation, ModelCall, Turn
from agent.usage import cached_share, cost_words, model_words
from backoffice.screens.gate import TRACE, staff_screen
from backoffice.screens.trace_steps import TONES, seconds, steps_of


@never_cache
@require_safe
@staff_screen(TRACE)
def turn(request: HttpRequest, conversation_id: int, turn_id: int) -> HttpResponse:
    conversation = conversation_for_staff(request.user, conversation_id)
    row = get_object_or_404(Turn, pk=turn_id, conversation=conversation)
    context = {
        "here": "queue",
        "conversation": conversation,
        "turn": row,
        "tone": TONES.get(row.state, "info"),
        "facts": facts_of(row),
        "steps": steps_of(row),
        "line_names": dict(conversation.order.lines.values_list("line_item_id", "name")),
        **_neighbours(conversation, row),
    }
    return render(request, "staff/trace.html", context)


def _neighbours(conversation: Conversation, row: Turn) -> dict[str, Any]:
    """Which turn of the conversation this is, and the ones before and after it."""
    numbers = list(conversation.turns.order_by("pk").values_list("pk", flat=True))
    place = numbers.index(row.pk)
    return {
        "place": place + 1,
        "number_of_turns": len(numbers),
        "before": numbers[place - 1] if place else None,
        "after": numbers[place + 1] if place + 1 < len(numbers) else None,
    }


def facts_of(row: Turn) -> list[tuple[str, str]]:
    """The turn in numbers; what is not known is left out."""
    calls = list(ModelCall.objects.filter(turn=row).order_by("started_at"))
    read = row.input_tokens + row.cached_tokens
    first = _first_words(row, calls)
    told = [
        (_("Requests to the model"), str(len(calls))),
        (_("Tool calls"), str(row.tool_calls.count())),
        (_("First words after"), first),
        (_("Tokens read"), f"{read:,}" if read else ""),
        (_("of it from the cache"), cached_share(afresh=row.input_tokens, cached=row.cached_tokens)),
        (_("Tokens written"), f"{row.output_tokens:,}" if row.output_tokens else ""),
        (_("Cost"), cost_words(row.cost_micro, [row.model])),
        (_("Model"), model_words(row.model)),
        (_("Workers lost or faults"), str(row.failures) if row.failures else ""),
        (_("Failed because of"), row.error),
    ]
    return [(label, value) for label, value in told if value]


def _first_words(row: Turn, calls: list[ModelCall]) -> str:
    """From the first request on: from when it was queued is not known any more once a card has queued it again."""
    if row.first_text_at is None or not calls:
        return ""
    return seconds(row.first_text_at - (row.started_at or calls[0].started_at))


@dataclass(frozen=True, slots=True)
class TurnRow:
    """A turn in a list: how it stands, what it has cost, how much of what the model read came from the cache."""

    turn: Turn
    tone: str
    cost: str
    cached: str


def rows_of(turns: Iterable[Turn]) -> list[TurnRow]:
    return [
        TurnRow(
            turn=each,
            tone=TONES.get(each.state, "info"),
            cost=cost_words(each.cost_micro, [each.model]),
            cached=cached_share(afresh=each.input_tokens, cached=each.cached_tokens),
        )
        for each in turns
    ]
