"""What the frames of a stream come to: the model's message, block by block as it was sent.

The SDK decodes the wire; its own accumulation makes a typed object of every frame and several more of every word, which
costs more than all the rest of hearing a reply. Here a frame is the JSON that it came as. Frames that make no sense
raise what Python raises for them, and the table of endings knows it.
"""

import json
from dataclasses import dataclass, field
from typing import Any

from jiter import from_json

Block = dict[str, Any]
# What a delta adds to which field of its block; a signature comes whole, though it comes as a delta.
GROWS = {"text_delta": "text", "thinking_delta": "thinking"}


# The frames of a message; the API adds others now and then, which say nothing of it.
KNOWN = frozenset(
    {"message_start", "content_block_start", "content_block_delta", "content_block_stop", "message_delta"}
)
# Of one reply, whoever sends it: far beyond what any model may write, and little enough to hold.
MOST_CHARACTERS = 4_000_000


class TooLong(Exception):
    """A reply that does not end."""


@dataclass(slots=True)
class Heard:
    """The message so far. `begun`: its first frame has come. `stop_reason` is None until the model has finished."""

    begun: bool = False
    model: str = ""
    stop_reason: str | None = None
    usage: dict[str, Any] = field(default_factory=dict)
    characters: int = 0
    _blocks: list[Block] = field(default_factory=list)
    # Of each block: the pieces that its words grow by, and those of a call's arguments while they are not whole.
    _words: dict[int, list[str]] = field(default_factory=dict)
    _arguments: dict[int, list[str]] = field(default_factory=dict)

    def take(self, kind: str | None, data: str) -> str:
        """One frame, by its name. The words that it adds to what the customer reads; "" for all other frames.

        Raises `TooLong`, and whatever Python raises for what makes no sense.
        """
        if kind not in KNOWN:
            return ""
        self.characters += len(data)
        if self.characters > MOST_CHARACTERS:
            raise TooLong(f"more than {MOST_CHARACTERS} characters")
        frame = json.loads(data)
        if kind == "message_start":
            self._begin(frame["message"])
        elif not self.begun:
            raise LookupError(f"{kind} before message_start")
        elif kind == "content_block_delta":
            return self._grow(frame["index"], frame["delta"])
        elif kind == "content_block_start":
            self._blocks.append({**frame["content_block"]})
        elif kind == "content_block_stop":
            self._close(frame["index"])
        else:
            reason = frame["delta"]["stop_reason"]
            self.stop_reason = None if reason is None else str(reason)
            # Totals, not additions; what is not told again stays as it was.
            self.usage |= {name: count for name, count in frame["usage"].items() if count is not None}
        return ""

    def _begin(self, message: dict[str, Any]) -> None:
        self.model, self.usage = message["model"], {**message["usage"]}
        self.begun = True

    def _grow(self, index: int, delta: dict[str, Any]) -> str:
        block, kind = self._blocks[index], delta["type"]
        if name := GROWS.get(kind):
            if block["type"] != name:
                return ""
            self._words.setdefault(index, [block[name]]).append(delta[name])
            return str(delta[name]) if name == "text" else ""
        if kind == "input_json_delta":
            self._arguments.setdefault(index, []).append(delta["partial_json"])
        elif kind == "signature_delta":
            block["signature"] = delta["signature"]
        elif kind == "citations_delta":
            block["citations"] = [*(block.get("citations") or []), delta["citation"]]
        return ""

    def _close(self, index: int) -> None:
        if arguments := "".join(self._arguments.pop(index, [])):
            self._blocks[index]["input"] = _whole(arguments)

    def content(self) -> list[Block]:
        """The blocks. A call whose arguments were cut has None for them: half of them may say something else."""
        for index in self._arguments:
            self._blocks[index]["input"] = None
        for index, pieces in self._words.items():
            block = self._blocks[index]
            block[block["type"]] = "".join(pieces)
        for block in self._blocks:
            if block["type"] == "text" and not isinstance(block["text"], str):
                raise TypeError("a text that is none")
        return self._blocks


def _whole(arguments: str) -> Any:
    """What the arguments say; None where they are no JSON, or end in the middle of it."""
    try:
        return from_json(arguments.encode())
    except ValueError:
        return None
