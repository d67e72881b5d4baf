"""Reads a request the way a model does: who said what, what tools have answered, what is asked now."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from agent.offline.words import SMALL_TALK, intents_in, topics_in

CHINESE = re.compile(r"[\u3400-\u9fff]")
LATIN = re.compile(r"[A-Za-z]{2,}")
TELLING = re.compile(r"<from_(?:staff|system)>.*?</from_(?:staff|system)>", re.DOTALL)
# A status line of the system, as `agent/history.py` labels it.
NEWS = re.compile(r"\A(?:refund|return|replacement|approval) (\S+) is now (\w+): ")
TAGS = re.compile(r"</?[a-z_]+(?:\s[^<>]*)?>")
# Calls that wait for the customer's press.
ASKING = frozenset({"refund_items", "create_return", "resend_items", "update_shipping_address"})


@dataclass(frozen=True, slots=True)
class Said:
    """Somebody's words. `last_word` is set on the agent's message that ended its turn."""

    author: str
    text: str
    last_word: bool = False


@dataclass(frozen=True, slots=True)
class Answer:
    """A call and what came of it."""

    name: str
    input: Mapping[str, Any]
    data: Mapping[str, Any]
    is_error: bool

    @property
    def code(self) -> str:
        return str(self.data.get("code", "")) if self.is_error else ""

    @property
    def status(self) -> str:
        """confirmed, declined, expired, … or "error"."""
        return "error" if self.is_error else str(self.data.get("status", ""))


Event = Said | Answer


@dataclass(frozen=True)
class Conversation:
    """`tools` are the schemas of the tools that may be called now, by name."""

    events: Sequence[Event]
    tools: Mapping[str, Mapping[str, Any]]

    @cached_property
    def turns(self) -> list[list[Event]]:
        """The events, cut where the agent had had its say or the customer passed over what was on offer."""
        turns: list[list[Event]] = [[]]
        for event in self.events:
            if isinstance(event, Said) and event.author == "customer" and _begins_anew(turns[-1], event.text):
                turns.append([])
            turns[-1].append(event)
        return turns

    @property
    def answers(self) -> list[Answer]:
        """What tools have answered in this turn."""
        return [event for event in self.turns[-1] if isinstance(event, Answer)]

    @property
    def untold(self) -> list[Answer]:
        """The answers of the turn before, if the customer wrote on before the agent had told what a press has done."""
        before = self.turns[-2] if len(self.turns) > 1 else []
        spoke = any(isinstance(event, Said) and event.author == "agent" for event in self.turns[-1])
        return [] if spoke or not _was_pressed(before) else [event for event in before if isinstance(event, Answer)]

    @property
    def wish(self) -> str:
        """The customer's words of this turn."""
        return words_of(self.turns[-1])

    @property
    def wish_before(self) -> str:
        """The customer's words of the turn before."""
        return words_of(self.turns[-2]) if len(self.turns) > 1 else ""

    @property
    def news(self) -> dict[str, str]:
        """The newest state of each refund, return, … by number, as far as the system has told of it."""
        told = [event.text for event in self.events if isinstance(event, Said) and event.author == "shop"]
        return {found[1]: found[2] for found in map(NEWS.match, told) if found}

    @property
    def last_words(self) -> str:
        """How the agent ended its previous turn."""
        said = [event for turn in self.turns[:-1] for event in turn if isinstance(event, Said)]
        return next((event.text for event in reversed(said) if event.author == "agent"), "")

    @property
    def chinese(self) -> bool:
        """Does the customer write Chinese? The newest words decide that are more than an "ok"."""
        said = [event.text for event in self.events if isinstance(event, Said) and event.author == "customer"]
        for text in reversed(said):
            if CHINESE.search(text):
                return True
            if len(LATIN.findall(text)) > 2:
                return False
        return not any(LATIN.search(text) for text in said)

    def latest(self, name: str) -> Answer | None:
        """The last good answer of a tool in the whole conversation."""
        found = [event for event in self.events if isinstance(event, Answer) and event.name == name]
        return next((answer for answer in reversed(found) if not answer.is_error), None)


def words_of(turn: Sequence[Event]) -> str:
    return "\n".join(event.text for event in turn if isinstance(event, Said) and event.author == "customer")


def _is_over(turn: Sequence[Event]) -> bool:
    """Would a customer's next words begin something new?"""
    for event in reversed(turn):
        if isinstance(event, Answer) and event.name in ASKING and event.status in {"declined", "expired"}:
            return True
        if isinstance(event, Said) and event.author == "agent":
            return event.last_word
    return False


def _begins_anew(turn: Sequence[Event], text: str) -> bool:
    return _is_over(turn) or (_was_pressed(turn) and _is_about_else(text))


def _was_pressed(turn: Sequence[Event]) -> bool:
    """Has a button been pressed since the agent's last words?"""
    for event in reversed(turn):
        if isinstance(event, Said) and event.author == "agent":
            return False
        if isinstance(event, Answer) and event.name in ASKING and event.status == "confirmed":
            return True
    return False


def _is_about_else(text: str) -> bool:
    """Words about something else than goods begin a turn; what is wanted of goods is done together with the rest."""
    return bool(topics_in(text) - SMALL_TALK) and not intents_in(text)


def read(body: Mapping[str, Any]) -> Conversation:
    tools = {tool["name"]: tool.get("input_schema", {}) for tool in body.get("tools") or ()}
    if (body.get("tool_choice") or {}).get("type") == "none":
        tools = {}
    return Conversation(list(_events(body["messages"])), tools)


def _events(messages: Sequence[Mapping[str, Any]]) -> Iterator[Event]:
    calls: dict[str, Mapping[str, Any]] = {}
    for message in messages:
        content = message["content"]
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        uses = [block for block in blocks if block["type"] == "tool_use"]
        calls |= {block["id"]: block for block in uses}
        for block in blocks:
            if block["type"] == "tool_result":
                yield _answer(block, calls.get(block["tool_use_id"], {}))
            elif block["type"] == "text" and message["role"] == "assistant":
                yield Said("agent", block["text"], last_word=not uses)
            elif block["type"] == "text":
                yield from _told(block["text"])


def _told(text: str) -> Iterator[Said]:
    """A user's text block: the customer's words, without tags; words of the shop are labelled by the harness."""
    for label in TELLING.findall(text):
        yield Said("shop", TAGS.sub("", label))
    own = TAGS.sub(" ", TELLING.sub(" ", text)).strip()
    if own:
        yield Said("customer", own)


def _answer(block: Mapping[str, Any], call: Mapping[str, Any]) -> Answer:
    content = block.get("content", "")
    if not isinstance(content, str):
        content = "".join(part.get("text", "") for part in content)
    try:
        data = json.loads(content)
    except ValueError:
        data = {"message": content}
    return Answer(
        name=str(call.get("name", "")),
        input=call.get("input", {}),
        data=data if isinstance(data, dict) else {"message": content},
        is_error=bool(block.get("is_error")),
    )
