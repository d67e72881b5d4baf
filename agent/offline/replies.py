"""What the stand-in answers, before it becomes a message on the wire."""

import secrets
import string
from dataclasses import dataclass, field
from typing import Any

ALPHABET = string.ascii_letters + string.digits


def new_id(prefix: str) -> str:
    """An id as the API gives them, for example toolu_01… (24 random characters)."""
    return f"{prefix}_01" + "".join(secrets.choice(ALPHABET) for _ in range(22))


@dataclass(frozen=True, slots=True)
class ToolUse:
    name: str
    input: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Reply:
    """Words, then calls. `stop_reason` is derived when it is not given. `unbounded`: longer than was allowed."""

    text: str = ""
    tool_uses: tuple[ToolUse, ...] = ()
    stop_reason: str | None = None
    unbounded: bool = False

    def content(self) -> list[dict[str, Any]]:
        """The reply as content blocks, each call with a fresh id."""
        blocks: list[dict[str, Any]] = [{"type": "text", "text": self.text}] if self.text else []
        for use in self.tool_uses:
            blocks.append({"type": "tool_use", "id": new_id("toolu"), "name": use.name, "input": use.input})
        return blocks

    @property
    def ends_with(self) -> str:
        return self.stop_reason or ("tool_use" if self.tool_uses else "end_turn")
