"""What a talk leaves behind besides rows: every word and call in order, and what it has cost."""

from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(slots=True)
class Entry:
    """One thing that happened. `who`: customer, agent, tool, card, world, system; what else depends on it."""

    who: str
    text: str = ""
    name: str = ""
    input: Any = None
    result: Any = None
    is_error: bool = False

    def as_dict(self) -> dict[str, Any]:
        return {key: value for key, value in asdict(self).items() if value not in (None, "", False)}


@dataclass(slots=True)
class Used:
    """Tokens and millionths of a US dollar."""

    requests: int = 0
    fresh: int = 0
    cached: int = 0
    output: int = 0
    cost_micro: int = 0


@dataclass(slots=True)
class Talk:
    entries: list[Entry] = field(default_factory=list)
    used: Used = field(default_factory=Used)
    # Why the agent's side came to no end of its own: a limit, a model that could not be reached.
    broken: str = ""

    def add(self, who: str, text: str = "", **more: Any) -> None:
        self.entries.append(Entry(who, text, **more))

    @property
    def agents_words(self) -> list[str]:
        return [entry.text for entry in self.entries if entry.who == "agent" and entry.text]

    @property
    def calls(self) -> list[Entry]:
        return [entry for entry in self.entries if entry.who == "tool"]
