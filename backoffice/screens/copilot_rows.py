"""A thread with the copilot as its page shows it: questions, answers, and the evidence folded between them."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from django.urls import reverse
from django.utils.translation import gettext as _

from agent.copilot import threads, words
from agent.models import CopilotCall, CopilotMessage, CopilotThread
from agent.states import CopilotAuthor, CopilotState
from agent.tools.registry import COPILOT_BY_NAME
from orders.models import Order

# What of a number may stand before and behind it, and it is still another number.
_PART: Final = "[A-Za-z0-9_-]"
MOST_LINKS: Final = 30


@dataclass(frozen=True, slots=True)
class Link:
    text: str
    address: str


@dataclass(frozen=True, slots=True)
class Said:
    """Words of the colleague (`asked`) or of the copilot (`said`), with the pages of what they name."""

    kind: str
    text: str
    at: datetime
    links: list[Link] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Step:
    """One call as evidence: `name` says what it does."""

    call: CopilotCall
    name: str


@dataclass(frozen=True, slots=True)
class Steps:
    """What was looked up for one reply."""

    steps: list[Step]
    kind: str = "steps"

    @property
    def went_wrong(self) -> bool:
        return any(step.call.is_error for step in self.steps)

    @property
    def names(self) -> list[tuple[str, int]]:
        """What was done, each once, and how often."""
        return list(Counter(step.name for step in self.steps).items())


def shown(thread: CopilotThread, *, newest: bool = False) -> dict[str, Any]:
    """What the part of a page needs that shows a thread, and asks again while it is at work.

    `newest`: only the newest question, and what has come of it.
    """
    calls: dict[int, list[CopilotCall]] = {}
    for call in thread.calls.order_by("pk"):
        calls.setdefault(call.message_id, []).append(call)
    messages = list(thread.messages.order_by("pk"))
    begin = max(place for place, row in enumerate(messages) if row.author == CopilotAuthor.STAFF) if newest else 0
    return {
        "thread": thread,
        "items": list(_items(messages[begin:], calls)),
        "at_work": threads.is_at_work(thread),
        "may_try_again": threads.may_be_tried_again(thread),
        "ended_in": _ended_in(thread),
    }


def _ended_in(thread: CopilotThread) -> str:
    """Why there is no answer, in words; empty where there is one, or one is on its way."""
    if thread.state == CopilotState.FAILED:
        return words.words_of(thread.error)
    return words.words_of("left") if threads.may_be_tried_again(thread) else ""


def _items(messages: Iterable[CopilotMessage], calls: dict[int, list[CopilotCall]]) -> Iterator[Said | Steps]:
    numbers: set[str] = set()
    talks: set[int] = set()
    for each in calls.values():
        for call in each:
            _collect(call.result, numbers, talks)
    known = set(Order.objects.filter(number__in=numbers).values_list("number", flat=True)) if numbers else set()
    for message in messages:
        if message.text.strip():
            is_question = message.author == CopilotAuthor.STAFF
            links = [] if is_question else _links(message.text, known, talks)
            yield Said("asked" if is_question else "said", message.text, message.created_at, links)
        if found := calls.get(message.pk):
            yield Steps([Step(call, _name_of(call)) for call in found])


def _name_of(call: CopilotCall) -> str:
    tool = COPILOT_BY_NAME.get(call.name)
    return str(tool.working) if tool else call.name


def _collect(value: Any, numbers: set[str], talks: set[int]) -> None:
    """The numbers of orders and conversations that stand in results."""
    if isinstance(value, list):
        for item in value:
            _collect(item, numbers, talks)
    elif isinstance(value, dict):
        if isinstance(number := value.get("order_number"), str):
            numbers.add(number)
        if isinstance(talk := value.get("conversation_id"), int):
            talks.add(talk)
        for item in value.values():
            _collect(item, numbers, talks)


def _links(text: str, numbers: set[str], talks: set[int]) -> list[Link]:
    """Orders that the answer names; conversations likewise, where it names one as such."""
    named = sorted((text.find(number), number) for number in numbers if _is_in(number, text))
    links = [
        Link(_("Order %(number)s") % {"number": number}, reverse("staff-order", args=[number])) for _at, number in named
    ]
    links += [
        Link(_("Conversation %(number)s") % {"number": talk}, reverse("staff-conversation", args=[talk]))
        for talk in sorted(talks)
        if re.search(rf"(?:對話|conversation)\s*{talk}(?!{_PART})", text, re.IGNORECASE)
    ]
    return links[:MOST_LINKS]


def _is_in(number: str, text: str) -> bool:
    return bool(re.search(rf"(?<!{_PART}){re.escape(number)}(?!{_PART})", text))
