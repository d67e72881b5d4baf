"""From records to wording: what stored calls say about how the tools read. Counted from rows, with links to look at.

A *place* is what belongs together: a turn of the chat, a question to the copilot, or what one caller from outside did
about one order without a pause of more than `PAUSE`.
"""

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from django.conf import settings
from django.db.models import OuterRef, Subquery
from django.urls import reverse

from agent.doors.sessions import PAUSE
from agent.models import Card, CopilotCall, CopilotMessage, DoorCall, ModelCall, ToolCall, Turn
from agent.states import CopilotAuthor, TurnState
from agent.tools import registry

MOST_LINKS: Final = 5
QUOTES: Final = "quote_refund"
# What the rules leave to a person: as services refuse, and as the tool that calls one is told.
RULES_ARE_SILENT: Final = frozenset({"no_policy", "needs_a_person", "rules_leave_it_open"})
READING: Final = frozenset(tool.name for tool in (*registry.ORDER_PAGE, *registry.COPILOT) if tool.reads)


@dataclass(frozen=True, slots=True)
class Made:
    """One call. `code` is that of its refusal, or "" for none."""

    tool: str
    arguments: Any
    code: str
    place: Hashable
    link: str
    outside: bool = False

    @property
    def silent(self) -> str:
        """Why this call tells of a rule that is missing; "" for all others."""
        reason = self.arguments.get("reason", "") if isinstance(self.arguments, dict) else ""
        return next((word for word in (self.code, reason) if word in RULES_ARE_SILENT), "")


def report(*, since: datetime, until: datetime) -> dict[str, Any]:
    """Everything, as plain values. `since` counts, `until` does not."""
    calls = [*_of_chat(since, until), *_of_copilot(since, until), *_of_doors(since, until)]
    places: dict[Hashable, list[Made]] = defaultdict(list)
    for call in calls:
        places[call.place].append(call)
    model_calls = ModelCall.objects.filter(started_at__gte=since, started_at__lt=until)
    endings = Counter(model_calls.values_list("ending", flat=True))
    return {
        "since": since.isoformat(),
        "until": until.isoformat(),
        "turns": Turn.objects.filter(queued_at__gte=since, queued_at__lt=until).count(),
        "model_calls": [{"ending": name or "none", "count": count} for name, count in endings.most_common()],
        "tools": _tools(calls),
        "asked_again": _asked_again(places.values()),
        "rules_are_silent": _grouped((call.tool, call.silent, call.link) for call in calls if call.silent),
        "stopped_half_way": _stopped(since, until),
        "read_twice": _read_twice(places.values()),
    }


def _of_chat(since: datetime, until: datetime) -> Iterator[Made]:
    rows = ToolCall.objects.filter(created_at__gte=since, created_at__lt=until).order_by("pk")
    fields = ("name", "arguments", "is_error", "result__code", "turn_id", "conversation_id")
    for name, arguments, is_error, code, turn, conversation in rows.values_list(*fields).iterator():
        yield Made(name, arguments, _code(is_error, code), ("turn", turn), trace(conversation, turn))


def _of_copilot(since: datetime, until: datetime) -> Iterator[Made]:
    """What belongs together here is what one question led to; the page of its colleague shows it."""
    rows = CopilotCall.objects.filter(created_at__gte=since, created_at__lt=until).order_by("pk")
    asked = CopilotMessage.objects.filter(
        thread=OuterRef("thread"), author=CopilotAuthor.STAFF, pk__lt=OuterRef("message")
    )
    rows = rows.annotate(question=Subquery(asked.order_by("-pk").values("pk")[:1]))
    fields = ("name", "arguments", "is_error", "result__code", "question", "thread_id")
    for name, arguments, is_error, code, question, thread in rows.values_list(*fields).iterator():
        link = _address("admin:agent_copilotthread_change", thread)
        yield Made(name, arguments, _code(is_error, code), ("copilot", question), link)


def _of_doors(since: datetime, until: datetime) -> Iterator[Made]:
    rows = DoorCall.objects.filter(created_at__gte=since, created_at__lt=until).order_by("pk")
    fields = ("name", "arguments", "is_error", "result__code", "pk", "created_at")
    last: dict[Hashable, tuple[datetime, int]] = {}  # when each caller called last, and with which call that began
    whose = ("token_id", "customer_id", "staff_id", "order_id")
    for name, arguments, is_error, code, pk, at, *who in rows.values_list(*fields, *whose).iterator():
        before, first = last.get(tuple(who), (at, pk))
        if at - before > PAUSE:
            first = pk
        last[tuple(who)] = at, first
        place = ("outside", *who, first)
        yield Made(name, arguments, _code(is_error, code), place, _address("staff-door-calls", first), outside=True)


def _code(is_error: bool, code: Any) -> str:
    return str(code or "unknown") if is_error else ""


def trace(conversation_id: int, turn_id: int) -> str:
    """The page that shows the turn step by step."""
    return _address("staff-turn", conversation_id, turn_id)


def _address(name: str, *arguments: int) -> str:
    return f"{settings.SITE_URL.rstrip('/')}{reverse(name, args=arguments)}"


def _tools(calls: Sequence[Made]) -> list[dict[str, Any]]:
    """How often each was called and refused, the most refused first."""
    by_tool: dict[str, list[Made]] = defaultdict(list)
    for call in calls:
        by_tool[call.tool].append(call)
    rows = [
        {
            "tool": tool,
            "chat": sum(not call.outside for call in made),
            "outside": sum(call.outside for call in made),
            "errors": sum(bool(call.code) for call in made),
            "codes": _codes(call for call in made if call.code),
        }
        for tool, made in by_tool.items()
    ]
    return sorted(rows, key=lambda row: (-row["errors"], row["tool"]))


def _codes(refused: Iterable[Made]) -> list[dict[str, Any]]:
    return [
        {name: value for name, value in row.items() if name != "tool"}
        for row in _grouped(("", call.code, call.link) for call in refused)
    ]


def _grouped(found: Iterable[tuple[str, str, str]]) -> list[dict[str, Any]]:
    """By tool and code, the most frequent first, each with the newest links."""
    links: dict[tuple[str, str], list[str]] = defaultdict(list)
    for tool, code, link in found:
        links[tool, code].append(link)
    rows = [
        {"tool": tool, "code": code, "count": len(each), "links": _newest(each)} for (tool, code), each in links.items()
    ]
    return sorted(rows, key=lambda row: (-row["count"], row["tool"], row["code"]))


def _newest(links: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(reversed(list(links))))[:MOST_LINKS]


def _asked_again(places: Iterable[Sequence[Made]]) -> list[dict[str, Any]]:
    """A call that was refused, and the next one of the same tool in its place, with other arguments."""
    again = [pair for place in places for pair in _second_tries(place)]
    rows = _grouped((first.tool, first.code, first.link) for first, _ in again)
    right = Counter((first.tool, first.code) for first, second in again if not second.code)
    return [{**row, "came_right": right[row["tool"], row["code"]]} for row in rows]


def _second_tries(place: Sequence[Made]) -> Iterator[tuple[Made, Made]]:
    for number, call in enumerate(place):
        if call.code:
            following = next((each for each in place[number + 1 :] if each.tool == call.tool), None)
            if following is not None and following.arguments != call.arguments:
                yield call, following


def _read_twice(places: Iterable[Sequence[Made]]) -> list[dict[str, Any]]:
    """The same page, or the same record, read again in one place with nothing else asked."""
    found: list[tuple[str, str, str]] = []
    for place in places:
        seen: list[tuple[str, Any]] = []
        for call in place:
            if call.tool not in READING or call.code:
                continue
            if (call.tool, call.arguments) in seen:
                found.append((call.tool, "", call.link))
            seen.append((call.tool, call.arguments))
    return [{name: value for name, value in row.items() if name != "code"} for row in _grouped(found)]


def _stopped(since: datetime, until: datetime) -> list[dict[str, Any]]:
    """Turns that failed, by a limit or otherwise, after a quote that got no button."""
    failed = Turn.objects.filter(state=TurnState.FAILED, queued_at__gte=since, queued_at__lt=until)
    quoted = ToolCall.objects.filter(turn__in=failed, name=QUOTES, is_error=False, result__has_key="quote_id")
    fields = ("turn_id", "conversation_id", "turn__error", "result__quote_id")
    rows = list(quoted.order_by("pk").values_list(*fields))
    shown = set(Card.objects.filter(quote__in=[row[3] for row in rows]).values_list("quote_id", flat=True))
    with_a_button = {turn for turn, _, _, quote in rows if quote in shown}
    stopped: Mapping[int, dict[str, Any]] = {
        turn: {"turn": turn, "error": error, "quote_id": quote, "link": trace(conversation, turn)}
        for turn, conversation, error, quote in rows
        if turn not in with_a_button
    }
    return list(stopped.values())
