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
HANDS_OFF: Final = "hand_off_to_human"
# What the rules leave to a person: as services refuse, and as the tool that calls one is told.
RULES_ARE_SILENT: Final = frozenset({"no_policy", "needs_a_person", "rules_leave_it_open"})
OVER: Final = (TurnState.DONE, TurnState.FAILED)
READING: Final = frozenset(tool.name for tool in (*registry.ORDER_PAGE, *registry.COPILOT) if tool.reads)


# What an answer of a search is called that found nothing: whoever asks again then has looked for other words.
FOUND_NOTHING: Final = "found_nothing"
CUSTOMERS, COLLEAGUES = "customers", "colleagues"
CHAT, COPILOT, OUTSIDE = "chat", "copilot", "outside"


@dataclass(frozen=True, slots=True)
class Made:
    """One call. `code` is that of its refusal, or "" for none; `field` is what the refusal complains of.

    `whose`: two tools may have one name, one for customers and one for colleagues.
    """

    tool: str
    whose: str
    where: str
    arguments: Any
    code: str
    field: str
    found_nothing: bool
    place: Hashable
    link: str

    @property
    def silent(self) -> str:
        """Why this call tells of a rule that is missing; "" for all others."""
        reason = self.arguments.get("reason", "") if isinstance(self.arguments, dict) else ""
        return next((word for word in (self.code, reason) if word in RULES_ARE_SILENT), "")

    @property
    def led_nowhere(self) -> str:
        return self.code or (FOUND_NOTHING if self.found_nothing else "")


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
        "rules_are_silent": _grouped((_named(call, code=call.silent), call.link) for call in calls if call.silent),
        "stopped_half_way": _stopped(since, until),
        "failed_turns": _failed(since, until),
        "read_twice": _read_twice(places.values()),
    }


# --- calls, wherever they were made ---
ANSWER: Final = ("name", "arguments", "is_error", "result")


def _of_chat(since: datetime, until: datetime) -> Iterator[Made]:
    rows = ToolCall.objects.filter(created_at__gte=since, created_at__lt=until).order_by("pk")
    for *answer, turn, conversation in rows.values_list(*ANSWER, "turn_id", "conversation_id").iterator():
        yield _made(answer, CUSTOMERS, CHAT, ("turn", turn), trace(conversation, turn))


def _of_copilot(since: datetime, until: datetime) -> Iterator[Made]:
    """What belongs together here is what one question led to; the page of its colleague shows it."""
    rows = CopilotCall.objects.filter(created_at__gte=since, created_at__lt=until).order_by("pk")
    asked = CopilotMessage.objects.filter(
        thread=OuterRef("thread"), author=CopilotAuthor.STAFF, pk__lt=OuterRef("message")
    )
    rows = rows.annotate(question=Subquery(asked.order_by("-pk").values("pk")[:1]))
    for *answer, question, thread in rows.values_list(*ANSWER, "question", "thread_id").iterator():
        link = _address("admin:agent_copilotthread_change", thread)
        yield _made(answer, COLLEAGUES, COPILOT, ("copilot", question), link)


def _of_doors(since: datetime, until: datetime) -> Iterator[Made]:
    rows = DoorCall.objects.filter(created_at__gte=since, created_at__lt=until).order_by("pk")
    last: dict[Hashable, tuple[datetime, int]] = {}  # when each caller called last, and with which call that began
    caller = ("token_id", "customer_id", "staff_id", "order_id")
    for *answer, pk, at, token, customer, staff, order in rows.values_list(
        *ANSWER, "pk", "created_at", *caller
    ).iterator():
        who = (token, customer, staff, order)
        before, first = last.get(who, (at, pk))
        if at - before > PAUSE:
            first = pk
        last[who] = at, first
        whose = COLLEAGUES if staff else CUSTOMERS
        yield _made(answer, whose, OUTSIDE, ("outside", *who, first), _address("staff-door-calls", first))


def _made(answer: Sequence[Any], whose: str, where: str, place: Hashable, link: str) -> Made:
    name, arguments, is_error, result = answer
    told = result if isinstance(result, dict) else {}
    return Made(
        tool=name,
        whose=whose,
        where=where,
        arguments=arguments,
        code=str(told.get("code") or "unknown") if is_error else "",
        field=_field(told) if is_error else "",
        found_nothing=not is_error and name in READING and _is_empty(told),
        place=place,
        link=link,
    )


def _field(error: Mapping[str, Any]) -> str:
    """`lines.0.quantity` and `lines.3.quantity` are one complaint."""
    parts = str(error.get("field") or "").replace("[", ".").replace("]", "").split(".")
    return ".".join(part for part in parts if part and not part.isdigit())


def _is_empty(result: Mapping[str, Any]) -> bool:
    """Lists, and nothing in any of them."""
    lists = [value for value in result.values() if isinstance(value, list)]
    return bool(lists) and not any(lists)


def trace(conversation_id: int, turn_id: int) -> str:
    """The page that shows the turn step by step."""
    return _address("staff-turn", conversation_id, turn_id)


def _address(name: str, *arguments: int) -> str:
    return f"{settings.SITE_URL.rstrip('/')}{reverse(name, args=arguments)}"


# --- what they tell ---
def _tools(calls: Sequence[Made]) -> list[dict[str, Any]]:
    """How often each was called and refused, the most refused first."""
    by_tool: dict[tuple[str, str], list[Made]] = defaultdict(list)
    for call in calls:
        by_tool[call.tool, call.whose].append(call)
    rows = [
        {
            "tool": tool,
            "for": whose,
            **{where: sum(call.where == where for call in made) for where in (CHAT, COPILOT, OUTSIDE)},
            "errors": sum(bool(call.code) for call in made),
            "codes": _grouped(({"code": call.code, "field": call.field}, call.link) for call in made if call.code),
        }
        for (tool, whose), made in by_tool.items()
    ]
    return sorted(rows, key=lambda row: (-row["errors"], row["tool"], row["for"]))


def _named(call: Made, **more: str) -> dict[str, str]:
    return {"tool": call.tool, "for": call.whose, **more}


def _grouped(found: Iterable[tuple[Mapping[str, str], str]]) -> list[dict[str, Any]]:
    """What has the same names is one row with its count and its newest links, the most frequent first."""
    links: dict[tuple[tuple[str, str], ...], list[str]] = defaultdict(list)
    for names, link in found:
        links[tuple(names.items())].append(link)
    rows = [{**dict(names), "count": len(each), "links": _newest(each)} for names, each in links.items()]
    return sorted(rows, key=lambda row: (-row["count"], *(row[name] for name in row if name not in {"count", "links"})))


def _newest(links: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(reversed(list(links))))[:MOST_LINKS]


def _asked_again(places: Iterable[Sequence[Made]]) -> list[dict[str, Any]]:
    """A call that led nowhere, and the next one of the same tool in its place, with other arguments."""
    again = [pair for place in places for pair in _second_tries(place)]
    rows = _grouped((_named(first, code=first.led_nowhere), first.link) for first, _ in again)
    pairs: dict[tuple[str, str, str], list[tuple[Made, Made]]] = defaultdict(list)
    for first, second in again:
        pairs[first.tool, first.whose, first.led_nowhere].append((first, second))
    for row in rows:
        mine = pairs[row["tool"], row["for"], row["code"]]
        row["came_right"] = sum(not second.led_nowhere for _, second in mine)
        changed = Counter(name for first, second in mine for name in _changed(first.arguments, second.arguments))
        row["changed"] = [{"argument": name, "count": count} for name, count in changed.most_common()]
    return rows


def _changed(before: Any, after: Any) -> list[str]:
    """Which arguments are not what they were."""
    if not isinstance(before, dict) or not isinstance(after, dict):
        return []
    return [name for name in {**before, **after} if before.get(name) != after.get(name)]


def _second_tries(place: Sequence[Made]) -> Iterator[tuple[Made, Made]]:
    for number, call in enumerate(place):
        if call.led_nowhere:
            following = next((each for each in place[number + 1 :] if each.tool == call.tool), None)
            if following is not None and following.arguments != call.arguments:
                yield call, following


def _read_twice(places: Iterable[Sequence[Made]]) -> list[dict[str, Any]]:
    """The same page, or the same record, read again in one place with nothing asked meanwhile that may change it."""
    found: list[tuple[dict[str, str], str]] = []
    for place in places:
        seen: list[tuple[str, Any]] = []
        for call in place:
            if call.tool not in READING:
                seen.clear()
            if call.tool not in READING or call.code:
                continue
            if (call.tool, call.arguments) in seen:
                found.append((_named(call), call.link))
            seen.append((call.tool, call.arguments))
    return _grouped(found)


def _failed(since: datetime, until: datetime) -> list[dict[str, Any]]:
    """Turns that ended in words of regret, by what they failed for."""
    rows = Turn.objects.filter(state=TurnState.FAILED, queued_at__gte=since, queued_at__lt=until).order_by("pk")
    found = rows.values_list("error", "conversation_id", "pk")
    return _grouped(({"error": error or "unknown"}, trace(conversation, turn)) for error, conversation, turn in found)


def _stopped(since: datetime, until: datetime) -> list[dict[str, Any]]:
    """Turns that are over, failed or not, with a quote that got no button. Not those that called a person."""
    over = Turn.objects.filter(state__in=OVER, queued_at__gte=since, queued_at__lt=until)
    handed_off = ToolCall.objects.filter(name=HANDS_OFF, is_error=False, result__isnull=False).values("turn")
    over = over.exclude(state=TurnState.DONE, pk__in=handed_off)
    quoted = ToolCall.objects.filter(turn__in=over, name=QUOTES, is_error=False, result__has_key="quote_id")
    fields = ("turn_id", "conversation_id", "turn__state", "turn__error", "result__quote_id")
    rows = list(quoted.order_by("pk").values_list(*fields))
    shown = set(Card.objects.filter(quote__in=[row[-1] for row in rows]).values_list("quote_id", flat=True))
    with_a_button = {turn for turn, *_, quote in rows if quote in shown}
    stopped: Mapping[int, dict[str, Any]] = {
        turn: {"turn": turn, "state": state, "error": error, "quote_id": quote, "link": trace(conversation, turn)}
        for turn, conversation, state, error, quote in rows
        if turn not in with_a_button
    }
    return list(stopped.values())
