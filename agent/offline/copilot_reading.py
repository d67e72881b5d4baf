"""What a copilot's request says: the colleague's question, what time it is, and what tools have answered since."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

CHINESE: Final = re.compile(r"[\u4e00-\u9fff]")
SYSTEM: Final = re.compile(r"<from_system>(.*?)</from_system>", re.DOTALL)
NOW: Final = re.compile(r"It is now (\S+),")
BESIDE: Final = re.compile(r"conversation_id (\d+) before them, about order_number (\S+) of customer_id (\S+?)\.?$")
Data = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Result:
    """One call and what came back."""

    name: str
    asked: Data
    data: Data
    is_error: bool


@dataclass(slots=True)
class Question:
    """What the colleague asked, when, beside what, and what was found out for it."""

    text: str = ""
    now: datetime | None = None
    conversation: int | None = None
    customer: str | None = None
    results: list[Result] = field(default_factory=list)

    def all(self, name: str) -> list[Result]:
        return [result for result in self.results if result.name == name]

    def last(self, name: str) -> Result | None:
        return next(iter(reversed(self.all(name))), None)


def questions(body: Data) -> list[Question]:
    """Every question of the request, oldest first; at least one."""
    found: list[Question] = []
    asked: dict[str, Data] = {}
    for message in body["messages"]:
        for block in _blocks(message["content"]):
            kind = block.get("type")
            if kind == "tool_use":
                asked[block["id"]] = block
            elif kind == "tool_result" and found:
                found[-1].results.append(_result(block, asked.get(block["tool_use_id"], {})))
            elif kind == "text" and message["role"] == "user":
                _take_text(found, str(block["text"]))
    return found or [Question()]


def _blocks(content: Any) -> Sequence[Data]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def _take_text(found: list[Question], text: str) -> None:
    told = SYSTEM.fullmatch(text.strip())
    if told is None:
        found.append(Question(text))
    elif found:
        if now := NOW.search(told[1]):
            found[-1].now = datetime.fromisoformat(now[1])
        if beside := BESIDE.search(told[1]):
            found[-1].conversation, found[-1].customer = int(beside[1]), beside[3]


def _result(block: Data, call: Data) -> Result:
    content = block.get("content", "")
    text = content if isinstance(content, str) else "".join(part.get("text", "") for part in content)
    try:
        data = json.loads(text)
    except ValueError:
        data = {}
    data = data if isinstance(data, dict) else {}
    return Result(str(call.get("name", "")), call.get("input", {}), data, bool(block.get("is_error")))
