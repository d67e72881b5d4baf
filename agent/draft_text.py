"""The reply that is being written, as pages know it by what they were told, and the ear for whoever comes."""

from dataclasses import dataclass, field
from typing import Any

from agent.states import Author, ConversationState
from agent.text import behind, page_length


@dataclass
class DraftText:
    """The reply that is being written now: the pieces a page has, or those it is given when it comes in the middle."""

    key: str = ""
    text: str = ""
    ended: set[str] = field(default_factory=set)
    silent: bool = False  # a person has the conversation, or it is closed: what a model still writes is not shown
    closed: bool = False

    def take(self, kind: str, data: dict[str, Any]) -> bool:
        """False for a piece that does not follow what is there: a page can do nothing with it."""
        if kind == "delta":
            return self._take_piece(data)
        if kind == "turn":
            # The turn is over, or another worker has it now: whatever was being written will not be finished.
            self._end(self.key)
        elif kind == "conversation":
            self.closed = data.get("state") == ConversationState.CLOSED
            self.silent = self.closed or bool(data.get("owner"))
            if self.silent:
                self._end(self.key)
        elif kind == "message" and self.closed and data["author"] == Author.CUSTOMER:
            # These words have opened a new conversation, in which nobody is silent yet.
            self.closed = self.silent = False
        elif kind == "draft_dropped" or (kind == "message" and data.get("draft")):
            self._end(data["draft"])
        return True

    def _take_piece(self, data: dict[str, Any]) -> bool:
        if self.silent:
            self._end(data["draft"])
        if data["draft"] in self.ended:
            return False
        if data["draft"] != self.key:
            self._end(self.key)
            self.key, self.text = data["draft"], ""
        new = behind(data["text"], page_length(self.text) - data["offset"])
        self.text += new or ""
        return bool(new)

    def _end(self, key: str) -> None:
        self.ended.add(key)
        if key == self.key:
            self.key = self.text = ""
