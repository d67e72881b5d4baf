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


@dataclass(slots=True)
class Heard:
    """The message so far. `begun`: its first frame has come. `stop_reason` is None until the model has finished."""

    begun: bool = False
    model: str = ""
    stop_reason: str | None = None
    blocks: list[Block] = field(default_factory=list)
    usage: dict[str, Any] = field(default_factory=dict)
    _json: dict[int, str] = field(default_factory=dict)

    def take(self, data: str) -> str:
        """One frame. The words that it adds to what the customer reads; "" for all other frames."""
        frame = json.loads(data)
        kind = frame["type"]
        if kind == "message_start":
            self._begin(frame["message"])
        elif not self.begun:
            raise LookupError(f"{kind} before message_start")
        elif kind == "content_block_delta":
            return self._grow(frame["index"], frame["delta"])
        elif kind == "content_block_start":
            self.blocks.append({**frame["content_block"]})
        elif kind == "content_block_stop":
            self._close(frame["index"])
        elif kind == "message_delta":
            reason = frame["delta"]["stop_reason"]
            self.stop_reason = None if reason is None else str(reason)
            # Totals, not additions; what is not told again stays as it was.
            self.usage |= {name: count for name, count in frame["usage"].items() if count is not None}
        return ""

    def _begin(self, message: dict[str, Any]) -> None:
        self.model, self.usage = message["model"], {**message["usage"]}
        self.begun = True

    def _grow(self, index: int, delta: dict[str, Any]) -> str:
        block, kind = self.blocks[index], delta["type"]
        if name := GROWS.get(kind):
            if block["type"] != name:
                return ""
            block[name] += delta[name]
            return str(delta[name]) if name == "text" else ""
        if kind == "input_json_delta":
            self._json[index] = self._json.get(index, "") + delta["partial_json"]
        elif kind == "signature_delta":
            block["signature"] = delta["signature"]
        elif kind == "citations_delta":
            block["citations"] = [*(block.get("citations") or []), delta["citation"]]
        return ""

    def _close(self, index: int) -> None:
        """A call's arguments are whole, or cut where the model had no room for more: then as far as they go."""
        if arguments := self._json.pop(index, ""):
            self.blocks[index]["input"] = from_json(arguments.encode(), partial_mode=True)

    def content(self) -> list[Block]:
        """The blocks, as far as they have come."""
        for block in self.blocks:
            if block["type"] == "text" and not isinstance(block["text"], str):
                raise TypeError("a text that is none")
        return self.blocks
